/* How many of a function's registers are live at once: what ptxas would need. */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"

#include <string.h>

struct live {
    const struct ptx_func *f;
    const struct ptx_inst *i;
    uint64_t *cur, *common, *many;
    uint32_t words;
    /* by register: how many of the machine's it takes; which one it is made of at each use */
    uint8_t *each;
    uint32_t *root;
    uint8_t *order; /* by instruction: enum decode_order */
    uint32_t cost, most;
};

/* Values that no thread needs a register for: parameters, literals and constants of a known address stay
 * in the constant bank or the instruction, and integers made of them and of the CTA's place alone are
 * the warp's (ptxas keeps those in uniform registers). `common` has their registers. */
static bool is_common(const struct live *l, const struct ptx_operand *o)
{
    if (o->kind == OPND_SREG)
        return o->index == PTX_SREG_CTAID || o->index == PTX_SREG_NTID || o->index == PTX_SREG_NCTAID;
    return o->kind == OPND_IMM || o->kind == OPND_SYM ||
           (o->kind == OPND_REG && ptx_bit(l->common, o->index));
}

static bool makes_common(const struct live *l, const struct ptx_inst *in)
{
    if (in->guarded || in->nopnds < 2 || in->opnds[0].kind != OPND_REG ||
        ptx_bit(l->many, in->opnds[0].index))
        return false;
    if (in->op == PTX_OP_LD && in->space == PTX_SPACE_PARAM)
        return l->f->entry;
    if (in->op == PTX_OP_LD && in->space == PTX_SPACE_CONST)
        return in->opnds[1].kind == OPND_ADDR && in->opnds[1].base == BASE_SYM;
    bool fp = in->ntypes && ptx_type_kind((enum ptx_type)in->type[0]) == 'f';
    if (ptx_op_info(in->op)->effect != EFFECT_NONE || (fp && in->op != PTX_OP_MOV))
        return false;
    bool all = true;
    for (unsigned k = 1; k < in->nopnds; k++)
        all &= is_common(l, &in->opnds[k]);
    return all;
}

/* A value that one cheap instruction makes of one register and of what is common: ptxas makes it again
 * at each use rather than keep it. *of: that register, which is written once. */
static bool made_again(const struct live *l, const struct ptx_inst *in, uint32_t *of)
{
    bool fp = in->ntypes && ptx_type_kind((enum ptx_type)in->type[0]) == 'f';
    bool narrow = in->op == PTX_OP_CVT &&
                  ptx_type_bits((enum ptx_type)in->type[0]) < ptx_type_bits((enum ptx_type)in->type[1]);
    unsigned n = 0;
    if (in->guarded || fp || narrow || in->nopnds < 2 || in->opnds[0].kind != OPND_REG)
        return false;
    if (in->op != PTX_OP_ADD && in->op != PTX_OP_SUB && in->op != PTX_OP_MOV && in->op != PTX_OP_CVT &&
        in->op != PTX_OP_CVTA && in->op != PTX_OP_MUL && in->op != PTX_OP_MAD)
        return false;
    for (unsigned k = 1; k < in->nopnds; k++)
        if (!is_common(l, &in->opnds[k])) {
            if (in->opnds[k].kind != OPND_REG || n++)
                return false;
            *of = in->opnds[k].index;
        }
    return n == 1 && !ptx_bit(l->many, *of) && !ptx_bit(l->many, in->opnds[0].index);
}

/* root: by register, the one that it is made of in at most DEEP steps; itself where it is not. */
static void live_roots(const struct live *l, uint32_t *root, uint8_t *depth)
{
    enum { DEEP = 3 };
    for (uint32_t r = 0; r < l->f->nregs; r++)
        root[r] = r;
    for (uint32_t i = 0; i < l->f->ninsts; i++) {
        const struct ptx_inst *in = &l->f->insts[i];
        uint32_t of = 0, to = in->nopnds ? in->opnds[0].index : 0;
        if (made_again(l, in, &of) && to != of && depth[of] < DEEP) {
            root[to] = root[of];
            depth[to] = (uint8_t)(depth[of] + 1);
        }
    }
}

/* `common` from zeroed sets; `seen` is scratch, zero at first. */
static void live_common(struct live *l, uint64_t *seen)
{
    for (uint32_t i = 0; i < l->f->ninsts; i++)
        for (struct ptx_regs r = ptx_regs_of(&l->f->insts[i], PTX_WRITE); ptx_next_reg(&r);)
            ptx_set_bit(ptx_bit(seen, r.reg) ? l->many : seen, r.reg);
    for (uint32_t i = 0; i < l->f->ninsts; i++)
        if (makes_common(l, &l->f->insts[i]))
            ptx_set_bit(l->common, l->f->insts[i].opnds[0].index);
}

static uint8_t order_of(const struct ptx_inst *in)
{
    bool shared = in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_SHARED_CLUSTER,
         global = in->space == PTX_SPACE_GLOBAL;
    uint8_t by_space = (uint8_t)((shared ? 0 : DECODE_GLOBAL) | (global ? 0 : DECODE_SHARED));
    switch (ptx_op_info(in->op)->effect) {
    case EFFECT_NONE:
    case EFFECT_PREFETCH:
    case EFFECT_WARP:
    case EFFECT_TEXTURE: return 0;
    case EFFECT_LOAD:
        if (in->space == PTX_SPACE_PARAM || in->space == PTX_SPACE_CONST)
            return 0;
        return by_space | DECODE_LOADS;
    case EFFECT_STORE: return by_space;
    default: return DECODE_GLOBAL | DECODE_SHARED;
    }
}

static uint32_t reg_cost(const struct live *l, uint32_t reg)
{
    const struct ptx_reg *r = &l->f->regs[reg];
    unsigned bits = ptx_type_bits(r->type);
    return r->type == PTX_T_PRED || ptx_bit(l->common, reg)
               ? 0
               : (bits <= 32 ? 1 : bits / 32) * (r->vec > 1 ? r->vec : 1);
}
static void live_kill(struct live *l, uint32_t reg)
{
    if (ptx_ends_old(l->f, l->i, reg) && ptx_bit(l->cur, reg)) {
        l->cur[reg >> 6] &= ~(1ull << (reg & 63));
        l->cost -= reg_cost(l, reg);
    }
}
static void live_gen(struct live *l, uint32_t reg)
{
    if (!ptx_bit(l->cur, reg)) {
        ptx_set_bit(l->cur, reg);
        l->cost += reg_cost(l, reg);
    }
}

/* Registers live at once that ask for no other order: a full SM leaves a thread 32, of which ptxas wants
 * about ten for itself (estimate_regs). */
enum { ENOUGH = 22 };

/* Live at once in the text's order. `cur` is what is live at the block's end, and at its start
 * afterwards. */
static uint32_t text_pressure(struct live *l, const struct ptx_block *b, uint64_t *cur)
{
    uint32_t most = 0;
    l->cur = cur;
    l->cost = 0;
    for (uint32_t r = 0; r < l->f->nregs; r++)
        l->cost += ptx_bit(cur, r) ? reg_cost(l, r) : 0;
    for (uint32_t i = b->n; i--;) {
        l->i = &l->f->insts[b->first + i];
        most = l->cost > most ? l->cost : most;
        for (struct ptx_regs r = ptx_regs_of(l->i, PTX_WRITE); ptx_next_reg(&r);)
            if (r.access == PTX_WRITE)
                live_kill(l, r.reg);
        for (struct ptx_regs r = ptx_regs_of(l->i, PTX_READ); ptx_next_reg(&r);)
            live_gen(l, r.reg);
    }
    return l->cost > most ? l->cost : most;
}

/* The same, and where that is more than ENOUGH, in an order that needs few. cur: scratch. False: out of
 * memory. */
static bool live_pressure(struct live *l, const struct ptx_block *b, const uint64_t *end, uint64_t *cur)
{
    uint32_t listed = UINT32_MAX;
    memcpy(cur, end, l->words * sizeof *cur);
    uint32_t most = text_pressure(l, b, cur);
    for (int way = 0; way < 4 && most > ENOUGH && most > l->most; way++) {
        struct decode_pressure p = {
            l->f, b, end, l->each, l->order, way & 1 ? l->root : NULL, way < 2
        };
        if (!decode_pressure(&p, &listed))
            return false;
        most = listed < most ? listed : most;
    }
    l->most = most > l->most ? most : l->most;
    return true;
}

/* Machine registers of a set. */
static uint8_t live_before(const struct live *l, const uint64_t *set)
{
    uint32_t n = 0;
    for (uint32_t w = 0; w < l->words; w++)
        for (uint64_t m = set[w]; m; m &= m - 1)
            n += reg_cost(l, w * 64 + (uint32_t)__builtin_ctzll(m));
    return (uint8_t)(n < 255 ? n : 255);
}

/* What decode_pressure is told of the function's registers and instructions. */
static bool live_tables(struct live *l, uint64_t *scratch)
{
    size_t nregs = l->f->nregs + 1;
    l->each = base_alloc(2 * nregs + l->f->ninsts);
    l->root = base_alloc(nregs * sizeof *l->root);
    if (!l->each || !l->root)
        return false;
    live_common(l, scratch);
    for (uint32_t r = 0; r < l->f->nregs; r++)
        l->each[r] = (uint8_t)reg_cost(l, r);
    live_roots(l, l->root, l->each + nregs);
    l->order = l->each + 2 * nregs;
    for (uint32_t i = 0; i < l->f->ninsts; i++)
        l->order[i] = order_of(&l->f->insts[i]);
    return true;
}

bool decode_live(struct decode *d)
{
    const struct ptx_cfg *c = ptx_cfg_of(d->pf);
    const struct ptx_live *at = ptx_live_of(d->pf);
    if (d->p->part) /* nobody asks how many registers it has */
        return at && decode_slots(d, c, at);
    uint32_t words = d->pf->nregs / 64 + 1;
    uint64_t *mem = base_alloc((size_t)words * 3 * sizeof *mem), *scratch = mem ? mem + words * 2 : NULL;
    struct live l = { .f = d->pf, .words = words, .common = mem, .many = mem ? mem + words : NULL };
    bool ok = at && mem && decode_slots(d, c, at) && live_tables(&l, scratch);
    for (uint32_t k = 0; k < c->nrpo && ok; k++) {
        const struct ptx_block *b = &c->blocks[c->rpo[k]];
        size_t set = (size_t)c->rpo[k] * words;
        ok = live_pressure(&l, b, at->out + set, scratch);
        if (b->n)
            d->p->code[d->f->first + b->first].live = live_before(&l, at->reads + set);
    }
    d->p->regs = l.most > d->p->regs ? l.most : d->p->regs;
    BASE_FREE(mem, l.each, l.root);
    return ok;
}
