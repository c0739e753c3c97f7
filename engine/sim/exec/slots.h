/* slots: registers of a warp as 32 lanes in its frame. */
#pragma once

#include "engine/sim/decoded.h"
#include "engine/sim/exec/exec.h"

/* ---- slots ---- */
/* A bank is kept as its start less its number: the number in a slot's low bits cancels out. */
static inline void bank_set(struct exec_warp *w, enum exec_bank b, void *start)
{
    w->bank[b] = (uintptr_t)start - b;
}
static inline void *slot_at(const struct exec_warp *w, uint32_t slot)
{
    return (void *)(w->bank[slot & 3u] + slot);
}
static inline uint32_t first_lane(uint32_t mask)
{
    return (uint32_t)__builtin_ctz(mask);
}
static inline uint32_t pred_read(const struct exec_warp *w, uint32_t slot, bool neg)
{
    return *(const uint32_t *)slot_at(w, slot) ^ (neg ? EXEC_FULL : 0u);
}
static inline void pred_write(struct exec_warp *w, uint32_t slot, uint32_t mask, uint32_t bits)
{
    if (slot == EXEC_NO_ID)
        return;
    uint32_t *d = slot_at(w, slot);
    *d = (*d & ~mask) | (bits & mask);
}
/* Lane values of a 32-bit or 64-bit slot, by width in bytes. */
static inline uint64_t lane_read(const struct exec_warp *w, uint32_t slot, unsigned lane, unsigned bytes)
{
    return bytes == 8 ? ((const uint64_t *)slot_at(w, slot))[lane]
                      : ((const uint32_t *)slot_at(w, slot))[lane];
}
static inline void lane_write(struct exec_warp *w, uint32_t slot, unsigned lane, unsigned bytes,
                              uint64_t v)
{
    if (slot == EXEC_NO_ID)
        return;
    if (bytes == 8)
        ((uint64_t *)slot_at(w, slot))[lane] = v;
    else
        ((uint32_t *)slot_at(w, slot))[lane] = (uint32_t)v;
}
/* Most warps are full; a build without a popcount instruction should pay only for the others. */
static inline uint32_t lane_count(uint32_t mask)
{
    return mask == EXEC_FULL ? WARP_LANES : (uint32_t)__builtin_popcount(mask);
}
#define FOR_LANES(i, mask) \
    for (uint32_t m_##i = (mask), i; m_##i && (i = first_lane(m_##i), 1); m_##i &= m_##i - 1)
