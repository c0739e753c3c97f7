/* first_run: see first_run.h. */
#include "tui/control/first_run.h"

#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"

#include <stdio.h>
#include <string.h>

/* A GPU is used when somebody asks (docs/security.md); a list of kernels is chosen from first. */
static bool ready(const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    bool choosing = a->overlay == OVERLAY_KERNELS || a->kernels_wanted;
    return !s->busy && s->module && s->kernel && s->facts && s->spec && !s->guessed_n && s->has_dev &&
           s->dev.kind == DEV_SIMULATED && !a->lesson.lesson && !choosing && !a->replay.on;
}

void first_run(struct app *a)
{
    struct job j = { .kind = JOB_RUN };
    char now[sizeof a->first_of];
    a->first_busy = a->first_busy && a->snap->busy;
    if (!a->first_run || !ready(a))
        return;
    snprintf(now, sizeof now, "%s %s", a->snap->kernel, a->snap->module->path);
    if (!strcmp(now, a->first_of))
        return;
    snprintf(a->first_of, sizeof a->first_of, "%s", now);
    if (run_original_now(a, &(size_t){ 0 }))
        return;
    a->first_busy = true;
    a->engine.post(a->engine.ctx, &j);
}
