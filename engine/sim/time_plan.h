/* time_plan: private to the timing half of engine/sim. What each instruction of a
 * program costs on a preset, and the order in which a region of it issues. */
#ifndef GPULOCW_SIM_TIME_PLAN_H
#define GPULOCW_SIM_TIME_PLAN_H

#include "engine/sim/cache_int.h"

#define TIME_REGION 64u              /* instructions scheduled together at most */

enum time_unit { UNIT_ALU, UNIT_IMUL, UNIT_FP32, UNIT_FP16, UNIT_FP64, UNIT_SFU, UNIT_CVT, UNIT_MOVE, UNIT_CONTROL, UNIT_WARP,
                 UNIT_LSU, UNIT_TENSOR, UNIT_COUNT };
enum time_flag { TIME_MEMORY = 1, TIME_BARRIER = 2, TIME_ALONE = 4 /* a region of its own */, TIME_ENDS = 8 /* ends its region */,
                 TIME_FREE = 16 /* no machine instruction: folded away by the assembler */, TIME_FENCE = 32,
                 TIME_ASYNC = 64 /* waits for asynchronous copies */,
                 TIME_ONE_WORD = 128 /* an atomic whose address is known to be the same for all lanes */,
                 TIME_SPLITS = 256 /* ends its region, wherever in it it issues: what comes after waits for its result */,
                 TIME_CALL = 512 /* a call, or a return from one */ };
struct time_op {
    uint16_t flags;
    uint8_t unit;
    uint8_t late;                    /* cycles after its operands are there that it can issue */
    uint16_t slots;                  /* machine instructions it stands for */
    uint16_t busy;                   /* cycles one scheduler's unit is taken */
    uint16_t latency;                /* issue to result */
    uint16_t each;                   /* of a call of the driver's: more cycles per lane */
    uint32_t region;
    uint32_t base;                   /* scoreboard slot of the function's register 0 */
};
/* An instruction at its place in the issue order of its region, with all that issuing it takes. Nearly all have one result
 * and few operands: those stand here, so that the scoreboard is read without a loop. */
#define TIME_NEAR 4u
struct time_slot {
    uint32_t pc;
    uint32_t near[TIME_NEAR];        /* scoreboard slots of results and operands; TIME_ZERO: none */
    uint32_t dst;                    /* of the one result; TIME_SINK: there is none */
    uint32_t regs;                   /* scoreboard slots at plan->regs[regs]: ndst results, then nsrc operands */
    uint16_t busy, latency, slots, flags, each;
    uint8_t unit, late;
    uint16_t ndst, nsrc;
    bool many;                       /* more results or operands than stand here */
    bool holds;                      /* what comes after may have to wait for more than the issue interval */
};
/* Scoreboard slots before a warp's registers: always ready; written, never read. */
enum { TIME_ZERO, TIME_SINK, TIME_OWN_SLOTS };
struct time_region { uint32_t first, n, order; };   /* code[first..+n); in issue order at plan->slot[order..+n) */
struct time_plan {
    const struct sim_program *p;
    struct time_op *op;              /* [ncode] */
    struct cache_route *route;       /* [ncode]: of loads without a cache hint */
    struct time_region *region; uint32_t nregions;
    uint8_t *order;                  /* offsets from region.first */
    struct time_slot *slot;          /* [ncode]: parallel to order */
    uint32_t *regs;
    uint32_t nslots;                 /* scoreboard slots of one warp, the first TIME_OWN_SLOTS included */
    struct arena *arena;
};
enum status time_plan_make(struct time_plan *t, const struct sim_program *p, const struct sim_preset *g);
void time_plan_free(struct time_plan *t);
/* time_uniform.c: sets TIME_ONE_WORD. */
void time_uniform(struct time_plan *t);
/* time_call.c: costs of calls, returns and parameters. */
void time_calls(struct time_plan *t, const struct sim_preset *g);
/* time_fold.c: 64-bit sums, and what goes into them. */
void time_fold(struct time_plan *t, const struct sim_preset *g);

#endif
