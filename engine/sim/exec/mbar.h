/* mbar: the 64-bit mbarrier object. It is opaque by the ISA; this layout is ours:
 *   bits 0-19 arrivals still pending, 20-39 arrivals expected in each phase,
 *   40-61 transaction bytes pending (two's complement), 62 phase, 63 in use */
#pragma once

#include "engine/base/base.h"

#include <string.h>

#define MBAR_USED  (1ull << 63)
#define MBAR_FIELD 0xfffffu
#define MBAR_TX    0x3fffffu
#define MBAR_MOST  0xfffff /* arrivals of a phase, and bytes pending either way (9.7.13.15.1) */

struct mbar {
    uint32_t pending;  /* arrivals of this phase that lack */
    uint32_t expected; /* arrivals of each phase */
    int32_t tx;        /* bytes of copies that lack */
    bool phase;
    bool used;
};

static inline struct mbar mbar_read(const void *p)
{
    uint64_t v;
    memcpy(&v, p, 8);
    uint32_t tx = (uint32_t)(v >> 40) & MBAR_TX;
    return (struct mbar){ (uint32_t)v & MBAR_FIELD, (uint32_t)(v >> 20) & MBAR_FIELD,
                          (int32_t)(tx << 10) >> 10, v >> 62 & 1, v >> 63 };
}
static inline void mbar_write(void *p, struct mbar m)
{
    uint64_t v = (m.pending & MBAR_FIELD) | (uint64_t)(m.expected & MBAR_FIELD) << 20 |
                 (uint64_t)((uint32_t)m.tx & MBAR_TX) << 40 | (uint64_t)m.phase << 62 |
                 (m.used ? MBAR_USED : 0);
    memcpy(p, &v, 8);
}
static inline void mbar_turn(struct mbar *m)
{
    if (m->pending || m->tx)
        return;
    m->phase = !m->phase;
    m->pending = m->expected;
}
