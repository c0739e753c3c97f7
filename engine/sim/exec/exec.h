/* exec: private to the functional half (exec_*.c, decode*.c): CTAs, launches, workers. */
#pragma once

#include "engine/sim/exec/warp.h"

#include <pthread.h>

struct exec_was;
struct exec_heap;
struct exec_flight;
struct exec_shadow;
struct exec_shadow_map;
struct tmem;
struct sim_alloc;

#define EXEC_MAX_BARRIERS 16u
struct exec_barrier {
    bool used;           /* someone has arrived */
    uint32_t expected;   /* threads; 0: every thread that has not exited */
    uint32_t *arrived;   /* [nwarps] lane masks */
    uint32_t *waiting;   /* [nwarps] lanes that wait (arrive does not) */
    uint32_t count_true; /* reductions: lanes with a true predicate */
    uint32_t first_line;
};
struct exec_cta {
    struct exec_worker *k;
    struct exec_launch *x;
    uint64_t index;
    uint32_t id[3];         /* %ctaid */
    uint32_t smid;          /* %smid */
    uint32_t first_warpid;  /* %warpid of its warp 0 */
    uint32_t nwarps, ended; /* warps; those that have ended */
    struct exec_warp *warps;
    uint8_t *shared;
    struct tmem *tmem; /* NULL: none was allocated */
    struct exec_barrier bar[EXEC_MAX_BARRIERS];
    uint32_t *bar_words;
    uint8_t *locals;
    uint8_t *sregs; /* BANK_CTA */
    /* exec_cta_run goes on here; the free driver's look at device memory since which it has had a turn
     */
    uint32_t turn_warp, look;
    uint64_t spins;   /* slices in a row that ended in spinning */
    bool parked;      /* it has waited for another CTA */
    bool polls;       /* its last turn ended because all it does is look */
    uint64_t looks;   /* calls of exec_cta_repeats */
    uint64_t state;   /* what it saw at one of them, */
    uint64_t glimpse; /* and a sixteenth of that */
    uint32_t repeats; /* how often that came back */
    bool fault;
    bool refused;     /* it has seen that no CTA was left to be cancelled */
    uint64_t passed;  /* times that one of its barriers has let go */
    uint64_t changes; /* of a part: of its shared and local memory */
    bool used;        /* has been another CTA before */
    bool circles;     /* only repeats itself (the free driver's) */
    struct buf print;
    struct exec_shadow *shadow; /* sanitiser state of shared memory, or NULL */
    struct exec_flight *flight; /* of kernels that copy asynchronously, beside it */
    struct exec_cta *next;      /* queues of the functional driver */
    /* of its cluster: the CTA that stands for it to the outside; [x->cluster_ctas] by rank, kept by the
     * lead */
    struct exec_cta *lead, **peer;
    uint32_t rank;
    bool cluster_used; /* the lead's: a thread has arrived at the cluster's barrier */
    uint64_t order;    /* place among all CTAs: clusters one after the other */
};

/* What went wrong in one CTA, kept as a ready message. */
struct exec_fault {
    bool set;
    uint64_t cta;
    const char *code;
    struct span at;
    uint32_t other_line; /* of the text: the partner of a race; 0: none */
    char msg[640], hint[256];
    enum status status;
};
struct exec_print {
    uint64_t cta;
    char *text;
    size_t n;
};
struct exec_launch {
    struct sim_program *p;
    const struct sim_launch *l;
    uint8_t *params, *sregs;
    uint64_t nparams; /* sregs: BANK_SREG of each warp of a CTA */
    uint32_t warps_per_cta;
    uint32_t shared_bytes; /* of a CTA, static and dynamic */
    uint32_t local_bytes;  /* of a thread */
    struct dim3u cluster;
    uint32_t cluster_ctas;    /* CTAs of a cluster; 1: each is its own */
    bool explicit_cluster;    /* the kernel or the launch says so */
    uint64_t nctas;           /* clusters: what workers take, one after the other */
    struct sim_chosen chosen; /* which of the launch's they are */
    /* clusterlaunchcontrol: takes the next cluster that has not begun, false: none is left; who starts
     * them says so. NULL: none is ever cancelled */
    bool (*take)(void *ctx, uint64_t *index);
    void *take_ctx;
    struct sim_cut cut;
    /* of warps that have ended, in the loop of `cut`, where it ends by itself; least > most: none has */
    uint64_t least_turns, most_turns;
    unsigned threads;
    uint32_t resident; /* clusters that run at one time, at least: what the device holds, or more */
    bool reads_time;   /* the kernel reads a clock: waiting may end by itself */
    /* every access is looked at: a sanitiser option is on, or .nc loads are to read what was */
    bool checks;
    struct sim_hostile hostile; /* of the launch, where it is functional */
    struct sim_sums *sums;      /* of the launch, or NULL */
    struct sim_sides *sides;    /* the same */
    bool serial;                /* one host thread runs the CTAs in order */
    /* what allocations held before the first store into them (hostile.c) */
    struct exec_was *was;
    size_t nwas, cap_was;
    pthread_mutex_t lock; /* guards fault, prints, totals */
    struct exec_fault fault;
    atomic_bool faulted, astray; /* astray: exec_launch_escaped_region */
    atomic_uint_fast64_t fault_cta;
    struct exec_print *prints;
    size_t nprints, cap_prints;
    atomic_uint_fast64_t spent; /* where there is a limit: instructions of all warps so far */
    uint64_t inst_warp;         /* instructions, counted by warp */
    uint64_t inst_thread;       /* and by thread */
    uint64_t inst_of_warp[SIM_CTA_WARPS];
    struct sim_load_stats *loads;    /* [p->nloads] */
    struct exec_shadow_map *shadows; /* global memory, or NULL */
    struct exec_heap *heap;          /* blocks of malloc, or NULL */
    atomic_uint_fast64_t changes;    /* of a part: of global memory */
    bool oom;
};
struct exec_worker {
    struct exec_launch *x;
    uint64_t inst_warp;   /* instructions, counted by warp */
    uint64_t inst_thread; /* and by thread */
    uint64_t inst_of_warp[SIM_CTA_WARPS];
    struct sim_load_stats *loads; /* [p->nloads] */
    /* [p->nmem + 1]: allocation each instruction last used; behind them, uint64_t[p->nmem]: where native
     * code loaded last */
    struct sim_alloc *cache;
    struct exec_frame *free_frames, *frames;
    struct exec_tensor_work tensor;
    uint8_t stray[32];       /* of a part: what an access outside all memory finds */
    bool private_view, lean; /* stores go to copies nobody else sees; lean: of its warps */
    /* [group % 4]: what the first load of `group` (0: none) read for those that follow */
    struct exec_ahead {
        const struct exec_warp *warp;
        uint32_t group, v[EXEC_AHEAD][WARP_LANES];
    } ahead[4];
    struct exec_view {
        uint64_t addr, mapped;
        uint8_t *host;
    } * views;
    size_t nviews, cap_views;
};

void barrier_recheck(struct exec_cta *c); /* barrier.c: after lanes have exited */

static inline void exec_count_product(struct exec_warp *w, const struct exec_inst *in)
{
    if (in->load_id != EXEC_NO_ID)
        w->k->loads[in->load_id].executions++;
}
