/* source, part 1: the index of the shown text: where lines start, which access
 * stands on which line, what can be folded, which line of the rewritten text
 * belongs to which line of the original. Made anew when the snapshot's module,
 * facts or rewrite change, never in between. */
#include "engine/pass/pass.h"
#include "engine/base/list.h"
#include "engine/ptx/edit.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

static void lines_free(struct text_lines *l)
{
    base_free(l->off);
    memset(l, 0, sizeof *l);
}

void source_index_free(struct source_view *s)
{
    base_free(s->cuda.text);
    s->cuda = (struct cuda_text){ 0 };
    lines_free(&s->old);
    lines_free(&s->new);
    BASE_FREE(s->mark, s->line, s->folded);
    s->mark = NULL;
    s->line = NULL;
    s->folded = NULL;
    s->nlines = 0;
}

static bool lines_of(struct text_lines *l, struct str text)
{
    uint32_t n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.s[i] == '\n';
    l->off = base_alloc(sizeof *l->off * ((size_t)n + 2));
    if (!l->off)
        return false;
    l->text = text;
    uint32_t at = 0;
    l->n = 0;
    for (size_t i = 0; i < text.n; i++)
        if (text.s[i] == '\n') {
            l->off[l->n++] = at;
            at = (uint32_t)i + 1;
        }
    if (at < text.n)
        l->off[l->n++] = at;
    l->off[l->n] = (uint32_t)text.n;
    return true;
}

struct str source_line_text(const struct text_lines *l, uint32_t line)
{
    if (line == 0 || line > l->n)
        return (struct str){ "", 0 };
    struct str s = { l->text.s + l->off[line - 1], l->off[line] - l->off[line - 1] };
    while (s.n && (s.s[s.n - 1] == '\n' || s.s[s.n - 1] == '\r'))
        s.n--;
    return s;
}

/* Line (1-based) that holds byte `off`. */
static uint32_t line_at(const struct text_lines *l, uint32_t off)
{
    uint32_t k;
    BISECT(k, l->n, l->off[k] <= off);
    return k ? k : 1;
}

static void mark_accesses(struct source_view *s, const struct ana_kernel *k)
{
    for (uint32_t i = 0; k && i < k->naccess; i++) {
        uint32_t line = k->access[i].at.line;
        if (line && line <= s->old.n && s->mark[line - 1].access < 0)
            s->mark[line - 1].access = (int32_t)i;
    }
}

static void mark_functions(struct source_view *s, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        uint32_t line = line_at(&s->old, f->at.off);
        if (!f->has_body || !f->body.len || line > s->old.n)
            continue;
        s->mark[line - 1].fold_end = line_at(&s->old, f->body.off + f->body.len - 1);
        s->mark[line - 1].func = i;
    }
}

/* Pairs of lines: every rewritten line beside the original it came from; originals
 * that no rewritten line came from stand alone, before the next one that has. */
static void pair_lines(struct source_view *s, const struct pass_output *p)
{
    uint32_t next = 1;
    for (uint32_t i = 0; i < p->nlines && i < s->new.n; i++) {
        uint32_t from = p->lines[i].line;
        while (s->mode == SRC_SIDE && from && next < from)
            s->line[s->nlines++] = (struct src_line){ next++, 0, "removed" };
        s->line[s->nlines++] = (struct src_line){ from >= next ? from : 0, i + 1, p->lines[i].tag };
        if (from >= next)
            next = from + 1;
    }
    while (s->mode == SRC_SIDE && next <= s->old.n)
        s->line[s->nlines++] = (struct src_line){ next++, 0, "removed" };
}

static void plain_lines(struct source_view *s)
{
    for (uint32_t l = 1; l <= s->old.n; l++) {
        const struct src_mark *m = &s->mark[l - 1];
        s->line[s->nlines++] = (struct src_line){ l, 0, NULL };
        if (m->fold_end > l && s->folded[m->func])
            l = m->fold_end;
    }
}

void source_relist(struct app *a)
{
    struct source_view *s = &a->source;
    const struct pass_output *p = a->snap->preview;
    s->nlines = 0;
    if (!s->line)
        return;
    if (s->mode != SRC_ORIGINAL && p && p->text && s->new.n)
        pair_lines(s, p);
    else
        plain_lines(s);
    list_set_count(&a->list[PANEL_SOURCE], s->nlines);
}

static bool index_build(struct app *a)
{
    struct source_view *s = &a->source;
    const struct ptx_module *m = a->snap->module;
    const struct pass_output *p = a->snap->preview;
    if (!m || !lines_of(&s->old, m->text))
        return false;
    if (p && p->text)
        lines_of(&s->new, (struct str){ p->text, p->n });
    s->mark = base_alloc(sizeof *s->mark * ((size_t)s->old.n + 1));
    s->line = base_alloc(sizeof *s->line * ((size_t)s->old.n + s->new.n + 2));
    s->folded = base_alloc((size_t)m->nfuncs + 1);
    if (!s->mark || !s->line || !s->folded)
        return false;
    for (uint32_t i = 0; i < s->old.n; i++)
        s->mark[i].access = -1;
    mark_accesses(s, a->snap->facts);
    mark_functions(s, m);
    return true;
}

/* A fresh file opens on its first global load: that is what one came to see. The
 * instructions are known before the analysis is. */
static void first_load(struct app *a)
{
    const struct ptx_module *m = a->snap->module;
    const struct ptx_func *f = m && a->snap->kernel ? ptx_find_func(m, str_of(a->snap->kernel)) : NULL;
    for (uint32_t i = 0; f && i < f->ninsts; i++)
        if (ptx_is_global_load(&f->insts[i])) {
            source_goto(a, f->insts[i].at.line);
            return;
        }
}

/* A kernel was chosen, of a fresh file or of the same one, and the cursor stands elsewhere. */
static bool kernel_changed(struct app *a, uint32_t line)
{
    struct source_view *s = &a->source;
    const char *name = a->snap->kernel ? a->snap->kernel : "";
    const struct ptx_func *f =
        a->snap->module && *name ? ptx_find_func(a->snap->module, str_of(name)) : NULL;
    if (!f || !strncmp(s->kernel, name, sizeof s->kernel - 1))
        return false;
    snprintf(s->kernel, sizeof s->kernel, "%s", name);
    return line <= 1 || line < line_at(&s->old, f->at.off) ||
           line > line_at(&s->old, f->body.off + f->body.len);
}

bool source_to_change(struct app *a, size_t from, int by)
{
    const struct source_view *s = &a->source;
    for (size_t k = 0; k < s->nlines; k++) {
        size_t i = by > 0 ? (from + k) % s->nlines : (from + s->nlines - k) % s->nlines;
        if (!s->line[i].tag || (i && s->line[i - 1].tag))
            continue;
        list_show(&a->list[PANEL_SOURCE], i);
        return true;
    }
    return false;
}

bool source_first_change(struct app *a)
{
    struct list *l = &a->list[PANEL_SOURCE];
    if (!source_to_change(a, 0, 1))
        return false;
    l->top = l->cursor > 3 ? l->cursor - 3 : 0;
    return true;
}

void source_refresh(struct app *a)
{
    struct source_view *s = &a->source;
    if (!s->stale)
        return;
    uint32_t line = source_cursor_line(a);
    s->stale = false;
    source_index_free(s);
    if (!index_build(a))
        source_index_free(s);
    source_relist(a);
    if (line && !source_goto(a, line))
        list_show(&a->list[PANEL_SOURCE], 0);
    if (kernel_changed(a, line))
        first_load(a);
    if (s->wants_change && s->mode == SRC_SIDE)
        s->wants_change = !source_first_change(a);
}

uint32_t source_cursor_line(const struct app *a)
{
    const struct source_view *s = &a->source;
    size_t at = a->list[PANEL_SOURCE].cursor;
    for (; at < s->nlines; at--) { /* an inserted line belongs to the original line above it */
        if (s->line[at].old)
            return s->line[at].old;
        if (!at)
            break;
    }
    return 0;
}

bool source_goto(struct app *a, uint32_t line)
{
    struct source_view *s = &a->source;
    source_refresh(a);
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < s->nlines; i++)
            if (s->line[i].old == line) {
                struct list *l = &a->list[PANEL_SOURCE];
                list_show(l, i);
                if (i < l->top || i >= l->top + (l->rows ? l->rows : 1))
                    l->top = i > l->rows / 3 ? i - l->rows / 3 : 0;
                s->reg = 0;
                return true;
            }
        if (!s->folded || !a->snap->module)
            return false;
        memset(s->folded, 0, a->snap->module->nfuncs); /* it lies in a fold: open them */
        source_relist(a);
    }
    return false;
}

const struct ana_access *source_access_at(const struct app *a, uint32_t line)
{
    const struct ana_kernel *k = a->snap->facts;
    const struct source_view *s = &a->source;
    int32_t i = k && s->mark && line && line <= s->old.n ? s->mark[line - 1].access : -1;
    return i >= 0 && (uint32_t)i < k->naccess ? &k->access[i] : NULL;
}

int source_access(const struct app *a)
{
    const struct ana_access *x = source_access_at(a, source_cursor_line(a));
    return x ? (int)(x - a->snap->facts->access) : -1;
}

bool source_line_has(const struct app *a, size_t i, struct str needle)
{
    const struct source_view *s = &a->source;
    const struct src_line *l = i < s->nlines ? &s->line[i] : NULL;
    return l &&
           ((l->old && s->mode != SRC_REWRITTEN &&
             text_find(source_line_text(&s->old, l->old), needle) != SIZE_MAX) ||
            (l->new && s->mode != SRC_ORIGINAL &&text_find(source_line_text(&s->new, l->new), needle) !=
                           SIZE_MAX));
}
