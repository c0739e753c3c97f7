/* Declarations: registers, variables, parameters (PTX ISA 5.4, 7.1, 11.6). */
#include "engine/ptx/ptx_int.h"

#define MAX_BYTES (1ull << 48) /* of one variable; beyond any address space of a GPU */

bool ptx_is_space(struct str dir, uint8_t *space)
{
    static const struct {
        const char *name;
        uint8_t space;
    } table[] = {
        { "param", PTX_SPACE_PARAM },
        { "shared", PTX_SPACE_SHARED },
        { "global", PTX_SPACE_GLOBAL },
        { "local", PTX_SPACE_LOCAL },
        { "const", PTX_SPACE_CONST },
        { "tex", PTX_SPACE_TEX },
        { "reg", PTX_SPACE_REG },
        { "sreg", PTX_SPACE_SREG },
        { "shared::cta", PTX_SPACE_SHARED },
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(dir, table[i].name)) {
            *space = table[i].space;
            return true;
        }
    return false;
}

static bool read_align(struct ptx_parser *p, uint32_t *align)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    uint64_t v;
    if (!ptx_const_uint(p, &v))
        return false;
    if (!v || v > (1u << 30) || (v & (v - 1))) {
        ptx_error(p, "ptx-declaration", ptx_upto(p, at), "an alignment is a power of two");
        return false;
    }
    *align = (uint32_t)v;
    return true;
}

/* .ptr {.space} {.align N} */
static bool read_ptr(struct ptx_parser *p, struct ptx_decl *d)
{
    d->is_ptr = true;
    d->ptr_align = 4; /* 5.1.6.3: the default when .align is left out */
    while (ptx_at(p, '.')) {
        const char *back = p->c;
        struct str w = ptx_dotword(p);
        if (str_is(w, "align")) {
            if (!read_align(p, &d->ptr_align))
                return false;
        } else if (!ptx_is_space(w, &d->ptr_space)) {
            p->c = back;
            return true;
        }
    }
    return true;
}

static bool skip_parens(struct ptx_parser *p)
{
    size_t depth = 0;
    do {
        ptx_skip(p);
        if (p->c >= p->end || *p->c == ';' || *p->c == '{')
            return ptx_expect(p, ')', "after this attribute");
        depth += *p->c == '(';
        depth -= *p->c == ')';
        p->c++;
    } while (depth);
    return true;
}

static bool read_specifier(struct ptx_parser *p, struct ptx_decl *d, struct str w, struct span at)
{
    uint32_t id;
    if (str_is(w, "align"))
        return read_align(p, &d->align);
    if (str_is(w, "ptr"))
        return read_ptr(p, d);
    if (str_is(w, "attribute")) /* .managed, .unified(...): kept, no effect on addresses */
        return ptx_at(p, '(') ? skip_parens(p) : ptx_expect(p, '(', "after .attribute");
    if (str_is(w, "v2") || str_is(w, "v4") || str_is(w, "v8")) {
        d->vec = (uint8_t)(w.s[1] - '0');
        return true;
    }
    if (strmap_get(&p->mods, w, &id) && ptx_mod_category((enum ptx_mod)id) == MODCAT_TYPE) {
        d->type = (uint8_t)ptx_type_find(w);
        d->has_type = true;
        if (d->type == PTX_T_B128 && p->m->version < 83)
            ptx_error(p, "ptx-version", ptx_upto(p, at),
                      "'.b128' needs .version 8.3; this module says %u.%u", p->m->version / 10,
                      p->m->version % 10);
        return true;
    }
    struct diag *e = ptx_error(p, "ptx-declaration", ptx_upto(p, at),
                               "'.%.*s' is not allowed in a declaration", SV(w));
    diag_hint(e, "expected .align N, .v2, .v4 or a type such as .b32");
    return false;
}

bool ptx_decl_specifiers(struct ptx_parser *p, struct ptx_decl *d)
{
    d->vec = 1;
    uint64_t bank;
    if (d->space == PTX_SPACE_CONST && ptx_take(p, '[') &&
        (!ptx_const_uint(p, &bank) || !ptx_expect(p, ']', "after the bank number")))
        return false; /* .const[2]: banks of PTX ISA 1.x */
    while (ptx_at(p, '.')) {
        struct span at = ptx_here(p);
        struct str w = ptx_dotword(p);
        if (!w.n || !read_specifier(p, d, w, at))
            return false;
    }
    if (d->has_type)
        return true;
    struct span at = ptx_here(p);
    at.len = 1;
    ptx_error(p, "ptx-declaration", at, "this declaration has no type");
    return false;
}

/* [4][8] or []; dims[0] is 0 when unsized. */
static bool read_dims(struct ptx_parser *p, uint64_t *dims, unsigned *n, bool *unsized)
{
    while (ptx_take(p, '[')) {
        struct span at = ptx_here(p);
        if (*n == PTX_MAX_DIMS) {
            ptx_error(p, "ptx-limit", at, "an array has at most %u dimensions", PTX_MAX_DIMS);
            return false;
        }
        uint64_t v = 0;
        if (ptx_at(p, ']'))
            *unsized = *unsized || *n == 0;
        else if (!ptx_const_uint(p, &v))
            return false;
        dims[(*n)++] = v;
        if (!ptx_expect(p, ']', "after the size of this dimension"))
            return false;
    }
    return true;
}

static uint64_t element_bytes(const struct ptx_decl *d)
{
    unsigned bits = ptx_type_bits((enum ptx_type)d->type) * (d->vec ? d->vec : 1);
    return bits < 8 ? 1 : bits / 8;
}

static struct ptx_symbol *declared(struct ptx_parser *p, const struct ptx_decl *d, struct str name,
                                   const uint64_t *dims, unsigned n, bool unsized)
{
    struct ptx_symbol *s = ARENA_NEW(p->a, struct ptx_symbol);
    if (!s) {
        p->oom = true;
        return NULL;
    }
    uint64_t each = element_bytes(d), bytes = each;
    for (unsigned i = unsized ? 1 : 0; i < n; i++) {
        if (dims[i] && bytes > MAX_BYTES / dims[i]) {
            ptx_error(p, "ptx-limit", ptx_upto(p, d->at), "'%.*s' is larger than any memory", SV(name));
            return NULL;
        }
        bytes *= dims[i];
    }
    *s = (struct ptx_symbol){ .kind = SYM_VAR,
                              .name = name,
                              .linkage = d->linkage,
                              .space = d->space,
                              .type = d->type,
                              .vec = d->vec,
                              .align = d->align ? d->align : (uint32_t)(each > 16 ? 16 : each),
                              .array = n > 0,
                              .unsized = unsized,
                              .bytes = unsized ? 0 : bytes,
                              .is_ptr = d->is_ptr,
                              .ptr_space = d->ptr_space,
                              .ptr_align = d->ptr_align,
                              .func = p->f,
                              .stmt = PTX_NO_INDEX,
                              .at = ptx_upto(p, d->at) };
    return s;
}

static struct ptx_symbol *read_name(struct ptx_parser *p, const struct ptx_decl *d, uint64_t *dims,
                                    unsigned *ndims)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str name = ptx_ident(p);
    bool unsized = false;
    if (!name.n) {
        at.len = 1;
        ptx_error(p, "ptx-syntax", at, "expected the name of a variable, found %s",
                  ptx_quiet(p) ? "this" : ptx_quote(p));
        return NULL;
    }
    *ndims = 0;
    if (!read_dims(p, dims, ndims, &unsized))
        return NULL;
    return declared(p, d, name, dims, *ndims, unsized);
}

struct ptx_symbol *ptx_decl_name(struct ptx_parser *p, const struct ptx_decl *d)
{
    uint64_t dims[PTX_MAX_DIMS];
    unsigned n;
    return read_name(p, d, dims, &n);
}

/* An .extern declaration and the definition are one symbol; the definition replaces it. */
static bool completes(struct ptx_parser *p, struct ptx_symbol *s)
{
    struct ptx_symbol *old = ptx_symbol_find(p, s->name);
    struct ptx_name *e = ptx_name_find(p, s->name, NAME_SYM);
    if (!old || !e || e->scope != p->scope || old->kind != SYM_VAR)
        return false;
    if (old->linkage != LINK_EXTERN && s->linkage != LINK_EXTERN && old->linkage != LINK_COMMON)
        return false;
    if (s->linkage != LINK_EXTERN)
        e->sym = s;
    return true;
}

static void add_variable(struct ptx_parser *p, struct ptx_symbol *s, struct span at)
{
    if (s->space == PTX_SPACE_SREG || s->space == PTX_SPACE_REG)
        return;
    struct ptx_symbol **slot = p->f ? PTX_PUSH(p, p->vars) : PTX_PUSH(p, p->globals);
    if (slot)
        *slot = s;
    if (!completes(p, s))
        ptx_symbol_declare(p, s, at);
}

static void check_unsized(struct ptx_parser *p, const struct ptx_symbol *s)
{
    if (!s->unsized || s->linkage == LINK_EXTERN || s->init || s->space == PTX_SPACE_PARAM)
        return;
    struct diag *d = ptx_error(p, "ptx-declaration", s->at, "'%.*s' has no size", SV(s->name));
    diag_hint(d, "declare it .extern, or give it a size or an initialiser");
}

/* After a mistake in a declaration: what it would have declared is not told again. */
static void lost(struct ptx_parser *p)
{
    p->shaken = true;
    ptx_resync(p);
}

void ptx_decl_variables(struct ptx_parser *p, struct ptx_decl *d)
{
    uint32_t stmt = p->f ? (uint32_t)p->stmts.n : PTX_NO_INDEX;
    size_t first = p->f ? p->vars.n : p->globals.n;
    do {
        ptx_skip_blank(p);
        struct span at = ptx_here(p);
        uint64_t dims[PTX_MAX_DIMS];
        unsigned n;
        struct ptx_symbol *s = read_name(p, d, dims, &n);
        if (!s) {
            lost(p);
            return;
        }
        at.len = (uint32_t)s->name.n;
        s->stmt = stmt;
        if (ptx_take(p, '='))
            ptx_init_read(p, s, dims, n);
        check_unsized(p, s);
        add_variable(p, s, at);
    } while (ptx_take(p, ','));
    if (!ptx_expect(p, ';', "after this declaration"))
        lost(p);
    for (size_t i = first; i < (p->f ? p->vars.n : p->globals.n); i++)
        (p->f ? p->vars.v : p->globals.v)[i]->at = ptx_upto(p, d->at);
}

static bool read_register(struct ptx_parser *p, const struct ptx_decl *d)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str name = ptx_ident(p);
    if (!name.n) {
        at.len = 1;
        ptx_error(p, "ptx-syntax", at, "expected the name of a register, found %s",
                  ptx_quiet(p) ? "this" : ptx_quote(p));
        return false;
    }
    at.len = (uint32_t)name.n;
    if (!ptx_take(p, '<')) {
        if (!(name.n == 1 && *name.s == '_'))
            ptx_reg_declare(p, name, d->type, d->vec, at);
        return true;
    }
    uint64_t n = 0;
    struct ptx_const v;
    ptx_skip_blank(p);
    if (!ptx_number(p, &v) || !ptx_expect(p, '>', "after the number of registers"))
        return false;
    n = (uint64_t)v.i;
    if (v.is_float || n == 0 || n > UINT32_MAX) {
        ptx_error(p, "ptx-declaration", ptx_upto(p, at),
                  "a register range holds 1 to 4294967295 registers");
        return true;
    }
    ptx_range_declare(p, name, n, d->type, d->vec, at);
    return true;
}

/* .reg .b32 %r<10>, a, b; -- cursor after ".reg". */
void ptx_decl_registers(struct ptx_parser *p, struct span at)
{
    struct ptx_decl d = { .space = PTX_SPACE_REG, .at = at };
    if (!ptx_decl_specifiers(p, &d)) {
        lost(p);
        return;
    }
    do {
        if (!read_register(p, &d)) {
            lost(p);
            return;
        }
    } while (ptx_take(p, ','));
    if (!ptx_expect(p, ';', "after this declaration"))
        lost(p);
}
