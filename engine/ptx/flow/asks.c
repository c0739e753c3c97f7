/* Shared memory of a CTA: variables in the order of their declarations, each at its alignment, the
 * dynamic ones behind them at 16 bytes or more. */
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/ptx.h"

#define DYNAMIC_ALIGN 16u

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return unit ? (n + unit - 1) / unit * unit : n;
}

uint64_t ptx_shared_place(struct ptx_shared *s, const struct ptx_symbol *v)
{
    if (v->unsized) {
        s->unsized = true;
        s->align = v->align > s->align ? v->align : s->align;
        return UINT64_MAX;
    }
    uint64_t at = round_up(s->bytes, v->align);
    s->bytes = at + v->bytes;
    return at;
}

uint64_t ptx_shared_end(const struct ptx_shared *s)
{
    return s->unsized ? round_up(s->bytes, s->align > DYNAMIC_ALIGN ? s->align : DYNAMIC_ALIGN)
                      : s->bytes;
}

static bool names(const struct ptx_operand *o, const struct ptx_symbol *v)
{
    bool found = (o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM)) && o->sym == v;
    for (uint16_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && !found && k < o->nelem; k++)
        found = names(&o->elem[k], v);
    return found;
}

static bool function_names(const struct ptx_func *f, const struct ptx_symbol *v)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nopnds; k++)
            if (names(&f->insts[i].opnds[k], v))
                return true;
    return false;
}

bool ptx_shared_counts(const struct ptx_module *m, const struct ptx_func *kernel,
                       const struct ptx_symbol *v)
{
    if (v->func || v->unsized)
        return true;
    for (uint32_t k = 0; k < m->nfuncs; k++)
        if ((!m->funcs[k]->entry || m->funcs[k] == kernel) && function_names(m->funcs[k], v))
            return true;
    return false;
}

static void place_all(struct ptx_shared *s, struct ptx_symbol *const *v, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (v[k]->space == PTX_SPACE_SHARED)
            ptx_shared_place(s, v[k]);
}

struct ptx_shared ptx_shared_of(const struct ptx_module *m, const struct ptx_func *kernel)
{
    struct ptx_shared s = { 0 };
    const struct ptx_func **list = base_alloc(sizeof *list * (m->nfuncs + 1));
    uint32_t *place = base_alloc(sizeof *place * (m->nfuncs + 1));
    uint32_t n = list && place ? ptx_reachable(m, kernel, list, place) : 0;
    for (uint32_t k = 0; k < m->nglobals; k++)
        if (ptx_shared_counts(m, kernel, m->globals[k]))
            place_all(&s, &m->globals[k], 1);
    for (uint32_t k = 0; k < n; k++)
        place_all(&s, list[k]->vars, list[k]->nvars);
    for (uint32_t k = 0; !n && k < m->nfuncs; k++) /* out of memory: too many rather than too few */
        if (!m->funcs[k]->entry || m->funcs[k] == kernel)
            place_all(&s, m->funcs[k]->vars, m->funcs[k]->nvars);
    s.bytes = ptx_shared_end(&s);
    BASE_FREE(list, place);
    return s;
}

static uint64_t count_of(const struct dim_directive *n)
{
    return (uint64_t)n->x * (n->y ? n->y : 1) * (n->z ? n->z : 1);
}

uint64_t ptx_threads_of(const struct ptx_func *kernel)
{
    return count_of(kernel->reqntid.x ? &kernel->reqntid : &kernel->maxntid);
}

uint64_t ptx_cluster_of(const struct ptx_func *kernel)
{
    return kernel->reqnctapercluster.x ? count_of(&kernel->reqnctapercluster) : 1;
}
