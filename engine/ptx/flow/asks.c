/* Shared memory of a CTA: variables in the order of their declarations, each at its alignment, the
 * dynamic ones behind them at 16 bytes or more. */
#include "engine/ptx/flow/asks.h"
#include "engine/base/base.h"
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
    place_all(&s, m->globals, m->nglobals);
    for (uint32_t k = 0; k < n; k++)
        place_all(&s, list[k]->vars, list[k]->nvars);
    for (uint32_t k = 0; !n && k < m->nfuncs; k++) /* out of memory: too many rather than too few */
        if (!m->funcs[k]->entry || m->funcs[k] == kernel)
            place_all(&s, m->funcs[k]->vars, m->funcs[k]->nvars);
    s.bytes = ptx_shared_end(&s);
    base_free(list);
    base_free(place);
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
