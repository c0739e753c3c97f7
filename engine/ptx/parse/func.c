/* Function heads: linkage, return list, name, parameters, performance directives
 * (PTX ISA 7.1, 11.1-11.4), and where the prototype and the definition meet. */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/ptx_int.h"

/* Offsets in the parameter block: each aligned to its own alignment, in order. */
static void lay_out(struct ptx_func *f)
{
    uint64_t at = 0;
    for (uint32_t i = 0; i < f->nparams; i++) {
        struct ptx_symbol *s = f->params[i];
        uint64_t align = s->align ? s->align : 1;
        at = (at + align - 1) & ~(align - 1);
        s->offset = at;
        s->func = f;
        at += s->bytes;
    }
    f->param_bytes = at;
    for (uint32_t i = 0; i < f->nrets; i++)
        f->rets[i]->func = f;
}

/* ---- performance directives ---- */
static bool read_dims3(struct ptx_parser *p, struct dim_directive *d)
{
    uint64_t v[3] = { 1, 1, 1 };
    unsigned n = 0;
    do {
        ptx_skip_blank(p);
        struct span at = ptx_here(p);
        if (n == 3) {
            ptx_error(p, "ptx-directive", at, "three sizes at most: x, y, z");
            return false;
        }
        if (!ptx_const_uint(p, &v[n]))
            return false;
        if (!v[n] || v[n] > UINT32_MAX) {
            ptx_error(p, "ptx-directive", ptx_upto(p, at), "a size is 1 to 4294967295");
            return false;
        }
        n++;
    } while (ptx_take(p, ','));
    *d = (struct dim_directive){ (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2] };
    return true;
}

static bool read_u32(struct ptx_parser *p, uint32_t *out)
{
    uint64_t v;
    if (!ptx_const_uint(p, &v))
        return false;
    *out = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;
    return true;
}

static bool skip_directive_arguments(struct ptx_parser *p)
{
    while (ptx_skip(p), p->c < p->end && *p->c != '{' && *p->c != ';' && *p->c != '.')
        p->c++;
    return true;
}

/* Old producers leave out the ';' of a prototype: then a directive of the module ends it. */
static bool ends_head(struct ptx_parser *p)
{
    static const char *const module_words[] = { "visible", "extern", "weak",    "common",       "entry",
                                                "func",    "global", "const",   "shared",       "file",
                                                "section", "alias",  "version", "address_size", "target",
                                                "tex",     "local",  "loc" };
    const char *from = p->c;
    struct str w = ptx_dotword(p);
    p->c = from;
    for (size_t i = 0; i < ARRAY_LEN(module_words); i++)
        if (str_is(w, module_words[i]))
            return true;
    return false;
}

static bool read_func_directive(struct ptx_parser *p, struct ptx_func *f)
{
    struct span at = ptx_here(p);
    struct str w = ptx_dotword(p);
    uint32_t ignored;
    const struct {
        const char *word;
        struct dim_directive *dims;
        uint32_t *number;
        bool *flag;
    } known[] = { { "maxntid", &f->maxntid, NULL, NULL },
                  { "reqntid", &f->reqntid, NULL, NULL },
                  { "reqnctapercluster", &f->reqnctapercluster, NULL, NULL },
                  { "minnctapersm", NULL, &f->minnctapersm, NULL },
                  { "maxnreg", NULL, &f->maxnreg, NULL },
                  { "maxclusterrank", NULL, &f->maxclusterrank, NULL },
                  { "abi_preserve", NULL, &f->abi_preserve, NULL },
                  { "maxnctapersm", NULL, &ignored, NULL },
                  { "abi_preserve_control", NULL, &ignored, NULL },
                  { "explicitcluster", NULL, NULL, &f->explicitcluster },
                  { "noreturn", NULL, NULL, &f->noreturn },
                  { "blocksareclusters", NULL, NULL, &f->blocksareclusters } };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(w, known[i].word))
            return known[i].dims     ? read_dims3(p, known[i].dims)
                   : known[i].number ? read_u32(p, known[i].number)
                                     : (*known[i].flag = true);
    if (str_is(w, "pragma")) {
        p->nounroll_func |= ptx_pragma_read(p);
        return true;
    }
    at = ptx_upto(p, at);
    struct diag *d = ptx_report(p, DIAG_WARNING, "ptx-directive", at,
                                "'.%.*s' is not a known function directive: kept as it is", SV(w));
    diag_hint(d, "known: .maxntid .reqntid .minnctapersm .maxnreg .maxclusterrank .reqnctapercluster "
                 ".explicitcluster .noreturn .pragma");
    return skip_directive_arguments(p);
}

static bool read_func_directives(struct ptx_parser *p, struct ptx_func *f)
{
    for (;;) {
        ptx_skip_blank(p);
        if (*p->c == ',') { /* "foo, .noreturn": old spelling */
            p->c++;
            continue;
        }
        if (*p->c != '.' || !ptx_is(p->c[1], CH_START) || ends_head(p))
            return true;
        if (!read_func_directive(p, f))
            return false;
    }
}

/* ---- the function's name ---- */
static bool same_shape(const struct ptx_func *a, const struct ptx_func *b)
{
    if (a->nparams != b->nparams || a->nrets != b->nrets || a->entry != b->entry)
        return false;
    for (uint32_t i = 0; i < a->nparams; i++)
        if (a->params[i]->bytes != b->params[i]->bytes)
            return false;
    return true;
}

/* Prototype and definition share one symbol, which points at the definition. */
static void declare_function(struct ptx_parser *p, struct ptx_func *f, struct span at)
{
    struct ptx_name *e = ptx_name_find(p, f->name, NAME_SYM);
    uint32_t index = (uint32_t)p->funcs.n - 1;
    if (e && e->kind == NAME_SYM && e->sym->kind == SYM_FUNC &&
        !(e->sym->func->has_body && f->has_body)) {
        if (!same_shape(e->sym->func, f)) {
            struct diag *d = ptx_error(p, "ptx-redefined", at,
                                       "'%.*s' has other parameters than its declaration", SV(f->name));
            diag_hint(d, "the declaration is on line %u", e->at.line);
        }
        if (f->has_body || !e->sym->func->has_body) {
            e->sym->func = f;
            e->sym->linkage = f->linkage;
            e->index = index;
        }
        return;
    }
    struct ptx_symbol *s = ARENA_NEW(p->a, struct ptx_symbol);
    if (!s)
        return;
    *s = (struct ptx_symbol){ .kind = SYM_FUNC,
                              .name = f->name,
                              .linkage = f->linkage,
                              .func = f,
                              .stmt = PTX_NO_INDEX,
                              .at = at };
    e = ptx_name_add(p, f->name, NAME_SYM, at);
    if (e) {
        e->sym = s;
        e->index = index;
    }
}

static bool read_name(struct ptx_parser *p, struct ptx_func *f, struct span *at)
{
    ptx_skip_blank(p);
    *at = ptx_here(p);
    f->name = ptx_ident(p);
    if (f->name.n) {
        at->len = (uint32_t)f->name.n;
        return true;
    }
    at->len = 1;
    ptx_error(p, "ptx-syntax", *at, "expected the name of the function, found %s",
              ptx_quiet(p) ? "this" : ptx_quote(p));
    return false;
}

/* Return list, name, parameters, directives, up to '{' or ';'. */
static bool read_head(struct ptx_parser *p, struct ptx_func *f, struct span *name_at)
{
    if (!f->entry && ptx_at(p, '(') && !ptx_params_read(p, &f->rets, &f->nrets))
        return false;
    if (!read_name(p, f, name_at))
        return false;
    if (ptx_at(p, '(') && !ptx_params_read(p, &f->params, &f->nparams))
        return false;
    lay_out(f);
    return read_func_directives(p, f);
}

static void reset_body(struct ptx_parser *p)
{
    p->insts.n = p->stmts.n = p->labels.n = p->places.n = p->regs.n = p->vars.n = p->locs.n =
        p->loc_stmt.n = p->refs.n = 0;
    p->digit_names = false;
    p->shaken = false;
    p->scopes.n = 1;
    p->scope = 0;
}

static struct ptx_func *new_func(struct ptx_parser *p, enum ptx_linkage linkage, bool entry,
                                 struct span at)
{
    struct ptx_func *f = ARENA_NEW(p->a, struct ptx_func);
    struct ptx_facts *facts = f ? ptx_facts_new(p->a) : NULL;
    struct ptx_func **slot = facts ? PTX_PUSH(p, p->funcs) : NULL;
    if (!slot) {
        p->oom = true;
        return NULL;
    }
    *slot = f;
    f->facts = facts;
    f->entry = entry;
    f->linkage = linkage;
    f->module = p->m;
    f->at = f->head = at;
    return f;
}

static bool is_param(struct ptx_parser *p)
{
    const char *from = p->c;
    struct str w = ptx_dotword(p);
    p->c = from;
    return str_is(w, "param") || str_is(w, "maxntid") || str_is(w, "reqntid") ||
           str_is(w, "minnctapersm");
}

/* After a mistake in a head: up to its body, or past its ';'. */
static void skip_head(struct ptx_parser *p)
{
    do
        ptx_resync(p);
    while (p->c < p->end && *p->c == '.' && ptx_at(p, '.') && is_param(p));
    ptx_skip(p);
}

static void misses_semicolon(struct ptx_parser *p)
{
    ptx_expect(p, ';', "after this declaration, or a body in braces");
    ptx_resync(p);
    if (ptx_at(p, '{'))
        ptx_skip_block(p);
}

/* 5.2.1: the size of what a launch passes is known. */
static void check_entry_params(struct ptx_parser *p, const struct ptx_func *f)
{
    for (uint32_t i = 0; f->entry && i < f->nparams; i++) {
        const struct ptx_symbol *s = f->params[i];
        if (s->array && !s->bytes)
            ptx_error(p, "ptx-declaration", s->at, "parameter '%.*s' of a kernel has no size",
                      SV(s->name));
        else if (s->space == PTX_SPACE_REG)
            ptx_error(p, "ptx-declaration", s->at, "parameter '%.*s' of a kernel is not a .param",
                      SV(s->name));
        else if (ptx_type_kind((enum ptx_type)s->type) == 'p')
            ptx_error(p, "ptx-declaration", s->at,
                      "'%.*s': a predicate must be a register, not a parameter", SV(s->name));
    }
}

/* Cursor after ".entry" or ".func"; `at` is where the linkage word or this word began. */
void ptx_func_read(struct ptx_parser *p, enum ptx_linkage linkage, bool entry, struct span at)
{
    struct ptx_func *f = new_func(p, linkage, entry, at);
    if (!f)
        return;
    struct span name_at = at;
    reset_body(p);
    p->nounroll_func = p->nounroll_next = false;
    p->f = f;
    bool ok = !p->oom && read_head(p, f, &name_at);
    ptx_skip(p);
    f->head = ptx_upto(p, at);
    if (!ok) {
        p->shaken = true;
        skip_head(p);
    }
    f->has_body = p->c < p->end && *p->c == '{';
    if (f->name.n)
        declare_function(p, f, name_at);
    check_entry_params(p, f);
    ptx_scope_open(p);
    if (p->oom)
        return;
    ptx_params_declare(p, f->rets, f->nrets);
    ptx_params_declare(p, f->params, f->nparams);
    if (f->has_body)
        ptx_body_read(p);
    else if (ok && !ptx_take(p, ';') && (f->entry || (p->c < p->end && !ends_head(p))))
        misses_semicolon(p);
    f->at = ptx_upto(p, at);
    p->scope = 1;
    ptx_scope_close(p);
    p->f = NULL;
}
