/* What a configuration means in the source: which loads changed, what is edited, and whether that is the rewrite.
 */

#include "engine/analysis/analysis.h"
#include "engine/ptx/edit.h"
#include "engine/rec/opt_bypass.h"
#include "engine/workspace/source/source_trial.h"
#include "engine/workspace/source_edits_int.h"

#include <string.h>

const char *source_lang_name(enum source_lang l)
{
    static const char *const names[] = { "", "cuda", "triton", "numba" };
    return names[l];
}

void source_edits_free(struct source_edits *h)
{
    for (size_t i = 0; i < h->n; i++) {
        BASE_FREE(h->advice[i].file, h->advice[i].text);
    }
    for (size_t i = 0; i < h->nfiles; i++) {
        struct source_file *f = &h->file[i];
        for (size_t k = 0; k < f->nedits; k++)
            base_free(f->edit[k].text);
        BASE_FREE(f->edit, f->line, f->name, f->path, f->text);
    }
    BASE_FREE(h->advice, h->file, h->why);
    *h = (struct source_edits){ 0 };
}

/* ---- which loads ---- */
/* A part of an opcode that says where or what, not how. */
static bool plain_part(struct str part)
{
    static const char *const plain[] = { "global", "weak", "v2", "v4", "v8" };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_is(part, plain[i]))
            return true;
    return part.n >= 2 && strchr("bfsu", part.s[0]) && part.s[1] >= '0' && part.s[1] <= '9';
}

/* The words between ld.global and the type, with their dots; false: no load of global memory. */
static bool operator_of(struct str line, char *out, size_t size)
{
    const char *p = line.n ? memmem(line.s, line.n, "ld.", 3) : NULL, *end = line.s + line.n;
    size_t n = 0;
    *out = 0;
    if (!p || (p > line.s && !strchr(" \t;{", p[-1])))
        return false;
    for (p += 3; p < end;) {
        struct str part = { p, 0 };
        while (p < end && (*p == ':' || *p == '_' || (*p >= '0' && *p <= '9') ||
                           ((*p | 32) >= 'a' && (*p | 32) <= 'z')))
            p++, part.n++;
        if (str_is(part, "param") || str_is(part, "const") || str_is(part, "shared") ||
            str_is(part, "local"))
            return false;
        if (!plain_part(part) && n + part.n + 2 < size) {
            out[n++] = '.';
            memcpy(out + n, part.s, part.n);
            out[n += part.n] = 0;
        }
        if (p == end || *p != '.')
            break;
        p++;
    }
    return true;
}

/* What tells a load that does not cache from its copy that does: the later, the more. */
static size_t rank_of(const char *op)
{
    static const char *const words[] = {
        ".nc", ".cg", ".cs", "no_allocate", "evict_last", "evict_first", "evict_unchanged", "cache_hint"
    };
    size_t rank = *op != 0;
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        rank = strstr(op, words[i]) ? i + 1 : rank;
    return rank;
}

/* How the rewritten code makes the load at this line of the original: where it is there several times, for
 * warps that cache and for others. */
static void rewritten_as(const struct tuned_kernel *k, struct source_load *l)
{
    const struct pass_output *c = &k->code;
    char now[sizeof l->op], was[sizeof l->op];
    uint32_t at = 0;
    bool any = false;
    operator_of(ptx_line_text(k->module, l->ptx_line), was, sizeof was);
    memcpy(l->op, was, sizeof l->op);
    memcpy(l->was, was, sizeof l->was);
    for (uint32_t n = 1; n <= c->nlines; n++) {
        at = c->lines[n - 1].line ? c->lines[n - 1].line : at;
        if (at != l->ptx_line || !operator_of(ptx_line_text(c->module, n), now, sizeof now))
            continue;
        if (!any || rank_of(now) > rank_of(l->op))
            memcpy(l->op, now, sizeof now);
        if (!any || rank_of(now) < rank_of(l->was))
            memcpy(l->was, now, sizeof now);
        any = true;
    }
    l->changed = strcmp(l->op, was) != 0;
}

static void find_loads(struct source_editing *h, const struct ana_kernel *facts, bool every_warp)
{
    for (uint32_t i = 0; i < facts->naccess && !h->oom; i++) {
        const struct ana_access *a = &facts->access[i];
        if (!ana_is_global_load(a))
            continue;
        if (!base_grow((void **)&h->load, h->nloads, &h->cap, sizeof *h->load)) {
            h->oom = true;
            return;
        }
        struct source_load *l = &h->load[h->nloads++];
        *l = (struct source_load){ .loc = a->loc,
                                   .ptx_line = a->at.line,
                                   .array = a->array,
                                   .param = a->param,
                                   .inlined = a->loc.at_file != 0 };
        if (!every_warp)
            rewritten_as(h->k, l);
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

/* ---- one configuration ---- */
/* A threshold inside of the block; *caches: above it, every warp caches, and no load goes otherwise. */
static bool by_warps(const struct tuned_kernel *k, bool *caches)
{
    const struct opt_bypass *o = opt_bypass(k->options);
    unsigned warps = (unsigned)((dim3u_count(k->tblock) + 31) / 32);
    bool threshold = o->level && o->form != BYPASS_FORM_VERTICAL && o->form != BYPASS_FORM_HARDWARE;
    *caches = threshold && (o->pi.mode == PI_CHA ||
                            (o->pi.mode == PI_VALUE && k->has_launch && (unsigned)o->pi.value >= warps));
    return threshold && !*caches && o->pi.mode == PI_VALUE && o->pi.value > 0;
}

/* Which knobs have no form, as "prefetch, softcache"; empty: all have one. */
static void without_form(const struct source_edits *o, struct buf *out)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->advice[i].form == SOURCE_WORDS &&
            !(out->s && memmem(out->s, out->n, o->advice[i].knob, strlen(o->advice[i].knob))))
            buf_printf(out, "%s%s", out->n ? ", " : "", o->advice[i].knob);
}

static void withdraw(struct source_edits *o)
{
    for (size_t i = 0; i < o->nfiles; i++) {
        struct source_file *f = &o->file[i];
        for (size_t k = 0; k < f->nedits; k++)
            base_free(f->edit[k].text);
        f->nedits = 0;
    }
    for (size_t i = 0; i < o->n; i++)
        o->advice[i].form = o->advice[i].form == SOURCE_EDIT ? SOURCE_WORDS : o->advice[i].form;
}

static void edit(struct source_editing *h)
{
    const struct opt_bypass *o = opt_bypass(h->k->options);
    if (h->out->lang == SOURCE_CUDA)
        source_edits_cuda(h);
    else
        source_edits_python(h);
    if (o->level && (o->form == BYPASS_FORM_HARDWARE || PI_IS_VOTE(o->pi.mode)))
        source_say(h, "bypass", NULL, 0, SOURCE_WORDS, "%s",
                   o->form == BYPASS_FORM_HARDWARE ? "a threshold in the cache itself"
                                                   : "a threshold that the kernel elects");
}

static enum status judge(struct source_editing *h, struct source_trial *t, const char *untried)
{
    struct buf missing = { 0 }, why = { 0 };
    enum status st = ST_OK;
    without_form(h->out, &missing);
    h->out->state = SOURCE_NO_FORM;
    if (missing.n)
        buf_printf(&why, "this configuration has no source form: %s", missing.s);
    else if (!t->dev)
        buf_puts(&why, untried);
    h->out->why = why.n ? buf_take(&why) : NULL;
    if (!missing.n)
        st = source_trial_judge(t, h->k, h->out);
    if (h->out->state == SOURCE_NO_FORM || h->out->state == SOURCE_WITHDRAWN)
        withdraw(h->out);
    h->oom |= missing.oom || why.oom;
    buf_free(&missing);
    buf_free(&why);
    return st;
}

static enum status make(struct source_editing *h, const char *session, enum source_lang lang)
{
    const struct tuned_kernel *k = h->k;
    struct ana_opts o = { .quick = true };
    struct ana_kernel *facts = NULL;
    struct diags none = { 0 };
    struct source_trial t = { 0 };
    bool caches = false;
    enum status st = k->code.changed ? ana_run(k->module, str_of(k->kernel), &o, &facts, &none) : ST_OK;
    h->partial = by_warps(k, &caches);
    h->out->lang = lang == SOURCE_ANY ? language(h) : lang;
    if (st == ST_OK && facts)
        find_loads(h, facts, caches);
    if (st == ST_OK)
        st = source_trial_open(k, session, &t, &none) == ST_NOMEM ? ST_NOMEM : ST_OK;
    if (st == ST_OK) {
        h->launch_alone = source_trial_launch_alone(&t, k);
        edit(h);
        st = judge(h, &t, none.n && none.v[0].msg ? none.v[0].msg : "it could not be simulated");
    }
    source_trial_close(&t);
    ana_free(facts);
    diags_free(&none);
    return h->oom ? ST_NOMEM : st;
}

enum status source_edits_make(const struct tuned_kernel *k, const char *session, enum source_lang lang,
                              struct source_edits *out, struct diags *ds)
{
    struct source_editing h = { .k = k, .out = out };
    struct diags none = { 0 };
    enum status st = ST_OK;
    *out = (struct source_edits){ 0 };
    if (!k->has_options || !k->module) {
        diag_add(ds, DIAG_ERROR, "source", k->from, NO_SPAN,
                 "source needs a session: a PTX file does not record its configuration");
        return ST_INPUT;
    }
    if (k->code.changed && !k->code.module)
        st = ptx_parse(k->from, (struct str){ k->code.text, k->code.n },
                       (struct ptx_module **)(uintptr_t)&k->code.module, &none);
    if (st == ST_OK)
        st = make(&h, session, lang);
    base_free(h.load);
    diags_free(&none);
    return st;
}
