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

void view_picker_update(struct app *a, unsigned w)
{
    bool was_lesson = true;
    page_clear(&a->over);
    page_wrap(a, &a->over, ROLE_TEXT, 1, w - 2,
              "Pick a demo kernel or a lesson. Everything here runs on the simulated device; no GPU is needed. "
              "New to the cache valley? Start with lesson 2.", -1);
    for (size_t i = 0; i < a->npicks; i++) {
        const struct pick *p = &a->pick[i];
        struct row r;
        if (i == 0 || p->lesson != was_lesson) {
            page_blank(a, &a->over);
            page_heading(a, &a->over, p->lesson ? "Lessons" : "Kernels");
        }
        was_lesson = p->lesson;
        row_init(&r, a->frame);
        row_put(&r, p->lesson ? ROLE_NOTE : ROLE_VALUE, "  %-30s ", p->title);
        row_put(&r, ROLE_DIM, "%s", p->help ? p->help : "");
        page_add(a, &a->over, &r, (long)i);
    }
    if (!a->npicks) {
        page_blank(a, &a->over);
        page_wrap(a, &a->over, ROLE_WARN, 1, w - 2, "No kernels/ folder was found. :open FILE.ptx opens a file; GPULOCW_DATA names the folder of kernels/ and sessions/.", -1);
    }
    list_set_count(&a->over_list, a->over.n);
    if (a->npicks && page_item(&a->over, &a->over_list) < 0)
        list_move(&a->over_list, &a->over, 1);
}
