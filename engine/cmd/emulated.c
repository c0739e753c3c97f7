/* A program without a GPU, as emulate and capture --emulate run it. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/emulate/emulate.h"
#include "engine/workspace/args.h"

#include <string.h>

static void tell(void *ctx, const struct diags *ds)
{
    const struct args *a = ctx;
    if (a->io->tell)
        a->io->tell(a->io->ctx, ST_OK, ds);
}

static enum status preset_of(const struct args *a, struct sim_preset *p, struct diags *ds)
{
    const char *spec = a->device ? a->device : DEFAULT_DEVICE;
    if (strncmp(spec, "cuda:", 5) != 0 && strcmp(spec, "auto") != 0)
        return dev_preset(spec, a->env, p, ds);
    diag_error(ds, "usage", "emulate runs on a simulated device: --device sim:PRESET");
    return ST_USAGE;
}

enum status cmd_emulate_run(struct args *a, const struct live_want *take, struct emulate_seen *seen,
                            struct sim_preset *p, struct diags *ds)
{
    struct emulate_want w = { .threads = a->threads > 0 ? (unsigned)a->threads : 0,
                              .timed = a->time,
                              .exact = a->exact,
                              .check_memory = a->check_memory,
                              .take = take,
                              .limit_s = a->time_limit,
                              .cancel = a->cancel,
                              .tell = tell,
                              .ctx = a };
    enum status st = preset_of(a, &w.preset, ds);
    *p = w.preset;
    return st == ST_OK ? emulate_run(a->program, &w, seen, ds) : st;
}

enum status cmd_emulate_survey(struct args *a, const struct live_want *take, struct live_survey *s,
                               struct diags *ds)
{
    struct emulate_seen seen = { 0 };
    struct sim_preset p;
    enum status st = cmd_emulate_run(a, take, &seen, &p, ds);
    *s = seen.survey;
    seen.survey = (struct live_survey){ 0 };
    emulate_free(&seen);
    return st;
}
