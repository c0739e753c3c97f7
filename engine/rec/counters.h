/* counters: where a number comes from, counters, and the times of a launch. */
#pragma once

#include "engine/base/base.h"

/* ---- counters and results ---- */
enum origin { ORIGIN_MODELLED, ORIGIN_SIMULATED, ORIGIN_MEASURED, ORIGIN_DERIVED, ORIGIN_COMPILED };
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
enum counter_better { COUNTER_LESS = -1, COUNTER_NEITHER, COUNTER_MORE };
/* Counters are numbers below COUNTER_COUNT, which is COUNTERS_MOST at most: who names one includes counter_ids.h, so
 * that a new counter compiles only those again. */
#define COUNTERS_MOST 48
struct counter {
    double value;
    enum origin origin;
    bool valid;
}; /* not valid: n/a, never 0 */
const char *counter_name(unsigned c);
const char *counter_unit(unsigned c);
const char *counter_help(unsigned c);
enum counter_better counter_better(unsigned c);
bool counter_sums(unsigned c); /* the simulated device adds it up */
/* A counter that not every device or kernel has, and has none of here: lists and documents leave it out.
 */
bool counter_left_out(unsigned id, const struct counter all[COUNTERS_MOST]);

/* ---- pipes: what does arithmetic with fractions, and the counters of its operations ---- */
/* X(id, name, counter). A pipe of tensor cores is one type of factors, with a rate of its own. */
#define PIPE_LIST(X)                                \
    X(FP16, "fp16", FLOP_FP16)                      \
    X(FP32, "fp32", FLOP_FP32)                      \
    X(FP64, "fp64", FLOP_FP64)                      \
    X(TENSOR_16, "tensor-16", FLOP_TENSOR_16)       \
    X(TENSOR_TF32, "tensor-tf32", FLOP_TENSOR_TF32) \
    X(TENSOR_8, "tensor-8", FLOP_TENSOR_8)          \
    X(TENSOR_OTHER, "tensor-other", FLOP_TENSOR_OTHER)
#define PIPE_ITEM(id, name, counter) PIPE_##id,
enum pipe { PIPE_LIST(PIPE_ITEM) PIPE_COUNT };
#undef PIPE_ITEM
const char *pipe_name(enum pipe p);
unsigned pipe_counter(enum pipe p);

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
