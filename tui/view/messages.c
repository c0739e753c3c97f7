/* messages: what the engine said and what the screen itself warned of, oldest
 * first. Item i below ITEM_SAID is the engine's message i, above it a remark of
 * the app. */
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

#define ITEM_SAID 100000

static void put_message(struct app *a, enum diag_level kind, const char *text, long item, unsigned w)
{
    static const struct {
        const char *text;
        enum role role;
    } level[] = { { "note ", ROLE_NOTE }, { "warn ", ROLE_WARN }, { "error", ROLE_ERROR } };
    struct page *p = &a->page[PANEL_MESSAGES];
    size_t first = p->n;
    if ((int)kind < a->messages.level)
        return;
    page_wrap(a, p, ROLE_TEXT, 8, w - 1, text, item);
    if (p->n > first) { /* the level stands in the indentation of the first line */
        struct row r = { .arena = a->frame };
        row_put(&r, level[kind].role, " %s", level[kind].text);
        row_pad(&r, 8);
        for (unsigned k = 1; k < p->line[first].n; k++)
            row_str(&r, p->line[first].v[k].role, p->line[first].v[k].s);
        struct page one = { 0 };
        page_add(a, &one, &r, item);
        if (one.n)
            p->line[first] = one.line[0];
    }
}

static void put_engine(struct app *a, size_t i, unsigned w)
{
    const struct job_message *m = &a->snap->messages[i];
    const char *text = m->text ? m->text : "", *full = text;
    if (m->file && m->at.line)
        full = arena_printf(a->frame, "%s:%u:%u: %s", m->file, m->at.line, m->at.col, text);
    else if (m->file)
        full = arena_printf(a->frame, "%s: %s", m->file, text);
    put_message(a, m->level, full ? full : text, (long)i, w);
}

static void messages_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_MESSAGES];
    struct list *l = &a->list[PANEL_MESSAGES];
    const struct job_snapshot *s = a->snap;
    bool at_end = l->cursor + 1 >= l->count;
    (void)h;
    page_clear(p);
    for (size_t i = 0, k = 0; i < s->nmessages || k < a->nsaid;)
        if (k < a->nsaid && (i == s->nmessages || a->said[k].time_ns < s->messages[i].time_ns)) {
            put_message(a, a->said[k].level, a->said[k].text, (long)(ITEM_SAID + k), w);
            k++;
        } else {
            put_engine(a, i++, w);
        }
    if (!p->n)
        page_say(a, p, ROLE_DIM, 1, w - 1,
                 s->nmessages || a->nsaid ? "nothing at this level: f shows everything"
                                          : "No messages yet. Notes, warnings and errors are listed "
                                            "here; Enter on one goes to its place in the source.");
    list_set_count(l, p->n);
    if (at_end && a->messages.seen != s->nmessages)
        list_show(l, p->n - 1);
    a->messages.seen = s->nmessages;
}

static void messages_head(struct app *a, unsigned w, struct row *r)
{
    static const char *const shown[] = { "everything", "warnings and errors", "errors only" };
    (void)w;
    row_put(r, ROLE_LABEL, " showing %s", shown[a->messages.level]);
}

static unsigned messages_request(struct app *a, enum request r)
{
    long i = page_item(&a->page[PANEL_MESSAGES], &a->list[PANEL_MESSAGES]);
    switch (r) {
    case REQ_MSG_LEVEL: a->messages.level = (a->messages.level + 1) % 3; return UI_REDRAW;
    case REQ_MSG_GOTO:
        if (i >= 0 && i < ITEM_SAID && a->snap->messages[i].at.line &&
            source_goto(a, a->snap->messages[i].at.line))
            app_focus(a, PANEL_SOURCE);
        else
            app_notice(a, DIAG_NOTE, "this message has no place in the source");
        return UI_REDRAW;
    default: return 0;
    }
}

const struct view view_messages = { messages_update, messages_head, NULL, messages_request, NULL, NULL };
