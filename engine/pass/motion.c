/* How a register moves with a variable: bytes per step of %tid.x or of an induction register. */
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

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
        unsigned sees = ptx_sreg_sees((enum ptx_sreg)o->index);
        bool threads = m->var == PTX_NO_INDEX;
        *k = threads && o->index == PTX_SREG_TID && o->comp == 0;
        return !(sees & PTX_SEES_TIME) && !(threads && sees & (PTX_SEES_WARP | PTX_SEES_PLACE));
    }
    return o->kind == OPND_REG && motion_reg(m, o->index, k);
}

/* Value of an operand that is a number, or a register that only ever holds one. */
static bool constant(const struct motion *m, const struct ptx_operand *o, int64_t *v)
{
    if (o->kind == OPND_REG && m->fl->cfg->regs[o->index].ndefs == 1) {
        const struct ptx_operand *from =
            ptx_copied(&m->fl->f->insts[m->fl->cfg->regs[o->index].defs[0]]);
        o = from && !o->neg ? from : o;
    }
    *v = o->imm;
    return ptx_is_number(o);
}

static bool motion_term(struct motion *m, const struct ptx_term *t, int64_t *k)
{
    int64_t ka, kb = 0, c = 1;
    if (!motion_operand(m, t->a, &ka) || (t->b && !motion_operand(m, t->b, &kb)))
        return false;
    *k = 0;
    if (!ka && !kb)
        return true;
    if (ka && kb)
        return false;
    if (t->b && !constant(m, ka ? t->b : t->a, &c))
        return false;
    if (t->shift && (kb || c < 0 || c > 31))
        return false;
    *k = base_wrap_mul(ka + kb, t->shift ? (int64_t)1 << c : c);
    return true;
}

/* Nothing it reads moves, and the same operands give the same result. */
static bool stands_still(struct motion *m, const struct ptx_inst *d)
{
    int64_t k;
    for (uint8_t n = 0; n < d->nopnds; n++) {
        const struct ptx_operand *o = &d->opnds[n];
        bool read = o->kind != OPND_REG || (ptx_operand_access(d, n) & PTX_READ);
        if (read && (!motion_operand(m, o, &k) || k))
            return false;
    }
    return ptx_is_pure(d);
}

static bool motion_def(struct motion *m, const struct ptx_inst *d, int64_t *k)
{
    struct ptx_sum s;
    int64_t one;
    *k = 0;
    if (d->guarded || d->nopnds < 2 || d->opnds[0].kind != OPND_REG)
        return false;
    if (ptx_rule_of(d) == ADDR_LOAD)
        return pass_own_param(m->fl->f, d);
    if (!ptx_sum_of(d, &s))
        return stands_still(m, d);
    for (uint8_t n = 0; n < s.n; n++) {
        if (!motion_term(m, &s.term[n], &one))
            return false;
        *k = base_wrap_add(*k, s.term[n].minus ? base_wrap_mul(one, -1) : one);
    }
    return true;
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
