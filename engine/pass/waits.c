/* Loops that wait for other threads: they go on until memory that others write says so. What an ordered
 * load or an exchanging atomic returned is followed through registers, and through local and shared
 * memory as a whole. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

struct taint {
    const struct pass_flow *fl;
    bool *reg;
    bool memory, changed, reads;
};

static void look(void *ctx, uint32_t reg, unsigned access)
{
    struct taint *t = ctx;
    t->reads |= (access & PTX_READ) && t->reg[reg];
}

static void mark(void *ctx, uint32_t reg, unsigned access)
{
    struct taint *t = ctx;
    if ((access & PTX_WRITE) && !t->reg[reg])
        t->reg[reg] = t->changed = true;
}

static bool reads_tainted(struct taint *t, const struct ptx_inst *i)
{
    t->reads = false;
    ptx_inst_regs(i, look, t);
    return t->reads;
}

static bool swaps(const struct ptx_inst *i)
{
    const char *name = ptx_op_info(i->op)->name;
    return inst_effect(i) == EFFECT_ATOMIC && i->space != PTX_SPACE_SHARED &&
           (inst_has(i, ".cas") || inst_has(i, ".exch") ||
            (name && (strstr(name, "cas") || strstr(name, "exch"))));
}

static bool listens(const struct ptx_inst *i)
{
    return swaps(i) ||
           (inst_effect(i) == EFFECT_LOAD && inst_is_strong(i) && i->space != PTX_SPACE_SHARED);
}

/* What a call returned: a load from a parameter that is not the function's own. */
static bool call_result(const struct pass_flow *fl, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    if (inst_effect(i) != EFFECT_LOAD || i->space != PTX_SPACE_PARAM || !a || a->base != BASE_SYM)
        return false;
    for (uint32_t k = 0; k < fl->f->nparams; k++)
        if (fl->f->params[k] == a->sym)
            return false;
    return true;
}

static bool private_space(const struct ptx_inst *i)
{
    return i->space == PTX_SPACE_LOCAL || i->space == PTX_SPACE_SHARED ||
           i->space == PTX_SPACE_GENERIC || i->space == PTX_SPACE_PARAM;
}

static void spread(struct taint *t, const struct ptx_inst *i)
{
    bool in = reads_tainted(t, i) || (t->memory && inst_effect(i) == EFFECT_LOAD && private_space(i));
    if (!in)
        return;
    if (inst_effect(i) == EFFECT_STORE && private_space(i) && !t->memory)
        t->memory = t->changed = true;
    ptx_inst_regs(i, mark, t);
}

static bool leaves(const struct ptx_cfg *g, uint32_t block, uint32_t loop)
{
    for (uint32_t k = 0; k < g->blocks[block].nsucc; k++) {
        uint32_t to = g->blocks[block].succ[k], l = to < g->nblocks ? g->blocks[to].loop : PTX_NO_INDEX;
        while (l != PTX_NO_INDEX && l != loop)
            l = g->loops[l].parent;
        if (l != loop)
            return true;
    }
    return g->blocks[block].nsucc == 0 ||
           inst_ends_thread(&g->func->insts[g->blocks[block].first + g->blocks[block].n - 1]);
}

/* Does some way out of the loop depend on what was listened to? */
static bool exit_depends(struct taint *t, uint32_t loop)
{
    const struct ptx_cfg *g = t->fl->cfg;
    for (uint32_t k = 0; k < g->loops[loop].nblocks; k++) {
        const struct ptx_block *b = &g->blocks[g->loops[loop].blocks[k]];
        if (b->n && leaves(g, g->loops[loop].blocks[k], loop) &&
            reads_tainted(t, &t->fl->f->insts[b->first + b->n - 1]))
            return true;
    }
    return false;
}

static bool waits(struct taint *t, uint32_t inst)
{
    const struct pass_flow *fl = t->fl;
    memset(t->reg, 0, fl->f->nregs + 1);
    t->memory = false;
    ptx_inst_regs(&fl->f->insts[inst], mark, t);
    for (t->changed = true; t->changed;) {
        t->changed = false;
        for (uint32_t k = 0; k < fl->f->ninsts; k++)
            spread(t, &fl->f->insts[k]);
    }
    for (uint32_t l = fl->cfg->blocks[fl->cfg->block_of[inst]].loop; l != PTX_NO_INDEX;
         l = fl->cfg->loops[l].parent)
        if (exit_depends(t, l))
            return true;
    return false;
}

const struct ptx_inst *pass_waits_for_others(const struct pass_flow *fl, bool callees_listen)
{
    struct taint t = { .fl = fl, .reg = base_alloc(fl->f->nregs + 1) };
    const struct ptx_inst *found = NULL;
    for (uint32_t k = 0; k < fl->f->ninsts && !found; k++) {
        const struct ptx_inst *i = &fl->f->insts[k];
        bool source = listens(i) || (callees_listen && call_result(fl, i));
        if (source && fl->cfg->blocks[fl->cfg->block_of[k]].loop != PTX_NO_INDEX &&
            (!t.reg || waits(&t, k)))
            found = i;
    }
    base_free(t.reg);
    return found;
}

bool pass_listens(const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (listens(&f->insts[k]))
            return true;
    return false;
}
