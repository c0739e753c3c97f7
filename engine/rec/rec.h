/* rec: plain records that every room shares: launch descriptions, options of a
 * configuration, counters, results. No behaviour beyond text <-> value and the
 * making of initial data. JSON lives in `session`. */
#ifndef GPULOCW_REC_REC_H
#define GPULOCW_REC_REC_H

#include "engine/base/base.h"

struct dim3u {
    uint32_t x, y, z;
};
static inline uint64_t dim3u_count(struct dim3u d)
{
    return (uint64_t)d.x * d.y * d.z;
}

/* ---- launch description (docs/reference/launch.md "Launch description") ---- */
#define ELEM_LIST(X)                                                                                    \
    X(U8, "u8", 1)                                                                                      \
    X(S8, "s8", 1) X(U16, "u16", 2) X(S16, "s16", 2) X(F16, "f16", 2) X(U32, "u32", 4) X(S32, "s32", 4) \
        X(F32, "f32", 4) X(U64, "u64", 8) X(S64, "s64", 8) X(F64, "f64", 8)
#define ELEM_ITEM(n, text, size) ELEM_##n,
enum elem { ELEM_LIST(ELEM_ITEM) ELEM_COUNT };
#undef ELEM_ITEM
size_t elem_size(enum elem e);
const char *elem_name(enum elem e);
bool elem_is_float(enum elem e);
bool elem_parse(struct str s, enum elem *e);
/* v as an element: rounded once to a float, or the nearest whole number that 64 bits hold, cut to its
 * size. */
void elem_store(enum elem e, double v, uint8_t *out);

enum init_kind {
    INIT_FILL,
    INIT_IOTA,
    INIT_RANDOM,
    INIT_PERMUTATION,
    INIT_ROWS,
    INIT_FILE,
    INIT_NPY,
    INIT_HEX
};
struct init_spec {
    enum init_kind kind;
    double a, b; /* fill V | iota start, step | random lo, hi */
    int64_t ia, ib;
    bool integral; /* the same as exact integers when both were */
    uint64_t seed;
    uint64_t rows, nnz; /* rows */
    uint64_t offset;    /* file: bytes to skip */
    char *text;         /* path or hex digits */
};
enum arg_kind { ARG_BUFFER, ARG_SCALAR, ARG_BYTES, ARG_SAME_AS };
struct arg_spec {
    enum arg_kind kind;
    char *name;
    enum elem elem;        /* buffer, scalar */
    uint64_t count;        /* buffer: elements */
    struct init_spec init; /* buffer */
    bool output;           /* buffer: hashed and compared after a run */
    double tolerance;      /* relative; 0: bit-identical (float atomics may state one) */
    /* the tolerance is not the description's: float atomics reach this output */
    bool atomic;
    uint8_t scalar[8]; /* scalar: little-endian value */
    uint8_t *bytes;
    size_t nbytes; /* bytes: structs by value */
    char *same_as;
    uint64_t offset; /* same_as: other buffer's name, byte offset */
    /* Not NULL: no parameter of its own; it lies inside the bytes argument of this name, `at` bytes from
     * its start (a pointer or a scalar member of a struct passed by value). Such arguments stand behind
     * all others. */
    char *inside;
    uint64_t at;
};
/* count 0: as many bytes as `file` or `hex` has */
struct symbol_spec {
    char *name;
    struct init_spec init;
    enum elem elem;
    uint64_t count;
};
struct launch_spec {
    char *name; /* of this launch among several, or NULL */
    char *file; /* the description's own path, for messages; may be NULL */
    char *dir;  /* folder that relative paths start from */
    char *ptx, *kernel;
    struct dim3u grid, block;
    struct dim3u cluster; /* CTAs of a thread-block cluster; x == 0: as the kernel says */
    uint32_t shared;      /* dynamic shared memory, bytes */
    struct arg_spec *args;
    size_t nargs;
    struct symbol_spec *symbols;
    size_t nsymbols;
    /* launches run once before, on the same buffers by name */
    struct launch_spec *before;
    size_t nbefore;
};
void launch_spec_free(struct launch_spec *l); /* what it points to; not l itself */
/* Indices of arguments, SIZE_MAX: none. Of this name (may be NULL); whose buffer args[i] uses (SAME_AS);
 * the bytes it lies inside. */
size_t launch_arg_named(const struct launch_spec *l, const char *name);
size_t launch_buffer_of(const struct launch_spec *l, size_t i);
size_t launch_outer_of(const struct launch_spec *l, size_t i);
/* args[0 .. this) are the parameters; what stands behind them lies inside one of them */
size_t launch_params(const struct launch_spec *l);
/* it is one of `before` as well */
bool launch_runs_before(const struct launch_spec *l, struct str kernel);

/* ---- options of a configuration ---- */
#define BYPASS_LEVELS(X)   \
    X(BYPASS_NONE, "none") \
    X(BYPASS_L1, "l1") X(BYPASS_RO, "ro") X(BYPASS_L2, "l2") X(BYPASS_L1L2, "l1+l2")
#define BYPASS_OPS(X)     \
    X(BYPASS_OP_CG, "cg") \
    X(BYPASS_OP_NO_ALLOCATE, "no_allocate") X(BYPASS_OP_CS, "cs") X(BYPASS_OP_CACHE_HINT, "cache_hint")
#define BYPASS_FORMS(X)                                                     \
    X(BYPASS_FORM_CLONE, "clone")                                           \
    X(BYPASS_FORM_PREDICATE, "predicate") X(BYPASS_FORM_GROUPED, "grouped") \
        X(BYPASS_FORM_VERTICAL, "vertical") X(BYPASS_FORM_HYBRID, "hybrid") \
            X(BYPASS_FORM_HARDWARE, "hardware")
#define CLUSTER_KINDS(X) \
    X(CLUSTER_NONE, "none") X(CLUSTER_REDIRECT, "redirect") X(CLUSTER_AGENT, "agent")
#define INDEX_KINDS(X) \
    X(INDEX_ROW, "row") X(INDEX_COLUMN, "column") X(INDEX_TILE, "tile") X(INDEX_CUSTOM, "custom")
#define PREFETCH_LEVELS(X) X(PREFETCH_OFF, "off") X(PREFETCH_L1, "l1") X(PREFETCH_L2, "l2")
#define COARSEN_MODES(X)   X(COARSEN_INTERLEAVED, "interleaved") X(COARSEN_BLOCKED, "blocked")
#define READONLY_MODES(X) \
    X(READONLY_KEEP, "keep") X(READONLY_PROMOTE, "promote") X(READONLY_DEMOTE, "demote")
#define PI_MODES(X)           X(PI_VALUE, "value") X(PI_CHA, "cha") X(PI_BPA, "bpa") X(PI_VOTE, "vote")
#define ENUM_ITEM(name, text) name,
enum bypass_level { BYPASS_LEVELS(ENUM_ITEM) };
enum bypass_op { BYPASS_OPS(ENUM_ITEM) };
enum bypass_form { BYPASS_FORMS(ENUM_ITEM) };
enum cluster_kind { CLUSTER_KINDS(ENUM_ITEM) };
enum index_kind { INDEX_KINDS(ENUM_ITEM) };
enum prefetch_level { PREFETCH_LEVELS(ENUM_ITEM) };
enum coarsen_mode { COARSEN_MODES(ENUM_ITEM) };
enum readonly_mode { READONLY_MODES(ENUM_ITEM) };
enum pi_mode { PI_MODES(ENUM_ITEM) };
#define OPT_MAX_LOADS         64
#define OPT_AGENTS_VOTE       (-1)
#define OPT_SOFTCACHE_AUTO    (-1) /* a profile chooses before the launch */
#define OPT_SOFTCACHE_DYNAMIC (-2) /* every thread chooses inside the kernel */
struct options {
    int bypass, bypass_op, bypass_form; /* enum bypass_* */
    struct {
        int mode;
        int value;
    } pi; /* enum pi_mode; value with PI_VALUE */
    struct {
        uint32_t line[OPT_MAX_LOADS];
        uint32_t n;
    } bypass_loads;
    int cluster; /* enum cluster_kind */
    struct {
        int kind;
        uint32_t tx, ty;
        char file[256];
    } index; /* enum index_kind */
    int clusters;
    int agents; /* 0: as many as fit; OPT_AGENTS_VOTE */
    int prefetch, prefetch_distance;
    int softcache; /* 0 off; OPT_SOFTCACHE_*; N lines */
    /* comma-separated names; empty: chosen by the softcache pass */
    char softcache_data[256];
    struct dim3u block; /* x == 0: as launched */
    bool swap_xy;
    int coarsen, coarsen_mode;
    int throttle_shared, maxnreg, minctas;
    int readonly;
    int carveout;               /* -1: driver's choice */
    char assume_read_only[256]; /* comma-separated names */
    bool assume_restrict;
    char l2_persist[64]; /* BUFFER or BUFFER:FRACTION; empty: none */
};
enum knob_kind { KNOB_KIND_ENUM, KNOB_KIND_INT, KNOB_KIND_FLAG, KNOB_KIND_TEXT };
struct knob_info {
    const char *name, *form, *help; /* form: "N", "a|b|c" ... for usage texts */
    enum knob_kind kind;
    int min, max, def;         /* INT; ENUM: 0..count-1 */
    const char *const *values; /* ENUM: NULL-terminated texts */
};
size_t knob_count(void);
const struct knob_info *knob_info(size_t i);
int knob_find(struct str name); /* -1: none; accepts the name without leading dashes */
/* Sets knob i from its text. ST_USAGE with a diagnostic that says what is allowed. */
enum status knob_set(struct options *o, size_t i, struct str text, struct diags *ds);
/* Text of knob i's value; what knob_set accepts. */
void knob_get(const struct options *o, size_t i, struct buf *out);
bool knob_is_default(const struct options *o, size_t i);
struct options options_default(void);
bool options_equal(const struct options *a, const struct options *b);
/* The options as one command line: "--bypass l1 --pi 7"; defaults left out. */
void options_line(const struct options *o, struct buf *out);
/* The buffer of --l2-persist (a view of o's text) and its fraction, 0 when none is stated. False: none
 * is asked for. */
bool options_l2_persist(const struct options *o, struct str *buffer, double *fraction);
/* Reads what options_line wrote. */
enum status options_parse_line(struct options *o, struct str line, struct diags *ds);

/* ---- counters and results ---- */
enum origin { ORIGIN_MODELLED, ORIGIN_SIMULATED, ORIGIN_MEASURED, ORIGIN_DERIVED };
const char *origin_name(enum origin o); /* "modelled" ... */
/* The unit that times are read best in, by the longest that stand together: microseconds below a
 * millisecond. */
struct time_scale {
    const char *name;
    double ns;
    int decimals;
};
struct time_scale time_scale_for(double longest_ns);
struct time_words {
    char s[32];
};
struct time_words time_words(double ns); /* "12.35 µs", "1.2346 ms" */
#define COUNTER_LIST(X)                                                                               \
    X(L1_REQUESTS, "l1.requests", "request", "global load requests (one per warp instruction)")       \
    X(L1_SECTORS, "l1.sectors", "sector", "32-byte sectors asked of L1 by global loads")              \
    X(L1_SECTORS_PER_REQUEST, "l1.sectors_per_request", "sector/request",                             \
      "coalescing: fewer is better")                                                                  \
    X(L1_HIT_RATE, "l1.hit_rate", "percent", "sectors found in L1")                                   \
    X(L2_READ_SECTORS, "l2.read_sectors", "sector", "sectors read from L2 (the paper's best metric)") \
    X(L2_HIT_RATE, "l2.hit_rate", "percent", "sectors found in L2")                                   \
    X(DRAM_READ_BYTES, "dram.read_bytes", "byte", "bytes read from device memory")                    \
    X(WARPS_ACTIVE, "warps.active", "percent", "resident warps over the SM's maximum, on average")    \
    X(INST_WARP, "inst.warp", "instruction", "warp instructions executed")                            \
    X(INST_THREAD, "inst.thread", "instruction", "thread instructions executed (active lanes)")
#define COUNTER_ID_ITEM(id, name, unit, help) COUNTER_##id,
enum counter_id { COUNTER_LIST(COUNTER_ID_ITEM) COUNTER_COUNT };
#undef COUNTER_ID_ITEM
struct counter {
    double value;
    enum origin origin;
    bool valid;
}; /* not valid: n/a, never 0 */
const char *counter_name(enum counter_id c);
const char *counter_unit(enum counter_id c);
const char *counter_help(enum counter_id c);

#define TIMING_MAX_SAMPLES 64
struct timing {
    int64_t median, min, max; /* nanoseconds */
    int64_t sample[TIMING_MAX_SAMPLES];
    uint32_t n;
    enum origin origin;
    bool valid;
    bool throttled; /* a clock limit was active during a sample */
    /* launches that each sample is the mean of, each from restored inputs; 0: one */
    uint32_t batch;
};
void timing_finish(struct timing *t); /* median, min, max from the samples */
/* Where the median of further samples would lie, 99 of 100 times: from the order of the samples, so that
 * single slow launches do not widen it. Up to thirteen samples, or none kept: least and greatest. */
void timing_band(const struct timing *t, int64_t *low, int64_t *high);

#define RESULT_MAX_OUTPUTS 16
/* differ: bytes that are not those of an earlier output whose hash is `other`, the first at byte
 * `first`; 0: not known. */
struct output_hash {
    char name[48];
    uint64_t hash, other, differ, first;
};
#define RESULT_MAX_LOADS 64
struct load_counts {
    uint32_t line;
    uint64_t requests, sectors, l1_hits /* sectors */;
}; /* the global loads of a line, all warps together */
enum equality { EQUAL_UNKNOWN, EQUAL_YES, EQUAL_WITHIN, EQUAL_NO }; /* WITHIN: a stated tolerance */
struct result {
    struct options options;
    enum status status; /* ST_OK or why this configuration has no time */
    char message[256];  /* reason, or a note; may be empty */
    struct timing time;
    struct counter counters[COUNTER_COUNT];
    struct output_hash outputs[RESULT_MAX_OUTPUTS];
    uint32_t noutputs;
    /* simulated, by lines of the original text, those with the most sectors; 0: not counted */
    struct load_counts loads[RESULT_MAX_LOADS];
    uint32_t nloads;
    enum equality equal;
    uint32_t regs, shared_static, local_bytes, ctas_per_sm; /* of the code that ran; 0: unknown */
    bool sampled;                                           /* timing from a sample of SMs or CTAs */
    int voted;                                              /* elected π or agents; -1: no vote */
    /* not a configuration of its own: a probe on a grid of so many CTAs; 0: none */
    uint32_t probe_ctas;
};
struct result result_empty(void);
/* to its line; with no room, the line with the fewest sectors gives way */
void result_add_load(struct result *r, struct load_counts c);
const struct load_counts *result_load(const struct result *r, uint32_t line); /* NULL: not counted */

/* ---- what a device is ---- */
enum dev_kind { DEV_SIMULATED, DEV_CUDA };
/* What the memory-cost model knows of an SM and of the way to L2, by the preset fields of the same
 * meaning (engine/sim/preset.def has units); one list, for presets, the wire and what a driver does not
 * tell. All 0: unknown. Cycles are SM cycles. */
#define DEV_SM(X)                                                                                     \
    X(l1_ways)                                                                                        \
    X(l1_tags) X(l1_fill_buffers) X(l1_hash) X(l1_random_candidates) X(l1_sector) X(l1_latency)       \
        X(l1_tag_banks) X(l1_bytes_per_cycle) X(l1_mshrs) X(l1_reserve) X(l1_bypass_allocates)        \
            X(l1_plain) X(l1_ca) X(l1_write) X(l1_queue) X(lanes_lsu) X(scheduler_policy) X(ro_bytes) \
                X(ro_ways) X(ro_sector) X(ro_latency) X(icnt_bytes_per_cycle)                         \
                    X(icnt_write_bytes_per_cycle) X(icnt_write_cycles) X(l2_distinct)                 \
                        X(l2_request_bytes) X(l2_write) X(l2_fill) X(l2_merge) X(l2_slices)           \
                            X(l2_atomics_per_cycle) X(l2_atomic_cycles) X(dram_scatter) X(lat_shared) \
                                X(lat_barrier) X(cta_rate) X(cta_cycles) X(cta_latency) X(launch_ns)  \
                                    X(reg_unit) X(unified_bytes) X(shared_reserved) X(carve_default)  \
                                        X(carve_0) X(carve_1) X(carve_2) X(carve_3) X(carve_4)        \
                                            X(carve_5) X(carve_6) X(carve_7) X(carve_8) X(carve_9)
struct dev_sm {
#define X(f) double f;
    DEV_SM(X)
#undef X
};

struct dev_info {
    enum dev_kind kind;
    char spec[128];         /* what --device named: sim:hopper-h200, cuda:0 */
    char name[128];         /* NVIDIA H200 */
    int cc_major, cc_minor; /* compute capability */
    uint32_t sms, warp_size, max_warps_per_sm, max_ctas_per_sm, max_threads_per_block;
    uint32_t regs_per_sm, shared_per_sm, shared_per_block_optin;
    uint64_t l1_bytes, l2_bytes, mem_bytes; /* l1_bytes: L1 data capacity at no shared use */
    /* most of L2 that can be set aside for persisting lines; 0: none */
    uint64_t l2_persist_bytes;
    uint32_t clock_khz;
    double lat_l1, lat_l2, lat_dram; /* load-to-use, cycles; 0: unknown */
    double bw_l2, bw_dram;           /* bytes per second; 0: unknown */
    /* warp instructions an SM issues per cycle; 0: unknown */
    double issue_per_cycle;
    /* cycles from an instruction to one that needs it; 0: unknown */
    double lat_alu;
    /* requests a cycle that L2 answers when all SMs read the same lines at once; 0: unknown */
    double l2_shared_rate;
    /* L2's time for a sector written in part, in sectors; 0: unknown */
    double l2_partial_write;
    struct dev_sm sm;
};

#include "engine/rec/data.h"

#endif
