/* summary: one page for five seconds: what limits the kernel, what to try, what that would gain. Every
 * figure says where it comes from. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/advice.h"
#include "engine/session/limits_doc.h"
#include "engine/session/session.h"
#include "engine/workspace/job.h"
#include "tui/app/app.h"
#include "tui/app/results/provenance.h"
#include "tui/app/results/run_line.h"
#include "tui/view/view.h"
#include "tui/app/view_state.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/base/theme.h"
#include "tui/view/advice.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 20, INDENT = 3, ADVICES = 3, SHOWN = 5 };

static struct page *page(struct app *a)
{
    return &a->page[PANEL_SUMMARY];
}

/* ---- what is it? ---- */
static void put_subject(struct app *a, unsigned w)
{
    const struct job_snapshot *s = a->snap;
    char label[PTX_LABEL];
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_TITLE, " %s", ptx_label(s->kernel, label));
    if (s->spec)
        row_put(&r, ROLE_LABEL, "  grid %ux%ux%u, block %ux%ux%u", s->spec->grid.x, s->spec->grid.y,
                s->spec->grid.z, s->spec->block.x, s->spec->block.y, s->spec->block.z);
    if (s->has_dev)
        row_put(&r, ROLE_LABEL, "  on %s", s->dev.spec);
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    page_blank(a, page(a));
}

/* ---- what limits it? ---- */
static void put_bars(struct app *a, const struct limits *l)
{
    for (size_t i = 0; i < SHOWN && limits_nth(l, i) < LIMIT_COUNT; i++) {
        enum limit_cause c = limits_nth(l, i);
        const struct limit_place *p = limits_place(l, c, 0);
        struct buf where = { 0 };
        struct row r;
        if (p)
            limits_place_text(l, p, &where);
        row_init(&r, a->frame);
        row_put(&r, i ? ROLE_LABEL : ROLE_TITLE, "   %-18s", limit_name(c));
        row_bar(&r, i ? ROLE_LABEL : ROLE_WARN, BAR, (double)l->share[c]);
        row_right(&r, i ? ROLE_LABEL : ROLE_TITLE, 7, "%.0f %%", 100 * (double)l->share[c]);
        row_put(&r, ROLE_DIM, "  %s", where.s ? where.s : "");
        page_add(a, page(a), &r, -1);
        buf_free(&where);
    }
}

static void put_limit(struct app *a, unsigned w)
{
    size_t run = SIZE_MAX;
    const struct result *x = run_original_limits(a, &run);
    struct buf why = { 0 };
    struct row r;
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, " What limits it   ");
    if (!x) {
        row_put(&r, ROLE_DIM, "unknown: %s",
                !a->snap->spec ? "it has no launch"
                               : view_keys(a, "{run} runs it once; a simulated device knows then"));
        page_flow(a, page(a), &r, INDENT, w - 1, -1);
        return;
    }
    enum limit_cause first = limits_first(&x->limits);
    row_put(&r, ROLE_WARN, "%s", limit_name(first));
    row_put(&r, ROLE_DIM, "  (the original in run %zu, %s; bars: share of the issue slots)", run + 1,
            limits_evidence(x));
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    put_bars(a, &x->limits);
    limit_why(x, first, &why);
    page_wrap(a, page(a), ROLE_DIM, INDENT, w - 1, why.s ? why.s : "", -1);
    buf_free(&why);
}

/* What of the loads is behind it: coalescing, reuse, and what a run counted. */
static void put_behind(struct app *a, unsigned w)
{
    const struct ana_kernel *k = a->snap->facts;
    size_t run = SIZE_MAX;
    const struct result *x = run_original_now(a, false, &run);
    struct row r;
    if (!x)
        x = run_original_now(a, true, &run);
    if (k && k->coalesce.valid) {
        row_init(&r, a->frame);
        row_put(&r, ROLE_LABEL, "   loads:");
        double use = ana_sector_use(&k->coalesce);
        row_put(&r, view_degree_role(fmax(k->coalesce.degree, use)), " %.0f %% coalesced",
                k->coalesce.degree * 100);
        if (use > k->coalesce.degree + 0.005)
            row_put(&r, view_degree_role(use), ", %.0f %% of the sectors needed", use * 100);
        if (k->exact.valid && k->exact.requests)
            row_put(&r, ROLE_VALUE, ", %.1f sectors a request", k->exact.sectors_per_request);
        page_flow(a, page(a), &r, INDENT + 2, w - 1, -1);
    }
    if (k && k->reuse.valid) {
        row_init(&r, a->frame);
        row_put(&r, ROLE_LABEL, "   bytes read again:");
        row_put(&r, ROLE_VALUE, " %.0f %% by the same warp or CTA,",
                (k->reuse.intra_warp + k->reuse.intra_cta) * 100);
        row_put(&r, ROLE_VALUE, " %.0f %% by another CTA", k->reuse.inter_cta * 100);
        page_flow(a, page(a), &r, INDENT + 2, w - 1, -1);
    }
    if (x) {
        char l1[TEXT_NUM], dram[TEXT_NUM];
        view_counter(x, COUNTER_L1_HIT_RATE, l1);
        view_counter(x, COUNTER_DRAM_READ_BYTES, dram);
        row_init(&r, a->frame);
        row_put(&r, ROLE_LABEL, "   the original in run %zu:", run + 1);
        row_put(&r, ROLE_VALUE, " L1 hits %s,", l1);
        row_put(&r, ROLE_VALUE, " DRAM reads %s", dram);
        page_flow(a, page(a), &r, INDENT + 2, w - 1, -1);
    }
}

/* ---- what to try? ---- */
static void put_gain(struct row *r, const struct tune_advice *x)
{
    if (!isnan(x->expected_gain) && x->expected_gain > 0)
        row_put(r, ROLE_NOTE, "  expected %.2fx%s, confidence %.0f %%", x->expected_gain,
                x->modelled ? " by the model" : "", x->confidence * 100);
}

static void put_try(struct app *a, bool better, unsigned w)
{
    size_t first = advice_next(a, better);
    unsigned shown = 0;
    page_blank(a, page(a));
    page_heading(a, page(a), "What to try");
    for (size_t i = first; i < a->snap->nadvice && shown < ADVICES; i++) {
        const struct tune_advice *x = &a->snap->advice[i];
        struct row r;
        if (x->tried)
            continue;
        row_init(&r, a->frame);
        row_put(&r, i == first ? ROLE_TITLE : ROLE_TEXT, "   %u  %s", ++shown, x->title);
        put_gain(&r, x);
        page_flow(a, page(a), &r, INDENT + 3, w - 1, -1);
    }
    page_wrap(
        a, page(a), ROLE_DIM, INDENT, w - 1,
        view_keys(
            a,
            shown ? "{summary-try} tries the first; {tune} searches all knobs; {panel-8} has the "
                    "reasons."
            : a->snap->unsettled
                ? "The model is still running: its advice will appear here. {tune} searches all knobs."
                : "No advice is left untried. {tune} searches all knobs, {sweep} sweeps one."),
        -1);
}

/* ---- what did it gain? ---- */
static bool only_original(const struct app *a)
{
    struct options none = options_default();
    for (size_t i = 0; i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        if (r && !r->deleted && !run_stale(a, r) &&
            (r->kind != RUN_ONE || !options_equal(&r->one.options, &none)))
            return false;
    }
    return true;
}

static void put_best(struct app *a, unsigned w, const struct options *o, double gain, size_t run,
                     bool better)
{
    struct row r;
    struct buf b = { 0 };
    const struct session_run *s = better ? app_run(a, run) : NULL;
    const struct result *x = s ? run_best(s) : NULL;
    page_blank(a, page(a));
    row_init(&r, a->frame);
    row_put(&r, ROLE_LABEL, " What it gained   ");
    if (!better) {
        row_put(&r, ROLE_DIM, "%s",
                app_last_run(a, -1) == SIZE_MAX ? "nothing has been run yet"
                : run_original_known(a)         ? only_original(a) ? "only the original has been run"
                                                                   : "nothing that ran beat the original"
                                        : "unknown: the original has not been run in its current form");
    } else {
        options_line(o, &b);
        row_put(&r, ROLE_GOOD, "%.2fx", gain);
        row_put(&r, ROLE_LABEL, " (run %zu, %s%s, outputs equal)", run + 1,
                x ? origin_name(x->time.origin) : "", x && x->sampled ? " from a sample" : "");
        row_put(&r, ROLE_VALUE, "  %s", b.s ? b.s : "");
    }
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    buf_free(&b);
}

static void summary_update(struct app *a, unsigned w, unsigned h)
{
    struct options o = options_default();
    double gain = NAN;
    size_t run = 0;
    (void)h;
    page_clear(page(a));
    if (!a->snap->module || !a->snap->kernel) {
        page_hint(a, page(a), w, view_unready(a, ""));
    } else {
        bool better = advice_best(a, &o, &gain, &run);
        put_subject(a, w);
        if (!a->snap->spec) {
            page_wrap(a, page(a), ROLE_WARN, INDENT, w - 1, view_keys(a, view_unready(a, "")), -1);
            page_blank(a, page(a));
        }
        put_limit(a, w);
        put_behind(a, w);
        put_best(a, w, &o, gain, run, better);
        put_try(a, better, w);
    }
    list_set_count(&a->list[PANEL_SUMMARY], page(a)->n);
}

static unsigned summary_request(struct app *a, enum request r)
{
    struct options o;
    double gain;
    size_t run;
    if (r != REQ_SUMMARY_TRY)
        return 0;
    size_t i = advice_next(a, advice_best(a, &o, &gain, &run));
    if (i < a->snap->nadvice)
        advice_run(a, i);
    else
        app_notice(a, DIAG_NOTE, "%s",
                   view_keys(a, "all advice has been tried; {tune} searches all knobs"));
    return UI_REDRAW;
}

const struct view view_summary = { summary_update, NULL, NULL, summary_request, NULL, NULL };
