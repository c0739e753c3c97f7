/* The search. Rounds of coordinate descent over the dimensions of space.c: each
 * dimension's alternatives are tried on top of the best so far, thresholds coarse to
 * fine; a round without gain ends it. The reference is the exhaustive product.
 * Nothing is recommended that did not run with outputs equal to the original's, or
 * whose gain lies within the noise. */
#include "engine/tune/space.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIM_NOISE 0.005      /* the simulated device is deterministic; gains below this are not worth a rewrite */
#define MEASURED_NOISE 0.02  /* least gain that counts on a GPU, besides the spread of the samples */
#define ROUNDS 3

struct searching {
    struct tune_bench *bench; const struct tune_search_opts *opts; const struct tune_observer *ob; struct diags *ds;
    struct tune_found *found; struct space space;
    struct options *tried; size_t ntried, cap;
    unsigned budget; double deadline_ns; double expected;
    double noise;
    double best_cost;                        /* the model's figure for the best so far; NAN: none */
    double predict_ns, launch_ns; unsigned npredict;
    bool ranked;                             /* the model orders the candidates */
    struct result last;                      /* of the last launch */
};

static bool was_tried(const struct searching *s, const struct options *o)
{
    for (size_t i = 0; i < s->ntried; i++)
        if (options_equal(&s->tried[i], o))
            return true;
    return false;
}

static bool spent(const struct searching *s)
{
    return (s->budget && s->found->launches >= s->budget) || (s->deadline_ns > 0 && (double)base_now_ns() > s->deadline_ns);
}

static bool legal(struct searching *s, const struct options *o)
{
    const struct tune_subject *t = &s->bench->subject;
    struct pass_input in = { t->module, str_of(t->launch->kernel), o, dev_describe(t->dev), t->launch, t->facts };
    struct diags ds = { 0 };
    bool ok = pass_legal(&in, &ds) == ST_OK;
    diags_free(&ds);
    return ok;
}

static bool remember(struct searching *s, const struct options *o)
{
    if (!base_grow((void **)&s->tried, s->ntried, &s->cap, sizeof *s->tried))
        return false;
    s->tried[s->ntried++] = *o;
    return true;
}

/* A finished configuration: keeps it when it is the best by more than the noise. `why` NULL: told already. */
static void consider(struct searching *s, const struct result *r, const char *why, bool *better)
{
    s->last = *r;
    if (why && s->ob && s->ob->point)
        s->ob->point(s->ob->ctx, r, why);
    if (s->ob && s->ob->progress)
        s->ob->progress(s->ob->ctx, fmin(0.99, s->found->launches / s->expected), "search");
    if (tune_usable(r) && r->equal != EQUAL_UNKNOWN && (double)r->time.median < (double)s->found->best.time.median * (1 - s->noise)) {
        s->found->best = *r;
        s->found->options = r->options;      /* a vote has become the threshold that was elected */
        *better = true;
    }
}

/* What a cut-off search has run already; NULL: not this one. */
static const struct result *done_before(const struct searching *s, const struct options *o)
{
    for (size_t i = 0; i < s->opts->ndone; i++)
        if (options_equal(&s->opts->done[i].options, o) && (s->opts->done[i].time.valid || s->opts->done[i].status == ST_REFUSED))
            return &s->opts->done[i];
    return NULL;
}

/* Runs one configuration unless it was tried or is not legal. */
static enum status try_one(struct searching *s, const struct options *o, const char *why, bool *better)
{
    struct result r;
    struct diags own = { 0 };
    if (s->ob && cancel_asked(s->ob->cancel))
        return ST_CANCELLED;
    if (was_tried(s, o) || spent(s) || !legal(s, o))
        return ST_OK;
    if (!remember(s, o))
        return ST_NOMEM;
    const struct result *before = done_before(s, o);
    int64_t from = base_now_ns();
    enum status st = ST_OK;
    if (before)
        r = *before;
    else
        st = tune_run_one(s->bench, o, &r, &own);
    if (st != ST_OK)
        diags_move(s->ds, &own);
    diags_free(&own);
    if (st != ST_OK)
        return st;
    s->launch_ns += (double)(base_now_ns() - from);
    s->found->launches += !before;
    s->found->resumed += before != NULL;
    consider(s, &r, why, better);
    return ST_OK;
}

/* ---- what the model says beforehand ---- */
/* On a GPU a launch may be cheaper than its prediction: then the model keeps silent. */
static bool model_pays(const struct searching *s)
{
    return dev_describe(s->bench->subject.dev)->kind != DEV_CUDA || !s->npredict || s->predict_ns / s->npredict < s->launch_ns / s->found->launches;
}

static enum status predicted(struct searching *s, const struct options *o, double *cost)
{
    struct tune_prediction p;
    *cost = NAN;
    if (!s->ranked || !model_pays(s))
        return ST_OK;
    int64_t from = base_now_ns();
    enum status st = tune_predict(s->bench, o, &p);
    s->predict_ns += (double)(base_now_ns() - from);
    s->npredict++;
    if (p.valid)
        *cost = p.cost.extended;
    return st;
}

struct ranked { double cost; size_t at; };

/* Least cost first; what the model says nothing about comes last, as it stood. */
static int by_cost(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (isnan(a->cost) != isnan(b->cost))
        return isnan(a->cost) - isnan(b->cost);
    if (!isnan(a->cost) && a->cost != b->cost)
        return a->cost < b->cost ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

/* Ranks list[0..n-1] into order[]; returns how many are legal and not tried yet. */
static enum status rank_by_model(struct searching *s, const struct options *list, size_t n, struct ranked *order, size_t *left)
{
    enum status st = ST_OK;
    *left = 0;
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        if (was_tried(s, &list[i]) || !legal(s, &list[i]))
            continue;
        order[*left].at = i;
        st = predicted(s, &list[i], &order[(*left)++].cost);
    }
    if (st == ST_OK)
        qsort(order, *left, sizeof *order, by_cost);
    return st;
}

/* A candidate whose memory time alone is so much more than the best's is not launched: what that saves
 * and costs is in docs/tuning.md. */
#define HOPELESS 1.5

/* Over a pool: what is left of a dimension at once, as far as the budget goes. The best is the same one
 * whatever the pool; what the model would have skipped after a first success is run all the same. */
static enum status try_together(struct searching *s, const struct options *list, const struct ranked *order, size_t left, bool *better)
{
    struct options batch[SPACE_MOST];
    struct ranked of[SPACE_MOST];
    size_t n = 0, most = s->budget ? s->budget - s->found->launches : SPACE_MOST;
    for (size_t i = 0; i < left && n < most; i++) {
        if (order[i].cost / s->best_cost > HOPELESS) {
            s->found->skipped++;
            continue;
        }
        of[n] = order[i];
        batch[n++] = list[order[i].at];
        if (!remember(s, &list[order[i].at]))
            return ST_NOMEM;
    }
    struct result *r = base_alloc((n + 1) * sizeof *r);
    enum status st = r ? tune_pool_run(s->bench, batch, n, s->ob, r, s->ds) : ST_NOMEM;
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        bool won = false;
        s->found->launches++;
        consider(s, &r[i], NULL, &won);
        if (won)
            s->best_cost = of[i].cost;
        *better = *better || won;
    }
    base_free(r);
    return st;
}

static enum status try_dimension(struct searching *s, const struct dimension *d, bool *better)
{
    struct options list[SPACE_MOST], base = s->found->options;
    struct ranked order[SPACE_MOST];
    size_t n = d->alternatives(&s->space, &base, list, SPACE_MOST), left = 0;
    enum status st = rank_by_model(s, list, n, order, &left);
    if (st == ST_OK && s->bench->pool && left && !spent(s))
        return try_together(s, list, order, left, better);
    for (size_t i = 0; i < left && st == ST_OK && !spent(s); i++) {
        double ratio = order[i].cost / s->best_cost;
        char why[128];
        bool won = false;
        if (ratio > HOPELESS) {
            s->found->skipped++;
            continue;
        }
        if (isnan(ratio))
            snprintf(why, sizeof why, "%s, on top of the best so far", d->name);
        else
            snprintf(why, sizeof why, "%s: the model expects %.2fx the memory time of the best so far", d->name, ratio);
        st = try_one(s, &list[order[i].at], why, &won);
        if (won)
            s->best_cost = order[i].cost;
        *better = *better || won;
    }
    return st;
}

/* Thresholds next to the best one, until neither neighbour is better. */
static enum status refine_pi(struct searching *s)
{
    enum status st = ST_OK;
    for (bool better = true; better && st == ST_OK;) {
        better = false;
        struct options at = s->found->options;
        if (at.bypass == BYPASS_NONE || at.pi.mode != PI_VALUE)
            return ST_OK;
        for (int d = -1; d <= 1 && st == ST_OK; d += 2) {
            struct options o = at;
            o.pi.value += d;
            if (o.pi.value > 0 && o.pi.value < (int)s->space.warps)
                st = try_one(s, &o, "threshold next to the best", &better);
        }
    }
    return st;
}

static enum status descend(struct searching *s)
{
    enum status first = predicted(s, &s->found->options, &s->best_cost);
    if (first != ST_OK)
        return first;
    for (int round = 0; round < ROUNDS; round++) {
        bool better = false;
        for (size_t i = 0; i < space_dimensions(); i++) {
            enum status st = try_dimension(s, space_dimension(i), &better);
            if (st == ST_OK)
                st = refine_pi(s);
            if (st != ST_OK)
                return st;
        }
        if (!better)
            return ST_OK;
    }
    return ST_OK;
}

/* ---- exhaustive: every combination, one alternative (or none) of each dimension ---- */
static enum status every_combination(struct searching *s)
{
    enum { MOST_DIMS = 16 };
    size_t at[MOST_DIMS] = { 0 }, dims = space_dimensions();
    struct options list[SPACE_MOST], none = options_default();
    s->space.fine = true;
    for (;;) {
        struct options o = none;
        bool whole = true, better;
        for (size_t d = 0; d < dims; d++) {
            size_t n = at[d] ? space_dimension(d)->alternatives(&s->space, &o, list, SPACE_MOST) : 0;
            if (at[d] > n)
                whole = false;
            else if (at[d])
                o = list[at[d] - 1];
        }
        enum status st = whole ? try_one(s, &o, "exhaustive", &better) : ST_OK;
        if (st != ST_OK || spent(s))
            return st;
        size_t d = 0;
        for (; d < dims; d++) {              /* the odometer's next reading */
            at[d]++;
            size_t n = space_dimension(d)->alternatives(&s->space, &none, list, SPACE_MOST);
            if (strcmp(space_dimension(d)->name, "active agents") == 0)
                n = s->space.resident / 2;
            if (at[d] <= n)
                break;
            at[d] = 0;
        }
        if (d == dims)
            return ST_OK;
    }
}

/* Size of the product, for the report: what an exhaustive search would try. */
static unsigned space_size(struct searching *s)
{
    struct options list[SPACE_MOST], none = options_default();
    double n = 1;
    bool was = s->space.fine;
    s->space.fine = true;
    for (size_t d = 0; d < space_dimensions(); d++) {
        size_t k = space_dimension(d)->alternatives(&s->space, &none, list, SPACE_MOST), ok = 0;
        for (size_t i = 0; i < k; i++)
            ok += legal(s, &list[i]);
        n *= (double)ok + 1;
    }
    s->space.fine = was;
    return n > 4e9 ? 4000000000u : (unsigned)n;
}

/* ---- methods by name ---- */
static enum status probe(struct searching *s, struct options o, const char *why, struct result *out)
{
    bool better;
    s->last = result_empty();
    enum status st = try_one(s, &o, why, &better);
    *out = s->last;
    return st;
}

/* Options that an earlier step took and a later one made needless go again: simpler, and never slower
 * by more than the noise. Parts of a knob group go with their head. */
static const struct { const char *knob; size_t at, n; } groups[] = {
#define GROUP(knob, from, to) { knob, offsetof(struct options, from), offsetof(struct options, to) - offsetof(struct options, from) }
    GROUP("bypass", bypass, cluster), GROUP("cluster", cluster, prefetch), GROUP("prefetch", prefetch, softcache), GROUP("softcache", softcache, block),
    GROUP("block", block, swap_xy), GROUP("swap-xy", swap_xy, coarsen), GROUP("coarsen", coarsen, throttle_shared), GROUP("throttle-shared", throttle_shared, maxnreg),
    GROUP("readonly", readonly, carveout), GROUP("carveout", carveout, assume_read_only),
#undef GROUP
};

static enum status simplify(struct searching *s)
{
    enum status st = ST_OK;
    struct options none = options_default();
    for (size_t i = 0; i < ARRAY_LEN(groups) && st == ST_OK; i++) {
        struct options o = s->found->options;
        struct result r;
        char why[64];
        memcpy((char *)&o + groups[i].at, (const char *)&none + groups[i].at, groups[i].n);
        if (options_equal(&o, &s->found->options) || options_equal(&o, &none))
            continue;
        snprintf(why, sizeof why, "is --%s still needed?", groups[i].knob);
        st = probe(s, o, why, &r);
        if (st == ST_OK && tune_usable(&r) && r.equal != EQUAL_UNKNOWN && (double)r.time.median <= (double)s->found->best.time.median * (1 + s->noise)) {
            s->found->best = r;
            s->found->options = r.options;
        }
    }
    return st;
}

static enum status method_search(struct searching *s)
{
    s->ranked = true;
    enum status st = descend(s);
    return st == ST_OK ? simplify(s) : st;
}
static enum status method_exhaustive(struct searching *s) { return every_combination(s); }

static enum status only(struct searching *s, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t d = 0; d < space_dimensions(); d++) {
            bool better = false;
            if (strcmp(space_dimension(d)->name, names[i]) != 0)
                continue;
            enum status st = try_dimension(s, space_dimension(d), &better);
            if (st != ST_OK)
                return st;
        }
    return refine_pi(s);
}

/* ---- the cluster paper's framework (4.4) ---- */
static double hit_rate(const struct result *r)
{
    const struct counter *c = &r->counters[COUNTER_L1_HIT_RATE];
    return c->valid ? c->value : NAN;
}

/* Where does the locality come from? Two launches tell: redirection changes which CTAs meet in an L1, so
 * inter-CTA reuse shows as more hits (five points of a hundred) or less time; L1 off shows whether L1 serves
 * anything at all. The paper probes on a reduced grid; these kernels are short enough to be run whole. */
static enum status inter_cta(struct searching *s, bool *exploitable)
{
    struct options redirect = options_default(), off = redirect;
    struct result r, bpa;
    const struct result *original = &s->found->original;
    redirect.cluster = CLUSTER_REDIRECT;
    redirect.index.kind = s->space.grid.y * s->space.grid.z > 1 ? INDEX_COLUMN : INDEX_ROW;
    off.bypass = BYPASS_L1;
    off.pi.mode = PI_BPA;
    enum status st = probe(s, redirect, "is there reuse between CTAs? (redirection)", &r);
    if (st == ST_OK)
        st = probe(s, off, "does L1 serve anything? (L1 off)", &bpa);
    bool faster = tune_usable(&r) && (double)r.time.median < (double)original->time.median * (1 - s->noise);
    bool served = tune_usable(&bpa) && (double)bpa.time.median > (double)original->time.median * (1 + s->noise);
    bool more_hits = tune_usable(&r) && hit_rate(&r) > hit_rate(original) + 5;
    *exploitable = faster || (more_hits && served);
    return st;
}

/* Cluster what shares data; else reshape the order and prefetch. Then throttle, then bypass the streams. */
static enum status method_cluster(struct searching *s)
{
    static const char *const with[] = { "clustering", "active agents", "cache bypassing" };
    static const char *const without[] = { "clustering", "prefetching", "throttling", "cache bypassing" };
    bool exploitable = false;
    enum status st = inter_cta(s, &exploitable);
    if (st != ST_OK)
        return st;
    return exploitable ? only(s, with, ARRAY_LEN(with)) : only(s, without, ARRAY_LEN(without));
}

/* bypass paper: every threshold, nothing else. */
static enum status method_static(struct searching *s)
{
    static const char *const names[] = { "cache bypassing" };
    s->space.fine = true;
    return only(s, names, 1);
}

/* bypass paper, 4.4.2: one sampling launch per operator elects a threshold. */
static enum status method_voted(struct searching *s)
{
    static const int ops[] = { BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE };
    enum status st = ST_OK;
    for (size_t i = 0; i < ARRAY_LEN(ops) && st == ST_OK; i++) {
        struct options o = options_default();
        bool better = false;
        o.bypass = BYPASS_L1;
        o.bypass_op = ops[i];
        o.pi.mode = PI_VOTE;
        st = try_one(s, &o, "the threshold the CTAs vote for", &better);
    }
    return st;
}

/* ---- the model alone: descent over predicted costs, then one launch to confirm ---- */
static void keep_ranked(struct tune_found *f, const struct tune_prediction *p)
{
    unsigned at = f->nranking;
    for (unsigned i = 0; i < f->nranking; i++)
        if (options_equal(&f->ranking[i].options, &p->options))
            return;
    while (at && f->ranking[at - 1].cost.extended > p->cost.extended) {
        if (at < TUNE_RANKED)
            f->ranking[at] = f->ranking[at - 1];
        at--;
    }
    if (at < TUNE_RANKED)
        f->ranking[at] = *p;
    f->nranking += f->nranking < TUNE_RANKED;
}

/* The alternatives of a dimension on top of `from`; *best becomes the cheapest that is cheaper by more than the noise. */
static enum status model_dimension(struct searching *s, const struct dimension *d, const struct options *from, struct tune_prediction *best, bool *better)
{
    struct options list[SPACE_MOST];
    size_t n = d->alternatives(&s->space, from, list, SPACE_MOST);
    for (size_t i = 0; i < n; i++) {
        struct tune_prediction p;
        if (s->ob && cancel_asked(s->ob->cancel))
            return ST_CANCELLED;
        enum status st = tune_predict(s->bench, &list[i], &p);
        if (st != ST_OK)
            return st;
        if (!p.valid)
            continue;
        keep_ranked(s->found, &p);
        if (p.cost.extended < best->cost.extended * (1 - s->noise)) {
            *best = p;
            *better = true;
        }
    }
    return ST_OK;
}

/* Steepest descent: of all dimensions the one change that saves most, then the next on top of it. */
static enum status model_descend(struct searching *s, struct tune_prediction *best)
{
    enum { STEPS = 6 };
    enum status st = ST_OK;
    bool better = true;
    for (int step = 0; step < STEPS && better && st == ST_OK; step++) {
        struct options from = best->options;
        better = false;
        for (size_t d = 0; d < space_dimensions() && st == ST_OK; d++)
            st = model_dimension(s, space_dimension(d), &from, best, &better);
    }
    return st;
}

/* Ranks without a launch; what stands first is launched, and what follows only if the first is not equal or fails. */
static enum status method_model(struct searching *s)
{
    enum { CONFIRMED = 3 };
    struct tune_prediction best;
    enum status st = tune_predict(s->bench, &s->found->options, &best);
    if (st != ST_OK || !best.valid)
        return st;
    s->space.fine = true;
    keep_ranked(s->found, &best);
    st = model_descend(s, &best);
    struct options none = options_default();
    unsigned before = s->found->launches;
    for (unsigned i = 0; i < s->found->nranking && st == ST_OK && s->found->launches < before + CONFIRMED; i++) {
        bool won = false;
        if (options_equal(&s->found->ranking[i].options, &none))
            break;                           /* the model thinks no better of anything else */
        st = try_one(s, &s->found->ranking[i].options, "first in the model's ranking", &won);
        if (won || tune_usable(&s->last))
            break;
    }
    return st;
}

static const struct { const char *name; enum status (*run)(struct searching *s); } methods[] = {
    { "search", method_search }, { "exhaustive", method_exhaustive }, { "static", method_static }, { "voted", method_voted },
    { "cluster-framework", method_cluster }, { "model", method_model },
};

/* ---- the end: confirm, explain ---- */
static double spread(const struct result *r)
{
    return r->time.median > 0 ? (double)(r->time.max - r->time.min) / (double)r->time.median : 0;
}

/* On a measured device, original and best once more, alternated, before anything is recommended. */
static enum status confirm(struct searching *s)
{
    struct tune_found *f = s->found;
    if (dev_describe(s->bench->subject.dev)->kind != DEV_CUDA)
        return ST_OK;
    for (int round = 0; round < 2; round++) {
        struct result again;
        struct options none = options_default();
        enum status st = tune_run_one(s->bench, &none, &again, NULL);
        if (st == ST_OK && tune_usable(&again))
            tune_merge_samples(&f->original, &again);
        if (st == ST_OK)
            st = tune_run_one(s->bench, &f->options, &again, NULL);
        if (st == ST_OK && tune_usable(&again))
            tune_merge_samples(&f->best, &again);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

static void why_alone(const struct searching *s, char *reason, size_t n)
{
    const struct ana_kernel *k = s->bench->subject.facts;
    const struct dev_info *d = dev_describe(s->bench->subject.dev);
    if (k && k->footprint.valid && d->l1_bytes && k->footprint.bytes_per_sm <= (double)d->l1_bytes)
        snprintf(reason, n, "nothing tried beats the original: what an SM touches (%.0f KiB) fits its L1 (%llu KiB)", k->footprint.bytes_per_sm / 1024, (unsigned long long)d->l1_bytes / 1024);
    else if (k && k->cls == ANA_CLASS_STREAMING)
        snprintf(reason, n, "nothing tried beats the original: its loads stream, there is no reuse to keep");
    else
        snprintf(reason, n, "nothing tried beats the original by more than the noise (%.1f %%)", 100 * s->noise);
}

static void conclude(struct searching *s)
{
    struct tune_found *f = s->found;
    struct options none = options_default();
    double gain = f->best.time.median > 0 ? (double)f->original.time.median / (double)f->best.time.median : 1;
    double needed = 1 + fmax(s->noise, dev_describe(s->bench->subject.dev)->kind == DEV_CUDA ? fmin(spread(&f->original), 0.1) : 0);
    f->leave_alone = options_equal(&f->options, &none) || gain < needed;
    if (f->leave_alone) {
        f->options = none;
        f->best = f->original;
        why_alone(s, f->reason, sizeof f->reason);
        return;
    }
    struct buf line = { 0 };
    options_line(&f->options, &line);
    snprintf(f->reason, sizeof f->reason, "%.2fx faster than the original with outputs equal: %.150s", gain, line.s ? line.s : "");
    buf_free(&line);
}

static enum status measure_original(struct searching *s)
{
    struct options none = options_default();
    enum status st = tune_run_one(s->bench, &none, &s->found->original, s->ds);
    s->found->launches = 1;
    if (st == ST_OK && !tune_usable(&s->found->original)) {
        diag_error(s->ds, "original", "the original does not run: %s", s->found->original.message);
        return s->found->original.status != ST_OK ? s->found->original.status : ST_DEVICE;
    }
    s->found->best = s->found->original;
    s->found->options = none;
    s->bench->original.ctas_per_sm = s->found->original.ctas_per_sm;
    return st;
}

enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o, const struct tune_observer *ob, struct tune_found *out, struct diags *ds)
{
    memset(out, 0, sizeof *out);
    out->original = out->best = result_empty();
    out->options = options_default();
    size_t m = 0;
    while (o->method && m < ARRAY_LEN(methods) && strcmp(methods[m].name, o->method) != 0)
        m++;
    if (m == ARRAY_LEN(methods)) {
        diag_error(ds, "method", "no method '%s': search, exhaustive, static, voted, cluster-framework, model", o->method);
        return ST_USAGE;
    }
    bool gpu = dev_describe(b->subject.dev)->kind == DEV_CUDA;
    struct searching s = { .bench = b, .opts = o, .ob = ob, .ds = ds, .found = out, .budget = o->budget_launches, .noise = gpu ? MEASURED_NOISE : SIM_NOISE,
                           .deadline_ns = o->budget_seconds > 0 ? (double)base_now_ns() + o->budget_seconds * 1e9 : 0, .expected = o->budget_launches ? o->budget_launches : 90, .best_cost = NAN };
    b->observer = ob;
    enum status st = measure_original(&s);
    if (st == ST_OK) {
        s.space = space_of(b);
        out->space = space_size(&s);
        st = methods[m].run(&s);
    }
    if (st == ST_OK)
        st = confirm(&s);
    if (out->original.time.valid)
        conclude(&s);
    if (st == ST_OK && !out->leave_alone)
        st = tune_check_sets(b, o, s.noise, out);
    b->observer = NULL;
    base_free(s.tried);
    return st;
}
