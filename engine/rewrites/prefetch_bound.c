/* prefetch, bounds: the conditions under which the kernel itself comes to a load, asked for the values
 * that are prefetched. They are the branches that dominate the load, the load's own guard, and in a
 * loop the tests behind the load that let another turn begin.
 *
 *   before                               after
 *   $loop: ld x;                         $loop: n = i + 8;  setp.lt.s32 p, n, limit;  @p prefetch x';
 *     setp.lt.s32 q, i, limit;             ld x;  setp.lt.s32 q, i, limit;
 *     @q bra $loop;                        @q bra $loop;
 *
 * A loop that ends when its counter equals a limit would seem to go on behind it: there the turns that
 * are left, (limit - counter) / step, are compared. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/prefetch_int.h"

#include <string.h>

static void add(struct bounds *b, const char *name, size_t n, uint32_t own, bool negated)
{
    if (b->n == BOUNDS_MAX || n >= SLICE_NAME) {
        b->open++;
        return;
    }
    memcpy(b->pred[b->n], name, n);
    b->pred[b->n][n] = 0;
    b->own[b->n] = own;
    b->negated[b->n++] = negated;
}

/* Bounds are computed each in registers of their own: they may be for other turns than the address. */
static struct slice fresh_slice(const struct slice *s, uint32_t use)
{
    struct slice one = *s;
    one.ndone = 0;
    one.use = use;
    return one;
}

/* The predicate ahead. One that is the same then and now holds already, unless it is the load's own. */
static void predicate(struct slice *s, uint32_t use, uint32_t reg, bool negated, bool own, bool may_move,
                      struct bounds *b)
{
    struct slice one = fresh_slice(s, use);
    struct slice_mark m = slice_mark(&one);
    one.moved = 0;
    if (!slice_reg(&one, reg) || (one.moved && !may_move)) {
        slice_rewind(&one, &m);
        b->open++;
        return;
    }
    const char *name = slice_name(&one, reg);
    struct str as_is = s->fl->f->regs[reg].name;
    if (name)
        add(b, name, strlen(name), PTX_NO_INDEX, negated);
    else if (own)
        add(b, as_is.s, as_is.n, reg, negated);
}

/* ---- counters that run up to a limit ---- */
static const struct ptx_inst *only_def(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    return x->ndefs == 1 ? &s->fl->f->insts[x->defs[0]] : NULL;
}

/* The one instruction in the loop that steps an induction register. */
static const struct ptx_inst *stepper(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    const struct ptx_inst *d = NULL;
    for (uint32_t k = 0; k < x->ndefs; k++) {
        if (!slice_in_loop(s, x->defs[k]))
            continue;
        if (d)
            return NULL;
        d = &s->fl->f->insts[x->defs[k]];
    }
    return x->ndefs > 1 ? d : NULL;
}

static bool outside(const struct slice *s, const struct ptx_operand *o)
{
    const struct ptx_reg_refs *x = o->kind == OPND_REG ? &s->fl->cfg->regs[o->index] : NULL;
    for (uint32_t k = 0; x && k < x->ndefs; k++)
        if (slice_in_loop(s, x->defs[k]))
            return false;
    return x || (o->kind == OPND_IMM && !o->is_float);
}

/* setp.ne counter, limit with a known step: d = limit - counter now (or the reverse), left > turns *
 * |step|. */
static bool equality(const struct slice *from, const struct ptx_inst *setp, struct bounds *b)
{
    struct slice one = fresh_slice(from, setp->index), *s = &one;
    const struct ptx_operand *o = setp->opnds;
    struct turn t;
    unsigned c = setp->nopnds == 3 && outside(s, &o[1]) ? 2 : 1;
    if (setp->nopnds != 3 || o[c].kind != OPND_REG || !outside(s, &o[3 - c]))
        return false;
    const struct ptx_inst *d = stepper(s, o[c].index);
    unsigned bits = ptx_type_bits((enum ptx_type)s->fl->f->regs[o[c].index].type);
    if (!d || (bits != 32 && bits != 64) || !slice_turn(s, o[c].index, d, &t) || t.reg != PTX_NO_INDEX ||
        !t.imm)
        return false;
    long long lag = (slice_turns(s, d->index, setp->index) - s->turns) * t.imm,
              need = s->turns * (t.imm < 0 ? -t.imm : t.imm);
    const char *left = slice_new(s, o[c].index), *p = slice_new(s, o[0].index);
    struct str counter = s->fl->f->regs[o[c].index].name,
               limit = { s->c->m->text.s + o[3 - c].off, o[3 - c].len };
    if (!left || !p)
        return false;
    buf_printf(s->code, "add.s%u \t%s, %.*s, %lld;\n", bits, left, (int)counter.n, counter.s, lag);
    if (t.imm > 0)
        buf_printf(s->code, "sub.s%u \t%s, %.*s, %s;\n", bits, left, (int)limit.n, limit.s, left);
    else
        buf_printf(s->code, "sub.s%u \t%s, %s, %.*s;\n", bits, left, left, (int)limit.n, limit.s);
    buf_printf(s->code, "setp.gt.u%u \t%s, %s, %lld;\n", bits, p, left, need);
    add(b, p, strlen(p), PTX_NO_INDEX, false);
    return true;
}

/* The loop goes on while a counter and its limit differ. */
static bool stays_by_inequality(const struct ptx_inst *setp, bool negated)
{
    struct ptx_comparison is;
    return ptx_comparison_of(setp, &is) && is.how == (negated ? PTX_MOD_EQ : PTX_MOD_NE);
}

/* The branch at `use` goes on while its predicate, negated or not, holds. */
static void condition(struct slice *s, const struct ptx_inst *use, bool negated, struct bounds *b)
{
    const struct ptx_inst *setp = only_def(s, use->guard);
    struct slice_mark m = slice_mark(s);
    bool inequality = !s->next && setp && stays_by_inequality(setp, negated);
    if (inequality && equality(s, setp, b))
        return;
    slice_rewind(s, &m);
    predicate(s, use->index, use->guard, negated, false, !inequality, b);
}

/* ---- branches ---- */
struct branch {
    const struct ptx_inst *at;
    uint32_t taken, through; /* blocks; PTX_NO_INDEX: the thread ends */
};

static bool branch_of(const struct slice *s, uint32_t block, struct branch *b)
{
    const struct ptx_cfg *g = s->fl->cfg;
    const struct ptx_block *k = &g->blocks[block];
    const struct ptx_inst *last = k->n ? &s->fl->f->insts[k->first + k->n - 1] : NULL;
    if (!last || !last->guarded || !(ptx_is(last, IS_JUMP) || ptx_ends_thread(last)))
        return false;
    *b = (struct branch){ last, PTX_NO_INDEX,
                          last->index + 1 < s->fl->f->ninsts ? g->block_of[last->index + 1]
                                                             : PTX_NO_INDEX };
    for (uint8_t n = 0; n < last->nopnds; n++)
        if (last->opnds[n].kind == OPND_LABEL &&
            s->fl->f->labels[last->opnds[n].index].inst < s->fl->f->ninsts)
            b->taken = g->block_of[s->fl->f->labels[last->opnds[n].index].inst];
    return true;
}

/* Does a way through `to`, entered from `from` alone, lead to the load's block and not past it? */
static bool leads(const struct slice *s, uint32_t from, uint32_t to, uint32_t block)
{
    const struct ptx_cfg *g = s->fl->cfg;
    return to != PTX_NO_INDEX && g->blocks[to].npred == 1 && g->blocks[to].pred[0] == from &&
           ptx_dominates(g, to, block);
}

static void dominating(struct slice *s, uint32_t block, struct bounds *b)
{
    const struct ptx_cfg *g = s->fl->cfg;
    struct branch br;
    for (uint32_t d = g->blocks[block].idom; d != PTX_NO_INDEX && d < g->nblocks;
         d = g->blocks[d].idom) {
        if ((s->next || slice_in_loop(s, g->blocks[d].first)) && branch_of(s, d, &br)) {
            bool taken = leads(s, d, br.taken, block),
                 through = leads(s, d, br.through, block) || ptx_ends_thread(br.at);
            if (taken != through)
                condition(s, br.at, taken == br.at->guard_neg, b);
        }
        if (g->blocks[d].idom == d)
            return;
    }
}

static bool block_in_loop(const struct slice *s, uint32_t block)
{
    return block != PTX_NO_INDEX && slice_in_loop(s, s->fl->cfg->blocks[block].first);
}

/* Exits behind the load: they are passed once less often than the load is reached. */
static void turning(struct slice *s, uint32_t block, struct bounds *b)
{
    const struct ptx_cfg *g = s->fl->cfg;
    const struct ptx_loop *l = &g->loops[s->loop];
    struct branch br;
    for (uint32_t k = 0; k < l->nblocks; k++) {
        uint32_t at = l->blocks[k];
        if (!branch_of(s, at, &br) || (at != block && ptx_dominates(g, at, block)) ||
            block_in_loop(s, br.taken) == block_in_loop(s, br.through))
            continue;
        s->turns--;
        condition(s, br.at, block_in_loop(s, br.taken) == br.at->guard_neg, b);
        s->turns++;
    }
}

void bounds_of(struct slice *s, const struct ptx_inst *load, struct bounds *out)
{
    uint32_t block = s->fl->cfg->block_of[load->index];
    memset(out, 0, sizeof *out);
    if (load->guarded)
        predicate(s, load->index, load->guard, load->guard_neg, true, true, out);
    dominating(s, block, out);
    if (!s->next)
        turning(s, block, out);
}
