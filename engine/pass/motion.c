/* How a register moves with a variable: bytes per step of %tid.x or of an induction register. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

enum { BUDGET = 384 }; /* definitions looked at, at most */

/* ---- how an address moves with a variable: %tid.x or an induction register ---- */
enum { ASSUME_MAX = 8 };
struct motion {
    const struct pass_flow *fl;
    uint32_t var; /* register, or PTX_NO_INDEX for %tid.x */
    unsigned budget;
    /* registers with several definitions */
    struct {
        uint32_t reg;
        int64_t k;
        bool known;
    } assume[ASSUME_MAX];
    uint32_t nassume;
};

static bool motion_reg(struct motion *m, uint32_t reg, int64_t *k);

static bool motion_operand(struct motion *m, const struct ptx_operand *o, int64_t *k)
{
    *k = 0;
    if (o->kind == OPND_IMM || o->kind == OPND_SYM)
        return true;
    if (o->kind == OPND_SREG) {
        *k = m->var == PTX_NO_INDEX && o->index == PTX_SREG_TID && o->comp == 0;
        return o->index != PTX_SREG_LANEID || m->var != PTX_NO_INDEX;
    }
    return o->kind == OPND_REG && motion_reg(m, o->index, k);
}

/* Value of an operand that is an immediate, or a register that only ever holds one. */
static bool constant(const struct motion *m, const struct ptx_operand *o, int64_t *v)
{
    *v = o->imm;
    if (o->kind == OPND_IMM && !o->is_float)
        return true;
    if (o->kind != OPND_REG || m->fl->cfg->regs[o->index].ndefs != 1)
        return false;
    const struct ptx_inst *d = &m->fl->f->insts[m->fl->cfg->regs[o->index].defs[0]];
    *v = d->nopnds == 2 ? d->opnds[1].imm : 0;
    return inst_is(d, "mov") && d->nopnds == 2 && d->opnds[1].kind == OPND_IMM && !d->opnds[1].is_float;
}

static bool motion_product(struct motion *m, const struct ptx_operand *a, const struct ptx_operand *b,
                           bool shift, int64_t *k)
{
    int64_t ka, kb, c;
    if (!motion_operand(m, a, &ka) || !motion_operand(m, b, &kb))
        return false;
    *k = 0;
    if (!ka && !kb)
        return true;
    if (!kb && constant(m, b, &c) && (!shift || (c >= 0 && c < 32))) {
        *k = shift ? ka * ((int64_t)1 << c) : ka * c;
        return true;
    }
    if (!ka && !shift && constant(m, a, &c)) {
        *k = kb * c;
        return true;
    }
    return false;
}

/* An operation on fewer than 32 bits comes back to where it began after a few steps. */
static bool is_narrow(const struct ptx_inst *d)
{
    for (uint8_t n = 0; n < d->ntypes; n++)
        if (ptx_type_bits((enum ptx_type)d->type[n]) < 32)
            return true;
    return false;
}

static bool motion_wide(struct motion *m, const struct ptx_inst *d, int64_t *k)
{
    const struct ptx_op_info *info = ptx_op_info(d->op);
    const struct ptx_operand *o = d->opnds;
    int64_t other = 0;
    *k = 0;
    if (d->guarded || d->nopnds < 2 || o[0].kind != OPND_REG)
        return false;
    switch (info->addr) {
    case ADDR_COPY:
    case ADDR_CVTA:
    case ADDR_CVT: return motion_operand(m, &o[1], k);
    case ADDR_ADD:
    case ADDR_SUB:
        if (d->nopnds < 3 || !motion_operand(m, &o[1], k) || !motion_operand(m, &o[2], &other))
            return false;
        *k += info->addr == ADDR_ADD ? other : -other;
        return true;
    case ADDR_MUL_LO:
    case ADDR_MUL_WIDE:
    case ADDR_SHL: return d->nopnds >= 3 && motion_product(m, &o[1], &o[2], info->addr == ADDR_SHL, k);
    case ADDR_MAD_LO:
    case ADDR_MAD_WIDE:
        if (d->nopnds < 4 || !motion_product(m, &o[1], &o[2], false, k) ||
            !motion_operand(m, &o[3], &other))
            return false;
        *k += other;
        return true;
    case ADDR_LOAD: return pass_own_param(m->fl->f, d);
    default: /* unknown unless nothing it reads moves */
        for (uint8_t n = 1; n < d->nopnds; n++)
            if (!motion_operand(m, &o[n], &other) || other)
                return false;
        return inst_effect(d) == EFFECT_NONE && info->addr != ADDR_UNKNOWN;
    }
}

static bool motion_def(struct motion *m, const struct ptx_inst *d, int64_t *k)
{
    return motion_wide(m, d, k) && (!*k || !is_narrow(d));
}

/* A register with several definitions moves as the one it starts from does; the others, which may go
 * round a loop and read the register itself, must agree with that. */
static bool motion_reg(struct motion *m, uint32_t reg, int64_t *k)
{
    const struct ptx_reg_refs *x = &m->fl->cfg->regs[reg];
    *k = m->var == reg;
    if (m->var == reg)
        return true;
    for (uint32_t n = 0; n < m->nassume; n++)
        if (m->assume[n].reg == reg) {
            *k = m->assume[n].k;
            return m->assume[n].known;
        }
    if (!x->ndefs || !m->budget || m->nassume == ASSUME_MAX)
        return false;
    m->budget--;
    if (x->ndefs == 1)
        return motion_def(m, &m->fl->f->insts[x->defs[0]], k);
    uint32_t own = m->nassume++, first = 0;
    m->assume[own].reg = reg;
    m->assume[own].known = false;
    while (first < x->ndefs && !motion_def(m, &m->fl->f->insts[x->defs[first]], k))
        first++;
    bool ok = first < x->ndefs;
    m->assume[own].k = *k;
    m->assume[own].known = ok;
    for (uint32_t n = 0; n < x->ndefs && ok; n++) {
        int64_t one;
        ok = motion_def(m, &m->fl->f->insts[x->defs[n]], &one) && one == m->assume[own].k;
    }
    *k = m->assume[own].k;
    m->nassume = own;
    return ok;
}

bool pass_motion(const struct pass_flow *fl, uint32_t reg, uint32_t var, int64_t *k)
{
    struct motion m = { .fl = fl, .var = var, .budget = BUDGET };
    return motion_reg(&m, reg, k);
}
