/* What the memory-cost model makes of the advice: expected gains of the items there are, the cheapest
 * alternative of each dimension where it beats them, and "leave it alone" where none does. Nothing is
 * launched. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_softcache.h"
#include "engine/search/advice.h"
#include "engine/search/gain_record.h"
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

static const struct family {
    enum gain_family family;
    const char *dimension, *title, *means;
} families[] = {
    { GAIN_BLOCK_SHAPE, "block shape", "map threads to data differently: block shape, x and y",
      "other lanes share a request, other warps an SM" },
    { GAIN_SOFTWARE_CACHE, "software cache",
      "keep lines of each thread in shared memory (software cache)",
      "lines that L1 loses stay in shared memory" },
    { GAIN_COARSENING, "coarsening", "let a thread do the work of several",
      "a thread has more loads in flight, and loads once what they share" },
    { GAIN_PREFETCHING, "prefetching", "prefetch ahead of the loads",
      "lines are on their way before they are asked for" },
    { GAIN_CTA_ORDER, "clustering", "change the order of the CTAs",
      "CTAs that share data run at the same time" },
    { GAIN_L1_SIZE, "L1 size", "change the split between L1 and shared memory", "L1 has another size" },
    { GAIN_WARP_BYPASS, "cache bypassing", "bypass L1 for some warps: the model's threshold",
      "fewer warps share L1, so that their lines stay" },
};
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
    const struct options *none = options_none();
    enum status st = ST_OK;
    for (size_t i = 0; i < *x->n; i++) {
        struct tune_advice *v = &x->v[i];
        struct tune_prediction p;
        if (v->tried || options_equal(&v->options, none))
            continue;
        if (!look_at(x, &v->options, &p, &st))
            return st;
        if (!told(&p))
            continue;
        v->model_gain = gain_between(x->original.cost.extended, p.cost.extended);
    }
    return st;
}

/* The alternatives of a dimension; of thresholds all, which share one trace; of software caches each
 * number of lines. */
static size_t alternatives(const struct expecting *x, const struct family *f,
                           struct options out[SPACE_MOST])
{
    struct space s = space_of(x->b);
    const struct options *none = options_none();
    size_t n = 0;
    bool cache = f->family == GAIN_SOFTWARE_CACHE;
    for (int lines = SOFTCACHE_MOST; cache && lines > 0; lines--) {
        out[n] = *none;
        opt_softcache(&out[n++])->lines = lines;
    }
    if (cache)
        return n;
    if (f->family != GAIN_WARP_BYPASS)
        return space_find(f->dimension)->alternatives(&s, none, out);
    for (uint32_t pi = 0; pi < s.warps && n < SPACE_MOST; pi++) {
        out[n] = *none;
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

/* What changes, and where the model sees it. */
static void say_why(const struct expecting *x, const struct family *f, const struct tune_prediction *p,
                    struct tune_advice *v)
{
    const struct tune_prediction *was = &x->original;
    size_t part = tune_part_binding(was);
    char now[16], before[16];
    v->reason = strlen(f->means);
    snprintf(v->why, sizeof v->why,
             "%s: by the model %s takes %s cycles instead of %s; L1 misses %.0f %% instead of %.0f %%",
             f->means, tune_part_name(part), cycles(tune_part(p, part), now, sizeof now),
             cycles(tune_part(was, part), before, sizeof before), 100 * p->in.m1, 100 * was->in.m1);
}

static void knob_said(const struct options *o, const char *knob, struct buf *out)
{
    int i = knob_find(str_of(knob));
    buf_clear(out);
    if (i >= 0)
        knob_get(o, (size_t)i, out);
    buf_puts(out, "");
}

/* "128x4x1" as people write it: 128x4. */
static void block_said(const struct options *o, struct buf *out)
{
    knob_said(o, "block", out);
    while (out->s && out->n > 2 && !strcmp(out->s + out->n - 2, "x1"))
        out->s[out->n -= 2] = '\0';
}

/* The change itself, where one value says it. */
static void name_it(const struct family *f, struct tune_advice *v)
{
    const struct options *o = &v->options;
    struct buf b = { 0 };
    const char *swap = opt_schedule(o)->swap_xy ? "exchange x and y" : "";
    snprintf(v->title, sizeof v->title, "%s", f->title);
    if (f->family == GAIN_CTA_ORDER) {
        tune_advise_order(v);
    } else if (f->family == GAIN_BLOCK_SHAPE && opt_schedule(o)->block.x) {
        block_said(o, &b);
        snprintf(v->title, sizeof v->title, "try block %s%s%s", b.s ? b.s : "", *swap ? ", " : "", swap);
    } else if (f->family == GAIN_BLOCK_SHAPE && *swap) {
        snprintf(v->title, sizeof v->title, "%s", swap);
    } else if (f->family == GAIN_COARSENING) {
        knob_said(o, "coarsen", &b);
        snprintf(v->title, sizeof v->title, "let a thread do the work of %s", b.s ? b.s : "");
    } else if (f->family == GAIN_L1_SIZE) {
        knob_said(o, "carveout", &b);
        snprintf(v->title, sizeof v->title, "set the carve-out to %s %%%s", b.s ? b.s : "",
                 b.s && !strcmp(b.s, "0") ? ": all of it for L1" : " shared memory");
    } else if (f->family == GAIN_WARP_BYPASS && opt_bypass(o)->pi.mode == PI_VALUE) {
        snprintf(v->title, sizeof v->title, "let %d warps of a CTA cache, the others bypass L1",
                 opt_bypass(o)->pi.value);
    } else if (f->family == GAIN_WARP_BYPASS) {
        snprintf(v->title, sizeof v->title, "let all loads bypass L1");
    }
    buf_free(&b);
}

/* An item of the same dimension that expects no more gives way. */
static void take_up(struct expecting *x, const struct family *f, const struct options *o,
                    const struct tune_prediction *p)
{
    double gain = gain_between(x->original.cost.extended, p->cost.extended);
    struct tune_advice *to = NULL;
    for (size_t i = 0; i < *x->n && !to; i++)
        if (!x->v[i].tried && gain_family_of(&x->v[i].options) == f->family)
            to = &x->v[i];
    if (gain < gain_least(o) || (to && to->model_gain >= gain))
        return;
    if (!to && *x->n == x->most)
        return;
    if (!to) {
        to = &x->v[(*x->n)++];
        *to = (struct tune_advice){ .real_gain = NAN };
    }
    to->options = *o;
    to->model_gain = gain;
    name_it(f, to);
    say_why(x, f, p, to);
    tune_advise_command(&x->b->subject, to);
}

/* The first alternative of each dimension, then the second ones: where the requests end, each had its
 * turn. */
static enum status look_around(struct expecting *x)
{
    struct options list[FAMILIES][SPACE_MOST];
    const struct options *at[FAMILIES] = { NULL };
    struct tune_prediction p, least[FAMILIES] = { 0 };
    size_t n[FAMILIES], most = 0;
    enum status st = ST_OK;
    for (size_t k = 0; k < FAMILIES; k++) {
        n[k] = alternatives(x, &families[k], list[k]);
        most = n[k] > most ? n[k] : most;
    }
    for (size_t i = 0; i < most; i++)
        for (size_t k = 0; k < FAMILIES; k++)
            if (i < n[k] && look_at(x, &list[k][i], &p, &st) && told(&p) &&
                (!least[k].valid || p.cost.extended < least[k].cost.extended)) {
                least[k] = p;
                at[k] = &list[k][i];
            }
    for (size_t k = 0; k < FAMILIES && st == ST_OK; k++) {
        if (!least[k].valid)
            continue;
        take_up(x, &families[k], at[k], &least[k]);
        if (!x->least.valid || least[k].cost.extended < x->least.cost.extended)
            x->least = least[k];
    }
    return st;
}

/* What said that nothing helps, before the model found something that does. */
static void drop_refuted(struct expecting *x)
{
    const struct options *none = options_none();
    size_t kept = 0;
    for (size_t i = 0; i < *x->n; i++) {
        bool leave = options_equal(&x->v[i].options, none) && !x->v[i].tried &&
                     strncmp(x->v[i].title, "leave", 5) == 0;
        if (!leave)
            x->v[kept++] = x->v[i];
    }
    *x->n = kept;
}

/* What by the records never gains, as the model sees it. */
static void drop_hopeless(struct expecting *x)
{
    const struct dev_info *d = dev_describe(x->b->subject.dev);
    size_t kept = 0;
    for (size_t i = 0; i < *x->n; i++) {
        const struct tune_advice *v = &x->v[i];
        struct interval likely = gain_recorded(d, &v->options, v->model_gain).gain;
        if (v->tried || !(likely.high > 0) || likely.high >= gain_least(&v->options))
            x->v[kept++] = *v;
    }
    *x->n = kept;
}

/* Where nothing is expected to gain, that comes first. */
static void leave_alone(struct expecting *x)
{
    const struct options *none = options_none();
    double best = x->least.valid ? gain_between(x->original.cost.extended, x->least.cost.extended) : 1;
    bool said = false, gains = false;
    for (size_t i = 0; i < *x->n; i++) {
        bool nothing = options_equal(&x->v[i].options, none);
        said = said || nothing || x->v[i].tried;
        gains =
            gains || (!nothing && !x->v[i].tried && x->v[i].model_gain >= gain_least(&x->v[i].options));
    }
    if (gains)
        drop_refuted(x);
    if (said || gains || *x->n == x->most)
        return;
    struct tune_advice *v = &x->v[(*x->n)++];
    *v = (struct tune_advice){ .real_gain = NAN, .options = *none, .model_gain = 1 };
    snprintf(v->title, sizeof v->title, "leave the options alone: no gain expected");
    snprintf(v->why, sizeof v->why,
             "of %u configurations that the model looked at none is 5 %% cheaper%s", x->predicted,
             best >= 1.05 ? ", but for agents: what taking tasks costs is left out" : "");
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
    const struct options *none = options_none();
    drop_illegal(&x);
    enum status st = tune_predict_time(b, none, &x.original);
    if (st == ST_OK && told(&x.original)) {
        st = expect_items(&x);
        if (st == ST_OK)
            st = look_around(&x);
    }
    drop_hopeless(&x);
    if (st == ST_OK && told(&x.original))
        leave_alone(&x);
    *n = tune_advise_rank(dev_describe(b->subject.dev), v, *n);
    return st;
}
