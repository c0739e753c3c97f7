/* model: formulas and algorithms over numbers only; no PTX, no device.
 * Papers: bypass (valley model, categories), schedule (reuse distance, memory cost). */
#ifndef GPULOCW_MODEL_H
#define GPULOCW_MODEL_H

#include "engine/base/base.h"

/* ---- valley model (Guz et al.; papers digest section 1) ---- */
struct model_valley { double cache_bytes, t_cache, t_mem /* cycles */, npe, freq_hz, cpi, r_m, b_reg, bandwidth /* bytes/s */, alpha, beta; };
double model_hit(const struct model_valley *v, double n);      /* 1 - (S/(n*beta)+1)^-(alpha-1) */
double model_perf(const struct model_valley *v, double n);     /* operations per second */
struct model_fit { bool valid; double alpha, beta, residual /* root mean square of relative errors */, scale; };
/* Least squares over alpha, beta and a time scale: time[i] is a launch with n[i] caching threads (the rest bypass). */
struct model_fit model_valley_fit(const struct model_valley *base, const double *n, const double *time, size_t count, double total_threads);
double model_valley_time(const struct model_valley *v, const struct model_fit *f, double caching, double total); /* fitted time at a point */

/* ---- curves: categories by stated numeric rules (docs/categories in docs/design.md) ---- */
#define MODEL_CATEGORIES(X) X(BYPASS_FAVOURITE, "bypass-favourite") X(CACHE_FAVOURITE, "cache-favourite") \
    X(CACHE_CONGESTED, "cache-congested") X(CACHE_INSENSITIVE, "cache-insensitive") X(IRREGULAR, "irregular")
enum model_category {
#define X(n, text) CATEGORY_##n,
    MODEL_CATEGORIES(X)
#undef X
};
const char *model_category_name(enum model_category c);
struct model_point { double x, time, low, high; };              /* low..high: the noise band (equal to time when exact) */
struct model_curve { enum model_category category; const char *sensitivity; /* CI MCS HCS */ size_t best, peak, valley; double gain_over_first, gain_over_last; };
/* Points in rising x: first is bpa (π=0), last is cha (π=W). */
struct model_curve model_categorise(const struct model_point *p, size_t n);

/* ---- reuse distance: exact LRU stack distances (Olken tree / Almasi) ---- */
#define MODEL_COLD UINT64_MAX
struct model_reuse;
struct model_reuse *model_reuse_new(size_t expected_lines);
void model_reuse_free(struct model_reuse *r);
uint64_t model_reuse_touch(struct model_reuse *r, uint64_t line); /* distinct lines since the last touch; MODEL_COLD first time */
struct model_hist { uint64_t bin[64]; uint64_t cold, total; };   /* bin[k]: distances in [2^k-1, 2^(k+1)-1) */
void model_hist_add(struct model_hist *h, uint64_t distance);
double model_hist_hit_rate(const struct model_hist *h, double lines); /* interpolated hit rate of an LRU cache of so many lines */

/* ---- memory cost (schedule) ---- */
struct model_cost_in { double loads /* G: transactions */, m1, m2, lat_l1, lat_l2, lat_dram, sectors, bw_l2, bw_dram /* bytes per cycle */, parallelism; };
struct model_cost { double l1, l2, dram, paper /* their sum */, extended /* ours: with sectors and bandwidth */; };
struct model_cost model_memory_cost(const struct model_cost_in *in);

/* softcache: cache lines per thread, floor((available/threads)/16) */
uint32_t model_softcache_lines(uint64_t shared_available, uint64_t resident_threads);
/* cluster: partition of V CTAs into M clusters; f and its inverse (papers digest section 3) */
struct model_place { uint64_t w, i; };
struct model_place model_cluster_of(uint64_t V, uint64_t M, uint64_t v);
uint64_t model_cluster_inverse(uint64_t V, uint64_t M, uint64_t w, uint64_t i);
uint64_t model_cluster_start(uint64_t V, uint64_t M, uint64_t i);
/* Spearman and Pearson correlation; NaN when undefined. */
double model_rank_correlation(const double *a, const double *b, size_t n);
double model_correlation(const double *a, const double *b, size_t n);

#endif
