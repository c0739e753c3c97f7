/* step: executing a program warp by warp, and what one step did. */
#pragma once

#include "engine/sim/decoded.h"

struct exec_cta;
struct exec_launch;
struct exec_worker;

/* ---- what one step did ---- */
enum exec_access_kind {
    ACCESS_NONE,
    ACCESS_LOAD,
    ACCESS_STORE,
    ACCESS_ATOMIC /* returns a value */,
    ACCESS_RED,
    ACCESS_PREFETCH,
    ACCESS_ASYNC /* global to shared */
};
struct exec_access {
    uint8_t kind; /* enum exec_access_kind */
    /* enum ptx_space after generic addresses are resolved: GLOBAL SHARED LOCAL CONST PARAM;
     * SHARED_CLUSTER: of another CTA */
    uint8_t space;
    uint8_t level;  /* prefetch: 1 or 2 */
    uint8_t shape;  /* enum exec_shape: which of addr[] are set */
    uint16_t bytes; /* per lane (elements times their size) */
    uint32_t mask;  /* lanes that access `space` */
    /* above 0: bytes of one run that begins at addr[0]; mask, bytes and addr show its first 4 KiB in
     * pieces of 128 */
    uint32_t bulk;
    /* of a bulk or tensor copy: all that it touches in global memory, line << 4 | sectors; in the worker
     */
    const uint64_t *box;
    uint32_t nbox;
    uint8_t fill; /* of a tensor copy: sectors that L2 fetches together where one lacks; 0: as it does */
    uint64_t hint;             /* createpolicy value of the first lane; 0: none (exec_hint_*) */
    uint64_t addr[WARP_LANES]; /* GLOBAL and CONST: device address; others: offset in the space */
};
enum exec_shape {
    SHAPE_EACH, /* every lane of the mask has its own address in addr[] */
    SHAPE_SAME, /* all are at addr[0] */
    SHAPE_SEQ   /* all 32 lanes, `bytes` apart, from addr[0] on */
};
/* Sets addr[] of every lane. */
void exec_access_spread(struct exec_access *a);
enum exec_event {
    STEP_DONE,
    STEP_BARRIER /* arrived; see exec_warp_blocked */,
    STEP_EXIT /* some lanes ended */,
    STEP_BLOCKED /* nothing ran: the warp waits or has ended */,
    STEP_FAULT /* see exec_fault_report */
};
struct exec_step {
    const struct exec_inst *inst;
    uint8_t event;             /* enum exec_event */
    bool branched;             /* pc did not fall through */
    bool woke;                 /* warps that waited for their warpgroup may go on */
    uint32_t active, mask;     /* lanes of the running path; those whose guard holds */
    uint32_t pc;               /* code index */
    struct exec_access access; /* kind ACCESS_NONE when not a memory instruction (or mask == 0) */
};
/* Who wants to know what the instructions of exec_straight did to memory. False: no more of them. */
typedef bool exec_note_fn(void *ctx, uint32_t nth, const struct exec_access *a);

/* ---- running ---- */
/* l, p must outlive it. ST_USAGE / ST_DEVICE with a diagnostic when the launch cannot run at all. */
enum status exec_launch_new(struct sim_program *p, const struct sim_launch *l, struct exec_launch **out,
                            struct diags *ds);
void exec_launch_free(struct exec_launch *x);
/* CTAs of a cluster, as the launch or the kernel says; {1, 1, 1}: none. Not checked: exec_launch_new
 * does. */
struct dim3u exec_cluster_of(const struct sim_program *p, const struct sim_launch *l);
struct exec_worker *exec_worker_new(struct exec_launch *x); /* NULL: out of memory */
/* A worker whose stores (and atomics) nobody else sees: it reads global memory as it was when the worker
 * was made plus its own stores, and exec_worker_free drops them. Timed samples run on it: several at
 * once must neither see each other nor change the buffers (e.g. memory in one memfd range, mapped again
 * MAP_PRIVATE). */
struct exec_worker *exec_worker_new_private(struct exec_launch *x);
/* Its CTAs, made from now on, do only what the timing of the launch depends on: no values that nothing
 * but outputs need. */
void exec_worker_lean(struct exec_worker *k);
void exec_worker_free(struct exec_worker *k); /* adds its counters to the launch */

/* State for one CTA at a time; NULL: out of memory. */
struct exec_cta *exec_cta_new(struct exec_worker *k);
/* Becomes CTA `index` (x fastest) of the launch; smid and first_warpid give %smid and %warpid. Those of
 * a cluster are on one SM, or on one SM each, from smid on (`apart`). */
void exec_cta_start(struct exec_cta *c, uint64_t index, uint32_t smid, uint32_t first_warpid,
                    bool apart);
void exec_cta_free(struct exec_cta *c);
uint32_t exec_cta_nwarps(const struct exec_cta *c);
struct exec_warp *exec_cta_warp(struct exec_cta *c, uint32_t i);
bool exec_cta_done(const struct exec_cta *c);
/* No warp can go on, and not all have ended: a fault is recorded. */
bool exec_cta_stuck(struct exec_cta *c);

bool exec_warp_done(const struct exec_warp *w);
/* Waits at a barrier (or for other lanes in a way only other warps can resolve). */
bool exec_warp_blocked(const struct exec_warp *w);
/* The instruction exec_step would run next; NULL when blocked or done. */
const struct exec_inst *exec_warp_peek(struct exec_warp *w);
/* Executes the next instruction of w. `now`: cycles, for %clock and %globaltimer. */
void exec_step(struct exec_warp *w, uint64_t now, struct exec_step *out);
/* The next `most` instructions of w at once, or fewer: none where lanes are apart, up to the first that
 * needs the run loop (branches, barriers, warp operations), faults, or that `note` stops at. Returns how
 * many were executed. Each memory access is put in *a and told to `note` with the number of its
 * instruction; *active: the lanes of the path. */
uint32_t exec_straight(struct exec_warp *w, uint64_t now, uint32_t most, struct exec_access *a,
                       exec_note_fn *note, void *ctx, uint32_t *active);
/* Brings what the next `most` instructions of w will read into the host's cache: there are far more
 * warps than fit. */
void exec_warp_prefetch(const struct exec_warp *w, uint32_t most);
/* Ends all its lanes where they are. */
void exec_warp_end(struct exec_warp *w);
bool exec_warp_faulted(const struct exec_warp *w);

/* Functional: runs until done, fault, or `budget` warp instructions. */
enum exec_run_result { RUN_DONE, RUN_BUDGET, RUN_SPIN /* waits for another CTA, likely */, RUN_FAULT };
enum exec_run_result exec_cta_run(struct exec_cta *c, uint64_t budget);

/* an access went where exec_inst.reach says that none goes: a lean worker may have left out what matters
 */
bool exec_launch_escaped_region(const struct exec_launch *x);
/* True once any CTA has faulted; the lowest CTA's fault is the one reported. */
bool exec_launch_faulted(const struct exec_launch *x);
enum status exec_fault_report(const struct exec_launch *x, struct diags *ds);
/* What the launch printed, in CTA order; counters of all freed workers. */
void exec_launch_stats(struct exec_launch *x, struct sim_stats *out);

/* createpolicy values (section 9.7.9.18): what a cache hint asks for. */
enum exec_evict exec_hint_primary(uint64_t hint);
enum exec_evict exec_hint_secondary(uint64_t hint);
double exec_hint_fraction(uint64_t hint);
/* createpolicy.range: the primary priority in the pages of 4 KiB that hold its primary window, the
 * secondary elsewhere; false: not a range policy. */
bool exec_hint_range(uint64_t hint, uint64_t addr, enum exec_evict *kind);

/* A functional run in pieces: any thread may take its share of the CTAs, in any order; the end runs what
 * is left, and frees. Programs whose CTAs must go in order run at the end. */
struct exec_drive;
enum status exec_drive_new(struct sim_program *p, const struct sim_launch *l, struct exec_drive **out,
                           struct diags *ds);
void exec_drive_share(struct exec_drive *d);
enum status exec_drive_end(struct exec_drive *d, struct sim_stats *out, struct diags *ds);

/* ---- what asynchronous operations tell mbarriers later ---- */
/* On such a worker copies move their data when they are issued, and the mbarrier is told by
 * exec_late_tell, when whoever times them says. A thread that waits for an mbarrier blocks. */
struct exec_late {
    uint64_t bar;      /* address of the mbarrier in the cluster's shared memory */
    uint32_t bytes;    /* transaction bytes */
    uint32_t arrivals; /* of cp.async.mbarrier.arrive, or of a thread of another CTA */
    bool remote;       /* of another CTA: told when it has come there, whatever copies are under way */
    bool starts;       /* from the unit that starts CTAs, as far away as L2 */
};
void exec_worker_late(struct exec_worker *k);
/* What the instructions executed since the last call leave to be told; *n of them. Good until the next
 * instruction of the worker. */
const struct exec_late *exec_late_take(struct exec_worker *k, uint32_t *n);
struct exec_worker *exec_cta_worker(const struct exec_cta *c);
void exec_late_tell(struct exec_cta *lead, const struct exec_late *l);
/* Rank in its cluster of the CTA that is told. */
uint32_t exec_late_rank(const struct exec_late *l);

/* ---- the two modes of sim_run ---- */
/* functional: launch.c */
enum status exec_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                     struct diags *ds);
/* Of a kernel that limits its registers: those that it gets for loads ahead of their uses (order.c) where more
 * are allowed than it needs, and the bytes that it spills where fewer are. Nothing where no memory is left. */
void timing_estimate(struct sim_program *p);
/* timed: timing.c */
enum status timing_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                       struct diags *ds);
