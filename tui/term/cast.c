/* cast: see cast.h. The time is the recording's own, not that of the machine it is made on. */
#include "tui/term/cast.h"

#include "engine/base/json_write.h"
#include "tui/base/text.h"
#include "tui/term/term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cast_begin(struct cast *c, struct buf *out, const struct surface *s, const char *title)
{
    *c = (struct cast){ .out = out };
    struct jw w = jw_open(out, 0);
    jw_obj(&w);
    jw_put_int(&w, "version", 2);
    jw_put_int(&w, "width", s->w);
    jw_put_int(&w, "height", s->h);
    jw_put_str(&w, "title", title);
    jw_put_str(&w, "format", "gpulocw-cast");
    jw_put_obj(&w, "env");
    jw_put_str(&w, "TERM", "xterm-256color");
    jw_end_obj(&w);
    jw_end_obj(&w);
    buf_puts(out, "\n");
}

static void put_event(struct cast *c, const struct buf *text)
{
    struct jw w = jw_open(c->out, 0);
    jw_arr(&w);
    jw_num(&w, round(c->at * 1000) / 1000);
    jw_str(&w, "o");
    jw_view(&w, (struct str){ text->s, text->n });
    jw_end_arr(&w);
    buf_puts(c->out, "\n");
}

static void put_row(struct buf *b, const struct surface *s, const struct theme *theme, int y)
{
    const struct cell *row = s->cell + (size_t)y * (size_t)s->w;
    int look = -1;
    char u[4];
    buf_printf(b, "\033[%d;1H", y + 1);
    for (int x = 0; x < s->w; x++) {
        const struct cell *c = &row[x];
        int want = c->role * 2 + c->sel;
        if (!c->cp)
            continue; /* the right half of a wide character */
        struct look l = theme_look(theme, (enum role)c->role, c->sel, DEPTH_TRUE);
        if (want != look)
            term_look(b, &l, DEPTH_TRUE);
        look = want;
        buf_put(b, u, utf8_encode(c->cp, u));
        if (c->mark)
            buf_put(b, u, utf8_encode(c->mark, u));
    }
}

static bool row_same(const struct surface *a, const struct surface *b, int y)
{
    const struct cell *p = a->cell + (size_t)y * (size_t)a->w, *q = b->cell + (size_t)y * (size_t)b->w;
    for (int x = 0; x < a->w; x++)
        if (p[x].cp != q[x].cp || p[x].mark != q[x].mark || p[x].role != q[x].role ||
            p[x].sel != q[x].sel)
            return false;
    return true;
}

void cast_frame(struct cast *c, const struct surface *s, const struct theme *theme)
{
    struct buf b = { 0 };
    bool all = c->shown.w != s->w || c->shown.h != s->h;
    if (all && !surface_resize(&c->shown, s->w, s->h)) {
        c->out->oom = true;
        return;
    }
    if (all)
        buf_puts(&b, "\033[?25l\033[0m\033[2J");
    for (int y = 0; y < s->h; y++)
        if (all || !row_same(s, &c->shown, y))
            put_row(&b, s, theme, y);
    memcpy(c->shown.cell, s->cell, sizeof *s->cell * (size_t)s->w * (size_t)s->h);
    if (b.n) {
        buf_puts(&b, "\033[0m");
        put_event(c, &b);
    }
    c->out->oom = c->out->oom || b.oom;
    buf_free(&b);
}

void cast_pause(struct cast *c, double seconds)
{
    c->at += seconds;
}

void cast_end(struct cast *c)
{
    struct buf b = { 0 };
    buf_puts(&b, "\033[0m\033[?25h\r\n");
    put_event(c, &b);
    buf_free(&b);
    surface_free(&c->shown);
}
