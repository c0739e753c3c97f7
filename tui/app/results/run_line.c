/* run_line: see run_line.h. */
#include "tui/app/results/run_line.h"

#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/tuner.h"
#include "engine/session/session.h"
#include "engine/tune/sweep.h"
#include "tui/app/app.h"
#include "tui/app/results/provenance.h"
#include "tui/base/text.h"

#include <string.h>

const struct result *run_best(const struct session_run *r)
{
    switch (r->kind) {
    case RUN_ONE: return &r->one;
    case RUN_TUNE: return r->found ? &r->found->best : NULL;
    default:
        return r->sweep.has_best && r->sweep.best < r->sweep.npoints ? &r->sweep.points[r->sweep.best]
                                                                     : NULL;
    }
}

static bool comparable(const struct result *x, const struct result *base)
{
    return x && base && x->time.valid && base->time.valid && x->sampled == base->sampled &&
           x->time.origin == base->time.origin;
}

static bool is_original(const struct result *x)
{
    struct options none = options_default();
    return x->time.valid && options_equal(&x->options, &none);
}

/* The original in a run of its own, at the head of a search, among the points of a sweep; NULL: it is
 * not in this run. */
static const struct result *original_in(const struct session_run *q)
{
    if (q->deleted)
        return NULL;
    if (q->kind == RUN_ONE)
        return is_original(&q->one) ? &q->one : NULL;
    if (q->kind == RUN_TUNE)
        return q->found && is_original(&q->found->original) ? &q->found->original : NULL;
    if (is_original(&q->sweep.cha))
        return &q->sweep.cha;
    for (size_t i = 0; i < q->sweep.npoints; i++)
        if (is_original(&q->sweep.points[i]))
            return &q->sweep.points[i];
    return NULL;
}

/* The original as it ran last, of the same text, launch and device, timed in the same way as x. */
static const struct result *original_of(const struct app *a, const struct session_run *r,
                                        const struct result *x)
{
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *o = q ? original_in(q) : NULL;
        if (o && same_origin(q, r) && comparable(x, o))
            return o;
    }
    return NULL;
}

bool run_original_known(const struct app *a)
{
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *x = q && !run_stale(a, q) ? original_in(q) : NULL;
        if (x && !x->sampled)
            return true;
    }
    return false;
}

const struct result *run_base(const struct app *a, size_t run)
{
    const struct session_run *r = app_run(a, run);
    const struct result *x = r ? run_best(r) : NULL;
    if (x && r->kind == RUN_SWEEP && comparable(x, &r->sweep.cha))
        return &r->sweep.cha;
    if (x && r->kind == RUN_TUNE)
        return comparable(x, &r->found->original) ? &r->found->original : NULL;
    return x ? original_of(a, r, x) : NULL;
}

void run_line(const struct app *a, size_t run, struct buf *out)
{
    const struct session_run *r = app_run(a, run);
    const struct result *x = r ? run_best(r) : NULL, *base = run_base(a, run);
    char t[TEXT_NUM];
    if (!x || !x->time.valid)
        return;
    text_time(t, (double)x->time.median);
    buf_printf(out, "run %zu: %s%s", run + 1, t, x->sampled ? " (from a sample)" : "");
    if (base == x)
        buf_puts(out, ", the original");
    else if (base)
        buf_printf(out, ", %.2fx vs %s", (double)base->time.median / (double)x->time.median,
                   base == &r->sweep.cha ? "cha" : "the original");
    if (base != x && x->equal != EQUAL_UNKNOWN)
        buf_puts(out, x->equal == EQUAL_YES      ? ", equal ✓"
                      : x->equal == EQUAL_WITHIN ? ", within tolerance ✓"
                                                 : ", WRONG RESULTS");
    if (r->kind != RUN_ONE) {
        struct buf options = { 0 };
        options_line(&x->options, &options);
        buf_printf(out, ": %s", options.n ? options.s : "the original is the best");
        buf_free(&options);
    }
}
