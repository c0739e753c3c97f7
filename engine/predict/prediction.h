/* prediction: the memory cost of a configuration before any launch. */
#pragma once

#include "engine/perfmodel/cost.h"
#include "engine/rec/counters.h"

struct options;
struct tune_bench;

/* Memory cost of a configuration before any launch: the schedule paper's figure by name (cost.paper, in
 * cycles of latency, parts l1, l2, dram) and ours (cost.extended, cycles: one SM's warps walked in time,
 * with lines on their way, queues, sectors, bypassing, prefetching, shared memory and the L1 size; no
 * less than its bounds: latency (parts latency_l1, latency_l2, latency_dram), bound_l1, bound_l2,
 * bound_dram; `issue` by instructions issued, NaN until the original was run with counters). `in`: the
 * counts behind them, whole device. !valid: why_not says what the model cannot tell. */
struct tune_prediction {
    struct model_cost_in in;
    /* the counts of the paper's figure (paper_cost.c): G of the whole launch, m1 and m2 by reuse
     * distance over lines, first touches included, and latencies */
    struct model_cost_in paper;
    struct model_cost cost;
    double issue;
    /* one SM's warps in time (model_walk), cycles: what `extended` is unless a bound is above it */
    double walked;
    /* `extended` at the device's clock: modelled; NaN: clock unknown */
    double time_ns;
    struct interval likely; /* on the GPU, ns (engine/rec/interval.h) */
    bool valid;
    char why_not[160];
    /* what the figure leaves out for these options; empty: nothing known */
    char note[160];
};
/* ST_OK with !valid where there is nothing to predict from; else ST_CANCELLED or ST_NOMEM. */
enum status tune_predict(struct tune_bench *b, const struct options *o, struct tune_prediction *out);
/* Ours alone, which is quicker: cost.paper and its parts are NaN, the counts behind them zero. */
enum status tune_predict_time(struct tune_bench *b, const struct options *o,
                              struct tune_prediction *out);
/* The parts of ours as rows, one table for text, JSON and panels: cycles of part i; "latency", "L1 rate"
 * ... */
#define TUNE_PARTS 5
const char *tune_part_name(size_t i);
double tune_part(const struct tune_prediction *p, size_t i);
/* the largest part: what `extended` comes from, most of all */
size_t tune_part_binding(const struct tune_prediction *p);
/* Both figures with their parts, as lines of text. */
void tune_prediction_text(const struct tune_prediction *p, const char *device, struct buf *out);

/* The threshold before any launch: how many warps' footprints fit L1 together (valley model), and the
 * least predicted cost over all thresholds. -1, NaN: nothing to tell from. `warps`: W; 0 is bpa, W is
 * cha. */
#define TUNE_PI_MOST 64
struct tune_pi_forecast {
    double cost[TUNE_PI_MOST + 1]; /* by π, 0..warps, cycles; NaN: not predicted */
    uint32_t warps;
    int footprint, model;
    double bpa, cha, least /* cycles, ours */;
    /* whole lines that hold nine tenths of a warp's own reuse */
    double bytes_per_warp;
    char why_not[160], model_why_not[160]; /* for a -1 */
};
enum status tune_forecast_pi(struct tune_bench *b, const struct options *base,
                             struct tune_pi_forecast *out);
