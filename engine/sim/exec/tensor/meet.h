/* meet: where the four warps of a warpgroup wait for each other.
 *
 * wgmma instructions and setmaxnreg are executed by all warps of a warpgroup alike (9.7.15, 9.7.19.5):
 * none goes past a fence, setmaxnreg or a product before all have come to it, and wait_group holds until
 * all have committed the groups that it waits for. What follows a wait may thus give shared memory back
 * that any of the four has read. */
#pragma once

#include "engine/sim/decoded.h"

/* At a fence or a product, by the lanes of `mask`. False: it waits there, and executes the instruction
 * again when all have come; or a fault, told: part of a warp, no whole warpgroup, warps at different
 * instructions. */
bool exec_meet_all(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);
exec_fn exec_wgmma_fence, exec_wgmma_commit;
exec_fn exec_wgmma_wait; /* in->imm: groups that may still be under way */
/* Warps that it waits for, as bits of their numbers in the warpgroup; 0: it does not wait. */
uint32_t exec_meet_lacks(const struct exec_warp *w);
