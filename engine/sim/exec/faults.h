/* faults: what a kernel did wrong, and where. */
#pragma once

#include "engine/ptx/ptx_table.h"

struct exec_cta;
struct exec_inst;
struct exec_warp;
struct sim_mem;

/* ---- faults (fault.c) ---- */
enum fault_kind {
    FAULT_BOUNDS,
    FAULT_ALIGN,
    FAULT_LOCAL_STACK,
    FAULT_TRAP,
    FAULT_ASSERT,
    FAULT_DEADLOCK,
    FAULT_HANG,
    FAULT_UNINIT,
    FAULT_RACE,
    FAULT_LANES, /* a race of lanes of one store */
    FAULT_CALL,
    FAULT_UNIFORM,
    FAULT_NOMEM,
    FAULT_CANCELLED,
    FAULT_ARG
};
/* The text says what is wrong; after a line break, what to do about it. */
void exec_fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum fault_kind kind,
                const char *fmt, ...) BASE_PRINTF(5, 6);
/* The same of two accesses that nothing orders: other_line is the first one's in the text. */
void exec_fault_race(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint32_t other_line,
                     const char *fmt, ...) BASE_PRINTF(5, 6);
void exec_fault_stuck(struct exec_cta *c); /* none of its warps can go on */
/* loops without progress, as do all that could change what it waits for */
void exec_fault_spins(struct exec_cta *c);
/* asked after runs that end in spinning: it only repeats itself (spin.c) */
bool exec_cta_repeats(struct exec_cta *lead);
/* all 0 at first; for exec_memory_rests: device memory is as it was when asked before */
struct exec_rest {
    uint64_t asked;
    uint64_t due;
    uint64_t state;
};
bool exec_memory_rests(struct exec_rest *r, const struct sim_mem *m);
/* ---- what other warps can see: memory, barriers, who has ended ---- */
/* Mixes the part of it that is a CTA's own into h. */
uint64_t exec_cta_visible(uint64_t h, const struct exec_cta *lead);
/* Mixes device memory that the launch stores into into h. */
uint64_t exec_memory_visible(uint64_t h, const struct sim_mem *m);
/* Of CTAs that are stepped: has every warp only waited since the last call, or read again and again what
 * others may write? One that computes in between does not wait. */
bool exec_cta_waits(struct exec_cta *lead);
/* The mbarrier that w waits for, and what it lacks, in words; false: it waits for none. */
void exec_fault_access(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                       enum ptx_space space, uint64_t addr, unsigned bytes, bool misaligned);
