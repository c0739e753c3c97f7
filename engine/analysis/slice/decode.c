/* Instructions to slice ops. Anything that has no row here is "not modelled":
 * the caller then marks what depends on it, it is never guessed. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

/* ---- rows ---- */
static uint32_t const_row(struct slice *s, struct slice_func *f, uint64_t v)
{
    for (uint32_t i = 0; i < f->nconsts; i++)
        if (f->consts[i].v == v)
            return f->consts[i].row;
    if (!base_grow((void **)&f->consts, f->nconsts, &f->cap_consts, sizeof *f->consts)) {
        s->status = ST_NOMEM;
        return 0;
    }
    f->consts[f->nconsts++] = (struct slice_const){ f->nrows, v };
    return f->nrows++;
}
static uint32_t sreg_row(struct slice *s, struct slice_func *f, uint32_t sreg, int comp)
{
    for (uint32_t i = 0; i < f->nsregs; i++)
        if (f->sregs[i].sreg == sreg && f->sregs[i].comp == comp)
            return f->sregs[i].row;
    if (!base_grow((void **)&f->sregs, f->nsregs, &f->cap_sregs, sizeof *f->sregs)) {
        s->status = ST_NOMEM;
        return 0;
    }
    f->sregs[f->nsregs++] = (struct slice_sreg){ f->nrows, (uint16_t)sreg, (int8_t)comp };
    return f->nrows++;
}
static uint64_t immediate(const struct ptx_operand *o, unsigned bits)
{
    if (o->is_float && o->fbits == 64 && bits == 32) {
        double v;
        float w;
        uint32_t u;
        memcpy(&v, &o->imm, 8);
        w = (float)v;
        memcpy(&u, &w, 4);
        return u;
    }
    if (o->is_float && o->fbits == 32 && bits == 64) {
        float w;
        double v;
        uint32_t u = (uint32_t)o->imm;
        uint64_t r;
        memcpy(&w, &u, 4);
        v = w;
        memcpy(&r, &v, 8);
        return r;
    }
    return bits >= 64 ? (uint64_t)o->imm : (uint64_t)o->imm & ((UINT64_C(1) << bits) - 1);
}
static bool source(struct slice *s, struct slice_func *f, const struct ptx_operand *o, unsigned bits,
                   uint32_t *row)
{
    uint64_t addr;
    switch (o->kind) {
    case OPND_REG:
        if (o->comp >= 0 || f->func->regs[o->index].vec > 1)
            return false;
        *row = f->row[o->index];
        return *row != SL_NONE;
    case OPND_IMM: *row = const_row(s, f, immediate(o, bits)); return true;
    case OPND_SREG: *row = sreg_row(s, f, o->index, o->comp); return true;
    case OPND_SYM:
        if (!o->sym || o->sym->kind != SYM_VAR || !env_symbol(s->v, o->sym, &addr))
            return false;
        *row = const_row(s, f, addr + (uint64_t)o->imm);
        return true;
    default: return false;
    }
}
static bool dest(struct slice_func *f, const struct ptx_operand *o, uint32_t *row)
{
    *row = SL_NONE;
    if (o->kind == OPND_SINK)
        return true;
    if (o->kind != OPND_REG || o->comp >= 0 || f->func->regs[o->index].vec > 1)
        return false;
    *row = f->row[o->index];
    return true;
}
static struct slice_op *emit(struct slice *s, struct slice_func *f, const struct ptx_inst *i, int code)
{
    if (!base_grow((void **)&f->op, f->nops, &f->cap, sizeof *f->op)) {
        s->status = ST_NOMEM;
        return &s->spare;
    }
    struct slice_op *o = &f->op[f->nops++];
    enum ptx_type t = i->ntypes ? (enum ptx_type)i->type[0] : PTX_T_B32;
    *o = (struct slice_op){ .code = (uint8_t)code,
                            .bits = (uint8_t)(ptx_type_bits(t) > 64 ? 64 : ptx_type_bits(t)),
                            .sign = ptx_type_kind(t) == 's',
                            .guarded = i->guarded,
                            .guard_neg = i->guard_neg,
                            .inst = i->index,
                            .line = i->at.line,
                            .site = -1,
                            .d = SL_NONE,
                            .d2 = SL_NONE,
                            .target = SL_NONE };
    if (i->guarded)
        o->guard = f->row[i->guard];
    return o;
}
static void wire(struct slice_op *o, uint32_t d, uint32_t a, uint32_t b, uint32_t c)
{
    o->d = d;
    o->a = a;
    o->b = b;
    o->c = c;
}
static uint32_t list_row(struct slice *s, uint32_t row)
{
    if (!base_grow((void **)&s->rows, s->nrows, &s->cap_rows, sizeof *s->rows)) {
        s->status = ST_NOMEM;
        return 0;
    }
    s->rows[s->nrows] = row;
    return s->nrows++;
}

/* ---- arithmetic: op id -> code for integer and for float types ---- */
static const struct {
    uint16_t op;
    uint8_t ints, floats, nsrc;
} alu[] = {
    { PTX_OP_ADD, SL_ADD, SL_FADD, 2 },
    { PTX_OP_SUB, SL_SUB, SL_FSUB, 2 },
    { PTX_OP_MUL, 0, SL_FMUL, 2 },
    { PTX_OP_MUL_LO, SL_MUL, 0, 2 },
    { PTX_OP_MUL_HI, SL_MULHI, 0, 2 },
    { PTX_OP_MUL_WIDE, SL_MULWIDE, 0, 2 },
    { PTX_OP_MAD, 0, SL_FMA, 3 },
    { PTX_OP_FMA, 0, SL_FMA, 3 },
    { PTX_OP_MAD_LO, SL_MAD, 0, 3 },
    { PTX_OP_MAD_HI, SL_MADHI, 0, 3 },
    { PTX_OP_MAD_WIDE, SL_MADWIDE, 0, 3 },
    { PTX_OP_DIV, SL_DIV, SL_FDIV, 2 },
    { PTX_OP_REM, SL_REM, 0, 2 },
    { PTX_OP_ABS, SL_ABS, SL_FABS, 1 },
    { PTX_OP_NEG, SL_NEG, SL_FNEG, 1 },
    { PTX_OP_MIN, SL_MIN, SL_FMIN, 2 },
    { PTX_OP_MAX, SL_MAX, SL_FMAX, 2 },
    { PTX_OP_AND, SL_AND, 0, 2 },
    { PTX_OP_OR, SL_OR, 0, 2 },
    { PTX_OP_XOR, SL_XOR, 0, 2 },
    { PTX_OP_NOT, SL_NOT, 0, 1 },
    { PTX_OP_CNOT, SL_CNOT, 0, 1 },
    { PTX_OP_SHL, SL_SHL, 0, 2 },
    { PTX_OP_SHR, SL_SHR, 0, 2 },
    { PTX_OP_SELP, SL_SELP, SL_SELP, 3 },
    { PTX_OP_SLCT, SL_SLCT, SL_SLCT, 3 },
    { PTX_OP_BFE, SL_BFE, 0, 3 },
    { PTX_OP_BFI, SL_BFI, 0, 4 },
    { PTX_OP_LOP3, SL_LOP3, 0, 3 },
    { PTX_OP_SHF_L, SL_SHFL_L, 0, 3 },
    { PTX_OP_SHF_R, SL_SHFL_R, 0, 3 },
    { PTX_OP_PRMT, SL_PRMT, 0, 3 },
    { PTX_OP_POPC, SL_POPC, 0, 1 },
    { PTX_OP_CLZ, SL_CLZ, 0, 1 },
    { PTX_OP_BFIND, SL_BFIND, 0, 1 },
    { PTX_OP_BREV, SL_BREV, 0, 1 },
    { PTX_OP_SAD, SL_SAD, 0, 3 },
    { PTX_OP_SQRT, 0, SL_FSQRT, 1 },
    { PTX_OP_RCP, 0, SL_FRCP, 1 },
    { PTX_OP_RSQRT, 0, SL_FRSQRT, 1 },
    { PTX_OP_SIN, 0, SL_FSIN, 1 },
    { PTX_OP_COS, 0, SL_FCOS, 1 },
    { PTX_OP_LG2, 0, SL_FLG2, 1 },
    { PTX_OP_EX2, 0, SL_FEX2, 1 },
    { PTX_OP_COPYSIGN, 0, SL_FCOPYSIGN, 2 },
};
/* Width of source k where it is not the operation's. */
static unsigned source_bits(const struct ptx_inst *i, unsigned k, unsigned bits)
{
    switch (i->op) {
    case PTX_OP_SHL:
    case PTX_OP_SHR: return k == 1 ? 32 : bits;
    case PTX_OP_BFE: return k ? 32 : bits;
    case PTX_OP_BFI: return k > 1 ? 32 : bits;
    case PTX_OP_MAD_WIDE: return k == 2 ? bits * 2 : bits;
    default: return bits;
    }
}
/* Modifiers whose results are not modelled: directed rounding, saturation, ways of NaNs and signs, modes
 * of prmt. */
static bool plain_result(const struct ptx_inst *i)
{
    static const uint16_t others[] = { PTX_MOD_SAT, PTX_MOD_NAN_FLAG, PTX_MOD_XORSIGN, PTX_MOD_RELU,
                                       PTX_MOD_F4E, PTX_MOD_B4E,      PTX_MOD_RC8,     PTX_MOD_ECL,
                                       PTX_MOD_ECR, PTX_MOD_RC16 };
    enum ptx_mod round = ptx_mod_of(i, MODCAT_ROUND);
    for (size_t k = 0; k < ARRAY_LEN(others); k++)
        if (ptx_has_mod(i, (enum ptx_mod)others[k]))
            return false;
    return round != PTX_MOD_RZ && round != PTX_MOD_RM && round != PTX_MOD_RP;
}
static bool decode_alu(struct slice *s, struct slice_func *f, const struct ptx_inst *i, unsigned row)
{
    enum ptx_type t = i->ntypes ? (enum ptx_type)i->type[0] : PTX_T_B32;
    unsigned bits = ptx_type_bits(t);
    bool fl = t == PTX_T_F32 || t == PTX_T_F64;
    char kind = ptx_type_kind(t);
    uint8_t code = fl ? alu[row].floats : alu[row].ints;
    if (!code || (!fl && kind != 'b' && kind != 'u' && kind != 's' && kind != 'p') || bits > 64 ||
        !plain_result(i) || i->nopnds < alu[row].nsrc + 1u)
        return false;
    if ((i->op == PTX_OP_MIN || i->op == PTX_OP_MAX) && i->nopnds > 3)
        return false;
    uint32_t src[4] = { 0 }, d;
    if (!dest(f, &i->opnds[0], &d))
        return false;
    for (unsigned k = 0; k < alu[row].nsrc; k++)
        if (!source(s, f, &i->opnds[k + 1], i->op == PTX_OP_SELP && k == 2 ? 1 : source_bits(i, k, bits),
                    &src[k]))
            return false;
    struct slice_op *o = emit(s, f, i, code);
    wire(o, d, src[0], src[1], src[2]);
    o->e = src[3];
    o->ftz = ptx_has_mod(i, PTX_MOD_FTZ);
    if (i->op == PTX_OP_LOP3)
        o->imm = i->nopnds > 4 ? i->opnds[4].imm : 0;
    if (i->op == PTX_OP_SELP)
        o->flag = i->opnds[3].neg;
    if (i->op == PTX_OP_SHF_L || i->op == PTX_OP_SHF_R)
        o->flag = ptx_has_mod(i, PTX_MOD_WRAP);
    if (i->op == PTX_OP_BFIND)
        o->flag = ptx_has_mod(i, PTX_MOD_SHIFTAMT);
    if (i->op == PTX_OP_SLCT && i->ntypes > 1 && i->type[1] == PTX_T_F32)
        o->code = SL_FSLCT;
    if ((i->op == PTX_OP_AND || i->op == PTX_OP_OR || i->op == PTX_OP_XOR || i->op == PTX_OP_NOT) &&
        t == PTX_T_PRED)
        o->bits = 1;
    return true;
}
static bool decode_setp(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    enum ptx_type t = (enum ptx_type)i->type[0];
    bool fl = t == PTX_T_F32 || t == PTX_T_F64;
    char kind = ptx_type_kind(t);
    if (i->op != PTX_OP_SETP || (!fl && kind != 'b' && kind != 'u' && kind != 's'))
        return false;
    unsigned nd = i->nopnds > 3 && (ptx_operand_access(i, 1) & PTX_WRITE) ? 2 : 1;
    uint32_t d = SL_NONE, d2 = SL_NONE, a, b, c = 0;
    enum ptx_mod bo = ptx_mod_of(i, MODCAT_BOOL);
    if (!dest(f, &i->opnds[0], &d) || (nd == 2 && !dest(f, &i->opnds[1], &d2)) || i->nopnds < nd + 2 ||
        !source(s, f, &i->opnds[nd], ptx_type_bits(t), &a) ||
        !source(s, f, &i->opnds[nd + 1], ptx_type_bits(t), &b))
        return false;
    if (bo != PTX_MOD_NONE && (i->nopnds < nd + 3 || !source(s, f, &i->opnds[nd + 2], 1, &c)))
        return false;
    struct slice_op *o = emit(s, f, i, fl ? SL_FSETP : SL_SETP);
    wire(o, d, a, b, c);
    o->d2 = d2;
    o->mode = (uint16_t)ptx_mod_of(i, MODCAT_CMP);
    o->mode2 = (uint16_t)bo;
    o->flag = bo != PTX_MOD_NONE && i->opnds[nd + 2].neg;
    o->ftz = ptx_has_mod(i, PTX_MOD_FTZ);
    return true;
}
static bool numeric(enum ptx_type t, bool *fl)
{
    char k = ptx_type_kind(t);
    *fl = t == PTX_T_F32 || t == PTX_T_F64;
    return *fl || k == 'b' || k == 'u' || k == 's';
}
static bool decode_cvt(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    bool to_f, from_f;
    uint32_t d, a;
    if (i->ntypes < 2 || i->nopnds != 2 || !numeric((enum ptx_type)i->type[0], &to_f) ||
        !numeric((enum ptx_type)i->type[1], &from_f) || !plain_result(i) || !dest(f, &i->opnds[0], &d) ||
        !source(s, f, &i->opnds[1], ptx_type_bits((enum ptx_type)i->type[1]), &a))
        return false;
    struct slice_op *o = emit(s, f, i, SL_CVT);
    wire(o, d, a, 0, 0);
    o->ftz = ptx_has_mod(i, PTX_MOD_FTZ);
    o->flag = to_f;
    o->flag2 = from_f;
    o->bits2 = (uint8_t)ptx_type_bits((enum ptx_type)i->type[1]);
    o->sign2 = ptx_type_kind((enum ptx_type)i->type[1]) == 's';
    o->mode = (uint16_t)ptx_mod_of(i, MODCAT_ROUND);
    /* a narrow signed result fills a wider register with its sign */
    if (!to_f && o->sign && i->opnds[0].kind == OPND_REG) {
        unsigned rb = ptx_type_bits((enum ptx_type)f->func->regs[i->opnds[0].index].type);
        if (rb > o->bits && d != SL_NONE) {
            unsigned narrow = o->bits;
            struct slice_op *w = emit(s, f, i, SL_CVT);
            w->d = w->a = d;
            w->bits = (uint8_t)rb;
            w->bits2 = (uint8_t)narrow;
            w->sign2 = true;
        }
    }
    return true;
}
static bool decode_mov(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *d = &i->opnds[0], *a = &i->opnds[1];
    unsigned bits = ptx_type_bits((enum ptx_type)i->type[0]);
    uint32_t rd, ra;
    if (bits > 64)
        return false;
    if (d->kind == OPND_VEC) {
        if (!d->nelem || !source(s, f, a, bits, &ra))
            return false;
        unsigned part = bits / d->nelem;
        for (unsigned k = 0; k < d->nelem; k++) {
            if (!dest(f, &d->elem[k], &rd))
                return false;
            struct slice_op *o = emit(s, f, i, SL_PIECE);
            o->bits = (uint8_t)part;
            o->imm = part * k;
            wire(o, rd, ra, 0, 0);
        }
        return true;
    }
    if (!dest(f, d, &rd))
        return false;
    if (a->kind == OPND_VEC) {
        if (!a->nelem || rd == SL_NONE)
            return rd == SL_NONE;
        unsigned part = bits / a->nelem;
        /* through a row of its own: the destination may be among the sources */
        uint32_t tmp = f->nrows++;
        for (unsigned k = 0; k < a->nelem; k++) {
            if (!source(s, f, &a->elem[k], part, &ra))
                return false;
            struct slice_op *o = emit(s, f, i, k ? SL_JOIN : SL_MOV);
            o->bits = (uint8_t)(k ? bits : part);
            o->imm = part * k;
            wire(o, tmp, ra, tmp, 0);
        }
        struct slice_op *o = emit(s, f, i, SL_MOV);
        o->bits = (uint8_t)bits;
        wire(o, rd, tmp, 0, 0);
        return true;
    }
    if (!source(s, f, a, bits, &ra))
        return false;
    struct slice_op *o = emit(s, f, i, SL_MOV);
    wire(o, rd, ra, 0, 0);
    return true;
}
static bool decode_cvta(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t d, a;
    if (!dest(f, &i->opnds[0], &d) ||
        !source(s, f, &i->opnds[1], ptx_type_bits((enum ptx_type)i->type[0]), &a))
        return false;
    struct slice_op *o = emit(s, f, i, i->op == PTX_OP_CVTA ? SL_CVTA : SL_CVTA_TO);
    uint64_t window = i->space == PTX_SPACE_SHARED  ? ENV_SHARED
                      : i->space == PTX_SPACE_LOCAL ? ENV_LOCAL
                      : i->space == PTX_SPACE_PARAM ? ENV_PARAM
                                                    : 0;
    o->imm = (int64_t)window;
    wire(o, d, a, 0, 0);
    return true;
}

/* ---- memory ---- */
static bool address(struct slice *s, struct slice_func *f, const struct ptx_operand *m, uint32_t *row,
                    int64_t *off)
{
    uint64_t addr;
    if (m->kind != OPND_ADDR)
        return false;
    *off = m->imm;
    switch (m->base) {
    case BASE_REG: *row = f->row[m->index]; return *row != SL_NONE;
    case BASE_SYM:
        if (!m->sym || !env_symbol(s->v, m->sym, &addr))
            return false;
        *row = const_row(s, f, addr);
        return true;
    default: *row = const_row(s, f, 0); return true;
    }
}
static unsigned reg_bits(const struct slice_func *f, const struct ptx_operand *o)
{
    unsigned b = o->kind == OPND_REG ? ptx_type_bits((enum ptx_type)f->func->regs[o->index].type) : 64;
    return b > 64 ? 64 : b;
}
static bool data_rows(struct slice *s, struct slice_func *f, const struct ptx_operand *v, unsigned bits,
                      bool write, uint32_t *first, uint8_t *n, uint8_t *rb)
{
    unsigned k = v->kind == OPND_VEC ? v->nelem : 1;
    *first = s->nrows;
    *n = (uint8_t)k;
    *rb = 64;
    for (unsigned j = 0; j < k; j++) {
        const struct ptx_operand *e = v->kind == OPND_VEC ? &v->elem[j] : v;
        uint32_t row = SL_NONE;
        if (write ? !dest(f, e, &row) : !source(s, f, e, bits, &row))
            return false;
        if (write && e->kind == OPND_REG)
            *rb = (uint8_t)reg_bits(f, e);
        list_row(s, row);
    }
    return true;
}
static unsigned element_bits(const struct ptx_inst *i)
{
    return i->ntypes ? ptx_type_bits((enum ptx_type)i->type[i->ntypes - 1]) : 32;
}
static bool plain(const struct slice_func *f, const struct ptx_inst *i, const struct ptx_operand *m,
                  const struct ptx_operand *v, bool load, struct slice *s)
{
    /* [cell]: a register in disguise */
    uint32_t first, n;
    unsigned bits = element_bits(i), nv = v->kind == OPND_VEC ? v->nelem : 1;
    struct slice_func *w = (struct slice_func *)(uintptr_t)f;
    if (m->base != BASE_SYM || !m->sym ||
        !eval_cell_range(f->func, m->sym, m->imm, bits / 8 * nv, &first, &n) || bits > 64)
        return false;
    for (unsigned j = 0; j < nv; j++) {
        const struct ptx_operand *e = v->kind == OPND_VEC ? &v->elem[j] : v;
        uint32_t cell = f->row[first + j * (bits / 8) / 4], reg;
        if (load ? !dest(w, e, &reg) : !source(s, w, e, bits, &reg))
            continue;
        struct slice_op *o = emit(s, w, i, load ? SL_CVT : SL_MOV);
        wire(o, load ? reg : cell, load ? cell : reg, 0, 0);
        o->bits2 = (uint8_t)bits;
        o->sign2 = ptx_type_kind((enum ptx_type)i->type[i->ntypes - 1]) == 's';
        o->bits = load ? (uint8_t)reg_bits(w, e) : (uint8_t)bits;
    }
    return true;
}
static bool decode_load(struct slice *s, struct slice_func *f, const struct ptx_inst *i, bool want_value)
{
    unsigned bits = element_bits(i);
    uint32_t row;
    int64_t off;
    if (plain(f, i, &i->opnds[1], &i->opnds[0], true, s))
        return true;
    if ((want_value && bits > 64) || !address(s, f, &i->opnds[1], &row, &off))
        return false;
    uint32_t first = 0;
    uint8_t n = (uint8_t)(i->vec ? i->vec : 1), rb = 64;
    if (want_value && !data_rows(s, f, &i->opnds[0], bits, true, &first, &n, &rb))
        return false;
    struct slice_op *o = emit(s, f, i, want_value ? SL_LD : SL_TOUCH);
    o->a = row;
    o->imm = off;
    o->list = first;
    o->n = n;
    o->bits = (uint8_t)bits;
    o->bits2 = rb;
    o->bytes = (uint8_t)(bits / 8 ? bits / 8 : 1);
    o->sign = ptx_type_kind((enum ptx_type)i->type[i->ntypes - 1]) == 's';
    o->space = i->op == PTX_OP_LDU ? PTX_SPACE_GLOBAL : i->space;
    return true;
}
static bool decode_prefetch(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t row;
    int64_t off;
    if (!i->nopnds || i->opnds[0].kind != OPND_ADDR)
        return true;
    if (!address(s, f, &i->opnds[0], &row, &off))
        return false;
    struct slice_op *o = emit(s, f, i, SL_TOUCH);
    o->a = row;
    o->imm = off;
    o->bytes = 1;
    o->space = i->space;
    return true;
}
static bool decode_store(struct slice *s, struct slice_func *f, const struct ptx_inst *i, bool effect)
{
    unsigned bits = element_bits(i);
    uint32_t row, first = 0;
    int64_t off;
    uint8_t n = (uint8_t)(i->vec ? i->vec : 1), rb;
    if (plain(f, i, &i->opnds[0], &i->opnds[1], false, s))
        return true;
    if ((effect && bits > 64) || !address(s, f, &i->opnds[0], &row, &off))
        return false;
    if (effect && !data_rows(s, f, &i->opnds[1], bits, false, &first, &n, &rb))
        return false;
    struct slice_op *o = emit(s, f, i, effect ? SL_ST : SL_TOUCH);
    o->a = row;
    o->imm = off;
    o->list = first;
    o->n = n;
    o->bits = (uint8_t)bits;
    o->bytes = (uint8_t)(bits / 8 ? bits / 8 : 1);
    o->space = i->space;
    return true;
}
static bool decode_atomic(struct slice *s, struct slice_func *f, const struct ptx_inst *i, bool effect)
{
    unsigned bits = element_bits(i), at = i->op == PTX_OP_ATOM ? 1 : 0;
    uint32_t row, d = SL_NONE, b = 0, c = 0;
    int64_t off;
    enum ptx_type t = i->ntypes ? (enum ptx_type)i->type[0] : PTX_T_B32;
    bool fl = t == PTX_T_F32 || t == PTX_T_F64;
    if (bits > 64 || i->vec > 1 || !address(s, f, &i->opnds[at], &row, &off))
        return false;
    if (effect) {
        if ((!fl && ptx_type_kind(t) == 'f') || ptx_type_kind(t) == 'x' ||
            (at && !dest(f, &i->opnds[0], &d)) || !source(s, f, &i->opnds[at + 1], bits, &b))
            return false;
        if (ptx_mod_of(i, MODCAT_ATOM) == PTX_MOD_CAS && !source(s, f, &i->opnds[at + 2], bits, &c))
            return false;
    }
    struct slice_op *o = emit(s, f, i, effect ? SL_ATOM : SL_TOUCH);
    wire(o, d, row, b, c);
    o->imm = off;
    o->n = 1;
    o->flag = fl;
    o->bytes = (uint8_t)(bits / 8);
    o->space = i->space;
    enum ptx_mod m = ptx_mod_of(i, MODCAT_ATOM), bo = ptx_mod_of(i, MODCAT_BOOL);
    o->mode = (uint16_t)(m != PTX_MOD_NONE ? m : bo);
    return true;
}
static bool copied(struct slice *s, struct slice_func *f, const struct ptx_operand *m, uint32_t *row,
                   int64_t *off)
{
    *off = 0;
    if (!(m->kind == OPND_ADDR ? address(s, f, m, row, off) : source(s, f, m, 64, row)))
        return false;
    bool named = m->kind == OPND_SYM || (m->kind == OPND_ADDR && m->base == BASE_SYM);
    *off += named && m->sym->space == PTX_SPACE_PARAM ? (int64_t)ENV_PARAM : 0;
    return true;
}
/* Which bytes of global memory it moves; what it brings into shared memory is not followed. */
static bool decode_copy(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    struct bulk b;
    uint32_t row, src, first = s->nrows;
    int64_t off;
    if (!bulk_parts(i, &b))
        return !f->needed[f->nvars + i->index];
    if (!b.followed || (b.kind != BULK_PREFETCH && f->needed[f->nvars + i->index]) ||
        !copied(s, f, b.global, &row, &off))
        return false;
    for (unsigned k = 0; k < b.nvalues; k++) {
        if (!source(s, f, &b.value[k], 32, &src))
            return false;
        list_row(s, src);
    }
    struct slice_op *o = emit(s, f, i, SL_COPY);
    wire(o, SL_NONE, row, 0, 0);
    o->imm = off;
    o->list = first;
    o->n = b.nvalues;
    o->flag = b.tensor;
    o->flag2 = b.rows;
    o->space = PTX_SPACE_GENERIC;
    return true;
}
static bool decode_async(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t to, from;
    int64_t off_to, off_from;
    if (i->op == PTX_OP_CP_ASYNC_BULK || i->op == PTX_OP_CP_REDUCE_ASYNC_BULK ||
        i->op == PTX_OP_CP_ASYNC_BULK_TENSOR || i->op == PTX_OP_CP_REDUCE_ASYNC_BULK_TENSOR)
        return decode_copy(s, f, i);
    if (i->op != PTX_OP_CP_ASYNC)
        return true; /* groups and waits: the copy is taken as done at once */
    const struct ptx_operand *some = i->nopnds > 3 ? &i->opnds[3] : NULL; /* bytes that it reads */
    uint32_t bytes = 0;
    if (i->nopnds < 3 || i->nopnds > 4 || i->opnds[2].kind != OPND_IMM ||
        (some && ((some->kind == OPND_REG && f->func->regs[some->index].type == PTX_T_PRED) ||
                  !source(s, f, some, 32, &bytes))) ||
        !address(s, f, &i->opnds[0], &to, &off_to) || !address(s, f, &i->opnds[1], &from, &off_from))
        return false;
    struct slice_op *o = emit(s, f, i, SL_ASYNC);
    wire(o, SL_NONE, from, to, bytes);
    o->flag = some != NULL;
    o->imm = off_from;
    o->list = (uint32_t)off_to;
    o->n = 1;
    o->bytes = (uint8_t)i->opnds[2].imm;
    o->space = PTX_SPACE_GLOBAL;
    return true;
}

/* An mbarrier's waits end at once: what they wait for comes at some time, and what was copied meanwhile
 * is not followed. */
static bool decode_mbarrier(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t d;
    bool waits = i->op == PTX_OP_MBARRIER_TEST_WAIT || i->op == PTX_OP_MBARRIER_TEST_WAIT_PARITY ||
                 i->op == PTX_OP_MBARRIER_TRY_WAIT || i->op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
    s->ends_waits |= waits;
    if (!i->nopnds || i->opnds[0].kind == OPND_ADDR || !dest(f, &i->opnds[0], &d) || d == SL_NONE)
        return true;
    wire(emit(s, f, i, SL_MOV), d, const_row(s, f, waits), 0, 0);
    return true;
}

/* ---- control, warp-wide ---- */
static bool decode_call(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    struct slice_func *g = slice_callee(s, i);
    struct eval_call c = eval_call_parts(i);
    if (!g)
        return false;
    uint32_t first = s->nrows, count = 0, formal = g->func->nregs, n, at;
    for (unsigned pass = 0; pass < 2; pass++) { /* arguments, then results: pairs (here, there) */
        const struct ptx_operand *v = pass ? c.ret : c.arg;
        unsigned nv = pass ? c.nret : c.narg, nf = pass ? g->func->nrets : g->func->nparams;
        for (unsigned k = 0; k < nv && k < nf; k++) {
            const struct ptx_symbol *p = pass ? g->func->rets[k] : g->func->params[k];
            if (!eval_cell_range(g->func, p, 0, (unsigned)p->bytes, &formal, &n))
                return false;
            for (uint32_t j = 0; j < n; j++) {
                uint32_t here = SL_NONE, m;
                if (v[k].kind == OPND_SYM && v[k].sym &&
                    eval_cell_range(f->func, v[k].sym, 0, (unsigned)v[k].sym->bytes, &at, &m) && j < m)
                    here = f->row[at + j];
                else if (v[k].kind == OPND_REG && j == 0)
                    here = f->row[v[k].index];
                if (here == SL_NONE)
                    continue;
                list_row(s, here | (pass ? UINT32_C(1) << 31 : 0));
                list_row(s, g->row[formal + j]);
                count++;
            }
        }
    }
    if (count > 255)
        return false;
    struct slice_op *o = emit(s, f, i, SL_CALL);
    o->target = (uint32_t)(g - s->f);
    o->list = first;
    o->n = (uint8_t)count;
    return true;
}
static bool decode_warp(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t d, d2 = SL_NONE, src[3] = { 0 };
    unsigned at = 1;
    if (!i->nopnds || !dest(f, &i->opnds[0], &d))
        return false;
    if (i->nopnds > 1 && (ptx_operand_access(i, 1) & PTX_WRITE)) {
        if (!dest(f, &i->opnds[1], &d2))
            return false;
        at = 2;
    }
    static const struct {
        uint16_t op;
        uint8_t code, nsrc;
    } rows[] = { { PTX_OP_SHFL, SL_SHUFFLE, 3 },      { PTX_OP_VOTE, SL_VOTE, 1 },
                 { PTX_OP_ACTIVEMASK, SL_ACTIVE, 0 }, { PTX_OP_MATCH, SL_MATCH, 1 },
                 { PTX_OP_REDUX, SL_REDUX, 1 },       { PTX_OP_ELECT, SL_ELECT, 0 } };
    for (size_t k = 0; k < ARRAY_LEN(rows); k++) {
        if (rows[k].op != i->op)
            continue;
        unsigned bits = i->op == PTX_OP_VOTE ? 1 : element_bits(i);
        for (unsigned j = 0; j < rows[k].nsrc; j++)
            if (i->nopnds <= at + j || !source(s, f, &i->opnds[at + j], j ? 32 : bits, &src[j]))
                return false;
        struct slice_op *o = emit(s, f, i, rows[k].code);
        wire(o, d, src[0], src[1], src[2]);
        o->d2 = d2;
        o->flag = rows[k].nsrc && i->opnds[at].neg;
        enum ptx_mod m = ptx_mod_of(i, MODCAT_ATOM), bo = ptx_mod_of(i, MODCAT_BOOL);
        o->mode = (uint16_t)(m != PTX_MOD_NONE ? m : bo);
        static const uint16_t words[] = { PTX_MOD_UP,  PTX_MOD_DOWN, PTX_MOD_BFLY, PTX_MOD_IDX,
                                          PTX_MOD_ALL, PTX_MOD_ANY,  PTX_MOD_UNI,  PTX_MOD_BALLOT };
        for (size_t w = 0; w < ARRAY_LEN(words); w++)
            if (ptx_has_mod(i, (enum ptx_mod)words[w]))
                o->mode2 = (uint16_t)(w + 1);
        return true;
    }
    return false;
}
static bool decode_barrier(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t d, p;
    switch (i->op) {
    case PTX_OP_BAR_SYNC:
    case PTX_OP_BAR_CTA_SYNC:
    case PTX_OP_BARRIER_SYNC:
    case PTX_OP_BARRIER_CTA_SYNC: emit(s, f, i, SL_BAR); return true;
    case PTX_OP_BAR_RED:
    case PTX_OP_BAR_CTA_RED:
    case PTX_OP_BARRIER_RED:
    case PTX_OP_BARRIER_CTA_RED: {
        const struct ptx_operand *last = &i->opnds[i->nopnds - 1];
        if (!dest(f, &i->opnds[0], &d) || !source(s, f, last, 1, &p))
            return false;
        struct slice_op *o = emit(s, f, i, SL_BARRED);
        wire(o, d, p, 0, 0);
        o->flag = last->neg;
        enum ptx_mod m = ptx_mod_of(i, MODCAT_ATOM), bo = ptx_mod_of(i, MODCAT_BOOL);
        o->mode = (uint16_t)(m != PTX_MOD_NONE ? m : bo);
        return true;
    }
    case PTX_OP_BAR_WARP_SYNC:
    case PTX_OP_BAR_ARRIVE:
    case PTX_OP_BAR_CTA_ARRIVE:
    case PTX_OP_BARRIER_ARRIVE:
    case PTX_OP_BARRIER_CTA_ARRIVE:
    case PTX_OP_CP_ASYNC_WAIT_GROUP:
    case PTX_OP_CP_ASYNC_WAIT_ALL:
    case PTX_OP_CP_ASYNC_BULK_WAIT_GROUP:
    case PTX_OP_WGMMA_WAIT_GROUP:
    case PTX_OP_BARRIER_CLUSTER_ARRIVE:
    case PTX_OP_BARRIER_CLUSTER_WAIT: return true;
    default:
        return i->op >= PTX_OP_MBARRIER_INIT && i->op <= PTX_OP_MBARRIER_TRY_WAIT_PARITY &&
               decode_mbarrier(s, f, i);
    }
}
static bool decode_control(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    if (i->op == PTX_OP_BRX_IDX) {
        uint32_t a;
        if (i->nopnds < 2 || i->opnds[1].kind != OPND_LABEL || !source(s, f, &i->opnds[0], 32, &a))
            return false;
        struct slice_op *o = emit(s, f, i, SL_BRX);
        o->a = a;
        o->list = i->opnds[1].index; /* label; its targets are resolved when run */
        return true;
    }
    emit(s, f, i, i->op == PTX_OP_BRA ? SL_BRA : i->op == PTX_OP_RET ? SL_RET : SL_EXIT);
    return true;
}

static bool writes_needed(const struct slice_func *f, const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        unsigned n = o->kind == OPND_VEC ? o->nelem : 1;
        for (unsigned j = 0; j < n; j++) {
            const struct ptx_operand *r = o->kind == OPND_VEC ? &o->elem[j] : o;
            if (r->kind == OPND_REG && (ptx_operand_access(i, k) & PTX_WRITE) && f->needed[r->index])
                return true;
        }
    }
    return false;
}
/* The row of alu[] for an operation; ARRAY_LEN(alu): there is none. */
static unsigned alu_row(unsigned op)
{
    unsigned r = 0;
    while (r < ARRAY_LEN(alu) && alu[r].op != op)
        r++;
    return r;
}

bool slice_computes(unsigned op)
{
    return op == PTX_OP_SETP || op == PTX_OP_CVT || op == PTX_OP_MOV || op == PTX_OP_CVTA ||
           op == PTX_OP_CVTA_TO || alu_row(op) < ARRAY_LEN(alu);
}

bool slice_decode(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    const struct ptx_op_info *info = ptx_op_info(i->op);
    switch (info->effect) {
    case EFFECT_LOAD:
        return (i->op == PTX_OP_LD || i->op == PTX_OP_LDU) && i->nopnds >= 2 &&
               decode_load(s, f, i, writes_needed(f, i));
    case EFFECT_STORE:
        return i->op == PTX_OP_ST && i->nopnds >= 2 &&
               decode_store(s, f, i, f->needed[f->nvars + i->index]);
    case EFFECT_ATOMIC:
        return (i->op == PTX_OP_ATOM || i->op == PTX_OP_RED) &&
               decode_atomic(s, f, i, f->needed[f->nvars + i->index]);
    case EFFECT_PREFETCH:
        return i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH || i->op == PTX_OP_CP_ASYNC_BULK_PREFETCH_TENSOR
                   ? decode_copy(s, f, i)
                   : decode_prefetch(s, f, i);
    case EFFECT_ASYNC_COPY: return decode_async(s, f, i);
    case EFFECT_BRANCH:
    case EFFECT_EXIT: return decode_control(s, f, i);
    case EFFECT_CALL: return decode_call(s, f, i);
    case EFFECT_BARRIER: return decode_barrier(s, f, i);
    case EFFECT_FENCE: return true;
    case EFFECT_WARP: return decode_warp(s, f, i);
    case EFFECT_NONE: break;
    default: return i->op == PTX_OP_NANOSLEEP || i->op == PTX_OP_PMEVENT;
    }
    switch (i->op) {
    case PTX_OP_SETP: return decode_setp(s, f, i);
    case PTX_OP_CVT: return decode_cvt(s, f, i);
    case PTX_OP_MOV: return decode_mov(s, f, i);
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO: return decode_cvta(s, f, i);
    default: break;
    }
    unsigned r = alu_row(i->op);
    return r < ARRAY_LEN(alu) && decode_alu(s, f, i, r);
}
