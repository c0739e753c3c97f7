/* The page of the papers: a list of experiments; Enter runs one beside the screen, and the result stands
 * below its line. */
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/paper/paper.h"
#include "tests/terminal/live.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/control/control.h"
#include "tui/control/panels.h"
#include "tui/view/papers.h"
#include "tui/view/view.h"

#include <string.h>
#include <unistd.h>

static void frame(struct app *a)
{
    app_begin_frame(a);
    view_of(PANEL_PAPERS)->update(a, 100, 40);
}

/* Line whose text holds this; SIZE_MAX: none. */
static size_t line_with(const struct app *a, const char *text)
{
    const struct page *p = &a->page[PANEL_PAPERS];
    for (size_t i = 0; i < p->n; i++)
        for (unsigned k = 0; k < p->line[i].n; k++)
            if (text_find(p->line[i].v[k].s, str_of(text)) != SIZE_MAX)
                return i;
    return SIZE_MAX;
}

static void open_page(struct app *a, struct diags *ds)
{
    assert_status_ok(live_open(a, NULL, ds), ds);
    a->w = 100;
    a->h = 40;
    app_focus(a, PANEL_PAPERS);
    frame(a);
}

static void every_experiment_has_a_line(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    for (size_t i = 0; i < paper_count(); i++)
        assert_int_not_equal(line_with(&a, paper_at(i)->title), SIZE_MAX);
    live_close(&a);
    diags_free(&ds);
}

static void enter_runs_the_one_under_the_cursor(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    (void)state;
    open_page(&a, &ds);
    list_show(&a.list[PANEL_PAPERS], line_with(&a, "Reuse distances of the example"));
    assert_int_equal(app_request(&a, REQ_PAPERS_RUN) & UI_REDRAW, UI_REDRAW);
    for (int i = 0; i < 3000 && papers_working(&a); i++)
        usleep(1000);
    assert_int_equal(papers_now(&a).state, PAPERS_READY);
    frame(&a);
    assert_int_not_equal(line_with(&a, "lines of 16 bytes, cache of 32"), SIZE_MAX);
    live_close(&a);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_experiment_has_a_line),
        cmocka_unit_test(enter_runs_the_one_under_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
