/* page: lines of a panel for one frame, and moving through a list of lines. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/page.h"
#include "tui/base/text.h"

#include <stdio.h>
#include <string.h>

void page_clear(struct page *p)
{
    memset(p, 0, sizeof *p);
}

void page_add(struct app *a, struct page *p, struct row *r, long item)
{
    if (p->n == p->cap) {
        size_t cap = p->cap ? p->cap * 2 : 64;
        struct page_line *v = ARENA_ARRAY(a->frame, struct page_line, cap);
        if (!v)
            return;
        if (p->n)
            memcpy(v, p->line, sizeof *v * p->n);
        p->line = v;
        p->cap = cap;
    }
    struct row_span *s = ARENA_ARRAY(a->frame, struct row_span, r->n ? r->n : 1);
    if (!s)
        return;
    memcpy(s, r->v, sizeof *s * r->n);
    p->line[p->n++] = (struct page_line){ s, r->n, r->width, item };
    r->n = r->width = 0;
}

/* A blank at which a line may end: a percent sign stays with its number. */
static bool breaks(struct str s, size_t at)
{
    return s.s[at] == ' ' && !(at + 1 < s.n && s.s[at + 1] == '%');
}

void page_wrap(struct app *a, struct page *p, enum role role, unsigned indent, unsigned w,
               const char *text, long item)
{
    struct str s = str_of(text);
    unsigned room = w > indent + 8 ? w - indent : 8;
    do {
        struct str head = text_head(s, room);
        size_t cut = head.n, skip = 0;
        if (head.n < s.n) {
            while (cut && !breaks(s, cut))
                cut--;
            cut = cut ? cut : head.n ? head.n : 1;
            skip = cut < s.n && s.s[cut] == ' ';
        }
        const char *nl = memchr(s.s, '\n', cut);
        if (nl) {
            cut = (size_t)(nl - s.s);
            skip = 1;
        }
        struct row r = { .arena = a->frame };
        row_pad(&r, indent);
        char *copy = arena_dup(a->frame, (struct str){ s.s, cut });
        row_str(&r, role, (struct str){ copy, copy ? cut : 0 });
        page_add(a, p, &r, item);
        s.s += cut + skip;
        s.n -= cut + skip;
    } while (s.n);
}

void page_say(struct app *a, struct page *p, enum role role, unsigned indent, unsigned w,
              const char *fmt, ...)
{
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, fmt);
    view_print(a, &b, fmt, ap);
    va_end(ap);
    page_wrap(a, p, role, indent, w, b.s ? b.s : "", -1);
    buf_free(&b);
}

void page_heading(struct app *a, struct page *p, const char *fmt, ...)
{
    char tmp[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(tmp, sizeof tmp, fmt, ap);
    va_end(ap);
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_TITLE, " %s", tmp);
    page_add(a, p, &r, -1);
}

/* How a request is made: its key; in line mode its command. */
static void put_way(const struct app *a, enum request q, struct buf *out)
{
    char key[16];
    keymap_key(&a->keys, q, key);
    if (a->lines && q >= REQ_PANEL_1 && q <= REQ_PANEL_9)
        buf_printf(out, "'show %s'", panel_info((enum panel_id)(q - REQ_PANEL_1))->name);
    else if (a->lines)
        buf_printf(out, "'%s'", request_info(q)->name);
    else
        buf_puts(out, *key ? key : request_info(q)->name);
}

/* format: the percent sign of a key, which stands last in its name, is doubled. */
static void put_keys(const struct app *a, const char *text, bool format, struct buf *out)
{
    for (const char *open; (open = strchr(text, '{'));) {
        const char *end = strchr(open, '}');
        enum request q =
            end ? request_find((struct str){ open + 1, (size_t)(end - open - 1) }) : REQ_NONE;
        if (q == REQ_NONE)
            break;
        buf_put(out, text, (size_t)(open - text));
        size_t from = out->n;
        put_way(a, q, out);
        if (format && out->n && memchr(out->s + from, '%', out->n - from))
            buf_puts(out, "%");
        text = end + 1;
    }
    buf_puts(out, text);
}

void view_print(const struct app *a, struct buf *out, const char *fmt, va_list ap)
{
    struct buf keyed = { 0 };
    put_keys(a, fmt, true, &keyed);
    buf_vprintf(out, keyed.s ? keyed.s : "", ap);
    buf_free(&keyed);
}

const char *view_keys(struct app *a, const char *text)
{
    struct buf b = { 0 };
    put_keys(a, text, false, &b);
    const char *copy = b.s ? arena_dup(a->frame, (struct str){ b.s, b.n }) : NULL;
    buf_free(&b);
    return copy ? copy : "";
}

void page_hint(struct app *a, struct page *p, unsigned w, const char *text)
{
    page_blank(a, p);
    page_wrap(a, p, ROLE_LABEL, 2, w - 2, view_keys(a, text), -1);
}

/* Does the last word of the engine say that something failed? What it only warned of does not count. */
static const char *last_failure(const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    for (size_t i = s->nmessages; !s->busy && i-- > 0;)
        if (s->messages[i].level != DIAG_WARNING)
            return s->messages[i].level == DIAG_ERROR ? s->messages[i].text : NULL;
    return NULL;
}

void page_empty(struct app *a, struct page *p, unsigned w, const char *text)
{
    const char *why = a->snap->spec ? last_failure(a) : NULL;
    if (why) {
        page_blank(a, p);
        page_say(a, p, ROLE_ERROR, 2, w - 2, "It failed: %s", why);
        page_say(a, p, ROLE_LABEL, 2, w - 2,
                 "The source panel ({panel-1}) shows the place, the messages panel "
                 "({panel-9}) lists all messages.");
    }
    page_hint(a, p, w, text);
}

static bool begins_blank(const struct row *r, unsigned i)
{
    return r->v[i].s.n && *r->v[i].s.s == ' ';
}

/* Columns of span i and of those that hang on it: a value after its label. */
static unsigned group_width(const struct row *r, unsigned i)
{
    unsigned w = text_width(r->v[i].s);
    while (++i < r->n && !begins_blank(r, i))
        w += text_width(r->v[i].s);
    return w;
}

/* A span that is too long for its line goes on below, after the last blank that fits; without one it is
 * left to be cut. */
static struct str flow_span(struct app *a, struct page *p, struct row *line, enum role role,
                            struct str s, unsigned indent, unsigned w, long *item)
{
    for (;;) {
        struct str head = text_head(s, w > line->width ? w - line->width : 0);
        size_t cut = head.n, from = 0;
        if (cut == s.n)
            return s;
        while (from < s.n && s.s[from] == ' ')
            from++;
        while (cut > from && !breaks(s, cut))
            cut--;
        if (cut <= from)
            return s;
        row_str(line, role, (struct str){ s.s, cut });
        page_add(a, p, line, *item);
        *item = -1;
        row_pad(line, indent);
        for (s.s += cut, s.n -= cut; s.n && *s.s == ' ';)
            s.s++, s.n--;
    }
}

void page_flow(struct app *a, struct page *p, struct row *r, unsigned indent, unsigned w, long item)
{
    struct row line = { .arena = a->frame };
    for (unsigned i = 0; i < r->n; i++) {
        struct str s = r->v[i].s;
        if (line.n && line.width > indent && begins_blank(r, i) && line.width + group_width(r, i) > w) {
            page_add(a, p, &line, item);
            item = -1; /* the first line stands for the item */
            row_pad(&line, indent);
            while (s.n && *s.s == ' ')
                s.s++, s.n--;
        }
        row_str(&line, r->v[i].role, flow_span(a, p, &line, r->v[i].role, s, indent, w, &item));
    }
    page_add(a, p, &line, item);
    r->n = r->width = 0;
}

void page_blank(struct app *a, struct page *p)
{
    struct row r = { .arena = a->frame };
    page_add(a, p, &r, -1);
}

long page_item(const struct page *p, const struct list *l)
{
    return l->cursor < p->n ? p->line[l->cursor].item : -1;
}

bool page_selects(const struct page *p)
{
    for (size_t i = 0; p && i < p->n; i++)
        if (p->line[i].item >= 0)
            return true;
    return false;
}

void list_set_count(struct list *l, size_t n)
{
    l->count = n;
    if (l->cursor >= n)
        l->cursor = n ? n - 1 : 0;
}

/* Nearest selectable line from `at` in direction `step`, else in the other one. */
static size_t snap_to_item(const struct page *p, size_t at, int step)
{
    for (int turn = 0; turn < 2; turn++, step = -step)
        for (size_t i = at; i < p->n; i += (size_t)step) {
            if (p->line[i].item >= 0)
                return i;
            if (step < 0 && i == 0)
                break;
        }
    return at;
}

void list_move(struct list *l, const struct page *p, long by)
{
    if (!l->count)
        return;
    if (p && !page_selects(p)) { /* nothing to select: the page itself moves */
        long top = (long)l->top + by, last = (long)l->count - (long)l->rows;
        top = top > last ? last : top;
        l->cursor = l->top = top < 0 ? 0 : (size_t)top;
        return;
    }
    long to = (long)l->cursor + by;
    to = to < 0 ? 0 : to >= (long)l->count ? (long)l->count - 1 : to;
    size_t before = l->cursor;
    l->cursor = (size_t)to;
    if (!p)
        return;
    l->cursor = snap_to_item(p, l->cursor, by < 0 ? -1 : 1);
    if (l->cursor == before && by < 0) /* headings above the first item come into view */
        l->top = 0;
}

void list_show(struct list *l, size_t at)
{
    l->cursor = at < l->count ? at : l->count ? l->count - 1 : 0;
}

void list_fit(struct list *l, unsigned rows)
{
    l->rows = rows ? rows : 1;
    size_t last = l->count > l->rows ? l->count - l->rows : 0;
    if (l->cursor < l->top)
        l->top = l->cursor;
    if (l->cursor >= l->top + l->rows)
        l->top = l->cursor - l->rows + 1;
    if (l->top > last)
        l->top = last;
}

const char *view_unready(const struct app *a, const char *text)
{
    const struct job_snapshot *s = a->snap;
    if (!s->module)
        return "Nothing is open. {command} then  open FILE.ptx  opens a kernel,  demo  lists the "
               "kernels and lessons that come with the program.";
    if (!s->kernel && !s->busy)
        return "This file could not be read to its end: the source panel ({panel-1}) marks the errors, "
               "the messages ({panel-9}) list them.";
    if (!s->spec && !s->busy)
        return "There is no launch description yet. {run}, {sweep} and {tune} guess one first and ask "
               "two "
               "questions; the options panel ({panel-4}) has all of it.";
    return text;
}

enum role view_degree_role(double degree)
{
    return degree >= 0.75 ? ROLE_GOOD : degree >= 0.3 ? ROLE_WARN : ROLE_ERROR;
}

enum role view_hit_role(double percent)
{
    return percent >= 60 ? ROLE_GOOD : percent >= 25 ? ROLE_WARN : ROLE_ERROR;
}

void view_counter(const struct result *r, enum counter_id c, char *out)
{
    const struct counter *k = &result_counters(r)[c];
    const char *unit = counter_unit(c);
    if (!k->valid)
        snprintf(out, TEXT_NUM, "n/a");
    else if (!strcmp(unit, "percent"))
        text_percent(out, k->value);
    else if (!strcmp(unit, "byte"))
        text_bytes(out, k->value);
    else
        text_count(out, k->value);
}
