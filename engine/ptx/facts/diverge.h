/* diverge: which registers may hold different values in two threads at once. One analysis, for passes
 * and for the simulated device. */
#pragma once

#include "engine/ptx/ptx_table.h"

struct ptx_cfg;

/* Two threads of what: the values that are compared. */
enum ptx_threads { PTX_OF_WARP, PTX_OF_CTA, PTX_OF_GRID };
/* What makes values differ: PTX_BY_DATA, what they are made of; PTX_BY_CONTROL, that and the way taken:
 * threads that come together again after different ways may have written a register on one way alone. */
enum ptx_cause { PTX_BY_DATA, PTX_BY_CONTROL };

/* May this special register differ? By its column `sees` (sregs.def). */
bool ptx_sreg_varies(enum ptx_sreg r, enum ptx_threads scope);

/* By register; the entry after the last one is the carry flag. Owned, base_free. NULL: out of memory. */
bool *ptx_varying(const struct ptx_cfg *g, enum ptx_threads scope, enum ptx_cause cause);
/* May threads part at this branch or way out of the thread? varying: by register. */
bool ptx_parts_threads(const struct ptx_cfg *g, uint32_t block, const bool *varying);
