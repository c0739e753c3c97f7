#include "engine/ptx/facts/live.h"

#include "engine/ptx/facts/bits.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

bool ptx_writes_all(const struct ptx_func *f, const struct ptx_inst *i, uint32_t reg)
{
    return !i->guarded && f->regs[reg].vec <= 1;
}

static bool reads(const struct ptx_inst *i, uint32_t reg)
{
    struct ptx_regs r = ptx_regs_of(i, PTX_READ);
    while (ptx_next_reg(&r))
        if (r.reg == reg)
            return true;
    return false;
}

bool ptx_ends_old(const struct ptx_func *f, const struct ptx_inst *i, uint32_t reg)
{
    const struct ptx_inst *b = i + 1;
    return ptx_writes_all(f, i, reg) ||
           (f->regs[reg].vec <= 1 && i->index + 1 < f->ninsts && b->guarded && b->guard == i->guard &&
            b->guard_neg != i->guard_neg && ptx_writes_reg(b, reg) && !ptx_writes_reg(i, b->guard) &&
            !reads(b, reg));
}

struct ptx_live *ptx_live_make(const struct ptx_cfg *g, ptx_live_skip *skip)
{
    uint32_t words = g->func->nregs / 64 + 1;
    size_t set = (size_t)words * (g->nblocks + 1);
    struct ptx_live *l = base_alloc(sizeof *l + 4 * set * sizeof(uint64_t));
    if (!l)
        return NULL;
    uint64_t *mem = (uint64_t *)(void *)(l + 1);
    *l = (struct ptx_live){ words, mem, mem + set, mem + 2 * set, mem + 3 * set };
    for (uint32_t b = 0; b < g->nblocks; b++) {
        uint64_t *reads = l->reads + (size_t)b * words, *writes = l->writes + (size_t)b * words;
        for (uint32_t k = g->blocks[b].first; k < g->blocks[b].first + g->blocks[b].n; k++) {
            const struct ptx_inst *i = &g->func->insts[k];
            for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
                if (!(skip && skip(i, r.access)) && !ptx_bit(writes, r.reg))
                    ptx_set_bit(reads, r.reg);
            for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
                if (ptx_ends_old(g->func, i, r.reg))
                    ptx_set_bit(writes, r.reg);
        }
    }
    struct ptx_bits bits = { g, words, l->reads, l->writes, l->in, l->out };
    if (ptx_bits_solve(&bits, PTX_BACKWARD))
        return l;
    base_free(l);
    return NULL;
}
