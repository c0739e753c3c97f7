/* advice: ranked things to try, each one key away. */
#include "engine/base/base.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/search/advice.h"
#include "engine/session/session.h"
#include "engine/tune/sweep.h"
#include "tui/app/app.h"
#include "tui/app/view.h"
#include "tui/app/view_state.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/base/theme.h"
#include "tui/view/search.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

static void put_advice(struct app *a, size_t i, unsigned w)
{
    const struct tune_advice *x = &a->snap->advice[i];
    struct page *p = &a->page[PANEL_ADVICE];
    const char *origin =
        a->snap->has_dev ? a->snap->dev.kind == DEV_SIMULATED ? " (simulated)" : " (measured)" : "";
    struct buf b = { 0 };
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_DIM, " %zu  ", i + 1);
    row_put(&r, ROLE_TITLE, "%s", x->title);
    if (x->tried && !isnan(x->real_gain))
        row_put(&r, x->real_gain > 1.02 ? ROLE_GOOD : ROLE_WARN, "   tried: %.2fx%s", x->real_gain,
                origin);
    if (!isnan(x->expected_gain) && x->expected_gain > 0)
        row_put(&r, ROLE_NOTE, "   expected %.2fx%s, confidence %.0f %%", x->expected_gain,
                x->modelled ? " by the model" : "", x->confidence * 100);
    page_flow(a, p, &r, 4, w - 1, (long)i);
    page_wrap(a, p, ROLE_TEXT, 4, w - 1, x->why, -1);
    options_line(&x->options, &b);
    page_wrap(a, p, ROLE_DIM, 4, w - 1, b.n ? b.s : "(the original, unchanged)", -1);
    page_blank(a, p);
    buf_free(&b);
}

static void advice_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_ADVICE];
    size_t last = app_last_run(a, RUN_SWEEP);
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
    bool searching = a->snap->busy && a->snap->what && !strcmp(a->snap->what, "tune");
    if (searching)
        search_table(a, p, w - 1);
    for (size_t i = 0; i < a->snap->nadvice; i++)
        put_advice(a, i, w);
    if (!searching)
        search_table(a, p, w - 1);
    if (!a->snap->nadvice)
        page_hint(a, p, w,
                  view_unready(a, a->snap->facts ? "Nothing to advise from the analysis alone. {sweep} "
                                                   "sweeps the threshold, {tune} searches all knobs."
                                                 : "Advice comes with the analysis ..."));
    struct list *l = &a->list[PANEL_ADVICE];
    list_set_count(l, p->n);
    if (a->snap->nadvice && page_item(p, l) < 0)
        list_move(l, p, 1);
}

static unsigned advice_request(struct app *a, enum request r)
{
    long i = page_item(&a->page[PANEL_ADVICE], &a->list[PANEL_ADVICE]);
    bool advice = i >= 0 && (size_t)i < a->snap->nadvice;
    const struct options *o = advice ? &a->snap->advice[i].options : search_options(a, i);
    if (!o || (r != REQ_ADV_APPLY && r != REQ_ADV_TAKE))
        return 0;
    struct options taken = *o;
    app_options_set(a, &taken);
    if (r == REQ_ADV_APPLY) {
        app_notice(a, DIAG_NOTE, "trying: %s", advice ? a->snap->advice[i].title : "this configuration");
        app_run_once(a, &taken);
    } else {
        app_notice(a, DIAG_NOTE, "taken as the present options (u undoes)");
    }
    return UI_REDRAW;
}

const struct view view_advice = { advice_update, NULL, NULL, advice_request, NULL, NULL };
