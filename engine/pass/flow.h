/* flow, private to pass and the rewrites: facts of one function, conservative. Part of pass_int.h, which
 * includes it. */
#pragma once

#include "engine/ptx/ptx_table.h"

struct ptx_cfg;
struct ptx_func;
struct ptx_inst;

struct pass_flow {
    const struct ptx_cfg *cfg;
    const struct ptx_func *f;
    const bool *divergent; /* per register: facts/diverge.h, by control */
};
bool pass_flow_make(const struct ptx_func *f, struct pass_flow *out); /* false: out of memory */
/* divergent: between any threads of the grid */
bool pass_flow_make_grid(const struct ptx_func *f, struct pass_flow *out);
/* Does i access a parameter of f itself? They stay as they are while f runs; what is given to functions
 * that f calls, and what these return, does not. */
bool pass_own_param(const struct ptx_func *f, const struct ptx_inst *i);
/* A branch or return at which threads of a CTA may part although a barrier follows on one side: the
 * instruction, or NULL. */
const struct ptx_inst *pass_return_before_barrier(const struct pass_flow *fl);
/* Threads of a CTA that pass `block` pass it equally often: where a branch lets them part around it,
 * nothing that `meets` is left to come once they are together again. */
bool pass_goes_together(const struct pass_flow *fl, uint32_t block,
                        bool (*meets)(const struct ptx_inst *i));
/* A barrier of the whole CTA (not of a warp, an mbarrier or an asynchronous copy). */
bool inst_is_cta_barrier(const struct ptx_inst *i);
/* Bytes by which `reg` moves when `var` (a register; PTX_NO_INDEX: %tid.x) grows by one; false: unknown.
 */
bool pass_motion(const struct pass_flow *fl, uint32_t reg, uint32_t var, int64_t *k);
/* First instruction of f with this effect, or reading this special register; NULL: none. */
const struct ptx_inst *pass_find_effect(const struct ptx_func *f, enum ptx_effect e);
const struct ptx_inst *pass_find_sreg(const struct ptx_func *f, enum ptx_sreg reg);
