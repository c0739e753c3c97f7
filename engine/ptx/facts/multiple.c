#include "engine/ptx/facts/multiple.h"

#include "engine/ptx/facts/counted.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/asks.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#define MOST    63u /* zeros of zero */
#define CHANGES 100u
#define DEFS    16u /* of a register; of one with more nothing is known */

struct multiples {
    const struct ptx_cfg *g;
    struct ptx_multiple *of; /* by register */
    uint8_t *changes;        /* by register */
    bool *whole;             /* by block: a loop that is unrolled wholly */
};

static uint8_t zeros_of(uint64_t v)
{
    return (uint8_t)(v ? (unsigned)__builtin_ctzll(v) : MOST);
}
static unsigned less(unsigned a, unsigned b)
{
    return a < b ? a : b;
}
/* The same with nothing over. */
static unsigned zeros_in(struct ptx_multiple m)
{
    return less(m.zeros, zeros_of((uint64_t)m.over));
}
static struct ptx_multiple plain(unsigned zeros)
{
    return (struct ptx_multiple){ .root = PTX_NO_INDEX, .zeros = (uint8_t)less(zeros, MOST) };
}

/* ---- variables ---- */

/* Variables of the kernel come first in shared memory, then the module's, then those without a size. */
static bool find_place(struct ptx_shared *s, struct ptx_symbol *const *list, uint32_t n,
                       const struct ptx_symbol *v, uint64_t *at)
{
    for (uint32_t k = 0; k < n; k++) {
        if (list[k]->space != PTX_SPACE_SHARED)
            continue;
        *at = ptx_shared_place(s, list[k]);
        if (list[k] == v)
            return true;
    }
    return false;
}

static struct ptx_multiple variable(const struct ptx_func *f, const struct ptx_operand *o)
{
    struct ptx_shared s = { 0 };
    const struct ptx_module *m = f->module;
    const struct ptx_symbol *v = o->sym;
    uint64_t at = 0;
    if (v->space != PTX_SPACE_SHARED || !f->entry)
        return plain(0);
    bool found = find_place(&s, f->vars, f->nvars, v, &at);
    for (uint32_t k = 0; !found && k < m->nglobals; k++)
        if (ptx_shared_counts(m, f, m->globals[k]))
            found = find_place(&s, &m->globals[k], 1, v, &at);
    struct ptx_multiple out = plain(!found ? 0 : v->unsized ? 4 : zeros_of(at));
    out.over = o->imm;
    return out;
}

/* ---- what an instruction makes ---- */

static struct ptx_multiple operand(const struct multiples *x, const struct ptx_operand *o)
{
    if (o->kind == OPND_REG && o->comp < 0)
        return x->of[o->index];
    if (o->kind == OPND_SYM && o->sym->kind == SYM_VAR)
        return variable(x->g->func, o);
    struct ptx_multiple m = plain(0);
    m.number = ptx_is_number(o);
    if (m.number) {
        m.zeros = MOST;
        m.over = o->imm;
    }
    return m;
}

static struct ptx_multiple term_of(const struct multiples *x, const struct ptx_term *t)
{
    struct ptx_multiple a = operand(x, t->a);
    if (!t->b) {
        a.over = t->minus ? (int64_t)(0 - (uint64_t)a.over) : a.over;
        a.root = t->minus ? PTX_NO_INDEX : a.root;
        return a;
    }
    struct ptx_multiple b = operand(x, t->b);
    unsigned more = !t->shift ? zeros_in(b) : b.number ? (unsigned)b.over & 63 : 0;
    return plain(zeros_in(a) + more);
}

static struct ptx_multiple sum(struct ptx_multiple a, struct ptx_multiple b)
{
    if (!a.number && !b.number)
        return plain(less(zeros_in(a), zeros_in(b)));
    struct ptx_multiple out = plain(less(a.zeros, b.zeros));
    out.number = a.number && b.number;
    out.over = (int64_t)((uint64_t)a.over + (uint64_t)b.over);
    if (!out.number)
        out.root = a.number && a.zeros == MOST   ? b.root
                   : b.number && b.zeros == MOST ? a.root
                                                 : PTX_NO_INDEX;
    return out;
}

static struct ptx_multiple sum_of(const struct multiples *x, const struct ptx_sum *s)
{
    struct ptx_multiple out = s->n ? term_of(x, &s->term[0]) : plain(0);
    for (unsigned k = 1; k < s->n; k++)
        out = sum(out, term_of(x, &s->term[k]));
    return s->widens || s->cuts ? plain(zeros_in(out)) : out;
}

static struct ptx_multiple bits_of(const struct multiples *x, const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    if (i->nopnds < 3)
        return plain(0);
    struct ptx_multiple a = operand(x, &i->opnds[1]), b = operand(x, &i->opnds[2]);
    unsigned za = zeros_in(a), zb = zeros_in(b);
    switch (rule) {
    case ADDR_AND: return plain(za > zb ? za : zb);
    case ADDR_OR:
    case ADDR_XOR:
    case ADDR_SELP: return plain(less(za, zb));
    case ADDR_REM: return plain(b.number ? less(za, zb) : 0);
    case ADDR_BFI:
        return plain(less(zb, ptx_is_number(&i->opnds[3]) ? za + ((unsigned)i->opnds[3].imm & 63) : 0));
    default: return plain(0);
    }
}

static struct ptx_multiple made_by(const struct multiples *x, uint32_t def)
{
    const struct ptx_inst *i = &x->g->func->insts[def];
    struct ptx_sum s;
    if (i->guarded || ptx_is_address_cast(i))
        return plain(0);
    return ptx_sum_of(i, &s) ? sum_of(x, &s) : bits_of(x, i);
}

/* ---- registers ---- */

static struct ptx_body body_of(const struct ptx_cfg *g, uint32_t block)
{
    const struct ptx_block *b = &g->blocks[block];
    return (struct ptx_body){ g->func, g->func->insts + b->first, b->n };
}

/* Of two definitions one is the step of a loop that is unrolled wholly: the other's, and the step's in
 * each copy. */
static bool counts_up(const struct multiples *x, uint32_t reg, struct ptx_multiple *out)
{
    const struct ptx_reg_refs *r = &x->g->regs[reg];
    for (uint32_t k = 0; r->ndefs == 2 && k < 2; k++) {
        uint32_t block = x->g->block_of[r->defs[k]], start = 0;
        if (!x->whole[block] || x->g->block_of[r->defs[1 - k]] == block)
            continue;
        struct ptx_body b = body_of(x->g, block);
        int64_t step = ptx_turn_step(&b, reg, &start);
        if (!step || start != reg)
            return false;
        *out = made_by(x, r->defs[1 - k]);
        out->zeros = (uint8_t)less(out->zeros, zeros_of((uint64_t)step));
        out->root = PTX_NO_INDEX;
        return true;
    }
    return false;
}

static struct ptx_multiple of_register(const struct multiples *x, uint32_t reg)
{
    const struct ptx_reg_refs *r = &x->g->regs[reg];
    struct ptx_multiple out = plain(MOST);
    if (r->ndefs > DEFS)
        out = plain(0);
    else if (r->ndefs == 1)
        out = made_by(x, r->defs[0]);
    else if (!counts_up(x, reg, &out))
        for (uint32_t k = 0; k < r->ndefs; k++)
            out = plain(less(out.zeros, zeros_in(made_by(x, r->defs[k]))));
    if (out.root == PTX_NO_INDEX || x->g->regs[out.root].ndefs != 1)
        out.root = reg;
    return out;
}

static bool is_like(const struct ptx_multiple *a, const struct ptx_multiple *b)
{
    return a->root == b->root && a->zeros == b->zeros && a->number == b->number && a->over == b->over;
}

static void step(void *ctx, struct ptx_solver *s, uint32_t n)
{
    struct multiples *x = ctx;
    const struct ptx_inst *i = &x->g->func->insts[n];
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        struct ptx_multiple *was = &x->of[r.reg], now = of_register(x, r.reg);
        if (is_like(was, &now) || x->changes[r.reg] == CHANGES)
            continue;
        if (++x->changes[r.reg] == CHANGES) /* numbers that two loops give each other */
            now = (struct ptx_multiple){ .root = r.reg };
        *was = now;
        ptx_ask_each(s, x->g->regs[r.reg].uses, x->g->regs[r.reg].nuses);
    }
}

/* All registers begin as zero: so a loop gives what its steps leave of it. */
static bool begin(struct multiples *x)
{
    const struct ptx_func *f = x->g->func;
    x->of = base_alloc((f->nregs + 1) * sizeof *x->of);
    x->changes = base_alloc(f->nregs + 1);
    x->whole = base_alloc((x->g->nblocks + 1) * sizeof *x->whole);
    if (!x->of || !x->changes || !x->whole)
        return false;
    for (uint32_t k = 0; k < f->nregs; k++)
        x->of[k] = (struct ptx_multiple){ .root = k, .zeros = MOST, .number = true };
    for (uint32_t k = 0; k < x->g->nblocks; k++) {
        struct ptx_body b = body_of(x->g, k);
        uint32_t turns;
        x->whole[k] = b.n && ptx_counts(&b, &turns) && turns;
    }
    return true;
}

struct ptx_multiple *ptx_multiples(const struct ptx_cfg *g)
{
    struct multiples x = { .g = g };
    bool ok = begin(&x) && ptx_solve(g->func->ninsts, PTX_FORWARD, step, &x);
    BASE_FREE(x.changes, x.whole);
    if (ok)
        return x.of;
    base_free(x.of);
    return NULL;
}

struct ptx_multiple ptx_multiple_at(const struct ptx_cfg *g, const struct ptx_multiple *all,
                                    const struct ptx_operand *o)
{
    struct ptx_multiple m = o->base == BASE_REG ? all[o->index] : plain(0);
    if (o->base == BASE_SYM)
        return variable(g->func, o);
    m.over = (int64_t)((uint64_t)m.over + (uint64_t)o->imm);
    return m;
}
