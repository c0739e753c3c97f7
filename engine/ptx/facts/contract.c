/* Contraction as ptxas does it, found by experiment (docs/lab/contraction.md):
 *
 *   mul.f32 %p, %a, %b        (no .rn)
 *   add.f32 %d, %p, %c        (no .rn)       ->    fma.rn.f32 %d, %a, %b, %c
 *
 * - Both stand in one straight line of code, the mul without a guard; the types and .ftz are equal.
 * - A line ends at branches and calls, at instructions that become several blocks or a call (divisions,
 *   roots), at memory fences, and at guarded accesses, barriers and votes.
 * - mov, and neg of the same type, are looked through.
 * - A product with one use is fused first: adds in order, their operands in order.
 * - Then products that only adds use, add by add, of two the one with fewer uses; one whose mul has to
 *   stay for an add that took the other operand is not fused any more.
 * - A product of two constants is folded and never fused. */
#include "engine/ptx/facts/contract.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

#include <string.h>

/* What a register holds: a product, perhaps with its sign changed. */
struct held {
    uint32_t mul; /* PTX_NO_INDEX: no product */
    bool neg;
};
struct product {
    uint32_t first_use, nuses; /* adds, in uses[] as a list */
    bool spoilt;               /* something but an add uses it, or another line of code does */
};
struct use {
    uint32_t add, next;
};
struct contracting {
    const struct ptx_cfg *c;
    const struct ptx_func *f;
    struct ptx_contracted *out;
    struct held *held; /* by register */
    uint32_t *touched, ntouched;
    struct product *product; /* by instruction */
    struct use *uses;
    uint32_t nuses;
    uint8_t *live;             /* by instruction: is its result used? */
    uint8_t *wanted;           /* by register: its definitions matter */
    uint8_t *exposed;          /* by register: some block reads it before writing it */
    struct held (*operand)[2]; /* by instruction: what an add's operands hold */
};

/* ---- which results matter ---- */
static bool has_effect(const struct ptx_inst *i)
{
    bool writes = i->nopnds && i->opnds[0].kind == OPND_REG && ptx_operand_access(i, 0) & PTX_WRITE;
    enum ptx_effect e = ptx_op_info(i->op)->effect;
    return !writes || (e != EFFECT_NONE && e != EFFECT_LOAD);
}

/* What an instruction that matters reads: its definitions matter. */
static void live_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct contracting *x = ctx;
    x->ntouched = 0;
    if (x->live[inst])
        for (struct ptx_regs r = ptx_regs_of(&x->f->insts[inst], PTX_READ); ptx_next_reg(&r);)
            x->touched[x->ntouched++] = r.reg;
    for (uint32_t k = 0; k < x->ntouched; k++) {
        const struct ptx_reg_refs *r = &x->c->regs[x->touched[k]];
        uint32_t ndefs = x->wanted[x->touched[k]] ? 0 : r->ndefs;
        x->wanted[x->touched[k]] = 1;
        for (uint32_t d = 0; d < ndefs; d++)
            x->live[r->defs[d]] = 1;
        ptx_ask_each(s, r->defs, ndefs);
    }
}

static bool find_live(struct contracting *x)
{
    for (uint32_t i = 0; i < x->f->ninsts; i++)
        x->live[i] = has_effect(&x->f->insts[i]);
    x->wanted = base_alloc(x->f->nregs + 1);
    bool ok = x->wanted && ptx_solve(x->f->ninsts, PTX_BACKWARD, live_step, x);
    base_free(x->wanted);
    return ok;
}

/* ---- registers that carry a value into a block ---- */
struct exposing {
    struct contracting *x;
    uint32_t *written, stamp; /* by register: the block that wrote it last, and this one */
};
/* The block that alone follows b and follows nothing else, so that both are one line of code;
 * PTX_NO_INDEX: none. */
static uint32_t line_next(const struct ptx_cfg *c, uint32_t b)
{
    const struct ptx_block *from = &c->blocks[b];
    const struct ptx_inst *last = from->n ? &c->func->insts[from->first + from->n - 1] : NULL;
    bool may_end = last && last->guarded && ptx_op_info(last->op)->effect == EFFECT_EXIT;
    if (from->nsucc != 1 || may_end || from->succ[0] == 0 || from->succ[0] == b)
        return PTX_NO_INDEX;
    return c->blocks[from->succ[0]].npred == 1 ? from->succ[0] : PTX_NO_INDEX;
}

static bool begins_line(const struct ptx_cfg *c, uint32_t b)
{
    const struct ptx_block *to = &c->blocks[b];
    return to->reachable && (b == 0 || to->npred != 1 || line_next(c, to->pred[0]) != b);
}

static bool has_type(const struct ptx_inst *i, enum ptx_type t)
{
    return i->ntypes && i->type[0] == (uint8_t)t;
}

/* No rounding is asked for. */
static bool rounds_freely(const struct ptx_inst *i)
{
    return !ptx_has_mod(i, PTX_MOD_RN) && !ptx_has_mod(i, PTX_MOD_RZ) && !ptx_has_mod(i, PTX_MOD_RM) &&
           !ptx_has_mod(i, PTX_MOD_RP);
}

/* A division or root that ptxas calls a function for. */
static bool is_float_call(const struct ptx_inst *i)
{
    bool f64 = has_type(i, PTX_T_F64);
    switch (i->op) {
    case PTX_OP_DIV:
    case PTX_OP_RCP:
    case PTX_OP_SQRT: return (f64 || has_type(i, PTX_T_F32)) && !rounds_freely(i);
    case PTX_OP_RSQRT: return f64 && !ptx_has_mod(i, PTX_MOD_FTZ);
    default: return false;
    }
}

/* Is the line of code cut here? What nothing uses is gone before, but for the calls. */
static bool cuts_line(const struct contracting *x, uint32_t n)
{
    const struct ptx_inst *i = &x->f->insts[n];
    if (is_float_call(i))
        return true;
    if (!x->live[n])
        return false;
    enum ptx_effect e = ptx_op_info(i->op)->effect;
    bool divides = i->op == PTX_OP_DIV || i->op == PTX_OP_REM;
    return (i->guarded && e != EFFECT_NONE && e != EFFECT_BRANCH) || e == EFFECT_CALL ||
           e == EFFECT_EXIT || i->op == PTX_OP_MEMBAR || i->op == PTX_OP_FENCE ||
           i->op == PTX_OP_PMEVENT ||
           (divides && !has_type(i, PTX_T_U32) && !has_type(i, PTX_T_F32) && !has_type(i, PTX_T_F64));
}

static void expose_block(struct exposing *e, const struct ptx_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->n; i++) {
        e->stamp += cuts_line(e->x, i);
        if (!e->x->live[i])
            continue;
        const struct ptx_inst *in = &e->x->f->insts[i];
        for (struct ptx_regs r = ptx_regs_of(in, PTX_READ); ptx_next_reg(&r);)
            if (e->written[r.reg] != e->stamp)
                e->x->exposed[r.reg] = 1;
        for (struct ptx_regs r = ptx_regs_of(in, PTX_WRITE); ptx_next_reg(&r);)
            if (!in->guarded)
                e->written[r.reg] = e->stamp;
    }
}

static bool find_exposed(struct contracting *x)
{
    struct exposing e = { .x = x, .written = base_alloc((x->f->nregs + 1) * sizeof *e.written) };
    if (!e.written)
        return false;
    memset(e.written, 0, (x->f->nregs + 1) * sizeof *e.written);
    for (uint32_t b = 0; b < x->c->nblocks; b++) {
        e.stamp++;
        for (uint32_t at = begins_line(x->c, b) ? b : PTX_NO_INDEX; at != PTX_NO_INDEX;
             at = line_next(x->c, at))
            expose_block(&e, &x->c->blocks[at]);
    }
    base_free(e.written);
    return true;
}

/* ---- instructions that take part ---- */
static bool is_plain(const struct ptx_inst *i, unsigned nopnds)
{
    if (i->ntypes != 1 || i->nopnds != nopnds || i->opnds[0].kind != OPND_REG || i->opnds[0].comp >= 0)
        return false;
    enum ptx_type t = (enum ptx_type)i->type[0];
    return t == PTX_T_F32 || t == PTX_T_F64 || t == PTX_T_F16 || t == PTX_T_F16X2 || t == PTX_T_BF16 ||
           t == PTX_T_BF16X2;
}

static bool is_constant(const struct contracting *x, const struct ptx_operand *o)
{
    if (o->kind != OPND_REG)
        return true;
    const struct ptx_reg_refs *r = &x->c->regs[o->index];
    const struct ptx_inst *d = r->ndefs == 1 ? &x->f->insts[r->defs[0]] : NULL;
    return d && d->op == PTX_OP_MOV && !d->guarded && d->nopnds == 2 && d->opnds[1].kind == OPND_IMM;
}

static bool makes_product(const struct contracting *x, const struct ptx_inst *i)
{
    return i->op == PTX_OP_MUL && is_plain(i, 3) && !i->guarded && rounds_freely(i) &&
           !ptx_has_mod(i, PTX_MOD_SAT) &&
           !(is_constant(x, &i->opnds[1]) && is_constant(x, &i->opnds[2]));
}

static bool may_take(const struct ptx_inst *i)
{
    return (i->op == PTX_OP_ADD || i->op == PTX_OP_SUB) && is_plain(i, 3) && rounds_freely(i);
}

static bool alike(const struct ptx_inst *a, const struct ptx_inst *b)
{
    return a->type[0] == b->type[0] && ptx_has_mod(a, PTX_MOD_FTZ) == ptx_has_mod(b, PTX_MOD_FTZ);
}

/* A copy of a product, or the product with its sign changed. */
static bool passes_on(const struct contracting *x, const struct ptx_inst *i, struct held *h)
{
    if (i->guarded || i->nopnds != 2 || i->opnds[0].kind != OPND_REG || i->opnds[1].kind != OPND_REG ||
        i->opnds[0].comp >= 0 || i->opnds[1].comp >= 0)
        return false;
    *h = x->held[i->opnds[1].index];
    if (h->mul == PTX_NO_INDEX)
        return false;
    if (i->op == PTX_OP_NEG && alike(i, &x->f->insts[h->mul])) {
        h->neg = !h->neg;
        return true;
    }
    return i->op == PTX_OP_MOV;
}

/* ---- one line of code ---- */
static void spoil(struct contracting *x, uint32_t reg)
{
    if (x->held[reg].mul != PTX_NO_INDEX)
        x->product[x->held[reg].mul].spoilt = true;
}

/* What a register held goes on to other code where some code reads it. */
static void leave(struct contracting *x, uint32_t reg)
{
    if (x->exposed[reg])
        spoil(x, reg);
    x->held[reg].mul = PTX_NO_INDEX;
}

static void add_use(struct contracting *x, uint32_t add, uint32_t mul)
{
    struct product *p = &x->product[mul];
    x->uses[x->nuses] = (struct use){ add, p->first_use };
    p->first_use = x->nuses++;
    p->nuses++;
}

static void see_add(struct contracting *x, uint32_t n)
{
    const struct ptx_inst *i = &x->f->insts[n];
    struct held *h = x->operand[n];
    for (unsigned k = 0; k < 2; k++)
        if (i->opnds[k + 1].kind == OPND_REG && i->opnds[k + 1].comp < 0)
            h[k] = x->held[i->opnds[k + 1].index];
    bool same = h[0].mul == h[1].mul;
    for (unsigned k = 0; k < 2; k++) {
        if (h[k].mul == PTX_NO_INDEX)
            continue;
        if (!same && alike(i, &x->f->insts[h[k].mul])) {
            add_use(x, n, h[k].mul);
        } else {
            x->product[h[k].mul].spoilt = true;
            h[k].mul = PTX_NO_INDEX;
        }
    }
}

static void see(struct contracting *x, uint32_t n)
{
    const struct ptx_inst *i = &x->f->insts[n];
    struct held h = { PTX_NO_INDEX, false };
    bool passes = passes_on(x, i, &h);
    if (may_take(i))
        see_add(x, n);
    else if (!passes)
        for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
            spoil(x, r.reg);
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);) {
        if (i->guarded) /* some lanes keep what was there */
            spoil(x, r.reg);
        x->held[r.reg].mul = PTX_NO_INDEX;
    }
    if (makes_product(x, i))
        h = (struct held){ n, false };
    if (h.mul != PTX_NO_INDEX) {
        x->held[i->opnds[0].index] = h;
        x->touched[x->ntouched++] = i->opnds[0].index;
    }
}

static void leave_all(struct contracting *x)
{
    for (uint32_t k = 0; k < x->ntouched; k++)
        leave(x, x->touched[k]);
    x->ntouched = 0;
}

static void walk_block(struct contracting *x, const struct ptx_block *b)
{
    for (uint32_t i = b->first; i < b->first + b->n; i++) {
        if (cuts_line(x, i))
            leave_all(x);
        if (x->live[i])
            see(x, i);
    }
}

static void walk(struct contracting *x)
{
    for (uint32_t b = 0; b < x->c->nblocks; b++) {
        for (uint32_t at = begins_line(x->c, b) ? b : PTX_NO_INDEX; at != PTX_NO_INDEX;
             at = line_next(x->c, at))
            walk_block(x, &x->c->blocks[at]);
        leave_all(x);
    }
}

/* ---- fusing ---- */
static bool all_may(const struct contracting *x, uint32_t mul)
{
    const struct product *p = &x->product[mul];
    if (p->spoilt)
        return false;
    for (uint32_t u = p->first_use; u != PTX_NO_INDEX; u = x->uses[u].next) {
        uint32_t took = x->out[x->uses[u].add].mul;
        if (took != PTX_NO_INDEX && took != mul)
            return false;
    }
    return true;
}

static void fuse(struct contracting *x, uint32_t add, unsigned k)
{
    const struct held *h = &x->operand[add][k];
    bool sub = x->f->insts[add].op == PTX_OP_SUB;
    x->out[add] = (struct ptx_contracted){ .mul = h->mul,
                                           .operand = (uint8_t)(k + 1),
                                           .neg_product = h->neg != (sub && k == 1),
                                           .neg_addend = sub && k == 0 };
}

static void fuse_one(struct contracting *x, uint32_t add, bool single)
{
    const struct held *h = x->operand[add];
    uint32_t n[2] = { h[0].mul != PTX_NO_INDEX ? x->product[h[0].mul].nuses : UINT32_MAX,
                      h[1].mul != PTX_NO_INDEX ? x->product[h[1].mul].nuses : UINT32_MAX };
    unsigned first = n[1] < n[0];
    for (unsigned k = 0; k < 2; k++) {
        unsigned at = k ? !first : first;
        if (h[at].mul != PTX_NO_INDEX && (n[at] == 1 || !single) && all_may(x, h[at].mul)) {
            fuse(x, add, at);
            return;
        }
    }
}

static void fuse_all(struct contracting *x)
{
    for (int single = 1; single >= 0; single--)
        for (uint32_t i = 0; i < x->f->ninsts; i++)
            if (x->out[i].mul == PTX_NO_INDEX && x->live[i] && may_take(&x->f->insts[i]))
                fuse_one(x, i, single);
    for (uint32_t i = 0; i < x->f->ninsts; i++) {
        bool all = x->product[i].nuses && !x->product[i].spoilt;
        for (uint32_t u = x->product[i].first_use; all && u != PTX_NO_INDEX; u = x->uses[u].next)
            all = x->out[x->uses[u].add].mul == i;
        x->out[i].dropped = all;
    }
}

static bool make_room(struct contracting *x)
{
    size_t n = x->f->ninsts + 1, r = x->f->nregs + 1, most = n > r ? n : r;
    x->out = base_alloc(n * sizeof *x->out);
    x->held = base_alloc(r * sizeof *x->held);
    x->touched = base_alloc((most + 256) * sizeof *x->touched);
    x->product = base_alloc(n * sizeof *x->product);
    x->uses = base_alloc(2 * n * sizeof *x->uses);
    x->operand = base_alloc(n * sizeof *x->operand);
    x->live = base_alloc(n);
    x->exposed = base_alloc(r);
    if (!x->out || !x->held || !x->touched || !x->product || !x->uses || !x->operand || !x->live ||
        !x->exposed)
        return false;
    memset(x->live, 0, n);
    memset(x->exposed, 0, r);
    const struct held none = { PTX_NO_INDEX, false };
    for (size_t i = 0; i < n; i++) {
        x->out[i] = (struct ptx_contracted){ .mul = PTX_NO_INDEX };
        x->product[i] = (struct product){ .first_use = PTX_NO_INDEX };
        x->operand[i][0] = x->operand[i][1] = none;
    }
    for (size_t i = 0; i < r; i++)
        x->held[i] = none;
    return true;
}

struct ptx_contracted *ptx_contract(const struct ptx_cfg *c)
{
    struct contracting x = { .c = c, .f = c->func };
    bool ok = make_room(&x) && find_live(&x) && find_exposed(&x);
    if (ok) {
        walk(&x);
        fuse_all(&x);
    }
    BASE_FREE(x.held, x.touched, x.product, x.uses, x.operand, x.live, x.exposed);
    if (!ok)
        base_free(x.out);
    return ok ? x.out : NULL;
}
