/* Definitions: each register that an instruction of the original reads is, in the new text, written by
 * the same instructions of the original, or by new ones. Names of registers are not compared: a copy may
 * have registers of its own. A new move stands for what it copies.
 *
 *   old   3: mov %r1, 0     7: add %r1, %r1, 1    9: st [%rd1], %r1     %r1 of 9: {3, 7}
 *   new   3: mov %r1, 0     (7 is lost)           9: st [%rd1], %r1     %r1 of 9: {3}       broken */
#include "engine/invariants/data.h"

#include "engine/invariants/invariants_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

static void add_got(struct inv_got *g, int32_t inst)
{
    for (uint32_t k = 0; k < g->n; k++)
        if (g->v[k] == inst)
            return;
    if (g->n < INV_GOT)
        g->v[g->n++] = inst;
    else
        g->more = true;
}

/* What a use of the new text gets, in instructions of the original. Moves are followed to a depth: those
 * of a loop lead back to themselves. */
static void follow(const struct inv_pair *p, const struct inv_use *u, struct inv_got *got,
                   unsigned depth)
{
    const struct inv_side *s = &p->now;
    bool lanes = p->in->declared & INV_LANES;
    for (uint32_t k = 0; k < u->n; k++) {
        int32_t d = s->reaching[u->first + k];
        if (d == INV_UNDEFINED) {
            add_got(got, INV_UNDEFINED);
            continue;
        }
        const struct ptx_inst *i = &s->f->insts[d];
        bool reads_one = s->use_of[d + 1] - s->use_of[d] == 1;
        bool wide = lanes && inv_only_reads(i) && inv_has_effect(i); /* for others as well */
        if (wide)
            got->fresh = true;
        else if (p->origin[d] != PTX_NO_INDEX)
            add_got(got, (int32_t)p->origin[d]);
        else if (depth < 8 && !i->guarded && ptx_is_move(i) && i->nopnds == 2 && reads_one)
            follow(p, &s->use[s->use_of[d]], got, depth + 1);
        else
            got->fresh = true;
    }
}

struct inv_got inv_gets(const struct inv_pair *p, const struct inv_use *u)
{
    struct inv_got got = { .n = 0 };
    follow(p, u, &got, 0);
    return got;
}

bool inv_got_has(const struct inv_got *g, int32_t inst)
{
    for (uint32_t k = 0; k < g->n; k++)
        if (g->v[k] == inst)
            return true;
    return false;
}

static bool inv_use_has(const struct inv_side *s, const struct inv_use *u, int32_t inst)
{
    for (uint32_t k = 0; k < u->n; k++)
        if (s->reaching[u->first + k] == inst)
            return true;
    return false;
}

/* The same read, with what guards would rule out. */
static const struct inv_use *wide_of(const struct inv_side *s, const struct inv_use *u)
{
    return &s->wide[u - s->use];
}

static int line_of(const struct inv_side *s, int32_t inst)
{
    return (int)s->f->insts[inst].at.line;
}

static struct str name_of(const struct inv_side *s, const struct inv_use *u)
{
    return s->f->regs[u->reg].name;
}

/* Does some of it come from a copy whose guard new code has computed? Together with the other copies it
 * does what the original does; which of them did is not followed. */
static bool is_shared_out(const struct inv_pair *p, const struct inv_use *u)
{
    for (uint32_t k = 0; k < u->n; k++) {
        int32_t d = p->now.reaching[u->first + k];
        if (d == INV_UNDEFINED || p->origin[d] == PTX_NO_INDEX || !p->now.f->insts[d].guarded ||
            !p->old.f->insts[p->origin[d]].guarded)
            continue;
        if (inv_gets(p, &p->now.use[p->now.use_of[d]]).fresh)
            return true;
    }
    return false;
}

/* What now gets that the original did not. */
static bool gets_more(struct inv_pair *p, const struct ptx_inst *at, const struct inv_use *was,
                      const struct inv_use *is, const struct inv_got *got)
{
    struct str name = name_of(&p->now, is);
    was = wide_of(&p->old, was);
    bool any = inv_use_has(&p->old, was, INV_UNDEFINED) || is_shared_out(p, is);
    for (uint32_t k = 0; k < got->n && !any; k++) {
        if (got->v[k] == INV_UNDEFINED)
            inv_broken(p, "invariant-definition", at, "%.*s may be read here before it is written",
                       (int)name.n, name.s);
        else if (!inv_use_has(&p->old, was, got->v[k]))
            inv_broken(p, "invariant-definition", at,
                       "%.*s has what line %d of the original writes, which does not reach this read "
                       "there",
                       (int)name.n, name.s, line_of(&p->old, got->v[k]));
        else
            continue;
        return true;
    }
    return false;
}

/* Another image of the origin of n gets it at this read: that copy is the one it comes to. */
static bool other_gets(const struct inv_pair *p, uint32_t n, uint32_t read, int32_t inst)
{
    uint32_t was, is;
    for (uint32_t k = p->first[p->origin[n]]; k != PTX_NO_INDEX; k = p->next[k]) {
        if (k == n)
            continue;
        if (!inv_same_reads(p, k, &was, &is))
            return true;
        struct inv_got got = inv_gets(p, &p->now.wide[is + (read - was)]);
        if (got.fresh || got.more || inv_got_has(&got, inst))
            return true;
    }
    return false;
}

/* What the original gets and now does not, whatever the guards say. */
static bool gets_less(struct inv_pair *p, const struct ptx_inst *at, const struct inv_use *was,
                      const struct inv_use *is)
{
    struct str name = name_of(&p->now, is);
    struct inv_got got = inv_gets(p, wide_of(&p->now, is));
    for (uint32_t k = 0; k < was->n && !got.fresh && !got.more; k++) {
        int32_t d = p->old.reaching[was->first + k];
        if (d == INV_UNDEFINED || inv_got_has(&got, d) ||
            other_gets(p, at->index, (uint32_t)(was - p->old.use), d))
            continue;
        inv_broken(p, "invariant-definition", at,
                   "%.*s is not written by what stands at line %d of the original%s", (int)name.n,
                   name.s, line_of(&p->old, d), p->images[d] ? "" : ", which is gone");
        return true;
    }
    return false;
}

/* New code writes a register of the original, and all that writes it there is still there: not in its
 * place, then. */
static bool is_overwritten(struct inv_pair *p, const struct ptx_inst *at, const struct inv_use *was,
                           const struct inv_use *is, const struct inv_got *got)
{
    struct str name = p->old.f->regs[was->reg].name;
    bool kept = got->fresh && !(p->in->declared & INV_LANES) && was->n &&
                ptx_named_reg(p->now.f, at, name) == is->reg;
    for (uint32_t k = 0; k < was->n && kept; k++) {
        int32_t d = p->old.reaching[was->first + k];
        kept = d != INV_UNDEFINED && p->images[d] && !p->replaced[d];
    }
    if (kept)
        inv_broken(p, "invariant-definition", at, "%.*s is written by new code before it is read here",
                   (int)name.n, name.s);
    return kept;
}

/* Where all that is read comes from the same places, numbers and words have to be the same. */
static bool same_number(const struct ptx_operand *a, const struct ptx_operand *b)
{
    bool both = a->kind == b->kind && a->base == b->base;
    if (both && (a->kind == OPND_IMM || a->kind == OPND_ADDR))
        return a->imm == b->imm;
    if (!both || (a->kind != OPND_MULTI && a->kind != OPND_VEC) || a->nelem != b->nelem)
        return true;
    bool same = true;
    for (unsigned k = 0; k < a->nelem && same; k++)
        same = a->elem[k].kind != b->elem[k].kind || a->elem[k].base != b->elem[k].base ||
               (a->elem[k].kind != OPND_IMM && a->elem[k].kind != OPND_ADDR) ||
               a->elem[k].imm == b->elem[k].imm;
    return same;
}

static void check_numbers(struct inv_pair *p, const struct ptx_inst *o, const struct ptx_inst *n)
{
    for (unsigned k = 0; k < n->nopnds && n->nopnds == o->nopnds; k++)
        if (!same_number(&o->opnds[k], &n->opnds[k])) {
            inv_broken(p, "invariant-definition", n,
                       "another number stands in operand %u than at line %d of "
                       "the original",
                       k + 1, (int)o->at.line);
            return;
        }
}

bool inv_same_reads(const struct inv_pair *p, uint32_t n, uint32_t *was, uint32_t *is)
{
    uint32_t o = p->origin[n];
    const struct ptx_inst *a = &p->old.f->insts[o], *b = &p->now.f->insts[n];
    *was = p->old.use_of[o] + (a->guarded && !b->guarded);
    *is = p->now.use_of[n] + (b->guarded && !a->guarded);
    return a->op == b->op && p->old.use_of[o + 1] - *was == p->now.use_of[n + 1] - *is;
}

static void check_origin(struct inv_pair *p, uint32_t n)
{
    uint32_t was, is;
    const struct ptx_inst *i = &p->now.f->insts[n], *o = &p->old.f->insts[p->origin[n]];
    if (!inv_reached(&p->old, o->index) || !inv_same_reads(p, n, &was, &is))
        return;
    bool same = ptx_effect_of(i) != EFFECT_BRANCH && i->space == o->space && i->vec == o->vec;
    for (; is < p->now.use_of[n + 1]; was++, is++) {
        const struct inv_use *w = &p->old.use[was], *u = &p->now.use[is];
        struct inv_got got = inv_gets(p, u);
        p->seen->uses++;
        same &= !got.fresh;
        if (gets_more(p, i, w, u, &got) || gets_less(p, i, w, u) || is_overwritten(p, i, w, u, &got))
            return;
    }
    if (same && !(p->in->declared & INV_LANES && inv_has_effect(i)))
        check_numbers(p, o, i);
}

/* What a new instruction reads was written by something. */
static void check_new(struct inv_pair *p, uint32_t n)
{
    for (uint32_t k = p->now.use_of[n]; k < p->now.use_of[n + 1]; k++) {
        const struct inv_use *u = &p->now.use[k];
        struct str name = name_of(&p->now, u);
        if (u->n == 1 && inv_use_has(&p->now, u, INV_UNDEFINED)) {
            inv_broken(p, "invariant-definition", &p->now.f->insts[n],
                       "%.*s is read by new code, and nothing writes it", (int)name.n, name.s);
            return;
        }
    }
}

void inv_check_data(struct inv_pair *p)
{
    if (p->old.large || p->now.large)
        return;
    for (uint32_t n = 0; n < p->now.f->ninsts; n++)
        if (!inv_reached(&p->now, n))
            continue;
        else if (p->origin[n] != PTX_NO_INDEX)
            check_origin(p, n);
        else
            check_new(p, n);
}
