/* papers: the figures and tables of the papers as a list; Enter runs one, and what it came to stands
 * below its line. Item i is experiment i. */
#include "engine/base/base.h"
#include "engine/paper/paper.h"
#include "tui/app/app.h"
#include "tui/app/papers.h"
#include "tui/app/view.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/base/theme.h"

#include <string.h>

static void put_experiment(struct app *a, const struct papers_now *now, size_t i)
{
    const struct paper_experiment *e = paper_at(i);
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_VALUE, "  %-11s", e->id);
    row_put(&r, ROLE_TEXT, " %s", e->title);
    if (now->of == e && now->state == PAPERS_WORKING) {
        row_put(&r, ROLE_NOTE, "  ");
        row_bar(&r, ROLE_NOTE, 12, now->done);
        row_put(&r, ROLE_NOTE, " %.0f %%", now->done * 100);
    } else if (now->of == e && now->state == PAPERS_READY) {
        row_put(&r, ROLE_GOOD, "  done");
    }
    page_add(a, &a->page[PANEL_PAPERS], &r, (long)i);
}

/* The text of the result, line by line. */
static void put_result(struct app *a, const struct paper_result *result, unsigned w)
{
    struct buf text = { 0 };
    struct str rest, line;
    paper_text(result, w > 8 ? w - 4 : w, !a->set.ascii, &text);
    rest = str_of(text.s ? text.s : "");
    while (str_line(&rest, &line)) {
        struct row r;
        row_init(&r, a->frame);
        row_put(&r, ROLE_TEXT, "    %.*s", (int)line.n, line.s);
        page_add(a, &a->page[PANEL_PAPERS], &r, -1);
    }
    buf_free(&text);
}

static void papers_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_PAPERS];
    struct papers_now now = papers_now(a);
    const char *last = "";
    (void)h;
    page_clear(p);
    for (size_t i = 0; i < paper_count(); i++) {
        const char *of = paper_source(paper_at(i)->id);
        if (strcmp(of, last) != 0)
            page_heading(a, p, "%s", of);
        last = of;
        put_experiment(a, &now, i);
        if (now.of == paper_at(i) && now.result)
            put_result(a, now.result, w);
        else if (now.of == paper_at(i) && now.state == PAPERS_FAILED)
            page_wrap(a, p, ROLE_WARN, 4, w - 1, now.why, -1);
    }
    list_set_count(&a->list[PANEL_PAPERS], p->n);
}

static unsigned papers_request(struct app *a, enum request r)
{
    long i = page_item(&a->page[PANEL_PAPERS], &a->list[PANEL_PAPERS]);
    if (r != REQ_PAPERS_RUN || i < 0)
        return 0;
    const struct paper_experiment *e = paper_at((size_t)i);
    if (papers_working(a) && papers_now(a).of == e) {
        papers_drop(a);
        app_notice(a, DIAG_NOTE, "%s is given up", e->id);
    } else if (!papers_start(a, e)) {
        app_notice(a, DIAG_ERROR, "%s could not be started", e->id);
    }
    return UI_REDRAW;
}

const struct view view_papers = { papers_update, NULL, NULL, papers_request, NULL, NULL };
