/* Which registers go on from one turn of a tile loop to the next: those that are read before they are
 * written again, and that the loop writes.
 *
 * The registers of a wgmma are read where its scale-d is true. That of the first product of a tile is
 * false in most kernels, by a number that is known there: constants are followed from the start of the
 * turn to the first product, along the ways on which its registers have not been written. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/tiles/tiles_int.h"

#include <string.h>

bool tile_is_wgmma(const struct ptx_inst *i)
{
    return ptx_is(i, IS_WGMMA);
}

/* The operand that says whether a wgmma adds to what its registers hold; NULL: it always does. */
static const struct ptx_operand *adds_if(const struct ptx_inst *i)
{
    uint32_t k = ptx_wgmma_adds(i);
    return k != PTX_NO_INDEX ? &i->opnds[k] : NULL;
}

/* A product reads what it adds to where it adds: asked below. */
static bool is_sum(const struct ptx_inst *i, unsigned access)
{
    return adds_if(i) && access & PTX_WRITE;
}

/* ---- the first product ---- */
enum { NOT_SEEN, NUMBER, ANY };
struct first {
    const struct pass_flow *fl;
    size_t n;
    uint8_t *kind;  /* [block][register] where a block begins, and a row for the one at work */
    int64_t *value; /* the same */
    uint32_t reg;   /* of the product */
    bool read;      /* it is read */
    struct ptx_solver solver;
};

static bool number_of(const struct first *s, const struct ptx_operand *o, int64_t *v)
{
    const uint8_t *kind = s->kind + s->fl->cfg->nblocks * s->n;
    *v = o->kind == OPND_IMM ? o->imm : 0;
    if (o->kind == OPND_IMM)
        return !o->is_float;
    if (o->kind != OPND_REG || kind[o->index] != NUMBER)
        return false;
    *v = s->value[s->fl->cfg->nblocks * s->n + o->index];
    *v = o->neg ? !*v : *v;
    return true;
}

static bool compare(enum ptx_mod cmp, int64_t a, int64_t b, int64_t *v)
{
    switch (cmp) {
    case PTX_MOD_EQ: *v = a == b; return true;
    case PTX_MOD_NE: *v = a != b; return true;
    case PTX_MOD_LT: *v = a < b; return a >= 0 && b >= 0;
    case PTX_MOD_LE: *v = a <= b; return a >= 0 && b >= 0;
    case PTX_MOD_GT: *v = a > b; return a >= 0 && b >= 0;
    case PTX_MOD_GE: *v = a >= b; return a >= 0 && b >= 0;
    default: return false;
    }
}

static void step(struct first *s, const struct ptx_inst *i)
{
    size_t now = s->fl->cfg->nblocks * s->n;
    int64_t a, b, v = 0;
    bool known = false;
    struct ptx_comparison is;
    const struct ptx_operand *from = ptx_copied(i);
    if (from)
        known = number_of(s, from, &v);
    else if (ptx_comparison_of(i, &is) && number_of(s, is.a, &a) && number_of(s, is.b, &b))
        known = compare(is.how, a, b, &v);
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        s->kind[now + r.reg] = ANY;
    if (known && !i->guarded && i->opnds[0].kind == OPND_REG) {
        s->kind[now + i->opnds[0].index] = NUMBER;
        s->value[now + i->opnds[0].index] = v;
    }
}

/* True: beyond it the register holds what this turn made. */
static bool written(struct first *s, const struct ptx_inst *i)
{
    const struct ptx_operand *when = adds_if(i);
    int64_t adds;
    if (!ptx_writes_reg(i, s->reg))
        return false;
    if (when && (!number_of(s, when, &adds) || adds || i->guarded))
        s->read = true;
    return !i->guarded;
}

/* True: what is known where block b begins has changed. */
static bool enter(struct first *s, uint32_t b)
{
    size_t to = b * s->n, now = s->fl->cfg->nblocks * s->n;
    bool changed = false;
    for (size_t r = 0; r < s->n; r++) {
        uint8_t was = s->kind[to + r], is = s->kind[now + r];
        bool same = was == NUMBER && is == NUMBER && s->value[to + r] == s->value[now + r];
        uint8_t both = was == NOT_SEEN ? is : same ? NUMBER : ANY;
        if (was == NOT_SEEN)
            s->value[to + r] = s->value[now + r];
        changed |= both != was;
        s->kind[to + r] = both;
    }
    return changed;
}

/* From the start of a block as far as the register is not written. */
static void walk(void *ctx, struct ptx_solver *solver, uint32_t b)
{
    struct first *s = ctx;
    const struct ptx_block *x = &s->fl->cfg->blocks[b];
    size_t now = s->fl->cfg->nblocks * s->n;
    memcpy(s->kind + now, s->kind + b * s->n, s->n);
    memcpy(s->value + now, s->value + b * s->n, s->n * sizeof *s->value);
    for (uint32_t k = x->first; k < x->first + x->n; k++) {
        if (s->read || written(s, &s->fl->f->insts[k]) || s->read)
            return;
        step(s, &s->fl->f->insts[k]);
    }
    for (uint32_t m = 0; m < x->nsucc; m++)
        if (enter(s, x->succ[m]) && !s->read)
            ptx_ask(solver, x->succ[m]);
}

/* May a product of a turn that starts at `header` add to what the turn before left in this register? */
static bool goes_on(struct first *s, uint32_t header, uint32_t reg)
{
    size_t now = s->fl->cfg->nblocks * s->n;
    memset(s->kind, NOT_SEEN, now);
    memset(s->kind + now, ANY, s->n);
    s->reg = reg;
    s->read = false;
    enter(s, header);
    ptx_ask(&s->solver, header);
    ptx_solver_run(&s->solver, walk, s);
    return s->read;
}

/* ---- both ---- */
static bool in_loop(const struct ptx_cfg *g, uint32_t block, uint32_t loop)
{
    for (uint32_t k = 0; k < g->loops[loop].nblocks; k++)
        if (g->loops[loop].blocks[k] == block)
            return true;
    return false;
}

static bool loop_writes(const struct pass_flow *fl, uint32_t loop, uint32_t reg)
{
    const struct ptx_reg_refs *r = &fl->cfg->regs[reg];
    for (uint32_t k = 0; k < r->ndefs; k++)
        if (in_loop(fl->cfg, fl->cfg->block_of[r->defs[k]], loop))
            return true;
    return false;
}

static void collect(const struct pass_flow *fl, const struct ptx_live *live, const bool *sum,
                    struct first *s, uint32_t loop, bool *out)
{
    uint32_t header = fl->cfg->loops[loop].header;
    for (uint32_t r = 0; r < fl->f->nregs; r++) {
        if (loop_writes(fl, loop, r))
            out[r] =
                ptx_bit(live->in + (size_t)header * live->words, r) || (sum[r] && goes_on(s, header, r));
    }
}

uint32_t tile_loop_of(const struct tile_counter *t, uint32_t block)
{
    uint32_t l = block == PTX_NO_INDEX ? PTX_NO_INDEX : t->fl->cfg->blocks[block].loop;
    while (l != PTX_NO_INDEX && !t->loop[l])
        l = t->fl->cfg->loops[l].parent;
    return l;
}

bool tile_carried(const struct tile_counter *t, uint32_t loop, bool *out)
{
    const struct pass_flow *fl = t->fl;
    size_t n = fl->f->nregs + 1, rows = fl->cfg->nblocks + 1;
    struct first s = {
        .fl = fl, .n = n, .kind = base_alloc(rows * n), .value = base_alloc(rows * n * sizeof *s.value)
    };
    struct ptx_live *live = ptx_live_make(fl->cfg, is_sum);
    bool *sum = base_alloc(n), ok = ptx_solver_make(&s.solver, fl->cfg->nblocks, PTX_FORWARD) &&
                                    s.kind && s.value && live && sum;
    for (uint32_t k = 0; ok && k < fl->f->ninsts; k++)
        if (tile_is_wgmma(&fl->f->insts[k]))
            for (struct ptx_regs r = ptx_regs_of(&fl->f->insts[k], PTX_WRITE); ptx_next_reg(&r);)
                sum[r.reg] = true;
    if (ok)
        collect(fl, live, sum, &s, loop, out);
    BASE_FREE(s.kind, s.value);
    ptx_solver_free(&s.solver);
    BASE_FREE(live, sum);
    return ok;
}
