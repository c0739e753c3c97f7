/* reuse: exact LRU stack distances (paper: schedule, section 5; Almasi et al.). */
#pragma once

#include "engine/base/base.h"

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
