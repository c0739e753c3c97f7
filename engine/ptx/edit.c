/* Text edits anchored at statements. An edit is a place, a length and new text; applying
 * them walks the original once and copies, so all bytes no edit names stay as they are.
 *
 *   original  ....[ind]stmt; // c\n....      before: whole lines ahead of [ind]
 *                       ^replace ^after: whole lines behind the line end
 *
 * Where a statement shares its line with others, a line break is put between. */
#include "engine/ptx/edit.h"
#include "engine/base/list.h"

#include "engine/ptx/ptx_int.h"

#include <stdlib.h>
#include <string.h>

/* at one place: what follows k comes before what precedes k+1 */
enum rank { RANK_AFTER, RANK_PLAIN, RANK_BEFORE };
struct change {
    uint32_t off, len, seq;
    enum rank rank;
    char *text;
    size_t n;
    const char *tag;
};
struct ptx_edit {
    const struct ptx_module *m;
    PTX_VEC(struct change) changes;
    const char *nl; /* line end in use in this module */
    bool oom;
};

struct ptx_edit *ptx_edit_new(const struct ptx_module *m)
{
    struct ptx_edit *e = base_alloc(sizeof *e);
    if (!e)
        return NULL;
    e->m = m;
    const char *nl = memchr(m->text.s, '\n', m->text.n);
    e->nl = nl && nl > m->text.s && nl[-1] == '\r' ? "\r\n" : "\n";
    return e;
}

void ptx_edit_free(struct ptx_edit *e)
{
    if (!e)
        return;
    for (size_t i = 0; i < e->changes.n; i++)
        base_free(e->changes.v[i].text);
    BASE_FREE(e->changes.v, e);
}

/* ---- places ---- */
static uint32_t line_begin(const struct ptx_module *m, uint32_t at)
{
    while (at && m->text.s[at - 1] != '\n')
        at--;
    return at;
}

/* The blanks that begin the line of `at`. */
static struct str indentation(const struct ptx_module *m, uint32_t at)
{
    uint32_t from = line_begin(m, at), to = from;
    while (to < m->text.n && (m->text.s[to] == ' ' || m->text.s[to] == '\t'))
        to++;
    return (struct str){ m->text.s + from, to - from };
}

static bool begins_line(const struct ptx_module *m, uint32_t at)
{
    uint32_t from = line_begin(m, at);
    struct str ind = indentation(m, at);
    return from + ind.n == at;
}

/* Past the line end when only blanks and a // comment follow on the line; else PTX_NO_INDEX. */
static uint32_t line_end_after(const struct ptx_module *m, uint32_t at)
{
    const char *s = m->text.s;
    while (at < m->text.n && (s[at] == ' ' || s[at] == '\t' || s[at] == '\r'))
        at++;
    if (at + 1 < m->text.n && s[at] == '/' && s[at + 1] == '/')
        while (at < m->text.n && s[at] != '\n')
            at++;
    if (at >= m->text.n)
        return (uint32_t)m->text.n;
    return s[at] == '\n' ? at + 1 : PTX_NO_INDEX;
}

/* ---- collecting ---- */
static void add_change(struct ptx_edit *e, uint32_t off, uint32_t len, enum rank rank, const char *tag,
                       struct buf *text)
{
    struct change *c = text->oom ? NULL : PTX_PUSH(e, e->changes);
    if (!c) {
        e->oom = true;
        buf_free(text);
        return;
    }
    size_t n = text->n;
    *c = (struct change){ off, len, (uint32_t)e->changes.n, rank, buf_take(text), n, tag };
    e->oom = e->oom || !c->text;
}

/* Text with `indent` before each of its lines; ends in a line end when `close`. */
static void indented(const struct ptx_edit *e, struct buf *out, struct str text, struct str indent,
                     bool first, bool close)
{
    while (text.n && text.s[text.n - 1] == '\n')
        text.n--;
    for (size_t from = 0; from <= text.n;) {
        const char *nl = memchr(text.s + from, '\n', text.n - from);
        size_t to = nl ? (size_t)(nl - text.s) : text.n;
        bool label_or_blank = from == to || text.s[to - 1] == ':';
        if ((first || from) && !label_or_blank)
            buf_str(out, indent);
        buf_put(out, text.s + from, to - from);
        if (nl || close)
            buf_puts(out, e->nl);
        from = to + 1;
    }
}

static void insert_before(struct ptx_edit *e, uint32_t at, struct str indent, const char *tag,
                          struct str text)
{
    struct buf b = { 0 };
    if (begins_line(e->m, at)) {
        indented(e, &b, text, indent, true, true);
        add_change(e, line_begin(e->m, at), 0, RANK_BEFORE, tag, &b);
    } else {
        indented(e, &b, text, indent, false, true);
        buf_str(&b, indent);
        add_change(e, at, 0, RANK_BEFORE, tag, &b);
    }
}

static void insert_after(struct ptx_edit *e, uint32_t at, struct str indent, const char *tag,
                         struct str text)
{
    struct buf b = { 0 };
    /* .loc reaches to the next line */
    uint32_t end = at && e->m->text.s[at - 1] == '\n' ? at : line_end_after(e->m, at);
    bool open_end = end == e->m->text.n && (!end || e->m->text.s[end - 1] != '\n');
    if (end != PTX_NO_INDEX && !open_end) {
        indented(e, &b, text, indent, true, true);
        add_change(e, end, 0, RANK_AFTER, tag, &b);
        return;
    }
    buf_puts(&b, e->nl);
    indented(e, &b, text, indent, true, false);
    if (end == PTX_NO_INDEX) { /* what follows on the line moves to a line of its own */
        buf_puts(&b, e->nl);
        buf_str(&b, indent);
    }
    add_change(e, open_end ? end : at, 0, RANK_AFTER, tag, &b);
}

/* Formats into a buffer; the caller frees it. */
#define FORMAT(b, fmt)             \
    struct buf b = { 0 };          \
    do {                           \
        va_list ap_;               \
        va_start(ap_, fmt);        \
        buf_vprintf(&b, fmt, ap_); \
        va_end(ap_);               \
    } while (0)
#define VIEW(b) ((struct str){ (b).s ? (b).s : "", (b).n })

void ptx_edit_before(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                     const char *fmt, ...)
{
    FORMAT(b, fmt);
    uint32_t at = f->stmts[stmt].at.off;
    insert_before(e, at, indentation(e->m, at), tag, VIEW(b));
    buf_free(&b);
}

void ptx_edit_after(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                    const char *fmt, ...)
{
    FORMAT(b, fmt);
    struct span at = f->stmts[stmt].at;
    insert_after(e, at.off + at.len, indentation(e->m, at.off), tag, VIEW(b));
    buf_free(&b);
}

/* Removing a statement takes its whole line along when nothing else is on it. */
static void remove_span(struct ptx_edit *e, struct span at, const char *tag)
{
    struct buf none = { 0 };
    uint32_t end = at.off + at.len, after = end;
    while (after < e->m->text.n &&
           (e->m->text.s[after] == ' ' || e->m->text.s[after] == '\t' || e->m->text.s[after] == '\r'))
        after++;
    buf_puts(&none, "");
    if (begins_line(e->m, at.off) && after < e->m->text.n && e->m->text.s[after] == '\n') {
        uint32_t from = line_begin(e->m, at.off);
        add_change(e, from, after + 1 - from, RANK_PLAIN, tag, &none);
    } else {
        add_change(e, at.off, at.len, RANK_PLAIN, tag, &none);
    }
}

void ptx_edit_replace(struct ptx_edit *e, const struct ptx_func *f, uint32_t stmt, const char *tag,
                      const char *fmt, ...)
{
    FORMAT(b, fmt);
    struct span at = f->stmts[stmt].at;
    struct buf text = { 0 };
    if (!b.n) {
        remove_span(e, at, tag);
    } else {
        indented(e, &text, VIEW(b), indentation(e->m, at.off), false, false);
        add_change(e, at.off, at.len, RANK_PLAIN, tag, &text);
    }
    buf_free(&b);
}

void ptx_edit_span(struct ptx_edit *e, uint32_t off, uint32_t len, const char *tag, const char *fmt, ...)
{
    FORMAT(b, fmt);
    add_change(e, off, len, RANK_PLAIN, tag, &b);
}

void ptx_edit_global(struct ptx_edit *e, const char *tag, const char *fmt, ...)
{
    FORMAT(b, fmt);
    insert_after(e, e->m->header.off + e->m->header.len, (struct str){ "", 0 }, tag, VIEW(b));
    buf_free(&b);
}

/* The indentation of a body's statements: of the first that begins its line. */
static struct str body_indent(const struct ptx_edit *e, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->nstmts && i < 1000; i++)
        if (f->stmts[i].kind != STMT_LABEL && begins_line(e->m, f->stmts[i].at.off))
            return indentation(e->m, f->stmts[i].at.off);
    return STR("\t");
}

void ptx_edit_entry(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...)
{
    FORMAT(b, fmt);
    uint32_t at = f->body.off + 1;
    for (uint32_t i = 0; i < f->nstmts; i++) {
        uint8_t k = f->stmts[i].kind;
        if (k == STMT_REG || k == STMT_VAR)
            at = f->stmts[i].at.off + f->stmts[i].at.len;
        else if (k != STMT_LOC && k != STMT_PRAGMA)
            break;
    }
    insert_after(e, at, body_indent(e, f), tag, VIEW(b));
    buf_free(&b);
}

void ptx_edit_declare(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt,
                      ...)
{
    FORMAT(b, fmt);
    insert_after(e, f->body.off + 1, body_indent(e, f), tag, VIEW(b));
    buf_free(&b);
}

void ptx_edit_end(struct ptx_edit *e, const struct ptx_func *f, const char *tag, const char *fmt, ...)
{
    FORMAT(b, fmt);
    uint32_t brace = f->body.off + f->body.len - 1;
    struct buf text = { 0 };
    if (begins_line(e->m, brace)) {
        indented(e, &text, VIEW(b), body_indent(e, f), true, true);
        add_change(e, line_begin(e->m, brace), 0, RANK_BEFORE, tag, &text);
    } else {
        buf_puts(&text, e->nl);
        indented(e, &text, VIEW(b), body_indent(e, f), true, true);
        add_change(e, brace, 0, RANK_BEFORE, tag, &text);
    }
    buf_free(&b);
}

/* ---- applying ---- */
static int by_place(const void *pa, const void *pb)
{
    const struct change *a = pa, *b = pb;
    if (a->off != b->off)
        return a->off < b->off ? -1 : 1;
    bool ia = a->len == 0, ib = b->len == 0; /* insertions stand before the replaced text */
    if (ia != ib)
        return ia ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

struct output {
    struct buf text;
    PTX_VEC(struct ptx_line_origin) lines;
    PTX_VEC(struct ptx_edit_mark) marks;
    PTX_VEC(struct ptx_edit_place) places;
    struct ptx_line_origin cur;
    uint32_t line;
    bool oom;
};

static void end_line(struct output *o)
{
    struct ptx_line_origin *l = PTX_PUSH(o, o->lines);
    if (l)
        *l = o->cur;
    o->cur = (struct ptx_line_origin){ 0, NULL, false };
}

static void add_place(struct output *o, uint32_t was, uint32_t n)
{
    struct ptx_edit_place *x = PTX_PUSH(o, o->places);
    if (x)
        *x = (struct ptx_edit_place){ (uint32_t)o->text.n, was, n };
}

static void emit_original(struct output *o, const struct ptx_module *m, size_t at, size_t n)
{
    const char *s = m->text.s + at;
    if (n)
        add_place(o, (uint32_t)at, (uint32_t)n);
    buf_put(&o->text, s, n);
    for (const char *e = s + n; s < e;) {
        const char *nl = memchr(s, '\n', (size_t)(e - s));
        bool only_end = nl == s || (nl == s + 1 && *s == '\r');
        if (!o->cur.line && !(only_end && o->cur.tag))
            o->cur.line = o->line;
        if (!nl)
            return;
        end_line(o);
        o->line++;
        s = nl + 1;
    }
}

/* In the text of a change: a byte that no PTX has, and the kind. */
enum { MARK_BYTE = '\003' };

void ptx_edit_mark(struct buf *text, enum mark_kind kind)
{
    const char b[2] = { MARK_BYTE, (char)('0' + kind) };
    buf_put(text, b, sizeof b);
}

static size_t take_mark(struct output *o, const struct change *c, size_t at)
{
    int kind = at + 1 < c->n ? c->text[at + 1] - '0' : 0;
    if (kind <= MARK_NONE || kind >= MARK_KINDS)
        return 0;
    struct ptx_edit_mark *m = PTX_PUSH(o, o->marks);
    if (m)
        *m = (struct ptx_edit_mark){ (enum mark_kind)kind, (uint32_t)o->text.n };
    return 2;
}

/* PTX_EDIT_COPY_OF in the text of a change: its length; the line becomes the origin of the line being
 * written, the offset that of its statement. */
static size_t copy_line(struct output *o, const struct change *c, size_t at)
{
    uint32_t v[2] = { 0, 0 };
    size_t end = at + 1;
    for (unsigned k = 0; end < c->n && c->text[end] != '\002'; end++)
        if (c->text[end] == ',')
            k = 1;
        else
            v[k] = v[k] * 10 + (uint32_t)(c->text[end] - '0');
    add_place(o, v[1], 0);
    if (!o->cur.line) {
        o->cur.line = v[0];
        o->cur.copy = true;
    }
    return end + 1 - at;
}

/* What a byte of a change's text and those behind it say about the text: how many they are; 0: they are
 * text. */
static size_t take_note(struct output *o, const struct change *c, size_t at)
{
    return c->text[at] == '\001'      ? copy_line(o, c, at)
           : c->text[at] == MARK_BYTE ? take_mark(o, c, at)
                                      : 0;
}

static void emit_change(struct output *o, const struct change *c, const struct ptx_module *m)
{
    if (c->len && c->n && !o->cur.line)
        o->cur.line = o->line; /* the replaced statement keeps its line */
    if (c->len && c->n)
        add_place(o, c->off, 0);
    if (c->n)
        o->cur.tag = c->tag;
    for (size_t i = 0; i < c->n;) {
        size_t note = take_note(o, c, i);
        i += note;
        if (note)
            continue;
        buf_put(&o->text, c->text + i, 1);
        if (c->text[i++] == '\n') {
            end_line(o);
            if (i < c->n)
                o->cur.tag = c->tag;
        }
    }
    for (uint32_t i = 0; i < c->len; i++)
        o->line += m->text.s[c->off + i] == '\n';
}

static enum status overlap(const struct ptx_edit *e, const struct change *a, const struct change *b,
                           struct diags *ds)
{
    struct span at = { b->off, b->len ? b->len : 1, 1, 1 };
    for (uint32_t i = 0; i < b->off; i++) {
        bool nl = e->m->text.s[i] == '\n';
        at.line += nl;
        at.col = nl ? 1 : at.col + 1;
    }
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "ptx-edit", e->m->path, at, "%s and %s change the same text",
                 a->tag ? a->tag : "?", b->tag ? b->tag : "?");
    diag_source(d, e->m->text);
    return ST_REFUSED;
}

enum status ptx_edit_apply(const struct ptx_edit *e, struct ptx_edit_result *out, struct diags *ds)
{
    *out = (struct ptx_edit_result){ 0 };
    size_t n = e->changes.n;
    struct change *v = base_alloc((n + 1) * sizeof *v);
    if (!v || e->oom) {
        base_free(v);
        return ST_NOMEM;
    }
    if (n)
        memcpy(v, e->changes.v, n * sizeof *v);
    qsort(v, n, sizeof *v, by_place);
    struct output o = { .line = 1 };
    enum status st = ST_OK;
    size_t at = 0, owner = 0;
    for (size_t i = 0; i < n && st == ST_OK; i++) {
        if (v[i].off < at || (size_t)v[i].off + v[i].len > e->m->text.n) {
            st = overlap(e, &v[owner], &v[i], ds);
            break;
        }
        emit_original(&o, e->m, at, v[i].off - at);
        emit_change(&o, &v[i], e->m);
        at = (size_t)v[i].off + v[i].len;
        owner = v[i].len ? i : owner;
    }
    if (st == ST_OK)
        emit_original(&o, e->m, at, e->m->text.n - at);
    if (o.cur.line || o.cur.tag)
        end_line(&o);
    base_free(v);
    if (st == ST_OK && (o.text.oom || o.oom))
        st = ST_NOMEM;
    size_t length = o.text.n;
    if (st == ST_OK && !length)
        buf_puts(&o.text, "");
    if (st == ST_OK)
        *out = (struct ptx_edit_result){ .text = buf_take(&o.text),
                                         .n = length,
                                         .places = o.places.v,
                                         .nplaces = (uint32_t)o.places.n,
                                         .lines = o.lines.v,
                                         .nlines = (uint32_t)o.lines.n,
                                         .marks = o.marks.v,
                                         .nmarks = (uint32_t)o.marks.n };
    if (st != ST_OK) {
        BASE_FREE(o.lines.v, o.places.v, o.marks.v);
    }
    buf_free(&o.text);
    return st;
}

uint32_t ptx_edit_was(const struct ptx_edit_result *r, uint32_t off)
{
    uint32_t k;
    BISECT(k, r->nplaces, r->places[k].off <= off);
    const struct ptx_edit_place *x = k ? &r->places[k - 1] : NULL;
    if (!x || off - x->off >= (x->n ? x->n : 1))
        return PTX_NO_INDEX;
    return x->was + (off - x->off);
}

void ptx_edit_result_free(struct ptx_edit_result *r)
{
    BASE_FREE(r->text, r->lines, r->marks, r->places);
    *r = (struct ptx_edit_result){ 0 };
}
