/* hostile: the most hostile machine that the ISA allows (sim_launch.hostile). Part of exec.h. */
#pragma once

#include "engine/sim/exec/exec.h"
#include "engine/sim/sim.h"

/* What the launch asks of it; and the end of that. */
void exec_hostile_begin(struct exec_launch *x);
void exec_hostile_end(struct exec_launch *x);
/* Where an access finds allocation a: .nc loads what was there first. `writes`: that is kept before the
 * first store. NULL: out of memory. */
uint8_t *exec_was_host(struct exec_worker *k, const struct exec_inst *in, const struct sim_alloc *a,
                       bool writes);
/* The CTA that is run as the i-th; the warp whose turn is the i-th of n; instructions of a turn. */
uint64_t exec_hostile_cta(const struct exec_launch *x, uint64_t i);
/* A request to cancel the i-th one is refused, as where a launch of higher priority has come. */
bool exec_hostile_keeps(const struct exec_launch *x, uint64_t i);
uint32_t exec_hostile_warp(const struct exec_launch *x, uint32_t i, uint32_t n);
uint32_t exec_hostile_slice(const struct exec_launch *x, uint32_t usual);
uint64_t exec_hostile_sreg(const struct exec_launch *x, uint16_t sreg, uint64_t v);
uint64_t exec_hostile_clock(const struct exec_launch *x, uint64_t now);
/* What memory and registers that nobody wrote are filled with. */
static inline int exec_fresh(const struct exec_launch *x, enum sim_poison what)
{
    return x->hostile.poison >> what & 1 ? (int)(0x5bu + 2u * (uint32_t)(x->hostile.seed % 37)) : 0;
}
/* Some lanes of a warp reach what it says all of them do. True: that is a fault here. */
bool exec_not_uniform(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint32_t all);
