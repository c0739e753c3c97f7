/* A sweep of one curve, as tests want it. */
#ifndef GPULOCW_TESTS_SWEEP_ONE_H
#define GPULOCW_TESTS_SWEEP_ONE_H

#include "engine/predict/prediction.h"
#include "engine/search/advice.h"
#include "engine/search/live.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"

struct diags;
struct options;
struct result;
struct tune_bench;

/* done: points of a cut-off sweep. *out is owned: tune_sweep_free, also after an error. ST_USAGE where
 * `axis` is more than one curve. */
static inline enum status sweep_one(struct tune_bench *b, const char *axis, const struct options *base,
                                    const struct tune_observer *ob, const struct result *done,
                                    size_t ndone, struct tune_sweep *out, struct diags *ds)
{
    struct tune_family f;
    *out = (struct tune_sweep){ .axis = NULL };
    enum status st = tune_family_list(b, axis, base, &f, ds);
    if (st == ST_OK && f.n != 1)
        st = ST_USAGE;
    if (st == ST_OK)
        st = tune_family_run(b, &f, ob, done, ndone, ds);
    if (f.n == 1) {
        *out = f.slice[0].sweep;
        f.slice[0].sweep = (struct tune_sweep){ .axis = NULL };
    }
    tune_family_free(&f);
    return st;
}

#endif
