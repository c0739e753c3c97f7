/* Guards of code that had none: a guard that comes from the original stands for a branch there, on the
 * right side of it, and is not written between the decision and the code; a new one has its opposite
 * beside it, so that one of two copies is executed.
 *
 *   old   @%p bra $over; setp %p, ...; add ...; $over:
 *   new   @!%p setp %p, ...; @!%p add ...;                 broken: the second has another value */
#include "engine/invariants/data.h"
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

struct guards {
    struct inv_pair *p;
    struct ptx_region region; /* of the original */
};

/* Is there, in the block of n, another image of its origin with the opposite guard? */
static bool has_opposite(const struct inv_pair *p, uint32_t n)
{
    const struct ptx_inst *i = &p->now.f->insts[n];
    uint32_t block = p->now.g->block_of[n];
    for (uint32_t k = p->first[p->origin[n]]; k != PTX_NO_INDEX; k = p->next[k]) {
        const struct ptx_inst *x = &p->now.f->insts[k];
        if (p->now.g->block_of[k] != block || !x->guarded || x->guard != i->guard ||
            x->guard_neg == i->guard_neg)
            continue;
        bool kept = true;
        for (uint32_t at = k < n ? k : n; at < (k < n ? n : k) && kept; at++)
            kept = !ptx_writes_reg(&p->now.f->insts[at], i->guard);
        if (kept)
            return true;
    }
    return false;
}

/* Does the branch that ends block b of the original decide by these values? */
static bool decides(const struct inv_pair *p, uint32_t b, const struct inv_got *got)
{
    const struct ptx_block *k = &p->old.g->blocks[b];
    const struct ptx_inst *last = &p->old.f->insts[k->first + k->n - 1];
    if (!last->guarded || !k->reachable || !ptx_is(last, IS_JUMP))
        return false;
    const struct inv_use *u = &p->old.use[p->old.use_of[last->index]];
    if (u->n != got->n)
        return false;
    for (uint32_t d = 0; d < u->n; d++)
        if (!inv_got_has(got, p->old.reaching[u->first + d]))
            return false;
    return true;
}

/* Between the decision and instruction n its guard is written by code of the region, or in a way that is
 * no copy of the decision. */
static bool written_since(struct guards *g, uint32_t n)
{
    const struct inv_pair *p = g->p;
    const struct ptx_inst *i = &p->now.f->insts[n];
    uint32_t first = p->now.g->blocks[p->now.g->block_of[n]].first;
    for (uint32_t k = n; k-- > first;) {
        const struct ptx_inst *x = &p->now.f->insts[k];
        uint32_t o = p->origin[k];
        if (o != PTX_NO_INDEX && !ptx_region_has(&g->region, p->old.g->block_of[o]))
            return false;
        if (ptx_writes_reg(x, i->guard))
            return o != PTX_NO_INDEX;
    }
    return false;
}

enum answer { NO, YES, WRONG_SIDE, REDEFINED };

/* Is the guard of n the condition of the branch that ends block b, and does that branch decide about its
 * origin? */
static enum answer stands_for(struct guards *g, uint32_t n, uint32_t b, const struct inv_got *got)
{
    const struct inv_pair *p = g->p;
    const struct ptx_block *k = &p->old.g->blocks[b];
    const struct ptx_inst *last = &p->old.f->insts[k->first + k->n - 1], *i = &p->now.f->insts[n];
    uint32_t at = p->old.g->block_of[p->origin[n]];
    if (!decides(p, b, got))
        return NO;
    ptx_region_take(&g->region, b);
    if (!ptx_region_has(&g->region, at) || k->nsucc != 2)
        return NO;
    bool taken = ptx_region_reaches(&g->region, k->succ[0], at),
         falls = ptx_region_reaches(&g->region, k->succ[1], at);
    if (taken == falls)
        return YES; /* loops: it cannot be told */
    if ((i->guard_neg == last->guard_neg) != taken)
        return WRONG_SIDE;
    return written_since(g, n) ? REDEFINED : YES;
}

static void check_guard(struct guards *g, uint32_t n)
{
    struct inv_pair *p = g->p;
    const struct ptx_inst *i = &p->now.f->insts[n];
    struct inv_got got = inv_gets(p, &p->now.use[p->now.use_of[n]]);
    struct str name = p->now.f->regs[i->guard].name;
    enum answer best = NO, one;
    if (got.fresh || got.more) {
        if (!has_opposite(p, n))
            inv_broken(p, "invariant-guard", i,
                       "%.*s decides here alone about what the original always does", (int)name.n,
                       name.s);
        return;
    }
    for (uint32_t b = 0; b < p->old.g->nblocks && best != YES; b++)
        if ((one = stands_for(g, n, b, &got)) != NO)
            best = one;
    if (best == NO)
        inv_broken(p, "invariant-guard", i,
                   "no branch of the original decides by %.*s about this instruction", (int)name.n,
                   name.s);
    else if (best == WRONG_SIDE)
        inv_broken(p, "invariant-guard", i, "guarded by %.*s on the other side of its branch",
                   (int)name.n, name.s);
    else if (best == REDEFINED)
        inv_broken(p, "invariant-guard", i,
                   "%.*s is written between the branch of the original that it stands for and here",
                   (int)name.n, name.s);
}

/* Both have a guard of the same value: it is meant the same way. */
static void check_sign(struct inv_pair *p, uint32_t n)
{
    const struct ptx_inst *i = &p->now.f->insts[n], *o = &p->old.f->insts[p->origin[n]];
    if (i->op != o->op || i->guard_neg == o->guard_neg || ptx_effect_of(i) == EFFECT_BRANCH ||
        !inv_reached(&p->old, o->index))
        return;
    struct inv_got got = inv_gets(p, &p->now.use[p->now.use_of[n]]);
    if (!got.fresh)
        inv_broken(p, "invariant-guard", i, "executed where the original's line %d is not",
                   (int)o->at.line);
}

void inv_check_guards(struct inv_pair *p)
{
    struct guards g = { .p = p };
    if (p->old.large || p->now.large)
        return;
    bool ok = ptx_region_make(&g.region, p->old.g);
    for (uint32_t n = 0; ok && n < p->now.f->ninsts; n++) {
        const struct ptx_inst *i = &p->now.f->insts[n];
        if (!i->guarded || p->origin[n] == PTX_NO_INDEX || !inv_reached(&p->now, n))
            continue;
        const struct ptx_inst *o = &p->old.f->insts[p->origin[n]];
        if (o->guarded)
            check_sign(p, n);
        else if (i->op == o->op)
            check_guard(&g, n);
    }
    p->oom |= !ok;
    ptx_region_free(&g.region);
}
