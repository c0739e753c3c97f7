/* region: the blocks between a branch and where its ways meet again, as a list. One record serves many
 * branches of a function in turn; a query costs as much as the region has blocks. */
#ifndef GPULOCW_PASS_REGION_H
#define GPULOCW_PASS_REGION_H

#include "engine/base/base.h"

struct ptx_cfg;

struct pass_region {
    const struct ptx_cfg *g;
    uint32_t
        *list; /* the blocks of the region taken last, its branch not among them unless it comes back */
    uint32_t n;
    uint32_t *stamp, now; /* by block */
};
/* false: out of memory. g outlives it. */
bool pass_region_make(struct pass_region *r, const struct ptx_cfg *g);
void pass_region_free(struct pass_region *r);
/* Every block that is reached from block b before its ways meet again. */
void pass_region_take(struct pass_region *r, uint32_t b);
/* Is this block in the region taken last? */
bool pass_region_has(const struct pass_region *r, uint32_t block);
#endif
