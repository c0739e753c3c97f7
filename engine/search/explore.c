/* Our search:
 *
 *   screen    one value of each knob on its own, the model's first choice
 *   explore   what ran gives a guess, with its uncertainty, of every single value, every pair of two
 *             knobs' values and every change of the best few configurations (surrogate.h); a few that
 *             promise most are run, and so on
 *   shed      what turns out needless goes again
 *
 * Without a budget it takes a share of what the reference would launch, and ends before when no
 * candidate promises anything. */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/predict/prediction.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/search/search.h"
#include "engine/search/space.h"
#include "engine/search/surrogate.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define SHARE 0.135 /* of the reference's launches */
/* the same on a GPU, where SEARCH_CONFIRMS more go to measuring what led again, by turns with the
 * original */
#define MEASURED_SHARE 0.105
#define LEAST_LAUNCHES 22    /* as far as that is no more than MOST_SHARE */
#define MOST_SHARE     0.149 /* those that measure again included */
#define LEAST_OF_ALL   8
#define TOGETHER_NOW   4   /* launches between two guesses; over a pool they run at once */
#define SHOWN          16  /* candidates told to an observer */
#define PARENTS        4   /* configurations of several knobs whose neighbours are candidates */
#define GOOD           0.9 /* of the best's gain: what has less has no neighbours to look at */
/* expected improvement, log of time: below it for all candidates the search is over */
#define HOPE 5e-5

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

/* Some of the budget is kept for shedding: a launch for each knob of the best. */
static void keep_reserve(struct searching *s)
{
    unsigned n = group_number(s->found->options);
    s->reserve = n > 1 ? n : 0;
}

/* ---- levels ---- */
struct candidate {
    struct surrogate_config c;
    double y, sigma, score;
    bool picked;
};
struct exploring {
    struct searching *s;
    struct surrogate_level level[GUESS_LEVELS];
    size_t nlevels; /* [0] is the original */
    /* by dimension: the level to screen; 0: none */
    size_t first[32];
    /* of s->seen, in order */
    struct ran {
        struct surrogate_config c;
        unsigned groups;
        bool known;
    } * ran;
    size_t nran, ran_cap;
    struct candidate *list;
    size_t n, cap;
    struct surrogate_config *refused;
    size_t nrefused, refused_cap; /* not legal together */
};

/* The level of group g that `o` has; it becomes one when it is new. 0: none, or no room. */
static size_t level_of(struct exploring *x, const struct options *o, size_t g, double cost)
{
    const struct options *none = options_none();
    struct options alone = group_with(none, o, g);
    for (size_t i = 1; i < x->nlevels; i++)
        if (x->level[i].group == g && options_equal(&x->level[i].options, &alone))
            return i;
    if (x->nlevels == GUESS_LEVELS || options_equal(&alone, none))
        return 0;
    x->level[x->nlevels] = (struct surrogate_level){ alone, g, cost, 0, 0, false, false, false };
    return x->nlevels++;
}

static bool config_of(struct exploring *x, const struct options *o, struct surrogate_config *out)
{
    bool ok = true;
    memset(out, 0, sizeof *out);
    for (size_t g = 0; g < GROUPS; g++)
        if (group_is_set(o, g)) {
            out->level[g] = (unsigned char)level_of(x, o, g, NAN);
            ok = ok && out->level[g];
        }
    return ok;
}

static struct options options_of_config(const struct exploring *x, const struct surrogate_config *c)
{
    struct options o = options_default();
    for (size_t g = 0; g < GROUPS; g++)
        if (c->level[g])
            o = group_with(&o, &x->level[c->level[g]].options, g);
    return o;
}

static size_t add_level(struct exploring *x, const struct options *o)
{
    const struct options *none = options_none();
    size_t g = 0;
    if (!search_legal(x->s, o) || options_equal(o, none))
        return 0;
    while (g + 1 < GROUPS && !group_is_set(o, g))
        g++;
    return level_of(x, o, g, NAN);
}

/* All values of every knob; the active agents for every clustering. */
static void make_levels(struct exploring *x)
{
    const struct options *none = options_none();
    struct options list[SPACE_MOST];
    const struct dimension *agents = space_find("active agents");
    x->nlevels = 1;
    for (size_t d = 0; d < space_dimensions(); d++) {
        size_t n = space_dimension(d)->alternatives(&x->s->space, none, list);
        for (size_t i = 0; i < n; i++)
            add_level(x, &list[i]);
    }
    for (size_t l = 1, most = x->nlevels; l < most; l++) {
        size_t n = agents->alternatives(&x->s->space, &x->level[l].options, list);
        for (size_t i = 0; i < n; i++)
            add_level(x, &list[i]);
    }
}

/* The model is asked for the reference's values, as long as that takes no more than a quarter of the
 * caller's seconds. */
static enum status ask_model(struct exploring *x)
{
    struct searching *s = x->s;
    double original = s->live.original_cost.valid ? s->live.original_cost.cost.extended : NAN;
    double until = s->deadline_ns > 0
                       ? (double)s->started_ns + (s->deadline_ns - (double)s->started_ns) / 4
                       : INFINITY;
    enum status st = ST_OK;
    for (size_t l = 1; l < x->nlevels && st == ST_OK && (double)base_now_ns() < until; l++) {
        struct tune_prediction p;
        if (s->ob && cancel_asked(s->ob->cancel))
            return ST_CANCELLED;
        if (!x->level[l].coarse)
            continue;
        st = search_predict(s, &x->level[l].options, &p);
        if (st == ST_OK && p.valid && original > 0 && p.cost.extended > 0)
            x->level[l].cost = log(p.cost.extended / original);
    }
    return st;
}

/* Other values cost what the one nearest to them does. */
static void spread_costs(struct exploring *x)
{
    for (size_t l = 1; l < x->nlevels; l++) {
        double nearest = 0;
        for (size_t k = 1; k < x->nlevels && !x->level[l].coarse; k++) {
            double near = surrogate_nearness(&x->level[l], &x->level[k]);
            if (!x->level[k].coarse || isnan(x->level[k].cost) || near <= nearest)
                continue;
            nearest = near;
            x->level[l].cost = x->level[k].cost;
        }
    }
}

/* Those that the reference has: pairs are made of them, and of what finer values proved best by
 * themselves. */
static void mark_coarse(struct exploring *x)
{
    const struct options *none = options_none();
    struct options list[SPACE_MOST];
    struct space coarse = x->s->space;
    coarse.coarse = true;
    for (size_t l = 0; l < x->nlevels;
         l++) /* [0]: the original, for all dimensions but the active agents */
        for (size_t d = 0; d < space_dimensions(); d++) {
            size_t n = space_dimension(d)->alternatives(&coarse, l ? &x->level[l].options : none, list);
            for (size_t i = 0; i < n; i++)
                for (size_t k = 1;
                     k < x->nlevels && (!l || strcmp(space_dimension(d)->name, "active agents") == 0);
                     k++)
                    x->level[k].coarse =
                        x->level[k].coarse || options_equal(&x->level[k].options, &list[i]);
        }
}

/* By dimension, the value of the reference that the model thinks cheapest. */
static void find_first(struct exploring *x)
{
    const struct options *none = options_none();
    struct options list[SPACE_MOST];
    for (size_t d = 0; d < space_dimensions() && d < ARRAY_LEN(x->first); d++) {
        size_t n = space_dimension(d)->alternatives(&x->s->space, none, list);
        for (size_t i = 0; i < n; i++)
            for (size_t l = 1; l < x->nlevels; l++)
                if (x->level[l].coarse &&
                    (!x->first[d] || x->level[l].cost < x->level[x->first[d]].cost) &&
                    options_equal(&x->level[l].options, &list[i]))
                    x->first[d] = l;
    }
}

/* Thresholds beside the best's are values too. */
static void add_neighbours(struct exploring *x)
{
    const struct options *none = options_none();
    struct options o = group_with(none, x->s->found->options, group_find("bypass"));
    int pi = opt_bypass(&o)->pi.value;
    for (int by = -1;
         by <= 1 && opt_bypass(&o)->level != BYPASS_NONE && opt_bypass(&o)->pi.mode == PI_VALUE;
         by += 2) {
        opt_bypass(&o)->pi.value = pi + by;
        if (opt_bypass(&o)->pi.value > 0 && opt_bypass(&o)->pi.value < (int)x->s->space.warps)
            add_level(x, &o);
    }
    spread_costs(x);
}

/* ---- the budget ---- */
/* By itself so slow that the reference combines it with nothing: as it ran, else where the model says
 * so. */
static bool is_lost(const struct surrogate_level *l, bool screened)
{
    return l->gain > 0 ? l->dead : l->dead || (screened && l->cost > log(SEARCH_LOST));
}

/* What the reference launches: its values, and the legal pairs of those that are not lost. */
static double reference_size(const struct exploring *x, bool screened)
{
    double size = 1;
    for (size_t l = 1; l < x->nlevels; l++) {
        size += x->level[l].coarse;
        for (size_t k = 1; k < l && x->level[l].coarse && !is_lost(&x->level[l], screened); k++) {
            struct options both =
                group_with(&x->level[k].options, &x->level[l].options, x->level[l].group);
            if (x->level[k].coarse && x->level[k].group != x->level[l].group &&
                !is_lost(&x->level[k], screened))
                size += search_legal(x->s, &both);
        }
    }
    return size;
}

/* Before anything has run, and again when every knob was tried by itself: then it is known what the
 * reference drops. */
static void make_budget(struct exploring *x, bool screened)
{
    struct searching *s = x->s;
    if (s->budget && !s->budget_is_ours)
        return;
    double size = reference_size(x, screened);
    s->budget_is_ours = true;
    bool gpu = dev_describe(s->bench->subject.dev)->kind == DEV_CUDA;
    double most = MOST_SHARE * size - (gpu ? SEARCH_CONFIRMS : 0);
    s->budget = (unsigned)fmax(fmax((gpu ? MEASURED_SHARE : SHARE) * size, fmin(LEAST_LAUNCHES, most)),
                               LEAST_OF_ALL);
}

/* ---- what ran ---- */
static enum status note_new(struct exploring *x)
{
    const struct searching *s = x->s;
    for (; x->nran < s->nseen; x->nran++) {
        const struct seen_result *r = &s->seen[x->nran];
        if (!base_grow((void **)&x->ran, x->nran, &x->ran_cap, sizeof *x->ran))
            return ST_NOMEM;
        struct ran *n = &x->ran[x->nran];
        *n = (struct ran){ .groups = group_number(&r->asked) };
        n->known = config_of(x, &r->asked, &n->c);
        for (size_t g = 0; g < GROUPS && n->groups == 1; g++) {
            struct surrogate_level *l = &x->level[n->c.level[g]];
            if (!n->c.level[g])
                continue;
            l->dead = r->gain < 1 / SEARCH_LOST;
            l->gain = r->gain;
            l->effect_size = r->said > 0 ? fabs(log(r->said)) : 0;
        }
    }
    for (size_t i = 1; i < x->nlevels; i++) {
        x->level[i].best = x->level[i].gain > 0;
        for (size_t k = 1; k < x->nlevels; k++)
            x->level[i].best = x->level[i].best && (x->level[k].group != x->level[i].group ||
                                                    x->level[k].gain <= x->level[i].gain);
    }
    return ST_OK;
}

static enum status learn(struct exploring *x, struct surrogate **out)
{
    enum status st = note_new(x);
    *out = st == ST_OK ? surrogate_new(x->level, x->nlevels) : NULL;
    bool ok = *out != NULL;
    for (size_t i = 0; i < x->nran && ok; i++)
        if (x->s->seen[i].gain > 0 && x->ran[i].known)
            ok = surrogate_learn(*out, &x->ran[i].c, -log(x->s->seen[i].gain));
    return ok ? ST_OK : ST_NOMEM;
}

/* ---- candidates ---- */
static bool add_candidate(struct exploring *x, const struct surrogate_config *c)
{
    if (!base_grow((void **)&x->list, x->n, &x->cap, sizeof *x->list))
        return false;
    x->list[x->n++] = (struct candidate){ .c = *c };
    return true;
}

/* `from` with each value of each knob in the place of what it has. */
static bool add_changes(struct exploring *x, const struct surrogate_config *from)
{
    bool ok = true;
    for (size_t l = 1; l < x->nlevels && ok; l++) {
        struct surrogate_config c = *from;
        if (x->level[l].dead || c.level[x->level[l].group] == l)
            continue;
        c.level[x->level[l].group] = (unsigned char)l;
        ok = add_candidate(x, &c);
    }
    return ok;
}

/* Does each of its knobs help, as far as is known? What ran as fast without one is no ground to build
 * on. */
static bool is_lean(const struct exploring *x, size_t at)
{
    const struct ran *r = &x->ran[at];
    for (size_t i = 0; i < x->nran; i++) {
        const struct ran *less = &x->ran[i];
        bool part = less->known && less->groups + 1 == r->groups;
        for (size_t g = 0; g < GROUPS && part; g++)
            part = !less->c.level[g] || less->c.level[g] == r->c.level[g];
        if (part && x->s->seen[i].gain > x->s->seen[at].gain * (1 - x->s->live.noise / 2))
            return false;
    }
    return true;
}

/* The configurations of several knobs that gained most so far, the best among them first. */
static size_t parents(const struct exploring *x, struct surrogate_config *out)
{
    double last = INFINITY, least = GOOD * x->s->best_gain;
    size_t n = 0;
    while (n < PARENTS) {
        size_t most = x->nran;
        for (size_t i = 0; i < x->nran; i++) {
            double gain = x->s->seen[i].gain;
            if (x->ran[i].known && x->ran[i].groups > 1 && gain < last && is_lean(x, i) &&
                gain > (most < x->nran ? x->s->seen[most].gain : least))
                most = i;
        }
        if (most == x->nran)
            break;
        last = x->s->seen[most].gain;
        out[n++] = x->ran[most].c;
    }
    return n;
}

static bool for_pairs(const struct exploring *x, size_t l)
{
    return x->level[l].coarse || x->level[l].best;
}

static enum status make_candidates(struct exploring *x)
{
    struct surrogate_config none = { { 0 } }, from[PARENTS];
    bool ok = true;
    x->n = 0;
    ok = add_changes(x, &none);
    for (size_t l = 1; l < x->nlevels && ok; l++)
        for (size_t k = 1; k < l && ok; k++) {
            struct surrogate_config c = none;
            if (x->level[l].group == x->level[k].group || x->level[l].dead || x->level[k].dead ||
                !for_pairs(x, l) || !for_pairs(x, k))
                continue;
            c.level[x->level[l].group] = (unsigned char)l;
            c.level[x->level[k].group] = (unsigned char)k;
            ok = add_candidate(x, &c);
        }
    for (size_t i = 0, n = parents(x, from); i < n && ok; i++)
        ok = add_changes(x, &from[i]);
    return ok ? ST_OK : ST_NOMEM;
}

/* Not tried yet, and legal. What is not is remembered. */
static bool can_run(struct exploring *x, const struct surrogate_config *c, const struct options *o)
{
    for (size_t i = 0; i < x->nrefused; i++)
        if (memcmp(&x->refused[i], c, sizeof *c) == 0)
            return false;
    if (!search_seen(x->s, o) && search_legal(x->s, o))
        return true;
    if (base_grow((void **)&x->refused, x->nrefused, &x->refused_cap, sizeof *x->refused))
        x->refused[x->nrefused++] = *c;
    return false;
}

static void score_all(struct exploring *x, const struct surrogate *g, double best)
{
    for (size_t i = 0; i < x->n; i++) {
        struct candidate *c = &x->list[i];
        surrogate_at(g, &c->c, &c->y, &c->sigma);
        c->score = surrogate_improvement(c->y, c->sigma, best);
    }
}

/* The one that promises most; NULL: none promises anything. */
static struct candidate *most_promising(struct exploring *x)
{
    for (;;) {
        struct candidate *most = NULL;
        for (size_t i = 0; i < x->n; i++)
            if (!x->list[i].picked && x->list[i].score > (most ? most->score : HOPE))
                most = &x->list[i];
        if (!most)
            return NULL;
        most->picked = true;
        struct options o = options_of_config(x, &most->c);
        if (can_run(x, &most->c, &o))
            return most;
    }
}

static enum status put_candidate(struct exploring *x, size_t at, const struct candidate *c, double best,
                                 bool now)
{
    struct searching *s = x->s;
    struct tune_prediction p = { 0 };
    struct options o = options_of_config(x, &c->c);
    enum status st = now ? search_predict(s, &o, &p) : ST_OK;
    unsigned n = group_number(&o), own = 0;
    for (size_t g = 0; g < GROUPS; g++) {
        struct options less = group_without(&o, g);
        own += group_is_set(&o, g) && options_equal(&less, s->found->options);
    }
    s->frontier[at] = (struct tune_candidate){ .options = o, .cost = p.valid ? p.cost.extended : NAN };
    s->forecast[at] = p;
    snprintf(s->frontier[at].why, sizeof s->frontier[at].why,
             "%s: expected %.2fx the time of the best so far, %.2f to %.2f",
             n == 1   ? "one knob"
             : own    ? "on top of the best"
             : n == 2 ? "two knobs together"
                      : "near a good one",
             exp(c->y - best), exp(c->y - c->sigma - best), exp(c->y + c->sigma - best));
    return st;
}

/* Some that are run together: each after the first as if those before had taken what is expected of
 * them. */
static enum status fill_frontier(struct exploring *x, struct surrogate *g, size_t *now)
{
    struct searching *s = x->s;
    double best = -log(s->best_gain), noise = s->live.noise / 2;
    enum status st = ST_OK;
    s->nfrontier = *now = 0;
    while (st == ST_OK && s->nfrontier < SHOWN) {
        bool first = s->nfrontier < TOGETHER_NOW;
        if (first && !surrogate_fit(g, noise))
            return ST_NOMEM;
        if (first)
            score_all(x, g, best - s->live.noise);
        struct candidate *c = most_promising(x);
        if (!c)
            break;
        st = put_candidate(x, s->nfrontier++, c, best, first);
        *now += first;
        if (first && !surrogate_learn(g, &c->c, c->y))
            return ST_NOMEM;
    }
    s->live.frontier = s->frontier;
    s->live.nfrontier = s->nfrontier;
    return st;
}

/* ---- the steps ---- */
static void say_first(const struct exploring *x, size_t d, char *why, size_t n)
{
    double cost = x->level[x->first[d]].cost;
    if (isnan(cost))
        snprintf(why, n, "%s: a first value", space_dimension(d)->name);
    else
        snprintf(why, n, "%s: its cheapest value, the model expects %.2fx the original's memory time",
                 space_dimension(d)->name, exp(cost));
}

/* Values that the model thinks so much slower, and that nothing that ran made worth a launch. */
static unsigned never_tried(const struct exploring *x)
{
    unsigned n = 0;
    for (size_t l = 1; l < x->nlevels; l++) {
        bool ran = !(x->level[l].cost > log(SEARCH_HOPELESS));
        for (size_t i = 0; i < x->nran && !ran; i++)
            ran = x->ran[i].known && x->ran[i].c.level[x->level[l].group] == l;
        n += !ran;
    }
    return n;
}

static enum status screen(struct exploring *x)
{
    struct searching *s = x->s;
    bool better = false;
    enum status st = ST_OK;
    s->nfrontier = 0;
    search_step(s, "each knob on its own", "combinations");
    for (size_t d = 0; d < space_dimensions() && st == ST_OK; d++) {
        if (!x->first[d])
            continue;
        struct options o = x->level[x->first[d]].options;
        struct tune_prediction p;
        st = search_predict(s, &o, &p);
        s->frontier[s->nfrontier] =
            (struct tune_candidate){ .options = o, .cost = p.valid ? p.cost.extended : NAN };
        say_first(x, d, s->frontier[s->nfrontier].why, sizeof s->frontier->why);
        s->forecast[s->nfrontier++] = p;
    }
    s->live.frontier = s->frontier;
    s->live.nfrontier = s->nfrontier;
    search_tell(s);
    if (st == ST_OK)
        st = search_run(s, 0, s->nfrontier, &better);
    for (size_t d = 0; d < space_dimensions(); d++)
        if (x->first[d] && !search_seen(s, &x->level[x->first[d]].options))
            out_of_budget(s, space_dimension(d)->name);
    return st;
}

/* One move of several knobs, which the next guesses start from as from any other. */
static enum status try_placement(struct exploring *x)
{
    struct searching *s = x->s;
    struct options o;
    struct buf arrays = { 0 };
    char why[sizeof s->explored->why];
    bool better = false;
    enum status st = ST_OK;
    if (search_placement(s, &o, &arrays) && !search_spent(s)) {
        search_step(s, "placement by array", "combinations");
        snprintf(why, sizeof why, "placement: %s", arrays.s ? arrays.s : "");
        s->trying_cost = NAN;
        st = search_try(s, &o, why, &better);
        const struct seen_result *ran = search_seen_at(s, &o);
        struct buf line = { 0 };
        options_line(&o, &line);
        if (st == ST_OK && ran && line.s)
            snprintf(s->found->placement, sizeof s->found->placement, "%s: %s: %s%s",
                     arrays.s ? arrays.s : "", line.s,
                     ran->gain > 0 ? gain_words(ran->gain).s : "no gain: ",
                     ran->gain > 0 ? result_sampled(ran->result) ? ", by a sample" : ""
                     : result_message(ran->result)[0] ? result_message(ran->result)
                                                      : "its outputs differ");
        buf_free(&line);
    }
    buf_free(&arrays);
    return st;
}

static enum status explore(struct exploring *x)
{
    struct searching *s = x->s;
    enum status st = ST_OK;
    search_step(s, "what promises most", "removing knobs without effect");
    for (bool better = false; st == ST_OK && !out_of_budget(s, "combinations of knobs");
         s->live.round++) {
        struct surrogate *g = NULL;
        size_t now = 0;
        if (s->ob && cancel_asked(s->ob->cancel))
            return ST_CANCELLED;
        add_neighbours(x);
        st = learn(x, &g);
        if (st == ST_OK)
            st = make_candidates(x);
        if (st == ST_OK)
            st = fill_frontier(x, g, &now);
        surrogate_free(g);
        search_tell(s);
        if (st != ST_OK || !now)
            return st;
        st = search_run(s, 0, now, &better);
        if (st == ST_OK)
            st = search_time_leaders(s);
        keep_reserve(s);
    }
    return st;
}

enum status search_explore(struct searching *s)
{
    struct exploring *x = base_alloc(sizeof *x);
    if (!x)
        return ST_NOMEM;
    x->s = s;
    make_levels(x);
    mark_coarse(x);
    enum status st = ask_model(x);
    spread_costs(x);
    find_first(x);
    make_budget(x, false);
    if (st == ST_OK)
        st = screen(x);
    if (st == ST_OK)
        st = try_placement(x);
    if (st == ST_OK)
        st = search_time_leaders(s);
    if (st == ST_OK)
        st = note_new(x);
    make_budget(x, true);
    if (st == ST_OK)
        st = explore(x);
    s->found->skipped = never_tried(x);
    base_free(x->list);
    base_free(x->ran);
    base_free(x->refused);
    base_free(x);
    return st == ST_OK ? search_simplify(s) : st;
}
