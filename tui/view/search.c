/* search: see search.h. Times are those of the device in use and say where
 * they come from; costs are modelled cycles. */
#include "tui/view/search.h"

#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/live.h"
#include "engine/session/run_kind.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_NEXT = 10000, ITEM_TRIED = 20000, CONFIG_INDENT = 6 };
#define NEXT_MOST 12
/* columns; with fewer a configuration is worth more than what the model said of it */
#define ROOM_FOR_COSTS 64

const struct tune_live *search_of(const struct app *a, const struct session_run *run)
{
    size_t last = app_last_run(a, RUN_TUNE);
    return last != SIZE_MAX && app_run(a, last) == run ? a->snap->search : NULL;
}

static const char *options_text(struct app *a, const struct options *o)
{
    struct buf b = { 0 };
    options_line(o, &b);
    const char *s = b.n ? arena_printf(a->frame, "%s", b.s) : "the original";
    buf_free(&b);
    return s ? s : "";
}

static double time_of(const struct result *r)
{
    return result_time(r)->valid ? (double)result_time(r)->median : NAN;
}

static void put_step(struct app *a, struct page *p, const struct tune_live *l, unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " method");
    row_put(&r, ROLE_VALUE, " %s", l->method ? l->method : "search");
    if (l->step && a->snap->busy) /* how far it is stands in the row of progress */
        row_put(&r, ROLE_NOTE, "  now: %s", l->step);
    if (l->next && a->snap->busy)
        row_put(&r, ROLE_LABEL, "  then: %s", l->next);
    if (!a->snap->busy)
        row_put(&r, ROLE_VALUE, "  %u launch%s", l->launches, l->launches == 1 ? "" : "es");
    if (l->skipped)
        row_put(&r, ROLE_LABEL, "  %u skipped by the model", l->skipped);
    if (l->resumed)
        row_put(&r, ROLE_LABEL, "  %u from an earlier search", l->resumed);
    page_flow(a, p, &r, 3, w, -1);
}

static void put_best(struct app *a, struct page *p, const struct tune_live *l, unsigned w)
{
    struct row r = { .arena = a->frame };
    char t[TEXT_NUM];
    double gain = gain_of(l->original, l->best);
    row_put(&r, ROLE_PEAK, " best  ");
    text_time(t, time_of(l->best));
    row_put(&r, ROLE_VALUE, "%s", t);
    if (l->best && result_time(l->best)->valid)
        row_put(&r, ROLE_DIM, " %s", evidence_words(evidence_of(l->best)));
    if (!isnan(gain))
        row_put(&r, gain > 1.02 ? ROLE_GOOD : ROLE_LABEL, "  %.2fx vs the original", gain);
    row_put(&r, ROLE_TITLE, "  %s", options_text(a, &l->options));
    page_flow(a, p, &r, 7, w, -1);
}

static void put_next(struct app *a, struct page *p, const struct tune_live *l, unsigned w)
{
    struct row r = { .arena = a->frame };
    if (!l->nfrontier)
        return;
    const struct tune_candidate *c = &l->frontier[0];
    row_put(&r, ROLE_CHANGED, " next  %s", options_text(a, &c->options));
    row_put(&r, ROLE_LABEL, "  %s", c->why);
    if (!isnan(c->cost)) {
        char t[TEXT_NUM];
        text_count(t, c->cost);
        row_put(&r, ROLE_DIM, "  (modelled %s cycles)", t);
    }
    if (l->nfrontier > 1)
        row_put(&r, ROLE_LABEL, "  %zu more queued", l->nfrontier - 1);
    page_flow(a, p, &r, 7, w, -1);
}

void search_lines(struct app *a, struct page *p, const struct tune_live *l, unsigned w, unsigned h)
{
    put_best(a, p, l, w);
    if (h >= 14)
        put_next(a, p, l, w);
    if (h >= 18)
        put_step(a, p, l, w);
}

/* ---- the table ---- */
/* Where some times are from samples of the CTAs, those are marked. */
static void put_kind(struct row *r, bool marks, const char *kind)
{
    if (marks)
        row_put(r, ROLE_DIM, " %-7s", kind);
}

static void put_head(struct app *a, struct page *p, const char *title, bool marks, unsigned w)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %-10s", title);
    row_put(&r, ROLE_LABEL, "%10s", "time");
    put_kind(&r, marks, "");
    row_put(&r, ROLE_LABEL, "%8s%s  %s", "gain", w >= ROOM_FOR_COSTS ? "   modelled" : "",
            w >= 100 ? "configuration, and why it was tried" : "configuration");
    page_flow(a, p, &r, CONFIG_INDENT, w, -1);
}

static void put_cost(struct app *a, struct row *r, double cost)
{
    char t[TEXT_NUM];
    (void)a;
    text_count(t, cost);
    row_right(r, isnan(cost) ? ROLE_DIM : ROLE_LABEL, 11, isnan(cost) ? "n/a" : "%s cyc", t);
}

static void put_candidate(struct app *a, struct page *p, const struct tune_live *l, size_t i, bool marks,
                          unsigned w)
{
    const struct tune_candidate *c = &l->frontier[i];
    struct row r = { .arena = a->frame };
    row_put(&r, i ? ROLE_LABEL : ROLE_CHANGED, " %-10s", i ? "queued" : "next");
    if (w >= ROOM_FOR_COSTS) {
        row_put(&r, ROLE_DIM, "%18s", "");
        put_kind(&r, marks, "");
        put_cost(a, &r, c->cost);
    }
    row_put(&r, i ? ROLE_VALUE : ROLE_CHANGED, "  %s", options_text(a, &c->options));
    if (w >= 100 || i == 0)
        row_put(&r, ROLE_DIM, "  %s", c->why);
    page_flow(a, p, &r, CONFIG_INDENT, w, (long)(ITEM_NEXT + i));
}

/* Whole launches have no mark. */
static bool any_sampled(const struct tune_live *l)
{
    for (size_t i = 0; i < l->nexplored; i++)
        if (l->explored[i].sampled)
            return true;
    return false;
}

static void put_explored(struct app *a, struct page *p, const struct tune_live *l, size_t i, bool marks,
                         unsigned w)
{
    const struct tune_explored *e = &l->explored[i];
    struct row r = { .arena = a->frame };
    char t[TEXT_NUM];
    double ns = e->time_ns > 0 ? (double)e->time_ns : NAN, gain = tune_explored_gain(l, i);
    bool bad = e->status != ST_OK || e->equal == EQUAL_NO;
    row_put(&r, e->became_best ? ROLE_PEAK : ROLE_DIM, " %3zu %s", i + 1,
            e->became_best ? "best  "
            : e->resumed   ? "before"
                           : "      ");
    text_time(t, ns);
    row_right(&r, bad ? ROLE_ERROR : ROLE_VALUE, 10, "%s",
              e->status != ST_OK     ? "refused"
              : e->equal == EQUAL_NO ? "WRONG"
                                     : t);
    put_kind(&r, marks, e->sampled && e->time_ns > 0 ? "sampled" : "");
    if (isnan(gain))
        row_put(&r, ROLE_DIM, "%8s", "");
    else
        row_right(&r, gain > 1.02 ? ROLE_GOOD : ROLE_LABEL, 8, "%.2fx", gain);
    if (w >= ROOM_FOR_COSTS)
        put_cost(a, &r, e->cost);
    row_put(&r, ROLE_VALUE, "  %s", options_text(a, &e->options));
    if (w >= 100)
        row_put(&r, ROLE_DIM, "  %s", e->why);
    page_flow(a, p, &r, CONFIG_INDENT, w, (long)(ITEM_TRIED + i));
}

void search_table(struct app *a, struct page *p, unsigned w)
{
    const struct tune_live *l = a->snap->search;
    if (!l)
        return;
    bool marks = any_sampled(l) && w >= ROOM_FOR_COSTS;
    page_heading(a, p, "Search%s: times are %s%s%s", a->snap->busy ? " (going on)" : "",
                 l->original && result_time(l->original)->valid
                     ? origin_name(result_time(l->original)->origin)
                     : "n/a",
                 marks ? ", some sampled" : "", w >= ROOM_FOR_COSTS ? ", costs modelled" : "");
    put_step(a, p, l, w);
    put_best(a, p, l, w);
    if (l->nfrontier) {
        put_head(a, p, "to try", marks, w);
        for (size_t i = 0; i < l->nfrontier && i < NEXT_MOST; i++)
            put_candidate(a, p, l, i, marks, w);
    }
    put_head(a, p, "tried", marks, w);
    for (size_t i = l->nexplored; i-- > 0;) /* the newest first */
        put_explored(a, p, l, i, marks, w);
    page_blank(a, p);
}

const struct options *search_options(const struct app *a, long item)
{
    const struct tune_live *l = a->snap->search;
    if (l && item >= ITEM_TRIED && (size_t)(item - ITEM_TRIED) < l->nexplored)
        return &l->explored[item - ITEM_TRIED].options;
    if (l && item >= ITEM_NEXT && item < ITEM_TRIED && (size_t)(item - ITEM_NEXT) < l->nfrontier)
        return &l->frontier[item - ITEM_NEXT].options;
    return NULL;
}

const char *search_why(const struct tune_live *l, const struct options *o)
{
    for (size_t i = 0; l && i < l->nexplored; i++)
        if (options_equal(&l->explored[i].options, o) && *l->explored[i].why)
            return l->explored[i].why;
    return NULL;
}
