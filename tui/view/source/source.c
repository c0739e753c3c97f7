/* source, part 2: the lines of the source panel and what its keys do. */
#include "engine/pass/pass.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/traffic.h"
#include "tui/view/view.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- the gutter: what a load costs ---- */
static const char *class_short(enum ana_class c)
{
    static const char *const s[] = { "algo", "line", "data", "write", "strm", "?" };
    return (unsigned)c < ARRAY_LEN(s) ? s[c] : "?";
}

struct gutter {
    unsigned number, bar, sectors, share, cls, decision, total;
};

static struct gutter gutter_of(const struct app *a, unsigned w)
{
    struct gutter g = { .number = a->source.old.n > 9999 ? 6 : 4 };
    if (w >= 36)
        g.bar = w >= 76 ? 6 : 4;
    if (w >= 56)
        g.sectors = 5, g.decision = 3;
    if (w >= 64)
        g.cls = 6;
    if (w >= 76)
        g.share = 6;
    g.total = g.number + 1 + (g.bar ? g.bar + 1 : 0) + g.sectors + g.share + (g.cls ? g.cls + 1 : 0) +
              (g.decision ? g.decision + 1 : 0) + 2;
    return g;
}

/* Column where the rewritten text starts beside the original: both texts get the same room. */
static unsigned split_of(const struct app *a, unsigned w)
{
    return (w + gutter_of(a, w / 2).total) / 2;
}

static void put_share(struct row *r, const struct app *a, const struct ana_access *x)
{
    double share = a->source.traffic ? traffic_load(a->source.traffic, x).share : (double)NAN;
    if (isnan(share))
        row_right(r, ROLE_DIM, 6, "%s", x->store || x->atomic || x->prefetch ? "" : "-");
    else
        row_right(r, share >= 0.25 ? ROLE_WARN : ROLE_VALUE, 6, "%.0f%%", share * 100);
}

static void gutter_access(struct row *r, const struct gutter *g, const struct app *a,
                          const struct ana_access *x)
{
    const struct ana_coalesce *c = &x->coalesce;
    if (g->bar && c->valid)
        row_bar(r, view_degree_role(fmax(c->degree, ana_sector_use(c))), g->bar,
                fmax(c->degree, ana_sector_use(c)));
    else if (g->bar)
        row_put(r, ROLE_DIM, "%-*s", (int)g->bar, x->atomic ? "atom" : x->store ? "store" : "?");
    if (g->bar)
        row_put(r, ROLE_TEXT, " ");
    if (g->sectors && x->exact.valid && !isnan(x->exact.sectors_per_request))
        row_right(r, ROLE_VALUE, g->sectors - 1, "%.1f", x->exact.sectors_per_request);
    else if (g->sectors && c->valid)
        row_right(r, ROLE_LABEL, g->sectors - 1, "~%.0f", c->sectors);
    else if (g->sectors)
        row_right(r, ROLE_DIM, g->sectors - 1, "-");
    if (g->share)
        put_share(r, a, x);
    if (g->cls)
        row_put(r, ROLE_NOTE, "  %-5s", class_short(x->cls));
    if (g->decision) {
        const char *d = source_decision(a->options, x);
        row_put(r, !strcmp(d, "ca") ? ROLE_LABEL : ROLE_CHANGED, " %s", d);
    }
}

static void gutter_put(struct row *r, const struct gutter *g, const struct app *a, uint32_t line)
{
    const struct ana_access *x = source_access_at(a, line);
    bool error = source_error_at(a, line) != NULL;
    if (line)
        row_right(r, error ? ROLE_ERROR : ROLE_DIM, g->number, "%u", line);
    row_pad(r, g->number + 1);
    if (error)
        row_put(r, ROLE_ERROR, "✗");
    else if (x && x->space == PTX_SPACE_GLOBAL)
        gutter_access(r, g, a, x);
    row_pad(r, g->total - 2);
    row_put(r, ROLE_BORDER, "│ ");
}

static void source_head(struct app *a, unsigned w, struct row *r)
{
    struct gutter g = gutter_of(a, a->source.mode == SRC_SIDE ? w / 2 : w);
    row_right(r, ROLE_LABEL, g.number, "line");
    row_pad(r, g.number + 1);
    if (g.bar)
        row_put(r, ROLE_LABEL, g.bar >= 6 ? "degree" : "deg");
    row_pad(r, g.number + 1 + (g.bar ? g.bar + 1 : 0));
    if (g.sectors)
        row_put(r, ROLE_LABEL, " s/r");
    if (g.share)
        row_put(r, ROLE_LABEL, " share");
    if (g.cls)
        row_put(r, ROLE_LABEL, "  class");
    if (g.decision)
        row_put(r, ROLE_LABEL, " op");
    row_pad(r, g.total - 2);
    row_put(r, ROLE_BORDER, "│ ");
    const struct pass_output *p = a->snap->preview;
    const char *left = a->source.mode == SRC_REWRITTEN ? "rewritten" : "original";
    row_put(r, ROLE_LABEL, "%s", left);
    if (a->source.mode == SRC_SIDE) {
        row_pad(r, split_of(a, w));
        row_put(r, ROLE_BORDER, "│ ");
        row_put(r, ROLE_LABEL, "rewritten");
    }
    if (a->source.mode != SRC_ORIGINAL && !p)
        row_put(r, ROLE_WARN,
                a->snap->refusal ? "  refused: see the options panel"
                                 : "  no rewrite yet: change an option");
    else if (a->source.mode != SRC_ORIGINAL && !p->changed)
        row_put(r, ROLE_DIM, "  (the options do not change the text)");
}

/* Side by side there is little room: then blanks that only align are one, so that what is loaded and
 * from where is seen. */
#define SIDE_ROOMY    56
#define SOURCE_NARROW 40 /* and a text alone when it has less than that */
static struct str side_text(const struct app *a, struct str s, unsigned room)
{
    char *out = room < SIDE_ROOMY ? arena_alloc_unaligned(a->frame, s.n + 1) : NULL;
    size_t n = 0;
    bool literal = false;
    for (size_t i = 0; out && i < s.n; i++) {
        bool blank = s.s[i] == ' ' || s.s[i] == '\t',
             comment = s.s[i] == '/' && i + 1 < s.n && s.s[i + 1] == '/';
        literal = literal || comment || s.s[i] == '"';
        if (literal || !blank)
            out[n++] = s.s[i];
        else if (n && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    return out ? (struct str){ out, n } : s;
}

/* Cuts the row at `col` columns so that the right half starts there. */
static void row_cut(struct row *r, unsigned col)
{
    unsigned at = 0;
    for (unsigned i = 0; i < r->n; i++) {
        unsigned w = text_width(r->v[i].s);
        if (at + w > col) {
            r->v[i].s = text_head(r->v[i].s, col - at - (col > at));
            r->n = i + 1;
            r->width = at + text_width(r->v[i].s);
            row_put(r, ROLE_DIM, "…");
            return;
        }
        at += w;
    }
}

static void put_new(struct row *r, const struct app *a, const struct src_line *l, struct str reg,
                    unsigned room)
{
    bool touched = l->tag != NULL;
    row_put(r, touched ? ROLE_INSERTED : ROLE_DIM, "%s ", touched ? l->old ? "~" : "+" : " ");
    struct str text = side_text(a, source_line_text(&a->source.new, l->new), room);
    if (touched && !l->old)
        row_str(r, ROLE_INSERTED, text);
    else
        source_colour(r, text, reg);
}

static struct str cursor_name(const struct app *a)
{
    const struct source_view *s = &a->source;
    size_t at = a->list[PANEL_SOURCE].cursor;
    if (at >= s->nlines)
        return (struct str){ "", 0 };
    const struct src_line *l = &s->line[at];
    bool new = s->mode == SRC_REWRITTEN && l->new;
    return source_name_on(source_line_text(new ? &s->new : &s->old, new ? l->new : l->old), s->reg);
}

static void source_row(struct app *a, size_t i, unsigned w, struct row *r)
{
    const struct source_view *s = &a->source;
    if (i >= s->nlines)
        return;
    const struct src_line *l = &s->line[i];
    struct str name = cursor_name(a);
    bool side = s->mode == SRC_SIDE && s->new.n;
    struct gutter g = gutter_of(a, side ? w / 2 : w);
    gutter_put(r, &g, a, l->old);
    if (s->mode == SRC_REWRITTEN && s->new.n) {
        put_new(r, a, l, name, UINT_MAX);
        return;
    }
    unsigned room = side ? w - split_of(a, w) - 1 : w < g.total + SOURCE_NARROW ? w - g.total : UINT_MAX;
    struct str old = side_text(a, source_line_text(&s->old, l->old), room);
    if (l->old && side && !l->new)
        row_str(r, ROLE_REMOVED, old);
    else
        source_colour(r, old, name);
    const struct src_mark *m = l->old ? &s->mark[l->old - 1] : NULL;
    if (m && m->fold_end > l->old && s->folded[m->func])
        row_put(r, ROLE_DIM, "  … %u lines folded", m->fold_end - l->old);
    if (!side)
        return;
    row_cut(r, split_of(a, w) - 1);
    row_pad(r, split_of(a, w));
    row_put(r, ROLE_BORDER, "│");
    if (l->new)
        put_new(r, a, l, name, room);
}

static void source_update(struct app *a, unsigned w, unsigned h)
{
    struct traffic *t = ARENA_ARRAY(a->frame, struct traffic, 1);
    source_refresh(a);
    a->source.traffic = t; /* once a frame: every line's share is asked of it */
    if (t)
        *t = traffic_of(a);
    page_clear(&a->page[PANEL_SOURCE]);
    if (!a->source.nlines)
        page_hint(a, &a->page[PANEL_SOURCE], w,
                  a->snap->busy ? "Opening ..." : view_unready(a, "This file is empty."));
    list_set_count(&a->list[PANEL_SOURCE],
                   a->source.nlines ? a->source.nlines : a->page[PANEL_SOURCE].n);
    if (h >= 14)
        source_info(a, w);
}

/* ---- keys ---- */
static unsigned next_load(struct app *a, int step)
{
    const struct source_view *s = &a->source;
    struct list *l = &a->list[PANEL_SOURCE];
    for (size_t i = l->cursor + (size_t)step; i < s->nlines; i += (size_t)step) {
        const struct ana_access *x = source_access_at(a, s->line[i].old);
        if (x && x->space == PTX_SPACE_GLOBAL && !x->store) {
            list_show(l, i);
            a->source.reg = 0;
            return UI_REDRAW;
        }
    }
    app_notice(a, DIAG_NOTE, a->snap->facts ? "no more loads in this direction" : "no analysis yet");
    return UI_REDRAW;
}

static unsigned hottest(struct app *a)
{
    struct source_view *s = &a->source;
    const struct ana_kernel *k = a->snap->facts;
    uint32_t n, line = source_cursor_line(a);
    const uint32_t *order = traffic_order(a, &n);
    if (!n) {
        app_notice(a, DIAG_NOTE, k ? "this kernel has no loads from global memory" : "no analysis yet");
        return UI_REDRAW;
    }
    if (!s->hot || s->hot > n || k->access[order[s->hot - 1]].at.line != line)
        s->hot = 0; /* the cursor went elsewhere: from the first again */
    const struct ana_access *x = &k->access[order[s->hot % n]];
    s->hot = s->hot % n + 1;
    source_goto(a, x->at.line);
    s->reg = 0;
    struct traffic t = traffic_of(a);
    struct load_traffic l = traffic_load(&t, x);
    if (isnan(l.share))
        app_notice(a, DIAG_NOTE, "the traffic of each load is unknown: %s",
                   view_keys(a, "{run} runs the kernel and counts"));
    else
        app_notice(a, DIAG_NOTE, "%u of %u: %.1f %% of %s", s->hot, n, l.share * 100,
                   t.counted ? arena_printf(a->frame, "the sectors past L1 (simulated, %s)",
                                            view_counters_name(a, false))
                             : "the sectors requested by the loads");
    return UI_REDRAW;
}

/* A line often begins with the register that it defines itself: then the next one with a definition
 * elsewhere is meant. */
static unsigned jump(struct app *a)
{
    struct source_view *s = &a->source;
    unsigned chosen = s->reg;
    struct str first = cursor_name(a), name = first;
    uint32_t line = source_cursor_line(a), to = 0;
    while (name.n && !(to = source_definition(a, name, line))) {
        s->reg++;
        name = cursor_name(a);
    }
    if (!to) {
        s->reg = chosen;
        app_notice(a, DIAG_NOTE,
                   first.n ? "%.*s has no definition here" : "no register or label on this line",
                   (int)first.n, first.s);
        return UI_REDRAW;
    }
    source_jump(a, to);
    return UI_REDRAW;
}

static unsigned fold(struct app *a)
{
    struct source_view *s = &a->source;
    uint32_t line = source_cursor_line(a);
    for (uint32_t l = line; s->mark && l > 0; l--) {
        const struct src_mark *m = &s->mark[l - 1];
        if (m->fold_end < line || !m->fold_end)
            continue;
        s->folded[m->func] ^= 1;
        source_relist(a);
        source_goto(a, l);
        break;
    }
    return UI_REDRAW;
}

static unsigned rewritten(struct app *a)
{
    static const char *const names[] = { "original text", "original and rewritten, side by side",
                                         "rewritten text" };
    struct source_view *s = &a->source;
    uint32_t line = source_cursor_line(a);
    s->mode = (enum src_mode)((s->mode + 1) % 3);
    source_relist(a);
    bool found = s->mode == SRC_SIDE && source_first_change(a);
    s->wants_change = s->mode == SRC_SIDE && !found;
    if (found) {
        app_notice(a, DIAG_NOTE, "the first change; {next-change} and {previous-change} go on");
        return UI_REDRAW;
    }
    if (line)
        source_goto(a, line);
    app_notice(a, DIAG_NOTE, "%s", names[s->mode]);
    return UI_REDRAW;
}

static unsigned next_change(struct app *a, int by)
{
    const struct source_view *s = &a->source;
    size_t at = a->list[PANEL_SOURCE].cursor;
    if (s->mode != SRC_ORIGINAL && s->nlines &&
        source_to_change(a, by > 0 ? (at + 1) % s->nlines : (at + s->nlines - 1) % s->nlines, by))
        return UI_REDRAW;
    app_notice(a, DIAG_NOTE,
               s->mode == SRC_ORIGINAL ? "{rewritten} shows the rewritten text first"
                                       : "the rewrite changes nothing");
    return UI_REDRAW;
}

static unsigned source_request(struct app *a, enum request r)
{
    struct source_view *s = &a->source;
    switch (r) {
    case REQ_SRC_NEXT_LOAD: return next_load(a, 1);
    case REQ_SRC_PREV_LOAD: return next_load(a, -1);
    case REQ_SRC_HOT: return hottest(a);
    case REQ_SRC_NEXT_REG:
        s->reg++;
        if (!cursor_name(a).n)
            s->reg = 0;
        break;
    case REQ_SRC_PREV_REG: s->reg -= s->reg > 0; break;
    case REQ_SRC_DEFINE: return jump(a);
    case REQ_SRC_BACK:
        if (s->njumps)
            source_goto(a, s->jump[--s->njumps]);
        else
            app_notice(a, DIAG_NOTE, "no earlier jump");
        break;
    case REQ_SRC_TREE:
        a->tree_access = source_access(a);
        if (a->tree_access < 0) {
            app_notice(a, DIAG_NOTE, "no memory access on this line: {next-load} goes to the next load");
            break;
        }
        a->overlay = OVERLAY_TREE;
        a->over_list = (struct list){ 0 };
        break;
    case REQ_SRC_FOLD: return fold(a);
    case REQ_SRC_REWRITE: return rewritten(a);
    case REQ_SRC_CHANGE: return next_change(a, 1);
    case REQ_SRC_CHANGE_BACK: return next_change(a, -1);
    case REQ_UP:
    case REQ_DOWN: s->reg = 0; return 0;
    default: return 0;
    }
    return UI_REDRAW;
}

const struct view view_source = { source_update, source_head, source_row, source_request, NULL, NULL };
