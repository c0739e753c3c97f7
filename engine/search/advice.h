/* advice: what to try next, ranked, with the reason. */
#ifndef GPULOCW_SEARCH_ADVICE_H
#define GPULOCW_SEARCH_ADVICE_H

#include "engine/base/base.h"
#include "engine/rec/options.h"

struct tune_subject;
struct tune_sweep;

/* Name of method i, or NULL behind the last. */
const char *tune_method_name(size_t i);
struct tune_advice {
    char title[96], why[256];
    struct options options;
    double expected_gain, confidence, real_gain /* NaN until tried */;
    bool tried, sampled /* real_gain is from samples of the CTAs */;
    /* what applies it, as one command line; empty: there is nothing to apply */
    char command[512];
    /* expected_gain is the memory-cost model's ratio, not a rule of thumb */
    bool modelled;
};
/* Ranked. Returns the count (at most max). */
size_t tune_advise(const struct tune_subject *s, const struct tune_sweep *sweep /* may be NULL */,
                   struct tune_advice *out, size_t max);

/* ---- for who adds items (advise_model.c) ---- */
/* What an item must be expected to gain to be worth a try: 1.05, the model is no better than that;
 * agents 1.25, since what claiming tasks costs is not in it. */
double tune_advise_least(const struct options *o);
void tune_advise_command(const struct tune_subject *s, struct tune_advice *v); /* of its options */
/* what was tried first, then by expectation */
void tune_advise_rank(struct tune_advice *v, size_t n);

#endif
