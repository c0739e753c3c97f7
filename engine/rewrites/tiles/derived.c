/* Registers that go on with the counter: a compiler makes `first + 32 * t` once before the loop and adds
 * 32 * %nctaid.x in each turn. See tiles_int.h. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rewrites/tiles/tiles_int.h"

#include <string.h>

enum { DEPTH = 16 }; /* definitions followed, one behind the other */

struct derive {
    const struct pass_ctx *c;
    const struct tile_counter *t;
};

static bool is_word(const struct ptx_inst *i)
{
    return i->ntypes == 1 && ptx_type_bits((enum ptx_type)i->type[0]) == 32 && i->type[0] != PTX_T_F32;
}

static bool is_nctaid(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG && o->index == PTX_SREG_NCTAID && o->comp == 0;
}

bool tile_is_step(const struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_operand *o)
{
    if (o->kind == OPND_IMM && !o->is_float)
        return o->imm == (int64_t)c->out->grid.x;
    if (o->kind != OPND_REG || o->neg)
        return is_nctaid(o);
    const struct ptx_reg_refs *r = &fl->cfg->regs[o->index];
    for (uint32_t k = 0; k < r->ndefs; k++) {
        const struct ptx_inst *d = &fl->f->insts[r->defs[k]];
        if (!inst_is(d, "mov") || !is_word(d) || d->nopnds != 2 || !is_nctaid(&d->opnds[1]))
            return false;
    }
    return r->ndefs > 0;
}

static bool whole(const struct ptx_operand *o)
{
    return o->kind == OPND_IMM && !o->is_float;
}

/* The one definition of a register; NULL: it has others, or may keep its value. */
static const struct ptx_inst *defined(const struct derive *d, const struct ptx_operand *o)
{
    const struct ptx_reg_refs *r = &d->t->fl->cfg->regs[o->index];
    const struct ptx_inst *i = r->ndefs == 1 ? &d->t->fl->f->insts[r->defs[0]] : NULL;
    return i && !i->guarded && !o->neg ? i : NULL;
}

static bool is_product(const struct ptx_inst *i)
{
    return (inst_is(i, "mul.lo") || inst_is(i, "mul.wide")) && i->nopnds == 3;
}

/* The same number, in as many bits or more. */
static bool is_copy(const struct ptx_inst *i)
{
    bool narrows = i->ntypes == 2 &&
                   ptx_type_bits((enum ptx_type)i->type[0]) < ptx_type_bits((enum ptx_type)i->type[1]);
    return (inst_is(i, "mov") || inst_is(i, "cvt") || inst_is(i, "cvta") || inst_is(i, "cvta.to")) &&
           i->nopnds == 2 && i->ntypes && !narrows && ptx_type_kind((enum ptx_type)i->type[0]) != 'f';
}

/* o = *k * %nctaid.x */
static bool steps(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k)
{
    int64_t grid = d->c->out->grid.x;
    *k = 1;
    if (whole(o)) {
        *k = o->imm / grid;
        return o->imm % grid == 0;
    }
    if (tile_is_step(d->c, d->t->fl, o))
        return true;
    const struct ptx_inst *i = o->kind == OPND_REG && depth ? defined(d, o) : NULL;
    if (!i)
        return false;
    const struct ptx_operand *a = &i->opnds[1], *b = &i->opnds[i->nopnds > 2 ? 2 : 1];
    if (is_copy(i))
        return steps(d, a, depth - 1, k);
    bool shift = inst_is(i, "shl") && i->nopnds == 3 && whole(b) && b->imm >= 0 && b->imm < 32;
    if (!shift && is_product(i) && whole(a) && !whole(b)) {
        const struct ptx_operand *swap = a;
        a = b;
        b = swap;
    }
    if (!(shift || (is_product(i) && whole(b))) || whole(a) || !steps(d, a, depth - 1, k))
        return false;
    *k = shift ? *k << b->imm : *k * b->imm;
    return true;
}

static bool linear(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k);

/* By what the result of i grows for each number that the counter grows by. */
static bool linear_inst(const struct derive *d, const struct ptx_inst *i, int depth, int64_t *k)
{
    int64_t v[3] = { 0 };
    const struct ptx_operand *o = i->opnds;
    if (inst_effect(i) == EFFECT_LOAD) {
        *k = 0;
        return pass_own_param(d->t->fl->f, i);
    }
    if (inst_effect(i) != EFFECT_NONE || ptx_is_opaque(i) || i->guarded || i->nopnds < 2 ||
        i->nopnds > 4)
        return false;
    for (uint8_t n = 1; n < i->nopnds; n++)
        if (!linear(d, &o[n], depth - 1, &v[n - 1]))
            return false;
    if (!v[0] && !v[1] && !v[2]) {
        *k = 0;
        return true;
    }
    if (is_copy(i))
        *k = v[0];
    else if (inst_is(i, "add"))
        *k = v[0] + v[1];
    else if (inst_is(i, "sub"))
        *k = v[0] - v[1];
    else if (inst_is(i, "shl") && whole(&o[2]) && o[2].imm >= 0 && o[2].imm < 32)
        *k = v[0] * ((int64_t)1 << o[2].imm);
    else if (is_product(i) && (whole(&o[1]) || whole(&o[2])))
        *k = whole(&o[2]) ? v[0] * o[2].imm : v[1] * o[1].imm;
    else if ((inst_is(i, "mad.lo") || inst_is(i, "mad.wide")) && (whole(&o[1]) || whole(&o[2])))
        *k = (whole(&o[2]) ? v[0] * o[2].imm : v[1] * o[1].imm) + v[2];
    else
        return false;
    return true;
}

static bool linear(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k)
{
    *k = 0;
    if (whole(o) || o->kind == OPND_SYM)
        return true;
    if (o->kind == OPND_SREG) {
        *k = o->index == PTX_SREG_CTAID && o->comp == 0;
        return o->index == PTX_SREG_CTAID || o->index == PTX_SREG_TID || o->index == PTX_SREG_NTID ||
               o->index == PTX_SREG_NCTAID || o->index == PTX_SREG_LANEID;
    }
    if (o->kind != OPND_REG || !depth)
        return false;
    *k = 1;
    const struct ptx_inst *i = d->t->counter[o->index] ? NULL : defined(d, o);
    return d->t->counter[o->index] || (i && linear_inst(d, i, depth, k));
}

/* The next value in a turn: r + *k * %nctaid.x. */
static bool goes_on(const struct derive *d, const struct ptx_inst *i, uint32_t r, int64_t *k)
{
    const struct ptx_operand *o = i->opnds;
    if (!inst_is(i, "add") || i->nopnds != 3 || i->guarded || !i->ntypes ||
        ptx_type_kind((enum ptx_type)i->type[0]) == 'f')
        return false;
    if (o[1].kind == OPND_REG && o[1].index == r)
        return steps(d, &o[2], DEPTH, k);
    return o[2].kind == OPND_REG && o[2].index == r && steps(d, &o[1], DEPTH, k);
}

static int64_t scale_of(const struct derive *d, uint32_t r)
{
    const struct ptx_reg_refs *x = &d->t->fl->cfg->regs[r];
    int64_t k = 0, scale = 0;
    unsigned first = 0, next = 0;
    for (uint32_t n = 0; n < x->ndefs; n++) {
        const struct ptx_inst *i = &d->t->fl->f->insts[x->defs[n]];
        bool inside = tile_loop_of(d->t, d->t->fl->cfg->block_of[x->defs[n]]) != PTX_NO_INDEX;
        if (!(inside ? goes_on(d, i, r, &k) : linear_inst(d, i, DEPTH, &k)) || !k || (n && k != scale))
            return 0;
        scale = k;
        first += !inside;
        next += inside;
    }
    int64_t most = INT32_MAX / (int64_t)d->c->out->grid.x; /* first values do not wrap */
    bool fits = scale >= -most && scale <= most;
    return first && next && fits ? scale : 0;
}

void tile_find_derived(const struct pass_ctx *c, struct tile_counter *t)
{
    const struct derive d = { c, t };
    for (uint32_t r = 0; r < t->fl->f->nregs; r++)
        if (!t->counter[r] && t->fl->cfg->regs[r].ndefs > 1)
            t->scale[r] = scale_of(&d, r);
}
