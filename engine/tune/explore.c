/* Our search, four steps of a screening design:
 *
 *   screen   every knob by itself, its alternatives in the model's order, a few at a time while they gain
 *   pairs    the best value of each knob that changes the time at all, two knobs at once: gains that neither has
 *            alone are seen here (knobs that do nothing alone are left out)
 *   climb    the best so far takes over, one at a time, what helped by itself; then other values of its own knobs,
 *            then each other knob anew, on top of it
 *   shed     what turns out needless goes again
 *
 * Without a budget it takes a ninth of what the reference would launch. */
#include "engine/tune/search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHARE 0.11           /* of the reference's launches */
#define LEAST_LAUNCHES 18
#define MOST_LOST 0.78       /* a knob that by itself is slower than this has no part in a pair */
#define NO_MATCH 0.8         /* nor have two whose gains multiply to less than this share of the best so far */
#define ROUNDS 3

/* ---- what is left when the budget ends ---- */
static bool out_of_budget(struct searching *s, const char *next)
{
    bool over = s->deadline_ns > 0 && (double)base_now_ns() > s->deadline_ns;
    if (!search_spent(s))
        return false;
    if (!s->budget_is_ours || over)
        search_untried(s, next);
    return true;
}

/* By itself so slow that the reference combines it with nothing: as it ran; else, where the model says so. */
static enum status is_lost(struct searching *s, const struct options *o, bool screened, bool *lost)
{
    const struct result *r = search_seen(s, o);
    struct tune_prediction p = { 0 };
    double original = s->live.original_cost.valid ? s->live.original_cost.cost.extended : NAN;
    enum status st = r || !screened ? ST_OK : search_predict(s, o, &p);
    if (r)
        *lost = !tune_usable(r) || (double)r->time.median > SEARCH_LOST * (double)s->found->original.time.median;
    else
        *lost = st == ST_OK && p.valid && p.cost.extended > SEARCH_LOST * original;
    return st;
}

/* What the reference would launch, from the alternatives of each knob: singles, and pairs of those that are not lost. */
static enum status reference_size(struct searching *s, bool screened, double *size)
{
    struct options none = options_default(), list[SPACE_MOST];
    struct space coarse = s->space;
    double alive[GROUPS] = { 0 };
    enum status st = ST_OK;
    coarse.coarse = true;
    *size = 0;
    for (size_t d = 0; d < space_dimensions() && st == ST_OK; d++) {
        size_t n = space_dimension(d)->alternatives(&coarse, &none, list, SPACE_MOST);
        for (size_t i = 0; i < n && st == ST_OK; i++) {
            bool lost = false;
            if (!search_legal(s, &list[i]))
                continue;
            st = is_lost(s, &list[i], screened, &lost);
            *size += 1;
            for (size_t g = 0; g < GROUPS && !lost; g++)
                alive[g] += group_is_set(&list[i], g);
        }
    }
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t k = 0; k < g; k++)
            *size += alive[g] * alive[k];
    return st;
}

/* Before anything has run, and again when every knob was tried by itself: then it is known what the reference drops. */
static enum status make_budget(struct searching *s, bool screened)
{
    double size = 0;
    if (s->budget && !s->budget_is_ours)
        return ST_OK;
    enum status st = reference_size(s, screened, &size);
    s->budget_is_ours = true;
    s->budget = SHARE * size > LEAST_LAUNCHES ? (unsigned)(SHARE * size) : LEAST_LAUNCHES;
    return st;
}

/* Some of the budget is kept for shedding: a launch for each knob of the best. */
static void keep_reserve(struct searching *s)
{
    unsigned n = group_number(&s->found->options);
    s->reserve = n > 1 ? n : 0;
}

/* ---- screen ---- */
/* The n-th best value (0: the best) of a knob by itself; NULL: so many did not run. */
static const struct result *nth_of_group(const struct searching *s, size_t g, size_t n)
{
    const struct result *last = NULL;
    for (size_t k = 0; k <= n; k++) {
        const struct result *best = NULL;
        for (size_t i = 0; i < s->nseen; i++) {
            const struct result *r = &s->seen[i].result;
            bool later = !last || r->time.median > last->time.median || (r->time.median == last->time.median && r > last);
            if (later && tune_usable(r) && r->equal != EQUAL_UNKNOWN && group_number(&r->options) == 1 && group_is_set(&r->options, g) && (!best || r->time.median < best->time.median))
                best = r;
        }
        if (!best)
            return NULL;
        last = best;
    }
    return last;
}

static const struct result *best_of_group(const struct searching *s, size_t g) { return nth_of_group(s, g, 0); }

/* The alternatives to the original; the active agents are those of the clustering that did best. */
static enum status screen(struct searching *s)
{
    struct options none = options_default();
    enum status st = ST_OK;
    for (size_t i = 0; i < space_dimensions() && st == ST_OK; i++) {
        const struct dimension *d = space_dimension(i);
        const struct result *clustered = best_of_group(s, group_find("cluster"));
        bool better = false, agents = strcmp(d->name, "active agents") == 0;
        if (out_of_budget(s, d->name) || (agents && !clustered))
            continue;
        search_step(s, d->name, i + 1 < space_dimensions() ? space_dimension(i + 1)->name : "pairs of knobs");
        st = search_dimension(s, d, agents ? &clustered->options : &none, d->patience, &better);
        keep_reserve(s);
    }
    return st;
}

/* ---- pairs ---- */
/* Gain of the knob's best value by itself; 0: none, or not worth a thought. */
static double effect(const struct searching *s, const struct result *r)
{
    double gain = r && r->time.median > 0 ? (double)s->found->original.time.median / (double)r->time.median : 0;
    return gain < MOST_LOST || fabs(gain - 1) < s->live.noise / 5 ? 0 : gain;
}

/* The best values of two knobs together, what should gain most first; with `values` 2 also the second best ones,
 * knobs with the largest effects first, whichever way: they are the likeliest not to be independent. */
static size_t make_pairs(struct searching *s, size_t values, struct options *list, double *score)
{
    double so_far = (double)s->found->original.time.median / (double)s->found->best.time.median;
    size_t n = 0;
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t k = 0; k < g; k++)
            for (size_t v = 0; v < values * values; v++) {
                const struct result *a = nth_of_group(s, g, v / values), *b = nth_of_group(s, k, v % values);
                double x = effect(s, a), y = effect(s, b);
                if (!(x > 0) || !(y > 0) || x * y < NO_MATCH * so_far)
                    continue;
                list[n] = group_with(&b->options, &a->options, g);
                score[n++] = values == 1 ? x * y : fabs(log(x)) + fabs(log(y));
            }
    return n;
}

static enum status pairs(struct searching *s, size_t values)
{
    size_t most = GROUPS * GROUPS * values * values;
    struct options *list = base_alloc(most * sizeof *list);
    double *score = base_alloc(most * sizeof *score);
    bool better = false;
    enum status st = list && score ? search_frontier(s, list, score, make_pairs(s, values, list, score), "both change the time, together", &s->nfrontier) : ST_NOMEM;
    if (st == ST_OK)
        st = search_run(s, 0, s->nfrontier, &better);
    keep_reserve(s);
    base_free(list);
    base_free(score);
    return st;
}

/* ---- climb ---- */
/* Takes over what helped by itself, the largest effect first. */
static enum status add_effects(struct searching *s, bool *better)
{
    struct options *list = base_alloc(GROUPS * sizeof *list);
    double score[GROUPS];
    size_t n = 0;
    for (size_t g = 0; g < GROUPS && list; g++) {
        const struct result *r = best_of_group(s, g);
        if (!(effect(s, r) > 0) || group_is_set(&s->found->options, g))
            continue;
        list[n] = group_with(&s->found->options, &r->options, g);
        score[n++] = effect(s, r);
    }
    enum status st = list ? search_frontier(s, list, score, n, "on top of the best so far", &s->nfrontier) : ST_NOMEM;
    for (size_t i = 0; i < s->nfrontier && st == ST_OK && !*better; i++)
        st = search_run(s, i, i + 1, better);
    base_free(list);
    return st;
}

/* Values of a dimension on top of the best: other ones of a knob that it has, or (own false) of one that it has not. */
static enum status on_top(struct searching *s, const struct dimension *d, bool own, size_t patience, bool *better)
{
    struct options list[SPACE_MOST];
    size_t all = d->alternatives(&s->space, &s->found->options, list, SPACE_MOST), n = 0;
    for (size_t k = 0; k < all; k++)
        if ((group_number(&list[k]) == group_number(&s->found->options)) == own)
            list[n++] = list[k];
    enum status st = search_listed(s, list, n, d, patience, better);
    keep_reserve(s);
    return st;
}

static enum status other_values(struct searching *s, bool *better)
{
    enum status st = search_refine_pi(s, better);
    for (int own = 1; own >= 0; own--)
        for (size_t i = 0; i < space_dimensions() && st == ST_OK && group_number(&s->found->options); i++)
            st = on_top(s, space_dimension(i), own, space_dimension(i)->patience, better);
    return st;
}

static enum status climb(struct searching *s)
{
    enum status st = ST_OK;
    bool better = true;
    for (unsigned round = 0; round < ROUNDS && better && st == ST_OK; round++) {
        better = false;
        s->live.round = round + 1;
        for (bool more = true; more && st == ST_OK;) {
            more = false;
            st = add_effects(s, &more);
            better = better || more;
            keep_reserve(s);
        }
        if (st == ST_OK)
            st = other_values(s, &better);
    }
    return st;
}

/* All values of the knobs that the best has, whatever the model thinks of their order. */
static enum status own_values(struct searching *s)
{
    enum status st = ST_OK;
    bool better = false;
    for (size_t i = 0; i < space_dimensions() && st == ST_OK; i++)
        st = on_top(s, space_dimension(i), true, SPACE_MOST, &better);
    return st;
}

/* ---- the four steps; what is left of the budget goes to more pairs, and to climbing on from there ---- */
static enum status first_pairs(struct searching *s) { return pairs(s, 1); }
static enum status more_pairs(struct searching *s) { return pairs(s, 2); }

static const struct { const char *name; enum status (*run)(struct searching *s); } steps[] = {
    { "pairs of knobs", first_pairs }, { "combinations of three and more knobs", climb }, { "pairs of second best values", more_pairs },
    { "climbing on", climb }, { "all values of the best's knobs", own_values },
};

enum status search_explore(struct searching *s)
{
    enum status st = make_budget(s, false);
    s->planned = s->budget;
    if (st == ST_OK)
        st = screen(s);
    if (st == ST_OK)
        st = make_budget(s, true);
    s->planned = s->budget;
    for (size_t i = 0; i < ARRAY_LEN(steps) && st == ST_OK; i++) {
        if (out_of_budget(s, steps[i].name))
            continue;
        search_step(s, steps[i].name, i + 1 < ARRAY_LEN(steps) ? steps[i + 1].name : "shedding");
        st = steps[i].run(s);
    }
    return st == ST_OK ? search_simplify(s) : st;
}
