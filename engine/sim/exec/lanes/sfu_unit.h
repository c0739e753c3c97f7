/* sfu_unit: the interpolator of the special function unit, bit for bit as an H200 has it.
 *
 * Each function is a parabola on each of 64 or 128 pieces (Oberman and Siu, "A high-performance
 * area-efficient multifunction interpolator", ARITH 2005): of an argument with 23 bits after the point
 * the upper 6 or 7 choose the piece, and t, the other 17, goes in:
 *
 *     value = constant + linear * t + square * sq(t)
 *
 * in units of the function's last place / 2^n, where n is what each function shifts right by.
 * sq(t) is t * t without the partial products below bit 19. The constant has 26 bits and a part that is
 * the same for all pieces. Results are cut off, not rounded. Measured on every argument:
 * docs/lab/special-functions.md. */
#pragma once

#include "engine/sim/exec/lanes/math.h"

/* Where a function's pieces begin. */
enum sfu_table {
    SFU_EX2,
    SFU_RCP = SFU_EX2 + 64,
    SFU_RSQRT = SFU_RCP + 128,
    SFU_SQRT = SFU_RSQRT + 128,
    SFU_LG2 = SFU_SQRT + 128,
    SFU_SIN = SFU_LG2 + 64,
    SFU_TANH = SFU_SIN + 64,
    SFU_PIECES = SFU_TANH + 51
};
/* tanh from 2^(n - 8) to twice that: its first piece, log2 of how many, bits after the point. */
struct sfu_part {
    uint8_t first;
    uint8_t log2;
    uint8_t point;
};
extern const struct sfu_part sfu_tanh_parts[11];
extern const int32_t sfu_constant[SFU_PIECES], sfu_linear[SFU_PIECES], sfu_square[SFU_PIECES];

#define SFU_NAN      0x7fffffffu
#define SFU_INF      0x7f800000u
#define SFU_SIGN     0x80000000u
#define SFU_NORMAL   0x00800000u /* the least normal number; one unit of the exponent */
#define SFU_MANTISSA 0x007fffffu
#define SFU_T        0x0001ffffu

/* c ? a : b without a branch, so that compilers run lanes side by side. */
static inline uint32_t sfu_pick(bool c, uint32_t a, uint32_t b)
{
    uint32_t mask = 0u - (uint32_t)c;
    return (a & mask) | (b & ~mask);
}

/* t * t >> 19 from the partial products t_i t_j 2^(i+j+1) and t_i 2^(2i) at bit 19 and above. */
static inline uint32_t sfu_sq(uint32_t t)
{
    uint32_t sum = 0;
    for (unsigned i = 10; i < 17; i++) {
        uint32_t low = 18 - i, others = t & ((1u << i) - (1u << low));
        sum += (0u - (t >> i & 1)) & ((others >> low) + (1u << (2 * i - 19)));
    }
    return sum;
}

/* unit: of the constant, as a power of two; rest: what all pieces add to it. Never negative. */
static inline uint64_t sfu_value(uint32_t piece, uint32_t t, unsigned unit, int64_t rest,
                                 unsigned square_unit)
{
    int64_t constant = (int64_t)((uint64_t)(uint32_t)sfu_constant[piece] << unit) + rest;
    int64_t squares = (int64_t)sfu_square[piece] * (int32_t)(sfu_sq(t) << square_unit);
    return (uint64_t)(constant + (int64_t)sfu_linear[piece] * (int32_t)t + squares);
}

/* A fixed-point number below 2^52 with `point` bits after the point, cut off to 24 bits. */
static inline uint32_t sfu_float(uint64_t y, unsigned point)
{
    uint64_t u = bits_f64(f64_bits(y | UINT64_C(0x4330000000000000)) - 0x1p52);
    return sfu_pick(y != 0, (uint32_t)(u >> 29) - ((1023u - 127 + point) << 23), 0);
}
