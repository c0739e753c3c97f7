/* math_approx: approximate functions and conversions to integers for lanes.def. */
#ifndef GPULOCW_SIM_EXEC_LANES_MATH_APPROX_H
#define GPULOCW_SIM_EXEC_LANES_MATH_APPROX_H

#include "engine/base/base.h"
#include "engine/sim/exec/lanes/math.h"
#include <stdint.h>
#include <string.h>

/* ---- tanh: its error is well inside what 9.7.3 allows; the others are in sfu.h ---- */
static inline double ex2_f64(double x)
{
    const double magic = 6755399441055744.0;
    double c = x > 300 ? 300 : x < -300 ? -300 : x;
    double t = c + magic, f = (c - (t - magic)) * 0.69314718055994530942;
    double p =
        1 +
        f * (1 +
             f * (1.0 / 2 +
                  f * (1.0 / 6 +
                       f * (1.0 / 24 +
                            f * (1.0 / 120 + f * (1.0 / 720 + f * (1.0 / 5040 +
                                                                   f * (1.0 / 40320 + f / 362880))))))));
    uint64_t k = (bits_f64(t) + 1023) << 52;
    return p * f64_bits(x == x ? k : 0x7ff8000000000000ull);
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
static inline int32_t s32_of_f64(double x)
{
    return x == x ? s32_clamp(x) : INT32_MIN;
}
static inline uint32_t u32_of_f64(double x)
{
    return x == x ? u32_clamp(x) : 0x80000000u;
}
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

#endif
