/* Sweeps over a pool of devices or workers: all points are rewritten first, the distinct
 * texts are the pool's codes, and the results are the same set whatever the pool. */
#include "engine/dev/dev_pool.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/launch_arg.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/result.h"
#include "engine/tune/cure.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* Pool jobs: the first round's in order, then the second's, backwards. */
struct batch {
    struct tune_bench *bench;
    const struct tune_observer *ob;
    const struct options *o;
    struct result *out, *again;
    size_t n;
    struct tune_job *job; /* by configuration */
    struct dev_pool_code *code;
    size_t ncodes;
    /* by pool job: which configuration; jobs of the first round */
    struct dev_pool_job *jobs;
    size_t *owner;
    size_t njobs, nfirst;
    size_t finished;
};

static void batch_free(struct batch *t)
{
    for (size_t i = 0; t->job && i < t->n; i++)
        pass_output_free(&t->job[i].code);
    BASE_FREE(t->job, t->code, t->jobs, t->owner);
}

static enum status batch_alloc(struct batch *t)
{
    t->job = base_alloc((t->n + 1) * sizeof *t->job);
    t->code = base_alloc((t->n + 1) * sizeof *t->code);
    t->jobs = base_alloc((2 * t->n + 1) * sizeof *t->jobs);
    t->owner = base_alloc((2 * t->n + 1) * sizeof *t->owner);
    return t->job && t->code && t->jobs && t->owner ? ST_OK : ST_NOMEM;
}

static size_t code_of(struct batch *t, const struct pass_output *c)
{
    for (size_t i = 0; i < t->ncodes; i++)
        if (t->code[i].text.n == c->n && memcmp(t->code[i].text.s, c->text, c->n) == 0 &&
            text_marks_equal(t->code[i].marks, &c->marks))
            return i;
    t->code[t->ncodes] = (struct dev_pool_code){ t->bench->subject.module->path,
                                                 { c->text, c->n },
                                                 str_of(launch_kernel(t->bench->subject.launch)),
                                                 &c->marks };
    return t->ncodes++;
}

/* A vote is a launch whose outcome decides what the next one is: those are run on the bench's own
 * device. */
static bool elects(const struct options *o)
{
    return (opt_bypass(o)->level != BYPASS_NONE && PI_IS_VOTE(opt_bypass(o)->pi.mode)) ||
           (opt_cluster(o)->kind == CLUSTER_AGENT && opt_cluster(o)->agents == OPT_AGENTS_VOTE);
}

/* A configuration that is not legal is a result at once; the others become jobs. */
static void make_ready(struct batch *t, size_t i)
{
    struct diags own = { 0 };
    t->out[i] = result_empty();
    t->out[i].options = t->o[i];
    if (elects(&t->o[i]))
        return;
    enum status st = tune_rewrite(t->bench, &t->o[i], &t->job[i].code, &own);
    if (st != ST_OK) {
        t->out[i].status = st;
        tune_reason(&own, &t->out[i]);
    } else {
        tune_fill_run(t->bench, &t->o[i], &t->job[i], false);
        t->jobs[t->njobs] = (struct dev_pool_job){ code_of(t, &t->job[i].code), t->job[i].run, 0 };
        t->owner[t->njobs++] = i;
    }
    diags_free(&own);
}

static void add_second_round(struct batch *t)
{
    t->nfirst = t->njobs;
    for (size_t i = 0; t->again && i < t->n; i++) {
        t->again[i] = result_empty();
        t->again[i].options = t->o[i];
        t->again[i].status = ST_REFUSED;
    }
    for (size_t k = t->nfirst; t->again && k-- > 0;) {
        t->jobs[t->njobs] = t->jobs[k];
        t->jobs[t->njobs].run.counters = false;
        t->jobs[t->njobs].after = k + 1;
        t->owner[t->njobs++] = t->owner[k];
    }
}

static void judge(struct batch *t, size_t job, const struct result *r)
{
    size_t i = t->owner[job];
    struct result *out = job < t->nfirst ? &t->out[i] : &t->again[i];
    *out = *r;
    out->options = t->o[i];
    out->voted = out->sample_voted = -1;
    tune_map_loads(&t->job[i].code, out);
    cure_limits(out, t->bench->subject.facts);
    if (r->status != ST_OK)
        return;
    out->equal = !r->noutputs ? EQUAL_UNKNOWN : tune_same_hashes(t->bench, r) ? EQUAL_YES : EQUAL_NO;
    if (out->equal == EQUAL_NO)
        tune_tell_difference(t->bench, out);
}

static void on_done(void *ctx, size_t job, const struct result *r)
{
    struct batch *t = ctx;
    size_t i = t->owner[job];
    judge(t, job, r);
    t->finished++;
    if (t->ob && t->ob->progress)
        t->ob->progress(t->ob->ctx, (double)t->finished / (double)t->njobs, "sweep");
    if (t->ob && t->ob->point && job < t->nfirst)
        t->ob->point(t->ob->ctx, &t->out[i], NULL);
}

static bool any_tolerance(const struct launch_spec *l)
{
    for (size_t i = 0; i < launch_nargs(l); i++)
        if (launch_arg(l, i)->tolerance > 0)
            return true;
    return false;
}

/* again: for the second round. */
static enum status run_elections(struct batch *t, bool again, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < t->n; i++) {
        if (!elects(&t->o[i]) || (again && !tune_usable(&t->out[i])))
            continue;
        st = t->ob && cancel_asked(t->ob->cancel)
                 ? ST_CANCELLED
                 : tune_run_one(t->bench, &t->o[i], again ? &t->again[i] : &t->out[i], ds);
        if (st == ST_OK && !again && t->ob && t->ob->point)
            t->ob->point(t->ob->ctx, &t->out[i], NULL);
    }
    return st;
}

/* Where the launch states a tolerance, what differs is looked at again with the bytes at hand. What
 * holds for the first round's bytes is taken to hold for the second's, which come from the same text. */
static enum status look_again(struct batch *t, struct diags *ds)
{
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && any_tolerance(t->bench->subject.launch) && i < t->n; i++) {
        struct result closer;
        if (t->out[i].equal != EQUAL_NO)
            continue;
        st = tune_run_one(t->bench, &t->o[i], &closer, ds);
        if (st != ST_OK)
            break;
        t->out[i] = closer;
        if (t->again && closer.equal == EQUAL_WITHIN && t->again[i].equal == EQUAL_NO)
            t->again[i].equal = EQUAL_WITHIN;
    }
    return st;
}

static enum status run_jobs(struct batch *t, struct diags *ds)
{
    struct result *done = base_alloc((t->njobs + 1) * sizeof *done);
    struct dev_pool_watch w = { on_done, t, t->ob ? t->ob->cancel : NULL };
    if (!done)
        return ST_NOMEM;
    /* the members have buffers of their own */
    dev_discard_outputs(t->bench->subject.dev, t->bench->data);
    enum status st = dev_pool_run(t->bench->pool, t->bench->subject.data, t->code, t->ncodes, t->jobs,
                                  t->njobs, &w, done, ds);
    for (size_t k = 0; k < t->njobs; k++)
        judge(t, k, &done[k]);
    base_free(done);
    return st;
}

enum status tune_pool_run(struct tune_bench *b, const struct options *o, size_t n,
                          const struct tune_observer *ob, struct result *out, struct result *again,
                          struct diags *ds)
{
    struct batch t = { .bench = b, .ob = ob, .o = o, .out = out, .again = again, .n = n };
    enum status st = batch_alloc(&t);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        make_ready(&t, i);
    if (st == ST_OK) {
        add_second_round(&t);
        st = run_jobs(&t, ds);
    }
    if (st == ST_OK)
        st = run_elections(&t, false, ds);
    if (st == ST_OK)
        st = look_again(&t, ds);
    if (st == ST_OK && again)
        st = run_elections(&t, true, ds);
    batch_free(&t);
    return st;
}
