/* curve: see curve.h. x of the plot is the power of two of the cache size in
 * KiB; between powers the curve is evaluated four times an octave, besides the
 * sizes that the device has. */
#include "engine/session/run.h"
#include "tui/view/curve.h"

#include "engine/analysis/curve.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/reuse.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PER_OCTAVE 4
#define SIZES_MOST 256

static double x_of(double bytes)
{
    return log2(bytes / 1024);
}

/* The sizes of the plot in rising order, at most SIZES_MOST. */
static size_t sizes(const struct ana_curve *c, double *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < c->npoints; i++) {
        double from = c->point[i].bytes, to = i + 1 < c->npoints ? c->point[i + 1].bytes : from;
        for (int k = 0;
             k < PER_OCTAVE && n < SIZES_MOST && (k == 0 || from * exp2((double)k / PER_OCTAVE) < to);
             k++)
            out[n++] = from * exp2((double)k / PER_OCTAVE);
    }
    return n;
}

static const struct ana_curve *curve_of(struct app *a)
{
    const struct ana_curve *c = NULL;
    return reuse_get(a, &c) == REUSE_READY && c->npoints ? c : NULL;
}

static const struct ana_dist *load_dist(const struct app *a, const struct ana_curve *c)
{
    int i = a->locality.access;
    return i >= 0 && (uint32_t)i < c->naccess && c->access[i].total ? &c->access[i] : NULL;
}

static bool add(struct app *a, struct plot *p, const struct ana_dist *d, const double *at, size_t n,
                bool second, const char *name)
{
    struct plot_series *s = &p->series[p->nseries];
    *s = (struct plot_series){ .name = name,
                               .line = second ? ROLE_LINE_B : ROLE_LINE_A,
                               .point = second ? ROLE_SERIES_B : ROLE_SERIES_A,
                               .n = n,
                               .no_points = true,
                               .dotted = second };
    s->x = ARENA_ARRAY(a->frame, double, n + 1);
    s->y = ARENA_ARRAY(a->frame, double, n + 1);
    if (!s->x || !s->y)
        return false;
    for (size_t i = 0; i < n; i++) {
        s->x[i] = x_of(at[i]);
        s->y[i] = ana_miss_ratio(d, at[i], NULL) * 100;
    }
    p->nseries++;
    return true;
}

static void add_ticks(struct app *a, struct plot *p)
{
    p->nticks = (size_t)p->x1 + 1;
    p->tick = ARENA_ARRAY(a->frame, char *, p->nticks);
    for (size_t i = 0; p->tick && i < p->nticks; i++)
        p->tick[i] = arena_printf(a->frame,
                                  i < 10   ? "%.0f KiB"
                                  : i < 20 ? "%.0f MiB"
                                           : "%.0f GiB",
                                  exp2((double)(i % 10)));
    p->nticks = p->tick ? p->nticks : 0;
}

/* Names of the device's sizes: in a plot, with their values. */
static void add_sizes(struct app *a, struct plot *p, const struct ana_curve *c)
{
    for (uint32_t i = 0; i < c->npoints && p->nbars < PLOT_MAX_BARS; i++) {
        const struct ana_point *q = &c->point[i];
        char size[TEXT_NUM];
        text_bytes(size, q->bytes);
        if (q->mark)
            p->bar[p->nbars++] =
                (struct plot_bar){ arena_printf(a->frame, "%s, %s: %.1f %% miss", q->mark, size,
                                                q->miss * 100),
                                   x_of(q->bytes), strcmp(q->mark, "L1") ? ROLE_L2 : ROLE_L1 };
    }
}

static size_t cursor_at(const struct app *a, const struct ana_curve *c, const double *at, size_t n)
{
    size_t l1 = 0;
    if (a->locality.placed)
        return a->locality.cursor < n ? a->locality.cursor : n - 1;
    while (l1 + 1 < n && !isnan(c->l1_bytes) && at[l1] < c->l1_bytes)
        l1++;
    return l1;
}

static const char *load_name(struct app *a, int i)
{
    const struct ana_access *x = &a->snap->facts->access[i];
    return arena_printf(a->frame, "line %u, %s", x->at.line, x->array ? x->array : "?");
}

bool curve_plot(struct app *a, struct plot *p)
{
    const struct ana_curve *c =
        a->locality.part == LOCALITY_CURVE && a->snap->facts ? curve_of(a) : NULL;
    double at[SIZES_MOST];
    memset(p, 0, sizeof *p);
    if (!c)
        return false;
    size_t n = sizes(c, at);
    const struct ana_dist *d = load_dist(a, c);
    p->metric = METRIC_MISS;
    p->style = a->set.ascii ? PLOT_ASCII : a->set.style;
    p->yname = "misses of one SM's loads (modelled)";
    p->xname = "size of a fully associative LRU cache";
    if (!n || !add(a, p, &c->all, at, n, false, "all loads") ||
        (d && !add(a, p, d, at, n, true, load_name(a, a->locality.access))))
        return false;
    p->x0 = 0;
    p->x1 = fmax(x_of(at[n - 1]), 1);
    p->y0 = 0;
    p->y1 = 104;
    p->has_cursor = true;
    p->cursor = x_of(at[cursor_at(a, c, at, n)]);
    add_ticks(a, p);
    add_sizes(a, p, c);
    return true;
}

/* ---- lines below ---- */
static void put_at(struct app *a, const struct ana_dist *d, double bytes, enum role role,
                   const char *name, unsigned w)
{
    char size[TEXT_NUM];
    double split[ANA_FROM_COUNT], miss = ana_miss_ratio(d, bytes, split);
    struct row r = { .arena = a->frame };
    text_bytes(size, bytes);
    row_put(&r, role, " %s", size);
    row_put(&r, ROLE_LABEL, "  %s", name);
    if (isnan(miss)) {
        row_put(&r, ROLE_DIM, "  n/a: no loads");
    } else {
        row_put(&r, miss > 0.5 ? ROLE_WARN : ROLE_GOOD, "  %.1f %% miss", miss * 100);
        row_put(&r, ROLE_LABEL, "  hits requested before by the");
        for (int f = 0; f < ANA_FROM_COUNT; f++)
            row_put(&r, ROLE_VALUE, " %s %.1f %%%s", ana_from_name((enum ana_from)f), split[f] * 100,
                    f + 1 < ANA_FROM_COUNT ? "," : "");
    }
    page_flow(a, &a->page[PANEL_LOCALITY], &r, 2, w, -1);
}

/* What the last run of the original really missed: the curve's own check. */
static void put_counted(struct app *a, unsigned w)
{
    size_t i = app_last_run(a, RUN_SWEEP);
    const struct session_run *run = i == SIZE_MAX ? NULL : app_run(a, i);
    const struct counter *k = run ? &result_counters(run->sweep.cha)[COUNTER_L1_HIT_RATE] : NULL;
    struct row r = { .arena = a->frame };
    if (!k || !k->valid || !a->snap->kernel || strcmp(run->kernel, a->snap->kernel) ||
        strcmp(run->dev.spec, a->snap->dev.spec))
        return;
    row_put(&r, ROLE_LABEL, " run %zu, caching all:", i + 1);
    row_put(&r, ROLE_VALUE, " %.1f %% miss L1", 100 - k->value);
    row_put(&r, ROLE_DIM, " (%s, all SMs)", origin_name(k->origin));
    page_flow(a, &a->page[PANEL_LOCALITY], &r, 2, w, -1);
}

static const struct ana_curve *ready(struct app *a, unsigned w)
{
    const struct ana_curve *c = NULL;
    struct page *p = &a->page[PANEL_LOCALITY];
    switch (reuse_get(a, &c)) {
    case REUSE_READY: return c;
    case REUSE_WORKING: page_hint(a, p, w, "Tracing the loads of one SM ..."); break;
    case REUSE_NONE:
        page_hint(a, p, w, view_unready(a, "This kernel could not be traced."));
        if (*reuse_why(a))
            page_wrap(a, p, ROLE_WARN, 2, w - 2, reuse_why(a), -1);
    }
    return NULL;
}

void curve_lines(struct app *a, unsigned w)
{
    const struct ana_curve *c = ready(a, w);
    struct page *p = &a->page[PANEL_LOCALITY];
    double at[SIZES_MOST];
    size_t n = c ? sizes(c, at) : 0;
    if (!n)
        return;
    double bytes = at[cursor_at(a, c, at, n)];
    const struct ana_dist *d = load_dist(a, c);
    put_at(a, &c->all, bytes, ROLE_CURSOR, "all loads", w);
    if (d)
        put_at(a, d, bytes, ROLE_SERIES_B, load_name(a, a->locality.access), w);
    put_counted(a, w);
    struct buf b = { 0 };
    buf_printf(&b, "SM 0 of %u, %u CTA%s at a time, %llu requests", c->sms, c->resident,
               c->resident == 1 ? "" : "s", (unsigned long long)c->requests);
    if (c->cut)
        buf_puts(&b, ", its first CTAs only");
    if (c->sampled < 1)
        buf_printf(&b, "; one line in %.0f followed, within %.2f points", 1 / c->sampled,
                   100 * c->error);
    page_wrap(a, p, ROLE_DIM, 1, w - 1, b.s ? b.s : "", -1);
    buf_free(&b);
}

/* ---- footprints ---- */
static bool over_l1(const double *bytes, double l1)
{
    return bytes[ANA_LEVEL_SM] > l1;
}

static void put_extent(struct app *a, const char *name, enum role role, const double *bytes, double l1)
{
    struct row r = { .arena = a->frame };
    char text[TEXT_NUM];
    row_put(&r, role, "   %-15.15s", name);
    for (int l = 0; l < ANA_LEVEL_COUNT; l++) {
        text_bytes(text, bytes[l]);
        row_right(&r,
                  isnan(bytes[l])                           ? ROLE_DIM
                  : l == ANA_LEVEL_SM && over_l1(bytes, l1) ? ROLE_WARN
                  : role == ROLE_TITLE                      ? ROLE_TITLE
                                                            : ROLE_VALUE,
                  11, "%s", isnan(bytes[l]) ? "none" : text);
    }
    if (!isnan(l1) && !isnan(bytes[ANA_LEVEL_SM])) {
        row_right(&r, over_l1(bytes, l1) ? ROLE_WARN : ROLE_VALUE, 8, "%.0f %%",
                  bytes[ANA_LEVEL_SM] / l1 * 100);
        row_put(&r, ROLE_TEXT, " ");
        row_bar(&r, over_l1(bytes, l1) ? ROLE_WARN : ROLE_L1, 8, bytes[ANA_LEVEL_SM] / l1);
    }
    page_add(a, &a->page[PANEL_LOCALITY], &r, -1);
}

static void put_columns(struct app *a, const char *title)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %-17s", title);
    for (int l = 0; l < ANA_LEVEL_COUNT; l++)
        row_right(&r, ROLE_LABEL, 11, "%s", ana_level_name((enum ana_level)l));
    row_put(&r, ROLE_LABEL, "   of L1");
    page_add(a, &a->page[PANEL_LOCALITY], &r, -1);
}

static void put_windows(struct app *a, const struct ana_curve *c, unsigned w)
{
    char sm[TEXT_NUM];
    for (int i = 0; i < ANA_WINDOWS; i++) {
        const struct ana_window *v = &c->window[i];
        struct row r = { .arena = a->frame };
        if (isnan(v->bytes[ANA_LEVEL_SM]))
            continue;
        text_bytes(sm, v->bytes[ANA_LEVEL_SM]);
        row_put(&r, ROLE_LABEL, "   for %2.0f %% of the reuse", v->share * 100);
        row_put(&r, ROLE_VALUE, " an SM needs %s", sm);
        if (v->pi_fit >= 0)
            row_put(&r, ROLE_NOTE, "  L1 holds that of %d warps a CTA (π)", v->pi_fit);
        page_flow(a, &a->page[PANEL_LOCALITY], &r, 5, w, -1);
    }
}

void curve_arrays(struct app *a, unsigned w)
{
    const struct ana_curve *c = ready(a, w);
    struct page *p = &a->page[PANEL_LOCALITY];
    char l1[TEXT_NUM], share[TEXT_NUM];
    if (!c)
        return;
    put_columns(a, "bytes asked for");
    for (uint32_t i = 0; i < c->narrays; i++)
        put_extent(a, c->array[i].name ? c->array[i].name : "(unknown)", ROLE_SYMBOL,
                   c->array[i].extent.touched, NAN);
    put_extent(a, "all", ROLE_TITLE, c->extent.touched, c->l1_bytes);
    page_blank(a, p);
    put_columns(a, "needed for reuse");
    for (uint32_t i = 0; i < c->narrays; i++)
        put_extent(a, c->array[i].name ? c->array[i].name : "(unknown)", ROLE_SYMBOL,
                   c->array[i].extent.window, c->l1_bytes);
    put_extent(a, "all", ROLE_TITLE, c->extent.window, c->l1_bytes);
    page_say(a, p, ROLE_DIM, 3, w - 1,
             "needed: cache size for nine tenths of the reuse; of an array: its own lines only; none: "
             "nothing is loaded twice");
    put_windows(a, c, w);
    if (isnan(c->l1_bytes))
        return;
    text_bytes(l1, c->l1_bytes);
    text_bytes(share, c->cache_share);
    page_say(a, p, ROLE_LABEL, 3, w - 1, "L1 of %s among %u resident CTAs: %s a thread", l1, c->resident,
             share);
}

/* ---- keys ---- */
unsigned curve_cursor(struct app *a, int by)
{
    const struct ana_curve *c = curve_of(a);
    double at[SIZES_MOST];
    size_t n = c ? sizes(c, at) : 0;
    if (!n || a->locality.part != LOCALITY_CURVE)
        return 0;
    size_t now = cursor_at(a, c, at, n);
    a->locality.cursor = by < 0 ? now - (now > 0) : now + (now + 1 < n);
    a->locality.placed = true;
    return UI_REDRAW;
}

/* Round through the loads that were traced; before the first and after the last: none. */
unsigned curve_load(struct app *a, int by)
{
    const struct ana_curve *c = curve_of(a);
    int i = a->locality.access;
    if (!c || a->locality.part != LOCALITY_CURVE)
        return 0;
    do {
        i = i + by < -1 ? (int)c->naccess - 1 : i + by >= (int)c->naccess ? -1 : i + by;
    } while (i >= 0 && !c->access[i].total);
    a->locality.access = i;
    return UI_REDRAW;
}

void curve_csv(struct app *a, struct buf *out)
{
    const struct ana_curve *c = curve_of(a);
    double at[SIZES_MOST], split[ANA_FROM_COUNT];
    size_t n = c ? sizes(c, at) : 0;
    buf_puts(out, "bytes,miss_ratio,hit_same_warp,hit_same_cta,hit_other_cta\n");
    for (size_t i = 0; i < n; i++) {
        double miss = ana_miss_ratio(&c->all, at[i], split);
        buf_printf(out, "%.0f,%.6g,%.6g,%.6g,%.6g\n", at[i], miss, split[ANA_FROM_WARP],
                   split[ANA_FROM_CTA], split[ANA_FROM_OTHER]);
    }
}
