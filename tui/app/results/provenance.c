/* provenance: see provenance.h. */
#include "tui/app/results/provenance.h"

#include "engine/rec/launch_read.h"
#include "engine/session/baseline.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"

const char *run_stale(const struct app *a, const struct session_run *r)
{
    const struct job_snapshot *s = a->snap;
    struct run_subject now = { .kernel = s->kernel,
                               .device = s->has_dev ? s->dev.spec : NULL,
                               .has_launch = s->spec != NULL,
                               .launch_key = a->launch_key };
    if (s->spec)
        now.grid = launch_grid(s->spec), now.block = launch_block(s->spec);
    return run_other(r, &now);
}
