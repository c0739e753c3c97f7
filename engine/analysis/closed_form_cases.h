/* closed_form_case: addresses and conditions that are linear only in parts, cut into parts that are.
 *
 *   min, max, ?:        two cases; where threads of one warp can be in different ones, a choice by
 *                       thread
 *   x / d, x % d        the ctaid or counter in x becomes d'*Q + R, 0 <= R < d', one more dimension
 *   2^k, n >> k ...     a counter of few rounds that is not linear: one case per round
 *
 * Every case is a shape that closed_form.c counts; their counts add up. */
#pragma once

#include "engine/analysis/symbolic/eval.h"

struct env;

#define CLOSED_FORM_MAX_DIMS (3 + EVAL_MAX_DIMS)
/* A value that runs 0..hi: ctaid.x, .y, .z stand in ref[0..2] as NULL; loops and digits as the ref of
 * their ITER leaves. */
#define CLOSED_FORM_MAX_CHOICES 3
struct closed_form_shape {
    /* What a thread's address is: addr[i], bit j of i telling whether choice[j] holds for it. */
    const struct symexpr *addr[1 << CLOSED_FORM_MAX_CHOICES], *choice[CLOSED_FORM_MAX_CHOICES];
    uint32_t nchoices;
    const struct symexpr *cond; /* the access runs */
    uint32_t ndims;
    const void *ref[CLOSED_FORM_MAX_DIMS];
    int64_t hi[CLOSED_FORM_MAX_DIMS];
};
enum closed_form_result {
    CLOSED_FORM_DONE,
    CLOSED_FORM_NOT_AFFINE,
    CLOSED_FORM_TOO_LONG,
    CLOSED_FORM_CANCELLED,
    CLOSED_FORM_NOMEM
};
typedef enum closed_form_result (*closed_form_fn)(void *ctx, const struct closed_form_shape *s);
/* Calls fn for each case of s; stops at the first that is not CLOSED_FORM_DONE. Gives up (the shape as
 * it is goes to fn) when there would be more than a few hundred. */
enum closed_form_result closed_form_cases(struct env *v, const struct closed_form_shape *s,
                                          closed_form_fn fn, void *ctx);

/* ---- access_condition.c ---- */
/* The condition under which an access runs, with the loops around it; NULL: `why`. */
const struct symexpr *closed_form_condition(struct env *v, const struct eval_access *a,
                                            const struct ana_loop **loops, uint32_t *nloops,
                                            const char **why);
/* Values of a leaf in the lanes of warp w of CTA 0 (symexpr_tape_run). */
struct closed_form_lanes {
    const struct env *v;
    uint32_t warp;
};
bool closed_form_lane(void *ctx, const struct symexpr *x, int64_t out[32]);
