/* plot: names, values, ranges. */
#include "tui/base/plot_model.h"

#include "tui/base/text.h"

#include <math.h>
#include <stdio.h>

const char *plot_metric_name(enum plot_metric m)
{
    static const char *const names[] = { "time", "speed against all cache", "L1 hit rate",
                                         "DRAM bytes read", "misses" };
    return names[m];
}

const char *plot_metric_word(enum plot_metric m)
{
    static const char *const words[METRIC_COUNT] = { "time", "speed", "hits", "dram" };
    return m < METRIC_COUNT ? words[m] : "misses";
}

bool plot_less_is_better(enum plot_metric m)
{
    return m == METRIC_TIME || m == METRIC_DRAM || m == METRIC_MISS;
}

const char *plot_style_name(enum plot_style s)
{
    static const char *const names[] = { "braille", "block", "ascii" };
    return names[s];
}

void plot_value(enum plot_metric m, double v, char *out)
{
    switch (m) {
    case METRIC_TIME: text_time(out, v); break;
    case METRIC_HIT:
    case METRIC_MISS: text_percent(out, v); break;
    case METRIC_DRAM: text_bytes(out, v); break;
    default:
        if (isnan(v))
            snprintf(out, TEXT_NUM, "n/a");
        else
            snprintf(out, TEXT_NUM, "%.2fx", v);
    }
}

/* The unit in which a value of this size is written, and how much it is. */
static double unit_of(enum plot_metric m, double top, const char **name)
{
    static const char *const times[] = { " ns", " µs", " ms", " s" }, *const sizes[] = { " B", " KiB",
                                                                                         " MiB", " GiB",
                                                                                         " TiB" };
    const char *const *names = m == METRIC_TIME ? times : sizes;
    double base = m == METRIC_TIME ? 1000 : 1024, unit = 1;
    size_t i = 0, n = m == METRIC_TIME ? ARRAY_LEN(times) : ARRAY_LEN(sizes);
    *name = m == METRIC_SPEEDUP ? "x" : " %";
    if (m != METRIC_TIME && m != METRIC_DRAM)
        return 1;
    for (; top / unit >= base && i + 1 < n; i++)
        unit *= base;
    *name = names[i];
    return unit;
}

double plot_step(enum plot_metric m, double range, double top, int most)
{
    static const double by[] = { 1, 2, 5, 10 };
    const char *name;
    double unit = unit_of(m, top, &name), step = pow(10, floor(log10(range / unit / most))) * unit;
    for (size_t i = 0; i < ARRAY_LEN(by); i++)
        if (range / (step * by[i]) <= most)
            return step * by[i];
    return step * 20;
}

/* All of 1-2-5 times powers of ten between lo and hi that `pick` holds (bits: 1, 2, 5). */
static size_t log_ticks(double lo, double hi, double unit, unsigned pick, double *out)
{
    static const double by[] = { 1, 2, 5 };
    size_t n = 0;
    for (double ten = pow(10, floor(log10(lo / unit))) * unit; ten <= hi; ten *= 10)
        for (size_t i = 0; i < ARRAY_LEN(by); i++) {
            double y = ten * by[i];
            if (!(pick & (1u << i)) || y < lo * (1 - 1e-9) || y > hi * (1 + 1e-9))
                continue;
            if (n < PLOT_TICKS_MOST)
                out[n] = y;
            n++;
        }
    return n;
}

size_t plot_log_ticks(enum plot_metric m, double lo, double hi, int most, double out[PLOT_TICKS_MOST])
{
    static const unsigned picks[] = { 7, 5, 1 }; /* 1 2 5, 1 5, 1 */
    const char *name;
    double unit = unit_of(m, lo, &name);
    if (!(lo > 0) || !(hi > lo) || hi / lo > 1e60)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(picks); i++) {
        size_t n = log_ticks(lo, hi, unit, picks[i], out);
        if (n <= (size_t)most && n <= PLOT_TICKS_MOST)
            return n;
    }
    size_t n = log_ticks(lo, hi, unit, 1, out), every = 1, kept = 0;
    n = n > PLOT_TICKS_MOST ? PLOT_TICKS_MOST : n;
    while (n / every > (size_t)most)
        every++;
    for (size_t i = 0; i < n && kept < (size_t)most; i += every)
        out[kept++] = out[i];
    return kept;
}

void plot_tick(enum plot_metric m, double v, double step, double top, char *out)
{
    const char *name;
    double unit = unit_of(m, top, &name);
    int digits = (int)ceil(-log10(step / unit) - 1e-9);
    snprintf(out, TEXT_NUM, "%.*f%s", digits < 0 ? 0 : digits > 4 ? 4 : digits, v / unit, name);
}

static void widen(double v, double *lo, double *hi)
{
    if (!isfinite(v))
        return;
    if (v < *lo)
        *lo = v;
    if (v > *hi)
        *hi = v;
}

static void x_range(struct plot *p, double zoom)
{
    double lo = INFINITY, hi = -INFINITY;
    for (unsigned s = 0; s < p->nseries; s++)
        for (size_t i = 0; i < p->series[s].n; i++)
            widen(p->series[s].x[i], &lo, &hi);
    if (!isfinite(lo))
        lo = 0, hi = 1;
    if (zoom > 1 && p->has_cursor) {
        double half = (hi - lo) / zoom / 2, mid = p->cursor;
        mid = mid - half < lo ? lo + half : mid + half > hi ? hi - half : mid;
        lo = mid - half, hi = mid + half;
    }
    p->x0 = lo;
    p->x1 = hi > lo ? hi : lo + 1;
}

/* A curve that hardly moves is to look flat: at least five parts of a hundred are shown, of shares two; of nothing
 * at all one. */
static void least_span(enum plot_metric m, double *lo, double *hi)
{
    double least = m == METRIC_HIT    ? 2
                   : m == METRIC_MISS ? 0
                   : *hi == 0         ? 1
                                      : 0.05 * fabs(*hi),
           more = (least - (*hi - *lo)) / 2;
    if (!(more > 0))
        return;
    more = *lo >= 0 && more > *lo ? *lo : more; /* nothing is below zero */
    *lo -= more;
    *hi = *lo + least;
}

void plot_range(struct plot *p, double zoom)
{
    double lo = INFINITY, hi = -INFINITY;
    x_range(p, zoom);
    for (unsigned s = 0; s < p->nseries; s++)
        for (size_t i = 0; i < p->series[s].n; i++) {
            const struct plot_series *v = &p->series[s];
            if (v->x[i] < p->x0 - 1e-9 || v->x[i] > p->x1 + 1e-9)
                continue;
            widen(v->y[i], &lo, &hi);
            if (v->low)
                widen(v->low[i], &lo, &hi), widen(v->high[i], &lo, &hi);
        }
    for (unsigned i = 0; i < p->nrefs; i++)
        widen(p->ref[i].y, &lo, &hi);
    if (!isfinite(lo))
        lo = 0, hi = 1;
    least_span(p->metric, &lo, &hi);
    p->log_y = p->log_y && lo > 0;
    if (p->log_y) {
        p->y0 = lo / pow(hi / lo, 0.08) / 1.0001;
        p->y1 = hi * pow(hi / lo, 0.08) * 1.0001;
    } else {
        double air = hi > lo ? (hi - lo) * 0.08 : fabs(hi) * 0.1 + 1e-9;
        p->y0 = lo >= 0 && lo - air < 0 ? 0 : lo - air;
        p->y1 = hi + air;
    }
}
