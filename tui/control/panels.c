/* The panels by number: the line of one, the plot in front, searching and moving through its list. */
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/control/panels.h"

#include <string.h>

static const struct view *const views[PANEL_COUNT] = {
#define X(id, name, title, brief, help, list) &view_##name,
    PANEL_LIST(X)
#undef X
};

const struct view *view_of(enum panel_id p)
{
    return views[p];
}

void view_cursor(struct app *a, enum panel_id p, size_t point)
{
    if (p == PANEL_LOCALITY)
        a->locality.cursor = point, a->locality.placed = true;
    else
        a->valley.cursor = point, a->valley.placed = true;
}

void view_plot(struct app *a, struct plot *out)
{
    const struct view *v = views[a->focus];
    memset(out, 0, sizeof *out);
    if (!v->plot || !v->plot(a, out))
        valley_plot(a, out);
}

long view_line(struct app *a, enum panel_id p, size_t i, unsigned w, struct row *r)
{
    *r = (struct row){ .arena = a->frame };
    /* a page of its own is what a panel says when it is empty */
    if (views[p]->line && !a->page[p].n) {
        views[p]->line(a, i, w, r);
        return (long)i;
    }
    if (i >= a->page[p].n)
        return -1;
    const struct page_line *l = &a->page[p].line[i];
    memcpy(r->v, l->v, sizeof *l->v * l->n);
    r->n = l->n;
    r->width = l->width;
    return l->item;
}

static bool line_matches(struct app *a, enum panel_id panel, size_t i, struct str needle)
{
    struct row r;
    struct arena *keep = a->frame, *tmp;
    if (panel == PANEL_SOURCE) /* hundreds of thousands of lines: the text itself is looked at */
        return source_line_has(a, i, needle);
    tmp = arena_new(4096);
    if (!tmp)
        return false;
    a->frame = tmp;
    view_line(a, panel, i, 400, &r);
    bool hit = text_find(row_text(&r), needle) != SIZE_MAX;
    a->frame = keep;
    arena_free(tmp);
    return hit;
}

static bool over_matches(struct app *a, size_t i, struct str needle)
{
    /* too small a screen draws no overlay */
    const struct page_line *l = i < a->over.n ? &a->over.line[i] : NULL;
    for (unsigned k = 0; l && k < l->n; k++)
        if (text_find(l->v[k].s, needle) != SIZE_MAX)
            return true;
    return false;
}

static unsigned search(struct app *a, struct list *l, const struct page *p, int step)
{
    struct str needle = str_of(a->search);
    if (!needle.n || !l->count)
        return 0;
    for (size_t k = 1; k <= l->count; k++) {
        size_t i =
            step > 0 ? (l->cursor + k) % l->count : (l->cursor + l->count - k % l->count) % l->count;
        if (p == &a->over ? over_matches(a, i, needle) : line_matches(a, a->focus, i, needle)) {
            list_show(l, i);
            return UI_REDRAW;
        }
    }
    app_notice(a, DIAG_NOTE, "'%s' not found", a->search);
    return UI_REDRAW;
}

unsigned list_request(struct app *a, struct list *l, const struct page *p, enum request r)
{
    long page = l->rows > 2 ? (long)l->rows - 1 : 1;
    switch (r) {
    case REQ_UP: list_move(l, p, -1); break;
    case REQ_DOWN: list_move(l, p, 1); break;
    case REQ_PAGE_UP: list_move(l, p, -page); break;
    case REQ_PAGE_DOWN: list_move(l, p, page); break;
    case REQ_FIRST:
        list_move(l, p, -(long)l->count);
        l->top = 0;
        break;
    case REQ_LAST: list_move(l, p, (long)l->count); break;
    case REQ_SCROLL_LEFT: l->left = l->left > 8 ? l->left - 8 : 0; break;
    case REQ_SCROLL_RIGHT: l->left += l->left < 4000 ? 8 : 0; break;
    case REQ_SEARCH: prompt_open(&a->prompt, PROMPT_SEARCH, "/", "", 0); break;
    case REQ_SEARCH_NEXT: return search(a, l, p, 1);
    case REQ_SEARCH_PREV: return search(a, l, p, -1);
    default: return 0;
    }
    return UI_REDRAW;
}

size_t view_selected_run(struct app *a)
{
    size_t i = SIZE_MAX;
    if (a->focus == PANEL_RUNS)
        i = view_runs_selected(a);
    else if (a->focus == PANEL_COUNTERS)
        i = view_counters_run(a);
    else if (a->focus == PANEL_VALLEY)
        valley_run(a, &i);
    return i < a->snap->nruns ? i : app_last_run(a, -1);
}

enum panel_id panel_named(const char *name)
{
    int i = 0;
    while (i < PANEL_COUNT && strcmp(panel_info((enum panel_id)i)->name, name) != 0)
        i++;
    return (enum panel_id)i;
}

const char *no_panel(struct app *a, const char *name)
{
    struct buf b = { 0 };
    buf_printf(&b, "no panel '%s'; there are", name);
    for (int i = 0; i < PANEL_COUNT; i++)
        buf_printf(&b, " %s", panel_info((enum panel_id)i)->name);
    const char *text = arena_printf(a->frame, "%s", b.s ? b.s : "");
    buf_free(&b);
    return text;
}
