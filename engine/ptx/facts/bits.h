/* bits: sets that flow from block to block. Where control comes from several blocks, a set is the union
 * of theirs; a block takes `ends` from it and adds `begins`. */
#pragma once

#include "engine/ptx/facts/solve.h"

struct ptx_cfg;

/* All sets are [block][words], a bit for each member; in and out are empty at first. */
struct ptx_bits {
    const struct ptx_cfg *g;
    uint32_t words;
    const uint64_t *begins;
    const uint64_t *ends;
    uint64_t *in;  /* at the block's start */
    uint64_t *out; /* at its end */
};
/* The sets of the blocks that are reached. false: out of memory */
bool ptx_bits_solve(const struct ptx_bits *x, enum ptx_way way);
