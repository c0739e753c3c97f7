/* advice: ranked things to try, each one key away. */
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/advice.h"
#include "engine/session/baseline.h"
#include "engine/session/run.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/post.h"
#include "tui/app/results/provenance.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/advice.h"
#include "tui/view/search.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

const struct options *advice_best(const struct app *a, double *gain, size_t *run)
{
    *gain = 1.02;
    const struct options *found = NULL;
    size_t of;
    const struct result *now = run_original_now(a, &of);
    for (size_t i = 0; i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        const struct result *x = r && !r->deleted && !run_stale(a, r) ? run_best(r) : NULL;
        double g = x ? gain_of(run_baseline_of(r, now), x) : (double)NAN;
        if (isnan(g) || !equality_known(result_equal(x)) || g <= *gain)
            continue;
        *gain = g;
        *run = i;
        found = result_options(x);
    }
    return found;
}

bool advice_overtaken(const struct tune_advice *x, bool better)
{
    return better && options_equal(&x->options, options_none());
}

const char *advice_expected(struct app *a, const struct tune_advice *x, bool brief)
{
    struct buf b = { 0 };
    if (!x->tried)
        gain_recorded_words("", &x->likely, brief, &b);
    const char *words = b.n ? arena_dup(a->frame, (struct str){ b.s, b.n }) : NULL;
    buf_free(&b);
    return words;
}

static void put_advice(struct app *a, size_t i, unsigned number, unsigned w, bool better)
{
    const struct tune_advice *x = &a->snap->advice[i];
    struct page *p = &a->page[PANEL_ADVICE];
    bool past = advice_overtaken(x, better);
    struct buf b = { 0 };
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_DIM, " %u  ", number);
    row_put(&r, past ? ROLE_DIM : ROLE_TITLE, "%s", x->title);
    if (x->tried && isnan(x->real_gain))
        row_put(&r, ROLE_DIM,
                "   tried, but timed from a sample: not compared with the original, timed whole");
    else if (x->tried)
        row_put(&r, x->real_gain > 1.02 ? ROLE_GOOD : ROLE_WARN, "   tried: %.2fx (%s)", x->real_gain,
                evidence_words(x->evidence));
    if (past)
        row_put(&r, ROLE_DIM, "   a later run was faster");
    else if (advice_expected(a, x, false))
        row_put(&r, ROLE_NOTE, "   %s", advice_expected(a, x, false));
    page_flow(a, p, &r, 4, w - 1, (long)i);
    page_wrap(a, p, past ? ROLE_DIM : ROLE_TEXT, 4, w - 1, x->why, -1);
    options_line(&x->options, &b);
    page_wrap(a, p, ROLE_DIM, 4, w - 1, b.n ? b.s : "(the original, unchanged)", -1);
    page_blank(a, p);
    buf_free(&b);
}

/* What ran fastest stands first: it is no expectation. */
static bool put_best(struct app *a, unsigned w)
{
    struct page *p = &a->page[PANEL_ADVICE];
    double gain;
    size_t run = 0;
    struct buf b = { 0 };
    struct row r = { .arena = a->frame };
    const struct options *o = advice_best(a, &gain, &run);
    if (!o)
        return false;
    options_line(o, &b);
    row_put(&r, ROLE_GOOD, " Best so far: %.2fx faster", gain);
    row_put(&r, ROLE_LABEL, " (run %zu, %s, outputs equal)  ", run + 1,
            evidence_name(evidence_of(run_best(app_run(a, run)))));
    row_put(&r, ROLE_VALUE, "%s", b.s ? b.s : "");
    page_flow(a, p, &r, 4, w - 1, -1);
    buf_free(&b);
    return true;
}

/* The verdict of the last sweep; of another text, launch or device, or while the next runs, it is grey.
 */
static void put_last_verdict(struct app *a, unsigned w)
{
    struct page *p = &a->page[PANEL_ADVICE];
    size_t last = app_last_run(a, RUN_SWEEP);
    struct buf v = { 0 };
    bool running = app_measuring(a) && last + 1 == a->snap->nruns;
    if (last == SIZE_MAX || running) /* it has none yet, and is not cut off */
        return;
    const char *why = run_stale(a, app_run(a, last));
    run_verdict(a->snap->runs, a->snap->nruns, app_run(a, last), &v);
    if (v.n && why)
        page_say(a, p, ROLE_DIM, 1, w - 1, "Run %zu (%s): %s", last + 1, why, v.s);
    else if (v.n && run_outdone(a, last))
        page_say(a, p, ROLE_DIM, 1, w - 1,
                 "Run %zu (sampled; the original has run whole since, so its gains are not "
                 "told): %s",
                 last + 1, v.s);
    else if (v.n)
        page_wrap(a, p, ROLE_TITLE, 1, w - 1, v.s, -1);
    if (v.n)
        page_blank(a, p);
    buf_free(&v);
}

static void put_all(struct app *a, unsigned w, bool better)
{
    unsigned number = 0;
    size_t n = a->snap->nadvice;
    /* confirmed, still to be tried, overtaken */
    for (int turn = 0; turn < 3; turn++)
        for (size_t i = 0; i < n; i++) {
            const struct tune_advice *x = &a->snap->advice[i];
            int at = advice_overtaken(x, better) ? 2 : x->tried ? 0 : 1;
            if (at == turn)
                put_advice(a, i, ++number, w, better);
        }
}

size_t advice_next(const struct app *a, bool better)
{
    for (size_t i = 0; i < a->snap->nadvice; i++)
        if (!a->snap->advice[i].tried && !advice_overtaken(&a->snap->advice[i], better))
            return i;
    return SIZE_MAX;
}

/* What limits it, what ran best, what to try: the answer in three lines. */
static bool put_summary(struct app *a, unsigned w)
{
    struct page *p = &a->page[PANEL_ADVICE];
    size_t run = SIZE_MAX;
    const struct result *was = run_original_now(a, &run);
    struct row r = { .arena = a->frame };
    if (was && result_limits(was)->valid) {
        enum limit_cause first = limits_first(result_limits(was));
        row_put(&r, ROLE_LABEL, " Limited by: ");
        row_put(&r, ROLE_NOTE, "%s, %.0f %%", limit_name(first),
                100 * (double)result_limits(was)->share[first]);
        row_put(&r, ROLE_DIM, " of the time (the original in run %zu, %s)", run + 1,
                evidence_name(evidence_of(was)));
        page_flow(a, p, &r, 4, w - 1, -1);
    }
    bool better = put_best(a, w);
    size_t i = advice_next(a, better);
    const struct tune_advice *x = i == SIZE_MAX ? NULL : &a->snap->advice[i];
    if (x) {
        row_put(&r, ROLE_LABEL, " Next: ");
        row_put(&r, ROLE_TITLE, "%s", x->title);
        if (advice_expected(a, x, false))
            row_put(&r, ROLE_NOTE, "   %s", advice_expected(a, x, false));
        page_flow(a, p, &r, 4, w - 1, -1);
    }
    if (x || better || was)
        page_blank(a, p);
    return better;
}

/* Lines come and go above the first item: the cursor goes with its own, and what stands above the first
 * stays in view. */
static void keep_place(struct app *a, struct page *p)
{
    struct list *l = &a->list[PANEL_ADVICE];
    size_t first = 0, was = a->advice_first;
    while (first < p->n && p->line[first].item < 0)
        first++;
    if (l->cursor >= was && was && first < p->n)
        l->cursor = l->cursor - was + first;
    a->advice_first = first < p->n ? first : 0;
    list_set_count(l, p->n);
    if (a->snap->nadvice && page_item(p, l) < 0)
        list_move(l, p, 1);
    if (l->cursor <= first)
        l->top = 0;
}

static void advice_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_ADVICE];
    (void)h;
    page_clear(p);
    bool searching = app_doing(a->snap, JOB_TUNE);
    if (searching)
        search_table(a, p, w - 1);
    if (app_measuring(a) && a->snap->nadvice)
        page_say(a, p, ROLE_WARN, 1, w - 1, "The %s runs: what follows is from before it.",
                 app_word(a->snap));
    bool better = put_summary(a, w);
    put_last_verdict(a, w);
    put_all(a, w, better);
    if (a->snap->unsettled && a->snap->nadvice && !a->snap->busy)
        page_say(a, p, ROLE_DIM, 1, w - 1, "The model is still running: more advice may follow.");
    if (!searching)
        search_table(a, p, w - 1);
    if (!a->snap->nadvice)
        page_hint(a, p, w,
                  view_unready(a, a->snap->facts ? "The analysis alone gives no advice. {sweep} sweeps "
                                                   "π, {tune} searches all knobs."
                                                 : "Waiting for the analysis ..."));
    keep_place(a, p);
}

/* The original runs first where it has not yet: a gain is over something. */
static void try_options(struct app *a, const struct options *o, const char *title)
{
    const struct options *none = options_none();
    size_t run;
    app_options_set(a, o);
    if (!run_original_now(a, &run) && !options_equal(a->options, none))
        app_run_once(a, none);
    app_notice(a, DIAG_NOTE, "trying: %s", title);
    app_run_once(a, a->options);
}

void advice_run(struct app *a, size_t i)
{
    try_options(a, &a->snap->advice[i].options, a->snap->advice[i].title);
}

static unsigned advice_request(struct app *a, enum request r)
{
    long i = page_item(&a->page[PANEL_ADVICE], &a->list[PANEL_ADVICE]);
    bool advice = i >= 0 && (size_t)i < a->snap->nadvice;
    const struct options *o = advice ? &a->snap->advice[i].options : search_options(a, i);
    if (!o || (r != REQ_ADV_APPLY && r != REQ_ADV_TAKE))
        return 0;
    if (r == REQ_ADV_APPLY) {
        try_options(a, o, advice ? a->snap->advice[i].title : "this configuration");
    } else {
        app_options_set(a, o);
        app_notice(a, DIAG_NOTE, "using its knobs ({undo} undoes)");
    }
    return UI_REDRAW;
}

const struct view view_advice = { advice_update, NULL, NULL, advice_request, NULL, NULL };
