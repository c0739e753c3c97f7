/* layout: see layout.h. */
#include "tui/app/layout/layout.h"

#include "tui/app/app.h"
#include "tui/app/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P(id) (1u << PANEL_##id)
enum { LEAST = 15 /* percent that a panel keeps */ };

/* A slot's sides: 0 is the left or upper end of the body, 1 the right or lower one, 2 + k border k. A
 * border divides what lies between its own two sides. `rest`: the slot for panels that no other has. */
static const struct {
    const char *name;
    const char *what;
    int min_w, min_h;
    struct {
        bool across;
        uint8_t at;
        uint8_t from, to, low, high;
    } border[LAYOUT_BORDERS];
    unsigned nborders;
    struct {
        uint8_t x0, y0, x1, y1;
        unsigned panels;
    } slot[LAYOUT_SLOTS];
    unsigned nslots, rest;
} layouts[LAYOUT_COUNT] = {
    [LAYOUT_AUTO] = { .name = "auto", .what = "by the size of the screen" },
    [LAYOUT_ONE] = { .name = "one", .what = "one panel at a time" },
    [LAYOUT_TWO] = { .name = "two",
                     .what = "four panels in two columns",
                     .min_w = 100,
                     .min_h = 28,
                     .border = { { false, 56, 0, 1, 0, 1 },
                                 { true, 58, 0, 2, 0, 1 },
                                 { true, 66, 2, 1, 0, 1 } },
                     .nborders = 3,
                     .slot = { { 0, 0, 2, 3, P(SOURCE) | P(COALESCE) | P(LOCALITY) },
                               { 0, 3, 2, 1, P(OPTIONS) | P(ADVICE) | P(MESSAGES) },
                               { 2, 0, 1, 4, P(VALLEY) },
                               { 2, 4, 1, 1, P(COUNTERS) | P(RUNS) } },
                     .nslots = 4 },
    [LAYOUT_THREE] = { .name = "three",
                       .what = "six panels in three columns",
                       .min_w = 150,
                       .min_h = 30,
                       .border = { { false, 40, 0, 1, 0, 3 },
                                   { false, 76, 0, 1, 2, 1 },
                                   { true, 62, 0, 2, 0, 1 },
                                   { true, 62, 2, 3, 0, 1 },
                                   { true, 62, 3, 1, 0, 1 } },
                       .nborders = 5,
                       .slot = { { 0, 0, 2, 4, P(SOURCE) },
                                 { 0, 4, 2, 1, P(COALESCE) | P(LOCALITY) },
                                 { 2, 0, 3, 5, P(VALLEY) },
                                 { 2, 5, 3, 1, P(COUNTERS) | P(RUNS) },
                                 { 3, 0, 1, 6, P(OPTIONS) },
                                 { 3, 6, 1, 1, P(ADVICE) | P(MESSAGES) } },
                       .nslots = 6 },
    [LAYOUT_PLOT] = { .name = "plot",
                      .what = "the valley over the whole width, two panels below",
                      .min_w = 90,
                      .min_h = 28,
                      .border = { { true, 60, 0, 1, 0, 1 }, { false, 50, 0, 1, 0, 1 } },
                      .nborders = 2,
                      .slot = { { 0, 0, 1, 2, P(VALLEY) },
                                { 0, 2, 3, 1, P(RUNS) | P(COUNTERS) },
                                { 3, 2, 1, 1, 0 } },
                      .nslots = 3,
                      .rest = 2 },
    [LAYOUT_CODE] = { .name = "code",
                      .what = "the source over the whole height, two panels beside it",
                      .min_w = 100,
                      .min_h = 24,
                      .border = { { false, 58, 0, 1, 0, 1 }, { true, 50, 2, 1, 0, 1 } },
                      .nborders = 2,
                      .slot = { { 0, 0, 2, 1, P(SOURCE) },
                                { 2, 0, 1, 3, 0 },
                                { 2, 3, 1, 1, P(VALLEY) | P(COUNTERS) | P(RUNS) } },
                      .nslots = 3,
                      .rest = 1 }
};

static bool fits(enum layout_id id, int w, int h)
{
    return w >= layouts[id].min_w && h >= layouts[id].min_h;
}

enum layout_id layout_now(const struct app *a, int w, int h)
{
    if (a->zoomed)
        return LAYOUT_ONE;
    if (a->set.layout.chosen != LAYOUT_AUTO)
        return fits(a->set.layout.chosen, w, h) ? a->set.layout.chosen : LAYOUT_ONE;
    if (w >= 180 && h >= 48)
        return LAYOUT_THREE;
    return w >= 110 && h >= 34 ? LAYOUT_TWO : LAYOUT_ONE;
}

/* Where side `s` of a slot stands. */
static int side(const struct layout_view *v, enum layout_id id, unsigned s)
{
    if (s < 2)
        return s ? 100 : 0;
    return v->at[id][s - 2] ? v->at[id][s - 2] : layouts[id].border[s - 2].at;
}

/* Panels that no slot names; they stand in the slot `rest`. */
static unsigned homeless(enum layout_id id)
{
    unsigned all = (1u << PANEL_COUNT) - 1;
    for (unsigned i = 0; i < layouts[id].nslots; i++)
        all &= ~layouts[id].slot[i].panels;
    return all;
}

size_t layout_slots(const struct app *a, enum layout_id id, struct layout_slot out[LAYOUT_SLOTS])
{
    const struct layout_view *v = &a->set.layout;
    for (unsigned i = 0; i < layouts[id].nslots; i++) {
        out[i] = (struct layout_slot){ side(v, id, layouts[id].slot[i].x0),
                                       side(v, id, layouts[id].slot[i].y0),
                                       side(v, id, layouts[id].slot[i].x1),
                                       side(v, id, layouts[id].slot[i].y1), layouts[id].slot[i].panels };
        if (i == layouts[id].rest)
            out[i].panels |= homeless(id);
    }
    return layouts[id].nslots;
}

bool layout_border(const struct app *a, enum layout_id id, unsigned k, struct layout_border *out)
{
    const struct layout_view *v = &a->set.layout;
    if (k >= layouts[id].nborders)
        return false;
    *out = (struct layout_border){ .across = layouts[id].border[k].across,
                                   .at = side(v, id, k + 2),
                                   .low = side(v, id, layouts[id].border[k].low) + LEAST,
                                   .high = side(v, id, layouts[id].border[k].high) - LEAST,
                                   .from = side(v, id, layouts[id].border[k].from),
                                   .to = side(v, id, layouts[id].border[k].to) };
    return true;
}

void layout_put(struct app *a, enum layout_id id, unsigned k, int percent)
{
    struct layout_border b;
    if (!layout_border(a, id, k, &b))
        return;
    percent = percent > b.high ? b.high : percent;
    a->set.layout.at[id][k] = (uint8_t)(percent < b.low ? b.low : percent);
}

/* The slot that shows the panel in front. */
static int slot_in_front(const struct app *a, enum layout_id id)
{
    struct layout_slot v[LAYOUT_SLOTS];
    size_t n = layout_slots(a, id, v);
    for (size_t i = 0; i < n; i++)
        if (v[i].panels >> a->focus & 1)
            return (int)i;
    return -1;
}

unsigned layout_move(struct app *a, bool across, int by)
{
    enum layout_id id = layout_now(a, a->w, a->h);
    int i = slot_in_front(a, id);
    if (i < 0) {
        app_notice(a, DIAG_NOTE, "%s",
                   "one panel fills the screen: use a wider screen or :layout two to show several");
        return UI_REDRAW;
    }
    unsigned end = across ? layouts[id].slot[i].y1 : layouts[id].slot[i].x1;
    unsigned k = end >= 2 ? end : across ? layouts[id].slot[i].y0 : layouts[id].slot[i].x0;
    if (k < 2) {
        app_notice(a, DIAG_NOTE,
                   across ? "this panel already has the full height"
                          : "this panel already has the full width");
        return UI_REDRAW;
    }
    layout_put(a, id, k - 2, side(&a->set.layout, id, k) + by);
    config_save(a);
    return UI_REDRAW;
}

static unsigned choose(struct app *a, enum layout_id id)
{
    a->set.layout.chosen = id;
    a->zoomed = false;
    config_save(a);
    if (fits(id, a->w, a->h))
        app_notice(a, DIAG_NOTE, "layout %s: %s", layouts[id].name, layouts[id].what);
    else
        app_notice(a, DIAG_WARNING, "layout %s needs %dx%d; this screen has %dx%d", layouts[id].name,
                   layouts[id].min_w, layouts[id].min_h, a->w, a->h);
    return UI_REDRAW;
}

unsigned layout_next(struct app *a)
{
    unsigned id = a->set.layout.chosen;
    do
        id = (id + 1) % LAYOUT_COUNT;
    while (!fits((enum layout_id)id, a->w, a->h));
    return choose(a, (enum layout_id)id);
}

static int find(struct str name)
{
    for (int i = 0; i < LAYOUT_COUNT; i++)
        if (str_is(name, layouts[i].name))
            return i;
    return -1;
}

/* Takes the first word off. */
static struct str word(struct str *rest)
{
    *rest = str_trim(*rest);
    size_t n = 0;
    while (n < rest->n && rest->s[n] != ' ' && rest->s[n] != '\t')
        n++;
    struct str w = { rest->s, n };
    rest->s += n, rest->n -= n;
    return w;
}

bool layout_set(struct layout_view *v, struct str name)
{
    int id = find(name);
    if (id >= 0)
        v->chosen = (enum layout_id)id;
    return id >= 0;
}

bool layout_set_borders(struct layout_view *v, struct str text)
{
    int id = find(word(&text));
    unsigned k = 0;
    uint8_t at[LAYOUT_BORDERS] = { 0 };
    if (id < 0)
        return false;
    for (struct str w; (w = word(&text)).n; k++) {
        unsigned n = 0;
        for (size_t i = 0; i < w.n && n < 1000; i++)
            n = w.s[i] >= '0' && w.s[i] <= '9' ? n * 10 + (unsigned)(w.s[i] - '0') : 1000;
        if (k >= layouts[id].nborders || n < LEAST || n > 100 - LEAST)
            return false;
        at[k] = (uint8_t)n;
    }
    if (k != layouts[id].nborders || (id == LAYOUT_THREE && at[1] < at[0] + LEAST))
        return false;
    memcpy(v->at[id], at, sizeof at);
    return true;
}

static bool moved(const struct layout_view *v, enum layout_id id)
{
    for (unsigned k = 0; k < layouts[id].nborders; k++)
        if (v->at[id][k])
            return true;
    return false;
}

void layout_settings(const struct layout_view *v, struct buf *out)
{
    buf_printf(out, "layout = %s\n", layouts[v->chosen].name);
    for (int id = 0; id < LAYOUT_COUNT; id++) {
        if (!moved(v, (enum layout_id)id))
            continue;
        buf_printf(out, "borders = %s", layouts[id].name);
        for (unsigned k = 0; k < layouts[id].nborders; k++)
            buf_printf(out, " %d", side(v, (enum layout_id)id, k + 2));
        buf_puts(out, "\n");
    }
}

unsigned layout_command(struct app *a, const char *name)
{
    int id = find(str_of(name));
    if (id >= 0) {
        memset(a->set.layout.at[id], 0, sizeof a->set.layout.at[id]); /* by name: as the table has it */
        return choose(a, (enum layout_id)id);
    }
    app_notice(a, *name ? DIAG_ERROR : DIAG_NOTE, "%s%s%slayouts are auto, one, two, three, plot, code",
               *name ? "no layout '" : "", name, *name ? "': " : "");
    return UI_REDRAW;
}
