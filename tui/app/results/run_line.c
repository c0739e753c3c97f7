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

/* Of a search that still runs: the fastest of its trail, of whole launches where there are such. */
static const struct result *trail_best(const struct session_run *r)
{
    const struct result *best = NULL;
    for (size_t i = 0; i < r->ntrail; i++) {
        const struct result *x = &r->trail[i];
        if (x->status != ST_OK || !x->time.valid || x->equal == EQUAL_NO)
            continue;
        if (!best || (best->sampled && !x->sampled) ||
            (best->sampled == x->sampled && x->time.median < best->time.median))
            best = x;
    }
    return best;
}

const struct result *run_best(const struct session_run *r)
{
    switch (r->kind) {
    case RUN_ONE: return &r->one;
    case RUN_TUNE: return r->found && r->found->best.time.valid ? &r->found->best : trail_best(r);
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

/* The first of v that is the original timed as x was; NULL: none is. */
static const struct result *original_among(const struct result *v, size_t n, const struct result *x)
{
    for (size_t i = 0; i < n; i++)
        if (comparable(x, &v[i]) && is_original(&v[i]))
            return &v[i];
    return NULL;
}

const struct result *run_original(const struct session_run *q, const struct result *x)
{
    const struct result *o = NULL;
    if (q->deleted)
        return NULL;
    if (q->kind == RUN_ONE)
        return original_among(&q->one, 1, x);
    if (q->kind == RUN_TUNE) {
        o = q->found ? original_among(&q->found->original, 1, x) : NULL;
        return o ? o : original_among(q->trail, q->ntrail, x);
    }
    o = original_among(&q->sweep.cha, 1, x);
    return o ? o : original_among(q->sweep.points, q->sweep.npoints, x);
}

/* The original as it ran last, of the same text, launch and device, timed in the same way as x. */
static const struct result *original_of(const struct app *a, const struct session_run *r,
                                        const struct result *x)
{
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *o = q && same_origin(q, r) ? run_original(q, x) : NULL;
        if (o)
            return o;
    }
    return NULL;
}

const struct result *run_original_now(const struct app *a, bool sampled, size_t *run)
{
    const bool gpu = a->snap->has_dev && a->snap->dev.kind != DEV_SIMULATED;
    const struct result like = {
        .sampled = sampled, .time = { .valid = true, .origin = gpu ? ORIGIN_MEASURED : ORIGIN_SIMULATED }
    };
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *x = q && !run_stale(a, q) ? run_original(q, &like) : NULL;
        if (x) {
            *run = i;
            return x;
        }
    }
    return NULL;
}

const struct result *run_original_limits(const struct app *a, size_t *run)
{
    const struct result *x = run_original_now(a, false, run);
    if (!x || !x->limits.valid)
        x = run_original_now(a, true, run);
    return x && x->limits.valid ? x : NULL;
}

bool run_original_known(const struct app *a)
{
    size_t run;
    return run_original_now(a, false, &run) || run_original_now(a, true, &run);
}

const struct result *run_base(const struct app *a, size_t run)
{
    const struct session_run *r = app_run(a, run);
    const struct result *x = r ? run_best(r) : NULL;
    if (x && r->kind == RUN_SWEEP && comparable(x, &r->sweep.cha))
        return &r->sweep.cha;
    if (x && r->kind == RUN_TUNE)
        return run_original(r, x);
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
    if (base == x && r->kind == RUN_ONE)
        buf_puts(out, ", the original");
    else if (base && base != x)
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
