/* Divergence. A register varies when something that writes it gives two threads different values: a
 * special register of the thread, memory that is no constant, what lanes or threads give each other, or
 * a register that varies. By control, so does what is written in the region of a branch that varies,
 * where another definition or a use outside of the region sees it: threads that took the other way hold
 * something else.
 *
 * The problem is one of instructions. A register that is found to vary asks for its uses; a branch whose
 * condition varies marks its region. Each register, block and the carry flag change once, so it ends. */
#include "engine/ptx/facts/diverge.h"

#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

/* Regions are walked once for each branch that parts threads. Nested in each other they cost the square
 * of the code's length: past this many steps for each block and instruction, all that can be reached
 * from such a branch counts as its region, which is never too little. */
enum { STEPS_EACH = 256 };
struct diverge {
    const struct ptx_cfg *g;
    enum ptx_threads scope;
    enum ptx_cause cause;
    bool *varying; /* by register, then the carry flag */
    bool *done;    /* by block: its branch has been followed */
    bool *spoilt;  /* by block: all that is written there is marked */
    struct ptx_region region;
    struct ptx_solver behind; /* of blocks: spoils them */
    struct ptx_solver *s;
    uint64_t steps, most;
};

bool ptx_sreg_varies(enum ptx_sreg r, enum ptx_threads scope)
{
    static const unsigned same[] = {
        [PTX_OF_WARP] = ~(unsigned)(PTX_SEES_THREAD | PTX_SEES_WARP | PTX_SEES_TIME),
        [PTX_OF_CTA] = ~(unsigned)(PTX_SEES_THREAD | PTX_SEES_WARP | PTX_SEES_TIME | PTX_SEES_SLOT),
        [PTX_OF_GRID] = PTX_SEES_BLOCK | PTX_SEES_GRID | PTX_SEES_LAUNCH | PTX_SEES_SHARED,
    };
    return !(ptx_sreg_sees(r) & same[scope]);
}

/* ---- what an instruction gives ---- */
/* A parameter of the kernel, which all threads are given alike. */
static bool loads_param(const struct ptx_func *f, const struct ptx_inst *i)
{
    bool own = false;
    if (i->space != PTX_SPACE_PARAM || !f->entry)
        return false;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        own |= o->kind == OPND_ADDR && o->base == BASE_REG;
        for (uint32_t p = 0; o->kind == OPND_ADDR && o->base == BASE_SYM && p < f->nparams; p++)
            own |= f->params[p] == o->sym;
    }
    return own;
}

static bool operand_varies(const struct diverge *d, const struct ptx_operand *o)
{
    bool varies = o->kind == OPND_SREG && ptx_sreg_varies((enum ptx_sreg)o->index, d->scope);
    for (uint32_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem; k++)
        varies |= operand_varies(d, &o->elem[k]);
    return varies;
}

static bool reads_varying(const bool *varying, const struct ptx_inst *i)
{
    bool varies = false;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        varies |= varying[r.reg];
    return varies;
}

/* One answer for all threads of the CTA, of a barrier that they name alike. With a number of threads,
 * only those get it. */
static bool vote_varies(const struct diverge *d, const struct ptx_inst *i)
{
    const struct ptx_operand *barrier = &i->opnds[1];
    return d->scope == PTX_OF_GRID || i->nopnds != 3 || (i->guarded && d->varying[i->guard]) ||
           (barrier->kind == OPND_REG && d->varying[barrier->index]) || operand_varies(d, barrier);
}

/* A value is the same in all threads when its operation is a function of equal operands. */
static bool result_varies(const struct diverge *d, const struct ptx_inst *i)
{
    const struct ptx_func *f = d->g->func;
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is(i, IS_CTA_VOTE))
        return vote_varies(d, i);
    if (e == EFFECT_LOAD && i->space != PTX_SPACE_CONST && !loads_param(f, i))
        return true;
    if (ptx_is_opaque(i) || (e != EFFECT_NONE && e != EFFECT_LOAD))
        return true;
    if (ptx_is(i, IS_CARRY_IN) && d->varying[f->nregs])
        return true;
    for (unsigned k = 0; k < i->nopnds; k++)
        if (operand_varies(d, &i->opnds[k]))
            return true;
    return reads_varying(d->varying, i);
}

/* ---- marking ---- */
static void mark_written(struct diverge *d, uint32_t reg)
{
    if (d->varying[reg])
        return;
    d->varying[reg] = true;
    ptx_ask_each(d->s, d->g->regs[reg].uses, d->g->regs[reg].nuses);
}

static void mark_carry(struct diverge *d, const struct ptx_inst *i)
{
    bool *carry = &d->varying[d->g->func->nregs];
    if (!ptx_is(i, IS_CARRY_OUT) || *carry)
        return;
    *carry = true;
    ptx_ask_all(d->s);
}

/* Another definition or a use outside of the region sees what is written inside. */
static void mark_seen_outside(struct diverge *d, uint32_t reg)
{
    const struct ptx_reg_refs *x = &d->g->regs[reg];
    if (d->varying[reg])
        return;
    bool outside = x->ndefs > 1;
    for (uint32_t k = 0; k < x->nuses && !outside; k++)
        outside = !ptx_region_has(&d->region, d->g->block_of[x->uses[k]]);
    d->steps += x->nuses;
    if (outside)
        mark_written(d, reg);
}

static void each_written(struct diverge *d, uint32_t block, void (*fn)(struct diverge *d, uint32_t reg))
{
    const struct ptx_block *b = &d->g->blocks[block];
    for (uint32_t k = b->first; k < b->first + b->n; k++) {
        for (struct ptx_regs r = ptx_regs_of(&d->g->func->insts[k], PTX_WRITE); ptx_next_reg(&r);)
            fn(d, r.reg);
        mark_carry(d, &d->g->func->insts[k]);
    }
    d->steps += b->n + 1u;
}

/* Marks everything that can be reached from a block. A spoilt block has all it reaches spoilt already.
 */
static void spoil_step(void *ctx, struct ptx_solver *s, uint32_t block)
{
    struct diverge *d = ctx;
    const struct ptx_block *b = &d->g->blocks[block];
    for (uint32_t k = 0; k < b->nsucc; k++)
        if (!d->spoilt[b->succ[k]]) {
            d->spoilt[b->succ[k]] = true;
            each_written(d, b->succ[k], mark_written);
            ptx_ask(s, b->succ[k]);
        }
}

bool ptx_parts_threads(const struct ptx_cfg *g, uint32_t block, const bool *varying)
{
    const struct ptx_block *b = &g->blocks[block];
    if (!b->n)
        return false;
    const struct ptx_inst *last = &g->func->insts[b->first + b->n - 1];
    if (ptx_effect_of(last) != EFFECT_BRANCH && !ptx_ends_thread(last)) /* a trap ends all */
        return false;
    if (last->guarded)
        return varying[last->guard];
    return b->nsucc > 1 && reads_varying(varying, last); /* indexed branch */
}

/* Values written where threads are apart differ afterwards. */
static void follow_branch(struct diverge *d, uint32_t b)
{
    if (d->done[b] || !ptx_parts_threads(d->g, b, d->varying))
        return;
    d->done[b] = true;
    if (d->steps > d->most) {
        ptx_ask(&d->behind, b);
        ptx_solver_run(&d->behind, spoil_step, d);
        return;
    }
    ptx_region_take(&d->region, b);
    d->steps += d->region.n;
    for (uint32_t k = 0; k < d->region.n; k++)
        each_written(d, d->region.list[k], mark_seen_outside);
}

static void step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct diverge *d = ctx;
    const struct ptx_inst *i = &d->g->func->insts[inst];
    uint32_t b = d->g->block_of[inst];
    d->s = s;
    if (result_varies(d, i)) {
        for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
            mark_written(d, r.reg);
        mark_carry(d, i);
    }
    if (d->cause == PTX_BY_CONTROL && inst + 1 == d->g->blocks[b].first + d->g->blocks[b].n)
        follow_branch(d, b);
}

bool *ptx_varying(const struct ptx_cfg *g, enum ptx_threads scope, enum ptx_cause cause)
{
    struct diverge d = { .g = g, .scope = scope, .cause = cause };
    d.most = STEPS_EACH * ((uint64_t)g->nblocks + g->func->ninsts);
    d.varying = base_alloc((size_t)g->func->nregs + 1);
    d.done = base_alloc(2 * ((size_t)g->nblocks + 1));
    d.spoilt = d.done ? d.done + g->nblocks + 1 : NULL;
    bool ok = ptx_region_make(&d.region, g);
    ok = ptx_solver_make(&d.behind, g->nblocks, PTX_FORWARD) && ok && d.varying && d.done &&
         ptx_solve(g->func->ninsts, PTX_FORWARD, step, &d);
    if (!ok) {
        base_free(d.varying);
        d.varying = NULL;
    }
    base_free(d.done);
    ptx_region_free(&d.region);
    ptx_solver_free(&d.behind);
    return d.varying;
}
