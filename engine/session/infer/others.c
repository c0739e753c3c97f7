/* Other launches that a checked kernel should bear as its guess does: another block, sizes that leave the last CTA with
 * threads on the far side of a bound. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/session/infer/infer.h"
#include "engine/session/infer/others.h"
#include "engine/session/launch_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 1024, LANES = 32 };

static enum status start(const struct launch_spec *l, struct infer_other *o)
{
    *o = (struct infer_other){ 0 };
    return launch_copy(l, &o->l);
}

/* ---- another block, of a kernel that asks for its size; no CTA more, since buffers may have an element for each ---- */
static bool resize(const struct guess *g, struct launch_spec *l, bool larger)
{
    const struct dim_directive *m = &g->f->maxntid;
    uint32_t most = m->x ? m->x * m->y * m->z : MOST_THREADS;
    if (l->block.y * l->block.z > 1 ||
        (larger ? l->grid.x % 2 || l->block.x * 2 > most : l->block.x % 2 || l->block.x < 2 * LANES))
        return false;
    l->block.x = larger ? l->block.x * 2 : l->block.x / 2;
    l->grid.x = larger ? l->grid.x / 2 : l->grid.x;
    return true;
}

static enum status other_block(const struct guess *g, const struct launch_spec *l, bool larger,
                               struct infer_other *out, size_t *n)
{
    enum status s = start(l, &out[*n]);
    bool fits = s == ST_OK && resize(g, &out[*n].l, larger);
    snprintf(out[*n].what, sizeof out[*n].what, "block %ux1x1", out[*n].l.block.x);
    if (fits)
        ++*n;
    else
        launch_spec_free(&out[*n].l);
    return s;
}

/* ---- the far side of a bound ---- */
static int64_t integer_of(const struct arg_spec *a)
{
    int64_t v = 0;
    if (a->kind != ARG_SCALAR || elem_is_float(a->elem))
        return 0;
    memcpy(&v, a->scalar, elem_size(a->elem));
    return v;
}

/* The size that guards which threads work; 0: there is none, or several. */
static int64_t guarding_size(const struct guess *g, const struct launch_spec *l)
{
    int64_t found = 0;
    for (size_t i = 0; i < l->nargs && i < g->f->nparams; i++) {
        unsigned by = infer_bounds_of(g, infer_param_load(g, (uint32_t)i, 0));
        int64_t v = integer_of(&l->args[i]);
        if (!(by & INFER_BOUNDS_CTAS) || v < 2)
            continue;
        if (found && v != found)
            return 0;
        found = v;
    }
    return found;
}

/* Buffers of n and of n * n elements shrink with it, and indices into them: what lies behind is another
 * array's. */
static void shrink(struct launch_spec *l, int64_t n, int64_t to)
{
    for (size_t i = 0; i < l->nargs; i++) {
        struct arg_spec *a = &l->args[i];
        if (integer_of(a) == n)
            memcpy(a->scalar, &to, elem_size(a->elem));
        if (a->kind != ARG_BUFFER || arg_apart(a) || a->init.kind == INIT_ROWS)
            continue;
        uint64_t square = (uint64_t)n * (uint64_t)n;
        if (a->init.kind == INIT_PARTS && a->init.part[0].count == (uint64_t)n)
            a->init.part[0].count = (uint64_t)to; /* indices of what has shrunk */
        infer_cut(a, a->count == (uint64_t)n ? (uint64_t)to
                     : a->count == square    ? (uint64_t)to * (uint64_t)to
                                             : a->count);
        if (a->init.integral && a->init.ib == n - 1) /* indices of what has shrunk */
            a->init.ib = to - 1, a->init.b = (double)(to - 1);
    }
}

/* Half of the last CTA's threads along x lie behind the bound: rows and vectors stay aligned. */
static enum status other_size(const struct guess *g, const struct launch_spec *l,
                              struct infer_other *out, size_t *n)
{
    int64_t size = guarding_size(g, l), half = l->block.x / 2;
    enum status s = ST_OK;
    if (!half || size <= half || (s = start(l, &out[*n])) != ST_OK)
        return s;
    shrink(&out[*n].l, size, size - half);
    snprintf(out[*n].what, sizeof out[*n].what, "size %lld", (long long)(size - half));
    ++*n;
    return ST_OK;
}

enum status infer_others(const struct ana_kernel *facts, const struct launch_spec *l, bool free_block,
                         struct infer_other out[INFER_OTHERS], size_t *n)
{
    struct guess g = { .facts = facts, .f = facts->func };
    g.bounds = base_alloc((g.f->nregs + 1) * sizeof *g.bounds);
    *n = 0;
    if (!g.bounds)
        return ST_NOMEM;
    memset(g.bounds, -1, (g.f->nregs + 1) * sizeof *g.bounds);
    enum status s = other_size(&g, l, out, n);
    bool other = free_block && !g.f->reqntid.x && infer_asks_block(g.f);
    for (unsigned larger = 0; s == ST_OK && other && larger < 2; larger++)
        s = other_block(&g, l, larger, out, n);
    base_free(g.bounds);
    if (s != ST_OK)
        infer_others_free(out, *n);
    return s;
}

void infer_others_free(struct infer_other *o, size_t n)
{
    for (size_t i = 0; i < n; i++)
        launch_spec_free(&o[i].l);
}
