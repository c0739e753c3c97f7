/* tune: sweeps, votes, searches; accepts a configuration only by equality of
 * outputs with the original's; gives advice. Every finished result goes to the
 * observer at once, on the calling thread. */
#ifndef GPULOCW_TUNE_TUNE_H
#define GPULOCW_TUNE_TUNE_H

#include "engine/dev/dev.h"
#include "engine/perfmodel/perfmodel.h"
#include "engine/pass/pass.h"

struct tune_subject { /* what is tuned; all borrowed */
    const struct ptx_module *module;
    const struct launch_spec *launch;
    const struct launch_data *data;
    struct dev *dev;
    const struct ana_kernel *facts;
};
struct tune_live;
struct tune_observer {
    /* a finished configuration, or (r->probe_ctas) probe; why it was tried, or NULL */
    void (*point)(void *ctx, const struct result *r, const char *why);
    /* 0..1; from any thread, one at a time */
    void (*progress)(void *ctx, double done, const char *what);
    void *ctx;
    const struct cancel *cancel;
    /* searches: after every change; may be NULL */
    void (*live)(void *ctx, const struct tune_live *l);
};
struct tune_run_opts {
    unsigned repeat, max_repeat;
    bool counters, exact;
    double time_limit_s;
    bool check_memory /* uninitialised reads and races are faults; simulated devices only */;
    struct dev *prover /* a simulated device of this process, for proofs where the bench's is another;
                          borrowed; may be NULL */
        ;
    const struct cancel
        *cancel /* of launches that nobody observes, the original's at opening among them; NULL: none */;
};
struct tune_run_opts tune_run_opts_default(const struct dev_info *i);

/* ---- proofs: what an acceptance run on the simulated device tried, and whether the rewrite held
 * (prove.c) ---- */
enum tune_level { TUNE_QUICK, TUNE_FULL };
enum tune_verdict_of {
    PROOF_NONE /* nothing can be said: message has why */,
    PROOF_HOLDS,
    PROOF_BROKEN
};
struct tune_proof {
    enum tune_verdict_of verdict;
    enum tune_level level;
    unsigned orders, data_sets;
    unsigned buffers; /* buffers and module variables that were compared */
    bool nc_snapshot, uniform_checked, poisoned;
    char message[320];
};

/* A bench holds the original's outputs and the code shapes loaded so far. */
struct tune_bench;
enum status tune_bench_open(const struct tune_subject *s, const struct tune_run_opts *o,
                            struct tune_bench **out, struct diags *ds);
void tune_bench_close(struct tune_bench *b);
/* Sweeps and searches share their points over the members of this pool (borrowed); the bench's own
 * device is its first member. */
void tune_bench_use_pool(struct tune_bench *b, struct dev_pool *p);
/* Cancel and progress of what the bench does from now on (borrowed; NULL: none); sweeps and searches
 * bring their own. */
void tune_bench_watch(struct tune_bench *b, const struct tune_observer *ob);
/* One configuration: rewrite, load (cached by shape), launch, compare. Refusals and failures are results
 * too. */
enum status tune_run_one(struct tune_bench *b, const struct options *o, struct result *out,
                         struct diags *ds);
/* Tries to break the rewrite for these options (settled: no vote, no automatic choice). ST_OK,
 * ST_CANCELLED or ST_NOMEM; what else stood in the way is in out->message. The buffers of the last
 * launch are not to be read after it. */
enum status tune_prove(struct tune_bench *b, const struct options *o, enum tune_level level,
                       struct tune_proof *out, struct diags *ds);
/* "proven (full: 3 orders, 2 data sets)", "equal (quick)", "not proven: ..." */
void tune_proof_text(const struct tune_proof *p, struct buf *out);
void tune_proof_json(const struct tune_proof *p, struct buf *out); /* an object */
/* n bytes of an argument's buffer as the last launch of the bench's own device left them. */
enum status tune_bench_read(struct tune_bench *b, size_t arg, uint64_t at, void *bytes, uint64_t n,
                            struct diags *ds);

struct tune_sweep {   /* bpa, cha, then π = 0..W (or another axis) */
    const char *axis; /* a knob's name: "pi", "agents", "carveout", "block" ... */
    struct result bpa, cha, *points;
    size_t npoints;
    bool complete;
    /* among points that are equal to the original; bpa and cha compete too */
    size_t best;
    bool has_best;
    struct model_curve curve;
    struct model_fit fit;
    struct model_valley valley;
    double overhead_bpa, overhead_cha; /* t(π=0)/t(bpa), t(π=W)/t(cha); NaN: n/a */
    uint32_t warps;                    /* W */
};
/* Several axes at once, "pi,carveout=0/100,bypass-op": the first is the curve, and every combination of
 * the others a slice, a sweep of its own. An axis other than pi, agents, carveout and block is any knob
 * with its values, V/V/... or LO..HI. */
#define TUNE_AXES 4
struct tune_slot;
struct tune_slice {
    struct options base;
    struct tune_sweep sweep;
};
struct tune_family {
    const char *axis[TUNE_AXES];
    size_t naxes;
    struct tune_slice *slice;
    size_t n;
    size_t best;
    bool has_best, complete; /* the slice with the fastest configuration */
    struct tune_slot *slots;
    size_t nslots; /* every configuration, in the order of running */
};
/* As an axis, does this knob know its points, or must they be listed? */
bool tune_axis_knows_points(size_t knob);
/* Are these axes? Needs nothing but the text; values are looked at by tune_family_list. */
enum status tune_axes_check(const char *axes, struct diags *ds);
/* What there is to run: slices with their base options and axis, no results. ST_USAGE: the axes make no
 * sense. tune_family_free also on failure. */
enum status tune_family_list(struct tune_bench *b, const char *axes, const struct options *base,
                             struct tune_family *out, struct diags *ds);
/* All of it in one go, over the bench's pool where it has one; slices are judged also when it is cut
 * off. */
enum status tune_family_run(struct tune_bench *b, struct tune_family *f, const struct tune_observer *ob,
                            const struct result *done, size_t ndone, struct diags *ds);
/* the slice that a configuration belongs to */
size_t tune_family_slice(const struct tune_family *f, const struct options *o);
/* The first configuration from number *at on that was to be measured and was not (not run, or its device
 * failed; a refusal is a result); its message says why, empty: it was not come to. *at: behind it. NULL:
 * none. */
const struct result *tune_family_missing(const struct tune_family *f, size_t *at);
bool tune_family_has(const struct tune_family *f, const struct options *o);
void tune_family_free(struct tune_family *f);
/* Recomputes best, category, fit and overheads from points (replay uses it: no device). */
void tune_sweep_judge(struct tune_sweep *s, const struct dev_info *dev, double block_threads);
void tune_sweep_free(struct tune_sweep *s);
/* The configuration to use: bpa, cha or a point between; NULL when nothing ran equal to the original. */
const struct result *tune_sweep_best(const struct tune_sweep *s);
/* One sentence a person can act on: "cache-congested: π=7 is 2.1x faster than caching all." */
void tune_verdict(const struct tune_sweep *s, struct buf *out);

/* Name of method i, or NULL behind the last. */
const char *tune_method_name(size_t i);
struct tune_advice {
    char title[96], why[256];
    struct options options;
    double expected_gain, confidence, real_gain /* NaN until tried */;
    bool tried;
    /* what applies it, as one command line; empty: there is nothing to apply */
    char command[512];
    /* expected_gain is the memory-cost model's ratio, not a rule of thumb */
    bool modelled;
};
/* Ranked. Returns the count (at most max). */
size_t tune_advise(const struct tune_subject *s, const struct tune_sweep *sweep /* may be NULL */,
                   struct tune_advice *out, size_t max);

/* Memory cost of a configuration before any launch: the schedule paper's figure by name (cost.paper, in
 * cycles of latency, parts l1, l2, dram) and ours (cost.extended, cycles: one SM's warps walked in time,
 * with lines on their way, queues, sectors, bypassing, prefetching, shared memory and the L1 size; no
 * less than its bounds: latency (parts latency_l1, latency_l2, latency_dram), bound_l1, bound_l2,
 * bound_dram; `issue` by instructions issued, NaN until the original was run with counters). `in`: the
 * counts behind them, whole device. !valid: why_not says what the model cannot tell. */
struct tune_prediction {
    struct options options;
    struct model_cost_in in;
    struct model_cost cost;
    double issue;
    /* one SM's warps in time (model_walk), cycles: what `extended` is unless a bound is above it */
    double walked;
    /* `extended` at the device's clock: modelled; NaN: clock unknown */
    double time_ns;
    bool valid;
    char why_not[160];
    /* what the figure leaves out for these options; empty: nothing known */
    char note[160];
};
/* ST_OK with !valid where there is nothing to predict from; else ST_CANCELLED or ST_NOMEM. */
enum status tune_predict(struct tune_bench *b, const struct options *o, struct tune_prediction *out);
/* A bench that predicts and runs nothing (the code is loaded for its registers): a quick answer for any
 * options. */
enum status tune_bench_open_model(const struct tune_subject *s, struct tune_bench **out,
                                  struct diags *ds);
/* The parts of ours as rows, one table for text, JSON and panels: cycles of part i; "latency", "L1 rate"
 * ... */
#define TUNE_PARTS 5
const char *tune_part_name(size_t i);
double tune_part(const struct tune_prediction *p, size_t i);
/* the largest part: what `extended` comes from, most of all */
size_t tune_part_binding(const struct tune_prediction *p);
/* Both figures with their parts, as lines of text. */
void tune_prediction_text(const struct tune_prediction *p, const char *device, struct buf *out);

/* The threshold before any launch: how many warps' footprints fit L1 together (valley model), and the
 * least predicted cost over all thresholds. -1, NaN: nothing to tell from. `warps`: W; 0 is bpa, W is
 * cha. */
#define TUNE_PI_MOST 64
struct tune_pi_forecast {
    double cost[TUNE_PI_MOST + 1]; /* by π, 0..warps, cycles; NaN: not predicted */
    uint32_t warps;
    int footprint, model;
    double bpa, cha, least /* cycles, ours */;
    /* whole lines that hold nine tenths of a warp's own reuse */
    double bytes_per_warp;
    char why_not[160], model_why_not[160]; /* for a -1 */
};
enum status tune_forecast_pi(struct tune_bench *b, const struct options *base,
                             struct tune_pi_forecast *out);

/* ---- a search while it goes on ---- */
struct tune_explored { /* one configuration that was tried, in order */
    struct options options;
    enum status status;
    enum equality equal;
    int64_t time_ns; /* 0: did not run */
    double cost;     /* predicted cycles (ours); NaN: not predicted */
    bool became_best, resumed;
    char why[112];
};
struct tune_candidate {
    struct options options;
    double cost /* as above */;
    char why[112];
};
#define TUNE_FRONTIER 80
/* Everything a panel needs. Valid during the call of observer->live; tune_live_copy for longer. */
struct tune_live {
    /* static texts: the method, the dimension or phase under way, the one after it (NULL: none) */
    const char *method, *step, *next;
    unsigned round, launches, budget /* 0: none */, skipped, resumed;
    double done /* 0..1 */, elapsed_s, left_s /* at the mean time of a launch; NaN: not known yet */,
        noise;
    struct result original, best;
    struct options options /* the best so far */;
    struct tune_prediction best_cost, original_cost; /* !valid: not predicted */
    const struct tune_explored *explored;
    size_t nexplored;
    /* what is tried next, in that order, and why */
    const struct tune_candidate *frontier;
    size_t nfrontier;
};
/* Owned deep copy; NULL: out of memory. */
struct tune_live *tune_live_copy(const struct tune_live *l);
void tune_live_free(struct tune_live *l); /* of tune_live_copy; NULL is fine */

struct tune_search_opts {
    const char *method;
    unsigned budget_launches /* all of them; 0: what the method wants */;
    double budget_seconds /* 0: no limit */;
    unsigned combine; /* method "exhaustive": knobs changed at once, at most; 0: 2 */
    /* of a cut-off search, the original among them: taken instead of launching them again */
    const struct result *done;
    size_t ndone;
    /* of a cut-off cluster-framework: taken likewise */
    const struct result *probes;
    size_t nprobes;
    /* nothing is launched at all: what `done` does not hold is passed over */
    bool replay;
    const struct tune_candidate *costs;
    size_t ncosts; /* predicted costs known from before, NaN where the model kept silent: it is not asked
                    * for these, and with `replay` for no other */
    /* told of every prediction that is made; may be NULL */
    void (*predicted)(void *ctx, const struct options *o, double cost);
    void *ctx;
    /* of the recommendation; TUNE_FULL unless the user wants less */
    enum tune_level prove;
    /* further data sets of the same kernel: the recommendation is tried on them */
    const struct launch_spec *const *other;
    size_t nother;
};
/* After trying: items whose options are among `done` get their real gain over `original` (same launch
 * and device). */
void tune_advise_prove(struct tune_advice *v, size_t n, const struct result *original,
                       const struct result *done, size_t ndone);

/* Before trying: the expected gain becomes the ratio of predicted memory costs where the model has both
 * and leaves nothing out; items are added, up to max in all, where the model sees more in a dimension,
 * and "leave it alone" where it sees nothing; ranked anew. ST_OK, ST_CANCELLED or ST_NOMEM. */
enum status tune_advise_predict(struct tune_bench *b, struct tune_advice *v, size_t *n, size_t max);
/* Float atomics in a launch's kernel, in functions where that calls any, or in the launches before it:
 * outputs of floats that state no tolerance get one (relative 1e-4). Returns how many did. */
#define TUNE_TOLERATED                                                                                  \
    "float atomics add in any order: outputs without a stated tolerance are compared within 1e-4, not " \
    "bit by bit"
unsigned tune_tolerate_atomics(const struct ptx_module *m, struct launch_spec *l);

#define TUNE_SETS 8
struct tune_data_set {
    char name[64];
    double gain /* 0: did not run */;
    enum equality equal;
    bool holds;
    char message[128];
};
#define TUNE_RANKED 8
struct tune_found {
    struct options options;
    struct result best, original;
    bool leave_alone;
    char reason[256];
    unsigned launches, space;
    /* of the launches: timed whole what samples of the CTAs put first; what led measured again on a GPU
     */
    unsigned whole, again;
    /* the model saw no chance for them; taken from opts->done */
    unsigned skipped, resumed;
    bool interrupted; /* by the observer's cancel: the best so far */
    char probed[256]; /* method "cluster-framework": what its probes said; else empty */
    /* what the caller's budget left untried, by name; empty: nothing */
    char untried[384];
    unsigned missing;                                /* replay: passed over */
    struct tune_prediction cost_original, cost_best; /* !valid: not predicted */
    struct tune_prediction ranking[TUNE_RANKED];
    unsigned nranking; /* method "model": cheapest first */
    /* of the recommendation; where it broke it, leave_alone and the reason say so */
    struct tune_proof proof;
    /* what came of opts->other; empty when it is to be left alone */
    struct tune_data_set set[TUNE_SETS];
    unsigned nsets;
};
/* Is there such a method (NULL: the default)? ST_USAGE names those there are. */
enum status tune_method_check(const char *method, struct diags *ds);
enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o,
                        const struct tune_observer *ob, struct tune_found *out, struct diags *ds);

#endif
