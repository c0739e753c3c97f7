/* exec_math: what the expressions of lanes.def call. All of it is branch-free arithmetic that the
 * compiler can run on vectors, and gives the same bits on every instruction set.
 *
 * Round to odd: a sum that is not exact gets an odd last bit. Rounded again to a format at least
 * two bits shorter it gives what one rounding would have given (Boldo and Melquiond, 2008). */
#ifndef GPULOCW_SIM_EXEC_MATH_H
#define GPULOCW_SIM_EXEC_MATH_H

#include <stdint.h>
#include <string.h>

static inline uint32_t bits_f32(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline float f32_bits(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint64_t bits_f64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double f64_bits(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }

/* The one NaN that f32 results have (9.7.3). */
static inline float nan_f32(float x) { return x == x ? x : f32_bits(0x7fffffffu); }
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
static inline float bf16_to(uint32_t h) { return f32_bits(h << 16); }
static inline uint32_t bf16_of(float x)
{
    uint32_t u = bits_f32(x), r = (u + 0x7fffu + (u >> 16 & 1u)) >> 16;
    return x == x ? r : 0x7fffu;
}
static inline float lo_f16(uint32_t x) { return f16_to(x & 0xffffu); }
static inline float hi_f16(uint32_t x) { return f16_to(x >> 16); }
static inline float lo_bf16(uint32_t x) { return f32_bits(x << 16); }
static inline float hi_bf16(uint32_t x) { return f32_bits(x & 0xffff0000u); }
static inline uint32_t pair_f16(float lo, float hi) { return f16_of(lo) | f16_of(hi) << 16; }

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
static inline double fma_odd(float a, float b, float c) { return add_odd((double)a * b, c); }
/* x rounded to a multiple of the unit of a format with `frac` fraction bits and least exponent `emin`. */
static inline double round_unit(double x, int frac, int emin)
{
    int64_t e = (int64_t)(bits_f64(x) >> 52 & 0x7ff) - 1023;
    e = e < emin ? emin : e;
    double magic = f64_bits((uint64_t)(e - frac + 52 + 1023) << 52 | 1ull << 51);
    double r = (x + magic) - magic;
    return e > 1000 ? x : f64_bits(bits_f64(r) | (bits_f64(x) & 0x8000000000000000ull));
}
static inline uint32_t f16_of_odd(double x) { return f16_of((float)round_unit(x, 10, -14)); }
static inline uint32_t bf16_of_odd(double x) { return bf16_of((float)round_unit(x, 7, -126)); }
#if defined(LANES_FMA)
static inline float fma_f32(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
static inline float fma_f32(float a, float b, float c) { return (float)fma_odd(a, b, c); }
#endif

/* ---- approximate functions: errors well inside what 9.7.3 allows ---- */
static inline double poly_sin(double r)
{
    double z = r * r;
    return r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880 + z * (-1.0 / 39916800)))));
}
static inline double poly_cos(double r)
{
    double z = r * r;
    return 1 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800 + z * (1.0 / 479001600))))));
}
/* sin(x + turn * pi/2) */
static inline float sin_turned(float x, double turn)
{
    const double magic = 6755399441055744.0;
    double q = (double)x * 0.63661977236758134308, k = (q + magic) - magic;
    double r = ((double)x - k * 1.57079632673412561417) - k * 6.07710050650619224932e-11;
    uint64_t n = bits_f64(k + turn + magic) & 3;
    double v = n & 1 ? poly_cos(r) : poly_sin(r);
    return (float)(n & 2 ? -v : v);
}
static inline float sin_approx(float x) { return sin_turned(x, 0); }
static inline float cos_approx(float x) { return sin_turned(x, 1); }
static inline double ex2_f64(double x)
{
    const double magic = 6755399441055744.0;
    double c = x > 300 ? 300 : x < -300 ? -300 : x;
    double t = c + magic, f = (c - (t - magic)) * 0.69314718055994530942;
    double p = 1 + f * (1 + f * (1.0 / 2 + f * (1.0 / 6 + f * (1.0 / 24 + f * (1.0 / 120 + f * (1.0 / 720 + f * (1.0 / 5040 + f * (1.0 / 40320 + f / 362880))))))));
    uint64_t k = (bits_f64(t) + 1023) << 52;
    return p * f64_bits(x == x ? k : 0x7ff8000000000000ull);
}
static inline float ex2_approx(float x) { return (float)ex2_f64(x); }
static inline float lg2_approx(float x)
{
    double v = x;
    uint64_t u = bits_f64(v);
    uint64_t shift = (u & 0xfffffffffffffull) > 0x6a09e667f3bccull;       /* mantissa above sqrt(2) */
    double e = (double)(int32_t)((u >> 52 & 0x7ff) - 1023 + shift);
    double m = f64_bits((u & 0xfffffffffffffull) | (1023 - shift) << 52);
    double s = (m - 1) / (m + 1), z = s * s;
    double l = s * (1 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11 + z / 13)))))) * 2.88539008177792681472;
    float r = (float)(e + l);
    r = x == 0 ? -__builtin_inff() : x > 0 ? r : __builtin_nanf("");
    return x == __builtin_inff() ? x : r;
}
static inline float tanh_approx(float x)
{
    double a = __builtin_fabs((double)x);
    double e = ex2_f64((a > 20 ? 20 : a) * 2.88539008177792681472), t = (e - 1) / (e + 1);
    float r = a < 1e-4 ? (float)a : (float)t;
    return __builtin_copysignf(x == x ? r : x, x);
}

/* ---- conversions to integers: 9.7.9.21, NaN rule included ---- */
static inline int32_t s32_clamp(double x)
{
    double c = x > 2147483647.0 ? 2147483647.0 : x < -2147483648.0 ? -2147483648.0 : x == x ? x : 0.0;
    return (int32_t)c;
}
static inline uint32_t u32_clamp(double x)
{
    double c = x > 4294967295.0 ? 4294967295.0 : x > 0 ? x : 0.0;
    return (uint32_t)c;
}
static inline int32_t s32_of_f64(double x) { return x == x ? s32_clamp(x) : INT32_MIN; }
static inline uint32_t u32_of_f64(double x) { return x == x ? u32_clamp(x) : 0x80000000u; }
static inline uint64_t s64_of(double x)
{
    if (!(x >= -0x1p63))
        return 0x8000000000000000ull;
    return x >= 0x1p63 ? INT64_MAX : (uint64_t)(int64_t)x;
}
static inline uint64_t u64_of(double x)
{
    if (x != x)
        return 0x8000000000000000ull;
    return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
}

/* ---- integers ---- */
__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
static inline uint64_t mulhi_u64(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> 64); }
static inline uint64_t mulhi_s64(uint64_t a, uint64_t b) { return (uint64_t)((s128)(int64_t)a * (int64_t)b >> 64); }
/* Exact: a quotient of 32-bit numbers that is not whole is further from one than double rounds. */
static inline uint32_t div_u32(uint32_t a, uint32_t b)
{
    uint32_t q = (uint32_t)(int64_t)((double)a / (double)(b ? b : 1u));
    return b ? q : 0xffffffffu;
}
static inline uint32_t div_s32(uint32_t a, uint32_t b)
{
    uint32_t ua = (int32_t)a < 0 ? 0u - a : a, ub = (int32_t)b < 0 ? 0u - b : b;
    uint32_t q = (uint32_t)(int64_t)((double)ua / (double)(ub ? ub : 1u));
    q = (int32_t)(a ^ b) < 0 ? 0u - q : q;
    return b ? q : 0xffffffffu;
}
static inline uint64_t div_s64(uint64_t a, uint64_t b)
{
    if (!b)
        return UINT64_MAX;
    return b == UINT64_MAX ? 0u - a : (uint64_t)((int64_t)a / (int64_t)b);
}
static inline uint32_t popc_u32(uint32_t x)
{
    x = x - (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
static inline uint32_t brev_u32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
static inline uint64_t bfe_u64(uint64_t a, uint32_t pos, uint32_t len)
{
    uint64_t v = pos > 63 ? 0 : a >> (pos & 63);
    return len > 63 ? v : v & ((1ull << (len & 63)) - 1);
}
static inline uint32_t bfe_u32(uint32_t a, uint32_t pos, uint32_t len)
{
    uint32_t v = pos > 31 ? 0 : a >> (pos & 31);
    return len > 31 ? v : v & ((1u << (len & 31)) - 1);
}
static inline uint64_t bfe_s64(uint64_t a, uint32_t pos, uint32_t len)
{
    uint32_t last = pos + len - 1, top = last > 63 ? 63 : last;
    uint64_t sign = len ? 0u - (a >> (top & 63) & 1) : 0;
    uint32_t left = pos > 63 ? 0 : 64 - pos, n = len < left ? len : left;
    uint64_t keep = n > 63 ? UINT64_MAX : (1ull << n) - 1;
    return ((pos > 63 ? 0 : a >> (pos & 63)) & keep) | (sign & ~keep);
}
static inline uint32_t bfe_s32(uint32_t a, uint32_t pos, uint32_t len)
{
    uint32_t last = pos + len - 1, top = last > 31 ? 31 : last;
    uint32_t sign = len ? 0u - (a >> (top & 31) & 1) : 0;
    uint32_t left = pos > 31 ? 0 : 32 - pos, n = len < left ? len : left;
    uint32_t keep = n > 31 ? UINT32_MAX : (1u << n) - 1;
    return ((pos > 31 ? 0 : a >> (pos & 31)) & keep) | (sign & ~keep);
}
static inline uint32_t bfi_u32(uint32_t a, uint32_t b, uint32_t pos, uint32_t len)
{
    uint32_t field = len > 31 ? UINT32_MAX : (1u << (len & 31)) - 1;
    uint32_t keep = pos > 31 ? 0 : field << (pos & 31);
    return (b & ~keep) | ((pos > 31 ? 0 : a << (pos & 31)) & keep);
}
static inline uint64_t bfi_u64(uint64_t a, uint64_t b, uint32_t pos, uint32_t len)
{
    uint64_t field = len > 63 ? UINT64_MAX : (1ull << (len & 63)) - 1;
    uint64_t keep = pos > 63 ? 0 : field << (pos & 63);
    return (b & ~keep) | ((pos > 63 ? 0 : a << (pos & 63)) & keep);
}
static inline uint32_t bmsk_clamp(uint32_t a, uint32_t b)
{
    uint32_t field = b > 31 ? UINT32_MAX : (1u << (b & 31)) - 1;
    return a > 31 ? 0 : field << (a & 31);
}
static inline uint32_t shf_l(uint32_t a, uint32_t b, uint32_t n) { return (uint32_t)(((uint64_t)b << 32 | a) << n >> 32); }
static inline uint32_t shf_r(uint32_t a, uint32_t b, uint32_t n) { return (uint32_t)(((uint64_t)b << 32 | a) >> n); }
static inline uint32_t prmt_byte(uint64_t ab, uint32_t sel)
{
    uint32_t v = (uint32_t)(ab >> (sel & 7) * 8) & 0xffu;
    return sel & 8 ? (v & 0x80u ? 0xffu : 0u) : v;
}
static inline uint32_t prmt_u32(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t ab = (uint64_t)b << 32 | a;
    return prmt_byte(ab, c) | prmt_byte(ab, c >> 4) << 8 | prmt_byte(ab, c >> 8) << 16 | prmt_byte(ab, c >> 12) << 24;
}
static inline uint32_t lop3_u32(uint32_t a, uint32_t b, uint32_t c, uint32_t lut)
{
    uint32_t r = 0;
    r |= (0u - (lut & 1)) & ~a & ~b & ~c;
    r |= (0u - (lut >> 1 & 1)) & ~a & ~b & c;
    r |= (0u - (lut >> 2 & 1)) & ~a & b & ~c;
    r |= (0u - (lut >> 3 & 1)) & ~a & b & c;
    r |= (0u - (lut >> 4 & 1)) & a & ~b & ~c;
    r |= (0u - (lut >> 5 & 1)) & a & ~b & c;
    r |= (0u - (lut >> 6 & 1)) & a & b & ~c;
    return r | ((0u - (lut >> 7 & 1)) & a & b & c);
}
#define DOT4_BYTE(T, x, k) ((int32_t)(T)((x) >> 8 * (k)))
#define DOT4(TA, TB, a, b) (uint32_t)(DOT4_BYTE(TA, a, 0) * DOT4_BYTE(TB, b, 0) + DOT4_BYTE(TA, a, 1) * DOT4_BYTE(TB, b, 1) + \
                                      DOT4_BYTE(TA, a, 2) * DOT4_BYTE(TB, b, 2) + DOT4_BYTE(TA, a, 3) * DOT4_BYTE(TB, b, 3))
static inline uint32_t dot4_uu(uint32_t a, uint32_t b) { return DOT4(uint8_t, uint8_t, a, b); }
static inline uint32_t dot4_us(uint32_t a, uint32_t b) { return DOT4(uint8_t, int8_t, a, b); }
static inline uint32_t dot4_ss(uint32_t a, uint32_t b) { return DOT4(int8_t, int8_t, a, b); }

#endif
