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
    X(L1_SECTORS, "l1.sectors", "sector", "32-byte sectors requested from L1 by global loads")        \
    X(L1_SECTORS_PER_REQUEST, "l1.sectors_per_request", "sector/request",                             \
      "coalescing: fewer is better")                                                                  \
    X(L1_HIT_RATE, "l1.hit_rate", "percent", "sectors found in L1")                                   \
    X(L2_READ_SECTORS, "l2.read_sectors", "sector", "sectors read from L2 (the paper's best metric)") \
    X(L2_HIT_RATE, "l2.hit_rate", "percent", "sectors found in L2")                                   \
    X(DRAM_READ_BYTES, "dram.read_bytes", "byte", "bytes read from device memory")                    \
    X(WARPS_ACTIVE, "warps.active", "percent", "resident warps over the SM's maximum, on average")    \
    X(INST_WARP, "inst.warp", "instruction", "warp instructions executed")                            \
    X(INST_THREAD, "inst.thread", "instruction", "thread instructions executed (active lanes)")       \
    X(L2_WRITE_SECTORS, "l2.write_sectors", "sector", "sectors written to L2")                        \
    X(DRAM_WRITE_BYTES, "dram.write_bytes", "byte", "bytes written to device memory")                 \
    X(COPY_REQUESTS, "copy.requests", "copy", "bulk and tensor copies from and to global memory")     \
    X(COPY_READ_SECTORS, "copy.read_sectors", "sector", "sectors that copies read from L2")           \
    X(COPY_WRITE_SECTORS, "copy.write_sectors", "sector", "sectors that copies write to L2")          \
    X(COPY_L2_HIT_RATE, "copy.l2_hit_rate", "percent", "sectors of copies found in L2")               \
    X(TENSOR_ACTIVE, "tensor.active", "percent", "cycles in which the tensor cores work")             \
    X(FLOP_FP16, "flop.fp16", "operation", "half precision, outside the tensor cores")                \
    X(FLOP_FP32, "flop.fp32", "operation", "single precision; fma counts two")                        \
    X(FLOP_FP64, "flop.fp64", "operation", "double precision; fma counts two")                        \
    X(FLOP_TENSOR_16, "flop.tensor_16", "operation", "tensor cores, f16 and bf16")                    \
    X(FLOP_TENSOR_TF32, "flop.tensor_tf32", "operation", "tensor cores, tf32")                        \
    X(FLOP_TENSOR_8, "flop.tensor_8", "operation", "tensor cores, 8-bit floats and integers")         \
    X(FLOP_TENSOR_OTHER, "flop.tensor_other", "operation", "tensor cores, other types")
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
/* A counter that not every device or kernel has, and has none of here: lists and documents leave it out.
 */
bool counter_left_out(enum counter_id id, const struct counter all[COUNTER_COUNT]);

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
enum counter_id pipe_counter(enum pipe p);

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
