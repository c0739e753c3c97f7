/* Slices made and given back. */
#include "engine/analysis/slice/slice.h"

#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

static bool makes_maps(const struct ptx_module *m)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t i = 0; i < m->funcs[f]->ninsts; i++)
            if (ptx_is(&m->funcs[f]->insts[i], IS_TENSORMAP))
                return true;
    return false;
}
enum status slice_make(struct env *v, struct slice_site *site, uint32_t nsites, struct slice **out)
{
    struct slice *s = base_alloc(sizeof *s);
    *out = s;
    if (!s)
        return ST_NOMEM;
    s->arena = arena_new(0);
    s->v = v;
    s->site = site;
    s->nsites = nsites;
    if (!s->arena || !slice_find_funcs(s))
        return ST_NOMEM;
    s->copy = base_alloc(sizeof *s->copy * (v->nregions + 1));
    if (!slice_mark_needed(s))
        return s->status = ST_NOMEM;
    s->status = slice_machine_make(s);
    if (s->ends_waits && !s->refused &&
        (s->reads[PTX_SPACE_SHARED] || s->reads[PTX_SPACE_SHARED_CLUSTER] ||
         s->reads[PTX_SPACE_GENERIC]))
        s->refused = "shared memory that is read after a wait for an mbarrier";
    s->makes_maps = makes_maps(v->e->module);
    if (!slice_spread_taint(s))
        s->status = ST_NOMEM;
    s->order_dependent = s->global_writes;
    for (uint32_t k = 0; s->copy && k < v->nregions;
         k++) /* zero-filled variables: made here, so that reading never allocates */
        if (!v->region[k].bytes && !v->region[k].of && v->region[k].size &&
            !(s->copy[k].bytes = base_alloc(v->region[k].size)))
            s->status = ST_NOMEM;
    if (!s->copy || arena_failed(s->arena))
        s->status = ST_NOMEM;
    return s->status;
}
void slice_free(struct slice *s)
{
    if (!s)
        return;
    slice_machine_free(s->machine);
    for (uint32_t k = 0; s->copy && k < s->v->nregions; k++) {
        launch_view_free(s->copy[k].view);
        base_free(s->copy[k].bytes);
    }
    base_free(s->copy);
    arena_free(s->arena);
    base_free(s);
}
