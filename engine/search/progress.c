/* A search's state, copied for a reader on another thread. */
#include "engine/base/base.h"
#include "engine/rec/gain.h"
#include "engine/rec/result.h"
#include "engine/search/live.h"

#include <math.h>
#include <string.h>

double tune_explored_gain(const struct tune_live *l, size_t i)
{
    const struct tune_explored *e = &l->explored[i];
    const struct result *o = l->original;
    return o && result_time(o)->valid && e->sampled == result_sampled(o)
               ? gain_between((double)result_time(o)->median, (double)e->time_ns)
               : (double)NAN;
}

struct tune_live *tune_live_copy(const struct tune_live *l)
{
    struct tune_live *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    struct tune_explored *e = base_alloc((l->nexplored + 1) * sizeof *e);
    struct tune_candidate *f = base_alloc((l->nfrontier + 1) * sizeof *f);
    *c = *l;
    struct result *of = base_alloc(2 * sizeof *of);
    c->explored = e;
    c->frontier = f;
    c->original = of;
    c->best = of ? of + 1 : NULL;
    if (!e || !f || !of) {
        tune_live_free(c);
        return NULL;
    }
    of[0] = l->original ? *l->original : result_empty();
    of[1] = l->best ? *l->best : result_empty();
    if (l->nexplored)
        memcpy(e, l->explored, l->nexplored * sizeof *e);
    if (l->nfrontier)
        memcpy(f, l->frontier, l->nfrontier * sizeof *f);
    return c;
}

void tune_live_free(struct tune_live *l)
{
    if (!l)
        return;
    base_free((void *)(uintptr_t)l->explored);
    base_free((void *)(uintptr_t)l->frontier);
    base_free((void *)(uintptr_t)l->original);
    base_free(l);
}
