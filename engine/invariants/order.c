/* Order: from an effect on, along every path, the next effects are those of the original. So nothing is
 * lost, done twice or moved across something else, and no branch leads elsewhere.
 *
 *   old   ld a -> bar -> st b | end         new   ld a -> st b          broken: bar is skipped
 *
 * Effects that have no image are left out on both sides: their own check reports them. Loads that became
 * other code are such. What has a guard may be skipped. New effects are passed by. */
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* A set of effects of the original; its ninsts stands for the end. */
struct set {
    uint32_t *v;
    size_t n, cap;
};
/* What is known of a predicate while a block is walked. */
struct known {
    uint32_t reg;
    bool value;
};
enum { MOST_KNOWN = 16 };
#define OF_OLD 0x80000000u /* a register of the original */
struct walk {
    struct inv_pair *p;
    const struct inv_side *s;
    bool now; /* of the new text */
    uint32_t *seen, stamp;
    uint32_t *todo, ntodo; /* blocks */
    struct known known[MOST_KNOWN];
    uint32_t nknown;
    /* the effect that the way begins behind, if it has a guard, and its block: copies of it under other
     * guards stand for what has been done */
    uint32_t self, self_block;
    struct set *out;
    struct set begin; /* what comes first in the original */
    bool wide;        /* guards tell nothing: more ways, never fewer */
    bool own_end;     /* new code ends the thread on the way */
};

static void add(struct walk *w, uint32_t effect)
{
    struct set *s = w->out;
    for (size_t k = 0; k < s->n; k++)
        if (s->v[k] == effect)
            return;
    if (base_grow((void **)&s->v, s->n, &s->cap, sizeof *s->v))
        s->v[s->n++] = effect;
    else
        w->p->oom = true;
}

/* Of instruction k: the effect that it is; PTX_NO_INDEX: none. */
static uint32_t effect_at(const struct walk *w, uint32_t k)
{
    const struct inv_pair *p = w->p;
    uint32_t o = w->now ? p->origin[k] : k, end = p->old.f->ninsts;
    if (o == PTX_NO_INDEX)
        return PTX_NO_INDEX;
    const struct ptx_inst *i = &p->old.f->insts[o];
    if (ptx_effect_of(i) == EFFECT_EXIT)
        return end;
    bool same = !w->now || ptx_effect_of(&w->s->f->insts[k]) == ptx_effect_of(i);
    return same && inv_has_effect(i) && p->effect_kept[o] ? o : PTX_NO_INDEX;
}

static uint32_t target_of(const struct inv_side *s, const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_LABEL && i->opnds[k].index < s->f->nlabels)
            return s->f->labels[i->opnds[k].index].inst;
    return PTX_NO_INDEX;
}

/* Goes on at the blocks that follow; not where the original's thread has ended and the new one goes on
 * with the next. */
static void leave(struct walk *w, const struct ptx_block *b)
{
    uint32_t at = b->first + b->n - 1;
    const struct ptx_inst *last = &w->s->f->insts[at];
    bool ends = ptx_effect_of(last) == EFFECT_BRANCH && effect_at(w, at) != PTX_NO_INDEX;
    uint32_t skip = ends ? target_of(w->s, last) : PTX_NO_INDEX;
    for (uint32_t k = 0; k < b->nsucc; k++)
        if (w->seen[b->succ[k]] != w->stamp && w->s->g->blocks[b->succ[k]].first != skip) {
            w->seen[b->succ[k]] = w->stamp;
            w->todo[w->ntodo++] = b->succ[k];
        }
    if (!b->nsucc && ptx_effect_of(last) != EFFECT_EXIT)
        add(w, w->p->old.f->ninsts);
}

static void know(struct walk *w, uint32_t reg, bool value)
{
    if (w->nknown < MOST_KNOWN)
        w->known[w->nknown++] = (struct known){ reg, value };
}

static void forget(struct walk *w, uint32_t reg)
{
    for (uint32_t k = 0; k < w->nknown; k++)
        if (w->known[k].reg == reg)
            w->known[k--] = w->known[--w->nknown];
}

/* What instruction k of the side that is walked writes is not known any more. */
static void forget_written(struct walk *w, uint32_t k)
{
    uint32_t o = w->now ? w->p->origin[k] : PTX_NO_INDEX;
    for (struct ptx_regs r = ptx_regs_of(&w->s->f->insts[k], PTX_WRITE); ptx_next_reg(&r);)
        forget(w, r.reg);
    if (o != PTX_NO_INDEX)
        for (struct ptx_regs r = ptx_regs_of(&w->p->old.f->insts[o], PTX_WRITE); ptx_next_reg(&r);)
            forget(w, r.reg | OF_OLD);
}

/* The predicate that decides about instruction k: the original's where it has one, since a copy may ask
 * for more; and whether it is executed where that is false. */
static struct known guard_of(const struct walk *w, uint32_t k)
{
    uint32_t o = w->now ? w->p->origin[k] : PTX_NO_INDEX;
    const struct ptx_inst *i = &w->s->f->insts[k];
    const struct ptx_inst *x = o == PTX_NO_INDEX ? i : &w->p->old.f->insts[o];
    return x->guarded && x != i ? (struct known){ x->guard | OF_OLD, x->guard_neg }
                                : (struct known){ i->guard, i->guard_neg };
}

/* Is it executed here? 1 and 0, as far as its guard is known; else -1. */
static int executed(const struct walk *w, uint32_t k)
{
    struct known g = guard_of(w, k);
    bool guarded = w->s->f->insts[k].guarded;
    for (uint32_t n = 0; n < w->nknown && guarded && !w->wide; n++)
        if (w->known[n].reg == g.reg)
            return w->known[n].value != g.value;
    return guarded ? -1 : 1;
}

/* Does the way end at instruction k? One that may be skipped is taken, and then skipped with all that
 * have its guard. */
static bool ends_at(struct walk *w, uint32_t k)
{
    struct known guard = guard_of(w, k);
    uint32_t e = effect_at(w, k);
    int runs = executed(w, k);
    w->own_end |=
        w->now && w->p->origin[k] == PTX_NO_INDEX && ptx_effect_of(&w->s->f->insts[k]) == EFFECT_EXIT;
    if (e == w->self && w->s->f->insts[k].guarded && w->s->g->block_of[k] == w->self_block)
        return false;
    if (e != PTX_NO_INDEX && runs)
        add(w, e);
    if (e != PTX_NO_INDEX && runs < 0)
        know(w, guard.reg, guard.value);
    return e != PTX_NO_INDEX && runs == 1;
}

static void walk_from(struct walk *w, uint32_t at)
{
    const struct ptx_block *b = &w->s->g->blocks[w->s->g->block_of[at]];
    for (uint32_t k = at; k < b->first + b->n; k++) {
        if (ends_at(w, k))
            return;
        forget_written(w, k);
    }
    leave(w, b);
}

/* The effects that come next from instruction `at` on. */
static void next_effects(struct walk *w, bool now, uint32_t at, struct set *out)
{
    w->now = now;
    w->s = now ? &w->p->now : &w->p->old;
    w->out = out;
    w->stamp++;
    w->ntodo = 0;
    w->nknown = 0;
    w->own_end = false;
    out->n = 0;
    if (at >= w->s->f->ninsts) {
        add(w, w->p->old.f->ninsts);
        return;
    }
    w->self = PTX_NO_INDEX;
    if (at && w->s->f->insts[at - 1].guarded && inv_has_effect(&w->s->f->insts[at - 1])) {
        struct known g = guard_of(w, at - 1);
        know(w, g.reg, !g.value);
        w->self = now ? effect_at(w, at - 1) : PTX_NO_INDEX;
        w->self_block = w->s->g->block_of[at - 1];
    }
    walk_from(w, at);
    w->self = PTX_NO_INDEX; /* round a loop it comes anew */
    while (w->ntodo) {
        w->nknown = 0;
        walk_from(w, w->s->g->blocks[w->todo[--w->ntodo]].first);
    }
}

static bool has(const struct set *s, uint32_t effect)
{
    for (size_t k = 0; k < s->n; k++)
        if (s->v[k] == effect)
            return true;
    return false;
}

static void tell(struct walk *w, const struct ptx_inst *at, uint32_t effect, const char *how)
{
    const struct ptx_func *f = w->p->old.f;
    bool end = effect == f->ninsts;
    bool barrier = !end && ptx_effect_of(&f->insts[effect]) == EFFECT_BARRIER;
    if (end)
        inv_broken(w->p, "invariant-order", at, "from here %s the end of the thread", how);
    else
        inv_broken(w->p, barrier ? "invariant-barrier" : "invariant-order", at,
                   "from here %s what stands at line %d of the original", how,
                   (int)f->insts[effect].at.line);
}

/* Before anything is written, code for several lanes may give up and begin again. */
static bool begins_again(const struct walk *w, uint32_t effect, uint32_t self)
{
    return w->p->in->declared & INV_LANES && self == PTX_NO_INDEX && has(&w->begin, effect);
}

/* Two places from which the same has to follow; self: an effect that may come again, once for each
 * lane. */
static void compare(struct walk *w, struct set *s, uint32_t old, uint32_t now, const struct ptx_inst *at,
                    uint32_t self)
{
    w->wide = true;
    next_effects(w, false, old, &s[0]);
    w->wide = false;
    next_effects(w, true, now, &s[1]);
    for (size_t k = 0; k < s[1].n; k++)
        if (!has(&s[0], s[1].v[k]) && s[1].v[k] != self && !begins_again(w, s[1].v[k], self)) {
            tell(w, at, s[1].v[k], "comes at once");
            return;
        }
    next_effects(w, false, old, &s[0]);
    w->wide = true;
    next_effects(w, true, now, &s[1]);
    for (size_t k = 0; k < s[0].n && !has(&s[1], self); k++)
        if (!has(&s[1], s[0].v[k]) && !(w->own_end && s[0].v[k] == w->p->old.f->ninsts)) {
            tell(w, at, s[0].v[k], "no path leads any more to");
            return;
        }
}

static void compare_sides(struct walk *w, struct set *s, uint32_t n)
{
    struct inv_pair *p = w->p;
    const struct ptx_inst *i = &p->now.f->insts[n], *o = &p->old.f->insts[p->origin[n]];
    if (!ptx_is(i, IS_JUMP) || !ptx_is(o, IS_JUMP) || !i->guarded || !o->guarded)
        return;
    uint32_t was[2] = { target_of(&p->old, o), o->index + 1 };
    uint32_t is[2] = { target_of(&p->now, i), n + 1 };
    bool crossed = i->guard_neg != o->guard_neg;
    for (unsigned k = 0; k < 2 && was[0] != PTX_NO_INDEX && is[0] != PTX_NO_INDEX; k++)
        compare(w, s, was[k], is[k ^ crossed], i, PTX_NO_INDEX);
}

static void check_all(struct walk *w, struct set *s)
{
    struct inv_pair *p = w->p;
    next_effects(w, false, 0, &w->begin);
    compare(w, s, 0, 0, NULL, PTX_NO_INDEX);
    for (uint32_t n = 0; n < p->now.f->ninsts && !p->oom; n++) {
        if (!inv_reached(&p->now, n) || p->origin[n] == PTX_NO_INDEX ||
            !inv_reached(&p->old, p->origin[n]))
            continue;
        w->now = true;
        w->s = &p->now;
        uint32_t e = effect_at(w, n), lanes = p->in->declared & INV_LANES ? e : PTX_NO_INDEX;
        if (e != PTX_NO_INDEX && e != p->old.f->ninsts)
            compare(w, s, e + 1, n + 1, &p->now.f->insts[n], lanes);
        compare_sides(w, s, n);
    }
}

void inv_check_order(struct inv_pair *p)
{
    struct walk w = { .p = p };
    struct set s[2] = { { 0 }, { 0 } };
    uint32_t most = p->old.g->nblocks > p->now.g->nblocks ? p->old.g->nblocks : p->now.g->nblocks;
    w.seen = base_alloc(sizeof *w.seen * (most + 1));
    w.todo = base_alloc(sizeof *w.todo * (most + 1));
    if (w.seen && w.todo && p->old.f->ninsts && p->now.f->ninsts)
        check_all(&w, s);
    p->oom |= !w.seen || !w.todo;
    BASE_FREE(w.seen, w.todo, s[0].v, s[1].v, w.begin.v);
}
