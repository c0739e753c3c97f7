/* Can what a tile stores tell which CTA does it, in which turn?
 *
 * Two sets of values are followed through registers, predicates and branches.
 *
 * Of the turn: registers that go on from a turn of the tile loop to the next, but for the tile's number
 * (the stage of a ring, its phase), and comparisons of the number. They may decide where in shared
 * memory something lies, and what a barrier waits for. They may not be stored, nor take part in a
 * product.
 *
 * Of data: what loads and products give. They may decide no address, no branch and no barrier, so that
 * other data make the same accesses.
 *
 * What a read of shared memory finds is a matter of the accesses alone, then: a run of the launch with
 * its tiles marked compares them (engine/tune/tiles.c). */
#include "engine/pass/pass_int.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/rewrites/tiles/tiles_int.h"

#include <string.h>

/* What is known where a block begins, and behind the instruction looked at last; by register. */
struct values {
    bool *turn, *data;
};
struct turns {
    struct pass_ctx *c;
    const struct tile_counter *t;
    const struct pass_flow *fl;
    struct ptx_region region;
    size_t n;          /* registers, and one */
    bool *parted;      /* by block: whether it is come to follows from the turn */
    struct values in;  /* [block][register] */
    struct values now; /* [register] */
};

/* ---- what an instruction is ---- */
/* What it answers follows from who arrived how often, so from the turn, and not from data. */
static bool is_wait(const struct ptx_inst *i)
{
    return ptx_is(i, IS_MBARRIER);
}

static bool makes_data(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return e == EFFECT_TENSOR || (e == EFFECT_LOAD && i->space != PTX_SPACE_PARAM);
}

/* What a kernel does here that is not followed from tile to tile; NULL: nothing. */
static const char *not_followed(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool memory = e == EFFECT_LOAD || e == EFFECT_STORE;
    if (ptx_is_opaque(i))
        return "an instruction that is not modelled";
    if (e == EFFECT_CALL)
        return "a call";
    if (e == EFFECT_ATOMIC)
        return "an atomic operation, whose order is that of the tiles";
    if (e == EFFECT_TEXTURE || e == EFFECT_SURFACE)
        return "a texture or a surface";
    if (ptx_is(i, IS_CTA_VOTE))
        return "a vote of the CTA";
    if (ptx_is(i, IS_CARRY_IN))
        return "the carry flag";
    if (ptx_is(i, IS_TCGEN05))
        return "tensor memory, which lasts from tile to tile";
    if (memory && i->space == PTX_SPACE_LOCAL)
        return "local memory, which lasts from tile to tile";
    if (memory && (i->space == PTX_SPACE_GENERIC || i->space == PTX_SPACE_SHARED_CLUSTER))
        return "an access whose memory is not named";
    if (memory && i->space == PTX_SPACE_GLOBAL && ptx_is_strong(i))
        return "an access that other CTAs may answer";
    if (ptx_is(i, IS_CLUSTER) || ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER))
        return "other CTAs of a cluster take part";
    if (ptx_is(i, IS_TENSORMAP) || (memory && !ptx_is(i, IS_PLAIN | IS_READ_ONLY | IS_FRAGMENT)))
        return ptx_op_info(i->op)->name;
    return NULL;
}

/* ---- following ---- */
static bool reads(bool *set, const struct ptx_inst *i)
{
    bool is = false;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        is |= set[r.reg];
    return is;
}

/* What an instruction that may not be done writes keeps what it was, too. */
static void writes(bool *set, const struct ptx_inst *i, bool is)
{
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        if (is || !i->guarded)
            set[r.reg] = is;
}

static bool operand_in(const bool *set, const struct ptx_operand *o)
{
    bool in = o->kind == OPND_REG && set[o->index];
    for (uint16_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem && !in; k++)
        in = operand_in(set, &o->elem[k]);
    return in;
}

static bool is_of(const bool *set, const struct ptx_operand *o)
{
    return (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG)) && set[o->index];
}

/* Operands that are values: no address, no matrix descriptor, nothing that is only written. */
static bool values_in(const bool *set, const struct ptx_inst *i)
{
    bool in = i->guarded && set[i->guard];
    for (uint8_t k = 0; k < i->nopnds && !in; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        bool descriptor = tile_is_wgmma(i) && o->kind == OPND_REG && (k == 1 || k == 2);
        in = (ptx_operand_access(i, k) & PTX_READ) && o->kind != OPND_ADDR && !descriptor &&
             operand_in(set, o);
    }
    return in;
}

/* A load's value follows from its place, which the run with marks compares; so does a product's. */
static bool gives_turn(const struct turns *s, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool told = i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_SHARED;
    if (is_wait(i))
        return true;
    if ((e == EFFECT_LOAD && told) || e == EFFECT_TENSOR)
        return values_in(s->now.turn, i);
    return s->t->role[i->index] == TILE_COMPARES || reads(s->now.turn, i);
}

static bool in_loop(const struct turns *s, uint32_t block)
{
    return tile_loop_of(s->t, block) != PTX_NO_INDEX;
}

/* A counter that is not the number of the turn's tile: the next one, or that of the first turn. */
static bool other_number(const struct turns *s, uint32_t block, const struct ptx_inst *i)
{
    const struct ptx_operand *from = ptx_copied(i);
    return !(from && from->kind == OPND_REG && in_loop(s, block) && !s->now.turn[from->index]);
}

static void step(struct turns *s, uint32_t block, const struct ptx_inst *i)
{
    bool counts = s->t->role[i->index] == TILE_COUNTS;
    bool turn = counts ? other_number(s, block, i) : s->parted[block] || gives_turn(s, i),
         data = !is_wait(i) && (makes_data(i) || reads(s->now.data, i));
    writes(s->now.turn, i, turn);
    writes(s->now.data, i, data);
}

/* What is written on one of two ways alone follows from which was taken. Where one of them leaves the
 * loop, whoever stays knows no more than that there is a tile. */
static void part(struct turns *s, struct ptx_solver *solver, uint32_t b)
{
    const struct ptx_block *x = &s->fl->cfg->blocks[b];
    bool stays = in_loop(s, b);
    for (uint32_t m = 0; m < x->nsucc; m++)
        stays = stays && in_loop(s, x->succ[m]);
    if (!stays)
        return;
    ptx_region_take(&s->region, b);
    for (uint32_t n = 0; n < s->region.n; n++) {
        if (!s->parted[s->region.list[n]])
            ptx_ask(solver, s->region.list[n]);
        s->parted[s->region.list[n]] = true;
    }
}

/* True: what is known where block b begins has changed. */
static bool enter(struct turns *s, uint32_t b)
{
    bool changed = false;
    bool *turn = s->in.turn + b * s->n, *data = s->in.data + b * s->n;
    for (size_t r = 0; r < s->n; r++) {
        changed |= (s->now.turn[r] && !turn[r]) || (s->now.data[r] && !data[r]);
        turn[r] |= s->now.turn[r];
        data[r] |= s->now.data[r];
    }
    return changed;
}

/* The counter of the loop holds the number of the turn's tile, and derived registers of the loop what
 * belongs to it. */
static void begin_turn(struct turns *s, uint32_t loop)
{
    for (uint32_t r = 0; r + 1 < s->n; r++) {
        const struct ptx_reg_refs *x = &s->fl->cfg->regs[r];
        bool here = false;
        for (uint32_t n = 0; s->t->scale[r] && n < x->ndefs; n++)
            here |= tile_loop_of(s->t, s->fl->cfg->block_of[x->defs[n]]) == loop;
        s->now.turn[r] = s->t->counter[r] ? r != s->t->current[loop]
                         : s->t->scale[r] ? !here
                                          : s->now.turn[r] || s->t->carried[r];
    }
}

static void begin(struct turns *s, uint32_t b)
{
    memcpy(s->now.turn, s->in.turn + b * s->n, s->n);
    memcpy(s->now.data, s->in.data + b * s->n, s->n);
    for (uint32_t l = 0; l < s->fl->cfg->nloops; l++)
        if (s->t->loop[l] && s->fl->cfg->loops[l].header == b)
            begin_turn(s, l);
}

static void walk(void *ctx, struct ptx_solver *solver, uint32_t b)
{
    struct turns *s = ctx;
    const struct ptx_block *x = &s->fl->cfg->blocks[b];
    if (!x->reachable)
        return;
    begin(s, b);
    for (uint32_t k = x->first; k < x->first + x->n; k++) {
        const struct ptx_inst *i = &s->fl->f->insts[k];
        if (ptx_effect_of(i) == EFFECT_BRANCH && reads(s->now.turn, i))
            part(s, solver, b);
        step(s, b, i);
    }
    for (uint32_t m = 0; m < x->nsucc; m++)
        if (enter(s, x->succ[m]))
            ptx_ask(solver, x->succ[m]);
}

/* ---- what must not be ---- */
static enum status check_turn(struct turns *s, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool stores = e == EFFECT_STORE || ptx_is(i, IS_THREAD_COPY);
    struct ptx_inst alone = *i;
    alone.guarded = false; /* whether it is done, the run with marks compares */
    for (uint8_t k = 0; e == EFFECT_ASYNC_COPY && k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_MULTI && i->opnds[k].nelem && is_of(s->now.turn, i->opnds[k].elem))
            return pass_refuse(
                s->c, i->at, NULL,
                "which tensor is copied here may follow from the turn in which a CTA does "
                "the tile");
    if ((stores || e == EFFECT_TENSOR) && values_in(s->now.turn, stores ? &alone : i))
        return pass_refuse(s->c, i->at, NULL,
                           "what is %s here may follow from the turn in which a CTA does the tile, or "
                           "from the tile before",
                           stores ? "stored" : "multiplied");
    return ST_OK;
}

static enum status check_data(struct turns *s, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool moves = e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ASYNC_COPY,
         waits = e == EFFECT_BARRIER || e == EFFECT_BRANCH || e == EFFECT_EXIT;
    bool guard = i->guarded && s->now.data[i->guard] && (moves || waits || e == EFFECT_TENSOR);
    bool decides = guard || ((waits || e == EFFECT_ASYNC_COPY) && reads(s->now.data, i));
    for (uint8_t k = 0; k < i->nopnds && !decides; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        bool descriptor = tile_is_wgmma(i) && (k == 1 || k == 2 || k == 3) && o->kind == OPND_REG;
        decides = (o->kind == OPND_ADDR && o->base == BASE_REG && s->now.data[o->index]) ||
                  (o->kind == OPND_MULTI && operand_in(s->now.data, o)) ||
                  (descriptor && s->now.data[o->index]);
    }
    if (!decides)
        return ST_OK;
    return pass_refuse(s->c, i->at, NULL,
                       "loaded data decide %s here, so that other data could make tiles depend on each "
                       "other",
                       e == EFFECT_BRANCH || e == EFFECT_EXIT || guard ? "what is done"
                       : waits                                         ? "what is waited for"
                                                                       : "an address");
}

/* What is derived from the counter is set right by the counter, so both must belong to one turn. */
static enum status check_derived(struct turns *s, uint32_t b, const struct ptx_inst *i)
{
    bool is = false;
    uint32_t l = tile_loop_of(s->t, b);
    if (s->t->role[i->index] == TILE_USES && l != PTX_NO_INDEX)
        for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
            is |= s->t->scale[r.reg] != 0;
    if (!is || !s->now.turn[s->t->current[l]])
        return ST_OK;
    return pass_refuse(
        s->c, i->at, NULL,
        "what follows from the number of a tile is used here when the counter holds the next");
}

static enum status check_block(struct turns *s, uint32_t b)
{
    const struct ptx_block *x = &s->fl->cfg->blocks[b];
    enum status st = ST_OK;
    begin(s, b);
    for (uint32_t k = x->first; k < x->first + x->n && st == ST_OK; k++) {
        const struct ptx_inst *i = &s->fl->f->insts[k];
        st = check_derived(s, b, i);
        if (st == ST_OK)
            st = check_turn(s, i);
        if (st == ST_OK)
            st = check_data(s, i);
        step(s, b, i);
    }
    return st;
}

static enum status check_all(struct turns *s)
{
    enum status st = ST_OK;
    for (uint32_t b = 0; b < s->fl->cfg->nblocks && st == ST_OK; b++)
        if (s->fl->cfg->blocks[b].reachable)
            st = check_block(s, b);
    return st;
}

static bool make(struct turns *s)
{
    const struct ptx_cfg *g = s->fl->cfg;
    s->n = s->fl->f->nregs + 1;
    s->parted = base_alloc(g->nblocks + 1);
    s->in.turn = base_alloc(g->nblocks * s->n);
    s->in.data = base_alloc(g->nblocks * s->n);
    s->now.turn = base_alloc(s->n);
    s->now.data = base_alloc(s->n);
    return ptx_region_make(&s->region, g) && s->parted && s->in.turn && s->in.data && s->now.turn &&
           s->now.data;
}

enum status tile_turns_check(struct pass_ctx *c, const struct tile_counter *t)
{
    const struct ptx_func *f = t->fl->f;
    struct turns s = { .c = c, .t = t, .fl = t->fl };
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const char *what = not_followed(&f->insts[k]);
        if (what)
            return pass_refuse(c, f->insts[k].at, NULL, "tiles are not known to be independent: %s",
                               what);
    }
    enum status st = make(&s) ? ST_OK : ST_NOMEM;
    if (st == ST_OK)
        st = ptx_solve(t->fl->cfg->nblocks, PTX_FORWARD, walk, &s) ? check_all(&s) : ST_NOMEM;
    ptx_region_free(&s.region);
    BASE_FREE(s.parted, s.in.turn, s.in.data, s.now.turn, s.now.data);
    return st;
}
