/* Between the files of ax: the generic node maker and the one evaluation rule. */
#ifndef GPULOCW_AX_INT_H
#define GPULOCW_AX_INT_H

#include "engine/analysis/ax.h"

/* An operator node as it is; an interval wider than `bits` becomes the full range. */
const struct ax *ax_node(struct ax_pool *p, enum ax_op op, unsigned bits, const struct ax *const *arg, uint32_t n, int64_t lo, int64_t hi);
/* Value of a two-operand operator on operands sign-extended from `bits`. */
int64_t ax_eval2(enum ax_op op, int64_t a, int64_t b, unsigned bits);
/* x / d, when t >> s and the sign bit of t together are the signed division by multiplication (ax_op.c); NULL: they are not. */
const struct ax *ax_signed_magic(struct ax_pool *p, const struct ax *t, unsigned s);

#endif
