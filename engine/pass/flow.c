/* Flow facts of one function, conservative: which registers may differ between
 * the threads of a CTA, where the pointer of an address comes from, which
 * returns a barrier may follow, which loops wait for other threads. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

/* ---- facts ---- */
bool pass_own_param(const struct ptx_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    if (i->space != PTX_SPACE_PARAM)
        return false;
    for (uint32_t k = 0; a && a->base == BASE_SYM && k < f->nparams; k++)
        if (f->params[k] == a->sym)
            return true;
    return f->entry && a && a->base == BASE_REG;
}

static bool make(const struct ptx_func *f, struct pass_flow *out, bool grid)
{
    memset(out, 0, sizeof *out);
    out->f = f;
    out->cfg = ptx_cfg_of(f);
    out->divergent = ptx_varying_of(f, grid ? PTX_OF_GRID : PTX_OF_CTA, PTX_BY_CONTROL);
    return out->divergent != NULL;
}

bool pass_flow_make(const struct ptx_func *f, struct pass_flow *out)
{
    return make(f, out, false);
}
bool pass_flow_make_grid(const struct ptx_func *f, struct pass_flow *out)
{
    return make(f, out, true);
}

/* ---- returns before barriers ---- */
static bool block_has(const struct pass_flow *fl, uint32_t b, bool (*is)(const struct ptx_inst *i))
{
    const struct ptx_block *k = &fl->cfg->blocks[b];
    for (uint32_t i = k->first; i < k->first + k->n; i++)
        if (is(&fl->f->insts[i]))
            return true;
    return false;
}

bool inst_is_cta_barrier(const struct ptx_inst *i)
{
    return ptx_is(i, IS_CTA_BARRIER);
}

/* A branch that may part the threads of a CTA, with a barrier before they meet again: those that
 * do not come to the barrier must have left the kernel. The compiler often merges all returns into
 * one, so it does not matter whether they meet again at the end. */
const struct ptx_inst *pass_return_before_barrier(const struct pass_flow *fl)
{
    const struct ptx_cfg *g = fl->cfg;
    struct ptx_region r = { 0 };
    const struct ptx_inst *found = NULL;
    bool *has = base_alloc(2 * ((size_t)g->nblocks + 1)), *leads = has ? has + g->nblocks + 1 : NULL;
    for (uint32_t b = 0; has && b < g->nblocks; b++)
        leads[b] = has[b] = block_has(fl, b, inst_is_cta_barrier);
    if (!has || !ptx_reach(g, PTX_BACKWARD, leads) || !ptx_region_make(&r, g)) {
        base_free(has);
        return fl->f->ninsts ? &fl->f->insts[0] : NULL; /* cannot tell: refuse */
    }
    for (uint32_t b = 0; b < g->nblocks && !found; b++) {
        const struct ptx_block *k = &g->blocks[b];
        if (!k->n || !(leads[b] || !k->reachable) || !ptx_parts_threads(g, b, fl->divergent))
            continue;
        ptx_region_take(&r, b);
        for (uint32_t n = 0; n < r.n && !found; n++)
            if (has[r.list[n]])
                found = &fl->f->insts[k->first + k->n - 1];
    }
    ptx_region_free(&r);
    base_free(has);
    return found;
}

/* Is there an instruction that `what` names in a block that can be reached from `from`, itself included,
 * or no memory to tell? */
static bool reaches(const struct pass_flow *fl, uint32_t from, bool (*what)(const struct ptx_inst *i),
                    bool *in)
{
    const struct ptx_cfg *g = fl->cfg;
    memset(in, 0, g->nblocks);
    in[from] = true;
    if (!ptx_reach(g, PTX_FORWARD, in))
        return true;
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (in[b] && block_has(fl, b, what))
            return true;
    return false;
}

bool pass_goes_together(const struct pass_flow *fl, uint32_t block,
                        bool (*meets)(const struct ptx_inst *i))
{
    const struct ptx_cfg *g = fl->cfg;
    struct ptx_region r = { 0 };
    bool *in = base_alloc((size_t)g->nblocks + 1), ok = in && ptx_region_make(&r, g);
    for (uint32_t b = 0; b < g->nblocks && ok; b++) {
        if (!g->blocks[b].n || !ptx_parts_threads(g, b, fl->divergent))
            continue;
        ptx_region_take(&r, b);
        if (ptx_region_has(&r, block) && g->blocks[b].ipdom < g->nblocks)
            ok = !reaches(fl, g->blocks[b].ipdom, meets, in);
    }
    base_free(in);
    ptx_region_free(&r);
    return ok;
}

/* ---- searching ---- */
const struct ptx_inst *pass_find_effect(const struct ptx_func *f, enum ptx_effect e)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (ptx_effect_of(&f->insts[k]) == e)
            return &f->insts[k];
    return NULL;
}

const struct ptx_inst *pass_find_sreg(const struct ptx_func *f, enum ptx_sreg reg)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++) {
            const struct ptx_operand *o = &f->insts[k].opnds[n];
            if (o->kind == OPND_SREG && o->index == reg)
                return &f->insts[k];
        }
    return NULL;
}

const struct ptx_inst *pass_branch_condition(const struct pass_flow *fl, const struct ptx_inst *last,
                                             struct ptx_comparison *out)
{
    if (!last->guarded || ptx_effect_of(last) != EFFECT_BRANCH)
        return NULL;
    const struct ptx_block *b = &fl->cfg->blocks[fl->cfg->block_of[last->index]];
    for (uint32_t k = last->index; k-- > b->first;) {
        const struct ptx_inst *i = &fl->f->insts[k];
        if (ptx_writes_reg(i, last->guard))
            return ptx_comparison_of(i, out) && out->pred == last->guard ? i : NULL;
    }
    return NULL;
}
