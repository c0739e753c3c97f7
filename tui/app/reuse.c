/* reuse: see reuse.h. */
#include "tui/app/reuse.h"

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/rec/data.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/work.h"

#include <stdio.h>

#define DATA_MOST (1ull << 31) /* bytes of initial data */

struct reuse_worker {
    struct work work;
    struct ana_curve *curve;
    char why[200];
};

static void clear(struct work *w)
{
    ana_curve_free(((struct reuse_worker *)w)->curve);
}

static bool trace(struct work *w)
{
    struct reuse_worker *r = (struct reuse_worker *)w;
    const struct job_snapshot *s = w->snap;
    struct launch_data data;
    struct diags ds = { 0 };
    enum status st = s->module && s->spec && s->kernel ? launch_data_make(s->spec, DATA_MOST, &data, &ds)
                                                       : ST_REFUSED;
    if (st == ST_OK) {
        struct ana_opts o = { .data = &data,
                              .dev = s->has_dev ? &s->dev : NULL,
                              .cancel = &w->cancel,
                              .regs = s->facts ? s->facts->regs : 0 };
        st = ana_curve_make(s->module, str_of(s->kernel), &o, &r->curve, &ds);
        launch_data_free(&data);
    }
    if (st != ST_OK)
        snprintf(r->why, sizeof r->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    diags_free(&ds);
    return st == ST_OK && r->curve;
}

static struct work *start(struct app *a)
{
    struct reuse_worker *r = base_alloc(sizeof *r);
    if (!r)
        return NULL;
    r->work.run = trace;
    r->work.clear = clear;
    return work_start(&a->engine, &r->work);
}

enum reuse_state reuse_get(struct app *a, const struct ana_curve **out)
{
    if (a->snap->facts && a->snap->facts->curve) {
        *out = a->snap->facts->curve;
        return REUSE_READY;
    }
    if (!a->engine.hold || !a->snap->spec || !a->snap->facts)
        return REUSE_NONE;
    if (!a->reuse)
        a->reuse = start(a);
    switch (a->reuse ? work_state(a->reuse) : WORK_FAILED) {
    case WORK_BUSY: return REUSE_WORKING;
    case WORK_READY: *out = ((struct reuse_worker *)a->reuse)->curve; return REUSE_READY;
    default: return REUSE_NONE;
    }
}

const char *reuse_why(const struct app *a)
{
    return a->reuse && work_state(a->reuse) == WORK_FAILED ? ((struct reuse_worker *)a->reuse)->why : "";
}

bool reuse_working(const struct app *a)
{
    return a->reuse && work_state(a->reuse) == WORK_BUSY;
}
void reuse_drop(struct app *a)
{
    work_drop(&a->reuse);
}
