/* math: what the expressions of lanes.def call. All of it is branch-free arithmetic that the
 * compiler can run on vectors, and gives the same bits on every instruction set.
 *
 * Round to odd: a sum that is not exact gets an odd last bit. Rounded again to a format at least
 * two bits shorter it gives what one rounding would have given (Boldo and Melquiond, 2008). */
#ifndef GPULOCW_SIM_EXEC_LANES_MATH_H
#define GPULOCW_SIM_EXEC_LANES_MATH_H

#include "engine/base/base.h"

#include <stdint.h>
#include <string.h>

static inline uint32_t bits_f32(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}
static inline float f32_bits(uint32_t u)
{
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static inline uint64_t bits_f64(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}
static inline double f64_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, 8);
    return x;
}

/* The one NaN that f32 results have (9.7.3). */
static inline float nan_f32(float x)
{
    return x == x ? x : f32_bits(0x7fffffffu);
}
/* A NaN of f64 keeps its sign and the upper bits of its payload, as an H200 has it. */
static inline float f32_of_f64(double x)
{
    uint64_t u = bits_f64(x);
    uint32_t kept = (uint32_t)(u >> 63) << 31 | 0x7fc00000u | (uint32_t)(u >> 29 & 0x3fffffu);
    float r = (float)x;
    return x == x ? r : f32_bits(kept);
}
static inline float ftz(float x)
{
    uint32_t u = bits_f32(x);
    return f32_bits((u & 0x7f800000u) ? u : u & 0x80000000u);
}
static inline float min_f32(float a, float b)
{
    uint32_t ua = bits_f32(a), ub = bits_f32(b), same = ua | ub;
    uint32_t r = a < b ? ua : b < a ? ub : same;
    r = a == a ? r : ub;
    r = b == b ? r : ua;
    return nan_f32(f32_bits(r));
}
static inline float max_f32(float a, float b)
{
    uint32_t ua = bits_f32(a), ub = bits_f32(b), same = ua & ub;
    uint32_t r = a > b ? ua : b > a ? ub : same;
    r = a == a ? r : ub;
    r = b == b ? r : ua;
    return nan_f32(f32_bits(r));
}
static inline double min_f64(double a, double b)
{
    uint64_t ua = bits_f64(a), ub = bits_f64(b);
    uint64_t r = a < b ? ua : b < a ? ub : ua | ub;
    r = a == a ? r : ub;
    return f64_bits(b == b ? r : ua);
}
static inline double max_f64(double a, double b)
{
    uint64_t ua = bits_f64(a), ub = bits_f64(b);
    uint64_t r = a > b ? ua : b > a ? ub : ua & ub;
    r = a == a ? r : ub;
    return f64_bits(b == b ? r : ua);
}

/* ---- 16-bit floats ---- */
static inline float f16_to(uint32_t h)
{
    uint32_t em = h & 0x7fffu, s = (h & 0x8000u) << 16;
    uint32_t normal = (em << 13) + 0x38000000u, special = em << 13 | 0x7f800000u;
    uint32_t small = bits_f32((float)(int32_t)em * 0x1p-24f);
    uint32_t r = em < 0x400u ? small : em >= 0x7c00u ? special : normal;
    return f32_bits(r | s);
}
static inline uint32_t f16_of(float x)
{
    uint32_t u = bits_f32(x), a = u & 0x7fffffffu, s = u >> 16 & 0x8000u;
    uint32_t normal = (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13;
    uint32_t small = bits_f32(f32_bits(a) + 0.5f) - 0x3f000000u;
    uint32_t r = a < 0x38800000u ? small : a >= 0x47800000u ? 0x7c00u : normal;
    return a > 0x7f800000u ? 0x7fffu : r | s;
}
/* The one NaN of a 16-bit format whose infinity is inf. */
static inline uint32_t nan_half(uint32_t h, uint32_t inf)
{
    return (h & 0x7fffu) > inf ? 0x7fffu : h;
}
static inline uint32_t nan_halves(uint32_t x, uint32_t inf)
{
    return nan_half(x & 0xffffu, inf) | nan_half(x >> 16, inf) << 16;
}
static inline float bf16_to(uint32_t h)
{
    return f32_bits(h << 16);
}
static inline uint32_t bf16_of(float x)
{
    uint32_t u = bits_f32(x), r = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return x == x ? r : 0x7fffu;
}
static inline float lo_f16(uint32_t x)
{
    return f16_to(x & 0xffffu);
}
static inline float hi_f16(uint32_t x)
{
    return f16_to(x >> 16);
}
static inline float lo_bf16(uint32_t x)
{
    return f32_bits(x << 16);
}
static inline float hi_bf16(uint32_t x)
{
    return f32_bits(x & 0xffff0000u);
}
static inline uint32_t pair_f16(float lo, float hi)
{
    return f16_of(lo) | f16_of(hi) << 16;
}

/* s is the rounded sum, err what the rounding left out. */
static inline double odd_fix(double s, double err)
{
    uint64_t u = bits_f64(s);
    uint64_t away = (uint64_t)((err > 0) == (s > 0)) * 2 - 1;
    return f64_bits((err > 0 || err < 0) && !(u & 1) ? u + away : u);
}
static inline double add_odd(double a, double b)
{
    double s = a + b, bb = s - a;
    return odd_fix(s, (a - (s - bb)) + (b - bb));
}
/* a * b must be exact in double: any f32 operands. */
static inline double fma_odd(float a, float b, float c)
{
    return add_odd((double)a * b, c);
}
/* x rounded to a multiple of the unit of a format with `frac` fraction bits and least exponent `emin`.
 */
static inline double round_unit(double x, int frac, int emin)
{
    int64_t e = (int64_t)(bits_f64(x) >> 52 & 0x7ff) - 1023;
    e = e < emin ? emin : e;
    double magic = f64_bits((uint64_t)(e - frac + 52 + 1023) << 52 | 1ull << 51);
    double r = (x + magic) - magic;
    return e > 1000 ? x : f64_bits(bits_f64(r) | (bits_f64(x) & 0x8000000000000000ull));
}
static inline uint32_t f16_of_odd(double x)
{
    return f16_of((float)round_unit(x, 10, -14));
}
static inline uint32_t bf16_of_odd(double x)
{
    return bf16_of((float)round_unit(x, 7, -126));
}
#if defined(LANES_FMA)
static inline float fma_f32(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}
#else
static inline float fma_f32(float a, float b, float c)
{
    return (float)fma_odd(a, b, c);
}
#endif

#endif
