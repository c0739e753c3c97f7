/* exec: private to the functional half (exec_*.c, decode*.c).
 *
 * A warp is a set of fragments: lanes that are at the same place. One fragment
 * runs at a time, its pc, mask and frame held in the warp itself. Fragments meet
 * (and merge) at the first instruction of a basic block; the one with the lowest
 * rank runs first, so lanes that ran ahead wait at a place that the others will pass.
 * rank is a loop-aware topological order, hence lanes join at the immediate
 * post-dominator or before it. Waiting is soft: a fragment that spins (atomics,
 * volatile loads) gives the others a turn, as on Volta and later.
 *
 *   frame: registers of one call, 32 lanes wide; fragments that diverge in it share it */
#ifndef GPULOCW_SIM_EXEC_EXEC_H
#define GPULOCW_SIM_EXEC_EXEC_H

#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "engine/sim/decoded.h"
#include "engine/sim/sim.h"
#include "engine/sim/exec/tensor/watch.h"
#include "engine/sim/exec/tensor/work.h"
#include "engine/sim/sim_int.h"

#include <pthread.h>

struct exec_was;
struct exec_access;
struct exec_heap;
struct exec_flight;
struct exec_shadow;
struct exec_shadow_map;
struct tmem;
struct sim_alloc;

#define EXEC_MAX_BARRIERS 16u
/* spinning instructions before another fragment or warp gets a turn */
#define EXEC_SPIN_LIMIT 32u
#define EXEC_TURN       256u       /* instructions such a turn lasts */
#define EXEC_PATIENCE   (1u << 20) /* instructions before others get a turn in any case */

enum frag_state { FRAG_READY, FRAG_BARRIER, FRAG_SYNC, FRAG_MBAR, FRAG_GROUP };
struct exec_frag {
    uint32_t mask, pc;
    struct exec_frame *frame;
    uint8_t state;
    uint8_t barrier; /* FRAG_BARRIER: which */
    uint32_t need;   /* FRAG_SYNC: lanes waited for; FRAG_MBAR: the mbarrier's offset */
    uint64_t stamp;  /* when it last ran */
};

struct exec_frame {
    struct exec_frame *parent;    /* of the caller; NULL: the kernel's */
    struct exec_frame *next_free; /* of the worker's list of frames that nobody uses */
    struct exec_frame *next_made; /* of the worker's list of all its frames */
    const struct exec_func *func;
    const struct exec_inst *call; /* the call in the parent's code; NULL for the kernel */
    uint32_t depth, live;         /* lanes that have not returned */
    size_t cap;                   /* bytes at regs */
    uint32_t base[WARP_LANES];    /* local memory: start of the frame's variables */
    uint32_t top[WARP_LANES];     /* end of what the frame uses (alloca moves it) */
    _Alignas(64) uint8_t regs[];
};

struct exec_warp {
    uintptr_t bank[BANK_COUNT];      /* slot_at */
    uint32_t pc, mask;               /* the running fragment */
    struct exec_frame *frame, *root; /* the running call's registers; the kernel's */
    bool stop;                       /* leave the run loop: blocked, ended, faulted, a turn is over */
    /* machine code: an access of this turn of the loop went by its body */
    bool called;
    bool recording; /* rec is to be filled */
    bool lean;      /* exec_step and exec_straight call exec_inst.lean */
    /* fragments were merged and chosen for the next instruction (exec_warp_peek) */
    bool settled;
    uint32_t nfrag, cur; /* frag[cur] runs; its copy there is stale */
    /* lanes that arrived in this phase of the cluster's barrier; that have yet to wait after arriving */
    uint32_t cluster_in, cluster_owed;
    uint32_t live;  /* lanes that have not exited */
    uint32_t born;  /* lanes that exist (the last warp of a CTA may be partial) */
    uint32_t index; /* in the CTA */
    bool runnable;  /* frag[cur] is loaded and READY */
    /* spinning instructions since the last switch; what is left of a turn */
    uint32_t spins, turn;
    uint64_t since; /* ninst at the last switch */
    uint64_t ninst, nthread;
    int64_t left; /* instructions that native code may still run */
    uint64_t now; /* cycles for %clock */
    struct exec_cta *cta;
    struct exec_worker *k;
    struct exec_launch *x;
    struct exec_access *rec;
    uint8_t *local; /* [WARP_LANES][x->local_bytes] */
    /* pattern of the group last looked at; seq: that group, when all lanes are in sequence, or
     * EXEC_NO_ID */
    struct {
        uint32_t group, mask;
        struct exec_frame *frame;
        uint8_t at;
        uint32_t seq;
    } memo;
    /* [nfrag]: two, or as many as there are lanes once there were more */
    struct exec_frag *frag, two[2];
    /* in frag[]: fragments at different places of one warp-wide operation */
    uint8_t sync_group[WARP_LANES];
    uint32_t nsync;
    struct watch_state watch; /* where sim_program.watched */
    struct exec_mbar_wait mbar;
    struct exec_meet meet;
};
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
    uint64_t spins; /* slices in a row that ended in spinning */
    /* exec_cta_repeats: its calls, what it saw at one, how often that came back */
    uint64_t looks, state;
    uint32_t repeats;
    bool fault;
    bool used;    /* has been another CTA before */
    bool circles; /* only repeats itself (the free driver's) */
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
    uint32_t cluster_ctas; /* CTAs of a cluster; 1: each is its own */
    bool explicit_cluster; /* the kernel or the launch says so */
    uint64_t nctas;        /* clusters: what workers take, one after the other */
    unsigned threads;
    /* every access is looked at: a sanitiser option is on, or .nc loads are to read what was */
    bool checks;
    struct sim_hostile hostile; /* of the launch, where it is functional */
    struct sim_sums *sums;      /* of the launch, or NULL */
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
    bool private_view, lean; /* stores go to copies nobody else sees; lean: of its warps */
    /* [group % 4]: what the first load of `group` (0: none) read for those that follow */
    struct exec_ahead {
        uint32_t group, v[EXEC_AHEAD][WARP_LANES];
    } ahead[4];
    struct exec_view {
        uint64_t addr, mapped;
        uint8_t *host;
    } * views;
    size_t nviews, cap_views;
};

/* ---- fragments (frag.c) ---- */
void frag_start(struct exec_warp *w, uint32_t pc, uint32_t mask);
/* Lanes of `taken` (a proper subset of the running fragment) go to `target`, the rest to w->pc. */
void frag_split(struct exec_warp *w, uint32_t taken, uint32_t target);
/* beside the running one; frame may be another */
void frag_add(struct exec_warp *w, uint32_t mask, uint32_t pc, struct exec_frame *frame);
/* Merges what has met and loads the fragment that should run; clears w->runnable when none can. */
void frag_choose(struct exec_warp *w);
void frag_yield(struct exec_warp *w); /* same, with the running fragment put last: it spins */
/* the running one waits in `state` at code index pc */
void frag_block(struct exec_warp *w, enum frag_state state, uint32_t pc);
void frag_exit(struct exec_warp *w, uint32_t mask); /* lanes leave the running fragment for good */
/* The running fragment is gone without its lanes having ended (they were moved with frag_add). */
void frag_drop(struct exec_warp *w);
void frag_resume(struct exec_warp *w); /* after a barrier: loads a fragment when none runs */
void frame_free_all(struct exec_worker *k);
struct exec_frame *frame_new(struct exec_worker *k, const struct exec_func *f, struct exec_frame *parent,
                             uint32_t mask);
void frame_release(struct exec_worker *k, struct exec_frame *f);
void frame_load(struct exec_warp *w, struct exec_frame *f);

void barrier_recheck(struct exec_cta *c); /* barrier.c: after lanes have exited */

#endif
