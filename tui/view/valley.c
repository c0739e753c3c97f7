/* valley: from the sweeps of the snapshot to the plot's numbers (bypass paper:
 * cache peak, cache valley, memory plateau), and the lines below the plot. */
#include "engine/perfmodel/valley.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/baseline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/provenance.h"
#include "tui/base/text.h"
#include "tui/view/search.h"
#include "tui/view/valley_int.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void add_series(struct app *a, struct plot *out, const struct points *p, const char *name,
                       bool second)
{
    struct plot_series *s = &out->series[out->nseries];
    size_t n = p->n;
    *s = (struct plot_series){ .name = name,
                               .line = second ? ROLE_LINE_B : ROLE_LINE_A,
                               .point = second ? ROLE_SERIES_B : ROLE_SERIES_A,
                               .n = n };
    s->x = ARENA_ARRAY(a->frame, double, n + 1);
    s->y = ARENA_ARRAY(a->frame, double, n + 1);
    s->low = ARENA_ARRAY(a->frame, double, n + 1);
    s->high = ARENA_ARRAY(a->frame, double, n + 1);
    s->bad = ARENA_ARRAY(a->frame, bool, n + 1);
    s->whole = ARENA_ARRAY(a->frame, bool, n + 1);
    bool mixed = points_mixed(p);
    if (!s->x || !s->y || !s->low || !s->high || !s->bad || !s->whole)
        return;
    for (size_t i = 0; i < n; i++) {
        const struct result *r = result_at(p->v, i);
        s->x[i] = points_x(p, i);
        s->y[i] = points_metric(out->metric, r, p->over);
        s->whole[i] = mixed && !result_sampled(r);
        s->low[i] = s->high[i] = s->y[i];
        if (out->metric == METRIC_TIME && result_time(r)->valid)
            s->low[i] = (double)result_time(r)->min, s->high[i] = (double)result_time(r)->max;
        s->bad[i] = result_wrong(r);
    }
    /* neighbours in a search have nothing to do with each other */
    s->no_line = p->axis && !strcmp(p->axis, "try");
    out->nseries++;
}

/* The fastest so far, as a search goes on: the line that its points crowd above. */
static void add_record(struct app *a, struct plot *out, const struct points *p)
{
    struct plot_series *v = &out->series[out->nseries];
    *v = (struct plot_series){
        .name = "fastest so far", .line = ROLE_PEAK, .point = ROLE_PEAK, .n = p->n, .no_points = true
    };
    v->x = ARENA_ARRAY(a->frame, double, p->n + 1);
    v->y = ARENA_ARRAY(a->frame, double, p->n + 1);
    if (!v->x || !v->y || out->metric != METRIC_TIME)
        return;
    /* one kind of time: where some launches are whole, these alone */
    bool whole = p->cha && result_time(p->cha)->valid && !result_sampled(p->cha);
    for (size_t i = 0; i < p->n && !whole; i++)
        whole = !result_sampled(result_at(p->v, i)) && !result_wrong(result_at(p->v, i)) &&
                !isnan(result_ns(result_at(p->v, i)));
    double best = p->cha && result_sampled(p->cha) == !whole ? result_ns(p->cha) : NAN;
    for (size_t i = 0; i < p->n; i++) {
        double t = result_wrong(result_at(p->v, i)) || (whole && result_sampled(result_at(p->v, i)))
                       ? NAN
                       : result_ns(result_at(p->v, i));
        best = isnan(best) || t < best ? t : best;
        v->x[i] = points_x(p, i);
        v->y[i] = best;
    }
    out->nseries++;
}

/* The model's curve over the same axis: π warps per CTA cache, the rest bypasses. */
static void add_fit(struct app *a, struct plot *out, const struct session_run *r)
{
    const struct tune_sweep *s = &r->sweep;
    size_t n = s->warps ? (size_t)s->warps * 4 + 1 : 0;
    if (!curve_is_sweep(r) || !s->fit.valid || !s->axis || strcmp(s->axis, "pi") ||
        out->metric != METRIC_TIME || !n || a->replay.on)
        return;
    struct plot_series *v = &out->series[out->nseries];
    *v = (struct plot_series){ .name = "valley model",
                               .line = ROLE_FIT,
                               .point = ROLE_FIT,
                               .n = n,
                               .dotted = true,
                               .no_points = true };
    v->x = ARENA_ARRAY(a->frame, double, n);
    v->y = ARENA_ARRAY(a->frame, double, n);
    if (!v->x || !v->y)
        return;
    double resident = r->dev.max_warps_per_sm * 32.0; /* as tune_sweep_judge counts them */
    for (size_t i = 0; i < s->npoints; i++)
        if (result_ctas_per_sm(result_at(s->points, i)))
            resident = result_ctas_per_sm(result_at(s->points, i)) * (double)dim3u_count(r->block);
    for (size_t i = 0; i < n; i++) {
        v->x[i] = (double)i / 4;
        v->y[i] = model_valley_time(&s->valley, &s->fit, resident * v->x[i] / s->warps, resident);
    }
    out->nseries++;
}

static void add_ref(struct plot *out, const char *name, double y, enum role role)
{
    if (!isnan(y) && out->nrefs < PLOT_MAX_REFS)
        out->ref[out->nrefs++] = (struct plot_ref){ name, y, role };
}

static void add_mark(struct plot *out, const char *name, size_t i, enum role role, bool below)
{
    const struct plot_series *s = &out->series[0];
    if (i < s->n && !isnan(s->y[i]) && out->nmarks < PLOT_MAX_MARKS)
        out->mark[out->nmarks++] = (struct plot_mark){ name, s->x[i], s->y[i], role, below };
}

/* In time the peak of performance is the lowest point: names follow performance. */
static void add_marks(struct app *a, struct plot *out, const struct session_run *r,
                      const struct points *p)
{
    const struct tune_sweep *s = &r->sweep;
    size_t best = curve_is_sweep(r) ? valley_best(s) : SIZE_MAX, n = p->n;
    bool up = out->metric == METRIC_TIME || out->metric == METRIC_DRAM;
    if (!curve_is_sweep(r) || best == SIZE_MAX || best >= n || n < 3 || !s->complete ||
        (a->replay.on && n < s->npoints))
        return;
    const struct model_curve *c = &s->curve;
    if (c->category == CATEGORY_CACHE_INSENSITIVE && !strcmp(p->axis, "pi"))
        return;
    /* there the unconditional code is the better choice */
    bool pi = !strcmp(p->axis, "pi"), ends = pi && (best == 0 || best == s->warps);
    char *text =
        ends ? arena_printf(a->frame, "%s is best", best ? "all cache" : "all bypass")
        : p->unit <= 0 && best < out->nticks
            ? arena_printf(a->frame, "%s best", out->tick[best])
            : arena_printf(a->frame, "%s=%g %s", pi ? "π" : p->axis, points_number(p, best),
                           pi && c->category == CATEGORY_CACHE_CONGESTED ? "cache peak" : "is best");
    add_mark(out, text, best, ROLE_PEAK, up);
    double line = points_metric(out->metric, best ? s->cha : s->bpa, p->over);
    if (ends && out->nmarks &&
        !isnan(line)) /* that is its line, not the point at the end of the curve */
        out->mark[out->nmarks - 1].y = line;
    if (c->category != CATEGORY_CACHE_CONGESTED || !pi)
        return;
    /* the valley begins where the slowest is first met; the plateau lies beyond it */
    size_t valley = c->valley;
    while (valley < n && valley > best + 1 && points_within(p, valley - 1, c->valley, c->significance))
        valley--;
    size_t from = c->plateau > valley ? c->plateau : valley + 1;
    if (valley < n && valley > best)
        add_mark(out, "cache valley", valley, ROLE_VALLEY, !up);
    if (valley > best && from + 1 < n)
        add_mark(out, "memory plateau", (from + n) / 2, ROLE_PLATEAU, up);
}

/* 0, then the unit and its doublings. */
static void doubling_ticks(struct app *a, struct plot *out, const struct points *p)
{
    double most = 0;
    for (size_t i = 0; i < p->n; i++)
        most = fmax(most, points_x(p, i));
    size_t n = (size_t)ceil(most) + 1;
    out->tick = ARENA_ARRAY(a->frame, char *, n);
    for (size_t k = 0; out->tick && k < n; k++)
        out->tick[k] = arena_printf(a->frame, "%.7g", k ? p->unit * pow(2, (double)k - 1) : 0.0);
    out->nticks = out->tick ? n : 0;
}

/* Values that are no numbers stand at 0, 1, ... by name. */
static void tick_names(struct app *a, struct plot *out, const struct points *p)
{
    char text[64], *end;
    if (p->unit > 0)
        doubling_ticks(a, out, p);
    if (!p->n || !p->axis || !strcmp(p->axis, "try") || p->unit > 0)
        return;
    points_text(p, 0, text, sizeof text);
    strtod(text, &end);
    if (end != text && !*end)
        return;
    out->tick = ARENA_ARRAY(a->frame, char *, p->n);
    for (size_t i = 0; out->tick && i < p->n; i++) {
        points_text(p, i, text, sizeof text);
        out->tick[i] = arena_dup(a->frame, str_of(text));
    }
    out->nticks = out->tick ? p->n : 0;
}

static const char *axis_title(const char *axis)
{
    static const struct {
        const char *axis, *title;
    } t[] = { { "pi", "π: warps per CTA that cache (cha: all, bpa: none)" },
              { "agents", "active agents per SM" },
              { "carveout", "shared-memory carve-out, percent" },
              { "block", "block shape" },
              { "try", "configurations tried" } };
    for (size_t i = 0; axis && i < ARRAY_LEN(t); i++)
        if (!strcmp(t[i].axis, axis))
            return t[i].title;
    return axis ? axis : "";
}

/* The legend of the last series. Samples that have no value beside whole launches stand at the foot: then whole ones
 * need no sign of their own. */
static void name_signs(struct app *a, struct plot *out, const struct points *p)
{
    struct plot_series *s = &out->series[out->nseries - 1];
    bool mixed = points_mixed(p), wrong = false, none = false, sampled = false;
    for (size_t i = 0; i < s->n; i++) {
        wrong |= s->bad[i];
        none |= isnan(s->y[i]) && !s->bad[i];
        sampled |= mixed && !isnan(s->y[i]) && !s->whole[i];
    }
    for (size_t i = 0; i < s->n && !sampled; i++)
        s->whole[i] = false;
    s->name = arena_printf(a->frame, "%s%s",
                           !sampled                   ? "points"
                           : out->style == PLOT_ASCII ? "sample  @ whole"
                                                      : "sample  ◆ whole",
                           wrong && none ? "  × no result"
                           : wrong       ? "  × wrong"
                           : !none       ? ""
                           : mixed       ? "  × sampled"
                                         : "  × no value");
}

static bool any_value(const struct plot_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(s->y[i]))
            return true;
    return false;
}

/* Until the user moves it the cursor stands on the newest point, then on the best. */
static void place_cursor(struct app *a, const struct session_run *r, const struct points *p)
{
    if (!a->valley.placed) {
        size_t best = points_best(r, p);
        bool done = curve_is_sweep(r) ? r->sweep.complete : !a->snap->busy;
        a->valley.cursor = best < p->n && done ? best : p->n - 1;
    }
    a->valley.cursor = a->valley.cursor < p->n ? a->valley.cursor : p->n - 1;
}

/* What the numbers of a curve rest on: the y axis says so, where one word does for all of them. */
static const char *evidence_text(struct app *a, const struct points *p, bool two_curves)
{
    const struct result *first = NULL;
    bool mixed = two_curves;
    for (size_t i = 0; i < p->n; i++) {
        const struct result *x = result_at(p->v, i);
        mixed |= first && result_time(x)->valid && evidence_of(x) != evidence_of(first);
        first = first || !result_time(x)->valid ? first : x;
    }
    return !first ? ""
                  : arena_printf(a->frame, " (%s)",
                                 mixed ? origin_name(result_time(first)->origin)
                                       : evidence_words(evidence_of(first)));
}

/* Two curves of one kernel and launch have one base, so that the higher point is the faster one. */
static bool one_base(const struct session_run *r, const struct session_run *b, const struct points *p)
{
    if (!r || !b || strcmp(r->kernel, b->kernel) || !p->cha || !result_time(p->cha)->valid ||
        (r->launch_key && b->launch_key && r->launch_key != b->launch_key))
        return false;
    for (size_t i = 0; i < b->sweep.npoints; i++)
        if (result_time(result_at(b->sweep.points, i))->valid &&
            result_time(result_at(b->sweep.points, i))->origin != result_time(p->cha)->origin)
            return false;
    return true;
}

/* What is plotted. Of a search the line of the fastest says that less is better. */
static const char *y_title(struct app *a, const struct plot *out, const struct session_run *r,
                           const struct session_run *b, const struct points *p)
{
    bool less = plot_less_is_better(out->metric) && !(r && r->kind == RUN_TUNE);
    const char *what = out->metric == METRIC_SPEEDUP
                           ? arena_printf(a->frame, "speed against %s%s", p->base,
                                          !b                  ? ""
                                          : one_base(r, b, p) ? " of A"
                                                              : ", each curve its own")
                           : plot_metric_name(out->metric);
    return arena_printf(a->frame, "%s%s%s%s", what, less ? ", less is better" : "",
                        out->log_y ? ", logarithmic" : "", evidence_text(a, p, b != NULL));
}

/* The curve laid over the first, on its x axis. number: its run, SIZE_MAX: of another session. */
static void add_second(struct app *a, struct plot *out, const struct session_run *b, size_t number,
                       const struct points *p, bool same_base)
{
    struct points q = points_of(a, b);
    q.unit = p->unit;
    q.over = same_base ? p->over : q.over;
    add_series(a, out, &q, number == SIZE_MAX ? "B" : arena_printf(a->frame, "B run %zu", number + 1),
               true);
}

/* The metric asked for. A sweep without cha and without the original has times, and no speed against
 * anything. */
static enum plot_metric metric_for(const struct app *a, const struct points *p)
{
    bool times = false;
    for (size_t i = 0; a->valley.metric == METRIC_SPEEDUP && i < p->n; i++) {
        if (!isnan(points_metric(METRIC_SPEEDUP, result_at(p->v, i), p->over)))
            return METRIC_SPEEDUP;
        times |= !isnan(result_ns(result_at(p->v, i)));
    }
    return times ? METRIC_TIME : a->valley.metric;
}

void valley_plot(struct app *a, struct plot *out)
{
    size_t ra = SIZE_MAX, rb = SIZE_MAX;
    const struct session_run *r = valley_run(a, &ra), *b = curve_overlay(a, &rb);
    memset(out, 0, sizeof *out);
    struct points p = points_of(a, r);
    out->metric = metric_for(a, &p);
    out->style = a->set.ascii ? PLOT_ASCII : a->set.style;
    out->log_y = a->valley.log_y;
    if (r && r->kind == RUN_TUNE)
        /* a search meets configurations many times slower: logarithmic unless asked otherwise */
        out->log_y = !out->log_y;
    p.unit = points_unit(&p, a->valley.x_scale);
    out->yname = y_title(a, out, r, b, &p);
    out->xname = p.unit > 0 ? arena_printf(a->frame, "%s, each step doubles", axis_title(p.axis))
                            : axis_title(p.axis);
    out->empty = app_measuring(a) ? "waiting for the first point ..." : "";
    if (!r)
        return;
    add_fit(a, out, r);
    if (b)
        add_second(a, out, b, rb, &p, one_base(r, b, &p));
    if (r->kind == RUN_TUNE)
        add_record(a, out, &p);
    add_series(a, out, &p, b ? arena_printf(a->frame, "A run %zu", ra + 1) : "", false);
    if (!b)
        name_signs(a, out, &p);
    if (!any_value(&out->series[out->nseries - 1])) {
        out->empty = a->replay.on && !p.n
                         ? view_keys(a, "{replay-play} plays the recorded points, {replay-step} steps, "
                                        "{replay-end} shows them all")
                     : app_measuring(a) ? "waiting for the first point ..."
                                        : "no point has a value here: see the messages";
        out->nseries = 0;
        return;
    }
    /* marks and cursor refer to series 0 */
    struct plot_series last = out->series[out->nseries - 1];
    memmove(out->series + 1, out->series, sizeof last * (out->nseries - 1));
    out->series[0] = last;
    add_ref(out, "bpa", points_metric(out->metric, p.bpa, p.over), ROLE_REF_BPA);
    add_ref(out, p.cha == r->sweep.cha ? "cha" : "original", points_metric(out->metric, p.cha, p.over),
            ROLE_REF_CHA);
    tick_names(a, out, &p);
    add_marks(a, out, r, &p);
    if (p.n) {
        place_cursor(a, r, &p);
        out->has_cursor = true;
        out->cursor = points_x(&p, a->valley.cursor);
    }
    plot_range(out, a->valley.zoom);
    if (curve_is_sweep(r) && p.unit <= 0 && p.axis && !strcmp(p.axis, "pi") && a->valley.zoom <= 1 &&
        r->sweep.warps) {
        /* known beforehand: the picture stands still while points arrive */
        out->x0 = 0;
        out->x1 = r->sweep.warps;
    }
}

/* ---- lines below the plot ---- */
#define SLOWER 0.98 /* of the speed of what it is compared with: worth a warning */
static void put_result(struct row *r, const struct result *x, double gain, const char *base)
{
    char t[TEXT_NUM], h[TEXT_NUM];
    if (result_status(x) != ST_OK || !result_time(x)->valid) {
        row_put(r, ROLE_ERROR, "%s",
                *result_message(x) ? result_message(x) : status_text(result_status(x)));
        return;
    }
    text_time(t, (double)result_time(x)->median);
    row_put(r, ROLE_VALUE, "%s", t);
    double spread = (double)(result_time(x)->max - result_time(x)->min) /
                    (double)(result_time(x)->median ? result_time(x)->median : 1) * 50;
    if (spread > 0.05)
        row_put(r, ROLE_DIM, " ±%.1f%%", spread);
    row_put(r, ROLE_DIM, " %s", evidence_words(evidence_of(x)));
    if (gain < SLOWER)
        row_put(r, ROLE_WARN, "  %.0f %% slower than %s", 100 / gain - 100, base);
    else if (!isnan(gain))
        row_put(r, gain > 1.02 ? ROLE_GOOD : ROLE_LABEL, "  %s vs %s", gain_words(gain).s, base);
    view_counter(x, COUNTER_L1_HIT_RATE, h);
    row_put(r, ROLE_LABEL, "  L1 hit ");
    row_put(r, ROLE_L1, "%s", h);
    view_counter(x, COUNTER_DRAM_READ_BYTES, h);
    row_put(r, ROLE_LABEL, "  DRAM ");
    row_put(r, ROLE_DRAM, "%s", h);
    if (result_equal(x) == EQUAL_NO)
        row_put(r, ROLE_ERROR, "  WRONG RESULTS");
    else if (equality_known(result_equal(x)))
        row_put(r, ROLE_GOOD, result_equal(x) == EQUAL_YES ? "  equal ✓" : "  within tolerance ✓");
}

static void put_cursor(struct app *a, const struct session_run *run, const struct points *p, unsigned w)
{
    struct row r = { .arena = a->frame };
    const struct result *x = result_at(p->v, a->valley.cursor);
    if (p->axis && !strcmp(p->axis, "try"))
        row_put(&r, ROLE_CURSOR, " try %zu  ", a->valley.cursor + 1);
    else {
        char text[64];
        points_text(p, a->valley.cursor, text, sizeof text);
        row_put(&r, ROLE_CURSOR, " %s %s  ",
                p->axis && !strcmp(p->axis, "pi") ? "π"
                : p->axis                         ? p->axis
                                                  : "",
                text);
    }
    put_result(&r, x, run_gain(a->snap->runs, a->snap->nruns, run, x), p->base);
    page_flow(a, &a->page[PANEL_VALLEY], &r, 3, w, -1);
}

/* The configuration under the cursor, and why the search tried it. */
static void put_tried(struct app *a, const struct result *x, const struct tune_live *l, unsigned w)
{
    struct buf b = { 0 };
    struct row r = { .arena = a->frame };
    const char *why = search_why(l, result_options(x));
    options_line(result_options(x), &b);
    const char *what = b.n ? b.s : "the original";
    row_put(&r, ROLE_VALUE, "   %s", what);
    if (why && strcmp(why, what) != 0)
        row_put(&r, ROLE_DIM, "  %s", why);
    page_flow(a, &a->page[PANEL_VALLEY], &r, 3, w, -1);
    buf_free(&b);
}

static void put_end(struct app *a, const char *name, enum role role, const struct result *x,
                    const struct points *p, unsigned w)
{
    struct row r = { .arena = a->frame };
    if (result_status(x) == ST_OK && !result_time(x)->valid)
        return; /* this axis has no such end */
    row_put(&r, role, " %-4s ", name);
    put_result(&r, x, gain_of(p->over, x), p->base);
    page_flow(a, &a->page[PANEL_VALLEY], &r, 6, w, -1);
}

static void put_fit(struct app *a, const struct tune_sweep *s, unsigned w)
{
    struct row r = { .arena = a->frame };
    if (s->fit.valid) {
        row_put(&r, ROLE_FIT, " model of the curve ");
        row_put(&r, ROLE_LABEL, " hit rate: exponent α %.3g, β %.3g B per thread; residual %.1f %%",
                s->fit.alpha, s->fit.beta, s->fit.residual * 100);
    }
    if (!isnan(s->overhead_bpa) && !isnan(s->overhead_cha))
        row_put(&r, ROLE_LABEL, "  inserted code: %+.1f %% at π=0, %+.1f %% at π=%u",
                (s->overhead_bpa - 1) * 100, (s->overhead_cha - 1) * 100, s->warps);
    if (r.n)
        page_flow(a, &a->page[PANEL_VALLEY], &r, 3, w, -1);
}

static void put_search(struct app *a, const struct session_run *r, const struct points *p, unsigned w,
                       unsigned h)
{
    const struct tune_live *l = search_of(a, r);
    put_tried(a, result_at(p->v, a->valley.cursor), l, w);
    if (l && a->snap->busy)
        search_lines(a, &a->page[PANEL_VALLEY], l, w, h);
    else if (*r->found->reason)
        page_wrap(a, &a->page[PANEL_VALLEY], run_stale(a, r) ? ROLE_DIM : ROLE_TITLE, 1, w - 1,
                  r->found->reason, -1);
}

static const char *empty_hint(struct app *a)
{
    bool pi = !strcmp(a->valley.axis, "pi");
    return arena_printf(
        a->frame,
        "No sweep yet. {sweep} runs the kernel once for every value of the knob above%s. "
        "%s another knob; {tune} searches all of them.",
        pi ? ", π: how many warps of a CTA may cache" : "",
        a->lines ? "'sweep KNOB' varies" : "{axis} chooses");
}

static void valley_update(struct app *a, unsigned w, unsigned h)
{
    struct page *pg = &a->page[PANEL_VALLEY];
    const struct session_run *r = valley_run(a, NULL);
    struct points p = points_of(a, r);
    page_clear(pg);
    if (r && p.n) {
        struct buf verdict = { 0 };
        bool whole = curve_is_sweep(r) && r->sweep.complete && !(a->replay.on && p.n < r->sweep.npoints);
        place_cursor(a, r, &p);
        if (whole) { /* the answer first: what is below may have no room */
            run_verdict(a->snap->runs, a->snap->nruns, r, &verdict);
            page_wrap(a, pg, run_stale(a, r) ? ROLE_DIM : ROLE_TITLE, 1, w - 1,
                      verdict.s ? verdict.s : "", -1);
        }
        put_cursor(a, r, &p, w);
        if (whole) {
            if (h >= 24 && p.bpa && p.cha) {
                put_end(a, "all bypass (bpa)", ROLE_REF_BPA, p.bpa, &p, w);
                put_end(a, "all cache (cha)", ROLE_REF_CHA, r->sweep.cha, &p, w);
            }
            if (h >= 18)
                put_fit(a, &r->sweep, w);
        } else if (r->kind == RUN_TUNE) {
            put_search(a, r, &p, w, h);
        }
        buf_free(&verdict);
    }
    if (!r && a->snap->busy && a->guess.asked)
        page_hint(a, pg, w, "A launch description is being guessed. Questions about it come next ...");
    if (!r && !a->snap->busy)
        page_empty(a, pg, w, view_unready(a, empty_hint(a)));
    list_set_count(&a->list[PANEL_VALLEY], pg->n);
}

static void valley_head(struct app *a, unsigned w, struct row *r)
{
    size_t i = 0;
    const struct session_run *run = valley_run(a, &i);
    size_t nb = SIZE_MAX;
    const struct session_run *b = run ? curve_overlay(a, &nb) : NULL;
    (void)w;
    if (b) { /* which is which, and what differs */
        row_put(r, ROLE_SERIES_A, " ● %s", curve_caption(a, 'A', i, run, b));
        row_put(r, ROLE_SERIES_B, "   ○ %s", curve_caption(a, 'B', nb, b, run));
        return;
    }
    row_put(r, ROLE_LABEL, " next sweep: ");
    row_put(r, ROLE_CHANGED, "%s", a->valley.axis);
    if (!run)
        return;
    row_put(r, ROLE_LABEL, "   %s ", run->kind == RUN_TUNE ? "search" : "run");
    row_put(r, ROLE_VALUE, "%zu", i + 1);
    char label[PTX_LABEL];
    row_put(r, ROLE_LABEL, ": %s on %s", ptx_label(run->kernel, label), run->dev.spec);
    if (run_stale(a, run))
        row_put(r, ROLE_WARN, " (%s)", run_stale(a, run));
    size_t n = run->kind == RUN_TUNE ? run->ntrail : run->sweep.npoints;
    if (a->replay.on)
        row_put(r, ROLE_NOTE, "   replay %zu of %zu%s", a->replay.shown < n ? a->replay.shown : n, n,
                a->replay.playing ? " playing" : "");
}

/* ---- keys ---- */
static unsigned move_run(struct app *a, int by)
{
    size_t i;
    if (!valley_run(a, &i))
        return 0;
    for (size_t k = i + (size_t)by; k < a->snap->nruns; k += (size_t)by)
        if (curve_has(app_run(a, k))) {
            a->valley.run = k;
            a->valley.placed = false;
            return UI_REDRAW;
        }
    app_notice(a, DIAG_NOTE, by > 0 ? "this is the last sweep" : "this is the first sweep");
    return UI_REDRAW;
}

static unsigned toggle_overlay(struct app *a)
{
    struct valley_view *v = &a->valley;
    size_t shown;
    if (v->overlay != SIZE_MAX || v->other) {
        v->overlay = SIZE_MAX;
        session_free(v->other);
        v->other = NULL;
        return UI_REDRAW;
    }
    if (!valley_run(a, &shown))
        return 0;
    size_t mark = a->runs.mark[0] != shown ? a->runs.mark[0] : a->runs.mark[1];
    for (size_t i = mark < a->snap->nruns ? mark + 1 : a->snap->nruns; i-- > 0;)
        if (i != shown && curve_same_axis(app_run(a, shown), app_run(a, i))) {
            v->overlay = i;
            return UI_REDRAW;
        }
    app_notice(a, DIAG_NOTE, "no second run over the same axis (%s) to overlay",
               curve_axis(app_run(a, shown)));
    return UI_REDRAW;
}

static unsigned move_cursor(struct app *a, long by)
{
    struct points p = points_of(a, valley_run(a, NULL));
    if (!p.n)
        return 0;
    long to = (long)a->valley.cursor + by;
    a->valley.cursor = to < 0 ? 0 : to >= (long)p.n ? p.n - 1 : (size_t)to;
    a->valley.placed = true;
    return UI_REDRAW;
}

static unsigned next_axis(struct app *a)
{
    static const char *const axes[] = { "pi", "agents", "carveout", "block" };
    size_t i = 0;
    while (i < ARRAY_LEN(axes) && strcmp(axes[i], a->valley.axis))
        i++;
    snprintf(a->valley.axis, sizeof a->valley.axis, "%s",
             axes[i < ARRAY_LEN(axes) ? (i + 1) % ARRAY_LEN(axes) : 0]);
    return UI_REDRAW;
}

static unsigned apply_point(struct app *a)
{
    struct points p = points_of(a, valley_run(a, NULL));
    if (a->valley.cursor >= p.n)
        return 0;
    app_options_set(a, result_options(result_at(p.v, a->valley.cursor)));
    app_notice(a, DIAG_NOTE, "using the knobs of the point under the cursor ({undo} undoes)");
    return UI_REDRAW;
}

static unsigned to_best(struct app *a, const struct session_run *run)
{
    struct points p = points_of(a, run);
    size_t best = run ? points_best(run, &p) : SIZE_MAX;
    if (best < p.n)
        a->valley.cursor = best, a->valley.placed = true;
    else
        app_notice(a, DIAG_NOTE, "there is no best point yet");
    return UI_REDRAW;
}

static unsigned valley_request(struct app *a, enum request r)
{
    struct valley_view *v = &a->valley;
    const struct session_run *run = valley_run(a, NULL);
    switch (r) {
    case REQ_VAL_LEFT: return move_cursor(a, -1);
    case REQ_VAL_RIGHT: return move_cursor(a, 1);
    case REQ_VAL_FIRST: return move_cursor(a, -1000000);
    case REQ_VAL_LAST: return move_cursor(a, 1000000);
    case REQ_VAL_BEST: return to_best(a, run);
    case REQ_VAL_ZOOM_IN: v->zoom = v->zoom < 16 ? v->zoom * 2 : v->zoom; break;
    case REQ_VAL_ZOOM_OUT: v->zoom = v->zoom > 1 ? v->zoom / 2 : 1; break;
    case REQ_VAL_ZOOM_ALL: v->zoom = 1; break;
    case REQ_VAL_LOG: v->log_y = !v->log_y; break;
    case REQ_VAL_LOG_X: {
        struct points p = points_of(a, run);
        v->x_scale = points_unit(&p, v->x_scale) > 0 ? X_LINEAR : X_LOG;
        break;
    }
    /* a lesson may wait for it */
    case REQ_VAL_METRIC: v->metric = (enum plot_metric)((v->metric + 1) % METRIC_COUNT); break;
    case REQ_VAL_AXIS: return next_axis(a);
    case REQ_VAL_RUN_NEXT: return move_run(a, 1);
    case REQ_VAL_RUN_PREV: return move_run(a, -1);
    case REQ_VAL_COMPARE: return toggle_overlay(a);
    case REQ_VAL_STYLE:
        a->set.style = (enum plot_style)((a->set.style + 1) % 3);
        a->set.style_given = true;
        break;
    case REQ_VAL_APPLY: return apply_point(a);
    default: return 0;
    }
    return UI_REDRAW;
}

void valley_csv(struct app *a, struct buf *out)
{
    const struct session_run *r = valley_run(a, NULL);
    struct points p = points_of(a, r);
    /* what a knob's name is made of */
    static const char plain[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    bool name = p.axis && *p.axis != '-' && strspn(p.axis, plain) == strlen(p.axis);
    buf_printf(out, "%s,time_ns,low_ns,high_ns,equal_to_original", name ? p.axis : "x");
    for (int c = 0; c < COUNTER_COUNT; c++)
        buf_printf(out, ",%s", counter_name((enum counter_id)c));
    buf_puts(out, "\n");
    for (size_t i = 0; i < p.n; i++) {
        const struct result *x = result_at(p.v, i);
        buf_printf(out, "%g,", points_number(&p, i));
        if (result_time(x)->valid)
            buf_printf(out, "%lld,%lld,%lld", (long long)result_time(x)->median,
                       (long long)result_time(x)->min, (long long)result_time(x)->max);
        else
            buf_puts(out, ",,");
        buf_printf(out, ",%s",
                   !equality_known(result_equal(x)) ? ""
                   : result_equal(x) == EQUAL_NO    ? "false"
                                                    : "true");
        for (int c = 0; c < COUNTER_COUNT; c++)
            result_counters(x)[c].valid ? buf_printf(out, ",%.9g", result_counters(x)[c].value)
                                        : buf_puts(out, ",");
        buf_puts(out, "\n");
    }
}

static bool plot_of(struct app *a, struct plot *out)
{
    valley_plot(a, out);
    return true;
}

const struct view view_valley = {
    valley_update, valley_head, NULL, valley_request, plot_of, valley_csv
};
