/* Which instruction of the original each one of the new text is, by the texts alone. Instructions are
 * alike if they have the same words and operands; targets of branches may have other names, since copies
 * of code need labels of their own. Of several that are alike, the one whose followers are alike longest,
 * and of these the first behind the one before; so a second copy of a piece of code finds its original.
 *
 *   old   a b c d e          new   a b X b c d' e       (X is new, d' is d with another operand)
 *   found                          0 1 - 1 2 3  4 */
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { RUN = 8, TRIES = 256 };

/* Two functions, and the instruction of the second whose names are looked up. */
struct texts {
    const struct ptx_func *old;
    const struct ptx_func *now;
    const struct ptx_inst *at;
};

static bool same_reg(const struct texts *t, uint32_t old, uint32_t now)
{
    return ptx_named_reg(t->now, t->at, t->old->regs[old].name) == now;
}

static bool same_operands(const struct texts *t, const struct ptx_operand *x,
                          const struct ptx_operand *y, unsigned n);

static bool same_operand(const struct texts *t, const struct ptx_operand *x, const struct ptx_operand *y)
{
    if (x->kind != y->kind || x->base != y->base || x->comp != y->comp || x->neg != y->neg ||
        x->imm != y->imm || x->nelem != y->nelem)
        return false;
    if (x->kind == OPND_REG || (x->kind == OPND_ADDR && x->base == BASE_REG))
        return same_reg(t, x->index, y->index);
    if (x->kind == OPND_SYM || (x->kind == OPND_ADDR && x->base == BASE_SYM))
        return x->sym && y->sym ? str_eq(x->sym->name, y->sym->name) : x->sym == y->sym;
    if (x->kind == OPND_VEC || x->kind == OPND_MULTI)
        return same_operands(t, x->elem, y->elem, x->nelem);
    return x->kind == OPND_LABEL || x->index == y->index;
}

static bool same_operands(const struct texts *t, const struct ptx_operand *x,
                          const struct ptx_operand *y, unsigned n)
{
    for (unsigned k = 0; k < n; k++)
        if (!same_operand(t, &x[k], &y[k]))
            return false;
    return true;
}

/* The next word from k on that says what is done, and not how it is cached. */
static uint16_t word_from(const struct ptx_inst *i, unsigned *k)
{
    for (; *k < i->nmods; ++*k) {
        enum ptx_mod_category c = ptx_mod_category((enum ptx_mod)i->mods[*k]);
        if (c != MODCAT_CACHE && c != MODCAT_L1 && c != MODCAT_L2 && i->mods[*k] != PTX_MOD_NC)
            return i->mods[(*k)++];
    }
    return PTX_MOD_NONE;
}

static bool same_words(const struct ptx_inst *x, const struct ptx_inst *y)
{
    unsigned a = 0, b = 0;
    if (x->op != y->op || x->nopnds != y->nopnds)
        return false;
    for (;;) {
        uint16_t one = word_from(x, &a), other = word_from(y, &b);
        if (one != other)
            return false;
        if (one == PTX_MOD_NONE)
            return true;
    }
}

/* Where the original's thread ends, the new one may go on with the next: to a label of its own. */
static bool goes_on(const struct ptx_func *old, const struct ptx_inst *x, const struct ptx_func *now,
                    const struct ptx_inst *y)
{
    if (ptx_effect_of(x) != EFFECT_EXIT || x->guarded || y->guarded || !ptx_is(y, IS_JUMP) ||
        y->opnds[0].kind != OPND_LABEL || y->opnds[0].index >= now->nlabels)
        return false;
    for (uint32_t k = 0; k < old->nlabels; k++)
        if (str_eq(old->labels[k].name, now->labels[y->opnds[0].index].name))
            return false;
    return true;
}

/* A guard may have been added to what moves data. */
static bool alike(const struct ptx_func *a, const struct ptx_inst *x, const struct ptx_func *b,
                  const struct ptx_inst *y)
{
    struct texts t = { a, b, y };
    if (goes_on(a, x, b, y))
        return true;
    enum ptx_effect e = ptx_effect_of(x);
    bool data = e == EFFECT_NONE || e == EFFECT_LOAD || e == EFFECT_STORE;
    bool other = x->guard_neg != y->guard_neg && !ptx_is(x, IS_JUMP); /* order.c looks at jumps */
    if (!same_words(x, y) || (x->guarded && (!y->guarded || other)) ||
        (!x->guarded && y->guarded && !data))
        return false;
    if (x->guarded && !same_reg(&t, x->guard, y->guard))
        return false;
    return same_operands(&t, x->opnds, y->opnds, x->nopnds);
}

/* How many instructions are alike from here on, RUN at most. */
static uint32_t run_of(const struct ptx_func *old, uint32_t o, const struct ptx_func *now, uint32_t n)
{
    uint32_t k = 0;
    while (k < RUN && o + k < old->ninsts && n + k < now->ninsts &&
           alike(old, &old->insts[o + k], now, &now->insts[n + k]))
        k++;
    return k;
}

/* Instructions of the original by operation: chains in text order. */
struct chains {
    uint32_t *head; /* by operation */
    uint32_t *next; /* by instruction */
};

static bool make_chains(struct chains *c, const struct ptx_func *old)
{
    c->head = base_alloc(sizeof *c->head * (UINT16_MAX + 1));
    c->next = base_alloc(sizeof *c->next * (old->ninsts + 1));
    if (!c->head || !c->next)
        return false;
    memset(c->head, 0xff, sizeof *c->head * (UINT16_MAX + 1));
    for (uint32_t k = old->ninsts; k-- > 0;) {
        c->next[k] = c->head[old->insts[k].op];
        c->head[old->insts[k].op] = k;
    }
    return true;
}

static uint32_t find(const struct chains *c, const struct ptx_func *old, const struct ptx_func *now,
                     uint32_t n, uint32_t behind)
{
    uint32_t best = PTX_NO_INDEX, most = 0, tries = 0;
    if (behind < old->ninsts && (most = run_of(old, behind, now, n)) == RUN)
        return behind;
    best = most ? behind : best;
    for (uint32_t k = c->head[now->insts[n].op]; k != PTX_NO_INDEX && tries < TRIES; k = c->next[k]) {
        uint32_t run = run_of(old, k, now, n);
        tries += run != 0;
        bool nearer = run && run == most && best < behind && k >= behind;
        if (run > most || nearer) {
            most = run;
            best = k;
        }
    }
    return best;
}

static bool has_reg(const struct ptx_inst *i)
{
    struct ptx_regs r = ptx_regs_of(i, PTX_READ | PTX_WRITE);
    return ptx_next_reg(&r);
}

/* What names no register is alike too easily: a neighbour has to be alike as well. */
static bool shares_reg(const struct ptx_func *old, uint32_t o, const struct ptx_func *now, uint32_t n)
{
    struct texts t = { old, now, &now->insts[n] };
    bool found = false;
    for (struct ptx_regs was = ptx_regs_of(&old->insts[o], PTX_READ | PTX_WRITE); ptx_next_reg(&was);)
        for (struct ptx_regs is = ptx_regs_of(t.at, PTX_READ | PTX_WRITE); ptx_next_reg(&is);)
            found |= same_reg(&t, was.reg, is.reg);
    return found || !has_reg(&old->insts[o]);
}

/* Between two neighbours that were found, what has the same words and one of the registers is the same,
 * with other operands. */
static void match_changed(const struct ptx_func *old, const struct ptx_func *now, uint32_t *origin,
                          const bool *taken)
{
    uint32_t at = 0;
    for (uint32_t n = 0; n < now->ninsts; n++) {
        if (origin[n] != PTX_NO_INDEX) {
            at = origin[n] + 1;
            continue;
        }
        for (uint32_t k = at; k < old->ninsts && !taken[k] && origin[n] == PTX_NO_INDEX; k++)
            if (same_words(&old->insts[k], &now->insts[n]) && shares_reg(old, k, now, n)) {
                origin[n] = k;
                at = k + 1;
            }
    }
}

bool inv_match(const struct ptx_func *old, const struct ptx_func *now, uint32_t *origin)
{
    struct chains c = { 0 };
    uint32_t behind = 0;
    bool *taken = base_alloc(old->ninsts + 1);
    uint32_t before = PTX_NO_INDEX; /* the origin of the one before */
    bool ok = make_chains(&c, old) && taken;
    for (uint32_t n = 0; ok && n < now->ninsts; n++) {
        origin[n] = find(&c, old, now, n, behind);
        if (origin[n] != PTX_NO_INDEX && before != origin[n] - 1 && !has_reg(&now->insts[n]) &&
            run_of(old, origin[n], now, n) < 2)
            origin[n] = PTX_NO_INDEX;
        before = origin[n];
        if (origin[n] != PTX_NO_INDEX)
            taken[(behind = origin[n] + 1) - 1] = true;
    }
    if (ok)
        match_changed(old, now, origin, taken);
    BASE_FREE(taken, c.head, c.next);
    return ok;
}
