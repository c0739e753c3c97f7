/* The warps of an SM by the cycle of their next step: one list per cycle of a
 * window, a bit per list that is not empty. A later step waits in the
 * window's last list and is inserted again when that list is due. Everything is O(1) and
 * a few words, since an SM does little else. */
#pragma once

#include "engine/base/base.h"

#define WHEEL_CYCLES 256u /* a power of two, of 64 at least; most steps lie that close */
#define WHEEL_WARPS  128u /* at most, so that a warp + 1 fits a byte */

struct timing_wheel {
    uint64_t full[WHEEL_CYCLES / 64];
    uint32_t base;              /* lists of earlier cycles have been taken */
    uint8_t head[WHEEL_CYCLES]; /* warp + 1; 0: none */
    uint8_t link[WHEEL_WARPS];  /* next of the same list */
};

/* Warp w, which is in no list, steps at cycle `at`, or waits in the last list until `at` is inside the
 * window. */
static inline void wheel_put(struct timing_wheel *h, uint32_t w, uint32_t at)
{
    if (at < h->base)
        at = h->base;
    if (at - h->base >= WHEEL_CYCLES)
        at = h->base + WHEEL_CYCLES - 1;
    uint32_t i = at % WHEEL_CYCLES;
    h->link[w] = h->head[i];
    h->head[i] = (uint8_t)(w + 1);
    h->full[i / 64] |= 1ull << i % 64;
}

/* The first cycle with a list; UINT32_MAX: all are empty. */
static inline uint32_t wheel_next(const struct timing_wheel *h)
{
    uint32_t b = h->base % WHEEL_CYCLES, word = b / 64;
    uint64_t m = h->full[word] >> b % 64;
    if (m)
        return h->base + (uint32_t)__builtin_ctzll(m);
    uint32_t at = h->base + 64 - b % 64;
    for (uint32_t i = 1; i <= WHEEL_CYCLES / 64; i++, at += 64) {
        m = h->full[(word + i) % (WHEEL_CYCLES / 64)];
        if (m)
            return at + (uint32_t)__builtin_ctzll(m);
    }
    return UINT32_MAX;
}

/* Empties the list of cycle `at`, before which there is none, and returns its first warp + 1. */
static inline uint32_t wheel_take(struct timing_wheel *h, uint32_t at)
{
    uint32_t i = at % WHEEL_CYCLES, first = h->head[i];
    h->base = at + 1;
    if (!first)
        return 0;
    h->head[i] = 0;
    h->full[i / 64] &= ~(1ull << i % 64);
    return first;
}
