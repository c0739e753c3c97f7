/* timing_sched: private to the timing half of engine/sim. One scheduler of an SM. */
#pragma once

#include "engine/sim/timing/plan.h"
#include "engine/sim/timing/spent.h"

#define TIMING_SCHEDULERS 8u /* of an SM, at most */

/* What a step can need besides a unit: nothing, or room in the LSU's queue. */
enum { TIMING_WANT_FETCH = UNIT_COUNT, TIMING_WANT_ROOM, TIMING_WANTS };

/* completion of the last n memory instructions; the oldest */
struct timing_ring {
    uint32_t *done;
    struct timing_blame *by; /* [n] who held each */
    uint32_t n;              /* entries */
    uint32_t at;             /* the oldest */
};
/* A scheduler of an SM: its warps that are due, by the unit they need, and when each unit is free. */
struct timing_sched {
    uint32_t any;  /* bits of the wants that some warp is due for */
    uint32_t free; /* when it can issue again */
    uint32_t last; /* of its warps, the one that issued last */
    bool paired;   /* dual issue: another may issue in the same cycle */
    /* when each unit is free; TIMING_WANT_FETCH: 0; TIMING_WANT_ROOM: as last looked at */
    uint32_t from[TIMING_WANTS];
    uint64_t due[TIMING_WANTS];
    struct timing_ring own; /* completion of its last memory instructions */
    uint32_t id;
    uint32_t pc;   /* of the instruction that issued last */
    uint32_t live; /* its warps that have not ended */
};
