/* limits_measured: what binds a launch on a GPU, from what its hardware counters say of its warps. */
#pragma once

#include "engine/base/base.h"

struct limit_launch;
struct result;

/* X(id, metric, needed: without it nothing is told). Metrics of the chip by their CUPTI names. */
#define LIMIT_METRICS(X)                                                                  \
    X(ELAPSED, "smsp__cycles_elapsed.sum", true)                                          \
    X(ACTIVE, "smsp__cycles_active.sum", true)                                            \
    X(MEAN, "smsp__cycles_active.avg", true)                                              \
    X(SPAN, "smsp__cycles_active.max", true)                                              \
    X(ISSUED, "smsp__issue_active.sum", true)                                             \
    X(DRAM, "dram__throughput.avg.pct_of_peak_sustained_elapsed", true)                   \
    X(L2, "lts__t_sectors.avg.pct_of_peak_sustained_elapsed", true)                       \
    X(L1, "l1tex__throughput.avg.pct_of_peak_sustained_active", true)                     \
    X(LOAD_USED, "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", false)  \
    X(STORE_USED, "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", false) \
    X(LOADS, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", false)                     \
    X(STORES, "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", false)                    \
    X(LOCAL_LOADS, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", false)                \
    X(LOCAL_STORES, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", false)               \
    X(ATOMS, "lts__t_sectors_op_atom.sum", false)                                         \
    X(REDS, "lts__t_sectors_op_red.sum", false)                                           \
    X(CONFLICTS, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", false)             \
    X(WAVEFRONTS, "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", false)                \
    X(CONSTANTS, "smsp__inst_executed_op_ldc.sum", false)                                 \
    X(TENSOR, "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", false)

/* X(reason, what it is, needed): why a warp that was there did not issue, warps a cycle in which one did. */
#define LIMIT_STALLS(X)                  \
    X(long_scoreboard, MEMORY, true)     \
    X(drain, MEMORY, false)              \
    X(lg_throttle, QUEUE, false)         \
    X(tex_throttle, QUEUE, false)        \
    X(short_scoreboard, SHARED, false)   \
    X(mio_throttle, SHARED_QUEUE, false) \
    X(math_pipe_throttle, MATH, false)   \
    X(gmma, PRODUCT, false)              \
    X(warpgroup_arrive, BARRIER, false)  \
    X(barrier, BARRIER, true)            \
    X(imc_miss, CONSTANT, false)         \
    X(wait, LATENCY, true)               \
    X(branch_resolving, LATENCY, false)  \
    X(membar, LATENCY, false)            \
    X(dispatch_stall, ISSUE, false)      \
    X(no_instruction, UNKNOWN, false)    \
    X(sleeping, UNKNOWN, false)          \
    X(misc, UNKNOWN, false)
enum limit_metric {
#define X(id, metric, needed) LIMIT_BY_##id,
    LIMIT_METRICS(X)
#undef X
#define X(reason, kind, needed) LIMIT_STALL_##reason,
        LIMIT_STALLS(X)
#undef X
            LIMIT_METRIC_COUNT
};
const char *limit_metric_name(enum limit_metric m); /* as CUPTI has it */
bool limit_metric_needed(enum limit_metric m);

struct limit_measures {
    double v[LIMIT_METRIC_COUNT];
    bool has[LIMIT_METRIC_COUNT]; /* false: the chip does not have it */
    double cycles; /* that the launch took when it was timed, from start to end; 0: not timed */
    double launch; /* of these, that a launch of nothing takes at most */
};
/* Fills r->limits, without places; n/a where what is needed is missing or makes no sense.
 *
 * The launch spans the cycles of the scheduler that had warps longest: a profiler's range, which has what is before
 * and behind the kernel, too, is longer. What the timed launch took beyond is the launch itself, and where that is
 * more than a launch of nothing takes, what L2 still has to do when all warps have ended.
 *
 * A scheduler's cycles are those in which it issues, those in which it has warps and none issues, and those
 * without a warp. The second are split by what its warps wait for. Of a wait for memory, the share that the
 * busiest of DRAM, L2 and L1 is busy is waiting behind others there, as in a queue of one server; the rest
 * is latency. Queues of shared memory also take constants by an index, by the instructions of both. */
void limits_measured(struct result *r, const struct limit_launch *l, const struct limit_measures *m);
