/* Launches, workers, CTAs, and the functional driver.
 *
 * CTAs are handed out in order. When the outcome cannot depend on their order (p->ordered is
 * false: no atomic whose result is used, no float atomic, no volatile read of global memory),
 * host threads take them as they come and integer atomics are host atomics; otherwise one thread
 * runs all CTAs, turning to the next one when a CTA waits for another. Either way the result
 * is the same for any number of threads. */
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/mbar.h"
#include "engine/sim/exec/native/native.h"
#include "engine/sim/exec/runtime/builtin.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/sreg.h"
#include "engine/sim/mem.h"
#include "engine/sim/part.h"
#include "engine/sim/sides.h"
#include "engine/sim/sim.h"
#include "engine/sim/sim_int.h"
#include "engine/sim/step.h"
#include "engine/sim/sums.h"

#include <string.h>

#define CTA_BUDGET 200000u /* warp instructions between looks at cancel: a few milliseconds */
#define PARKED     4096u   /* CTAs that may wait for others at one time, where the device holds fewer */
/* turns in which CTAs do nothing but look before they are said to wait for ever: of all, of each */
#define LOOKS_ALL  (UINT64_C(1) << 19)
#define LOOKS_EACH (UINT64_C(1) << 14)

/* ---- launch ---- */
static enum status launch_fill(struct exec_launch *x, struct sim_program *p, const struct sim_launch *l)
{
    x->nctas = dim3u_count(l->grid) / x->cluster_ctas;
    x->warps_per_cta = (uint32_t)((dim3u_count(l->block) + WARP_LANES - 1) / WARP_LANES);
    x->shared_bytes = p->shared_static + l->shared;
    x->local_bytes = p->local_bytes;
    if (p->part && x->shared_bytes > p->part->most_shared)
        x->shared_bytes = p->part->most_shared;
    if (p->part && x->local_bytes > p->part->most_local)
        x->local_bytes = p->part->most_local;
    x->nparams = p->funcs[0].ptx->param_bytes;
    x->params = base_alloc(x->nparams + 64);
    x->loads = base_alloc((p->nloads + 1) * sizeof *x->loads);
    x->threads = l->threads ? l->threads : base_cpus();
    for (uint32_t i = 0; i < p->ncode; i++)
        x->reads_time |= p->code[i].reads_time;
    uint64_t held = p->part ? 1 : sim_resident(p, l).ctas / x->cluster_ctas;
    x->resident = (uint32_t)(held > PARKED ? held : PARKED);
    x->checks = l->check_uninit || l->check_races || (l->functional && l->touch.fn);
    x->sums = l->functional ? l->sums : NULL;
    sim_sums_begin(x->sums);
    x->sides = l->functional ? l->sides : NULL;
    if (x->sides && !sim_sides_begin(x->sides, p))
        return ST_NOMEM;
    x->serial = p->ordered || l->check_uninit || l->check_races || x->sums || x->sides;
    exec_hostile_begin(x);
    x->threads = x->serial ? 1 : x->threads;
    atomic_init(&x->faulted, false);
    atomic_init(&x->astray, false);
    atomic_init(&x->spent, 0);
    atomic_init(&x->fault_cta, UINT64_MAX);
    if (!x->params || !x->loads || !exec_check_launch(x))
        return ST_NOMEM;
    memcpy(x->params, l->params, l->nparams < x->nparams ? l->nparams : x->nparams);
    if (!exec_launch_sregs(x))
        return ST_NOMEM;
    for (uint32_t i = 0; i < p->nloads; i++) {
        const struct exec_inst *in = p->loads[i];
        x->loads[i].func = in->func->ptx->index;
        x->loads[i].inst = in->ptx->index;
        x->loads[i].line = in->ptx->at.line;
    }
    return ST_OK;
}

enum status exec_launch_new(struct sim_program *p, const struct sim_launch *l, struct exec_launch **out,
                            struct diags *ds)
{
    struct exec_launch *x = base_alloc(sizeof *x);
    *out = x;
    if (!x)
        return ST_NOMEM;
    pthread_mutex_init(&x->lock, NULL);
    x->p = p;
    x->l = l;
    enum status st = exec_cluster_sizes(x, ds) ? launch_fill(x, p, l) : ST_USAGE;
    if (st == ST_NOMEM)
        diag_error(ds, "memory", "out of memory for the launch");
    if (st != ST_OK) {
        exec_launch_free(x);
        *out = NULL;
    }
    return st;
}

void exec_launch_free(struct exec_launch *x)
{
    if (!x)
        return;
    for (size_t i = 0; i < x->nprints; i++)
        base_free(x->prints[i].text);
    exec_check_free(x);
    exec_heap_free(x);
    exec_hostile_end(x);
    base_free(x->prints);
    base_free(x->params);
    base_free(x->sregs);
    base_free(x->loads);
    pthread_mutex_destroy(&x->lock);
    base_free(x);
}

static void sort_prints(struct exec_launch *x)
{
    for (size_t i = 1; i < x->nprints; i++) {
        struct exec_print e = x->prints[i];
        size_t k = i;
        for (; k && x->prints[k - 1].cta > e.cta; k--)
            x->prints[k] = x->prints[k - 1];
        x->prints[k] = e;
    }
}

void exec_launch_stats(struct exec_launch *x, struct sim_stats *out)
{
    struct buf all = { 0 };
    sort_prints(x);
    for (size_t i = 0; i < x->nprints; i++)
        buf_put(&all, x->prints[i].text, x->prints[i].n);
    out->nprint = all.n;
    out->print = all.n ? buf_take(&all) : NULL;
    buf_free(&all);
    out->inst_warp = x->inst_warp;
    out->inst_thread = x->inst_thread;
    memcpy(out->inst_of_warp, x->inst_of_warp, sizeof out->inst_of_warp);
    out->loads = x->loads;
    out->nloads = x->p->nloads;
    x->loads = NULL;
}

/* ---- workers ---- */
struct exec_worker *exec_worker_new(struct exec_launch *x)
{
    struct exec_worker *k = base_alloc(sizeof *k);
    if (!k)
        return NULL;
    k->x = x;
    k->loads = base_alloc((x->p->nloads + 1) * sizeof *k->loads);
    k->cache = base_alloc((x->p->nmem + 1) * (sizeof *k->cache + sizeof(uint64_t)));
    if (!k->loads || !k->cache) {
        base_free(k->loads);
        base_free(k->cache);
        base_free(k);
        return NULL;
    }
    return k;
}

struct exec_worker *exec_worker_new_private(struct exec_launch *x)
{
    struct exec_worker *k = exec_worker_new(x);
    if (k)
        k->private_view = true;
    return k;
}

void exec_worker_lean(struct exec_worker *k)
{
    k->lean = true;
}
bool exec_launch_escaped_region(const struct exec_launch *x)
{
    return atomic_load(&x->astray);
}

void exec_worker_free(struct exec_worker *k)
{
    if (!k)
        return;
    struct exec_launch *x = k->x;
    pthread_mutex_lock(&x->lock);
    x->inst_warp += k->inst_warp;
    x->inst_thread += k->inst_thread;
    for (uint32_t i = 0; i < SIM_CTA_WARPS; i++)
        x->inst_of_warp[i] += k->inst_of_warp[i];
    for (uint32_t i = 0; x->loads && i < x->p->nloads; i++) {
        /* machine code counts loads by all lanes in one place: `requests` */
        const struct sim_load_stats *l = &k->loads[i];
        x->loads[i].executions += l->executions + l->requests;
        x->loads[i].threads += l->threads + WARP_LANES * l->requests;
    }
    pthread_mutex_unlock(&x->lock);
    frame_free_all(k);
    for (size_t i = 0; i < k->nviews; i++)
        sim_mem_view_free(k->views[i].host, k->views[i].mapped);
    base_free(k->tensor.late);
    base_free(k->tensor.box);
    base_free(k->tensor.factors);
    base_free(k->views);
    base_free(k->loads);
    base_free(k->cache);
    base_free(k);
}

/* ---- CTAs ---- */
static bool cta_memory(struct exec_cta *c)
{
    struct exec_launch *x = c->x;
    uint32_t n = c->nwarps;
    c->warps = base_alloc(n * sizeof *c->warps);
    c->bar_words = base_alloc(EXEC_MAX_BARRIERS * n * sizeof *c->bar_words);
    c->shared = base_alloc(x->shared_bytes + 64);
    c->locals = base_alloc((size_t)n * WARP_LANES * x->local_bytes + 64);
    if (!c->warps || !c->bar_words || !c->shared || !c->locals)
        return false;
    for (uint32_t i = 0; i < EXEC_MAX_BARRIERS; i++)
        c->bar[i].arrived = c->bar_words + i * n;
    for (uint32_t i = 0; i < n; i++) {
        struct exec_warp *w = &c->warps[i];
        uint64_t threads = dim3u_count(x->l->block) - (uint64_t)i * WARP_LANES;
        *w = (struct exec_warp){ .cta = c, .k = c->k, .x = x, .index = i, .lean = c->k->lean };
        w->frag = w->two;
        w->born = threads >= WARP_LANES ? EXEC_FULL : (1u << threads) - 1;
        bank_set(w, BANK_CONST, x->p->constants);
        w->local = c->locals + (size_t)i * WARP_LANES * x->local_bytes;
        w->root = frame_new(c->k, &x->p->funcs[0], NULL, w->born);
        if (!w->root)
            return false;
    }
    return exec_cta_sregs(c) && exec_check_cta(c);
}

static void cta_account(struct exec_cta *c)
{
    for (uint32_t i = 0; c->warps && i < c->nwarps; i++) {
        c->k->inst_warp += c->warps[i].ninst;
        if (i < SIM_CTA_WARPS)
            c->k->inst_of_warp[i] += c->warps[i].ninst;
        c->k->inst_thread += c->warps[i].nthread;
        c->warps[i].ninst = c->warps[i].nthread = 0;
    }
    if (!c->print.n)
        return;
    struct exec_launch *x = c->x;
    pthread_mutex_lock(&x->lock);
    if (base_grow((void **)&x->prints, x->nprints, &x->cap_prints, sizeof *x->prints)) {
        size_t n = c->print.n;
        char *text = buf_take(&c->print);
        if (text)
            x->prints[x->nprints++] = (struct exec_print){ c->index, text, n };
    }
    pthread_mutex_unlock(&x->lock);
}

/* Frames of calls that a fault cut short go back too. */
static void warp_frames_back(struct exec_warp *w)
{
    for (uint32_t i = 0; i < w->nfrag; i++) {
        struct exec_frame *f = i == w->cur && w->runnable ? w->frame : w->frag[i].frame;
        uint32_t mask = i == w->cur && w->runnable ? w->mask : w->frag[i].mask;
        while (f && f->parent) {
            struct exec_frame *parent = f->parent;
            bool was = f->live != 0;
            f->live &= ~mask;
            if (was && !f->live)
                frame_release(w->k, f);
            f = parent;
        }
    }
    w->nfrag = 0;
}

static void cta_free(struct exec_cta *c)
{
    cta_account(c);
    for (uint32_t i = 0; c->warps && i < c->nwarps; i++) {
        warp_frames_back(&c->warps[i]);
        if (c->warps[i].root)
            frame_release(c->k, c->warps[i].root);
        if (c->warps[i].frag != c->warps[i].two)
            base_free(c->warps[i].frag);
        base_free(c->warps[i].watch.write);
    }
    exec_check_cta_free(c);
    buf_free(&c->print);
    base_free(c->warps);
    base_free(c->bar_words);
    base_free(c->shared);
    base_free(c->tmem);
    base_free(c->locals);
    base_free(c->sregs);
    base_free(c->peer);
    base_free(c);
}

void exec_cta_free(struct exec_cta *lead)
{
    if (!lead)
        return;
    for (uint32_t r = 1; lead->peer && r < lead->x->cluster_ctas; r++)
        if (lead->peer[r])
            cta_free(lead->peer[r]);
    cta_free(lead);
}

static struct exec_cta *cta_new(struct exec_worker *k, uint32_t rank, struct exec_cta *lead)
{
    struct exec_cta *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->k = k;
    c->x = k->x;
    c->rank = rank;
    c->lead = lead ? lead : c;
    c->nwarps = k->x->warps_per_cta;
    if (cta_memory(c))
        return c;
    cta_free(c);
    return NULL;
}

struct exec_cta *exec_cta_new(struct exec_worker *k)
{
    struct exec_cta *lead = cta_new(k, 0, NULL);
    bool ok = lead && (lead->peer = base_alloc(k->x->cluster_ctas * sizeof(struct exec_cta *)));
    for (uint32_t r = 0; ok && r < k->x->cluster_ctas; r++)
        ok = (lead->peer[r] = r ? cta_new(k, r, lead) : lead) != NULL;
    if (ok)
        return lead;
    exec_cta_free(lead);
    return NULL;
}

static void warp_start(struct exec_warp *w)
{
    const struct exec_func *f = &w->x->p->funcs[0];
    struct exec_frame *g = w->root;
    warp_frames_back(w);
    for (uint32_t i = 0; i < f->nzero; i++)
        memset(g->regs + f->zero[i], exec_fresh(w->x, SIM_POISON_REGISTERS), 128);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        g->base[i] = 0;
        g->top[i] = f->local_bytes;
    }
    g->live = w->live = w->born;
    w->stop = w->settled = false;
    w->cluster_in = w->cluster_owed = 0;
    base_free(w->watch.write);
    w->watch.write = NULL;
    w->mbar.pc = EXEC_NO_ID;
    w->meet = (struct exec_meet){ 0 };
    w->memo.group = 0;
    w->memo.seq = EXEC_NO_ID;
    frame_load(w, g);
    frag_start(w, f->first, w->born);
}

static void cta_start(struct exec_cta *c, uint64_t cluster, uint32_t smid, uint32_t first_warpid)
{
    cta_account(c);
    exec_cluster_place(c, cluster);
    c->smid = smid;
    c->first_warpid = first_warpid;
    c->ended = 0;
    c->turn_warp = 0;
    c->spins = c->looks = c->passed = 0;
    c->parked = false;
    c->repeats = 0;
    c->fault = c->circles = false;
    c->look = 0;
    if (c->x->sums && c->x->cluster_ctas == 1)
        sim_sums_cta(c->x->sums);
    memset(c->shared, exec_fresh(c->x, SIM_POISON_MEMORY), c->x->shared_bytes);
    if (c->x->hostile.poison)
        memset(c->locals, exec_fresh(c->x, SIM_POISON_MEMORY),
               (size_t)c->nwarps * WARP_LANES * c->x->local_bytes);
    base_free(c->tmem);
    c->tmem = NULL;
    memset(c->bar_words, 0, EXEC_MAX_BARRIERS * c->nwarps * sizeof *c->bar_words);
    for (uint32_t i = 0; i < EXEC_MAX_BARRIERS; i++) {
        c->bar[i].used = false;
        c->bar[i].count_true = 0;
    }
    exec_fill_sregs(c);
    for (uint32_t i = 0; i < c->nwarps; i++)
        warp_start(&c->warps[i]);
    c->cluster_used = false;
    exec_check_cta_start(c);
}

void exec_cta_start(struct exec_cta *lead, uint64_t index, uint32_t smid, uint32_t first_warpid,
                    bool apart)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        cta_start(lead->peer[r], index, smid + (apart ? r : 0),
                  first_warpid + (apart ? 0 : r * lead->nwarps));
}

/* ---- the functional driver ---- */
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

static void place_cta(struct exec_cta *c, uint64_t index)
{
    uint32_t sms = c->x->p->preset.sms > 0 ? (uint32_t)c->x->p->preset.sms : 1;
    index = exec_hostile_cta(c->x, index);
    exec_cta_start(c, index, (uint32_t)(index % sms), 0, false);
}

/* A thread's CTAs that wait for others. */
struct queue {
    struct exec_cta *head, *tail, *spare;
    uint64_t n, started;
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

/* Any order will do: take the next CTA until there is none. One that only repeats itself could be
 * waiting for another: it has its turns when all have been started. */
static void drive_free(void *ctx, size_t i)
{
    struct exec_drive *d = ctx;
    (void)i;
    if (atomic_load(&d->next) >= d->x->nctas)
        return;
    struct exec_worker *k = exec_worker_new(d->x);
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
    bool fresh = q->started < d->x->nctas && q->n < d->x->resident && *fruitless >= q->n;
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
    place_cta(c, q->started++);
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
    if (!c->polls || d->x->reads_time || (q->started < d->x->nctas && q->n < d->x->resident)) {
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
            bool all = circles > 2 * q.n && (q.started >= d->x->nctas || q.n >= d->x->resident);
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

enum status exec_fault_report(const struct exec_launch *x, struct diags *ds)
{
    if (!x->fault.set)
        exec_check_tell(x, ds);
    if (!x->fault.set)
        return ST_OK;
    struct diag *d =
        diag_add(ds, DIAG_ERROR, x->fault.code, x->p->module->path, x->fault.at, "%s", x->fault.msg);
    if (d && x->fault.at.line)
        diag_source(d, x->p->module->text);
    if (d)
        d->other_line = x->fault.other_line;
    if (d && x->fault.hint[0])
        diag_hint(d, "%s", x->fault.hint);
    return x->fault.status;
}
