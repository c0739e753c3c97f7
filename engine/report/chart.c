/* See report.h. Values are drawn from zero, so that heights compare as the values do. */
#include "engine/report/report.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

#define WIDTH  640.0
#define HEIGHT REPORT_CHART_HEIGHT
#define LEFT   60.0
#define RIGHT  72.0
#define BOTTOM 40.0
#define TOP    40.0
#define LINE   13.0 /* height of a line of text */
#define FONT   12.0
#define LETTER 6.5 /* width of one, about */
#define INK    "#222"
#define WRONG  "#cc0000"

struct axes {
    const struct chart *c;
    double high, step;
};

static double x_of(const struct axes *a, size_t i)
{
    return LEFT + (a->c->n > 1 ? (double)i / (double)(a->c->n - 1) : 0.5) * (WIDTH - LEFT - RIGHT);
}
static double y_of(const struct axes *a, double v)
{
    return TOP + (1 - v / a->high) * (HEIGHT - TOP - BOTTOM);
}

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

static double highest(const struct chart *c)
{
    double high = 0;
    for (size_t k = 0; k < CHART_LEVELS; k++)
        high = c->level[k].name ? fmax(high, c->level[k].y) : high;
    for (size_t k = 0; k < c->nseries; k++) {
        const struct chart_series *s = &c->series[k];
        for (size_t i = 0; i < s->n; i++)
            /* fmax passes over NaN */
            high = fmax(high, s->high && !isnan(s->high[i]) ? s->high[i] : s->y[i]);
    }
    return high > 0 ? high : 1;
}

static struct axes axes_of(const struct chart *c)
{
    double high = c->top > 0 ? c->top : highest(c);
    struct axes a = { .c = c, .step = round_step(high) };
    a.high = a.step * ceil(high / a.step - 1e-9);
    return a;
}

static void put_text(struct buf *out, double x, double y, const char *anchor, const char *colour,
                     const char *text)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">", x, y, anchor, colour);
    report_xml(out, text);
    buf_puts(out, "</text>\n");
}

static void put_line(struct buf *out, double x1, double y1, double x2, double y2, const char *colour,
                     const char *more)
{
    buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\"%s/>\n", x1, y1,
               x2, y2, colour, more);
}

/* Names under the places: as many as fit beside each other. */
static void put_names(const struct axes *a, struct buf *out)
{
    const struct chart *c = a->c;
    size_t longest = 1, every = 1;
    char name[24];
    for (size_t i = 0; i < c->n; i++) {
        c->name(c->ctx, i, name, sizeof name);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    while (c->n > 1 && every < c->n &&
           (double)every * (x_of(a, 1) - x_of(a, 0)) < LETTER * ((double)longest + 1))
        every++;
    for (size_t i = 0; i < c->n; i += every) {
        c->name(c->ctx, i, name, sizeof name);
        put_text(out, x_of(a, i), HEIGHT - BOTTOM + 18, "middle", INK, name);
    }
    put_text(out, (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, "middle", INK, c->xlabel);
}

static void put_grid(const struct axes *a, struct buf *out)
{
    for (int k = 0; k * a->step <= a->high * 1.001; k++) {
        char tick[32];
        double y = y_of(a, k * a->step);
        snprintf(tick, sizeof tick, "%g", k * a->step);
        put_line(out, LEFT, y, WIDTH - RIGHT, y, "#ddd", "");
        put_text(out, LEFT - 6, y + 4, "end", INK, tick);
    }
}

/* Dashed lines with their names beside them, pushed apart where they would cover each other. */
static void put_levels(const struct axes *a, struct buf *out)
{
    const struct chart_level *l = a->c->level;
    bool both = l[0].name && l[1].name && !isnan(l[0].y) && !isnan(l[1].y);
    double apart = both ? y_of(a, l[1].y) - y_of(a, l[0].y) : LINE, push = 0;
    if (fabs(apart) < LINE)
        push = (LINE - fabs(apart)) / 2 * (apart < 0 ? -1 : 1);
    for (size_t k = 0; k < CHART_LEVELS; k++) {
        if (!l[k].name || isnan(l[k].y))
            continue;
        double y = y_of(a, l[k].y);
        put_line(out, LEFT, y, WIDTH - RIGHT, y, l[k].colour, " stroke-dasharray=\"6 4\"");
        put_text(out, WIDTH - RIGHT + 6, y + 4 + (k ? push : -push), "start", l[k].colour, l[k].name);
    }
}

static void put_curve(const struct axes *a, const struct chart_series *s, struct buf *out)
{
    double before = NAN;
    buf_printf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", s->colour);
    for (size_t i = 0; i < s->n; i++) {
        if (isnan(s->y[i]))
            continue;
        if (s->steps && !isnan(before))
            buf_printf(out, "%.1f,%.1f ", x_of(a, i), y_of(a, before));
        buf_printf(out, "%.1f,%.1f ", x_of(a, i), y_of(a, s->y[i]));
        before = s->y[i];
    }
    buf_puts(out, "\"/>\n");
}

static void put_dots(const struct axes *a, const struct chart_series *s, bool first, struct buf *out)
{
    for (size_t i = 0; i < s->n; i++) {
        char name[24];
        bool wrong = s->wrong && s->wrong[i];
        if (isnan(s->y[i]))
            continue;
        a->c->name(a->c->ctx, i, name, sizeof name);
        if (s->low && s->high && s->high[i] > s->low[i])
            put_line(out, x_of(a, i), y_of(a, s->low[i]), x_of(a, i), y_of(a, s->high[i]), s->colour,
                     "");
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%d\" fill=\"%s\"><title>", x_of(a, i),
                   y_of(a, s->y[i]), first && a->c->has_mark && i == a->c->mark ? 6 : 3,
                   wrong ? WRONG : s->colour);
        report_xml(out, name);
        buf_printf(out, ": %.6g %s%s</title></circle>\n", s->y[i], a->c->unit,
                   wrong ? ", outputs differ" : "");
    }
}

/* Under the marked point, or over it where that would leave the picture. */
static void put_mark(const struct axes *a, struct buf *out)
{
    const struct chart *c = a->c;
    const struct chart_series *s = &c->series[0];
    char name[24], text[96];
    if (!c->has_mark || c->mark >= s->n || isnan(s->y[c->mark]))
        return;
    double x = x_of(a, c->mark), y = y_of(a, s->y[c->mark]);
    c->name(c->ctx, c->mark, name, sizeof name);
    snprintf(text, sizeof text, "%s%s: %.3g %s", c->mark_prefix ? c->mark_prefix : "", name,
             s->y[c->mark], c->unit);
    put_text(out, x, y + 20 > HEIGHT - BOTTOM - 4 ? y - 12 : y + 20,
             x > WIDTH - 2 * RIGHT ? "end"
             : x < 2 * LEFT        ? "start"
                                   : "middle",
             s->colour, text);
}

/* Names of the series, in a row under the title. */
static void put_legend(const struct chart *c, struct buf *out)
{
    double x = LEFT;
    for (size_t k = 0; k < c->nseries; k++) {
        const struct chart_series *s = &c->series[k];
        if (!s->name)
            continue;
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"30\" r=\"4\" fill=\"%s\"/>\n", x + 4, s->colour);
        put_text(out, x + 12, 34, "start", s->colour, s->name);
        x += 24 + LETTER * (double)strlen(s->name);
    }
}

/* One that is too long for the picture is set smaller. */
static void put_title(const char *title, struct buf *out)
{
    double long_by = LETTER * (double)strlen(title) / (WIDTH - LEFT);
    buf_printf(out, "<text x=\"%.1f\" y=\"16\" fill=\"%s\" font-size=\"%.1f\">", LEFT, INK,
               FONT / fmax(1, long_by));
    report_xml(out, title);
    buf_puts(out, "</text>\n");
}

void report_chart(const struct chart *c, struct buf *out)
{
    struct axes a = axes_of(c);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
               WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_title(c->title, out);
    put_legend(c, out);
    put_grid(&a, out);
    put_names(&a, out);
    put_levels(&a, out);
    for (size_t k = 0; k < c->nseries; k++)
        if (c->series[k].line)
            put_curve(&a, &c->series[k], out);
    for (size_t k = 0; k < c->nseries; k++)
        if (c->series[k].dots)
            put_dots(&a, &c->series[k], k == 0, out);
    put_mark(&a, out);
    buf_puts(out, "</svg>\n");
}
