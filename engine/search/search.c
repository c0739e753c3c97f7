/* A search from start to end: the original, the method, the proof. Nothing is recommended that did not
 * run with outputs equal to the original's, or whose gain lies within the noise. */
#include "engine/search/found.h"
#include "engine/search/search.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* the simulated device is deterministic; gains below this are not worth a rewrite */
#define SIM_NOISE 0.005
/* A search on a GPU of which nobody said how long takes so many seconds at least, from its start to its end. */
#define GPU_SECONDS 6
/* Of a GPU's seconds, what the end takes besides counting the winner: proof, advice, leaving. */
#define END_SECONDS    0.6
#define OTHER_SECONDS  0.5  /* other launches of the kernel, where there are any */
#define MEASURED_NOISE 0.02 /* least gain that counts on a GPU, besides the spread of the samples */

#define MOST_FALLEN 3

/* With the schedule paper's figure, which the search did not need. */
static enum status predict_end(struct searching *s, const struct options *o, struct tune_prediction *out)
{
    enum status st = search_predict(s, o, out);
    return st == ST_OK && out->valid && isnan(out->cost.paper) ? tune_predict(s->bench, o, out) : st;
}

/* What the model says of the original and of what was found, for the report; not where a launch is
 * cheaper. */
static enum status predict_ends(struct searching *s)
{
    const struct options *none = options_none();
    s->ranked = true;
    enum status st = predict_end(s, none, &s->found->cost_original);
    options_put(s->found->ranked, TUNE_RANKED, s->found->options);
    return st == ST_OK ? predict_end(s, s->found->options, &s->found->cost_best) : st;
}

/* What fell is said first; the reason of what stands in its place comes behind. */
static void say_fallen(struct tune_found *f, const struct options *fell, const char *why)
{
    struct buf line = { 0 };
    char then[sizeof f->reason];
    memcpy(then, f->reason, sizeof then);
    options_line(fell, &line);
    snprintf(f->reason, sizeof f->reason,
             "the fastest, %.60s, is not what the original does: %.120s%s%.50s", line.s ? line.s : "",
             why, f->leave_alone ? "" : "; ", f->leave_alone ? "" : then);
    buf_free(&line);
}

static void leave_it_alone(struct tune_found *f)
{
    *f->options = *options_none();
    *f->best = *f->original;
    f->leave_alone = true;
}

/* What is recommended has to hold against what the simulated device can do to it. Where the fastest does
 * not, the next one that gains enough is tried, MOST_FALLEN in all. */
static enum status prove_found(struct searching *s)
{
    struct tune_found *f = s->found;
    struct options fell[MOST_FALLEN];
    char why[sizeof f->proof.message] = "";
    s->behind = SEARCH_PROOF;
    search_step(s, "proof", NULL);
    for (size_t n = 0; n < MOST_FALLEN; n++) {
        enum status st = tune_prove(s->bench, f->options, s->opts->prove, &f->proof, s->ds);
        if (st != ST_OK || f->proof.verdict != PROOF_BROKEN) {
            if (n && st == ST_OK)
                say_fallen(f, &fell[0], why);
            return st;
        }
        fell[n] = *f->options;
        if (!n)
            memcpy(why, f->proof.message, sizeof why);
        const struct result *next = search_next(s, fell, n + 1);
        if (next) {
            search_take(s, next);
            search_finalize(s);
        }
        if (!next || f->leave_alone)
            break;
    }
    leave_it_alone(f);
    say_fallen(f, &fell[0], why);
    return ST_OK;
}

/* Ends a part: its seconds. */
static void lap(struct searching *s, double *part)
{
    int64_t now = base_now_ns();
    *part += (double)(now - s->lap_ns) / 1e9;
    s->lap_ns = now;
}

/* A GPU's seconds hold the end, too: known once the original was timed and counted. */
static void keep_time_for_the_end(struct searching *s)
{
    double other = s->opts->nother ? OTHER_SECONDS : 0, half = s->opts->budget_seconds * 5e8;
    double end = (s->found->seconds.original + END_SECONDS + other) * 1e9;
    if (dev_describe(s->bench->subject.dev)->kind != DEV_CUDA || s->opts->replay)
        return;
    if (s->deadline_ns > 0)
        s->deadline_ns -= fmin(end, half);
    s->free_until_ns =
        s->deadline_ns > 0 ? s->deadline_ns : (double)s->started_ns + GPU_SECONDS * 1e9 - end;
}

static enum status run_method(struct searching *s, const struct search_method *m)
{
    struct tune_seconds *t = &s->found->seconds;
    const struct options *none = options_none();
    s->bench->observer = s->ob;
    search_step(s, "the original", NULL);
    enum status st = search_original(s);
    lap(s, &t->original);
    keep_time_for_the_end(s);
    if (st == ST_OK) {
        s->space = space_of(s->bench);
        if (s->opts->in_program)
            space_in_program(&s->space);
        space_find_minctas(&s->space, s->bench);
        s->found->space = search_space_size(s);
        s->ranked = m->ranked;
        search_step(s, "what the model expects", NULL);
        st = search_predict(s, none, &s->live.original_cost);
        s->live.best_cost = s->live.original_cost;
    }
    lap(s, &t->model);
    search_count_tries(s, false);
    if (st == ST_OK)
        st = m->run(s);
    if (st == ST_OK && m->run != search_explore)
        st = search_time_leaders(s); /* ours does it before it sheds */
    lap(s, &t->tries);
    s->found->interrupted = st == ST_CANCELLED;
    if (s->found->untried[0] || s->found->interrupted)
        search_adopt_done(s);
    if (st == ST_OK)
        st = predict_ends(s);
    lap(s, &t->model);
    if (st == ST_OK) {
        s->behind = SEARCH_TRIES;
        search_step(s, "confirmation", NULL);
        st = search_make_all(s);
    }
    if (st == ST_OK)
        st = search_confirm(s);
    if (s->found->original->time.valid)
        search_finalize(s);
    search_count_tries(s, true);
    lap(s, &t->confirmation);
    if (st == ST_OK && !s->found->leave_alone && !s->opts->replay)
        st = prove_found(s);
    lap(s, &t->proof);
    if (st == ST_OK && !s->found->leave_alone)
        st = search_over_launches(s);
    lap(s, &t->other_data);
    s->bench->observer = NULL;
    return st;
}

enum status tune_method_check(const char *method, struct diags *ds)
{
    struct buf names = { 0 };
    if (search_method_find(method))
        return ST_OK;
    search_method_names(&names);
    diag_error(ds, "method", "no method '%s': %s", method, names.s ? names.s : "");
    buf_free(&names);
    return ST_USAGE;
}

enum status tune_search(struct tune_bench *b, const struct tune_search_opts *o,
                        const struct tune_observer *ob, struct tune_found *out, struct diags *ds)
{
    const struct search_method *m = search_method_find(o->method);
    memset(out, 0, sizeof *out);
    if (!tune_found_room(out))
        return ST_NOMEM;
    if (!m)
        return tune_method_check(o->method, ds);
    struct searching *s = base_alloc(sizeof *s);
    struct result *own = base_alloc(2 * sizeof *own);
    if (!s || !own) {
        BASE_FREE(s, own);
        return ST_NOMEM;
    }
    own[0] = own[1] = result_empty();
    bool gpu = dev_describe(b->subject.dev)->kind == DEV_CUDA;
    *s = (struct searching){ .bench = b,
                             .opts = o,
                             .ob = ob,
                             .ds = ds,
                             .found = out,
                             .started_ns = o->started_ns ? o->started_ns : base_now_ns(),
                             .lap_ns = base_now_ns(),
                             .reads_counters = b->opts.counters,
                             .trying_cost = NAN,
                             .whole = &own[0],
                             .last = &own[1] };
    s->budget = o->budget_launches;
    s->deadline_ns = o->budget_seconds > 0 ? (double)s->started_ns + o->budget_seconds * 1e9 : 0;
    out->seconds.opening = (double)(s->lap_ns - s->started_ns) / 1e9;
    s->live.method = m->name;
    s->live.noise = gpu ? MEASURED_NOISE : SIM_NOISE;
    s->live.left_s = NAN;
    enum status st = run_method(s, m);
    b->opts.outputs = DEV_OUTPUTS_ALL;
    for (size_t i = 0; i < s->nseen; i++)
        base_free(s->seen[i].result);
    BASE_FREE(s->asked, s->explored, s->seen, s, own);
    return st;
}
