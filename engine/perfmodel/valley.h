/* valley: the valley model of Guz et al. and its fit (paper: bypass, section 1 of the digest). */
#pragma once

#include "engine/base/base.h"

/* ---- valley model (Guz et al.; bypass, section 1) ---- */
struct model_valley {
    double cache_bytes;    /* S: cache shared by the threads */
    double t_cache, t_mem; /* cycles of a hit and of a miss */
    double npe;            /* execution units */
    double freq_hz, cpi;
    double r_m;       /* memory instructions / instructions */
    double b_reg;     /* bytes per access */
    double bandwidth; /* bytes per second */
    /* locality of the access stream: shape (> 1) and bytes per thread */
    double alpha, beta;
    double sharpness; /* p >= 1; 1 (or 0) is the paper's hit-rate law */
};
/* Hit rate when n threads share the cache: 1 - (x^p + 1)^-(alpha-1), x = S/(n*beta).
 * p = 1 is the paper's. With it n*h(n) never falls, so it cannot show a threshold
 * inside 0..W; p > 1 lets h fall off a cliff as LRU does. h(0) = 1. */
double model_hit(const struct model_valley *v, double n);
/* operations per second, n threads all caching */
double model_perf(const struct model_valley *v, double n);
/* The same for `total` threads of which `caching` share the cache and the rest always
 * miss: the hit rate is the mean over all threads. caching == total gives model_perf(total). */
double model_perf_mixed(const struct model_valley *v, double caching, double total);
struct model_fit {
    bool valid;
    /* Ours: time = floor_time + miss_time * (1 - H), H the mean hit rate of all threads with
     * the law above. Every bound of the model (latency, bandwidth) is linear in 1 - H. */
    double alpha, beta;
    double residual; /* root mean square of relative errors */
    /* The same of the best constant, and the share of its squares that the law explains: 1 minus the ratio
     * of the squares; 0 or below: a constant fits as well. NaN: the data are constant. */
    double constant_residual;
    double r2, paper_r2;
    double scale; /* = miss_time, time units of the data */
    double sharpness, floor_time;
    /* The paper's: time = paper_scale / model_perf_mixed with p = 1; NaN when the base numbers are not
     * usable. */
    double paper_alpha;
    double paper_beta;
    double paper_scale;
    double paper_residual;
};
/* Least squares over alpha, beta and a time scale: time[i] > 0 is a launch with n[i] caching
 * threads (the rest of total_threads bypass). Needs 4 points; else, and on nonsense, valid is
 * false. Deterministic (Nelder-Mead over log-parameters from fixed starts). */
/* Below this share of R² a law says no more than a constant. */
#define MODEL_R2_LEAST 0.1
struct model_fit model_valley_fit(const struct model_valley *base, const double *n, const double *time,
                                  size_t count, double total_threads);
/* Fitted time at a point. */
double model_valley_time(const struct model_valley *v, const struct model_fit *f, double caching,
                         double total);
/* Threshold predicted before any launch: the most warps per CTA whose footprints fit the cache
 * together, 0..warps. ways == 0: fully used; else set conflicts are allowed for by taking
 * (ways-1)/ways of the cache, unless everything fits. */
unsigned model_threshold_predict(double cache_bytes, unsigned ways, double bytes_per_warp,
                                 unsigned ctas_per_sm, unsigned warps);
