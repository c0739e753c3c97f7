/* The functional driver.
 *
 * CTAs are handed out in order. When the outcome cannot depend on their order (p->ordered is
 * false: no atomic whose result is used, no float atomic, no volatile read of global memory),
 * host threads take them as they come and integer atomics are host atomics; otherwise one thread
 * runs all CTAs, turning to the next one when a CTA waits for another. Either way the result
 * is the same for any number of threads. */
#include "engine/sim/exec/chosen.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/native/native.h"
#include "engine/sim/step.h"

#define CTA_BUDGET 200000u /* warp instructions between looks at cancel: a few milliseconds */
/* turns in which CTAs do nothing but look before they are said to wait for ever: of all, of each */
#define LOOKS_ALL  (UINT64_C(1) << 19)
#define LOOKS_EACH (UINT64_C(1) << 14)

struct exec_drive {
    struct exec_launch *x;
    atomic_uint_fast64_t next, done;
    /* drive_free: CTAs that were started and have not ended; of those, that only repeat themselves */
    atomic_uint running, circling;
    atomic_bool oom, telling;
    /* drive_free: shared by who starts a CTA or runs one that repeats itself, alone by who looks at
     * device memory */
    pthread_rwlock_t turns;
    struct exec_rest rest; /* what it saw; changed with the lock alone, as is */
    uint32_t look;         /* how often somebody looked, */
    /* and since then: CTAs that repeat themselves and have had a turn; */
    atomic_uint turned;
    /* one has ended, or goes on; a CTA is known to loop without progress */
    atomic_bool moved, circled;
};

/* cta: a place among all of them (exec_cta.order). */
static bool stop_asked(struct exec_drive *d, uint64_t cta)
{
    return cancel_asked(d->x->l->cancel) || cta > atomic_load(&d->x->fault_cta);
}

/* One thread at a time; who finds another one telling goes on, as what it has to say is old by then. */
static void report_progress(struct exec_drive *d)
{
    uint64_t n = atomic_fetch_add(&d->done, 1) + 1, every = d->x->nctas / 100 + 1;
    if (!d->x->l->progress || (n % every != 0 && n != d->x->nctas) || atomic_exchange(&d->telling, true))
        return;
    d->x->l->progress(d->x->l->ctx, (double)n / (double)d->x->nctas);
    atomic_store(&d->telling, false);
}

static uint64_t cta_at(const struct exec_launch *x, uint64_t i)
{
    return exec_chosen_at(x->chosen, dim3u_count(x->l->grid) / x->cluster_ctas, exec_hostile_cta(x, i));
}

static void place_cta(struct exec_cta *c, uint64_t i)
{
    uint32_t sms = c->x->p->preset.sms > 0 ? (uint32_t)c->x->p->preset.sms : 1;
    uint64_t index = cta_at(c->x, i);
    exec_cta_start(c, index, (uint32_t)(index % sms), 0, false);
}

/* drive_ordered: the running CTA takes the next one's work. */
static bool take_cta(void *ctx, uint64_t *index)
{
    struct exec_drive *d = ctx;
    uint64_t i = atomic_load(&d->next);
    if (i >= d->x->nctas || exec_hostile_keeps(d->x, i))
        return false;
    *index = cta_at(d->x, i);
    atomic_store(&d->next, i + 1);
    report_progress(d);
    return true;
}

/* A thread's CTAs that wait for others. */
struct queue {
    struct exec_cta *head, *tail, *spare;
    uint64_t n;
};

static void queue_put(struct queue *q, struct exec_cta *c)
{
    c->next = NULL;
    if (q->tail)
        q->tail->next = c;
    else
        q->head = c;
    q->tail = c;
    q->n++;
}
static struct exec_cta *queue_take(struct queue *q)
{
    struct exec_cta *c = q->head;
    q->head = c->next;
    if (!q->head)
        q->tail = NULL;
    q->n--;
    return c;
}

static struct exec_cta *first_of(const struct queue *q)
{
    struct exec_cta *first = q->head;
    for (struct exec_cta *c = q->head; c; c = c->next)
        if (c->order < first->order)
            first = c;
    return first;
}

/* A CTA's turn on its thread. That it goes on after all is told before it can store anything more. */
static enum exec_run_result run_turn(struct exec_drive *d, struct exec_cta *c)
{
    bool was = c->circles;
    if (was)
        pthread_rwlock_rdlock(&d->turns);
    enum exec_run_result r = exec_cta_run(c, CTA_BUDGET);
    c->circles = (r == RUN_BUDGET || r == RUN_SPIN) && exec_cta_repeats(c);
    if (was && !c->circles)
        atomic_store(&d->moved, true);
    if (c->circles != was)
        atomic_fetch_add(&d->circling, was ? -1u : 1u);
    if (was && c->circles && c->look != d->look) {
        c->look = d->look;
        atomic_fetch_add(&d->turned, 1);
    }
    if (was)
        pthread_rwlock_unlock(&d->turns);
    return r;
}

/* Until it ends, or only repeats itself: false, and it waits for others. */
static bool run_free(struct exec_drive *d, struct exec_cta *c)
{
    enum exec_run_result r = RUN_BUDGET;
    while ((r == RUN_BUDGET || r == RUN_SPIN) && !stop_asked(d, c->order)) {
        r = run_turn(d, c);
        if (c->circles)
            return false;
    }
    return true;
}

/* A new CTA, else one that waits. */
static struct exec_cta *free_cta(struct exec_drive *d, struct queue *q, struct exec_worker *k)
{
    struct exec_cta *c = NULL;
    uint64_t n = q->n < d->x->resident ? atomic_load(&d->next) : d->x->nctas;
    if (n < d->x->nctas && !(c = q->spare ? q->spare : exec_cta_new(k)) && !q->n)
        atomic_store(&d->oom, true);
    q->spare = c ? c : q->spare;
    if (!c || (n = atomic_fetch_add(&d->next, 1)) >= d->x->nctas ||
        stop_asked(d, n * d->x->cluster_ctas))
        return q->n ? queue_take(q) : NULL;
    q->spare = NULL;
    place_cta(c, n);
    pthread_rwlock_rdlock(&d->turns);
    atomic_fetch_add(&d->running, 1);
    pthread_rwlock_unlock(&d->turns);
    return c;
}

static bool none_goes_on(struct exec_drive *d, const struct queue *q)
{
    unsigned running = atomic_load(&d->running);
    return (atomic_load(&d->next) >= d->x->nctas || q->n >= d->x->resident) &&
           atomic_load(&d->circling) == running && atomic_load(&d->turned) >= running;
}

/* All have been started, those that run repeat themselves, and device memory is as it was before each
 * had a turn more. */
static bool all_circle(struct exec_drive *d, const struct queue *q)
{
    if (!none_goes_on(d, q))
        return false;
    pthread_rwlock_wrlock(&d->turns);
    bool all = none_goes_on(d, q);
    if (all) {
        all = exec_memory_rests(&d->rest, d->x->p->mem) && !atomic_load(&d->moved);
        atomic_store(&d->moved, false);
        atomic_store(&d->turned, 0);
        d->look++;
    }
    pthread_rwlock_unlock(&d->turns);
    return all;
}

static void leave(struct exec_drive *d, struct queue *q, struct exec_cta *c)
{
    atomic_store(&d->moved, true);
    if (c->circles)
        atomic_fetch_sub(&d->circling, 1);
    atomic_fetch_sub(&d->running, 1);
    exec_cta_free(q->spare);
    q->spare = c;
}

static struct exec_worker *worker_for(struct exec_launch *x)
{
    if (!x->chosen.dry)
        return exec_worker_new(x);
    struct exec_worker *k = exec_worker_new_private(x);
    if (k)
        exec_worker_lean(k);
    return k;
}

/* Any order will do: take the next CTA until there is none. One that only repeats itself could be
 * waiting for another: it has its turns when all have been started. */
static void drive_free(void *ctx, size_t i)
{
    struct exec_drive *d = ctx;
    (void)i;
    if (atomic_load(&d->next) >= d->x->nctas)
        return;
    struct exec_worker *k = worker_for(d->x);
    struct queue q = { 0 };
    struct exec_cta *c;
    if (!k)
        atomic_store(&d->oom, true);
    while (k && (c = free_cta(d, &q, k))) {
        if (run_free(d, c)) {
            leave(d, &q, c);
            report_progress(d);
            continue;
        }
        queue_put(&q, c);
        if (!all_circle(d, &q))
            continue;
        /* else they wait for one that has failed */
        if (atomic_load(&d->x->fault_cta) == UINT64_MAX || atomic_load(&d->circled)) {
            atomic_store(&d->circled, true);
            exec_fault_spins(first_of(&q));
        }
        break;
    }
    while (q.n)
        leave(d, &q, queue_take(&q));
    exec_cta_free(q.spare);
    exec_worker_free(k);
}

/* CTAs in order on one thread. One that spins is parked; a new one starts only when all that are
 * parked have had a turn since. */
static struct exec_cta *next_cta(struct exec_drive *d, struct queue *q, struct exec_worker *k,
                                 uint64_t *fruitless)
{
    bool fresh = atomic_load(&d->next) < d->x->nctas && q->n < d->x->resident && *fruitless >= q->n;
    if (!fresh)
        return q->n ? queue_take(q) : NULL;
    struct exec_cta *c = q->spare;
    *fruitless = 0;
    q->spare = NULL;
    if (!c && !(c = exec_cta_new(k))) {
        if (!q->n)
            d->oom = true;
        return q->n ? queue_take(q) : NULL;
    }
    place_cta(c, atomic_fetch_add(&d->next, 1));
    return c;
}

/* Runs a CTA until it ends, faults or spins; *repeats: it only repeats itself. */
static enum exec_run_result run_ordered(struct exec_drive *d, struct exec_cta *c, bool *repeats)
{
    enum exec_run_result r = RUN_BUDGET;
    *repeats = false;
    while (r == RUN_BUDGET && !*repeats && !stop_asked(d, c->order)) {
        r = exec_cta_run(c, CTA_BUDGET);
        *repeats = (r == RUN_BUDGET || r == RUN_SPIN) && exec_cta_repeats(c);
    }
    return r == RUN_BUDGET && *repeats ? RUN_SPIN : r;
}

/* Turns in a row in which CTAs did nothing but look, and what could be seen at some moment. */
struct looking {
    uint64_t turns;
    uint64_t seen;
};

/* After a turn of c, which waits in the queue again: does nobody change what any of them looks at? */
static bool nothing_changes(struct exec_drive *d, const struct queue *q, const struct exec_cta *c,
                            struct looking *l)
{
    uint64_t most = q->n * LOOKS_EACH > LOOKS_ALL ? q->n * LOOKS_EACH : LOOKS_ALL;
    if (!c->polls || d->x->reads_time ||
        (atomic_load(&d->next) < d->x->nctas && q->n < d->x->resident)) {
        *l = (struct looking){ 0 };
        return false;
    }
    if (++l->turns < most)
        return false;
    uint64_t h = exec_memory_visible(1, d->x->p->mem), was = l->seen;
    for (const struct exec_cta *k = q->head; k; k = k->next)
        h = exec_cta_visible(h, k);
    *l = (struct looking){ most / 2, h };
    return h == was;
}

static void drive_ordered(struct exec_drive *d, struct exec_worker *k)
{
    struct queue q = { 0 };
    struct exec_cta *c;
    uint64_t fruitless = 0, circles = 0; /* turns in a row that changed nothing */
    struct exec_rest rest = { 0 };
    struct looking looking = { 0 };
    while ((c = next_cta(d, &q, k, &fruitless))) {
        bool repeats;
        enum exec_run_result r = run_ordered(d, c, &repeats);
        if (r == RUN_SPIN && !stop_asked(d, c->order)) {
            fruitless++;
            circles = repeats ? circles + 1 : 0;
            queue_put(&q, c);
            bool all =
                circles > 2 * q.n && (atomic_load(&d->next) >= d->x->nctas || q.n >= d->x->resident);
            circles = all ? 0 : circles;
            if (!nothing_changes(d, &q, c, &looking) && !(all && exec_memory_rests(&rest, d->x->p->mem)))
                continue;
            exec_fault_spins(first_of(&q));
            break;
        }
        bool end = r != RUN_DONE;
        report_progress(d);
        if (q.spare)
            exec_cta_free(q.spare);
        q.spare = c;
        fruitless = circles = 0;
        looking = (struct looking){ 0 };
        if (end)
            break;
    }
    exec_cta_free(q.spare);
    while (q.n)
        exec_cta_free(queue_take(&q));
}

void exec_drive_share(struct exec_drive *d)
{
    if (!d->x->serial)
        drive_free(d, 0);
}

/* Who looks comes before who runs on: those that circle have the lock nearly always. */
static void turns_init(pthread_rwlock_t *turns)
{
    pthread_rwlockattr_t a;
    pthread_rwlockattr_init(&a);
    pthread_rwlockattr_setkind_np(&a, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(turns, &a);
    pthread_rwlockattr_destroy(&a);
}

enum status exec_drive_new(struct sim_program *p, const struct sim_launch *l, struct exec_drive **out,
                           struct diags *ds)
{
    struct exec_drive *d = *out = base_alloc(sizeof *d);
    if (!d)
        return ST_NOMEM;
    if (!p->no_native)
        p->native = native_make(p, p->lanes);
    p->no_native = true;
    enum status st = exec_launch_new(p, l, &d->x, ds);
    if (st != ST_OK) {
        base_free(d);
        *out = NULL;
        return st;
    }
    atomic_init(&d->next, 0);
    atomic_init(&d->done, 0);
    atomic_init(&d->running, 0);
    atomic_init(&d->circling, 0);
    atomic_init(&d->oom, false);
    atomic_init(&d->telling, false);
    atomic_init(&d->turned, 0);
    atomic_init(&d->moved, false);
    atomic_init(&d->circled, false);
    d->look = 1;
    turns_init(&d->turns);
    return ST_OK;
}

/* What nobody has run yet. */
static void drive_rest(struct exec_drive *d)
{
    uint64_t left =
        d->x->nctas - (atomic_load(&d->next) < d->x->nctas ? atomic_load(&d->next) : d->x->nctas);
    uint64_t threads = d->x->threads < left ? d->x->threads : left;
    if (!d->x->serial) {
        base_parallel((unsigned)threads, threads, drive_free, d);
        return;
    }
    struct exec_worker *k = exec_worker_new(d->x);
    d->x->take = d->x->p->part ? NULL : take_cta;
    d->x->take_ctx = d;
    d->oom = !k;
    if (k)
        drive_ordered(d, k);
    exec_worker_free(k);
}

enum status exec_drive_end(struct exec_drive *d, struct sim_stats *out, struct diags *ds)
{
    struct exec_launch *x = d->x;
    drive_rest(d);
    enum status st = exec_fault_report(x, ds);
    if (st == ST_OK && d->oom) {
        diag_error(ds, "memory", "out of memory while running the kernel");
        st = ST_NOMEM;
    }
    if (st == ST_OK && cancel_asked(x->l->cancel))
        st = ST_CANCELLED;
    exec_launch_stats(x, out);
    exec_launch_free(x);
    pthread_rwlock_destroy(&d->turns);
    base_free(d);
    return st;
}

enum status exec_run(struct sim_program *p, const struct sim_launch *l, struct sim_stats *out,
                     struct diags *ds)
{
    struct exec_drive *d;
    enum status st = exec_drive_new(p, l, &d, ds);
    return st == ST_OK ? exec_drive_end(d, out, ds) : st;
}
