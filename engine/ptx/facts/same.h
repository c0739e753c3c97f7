/* same: loads that ptxas makes once. */
#ifndef GPULOCW_PTX_FACTS_SAME_H
#define GPULOCW_PTX_FACTS_SAME_H

#include "engine/base/base.h"

struct ptx_cfg;

/* By instruction: the load whose value it has, plus one; 0: none. Owned, base_free. NULL: out of memory. */
uint32_t *ptx_same_loads(const struct ptx_cfg *g);

#endif
