/* counters: where a number comes from, counters, and the times of a launch. */
#ifndef GPULOCW_REC_COUNTERS_H
#define GPULOCW_REC_COUNTERS_H

#include "engine/base/base.h"

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
/* low..high, both within; low 0: not known */
struct interval {
    double low, high;
};
struct timing {
    /* nanoseconds */
    int64_t median;
    int64_t min; /* nanosecond */
    int64_t max; /* nanosecond */
    int64_t sample[TIMING_MAX_SAMPLES];
    uint32_t n;
    enum origin origin;
    bool valid;
    bool throttled; /* a clock limit was active during a sample */
    /* launches that each sample is the mean of, each from restored inputs; 0: one */
    uint32_t batch;
    /* where a simulated time lies on the GPU (engine/rec/interval.h), ns; 0: not known. Sessions hold
     * thousands of these: no doubles */
    float likely_low, likely_high;
};
struct interval timing_likely(const struct timing *t); /* to whole nanoseconds */
void timing_finish(struct timing *t);                  /* median, min, max from the samples */
/* Where the median of further samples would lie, 99 of 100 times: from the order of the samples, so that
 * single slow launches do not widen it. Up to thirteen samples, or none kept: least and greatest. */
void timing_band(const struct timing *t, int64_t *low, int64_t *high);

#endif
