/* Threads that run the same short job over and over: an epoch of the SMs lasts
 * some hundred microseconds, too short to start threads for. A worker spins a
 * moment for the next round, then sleeps. */
#include "engine/sim/timing/group.h"

#include <pthread.h>

#define SPINS 4000

struct timing_pool {
    void (*fn)(void *ctx, size_t i);
    void *ctx;
    unsigned n, started; /* workers besides the caller: n - 1 at most */
    pthread_t thread[64];
    pthread_mutex_t lock;
    pthread_cond_t round_begins, round_ends;
    atomic_uint round, done;
    bool quit;
};
struct pool_start {
    struct timing_pool *p;
    unsigned i;
};

static void wait_round(struct timing_pool *p, unsigned seen)
{
    for (int i = 0; i < SPINS; i++)
        if (atomic_load(&p->round) != seen)
            return;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->round) == seen)
        pthread_cond_wait(&p->round_begins, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void *pool_worker(void *arg)
{
    struct pool_start s = *(struct pool_start *)arg;
    base_free(arg);
    struct timing_pool *p = s.p;
    for (unsigned seen = 0;; seen++) {
        wait_round(p, seen);
        if (p->quit)
            return NULL;
        p->fn(p->ctx, s.i);
        if (atomic_fetch_add(&p->done, 1) + 1 != p->started)
            continue;
        pthread_mutex_lock(&p->lock);
        pthread_cond_signal(&p->round_ends);
        pthread_mutex_unlock(&p->lock);
    }
}

struct timing_pool *timing_pool_new(unsigned n, unsigned threads, void (*fn)(void *ctx, size_t i),
                                    void *ctx)
{
    struct timing_pool *p = base_alloc(sizeof *p);
    if (!p)
        return NULL;
    p->fn = fn;
    p->ctx = ctx;
    p->n = n;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->round_begins, NULL);
    pthread_cond_init(&p->round_ends, NULL);
    while (p->started + 1 < n && p->started + 1 < threads && p->started < ARRAY_LEN(p->thread)) {
        struct pool_start *s = base_alloc(sizeof *s);
        if (!s)
            break;
        *s = (struct pool_start){ p, p->started + 1 };
        if (pthread_create(&p->thread[p->started], NULL, pool_worker, s) != 0) {
            base_free(s);
            break;
        }
        p->started++;
    }
    return p;
}

static void begin_round(struct timing_pool *p, bool quit)
{
    pthread_mutex_lock(&p->lock);
    p->quit = quit;
    atomic_store(&p->done, 0);
    atomic_fetch_add(&p->round, 1);
    pthread_cond_broadcast(&p->round_begins);
    pthread_mutex_unlock(&p->lock);
}

void timing_pool_round(struct timing_pool *p)
{
    if (p->started)
        begin_round(p, false);
    p->fn(p->ctx, 0);
    /* shares of threads that could not start */
    for (unsigned i = p->started + 1; i < p->n; i++)
        p->fn(p->ctx, i);
    if (!p->started)
        return;
    for (int i = 0; i < SPINS; i++)
        if (atomic_load(&p->done) == p->started)
            return;
    pthread_mutex_lock(&p->lock);
    while (atomic_load(&p->done) != p->started)
        pthread_cond_wait(&p->round_ends, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void timing_pool_free(struct timing_pool *p)
{
    if (!p)
        return;
    if (p->started)
        begin_round(p, true);
    for (unsigned i = 0; i < p->started; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->round_begins);
    pthread_cond_destroy(&p->round_ends);
    pthread_mutex_destroy(&p->lock);
    base_free(p);
}
