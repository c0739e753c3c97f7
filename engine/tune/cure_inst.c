/* What to write where instructions are the limit: which of them stand for many machine instructions, how
 * many lanes execute them, and how soon a warp has done all of its own. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/reach.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/loc.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/ptx/ptx_type.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/limits.h"
#include "engine/rec/result_read.h"
#include "engine/sim/timing/expansion.h"
#include "engine/tune/cure_int.h"

#include <string.h>

#define WORTH     0.2 /* of the place's machine instructions: less is not what takes the time */
#define FEW_FLOPS 4   /* with the bits of a float looked at: a library function */
#define WARP      32
#define MOST_WORK 24  /* lanes at work: from there on none is missed */
#define BRIEF     160 /* instructions of a warp: a row of a few hundred elements, and no loop */
#define WAVES     3   /* CTAs for each that the device holds */

/* Is the kernel's instruction of the place? Not asked where there is none. */
static bool cure_is_at(const struct curing *c, const struct ptx_inst *i)
{
    uint32_t line = c->p->file ? ptx_place_near(c->k->module, c->k->func, i).line : i->at.line;
    return line == c->p->line;
}

/* All of f is: a function without lines, which the place calls. */
static bool called_here(const struct curing *c, const struct ptx_func *f)
{
    return f->has_body && !f->entry && !f->nlocs && c->p->file &&
           ptx_place_of_call(c->k->module, c->k->func, f).line == c->p->line;
}

/* ---- what instructions cost ---- */

struct cost {
    unsigned n, slots; /* instructions, machine instructions */
    unsigned doubles;  /* of them, of double precision */
    const struct ptx_inst *one;
};
enum {
    COST_WIDE,
    COST_DIVIDE,
    COST_CHANGING,
    COST_EXACT,
    COST_MIXED,
    COST_LIBRARY,
    COST_BARRIER,
    COSTS
};

static unsigned slots_of(const struct ptx_inst *i)
{
    const struct timing_expansion *e = timing_expansion_of(i, timing_expansion_set_at(0)->number);
    return e ? e->slots : 1;
}

static bool is_float(const struct ptx_func *f, const struct ptx_operand *o)
{
    return o->kind == OPND_REG && ptx_type_kind((enum ptx_type)f->regs[o->index].type) == 'f';
}

/* A double and a whole number, one made of the other: what functions of double begin and end with. */
static bool splits_double(const struct ptx_inst *i)
{
    return i->ntypes == 2 && ptx_op_info(i->op)->cls == CLASS_CVT &&
           ((i->type[0] == PTX_T_F64 && i->type[1] == PTX_T_S32) ||
            (i->type[0] == PTX_T_S32 && i->type[1] == PTX_T_F64));
}

/* A float's bits become a whole number, or the other way. */
static bool looks_at_bits(const struct ptx_func *f, const struct ptx_inst *i)
{
    return splits_double(i) ||
           (ptx_is_move(i) && i->nopnds == 2 && i->opnds[0].kind == OPND_REG &&
            i->opnds[1].kind == OPND_REG && ptx_type_bits((enum ptx_type)i->type[0]) == 32 &&
            is_float(f, &i->opnds[0]) != is_float(f, &i->opnds[1]));
}

/* and, or, xor and shifts of 32 bits */
static bool is_logic(const struct ptx_inst *i)
{
    enum ptx_addr_rule r = ptx_rule_of(i);
    return (r == ADDR_AND || r == ADDR_OR || r == ADDR_XOR || r == ADDR_SHL || r == ADDR_SHR) &&
           ptx_type_bits((enum ptx_type)i->type[0]) == 32;
}

static bool mixes_floats(const struct ptx_inst *i)
{
    return i->ntypes == 2 && ptx_op_info(i->op)->cls == CLASS_CVT &&
           ((i->type[0] == PTX_T_F64 && i->type[1] == PTX_T_F32) ||
            (i->type[0] == PTX_T_F32 && i->type[1] == PTX_T_F64));
}

/* A divisor: a number of the launch, which the host has too, or one that changes from round to round. */
static int division_kind(const struct ptx_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *by = &i->opnds[i->nopnds - 1];
    const bool *fixed = ptx_fixed_of(f);
    if (ptx_type_bits((enum ptx_type)i->type[0]) == 64)
        return COST_WIDE;
    return f->entry && fixed && by->kind == OPND_REG && !fixed[by->index] ? COST_CHANGING : COST_DIVIDE;
}

static bool is_double(const struct ptx_inst *i)
{
    return i->ntypes && i->type[0] == PTX_T_F64 && ptx_flops(i);
}

static int cost_kind(const struct ptx_func *f, const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    bool divides = rule == ADDR_DIV || rule == ADDR_REM;
    if (divides && i->opnds[i->nopnds - 1].kind != OPND_IMM)
        return division_kind(f, i);
    if (ptx_is_exact(i))
        return COST_EXACT;
    if (mixes_floats(i))
        return COST_MIXED;
    return ptx_is(i, IS_CTA_BARRIER) ? COST_BARRIER : COSTS;
}

struct counting {
    struct cost cost[COSTS];
    struct cost library; /* floats whose bits are looked at */
    unsigned flops, bits, exchanges;
};

static void count_one(struct counting *n, const struct ptx_func *f, const struct ptx_inst *i)
{
    int kind = cost_kind(f, i);
    if (kind < COSTS) {
        n->cost[kind].n++;
        n->cost[kind].slots += slots_of(i);
        n->cost[kind].one = n->cost[kind].one ? n->cost[kind].one : i;
    }
    n->flops += ptx_flops(i) > 0;
    n->bits += is_logic(i);
    n->exchanges += ptx_role_of(i) == ROLE_EXCHANGE;
    n->library.n += looks_at_bits(f, i);
    n->library.slots += slots_of(i);
    n->library.doubles += is_double(i) ? slots_of(i) : 0;
}

static void count_costs(const struct curing *c, struct cost cost[COSTS], unsigned *all)
{
    struct counting n = { 0 };
    for (uint32_t k = 0; k < c->k->module->nfuncs; k++) {
        const struct ptx_func *f = c->k->module->funcs[k];
        bool whole = f != c->k->func && called_here(c, f);
        for (uint32_t i = 0; (whole || f == c->k->func) && i < f->ninsts; i++)
            if (whole || cure_is_at(c, &f->insts[i]))
                count_one(&n, f, &f->insts[i]);
    }
    *all = n.library.slots;
    if (n.library.n && n.bits && !n.exchanges && n.flops >= FEW_FLOPS)
        n.cost[COST_LIBRARY] = n.library;
    if (n.cost[COST_MIXED].n)
        n.cost[COST_MIXED].slots += n.library.doubles;
    memcpy(cost, n.cost, sizeof n.cost);
}

static const char *plural(unsigned n)
{
    return n == 1 ? "" : "s";
}

static int dearest(const struct cost cost[COSTS], unsigned all)
{
    static const int order[] = { COST_WIDE,  COST_DIVIDE, COST_CHANGING,
                                 COST_MIXED, COST_EXACT,  COST_BARRIER };
    for (unsigned k = 0; k < ARRAY_LEN(order); k++)
        if (cost[order[k]].n && cost[order[k]].slots >= WORTH * all)
            return order[k];
    return cost[COST_LIBRARY].n ? COST_LIBRARY : COSTS;
}

static uint32_t loop_of(const struct ptx_cfg *g, uint32_t inst)
{
    return g->blocks[g->block_of[inst]].loop;
}

/* Is the load of the kernel one of an address that its loop does not change? */
static bool loads_the_same(const struct curing *c, uint32_t inst)
{
    for (uint32_t i = 0; i < c->k->naccess; i++) {
        const struct ana_access *a = &c->k->access[i];
        if (c->k->module->funcs[a->func] == c->k->func && a->inst == inst)
            return !a->store && cure_stays(a);
    }
    return false;
}

/* A division of the kernel's in a loop that does not change what it divides by. */
static bool divides_by_one_number(const struct curing *c, const struct ptx_inst *i)
{
    const struct ptx_func *f = c->k->func;
    const struct ptx_cfg *g = ptx_cfg_of(f);
    const struct ptx_operand *by = &i->opnds[i->nopnds - 1];
    if (!g || i->index >= f->ninsts || &f->insts[i->index] != i || i->nopnds < 3 ||
        by->kind != OPND_REG || g->regs[by->index].ndefs != 1 || loop_of(g, i->index) == PTX_NO_INDEX)
        return false;
    uint32_t def = g->regs[by->index].defs[0];
    return loop_of(g, def) == PTX_NO_INDEX || loads_the_same(c, def);
}

static void put_exact(struct curing *c, const struct cost *x)
{
    const char *name = ptx_op_info(x->one->op)->name;
    buf_printf(&c->out, "%u %s to the last bit, %u machine instructions each: ", x->n, name,
               slots_of(x->one));
    if (divides_by_one_number(c, x->one))
        buf_puts(&c->out,
                 "by a number that the loop does not change: its reciprocal before the loop, then "
                 "products, where the error does");
    else
        buf_printf(&c->out, "%s.approx (an intrinsic, or -use_fast_math) where its error does", name);
}

void cure_costs(struct curing *c)
{
    struct cost cost[COSTS] = { 0 };
    unsigned all = 0;
    count_costs(c, cost, &all);
    int dear = dearest(cost, all);
    switch (dear) {
    case COST_WIDE:
        buf_printf(
            &c->out,
            "%u division%s or remainder%s of 64 bits, dozens of instructions each: use a 32-bit index",
            cost[dear].n, plural(cost[dear].n), plural(cost[dear].n));
        break;
    case COST_DIVIDE:
        buf_printf(
            &c->out,
            "%u division%s or remainder%s by numbers that the compiler does not know, about %u "
            "machine instructions each: multiply by a reciprocal from the host, or make the sizes "
            "constants",
            cost[dear].n, plural(cost[dear].n), plural(cost[dear].n), slots_of(cost[dear].one));
        break;
    case COST_CHANGING:
        buf_printf(
            &c->out,
            "%u division%s or remainder%s by a number that changes, about %u machine instructions "
            "each: make the sizes constants and unroll, mask and shift by a power of two, or "
            "sequential addresses (thread t adds t + stride)",
            cost[dear].n, plural(cost[dear].n), plural(cost[dear].n), slots_of(cost[dear].one));
        break;
    case COST_EXACT: put_exact(c, &cost[dear]); break;
    case COST_MIXED:
        buf_printf(
            &c->out,
            "%u conversion%s between float and double: an operand is double (a literal without f, or "
            "a function of double such as pow for powf); keep all of it in float",
            cost[dear].n, plural(cost[dear].n));
        break;
    case COST_LIBRARY:
        buf_printf(
            &c->out,
            "%u machine instructions, as of a library function with all its special cases (sin, "
            "pow, exp): %s where the error does; multiply for squares, sincos for both of an angle",
            all,
            cost[COST_LIBRARY].doubles >= WORTH * all ? "that of float"
                                                      : "its intrinsic or -use_fast_math");
        break;
    case COST_BARRIER:
        buf_puts(&c->out,
                 "a barrier is executed for each step: shuffles inside a warp need neither barriers nor "
                 "shared memory; then one barrier for the warps");
        break;
    default: break;
    }
}

/* ---- lanes at work ---- */

static double counted(const struct result *r, enum counter_id id)
{
    return result_counters(r)[id].valid ? result_counters(r)[id].value : 0;
}

/* The branch that parts a warp's lanes closest around the place; NULL: none does. */
static const struct ptx_inst *parting(const struct curing *c)
{
    const struct ptx_cfg *g = ptx_cfg_of(c->k->func);
    const bool *varying = ptx_varying_of(c->k->func, PTX_OF_WARP, PTX_BY_CONTROL);
    struct ptx_region region;
    const struct ptx_inst *best = NULL;
    uint32_t least = UINT32_MAX;
    if (!g || !varying || !ptx_region_make(&region, g))
        return NULL;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        if (!g->blocks[b].reachable || !ptx_parts_threads(g, b, varying))
            continue;
        ptx_region_take(&region, b);
        bool around = false;
        for (uint32_t k = 0; k < region.n && !around && region.n < least; k++) {
            const struct ptx_block *in = &g->blocks[region.list[k]];
            for (uint32_t i = 0; i < in->n && !around; i++)
                around = cure_is_at(c, &c->k->func->insts[in->first + i]);
        }
        if (around) {
            least = region.n;
            best = &c->k->func->insts[g->blocks[b].first + g->blocks[b].n - 1];
        }
    }
    ptx_region_free(&region);
    return best;
}

void cure_lanes(struct curing *c)
{
    double warps = counted(c->r, COUNTER_INST_WARP),
           lanes = warps > 0 ? counted(c->r, COUNTER_INST_THREAD) / warps : WARP;
    uint64_t threads = dim3u_count(c->k->block);
    if (lanes >= MOST_WORK)
        return;
    if (threads < WARP) {
        buf_printf(
            &c->out,
            "a CTA of %llu thread%s leaves %llu of the 32 lanes of its warp idle: let all lanes of a "
            "warp (or a CTA) share its work, then shuffles",
            (unsigned long long)threads, threads == 1 ? "" : "s", (unsigned long long)(WARP - threads));
        return;
    }
    const struct ptx_inst *branch = parting(c);
    struct ptx_place at = { 0 };
    if (!branch)
        return;
    if (c->p->file)
        at = ptx_place_near(c->k->module, c->k->func, branch);
    buf_printf(&c->out,
               "%.0f of the 32 lanes work on the average; the branch of line %u may part them: share "
               "the work among all "
               "lanes, or let a warp decide together (sorted data, __any_sync)",
               lanes, at.line ? at.line : branch->at.line);
}

/* ---- CTAs that end at once ---- */

static bool has_barrier(const struct curing *c)
{
    for (uint32_t i = 0; i < c->k->func->ninsts; i++)
        if (ptx_is(&c->k->func->insts[i], IS_CTA_BARRIER))
            return true;
    return false;
}

void cure_short(struct curing *c)
{
    const struct limit_facts *f = &result_limits(c->r)->facts;
    double cta_warps = (f->cta_threads + WARP - 1) / WARP, warps = f->ctas * cta_warps,
           room = cta_warps > 0 ? (double)f->warps_room / cta_warps * (double)f->sms : 0,
           each = warps > 0 ? counted(c->r, COUNTER_INST_WARP) / warps : 0;
    if (!(room > 0 && f->ctas >= WAVES * room && each > 0 && each < BRIEF))
        return;
    c->whole = true;
    buf_printf(
        &c->out,
        "%.0f CTAs, whose warps execute %.0f instructions each and end: let a CTA do several (a loop, "
        "with as many CTAs as the SMs hold)%s",
        f->ctas, each, has_barrier(c) ? ", or a warp the whole of a row, without barriers" : "");
}
