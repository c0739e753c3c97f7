/* The bench: the original's outputs, the code shapes loaded so far, and one configuration without a vote
 * from options to an accepted (or refused) result. */
#include "engine/analysis/analysis.h"
#include "engine/dev/dev_pool.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/sim/sums.h"
#include "engine/tune/prove.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tune_run_opts tune_run_opts_default(const struct dev_info *d)
{
    /* The simulated device is deterministic: one launch says it all. */
    bool sim = !d || d->kind == DEV_SIMULATED;
    return (struct tune_run_opts){ .repeat = sim ? 1 : 5,
                                   .max_repeat = sim ? 1 : 30,
                                   .counters = true,
                                   .exact = false,
                                   .time_limit_s = 0 };
}

/* ---- comparing outputs ---- */
/* The argument that a result's i-th output is: results hold them in the launch's order. Names may be cut
 * off there. */
static size_t output_arg(const struct launch_spec *l, uint32_t i)
{
    size_t arg = 0;
    for (; arg < l->nargs; arg++)
        if (l->args[arg].output && i-- == 0)
            break;
    return arg;
}

/* The original itself, whatever the options say: then a difference is its own doing. */
static bool is_original(const struct result *r)
{
    const struct options *none = options_none();
    return options_equal(&r->options, none);
}

bool tune_same_hashes(const struct tune_bench *b, const struct result *r)
{
    for (uint32_t i = 0; i < r->noutputs; i++)
        if (i >= b->original->noutputs || r->outputs[i].hash != b->original->outputs[i].hash)
            return false;
    return true;
}

void tune_tell_difference(const struct tune_bench *b, struct result *r)
{
    for (uint32_t i = 0; i < r->noutputs; i++) {
        const struct output_hash *h = &r->outputs[i];
        if (i < b->original->noutputs && h->hash == b->original->outputs[i].hash)
            continue;
        size_t arg = output_arg(b->subject.launch, i),
               w = arg < b->subject.launch->nargs ? elem_size(b->subject.launch->args[arg].elem) : 1;
        if (is_original(r) || b->repeats == TUNE_REPEATS_NOT)
            snprintf(r->message, sizeof r->message,
                     "output '%s' differs from one launch of the original to the next: %s; without "
                     "\"output\" in the launch description it is not compared",
                     h->name,
                     tune_reads_clock(b->subject.module, b->subject.launch->kernel)
                         ? "the kernel reads a clock"
                         : "a race, or an order it depends on (--check-memory looks for races)");
        else if (h->differ && i < b->original->noutputs && h->other == b->original->outputs[i].hash)
            snprintf(r->message, sizeof r->message,
                     "output '%s' differs from the original's in %llu bytes, the first in element %llu",
                     h->name, (unsigned long long)h->differ, (unsigned long long)(h->first / w));
        else
            snprintf(r->message, sizeof r->message, "output '%s' differs from the original's", h->name);
        return;
    }
}

static enum status run_options(struct tune_bench *b, const struct options *o, bool functional,
                               struct result *out, struct diags *ds)
{
    struct tune_job j = { 0 };
    struct tune_shape *shape = NULL;
    enum status st = tune_rewrite(b, o, &j.code, ds);
    return st == ST_OK ? tune_launch(b, &j, o, functional, &shape, out, ds) : st;
}

#define TUNE_SOME_INSTS UINT64_C(4000000)
bool tune_makes_some(const struct tune_bench *b)
{
    return result_counter(b->original, COUNTER_INST_WARP) >= (double)TUNE_SOME_INSTS;
}

/* The outputs that rewrites must leave, and what is kept of them. */
static enum status take_reference(struct tune_bench *b, struct diags *ds)
{
    const struct options *none = options_none();
    struct result r = result_empty();
    b->keep_from = b->opts.tries ? TUNE_SOME_INSTS : 0;
    enum status st = run_options(b, none, true, &r, ds);
    b->keep_from = 0;
    if (st == ST_OK && r.status != ST_OK) {
        diag_error(ds, "original", "the original kernel does not run: %s",
                   r.message[0] ? r.message : status_text(r.status));
        st = r.status;
    }
    r.time = b->original->time;
    *b->original = r;
    b->kept = b->opts.tries && tune_makes_some(b);
    return st == ST_OK ? tune_keep_expected(b, b->sums, ds) : st;
}

/* Float atomics of many CTAs are executed one after the other in any case. */
enum status tune_take_turns(struct tune_bench *b, struct diags *ds)
{
    if (b->serial)
        return ST_OK;
    b->serial = true;
    if (launch_has_sums(b->subject.launch))
        return ST_OK;
    tune_free_expected(b);
    b->expected = NULL;
    return take_reference(b, ds);
}

/* A race of the original's own, or an order that it depends on, would be blamed on every rewrite: once,
 * when the first result differs, the original is launched again. A simulated launch repeats exactly, so
 * there, CTA by CTA, it is the timed one, whose warps run in another order than those of the functional
 * one that the original's outputs came from. Then what differed is launched again, since its outputs are
 * those to be read (`run --outputs`). */
static enum status ask_original(struct tune_bench *b, struct result *r, struct diags *ds)
{
    const struct options *none = options_none();
    struct result again = result_empty();
    if (b->repeats != TUNE_REPEATS_UNKNOWN)
        return ST_OK;
    bool functional = dev_describe(b->subject.dev)->kind == DEV_CUDA;
    enum dev_outputs was = b->opts.outputs;
    b->opts.outputs = DEV_OUTPUTS_ALL;
    enum status st = functional ? ST_OK : tune_take_turns(b, ds);
    if (st == ST_OK)
        st = run_options(b, none, functional, &again, ds);
    if (st == ST_OK && again.status == ST_OK)
        b->repeats = tune_same_hashes(b, &again) ? TUNE_REPEATS : TUNE_REPEATS_NOT;
    again = result_empty();
    if (st == ST_OK)
        st = run_options(b, &r->options, functional, &again, ds);
    if (st == ST_OK && again.status == ST_OK && !functional)
        memcpy(r->outputs, again.outputs, sizeof r->outputs);
    b->opts.outputs = was;
    return st;
}

/* Outputs against the original's: hashes first; a differing one is forgiven only within its stated
 * tolerance. */
static enum status judge_outputs(struct tune_bench *b, struct result *r, struct diags *ds)
{
    const struct launch_spec *l = b->subject.launch;
    if (r->part.all_ctas) {
        r->equal = r->part.bytes ? EQUAL_PART : EQUAL_UNKNOWN;
        return ST_OK;
    }
    r->equal = r->noutputs ? EQUAL_YES : EQUAL_UNKNOWN;
    for (uint32_t i = 0; i < r->noutputs; i++) {
        if (i < b->original->noutputs && r->outputs[i].hash == b->original->outputs[i].hash)
            continue;
        size_t arg = output_arg(l, i);
        bool ok = false;
        if (arg < l->nargs && l->args[arg].tolerance > 0) {
            enum status st = tune_compare_expected(b, arg, &ok, ds);
            if (st != ST_OK)
                return st;
        }
        if (!ok) {
            enum status st = is_original(r) ? ST_OK : ask_original(b, r, ds);
            r->equal = st == ST_OK && tune_same_hashes(b, r) ? EQUAL_YES : EQUAL_NO;
            if (r->equal == EQUAL_YES)
                return st;
            tune_tell_difference(b, r);
            return st;
        }
        r->equal = EQUAL_WITHIN;
    }
    return ST_OK;
}

/* Outputs of some CTAs, where they show that those are the original's; else all. A kernel whose CTAs read what
 * others wrote cannot be judged by some: it shows in the first that all outputs clear. */
static enum status run_compared(struct tune_bench *b, const struct options *o, struct result *out,
                                struct diags *ds)
{
    struct diags own = { 0 };
    enum status st = run_options(b, o, false, out, &own);
    out->options = *o;
    bool some = b->opts.outputs == DEV_OUTPUTS_SOME, told = st == ST_OK && out->status == ST_OK;
    if (!some || st == ST_REFUSED || st == ST_NOMEM || st == ST_CANCELLED ||
        (told && (!out->part.all_ctas || (out->part.bytes && !out->part.wrong)))) {
        diags_move(ds, &own);
        return st == ST_OK && told ? judge_outputs(b, out, ds) : st;
    }
    diags_free(&own);
    *out = result_empty();
    b->opts.outputs = DEV_OUTPUTS_ALL;
    st = run_options(b, o, false, out, ds);
    out->options = *o;
    if (st == ST_OK && out->status == ST_OK)
        st = judge_outputs(b, out, ds);
    bool cleared = st == ST_OK && out->status == ST_OK && out->equal != EQUAL_NO;
    b->opts.outputs = cleared ? DEV_OUTPUTS_ALL : DEV_OUTPUTS_SOME;
    return st;
}

enum status tune_make_all(struct tune_bench *b, const struct options *o, struct result *out,
                          struct diags *ds)
{
    *out = result_empty();
    enum status st = run_options(b, o, true, out, ds);
    out->options = *o;
    return st == ST_OK && out->status == ST_OK ? judge_outputs(b, out, ds) : st;
}

enum status tune_run_chosen(struct tune_bench *b, const struct options *o, struct result *out,
                            struct diags *ds)
{
    const struct options *none = options_none();
    *out = result_empty();
    enum status st = run_compared(b, o, out, ds);
    if (st == ST_OK && options_equal(o, none) && out->counters[COUNTER_INST_WARP].valid)
        b->inst_warp = out->counters[COUNTER_INST_WARP].value;
    struct interval likely = { 0, 0 }; /* no GPU was compared with an empty L2 */
    if (!out->cold)
        likely = interval_of_time(dev_describe(b->subject.dev), o, out->time.origin,
                                  (double)out->time.median);
    out->time.likely_low = out->time.valid ? (float)likely.low : 0;
    out->time.likely_high = out->time.valid ? (float)likely.high : 0;
    return st;
}

enum status tune_as_result(enum status st, const struct diags *said, struct result *out)
{
    if (st != ST_OK) {
        out->status = st;
        if (!out->message[0])
            tune_reason(said, out);
    }
    return st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

enum status tune_alike(struct tune_bench *b, tune_whole_fn *whole, struct result *const *r, size_t n,
                       struct diags *ds)
{
    size_t nwhole = 0, sampled = 0;
    enum status st = ST_OK;
    for (size_t i = 0; i < n; i++) {
        nwhole += tune_usable(r[i]) && !r[i]->sampled;
        sampled += tune_usable(r[i]) && r[i]->sampled;
    }
    for (size_t i = 0; i < n && nwhole && sampled && st == ST_OK; i++) {
        struct options o = r[i]->options;
        if (!tune_usable(r[i]) || !r[i]->sampled)
            continue;
        st = b->observer && cancel_asked(b->observer->cancel) ? ST_CANCELLED : whole(b, &o, r[i], ds);
    }
    return st;
}

void tune_merge_samples(struct result *r, const struct result *more)
{
    for (uint32_t i = 0; i < more->time.n && r->time.n < TIMING_MAX_SAMPLES; i++)
        r->time.sample[r->time.n++] = more->time.sample[i];
    r->time.throttled |= more->time.throttled;
    timing_finish(&r->time);
}

/* ---- opening ---- */
/* Every configuration is written, read back, sent and compiled: of a file of many kernels only what this
 * launch needs. */
static enum status narrow(struct tune_bench *b, const struct tune_subject *s)
{
    const struct launch_spec *l = s->launch;
    size_t most = 1 + l->nbefore + l->nsymbols, n = 0;
    b->subject = *s;
    for (size_t i = 0; i < l->nbefore; i++)
        most += l->before[i].nsymbols;
    struct str *keep = base_alloc(most * sizeof *keep);
    if (!keep)
        return ST_NOMEM;
    keep[n++] = str_of(l->kernel);
    for (size_t i = 0; i < l->nsymbols; i++)
        keep[n++] = str_of(l->symbols[i].name);
    for (size_t i = 0; i < l->nbefore; i++) {
        keep[n++] = str_of(l->before[i].kernel);
        for (size_t k = 0; k < l->before[i].nsymbols; k++)
            keep[n++] = str_of(l->before[i].symbols[k].name);
    }
    enum status st = ptx_narrow(s->module, keep, n, &b->narrow);
    base_free(keep);
    if (st != ST_OK || !b->narrow)
        return st;
    b->narrow_facts = s->facts ? ana_view(s->facts, b->narrow) : NULL;
    if (s->facts && !b->narrow_facts)
        return ST_OK; /* the whole does as well */
    b->subject.module = b->narrow;
    b->subject.facts = b->narrow_facts;
    return ST_OK;
}

static enum status bind(struct tune_bench *b, struct diags *ds)
{
    struct diags own = { 0 };
    enum status st = dev_bind(b->subject.dev, b->subject.data, &b->data, &own);
    if (st == ST_DEVICE && dev_astray(b->subject.dev)) {
        diags_free(&own);
        st = dev_bind(b->subject.dev, b->subject.data, &b->data, &own);
    }
    diags_move(ds, &own);
    return st;
}

static struct tune_bench *bench_new(void)
{
    struct tune_bench *b = base_alloc(sizeof *b);
    struct result *original = b ? base_alloc(sizeof *original) : NULL;
    if (!original) {
        base_free(b);
        return NULL;
    }
    *original = result_empty();
    b->original = original;
    return b;
}

enum status tune_bench_open(const struct tune_subject *s, const struct tune_run_opts *o,
                            struct tune_bench **out, struct diags *ds)
{
    struct tune_bench *b = bench_new();
    *out = NULL;
    if (!b)
        return ST_NOMEM;
    b->opts = *o;
    enum status st = narrow(b, s);
    if (st == ST_OK)
        st = bind(b, ds);
    if (st == ST_OK)
        st = tune_promotions_make(b);
    if (st == ST_OK && launch_has_sums(s->launch) && !(b->sums = sim_sums_new()))
        st = ST_NOMEM;
    if (st == ST_OK && o->outputs != DEV_OUTPUTS_NONE)
        st = take_reference(b, ds);
    sim_sums_free(b->sums);
    b->sums = NULL;
    if (st == ST_OK)
        *out = b;
    else
        tune_bench_close(b);
    return st;
}

const char *tune_regs_from(const struct tune_bench *b)
{
    return b->original->regs_from;
}

enum status tune_bench_open_model(const struct tune_subject *s, struct tune_bench **out,
                                  struct diags *ds)
{
    struct tune_bench *b = bench_new();
    *out = NULL;
    if (!b)
        return ST_NOMEM;
    struct tune_shape *shape = NULL;
    struct pass_output code = { 0 };
    const struct options *none = options_none();
    enum status st = narrow(b, s);
    if (st == ST_OK)
        st = tune_rewrite(b, none, &code, ds);
    if (st == ST_OK)
        st = tune_shape_get(b, &code, &shape, ds);
    if (st != ST_OK) {
        tune_bench_close(b);
        return st;
    }
    struct dev_resources r = dev_code_resources(shape->loaded);
    b->original->regs = r.regs;
    b->original->shared_static = r.shared_static;
    *out = b;
    return ST_OK;
}

void tune_bench_watch(struct tune_bench *b, const struct tune_observer *ob)
{
    b->observer = ob;
}
void tune_bench_use_pool(struct tune_bench *b, struct dev_pool *p)
{
    dev_pool_forget(b->pool, b->subject.data);
    b->pool = p;
    if (p)
        dev_pool_lend(p, b->subject.dev, b->data);
}

unsigned tune_bench_launches(const struct tune_bench *b)
{
    return b->launches;
}

void tune_bench_close(struct tune_bench *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->nshapes; i++)
        tune_shape_free(b, b->shape[i]);
    tune_prover_close(b->prover);
    tune_free_expected(b);
    if (b->trace)
        b->trace_free(b->trace);
    base_free(b->shape);
    dev_pool_forget(b->pool, b->subject.data);
    if (b->data)
        dev_unbind(b->subject.dev, b->data);
    base_free(b->narrow_facts);
    ptx_free(b->narrow);
    tune_promotions_free(b);
    tune_tiles_free(b);
    BASE_FREE(b->original, b);
}

enum status tune_bench_read(struct tune_bench *b, size_t arg, uint64_t at, void *bytes, uint64_t n,
                            struct diags *ds)
{
    return dev_read_part(b->subject.dev, b->data, arg, at, bytes, n, ds);
}
