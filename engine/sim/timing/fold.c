/* What an assembler makes of addresses. A 64-bit addition is two machine instructions, the low half and,
 * by its carry, the high one; what only goes on adding waits for the low half alone. A product of 32-bit
 * numbers that is only added to something is one instruction with the addition (IMAD.WIDE), a shift by a
 * constant goes into both halves of it (LEA, LEA.HI.X). Shared memory is addressed by the low half. Seen
 * in what ptxas 13.0 makes for sm_90; latencies by rows of tests/gpu/micro.c ("chain.add.u64",
 * "chain.mad.wide.u32", "lat."). */
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"

#include <string.h>

enum { USED_OTHERWISE = 1, IS_PRODUCT = 2, IS_SHIFT = 4, IS_SUM = 8, MADE_OTHERWISE = 16 };

static bool is_wide_add(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    return (rule == ADDR_ADD || rule == ADDR_SUB) && ptx_type_bits((enum ptx_type)i->type[0]) == 64;
}

static uint8_t kind_of(const struct ptx_inst *i)
{
    if (i->guarded)
        return USED_OTHERWISE;
    if (is_wide_add(i))
        return IS_SUM;
    enum ptx_addr_rule rule = ptx_rule_of(i);
    if (rule == ADDR_MUL_WIDE && ptx_type_bits((enum ptx_type)i->type[0]) == 32)
        return IS_PRODUCT;
    bool shift = rule == ADDR_SHL && ptx_type_bits((enum ptx_type)i->type[0]) == 64 &&
                 ptx_is_number(&i->opnds[2]);
    return shift ? IS_SHIFT : USED_OTHERWISE;
}

static void note_registers(const struct exec_inst *in, uint8_t *reg)
{
    uint8_t kind = kind_of(in->ptx);
    for (uint32_t k = 0; k < in->ndst; k++)
        reg[in->regs[k]] |= kind == USED_OTHERWISE ? MADE_OTHERWISE : kind;
    bool adds = kind == IS_SUM && ptx_rule_of(in->ptx) == ADDR_ADD;
    for (uint32_t k = in->ndst; !adds && k < (uint32_t)in->ndst + in->nsrc; k++)
        reg[in->regs[k]] |= USED_OTHERWISE;
}

/* Every instruction that writes the register is of kind `what`, and every one that reads it adds.
 * (A cloned body writes it again.) */
static bool is_only(uint8_t reg, uint8_t what)
{
    return reg == what;
}

static bool needs_low_half(const struct exec_inst *in)
{
    bool memory = in->kind == EXEC_MEM;
    return is_wide_add(in->ptx) ||
           (memory && (in->space == PTX_SPACE_SHARED || in->space == PTX_SPACE_CONST));
}

/* A sum: one instruction with a product, its halves coming together; two with a shift or alone. */
static void cost_sum(struct timing_op *o, const struct exec_inst *in, const uint8_t *reg,
                     const struct sim_preset *g)
{
    bool product = false;
    for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++)
        product |= is_only(reg[in->regs[k]], IS_PRODUCT);
    o->latency = (uint16_t)g->lat_alu;
    if (!product || ptx_rule_of(in->ptx) != ADDR_ADD)
        return;
    o->unit = UNIT_IMUL;
    o->slots = 1;
    o->busy = (uint16_t)((WARP_LANES * g->schedulers + g->lanes_imul - 1) / g->lanes_imul);
    o->latency = (uint16_t)(g->lat_imul + g->wide_product_more);
}

static void fold_function(struct timing_plan *t, const struct exec_func *f, uint8_t *reg,
                          const struct sim_preset *g)
{
    const struct exec_inst *code = t->p->code;
    memset(reg, 0, f->nregs + 1);
    for (uint32_t i = f->first; i < f->first + f->n; i++)
        note_registers(&code[i], reg);
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        uint8_t kind = kind_of(code[i].ptx), late = 0;
        enum ptx_addr_rule rule = ptx_rule_of(code[i].ptx);
        if (t->op[i].flags & TIMING_FREE)
            continue;
        if (rule == ADDR_MUL_WIDE || rule == ADDR_MAD_WIDE)
            t->op[i].latency = (uint16_t)(g->lat_imul + g->wide_product_more);
        if (kind == IS_SUM)
            cost_sum(&t->op[i], &code[i], reg, g);
        if ((kind == IS_PRODUCT || kind == IS_SHIFT) && is_only(reg[code[i].regs[0]], kind))
            t->op[i].flags |= TIMING_FREE;
        for (uint32_t k = code[i].ndst; k < (uint32_t)code[i].ndst + code[i].nsrc; k++)
            if (reg[code[i].regs[k]] & IS_SUM)
                late = (uint8_t)g->wide_high_late;
        if (!needs_low_half(&code[i]) && t->op[i].late < late)
            t->op[i].late = late;
    }
}

void timing_fold(struct timing_plan *t, const struct sim_preset *g)
{
    uint32_t most = 0;
    if (!g->wide_sums_fold)
        return;
    for (uint32_t k = 0; k < t->p->nfuncs; k++)
        most = t->p->funcs[k].nregs > most ? t->p->funcs[k].nregs : most;
    uint8_t *reg = ARENA_ARRAY(t->arena, uint8_t, most + 1);
    for (uint32_t k = 0; reg && k < t->p->nfuncs; k++)
        fold_function(t, &t->p->funcs[k], reg, g);
}
