/* timing_spent: private to the timing half of engine/sim. What the issue slots of schedulers go to.
 *
 * A scheduler issues or waits. A wait ends when a warp issues, and goes to what that warp waited for
 * last: an operand, its unit, room in the load/store unit's queue, or its release (branch, barrier).
 * An operand from memory was in queues for some of its time: the wait goes to them first, since it would
 * be shorter by as much without them. */
#pragma once

#include "engine/rec/limits.h"

struct timing_group;
struct timing_sched;
struct timing_slot;
struct timing_sm;
struct timing_warp;

/* Who is to blame for a wait: an instruction, enum limit_cause. */
struct timing_blame {
    uint32_t pc : 24, cause : 8;
};
static inline struct timing_blame timing_blame_of(uint32_t pc, uint8_t cause)
{
    return (struct timing_blame){ pc & 0xffffff, cause };
}
/* What something took that a warp may wait for. */
struct timing_why {
    struct timing_blame queue; /* of the cycles in queues */
    uint32_t queued;           /* cycle */
    struct timing_blame rest;  /* of the others */
};
/* What a warp may wait for, by the cycle at which it is there: sets of one line of the host's cache, in which
 * the one that is there soonest gives way. */
enum { TIMING_WAIT_BITS = 2, TIMING_WAIT_SETS = 1 << TIMING_WAIT_BITS, TIMING_WAIT_WAYS = 4 };
struct timing_waits {
    _Alignas(64) struct timing_wait {
        uint32_t until;
        struct timing_why why;
    } v[TIMING_WAIT_SETS][TIMING_WAIT_WAYS];
};
/* Arrivals are often multiples of 32 cycles apart. */
static inline uint32_t timing_wait_set(uint32_t until)
{
    return until * 0x9E3779B1u >> (32 - TIMING_WAIT_BITS);
}
/* Brings what is there at `until` into the host's cache. */
static inline void timing_waits_prefetch(const struct timing_waits *w, uint32_t until)
{
    __builtin_prefetch(w->v[timing_wait_set(until)]);
}
static inline void timing_waits_put(struct timing_waits *w, uint32_t until, struct timing_why why)
{
    struct timing_wait *v = w->v[timing_wait_set(until)];
    unsigned k = v[1].until < v[0].until, n = 2 + (v[3].until < v[2].until);
    v[v[n].until < v[k].until ? n : k] = (struct timing_wait){ until, why };
}

/* Where a memory instruction was on its way. */
enum timing_stage {
    STAGE_UNIT,    /* behind others in the load/store unit, its data stage, a constant cache */
    STAGE_TURNS,   /* turns of its own beyond the first: lines, words of one bank */
    STAGE_TRACKER, /* for a miss tracker, or room for sectors in flight */
    STAGE_L2,
    STAGE_DRAM,
    STAGE_ATOMICS,
    STAGE_COUNT
};
struct timing_stages {
    float took[STAGE_COUNT]; /* cycle */
};

/* What a unit has been doing lately: the cause with the most cycles, and its last instruction. */
enum { TIMING_LATELY = 64 }; /* instructions */
struct timing_occupant {
    struct timing_blame by;
    double cycles;
};
static inline void timing_occupy(struct timing_occupant *o, struct timing_blame by, double cycles)
{
    if (o->by.cause == by.cause) {
        o->cycles += cycles;
        o->by.pc = by.pc;
    } else if (o->cycles > cycles)
        o->cycles -= cycles;
    else
        *o = (struct timing_occupant){ by, cycles - o->cycles };
    o->cycles *= 1 - 1.0 / TIMING_LATELY;
}

/* The memory instruction that an SM is issuing, and what its like did before. */
struct timing_memory_wait {
    uint32_t pc;
    struct timing_stages stages; /* of the line that is the last to come */
    struct timing_stages line;   /* of the line looked at */
    struct timing_stages missed; /* of the last line that missed */
    double tracked;              /* cycles for which it kept the unit, waiting for trackers */
    struct timing_blame ahead;   /* who is ahead of it */
    uint8_t miss_by;             /* what holds the tracker of the last miss, enum limit_cause */
    uint8_t own_turns, rest;     /* what its own turns and its other cycles are, enum limit_cause */
    struct timing_why why;       /* what it took */
    struct timing_occupant lsu_by, const_by;
};

/* An instruction's part of it, of the SMs of one worker. */
struct timing_spent {
    uint64_t cycles[LIMIT_COUNT]; /* of schedulers */
    uint64_t read;                /* bytes that loads brought from L2 */
    uint64_t used;                /* bytes that their lanes asked for */
    uint64_t stored;              /* bytes of sectors stored to L2 */
    uint64_t kept;                /* bytes that lanes stored */
    uint64_t atomics;             /* bytes of sectors that atomics took to L2 */
    uint64_t local;               /* bytes of local memory brought from L2 */
};

/* The instruction of o issues at t, after a wait of its scheduler. */
void timing_spend_wait(struct timing_sm *s, const struct timing_sched *q, const struct timing_warp *w,
                       const struct timing_slot *o, uint32_t room, uint32_t t);
/* What the stages of an instruction say to who waits for it. pc: its own. */
struct timing_why timing_why_of(const struct timing_sm *s, const struct timing_stages *x, uint32_t pc,
                                uint8_t turns, uint8_t rest);

/* Makes room in the group: [ncode] for each worker, twice: before and after it was stopped. */
bool timing_spent_new(struct timing_group *g);
void timing_spent_free(struct timing_group *g);
/* The launch has ended: SMs that were done before waited for the others. */
void timing_spent_end(struct timing_group *g);
/* From here on what is spent is the end of a sample, and counts for no cause. */
void timing_spent_stop(struct timing_group *g);
/* The rows of n groups, one for each instruction that has one; *rows: owned by the caller. */
enum status timing_spent_take(const struct timing_group *g, uint32_t n, struct limit_row **rows,
                              size_t *nrows, struct limit_launch *l);
