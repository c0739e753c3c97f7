/* prefetch, slices: a value computed again in fresh registers, for the next task's coordinates or for
 * some turns of a loop later. Backwards through pure, unguarded instructions; what cannot be followed
 * fails.
 *
 *   before                               after, the address for the next task
 *     mad.lo.s32 %r4, %r1, %r2, %r3;       mad.lo.s32 s0, next_ctaid, %r2, %r3;
 *     mul.wide.s32 %rd5, %r4, 4;           mul.wide.s32 s1, s0, 4;
 *     add.s64 %rd6, %rd4, %rd5;            add.s64 s2, %rd4, s1; */
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/prefetch_int.h"

#include <string.h>

const char *slice_name(struct slice *s, uint32_t reg)
{
    for (uint32_t k = 0; k < s->ndone; k++)
        if (s->done[k] == reg)
            return s->text[k];
    return NULL;
}

static const char *reg_class(enum ptx_type t)
{
    switch (ptx_type_kind(t) == 'p' ? 1 : ptx_type_bits(t)) {
    case 1: return ".pred";
    case 16: return ".b16";
    case 32: return ".b32";
    case 64: return ".b64";
    default: return NULL;
    }
}

const char *slice_new(struct slice *s, uint32_t reg)
{
    const char *cls = reg_class((enum ptx_type)s->fl->f->regs[reg].type);
    if (s->ndone == SLICE_MAX || !cls)
        return NULL;
    struct buf b = { 0 };
    pass_code(&b, s->c->tag, "%%#s%u", (*s->counter)++);
    char *t = s->text[s->ndone];
    memcpy(t, b.s && b.n < sizeof s->text[0] ? b.s : "", b.s && b.n < sizeof s->text[0] ? b.n + 1 : 1);
    s->decls->oom |= b.oom;
    buf_free(&b);
    buf_printf(s->decls, ".reg %s \t%s;\n", cls, t);
    s->done[s->ndone++] = reg;
    return t;
}

bool slice_in_loop(const struct slice *s, uint32_t inst)
{
    const struct ptx_cfg *g = s->fl->cfg;
    for (uint32_t l = g->blocks[g->block_of[inst]].loop; l != PTX_NO_INDEX; l = g->loops[l].parent)
        if (l == s->loop)
            return true;
    return false;
}

static const char *slice_sub(void *ctx, const struct ptx_operand *o)
{
    struct slice *s = ctx;
    if (o->kind == OPND_REG)
        return slice_name(s, o->index);
    if (o->kind == OPND_SREG && o->index == PTX_SREG_CTAID && s->next && o->comp >= 0 && o->comp < 3)
        return s->next[o->comp];
    return NULL;
}

static bool pure(const struct ptx_func *f, const struct ptx_inst *d)
{
    unsigned written = 0;
    for (struct ptx_regs r = ptx_regs_of(d, PTX_WRITE); ptx_next_reg(&r);)
        written++;
    enum ptx_effect e = ptx_effect_of(d);
    bool constant_load = ptx_is_plain_load(d) && pass_own_param(f, d);
    return written == 1 && !ptx_is_opaque(d) && !d->guarded && (e == EFFECT_NONE || constant_load) &&
           d->nopnds >= 2 && d->opnds[0].kind == OPND_REG && d->opnds[1].kind != OPND_VEC;
}

static bool invariant(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    for (uint32_t k = 0; k < x->ndefs; k++)
        if (slice_in_loop(s, x->defs[k]))
            return false;
    return true;
}

/* What one turn adds to an induction register: imm + count * reg, summed over a chain of
 * additions (an unrolled loop has several). */
bool slice_turn(const struct slice *s, uint32_t reg, const struct ptx_inst *d, struct turn *t)
{
    *t = (struct turn){ 0, 0, PTX_NO_INDEX };
    for (unsigned links = 0; links < 16; links++) {
        struct ptx_sum sum;
        if (!ptx_sum_of(d, &sum) || sum.n != 2 || sum.term[0].b || sum.term[0].a->kind != OPND_REG)
            return false;
        const struct ptx_operand *step = sum.term[1].a;
        int sign = sum.term[1].minus ? -1 : 1;
        if (step->kind == OPND_IMM) {
            t->imm += sign * step->imm;
        } else if (step->kind == OPND_REG && invariant(s, step->index) &&
                   (t->reg == PTX_NO_INDEX || t->reg == step->index)) {
            t->reg = step->index;
            t->count += sign;
        } else {
            return false;
        }
        if (sum.term[0].a->index == reg)
            return true;
        const struct ptx_reg_refs *x = &s->fl->cfg->regs[sum.term[0].a->index];
        if (x->ndefs != 1 || !slice_in_loop(s, x->defs[0]))
            return false;
        d = &s->fl->f->insts[x->defs[0]];
    }
    return false;
}

/* In one turn, does instruction a come before instruction b? */
static bool comes_before(const struct slice *s, uint32_t a, uint32_t b)
{
    const struct ptx_cfg *g = s->fl->cfg;
    uint32_t x = g->block_of[a], y = g->block_of[b];
    return x == y ? a < b : ptx_dominates(g, x, y);
}

int64_t slice_turns(const struct slice *s, uint32_t step, uint32_t use)
{
    return s->turns + (int)comes_before(s, step, use) - (int)comes_before(s, step, s->at);
}

/* An induction register's fresh copy is what it will be for its user some turns later; d steps it. */
static bool slice_induction(struct slice *s, uint32_t reg, const struct turn *t,
                            const struct ptx_inst *d)
{
    unsigned bits = ptx_type_bits((enum ptx_type)s->fl->f->regs[reg].type);
    long long n = slice_turns(s, d->index, s->use);
    struct str from = s->fl->f->regs[reg].name;
    const char *to = slice_new(s, reg);
    s->moved++;
    s->induction = reg;
    s->step_known = t->reg == PTX_NO_INDEX;
    s->step = t->imm;
    if (!to)
        return false;
    buf_printf(s->code, "add.s%u \t%s, %.*s, %lld;\n", bits, to, (int)from.n, from.s,
               (long long)t->imm * n);
    if (t->reg != PTX_NO_INDEX)
        buf_printf(s->code, "mad.lo.s%u \t%s, %.*s, %lld, %s;\n", bits, to,
                   (int)s->fl->f->regs[t->reg].name.n, s->fl->f->regs[t->reg].name.s,
                   (long long)t->count * n, to);
    return true;
}

static bool is_busy(const struct slice *s, uint32_t reg)
{
    for (uint32_t k = 0; k < s->nbusy; k++)
        if (s->busy[k] == reg)
            return true;
    return false;
}

/* A register whose definitions lead back to it, or that lies too deep, fails. */
static bool slice_def(struct slice *s, uint32_t reg, const struct ptx_inst *d)
{
    bool ok = true;
    uint32_t use = s->use;
    if (!pure(s->fl->f, d) || s->nbusy == SLICE_MAX || is_busy(s, reg))
        return false;
    s->busy[s->nbusy++] = reg;
    s->use = d->index;
    for (struct ptx_regs r = ptx_regs_of(d, PTX_READ); ptx_next_reg(&r);)
        ok = ok && (r.access & PTX_WRITE || slice_reg(s, r.reg));
    s->use = use;
    s->nbusy--;
    if (!ok || !slice_new(s, reg))
        return false;
    pass_inst_text(s->c->m, d, slice_sub, s, s->code);
    buf_puts(s->code, "\n");
    return true;
}

/* The definition the value starts from: the only one, or the one outside the loop that goes round. */
static const struct ptx_inst *start_def(const struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    const struct ptx_cfg *g = s->fl->cfg;
    const struct ptx_inst *found = NULL;
    if (x->ndefs == 1)
        return &s->fl->f->insts[x->defs[0]];
    for (uint32_t k = 0; k < x->ndefs; k++) {
        bool dom = ptx_dominates(g, g->block_of[x->defs[k]], g->block_of[s->at]) && x->defs[k] < s->at;
        bool turns = g->blocks[g->block_of[x->defs[k]]].loop != PTX_NO_INDEX &&
                     g->blocks[g->block_of[x->defs[k]]].loop == g->blocks[g->block_of[s->at]].loop;
        if (!dom || turns)
            continue;
        found = found ? NULL : &s->fl->f->insts[x->defs[k]];
        if (!found)
            return NULL;
    }
    return found;
}

bool slice_reg(struct slice *s, uint32_t reg)
{
    const struct ptx_reg_refs *x = &s->fl->cfg->regs[reg];
    if (slice_name(s, reg))
        return true;
    if (s->ndone >= SLICE_MAX - 1)
        return false;
    if (s->next) {
        const struct ptx_inst *d = start_def(s, reg);
        return d && slice_def(s, reg, d);
    }
    uint32_t inside = 0;
    const struct ptx_inst *d = NULL;
    for (uint32_t k = 0; k < x->ndefs; k++)
        if (slice_in_loop(s, x->defs[k])) {
            inside++;
            d = &s->fl->f->insts[x->defs[k]];
        }
    if (!inside)
        return true; /* as it is: the same in every iteration */
    if (inside > 1 || !d)
        return false;
    struct turn t;
    if (x->ndefs > 1)
        return slice_turn(s, reg, d, &t) && slice_induction(s, reg, &t, d);
    return slice_def(s, reg, d);
}

struct slice_mark slice_mark(const struct slice *s)
{
    return (struct slice_mark){ s->ndone,   s->moved,     *s->counter, s->decls->n,
                                s->code->n, s->induction, s->step,     s->step_known };
}

static void cut_back(struct buf *b, size_t n)
{
    if (b->s && n <= b->n) {
        b->n = n;
        b->s[n] = 0;
    }
}

void slice_rewind(struct slice *s, const struct slice_mark *m)
{
    s->ndone = m->ndone;
    s->moved = m->moved;
    *s->counter = m->counter;
    s->induction = m->induction;
    s->step = m->step;
    s->step_known = m->step_known;
    cut_back(s->decls, m->decls);
    cut_back(s->code, m->code);
}
