/* plot: draws a plot's view-model: dots in braille (2x4 a cell), half blocks
 * (1x2) or ASCII (1x1), points and labels as characters over them.
 *
 *   what is on the y axis                              legend
 *   y labels │ area ........................ reference names
 *            └─┬───┬───
 *              0   1      x labels, then the axis title                     */
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/draw/panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LEFT        10
#define RIGHT       9
#define LEGEND_ROWS 9 /* a plot this high says above what it shows */

struct canvas {
    struct surface *s;
    const struct plot *p;
    struct rect area;     /* cells of the plot itself */
    int dx, dy;           /* dots per cell */
    uint8_t *bits, *role; /* per cell of the area */
    bool *taken;          /* cells that hold a label */
};

/* "original" takes more room beside a line than "cha". */
static bool long_names(const struct plot *p)
{
    bool any = false;
    for (unsigned i = 0; i < p->nrefs; i++)
        any |= strlen(p->ref[i].name) > 3;
    return any;
}

static struct rect area_of(struct rect r, const struct plot *p)
{
    int left = r.w >= 40 ? LEFT : 0,
        right = r.w >= 60 || (r.w >= 44 && long_names(p)) ? RIGHT
                : r.w >= 44                               ? 5
                                                          : 1,
        below = r.h >= 9   ? 3
                : r.h >= 5 ? 2
                           : 0,
        above = r.h >= LEGEND_ROWS;
    return (struct rect){ r.x + left, r.y + above, r.w - left - right, r.h - below - above };
}

static double x_share(const struct plot *p, double x)
{
    return (x - p->x0) / (p->x1 - p->x0);
}

static double y_share(const struct plot *p, double y)
{
    return p->log_y ? log(y / p->y0) / log(p->y1 / p->y0) : (y - p->y0) / (p->y1 - p->y0);
}

double plot_x_at(struct rect r, const struct plot *p, int column)
{
    struct rect a = area_of(r, p);
    return p->x0 + (p->x1 - p->x0) * ((double)(column - a.x) - 1) / (a.w > 3 ? a.w - 3 : 1);
}

/* Points keep one cell of distance from the edges, so that the ends show. */
static int cell_x(const struct canvas *c, double x)
{
    return c->area.x + 1 + (int)lround(x_share(c->p, x) * (c->area.w - 3));
}
static int cell_y(const struct canvas *c, double y)
{
    return c->area.y + c->area.h - 1 - (int)lround(y_share(c->p, y) * (c->area.h - 1));
}

static void dot(struct canvas *c, int x, int y, enum role role)
{
    static const uint8_t braille[4][2] = {
        { 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
    };
    int cx = x / c->dx, cy = y / c->dy;
    if (x < 0 || y < 0 || cx >= c->area.w || cy >= c->area.h)
        return;
    size_t i = (size_t)cy * (size_t)c->area.w + (size_t)cx;
    unsigned bit = c->dx == 2 ? braille[y % 4][x % 2] : c->dy == 2 ? 1u << (y % 2) : 1u;
    c->bits[i] = (uint8_t)(c->bits[i] | bit);
    c->role[i] = (uint8_t)role;
}

static void line(struct canvas *c, double x0, double y0, double x1, double y1, enum role role,
                 bool dotted)
{
    const struct plot *p = c->p;
    double w = (double)(c->area.w - 3) * c->dx, h = (double)(c->area.h - 1) * c->dy;
    double ax = x_share(p, x0) * w + c->dx * 1.5, bx = x_share(p, x1) * w + c->dx * 1.5;
    double ay = (1 - y_share(p, y0)) * h + c->dy / 2.0, by = (1 - y_share(p, y1)) * h + c->dy / 2.0;
    int steps = (int)fmax(fabs(bx - ax), fabs(by - ay)) + 1;
    if (!isfinite(ax + ay + bx + by) || steps > 100000)
        return;
    for (int i = 0; i <= steps; i++) {
        double t = (double)i / steps;
        int x = (int)floor(ax + (bx - ax) * t), y = (int)floor(ay + (by - ay) * t);
        if (!dotted || (x / c->dx) % 2 == 0)
            dot(c, x, y, role);
    }
}

/* Points of two curves differ without colours too. */
static uint32_t point_sign(const struct plot *p, enum role role)
{
    bool second = role == ROLE_SERIES_B;
    return p->style == PLOT_ASCII ? second ? '#' : 'o' : second ? 0x25cb : 0x25cf;
}

/* Without finer dots and perhaps without colours, each kind of line has a character of its own. */
static uint32_t line_letter(enum role role)
{
    return role == ROLE_FIT ? '.' : role == ROLE_LINE_B ? '+' : role == ROLE_PEAK ? '-' : '*';
}

static void flush(struct canvas *c)
{
    for (int y = 0; y < c->area.h; y++)
        for (int x = 0; x < c->area.w; x++) {
            size_t i = (size_t)y * (size_t)c->area.w + (size_t)x;
            static const uint32_t half[] = { ' ', 0x2580, 0x2584, 0x2588 };
            if (!c->bits[i])
                continue;
            uint32_t cp = c->dx == 2   ? 0x2800u + c->bits[i]
                          : c->dy == 2 ? half[c->bits[i] & 3]
                                       : line_letter((enum role)c->role[i]);
            surface_put(c->s, c->area.x + x, c->area.y + y, cp, (enum role)c->role[i]);
        }
}

static bool empty(const struct canvas *c, int x, int y, int w)
{
    for (int i = x; i < x + w; i++)
        if (c->bits[(y - c->area.y) * c->area.w + i - c->area.x])
            return false;
    return true;
}

static void take(struct canvas *c, int x, int y, int w)
{
    for (int i = x; i < x + w; i++)
        if (i >= c->area.x && i < c->area.x + c->area.w && y >= c->area.y && y < c->area.y + c->area.h)
            c->taken[(y - c->area.y) * c->area.w + i - c->area.x] = true;
}

static bool is_free(const struct canvas *c, int x, int y, int w)
{
    if (y < c->area.y || y >= c->area.y + c->area.h)
        return false;
    for (int i = x; i < x + w; i++)
        if (c->taken[(y - c->area.y) * c->area.w + i - c->area.x])
            return false;
    return true;
}

static void y_tick(struct canvas *c, double y, const char *v)
{
    int at = cell_y(c, y);
    if (at < c->area.y || at >= c->area.y + c->area.h)
        return;
    surface_print(c->s, c->area.x - 2 - (int)text_width(str_of(v)), at, ROLE_AXIS, "%s", v);
    surface_put(c->s, c->area.x - 1, at, 0x2524, ROLE_AXIS);
}

/* 1, 2, 5, 10, ...; false: fewer than two of them lie on the axis. */
static bool log_axis(struct canvas *c, int most)
{
    double at[PLOT_TICKS_MOST];
    char v[TEXT_NUM];
    size_t n = plot_log_ticks(c->p->metric, c->p->y0, c->p->y1, most, at);
    for (size_t i = 0; n >= 2 && i < n; i++) {
        plot_tick(c->p->metric, at[i], at[i], at[i], v);
        y_tick(c, at[i], v);
    }
    return n >= 2;
}

/* One tick says nothing about the scale: the step shrinks, by 1-2-5, until two lie on the axis. */
static double two_ticks(const struct plot *p, double step)
{
    for (int k = 0; k < 6 && floor(p->y1 / step) - ceil(p->y0 / step) < 1; k++)
        step = plot_step(p->metric, step * 0.39, p->y1, 1); /* 5 to 2, 2 to 1, 1 to 0.5 */
    return step;
}

static void y_axis(struct canvas *c, struct rect r)
{
    const struct plot *p = c->p;
    char v[TEXT_NUM];
    int most = c->area.h >= 16 ? 6 : c->area.h >= 8 ? 4 : 2;
    for (int y = 0; y < c->area.h; y++)
        surface_put(c->s, c->area.x - 1, c->area.y + y, 0x2502, ROLE_AXIS);
    if (r.w < 40)
        return;
    if (p->log_y && log_axis(c, most))
        return;
    double step = two_ticks(p, plot_step(p->metric, p->y1 - p->y0, p->y1, most));
    for (double y = ceil(p->y0 / step) * step; y <= p->y1; y += step) {
        plot_tick(p->metric, fabs(y) < step * 1e-6 ? 0 : y, step, p->y1, v);
        y_tick(c, y, v);
    }
}

/* Ticks at whole x values, as many as labels fit. */
/* 1, 2, 5, 10, 20, ...: the first at which the labels stand apart. */
static double x_step(const struct canvas *c)
{
    static const double by[] = { 1, 2, 5 };
    const struct plot *p = c->p;
    int widest = p->tick ? 4 : snprintf(NULL, 0, "%g", floor(p->x1)) + 2;
    widest = widest < 4 ? 4 : widest;
    for (size_t i = 0; p->tick && i < p->nticks; i++)
        widest = (int)text_width(str_of(p->tick[i])) + 2 > widest
                     ? (int)text_width(str_of(p->tick[i])) + 2
                     : widest;
    for (double ten = 1; ten < 1e15; ten *= 10)
        for (size_t i = 0; i < ARRAY_LEN(by); i++)
            if ((p->x1 - p->x0) / (ten * by[i]) * widest <= c->area.w)
                return ten * by[i];
    return 1e15;
}

/* A name whose part in brackets is left out where there is no room for it. */
static struct str short_name(const char *name, int room)
{
    const char *more = strstr(name, " (");
    bool whole = !more || (int)text_width(str_of(name)) <= room;
    return (struct str){ name, whole ? strlen(name) : (size_t)(more - name) };
}

static void x_axis(struct canvas *c, struct rect r)
{
    const struct plot *p = c->p;
    int y = c->area.y + c->area.h;
    double step = x_step(c);
    if (y >= r.y + r.h)
        return;
    surface_put(c->s, c->area.x - 1, y, 0x2514, ROLE_AXIS);
    for (int x = c->area.x; x < c->area.x + c->area.w; x++)
        surface_put(c->s, x, y, 0x2500, ROLE_AXIS);
    for (double x = ceil(p->x0 / step) * step; x <= p->x1 + 1e-9; x += step) {
        char v[32];
        int at = cell_x(c, x);
        if (p->tick && x >= 0 && (size_t)x < p->nticks)
            snprintf(v, sizeof v, "%s", p->tick[(size_t)x]);
        else
            snprintf(v, sizeof v, "%g", x);
        surface_put(c->s, at, y, 0x252c, ROLE_AXIS);
        int left = at - (int)text_width(str_of(v)) / 2;
        surface_print(c->s, left < c->area.x ? c->area.x : left, y + 1, ROLE_AXIS, "%s", v);
    }
    if (y + 2 < r.y + r.h)
        surface_text(c->s, c->area.x, y + 2, ROLE_LABEL, short_name(p->xname, r.x + r.w - c->area.x));
}

static void refs(struct canvas *c, struct rect r)
{
    int used[PLOT_MAX_REFS], n = 0;
    for (unsigned i = 0; i < c->p->nrefs; i++) {
        const struct plot_ref *f = &c->p->ref[i];
        double share = y_share(c->p, f->y);
        if (!(share >= 0 && share <= 1))
            continue;
        int y = cell_y(c, f->y), at = y;
        for (int x = c->area.x; x < c->area.x + c->area.w; x++)
            surface_put(c->s, x, y, 0x254c, f->role);
        for (int k = 0; k < n; k++)
            if (used[k] == at) {
                at += at > c->area.y ? -1 : 1;
                k = -1;
            }
        used[n++] = at;
        if (c->area.x + c->area.w + 3 < r.x + r.w)
            surface_print(c->s, c->area.x + c->area.w + 1, at, f->role, "%s", f->name);
    }
}

static void upright(struct canvas *c)
{
    for (unsigned i = 0; i < c->p->nbars; i++) {
        const struct plot_bar *b = &c->p->bar[i];
        for (int k = c->area.y; b->x >= c->p->x0 && b->x <= c->p->x1 && k < c->area.y + c->area.h; k++)
            surface_put(c->s, cell_x(c, b->x), k, 0x254e, b->role);
    }
}

/* First row where w cells from column x are free, and off the curves unless `anywhere`; -1: none. */
static int free_row(const struct canvas *c, int x, int w, bool anywhere)
{
    if (x < c->area.x || x + w > c->area.x + c->area.w)
        return -1;
    for (int y = c->area.y; y < c->area.y + c->area.h; y++)
        if (is_free(c, x, y, w) && (anywhere || empty(c, x, y, w)))
            return y;
    return -1;
}

/* Their names: to the right of the line, else to its left, else over the curves. */
static void upright_names(struct canvas *c)
{
    for (unsigned i = 0; i < c->p->nbars; i++) {
        const struct plot_bar *b = &c->p->bar[i];
        int at = cell_x(c, b->x), w = (int)text_width(str_of(b->name)), x = at + 2,
            y = free_row(c, x, w, false);
        if (b->x < c->p->x0 || b->x > c->p->x1)
            continue;
        if (y < 0)
            y = free_row(c, x = at - w - 1, w, false);
        if (y < 0)
            y = free_row(c, x = at + 2, w, true);
        if (y < 0)
            y = free_row(c, x = at - w - 1, w, true);
        if (y < 0)
            continue;
        surface_print(c->s, x, y, b->role, "%s", b->name);
        take(c, x - 1, y, w + 2);
    }
}

/* What is drawn, in words: the quantity on the left, the curves on the right. */
static void legend(struct surface *s, struct rect r, const struct plot *p)
{
    int x1 = surface_print(s, r.x + 1, r.y, ROLE_LABEL, "%s", p->yname), x = r.x + r.w - 1;
    for (unsigned i = p->nseries; i-- > 0;) {
        const struct plot_series *v = &p->series[i];
        int w = v->name ? (int)text_width(str_of(v->name)) + 4 : 0;
        if (!w || x - w <= x1 + 1)
            continue;
        x -= w;
        uint32_t sign = !v->no_points            ? point_sign(p, v->point)
                        : p->style == PLOT_ASCII ? line_letter(v->line)
                        : v->dotted              ? 0x2504
                                                 : 0x2501;
        surface_put(s, x, r.y, sign, v->no_points ? v->line : v->point);
        surface_print(s, x + 2, r.y, ROLE_LABEL, "%s", v->name);
    }
}

static bool shown(const struct plot *p, double x)
{
    return x >= p->x0 - 1e-9 && x <= p->x1 + 1e-9;
}

static void bands(struct canvas *c, const struct plot_series *v)
{
    for (size_t i = 0; v->low && i < v->n; i++) {
        if (isnan(v->y[i]) || !shown(c->p, v->x[i]) || v->high[i] <= v->low[i])
            continue;
        int top = cell_y(c, v->high[i]), end = cell_y(c, v->low[i]), x = cell_x(c, v->x[i]);
        for (int y = top; y <= end && end > top; y++)
            surface_put(c->s, x, y, y == top ? 0x252c : y == end ? 0x2534 : 0x2502, ROLE_BAND);
    }
}

static void curve(struct canvas *c, const struct plot_series *v)
{
    for (size_t i = 1; i < v->n && !v->no_line; i++)
        if (!isnan(v->y[i - 1]) && !isnan(v->y[i]) && shown(c->p, v->x[i - 1]) && shown(c->p, v->x[i]))
            line(c, v->x[i - 1], v->y[i - 1], v->x[i], v->y[i], v->line, v->dotted);
}

static void points(struct canvas *c, const struct plot_series *v)
{
    for (size_t i = 0; i < v->n && !v->no_points; i++) {
        if (!shown(c->p, v->x[i]))
            continue;
        if (isnan(v->y[i])) {
            surface_put(c->s, cell_x(c, v->x[i]), c->area.y + c->area.h - 1, 0xd7,
                        v->bad && v->bad[i] ? ROLE_ERROR : ROLE_DIM);
            continue;
        }
        bool bad = v->bad && v->bad[i];
        int x = cell_x(c, v->x[i]), y = cell_y(c, v->y[i]);
        bool whole = v->whole && v->whole[i];
        surface_put(c->s, x, y,
                    bad     ? 0xd7
                    : whole ? c->p->style == PLOT_ASCII ? '@' : 0x25c6
                            : point_sign(c->p, v->point),
                    bad ? ROLE_ERROR : v->point);
        take(c, x, y, 1);
    }
}

static void cursor(struct canvas *c)
{
    const struct plot *p = c->p;
    if (!p->has_cursor || !shown(p, p->cursor))
        return;
    int x = cell_x(c, p->cursor);
    for (int y = c->area.y; y < c->area.y + c->area.h; y++) {
        const struct cell *at = &c->s->cell[(size_t)y * (size_t)c->s->w + (size_t)x];
        if (at->cp == ' ' || at->cp == 0x254c)
            surface_put(c->s, x, y, 0x250a, ROLE_CURSOR);
        else if (at->role == ROLE_SERIES_A)
            surface_put(c->s, x, y, 0x25c9, ROLE_CURSOR);
    }
}

/* Is there room for a label's w cells from x on, off the curve unless `over`? */
static bool fits(const struct canvas *c, int x, int y, int w, bool over)
{
    return x > c->area.x && x + w < c->area.x + c->area.w && is_free(c, x, y, w) &&
           (over || empty(c, x, y, w));
}

/* A label touches its point: in the row above or below it, or beside it; it covers the curve sooner than
 * it stands apart. Where none of these is free there is none. */
static void mark(struct canvas *c, const struct plot_mark *m)
{
    int w = (int)text_width(str_of(m->name)), px = cell_x(c, m->x), py = cell_y(c, m->y),
        step = m->below ? 1 : -1, last = c->area.x + c->area.w - w - 1, x = px - w / 2;
    x = x > last ? last : x < c->area.x + 1 ? c->area.x + 1 : x;
    const int at[][2] = { { x, py + step },          { px + 2, py },
                          { px - w - 1, py },        { px, py + step },
                          { px - w + 1, py + step }, { x, py - step },
                          { px, py - step },         { px - w + 1, py - step } };
    for (int over = 0; over < 2; over++)
        for (size_t k = 0; k < ARRAY_LEN(at); k++)
            if (fits(c, at[k][0], at[k][1], w, over)) {
                surface_print(c->s, at[k][0], at[k][1], m->role, "%s", m->name);
                take(c, at[k][0] - 1, at[k][1], w + 2);
                return;
            }
}

static void marks(struct canvas *c)
{
    for (unsigned i = 0; i < c->p->nmarks; i++)
        if (shown(c->p, c->p->mark[i].x))
            mark(c, &c->p->mark[i]);
}

static bool canvas_init(struct canvas *c, struct app *a, struct surface *s, struct rect r,
                        const struct plot *p)
{
    *c = (struct canvas){ .s = s, .p = p, .area = area_of(r, p) };
    if (c->area.w < 6 || c->area.h < 3)
        return false;
    size_t n = (size_t)c->area.w * (size_t)c->area.h;
    c->dx = p->style == PLOT_BRAILLE ? 2 : 1;
    c->dy = p->style == PLOT_BRAILLE ? 4 : p->style == PLOT_BLOCK ? 2 : 1;
    c->bits = arena_alloc(a->frame, n);
    c->role = arena_alloc(a->frame, n);
    c->taken = arena_alloc(a->frame, n);
    return c->bits && c->role && c->taken;
}

void plot_draw(struct app *a, struct surface *s, struct rect r, const struct plot *p)
{
    struct canvas c;
    if (!p->nseries || !p->series[0].n) {
        int w = (int)text_width(str_of(p->empty ? p->empty : ""));
        surface_print(s, r.x + (r.w > w ? (r.w - w) / 2 : 0), r.y + r.h / 2, ROLE_DIM, "%s",
                      p->empty ? p->empty : "");
        return;
    }
    if (!canvas_init(&c, a, s, r, p))
        return;
    if (r.h >= LEGEND_ROWS)
        legend(s, r, p);
    y_axis(&c, r);
    x_axis(&c, r);
    refs(&c, r);
    upright(&c);
    for (unsigned i = p->nseries; i-- > 0;)
        curve(&c, &p->series[i]);
    flush(&c);
    for (unsigned i = p->nseries; i-- > 0;)
        bands(&c, &p->series[i]);
    for (unsigned i = p->nseries; i-- > 0;)
        points(&c, &p->series[i]);
    cursor(&c);
    upright_names(&c);
    marks(&c);
}
