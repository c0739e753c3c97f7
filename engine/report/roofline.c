/* The roofline of a run as a picture: operations per second over operations per byte, both logarithmic.
 */
#include "engine/session/roofline.h"

#include "engine/report/report.h"

#include <math.h>
#include <string.h>

#define LEFT   70.0
#define RIGHT  620.0
#define TOP    40.0
#define BOTTOM 300.0

struct plane {
    double x0, x1, y0, y1; /* log10 */
};

static double at_x(const struct plane *p, double v)
{
    return LEFT + (log10(v) - p->x0) / (p->x1 - p->x0) * (RIGHT - LEFT);
}

static double at_y(const struct plane *p, double v)
{
    return BOTTOM - (log10(v) - p->y0) / (p->y1 - p->y0) * (BOTTOM - TOP);
}

static struct plane plane_of(const struct roofline *f)
{
    struct plane p = { -1, 3, floor(log10(f->attained) - 0.3), 0 };
    double top = f->attained;
    for (size_t i = 0; i < f->n; i++) {
        const struct roof *x = &f->roof[i];
        if (x->intensity > 0) {
            p.x0 = fmin(p.x0, floor(log10(x->intensity) - 0.3));
            p.x1 = fmax(p.x1, ceil(log10(x->intensity) + 0.3));
        } else if (!x->memory && x->rate > top) {
            top = x->rate;
        }
    }
    p.y1 = ceil(log10(top) + 0.2);
    return p;
}

static void put_axes(const struct plane *p, struct buf *out)
{
    for (int e = (int)p->x0; e <= (int)p->x1; e++)
        buf_printf(out,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#eee\"/>"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">1e%d</text>\n",
                   at_x(p, pow(10, e)), TOP, at_x(p, pow(10, e)), BOTTOM, at_x(p, pow(10, e)),
                   BOTTOM + 16, e);
    for (int e = (int)p->y0; e <= (int)p->y1; e++)
        buf_printf(out,
                   "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#eee\"/>"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">1e%d</text>\n",
                   LEFT, at_y(p, pow(10, e)), RIGHT, at_y(p, pow(10, e)), LEFT - 6,
                   at_y(p, pow(10, e)) + 4, e);
    buf_printf(out,
               "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">operations a byte</text>\n"
               "<text x=\"%.1f\" y=\"%.1f\">operations a second</text>\n",
               (LEFT + RIGHT) / 2, BOTTOM + 34, LEFT, TOP - 8);
}

static void put_line(const struct plane *p, const double from[2], const double to[2], const char *name,
                     const char *colour, struct buf *out)
{
    buf_printf(out,
               "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
               "stroke-width=\"2\"><title>%s</title></line>\n",
               at_x(p, from[0]), at_y(p, from[1]), at_x(p, to[0]), at_y(p, to[1]), colour, name);
}

/* Memory: from the left or the lower edge up to what the pipes leave. */
static void put_memory(const struct plane *p, const struct roofline *f, const struct roof *x,
                       const char *colour, struct buf *out)
{
    double top = roofline_compute(f), left = fmax(pow(10, p->x0), pow(10, p->y0) / x->rate),
           right = fmin(pow(10, p->x1), (isnan(top) ? pow(10, p->y1) : top) / x->rate);
    if (right <= left)
        return;
    put_line(p, (double[2]){ left, left * x->rate }, (double[2]){ right, right * x->rate }, x->name,
             colour, out);
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\" text-anchor=\"end\">%s</text>\n",
               at_x(p, right) - 8, at_y(p, right * x->rate) + 14, colour, x->name);
}

static void put_point(const struct plane *p, const struct roofline *f, const struct roof *x,
                      const char *colour, struct buf *out)
{
    buf_printf(out,
               "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"><title>%s: %.4g operations a byte, "
               "%.4g a second</title></circle>\n",
               at_x(p, x->intensity), at_y(p, f->attained), colour, x->name, x->intensity, f->attained);
}

void report_roofline(const struct roofline *f, struct buf *out)
{
    static const char *const level[] = { "#0072b2", "#d55e00" };
    if (!f->valid || !(f->operations > 0))
        return;
    struct plane p = plane_of(f);
    size_t memory = 0;
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"640\" height=\"350\" "
               "viewBox=\"0 0 640 350\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
               "<text x=\"8\" y=\"16\" font-size=\"13\">Roofline (%s): limited by %s</text>\n",
               origin_name(f->origin), f->limit != LIMIT_UNKNOWN ? limit_name(f->limit) : "n/a");
    put_axes(&p, out);
    for (size_t i = 0; i < f->n; i++) {
        const struct roof *x = &f->roof[i];
        if (!(x->rate > 0))
            continue;
        if (x->memory) {
            put_memory(&p, f, x, level[memory], out);
            if (x->intensity > 0)
                put_point(&p, f, x, level[memory], out);
            memory = memory + 1 < ARRAY_LEN(level) ? memory + 1 : memory;
            continue;
        }
        put_line(&p, (double[2]){ pow(10, p.x0), x->rate }, (double[2]){ pow(10, p.x1), x->rate },
                 x->name, "#444", out);
        buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", RIGHT,
                   at_y(&p, x->rate) - 4, x->name);
    }
    buf_puts(out, "</svg>\n");
}
