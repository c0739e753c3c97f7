/* screen: where what goes. The slots of a layout are parts of the body in percent
 * with the panels that may stand there; each shows the focused one, else the one
 * that was in front last. */
#include "engine/workspace/snapshot.h"
#include "tui/app/config.h"
#include "tui/app/launch/kernels.h"
#include "tui/base/key.h"
#include "tui/base/text.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/control/panels.h"
#include "tui/draw/panel.h"

#include <stdio.h>
#include <string.h>

#define PLOT_ROWS 7
#define PLOT_GOOD 16 /* twelve rows of curve, the head and the axis */
#define KEYS_ROWS 8  /* a small screen this high has a row of keys too */
/* How much of a screen there is room for. */
enum extent { EXTENT_LINE, EXTENT_REDUCED, EXTENT_WHOLE };
static enum extent screen_extent(int w, int h)
{
    if (w < 20 || h < 5)
        return EXTENT_LINE;
    return w < 60 || h < 16 ? EXTENT_REDUCED : EXTENT_WHOLE;
}

/* ---- a list of lines ---- */
static void emphasise(struct surface *s, struct rect r, int y, struct str needle, const struct row *row,
                      unsigned skip)
{
    struct str text = row_text(row);
    size_t from = 0, hit;
    while (needle.n &&
           (hit = text_find((struct str){ text.s + from, text.n - from }, needle)) != SIZE_MAX) {
        struct str word = { text.s + from + hit, needle.n };
        int x = r.x + (int)text_width((struct str){ text.s, from + hit }) - (int)skip;
        if (x >= r.x)
            surface_text(s, x, y, ROLE_MATCH, word);
        from += hit + needle.n;
    }
}

static void scroll_bar(struct surface *s, struct rect r, const struct list *l)
{
    if (l->count <= (size_t)r.h || r.h < 3)
        return;
    int size = (int)((size_t)r.h * (size_t)r.h / l->count);
    size = size < 1 ? 1 : size;
    int at = (int)((double)l->top / (double)(l->count - (size_t)r.h) * (r.h - size) + 0.5);
    for (int y = 0; y < r.h; y++)
        surface_put(s, r.x + r.w - 1, r.y + y, y >= at && y < at + size ? 0x2503 : 0x2502,
                    y >= at && y < at + size ? ROLE_LABEL : ROLE_BORDER);
}

static void lines(struct app *a, struct surface *s, enum panel_id p, struct rect r)
{
    struct list *l = &a->list[p];
    bool focus = p == a->focus && a->overlay == OVERLAY_NONE;
    int w = r.w - (l->count > (size_t)r.h ? 1 : 0);
    list_fit(l, (unsigned)r.h);
    for (int y = 0; y < r.h && l->top + (size_t)y < l->count; y++) {
        struct row row;
        size_t i = l->top + (size_t)y;
        long item = view_line(a, p, i, (unsigned)w, &row);
        surface_row(s, r.x, r.y + y, w, &row, l->left);
        if (focus && *a->search)
            emphasise(s, r, r.y + y, str_of(a->search), &row, l->left);
        if (i == l->cursor && item >= 0 && (focus || p == PANEL_COALESCE || p == PANEL_SOURCE))
            surface_select(s, (struct rect){ r.x, r.y + y, w, 1 });
    }
    scroll_bar(s, r, l);
}

static void fixed_lines(struct app *a, struct surface *s, const struct page *pg, struct rect r)
{
    for (int y = 0; y < r.h && (size_t)y < pg->n; y++) {
        struct row row = { .arena = a->frame };
        memcpy(row.v, pg->line[y].v, sizeof *row.v * pg->line[y].n);
        row.n = pg->line[y].n;
        surface_row(s, r.x, r.y + y, r.w, &row, 0);
    }
}

/* A plot with the panel's lines below it. False: there is none now. */
static bool plotted(struct app *a, struct surface *s, struct screen *map, enum panel_id p, struct rect r)
{
    struct plot plot;
    if (!view_of(p)->plot || !view_of(p)->plot(a, &plot))
        return false;
    int below = (int)a->list[p].count;
    if (!plot.nseries && below) /* nothing to plot: the words have the room */
        return false;
    below = below > r.h - 6 ? (r.h > 6 ? r.h - 6 : 0) : below;
    if (r.h >= 2 * PLOT_ROWS && below > r.h / 2) /* the picture has half, at least */
        below = r.h / 2;
    if (r.h >= PLOT_GOOD + 4 && below > r.h - PLOT_GOOD) /* and its good size where there is room */
        below = r.h - PLOT_GOOD;
    struct rect top = { r.x, r.y, r.w, r.h - below };
    plot_draw(a, s, top, &plot);
    screen_hit(map, HIT_PLOT, top, (int)p);
    lines(a, s, p, (struct rect){ r.x, r.y + top.h, r.w, below });
    return true;
}

/* A panel's content without a frame. */
static void panel_draw(struct app *a, struct surface *s, struct screen *map, enum panel_id p,
                       struct rect r)
{
    const struct view *v = view_of(p);
    struct rect old = surface_clip(s, r);
    if (r.w < 1 || r.h < 1)
        return;
    screen_hit(map, HIT_PANEL, r, (int)p);
    v->update(a, (unsigned)r.w, (unsigned)r.h);
    if (v->head && r.h > 4) {
        struct row row = { .arena = a->frame };
        v->head(a, (unsigned)r.w, &row);
        surface_row(s, r.x, r.y, r.w, &row, 0);
        r.y++, r.h--;
    }
    if (!plotted(a, s, map, p, r)) {
        int fixed = (int)a->chart[p].n, least = r.h < 6 ? r.h : 3;
        fixed = fixed > r.h - least ? r.h - least : fixed;
        struct rect top = { r.x, r.y, r.w, r.h - fixed };
        if (a->chart[p].n && (int)a->list[p].count < top.h)
            top.h = (int)a->list[p].count; /* the chart follows a short list at once */
        lines(a, s, p, top);
        screen_hit(map, HIT_LINES, top, (int)p);
        fixed_lines(a, s, &a->chart[p], (struct rect){ r.x, r.y + top.h, r.w, r.h - top.h });
    }
    surface_clip(s, old);
}

static void over_draw(struct app *a, struct surface *s, struct screen *map, struct rect r,
                      const char *name)
{
    struct list *l = &a->over_list;
    surface_fill(s, r, ' ', ROLE_TEXT);
    bool frame = r.w >= 40 && r.h >= 8;
    struct rect in = frame ? (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 } : r;
    if (frame)
        surface_frame(s, r, true, name);
    struct rect old = surface_clip(s, in);
    list_fit(l, (unsigned)in.h);
    for (int y = 0; y < in.h && l->top + (size_t)y < a->over.n; y++) {
        const struct page_line *line = &a->over.line[l->top + (size_t)y];
        struct row row = { .arena = a->frame };
        memcpy(row.v, line->v, sizeof *row.v * line->n);
        row.n = line->n;
        surface_row(s, in.x, in.y + y, in.w - 1, &row, l->left);
        if (*a->search)
            emphasise(s, in, in.y + y, str_of(a->search), &row, l->left);
        if (l->top + (size_t)y == l->cursor && line->item >= 0)
            surface_select(s, (struct rect){ in.x, in.y + y, in.w - 1, 1 });
    }
    scroll_bar(s, in, l);
    surface_clip(s, old);
    screen_hit(map, HIT_OVER, in, 0);
}

/* ---- whole screens ---- */
static enum panel_id slot_panel(const struct app *a, unsigned panels)
{
    int best = -1;
    for (int p = 0; p < PANEL_COUNT; p++)
        if (panels & (1u << p)) {
            if (p == (int)a->focus)
                return a->focus;
            if (best < 0 || a->recent[p] > a->recent[best])
                best = p;
        }
    return (enum panel_id)best;
}

static void framed(struct app *a, struct surface *s, struct screen *map, enum panel_id p, struct rect r)
{
    char name[64];
    snprintf(name, sizeof name, "%d %s", (int)p + 1, panel_info(p)->title);
    surface_frame(s, r, p == a->focus, name);
    panel_draw(a, s, map, p, (struct rect){ r.x + 1, r.y + 1, r.w - 2, r.h - 2 });
}

/* The cells of a border: two columns, or two rows, of the frames on both sides. */
static struct rect border_cells(const struct layout_border *b, struct rect body)
{
    int whole = b->across ? body.w : body.h, from = whole * b->from / 100,
        n = whole * b->to / 100 - from;
    if (b->across)
        return (struct rect){ body.x + from, body.y + body.h * b->at / 100 - 1, n, 2 };
    return (struct rect){ body.x + body.w * b->at / 100 - 1, body.y + from, 2, n };
}

static void slots(struct app *a, struct surface *s, struct screen *map, enum layout_id id,
                  struct rect body)
{
    struct layout_slot v[LAYOUT_SLOTS];
    struct layout_border b;
    size_t n = layout_slots(a, id, v);
    for (size_t i = 0; i < n; i++) {
        int x0 = body.w * v[i].x0 / 100, x1 = body.w * v[i].x1 / 100, y0 = body.h * v[i].y0 / 100,
            y1 = body.h * v[i].y1 / 100;
        framed(a, s, map, slot_panel(a, v[i].panels),
               (struct rect){ body.x + x0, body.y + y0, x1 - x0, y1 - y0 });
    }
    for (unsigned k = 0; layout_border(a, id, k, &b); k++)
        screen_hit(map, HIT_BORDER, border_cells(&b, body), (int)k);
    map->body = body;
}

/* Above the panel, at most half of the body; on request over it, part by part. */
static struct rect lesson_strip(struct app *a, struct surface *s, struct rect body)
{
    struct page p;
    struct lesson_view *v = &a->lesson;
    view_lesson_update(a, &p, (unsigned)body.w);
    bool asks = v->writes != NULL;
    int most = v->part || asks ? body.h - 1 : body.h / 2, step = most > 1 ? most - 1 : 1,
        from = v->part && !asks ? (int)(v->part - 1) * step : 0;
    int n = (int)p.n - from > most ? most : (int)p.n - from;
    v->more = (int)p.n - from > most;
    v->seen = asks && !v->more && body.w >= 10;
    if (n <= 0)
        return body;
    p.line += from;
    p.n -= (size_t)from;
    fixed_lines(a, s, &p, (struct rect){ body.x, body.y, body.w, n });
    if (v->more) {
        surface_fill(s, (struct rect){ body.x, body.y + n - 1, body.w, 1 }, ' ', ROLE_TEXT);
        surface_print(s, body.x + 1, body.y + n - 1, ROLE_CHANGED, "%s",
                      view_keys(a, "… {lesson-hide} shows more"));
    }
    for (int x = body.x; x < body.x + body.w; x++)
        surface_put(s, x, body.y + n, 0x2500, ROLE_BORDER);
    return (struct rect){ body.x, body.y + n + 1, body.w, body.h - n - 1 };
}

static struct rect overlay_rect(const struct app *a, struct rect body)
{
    int w = body.w > 124 ? 120 : body.w, h = body.h > 50 ? 46 : body.h;
    (void)a;
    return (struct rect){ body.x + (body.w - w) / 2, body.y + (body.h - h) / 2, w, h };
}

static void overlay(struct app *a, struct surface *s, struct screen *map, struct rect body)
{
    struct rect r = overlay_rect(a, body);
    switch (a->overlay) {
    case OVERLAY_HELP:
        view_help_update(a, (unsigned)r.w - 3); /* a column is the scroll bar's */
        over_draw(a, s, map, r,
                  a->help_over_picker ? "Help: demos and lessons" : "Help: / finds, q closes");
        break;
    case OVERLAY_PICKER:
        view_picker_update(a, (unsigned)r.w - 2);
        over_draw(a, s, map, r, "Demos and lessons");
        break;
    case OVERLAY_TREE:
        view_tree_update(a, (unsigned)r.w - 2);
        over_draw(a, s, map, r, "Where the address comes from");
        break;
    case OVERLAY_KERNELS:
        view_kernels_update(a, (unsigned)r.w - 2);
        over_draw(a, s, map, r, "Kernels: Enter opens one");
        break;
    case OVERLAY_NONE: break;
    }
}

static void reduced(struct app *a, struct surface *s, struct screen *map)
{
    bool keys = s->h >= KEYS_ROWS;
    struct rect body = { 0, 1, s->w, s->h - 2 - keys - bars_progress_row(a, s) };
    char label[PTX_LABEL];
    surface_fill(s, (struct rect){ 0, 0, s->w, 1 }, ' ', ROLE_BAR);
    surface_print(s, 1, 0, ROLE_BAR_KEY, "%d %s", (int)a->focus + 1, panel_info(a->focus)->title);
    if (s->w >= 36 && a->snap->kernel)
        surface_print(s, 16, 0, ROLE_BAR, "%.*s", s->w - 17, ptx_label(a->snap->kernel, label));
    if (a->overlay == OVERLAY_NONE)
        panel_draw(a, s, map, a->focus, lesson_strip(a, s, body));
    else
        overlay(a, s, map, body);
    bars_draw_bottom(a, s, map, keys);
}

/* As many words as a handful of cells hold: how large, that it is too small, how to leave. */
static void tiny(struct surface *s)
{
    if (s->h >= 3) {
        surface_print(s, 0, 0, ROLE_WARN, "%dx%d", s->w, s->h);
        surface_print(s, 0, 1, ROLE_WARN, "too small");
        surface_print(s, 0, 2, ROLE_WARN, "q quits");
    } else {
        surface_print(s, 0, 0, ROLE_WARN, s->w >= 18 ? "too small; q quits" : "q quits");
    }
}

void screen_draw(struct app *a, struct surface *s, struct screen *map)
{
    enum extent extent = screen_extent(s->w, s->h);
    surface_clear(s);
    map->nhits = 0;
    if (extent == EXTENT_LINE) {
        tiny(s);
        return;
    }
    if (extent == EXTENT_REDUCED) {
        reduced(a, s, map);
    } else {
        bars_draw_top(a, s, map, true);
        struct rect body =
            lesson_strip(a, s, (struct rect){ 0, 2, s->w, s->h - 4 - bars_progress_row(a, s) });
        enum layout_id layout = layout_now(a, s->w, s->h);
        if (layout != LAYOUT_ONE)
            slots(a, s, map, layout, body);
        else
            panel_draw(a, s, map, a->focus, body);
        overlay(a, s, map, body);
        bars_draw_bottom(a, s, map, true);
    }
    if (a->set.ascii)
        surface_ascii(s);
}

/* ---- mouse ---- */
static unsigned click_line(struct app *a, struct list *l, const struct page *p, struct rect r, int y)
{
    size_t i = l->top + (size_t)(y - r.y);
    if (i >= l->count || (p && (i >= p->n || p->line[i].item < 0)))
        return UI_REDRAW;
    bool again = i == l->cursor;
    list_show(l, i);
    (void)a;
    return again ? UI_REDRAW | 0x100 : UI_REDRAW; /* 0x100: a second click on the same line */
}

static size_t nearest(const struct plot_series *v, double x)
{
    size_t best = 0;
    for (size_t i = 1; i < v->n; i++) {
        double d = v->x[i] - x, b = v->x[best] - x;
        if (d * d < b * b)
            best = i;
    }
    return best;
}

/* A click puts the cursor on the nearest point; a drag over the valley's curve zooms to what it went
 * over. */
static unsigned plot_click(struct app *a, struct screen *map, const struct hit *h, const struct event *e)
{
    struct plot p;
    if (!view_of((enum panel_id)h->id)->plot(a, &p) || !p.nseries || !p.series[0].n)
        return 0;
    double x = plot_x_at(h->r, &p, e->x), at = x;
    if (e->mouse == MOUSE_PRESS)
        map->drag_from = e->x;
    else if (e->mouse == MOUSE_RELEASE && h->id == PANEL_VALLEY && map->drag_from >= 0 &&
             (e->x - map->drag_from > 3 || map->drag_from - e->x > 3)) {
        double from = plot_x_at(h->r, &p, map->drag_from), share = (x - from) / (p.x1 - p.x0);
        double whole = a->valley.zoom / (share < 0 ? -share : share);
        at = (x + from) / 2; /* the point in the middle of what was dragged over */
        a->valley.zoom = whole > 16 ? 16 : whole;
    }
    view_cursor(a, (enum panel_id)h->id, nearest(&p.series[0], at));
    return UI_REDRAW;
}

static unsigned wheel(struct app *a, const struct hit *h, int by)
{
    if (h->kind == HIT_OVER) {
        list_move(&a->over_list, &a->over, by);
        return UI_REDRAW;
    }
    if (h->kind == HIT_PLOT && h->id == PANEL_VALLEY)
        return view_of(PANEL_VALLEY)->request(a, by < 0 ? REQ_VAL_ZOOM_IN : REQ_VAL_ZOOM_OUT);
    if (h->kind != HIT_LINES && h->kind != HIT_PANEL)
        return 0;
    enum panel_id p = (enum panel_id)h->id;
    list_move(&a->list[p], view_of(p)->line ? NULL : &a->page[p], by);
    return UI_REDRAW;
}

static unsigned press(struct app *a, struct screen *map, const struct hit *h, const struct event *e)
{
    unsigned done;
    switch (h->kind) {
    case HIT_TAB: app_focus(a, (enum panel_id)h->id); return UI_REDRAW;
    case HIT_REQUEST: return app_request(a, (enum request)h->id);
    case HIT_PLOT: app_focus(a, (enum panel_id)h->id); return plot_click(a, map, h, e);
    case HIT_OVER:
        done = click_line(a, &a->over_list, &a->over, h->r, e->y);
        return a->overlay == OVERLAY_PICKER && (done & 0x100) ? app_request(a, REQ_PICK_OPEN)
                                                              : done & 0xff;
    case HIT_LINES:
        app_focus(a, (enum panel_id)h->id);
        return click_line(a, &a->list[h->id],
                          view_of((enum panel_id)h->id)->line ? NULL : &a->page[h->id], h->r, e->y) &
               0xff;
    case HIT_PANEL: app_focus(a, (enum panel_id)h->id); return UI_REDRAW;
    case HIT_BORDER: map->held = h->id + 1; return UI_REDRAW;
    }
    return 0;
}

/* A border that is held follows the mouse; where it is let go it stays and is kept. */
static unsigned border_drag(struct app *a, struct screen *map, const struct event *e)
{
    enum layout_id id = layout_now(a, a->w, a->h);
    struct layout_border b;
    unsigned k = (unsigned)map->held - 1;
    if (e->mouse == MOUSE_DRAG && layout_border(a, id, k, &b)) {
        int at = b.across ? e->y - map->body.y : e->x - map->body.x,
            whole = b.across ? map->body.h : map->body.w;
        layout_put(a, id, k, whole > 0 ? (at * 100 + whole / 2) / whole : b.at);
    }
    if (e->mouse == MOUSE_RELEASE) {
        map->held = 0;
        config_save(a);
    }
    return UI_REDRAW;
}

unsigned screen_mouse(struct app *a, struct screen *map, const struct event *e)
{
    if (map->held && (e->mouse == MOUSE_DRAG || e->mouse == MOUSE_RELEASE))
        return border_drag(a, map, e);
    map->held = 0;
    for (unsigned i = map->nhits; i-- > 0;) {
        const struct hit *h = &map->hit[i];
        if (e->x < h->r.x || e->y < h->r.y || e->x >= h->r.x + h->r.w || e->y >= h->r.y + h->r.h)
            continue;
        if (e->mouse == MOUSE_WHEEL_UP || e->mouse == MOUSE_WHEEL_DOWN)
            return wheel(a, h, e->mouse == MOUSE_WHEEL_UP ? -3 : 3);
        if (e->mouse == MOUSE_PRESS)
            return press(a, map, h, e);
        if (h->kind == HIT_PLOT && (e->mouse == MOUSE_RELEASE || e->mouse == MOUSE_DRAG)) {
            unsigned done = plot_click(a, map, h, e);
            if (e->mouse == MOUSE_RELEASE)
                map->drag_from = -1;
            return done;
        }
    }
    return 0;
}
