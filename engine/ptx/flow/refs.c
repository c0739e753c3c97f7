/* Definitions and uses of every register of a body: instruction indices, ascending, cut
 * from two arrays (count, place, fill). */
#include "engine/base/base.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/flow/cfg_int.h"
#include "engine/ptx/ptx.h"

struct refs {
    struct ptx_reg_refs *regs;
    uint32_t nregs, inst;
};

static void count(void *ctx, uint32_t reg, unsigned access)
{
    struct refs *r = ctx;
    if (reg >= r->nregs)
        return;
    r->regs[reg].ndefs += (access & PTX_WRITE) != 0;
    r->regs[reg].nuses += (access & PTX_READ) != 0;
}

/* One entry per instruction and register, however often it is named there. */
static void fill(void *ctx, uint32_t reg, unsigned access)
{
    struct refs *r = ctx;
    if (reg >= r->nregs)
        return;
    struct ptx_reg_refs *q = &r->regs[reg];
    if ((access & PTX_WRITE) && (!q->ndefs || q->defs[q->ndefs - 1] != r->inst))
        q->defs[q->ndefs++] = r->inst;
    if ((access & PTX_READ) && (!q->nuses || q->uses[q->nuses - 1] != r->inst))
        q->uses[q->nuses++] = r->inst;
}

bool cfg_make_refs(struct ptx_cfg *c)
{
    const struct ptx_func *f = c->func;
    struct refs r = { .regs = ARENA_ARRAY(c->arena, struct ptx_reg_refs, f->nregs + 1),
                      .nregs = f->nregs };
    if (!r.regs)
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++)
        ptx_inst_regs(&f->insts[i], count, &r);
    size_t all = 0;
    for (uint32_t k = 0; k < f->nregs; k++)
        all += (size_t)r.regs[k].ndefs + r.regs[k].nuses;
    uint32_t *v = ARENA_ARRAY(c->arena, uint32_t, all + 1);
    if (!v)
        return false;
    for (uint32_t k = 0; k < f->nregs; k++) {
        r.regs[k].defs = v;
        r.regs[k].uses = v + r.regs[k].ndefs;
        v += (size_t)r.regs[k].ndefs + r.regs[k].nuses;
        r.regs[k].ndefs = r.regs[k].nuses = 0;
    }
    for (r.inst = 0; r.inst < f->ninsts; r.inst++)
        ptx_inst_regs(&f->insts[r.inst], fill, &r);
    c->regs = r.regs;
    return true;
}
