/* sim_int: private to engine/sim. What the functional half (mem, program,
 * decode_*, exec_*) and the timing half (cache_*, time_*) share.
 *
 *   sim_load --> struct sim_program: code[] (one exec_inst per PTX instruction)
 *   exec_launch_new --> launch-wide state      (one per sim_run)
 *   exec_worker_new --> per host thread state  (counters, allocation cache)
 *   exec_cta_new    --> registers, shared and local memory of one CTA; reusable
 *   exec_step       --> one warp instruction, with what it did
 *
 * The timing half calls exec_step on any warp in any order; the functional half
 * runs the same bodies without filling the record. A CTA and its warps belong to
 * one host thread at a time; CTAs of one launch may run on different threads. */
#ifndef GPULOCW_SIM_SIM_INT_H
#define GPULOCW_SIM_SIM_INT_H

#include "engine/sim/sim.h"

#define WARP_LANES 32u
#define EXEC_FULL  0xffffffffu
#define EXEC_NO_ID UINT32_MAX
#define EXEC_AHEAD 7u

struct exec_warp;
struct exec_cta;
struct exec_frame;
struct exec_launch;
struct exec_worker;
struct exec_inst;

/* ---- decoded instructions ---- */
/* Runs the instruction for the lanes of `mask` (never 0). */
typedef void exec_fn(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);

enum exec_kind {              /* what the run loop has to do besides calling the body */
                 EXEC_PLAIN,  /* registers only: call the body, next */
                 EXEC_MEM,    /* may fault */
                 EXEC_SYNC,   /* warp-synchronous: waits for the lanes of its member mask */
                 EXEC_CONTROL /* the body moves w->pc itself (branch, call, ret, exit, barrier) */
};

/* Loads and stores of one element that lane kernels may serve without looking at every lane's address.
 */
enum exec_quick {
    QUICK_NONE,
    QUICK_GLOBAL /* 64-bit base, global or constant memory */,
    QUICK_SHARED /* 32-bit base */
};

/* A 32-lane value: byte offset into one of the warp's banks, bank in the low two
 * bits. Predicates are one 32-bit word (bit = lane); 8, 16 and 32-bit values are
 * uint32_t[32] with the upper bits zero; 64-bit values uint64_t[32]; 128-bit
 * values uint64_t[2][32]. */
enum exec_bank { BANK_FRAME, BANK_CONST, BANK_SREG, BANK_CTA, BANK_COUNT };

/* Cache behaviour asked for by a load, store or prefetch (section 9.7.9.1). */
enum exec_cop {
    COP_NONE,
    COP_CA,
    COP_CG,
    COP_CS,
    COP_LU,
    COP_CV /* .volatile, .relaxed.sys too */,
    COP_WB,
    COP_WT
};
enum exec_evict {
    EVICT_NONE,
    EVICT_NORMAL,
    EVICT_FIRST,
    EVICT_LAST,
    EVICT_UNCHANGED,
    EVICT_NO_ALLOCATE
};
struct exec_policy {
    uint8_t cop;          /* enum exec_cop */
    uint8_t l1;           /* enum exec_evict from .L1::x */
    uint8_t l2;           /* enum exec_evict from .L2::x (without createpolicy) */
    uint8_t nc;           /* .nc: read-only path */
    uint16_t l2_prefetch; /* 0, 64, 128, 256 bytes */
    uint16_t hint;        /* operand slot index + 1 of .L2::cache_hint; 0: none */
};

struct exec_inst {
    exec_fn *fn;
    /* in a timing sample: fn, or what is left of it; NULL: nothing (timing_slice.c) */
    exec_fn *lean;
    uint32_t dst, dst2;      /* slots; EXEC_NO_ID: none (a sink) */
    uint32_t a, b, c, d;     /* sources; d: member mask of EXEC_SYNC */
    uint32_t guard;          /* predicate slot, EXEC_NO_ID when unguarded */
    uint8_t guard_neg, kind; /* enum exec_kind */
    uint8_t flags;           /* EXEC_F_*, meaning is the body's */
    uint8_t leader;          /* first of a basic block: fragments may meet here */
    uint8_t spin;            /* an instruction that a spinning loop must contain */
    /* instructions from here on that need nothing of the run loop but to be called; 0: this one does */
    uint16_t run;
    uint8_t fast_path;  /* enum exec_quick */
    uint8_t reads_time; /* reads a clock: instructions must have been counted one by one */
    /* schedule order within the function: lower runs first, so that paths meet */
    uint32_t rank;
    int32_t imm;               /* address offset, small constant */
    uint32_t target;           /* branch target in code[] */
    uint32_t next;             /* code index of the following instruction */
    uint8_t cls;               /* enum ptx_class */
    uint8_t space;             /* enum ptx_space of a memory instruction */
    uint8_t bytes, vec, store; /* per element; elements; st rather than ld */
    /* enum exec_reach (mem.h); REACH_ANY where nobody relies on it (sim_program.apart) */
    uint8_t reach;
    uint32_t load_id; /* static id of a global load (index into stats.loads), EXEC_NO_ID */
    uint32_t mem_id;  /* per-instruction allocation cache */
    /* accesses of one block with the same unchanged base register: alike in pattern; 0: none */
    uint32_t group;
    /* the group, for all of it but the first: that one looks at the lanes; 0: it, or no group */
    uint32_t follows;
    /* a first load: how many that follow it in its run want words this many bytes further on */
    uint8_t nahead, ahead[EXEC_AHEAD];
    uint8_t nth;         /* such a load: its place among them, from 1 */
    uint16_t ndst, nsrc; /* scoreboard: function register indices, destinations then sources */
    const uint32_t *regs;
    struct exec_policy policy;
    const void *x; /* what does not fit: owned by the program's arena */
    const struct ptx_inst *ptx;
    const struct exec_func *func;
};

struct exec_func { /* a decoded function */
    const struct ptx_func *ptx;
    uint32_t first, n; /* code[first .. first+n) */
    uint32_t index;
    uint32_t frame_bytes; /* registers of one warp */
    uint32_t *zero;
    uint32_t nzero;              /* 128-byte units that may be read before written */
    uint32_t local_bytes, nregs; /* local_bytes: .local and .param variables of one thread */
    /* [nregs] slots, EXEC_NO_ID: not used; several have one that are never live at once */
    uint32_t *reg_slot;
    /* [nregs] the same for what is known of the time: numbers below nready; shared if no block uses both
     */
    uint32_t *ready_slot, nready;
    /* [ptx->nvars] .local, .param: offset in the frame; .shared: in shared memory */
    uint64_t *var_off;
    /* device functions: [nrets + nparams] offsets of formal parameters in the frame */
    uint64_t *param_off;
    /* of the same: slots of those that are registers, EXEC_NO_ID for the others */
    uint32_t *formal_slot;
};

/* enum ptx_sreg; PTX_SREG_NONE: the parameter at that offset */
struct exec_sreg {
    uint16_t sreg;
    int8_t comp;
    uint8_t bytes;
    uint32_t slot, param;
};
struct exec_symbol {
    const struct ptx_symbol *sym;
    uint64_t addr, bytes;
}; /* placed module variable */

struct sim_program {
    const struct ptx_module *module;
    struct arena *arena;
    struct sim_mem *mem;
    struct sim_preset preset;
    struct exec_inst *code;
    uint32_t ncode;
    struct exec_func *funcs;
    uint32_t nfuncs; /* funcs[0] is the kernel */
    uint8_t *constants;
    uint32_t const_bytes; /* BANK_CONST: broadcast immediates */
    struct exec_symbol *symbols;
    uint32_t nsymbols; /* .global, .const and .shared */
    /* of them, what module-scope .global and .const are called: the host's way to them */
    struct strmap by_name;
    /* device addresses, 0: not used; malloc's heap, and what %envreg1 and 2 point to */
    uint64_t heap, grid_space;
    uint32_t shared_static; /* bytes; dynamic shared begins at shared_dyn */
    uint32_t shared_dyn;
    /* per thread, all frames of the deepest non-recursive chain */
    uint32_t local_bytes;
    /* special registers the code reads (sreg.c) */
    struct exec_sreg *sregs;
    uint32_t nsregs, sreg_bytes[BANK_COUNT];
    uint32_t nloads, nmem;          /* static global loads; memory instructions */
    const struct exec_inst **loads; /* [nloads] */
    uint32_t regs;                  /* estimated 32-bit registers per thread */
    /* ordered: results depend on the order of CTAs: one thread runs them */
    bool recursive, ordered;
    /* no contents of global memory reach what the timing of a launch depends on */
    bool timing_ignores_data;
    /* only those of module variables do: a sample leaves buffers as they are, as long as accesses stay
     * where exec_inst.reach says */
    bool timing_reads_only_symbols;
    /* the lane bodies that the code is made of (lanes.h) */
    exec_fn *const *lanes;
    bool no_native; /* no machine code is to be made, or an attempt was */
    /* made by the first functional launch; NULL: none (native.h) */
    struct native *native;
};

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
    bool branched, diverged;   /* pc did not fall through; lanes went two ways */
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
/* Becomes CTA `index` (x fastest) of the launch; smid and first_warpid give %smid and %warpid. */
void exec_cta_start(struct exec_cta *c, uint64_t index, uint32_t smid, uint32_t first_warpid);
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

/* ---- the two modes of sim_run ---- */
/* functional: launch.c */
enum status exec_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                     struct diags *ds);
/* timed: timing.c */
enum status timing_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                       struct diags *ds);

/* ---- memory, seen from inside ---- */
struct sim_alloc {
    uint64_t addr, n;
    uint8_t *host;
    const char *name;
    bool constant, variable; /* variable: a module's, not constant */
};
/* The allocation that holds addr, or NULL. Allocations do not change during a launch. */
const struct sim_alloc *sim_mem_find(const struct sim_mem *m, uint64_t addr);
/* The allocation nearest to addr (for messages), or NULL when there is none. */
const struct sim_alloc *sim_mem_nearest(const struct sim_mem *m, uint64_t addr);

#endif
