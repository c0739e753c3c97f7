/* What an instruction reads: does it differ between lanes, and is it known before the body? */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/ptx/ptx.h"

static bool reads_lane(const struct ptx_operand *o)
{
    bool found = o->kind == OPND_SREG && o->index == PTX_SREG_TID && o->comp == 0;
    for (uint16_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem; k++)
        found |= reads_lane(&o->elem[k]);
    return found;
}

struct vector_sources vector_sources(const struct vector_plan *p, const struct ptx_inst *i)
{
    struct vector_sources s = { .pure = true, .reg = PTX_NO_INDEX };
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);) {
        s.pure &= p->pure[r.reg];
        if (!p->varies[r.reg])
            continue;
        s.varies = true;
        s.n += s.reg != r.reg;
        s.reg = r.reg;
    }
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (reads_lane(&i->opnds[k])) {
            s.varies = true;
            s.n++;
        }
    return s;
}
