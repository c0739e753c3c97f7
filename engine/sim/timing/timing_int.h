/* time_int: private to the timing half of engine/sim.
 *
 *   timing_plan    what each instruction costs, and the order ptxas would give it
 *   timing_fold    additions of addresses, as an assembler makes them
 *   timing_call    what calls, returns and the driver's functions cost
 *   timing_access  32 addresses -> sectors per line, bank conflicts
 *   timing_warp    runs a region of a warp's code (exec_step) and keeps it to be timed
 *   timing_sm      schedulers, scoreboard, units: which warp issues when
 *   timing_lsu     load/store unit and L1; requests to the memory system
 *   timing_mem     L2 slices, DRAM channels, interconnect: shared by the SMs of a group
 *   timing_group   SMs stepped together in epochs; CTA dispatch
 *   timing_pool    host threads that step the SMs of a group
 *   timing_phase   warps that do not keep step, in launches longer than the sample
 *   time         sampling policy, extrapolation, statistics
 *
 * Every cost of an issued instruction is known when it issues: queues are kept as
 * the time at which they are next free, so nothing is ever called back and SMs
 * jump from event to event. The SMs of a group advance by epochs of EPOCH cycles.
 * Within one they see L2 as it was at its start and note their requests, entered
 * in order after it. So numbers do not depend on how many host threads ran it. */
#ifndef GPULOCW_SIM_TIMING_TIMING_INT_H
#define GPULOCW_SIM_TIMING_TIMING_INT_H

#include "engine/sim/cache/cache.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/phase.h"
#include "engine/sim/timing/plan.h"
#include "engine/sim/timing/sched.h"
#include "engine/sim/timing/wheel.h"

#define TIMING_NEVER    UINT32_MAX
#define TIMING_EPOCH    128u /* cycles; shorter than any trip to L2 */
#define TIMING_MEMS     32u  /* memory instructions kept per warp */
#define TIMING_LINES    256u /* lines kept per warp */
#define TIMING_SM_WARPS 128u
#define TIMING_FLIGHTS  2048u
/* reads of an SM after which one is forgotten by what merges reads, at most; and cycles */
#define TIMING_MERGE 72u
enum { TIMING_LOOP = 1 /* no machine instruction does it at once */, TIMING_SWAP };

/* ---- the memory system of a group ---- */
struct timing_queue {
    double free;
};
struct timing_share {
    uint64_t inverse;
    uint32_t n;
}; /* to divide by n without a division */
struct timing_mem {
    const struct sim_preset *g;
    /* met: reads on their way, by line and neighbourhood; NULL: no SMs' are merged */
    struct cache_l2 l2;
    struct timing_met *met;
    struct timing_queue *slice, *channel;
    uint32_t nslices, nchannels;
    struct timing_share by_slice, by_channel, by_unit;
    /* atomic units, one per slice of the GPU: in a sample too, since few addresses meet in few */
    struct timing_queue *unit;
    uint32_t nunits;
    /* lately: sectors L2 has to write back per sector stored; share of reads that met another SM's */
    double written_back, merged;
    double scale;                           /* SMs of the GPU per simulated SM */
    double slice_bytes, channel_bytes;      /* bytes per cycle of one queue */
    double port_cycles[CACHE_SECTORS + 1];  /* of a read, by sectors: cycles at its SM's port, */
    double ask_cycles[CACHE_SECTORS + 1];   /* of its SM's share of all slices, */
    double slice_cycles[CACHE_SECTORS + 1]; /* at each slice if spread over all */
    /* in a sample: cycles a read that all SMs make at once holds up its SM's next ones */
    double crowd_cycles;
    double turn_cycles;   /* cycles per byte of an SM's share of all slices */
    double atomic_cycles; /* cycles one turn of an atomic takes at a slice */
    /* cycles that the epoch's requests take of the channels; share of their time taken lately */
    double busy, load;
    double active;            /* simulated SMs that asked for anything in the last epoch */
    uint32_t epoch, entering; /* start of the current epoch; end of the one being entered */
    /* counters, of the simulated SMs */
    uint64_t reads, hits, brought, writes;
    double dram_read, dram_write;
};
/* places: NULL when every SM is simulated. */
enum status timing_mem_init(struct timing_mem *m, const struct sim_preset *g,
                            const struct cache_places *places, struct sim_mem *mem);
void timing_mem_free(struct timing_mem *m);

/* ---- warps ---- */
enum warp_state { WARP_EMPTY, WARP_RUN, WARP_BARRIER, WARP_ENDED };
struct timing_work {           /* memory accesses executed and not yet issued */
    double drained;            /* when the data stage has room for another of the warp's loads */
    struct timing_access *mem; /* [nmem <= TIMING_MEMS] */
    uint64_t *lines;           /* [nlines <= TIMING_LINES] */
    uint16_t nmem, nlines, cap_mem, cap_lines; /* room for as many as its regions have had */
    uint32_t async;                            /* when the last asynchronous copy arrives */
    uint8_t lanes;                             /* that executed the last instruction */
    uint8_t mem_of[TIMING_REGION];             /* of code[lo + i]: index in mem + 1; 0: none */
};
/* An SM goes from warp to warp, each time waiting for what stands here: it lies in one line of the
 * host's cache. */
struct timing_warp {
    /* issues next; NULL: what was executed has been issued */
    _Alignas(64) const struct timing_slot *next;
    uint32_t *slot; /* scoreboard: cycle at which each register is ready */
    struct timing_work *work;
    struct exec_warp *x;
    uint32_t operands; /* when those of `next` are there */
    uint32_t lo, hi;   /* code executed and not wholly issued: code[lo..hi) */
    uint32_t release;  /* not before: branch, barrier, fence */
    uint32_t started;
    uint8_t pending; /* of what was executed, how many are still to issue */
    uint8_t state;
    bool bypass; /* hardware threshold: L1 is not for this warp */
    /* the region ended in a taken branch; ends now: its class has been timed */
    bool branched, gone;
    uint8_t cta, index; /* slot on the SM; in the CTA: there are TIMING_SM_WARPS at most */
};
_Static_assert(sizeof(struct timing_warp) == 64, "one line");

/* ---- an SM ---- */
struct timing_cta {
    struct exec_cta *x;
    uint64_t index, inst;
    uint32_t first_warp, nwarps, live, begun;
    uint8_t place;
    bool used;
};
/* of one CTA and scheduler: its warps there, by (w / schedulers); the last that issued */
struct timing_turns {
    uint64_t warps;
    uint32_t last;
};
struct timing_ended {
    uint32_t slot, at, begun;
    uint64_t inst;
};
/* a read on its way from L2 */
struct timing_flight {
    uint64_t line : 56, sectors : 4, answers : 4;
    uint32_t until, since, nth, load;
};
struct timing_load_count {
    uint64_t executions, requests, sectors, l1_hits, threads;
};
struct timing_sm {
    struct timing_group *group;
    uint32_t id;     /* %smid */
    uint32_t index;  /* among the simulated */
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
    struct timing_work *work; /* [nwarps] */
    struct timing_cta *cta;
    uint32_t nctas;
    uint8_t *order;             /* [nctas]: CTA slots, the one with the oldest CTA first */
    struct timing_turns *turns; /* [nctas * TIMING_SCHEDULERS] */
    /* load/store unit */
    struct cache_l1 l1, ro;
    bool has_ro;
    double heap_free; /* when malloc's heap has served this SM's lanes */
    /* out_free: what reads and stores leave by */
    double lsu_free, remote_free, data_free, port_free, store_free, out_free, ask_free;
    struct timing_ring queue; /* completion of the last l1_queue memory instructions */
    /* when the memory instruction being issued leaves the queue; 0: never was in it */
    uint32_t left;
    uint32_t *mshr, nmshrs, mshr_at; /* [nmshrs] arrival of the last misses; the oldest */
    /* [nroom] arrival of the last sectors missed; the oldest. nroom 0: any number */
    uint32_t *room, nroom, room_at;
    /* [TIMING_FLIGHTS], by line; NULL: reads are not merged. Those that left */
    struct timing_flight *flight;
    uint32_t loads_in, reads;
    /* cycles per queue that this SM's requests of the epoch take */
    double slice_added, channel_added;
    struct cache_l2_request *request;
    size_t nrequests, cap_requests;
    struct timing_ended *ended;
    uint32_t nended;
    /* counters */
    uint64_t inst_warp, inst_thread, l1_requests, l1_sectors, l1_hits, warp_cycles;
    /* [nwarps] warp instructions of the slot; [nloads] */
    uint64_t *warp_inst;
    struct timing_load_count *loads;
    /* warps begun; cycles of the first CTA's start and the last warp's end */
    uint32_t arrivals, begun, until;
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

/* lsu.c: a memory instruction issues at t; returns when its result is there. TIMING_NEVER never. */
uint32_t timing_lsu_issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                          const struct exec_inst *in, const struct timing_access *a, uint32_t t);
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

/* ---- a group of SMs stepped together ---- */
struct timing_launch { /* what all groups of a launch share; read-only while they run */
    struct sim_program *p;
    const struct sim_launch *l;
    const struct sim_preset *g;
    struct exec_launch *x;
    struct timing_plan plan;
    uint64_t nctas, shuffle; /* shuffle: multiplier of the random order, 0: none */
    /* CTAs of a cluster; everything else here that says CTA means one cluster */
    uint32_t cluster;
    uint32_t warps_per_cta, ctas_per_sm, l1_bytes;
    bool sampled; /* on private memory, and stopped when enough was seen */
    /* a sample computes everything: what it left out was missed (exec_launch_escaped_region) */
    bool full;
    bool subset; /* sampled on a few of the SMs */
    /* CTAs share out work of a size that only the end of the launch shows */
    bool endless;
    struct cache_range buffer[64];
    uint32_t nbuffers;  /* what a previous run left in L2 */
    uint32_t simulated; /* SMs per group */
    uint32_t ngroups;
    unsigned threads; /* host threads of one group */
};
struct timing_group {
    const struct timing_launch *t;
    /* cycles: of all lanes, of n sectors' data */
    struct timing_rates {
        double lanes, data[4 * WARP_LANES + 1];
    } rates;
    struct timing_sm *sm;
    uint32_t nsms;
    struct exec_worker **worker;
    uint32_t nworkers;
    struct timing_mem mem;
    uint32_t number; /* of the group */
    /* sampled: where in each round of `round` CTAs the sample's are */
    struct cache_places places;
    uint32_t id[8];
    uint64_t first, round, given; /* first CTA after the first wave; those dispatched since */
    /* CTAs to be dispatched: the grid, or fewer once the budget is used up */
    uint64_t most;
    double step;                      /* CTAs the GPU starts per CTA started here */
    double start_free;                /* when the dispatcher can start another */
    uint64_t started, finished, turn; /* turn: CTAs to have ended before the next look at their rate */
    /* of the CTAs that ended: warp instructions, time from begin to end */
    uint64_t finished_inst, finished_cycles;
    uint32_t now, last_end;
    /* where the rate is taken: warm until dispatch ended */
    struct timing_mark {
        uint32_t at;
        uint64_t inst, done;
    } from, stop, first_turn, last_turn;
    struct timing_mark lap[3]; /* the last times that a budget of instructions was used up */
    /* the budget ended dispatch before the grid did; and the CTAs under way too */
    bool stopped, abandoned;
    bool partial; /* before enough of them had ended to know how long one is */
    enum status status;
    struct timing_phases phases; /* phases: when partial */
    struct diags ds;
};
enum status timing_group_init(struct timing_group *g, const struct timing_launch *t, uint32_t number);
void timing_group_free(struct timing_group *g);
/* Runs to the end of the grid. With a budget (warp instructions; 0: none) a subset starts no more CTAs
 * after that many and two waves, and gives up those under way after twice as many and the first ends;
 * all SMs together run a wave and a half at least, and to the end of a grid with whole waves taken out
 * where it has few. */
void timing_group_run(struct timing_group *g, uint64_t budget);
/* of the whole launch, extrapolated when stopped */
double timing_group_cycles(const struct timing_group *g);
/* executed, in whole CTAs' worth of instructions */
double timing_group_ctas(const struct timing_group *g);
uint64_t timing_group_instructions(const struct timing_group *g);

/* pool.c: up to `threads` threads (the caller among them) that run fn(ctx, i), i < n, once per round.
 * NULL: out of memory. */
struct timing_pool;
struct timing_pool *timing_pool_new(unsigned n, unsigned threads, void (*fn)(void *ctx, size_t i),
                                    void *ctx);
void timing_pool_round(struct timing_pool *p);
void timing_pool_free(struct timing_pool *p);

/* occupancy.c */
struct timing_occupancy {
    uint32_t ctas_per_sm, carve_kb, l1_bytes;
};
struct timing_occupancy timing_occupancy(const struct sim_resources *r, const struct sim_preset *g,
                                         uint32_t threads, uint32_t shared_dyn, int carveout);
#endif
