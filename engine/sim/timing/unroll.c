/* Which loops ptxas unrolls, and what of their bodies it then does once for all copies. Seen in what
 * ptxas 13.0 makes for sm_75 to sm_120 (tests/tool/unrolled.py; docs/lab/unrolling.md): a loop of one
 * block that counts by a constant to something that does not change in it is unrolled by four when its
 * body is small, and wholly when the number of its turns is known; not where .pragma "nounroll" stands.
 * Of the copies the count, its comparison and the branch remain once; addresses that grow by constants
 * become offsets of the first copy's. */
#include "engine/ptx/facts/counted.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"

#define COPIES 4u /* of a loop whose turns are not known */

struct body {
    const struct timing_plan *t;
    const struct exec_inst *code;
    uint32_t n;
    struct ptx_body text; /* the same */
};

static bool is_whole(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->ntypes; k++)
        if (ptx_type_kind((enum ptx_type)i->type[k]) == 'f')
            return false;
    return i->ntypes > 0;
}

static bool is_reg(const struct ptx_operand *o)
{
    return o->kind == OPND_REG && o->comp < 0;
}

static bool loads_data(const struct ptx_inst *i)
{
    return ptx_effect_of(i) == EFFECT_LOAD && i->space != PTX_SPACE_PARAM && i->space != PTX_SPACE_CONST;
}

/* What an instruction counts for: before the assembler makes halves of 64-bit numbers, or one
 * instruction of a product and a sum; twice where it goes to memory. */
static uint32_t weight_of(const struct ptx_inst *i, const struct timing_op *o)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is_move(i) && !i->nopnds)
        return 1; /* a product that was fused */
    if (ptx_is_move(i) || ptx_is_address_cast(i) || ptx_is_param_load(i))
        return 0;
    if (e == EFFECT_STORE || e == EFFECT_ATOMIC || loads_data(i))
        return 2;
    bool divides = ptx_op_info(i->op)->addr == ADDR_DIV; /* its row: of floats */
    return is_whole(i) || o->slots < 2 ? 1 : divides ? 3 : o->slots + 2u;
}

static bool is_small(const struct body *b, uint32_t first, const struct sim_preset *g)
{
    int64_t size = 0;
    bool loads = false;
    for (uint32_t i = 0; i < b->n; i++) {
        size += weight_of(b->code[i].ptx, &b->t->op[first + i]);
        loads |= loads_data(b->code[i].ptx);
    }
    return size <= (loads ? g->unroll_load_insts : g->unroll_insts);
}

/* ---- what the copies share ---- */

/* Who reads reg in the body: all of it addresses and what is made for them, or tests that end the turn.
 */
static bool only_for(const struct body *b, uint32_t reg, uint64_t made)
{
    for (uint32_t i = 0; i < b->n; i++) {
        const struct exec_inst *in = &b->code[i];
        bool reads = false;
        for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++)
            reads |= in->regs[k] == reg;
        for (unsigned k = 0; reads && in->kind == EXEC_MEM && k < in->ptx->nopnds; k++)
            if (is_reg(&in->ptx->opnds[k]) && in->ptx->opnds[k].index == reg)
                return false; /* stored */
        if (reads && in->kind != EXEC_MEM && !(made >> i & 1))
            return false;
    }
    return true;
}

/* A sum whose products are by numbers. */
static bool keeps_growth(const struct ptx_inst *i)
{
    struct ptx_sum s;
    bool keeps = ptx_sum_of(i, &s);
    for (unsigned k = 0; keeps && k < s.n; k++)
        keeps = !s.term[k].b || ptx_is_number(s.term[k].b);
    return keeps;
}

/* Instructions whose results grow by a constant from turn to turn: a step, or made of such and of what
 * stays. */
static uint64_t find_growing(const struct body *b)
{
    uint64_t grows = 0, before = 1;
    uint32_t ignored;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->code[i].ndst == 1 && ptx_turn_step(&b->text, b->code[i].regs[0], &ignored))
            grows |= 1ull << i;
    while (grows != before) {
        before = grows;
        for (uint32_t i = 0; i < b->n; i++) {
            const struct exec_inst *in = &b->code[i];
            bool all = in->ndst == 1 && is_whole(in->ptx) && keeps_growth(in->ptx);
            for (uint32_t k = in->ndst; all && k < (uint32_t)in->ndst + in->nsrc; k++) {
                uint32_t at = 0, n = ptx_writers(&b->text, in->regs[k], &at);
                all = !n || (n == 1 && grows >> at & 1);
            }
            grows |= (uint64_t)all << i;
        }
    }
    return grows;
}

/* Of those, what only addresses and the loop's own test need. */
static uint64_t find_shared(const struct body *b)
{
    uint64_t made = find_growing(b), before = 0;
    const struct ptx_inst *branch = b->code[b->n - 1].ptx;
    uint32_t test = 0;
    ptx_writers(&b->text, branch->guard, &test);
    made |= 1ull << (b->n - 1);
    if (only_for(b, branch->guard, made))
        made |= 1ull << test;
    while (made != before) {
        before = made;
        for (uint32_t i = 0; i + 1 < b->n; i++)
            if (made >> i & 1 && !only_for(b, b->code[i].regs[0], made))
                made &= ~(1ull << i);
    }
    return made;
}

static void mark(struct timing_plan *t, const struct body *b, uint32_t first)
{
    uint64_t shared = find_shared(b);
    uint32_t ignored;
    for (uint32_t i = 0; i < b->n; i++) {
        struct timing_op *o = &t->op[first + i];
        struct ptx_comparison test;
        bool step = b->code[i].ndst != 1 || ptx_comparison_of(b->code[i].ptx, &test) ||
                    ptx_turn_step(&b->text, b->code[i].regs[0], &ignored);
        if (shared >> i & 1 && !(o->flags & TIMING_FREE))
            o->flags |= step ? TIMING_STEP : TIMING_OFFSET;
    }
}

uint32_t timing_copies(struct timing_plan *t, const struct timing_region *r, const struct sim_preset *g)
{
    const struct exec_inst *code = &t->p->code[r->first];
    struct body b = { t, code, r->n, { code->func->ptx, code->ptx, r->n } };
    uint32_t turns = 0;
    if (!ptx_counts(&b.text, &turns) || (!turns && !is_small(&b, r->first, g)))
        return 1;
    uint32_t most = TIMING_TOGETHER / r->n, copies = turns ? turns : COPIES;
    if (!g->unroll_insts || most < 2 || copies < 2)
        return 1;
    mark(t, &b, r->first);
    return copies < most ? copies : most;
}
