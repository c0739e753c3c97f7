/* stats: what a simulated launch came to. */
#pragma once

#include "engine/rec/limits.h"
#include "engine/sim/work.h"

struct sim_preset;

#define SIM_CTA_WARPS 32u
#define SIM_CLASSES   4u
struct sim_load_stats {
    uint32_t func;
    uint32_t inst;
    uint32_t line;
    uint64_t executions /* warp-level */, requests, sectors, l1_hits, threads;
    uint64_t flop; /* timed: operations of one execution; 0: no product */
    uint8_t pipe;  /* enum pipe, where there are any */
};
struct sim_stats {
    double time_ns, cycles; /* n/a (NaN) when functional */
    double clock_mhz;       /* of the SMs meanwhile; 0: not timed */
    uint64_t least_turns,
        most_turns;          /* functional, sim_launch.cut.turns == 0: of the warps in that loop */
    uint64_t ctas, all_ctas; /* functional: clusters that ran, of the launch */
    uint64_t inst_warp, inst_thread;
    /* functional: of the warps at each place in their CTA */
    uint64_t inst_of_warp[SIM_CTA_WARPS];
    uint64_t l1_requests, l1_sectors, l1_hits, l2_reads, l2_hits, l2_writes, dram_read_bytes,
        dram_write_bytes;
    /* sectors that reads missing in L2 brought, neighbours too, and those of the other partition */
    uint64_t l2_missed;
    struct sim_work work;
    double warps_active; /* percent */
    bool sampled;
    uint64_t timed_turns, turns; /* of the kernel's loop; 0: no turn was left out */
    double sample_share;         /* share of the CTAs that were timed */
    /* timed on copies: the buffers are as they were before the launch, unless */
    bool dry;
    bool made; /* the outputs were made beside it; */
    /* they were, but the launch is one to time whole: start once more without */
    bool again;
    uint32_t ctas_per_sm;
    /* Above 0: CTAs so long that the sample saw none end, or that share out work. Counters are the
     * sample's, time is n/a, until sim_stats_complete is told the warp instructions of the whole launch
     * (`whole`: a functional run of it). */
    double cycles_per_inst, lead_cycles;
    /* the same where the warps of a CTA do not keep step; owned */
    struct sim_part *parts;
    uint32_t nparts;
    /* per static global load and product of matrices; owned, base_free */
    struct sim_load_stats *loads;
    uint32_t nloads;
    /* timed: what each instruction took of the schedulers' slots; owned, base_free */
    struct limit_row *spent;
    size_t nspent;
    struct limit_launch slots;
    char *print;
    size_t nprint; /* vprintf output; owned */
};
/* What a sample saw while some classes of warps ran. rate: warp instructions per cycle of one warp. */
struct sim_phase {
    double cycles, rate[SIM_CLASSES];
    struct sim_stats seen;
};
/* Class k ends with phase k; class_of: of a warp's place in its CTA. waves: CTAs one after the other in
 * one place. */
struct sim_part {
    uint32_t nclasses;
    uint32_t nphases;
    uint32_t warps;
    uint64_t ctas;
    double waves;
    uint8_t class_of[SIM_CTA_WARPS];
    struct sim_phase phase[SIM_CLASSES];
};
void sim_stats_free(struct sim_stats *s);
/* Adds what another part of the same functional launch has counted. */
void sim_stats_join(struct sim_stats *s, const struct sim_stats *more);
/* Also where CTAs ended, but shorter ones than the launch has on the average. */
void sim_stats_complete(struct sim_stats *s, const struct sim_preset *p, const struct sim_stats *whole);
