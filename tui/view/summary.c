/* summary: the first screen, for five seconds: what limits the kernel, on which lines, what to try next,
 * what was gained, what is guessed. Every figure says where it comes from. */
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result_read.h"
#include "engine/search/advice.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/post.h"
#include "tui/app/results/provenance.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/advice.h"
#include "tui/view/view.h"
#include "tui/view/where.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR = 20, INDENT = 3, LINES = 3, WORDS = 32, ROOMY = 72 };
/* How much of each part is shown; the roomiest first. What was gained and what is guessed always are. */
struct room {
    unsigned bars, lines, tries;
    bool why, blanks, reuse;
    enum { EDIT_NONE, EDIT_CUT, EDIT_WHOLE } edit;
};
static const struct room rooms[] = {
    { .bars = 5,
      .lines = 5,
      .tries = 5,
      .why = true,
      .blanks = true,
      .reuse = true,
      .edit = EDIT_WHOLE },
    { .bars = 4, .lines = LINES, .tries = 3, .why = true, .reuse = true, .edit = EDIT_WHOLE },
    { .bars = 3, .lines = LINES, .tries = 3, .why = true, .edit = EDIT_WHOLE },
    { .bars = 3, .lines = LINES, .tries = 3, .why = true, .edit = EDIT_CUT },
    { .bars = 2, .lines = LINES, .tries = 3, .why = true, .edit = EDIT_CUT },
    { .bars = 2, .lines = LINES, .tries = 3, .edit = EDIT_CUT },
    { .bars = 2, .lines = LINES, .tries = 2, .why = true, .edit = EDIT_CUT },
    { .bars = 2, .lines = LINES, .tries = 2, .why = true },
    { .bars = 2, .lines = LINES, .tries = 2 },
    { .bars = 2, .lines = 2, .tries = 1 },
    { .bars = 2, .lines = 1, .tries = 1 },
};

static struct page *page(struct app *a)
{
    return &a->page[PANEL_SUMMARY];
}

/* ---- what is it? ---- */
static void put_subject(struct app *a, const struct result *x, unsigned w)
{
    const struct job_snapshot *s = a->snap;
    char label[PTX_LABEL], t[TEXT_NUM];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %s", ptx_label(s->kernel, label));
    if (s->spec)
        row_put(&r, ROLE_LABEL, "  grid %ux%ux%u, block %ux%ux%u", launch_grid(s->spec).x,
                launch_grid(s->spec).y, launch_grid(s->spec).z, launch_block(s->spec).x,
                launch_block(s->spec).y, launch_block(s->spec).z);
    if (x && result_time(x)->valid) {
        text_time(t, (double)result_time(x)->median);
        row_put(&r, ROLE_VALUE, "  %s", t);
        row_put(&r, ROLE_LABEL, " (%s)", evidence_name(evidence_of(x)));
    }
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
}

/* ---- what limits it? ---- */
static void put_bar(struct app *a, const char *name, bool first, double share, unsigned percent,
                    const char *more, unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, first ? ROLE_TITLE : ROLE_LABEL, "   %-18s", name);
    row_bar(&r, first ? ROLE_WARN : ROLE_LABEL, w >= 60 ? BAR : BAR / 2, share);
    row_right(&r, first ? ROLE_TITLE : ROLE_LABEL, 6, "%u %%", percent);
    if (*more && r.width + 2 < w)
        row_put(&r, ROLE_DIM, "  %s", more);
    page_add(a, page(a), &r, -1);
}

/* The heaviest causes, then all others as one bar: together they are the whole launch. */
static void put_bars(struct app *a, const struct limits *l, unsigned most, unsigned w)
{
    struct buf more = { 0 };
    double rest = 0;
    unsigned n = 0, left = 100;
    for (size_t i = 0; i < LIMIT_COUNT; i++) {
        enum limit_cause c = limits_order(l, i);
        double s = (double)l->share[c];
        unsigned percent = (unsigned)lround(s * 100);
        percent = percent > left ? left : percent;
        if (n < most && limits_nth(l, n) < LIMIT_COUNT) {
            put_bar(a, limit_name(c), !i, s, percent, "", w);
            left -= percent;
            n++;
            continue;
        }
        rest += s;
        if (s >= 0.005)
            buf_printf(&more, "%s%s %.0f", more.n ? ", " : "", limit_name(c), s * 100);
    }
    if (left)
        put_bar(a, "all else", false, rest, left, more.s ? more.s : "", w);
    buf_free(&more);
}

/* Why nothing is known yet. */
static const char *no_limits(struct app *a, const struct result *r)
{
    const struct job_snapshot *s = a->snap;
    if (r)
        return "not told: this device does not count where the time goes; a simulated one does";
    if (!s->spec)
        return "not known yet: there is no launch description";
    if (app_measuring(a))
        return "the original is running";
    return view_keys(a, s->has_dev && s->dev.kind != DEV_SIMULATED
                            ? "not known yet: {run} runs the original on the GPU"
                            : "not known yet: {run} runs the original");
}

static void put_limit(struct app *a, const struct result *x, size_t run, const struct result *ran,
                      const struct room *room, unsigned w)
{
    struct buf why = { 0 };
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " What limits it   ");
    if (!x) {
        row_put(&r, ROLE_DIM, "%s", no_limits(a, ran));
        page_flow(a, page(a), &r, INDENT, w - 1, -1);
        return;
    }
    enum limit_cause first = limits_first(result_limits(x));
    row_put(&r, ROLE_WARN, "%s", limit_name(first));
    row_put(&r, ROLE_DIM, "  (run %zu, %s)", run + 1, evidence_name(evidence_of(x)));
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    put_bars(a, result_limits(x), room->bars, w);
    if (!room->why)
        return;
    limit_why(x, first, &why);
    const char *figures = why.s ? strstr(why.s, ": ") : NULL;
    page_wrap(a, page(a), ROLE_DIM, INDENT, w - 1,
              figures && !room->blanks ? figures + 2
              : why.s                  ? why.s
                                       : "",
              -1);
    buf_free(&why);
}

/* ---- the loads: the graph of coalescing, and who reads the data again ---- */
static void put_sectors(struct row *r, double sectors, double use, unsigned w)
{
    static const char means[] = " moved/needed";
    row_put(r, ROLE_VALUE, ", %.3g/%.3g sectors", sectors, sectors * use);
    if (r->width + strlen(means) < w)
        row_put(r, ROLE_LABEL, "%s", means);
}

static void put_loads(struct app *a, const struct room *room, unsigned w)
{
    const struct ana_kernel *k = a->snap->facts;
    struct row r = { .arena = a->frame };
    if (!k || !k->coalesce.valid)
        return;
    double use = ana_sector_use(&k->coalesce), degree = fmax(k->coalesce.degree, use);
    row_put(&r, ROLE_TITLE, " Loads ");
    row_spark(&r, view_degree_role(degree), WORDS, k->coalesce.graph, WORDS, 0, 1);
    row_put(&r, view_degree_role(degree), " %.0f %% coalesced", k->coalesce.degree * 100);
    if (k->exact.valid && k->exact.requests && w >= ROOMY)
        put_sectors(&r, k->exact.sectors_per_request, use > 0 ? use : 1, w);
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    if (!k->reuse.valid || !room->reuse)
        return;
    row_put(&r, ROLE_LABEL, "   bytes read again:");
    row_put(&r, ROLE_VALUE, " %.0f %% by the same warp or CTA,",
            (k->reuse.intra_warp + k->reuse.intra_cta) * 100);
    row_put(&r, ROLE_VALUE, " %.0f %% by another CTA", k->reuse.inter_cta * 100);
    page_flow(a, page(a), &r, INDENT + 2, w - 1, -1);
}

/* ---- what to try? ---- */
/* One line: the title, cut where it has to be, and what it promises at its right. */
static void put_item(struct app *a, long item, const char *key, const char *title,
                     const struct tune_advice *x, unsigned w)
{
    struct row r = { .arena = a->frame };
    const char *gain = x ? advice_expected(a, x, true) : NULL;
    unsigned gained = gain ? text_width(str_of(gain)) + 2 : 0;
    row_put(&r, ROLE_KEY, "   %s  ", key);
    unsigned room = w > r.width + gained + 1 ? w - r.width - gained - 1 : 0;
    struct str head = text_head(str_of(title), room);
    bool cut = head.n < strlen(title);
    row_put(&r, ROLE_TEXT, "%.*s%s", (int)(cut && head.n ? head.n - 1 : head.n), title, cut ? "…" : "");
    if (gain)
        row_put(&r, ROLE_NOTE, "  %s", gain);
    page_add(a, page(a), &r, item);
}

/* What an edit of the source may do about the first limit. */
static void put_edit(struct app *a, const struct result *x, const struct room *room, unsigned w)
{
    struct limit_try t = { NULL, NULL };
    unsigned i = 0;
    while (x && limit_next_try(result_limits(x), limits_first(result_limits(x)), &i, &t) && !t.edit)
        ;
    if (!x || !t.edit || !room->edit)
        return;
    const char *text = arena_printf(a->frame, "in the source: %s", t.edit);
    if (room->edit == EDIT_WHOLE) {
        page_wrap(a, page(a), ROLE_LABEL, INDENT, w - 1, text, -1);
        return;
    }
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "   %s", text);
    page_add(a, page(a), &r, -1);
}

/* The advice that is left, then the search: one list, Enter tries the line under the cursor. */
static void put_try(struct app *a, bool better, const struct result *x, const struct room *room,
                    unsigned w)
{
    size_t first = advice_next(a, better);
    unsigned shown = 0;
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " What to try next");
    row_put(&r, ROLE_LABEL, "%s",
            view_keys(a, a->lines             ? "  {panel-8} says why, and the options"
                         : a->snap->unsettled ? "  {summary-try} tries it; more may follow"
                                              : "  {summary-try} tries it, {panel-8} says why"));
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    for (size_t i = first; i < a->snap->nadvice && shown < room->tries; i++) {
        const struct tune_advice *y = &a->snap->advice[i];
        if (!y->tried && !advice_overtaken(y, better))
            put_item(a, (long)i, arena_printf(a->frame, "%u", ++shown), y->title, y, w);
    }
    put_item(a, (long)a->snap->nadvice, view_keys(a, "{tune}"), "search all knobs", NULL, w);
    put_edit(a, x, room, w);
}

/* ---- what did it gain? ---- */
static bool only_original(const struct app *a)
{
    const struct options *none = options_none();
    for (size_t i = 0; i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        if (r && !r->deleted && !run_stale(a, r) &&
            (r->kind != RUN_ONE || !options_equal(result_options(r->one), none)))
            return false;
    }
    return true;
}

static const char *no_gain(const struct app *a)
{
    if (app_last_run(a, -1) == SIZE_MAX)
        return "nothing has been run yet";
    if (!run_original_now(a, &(size_t){ 0 }))
        return "the original has not been run in its present form";
    return only_original(a) ? "nothing yet: only the original ran"
                            : "nothing that ran beat the original by more than 2 %";
}

static void put_best(struct app *a, const struct options *o, double gain, size_t run, unsigned w)
{
    struct row r = { .arena = a->frame };
    struct buf b = { 0 };
    const struct session_run *s = o ? app_run(a, run) : NULL;
    const struct result *x = s ? run_best(s) : NULL;
    row_put(&r, ROLE_TITLE, " What it has gained   ");
    if (!o) {
        row_put(&r, ROLE_DIM, "%s", no_gain(a));
    } else {
        options_line(o, &b);
        row_put(&r, ROLE_GOOD, "%.2fx", gain);
        row_put(&r, ROLE_LABEL, " over the original");
        row_put(&r, ROLE_LABEL, " (run %zu, %s, outputs equal)", run + 1,
                x ? evidence_name(evidence_of(x)) : "");
        row_put(&r, ROLE_VALUE, "  %s", b.s ? b.s : "");
    }
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
    buf_free(&b);
}

/* ---- what is guessed? ---- */
static void put_guessed(struct app *a, const struct result *x, unsigned w)
{
    const struct job_snapshot *s = a->snap;
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " What is guessed   ");
    if (!s->spec)
        row_put(&r, ROLE_WARN, "%s",
                view_keys(a, "the whole launch; {run} guesses one and asks two questions"));
    else if (launch_guessed(s->spec)) {
        struct buf words = { 0 };
        launch_guess_words(launch_guessed(s->spec), &words);
        if (s->guessed_n && launch_guessed(s->spec) & GUESS_SIZES)
            row_put(&r, ROLE_WARN, "n = %u; ", s->guessed_n);
        row_put(&r, ROLE_WARN, "%s%s", words.s ? words.s : "",
                view_keys(a, " ({panel-4} changes them)"));
        buf_free(&words);
    } else
        row_put(&r, ROLE_LABEL, "nothing of the launch");
    if (x && result_sampled(x))
        row_put(&r, ROLE_LABEL, "%s",
                w >= ROOMY ? "; time from a sample (--exact: all)" : "; time from a sample");
    page_flow(a, page(a), &r, INDENT, w - 1, -1);
}

/* The cursor stays with its item while lines come and go above it. */
static void place_cursor(struct app *a)
{
    struct summary_view *v = &a->summary;
    struct list *l = &a->list[PANEL_SUMMARY];
    const struct page *p = page(a);
    unsigned at = 0, n = 0;
    if (v->nlines && l->cursor != v->line) /* keys or the mouse moved it */
        for (unsigned k = 0; k < v->nlines; k++)
            v->pick = v->lines[k] == l->cursor ? k : v->pick;
    for (size_t i = 0; i < p->n && n < ARRAY_LEN(v->lines); i++)
        if (p->line[i].item >= 0)
            v->lines[n++] = i;
    v->nlines = n;
    v->pick = n && v->pick >= n ? n - 1 : v->pick;
    at = n ? v->pick : 0;
    list_set_count(l, p->n);
    if (!n)
        return;
    list_show(l, v->lines[at]);
    v->line = l->cursor;
    if (!at)
        l->top = 0;
}

/* What the page is made of. */
struct answer {
    const struct options *best; /* NULL: nothing is better */
    double gain;
    size_t best_run, run;
    const struct result *ran, *x; /* the original; the same where it says what limits it */
};

static void put_answer(struct app *a, const struct answer *v, const struct room *room, unsigned w)
{
    put_subject(a, v->ran, w);
    if (room->blanks)
        page_blank(a, page(a));
    put_limit(a, v->x, v->run, v->ran, room, w);
    if (room->blanks)
        page_blank(a, page(a));
    where_put(a, page(a), v->x, w, room->lines);
    put_loads(a, room, w);
    if (room->blanks)
        page_blank(a, page(a));
    put_try(a, v->best != NULL, v->x, room, w);
    if (room->blanks)
        page_blank(a, page(a));
    put_best(a, v->best, v->gain, v->best_run, w);
    put_guessed(a, v->ran, w);
}

static void summary_update(struct app *a, unsigned w, unsigned h)
{
    struct answer v = { .gain = NAN, .run = SIZE_MAX };
    page_clear(page(a));
    if (!a->snap->module || !a->snap->kernel) {
        page_hint(a, page(a), w, view_unready(a, ""));
    } else {
        v.best = advice_best(a, &v.gain, &v.best_run);
        v.ran = run_original_now(a, &v.run);
        v.x = v.ran && result_limits(v.ran)->valid ? v.ran : NULL;
        for (size_t i = 0; i < ARRAY_LEN(rooms) && (!i || page(a)->n > h); i++) {
            page_clear(page(a));
            put_answer(a, &v, &rooms[i], w);
        }
    }
    place_cursor(a);
}

static unsigned summary_request(struct app *a, enum request r)
{
    if (r != REQ_SUMMARY_TRY)
        return 0;
    long i = page_item(page(a), &a->list[PANEL_SUMMARY]);
    if (i < 0)
        return 0;
    if ((size_t)i < a->snap->nadvice)
        advice_run(a, (size_t)i);
    else
        app_tune(a, "", 0);
    return UI_REDRAW;
}

const struct view view_summary = { summary_update, NULL, NULL, summary_request, NULL, NULL };
