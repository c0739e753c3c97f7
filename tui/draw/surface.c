/* surface: see surface.h. */
#include "tui/draw/surface.h"

#include "engine/base/shown.h"
#include "tui/base/text.h"

#include <stdio.h>
#include <string.h>

static const struct cell blank = { ' ', 0, ROLE_TEXT, false };

bool surface_resize(struct surface *s, int w, int h)
{
    w = w < 1 ? 1 : w;
    h = h < 1 ? 1 : h;
    struct cell *c = base_alloc(sizeof *c * (size_t)w * (size_t)h);
    if (!c)
        return false;
    base_free(s->cell);
    *s = (struct surface){ .cell = c, .w = w, .h = h, .clip = { 0, 0, w, h } };
    surface_clear(s);
    return true;
}

void surface_free(struct surface *s)
{
    base_free(s->cell);
    s->cell = NULL;
    s->w = s->h = 0;
}

void surface_clear(struct surface *s)
{
    for (int i = 0; i < s->w * s->h; i++)
        s->cell[i] = blank;
    s->clip = (struct rect){ 0, 0, s->w, s->h };
    s->cursor_x = s->cursor_y = -1;
}

struct rect surface_clip(struct surface *s, struct rect r)
{
    struct rect old = s->clip;
    int x1 = r.x + r.w, y1 = r.y + r.h;
    r.x = r.x < 0 ? 0 : r.x;
    r.y = r.y < 0 ? 0 : r.y;
    r.w = (x1 > s->w ? s->w : x1) - r.x;
    r.h = (y1 > s->h ? s->h : y1) - r.y;
    s->clip = r;
    return old;
}

static bool inside(const struct surface *s, int x, int y)
{
    return x >= s->clip.x && y >= s->clip.y && x < s->clip.x + s->clip.w && y < s->clip.y + s->clip.h;
}

/* A wide character that loses one half loses the other too. */
static void break_wide(struct surface *s, int x, int y)
{
    struct cell *row = s->cell + (size_t)y * (size_t)s->w;
    if (row[x].cp == 0 && x > 0)
        row[x - 1].cp = ' ';
    if (x + 1 < s->w && row[x + 1].cp == 0)
        row[x + 1].cp = ' ';
}

void surface_put(struct surface *s, int x, int y, uint32_t cp, enum role role)
{
    cp = shown_point(cp) ? cp : '?';
    unsigned w = cp_width(cp);
    if (!inside(s, x, y))
        return;
    struct cell *c = &s->cell[(size_t)y * (size_t)s->w + (size_t)x];
    if (w == 0 || (w == 2 && !inside(s, x + 1, y)))
        cp = w ? ' ' : '?', w = 1;
    break_wide(s, x, y);
    *c = (struct cell){ cp, 0, (uint8_t)role, c->sel };
    if (w == 2) {
        break_wide(s, x + 1, y);
        c[1] = (struct cell){ 0, 0, (uint8_t)role, c->sel };
    }
}

static void add_mark(struct surface *s, int x, int y, uint32_t cp)
{
    if (inside(s, x, y)) {
        struct cell *c = &s->cell[(size_t)y * (size_t)s->w + (size_t)x];
        (c->cp ? c : c - 1)->mark = cp;
    }
}

int surface_text(struct surface *s, int x, int y, enum role role, struct str t)
{
    uint32_t cp;
    for (size_t i = 0; i < t.n;) {
        i += utf8_decode(t.s + i, t.n - i, &cp);
        if (cp == '\t')
            cp = ' ';
        unsigned w = cp_width(cp);
        if (w == 0 && cp >= 0x300 && shown_point(cp)) {
            add_mark(s, x - 1, y, cp);
            continue;
        }
        surface_put(s, x, y, cp, role);
        x += w ? (int)w : 1;
    }
    return x;
}

int surface_print(struct surface *s, int x, int y, enum role role, const char *fmt, ...)
{
    char tmp[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(tmp, sizeof tmp, fmt, ap);
    va_end(ap);
    return surface_text(s, x, y, role, str_of(tmp));
}

void surface_fill(struct surface *s, struct rect r, uint32_t cp, enum role role)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            surface_put(s, x, y, cp, role);
}

void surface_select(struct surface *s, struct rect r)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            if (inside(s, x, y))
                s->cell[(size_t)y * (size_t)s->w + (size_t)x].sel = true;
}

void surface_frame(struct surface *s, struct rect r, bool focus, const char *title)
{
    enum role role = focus ? ROLE_BORDER_FOCUS : ROLE_BORDER;
    int x1 = r.x + r.w - 1, y1 = r.y + r.h - 1;
    for (int x = r.x + 1; x < x1; x++) {
        surface_put(s, x, r.y, 0x2500, role);
        surface_put(s, x, y1, 0x2500, role);
    }
    for (int y = r.y + 1; y < y1; y++) {
        surface_put(s, r.x, y, 0x2502, role);
        surface_put(s, x1, y, 0x2502, role);
    }
    surface_put(s, r.x, r.y, 0x256d, role);
    surface_put(s, x1, r.y, 0x256e, role);
    surface_put(s, r.x, y1, 0x2570, role);
    surface_put(s, x1, y1, 0x256f, role);
    struct str t = text_head(str_of(title), r.w > 6 ? (unsigned)r.w - 6 : 0);
    if (t.n)
        surface_print(s, r.x + 2, r.y, focus ? ROLE_TITLE : ROLE_LABEL, " %.*s ", (int)t.n, t.s);
}

void surface_row(struct surface *s, int x, int y, int w, const struct row *row, unsigned skip)
{
    struct rect old = s->clip, now = { x, y, w, 1 };
    int x1 = old.x + old.w;
    if (now.x < old.x)
        now.w -= old.x - now.x, now.x = old.x;
    if (now.x + now.w > x1)
        now.w = x1 - now.x;
    if (y < old.y || y >= old.y + old.h || now.w <= 0)
        return;
    surface_clip(s, now);
    int at = x - (int)skip;
    for (unsigned i = 0; i < row->n; i++)
        at = surface_text(s, at, y, row->v[i].role, row->v[i].s);
    if (at > now.x + now.w) /* what is cut off says so */
        surface_put(s, now.x + now.w - 1, y, 0x2026, ROLE_DIM);
    s->clip = old;
}

/* Stand-ins for what the panels draw with; anything else becomes '?'. */
static uint32_t ascii_of(uint32_t cp)
{
    static const struct {
        const char *from;
        char to;
    } map[] = { { "─━┄┈╌╴╶", '-' },  { "│┃┆┊╎╵╷╎", '|' }, { "┌┐└┘├┤┬┴┼╭╮╯╰┏┓┗┛", '+' },
                { "█▉▊▋▓■●◆", '#' }, { "◉", '@' },        { "▌▍▒▄▀", '=' },
                { "▎▏░▁▂▃", '-' },   { "▅▆▇", '#' },      { "·∙", '.' },
                { "○◦◌", 'o' },      { "▲△↑", '^' },      { "▼▽↓", 'v' },
                { "▶►→▸❯", '>' },    { "◀←◂", '<' },      { "✓", '*' },
                { "✗×", 'x' },       { "π", 'p' },        { "µ", 'u' },
                { "α", 'a' },        { "β", 'b' },        { "±", '~' },
                { "…", '~' },        { "—–", '-' },       { "≥", '>' },
                { "≤", '<' },        { "²", '2' },        { "∞", 'I' },
                { "¹", '1' },        { "−", '-' } };
    if (cp < 0x80)
        return cp;
    if (cp >= 0x2801 && cp < 0x2900)
        return '*';
    if (cp == 0x2800)
        return ' ';
    for (size_t i = 0; i < ARRAY_LEN(map); i++) {
        struct str f = str_of(map[i].from);
        uint32_t c;
        for (size_t k = 0; k < f.n;) {
            k += utf8_decode(f.s + k, f.n - k, &c);
            if (c == cp)
                return (uint32_t)map[i].to;
        }
    }
    return '?';
}

void surface_ascii(struct surface *s)
{
    for (int i = 0; i < s->w * s->h; i++) {
        struct cell *c = &s->cell[i];
        c->mark = 0;
        if (c->cp == 0)
            c->cp = '?';
        else if (c->cp >= 0x80)
            c->cp = ascii_of(c->cp);
    }
}

static void plain_line(const struct surface *s, int y, int x0, int x1, struct buf *out)
{
    char u[4];
    size_t end = out->n;
    for (int x = x0; x < x1; x++) {
        const struct cell *c = &s->cell[(size_t)y * (size_t)s->w + (size_t)x];
        if (!c->cp)
            continue;
        buf_put(out, u, utf8_encode(c->cp, u));
        if (c->mark)
            buf_put(out, u, utf8_encode(c->mark, u));
        if (c->cp != ' ')
            end = out->n;
    }
    if (out->s && out->n > end) {
        out->n = end;
        out->s[end] = '\0';
    }
    buf_puts(out, "\n");
}

void surface_plain(const struct surface *s, struct rect r, struct buf *out)
{
    for (int y = r.y; y < r.y + r.h && y < s->h; y++)
        plain_line(s, y, r.x, r.x + r.w > s->w ? s->w : r.x + r.w, out);
}
