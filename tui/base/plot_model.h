/* plot: the view-model of a curve plot: numbers, labels and roles, no drawing. */
#pragma once

#include "engine/base/base.h"
#include "tui/base/theme.h"

enum plot_style { PLOT_BRAILLE, PLOT_BLOCK, PLOT_ASCII };
/* MISS: of the locality panel, not among those of a sweep */
enum plot_metric {
    METRIC_TIME,
    METRIC_SPEEDUP,
    METRIC_HIT,
    METRIC_DRAM,
    METRIC_COUNT,
    METRIC_MISS = METRIC_COUNT
};
const char *plot_metric_name(enum plot_metric m);
const char *plot_metric_word(
    enum plot_metric m); /* "time", "speed", "hits", "dram": for :metric and checks */
const char *plot_style_name(enum plot_style s);
/* A value of a metric as text with its unit; out at least TEXT_NUM bytes. */
void plot_value(enum plot_metric m, double v, char *out);
/* Is less of it better? */
bool plot_less_is_better(enum plot_metric m);
/* A step that gives at most `most` ticks: 1, 2 or 5 times a power of ten in the metric's unit at `top`.
 */
double plot_step(enum plot_metric m, double range, double top, int most);
/* Ticks of a logarithmic axis from lo to hi: 1, 2 or 5 times powers of ten of the metric's unit, at most
 * `most` of them, in rising order. Returns how many; fewer than two where none lie so: a linear step
 * does then. */
#define PLOT_TICKS_MOST 16
size_t plot_log_ticks(enum plot_metric m, double lo, double hi, int most, double out[PLOT_TICKS_MOST]);
/* A tick of an axis that ends at `top` with ticks `step` apart: all in one unit, with as many digits as
 * tell them apart. */
void plot_tick(enum plot_metric m, double v, double step, double top, char *out);

/* Arrays are the frame arena's. NaN marks a point without a value. */
struct plot_series {
    const char *name;
    enum role line, point;
    size_t n;
    /* low..high: noise band; NULL: exact */
    double *x;
    double *y;    /* values */
    double *low;  /* noise band; NULL: exact */
    double *high; /* noise band; NULL: exact */
    bool *bad;    /* wrong results or refused: drawn as a cross; NULL: none */
    /* timed from a whole launch among points from samples: drawn as a diamond; NULL: all alike */
    bool *whole;
    bool dotted;
    bool no_points;
    bool no_line;
};
struct plot_ref {
    const char *name;
    double y;
    enum role role;
}; /* horizontal line */
struct plot_bar {
    const char *name;
    double x;
    enum role role;
}; /* vertical line */
struct plot_mark {
    const char *name;
    double x, y;
    enum role role;
    bool below;
};
#define PLOT_MAX_SERIES 6
#define PLOT_MAX_REFS   4
#define PLOT_MAX_MARKS  8
#define PLOT_MAX_BARS   4
struct plot {
    struct plot_series series[PLOT_MAX_SERIES];
    unsigned nseries;
    struct plot_ref ref[PLOT_MAX_REFS];
    unsigned nrefs;
    struct plot_mark mark[PLOT_MAX_MARKS];
    unsigned nmarks;
    struct plot_bar bar[PLOT_MAX_BARS];
    unsigned nbars;
    /* empty: what to say when there is nothing to plot */
    const char *xname;
    const char *yname;
    const char *empty;
    char **tick;
    size_t nticks; /* names of x = 0, 1, ...; NULL: numbers */
    /* what is shown */
    double x0;
    double x1;
    double y0;
    double y1;
    bool log_y, has_cursor;
    double cursor;
    enum plot_metric metric;
    enum plot_style style;
};
/* Sets x0..y1 so that every finite value fits, with a little air. zoom 1: all; 2: half the width around
 * the cursor ... */
void plot_range(struct plot *p, double zoom);
