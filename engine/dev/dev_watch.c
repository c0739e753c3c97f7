/* A watch: a cancel request that fires after a time limit or as soon as an
 * outer request does. One thread sleeps on a condition, waking 50 times a
 * second only to look at the outer request (an atomic flag cannot be waited on). */
#include "engine/base/base.h"
#include "engine/dev/dev_int.h"

#include <pthread.h>
#include <time.h>

#define POLL_NS 20000000

struct dev_watch {
    struct cancel own;
    const struct cancel *outer;
    int64_t until;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, fired;
};

static void sleep_some(struct dev_watch *w)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += POLL_NS;
    if (t.tv_nsec >= 1000000000) {
        t.tv_nsec -= 1000000000;
        t.tv_sec++;
    }
    pthread_cond_timedwait(&w->wake, &w->lock, &t);
}

static void *watch_thread(void *arg)
{
    struct dev_watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop && !atomic_load(&w->own.asked)) {
        if (base_now_ns() >= w->until)
            w->fired = true;
        if (w->fired || cancel_asked(w->outer))
            atomic_store(&w->own.asked, true);
        else
            sleep_some(w);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct dev_watch *dev_watch_start(double limit_s, const struct cancel *outer)
{
    struct dev_watch *w = base_alloc(sizeof *w);
    if (!w)
        return NULL;
    w->outer = outer;
    w->until = base_now_ns() + (int64_t)(limit_s * 1e9);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pthread_create(&w->thread, NULL, watch_thread, w)) {
        base_free(w);
        return NULL;
    }
    return w;
}

const struct cancel *dev_watch_cancel(struct dev_watch *w)
{
    return &w->own;
}

bool dev_watch_stop(struct dev_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    bool fired = w->fired;
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    base_free(w);
    return fired;
}
