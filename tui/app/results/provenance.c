/* provenance: see provenance.h. */
#include "tui/app/results/provenance.h"

#include "engine/base/base.h"
#include "engine/rec/launch.h"
#include "engine/session/session.h"
#include "engine/workspace/job.h"
#include "tui/app/app.h"

#include <string.h>

/* Launch keys of sessions from before there were any are 0: then grid and block decide. */
static bool same_launch(const struct session_run *x, uint64_t key, struct dim3u grid, struct dim3u block)
{
    if (x->launch_key && key)
        return x->launch_key == key;
    return !memcmp(&x->grid, &grid, sizeof grid) && !memcmp(&x->block, &block, sizeof block);
}

bool same_origin(const struct session_run *x, const struct session_run *y)
{
    return x->earlier == y->earlier && !strcmp(x->kernel, y->kernel) &&
           !strcmp(x->dev.spec, y->dev.spec) && same_launch(x, y->launch_key, y->grid, y->block);
}

const char *run_stale(const struct app *a, const struct session_run *r)
{
    const struct job_snapshot *s = a->snap;
    if (r->earlier)
        return "text changed since";
    if (s->kernel && strcmp(r->kernel, s->kernel) != 0)
        return "other kernel";
    if (s->has_dev && strcmp(r->dev.spec, s->dev.spec) != 0)
        return "other device";
    if (s->spec && !same_launch(r, a->launch_key, s->spec->grid, s->spec->block))
        return "launch changed since";
    return NULL;
}
