/* job_runs: the runs of the session as the snapshot shows them, and the advice that follows from them.
 */
#include "engine/tune/tune.h"
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/search/tuner.h"
#include "engine/session/session.h"
#include "engine/workspace/job_int.h"
#include "engine/workspace/workspace.h"

#include <string.h>

bool job_launches(enum job_kind k)
{
    return k == JOB_RUN || k == JOB_SWEEP || k == JOB_TUNE || k == JOB_RESUME;
}

void job_run_destroy(void *p)
{
    session_run_clear(p);
    base_free(p);
}

struct shared_ref *job_run_box(const struct session_run *r)
{
    struct session_run *copy = base_alloc(sizeof *copy);
    if (!copy || !session_run_copy(copy, r)) {
        base_free(copy);
        return NULL;
    }
    return shared_ref_new(copy, job_run_destroy);
}

void job_show_run(struct job_engine *e, size_t i)
{
    struct job_state *st = &e->state;
    const struct session_run *r = session_look(st->session, i);
    struct shared_ref *b = r ? job_run_box(r) : NULL;
    session_rest(st->session, i);
    if (!b)
        return;
    if (i < st->nruns)
        shared_ref_put(&st->runs[i], b);
    else if (st->nruns < JOB_MAX_RUNS)
        st->runs[st->nruns++] = b;
}

void job_spec_put(struct job_state *st, struct shared_ref *spec)
{
    shared_ref_put(&st->spec, spec);
    st->spec_key = spec ? launch_key(spec->p) : 0;
}

/* Sessions from before launches had keys: then the grid decides. */
static bool of_launch(const struct job_state *st, const struct session_run *r)
{
    const struct launch_spec *l = st->spec->p;
    return r->launch_key ? r->launch_key == st->spec_key
                         : memcmp(&r->grid, &l->grid, sizeof r->grid) == 0;
}

/* Runs of this text, kernel, launch and device: what an item of advice really came to. */
bool job_comparable(const struct job_state *st, const struct session_run *r)
{
    return !r->deleted && !r->earlier && st->kernel && strcmp(r->kernel, st->kernel) == 0 &&
           strcmp(r->dev.spec, st->info.spec) == 0 && st->spec && of_launch(st, r);
}

static bool is_original(const struct result *x, bool sampled)
{
    struct options none = options_default();
    return x->time.valid && x->sampled == sampled && options_equal(&x->options, &none);
}

/* The original as it ran last, whole or from a sample: by itself, or in a search. */
static const struct result *original_run(const struct job_state *st, bool sampled)
{
    for (size_t i = st->nruns; i-- > 0;) {
        const struct session_run *r = st->runs[i]->p;
        if (!job_comparable(st, r))
            continue;
        if (r->kind == RUN_ONE && is_original(&r->one, sampled))
            return &r->one;
        if (r->kind == RUN_TUNE && is_original(&r->found->original, sampled))
            return &r->found->original;
        for (size_t k = 0; r->kind == RUN_TUNE && k < r->ntrail; k++)
            if (is_original(&r->trail[k], sampled))
                return &r->trail[k];
    }
    return NULL;
}

static void prove_against(struct job_state *st, const struct result *original)
{
    for (size_t i = 0; original && i < st->nruns; i++) {
        const struct session_run *r = st->runs[i]->p;
        if (!job_comparable(st, r))
            continue;
        if (r->kind == RUN_ONE)
            tune_advise_prove(st->advice, st->nadvice, original, &r->one, 1);
        if (r->kind == RUN_SWEEP)
            tune_advise_prove(st->advice, st->nadvice, original, r->sweep.points, r->sweep.npoints);
        if (r->kind == RUN_TUNE)
            tune_advise_prove(st->advice, st->nadvice, original, r->trail, r->ntrail);
    }
}

/* Each kind of time against the original timed so. */
void job_prove_advice(struct job_state *st)
{
    prove_against(st, original_run(st, true));
    prove_against(st, original_run(st, false));
}

void job_advise(struct job_engine *e)
{
    struct job_state *st = &e->state;
    const struct tune_sweep *newest = NULL;
    for (size_t i = st->nruns; i-- > 0 && !newest;) {
        const struct session_run *r = st->runs[i]->p;
        if (r->kind == RUN_SWEEP && job_comparable(st, r))
            newest = &r->sweep;
    }
    st->nadvice = 0;
    if (!st->module || !st->facts)
        return;
    struct tune_subject subject = { st->module->p, st->spec ? st->spec->p : NULL,
                                    st->has_data ? &st->data : NULL, st->dev, st->facts->p };
    st->nadvice = tune_advise(&subject, newest, st->advice, JOB_MAX_ADVICE);
    st->advice_predicted = false;
    st->wants_cost = st->spec != NULL;
    job_prove_advice(st);
}
