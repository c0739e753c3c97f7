/* found: what a search came to. */
#pragma once

#include "engine/predict/prediction.h"
#include "engine/rec/equality.h"
#include "engine/rec/gain.h"
#include "engine/tune/proof.h"

struct options;
struct result;

#define TUNE_SETS 8
struct tune_data_set {
    char name[64];
    double gain /* 0: did not run */;
    enum evidence evidence; /* of gain */
    enum equality equal;
    bool holds;
    double best_gain; /* of the one that is fastest there (set_best); 1: none gains */
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
    struct options *options;  /* owned, with the next two (tune_found_room) */
    struct options *set_best; /* of set[i], the one that is fastest there; as the original: none gains */
    struct options *ranked;   /* of ranking[i]; behind them of cost_best */
    struct tune_seconds seconds;
    struct result *best, *original; /* owned (tune_found_room) */
    struct interval likely_gain;    /* of a simulated gain, on the GPU; low 0: not known */
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
/* Gives it options and results, empty. False: out of memory. */
bool tune_found_room(struct tune_found *f);
void tune_found_clear(struct tune_found *f); /* what it owns; not f itself */
/* All of it, into the options and results that `to` has. */
void tune_found_copy(struct tune_found *to, const struct tune_found *from);

size_t tune_found_bytes(void); /* that it takes, but for its results */
