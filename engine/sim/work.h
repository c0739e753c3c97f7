/* work: what a launch did beside its loads and stores: arithmetic, tensor cores, bulk copies. */
#ifndef GPULOCW_SIM_WORK_H
#define GPULOCW_SIM_WORK_H

#include "engine/base/base.h"
#include "engine/rec/counters.h"

struct sim_work {
    uint64_t flop[PIPE_COUNT];     /* operations */
    uint64_t count[COUNTER_COUNT]; /* counters that are summed up (counter_sums) */
    uint64_t write_hits;           /* sectors written that L2 had */
    uint64_t tensor_busy;          /* cycle, of all tensor cores */
    uint64_t copies;               /* bulk and tensor copies from and to global memory */
    uint64_t copy_reads;           /* sectors asked of L2 */
    uint64_t copy_writes;          /* sectors */
    uint64_t copy_hits;            /* sectors that L2 looked up for copies and found */
    uint64_t copy_missed;          /* the same, not found */
    uint64_t tensor_cores; /* of all SMs; 0: some product has neither known operations nor time */
};

#endif
