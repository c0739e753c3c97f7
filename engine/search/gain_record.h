/* gain_record: what configurations of a kind gained when they were run, for those that have not been. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/interval.h"

struct dev_info;
struct options;

/* What a configuration changes first of all. */
#define GAIN_FAMILIES(X) \
    X(BLOCK_SHAPE)       \
    X(SOFTWARE_CACHE)    \
    X(CTA_ORDER)         \
    X(COARSENING)        \
    X(LOAD_BYPASS)       \
    X(WARP_BYPASS)       \
    X(L1_SIZE)           \
    X(PREFETCHING)       \
    X(PERSISTENCE)       \
    X(SHARED_LAYOUT)     \
    X(ANY)
#define X(name) GAIN_##name,
enum gain_family { GAIN_FAMILIES(X) };
#undef X
enum gain_family gain_family_of(const struct options *o); /* GAIN_ANY: none of them */

/* What the model must expect of a configuration before it is worth a try: 1.05, the model is no better
 * than that; agents 1.25, since what claiming tasks costs is not in it. */
double gain_least(const struct options *o);
/* What runs like one gained, of which so many are recorded. */
struct gain_experience {
    struct interval gain; /* INTERVAL_PERCENT of 100 lie in it; {0, 0}: too little is recorded */
    unsigned cases;
    bool all_kinds; /* too few were of its own kind */
};
/* On d. model: the gain that the memory-cost model expects; NaN: it does not tell. Those count of which the
 * model expected as much. */
struct gain_experience gain_recorded(const struct dev_info *d, const struct options *o, double model);
/* "0.91x to 1.33x in 80 of 100 cases (21 recorded)"; brief: without the share. Nothing where it is not known.
 */
void gain_recorded_words(const char *before, const struct gain_experience *x, bool brief,
                         struct buf *out);
