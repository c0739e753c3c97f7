/* The runner: check every pass on the original, then rewrite step by step.
 *
 *   original --check all--> row 1 run --edits--> text --parse--> module' --> row 2 ...
 *
 * After each pass the new text is parsed, must print back byte for byte, and
 * the origins of its lines are composed with those of the passes before, its
 * marks with theirs. */
#include "engine/analysis/analysis.h"
#include "engine/invariants/invariants.h"
#include "engine/pass/contraction.h"
#include "engine/pass/words.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"

#include <string.h>

static const struct pass_row *const rows[] = {
#define PASS(id) &pass_row_##id,
#include "engine/pass/pass_list.def"
#undef PASS
};

/* State between passes: module and text as they are now, owned unless they are the original's. */
struct pass_run {
    const struct ptx_module *m;
    struct ptx_module *own;
    struct ptx_line_origin *lines;
    uint32_t nlines;
    struct text_marks marks;  /* of m */
    struct inv_origin *insts; /* where each instruction comes from, by its offset */
    uint32_t ninsts;
    uint32_t step;
};

static const struct ptx_func *kernel_of(const struct ptx_module *m, struct str name, struct diags *ds)
{
    const struct ptx_func *only = NULL;
    for (uint32_t k = 0; k < m->nfuncs; k++) {
        const struct ptx_func *f = m->funcs[k];
        if (!f->entry || !f->has_body)
            continue;
        if (name.n ? str_eq(f->name, name) : !only)
            only = f;
    }
    if (!only)
        diag_error(ds, "pass-kernel", name.n ? "no kernel named %.*s" : "the module has no kernel%.*s",
                   (int)name.n, name.s ? name.s : "");
    return only;
}

/* Does any option ask for other code? */
static bool asks(const struct options *o)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (const char *const *name = rows[i]->knobs; *name; name++) {
            int knob = knob_find(str_of(*name));
            if (knob >= 0 && !knob_is_default(o, (size_t)knob))
                return true;
        }
    return false;
}

static enum status check_options(struct pass_ctx *c)
{
    const struct options *o = c->opt;
    uint32_t warps = pass_warps(c);
    if (asks(o) && ptx_find_global(c->m, str_of(PASS_KNOB_SYMBOL)))
        return pass_refuse(c, NO_SPAN, "start from the original PTX",
                           "the module already contains " PASS_KNOB_SYMBOL
                           ": it has been rewritten before");
    if (opt_bypass(o)->level && opt_bypass(o)->pi.mode == PI_VALUE && warps &&
        (uint32_t)opt_bypass(o)->pi.value > warps)
        return pass_refuse(c, NO_SPAN, NULL,
                           "--pi %d: a CTA of this launch has %u warp%s, so the threshold is 0..%u",
                           opt_bypass(o)->pi.value, warps, warps == 1 ? "" : "s", warps);
    return ST_OK;
}

static void ctx_init(struct pass_ctx *c, const struct pass_input *in, struct pass_output *out,
                     struct diags *ds)
{
    memset(c, 0, sizeof *c);
    c->in = in;
    c->opt = in->options;
    c->m = in->module;
    c->out = out;
    c->ds = ds;
    out->hw_pi = -1;
    if (in->launch) {
        out->grid = launch_grid(in->launch);
        out->block = launch_block(in->launch);
        out->shared = launch_shared(in->launch);
    }
}

/* Every asked pass's own check, on the original. All reasons are collected. */
static enum status check_all(struct pass_ctx *c)
{
    c->checking = true;
    enum status s = check_options(c), one;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (!rows[k]->asked(c->opt) || (rows[k]->idle && rows[k]->idle(c)))
            continue;
        c->row = rows[k];
        one = rows[k]->check(c);
        if (one == ST_OK)
            one = pass_check_changes(c);
        if (one != ST_OK && s == ST_OK)
            s = one;
    }
    c->row = NULL;
    c->checking = false;
    return c->oom ? ST_NOMEM : s;
}

/* A prefix that no identifier of the module has. */
static bool fresh_tag(const struct ptx_module *m, uint32_t from, char *tag, size_t n)
{
    struct buf b = { 0 };
    for (uint32_t k = from;; k++) {
        buf_clear(&b);
        buf_printf(&b, "gl%u_", k);
        if (b.oom || !memmem(m->text.s, m->text.n, b.s, b.n))
            break;
    }
    size_t len = b.oom ? 0 : b.n < n ? b.n : n - 1;
    memcpy(tag, b.oom ? "" : b.s, len);
    tag[len] = 0;
    buf_free(&b);
    return len != 0;
}

static void edit_argument(struct pass_ctx *c, struct str header, struct str arg, const char *fmt, ...)
    BASE_PRINTF(4, 5);
static void edit_argument(struct pass_ctx *c, struct str header, struct str arg, const char *fmt, ...)
{
    struct buf b = { 0 };
    va_list ap;
    va_start(ap, fmt);
    buf_vprintf(&b, fmt, ap);
    va_end(ap);
    ptx_edit_span(c->edit, c->m->header.off + (uint32_t)(arg.s - header.s), (uint32_t)arg.n,
                  c->row->info.name, "%s", b.s ? b.s : "");
    c->oom |= b.oom;
    buf_free(&b);
}

/* Raises .version and .target where inserted instructions ask for it; check_isa has allowed it. */
static void edit_header(struct pass_ctx *c)
{
    struct str h = ptx_text(c->m, c->m->header), arg;
    size_t at = 0;
    if (c->need_version > c->m->version && words_directive(h, ".version", &at, &arg)) {
        edit_argument(c, h, arg, "%u.%u", c->need_version / 10, c->need_version % 10);
        pass_note(c, NO_SPAN, ".version raised from %u.%u to %u.%u", c->m->version / 10,
                  c->m->version % 10, c->need_version / 10, c->need_version % 10);
    }
    at = 0;
    if (c->need_target > c->m->target && words_directive(h, ".target", &at, &arg)) {
        arg.n = words_skip_name(arg, 0);
        edit_argument(c, h, arg, "sm_%u", c->need_target);
        pass_note(c, NO_SPAN, ".target raised from sm_%u to sm_%u, which the device has", c->m->target,
                  c->need_target);
    }
}

/* Forms that a newer .version and .target together forbid: vote and shfl without .sync (PTX
 * ISA 9.7.9.5, 9.7.13.9). */
static enum status check_legacy(struct pass_ctx *c)
{
    uint32_t version = c->need_version > c->m->version ? c->need_version : c->m->version;
    uint32_t target = c->need_target > c->m->target ? c->need_target : c->m->target;
    if ((version == c->m->version && target == c->m->target) || version < 64 || target < 70)
        return ST_OK;
    for (uint32_t n = 0; n < c->m->nfuncs; n++)
        for (uint32_t k = 0; k < c->m->funcs[n]->ninsts; k++) {
            const struct ptx_inst *i = &c->m->funcs[n]->insts[k];
            if (ptx_is(i, IS_LEGACY_SYNC) && !ptx_has_mod(i, PTX_MOD_SYNC))
                return pass_refuse(
                    c, i->at,
                    "use an operator that the module's .version and .target support (--bypass-op cg)",
                    "the rewrite needs .version %u.%u and .target sm_%u, where this form "
                    "without .sync is not allowed",
                    version / 10, version % 10, target);
        }
    return ST_OK;
}

static bool compose_lines(struct pass_run *r, const struct ptx_edit_result *e)
{
    struct ptx_line_origin *v = base_alloc(sizeof *v * (e->nlines ? e->nlines : 1));
    if (!v)
        return false;
    for (uint32_t k = 0; k < e->nlines; k++) {
        v[k] = e->lines[k];
        if (r->lines && v[k].line && v[k].line <= r->nlines) {
            const struct ptx_line_origin *before = &r->lines[v[k].line - 1];
            v[k].line = before->line;
            v[k].copy |= before->copy;
            if (!v[k].tag)
                v[k].tag = before->tag;
        }
    }
    base_free(r->lines);
    r->lines = v;
    r->nlines = e->nlines;
    return true;
}

/* m: the text after the edits. */
static bool compose_insts(struct pass_run *r, const struct ptx_module *m,
                          const struct ptx_edit_result *e)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        n += m->funcs[k]->ninsts;
    struct inv_origin *v = base_alloc(sizeof *v * (n + 1));
    if (!v)
        return false;
    n = 0;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        for (uint32_t i = 0; i < m->funcs[k]->ninsts; i++) {
            uint32_t off = m->funcs[k]->insts[i].at.off, was = ptx_edit_was(e, off);
            if (was != PTX_NO_INDEX)
                was = r->insts ? inv_origin_of(r->insts, r->ninsts, was) : was;
            if (was != PTX_NO_INDEX)
                v[n++] = (struct inv_origin){ off, was };
        }
    base_free(r->insts);
    r->insts = v;
    r->ninsts = n;
    return true;
}

/* print -> parse -> print must be a fixpoint, or the rewrite is our bug: nothing is handed out. */
static enum status reparse(struct pass_ctx *c, struct pass_run *r, const struct ptx_edit_result *e)
{
    struct ptx_module *m = NULL;
    struct diags inner = { 0 };
    enum status s = ptx_parse(r->m->path, (struct str){ e->text, e->n }, &m, &inner);
    struct buf b = { 0 };
    if (s == ST_OK) {
        ptx_print(m, &b);
        if (b.oom)
            s = ST_NOMEM;
        else if (b.n != e->n || memcmp(b.s, e->text, e->n) != 0)
            s = ST_REFUSED;
    }
    buf_free(&b);
    if (s != ST_OK) {
        if (s != ST_NOMEM)
            diag_error(c->ds, "pass-internal",
                       "pass %s wrote PTX that cannot be parsed; nothing was changed",
                       c->row->info.name);
        diags_move(c->ds, &inner);
        ptx_free(m);
        diags_free(&inner);
        return s == ST_NOMEM ? s : ST_REFUSED;
    }
    diags_free(&inner);
    bool ok = pass_marks_carry(r->m, m, e, &r->marks) && compose_insts(r, m, e) && compose_lines(r, e);
    ptx_free(r->own);
    r->m = r->own = m;
    return ok ? ST_OK : ST_NOMEM;
}

static enum status run_row(struct pass_ctx *c, struct pass_run *r, const struct pass_row *row)
{
    c->row = row;
    c->m = r->m;
    c->lines = r->lines;
    c->nlines = r->nlines;
    c->insts = r->insts;
    c->ninsts = r->ninsts;
    c->need_version = c->need_target = 0;
    c->f = kernel_of(c->m, c->in->kernel, c->ds);
    c->edit = ptx_edit_new(c->m);
    if (!c->f || !c->edit || !fresh_tag(c->m, r->step++, c->tag, sizeof c->tag)) {
        ptx_edit_free(c->edit);
        c->edit = NULL;
        return c->f ? ST_NOMEM : ST_INPUT;
    }
    enum status s = row->run(c);
    pass_alias_free(c);
    struct ptx_edit_result e = { 0 };
    if (s != ST_OK || c->oom || c->failed)
        s = c->oom ? ST_NOMEM : s != ST_OK ? s : ST_REFUSED;
    if (s == ST_OK && c->m->version < 20)
        /* cache operators, .minnctapersm, prefetches */
        pass_need_isa(c, 20, pass_target(c) >= 20 ? 20 : 0);
    if (s == ST_OK)
        s = check_legacy(c);
    if (s == ST_OK) {
        edit_header(c);
        s = ptx_edit_apply(c->edit, &e, c->ds);
    }
    if (s == ST_OK && (e.n != c->m->text.n || memcmp(e.text, c->m->text.s, e.n) != 0))
        s = reparse(c, r, &e);
    ptx_edit_result_free(&e);
    ptx_edit_free(c->edit);
    c->edit = NULL;
    return s;
}

/* Its own changes can let the compiler fuse otherwise elsewhere: again, a few times at most. */
static enum status keep_contraction(struct pass_ctx *c, struct pass_run *r)
{
    enum status s = ST_OK;
    const struct ptx_module *before = NULL;
    for (unsigned n = 0; s == ST_OK && r->own != before && n < 4; n++) {
        before = r->own;
        s = run_row(c, r, &pass_contraction[n > 0]);
    }
    return s;
}

/* Hands text, module and origins over. */
static enum status finish(struct pass_ctx *c, struct pass_run *r)
{
    struct pass_output *out = c->out;
    out->changed = r->own != NULL;
    enum status s = ST_OK;
    if (!r->own)
        s = ptx_parse(c->in->module->path, c->in->module->text, &r->own, NULL);
    if (s != ST_OK)
        return s;
    if (!r->lines) {
        r->nlines = ptx_line_count(r->own);
        r->lines = base_alloc(sizeof *r->lines * (r->nlines ? r->nlines : 1));
        for (uint32_t k = 0; r->lines && k < r->nlines; k++)
            r->lines[k].line = k + 1;
    }
    out->text = base_alloc(r->own->text.n + 1);
    if (!out->text || !r->lines)
        return ST_NOMEM;
    memcpy(out->text, r->own->text.s, r->own->text.n);
    out->n = r->own->text.n;
    out->module = r->own;
    out->lines = r->lines;
    out->nlines = r->nlines;
    out->marks = r->marks;
    r->own = NULL;
    r->lines = NULL;
    r->marks = (struct text_marks){ 0 };
    return ST_OK;
}

/* What all passes together ask of a CTA's shared memory must fit; each looked at its own part alone. And
 * CTAs that wait for each other must be resident. */
static enum status check_limits(struct pass_ctx *c, const struct pass_run *r)
{
    const struct dev_info *d = c->in->dev;
    const struct ptx_func *f = kernel_of(r->m, c->in->kernel, c->ds);
    if (!f)
        return ST_INPUT;
    struct dev_cta cta = pass_cta(c, r->m, f);
    c->row = NULL;
    if (d && c->in->launch && !dev_fits(d, &cta))
        return pass_refuse(c, NO_SPAN, "use a smaller block, fewer software lines or a smaller pad",
                           "the rewritten kernel would need %llu bytes of shared memory per CTA (%llu "
                           "declared, %u at the launch) and %s has %u",
                           (unsigned long long)cta.shared,
                           (unsigned long long)(cta.shared - c->out->shared), c->out->shared, d->name,
                           d->shared_per_block_optin);
    return pass_check_resident(c, r->m, f);
}

/* What the text keeps of the original, looked at without asking the passes how they made it. */
static enum status check_invariants(struct pass_ctx *c, const struct pass_run *r)
{
    struct inv_seen seen;
    struct inv_input in = { .old = c->in->module, .now = r->m };
    in.origin = r->insts;
    in.norigins = r->ninsts;
    in.block = c->in->launch ? &c->out->block : NULL;
    if (c->out->knobs) {
        in.variable = PASS_KNOB_SYMBOL;
        in.word = c->out->knob;
        in.nwords = PASS_KNOB_COUNT;
    }
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (rows[k]->asked(c->opt) && rows[k]->declares)
            in.declared |= rows[k]->declares(c->opt);
    enum status s = inv_check(&in, &seen, c->ds);
    if (s == ST_REFUSED)
        diag_error(
            c->ds, "pass-internal",
            "the rewritten text does not keep what the original does, at the lines above, which are "
            "its own; nothing was changed");
    return s;
}

enum status pass_apply(const struct pass_input *in, struct pass_output *out, struct diags *ds)
{
    return pass_apply_survey(in, PASS_SURVEY_NONE, NULL, out, ds);
}

enum status pass_apply_survey(const struct pass_input *in, enum pass_survey survey,
                              const uint64_t *soft_profile, struct pass_output *out, struct diags *ds)
{
    memset(out, 0, sizeof *out);
    struct pass_ctx c;
    struct pass_run r = { .m = in->module };
    ctx_init(&c, in, out, ds);
    c.survey = survey;
    c.soft_profile = soft_profile;
    c.f = kernel_of(in->module, in->kernel, ds);
    enum status s = c.f ? check_all(&c) : ST_INPUT;
    if (s == ST_OK && asks(in->options))
        pass_note_changes(&c);
    for (size_t k = 0; s == ST_OK && k < ARRAY_LEN(rows); k++)
        if (rows[k]->asked(in->options) && !(rows[k]->idle && rows[k]->idle(&c)))
            s = run_row(&c, &r, rows[k]);
    if (s == ST_OK && r.own)
        s = keep_contraction(&c, &r);
    if (s == ST_OK)
        s = check_limits(&c, &r);
    if (s == ST_OK && r.own)
        s = check_invariants(&c, &r);
    if (s == ST_OK)
        s = finish(&c, &r);
    ana_free(c.own_facts);
    pass_alias_free(&c);
    ptx_free(r.own);
    base_free(r.lines);
    text_marks_free(&r.marks);
    base_free(r.insts);
    if (s != ST_OK)
        pass_output_free(out);
    return s;
}

void pass_output_free(struct pass_output *o)
{
    base_free(o->text);
    ptx_free(o->module);
    base_free(o->lines);
    text_marks_free(&o->marks);
    memset(o, 0, sizeof *o);
}

enum status pass_legal(const struct pass_input *in, struct diags *ds)
{
    struct pass_output out;
    memset(&out, 0, sizeof out);
    struct pass_ctx c;
    ctx_init(&c, in, &out, ds);
    c.f = kernel_of(in->module, in->kernel, ds);
    enum status s = c.f ? check_all(&c) : ST_INPUT;
    ana_free(c.own_facts);
    pass_alias_free(&c);
    if (s == ST_OK && c.owing) { /* the rewritten text decides */
        s = pass_apply(in, &out, ds);
        pass_output_free(&out);
    }
    return s;
}
