/* documents: the contract's documents. */
#pragma once

#include "engine/sim/sim.h"

struct ana_kernel;
struct dev_counters;
struct dev_info;
struct dev_pool_member;
struct tune_advice;
struct tune_family;
struct tune_found;
struct tune_pi_forecast;
struct options;
struct tune_prediction;
struct tune_proof;
struct tune_sweep;

/* timed: a launch of the first that was timed; NULL: none. */
void json_analysis(const struct ana_kernel *const *k, size_t n, const struct result *timed,
                   struct buf *out);
/* What the loads from global memory of a kernel are on a device: one entry for each class of machine
 * instruction and each thing to know about it. known: the device's architecture is; false: nothing can
 * be said. */
struct load_class {
    struct sim_operator op;
    uint32_t loads;
};
struct load_classes {
    struct load_class v[24];
    size_t n;
    bool known;
};
/* Of the kernel and the device functions of its module. dev: its preset where it is simulated, else its
 * compute capability. */
struct load_classes load_classes_of(const struct dev_info *d, const struct ptx_module *m,
                                    const char *kernel);
/* The member "proof", where there is something to say; p may be NULL. */
void json_proof(struct jw *w, const struct tune_proof *p);
/* race: of the original, as session_run.race; empty: none was seen. classes: NULL: not known (a kept
 * result). proof: NULL: none. */
void json_result(const struct result *r, const struct dev_info *d, const char *kernel, const char *race,
                 const struct load_classes *classes, const struct tune_proof *proof, struct buf *out);
/* proof: of the best, NULL: none. */
void json_sweep(const struct tune_sweep *s, const struct tune_proof *proof, const struct dev_info *d,
                const char *kernel, const char *race, struct buf *out);
/* One slice: as json_sweep. Several: points of all slices in one list, and "slices" saying which are
 * whose. member[nmembers]: of the pool that ran it, as "pool"; 0: there was none. */
void json_family(const struct tune_family *f, const struct dev_info *d, const char *kernel,
                 const char *race, const struct dev_pool_member *member, size_t nmembers,
                 struct buf *out);
/* advice: as it stood before the search, with what came of it; NULL: none was asked for (a kept search).
 * done: what was tried; those whose device failed are "missing". */
void json_found(const struct tune_found *f, const struct tune_advice *advice, size_t nadvice,
                const struct result *done, size_t ndone, const struct dev_info *d, const char *kernel,
                const char *race, struct buf *out);
/* One row per method by name; and advice where nothing could be run ("launched": false). */
void json_compared(const char *const *method, const struct tune_found *f, size_t n,
                   const struct dev_info *d, const char *kernel, struct buf *out);
void json_advice(const struct tune_advice *v, size_t n, const struct dev_info *d, const char *kernel,
                 struct buf *out);
/* What the model says of two configurations and of the threshold; nothing was launched. */
void json_prediction(const struct tune_prediction *original, const struct options *o,
                     const struct tune_prediction *asked /* of o */, const struct tune_pi_forecast *f,
                     const struct dev_info *d, const char *kernel, struct buf *out);
/* counters[i]: of device i, NULL: were not asked for. */
void json_devices(const struct dev_info *d, const struct dev_counters *const *counters, size_t n,
                  struct buf *out);
