/* The program panel's O: the program made faster by `optimize`, which captures, tunes and puts in the kernels that take its
 * time, and times the whole. Without a GPU the gains are simulated. */
#include "engine/rec/gain.h"
#include "engine/service/optimized.h"
#include "engine/workspace/args.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/work.h"
#include "tui/base/text.h"
#include "tui/view/program.h"
#include "tui/view/view.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define FOLDER "optimized"

struct optimizing {
    struct work work;
    bool emulated;
    char command[1024], device[512], self[1024];
    pthread_mutex_t lock; /* of done and what */
    double done;
    char what[160];
    struct optimized found;
    char why[300]; /* empty: it has a result */
};

static void clear(struct work *w)
{
    struct optimizing *o = (struct optimizing *)w;
    optimized_free(&o->found);
    pthread_mutex_destroy(&o->lock);
}

static void moved(void *ctx, double done, const char *what)
{
    struct optimizing *o = ctx;
    pthread_mutex_lock(&o->lock);
    o->done = done;
    snprintf(o->what, sizeof o->what, "%s", what);
    pthread_mutex_unlock(&o->lock);
}

static bool act(struct work *w)
{
    struct optimizing *o = (struct optimizing *)w;
    struct diags ds = { 0 };
    const struct optimize_want want = { .self = o->self,
                                        .command = o->command,
                                        .device = o->emulated ? o->device : NULL,
                                        .folder = FOLDER,
                                        .cancel = &w->cancel,
                                        .progress = moved,
                                        .ctx = o };
    enum status st = service_optimize(&want, &o->found, &ds);
    if (st != ST_OK)
        snprintf(o->why, sizeof o->why, "%s",
                 st == ST_CANCELLED    ? "Stopped before anything was found."
                 : ds.n && ds.v[0].msg ? ds.v[0].msg
                                       : status_text(st));
    diags_free(&ds);
    return st == ST_OK;
}

bool program_optimize_start(struct app *a, const char *command, bool emulated)
{
    struct optimizing *o = a->snap->self ? base_alloc(sizeof *o) : NULL;
    bool simulated = a->snap->has_dev && a->snap->dev.kind == DEV_SIMULATED;
    if (!o)
        return false;
    o->emulated = emulated;
    o->work.run = act;
    o->work.clear = clear;
    pthread_mutex_init(&o->lock, NULL);
    snprintf(o->command, sizeof o->command, "%s", command);
    snprintf(o->self, sizeof o->self, "%s", a->snap->self);
    snprintf(o->device, sizeof o->device, "%s", simulated ? a->snap->dev.spec : DEFAULT_DEVICE);
    work_drop(&a->optimized);
    a->optimized = work_start(&a->engine, &o->work);
    return a->optimized != NULL;
}

bool program_optimize_busy(const struct app *a)
{
    return a->optimized && work_state(a->optimized) == WORK_BUSY;
}

bool program_optimize_stop(struct app *a)
{
    if (!program_optimize_busy(a))
        return false;
    atomic_store(&a->optimized->cancel.asked, true);
    return true;
}

/* ---- the page ---- */
static void put_kernel(struct app *a, const struct optimized_kernel *k, unsigned w)
{
    struct page *p = &a->chart[PANEL_PROGRAM];
    struct row r = { .arena = a->frame };
    if (isnan(k->share))
        row_right(&r, ROLE_NOTE, 9, "n/a");
    else
        row_right(&r, ROLE_VALUE, 9, "%.1f %%", 100 * k->share);
    bool found = k->options[0] && !isnan(k->gain);
    row_right(&r, found ? ROLE_GOOD : ROLE_DIM, 8, "%s", found ? gain_words(k->gain).s : "-");
    row_put(&r, ROLE_NOTE, "  %-9s", found ? k->evidence : "");
    row_put(&r, ROLE_TEXT, " %s  %s", k->name, k->options);
    page_flow(a, p, &r, 3, w, -1);
    if (k->why[0])
        page_wrap(a, p, ROLE_DIM, 20, w - 1, k->why, -1);
}

static void put_whole(struct app *a, const struct optimizing *o, unsigned w)
{
    struct page *p = &a->chart[PANEL_PROGRAM];
    const struct optimized *f = &o->found;
    if (!isnan(f->gpu_ns) && !isnan(f->gpu_tuned_ns))
        page_say(a, p, ROLE_TEXT, 2, w - 1, "kernels %s unchanged, %s tuned%s", time_words(f->gpu_ns).s,
                 time_words(f->gpu_tuned_ns).s, o->emulated ? ", expected of simulated times" : "");
    if (!isnan(f->wall_ns) && !isnan(f->wall_tuned_ns))
        page_say(a, p, ROLE_TEXT, 2, w - 1, "program %s unchanged, %s tuned", time_words(f->wall_ns).s,
                 time_words(f->wall_tuned_ns).s);
    page_wrap(a, p, ROLE_DIM, 2, w - 1,
              o->emulated ? "Launches and sessions are in " FOLDER "/."
                          : "Launches and sessions are in " FOLDER
                            "/: gpulocw apply puts them in again.",
              -1);
}

void program_optimize_put(struct app *a, unsigned w)
{
    struct optimizing *o = (struct optimizing *)a->optimized;
    struct page *p = &a->chart[PANEL_PROGRAM];
    if (!o)
        return;
    if (program_optimize_busy(a)) {
        pthread_mutex_lock(&o->lock);
        page_heading(a, p, "Optimizing: %s, %.0f %%", o->what[0] ? o->what : "the program unchanged",
                     100 * o->done);
        pthread_mutex_unlock(&o->lock);
        page_hint(a, p, w, "{cancel} stops it.");
    } else if (o->why[0]) {
        page_wrap(a, p, ROLE_WARN, 2, w - 1, o->why, -1);
    } else {
        page_heading(a, p, "%s%s", o->found.cancelled ? "Stopped; found until then" : "Optimized",
                     o->emulated ? ", simulated" : "");
        for (size_t i = 0; i < o->found.n; i++)
            put_kernel(a, &o->found.v[i], w);
        put_whole(a, o, w);
    }
}
