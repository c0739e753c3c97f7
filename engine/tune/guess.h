/* What configurations that did not run may take, learned from those that did; private to tune.
 *
 * A configuration is a set of levels, at most one of each knob group. y is the logarithm of its time over the
 * original's. Two steps, both regressions over Gaussian priors (Rasmussen, Williams: Gaussian Processes, 2.2):
 *
 *   alone      y of a level = slope * log(predicted cost) + what levels near it in the same group deviate by. The slope
 *              is fitted, of the group and of all: it falls to nothing where the model has been wrong.
 *   together   y of several = what their own y combine to + what similar combinations deviated by. Combined, the
 *              largest gain counts and little of the others, as they mostly save the same waits.
 */
#ifndef GPULOCW_TUNE_GUESS_H
#define GPULOCW_TUNE_GUESS_H

#include "engine/tune/search.h"

#define GUESS_LEVELS 144
struct guess_level {
    struct options options; size_t group;     /* of this level alone */
    double cost, gain;                        /* log of predicted over the original's, NaN: not known; by itself, 0: not known */
    double stir;                              /* how far its time was from the original's by any method, log: a level that stirs nothing has no part in others */
    bool dead, best, coarse;                  /* too slow; of its group by itself; a value of the reference */
};
/* Level 0: as in the original; level[g] is one of group g. */
struct guess_config { unsigned char level[GROUPS]; };
struct guess;
double guess_nearness(const struct guess_level *a, const struct guess_level *b);   /* 0: of two groups; below 1 */
/* levels[1..n-1]; borrowed. NULL: out of memory. */
struct guess *guess_new(const struct guess_level *levels, size_t n);
void guess_free(struct guess *g);
/* One that ran (or is taken to take so long). False: out of memory. */
bool guess_learn(struct guess *g, const struct guess_config *c, double y);
/* After the last guess_learn, before guess_at. `noise`: of a y. */
bool guess_fit(struct guess *g, double noise);
void guess_at(const struct guess *g, const struct guess_config *c, double *y, double *sigma);
/* Expected amount by which a y of this distribution lies below `best` (expected improvement; Mockus 1975). */
double guess_improvement(double y, double sigma, double best);

#endif
