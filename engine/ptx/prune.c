/* A module's text as some of its kernels need it: what they cannot reach is left out, line ends stay. */
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

enum { GONE = 1 }; /* marks bytes that go; no byte of PTX text is one */

struct var {
    const struct ptx_symbol *sym;
    bool kept;
};
struct narrow {
    const struct ptx_module *m;
    struct var *var; /* by address of the symbol */
    bool *func;      /* by index: kept */
    const struct ptx_func **list;
    uint32_t *place; /* of ptx_reachable */
    /* variables whose initial values are to be looked at */
    const struct ptx_symbol **todo;
    uint32_t ntodo;
    char *text;
    size_t gone;
};

static int by_address(const void *a, const void *b)
{
    const struct ptx_symbol *x = ((const struct var *)a)->sym, *y = ((const struct var *)b)->sym;
    return (x > y) - (x < y);
}

static void keep_symbol(struct narrow *n, const struct ptx_symbol *s)
{
    struct var key = { s, false }, *v = bsearch(&key, n->var, n->m->nglobals, sizeof key, by_address);
    if (!v || v->kept)
        return;
    v->kept = true;
    n->todo[n->ntodo++] = s;
}

static void keep_operand(struct narrow *n, const struct ptx_operand *o)
{
    if (o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM))
        keep_symbol(n, o->sym);
    for (uint32_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem; k++)
        keep_operand(n, &o->elem[k]); /* lists hold no lists of lists */
}

static void keep_function(struct narrow *n, const struct ptx_func *f)
{
    if (!f->def || n->func[f->def->index])
        return;
    uint32_t count = ptx_reachable(n->m, f, n->list, n->place);
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_func *g = n->list[i];
        if (n->func[g->index])
            continue;
        n->func[g->index] = true;
        for (uint32_t k = 0; k < g->ninsts; k++)
            for (unsigned o = 0; o < g->insts[k].nopnds; o++)
                keep_operand(n, &g->insts[k].opnds[o]);
        for (uint32_t v = 0; v < g->nvars; v++)
            for (uint32_t r = 0; r < g->vars[v]->nreloc; r++)
                keep_symbol(n, g->vars[v]->reloc[r].sym);
    }
}

/* What the initial values of kept variables name is kept. */
static void keep_values(struct narrow *n)
{
    while (n->ntodo) {
        const struct ptx_symbol *s = n->todo[--n->ntodo];
        for (uint32_t k = 0; k < s->nreloc; k++)
            if (s->reloc[k].sym->kind == SYM_FUNC)
                keep_function(n, s->reloc[k].sym->func);
            else
                keep_symbol(n, s->reloc[k].sym);
    }
}

/* Columns of what is kept must stay, so a declaration that shares its last line with more stays whole.
 */
static void drop(struct narrow *n, struct span at)
{
    const char *s = n->m->text.s;
    size_t end = at.off + (size_t)at.len, rest = end;
    while (rest < n->m->text.n && (s[rest] == ' ' || s[rest] == '\t' || s[rest] == '\r'))
        rest++;
    if (rest < n->m->text.n && s[rest] != '\n' && memcmp(s + rest, "//", 2) != 0)
        return;
    for (size_t i = at.off; i < end; i++)
        if (s[i] != '\n' && n->text[i] != GONE) {
            n->text[i] = GONE;
            n->gone++;
        }
}

static bool open_narrow(struct narrow *n, const struct ptx_module *m)
{
    n->m = m;
    n->var = base_alloc((m->nglobals + 1) * sizeof *n->var);
    n->func = base_alloc((m->nfuncs + 1) * sizeof *n->func);
    n->list = base_alloc((m->nfuncs + 1) * sizeof *n->list);
    n->place = base_alloc((m->nfuncs + 1) * sizeof *n->place);
    n->todo = base_alloc((m->nglobals + 1) * sizeof *n->todo);
    n->text = base_alloc(m->text.n + 1);
    if (!n->var || !n->func || !n->list || !n->place || !n->todo || !n->text)
        return false;
    memcpy(n->text, m->text.s, m->text.n);
    for (uint32_t i = 0; i < m->nglobals; i++)
        n->var[i].sym = m->globals[i];
    qsort(n->var, m->nglobals, sizeof *n->var, by_address);
    return true;
}

static void close_narrow(struct narrow *n)
{
    BASE_FREE(n->var, n->func, n->list, n->place, n->todo, n->text);
}

static void drop_rest(struct narrow *n)
{
    for (uint32_t i = 0; i < n->m->nfuncs; i++)
        if (n->m->funcs[i]->def && !n->func[n->m->funcs[i]->def->index])
            drop(n, n->m->funcs[i]->at);
    for (uint32_t i = 0; i < n->m->nglobals; i++)
        if (!n->var[i].kept)
            drop(n, n->var[i].sym->at);
}

static enum status parse_rest(struct narrow *n, struct ptx_module **out)
{
    struct diags none = { 0 };
    size_t w = 0;
    for (size_t i = 0; i < n->m->text.n; i++)
        if (n->text[i] != GONE)
            n->text[w++] = n->text[i];
    enum status st = ptx_parse(n->m->path, (struct str){ n->text, w }, out, &none);
    diags_free(&none);
    if (st == ST_OK)
        return ST_OK;
    ptx_free(*out); /* it does not stand by itself: the whole is used */
    *out = NULL;
    return st == ST_NOMEM ? ST_NOMEM : ST_OK;
}

enum status ptx_narrow(const struct ptx_module *m, const struct str *keep, size_t nkeep,
                       struct ptx_module **out)
{
    struct narrow n = { 0 };
    enum status st = ST_OK;
    *out = NULL;
    if (m->tied || m->nopaque)
        return ST_OK;
    if (!open_narrow(&n, m)) {
        close_narrow(&n);
        return ST_NOMEM;
    }
    for (size_t i = 0; i < nkeep; i++) {
        const struct ptx_func *f = ptx_find_func(m, keep[i]);
        const struct ptx_symbol *s = ptx_find_global(m, keep[i]);
        if (f)
            keep_function(&n, f);
        if (s)
            keep_symbol(&n, s);
    }
    keep_values(&n);
    drop_rest(&n);
    if (n.gone > m->text.n / 4)
        st = parse_rest(&n, out);
    close_narrow(&n);
    return st;
}
