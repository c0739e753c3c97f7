#include "engine/ptx/facts/fixed.h"

#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

struct fixing {
    const struct ptx_cfg *g;
    bool *fixed;
    bool so; /* all that was looked at is */
};

static void look_read(void *ctx, uint32_t reg, unsigned access)
{
    struct fixing *x = ctx;
    x->so &= !(access & PTX_READ) || x->fixed[reg];
}

static void look_written(void *ctx, uint32_t reg, unsigned access)
{
    struct fixing *x = ctx;
    x->so &= !(access & PTX_WRITE) || x->g->regs[reg].ndefs == 1;
}

static bool is_own_param(const struct ptx_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *o = i->nopnds > 1 ? &i->opnds[1] : NULL;
    return f->entry && ptx_is_param_load(i) && o && o->kind == OPND_ADDR && o->base == BASE_SYM &&
           o->sym && o->sym->stmt == PTX_NO_INDEX;
}

static void set_written(void *ctx, uint32_t reg, unsigned access)
{
    struct fixing *x = ctx;
    x->fixed[reg] |= (access & PTX_WRITE) != 0;
}

static void step(void *ctx, struct ptx_solver *s, uint32_t n)
{
    struct fixing *x = ctx;
    const struct ptx_func *f = x->g->func;
    const struct ptx_inst *i = &f->insts[n];
    x->so = !i->guarded && !(ptx_sees(i) & ~(unsigned)(PTX_SEES_BLOCK | PTX_SEES_GRID)) &&
            (is_own_param(f, i) || (ptx_is_pure(i) && ptx_effect_of(i) == EFFECT_NONE));
    ptx_inst_regs(i, look_read, x);
    ptx_inst_regs(i, look_written, x);
    if (!x->so)
        return;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind != OPND_REG || !(o->access & PTX_WRITE) || x->fixed[o->index])
            continue;
        ptx_ask_each(s, x->g->regs[o->index].uses, x->g->regs[o->index].nuses);
    }
    ptx_inst_regs(i, set_written, x);
}

bool *ptx_fixed(const struct ptx_cfg *g)
{
    struct fixing x = { .g = g, .fixed = base_alloc(g->func->nregs + 1) };
    if (x.fixed && (!g->func->entry || ptx_solve(g->func->ninsts, PTX_FORWARD, step, &x)))
        return x.fixed;
    base_free(x.fixed);
    return NULL;
}
