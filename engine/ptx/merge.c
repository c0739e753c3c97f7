/* merge: the text of a program of several modules (link.h).
 *
 * Each module keeps its text, in order, with these changes: one header; local names that another module
 * has too get a number; a function has one prototype, which bears its definition's linkage; a variable's
 * definition stands where the first module names it; weak and common definitions that lose are dropped;
 * .file numbers go on; sections of debuggers are left out. */
#include "engine/ptx/link.h"
#include "engine/ptx/ptx_int.h"

#include <stdlib.h>
#include <string.h>

struct name {
    struct str name;
    const struct ptx_module *m; /* of the definition that counts; NULL: none */
    const struct ptx_func *f;   /* it, a function */
    const struct ptx_symbol *s; /* it, a variable */
    enum ptx_linkage linkage;   /* its */
    uint32_t modules;           /* how many of them have the name */
    const struct ptx_module *last /* that named it */;
    bool told, local, func; /* mentioned in the text already; local in some module */
};
struct change {
    uint32_t off, len;
    struct str text;
};
struct merge {
    struct ptx_module **m;
    size_t n;
    PTX_VEC(struct name) v;
    struct strmap map;
    PTX_VEC(struct change) changes; /* of the module at hand */
    struct arena *a;
    struct buf *out;
    struct diags *ds;
    uint32_t files;
    bool oom;
};

static struct name *name_of(struct merge *g, const struct ptx_module *m, struct str name, bool local)
{
    uint32_t at;
    if (!strmap_get(&g->map, name, &at)) {
        struct name *slot = PTX_PUSH(g, g->v);
        if (!slot)
            return NULL;
        *slot = (struct name){ .name = name };
        at = (uint32_t)g->v.n - 1;
        strmap_set(&g->map, name, at);
        g->oom = g->oom || g->map.oom;
    }
    struct name *n = &g->v.v[at];
    n->modules += n->last != m;
    n->last = m;
    n->local |= local;
    return n;
}

static unsigned rank(enum ptx_linkage l)
{
    return l == LINK_WEAK ? 1 : l == LINK_COMMON ? 2 : 3;
}

/* An entry without a linkage word is one of the program's: old producers write none. */
static bool shared_func(const struct ptx_func *f)
{
    return f->linkage != LINK_NONE || f->entry;
}

static void gather(struct merge *g, const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        struct name *n = name_of(g, m, f->name, !shared_func(f));
        if (n)
            n->func = true;
        if (!n || !shared_func(f) || !f->has_body || (n->m && rank(n->linkage) >= rank(f->linkage)))
            continue;
        n->m = m;
        n->f = f;
        n->linkage = f->linkage;
    }
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *s = m->globals[i];
        struct name *n = name_of(g, m, s->name, s->linkage == LINK_NONE);
        bool larger = n && n->s && n->linkage == LINK_COMMON && s->linkage == LINK_COMMON &&
                      s->bytes > n->s->bytes;
        if (!n || s->kind != SYM_VAR || s->linkage == LINK_NONE || s->linkage == LINK_EXTERN ||
            (n->m && rank(n->linkage) >= rank(s->linkage) && !larger))
            continue;
        n->m = m;
        n->s = s;
        n->linkage = s->linkage;
    }
}

static void change(struct merge *g, uint32_t off, uint32_t len, struct str text)
{
    struct change *c = PTX_PUSH(g, g->changes);
    if (c)
        *c = (struct change){ off, len, text };
}

static const struct name *find(const struct merge *g, struct str name)
{
    uint32_t at;
    return strmap_get(&g->map, name, &at) ? &g->v.v[at] : NULL;
}

/* ---- functions ---- */
static struct str prototype(struct merge *g, const struct ptx_module *m, const struct ptx_func *f)
{
    struct str head = ptx_text(m, f->head);
    char *s = arena_printf(g->a, "%.*s\n;", (int)head.n, head.s);
    return str_of(s ? s : "");
}

/* ".extern .func" becomes the linkage word of the definition. */
static void relink(struct merge *g, const struct ptx_module *m, const struct ptx_func *f,
                   enum ptx_linkage l)
{
    const char *s = m->text.s + f->at.off;
    uint32_t n = 0;
    if (*s == '.')
        for (n = 1; ptx_is(s[n], CH_START | CH_DIGIT);)
            n++;
    if (f->linkage != LINK_NONE && f->linkage != l)
        change(g, f->at.off, n, str_of(l == LINK_WEAK ? ".weak" : l == LINK_NONE ? "" : ".visible"));
}

static void change_func(struct merge *g, const struct ptx_module *m, const struct ptx_func *f)
{
    struct name *n = (struct name *)(uintptr_t)find(g, f->name);
    if (!n || !n->f || !shared_func(f))
        return;
    bool kept = n->f == f;
    if (!kept && n->told)
        change(g, f->at.off, f->at.len, str_of(""));
    else if (!kept && f->has_body)
        change(g, f->at.off, f->at.len, prototype(g, m, f));
    else if (!kept)
        relink(g, m, f, n->linkage);
    n->told = true;
}

/* ---- variables ---- */
static bool alone(const struct ptx_module *m, const struct ptx_symbol *s)
{
    unsigned same = 0;
    for (uint32_t i = 0; i < m->nglobals; i++)
        same += m->globals[i]->at.off == s->at.off;
    return same == 1;
}

static void change_variable(struct merge *g, const struct ptx_module *m, const struct ptx_symbol *s)
{
    struct name *n = (struct name *)(uintptr_t)find(g, s->name);
    if (!n || !n->s || s->linkage == LINK_NONE || s->kind != SYM_VAR || !alone(m, s) ||
        !alone(n->m, n->s) || n->s->nreloc)
        return;
    if (n->told)
        change(g, s->at.off, s->at.len, str_of(""));
    else if (n->s != s)
        change(g, s->at.off, s->at.len, ptx_text(n->m, n->s->at));
    n->told = true;
}

/* ---- local names, files, sections: by a walk over the text ---- */
static bool number_name(struct merge *g, struct str word, size_t k, struct str *to)
{
    const struct name *n = find(g, word);
    if (!n || !n->local || n->modules < 2 || (!k && !n->m))
        return false;
    char *s = arena_printf(g->a, "%.*s__%zu", (int)word.n, word.s, k + 1);
    *to = str_of(s ? s : "");
    return true;
}

/* Is the name local to module k? */
static bool local_in(const struct ptx_module *m, struct str name)
{
    const struct ptx_func *f = ptx_find_func(m, name);
    const struct ptx_symbol *s = ptx_find_global(m, name);
    return f ? !shared_func(f) : s && s->linkage == LINK_NONE;
}

static const char *skip_quiet(const char *c, const char *end)
{
    const char *e;
    if (*c == '"') {
        for (e = c + 1; e < end && *e != '"' && *e != '\n';)
            e++;
        return e < end ? e + 1 : e;
    }
    if (*c == '/' && c + 1 < end && c[1] == '/') {
        e = memchr(c, '\n', (size_t)(end - c));
        return e ? e : end;
    }
    if (*c == '/' && c + 1 < end && c[1] == '*') {
        for (e = c + 2; e + 1 < end && !(*e == '*' && e[1] == '/');)
            e++;
        return e + 1 < end ? e + 2 : end;
    }
    return c;
}

/* .section .debug_str { ... }, from its '.' on; where it ends */
static const char *section_end(const char *c, const char *end)
{
    size_t depth = 0;
    for (; c < end; c++) {
        const char *q = skip_quiet(c, end);
        if (q > c) {
            c = q - 1;
            continue;
        }
        depth += *c == '{';
        if (*c == '}' && !--depth)
            return c + 1;
    }
    return end;
}

static void number_file(struct merge *g, const struct ptx_module *m, const char *digits)
{
    const char *e = digits;
    while (*e == ' ' || *e == '\t')
        e++;
    unsigned long v = strtoul(e, NULL, 10);
    const char *s = e;
    while (ptx_is(*e, CH_DIGIT))
        e++;
    char *text = arena_printf(g->a, "%lu", v + g->files);
    if (e > s && g->files)
        change(g, (uint32_t)(s - m->text.s), (uint32_t)(e - s), str_of(text ? text : ""));
}

/* .loc keeps its place and loses the names of inlined functions, whose section is left out. */
static const char *cut_loc(struct merge *g, const struct ptx_module *m, const char *c, const char *end)
{
    const char *comma = c, *e = c;
    while (e < end && *e != '\n' && *e != ';' && *e != '}')
        e++;
    while (comma < e && *comma != ',')
        comma++;
    if (comma < e)
        change(g, (uint32_t)(comma - m->text.s), (uint32_t)(e - comma), str_of(""));
    return comma;
}

static const char *dot_word(struct merge *g, const struct ptx_module *m, const char *c, const char *end)
{
    const char *e = c + 1;
    while (e < end && ptx_is(*e, CH_START | CH_DIGIT))
        e++;
    struct str w = { c + 1, (size_t)(e - c - 1) };
    if (str_is(w, "section")) {
        e = section_end(c, end);
        change(g, (uint32_t)(c - m->text.s), (uint32_t)(e - c), str_of(""));
    } else if (str_is(w, "file")) {
        number_file(g, m, e);
    } else if (str_is(w, "loc")) {
        number_file(g, m, e);
        e = cut_loc(g, m, e, end);
    }
    return e;
}

static void walk(struct merge *g, size_t k)
{
    const struct ptx_module *m = g->m[k];
    const char *end = m->text.s + m->text.n;
    for (const char *c = m->text.s; c < end;) {
        const char *q = skip_quiet(c, end);
        if (q > c) {
            c = q;
        } else if (*c == '.' && c + 1 < end && ptx_is(c[1], CH_START)) {
            c = dot_word(g, m, c, end);
        } else if (ptx_is(*c, CH_START)) {
            struct str to, word = { c, 0 };
            while (c < end && ptx_is(*c, CH_START | CH_DIGIT))
                c++;
            word.n = (size_t)(c - word.s);
            if (*c != '.' && number_name(g, word, k, &to) && local_in(m, word))
                change(g, (uint32_t)(word.s - m->text.s), (uint32_t)word.n, to);
        } else {
            c++;
        }
    }
}

/* ---- putting it together ---- */
static int by_place(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    return x->off != y->off ? (x->off < y->off ? -1 : 1) : x->len > y->len ? -1 : x->len < y->len;
}

/* A change inside a larger one is part of what goes. */
static void put_changed(struct merge *g, const struct ptx_module *m)
{
    uint32_t at = 0;
    qsort(g->changes.v, g->changes.n, sizeof *g->changes.v, by_place);
    for (size_t i = 0; i < g->changes.n; i++) {
        struct change *c = &g->changes.v[i];
        if (c->off < at)
            continue;
        buf_put(g->out, m->text.s + at, c->off - at);
        buf_str(g->out, c->text);
        at = c->off + c->len;
    }
    buf_put(g->out, m->text.s + at, m->text.n - at);
    buf_puts(g->out, "\n");
}

static const struct ptx_module *newest(const struct merge *g)
{
    const struct ptx_module *best = g->m[0];
    for (size_t i = 1; i < g->n; i++)
        if (g->m[i]->target > best->target ||
            (g->m[i]->target == best->target && g->m[i]->target_suffix && !best->target_suffix))
            best = g->m[i];
    return best;
}

static struct str header(struct merge *g)
{
    uint32_t version = 0;
    const struct ptx_module *t = newest(g);
    for (size_t i = 0; i < g->n; i++)
        version = g->m[i]->version > version ? g->m[i]->version : version;
    char *s = arena_printf(g->a, ".version %u.%u\n.target %.*s\n.address_size %u", version / 10,
                           version % 10, (int)t->target_text.n, t->target_text.s, t->address_size);
    return str_of(s ? s : "");
}

static void put_module(struct merge *g, size_t k)
{
    const struct ptx_module *m = g->m[k];
    g->changes.n = 0;
    change(g, m->header.off, m->header.len, k ? str_of("") : header(g));
    if (k)
        buf_printf(g->out, "// ---- %s ----\n", m->path);
    for (uint32_t i = 0, v = 0; i < m->nfuncs || v < m->nglobals;) {
        bool var = v < m->nglobals && (i >= m->nfuncs || m->globals[v]->at.off < m->funcs[i]->at.off);
        if (var)
            change_variable(g, m, m->globals[v++]);
        else
            change_func(g, m, m->funcs[i++]);
    }
    walk(g, k);
    put_changed(g, m);
    g->files += m->nfiles;
}

/* ---- what is missing ---- */
static const struct ptx_func *needs(const struct ptx_module *m, struct str name, struct span *at)
{
    for (uint32_t k = 0; k < m->nfuncs; k++)
        for (uint32_t i = 0; i < m->funcs[k]->ninsts; i++) {
            const struct ptx_inst *x = &m->funcs[k]->insts[i];
            for (unsigned o = 0; o < x->nopnds; o++)
                if ((x->opnds[o].kind == OPND_SYM ||
                     (x->opnds[o].kind == OPND_ADDR && x->opnds[o].base == BASE_SYM)) &&
                    x->opnds[o].sym && str_eq(x->opnds[o].sym->name, name)) {
                    *at = x->at;
                    return m->funcs[k];
                }
        }
    return NULL;
}

static void tell_missing(struct merge *g, const struct name *n)
{
    struct span at;
    for (size_t i = 0; i < g->n; i++) {
        const struct ptx_func *f = needs(g->m[i], n->name, &at);
        char label[PTX_LABEL], who[PTX_LABEL];
        if (!f)
            continue;
        char *full = arena_dup(g->a, n->name), *user = arena_dup(g->a, f->name);
        struct diag *d = diag_add(g->ds, DIAG_ERROR, "ptx-undefined-reference", g->m[i]->path, at,
                                  "'%s' is not defined in any of these files; '%s' needs it",
                                  full ? ptx_label(full, label) : "", user ? ptx_label(user, who) : "");
        diag_source(d, g->m[i]->text);
        diag_hint(
            d,
            "add the file that defines it (nvcc -rdc=true --keep leaves one PTX file for each source)");
        return;
    }
}

static void find_missing(struct merge *g)
{
    for (size_t i = 0; i < g->v.n; i++) {
        struct name *n = &g->v.v[i];
        bool shared = false;
        for (size_t k = 0; !n->m && !n->local && !n->func && k < g->n; k++) {
            const struct ptx_symbol *s = ptx_find_global(g->m[k], n->name);
            shared |= s && (s->space == PTX_SPACE_SHARED || s->kind != SYM_VAR);
        }
        if (!n->m && !n->local && !shared && !ptx_link_runtime(n->name))
            tell_missing(g, n);
    }
}

static enum status check(struct merge *g)
{
    size_t errors = g->ds ? g->ds->errors : 0;
    struct diags notes = { 0 };
    enum status st = ptx_link_check(g->m, g->n, &notes);
    for (size_t i = 0; i < notes.n; i++)
        if (notes.v[i].level != DIAG_ERROR)
            notes.v[i].level = DIAG_NOTE;
    if (st != ST_OK)
        diags_move(g->ds, &notes);
    diags_free(&notes);
    for (size_t i = 1; st == ST_OK && i < g->n; i++)
        if (g->m[i]->address_size != g->m[0]->address_size) {
            diag_add(g->ds, DIAG_ERROR, "ptx-link", g->m[i]->path, g->m[i]->header,
                     "addresses have %u bits here and %u in %s", g->m[i]->address_size,
                     g->m[0]->address_size, g->m[0]->path);
            st = ST_INPUT;
        }
    if (st == ST_OK)
        find_missing(g);
    return st != ST_OK ? st : g->ds && g->ds->errors != errors ? ST_INPUT : ST_OK;
}

static enum status merged(struct merge *g, struct ptx_module **out)
{
    struct buf text = { 0 }, path = { 0 };
    g->out = &text;
    for (size_t k = 0; k < g->n; k++) {
        put_module(g, k);
        buf_printf(&path, "%s%s", k ? PTX_LINK_PLUS : "", g->m[k]->path);
    }
    enum status st = g->oom || text.oom || path.oom || arena_failed(g->a)
                         ? ST_NOMEM
                         : ptx_parse(path.s, (struct str){ text.s, text.n }, out, g->ds);
    buf_free(&text);
    buf_free(&path);
    return st;
}

enum status ptx_link(const struct ptx_link_input *in, size_t n, struct ptx_module **out,
                     struct diags *ds)
{
    struct merge g = { .ds = ds };
    enum status st = ST_OK;
    *out = NULL;
    if (n == 1)
        return ptx_parse(in[0].name, (struct str){ in[0].text, in[0].length }, out, ds);
    g.a = arena_new(0);
    g.m = base_alloc((n + 1) * sizeof *g.m);
    if (!g.a || !g.m)
        st = ST_NOMEM;
    for (; st == ST_OK && g.n < n; g.n++)
        st = ptx_parse(in[g.n].name, (struct str){ in[g.n].text, in[g.n].length }, &g.m[g.n], ds);
    for (size_t i = 0; st == ST_OK && i < n; i++)
        gather(&g, g.m[i]);
    if (st == ST_OK)
        st = g.oom ? ST_NOMEM : check(&g);
    if (st == ST_OK)
        st = merged(&g, out);
    for (size_t i = 0; g.m && i < g.n; i++)
        ptx_free(g.m[i]);
    BASE_FREE(g.m, g.v.v, g.changes.v);
    strmap_free(&g.map);
    arena_free(g.a);
    return st;
}
