/* A pool: one thread per member takes jobs from a common list; the caller's
 * thread hands out results. Jobs of a worker that died go back to the list.
 * Members are opened by threads of their own, and a run does not wait for them. */
#include "engine/dev/dev_pool.h"
#include "engine/dev/dev_int.h"
#include "engine/rec/data.h"
#include "engine/rec/result.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>

#define MEMBER_STRIKES 2
#define MEMBER_ASTRAY  5 /* times in all that the way to its worker may fail */
/* The first driver of a machine starts alone, the others together: they wait for each other inside.
 * Measured on four H200s: alone 0.3 s, and all are up after 1.1 to 1.2 s however they are spaced,
 * but 1.8 s one after another. */
#define HEAD_START_MS 300
#define POLL_MS       20

enum member_state { MEMBER_OPENING, MEMBER_UP, MEMBER_GONE };
/* What a member spent its time on, in ns; up, first and last are moments, 0: never. */
struct seen {
    int64_t up, first, last, bind, load, launch;
    size_t jobs, lost;
    uint64_t dropped;
};
/* dev and ds belong to the opening thread until the state says otherwise. A member that is gone keeps
 * its device, which others may have from dev_pool_first, until the pool is closed. data: bound to it, of
 * the last run; lent: the caller's. */
struct member {
    struct dev_pool *pool;
    char *spec;
    const char *worker;
    pthread_t thread;
    bool threaded;
    enum member_state state;
    struct dev *dev;
    struct diags ds;
    struct dev_data *data;
    bool lent;
    struct seen seen;
};
/* Everything below `lock`, and the whole of a run, is guarded by it. */
struct dev_pool {
    struct member *members;
    size_t n;
    struct dev_env env;
    struct cancel cancel;
    pthread_mutex_t lock;
    pthread_cond_t change;
    int64_t opened;
};

enum job_state { JOB_WAITING, JOB_RUNNING, JOB_FINISHED };
/* why: what was said when it was lost last. */
struct job_slot {
    enum job_state state;
    unsigned deaths;
    const struct member *lost_by;
    int64_t took;
    char why[256];
};
struct pool_run {
    struct dev_pool *pool;
    const struct launch_data *data;
    const struct dev_pool_code *codes;
    size_t ncodes;
    const struct dev_pool_job *jobs;
    size_t njobs;
    const struct dev_pool_watch *watch;
    struct result *out;
    struct job_slot *slots;
    size_t *order, nfinished, nwaiting; /* order: finished jobs in the order of finishing */
    /* members at work, members being opened; no more work */
    size_t alive, coming;
    bool over;
};
/* A member at work on a run. */
struct hand {
    struct pool_run *run;
    struct member *m;
    struct dev_code **codes;
    unsigned strikes, astray;
    bool late /* counted as coming */;
};

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

/* Waits until the first member is up, or takes too long. Launchers lead elsewhere: they are started at
 * once. */
static void wait_turn(const struct member *m)
{
    struct dev_pool *p = m->pool;
    int64_t until = p->opened + HEAD_START_MS * 1000000ll;
    pthread_mutex_lock(&p->lock);
    while (m != p->members && !m->worker && p->members[0].state == MEMBER_OPENING &&
           !cancel_asked(&p->cancel) && base_now_ns() < until)
        wait_some(p);
    pthread_mutex_unlock(&p->lock);
}

static void *open_member(void *ctx)
{
    struct member *m = ctx;
    struct dev_pool *p = m->pool;
    struct dev_env env = p->env;
    struct dev *d = NULL;
    wait_turn(m);
    env.workers = &m->worker;
    env.nworkers = m->worker ? 1 : 0;
    if (m->spec)
        dev_open(m->spec, &env, &d, &m->ds);
    pthread_mutex_lock(&p->lock);
    m->dev = d;
    m->state = d ? MEMBER_UP : MEMBER_GONE;
    m->seen.up = d ? base_now_ns() : 0;
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
        diag_add(ds, DIAG_WARNING, "pool", NULL, NO_SPAN, "%s%s%s: %s", m->worker ? m->worker : "",
                 m->worker ? " " : "", m->spec ? m->spec : "?", m->ds.v[i].msg ? m->ds.v[i].msg : "");
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

static void member_unbind(struct member *m)
{
    if (m->data && !m->lent)
        dev_unbind(m->dev, m->data);
    m->data = NULL;
    m->lent = false;
}

/* A worker's end takes as long as its driver needs to leave the GPU: all members at once. */
static void *close_member(void *ctx)
{
    struct member *m = ctx;
    if (m->threaded)
        pthread_join(m->thread, NULL);
    member_unbind(m);
    dev_close(m->dev);
    base_free(m->spec);
    diags_free(&m->ds);
    return NULL;
}

void dev_pool_close(struct dev_pool *p)
{
    if (!p)
        return;
    atomic_store(&p->cancel.asked, true); /* what still comes up is not waited for */
    pthread_t *threads = base_alloc((p->n + 1) * sizeof *threads);
    bool *started = base_alloc((p->n + 1) * sizeof *started);
    for (size_t i = 0; p->members && i < p->n; i++) {
        bool own = threads && started && i + 1 < p->n &&
                   pthread_create(&threads[i], NULL, close_member, &p->members[i]) == 0;
        if (started)
            started[i] = own;
        if (!own)
            close_member(&p->members[i]);
    }
    for (size_t i = 0; p->members && started && i < p->n; i++)
        if (started[i])
            pthread_join(threads[i], NULL);
    BASE_FREE(started, threads);
    pthread_cond_destroy(&p->change);
    pthread_mutex_destroy(&p->lock);
    BASE_FREE(p->members, p);
}

void dev_pool_forget(struct dev_pool *p, const struct launch_data *data)
{
    for (size_t i = 0; p && i < p->n; i++) {
        struct member *m = &p->members[i];
        if (m->data && m->data->data == data)
            member_unbind(m);
    }
}

void dev_pool_lend(struct dev_pool *p, const struct dev *d, struct dev_data *bound)
{
    /* members that are still being opened have no device yet */
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n; i++) {
        struct member *m = &p->members[i];
        if (m->state == MEMBER_OPENING || m->dev != d)
            continue;
        member_unbind(m);
        m->data = bound;
        m->lent = true;
    }
    pthread_mutex_unlock(&p->lock);
}

/* ---- what members did ---- */
static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static double moment(const struct dev_pool *p, int64_t at)
{
    return at ? seconds(at - p->opened) : NAN;
}

size_t dev_pool_members(struct dev_pool *p, struct dev_pool_member *out, size_t most)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n && i < most; i++) {
        const struct member *m = &p->members[i];
        const struct seen *s = &m->seen;
        out[i] = (struct dev_pool_member){ m->spec,
                                           m->worker,
                                           m->state == MEMBER_UP,
                                           moment(p, s->up),
                                           moment(p, s->first),
                                           moment(p, s->last),
                                           seconds(s->bind),
                                           seconds(s->load),
                                           seconds(s->launch),
                                           s->jobs,
                                           s->lost,
                                           s->dropped };
    }
    pthread_mutex_unlock(&p->lock);
    return p->n;
}

static struct dev_pool *pool_new(const char *const *specs, size_t nspecs, const struct dev_env *env)
{
    struct dev_pool *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->n = (env->nworkers ? env->nworkers : 1) * nspecs;
    p->opened = base_now_ns();
    p->env = *env;
    p->cancel.also = env->cancel;
    p->env.cancel = &p->cancel;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->change, NULL);
    p->members = base_alloc((p->n + 1) * sizeof *p->members);
    for (size_t i = 0; p->members && i < p->n; i++)
        p->members[i] = (struct member){ .pool = p,
                                         .spec = base_strdup(specs[i % nspecs]),
                                         .worker = env->nworkers ? env->workers[i / nspecs] : NULL };
    if (!p->members) {
        dev_pool_close(p);
        return NULL;
    }
    return p;
}

/* Starts all; back when the first by number that opens at all is up, or when none is left to wait for.
 */
static bool start_members(struct dev_pool *p)
{
    size_t i;
    for (i = 0; i < p->n; i++)
        start_member(&p->members[i]);
    pthread_mutex_lock(&p->lock);
    for (i = 0; i < p->n && p->members[i].state != MEMBER_UP; i += p->members[i].state == MEMBER_GONE)
        if (p->members[i].state == MEMBER_OPENING)
            wait_some(p);
    pthread_mutex_unlock(&p->lock);
    return i < p->n;
}

enum status dev_pool_open(const char *const *specs, size_t nspecs, const struct dev_env *env,
                          struct dev_pool **out, struct diags *ds)
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
/* May this member take the job now? One that it lost before is left to the others as long as there are
 * any; one that repeats another waits for that. */
static bool free_for(const struct pool_run *r, const struct member *m, size_t i)
{
    const struct job_slot *s = &r->slots[i];
    size_t after = r->jobs[i].after;
    return s->state == JOB_WAITING && (s->lost_by != m || r->alive == 1) &&
           (!after || r->slots[after - 1].state == JOB_FINISHED);
}

/* How long the job took when it ran before; 0: not known. */
static int64_t took(const struct pool_run *r, size_t i)
{
    return r->jobs[i].after ? r->slots[r->jobs[i].after - 1].took : 0;
}

/* The first job for this member; near the end, when each has but one or two to go, the longest: a long
 * one that is begun last keeps all waiting. SIZE_MAX: none, *later says whether something may still
 * come, so that waiting makes sense. */
static size_t find_job(const struct pool_run *r, const struct member *m, bool *later)
{
    size_t best = SIZE_MAX;
    bool end = r->nwaiting <= 2 * r->alive;
    *later = false;
    for (size_t i = 0; i < r->njobs; i++) {
        *later |= r->slots[i].state != JOB_FINISHED;
        if (!free_for(r, m, i) || (best != SIZE_MAX && took(r, i) <= took(r, best)))
            continue;
        best = i;
        if (!end)
            break;
    }
    return best;
}

/* Next job for a member, or SIZE_MAX when there is nothing left to do. */
static size_t take_job(struct pool_run *r, struct member *m)
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
    if (got != SIZE_MAX) {
        r->slots[got].state = JOB_RUNNING;
        r->nwaiting--;
        if (!m->seen.first)
            m->seen.first = base_now_ns();
    }
    pthread_mutex_unlock(&r->pool->lock);
    return got;
}

/* Under the lock. */
static void put_result(struct pool_run *r, size_t job, const struct result *res)
{
    r->nwaiting -= r->slots[job].state == JOB_WAITING;
    r->out[job] = *res;
    r->slots[job].state = JOB_FINISHED;
    r->order[r->nfinished++] = job;
}

/* What would repeat a job that failed is not run. m: who did it; NULL: it is given up. */
static void finish_job(struct pool_run *r, struct member *m, size_t job, const struct result *res)
{
    pthread_mutex_lock(&r->pool->lock);
    put_result(r, job, res);
    if (m)
        m->seen.jobs++;
    for (size_t i = 0; res->status != ST_OK && i < r->njobs; i++) {
        if (r->jobs[i].after != job + 1)
            continue;
        struct result none = r->out[i];
        dev_result_begin(&none);
        dev_result_fail(&none, ST_REFUSED, "not launched again, because it failed the first time");
        put_result(r, i, &none);
    }
    pthread_cond_broadcast(&r->pool->change);
    pthread_mutex_unlock(&r->pool->lock);
}

/* Under the lock. */
static void put_back(struct pool_run *r, size_t job)
{
    r->slots[job].state = JOB_WAITING;
    r->nwaiting++;
    pthread_cond_broadcast(&r->pool->change);
}

static void unfinish_job(struct pool_run *r, size_t job)
{
    pthread_mutex_lock(&r->pool->lock);
    put_back(r, job);
    pthread_mutex_unlock(&r->pool->lock);
}

/* The worker was lost with the job: back to the list, or given up. Where the way to the worker failed,
 * the job had no part in it. */
static void return_job(struct pool_run *r, struct member *m, size_t job, bool astray,
                       const struct result *res)
{
    pthread_mutex_lock(&r->pool->lock);
    m->seen.lost++;
    r->slots[job].lost_by = m;
    snprintf(r->slots[job].why, sizeof r->slots[job].why, "%s", res->message);
    r->slots[job].deaths += !astray;
    bool again = r->slots[job].deaths < DEV_POOL_TRIES;
    if (again)
        put_back(r, job);
    pthread_mutex_unlock(&r->pool->lock);
    if (!again)
        finish_job(r, NULL, job, res);
}

/* The run's data on this member: what an earlier run bound, or bound now. Only the member's own thread
 * changes it. */
static enum status bind_data(struct member *m, const struct launch_data *data, struct diags *ds)
{
    if (m->data && m->data->data == data)
        return ST_OK;
    member_unbind(m);
    struct dev_data *bound = NULL;
    enum status st = dev_bind(m->dev, data, &bound, ds);
    m->data = st == ST_OK ? bound : NULL;
    return st;
}

/* Adds the time since *from to *sum, and goes on from now. Under the lock, since others may be reading.
 */
static void clock_up(struct member *m, int64_t *sum, int64_t *from)
{
    int64_t now = base_now_ns();
    pthread_mutex_lock(&m->pool->lock);
    *sum += now - *from;
    m->seen.last = now;
    pthread_mutex_unlock(&m->pool->lock);
    *from = now;
}

static enum status run_job(struct hand *h, size_t job, struct result *res, struct diags *ds)
{
    struct pool_run *r = h->run;
    const struct dev_pool_job *j = &r->jobs[job];
    const struct dev_pool_code *c = &r->codes[j->code];
    struct member *m = h->m;
    struct dev *d = m->dev;
    enum status st = ST_OK;
    int64_t begin = base_now_ns(), at = begin;
    d->died = d->astray = false;
    if (!h->codes[j->code])
        st = dev_load_marked(d, c->path, c->text, c->marks, c->kernel, 0, &h->codes[j->code], ds);
    clock_up(m, &m->seen.load, &at);
    if (st == ST_OK)
        st = bind_data(m, r->data, ds);
    clock_up(m, &m->seen.bind, &at);
    struct dev_run run = j->run;
    run.cancel = r->watch->cancel;
    run.progress = NULL;
    if (st == ST_OK)
        st = dev_launch(d, h->codes[j->code], m->data, &run, res, ds);
    clock_up(m, &m->seen.launch, &at);
    pthread_mutex_lock(&m->pool->lock);
    m->seen.dropped = d->dropped;
    pthread_mutex_unlock(&m->pool->lock);
    r->slots[job].took = at - begin;
    if (st != ST_OK)
        dev_result_from_diags(res, st, ds);
    return st;
}

/* A result carries its own reason; what else was said is kept for the end. */
static void keep_diags(struct hand *h, enum status st, struct diags *ds)
{
    for (size_t i = 0; i < ds->n; i++)
        if (st == ST_DEVICE || ds->v[i].level == DIAG_WARNING)
            diag_add(&h->m->ds, DIAG_WARNING, ds->v[i].code, NULL, NO_SPAN, "%s",
                     ds->v[i].msg ? ds->v[i].msg : "");
    diags_free(ds);
}

static bool is_unfit(const struct hand *h)
{
    return h->strikes >= MEMBER_STRIKES || h->astray >= MEMBER_ASTRAY;
}

/* False: the member is of no more use. */
static bool work_one(struct hand *h, size_t job)
{
    struct result res = h->run->out[job];
    struct diags ds = { 0 };
    dev_result_begin(&res);
    enum status st = run_job(h, job, &res, &ds);
    bool lost = st == ST_DEVICE || (st == ST_OK && h->m->dev->died);
    bool astray = lost && h->m->dev->astray;
    h->strikes = lost ? h->strikes + 1 : 0;
    h->astray += astray;
    keep_diags(h, st, &ds);
    if (st == ST_CANCELLED)
        unfinish_job(h->run, job);
    else if (lost)
        return_job(h->run, h->m, job, astray, &res);
    else
        finish_job(h->run, h->m, job, &res);
    return st != ST_CANCELLED && !is_unfit(h);
}

/* Waits for a member that is being opened; false: it does not open, or there is nothing left for it to
 * do. */
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
    pthread_mutex_lock(&r->pool->lock);
    if (is_unfit(h))
        h->m->state = MEMBER_GONE;
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

/* Hands out results until every member is done; one that is still being opened is then no longer waited
 * for. */
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

/* Why a job that was not finished was not. */
static void give_reason(struct pool_run *r, size_t i, enum status st)
{
    const char *seen = r->slots[i].why;
    if (st == ST_CANCELLED)
        dev_result_fail(&r->out[i], st, "interrupted");
    else
        dev_result_fail(&r->out[i], st, "no device is left to run this on%s%s", *seen ? "; " : "", seen);
}

static enum status settle(struct pool_run *r, struct diags *ds)
{
    if (r->nfinished == r->njobs)
        return ST_OK;
    enum status st = cancel_asked(r->watch->cancel) ? ST_CANCELLED : ST_DEVICE;
    for (size_t i = 0; i < r->njobs; i++)
        if (r->slots[i].state != JOB_FINISHED)
            give_reason(r, i, st);
    if (st == ST_DEVICE)
        diag_error(ds, "pool", "all devices have failed: %zu of %zu launches were not run",
                   r->njobs - r->nfinished, r->njobs);
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

static void start_all(struct pool_run *r, struct dev_pool *p, struct hand *hands, pthread_t *threads,
                      bool *started)
{
    pthread_mutex_lock(&p->lock);
    for (size_t i = 0; i < p->n; i++) {
        if (p->members[i].state == MEMBER_GONE)
            continue;
        hands[i] = (struct hand){ .run = r,
                                  .m = &p->members[i],
                                  .codes = base_alloc((r->ncodes + 1) * sizeof(struct dev_code *)) };
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
    BASE_FREE(started, threads, hands);
    return st;
}

enum status dev_pool_run(struct dev_pool *p, const struct launch_data *data,
                         const struct dev_pool_code *codes, size_t ncodes,
                         const struct dev_pool_job *jobs, size_t njobs, const struct dev_pool_watch *w,
                         struct result *out, struct diags *ds)
{
    static const struct dev_pool_watch NOBODY = { 0 };
    struct pool_run r = { .pool = p,
                          .data = data,
                          .codes = codes,
                          .ncodes = ncodes,
                          .jobs = jobs,
                          .njobs = njobs,
                          .watch = w ? w : &NOBODY,
                          .out = out,
                          .nwaiting = njobs };
    r.slots = base_alloc((njobs + 1) * sizeof *r.slots);
    r.order = base_alloc((njobs + 1) * sizeof *r.order);
    enum status st = r.slots && r.order ? run_pool(&r, p, ds) : ST_NOMEM;
    BASE_FREE(r.slots, r.order);
    return st;
}
