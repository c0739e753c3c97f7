/* The edits of source files as a unified diff, and the files as they are with them. */
#include "engine/workspace/source_edits_int.h"

#include <string.h>

enum { CONTEXT = 3 }; /* lines around an edit in the diff */

static const struct source_edit *edit_at(const struct source_file *f, uint32_t line, bool insert)
{
    for (size_t i = 0; i < f->nedits; i++)
        if (f->edit[i].line == line && f->edit[i].insert == insert)
            return &f->edit[i];
    return NULL;
}

static uint32_t lines_in(const char *text)
{
    uint32_t n = 1;
    for (; *text; text++)
        n += *text == '\n' && text[1];
    return n;
}

/* Each line of an inserted text, with a sign. */
static void put_lines(const char *sign, const char *text, struct buf *out)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        buf_printf(out, "%s%.*s\n", sign, (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static bool touched(const struct source_file *f, uint32_t line)
{
    return edit_at(f, line, true) || edit_at(f, line, false);
}

static void put_hunk(const struct source_file *f, uint32_t from, uint32_t to, int32_t *shift,
                     struct buf *out)
{
    uint32_t now = to - from + 1;
    for (uint32_t l = from; l <= to; l++)
        now += (edit_at(f, l, true) ? lines_in(edit_at(f, l, true)->text) : 0) +
               (edit_at(f, l, false) ? lines_in(edit_at(f, l, false)->text) - 1 : 0);
    buf_printf(out, "@@ -%u,%u +%u,%u @@\n", from, to - from + 1, (uint32_t)((int32_t)from + *shift),
               now);
    *shift += (int32_t)now - (int32_t)(to - from + 1);
    for (uint32_t l = from; l <= to; l++) {
        uint32_t run = l; /* replaced lines one after another: the old ones, then the new ones */
        if (edit_at(f, l, true))
            put_lines("+", edit_at(f, l, true)->text, out);
        for (; run <= to && edit_at(f, run, false) && (run == l || !edit_at(f, run, true)); run++)
            buf_printf(out, "-%.*s\n", (int)f->line[run - 1].n, f->line[run - 1].s);
        for (uint32_t r = l; r < run; r++)
            put_lines("+", edit_at(f, r, false)->text, out);
        if (run == l)
            buf_printf(out, " %.*s\n", (int)f->line[l - 1].n, f->line[l - 1].s);
        l = run > l ? run - 1 : l;
    }
}

static void diff_file(const struct source_file *f, struct buf *out)
{
    int32_t shift = 0;
    if (!f->nedits)
        return;
    buf_printf(out, "--- %s\n+++ %s\n", f->path, f->path);
    for (uint32_t l = 1; l <= f->nlines; l++) {
        if (!touched(f, l))
            continue;
        uint32_t from = l > CONTEXT ? l - CONTEXT : 1, to = l;
        for (uint32_t next = l + 1; next <= f->nlines && next <= to + 2 * CONTEXT; next++)
            to = touched(f, next) ? next : to;
        uint32_t end = to + CONTEXT < f->nlines ? to + CONTEXT : f->nlines;
        put_hunk(f, from, end, &shift, out);
        l = end;
    }
}

void source_edits_diff(const struct source_edits *h, struct buf *out)
{
    for (size_t i = 0; i < h->nfiles; i++)
        diff_file(&h->file[i], out);
}

void source_edits_patched(const struct source_file *f, struct buf *out)
{
    for (uint32_t l = 1; l <= f->nlines; l++) {
        if (edit_at(f, l, true))
            put_lines("", edit_at(f, l, true)->text, out);
        buf_str(out, source_line(f, l));
        buf_puts(out, "\n");
    }
}
