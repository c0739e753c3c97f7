/* warp: a warp whose instructions are timed. */
#pragma once

#include "engine/sim/timing/plan.h"
#include "engine/sim/timing/spent.h"

struct exec_warp;
struct timing_access;

/* ---- warps ---- */
enum warp_state { WARP_EMPTY, WARP_RUN, WARP_BARRIER, WARP_ENDED };
struct timing_work {           /* memory accesses executed and not yet issued */
    double drained;            /* when the data stage has room for another of the warp's loads */
    struct timing_access *mem; /* [nmem <= TIMING_MEMS] */
    uint64_t *lines;           /* [nlines <= TIMING_LINES] */
    /* room for as many as its regions have had */
    uint16_t nmem;
    uint16_t nlines;
    uint16_t cap_mem;
    uint16_t cap_lines;
    uint64_t *box; /* lines of copies */
    size_t nbox, cap_box;
    struct exec_late *late; /* [nlate <= TIMING_LATES] */
    size_t nlate, cap_late;
    uint32_t tensor;   /* when the last product is there */
    uint32_t group[8]; /* the same of the last groups of products; ngroups counts all */
    uint32_t ngroups;
    uint32_t async;                  /* when the last asynchronous copy arrives */
    uint32_t loading;                /* when the data of all its loads are there */
    struct timing_waits *waits;      /* of the SM */
    uint32_t held_at;                /* pc of what held the warp back last */
    uint8_t lanes;                   /* that executed the last instruction */
    bool woke;                       /* what was executed lets others of its warpgroup go on */
    uint8_t mem_of[TIMING_TOGETHER]; /* of place lo + i: index in mem + 1; 0: none */
};
/* An SM walks from warp to warp and waits for this record each time, so it fits one line of the
 * host's cache. */
struct timing_warp {
    /* issues next; NULL: what was executed has been issued */
    _Alignas(64) const struct timing_slot *next;
    uint32_t *slot; /* scoreboard: cycle at which each register is ready */
    struct timing_work *work;
    struct exec_warp *x;
    uint32_t operands; /* when those of `next` are there */
    uint32_t region;   /* in the plan: what was fetched last */
    uint32_t release;  /* not before: branch, barrier, fence */
    uint32_t started;
    uint8_t lo;      /* the first place of the region that was executed and has not wholly issued, */
    uint8_t hi;      /* and the end of them */
    uint8_t last;    /* where the last copy of the region's code in them begins */
    uint8_t pending; /* of what was executed, how many are still to issue */
    uint8_t state;
    bool bypass; /* hardware threshold: L1 is not for this warp */
    /* the region ended in a taken branch; ends now: its class has been timed */
    bool branched, gone;
    uint8_t cta, index; /* slot on the SM; in the CTA: there are TIMING_SM_WARPS at most */
};
_Static_assert(sizeof(struct timing_warp) == 64, "one line");
/* The first line of a warp's local memory: a number that no device address reaches. */
uint64_t timing_local_line(const struct timing_sm *s, const struct timing_warp *w);
