/* Lanes that leave while others of their warp still do something together. In the original they are gone,
 * and nobody waits for them; in a text where they go on to the next task they are named and never come.
 *
 * A branch lets lanes of a warp part, unless it asks for the thread's number in whole warps. What names
 * all lanes, and stands where only some of them come to, waits for the others to leave. What names some of them is
 * taken to name those that come to it, unless nothing but the end lies where the ways meet again. */
#include "engine/pass/pass_int.h"
#include "engine/pass/tasks.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/launch.h"

enum { WARP = 32, WARP_BITS = 5 };

struct leaving {
    const struct ptx_func *f;
    const struct ptx_cfg *g;
    const bool *varying; /* between lanes of a warp */
    bool rows;           /* %tid.x / 32 is the same in all lanes of a warp */
    bool whole_blocks;   /* %ntid.x is a multiple of 32 */
    struct ptx_region region;
};

/* The one instruction that writes the register, without a guard; NULL: there are several, or none. */
static const struct ptx_inst *writer(const struct ptx_func *f, uint32_t reg)
{
    const struct ptx_inst *found = NULL;
    for (uint32_t n = 0; n < f->ninsts; n++) {
        if (!ptx_writes_reg(&f->insts[n], reg))
            continue;
        if (found || f->insts[n].guarded)
            return NULL;
        found = &f->insts[n];
    }
    return found;
}

static const struct ptx_inst *source(const struct ptx_func *f, const struct ptx_operand *o)
{
    return o->kind == OPND_REG ? writer(f, o->index) : NULL;
}

#define HOPS 4u /* from one instruction to the one that made its operand */

static bool is_shared(const struct leaving *l, const struct ptx_operand *o)
{
    return ptx_is_number(o) || (o->kind == OPND_REG && !l->varying[o->index]) ||
           (o->kind == OPND_SREG && (o->index == PTX_SREG_CTAID || o->index == PTX_SREG_NTID));
}

/* %ntid.x, through copies; a number of whole warps. */
static bool is_block(const struct leaving *l, const struct ptx_operand *o, unsigned hops)
{
    const struct ptx_inst *d = source(l->f, o);
    if (o->kind == OPND_SREG)
        return l->whole_blocks && o->index == PTX_SREG_NTID && o->comp == 0;
    return d && hops && ptx_is_move(d) && is_block(l, &d->opnds[1], hops - 1);
}

/* The same multiple of a warp's threads in all its lanes. */
static bool is_rows(const struct leaving *l, const struct ptx_term *t)
{
    if (!t->b)
        return ptx_is_number(t->a) && t->a->imm % WARP == 0;
    if (t->shift)
        return is_shared(l, t->a) && ptx_is_number(t->b) && t->b->imm >= WARP_BITS && t->b->imm < 32;
    return (is_block(l, t->a, HOPS) && is_shared(l, t->b)) ||
           (is_block(l, t->b, HOPS) && is_shared(l, t->a));
}

/* %tid.x, and perhaps whole warps more, the same in all lanes. */
static bool is_thread(const struct leaving *l, const struct ptx_operand *o, unsigned hops)
{
    const struct ptx_inst *d = source(l->f, o);
    struct ptx_sum s;
    if (o->kind == OPND_SREG)
        return o->index == PTX_SREG_TID && o->comp == 0;
    if (d && hops && ptx_is_move(d))
        return is_thread(l, &d->opnds[1], hops - 1);
    if (!d || !hops || !ptx_sum_of(d, &s) || s.n != 2 || s.bits != 32 || s.widens || s.cuts)
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const struct ptx_term *t = &s.term[k], *more = &s.term[1 - k];
        if (!t->b && !t->minus && is_thread(l, t->a, hops - 1) && is_rows(l, more))
            return true;
    }
    return false;
}

/* The number of the thread's warp, or of several warps together. */
static bool is_warp(const struct leaving *l, const struct ptx_inst *d)
{
    const struct ptx_operand *of = NULL;
    uint64_t by = ptx_divides(d, &of);
    return by && by % WARP == 0 && is_thread(l, of, HOPS);
}

/* The same in all lanes of a warp, though it is another from thread to thread. */
static bool is_same(const struct leaving *l, const struct ptx_operand *o, unsigned hops)
{
    const struct ptx_inst *d = source(l->f, o);
    if (is_shared(l, o) || !d || !hops || ptx_effect_of(d) != EFFECT_NONE || is_warp(l, d))
        return is_shared(l, o) || (d && hops && is_warp(l, d));
    for (unsigned k = 1; k < d->nopnds; k++)
        if (!is_same(l, &d->opnds[k], hops - 1))
            return false;
    return d->nopnds > 1;
}

/* Does this branch ask for the thread's number in whole warps? */
static bool whole_warps(const struct leaving *l, const struct ptx_inst *branch)
{
    struct ptx_comparison c;
    const struct ptx_inst *test = branch->guarded ? writer(l->f, branch->guard) : NULL;
    if (!l->rows || !test || !ptx_comparison_of(test, &c))
        return false;
    if (is_same(l, c.a, HOPS) && is_same(l, c.b, HOPS))
        return true;
    if (c.b->kind != OPND_IMM)
        return false;
    bool below =
        c.how == PTX_MOD_LT || c.how == PTX_MOD_GE || c.how == PTX_MOD_LO || c.how == PTX_MOD_HS;
    bool upto = c.how == PTX_MOD_GT || c.how == PTX_MOD_LE || c.how == PTX_MOD_HI || c.how == PTX_MOD_LS;
    return is_thread(l, c.a, HOPS) && c.b->imm >= 0 &&
           ((below && c.b->imm % WARP == 0) || (upto && c.b->imm % WARP == WARP - 1));
}

/* Nothing is done from where the ways of the region taken last meet. */
static bool ends_there(const struct leaving *l)
{
    uint32_t end = l->region.end;
    if (end >= l->g->nblocks)
        return true;
    const struct ptx_block *k = &l->g->blocks[end];
    return k->n == 1 && ptx_effect_of(&l->f->insts[k->first]) == EFFECT_EXIT;
}

/* Were the lanes chosen inside the region taken last, among those that are there? */
static bool chosen_here(const struct leaving *l, const struct ptx_operand *mask)
{
    const struct ptx_inst *d = source(l->f, mask);
    for (unsigned depth = 0; d && ptx_is_move(d) && depth < 4; depth++)
        d = source(l->f, &d->opnds[1]);
    if (!d || !ptx_chooses_lanes(d))
        return false;
    for (uint32_t n = 0; n < l->region.n; n++) {
        const struct ptx_block *k = &l->g->blocks[l->region.list[n]];
        if (d->index >= k->first && d->index < k->first + k->n)
            return true;
    }
    return false;
}

static bool waits_for_gone(const struct leaving *l, const struct ptx_inst *i)
{
    const struct ptx_operand *mask = ptx_named_lanes(i);
    if (!mask || chosen_here(l, mask))
        return false;
    return mask->kind != OPND_IMM || (uint32_t)mask->imm == UINT32_MAX || ends_there(l);
}

static const struct ptx_inst *find_in_region(struct leaving *l, uint32_t branch)
{
    ptx_region_take(&l->region, branch);
    for (uint32_t n = 0; n < l->region.n; n++) {
        const struct ptx_block *k = &l->g->blocks[l->region.list[n]];
        for (uint32_t at = k->first; at < k->first + k->n; at++)
            if (waits_for_gone(l, &l->f->insts[at]))
                return &l->f->insts[at];
    }
    return NULL;
}

enum status tasks_check_lanes(struct pass_ctx *c, const struct ptx_func *f, const struct task_words *w)
{
    const struct launch_spec *launch = c->in->launch;
    struct leaving l = { .f = f,
                         .g = ptx_cfg_of(f),
                         .varying = ptx_varying_of(f, PTX_OF_WARP, PTX_BY_CONTROL) };
    bool any = false;
    for (uint32_t n = 0; n < f->ninsts && !any; n++)
        any = ptx_named_lanes(&f->insts[n]) != NULL;
    if (!any)
        return ST_OK;
    if (!l.g || !l.varying || !ptx_region_make(&l.region, l.g))
        return ST_NOMEM;
    l.rows = launch && (launch->block.y * launch->block.z == 1 || launch->block.x % WARP == 0);
    l.whole_blocks = launch && launch->block.x % WARP == 0;
    const struct ptx_inst *found = NULL, *branch = NULL;
    for (uint32_t b = 0; b < l.g->nblocks && !found; b++) {
        const struct ptx_block *k = &l.g->blocks[b];
        branch = k->n ? &f->insts[k->first + k->n - 1] : NULL;
        if (branch && ptx_parts_threads(l.g, b, l.varying) && !whole_warps(&l, branch))
            found = find_in_region(&l, b);
    }
    ptx_region_free(&l.region);
    if (!found)
        return ST_OK;
    return pass_refuse(
        c, found->at, NULL,
        "lanes that leave at line %d would be waited for here: %s has them go on to the next %s",
        (int)branch->at.line, w->who, w->next);
}
