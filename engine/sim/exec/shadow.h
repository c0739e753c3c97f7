/* shadow: who last used memory, for the sanitiser (check.c).
 *
 * Blocks of 1 KB, made when they are first touched. A block is cut into granules of 32 bytes, or of 4 or
 * 1 as soon as an access asks for less; granules with one history share one record of it (40 bytes), so
 * that what warps use side by side costs little, and bytes used at random more than a record each. */
#pragma once

#include "engine/base/base.h"

#define SHADOW_BLOCK 1024u

/* An access, packed: CTA (its order), warp, clock of the warp then (at most its greatest value), whether
 * atomic, whether a write that left what was there. 0: none. */
typedef uint64_t shadow_who;
#define SHADOW_CLOCK_MOST ((UINT32_C(1) << 24) - 1)
#define SHADOW_SAME       (UINT64_C(1) << 25)
static inline shadow_who shadow_access(uint32_t cta, uint32_t warp, uint32_t clock, bool atomic)
{
    return (uint64_t)cta << 32 | (warp & 31) << 27 | (uint32_t)atomic << 26 |
           (clock < SHADOW_CLOCK_MOST ? clock : SHADOW_CLOCK_MOST) << 1 | 1;
}
static inline uint32_t shadow_cta(shadow_who o)
{
    return (uint32_t)(o >> 32);
}
static inline uint32_t shadow_warp(shadow_who o)
{
    return (uint32_t)o >> 27;
}
static inline uint32_t shadow_clock(shadow_who o)
{
    return (uint32_t)o >> 1 & SHADOW_CLOCK_MOST;
}
static inline bool shadow_same(shadow_who o)
{
    return o & SHADOW_SAME;
}
static inline bool shadow_atomic(shadow_who o)
{
    return o >> 26 & 1;
}

struct shadow_state {
    shadow_who w, r[2];      /* the last writer, the last two readers, */
    uint32_t line, rline[2]; /* and the lines of the text they did it at */
};
struct shadow_block; /* NULL: nobody has used it */
/* Changes *s to what it is after this access; false: stop here. */
typedef bool (*shadow_fn)(void *ctx, struct shadow_state *s);
/* Bytes from..to (0..SHADOW_BLOCK) of a block, granule by granule; where several have one history fn is
 * called once. Returns how far it came (less than `to`: fn said stop at this byte), UINT32_MAX: out of
 * memory. */
uint32_t shadow_use(struct shadow_block **slot, uint32_t from, uint32_t to, shadow_fn fn, void *ctx);
void shadow_clear(struct shadow_block *b); /* as if nobody had used it; NULL is fine */
void shadow_free(struct shadow_block *b);

/* The blocks of an address space. */
struct shadow_map {
    struct shadow_block **slot;
    size_t n, cap;
};
/* valid until the next call; NULL: out of memory */
struct shadow_block **shadow_at(struct shadow_map *m, uint64_t addr);
void shadow_map_free(struct shadow_map *m);
