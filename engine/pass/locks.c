/* Spin locks: loops that wait for a thread which has started and goes on.
 *
 *     $L: atom.cas %r, [A], FREE, TAKEN;        or atom.exch %r, [A], TAKEN
 *         setp.ne %p, %r, FREE;  @%p bra $L;    left only with the lock taken
 *         ...                                   no loop, barrier, call or end: comes to the next line
 *         st [A], FREE;                         or atom.exch
 *
 * The part up to the store may lie inside the loop, where threads of a warp take turns; then the loop is
 * left in the turn that took the lock. Nothing else in the kernel writes to the lock, and what gives it
 * back is reached by the loop alone. So a taken lock has an owner that runs, waits for nobody and gives
 * it back: whatever order CTAs start in and however many are resident, somebody goes on. (Where the lock
 * is taken before the launch, the original does not end either.) */
#include "engine/analysis/alias.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

struct lock {
    struct pass_ctx *c;
    const struct pass_flow *fl;
    const bool *in;                /* blocks of the loop */
    const struct ptx_inst *taking; /* the atomic */
    int64_t is_free;               /* value of a lock that nobody has */
    uint32_t entry;                /* the block behind the loop */
    uint8_t *mark;                 /* by block: 1 on the way, 2 looked at */
    bool *gives;                   /* by instruction: it gives the lock back */
};

/* A number, or a register that is set once, to a number. */
static bool number(const struct lock *l, const struct ptx_operand *o, int64_t *v)
{
    if (o->kind == OPND_REG) {
        const struct ptx_reg_refs *x = &l->fl->cfg->regs[o->index];
        const struct ptx_inst *d = x->ndefs == 1 ? &l->fl->f->insts[x->defs[0]] : NULL;
        o = d ? ptx_copied(d) : NULL;
        if (!o)
            return false;
    }
    *v = o->imm;
    return ptx_is_number(o);
}

/* The same place: a variable, or a register with one definition, before the loop. */
static bool same_place(const struct lock *l, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(l->taking), *b = inst_address(i);
    if (!a || !b || a->base != b->base || a->imm != b->imm || i->space != l->taking->space ||
        inst_bytes(i) != inst_bytes(l->taking))
        return false;
    if (a->base != BASE_REG)
        return a->base == BASE_SYM && a->sym == b->sym;
    const struct ptx_cfg *g = l->fl->cfg;
    const struct ptx_reg_refs *x = &g->regs[a->index];
    uint32_t made = x->ndefs == 1 ? g->block_of[x->defs[0]] : PTX_NO_INDEX;
    return a->index == b->index && made != PTX_NO_INDEX && !l->in[made] &&
           ptx_dominates(g, made, g->block_of[l->taking->index]);
}

/* cas from FREE to another value, or an exchange for another value than FREE, of one register. */
static bool takes(const struct lock *l, const struct ptx_inst *i, uint32_t reg)
{
    int64_t from, to;
    if (ptx_effect_of(i) != EFFECT_ATOMIC || i->guarded || !inst_address(i) || i->nopnds < 3 ||
        i->opnds[0].kind != OPND_REG || i->opnds[0].index != reg ||
        (i->space != PTX_SPACE_GLOBAL && i->space != PTX_SPACE_GENERIC))
        return false;
    if (ptx_is_atomic_op(i, PTX_MOD_CAS))
        return i->nopnds == 4 && number(l, &i->opnds[2], &from) && number(l, &i->opnds[3], &to) &&
               from == l->is_free && to != l->is_free;
    return ptx_is_atomic_op(i, PTX_MOD_EXCH) && i->nopnds == 3 && number(l, &i->opnds[2], &to) &&
           to != l->is_free;
}

static const struct ptx_inst *branch_of(const struct lock *l, uint32_t block)
{
    const struct ptx_block *b = &l->fl->cfg->blocks[block];
    const struct ptx_inst *last = b->n ? &l->fl->f->insts[b->first + b->n - 1] : NULL;
    return last && last->guarded && ptx_effect_of(last) == EFFECT_BRANCH &&
                   last->opnds[0].kind == OPND_LABEL && b->nsucc == 2
               ? last
               : NULL;
}

static uint32_t target(const struct lock *l, const struct ptx_inst *branch)
{
    const struct ptx_label *to = &l->fl->f->labels[branch->opnds[0].index];
    return to->inst < l->fl->f->ninsts ? l->fl->cfg->block_of[to->inst] : l->fl->cfg->nblocks;
}

/* A register with a number, for equal or not. */
static bool tells_equal(const struct ptx_comparison *cmp)
{
    return cmp->a->kind == OPND_REG && ptx_is_number(cmp->b) &&
           (cmp->how == PTX_MOD_EQ || cmp->how == PTX_MOD_NE);
}

/* Does the branch at the end of this block tell whether the atomic before it found the lock free? Then
 * entry is where it goes with the lock. */
static bool tells(struct lock *l, uint32_t block)
{
    const struct ptx_cfg *g = l->fl->cfg;
    const struct ptx_block *b = &g->blocks[block];
    struct ptx_comparison is;
    const struct ptx_inst *last = branch_of(l, block),
                          *cmp = last ? pass_branch_condition(l->fl, last, &is) : NULL;
    if (!cmp || !tells_equal(&is))
        return false;
    uint32_t to = target(l, last), other = b->succ[0] == to ? b->succ[1] : b->succ[0];
    l->is_free = is.b->imm;
    l->entry = (is.how == PTX_MOD_EQ) != last->guard_neg ? to : other;
    for (uint32_t k = cmp->index; k-- > b->first;) {
        const struct ptx_inst *i = &l->fl->f->insts[k];
        if (ptx_writes_reg(i, is.a->index)) {
            l->taking = takes(l, i, is.a->index) ? i : NULL;
            return l->taking && to != other && l->entry < g->nblocks && g->blocks[l->entry].npred == 1 &&
                   inst_bytes(i) * 8 == is.bits;
        }
    }
    return false;
}

/* Is a predicate true exactly with the lock (1), exactly without it (0)? -1: neither is known. */
static int holds(const struct lock *l, uint32_t pred)
{
    int with = 1;
    for (unsigned steps = 0; steps < 4; steps++) {
        const struct ptx_reg_refs *x = &l->fl->cfg->regs[pred];
        const struct ptx_inst *d = x->ndefs == 1 ? &l->fl->f->insts[x->defs[0]] : NULL;
        if (!d || d->guarded)
            return -1;
        if (ptx_rule_of(d) == ADDR_NOT && d->opnds[1].kind == OPND_REG) {
            pred = d->opnds[1].index;
            with = !with;
            continue;
        }
        const struct ptx_cfg *g = l->fl->cfg;
        struct ptx_comparison is;
        bool same = ptx_comparison_of(d, &is) && tells_equal(&is) &&
                    is.a->index == l->taking->opnds[0].index && is.b->imm == l->is_free &&
                    g->regs[is.a->index].ndefs == 1 && d->index > l->taking->index &&
                    g->block_of[d->index] == g->block_of[l->taking->index] &&
                    is.bits == inst_bytes(l->taking) * 8;
        return same ? with == (is.how == PTX_MOD_EQ) : -1;
    }
    return -1;
}

/* The lock is taken inside the loop: each turn begins with the try, and the turn that took it is the
 * last. */
static bool last_turn(const struct lock *l, uint32_t exit)
{
    const struct ptx_cfg *g = l->fl->cfg;
    uint32_t try = g->block_of[l->taking->index];
    const struct ptx_inst *last = branch_of(l, exit);
    int with = last ? holds(l, last->guard) : -1;
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (l->in[b] && !ptx_dominates(g, try, b))
            return false;
    if (with < 0 || exit == try)
        return false;
    uint32_t to = target(l, last);
    bool out = to >= g->nblocks || !l->in[to];
    return ((with != 0) != last->guard_neg) == out;
}

static bool loop_finds_lock(struct lock *l, uint32_t exit)
{
    if (tells(l, exit))
        return !l->in[l->entry];
    for (uint32_t b = 0; b < l->fl->cfg->nblocks; b++)
        if (l->in[b] && tells(l, b))
            return l->in[l->entry] && last_turn(l, exit);
    return false;
}

/* May the loop do this? The code between taking the lock and giving it back may be inside the loop. */
static bool harmless(const struct lock *l, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool inside = l->in[l->entry] &&
                  (e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC || e == EFFECT_PREFETCH);
    return i == l->taking || (!ptx_is_opaque(i) && !ptx_ends_thread(i) &&
                              (inside || e == EFFECT_NONE || e == EFFECT_BRANCH || e == EFFECT_FENCE ||
                               ptx_is(i, IS_SLEEP)));
}

/* The loop does nothing that may wait or end, and is left in one place. */
static bool only_tries(struct lock *l, uint32_t exit)
{
    const struct ptx_cfg *g = l->fl->cfg;
    uint32_t ways = 0;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        for (uint32_t k = 0; l->in[b] && k < g->blocks[b].nsucc; k++) {
            uint32_t to = g->blocks[b].succ[k];
            if (to < g->nblocks && l->in[to])
                continue;
            if (b != exit || to >= g->nblocks)
                return false;
            ways++;
        }
        for (uint32_t k = g->blocks[b].first; l->in[b] && k < g->blocks[b].first + g->blocks[b].n; k++)
            if (!harmless(l, &l->fl->f->insts[k]))
                return false;
    }
    return ways == 1;
}

static bool gives_back(const struct lock *l, const struct ptx_inst *i)
{
    const struct ptx_operand *value = ptx_effect_of(i) == EFFECT_STORE && i->nopnds == 2 ? &i->opnds[1]
                                      : ptx_is_atomic_op(i, PTX_MOD_EXCH) && i->nopnds == 3
                                          ? &i->opnds[2]
                                          : NULL;
    int64_t to;
    return value && !i->guarded && number(l, value, &to) && to == l->is_free && same_place(l, i);
}

/* Looks at a block behind the loop up to where the lock is given back. 0: something there may wait or
 * end without that; 1: it is given back; 2: the ways on have to be looked at. */
static int look(struct lock *l, uint32_t block)
{
    const struct ptx_block *b = &l->fl->cfg->blocks[block];
    for (uint32_t k = b->first; k < b->first + b->n; k++) {
        const struct ptx_inst *i = &l->fl->f->insts[k];
        enum ptx_effect e = ptx_effect_of(i);
        if (gives_back(l, i)) {
            l->gives[k] = ptx_dominates(l->fl->cfg, l->entry, block);
            return l->gives[k];
        }
        if (ptx_is_opaque(i) || ptx_ends_thread(i) ||
            (e != EFFECT_NONE && e != EFFECT_BRANCH && e != EFFECT_FENCE && e != EFFECT_LOAD &&
             e != EFFECT_STORE && e != EFFECT_ATOMIC && e != EFFECT_PREFETCH))
            return 0;
    }
    return b->nsucc ? 2 : 0;
}

/* Every way from the entry comes to where the lock is given back, without a loop. */
static bool always_given_back(struct lock *l)
{
    const struct ptx_cfg *g = l->fl->cfg;
    uint32_t *walk = base_alloc(2 * sizeof *walk * ((size_t)g->nblocks + 1)),
             *next = walk ? walk + g->nblocks + 1 : NULL, depth = 0;
    bool fine = walk != NULL;
    if (fine)
        walk[depth++] = l->entry;
    while (fine && depth) {
        uint32_t b = walk[depth - 1];
        if (!l->mark[b]) {
            int what = look(l, b);
            fine = what != 0;
            l->mark[b] = what == 2 ? 1 : 2;
            next[depth - 1] = 0;
        }
        if (fine && l->mark[b] == 1 && next[depth - 1] < g->blocks[b].nsucc) {
            uint32_t to = g->blocks[b].succ[next[depth - 1]++];
            fine = to < g->nblocks && l->mark[to] != 1;
            if (fine && !l->mark[to])
                walk[depth++] = to;
            continue;
        }
        l->mark[b] = 2;
        depth--;
    }
    l->c->oom |= !walk;
    base_free(walk);
    return fine;
}

/* No other instruction may write to the lock. */
static bool nobody_else_writes(const struct lock *l)
{
    struct pass_funcs fs;
    struct alias_roots r;
    const struct alias *a = pass_alias(l->c);
    pass_callees(l->c, &fs);
    if (!a || fs.indirect || fs.unknown)
        return false;
    alias_roots(a, l->fl->f, inst_address(l->taking), &r);
    for (uint32_t n = 0; n <= fs.n; n++) {
        const struct ptx_func *f = n ? fs.v[n - 1] : l->fl->f;
        for (uint32_t k = 0; k < f->ninsts; k++) {
            bool own = !n && (&f->insts[k] == l->taking || l->gives[k]);
            if (!own && alias_writes(a, f, &f->insts[k], &r) != ALIAS_NO)
                return false;
        }
    }
    return true;
}

const struct ptx_inst *pass_lock(struct pass_ctx *c, const struct pass_flow *fl, const bool *in,
                                 uint32_t exit)
{
    struct lock l = { .c = c, .fl = fl, .in = in };
    if (!loop_finds_lock(&l, exit) || !same_place(&l, l.taking) || !only_tries(&l, exit))
        return NULL;
    l.mark = base_alloc((size_t)fl->cfg->nblocks + 1);
    l.gives = base_alloc((size_t)fl->f->ninsts + 1);
    bool is = l.mark && l.gives && always_given_back(&l) && nobody_else_writes(&l);
    c->oom |= !l.mark || !l.gives;
    BASE_FREE(l.mark, l.gives);
    return is ? l.taking : NULL;
}
