/* Definitions that reach the reads of a function.
 *
 * A bit for each definition, those of a register side by side, "undefined" first:
 *
 *   bits   | %r1: none, inst 4, inst 9 | %r2: none, inst 5 | ...
 *
 * so that a write which leaves nothing of what was there clears a range. */
#include "engine/invariants/invariants_int.h"
#include "engine/base/list.h"
#include "engine/ptx/facts/bits.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { MOST_WORDS = 4 << 20, /* of all blocks together */ NEAR = 256 /* instructions */ };
struct defs {
    struct inv_side *s;
    uint32_t *from;   /* by register: its first bit; one more at the end */
    int32_t *inst;    /* by bit */
    uint32_t words;   /* of a set */
    uint64_t *begins; /* [block][words], as the next three */
    uint64_t *ends;
    uint64_t *in;
    uint64_t *now;  /* one set, while a block is walked */
    uint64_t *gone; /* the same: what has ended in it; NULL: nobody asks */
    const struct ptx_inst *i;
    bool count; /* reads are counted alone */
    bool wide;  /* guards are not looked at */
    bool oom;
};

bool inv_has_effect(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is_opaque(i))
        return true;
    if (e == EFFECT_LOAD)
        return i->space != PTX_SPACE_PARAM && i->space != PTX_SPACE_CONST;
    if (e == EFFECT_STORE)
        return i->space != PTX_SPACE_PARAM;
    return e != EFFECT_NONE && e != EFFECT_BRANCH && e != EFFECT_PREFETCH && e != EFFECT_EXIT &&
           !ptx_is(i, IS_SLEEP);
}

bool inv_reached(const struct inv_side *s, uint32_t k)
{
    return s->g->blocks[s->g->block_of[k]].reachable;
}

static void set_range(uint64_t *set, uint32_t from, uint32_t to, bool on)
{
    for (uint32_t k = from; k < to; k++)
        if (on)
            ptx_set_bit(set, k);
        else
            set[k >> 6] &= ~(UINT64_C(1) << (k & 63));
}

static uint32_t bit_of(const struct defs *d, uint32_t reg, int32_t inst)
{
    for (uint32_t k = d->from[reg]; k < d->from[reg + 1]; k++)
        if (d->inst[k] == inst)
            return k;
    return d->from[reg];
}

/* The instruction before this one in its block that writes the register under the opposite guard, with no
 * write between them that another guard or none decides: the two together leave nothing of what was there.
 * Not opposite: for just those threads that write it here. PTX_NO_INDEX: none. */
static uint32_t guarded_before(const struct defs *d, uint32_t reg, bool opposite)
{
    const struct ptx_inst *all = d->s->f->insts, *i = d->i;
    uint32_t first = d->s->g->blocks[d->s->g->block_of[i->index]].first;
    uint32_t last = i->index > first + NEAR ? i->index - NEAR : first;
    for (uint32_t k = i->index; i->guarded && d->s->f->regs[reg].vec <= 1 && k-- > last;) {
        bool writes = ptx_writes_reg(&all[k], reg), same = all[k].guarded && all[k].guard == i->guard;
        if (ptx_writes_reg(&all[k], i->guard) || (writes && !same))
            return PTX_NO_INDEX;
        if (writes && (all[k].guard_neg != i->guard_neg) == opposite)
            return k;
        if (writes && !opposite)
            return PTX_NO_INDEX;
    }
    return PTX_NO_INDEX;
}

static void write_reg(struct defs *d, uint32_t reg)
{
    uint32_t own = bit_of(d, reg, (int32_t)d->i->index);
    uint32_t with = d->wide ? PTX_NO_INDEX : guarded_before(d, reg, true);
    uint32_t before = d->wide ? PTX_NO_INDEX : guarded_before(d, reg, false);
    if (before != PTX_NO_INDEX) /* the same threads write once more */
        d->now[bit_of(d, reg, (int32_t)before) >> 6] &=
            ~(UINT64_C(1) << (bit_of(d, reg, (int32_t)before) & 63));
    if (with != PTX_NO_INDEX || ptx_writes_all(d->s->f, d->i, reg)) {
        set_range(d->now, d->from[reg], d->from[reg + 1], false);
        if (d->gone)
            set_range(d->gone, d->from[reg], d->from[reg + 1], true);
    }
    if (with != PTX_NO_INDEX)
        ptx_set_bit(d->now, bit_of(d, reg, (int32_t)with));
    ptx_set_bit(d->now, own);
}

static void add_reaching(struct defs *d, int32_t inst)
{
    struct inv_side *s = d->s;
    if (!LIST_PUSH(s->reaching, s->nreaching, s->cap, inst))
        d->oom = true;
}

static void read_reg(struct defs *d, uint32_t reg)
{
    struct inv_side *s = d->s;
    if (d->count) {
        s->nuses++;
        return;
    }
    struct inv_use *u = &(d->wide ? s->wide : s->use)[s->nuses++];
    *u = (struct inv_use){ .reg = reg, .first = (uint32_t)s->nreaching };
    bool guard = d->i->guarded && reg == d->i->guard;
    uint32_t only = d->wide || guard ? PTX_NO_INDEX : guarded_before(d, reg, false);
    for (uint32_t k = d->from[reg]; k < d->from[reg + 1]; k++)
        if (only != PTX_NO_INDEX ? d->inst[k] == (int32_t)only : ptx_bit(d->now, k))
            add_reaching(d, d->inst[k]);
    u->n = (uint32_t)s->nreaching - u->first;
}

static bool number_bits(struct defs *d)
{
    const struct ptx_cfg *g = d->s->g;
    uint32_t n = 0, regs = g->func->nregs;
    d->from = base_alloc((regs + 1) * sizeof *d->from);
    for (uint32_t r = 0; d->from && r < regs; r++) {
        d->from[r] = n;
        n += 1 + g->regs[r].ndefs;
    }
    d->inst = base_alloc((n + 1) * sizeof *d->inst);
    if (!d->from || !d->inst)
        return false;
    d->from[regs] = n;
    for (uint32_t r = 0; r < regs; r++) {
        d->inst[d->from[r]] = INV_UNDEFINED;
        for (uint32_t k = 0; k < g->regs[r].ndefs; k++)
            d->inst[d->from[r] + 1 + k] = (int32_t)g->regs[r].defs[k];
    }
    d->words = n / 64 + 1;
    return true;
}

static void walk(struct defs *d, uint32_t block, bool reads)
{
    const struct ptx_block *b = &d->s->g->blocks[block];
    for (uint32_t k = b->first; k < b->first + b->n; k++) {
        d->i = &d->s->f->insts[k];
        if (reads) {
            d->s->use_of[k] = d->s->nuses;
            for (struct ptx_regs r = ptx_regs_of(d->i, PTX_READ); ptx_next_reg(&r);)
                read_reg(d, r.reg);
        }
        for (struct ptx_regs r = ptx_regs_of(d->i, PTX_WRITE); ptx_next_reg(&r);)
            write_reg(d, r.reg);
    }
}

/* Nothing is defined where the function begins. */
static void begin_undefined(struct defs *d)
{
    for (uint32_t r = 0; r < d->s->f->nregs; r++)
        ptx_set_bit(d->now, d->from[r]);
}

static bool solve(struct defs *d)
{
    const struct ptx_cfg *g = d->s->g;
    size_t set = (size_t)d->words * (g->nblocks + 1);
    d->s->nuses = 0;
    uint64_t *mem = base_alloc((4 * set + d->words) * sizeof *mem);
    if (!mem)
        return false;
    d->begins = mem;
    d->ends = mem + set;
    d->in = mem + 2 * set;
    struct ptx_bits bits = { g, d->words, d->begins, d->ends, d->in, mem + 3 * set };
    for (uint32_t b = 0; b < g->nblocks; b++) {
        d->now = d->begins + (size_t)b * d->words;
        d->gone = d->ends + (size_t)b * d->words;
        if (b == 0)
            begin_undefined(d);
        walk(d, b, false);
    }
    d->gone = NULL;
    bool ok = ptx_bits_solve(&bits, PTX_FORWARD);
    for (uint32_t b = 0; ok && b < g->nblocks; b++) {
        d->now = d->in + (size_t)b * d->words;
        if (b == 0)
            begin_undefined(d);
        walk(d, b, true);
    }
    base_free(mem);
    return ok && !d->oom;
}

static bool count_uses(struct defs *d)
{
    struct inv_side *s = d->s;
    d->count = true;
    for (uint32_t k = 0; k < s->f->ninsts; k++)
        for (struct ptx_regs r = ptx_regs_of(&s->f->insts[k], PTX_READ); ptx_next_reg(&r);)
            read_reg(d, r.reg);
    d->count = false;
    s->use_of = base_alloc((s->f->ninsts + 1) * sizeof *s->use_of);
    s->use = base_alloc((s->nuses + 1) * sizeof *s->use);
    s->wide = base_alloc((s->nuses + 1) * sizeof *s->wide);
    return s->use_of && s->use && s->wide;
}

bool inv_side_make(struct inv_side *s, const struct ptx_func *f)
{
    struct defs d = { .s = s };
    *s = (struct inv_side){ .f = f, .g = ptx_cfg_of(f) };
    if (!s->g)
        return false;
    bool ok = number_bits(&d);
    s->large = ok && (uint64_t)d.words * s->g->nblocks > MOST_WORDS;
    for (unsigned wide = 0; ok && !s->large && wide < 2; wide++) {
        d.wide = wide;
        ok = (wide || count_uses(&d)) && solve(&d);
    }
    if (ok && !s->large)
        s->use_of[f->ninsts] = s->nuses;
    BASE_FREE(d.from, d.inst);
    return ok;
}

void inv_side_free(struct inv_side *s)
{
    BASE_FREE(s->use_of, s->use, s->wide, s->reaching);
    *s = (struct inv_side){ 0 };
}
