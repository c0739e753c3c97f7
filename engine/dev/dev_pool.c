/* A pool: one thread per member takes jobs from a common list; the caller's
 * thread hands out results. Jobs of a worker that died go back to the list. */
#include "engine/dev/dev_int.h"

#include <pthread.h>
#include <string.h>

#define MEMBER_STRIKES 2

struct member { struct dev *dev; char *spec; const char *worker; struct diags ds; };
struct dev_pool { struct member *members; size_t n; };

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_FINISHED };
struct job_slot { enum job_state state; unsigned deaths; const struct member *lost_by; };
/* One dev_pool_run. Everything below `lock` is guarded by it. */
struct pool_run {
    const struct launch_data *data;
    const struct dev_pool_code *codes; size_t ncodes;
    const struct dev_pool_job *jobs; size_t njobs;
    const struct dev_pool_watch *watch;
    struct result *out;
    pthread_mutex_t lock; pthread_cond_t change;
    struct job_slot *slots;
    size_t *order, nfinished, alive;             /* order: finished jobs in the order of finishing */
};
/* A member at work on a run. */
struct hand { struct pool_run *run; struct member *m; struct dev_code **codes; struct dev_data *data; unsigned strikes; };

/* ---- opening ---- */
struct opening { struct dev_pool *p; const struct dev_env *env; };

static void open_member(void *ctx, size_t i)
{
    struct opening *o = ctx;
    struct member *m = &o->p->members[i];
    struct dev_env env = *o->env;
    env.workers = &m->worker;
    env.nworkers = m->worker ? 1 : 0;
    if (m->spec)
        dev_open(m->spec, &env, &m->dev, &m->ds);
}

/* What a member had to say, as warnings naming it. */
static void report(struct member *m, struct diags *ds)
{
    for (size_t i = 0; i < m->ds.n; i++)
        diag_add(ds, DIAG_WARNING, "pool", NULL, NO_SPAN, "%s%s%s: %s", m->worker ? m->worker : "", m->worker ? " " : "",
                 m->spec ? m->spec : "?", m->ds.v[i].msg ? m->ds.v[i].msg : "");
    diags_free(&m->ds);
    m->ds = (struct diags){ 0 };
}

size_t dev_pool_count(const struct dev_pool *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->members[i].dev != NULL;
    return n;
}

struct dev *dev_pool_first(struct dev_pool *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->members[i].dev)
            return p->members[i].dev;
    return NULL;
}

void dev_pool_close(struct dev_pool *p)
{
    if (!p)
        return;
    for (size_t i = 0; p->members && i < p->n; i++) {
        dev_close(p->members[i].dev);
        base_free(p->members[i].spec);
        diags_free(&p->members[i].ds);
    }
    base_free(p->members);
    base_free(p);
}

enum status dev_pool_open(const char *const *specs, size_t nspecs, const struct dev_env *env, struct dev_pool **out, struct diags *ds)
{
    size_t workers = env->nworkers ? env->nworkers : 1;
    *out = NULL;
    struct dev_pool *p = base_alloc(sizeof *p);
    if (!p)
        return ST_NOMEM;
    p->n = workers * nspecs;
    p->members = base_alloc((p->n + 1) * sizeof *p->members);
    if (!p->members) {
        dev_pool_close(p);
        return ST_NOMEM;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->members[i].spec = base_strdup(specs[i % nspecs]);
        p->members[i].worker = env->nworkers ? env->workers[i / nspecs] : NULL;
    }
    struct opening o = { p, env };
    base_parallel((unsigned)p->n, p->n, open_member, &o);
    for (size_t i = 0; i < p->n; i++)
        report(&p->members[i], ds);
    if (dev_pool_count(p)) {
        *out = p;
        return ST_OK;
    }
    diag_error(ds, "pool", "none of %zu devices could be opened", p->n);
    dev_pool_close(p);
    return ST_DEVICE;
}

/* ---- jobs ---- */
/* A waiting job for this member. One that it lost before is left to the others as long as there are any.
 * *later: something may still come, so that waiting makes sense. */
static size_t find_job(const struct pool_run *r, const struct member *m, bool *later)
{
    *later = false;
    for (size_t i = 0; i < r->njobs; i++) {
        const struct job_slot *s = &r->slots[i];
        if (s->state == JOB_WAITING && (s->lost_by != m || r->alive == 1))
            return i;
        *later |= s->state != JOB_FINISHED;
    }
    return SIZE_MAX;
}

/* Next job for a member, or SIZE_MAX when there is nothing left to do. */
static size_t take_job(struct pool_run *r, const struct member *m)
{
    size_t got = SIZE_MAX;
    bool later = true;
    pthread_mutex_lock(&r->lock);
    while (later && !cancel_asked(r->watch->cancel)) {
        got = find_job(r, m, &later);
        if (got != SIZE_MAX)
            break;
        if (later)
            pthread_cond_wait(&r->change, &r->lock);
    }
    if (got != SIZE_MAX)
        r->slots[got].state = JOB_RUNNING;
    pthread_mutex_unlock(&r->lock);
    return got;
}

static void finish_job(struct pool_run *r, size_t job, const struct result *res)
{
    pthread_mutex_lock(&r->lock);
    r->out[job] = *res;
    r->slots[job].state = JOB_FINISHED;
    r->order[r->nfinished++] = job;
    pthread_cond_broadcast(&r->change);
    pthread_mutex_unlock(&r->lock);
}

static void unfinish_job(struct pool_run *r, size_t job)
{
    pthread_mutex_lock(&r->lock);
    r->slots[job].state = JOB_WAITING;
    pthread_cond_broadcast(&r->change);
    pthread_mutex_unlock(&r->lock);
}

/* The worker died with the job: back to the list, or given up. */
static void return_job(struct pool_run *r, const struct member *m, size_t job, const struct result *res)
{
    pthread_mutex_lock(&r->lock);
    r->slots[job].lost_by = m;
    bool again = ++r->slots[job].deaths < DEV_POOL_TRIES;
    if (again) {
        r->slots[job].state = JOB_WAITING;
        pthread_cond_broadcast(&r->change);
    }
    pthread_mutex_unlock(&r->lock);
    if (!again)
        finish_job(r, job, res);
}

static enum status run_job(struct hand *h, size_t job, struct result *res, struct diags *ds)
{
    struct pool_run *r = h->run;
    const struct dev_pool_job *j = &r->jobs[job];
    const struct dev_pool_code *c = &r->codes[j->code];
    struct dev *d = h->m->dev;
    enum status st = ST_OK;
    d->died = false;
    if (!h->codes[j->code])
        st = dev_load(d, c->path, c->text, c->kernel, c->maxnreg, &h->codes[j->code], ds);
    if (st == ST_OK && !h->data)
        st = dev_bind(d, r->data, &h->data, ds);
    struct dev_run run = j->run;
    run.cancel = r->watch->cancel;
    run.progress = NULL;
    if (st == ST_OK)
        st = dev_launch(d, h->codes[j->code], h->data, &run, res, ds);
    if (st != ST_OK)
        dev_result_from_diags(res, st, ds);
    return st;
}

/* A result carries its own reason; what else was said is kept for the end. */
static void keep_diags(struct hand *h, enum status st, struct diags *ds)
{
    for (size_t i = 0; i < ds->n; i++)
        if (st == ST_DEVICE || ds->v[i].level == DIAG_WARNING)
            diag_add(&h->m->ds, DIAG_WARNING, ds->v[i].code, NULL, NO_SPAN, "%s", ds->v[i].msg ? ds->v[i].msg : "");
    diags_free(ds);
}

/* False: the member is of no more use. */
static bool work_one(struct hand *h, size_t job)
{
    struct result res = h->run->out[job];
    struct diags ds = { 0 };
    dev_result_begin(&res);
    enum status st = run_job(h, job, &res, &ds);
    bool lost = st == ST_DEVICE || (st == ST_OK && h->m->dev->died);
    h->strikes = lost ? h->strikes + 1 : 0;
    keep_diags(h, st, &ds);
    if (st == ST_CANCELLED)
        unfinish_job(h->run, job);
    else if (lost)
        return_job(h->run, h->m, job, &res);
    else
        finish_job(h->run, job, &res);
    return st != ST_CANCELLED && h->strikes < MEMBER_STRIKES;
}

static void *work(void *ctx)
{
    struct hand *h = ctx;
    struct pool_run *r = h->run;
    size_t job;
    bool fit = true;
    while (fit && (job = take_job(r, h->m)) != SIZE_MAX)
        fit = work_one(h, job);
    for (size_t i = 0; i < r->ncodes; i++)
        if (h->codes[i])
            dev_unload(h->m->dev, h->codes[i]);
    if (h->data)
        dev_unbind(h->m->dev, h->data);
    if (h->strikes >= MEMBER_STRIKES) {
        dev_close(h->m->dev);
        h->m->dev = NULL;
    }
    pthread_mutex_lock(&r->lock);
    r->alive--;
    pthread_cond_broadcast(&r->change);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- a run ---- */
/* Hands out results until every member is done. */
static void hand_out(struct pool_run *r)
{
    size_t told = 0;
    pthread_mutex_lock(&r->lock);
    while (told < r->nfinished || r->alive) {
        if (told == r->nfinished) {
            pthread_cond_wait(&r->change, &r->lock);
            continue;
        }
        size_t job = r->order[told++];
        pthread_mutex_unlock(&r->lock);
        if (r->watch->done)
            r->watch->done(r->watch->ctx, job, &r->out[job]);
        pthread_mutex_lock(&r->lock);
    }
    pthread_mutex_unlock(&r->lock);
}

static enum status settle(struct pool_run *r, struct diags *ds)
{
    if (r->nfinished == r->njobs)
        return ST_OK;
    enum status st = cancel_asked(r->watch->cancel) ? ST_CANCELLED : ST_DEVICE;
    for (size_t i = 0; i < r->njobs; i++)
        if (r->slots[i].state != JOB_FINISHED)
            dev_result_fail(&r->out[i], st, "%s", st == ST_CANCELLED ? "interrupted" : "no device is left to run this on");
    if (st == ST_DEVICE)
        diag_error(ds, "pool", "no device is left: %zu of %zu launches were not run", r->njobs - r->nfinished, r->njobs);
    return st;
}

static void start_all(struct pool_run *r, struct dev_pool *p, struct hand *hands, pthread_t *threads, bool *started)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!p->members[i].dev)
            continue;
        hands[i] = (struct hand){ .run = r, .m = &p->members[i], .codes = base_alloc((r->ncodes + 1) * sizeof(struct dev_code *)) };
        pthread_mutex_lock(&r->lock);
        r->alive++;
        pthread_mutex_unlock(&r->lock);
        started[i] = hands[i].codes && pthread_create(&threads[i], NULL, work, &hands[i]) == 0;
        if (!started[i]) {
            pthread_mutex_lock(&r->lock);
            r->alive--;
            pthread_cond_broadcast(&r->change);
            pthread_mutex_unlock(&r->lock);
        }
    }
}

static enum status run_pool(struct pool_run *r, struct dev_pool *p, struct diags *ds)
{
    struct hand *hands = base_alloc((p->n + 1) * sizeof *hands);
    pthread_t *threads = base_alloc((p->n + 1) * sizeof *threads);
    bool *started = base_alloc((p->n + 1) * sizeof *started);
    enum status st = hands && threads && started ? ST_OK : ST_NOMEM;
    if (st == ST_OK) {
        start_all(r, p, hands, threads, started);
        hand_out(r);
        for (size_t i = 0; i < p->n; i++) {
            if (started[i])
                pthread_join(threads[i], NULL);
            base_free(hands[i].codes);
            report(&p->members[i], ds);
        }
        st = settle(r, ds);
    }
    base_free(started);
    base_free(threads);
    base_free(hands);
    return st;
}

enum status dev_pool_run(struct dev_pool *p, const struct launch_data *data, const struct dev_pool_code *codes, size_t ncodes,
                         const struct dev_pool_job *jobs, size_t njobs, const struct dev_pool_watch *w, struct result *out, struct diags *ds)
{
    static const struct dev_pool_watch NOBODY = { 0 };
    struct pool_run r = { .data = data, .codes = codes, .ncodes = ncodes, .jobs = jobs, .njobs = njobs,
                          .watch = w ? w : &NOBODY, .out = out };
    r.slots = base_alloc((njobs + 1) * sizeof *r.slots);
    r.order = base_alloc((njobs + 1) * sizeof *r.order);
    pthread_mutex_init(&r.lock, NULL);
    pthread_cond_init(&r.change, NULL);
    enum status st = r.slots && r.order ? run_pool(&r, p, ds) : ST_NOMEM;
    pthread_cond_destroy(&r.change);
    pthread_mutex_destroy(&r.lock);
    base_free(r.slots);
    base_free(r.order);
    return st;
}
