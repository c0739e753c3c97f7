/* job_runs: the runs of the session as the snapshot shows them, and the advice that follows from them.
 */
#include "engine/rec/launch_read.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/tune/tune.h"
#include "engine/rec/gain.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/session/baseline.h"
#include "engine/workspace/job_int.h"
#include "engine/workspace/workspace.h"

#include <string.h>

bool job_launches(enum job_kind k)
{
    return k == JOB_RUN || k == JOB_SWEEP || k == JOB_TUNE || k == JOB_RESUME;
}

/* of a shared_ref: a struct session_run */
static void job_run_destroy(void *p)
{
    session_run_clear(p);
    base_free(p);
}

/* a copy; NULL: no memory */
static struct shared_ref *job_run_box(const struct session_run *r)
{
    struct session_run *copy = base_alloc(sizeof *copy);
    if (!copy || !session_run_copy(copy, r)) {
        base_free(copy);
        return NULL;
    }
    return shared_ref_new(copy, job_run_destroy);
}

/* ---- which runs are made ---- */
static size_t run_bytes(const struct shared_ref *b)
{
    const struct session_run *r = b ? b->p : NULL;
    size_t results =
        r ? r->sweep.npoints + r->ntrail + (r->probe ? SESSION_PROBES : 0) + 3 + (r->found ? 2 : 0)
          : 0; /* 3: one, bpa, cha */
    return !r ? 0
              : sizeof *r + results * result_bytes() + (r->found ? tune_found_bytes() : 0) +
                    (r->proof ? sizeof *r->proof : 0);
}

static void put_at(struct job_state *st, size_t i, struct shared_ref *b)
{
    st->run_bytes = st->run_bytes - run_bytes(st->runs[i]) + run_bytes(b);
    shared_ref_put(&st->runs[i], b);
}

static bool room_for(struct job_state *st, size_t n)
{
    while (st->cap_runs < n)
        if (!base_grow((void **)&st->runs, st->cap_runs, &st->cap_runs, sizeof(struct shared_ref *)))
            return false;
    return true;
}

/* The oldest give way; what a family of sweeps runs beside each other stays. */
#define RUNS_STAY 64u
static void keep_within(struct job_state *st)
{
    while (st->run_bytes > JOB_RUNS_BYTES && st->first_run + RUNS_STAY < st->nruns)
        put_at(st, st->first_run++, NULL);
}

void job_show_run(struct job_engine *e, size_t i)
{
    struct job_state *st = &e->state;
    const struct session_run *r = i >= st->first_run ? session_look(st->session, i) : NULL;
    struct shared_ref *b = r ? job_run_box(r) : NULL;
    session_rest(st->session, i);
    if (!b || !room_for(st, i + 1)) {
        shared_ref_unref(b);
        return;
    }
    while (st->nruns <= i) /* of sweeps that run beside each other the later may be first */
        st->runs[st->nruns++] = NULL;
    put_at(st, i, b);
    keep_within(st);
}

void job_runs_drop(struct job_state *st)
{
    for (size_t i = 0; i < st->nruns; i++)
        shared_ref_unref(st->runs[i]);
    base_free(st->runs);
    st->runs = NULL;
    st->nruns = st->first_run = st->cap_runs = st->run_bytes = 0;
}

/* Runs changed at a time: then they are text again, as thousands have no room beside each other. */
#define SETTLED 256u

void job_runs_age(struct job_engine *e)
{
    struct session *s = e->state.session;
    for (size_t i = 0; i < session_count(s); i++) {
        struct session_run *r = session_at(s, i);
        if (r)
            r->earlier = true;
        job_show_run(e, i);
        if (i % SETTLED == SETTLED - 1)
            session_settle(s);
    }
}

/* What the journal has changed stays the session's too. */
static struct shared_ref *take_run(struct session *s, size_t i)
{
    struct session_run *one = session_take(s, i);
    const struct session_run *r = one ? one : session_look(s, i);
    return one ? shared_ref_new(one, job_run_destroy) : r ? job_run_box(r) : NULL;
}

/* Runs from..to, in order: the session reads ahead. */
static enum status take_runs(struct job_state *st, size_t from, size_t to, struct diags *ds)
{
    for (size_t i = from; i < to; i++) {
        struct shared_ref *b = take_run(st->session, i);
        if (!b)
            return session_trouble(st->session, ds) ? ST_INPUT : ST_NOMEM;
        put_at(st, i, b);
    }
    session_rest(st->session, to); /* read ahead, and here already */
    return ST_OK;
}

enum status job_runs_load(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    size_t n = session_count(st->session);
    enum status s = room_for(st, n) ? ST_OK : ST_NOMEM;
    if (s != ST_OK)
        return s;
    memset(st->runs, 0, n * sizeof(struct shared_ref *));
    st->nruns = st->first_run = n;
    while (s == ST_OK && st->first_run && st->run_bytes < JOB_RUNS_BYTES) {
        size_t to = st->first_run;
        st->first_run = to > RUNS_STAY ? to - RUNS_STAY : 0;
        s = take_runs(st, st->first_run, to, ds);
        base_trim(); /* what reading them took */
    }
    keep_within(st);
    if (s != ST_OK) {
        job_runs_drop(st);
        session_free(st->session);
        st->session = NULL;
    }
    return s;
}

void job_spec_put(struct job_state *st, struct shared_ref *spec)
{
    shared_ref_put(&st->spec, spec);
    st->spec_key = spec ? launch_key(spec->p) : 0;
}

/* What the workbench has open. */
static struct run_subject subject_of(const struct job_state *st)
{
    const struct launch_spec *l = st->spec ? st->spec->p : NULL;
    struct run_subject s = { .kernel = st->kernel, .device = st->info.spec, .launch_key = st->spec_key };
    if (l)
        s.has_launch = true, s.grid = launch_grid(l), s.block = launch_block(l);
    return s;
}

bool job_comparable(const struct job_state *st, const struct session_run *r)
{
    struct run_subject now = subject_of(st);
    return !r->deleted && now.kernel && now.has_launch && !run_other(r, &now);
}

/* NULL: of sweeps beside each other, one that has no point yet. */
static const struct session_run *run_at(const struct job_state *st, size_t i)
{
    return st->runs[i] ? st->runs[i]->p : NULL;
}

/* The original by the best evidence that there is. */
static const struct result *original_run(const struct job_state *st)
{
    const struct result *best = NULL;
    for (size_t i = st->nruns; i-- > st->first_run;) {
        const struct session_run *r = run_at(st, i);
        const struct result *o = r && job_comparable(st, r) ? run_original(r, NULL) : NULL;
        best = o && (!best || evidence_of(o) > evidence_of(best)) ? o : best;
    }
    return best;
}

static void prove_by(struct job_state *st, const struct result *original, const struct result *done,
                     size_t n)
{
    const struct dev_info *d = st->dev ? dev_describe(st->dev) : NULL;
    st->nadvice = tune_advise_prove(d, st->advice, st->nadvice, original, done, n);
}

void job_prove_advice(struct job_state *st)
{
    const struct result *original = original_run(st);
    for (size_t i = st->first_run; original && i < st->nruns; i++) {
        const struct session_run *r = run_at(st, i);
        if (!r || !job_comparable(st, r))
            continue;
        if (r->kind == RUN_ONE)
            prove_by(st, original, r->one, 1);
        if (r->kind == RUN_SWEEP)
            prove_by(st, original, r->sweep.points, r->sweep.npoints);
        if (r->kind == RUN_TUNE)
            prove_by(st, original, r->trail, r->ntrail);
    }
}

/* What a sweep found is refuted where the original was timed by better evidence since. */
static bool stands(const struct session_run *r, const struct result *original)
{
    const struct result *best = tune_sweep_best(&r->sweep);
    return !best || !original || evidence_of(best) >= evidence_of(original);
}

void job_advise(struct job_engine *e)
{
    struct job_state *st = &e->state;
    const struct tune_sweep *newest = NULL;
    const struct result *original = original_run(st);
    for (size_t i = st->nruns; i-- > st->first_run && !newest;) {
        const struct session_run *r = run_at(st, i);
        if (r && r->kind == RUN_SWEEP && job_comparable(st, r) && stands(r, original))
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
