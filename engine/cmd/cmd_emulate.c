/* emulate: a CUDA program without a GPU. Standard output is the program's; what it did goes to standard
 * error as a table, or with --json to standard output as a document behind it. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/emulate/emulate.h"
#include "engine/ptx/ptx.h"
#include "engine/workspace/args.h"

#include <stdio.h>
#include <string.h>

enum { FOUND = 4 }; /* the check found something, and the program did not notice */

/* ---- the document ---- */
static void put_document(const struct args *a, const struct emulate_seen *s, struct buf *b)
{
    buf_puts(b, "{\"format\":\"gpulocw-emulate\",\"version\":1,\"program\":{\"command\":[");
    for (size_t i = 0; a->program[i]; i++) {
        buf_puts(b, i ? "," : "");
        buf_json(b, str_of(a->program[i]));
    }
    buf_printf(b, "],\"exit_status\":%d,\"processes\":%u,\"wall_ns\":%llu,\"gpu_ns\":", s->survey.exit,
               s->survey.processes, (unsigned long long)s->survey.wall_ns);
    if (a->time)
        buf_printf(b, "%llu", (unsigned long long)s->survey.gpu_ns);
    else
        buf_puts(b, "null");
    buf_printf(b, ",\"failed_launches\":%llu},\"kernels\":[", (unsigned long long)s->faults);
    for (size_t i = 0; i < s->survey.n; i++) {
        const struct live_kernel *k = &s->survey.v[i];
        buf_puts(b, i ? ",\n" : "\n");
        cmd_live_kernel(&s->survey, k, k->sampled ? "sampled" : "whole", b);
    }
    buf_puts(b, "],\"findings\":");
    findings_list_json(&s->findings, b);
    buf_puts(b, ",\"not_supported\":[");
    for (size_t i = 0; i < s->nmissing; i++) {
        buf_puts(b, i ? ",{\"call\":" : "{\"call\":");
        buf_json(b, str_of(s->missing[i].call));
        buf_printf(b, ",\"count\":%llu}", (unsigned long long)s->missing[i].count);
    }
    buf_puts(b, "]}\n");
}

/* ---- the table ---- */
static void put_kernel(const struct live_survey *s, const struct live_kernel *k, bool timed,
                       struct buf *b)
{
    buf_printf(b, "%8llu ", (unsigned long long)k->launches);
    if (timed && k->timed)
        buf_printf(b, "%12.4f %5.1f %%  ", (double)k->time_ns / 1e6, 100 * cmd_live_share(s, k));
    else if (timed)
        buf_printf(b, "%12s %7s  ", "n/a", "n/a");
    ptx_readable(str_of(k->name), b);
    buf_printf(b, "  %ux%ux%u of %ux%ux%u", k->grid[0], k->grid[1], k->grid[2], k->block[0], k->block[1],
               k->block[2]);
    if (k->nshapes > 1)
        buf_printf(b, " and %zu other shapes", k->nshapes - 1);
    buf_puts(b, "\n");
}

static void put_table(const struct args *a, const struct emulate_seen *s, const char *device,
                      struct buf *b)
{
    uint64_t launches = 0;
    for (size_t i = 0; i < s->survey.n; i++)
        launches += s->survey.v[i].launches;
    if (s->survey.n)
        buf_printf(b, a->time ? "%8s %12s %7s  kernel\n" : "%8s  kernel\n", "launches", "time in ms",
                   "share");
    for (size_t i = 0; i < s->survey.n; i++)
        put_kernel(&s->survey, &s->survey.v[i], a->time, b);
    buf_printf(b, "%s (simulated): %zu kernels, %llu launches", device, s->survey.n,
               (unsigned long long)launches);
    if (a->time)
        buf_printf(b, ", %.4f ms simulated", (double)s->survey.gpu_ns / 1e6);
    if (s->faults)
        buf_printf(b, "; %llu launches failed", (unsigned long long)s->faults);
    buf_puts(b, "\n");
    for (size_t i = 0; i < s->nmissing; i++)
        buf_printf(b, "%s not supported: %s, called %llu times\n",
                   i ? "          " : "emulation:", s->missing[i].call,
                   (unsigned long long)s->missing[i].count);
}

/* ---- telling ---- */
static void tell(void *ctx, const struct diags *ds)
{
    const struct args *a = ctx;
    if (a->io->tell)
        a->io->tell(a->io->ctx, ST_OK, ds);
}

static void put_table_diag(const struct buf *b)
{
    fwrite(b->s, 1, b->n, stderr);
}

static enum status preset_of(const struct args *a, struct sim_preset *p, struct diags *ds)
{
    const char *spec = a->device ? a->device : DEFAULT_DEVICE;
    if (strncmp(spec, "cuda:", 5) != 0 && strcmp(spec, "auto") != 0)
        return dev_preset(spec, a->env, p, ds);
    diag_error(ds, "usage", "emulate runs on a simulated device: --device sim:PRESET");
    return ST_USAGE;
}

int cmd_emulate(struct args *a)
{
    struct diags ds = { 0 };
    struct emulate_seen seen = { 0 };
    struct buf b = { 0 };
    struct emulate_want w = { .threads = a->threads > 0 ? (unsigned)a->threads : 0,
                              .timed = a->time,
                              .exact = a->exact,
                              .check_memory = a->check_memory,
                              .limit_s = a->time_limit,
                              .tell = tell,
                              .ctx = a };
    enum status st = a->program && a->program[0] ? preset_of(a, &w.preset, &ds) : ST_USAGE;
    if (st == ST_USAGE && !ds.n)
        diag_error(&ds, "usage", "no program given: gpulocw emulate -- PROGRAM ARG...");
    if (st == ST_OK)
        st = emulate_run(a->program, &w, &seen, &ds);
    int rc = seen.survey.exit ? seen.survey.exit : a->check_memory && seen.findings.n ? FOUND : 0;
    if (st == ST_OK && a->json) {
        put_document(a, &seen, &b);
        cmd_put(a, &b);
    } else if (st == ST_OK) {
        put_table(a, &seen, w.preset.title, &b);
        put_table_diag(&b);
    }
    buf_free(&b);
    emulate_free(&seen);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc;
}
