/* picture: see picture.h. One rectangle per run of a background, one text element
 * per run of a look; textLength keeps the columns aligned with any font. */
#include "tui/draw/picture.h"

#include "tui/base/text.h"
#include "tui/draw/surface.h"

#include <stdio.h>
#include <string.h>

#define CELL_W 8.0
#define CELL_H 17.0

struct ink {
    char fg[8], bg[8];
    bool paint, bold, underline, dim;
};

static void colour_text(struct colour c, const char *fallback, char out[8])
{
    static const char *const basic[16] = { "#000000", "#cd3131", "#0dbc79", "#c4a000",
                                           "#2472c8", "#bc3fbc", "#11a8cd", "#e5e5e5",
                                           "#666666", "#f14c4c", "#23d18b", "#f5f543",
                                           "#3b8eea", "#d670d6", "#29b8db", "#ffffff" };
    if (c.kind == COLOUR_RGB)
        snprintf(out, 8, "#%02x%02x%02x", c.r, c.g, c.b);
    else
        snprintf(out, 8, "%s", c.kind == COLOUR_INDEX ? basic[c.index & 15] : fallback);
}

static struct ink ink_of(const struct theme *t, const struct cell *c, bool light)
{
    const struct look *l = &t->look[c->role], *sel = &t->look[ROLE_SELECT];
    struct colour bg = c->sel && l->bg.kind == COLOUR_DEFAULT ? sel->bg : l->bg;
    struct ink i = { .paint = bg.kind != COLOUR_DEFAULT,
                     .bold = l->attrs & ATTR_BOLD,
                     .underline = l->attrs & ATTR_UNDERLINE,
                     .dim = l->attrs & ATTR_DIM };
    colour_text(l->fg, light ? "#24292f" : "#d0d7de", i.fg);
    colour_text(bg, light ? "#ffffff" : "#0d1117", i.bg);
    return i;
}

static void put_char(struct buf *out, uint32_t cp)
{
    char u[4];
    if (cp == '<')
        buf_puts(out, "&lt;");
    else if (cp == '&')
        buf_puts(out, "&amp;");
    else
        buf_put(out, u, utf8_encode(cp, u));
}

static void put_run(const struct surface *s, int y, int x0, int x1, const struct ink *ink,
                    struct buf *out)
{
    const struct cell *row = s->cell + (size_t)y * (size_t)s->w;
    if (ink->paint)
        buf_printf(out, "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\"/>\n",
                   x0 * CELL_W, y * CELL_H, (x1 - x0) * CELL_W, CELL_H, ink->bg);
    while (x0 < x1 && row[x0].cp == ' ') /* blanks at the ends would be stretched along */
        x0++;
    while (x1 > x0 && row[x1 - 1].cp == ' ')
        x1--;
    if (x0 == x1)
        return;
    buf_printf(
        out, "<text x=\"%g\" y=\"%g\" textLength=\"%g\" fill=\"%s\"%s%s%s xml:space=\"preserve\">",
        x0 * CELL_W, y * CELL_H + 12.5, (x1 - x0) * CELL_W, ink->fg,
        ink->bold ? " font-weight=\"bold\"" : "", ink->underline ? " text-decoration=\"underline\"" : "",
        ink->dim ? " opacity=\"0.75\"" : "");
    for (int x = x0; x < x1; x++)
        if (row[x].cp)
            put_char(out, row[x].cp);
    buf_puts(out, "</text>\n");
}

void picture_svg(const struct surface *s, const struct theme *theme, bool light, struct buf *out)
{
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-8 -8 %g %g\" width=\"%g\" "
               "font-family=\"DejaVu Sans Mono, Menlo, Consolas, monospace\" font-size=\"13.29\">\n",
               s->w * CELL_W + 16, s->h * CELL_H + 16, s->w * CELL_W + 16);
    buf_printf(out, "<rect x=\"-8\" y=\"-8\" width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"%s\"/>\n",
               light ? "#ffffff" : "#0d1117");
    for (int y = 0; y < s->h; y++)
        for (int x = 0; x < s->w;) {
            const struct cell *row = s->cell + (size_t)y * (size_t)s->w;
            struct ink ink = ink_of(theme, &row[x], light);
            int end = x + 1;
            for (; end < s->w; end++) {
                struct ink next = ink_of(theme, &row[end], light);
                if (strcmp(ink.fg, next.fg) || strcmp(ink.bg, next.bg) || ink.bold != next.bold ||
                    ink.underline != next.underline || ink.dim != next.dim)
                    break;
            }
            put_run(s, y, x, end, &ink, out);
            x = end;
        }
    buf_puts(out, "</svg>\n");
}
