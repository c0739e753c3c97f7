/* tuner: the search for the best configuration. */
#ifndef GPULOCW_SEARCH_TUNER_H
#define GPULOCW_SEARCH_TUNER_H

#include "engine/base/base.h"
#include "engine/predict/prediction.h"
#include "engine/rec/gain.h"
#include "engine/rec/result.h"
#include "engine/tune/proof.h"

struct launch_spec;
struct dev_info;
struct options;
struct ptx_module;
struct tune_advice;
struct tune_bench;
struct tune_candidate;
struct tune_observer;

struct tune_search_opts {
    const char *method;
    unsigned budget_launches /* all of them; 0: what the method wants */;
    double budget_seconds /* 0: no limit */;
    int64_t started_ns /* what the seconds count from (base_now_ns); 0: the call */;
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
    /* only what can be put into somebody's program is tried (tuned_targets refuses the rest) */
    bool in_program;
    /* of the recommendation; TUNE_FULL unless the user wants less */
    enum tune_level prove;
    /* further launches of the same kernel: what is recommended should hold on them */
    const struct launch_spec *const *other;
    size_t nother;
};
/* After trying: items whose options are among `done` get their real gain over `original` (same launch
 * and device d), NaN where only times on other evidence are there; those that gained nothing go. Returns
 * how many are left. */
size_t tune_advise_prove(const struct dev_info *d, struct tune_advice *v, size_t n,
                         const struct result *original, const struct result *done, size_t ndone);

/* Before trying: the expected gain becomes the ratio of predicted memory costs where the model has both
 * and leaves nothing out; items are added, up to max in all, where the model sees more in a dimension,
 * and "leave it alone" where it sees nothing; ranked anew. ST_OK, ST_CANCELLED or ST_NOMEM. */
enum status tune_advise_predict(struct tune_bench *b, struct tune_advice *v, size_t *n, size_t max);
#define TUNE_SETS 8
struct tune_data_set {
    char name[64];
    double gain /* 0: did not run */;
    enum evidence evidence; /* of gain */
    enum equality equal;
    bool holds;
    struct options best; /* the one that is fastest there; as the original: none gains */
    double best_gain;    /* its gain there; 1: none gains */
    char message[128];
};
/* Several launches of a kernel: one configuration that is slower on none of them. */
struct tune_all_launches {
    bool valid;               /* false: there was one launch, or each configuration tried loses on one */
    unsigned launches, tried; /* configurations that were tried on all */
    double original_ns, best_ns; /* summed over the launches */
};
#define TUNE_RANKED 8
/* Where the wall-clock seconds of a search went. */
struct tune_seconds {
    double
        opening; /* seconds, as the others: before the search: device, data, the outputs of the original, races */
    double original;
    double model;
    double tries;
    double confirmation;
    double proof;
    double other_data;
};
struct tune_found {
    struct options options;
    struct tune_seconds seconds;
    struct result best, original;
    struct interval likely_gain; /* of a simulated gain, on the GPU; low 0: not known */
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
    /* our search: the joint configuration by array, why, and what it came to; empty: there is none */
    char placement[384];
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
    struct tune_all_launches all;
};
/* Is there such a method (NULL: the default)? ST_USAGE names those there are. */
enum status tune_method_check(const char *method, struct diags *ds);
enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o,
                        const struct tune_observer *ob, struct tune_found *out, struct diags *ds);

#endif
