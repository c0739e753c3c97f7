/* papers: the figures and tables of the papers as a list; Enter runs one on a thread of its own, and
 * what it came to stands below its line. Item i is experiment i. */
#include "tui/view/papers.h"

#include "engine/dev/dev.h"
#include "engine/paper/paper.h"
#include "engine/session/preset.h"
#include "tui/app/app.h"
#include "tui/app/work.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

/* ---- the work ---- */
struct papers_worker {
    struct work work;
    const struct paper_experiment *of;
    struct paper_result result;
    _Atomic int per_mille;
    char kernels[1024], why[200];
};

static void clear(struct work *w)
{
    paper_result_free(&((struct papers_worker *)w)->result);
}

static void on_progress(void *ctx, double done, const char *what)
{
    struct papers_worker *p = ctx;
    (void)what;
    atomic_store(&p->per_mille, (int)(done * 1000));
}

static bool experiment(struct work *w)
{
    struct papers_worker *p = (struct papers_worker *)w;
    struct dev_env env = { .preset = preset_read, .preset_at = preset_at, .cancel = &w->cancel };
    struct paper_request q = {
        .kernels = p->kernels, .env = &env, .cancel = &w->cancel, .progress = on_progress, .ctx = p
    };
    struct diags ds = { 0 };
    enum status st = paper_run(p->of, &q, &p->result, &ds);
    if (st != ST_OK)
        snprintf(p->why, sizeof p->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    diags_free(&ds);
    return st == ST_OK;
}

static bool papers_start(struct app *a, const struct paper_experiment *e)
{
    papers_drop(a);
    struct papers_worker *p = a->engine.hold ? base_alloc(sizeof *p) : NULL;
    if (!p)
        return false;
    p->of = e;
    p->work.run = experiment;
    p->work.clear = clear;
    snprintf(p->kernels, sizeof p->kernels, "%s/kernels", a->data_dir ? a->data_dir : ".");
    a->papers = work_start(&a->engine, &p->work);
    return a->papers != NULL;
}

struct papers_now papers_now(const struct app *a)
{
    static const enum papers_state state[] = {
        [WORK_BUSY] = PAPERS_WORKING, [WORK_READY] = PAPERS_READY, [WORK_FAILED] = PAPERS_FAILED
    };
    const struct papers_worker *p = (const struct papers_worker *)a->papers;
    if (!p)
        return (struct papers_now){ NULL, PAPERS_NONE, 0, NULL, "" };
    enum papers_state s = state[work_state(a->papers)];
    return (struct papers_now){ p->of, s, atomic_load(&p->per_mille) / 1000.0,
                                s == PAPERS_READY ? &p->result : NULL,
                                s == PAPERS_FAILED ? p->why : "" };
}

bool papers_working(const struct app *a)
{
    return a->papers && work_state(a->papers) == WORK_BUSY;
}

void papers_drop(struct app *a)
{
    work_drop(&a->papers);
}

/* ---- the page ---- */
static void put_experiment(struct app *a, const struct papers_now *now, size_t i)
{
    const struct paper_experiment *e = paper_at(i);
    struct row r = { .arena = a->frame };
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
        struct row r = { .arena = a->frame };
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
        app_notice(a, DIAG_NOTE, "%s is cancelled", e->id);
    } else if (!papers_start(a, e)) {
        app_notice(a, DIAG_ERROR, "%s could not be started", e->id);
    }
    return UI_REDRAW;
}

const struct view view_papers = { papers_update, NULL, NULL, papers_request, NULL, NULL };
