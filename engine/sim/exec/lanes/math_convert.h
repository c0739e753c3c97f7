/* math_convert: conversions to integers for lanes.def. */
#pragma once

#include "engine/sim/exec/lanes/math.h"

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
