/* counted: loops of one block that count by a constant to something that does not change in them. ptxas
 * unrolls them: wholly where the number of turns is known (docs/lab/unrolling.md). */
#pragma once

#include "engine/base/base.h"

struct ptx_func;
struct ptx_inst;

/* inst[0 .. n) is the block. */
struct ptx_body {
    const struct ptx_func *f;
    const struct ptx_inst *inst;
    uint32_t n;
};
/* How many instructions of the body write reg; *which: the last of them. */
uint32_t ptx_writers(const struct ptx_body *b, uint32_t reg, uint32_t *which);
/* r = r + constant, by way of moves: its step; 0: it does not count so. *start: the register that one
 * turn leaves to the next. */
int64_t ptx_turn_step(const struct ptx_body *b, uint32_t reg, uint32_t *start);
/* The block is such a loop, without .pragma "nounroll". *turns: how many it makes, at most 1000; 0: that
 * is not known. */
bool ptx_counts(const struct ptx_body *b, uint32_t *turns);
