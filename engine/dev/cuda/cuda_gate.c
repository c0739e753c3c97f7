/* The gate: a word of host memory that the stream waits on. What is queued behind a shut gate starts
 * when all of it is there.
 *
 *   without a gate
 *     host  copy  copy  event  ....  launch  event
 *     GPU   copy  copy  event        launch  event          the wait lies between the events
 *   with one
 *     host  shut  copy  copy  event  launch  event  open
 *     GPU                                           copy  copy  event  launch  event
 *
 * The GPU passes the event in front of a launch as soon as it is queued, and then waits for the host to
 * queue the launch. Where many small copies go before, as those of a rewrite's counters, that wait is 1
 * to 3 us of the time (docs/lab/rewrites-h200.md).
 *
 * Whoever makes each launch wait for its end (CUDA_LAUNCH_BLOCKING, debuggers, profilers) would wait for
 * ever behind a shut gate. So a guard, a thread, opens one that is shut for too long; after a few of
 * those there are no more gates. */
#include "engine/dev/cuda/cuda_int.h"

#include <pthread.h>
#include <string.h>

/* The page: the word, then copies of what is written before a launch. A copy from memory that is not
 * pinned may wait for the stream, and so for ever behind a shut gate. */
enum { PAGE_BYTES = 4096, WORD_BYTES = 64 };
/* commands behind a gate: a queue that is full makes the host wait */
enum { GATE_COMMANDS = 256 };
/* queueing them takes a millisecond */
#define GUARD_NS 500000000
enum { GUARD_OPENED_MOST = 3 };

struct cuda_gate_guard {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    uint32_t *word;
    uint32_t turn;    /* that opens the gate */
    uint32_t opened;  /* gates, by the guard */
    int64_t until_ns; /* when the guard opens it; 0: it is open */
    bool stop;
};

static void word_set(uint32_t *word, uint32_t turn)
{
    __atomic_store_n(word, turn, __ATOMIC_RELEASE);
}

/* ---- the guard ---- */
static void guard_sleep(struct cuda_gate_guard *g)
{
    struct timespec t = { g->until_ns / 1000000000, g->until_ns % 1000000000 };
    if (g->until_ns)
        pthread_cond_timedwait(&g->wake, &g->lock, &t);
    else
        pthread_cond_wait(&g->wake, &g->lock);
}

static void *guard_thread(void *arg)
{
    struct cuda_gate_guard *g = arg;
    pthread_mutex_lock(&g->lock);
    while (!g->stop) {
        if (g->until_ns && base_now_ns() >= g->until_ns) {
            word_set(g->word, g->turn);
            g->until_ns = 0;
            g->opened++;
        } else {
            guard_sleep(g);
        }
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

static void guard_set(struct cuda_gate_guard *g, uint32_t turn, int64_t until_ns)
{
    pthread_mutex_lock(&g->lock);
    g->turn = turn;
    g->until_ns = until_ns;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
}

static struct cuda_gate_guard *guard_start(uint32_t *word)
{
    struct cuda_gate_guard *g = base_alloc(sizeof *g);
    pthread_condattr_t monotonic;
    if (!g)
        return NULL;
    g->word = word;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&g->thread, NULL, guard_thread, g) == 0)
        return g;
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->lock);
    base_free(g);
    return NULL;
}

static void guard_end(struct cuda_gate_guard *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->stop = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->thread, NULL);
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->lock);
    base_free(g);
}

/* ---- the page ---- */
static uint64_t set_bytes(const struct dev_run *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->nset; i++)
        n += r->set[i].n;
    return n;
}

static bool page_ready(struct cuda_dev *d)
{
    void *p = NULL;
    if (d->gate.page || d->gate.useless)
        return !d->gate.useless;
    if (d->drv.stream_wait && d->drv.host_alloc(&p, PAGE_BYTES) == DRV_SUCCESS) {
        d->gate.page = memset(p, 0, PAGE_BYTES);
        d->gate.guard = guard_start(p);
    }
    d->gate.useless = !d->gate.guard;
    return !d->gate.useless;
}

/* ---- the gate ---- */
/* Commands of one timed launch: what restores the baseline, a flush, two events and the launch. */
static size_t commands(const struct cuda_job *j)
{
    return j->b->bound.nbuffers + j->c->module->nvars + j->r->nzero + j->r->nset + 4;
}

size_t cuda_gate_room(struct cuda_job *j)
{
    if (set_bytes(j->r) > PAGE_BYTES - WORD_BYTES || !page_ready(j->d))
        return 0;
    return GATE_COMMANDS / commands(j);
}

void cuda_gate_shut(struct cuda_job *j)
{
    struct cuda_gate *g = &j->d->gate;
    if (!cuda_gate_room(j))
        return;
    drv_ptr word = (drv_ptr)(uintptr_t)g->page;
    g->useless = j->d->drv.stream_wait(j->d->stream, word, g->turn + 1, 0) != DRV_SUCCESS;
    if (!g->useless)
        guard_set(g->guard, ++g->turn, base_now_ns() + GUARD_NS);
}

void cuda_gate_open(struct cuda_job *j)
{
    struct cuda_gate *g = &j->d->gate;
    if (!g->guard)
        return;
    word_set((uint32_t *)(void *)g->page, g->turn);
    guard_set(g->guard, g->turn, 0);
    g->useless |= g->guard->opened >= GUARD_OPENED_MOST;
}

void cuda_gate_free(struct cuda_dev *d)
{
    guard_end(d->gate.guard);
    if (d->gate.page && !d->base.unusable)
        d->drv.host_free(d->gate.page);
    d->gate = (struct cuda_gate){ 0 };
}

const void *cuda_gate_bytes(struct cuda_job *j, size_t i)
{
    size_t at = WORD_BYTES;
    const struct dev_symbol_value *set = j->r->set;
    if (!j->d->gate.page || set_bytes(j->r) > PAGE_BYTES - WORD_BYTES)
        return set[i].bytes;
    for (size_t k = 0; k < i; k++)
        at += set[k].n;
    return memcpy(j->d->gate.page + at, set[i].bytes, set[i].n);
}
