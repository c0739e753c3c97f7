/* The plan: what each instruction costs on a preset, and in which order a block
 * issues. PTX is not what runs: ptxas folds moves and parameter reads away, expands
 * divisions, and reorders each block so that loads go out early. In-order issue of
 * PTX as written would wait at the first use of every load; so each region (a basic
 * block, cut at barriers, atomics, warp operations and clock reads) gets a list
 * schedule (order.c), small loops several turns together (unroll.c). */
#include "engine/sim/timing/plan.h"

#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/joined.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/cache/cache.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/tensor/wgmma.h"
#include "engine/sim/step.h"
#include "engine/sim/timing/expansion.h"
#include "engine/sim/timing/spill.h"

/* ---- costs ---- */

/* Between 32 and 64 bits without a sign: half of a register pair. */
static bool is_widened(const struct ptx_inst *i)
{
    if (ptx_rule_of(i) != ADDR_CVT)
        return false;
    uint8_t to = i->type[0], from = i->type[1];
    return (to == PTX_T_U64 && from == PTX_T_U32) ||
           ((to == PTX_T_U32 || to == PTX_T_S32) && (from == PTX_T_U64 || from == PTX_T_S64));
}

/* Signs of floats are part of the instruction that reads them. */
static bool is_sign(const struct ptx_inst *i)
{
    return ptx_is_float_sign(i) && !i->guarded && ptx_type_bits((enum ptx_type)i->type[0]) > 16;
}

/* Register moves, address-space casts and entry parameters cost nothing: operands take their place. */
static bool is_folded(const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    if (ptx_is_address_cast(i) || is_widened(i) || is_sign(i))
        return true;
    if (ptx_is_param_load(i))
        return in->func->ptx->entry;
    if (!ptx_is_move(i) || i->nopnds < 2)
        return ptx_is_move(i); /* a mul that was fused */
    return i->opnds[1].kind != OPND_SREG && i->opnds[1].kind != OPND_VEC;
}

/* Conversions between integers are arithmetic, and so are those between floats and from integers to
 * floats where cvt_to_float_alu says so. The rest uses the slow conversion unit. */
static enum timing_unit unit_of_cvt(const struct ptx_inst *i, const struct sim_preset *g)
{
    if (i->ntypes < 2)
        return UNIT_CVT;
    bool to = ptx_type_kind((enum ptx_type)i->type[0]) == 'f',
         from = ptx_type_kind((enum ptx_type)i->type[1]) == 'f';
    unsigned to_bits = ptx_type_bits((enum ptx_type)i->type[0]),
             from_bits = ptx_type_bits((enum ptx_type)i->type[1]);
    if (!to && !from)
        return UNIT_ALU;
    if (!g->cvt_to_float_alu || to_bits == 64 || from_bits == 64)
        return UNIT_CVT;
    return to && (!from || to_bits != from_bits) ? UNIT_ALU : UNIT_CVT;
}

/* One of two numbers, or which of them is the greater. */
static bool compares(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_op_info(i->op)->addr; /* of its row: floats too */
    return ptx_role_of(i) == ROLE_COMPARE || rule == ADDR_MIN || rule == ADDR_MAX;
}

static enum timing_unit unit_of(const struct ptx_inst *i, uint8_t cls, const struct sim_preset *g)
{
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    unsigned bits = i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) : 0;
    if (ptx_effect_of(i) == EFFECT_WARP)
        return UNIT_WARP;
    if (cls == CLASS_CVT)
        return unit_of_cvt(i, g);
    if (kind == 'f' && bits == 64)
        return UNIT_FP64;
    if (cls == CLASS_FP32 && bits == 32 && g->fp32_compare_alu && compares(i))
        return UNIT_ALU;
    if (cls == CLASS_FP32 && (bits == 16 || kind == 'x'))
        return UNIT_FP16;
    switch (cls) {
    case CLASS_IMUL: return UNIT_IMUL;
    case CLASS_FP32: return UNIT_FP32;
    case CLASS_FP16: return UNIT_FP16;
    case CLASS_FP64: return UNIT_FP64;
    case CLASS_SFU: return UNIT_SFU;
    case CLASS_MOVE: return UNIT_MOVE;
    case CLASS_LSU:
    case CLASS_TEX: return UNIT_LSU;
    case CLASS_CONTROL:
    case CLASS_BARRIER: return UNIT_CONTROL;
    case CLASS_TENSOR: return UNIT_TENSOR;
    default: return UNIT_ALU;
    }
}

struct unit_cost {
    int64_t latency, lanes;
};
static struct unit_cost unit_cost(const struct sim_preset *g, enum timing_unit u)
{
    switch (u) {
    case UNIT_IMUL: return (struct unit_cost){ g->lat_imul, g->lanes_imul };
    case UNIT_FP32: return (struct unit_cost){ g->lat_fp32, g->lanes_fp32 };
    case UNIT_FP16: return (struct unit_cost){ g->lat_fp16, g->lanes_fp16 };
    case UNIT_FP64: return (struct unit_cost){ g->lat_fp64, g->lanes_fp64 };
    case UNIT_SFU: return (struct unit_cost){ g->lat_sfu, g->lanes_sfu };
    case UNIT_CVT: return (struct unit_cost){ g->lat_cvt, g->lanes_cvt };
    case UNIT_MOVE: return (struct unit_cost){ g->lat_move, g->lanes_move };
    case UNIT_CONTROL: return (struct unit_cost){ g->lat_control, g->lanes_control };
    case UNIT_WARP: return (struct unit_cost){ g->lat_warp, g->lanes_warp };
    case UNIT_LSU: return (struct unit_cost){ g->l1_latency, g->lanes_lsu };
    case UNIT_TENSOR: return (struct unit_cost){ g->lat_tensor, g->lanes_tensor ? g->lanes_tensor : 1 };
    default: return (struct unit_cost){ g->lat_alu, g->lanes_alu };
    }
}

static bool is_float(const struct ptx_inst *i)
{
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    return kind == 'f' || kind == 'x';
}

static uint64_t busy_cycles(const struct sim_preset *g, enum timing_unit u)
{
    uint64_t lanes = (uint64_t)unit_cost(g, u).lanes;
    return ((uint64_t)WARP_LANES * (uint64_t)g->schedulers + lanes - 1) / lanes;
}

/* A sequence occupies the unit that it needs longest: the function unit, the double unit, or its
 * own for the rest. */
static void cost_sequence(struct timing_op *o, const struct timing_expansion *e,
                          const struct sim_preset *g)
{
    uint64_t sfu = e->sfu * busy_cycles(g, UNIT_SFU), dbl = e->dbl * busy_cycles(g, UNIT_FP64),
             left = (uint64_t)e->slots - e->sfu - e->dbl;
    if (e->slots > e->sfu && (o->unit == UNIT_SFU || o->unit == UNIT_FP64))
        o->unit = UNIT_FP32;
    int64_t own_latency = unit_cost(g, (enum timing_unit)o->unit).latency;
    uint64_t own = left * busy_cycles(g, (enum timing_unit)o->unit);
    if (sfu > own && sfu >= dbl)
        o->unit = UNIT_SFU;
    else if (dbl > own)
        o->unit = UNIT_FP64;
    uint64_t most = sfu > dbl ? sfu : dbl;
    o->slots = e->slots;
    o->busy = (uint16_t)(own > most ? own : most);
    o->latency = (uint16_t)(e->chain * own_latency + e->chain_sfu * g->lat_sfu +
                            e->chain_dbl * g->lat_fp64 + e->chain_branch * g->lat_control);
}

/* A branch may read its guard later than an addition would, and hold its warp for less than a taken one.
 */
static void cost_branch(struct timing_op *o, const struct ptx_inst *i, const struct sim_preset *g)
{
    if (g->barrier_busy && o->flags & TIMING_BARRIER && o->unit == UNIT_CONTROL)
        o->busy = (uint16_t)(g->barrier_busy * g->schedulers);
    if (!(o->flags & TIMING_ENDS) || o->unit != UNIT_CONTROL || !i->guarded)
        return;
    o->late = (uint8_t)g->branch_guard_late;
    if (g->branch_not_taken >= 0)
        o->latency = (uint16_t)g->branch_not_taken;
}

/* Cycles that a warp's share of a product takes of its scheduler's tensor core, and of shared memory. */
static void cost_product(struct timing_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    const struct exec_wgmma *x = in->x;
    unsigned bits = mat_bits(x->type_a);
    int64_t rate = bits == 32 ? g->tensor_macs_tf32 : bits == 16 ? g->tensor_macs_16 : g->tensor_macs_8;
    uint64_t k = x->sparse ? x->k / 2u : x->k, macs = (uint64_t)DOT_ROWS * 4 * x->n * k,
             bytes = (uint64_t)x->n * x->k * bits / 8 + (x->na ? 0 : 64 * k * bits / 8),
             math = rate ? macs / (uint64_t)rate : macs / 1024,
             read = bytes / (uint64_t)g->tensor_shared_bytes;
    o->flags |= TIMING_PRODUCT;
    o->busy = (uint16_t)(math > read ? math : read);
    o->each = (uint16_t)read;
    o->latency = (uint16_t)g->lat_product;
    o->slots = 1;
}

/* mma and wmma by their sums. False: the preset has no rate for them. */
static bool cost_matrix(struct timing_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    const struct exec_mma *x = in->x;
    unsigned bits = mat_bits(x->part[1].type);
    int64_t rate = bits == 32   ? g->tensor_macs_tf32
                   : bits == 16 ? g->tensor_macs_16
                   : bits == 8  ? g->tensor_macs_8
                                : 0;
    if (!rate)
        return false;
    uint64_t macs = (uint64_t)x->shape[0] * x->shape[1] * x->shape[2] / (x->sparse ? 2 : 1);
    if (x->halves) /* at the rate of f16 */
        rate = g->tensor_macs_16;
    o->slots = 1;
    o->busy = (uint16_t)((double)macs * (double)g->schedulers / ((double)rate * g->mma_share));
    o->latency = (uint16_t)g->lat_tensor;
    return true;
}

/* Fences of one SM, and what else only orders. False: it is none. */
static bool cost_order(struct timing_op *o, const struct ptx_inst *i, const struct sim_preset *g)
{
    enum ptx_role role = ptx_role_of(i);
    if (role == ROLE_SM_FENCE)
        o->flags &= (uint16_t)~TIMING_FENCE;
    else if (ptx_is(i, IS_WARPGROUP) && (role == ROLE_COMMIT || role == ROLE_WAIT_GROUP))
        o->flags |= role == ROLE_COMMIT ? TIMING_PRODUCT : TIMING_GROUPS;
    else
        return false;
    o->unit = UNIT_CONTROL;
    o->slots = 1;
    o->busy = 1;
    o->latency = (uint16_t)g->lat_move;
    return true;
}

/* Cycles that a warp is held by what it tells its cluster; 0: not more than by other barriers. An
 * arrival that says nothing releases to its CTA, at the cluster's barrier to the cluster. */
static int64_t release_cycles(const struct ptx_inst *i, const struct sim_preset *g)
{
    bool relaxed = ptx_has_mod(i, PTX_MOD_RELAXED);
    if (ptx_is(i, IS_CLUSTER) && ptx_is(i, IS_CTA_BARRIER))
        return !ptx_is(i, IS_ARRIVES) ? g->lat_cluster_barrier : relaxed ? 1 : g->lat_cluster_arrive;
    bool arrives = ptx_role_of(i) == ROLE_MBARRIER_ARRIVE && ptx_has_mod(i, PTX_MOD_CLUSTER);
    return arrives && !relaxed ? g->lat_release_cluster : 0;
}

static void cost_release(struct timing_op *o, const struct ptx_inst *i, const struct sim_preset *g)
{
    int64_t latency = release_cycles(i, g);
    if (!latency)
        return;
    o->flags |= TIMING_RELEASE;
    o->latency = (uint16_t)latency;
}

static void cost_op(struct timing_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    const struct ptx_inst *i = in->ptx;
    o->unit = (uint8_t)unit_of(i, in->cls, g);
    if (is_folded(in)) {
        o->flags |= TIMING_FREE;
        if (ptx_is_param_load(i))
            o->latency = (uint16_t)g->lat_param;
        return;
    }
    if (ptx_is(i, IS_WGMMA)) {
        cost_product(o, in, g);
        return;
    }
    bool matrix = ptx_role_of(i) == ROLE_PRODUCT && !ptx_is(i, IS_TCGEN05);
    if (cost_order(o, i, g) || (matrix && cost_matrix(o, in, g)))
        return;
    const struct timing_expansion *e = timing_expansion_of(i, (uint32_t)g->expansion_set);
    struct unit_cost c = unit_cost(g, (enum timing_unit)o->unit);
    o->slots = 1;
    o->busy = (uint16_t)busy_cycles(g, (enum timing_unit)o->unit);
    o->latency = (uint16_t)c.latency;
    if (e)
        cost_sequence(o, e, g);
    /* the branch to the path for rare numbers ends a block */
    if (e && e->chain_branch && o->unit != UNIT_WARP)
        o->flags |= TIMING_SPLITS;
    /* popc, brev, bfind: latency of the function unit, no lack of lanes */
    if (!e && o->unit == UNIT_SFU && g->bit_count_alu && !is_float(i)) {
        o->unit = UNIT_ALU;
        o->busy = (uint16_t)busy_cycles(g, UNIT_ALU);
    }
    if (ptx_is_move(i) && i->nopnds > 1 && i->opnds[1].kind == OPND_SREG)
        o->latency = (uint16_t)g->lat_sreg;
    if (o->flags & TIMING_FENCE)
        o->latency = (uint16_t)(ptx_has_mod(i, PTX_MOD_CTA)   ? g->lat_barrier
                                : ptx_has_mod(i, PTX_MOD_SYS) ? g->lat_fence_sys
                                                              : g->lat_fence);
    cost_release(o, i, g);
    cost_branch(o, i, g);
    if (ptx_is(i, IS_SLEEP))
        o->latency = (uint16_t)g->l2_latency;
}

/* ---- where regions end ---- */

/* Waits for asynchronous copies: cp.async.wait_group, cp.async.bulk.wait_group and the like. */
static bool waits_async(const struct ptx_inst *i)
{
    return ptx_role_of(i) == ROLE_WAIT_GROUP && !ptx_is(i, IS_WARPGROUP);
}

/* Lanes of a warp give each other values: no other warp sees it, so the assembler moves it freely. */
static bool is_exchange(const struct ptx_inst *i)
{
    return ptx_role_of(i) == ROLE_EXCHANGE;
}

static uint16_t flags_of(const struct exec_inst *in)
{
    uint16_t f = 0;
    switch (ptx_effect_of(in->ptx)) {
    case EFFECT_LOAD:
    case EFFECT_STORE:
    case EFFECT_PREFETCH:
    case EFFECT_ASYNC_COPY: f = TIMING_MEMORY; break;
    case EFFECT_ATOMIC: f = TIMING_MEMORY | TIMING_ENDS; break;
    case EFFECT_FENCE: f = TIMING_ALONE | TIMING_FENCE; break;
    case EFFECT_BARRIER:
        f = TIMING_ALONE | TIMING_BARRIER | (waits_async(in->ptx) ? TIMING_ASYNC : 0);
        break;
    case EFFECT_BRANCH:
    case EFFECT_CALL: f = TIMING_ENDS; break;
    case EFFECT_EXIT: f = TIMING_ALONE; break;
    default: break;
    }
    if (in->kind == EXEC_CONTROL || (in->kind == EXEC_SYNC && !is_exchange(in->ptx)))
        f |= TIMING_ENDS;
    if (in->kind == EXEC_MEM)
        f |= TIMING_MEMORY;
    if (ptx_sees(in->ptx) & PTX_SEES_TIME || ptx_is(in->ptx, IS_SLEEP))
        f |= TIMING_ALONE;
    return in->one_address ? f | TIMING_ONE_WORD : f;
}

/* Two loads of one register under opposite guards, side by side: ptxas lets neither wait for the other
 * (tests/tool/half_loads.py, sm_75 to sm_90). */
static bool is_other_half(const struct sim_program *p, uint32_t i)
{
    const struct exec_inst *b = &p->code[i], *a = i ? b - 1 : b;
    return !b->leader && a->guard != EXEC_NO_ID && a->guard == b->guard &&
           a->guard_neg != b->guard_neg && ptx_effect_of(a->ptx) == EFFECT_LOAD &&
           ptx_effect_of(b->ptx) == EFFECT_LOAD && a->ndst == 1 && b->ndst == 1 &&
           a->regs[0] == b->regs[0];
}

/* ---- the whole program ---- */
/* The assembler has put all variables of the thread into registers: what loads and stores them is gone. */
static void drop_local(struct timing_plan *t)
{
    const struct sim_program *p = t->p;
    if (!p->compiled.regs || p->compiled.stack || p->nfuncs > 1)
        return;
    for (uint32_t i = 0; i < p->ncode; i++)
        if (p->code[i].kind == EXEC_MEM && p->code[i].space == PTX_SPACE_LOCAL)
            t->op[i] = (struct timing_op){ .flags = TIMING_FREE, .unit = UNIT_MOVE };
}

static bool goes_either_way(const struct timing_plan *t, uint32_t i)
{
    enum ptx_addr_rule rule = ptx_rule_of(t->p->code[i].ptx);
    return t->op[i].unit == UNIT_ALU && (rule == ADDR_ADD || rule == ADDR_SUB || rule == ADDR_SHL);
}

/* From Volta on the assembler makes additions and left shifts of a block on either pipe (IADD3 or
 * IMAD.IADD): each on the one that has less of the block (tests/tool/pipes.py). */
static void balance_block(struct timing_plan *t, uint32_t first, uint32_t end)
{
    uint32_t alu = 0, mul = 0;
    for (uint32_t i = first; i < end; i++) {
        bool counts = !(t->op[i].flags & TIMING_FREE) && !goes_either_way(t, i);
        alu += counts && t->op[i].unit == UNIT_ALU ? t->op[i].slots : 0;
        mul += counts && (t->op[i].unit == UNIT_IMUL || t->op[i].unit == UNIT_FP32) ? t->op[i].slots : 0;
    }
    for (uint32_t i = first; i < end; i++) {
        if (t->op[i].flags & TIMING_FREE || !goes_either_way(t, i))
            continue;
        bool other = mul < alu;
        if (other)
            t->op[i].unit = UNIT_IMUL;
        *(other ? &mul : &alu) += t->op[i].slots;
    }
}

static void balance(struct timing_plan *t, const struct sim_preset *g)
{
    uint32_t first = 0;
    for (uint32_t i = 1; g->add_on_imul && i <= t->p->ncode; i++)
        if (i == t->p->ncode || t->p->code[i].leader & LEADS_BLOCK) {
            balance_block(t, first, i);
            first = i;
        }
}

/* Of code that is never reached, nothing is known of the registers. */
static uint32_t ready_slot(const struct timing_op *o, const struct exec_inst *in, uint32_t k)
{
    uint32_t at = in->func->ready_slot[in->regs[k]];
    return at == EXEC_NO_ID ? TIMING_ZERO : o->base + at;
}

/* Scoreboard slots of a region's registers. The copies of a loop's body have slots of their own for what
 * they write: copy c has reg[k] in slot own + c * nregs + k. A warp is in one region at a time, so all
 * regions have the same ones. */
struct names {
    const struct timing_region *r;
    uint32_t own, nregs, reg[TIMING_REGION * 2];
    uint8_t first[TIMING_REGION * 2]; /* the first instruction of the body that writes it */
};

static void name_results(struct names *x, const struct timing_plan *t, uint32_t i)
{
    const struct exec_inst *in = &t->p->code[x->r->first + i];
    for (uint32_t k = 0; k < in->ndst && x->nregs < ARRAY_LEN(x->reg); k++) {
        uint32_t slot = ready_slot(&t->op[x->r->first + i], in, k), at = 0;
        while (at < x->nregs && x->reg[at] != slot)
            at++;
        if (at < x->nregs || slot == TIMING_ZERO)
            continue;
        x->reg[at] = slot;
        x->first[at] = (uint8_t)i;
        x->nregs++;
    }
}

static void find_names(struct names *x, struct timing_plan *t, const struct timing_region *r)
{
    x->r = r;
    x->own = t->nown;
    x->nregs = 0;
    for (uint32_t i = 0; r->copies > 1 && i < r->n; i++)
        name_results(x, t, i);
    if (x->own + x->nregs * r->copies > t->nslots)
        t->nslots = x->own + x->nregs * r->copies;
}

/* The slot of a register as the instruction at a place writes or reads it. */
static uint32_t name_of(const struct names *x, uint32_t slot, uint32_t at, bool writes)
{
    uint32_t copy = at / x->r->n, k = 0;
    while (k < x->nregs && x->reg[k] != slot)
        k++;
    if (k == x->nregs)
        return slot;
    if (writes || x->first[k] < at % x->r->n)
        return x->own + copy * x->nregs + k;
    return copy ? x->own + (copy - 1) * x->nregs + k : slot;
}

#define HOLDS                                                                                   \
    (TIMING_GROUPS | TIMING_FENCE | TIMING_SPLITS | TIMING_ALONE | TIMING_ASYNC | TIMING_ENDS | \
     TIMING_BARRIER | TIMING_CALL | TIMING_RELEASE)
static struct timing_slot slot_of(const struct timing_plan *t, const struct timing_region *r,
                                  uint32_t at, uint32_t regs)
{
    uint32_t pc = r->first + at % r->n;
    const struct timing_op *o = &t->op[pc];
    const struct exec_inst *in = &t->p->code[pc];
    uint32_t n = (uint32_t)in->ndst + in->nsrc;
    struct timing_slot s = { .pc = pc,
                             .at = (uint8_t)at,
                             .regs = regs,
                             .busy = o->busy,
                             .latency = o->latency,
                             .slots = o->slots,
                             .late = o->late,
                             .each = o->each,
                             .unit = o->unit,
                             .flags = o->flags,
                             .ndst = in->ndst,
                             .nsrc = in->nsrc,
                             .dst = in->ndst ? t->regs[regs] : TIMING_SINK,
                             .many = in->ndst > 1 || n > TIMING_NEAR,
                             .spills = o->spill_loads || o->spill_stores,
                             .holds = (o->flags & HOLDS) != 0 };
    if (o->flags & TIMING_OFFSET && at >= r->n) {
        s.flags |= TIMING_FREE;
        s.latency = 0;
    }
    for (uint32_t k = 0; k < TIMING_NEAR; k++)
        s.near[k] = k < n && (k || !(o->flags & TIMING_HALF)) ? t->regs[regs + k] : TIMING_ZERO;
    return s;
}

static void note_left(struct timing_plan *t, const struct names *x, struct timing_region *r,
                      uint32_t *nleft)
{
    r->left = *nleft;
    for (uint32_t at = 0; r->copies > 1 && at < r->n * r->copies; at++) {
        const struct exec_inst *in = &t->p->code[r->first + at % r->n];
        for (uint32_t k = 0; k < in->ndst; k++) {
            uint32_t slot = ready_slot(&t->op[r->first + at % r->n], in, k);
            t->left[(*nleft)++] = (struct timing_left){ name_of(x, slot, at, true), slot, at };
        }
        if (at + 1 == r->n)
            r->nleft = *nleft - r->left;
    }
}

/* A load of what another has loaded waits for that one's result. */
static uint32_t read_slot(const struct timing_plan *t, uint32_t pc, uint32_t k)
{
    uint32_t same = t->op[pc].same, from = same ? same - 1 : pc;
    bool reads = same && k >= t->p->code[pc].ndst;
    return ready_slot(&t->op[reads ? from : pc], &t->p->code[reads ? from : pc], reads ? 0 : k);
}

/* Lays out the issue order as the SM reads it: one record after the other, with registers in line. */
static void lay_out(struct timing_plan *t, struct timing_region *r, uint32_t *nregs, uint32_t *nleft)
{
    struct names x;
    find_names(&x, t, r);
    for (uint32_t i = 0; i < r->n * r->copies; i++) {
        uint32_t at = t->order[r->order + i], pc = r->first + at % r->n, regs = *nregs;
        const struct exec_inst *in = &t->p->code[pc];
        for (uint32_t k = 0; k < (uint32_t)in->ndst + in->nsrc; k++)
            t->regs[(*nregs)++] = name_of(&x, read_slot(t, pc, k), at, k < in->ndst);
        t->slot[r->order + i] = slot_of(t, r, at, regs);
    }
    note_left(t, &x, r, nleft);
}

static void cut_regions(struct timing_plan *t, const struct exec_func *f)
{
    struct timing_region *r = NULL;
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        bool alone = t->op[i].flags & TIMING_ALONE;
        bool leads = t->p->code[i].leader & LEADS_BLOCK ||
                     (t->p->code[i].leader && !is_exchange(t->p->code[i].ptx));
        if (!r || alone || leads || r->n == TIMING_REGION) {
            r = &t->region[t->nregions];
            *r = (struct timing_region){ .first = i };
            t->nregions++;
        }
        t->op[i].region = t->nregions - 1;
        r->n++;
        if (alone || t->op[i].flags & (TIMING_ENDS | TIMING_SPLITS))
            r = NULL;
    }
}

/* Room for all regions and their copies, in the order in which they stand. */
static bool make_room(struct timing_plan *t, const struct sim_preset *g)
{
    uint32_t places = 0, nregs = 0, nleft = 0;
    for (uint32_t i = 0; i < t->nregions; i++) {
        struct timing_region *r = &t->region[i];
        r->copies = timing_copies(t, r, g);
        r->order = places;
        places += r->n * r->copies;
        for (uint32_t k = r->first; k < r->first + r->n; k++) {
            const struct exec_inst *in = &t->p->code[k];
            nregs += r->copies * ((uint32_t)in->ndst + in->nsrc);
            nleft += r->copies > 1 ? r->copies * in->ndst : 0;
        }
    }
    t->order = ARENA_ARRAY(t->arena, uint8_t, places + 1);
    t->slot = ARENA_ARRAY(t->arena, struct timing_slot, places + 1);
    t->regs = ARENA_ARRAY(t->arena, uint32_t, nregs + 1);
    t->left = ARENA_ARRAY(t->arena, struct timing_left, nleft + 1);
    return !arena_failed(t->arena);
}

static void make_regions(struct timing_plan *t)
{
    t->nslots = TIMING_OWN_SLOTS;
    for (uint32_t k = 0; k < t->p->nfuncs; k++) {
        const struct exec_func *f = &t->p->funcs[k];
        for (uint32_t i = f->first; i < f->first + f->n; i++)
            t->op[i].base = t->nslots;
        t->nslots += f->nready;
        cut_regions(t, f);
    }
}

/* Another access is made for it: of a load that one has the value. */
static void drop(struct timing_op *o, uint32_t same)
{
    *o = (struct timing_op){ .flags = TIMING_FREE, .unit = UNIT_MOVE, .same = same };
}

/* Loads of what was just loaded, and accesses that are made together with others, are no machine
 * instructions. */
static bool drop_same(struct timing_plan *t)
{
    for (uint32_t k = 0; k < t->p->nfuncs; k++) {
        const struct exec_func *f = &t->p->funcs[k];
        const uint32_t *same = ptx_same_of(f->ptx);
        const struct ptx_joined *joined = same ? ptx_joined_of(f->ptx) : NULL;
        if (!joined)
            return false;
        for (uint32_t i = 0; i < f->ptx->ninsts; i++) {
            bool load = ptx_effect_of(&f->ptx->insts[i]) == EFFECT_LOAD;
            struct timing_op *o = &t->op[f->first + i];
            if (same[i] || joined[i].with)
                drop(o, same[i] ? f->first + same[i] : load ? f->first + joined[i].with : 0);
            o->wide = joined[i].bytes;
            o->before = joined[i].before;
        }
    }
    return true;
}

enum status timing_plan_make(struct timing_plan *t, const struct sim_program *p,
                             const struct sim_preset *g)
{
    *t = (struct timing_plan){ .p = p, .arena = arena_new(0) };
    if (!t->arena)
        return ST_NOMEM;
    t->op = ARENA_ARRAY(t->arena, struct timing_op, p->ncode + 1);
    t->route = ARENA_ARRAY(t->arena, struct cache_route, p->ncode + 1);
    t->region = ARENA_ARRAY(t->arena, struct timing_region, p->ncode + 1);
    if (arena_failed(t->arena))
        return ST_NOMEM;
    for (uint32_t i = 0; i < p->ncode; i++) {
        t->op[i].flags = flags_of(&p->code[i]) | (is_other_half(p, i) ? TIMING_HALF : 0);
        t->maps_ready |= ptx_role_of(p->code[i].ptx) == ROLE_MAP_PREFETCH;
        cost_op(&t->op[i], &p->code[i], g);
        t->route[i] = cache_route_load(g, &p->code[i].policy, 0, 0);
    }
    timing_flops(t);
    if (arena_failed(t->arena))
        return ST_NOMEM;
    timing_calls(t, g);
    timing_fold(t, g);
    if (!drop_same(t))
        return ST_NOMEM;
    drop_local(t);
    balance(t, g);
    make_regions(t);
    t->nown = t->nslots;
    timing_spills(t);
    if (!make_room(t, g))
        return ST_NOMEM;
    for (uint32_t i = 0, nregs = 0, nleft = 0; i < t->nregions; i++) {
        timing_order(t, &t->region[i], g);
        lay_out(t, &t->region[i], &nregs, &nleft);
    }
    return ST_OK;
}

/* Registers that loads ahead of their uses need. */
static uint32_t regs_ahead(const struct timing_plan *t)
{
    uint32_t spare = ALWAYS_REGS - (uint32_t)t->p->preset.ahead_regs,
             regs = (t->live + spare + 7) / 8 * 8;
    if (t->p->preset.ahead_regs < 0 || t->p->preset.ahead_regs > ALWAYS_REGS || regs < t->p->regs)
        return t->p->regs;
    return regs < t->p->regs_allowed ? regs : t->p->regs_allowed;
}

void timing_estimate(struct sim_program *p)
{
    struct timing_plan t;
    if (timing_plan_make(&t, p, &p->preset) == ST_OK) {
        p->spilled = timing_spilled(&t);
        p->regs = p->regs_allowed > p->regs ? regs_ahead(&t) : p->regs;
    }
    timing_plan_free(&t);
}

void timing_plan_free(struct timing_plan *t)
{
    arena_free(t->arena);
    base_free(t->spill);
    *t = (struct timing_plan){ 0 };
}
