/* device: what is known of a device. */
#pragma once

#include "engine/base/base.h"

/* ---- what a device is ---- */
enum dev_kind { DEV_SIMULATED, DEV_CUDA };
/* What the memory-cost model knows of an SM and of the way to L2, by the preset fields of the same
 * meaning (engine/sim/preset.def has units); one list, for presets, the wire and what a driver does not
 * tell. All 0: unknown. Cycles are SM cycles. */
#define DEV_SM(X)                 \
    X(l1_ways)                    \
    X(l1_tags)                    \
    X(l1_fill_buffers)            \
    X(l1_hash)                    \
    X(l1_random_candidates)       \
    X(l1_sector)                  \
    X(l1_latency)                 \
    X(l1_tag_banks)               \
    X(l1_bytes_per_cycle)         \
    X(l1_mshrs)                   \
    X(l1_reserve)                 \
    X(l1_bypass_allocates)        \
    X(l1_prefetch)                \
    X(l1_plain)                   \
    X(l1_ca)                      \
    X(l1_write)                   \
    X(l1_queue)                   \
    X(lanes_lsu)                  \
    X(scheduler_policy)           \
    X(ro_bytes)                   \
    X(ro_ways)                    \
    X(ro_sector)                  \
    X(ro_latency)                 \
    X(icnt_bytes_per_cycle)       \
    X(icnt_write_bytes_per_cycle) \
    X(icnt_write_cycles)          \
    X(l2_distinct)                \
    X(l2_request_bytes)           \
    X(l2_write)                   \
    X(l2_fill)                    \
    X(l2_merge)                   \
    X(l2_slices)                  \
    X(l2_atomics_per_cycle)       \
    X(l2_atomic_cycles)           \
    X(dram_scatter)               \
    X(lat_shared)                 \
    X(lat_barrier)                \
    X(cta_rate)                   \
    X(cta_cycles)                 \
    X(cta_latency)                \
    X(launch_ns)                  \
    X(reg_unit)                   \
    X(warp_unit)                  \
    X(regs_per_thread)            \
    X(unified_bytes)              \
    X(shared_reserved)            \
    X(shared_unit)                \
    X(cluster_sms_4)              \
    X(cluster_sms_8)              \
    X(cluster_sms_16)             \
    X(carve_default)              \
    X(carve_0)                    \
    X(carve_1)                    \
    X(carve_2)                    \
    X(carve_3)                    \
    X(carve_4)                    \
    X(carve_5)                    \
    X(carve_6)                    \
    X(carve_7)                    \
    X(carve_8)                    \
    X(carve_9)                    \
    X(schedulers)                 \
    X(shared_system_ctas)         \
    X(l2_merge_answers)           \
    X(l2_warm_share)              \
    X(l2_atomic_unit_bytes)       \
    X(l2_atomic_room)             \
    X(predict_first_share)        \
    X(predict_merge_window)       \
    X(predict_together)           \
    X(predict_bank_turns)         \
    X(predict_pool_ways)          \
    X(predict_pool_picks)
struct dev_sm {
#define X(f) double f;
    DEV_SM(X)
#undef X
};

/* Shares of a simulated or modelled time between which 80 of 100 measured times lie, by the preset
 * fields of the same name; all 0: no GPU was compared. engine/rec/interval.h applies them. */
#define DEV_SPREAD(X)           \
    X(spread_plain_low)         \
    X(spread_plain_high)        \
    X(spread_pi_low)            \
    X(spread_pi_high)           \
    X(spread_pi_gain_low)       \
    X(spread_pi_gain_high)      \
    X(spread_agent_low)         \
    X(spread_agent_high)        \
    X(spread_agent_gain_low)    \
    X(spread_agent_gain_high)   \
    X(spread_regs_gain_low)     \
    X(spread_regs_gain_high)    \
    X(spread_coarsen_gain_low)  \
    X(spread_coarsen_gain_high) \
    X(spread_persist_gain_low)  \
    X(spread_persist_gain_high) \
    X(spread_model_low)         \
    X(spread_model_high)
struct dev_spread {
#define X(f) float f;
    DEV_SPREAD(X)
#undef X
};

struct dev_info {
    enum dev_kind kind;
    char spec[128];                  /* what --device named: sim:hopper-h200, cuda:0 */
    char name[128];                  /* NVIDIA H200 */
    int cc_major, cc_minor;          /* compute capability */
    uint32_t sms;                    /* count */
    uint32_t warp_size;              /* lanes */
    uint32_t max_warps_per_sm;       /* resident */
    uint32_t max_ctas_per_sm;        /* resident */
    uint32_t max_threads_per_block;  /* threads */
    uint32_t regs_per_sm;            /* 32-bit registers */
    uint32_t shared_per_sm;          /* byte */
    uint32_t shared_per_block_optin; /* byte */
    /* l1_bytes: L1 data capacity at no shared use */
    uint64_t l1_bytes;
    uint64_t l2_bytes;
    uint64_t mem_bytes;
    /* most of L2 that can be set aside for persisting lines; 0: none */
    uint64_t l2_persist_bytes;
    uint32_t clock_khz;
    /* load-to-use, cycles; 0: unknown */
    double lat_l1;
    double lat_l2;
    double lat_dram;
    double bw_l2, bw_dram; /* bytes per second; 0: unknown */
    /* warp instructions an SM issues per cycle; 0: unknown */
    double issue_per_cycle;
    /* cycles from an instruction to one that needs it; 0: unknown */
    double lat_alu;
    /* requests a cycle that L2 answers when all SMs read the same lines at once; 0: unknown */
    double l2_shared_rate;
    /* L2's time for a sector written in part, in sectors; 0: unknown */
    double l2_partial_write;
    struct dev_sm sm;
    struct dev_spread spread;
};

/* What a launch asks of the device, as it is in the end. */
struct dev_cta {
    uint64_t threads;
    uint32_t regs;    /* of a thread; 0: not known, they limit nothing */
    uint64_t shared;  /* byte, static and dynamic, without what the system keeps */
    uint64_t cluster; /* CTAs of a cluster; 0 and 1: none */
    int carveout;     /* percent of the SM's shared memory that is preferred; -1: the driver's choice */
};
/* What lets no more CTAs be resident. */
enum dev_limit {
    DEV_LIMIT_SLOTS,
    DEV_LIMIT_WARPS,
    DEV_LIMIT_REGS,
    DEV_LIMIT_SHARED,
    DEV_LIMIT_CLUSTER,
    DEV_LIMITS
};
struct dev_resident {
    uint32_t ctas_per_sm; /* of a launch without clusters; 0: none fits */
    enum dev_limit limit;
    uint64_t shared_cta;  /* byte that a CTA takes, in the device's units, with what the system keeps */
    uint64_t carveout;    /* byte of shared memory that the SM has for them */
    uint64_t shared_most; /* byte that it can have without another preference */
    uint64_t l1_bytes;    /* left for L1 */
    uint32_t places;   /* groups of SMs that have a cluster's CTAs, each `span` SMs (no cluster: SMs) */
    uint32_t span;     /* 1: the device has no such groups, and a cluster lies on one SM */
    uint32_t clusters; /* of a place */
    uint64_t ctas;     /* of the whole device */
};
/* The CTAs of a launch that a device holds at once, by CTA slots, warps, registers and shared memory in
 * the units in which they are handed out, and the groups of SMs that clusters can use. Limits that the
 * record does not have limit nothing, except warps: then none fits. */
struct dev_resident dev_resident(const struct dev_info *d, const struct dev_cta *cta);
/* Has a CTA as much shared memory as it may have, or less? */
bool dev_fits(const struct dev_info *d, const struct dev_cta *cta);
/* Does the record have all that decides this? */
bool dev_resident_known(const struct dev_info *d);
/* Warps whose registers an SM has; UINT32_MAX: not known. */
uint32_t dev_warps_of_regs(const struct dev_info *d, uint32_t regs);
/* Most registers of a thread with which an SM has room for so many warps; 0: not known. ptxas keeps to
 * it for .maxntid and .minnctapersm (13.0, sm_90). */
uint32_t dev_regs_of_warps(const struct dev_info *d, uint64_t warps);
/* What the directives of a kernel promise; 0: nothing. */
struct dev_bounds {
    uint64_t threads; /* of a CTA, at most */
    uint64_t ctas;    /* of an SM, at least */
    uint32_t maxnreg; /* registers of a thread, at most */
};
/* Most registers that ptxas leaves a thread under them; one that asks for less than DEV_REGS_LEAST gets
 * as many all the same, and it ignores more CTAs than an SM can have (ptxas 13.0; compute capability 5.0
 * and later). */
#define DEV_REGS_LEAST 24u
uint32_t dev_regs_allowed(const struct dev_info *d, const struct dev_bounds *b);
const char *dev_limit_name(enum dev_limit limit); /* "shared memory" */
