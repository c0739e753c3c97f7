/* live: an app with a real engine thread on the simulated device, driven without a
 * terminal: what the lessons' test and the pictures are made with. One at a time. */
#ifndef GPULOCW_TESTS_LIVE_H
#define GPULOCW_TESTS_LIVE_H

#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/session/preset.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/control.h"
#include "tui/view/view.h"

#include <poll.h>

struct job_engine;

static struct job_engine *live_engine;
static uint64_t live_posted;

static void live_post(void *ctx, const struct job *j)
{
    (void)ctx;
    live_posted++;
    job_post(live_engine, j);
}

static void live_cancel(void *ctx)
{
    (void)ctx, job_cancel(live_engine);
}
static const struct job_snapshot *live_hold(void *ctx)
{
    return (void)ctx, job_snapshot_get(live_engine);
}
static void live_release(void *ctx, const struct job_snapshot *s)
{
    (void)ctx, job_snapshot_release(s);
}
static const struct app_engine live_way = { NULL, live_post, live_cancel, live_hold, live_release };

static inline enum status live_open(struct app *a, const char *session, struct diags *ds)
{
    static const struct dev_env env = { .preset = preset_read };
    live_posted = 0;
    enum status st = job_engine_new(&env, session, &live_engine, ds);
    if (st == ST_OK)
        app_init(a, &live_way, job_snapshot_get(live_engine), ".");
    return st;
}

static inline void live_close(struct app *a)
{
    const struct job_snapshot *last = a->snap;
    app_free(a);
    job_snapshot_release(last);
    job_engine_free(live_engine);
}

/* Until all that was asked for is done; quiet: what the model and the whole analysis say, too, and nothing
 * came in the background for so many fifths of a second. */
static inline void live_settle(struct app *a, int quiet)
{
    for (int still = 0;;) {
        const struct job_snapshot *s = job_snapshot_get(live_engine), *old = a->snap;
        app_snapshot(a, s);
        job_snapshot_release(old);
        bool idle = !s->busy && s->worked >= live_posted && !(quiet && s->unsettled);
        if (idle && still >= quiet)
            return;
        struct pollfd p = { job_wake_fd(live_engine), POLLIN, 0 };
        still = poll(&p, 1, idle ? 200 : 100) == 0 && idle ? still + 1 : 0;
    }
}

#endif
