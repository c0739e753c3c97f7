/* sfu: approximate functions and divisions, bit for bit as an H200 has them
 * (docs/lab/special-functions.md). */
#pragma once

#include "engine/sim/exec/lanes/sfu_unit.h"

/* ---- results below the least normal number are zero ---- */
static inline float sfu_ex2(float x)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN, most = 0x437f0000u; /* 255 */
    uint32_t k = (uint32_t)(int32_t)(f32_bits(sfu_pick(a < most, a, most)) * 0x1p23f);
    /* a negative argument is complemented, but for whole numbers */
    uint32_t negative = 0u - (u >> 31), whole = ((k & SFU_MANTISSA) - 1) >> 31;
    uint32_t q = (k ^ negative) + (whole & negative);
    int32_t exponent = ((int32_t)q >> 23) + 127;
    uint32_t f = q & SFU_MANTISSA;
    uint32_t m = (uint32_t)(sfu_value(SFU_EX2 + (f >> 17), f & SFU_T, 13, 6114, 0) >> 15) & SFU_MANTISSA;
    uint32_t r = sfu_pick(exponent <= 0, 0, ((uint32_t)exponent << 23) + m);
    r = sfu_pick(exponent >= 255, SFU_INF, r);
    return f32_bits(sfu_pick(a > SFU_INF, SFU_NAN, r));
}

static inline float sfu_rcp(float x)
{
    uint32_t u = bits_f32(x), sign = u & SFU_SIGN, a = u & ~SFU_SIGN, f = a & SFU_MANTISSA;
    uint32_t v = (uint32_t)(sfu_value(SFU_RCP + (f >> 16), (f & 0xffffu) << 1, 14, 4046, 1) >> 16);
    /* v is 2^24 for a power of two, else less */
    int32_t exponent = 253 - (int32_t)(a >> 23) + (int32_t)(v >> 24);
    uint32_t r = sfu_pick(exponent <= 0, 0, ((uint32_t)exponent << 23) + (v & SFU_MANTISSA));
    r = sfu_pick(a < SFU_NORMAL, SFU_INF, r) | sign;
    return f32_bits(sfu_pick(a > SFU_INF, SFU_NAN, r));
}

/* r, or what comes of arguments that are no positive normal numbers. */
static inline uint32_t sfu_edges(uint32_t u, uint32_t r, uint32_t of_zero, uint32_t of_infinity)
{
    uint32_t a = u & ~SFU_SIGN;
    r = sfu_pick(a == SFU_INF, of_infinity, r);
    r = sfu_pick(u >> 31, SFU_NAN, r);
    r = sfu_pick(a < SFU_NORMAL, of_zero, r);
    return sfu_pick(a > SFU_INF, SFU_NAN, r);
}

/* Both roots take x as m * 4^n with m in [1, 4). */
static inline float sfu_rsqrt(float x)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN, f = a & SFU_MANTISSA;
    uint32_t e = (a >> 23) + 129, odd = e & 1, one = (f | odd) == 0; /* e: 256 more than the exponent */
    uint32_t v = (uint32_t)(sfu_value(SFU_RSQRT + 64 * odd + (f >> 17), f & SFU_T, 14, -1, 2) >> 16);
    uint32_t r = ((126 + 128 + one - (e >> 1)) << 23) + sfu_pick(one, 0, v & SFU_MANTISSA);
    return f32_bits(sfu_edges(u, r, SFU_INF | (u & SFU_SIGN), 0));
}
static inline float sfu_sqrt(float x)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN, f = a & SFU_MANTISSA, e = (a >> 23) + 129, odd = e & 1;
    uint32_t v = (uint32_t)(sfu_value(SFU_SQRT + 64 * odd + (f >> 17), f & SFU_T, 15, -1, 1) >> 17);
    uint32_t r = (((e >> 1) - 1) << 23) + (v & SFU_MANTISSA);
    return f32_bits(sfu_edges(u, r, u & SFU_SIGN, SFU_INF));
}

static inline float sfu_lg2(float x)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN, f = a & SFU_MANTISSA;
    int64_t e = (int64_t)((int32_t)(a >> 23) - 127);
    int64_t v = (int64_t)((uint64_t)e << 36) +
                (int64_t)(sfu_value(SFU_LG2 + (f >> 17), f & SFU_T, 12, 837, 1) >> 2);
    uint64_t sign = 0u - ((uint64_t)v >> 63); /* a negative one is complemented */
    uint32_t r = sfu_float((uint64_t)v ^ sign, 36) | ((uint32_t)sign & SFU_SIGN);
    uint32_t one = ((u ^ 0x3f800000u) - 1) >> 31;
    return f32_bits(sfu_edges(u, r & (one - 1), SFU_INF | SFU_SIGN, SFU_INF));
}

/* sin(x + turn * pi/2): x in turns, a product that is cut off, with 25 bits after the point. */
static inline float sfu_turned(float x, uint32_t turn)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN;
    /* beyond 2^29 turns are whole: as if none */
    double turns = (double)f32_bits(sfu_pick(a < 0x4e000000u, a, 0)) * (double)0.15915494f;
    turns = f64_bits(bits_f64(turns) & ~((UINT64_C(1) << 29) - 1));
    uint32_t r = (uint32_t)(int32_t)((turns - (double)(int32_t)turns) * 0x1p25);
    uint32_t quarter = (r >> 23) + turn, f = (r ^ (0u - (quarter & 1))) & SFU_MANTISSA;
    uint32_t sign = (sfu_pick(turn, 0, u) ^ quarter << 30) & SFU_SIGN;
    uint32_t y = sfu_float(sfu_value(SFU_SIN + (f >> 17), f & SFU_T, 11, 0, 0), 37);
    return f32_bits(sfu_pick(a < SFU_INF, y | sign, SFU_NAN));
}
static inline float sfu_sin(float x)
{
    return sfu_turned(x, 0);
}
static inline float sfu_cos(float x)
{
    return sfu_turned(x, 1);
}

static inline float sfu_tanh(float x)
{
    uint32_t u = bits_f32(x), a = u & ~SFU_SIGN, f = a & SFU_MANTISSA;
    uint32_t small = a < 0x3b800000u, large = a >= 0x41000000u; /* below 2^-8, from 8 on */
    const struct sfu_part *p = &sfu_tanh_parts[sfu_pick(small | large, 0, (a >> 23) - 119)];
    uint32_t piece = SFU_TANH + p->first + (f >> (23 - p->log2)), t = f >> (6 - p->log2) & SFU_T;
    uint32_t r = sfu_float(sfu_value(piece, t, 15, 0, 0), p->point);
    r = sfu_pick(small, a, r);
    r = sfu_pick(large, 0x3f800000u, r) | (u & SFU_SIGN);
    return f32_bits(sfu_pick(a > SFU_INF, SFU_NAN, r));
}

/* ---- without .ftz: the argument is scaled, the result scaled back, as ptxas does it ---- */
static inline bool sfu_tiny(float x)
{
    uint32_t a = bits_f32(x) & ~SFU_SIGN;
    return a - 1 < SFU_NORMAL - 1;
}
static inline float sfu_ex2_all(float x)
{
    bool low = x < -126.0f;
    float r = sfu_ex2(low ? x * 0.5f : x);
    return low ? r * r : r;
}
static inline float sfu_rcp_all(float x)
{
    bool huge = __builtin_fabsf(x) >= 0x1p126f;
    float by = sfu_tiny(x) ? 0x1p24f : huge ? 0x1p-4f : 1;
    return sfu_rcp(x * by) * by;
}
static inline float sfu_rsqrt_all(float x)
{
    return sfu_rsqrt(sfu_tiny(x) ? x * 0x1p24f : x) * (sfu_tiny(x) ? 0x1p12f : 1);
}
static inline float sfu_sqrt_all(float x)
{
    return sfu_sqrt(sfu_tiny(x) ? x * 0x1p24f : x) * (sfu_tiny(x) ? 0x1p-12f : 1);
}
static inline float sfu_lg2_all(float x)
{
    return sfu_lg2(sfu_tiny(x) ? x * 0x1p24f : x) - (sfu_tiny(x) ? 24.0f : 0.0f);
}

/* ---- .ftz.f64: from the upper 32 bits to the upper 32 bits, by the same pieces ---- */
#define SFU_UPPER_INF 0x7ff00000u
static inline double sfu_rcp_upper(double x)
{
    uint32_t u = (uint32_t)(bits_f64(x) >> 32), a = u & ~SFU_SIGN, f = (a & 0xfffffu) << 3;
    uint32_t v = (uint32_t)(sfu_value(SFU_RCP + (f >> 16), (f & 0xffffu) << 1, 14, 4046, 1) >> 16);
    int32_t exponent = 2045 - (int32_t)(a >> 20) + (int32_t)(v >> 24);
    uint32_t r = sfu_pick(exponent <= 0, 0, ((uint32_t)exponent << 20) + ((v & SFU_MANTISSA) >> 3));
    r = sfu_pick(a < 0x100000u, SFU_UPPER_INF, r) | (u & SFU_SIGN);
    return f64_bits((uint64_t)sfu_pick(x != x, SFU_NAN, r) << 32);
}
static inline double sfu_rsqrt_upper(double x)
{
    uint32_t u = (uint32_t)(bits_f64(x) >> 32), a = u & ~SFU_SIGN, f = (a & 0xfffffu) << 3;
    uint32_t e = (a >> 20) + 1025, odd = e & 1,
             one = (f | odd) == 0; /* e: 2048 more than the exponent */
    uint32_t v = (uint32_t)(sfu_value(SFU_RSQRT + 64 * odd + (f >> 17), f & SFU_T, 14, -1, 2) >> 16);
    uint32_t r = ((1022 + 1024 + one - (e >> 1)) << 20) + sfu_pick(one, 0, (v & SFU_MANTISSA) >> 3);
    r = sfu_pick(a == SFU_UPPER_INF, 0, r);
    r = sfu_pick(u >> 31, SFU_NAN, r);
    r = sfu_pick(a < 0x100000u, SFU_UPPER_INF | (u & SFU_SIGN), r);
    return f64_bits((uint64_t)sfu_pick(x != x, SFU_NAN, r) << 32);
}

/* ---- division: the dividend times the reciprocal ---- */
static inline float sfu_div_all(float a, float b)
{
    float by = sfu_tiny(b) ? 0x1p24f : 1;
    return a * by * sfu_rcp(b * by);
}
static inline float sfu_div_full(float a, float b)
{
    float by = __builtin_fabsf(b) > 0x1p126f ? 0.25f : 1;
    return a * by * sfu_rcp(b * by);
}
static inline float sfu_div_full_all(float a, float b)
{
    float by = sfu_tiny(b) ? 0x1p24f : __builtin_fabsf(b) > 0x1p126f ? 0.25f : 1;
    return a * by * sfu_rcp(b * by);
}
