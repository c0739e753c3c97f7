/* time_sched: private to the timing half of engine/sim. One scheduler of an SM. */
#ifndef GPULOCW_SIM_TIME_SCHED_H
#define GPULOCW_SIM_TIME_SCHED_H

#include "engine/sim/time_plan.h"

#define TIME_SCHEDULERS 8u           /* of an SM, at most */

/* What a step can need besides a unit: nothing, or room in the LSU's queue. */
enum { TIME_WANT_FETCH = UNIT_COUNT, TIME_WANT_ROOM, TIME_WANTS };

struct time_ring { uint32_t *done, n, at; };        /* completion of the last n memory instructions; the oldest */
/* A scheduler of an SM: its warps whose step has come, by what it needs, and when there is that. */
struct time_sched {
    uint32_t any;                    /* bits of the wants that some warp is due for */
    uint32_t free;                   /* when it can issue again */
    uint32_t last;                   /* of its warps, the one that issued last */
    bool paired;                     /* dual issue: another may issue in the same cycle */
    uint32_t from[TIME_WANTS];       /* when each unit is free; TIME_WANT_FETCH: 0; TIME_WANT_ROOM: as last looked at */
    uint64_t due[TIME_WANTS];
    struct time_ring own;            /* completion of its last memory instructions */
    uint32_t id;
};

#endif
