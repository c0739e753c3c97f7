/* runs: the history of the session. Items are run indices of the snapshot. */
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/session/run.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/post.h"
#include "tui/app/results/provenance.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double run_time(const struct session_run *r)
{
    const struct result *x = run_best(r);
    return x && result_time(x)->valid ? (double)result_time(x)->median : NAN;
}

/* What ran, most telling first: "sweep pi (17): --bypass l1 --pi 8". */
static void config_text(const struct app *a, const struct session_run *r, struct buf *b)
{
    bool running = a->snap->busy && a->snap->nruns && r == app_run(a, a->snap->nruns - 1);
    const struct result *x = run_best(r);
    size_t n = r->kind == RUN_TUNE ? r->ntrail : r->sweep.npoints;
    bool cut_off = !running && r->kind == RUN_SWEEP && !r->sweep.complete;
    const char *so_far = running ? " so far" : cut_off ? " cut off" : "";
    struct buf best = { 0 };
    if (cut_off && !n) {
        buf_printf(b, "sweep %s, stopped before its first point", r->sweep.axis ? r->sweep.axis : "?");
        return;
    }
    if (r->kind == RUN_SWEEP)
        buf_printf(b, "sweep %s (%zu%s): ", r->sweep.axis ? r->sweep.axis : "?", n, so_far);
    else if (r->kind == RUN_TUNE)
        buf_printf(b, "search (%zu%s): ", n, so_far);
    if (x)
        options_line(result_options(x), &best);
    buf_puts(b, best.n ? best.s : x || r->kind == RUN_ONE ? "original" : "no result");
    buf_free(&best);
}

static bool passes(const struct app *a, const struct session_run *r)
{
    struct str f = str_of(a->runs.filter);
    struct buf b = { 0 };
    char label[PTX_LABEL];
    if (!f.n)
        return true;
    buf_printf(&b, "%s %s %s %s ", ptx_label(r->kernel, label), r->kernel, r->dev.spec, r->note);
    config_text(a, r, &b);
    bool hit = text_find((struct str){ b.s, b.n }, f) != SIZE_MAX;
    buf_free(&b);
    return hit;
}

static int compare(const struct app *a, size_t i, size_t k)
{
    const struct session_run *x = app_run(a, i), *y = app_run(a, k);
    int d = 0;
    double tx, ty;
    switch (a->runs.sort) {
    case SORT_TIME:
        tx = run_time(x), ty = run_time(y);
        d = isnan(tx) ? !isnan(ty) : isnan(ty) ? -1 : (tx > ty) - (tx < ty);
        break;
    case SORT_KIND: d = (int)x->kind - (int)y->kind; break;
    case SORT_KERNEL: d = strcmp(x->kernel, y->kernel); break;
    default: break;
    }
    return d ? d : (i > k) - (i < k);
}

static int by_order(const void *x, const void *y, void *app)
{
    return compare(app, *(const size_t *)x, *(const size_t *)y);
}

static void make_order(struct app *a)
{
    struct runs_view *v = &a->runs;
    v->norder = 0;
    v->order = ARENA_ARRAY(a->frame, size_t, a->snap->nruns + 1);
    v->one_kernel = true;
    for (size_t i = 0; v->order && i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        if (r && passes(a, r))
            v->order[v->norder++] = i;
        v->one_kernel =
            v->one_kernel && (!r || !strcmp(r->kernel, app_run(a, a->snap->nruns - 1)->kernel));
    }
    if (v->order && v->sort != SORT_NUMBER)
        qsort_r(v->order, v->norder, sizeof *v->order, by_order, a);
}

/* Times of a sweep's or search's points in order, as a curve of `cols` columns. */
static void put_shape(struct app *a, const struct session_run *r, unsigned cols, struct row *out)
{
    size_t n = r->kind == RUN_SWEEP ? r->sweep.npoints : r->kind == RUN_TUNE ? r->ntrail : 0;
    const struct result *v = r->kind == RUN_SWEEP ? r->sweep.points : r->trail;
    double *t = n && cols ? ARENA_ARRAY(a->frame, double, n) : NULL;
    size_t known = 0;
    for (size_t i = 0; t && i < n; i++) {
        t[i] = result_time(result_at(v, i))->valid && result_time(result_at(v, i))->median > 0
                   ? log((double)result_time(result_at(v, i))->median)
                   : NAN;
        if (!isnan(t[i]))
            known++;
    }
    if (t && known > 1)
        row_spark(out, ROLE_LINE_A, cols, t, n, NAN, NAN);
    else
        row_put(out, ROLE_TEXT, "%*s", (int)cols, "");
}

/* Columns by the width of the panel. What a run was has all that is left, and stands first. */
struct columns {
    unsigned config, when, shape, kernel, device, note;
};

static struct columns columns_of(const struct app *a, unsigned w)
{
    enum { FIXED = 2 + 3 + 1 + 9 + 8 + 7, LEAST = 8, GOOD = 24, MOST = 60 };
    struct columns c = { .config = w > FIXED + LEAST ? w - FIXED : LEAST };
    const struct {
        unsigned *of, need, keep;
    } order[] = { { &c.shape, 9, GOOD },
                  { &c.kernel, a->runs.one_kernel ? 0 : 14, GOOD },
                  { &c.device, 13, GOOD },
                  { &c.when, 13, GOOD } };
    for (size_t i = 0; i < ARRAY_LEN(order) && c.config >= order[i].need + order[i].keep; i++)
        *order[i].of = order[i].need, c.config -= order[i].need;
    if (c.config > MOST)
        c.note = c.config - MOST, c.config = MOST;
    return c;
}

/* The same in so many columns: the axis and the count give way before the configuration does. */
static const char *config_fits(struct app *a, const struct session_run *r, const char *whole,
                               unsigned cols)
{
    const char *colon = r->kind == RUN_ONE ? NULL : strstr(whole, ": "), *kind = strchr(whole, ' ');
    if (text_width(str_of(whole)) <= cols || !colon || !kind || r->deleted)
        return whole;
    const char *brief = arena_printf(a->frame, "%.*s%s", (int)(kind - whole), whole, colon);
    return text_width(str_of(brief)) <= cols ? brief : colon + 2;
}

/* A text in exactly so many columns. */
static void put_cell(struct row *out, enum role role, unsigned cols, const char *text)
{
    struct str s = str_of(text), head = text_head(s, cols);
    unsigned at = out->width;
    if (!cols)
        return;
    if (head.n < s.n)
        head = text_head(s, cols - 1);
    row_put(out, role, "%.*s%s", (int)head.n, head.s, head.n < s.n ? "…" : "");
    row_pad(out, at + cols);
}

/* What ran, and beside it why it is grey, where both have room. */
static void put_what(struct row *out, enum role role, unsigned cols, const char *what, const char *stale)
{
    unsigned why = stale ? text_width(str_of(stale)) + 3 : 0;
    put_cell(out, role, cols - (cols >= why + 24 ? why : 0), what);
    if (why && cols >= why + 24)
        row_put(out, ROLE_WARN, " (%s)", stale);
}

static void put_when(struct row *r, int64_t t, unsigned cols)
{
    time_t s = (time_t)(t > 4000000000LL ? t / 1000000000LL : t);
    struct tm tm;
    char text[32] = "";
    if (s && gmtime_r(&s, &tm))
        strftime(text, sizeof text, "  %m-%d %H:%M", &tm);
    put_cell(r, ROLE_DIM, cols, text);
}

/* Times of several kinds stand in one column: each says what it is. */
static const char *origin_brief(const struct session_run *r)
{
    const struct result *x = run_best(r);
    return x && result_time(x)->valid ? evidence_name(evidence_of(x)) : "";
}

static void put_run(struct app *a, size_t i, unsigned w, struct row *out)
{
    const struct session_run *r = app_run(a, i);
    struct columns c = columns_of(a, w);
    char t[TEXT_NUM], label[PTX_LABEL];
    struct buf b = { 0 };
    bool stale = run_stale(a, r) != NULL;
    enum role main = r->deleted ? ROLE_REMOVED : stale ? ROLE_DIM : ROLE_VALUE;
    char mark = a->runs.mark[0] == i ? 'A' : a->runs.mark[1] == i ? 'B' : ' ';
    row_put(out, mark == 'A' ? ROLE_SERIES_A : ROLE_SERIES_B, "%c", mark);
    row_right(out, ROLE_DIM, 4, "%zu", i + 1);
    row_put(out, main, " ");
    if (r->deleted)
        buf_puts(&b, "deleted: ");
    config_text(a, r, &b);
    put_what(out, main, c.config, config_fits(a, r, b.s ? b.s : "", c.config), run_stale(a, r));
    text_time(t, run_time(r));
    row_right(out, main, 9, "%s", t);
    row_put(out, ROLE_DIM, " %-8s", origin_brief(r));
    double gain = run_gained(a, i);
    if (isnan(gain) || run_base(a, i) == run_best(r))
        row_put(out, ROLE_DIM, "%6s", "");
    else
        row_right(out, gain > 1.02 ? ROLE_GOOD : ROLE_LABEL, 6, "%.2fx", gain);
    if (c.shape) {
        row_put(out, ROLE_TEXT, " ");
        put_shape(a, r, c.shape - 1, out);
    }
    if (c.kernel) {
        row_put(out, ROLE_TEXT, "  ");
        put_cell(out, ROLE_LABEL, c.kernel - 2, ptx_label(r->kernel, label));
    }
    put_when(out, r->time, c.when);
    if (c.device) {
        row_put(out, ROLE_TEXT, "  ");
        put_cell(out, ROLE_DIM, c.device - 2,
                 strncmp(r->dev.spec, "sim:", 4) ? r->dev.spec : r->dev.spec + 4);
    }
    if (c.note && *r->note)
        put_cell(out, ROLE_NOTE, c.note, arena_printf(a->frame, "  \"%s\"", r->note));
    buf_free(&b);
}

/* Why the times of two runs say nothing about each other; NULL: they do. */
static const char *not_alike(const struct session_run *x, const struct session_run *y)
{
    const struct result *rx = run_best(x), *ry = run_best(y);
    if (strcmp(x->kernel, y->kernel))
        return "two kernels: not compared";
    if (!rx || !ry)
        return "no time: not compared";
    if (result_sampled(rx) != result_sampled(ry) || result_time(rx)->origin != result_time(ry)->origin)
        return "times of different kinds (whole, sampled, measured on a GPU): not compared";
    if (x->launch_key && y->launch_key && x->launch_key != y->launch_key)
        return "two launches: not compared";
    return NULL;
}

static void put_comparison(struct app *a, unsigned w)
{
    const struct runs_view *v = &a->runs;
    const struct session_run *x = app_run(a, v->mark[0]), *y = app_run(a, v->mark[1]);
    char t[2][TEXT_NUM];
    struct row r = { .arena = a->frame };
    if (!x || !y)
        return;
    text_time(t[0], run_time(x));
    text_time(t[1], run_time(y));
    row_put(&r, ROLE_SERIES_A, " A run %zu, %s %s", v->mark[0] + 1, t[0], origin_brief(x));
    row_put(&r, ROLE_LABEL, "  against");
    row_put(&r, ROLE_SERIES_B, "  B run %zu, %s %s", v->mark[1] + 1, t[1], origin_brief(y));
    const char *why = not_alike(x, y);
    double ratio = why ? NAN : run_time(x) / run_time(y);
    if (why)
        row_put(&r, ROLE_WARN, "  %s", why);
    if (!isnan(ratio))
        row_put(&r, ROLE_TITLE, "  %s is %.2fx faster", ratio > 1 ? "B" : "A",
                ratio > 1 ? ratio : 1 / ratio);
    if (!why && strcmp(x->dev.spec, y->dev.spec))
        row_put(&r, ROLE_WARN, "  (another device)");
    if (x->kind != RUN_ONE && y->kind != RUN_ONE)
        row_put(&r, ROLE_DIM, "%s", view_keys(a, "  {compare} overlays the curves"));
    page_flow(a, &a->chart[PANEL_RUNS], &r, 3, w, -1);
}

/* Configuration, kernel and device of a run, in full. */
static void put_place(struct app *a, const struct session_run *r, unsigned w)
{
    char label[PTX_LABEL];
    struct buf b = { 0 };
    config_text(a, r, &b);
    buf_printf(&b, "; %s on %s", ptx_label(r->kernel, label), r->dev.spec);
    if (b.s)
        page_wrap(a, &a->chart[PANEL_RUNS], ROLE_LABEL, 3, w - 1, b.s, -1);
    buf_free(&b);
}

/* The run under the cursor whole: what its line has no room for. */
static void put_selected(struct app *a, unsigned w)
{
    size_t at = a->list[PANEL_RUNS].cursor, i = at < a->runs.norder ? a->runs.order[at] : SIZE_MAX;
    const struct session_run *r = i == SIZE_MAX ? NULL : app_run(a, i);
    struct buf b = { 0 };
    if (!r)
        return;
    run_line(a, i, &b);
    if (b.n)
        page_wrap(a, &a->chart[PANEL_RUNS], ROLE_VALUE, 1, w - 1, b.s, -1);
    put_place(a, r, w);
    if (run_stale(a, r))
        page_wrap(a, &a->chart[PANEL_RUNS], ROLE_WARN, 3, w - 1, run_stale(a, r), -1);
    if (*r->race)
        page_wrap(a, &a->chart[PANEL_RUNS], ROLE_WARN, 3, w - 1, r->race, -1);
    if (*r->note)
        page_wrap(a, &a->chart[PANEL_RUNS], ROLE_NOTE, 3, w - 1, r->note, -1);
    buf_free(&b);
}

/* Of a large session only the last runs are made. */
static void put_first(struct app *a, unsigned w)
{
    const struct job_snapshot *s = a->snap;
    if (s->first_run)
        page_say(a, &a->chart[PANEL_RUNS], ROLE_WARN, 1, w - 1,
                 "The last %zu of %zu runs: gpulocw replay and report show all.",
                 s->nruns - s->first_run, s->nruns);
}

static void runs_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_RUNS];
    (void)h;
    page_clear(p);
    page_clear(&a->chart[PANEL_RUNS]);
    make_order(a);
    if (!a->runs.norder && *a->runs.filter)
        page_hint(a, p, w, "No run matches the filter; {filter} changes it.");
    else if (!a->runs.norder)
        page_empty(a, p, w,
                   "Nothing has been run yet. {run} runs the kernel once with the current knobs, "
                   "{sweep} sweeps, {tune} searches; every run is kept here and in the session file.");
    put_first(a, w);
    put_comparison(a, w);
    put_selected(a, w);
    list_set_count(&a->list[PANEL_RUNS], a->runs.norder ? a->runs.norder : p->n);
}

/* Lines are made on demand: a session may hold thousands of runs. */
static void runs_line(struct app *a, size_t i, unsigned w, struct row *r)
{
    if (i < a->runs.norder)
        put_run(a, a->runs.order[i], w, r);
}

#define HEAD_ROOM 24 /* columns: with fewer the head does not say what the list is sorted by */
static void runs_head(struct app *a, unsigned w, struct row *r)
{
    static const char *const sorts[SORT_COUNT] = { "number", "time", "kind", "kernel" };
    struct columns c = columns_of(a, w);
    row_put(r, ROLE_LABEL, "   no ");
    put_cell(r, *a->runs.filter ? ROLE_CHANGED : ROLE_LABEL, c.config,
             *a->runs.filter        ? arena_printf(a->frame, "what ran, with '%s'", a->runs.filter)
             : c.config < HEAD_ROOM ? "what ran"
                                    : arena_printf(a->frame, "what ran, by %s", sorts[a->runs.sort]));
    row_put(r, ROLE_LABEL, "%9s        %7s", "best", "gain");
    if (c.shape)
        put_cell(r, ROLE_LABEL, c.shape, " times");
    if (c.kernel)
        put_cell(r, ROLE_LABEL, c.kernel, "  kernel");
    if (c.when)
        put_cell(r, ROLE_LABEL, c.when, "  when (UTC)");
    if (c.device)
        put_cell(r, ROLE_LABEL, c.device, "  device");
    if (c.note)
        put_cell(r, ROLE_LABEL, c.note, "  note");
}

static unsigned toggle_mark(struct app *a, size_t i)
{
    size_t *m = a->runs.mark;
    if (m[0] == i)
        m[0] = m[1], m[1] = SIZE_MAX;
    else if (m[1] == i)
        m[1] = SIZE_MAX;
    else if (m[0] == SIZE_MAX)
        m[0] = i;
    else
        m[1] = i;
    return UI_REDRAW;
}

static unsigned show(struct app *a, size_t i)
{
    const struct session_run *r = app_run(a, i);
    if (r->kind == RUN_ONE) {
        size_t at = 0;
        for (size_t k = 0; k < i; k++) { /* position among the counters panel's results */
            const struct session_run *q = app_run(a, k);
            if (!q || q->deleted)
                continue;
            at += q->kind == RUN_ONE    ? 1
                  : q->kind == RUN_TUNE ? q->ntrail
                                        : q->sweep.npoints + result_time(q->sweep.bpa)->valid +
                                              result_time(q->sweep.cha)->valid;
        }
        a->counters.result = at;
        a->counters.placed = true;
        app_focus(a, PANEL_COUNTERS);
    } else {
        a->valley.run = i;
        a->valley.placed = false;
        app_focus(a, PANEL_VALLEY);
    }
    return UI_REDRAW;
}

static unsigned compare_marked(struct app *a)
{
    const size_t *m = a->runs.mark;
    const struct session_run *x = app_run(a, m[0]), *y = app_run(a, m[1]);
    if (!x || !y || x->kind == RUN_ONE || y->kind == RUN_ONE) { /* no curves: side by side */
        app_focus(a, PANEL_COMPARE);
        return UI_REDRAW;
    }
    const char *over[2] = { x->kind == RUN_TUNE ? "try" : x->sweep.axis,
                            y->kind == RUN_TUNE ? "try" : y->sweep.axis };
    if (strcmp(over[0] ? over[0] : "", over[1] ? over[1] : "") != 0) {
        app_notice(a, DIAG_NOTE, "these have no common axis: one varies %s, the other %s",
                   x->kind == RUN_TUNE ? "tries" : over[0], y->kind == RUN_TUNE ? "tries" : over[1]);
        return UI_REDRAW;
    }
    a->valley.run = m[0];
    a->valley.overlay = m[1];
    a->valley.placed = false;
    app_focus(a, PANEL_VALLEY);
    return UI_REDRAW;
}

size_t view_runs_selected(const struct app *a)
{
    size_t at = a->list[PANEL_RUNS].cursor;
    return at < a->runs.norder ? a->runs.order[at] : SIZE_MAX;
}

static unsigned runs_request(struct app *a, enum request r)
{
    size_t i = view_runs_selected(a);
    const struct session_run *run = i != SIZE_MAX ? app_run(a, i) : NULL;
    switch (r) {
    case REQ_RUN_SORT: a->runs.sort = (enum run_sort)((a->runs.sort + 1) % SORT_COUNT); return UI_REDRAW;
    case REQ_RUN_FILTER:
        prompt_open(&a->prompt, PROMPT_FILTER, "show runs with: ", a->runs.filter, 0);
        return UI_REDRAW;
    case REQ_RUN_COMPARE: return compare_marked(a);
    default: break;
    }
    if (!run)
        return 0;
    switch (r) {
    case REQ_RUN_MARK: return toggle_mark(a, i);
    case REQ_RUN_SHOW: return show(a, i);
    case REQ_RUN_DELETE:
        app_post(a, run->deleted ? JOB_UNDELETE : JOB_DELETE, NULL, (long)i);
        app_notice(a, DIAG_NOTE, run->deleted ? "restored" : "deleted ({delete} again restores it)");
        return UI_REDRAW;
    case REQ_RUN_NOTE:
        prompt_open(&a->prompt, PROMPT_NOTE, "note: ", run->note, (long)i);
        return UI_REDRAW;
    default: return 0;
    }
}

const struct view view_runs = { runs_update, runs_head, runs_line, runs_request, NULL, NULL };
