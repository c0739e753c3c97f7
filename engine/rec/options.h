/* options: one configuration: the value of every knob. */
#ifndef GPULOCW_REC_OPTIONS_H
#define GPULOCW_REC_OPTIONS_H

#include "engine/base/base.h"
#include "engine/rec/elem.h"

/* ---- options of a configuration ---- */
#define BYPASS_LEVELS(X)   \
    X(BYPASS_NONE, "none") \
    X(BYPASS_L1, "l1")     \
    X(BYPASS_RO, "ro")     \
    X(BYPASS_L2, "l2")     \
    X(BYPASS_L1L2, "l1+l2")
#define BYPASS_OPS(X)                               \
    X(BYPASS_OP_CG, "cg")                           \
    X(BYPASS_OP_NO_ALLOCATE, "no_allocate")         \
    X(BYPASS_OP_CS, "cs")                           \
    X(BYPASS_OP_EVICT_LAST, "evict_last")           \
    X(BYPASS_OP_EVICT_FIRST, "evict_first")         \
    X(BYPASS_OP_EVICT_UNCHANGED, "evict_unchanged") \
    X(BYPASS_OP_CACHE_HINT, "cache_hint")
#define BYPASS_FORMS(X)                   \
    X(BYPASS_FORM_CLONE, "clone")         \
    X(BYPASS_FORM_PREDICATE, "predicate") \
    X(BYPASS_FORM_GROUPED, "grouped")     \
    X(BYPASS_FORM_VERTICAL, "vertical")   \
    X(BYPASS_FORM_HYBRID, "hybrid")       \
    X(BYPASS_FORM_HARDWARE, "hardware")
#define CLUSTER_KINDS(X)            \
    X(CLUSTER_NONE, "none")         \
    X(CLUSTER_REDIRECT, "redirect") \
    X(CLUSTER_AGENT, "agent")
#define INDEX_KINDS(X)        \
    X(INDEX_ROW, "row")       \
    X(INDEX_COLUMN, "column") \
    X(INDEX_TILE, "tile")     \
    X(INDEX_CUSTOM, "custom")
#define PREFETCH_LEVELS(X) \
    X(PREFETCH_OFF, "off") \
    X(PREFETCH_L1, "l1")   \
    X(PREFETCH_L2, "l2")
#define COARSEN_MODES(X)                  \
    X(COARSEN_INTERLEAVED, "interleaved") \
    X(COARSEN_BLOCKED, "blocked")
#define SOFTCACHE_LINES(X)     \
    X(SOFTCACHE_LINE_4, "4")   \
    X(SOFTCACHE_LINE_8, "8")   \
    X(SOFTCACHE_LINE_16, "16") \
    X(SOFTCACHE_LINE_32, "32")
#define READONLY_MODES(X)          \
    X(READONLY_KEEP, "keep")       \
    X(READONLY_PROMOTE, "promote") \
    X(READONLY_DEMOTE, "demote")
#define PI_MODES(X)            \
    X(PI_VALUE, "value")       \
    X(PI_CHA, "cha")           \
    X(PI_BPA, "bpa")           \
    X(PI_VOTE, "vote")         \
    X(PI_VOTE_CTA, "vote-cta") \
    X(PI_VOTE_SM, "vote-sm")
#define ENUM_ITEM(name, text) name,
enum bypass_level { BYPASS_LEVELS(ENUM_ITEM) };
enum bypass_op { BYPASS_OPS(ENUM_ITEM) };
enum bypass_form { BYPASS_FORMS(ENUM_ITEM) };
enum cluster_kind { CLUSTER_KINDS(ENUM_ITEM) };
enum index_kind { INDEX_KINDS(ENUM_ITEM) };
enum prefetch_level { PREFETCH_LEVELS(ENUM_ITEM) };
enum coarsen_mode { COARSEN_MODES(ENUM_ITEM) };
enum readonly_mode { READONLY_MODES(ENUM_ITEM) };
enum softcache_line { SOFTCACHE_LINES(ENUM_ITEM) }; /* 4 << value bytes */
enum pi_mode { PI_MODES(ENUM_ITEM) };
/* A sampling launch elects: by SM (every SM saturated, each with one threshold), or by CTA (one CTA for
 * each threshold). PI_VOTE: by SM, then a run-off of whole launches. */
#define PI_IS_VOTE(mode)      ((mode) == PI_VOTE || (mode) == PI_VOTE_CTA || (mode) == PI_VOTE_SM)
#define OPT_MAX_LOADS         64
#define OPT_AGENTS_VOTE       (-1)
#define OPT_SOFTCACHE_AUTO    (-1) /* a profile chooses before the launch */
#define OPT_SOFTCACHE_DYNAMIC (-2) /* every thread chooses inside the kernel */
struct options {
    /* enum bypass_* */
    int bypass;
    int bypass_op;
    int bypass_form;
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
    int softcache_line;   /* enum softcache_line */
    int softcache_sample; /* accesses a thread simulates; 0: the paper's 300, or an eighth of what it
                             makes */
    int softcache_again;  /* turns of a loop after which a thread chooses again; 0: never */
    struct dim3u block;   /* x == 0: as launched */
    bool swap_xy;
    bool swizzle_shared;
    int coarsen, coarsen_mode;
    int throttle_shared; /* byte */
    int maxnreg;         /* registers a thread; 0: as written */
    int minctas;         /* CTAs an SM; 0: as written */
    int smem_pad;        /* bytes of a row of shared memory that gets a gap; 0: none does */
    int readonly;
    int carveout;               /* -1: driver's choice */
    char assume_read_only[256]; /* comma-separated names */
    bool assume_restrict;
    char l2_persist[64]; /* BUFFER or BUFFER:FRACTION; empty: none */
};

#endif
