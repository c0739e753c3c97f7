/* valley_points: see valley_int.h. */
#include "engine/rec/counter_ids.h"
#include "engine/session/run.h"
#include "tui/view/valley_int.h"

#include "engine/rec/knobs.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/baseline.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool curve_is_sweep(const struct session_run *r)
{
    return r && r->kind == RUN_SWEEP && !r->deleted;
}

bool curve_has(const struct session_run *r)
{
    return curve_is_sweep(r) || (r && r->kind == RUN_TUNE && !r->deleted && r->ntrail);
}

/* What a sweep's curve stands beside: cha, or where its axis has none the original among its points. */
static const struct result *sweep_base(const struct session_run *r)
{
    const struct result *own = result_time(r->sweep.cha)->valid ? NULL : run_original(r, NULL);
    return own ? own : r->sweep.cha;
}

struct points points_of(const struct app *a, const struct session_run *r)
{
    struct points p = { 0 };
    if (!r)
        return p;
    if (r->kind == RUN_TUNE)
        p = (struct points){ .v = r->trail, .n = r->ntrail, .axis = "try", .cha = r->found->original };
    else
        p = (struct points){ .v = r->sweep.points,
                             .n = r->sweep.npoints,
                             .axis = r->sweep.axis,
                             .bpa = r->sweep.bpa,
                             .cha = sweep_base(r) };
    p.over = run_baseline(a->snap->runs, a->snap->nruns, r);
    p.base = p.over == r->sweep.cha ? "all cache" : "the original";
    if (a->replay.on && p.n > a->replay.shown)
        p.n = a->replay.shown;
    return p;
}

void points_text(const struct points *p, size_t i, char *out, size_t n)
{
    int k = p->axis ? knob_find(str_of(p->axis)) : -1;
    struct dim3u b = opt_schedule(result_options(result_at(p->v, i)))->block;
    struct buf v = { 0 };
    if (k >= 0)
        knob_get(result_options(result_at(p->v, i)), (size_t)k, &v);
    snprintf(out, n, "%s", v.s ? v.s : "");
    if (k >= 0 && !strcmp(p->axis, "block"))
        snprintf(out, n, b.x ? "%ux%u" : "as is", b.x, b.y);
    buf_free(&v);
}

double points_number(const struct points *p, size_t i)
{
    char text[64], *end;
    points_text(p, i, text, sizeof text);
    double v = strtod(text, &end);
    if (end != text && !*end)
        return v;
    return (double)i + (p->axis && !strcmp(p->axis, "try")); /* tries count from one */
}

double points_x(const struct points *p, size_t i)
{
    double v = points_number(p, i);
    return p->unit <= 0 ? v : v < p->unit ? v / p->unit : 1 + log2(v / p->unit);
}

/* largest value over the smallest above 0: from here on most points would stand in one heap */
#define WIDE 32
double points_unit(const struct points *p, enum x_scale asked)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < p->n; i++) {
        double v = points_number(p, i);
        least = v > 0 && v < least ? v : least;
        most = v > most ? v : most;
    }
    bool pi = !p->axis || !strcmp(p->axis, "pi") || !strcmp(p->axis, "try");
    return most > least && (asked == X_LOG || (asked == X_BY_RANGE && !pi && most >= WIDE * least))
               ? least
               : 0;
}

double result_ns(const struct result *r)
{
    return r && result_time(r)->valid && result_status(r) == ST_OK ? (double)result_time(r)->median
                                                                   : NAN;
}

double points_metric(enum plot_metric m, const struct result *r, const struct result *over)
{
    switch (m) {
    case METRIC_SPEEDUP: return gain_of(over, r);
    case METRIC_HIT: return result_counter(r, COUNTER_L1_HIT_RATE);
    case METRIC_DRAM: return result_counter(r, COUNTER_DRAM_READ_BYTES);
    default: return result_ns(r);
    }
}

bool points_mixed(const struct points *p)
{
    for (size_t i = 1; i < p->n; i++)
        if (result_sampled(result_at(p->v, i)) != result_sampled(result_at(p->v, 0)))
            return true;
    return false;
}

bool result_wrong(const struct result *r)
{
    return result_status(r) != ST_OK || result_equal(r) == EQUAL_NO;
}

bool points_within(const struct points *p, size_t i, size_t k, double significance)
{
    return fabs(gain_of(result_at(p->v, i), result_at(p->v, k)) - 1) <= significance;
}

const char *curve_axis(const struct session_run *r)
{
    return r->kind == RUN_TUNE ? "try" : r->sweep.axis ? r->sweep.axis : "";
}

bool curve_same_axis(const struct session_run *x, const struct session_run *y)
{
    return curve_has(x) && curve_has(y) && !strcmp(curve_axis(x), curve_axis(y));
}

const struct session_run *curve_overlay(const struct app *a, size_t *number)
{
    struct session *o = a->valley.other;
    const struct session_run *front = valley_run(a, NULL);
    for (size_t i = o ? session_count(o) : 0; i-- > 0;) {
        const struct session_run *r = session_look(o, i);
        *number = SIZE_MAX;
        if (r && front && curve_same_axis(r, front))
            return r;
        session_rest(o, i);
    }
    const struct session_run *r =
        a->valley.overlay < a->snap->nruns ? app_run(a, a->valley.overlay) : NULL;
    *number = a->valley.overlay;
    return r && front && r != front && curve_same_axis(r, front) ? r : NULL;
}

/* What tells a run from another: device, kernel, launch, else its first point's options. */
static void put_difference(struct buf *b, const struct session_run *r, const struct session_run *other)
{
    char label[PTX_LABEL];
    size_t before = b->n;
    if (strcmp(r->dev.spec, other->dev.spec) != 0)
        buf_printf(b, " %s", r->dev.spec);
    if (strcmp(r->kernel, other->kernel) != 0)
        buf_printf(b, " %s", ptx_label(r->kernel, label));
    if (memcmp(&r->grid, &other->grid, sizeof r->grid) != 0 ||
        memcmp(&r->block, &other->block, sizeof r->block) != 0)
        buf_printf(b, " grid %ux%u block %ux%u", r->grid.x, r->grid.y, r->block.x, r->block.y);
    if (curve_is_sweep(r) && curve_is_sweep(other) && r->sweep.npoints && other->sweep.npoints &&
        result_sampled(result_at(r->sweep.points, 0)) !=
            result_sampled(result_at(other->sweep.points, 0)))
        buf_puts(b, result_sampled(result_at(r->sweep.points, 0)) ? " sampled" : " whole");
    if (r->earlier != other->earlier)
        buf_puts(b, r->earlier ? " earlier text" : " present text");
    if (b->n == before && curve_is_sweep(r) && curve_is_sweep(other) && r->sweep.npoints &&
        other->sweep.npoints) {
        const struct options *x = result_options(result_at(r->sweep.points, 0));
        if (!options_equal(x, result_options(result_at(other->sweep.points, 0)))) {
            buf_puts(b, " ");
            options_line(x, b);
        }
    }
}

const char *curve_caption(struct app *a, char letter, size_t number, const struct session_run *r,
                          const struct session_run *other)
{
    struct buf b = { 0 };
    if (number == SIZE_MAX)
        buf_printf(&b, "%c other session", letter);
    else
        buf_printf(&b, "%c run %zu", letter, number + 1);
    put_difference(&b, r, other);
    const char *text = b.s ? arena_dup(a->frame, (struct str){ b.s, b.n }) : "";
    buf_free(&b);
    return text ? text : "";
}

/* The fastest of one kind: of those timed whole where there are such, else of the samples. */
static size_t points_fastest(const struct points *p)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < p->n; i++) {
        const struct result *x = result_at(p->v, i),
                            *b = best == SIZE_MAX ? NULL : result_at(p->v, best);
        if (!result_wrong(x) && !isnan(result_ns(x)) &&
            (!b || (result_sampled(b) && !result_sampled(x)) ||
             (result_sampled(b) == result_sampled(x) && result_ns(x) < result_ns(b))))
            best = i;
    }
    return best;
}

size_t points_best(const struct session_run *r, const struct points *p)
{
    if (curve_is_sweep(r))
        return valley_best(&r->sweep);
    for (size_t i = p->n; r->found && result_time(r->found->best)->valid && i-- > 0;)
        if (result_sampled(result_at(p->v, i)) == result_sampled(r->found->best) &&
            result_time(result_at(p->v, i))->valid &&
            options_equal(result_options(result_at(p->v, i)), result_options(r->found->best)))
            return i;
    return points_fastest(p);
}

size_t valley_best(const struct tune_sweep *s)
{
    return s->has_best && s->best < s->npoints ? s->best : SIZE_MAX;
}

const struct session_run *valley_run(const struct app *a, size_t *run)
{
    size_t i = a->valley.run;
    if (i >= a->snap->nruns || !curve_has(app_run(a, i))) {
        for (i = a->snap->nruns; i-- > 0;)
            if (curve_has(app_run(a, i)))
                break;
        if (i == SIZE_MAX)
            return NULL;
    }
    if (run)
        *run = i;
    return app_run(a, i);
}
