/* export: see export.h. */
#include "engine/session/run.h"
#include "tui/control/export.h"

#include "engine/base/shown.h"
#include "engine/rec/result_read.h"
#include "engine/session/documents.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/workspace.h"
#include "tui/app/app.h"
#include "tui/app/results/provenance.h"
#include "tui/app/results/run_line.h"
#include "tui/app/reuse.h"
#include "tui/base/text.h"
#include "tui/control/panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void put_row(const struct row_span *v, unsigned n, struct buf *out)
{
    size_t end = out->n;
    for (unsigned i = 0; i < n; i++)
        buf_str(out, v[i].s);
    while (out->n > end && out->s[out->n - 1] == ' ')
        out->s[--out->n] = '\0';
    buf_puts(out, "\n");
}

static void put_points(struct app *a, enum panel_id panel, struct buf *out)
{
    struct plot p;
    char v[TEXT_NUM];
    if (!view_of(panel)->plot || !view_of(panel)->plot(a, &p))
        return;
    if (!p.nseries) {
        if (p.empty && *p.empty)
            buf_printf(out, "%s\n", p.empty);
        return;
    }
    buf_printf(out, "%s; %s\n", p.xname, p.yname);
    for (unsigned i = 0; i < p.nrefs; i++) {
        plot_value(p.metric, p.ref[i].y, v);
        buf_printf(out, "  %-8s %s\n", p.ref[i].name, v);
    }
    for (unsigned i = 0; i < p.nbars; i++)
        buf_printf(out, "  %s\n", p.bar[i].name);
    for (size_t i = 0; i < p.series[0].n; i++) {
        double x = p.series[0].x[i];
        bool named = p.tick && x >= 0 && x == floor(x) && x < (double)p.nticks;
        if (p.tick && !named)
            continue; /* a curve between its ticks */
        plot_value(p.metric, p.series[0].y[i], v);
        if (named)
            buf_printf(out, "  %-8s %s", p.tick[(size_t)x], v);
        else
            buf_printf(out, "  %-8g %s", p.series[0].x[i], v);
        for (unsigned m = 0; m < p.nmarks; m++)
            if (p.mark[m].x == p.series[0].x[i])
                buf_printf(out, "  <- %s", p.mark[m].name);
        buf_puts(out, "\n");
    }
}

void export_text(struct app *a, enum panel_id p, unsigned w, struct buf *out)
{
    const struct view *v = view_of(p);
    struct row r = { .arena = a->frame };
    v->update(a, w, 1000);
    if (v->head) {
        v->head(a, w, &r);
        put_row(r.v, r.n, out);
    }
    put_points(a, p, out);
    for (size_t i = 0; i < a->list[p].count; i++) {
        view_line(a, p, i, w, &r);
        put_row(r.v, r.n, out);
    }
    for (size_t i = 0; i < a->chart[p].n; i++)
        put_row(a->chart[p].line[i].v, a->chart[p].line[i].n, out);
}

/* ---- SVG ---- */
#define SVG_W  800.0
#define SVG_H  440.0
#define LEFT   90.0
#define RIGHT  20.0
#define TOP    30.0
#define BOTTOM 60.0

static double sx(const struct plot *p, double x)
{
    return LEFT + (x - p->x0) / (p->x1 - p->x0) * (SVG_W - LEFT - RIGHT);
}

static double sy(const struct plot *p, double y)
{
    double share = p->log_y ? log(y / p->y0) / log(p->y1 / p->y0) : (y - p->y0) / (p->y1 - p->y0);
    return SVG_H - BOTTOM - share * (SVG_H - TOP - BOTTOM);
}

static void svg_colour(const struct app *a, enum role role, char out[8])
{
    struct colour c = a->theme.look[role].fg;
    if (c.kind == COLOUR_RGB)
        snprintf(out, 8, "#%02x%02x%02x", c.r, c.g, c.b);
    else
        snprintf(out, 8, "#888888");
}

static void svg_text(struct buf *out, double x, double y, const char *anchor, const char *colour,
                     const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
    for (const char *s = text; *s; s++)
        *s == '<' ? buf_puts(out, "&lt;") : *s == '&' ? buf_puts(out, "&amp;") : buf_put(out, s, 1);
    buf_puts(out, "</text>\n");
}

static void svg_series(const struct app *a, const struct plot *p, const struct plot_series *s,
                       struct buf *out)
{
    char c[8];
    svg_colour(a, s->line, c);
    buf_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s points=\"", c,
               s->dotted ? " stroke-dasharray=\"4 4\"" : "");
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(s->y[i]))
            buf_printf(out, "%.1f,%.1f ", sx(p, s->x[i]), sy(p, s->y[i]));
    buf_puts(out, "\"/>\n");
    svg_colour(a, s->point, c);
    for (size_t i = 0; i < s->n && !s->no_points; i++) {
        if (isnan(s->y[i]))
            continue;
        if (s->low && s->high[i] > s->low[i])
            buf_printf(out, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"/>\n",
                       sx(p, s->x[i]), sx(p, s->x[i]), sy(p, s->low[i]), sy(p, s->high[i]), c);
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", sx(p, s->x[i]),
                   sy(p, s->y[i]), c);
    }
}

static void svg_axes(const struct plot *p, struct buf *out)
{
    char v[TEXT_NUM];
    buf_printf(out, "<path d=\"M%g %g V%g H%g\" fill=\"none\" stroke=\"#888888\"/>\n", LEFT, TOP,
               SVG_H - BOTTOM, SVG_W - RIGHT);
    for (int i = 0; i <= 4; i++) {
        double y = p->log_y ? p->y0 * pow(p->y1 / p->y0, i / 4.0) : p->y0 + (p->y1 - p->y0) * i / 4;
        plot_value(p->metric, y, v);
        svg_text(out, LEFT - 8, sy(p, y) + 4, "end", "#888888", v);
    }
    double step = ceil((p->x1 - p->x0) / 16);
    for (double x = ceil(p->x0); x <= p->x1 + 1e-9; x += step > 0 ? step : 1) {
        snprintf(v, sizeof v, "%g", x);
        bool named = p->tick && x >= 0 && (size_t)x < p->nticks;
        svg_text(out, sx(p, x), SVG_H - BOTTOM + 18, "middle", "#888888",
                 named ? p->tick[(size_t)x] : v);
    }
    svg_text(out, (LEFT + SVG_W - RIGHT) / 2, SVG_H - 14, "middle", "#888888", p->xname);
    svg_text(out, LEFT, 18, "start", "#888888", p->yname);
}

/* The valley plot as a standalone SVG image. */
static void export_svg(struct app *a, struct buf *out)
{
    struct plot p;
    char c[8];
    view_plot(a, &p);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
               "font-family=\"monospace\" font-size=\"13\">\n",
               SVG_W, SVG_H);
    buf_puts(out, "<rect width=\"100%\" height=\"100%\" fill=\"#101418\"/>\n");
    svg_axes(&p, out);
    for (unsigned i = 0; i < p.nrefs; i++) {
        svg_colour(a, p.ref[i].role, c);
        buf_printf(out,
                   "<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                   "stroke-dasharray=\"8 5\"/>\n",
                   LEFT, SVG_W - RIGHT, sy(&p, p.ref[i].y), sy(&p, p.ref[i].y), c);
        svg_text(out, SVG_W - RIGHT, sy(&p, p.ref[i].y) - 5, "end", c, p.ref[i].name);
    }
    for (unsigned i = p.nseries; i-- > 0;)
        svg_series(a, &p, &p.series[i], out);
    for (unsigned i = 0; i < p.nmarks; i++) {
        svg_colour(a, p.mark[i].role, c);
        svg_text(out, sx(&p, p.mark[i].x), sy(&p, p.mark[i].y) + (p.mark[i].below ? 20 : -10), "middle",
                 c, p.mark[i].name);
    }
    buf_puts(out, "</svg>\n" WORKSPACE_MARK_PAGE "\n");
}

/* ---- JSON: the contract's own documents (engine/rec/fields.def) ---- */
/* The loads are known of what is open now. */
static void put_result(const struct app *a, const struct session_run *r, struct buf *out)
{
    const struct job_snapshot *s = a->snap;
    struct workspace w = { .spec = s->spec,
                           .info = r->dev,
                           .module = (struct ptx_module *)(uintptr_t)s->module,
                           .facts = (struct ana_kernel *)(uintptr_t)s->facts,
                           .kernel = r->kernel };
    bool open = s->module && s->spec && !run_stale(a, r);
    struct load_classes c = { .n = 0 };
    if (open)
        c = workspace_classes(&w, result_options(r->one));
    json_result(r->one, &r->dev, r->kernel, r->race, open ? &c : NULL, r->proof, out);
}

/* Of one that was cut off nobody knows what is missing. */
static void put_sweep(const struct session_run *r, struct buf *out)
{
    struct tune_slice slice = { .sweep = r->sweep,
                                .proof = r->proof ? *r->proof : (struct tune_proof){ 0 } };
    struct tune_family f = { .axis = { r->sweep.axis },
                             .naxes = 1,
                             .slice = &slice,
                             .n = 1,
                             .has_best = r->sweep.has_best,
                             .complete = true };
    if (r->sweep.complete)
        json_family(&f, &r->dev, r->kernel, r->race, NULL, 0, out);
    else
        json_sweep(&r->sweep, r->proof, &r->dev, r->kernel, r->race, out);
}

/* With the curve of misses, where it is worked out. */
static void put_analysis(struct app *a, struct buf *out)
{
    struct ana_kernel k = *a->snap->facts;
    const struct ana_kernel *all = &k;
    const struct ana_curve *curve = NULL;
    if (reuse_get(a, &curve) == REUSE_READY)
        k.curve = (struct ana_curve *)(uintptr_t)curve;
    json_analysis(&all, 1, run_original_now(a, &(size_t){ 0 }), out);
}

/* The panels about the code give the analysis of the kernel, the others the run that the valley panel shows,
 * else the last one. */
static void export_json(struct app *a, struct buf *out)
{
    const struct job_snapshot *s = a->snap;
    const struct session_run *r = valley_run(a, NULL);
    bool code = a->focus == PANEL_SOURCE || a->focus == PANEL_COALESCE || a->focus == PANEL_LOCALITY;
    r = r ? r : app_run(a, app_last_run(a, -1));
    if ((code || !r) && s && s->facts)
        put_analysis(a, out);
    else if (!r)
        buf_puts(out, "null\n");
    else if (r->kind == RUN_SWEEP)
        put_sweep(r, out);
    else if (r->kind == RUN_TUNE)
        json_found(r->found, NULL, 0, r->trail, r->ntrail, &r->dev, r->kernel, r->race, out);
    else
        put_result(a, r, out);
}

static void put_plot_svg(struct app *a, struct buf *out)
{
    export_svg(a, out);
}
static void put_plot_csv(struct app *a, struct buf *out)
{
    const struct view *v = view_of(a->focus);
    struct plot p;
    (v->csv && v->plot && v->plot(a, &p) ? v->csv : valley_csv)(a, out);
}
static void put_text(struct app *a, struct buf *out)
{
    export_text(a, a->focus, 120, out);
    buf_puts(out, WORKSPACE_MARK_TEXT "\n"); /* a table or picture is known by its head or mark */
}

/* A format is a row here; `plot`: it is of the plot, whatever panel has the focus. */
static const struct {
    const char *name, *ending;
    bool plot;
    void (*put)(struct app *a, struct buf *out);
} export_formats[] = {
    { "text", "txt", false, put_text },
    { "svg", "svg", true, put_plot_svg },
    { "csv", "csv", true, put_plot_csv },
    { "json", "json", false, export_json },
};

static size_t find_format(const char *format)
{
    size_t f = 0;
    while (f < ARRAY_LEN(export_formats) && strcmp(export_formats[f].name, format) != 0)
        f++;
    return f;
}

/* Beside the session, under a name that no file has yet: an earlier picture stays. */
bool export_name(const struct app *a, const char *format, char *name, size_t n)
{
    size_t f = find_format(format);
    const char *session = a->snap->session_path, *slash = session ? strrchr(session, '/') : NULL;
    if (f >= ARRAY_LEN(export_formats))
        return false;
    for (int k = 1; k < 1000; k++) {
        char number[16] = "";
        if (k > 1)
            snprintf(number, sizeof number, "-%d", k);
        snprintf(name, n, "%.*sgpulocw-%s%s.%s", slash ? (int)(slash - session) + 1 : 0,
                 slash ? session : "", export_formats[f].plot ? "valley" : panel_info(a->focus)->name,
                 number, export_formats[f].ending);
        if (access(name, F_OK) != 0)
            break;
    }
    return true;
}

void export_panel(struct app *a, const char *format, const char *path)
{
    struct buf out = { 0 };
    struct diags ds = { 0 };
    char name[1024];
    if (!export_name(a, format, name, sizeof name)) {
        app_notice(a, DIAG_ERROR, "export text, svg, csv or json");
        return;
    }
    export_formats[find_format(format)].put(a, &out);
    buf_show_from(&out, 0);
    path = path ? path : name;
    if (!out.oom && workspace_output_check(path, false, &ds) == ST_OK &&
        file_write_atomic(path, out.s ? out.s : "", out.n, &ds) == ST_OK)
        app_notice(a, DIAG_NOTE, "written: %s", path);
    app_notice_diags(a, &ds);
    buf_free(&out);
}
