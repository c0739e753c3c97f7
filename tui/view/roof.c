/* roof: see roof.h. */
#include "tui/view/roof.h"

#include "tui/app/app.h"
#include "tui/app/page.h"
#include "tui/base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL = 8, WIDEST = 72, HIGHEST = 24, DOTS_X = 2, DOTS_Y = 4, LEAST = 20, EDGE = 3 };

struct canvas {
    unsigned w, h;         /* cells */
    double x0, x1, y0, y1; /* log10 of what the edges stand for */
    uint8_t dots[HIGHEST][WIDEST];
    enum role role[HIGHEST][WIDEST];
    char letter[HIGHEST][WIDEST];
};

/* Bits of a braille cell by column and row of its dots. */
static const uint8_t braille[DOTS_X][DOTS_Y] = { { 0x01, 0x02, 0x04, 0x40 },
                                                 { 0x08, 0x10, 0x20, 0x80 } };

static long dot_row(const struct canvas *c, double y)
{
    return lround((c->y1 - y) / (c->y1 - c->y0) * (double)(c->h * DOTS_Y - 1));
}

static void dot(struct canvas *c, unsigned x, double y, enum role role)
{
    long r = dot_row(c, y);
    if (r < 0 || r >= (long)(c->h * DOTS_Y))
        return;
    unsigned row = (unsigned)r / DOTS_Y, col = x / DOTS_X;
    c->dots[row][col] |= braille[x % DOTS_X][(unsigned)r % DOTS_Y];
    c->role[row][col] = role;
}

/* L2's and DRAM's slopes up to the roof of the pipes. */
static void draw_roofs(struct canvas *c, const struct roofline *f)
{
    double top = log10(roofline_compute(f));
    unsigned n = c->w * DOTS_X;
    for (unsigned x = 0; x < n; x++) {
        double at = c->x0 + (c->x1 - c->x0) * x / (n - 1);
        dot(c, x, top, ROLE_PEAK);
        for (size_t i = 0; i < f->n; i++)
            if (f->roof[i].memory && f->roof[i].rate > 0 && at + log10(f->roof[i].rate) < top)
                dot(c, x, at + log10(f->roof[i].rate), f->roof[i].name[0] == 'L' ? ROLE_L2 : ROLE_DRAM);
    }
}

static void draw_launch(struct canvas *c, const struct roofline *f)
{
    long r = dot_row(c, log10(f->attained)) / DOTS_Y;
    for (size_t i = 0; i < f->n; i++) {
        if (!(f->roof[i].intensity > 0) || r < 0 || r >= (long)c->h)
            continue;
        long x = lround((log10(f->roof[i].intensity) - c->x0) / (c->x1 - c->x0) * (c->w - 1));
        if (x >= 0 && x < (long)c->w)
            c->letter[r][x] = f->roof[i].name[0];
    }
}

/* "100 G": a power of ten with its unit. */
static void power(char *out, size_t n, int e)
{
    static const char *const units[] = { "", " k", " M", " G", " T", " P" };
    int u = e < 0 ? 0 : e / 3;
    u = u > 5 ? 5 : u;
    snprintf(out, n, "%g%s", pow(10, e - 3 * u), units[u]);
}

static void put_row(struct app *a, struct page *p, const struct canvas *c, unsigned y)
{
    struct row r = { .arena = a->frame };
    char label[16] = "";
    for (int e = (int)ceil(c->y0); e <= (int)floor(c->y1); e++)
        if (dot_row(c, e) / DOTS_Y == (long)y)
            power(label, sizeof label, e);
    row_put(&r, ROLE_AXIS, "%*s %s", LABEL - 2, label, *label ? "┤" : "│");
    for (unsigned x = 0; x < c->w;) {
        enum role role = c->letter[y][x] ? ROLE_CURSOR : c->role[y][x];
        char text[4 * WIDEST + 1];
        size_t n = 0;
        for (; x < c->w && role == (c->letter[y][x] ? ROLE_CURSOR : c->role[y][x]); x++)
            n += utf8_encode(c->letter[y][x] ? (uint32_t)c->letter[y][x]
                             : c->dots[y][x] ? 0x2800u + c->dots[y][x]
                                             : ' ',
                             text + n);
        row_put(&r, role, "%.*s", (int)n, text);
    }
    page_add(a, p, &r, -1);
}

static void put_axis(struct app *a, struct page *p, const struct canvas *c)
{
    struct row r = { .arena = a->frame };
    for (int e = (int)ceil(c->x0); e <= (int)floor(c->x1); e++) {
        char label[16];
        unsigned x = (unsigned)lround((e - c->x0) / (c->x1 - c->x0) * (c->w - 1));
        power(label, sizeof label, e);
        row_pad(&r, LABEL + x > 1 ? LABEL + x - (unsigned)strlen(label) / 2 : 0);
        row_put(&r, ROLE_AXIS, "%s ", label);
    }
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_AXIS, "%*s", LABEL, "");
    row_put(&r, ROLE_LABEL, "operations a byte →");
    row_put(&r, ROLE_PEAK, "   ━ arithmetic");
    row_put(&r, ROLE_L2, "  ╱ L2");
    row_put(&r, ROLE_DRAM, "  ╱ DRAM");
    row_put(&r, ROLE_CURSOR, "  L D");
    row_put(&r, ROLE_LABEL, " the launch");
    page_flow(a, p, &r, LABEL, LABEL + c->w, -1);
}

void roof_put(struct app *a, struct page *p, const struct roofline *f, unsigned w, unsigned rows)
{
    struct row r = { .arena = a->frame };
    double top = roofline_compute(f);
    if (!f->valid || !(f->operations > 0) || isnan(top) || w < LABEL + LEAST || rows < 4)
        return;
    struct canvas *c = ARENA_ARRAY(a->frame, struct canvas, 1);
    if (!c)
        return;
    memset(c, 0, sizeof *c);
    c->w = w - LABEL - EDGE > WIDEST ? WIDEST : w - LABEL - EDGE;
    c->h = rows > HIGHEST ? HIGHEST : rows;
    c->x0 = -1, c->x1 = 3, c->y1 = ceil(log10(top) + 0.3);
    for (size_t i = 0; i < f->n; i++)
        if (f->roof[i].intensity > 0) {
            c->x0 = fmin(c->x0, floor(log10(f->roof[i].intensity) - 0.3));
            c->x1 = fmax(c->x1, ceil(log10(f->roof[i].intensity) + 0.3));
        }
    c->y0 = fmin(c->y1 - 4, floor(log10(f->attained) - 0.3));
    draw_roofs(c, f);
    draw_launch(c, f);
    row_put(&r, ROLE_LABEL, " operations/s");
    page_add(a, p, &r, -1);
    for (unsigned y = 0; y < c->h; y++)
        put_row(a, p, c, y);
    put_axis(a, p, c);
}
