/* sim: the simulated device's engine. Executes real PTX (SIMT, 32 lanes), and
 * models L1, L2, DRAM and SM timing. Knows nothing of sessions or options.
 *
 *   exec     decode once -> run warps (functional truth)
 *   cache    sectored caches, MSHRs, policies
 *   timing   SMs: schedulers, scoreboard, LSU; CTA dispatch; memory system
 *
 * Determinism: the same launch gives the same numbers and bytes for any thread count. */
#pragma once

#include "engine/sim/device_memory.h"
#include "engine/rec/elem.h"
#include "engine/sim/stats.h"

struct text_marks;
struct ptx_inst;
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
    uint32_t regs;          /* 32-bit registers a thread; estimated unless an assembler said it */
    uint32_t shared_static; /* byte */
    uint32_t local_bytes;   /* byte a thread */
    uint32_t param_bytes;   /* byte */
    uint32_t spilled;     /* byte a thread stores for want of registers, each instruction counted once */
    uint32_t max_threads; /* of a CTA */
};
/* What an assembler made of the kernel; regs 0: none was asked. */
struct sim_compiled {
    uint32_t regs;         /* of a thread */
    uint32_t spill_stores; /* bytes of a thread, each instruction counted once */
    uint32_t spill_loads;
    uint32_t stack; /* bytes of a thread: variables in local memory, and what is spilled */
    char by[32];    /* "ptxas 13.0.88" */
};
/* From now on it stands for the estimates of this program. */
void sim_program_set_compiled(struct sim_program *p, const struct sim_compiled *c);
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
/* Which CTAs (clusters) of a functional launch run: one of each `every`, or with `rest` the others; 0: all. dry: they
 * do only what control flow and addresses depend on, and nobody sees what they store (see sim_can_skip). */
struct sim_chosen {
    uint32_t every;
    bool rest, dry;
};
/* A loop whose turns are alike: code index of the branch that ends a turn, and after how many turns a warp leaves it
 * (0: when it does by itself, and turns are counted: sim_stats.turns). */
struct sim_cut {
    bool on;
    uint32_t latch, turns;
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
    /* Timed: every > 0 says that outputs are not asked for: `outputs` gets what `rest` of a functional launch counts,
     * and a launch that is timed whole is `dry`, too. */
    struct sim_chosen chosen;
    struct sim_cut cut;              /* CTAs that compute no values: see sim_chosen.dry */
    const struct sim_window *window; /* window.h; NULL: none */
    uint64_t max_cycles;             /* 0: none; a launch that goes past is a hang, reported */
    uint64_t max_insts; /* functional launches: the same, of the instructions of all warps */
    /* Timed: where the timing comes from a sample that looks at no data, all outputs are to be made
     * beside it, by threads that have nothing else to do; what a functional run says goes here (see
     * sim_stats.made). NULL: not. */
    struct sim_stats *outputs;
};
/* Whether what a CTA executes is known without the values that it computes (sim_launch.chosen). */
bool sim_can_skip(const struct sim_program *p);
/* How many CTAs of the launch are resident at once, and what L1 has left (engine/rec/device.h). */
struct dev_resident sim_resident(const struct sim_program *p, const struct sim_launch *l);
enum status sim_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                    struct diags *ds);
