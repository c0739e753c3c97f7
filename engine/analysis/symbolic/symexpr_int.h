/* Between the files of ax: the generic node maker and the one evaluation rule. */
#ifndef GPULOCW_ANALYSIS_SYMBOLIC_SYMEXPR_INT_H
#define GPULOCW_ANALYSIS_SYMBOLIC_SYMEXPR_INT_H

#include "engine/analysis/symbolic/symexpr.h"
#include "engine/base/base.h"

/* An operator node as it is; an interval wider than `bits` becomes the full range. */
const struct symexpr *symexpr_node(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                   const struct symexpr *const *arg, uint32_t n, int64_t lo, int64_t hi);
/* Value of a two-operand operator on operands sign-extended from `bits`. */
int64_t symexpr_eval2(enum symexpr_op op, int64_t a, int64_t b, unsigned bits);
/* x / d, when t >> s and the sign bit of t together are the signed division by multiplication
 * (symexpr_op.c); NULL: they are not. */
const struct symexpr *symexpr_signed_magic(struct symexpr_pool *p, const struct symexpr *t, unsigned s);

#endif
