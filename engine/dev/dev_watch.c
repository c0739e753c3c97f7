/* A watch: a cancel request that fires after a time limit, and stands as soon as an outer request does.
 * One thread sleeps until the limit or the end of the watch. */
#include "engine/dev/dev_int.h"

#include <pthread.h>

#define LONGEST_S 1e9 /* 30 years */

struct dev_watch {
    struct cancel own;
    struct timespec until; /* by CLOCK_MONOTONIC */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop, fired;
};

static bool is_over(const struct dev_watch *w)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec != w->until.tv_sec ? now.tv_sec > w->until.tv_sec
                                         : now.tv_nsec >= w->until.tv_nsec;
}

static void *watch_thread(void *arg)
{
    struct dev_watch *w = arg;
    pthread_mutex_lock(&w->lock);
    while (!w->stop && !w->fired) {
        pthread_cond_timedwait(&w->wake, &w->lock, &w->until);
        w->fired = !w->stop && is_over(w);
    }
    if (w->fired)
        atomic_store(&w->own.asked, true);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

struct dev_watch *dev_watch_start(double limit_s, const struct cancel *outer)
{
    struct dev_watch *w = base_alloc(sizeof *w);
    pthread_condattr_t monotonic;
    if (!w)
        return NULL;
    w->own.also = outer;
    clock_gettime(CLOCK_MONOTONIC, &w->until);
    int64_t ns = w->until.tv_nsec + (int64_t)((limit_s < LONGEST_S ? limit_s : LONGEST_S) * 1e9);
    w->until.tv_sec += (time_t)(ns / 1000000000);
    w->until.tv_nsec = (long)(ns % 1000000000);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
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
