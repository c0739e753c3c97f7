/* legal: see legal.h. */
#include "tui/app/legal.h"

#include "engine/pass/pass.h"
#include "engine/rec/knobs.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/work.h"

#include <string.h>

#define KNOBS_MOST  40
#define VALUES_MOST 8

struct legal_worker {
    struct work work;
    struct options *options; /* what is looked at, and one that is tried; owned */
    char *why[KNOBS_MOST][VALUES_MOST];
};

static void clear(struct work *w)
{
    struct legal_worker *l = (struct legal_worker *)w;
    for (size_t k = 0; k < KNOBS_MOST; k++)
        for (size_t v = 0; v < VALUES_MOST; v++)
            base_free(l->why[k][v]);
    base_free(l->options);
}

/* NULL: legal. */
static char *reason(const struct job_snapshot *s, const struct options *o)
{
    struct pass_input in = { s->module, str_of(s->kernel), o, s->has_dev ? &s->dev : NULL,
                             s->spec,   s->facts,          0 };
    struct diags ds = { 0 };
    char *why = NULL;
    if (pass_legal(&in, &ds) == ST_REFUSED) {
        for (size_t i = 0; i < ds.n && !why; i++)
            if (ds.v[i].level == DIAG_ERROR && ds.v[i].msg)
                why = base_strdup(ds.v[i].msg);
        why = why ? why : base_strdup("refused");
    }
    diags_free(&ds);
    return why;
}

static bool look(struct work *w)
{
    struct legal_worker *l = (struct legal_worker *)w;
    const struct job_snapshot *s = w->snap;
    for (size_t k = 0; s->module && s->kernel && s->facts && k < knob_count() && k < KNOBS_MOST; k++) {
        const struct knob_info *info = knob_info(k);
        for (size_t v = 0; info->kind == KNOB_KIND_ENUM && info->values[v] && v < VALUES_MOST; v++) {
            struct options *o = options_put(l->options, 1, l->options);
            if (cancel_asked(&w->cancel))
                return false;
            if (knob_set(o, k, str_of(info->values[v]), NULL) == ST_OK)
                l->why[k][v] = reason(s, o);
        }
    }
    return true;
}

static struct work *start(struct app *a)
{
    struct legal_worker *l = base_alloc(sizeof *l);
    struct options *options = options_list(2);
    if (!l || !options) {
        BASE_FREE(l, options);
        return NULL;
    }
    l->options = options_put(options, 0, a->options);
    l->work.run = look;
    l->work.clear = clear;
    return work_start(&a->engine, &l->work);
}

const char *legal_why_not(struct app *a, size_t knob, size_t value)
{
    if (!a->engine.hold || !a->snap->facts || knob >= KNOBS_MOST || value >= VALUES_MOST)
        return NULL;
    if (a->legal && !options_equal(((struct legal_worker *)a->legal)->options, a->options))
        legal_drop(a);
    if (!a->legal)
        a->legal = start(a);
    return a->legal && work_state(a->legal) == WORK_READY
               ? ((struct legal_worker *)a->legal)->why[knob][value]
               : NULL;
}

bool legal_working(const struct app *a)
{
    return a->legal && work_state(a->legal) == WORK_BUSY;
}
void legal_drop(struct app *a)
{
    work_drop(&a->legal);
}
