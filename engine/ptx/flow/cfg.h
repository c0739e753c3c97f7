/* cfg: the structure of one function: blocks, dominators, loops, definitions and uses. */
#pragma once

#include "engine/base/base.h"

struct ptx_func;

/* ---- structure (section-independent): blocks, dominators, loops, def-use ---- */
/* block index; PTX_NO_INDEX: none/exit */
struct ptx_block {
    uint32_t first, n;
    uint32_t *succ; /* blocks it goes to; of the arena */
    uint32_t nsucc; /* entries */
    uint32_t *pred; /* blocks it comes from; of the arena */
    uint32_t npred; /* entries */
    uint32_t idom, ipdom;
    uint32_t loop; /* innermost, PTX_NO_INDEX: none */
    bool reachable;
};
/* blocks: those of inner loops included, in no order */
struct ptx_loop {
    uint32_t header;
    uint32_t parent;
    uint32_t depth;
    uint32_t *blocks, nblocks;
    bool irreducible;
};
/* instruction indices, ascending */
struct ptx_reg_refs {
    uint32_t *defs; /* instructions; of the arena */
    uint32_t ndefs; /* entries */
    uint32_t *uses; /* instructions; of the arena */
    uint32_t nuses; /* entries */
};
struct ptx_cfg {
    struct arena *arena;
    const struct ptx_func *func;
    struct ptx_block *blocks;
    uint32_t nblocks;   /* block 0 is the entry */
    uint32_t *block_of; /* instruction index -> block */
    uint32_t *rpo;
    uint32_t nrpo; /* reachable blocks in reverse post-order */
    /* by block: its interval in the dominator tree's pre-order */
    uint32_t *dom_first, *dom_size;
    struct ptx_loop *loops;
    uint32_t nloops;           /* outer before inner */
    struct ptx_reg_refs *regs; /* func->nregs */
};
/* NULL on out of memory. Free with ptx_cfg_free. Iterative: no recursion on input depth. */
struct ptx_cfg *ptx_cfg_build(const struct ptx_func *f);
void ptx_cfg_free(struct ptx_cfg *c);
bool ptx_dominates(const struct ptx_cfg *c, uint32_t a, uint32_t b);
