/* timing_phase: private to the timing half of engine/sim. Launches longer than the sample whose warps do
 * not keep step. */
#pragma once

#include "engine/rec/counters.h"
#include "engine/sim/sim.h"

struct timing_sm;
struct timing_group;
struct timing_phases {
    struct sim_part part;  /* the phases so far, */
    struct sim_stats from; /* and at the start of the one under way: counters, owned; */
    uint64_t *inst;        /* instructions of each warp [nsms][nwarps], owned; */
    uint32_t at;           /* cycle, 0: none is measured; */
    uint64_t begun;        /* instructions of the group when its warps began to run so */
};
/* adds the SM's counters; o->loads [o->nloads] */
void timing_sm_count(const struct timing_sm *s, struct sim_stats *o);
/* The counters of sim_stats that grow with the launch, but for the bytes of DRAM. */
enum { TIMING_SCALED = 18 + PIPE_COUNT + COUNTERS_MOST };
void timing_scaled_counters(struct sim_stats *o, uint64_t *v[TIMING_SCALED]);
/* v + (v - fewer) * by, never below 0. */
double timing_extended(double v, double fewer, double by);
/* to = timing_extended of to and from, of the counters, the bytes of DRAM and what each load asked for. */
void timing_extend_counters(struct sim_stats *to, struct sim_stats *from, double by);
/* A phase is measured from here on. */
void timing_phase_begin(struct timing_group *g);
/* Ends the phase. True: its fastest warps are gone, the others run on, and there is another phase to
 * begin. */
bool timing_phase_next(struct timing_group *g);
void timing_phases_free(struct timing_phases *p);
/* Moves the parts of the launch's n groups into *o; false: they have none, or all warps of each keep
 * step. */
bool timing_parts_take(struct timing_group *g, uint32_t n, struct sim_stats *o);
/* Cycles of the launch and counters in its proportions, from o->parts and the functional run `whole`. */
void timing_parts_add(struct sim_stats *o, const struct sim_stats *whole);
