/* work: what a launch did beside its loads and stores: arithmetic, tensor cores, bulk copies. */
#pragma once

#include "engine/rec/counters.h"

struct sim_work {
    uint64_t flop[PIPE_COUNT];     /* operations */
    uint64_t count[COUNTERS_MOST]; /* counters that are summed up (counter_sums) */
    uint64_t write_hits;           /* sectors written that L2 had */
    uint64_t load_cycles;          /* from each global or local load of a warp to its data, added up */
    uint64_t loading_cycles;       /* in which a warp had such a load under way, of all warps */
    uint64_t tensor_busy;          /* cycle, of all tensor cores */
    uint64_t copies;               /* bulk and tensor copies from and to global memory */
    uint64_t copy_reads;           /* sectors asked of L2 */
    uint64_t copy_writes;          /* sectors */
    uint64_t copy_hits;            /* sectors that L2 looked up for copies and found */
    uint64_t copy_missed;          /* the same, not found */
    uint64_t tensor_cores; /* of all SMs; 0: some product has neither known operations nor time */
};
