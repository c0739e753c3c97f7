/* spill: what ptxas keeps in local memory where a kernel is allowed fewer registers than it has values. */
#pragma once

#include "engine/base/base.h"

struct timing_plan;
struct timing_sched;
struct timing_slot;
struct timing_sm;
struct timing_warp;

/* Sets spill, spill_loads and spill_stores of each instruction, and t->spill. */
void timing_spills(struct timing_plan *t);
/* Bytes of a thread that the kernel stores so, each instruction counted once. */
uint32_t timing_spilled(const struct timing_plan *t);
/* What o spills and brings back goes through the load/store unit from cycle t on. Returns when the result
 * that needs it is there; of a memory instruction, when it could begin. */
uint32_t timing_spill_issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                            const struct timing_slot *o, uint32_t t);
