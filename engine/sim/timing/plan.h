/* timing_plan: private to the timing half of engine/sim. What each instruction of a
 * program costs on a preset, and the order in which a region of it issues. */
#pragma once

#include "engine/rec/counters.h"

struct cache_route;
struct sim_preset;
struct sim_program;

#define TIMING_REGION   64u  /* instructions scheduled together at most */
#define ALWAYS_REGS     32u  /* registers of a thread: with as many an SM has all its warps */
#define TIMING_TOGETHER 192u /* the same, of copies of a loop's body */

enum timing_unit {
    UNIT_ALU,
    UNIT_IMUL,
    UNIT_FP32,
    UNIT_FP16,
    UNIT_FP64,
    UNIT_SFU,
    UNIT_CVT,
    UNIT_MOVE,
    UNIT_CONTROL,
    UNIT_WARP,
    UNIT_LSU,
    UNIT_TENSOR,
    UNIT_COUNT
};
enum timing_flag {
    TIMING_MEMORY = 1,
    TIMING_BARRIER = 2,
    TIMING_ALONE = 4 /* a region of its own */,
    TIMING_ENDS = 8 /* ends its region */,
    TIMING_FREE = 16 /* no machine instruction: folded away by the assembler */,
    TIMING_FENCE = 32,
    TIMING_ASYNC = 64 /* waits for asynchronous copies */,
    TIMING_ONE_WORD = 128 /* an atomic whose address is known to be the same for all lanes */,
    TIMING_SPLITS = 256 /* ends its region wherever it issues in it: the following instructions wait for
                           its result */
    ,
    TIMING_CALL = 512 /* a call, or a return from one */,
    TIMING_PRODUCT = 1024 /* wgmma.mma_async, and its commit */,
    TIMING_GROUPS = 2048 /* waits for groups of products */,
    TIMING_RELEASE = 4096 /* its warp goes on after its latency: what it did is seen by others first */,
    TIMING_STEP = 8192 /* of copies of a loop's body the last one's is a machine instruction */,
    TIMING_OFFSET = 16384 /* the first one's is: the others are offsets of it */,
    TIMING_HALF = 32768 /* the load before it has the same result under the opposite guard */
};
struct timing_op {
    uint16_t flags;
    uint8_t unit;
    uint8_t late;     /* cycles after its operands are there that it can issue */
    uint16_t slots;   /* machine instructions it stands for */
    uint16_t busy;    /* cycles one scheduler's unit is taken */
    uint16_t latency; /* issue to result */
    /* of a call of the driver's: more cycles per lane; of a product: cycles of shared memory */
    uint16_t each;
    uint32_t region;
    /* the load whose value it has, or that is made for both, plus one (ptx_same_of, ptx_joined_of); 0: none */
    uint32_t same;
    uint32_t base;  /* scoreboard slot of the function's register 0 */
    uint32_t spill; /* values loaded for it and stored to make room, from t->spill[spill] on */
    uint8_t spill_loads, spill_stores;
    /* of shared memory, joined with others: bytes of a lane, 0: its own; they begin so many before its own */
    uint8_t wide, before;
};
/* A value that goes to local memory, or comes from it: where in the thread's stack, in words. */
struct timing_spill {
    uint32_t at;
    uint8_t words;
    bool store;
};
/* An instruction at its place in the issue order of its region, with all that issuing it takes. Nearly
 * all have one result and few operands: those stand here, so that the scoreboard is read without a loop.
 */
#define TIMING_NEAR 4u
struct timing_slot {
    uint32_t pc;
    uint32_t near[TIMING_NEAR]; /* scoreboard slots of results and operands; TIMING_ZERO: none */
    uint32_t dst;               /* of the one result; TIMING_SINK: there is none */
    /* scoreboard slots at plan->regs[regs]: ndst results, then nsrc operands */
    uint32_t regs;
    uint16_t busy;    /* cycles a scheduler's unit is taken */
    uint16_t latency; /* cycles from issue to result */
    uint16_t slots;   /* machine instructions */
    uint16_t flags;   /* TIMING_* */
    uint16_t each;    /* more cycles per lane (calls of the driver) */
    uint8_t unit, late;
    uint16_t ndst, nsrc;
    uint8_t at; /* place in its region, with the copies before it */
    bool many;  /* more results or operands than stand here */
    /* what comes after may have to wait for more than the issue interval */
    bool holds;
    bool spills; /* see timing_op */
};
/* Scoreboard slots before a warp's registers: always ready; written, never read. */
enum { TIMING_ZERO, TIMING_SINK, TIMING_OWN_SLOTS };
/* code[first..+n), `copies` times; in issue order at plan->slot[order..+n * copies) */
struct timing_region {
    uint32_t first;  /* instruction */
    uint32_t n;      /* instructions */
    uint32_t order;  /* where in plan->order */
    uint32_t copies; /* turns of a loop that are scheduled together; 1: none */
    /* copies > 1: results of one copy, at plan->left[left..+nleft), and those of the next behind them */
    uint32_t left, nleft;
};
/* What a copy of a loop's body leaves in scoreboard slots of its own is the register's when the copies
 * have issued. */
struct timing_left {
    uint32_t own, reg; /* scoreboard slots */
    uint32_t at;       /* place of the instruction */
};
struct timing_plan {
    const struct sim_program *p;
    struct timing_op *op;      /* [ncode] */
    struct cache_route *route; /* [ncode]: of loads without a cache hint */
    struct timing_region *region;
    uint32_t nregions;
    uint8_t *order;           /* places in the region */
    struct timing_slot *slot; /* parallel to order */
    struct timing_left *left;
    uint32_t *regs;
    /* scoreboard slots of one warp, the first TIMING_OWN_SLOTS included */
    uint32_t nslots;
    uint32_t nown; /* the first of those that copies of loops have */
    /* [ncode + 1] operations of one thread in code[0 .. i), by pipe; NULL: the pipe is not used */
    uint64_t *work[PIPE_COUNT];
    bool tensor_unknown;        /* products of tensor memory: neither operations nor time are known */
    bool maps_ready;            /* the kernel prefetches its tensor maps */
    uint32_t live;              /* registers in use at once, of the region that has most */
    struct timing_spill *spill; /* owned */
    uint32_t nspill;
    struct arena *arena;
};
/* flops.c: fills work and tensor_unknown. */
void timing_flops(struct timing_plan *t);
enum status timing_plan_make(struct timing_plan *t, const struct sim_program *p,
                             const struct sim_preset *g);
void timing_plan_free(struct timing_plan *t);
/* The instruction at a place of the region is none of the machine's: another copy's does its work. */
static inline bool timing_repeats(const struct timing_plan *t, const struct timing_region *r,
                                  uint32_t at)
{
    uint32_t copy = at / r->n;
    uint16_t f = t->op[r->first + at % r->n].flags;
    return (f & TIMING_STEP && copy + 1 < r->copies) || (f & TIMING_OFFSET && copy > 0);
}
/* unroll.c: how many copies of the region ptxas makes one block of. Sets TIMING_STEP, TIMING_OFFSET. */
uint32_t timing_copies(struct timing_plan *t, const struct timing_region *r, const struct sim_preset *g);
/* order.c: fills t->order for the region. */
void timing_order(struct timing_plan *t, const struct timing_region *r, const struct sim_preset *g);
/* call.c: costs of calls, returns and parameters. */
void timing_calls(struct timing_plan *t, const struct sim_preset *g);
/* fold.c: 64-bit sums, and what goes into them. */
void timing_fold(struct timing_plan *t, const struct sim_preset *g);
