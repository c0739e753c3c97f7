/* What a timing sample need not compute. A sample runs on copies of memory that are thrown away, so a
 * value matters only if it can reach a branch, a guard, an address, a mask of lanes or a cache policy.
 * Values that cannot are left out (exec_inst.lean is NULL), and loads and stores of such values only say
 * which addresses they go to. Registers are looked at without regard to order, memory as pieces; what is
 * not known to be safe computes as always. Global memory is two pieces, since CTAs that claim tasks by
 * counters of the module's own look at no buffer for it; where buffers matter all the same, it is one.
 *
 * A sample leaves out what a MARK_LOOK_SPARE load finds (ptx/text_marks.h): the SMs it has not are as
 * far as its own, and would else be robbed of their tasks. */
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/text_marks.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/tensor/mma_kind.h"
#include "engine/sim/exec/tensor/wgmma.h"
#include "engine/sim/mem.h"

enum {
    PIECE_VARIABLES = 1,
    PIECE_BUFFERS = 2,
    PIECE_GLOBAL = 3,
    PIECE_SHARED = 4,
    PIECE_LOCAL = 8,
    PIECE_ALL = 15
};

struct lean {
    struct sim_program *p;
    bool *live;  /* [nregs]: the register's value matters */
    uint8_t mem; /* pieces of memory whose contents matter */
    bool warp;   /* what lanes give each other matters */
    bool copies; /* global and shared memory are copied into each other */
    bool one;    /* global memory is one piece */
    bool odd;    /* there is something of which it is not known what it does */
    const struct ptx_cfg *c;
    struct ptx_solver *s;
};

static uint8_t piece_of(const struct exec_inst *in)
{
    if (in->fn == exec_ld_param)
        return 0;
    switch ((enum ptx_space)in->space) {
    case PTX_SPACE_GLOBAL:
        return in->reach == REACH_VARIABLES ? PIECE_VARIABLES
               : in->reach == REACH_BUFFERS ? PIECE_BUFFERS
                                            : PIECE_GLOBAL;
    case PTX_SPACE_SHARED:
    case PTX_SPACE_SHARED_CLUSTER: return PIECE_SHARED;
    case PTX_SPACE_LOCAL: return PIECE_LOCAL;
    case PTX_SPACE_CONST: return 0; /* nobody writes it */
    default: return PIECE_ALL;
    }
}

static enum ptx_effect effect_of(const struct exec_inst *in)
{
    return ptx_op_info(in->ptx->op)->effect;
}

static bool is_mma(const struct exec_inst *in)
{
    return in->fn == exec_mma || in->fn == exec_wmma_mma || in->fn == exec_mma_core ||
           in->fn == exec_wmma_core || in->fn == exec_mma_kind;
}

/* Its only effect is on registers that the scoreboard names. */
static bool is_value(const struct exec_inst *in)
{
    bool flag = in->fn == exec_carry || in->fn == exec_stacksave || in->fn == exec_mov_frame;
    return is_mma(in) ||
           (effect_of(in) == EFFECT_NONE && in->kind == EXEC_PLAIN && !in->reads_time && !flag);
}

/* Loads and stores whose addresses can be said without the data. */
static bool is_plain_access(const struct exec_inst *in)
{
    enum ptx_op op = in->ptx->op;
    return in->kind == EXEC_MEM && in->bytes < 16 &&
           (op == PTX_OP_LD || op == PTX_OP_LDU || op == PTX_OP_ST);
}

/* ---- what matters ---- */
static void mark(struct lean *l, uint32_t reg)
{
    if (!l->live[reg])
        ptx_ask_each(l->s, l->c->regs[reg].defs, l->c->regs[reg].ndefs);
    l->live[reg] = true;
}

static void mark_memory(struct lean *l, uint8_t pieces)
{
    if (l->copies && pieces & (PIECE_GLOBAL | PIECE_SHARED))
        pieces |= PIECE_GLOBAL | PIECE_SHARED;
    l->one |= ((l->mem | pieces) & PIECE_BUFFERS) != 0;
    if (l->one && (l->mem | pieces) & PIECE_GLOBAL)
        pieces |= PIECE_GLOBAL;
    if (pieces & ~l->mem)
        ptx_ask_all(l->s);
    l->mem |= pieces;
}

static void mark_sources(struct lean *l, const struct exec_inst *in)
{
    for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++)
        mark(l, in->regs[k]);
}

static void mark_operand(struct lean *l, const struct ptx_operand *o)
{
    if (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG))
        mark(l, o->index);
    for (uint32_t k = 0; (o->kind == OPND_VEC || o->kind == OPND_MULTI) && k < o->nelem; k++)
        mark_operand(l, &o->elem[k]);
}

/* The guard, and all operands that are read but for those of [from, to). */
static void mark_around(struct lean *l, const struct exec_inst *in, unsigned from, unsigned to)
{
    const struct ptx_inst *i = in->ptx;
    if (i->guarded)
        mark(l, i->guard);
    for (unsigned k = 0; k < i->nopnds; k++)
        if ((k < from || k >= to) && (i->opnds[k].kind == OPND_ADDR || i->opnds[k].access != PTX_WRITE))
            mark_operand(l, &i->opnds[k]);
}

static bool is_wanted(const struct lean *l, const struct exec_inst *in)
{
    bool any = false;
    for (uint32_t k = 0; k < in->ndst; k++)
        any |= l->live[in->regs[k]];
    return any;
}

/* Values go to memory: operand 1 of a store, those after the address of an atomic; a cache hint, the
 * last, is none. */
static void look_at_writer(struct lean *l, const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    bool atomic = effect_of(in) == EFFECT_ATOMIC;
    unsigned from = atomic && i->nopnds && i->opnds[0].kind != OPND_ADDR ? 2 : 1;
    unsigned to = atomic ? i->nopnds - (in->policy.hint ? 1u : 0u) : 2;
    if (atomic && is_wanted(l, in))
        mark_memory(l, piece_of(in));
    if (l->mem & piece_of(in))
        mark_sources(l, in);
    else
        mark_around(l, in, from, to);
}

/* Values go from lane to lane: any but the last operand, the mask of lanes. */
static void look_at_warp(struct lean *l, const struct exec_inst *in)
{
    if (!l->warp && is_wanted(l, in))
        ptx_ask_all(l->s);
    l->warp |= is_wanted(l, in);
    if (l->warp || in->ptx->nopnds < 2)
        mark_sources(l, in);
    else
        mark_around(l, in, 0, in->ptx->nopnds - 1);
}

/* Of a product that nobody wants, where its factors lie in shared memory: operands 1 and 2, unless registers hold
 * them. */
static void look_at_wgmma(struct lean *l, const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    if (is_wanted(l, in))
        mark_sources(l, in);
    if (i->guarded)
        mark(l, i->guard);
    for (unsigned k = 1; k < 3 && k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_REG)
            mark_operand(l, &i->opnds[k]);
}

/* False: not known what it does. */
static bool look_at(struct lean *l, const struct exec_inst *in)
{
    if (is_value(in)) {
        if (is_wanted(l, in))
            mark_sources(l, in);
        return true;
    }
    if (in->fn == exec_wgmma) {
        look_at_wgmma(l, in);
        return true;
    }
    if (ptx_is(in->ptx, IS_WARPGROUP)) /* they order products and share out registers: no values */
        return true;
    if (ptx_is(in->ptx, IS_TENSORMAP)) /* where copies go is data */
        mark_memory(l, PIECE_GLOBAL | PIECE_SHARED);
    switch (effect_of(in)) {
    case EFFECT_STORE:
    case EFFECT_ATOMIC:
        if (in->fn == exec_cp_bulk || in->fn == exec_async)
            return false;
        look_at_writer(l, in);
        return true;
    case EFFECT_WARP: look_at_warp(l, in); return true;
    case EFFECT_LOAD:
        if (is_wanted(l, in) && in->mark != MARK_LOOK_SPARE)
            mark_memory(l, piece_of(in));
        break;
    case EFFECT_ASYNC_COPY:
        if (in->fn == exec_cp_bulk)
            return false;
        if (!l->copies)
            ptx_ask_all(l->s);
        l->copies = true;
        mark_memory(l, l->mem);
        break;
    case EFFECT_BARRIER: /* an mbarrier's bytes are its own (PTX ISA): no store, no copy of data writes them */
    case EFFECT_NONE:
    case EFFECT_BRANCH:
    case EFFECT_EXIT:
    case EFFECT_PREFETCH:
    case EFFECT_FENCE: break;
    default: return false;
    }
    mark_sources(l, in);
    return true;
}

static void live_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct lean *l = ctx;
    l->s = s;
    l->odd = l->odd || !look_at(l, &l->p->code[l->p->funcs[0].first + inst]);
}

static exec_fn *lean_of(const struct lean *l, const struct exec_inst *in, exec_fn *touch)
{
    if (is_value(in) && !is_wanted(l, in))
        return is_mma(in) ? exec_product_skip : NULL;
    if (in->fn == exec_wgmma && !is_wanted(l, in))
        return exec_wgmma_meet;
    if (in->fn == exec_ldmatrix && !is_wanted(l, in))
        return exec_ldmatrix_place;
    if (!is_plain_access(in))
        return in->fn;
    bool wanted =
        in->store ? (l->mem & piece_of(in)) != 0 : is_wanted(l, in) && in->mark != MARK_LOOK_SPARE;
    return wanted ? in->fn : touch;
}

static void take_marks(struct decode *d)
{
    for (uint32_t i = 0; d->marks && d->marks->n && i < d->p->ncode; i++) {
        struct exec_inst *in = &d->p->code[i];
        in->mark = (uint8_t)text_marks_at(d->marks, in->func->ptx->index, in->ptx->index);
    }
}

bool decode_lean(struct decode *d)
{
    struct sim_program *p = d->p;
    take_marks(d);
    struct lean l = { .p = p, .live = base_alloc(p->funcs[0].nregs + 1) };
    if (!l.live)
        return false;
    bool one_func = p->nfuncs == 1 && !p->heap, ok = !one_func || decode_reach(d);
    l.c = ptx_cfg_of(d->pf);
    ok = ok && (!one_func || ptx_solve(p->funcs[0].n, PTX_BACKWARD, live_step, &l));
    bool known = one_func && ok && !l.odd;
    p->timing_ignores_data = known && !(l.mem & PIECE_GLOBAL);
    p->timing_reads_only_symbols = known && l.mem & PIECE_VARIABLES && !l.one;
    for (uint32_t i = 0; i < p->ncode; i++) {
        p->own_tasks |= known && p->code[i].mark == MARK_LOOK_SPARE;
        p->code[i].lean = known ? lean_of(&l, &p->code[i], d->lanes[LANE_touch]) : p->code[i].fn;
        if (!p->timing_reads_only_symbols)
            p->code[i].reach = REACH_ANY;
    }
    base_free(l.live);
    return ok;
}
