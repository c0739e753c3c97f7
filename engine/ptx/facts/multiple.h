/* multiple: of which power of two a register is known to be a multiple, as ptxas knows it. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;
struct ptx_func;
struct ptx_operand;

/* root plus a number, where root is a register and the whole is `over` more than a multiple of 2^zeros. */
struct ptx_multiple {
    uint32_t root;
    uint8_t zeros; /* 63 at most */
    bool number;   /* a constant, or one in each copy of a loop that is unrolled wholly */
    int64_t over;
};
/* By register of g->func. Owned, base_free. NULL: out of memory.
 *
 * ptxas 13.0 (sm_90) counts zero bits from the lowest on: a sum has as many as the term that has fewest, a
 * product those of both, and what a loop or a branch brings those of all. A number that is added last is
 * an offset and costs none; one that is added before another register does. Shifts to the right, divisions, least and
 * greatest have none (tests/tool/joined.py). */
struct ptx_multiple *ptx_multiples(const struct ptx_cfg *g);
/* Of an address [reg+number] or [variable+number]; root: PTX_NO_INDEX for a variable. all: ptx_multiples. */
struct ptx_multiple ptx_multiple_at(const struct ptx_cfg *g, const struct ptx_multiple *all,
                                    const struct ptx_operand *o);
