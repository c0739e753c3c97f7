/* box_case: addresses and conditions that are linear only in parts, cut into parts that are.
 *
 *   min, max, ?:        two cases; where threads of one warp can be in different ones, a choice by thread
 *   x / d, x % d        the ctaid or counter in x becomes d'*Q + R, 0 <= R < d', one more dimension
 *   2^k, n >> k ...     a counter of few rounds that is not linear: one case per round
 *
 * Every case is a shape that box.c counts; their counts add up. */
#ifndef GPULOCW_BOX_CASE_H
#define GPULOCW_BOX_CASE_H

#include "engine/analysis/env.h"

#define BOX_MAX_DIMS (3 + EVAL_MAX_DIMS)
/* A value that runs 0..hi: ctaid.x, .y, .z stand in ref[0..2] as NULL; loops and digits as the ref of their ITER leaves. */
#define BOX_MAX_CHOICES 3
struct box_shape {
    /* What a thread's address is: addr[i], bit j of i telling whether choice[j] holds for it. */
    const struct ax *addr[1 << BOX_MAX_CHOICES], *choice[BOX_MAX_CHOICES]; uint32_t nchoices;
    const struct ax *cond;           /* the access runs */
    uint32_t ndims;
    const void *ref[BOX_MAX_DIMS];
    int64_t hi[BOX_MAX_DIMS];
};
enum box_result { BOX_DONE, BOX_NOT_AFFINE, BOX_TOO_LONG, BOX_CANCELLED, BOX_NOMEM };
typedef enum box_result (*box_fn)(void *ctx, const struct box_shape *s);
/* Calls fn for each case of s; stops at the first that is not BOX_DONE. Gives up (the shape as it is goes to fn)
 * when there would be more than a few hundred. */
enum box_result box_cases(struct env *v, const struct box_shape *s, box_fn fn, void *ctx);

#endif
