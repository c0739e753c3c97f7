/* tune: sweeps, votes, searches; accepts a configuration only by equality of
 * outputs with the original's; gives advice. Every finished result goes to the
 * observer at once, on the calling thread. */
#ifndef GPULOCW_TUNE_H
#define GPULOCW_TUNE_H

#include "engine/dev/dev.h"
#include "engine/model/model.h"
#include "engine/pass/pass.h"

struct tune_subject {                             /* what is tuned; all borrowed */
    const struct ptx_module *module; const struct launch_spec *launch; const struct launch_data *data;
    struct dev *dev; const struct ana_kernel *facts;
};
struct tune_observer {
    void (*point)(void *ctx, const struct result *r, const char *why); /* a finished configuration; why it was tried, or NULL */
    void (*progress)(void *ctx, double done, const char *what);        /* 0..1 */
    void *ctx;
    const struct cancel *cancel;
};
struct tune_run_opts { unsigned repeat, max_repeat; bool counters, exact; double time_limit_s; };
struct tune_run_opts tune_run_opts_default(const struct dev_info *i);

/* A bench holds the original's outputs and the code shapes loaded so far. */
struct tune_bench;
enum status tune_bench_open(const struct tune_subject *s, const struct tune_run_opts *o, struct tune_bench **out, struct diags *ds);
void tune_bench_close(struct tune_bench *b);
/* Sweeps and searches share their points over the members of this pool (borrowed); the bench's own device is its first member. */
void tune_bench_use_pool(struct tune_bench *b, struct dev_pool *p);
/* One configuration: rewrite, load (cached by shape), launch, compare. Refusals and failures are results too. */
enum status tune_run_one(struct tune_bench *b, const struct options *o, struct result *out, struct diags *ds);

struct tune_sweep {                               /* bpa, cha, then π = 0..W (or another axis) */
    const char *axis;                             /* "pi", "agents", "carveout", "block" */
    struct result bpa, cha, *points; size_t npoints; bool complete;
    size_t best; bool has_best;                   /* among points that are equal to the original; bpa and cha compete too */
    struct model_curve curve; struct model_fit fit; struct model_valley valley;
    double overhead_bpa, overhead_cha;            /* t(π=0)/t(bpa), t(π=W)/t(cha); NaN: n/a */
    uint32_t warps;                               /* W */
};
enum status tune_sweep_run(struct tune_bench *b, const char *axis, const struct options *base, const struct tune_observer *ob,
                           const struct result *done, size_t ndone /* points of a cut-off sweep */, struct tune_sweep *out, struct diags *ds);
/* Recomputes best, category, fit and overheads from points (replay uses it: no device). */
void tune_sweep_judge(struct tune_sweep *s, const struct dev_info *dev, double block_threads);
void tune_sweep_free(struct tune_sweep *s);
/* The configuration to use: bpa, cha or a point between; NULL when nothing ran equal to the original. */
const struct result *tune_sweep_best(const struct tune_sweep *s);
/* One sentence a person can act on: "cache-congested: π=7 is 2.1x faster than caching all." */
void tune_verdict(const struct tune_sweep *s, struct buf *out);

struct tune_advice { char title[96], why[256]; struct options options; double expected_gain, confidence, real_gain; bool tried; };
/* Ranked. Returns the count (at most max). */
size_t tune_advise(const struct tune_subject *s, const struct tune_sweep *sweep /* may be NULL */, struct tune_advice *out, size_t max);

/* Memory cost of a configuration before any launch: the schedule paper's figure by name (cost.paper, in cycles of
 * latency, parts l1, l2, dram) and ours (cost.extended, cycles: a lower bound that knows bandwidth, sectors, bypassing
 * and the L1 size; `issue` is its bound by instructions issued, 0 until the original was run with counters). `in`: the counts behind them, whole device. !valid: why_not says what the model cannot tell. */
struct tune_prediction { struct options options; struct model_cost_in in; struct model_cost cost; double issue; bool valid; char why_not[160]; };
/* ST_OK with !valid where there is nothing to predict from; else ST_CANCELLED or ST_NOMEM. */
enum status tune_predict(struct tune_bench *b, const struct options *o, struct tune_prediction *out);

struct tune_search_opts {
    const char *method; unsigned budget_launches; double budget_seconds;
    const struct result *done; size_t ndone;                 /* of a cut-off search: taken instead of launching them again */
    const struct launch_spec *const *other; size_t nother;   /* further data sets of the same kernel: the recommendation is tried on them */
};
/* After trying: items whose options are among `done` get their real gain over `original` (same launch and device). */
void tune_advise_prove(struct tune_advice *v, size_t n, const struct result *original, const struct result *done, size_t ndone);

#define TUNE_SETS 8
struct tune_data_set { char name[64]; double gain /* 0: did not run */; enum equality equal; bool holds; char message[128]; };
#define TUNE_RANKED 8
struct tune_found {
    struct options options; struct result best, original; bool leave_alone; char reason[256];
    unsigned launches, space;
    unsigned skipped, resumed;                /* the model saw no chance for them; taken from opts->done */
    struct tune_prediction ranking[TUNE_RANKED]; unsigned nranking;   /* method "model": cheapest first */
    struct tune_data_set set[TUNE_SETS]; unsigned nsets;      /* what came of opts->other; empty when it is to be left alone */
};
enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o, const struct tune_observer *ob, struct tune_found *out, struct diags *ds);

#endif
