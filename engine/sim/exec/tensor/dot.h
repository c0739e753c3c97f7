/* dot: products of matrices as tensor cores sum them.
 *
 * A core multiplies exactly and sums a block of products and the accumulator at once: all are aligned to
 * the largest exponent among them, bits below 2^(that exponent - frac) are cut off, the sum is exact,
 * and is cut to `keep` bits below its leading one. The exponent of a product is the sum of its factors'
 * exponents. Blocks follow each other along k.
 *
 * Accumulators stay in the registers of a warp: register c of 32 lanes holds row l / 4 + 8 (c / 2 % 2),
 * column 8 (c / 4) + 2 (l % 4) + c % 2 of lane l. So the eight columns of a group are kept in the order
 * 0 2 4 6 1 3 5 7 (dot_column): a register has four columns that follow each other, of eight rows. */
#pragma once

#include "engine/base/base.h"

#define DOT_ROWS    16u     /* of a warp */
#define DOT_K       64u     /* most elements along k of one call */
#define DOT_N       256u    /* most columns */
#define DOT_NONE    (-4096) /* exponent of zero */
#define DOT_SPECIAL 8192    /* of what is not finite; above all others also beside a zero */

struct dot_model {
    uint8_t block; /* products summed at once */
    uint8_t frac;  /* bits kept below the largest exponent */
    uint8_t keep;  /* bits of a sum below its leading one */
    bool odd;      /* what is cut off makes the last bit one: the sum is rounded once more, to f16 */
};

/* Elements as floats with the exponents that the core sees (power of two of the leading digit, no less
 * than the format's least). For dot_ops.ints two elements, k and k + 1, are the int16_t halves of a
 * float's place, in row k / 2. n is a multiple of 8. */
struct dot_tile {
    unsigned n, k;
    const float *a; /* [k][DOT_ROWS] */
    const int16_t *ea;
    const float *b; /* [k][DOT_N], columns by dot_column */
    const int16_t *eb;
    void *const *reg; /* [n / 2] accumulators, 32 lanes each: f32, or s32 for ints */
    bool finite;      /* ints: sums stay at the ends of s32, else they wrap */
};
static inline unsigned dot_column(unsigned n)
{
    return (n & ~7u) + (n % 2) * 4 + n % 8 / 2;
}
typedef void dot_fn(const struct dot_model *m, const struct dot_tile *t);

/* How an element's bits are read. As a float: its magnitude shifted left, times `scale`. */
struct dot_format {
    uint8_t bits;    /* 8, 16, 32; narrower ones for dot_value alone */
    uint8_t frac;    /* bits of the fraction */
    bool whole;      /* s8 or u8, */
    bool is_signed;  /* s8 */
    int16_t bias;    /* of the exponent */
    uint32_t used;   /* bits that are looked at */
    int32_t special; /* magnitudes from here on are not finite, */
    int32_t ones;    /* and become floats with these bits */
    float scale;     /* 2^(127 - bias) */
};
/* A block of elements from eight runs of 16 bytes, to rows of k `pitch` apart, of eight elements each.
 * across: run i has the elements of column i (of A: row i) along k; else, of 16 bits only, run i is row i.
 */
struct dot_block {
    const uint8_t *run[8];
    const struct dot_format *f;
    bool across;
    bool spread; /* columns by dot_column */
    bool negated;
    float *v;
    int16_t *e;
    unsigned pitch;
};
typedef void dot_block_fn(const struct dot_block *x);
/* Of 32 lanes: two f16 of a register as floats, and rounded back (finite: no infinities). */
typedef void dot_widen_fn(const uint32_t *from, float *low, float *high);
typedef void dot_narrow_fn(const float *low, const float *high, bool finite, uint32_t *to);
/* Eight runs of eight elements of 16 bits, transposed. */
typedef void dot_turn_fn(const uint8_t *const run[8], uint32_t *lanes);
struct dot_ops {
    dot_fn *floats, *ints;
    dot_block_fn *block;
    dot_widen_fn *widen;
    dot_narrow_fn *narrow;
    dot_turn_fn *turn;
};
extern const struct dot_ops dot_ops_base, dot_ops_avx2, dot_ops_avx512;
/* The quickest that this processor can run; limit: as of exec_lanes_pick. */
const struct dot_ops *dot_pick(unsigned limit);

/* One element as a float, and its exponent. */
float dot_value(const struct dot_format *f, uint32_t bits, int16_t *e);
/* One block of one element, exactly: n terms (products as they are, with the exponents that the core
 * sees), or the factors, `pitch` apart. */
float dot_terms(const struct dot_model *m, unsigned n, const double *x, const int32_t *e, float c);
struct dot_factors {
    const float *v;
    const int16_t *e;
    unsigned pitch;
};
float dot_exact(const struct dot_model *m, unsigned n, struct dot_factors a, struct dot_factors b,
                float c);
/* The same as the functions of dot_ops, lane by lane. */
void dot_narrow_each(const float *low, const float *high, bool finite, uint32_t *to);
