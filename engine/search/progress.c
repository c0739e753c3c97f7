/* What a search came to, and its state copied for a reader on another thread. */
#include "engine/base/base.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/live.h"

#include <math.h>
#include <string.h>

/* Options of what was found. */
enum { OF_SETS = 1, OF_RANKED = OF_SETS + TUNE_SETS, OPTIONS = OF_RANKED + TUNE_RANKED + 1 };

static void give(struct tune_found *f, struct options *o, struct result *r)
{
    f->options = o;
    f->set_best = o ? o + OF_SETS : NULL;
    f->ranked = o ? o + OF_RANKED : NULL;
    f->best = r;
    f->original = r ? r + 1 : NULL;
}

bool tune_found_room(struct tune_found *f)
{
    give(f, options_list(OPTIONS), result_list(2));
    if (f->options && f->best)
        return true;
    tune_found_clear(f);
    return false;
}

void tune_found_clear(struct tune_found *f)
{
    BASE_FREE(f->options, f->best);
    give(f, NULL, NULL);
}

void tune_found_copy(struct tune_found *to, const struct tune_found *from)
{
    struct options *options = to->options;
    struct result *results = to->best;
    *to = *from;
    give(to, options, results);
    if (from->options)
        memcpy(options, from->options, OPTIONS * sizeof *options);
    if (from->best)
        memcpy(results, from->best, 2 * sizeof *results);
}

size_t tune_found_bytes(void)
{
    return sizeof(struct tune_found) + OPTIONS * sizeof(struct options);
}

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
