/* elem: three dimensions, and the element types of buffers and scalars. */
#pragma once

#include "engine/base/base.h"

struct dim3u {
    uint32_t x;
    uint32_t y;
    uint32_t z;
};
static inline uint64_t dim3u_count(struct dim3u d)
{
    return (uint64_t)d.x * d.y * d.z;
}
static inline bool dim3u_same(struct dim3u a, struct dim3u b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}
static inline uint32_t dim3u_at(struct dim3u d, int k) /* k 0: x */
{
    return k == 0 ? d.x : k == 1 ? d.y : d.z;
}

/* ---- launch description (docs/reference/launch.md "Launch description") ---- */
#define ELEM_LIST(X)   \
    X(U8, "u8", 1)     \
    X(S8, "s8", 1)     \
    X(U16, "u16", 2)   \
    X(S16, "s16", 2)   \
    X(F16, "f16", 2)   \
    X(U32, "u32", 4)   \
    X(S32, "s32", 4)   \
    X(F32, "f32", 4)   \
    X(U64, "u64", 8)   \
    X(S64, "s64", 8)   \
    X(F64, "f64", 8)   \
    X(BF16, "bf16", 2) \
    X(E4M3, "e4m3", 1) \
    X(E5M2, "e5m2", 1) \
    X(TF32, "tf32", 4)
#define ELEM_ITEM(n, text, size) ELEM_##n,
enum elem { ELEM_LIST(ELEM_ITEM) ELEM_COUNT };
#undef ELEM_ITEM
size_t elem_size(enum elem e);
const char *elem_name(enum elem e);
bool elem_is_float(enum elem e);
bool elem_parse(struct str s, enum elem *e);
/* v as an element: rounded once to a float (to the nearest, ties to even; e4m3 and e5m2 end at their
 * largest number, tf32 is an f32 with 10 bits of fraction), or the nearest whole number that 64 bits
 * hold, cut to its size. */
void elem_store(enum elem e, double v, uint8_t *out);
/* An element as a double; those of 64 bits are rounded. */
double elem_load(const uint8_t *p, enum elem e);
/* The 64-bit pattern of a number; what 64 bits do not hold becomes the nearest that they do. */
uint64_t elem_whole(double d);
