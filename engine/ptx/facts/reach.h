/* reach: which blocks can be reached from others, and the region of a branch: the blocks between it and
 * where its ways meet again. One record serves many branches of a function in turn; a question costs
 * about as much as the region has blocks. */
#pragma once

#include "engine/ptx/facts/solve.h"

struct ptx_cfg;

/* in: by block; grows by all that can be reached from the blocks in it. false: out of memory */
bool ptx_reach(const struct ptx_cfg *g, enum ptx_way way, bool *in);

struct ptx_region {
    const struct ptx_cfg *g;
    /* the blocks of the region taken last, its branch not among them unless it comes back */
    uint32_t *list;
    uint32_t n;
    uint32_t end;    /* where the ways meet */
    uint32_t *stamp; /* by block: the last region it was in */
    uint32_t now;
    bool *seen; /* by block of the region: it is reached from where was asked last */
    struct ptx_solver solver;
};
/* false: out of memory. g outlives it. */
bool ptx_region_make(struct ptx_region *r, const struct ptx_cfg *g);
void ptx_region_free(struct ptx_region *r);
/* Every block that is reached from block b before its ways meet again. */
void ptx_region_take(struct ptx_region *r, uint32_t b);
/* Is this block in the region taken last? */
bool ptx_region_has(const struct ptx_region *r, uint32_t block);

/* Is block `to` reached from `from` within the region taken last? Both may be any block. */
bool ptx_region_reaches(struct ptx_region *r, uint32_t from, uint32_t to);
