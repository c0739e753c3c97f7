/* svg: a result as one picture: groups of bars, or lines where there are many points. The paper's
 * figures are short lines across. */
#include "engine/paper/paper_int.h"
#include "engine/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { HEIGHT = 360, LEFT = 60, TOP = 44, BOTTOM = 100, BAR = 9, GAP = 12 };
static const char *const colours[] = { "#4c78a8", "#f58518", "#54a24b", "#b279a2",
                                       "#e45756", "#72b7b2", "#9d755d", "#bab0ac" };

struct picture {
    const struct paper_result *r;
    size_t n, series;
    double most;
    unsigned width;
};

static const struct paper_row *row_at(const struct picture *p, size_t i)
{
    return i < p->r->nrows ? &p->r->row[i] : &p->r->mean[i - p->r->nrows];
}

static double y_of(const struct picture *p, double v)
{
    double high = HEIGHT - TOP - BOTTOM;
    return HEIGHT - BOTTOM - (p->most > 0 ? v / p->most * high : 0);
}

static double x_of(const struct picture *p, size_t i)
{
    return LEFT + (double)(i * (p->series * BAR + GAP));
}

static void put_text(struct buf *out, double x, double y, const char *more, const char *s)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more);
    report_xml(out, s);
    buf_puts(out, "</text>\n");
}

static void put_axis(const struct picture *p, struct buf *out)
{
    for (int i = 0; i <= 4; i++) {
        double v = p->most * i / 4, y = y_of(p, v);
        char text[32];
        snprintf(text, sizeof text, "%.3g", v);
        buf_printf(out, "<line x1=\"%d\" x2=\"%u\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT,
                   p->width - 10, y, y);
        put_text(out, LEFT - 6, y + 4, "text-anchor=\"end\"", text);
    }
}

static void put_bars(const struct picture *p, size_t i, struct buf *out)
{
    const struct paper_row *x = row_at(p, i);
    char more[96], name[160];
    for (size_t s = 0; s < p->series; s++) {
        double at = x_of(p, i) + (double)(s * BAR), v = x->v[s].ours, ref = x->v[s].paper;
        if (v == v && v >= 0)
            buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" fill=\"%s\"/>\n",
                       at, y_of(p, v), BAR - 1, HEIGHT - BOTTOM - y_of(p, v),
                       colours[s % ARRAY_LEN(colours)]);
        if (ref == ref)
            buf_printf(out,
                       "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#000\" "
                       "stroke-width=\"2\"/>\n",
                       at - 1, at + BAR, y_of(p, ref), y_of(p, ref));
    }
    double at = x_of(p, i) + (double)(p->series * BAR) / 2;
    snprintf(more, sizeof more, "text-anchor=\"end\" transform=\"rotate(-50 %.1f %d)\"", at,
             HEIGHT - BOTTOM + 12);
    snprintf(name, sizeof name, "%s%s%s%s%s", x->application,
             x->application[0] && x->point[0] ? " " : "", x->point,
             i >= p->r->nrows && x->group[0] ? " " : "", i >= p->r->nrows ? x->group : "");
    put_text(out, at, HEIGHT - BOTTOM + 12, more, name);
}

static void put_legend(const struct picture *p, struct buf *out)
{
    double at = LEFT;
    for (size_t s = 0; s < p->series && s < ARRAY_LEN(colours); s++) {
        buf_printf(out, "<rect x=\"%.1f\" y=\"26\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", at,
                   colours[s]);
        put_text(out, at + 14, 35, "", p->r->series[s]);
        at += 30 + 7.0 * (double)strlen(p->r->series[s]);
    }
    put_text(out, at, 35, "", "black line: the paper");
}

void paper_svg(const struct paper_result *r, struct buf *out)
{
    struct picture p = { .r = r, .n = r->nrows + r->nmeans, .series = r->nseries };
    struct buf title = { 0 };
    for (size_t i = 0; i < p.n; i++)
        for (size_t s = 0; s < p.series; s++) {
            const struct paper_value *v = &row_at(&p, i)->v[s];
            p.most = v->ours == v->ours && v->ours > p.most ? v->ours : p.most;
            p.most = v->paper == v->paper && v->paper > p.most ? v->paper : p.most;
        }
    p.width = (unsigned)x_of(&p, p.n) + 20;
    p.width = p.width < 640 ? 640 : p.width;
    buf_printf(&title, "%s: %s", r->of->id, r->of->title);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%d\" "
               "viewBox=\"0 0 %u %d\" font-family=\"sans-serif\" font-size=\"11\">\n"
               "<rect width=\"%u\" height=\"%d\" fill=\"#fff\"/>\n",
               p.width, HEIGHT, p.width, HEIGHT, p.width, HEIGHT);
    put_text(out, LEFT, 18, "font-size=\"13\"", title.s ? title.s : "");
    put_axis(&p, out);
    for (size_t i = 0; i < p.n; i++)
        put_bars(&p, i, out);
    put_legend(&p, out);
    buf_puts(out, "</svg>\n");
    buf_free_checked(&title, out);
}
