/* counters: one result's way through the memory: requests, L1, L2, DRAM, as
 * bars in proportion to the bytes, and the difference to a base line. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result_read.h"
#include "engine/session/baseline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/roof.h"
#include "tui/view/search.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct entry {
    const struct result *r;
    const struct session_run *run;
    size_t index;
};

/* Results of all shown runs in order: single runs, then bpa, cha and points of sweeps. */
static size_t entries(const struct app *a, struct entry *out, size_t max)
{
    size_t n = 0;
    for (size_t i = 0; i < a->snap->nruns; i++) {
        const struct session_run *r = app_run(a, i);
        if (!r || r->deleted)
            continue;
        const struct result *ends[2] = { r->sweep.bpa, r->sweep.cha };
        if (r->kind == RUN_ONE && n < max)
            out[n++] = (struct entry){ r->one, r, i };
        for (int e = 0; r->kind == RUN_SWEEP && e < 2; e++)
            if (result_time(ends[e])->valid && n < max)
                out[n++] = (struct entry){ ends[e], r, i };
        for (size_t k = 0; r->kind == RUN_SWEEP && k < r->sweep.npoints && n < max; k++)
            out[n++] = (struct entry){ result_at(r->sweep.points, k), r, i };
        for (size_t k = 0; r->kind == RUN_TUNE && k < r->ntrail && n < max; k++)
            out[n++] = (struct entry){ result_at(r->trail, k), r, i };
    }
    return n;
}

static void entry_name(struct buf *b, const struct entry *e)
{
    buf_printf(b, "run %zu", e->index + 1);
    if (e->r == e->run->sweep.bpa)
        buf_puts(b, " all bypass");
    else if (e->r == e->run->sweep.cha)
        buf_puts(b, " all cache");
    else if (e->run->kind == RUN_SWEEP && e->run->sweep.axis && !strcmp(e->run->sweep.axis, "pi"))
        buf_printf(b, " π=%d", opt_bypass(result_options(e->r))->pi.value);
    else {
        size_t before = b->n;
        options_line(result_options(e->r), b);
        if (b->n == before)
            buf_puts(b, " the original");
    }
}

static const char *const base_names[] = { "all cache", "all bypass", "the first run" };

/* What a result is compared with, and what that is called in the head and above its column. */
struct base {
    const struct result *r;
    const char *name, *brief;
};

/* Of the same kernel, launch and device. */
static bool alike(const struct session_run *a, const struct session_run *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->dev.spec, b->dev.spec) == 0 &&
           memcmp(&a->grid, &b->grid, sizeof a->grid) == 0 &&
           memcmp(&a->block, &b->block, sizeof a->block) == 0;
}

/* Without knobs, or with the block shape alone that the launch has anyway (a point of a sweep over
 * shapes). */
static bool unchanged(const struct result *r, const struct session_run *run)
{
    const struct options *o = result_options(r);
    int block = memcmp(&opt_schedule(o)->block, &run->block, sizeof run->block) == 0
                    ? knob_find(STR("block"))
                    : -1;
    for (size_t i = 0; i < knob_count(); i++)
        if ((int)i != block && !knob_is_default(o, i))
            return false;
    return result_time(r)->valid;
}

/* Whole launches say nothing beside samples of the CTAs. A result without a time has a base all the
 * same. */
static bool timed_alike(const struct result *base, const struct result *r)
{
    return !result_time(r)->valid || result_sampled(base) == result_sampled(r);
}

/* The unchanged kernel in a run, timed as x was: by itself, as a sweep's cha or one of its points, as
 * what a search started from. */
static struct base original_in(const struct session_run *r, const struct result *x)
{
    const struct result *o = r->kind == RUN_TUNE ? run_original(r, x) : NULL;
    if (r->kind == RUN_ONE && unchanged(r->one, r) && timed_alike(r->one, x))
        o = r->one;
    if (r->kind == RUN_SWEEP && result_time(r->sweep.cha)->valid && timed_alike(r->sweep.cha, x))
        return (struct base){ r->sweep.cha, base_names[0], "all cache" };
    for (size_t k = 0; r->kind == RUN_SWEEP && !o && k < r->sweep.npoints; k++)
        if (unchanged(result_at(r->sweep.points, k), r) && timed_alike(result_at(r->sweep.points, k), x))
            o = result_at(r->sweep.points, k);
    return o ? (struct base){ o, "the original", "original" } : (struct base){ NULL, NULL, NULL };
}

/* In the run itself, else in the last one before it that is like it; bypass: not the unchanged kernel,
 * but all loads bypassing. */
static struct base reference(const struct app *a, const struct entry *e, bool bypass)
{
    for (size_t i = e->index + 1; i-- > 0;) {
        const struct session_run *r = app_run(a, i);
        if (!r || r->deleted || !alike(r, e->run))
            continue;
        struct base b = { NULL, NULL, NULL };
        if (!bypass)
            b = original_in(r, e->r);
        else if (r->kind == RUN_SWEEP && result_time(r->sweep.bpa)->valid &&
                 timed_alike(r->sweep.bpa, e->r))
            b = (struct base){ r->sweep.bpa, base_names[1], "all bypass" };
        if (b.r && r->earlier && !e->run->earlier) /* before the kernel was compiled anew */
            b.name = "the earlier text", b.brief = "earlier";
        if (b.r && b.r != e->r)
            return b;
    }
    return (struct base){ NULL, NULL, NULL };
}

static struct base base_of(const struct app *a, const struct entry *e)
{
    struct entry first[1];
    if (a->counters.base < 2)
        return reference(a, e, a->counters.base == 1);
    bool has = entries(a, first, 1) > 0 && first[0].r != e->r && result_time(first[0].r)->valid;
    return has ? (struct base){ first[0].r, base_names[2], "first" } : (struct base){ NULL, NULL, NULL };
}

#define WITH_PEAK 96 /* columns from which a bar says what it is of the peak, and what stores add */
static void put_bar(struct app *a, unsigned w, const char *name, enum role role, double bytes,
                    double whole, const char *remark)
{
    char text[TEXT_NUM];
    struct row r = { .arena = a->frame };
    /* the same for all three: they are compared */
    unsigned cols = w >= WITH_PEAK ? w - 74 : w > 50 ? w - 42 : w >= 44 ? 8 : 4;
    text_bytes(text, bytes);
    row_put(&r, role, " %-6s", name);
    row_right(&r, ROLE_VALUE, 10, "%s", text);
    row_put(&r, ROLE_TEXT, "  ");
    row_bar(&r, role, cols > 60 ? 60 : cols, isnan(bytes) || !(whole > 0) ? 0 : bytes / whole);
    row_put(&r, ROLE_LABEL, "  %s", remark);
    page_add(a, &a->page[PANEL_COUNTERS], &r, -1);
}

/* Where the picture of the way to memory has no room: its numbers. */
#define FLOW_LEAST 46
static void put_flow_brief(struct app *a, const char *req, const char *spr, const char *l1,
                           const char *l2)
{
    struct page *p = &a->page[PANEL_COUNTERS];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_L1, " L1");
    row_put(&r, ROLE_VALUE, " hit %s", l1);
    row_put(&r, ROLE_L2, "   L2");
    row_put(&r, ROLE_VALUE, " hit %s", l2);
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_DIM, " %s requests, %s sectors each", req, spr);
    page_add(a, p, &r, -1);
}

static void put_flow(struct app *a, unsigned w, const struct result *x)
{
    struct page *p = &a->page[PANEL_COUNTERS];
    char req[TEXT_NUM], spr[TEXT_NUM], l1[TEXT_NUM], l2[TEXT_NUM];
    struct row r = { .arena = a->frame };
    view_counter(x, COUNTER_L1_REQUESTS, req);
    view_counter(x, COUNTER_L1_SECTORS_PER_REQUEST, spr);
    view_counter(x, COUNTER_L1_HIT_RATE, l1);
    view_counter(x, COUNTER_L2_HIT_RATE, l2);
    if (w < FLOW_LEAST) {
        put_flow_brief(a, req, spr, l1, l2);
        return;
    }
    row_put(&r, ROLE_TITLE, " warps");
    row_put(&r, ROLE_BORDER, " ─────────▶ ");
    row_put(&r, ROLE_L1, "L1");
    row_put(&r, ROLE_BORDER, " ─────────▶ ");
    row_put(&r, ROLE_L2, "L2");
    row_put(&r, ROLE_BORDER, " ─────────▶ ");
    row_put(&r, ROLE_DRAM, "DRAM");
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_VALUE, " %s", req);
    row_put(&r, ROLE_DIM, " requests");
    row_pad(&r, 18);
    row_put(&r, view_hit_role(result_counter(x, COUNTER_L1_HIT_RATE)), "hit %s", l1);
    row_pad(&r, 32);
    row_put(&r, view_hit_role(result_counter(x, COUNTER_L2_HIT_RATE)), "hit %s", l2);
    page_add(a, p, &r, -1);
    row_put(&r, ROLE_VALUE, " %s", spr);
    row_put(&r, ROLE_DIM, " sectors each");
    page_add(a, p, &r, -1);
}

/* Made once for each result: it reads the device's preset. */
static const struct roofline *roofline_kept(struct app *a, const struct result *r, const char *spec)
{
    struct counters_view *c = &a->counters;
    if (c->roof_time != result_time(r)->median || strcmp(c->roof_spec, spec) != 0 ||
        memcmp(c->roof_of, result_counters(r), sizeof c->roof_of) != 0) {
        c->roof = roofline_of(r, spec, NULL);
        c->roof_time = result_time(r)->median;
        memcpy(c->roof_of, result_counters(r), sizeof c->roof_of);
        snprintf(c->roof_spec, sizeof c->roof_spec, "%s", spec);
    }
    return &c->roof;
}

/* "read from L2, 41 % of its peak (with stores 153 MiB)" */
static const char *of_peak(struct app *a, const struct roof *r, const char *read, double bytes,
                           unsigned w)
{
    char all[TEXT_NUM];
    if (!r || isnan(r->share))
        return read;
    if (w < WITH_PEAK)
        return arena_printf(a->frame, "%.0f %% of peak", r->share * 100);
    text_bytes(all, r->amount);
    return r->amount > 1.005 * bytes
               ? arena_printf(a->frame, "%s, %.0f %% of its peak (with stores %s)", read, r->share * 100,
                              all)
               : arena_printf(a->frame, "%s, %.0f %% of its peak", read, r->share * 100);
}

static const struct roof *roof_of(const struct roofline *f, const char *level)
{
    for (size_t i = 0; i < f->n; i++)
        if (!strcmp(f->roof[i].name, level))
            return &f->roof[i];
    return NULL;
}

/* Why the bars do not follow from each other, and what they leave out. */
static void put_balance(struct app *a, unsigned w, const struct result *r)
{
    struct page *p = &a->page[PANEL_COUNTERS];
    char text[2][TEXT_NUM];
    double missed = 32 * result_counter(r, COUNTER_L1_SECTORS) *
                    (1 - result_counter(r, COUNTER_L1_HIT_RATE) / 100),
           l2 = 32 * result_counter(r, COUNTER_L2_READ_SECTORS),
           stored = 32 * result_counter(r, COUNTER_L2_WRITE_SECTORS),
           l2_missed = l2 * (1 - result_counter(r, COUNTER_L2_HIT_RATE) / 100),
           dram = result_counter(r, COUNTER_DRAM_READ_BYTES);
    text_bytes(text[0], missed);
    if (l2 > 1.02 * missed)
        page_say(a, p, ROLE_DIM, 1, w - 1,
                 "L1 missed %s; L2 reads more: whole lines, and what copies and local memory "
                 "ask for",
                 text[0]);
    else if (l2 < 0.98 * missed)
        page_say(a, p, ROLE_DIM, 1, w - 1,
                 "L1 missed %s; misses of data already on their way are merged", text[0]);
    if (l2 > 0 && dram <= 0)
        page_say(a, p, ROLE_DIM, 1, w - 1, "nothing is read from DRAM: the data lie in L2 already");
    else if (dram > 1.02 * l2_missed && stored > 0)
        page_say(a, p, ROLE_DIM, 1, w - 1,
                 "DRAM reads more than L2 missed: sectors that stores fill in part are read, too");
    text_bytes(text[0], stored);
    text_bytes(text[1], result_counter(r, COUNTER_DRAM_WRITE_BYTES));
    if (stored > 0)
        page_say(a, p, ROLE_DIM, 1, w - 1, "stores also write %s to L2, %s to DRAM (in the shares, too)",
                 text[0], text[1]);
}

static void put_bytes(struct app *a, unsigned w, const struct result *r, const char *spec)
{
    const struct roofline *f = roofline_kept(a, r, spec);
    double l1 = result_counter(r, COUNTER_L1_SECTORS) * 32,
           l2 = result_counter(r, COUNTER_L2_READ_SECTORS) * 32,
           dram = result_counter(r, COUNTER_DRAM_READ_BYTES);
    double whole = fmax(fmax(isnan(l1) ? 0 : l1, isnan(l2) ? 0 : l2), isnan(dram) ? 0 : dram);
    const struct roof *top = f->valid ? &f->l1 : NULL;
    put_bar(a, w, "L1", ROLE_L1, l1, whole, of_peak(a, top, "asked of L1", l1, w));
    put_bar(a, w, "L2", ROLE_L2, l2, whole, of_peak(a, roof_of(f, "L2"), "read from L2", l2, w));
    put_bar(a, w, "DRAM", ROLE_DRAM, dram, whole,
            of_peak(a, roof_of(f, "DRAM"), "read from memory", dram, w));
    put_balance(a, w, r);
}

/* Is more of it better? 1 yes, -1 no, 0 neither. */
static void put_change(struct row *r, double now, double before, bool percent, int dir)
{
    if (isnan(now) || isnan(before)) {
        row_right(r, ROLE_DIM, 10, "n/a");
        return;
    }
    double d = percent ? now - before : before != 0 ? (now / before - 1) * 100 : now == 0 ? 0 : NAN;
    enum role role = isnan(d) || fabs(d) < 0.5 || !dir ? ROLE_DIM
                     : (d > 0) == (dir > 0)            ? ROLE_GOOD
                                                       : ROLE_WARN;
    if (isnan(d))
        row_right(r, ROLE_DIM, 10, "n/a");
    else if (fabs(d) < 0.05)
        row_right(r, ROLE_DIM, 10, "same");
    else
        row_right(r, role, 10, percent ? "%+.1f pts" : "%+.1f %%", d);
}

/* The baseline's value and the change: in a narrow panel the change alone, in a very narrow one neither.
 */
enum { WITH_CHANGE = 47, WITH_BASE = 58, WITH_ORIGIN = 76 /* beside each number; else in the head */ };
struct against {
    const char *text;
    double now, before;
    bool percent;
    int dir;
};
static void put_against(struct row *r, unsigned w, const struct against *x)
{
    if (w >= WITH_BASE)
        row_right(r, ROLE_LABEL, 11, "%s", x->text);
    if (w < WITH_CHANGE)
        return;
    row_put(r, ROLE_TEXT, "  ");
    put_change(r, x->now, x->before, x->percent, x->dir);
}

static void put_counter(struct app *a, unsigned w, const struct result *x, const struct result *base,
                        enum counter_id c)
{
    char now[TEXT_NUM], before[TEXT_NUM] = "";
    struct row r = { .arena = a->frame };
    bool percent = !strcmp(counter_unit(c), "percent");
    view_counter(x, c, now);
    row_put(&r, ROLE_LABEL, " %-23s", counter_name(c));
    row_right(&r, result_counters(x)[c].valid ? ROLE_VALUE : ROLE_DIM, 10, "%s", now);
    if (base) {
        view_counter(base, c, before);
        put_against(&r, w,
                    &(struct against){ before, result_counter(x, c), result_counter(base, c), percent,
                                       (int)counter_better(c) });
    }
    if (w >= WITH_ORIGIN)
        row_put(&r, ROLE_DIM, "  %-9s",
                result_counters(x)[c].valid ? origin_name(result_counters(x)[c].origin) : "");
    if (w >= 120)
        row_put(&r, ROLE_DIM, "  %s", counter_help(c));
    page_add(a, &a->page[PANEL_COUNTERS], &r, -1);
}

static void put_time(struct app *a, unsigned w, const struct result *x, const struct result *base)
{
    char now[TEXT_NUM], before[TEXT_NUM];
    struct row r = { .arena = a->frame };
    bool alike = base && timed_alike(base, x);
    text_time(now, result_time(x)->valid ? (double)result_time(x)->median : NAN);
    row_put(&r, ROLE_LABEL, " %-23s", "time");
    row_right(&r, ROLE_TITLE, 10, "%s", now);
    if (base) {
        text_time(before, result_time(base)->valid ? (double)result_time(base)->median : NAN);
        put_against(&r, w,
                    &(struct against){
                        before, result_time(x)->valid ? (double)result_time(x)->median : NAN,
                        result_time(base)->valid && alike ? (double)result_time(base)->median : NAN,
                        false, -1 });
    }
    if (result_time(x)->valid && w >= WITH_ORIGIN)
        row_put(&r, ROLE_DIM, "  %s", origin_name(result_time(x)->origin));
    page_add(a, &a->page[PANEL_COUNTERS], &r, -1);
}

static void put_code(struct app *a, const struct result *x)
{
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_DIM, " code: %u registers, %u B shared, %u B local, %u CTAs per SM; %s",
            result_regs(x), result_shared_static(x), result_local_bytes(x), result_ctas_per_sm(x),
            evidence_name(evidence_of(x)));
    if (result_regs(x) || result_ctas_per_sm(x))
        page_add(a, &a->page[PANEL_COUNTERS], &r, -1);
}

/* Of the last run: a finished sweep's or search's best, else the newest. */
static size_t telling(const struct app *a, const struct entry *v, size_t n)
{
    while (n > 1 && v[n - 1].run->aside)
        n--;
    const struct session_run *last = v[n - 1].run;
    const struct result *best = run_best(last);
    bool done = last->kind == RUN_SWEEP ? last->sweep.complete : !a->snap->busy;
    if (last->kind == RUN_ONE || !done || !best)
        return n - 1;
    for (size_t i = n; i-- > 0 && v[i].run == last;)
        if (v[i].r == best ||
            (last->kind == RUN_TUNE && result_sampled(v[i].r) == result_sampled(best) &&
             result_time(v[i].r)->valid && options_equal(result_options(v[i].r), result_options(best))))
            return i;
    return n - 1;
}

/* wrap: columns, 0: lines are cut at the panel's edge. */
static void put_lines(struct app *a, const struct buf *text, enum role role, unsigned wrap)
{
    for (const char *s = text->s ? text->s : "", *end; *s; s = end + 1) {
        struct row r = { .arena = a->frame };
        end = strchr(s, '\n');
        row_put(&r, role, " %.*s", (int)(end - s), s);
        if (wrap)
            page_say(a, &a->page[PANEL_COUNTERS], role, 1, wrap, "%.*s", (int)(end - s), s);
        else
            page_add(a, &a->page[PANEL_COUNTERS], &r, -1);
    }
}

/* The picture, and what each ceiling leaves. */
static void put_roofline(struct app *a, unsigned w, const struct result *r, const char *spec)
{
    const struct roofline *f = roofline_kept(a, r, spec);
    struct buf text = { 0 }, picture = { 0 };
    page_blank(a, &a->page[PANEL_COUNTERS]);
    buf_puts(&text, "roofline ");
    roofline_text(f, &text);
    if (a->set.ascii)
        roofline_plot(f, w > 90 ? 72 : w > 34 ? w - 18 : 0, 12, &picture);
    else
        roof_put(a, &a->page[PANEL_COUNTERS], f, w > 2 ? w - 2 : 0, 12);
    put_lines(a, &picture, ROLE_VALUE, 0);
    put_lines(a, &text, ROLE_DIM, w - 1);
    buf_free(&text);
    buf_free(&picture);
}

#define MAX_ENTRIES 4096
static size_t chosen(struct app *a, struct entry *e)
{
    struct entry *v = ARENA_ARRAY(a->frame, struct entry, MAX_ENTRIES);
    size_t n = v ? entries(a, v, MAX_ENTRIES) : 0, at = a->counters.result;
    if (!n)
        return 0;
    if (!a->counters.placed || at >= n)
        at = telling(a, v, n);
    a->counters.result = at;
    *e = v[at];
    return n;
}

size_t view_counters_run(struct app *a)
{
    struct entry e;
    return chosen(a, &e) ? e.index : SIZE_MAX;
}

const struct result *view_counters_result(struct app *a)
{
    struct entry e;
    const struct session_run *run = chosen(a, &e) ? app_run(a, e.index) : NULL;
    return run && !run->earlier && a->snap->kernel && !strcmp(run->kernel, a->snap->kernel) ? e.r : NULL;
}

const char *view_counters_name(struct app *a, bool brief)
{
    struct entry e;
    struct buf b = { 0 };
    if (chosen(a, &e))
        entry_name(&b, &e);
    if (b.s && brief && e.run->kind != RUN_SWEEP)
        b.s[4 + strcspn(b.s + 4, " ")] = '\0'; /* "run 2" */
    const char *name = arena_printf(a->frame, "%s", b.s ? b.s : "");
    buf_free(&b);
    return name;
}

static void counters_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_COUNTERS];
    struct entry e;
    struct row r = { .arena = a->frame };
    page_clear(p);
    if (!chosen(a, &e)) {
        page_empty(a, p, w,
                   view_unready(a, "No result yet: {run} runs the kernel once with the current knobs, "
                                   "{sweep} sweeps. This panel shows what each level of memory did."));
        if (a->snap->spec && h >= 18) {
            page_blank(a, p);
            cost_full(a, p, w);
        }
        list_set_count(&a->list[PANEL_COUNTERS], p->n);
        return;
    }
    struct base b = base_of(a, &e);
    const struct result *base = b.r;
    put_flow(a, w, e.r);
    if (h > 20)
        page_blank(a, p);
    put_bytes(a, w, e.r, e.run->dev.spec);
    if (h > 18)
        page_blank(a, p);
    row_put(&r, ROLE_LABEL, " %-23s", "");
    row_right(&r, ROLE_LABEL, 10, "now");
    if (base && w >= WITH_BASE)
        row_right(&r, ROLE_LABEL, 11, "%s", b.brief);
    if (base && w >= WITH_CHANGE)
        row_right(&r, ROLE_LABEL, 12, "change");
    page_add(a, p, &r, -1);
    put_time(a, w, e.r, base);
    for (int c = 0; c < COUNTER_COUNT; c++)
        if (!counter_left_out((enum counter_id)c, result_counters(e.r)) ||
            (base && !counter_left_out((enum counter_id)c, result_counters(base))))
            put_counter(a, w, e.r, base, (enum counter_id)c);
    put_code(a, e.r);
    put_roofline(a, w, e.r, e.run->dev.spec);
    page_blank(a, p);
    cost_full(a, p, w);
    list_set_count(&a->list[PANEL_COUNTERS], p->n);
}

static void counters_head(struct app *a, unsigned w, struct row *r)
{
    struct entry e;
    size_t n = chosen(a, &e);
    if (!n)
        return;
    struct buf b = { 0 };
    entry_name(&b, &e);
    bool narrow = w < WITH_ORIGIN; /* then the options are what may be cut */
    row_put(r, ROLE_LABEL, " %s%zu of %zu", narrow ? "" : "result ", a->counters.result + 1, n);
    if (result_time(e.r)->valid && narrow)
        row_put(r, ROLE_DIM, " (%s)", evidence_words(evidence_of(e.r)));
    row_put(r, ROLE_LABEL, ": ");
    row_put(r, ROLE_TITLE, "%s", b.s ? b.s : "");
    if (result_time(e.r)->valid && !narrow)
        row_put(r, ROLE_DIM, " (%s)", evidence_name(evidence_of(e.r)));
    const struct session_run *run = app_run(a, e.index);
    if (run && run->earlier)
        row_put(r, ROLE_WARN, " (earlier text)");
    struct base base = base_of(a, &e);
    if (base.r)
        row_put(r, ROLE_LABEL, "   against %s", base.name);
    buf_free(&b);
}

static unsigned counters_request(struct app *a, enum request r)
{
    struct counters_view *c = &a->counters;
    switch (r) {
    case REQ_CNT_NEXT:
        c->result++;
        c->placed = true;
        break;
    case REQ_CNT_PREV:
        c->result -= c->result > 0;
        c->placed = true;
        break;
    case REQ_CNT_BASE: c->base = (c->base + 1) % (int)ARRAY_LEN(base_names); break;
    default: return 0;
    }
    return UI_REDRAW;
}

const struct view view_counters = { counters_update, counters_head, NULL, counters_request, NULL, NULL };
