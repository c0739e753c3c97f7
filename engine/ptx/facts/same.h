/* same: loads that ptxas makes once. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;
struct ptx_inst;

/* By instruction: the load whose value it has, plus one; 0: none. Owned, base_free. NULL: out of memory. */
uint32_t *ptx_same_loads(const struct ptx_cfg *g);
/* After i the value of a load may be another's, or the memory it read another. */
bool ptx_ends_load(const struct ptx_inst *load, const struct ptx_inst *i);
