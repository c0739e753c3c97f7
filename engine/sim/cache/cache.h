/* cache: private to engine/sim. The cache model: tags and policies, no clock
 * of its own. Times are SM cycles (uint32_t); addresses come as line numbers
 * (device address / 128) and masks of 32-byte sectors (bit 0: lowest address).
 *
 *   L1   set-associative, per-sector valid bits, LRU inside eviction classes.
 *        A line that was asked for and has not arrived is `pending`: it can be
 *        hit (hit-reserved, merged into the outstanding miss), never evicted.
 *   L2   two stores behind one interface:
 *          all SMs simulated   -> set-associative tags         (l2.c)
 *          a sample of the SMs -> order of last touches        (sample.c)
 */
#pragma once

#include "engine/base/base.h"

struct exec_policy;
struct sim_preset;

#define CACHE_LINE_SHIFT 7u /* 128-byte lines everywhere */
#define CACHE_SECTORS    4u

/* What an access asks of one level. */
enum cache_alloc {
    CACHE_NORMAL,
    CACHE_FIRST,     /* evict-first: first victim of its set */
    CACHE_LAST,      /* evict-last: last victim */
    CACHE_KEPT,      /* of an access policy window: stays in the part of L2 set aside */
    CACHE_UNCHANGED, /* a hit does not refresh the line's age */
    CACHE_TRANSIT,   /* no_allocate: hits what other loads brought, brings nothing */
    CACHE_LAST_USE,  /* a hit makes the line the next victim */
    CACHE_BYPASS,    /* neither looks nor allocates */
    CACHE_DROP       /* volatile: bypass, and a copy that is there is dropped */
};

/* ---- policies: what an access asks of each level on an architecture (policy.c) ---- */
struct cache_route {
    uint8_t l1, l2;  /* enum cache_alloc */
    uint8_t granule; /* sectors L2 fetches together on a miss: 1, 2 or 4 */
    bool next;       /* the neighbouring line too (prefetch size 256) */
    bool read_only;  /* goes through the separate read-only cache */
};
/* For a global load with policy p and createpolicy value `hint` to `line`. */
struct cache_route cache_route_load(const struct sim_preset *g, const struct exec_policy *p,
                                    uint64_t hint, uint64_t addr);
enum cache_alloc cache_route_store(const struct exec_policy *p, uint64_t hint, uint64_t addr);

/* The sectors of a line that a fetch of `m` by groups of `granule` brings. */
static inline uint8_t cache_widen(uint8_t m, uint8_t granule)
{
    if (granule >= 4)
        return m ? 15 : 0;
    if (granule == 2)
        return (uint8_t)((m & 3 ? 3 : 0) | (m & 12 ? 12 : 0));
    return m;
}

/* Sectors in a mask of four. */
static inline uint32_t cache_count(uint8_t sectors)
{
    return (uint32_t)(0x4332322132212110ull >> (sectors & 15) * 4) & 7;
}

/* Mixes a number (finaliser of splitmix64): set, slice and fraction hashing. */
static inline uint64_t cache_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Where a line lies among all, 0 to 1: fractions of lines are those below. */
static inline double cache_fraction(uint64_t line)
{
    return (double)(cache_mix(line) >> 40) / (double)(1u << 24);
}
