/* same: loads that ptxas makes once. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;

/* By instruction: the load whose value it has, plus one; 0: none. Owned, base_free. NULL: out of memory. */
uint32_t *ptx_same_loads(const struct ptx_cfg *g);
