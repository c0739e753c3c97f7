/* A search under way, private to this room: trial.c tries and ranks, sample_policy.c compares times of
 * one kind, explore.c and methods.c say in which order, finalize.c ends it, search.c runs all of that. A
 * file calls those before it alone. */
#pragma once

#include "engine/base/base.h"
#include "engine/search/knob_groups.h"
#include "engine/search/live.h"
#include "engine/search/space.h"

struct tune_bench;
struct tune_found;
struct tune_observer;
struct tune_search_opts;

/* A vote's result has the options that were elected. gain: over the original; 0: did not run, or nothing
 * can be said. */
struct seen_result {
    struct options asked;
    struct result *result; /* owned */
    double gain, said /* by a sample of the CTAs, where gain is of the whole */;
    bool unsettled /* there was no time, or no launch left, to time it whole */;
};
struct said_cost {
    struct options options;
    struct tune_prediction cost;
};
struct searching {
    struct tune_bench *bench;
    const struct tune_search_opts *opts;
    const struct tune_observer *ob;
    struct diags *ds;
    struct tune_found *found;
    struct space space;
    struct seen_result *seen;
    size_t nseen, seen_cap;
    double deadline_ns; /* 0: none */
    /* launches, 0: none; ours: made from the space, and what was resumed counts too */
    unsigned budget;
    bool budget_is_ours;
    /* on a GPU, where a launch takes little: until then our own budget of launches ends nothing; 0: it does */
    double free_until_ns;
    unsigned reserve; /* launches of the budget that are kept for the end */
    /* launches and resumed configurations in all; 0: not known */
    unsigned planned;
    double behind;       /* share of the search that lies behind its tries; 0: they go on */
    int64_t lap_ns;      /* when the part of found->seconds under way began */
    bool reads_counters; /* the caller's wish: on a GPU the original and the winner alone are counted */
    double predict_ns, launch_ns;
    unsigned npredict;
    /* what the model said, so that it is asked once */
    struct said_cost *asked;
    size_t nasked, asked_cap;
    bool ranked; /* the model orders the candidates */
    /* the original timed whole, where found->original is from a sample; !valid: not yet */
    struct result *whole;
    double best_gain; /* of found->best */
    /* the largest gain that may well be a loss on a GPU, and whose; 1: there is none */
    double unsure_gain;
    struct options unsure;
    struct interval unsure_likely;
    struct result *last; /* behind whole: of the last launch, or taken from opts->done */
    double trying_cost;  /* predicted, of the one that is tried now */
    struct tune_live live;
    int64_t started_ns;
    struct tune_explored *explored;
    size_t explored_cap;                           /* live.explored */
    struct tune_candidate frontier[TUNE_FRONTIER]; /* live.frontier is a tail of it */
    struct tune_prediction forecast[TUNE_FRONTIER];
    size_t nfrontier;
};

/* Runs one configuration unless it was tried, is not legal, or the budget is spent; *better is set when
 * it became the best. */
enum status search_try(struct searching *s, const struct options *o, const char *why, bool *better);
/* The same; *out is the result, empty when it was not run. */
enum status search_probe(struct searching *s, const struct options *o, const char *why,
                         struct result *out);
/* A launch that is done, told and listed; what it means is search_try's. */
void search_take(struct searching *s, const struct result *r); /* as the best so far */
enum status search_note(struct searching *s, const struct result *r, const char *why, bool resumed);
/* The original: from an earlier search's results, or launched. Its status where it does not run. */
enum status search_original(struct searching *s);
/* On a GPU reading counters takes several times as long as timing: not for tries, whose times alone decide. */
void search_count_tries(struct searching *s, bool counted);
/* The best of an earlier, cut-off search's results, where it is better. */
void search_adopt_done(struct searching *s);
/* Over the original, both timed alike where that is possible; 0: did not run, outputs differ or are
 * none. */
double search_gain(const struct searching *s, const struct result *r);
/* a sample's gain may be so much too small */
#define SAMPLE_MAY 0.9
/* of simulated gains below this a GPU made a loss as often as a gain (docs/lab/advice.md) */
#define LEAST_SIMULATED 0.02
/* False: a simulated gain of which a GPU may make a loss (engine/rec/interval.h) that is more than
 * LEAST_SIMULATED; the largest such is noted. */
bool search_sure_of(struct searching *s, const struct result *r, double gain);
/* The same of what was seen: a sample has the benefit of the doubt, whole launches decide. */
bool search_sure(struct searching *s, const struct result *r);
/* Tries frontier[from..to-1]: one after the other, or over the bench's pool. */
enum status search_run(struct searching *s, size_t from, size_t to, bool *better);
/* The alternatives of one dimension to `base`, `patience` at a time, until none of so many is better:
 * the launches are the same ones whatever the pool. */
enum status search_dimension(struct searching *s, const struct dimension *d, const struct options *base,
                             size_t patience, bool *better);
/* Thresholds next to the best one, until neither neighbour is better. */
enum status search_refine_pi(struct searching *s, bool *better);
enum status search_predict(struct searching *s, const struct options *o, struct tune_prediction *out);
/* NULL: not tried */
const struct result *search_seen(const struct searching *s, const struct options *o);
/* NULL: not tried */
const struct seen_result *search_seen_at(const struct searching *s, const struct options *o);
/* The one that gains most of those that were tried, timed as the original was, and are not among the n
 * that fell; NULL: none gains. */
const struct result *search_next(const struct searching *s, const struct options *fell, size_t n);
bool search_spent(const struct searching *s);
/* launches that the caller's budget allows; UINT_MAX: it sets none */
unsigned search_left(const struct searching *s);
void search_untried(struct searching *s, const char *what); /* the caller's budget ended before it */
bool search_legal(const struct searching *s, const struct options *o);
/* What is done now and what comes after it; texts static. Tells the observer. */
void search_step(struct searching *s, const char *step, const char *next);
void search_tell(struct searching *s);

/* ---- sample_policy.c ---- */
/* What samples of the CTAs put first is timed whole, and the original too, until what stands first has
 * been: found->best is that. */
enum status search_time_leaders(struct searching *s);
/* Tries may have made some of the outputs alone: what leads makes all of them, and what then differs from the
 * original does not lead. */
enum status search_make_all(struct searching *s);
/* One that was tried, timed whole where there is time; *out is how it now stands. */
enum status search_time_whole(struct searching *s, const struct options *o, struct result *out);

/* A candidate of the papers' methods whose predicted memory time is so many times the best's is not
 * launched. */
#define SEARCH_HOPELESS 1.5
/* What by itself takes so many times as long as the original is not combined with anything else. */
#define SEARCH_LOST 4.0
/* How much of a search its tries are taken for, and what lies before its proof, and before other data sets. */
#define SEARCH_TRIES 0.90
#define SEARCH_PROOF 0.93
#define SEARCH_DATA  0.97

/* Order, bypassing, prefetching and L2 residency as the analysis' classes of the arrays say, together
 * (placement.c); why: array by array. False: it has no two of them. */
bool search_placement(const struct searching *s, struct options *o, struct buf *why);
/* Our search (explore.c). */
enum status search_explore(struct searching *s);

/* ---- methods by name ---- */
struct search_method {
    const char *name;
    enum status (*run)(struct searching *s);
    bool ranked /* asks the model */;
};
const struct search_method *search_method_find(const char *name); /* NULL name: the first */
void search_method_names(struct buf *out);

/* How many configurations the exhaustive reference would try, legal or not looked at. */
unsigned search_space_size(const struct searching *s);

/* ---- the end ---- */
/* Options that an earlier step took and a later one made needless go again. */
enum status search_simplify(struct searching *s);
/* On a measured device, original and best twice more, alternated, before anything is recommended; a
 * caller's budget may end it before. */
#define SEARCH_CONFIRMS 4
enum status search_confirm(struct searching *s);
void search_finalize(struct searching *s);
/* Tries the fastest configurations on opts->other and fills found->set and found->all: where one loses on none of the
 * launches, the one that takes the least time over all of them is recommended, and proven. ST_OK, ST_CANCELLED or
 * ST_NOMEM; anything else is said in the set. */
enum status search_over_launches(struct searching *s);
/* Which of n candidates takes the least time (*least) over all launches and is slower than the original on none by
 * more than the noise: original[launches], ns[n][launches], 0 where a candidate fails. n: each loses somewhere. */
size_t search_least_of_all(const double *original, const double *ns, size_t launches, size_t n,
                           double noise, double *least);
