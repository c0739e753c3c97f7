/* What a configuration means in the source: which loads changed, the source files, edits and the diff.
 */
#include "engine/workspace/source_edits.h"

#include "engine/analysis/analysis.h"
#include "engine/ptx/edit.h"
#include "engine/rec/opt_bypass.h"
#include "engine/workspace/source_edits_int.h"

#include <string.h>

enum { CONTEXT = 3 }; /* lines around an edit in the diff */

const char *source_lang_name(enum source_lang l)
{
    static const char *const names[] = { "", "cuda", "triton", "numba" };
    return names[l];
}

void source_edits_free(struct source_edits *h)
{
    for (size_t i = 0; i < h->n; i++) {
        base_free(h->advice[i].file);
        base_free(h->advice[i].text);
    }
    for (size_t i = 0; i < h->nfiles; i++) {
        struct source_file *f = &h->file[i];
        for (size_t k = 0; k < f->nedits; k++)
            base_free(f->edit[k].text);
        base_free(f->edit);
        base_free(f->line);
        base_free(f->name);
        base_free(f->path);
        base_free(f->text);
    }
    base_free(h->advice);
    base_free(h->file);
    base_free(h->why_not);
    *h = (struct source_edits){ 0 };
}

/* ---- the diff ---- */
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

/* ---- which loads ---- */
/* Operators, the strongest last: a load that is there with several (by warps) is told by that one. */
static const char *const OPS[][2] = { { ".nc", ".nc" },
                                      { ".cg", ".cg" },
                                      { ".cs", ".cs" },
                                      { "no_allocate", "no_allocate" },
                                      { "L1::evict_last", "evict_last" },
                                      { "L1::evict_first", "evict_first" },
                                      { "L1::evict_unchanged", "evict_unchanged" },
                                      { "cache_hint", "evict_first" } };

/* One more than the index in OPS; 0: a plain load, or none. */
static size_t operator_of(struct str line)
{
    if (!line.n || !memmem(line.s, line.n, "ld.", 3))
        return 0;
    for (size_t i = ARRAY_LEN(OPS); i-- > 0;)
        if (memmem(line.s, line.n, OPS[i][0], strlen(OPS[i][0])))
            return i + 1;
    return 0;
}

/* How the rewritten code makes the load at this line of the original; NULL: as it was. */
static const char *rewritten_as(const struct tuned_kernel *k, uint32_t original)
{
    const struct pass_output *c = &k->code;
    uint32_t at = 0;
    size_t was = operator_of(ptx_line_text(k->module, original)), op = 0;
    for (uint32_t n = 1; n <= c->nlines; n++) {
        at = c->lines[n - 1].line ? c->lines[n - 1].line : at;
        if (at != original || (!c->lines[n - 1].tag && !c->lines[n - 1].copy))
            continue;
        size_t now = operator_of(ptx_line_text(c->module, n));
        op = now > op ? now : op;
    }
    return op && op != was ? OPS[op - 1][1] : NULL;
}

static bool global_load(const struct ana_access *a)
{
    return !a->store && !a->atomic && !a->prefetch &&
           (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_GENERIC);
}

static void add_load(struct source_editing *h, const struct ana_access *a, const char *op)
{
    if (!base_grow((void **)&h->load, h->nloads, &h->cap, sizeof *h->load)) {
        h->oom = true;
        return;
    }
    h->load[h->nloads++] = (struct source_load){ .loc = a->loc,
                                                 .ptx_line = a->at.line,
                                                 .op = op,
                                                 .array = a->array,
                                                 .param = a->param,
                                                 .whole = true,
                                                 .inlined = a->loc.at_file != 0 };
}

static bool same_place(struct ptx_loc a, struct ptx_loc b)
{
    return a.file == b.file && a.line == b.line;
}

static void find_loads(struct source_editing *h, const struct ana_kernel *facts)
{
    for (uint32_t i = 0; i < facts->naccess; i++) {
        const struct ana_access *a = &facts->access[i];
        const char *op = global_load(a) ? rewritten_as(h->k, a->at.line) : NULL;
        if (op)
            add_load(h, a, op);
    }
    for (uint32_t i = 0; i < facts->naccess; i++) {
        const struct ana_access *a = &facts->access[i];
        bool plain = global_load(a) && !rewritten_as(h->k, a->at.line);
        for (size_t l = 0; plain && l < h->nloads; l++)
            h->load[l].whole &= !same_place(a->loc, h->load[l].loc);
    }
}

static enum source_lang language(const struct source_editing *h)
{
    const struct ptx_module *m = h->k->module;
    for (uint32_t i = 1; i < m->nfiles; i++)
        if (m->files[i].n > 3 && memcmp(m->files[i].s + m->files[i].n - 3, ".py", 3) == 0)
            return memmem(m->text.s, m->text.n, "Numba", 5) || memmem(m->text.s, m->text.n, "_NRT_", 5)
                       ? SOURCE_NUMBA
                       : SOURCE_TRITON;
    return SOURCE_CUDA;
}

enum status source_edits_make(const struct tuned_kernel *k, enum source_lang lang,
                              struct source_edits *out, struct diags *ds)
{
    struct source_editing h = { .k = k, .out = out };
    struct ana_opts o = { .quick = true };
    struct ana_kernel *facts = NULL;
    struct diags none = { 0 };
    *out = (struct source_edits){ 0 };
    if (!k->has_options || !k->module) {
        diag_add(ds, DIAG_ERROR, "source", k->from, NO_SPAN,
                 "source needs a session: a PTX file does not record its configuration");
        return ST_INPUT;
    }
    enum status st = k->code.changed ? ana_run(k->module, str_of(k->kernel), &o, &facts, &none) : ST_OK;
    if (st == ST_OK && k->code.changed && !k->code.module)
        st = ptx_parse(k->from, (struct str){ k->code.text, k->code.n },
                       (struct ptx_module **)(uintptr_t)&k->code.module, &none);
    unsigned warps = (unsigned)((dim3u_count(k->block) + 31) / 32);
    bool by_warps =
        opt_bypass(&k->options)->level && opt_bypass(&k->options)->form != BYPASS_FORM_VERTICAL;
    h.partial = by_warps && opt_bypass(&k->options)->pi.mode == PI_VALUE &&
                opt_bypass(&k->options)->pi.value > 0 &&
                (!k->has_launch || (unsigned)opt_bypass(&k->options)->pi.value < warps);
    out->lang = lang == SOURCE_ANY ? language(&h) : lang;
    if (st == ST_OK && facts)
        find_loads(&h, facts);
    if (st == ST_OK && out->lang == SOURCE_CUDA)
        source_edits_cuda(&h);
    else if (st == ST_OK)
        source_edits_python(&h);
    ana_free(facts);
    base_free(h.load);
    diags_free(&none);
    return h.oom ? ST_NOMEM : st;
}
