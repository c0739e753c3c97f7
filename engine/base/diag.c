/* Diagnostics: collecting, and the caret form people read. */
#include "engine/base/json_write.h"
#include "engine/base/shown.h"

#include <stdio.h>
#include <string.h>

#define SOURCE_WIDTH 160u /* a longer source line is cut around its caret */

struct diag *diag_add(struct diags *ds, enum diag_level level, const char *code, const char *file,
                      struct span at, const char *fmt, ...)
{
    if (!ds)
        return NULL;
    ds->errors += level == DIAG_ERROR;
    ds->warnings += level == DIAG_WARNING;
    bool full =
        (level == DIAG_ERROR ? ds->errors : ds->n) > (level == DIAG_ERROR ? DIAG_MAX_ERRORS : 200u);
    if (full || !base_grow((void **)&ds->v, ds->n, &ds->cap, sizeof *ds->v)) {
        ds->dropped++;
        return NULL;
    }
    struct buf msg = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&msg, fmt, ap);
    va_end(ap);
    struct diag *d = &ds->v[ds->n++];
    *d = (struct diag){ .level = level,
                        .at = at,
                        .code = base_strdup(code),
                        .file = base_strdup(file),
                        .msg = buf_take(&msg) };
    return d;
}

void diag_error(struct diags *ds, const char *code, const char *fmt, ...)
{
    struct buf msg = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&msg, fmt, ap);
    va_end(ap);
    diag_add(ds, DIAG_ERROR, code, NULL, NO_SPAN, "%s", msg.s ? msg.s : "out of memory");
    buf_free(&msg);
}

void diag_hint(struct diag *d, const char *fmt, ...)
{
    if (!d)
        return;
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    base_free(d->hint);
    d->hint = buf_take(&b);
}

void diag_source(struct diag *d, struct str text)
{
    if (!d || d->at.off > text.n)
        return;
    size_t from = d->at.off, to = from;
    while (from > 0 && text.s[from - 1] != '\n' && d->at.off - from < SOURCE_WIDTH)
        from--;
    while (to < text.n && text.s[to] != '\n' && text.s[to] != '\r' && to - d->at.off < SOURCE_WIDTH)
        to++;
    char *s = base_alloc(to - from + 1);
    if (!s)
        return;
    for (size_t i = from; i < to; i++) /* control bytes would move the terminal's cursor */
        s[i - from] = (unsigned char)text.s[i] < 0x20 && text.s[i] != '\t' ? '?' : text.s[i];
    base_free(d->source);
    d->source = s;
}

/* The caret stands under the byte of the span; tabs are kept so that it lines up. */
static void print_caret(const struct diag *d, struct buf *out)
{
    size_t n = strlen(d->source), lead = d->at.col ? d->at.col - 1 : 0;
    if (lead > SOURCE_WIDTH)
        lead = SOURCE_WIDTH;
    buf_printf(out, "  %s\n  ", d->source);
    for (size_t i = 0; i < lead && i < n; i++)
        if (((unsigned char)d->source[i] & 0xC0) != 0x80)
            buf_puts(out, d->source[i] == '\t' ? "\t" : " ");
    buf_puts(out, "^");
    size_t len = d->at.len;
    for (size_t i = 1; i < len && lead + i < n && i < 100; i++)
        if (((unsigned char)d->source[lead + i] & 0xC0) != 0x80)
            buf_puts(out, "~");
    buf_puts(out, "\n");
}

static const char *const level_names[] = { "note", "warning", "error" };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* One text read twice (by a subject, then by a device) has its notes twice. */
static bool said_before(const struct diags *ds, size_t i)
{
    const struct diag *d = &ds->v[i];
    for (size_t k = 0; k < i; k++)
        if (ds->v[k].at.line == d->at.line && ds->v[k].at.col == d->at.col &&
            same_text(ds->v[k].msg, d->msg) && same_text(ds->v[k].file, d->file))
            return true;
    return false;
}

void diags_print(const struct diags *ds, struct buf *out)
{
    size_t from = out->n;
    for (size_t i = 0; i < ds->n; i++) {
        const struct diag *d = &ds->v[i];
        if (d->at.line && said_before(ds, i))
            continue;
        if (d->file)
            buf_printf(out, "%s:", d->file);
        if (d->at.line)
            buf_printf(out, "%u:%u:", d->at.line, d->at.col);
        buf_printf(out, "%s%s: %s", d->file || d->at.line ? " " : "", level_names[d->level],
                   d->msg ? d->msg : "out of memory");
        if (d->code)
            buf_printf(out, " [%s]", d->code);
        buf_puts(out, "\n");
        if (d->source)
            print_caret(d, out);
        if (d->hint)
            buf_printf(out, "  hint: %s\n", d->hint);
    }
    if (ds->dropped)
        buf_printf(out, "%zu more diagnostics not shown\n", ds->dropped);
    buf_show_from(out, from);
}

void diags_json(const struct diags *ds, struct jw *w)
{
    jw_arr(w);
    for (size_t i = 0; i < ds->n; i++) {
        const struct diag *d = &ds->v[i];
        bool placed = d->at.line != 0;
        jw_obj(w);
        jw_put_str(w, "level", level_names[d->level]);
        jw_put_str(w, "code", d->code);
        jw_put_str(w, "file", d->file);
        jw_put_uint_if(w, "line", placed, d->at.line);
        jw_put_uint_if(w, "column", placed, d->at.col);
        jw_put_uint_if(w, "length", placed, d->at.len);
        jw_put_str(w, "message", d->msg);
        jw_put_str(w, "hint", d->hint);
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

static void diag_clear(struct diag *d)
{
    BASE_FREE(d->code, d->file, d->msg, d->hint, d->source);
}

struct diag *diags_last(struct diags *ds)
{
    return ds && ds->n ? &ds->v[ds->n - 1] : NULL;
}

void diags_move(struct diags *to, struct diags *from)
{
    if (!to) {
        diags_free(from);
        return;
    }
    for (size_t i = 0; i < from->n; i++) {
        if (base_grow((void **)&to->v, to->n, &to->cap, sizeof *to->v))
            to->v[to->n++] = from->v[i];
        else
            diag_clear(&from->v[i]);
    }
    to->errors += from->errors;
    to->warnings += from->warnings;
    to->dropped += from->dropped;
    base_free(from->v);
    *from = (struct diags){ 0 };
}

void diags_free(struct diags *ds)
{
    for (size_t i = 0; i < ds->n; i++)
        diag_clear(&ds->v[i]);
    base_free(ds->v);
    *ds = (struct diags){ 0 };
}
