/* cfg_int: what cfg.c, loop.c and refs.c share. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;

struct cfg_exits {
    uint32_t *v, n;
    bool *is;
}; /* blocks with an edge to the virtual exit */
/* Post-order of the depth-first walk from root over successors, or with x over predecessors,
 * where block nblocks is the virtual exit. work: 3 * (nblocks + 1); its last third is left as
 * the set of blocks that were reached. */
uint32_t cfg_post_order(const struct ptx_cfg *c, const struct cfg_exits *x, uint32_t root,
                        uint32_t *order, uint32_t *work);
bool cfg_make_dominators(struct ptx_cfg *c, uint32_t *work);
bool cfg_make_loops(struct ptx_cfg *c);
bool cfg_make_refs(struct ptx_cfg *c);
