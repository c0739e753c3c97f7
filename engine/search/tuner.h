/* tuner: the search for the best configuration. */
#pragma once

#include "engine/base/base.h"
#include "engine/tune/proof.h"

struct launch_spec;
struct dev_info;
struct options;
struct result;
struct tune_advice;
struct tune_bench;
struct tune_candidate;
struct tune_found;
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
/* Name of method i, or NULL behind the last. */
const char *tune_method_name(size_t i);
/* A gain of less than that is none. */
#define ADVICE_LEAST 0.02
/* Is there such a method (NULL: the default)? ST_USAGE names those there are. */
enum status tune_method_check(const char *method, struct diags *ds);
/* *out is owned: tune_found_clear, also after an error. */
enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o,
                        const struct tune_observer *ob, struct tune_found *out, struct diags *ds);
