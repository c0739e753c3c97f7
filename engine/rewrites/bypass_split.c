/* bypass, clone: where the two copies part. What every warp does alike before its first load that
 * takes part is left as it is: the threshold's comparison is then computed beside the kernel's own
 * first instructions, instead of before them, and less code stands twice.
 *
 *   parting at the entry                 parting before the loop (here)
 *     setp.ge.u32 %p, warp, pi;            setp.ge.u32 %p, warp, pi;
 *     @%p bra.uni $bypass;                 ld.param ...; mad ...;           once, for both
 *     ld.param ...; mad ...;               @%p bra.uni $bypass;
 *   $loop: ld ...;                       $loop: ld ...;
 *
 * No label that is branched to stands before the place, so every warp passes it at most once, on its
 * way from the entry. Branches that are passed lead to where nothing is left that the copies differ in
 * or that threads of a warp do together. */
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/bypass_int.h"

#include <string.h>

/* Does nothing here depend on the copy it is in, or on which threads are still together? */
static bool stays_plain(struct bypass *b, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool alone = e == EFFECT_NONE || e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC ||
                 e == EFFECT_PREFETCH || e == EFFECT_FENCE || e == EFFECT_BRANCH || e == EFFECT_EXIT;
    return !ptx_is_opaque(i) && alone && !bypass_governs(b, b->c->f, i);
}

/* The same for everything that can be reached from a block. */
static bool leads_to_plain(struct bypass *b, uint32_t from)
{
    const struct ptx_cfg *g = b->flow.cfg;
    bool *in = base_alloc(g->nblocks + 1), plain = in != NULL;
    if (plain) {
        in[from] = true;
        plain = ptx_reach(g, PTX_FORWARD, in);
    }
    b->c->oom |= !plain;
    for (uint32_t k = 0; k < b->c->f->ninsts && plain; k++)
        plain = !in[g->block_of[k]] || stays_plain(b, &b->c->f->insts[k]);
    base_free(in);
    return plain;
}

/* A guarded branch whose target is plain to the end. */
static bool may_pass_branch(struct bypass *b, uint32_t inst)
{
    const struct ptx_func *f = b->c->f;
    const struct ptx_inst *i = &f->insts[inst];
    const struct ptx_cfg *g = b->flow.cfg;
    if (!i->guarded || inst + 1 >= f->ninsts || !ptx_is(i, IS_JUMP))
        return false;
    const struct ptx_block *k = &g->blocks[g->block_of[inst]];
    bool found = false;
    for (uint32_t s = 0; s < k->nsucc; s++) {
        if (k->succ[s] >= g->nblocks || k->succ[s] == g->block_of[inst + 1])
            continue;
        if (!leads_to_plain(b, k->succ[s]))
            return false;
        found = true;
    }
    return found;
}

static bool names(const struct ptx_operand *o, uint32_t label)
{
    if (o->kind != OPND_VEC && o->kind != OPND_MULTI)
        return o->kind == OPND_LABEL && o->index == label;
    for (uint16_t k = 0; k < o->nelem; k++)
        if (names(&o->elem[k], label))
            return true;
    return false;
}

/* Compilers put labels where debuggers look for them, too. */
static bool is_target(const struct ptx_func *f, uint32_t label)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++)
            if (names(&f->insts[k].opnds[n], label))
                return true;
    for (uint32_t k = 0; k < f->nlabels; k++)
        for (uint32_t n = 0; n < f->labels[k].ntargets; n++)
            if (f->labels[k].targets[n] == label)
                return true;
    return false;
}

static bool may_pass(struct bypass *b, const struct ptx_stmt *s)
{
    if (s->kind == STMT_LABEL)
        return !is_target(b->c->f, s->index);
    if (s->kind == STMT_LOC || s->kind == STMT_REG || s->kind == STMT_VAR)
        return true;
    if (s->kind != STMT_INST)
        return false;
    const struct ptx_inst *i = &b->c->f->insts[s->index];
    if (ptx_effect_of(i) == EFFECT_EXIT || ptx_ends_thread(i))
        return i->guarded;
    if (ptx_effect_of(i) == EFFECT_BRANCH)
        return may_pass_branch(b, s->index);
    return !ptx_is_opaque(i) && ptx_effect_of(i) != EFFECT_CALL && !bypass_governs(b, b->c->f, i);
}

uint32_t bypass_split(struct bypass *b)
{
    uint32_t k = pass_first_stmt(b->c->f);
    while (k < b->c->f->nstmts && may_pass(b, &b->c->f->stmts[k]))
        k++;
    return k;
}
