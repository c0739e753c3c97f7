/* help and the demo picker: overlays made from the tables. */
#include "tui/model/view.h"
#include "tui/model/command.h"

#include <stdio.h>
#include <string.h>

static void put_request(struct app *a, enum request q, unsigned w)
{
    struct buf keys = { 0 };
    struct row r;
    keymap_keys(&a->keys, q, &keys);
    row_init(&r, a->frame);
    row_put(&r, ROLE_KEY, "  %-16s ", keys.n ? keys.s : "-");
    row_pad(&r, 20);
    row_put(&r, ROLE_TEXT, "%s", request_info(q)->help);
    if (w >= 100) {
        row_pad(&r, w - 22);
        row_put(&r, ROLE_DIM, "%s", request_info(q)->name);
    }
    page_add(a, &a->over, &r, -1);
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

static void put_command_help(struct app *a)
{
    page_blank(a, &a->over);
    page_heading(a, &a->over, "Commands (after :)");
    for (size_t i = 0; i < cmdline_count(); i++) {
        const struct command_info *c = cmdline_info(i);
        struct row r;
        row_init(&r, a->frame);
        row_put(&r, ROLE_KEY, "  %s", c->name);
        row_put(&r, ROLE_LABEL, " %s", c->form);
        row_pad(&r, 34);
        row_put(&r, ROLE_TEXT, " %s", c->help);
        page_add(a, &a->over, &r, -1);
    }
}

void view_help_update(struct app *a, unsigned w)
{
    page_clear(&a->over);
    page_wrap(a, &a->over, ROLE_NOTE, 1, w - 2, panel_info(a->focus)->help, -1);
    put_scope(a, (enum scope)a->focus, w);
    if (panel_info(a->focus)->list)
        put_scope(a, SCOPE_LIST, w);
    put_scope(a, SCOPE_GLOBAL, w);
    put_command_help(a);
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
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, p->lesson ? ROLE_NOTE : ROLE_VALUE, "  %s", p->title);
    row_pad(&r, name + 4);
    row_put(&r, ROLE_DIM, "%s", w > name + 24 && p->help ? p->help : "");
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
    page_wrap(a, &a->over, ROLE_TEXT, 1, w - 2,
              "Pick a lesson or a demo kernel with the arrow keys and Enter. Everything here runs on the simulated device; no GPU is needed. "
              "New to the cache valley? Lesson 2 needs nothing but five minutes.", -1);
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
        page_wrap(a, &a->over, ROLE_WARN, 1, w - 2, "No kernels/ folder was found. :open FILE.ptx opens a file; GPULOCW_DATA names the folder of kernels/ and sessions/.", -1);
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
