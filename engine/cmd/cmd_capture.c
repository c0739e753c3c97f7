/* capture --list: which kernels a program launches, how long they take, and which have PTX. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/live/live.h"
#include "engine/ptx/ptx.h"
#include "engine/workspace/args.h"

static double share(const struct live_survey *s, const struct live_kernel *k)
{
    return s->gpu_ns ? (double)k->time_ns / (double)s->gpu_ns : 0;
}

static void put_three(struct buf *b, const char *key, const unsigned v[3])
{
    buf_printf(b, ",\"%s\":[%u,%u,%u]", key, v[0], v[1], v[2]);
}

static void put_text(struct buf *b, const char *key, const char *text)
{
    buf_printf(b, ",\"%s\":", key);
    if (text)
        buf_json(b, str_of(text));
    else
        buf_puts(b, "null");
}

static void put_kernel(const struct live_survey *s, const struct live_kernel *k, struct buf *b)
{
    struct buf readable = { 0 };
    ptx_readable(str_of(k->name), &readable);
    buf_puts(b, "{\"name\":");
    buf_json(b, str_of(k->name));
    put_text(b, "readable", readable.s);
    buf_free_checked(&readable, b);
    if (k->image)
        buf_printf(b, ",\"image\":\"%016llx\"", (unsigned long long)k->image);
    else
        buf_puts(b, ",\"image\":null");
    buf_printf(b, ",\"ptx\":%s", k->why ? "false" : "true");
    put_text(b, "why", k->why);
    put_text(b, "ptx_file", k->ptx_file);
    buf_printf(b, ",\"launches\":%llu", (unsigned long long)k->launches);
    put_three(b, "grid", k->grid);
    put_three(b, "block", k->block);
    buf_printf(b, ",\"shared\":%u,\"time_ns\":%llu,\"share\":%.6f,\"files\":null}", k->shared,
               (unsigned long long)k->time_ns, share(s, k));
}

static void put_document(const struct live_survey *s, char *const *argv, struct buf *b)
{
    buf_puts(b, "{\"format\":\"gpulocw-capture\",\"version\":1,\"program\":{\"command\":[");
    for (size_t i = 0; argv[i]; i++) {
        buf_puts(b, i ? "," : "");
        buf_json(b, str_of(argv[i]));
    }
    buf_printf(b,
               "],\"exit_status\":%d,\"processes\":%u,\"wall_ns\":%llu,\"gpu_ns\":%llu},\"kernels\":[",
               s->exit, s->processes, (unsigned long long)s->wall_ns, (unsigned long long)s->gpu_ns);
    for (size_t i = 0; i < s->n; i++) {
        buf_puts(b, i ? ",\n" : "\n");
        put_kernel(s, &s->v[i], b);
    }
    buf_puts(b, "]}\n");
}

static void put_table(const struct live_survey *s, struct buf *b)
{
    uint64_t with = 0;
    size_t n = 0;
    buf_printf(b, "%8s %12s %7s  %-4s kernel\n", "launches", "time in ms", "share", "PTX");
    for (size_t i = 0; i < s->n; i++) {
        const struct live_kernel *k = &s->v[i];
        buf_printf(b, "%8llu %12.4f %5.1f %%  %-4s ", (unsigned long long)k->launches,
                   (double)k->time_ns / 1e6, 100 * share(s, k), k->why ? "no" : "yes");
        ptx_readable(str_of(k->name), b);
        buf_printf(b, "  %ux%ux%u of %ux%ux%u%s%s\n", k->grid[0], k->grid[1], k->grid[2], k->block[0],
                   k->block[1], k->block[2], k->why ? ": " : "", k->why ? k->why : "");
        n += !k->why;
        with += k->why ? 0 : k->time_ns;
    }
    buf_printf(b,
               "%zu kernels, %zu with PTX (%.1f %% of the GPU's time); %.3f ms of %.3f ms on the GPU\n",
               s->n, n, s->gpu_ns ? 100 * (double)with / (double)s->gpu_ns : 0.0,
               (double)s->gpu_ns / 1e6, (double)s->wall_ns / 1e6);
}

static void tell(const struct live_survey *s, struct diags *ds)
{
    if (s->refused)
        diag_add(ds, DIAG_WARNING, "survey", NULL, NO_SPAN, "nothing could be recorded: %s", s->refused);
    else if (!s->processes)
        diag_hint(diag_add(ds, DIAG_WARNING, "survey", NULL, NO_SPAN,
                           "no process of the program used CUDA and ended in order"),
                  "a process that is killed, or ends by _exit, leaves no record");
}

int cmd_capture(struct args *a)
{
    struct diags ds = { 0 };
    struct live_survey s = { 0 };
    struct buf b = { 0 };
    enum status st = ST_USAGE;
    if (!a->program || !a->program[0])
        diag_error(&ds, "usage", "which program? gpulocw capture --list -- PROGRAM ARG...");
    else if (!a->list)
        diag_error(&ds, "usage", "capture has the survey alone so far: give --list");
    else
        st = live_survey_run(a->program, &s, &ds);
    int rc = s.exit;
    if (st == ST_OK) {
        if (a->json)
            put_document(&s, a->program, &b);
        else
            put_table(&s, &b);
        tell(&s, &ds);
        cmd_put(a, &b);
        buf_free(&b);
    }
    live_survey_free(&s);
    int own = cmd_finish(a, st, &ds);
    return own ? own : rc; /* the program's own */
}
