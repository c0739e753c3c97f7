/* Where a value goes: into addresses and what is stored, or into comparisons alone. */
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/infer/shape.h"
#include <string.h>

enum { ANY_INDEX = -1, NO_INDEX = -2 };
/* Registers that a value goes into; comp: component of the index it is, ANY_INDEX: every one of the
 * thread's and the CTA's. */
struct marks {
    const struct ptx_func *f;
    enum ptx_sreg index;
    int comp;
    bool *reg;
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
                                : o->index == m->index && o->comp == m->comp;
}

/* What instruction i makes is marked where what it reads is; true: one more register is. */
static bool mark_result(struct marks *m, const struct ptx_inst *i)
{
    bool reads = false, more = false;
    for (unsigned k = 1; k < i->nopnds; k++)
        reads |= is_source(m, &i->opnds[k]) || any_marked(&i->opnds[k], m->reg);
    const struct ptx_operand *d = &i->opnds[0];
    for (unsigned k = 0; reads && k < (d->kind == OPND_VEC ? d->nelem : 1u); k++) {
        const struct ptx_operand *o = d->kind == OPND_VEC ? &d->elem[k] : d;
        if (o->kind != OPND_REG || m->f->regs[o->index].type == PTX_T_PRED || m->reg[o->index])
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
    struct marks m = { f, index, comp, base_alloc(f->nregs + 1) };
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
    struct marks m = { f, PTX_SREG_TID, NO_INDEX, base_alloc(f->nregs + 1) },
                 index = { f, PTX_SREG_TID, ANY_INDEX, base_alloc(f->nregs + 1) };
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
