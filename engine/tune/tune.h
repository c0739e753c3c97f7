/* tune: sweeps, votes, searches; accepts a configuration only by equality of
 * outputs with the original's; gives advice. Every finished result goes to the
 * observer at once, on the calling thread. */
#pragma once

#include "engine/rec/equality.h"
#include "engine/tune/proof.h"

struct ana_kernel;
struct dev;
struct dev_info;
struct dev_pool;
struct launch_data;
struct launch_spec;
struct options;
struct pass_output;
struct ptx_module;
struct result;

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
    bool counters;
    bool exact;
    bool cold;   /* L2 is empty when a launch begins */
    bool energy; /* measure it */
    /* Of timed launches. SOME: once the original was launched with tune_keep_original; NONE: nothing is compared. */
    enum dev_outputs outputs;
    bool unread; /* nobody reads the buffers after a launch (dev_run.unread) */
    bool tries;  /* a search: what the original left is kept for tries that make SOME outputs */
    double time_limit_s;
    bool check_memory /* uninitialised reads and races are faults; simulated devices only */;
    /* a simulated device of this process, for proofs where the bench's is another; borrowed; may be
     * NULL */
    struct dev *prover;
    /* of launches that nobody observes, the original's at opening among them; NULL: none */
    const struct cancel *cancel;
};
struct tune_run_opts tune_run_opts_default(const struct dev_info *d);

/* A bench holds the original's outputs and the code shapes loaded so far. */
struct tune_bench;
/* Who says how many registers the original has (result.regs_from). */
const char *tune_regs_from(const struct tune_bench *b);
enum status tune_bench_open(const struct tune_subject *s, const struct tune_run_opts *o,
                            struct tune_bench **out, struct diags *ds);
/* Do warps of the original use shared memory in an order that nothing settles? Warns of the first such
 * race, with both accesses, and of the output that another order changes. On simulated devices, kernels
 * with shared memory and several warps, about two seconds at most; else says nothing. */
enum status tune_races(struct tune_bench *b, struct diags *ds);
/* The race it warned of and its hint, in one line; empty: none. Valid as long as the bench. */
const char *tune_race(const struct tune_bench *b);
/* A bench that predicts and runs nothing (the code is loaded for its registers): a quick answer for any
 * options. */
enum status tune_bench_open_model(const struct tune_subject *s, struct tune_bench **out,
                                  struct diags *ds);
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
/* Simulated: the same with every CTA timed, no sample of them. */
enum status tune_time_whole(struct tune_bench *b, const struct options *o, struct result *out,
                            struct diags *ds);
/* --tile-order: are the tiles of the kernel independent, in the order that these options ask for? Every
 * configuration that the bench rewrites is asked. ST_REFUSED with a diagnostic: no, or it cannot be
 * seen. */
enum status tune_tiles_check(struct tune_bench *b, const struct options *o, struct diags *ds);
/* Tries to break the rewrite for these options (settled: no vote, no automatic choice). ST_OK,
 * ST_CANCELLED or ST_NOMEM; what else stood in the way is in out->message. The buffers of the last
 * launch are not to be read after it. */
enum status tune_prove(struct tune_bench *b, const struct options *o, enum tune_level level,
                       struct tune_proof *out, struct diags *ds);
/* The same of a text that is launched by itself, without the bench's knobs (`rewrite`): `code` made for
 * *o. */
enum status tune_prove_text(struct tune_bench *b, const struct options *o, struct pass_output *code,
                            struct str text, enum tune_level level, struct tune_proof *out);
/* Launches so far, those of votes and of the original's outputs among them. */
unsigned tune_bench_launches(const struct tune_bench *b);
/* n bytes of an argument's buffer as the last launch of the bench's own device left them. */
enum status tune_bench_read(struct tune_bench *b, size_t arg, uint64_t at, void *bytes, uint64_t n,
                            struct diags *ds);

/* Float atomics in a launch's kernel, in functions where that calls any, or in the launches before it:
 * buffers of floats that they reach and that state no tolerance get one (1e-4 of each element's own
 * magnitude; where a simulated device of this process counts the sums, also beside a GPU or a worker,
 * their own bound). Returns how many did. */
#define TUNE_TOLERATED                                                                              \
    "float atomics add in any order: what they reach is compared within what the order can change " \
    "(terms * eps * sum of magnitudes of each element; 1e-4 of it where nothing counted the sums)"
unsigned tune_tolerate_atomics(const struct ptx_module *m, struct launch_spec *l);
