/* Kept: every effect of the original that is reached is still there, and none comes twice in a row. New
 * stores and atomics go to memory that the new text has brought along. */
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { COPIES_MOST = 512 }; /* looked at in a function */

bool inv_only_reads(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return e == EFFECT_LOAD && !ptx_is_strong(i);
}

bool inv_is_merged(const struct inv_pair *p, uint32_t k)
{
    const struct ptx_block *b = &p->old.g->blocks[p->old.g->block_of[k]];
    for (uint32_t at = b->first; at < b->first + b->n; at++) {
        const struct ptx_inst *x = &p->old.f->insts[at];
        if (x->op != p->old.f->insts[k].op || at == k)
            continue;
        for (uint32_t n = p->first[at]; n != PTX_NO_INDEX; n = p->next[n])
            if (p->now.f->insts[n].vec > x->vec)
                return true;
    }
    return false;
}

static void check_dropped(struct inv_pair *p)
{
    for (uint32_t k = 0; k < p->old.f->ninsts; k++) {
        const struct ptx_inst *o = &p->old.f->insts[k];
        if (!inv_has_effect(o) || !inv_reached(&p->old, k) || inv_only_reads(o))
            continue;
        p->seen->effects++;
        bool merged = p->in->declared & INV_LANES && inv_is_merged(p, k);
        bool barrier = ptx_effect_of(o) == EFFECT_BARRIER;
        if (!p->images[k] && !p->replaced[k] && !merged)
            inv_broken(p, barrier ? "invariant-barrier" : "invariant-dropped", NULL,
                       "what stands at line %d of the original is gone", (int)o->at.line);
    }
}

static bool same_guard(const struct ptx_inst *a, const struct ptx_inst *b)
{
    if (!a->guarded || !b->guarded)
        return true; /* one of them is always executed */
    return a->guard != b->guard || a->guard_neg == b->guard_neg;
}

static void check_twice(struct inv_pair *p)
{
    for (uint32_t n = 0; n < p->now.f->ninsts; n++) {
        uint32_t o = p->origin[n], k = o == PTX_NO_INDEX ? PTX_NO_INDEX : p->next[n];
        if (o == PTX_NO_INDEX || !inv_has_effect(&p->now.f->insts[n]) ||
            inv_only_reads(&p->old.f->insts[o]) || !inv_has_effect(&p->old.f->insts[o]))
            continue;
        for (; k != PTX_NO_INDEX && p->now.g->block_of[k] == p->now.g->block_of[n]; k = p->next[k])
            if (same_guard(&p->now.f->insts[n], &p->now.f->insts[k])) {
                inv_broken(p, "invariant-added", &p->now.f->insts[k],
                           "what stands at line %d of the original is done a second time",
                           (int)p->old.f->insts[o].at.line);
                break;
            }
    }
}

/* Does this value come, through new code, from a variable of the new text? `old`: from what the original
 * computes or is given. */
struct roots {
    bool own, old;
};

static bool is_of_old(const struct inv_pair *p, const struct ptx_symbol *s)
{
    if (s->func)
        for (uint32_t k = 0; k < p->old.f->nvars; k++)
            if (str_eq(p->old.f->vars[k]->name, s->name))
                return true;
    return ptx_find_global(p->in->old, s->name) != NULL;
}

static void find_roots(const struct inv_pair *p, const struct ptx_inst *i, struct roots *r,
                       unsigned depth)
{
    const struct inv_side *s = &p->now;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        bool symbol = o->kind == OPND_SYM || (o->kind == OPND_ADDR && o->base == BASE_SYM);
        if (symbol && o->sym && o->sym->kind == SYM_VAR && o->sym->space != PTX_SPACE_PARAM)
            *(is_of_old(p, o->sym) ? &r->old : &r->own) = true;
    }
    for (uint32_t u = s->use_of[i->index]; u < s->use_of[i->index + 1] && depth < 12; u++)
        for (uint32_t k = 0; k < s->use[u].n; k++) {
            int32_t d = s->reaching[s->use[u].first + k];
            if (d == INV_UNDEFINED || d == (int32_t)i->index)
                continue;
            if (p->origin[d] != PTX_NO_INDEX)
                r->old = true;
            else if (ptx_is_pure(&s->f->insts[d]))
                find_roots(p, &s->f->insts[d], r, depth + 1);
        }
}

/* Of the address of a new store or atomic. */
static void address_roots(const struct inv_pair *p, const struct ptx_inst *i, struct roots *r)
{
    const struct inv_side *s = &p->now;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind != OPND_ADDR)
            continue;
        if (o->base == BASE_SYM && o->sym)
            *(is_of_old(p, o->sym) ? &r->old : &r->own) = true;
        for (uint32_t u = s->use_of[i->index]; o->base == BASE_REG && u < s->use_of[i->index + 1]; u++)
            for (uint32_t d = 0; s->use[u].reg == o->index && d < s->use[u].n; d++) {
                int32_t from = s->reaching[s->use[u].first + d];
                if (from == INV_UNDEFINED)
                    continue;
                r->old |= p->origin[from] != PTX_NO_INDEX;
                if (p->origin[from] == PTX_NO_INDEX)
                    find_roots(p, &s->f->insts[from], r, 0);
            }
    }
}

static void check_added(struct inv_pair *p)
{
    if (p->in->declared & (INV_STORES | INV_UNKNOWN) || p->now.large)
        return;
    for (uint32_t n = 0; n < p->now.f->ninsts; n++) {
        const struct ptx_inst *i = &p->now.f->insts[n];
        enum ptx_effect e = ptx_effect_of(i);
        struct roots r = { false, false };
        if (p->origin[n] != PTX_NO_INDEX || !inv_reached(&p->now, n) || !inv_has_effect(i) ||
            (e != EFFECT_STORE && e != EFFECT_ATOMIC))
            continue;
        address_roots(p, i, &r);
        if (r.old && !r.own)
            inv_broken(p, "invariant-added", i, "new code writes to memory of the original");
    }
}

/* Does a way lead through both an image of d and block `at` of the new text? ahead, behind: the blocks
 * that are reached from there, and that lead there. */
static bool stands_with(const struct inv_pair *p, uint32_t d, const bool *ahead, const bool *behind)
{
    for (uint32_t n = p->first[d]; n != PTX_NO_INDEX; n = p->next[n]) {
        uint32_t b = p->now.g->block_of[n];
        if (ahead[b] || behind[b])
            return true;
    }
    return false;
}

/* A copy of a block of the original that has lost what another copy has. */
static void check_copy(struct inv_pair *p, uint32_t n, const bool *ahead, const bool *behind)
{
    uint32_t o = p->origin[n];
    const struct ptx_block *b = &p->old.g->blocks[p->old.g->block_of[o]];
    for (uint32_t k = b->first; k < b->first + b->n; k++) {
        const struct ptx_inst *i = &p->old.f->insts[k];
        enum ptx_effect e = ptx_effect_of(i);
        bool merged = p->in->declared & INV_LANES && inv_has_effect(i) &&
                      (inv_only_reads(i) || inv_is_merged(p, k));
        if (!p->images[k] || merged || p->replaced[k] || e == EFFECT_BRANCH || e == EFFECT_EXIT ||
            stands_with(p, k, ahead, behind))
            continue;
        inv_broken(
            p, inv_has_effect(i) ? "invariant-dropped" : "invariant-definition", &p->now.f->insts[n],
            "this copy of the original's code has lost what stands there at line %d", (int)i->at.line);
        return;
    }
}

/* The first instruction of a block that has several copies, in a block of the new text; those that stand
 * alone have nothing to lose. */
static bool begins_copy(const struct inv_pair *p, uint32_t n)
{
    uint32_t o = p->origin[n];
    if (o == PTX_NO_INDEX || !inv_reached(&p->now, n) || p->images[o] < 2 ||
        ptx_effect_of(&p->old.f->insts[o]) == EFFECT_EXIT)
        return false;
    uint32_t k = n;
    while (k-- > 0 && p->now.g->block_of[k] == p->now.g->block_of[n])
        if (p->origin[k] != PTX_NO_INDEX)
            return p->old.g->block_of[p->origin[k]] != p->old.g->block_of[o];
    return true;
}

static void check_copies(struct inv_pair *p)
{
    size_t n = p->now.g->nblocks + 1;
    bool *way = base_alloc(2 * n);
    uint32_t tries = 0;
    p->oom |= !way;
    for (uint32_t k = 0; way && k < p->now.f->ninsts && tries < COPIES_MOST; k++) {
        if (!begins_copy(p, k))
            continue;
        memset(way, 0, 2 * n);
        way[p->now.g->block_of[k]] = way[n + p->now.g->block_of[k]] = true;
        p->oom |= !ptx_reach(p->now.g, PTX_FORWARD, way) || !ptx_reach(p->now.g, PTX_BACKWARD, way + n);
        check_copy(p, k, way, way + n);
        tries++;
    }
    base_free(way);
}

void inv_check_kept(struct inv_pair *p)
{
    check_copies(p);
    check_dropped(p);
    if (!(p->in->declared & INV_LANES))
        check_twice(p);
    check_added(p);
}
