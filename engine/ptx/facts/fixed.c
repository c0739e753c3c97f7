#include "engine/ptx/facts/fixed.h"

#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

struct fixing {
    const struct ptx_cfg *g;
    bool *fixed;
};

static bool is_own_param(const struct ptx_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *o = i->nopnds > 1 ? &i->opnds[1] : NULL;
    return f->entry && ptx_is_param_load(i) && o && o->kind == OPND_ADDR && o->base == BASE_SYM &&
           o->sym && o->sym->stmt == PTX_NO_INDEX;
}

static void step(void *ctx, struct ptx_solver *s, uint32_t n)
{
    struct fixing *x = ctx;
    const struct ptx_func *f = x->g->func;
    const struct ptx_inst *i = &f->insts[n];
    bool so = !i->guarded && !(ptx_sees(i) & ~(unsigned)(PTX_SEES_BLOCK | PTX_SEES_GRID)) &&
              (is_own_param(f, i) || (ptx_is_pure(i) && ptx_effect_of(i) == EFFECT_NONE));
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        so &= x->fixed[r.reg];
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        so &= x->g->regs[r.reg].ndefs == 1;
    if (!so)
        return;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        if (!x->fixed[r.reg])
            ptx_ask_each(s, x->g->regs[r.reg].uses, x->g->regs[r.reg].nuses);
        x->fixed[r.reg] = true;
    }
}

bool *ptx_fixed(const struct ptx_cfg *g)
{
    struct fixing x = { .g = g, .fixed = base_alloc(g->func->nregs + 1) };
    if (x.fixed && (!g->func->entry || ptx_solve(g->func->ninsts, PTX_FORWARD, step, &x)))
        return x.fixed;
    base_free(x.fixed);
    return NULL;
}
