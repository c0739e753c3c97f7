/* warp: warps, the fragments that they fall into, the registers of their calls.
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
#pragma once

#include "engine/sim/decoded.h"
#include "engine/sim/exec/tensor/watch.h"
#include "engine/sim/exec/tensor/work.h"

struct exec_access;
struct exec_cta;
struct exec_launch;
struct exec_worker;

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
    uint32_t turns;                   /* in the loop of exec_launch.cut */
    uint64_t nreads;                  /* of exec_step: reads of what others may write */
    uint64_t ninst_seen, nreads_seen; /* ninst and nreads when exec_cta_waits looked last */
    int64_t left;                     /* instructions that native code may still run */
    uint64_t now;                     /* cycles for %clock */
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
