/* analysis: addresses, coalescing, locality class, sharing, footprint. Never
 * runs the simulator: it is checked against it. Unknown stays unknown, with the
 * instruction that made it so. Papers: coalesce (degree, graph), cluster (classes,
 * partition), bypass (footprint, Table 1). */
#pragma once

#include "engine/analysis/banks.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"

struct ana_curve;
struct dev_info;
struct launch_data;

#define ANA_CLASSES(X)          \
    X(ALGORITHM, "algorithm")   \
    X(CACHE_LINE, "cache-line") \
    X(DATA, "data")             \
    X(WRITE, "write")           \
    X(STREAMING, "streaming")   \
    X(UNKNOWN, "unknown")
enum ana_class {
#define X(n, text) ANA_CLASS_##n,
    ANA_CLASSES(X)
#undef X
};
const char *ana_class_name(enum ana_class c);
const char *ana_space_name(unsigned space); /* "global" ...; "generic" for every other */
enum ana_tri { ANA_UNKNOWN, ANA_YES, ANA_NO };

/* the paper's metric */
struct ana_coalesce {
    bool valid;
    double degree; /* 0..1 */
    double graph[32];
    double expected;
    unsigned num_sectors;
    /* sectors of a request as counted, and the fewest that hold the distinct bytes its lanes ask for: 16
     * of 16 for 32 neighbouring lanes of 16 bytes, whose degree is 25 % */
    double sectors, least;
    /* As the paper has it, static: as if all lanes of every warp ran the load. expected: sectors of the
     * graph / degree. of_lanes_that_run: loads whose address a lane has only when it runs them; those
     * count by the lanes that do. NaN, 0: no load is known. */
    struct ana_every_lane {
        double degree, expected;
        double graph[32]; /* threads that touch the word */
        unsigned num_sectors, of_lanes_that_run;
    } every;
};
/* Of the sectors that are fetched, the part that the bytes asked for need: 0..1; NaN where c is not
 * valid. */
double ana_sector_use(const struct ana_coalesce *c);
/* The paper's expected sectors are a figure of its graph, over which lanes may be spread: above what a
 * request of 32 lanes can ask for they tell nothing. */
static inline bool ana_expected_tells(double expected)
{
    return expected <= 32;
}
struct ana_exact {
    bool valid, sampled;
    double error;
    uint64_t requests;
    uint64_t sectors;
    uint64_t least; /* the fewest sectors that hold the bytes of each request */
    uint64_t lines;
    uint64_t bytes_used;  /* bytes that lanes asked for */
    uint64_t bytes_moved; /* bytes of the sectors moved */
    /* NaN: no request was made; bank_conflicts: extra passes per request, shared only */
    double sectors_per_request, bank_conflicts;
    struct ana_banks banks; /* shared only: the request with the most of them */
};
enum { ANA_STEPS = 7, ANA_STEP_SIZE = 4099 /* what they take for the block's size along x */ };
struct ana_access { /* one static memory access */
    uint32_t func, inst;
    struct span at; /* place; func: index into module->funcs */
    /* and in the source it was compiled from (.loc); file 0: not told */
    struct ptx_loc loc;
    /* enum ptx_space, or ANA_SPACE_COPY; bytes per thread (type times vector), 0 of a copy: a request is
     * one copy, `exact` has its bytes */
    uint8_t space, bytes;
    bool store;    /* writes */
    bool atomic;   /* reads and writes at once */
    bool prefetch; /* brings lines, no value */
    /* readable: A + 4*(ctaid.x*ntid.x + tid.x); owned by the kernel's arena */
    char *address;
    char *unknown; /* NULL, or why a part is unknown: "mul.hi.u32 at line 88" */
    /* pointer parameter index of the kernel, -1 symbol or none */
    int param;
    const char *array; /* parameter or symbol name; "data" for loaded pointers; NULL unknown */
    char *arrays;      /* all it may point into: "A or B"; NULL: out of memory */
    bool affine, depends_on_load;
    enum ana_tri read_only;
    char *read_only_why;
    struct ana_coalesce coalesce;
    struct ana_exact exact;
    uint32_t joined_line; /* of the access that is made for both (ptx_joined_of); 0: none */
    uint32_t same_line; /* of the load whose value it has (ptx_same_of): not timed; 0: one of its own */
    /* warp-level, per launch (of the sampled CTAs when sampled); NaN: unknown */
    double executions;
    const char *counted_by; /* "closed form", "slice", "assumed launch"; NULL: not counted */
    char *uncounted;        /* then: why, or NULL */
    /* loops around it, inner first: how often, or while what; NULL: none */
    char *loops;
    enum ana_class cls;
    char *evidence;
    /* some line is touched again (by this or another load) before it would be gone */
    bool reused;
    /* bytes from a thread to the next along x, y, z, from a CTA to the next, from a round of the loops
     * around it to the next, where the text fixes them; a product with a parameter or a size of the
     * launch is some number above 2000 times it, one with the block's along x ANA_STEP_SIZE times */
    bool stepped;
    int64_t step[ANA_STEPS];
};
/* A plain load from global memory, or from an address that may lie there. */
bool ana_is_global_load(const struct ana_access *a);
bool ana_banks_counted(const struct ana_access *a); /* of shared memory, and its banks were counted */
/* Shares of the bytes that loads ask for (duplicates inside a request count once), sum 1: asked for
 * before by the same warp, else by the same CTA, else by another CTA, else never. line_reuse: part of a
 * CTA's line touches that touch a line again. sampled: not from all of the launch; from: from what. */
struct ana_reuse {
    bool valid, sampled;
    const char *from;
    double intra_warp; /* share */
    double intra_cta;  /* share */
    double inter_cta;  /* share */
    double none;
    double line_reuse; /* share of touches whose line was touched before */
    struct ana_split {
        double intra_warp; /* share */
        double intra_cta;  /* share */
        double inter_cta;  /* share */
        double none;
    } sectors; /* the same of 32-byte sectors: any byte of it counts */
};
struct ana_partition {
    const char *index; /* "row", "column", "tile:8x8", "none" */
    char *why;
    double strength_x; /* 0..1 */
    double strength_y; /* 0..1 */
    double strength_z; /* 0..1 */
};
/* Bytes (whole lines) that hold nine tenths of a warp's own reuse; of a CTA and of an SM's resident CTAs
 * from it. bytes_per_sm and cache_share (L1 bytes per resident thread: bypass paper, Table 1) NaN and
 * pi_fit -1 without a device. */
struct ana_footprint {
    bool valid;
    double bytes_per_thread; /* byte */
    double bytes_per_warp;   /* byte */
    double bytes_per_cta;    /* byte */
    double bytes_per_sm;     /* byte, of all resident CTAs */
    double cache_share;
    int pi_fit;
};
struct ana_kernel {
    struct arena *arena;
    const struct ptx_module *module;
    const struct ptx_func *func;
    /* a launch description was there; else `assumed` states the block shape */
    bool launched;
    struct dim3u grid, block;
    char *assumed;
    unsigned regs; /* as ana_opts said */
    /* loads and stores in text order, callee's included */
    struct ana_access *access;
    uint32_t naccess;
    struct ana_coalesce coalesce;
    struct ana_exact exact; /* over all global loads */
    enum ana_class cls;
    char *evidence[8];
    uint32_t nevidence;
    const char *sensitivity; /* "CI", "MCS", "HCS" or NULL */
    struct ana_reuse reuse;
    struct ana_partition partition;
    struct ana_footprint footprint;
    char *gaps[16];
    uint32_t ngaps; /* what could not be analysed, and why */
    /* NULL: not asked for (ana_opts.curve), or a gap says why not */
    struct ana_curve *curve;
    /* CTA sharing: bytes that pairs of nshare CTAs share, all of a small grid or a piece around its
     * middle; nshare x nshare, row-major */
    uint32_t nshare;
    float *share;
    uint64_t *share_cta;
    uint32_t *order; /* every CTA once, by what they share (cta_graph.h); NULL: order_why */
    const char *order_why;
};
/* What the launches before a launch leave in its buffers, worked out once for many calls (its
 * description's `before`). */
struct ana_before;
void ana_before_free(struct ana_before *b); /* NULL is fine */
struct ana_opts {
    const struct launch_data *data; /* NULL: symbolic, with an assumed block of 256 threads */
    const struct dev_info *dev;     /* sizes for footprints; NULL: none */
    /* 0: all; else evenly spaced CTAs are executed and `sampled` is set */
    unsigned sample_ctas;
    const char *assume_read_only;
    bool assume_restrict;
    const struct cancel *cancel;
    /* registers a thread takes, for the CTAs an SM holds; 0: not known (only .maxnreg then) */
    unsigned regs;
    uint32_t curve_requests; /* traced exactly, 0: a million; a longer curve is sampled */
    /* most warp operations of one part of the analysis; 0: what takes some 15 seconds */
    uint64_t budget;
    bool curve; /* also trace one SM for ana_kernel.curve (a second or so) */
    bool order; /* also ana_kernel.order, where the launch is small enough to follow every CTA */
    bool every; /* ana_trace: prefetches and shared memory too */
    /* NULL, or where it is kept for the same launch's buffers, made where a quick analysis needs it */
    struct ana_before **before;
    /* closed forms, and slices of a bounded number of warps: no reuse split, no CTA graph */
    bool quick;
};
/* *out owned, ana_free. kernel empty: the only or first entry. Partial answers are ST_OK with gaps. */
enum status ana_run(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                    struct ana_kernel **out, struct diags *ds);
void ana_free(struct ana_kernel *k);
/* The same facts of a module that has the kernel, its functions and their lines as k's has (ptx_narrow).
 * It borrows k's texts; base_free, not ana_free. NULL: out of memory, or the module is another one. */
struct ana_kernel *ana_view(const struct ana_kernel *k, const struct ptx_module *m);

/* Global-load trace before L1, in the order an SM would interleave its warps; lines of `line` bytes.
 * Calls fn for each line request of a global load, and of a store (store set; no atomics); stops when fn
 * returns false (ST_OK). `access` indexes ana_kernel.access, func and inst are its place in the module.
 * ST_REFUSED: no launch, or addresses that cannot be executed (the diagnostic names the instruction).
 * With ana_opts.every also a prefetch's lines (prefetch set), each shared memory access as one request
 * without line and sectors, the times that an access takes the fullest of 32 banks of 4 bytes (`passes`;
 * else 0), and global atomics, whose passes are turns at L2. lanes: active; phase: barriers that the CTA
 * is past. */
struct ana_request {
    uint64_t line;
    uint32_t sectors /* mask */, cta, warp, access, func, inst;
    bool store, prefetch, shared, partial /* store: not whole sectors */, atomic;
    uint8_t passes, lanes;
    uint32_t phase;
};
enum status ana_trace(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                      unsigned line_bytes, unsigned resident_ctas, unsigned sm, unsigned sms,
                      bool (*fn)(void *ctx, const struct ana_request *r), void *ctx, struct diags *ds);
/* The same of several SMs, each as if it were the first to run. *out: ana_tracer_free, whatever the
 * status; m and what o points to must outlive it. */
struct ana_tracer;
enum status ana_tracer_make(struct ana_tracer **out, const struct ptx_module *m, struct str kernel,
                            const struct ana_opts *o, unsigned line_bytes, unsigned resident_ctas,
                            unsigned sms, struct diags *ds);
enum status ana_tracer_sm(struct ana_tracer *t, unsigned sm,
                          bool (*fn)(void *ctx, const struct ana_request *r), void *ctx,
                          struct diags *ds);
void ana_tracer_free(struct ana_tracer *t);
