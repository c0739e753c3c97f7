/* work: see work.h. */
#include "tui/app/work.h"

#include <pthread.h>

static void work_unref(struct work *w)
{
    if (atomic_fetch_sub(&w->owners, 1) == 1) {
        if (w->clear)
            w->clear(w);
        base_free(w);
    }
}

static void *thread(void *arg)
{
    struct work *w = arg;
    bool ok = w->run(w);
    w->own.release(w->own.ctx, w->snap);
    atomic_store(&w->state, ok ? WORK_READY : WORK_FAILED);
    work_unref(w);
    return NULL;
}

struct work *work_start(const struct app_engine *engine, struct work *w)
{
    pthread_t t;
    pthread_attr_t attr;
    w->own = *engine;
    w->snap = engine->hold(engine->ctx);
    atomic_store(&w->state, WORK_BUSY);
    atomic_store(&w->owners, 2);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&t, &attr, thread, w) == 0;
    pthread_attr_destroy(&attr);
    if (ok)
        return w;
    engine->release(engine->ctx, w->snap);
    if (w->clear)
        w->clear(w);
    base_free(w);
    return NULL;
}

enum work_state work_state(const struct work *w)
{
    return (enum work_state)atomic_load(&((struct work *)(uintptr_t)w)->state);
}

void work_drop(struct work **w)
{
    if (!*w)
        return;
    atomic_store(&(*w)->cancel.asked, true);
    work_unref(*w);
    *w = NULL;
}
