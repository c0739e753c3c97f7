/* advice: ranked things to try, each one key away; messages: what was said. */
#include "tui/model/view.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

static void put_advice(struct app *a, size_t i, unsigned w)
{
    const struct tune_advice *x = &a->snap->advice[i];
    struct page *p = &a->page[PANEL_ADVICE];
    struct buf b = { 0 };
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_DIM, " %zu  ", i + 1);
    row_put(&r, ROLE_TITLE, "%s", x->title);
    if (x->tried && !isnan(x->real_gain))
        row_put(&r, x->real_gain > 1.02 ? ROLE_GOOD : ROLE_WARN, "   tried: %.2fx", x->real_gain);
    else if (!isnan(x->expected_gain) && x->expected_gain > 0)
        row_put(&r, ROLE_NOTE, "   expected %.2fx, confidence %.0f %%", x->expected_gain, x->confidence * 100);
    page_add(a, p, &r, (long)i);
    page_wrap(a, p, ROLE_TEXT, 4, w - 1, x->why, -1);
    options_line(&x->options, &b);
    row_init(&r, a->frame);
    row_put(&r, ROLE_DIM, "    %s", b.n ? b.s : "(the original, unchanged)");
    page_add(a, p, &r, -1);
    page_blank(a, p);
    buf_free(&b);
}

static void advice_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_ADVICE];
    size_t last = app_last_run(a, RUN_SWEEP);
    struct row r;
    (void)h;
    page_clear(p);
    if (last != SIZE_MAX) {
        struct buf v = { 0 };
        tune_verdict(&app_run(a, last)->sweep, &v);
        if (v.n) {
            page_wrap(a, p, ROLE_TITLE, 1, w - 1, v.s, -1);
            page_blank(a, p);
        }
        buf_free(&v);
    }
    for (size_t i = 0; i < a->snap->nadvice; i++)
        put_advice(a, i, w);
    if (!a->snap->nadvice) {
        row_init(&r, a->frame);
        row_put(&r, ROLE_DIM, a->snap->facts ? " no advice yet: s sweeps, t searches all knobs" : " advice comes with the analysis");
        page_add(a, p, &r, -1);
    }
    struct list *l = &a->list[PANEL_ADVICE];
    list_set_count(l, p->n);
    if (a->snap->nadvice && page_item(p, l) < 0)
        list_move(l, p, 1);
}

static unsigned advice_request(struct app *a, enum request r)
{
    long i = page_item(&a->page[PANEL_ADVICE], &a->list[PANEL_ADVICE]);
    if (i < 0 || (size_t)i >= a->snap->nadvice)
        return 0;
    const struct tune_advice *x = &a->snap->advice[i];
    if (r == REQ_ADV_APPLY || r == REQ_ADV_TAKE)
        app_options_set(a, &x->options);
    switch (r) {
    case REQ_ADV_APPLY: {
        struct job j = { .kind = JOB_RUN, .options = x->options };
        a->engine.post(a->engine.ctx, &j);
        app_notice(a, DIAG_NOTE, "trying: %s", x->title);
        return UI_REDRAW;
    }
    case REQ_ADV_TAKE:
        app_notice(a, DIAG_NOTE, "taken as the present options (u undoes)");
        return UI_REDRAW;
    default: return 0;
    }
}

const struct view view_advice = { advice_update, NULL, NULL, advice_request };

/* ---- messages ---- */
static void put_message(struct app *a, size_t i, unsigned w)
{
    static const struct { const char *text; enum role role; } level[] = {
        { "note ", ROLE_NOTE }, { "warn ", ROLE_WARN }, { "error", ROLE_ERROR } };
    const struct job_message *m = &a->snap->messages[i];
    struct page *p = &a->page[PANEL_MESSAGES];
    size_t first = p->n;
    char place[160] = "";
    if (m->file && m->at.line)
        snprintf(place, sizeof place, "%s:%u:%u: ", m->file, m->at.line, m->at.col);
    else if (m->file)
        snprintf(place, sizeof place, "%s: ", m->file);
    char *text = arena_printf(a->frame, "%s%s", place, m->text ? m->text : "");
    page_wrap(a, p, ROLE_TEXT, 8, w - 1, text ? text : "", (long)i);
    if (p->n > first) {                 /* the level stands in the indentation of the first line */
        struct row r;
        row_init(&r, a->frame);
        row_put(&r, level[m->level].role, " %s", level[m->level].text);
        row_pad(&r, 8);
        for (unsigned k = 1; k < p->line[first].n; k++)
            row_str(&r, p->line[first].v[k].role, p->line[first].v[k].s);
        struct page one = { 0 };
        page_add(a, &one, &r, (long)i);
        if (one.n)
            p->line[first] = one.line[0];
    }
}

static void messages_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_MESSAGES];
    struct list *l = &a->list[PANEL_MESSAGES];
    bool at_end = l->cursor + 1 >= l->count;
    (void)h;
    page_clear(p);
    for (size_t i = 0; i < a->snap->nmessages; i++)
        if ((int)a->snap->messages[i].level >= a->messages.level)
            put_message(a, i, w);
    if (!p->n) {
        struct row r;
        row_init(&r, a->frame);
        row_put(&r, ROLE_DIM, " nothing to say");
        page_add(a, p, &r, -1);
    }
    list_set_count(l, p->n);
    if (at_end && a->messages.seen != a->snap->nmessages)
        list_show(l, p->n - 1);
    a->messages.seen = a->snap->nmessages;
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
        if (i >= 0 && a->snap->messages[i].at.line && source_goto(a, a->snap->messages[i].at.line))
            app_focus(a, PANEL_SOURCE);
        else
            app_notice(a, DIAG_NOTE, "this message has no place in the source");
        return UI_REDRAW;
    default: return 0;
    }
}

const struct view view_messages = { messages_update, messages_head, NULL, messages_request };
