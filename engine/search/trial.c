/* The search's core: what the budget allows, trying a configuration, ranking the candidates of a
 * dimension, telling what goes on. Every result is kept, so that nothing is launched twice. */
#include "engine/rec/counter_ids.h"
#include "engine/search/found.h"
#include "engine/search/search.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/result.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* what a prediction may cost where nothing is launched: a launch on a GPU, compiled and compared */
#define REPLAYED_LAUNCH_NS 3e7

/* a caller's budget of fewer launches is for configurations alone */
#define SETTLED_FROM 5
/* the same of a GPU's: so many leave room for measuring again what led */
#define CONFIRMED_FROM 6

/* Launches that count against the budget: all of them, and in ours what a cut-off search ran. */
static unsigned budgeted(const struct searching *s)
{
    const struct tune_found *f = s->found;
    return s->budget_is_ours ? f->launches + f->resumed + f->missing : f->launches;
}

unsigned search_left(const struct searching *s)
{
    if (!s->budget || s->budget_is_ours)
        return UINT_MAX;
    return s->budget > s->found->launches ? s->budget - s->found->launches : 0;
}

/* Launches of a caller's budget that search_time_leaders and search_confirm may want yet. */
static unsigned search_reserved(const struct searching *s)
{
    const struct tune_found *f = s->found;
    if (search_left(s) == UINT_MAX || s->opts->replay || s->budget < SETTLED_FROM)
        return 0;
    if (dev_describe(s->bench->subject.dev)->kind == DEV_CUDA)
        return s->budget < CONFIRMED_FROM ? 0 : SEARCH_CONFIRMS;
    if (!f->original->sampled)
        return f->best->sampled;
    if (s->whole->time.valid)
        return 1;
    /* too few, or nothing leads yet: the last ones try something */
    unsigned left = search_left(s);
    return left < 2 || (left == 2 && s->best_gain <= 1) ? 0 : 2;
}

/* Is there a limit of launches now? */
static bool search_counts_launches(const struct searching *s)
{
    return s->budget && !(s->budget_is_ours && (double)base_now_ns() < s->free_until_ns);
}

bool search_spent(const struct searching *s)
{
    unsigned used = budgeted(s) + s->reserve + search_reserved(s);
    return (search_counts_launches(s) && used >= s->budget) ||
           (s->deadline_ns > 0 && (double)base_now_ns() > s->deadline_ns);
}

void search_untried(struct searching *s, const char *what)
{
    size_t n = strlen(s->found->untried);
    if (n + strlen(what) + 3 < sizeof s->found->untried)
        snprintf(s->found->untried + n, sizeof s->found->untried - n, "%s%s", n ? ", " : "", what);
}

bool search_legal(const struct searching *s, const struct options *o)
{
    return tune_legal(&s->bench->subject, o);
}

const struct seen_result *search_seen_at(const struct searching *s, const struct options *o)
{
    for (size_t i = 0; i < s->nseen; i++)
        if (options_equal(&s->seen[i].asked, o))
            return &s->seen[i];
    return NULL;
}

const struct result *search_seen(const struct searching *s, const struct options *o)
{
    const struct seen_result *r = search_seen_at(s, o);
    return r ? r->result : NULL;
}

double search_gain(const struct searching *s, const struct result *r)
{
    const struct result *original = s->found->original;
    if (!tune_usable(r) || r->equal == EQUAL_UNKNOWN || r->time.median <= 0)
        return 0;
    if (!r->sampled && original->sampled && s->whole->time.valid)
        original = s->whole;
    /* for the order alone where one is a sample: what leads is timed alike before it is told */
    return gain_between((double)original->time.median, (double)r->time.median);
}

static bool remember(struct searching *s, const struct options *o, const struct result *r)
{
    if (!base_grow((void **)&s->seen, s->nseen, &s->seen_cap, sizeof *s->seen))
        return false;
    struct result *kept = base_alloc(sizeof *kept);
    if (!kept)
        return false;
    *kept = *r;
    s->seen[s->nseen++] = (struct seen_result){ *o, kept, search_gain(s, r), search_gain(s, r), false };
    return true;
}

/* `done` came of asking for `o`: the same, but that a profile may have chosen the data of its software
 * cache. */
static bool matches_request(const struct options *done, const struct options *o)
{
    struct options chosen = *o;
    if (opt_softcache(o)->lines == OPT_SOFTCACHE_AUTO && opt_softcache(done)->lines > 0) {
        opt_softcache(&chosen)->lines = opt_softcache(done)->lines;
        memcpy(opt_softcache(&chosen)->data, opt_softcache(done)->data,
               sizeof opt_softcache(&chosen)->data);
    }
    return options_equal(done, &chosen);
}

/* What a cut-off search has run already; NULL: not this one. */
static const struct result *done_before(const struct searching *s, const struct options *o)
{
    for (size_t i = 0; i < s->opts->ndone; i++) /* the usual case first: comparing texts is slow */
        if (!s->opts->done[i].probe_ctas && memcmp(&s->opts->done[i].options, o, sizeof *o) == 0 &&
            s->opts->done[i].time.valid)
            return &s->opts->done[i];
    for (size_t i = 0; i < s->opts->ndone; i++)
        if (!s->opts->done[i].probe_ctas && matches_request(&s->opts->done[i].options, o) &&
            (s->opts->done[i].time.valid || s->opts->done[i].status == ST_REFUSED))
            return &s->opts->done[i];
    return NULL;
}

/* ---- telling ---- */
static bool explored_add(struct searching *s, const struct result *r, const char *why, bool better,
                         bool resumed)
{
    if (!base_grow((void **)&s->explored, s->live.nexplored, &s->explored_cap, sizeof *s->explored))
        return false;
    struct tune_explored *e = &s->explored[s->live.nexplored++];
    *e = (struct tune_explored){ .options = r->options,
                                 .status = r->status,
                                 .equal = r->equal,
                                 .time_ns = r->time.valid ? r->time.median : 0,
                                 .cost = s->trying_cost,
                                 .became_best = better,
                                 .sampled = r->sampled,
                                 .resumed = resumed };
    snprintf(e->why, sizeof e->why, "%s", why ? why : "");
    return true;
}

/* Launches still to come, as far as a plan or a budget says; UINT_MAX: neither does. */
static unsigned launches_left(const struct searching *s)
{
    const struct tune_found *f = s->found;
    unsigned run = f->launches + f->resumed, used = budgeted(s);
    unsigned plan = s->planned > run ? s->planned - run : s->planned ? 0 : UINT_MAX;
    unsigned budget = s->budget > used ? s->budget - used : s->budget ? 0 : UINT_MAX;
    return plan < budget ? plan : budget;
}

/* Tries are counted. How long confirmation, proof and other data sets take is not known beforehand: they have the
 * rest. 0: not known. */
static double share_done(const struct searching *s)
{
    unsigned left = launches_left(s), n = s->found->launches;
    double now = (double)base_now_ns(), from = (double)s->started_ns, share = 0;
    if (s->behind > 0)
        return s->behind;
    if (left != UINT_MAX && n)
        share = n / (n + (double)left);
    if (s->deadline_ns > from)
        share = fmax(share, fmin(1, (now - from) / (s->deadline_ns - from)));
    if (s->budget_is_ours && s->free_until_ns > now) /* our budget ends nothing until then */
        share = fmin(share, (now - from) / (s->free_until_ns - from));
    return SEARCH_TRIES * share;
}

void search_tell(struct searching *s)
{
    struct tune_found *f = s->found;
    double elapsed = (double)(base_now_ns() - s->started_ns) / 1e9;
    s->live.done = fmax(s->live.done, share_done(s));
    s->live.left_s = s->live.done > 0 ? elapsed * (1 - s->live.done) / s->live.done : (double)NAN;
    s->live.launches = f->launches;
    s->live.skipped = f->skipped;
    s->live.resumed = f->resumed;
    s->live.budget = s->budget;
    s->live.elapsed_s = elapsed;
    s->live.original = !f->best->sampled && s->whole->time.valid ? s->whole : f->original;
    s->live.best = f->best;
    s->live.options = *f->options;
    s->live.explored = s->explored;
    if (s->ob && s->ob->progress)
        s->ob->progress(s->ob->ctx, s->live.done, s->live.step ? s->live.step : "search");
    if (s->ob && s->ob->live)
        s->ob->live(s->ob->ctx, &s->live);
}

void search_step(struct searching *s, const char *step, const char *next)
{
    s->live.step = step;
    s->live.next = next;
    s->live.nfrontier = 0;
    search_tell(s);
}

bool search_sure_of(struct searching *s, const struct result *r, double gain)
{
    if (r->time.origin != ORIGIN_SIMULATED)
        return true;
    struct options what = r->options, alone = options_default(); /* beside other knobs as alone */
    memcpy(opt_memory(&alone)->l2_persist, opt_memory(&what)->l2_persist,
           sizeof opt_memory(&alone)->l2_persist);
    if (opt_occupancy(&what)->minctas) {
        opt_occupancy(&alone)->minctas = 1;
        what = alone;
    } else if (opt_schedule(&what)->coarsen > 1) {
        opt_schedule(&alone)->coarsen = opt_schedule(&what)->coarsen;
        what = alone;
    } else if (opt_cluster(&what)->kind == CLUSTER_AGENT) { /* in whatever order as by column */
        opt_cluster(&alone)->kind = CLUSTER_AGENT;
        opt_cluster(&alone)->index.kind = INDEX_COLUMN;
        what = alone;
    }
    struct interval i = interval_of_gain(dev_describe(s->bench->subject.dev), &what, gain);
    if (!(i.low > 0) || i.low * (1 + fmax(s->live.noise, LEAST_SIMULATED)) >= 1)
        return true;
    if (gain > s->unsure_gain) {
        s->unsure_gain = gain;
        s->unsure = r->options;
        s->unsure_likely = i;
    }
    return false;
}

bool search_sure(struct searching *s, const struct result *r)
{
    return search_sure_of(s, r, search_gain(s, r) / (r->sampled ? SAMPLE_MAY : 1));
}

/* Best so far by more than the noise, as far as this time tells (search_time_leaders). */
static bool is_best(struct searching *s, const struct result *r)
{
    return search_gain(s, r) * (1 - s->live.noise) > s->best_gain && search_sure(s, r);
}

void search_take(struct searching *s, const struct result *r)
{
    *s->found->best = *r;
    *s->found->options = r->options; /* a vote has become the threshold that was elected */
    s->best_gain = search_gain(s, r);
}

enum status search_note(struct searching *s, const struct result *r, const char *why, bool resumed)
{
    if (s->ob && s->ob->point)
        s->ob->point(s->ob->ctx, r, why);
    if (!explored_add(s, r, why, false, resumed))
        return ST_NOMEM;
    search_tell(s);
    return ST_OK;
}

/* A finished configuration: keeps it when it is the best by more than the noise. `told`: the observer
 * has it already. */
static enum status consider(struct searching *s, const struct options *o, const struct result *r,
                            const char *why, bool told, bool resumed, bool *better)
{
    bool won = is_best(s, r);
    *s->last = *r;
    if (!told && s->ob && s->ob->point)
        s->ob->point(s->ob->ctx, r, why);
    if (won) {
        search_take(s, r);
        *better = true;
    }
    if (!explored_add(s, r, why, won, resumed) || !remember(s, o, r))
        return ST_NOMEM;
    search_tell(s);
    return ST_OK;
}

/* ---- trying ---- */
enum status search_try(struct searching *s, const struct options *o, const char *why, bool *better)
{
    struct result r;
    struct diags own = { 0 };
    if (s->ob && cancel_asked(s->ob->cancel))
        return ST_CANCELLED;
    if (search_seen(s, o) || search_spent(s) || !search_legal(s, o))
        return ST_OK;
    const struct result *before = done_before(s, o);
    int64_t from = base_now_ns();
    enum status st = ST_OK;
    if (!before && s->opts->replay) {
        s->found->missing++;
        r = result_empty();
        r.options = *o;
        r.status = ST_CANCELLED;
        return remember(s, o, &r) ? ST_OK : ST_NOMEM;
    }
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
    s->found->launches += !before && r.status != ST_REFUSED; /* nothing is launched for a refusal */
    s->found->resumed += before != NULL;
    return consider(s, o, &r, why, false, before != NULL, better);
}

enum status search_probe(struct searching *s, const struct options *o, const char *why,
                         struct result *out)
{
    bool better;
    const struct result *seen = search_seen(s, o);
    *out = result_empty();
    if (seen) {
        *out = *seen;
        return ST_OK;
    }
    *s->last = result_empty();
    s->trying_cost = NAN;
    enum status st = search_try(s, o, why, &better);
    *out = *s->last;
    return st;
}

/* ---- what the model says beforehand ---- */
/* On a GPU a launch may be cheaper than its prediction: then the model keeps silent. */
static bool model_pays(const struct searching *s)
{
    unsigned n = s->found->launches ? s->found->launches : 1;
    if (dev_describe(s->bench->subject.dev)->kind != DEV_CUDA || !s->npredict)
        return true;
    if (s->opts->replay)
        return s->predict_ns / s->npredict < REPLAYED_LAUNCH_NS;
    return s->predict_ns / s->npredict < s->launch_ns / n;
}

/* What was said before, by the model or by opts->costs. */
static bool known_cost(const struct searching *s, const struct options *o, struct tune_prediction *out)
{
    for (size_t i = 0; i < s->nasked; i++)
        if (memcmp(&s->asked[i].options, o, sizeof *o) == 0) {
            *out = s->asked[i].cost;
            return true;
        }
    for (size_t i = 0; i < s->opts->ncosts; i++)
        if (options_equal(&s->opts->costs[i].options, o)) {
            out->cost.extended = s->opts->costs[i].cost;
            out->valid = !isnan(out->cost.extended);
            return true;
        }
    return s->opts->ncosts && s->opts->replay;
}

enum status search_predict(struct searching *s, const struct options *o, struct tune_prediction *out)
{
    *out = (struct tune_prediction){ .time_ns = NAN };
    bool known = known_cost(s, o, out);
    if (!known && (!s->ranked || !model_pays(s)))
        return ST_OK;
    int64_t from = base_now_ns();
    enum status st = known ? ST_OK : tune_predict_time(s->bench, o, out);
    s->predict_ns += (double)(base_now_ns() - from);
    s->npredict += !known;
    if (st == ST_OK && s->opts->predicted)
        s->opts->predicted(s->opts->ctx, o, out->valid ? out->cost.extended : NAN);
    if (st == ST_OK && base_grow((void **)&s->asked, s->nasked, &s->asked_cap, sizeof *s->asked))
        s->asked[s->nasked++] = (struct said_cost){ *o, *out };
    return st;
}

/* ---- the frontier: what is tried next ---- */
/* least rank first; NaN: after the others, as they stood */
struct ranked {
    double rank;
    size_t at;
    struct tune_prediction p;
};

static int by_rank(const void *x, const void *y)
{
    const struct ranked *a = x, *b = y;
    if (isnan(a->rank) != isnan(b->rank))
        return isnan(a->rank) - isnan(b->rank);
    if (!isnan(a->rank) && a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->at > b->at) - (a->at < b->at);
}

static double best_cost(const struct searching *s)
{
    return s->live.best_cost.valid ? s->live.best_cost.cost.extended : NAN;
}

static bool hopeless(const struct searching *s, double cost)
{
    return cost / best_cost(s) > SEARCH_HOPELESS;
}

/* Those of list[] that are legal and not tried yet, with their predictions, in order. */
static enum status rank(struct searching *s, const struct options *list, const double *score, size_t n,
                        struct ranked *order, size_t *left)
{
    enum status st = ST_OK;
    *left = 0;
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        struct ranked *r = &order[*left];
        if (s->ob && cancel_asked(s->ob->cancel))
            return ST_CANCELLED;
        if (search_seen(s, &list[i]) || !search_legal(s, &list[i]))
            continue;
        st = search_predict(s, &list[i], &r->p);
        r->at = i;
        r->rank = score ? -score[i] : r->p.valid ? r->p.cost.extended : NAN;
        (*left)++;
    }
    if (st == ST_OK)
        qsort(order, *left, sizeof *order, by_rank);
    return st;
}

static void put_candidate(struct searching *s, size_t n, const struct options *o,
                          const struct tune_prediction *p, const char *what)
{
    struct tune_candidate *c = &s->frontier[n];
    *c = (struct tune_candidate){ .options = *o, .cost = p->valid ? p->cost.extended : NAN };
    s->forecast[n] = *p;
    double ratio = c->cost / best_cost(s);
    if (isnan(ratio))
        snprintf(c->why, sizeof c->why, "%s", what);
    else
        snprintf(c->why, sizeof c->why, "%s: the model expects %.2fx the memory time of the best so far",
                 what, ratio);
}

/* Fills the frontier with those of list[0..n-1] that are legal, not tried and not hopeless: the highest
 * score first, or (score NULL) the cheapest by the model. `what`: the reason, said of each. */
static enum status search_frontier(struct searching *s, const struct options *list, const double *score,
                                   size_t n, const char *what, size_t *filled)
{
    struct ranked *order = base_alloc((n + 1) * sizeof *order);
    size_t left = 0;
    enum status st = order ? rank(s, list, score, n, order, &left) : ST_NOMEM;
    *filled = 0;
    for (size_t i = 0; i < left && *filled < TUNE_FRONTIER && st == ST_OK; i++) {
        const struct tune_prediction *p = &order[i].p;
        if (p->valid && hopeless(s, p->cost.extended))
            s->found->skipped++;
        else
            put_candidate(s, (*filled)++, &list[order[i].at], p, what);
    }
    base_free(order);
    s->live.frontier = s->frontier;
    s->live.nfrontier = *filled;
    search_tell(s);
    return st;
}

/* ---- running it ---- */
static enum status settle(struct searching *s, size_t i, const struct result *r, bool told, bool resumed,
                          bool *better)
{
    bool won = false;
    s->trying_cost = s->frontier[i].cost;
    s->live.frontier = &s->frontier[i + 1];
    s->live.nfrontier = s->nfrontier - i - 1;
    enum status st = consider(s, &s->frontier[i].options, r, s->frontier[i].why, told, resumed, &won);
    if (won)
        s->live.best_cost = s->forecast[i];
    *better = *better || won;
    return st;
}

/* Over a pool: all of them at once, as far as the budget goes. What an earlier, cut-off search ran is
 * taken from it. */
static enum status run_together(struct searching *s, size_t from, size_t to, bool *better)
{
    struct options *batch = base_alloc((to - from + 1) * sizeof *batch);
    struct result *r = base_alloc((to - from + 1) * sizeof *r);
    size_t m = 0, owner[TUNE_FRONTIER], used = budgeted(s) + s->reserve + search_reserved(s);
    size_t most = !search_counts_launches(s) ? SIZE_MAX : s->budget > used ? s->budget - used : 0;
    enum status st = batch && r ? ST_OK : ST_NOMEM;
    for (size_t i = from; i < to && st == ST_OK; i++) {
        const struct result *before = done_before(s, &s->frontier[i].options);
        if (before) {
            s->found->resumed++;
            st = settle(s, i, before, false, true, better);
        } else if (m < most) {
            owner[m] = i;
            batch[m++] = s->frontier[i].options;
        }
    }
    if (st == ST_OK && m)
        st = tune_pool_run(s->bench, batch, m, s->ob, r, NULL, s->ds);
    for (size_t k = 0; k < m && st == ST_OK; k++) {
        s->found->launches += r[k].status != ST_REFUSED;
        st = settle(s, owner[k], &r[k], true, false, better);
    }
    base_free(batch);
    base_free(r);
    return st;
}

enum status search_run(struct searching *s, size_t from, size_t to, bool *better)
{
    enum status st = ST_OK;
    if (s->bench->pool && to > from && !search_spent(s))
        return run_together(s, from, to, better);
    for (size_t i = from; i < to && st == ST_OK && !search_spent(s); i++) {
        bool won = false;
        s->live.frontier = &s->frontier[i + 1];
        s->live.nfrontier = s->nfrontier - i - 1;
        s->trying_cost = s->frontier[i].cost;
        st = search_try(s, &s->frontier[i].options, s->frontier[i].why, &won);
        if (won)
            s->live.best_cost = s->forecast[i];
        *better = *better || won;
    }
    return st;
}

static enum status search_listed(struct searching *s, const struct options *list, size_t n,
                                 const struct dimension *d, size_t patience, bool *better)
{
    enum status st = search_frontier(s, list, NULL, n, d->name, &s->nfrontier);
    bool won = true;
    if (s->nfrontier && patience < SPACE_MOST && isnan(s->frontier[0].cost))
        patience += 2; /* the order says nothing */
    for (size_t at = 0, most = s->nfrontier; at < most && won && st == ST_OK; at += patience) {
        won = false;
        st = search_run(s, at, at + patience < most ? at + patience : most, &won);
        *better = *better || won;
    }
    return st;
}

enum status search_dimension(struct searching *s, const struct dimension *d, const struct options *base,
                             size_t patience, bool *better)
{
    struct options list[SPACE_MOST];
    return search_listed(s, list, d->alternatives(&s->space, base, list), d, patience, better);
}

enum status search_refine_pi(struct searching *s, bool *better)
{
    enum status st = ST_OK;
    for (bool won = true; won && st == ST_OK;) {
        won = false;
        struct options at = *s->found->options;
        if (opt_bypass(&at)->level == BYPASS_NONE || opt_bypass(&at)->pi.mode != PI_VALUE)
            return ST_OK;
        for (int d = -1; d <= 1 && st == ST_OK; d += 2) {
            struct options o = at;
            opt_bypass(&o)->pi.value += d;
            s->trying_cost = NAN;
            if (opt_bypass(&o)->pi.value > 0 && opt_bypass(&o)->pi.value < (int)s->space.warps)
                st = search_try(s, &o, "threshold next to the best", &won);
        }
        *better = *better || won;
    }
    return st;
}

/* ---- the ends: the original, and what an earlier search found ---- */
static enum status run_original(struct searching *s, struct result *r)
{
    const struct options *none = options_none();
    struct tune_bench *b = s->bench;
    bool some = tune_makes_some(b);
    b->keep_from = some && !b->kept;
    enum status st = tune_run_one(b, none, r, s->ds);
    b->opts.outputs = some ? DEV_OUTPUTS_SOME : DEV_OUTPUTS_ALL;
    b->keep_from = 0;
    return st;
}

/* From an earlier search's results, or measured; told like any other configuration. */
enum status search_original(struct searching *s)
{
    const struct options *none = options_none();
    const struct result *before = done_before(s, none);
    struct result *r = s->found->original;
    enum status st = ST_OK;
    if (before)
        *r = *before;
    else
        st = run_original(s, r);
    s->found->launches += !before;
    s->found->resumed += before != NULL;
    if (st == ST_OK && before && r->counters[COUNTER_INST_WARP].valid)
        s->bench->inst_warp = r->counters[COUNTER_INST_WARP].value;
    if (st == ST_OK && !tune_usable(s->found->original)) {
        diag_error(s->ds, "original",
                   s->found->original->equal == EQUAL_NO
                       ? "results cannot be compared with the original: %s"
                       : "the original does not run: %s",
                   s->found->original->message);
        return s->found->original->status != ST_OK     ? s->found->original->status
               : s->found->original->equal == EQUAL_NO ? ST_DIFFER
                                                       : ST_DEVICE;
    }
    search_take(s, s->found->original);
    s->bench->original->ctas_per_sm = r->ctas_per_sm;
    if (st == ST_OK && s->ob && s->ob->point)
        s->ob->point(s->ob->ctx, r, "the original");
    return st == ST_OK &&
                   (!remember(s, none, r) || !explored_add(s, r, "the original", false, before != NULL))
               ? ST_NOMEM
               : st;
}

void search_count_tries(struct searching *s, bool counted)
{
    if (dev_describe(s->bench->subject.dev)->kind == DEV_CUDA)
        s->bench->opts.counters = counted && s->reads_counters;
}

/* What a cut-off search had found is not lost when this one ends before it comes there. */
void search_adopt_done(struct searching *s)
{
    for (size_t i = 0; i < s->opts->ndone; i++) {
        const struct result *r = &s->opts->done[i];
        if (!is_best(s, r) || !search_legal(s, &r->options))
            continue;
        search_take(s, r);
    }
}
