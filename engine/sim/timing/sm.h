/* sm: one SM: schedulers, scoreboard, units, load/store unit. */
#pragma once

#include "engine/rec/counters.h"
#include "engine/sim/cache/cache.h"
#include "engine/sim/cache/l1.h"
#include "engine/sim/step.h"
#include "engine/sim/timing/sched.h"
#include "engine/sim/timing/timing_int.h"
#include "engine/sim/timing/wheel.h"

struct cache_l2_request;
struct timing_access;
struct timing_mem;
struct timing_work;

/* ---- an SM ---- */
struct timing_cta {
    struct exec_cta *x;
    uint64_t index, inst;
    uint32_t first_warp; /* slot of its first warp */
    uint32_t nwarps;     /* warps */
    uint32_t live;       /* warps that have not ended */
    uint32_t begun;      /* cycle of its start */
    uint8_t place;
    bool used;
    /* of the first SM of a unit: parts of the cluster that have ended, their instructions */
    uint8_t parts;
    uint64_t parts_inst;
};
/* of one CTA and scheduler: its warps there, by (w / schedulers); the last that issued */
struct timing_turns {
    uint64_t warps;
    uint32_t last;
};
struct timing_ended {
    uint32_t slot;  /* CTA slot */
    uint32_t at;    /* cycle of its end */
    uint32_t begun; /* cycle of its start */
    uint64_t inst;
};
/* a read on its way from L2 */
struct timing_flight {
    uint64_t line : 56, sectors : 4, answers : 4;
    uint32_t until; /* cycle at which it arrives */
    uint32_t since; /* cycle at which it left */
    uint32_t nth;   /* among the reads of the SM */
    uint32_t load;  /* among the loads of the SM */
};
struct timing_load_count {
    uint64_t executions; /* warp instructions */
    uint64_t requests;   /* warp instructions */
    uint64_t sectors;    /* of 32 bytes */
    uint64_t l1_hits;    /* sectors */
    uint64_t threads;    /* active lanes */
};
enum { TIMING_LOOPED = 16 }; /* words remembered */
struct timing_sm {
    struct timing_group *group;
    uint32_t id;             /* %smid */
    uint32_t index;          /* among the simulated */
    struct timing_sm *first; /* of its unit; it is the `rank`-th there */
    uint32_t rank;
    uint32_t ran;    /* everything before that cycle has issued */
    uint32_t nwarps; /* warp slots */
    void *warp_room; /* what `warp` lies in */
    /* [nwarps]; warp w is the (w / schedulers)-th of scheduler w % schedulers */
    struct timing_warp *warp;
    /* [nwarps]: earliest cycle for its next step; TIMING_NEVER: waits for others */
    uint32_t *ready;
    uint32_t *age;             /* [nwarps]: order of arrival */
    struct timing_wheel wheel; /* the warps whose next step lies ahead */
    /* [nwarps]: what its next step needs, enum timing_unit or TIMING_WANT_* */
    uint8_t *wants;
    struct timing_sched *sched;       /* [TIMING_SCHEDULERS] */
    uint32_t look[TIMING_SCHEDULERS]; /* before that nothing that is due can step */
    /* the scheduler of a warp slot; which of that one's warps */
    uint8_t sched_of[TIMING_SM_WARPS], nth_of[TIMING_SM_WARPS];
    uint32_t nscheds, interval; /* schedulers; cycles between issues */
    uint8_t policy;
    bool dual; /* in which order warps are taken; two issue in one cycle */
    /* scheduler that goes first among those that step at the same time */
    uint32_t turn;
    uint32_t at; /* earliest step of any warp */
    uint32_t *scoreboard;
    struct timing_work *work;   /* [nwarps] */
    struct timing_waits *waits; /* [nwarps], in waits_room */
    void *waits_room;
    struct timing_cta *cta;
    uint32_t nctas;
    uint8_t *order;             /* [nctas]: CTA slots, the one with the oldest CTA first */
    struct timing_turns *turns; /* [nctas * TIMING_SCHEDULERS] */
    struct cache_l1 l1, ro;     /* load/store unit */
    bool has_ro;
    double heap_free; /* when malloc's heap has served this SM's lanes */
    /* out_free: what reads and stores leave by */
    double lsu_free, const_free;           /* cycle; const_free: of reads of constants by an index */
    uint32_t *const_line;                  /* 1 + lines of its constant cache, the latest first, 0: none;
                                              made when it first reads one */
    double remote_free, data_free;         /* cycle */
    double port_free, store_free;          /* cycle */
    double out_free;                       /* cycle: what reads and stores leave by */
    double copy_free;                      /* cycle: of the tensor copy engine */
    double tensor_shared;                  /* cycle: until which tensor cores read shared memory, */
    double tensor_share;                   /* and the share of its bandwidth that they take */
    double tensor_free[TIMING_SCHEDULERS]; /* cycle: of the tensor core of a scheduler */
    /* things that mbarriers are told later, in no order; the soonest */
    struct timing_late {
        struct exec_late l;
        uint64_t cta; /* index of the CTA, which may be over */
        uint32_t slot, at;
        struct timing_why why; /* what it took */
    } * late;
    size_t nlate, cap_late;
    uint32_t late_at;
    uint64_t maps;            /* tensor maps that its copies have used: a bit each, of 64 */
    double ask_free;          /* cycle */
    struct timing_ring queue; /* completion of the last l1_queue memory instructions */
    struct timing_ring held;  /* when the last atomics whose unit was full could go */
    /* the last words of shared memory that warps added floats to (loops of compare-and-swap) */
    struct timing_looped {
        uint32_t word; /* address / 4 */
        uint32_t cta;  /* slot */
        double free;   /* cycle from which the next warp's lanes succeed */
    } looped[TIMING_LOOPED];
    /* when the memory instruction being issued leaves the queue; 0: never was in it */
    uint32_t left;
    /* [nmshrs] arrival of the last misses; what they waited for, enum limit_cause; the oldest */
    uint32_t *mshr;
    uint8_t *mshr_by;
    uint32_t nmshrs;
    uint32_t mshr_at;
    /* [nroom] arrival of the last sectors missed; the oldest. nroom 0: any number */
    uint32_t *room;   /* [nroom] arrival of the last sectors missed */
    uint32_t nroom;   /* entries; 0: any number */
    uint32_t room_at; /* the oldest */
    /* [TIMING_FLIGHTS], by line; NULL: reads are not merged. Those that left */
    struct timing_flight *flight;
    uint32_t loads_in, reads;
    /* cycles per queue that this SM's requests of the epoch take */
    double slice_added, channel_added;
    struct cache_l2_request *request;
    size_t nrequests, cap_requests;
    struct timing_ended *ended;
    uint32_t nended;
    struct timing_spent *spent; /* where its slots go: [ncode], of all SMs of a worker */
    double resident;            /* warps of a scheduler, summed over the cycles that latency took */
    struct timing_memory_wait now;
    /* counters */
    uint64_t inst_warp;                   /* warp instructions */
    uint64_t inst_thread;                 /* thread instructions */
    uint64_t l1_requests;                 /* warp instructions */
    uint64_t l1_sectors;                  /* of 32 bytes */
    uint64_t l1_hits;                     /* sectors */
    uint64_t warp_cycles;                 /* cycle */
    uint64_t flop[PIPE_COUNT];            /* operations */
    uint64_t count[COUNTERS_MOST];        /* those that are summed up */
    uint64_t tensor_busy;                 /* cycle, of all its tensor cores */
    uint64_t load_cycles, loading_cycles; /* sim_work */
    uint64_t copies;                      /* bulk and tensor copies */
    uint64_t copy_reads, copy_writes;     /* sectors */
    /* [nwarps] warp instructions of the slot; [nloads] */
    uint64_t *warp_inst;
    struct timing_load_count *loads;
    /* warps begun; cycles of the first CTA's start and the last warp's end */
    uint32_t arrivals;
    uint32_t begun, until;
    bool fault, oom;
};
enum status timing_sm_init(struct timing_sm *s, struct timing_group *g, uint32_t id, uint32_t index);
void timing_sm_free(struct timing_sm *s);
/* Issues everything before cycle `end`. */
void timing_sm_run(struct timing_sm *s, uint32_t end);
uint32_t timing_sm_next(const struct timing_sm *s);
/* warp-cycles, those under way included */
uint64_t timing_sm_residency(const struct timing_sm *s, uint32_t now);
/* cycles between its first CTA's start and its last's end */
uint32_t timing_sm_active(const struct timing_sm *s, uint32_t now);
/* A CTA of sampled place `place` begins in slot `slot` at cycle `at`. */
void timing_sm_start(struct timing_sm *s, uint32_t slot, uint64_t cta, uint8_t place, uint32_t at);

/* warp.c: executes the next region of w at cycle t; *first: where its issue order begins. */
enum fetch_result { FETCH_READY, FETCH_BLOCKED, FETCH_ENDED, FETCH_FAULT };
enum fetch_result timing_warp_fetch(struct timing_sm *s, struct timing_warp *w, uint32_t t,
                                    const struct timing_slot **first);

/* call.c: a call or return of `lanes` lanes issues at t; returns when the warp goes on. */
uint32_t timing_call_until(struct timing_sm *s, const struct timing_slot *o, uint32_t lanes, uint32_t t);

/* late.c: told at cycle `at` to the CTA in `slot`; all that is due at t. */
void timing_late_put(struct timing_sm *s, uint32_t slot, const struct exec_late *l, uint32_t at,
                     struct timing_why why);
void timing_late_run(struct timing_sm *s, uint32_t t);
/* Sets when a warp that is in no list and has nothing left to issue steps next. */
void timing_ready_at(struct timing_sm *s, uint32_t w, uint32_t at);
/* Warps of the cluster in `slot` of the unit's SMs that waited and can go on at t, do so `after` cycles.
 */
void timing_wake(struct timing_sm *s, uint32_t slot, uint32_t t, uint32_t after);
/* The same of warps that waited for something that took `why`. */
void timing_wake_for(struct timing_sm *s, uint32_t slot, uint32_t t, uint32_t after,
                     const struct timing_why *why);
/* tensor.c: a copy's lines; a product. When it is done. */
uint32_t timing_copy(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                     const struct timing_access *a, uint32_t t);
void timing_product(struct timing_sm *s, struct timing_warp *w, uint32_t scheduler,
                    const struct timing_slot *o, uint32_t t);
/* What products in flight leave of the bandwidth of shared memory at t. */
double timing_shared_left(const struct timing_sm *s, double t);
/* When the groups of products that `in` waits for are there. */
uint32_t timing_groups(const struct timing_warp *w, const struct exec_inst *in);
/* lsu.c: a memory instruction issues at t; returns when its result is there. TIMING_NEVER never. */
uint32_t timing_lsu_issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                          const struct exec_inst *in, const struct timing_access *a, uint32_t t);
/* Who holds the LSU's queue until timing_lsu_room. */
static inline struct timing_blame timing_lsu_holder(const struct timing_sm *s,
                                                    const struct timing_sched *q)
{
    bool all = s->queue.done[s->queue.at] > q->own.done[q->own.at];
    return all ? s->queue.by[s->queue.at] : q->own.by[q->own.at];
}
/* Earliest cycle at which the LSU takes another instruction of scheduler q. */
static inline uint32_t timing_lsu_room(const struct timing_sm *s, const struct timing_sched *q)
{
    uint32_t all = s->queue.done[s->queue.at], own = q->own.done[q->own.at];
    return all > own ? all : own;
}

/* mem.c: latency pieces seen within an epoch; *r is told which queues it takes. */
/* Brings what the SM keeps of reads of the line on their way into the host's cache. */
static inline void timing_mem_prefetch(const struct timing_sm *s, uint64_t line)
{
    if (s->flight)
        __builtin_prefetch(&s->flight[cache_mix(line) % TIMING_FLIGHTS]);
}
uint32_t timing_mem_read(struct timing_sm *s, struct cache_l2_request *r, uint8_t granule);
uint32_t timing_mem_write(struct timing_sm *s, struct cache_l2_request *r);
uint32_t timing_mem_atomic(struct timing_sm *s, struct cache_l2_request *r);
void timing_mem_quiet(struct timing_sm *s, struct cache_l2_request *r); /* prefetch into L2 */
/* Enters the requests of all SMs of the group, in order, and ends the epoch at `end`. */
void timing_mem_enter(struct timing_mem *m, struct timing_sm *sms, uint32_t nsms, uint32_t end);
