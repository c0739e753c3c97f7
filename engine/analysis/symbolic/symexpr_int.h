/* Between the files of symbolic values: nodes as they are (symexpr.c), and the algebra that sums, division,
 * shifts and bit logic share (symexpr_sum.c). */
#pragma once

#include "engine/analysis/symbolic/symexpr.h"

/* symexpr.c. The least and the greatest number of so many bits. */
int64_t symexpr_full_lo(unsigned bits);
int64_t symexpr_full_hi(unsigned bits);
/* The low bits of v as an unsigned number. */
uint64_t symexpr_unsigned(int64_t v, unsigned bits);
/* Looks the node up or adds it. `t` holds everything but hash, id and flags; its arrays are copied. */
const struct symexpr *symexpr_intern(struct symexpr_pool *p, struct symexpr *t);
/* An operator node as it is; an interval wider than `bits` becomes the full range. */
const struct symexpr *symexpr_node(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                   const struct symexpr *const *arg, uint32_t n, int64_t lo, int64_t hi);
const struct symexpr *symexpr_node2(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                    const struct symexpr *a, const struct symexpr *b, int64_t lo,
                                    int64_t hi);
/* Of as many bits as a, and of any value. */
const struct symexpr *symexpr_opaque2(struct symexpr_pool *p, enum symexpr_op op,
                                      const struct symexpr *a, const struct symexpr *b);
/* Value of a two-operand operator on operands sign-extended from `bits`. */
int64_t symexpr_eval2(enum symexpr_op op, int64_t a, int64_t b, unsigned bits);

/* symexpr_sum.c. Of a and b that have the same bits (an amount may have others) and are not both constant. */
const struct symexpr *symexpr_divide(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b);
const struct symexpr *symexpr_shift(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                    const struct symexpr *b);
const struct symexpr *symexpr_logic(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                    const struct symexpr *b);
/* The sum `like` with other terms. */
const struct symexpr *symexpr_sum(struct symexpr_pool *p, const struct symexpr *like,
                                  const struct symexpr *const *arg);
