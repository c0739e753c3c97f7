/* Categories of a threshold curve, by the rules that docs/concepts.md states.
 *
 * The curve is reduced to its swings: the alternating rises and falls between turning
 * points, a reversal counting only when it is larger than what noise and ripple make.
 * The category is then a matter of which swings there are and where the minimum lies.
 * Times rise downwards in the reader's mind: a fall in time is a gain. */
#include "engine/perfmodel/category.h"

#include <math.h>

/* relative; below this no difference counts, however exact the numbers */
#define LEAST_SIGNIFICANCE 0.02
#define NOISE_FACTOR       2.0  /* deviations that make a difference */
#define MOST_JITTER        0.03 /* relative; most that the curve's own roughness counts as noise */
#define MIN_JITTER_POINTS  7
#define FLAT               0.05 /* relative spread that is still flat */
/* relative; what inserted code costs inside the curve but not at its ends */
#define OVERHEAD         0.12
#define RIPPLE           0.15 /* share of the spread that a reversal must exceed to be a swing */
#define HIGHLY_SENSITIVE 1.5  /* slowest over fastest */

const char *model_category_name(enum model_category c)
{
    static const char *const name[] = {
#define X(n, text) [CATEGORY_##n] = text,
        MODEL_CATEGORIES(X)
#undef X
    };
    return (unsigned)c < ARRAY_LEN(name) ? name[c] : "irregular";
}

/* Relative half-width of a point's noise band. */
static double half_band(const struct model_point *p)
{
    return (p->high - p->low) / 2 / p->time;
}

/* Relative jitter that a point and its neighbours show. A second difference of independent
 * noise of deviation s has a median absolute value of 0.6745 * sqrt(6) * s. */
static double jitter(const struct model_point *p)
{
    return fabs(p[-1].time - 2 * p->time + p[1].time) / p->time / 1.652;
}

/* Median of f over n points, by selection (curves are short). */
static double median(const struct model_point *p, size_t n, double (*f)(const struct model_point *p))
{
    for (size_t i = 0; i < n; i++) {
        double w = f(&p[i]);
        size_t below = 0, equal = 0;
        for (size_t j = 0; j < n; j++) {
            double o = f(&p[j]);
            below += o < w;
            equal += o == w;
        }
        if (below <= n / 2 && n / 2 < below + equal)
            return w;
    }
    return 0;
}

/* Relative difference that noise alone makes. Jitter stands in where a point has one
 * sample only (a simulation); it is capped, for a real zigzag looks like jitter too. */
static double noise_of(const struct model_point *p, size_t n)
{
    double band = median(p, n, half_band),
           rough = n >= MIN_JITTER_POINTS ? median(p + 1, n - 2, jitter) : 0;
    rough = rough < MOST_JITTER ? rough : MOST_JITTER;
    return NOISE_FACTOR * (band > rough ? band : rough);
}

/* Swings of the curve: returns their number; *first is +1 when the first one rises. */
static unsigned count_swings(const struct model_point *p, size_t n, double delta, int *first)
{
    double lo = p[0].time, hi = p[0].time;
    unsigned swings = 0;
    int direction = 0;
    *first = 0;
    for (size_t i = 1; i < n; i++) {
        double t = p[i].time;
        lo = t < lo ? t : lo;
        hi = t > hi ? t : hi;
        int turned = direction <= 0 && t - lo > delta ? 1 : direction >= 0 && hi - t > delta ? -1 : 0;
        if (!turned)
            continue;
        if (!swings)
            *first = turned;
        swings++;
        direction = turned;
        lo = hi = t;
    }
    return swings;
}

static enum model_category from_swings(unsigned swings, int first, bool best_first, bool best_last)
{
    bool interior = !best_first && !best_last;
    if (swings == 0)
        return CATEGORY_CACHE_INSENSITIVE;
    if (interior) /* down-up, down-up-down (plateau past the valley), and shallow forms of them */
        return swings == 1 || (first < 0 && swings <= 3) ? CATEGORY_CACHE_CONGESTED : CATEGORY_IRREGULAR;
    if (swings == 1 && first > 0 && best_first)
        return CATEGORY_BYPASS_FAVOURITE;
    if (swings == 1 && first < 0 && best_last)
        return CATEGORY_CACHE_FAVOURITE;
    return CATEGORY_IRREGULAR;
}

static void mark_places(const struct model_point *p, size_t n, struct model_curve *c)
{
    for (size_t i = 1; i < n; i++)
        if (p[i].time < p[c->peak].time)
            c->peak = i;
    c->valley = c->peak;
    for (size_t i = c->peak + 1; i < n; i++)
        if (p[i].time > p[c->valley].time)
            c->valley = i;
    c->plateau = n - 1;
    while (c->plateau > 0 && fabs(p[c->plateau - 1].time / p[n - 1].time - 1) <= c->significance)
        c->plateau--;
}

struct model_curve model_categorise(const struct model_point *p, size_t n)
{
    struct model_curve c = { .category = CATEGORY_CACHE_INSENSITIVE, .sensitivity = "CI" };
    if (!n)
        return c;
    double noise = noise_of(p, n), slowest = p[0].time;
    c.significance = noise > LEAST_SIGNIFICANCE ? noise : LEAST_SIGNIFICANCE;
    mark_places(p, n, &c);
    for (size_t i = 1; i < n; i++)
        slowest = p[i].time > slowest ? p[i].time : slowest;

    double fastest = p[c.peak].time, spread = slowest / fastest - 1;
    double flat = 2 * noise > FLAT ? 2 * noise : FLAT;
    bool best_first = p[0].time <= fastest * (1 + c.significance);
    bool best_last = p[n - 1].time <= fastest * (1 + c.significance);
    c.best = best_first ? 0 : best_last ? n - 1 : c.peak;
    bool insensitive = spread <= flat || (best_first && best_last && spread <= OVERHEAD + noise);
    c.sensitivity = insensitive ? "CI" : spread < HIGHLY_SENSITIVE - 1 ? "MCS" : "HCS";
    if (insensitive)
        return c;
    double ripple = RIPPLE * spread, least = 1.5 * c.significance;
    int first;
    unsigned swings = count_swings(p, n, fastest * (ripple > least ? ripple : least), &first);
    c.category = from_swings(swings, first, best_first, best_last);
    return c;
}
