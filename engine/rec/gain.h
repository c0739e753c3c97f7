/* gain: what a time rests on, and how much longer one takes than another. Nobody else divides one time by
 * another (tests/tool/gains.py). */
#pragma once

#include "engine/base/base.h"

struct result;

/* What a time, and what was counted beside it, rests on; the later says more. */
enum evidence {
    EVIDENCE_MODELLED, /* nothing was executed */
    EVIDENCE_SAMPLED,  /* some CTAs were timed on a simulated device */
    EVIDENCE_WHOLE,    /* all of them */
    EVIDENCE_MEASURED  /* a GPU */
};
const char *evidence_name(enum evidence e);
const char *evidence_words(enum evidence e); /* "simulated, sampled", "measured" */
/* Of a result that has a time; of one without, what its time would have rested on. */
enum evidence evidence_of(const struct result *r);
/* The time of `was` over that of `now`. NaN: one of them is NULL, has no time, or ran with other outputs
 * than the original, or their times rest on different evidence, or L2 was empty for one alone, or
 * registers are those of another assembler, or the model's. */
double gain_of(const struct result *was, const struct result *now);
/* The one of two that ran, simulated, whose time is from a sample while the other's is whole: timed whole,
 * gain_of tells. NULL: neither. */
const struct result *gain_lacks(const struct result *was, const struct result *now);
/* Are registers known from the same source (result.regs_from; empty: nobody said)? */
bool gain_same_registers(const char *was, const char *now);
/* gain_of for two times, costs or counts that are no results, made in one way; NaN: one is not above 0.
 */
double gain_between(double was, double now);
struct gain_words {
    char s[16];
};
struct gain_words gain_words(double gain); /* "1.37x"; NaN: "n/a" */
