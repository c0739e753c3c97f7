/* mcp, batch: the commands for programs. */
#include "engine/cmd/cmd_int.h"
#include "engine/dev/dev.h"
#include "engine/service/service.h"
#include "engine/workspace/args.h"

#include <stdio.h>
#include <unistd.h>

int cmd_mcp(struct args *a)
{
    struct diags ds = { 0 };
    struct service_mcp_opts o = { .self = a->env->self,
                                  .in = STDIN_FILENO,
                                  .out = STDOUT_FILENO,
                                  .roots = { a->root, a->root_n },
                                  .jobs = (unsigned)a->jobs,
                                  .cancel = a->cancel };
    for (size_t i = 0; i < a->root_n; i++)
        if (access(a->root[i], R_OK | X_OK) != 0) {
            diag_add(&ds, DIAG_ERROR, "roots", a->root[i], NO_SPAN, "the folder cannot be read");
            return cmd_finish(a, ST_USAGE, &ds);
        }
    enum status st = service_mcp(&o, &ds);
    return cmd_finish(a, st, &ds);
}

static void on_progress(void *ctx, double done, const char *what, const char *detail)
{
    cmd_progress_detail(ctx, done, what, detail);
}

static void say_counts(const struct service_batch_counts *c, struct diags *ds)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    double room = c->wall_s * (double)(cpus > 0 ? cpus : 1);
    diag_add(
        ds, DIAG_NOTE, "batch", NULL, NO_SPAN,
        "%llu requests, %llu had results already, %llu ended with an exit code other than 0; %.1f s, "
        "%.0f %% of the time of %ld CPUs",
        (unsigned long long)c->requests, (unsigned long long)c->resumed, (unsigned long long)c->failed,
        c->wall_s, room > 0 ? 100 * c->busy_s / room : 0.0, cpus);
}

int cmd_batch(struct args *a)
{
    struct diags ds = { 0 };
    struct service_batch_counts counts;
    struct service_batch_opts o = { .self = a->env->self,
                                    .file = a->nfiles ? a->file[0] : "-",
                                    .output = a->output,
                                    .jobs = (unsigned)a->jobs,
                                    .worker = a->worker,
                                    .nworkers = a->worker_n,
                                    .cancel = a->cancel,
                                    .progress = on_progress,
                                    .ctx = a };
    if (!a->nfiles && isatty(STDIN_FILENO)) {
        struct diag *d = diag_add(&ds, DIAG_ERROR, "usage", NULL, NO_SPAN, "no file of requests given");
        diag_hint(d, "one JSON object per line: {\"id\": 1, \"tool\": \"run\", \"arguments\": "
                     "{\"file\": \"app.ptx\"}}; - is standard input");
        return cmd_finish(a, ST_USAGE, &ds);
    }
    fflush(stdout);
    enum status st = service_batch(&o, &counts, &ds);
    if (counts.requests)
        say_counts(&counts, &ds);
    return cmd_finish(a, st, &ds);
}
