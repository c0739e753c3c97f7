/* Regression over what ran: see surrogate.h. Constants are from the statistics of 8,357 pairs of knobs
 * of 33 recorded references (docs/lab/search-reference.md). */
#include "engine/search/surrogate.h"

#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"

#include <math.h>
#include <string.h>

#define SLOPE          0.5  /* of log time over log cost: the guess before anything ran */
#define SLOPE_WEIGHT   0.05 /* how much evidence that guess is worth, in squares of log cost */
#define GROUP_WEIGHT   0.02
#define MOST_COST      1.5  /* log cost is cut off here: beyond it the model tells no more */
#define OWN_SIGMA      0.10 /* deviation of a level's effect from the model, before its group was tried */
#define OWN_WEIGHT     0.3
#define LEAST_SIGMA    0.02
#define REST_OF_GAINS  0.15 /* share of the smaller gains that adds to the largest */
#define REST_OF_LOSSES 0.5
#define UNDONE         0.6 /* share of the smaller effect lost where one knob gains and one loses */
#define TOGETHER       0.6 /* deviation of a pair over the geometric mean of its levels' own effects */
#define TOGETHER_LEAST 0.01
#define ONLY_ITS_OWN   0.5 /* share of a variance that similar combinations do not explain */

struct learned {
    struct surrogate_config c;
    double y;
    unsigned groups;
};
struct surrogate {
    const struct surrogate_level *level;
    size_t n;
    struct learned *seen;
    size_t nseen, cap;
    double near[GUESS_LEVELS][GUESS_LEVELS]; /* 0..1, levels of one group */
    double alone[GUESS_LEVELS], sigma[GUESS_LEVELS];
    /* covariance that is left between levels of one group */
    double left[GUESS_LEVELS][GUESS_LEVELS];
    size_t *multi;
    size_t nmulti; /* those seen that are of several groups */
    /* [nmulti][nmulti] lower, and K^-1 of their deviations */
    double *chol, *weight;
};

/* ---- nearness ---- */
static double near_shape(struct dim3u a, struct dim3u b)
{
    return a.x && b.x ? exp(-0.4 * fabs(log2((double)a.x) - log2((double)b.x))) : 0;
}

static double near_bypass(const struct options *a, const struct options *b)
{
    double same = 0.25 + 0.2 * (opt_bypass(a)->level == opt_bypass(b)->level) +
                  0.35 * (opt_bypass(a)->op == opt_bypass(b)->op);
    bool values = opt_bypass(a)->pi.mode == PI_VALUE && opt_bypass(b)->pi.mode == PI_VALUE;
    double apart = values ? fabs((double)opt_bypass(a)->pi.value - opt_bypass(b)->pi.value) /
                                (1 + fmin(opt_bypass(a)->pi.value, opt_bypass(b)->pi.value))
                          : opt_bypass(a)->pi.mode != opt_bypass(b)->pi.mode;
    return same + 0.15 * exp(-apart);
}

double surrogate_nearness(const struct surrogate_level *a, const struct surrogate_level *b)
{
    const struct options *x = &a->options, *y = &b->options;
    if (a->group != b->group)
        return 0;
    if (opt_schedule(x)->block.x && opt_schedule(y)->block.x)
        return near_shape(opt_schedule(x)->block, opt_schedule(y)->block);
    if (opt_bypass(x)->level && opt_bypass(y)->level)
        return near_bypass(x, y);
    if (opt_cluster(x)->kind && opt_cluster(y)->kind)
        return 0.4 + 0.2 * (opt_cluster(x)->kind == opt_cluster(y)->kind) +
               0.25 * (opt_cluster(x)->index.kind == opt_cluster(y)->index.kind);
    return opt_prefetch(x)->level ? 0.3 : 0.5;
}

struct surrogate *surrogate_new(const struct surrogate_level *levels, size_t n)
{
    struct surrogate *g = base_alloc(sizeof *g);
    if (!g)
        return NULL;
    *g = (struct surrogate){ .level = levels, .n = n };
    for (size_t i = 1; i < n; i++)
        for (size_t k = 1; k < n; k++)
            g->near[i][k] = i == k ? 1 : surrogate_nearness(&levels[i], &levels[k]);
    return g;
}

static void forget_fit(struct surrogate *g)
{
    base_free(g->multi);
    base_free(g->chol);
    base_free(g->weight);
    g->multi = NULL;
    g->chol = g->weight = NULL;
    g->nmulti = 0;
}

void surrogate_free(struct surrogate *g)
{
    if (!g)
        return;
    forget_fit(g);
    base_free(g->seen);
    base_free(g);
}

bool surrogate_learn(struct surrogate *g, const struct surrogate_config *c, double y)
{
    if (!base_grow((void **)&g->seen, g->nseen, &g->cap, sizeof *g->seen))
        return false;
    unsigned n = 0;
    for (size_t i = 0; i < GROUPS; i++)
        n += c->level[i] != 0;
    g->seen[g->nseen++] = (struct learned){ *c, y, n };
    return true;
}

/* ---- solving ---- */
/* a := its lower Cholesky factor, n by n, in place. */
static void factor(double *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = a[i * n + k];
            for (size_t m = 0; m < k; m++)
                sum -= a[i * n + m] * a[k * n + m];
            a[i * n + k] = i == k ? sqrt(fmax(sum, 1e-12)) : sum / a[k * n + k];
        }
}

static void solve_lower(const double *l, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
}

static void solve_upper(const double *l, size_t n, double *x)
{
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++)
            x[i] -= l[k * n + i] * x[k];
        x[i] /= l[i * n + i];
    }
}

/* ---- levels alone ---- */
static double cost_of(const struct surrogate *g, size_t level)
{
    double c = g->level[level].cost;
    return isnan(c) ? 0 : fmin(fmax(c, -MOST_COST), MOST_COST);
}

static size_t level_alone(const struct learned *l)
{
    for (size_t i = 0; l->groups == 1 && i < GROUPS; i++)
        if (l->c.level[i])
            return l->c.level[i];
    return 0;
}

/* Of log time over log cost, from single levels of `group` (GROUPS: of all), starting from `prior`. */
static double slope_of(const struct surrogate *g, size_t group, double prior, double weight)
{
    double cy = weight * prior, cc = weight;
    for (size_t i = 0; i < g->nseen; i++) {
        size_t at = level_alone(&g->seen[i]);
        if (!at || (group < GROUPS && g->level[at].group != group))
            continue;
        cy += cost_of(g, at) * fmax(fmin(g->seen[i].y, MOST_COST), -MOST_COST);
        cc += cost_of(g, at) * cost_of(g, at);
    }
    return fmin(fmax(cy / cc, 0), 1.2);
}

struct group_fit {
    const size_t *at;
    const double *dev;
    size_t n;
    const double *chol;
};

/* Mean and what is left of the variance, for all levels of the group. */
static void spread_group(struct surrogate *g, size_t group, double slope, double var, double noise,
                         const struct group_fit *f)
{
    double *own = base_alloc((g->n * f->n + 1) * sizeof *own), of[GUESS_LEVELS];
    if (!own || !f->chol) {
        base_free(own);
        return;
    }
    memcpy(of, f->dev, f->n * sizeof *of);
    solve_lower(f->chol, f->n, of);
    for (size_t l = 1; l < g->n; l++) {
        if (g->level[l].group != group)
            continue;
        for (size_t i = 0; i < f->n; i++)
            own[l * f->n + i] = var * g->near[l][f->at[i]];
        solve_lower(f->chol, f->n, &own[l * f->n]);
        g->alone[l] = slope * cost_of(g, l);
        for (size_t i = 0; i < f->n; i++)
            g->alone[l] += own[l * f->n + i] * of[i];
        for (size_t m = 1; m <= l; m++) {
            double left = var * g->near[l][m];
            for (size_t i = 0; i < f->n && g->level[m].group == group; i++)
                left -= own[l * f->n + i] * own[m * f->n + i];
            g->left[l][m] = g->left[m][l] = left;
        }
        g->sigma[l] = sqrt(fmax(g->left[l][l], noise * noise));
    }
    base_free(own);
}

static void fit_group(struct surrogate *g, size_t group, double slope, double noise)
{
    size_t at[GUESS_LEVELS], n = 0;
    static const size_t most = GUESS_LEVELS;
    double dev[GUESS_LEVELS], square = OWN_WEIGHT * OWN_SIGMA * OWN_SIGMA, weight = OWN_WEIGHT;
    for (size_t i = 0; i < g->nseen && n < most; i++) {
        size_t l = level_alone(&g->seen[i]);
        if (!l || g->level[l].group != group)
            continue;
        at[n] = l;
        dev[n] = g->seen[i].y - slope * cost_of(g, l);
        square += fmin(dev[n] * dev[n], 1);
        weight += 1;
        n++;
    }
    double var = fmax(square / weight, LEAST_SIGMA * LEAST_SIGMA);
    double *k = base_alloc((n * n + 1) * sizeof *k);
    for (size_t i = 0; k && i < n; i++)
        for (size_t m = 0; m < n; m++)
            k[i * n + m] = var * g->near[at[i]][at[m]] + (i == m ? noise * noise : 0);
    if (k)
        factor(k, n);
    spread_group(g, group, slope, var, noise, &(struct group_fit){ at, dev, n, k });
    base_free(k);
}

/* ---- together ---- */
static double combined(const struct surrogate *g, const struct surrogate_config *c)
{
    double gain = 0, gains = 0, loss = 0, losses = 0;
    for (size_t i = 0; i < GROUPS; i++) {
        double y = c->level[i] ? g->alone[c->level[i]] : 0;
        gain = fmax(gain, -y);
        gains += fmax(0, -y);
        loss = fmax(loss, y);
        losses += fmax(0, y);
    }
    gain += REST_OF_GAINS * (gains - gain);
    loss += REST_OF_LOSSES * (losses - loss);
    return loss - gain + UNDONE * fmin(gain, loss);
}

static double moves(const struct surrogate *g, size_t l)
{
    return fmax(fabs(g->alone[l]), g->level[l].effect_size) + g->sigma[l] / 2;
}

/* How far two levels together may be from the combination of their effects. */
static double amplitude(const struct surrogate *g, size_t a, size_t b)
{
    return TOGETHER * sqrt(moves(g, a) * moves(g, b)) + TOGETHER_LEAST;
}

/* Covariance of the deviations of two combinations: over the pairs of groups that both set, weighted by
 * how near the levels are. */
static double of_pairs(const struct surrogate *g, const struct surrogate_config *x,
                       const struct surrogate_config *y)
{
    double sum = 0;
    for (size_t i = 0; i < GROUPS; i++)
        for (size_t k = 0; k < i && x->level[i] && y->level[i]; k++)
            if (x->level[k] && y->level[k])
                sum += amplitude(g, x->level[i], x->level[k]) * amplitude(g, y->level[i], y->level[k]) *
                       g->near[x->level[i]][y->level[i]] * g->near[x->level[k]][y->level[k]];
    return sum;
}

/* of_pairs, and what is uncertain about each level alone. */
static double covariance(const struct surrogate *g, const struct surrogate_config *x,
                         const struct surrogate_config *y)
{
    double sum = of_pairs(g, x, y);
    for (size_t i = 0; i < GROUPS; i++)
        if (x->level[i] && y->level[i])
            sum += g->left[x->level[i]][y->level[i]];
    return sum;
}

/* The part of the variance that similar combinations do not explain. */
static double own_variance(const struct surrogate *g, const struct surrogate_config *x)
{
    return ONLY_ITS_OWN * of_pairs(g, x, x);
}

static bool fit_together(struct surrogate *g, double noise)
{
    size_t n = 0;
    forget_fit(g);
    g->multi = base_alloc((g->nseen + 1) * sizeof *g->multi);
    for (size_t i = 0; g->multi && i < g->nseen; i++)
        if (g->seen[i].groups > 1)
            g->multi[n++] = i;
    g->nmulti = n;
    g->chol = base_alloc((n * n + 1) * sizeof *g->chol);
    g->weight = base_alloc((n + 1) * sizeof *g->weight);
    if (!g->multi || !g->chol || !g->weight)
        return false;
    for (size_t i = 0; i < n; i++) {
        const struct learned *a = &g->seen[g->multi[i]];
        g->weight[i] = a->y - combined(g, &a->c);
        for (size_t k = 0; k <= i; k++)
            g->chol[i * n + k] = covariance(g, &a->c, &g->seen[g->multi[k]].c) +
                                 (i == k ? own_variance(g, &a->c) + noise * noise : 0);
    }
    factor(g->chol, n);
    solve_lower(g->chol, n, g->weight);
    solve_upper(g->chol, n, g->weight);
    return true;
}

bool surrogate_fit(struct surrogate *g, double noise)
{
    double all = slope_of(g, GROUPS, SLOPE, SLOPE_WEIGHT);
    for (size_t i = 0; i < GROUPS; i++)
        fit_group(g, i, slope_of(g, i, all, GROUP_WEIGHT), noise);
    return fit_together(g, noise);
}

void surrogate_at(const struct surrogate *g, const struct surrogate_config *c, double *y, double *sigma)
{
    double own[512], left = covariance(g, c, c) + own_variance(g, c);
    size_t n = g->nmulti < ARRAY_LEN(own) ? g->nmulti : ARRAY_LEN(own);
    *y = combined(g, c);
    for (size_t i = 0; i < n; i++) {
        own[i] = covariance(g, c, &g->seen[g->multi[i]].c);
        *y += own[i] * g->weight[i];
    }
    if (n == g->nmulti)
        solve_lower(g->chol, n, own);
    for (size_t i = 0; i < n && n == g->nmulti; i++)
        left -= own[i] * own[i];
    *sigma = sqrt(fmax(left, 1e-8));
}

double surrogate_improvement(double y, double sigma, double best)
{
    double z = (best - y) / sigma;
    return sigma > 0 ? (best - y) * 0.5 * erfc(-z / sqrt(2)) +
                           sigma * exp(-z * z / 2) / sqrt(2 * 3.14159265358979)
                     : fmax(best - y, 0);
}
