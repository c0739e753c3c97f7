/* math_int: the integer part of what lanes.def calls; branch-free where vectors matter. */
#pragma once

#include "engine/base/base.h"

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
static inline uint64_t mulhi_u64(uint64_t a, uint64_t b)
{
    return (uint64_t)((u128)a * b >> 64);
}
static inline uint64_t mulhi_s64(uint64_t a, uint64_t b)
{
    return (uint64_t)((s128)(int64_t)a * (int64_t)b >> 64);
}
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
/* Fields of N bits' values: len bits from pos on taken out, with their sign or without, and put in. */
#define FIELDS(N, T)                                                               \
    static inline T bfe_u##N(T a, uint32_t pos, uint32_t len)                      \
    {                                                                              \
        T v = pos > N - 1 ? 0 : a >> (pos & (N - 1));                              \
        return len > N - 1 ? v : v & (((T)1 << (len & (N - 1))) - 1);              \
    }                                                                              \
    static inline T bfe_s##N(T a, uint32_t pos, uint32_t len)                      \
    {                                                                              \
        uint32_t last = pos + len - 1, top = last > N - 1 ? N - 1 : last;          \
        T sign = len ? 0u - (a >> (top & (N - 1)) & 1) : 0;                        \
        uint32_t left = pos > N - 1 ? 0 : N - pos, n = len < left ? len : left;    \
        T keep = n > N - 1 ? (T)-1 : ((T)1 << n) - 1;                              \
        return ((pos > N - 1 ? 0 : a >> (pos & (N - 1))) & keep) | (sign & ~keep); \
    }                                                                              \
    static inline T bfi_u##N(T a, T b, uint32_t pos, uint32_t len)                 \
    {                                                                              \
        T field = len > N - 1 ? (T)-1 : ((T)1 << (len & (N - 1))) - 1;             \
        T keep = pos > N - 1 ? 0 : field << (pos & (N - 1));                       \
        return (b & ~keep) | ((pos > N - 1 ? 0 : a << (pos & (N - 1))) & keep);    \
    }
FIELDS(32, uint32_t)
FIELDS(64, uint64_t)
static inline uint32_t bmsk_clamp(uint32_t a, uint32_t b)
{
    uint32_t field = b > 31 ? UINT32_MAX : (1u << (b & 31)) - 1;
    return a > 31 ? 0 : field << (a & 31);
}
static inline uint32_t shf_l(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) << n >> 32);
}
static inline uint32_t shf_r(uint32_t a, uint32_t b, uint32_t n)
{
    return (uint32_t)(((uint64_t)b << 32 | a) >> n);
}
static inline uint32_t prmt_byte(uint64_t ab, uint32_t sel)
{
    uint32_t v = (uint32_t)(ab >> (sel & 7) * 8) & 0xffu;
    return sel & 8 ? (v & 0x80u ? 0xffu : 0u) : v;
}
static inline uint32_t prmt_u32(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t ab = (uint64_t)b << 32 | a;
    return prmt_byte(ab, c) | prmt_byte(ab, c >> 4) << 8 | prmt_byte(ab, c >> 8) << 16 |
           prmt_byte(ab, c >> 12) << 24;
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
#define DOT4(TA, TB, a, b)                                                                             \
    (uint32_t)(DOT4_BYTE(TA, a, 0) * DOT4_BYTE(TB, b, 0) + DOT4_BYTE(TA, a, 1) * DOT4_BYTE(TB, b, 1) + \
               DOT4_BYTE(TA, a, 2) * DOT4_BYTE(TB, b, 2) + DOT4_BYTE(TA, a, 3) * DOT4_BYTE(TB, b, 3))
static inline uint32_t dot4_uu(uint32_t a, uint32_t b)
{
    return DOT4(uint8_t, uint8_t, a, b);
}
static inline uint32_t dot4_us(uint32_t a, uint32_t b)
{
    return DOT4(uint8_t, int8_t, a, b);
}
static inline uint32_t dot4_ss(uint32_t a, uint32_t b)
{
    return DOT4(int8_t, int8_t, a, b);
}
