#include "engine/ptx/facts/counted.h"

#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#define HOPS  4u          /* copies of registers between two turns */
#define TURNS 1000u       /* of a loop that is unrolled wholly */
#define LARGE (1ll << 40) /* constants beyond it are no counts */

uint32_t ptx_writers(const struct ptx_body *b, uint32_t reg, uint32_t *which)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->n; i++)
        if (ptx_writes_reg(&b->inst[i], reg)) {
            *which = i;
            n++;
        }
    return n;
}

static bool is_reg(const struct ptx_operand *o)
{
    return o->kind == OPND_REG && o->comp < 0;
}

/* A constant that counts may use, so that nothing made of a few of them overflows; 0: a larger one. */
static int64_t constant(int64_t v)
{
    return v > -LARGE && v < LARGE ? v : 0;
}

int64_t ptx_turn_step(const struct ptx_body *b, uint32_t reg, uint32_t *start)
{
    int64_t step = 0;
    uint32_t at = 0, from = reg;
    for (uint32_t hop = 0; hop < HOPS; hop++) {
        const struct ptx_operand *base;
        int64_t more;
        if (ptx_writers(b, from, &at) != 1 || !ptx_offset_of(&b->inst[at], &base, &more) ||
            !is_reg(base))
            return 0;
        step += constant(more);
        *start = from = base->index;
        if (from == reg)
            return step;
    }
    return 0;
}

static bool stays(const struct ptx_body *b, const struct ptx_operand *o)
{
    uint32_t at;
    return o->kind == OPND_IMM || (is_reg(o) && !ptx_writers(b, o->index, &at));
}

/* The one constant that reg has before the loop. */
static bool begins_with(const struct ptx_body *b, uint32_t reg, int64_t *value)
{
    uint32_t n = 0;
    for (const struct ptx_inst *i = b->f->insts; i < b->f->insts + b->f->ninsts; i++) {
        if ((i >= b->inst && i < b->inst + b->n) || !ptx_writes_reg(i, reg))
            continue;
        const struct ptx_operand *o = ptx_copied(i);
        if (!o || !ptx_is_number(o))
            return false;
        *value = constant(o->imm);
        n++;
    }
    return n == 1;
}

/* Turns, where the count begins and ends with constants; 0: not known. */
static uint32_t turns_of(const struct ptx_body *b, uint32_t start, const struct ptx_operand *end,
                         int64_t step)
{
    int64_t from;
    if (end->kind != OPND_IMM || !begins_with(b, start, &from))
        return 0;
    int64_t span = constant(end->imm) - from,
            turns = step > 0 ? (span + step - 1) / step : (span + step + 1) / step;
    return turns > 0 && turns <= TURNS ? (uint32_t)turns : 0;
}

static bool is_turn(const struct ptx_body *b)
{
    const struct ptx_inst *last = &b->inst[b->n - 1];
    const struct ptx_operand *to = last->nopnds ? &last->opnds[last->nopnds - 1] : NULL;
    return b->n > 1 && ptx_is(last, IS_JUMP) && to && to->kind == OPND_LABEL && last->guarded &&
           b->f->insts + b->f->labels[to->index].inst == b->inst && !b->inst->nounroll;
}

bool ptx_counts(const struct ptx_body *b, uint32_t *turns)
{
    uint32_t at = 0, start = 0;
    struct ptx_comparison test;
    *turns = 0;
    if (!is_turn(b) || ptx_writers(b, b->inst[b->n - 1].guard, &at) != 1 ||
        !ptx_comparison_of(&b->inst[at], &test))
        return false;
    for (unsigned k = 0; k < 2; k++) {
        const struct ptx_operand *count = k ? test.b : test.a, *end = k ? test.a : test.b;
        int64_t step = is_reg(count) && stays(b, end) ? ptx_turn_step(b, count->index, &start) : 0;
        if (!step)
            continue;
        uint32_t in = 0;
        if (ptx_writers(b, count->index, &in) == 1 && ptx_copied(&b->inst[in]))
            start = count->index;
        *turns = turns_of(b, start, end, step);
        return true;
    }
    return false;
}
