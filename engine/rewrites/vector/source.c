/* What an instruction reads: does it differ between lanes, and is it known before the body? */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/ptx/ptx.h"

struct looking {
    const struct vector_plan *p;
    struct vector_sources s;
};

static void look(void *ctx, uint32_t reg, unsigned access)
{
    struct looking *l = ctx;
    if (!(access & PTX_READ))
        return;
    l->s.pure &= l->p->pure[reg];
    if (!l->p->varies[reg])
        return;
    l->s.varies = true;
    l->s.n += l->s.reg != reg;
    l->s.reg = reg;
}

static bool reads_lane(const struct ptx_operand *o)
{
    bool found = o->kind == OPND_SREG && o->index == PTX_SREG_TID && o->comp == 0;
    for (uint16_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem; k++)
        found |= reads_lane(&o->elem[k]);
    return found;
}

struct vector_sources vector_sources(const struct vector_plan *p, const struct ptx_inst *i)
{
    struct looking l = { p, { .pure = true, .reg = PTX_NO_INDEX } };
    ptx_inst_regs(i, look, &l);
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (reads_lane(&i->opnds[k])) {
            l.s.varies = true;
            l.s.n++;
        }
    return l.s;
}
