/* watch: registers that an asynchronous product still uses, and those that it may not see yet.
 *
 * wgmma.mma_async reads and writes registers after it has been issued (9.7.15.7). Between a write of a
 * register and a product that uses it there must be a wgmma.fence; before a register of a product is
 * touched, its group must have been committed and waited for. Decoding follows that along all paths
 * (decode/watch.c); only where some path breaks it, runs look at each instruction (watch.c). */
#pragma once

#include "engine/base/base.h"

struct exec_inst;
struct exec_warp;

#define WATCH_IDLE 255u /* no product uses it */
/* By register of the kernel. Ages: groups committed since the product that uses it was issued. */
struct watch_state {
    uint32_t n;
    uint8_t *write, *read; /* [n] ages of products that write it, that read it */
    uint8_t *dirty;        /* [n] written by others since the last wgmma.fence */
};
enum watch_hit { WATCH_FINE, WATCH_NO_FENCE, WATCH_NO_WAIT };
/* What the instruction does to the state; *reg: the register, where it should not have. */
enum watch_hit watch_step(struct watch_state *s, const struct exec_inst *in, uint32_t *reg);
/* As a kernel begins: everything may have been written. The arrays are one block, owned. */
bool watch_new(struct watch_state *s, uint32_t n);
/* Before an instruction of a kernel that breaks the rules somewhere. False: it does here, told. */
bool exec_watch(struct exec_warp *w, const struct exec_inst *in);
