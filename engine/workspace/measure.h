/* measure: what a run, a sweep and a search are, and how one goes on, whichever door asked: commands, batches,
 * MCP and the library by engine/cmd, the workbench by its engine thread. */
#pragma once

#include "engine/session/run_kind.h"
#include "engine/tune/proof.h"
#include "engine/tune/tune.h"

struct launch_file;
struct session;
struct session_run;
struct tune_family;
struct tune_found;
struct tune_search_opts;

/* How launches are asked for; all zero: as by default. */
struct measure_how {
    bool exact;
    bool cold;                /* L2 is empty when a launch begins */
    bool energy;              /* measure it */
    enum dev_outputs outputs; /* ALL or NONE */
    bool check_memory;
    bool no_counters;
    bool prove; /* asked for; unasked, a simulated device of this process attacks what is small */
    unsigned repeat;
    double time_limit_s;
    bool unread; /* nobody reads the buffers after a launch */
    bool tries;  /* a search comes */
    enum tune_level level;
};
struct measure {
    struct tune_subject subject; /* borrowed, its device open and its data made */
    struct measure_how how;
    const char *kernel;
    bool local; /* the device is a simulated one of this process */
    const struct cancel *cancel;
    struct tune_bench *bench; /* measure_open; tune_bench_close */
};

/* Does it need a simulated device beside one that is none, or is not of this process? */
bool measure_wants_prover(const struct measure *m, enum run_kind kind, const struct options *o);
/* Do these options, or this kind of work, need the whole analysis instead of the quick one? */
bool measure_wants_facts(enum run_kind kind, const struct options *o);
/* Opens the bench, which runs the original, and looks for its races. prover: NULL, or borrowed. ST_USAGE: the
 * device cannot do what is asked. */
enum status measure_open(struct measure *m, struct dev *prover, struct diags *ds);
/* What a run of the session says of its subject. */
void measure_head(const struct measure *m, struct session_run *r);

/* One configuration. ST_REFUSED with a diagnostic: its options contradict each other; other troubles are
 * results. */
enum status measure_run(struct measure *m, const struct options *o, struct result *out,
                        struct diags *ds);
/* What a sample timed is timed whole where the original (NULL: not known) is, so that a gain can be told;
 * not of launches that take long whole. */
enum status measure_like(struct measure *m, const struct result *original, struct result *r,
                         struct diags *ds);
/* Tries to break what ran equal; what breaks is a different result from then on. Buffers of the last launch
 * are gone after it. */
enum status measure_attack(struct measure *m, struct result *r, struct tune_proof *proof,
                           struct diags *ds);

/* What there is to sweep; axes NULL or empty: pi. tune_family_free also on failure. */
enum status measure_family(struct measure *m, const char *axes, const struct options *o,
                           struct tune_family *f, struct diags *ds);
/* The run of slice i in the session, before its first point and after its last. */
void measure_slice_begin(const struct measure *m, const struct tune_family *f, size_t i,
                         struct session_run *r);
void measure_slice_end(const struct measure *m, const struct tune_family *f, size_t i,
                       struct session_run *r);

/* What has run of something that goes on; results are copies, probes borrowed from the run. */
struct measure_done {
    struct result *result;
    size_t n, cap;
    const struct result *probe;
    size_t nprobe;
};
/* Was it a run of what is measured now? */
bool measure_alike(const struct measure *m, const struct session *of, const struct session_run *r);
bool measure_done_add(struct measure_done *d, const struct session_run *r); /* false: out of memory */
void measure_done_free(struct measure_done *d);
/* All slices, and an attack on the best of each. */
enum status measure_sweep(struct measure *m, struct tune_family *f, const struct measure_done *done,
                          const struct tune_observer *ob, struct diags *ds);
/* A search. o: method, budgets and combine alone. launches: the file with other data sets of the kernel, and
 * which of them is the one measured; may be NULL. */
enum status measure_tune(struct measure *m, const struct tune_search_opts *o,
                         const struct launch_file *launches, size_t own, const struct measure_done *done,
                         const struct tune_observer *ob, struct tune_found *found, struct diags *ds);

/* ---- options that go together (measure_options.c) ---- */
/* Options that contradict each other or do nothing without another: ST_REFUSED with what to change. */
enum status measure_contradictions(const struct options *o, struct diags *ds);
/* A bypass at the threshold that bypasses nothing is legal, and said: true. */
bool measure_say_idle(const struct options *o, struct diags *ds);
