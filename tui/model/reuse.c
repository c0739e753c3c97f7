/* reuse: see reuse.h. The thread holds a snapshot of its own, so everything it
 * reads stays valid; whoever of thread and app lets go last frees the record. */
#include "tui/model/reuse.h"

#include <pthread.h>
#include <string.h>

#define LINE_BYTES 128
#define MAX_REQUESTS 1500000u      /* a second of work at most; `cut` says that it ended there */

struct reuse_worker {
    struct app_engine own;
    const struct job_snapshot *snap;
    struct cancel cancel;
    atomic_int done;               /* 0 works, 1 ready, 2 nothing to show */
    atomic_int owners;
    struct reuse_result result;
    struct model_reuse *stack;
};

static void let_go(struct reuse_worker *w)
{
    if (atomic_fetch_sub(&w->owners, 1) == 1)
        base_free(w);
}

static bool touch(void *ctx, const struct ana_request *r)
{
    struct reuse_worker *w = ctx;
    if (r->store)
        return !cancel_asked(&w->cancel);
    model_hist_add(&w->result.hist, model_reuse_touch(w->stack, r->line));
    w->result.cut = ++w->result.requests >= MAX_REQUESTS;
    return !w->result.cut && !cancel_asked(&w->cancel);
}

static unsigned resident(const struct job_snapshot *s)
{
    uint64_t warps = (dim3u_count(s->spec->block) + 31) / 32;
    uint64_t n = warps && s->has_dev ? s->dev.max_warps_per_sm / warps : 1;
    if (s->has_dev && n > s->dev.max_ctas_per_sm)
        n = s->dev.max_ctas_per_sm;
    return n ? (unsigned)n : 1;
}

static bool trace(struct reuse_worker *w)
{
    const struct job_snapshot *s = w->snap;
    struct launch_data data;
    struct diags ds = { 0 };
    bool ok = false;
    if (s->module && s->spec && s->kernel && launch_data_make(s->spec, 1ull << 31, &data, &ds) == ST_OK) {
        struct ana_opts o = { .data = &data, .dev = s->has_dev ? &s->dev : NULL, .cancel = &w->cancel };
        w->stack = model_reuse_new(1 << 16);
        ok = w->stack && ana_trace(s->module, str_of(s->kernel), &o, LINE_BYTES, resident(s), 0, s->has_dev && s->dev.sms ? s->dev.sms : 1,
                                   touch, w, &ds) == ST_OK && w->result.requests > 0;
        model_reuse_free(w->stack);
        launch_data_free(&data);
    }
    diags_free(&ds);
    return ok;
}

static void *work(void *arg)
{
    struct reuse_worker *w = arg;
    w->result.line_bytes = LINE_BYTES;
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

enum reuse_state reuse_get(struct app *a, struct reuse_result *out)
{
    if (!a->engine.hold || !a->snap->spec || !a->snap->facts)
        return REUSE_NONE;
    if (!a->reuse && !start(a))
        return REUSE_NONE;
    switch (atomic_load(&a->reuse->done)) {
    case 0: return REUSE_WORKING;
    case 1: *out = a->reuse->result; return REUSE_READY;
    default: return REUSE_NONE;
    }
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
