/* A search from start to end: the original, the method, the proof. Nothing is recommended that did not
 * run with outputs equal to the original's, or whose gain lies within the noise. */
#include "engine/search/search.h"

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/counters.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/search/live.h"
#include "engine/search/space.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* the simulated device is deterministic; gains below this are not worth a rewrite */
#define SIM_NOISE      0.005
#define MEASURED_NOISE 0.02 /* least gain that counts on a GPU, besides the spread of the samples */

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
    struct options none = options_default();
    s->ranked = true;
    enum status st = predict_end(s, &none, &s->found->cost_original);
    return st == ST_OK ? predict_end(s, &s->found->options, &s->found->cost_best) : st;
}

/* What is recommended has to hold against what the simulated device can do to it. */
static enum status prove_found(struct searching *s)
{
    struct tune_found *f = s->found;
    search_step(s, "proof", NULL);
    enum status st = tune_prove(s->bench, &f->options, s->opts->prove, &f->proof, s->ds);
    if (st != ST_OK || f->proof.verdict != PROOF_BROKEN)
        return st;
    struct buf line = { 0 };
    options_line(&f->options, &line);
    snprintf(f->reason, sizeof f->reason, "the fastest, %.60s, is not what the original does: %.160s",
             line.s ? line.s : "", f->proof.message);
    buf_free(&line);
    f->options = options_default();
    f->best = f->original;
    f->leave_alone = true;
    return ST_OK;
}

static enum status run_method(struct searching *s, const struct search_method *m)
{
    struct options none = options_default();
    s->bench->observer = s->ob;
    search_step(s, "the original", NULL);
    enum status st = search_original(s);
    if (st == ST_OK) {
        s->space = space_of(s->bench);
        space_find_minctas(&s->space, s->bench);
        s->found->space = search_space_size(s);
        s->ranked = m->ranked;
        s->planned = s->found->launches;
        search_step(s, "what the model expects", NULL);
        st = search_predict(s, &none, &s->live.original_cost);
        s->live.best_cost = s->live.original_cost;
    }
    if (st == ST_OK)
        st = m->run(s);
    if (st == ST_OK && m->run != search_explore)
        st = search_time_leaders(s); /* ours does it before it sheds */
    s->found->interrupted = st == ST_CANCELLED;
    if (s->found->untried[0] || s->found->interrupted)
        search_adopt_done(s);
    if (st == ST_OK)
        st = predict_ends(s);
    if (st == ST_OK) {
        search_step(s, "confirmation", NULL);
        st = search_confirm(s);
    }
    if (s->found->original.time.valid)
        search_finalize(s);
    if (st == ST_OK && !s->found->leave_alone && !s->opts->replay)
        st = prove_found(s);
    if (st == ST_OK && !s->found->leave_alone)
        st = tune_check_sets(s->bench, s->opts, s->live.noise, s->found);
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
    out->original = out->best = result_empty();
    out->options = options_default();
    if (!m)
        return tune_method_check(o->method, ds);
    struct searching *s = base_alloc(sizeof *s);
    if (!s)
        return ST_NOMEM;
    bool gpu = dev_describe(b->subject.dev)->kind == DEV_CUDA;
    *s = (struct searching){ .bench = b,
                             .opts = o,
                             .ob = ob,
                             .ds = ds,
                             .found = out,
                             .started_ns = base_now_ns(),
                             .trying_cost = NAN,
                             .whole = result_empty() };
    s->budget = o->budget_launches;
    s->deadline_ns = o->budget_seconds > 0 ? (double)s->started_ns + o->budget_seconds * 1e9 : 0;
    s->live.method = m->name;
    s->live.noise = gpu ? MEASURED_NOISE : SIM_NOISE;
    s->live.left_s = NAN;
    enum status st = run_method(s, m);
    base_free(s->asked);
    base_free(s->explored);
    base_free(s->seen);
    base_free(s);
    return st;
}
