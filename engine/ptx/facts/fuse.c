/* fuse: what is contracted is written out.
 *
 *   mul.f32 %p, %a, %b                 (nothing)
 *   sub.f32 %d, %c, %p         ->      fma.rn.f32 %d, -%a, %b, %c
 *
 * The sign stands in the operand (ptx_operand.neg), which no PTX text can have. */
#include "engine/ptx/facts/fuse.h"

#include "engine/ptx/facts/contract.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

#include <string.h>

bool ptx_writes_factor(const struct ptx_inst *i, const struct ptx_inst *mul)
{
    bool writes = false;
    for (unsigned m = 1; m < 3; m++)
        writes |= mul->opnds[m].kind == OPND_REG && ptx_writes_reg(i, mul->opnds[m].index);
    return writes;
}

/* Do the factors still stand in their registers where the add is? Compilers write each register once. */
static bool factors_stay(const struct ptx_func *f, const struct ptx_contracted *x, uint32_t add)
{
    uint32_t mul = x[add].mul;
    bool written = mul > add;
    for (uint32_t i = mul; i < add && !written; i++)
        written = !x[i].dropped && ptx_writes_factor(&f->insts[i], &f->insts[mul]);
    return !written;
}

/* What the simulated device has an operation for (sim/decode/lanes.def). */
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

static bool make_fma(struct arena *a, const struct ptx_inst *mul, const struct ptx_contracted *x,
                     struct ptx_inst *add)
{
    struct ptx_operand *o = ARENA_ARRAY(a, struct ptx_operand, 4);
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

/* Its instructions with what x says. NULL: out of memory. */
static struct ptx_func *copy_of(const struct ptx_func *f, const struct ptx_contracted *x,
                                struct arena *a)
{
    struct ptx_func *copy = ARENA_NEW(a, struct ptx_func);
    struct ptx_inst *insts = ARENA_ARRAY(a, struct ptx_inst, f->ninsts + 1);
    if (!copy || !insts)
        return NULL;
    if (f->ninsts)
        memcpy(insts, f->insts, f->ninsts * sizeof *insts);
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (x[i].mul != PTX_NO_INDEX && !make_fma(a, &f->insts[x[i].mul], &x[i], &insts[i]))
            return NULL;
        if (x[i].dropped) {
            insts[i].op = PTX_OP_MOV;
            insts[i].nopnds = 0;
        }
    }
    *copy = *f;
    copy->insts = insts;
    copy->facts = NULL; /* nothing is known of it */
    return copy;
}

/* What of the contraction is done here: a copy, base_free. NULL: out of memory. */
static struct ptx_contracted *kept_steps(const struct ptx_func *f, const struct ptx_contracted *all)
{
    struct ptx_contracted *x = base_alloc((f->ninsts + 1) * sizeof *x);
    if (!x)
        return NULL;
    if (f->ninsts)
        memcpy(x, all, f->ninsts * sizeof *x);
    if (ptx_solve(f->ninsts, PTX_FORWARD, keep_step, &(struct keeping){ f, x }))
        return x;
    base_free(x);
    return NULL;
}

static bool any_fused(const struct ptx_func *f, const struct ptx_contracted *x)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (x[i].mul != PTX_NO_INDEX || x[i].dropped)
            return true;
    return false;
}

struct ptx_fused *ptx_fuse(const struct ptx_func *f, const struct ptx_contracted *all)
{
    struct ptx_contracted *x = kept_steps(f, all);
    struct ptx_fused *out = x ? base_alloc(sizeof *out) : NULL;
    bool fused = out && any_fused(f, x);
    if (fused)
        out->arena = arena_new(0);
    if (out && out->arena)
        out->copy = copy_of(f, x, out->arena);
    base_free(x);
    if (out)
        out->func = fused ? out->copy : f;
    if (out && out->func)
        return out;
    ptx_fused_free(out);
    return NULL;
}

void ptx_fused_free(struct ptx_fused *x)
{
    if (x)
        arena_free(x->arena);
    base_free(x);
}
