/* Threads, memory, control. Threads of the CTA take turns: each runs until it ends, or waits at a
 * barrier or at a warp-wide operation for the others. */
#include "tests/ref/interp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCK 256u
#define MAX_REGS  256u
enum state { RUNS, AT_BARRIER, AT_WARP, ENDED };
struct thread {
    uint32_t pc, id;
    enum state state;
    bool carry;
    uint64_t reg[MAX_REGS];
    uint64_t steps;
};
struct interp {
    const struct interp_launch *l;
    const struct ptx_func *f;
    struct thread t[MAX_BLOCK];
    uint8_t shared[16384];
    char *why;
    size_t nwhy;
};

static bool fail(struct interp *in, const struct ptx_inst *i, const char *text)
{
    snprintf(in->why, in->nwhy, "line %u: %s", i->at.line, text);
    return false;
}

static bool is_float(enum ptx_type t)
{
    return ptx_type_kind(t) == 'f' || t == PTX_T_F16X2 || t == PTX_T_BF16X2;
}

/* ---- operands ---- */
static uint64_t shared_offset(const struct interp *in, const struct ptx_symbol *s)
{
    uint64_t at = 0;
    for (uint32_t k = 0; k < in->f->nvars; k++) {
        if (in->f->vars[k]->space != PTX_SPACE_SHARED)
            continue;
        uint64_t a = in->f->vars[k]->align ? in->f->vars[k]->align : 1;
        at = (at + a - 1) / a * a;
        if (in->f->vars[k] == s)
            return at;
        at += in->f->vars[k]->bytes;
    }
    return 0;
}

static uint64_t sreg(const struct interp *in, const struct thread *t, const struct ptx_operand *o)
{
    switch (o->index) {
    case PTX_SREG_TID: return o->comp <= 0 ? t->id : 0;
    case PTX_SREG_NTID: return o->comp <= 0 ? in->l->block : 1;
    case PTX_SREG_LANEID: return t->id % 32;
    case PTX_SREG_WARPID: return t->id / 32;
    case PTX_SREG_NCTAID: return 1;
    default: return 0;
    }
}

static uint64_t immediate(const struct ptx_operand *o, enum ptx_type t)
{
    if (!o->is_float)
        return (uint64_t)o->imm;
    double d;
    float f;
    uint32_t u = (uint32_t)o->imm;
    memcpy(&d, &o->imm, 8);
    memcpy(&f, &u, 4);
    if (o->fbits == 32)
        d = f;
    else
        f = (float)d;
    uint64_t r = 0;
    if (t == PTX_T_F64)
        memcpy(&r, &d, 8);
    else
        memcpy(&r, &f, 4);
    return r;
}

static uint64_t read_operand(const struct interp *in, const struct thread *t,
                             const struct ptx_operand *o, enum ptx_type type)
{
    switch (o->kind) {
    case OPND_REG: return o->neg ? !t->reg[o->index] : t->reg[o->index];
    case OPND_IMM: return immediate(o, type);
    case OPND_SREG: return sreg(in, t, o);
    case OPND_SYM: return shared_offset(in, o->sym) + (uint64_t)o->imm;
    default: return 0;
    }
}

static void write_reg(const struct interp *in, struct thread *t, const struct ptx_operand *o, uint64_t v)
{
    if (o->kind != OPND_REG)
        return;
    unsigned bits = ptx_type_bits(in->f->regs[o->index].type);
    t->reg[o->index] = bits >= 64 ? v : v & ((1ull << bits) - 1);
}

/* ---- memory ---- */
static uint8_t *place(struct interp *in, const struct thread *t, const struct ptx_inst *i,
                      const struct ptx_operand *o, unsigned bytes)
{
    uint64_t a = (uint64_t)o->imm;
    if (o->base == BASE_REG)
        a += t->reg[o->index];
    if (i->space == PTX_SPACE_PARAM)
        return (uint8_t *)in->l->params + o->sym->offset + o->imm;
    if (i->space == PTX_SPACE_SHARED) {
        if (o->base == BASE_SYM)
            a += shared_offset(in, o->sym);
        return a + bytes <= sizeof in->shared ? in->shared + a : NULL;
    }
    a -= in->l->base;
    return a < in->l->bytes && bytes <= in->l->bytes - a ? in->l->mem + a : NULL;
}

static bool load_store(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    bool load = i->op == PTX_OP_LD;
    const struct ptx_operand *v = &i->opnds[load ? 0 : 1], *e = v->kind == OPND_VEC ? v->elem : v;
    unsigned n = v->kind == OPND_VEC ? v->nelem : 1, bits = ptx_type_bits(i->type[0]), bytes = bits / 8;
    uint8_t *p = place(in, t, i, &i->opnds[load ? 1 : 0], bytes * n);
    if (!p)
        return fail(in, i, "address outside the buffer");
    uint64_t got[8] = { 0 };
    for (unsigned k = 0; k < n; k++)
        if (load)
            memcpy(&got[k], p + k * bytes, bytes);
        else
            memcpy(p + k * bytes, &(uint64_t){ read_operand(in, t, &e[k], i->type[0]) }, bytes);
    for (unsigned k = 0; load && k < n; k++) {
        if (ptx_type_kind(i->type[0]) == 's')
            got[k] = (uint64_t)((int64_t)(got[k] << (64 - bits)) >> (64 - bits));
        write_reg(in, t, &e[k], got[k]);
    }
    return true;
}

/* The sum of two floats as an atomic on global memory makes it: to nearest; of f32, without subnormals
 * (9.7.13.5). */
static uint64_t float_sum(const struct ptx_inst *i, uint64_t a, uint64_t b)
{
    struct ptx_inst add = { .op = PTX_OP_ADD, .type = { i->type[0] }, .ntypes = 1 };
    uint16_t ftz = PTX_MOD_FTZ;
    add.mods = &ftz;
    add.nmods = i->type[0] == PTX_T_F32;
    struct interp_op o = { .i = &add, .n = 2, .s = { a, b } };
    interp_float(&o);
    return o.d;
}

static bool atomic(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    unsigned first = i->op == PTX_OP_ATOM, bits = ptx_type_bits(i->type[0]), up = 64 - bits;
    uint8_t *p = place(in, t, i, &i->opnds[first], bits / 8);
    if (!p)
        return fail(in, i, "address outside the buffer");
    uint64_t old = 0, now, v = read_operand(in, t, &i->opnds[first + 1], i->type[0]) << up >> up;
    memcpy(&old, p, bits / 8);
    bool less = ptx_type_kind(i->type[0]) == 's' ? (int64_t)(v << up) < (int64_t)(old << up) : v < old;
    if (ptx_has_mod(i, PTX_MOD_ADD))
        now = is_float(i->type[0]) ? float_sum(i, old, v) : old + v;
    else if (ptx_has_mod(i, PTX_MOD_MIN))
        now = less ? v : old;
    else if (ptx_has_mod(i, PTX_MOD_MAX))
        now = less ? old : v;
    else if (ptx_has_mod(i, PTX_MOD_AND))
        now = old & v;
    else if (ptx_has_mod(i, PTX_MOD_OR))
        now = old | v;
    else if (ptx_has_mod(i, PTX_MOD_XOR))
        now = old ^ v;
    else if (ptx_has_mod(i, PTX_MOD_EXCH))
        now = v;
    else if (ptx_has_mod(i, PTX_MOD_INC))
        now = old >= v ? 0 : old + 1;
    else if (ptx_has_mod(i, PTX_MOD_DEC))
        now = old == 0 || old > v ? v : old - 1;
    else if (ptx_has_mod(i, PTX_MOD_CAS))
        now = old == v ? read_operand(in, t, &i->opnds[first + 2], i->type[0]) : old;
    else
        return fail(in, i, "atomic not known");
    memcpy(p, &now, bits / 8);
    if (first)
        write_reg(in, t, &i->opnds[0], old);
    return true;
}

/* ---- values ---- */
static enum ptx_type source_type(const struct ptx_inst *i, unsigned k)
{
    if (i->op == PTX_OP_CVT || i->op == PTX_OP_SET)
        return i->type[1];
    return k == 2 && i->op == PTX_OP_SLCT ? i->type[1] : i->type[0];
}

static bool mov(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    const struct ptx_operand *d = &i->opnds[0], *s = &i->opnds[1];
    if (d->kind == OPND_VEC || s->kind == OPND_VEC) {
        const struct ptx_operand *v = d->kind == OPND_VEC ? d : s;
        unsigned bits = ptx_type_bits(i->type[0]) / v->nelem;
        uint64_t whole = d->kind == OPND_VEC ? read_operand(in, t, s, i->type[0]) : 0;
        for (unsigned k = 0; k < v->nelem; k++) {
            if (d->kind == OPND_VEC)
                write_reg(in, t, &v->elem[k], whole >> k * bits & ((1ull << bits) - 1));
            else
                whole |= (read_operand(in, t, &v->elem[k], i->type[0]) & ((1ull << bits) - 1))
                         << k * bits;
        }
        if (s->kind == OPND_VEC)
            write_reg(in, t, d, whole);
        return true;
    }
    write_reg(in, t, d, read_operand(in, t, s, i->type[0]));
    return true;
}

static bool predicates(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    bool a = read_operand(in, t, &i->opnds[1], PTX_T_PRED),
         b = i->nopnds > 2 && read_operand(in, t, &i->opnds[2], PTX_T_PRED);
    bool r = i->op == PTX_OP_AND   ? a && b
             : i->op == PTX_OP_OR  ? a || b
             : i->op == PTX_OP_XOR ? a != b
             : i->op == PTX_OP_NOT ? !a
                                   : a;
    write_reg(in, t, &i->opnds[0], r);
    return true;
}

static bool combine(enum ptx_mod b, bool r, bool c)
{
    return b == PTX_MOD_AND ? r && c : b == PTX_MOD_OR ? r || c : b == PTX_MOD_XOR ? r != c : r;
}

/* What `set` writes where a comparison holds (9.7.6.1, 9.7.7.1). */
static uint64_t truth(enum ptx_type t)
{
    switch (t) {
    case PTX_T_F32: return 0x3f800000u;
    case PTX_T_F16:
    case PTX_T_F16X2: return 0x3c00;
    case PTX_T_BF16:
    case PTX_T_BF16X2: return 0x3f80;
    default: return 0xffffffffu;
    }
}

/* `set` of pairs, each half by itself. */
static bool compares_pair(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    uint64_t a = read_operand(in, t, &i->opnds[1], i->type[1]),
             b = read_operand(in, t, &i->opnds[2], i->type[1]), d = 0;
    bool c = i->nopnds > 3 && read_operand(in, t, &i->opnds[3], PTX_T_PRED);
    struct ptx_inst single = *i;
    single.type[1] = i->type[1] == PTX_T_F16X2 ? PTX_T_F16 : PTX_T_BF16;
    for (unsigned k = 0; k < 2; k++) {
        struct interp_op o = { .i = &single, .s = { a >> 16 * k & 0xffff, b >> 16 * k & 0xffff } };
        interp_compare(&o);
        d |= combine(ptx_mod_of(i, MODCAT_BOOL), o.p, c)
                 ? (i->type[0] == i->type[1] ? truth(i->type[0]) : 0xffff) << 16 * k
                 : 0;
    }
    write_reg(in, t, &i->opnds[0], d);
    return true;
}

static bool compares(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    unsigned first = i->op == PTX_OP_SETP && i->nopnds > 3 && i->opnds[1].kind == OPND_REG &&
                             in->f->regs[i->opnds[1].index].type == PTX_T_PRED
                         ? 2
                         : 1;
    enum ptx_type st = i->type[i->ntypes - 1];
    unsigned bits = ptx_type_bits(st);
    if (i->op == PTX_OP_SET && (st == PTX_T_F16X2 || st == PTX_T_BF16X2))
        return compares_pair(in, t, i);
    struct interp_op o = { .i = i,
                           .s = { read_operand(in, t, &i->opnds[first], st),
                                  read_operand(in, t, &i->opnds[first + 1], st) } };
    for (unsigned k = 0; k < 2; k++)
        o.s[k] = bits < 64 ? o.s[k] & ((1ull << bits) - 1) : o.s[k];
    interp_compare(&o);
    enum ptx_mod b = ptx_mod_of(i, MODCAT_BOOL);
    bool c = i->nopnds > first + 2 && read_operand(in, t, &i->opnds[first + 2], PTX_T_PRED);
    bool p = combine(b, o.p, c), q = combine(b, !o.p, c);
    if (i->op == PTX_OP_SET) {
        write_reg(in, t, &i->opnds[0], p ? truth(i->type[0]) : 0);
        return true;
    }
    write_reg(in, t, &i->opnds[0], p);
    if (first == 2)
        write_reg(in, t, &i->opnds[1], q);
    return true;
}

static bool selects(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    uint64_t a = read_operand(in, t, &i->opnds[1], i->type[0]),
             b = read_operand(in, t, &i->opnds[2], i->type[0]);
    uint64_t c = read_operand(in, t, &i->opnds[3], i->op == PTX_OP_SELP ? PTX_T_PRED : i->type[1]);
    bool first = i->op == PTX_OP_SELP ? c != 0 : false;
    if (i->op == PTX_OP_SLCT && i->type[1] == PTX_T_S32)
        first = (int32_t)c >= 0;
    if (i->op == PTX_OP_SLCT && i->type[1] == PTX_T_F32) {
        uint32_t u = (uint32_t)c &
                     (ptx_has_mod(i, PTX_MOD_FTZ) && !(c & 0x7f800000u) ? 0x80000000u : 0xffffffffu);
        first = (u & 0x7fffffffu) <= 0x7f800000u && (!(u >> 31) || u == 0x80000000u);
    }
    write_reg(in, t, &i->opnds[0], first ? a : b);
    return true;
}

static bool computes(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    struct interp_op o = { .i = i, .n = i->nopnds - 1u, .carry = t->carry };
    for (unsigned k = 0; k < o.n && k < 5; k++) {
        enum ptx_type st = source_type(i, k);
        unsigned reg = i->opnds[k + 1].kind == OPND_REG
                           ? ptx_type_bits(in->f->regs[i->opnds[k + 1].index].type)
                           : 64;
        unsigned bits = i->opnds[k + 1].kind == OPND_REG
                            ? reg
                            : ptx_type_bits(st) * (i->op == PTX_OP_MAD_WIDE && k == 2 ? 2 : 1);
        o.s[k] = read_operand(in, t, &i->opnds[k + 1], st);
        o.s[k] = bits < 64 ? o.s[k] & ((1ull << bits) - 1) : o.s[k];
    }
    bool ok;
    if (i->op == PTX_OP_CVT)
        ok = interp_convert(&o, ptx_type_bits(in->f->regs[i->opnds[0].index].type));
    else
        ok = is_float(i->type[0]) ? interp_float(&o) : interp_integer(&o);
    if (!ok)
        return fail(in, i, "operation not known");
    t->carry = o.carry;
    write_reg(in, t, &i->opnds[0], o.d);
    return true;
}

static bool executes(struct interp *in, struct thread *t, const struct ptx_inst *i)
{
    switch (i->op) {
    case PTX_OP_LD:
    case PTX_OP_ST: return load_store(in, t, i);
    case PTX_OP_RED:
    case PTX_OP_ATOM: return atomic(in, t, i);
    case PTX_OP_MOV: return i->type[0] == PTX_T_PRED ? predicates(in, t, i) : mov(in, t, i);
    case PTX_OP_CVTA_TO: return mov(in, t, i);
    case PTX_OP_MEMBAR: return true;
    case PTX_OP_SETP:
    case PTX_OP_SET: return compares(in, t, i);
    case PTX_OP_SELP:
    case PTX_OP_SLCT: return selects(in, t, i);
    case PTX_OP_AND:
    case PTX_OP_OR:
    case PTX_OP_XOR:
    case PTX_OP_NOT: return i->type[0] == PTX_T_PRED ? predicates(in, t, i) : computes(in, t, i);
    default: return computes(in, t, i);
    }
}

/* ---- warp-wide: the threads of `who` stand at the same instruction, which names them ---- */
#define WHO(k)                        \
    for (uint32_t k = 0; k < 32; k++) \
        if (who >> k & 1)

static uint32_t shuffled(const struct ptx_inst *i, uint32_t lane, uint32_t b, uint32_t c, bool *ok)
{
    uint32_t seg = c >> 8 & 31, most = (lane & seg) | (c & 31 & ~seg), j;
    b &= 31;
    if (ptx_has_mod(i, PTX_MOD_UP))
        j = lane - b, *ok = (int)j >= (int)most;
    else if (ptx_has_mod(i, PTX_MOD_DOWN))
        j = lane + b, *ok = j <= most;
    else if (ptx_has_mod(i, PTX_MOD_BFLY))
        j = lane ^ b, *ok = j <= most;
    else
        j = (lane & seg) | (b & ~seg), *ok = j <= most;
    return *ok ? j : lane;
}

static bool warp_shuffle(struct interp *in, struct thread *w, const struct ptx_inst *i, uint32_t who)
{
    unsigned pair = i->nopnds == 6;
    uint64_t v[32], r[32];
    bool ok[32];
    WHO(k) v[k] = read_operand(in, &w[k], &i->opnds[1 + pair], PTX_T_B32);
    WHO(k)
    {
        uint32_t from =
            shuffled(i, k, (uint32_t)read_operand(in, &w[k], &i->opnds[2 + pair], PTX_T_B32),
                     (uint32_t)read_operand(in, &w[k], &i->opnds[3 + pair], PTX_T_B32), &ok[k]);
        if (!(who >> from & 1))
            return false;
        r[k] = v[from];
    }
    WHO(k)
    {
        write_reg(in, &w[k], &i->opnds[0], r[k]);
        if (pair)
            write_reg(in, &w[k], &i->opnds[1], ok[k]);
    }
    return true;
}

static bool warp_vote(struct interp *in, struct thread *w, const struct ptx_inst *i, uint32_t who)
{
    uint32_t bits = 0;
    WHO(k) bits |= (uint32_t)(read_operand(in, &w[k], &i->opnds[1], PTX_T_PRED) != 0) << k;
    uint32_t r = ptx_has_mod(i, PTX_MOD_BALLOT) ? bits
                 : ptx_has_mod(i, PTX_MOD_ALL)  ? bits == who
                 : ptx_has_mod(i, PTX_MOD_ANY)  ? bits != 0
                                                : !bits || bits == who;
    WHO(k) write_reg(in, &w[k], &i->opnds[0], r);
    return true;
}

static bool warp_reduce(struct interp *in, struct thread *w, const struct ptx_inst *i, uint32_t who)
{
    uint32_t r = 0;
    bool s = i->type[0] == PTX_T_S32, any = false;
    WHO(k)
    {
        uint32_t v = (uint32_t)read_operand(in, &w[k], &i->opnds[1], PTX_T_B32);
        bool less = s ? (int32_t)v < (int32_t)r : v < r;
        if (!any)
            r = v;
        else if (ptx_has_mod(i, PTX_MOD_ADD))
            r += v;
        else if (ptx_has_mod(i, PTX_MOD_MIN))
            r = less ? v : r;
        else if (ptx_has_mod(i, PTX_MOD_MAX))
            r = less ? r : v;
        else if (ptx_has_mod(i, PTX_MOD_AND))
            r &= v;
        else if (ptx_has_mod(i, PTX_MOD_OR))
            r |= v;
        else
            r ^= v;
        any = true;
    }
    WHO(k) write_reg(in, &w[k], &i->opnds[0], r);
    return true;
}

static bool warp_match(struct interp *in, struct thread *w, const struct ptx_inst *i, uint32_t who)
{
    bool all = ptx_has_mod(i, PTX_MOD_ALL);
    unsigned pair = all && i->nopnds == 4;
    uint32_t mask[32] = { 0 };
    bool alike = true;
    WHO(k) WHO(j)
    {
        bool same = read_operand(in, &w[k], &i->opnds[1 + pair], i->type[0]) ==
                    read_operand(in, &w[j], &i->opnds[1 + pair], i->type[0]);
        mask[k] |= (uint32_t)same << j;
        alike &= same;
    }
    WHO(k)
    {
        write_reg(in, &w[k], &i->opnds[0], !all ? mask[k] : alike ? who : 0);
        if (pair)
            write_reg(in, &w[k], &i->opnds[1], alike);
    }
    return true;
}

static bool warp_wide(struct interp *in, struct thread *w, const struct ptx_inst *i, uint32_t who)
{
    switch (i->op) {
    case PTX_OP_SHFL: return warp_shuffle(in, w, i, who);
    case PTX_OP_VOTE: return warp_vote(in, w, i, who);
    case PTX_OP_REDUX: return warp_reduce(in, w, i, who);
    case PTX_OP_MATCH: return warp_match(in, w, i, who);
    default: return true; /* bar.warp.sync */
    }
}

/* ---- control ---- */
static bool thread_run(struct interp *in, struct thread *t)
{
    while (t->state == RUNS) {
        if (t->pc >= in->f->ninsts) {
            t->state = ENDED;
            return true;
        }
        const struct ptx_inst *i = &in->f->insts[t->pc];
        if (++t->steps > in->l->steps)
            return fail(in, i, "too many instructions");
        bool on = !i->guarded || (t->reg[i->guard] != 0) != i->guard_neg;
        if (!on) {
            t->pc++;
            continue;
        }
        switch (i->op) {
        case PTX_OP_BRA: t->pc = in->f->labels[i->opnds[0].index].inst; break;
        case PTX_OP_RET:
        case PTX_OP_EXIT: t->state = ENDED; break;
        case PTX_OP_BAR_SYNC: t->state = AT_BARRIER; break;
        case PTX_OP_SHFL:
        case PTX_OP_VOTE:
        case PTX_OP_REDUX:
        case PTX_OP_MATCH:
        case PTX_OP_BAR_WARP_SYNC: t->state = AT_WARP; break;
        case PTX_OP_BRX_IDX: {
            const struct ptx_label *l = &in->f->labels[i->opnds[1].index];
            uint64_t k = read_operand(in, t, &i->opnds[0], PTX_T_U32);
            if (k >= l->ntargets)
                return fail(in, i, "index past the list of targets");
            t->pc = in->f->labels[l->targets[k]].inst;
            break;
        }
        default:
            if (!executes(in, t, i))
                return false;
            t->pc++;
        }
    }
    return true;
}

/* The threads that the one at lane k of warp w waits for, when all of them stand beside it; else 0. */
static uint32_t gathered(const struct interp *in, const struct thread *w, uint32_t k)
{
    if (w[k].state != AT_WARP)
        return 0;
    const struct ptx_inst *i = &in->f->insts[w[k].pc];
    uint32_t who = (uint32_t)read_operand(in, &w[k], &i->opnds[i->nopnds - 1u], PTX_T_B32);
    WHO(j) if (w[j].state != AT_WARP || w[j].pc != w[k].pc) return 0;
    return who >> k & 1 ? who : 0;
}

static bool release_warps(struct interp *in, bool *moved)
{
    for (uint32_t b = 0; b < in->l->block; b += 32)
        for (uint32_t at = 0; at < 32; at++) {
            struct thread *w = &in->t[b];
            uint32_t who = gathered(in, w, at), pc = w[at].pc;
            if (!who)
                continue;
            if (!warp_wide(in, w, &in->f->insts[pc], who))
                return fail(in, &in->f->insts[pc], "warp-wide operation not known");
            WHO(k)
            {
                w[k].state = RUNS;
                w[k].pc++;
            }
            *moved = true;
        }
    return true;
}

static bool turn(struct interp *in, bool *moved, bool *over)
{
    uint32_t ended = 0, waiting = 0;
    *moved = false;
    for (uint32_t k = 0; k < in->l->block; k++) {
        *moved |= in->t[k].state == RUNS;
        if (!thread_run(in, &in->t[k]))
            return false;
        ended += in->t[k].state == ENDED;
        waiting += in->t[k].state == AT_BARRIER;
    }
    *over = ended == in->l->block;
    if (waiting && waiting + ended == in->l->block)
        for (uint32_t k = 0; k < in->l->block; k++)
            if (in->t[k].state == AT_BARRIER) {
                in->t[k].state = RUNS;
                in->t[k].pc++;
                *moved = true;
            }
    return release_warps(in, moved);
}

bool interp_run(const struct interp_launch *l, char *why, size_t n)
{
    struct interp *in = calloc(1, sizeof *in);
    bool ok = in && l->block <= MAX_BLOCK && l->block % 32 == 0 && l->kernel->nregs <= MAX_REGS,
         moved = true, over = false;
    snprintf(why, n, "launch or kernel too large");
    for (uint32_t k = 0; ok && k < l->block; k++)
        in->t[k].id = k;
    if (ok) {
        in->l = l;
        in->f = l->kernel;
        in->why = why;
        in->nwhy = n;
    }
    while (ok && moved && !over)
        ok = turn(in, &moved, &over);
    if (ok && !over) {
        snprintf(why, n, "threads wait for each other");
        ok = false;
    }
    free(in);
    return ok;
}
