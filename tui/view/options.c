/* options: knobs in groups, then the launch description. What was changed and what the advice names stands
 * first; the other knobs of a group are folded into one line. Items number the knobs of the table first,
 * then the folds of the groups, then grid, block, shared memory and arguments. */
#include "engine/pass/pass.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/search/advice.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/as_command.h"
#include "tui/app/launch/guess.h"
#include "tui/app/launch_edit.h"
#include "tui/app/legal.h"
#include "tui/app/post.h"
#include "tui/base/text.h"
#include "tui/view/search.h"
#include "tui/view/view.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEM_FOLD = 900, ITEM_MAKE = 999, ITEM_GRID = 1000, ITEM_BLOCK, ITEM_SHARED, ITEM_ARG };

/* First knob of each group of options.def, and the group's title. */
static const struct {
    const char *first, *title;
} groups[] = { { "bypass", "Cache bypassing" },
               { "cluster", "CTA clustering and throttling" },
               { "prefetch", "Prefetching" },
               { "softcache", "Software cache" },
               { "block", "Loop schedule" },
               { "throttle-shared", "Occupancy and carve-out" },
               { "assume-read-only", "Assumptions you make" } };

static bool is_knob(long item)
{
    return item >= 0 && (size_t)item < knob_count();
}

static size_t group_of(size_t knob)
{
    size_t g = 0;
    for (size_t i = 0, next = 1; i <= knob && next < ARRAY_LEN(groups); i++)
        if (!strcmp(groups[next].first, knob_info(i)->name))
            g = next++;
    return g;
}

static void knob_text(const struct options *o, size_t i, struct buf *out)
{
    buf_clear(out);
    knob_get(o, i, out);
}

/* The values of an enum, those that are not legal here as if crossed out; else the form or range. */
static void put_allowed(struct app *a, struct row *r, size_t knob, const char *value)
{
    const struct knob_info *k = knob_info(knob);
    if (k->kind == KNOB_KIND_INT) {
        row_put(r, ROLE_DIM, "%d..%d", k->min, k->max);
        return;
    }
    if (k->kind != KNOB_KIND_ENUM) {
        row_put(r, ROLE_DIM, "%s", k->kind == KNOB_KIND_FLAG ? "on off" : k->form ? k->form : "");
        return;
    }
    for (size_t v = 0; k->values[v]; v++) {
        bool not_legal = legal_why_not(a, knob, v) != NULL;
        row_put(r, ROLE_DIM, "%s", v ? " " : "");
        row_put(r,
                not_legal                      ? ROLE_REMOVED
                : !strcmp(k->values[v], value) ? ROLE_VALUE
                                               : ROLE_DIM,
                "%s%s", not_legal ? "✗" : "", k->values[v]);
    }
}

/* A span for each word, so that the row breaks between any two. */
static void put_words(struct row *r, const char *text)
{
    for (size_t n; *text; text += n) {
        text += strspn(text, " ");
        n = strcspn(text, " ");
        row_put(r, ROLE_WARN, " %.*s", (int)n, text);
    }
}

/* Is the knob at another value than at first? Its text in `out`. */
static bool differs(const struct options *o, size_t i, struct buf *out)
{
    const struct options *def = options_none();
    struct buf plain = { 0 };
    knob_text(o, i, out);
    knob_text(def, i, &plain);
    bool yes = strcmp(out->n ? out->s : "", plain.n ? plain.s : "") != 0;
    buf_free(&plain);
    return yes;
}

/* The value that the first advice that names the knob gives it; NULL: none names it. The frame's. */
static const char *advised(struct app *a, size_t i)
{
    const char *text = NULL;
    struct buf b = { 0 };
    for (size_t k = 0; k < a->snap->nadvice && !text; k++)
        if (!a->snap->advice[k].tried && differs(&a->snap->advice[k].options, i, &b))
            text = arena_dup(a->frame, (struct str){ b.s, b.n });
    buf_free(&b);
    return text;
}

static bool stands_out(struct app *a, size_t i)
{
    struct buf b = { 0 };
    bool yes = differs(a->options, i, &b) || advised(a, i);
    buf_free(&b);
    return yes;
}

static void put_knob(struct app *a, size_t i, unsigned w)
{
    const struct knob_info *k = knob_info(i);
    struct buf value = { 0 };
    struct row r = { .arena = a->frame };
    char why[128];
    bool changed = differs(a->options, i, &value);
    unsigned warps = a->snap->spec ? (unsigned)((dim3u_count(a->snap->spec->block) + 31) / 32) : 0;
    bool idle = knob_idle(a->options, i, warps, why, sizeof why);
    const char *v = value.n ? value.s : "-", *other = changed ? NULL : advised(a, i);
    if (k->kind == KNOB_KIND_INT && k->min < 0 && !strcmp(v, "-1"))
        v = "driver's"; /* choice: no number of percent */
    row_put(&r,
            idle      ? ROLE_WARN
            : changed ? ROLE_CHANGED
                      : ROLE_NOTE,
            " %s ",
            idle      ? "○"
            : changed ? "●"
            : other   ? "›"
                      : " ");
    row_put(&r, ROLE_LABEL, "%-17s ", k->name);
    row_put(&r, idle ? ROLE_REMOVED : changed ? ROLE_CHANGED : ROLE_VALUE, "%-11s", v);
    if (idle) {
        put_words(&r, "no effect:");
        put_words(&r, why);
    } else if (other && w < 110) {
        row_put(&r, ROLE_NOTE, w >= 60 ? " advised: %s" : " › %s", other);
    } else if (w >= 60) {
        row_put(&r, ROLE_TEXT, " ");
        put_allowed(a, &r, i, v);
        if (w >= 110) {
            row_pad(&r, 66);
            row_put(&r, ROLE_NOTE, "  %s%s", other ? "advised: " : "", other ? other : "");
            row_put(&r, ROLE_DIM, "%s%s", other ? "  " : "", k->help);
        }
    }
    if (idle)
        page_flow(a, &a->page[PANEL_OPTIONS], &r, 22, w - 1, (long)i);
    else
        page_add(a, &a->page[PANEL_OPTIONS], &r, (long)i);
    buf_free(&value);
}

/* ---- groups: what stands out, then the rest behind one line ---- */
struct group {
    size_t first, end, out /* knobs that stand out */;
    bool open;
};

static struct group group_at(struct app *a, size_t g)
{
    struct group x = { .end = 0, .open = a->opts.open >> g & 1 };
    while (x.first < knob_count() && group_of(x.first) < g)
        x.first++;
    for (x.end = x.first; x.end < knob_count() && group_of(x.end) == g; x.end++)
        x.out += stands_out(a, x.end);
    return x;
}

/* "▸ Prefetching: prefetch prefetch-distance"; behind knobs of the group: "▸ 3 more: ..." */
static void put_fold(struct app *a, size_t g, const struct group *x)
{
    struct row r = { .arena = a->frame };
    if (x->open)
        row_put(&r, ROLE_LABEL, "   ▾ fewer");
    else if (x->out)
        row_put(&r, ROLE_LABEL, "   ▸ %zu more:", x->end - x->first - x->out);
    else
        row_put(&r, ROLE_TITLE, " ▸ %s:", groups[g].title);
    for (size_t i = x->first; i < x->end && !x->open; i++)
        if (!stands_out(a, i))
            row_put(&r, ROLE_DIM, " %s", knob_info(i)->name);
    page_add(a, &a->page[PANEL_OPTIONS], &r, ITEM_FOLD + (long)g);
}

static void put_group(struct app *a, size_t g, const struct group *x, unsigned w, bool roomy)
{
    struct page *p = &a->page[PANEL_OPTIONS];
    bool heading = x->out || x->open;
    if (heading && roomy && p->n)
        page_blank(a, p);
    if (heading)
        page_heading(a, p, "%s", groups[g].title);
    for (size_t i = x->first; i < x->end; i++)
        if (x->open || stands_out(a, i))
            put_knob(a, i, w);
    if (x->out < x->end - x->first)
        put_fold(a, g, x);
}

static void put_groups(struct app *a, unsigned w, bool roomy)
{
    for (int turn = 0; turn < 2; turn++)
        for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
            struct group x = group_at(a, g);
            if ((x.out == 0) == turn)
                put_group(a, g, &x, w, roomy);
        }
}

/* Shows or folds the rest of a group: that of a knob, or of a fold's line. */
static unsigned fold(struct app *a, long item)
{
    size_t g = is_knob(item) ? group_of((size_t)item) : (size_t)(item - ITEM_FOLD);
    if (item < 0 || g >= ARRAY_LEN(groups))
        return 0;
    a->opts.open ^= 1u << g;
    for (size_t i = 0; i < knob_count(); i++)
        if (a->opts.open >> g & 1 && group_of(i) == g && !stands_out(a, i)) {
            a->to_knob = 1 + (unsigned)i; /* to the first that appears */
            break;
        }
    return UI_REDRAW;
}

static void put_pair(struct app *a, const char *label, long item, enum role role, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, "   %-17s ", label);
    row_put(&r, role, "%s", text);
    page_add(a, &a->page[PANEL_OPTIONS], &r, item);
}

static void put_arg(struct app *a, const struct arg_spec *g, long item)
{
    char size[TEXT_NUM];
    struct buf b = { 0 };
    const char *name = g->name ? g->name : "?";
    switch (g->kind) {
    case ARG_BUFFER:
        launch_arg_text(g, &b);
        text_bytes(size, (double)g->count * (double)elem_size(g->elem));
        put_pair(a, name, item, ROLE_VALUE, "%-9s  %s", size, b.s ? b.s : "");
        break;
    case ARG_SCALAR:
        launch_arg_text(g, &b);
        put_pair(a, name, item, ROLE_VALUE, "%s", b.s ? b.s : "");
        break;
    case ARG_BYTES: put_pair(a, name, item, ROLE_VALUE, "%zu bytes by value", g->nbytes); break;
    case ARG_SAME_AS:
        put_pair(a, name, item, ROLE_VALUE, "same buffer as %s + %llu", g->same_as,
                 (unsigned long long)g->offset);
        break;
    case ARG_TEXTURE:
        put_pair(a, name, item, ROLE_VALUE, "texture or surface of %s",
                 g->same_as ? g->same_as : "none");
        break;
    case ARG_TENSOR_MAP: put_pair(a, name, item, ROLE_VALUE, "tensor map of %s", g->same_as); break;
    }
    buf_free(&b);
}

static void put_launch(struct app *a, unsigned w)
{
    const struct launch_spec *l = a->snap->spec;
    struct page *p = &a->page[PANEL_OPTIONS];
    page_blank(a, p);
    if (!l) {
        page_heading(a, p, "Launch");
        page_wrap(a, p, ROLE_WARN, 3, w - 1,
                  view_keys(a, "There is no launch description: how large the grid is and what the "
                               "arguments are. Nothing can be run without one. "
                               "{edit-value} here guesses one from the code; then every line can be "
                               "changed, and {save-launch} writes it beside the PTX."),
                  ITEM_MAKE);
        return;
    }
    char label[PTX_LABEL];
    bool named = l->name && strcmp(l->name, ptx_label(l->kernel ? l->kernel : "?", label)) != 0;
    page_heading(a, p, "Launch of %s%s%s", ptx_label(l->kernel ? l->kernel : "?", label),
                 named ? ", " : "", named ? l->name : "");
    put_pair(a, "grid", ITEM_GRID, ROLE_VALUE, "%u x %u x %u   (%llu CTAs)", l->grid.x, l->grid.y,
             l->grid.z, (unsigned long long)dim3u_count(l->grid));
    put_pair(a, "block", ITEM_BLOCK, ROLE_VALUE, "%u x %u x %u   (%llu warps per CTA)", l->block.x,
             l->block.y, l->block.z, (unsigned long long)(dim3u_count(l->block) + 31) / 32);
    put_pair(a, "shared memory", ITEM_SHARED, ROLE_VALUE, "%u bytes dynamic", l->shared);
    for (size_t i = 0; i < l->nargs; i++)
        put_arg(a, &l->args[i], (long)(ITEM_ARG + i));
}

/* ---- below the list: the verdict, help for what is under the cursor, the modelled cost ---- */
static void put_verdict(struct app *a, struct page *p, unsigned w)
{
    const struct job_snapshot *s = a->snap;
    bool same = options_equal(s->options, a->options);
    if (s->refusal && same)
        page_say(a, p, ROLE_ERROR, 1, w - 1, "not legal here: %s", s->refusal);
    else if (!same)
        page_say(a, p, ROLE_DIM, 1, w - 1, "checking ...");
    else if (s->preview && s->preview->changed)
        page_say(a, p, ROLE_GOOD, 1, w - 1,
                 "legal: {panel-1} then {rewritten} shows the rewritten text; {run} runs it");
    else
        page_say(a, p, ROLE_DIM, 1, w - 1, "the original text, unchanged");
}

/* Why a value is not legal, without the option it begins with: what several values may have in common.
 */
static const char *reason(struct app *a, size_t knob, size_t v)
{
    const struct knob_info *k = knob_info(knob);
    const char *why = legal_why_not(a, knob, v),
               *head = arena_printf(a->frame, "--%s %s ", k->name, k->values[v]);
    return why && !strncmp(why, head, strlen(head)) ? why + strlen(head) : why;
}

/* One line for all the values that a reason holds for, at the first of them. */
static void put_reason(struct app *a, struct page *p, size_t knob, size_t v, unsigned w)
{
    const struct knob_info *k = knob_info(knob);
    const char *why = reason(a, knob, v);
    struct buf names = { 0 };
    unsigned n = 0;
    for (size_t i = 0; why && k->values[i]; i++) {
        const char *other = reason(a, knob, i);
        if (!other || strcmp(other, why) != 0)
            continue;
        if (i < v)
            why = NULL;
        else
            buf_printf(&names, " %s", k->values[i]), n++;
    }
    if (why)
        page_say(a, p, ROLE_WARN, 3, w - 1, "✗%s: %s", names.n ? names.s : "",
                 n == 1 ? legal_why_not(a, knob, v) : why);
    buf_free(&names);
}

static void put_help(struct app *a, struct page *p, long item, unsigned w)
{
    static const char *const launch[] = {
        "grid: CTAs along x, y and z", "block: threads along x, y and z; it must suit the kernel's code",
        "shared: dynamic shared memory of a CTA in bytes"
    };
    if (item < 0)
        return;
    if (item == ITEM_MAKE)
        return;
    if (!is_knob(item) && item < ITEM_MAKE) {
        page_say(a, p, ROLE_LABEL, 1, w - 1,
                 "{edit-value} shows or folds these; {search} finds a knob by its name");
        return;
    }
    if (item >= ITEM_GRID) {
        page_wrap(a, p, ROLE_LABEL, 1, w - 1,
                  item < ITEM_ARG ? launch[item - ITEM_GRID]
                                  : launch_arg_help(&a->snap->spec->args[item - ITEM_ARG]),
                  -1);
        return;
    }
    const struct knob_info *k = knob_info((size_t)item);
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_VALUE, " %s", k->name);
    row_put(&r, ROLE_LABEL, ": %s.", k->help);
    for (size_t v = 0; k->kind == KNOB_KIND_ENUM && k->values[v]; v++)
        row_put(&r, legal_why_not(a, (size_t)item, v) ? ROLE_REMOVED : ROLE_DIM, " %s%s",
                legal_why_not(a, (size_t)item, v) ? "✗" : "", k->values[v]);
    page_flow(a, p, &r, 3, w, -1);
    for (size_t v = 0; k->kind == KNOB_KIND_ENUM && k->values[v]; v++)
        put_reason(a, p, (size_t)item, v, w);
}

/* What is chosen here as a command, for scripts and colleagues. */
static void put_command(struct app *a, struct page *p, unsigned w)
{
    const char *line = as_command(a), *lacks = as_command_lacks(a);
    if (!line)
        return;
    /* a line that would not run is none */
    page_wrap(a, p, lacks ? ROLE_WARN : ROLE_DIM, 1, w - 1, lacks ? lacks : line, -1);
}

/* The cursor stays with its item while lines come and go; where that was folded, it is on the fold. A
 * guessed launch stands below the options, not where it was asked for: the cursor goes with it. So it does
 * with a knob that a command has set. */
static void place_cursor(struct app *a, const struct page *p, struct list *l)
{
    bool launch = a->to_launch && a->snap->spec;
    bool moved = l->cursor != a->opts.line;
    long item = launch ? ITEM_GRID : a->to_knob ? (long)a->to_knob - 1 : moved ? -1 : a->opts.under - 1;
    long folded = is_knob(item) ? ITEM_FOLD + (long)group_of((size_t)item) : -1;
    size_t at = SIZE_MAX;
    a->to_launch = a->to_launch && !launch;
    a->to_knob = 0;
    for (size_t i = 0; item >= 0 && i < p->n; i++)
        if (p->line[i].item == item || (folded >= 0 && at == SIZE_MAX && p->line[i].item == folded))
            at = i;
    if (at != SIZE_MAX)
        l->cursor = at;
    if (!a->recent[PANEL_OPTIONS] && item != ITEM_GRID && !is_knob(item)) /* nobody looked at it yet */
        l->cursor = 0;
    if (page_item(p, l) < 0)
        list_move(l, p, 1);
    a->opts.line = l->cursor;
    a->opts.under = page_item(p, l) + 1;
}

static void options_update(struct app *a, unsigned w, unsigned h)
{
    struct page *p = &a->page[PANEL_OPTIONS], *below = &a->chart[PANEL_OPTIONS];
    struct list *l = &a->list[PANEL_OPTIONS];
    page_clear(p);
    page_clear(below);
    if (!a->snap->spec)
        put_launch(a, w); /* nothing else can be done before */
    if (a->to_knob && !stands_out(a, a->to_knob - 1))
        a->opts.open |= 1u << group_of(a->to_knob - 1);
    put_groups(a, w, h > 30);
    if (a->snap->spec)
        put_launch(a, w);
    list_set_count(l, p->n);
    place_cursor(a, p, l);
    put_verdict(a, below, w);
    if (h >= 12)
        put_help(a, below, page_item(p, l), w);
    if (h >= 16)
        cost_brief(a, below, w);
    if (h >= 20)
        put_command(a, below, w);
}

static long current(const struct app *a)
{
    return page_item(&a->page[PANEL_OPTIONS], &a->list[PANEL_OPTIONS]);
}

static void set_knob(struct app *a, long i, const char *text)
{
    app_knob_set(a, (size_t)i, str_of(text));
}

static unsigned step_enum(struct app *a, long i, int by)
{
    const struct knob_info *k = knob_info((size_t)i);
    struct buf v = { 0 };
    int n = 0, at = 0;
    knob_text(a->options, (size_t)i, &v);
    for (; k->values[n]; n++)
        if (v.s && !strcmp(k->values[n], v.s))
            at = n;
    buf_free(&v);
    for (int turn = 0, to = at; turn < n; turn++) { /* to the next value that is legal here */
        to = (to + by + n) % n;
        if (to == at)
            break;
        if (legal_why_not(a, (size_t)i, (size_t)to))
            continue;
        set_knob(a, i, k->values[to]);
        return UI_REDRAW;
    }
    app_notice(a, DIAG_NOTE, "no other value of %s is legal here; the reasons are shown below", k->name);
    return UI_REDRAW;
}

/* Words among the alternatives of a text knob's form: "row|column|tile:TxT" has two. */
static unsigned form_words(const char *form, struct str *out, unsigned most)
{
    unsigned n = 0;
    for (const char *s = form; s && *s && n < most;) {
        size_t len = strcspn(s, "|"), low = 0;
        while (low < len && islower((unsigned char)s[low]))
            low++;
        if (len && low == len)
            out[n++] = (struct str){ s, len };
        s += len + (s[len] == '|');
    }
    return n;
}

/* A text knob's words in turn, then the number 1 where numbers are allowed. False: it is typed. */
static bool step_word(struct app *a, long i, const char *value, int by)
{
    struct str word[8];
    const struct knob_info *k = knob_info((size_t)i);
    int n = (int)form_words(k->form, word, ARRAY_LEN(word)), at = 0;
    char text[64] = "1";
    while (at < n && !str_is(word[at], value))
        at++;
    if (k->kind != KNOB_KIND_TEXT || at == n)
        return false;
    at += by;
    bool number = *k->form == 'N' || strstr(k->form, "|N");
    if (at >= 0 && at < n)
        snprintf(text, sizeof text, "%.*s", (int)word[at].n, word[at].s);
    else if (!number)
        snprintf(text, sizeof text, "%.*s", (int)word[at < 0 ? n - 1 : 0].n, word[at < 0 ? n - 1 : 0].s);
    set_knob(a, i, text);
    return true;
}

/* Whole numbers step by one; below the least of a text knob come its words again. */
static bool step_number(struct app *a, long i, const char *value, int by)
{
    const struct knob_info *k = knob_info((size_t)i);
    struct str word[8];
    char text[64], *end;
    long n = strtol(value, &end, 10) + by;
    if (end == value || *end)
        return false;
    if (k->kind == KNOB_KIND_INT)
        n = n < k->min ? k->min : n > k->max ? k->max : n;
    unsigned words = form_words(k->form, word, ARRAY_LEN(word));
    if (n < 0 && words && k->kind != KNOB_KIND_INT)
        snprintf(text, sizeof text, "%.*s", (int)word[words - 1].n, word[words - 1].s);
    else
        snprintf(text, sizeof text, "%ld", n < 0 && k->kind != KNOB_KIND_INT ? 0 : n);
    set_knob(a, i, text);
    return true;
}

static unsigned edit(struct app *a, long item)
{
    struct buf v = { 0 };
    const struct launch_spec *l = a->snap->spec;
    char label[64];
    if (item < 0)
        return 0;
    if (item == ITEM_MAKE) {
        guess_start(a, NULL);
        return UI_REDRAW;
    }
    if (!is_knob(item) && item < ITEM_MAKE)
        return fold(a, item);
    if (item < ITEM_MAKE) {
        knob_text(a->options, (size_t)item, &v);
        snprintf(label, sizeof label, "%s = ", knob_info((size_t)item)->name);
    } else if (item < ITEM_ARG) {
        const struct dim3u *d = item == ITEM_GRID ? &l->grid : &l->block;
        if (item == ITEM_SHARED)
            buf_printf(&v, "%u", l->shared);
        else
            buf_printf(&v, "%ux%ux%u", d->x, d->y, d->z);
        snprintf(label, sizeof label, "%s = ",
                 item == ITEM_GRID    ? "grid"
                 : item == ITEM_BLOCK ? "block"
                                      : "shared bytes");
    } else {
        const struct arg_spec *g = &l->args[item - ITEM_ARG];
        if (g->kind != ARG_BUFFER && g->kind != ARG_SCALAR) {
            app_notice(a, DIAG_NOTE, "%s", launch_arg_help(g));
            return UI_REDRAW;
        }
        launch_arg_text(g, &v);
        snprintf(label, sizeof label, "%s = ", g->name ? g->name : "argument");
    }
    prompt_open(&a->prompt, PROMPT_VALUE, label, v.s ? v.s : "", item);
    buf_free(&v);
    return UI_REDRAW;
}

static unsigned step(struct app *a, int by)
{
    long i = current(a);
    if (i < 0)
        return 0;
    if (!is_knob(i))
        return edit(a, i);
    const struct knob_info *k = knob_info((size_t)i);
    if (k->kind == KNOB_KIND_ENUM)
        return step_enum(a, i, by);
    if (k->kind == KNOB_KIND_FLAG) {
        struct buf v = { 0 };
        knob_text(a->options, (size_t)i, &v);
        set_knob(a, i, v.s && !strcmp(v.s, "on") ? "off" : "on");
        buf_free(&v);
        return UI_REDRAW;
    }
    struct buf v = { 0 };
    knob_text(a->options, (size_t)i, &v);
    bool done = v.s && (step_word(a, i, v.s, by) || step_number(a, i, v.s, by));
    buf_free(&v);
    return done ? UI_REDRAW : edit(a, i);
}

static unsigned reset(struct app *a, bool all)
{
    const struct options *def = options_none();
    long i = current(a);
    if (all) {
        app_options_set(a, def);
    } else if (is_knob(i)) {
        struct buf v = { 0 };
        knob_text(def, (size_t)i, &v);
        set_knob(a, i, v.s ? v.s : "");
        buf_free(&v);
    }
    return UI_REDRAW;
}

static unsigned options_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_OPT_NEXT: return step(a, 1);
    case REQ_OPT_PREV: return step(a, -1);
    case REQ_OPT_EDIT: return edit(a, current(a));
    case REQ_OPT_FOLD: return fold(a, current(a));
    case REQ_OPT_RESET: return reset(a, false);
    case REQ_OPT_RESET_ALL: return reset(a, true);
    case REQ_OPT_SAVE: app_post(a, JOB_LAUNCH_SAVE, "", 0); return UI_REDRAW;
    default: return 0;
    }
}

/* ---- values typed at the prompt ---- */
static bool change_launch(struct app *a, struct launch_spec *l, long item, const char *text,
                          const char **bad)
{
    char *end;
    *bad = NULL;
    switch (item) {
    case ITEM_GRID:
    case ITEM_BLOCK:
        *bad = "64, 32x8 or 8x8x4 is expected";
        return launch_dim_parse(text, item == ITEM_GRID ? &l->grid : &l->block);
    case ITEM_SHARED:
        *bad = "a number of bytes is expected";
        l->shared = (uint32_t)strtoul(text, &end, 0);
        return *text && !*end;
    default: return launch_arg_parse(&l->args[item - ITEM_ARG], text, a->frame, bad);
    }
}

void view_options_value(struct app *a, long item, const char *text)
{
    if (item < ITEM_MAKE) {
        set_knob(a, item, text);
        return;
    }
    /* the prompt stood open meanwhile */
    if (!a->snap->spec || item >= ITEM_ARG + (long)a->snap->spec->nargs) {
        app_notice(a, DIAG_ERROR,
                   "the launch description changed in the meantime: the edit was dropped");
        return;
    }
    struct launch_spec l = *a->snap->spec; /* shallow: job_post copies */
    struct arg_spec *args = base_alloc(sizeof *args * (l.nargs + 1));
    const char *bad = "out of memory";
    if (args && l.nargs)
        memcpy(args, l.args, sizeof *args * l.nargs);
    l.args = args;
    if (args && change_launch(a, &l, item, text, &bad)) {
        l.guessed &= item == ITEM_GRID     ? ~(unsigned)GUESS_GRID
                     : item == ITEM_BLOCK  ? ~(unsigned)GUESS_BLOCK
                     : item == ITEM_SHARED ? ~(unsigned)GUESS_SHARED
                                           : ~0u; /* of several arguments the others stay guesses */
        struct job j = { .kind = JOB_LAUNCH, .launch = &l, .number = LAUNCH_GRID + (item - ITEM_GRID) };
        a->engine.post(a->engine.ctx, &j);
    } else {
        app_notice(a, DIAG_ERROR, "'%s': %s", text, bad ? bad : "not understood");
    }
    base_free(args);
}

bool view_options_launch(struct app *a, const char *field, const char *text)
{
    static const char *const names[] = { "grid", "block", "shared" };
    const struct launch_spec *l = a->snap->spec;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (l && !strcmp(names[i], field)) {
            view_options_value(a, (long)(ITEM_GRID + i), text);
            return true;
        }
    for (size_t i = 0; l && i < l->nargs; i++)
        if (l->args[i].name && !strcmp(l->args[i].name, field) &&
            (l->args[i].kind == ARG_SCALAR || l->args[i].kind == ARG_BUFFER)) {
            view_options_value(a, (long)(ITEM_ARG + i), text);
            return true;
        }
    return false;
}

const struct view view_options = { options_update, NULL, NULL, options_request, NULL, NULL };
