/* sim: the simulated device's engine. Executes real PTX (SIMT, 32 lanes), and
 * models L1, L2, DRAM and SM timing. Knows nothing of sessions or options.
 *
 *   exec     decode once -> run warps (functional truth)
 *   cache    sectored caches, MSHRs, policies
 *   timing   SMs: schedulers, scoreboard, LSU; CTA dispatch; memory system
 *
 * Determinism: the same launch gives the same numbers and bytes for any thread count. */
#ifndef GPULOCW_SIM_SIM_H
#define GPULOCW_SIM_SIM_H

#include "engine/base/base.h"
#include "engine/sim/device_memory.h"
#include "engine/rec/elem.h"
#include "engine/rec/limits.h"
#include "engine/sim/work.h"

struct text_marks;
struct ptx_inst;
struct ptx_module;
struct sim_preset;
struct sim_window;

/* ---- what a load asks of the caches on an architecture ---- */
struct sim_operator {
    char sass[40]; /* class of the machine instruction: "LDG.E.STRONG.GPU" */
    /* allocates in L1; the requested operator changes nothing on this device */
    bool l1, noop;
    const char *reason; /* why it is a no-op, or what to know about it; never NULL */
};
/* i: a load from global memory. */
struct sim_operator sim_load_operator(const struct sim_preset *p, const struct ptx_inst *i);

/* ---- programs ---- */
/* a decoded module; module must outlive it */
struct sim_program;
/* ST_DEVICE with a located diagnostic naming the first instruction that is not modelled (only code
 * reachable from `kernel`). */
enum status sim_load(const struct ptx_module *m, struct str kernel, const struct sim_preset *p,
                     struct sim_mem *mem, struct sim_program **out, struct diags *ds);
/* The same of a rewritten text; marks: of m (NULL: none), not kept. They change how a timing sample
 * stands for the launch, nothing else. */
enum status sim_load_marked(const struct ptx_module *m, struct str kernel,
                            const struct text_marks *marks, const struct sim_preset *p,
                            struct sim_mem *mem, struct sim_program **out, struct diags *ds);
void sim_unload(struct sim_program *p);
/* Address and size of a module-scope .global or .const variable; false: none of that name. */
bool sim_symbol(const struct sim_program *p, struct str name, uint64_t *addr, uint64_t *bytes);
enum status sim_symbol_write(struct sim_program *p, struct str name, uint64_t off, const void *data,
                             uint64_t n);
struct sim_resources {
    uint32_t regs;          /* 32-bit registers a thread */
    uint32_t shared_static; /* byte */
    uint32_t local_bytes;   /* byte a thread */
    uint32_t param_bytes;   /* byte */
    uint32_t max_threads;   /* of a CTA */
};
/* regs: estimated per thread */
struct sim_resources sim_program_resources(const struct sim_program *p);
/* The most hostile machine that the ISA allows, for functional launches; all 0: the usual one. One host
 * thread runs the CTAs. A kernel whose result depends on any of it proves nothing by having the right
 * one. */
enum sim_order {
    ORDER_UP,
    ORDER_DOWN /* CTAs, and the warps of each */,
    ORDER_SHUFFLED /* by seed; warps change often */,
    ORDER_TURNS /* CTAs ascending; the warps of each take turns after every instruction */
};
/* What a machine may give another value, one bit each: POISON_SMID is 1 << SIM_POISON_SMID.
 * X(name, what it is called) */
#define SIM_POISON_LIST(X)                                 \
    X(SMID, "%smid")                                       \
    X(NSMID, "%nsmid")                                     \
    X(WARPID, "%warpid")                                   \
    X(NWARPID, "%nwarpid")                                 \
    X(GRIDID, "%gridid")                                   \
    X(GRAPH, "%current_graph_exec")                        \
    X(CLOCK, "a clock")                                    \
    X(COUNTER, "%pm0 to %pm7")                             \
    X(TOTAL_SHARED, "%total_smem_size or %aggr_smem_size") \
    X(DYNAMIC_SHARED, "%dynamic_smem_size")                \
    X(MEMORY, "shared or local memory that nobody wrote")  \
    X(REGISTERS, "registers that nobody wrote")
#define X(name, text) SIM_POISON_##name,
enum sim_poison { SIM_POISON_LIST(X) SIM_POISON_COUNT };
#undef X
/* All but the size of dynamic shared memory, which the launch says: only its changes may poison it. */
#define SIM_POISON_USUAL (((1u << SIM_POISON_COUNT) - 1) & ~(1u << SIM_POISON_DYNAMIC_SHARED))
struct sim_hostile {
    /* .nc loads return what was there when the launch began */
    bool nc_snapshot;
    /* a divergent .uni or aligned barrier is a fault */
    bool uniform;
    /* bits of enum sim_poison: these have other values */
    uint32_t poison;
    uint8_t order; /* enum sim_order */
    uint64_t seed;
};
static inline bool sim_is_hostile(const struct sim_hostile *h)
{
    return h->nc_snapshot || h->uniform || h->poison || h->order;
}

struct sim_sides;
struct sim_sums;
/* Lanes of `mask` read or write `bytes` bytes each, from addr[lane] on. */
struct sim_touch {
    const uint64_t *addr; /* in shared memory: from its start */
    uint32_t cta, warp;   /* the CTA's place in the grid's order; the warp's in the CTA */
    uint32_t mask;
    unsigned bytes;
    bool reads, writes;
    bool shared;  /* memory of the CTA; an mbarrier is read and written */
    uint8_t type; /* enum ptx_type of the elements; PTX_T_NONE: none is said */
};
/* Who is told each access of a warp to global memory, from any thread; fn NULL: nobody. */
struct sim_told {
    void (*fn)(void *ctx, const struct sim_touch *t);
    void *ctx;
    bool shared;        /* and to shared memory */
    const char *symbol; /* a variable of the module, whose address goes to *at first; NULL: none */
    uint64_t *at;
};
enum sim_dispatch {
    DISPATCH_NORMAL /* round robin first wave, then on demand */,
    DISPATCH_RANDOM,
    DISPATCH_ADVERSARIAL
};
struct sim_launch {
    struct dim3u grid, block;
    /* CTAs of a cluster; x == 0: as the kernel says */
    struct dim3u cluster;
    uint32_t shared; /* dynamic bytes */
    /* the parameter block as laid out by ptx_symbol.offset */
    const uint8_t *params;
    uint64_t nparams;
    const struct textures *textures; /* what handles mean (texture.h), or NULL */
    bool functional;                 /* outputs only, no timing */
    /* time every CTA on every SM; else sampling is allowed (stated) */
    bool exact;
    unsigned threads; /* host threads, 0: all */
    int carveout;     /* percent, -1: driver's choice */
    /* bypass paper 6.2: warps >= hw_pi bypass L1 in hardware; -1: off */
    int hw_pi;
    enum sim_dispatch dispatch;
    uint64_t seed;
    /* sanitiser options; bounds and alignment are always checked */
    bool check_uninit, check_races;
    struct sim_hostile hostile; /* functional launches only */
    struct sim_sums *sums; /* functional launches: NULL, or where float atomics are added up (sums.h) */
    struct sim_sides *sides; /* functional launches: NULL, or where ways gone are counted (sides.h) */
    struct sim_told touch;   /* functional launches */
    const struct cancel *cancel;
    /* 0..1, from any thread, one at a time; may be NULL */
    void (*progress)(void *ctx, double done);
    void *ctx;
    /* L2 starts with the launch's buffers as a previous run left them, */
    bool warm_l2;
    /* after those at these addresses were copied back from elsewhere, in order */
    const uint64_t *restored;
    size_t nrestored;
    const struct sim_window *window; /* window.h; NULL: none */
    uint64_t max_cycles;             /* 0: none; a launch that goes past is a hang, reported */
    uint64_t max_insts; /* functional launches: the same, of the instructions of all warps */
    /* Timed: where the timing comes from a sample that looks at no data, all outputs are to be made
     * beside it, by threads that have nothing else to do; what a functional run says goes here (see
     * sim_stats.made). NULL: not. */
    struct sim_stats *outputs;
};
#define SIM_CTA_WARPS 32u
#define SIM_CLASSES   4u
struct sim_load_stats {
    uint32_t func;
    uint32_t inst;
    uint32_t line;
    uint64_t executions /* warp-level */, requests, sectors, l1_hits, threads;
};
struct sim_stats {
    double time_ns, cycles; /* n/a (NaN) when functional */
    double clock_mhz;       /* of the SMs meanwhile; 0: not timed */
    uint64_t inst_warp, inst_thread;
    /* functional: of the warps at each place in their CTA */
    uint64_t inst_of_warp[SIM_CTA_WARPS];
    uint64_t l1_requests, l1_sectors, l1_hits, l2_reads, l2_hits, l2_writes, dram_read_bytes,
        dram_write_bytes;
    /* sectors that reads missing in L2 brought, neighbours too, and those of the other partition */
    uint64_t l2_missed;
    struct sim_work work;
    double warps_active; /* percent */
    bool sampled;
    double sample_share; /* share of the CTAs that were timed */
    /* timed on copies: the buffers are as they were before the launch, unless */
    bool dry;
    bool made; /* the outputs were made beside it; */
    /* they were, but the launch is one to time whole: start once more without */
    bool again;
    uint32_t ctas_per_sm;
    /* Above 0: CTAs so long that the sample saw none end, or that share out work. Counters are the
     * sample's, time is n/a, until sim_stats_complete is told the warp instructions of the whole launch
     * (`whole`: a functional run of it). */
    double cycles_per_inst, lead_cycles;
    /* the same where the warps of a CTA do not keep step; owned */
    struct sim_part *parts;
    uint32_t nparts;
    /* per static global load; owned, base_free */
    struct sim_load_stats *loads;
    uint32_t nloads;
    /* timed: what each instruction took of the schedulers' slots; owned, base_free */
    struct limit_row *spent;
    size_t nspent;
    struct limit_launch slots;
    char *print;
    size_t nprint; /* vprintf output; owned */
};
/* What a sample saw while some classes of warps ran. rate: warp instructions per cycle of one warp. */
struct sim_phase {
    double cycles, rate[SIM_CLASSES];
    struct sim_stats seen;
};
/* Class k ends with phase k; class_of: of a warp's place in its CTA. waves: CTAs one after the other in
 * one place. */
struct sim_part {
    uint32_t nclasses;
    uint32_t nphases;
    uint32_t warps;
    uint64_t ctas;
    double waves;
    uint8_t class_of[SIM_CTA_WARPS];
    struct sim_phase phase[SIM_CLASSES];
};
void sim_stats_free(struct sim_stats *s);
/* Also where CTAs ended, but shorter ones than the launch has on the average. */
void sim_stats_complete(struct sim_stats *s, const struct sim_preset *p, const struct sim_stats *whole);
/* How many CTAs of the launch are resident at once, and what L1 has left (engine/rec/device.h). */
struct dev_resident sim_resident(const struct sim_program *p, const struct sim_launch *l);
enum status sim_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                    struct diags *ds);

#endif
