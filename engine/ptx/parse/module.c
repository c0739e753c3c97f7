/* A module: header, declarations, functions; ptx_parse and what is asked of a module. */
#include "engine/ptx/facts/facts.h"
#include "engine/base/list.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_int.h"

#include <string.h>

#define MAX_TEXT (1u << 31) /* offsets are 32 bits */

/* ---- header directives (11.1) ---- */
static void read_version(struct ptx_parser *p, struct span at)
{
    ptx_skip_blank(p);
    uint32_t v[2] = { 0, 0 };
    unsigned digits = 0;
    for (int i = 0; i < 2; i++) {
        for (; ptx_is(*p->c, CH_DIGIT) && digits < 6; digits++)
            v[i] = v[i] * 10 + (uint32_t)(*p->c++ - '0');
        if (i == 0 && *p->c == '.')
            p->c++;
    }
    if (!digits || v[1] > 9) {
        ptx_error(p, "ptx-header", ptx_upto(p, at), ".version takes a number such as 8.3");
        ptx_resync(p);
        return;
    }
    p->m->version = v[0] * 10 + v[1];
    if (p->m->version > PTX_VERSION_KNOWN)
        ptx_report(p, DIAG_WARNING, "ptx-version", ptx_upto(p, at),
                   "PTX %u.%u is newer than the %u.%u known here: unknown words are kept, not analysed",
                   v[0], v[1], PTX_VERSION_KNOWN / 10, PTX_VERSION_KNOWN % 10);
}

/* The .version that first knew a target (release notes, section 12); 0: no such target known. */
static uint32_t first_version(uint32_t target, char suffix)
{
    static const struct {
        uint16_t target, version, arch;
    } since[] = {
        { 10, 10, 0 },   { 11, 11, 0 },   { 12, 12, 0 },   { 13, 12, 0 },   { 20, 20, 0 },
        { 21, 20, 0 },   { 30, 30, 0 },   { 32, 40, 0 },   { 35, 31, 0 },   { 37, 41, 0 },
        { 50, 40, 0 },   { 52, 41, 0 },   { 53, 42, 0 },   { 60, 50, 0 },   { 61, 50, 0 },
        { 62, 50, 0 },   { 70, 60, 0 },   { 72, 61, 0 },   { 75, 63, 0 },   { 80, 70, 0 },
        { 86, 71, 0 },   { 87, 74, 0 },   { 88, 90, 0 },   { 89, 78, 0 },   { 90, 78, 80 },
        { 100, 86, 86 }, { 101, 86, 86 }, { 103, 88, 88 }, { 110, 90, 90 }, { 120, 87, 87 },
        { 121, 88, 88 },
    };
    for (size_t i = 0; i < ARRAY_LEN(since); i++)
        if (since[i].target == target)
            return suffix && since[i].arch ? since[i].arch : since[i].version;
    return 0;
}

static void check_target(struct ptx_parser *p, struct span at)
{
    uint32_t need = first_version(p->m->target, p->m->target_suffix);
    if (!need)
        ptx_report(p, DIAG_WARNING, "ptx-target", at, "%.*s is not a known target",
                   SV(p->m->target_text));
    else if (p->m->version && p->m->version < need)
        ptx_error(p, "ptx-version", at, "%.*s needs .version %u.%u; this module says %u.%u",
                  SV(p->m->target_text), need / 10, need % 10, p->m->version / 10, p->m->version % 10);
}

/* The newest, after a mistake that was told: so the rest can be checked. */
static void assume_target(struct ptx_parser *p)
{
    if (p->m->target)
        return;
    p->m->target = 120;
    p->m->target_suffix = 'a';
}

/* sm_90a, texmode_unified, debug ... */
static void read_target(struct ptx_parser *p, struct span at)
{
    do {
        ptx_skip_blank(p);
        struct span here = ptx_here(p);
        struct str w = ptx_ident(p);
        if (w.n > 3 && (!memcmp(w.s, "sm_", 3) || (w.n > 8 && !memcmp(w.s, "compute_", 8)))) {
            uint32_t n = 0;
            const char *c = memchr(w.s, '_', w.n), *e = w.s + w.n;
            for (c++; c < e && ptx_is(*c, CH_DIGIT) && n < 10000; c++)
                n = n * 10 + (uint32_t)(*c - '0');
            p->m->target = n;
            p->m->target_suffix = c < e ? *c : 0;
            p->m->target_text = w;
            here.len = (uint32_t)w.n;
            check_target(p, here);
        } else if (!str_is(w, "texmode_unified") && !str_is(w, "texmode_independent") &&
                   !str_is(w, "debug") && !str_is(w, "map_f64_to_f32")) {
            here.len = (uint32_t)(w.n ? w.n : 1);
            struct diag *d = ptx_error(p, "ptx-header", here, "'%.*s' is no target", SV(w));
            diag_hint(d, "a target is sm_NN, optionally followed by texmode_unified, "
                         "texmode_independent, debug or map_f64_to_f32");
            ptx_resync(p);
            assume_target(p);
            return;
        }
    } while (ptx_take(p, ','));
    if (!p->m->target) {
        ptx_error(p, "ptx-header", ptx_upto(p, at), ".target names no sm_NN");
        assume_target(p);
    }
}

static void read_address_size(struct ptx_parser *p)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    uint64_t v;
    if (!ptx_const_uint(p, &v))
        return;
    if (v != 32 && v != 64)
        ptx_error(p, "ptx-header", ptx_upto(p, at), ".address_size is 32 or 64");
    else
        p->m->address_size = (uint32_t)v;
    p->address_given = true;
}

/* .section .debug_str { ... }: bytes, labels and references for the debugger, skipped whole. */
static void ptx_section_read(struct ptx_parser *p)
{
    ptx_skip_blank(p);
    struct span at = ptx_here(p);
    struct str name = *p->c == '.' ? ptx_dotword(p) : ptx_ident(p);
    if (!name.n)
        ptx_error(p, "ptx-directive", at, ".section takes a name such as .debug_info");
    p->m->tied |= !str_is(name, "debug_str");
    while (ptx_skip(p), p->c < p->end && *p->c != '{' && *p->c != ';' && *p->c != '}')
        p->c++;
    if (*p->c == '{')
        ptx_skip_block(p);
}

/* ---- module scope ---- */
static void read_alias(struct ptx_parser *p, struct span at)
{
    ptx_skip_blank(p);
    p->m->tied = true;
    struct span here = ptx_here(p);
    struct str alias = ptx_ident(p);
    bool ok = alias.n && ptx_expect(p, ',', "between the alias and its function");
    ptx_skip_blank(p);
    struct span target_at = ptx_here(p);
    struct str target = ok ? ptx_ident(p) : alias;
    if (!ok || !target.n) {
        ptx_error(p, "ptx-syntax", here, ".alias takes two names");
        ptx_resync(p);
        return;
    }
    struct ptx_symbol *f = ptx_symbol_find(p, target), *a = ptx_symbol_find(p, alias);
    if (!f || f->kind != SYM_FUNC)
        ptx_undefined(p, target, target_at, "function");
    if (!ptx_expect(p, ';', "after this alias"))
        ptx_resync(p);
    if (a || !f) /* usually declared as a prototype before: that symbol stays */
        return;
    struct ptx_symbol *s = ARENA_NEW(p->a, struct ptx_symbol);
    if (!s)
        return;
    *s = (struct ptx_symbol){
        .kind = SYM_ALIAS, .name = alias, .func = f->func, .stmt = PTX_NO_INDEX, .at = ptx_upto(p, at)
    };
    here.len = (uint32_t)alias.n;
    ptx_symbol_declare(p, s, here);
    struct ptx_symbol **slot = PTX_PUSH(p, p->globals);
    if (slot)
        *slot = s;
}

static bool linkage_of(struct str w, enum ptx_linkage *out)
{
    static const struct {
        const char *name;
        enum ptx_linkage l;
    } table[] = {
        { "extern", LINK_EXTERN },
        { "visible", LINK_VISIBLE },
        { "weak", LINK_WEAK },
        { "common", LINK_COMMON },
    };
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (str_is(w, table[i].name)) {
            *out = table[i].l;
            return true;
        }
    return false;
}

static bool header_directive(struct ptx_parser *p, struct str w, struct span at)
{
    if (str_is(w, "version"))
        read_version(p, at);
    else if (str_is(w, "target"))
        read_target(p, at);
    else if (str_is(w, "address_size"))
        read_address_size(p);
    else
        return false;
    if (!p->m->header.line)
        p->m->header = at;
    p->m->header = ptx_upto(p, p->m->header);
    while (p->m->header.len && ptx_is(p->base[p->m->header.off + p->m->header.len - 1], CH_SPACE))
        p->m->header.len--;
    return true;
}

/* After a mistake at module scope: past the ';', or past the body that belongs to it. */
static void resync(struct ptx_parser *p)
{
    ptx_resync(p);
    if (ptx_at(p, '{'))
        ptx_skip_block(p);
}

static void unknown_directive(struct ptx_parser *p, struct str w, struct span at)
{
    static const char *const known[] = { "version", "target", "address_size", "visible", "extern",
                                         "weak",    "common", "entry",        "func",    "global",
                                         "const",   "shared", "local",        "file",    "section",
                                         "alias",   "pragma" };
    struct diag *d =
        ptx_error(p, "ptx-directive", ptx_upto(p, at), "'.%.*s' is not a directive of a module", SV(w));
    for (size_t i = 0; d && i < ARRAY_LEN(known); i++)
        if (str_distance(w, str_of(known[i]), 2) <= 2)
            diag_hint(d, "did you mean '.%s'?", known[i]);
    resync(p);
}

/* Missing header lines are said once; then the newest is assumed, so that the rest can be checked. */
static void need_header(struct ptx_parser *p, struct span at)
{
    at.len = 1;
    if (!p->m->version) {
        struct diag *d = ptx_error(p, "ptx-header", at, "the module does not begin with .version");
        diag_hint(d, "a module starts with, for example: .version 8.0  .target sm_80  .address_size 64");
        p->m->version = PTX_VERSION_KNOWN;
        assume_target(p); /* one message is enough */
    }
    if (!p->m->target) {
        ptx_error(p, "ptx-header", at, "the module has no .target");
        assume_target(p);
    }
}

static void module_directive(struct ptx_parser *p)
{
    struct span at = ptx_here(p);
    struct str w = ptx_dotword(p);
    enum ptx_linkage linkage = LINK_NONE;
    struct ptx_decl d = { .at = at };
    if (header_directive(p, w, at))
        return;
    if (linkage_of(w, &linkage)) {
        ptx_skip_blank(p);
        w = ptx_dotword(p);
    }
    if (str_is(w, "entry") || str_is(w, "func")) {
        need_header(p, at);
        ptx_func_read(p, linkage, *w.s == 'e', at);
    } else if (str_is(w, "reg")) {
        ptx_decl_registers(p, at);
    } else if (ptx_is_space(w, &d.space)) {
        need_header(p, at);
        d.linkage = linkage;
        if (ptx_decl_specifiers(p, &d))
            ptx_decl_variables(p, &d);
        else
            ptx_resync(p);
    } else if (str_is(w, "file")) {
        ptx_file_read(p);
    } else if (str_is(w, "loc")) {
        struct ptx_loc loc;
        ptx_loc_read(p, &loc);
    } else if (str_is(w, "section")) {
        ptx_section_read(p);
    } else if (str_is(w, "alias")) {
        read_alias(p, at);
    } else if (str_is(w, "pragma")) {
        p->nounroll_all |= ptx_pragma_read(p);
    } else {
        unknown_directive(p, w, at);
    }
}

/* What editors put before the text, and ptxas does not take. */
static void skip_byte_order_mark(struct ptx_parser *p)
{
    struct span at = ptx_here(p);
    if (p->end - p->c < 3 || memcmp(p->c, "\xef\xbb\xbf", 3) != 0)
        return;
    p->c += 3;
    struct diag *d = ptx_error(p, "ptx-bom", at, "the text begins with a UTF-8 byte order mark");
    diag_hint(d, "save the file without it: ptxas does not accept it either");
}

static void skip_line(struct ptx_parser *p)
{
    while (p->c < p->end && *p->c != '\n')
        p->c++;
}

static void read_module(struct ptx_parser *p)
{
    skip_byte_order_mark(p);
    for (;;) {
        ptx_skip(p);
        if (p->c >= p->end || p->oom)
            return;
        const char *from = p->c;
        if (*p->c == '.' && ptx_is(p->c[1], CH_START)) {
            module_directive(p);
        } else if (*p->c == '@' && p->c[1] == '@') { /* @@DWARF lines of PTX ISA 1.x */
            skip_line(p);
        } else if (*p->c == '#' && p->c[1] == ' ' && ptx_is(p->c[2], CH_DIGIT)) { /* # 1 "a.ptx" */
            skip_line(p);
        } else if (*p->c == ';') {
            p->c++;
        } else {
            struct span at = ptx_here(p);
            at.len = 1;
            ptx_error(p, "ptx-syntax", at, "expected a directive such as .visible .entry, found %s",
                      ptx_quiet(p) ? "this" : ptx_quote(p));
            p->c += *p->c != '{';
            resync(p);
        }
        if (p->c == from) /* '{' or '}' that resynchronising stopped at */
            p->c++;
    }
}

/* ---- the module as a whole ---- */
static struct ptx_module_owner *new_module(const char *path, struct str text)
{
    struct arena *a = arena_new(text.n > (1u << 20) ? 1u << 20 : 0);
    struct ptx_module_owner *o = a ? ARENA_NEW(a, struct ptx_module_owner) : NULL;
    char *copy = o ? arena_alloc_unaligned(a, text.n + 1) : NULL;
    char *name = copy ? arena_dup(a, str_of(path ? path : "<ptx>")) : NULL;
    if (!name) {
        arena_free(a);
        return NULL;
    }
    if (text.n)
        memcpy(copy, text.s, text.n);
    copy[text.n] = 0;
    o->m = (struct ptx_module){ .arena = a, .path = name, .text = { copy, text.n }, .address_size = 32 };
    return o;
}

static void free_parser(struct ptx_parser *p)
{
    if (p->nbucket)
        ptx_names_reset(p, 0, 0);
    strmap_free(&p->ops);
    strmap_free(&p->mods);
    strmap_free(&p->sregs);
    void *const vec[] = { p->forms.v,  p->names.v, p->bucket,  p->ranges.v, p->globals.v,
                          p->funcs.v,  p->files.v, p->insts.v, p->stmts.v,  p->labels.v,
                          p->places.v, p->regs.v,  p->vars.v,  p->locs.v,   p->loc_stmt.v,
                          p->scopes.v, p->refs.v,  p->opnd.v,  p->elem.v };
    for (size_t i = 0; i < ARRAY_LEN(vec); i++)
        base_free(vec[i]);
}

/* Numbers the functions and finds what prototypes stand for; a name without any body keeps none. */
static void number_funcs(struct ptx_parser *p, struct ptx_module *m)
{
    struct strmap defined = { 0 };
    uint32_t at;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        m->funcs[i]->index = i;
        if (m->funcs[i]->has_body)
            strmap_set(&defined, m->funcs[i]->name, i);
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->has_body)
            m->funcs[i]->def = m->funcs[i];
        else if (strmap_get(&defined, m->funcs[i]->name, &at))
            m->funcs[i]->def = m->funcs[at];
    p->oom = p->oom || defined.oom;
    strmap_free(&defined);
}

static void keep_module(struct ptx_parser *p, struct ptx_module_owner *o)
{
    struct ptx_module *m = &o->m;
    m->nglobals = (uint32_t)p->globals.n;
    m->nfuncs = (uint32_t)p->funcs.n;
    m->nfiles = (uint32_t)p->files.n;
    m->globals = PTX_KEEP(p, p->globals);
    m->funcs = PTX_KEEP(p, p->funcs);
    m->files = PTX_KEEP(p, p->files);
    if (p->oom || arena_failed(p->a))
        m->nglobals = m->nfuncs = m->nfiles = 0;
    number_funcs(p, m);
    o->owned = p->owned.v;
    o->nowned = p->owned.n;
}

enum status ptx_parse(const char *path, struct str text, struct ptx_module **out, struct diags *ds)
{
    *out = NULL;
    if (text.n > MAX_TEXT) {
        diag_error(ds, "ptx-limit", "%s: more than 2 GiB of PTX", path ? path : "<ptx>");
        return ST_INPUT;
    }
    struct ptx_module_owner *o = new_module(path, text);
    if (!o)
        return ST_NOMEM;
    struct ptx_parser p = { .m = &o->m, .a = o->m.arena, .ds = ds, .line = 1 };
    p.base = p.c = p.line_start = o->m.text.s;
    p.end = p.base + text.n;
    ptx_words_init(&p);
    struct ptx_scope *module = PTX_PUSH(&p, p.scopes);
    if (module) {
        *module = (struct ptx_scope){ 0, 0, 0, PTX_NO_INDEX, PTX_NO_INDEX };
        read_module(&p);
        if (!p.oom)
            need_header(&p, ptx_here(&p));
    }
    keep_module(&p, o);
    if (!p.oom && !p.errors)
        ptx_tell_ptxas(&p);
    bool oom = p.oom || arena_failed(p.a);
    free_parser(&p);
    if (oom) {
        ptx_free(&o->m);
        return ST_NOMEM;
    }
    *out = &o->m;
    return p.errors ? ST_INPUT : ST_OK;
}

enum status ptx_parse_file(const char *path, struct ptx_module **out, struct diags *ds)
{
    char *data;
    size_t n;
    *out = NULL;
    enum status st = file_read(path, MAX_TEXT, &data, &n, ds);
    if (st != ST_OK)
        return st;
    st = ptx_parse(path, (struct str){ data, n }, out, ds);
    base_free(data);
    return st;
}

void ptx_free(struct ptx_module *m)
{
    if (!m)
        return;
    struct ptx_module_owner *o = (struct ptx_module_owner *)m;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        ptx_facts_drop(m->funcs[i]->facts);
    for (size_t i = 0; i < o->nowned; i++)
        base_free(o->owned[i]);
    base_free(o->owned);
    arena_free(m->arena);
}

/* ---- questions ---- */
const struct ptx_func *ptx_find_func(const struct ptx_module *m, struct str name)
{
    const struct ptx_func *found = NULL;
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (str_eq(m->funcs[i]->name, name) && (!found || m->funcs[i]->has_body))
            found = m->funcs[i];
    return found;
}

const struct ptx_symbol *ptx_find_global(const struct ptx_module *m, struct str name)
{
    const struct ptx_symbol *found = NULL;
    for (uint32_t i = 0; i < m->nglobals; i++)
        if (str_eq(m->globals[i]->name, name) && (!found || m->globals[i]->linkage != LINK_EXTERN))
            found = m->globals[i];
    return found;
}

struct str ptx_text(const struct ptx_module *m, struct span at)
{
    if (at.off > m->text.n)
        return (struct str){ "", 0 };
    size_t left = m->text.n - at.off;
    return (struct str){ m->text.s + at.off, at.len < left ? at.len : left };
}

uint32_t ptx_line_count(const struct ptx_module *m)
{
    uint32_t n = 0;
    for (const char *s = m->text.s, *e = s + m->text.n; s < e; n++) {
        const char *nl = memchr(s, '\n', (size_t)(e - s));
        s = nl ? nl + 1 : e;
    }
    return n;
}

struct str ptx_line_text(const struct ptx_module *m, uint32_t line)
{
    const char *s = m->text.s, *e = s + m->text.n;
    for (uint32_t i = 1; i < line && s < e; i++) {
        const char *nl = memchr(s, '\n', (size_t)(e - s));
        s = nl ? nl + 1 : e;
    }
    const char *nl = s < e ? memchr(s, '\n', (size_t)(e - s)) : NULL;
    size_t n = (size_t)((nl ? nl : e) - s);
    return (struct str){ s, n && s[n - 1] == '\r' ? n - 1 : n };
}

/* One past the .loc in force; 0: none is. */
static uint32_t loc_behind(const struct ptx_func *f, const struct ptx_inst *i)
{
    uint32_t k;
    BISECT(k, f->nlocs, f->loc_stmt[k] < i->stmt);
    return k;
}

struct ptx_loc ptx_loc_of(const struct ptx_func *f, const struct ptx_inst *i)
{
    uint32_t k = loc_behind(f, i);
    return k ? f->locs[k - 1] : (struct ptx_loc){ 0 };
}

struct ptx_place ptx_user_place(const struct ptx_module *m, struct ptx_loc l)
{
    struct ptx_place p = { l.file, l.line, l.col };
    if (l.foreign && l.at_line)
        p = (struct ptx_place){ l.at_file, l.at_line, l.at_col };
    return p.line && p.file < m->nfiles && m->files[p.file].n ? p : (struct ptx_place){ 0 };
}

struct ptx_place ptx_place_near(const struct ptx_module *m, const struct ptx_func *f,
                                const struct ptx_inst *i)
{
    struct ptx_place p = { 0 };
    for (uint32_t k = loc_behind(f, i); k && !p.line; k--)
        p = ptx_user_place(m, f->locs[k - 1]);
    return p;
}

static bool calls(const struct ptx_inst *i, const struct ptx_func *f)
{
    bool found = false;
    for (unsigned k = 0; i->op == PTX_OP_CALL && k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        found |= o->kind == OPND_SYM && o->sym->kind == SYM_FUNC && o->sym->func->def == f;
    }
    return found;
}

struct ptx_place ptx_place_of_call(const struct ptx_module *m, const struct ptx_func *from,
                                   const struct ptx_func *f)
{
    struct ptx_place p = { 0 };
    for (uint32_t i = 0; i < from->ninsts; i++) {
        if (!calls(&from->insts[i], f))
            continue;
        struct ptx_place q = ptx_place_near(m, from, &from->insts[i]);
        if (!q.line || (p.line && (q.line != p.line || q.file != p.file)))
            return (struct ptx_place){ 0 };
        p = q;
    }
    return p;
}

struct ptx_place ptx_user_place_at(const struct ptx_module *m, uint32_t line)
{
    for (uint32_t n = 0; n < m->nfuncs; n++) {
        const struct ptx_func *f = m->funcs[n];
        for (uint32_t k = 0; k < f->ninsts && f->insts[k].at.line <= line; k++)
            if (f->insts[k].at.line == line)
                return ptx_user_place(m, ptx_loc_of(f, &f->insts[k]));
    }
    return (struct ptx_place){ 0 };
}

static bool put_place(const struct ptx_module *m, uint32_t file, uint32_t line, struct buf *out)
{
    struct str name = file < m->nfiles ? m->files[file] : (struct str){ NULL, 0 };
    for (size_t i = name.n; i-- > 0;)
        if (name.s[i] == '/') {
            name = (struct str){ name.s + i + 1, name.n - i - 1 };
            break;
        }
    if (name.n && line)
        buf_printf(out, "%.*s:%u", (int)name.n, name.s, line);
    return name.n && line;
}

bool ptx_loc_text(const struct ptx_module *m, struct ptx_loc l, struct buf *out)
{
    if (!l.file || !put_place(m, l.file, l.line, out))
        return false;
    if (l.at_file && l.at_line) {
        buf_puts(out, " in ");
        put_place(m, l.at_file, l.at_line, out);
    }
    return true;
}

void ptx_print(const struct ptx_module *m, struct buf *out)
{
    size_t at = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        for (uint32_t k = 0; k < f->nstmts; k++) {
            size_t end = (size_t)f->stmts[k].at.off + f->stmts[k].at.len;
            buf_put(out, m->text.s + at, end - at);
            at = end;
        }
    }
    buf_put(out, m->text.s + at, m->text.n - at);
}
