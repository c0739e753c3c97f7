/* fixed: which registers of a kernel hold one number throughout a launch, in all threads: computed from
 * its parameters, the shapes of block and grid, and numbers alone, at one place. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;

/* By register. Owned, base_free. NULL: out of memory. Of a function that is no kernel, none is. */
bool *ptx_fixed(const struct ptx_cfg *g);
