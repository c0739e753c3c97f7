/* A pool: one thread per member takes jobs from a common list; the caller's
 * thread hands out results. Jobs of a worker that died go back to the list.
 * Members are opened by threads of their own, and a run does not wait for them. */
#include "engine/dev/dev_int.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define MEMBER_STRIKES 2
#define HEAD_START_MS 300        /* the first member has a driver to itself: starting several at once takes each longer */
#define POLL_MS 20

enum member_state { MEMBER_OPENING, MEMBER_UP, MEMBER_GONE };
/* dev and ds belong to the opening thread until the state says otherwise. */
struct member {
    struct dev_pool *pool;
    char *spec; const char *worker;
    pthread_t thread; bool threaded;
    enum member_state state;
    struct dev *dev; struct diags ds;
};
/* Everything below `lock`, and the whole of a run, is guarded by it. */
struct dev_pool {
    struct member *members; size_t n;
    struct dev_env env; struct cancel cancel;
    pthread_mutex_t lock; pthread_cond_t change;
};

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_FINISHED };
struct job_slot { enum job_state state; unsigned deaths; const struct member *lost_by; };
struct pool_run {
    struct dev_pool *pool;
    const struct launch_data *data;
    const struct dev_pool_code *codes; size_t ncodes;
    const struct dev_pool_job *jobs; size_t njobs;
    const struct dev_pool_watch *watch;
    struct result *out;
    struct job_slot *slots;
    size_t *order, nfinished;                    /* order: finished jobs in the order of finishing */
    size_t alive, coming; bool over;             /* members at work, members being opened; no more work */
};
/* A member at work on a run. */
struct hand { struct pool_run *run; struct member *m; struct dev_code **codes; struct dev_data *data; unsigned strikes; bool late /* counted as coming */; };

/* ---- opening ---- */
/* Waits for a change, but not for ever: a cancel request tells nobody. Under the lock. */
static void wait_some(struct dev_pool *p)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += POLL_MS * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->change, &p->lock, &t);
}

static void *open_member(void *ctx)
{
    struct member *m = ctx;
    struct dev_pool *p = m->pool;
    struct dev_env env = p->env;
    struct dev *d = NULL;
    env.workers = &m->worker;
    env.nworkers = m->worker ? 1 : 0;
    if (m->spec)
        dev_open(m->spec, &env, &d, &m->ds);
    pthread_mutex_lock(&p->lock);
    m->dev = d;
    m->state = d ? MEMBER_UP : MEMBER_GONE;
    pthread_cond_broadcast(&p->change);
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static void start_member(struct member *m)
{
    m->threaded = pthread_create(&m->thread, NULL, open_member, m) == 0;
    if (!m->threaded)
        open_member(m);
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

static size_t count_state(const struct dev_pool *p, enum member_state s)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        n += p->members[i].state == s;
    return n;
}

size_t dev_pool_count(struct dev_pool *p)
{
    pthread_mutex_lock(&p->lock);
    while (count_state(p, MEMBER_OPENING))
        pthread_cond_wait(&p->change, &p->lock);
    size_t n = count_state(p, MEMBER_UP);
    pthread_mutex_unlock(&p->lock);
    return n;
}

struct dev *dev_pool_first(struct dev_pool *p)
{
    struct dev *d = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; !d && i < p->n; i++)
        d = p->members[i].state == MEMBER_UP ? p->members[i].dev : NULL;
    pthread_mutex_unlock(&p->lock);
    return d;
}

void dev_pool_close(struct dev_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->cancel.asked, true);        /* what still comes up is not waited for */
    for (size_t i = 0; p->members && i < p->n; i++) {
        if (p->members[i].threaded)
            pthread_join(p->members[i].thread, NULL);
        dev_close(p->members[i].dev);
        base_free(p->members[i].spec);
        diags_free(&p->members[i].ds);
    }
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    base_free(p->members);
    base_free(p);
}

static struct dev_pool *pool_new(const char *const *specs, size_t nspecs, const struct dev_env *env)
{
    struct dev_pool *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->n = (env->nworkers ? env->nworkers : 1) * nspecs;
    p->env = *env;
    p->cancel.also = env->cancel;
    p->env.cancel = &p->cancel;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, NULL);
    p->members = base_alloc((p->n + 1) * sizeof *p->members);
    for (size_t i = 0; p->members && i < p->n; i++)
        p->members[i] = (struct member){ .pool = p, .spec = base_strdup(specs[i % nspecs]), .worker = env->nworkers ? env->workers[i / nspecs] : NULL };
    if (!p->members) {
        dev_pool_close(p);
        return NULL;
    }
    return p;
}

/* Starts all; back when the first by number that opens at all is up, or when none is left to wait for. */
static bool start_members(struct dev_pool *p)
{
    size_t i = 0;
    int64_t until = base_now_ns() + HEAD_START_MS * 1000000ll;
    if (p->n)
        start_member(&p->members[0]);
    pthread_mutex_lock(&p->lock);
    while (p->n && p->members[0].state == MEMBER_OPENING && base_now_ns() < until)
        wait_some(p);
    pthread_mutex_unlock(&p->lock);
    for (i = 1; i < p->n; i++)
        start_member(&p->members[i]);
    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->n && p->members[i].state != MEMBER_UP; i += p->members[i].state == MEMBER_GONE)
        if (p->members[i].state == MEMBER_OPENING)
            wait_some(p);
    pthread_mutex_unlock(&p->lock);
    return i < p->n;
}

enum status dev_pool_open(const char *const *specs, size_t nspecs, const struct dev_env *env, struct dev_pool **out, struct diags *ds)
{
    *out = NULL;
    struct dev_pool *p = pool_new(specs, nspecs, env);
    if (!p)
        return ST_NOMEM;
    if (start_members(p)) {
        *out = p;
        return ST_OK;
    }
    for (size_t i = 0; i < p->n; i++)
        report(&p->members[i], ds);
    diag_error(ds, "pool", "none of %zu devices could be opened", p->n);
    enum status st = cancel_asked(env->cancel) ? ST_CANCELLED : ST_DEVICE;
    dev_pool_close(p);
    return st;
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
    pthread_mutex_lock(&r->pool->lock);
    while (later && !cancel_asked(r->watch->cancel)) {
        got = find_job(r, m, &later);
        if (got != SIZE_MAX)
            break;
        if (later)
            pthread_cond_wait(&r->pool->change, &r->pool->lock);
    }
    if (got != SIZE_MAX)
        r->slots[got].state = JOB_RUNNING;
    pthread_mutex_unlock(&r->pool->lock);
    return got;
}

static void finish_job(struct pool_run *r, size_t job, const struct result *res)
{
    pthread_mutex_lock(&r->pool->lock);
    r->out[job] = *res;
    r->slots[job].state = JOB_FINISHED;
    r->order[r->nfinished++] = job;
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
}

static void unfinish_job(struct pool_run *r, size_t job)
{
    pthread_mutex_lock(&r->pool->lock);
    r->slots[job].state = JOB_WAITING;
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
}

/* The worker died with the job: back to the list, or given up. */
static void return_job(struct pool_run *r, const struct member *m, size_t job, const struct result *res)
{
    pthread_mutex_lock(&r->pool->lock);
    r->slots[job].lost_by = m;
    bool again = ++r->slots[job].deaths < DEV_POOL_TRIES;
    if (again) {
        r->slots[job].state = JOB_WAITING;
        pthread_cond_broadcast(&r->pool->change);
    }
    pthread_mutex_unlock(&r->pool->lock);
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

/* Waits for a member that is being opened; false: it does not open, or there is nothing left for it to do. */
static bool enter(struct hand *h)
{
    struct pool_run *r = h->run;
    pthread_mutex_lock(&r->pool->lock);
    while (h->m->state == MEMBER_OPENING && !r->over)
        pthread_cond_wait(&r->pool->change, &r->pool->lock);
    bool up = h->m->state == MEMBER_UP && !(h->late && r->over);
    if (h->late) {
        r->coming--;
        r->alive += up;
    }
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
    return up;
}

static void *work(void *ctx)
{
    struct hand *h = ctx;
    struct pool_run *r = h->run;
    size_t job;
    bool fit = true;
    if (!enter(h))
        return NULL;
    while (fit && (job = take_job(r, h->m)) != SIZE_MAX)
        fit = work_one(h, job);
    for (size_t i = 0; i < r->ncodes; i++)
        if (h->codes[i])
            dev_unload(h->m->dev, h->codes[i]);
    if (h->data)
        dev_unbind(h->m->dev, h->data);
    if (h->strikes >= MEMBER_STRIKES)
        dev_close(h->m->dev);
    pthread_mutex_lock(&r->pool->lock);
    if (h->strikes >= MEMBER_STRIKES) {
        h->m->dev = NULL;
        h->m->state = MEMBER_GONE;
    }
    r->alive--;
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
    return NULL;
}

/* ---- a run ---- */
/* Is there anyone whose work is to be waited for? Under the lock. */
static bool more_to_come(const struct pool_run *r)
{
    return r->alive || (r->coming && r->nfinished < r->njobs && !cancel_asked(r->watch->cancel));
}

/* Hands out results until every member is done; one that is still being opened is then no longer waited for. */
static void hand_out(struct pool_run *r)
{
    size_t told = 0;
    pthread_mutex_lock(&r->pool->lock);
    while (told < r->nfinished || more_to_come(r)) {
        if (told == r->nfinished) {
            wait_some(r->pool);
            continue;
        }
        size_t job = r->order[told++];
        pthread_mutex_unlock(&r->pool->lock);
        if (r->watch->done)
            r->watch->done(r->watch->ctx, job, &r->out[job]);
        pthread_mutex_lock(&r->pool->lock);
    }
    r->over = true;
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
}

static void report_all(struct dev_pool *p, struct diags *ds)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n; i++)
        if (p->members[i].state != MEMBER_OPENING)
            report(&p->members[i], ds);
    pthread_mutex_unlock(&p->lock);
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

/* One member's thread. Under the lock. */
static bool start_hand(struct pool_run *r, struct hand *h, pthread_t *thread)
{
    h->late = h->m->state == MEMBER_OPENING;
    size_t *count = h->late ? &r->coming : &r->alive;
    ++*count;
    if (h->codes && pthread_create(thread, NULL, work, h) == 0)
        return true;
    --*count;
    return false;
}

static void start_all(struct pool_run *r, struct dev_pool *p, struct hand *hands, pthread_t *threads, bool *started)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n; i++) {
        if (p->members[i].state == MEMBER_GONE)
            continue;
        hands[i] = (struct hand){ .run = r, .m = &p->members[i], .codes = base_alloc((r->ncodes + 1) * sizeof(struct dev_code *)) };
        started[i] = start_hand(r, &hands[i], &threads[i]);
    }
    pthread_mutex_unlock(&p->lock);
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
        }
        report_all(p, ds);
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
    struct pool_run r = { .pool = p, .data = data, .codes = codes, .ncodes = ncodes, .jobs = jobs, .njobs = njobs,
                          .watch = w ? w : &NOBODY, .out = out };
    r.slots = base_alloc((njobs + 1) * sizeof *r.slots);
    r.order = base_alloc((njobs + 1) * sizeof *r.order);
    enum status st = r.slots && r.order ? run_pool(&r, p, ds) : ST_NOMEM;
    base_free(r.slots);
    base_free(r.order);
    return st;
}
