#include "engine/pass/taint.h"

#include "engine/analysis/alias.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

bool pass_taint_make(struct pass_taint *t, struct pass_ctx *c, const struct pass_flow *fl)
{
    memset(t, 0, sizeof *t);
    t->c = c;
    t->fl = fl;
    t->reg = base_alloc(fl->f->nregs + 1);
    t->branch = base_alloc(fl->cfg->nblocks + 1);
    if (ptx_region_make(&t->region, fl->cfg) && t->reg && t->branch)
        return true;
    c->oom = true;
    pass_taint_free(t);
    return false;
}

void pass_taint_free(struct pass_taint *t)
{
    BASE_FREE(t->reg, t->branch);
    ptx_region_free(&t->region);
    memset(t, 0, sizeof *t);
}

void pass_taint_clear(struct pass_taint *t, const bool *in)
{
    memset(t->reg, 0, t->fl->f->nregs + 1);
    memset(t->branch, 0, t->fl->cfg->nblocks + 1);
    t->in = in;
    t->memory = 0;
    t->met = t->params = t->carry = false;
}

static void mark(struct pass_taint *t, const struct ptx_inst *i)
{
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        const struct ptx_reg_refs *x = &t->fl->cfg->regs[r.reg];
        if (t->reg[r.reg])
            continue;
        t->reg[r.reg] = true;
        if (t->s)
            ptx_ask_each(t->s, x->uses, x->nuses);
    }
}

/* What any instruction may look at. */
static void set(struct pass_taint *t, bool *what)
{
    if (!*what && t->s)
        ptx_ask_all(t->s);
    *what = true;
}

static void set_memory(struct pass_taint *t, uint64_t places)
{
    if (places & ~t->memory && t->s)
        ptx_ask_all(t->s);
    t->memory |= places;
}

bool pass_taint_reads(struct pass_taint *t, const struct ptx_inst *i)
{
    bool reads = false;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        reads |= t->reg[r.reg];
    return reads || (t->carry && ptx_is(i, IS_CARRY_IN));
}

/* ---- private memory ---- */
bool pass_taint_private(struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_inst *i,
                        bool certain)
{
    if (i->space == PTX_SPACE_LOCAL || i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_PARAM ||
        i->space == PTX_SPACE_CONST)
        return true;
    if (i->space != PTX_SPACE_GENERIC)
        return false;
    struct alias_roots r;
    pass_address_roots(c, fl->f, inst_address(i), &r);
    if (certain)
        return r.window && !r.unknown && !r.params && !r.sym;
    return r.window || r.unknown;
}

/* The stack frame: a register that holds where it is, and nothing else. */
static bool is_frame(const struct pass_flow *fl, uint32_t reg)
{
    for (int depth = 0; depth < 4; depth++) {
        const struct ptx_reg_refs *x = &fl->cfg->regs[reg];
        if (x->ndefs != 1)
            return false;
        const struct ptx_inst *d = &fl->f->insts[x->defs[0]];
        struct ptx_sum s;
        if (!ptx_sum_of(d, &s) || s.n != 1 || s.term[0].b || s.term[0].minus)
            return false;
        const struct ptx_operand *o = s.term[0].a;
        if (o->kind == OPND_SYM)
            return o->sym && o->sym->space == PTX_SPACE_LOCAL && !o->imm;
        if (o->kind != OPND_REG)
            return false;
        reg = o->index;
    }
    return false;
}

static uint64_t place(const void *base, int64_t at, unsigned bytes)
{
    uint64_t mask = 0;
    for (int64_t k = at >> 3; k <= (at + (bytes ? bytes : 1) - 1) >> 3; k++)
        mask |= 1ull << (((uint64_t)(uintptr_t)base * 0x9e3779b97f4a7c15ull +
                          (uint64_t)k * 0xd6e8feb86659fd93ull) >>
                         58);
    return mask;
}

static bool own_param(const struct ptx_func *f, const struct ptx_symbol *s)
{
    for (uint32_t k = 0; k < f->nparams; k++)
        if (f->params[k] == s)
            return true;
    return false;
}

/* Classes of private memory that a load or store may touch; 0: none. */
static uint64_t touches(const struct pass_taint *t, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    if (ptx_is(i, IS_MBARRIER))
        return 0;
    if (i->space == PTX_SPACE_CONST || !pass_taint_private(t->c, t->fl, i, false))
        return 0;
    if (!a)
        return UINT64_MAX;
    if (a->base == BASE_SYM && i->space == PTX_SPACE_PARAM && own_param(t->fl->f, a->sym))
        return 0;
    if (a->base == BASE_SYM)
        return place(i->space == PTX_SPACE_LOCAL ? NULL : (const void *)a->sym, a->imm, inst_bytes(i));
    if (a->base == BASE_REG && i->space != PTX_SPACE_SHARED && is_frame(t->fl, a->index))
        return place(NULL, a->imm, inst_bytes(i));
    return UINT64_MAX;
}

static bool reads_param(const struct pass_taint *t, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    return t->params && i->space == PTX_SPACE_PARAM && a &&
           (a->base != BASE_SYM || own_param(t->fl->f, a->sym));
}

/* ---- spreading ---- */
static void leave_carry(struct pass_taint *t, const struct ptx_inst *i)
{
    if (ptx_is(i, IS_CARRY_OUT))
        set(t, &t->carry);
}

static void soil(struct pass_taint *t, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (e == EFFECT_STORE || e == EFFECT_ATOMIC)
        set_memory(t, touches(t, i));
}

void pass_taint_source(struct pass_taint *t, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    mark(t, i);
    leave_carry(t, i);
    if (e == EFFECT_CALL || e == EFFECT_ASYNC_COPY)
        set_memory(t, UINT64_MAX);
}

static void spread(struct pass_taint *t, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool meets = e == EFFECT_WARP || e == EFFECT_BARRIER, in = pass_taint_reads(t, i);
    if (e == EFFECT_LOAD || e == EFFECT_ATOMIC || e == EFFECT_TENSOR)
        in |= (t->memory && (t->memory & touches(t, i))) || reads_param(t, i);
    /* its arguments lie in memory, and it may read more of it */
    in |= e == EFFECT_CALL && t->memory;
    if (meets && in)
        set(t, &t->met);
    if (!in && !(meets && t->met))
        return;
    if (e == EFFECT_CALL) /* what a call returns follows from what it is given */
        set_memory(t, UINT64_MAX);
    soil(t, i);
    leave_carry(t, i);
    mark(t, i);
}

static bool parts(const struct ptx_cfg *g, uint32_t b)
{
    const struct ptx_inst *last = &g->func->insts[g->blocks[b].first + g->blocks[b].n - 1];
    return g->blocks[b].nsucc > 1 || (last->guarded && ptx_ends_thread(last));
}

/* A value that is written on one way alone tells which way was taken. */
static void region(struct pass_taint *t, uint32_t b)
{
    const struct ptx_cfg *g = t->fl->cfg;
    ptx_region_take(&t->region, b);
    for (uint32_t k = 0; k < t->region.n; k++) {
        const struct ptx_block *in = &g->blocks[t->region.list[k]];
        if (t->in && !t->in[t->region.list[k]])
            continue;
        for (uint32_t n = in->first; n < in->first + in->n; n++) {
            mark(t, &t->fl->f->insts[n]);
            soil(t, &t->fl->f->insts[n]);
            leave_carry(t, &t->fl->f->insts[n]);
        }
    }
}

static void spread_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct pass_taint *t = ctx;
    const struct ptx_cfg *g = t->fl->cfg;
    const struct ptx_inst *i = &t->fl->f->insts[inst];
    uint32_t b = g->block_of[inst];
    t->s = s;
    if (t->in && !t->in[b])
        return;
    spread(t, i);
    if (inst + 1 < g->blocks[b].first + g->blocks[b].n || t->branch[b] || !parts(g, b) ||
        !pass_taint_reads(t, i))
        return;
    t->branch[b] = true;
    region(t, b);
}

static void values_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct pass_taint *t = ctx;
    const struct ptx_inst *i = &t->fl->f->insts[inst];
    t->s = s;
    if (ptx_effect_of(i) == EFFECT_NONE && pass_taint_reads(t, i))
        pass_taint_source(t, i);
}

void pass_taint_run(struct pass_taint *t)
{
    t->c->oom |= !ptx_solve(t->fl->f->ninsts, PTX_FORWARD, spread_step, t);
    t->s = NULL;
}

void pass_taint_run_values(struct pass_taint *t)
{
    t->c->oom |= !ptx_solve(t->fl->f->ninsts, PTX_FORWARD, values_step, t);
    t->s = NULL;
}
