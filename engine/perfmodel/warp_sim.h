/* warp_sim: the warps of one SM in time, waiting for lines and for each other. */
#pragma once

#include "engine/perfmodel/cache.h"

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
    /* cycles, load to use */
    double lat_l1;
    double lat_ro;
    double lat_l2;
    double lat_dram;
    double lat_shared;
    /* lines that L1 looks up a cycle; cycles that a sector takes of its data path */
    double lookups, data_turn;
    double least_turn; /* cycles that any instruction holds the load/store unit */
    /* instructions that wait there; lines under way; 0: no limit */
    uint32_t queue, misses;
    /* cycles of a sector into the SM, out of it; of a line out of it */
    double port_turn;   /* cycle, a sector into the SM */
    double store_turn;  /* cycle, a sector out of it */
    double store_least; /* cycle, a line out of it */
    /* of a sector, of a request, of this SM's share; a sector by itself takes 1/scatter */
    double l2_turn;   /* cycle, a sector */
    double l2_ask;    /* cycle, a request */
    double dram_turn; /* cycle, a sector */
    double dram_scatter;
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
    /* cycles of work that wait at a unit; more waits at the SM, which sends in order */
    double unit_room;
    uint32_t unit_lines; /* lines that one unit serves, a power of two */
    bool merge;          /* reads for what has just been asked for ride along: */
    /* after how many cycles, and reads, none does, at most (by a hash, as if by chance; at least 1) */
    uint32_t merge_window;
    uint32_t merge_answers; /* reads that are answered as one, at most */
    uint32_t schedulers;    /* each its share of the warps and of `issue`; 0: 1 */
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
    double l1;
    double port;
    double l2;
    double dram;
    double units;
    uint64_t lines, missed; /* of loads; those that lacked a sector of L1 */
    /* asked for by loads; of L2; of L2's time by stores, in sectors */
    double sectors;
    double missed_sectors;
    double stored;
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
