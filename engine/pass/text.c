/* Instructions and text: predicates over instructions, renaming, copies of bodies.
 *
 *   before                               after
 *     add.s32 %r2, %r1, %ntid.x;           add.s32 %r2, %r1, 64;       pass_inst_edit, a substitute
 *     ret;                                 bra $end;                   pass_returns_to
 *     .func f(...) { body }                .func f(...) { body }  .func f_copy(...) { entry  body }
 *                                                                      pass_clone_func */
#include "engine/pass/pass_int.h"
#include "engine/pass/words.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

struct str inst_callee(const struct ptx_inst *i)
{
    if (ptx_effect_of(i) != EFFECT_CALL)
        return (struct str){ "", 0 };
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SYM && i->opnds[k].sym && i->opnds[k].sym->kind == SYM_FUNC)
            return i->opnds[k].sym->name;
    return (struct str){ "", 0 };
}

const struct ptx_operand *inst_address(const struct ptx_inst *i)
{
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_ADDR)
            return &i->opnds[k];
    return NULL;
}

unsigned inst_bytes(const struct ptx_inst *i)
{
    unsigned vec = i->vec ? i->vec : 1;
    return i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) / 8 * vec : 0;
}

/* ---- text ---- */
static bool ident_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%';
}
static bool ident_char(char c)
{
    return (ident_start(c) && c != '%') || (c >= '0' && c <= '9');
}

void pass_rename(struct str text, pass_namer *name, void *ctx, struct buf *out)
{
    for (size_t k = 0; k < text.n;) {
        size_t from = k;
        size_t blank = words_skip_blank(text, k);
        if (blank > k) { /* comments stay */
            k = blank;
        } else if (text.s[k] == '"') { /* strings of .pragma and .loc stay */
            for (k++; k < text.n && text.s[k] != '"'; k++)
                ;
            k += k < text.n;
        } else if (ident_start(text.s[k]) &&
                   !(k && (ident_char(text.s[k - 1]) || text.s[k - 1] == '.'))) {
            for (k++; k < text.n && ident_char(text.s[k]); k++)
                ;
            if (name(ctx, (struct str){ text.s + from, k - from }, out))
                continue;
        } else {
            k++;
        }
        buf_put(out, text.s + from, k - from);
    }
}

bool pass_clone_name(void *ctx, struct str name, struct buf *out)
{
    const struct pass_copy *p = ctx;
    uint32_t unused;
    if (!strmap_get(p->clones, name, &unused))
        return false;
    buf_str(out, name);
    buf_puts(out, p->clone_suffix);
    return true;
}

struct subst {
    const struct ptx_module *m;
    const char *(*sub)(void *ctx, const struct ptx_operand *o);
    void *ctx;
    uint32_t at; /* module offset copied so far */
    uint32_t count;
    struct buf *out;
};

static void subst_operand(struct subst *s, const struct ptx_operand *o)
{
    if (o->kind == OPND_VEC || o->kind == OPND_MULTI) {
        for (uint16_t k = 0; k < o->nelem; k++)
            subst_operand(s, &o->elem[k]);
        return;
    }
    const char *text = s->sub(s->ctx, o);
    if (!text || o->off < s->at)
        return;
    buf_put(s->out, s->m->text.s + s->at, o->off - s->at);
    buf_puts(s->out, text);
    s->at = o->off + o->len;
    s->count++;
}

static uint32_t subst_text(const struct ptx_module *m, const struct ptx_inst *i,
                           const char *(*sub)(void *ctx, const struct ptx_operand *o), void *ctx,
                           struct buf *out)
{
    struct subst s = { m, sub, ctx, i->at.off, 0, out };
    for (uint8_t k = 0; k < i->nopnds; k++)
        subst_operand(&s, &i->opnds[k]);
    buf_put(out, m->text.s + s.at, i->at.off + i->at.len - s.at);
    return s.count;
}

void pass_inst_text(const struct ptx_module *m, const struct ptx_inst *i,
                    const char *(*sub)(void *ctx, const struct ptx_operand *o), void *ctx,
                    struct buf *out)
{
    subst_text(m, i, sub, ctx, out);
}

void pass_inst_edit(struct pass_ctx *c, const struct ptx_inst *i,
                    const char *(*sub)(void *ctx, const struct ptx_operand *o), void *ctx)
{
    struct buf b = { 0 };
    if (subst_text(c->m, i, sub, ctx, &b) && !b.oom)
        ptx_edit_replace(c->edit, c->f, i->stmt, c->row->info.name, "%s", b.s);
    c->oom |= b.oom;
    buf_free(&b);
}

/* ---- copies of bodies ---- */
struct copy_names {
    const struct pass_copy *p;
    struct strmap labels;
    const struct ptx_stmt *stmt; /* whose text it is; NULL: of no statement */
};

/* Is it a register or a variable here? Labels and functions of the same name may be declared in other
 * scopes. */
static bool names_value(const struct copy_names *n, struct str name)
{
    const struct ptx_stmt *s = n->stmt;
    if (!s || s->kind != STMT_INST)
        return s && (s->kind == STMT_REG || s->kind == STMT_VAR);
    return ptx_names_value(n->p->f, &n->p->f->insts[s->index], name);
}

static bool copy_name(void *ctx, struct str name, struct buf *out)
{
    const struct copy_names *n = ctx;
    uint32_t unused;
    const char *suffix = NULL;
    if (strmap_get(&n->labels, name, &unused))
        suffix = n->p->suffix;
    else if (n->p->clones && strmap_get(n->p->clones, name, &unused))
        suffix = n->p->clone_suffix;
    if (!suffix || names_value(n, name))
        return false;
    buf_str(out, name);
    buf_puts(out, suffix);
    return true;
}

void pass_own_text(const struct ptx_module *m, const struct ptx_inst *i, struct buf *out)
{
    buf_printf(out, PTX_EDIT_COPY_OF, i->at.line, i->at.off);
    buf_str(out, ptx_text(m, i->at));
}

static void copy_stmt(const struct pass_copy *p, struct copy_names *names, const struct ptx_stmt *s,
                      struct buf *out)
{
    struct buf own = { 0 };
    struct str text = ptx_text(p->m, s->at);
    if (s->kind == STMT_INST && p->inst && p->inst(p->ctx, &p->f->insts[s->index], &own))
        text = (struct str){ own.s, own.n };
    while (text.n && (text.s[text.n - 1] == '\n' || text.s[text.n - 1] == '\r' ||
                      text.s[text.n - 1] == ' ' || text.s[text.n - 1] == '\t'))
        text.n--;
    if (!text.n) { /* the callback left it out */
        buf_free(&own);
        return;
    }
    if (p->indent && s->kind != STMT_LABEL)
        buf_puts(out, p->indent);
    buf_printf(out, PTX_EDIT_COPY_OF, s->at.line, s->at.off);
    pass_rename(text, copy_name, names, out);
    out->oom |= own.oom;
    buf_puts(out, "\n");
    buf_free(&own);
}

void pass_copy_stmts(const struct pass_copy *p, uint32_t from, uint32_t to, struct buf *out)
{
    struct copy_names names = { .p = p };
    for (uint32_t k = 0; p->suffix && k < p->f->nlabels; k++)
        strmap_set(&names.labels, p->f->labels[k].name, k);
    unsigned depth = 0;
    for (uint32_t k = from; k < to; k++) {
        const struct ptx_stmt *s = names.stmt = &p->f->stmts[k];
        depth += s->kind == STMT_OPEN;
        depth -= s->kind == STMT_CLOSE && depth;
        if ((s->kind == STMT_REG || s->kind == STMT_VAR) && !depth && !p->decls)
            continue;
        copy_stmt(p, &names, s, out);
    }
    out->oom |= names.labels.oom;
    strmap_free(&names.labels);
}

uint32_t pass_first_stmt(const struct ptx_func *f)
{
    uint32_t k = 0;
    while (k < f->nstmts && (f->stmts[k].kind == STMT_REG || f->stmts[k].kind == STMT_VAR))
        k++;
    return k;
}

bool pass_falls_off(const struct ptx_func *f)
{
    if (!f->ninsts)
        return true;
    const struct ptx_inst *last = &f->insts[f->ninsts - 1];
    for (uint32_t k = 0; k < f->nlabels; k++)
        if (f->labels[k].inst == f->ninsts)
            return true;
    return last->guarded || !(ptx_effect_of(last) == EFFECT_EXIT || ptx_is(last, IS_JUMP));
}

/* ---- called functions ---- */
/* What CUDA itself provides to every kernel; it sees neither the kernel's buffers nor its coordinates.
 */
static bool of_the_runtime(struct str name)
{
    static const char *const names[] = { "vprintf", "malloc", "free", "__assertfail", "__assert_fail" };
    for (size_t k = 0; k < ARRAY_LEN(names); k++)
        if (str_is(name, names[k]))
            return true;
    return false;
}

static void add_callee(const struct pass_ctx *c, struct pass_funcs *out, struct str name, struct span at)
{
    const struct ptx_func *f = ptx_find_func(c->m, name);
    if (!f || !f->has_body) {
        if (!of_the_runtime(name)) {
            out->unknown = true;
            out->at = at;
        }
        return;
    }
    for (uint32_t k = 0; k < out->n; k++)
        if (out->v[k] == f)
            return;
    if (out->n < ARRAY_LEN(out->v))
        out->v[out->n++] = f;
    else
        out->unknown = true;
}

/* Through a pointer any function of the module may be called; one of another module too, where it names
 * one. */
static void add_all(const struct pass_ctx *c, struct pass_funcs *out, struct span at)
{
    for (uint32_t k = 0; k < c->m->nfuncs && !out->indirect; k++)
        if (!c->m->funcs[k]->entry && (c->m->funcs[k]->has_body || !c->m->funcs[k]->def))
            add_callee(c, out, c->m->funcs[k]->name, at);
    out->indirect = true;
    if (!out->at.line)
        out->at = at;
}

static void scan_calls(const struct pass_ctx *c, const struct ptx_func *f, struct pass_funcs *out)
{
    for (uint32_t k = 0; k < f->ninsts; k++) {
        if (ptx_effect_of(&f->insts[k]) != EFFECT_CALL)
            continue;
        struct str name = inst_callee(&f->insts[k]);
        if (name.n)
            add_callee(c, out, name, f->insts[k].at);
        else
            add_all(c, out, f->insts[k].at);
    }
}

void pass_callees(const struct pass_ctx *c, struct pass_funcs *out)
{
    memset(out, 0, sizeof *out);
    scan_calls(c, c->f, out);
    for (uint32_t next = 0; next < out->n; next++)
        scan_calls(c, out->v[next], out);
}

/* Head text without linkage words, the name replaced. */
static void clone_head(const struct pass_ctx *c, const struct ptx_func *f, const char *suffix,
                       struct buf *out)
{
    struct str h = ptx_text(c->m, f->head);
    const char *func = memmem(h.s, h.n, ".func", 5);
    struct str rest = func ? (struct str){ func, h.n - (size_t)(func - h.s) } : h;
    struct strmap names = { 0 };
    strmap_set(&names, f->name, 0);
    struct pass_copy p = { .clones = &names, .clone_suffix = suffix };
    struct copy_names n = { .p = &p };
    pass_rename(rest, copy_name, &n, out);
    while (out->n &&
           (out->s[out->n - 1] == '\n' || out->s[out->n - 1] == ' ' || out->s[out->n - 1] == '\t'))
        out->n--;
    if (out->s)
        out->s[out->n] = 0;
    out->oom |= names.oom;
    strmap_free(&names);
}

void pass_clone_func(struct pass_ctx *c, const struct ptx_func *f, struct pass_copy *how,
                     const char *entry)
{
    struct buf head = { 0 }, b = { 0 };
    clone_head(c, f, how->clone_suffix, &head);
    how->m = c->m;
    how->f = f;
    how->decls = true;
    how->indent = "\t";
    buf_printf(&b, "\n\n%s\n{\n", head.s ? head.s : "");
    uint32_t first = pass_first_stmt(f);
    pass_copy_stmts(how, 0, first, &b);
    for (const char *p = entry; p && *p;) {
        size_t n = strcspn(p, "\n");
        buf_puts(&b, "\t");
        buf_put(&b, p, n);
        buf_puts(&b, "\n");
        p += n + (p[n] == '\n');
    }
    pass_copy_stmts(how, first, f->nstmts, &b);
    buf_puts(&b, "}\n");
    if (!b.oom && !head.oom) {
        ptx_edit_global(c->edit, c->row->info.name, "%s\n;", head.s);
        ptx_edit_span(c->edit, f->at.off + f->at.len, 0, c->row->info.name, "%s", b.s);
    } else {
        c->oom = true;
    }
    buf_free(&head);
    buf_free(&b);
}

void pass_returns_to(struct pass_ctx *c, const char *label)
{
    for (uint32_t k = 0; k < c->f->ninsts; k++) {
        const struct ptx_inst *i = &c->f->insts[k];
        if (!ptx_ends_thread(i))
            continue;
        struct buf guard = { 0 };
        words_guard(c->f, i, &guard);
        ptx_edit_replace(c->edit, c->f, i->stmt, c->row->info.name, "%sbra \t$%s%s;",
                         guard.s ? guard.s : "", c->tag, label);
        c->oom |= guard.oom;
        buf_free(&guard);
    }
}

void pass_code(struct buf *out, const char *tag, const char *fmt, ...)
{
    struct buf named = { 0 };
    va_list ap;
    for (size_t n; *fmt; fmt += n) {
        n = *fmt == '#' ? 1 : strcspn(fmt, "#");
        if (*fmt == '#')
            buf_puts(&named, tag);
        else
            buf_put(&named, fmt, n);
    }
    va_start(ap, fmt);
    if (named.s && !named.oom)
        buf_vprintf(out, named.s, ap);
    va_end(ap);
    out->oom |= named.oom;
    buf_free(&named);
}
