/* taint: what follows from the results of some instructions, through registers, predicates, local and
 * shared memory, and through which of two ways control went. Addresses known exactly are told apart by 8
 * bytes. */
#pragma once

#include "engine/ptx/facts/reach.h"

struct pass_ctx;
struct pass_flow;
struct ptx_inst;

struct pass_taint {
    struct pass_ctx *c;
    const struct pass_flow *fl;
    const bool *in; /* blocks that are looked at; NULL: all */
    bool *reg;      /* by register */
    bool *branch;   /* by block: its branch has been followed */
    struct ptx_region region;
    uint64_t memory;      /* of private memory, 64 classes of places */
    bool params;          /* the function's own parameters as well */
    bool met;             /* values went through a vote, shuffle or barrier */
    bool carry;           /* the carry flag */
    struct ptx_solver *s; /* while it runs */
};
/* false: out of memory */
bool pass_taint_make(struct pass_taint *t, struct pass_ctx *c, const struct pass_flow *fl);
void pass_taint_free(struct pass_taint *t);
void pass_taint_clear(struct pass_taint *t, const bool *in);
/* What this instruction writes is marked; a call, an asynchronous copy: private memory as well. */
void pass_taint_source(struct pass_taint *t, const struct ptx_inst *i);
void pass_taint_run(struct pass_taint *t);
/* Through registers of plain instructions alone: the way taken says nothing about a value. */
void pass_taint_run_values(struct pass_taint *t);
bool pass_taint_reads(struct pass_taint *t, const struct ptx_inst *i);
/* The address lies in the thread's or the CTA's own memory for certain; or may. */
bool pass_taint_private(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *i,
                        bool certain);
