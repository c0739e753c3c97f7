/* reuse: see reuse.h. The thread holds a snapshot of its own, so everything it
 * reads stays valid; whoever of thread and app lets go last frees the record. */
#include "tui/model/reuse.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define DATA_MOST (1ull << 31)     /* bytes of initial data */

struct reuse_worker {
    struct app_engine own;
    const struct job_snapshot *snap;
    struct cancel cancel;
    atomic_int done;               /* 0 works, 1 ready, 2 nothing to show */
    atomic_int owners;
    struct ana_curve *curve;
    char why[200];
};

static void let_go(struct reuse_worker *w)
{
    if (atomic_fetch_sub(&w->owners, 1) == 1) {
        ana_curve_free(w->curve);
        base_free(w);
    }
}

static bool trace(struct reuse_worker *w)
{
    const struct job_snapshot *s = w->snap;
    struct launch_data data;
    struct diags ds = { 0 };
    enum status st = s->module && s->spec && s->kernel ? launch_data_make(s->spec, DATA_MOST, &data, &ds) : ST_REFUSED;
    if (st == ST_OK) {
        struct ana_opts o = { .data = &data, .dev = s->has_dev ? &s->dev : NULL, .cancel = &w->cancel };
        st = ana_curve_make(s->module, str_of(s->kernel), &o, &w->curve, &ds);
        launch_data_free(&data);
    }
    if (st != ST_OK)
        snprintf(w->why, sizeof w->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    diags_free(&ds);
    return st == ST_OK && w->curve;
}

static void *work(void *arg)
{
    struct reuse_worker *w = arg;
    bool ok = trace(w);
    w->own.release(w->own.ctx, w->snap);
    atomic_store(&w->done, ok ? 1 : 2);
    let_go(w);
    return NULL;
}

static bool start(struct app *a)
{
    pthread_t thread;
    pthread_attr_t attr;
    struct reuse_worker *w = base_alloc(sizeof *w);
    if (!w)
        return false;
    w->own = a->engine;
    w->snap = a->engine.hold(a->engine.ctx);
    atomic_store(&w->owners, 2);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &attr, work, w) == 0;
    pthread_attr_destroy(&attr);
    if (!ok) {
        a->engine.release(a->engine.ctx, w->snap);
        base_free(w);
        return false;
    }
    a->reuse = w;
    return true;
}

enum reuse_state reuse_get(struct app *a, const struct ana_curve **out)
{
    if (a->snap->facts && a->snap->facts->curve) {
        *out = a->snap->facts->curve;
        return REUSE_READY;
    }
    if (!a->engine.hold || !a->snap->spec || !a->snap->facts)
        return REUSE_NONE;
    if (!a->reuse && !start(a))
        return REUSE_NONE;
    switch (atomic_load(&a->reuse->done)) {
    case 0: return REUSE_WORKING;
    case 1: *out = a->reuse->curve; return REUSE_READY;
    default: return REUSE_NONE;
    }
}

const char *reuse_why(const struct app *a)
{
    return a->reuse && atomic_load(&a->reuse->done) == 2 ? a->reuse->why : "";
}

bool reuse_working(const struct app *a)
{
    return a->reuse && atomic_load(&a->reuse->done) == 0;
}

void reuse_drop(struct app *a)
{
    if (!a->reuse)
        return;
    atomic_store(&a->reuse->cancel.asked, true);
    let_go(a->reuse);
    a->reuse = NULL;
}
