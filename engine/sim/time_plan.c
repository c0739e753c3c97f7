/* The plan: what each instruction costs on a preset, and in which order a block
 * issues. PTX is not what runs: ptxas folds moves and parameter reads away, expands
 * divisions, and reorders each block so that loads go out early. In-order issue of
 * PTX as written would wait at the first use of every load; so each region (a basic
 * block, cut at barriers, atomics, warp operations and clock reads) gets a list
 * schedule by longest path to its end, which keeps every register and memory order. */
#include "engine/sim/time_int.h"

#include <string.h>

/* ---- costs ---- */

/* PTX instructions that stand for several machine instructions, by name, type kind and width (0: any).
 * Counts are those of ptxas for sm_90, rounded; first match wins. */
static const struct expansion { const char *name; char kind; uint8_t bits; uint16_t slots; } expansions[] = {
    { "div.full", 0, 0, 4 }, { "div", 'f', 64, 30 }, { "div", 'f', 32, 10 }, { "div", 'u', 64, 70 }, { "div", 's', 64, 80 },
    { "div", 'u', 0, 18 }, { "div", 's', 0, 22 }, { "rem", 0, 64, 80 }, { "rem", 0, 0, 22 },
    { "sqrt", 'f', 64, 24 }, { "sqrt", 'f', 32, 8 }, { "rcp", 'f', 64, 18 }, { "rcp", 'f', 32, 7 }, { "rsqrt", 'f', 64, 14 },
    { "sin", 0, 0, 2 }, { "cos", 0, 0, 2 }, { "ex2", 0, 0, 2 }, { "lg2", 0, 0, 2 }, { "tanh", 0, 0, 1 },
    { "mul.lo", 0, 64, 4 }, { "mul.hi", 0, 64, 8 }, { "mad.lo", 0, 64, 4 }, { "mad.hi", 0, 64, 8 },
    { "add", 'u', 64, 2 }, { "add", 's', 64, 2 }, { "sub", 0, 64, 2 }, { "shl", 0, 64, 2 }, { "shr", 0, 64, 2 },
    { "and", 'b', 64, 2 }, { "or", 'b', 64, 2 }, { "xor", 'b', 64, 2 }, { "not", 'b', 64, 2 }, { "selp", 0, 64, 2 },
    { "setp", 'u', 64, 2 }, { "setp", 's', 64, 2 }, { "setp", 'b', 64, 2 }, { "min", 'u', 64, 4 }, { "max", 'u', 64, 4 },
    { "min", 's', 64, 4 }, { "max", 's', 64, 4 }, { "neg", 's', 64, 2 }, { "abs", 's', 64, 3 }, { "popc", 0, 64, 3 },
    { "bfe", 0, 0, 2 }, { "bfi", 0, 0, 2 }, { "brev", 0, 64, 2 }, { "testp", 0, 0, 3 }, { "fns", 0, 0, 40 },
};

static bool has_approx(const struct ptx_inst *i)
{
    return ptx_has_mod(i, PTX_MOD_APPROX) || ptx_has_mod(i, PTX_MOD_FULL);
}

static uint16_t slots_of(const struct ptx_inst *i)
{
    const char *name = ptx_op_info((enum ptx_op)i->op)->name;
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    unsigned bits = i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) : 0;
    if (has_approx(i)) return strcmp(name, "div") == 0 ? 3 : strcmp(name, "sqrt") == 0 ? 2 : 1;
    for (size_t k = 0; k < ARRAY_LEN(expansions); k++) {
        const struct expansion *e = &expansions[k];
        if (strcmp(e->name, name) == 0 && (!e->kind || e->kind == kind) && (!e->bits || e->bits == bits)) return e->slots;
    }
    return 1;
}

/* Between 32 and 64 bits without a sign: half of a register pair. */
static bool is_widened(const struct ptx_inst *i)
{
    if (i->ntypes != 2) return false;
    uint8_t to = i->type[0], from = i->type[1];
    return (to == PTX_T_U64 && from == PTX_T_U32) || ((to == PTX_T_U32 || to == PTX_T_S32) && (from == PTX_T_U64 || from == PTX_T_S64));
}

/* Register moves, address-space casts and entry parameters cost nothing: operands take their place. */
static bool is_folded(const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    if (i->op == PTX_OP_CVTA || i->op == PTX_OP_CVTA_TO) return true;
    if (i->op == PTX_OP_CVT && is_widened(i)) return true;
    if (i->op == PTX_OP_LD && in->space == PTX_SPACE_PARAM && in->func->ptx->entry) return true;
    if (i->op != PTX_OP_MOV || i->nopnds < 2) return false;
    return i->opnds[1].kind != OPND_SREG && i->opnds[1].kind != OPND_VEC;
}

static bool reads_clock(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nopnds; k++) {
        if (i->opnds[k].kind != OPND_SREG) continue;
        const char *n = ptx_sreg_name((enum ptx_sreg)i->opnds[k].index);
        if (strstr(n, "clock") || strstr(n, "timer")) return true;
    }
    return false;
}

static enum time_unit unit_of(const struct ptx_inst *i, uint8_t cls)
{
    char kind = i->ntypes ? ptx_type_kind((enum ptx_type)i->type[0]) : 0;
    unsigned bits = i->ntypes ? ptx_type_bits((enum ptx_type)i->type[0]) : 0;
    if (ptx_op_info((enum ptx_op)i->op)->effect == EFFECT_WARP) return UNIT_WARP;
    if (kind == 'f' && bits == 64) return UNIT_FP64;
    if (cls == CLASS_FP32 && (bits == 16 || kind == 'x')) return UNIT_FP16;
    switch (cls) {
    case CLASS_IMUL: return UNIT_IMUL;
    case CLASS_FP32: return UNIT_FP32;
    case CLASS_FP16: return UNIT_FP16;
    case CLASS_FP64: return UNIT_FP64;
    case CLASS_SFU: return UNIT_SFU;
    case CLASS_CVT: return UNIT_CVT;
    case CLASS_MOVE: return UNIT_MOVE;
    case CLASS_LSU: case CLASS_TEX: return UNIT_LSU;
    case CLASS_CONTROL: case CLASS_BARRIER: return UNIT_CONTROL;
    case CLASS_TENSOR: return UNIT_TENSOR;
    default: return UNIT_ALU;
    }
}

struct unit_cost { int64_t latency, lanes; };
static struct unit_cost unit_cost(const struct sim_preset *g, enum time_unit u)
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

/* A multi-instruction sequence is a chain on the multiply-add pipe; half of it overlaps. */
static void cost_op(struct time_op *o, const struct exec_inst *in, const struct sim_preset *g)
{
    const struct ptx_inst *i = in->ptx;
    o->unit = (uint8_t)unit_of(i, in->cls);
    if (is_folded(in)) {
        o->flags |= TIME_FREE;
        return;
    }
    o->slots = slots_of(i);
    if (o->slots > 2 && o->unit == UNIT_SFU) o->unit = UNIT_FP32;
    struct unit_cost c = unit_cost(g, (enum time_unit)o->unit);
    uint64_t one = ((uint64_t)WARP_LANES * (uint64_t)g->schedulers + (uint64_t)c.lanes - 1) / (uint64_t)c.lanes;
    o->busy = (uint16_t)(one * o->slots);
    o->latency = (uint16_t)(c.latency + (o->slots - 1) * (c.latency + (int64_t)one) / 2);
    if (i->op == PTX_OP_MOV && i->nopnds > 1 && i->opnds[1].kind == OPND_SREG) o->latency = (uint16_t)(c.latency * 4);
    if (o->flags & TIME_FENCE) o->latency = (uint16_t)(ptx_has_mod(i, PTX_MOD_CTA) ? g->lat_barrier : g->lat_fence);
    if (i->op == PTX_OP_NANOSLEEP) o->latency = (uint16_t)g->l2_latency;
}

/* ---- where regions end ---- */

/* Waits for asynchronous copies: cp.async.wait_group, mbarrier.try_wait and the like. */
static bool waits_async(const struct ptx_inst *i)
{
    const char *n = ptx_op_info((enum ptx_op)i->op)->name;
    return strstr(n, "wait") != NULL;
}

static uint8_t flags_of(const struct exec_inst *in)
{
    enum ptx_effect e = ptx_op_info((enum ptx_op)in->ptx->op)->effect;
    uint8_t f = 0;
    switch (e) {
    case EFFECT_LOAD: case EFFECT_STORE: case EFFECT_PREFETCH: case EFFECT_ASYNC_COPY: f = TIME_MEMORY; break;
    case EFFECT_ATOMIC: f = TIME_MEMORY | TIME_ENDS; break;
    case EFFECT_FENCE: f = TIME_ALONE | TIME_FENCE; break;
    case EFFECT_BARRIER: f = TIME_ALONE | TIME_BARRIER | (waits_async(in->ptx) ? TIME_ASYNC : 0); break;
    case EFFECT_BRANCH: case EFFECT_CALL: f = TIME_ENDS; break;
    case EFFECT_EXIT: f = TIME_ALONE; break;
    case EFFECT_WARP: f = TIME_ENDS; break;
    default: break;
    }
    if (in->kind == EXEC_CONTROL || in->kind == EXEC_SYNC) f |= TIME_ENDS;
    if (in->kind == EXEC_MEM) f |= TIME_MEMORY;
    if (reads_clock(in->ptx) || in->ptx->op == PTX_OP_NANOSLEEP) f |= TIME_ALONE;
    return f;
}

/* ---- list schedule of one region ---- */

struct block { const struct time_plan *t; uint32_t first, n; uint64_t before[TIME_REGION]; uint32_t height[TIME_REGION]; };

static bool touches_reg(const struct exec_inst *in, uint32_t reg)
{
    for (uint32_t k = 0; k < (uint32_t)in->ndst + in->nsrc; k++)
        if (in->regs[k] == reg) return true;
    return false;
}

/* Read after write, write after read, write after write (guards are among the sources). */
static bool regs_order(const struct exec_inst *a, const struct exec_inst *b)
{
    for (uint16_t k = 0; k < a->ndst; k++)
        if (touches_reg(b, a->regs[k])) return true;
    for (uint16_t k = 0; k < b->ndst; k++)
        if (touches_reg(a, b->regs[k])) return true;
    return false;
}

/* Stores keep their place among accesses to the same space: the assembler cannot tell them apart. */
static bool keeps_place(const struct exec_inst *a, const struct exec_inst *b)
{
    enum ptx_effect ea = ptx_op_info((enum ptx_op)a->ptx->op)->effect, eb = ptx_op_info((enum ptx_op)b->ptx->op)->effect;
    if (ea == EFFECT_NONE || eb == EFFECT_NONE) return false;
    if (ea == EFFECT_LOAD && eb == EFFECT_LOAD) return a->policy.cop == COP_CV || b->policy.cop == COP_CV;
    bool apart = a->space != b->space && a->space != PTX_SPACE_GENERIC && b->space != PTX_SPACE_GENERIC;
    return !apart;
}

static void find_order(struct block *b)
{
    const struct exec_inst *code = &b->t->p->code[b->first];
    for (uint32_t i = 0; i < b->n; i++) {
        b->before[i] = 0;
        bool last = i + 1 == b->n && (b->t->op[b->first + i].flags & TIME_ENDS);
        for (uint32_t k = 0; k < i; k++)
            if (last || regs_order(&code[k], &code[i]) || keeps_place(&code[k], &code[i])) b->before[i] |= 1ull << k;
    }
    for (uint32_t i = b->n; i-- > 0;) {
        const struct time_op *o = &b->t->op[b->first + i];
        uint32_t tail = 0;
        for (uint32_t k = i + 1; k < b->n; k++)
            if (b->before[k] >> i & 1 && b->height[k] > tail) tail = b->height[k];
        b->height[i] = tail + o->latency;
    }
}

static void schedule_region(struct time_plan *t, const struct time_region *r)
{
    struct block b = { .t = t, .first = r->first, .n = r->n };
    find_order(&b);
    uint64_t done = 0;
    for (uint32_t at = 0; at < r->n; at++) {
        uint32_t pick = TIME_REGION;
        for (uint32_t i = 0; i < r->n; i++) {
            if (done >> i & 1 || b.before[i] & ~done) continue;
            if (pick == TIME_REGION || b.height[i] > b.height[pick]) pick = i;
        }
        t->order[r->order + at] = (uint8_t)pick;
        done |= 1ull << pick;
    }
}

/* ---- the whole program ---- */

/* The order as the SM walks it: one record after the other, registers in line. */
static void lay_out(struct time_plan *t, const struct time_region *r, uint32_t *nregs)
{
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t pc = r->first + t->order[r->order + i];
        const struct time_op *o = &t->op[pc];
        const struct exec_inst *in = &t->p->code[pc];
        t->slot[r->order + i] = (struct time_slot){ .pc = pc, .regs = *nregs, .busy = o->busy, .latency = o->latency, .slots = o->slots,
                                                    .unit = o->unit, .flags = o->flags, .ndst = in->ndst, .nsrc = in->nsrc };
        for (uint32_t k = 0; k < (uint32_t)in->ndst + in->nsrc; k++) t->regs[(*nregs)++] = o->base + in->regs[k];
    }
}

static uint32_t count_regs(const struct sim_program *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->ncode; i++) n += (uint32_t)p->code[i].ndst + p->code[i].nsrc;
    return n;
}

static void cut_regions(struct time_plan *t, const struct exec_func *f)
{
    struct time_region *r = NULL;
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        bool alone = t->op[i].flags & TIME_ALONE;
        if (!r || alone || t->p->code[i].leader || r->n == TIME_REGION) {
            r = &t->region[t->nregions];
            *r = (struct time_region){ i, 0, i };
            t->nregions++;
        }
        t->op[i].region = t->nregions - 1;
        r->n++;
        if (alone || t->op[i].flags & TIME_ENDS) r = NULL;
    }
}

enum status time_plan_make(struct time_plan *t, const struct sim_program *p, const struct sim_preset *g)
{
    *t = (struct time_plan){ .p = p, .arena = arena_new(0) };
    if (!t->arena) return ST_NOMEM;
    t->op = ARENA_ARRAY(t->arena, struct time_op, p->ncode + 1);
    t->route = ARENA_ARRAY(t->arena, struct cache_route, p->ncode + 1);
    t->region = ARENA_ARRAY(t->arena, struct time_region, p->ncode + 1);
    t->order = ARENA_ARRAY(t->arena, uint8_t, p->ncode + 1);
    t->slot = ARENA_ARRAY(t->arena, struct time_slot, p->ncode + 1);
    t->regs = ARENA_ARRAY(t->arena, uint32_t, count_regs(p) + 1);
    if (arena_failed(t->arena)) return ST_NOMEM;
    for (uint32_t i = 0; i < p->ncode; i++) {
        t->op[i].flags = flags_of(&p->code[i]);
        cost_op(&t->op[i], &p->code[i], g);
        t->route[i] = cache_route_load(g, &p->code[i].policy, 0, 0);
    }
    time_uniform(t);
    for (uint32_t k = 0; k < p->nfuncs; k++) {
        const struct exec_func *f = &p->funcs[k];
        for (uint32_t i = f->first; i < f->first + f->n; i++) t->op[i].base = t->nslots;
        t->nslots += f->nregs;
        cut_regions(t, f);
    }
    for (uint32_t i = 0, n = 0; i < t->nregions; i++) {
        schedule_region(t, &t->region[i]);
        lay_out(t, &t->region[i], &n);
    }
    return ST_OK;
}

void time_plan_free(struct time_plan *t)
{
    arena_free(t->arena);
    *t = (struct time_plan){ 0 };
}
