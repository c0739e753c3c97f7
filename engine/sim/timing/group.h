/* group: SMs stepped together, and a launch over all groups. */
#pragma once

#include "engine/rec/limits.h"
#include "engine/sim/sim_int.h"
#include "engine/sim/timing/memory.h"
#include "engine/sim/timing/phase.h"
#include "engine/sim/timing/plan.h"

struct exec_launch;
struct exec_worker;
struct timing_spent;

/* ---- a group of SMs stepped together ---- */
struct timing_launch { /* what all groups of a launch share; read-only while they run */
    struct sim_program *p;
    const struct sim_launch *l;
    const struct sim_preset *g;
    double mhz; /* of the SMs in this kernel */
    struct exec_launch *x;
    struct timing_plan plan;
    uint64_t nctas, shuffle; /* shuffle: multiplier of the random order, 0: none */
    /* CTAs of a cluster; everything else here that counts CTAs counts clusters */
    uint32_t cluster;
    /* SMs that a cluster takes, one for each of its CTAs, or 1: all are on one. So many SMs in a row are
     * a place for clusters; the GPU has `units` of them */
    uint32_t span, units;
    uint32_t warps_per_cta; /* warps of a cluster on an SM */
    uint32_t ctas_per_sm;   /* resident */
    uint32_t held_by;       /* enum dev_limit: why there are not more */
    uint32_t l1_bytes;      /* byte */
    bool sampled;           /* on private memory, and stopped when enough was seen */
    bool bare;              /* whole, on private memory: outputs are not asked for */
    /* the sample computes all instructions, because leaving some out was wrong
     * (exec_launch_escaped_region) */
    bool full;
    bool subset; /* sampled on a few of the SMs */
    bool claims; /* CTAs claim the tasks that they run */
    /* CTAs share out work of a size that only the end of the launch shows */
    bool endless;
    bool talks;            /* CTAs tell each other more than which tasks are claimed */
    struct cache_l2 *left; /* what an earlier launch left; NULL: the buffers say it (cache_l2_warm) */
    bool own_left;         /* of a sample: cache_l2_own_left */
    struct cache_range buffer[64];
    /* of the sample: deviation of CTAs' instructions over their mean, time between groups over the least */
    double uneven, apart;
    uint32_t nbuffers;  /* what a previous run left in L2 */
    uint32_t simulated; /* units per group */
    uint32_t ngroups;
    unsigned threads; /* host threads of one group */
};
struct timing_group {
    const struct timing_launch *t;
    /* cycles: of all lanes, of n sectors' data */
    struct timing_rates {
        double lanes, data[4 * WARP_LANES + 1];
    } rates;
    struct timing_sm *sm;
    uint32_t nsms, nunits; /* unit u: SMs u * span and so on */
    struct exec_worker **worker;
    uint32_t nworkers;
    struct timing_mem mem;
    /* [nworkers][ncode]; the same after the sample was stopped: behind it */
    struct timing_spent *spent;
    uint32_t number; /* of the group */
    /* sampled: where in each round of `round` CTAs the sample's are */
    struct cache_places places;
    uint32_t id[8];
    /* first CTA after the first wave; those dispatched since */
    uint64_t first; /* CTA after the first wave */
    uint64_t round;
    uint64_t given;
    /* CTAs to be dispatched: the grid, or fewer once the budget is used up */
    uint64_t most;
    double step;       /* CTAs the GPU starts per CTA started here */
    double start_free; /* when the dispatcher can start another */
    /* turn: CTAs to have ended before the next look at their rate */
    uint64_t started;
    uint64_t finished;
    uint64_t turn;
    /* of the CTAs that ended: warp instructions, time from begin to end */
    uint64_t finished_inst, finished_cycles;
    double finished_squares; /* of their warp instructions */
    uint32_t now, last_end;
    /* where the rate is taken: warm until dispatch ended */
    struct timing_mark {
        uint32_t at;
        uint64_t inst, done;
    } from, stop, first_turn, last_turn;
    struct timing_mark lap[3]; /* the last times that a budget of instructions was used up */
    /* the budget ended dispatch before the grid was used up; and the running CTAs too */
    bool stopped, abandoned;
    /* looks in a row at which nothing had changed that a warp can see of another, and all waited */
    struct timing_still {
        uint32_t at;
        uint32_t looks;
        uint64_t seen;
    } still;
    bool partial; /* before enough of them had ended to know how long one is */
    enum status status;
    struct timing_phases phases; /* phases: when partial */
    struct diags ds;
};
enum status timing_group_init(struct timing_group *g, const struct timing_launch *t, uint32_t number);
void timing_group_free(struct timing_group *g);
/* Runs to the end of the grid. With a budget (in warp instructions; 0: none) a subset starts no
 * more CTAs after the budget and two waves, and stops the running ones after twice the budget, once
 * the first has ended. All SMs together run at least a wave and a half; of a grid with few waves
 * they leave out whole waves and run to the end. */
void timing_group_run(struct timing_group *g, uint64_t budget);
/* of the whole launch, extrapolated when stopped */
double timing_group_cycles(const struct timing_group *g);
/* Cycles of it after the last slot that counts for a cause; *why: what they are. */
double timing_group_end(const struct timing_group *g, enum limit_cause *why);
/* executed, in whole CTAs' worth of instructions */
double timing_group_ctas(const struct timing_group *g);
uint64_t timing_group_instructions(const struct timing_group *g);

/* pool.c: up to `threads` threads (the caller among them) that run fn(ctx, i), i < n, once per round.
 * NULL: out of memory. */
struct timing_pool;
struct timing_pool *timing_pool_new(unsigned n, unsigned threads, void (*fn)(void *ctx, size_t i),
                                    void *ctx);
void timing_pool_round(struct timing_pool *p);
void timing_pool_free(struct timing_pool *p);
