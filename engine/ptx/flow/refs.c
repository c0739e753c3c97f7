/* Definitions and uses of every register of a body: instruction indices, ascending, cut
 * from two arrays (count, place, fill). */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/flow/cfg_int.h"
#include "engine/ptx/ptx.h"

/* One entry per instruction and register, however often it is named there. */
static void fill(struct ptx_reg_refs *q, unsigned access, uint32_t inst)
{
    if ((access & PTX_WRITE) && (!q->ndefs || q->defs[q->ndefs - 1] != inst))
        q->defs[q->ndefs++] = inst;
    if ((access & PTX_READ) && (!q->nuses || q->uses[q->nuses - 1] != inst))
        q->uses[q->nuses++] = inst;
}

bool cfg_make_refs(struct ptx_cfg *c)
{
    const struct ptx_func *f = c->func;
    struct ptx_reg_refs *regs = ARENA_ARRAY(c->arena, struct ptx_reg_refs, f->nregs + 1);
    if (!regs)
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (struct ptx_regs r = ptx_regs_of(&f->insts[i], PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            if (r.reg < f->nregs) {
                regs[r.reg].ndefs += (r.access & PTX_WRITE) != 0;
                regs[r.reg].nuses += (r.access & PTX_READ) != 0;
            }
    size_t all = 0;
    for (uint32_t k = 0; k < f->nregs; k++)
        all += (size_t)regs[k].ndefs + regs[k].nuses;
    uint32_t *v = ARENA_ARRAY(c->arena, uint32_t, all + 1);
    if (!v)
        return false;
    for (uint32_t k = 0; k < f->nregs; k++) {
        regs[k].defs = v;
        regs[k].uses = v + regs[k].ndefs;
        v += (size_t)regs[k].ndefs + regs[k].nuses;
        regs[k].ndefs = regs[k].nuses = 0;
    }
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (struct ptx_regs r = ptx_regs_of(&f->insts[i], PTX_READ | PTX_WRITE); ptx_next_reg(&r);)
            if (r.reg < f->nregs)
                fill(&regs[r.reg], r.access, i);
    c->regs = regs;
    return true;
}
