/* Sweeps and loads as plain text. */
#include "engine/rec/knobs.h"
#include "engine/report/report.h"
#include "engine/tune/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- plot ---- */
struct frame {
    double low, high;
    struct time_scale unit;
    unsigned width, height;
    bool utf8;
};

static unsigned row_of(const struct frame *f, double t)
{
    double share = f->high > f->low ? (t - f->low) / (f->high - f->low) : 0;
    return (unsigned)lround((1 - share) * (f->height - 1));
}

static void widen(struct frame *f, const struct result *r)
{
    if (!report_has_time(r))
        return;
    f->low = fmin(f->low, (double)result_time(r)->median);
    f->high = fmax(f->high, (double)result_time(r)->median);
}

static struct frame frame_of(const struct tune_sweep *s, unsigned width, unsigned height, bool utf8)
{
    struct frame f = {
        .low = INFINITY, .high = -INFINITY, .width = width, .height = height, .utf8 = utf8
    };
    widen(&f, s->bpa);
    widen(&f, s->cha);
    for (size_t i = 0; i < s->npoints; i++)
        widen(&f, result_at(s->points, i));
    f.unit = time_scale_for(f.high);
    return f;
}

double report_slowest_ns(const struct tune_sweep *s)
{
    return frame_of(s, 0, 0, false).high;
}

static const char *cell_mark(const struct tune_sweep *s, const struct frame *f, size_t i, unsigned row)
{
    if (i < s->npoints && report_has_time(result_at(s->points, i)) &&
        row_of(f, (double)result_time(result_at(s->points, i))->median) == row) {
        bool best = s->has_best && i == s->best;
        return result_equal(result_at(s->points, i)) == EQUAL_NO ? "!"
               : best                                            ? (f->utf8 ? "◆" : "*")
               : f->utf8                                         ? "●"
                                                                 : "o";
    }
    if (report_has_time(s->bpa) && row_of(f, (double)result_time(s->bpa)->median) == row)
        return f->utf8 ? "╌" : "-";
    if (report_has_time(s->cha) && row_of(f, (double)result_time(s->cha)->median) == row)
        return f->utf8 ? "┄" : ".";
    return " ";
}

/* As many decimals as tell neighbouring rows apart: times are whole nanoseconds, so the unit's own
 * digits at most. */
static int plot_decimals(const struct frame *f)
{
    double step = (f->high - f->low) / (f->height > 1 ? f->height - 1 : 1) / f->unit.ns;
    int most = f->unit.ns > 1e3 ? 6 : 3, n = f->unit.decimals;
    while (step > 0 && n < most && step < pow(10, -n))
        n++;
    return n;
}

static void plot_row(const struct tune_sweep *s, const struct frame *f, size_t n, unsigned step,
                     unsigned row, struct buf *out)
{
    double t = f->high - (f->high - f->low) * row / (f->height > 1 ? f->height - 1 : 1);
    buf_printf(out, "%9.*f %s", plot_decimals(f), t / f->unit.ns, f->utf8 ? "┤" : "|");
    for (size_t i = 0; i < n; i++) {
        const char *mark = cell_mark(s, f, i, row);
        bool line = strcmp(mark, f->utf8 ? "╌" : "-") == 0 || strcmp(mark, f->utf8 ? "┄" : ".") == 0;
        for (unsigned k = 0; k < step; k++)
            buf_puts(out, k == step / 2 || line ? mark : " ");
    }
    if (report_has_time(s->bpa) && row_of(f, (double)result_time(s->bpa)->median) == row)
        buf_puts(out, " bpa");
    if (report_has_time(s->cha) && row_of(f, (double)result_time(s->cha)->median) == row)
        buf_puts(out, " cha");
    buf_puts(out, "\n");
}

void report_point_name(const struct tune_sweep *s, size_t i, char *name, size_t n)
{
    struct buf b = { 0 };
    int knob = knob_find(str_of(s->axis));
    if (knob >= 0)
        knob_get(result_options(result_at(s->points, i)), (size_t)knob, &b);
    if (strcmp(s->axis, "block") == 0 && b.n > 2 && strcmp(b.s + b.n - 2, "x1") == 0)
        b.s[b.n - 2] = '\0';
    snprintf(name, n, "%s", b.oom ? "?" : b.s ? b.s : "");
    buf_free(&b);
}

/* Columns of the widest value, and so how far apart points are drawn: 2 to 5 for numbers, wider where
 * names want it and there is room. */
static unsigned plot_step(const struct tune_sweep *s, unsigned width, unsigned *label)
{
    unsigned room = (unsigned)((width - 18) / s->npoints);
    *label = 1;
    for (size_t i = 0; i < s->npoints; i++) {
        char name[24];
        report_point_name(s, i, name, sizeof name);
        *label = strlen(name) > *label ? (unsigned)strlen(name) : *label;
    }
    unsigned step = *label + 1 > 5 ? *label + 1 : 5;
    return room < 2 ? 2 : step > room ? room : step;
}

/* The points' values under their columns; as many as there is room for. */
static void plot_labels(const struct tune_sweep *s, unsigned step, unsigned label, bool utf8,
                        struct buf *out)
{
    unsigned every = (label + step) / step;
    size_t at = 0;
    if (strcmp(s->axis, "pi") == 0)
        buf_puts(out, utf8 ? "        π  " : "       pi  ");
    else
        buf_printf(out, "%9.9s  ", s->axis);
    for (size_t i = 0; i < s->npoints; i += every) {
        char name[24];
        report_point_name(s, i, name, sizeof name);
        size_t n = strlen(name), mid = i * step + step / 2,
               from = mid > (n - 1) / 2 ? mid - (n - 1) / 2 : 0;
        for (; at < from; at++)
            buf_puts(out, " ");
        buf_puts(out, name);
        at += n;
    }
    buf_puts(out, "\n");
}

void report_text_plot(const struct tune_sweep *s, unsigned width, unsigned height, bool utf8,
                      struct buf *out)
{
    struct frame f = frame_of(s, width, height, utf8);
    size_t n = s->npoints;
    unsigned label;
    if (!n || !(f.high >= f.low))
        return;
    unsigned step = plot_step(s, width, &label);
    buf_printf(out, "  time %s\n", f.unit.name);
    for (unsigned row = 0; row < height; row++)
        plot_row(s, &f, n, step, row, out);
    buf_printf(out, "%9s %s", "", utf8 ? "└" : "+");
    for (size_t i = 0; i < n * step; i++)
        buf_puts(out, utf8 ? "─" : "-");
    buf_puts(out, "\n");
    plot_labels(s, step, label, utf8, out);
}

/* The loads by what they bring past L1, most first: that is where a byte saved counts. */
static int by_missed(const void *x, const void *y)
{
    const struct load_counts *a = x, *b = y;
    uint64_t p = a->sectors - a->l1_hits, q = b->sectors - b->l1_hits;
    return p != q ? p < q ? 1 : -1 : (a->line > b->line) - (a->line < b->line);
}

uint64_t report_loads_hottest(const struct result *r, struct load_counts v[RESULT_MAX_LOADS])
{
    uint64_t missed = 0;
    memcpy(v, result_loads(r), result_nloads(r) * sizeof *v);
    qsort(v, result_nloads(r), sizeof *v, by_missed);
    for (uint32_t i = 0; i < result_nloads(r); i++)
        missed += v[i].sectors - v[i].l1_hits;
    return missed;
}
