/* Contraction before decoding: a copy of the function in which an add that takes a product unrounded is
 * an fma, and a mul that nothing else uses is nothing.
 *
 *   mul.f32 %p, %a, %b                 (nothing)
 *   sub.f32 %d, %c, %p         ->      fma.rn.f32 %d, -%a, %b, %c
 *
 * The sign stands in the operand (ptx_operand.neg), which no PTX text can have. */
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/facts/contract.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/sim_int.h"

#include <string.h>

struct written {
    const struct ptx_inst *mul;
    bool found;
};
static void look_at(void *ctx, uint32_t reg, unsigned access)
{
    struct written *w = ctx;
    for (unsigned m = 1; m < 3; m++)
        w->found |=
            access & PTX_WRITE && w->mul->opnds[m].kind == OPND_REG && w->mul->opnds[m].index == reg;
}

/* Do the factors still stand in their registers where the add is? Compilers write each register once. */
static bool factors_stay(const struct ptx_func *f, const struct ptx_contracted *x, uint32_t add)
{
    uint32_t mul = x[add].mul;
    struct written w = { &f->insts[mul], mul > add };
    for (uint32_t i = mul; i < add && !w.found; i++)
        if (!x[i].dropped)
            ptx_inst_regs(&f->insts[i], look_at, &w);
    return !w.found;
}

/* What lanes.def has a row for. */
static bool has_row(const struct ptx_inst *add)
{
    bool ftz = ptx_has_mod(add, PTX_MOD_FTZ);
    return !ptx_has_mod(add, PTX_MOD_SAT) && (!ftz || add->type[0] == PTX_T_F32);
}

/* Adds that cannot be made so here keep their product: then the mul stays, and may overwrite a factor.
 */
struct keeping {
    const struct ptx_func *f;
    struct ptx_contracted *x;
};

static void keep_step(void *ctx, struct ptx_solver *s, uint32_t i)
{
    struct keeping *k = ctx;
    struct ptx_contracted *x = k->x;
    if (x[i].mul == PTX_NO_INDEX || (has_row(&k->f->insts[i]) && factors_stay(k->f, x, i)))
        return;
    x[x[i].mul].dropped = false;
    x[i].mul = PTX_NO_INDEX;
    ptx_ask_all(s);
}

static bool make_fma(struct decode *d, const struct ptx_inst *mul, const struct ptx_contracted *x,
                     struct ptx_inst *add)
{
    struct ptx_operand *o = ARENA_ARRAY(d->p->arena, struct ptx_operand, 4);
    if (!o)
        return false;
    o[0] = add->opnds[0];
    o[1] = mul->opnds[1];
    o[2] = mul->opnds[2];
    o[3] = add->opnds[x->operand == 1 ? 2 : 1];
    o[1].neg = x->neg_product;
    o[3].neg = x->neg_addend;
    add->op = PTX_OP_FMA;
    add->opnds = o;
    add->nopnds = 4;
    return true;
}

const struct ptx_func *decode_contract(struct decode *d, const struct ptx_func *f)
{
    struct ptx_cfg *c = ptx_cfg_build(f);
    struct ptx_contracted *x = c ? ptx_contract(c) : NULL;
    struct ptx_func *copy = ARENA_ARRAY(d->p->arena, struct ptx_func, 1);
    struct ptx_inst *insts = ARENA_ARRAY(d->p->arena, struct ptx_inst, f->ninsts + 1);
    bool ok = x && copy && insts;
    if (ok) {
        if (f->ninsts)
            memcpy(insts, f->insts, f->ninsts * sizeof *insts);
        ok = ptx_solve(f->ninsts, PTX_FORWARD, keep_step, &(struct keeping){ f, x });
    }
    for (uint32_t i = 0; ok && i < f->ninsts; i++) {
        if (x[i].mul != PTX_NO_INDEX)
            ok = make_fma(d, &f->insts[x[i].mul], &x[i], &insts[i]);
        if (x[i].dropped) {
            insts[i].op = PTX_OP_MOV;
            insts[i].nopnds = 0;
        }
    }
    if (ok) {
        *copy = *f;
        copy->insts = insts;
    }
    base_free(x);
    ptx_cfg_free(c);
    d->oom |= !ok;
    return ok ? copy : f;
}
