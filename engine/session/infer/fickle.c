/* Values that differ from run to run: what comes from the clock, from the number of the SM or of the
 * place in it, or from the launch itself. A buffer that only such values are stored into is no output to
 * compare. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/infer/infer.h"

static bool fickle_sreg(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG &&
           ptx_sreg_sees((enum ptx_sreg)o->index) & (PTX_SEES_TIME | PTX_SEES_PLACE | PTX_SEES_LAUNCH);
}

static bool reads_fickle(const bool *fickle, const struct ptx_inst *i, unsigned from)
{
    for (unsigned k = from; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (fickle_sreg(o) || (o->kind == OPND_REG && fickle[o->index]) ||
            (o->kind == OPND_ADDR && o->base == BASE_REG && fickle[o->index]))
            return true;
    }
    return false;
}

struct following {
    const struct ptx_func *f;
    bool *fickle; /* by register */
};

static void fickle_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct following *x = ctx;
    const struct ptx_inst *i = &x->f->insts[inst];
    if (!i->nopnds || i->opnds[0].kind != OPND_REG || x->fickle[i->opnds[0].index] ||
        !reads_fickle(x->fickle, i, 1))
        return;
    x->fickle[i->opnds[0].index] = true;
    ptx_ask_all(s);
}

bool infer_fickle(struct guess *g)
{
    bool *fickle = base_alloc((g->f->nregs + 1) * sizeof *fickle);
    struct following x = { g->f, fickle };
    if (!fickle || !ptx_solve(g->f->ninsts, PTX_FORWARD, fickle_step, &x)) {
        base_free(fickle);
        return false;
    }
    for (unsigned round = 0; round < 2; round++) /* one store that is not makes a buffer an output */
        for (uint32_t k = 0; k < g->facts->naccess; k++) {
            const struct ana_access *a = &g->facts->access[k];
            if (!a->store || a->param < 0 || (uint32_t)a->param >= g->f->nparams)
                continue;
            bool is = a->func == g->f->index && reads_fickle(fickle, &g->f->insts[a->inst], 0);
            struct param_use *u = &g->use[a->param];
            u->fickle = round ? u->fickle && is : u->fickle || is;
        }
    base_free(fickle);
    return true;
}
