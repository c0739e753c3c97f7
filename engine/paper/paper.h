/* paper: the figures and tables of the five papers as experiments. Each is a row of paper.def, run by
 * one of a few runners on simulated devices; ours stand beside the figures that the paper's text gives.
 * Times are simulated; hit rates and costs that a model gives, and energy, are labelled modelled. */
#pragma once

#include "engine/base/base.h"

struct dev_env;

#define PAPER_SERIES 33 /* 32 words of a coalescing graph, or others and the best of them */
/* Runners, by what they show. */
#define PAPER_KINDS(X)                                                           \
    X(CURVE, "curve", "one application over every threshold")                    \
    X(BARS, "bars", "applications under no, full and best bypassing")            \
    X(CONFIGS, "configurations", "applications under named configurations")      \
    X(REUSE, "reuse", "where data are used again")                               \
    X(CLASSES, "classes", "the class of each application")                       \
    X(COALESCE, "coalescing", "degree of coalescing, sectors")                   \
    X(GRAPH, "graph", "threads that touch each word of the coalescing range")    \
    X(COSTS, "costs", "memory cost by the model against simulated time")         \
    X(HIT_RATE, "hit rate", "L1 hit rate, modelled and simulated")               \
    X(LATENCY, "latency", "what a load costs CTAs that come later")              \
    X(VALLEY, "valley", "throughput over threads, by the valley model")          \
    X(SHARES, "shares", "cache of a thread")                                     \
    X(DISTANCES, "distances", "reuse distances of the schedule paper's example") \
    X(LINES, "lines", "software-cache lines of a thread")                        \
    X(SOFTCACHE, "software cache", "what the software cache adds and finds")     \
    X(VOTES, "votes", "what a vote elects, and the best of all values")
enum paper_kind {
#define X(n, word, help) PAPER_##n,
    PAPER_KINDS(X)
#undef X
        PAPER_KIND_COUNT
};
enum paper_mean { PAPER_MEAN_NONE, PAPER_MEAN_GEOMETRIC, PAPER_MEAN_ARITHMETIC };
/* What a bar is: TIME time of the first series over this one's; COUNTER this one's over the first's;
 * RATE as counted; ENERGY this one's over the first's, modelled, on a GPU by its counter. */
enum paper_measure { PAPER_TIME, PAPER_COUNTER, PAPER_RATE, PAPER_ENERGY };
struct paper_experiment {
    const char *id;
    enum paper_kind kind;
    const char *title;
    const char *platforms; /* presets with blanks between */
    const char *apps;      /* "s1", "s3" ...: those that paper names; else abbreviations with blanks */
    const char *options;   /* of every configuration: "--bypass l1" */
    const char *series;    /* "NAME=options|..."; {a/b/c}: the fastest of these, and of
                         * what was fastest before; %I: the advised index; %A: the agents elected last; %S: lines
                         * of streaming loads, no value where there are none */
    enum paper_measure measure;
    const char *counter; /* of COUNTER and RATE */
    const char *also;    /* CONFIGS: a second counter of each configuration, as counted ... */
    const char *also_is; /* ... and what its series' names begin with */
    enum paper_mean mean;
    bool by_class;      /* means by the class that the paper's text gives, else by analysis */
    bool best;          /* a series more: the fastest of all but the first, which is what they change */
    bool waves;         /* with each application's launch of many waves */
    bool l1;            /* plain loads go through L1, as with -dlcm=ca */
    unsigned points;    /* BARS: thresholds tried, 0 and W among them; 0: all */
    const char *what;   /* what a value is */
    const char *reason; /* what cannot agree with the paper, and why; NULL: nothing */
};
size_t paper_count(void);
const struct paper_experiment *paper_at(size_t i);
const struct paper_experiment *paper_find(const char *id);
/* The ID nearest to a mistyped one; NULL: none is near. */
const char *paper_near(const char *id);
const char *paper_kind_name(enum paper_kind k);
/* "bypass (SC'15)" for s1 ...; "" for an ID of no paper. */
const char *paper_source(const char *id);

/* An application that the papers run, and the demo kernel that is it. */
struct paper_app {
    const char *abbr;
    const char *name;
    const char *suite;
    const char *file, *launch; /* kernels/FILE.ptx, launch NULL: the first; file NULL: no kernel here */
    const char *block;         /* block shape of the paper, "256" or "16x16"; NULL: its text has none */
    const char *in;            /* papers that run it: "s1 s3" */
    const char *class_;        /* of the cluster paper's text; NULL: not in the text */
    const char *waves;         /* a launch of many waves; NULL: `launch` is */
    const char *then;          /* launch of its second kernel; NULL: it has one */
};
size_t paper_app_count(void);
const struct paper_app *paper_app_at(size_t i);

/* ours NaN: none (the row's note says why); paper NaN: the text has none. Texts, where a value is one,
 * are static. at: which configuration the value is of, "π=4" or "bpa"; "": it has but one. */
struct paper_value {
    double ours, paper;
    const char *ours_text, *paper_text;
    char at[20];
};
struct paper_row {
    char application[40];
    char point[64];
    char group[24];
    const char *platform; /* preset */
    double waves; /* CTAs of the launch over those that run at once, of the original; NaN: none ran */
    struct paper_value v[PAPER_SERIES];
    double speed[PAPER_SERIES]; /* CONFIGS: over the first series; NaN: no time */
    char note[600];
};
struct paper_fact {
    char name[96];
    struct paper_value v;
};
struct paper_result {
    const struct paper_experiment *of;
    const char *series[PAPER_SERIES];
    size_t nseries;
    struct paper_row *row, *mean; /* mean: by platform and group; application "G-M" or "mean" */
    size_t nrows;
    size_t rows_cap;
    size_t nmeans;
    size_t means_cap;
    struct paper_fact *fact;
    size_t nfacts, facts_cap;
    double seconds; /* wall time */
    bool quick;
    char names[2048]; /* what series points to */
};
struct paper_memo;
struct paper_memo *paper_memo_new(void); /* NULL: out of memory */
void paper_memo_free(struct paper_memo *m);
struct paper_request {
    struct paper_memo *memo; /* launches that earlier experiments ran are not run again; may be NULL */
    const char *kernels;     /* folder of the demo kernels */
    const struct dev_env *env;
    const struct cancel *cancel;
    unsigned threads; /* host threads; 0: all */
    bool quick;       /* one platform, two applications, two thresholds: to try it out */
    const char *only; /* this platform alone: a preset, its file, "cuda:0"; NULL: the experiment's */
    /* 0..1, from any thread, one at a time; may be NULL */
    void (*progress)(void *ctx, double done, const char *what);
    void *ctx;
};
/* ST_OK, also where single rows could not be had (their notes say why); ST_CANCELLED; ST_NOMEM. Free
 * *out after every outcome. */
enum status paper_run(const struct paper_experiment *e, const struct paper_request *q,
                      struct paper_result *out, struct diags *ds);
void paper_result_free(struct paper_result *r);

/* ---- showing: text of `width` columns, JSON of the contract, Markdown, one <svg> ---- */
void paper_list_text(struct buf *out);
void paper_list_json(struct buf *out);
void paper_list_md(struct buf *out);
void paper_text(const struct paper_result *r, unsigned width, bool utf8, struct buf *out);
void paper_json(const struct paper_result *r, struct buf *out);
void paper_md(const struct paper_result *r, struct buf *out);
void paper_svg(const struct paper_result *r, struct buf *out);
