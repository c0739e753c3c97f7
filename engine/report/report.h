/* report: a session as pictures (SVG) and as a page (Markdown, HTML). */
#pragma once

#include "engine/rec/result_read.h"

struct tune_sweep;

struct session;
struct session_run;

/* ---- chart.c: lines over a shared axis of named places, drawn from zero ---- */
#define CHART_SERIES 8
#define CHART_LEVELS 2
struct chart_series {
    const char *name; /* in the legend; NULL: none */
    const char *colour;
    /* n values, NaN: none there; low and high NULL: no spread */
    const double *y;
    const double *low;
    const double *high;
    const bool *wrong; /* n: drawn as a mistake (outputs differ); NULL: none is */
    size_t n;          /* at most chart.n */
    /* steps: a line that keeps its height until the next place */
    bool dots;
    bool line;
    bool steps;
};
struct chart_level {
    const char *name, *colour;
    double y;
}; /* a dashed line across; NaN: not there */
struct chart {
    /* unit: of y, for the texts at the points */
    const char *title;
    const char *xlabel;
    const char *unit;
    double top; /* of the axis; 0: from the values */
    size_t n;   /* places on the x axis */
    void (*name)(const void *ctx, size_t i, char *text, size_t size);
    const void *ctx;
    struct chart_series series[CHART_SERIES];
    size_t nseries;
    struct chart_level level[CHART_LEVELS];
    bool has_mark;
    size_t mark;             /* the place of the first series that is named in the picture */
    const char *mark_prefix; /* before its name: "π=" */
};
#define REPORT_CHART_HEIGHT 360.0
/* A whole <svg> element, 640 by 360. */
void report_chart(const struct chart *c, struct buf *out);
/* Text with what XML reserves written out. */
void report_xml(struct buf *out, const char *text);

/* ---- figure.c: charts of runs; each appends one <svg>, or nothing where there is nothing to draw ----
 */
/* points with their spread, bpa and cha, the best named */
void report_sweep_time(const struct session_run *r, struct buf *out);
/* hit rates of L1 and L2 over the same axis */
void report_sweep_rates(const struct session_run *r, struct buf *out);
/* what was tried, in order, and the best so far */
void report_search(const struct session_run *r, struct buf *out);
/* two or more sweeps over π, each over its own cha */
void report_compare(struct session *s, struct buf *out);

/* ---- roofline.c ---- */
struct roofline;
/* Nothing where no operation was counted. */
void report_roofline(const struct roofline *f, struct buf *out);

/* ---- page.c ---- */
/* What a page is written with: one row per format, write.c. */
struct report_writer {
    void (*begin)(struct buf *out, const char *title);
    void (*heading)(struct buf *out, unsigned level, const char *text);
    void (*para)(struct buf *out, const char *text);
    /* as it stands */
    void (*pre)(struct buf *out, const char *language, const char *text);
    /* opens a table */
    void (*head)(struct buf *out, const char *const *cell, size_t n);
    /* code: the first cell is one */
    void (*row)(struct buf *out, const char *const *cell, size_t n, bool code, bool bold);
    /* closes it */
    void (*tail)(struct buf *out);
    /* empty: nothing */
    void (*svg)(struct buf *out, const char *svg);
    /* what follows, until unfold, is for who asks */
    void (*fold)(struct buf *out, const char *summary);
    void (*unfold)(struct buf *out);
    void (*end)(struct buf *out);
    /* takes text plots instead of pictures */
    bool plots;
};
extern const struct report_writer report_markdown, report_html, report_lines;
/* The whole session. Rewrites the kept PTX for what each run recommends, to show the difference.
 * ST_CANCELLED: `cancel` was asked (NULL: none can be), and what stands in *out is no whole page. */
enum status report_page(struct session *s, const struct report_writer *w, const struct cancel *cancel,
                        struct buf *out);

/* The same summary above the curve of the newest sweep, else search, as one <svg>; nothing where there is
 * neither. */
enum status report_picture(struct session *s, const struct cancel *cancel, struct buf *out);

/* ---- picture.c ---- */
/* What report_lines wrote, drawn above a curve (empty: none). */
void report_drawn(const struct buf *lines, const struct buf *curve, struct buf *out);
void report_newest_curve(struct session *s, struct buf *out);

/* ---- summary.c ---- */
struct ptx_module;
struct run_originals;
/* What limits each original of the session, where, what to try, what was gained over it. m: NULL where
 * the session holds no text. */
void report_summary(struct session *s, const struct run_originals *originals, const struct ptx_module *m,
                    const struct report_writer *w, const struct cancel *cancel, struct buf *out);

/* ---- banks.c ---- */
struct ana_kernel;
/* The section on shared memory; nothing where the kernel makes no request to it that was counted. */
void report_shared(const struct ana_kernel *k, const struct report_writer *w, struct buf *out);

/* ---- text_plot.c ---- */
/* Text plot of a sweep: `width` columns; utf8 false: ASCII. */
void report_text_plot(const struct tune_sweep *s, unsigned width, unsigned height, bool utf8,
                      struct buf *out);
/* What stands for point i of a sweep on its axis, as it is written on the command line; "?": out of
 * memory. */
void report_point_name(const struct tune_sweep *s, size_t i, char *name, size_t n);
/* Copies the loads' counts, those first that bring most past L1. Returns the sectors that all of them
 * bring. */
uint64_t report_loads_hottest(const struct result *r, struct load_counts v[RESULT_MAX_LOADS]);

/* The longest median time of a sweep, nanoseconds; -INFINITY: nothing has a time. */
double report_slowest_ns(const struct tune_sweep *s);

/* ---- shared ---- */
/* Calls fn for every configuration of a run, in order: bpa and cha of a sweep over π first. */
void report_each(const struct session_run *r, void (*fn)(void *ctx, const struct result *x), void *ctx);
static inline bool report_has_time(const struct result *r)
{
    return result_status(r) == ST_OK && result_time(r)->valid;
}
struct time_scale report_unit(const struct session_run *r); /* by the longest time of the run */
const char *report_origin(const struct session_run *r);     /* "simulated", "measured" */
/* What the times of the run rest on: "simulated, sampled"; of both kinds: "simulated". */
const char *report_evidence(const struct session_run *r);
/* "yes", "no", "n/a": outputs equal to the original's. */
const char *report_equal(const struct result *r);
