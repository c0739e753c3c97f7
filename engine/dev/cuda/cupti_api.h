/* cupti_api, private to dev: our declarations of the part of CUPTI in use
 * (cupti_target.h, cupti_profiler_target.h, cupti_profiler_host.h,
 * cupti_range_profiler.h of CUPTI 12.6 and later). Every parameter structure
 * starts with its own size, so later versions of the library accept these. */
#pragma once

#include "engine/base/base.h"

#define CUPTI_PARAM \
    size_t size;    \
    void *priv
/* The size a structure has up to its last member: what CUPTI's own macros pass. */
#define CUPTI_SIZE(type, last) (offsetof(struct type, last) + sizeof(((struct type *)0)->last))

struct cupti_init {
    CUPTI_PARAM;
};
struct cupti_chip {
    CUPTI_PARAM;
    size_t device;
    const char *name;
};
struct cupti_availability {
    CUPTI_PARAM;
    void *ctx;
    size_t n;
    uint8_t *image;
};
struct cupti_host_open {
    CUPTI_PARAM;
    int profiler;
    const char *chip;
    const uint8_t *availability;
    void *host;
};
struct cupti_host_close {
    CUPTI_PARAM;
    void *host;
};
struct cupti_add {
    CUPTI_PARAM;
    void *host;
    const char **names;
    size_t n;
};
struct cupti_config_size {
    CUPTI_PARAM;
    void *host;
    size_t n;
};
struct cupti_config {
    CUPTI_PARAM;
    void *host;
    size_t n;
    uint8_t *image;
};
struct cupti_passes {
    CUPTI_PARAM;
    size_t n;
    uint8_t *image;
    size_t passes;
};
struct cupti_evaluate {
    CUPTI_PARAM;
    void *host;
    const uint8_t *data;
    size_t n, range;
    const char **names;
    size_t count;
    double *values;
};
struct cupti_enable {
    CUPTI_PARAM;
    void *ctx;
    void *object;
};
struct cupti_object {
    CUPTI_PARAM;
    void *object;
}; /* disable, start, pop range */
struct cupti_push {
    CUPTI_PARAM;
    void *object;
    const char *name;
};
struct cupti_data_size {
    CUPTI_PARAM;
    void *object;
    const char **names;
    size_t count, ranges;
    uint32_t nodes;
    size_t n;
};
struct cupti_data_init {
    CUPTI_PARAM;
    void *object;
    size_t n;
    uint8_t *data;
};
struct cupti_set {
    CUPTI_PARAM;
    void *object;
    size_t nconfig;
    const uint8_t *config;
    size_t ndata;
    uint8_t *data;
    int range, replay;
    size_t ranges_per_pass;
    uint16_t levels, min_level;
    size_t pass;
    uint16_t target_level;
};
struct cupti_stop {
    CUPTI_PARAM;
    void *object;
    size_t pass, level;
    uint8_t all_submitted;
};
struct cupti_decode {
    CUPTI_PARAM;
    void *object;
    size_t dropped;
};

enum {
    CUPTI_RANGE_AUTO = 1,
    CUPTI_RANGE_USER = 2,
    CUPTI_REPLAY_KERNEL = 2,
    CUPTI_REPLAY_USER = 3,
    CUPTI_TYPE_RANGE_PROFILER = 0
};
enum { CUPTI_OK = 0, CUPTI_NO_PRIVILEGE = 35, CUPTI_VIRTUAL_NO_PRIVILEGE = 40 };

/* field, exported name, parameter structure, its last member */
#define CUPTI_API(X)                                                                  \
    X(init, cuptiProfilerInitialize, cupti_init, priv)                                \
    X(deinit, cuptiProfilerDeInitialize, cupti_init, priv)                            \
    X(chip, cuptiDeviceGetChipName, cupti_chip, name)                                 \
    X(availability, cuptiProfilerGetCounterAvailability, cupti_availability, image)   \
    X(host_open, cuptiProfilerHostInitialize, cupti_host_open, host)                  \
    X(host_close, cuptiProfilerHostDeinitialize, cupti_host_close, host)              \
    X(add, cuptiProfilerHostConfigAddMetrics, cupti_add, n)                           \
    X(config_size, cuptiProfilerHostGetConfigImageSize, cupti_config_size, n)         \
    X(config, cuptiProfilerHostGetConfigImage, cupti_config, image)                   \
    X(passes, cuptiProfilerHostGetNumOfPasses, cupti_passes, passes)                  \
    X(evaluate, cuptiProfilerHostEvaluateToGpuValues, cupti_evaluate, values)         \
    X(enable, cuptiRangeProfilerEnable, cupti_enable, object)                         \
    X(disable, cuptiRangeProfilerDisable, cupti_object, object)                       \
    X(data_size, cuptiRangeProfilerGetCounterDataSize, cupti_data_size, n)            \
    X(data_init, cuptiRangeProfilerCounterDataImageInitialize, cupti_data_init, data) \
    X(set, cuptiRangeProfilerSetConfig, cupti_set, target_level)                      \
    X(start, cuptiRangeProfilerStart, cupti_object, object)                           \
    X(push, cuptiRangeProfilerPushRange, cupti_push, name)                            \
    X(pop, cuptiRangeProfilerPopRange, cupti_object, object)                          \
    X(stop, cuptiRangeProfilerStop, cupti_stop, all_submitted)                        \
    X(decode, cuptiRangeProfilerDecodeData, cupti_decode, dropped)
