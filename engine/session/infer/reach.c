/* Where a value goes: into addresses and what is stored, or into comparisons alone. */
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/infer/shape.h"
#include <string.h>

enum { ANY_INDEX = -1, NO_INDEX = -2, ANY_PART = -3 };
/* Registers that a value goes into; comp: component of the index it is, ANY_PART: all of them, ANY_INDEX:
 * every one of the thread's and the CTA's. */
struct marks {
    const struct ptx_func *f;
    enum ptx_sreg index;
    int comp;
    bool *reg;
    bool stays;       /* what is loaded is another value */
    const bool *ends; /* registers that are something else; NULL: none */
};

/* Registers of the operand, also those inside lists, are among the marked. */
static bool any_marked(const struct ptx_operand *o, const bool *marked)
{
    if (o->kind == OPND_VEC || o->kind == OPND_MULTI) {
        for (unsigned k = 0; k < o->nelem; k++)
            if (any_marked(&o->elem[k], marked))
                return true;
        return false;
    }
    return (o->kind == OPND_REG || (o->kind == OPND_ADDR && o->base == BASE_REG)) && marked[o->index];
}

static bool is_source(const struct marks *m, const struct ptx_operand *o)
{
    if (o->kind != OPND_SREG || m->comp == NO_INDEX)
        return false;
    return m->comp == ANY_INDEX ? o->index == PTX_SREG_TID || o->index == PTX_SREG_CTAID ||
                                      o->index == PTX_SREG_LANEID || o->index == PTX_SREG_WARPID
                                : o->index == m->index && (m->comp == ANY_PART || o->comp == m->comp);
}

/* What instruction i makes is marked where what it reads is; true: one more register is. */
static bool mark_result(struct marks *m, const struct ptx_inst *i)
{
    bool reads = false, more = false;
    if (m->stays && ptx_effect_of(i) == EFFECT_LOAD)
        return false;
    for (unsigned k = 1; k < i->nopnds; k++)
        reads |= is_source(m, &i->opnds[k]) || any_marked(&i->opnds[k], m->reg);
    const struct ptx_operand *d = &i->opnds[0];
    for (unsigned k = 0; reads && k < (d->kind == OPND_VEC ? d->nelem : 1u); k++) {
        const struct ptx_operand *o = d->kind == OPND_VEC ? &d->elem[k] : d;
        if (o->kind != OPND_REG || m->f->regs[o->index].type == PTX_T_PRED || m->reg[o->index] ||
            (m->ends && m->ends[o->index]))
            continue;
        m->reg[o->index] = more = true;
    }
    return more;
}

static void mark_step(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct marks *m = ctx;
    if (m->f->insts[inst].nopnds && mark_result(m, &m->f->insts[inst]))
        ptx_ask_all(s);
}

static bool follow_marks(struct marks *m)
{
    return ptx_solve(m->f->ninsts, PTX_FORWARD, mark_step, m);
}

/* Marked registers are an address, or go where no register is: a store, a call, a texture. */
static bool leaves(const struct ptx_inst *i, const bool *marked)
{
    bool made = i->nopnds && (i->opnds[0].kind == OPND_REG || i->opnds[0].kind == OPND_VEC);
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if ((!made || o->kind == OPND_ADDR || o->kind == OPND_MULTI) && any_marked(o, marked))
            return true;
    }
    return false;
}

static bool any_leaves(const struct marks *m)
{
    bool found = false;
    for (uint32_t k = 0; k < m->f->ninsts && !found; k++)
        found = leaves(&m->f->insts[k], m->reg);
    return found;
}

int infer_reaches_memory(const struct ptx_func *f, enum ptx_sreg index, int comp)
{
    struct marks m = { f, index, comp, base_alloc(f->nregs + 1), false, NULL };
    if (!m.reg)
        return -1;
    int found = follow_marks(&m) ? any_leaves(&m) : -1;
    base_free(m.reg);
    return found;
}

/* What is compared with a marked register is marked, too; false: it is an index. */
static bool mark_counters(struct marks *m, const bool *indexed)
{
    bool counts = false;
    for (uint32_t k = 0; k < m->f->ninsts; k++) {
        const struct ptx_inst *i = &m->f->insts[k];
        const struct ptx_operand *x, *y;
        bool compares = ptx_compared(i, &x, &y);
        for (unsigned n = 0; compares && n < 2; n++) {
            const struct ptx_operand *a = n ? y : x, *b = n ? x : y;
            if (a->kind != OPND_REG || !m->reg[a->index] || b->kind != OPND_REG || m->reg[b->index])
                continue;
            if (indexed[b->index])
                return false;
            m->reg[b->index] = counts = true;
        }
    }
    return counts;
}

int infer_counts_turns(const struct ptx_func *f, uint32_t reg)
{
    struct marks m = { f, PTX_SREG_TID, NO_INDEX, base_alloc(f->nregs + 1), false, NULL },
                 index = { f, PTX_SREG_TID, ANY_INDEX, base_alloc(f->nregs + 1), false, NULL };
    bool ok = m.reg && index.reg, turns = false;
    if (ok) {
        m.reg[reg] = true;
        ok = follow_marks(&m) && follow_marks(&index);
        turns = ok && !any_leaves(&m) && mark_counters(&m, index.reg);
        ok = ok && follow_marks(&m);
        turns = turns && !any_leaves(&m);
    }
    base_free(m.reg);
    base_free(index.reg);
    return ok ? turns : -1;
}

/* ---- what a value is compared with ---- */

/* Some instructions make it anew from itself, as loops do that count down. */
static bool counts_down(const struct ptx_func *f, uint32_t reg)
{
    unsigned makes = 0;
    for (uint32_t k = 0; k < f->ninsts; k++)
        makes += f->insts[k].nopnds && f->insts[k].opnds[0].kind == OPND_REG &&
                 f->insts[k].opnds[0].index == reg;
    return makes > 1;
}

static unsigned bound_of(const struct ptx_func *f, const bool *value, const bool *cta, const bool *index,
                         const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (a->kind != OPND_REG || !value[a->index])
        return 0;
    if (b->kind != OPND_REG)
        return counts_down(f, a->index) ? INFER_BOUNDS_TURNS : 0;
    return value[b->index]   ? 0
           : cta[b->index]   ? INFER_BOUNDS_CTAS
           : index[b->index] ? INFER_BOUNDS_THREADS
                             : INFER_BOUNDS_TURNS;
}

/* It multiplies what the CTA's index is part of (cta NULL: anything): the length of a row. */
static bool is_pitch(const struct ptx_inst *i, const bool *value, const bool *cta)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    if (rule != ADDR_MUL_LO && rule != ADDR_MUL_WIDE && rule != ADDR_MAD_LO && rule != ADDR_MAD_WIDE)
        return false;
    const struct ptx_operand *a = &i->opnds[1], *b = &i->opnds[2];
    return a->kind == OPND_REG && b->kind == OPND_REG &&
           ((value[a->index] && (!cta || cta[b->index])) ||
            (value[b->index] && (!cta || cta[a->index])));
}

static bool is_product(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    return (rule == ADDR_MUL_LO || rule == ADDR_MUL_WIDE) && i->opnds[1].kind == OPND_REG &&
           i->opnds[2].kind == OPND_REG;
}

/* The register holds a parameter, or a product of some. */
static bool of_params(const struct ptx_func *f, uint32_t reg, unsigned depth)
{
    const struct ptx_inst *maker = NULL;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        if (!i->nopnds || i->opnds[0].kind != OPND_REG || i->opnds[0].index != reg)
            continue;
        if (maker)
            return false;
        maker = i;
    }
    return maker && (ptx_is_param_load(maker) ||
                     (depth && is_product(maker) && of_params(f, maker->opnds[1].index, depth - 1) &&
                      of_params(f, maker->opnds[2].index, depth - 1)));
}

/* A row's length by which a thread's index is divided, or a side of what is counted along one axis. */
static unsigned is_side(const struct ptx_func *f, const struct ptx_inst *i, const bool *value,
                        const bool *thread)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    const struct ptx_operand *a = &i->opnds[1], *b = &i->opnds[2];
    if ((rule == ADDR_DIV || rule == ADDR_REM) && a->kind == OPND_REG && b->kind == OPND_REG)
        return thread[a->index] && value[b->index] ? INFER_BOUNDS_ROWS : 0;
    return is_product(i) && ((value[a->index] && of_params(f, b->index, 2)) ||
                             (value[b->index] && of_params(f, a->index, 2)))
               ? INFER_BOUNDS_FACTOR
               : 0;
}

/* Something that is no index is divided by it. */
static bool divides(const struct ptx_inst *i, const bool *value, const bool *index)
{
    const struct ptx_operand *a = &i->opnds[1], *b = &i->opnds[2];
    return ptx_rule_of(i) == ADDR_DIV && b->kind == OPND_REG && value[b->index] &&
           !(a->kind == OPND_REG && index[a->index]);
}

int infer_mode(const struct ptx_func *f, uint32_t reg, int64_t *v)
{
    struct marks value = { f, PTX_SREG_TID, NO_INDEX, base_alloc(f->nregs + 1), true, NULL };
    bool ok = value.reg, mode = false;
    if (ok) {
        value.reg[reg] = true;
        ok = follow_marks(&value);
        mode = ok && !any_leaves(&value);
    }
    bool any = false;
    for (uint32_t k = 0; ok && mode && k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        const struct ptx_operand *a, *b;
        if (!ptx_compared(i, &a, &b) || a->kind != OPND_REG || !value.reg[a->index])
            continue;
        bool equal = ptx_has_mod(i, PTX_MOD_EQ) || ptx_has_mod(i, PTX_MOD_NE);
        mode = equal && ptx_is_number(b);
        *v = any || !mode ? *v : b->imm;
        any = true;
    }
    base_free(value.reg);
    return !ok ? -1 : mode && any;
}

/* Of what nothing is compared with: a row's length where it multiplies something, an offset where it only
 * moves an address. */
static unsigned unbounded(struct marks *value)
{
    const struct ptx_func *f = value->f;
    bool multiplies = false, moves = false;
    value->ends = NULL;
    if (!follow_marks(value))
        return 0;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        multiplies |= is_pitch(i, value->reg, NULL);
        for (unsigned n = 0; n < i->nopnds; n++)
            moves |= i->opnds[n].kind == OPND_ADDR && i->opnds[n].base == BASE_REG &&
                     value->reg[i->opnds[n].index];
    }
    return !moves ? 0 : multiplies ? INFER_BOUNDS_PITCH : INFER_BOUNDS_OFFSET;
}

int infer_bounds(const struct ptx_func *f, uint32_t reg)
{
    struct marks value = { f, PTX_SREG_TID, NO_INDEX, base_alloc(f->nregs + 1), true, NULL },
                 cta = { f, PTX_SREG_CTAID, ANY_PART, base_alloc(f->nregs + 1), true, NULL },
                 index = { f, PTX_SREG_TID, ANY_INDEX, base_alloc(f->nregs + 1), true, NULL },
                 thread = { f, PTX_SREG_TID, ANY_PART, base_alloc(f->nregs + 1), true, NULL };
    int found = -1;
    bool parts = false, of_cta = false;
    if (value.reg && cta.reg && index.reg && thread.reg) {
        value.reg[reg] = true;
        value.ends = index.reg; /* an index that it is added to, or multiplied with, is an index */
        found =
            follow_marks(&cta) && follow_marks(&index) && follow_marks(&thread) && follow_marks(&value)
                ? 0
                : -1;
    }
    for (uint32_t k = 0; found >= 0 && k < f->ninsts; k++) {
        const struct ptx_operand *a, *b;
        if (ptx_compared(&f->insts[k], &a, &b))
            found |= (int)(bound_of(f, value.reg, cta.reg, index.reg, a, b) |
                           bound_of(f, value.reg, cta.reg, index.reg, b, a));
        if (is_pitch(&f->insts[k], value.reg, cta.reg)) {
            found |= INFER_BOUNDS_PITCH;
            of_cta |= !is_pitch(&f->insts[k], value.reg, thread.reg);
        }
        found |= (int)is_side(f, &f->insts[k], value.reg, thread.reg);
        parts |= divides(&f->insts[k], value.reg, index.reg);
    }
    if (parts && of_cta)
        found = INFER_BOUNDS_PARTS;
    if (found > 0 && !(found & INFER_BOUNDS_CTAS))
        found &= ~INFER_BOUNDS_FACTOR;
    found = found ? found : (int)unbounded(&value);
    base_free(value.reg);
    base_free(cta.reg);
    base_free(index.reg);
    base_free(thread.reg);
    return found;
}
