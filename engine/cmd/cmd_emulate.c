/* emulate: a CUDA program without a GPU. Standard output is the program's; what it did goes to standard
 * error as a table, or with --json to standard output as a document behind it. */
#include "engine/cmd/cmd_int.h"
#include "engine/emulate/emulate.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/session/document.h"
#include "engine/workspace/args.h"

#include <string.h>

enum { FOUND = 4 }; /* the check found something, and the program did not notice */

/* ---- the document ---- */
static void put_document(const struct args *a, const struct emulate_seen *s, struct buf *b)
{
    const struct live_survey *v = &s->survey;
    struct jw w = document_open(b, "gpulocw-emulate", 2);
    jw_put_obj(&w, "program");
    jw_put_words(&w, "command", a->program);
    jw_put_int(&w, "exit_status", v->exit);
    jw_put_uint(&w, "processes", v->processes);
    jw_put_uint(&w, "wall_ns", v->wall_ns);
    jw_put_uint_if(&w, "gpu_ns", a->time, v->gpu_ns);
    jw_put_uint(&w, "failed_launches", s->faults);
    jw_end_obj(&w);
    jw_put_arr(&w, "kernels");
    for (size_t i = 0; i < v->n; i++)
        cmd_live_kernel(&w, v, &v->v[i], v->v[i].sampled ? "sampled" : "whole");
    jw_end_arr(&w);
    findings_list_json(&w, &s->findings);
    jw_put_arr(&w, "not_supported");
    for (size_t i = 0; i < s->nmissing; i++) {
        jw_obj(&w);
        jw_put_str(&w, "call", s->missing[i].call);
        jw_put_uint(&w, "count", s->missing[i].count);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    document_close(&w);
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

/* ---- for who begins ---- */
enum least { LEAST_GRID, LEAST_MEMORY, LEAST_INSTRUCTIONS };

/* By what was counted alone: how long the bytes and how long the instructions take at least. */
static enum least least_of(const struct emulate_look *k, const struct dev_info *d, double *memory,
                           double *instructions)
{
    *memory = d->bw_dram > 0 ? 32.0 * (double)k->sectors / d->bw_dram : 0;
    *instructions = d->issue_per_cycle > 0 && d->clock_khz
                        ? (double)k->insts / (d->sms * d->issue_per_cycle * 1e3 * d->clock_khz)
                        : 0;
    return k->ctas < d->sms ? LEAST_GRID : *memory > *instructions ? LEAST_MEMORY : LEAST_INSTRUCTIONS;
}

static bool coalesced(const struct emulate_look *k)
{
    return (double)k->sectors <= 1.5 * (double)k->least;
}

static void put_limit(const struct emulate_look *k, const struct dev_info *d, struct buf *b)
{
    double memory, instructions;
    enum least limit = least_of(k, d, &memory, &instructions);
    if (limit == LEAST_GRID)
        buf_printf(b, "limit       %llu CTA%s for %u SMs: most of the GPU is idle\n",
                   (unsigned long long)k->ctas, k->ctas == 1 ? "" : "s", d->sms);
    else
        buf_printf(
            b, "limit       %s: its bytes take at least %.3g us, its instructions %.3g us (counted)\n",
            limit == LEAST_MEMORY ? "memory" : "instructions", 1e6 * memory, 1e6 * instructions);
    buf_puts(b, "try first   ");
    if (!coalesced(k))
        buf_puts(b, "let neighbouring threads use neighbouring elements\n");
    else if (limit == LEAST_GRID)
        buf_puts(b, "a larger problem, or smaller CTAs, so that every SM has some\n");
    else if (limit == LEAST_MEMORY)
        buf_puts(b, "use what is loaded more than once: shared memory, or more results per thread\n");
    else
        buf_puts(b, "fewer instructions for each result: move what does not change out of loops\n");
}

/* Of the kernel that executed most: three lines. */
static void put_lesson(const struct emulate_seen *s, const struct dev_info *d, struct buf *b)
{
    const struct emulate_look *k = NULL;
    for (size_t i = 0; i < s->nlooks; i++)
        k = s->look[i].requests && (!k || s->look[i].insts > k->insts) ? &s->look[i] : k;
    if (!k)
        return;
    buf_puts(b, "first launch of ");
    ptx_readable(str_of(k->kernel), b);
    buf_printf(b, "\ncoalescing  %.2f sectors of 32 bytes per request of a warp, %.2f would do: %s\n",
               (double)k->sectors / (double)k->requests, (double)k->least / (double)k->requests,
               coalesced(k) ? "coalesced" : "not coalesced");
    put_limit(k, d, b);
}

/* ---- the command ---- */
static int emulate_into(struct args *a, const char *folder)
{
    struct diags ds = { 0 };
    struct emulate_seen seen = { 0 };
    struct sim_preset p;
    struct live_want w;
    struct buf b = { 0 };
    enum status st = folder ? cmd_capture_want(a, folder, &w, &ds) : ST_OK;
    if (st == ST_OK)
        st = cmd_emulate_run(a, folder ? &w : NULL, &seen, &p, &ds);
    if (st == ST_OK && folder)
        st = cmd_capture_index(&seen.survey, a->program, folder, &ds);
    int rc = seen.survey.exit                     ? seen.survey.exit
             : cancel_asked(a->cancel)            ? status_exit_code(ST_CANCELLED)
             : a->check_memory && seen.findings.n ? FOUND
                                                  : 0;
    if (st == ST_OK && a->json) {
        put_document(a, &seen, &b);
        cmd_put(a, &b);
    } else if (st == ST_OK) {
        struct dev_info d;
        sim_preset_info(&p, &d);
        put_table(a, &seen, p.title, &b);
        put_lesson(&seen, &d, &b);
        cmd_put_aside(a, &b);
    }
    buf_free(&b);
    emulate_free(&seen);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc;
}

int cmd_emulate(struct args *a)
{
    struct diags ds = { 0 };
    if (a->program && a->program[0])
        return a->folder ? cmd_capture_guarded(a, a->folder, emulate_into) : emulate_into(a, NULL);
    diag_error(&ds, "usage", "no program given: gpulocw emulate -- PROGRAM ARG...");
    return cmd_finish(a, ST_USAGE, &ds);
}
