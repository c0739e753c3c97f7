/* A function body: one loop over its statements. Braces are counted, never recursed into. */
#include "engine/ptx/ptx_int.h"

#include <string.h>

static void add_stmt(struct ptx_parser *p, enum ptx_stmt_kind kind, uint32_t index, struct span at)
{
    struct ptx_stmt *s = PTX_PUSH(p, p->stmts);
    if (s)
        *s = (struct ptx_stmt){ (uint8_t)kind, index, ptx_upto(p, at) };
}

static void read_loc(struct ptx_parser *p, struct span at)
{
    struct ptx_loc loc;
    if (!ptx_loc_read(p, &loc)) {
        ptx_resync(p);
        return;
    }
    struct ptx_loc *l = PTX_PUSH(p, p->locs);
    uint32_t *s = PTX_PUSH(p, p->loc_stmt);
    if (!l || !s)
        return;
    *l = loc;
    *s = (uint32_t)p->stmts.n;
    add_stmt(p, STMT_LOC, (uint32_t)p->locs.n - 1, at);
}

/* name : .branchtargets a, b; -- and .calltargets f, g; */
static void read_targets(struct ptx_parser *p, struct span at, bool calls)
{
    PTX_VEC(uint32_t) list = { 0 };
    size_t first = p->refs.n;
    uint32_t stmt = (uint32_t)p->stmts.n;
    bool named = p->labels.n && stmt && p->stmts.v[stmt - 1].kind == STMT_LABEL;
    if (!named)
        ptx_error(p, "ptx-directive", ptx_upto(p, at), "a list of targets needs a label before it");
    do {
        ptx_skip_blank(p);
        struct span here = ptx_here(p);
        struct str name = ptx_ident(p);
        uint32_t *slot = name.n ? PTX_PUSH(p, list) : NULL;
        if (!slot) {
            ptx_error(p, "ptx-syntax", here, "expected a name in this list");
            break;
        }
        here.len = (uint32_t)name.n;
        struct ptx_name *f = calls ? ptx_name_find(p, name, NAME_SYM) : NULL;
        *slot = f ? f->index : 0;
        if (calls && (!f || f->kind != NAME_SYM || f->sym->kind != SYM_FUNC))
            ptx_undefined(p, name, here, "function");
        struct ptx_label_ref *r = calls ? NULL : PTX_PUSH(p, p->refs);
        if (r)
            *r = (struct ptx_label_ref){ NULL, name, here, stmt, REF_TARGET };
    } while (ptx_take(p, ','));
    if (!ptx_expect(p, ';', "after the list of targets"))
        ptx_resync(p);
    uint32_t *kept = ARENA_ARRAY(p->a, uint32_t, list.n + 1);
    for (size_t i = 0; kept && i < list.n; i++) {
        kept[i] = list.v[i];
        if (!calls && first + i < p->refs.n)
            p->refs.v[first + i].slot = &kept[i];
    }
    if (!kept || p->oom)
        p->refs.n = first;
    if (named && kept) {
        p->labels.v[p->labels.n - 1].targets = kept;
        p->labels.v[p->labels.n - 1].ntargets = (uint32_t)list.n;
    }
    base_free(list.v);
    add_stmt(p, STMT_TARGETS, (uint32_t)(named ? p->labels.n - 1 : 0), at);
}

/* name : .callprototype (ret) _ (params) .noreturn; */
static void read_prototype(struct ptx_parser *p, struct span at)
{
    struct ptx_symbol **list;
    uint32_t n;
    bool ok = !ptx_at(p, '(') || ptx_params_read(p, &list, &n);
    ptx_skip_blank(p);
    ok = ok && ptx_ident(p).n;
    ok = ok && (!ptx_at(p, '(') || ptx_params_read(p, &list, &n));
    while (ok && ptx_at(p, '.')) {
        struct str w = ptx_dotword(p);
        uint64_t v;
        ok = str_is(w, "noreturn") ||
             ((str_is(w, "abi_preserve") || str_is(w, "abi_preserve_control")) && ptx_const_uint(p, &v));
    }
    if (!ok || !ptx_expect(p, ';', "after this prototype"))
        ptx_resync(p);
    add_stmt(p, STMT_PROTOTYPE, (uint32_t)(p->labels.n ? p->labels.n - 1 : 0), at);
}

static void unknown_directive(struct ptx_parser *p, struct str w, struct span at)
{
    struct diag *d = ptx_error(p, "ptx-directive", ptx_upto(p, at),
                               "'.%.*s' is not a directive of a function body", SV(w));
    static const char *const known[] = { "reg",           "shared",      "local",        "param",
                                         "const",         "global",      "loc",          "pragma",
                                         "branchtargets", "calltargets", "callprototype" };
    for (size_t i = 0; d && i < ARRAY_LEN(known); i++)
        if (str_distance(w, str_of(known[i]), 2) <= 2)
            diag_hint(d, "did you mean '.%s'?", known[i]);
    ptx_resync(p);
}

static void read_variables(struct ptx_parser *p, uint8_t space, enum ptx_linkage linkage, struct span at)
{
    struct ptx_decl d = { .space = space, .linkage = linkage, .at = at };
    uint32_t index = (uint32_t)p->vars.n;
    if (ptx_decl_specifiers(p, &d)) {
        ptx_decl_variables(p, &d);
    } else {
        p->shaken = true;
        ptx_resync(p);
    }
    add_stmt(p, STMT_VAR, index, at);
}

static void read_directive(struct ptx_parser *p)
{
    struct span at = ptx_here(p);
    struct str w = ptx_dotword(p);
    uint8_t space;
    enum ptx_linkage linkage = LINK_NONE;
    if (str_is(w, "loc")) {
        read_loc(p, at);
        return;
    }
    if (str_is(w, "extern") || str_is(w, "visible") || str_is(w, "weak")) {
        linkage = *w.s == 'e' ? LINK_EXTERN : *w.s == 'v' ? LINK_VISIBLE : LINK_WEAK;
        ptx_skip_blank(p);
        w = ptx_dotword(p);
    }
    if (str_is(w, "reg")) {
        ptx_decl_registers(p, at);
        add_stmt(p, STMT_REG, 0, at);
    } else if (ptx_is_space(w, &space)) {
        read_variables(p, space, linkage, at);
    } else if (str_is(w, "pragma")) {
        p->nounroll_next |= ptx_pragma_read(p);
        add_stmt(p, STMT_PRAGMA, 0, at);
    } else if (str_is(w, "branchtargets") || str_is(w, "calltargets")) {
        read_targets(p, at, *w.s == 'c');
    } else if (str_is(w, "callprototype")) {
        read_prototype(p, at);
    } else if (str_is(w, "file")) {
        ptx_file_read(p);
        add_stmt(p, STMT_OTHER, 0, at);
    } else if (!w.n) {
        p->c++;
        ptx_error(p, "ptx-syntax", ptx_upto(p, at), "a directive needs a name after '.'");
        ptx_resync(p);
    } else {
        unknown_directive(p, w, at);
    }
}

/* "name:" makes a label; the cursor is put back when no ':' follows. */
static bool read_label(struct ptx_parser *p)
{
    const char *e = p->c;
    while (ptx_is(*e, CH_START | CH_DIGIT))
        e++;
    if (*e == '.') /* an opcode, nearly always */
        return false;
    struct span at = ptx_here(p);
    const char *line_start = p->line_start, *from = p->c;
    uint32_t line = p->line;
    p->c = e;
    ptx_skip_blank(p);
    if (*p->c == ':' && p->c[1] != ':') {
        p->c++;
        ptx_label_define(p, (struct str){ from, (size_t)(e - from) }, at);
        return true;
    }
    p->c = from;
    p->line = line;
    p->line_start = line_start;
    return false;
}

static void read_statement(struct ptx_parser *p)
{
    char c = *p->c;
    if (c == '.') {
        read_directive(p);
    } else if (c == ';') {
        struct span at = ptx_here(p);
        p->c++;
        ptx_error(p, "ptx-syntax", ptx_upto(p, at), "there is nothing before this ';'");
        while (ptx_take(p, ';'))
            continue;
    } else if (!ptx_is(c, CH_START) || !read_label(p)) {
        ptx_inst_read(p);
    }
}

/* ---- scratch vectors into the module ---- */
/* Small ones are copied into the arena and reused; large ones are handed over whole. */
void *ptx_vec_keep(struct ptx_parser *p, void **v, size_t *n, size_t *cap, size_t size)
{
    size_t bytes = *n * size;
    if (!bytes)
        return NULL;
    if (bytes < 65536) {
        void *copy = arena_alloc(p->a, bytes);
        if (copy)
            memcpy(copy, *v, bytes);
        return copy;
    }
    void **slot = PTX_PUSH(p, p->owned);
    if (!slot)
        return NULL;
    void *exact = base_realloc(*v, bytes);
    *slot = exact ? exact : *v;
    *v = NULL;
    *cap = 0;
    return *slot;
}

static void keep_body(struct ptx_parser *p, struct ptx_func *f)
{
    f->ninsts = (uint32_t)p->insts.n;
    f->nstmts = (uint32_t)p->stmts.n;
    f->nlabels = (uint32_t)p->labels.n;
    f->nregs = (uint32_t)p->regs.n;
    f->nvars = (uint32_t)p->vars.n;
    f->nlocs = (uint32_t)p->locs.n;
    ptx_locs_follow(p->locs.v, f->nlocs);
    f->insts = PTX_KEEP(p, p->insts);
    f->stmts = PTX_KEEP(p, p->stmts);
    f->labels = PTX_KEEP(p, p->labels);
    f->regs = PTX_KEEP(p, p->regs);
    f->vars = PTX_KEEP(p, p->vars);
    f->locs = PTX_KEEP(p, p->locs);
    f->loc_stmt = PTX_KEEP(p, p->loc_stmt);
    ptx_regs_forget(p);
    if (p->oom || arena_failed(p->a))
        f->ninsts = f->nstmts = f->nlabels = f->nregs = f->nvars = f->nlocs = 0;
}

/* Cursor on '{'. */
void ptx_body_read(struct ptx_parser *p)
{
    struct ptx_func *f = p->f;
    struct span open = ptx_here(p);
    size_t depth = 1;
    p->c++;
    while (depth && !p->oom) {
        ptx_skip_blank(p);
        if (p->c >= p->end) {
            open.len = 1;
            ptx_error(p, "ptx-syntax", open, "the body of '%.*s' is never closed", SV(f->name));
            break;
        }
        struct span at = ptx_here(p);
        if (*p->c == '{') {
            p->c++;
            depth++;
            ptx_scope_open(p);
            add_stmt(p, STMT_OPEN, 0, at);
        } else if (*p->c == '}') {
            p->c++;
            if (--depth) {
                ptx_scope_close(p);
                add_stmt(p, STMT_CLOSE, 0, at);
            }
        } else {
            read_statement(p);
        }
    }
    while (depth-- > 1) /* after an error */
        ptx_scope_close(p);
    f->body = ptx_upto(p, open);
    ptx_labels_resolve(p);
    if (p->errors == 0)
        ptx_check_reachable(p);
    keep_body(p, f);
}
