/* live: which registers are read from a place on before they are written there. A write under a guard,
 * or of a part of a vector, leaves some of what was there, and so ends nothing. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;
struct ptx_func;
struct ptx_inst;

/* Sets of registers, a bit each: [block][words]. Those of blocks that are not reached are empty, but for
 * reads and writes. */
struct ptx_live {
    uint32_t words;
    uint64_t *reads;  /* read in the block before it writes them */
    uint64_t *writes; /* written in the block */
    uint64_t *in;     /* live at its start */
    uint64_t *out;    /* live at its end */
};
/* Does this access not count as a read? NULL: all do that read. */
typedef bool ptx_live_skip(const struct ptx_inst *i, unsigned access);
/* Owned, base_free. NULL: out of memory */
struct ptx_live *ptx_live_make(const struct ptx_cfg *g, ptx_live_skip *skip);
/* Does a write of this instruction leave nothing of what the register held? */
bool ptx_writes_all(const struct ptx_func *f, const struct ptx_inst *i, uint32_t reg);
/* Or does it with the next one, under the opposite guard? Before it the register is dead then. */
bool ptx_ends_old(const struct ptx_func *f, const struct ptx_inst *i, uint32_t reg);

static inline bool ptx_bit(const uint64_t *set, uint32_t n)
{
    return set[n >> 6] >> (n & 63) & 1;
}
static inline void ptx_set_bit(uint64_t *set, uint32_t n)
{
    set[n >> 6] |= UINT64_C(1) << (n & 63);
}
