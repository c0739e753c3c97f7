/* Groups: what a warp, a warpgroup or a CTA executes together stands behind no new branch at which it may
 * part. A new branch by the thread's number at a threshold parts none whose size divides the threshold.
 * Barriers of a CTA may stand in several copies, and order.c looks that each way has them all. */
#include "engine/invariants/invariants_int.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { WARP = 32, WARPGROUP = 128 };

struct groups {
    struct inv_pair *p;
    struct ptx_region region;
    const bool *varying[2]; /* between threads of a warp; of a CTA */
    uint32_t *todo, *seen;  /* by instruction; seen: the branch that asked last */
    uint32_t ntodo, now;
    uint32_t *blocks, *been; /* by block; been: the branch that came last */
    uint32_t round;
};

/* Threads that execute it together; 0: none. */
static unsigned group_of(const struct ptx_inst *i)
{
    if (ptx_is(i, IS_WARPGROUP))
        return WARPGROUP;
    bool together = ptx_effect_of(i) == EFFECT_WARP || ptx_is(i, IS_FRAGMENT | IS_WMMA) ||
                    ptx_role_of(i) == ROLE_PRODUCT;
    return together ? WARP : 0;
}

/* Of a .const variable, at a byte. */
static bool word_of(const struct inv_input *in, const struct ptx_symbol *s, uint64_t at, uint64_t *value)
{
    uint32_t word;
    if (in->variable && str_is(s->name, in->variable)) {
        *value = at / 4 < in->nwords ? in->word[at / 4] : 0;
        return at / 4 < in->nwords;
    }
    if (!s->init || at + sizeof word > s->ninit)
        return false;
    memcpy(&word, s->init + at, sizeof word);
    *value = word;
    return true;
}

/* The number that a register holds: a move of one, or the word of a .const variable; false: not known. */
static bool number_in(const struct inv_pair *p, const struct inv_use *u, unsigned depth, uint64_t *value)
{
    int32_t d = u->n == 1 ? p->now.reaching[u->first] : INV_UNDEFINED;
    if (d == INV_UNDEFINED || depth > 8)
        return false;
    const struct ptx_inst *i = &p->now.f->insts[d];
    const struct ptx_operand *o = i->nopnds > 1 ? &i->opnds[1] : NULL;
    if (!o || i->guarded)
        return false;
    if (ptx_is_move(i) && o->kind == OPND_IMM) {
        *value = (uint64_t)o->imm;
        return true;
    }
    if (ptx_is_move(i) && o->kind == OPND_REG)
        return number_in(p, &p->now.use[p->now.use_of[d]], depth + 1, value);
    const struct ptx_symbol *s = o->kind == OPND_ADDR && o->base == BASE_SYM ? o->sym : NULL;
    return s && s->space == PTX_SPACE_CONST && o->imm >= 0 && word_of(p->in, s, (uint64_t)o->imm, value);
}

/* Does the new branch that ends block b part the threads of no such group? It compares by a number that
 * the size divides. */
static bool keeps_whole(const struct inv_pair *p, uint32_t b, unsigned size)
{
    const struct ptx_block *k = &p->now.g->blocks[b];
    const struct ptx_inst *last = &p->now.f->insts[k->first + k->n - 1], *test;
    const struct inv_use *u = &p->now.use[p->now.use_of[last->index]];
    struct ptx_comparison c;
    uint64_t n;
    int32_t d = last->guarded && u->n == 1 ? p->now.reaching[u->first] : INV_UNDEFINED;
    if (d == INV_UNDEFINED || !ptx_comparison_of(test = &p->now.f->insts[d], &c))
        return false;
    if (c.b->kind == OPND_IMM)
        return (uint64_t)c.b->imm % size == 0;
    for (uint32_t at = p->now.use_of[d]; at < p->now.use_of[d + 1]; at++)
        if (c.b->kind == OPND_REG && p->now.use[at].reg == c.b->index &&
            number_in(p, &p->now.use[at], 0, &n))
            return n % size == 0;
    return false;
}

static void ask(struct groups *g, uint32_t inst)
{
    if (g->seen[inst] == g->now)
        return;
    g->seen[inst] = g->now;
    g->todo[g->ntodo++] = inst;
}

/* Follows what this instruction does from the thread's place: by what it reads, and that by what it
 * reads? New code is taken to load what is the same for all whose addresses are. */
static bool follows_thread(struct groups *g, uint32_t inst, bool cta)
{
    const struct inv_side *s = &g->p->now;
    g->now++;
    g->ntodo = 0;
    ask(g, inst);
    while (g->ntodo) {
        uint32_t at = g->todo[--g->ntodo];
        if (ptx_sees(&s->f->insts[at]) & (PTX_SEES_THREAD | PTX_SEES_WARP))
            return true;
        for (uint32_t u = s->use_of[at]; u < s->use_of[at + 1]; u++)
            for (uint32_t k = 0; k < s->use[u].n; k++) {
                int32_t d = s->reaching[s->use[u].first + k];
                if (d == INV_UNDEFINED)
                    continue;
                if (g->p->origin[d] == PTX_NO_INDEX)
                    ask(g, (uint32_t)d);
                else if (g->varying[cta][s->use[u].reg])
                    return true;
            }
    }
    return false;
}

/* All threads of the CTA come together here. */
static bool gathers(const struct ptx_inst *i)
{
    return ptx_is(i, IS_CTA_BARRIER) && !ptx_is(i, IS_ARRIVES) && !i->guarded;
}

/* Does the new branch tear this instruction's group? */
static bool tears(struct groups *g, uint32_t b, const struct ptx_inst *branch, uint32_t at)
{
    const struct inv_pair *p = g->p;
    unsigned size = group_of(&p->now.f->insts[at]);
    return size && p->origin[at] != PTX_NO_INDEX &&
           !(size == WARP && ptx_has_mod(branch, PTX_MOD_UNI)) &&
           follows_thread(g, branch->index, size != WARP) && !keeps_whole(p, b, size);
}

/* From the start of block k; false: the search ends behind it. */
static bool look_at(struct groups *g, uint32_t b, const struct ptx_inst *branch, uint32_t block)
{
    struct inv_pair *p = g->p;
    const struct ptx_block *k = &p->now.g->blocks[block];
    for (uint32_t at = k->first; at < k->first + k->n; at++) {
        if (gathers(&p->now.f->insts[at]))
            return false;
        if (!tears(g, b, branch, at))
            continue;
        inv_broken(p, "invariant-group", &p->now.f->insts[at],
                   "%u threads execute this together, and the new branch at line %d parts them",
                   group_of(&p->now.f->insts[at]), (int)branch->at.line);
        return false;
    }
    return true;
}

/* What the ways of the branch come to before they meet, and before a barrier brings all together. */
static void check_region(struct groups *g, uint32_t b, const struct ptx_inst *branch)
{
    const struct ptx_cfg *c = g->p->now.g;
    uint32_t n = 0;
    ptx_region_take(&g->region, b);
    g->round++;
    g->blocks[n++] = b;
    while (n) {
        uint32_t at = g->blocks[--n];
        if (at != b && !look_at(g, b, branch, at))
            continue;
        for (uint32_t e = 0; e < c->blocks[at].nsucc; e++) {
            uint32_t to = c->blocks[at].succ[e];
            if (to == b || !ptx_region_has(&g->region, to) || g->been[to] == g->round)
                continue;
            g->been[to] = g->round;
            g->blocks[n++] = to;
        }
    }
}

void inv_check_groups(struct inv_pair *p)
{
    struct groups g = { .p = p };
    bool any = false;
    for (uint32_t n = 0; n < p->now.f->ninsts && !any; n++)
        any = group_of(&p->now.f->insts[n]) != 0;
    if (!any || p->now.large)
        return;
    g.varying[0] = ptx_varying_of(p->now.f, PTX_OF_WARP, PTX_BY_CONTROL);
    g.varying[1] = ptx_varying_of(p->now.f, PTX_OF_CTA, PTX_BY_CONTROL);
    g.todo = base_alloc((p->now.f->ninsts + 1) * sizeof *g.todo);
    g.blocks = base_alloc((p->now.g->nblocks + 1) * sizeof *g.blocks);
    g.been = base_alloc((p->now.g->nblocks + 1) * sizeof *g.been);
    g.seen = base_alloc((p->now.f->ninsts + 1) * sizeof *g.seen);
    bool ok = ptx_region_make(&g.region, p->now.g) && g.varying[0] && g.varying[1] && g.todo && g.seen &&
              g.blocks && g.been;
    for (uint32_t b = 0; ok && b < p->now.g->nblocks; b++) {
        const struct ptx_block *k = &p->now.g->blocks[b];
        const struct ptx_inst *last = &p->now.f->insts[k->first + k->n - 1];
        if (k->reachable && k->nsucc > 1 && p->origin[last->index] == PTX_NO_INDEX)
            check_region(&g, b, last);
    }
    p->oom |= !ok;
    BASE_FREE(g.todo, g.seen, g.blocks, g.been);
    ptx_region_free(&g.region);
}
