/* dot: products of matrices as tensor cores sum them.
 *
 * A core multiplies exactly and sums a block of products and the accumulator at once: all are aligned to
 * the largest exponent among them, bits below 2^(that exponent - frac) are cut off, the sum is exact,
 * and is cut to `keep` bits below its leading one. The exponent of a product is the sum of its factors'
 * exponents. Blocks follow each other along k.
 *
 * Accumulators stay in the registers of a warp: register c of 32 lanes holds row l / 4 + 8 (c / 2 % 2),
 * column 8 (c / 4) + 2 (l % 4) + c % 2 of lane l. So the eight columns of a group are kept in the order
 * 0 2 4 6 1 3 5 7 (dot_column), which makes them two runs of lanes. */
#ifndef GPULOCW_SIM_EXEC_TENSOR_DOT_H
#define GPULOCW_SIM_EXEC_TENSOR_DOT_H

#include "engine/base/base.h"

#define DOT_ROWS 16u     /* of a warp */
#define DOT_K    64u     /* most elements along k of one call */
#define DOT_N    256u    /* most columns */
#define DOT_NONE (-4096) /* exponent of zero */

struct dot_model {
    uint8_t block; /* products summed at once */
    uint8_t frac;  /* bits kept below the largest exponent */
    uint8_t keep;  /* bits of a sum below its leading one */
    bool odd;      /* what is cut off makes the last bit one: the sum is rounded once more, to f16 */
};

/* Elements as floats with the exponents that the core sees (power of two of the leading digit, no less
 * than the format's least; DOT_NONE: zero). n is a multiple of 8. */
struct dot_tile {
    unsigned n, k;
    const float *a; /* [DOT_ROWS][DOT_K] */
    const int32_t *ea;
    const float *b; /* [k][DOT_N], columns by dot_column */
    const int32_t *eb;
    void *const *reg; /* [n / 2] accumulators, 32 lanes each: f32, or s32 for dot_ints */
    bool finite;      /* dot_ints: sums stay at the ends of s32, else they wrap */
};
static inline unsigned dot_column(unsigned n)
{
    return (n & ~7u) + (n % 2) * 4 + n % 8 / 2;
}
typedef void dot_fn(const struct dot_model *m, const struct dot_tile *t);
/* An 8 x 8 block of 16-bit floats from eight runs of 16 bytes, to floats and exponents of rows `pitch`
 * apart. across: run i is column i, else row i; spread: columns by dot_column. */
struct dot_halves {
    const uint8_t *run[8];
    bool bf16; /* else f16 */
    bool across;
    bool spread;
    float *v;
    int32_t *e;
    unsigned pitch;
};
typedef void dot_halves_fn(const struct dot_halves *h);
struct dot_ops {
    dot_fn *floats, *ints;
    dot_halves_fn *halves;
};
extern const struct dot_ops dot_ops_base, dot_ops_avx2;
/* The quickest that this processor can run. */
const struct dot_ops *dot_pick(void);

/* One block of one element, exactly; step: distance of b's elements. */
/* The same of n terms (products as they are, with the exponents that the core sees). */
float dot_terms(const struct dot_model *m, unsigned n, const double *x, const int32_t *e, float c);
float dot_block(const struct dot_model *m, unsigned n, const float *a, const int32_t *ea, const float *b,
                const int32_t *eb, unsigned step, float c);

#endif
