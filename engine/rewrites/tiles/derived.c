/* Registers that go on with the counter: a compiler makes `first + 32 * t` once before the loop and adds
 * 32 * %nctaid.x in each turn. See tiles_int.h. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/tiles/tiles_int.h"

enum { DEPTH = 16 }; /* definitions followed, one behind the other */

struct derive {
    const struct pass_ctx *c;
    const struct tile_counter *t;
};

static bool is_word(const struct ptx_inst *i)
{
    return i->ntypes == 1 && ptx_type_bits((enum ptx_type)i->type[0]) == 32 && i->type[0] != PTX_T_F32;
}

static bool is_nctaid(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG && o->index == PTX_SREG_NCTAID && o->comp == 0;
}

bool tile_is_step(const struct pass_ctx *c, const struct pass_flow *fl, const struct ptx_operand *o)
{
    if (o->kind == OPND_IMM && !o->is_float)
        return o->imm == (int64_t)c->out->grid.x;
    if (o->kind != OPND_REG || o->neg)
        return is_nctaid(o);
    const struct ptx_reg_refs *r = &fl->cfg->regs[o->index];
    for (uint32_t k = 0; k < r->ndefs; k++) {
        const struct ptx_inst *d = &fl->f->insts[r->defs[k]];
        const struct ptx_operand *from = ptx_copied(d);
        if (!from || !is_word(d) || !is_nctaid(from))
            return false;
    }
    return r->ndefs > 0;
}

/* The one definition of a register; NULL: it has others, or may keep its value. */
static const struct ptx_inst *defined(const struct derive *d, const struct ptx_operand *o)
{
    const struct ptx_reg_refs *r = &d->t->fl->cfg->regs[o->index];
    const struct ptx_inst *i = r->ndefs == 1 ? &d->t->fl->f->insts[r->defs[0]] : NULL;
    return i && !i->guarded && !o->neg ? i : NULL;
}

/* The factor of a term that is a number, 1 where it has none; other: what it multiplies. False: neither
 * factor is one. */
static bool factor_of(const struct ptx_term *t, const struct ptx_operand **other, int64_t *by)
{
    bool first = t->b && !t->shift && ptx_is_number(t->a) && !ptx_is_number(t->b);
    const struct ptx_operand *n = first ? t->a : t->b;
    *other = first ? t->b : t->a;
    *by = 1;
    if (!n)
        return true;
    if (!ptx_is_number(n) || (t->shift && (n->imm < 0 || n->imm > 31)))
        return false;
    *by = t->shift ? (int64_t)1 << n->imm : n->imm;
    return true;
}

/* o = *k * %nctaid.x */
static bool steps(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k)
{
    int64_t grid = d->c->out->grid.x;
    *k = 1;
    if (ptx_is_number(o)) {
        *k = o->imm / grid;
        return o->imm % grid == 0;
    }
    if (tile_is_step(d->c, d->t->fl, o))
        return true;
    const struct ptx_inst *i = o->kind == OPND_REG && depth ? defined(d, o) : NULL;
    if (!i)
        return false;
    struct ptx_sum s;
    const struct ptx_operand *a;
    int64_t by;
    if (!ptx_sum_of(i, &s) || s.n != 1 || s.cuts || s.term[0].minus || !factor_of(&s.term[0], &a, &by) ||
        (s.term[0].b && ptx_is_number(a)) || !steps(d, a, depth - 1, k))
        return false;
    *k = base_wrap_mul(*k, by);
    return true;
}

static bool linear(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k);

/* By what the term grows for each number that the counter grows by. */
static bool linear_term(const struct derive *d, const struct ptx_term *t, int depth, int64_t *k)
{
    const struct ptx_operand *other;
    int64_t by, a, b = 0;
    if (!linear(d, t->a, depth - 1, &a) || (t->b && !linear(d, t->b, depth - 1, &b)))
        return false;
    *k = 0;
    if (!a && !b)
        return true;
    if (!factor_of(t, &other, &by))
        return false;
    *k = base_wrap_mul(base_wrap_add(a, b), t->minus ? base_wrap_mul(by, -1) : by);
    return true;
}

/* Nothing that it reads grows, so its result does not. */
static bool stays(const struct derive *d, const struct ptx_inst *i, int depth)
{
    int64_t v;
    for (uint8_t n = 1; n < i->nopnds; n++)
        if (!linear(d, &i->opnds[n], depth - 1, &v) || v)
            return false;
    return ptx_is_pure(i);
}

/* By what the result of i grows for each number that the counter grows by. */
static bool linear_inst(const struct derive *d, const struct ptx_inst *i, int depth, int64_t *k)
{
    struct ptx_sum s;
    int64_t v;
    *k = 0;
    if (i->guarded || i->nopnds < 2)
        return false;
    if (ptx_rule_of(i) == ADDR_LOAD)
        return pass_own_param(d->t->fl->f, i);
    if (!ptx_sum_of(i, &s) || s.cuts)
        return stays(d, i, depth);
    for (uint8_t n = 0; n < s.n; n++) {
        if (!linear_term(d, &s.term[n], depth, &v))
            return false;
        *k = base_wrap_add(*k, v);
    }
    return true;
}

static bool linear(const struct derive *d, const struct ptx_operand *o, int depth, int64_t *k)
{
    *k = 0;
    if (ptx_is_number(o) || o->kind == OPND_SYM)
        return true;
    if (o->kind == OPND_SREG) {
        *k = o->index == PTX_SREG_CTAID && o->comp == 0;
        return o->index == PTX_SREG_CTAID || o->index == PTX_SREG_TID || o->index == PTX_SREG_NTID ||
               o->index == PTX_SREG_NCTAID || o->index == PTX_SREG_LANEID;
    }
    if (o->kind != OPND_REG || !depth)
        return false;
    *k = 1;
    const struct ptx_inst *i = d->t->counter[o->index] ? NULL : defined(d, o);
    return d->t->counter[o->index] || (i && linear_inst(d, i, depth, k));
}

/* The next value in a turn: r + *k * %nctaid.x. */
static bool goes_on(const struct derive *d, const struct ptx_inst *i, uint32_t r, int64_t *k)
{
    struct ptx_sum s;
    if (!ptx_sum_of(i, &s) || s.n != 2 || s.term[0].b || s.term[1].b || s.term[1].minus)
        return false;
    const struct ptx_operand *a = s.term[0].a, *b = s.term[1].a;
    if (a->kind == OPND_REG && a->index == r)
        return steps(d, b, DEPTH, k);
    return b->kind == OPND_REG && b->index == r && steps(d, a, DEPTH, k);
}

static int64_t scale_of(const struct derive *d, uint32_t r)
{
    const struct ptx_reg_refs *x = &d->t->fl->cfg->regs[r];
    int64_t k = 0, scale = 0;
    unsigned first = 0, next = 0;
    for (uint32_t n = 0; n < x->ndefs; n++) {
        const struct ptx_inst *i = &d->t->fl->f->insts[x->defs[n]];
        bool inside = tile_loop_of(d->t, d->t->fl->cfg->block_of[x->defs[n]]) != PTX_NO_INDEX;
        if (!(inside ? goes_on(d, i, r, &k) : linear_inst(d, i, DEPTH, &k)) || !k || (n && k != scale))
            return 0;
        scale = k;
        first += !inside;
        next += inside;
    }
    int64_t most = INT32_MAX / (int64_t)d->c->out->grid.x; /* first values do not wrap */
    bool fits = scale >= -most && scale <= most;
    return first && next && fits ? scale : 0;
}

void tile_find_derived(const struct pass_ctx *c, struct tile_counter *t)
{
    const struct derive d = { c, t };
    for (uint32_t r = 0; r < t->fl->f->nregs; r++)
        if (!t->counter[r] && t->fl->cfg->regs[r].ndefs > 1)
            t->scale[r] = scale_of(&d, r);
}
