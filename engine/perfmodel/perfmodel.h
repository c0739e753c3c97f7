/* model: formulas and algorithms over numbers only; no PTX, no device.
 * Papers: bypass (valley model, categories), schedule (reuse distance, memory cost).
 * Sections are those of the digest. */
#ifndef GPULOCW_PERFMODEL_PERFMODEL_H
#define GPULOCW_PERFMODEL_PERFMODEL_H

#include "engine/base/base.h"

/* ---- valley model (Guz et al.; bypass, section 1) ---- */
struct model_valley {
    double cache_bytes;    /* S: cache shared by the threads */
    double t_cache, t_mem; /* cycles of a hit and of a miss */
    double npe;            /* execution units */
    double freq_hz, cpi;
    double r_m;       /* memory instructions / instructions */
    double b_reg;     /* bytes per access */
    double bandwidth; /* bytes per second */
    /* locality of the access stream: shape (> 1) and bytes per thread */
    double alpha, beta;
    double sharpness; /* p >= 1; 1 (or 0) is the paper's hit-rate law */
};
/* Hit rate when n threads share the cache: 1 - (x^p + 1)^-(alpha-1), x = S/(n*beta).
 * p = 1 is the paper's. With it n*h(n) never falls, so it cannot show a threshold
 * inside 0..W; p > 1 lets h fall off a cliff as LRU does. h(0) = 1. */
double model_hit(const struct model_valley *v, double n);
/* operations per second, n threads all caching */
double model_perf(const struct model_valley *v, double n);
/* The same for `total` threads of which `caching` share the cache and the rest always
 * miss: the hit rate is the mean over all threads. caching == total gives model_perf(total). */
double model_perf_mixed(const struct model_valley *v, double caching, double total);
struct model_fit {
    bool valid;
    /* Ours: time = floor_time + miss_time * (1 - H), H the mean hit rate of all threads with
     * the law above. Every bound of the model (latency, bandwidth) is linear in 1 - H. */
    double alpha, beta, residual /* root mean square of relative errors */,
        scale /* = miss_time, time units of the data */;
    double sharpness, floor_time;
    /* The paper's: time = paper_scale / model_perf_mixed with p = 1; NaN when the base numbers are not
     * usable. */
    double paper_alpha, paper_beta, paper_scale, paper_residual;
};
/* Least squares over alpha, beta and a time scale: time[i] > 0 is a launch with n[i] caching
 * threads (the rest of total_threads bypass). Needs 4 points; else, and on nonsense, valid is
 * false. Deterministic (Nelder-Mead over log-parameters from fixed starts). */
struct model_fit model_valley_fit(const struct model_valley *base, const double *n, const double *time,
                                  size_t count, double total_threads);
/* Fitted time at a point: ours, and the paper's (NaN when that fit does not exist). */
double model_valley_time(const struct model_valley *v, const struct model_fit *f, double caching,
                         double total);
double model_valley_time_paper(const struct model_valley *v, const struct model_fit *f, double caching,
                               double total);
/* Threshold predicted before any launch: the most warps per CTA whose footprints fit the cache
 * together, 0..warps. ways == 0: fully used; else set conflicts are allowed for by taking
 * (ways-1)/ways of the cache, unless everything fits. */
unsigned model_threshold_predict(double cache_bytes, unsigned ways, double bytes_per_warp,
                                 unsigned ctas_per_sm, unsigned warps);

/* ---- curves: categories by stated numeric rules (docs/concepts.md) ---- */
#define MODEL_CATEGORIES(X)                                                     \
    X(BYPASS_FAVOURITE, "bypass-favourite")                                     \
    X(CACHE_FAVOURITE, "cache-favourite") X(CACHE_CONGESTED, "cache-congested") \
        X(CACHE_INSENSITIVE, "cache-insensitive") X(IRREGULAR, "irregular")
enum model_category {
#define X(n, text) CATEGORY_##n,
    MODEL_CATEGORIES(X)
#undef X
};
const char *model_category_name(enum model_category c);
/* low..high: the noise band (equal to time when exact) */
struct model_point {
    double x, time, low, high;
};
struct model_curve {
    enum model_category category;
    const char *sensitivity; /* CI MCS HCS; static text */
    /* fastest point; within noise of it, an end wins: bpa first, then cha */
    size_t best;
    size_t peak; /* fastest point (the cache peak) */
    /* slowest point after the peak; == peak when nothing follows or nothing is slower */
    size_t valley;
    double gain_over_first, gain_over_last; /* time at the end over time at best; >= 1 but for noise */
    /* first point of the closing run within noise of the last (the memory plateau) */
    size_t plateau;
    double significance; /* relative difference that counts, from the noise bands */
};
/* Points in rising x: first is bpa (π=0), last is cha (π=W). n == 0 gives cache-insensitive. */
struct model_curve model_categorise(const struct model_point *p, size_t n);

/* ---- reuse distance: exact LRU stack distances (schedule, section 5; Almasi et al.) ---- */
#define MODEL_COLD UINT64_MAX
struct model_reuse;                                         /* heap, not thread-safe */
struct model_reuse *model_reuse_new(size_t expected_lines); /* owned; NULL when out of memory */
void model_reuse_free(struct model_reuse *r);
/* distinct lines since the last touch; MODEL_COLD first time */
uint64_t model_reuse_touch(struct model_reuse *r, uint64_t line);
/* number of that line, from 0 in the order of first touches */
uint32_t model_reuse_last(const struct model_reuse *r);
/* out of memory: every later touch answered MODEL_COLD */
bool model_reuse_failed(const struct model_reuse *r);
/* distinct lines so far: the footprint */
uint64_t model_reuse_lines(const struct model_reuse *r);
/* bin[k]: distances in [2^k-1, 2^(k+1)-1) */
struct model_hist {
    uint64_t bin[64];
    uint64_t cold, total;
};
void model_hist_add(struct model_hist *h, uint64_t distance);
/* interpolated hit rate 0..1 of an LRU cache of so many lines; NaN when empty */
double model_hist_hit_rate(const struct model_hist *h, double lines);

/* ---- the things touched last (lru_set.c): where only one size of an LRU cache matters ---- */
/* things 0..things-1; heap, not thread-safe */
struct model_recent;
/* owned; NULL when out of memory */
struct model_recent *model_recent_new(uint32_t things, uint64_t most);
void model_recent_free(struct model_recent *r);
/* True: it was touched before, and fewer than `most` different others since. */
bool model_recent_touch(struct model_recent *r, uint32_t thing);

/* ---- memory cost (schedule, section 5) ---- */
struct model_cost_in {
    double loads;                    /* G: global load transactions after coalescing */
    double m1, m2;                   /* miss rates 0..1 */
    double lat_l1, lat_l2, lat_dram; /* cycles */
    double sectors;                  /* sectors asked of L1 */
    double bw_l2, bw_dram;           /* bytes per cycle; 0: unknown, no bound */
    double parallelism;              /* transactions in flight on the whole device; 0: 1 */
    double rate_l1;                  /* transactions per cycle all L1s take; 0: unknown, no bound */
};
struct model_cost {
    double l1, l2, dram, paper; /* the paper's three terms and their sum, cycles */
    /* ours, cycles: the tightest of the four bounds below, or more where a walk says so */
    double extended;
    double latency, bound_l1, bound_l2, bound_dram;
    double latency_l1, latency_l2, latency_dram; /* the terms of latency */
};
struct model_cost model_memory_cost(const struct model_cost_in *in);

/* ---- a cache by the clock (cache.c): sectors of 32 bytes, four a line; times in cycles ---- */
enum model_from { MODEL_FROM_L1, MODEL_FROM_L2, MODEL_FROM_DRAM };
enum model_way {
    MODEL_WAY_KEEP,
    MODEL_WAY_LOOK /* hits what is there, keeps nothing */,
    MODEL_WAY_PAST
};
enum model_store {
    MODEL_STORE_EVICTS,
    MODEL_STORE_UPDATES,
    MODEL_STORE_MAKES /* a line where there is none */
};
struct model_cache_config {
    /* replacement: the oldest of so many drawn at random; 0: LRU */
    uint32_t sets, ways, picks;
    bool hashed, whole_line; /* set index; a miss brings four sectors */
    /* what is not kept holds a line while on its way; a miss waits for one that can go */
    bool transit, reserve;
    enum model_store store;
};
struct model_cache_answer {
    /* sectors on their way (there at `ready`, `from` there); to be asked for */
    uint8_t pending, miss, from;
    double ready, stall; /* stall > 0: nothing can go before; ask again then */
    ptrdiff_t slot;      /* of what a miss brings, from 1; 0: kept nowhere */
};
struct model_cache;
/* owned; NULL: out of memory, or sizes are 0 */
struct model_cache *model_cache_new(const struct model_cache_config *c);
void model_cache_free(struct model_cache *m);
void model_cache_load(struct model_cache *m, uint64_t line, unsigned sectors, enum model_way how,
                      double now, struct model_cache_answer *a);
/* when a miss arrives */
void model_cache_fill(struct model_cache *m, const struct model_cache_answer *a, double at,
                      uint8_t from);
void model_cache_store(struct model_cache *m, uint64_t line, unsigned sectors, bool partial, double now);

/* ---- warps in time: what one SM's memory instructions take when lines are waited for and units queue
 * (warp_sim.c) ---- */
struct model_walk_line {
    uint64_t line;
    uint32_t number /* the caller's */;
    float crowd /* share of the times that all SMs ask for it at once, 0..1 */;
    uint8_t sectors /* mask */, way /* enum model_way */;
};
/* Where sectors come from that L1 does not have: *dram is how many of them DRAM moves for this SM. */
typedef enum model_from (*model_walk_beyond)(void *ctx, const struct model_walk_line *l,
                                             unsigned sectors, float *dram);
struct model_walk_config {
    uint64_t ctas;
    uint32_t warps /* of a CTA */, slots /* CTAs at once */;
    double lat_l1, lat_ro, lat_l2, lat_dram, lat_shared; /* cycles, load to use */
    /* lines that L1 looks up a cycle; cycles that a sector takes of its data path */
    double lookups, data_turn;
    double least_turn; /* cycles that any instruction holds the load/store unit */
    /* instructions that wait there; lines under way; 0: no limit */
    uint32_t queue, misses;
    /* cycles of a sector into the SM, out of it; of a line out of it */
    double port_turn, store_turn, store_least;
    /* of a sector, of a request, of this SM's share; a sector by itself takes 1/scatter */
    double l2_turn, l2_ask, dram_turn, dram_scatter;
    /* cycles that a request which all SMs make at once holds up this SM's next ones */
    double l2_hotspot_turn;
    /* sectors read that a sector written takes of L2, wholly and in part */
    double store_weight, partial_weight;
    double store_dram; /* sectors that DRAM moves for a sector written */
    /* warp instructions a cycle (0: unknown); cycles from one to the next that needs it */
    double issue, dependent;
    double barrier; /* from the last arrival */
    /* cycles between two CTAs' starts; from a free slot to the first instruction */
    double start_turn, start;
    /* of L2 for atomics; cycles of a turn, all SMs' atomics being alike */
    uint32_t units;
    double unit_turn;
    bool merge;          /* reads for what has just been asked for ride along */
    uint32_t schedulers; /* each its share of the warps and of `issue`; 0: 1 */
    /* of the warps that could go the one that went last does, else the oldest; else by turns */
    bool greedy;
};
enum model_walk_kind {
    MODEL_WALK_LOAD,
    MODEL_WALK_READ_ONLY,
    MODEL_WALK_STORE,
    MODEL_WALK_PARTIAL,
    MODEL_WALK_ATOMIC,
    MODEL_WALK_RED /* nobody waits */,
    MODEL_WALK_PREFETCH,
    MODEL_WALK_PREFETCH_L2
};
struct model_walk_step { /* one memory instruction of a warp */
    /* valid until the warp's next step is asked for */
    const struct model_walk_line *line;
    uint32_t nlines;
    uint32_t before; /* instructions since its last step */
    /* accesses to shared memory among them whose results were waited for; cycles that those hold the
     * unit */
    uint32_t chained, passes;
    uint32_t data;  /* passes over the data banks; of an atomic: turns at L2 */
    uint32_t phase; /* barriers that its CTA is past by then */
    uint8_t kind;
    bool waits; /* enum model_walk_kind; needs the loads before it */
};
/* The next step of warp `warp` of the SM's cta-th CTA; false: it has ended. */
typedef bool (*model_walk_next)(void *ctx, uint32_t cta, uint32_t warp, struct model_walk_step *out);
struct model_walked {
    double cycles; /* to the end of the last warp; NaN: out of memory */
    /* cycles waited for, over all warps, by enum model_from; queueing left out */
    double waits[3];
    /* cycles that each was busy: load/store unit and data path, whichever more; port of the SM; the
     * fullest unit */
    double l1, port, l2, dram, units;
    uint64_t lines, missed; /* of loads; those that lacked a sector of L1 */
    /* asked for by loads; of L2; of L2's time by stores, in sectors */
    double sectors, missed_sectors, stored;
};
/* l1, ro: caches, empty at the start (borrowed); ro NULL: read-only loads go through l1. */
struct model_walked model_walk(const struct model_walk_config *c, struct model_cache *l1,
                               struct model_cache *ro, model_walk_next next, model_walk_beyond beyond,
                               void *ctx);

/* Spearman (ties share their mean rank) and Pearson correlation; NaN when undefined. */
double model_rank_correlation(const double *a, const double *b, size_t n);
/* The same, values > 0, those within `tolerance` (relative) of the least of their group taken as equal:
 * noise has no rank. */
double model_rank_correlation_within(const double *a, const double *b, size_t n, double tolerance);
double model_correlation(const double *a, const double *b, size_t n);

#endif
