/* help and the demo picker: overlays made from the tables. */
#include "tui/app/app.h"
#include "tui/control/command.h"
#include "tui/base/text.h"
#include "tui/control/panels.h"

#include <stdio.h>
#include <string.h>

/* Key column and text; on a narrow screen the text has lines of its own. */
static void put_entry(struct app *a, struct row *r, unsigned column, const char *text, unsigned w)
{
    struct page *p = &a->over;
    if (r->width < column && column + text_width(str_of(text)) <= w) {
        row_pad(r, column);
        row_put(r, ROLE_TEXT, "%s", text);
        page_add(a, p, r, -1);
        return;
    }
    if (w >= 60 && r->width < column) {
        size_t first = p->n;
        page_wrap(a, p, ROLE_TEXT, column, w, text, -1);
        if (p->n > first) /* the key stands in the indentation of the first line */
            row_pad(r, column);
        for (unsigned k = 1; p->n > first && k < p->line[first].n; k++)
            row_str(r, p->line[first].v[k].role, p->line[first].v[k].s);
        struct page one = { 0 };
        page_add(a, &one, r, -1);
        if (one.n && p->n > first)
            p->line[first] = one.line[0];
        return;
    }
    page_add(a, p, r, -1);
    page_wrap(a, p, ROLE_TEXT, 6, w, text, -1);
}

static void put_request(struct app *a, enum request q, unsigned w)
{
    struct buf keys = { 0 };
    struct row r = { .arena = a->frame };
    keymap_keys(&a->keys, q, &keys);
    row_put(&r, ROLE_KEY, "  %s ", keys.n ? keys.s : "-");
    if (w >= 100)
        put_entry(a, &r, 20,
                  arena_printf(a->frame, "%-*s %s", (int)(w > 122 ? 78 : w - 44), request_info(q)->help,
                               request_info(q)->name),
                  w);
    else
        put_entry(a, &r, 20, request_info(q)->help, w);
    buf_free(&keys);
}

static void put_scope(struct app *a, enum scope s, unsigned w)
{
    page_blank(a, &a->over);
    if ((unsigned)s < PANEL_COUNT)
        page_heading(a, &a->over, "%s panel", panel_info((enum panel_id)s)->title);
    else
        page_heading(a, &a->over, "Keys: %s", scope_name(s));
    for (int q = REQ_NONE + 1; q < REQ_COUNT; q++)
        if (request_info((enum request)q)->scope == s)
            put_request(a, (enum request)q, w);
}

/* Keys that work everywhere, by what they are for; what no group names comes last. The panels' number
 * keys are one line. */
static const struct {
    const char *title;
    enum request of[16]; /* up to REQ_NONE */
} groups[] = {
    { "Run, sweep, search", { REQ_RUN, REQ_SWEEP, REQ_TUNE, REQ_RESUME, REQ_CANCEL } },
    { "Panels and layouts",
      { REQ_PANEL_1, REQ_PANEL_SUMMARY, REQ_PANEL_CUDA, REQ_PANEL_SASS, REQ_NEXT_PANEL, REQ_PREV_PANEL,
        REQ_ZOOM, REQ_LAYOUT, REQ_BORDER_LEFT, REQ_BORDER_RIGHT, REQ_BORDER_UP, REQ_BORDER_DOWN } },
    { "Kernel and files", { REQ_KERNELS, REQ_RELOAD, REQ_UNDO, REQ_REDO, REQ_WRITE, REQ_EXPORT } },
    { "Leave, help, screen",
      { REQ_HELP, REQ_COMMAND, REQ_CLOSE, REQ_QUIT, REQ_QUIT_NOW, REQ_REDRAW, REQ_SUSPEND } },
};

static void put_numbers(struct app *a, unsigned w)
{
    char first[16], last[16];
    struct row r = { .arena = a->frame };
    keymap_key(&a->keys, REQ_PANEL_1, first);
    keymap_key(&a->keys, REQ_PANEL_9, last);
    row_put(&r, ROLE_KEY, "  %s to %s ", first, last);
    put_entry(a, &r, 20, "the panel with that number in the line of tabs", w);
}

static void put_group(struct app *a, size_t g, bool *shown, unsigned w)
{
    page_blank(a, &a->over);
    page_heading(a, &a->over, "%s", groups[g].title);
    for (size_t i = 0; i < ARRAY_LEN(groups[g].of) && groups[g].of[i] != REQ_NONE; i++) {
        shown[groups[g].of[i]] = true;
        if (groups[g].of[i] == REQ_PANEL_1)
            put_numbers(a, w);
        else
            put_request(a, groups[g].of[i], w);
    }
}

static void put_global(struct app *a, unsigned w)
{
    bool shown[REQ_COUNT] = { false };
    bool any = false;
    for (size_t g = 0; g < ARRAY_LEN(groups); g++)
        put_group(a, g, shown, w);
    for (int q = REQ_NONE + 1; q < REQ_COUNT; q++) {
        if (request_info((enum request)q)->scope != SCOPE_GLOBAL || shown[q] ||
            (q > REQ_PANEL_1 && q <= REQ_PANEL_9))
            continue;
        if (!any)
            page_blank(a, &a->over);
        any = true;
        put_request(a, (enum request)q, w);
    }
}

static void put_command_help(struct app *a, unsigned w)
{
    static const struct {
        enum command_use use;
        const char *title;
    } kinds[] = { { COMMAND_ACTS, "Commands (after :) to run and open" },
                  { COMMAND_SHOWS, "Commands to set and show" },
                  { COMMAND_WRITES, "Commands to write files and settings" } };
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
        page_blank(a, &a->over);
        page_heading(a, &a->over, "%s", kinds[k].title);
        for (size_t i = 0; i < cmdline_count(); i++) {
            const struct command_info *c = cmdline_info(i);
            struct row r = { .arena = a->frame };
            if (c->use != kinds[k].use)
                continue;
            row_put(&r, ROLE_KEY, "  %s", c->name);
            row_put(&r, ROLE_LABEL, " %s ", c->form);
            put_entry(a, &r, 34, c->help, w);
        }
    }
}

void view_help_update(struct app *a, unsigned w)
{
    page_clear(&a->over);
    if (a->help_over_picker) {
        page_say(a, &a->over, ROLE_NOTE, 1, w - 2,
                 "The list of lessons and demo kernels. {down} and {up} choose, {open} opens, "
                 "{search} searches. A lesson tells what to do; a kernel opens with its "
                 "launch, ready to run on the simulated device.");
        put_scope(a, SCOPE_PICKER, w);
        put_scope(a, SCOPE_LIST, w);
        put_global(a, w);
        list_set_count(&a->over_list, a->over.n);
        return;
    }
    page_wrap(a, &a->over, ROLE_NOTE, 1, w - 2, panel_info(a->focus)->help, -1);
    put_scope(a, (enum scope)a->focus, w);
    if (panel_info(a->focus)->list)
        put_scope(a, SCOPE_LIST, w);
    put_global(a, w);
    put_command_help(a, w);
    if (a->replay.on)
        put_scope(a, SCOPE_REPLAY, w);
    put_scope(a, SCOPE_LESSON, w);
    for (int s = 0; s < PANEL_COUNT; s++)
        if (s != (int)a->focus)
            put_scope(a, (enum scope)s, w);
    list_set_count(&a->over_list, a->over.n);
}

static void put_pick(struct app *a, size_t i, unsigned name, unsigned w)
{
    const struct pick *p = &a->pick[i];
    struct row r = { .arena = a->frame };
    row_put(&r, p->lesson ? ROLE_NOTE : ROLE_VALUE, "  %s", p->title);
    row_pad(&r, name + 4);
    if (p->help && w > name + 24)
        row_str(&r, ROLE_DIM, text_sentences(str_of(p->help), w - name - 5));
    page_add(a, &a->over, &r, (long)i);
    if ((long)i == a->pick_wanted) {
        list_set_count(&a->over_list, a->over.n);
        list_show(&a->over_list, a->over.n - 1);
        a->pick_wanted = -1;
    }
}

/* Lessons and kernels in columns of their own: titles of lessons are long. */
void view_picker_update(struct app *a, unsigned w)
{
    unsigned name[2] = { 0, 0 };
    page_clear(&a->over);
    page_say(a, &a->over, ROLE_TEXT, 1, w - 2,
             "Pick a lesson or a demo kernel with the arrow keys and Enter. Everything here runs on "
             "the simulated device; no GPU is needed. "
             "New to the cache valley? Lesson 2 needs nothing but five minutes.");
    for (size_t i = 0; i < a->npicks; i++) {
        unsigned n = text_width(str_of(a->pick[i].title));
        name[a->pick[i].lesson] = n > name[a->pick[i].lesson] ? n : name[a->pick[i].lesson];
    }
    for (size_t i = 0; i < a->npicks; i++) {
        if (i == 0 || a->pick[i].lesson != a->pick[i - 1].lesson) {
            page_blank(a, &a->over);
            page_heading(a, &a->over, a->pick[i].lesson ? "Lessons" : "Kernels");
        }
        put_pick(a, i, name[a->pick[i].lesson], w);
    }
    if (!a->npicks) {
        page_blank(a, &a->over);
        page_say(a, &a->over, ROLE_WARN, 1, w - 2,
                 "No kernels/ folder was found. :open FILE.ptx opens a file; GPULOCW_DATA names the "
                 "folder of kernels/ and sessions/.");
    }
    list_set_count(&a->over_list, a->over.n);
    if (a->npicks && page_item(&a->over, &a->over_list) < 0)
        list_move(&a->over_list, &a->over, 1);
}

const char *view_picker_help(const struct app *a)
{
    long i = page_item(&a->over, &a->over_list);
    return i >= 0 && (size_t)i < a->npicks ? a->pick[i].help : NULL;
}
