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

#endif
