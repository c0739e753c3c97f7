/* math: what the expressions of lanes.def call. All of it is branch-free arithmetic that the
 * compiler can run on vectors, and gives the same bits on every instruction set.
 *
 * Round to odd: a sum that is not exact gets an odd last bit. Rounded again to a format at least
 * two bits shorter it gives what one rounding would have given (Boldo and Melquiond, 2008). */
#pragma once

#include "engine/base/base.h"

#include <string.h>

/* Bits of a float, and a float of bits. */
#define BITS(F, U, to_bits, of_bits) \
    static inline U to_bits(F x)     \
    {                                \
        U u;                         \
        memcpy(&u, &x, sizeof u);    \
        return u;                    \
    }                                \
    static inline F of_bits(U u)     \
    {                                \
        F x;                         \
        memcpy(&x, &u, sizeof x);    \
        return x;                    \
    }
BITS(float, uint32_t, bits_f32, f32_bits)
BITS(double, uint64_t, bits_f64, f64_bits)

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
/* The lesser, or the greater; of two zeros by their signs, of a NaN and a number the number. */
#define EXTREME(name, F, U, to_bits, of_bits, before, join)    \
    static inline F name(F a, F b)                             \
    {                                                          \
        U ua = to_bits(a), ub = to_bits(b), same = ua join ub; \
        U r = a before b ? ua : b before a ? ub : same;        \
        r = a == a ? r : ub;                                   \
        return of_bits(b == b ? r : ua);                       \
    }
EXTREME(lesser_f32, float, uint32_t, bits_f32, f32_bits, <, |)
EXTREME(greater_f32, float, uint32_t, bits_f32, f32_bits, >, &)
EXTREME(min_f64, double, uint64_t, bits_f64, f64_bits, <, |)
EXTREME(max_f64, double, uint64_t, bits_f64, f64_bits, >, &)
static inline float min_f32(float a, float b)
{
    return nan_f32(lesser_f32(a, b));
}
static inline float max_f32(float a, float b)
{
    return nan_f32(greater_f32(a, b));
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
/* Of three f16: their product is exact. Where the sum is not, one of them is so far below the other's last
 * bit that rounding to f16 ends where it would have without. */
static inline double fma_f16(float a, float b, float c)
{
    return (double)a * b + c;
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
/* Rounded down, of a double that is exact or rounded to odd. */
static inline float f32_down(double s)
{
    float r = (float)s;
    uint32_t u = bits_f32(r);
    uint32_t step = u >> 31 ? 1u : 0xffffffffu;
    return f32_bits((double)r > s ? u + step : u);
}
static inline float add_down(double a, double b)
{
    double s = add_odd(a, b);
    bool other = (bits_f64(a) ^ bits_f64(b)) >> 63; /* a zero of two signs is negative */
    return f32_down(s == 0 && other ? -0.0 : s);
}
static inline float add_up(double a, double b)
{
    return -add_down(-a, -b);
}
static inline float add_zero(double a, double b)
{
    double s = add_odd(a, b);
    return s > 0 ? f32_down(s) : -f32_down(-s);
}
static inline float sat_f32(float x)
{
    return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
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
