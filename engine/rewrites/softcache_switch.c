/* --softcache dynamic: at which loops a thread may go over to the body with lines. */
#include "engine/pass/copies.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/softcache_int.h"

static bool meets(const struct ptx_inst *i)
{
    return ptx_effect_of(i) == EFFECT_BARRIER || ptx_effect_of(i) == EFFECT_WARP ||
           ptx_is(i, IS_WARPGROUP);
}

static bool calls_or_meets(const struct ptx_inst *i)
{
    return meets(i) || ptx_effect_of(i) == EFFECT_CALL;
}

void soft_find_meetings(struct soft *s)
{
    struct pass_funcs fs;
    pass_callees(s->c, &fs);
    s->callees_meet = fs.unknown;
    for (uint32_t k = 0; k < fs.n; k++)
        s->callees_meet |=
            pass_find_effect(fs.v[k], EFFECT_BARRIER) || pass_find_effect(fs.v[k], EFFECT_WARP);
    s->together = s->callees_meet || pass_find_effect(s->c->f, EFFECT_BARRIER) ||
                  pass_find_effect(s->c->f, EFFECT_WARP) || copies_warpgroup(s->c->f, &fs);
}

bool soft_loop_has_access(const struct soft *s, const struct ptx_loop *l)
{
    for (uint32_t b = 0; b < l->nblocks; b++) {
        const struct ptx_block *k = &s->flow.cfg->blocks[l->blocks[b]];
        for (uint32_t i = k->first; i < k->first + k->n; i++)
            if (s->access[i].kind == SOFT_OWN && soft_uses(s, s->access[i].own))
                return true;
    }
    return false;
}

bool soft_can_switch(const struct soft *s, uint32_t loop)
{
    const struct ptx_loop *l = &s->flow.cfg->loops[loop];
    return !l->irreducible && !copies_inner_variable(s->c->f) && soft_loop_has_access(s, l) &&
           (!s->together ||
            pass_goes_together(&s->flow, l->header, s->callees_meet ? calls_or_meets : meets));
}
