/* advice: what to try next, ranked, with the reason. */
#pragma once

#include "engine/base/base.h"
#include "engine/rec/gain.h"
#include "engine/rec/options.h"
#include "engine/search/gain_record.h"

struct dev_info;
struct tune_subject;
struct tune_sweep;

struct tune_advice {
    char title[96], why[384];
    /* so much of why holds without the figures of the model or of a run; 0: all of it; SIZE_MAX: all of it
     * is a run's */
    size_t reason;
    struct options options;
    /* that the memory-cost model expects, NaN: it does not tell. Orders items, and is not shown: what such
     * items really gained is */
    double model_gain;
    struct gain_experience likely; /* {0, 0}: none, or it was tried */
    double real_gain;              /* of the run; NaN until tried */
    bool tried;
    enum evidence evidence; /* of real_gain */
    /* what applies it, as one command line; empty: there is nothing to apply */
    char command[512];
};
/* Ranked. Returns the count (at most max). */
size_t tune_advise(const struct tune_subject *s, const struct tune_sweep *sweep /* may be NULL */,
                   struct tune_advice *out, size_t max);

/* ---- for who adds items (advise_model.c) ---- */
void tune_advise_order(struct tune_advice *v); /* title, by the order of CTAs of its options */
void tune_advise_command(const struct tune_subject *s, struct tune_advice *v); /* of its options */
/* What was tried first, then by expectation. What a run refuted, and what never gains by the records,
 * goes. Returns the new count. */
size_t tune_advise_rank(const struct dev_info *d, struct tune_advice *v, size_t n);
