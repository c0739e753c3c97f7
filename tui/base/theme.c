/* theme: see theme.h. One small grammar serves files and the built-in looks. */
#include "tui/base/theme.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *look;
    char letter;
} roles[ROLE_COUNT] = {
#define X(id, name, letter, look, help) [ROLE_##id] = { name, look, letter },
    ROLE_LIST(X)
#undef X
};

const char *role_name(enum role r)
{
    return roles[r].name;
}
char role_letter(enum role r)
{
    return roles[r].letter;
}

static const char *const colour_names[16] = {
    "black",        "red",           "green",       "yellow",         "blue",
    "magenta",      "cyan",          "white",       "bright-black",   "bright-red",
    "bright-green", "bright-yellow", "bright-blue", "bright-magenta", "bright-cyan",
    "bright-white"
};

static bool colour_parse(struct str w, struct colour *c)
{
    if (str_is(w, "default")) {
        *c = (struct colour){ .kind = COLOUR_DEFAULT };
        return true;
    }
    for (unsigned i = 0; i < 16; i++)
        if (str_is(w, colour_names[i])) {
            *c = (struct colour){ .kind = COLOUR_INDEX, .index = (uint8_t)i };
            return true;
        }
    uint8_t rgb[3] = { 0 };
    bool is = w.n == 7 && w.s[0] == '#' && str_unhex((struct str){ w.s + 1, 6 }, rgb);
    *c = (struct colour){ .kind = COLOUR_RGB, .r = rgb[0], .g = rgb[1], .b = rgb[2] };
    return is;
}

static bool attr_parse(struct str w, uint8_t *attrs)
{
    static const struct {
        const char *name;
        uint8_t bit;
    } names[] = { { "bold", ATTR_BOLD },           { "dim", ATTR_DIM },
                  { "underline", ATTR_UNDERLINE }, { "reverse", ATTR_REVERSE },
                  { "italic", ATTR_ITALIC },       { "plain", 0 } };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(w, names[i].name)) {
            *attrs |= names[i].bit;
            return true;
        }
    return false;
}

static struct str next_word(struct str *s)
{
    while (s->n && (isspace((unsigned char)*s->s) || *s->s == ','))
        s->s++, s->n--;
    struct str w = { s->s, 0 };
    while (s->n && !isspace((unsigned char)*s->s) && *s->s != ',')
        s->s++, s->n--, w.n++;
    return w;
}

/* LOOK = [COLOUR] ["on" COLOUR] ATTR* ["mono" ATTR*]. On failure *bad is the word that is wrong. */
static bool look_parse(struct str text, struct look *l, struct str *bad)
{
    struct str w;
    bool mono = false, first = true;
    *l = (struct look){ 0 };
    while ((w = next_word(&text)).n) {
        bool ok;
        if (str_is(w, "on")) {
            w = next_word(&text);
            ok = colour_parse(w, &l->bg);
        } else if (str_is(w, "mono")) {
            ok = mono = true;
        } else {
            ok = attr_parse(w, mono ? &l->mono : &l->attrs) || (first && colour_parse(w, &l->fg));
        }
        if (!ok) {
            *bad = w;
            return false;
        }
        first = false;
    }
    return true;
}

void theme_default(struct theme *t)
{
    struct str bad;
    memset(t, 0, sizeof *t);
    snprintf(t->name, sizeof t->name, "dark");
    for (unsigned i = 0; i < ROLE_COUNT; i++)
        look_parse(str_of(roles[i].look), &t->look[i], &bad);
}

static int role_find(struct str name)
{
    for (unsigned i = 0; i < ROLE_COUNT; i++)
        if (str_is(name, roles[i].name))
            return (int)i;
    return -1;
}

struct theme_reader {
    const char *path;
    struct str text;
    struct theme *t;
    struct diags *ds;
    bool seen[ROLE_COUNT];
};

static void theme_mistake(struct theme_reader *r, struct str word, uint32_t line, struct str whole,
                          const char *what)
{
    struct span at = { (uint32_t)(word.s - r->text.s), (uint32_t)word.n, line,
                       (uint32_t)(word.s - whole.s) + 1 };
    struct diag *d =
        diag_add(r->ds, DIAG_ERROR, "theme", r->path, at, "%s: '%.*s'", what, (int)word.n, word.s);
    diag_source(d, r->text);
}

static void theme_line(struct theme_reader *r, struct str whole, uint32_t line)
{
    struct str s = str_trim(whole), bad = s;
    if (!s.n || *s.s == '#')
        return;
    const char *eq = memchr(s.s, '=', s.n);
    if (!eq) {
        theme_mistake(r, s, line, whole, "expected ROLE = LOOK");
        return;
    }
    struct str key = str_trim((struct str){ s.s, (size_t)(eq - s.s) });
    struct str val = str_trim((struct str){ eq + 1, (size_t)(s.s + s.n - eq - 1) });
    if (str_is(key, "name")) {
        snprintf(r->t->name, sizeof r->t->name, "%.*s", (int)val.n, val.s);
        return;
    }
    int role = role_find(key);
    struct look look;
    if (role < 0)
        theme_mistake(r, key, line, whole, "no such role");
    else if (!look_parse(val, &look, &bad))
        theme_mistake(r, bad, line, whole, "not a colour or attribute");
    else if (r->seen[role])
        theme_mistake(r, key, line, whole, "role given twice");
    else
        r->t->look[role] = look, r->seen[role] = true;
}

enum status theme_parse(const char *path, struct str text, struct theme *t, struct diags *ds)
{
    struct theme_reader r = { .path = path, .text = text, .t = t, .ds = ds };
    size_t before = ds->errors;
    theme_default(t);
    struct str rest = text, whole;
    for (uint32_t line = 1; str_line(&rest, &whole); line++)
        theme_line(&r, whole, line);
    for (unsigned i = 0; i < ROLE_COUNT; i++)
        if (!r.seen[i])
            diag_add(ds, DIAG_WARNING, "theme-role", path, NO_SPAN,
                     "role '%s' is missing: using the built-in colours", roles[i].name);
    if (ds->errors == before)
        return ST_OK;
    theme_default(t);
    return ST_INPUT;
}

enum status theme_load(const char *path, struct theme *t, struct diags *ds)
{
    char *data = NULL;
    size_t n = 0;
    enum status st = file_read_regular(path, 1 << 20, &data, &n, ds);
    if (st == ST_OK)
        st = theme_parse(path, (struct str){ data, n }, t, ds);
    else
        theme_default(t);
    base_free(data);
    return st;
}

/* The sixteen colours as most terminals show them. */
static const uint8_t basic[16][3] = { { 0, 0, 0 },      { 205, 49, 49 },   { 13, 188, 121 },
                                      { 229, 229, 16 }, { 36, 114, 200 },  { 188, 63, 188 },
                                      { 17, 168, 205 }, { 229, 229, 229 }, { 102, 102, 102 },
                                      { 241, 76, 76 },  { 35, 209, 139 },  { 245, 245, 67 },
                                      { 59, 142, 234 }, { 214, 112, 214 }, { 41, 184, 219 },
                                      { 255, 255, 255 } };

static long distance(struct colour c, const uint8_t rgb[3])
{
    long dr = c.r - rgb[0], dg = c.g - rgb[1], db = c.b - rgb[2];
    return 3 * dr * dr + 6 * dg * dg + db * db; /* the eye's weights, roughly */
}

static int nearest_basic(struct colour c, int count)
{
    int best = 0;
    for (int i = 1; i < count; i++)
        if (distance(c, basic[i]) < distance(c, basic[best]))
            best = i;
    return best;
}

/* xterm's 6x6x6 cube from 16, greys from 232. */
static int nearest_256(struct colour c)
{
    static const uint8_t step[6] = { 0, 95, 135, 175, 215, 255 };
    uint8_t in[3] = { c.r, c.g, c.b }, cube[3];
    int at[3];
    for (int k = 0; k < 3; k++) {
        at[k] = 0;
        for (int i = 1; i < 6; i++)
            if (abs(step[i] - in[k]) < abs(step[at[k]] - in[k]))
                at[k] = i;
        cube[k] = step[at[k]];
    }
    int grey = ((c.r + c.g + c.b) / 3 - 3) / 10;
    grey = grey < 0 ? 0 : grey > 23 ? 23 : grey;
    uint8_t g = (uint8_t)(8 + 10 * grey), greys[3] = { g, g, g };
    return distance(c, greys) < distance(c, cube) ? 232 + grey : 16 + 36 * at[0] + 6 * at[1] + at[2];
}

/* Is the theme made for a light ground? Its headings are dark then. */
static bool theme_light(const struct theme *t)
{
    struct colour c = t->look[ROLE_TITLE].fg;
    const uint8_t *rgb = c.kind == COLOUR_INDEX ? basic[c.index & 15] : NULL;
    int bright = rgb ? rgb[0] + rgb[1] + rgb[2] : c.kind == COLOUR_RGB ? c.r + c.g + c.b : 3 * 255;
    return bright < 3 * 128;
}

/* Which of the sixteen have a contrast of 4.5 on black, or on white, whatever palette a terminal has for
 * them (xterm, the console of Linux, Visual Studio Code). */
static bool legible(int index, bool light)
{
    static const uint16_t on_black = 1 << 2 | 1 << 6 | 1 << 7 | 1 << 9 | 1 << 10 | 1 << 11 | 1 << 13 |
                                     1 << 14 | 1 << 15,
                          on_white = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5;
    return (light ? on_white : on_black) >> index & 1;
}

static bool greyish(struct colour c)
{
    int most = c.r > c.g ? c.r : c.g, least = c.r < c.g ? c.r : c.g;
    most = most > c.b ? most : c.b, least = least < c.b ? least : c.b;
    return c.kind == COLOUR_RGB && most - least < 48;
}

/* A drawing may be faint; a text may not. */
static bool drawn(enum role r)
{
    return r == ROLE_BORDER || r == ROLE_BORDER_FOCUS || r == ROLE_BAND || r == ROLE_LINE_A ||
           r == ROLE_LINE_B || (r >= ROLE_HEAT0 && r <= ROLE_HEAT4);
}

/* A look in 8 or 16 colours. */
static struct look few_colours(const struct theme *t, enum role r, enum depth d)
{
    static const struct colour own = { .kind = COLOUR_DEFAULT };
    enum { BLUE = 4, CYAN = 6, BRIGHT = 8 };
    struct look l = t->look[r];
    bool light = theme_light(t);
    if (l.bg.kind != COLOUR_DEFAULT)
        return (struct look){ .attrs = l.mono, .mono = l.mono };
    int i = greyish(l.fg) && !drawn(r) ? -1 : colour_index(l.fg, d);
    if (i == BLUE && !light)
        i = CYAN;
    else if (i == BLUE + BRIGHT && !light)
        i = CYAN + BRIGHT;
    l.attrs &= (uint8_t)~ATTR_DIM;
    if (i >= 0 && !drawn(r) && !legible(i, light)) {
        l.attrs |= l.mono & (uint8_t)~ATTR_DIM;
        i = -1;
    }
    if (i >= 0 && light)
        l.attrs &= (uint8_t)~ATTR_BOLD; /* bold is brighter on many terminals */
    l.fg = i < 0 ? own : (struct colour){ .kind = COLOUR_INDEX, .index = (uint8_t)i };
    return l;
}

struct look theme_look(const struct theme *t, enum role r, bool selected, enum depth d)
{
    const struct look *s = &t->look[ROLE_SELECT];
    bool few = d == DEPTH_8 || d == DEPTH_16;
    struct look l = few ? few_colours(t, r, d) : t->look[r];
    if (!selected)
        return l;
    l.mono |= s->mono;
    l.attrs |= few ? s->mono : s->attrs;
    if (!few && l.bg.kind == COLOUR_DEFAULT)
        l.bg = s->bg;
    return l;
}

int colour_index(struct colour c, enum depth d)
{
    if (c.kind == COLOUR_DEFAULT || d == DEPTH_MONO)
        return -1;
    if (c.kind == COLOUR_INDEX)
        return d == DEPTH_8 ? c.index & 7 : c.index;
    return d == DEPTH_8 ? nearest_basic(c, 8) : d == DEPTH_16 ? nearest_basic(c, 16) : nearest_256(c);
}
