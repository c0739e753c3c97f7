/* dot: products of matrices as tensor cores sum them.
 *
 * A core multiplies exactly and sums a block of products and the accumulator at once: all are aligned to
 * the largest exponent among them, bits below 2^(that exponent - frac) are cut off, the sum is exact,
 * and is cut to 24 bits. The exponent of a product is the sum of its factors' exponents. Blocks follow
 * each other along k. */
#ifndef GPULOCW_SIM_EXEC_TENSOR_DOT_H
#define GPULOCW_SIM_EXEC_TENSOR_DOT_H

#include "engine/base/base.h"

#define DOT_K    64u     /* most elements along k of one call */
#define DOT_N    256u    /* most columns */
#define DOT_NONE (-4096) /* exponent of zero */

struct dot_model {
    uint8_t block; /* products summed at once; a divisor of DOT_K */
    uint8_t frac;  /* bits kept below the largest exponent */
};

/* d[rows][n] += a[rows][k] b[k][n], elements as floats with the exponents that the core sees (power of
 * two of the leading digit, no less than the format's least; DOT_NONE: zero). n is a multiple of 8. */
struct dot_tile {
    unsigned rows, n, k;
    const float *a; /* [rows][DOT_K] */
    const int32_t *ea;
    const float *b; /* [k][DOT_N] */
    const int32_t *eb;
    float *d; /* [rows][DOT_N] */
};
typedef void dot_fn(const struct dot_model *m, const struct dot_tile *t);
dot_fn dot_tile_base, dot_tile_avx2;
/* The quickest that this processor can run. */
dot_fn *dot_pick(void);

/* One block of one element, exactly; step: distance of b's elements. */
float dot_block(const struct dot_model *m, unsigned n, const float *a, const int32_t *ea, const float *b,
                const int32_t *eb, unsigned step, float c);

#endif
