/* plot: the view-model of a curve plot: numbers, labels and roles, no drawing. */
#ifndef GPULOCW_TUI_PLOT_H
#define GPULOCW_TUI_PLOT_H

#include "tui/model/text.h"

enum plot_style { PLOT_BRAILLE, PLOT_BLOCK, PLOT_ASCII };
enum plot_metric { METRIC_TIME, METRIC_SPEEDUP, METRIC_HIT, METRIC_DRAM, METRIC_COUNT };
const char *plot_metric_name(enum plot_metric m);
const char *plot_style_name(enum plot_style s);
/* A value of a metric as text with its unit; out at least TEXT_NUM bytes. */
void plot_value(enum plot_metric m, double v, char *out);

/* Arrays are the frame arena's. NaN marks a point without a value. */
struct plot_series {
    const char *name;
    enum role line, point;
    size_t n;
    double *x, *y, *low, *high;  /* low..high: noise band; NULL: exact */
    bool *bad;                   /* wrong results or refused: drawn as a cross; NULL: none */
    bool dotted, no_points;
};
struct plot_ref { const char *name; double y; enum role role; };      /* horizontal line */
struct plot_mark { const char *name; double x, y; enum role role; bool below; };
#define PLOT_MAX_SERIES 6
#define PLOT_MAX_REFS 4
#define PLOT_MAX_MARKS 8
struct plot {
    struct plot_series series[PLOT_MAX_SERIES]; unsigned nseries;
    struct plot_ref ref[PLOT_MAX_REFS]; unsigned nrefs;
    struct plot_mark mark[PLOT_MAX_MARKS]; unsigned nmarks;
    const char *xname, *yname, *empty;   /* empty: what to say when there is nothing to plot */
    char **tick; size_t nticks;          /* names of x = 0, 1, ...; NULL: numbers */
    double x0, x1, y0, y1;               /* what is shown */
    bool log_y, has_cursor;
    double cursor;
    enum plot_metric metric;
    enum plot_style style;
};
/* Sets x0..y1 so that every finite value fits, with a little air. zoom 1: all; 2: half the width around the cursor ... */
void plot_range(struct plot *p, double zoom);

#endif
