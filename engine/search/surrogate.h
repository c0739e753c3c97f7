/* What configurations that did not run may take, learned from those that did; private to tune.
 *
 * A configuration is a set of levels, at most one of each knob group. y is the logarithm of its time
 * over the original's. Two steps, both regressions over Gaussian priors (Rasmussen, Williams: Gaussian
 * Processes, 2.2):
 *
 *   alone      y of a level = slope * log(predicted cost) + what levels near it in the same group
 *              deviate by. The slope is fitted, of the group and of all: it falls to nothing where the
 *              model has been wrong.
 *   together   y of several = what their own y combine to + what similar combinations deviated by.
 *              Combined, the largest gain counts and little of the others, as they mostly save the same
 *              waits. */
#pragma once

#include "engine/base/base.h"
#include "engine/search/knob_groups.h"

#define GUESS_LEVELS 144
struct surrogate_level {
    struct options options;
    size_t group; /* of this level alone */
    /* log of predicted over the original's, NaN: not known; by itself, 0: not known */
    double cost, gain;
    /* how far its time was from the original's by any method, log: a level that stirs nothing has no
     * part in others */
    double effect_size;
    /* too slow; of its group by itself; a value of the reference */
    bool dead;
    bool best;
    bool coarse;
};
/* Level 0: as in the original; level[g] is one of group g. */
struct surrogate_config {
    unsigned char level[GROUPS];
};
struct surrogate;
/* 0: of two groups; below 1 */
double surrogate_nearness(const struct surrogate_level *a, const struct surrogate_level *b);
/* levels[1..n-1]; borrowed. NULL: out of memory. */
struct surrogate *surrogate_new(const struct surrogate_level *levels, size_t n);
void surrogate_free(struct surrogate *g);
/* One that ran (or is taken to take so long). False: out of memory. */
bool surrogate_learn(struct surrogate *g, const struct surrogate_config *c, double y);
/* After the last surrogate_learn, before surrogate_at. `noise`: of a y. */
bool surrogate_fit(struct surrogate *g, double noise);
void surrogate_at(const struct surrogate *g, const struct surrogate_config *c, double *y, double *sigma);
/* Expected amount by which a y of this distribution lies below `best` (expected improvement; Mockus
 * 1975). */
double surrogate_improvement(double y, double sigma, double best);
