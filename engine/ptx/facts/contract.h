/* contract: which multiplications ptxas fuses with additions. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;
struct ptx_inst;

/* What happens to an instruction. `mul` and `add` stand for sub, too, and for the packed forms. */
struct ptx_contracted {
    /* of an add: the mul whose product it adds without rounding it first; PTX_NO_INDEX: none */
    uint32_t mul;
    uint8_t operand; /* of the add, the product: 1 or 2 */
    /* the product is subtracted, and so is the other operand, once neg and sub are followed */
    bool neg_product, neg_addend;
    bool dropped; /* a mul that nothing but such adds use */
};

/* By instruction of c->func, as ptxas 13.0 does at its default level (docs/lab/contraction.md). Owned by
 * the caller: base_free. NULL: out of memory. */
struct ptx_contracted *ptx_contract(const struct ptx_cfg *c);
/* Does it write a register that `mul` multiplies? */
bool ptx_writes_factor(const struct ptx_inst *i, const struct ptx_inst *mul);
