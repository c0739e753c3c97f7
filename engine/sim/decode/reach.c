/* Which global memory an access can reach: the module's own variables, or the buffers that the launch
 * hands over. An address made of variables' addresses and numbers stays among the variables, one made of
 * parameters of 64 bits and numbers among the buffers; one that has both in it, nothing of either, or 64
 * bits that came from memory, may be anywhere. That an index leads from one to the other is not ruled
 * out here: a sample that relies on exec_inst.reach looks where accesses do go (access.c). */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/mem.h"

enum { FROM_VARIABLE = 1, FROM_PARAM = 2, FROM_ANYWHERE = 4 };

/* from: [nregs] what addresses may be part of the register's value */
struct reach {
    uint8_t *from;
    const struct exec_inst *code;
    const struct ptx_cfg *c;
};

static uint8_t from_symbol(const struct ptx_symbol *s)
{
    return s->kind == SYM_VAR && s->space == PTX_SPACE_GLOBAL ? FROM_VARIABLE : FROM_ANYWHERE;
}

/* Halves of an address lie in %envreg1 and 2. */
static uint8_t from_sreg(uint32_t s)
{
    return s >= PTX_SREG_ENVREG0 && s <= PTX_SREG_ENVREG31 ? FROM_ANYWHERE : 0;
}

static uint8_t from_operand(const struct reach *r, const struct ptx_operand *o)
{
    uint8_t all = 0;
    switch (o->kind) {
    case OPND_REG: return r->from[o->index];
    case OPND_SYM: return from_symbol(o->sym);
    case OPND_SREG: return from_sreg(o->index);
    case OPND_ADDR: return FROM_ANYWHERE;
    case OPND_VEC:
    case OPND_MULTI:
        for (uint32_t k = 0; k < o->nelem; k++)
            all |= from_operand(r, &o->elem[k]);
        return all;
    default: return 0;
    }
}

static uint8_t from_sources(const struct reach *r, const struct ptx_inst *i)
{
    uint8_t all = 0;
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].access != PTX_WRITE)
            all |= from_operand(r, &i->opnds[k]);
    return all;
}

/* What is narrower than an address and lay in memory is a number. */
static uint8_t from_inst(const struct reach *r, const struct exec_inst *in)
{
    if (in->fn == exec_ld_param)
        return in->bytes < 8 ? 0 : in->bytes == 8 ? FROM_PARAM : FROM_ANYWHERE;
    switch (ptx_op_info(in->ptx->op)->effect) {
    case EFFECT_NONE:
    case EFFECT_WARP: return from_sources(r, in->ptx);
    case EFFECT_LOAD:
    case EFFECT_ATOMIC: return in->bytes && in->bytes < 8 ? 0 : FROM_ANYWHERE;
    default: return FROM_ANYWHERE;
    }
}

static void look_at(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct reach *r = ctx;
    const struct exec_inst *in = &r->code[inst];
    uint8_t from = in->ndst ? from_inst(r, in) : 0;
    for (uint32_t k = 0; k < in->ndst; k++) {
        const struct ptx_reg_refs *x = &r->c->regs[in->regs[k]];
        if (from & ~r->from[in->regs[k]])
            ptx_ask_each(s, x->uses, x->nuses);
        r->from[in->regs[k]] |= from;
    }
}

/* By its one address. */
static uint8_t reach_of(const struct reach *r, const struct ptx_inst *i)
{
    uint8_t from = 0;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind == OPND_MULTI || (o->kind == OPND_ADDR && from))
            return REACH_ANY;
        if (o->kind == OPND_ADDR)
            from = o->base == BASE_REG   ? r->from[o->index]
                   : o->base == BASE_SYM ? from_symbol(o->sym)
                                         : FROM_ANYWHERE;
    }
    return from == FROM_VARIABLE ? REACH_VARIABLES : from == FROM_PARAM ? REACH_BUFFERS : REACH_ANY;
}

bool decode_reach(struct decode *d)
{
    const struct exec_func *f = &d->p->funcs[0];
    struct exec_inst *code = d->p->code + f->first;
    struct reach r = { .from = base_alloc(f->nregs + 1), .code = code, .c = ptx_cfg_of(d->pf) };
    bool ok = r.from && ptx_solve(f->ptx->ninsts, PTX_FORWARD, look_at, &r);
    for (uint32_t i = 0; ok && i < f->ptx->ninsts; i++)
        if (code[i].space == PTX_SPACE_GLOBAL)
            code[i].reach = reach_of(&r, code[i].ptx);
    base_free(r.from);
    return ok;
}
