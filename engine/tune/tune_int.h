/* Private to tune. */
#pragma once

#include "engine/dev/dev.h"
#include "engine/pass/pass.h"
#include "engine/tune/tune.h"

struct arg_spec;
struct tune_prover;

struct tune_trace;
/* One code shape: the rewritten text, loaded. Configurations that differ in knob values alone share it.
 */
struct tune_shape {
    struct pass_output code;
    struct dev_code *loaded;
};

struct tune_bench {
    /* module and facts: those of `narrow` where the file holds much that the kernel has no use for */
    struct tune_subject subject;
    struct ptx_module *narrow;
    struct ana_kernel *narrow_facts; /* owned, or NULL */
    struct tune_run_opts opts;
    /* of the search or sweep under way, for cancel and progress */
    const struct tune_observer *observer;
    struct dev_data *data;
    struct launch_spec *promoted; /* promotion.c; NULL: no tensor maps */
    struct tune_tiles *tiles;     /* tiles.c; NULL: nobody asked yet */
    /* oldest first; bytes of their texts */
    struct tune_shape **shape;
    size_t nshapes;
    size_t cap;
    size_t shape_bytes;
    /* hashes of the original's outputs; time once it was measured */
    struct result *original;
    /* what the original wrote where a tolerance is stated (expected.c) */
    struct tune_expected *expected;
    struct sim_sums *sums;      /* of the original's float atomics, while it is opened */
    struct tune_prover *prover; /* prove.c; NULL: nothing was to be proven yet */
    enum tune_level prover_level;
    unsigned launches;     /* configurations launched so far */
    uint64_t keep_from;    /* of the launch under way (dev_run.keep_from) */
    bool kept;             /* the original's outputs, at opening */
    struct dev_pool *pool; /* NULL: the one device */
    /* the original, launched twice, has the same outputs */
    enum { TUNE_REPEATS_UNKNOWN, TUNE_REPEATS, TUNE_REPEATS_NOT } repeats;
    char race[512];   /* what tune_races saw; empty: nothing */
    bool serial;      /* simulated launches run their CTAs one after the other: see tune_take_turns */
    double inst_warp; /* warp instructions of the original; 0: not counted yet */
    /* owned; the predictor's: line requests of the mapping predicted last; NULL: none yet */
    struct tune_trace *trace;
    void (*trace_free)(struct tune_trace *t); /* set with `trace` */
};
/* Is it so long that tries of a search make outputs of some CTAs? */
bool tune_makes_some(const struct tune_bench *b);
/* After a race was seen, or a result differed: CTAs on several host threads would leave other bytes each
 * time. From now on they run one after the other, and so does the original, once more. */
enum status tune_take_turns(struct tune_bench *b, struct diags *ds);
/* promotion.c: the launch under options. Owned by the bench. */
#define TUNE_PROMOTIONS 4 /* none, 64, 128, 256 bytes */
enum status tune_promotions_make(struct tune_bench *b);
void tune_promotions_free(struct tune_bench *b);
const struct launch_spec *tune_launch_of(const struct tune_bench *b, const struct options *o);
void tune_tiles_free(struct tune_bench *b);
/* What the bench's user cancels by: the observer's way while one watches. */
static inline const struct cancel *tune_cancel(const struct tune_bench *b)
{
    return b->observer ? b->observer->cancel : b->opts.cancel;
}
/* One launch made ready; the arrays that `run` points to live here. */
struct tune_job {
    struct pass_output code;
    struct dev_run run;
    struct dev_symbol_value set, zero[8];
};
void tune_map_loads(const struct pass_output *code, struct result *r);
enum status tune_rewrite(struct tune_bench *b, const struct options *o, struct pass_output *code,
                         struct diags *ds);
void tune_fill_run(struct tune_bench *b, const struct options *o, struct tune_job *j, bool functional);
/* launch.c: the loaded code of a text; *out is the bench's. The text may move into it. */
enum status tune_shape_get(struct tune_bench *b, struct pass_output *code, struct tune_shape **out,
                           struct diags *ds);
void tune_shape_free(struct tune_bench *b, struct tune_shape *s);
/* Loads (cached by shape) and launches j->code, which is taken over; b's counters and progress. *shape
 * is b's, until the next launch: old shapes go where their texts come to a megabyte. */
enum status tune_launch(struct tune_bench *b, struct tune_job *j, const struct options *o,
                        bool functional, struct tune_shape **shape, struct result *out,
                        struct diags *ds);
/* Of each argument with a tolerance its bytes, or where they are in the file. */
struct tune_expected {
    int file /* above 0 once there is one */;
    uint64_t in_memory, in_file;
    struct expected_arg {
        uint8_t *bytes;
        uint64_t at;
        float *bound; /* of float atomics, absolute, of each element; NULL: not known */
    } arg[];
};
/* expected.c: keeps what the original has just written, where the launch states a tolerance; compares
 * what is there now with it. */
enum status tune_keep_expected(struct tune_bench *b, struct sim_sums *sums, struct diags *ds);
enum status tune_compare_expected(struct tune_bench *b, size_t arg, bool *ok, struct diags *ds);
void tune_free_expected(struct tune_bench *b);
/* Whether an element may differ so much: |x-y| <= tolerance * max(|x|,|y|), where the user stated it
 * with 1 for a smaller maximum. Where float atomics reach it and `bound` is known: |x-y| <= *bound. NaN
 * equals NaN. */
bool tune_within(const struct arg_spec *arg, const float *bound, double x, double y);
/* bounds.c: for each element of a buffer that held `bytes` (n of them, where they lay during the
 * launch); owned; NULL: out of memory. */
float *tune_bounds(const struct sim_sums *s, const struct arg_spec *a, const uint8_t *bytes, uint64_t n);
enum status tune_bounds_all(struct dev *d, struct dev_code *c, struct dev_data *b,
                            const struct sim_sums *s, const struct launch_spec *l, float **bound);
/* Beside a GPU or a worker a launch may be far too large to be simulated: one with more instructions of
 * warps (about a minute of one processor), or more bytes of buffers, is not. */
#define BESIDE_INSTS UINT64_C(1000000000)
#define BESIDE_BYTES ((uint64_t)1 << 30)
/* bench.c: one configuration whose knobs hold no vote, launched and compared with the original. What it
 * returns is what came of it; tune_as_result makes a result of that. */
enum status tune_run_chosen(struct tune_bench *b, const struct options *o, struct result *out,
                            struct diags *ds);
/* All outputs of a configuration, without a time: hashes and equality of *out. */
enum status tune_make_all(struct tune_bench *b, const struct options *o, struct result *out,
                          struct diags *ds);
/* A refused or failed configuration is a result, whose message is the first error of `said`; only
 * ST_CANCELLED and ST_NOMEM end what is going on, and are returned. */
enum status tune_as_result(enum status st, const struct diags *said, struct result *out);
/* resolve_auto.c: knobs whose value a launch finds (--pi vote, --agents vote, --softcache auto) are
 * replaced in *o by what was found; *voted: the π or number of agents, as the sampling launch alone had
 * it and after the run-off, else as it is; said: how, one sentence each. */
struct tune_votes {
    int sampled, elected; /* -1: no vote */
};
enum status tune_resolve_auto(struct tune_bench *b, struct options *o, struct tune_votes *voted,
                              struct buf *said, struct diags *ds);
/* What the lines of a softcache found, counted in a launch of its own, and the warp instructions it
 * costs. */
enum status tune_census(struct tune_bench *b, const struct options *o, const struct result *r,
                        struct buf *said, struct diags *ds);
bool tune_same_hashes(const struct tune_bench *b, const struct result *r);
/* Which output is not the original's, and where, as r's message; how much of it when the device compared
 * the two. */
void tune_tell_difference(const struct tune_bench *b, struct result *r);
/* it, or a function that it may call */
bool tune_reads_clock(const struct ptx_module *m, const char *kernel);
/* the first error becomes the result's message */
void tune_reason(const struct diags *ds, struct result *r);
/* The same as a text that was empty. */
void tune_reason_text(const struct diags *ds, char *text, size_t n);
/* Many configurations over the bench's pool, in any order; out[i] is o[i]'s result. again: NULL, or a
 * second round's, for time alone: it runs through the list backwards and is not told to the observer;
 * what failed the first time is not run again (not usable). A member goes on with it while others are
 * still at their last of the first round. */
enum status tune_pool_run(struct tune_bench *b, const struct options *o, size_t n,
                          const struct tune_observer *ob, struct result *out, struct result *again,
                          struct diags *ds);
/* Adds the samples of `more` to `r` (same configuration, another round). */
void tune_merge_samples(struct result *r, const struct result *more);
/* Where some of these results come from a sample of the CTAs and others do not, the former are timed
 * whole (`whole`) and replaced. */
typedef enum status tune_whole_fn(struct tune_bench *b, const struct options *o, struct result *out,
                                  struct diags *ds);
enum status tune_alike(struct tune_bench *b, tune_whole_fn *whole, struct result *const *r, size_t n,
                       struct diags *ds);
/* run_one.c: tune_alike by tune_time_whole */
enum status tune_time_alike(struct tune_bench *b, struct result *const *r, size_t n, struct diags *ds);
#define TUNE_AXIS_MOST 66 /* points of one axis, at most */
/* One axis of a sweep: a knob, and its values where they are listed (borrowed text, else empty). */
struct tune_axis {
    const char *name;
    int knob;
    struct str values;
};
enum status tune_axes_parse(const char *text, struct tune_axis *axes /* TUNE_AXES */, size_t *n,
                            struct diags *ds);
/* Options of the axis' points, made from base. ST_USAGE: a value is not one of the knob's. */
enum status tune_axis_points(const struct tune_axis *a, const struct tune_subject *s,
                             const struct options *base, struct options *out, size_t *n,
                             struct diags *ds);
struct pass_input tune_input(const struct tune_subject *t, const struct options *o);
/* Registers a thread as the device compiled it; 0: it is refused, or the device does not compile. */
uint32_t tune_compiled_regs(struct tune_bench *b, const struct options *o);
/* What the original's launch asks of the device under these options. */
struct dev_cta tune_cta(const struct tune_subject *t, const struct options *o);
bool tune_legal(const struct tune_subject *t, const struct options *o); /* no pass refuses it */
uint32_t tune_warps(const struct tune_subject *s);
/* What ends whatever is going on. */
static inline bool tune_over(enum status st)
{
    return st == ST_CANCELLED || st == ST_NOMEM;
}
/* ran, has a time, outputs equal (or no outputs to compare) */
bool tune_usable(const struct result *r);
