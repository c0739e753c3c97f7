/* What the memory-cost model makes of the advice: expected gains of the items there are, the cheapest
 * alternative of each dimension where it beats them, and "leave it alone" where none does. Nothing is
 * launched. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_softcache.h"
#include "engine/search/advice.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Line requests that may be walked for all of it: seconds at most, and the same on every machine. A GPU
 * tries things faster. */
#define MOST_REQUESTS     (16u << 20)
#define MOST_REQUESTS_GPU (4u << 20)

/* confidence: how often the top item of that dimension gained when it was run, in tenths
 * (docs/lab/advice.md). */
static const struct family {
    const char *dimension, *title;
    double confidence;
} families[] = {
    { "block shape", "map threads to data differently: block shape, x and y", 0.9 },
    { "software cache", "keep lines of each thread in shared memory (software cache)", 0.7 },
    { "coarsening", "let a thread do the work of several", 0.8 },
    { "prefetching", "prefetch ahead of the loads", 0.7 },
    { "clustering", "change the order of the CTAs", 0.6 },
    { "L1 size", "change the split between L1 and shared memory", 0.6 },
    { "cache bypassing", "bypass L1 for some warps: the model's threshold", 0.7 },
};
enum { SHAPE, SOFTCACHE, COARSEN, PREFETCH, ORDER, SPLIT, THRESHOLD }; /* places in it */
#define FAMILIES       ARRAY_LEN(families)
#define SOFTCACHE_MOST 3 /* lines of a thread that are looked at */

struct expecting {
    struct tune_bench *b;
    struct tune_advice *v;
    size_t *n, most;
    struct tune_prediction original;
    uint64_t requests, most_requests;
    unsigned predicted;
    struct tune_prediction least; /* of all alternatives */
};

/* False: no more is to be predicted, or st says why. */
static bool look_at(struct expecting *x, const struct options *o, struct tune_prediction *out,
                    enum status *st)
{
    if (*st != ST_OK || x->requests > x->most_requests)
        return false;
    *st = tune_predict_time(x->b, o, out);
    if (*st != ST_OK)
        return false;
    x->requests += x->b->trace && out->valid ? x->b->trace->n : 0;
    x->predicted += out->valid;
    return true;
}

static bool told(const struct tune_prediction *p)
{
    return p->valid && !p->note[0] && p->cost.extended > 0;
}

/* Which dimension an item is about: the first knob of it that is set. */
static int family_of(const struct options *o)
{
    struct options none = options_default();
    if (opt_schedule(o)->swap_xy ||
        dim3u_count(opt_schedule(o)->block) != dim3u_count(opt_schedule(&none)->block))
        return SHAPE;
    if (opt_softcache(o)->lines != opt_softcache(&none)->lines)
        return SOFTCACHE;
    return opt_cluster(o)->kind != CLUSTER_NONE     ? ORDER
           : opt_schedule(o)->coarsen > 1           ? COARSEN
           : opt_bypass(o)->level != BYPASS_NONE    ? THRESHOLD
           : opt_occupancy(o)->carveout >= 0        ? SPLIT
           : opt_prefetch(o)->level != PREFETCH_OFF ? PREFETCH
                                                    : -1;
}

/* What no pass would do is no advice. */
static void drop_illegal(struct expecting *x)
{
    size_t kept = 0;
    for (size_t i = 0; i < *x->n; i++)
        if (x->v[i].tried || tune_legal(&x->b->subject, &x->v[i].options))
            x->v[kept++] = x->v[i];
    *x->n = kept;
}

static enum status expect_items(struct expecting *x)
{
    struct options none = options_default();
    enum status st = ST_OK;
    for (size_t i = 0; i < *x->n; i++) {
        struct tune_advice *v = &x->v[i];
        struct tune_prediction p;
        if (v->tried || options_equal(&v->options, &none))
            continue;
        if (!look_at(x, &v->options, &p, &st))
            return st;
        if (!told(&p))
            continue;
        v->expected_gain = x->original.cost.extended / p.cost.extended;
        v->modelled = true;
    }
    return st;
}

/* The alternatives of a dimension; of thresholds all, which share one trace; of software caches each
 * number of lines. */
static size_t alternatives(const struct expecting *x, size_t family, struct options out[SPACE_MOST])
{
    struct space s = space_of(x->b);
    struct options none = options_default();
    size_t n = 0;
    for (int lines = SOFTCACHE_MOST; family == SOFTCACHE && lines > 0; lines--) {
        out[n] = none;
        opt_softcache(&out[n++])->lines = lines;
    }
    if (family == SOFTCACHE)
        return n;
    if (family != THRESHOLD)
        return space_find(families[family].dimension)->alternatives(&s, &none, out, SPACE_MOST);
    for (uint32_t pi = 0; pi < s.warps && n < SPACE_MOST; pi++) {
        out[n] = none;
        opt_bypass(&out[n])->level = s.level;
        opt_bypass(&out[n])->form = s.form;
        opt_bypass(&out[n])->pi.mode = pi ? PI_VALUE : PI_BPA;
        opt_bypass(&out[n++])->pi.value = (int)pi;
    }
    return n;
}

/* Cycles as people read them: three digits and k, M or G. */
static const char *cycles(double v, char *out, size_t n)
{
    static const char *const unit[] = { "", " k", " M", " G" };
    size_t u = 0;
    for (; v >= 999.5 && u + 1 < ARRAY_LEN(unit); u++)
        v /= 1000;
    snprintf(out, n, "%.*f%s", u && v < 99.95 ? v < 9.995 ? 2 : 1 : 0, v, unit[u]);
    return out;
}

static void say_why(const struct expecting *x, const struct tune_prediction *p, struct tune_advice *v)
{
    const struct tune_prediction *was = &x->original;
    char now[16], before[16];
    snprintf(v->why, sizeof v->why,
             "the model has %s cycles instead of %s; L1 misses %.0f %%, now %.0f %%",
             cycles(p->cost.extended, now, sizeof now),
             cycles(was->cost.extended, before, sizeof before), 100 * was->in.m1, 100 * p->in.m1);
}

/* An item of the same dimension that expects no more gives way. */
static void take_up(struct expecting *x, size_t family, const struct tune_prediction *p)
{
    double gain = x->original.cost.extended / p->cost.extended;
    struct tune_advice *to = NULL;
    for (size_t i = 0; i < *x->n && !to; i++)
        if (!x->v[i].tried && family_of(&x->v[i].options) == (int)family)
            to = &x->v[i];
    if (gain < tune_advise_least(&p->options) || (to && to->modelled && to->expected_gain >= gain))
        return;
    if (!to && *x->n == x->most)
        return;
    if (!to) {
        to = &x->v[(*x->n)++];
        *to = (struct tune_advice){ .real_gain = NAN };
    }
    to->options = p->options;
    to->expected_gain = gain;
    to->confidence = families[family].confidence;
    to->modelled = true;
    snprintf(to->title, sizeof to->title, "%s", families[family].title);
    say_why(x, p, to);
    tune_advise_command(&x->b->subject, to);
}

/* The first alternative of each dimension, then the second ones: where the requests end, each had its
 * turn. */
static enum status look_around(struct expecting *x)
{
    struct options list[FAMILIES][SPACE_MOST];
    struct tune_prediction p, least[FAMILIES] = { 0 };
    size_t n[FAMILIES], most = 0;
    enum status st = ST_OK;
    for (size_t k = 0; k < FAMILIES; k++) {
        n[k] = alternatives(x, k, list[k]);
        most = n[k] > most ? n[k] : most;
    }
    for (size_t i = 0; i < most; i++)
        for (size_t k = 0; k < FAMILIES; k++)
            if (i < n[k] && look_at(x, &list[k][i], &p, &st) && told(&p) &&
                (!least[k].valid || p.cost.extended < least[k].cost.extended))
                least[k] = p;
    for (size_t k = 0; k < FAMILIES && st == ST_OK; k++) {
        if (!least[k].valid)
            continue;
        take_up(x, k, &least[k]);
        if (!x->least.valid || least[k].cost.extended < x->least.cost.extended)
            x->least = least[k];
    }
    return st;
}

/* What said that nothing helps, before the model found something that does. */
static void drop_refuted(struct expecting *x)
{
    struct options none = options_default();
    size_t kept = 0;
    for (size_t i = 0; i < *x->n; i++) {
        bool leave = options_equal(&x->v[i].options, &none) && !x->v[i].tried &&
                     strncmp(x->v[i].title, "leave", 5) == 0;
        if (!leave)
            x->v[kept++] = x->v[i];
    }
    *x->n = kept;
}

/* Where nothing is expected to gain, that comes first. */
static void leave_alone(struct expecting *x)
{
    struct options none = options_default();
    double best = x->least.valid ? x->original.cost.extended / x->least.cost.extended : 1;
    bool said = false, gains = false;
    for (size_t i = 0; i < *x->n; i++) {
        bool nothing = options_equal(&x->v[i].options, &none);
        said = said || nothing || x->v[i].tried;
        gains = gains || (!nothing && !x->v[i].tried &&
                          x->v[i].expected_gain >= tune_advise_least(&x->v[i].options));
    }
    if (gains)
        drop_refuted(x);
    if (said || gains || *x->n == x->most)
        return;
    struct tune_advice *v = &x->v[(*x->n)++];
    *v = (struct tune_advice){
        .real_gain = NAN, .options = none, .expected_gain = 1, .confidence = 0.7, .modelled = true
    };
    snprintf(v->title, sizeof v->title, "leave it alone: nothing is expected to gain");
    snprintf(v->why, sizeof v->why,
             "of %u configurations that the model looked at the cheapest is expected to gain %.2fx",
             x->predicted, best);
}

enum status tune_advise_predict(struct tune_bench *b, struct tune_advice *v, size_t *n, size_t max)
{
    struct expecting x = { .b = b,
                           .v = v,
                           .n = n,
                           .most = max,
                           .most_requests = dev_describe(b->subject.dev)->kind == DEV_SIMULATED
                                                ? MOST_REQUESTS
                                                : MOST_REQUESTS_GPU };
    struct options none = options_default();
    drop_illegal(&x);
    enum status st = tune_predict_time(b, &none, &x.original);
    if (st == ST_OK && told(&x.original)) {
        st = expect_items(&x);
        if (st == ST_OK)
            st = look_around(&x);
        if (st == ST_OK)
            leave_alone(&x);
    }
    tune_advise_rank(v, *n);
    return st;
}
