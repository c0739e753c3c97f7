/* live: a search while it goes on, for a reader on another thread. */
#pragma once

#include "engine/base/base.h"
#include "engine/predict/prediction.h"
#include "engine/rec/equality.h"
#include "engine/rec/options.h"

struct result;

/* ---- a search while it goes on ---- */
struct tune_explored { /* one configuration that was tried, in order */
    struct options options;
    enum status status;
    enum equality equal;
    int64_t time_ns; /* 0: did not run */
    double cost;     /* predicted cycles (ours); NaN: not predicted */
    bool became_best, resumed;
    bool sampled; /* time_ns is from a sample of the CTAs */
    char why[112];
};
struct tune_candidate {
    struct options options;
    double cost /* as above */;
    char why[112];
};
#define TUNE_FRONTIER 80
/* Everything a panel needs. Valid during the call of observer->live; tune_live_copy for longer. */
struct tune_live {
    /* static texts: the method, the dimension or phase under way, the one after it (NULL: none) */
    const char *method;
    const char *step;
    const char *next;
    unsigned round, launches, budget /* 0: none */, skipped, resumed;
    double done;              /* 0..1, never falls; 0: not known yet */
    double elapsed_s, left_s; /* left_s: if what is left goes on as before; NaN: not known yet */
    double noise;
    const struct result *original, *best; /* NULL: not run yet */
    struct options options /* the best so far */;
    struct tune_prediction best_cost, original_cost; /* !valid: not predicted */
    const struct tune_explored *explored;
    size_t nexplored;
    /* what is tried next, in that order, and why */
    const struct tune_candidate *frontier;
    size_t nfrontier;
};
/* What configuration i gained over the original as it stands there; NaN: it did not run, or only one of
 * them is from a sample. */
double tune_explored_gain(const struct tune_live *l, size_t i);
/* Owned deep copy; NULL: out of memory. */
struct tune_live *tune_live_copy(const struct tune_live *l);
void tune_live_free(struct tune_live *l); /* of tune_live_copy; NULL is fine */
