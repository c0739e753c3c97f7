/* The functions of a slice: the kernel, and what it calls. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

struct slice_func *slice_callee(struct slice *s, const struct ptx_inst *i)
{
    struct eval_call c = eval_call_parts(i);
    const struct ptx_func *g = eval_callee(&c);
    return g ? s->of[g->index] : NULL;
}

static bool has_odd_loop(const struct ptx_cfg *c)
{
    for (uint32_t k = 0; k < c->nloops; k++)
        if (c->loops[k].irreducible)
            return true;
    return false;
}

static bool add_func(struct slice *s, const struct ptx_func *g)
{
    struct slice_func *f = &s->f[s->nf];
    const struct ptx_cfg *c = ptx_cfg_of(g);
    *f = (struct slice_func){ .func = g, .index = g->index };
    f->nvars = g->nregs + eval_cell_count(g);
    f->needed = ARENA_ARRAY(s->arena, uint8_t, f->nvars + g->ninsts + 1);
    f->tainted = ARENA_ARRAY(s->arena, uint8_t, f->nvars + 1);
    f->site = ARENA_ARRAY(s->arena, int32_t, g->ninsts + 1);
    if (!c || arena_failed(s->arena))
        return false;
    f->odd_loop = has_odd_loop(c);
    memset(f->site, 0xff, g->ninsts * sizeof *f->site);
    s->nf++;
    s->of[g->index] = f;
    for (uint32_t v = g->nregs; v < f->nvars; v++)
        f->needed[v] = 1; /* cells: calls are rare, pass everything */
    for (uint32_t k = 0; k < g->nrets; k++) {
        uint32_t reg =
            g->rets[k]->space == PTX_SPACE_REG ? ptx_find_reg(g, g->rets[k]->name) : PTX_NO_INDEX;
        if (reg != PTX_NO_INDEX)
            f->needed[reg] = 1;
    }
    return true;
}

bool slice_find_funcs(struct slice *s)
{
    s->f = ARENA_ARRAY(s->arena, struct slice_func, s->v->e->module->nfuncs + 1);
    s->of = ARENA_ARRAY(s->arena, struct slice_func *, s->v->e->module->nfuncs + 1);
    if (!s->f || !s->of || !add_func(s, s->v->e->kernel))
        return false;
    for (uint32_t k = 0; k < s->nf; k++)
        for (uint32_t i = 0; i < s->f[k].func->ninsts; i++) {
            const struct ptx_inst *in = &s->f[k].func->insts[i];
            if (ptx_effect_of(in) != EFFECT_CALL || slice_callee(s, in))
                continue;
            struct eval_call c = eval_call_parts(in);
            const struct ptx_func *g = eval_callee(&c);
            if (g && g->has_body && !add_func(s, g))
                return false;
        }
    for (uint32_t k = s->nsites; k-- > 0;)
        if (s->of[s->site[k].func])
            s->of[s->site[k].func]->site[s->site[k].inst] = (int32_t)k;
    return true;
}
