/* access: one memory access of a warp. */
#pragma once

#include "engine/ptx/ptx_table.h"
#include "engine/sim/sim_int.h"
#include "engine/sim/step.h"

struct sim_alloc;

/* ---- memory access of a warp (access.c) ---- */
enum mem_pattern {
    MEM_FAULT,
    MEM_ANY,
    MEM_SAME /* all active lanes at one address */,
    MEM_SEQ /* full mask, consecutive */
};
/* Host pointers of the lanes in `mask` for `in->bytes * in->vec` bytes each; checked,
 * recorded when asked. `unit`: element size for MEM_SEQ. */
enum mem_pattern exec_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                              uint64_t p[WARP_LANES]);
/* Where a worker with a private view finds an allocation: a copy once it has written to it, or where the
 * launch may. NULL: out of memory. */
uint8_t *exec_private_host(struct exec_worker *k, const struct sim_alloc *a, bool writes);
/* Fills the record of a plain load or store. */
void exec_record(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space, uint32_t mask,
                 const uint64_t a[WARP_LANES]);
/* The same where all lanes are at address a, or in sequence from it on. */
void exec_record_run(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, bool same,
                     uint64_t a);
/* Adds a run of bytes in global memory to the lines of the copy at hand (exec_worker.nbox is 0 before
 * the first), and puts them all into the record. */
void exec_box_run(struct exec_warp *w, uint64_t addr, uint64_t n);
void exec_box_end(struct exec_warp *w);
/* The record of an access of these lanes to the addresses that are in it; those that are generic become
 * offsets. There may be nothing. */
void exec_record_place(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space,
                       uint32_t mask);
void exec_addresses(struct exec_warp *w, uint32_t slot, bool wide, int32_t imm, uint64_t a[WARP_LANES]);
/* The same for given addresses in a space (second addresses, operands that are pointers). */
bool exec_resolve_at(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                     enum ptx_space space, unsigned bytes, enum exec_access_kind kind,
                     const uint64_t a[WARP_LANES], uint64_t p[WARP_LANES]);
