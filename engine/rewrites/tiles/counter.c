/* The number of a tile: which registers hold it, where it is made, compared and used. See tiles_int.h.
 */
#include "engine/pass/pass_int.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/tiles/tiles_int.h"

static bool is_word(const struct ptx_inst *i)
{
    return i->ntypes == 1 && ptx_type_bits((enum ptx_type)i->type[0]) == 32 && i->vec <= 1 &&
           i->type[0] != PTX_T_F32;
}

static bool is_ctaid(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG && o->index == PTX_SREG_CTAID && o->comp == 0;
}

static bool is_counter(const struct tile_counter *t, const struct ptx_operand *o)
{
    return o->kind == OPND_REG && !o->neg && t->counter[o->index];
}

/* Does it leave a tile's number in its register, if its sources hold some? Where its guard is false the
 * register keeps the number that it has. */
static bool counts(const struct pass_ctx *c, const struct tile_counter *t, const struct ptx_inst *i)
{
    struct ptx_inst whole = *i;
    struct ptx_sum s;
    whole.guarded = false;
    if (!is_word(i))
        return false;
    const struct ptx_operand *from = ptx_copied(&whole);
    if (from)
        return is_ctaid(from) || is_counter(t, from);
    if (!ptx_sum_of(&whole, &s) || s.n != 2 || s.term[0].b || s.term[1].b || s.term[1].minus)
        return false;
    const struct ptx_operand *a = s.term[0].a, *b = s.term[1].a;
    return (is_counter(t, a) && tile_is_step(c, t->fl, b)) ||
           (is_counter(t, b) && tile_is_step(c, t->fl, a));
}

struct counting {
    const struct pass_ctx *c;
    struct tile_counter *t;
};

static void counter_step(void *ctx, struct ptx_solver *s, uint32_t reg)
{
    struct counting *k = ctx;
    const struct ptx_reg_refs *x = &k->t->fl->cfg->regs[reg];
    for (uint32_t n = 0; n < x->ndefs && k->t->counter[reg]; n++)
        if (!counts(k->c, k->t, &k->t->fl->f->insts[x->defs[n]])) {
            k->t->counter[reg] = false;
            ptx_ask_all(s);
        }
}

/* All are taken for counters, then those dropped that something else defines. false: out of memory */
static bool find_counters(const struct pass_ctx *c, struct tile_counter *t)
{
    struct counting k = { c, t };
    for (uint32_t r = 0; r < t->fl->f->nregs; r++)
        t->counter[r] = t->fl->cfg->regs[r].ndefs > 0;
    return ptx_solve(t->fl->f->nregs, PTX_FORWARD, counter_step, &k);
}

/* The number of tiles in a comparison that says whether there is such a tile; NULL: it is another. */
static const struct ptx_operand *bound_of(const struct tile_counter *t, const struct ptx_inst *i)
{
    struct ptx_comparison is;
    if (!ptx_comparison_of(i, &is) || is.bits != 32)
        return NULL;
    enum ptx_mod cmp = is.how;
    const struct ptx_operand *a = is.a, *b = is.b;
    bool first = is_counter(t, a), second = is_counter(t, b);
    if (first == second)
        return NULL;
    if (first ? cmp != PTX_MOD_LT && cmp != PTX_MOD_GE : cmp != PTX_MOD_GT && cmp != PTX_MOD_LE)
        return NULL;
    const struct ptx_operand *n = first ? b : a;
    bool number = n->kind == OPND_IMM && !n->is_float && n->imm >= 0 && n->imm <= INT32_MAX;
    return number || (n->kind == OPND_REG && !n->neg && !t->fl->divergent[n->index]) ? n : NULL;
}

static bool same_operand(const struct ptx_operand *a, const struct ptx_operand *b)
{
    return a->kind == b->kind && (a->kind == OPND_IMM ? a->imm == b->imm : a->index == b->index);
}

uint32_t tile_counter_read(const struct tile_counter *t, const struct ptx_inst *i, bool *several)
{
    uint32_t one = PTX_NO_INDEX;
    *several = false;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);) {
        *several |= t->counter[r.reg] && one != PTX_NO_INDEX && one != r.reg;
        one = t->counter[r.reg] ? r.reg : one;
    }
    return one;
}

static bool reads_any(const struct tile_counter *t, const struct ptx_inst *i)
{
    bool any = false;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        any |= t->counter[r.reg] || t->scale[r.reg];
    return any;
}

static bool makes(const struct tile_counter *t, const struct ptx_inst *i)
{
    const struct ptx_operand *o = i->opnds;
    return i->nopnds && o->kind == OPND_REG && (t->counter[o->index] || t->scale[o->index]) &&
           (ptx_operand_access(i, 0) & PTX_WRITE);
}

/* Other ways to see which CTA it is. */
static enum status check_numbers(struct pass_ctx *c, const struct tile_counter *t,
                                 const struct ptx_inst *i)
{
    for (uint8_t k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        unsigned sees = o->kind == OPND_SREG ? ptx_sreg_sees((enum ptx_sreg)o->index) : 0;
        bool plain = o->kind == OPND_SREG && o->index == PTX_SREG_CTAID && o->comp > 0;
        if ((sees &
             (PTX_SEES_CTA | PTX_SEES_CLUSTERID | PTX_SEES_CLUSTER | PTX_SEES_PLACE | PTX_SEES_SLOT)) &&
            !plain && !(is_ctaid(o) && t->role[i->index] == TILE_COUNTS))
            return pass_refuse(c, i->at, NULL,
                               "%s is read here beside the number of a tile: what depends on it would "
                               "go to another tile",
                               ptx_sreg_name((enum ptx_sreg)o->index));
    }
    return ST_OK;
}

static void find_division(struct tile_counter *t, const struct ptx_inst *i)
{
    bool divides = ptx_rule_of(i) == ADDR_DIV || ptx_rule_of(i) == ADDR_REM;
    const struct ptx_operand *n = divides && is_counter(t, &i->opnds[1]) ? &i->opnds[2] : NULL;
    bool usable = n && ((n->kind == OPND_IMM && n->imm > 0 && n->imm <= INT32_MAX) ||
                        (n->kind == OPND_REG && !t->fl->divergent[n->index]));
    if (!t->across && usable) {
        t->across = n;
        t->divides = i;
    }
}

/* Loops in which a step of a counter stands; false: there is none. */
static bool find_loops(struct tile_counter *t)
{
    const struct ptx_func *f = t->fl->f;
    bool any = false;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        uint32_t l = t->fl->cfg->blocks[t->fl->cfg->block_of[k]].loop;
        if (makes(t, &f->insts[k]) && ptx_rule_of(&f->insts[k]) == ADDR_ADD && l != PTX_NO_INDEX)
            t->loop[l] = any = true;
    }
    return any;
}

static enum status find_roles(struct pass_ctx *c, struct tile_counter *t)
{
    const struct ptx_func *f = t->fl->f;
    enum status s = ST_OK;
    for (uint32_t k = 0; k < f->ninsts && s == ST_OK; k++) {
        const struct ptx_inst *i = &f->insts[k];
        const struct ptx_operand *n = bound_of(t, i);
        t->role[k] = makes(t, i)       ? TILE_COUNTS
                     : n               ? TILE_COMPARES
                     : reads_any(t, i) ? TILE_USES
                                       : TILE_NONE;
        s = check_numbers(c, t, i);
        if (s == ST_OK && t->role[k] == TILE_COMPARES && t->total && !same_operand(t->total, n))
            s = pass_refuse(c, i->at, NULL,
                            "the number of a tile is compared with two different numbers of tiles");
        if (t->role[k] == TILE_COMPARES)
            t->total = n;
        if (t->role[k] == TILE_USES)
            find_division(t, i);
    }
    return s;
}

/* ST_REFUSED: none, or several counters go on from turn to turn. */
static enum status find_carried(struct pass_ctx *c, struct tile_counter *t, uint32_t loop)
{
    const struct ptx_cfg *g = t->fl->cfg;
    bool *out = base_alloc(t->fl->f->nregs + 1);
    unsigned counters = 0;
    bool ok = out && tile_carried(t, loop, out);
    for (uint32_t r = 0; ok && r < t->fl->f->nregs; r++) {
        bool counter = out[r] && t->counter[r];
        counters += counter;
        t->current[loop] = counter ? r : t->current[loop];
        t->carried[r] |= out[r] && !counter && !t->scale[r];
    }
    base_free(out);
    if (!ok)
        return ST_NOMEM;
    if (counters == 1)
        return ST_OK;
    return pass_refuse(c, t->fl->f->insts[g->blocks[g->loops[loop].header].first].at, NULL,
                       "the loop that begins here goes on with the numbers of %u tiles; one is followed",
                       counters);
}

static enum status find_all(struct pass_ctx *c, struct tile_counter *t)
{
    if (!find_counters(c, t))
        return ST_NOMEM;
    if (!find_loops(t))
        return pass_refuse(
            c, NO_SPAN, "for CTAs that do one tile each, --cluster redirect --index has orders",
            "the kernel has no loop in which a CTA takes tile %%ctaid.x, then the one %%nctaid.x on");
    tile_find_derived(c, t);
    enum status s = find_roles(c, t);
    if (s == ST_OK && !t->total)
        s = pass_refuse(
            c, NO_SPAN, NULL,
            "the number of a tile is compared with no number of tiles, so it is not known how "
            "many there are");
    for (uint32_t l = 0; s == ST_OK && l < t->fl->cfg->nloops; l++)
        if (t->loop[l])
            s = find_carried(c, t, l);
    return s;
}

enum status tile_counter_find(struct pass_ctx *c, const struct pass_flow *fl, struct tile_counter *t)
{
    *t = (struct tile_counter){ .fl = fl };
    size_t regs = fl->f->nregs + 1, loops = fl->cfg->nloops + 1;
    t->counter = base_alloc(regs);
    t->scale = base_alloc(regs * sizeof *t->scale);
    t->carried = base_alloc(regs);
    t->loop = base_alloc(loops);
    t->current = base_alloc(loops * sizeof *t->current);
    t->role = base_alloc(fl->f->ninsts + 1);
    bool ok = t->counter && t->scale && t->carried && t->loop && t->current && t->role;
    return ok ? find_all(c, t) : ST_NOMEM;
}

void tile_counter_free(struct tile_counter *t)
{
    BASE_FREE(t->counter, t->scale, t->carried, t->loop, t->current, t->role);
}
