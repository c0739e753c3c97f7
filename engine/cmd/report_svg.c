/* See report_svg.h. Times are drawn from zero, so that heights compare as the times do. */
#include "engine/cmd/report_svg.h"

#include <math.h>
#include <string.h>

#define WIDTH 640.0
#define HEIGHT 360.0
#define LEFT 60.0
#define RIGHT 60.0
#define BOTTOM 40.0
#define TOP 40.0
#define LINE 13.0                /* height of a line of text */
#define LETTER 6.5               /* width of one, about */
#define BPA "#d55e00"            /* Okabe and Ito's colours */
#define CHA "#0072b2"
#define POINT "#009e73"
#define WRONG "#cc0000"

struct axes { double high, step; size_t n; const char *unit; double scale; /* ns per unit */ };

static bool has_time(const struct result *r) { return r->status == ST_OK && r->time.valid; }
static double x_of(const struct axes *a, size_t i) { return LEFT + (a->n > 1 ? (double)i / (double)(a->n - 1) : 0.5) * (WIDTH - LEFT - RIGHT); }
static double y_of(const struct axes *a, int64_t ns) { return TOP + (1 - (double)ns / a->scale / a->high) * (HEIGHT - TOP - BOTTOM); }

void report_xml(struct buf *out, const char *text)
{
    for (const char *s = text; *s; s++)
        switch (*s) {
        case '<': buf_puts(out, "&lt;"); break;
        case '>': buf_puts(out, "&gt;"); break;
        case '&': buf_puts(out, "&amp;"); break;
        case '"': buf_puts(out, "&quot;"); break;
        default: buf_put(out, s, 1);
        }
}

/* 1, 2 or 5 times a power of ten, so that about five steps reach the top. */
static double round_step(double high)
{
    double base = pow(10, floor(log10(high / 5))), times = high / 5 / base;
    return base * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static struct axes axes_of(const struct tune_sweep *s)
{
    struct axes a = { .n = s->npoints, .unit = "ms", .scale = 1e6 };
    int64_t high = 0;
    for (size_t i = 0; i < s->npoints + 2; i++) {
        const struct result *r = i < s->npoints ? &s->points[i] : i == s->npoints ? &s->bpa : &s->cha;
        high = has_time(r) && r->time.max > high ? r->time.max : high;
    }
    if (high < 1000000) {
        a.unit = "µs";
        a.scale = 1e3;
    }
    a.step = round_step(high > 0 ? (double)high / a.scale : 1);
    a.high = a.step * ceil((high > 0 ? (double)high / a.scale : 1) / a.step);
    return a;
}

static void put_text(struct buf *out, double x, double y, const char *anchor, const char *colour, const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
    report_xml(out, text);
    buf_puts(out, "</text>\n");
}

/* Values under the points: as many as fit beside each other. */
static void put_values(const struct tune_sweep *s, const struct axes *a, struct buf *out)
{
    size_t longest = 1, every = 1;
    char name[24];
    for (size_t i = 0; i < s->npoints; i++) {
        cmd_point_name(s, i, name, sizeof name);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    while (a->n > 1 && every < a->n && (double)every * (x_of(a, 1) - x_of(a, 0)) < LETTER * ((double)longest + 1))
        every++;
    for (size_t i = 0; i < s->npoints; i += every) {
        cmd_point_name(s, i, name, sizeof name);
        put_text(out, x_of(a, i), HEIGHT - BOTTOM + 18, "middle", "#222", name);
    }
    put_text(out, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", "#222", strcmp(s->axis, "pi") == 0 ? "π, warps per CTA that cache" : s->axis);
}

static void put_grid(const struct axes *a, struct buf *out)
{
    for (int k = 0; k * a->step <= a->high * 1.001; k++) {
        char tick[32];
        double y = y_of(a, (int64_t)llround(k * a->step * a->scale));
        snprintf(tick, sizeof tick, "%g", k * a->step);
        buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH - RIGHT, y);
        put_text(out, LEFT - 6, y + 4, "end", "#222", tick);
    }
}

/* A reference line, its name beside it; `shift` keeps two names apart. */
static void put_reference(const struct result *r, const char *name, const char *colour, double shift, const struct axes *a, struct buf *out)
{
    if (!has_time(r))
        return;
    double y = y_of(a, r->time.median);
    buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-dasharray=\"6 4\"/>\n", LEFT, y, WIDTH - RIGHT, y, colour);
    put_text(out, WIDTH - RIGHT + 6, y + 4 + shift, "start", colour, name);
}

static void put_references(const struct tune_sweep *s, const struct axes *a, struct buf *out)
{
    double apart = has_time(&s->bpa) && has_time(&s->cha) ? y_of(a, s->cha.time.median) - y_of(a, s->bpa.time.median) : LINE, push = 0;
    if (fabs(apart) < LINE)
        push = (LINE - fabs(apart)) / 2 * (apart < 0 ? -1 : 1);
    put_reference(&s->bpa, "bpa", BPA, -push, a, out);
    put_reference(&s->cha, "cha", CHA, push, a, out);
}

static void put_points(const struct tune_sweep *s, const struct axes *a, struct buf *out)
{
    buf_puts(out, "<polyline fill=\"none\" stroke=\"" POINT "\" stroke-width=\"2\" points=\"");
    for (size_t i = 0; i < s->npoints; i++)
        if (has_time(&s->points[i]))
            buf_printf(out, "%.1f,%.1f ", x_of(a, i), y_of(a, s->points[i].time.median));
    buf_puts(out, "\"/>\n");
    for (size_t i = 0; i < s->npoints; i++) {
        const struct timing *t = &s->points[i].time;
        char name[24];
        if (!has_time(&s->points[i]))
            continue;
        bool wrong = s->points[i].equal == EQUAL_NO;
        cmd_point_name(s, i, name, sizeof name);
        if (t->max > t->min)
            buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"" POINT "\"/>\n", x_of(a, i), y_of(a, t->min), x_of(a, i), y_of(a, t->max));
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"><title>", x_of(a, i), y_of(a, t->median), s->has_best && i == s->best ? 6 : 3, wrong ? WRONG : POINT);
        report_xml(out, name);
        buf_printf(out, ": %.6g %s%s</title></circle>\n", (double)t->median / a->scale, a->unit, wrong ? ", outputs differ" : "");
    }
}

/* Under the best point, or over it where that would leave the picture. */
static void put_best(const struct tune_sweep *s, const struct axes *a, struct buf *out)
{
    if (!s->has_best || s->best >= s->npoints || !has_time(&s->points[s->best]))
        return;
    char name[24], text[96];
    int64_t ns = s->points[s->best].time.median;
    double x = x_of(a, s->best), y = y_of(a, ns);
    cmd_point_name(s, s->best, name, sizeof name);
    snprintf(text, sizeof text, "%s%s: %.3g %s", strcmp(s->axis, "pi") == 0 ? "π=" : "", name, (double)ns / a->scale, a->unit);
    put_text(out, x, y + 20 > HEIGHT - BOTTOM - 4 ? y - 12 : y + 20, x > WIDTH - 2 * RIGHT ? "end" : x < 2 * LEFT ? "start" : "middle", POINT, text);
}

void report_svg(const struct session_run *r, struct buf *out)
{
    const struct tune_sweep *s = &r->sweep;
    struct axes a = axes_of(s);
    buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n<text x=\"%.1f\" y=\"20\" fill=\"#222\">",
               WIDTH, HEIGHT, LEFT);
    report_xml(out, r->kernel);
    buf_puts(out, " on ");
    report_xml(out, r->dev.name);
    buf_printf(out, ": time in %s, less is better (%s)</text>\n", a.unit, r->dev.kind == DEV_SIMULATED ? "simulated" : "measured");
    put_grid(&a, out);
    put_values(s, &a, out);
    put_references(s, &a, out);
    put_points(s, &a, out);
    put_best(s, &a, out);
    buf_puts(out, "</svg>\n");
}
