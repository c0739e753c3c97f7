/* Neighbouring threads side by side: what each instruction becomes.
 *
 *   before                               after, --coarsen 4 --coarsen-mode vector
 *     mad.lo.s32 %r4, ...;                 v0_r4, v1_r4, v2_r4, v3_r4        lanes 0 to 3
 *     ld.global.f32 %f1, [%rd8];           @(wraps or not aligned) bra $slow;
 *     add.f32 %f2, %f1, %f1;               ld.global.v4.f32 {v0_f1, v1_f1, v2_f1, v3_f1}, [v0_rd8];
 *     st.global.f32 [%rd9], %f2;           add.f32 v0_f2, v0_f1, v0_f1;  ...  three times more
 *     ret;                                 st.global.v4.f32 [v0_rd9], {v0_f2, v1_f2, v2_f2, v3_f2};
 *                                          ret;
 *                                        $slow: one after the other, as --coarsen-mode blocked
 *
 * Each lane executes its instructions in the original's order; between lanes any order is one that
 * threads without a meeting point may have. A vector access is one access for each lane. So the code is
 * legal wherever a coarsened loop is. Where lanes do not go the same way, where an address is not
 * aligned, or where an index wraps between lanes, the thread goes to the loop; nothing has been written
 * then. */
#include "engine/rewrites/vector/vector_int.h"

#include "engine/pass/copies.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { WITHIN_MOST = 16, INSTS_MOST = 4096 };

/* ---- results ---- */
struct results {
    bool vary, once; /* one varies; each has this definition alone */
};

static struct results results(const struct vector_plan *p, const struct ptx_inst *i)
{
    struct results of = { false, true };
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        of.vary |= p->varies[r.reg];
        of.once &= p->flow.cfg->regs[r.reg].ndefs == 1;
    }
    return of;
}

/* ---- what may stand there at all ---- */
static const char *unfit_memory(const struct ptx_inst *i)
{
    switch ((enum ptx_space)i->space) {
    case PTX_SPACE_GENERIC:
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST: return NULL;
    case PTX_SPACE_PARAM: return ptx_effect_of(i) == EFFECT_LOAD ? NULL : "memory of the thread's own";
    default: return "memory of the thread's own";
    }
}

static const char *unfit(const struct ptx_func *f, const struct ptx_inst *i)
{
    if (ptx_is_opaque(i))
        return "an instruction that is not modelled";
    if (ptx_is(i, IS_CARRY_IN | IS_CARRY_OUT))
        return "the carry flag";
    if (ptx_is(i, IS_LASTS))
        return "what lasts until the thread ends";
    for (uint32_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SREG && i->opnds[k].index != PTX_SREG_TID &&
            i->opnds[k].index != PTX_SREG_CTAID && i->opnds[k].index != PTX_SREG_NTID &&
            i->opnds[k].index != PTX_SREG_NCTAID)
            return "a special register";
    switch (ptx_effect_of(i)) {
    case EFFECT_NONE: return NULL;
    case EFFECT_LOAD:
    case EFFECT_STORE:
    case EFFECT_ATOMIC: return pass_own_param(f, i) ? NULL : unfit_memory(i);
    case EFFECT_BRANCH: return ptx_is(i, IS_JUMP) ? NULL : "a branch of several targets";
    case EFFECT_EXIT: return ptx_ends_thread(i) ? NULL : "an instruction that ends the kernel";
    default: return "what threads do together, a call, a fence or a texture";
    }
}

static enum status check_insts(struct pass_ctx *c, const struct vector_plan *p)
{
    const struct ptx_func *f = p->f;
    for (uint32_t k = 0; k < f->nvars; k++)
        if (f->vars[k]->space == PTX_SPACE_LOCAL)
            return pass_refuse(c, f->vars[k]->at,
                               "--coarsen-mode blocked has one thread after the other",
                               "the kernel has local memory, which threads side by side would share");
    const struct ptx_symbol *v = copies_inner_variable(f);
    if (v)
        return pass_refuse(c, v->at, "--coarsen-mode blocked has one thread after the other",
                           "the kernel has a variable of an inner scope, which threads side by side "
                           "would not see");
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const char *what = unfit(f, &f->insts[k]);
        if (what)
            return pass_refuse(c, f->insts[k].at,
                               "--coarsen-mode blocked has one thread after the other",
                               "threads cannot stand side by side here: the kernel uses %s", what);
    }
    for (uint32_t k = 0; k < f->nregs; k++)
        if (f->regs[k].vec > 1)
            return pass_refuse(c, f->at, NULL, "the kernel has a register that is a vector");
    if (f->ninsts > INSTS_MOST)
        return pass_refuse(c, f->at, NULL, "the kernel has %u instructions; up to %d stand side by side",
                           f->ninsts, INSTS_MOST);
    return ST_OK;
}

/* ---- pure registers ---- */
static bool defines_pure(const struct vector_plan *p, const struct ptx_inst *i)
{
    if (i->guarded || !(ptx_effect_of(i) == EFFECT_NONE || pass_own_param(p->f, i)))
        return false;
    return results(p, i).once && vector_sources(p, i).pure;
}

static void add_pure(struct vector_plan *p, uint32_t inst)
{
    for (uint32_t k = p->norder; k-- > 0;)
        if (p->order[k] == inst)
            return;
    p->order[p->norder++] = inst;
}

static void pure_step(void *ctx, struct ptx_solver *s, uint32_t r)
{
    struct vector_plan *p = ctx;
    const struct ptx_reg_refs *x = &p->flow.cfg->regs[r];
    if (p->pure[r] || x->ndefs != 1 || !defines_pure(p, &p->f->insts[x->defs[0]]))
        return;
    p->pure[r] = true;
    add_pure(p, x->defs[0]);
    ptx_ask_all(s);
}

/* ---- what differs between lanes, and which branches each lane decides ---- */
static uint32_t target(const struct ptx_func *f, const struct ptx_inst *i)
{
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_LABEL)
            return f->labels[i->opnds[k].index].inst;
    return f->ninsts;
}

/* Instructions between a branch and its target that lanes can be kept out of one by one: a few, nothing
 * guarded, nothing that control reaches or leaves elsewhere. */
static bool stays_within(const struct vector_plan *p, uint32_t from, uint32_t to)
{
    if (to <= from + 1 || to - from - 1 > WITHIN_MOST)
        return false;
    for (uint32_t k = 0; k < p->f->nlabels; k++)
        if (p->f->labels[k].inst > from && p->f->labels[k].inst < to)
            return false;
    for (uint32_t k = from + 1; k < to; k++) {
        enum ptx_effect e = ptx_effect_of(&p->f->insts[k]);
        bool plain = e == EFFECT_NONE || e == EFFECT_STORE || e == EFFECT_ATOMIC || e == EFFECT_LOAD;
        if (p->f->insts[k].guarded || !plain)
            return false;
    }
    return true;
}

static bool each_decides(struct vector_plan *p, const struct ptx_inst *i)
{
    if (ptx_effect_of(i) != EFFECT_BRANCH || !i->guarded || !p->varies[i->guard] || p->pure[i->guard])
        return false;
    uint32_t to = target(p->f, i);
    if (p->within[i->index] != PTX_NO_INDEX || !stays_within(p, i->index, to))
        return false;
    bool fresh = p->within[i->index + 1] == PTX_NO_INDEX;
    for (uint32_t k = i->index + 1; k < to && fresh; k++)
        p->within[k] = i->index;
    return fresh;
}

bool vector_keeps_guard(const struct vector_plan *p, const struct ptx_inst *i)
{
    uint32_t next = i->index + 1;
    return next < p->f->ninsts && p->within[next] == i->index &&
           !copies_guard_stays(p->f, i->guard, next, target(p->f, i));
}

static bool lane_of(const struct vector_plan *p, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool strong = e != EFFECT_NONE && ptx_is_strong(i) && !pass_own_param(p->f, i);
    return e == EFFECT_ATOMIC || e == EFFECT_STORE || strong || p->within[i->index] != PTX_NO_INDEX ||
           vector_sources(p, i).varies || results(p, i).vary;
}

static void varying_step(void *ctx, struct ptx_solver *s, uint32_t k)
{
    struct vector_plan *p = ctx;
    const struct ptx_inst *i = &p->f->insts[k];
    enum ptx_effect e = ptx_effect_of(i);
    if (each_decides(p, i))
        ptx_ask_all(s);
    if (p->how[k] != VECTOR_ONCE || e == EFFECT_BRANCH || e == EFFECT_EXIT || !lane_of(p, i))
        return;
    p->how[k] = VECTOR_LANES;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        p->varies[r.reg] = true;
    ptx_ask_all(s);
}

/* ---- branches that all lanes must take alike ---- */
static bool writes(const struct ptx_inst *i)
{
    return ptx_effect_of(i) == EFFECT_STORE || ptx_effect_of(i) == EFFECT_ATOMIC;
}

/* By block: may memory have been written when it begins? false: out of memory */
static bool find_written(const struct vector_plan *p, bool *written)
{
    const struct ptx_cfg *cfg = p->flow.cfg;
    for (uint32_t b = 0; b < cfg->nblocks; b++) {
        bool here = false;
        for (uint32_t k = 0; k < cfg->blocks[b].n; k++)
            here |= writes(&p->f->insts[cfg->blocks[b].first + k]);
        for (uint32_t s = 0; s < cfg->blocks[b].nsucc && here; s++)
            written[cfg->blocks[b].succ[s]] = true;
    }
    return ptx_reach(cfg, PTX_FORWARD, written);
}

static bool written_before(const struct vector_plan *p, const bool *written, const struct ptx_inst *i)
{
    uint32_t b = p->flow.cfg->block_of[i->index];
    bool so = written[b];
    for (uint32_t k = p->flow.cfg->blocks[b].first; k < i->index; k++)
        so |= writes(&p->f->insts[k]);
    return so;
}

static enum status check_branches(struct pass_ctx *c, struct vector_plan *p, const bool *written)
{
    for (uint32_t k = 0; k < p->f->ninsts; k++) {
        const struct ptx_inst *i = &p->f->insts[k];
        enum ptx_effect e = ptx_effect_of(i);
        bool decided = k + 1 < p->f->ninsts && p->within[k + 1] == k;
        if ((e != EFFECT_BRANCH && e != EFFECT_EXIT) || !i->guarded || !p->varies[i->guard])
            continue;
        p->how[k] = decided ? VECTOR_REST : VECTOR_SAME;
        if (!decided && !p->pure[i->guard] && written_before(p, written, i))
            return pass_refuse(c, i->at, "--coarsen-mode blocked has one thread after the other",
                               "neighbouring threads may part here after memory was written");
    }
    return ST_OK;
}

/* ---- what is computed before the body ---- */
/* What the addresses of groups and the conditions of branches follow from. */
static void find_early(struct vector_plan *p)
{
    for (uint32_t g = 0; g < p->ngroups; g++)
        for (uint32_t r = 0; r < p->group[g].nroots; r++)
            p->early[p->flow.cfg->regs[p->group[g].root[r]].defs[0]] = true;
    for (uint32_t k = 0; k < p->f->ninsts; k++)
        if (p->how[k] == VECTOR_SAME && p->pure[p->f->insts[k].guard])
            p->early[p->flow.cfg->regs[p->f->insts[k].guard].defs[0]] = true;
    for (uint32_t k = p->norder; k-- > 0;)
        if (p->early[p->order[k]])
            for (struct ptx_regs r = ptx_regs_of(&p->f->insts[p->order[k]], PTX_READ); ptx_next_reg(&r);)
                p->early[p->flow.cfg->regs[r.reg].defs[0]] = true;
}

/* ---- the plan ---- */
static bool make_room(struct vector_plan *p)
{
    size_t insts = (size_t)p->f->ninsts + 1, regs = (size_t)p->f->nregs + 1;
    p->varies = base_alloc(regs * sizeof *p->varies);
    p->pure = base_alloc(regs * sizeof *p->pure);
    p->order = base_alloc((insts + regs) * sizeof *p->order);
    p->early = base_alloc(insts * sizeof *p->early);
    p->wraps = base_alloc(insts * sizeof *p->wraps);
    p->how = base_alloc(insts * sizeof *p->how);
    p->within = base_alloc(insts * sizeof *p->within);
    p->value = base_alloc(regs * sizeof *p->value);
    p->known = base_alloc(regs * sizeof *p->known);
    if (!p->varies || !p->pure || !p->order || !p->early || !p->wraps || !p->how || !p->within ||
        !p->value || !p->known)
        return false;
    memset(p->within, 0xff, insts * sizeof *p->within);
    return pass_flow_make(p->f, &p->flow);
}

static enum status plan_branches(struct pass_ctx *c, struct vector_plan *p)
{
    bool *written = base_alloc((size_t)p->flow.cfg->nblocks + 1);
    if (!written) {
        c->oom = true;
        return ST_OK;
    }
    enum status s = find_written(p, written) ? check_branches(c, p, written) : ST_NOMEM;
    base_free(written);
    return s;
}

enum status vector_plan_make(struct pass_ctx *c, unsigned lanes, struct vector_plan *p)
{
    memset(p, 0, sizeof *p);
    p->f = c->f;
    p->lanes = lanes;
    enum status s = check_insts(c, p);
    if (s != ST_OK)
        return s;
    if (!make_room(p)) {
        c->oom = true;
        return ST_OK;
    }
    if (!ptx_solve(p->f->nregs, PTX_FORWARD, pure_step, p) ||
        !ptx_solve(p->f->ninsts, PTX_FORWARD, varying_step, p))
        return ST_NOMEM;
    s = plan_branches(c, p);
    if (s != ST_OK)
        return s;
    vector_find_values(c, p);
    if (!vector_find_groups(p)) {
        c->oom = true;
        return ST_OK;
    }
    if (!p->ngroups)
        return pass_refuse(c, p->f->at, "--coarsen without it has one thread after the other",
                           "no load or store of neighbouring threads becomes a vector: none has an "
                           "address that is known before the body and goes on by its own size");
    find_early(p);
    return ST_OK;
}

void vector_plan_free(struct vector_plan *p)
{
    BASE_FREE(p->varies, p->pure, p->order, p->early, p->wraps, p->how, p->within, p->value, p->known,
              p->group, p->of);
    memset(p, 0, sizeof *p);
}
