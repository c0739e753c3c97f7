/* plot: names, values, ranges. */
#include "tui/model/plot.h"

#include <math.h>
#include <stdio.h>

const char *plot_metric_name(enum plot_metric m)
{
    static const char *const names[METRIC_COUNT] = { "time", "speed-up over cha", "L1 hit rate", "DRAM read" };
    return names[m];
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
    case METRIC_HIT: text_percent(out, v); break;
    case METRIC_DRAM: text_bytes(out, v); break;
    default:
        if (isnan(v))
            snprintf(out, TEXT_NUM, "n/a");
        else
            snprintf(out, TEXT_NUM, "%.2fx", v);
    }
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
