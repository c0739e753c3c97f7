/* curve: reuse distances, the miss-ratio curve of one SM, footprints by array. */
#pragma once

#include "engine/base/base.h"

struct ana_opts;
struct ptx_module;

/* ---- reuse distance, miss-ratio curve, footprints per array: curve.c ----
 * From the loads of one SM in the order of ana_trace: 128-byte lines of four sectors under LRU. A touch
 * is one sector of one request, as in the counter l1.hit_rate. It hits in a cache of L lines when, since
 * that sector was last asked for, its line was never away for L distinct lines or more; so one pass
 * gives the exact hits of every size (schedule paper, section 5: LRU stack distance). `from` tells who
 * asked for the sector last. */
#define ANA_FROM(X)                   \
    X(WARP, "same warp")              \
    X(CTA, "another warp of the CTA") \
    X(OTHER, "another CTA")
#define ANA_LEVELS(X)   \
    X(THREAD, "thread") \
    X(WARP, "warp")     \
    X(CTA, "CTA")       \
    X(SM, "SM")
#define ANA_FROM_ITEM(n, text) ANA_FROM_##n,
enum ana_from { ANA_FROM(ANA_FROM_ITEM) ANA_FROM_COUNT };
#undef ANA_FROM_ITEM
#define ANA_LEVEL_ITEM(n, text) ANA_LEVEL_##n,
enum ana_level { ANA_LEVELS(ANA_LEVEL_ITEM) ANA_LEVEL_COUNT };
#undef ANA_LEVEL_ITEM
const char *ana_from_name(enum ana_from f);
const char *ana_level_name(enum ana_level l);
/* Exact up to 64 lines, then 32 bins an octave with edges at the powers of two; inside a bin touches are
 * spread evenly. */
struct ana_dist {
    uint32_t *bin[ANA_FROM_COUNT];
    uint64_t total, cold /* never asked for before */;
};
/* Predicted share of touches that miss in a fully associative LRU cache of so many bytes, 0..1; NaN when
 * there were no touches. split (NULL or ANA_FROM_COUNT): the shares that hit, by who had asked; split
 * and the result sum to 1. */
double ana_miss_ratio(const struct ana_dist *d, double bytes, double *split);
/* Bytes in whole lines, by level (a thread's: a 32nd of its warp's; an SM's: of the CTAs resident
 * together). touched: all that is asked for. window: what must stay in the cache for nine tenths of its
 * reuse in the stream of that level; of an array: its own lines alone. NaN: nothing is reused. */
struct ana_extent {
    double touched[ANA_LEVEL_COUNT], window[ANA_LEVEL_COUNT];
};
struct ana_curve_array {
    const char *name; /* "data", or NULL: several or unknown */
    int param;
    struct ana_dist dist;
    struct ana_extent extent;
};
/* The same for other shares of reuse; pi_fit: warps per CTA whose windows fit L1 together, -1 without a
 * device. */
struct ana_window {
    double share, bytes[ANA_LEVEL_COUNT];
    int pi_fit;
};
#define ANA_WINDOWS 3 /* half, nine tenths, 99 of 100 */
struct ana_point {
    double bytes;
    double miss;
    double split[ANA_FROM_COUNT];
    const char *mark; /* "L1", "L2 per SM", "L2"; NULL: a power of two */
};
struct ana_curve {
    struct arena *arena;
    uint64_t requests, lines; /* line requests traced; distinct lines */
    /* the trace was ended at its limit: of the SM's first CTAs only */
    bool cut;
    /* part of the lines followed (1: all); then 95 % half-width of miss, most of any point */
    double sampled, error;
    /* the SM of so many, with so many CTAs at a time; 1 and 1 without a device */
    uint32_t sms, resident;
    /* of the device, NaN: none; L1 bytes per resident thread (bypass paper, Table 1) */
    double l1_bytes;
    double l2_bytes;
    double cache_share;
    /* by ana_kernel.access; total 0: not a global load, or never ran */
    struct ana_dist all, *access;
    uint32_t naccess;
    uint32_t narrays;
    uint32_t npoints;
    struct ana_curve_array *array;
    struct ana_extent extent; /* of all arrays together */
    struct ana_window window[ANA_WINDOWS];
    /* of `all`, rising: powers of two from 1 KiB, with the device's sizes between them */
    struct ana_point *point;
};
/* *out owned, ana_curve_free. ST_REFUSED: no launch, nothing traced, or as ana_trace. */
enum status ana_curve_make(const struct ptx_module *m, struct str kernel, const struct ana_opts *o,
                           struct ana_curve **out, struct diags *ds);
void ana_curve_free(struct ana_curve *c);
