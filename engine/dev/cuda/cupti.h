/* cupti, private to dev: hardware counters of one launch through CUPTI's Range
 * Profiler (CUPTI 12.6 and later), found at run time. The structures are our own
 * declarations of that interface; tests/unit/test_dev_abi.c compares them with
 * NVIDIA's headers where those exist. */
#pragma once

#include "engine/rec/counters.h"
#include "engine/rec/limits_measured.h"

struct dev_counters;

struct cupti;
/* NULL with a reason and what to do about it in why[n]. ctx: the current driver context. */
struct cupti *cupti_open(int ordinal, void *ctx, char *why, size_t n);
void cupti_close(struct cupti *c); /* NULL is fine; the context must still exist */
/* What a measured launch needs: prepare is called before each pass, launch inside it and waits. */
struct cupti_work {
    enum status (*prepare)(void *ctx);
    enum status (*launch)(void *ctx);
    void *ctx;
};
/* Replays the launch as often as the counters need. Counters the chip has not are n/a, measures too.
 * ST_DEVICE with why[n] when nothing could be read; what prepare and launch return goes through. */
enum status cupti_collect(struct cupti *c, const struct cupti_work *w,
                          struct counter counters[COUNTERS_MOST], struct limit_measures *measures,
                          char *why, size_t n);
/* Ends profiling of the context until the next collect. NULL is fine. */
void cupti_rest(struct cupti *c);
/* Chip, passes, and each counter's formula over the metrics chosen for this chip; n/a where it has none
 * of them. */
void cupti_sources(const struct cupti *c, struct dev_counters *out);
