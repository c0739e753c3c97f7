/* What one instruction does to the symbolic values: the address rule of its op
 * table row, applied to the operands. A row without a rule makes its result
 * unknown, with the instruction as the reason; so do floating-point types. */
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#define P(e) (&(e)->pool)

const char *eval_inst_text(struct eval *e, const struct ptx_func *f, const struct ptx_inst *i)
{
    (void)f;
    const char *t = i->ntypes ? ptx_type_name((enum ptx_type)i->type[0]) : NULL;
    struct str text = ptx_text(e->module, i->at);
    size_t n = 0;
    while (n < text.n && n < 40 && text.s[n] > ' ' && text.s[n] != '/' && text.s[n] != ';')
        n++;
    char *s = ptx_is_opaque(i) ? arena_printf(e->arena, "%.*s at line %u", (int)n, text.s, i->at.line)
                               : arena_printf(e->arena, "%s%s%s at line %u", ptx_op_info(i->op)->name,
                                              t ? "." : "", t ? t : "", i->at.line);
    return s ? s : "out of memory";
}
static struct symexpr_site *site_of(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                    const char *why)
{
    struct symexpr_site *s = ARENA_NEW(e->arena, struct symexpr_site);
    if (s)
        *s = (struct symexpr_site){ .func = f->func,
                                    .inst = i->index,
                                    .block = f->cfg->block_of[i->index],
                                    .frame = f,
                                    .why = why };
    return s;
}
const struct symexpr *eval_unknown(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                   unsigned bits, const char *why)
{
    const struct symexpr_site *s = site_of(e, f, i, why ? why : eval_inst_text(e, f->func, i));
    return symexpr_leaf(P(e), SYMEXPR_UNKNOWN, bits ? bits : 32, s, 0, false);
}

static unsigned access_bytes(const struct ptx_inst *i)
{
    unsigned b = i->ntypes ? ptx_type_bits((enum ptx_type)i->type[i->ntypes - 1]) / 8 : 0;
    return (b ? b : 1) * (i->vec ? i->vec : 1);
}
static unsigned elem_bytes(const struct ptx_inst *i)
{
    unsigned v = i->vec ? i->vec : 1;
    return access_bytes(i) / v;
}

/* ---- which variables an instruction writes ---- */
/* What a call gives back through `o`. */
static void ret_def(const struct eval_frame *f, const struct ptx_operand *o,
                    void (*set)(void *ctx, uint32_t var), void *ctx)
{
    uint32_t first, n;
    if (o->kind == OPND_SYM && o->sym &&
        eval_cell_range(f->func, o->sym, 0, (unsigned)o->sym->bytes, &first, &n))
        for (uint32_t k = 0; k < n; k++)
            set(ctx, first + k);
}
static void call_defs(const struct eval_frame *f, const struct ptx_inst *i,
                      void (*set)(void *ctx, uint32_t var), void *ctx)
{
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        bool list = o->kind == OPND_MULTI || o->kind == OPND_VEC;
        if (o->kind == OPND_SYM && o->sym && o->sym->kind != SYM_VAR)
            return;
        for (unsigned j = 0; j < (list ? o->nelem : k == 0); j++)
            ret_def(f, list ? &o->elem[j] : o, set, ctx);
    }
}
void eval_inst_defs(const struct eval_frame *f, const struct ptx_inst *i,
                    void (*set)(void *ctx, uint32_t var), void *ctx)
{
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        set(ctx, r.reg);
    uint32_t first, n;
    if (ptx_is_plain_store(i) && i->space == PTX_SPACE_PARAM && i->opnds[0].base == BASE_SYM &&
        eval_cell_range(f->func, i->opnds[0].sym, i->opnds[0].imm, access_bytes(i), &first, &n)) {
        if (first > f->func->nregs)
            set(ctx, first - 1); /* a 64-bit value that starts one cell before is cut */
        for (uint32_t k = 0; k < n; k++)
            set(ctx, first + k);
    } else if (ptx_effect_of(i) == EFFECT_CALL) {
        call_defs(f, i, set, ctx);
    }
}

/* ---- operands ---- */
static const struct symexpr *fit(struct eval *e, const struct symexpr *x, unsigned bits, bool sign)
{
    if (x->bits == bits)
        return x;
    return x->bits > bits ? symexpr_trunc(P(e), x, bits)
           : sign         ? symexpr_sext(P(e), x, bits)
                          : symexpr_zext(P(e), x, bits);
}
static const struct symexpr *sreg_value(struct eval *e, unsigned bits, uint32_t s, int comp)
{
    int64_t lo = 0, hi = bits >= 64 ? INT64_MAX : INT32_MAX;
    switch (s) {
    case PTX_SREG_TID: hi = comp == 2 ? 63 : 1023; break;
    case PTX_SREG_NTID:
        lo = 1;
        hi = comp == 2 ? 64 : 1024;
        break;
    case PTX_SREG_CTAID: hi = comp == 0 ? INT32_MAX - 1 : 65534; break;
    case PTX_SREG_NCTAID:
        lo = 1;
        hi = comp == 0 ? INT32_MAX : 65535;
        break;
    case PTX_SREG_LANEID: hi = 31; break;
    case PTX_SREG_WARPID:
    case PTX_SREG_NWARPID: hi = 63; break;
    case PTX_SREG_LANEMASK_EQ:
    case PTX_SREG_LANEMASK_LE:
    case PTX_SREG_LANEMASK_LT:
    case PTX_SREG_LANEMASK_GE:
    case PTX_SREG_LANEMASK_GT:
    case PTX_SREG_CLOCK: lo = INT32_MIN; break;
    default: lo = bits >= 64 ? INT64_MIN : INT32_MIN; break;
    }
    return symexpr_sreg(P(e), bits, (enum ptx_sreg)s, comp < 0 ? 0 : comp, lo, hi);
}
static unsigned reg_bits(const struct eval_frame *f, uint32_t r)
{
    unsigned b = ptx_type_bits((enum ptx_type)f->func->regs[r].type);
    return b && b <= 64 ? b : 64;
}
const struct symexpr *eval_value(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                 const struct ptx_operand *o, unsigned bits, bool sign)
{
    const struct symexpr *v = NULL;
    switch (o->kind) {
    case OPND_REG:
        if (o->comp >= 0 || f->func->regs[o->index].vec > 1)
            return eval_unknown(e, f, i, bits, "a vector register");
        v = f->cur[o->index];
        if (!v)
            return eval_unknown(e, f, i, bits, "a register read before it is set");
        if (o->neg)
            v = symexpr_not(P(e), v);
        break;
    case OPND_IMM:
        if (o->is_float)
            return eval_unknown(e, f, i, bits, "a floating-point value");
        return symexpr_const(P(e), bits, o->imm);
    case OPND_SREG: {
        static const uint8_t width[] = {
            [PTX_SREG_NONE] = 32,
#define SREG(id, name, b, vector, sees) [PTX_SREG_##id] = b,
#include "engine/ptx/sregs.def"
#undef SREG
        };
        v = sreg_value(e, width[o->index], o->index, o->comp);
        break;
    }
    case OPND_SYM:
        v = symexpr_add(P(e), symexpr_leaf(P(e), SYMEXPR_ADDR, bits < 32 ? 32 : bits, o->sym, 0, false),
                        symexpr_const(P(e), bits < 32 ? 32 : bits, o->imm));
        break;
    default: return eval_unknown(e, f, i, bits, NULL);
    }
    return fit(e, v, bits, sign);
}
/* [reg+off], [sym+off], [imm] */
static const struct symexpr *address(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                     const struct ptx_operand *o, unsigned bits)
{
    if (o->kind == OPND_MULTI && o->nelem)
        o = &o->elem[0];
    const struct symexpr *base;
    switch (o->base) {
    case BASE_REG:
        base = f->cur[o->index];
        base = base ? fit(e, base, bits, false)
                    : eval_unknown(e, f, i, bits, "a register read before it is set");
        break;
    case BASE_SYM: base = symexpr_leaf(P(e), SYMEXPR_ADDR, bits, o->sym, 0, false); break;
    case BASE_IMM: base = symexpr_const(P(e), bits, 0); break;
    default: return eval_unknown(e, f, i, bits, NULL);
    }
    return symexpr_add(P(e), base, symexpr_const(P(e), bits, o->imm));
}
const struct symexpr *eval_guard(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    if (!i->guarded)
        return NULL;
    const struct symexpr *g = f->cur[i->guard];
    if (!g)
        g = eval_unknown(e, f, i, 1, "a predicate read before it is set");
    return i->guard_neg ? symexpr_not(P(e), g) : g;
}
static void store_var(struct eval *e, struct eval_frame *f, const struct ptx_inst *i, uint32_t var,
                      const struct symexpr *v)
{
    const struct symexpr *g = eval_guard(e, f, i), *old = f->cur[var];
    if (g && old && v) { /* a guarded write keeps the old value where the guard is false */
        v = symexpr_select(P(e), g, v, fit(e, old, v->bits, false));
    }
    f->cur[var] = v;
}
void eval_write(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                const struct ptx_operand *o, const struct symexpr *v, bool sign)
{
    if (o->kind != OPND_REG)
        return;
    if (o->comp >= 0 || f->func->regs[o->index].vec > 1) {
        f->cur[o->index] = NULL;
        return;
    }
    store_var(e, f, i, o->index, fit(e, v, reg_bits(f, o->index), sign));
}

/* ---- arithmetic ---- */
struct args {
    const struct symexpr *a, *b, *c;
    unsigned bits;
    bool sign;
};

static const struct symexpr *widened(struct eval *e, const struct symexpr *x, bool sign)
{
    return sign ? symexpr_sext(P(e), x, x->bits * 2) : symexpr_zext(P(e), x, x->bits * 2);
}
static const struct symexpr *bfe(struct eval *e, const struct args *x)
{
    if (!symexpr_is_const(x->b) || !symexpr_is_const(x->c))
        return NULL;
    int64_t pos = x->b->c & 255, len = x->c->c & 255;
    if (!len || pos >= (int64_t)x->bits)
        return x->sign ? NULL : symexpr_const(P(e), x->bits, 0);
    if (pos + len > (int64_t)x->bits)
        len = (int64_t)x->bits - pos;
    unsigned n = (unsigned)len;
    if (x->sign) { /* shift the field to the top, then back down with its sign */
        const struct symexpr *up =
            symexpr_op2(P(e), AXO_SHL, x->a, symexpr_const(P(e), x->bits, (int64_t)x->bits - pos - len));
        return symexpr_op2(P(e), AXO_ASHR, up, symexpr_const(P(e), x->bits, (int64_t)x->bits - len));
    }
    const struct symexpr *down = symexpr_op2(P(e), AXO_LSHR, x->a, symexpr_const(P(e), x->bits, pos));
    return n >= x->bits ? down
                        : symexpr_op2(P(e), AXO_AND, down,
                                      symexpr_const(P(e), x->bits, (int64_t)((UINT64_C(1) << n) - 1)));
}
/* bfi a, b, pos, len: the low len bits of a replace those of b at pos. */
static const struct symexpr *bfi(struct eval *e, const struct args *x, const struct symexpr *len)
{
    if (!symexpr_is_const(x->c) || !symexpr_is_const(len))
        return NULL;
    uint64_t p = (uint64_t)x->c->c & 255, n = (uint64_t)len->c & 255;
    if (!n || p >= x->bits)
        return x->b;
    uint64_t low = n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
    const struct symexpr *field = symexpr_op2(
        P(e), AXO_SHL, symexpr_op2(P(e), AXO_AND, x->a, symexpr_const(P(e), x->bits, (int64_t)low)),
        symexpr_const(P(e), 32, (int64_t)p));
    const struct symexpr *rest =
        symexpr_op2(P(e), AXO_AND, x->b, symexpr_const(P(e), x->bits, (int64_t) ~(low << p)));
    return symexpr_op2(P(e), AXO_OR, rest, field);
}
/* The three-input function with truth table `lut`, from its minterms (section 9.7.8.6). */
static const struct symexpr *lop3(struct eval *e, const struct args *x, unsigned lut)
{
    const struct symexpr *in[3] = { x->a, x->b, x->c }, *minus = symexpr_const(P(e), x->bits, -1),
                         *r = symexpr_const(P(e), x->bits, 0);
    static const struct {
        uint8_t lut, op;
    } two[] = { { 0xc0, AXO_AND }, { 0xfc, AXO_OR }, { 0x3c, AXO_XOR } };
    for (size_t k = 0; k < ARRAY_LEN(two); k++)
        if (lut == two[k].lut)
            return symexpr_op2(P(e), (enum symexpr_op)two[k].op, x->a, x->b);
    if (lut == 0x80 || lut == 0xfe || lut == 0x96) {
        enum symexpr_op o = lut == 0x80 ? AXO_AND : lut == 0xfe ? AXO_OR : AXO_XOR;
        return symexpr_op2(P(e), o, symexpr_op2(P(e), o, x->a, x->b), x->c);
    }
    for (unsigned m = 0; m < 8; m++) {
        if (!(lut >> m & 1))
            continue;
        const struct symexpr *t = minus;
        for (int k = 0; k < 3; k++)
            t = symexpr_op2(P(e), AXO_AND, t,
                            m >> (2 - k) & 1 ? in[k] : symexpr_op2(P(e), AXO_XOR, in[k], minus));
        r = symexpr_op2(P(e), AXO_OR, r, t);
    }
    return r;
}
static const struct symexpr *shf(struct eval *e, const struct ptx_inst *i, const struct args *x,
                                 bool left)
{
    if (!symexpr_is_const(x->c))
        return NULL;
    uint64_t n = (uint64_t)x->c->c & 0xffffffffu;
    n = ptx_has_mod(i, PTX_MOD_WRAP) ? n & 31 : n > 32 ? 32 : n;
    if (n == 0 || n == 32)
        return left == (n == 0) ? x->b : x->a;
    const struct symexpr *hi =
        symexpr_op2(P(e), AXO_SHL, x->b, symexpr_const(P(e), 32, (int64_t)(left ? n : 32 - n)));
    const struct symexpr *lo =
        symexpr_op2(P(e), AXO_LSHR, x->a, symexpr_const(P(e), 32, (int64_t)(left ? 32 - n : n)));
    return symexpr_op2(P(e), AXO_OR, hi, lo);
}
/* Byte permutation with a constant selector that picks whole bytes (mode: none). */
static const struct symexpr *prmt(struct eval *e, const struct args *x)
{
    if (!symexpr_is_const(x->c))
        return NULL;
    const struct symexpr *r = symexpr_const(P(e), 32, 0);
    for (unsigned k = 0; k < 4; k++) {
        unsigned s = (unsigned)(x->c->c >> (4 * k)) & 15;
        if (s & 8)
            return NULL; /* sign replication */
        const struct symexpr *src = s < 4 ? x->a : x->b;
        const struct symexpr *byte = symexpr_op2(
            P(e), AXO_AND, symexpr_op2(P(e), AXO_LSHR, src, symexpr_const(P(e), 32, 8 * (s & 3))),
            symexpr_const(P(e), 32, 255));
        r = symexpr_op2(P(e), AXO_OR, r,
                        symexpr_op2(P(e), AXO_SHL, byte, symexpr_const(P(e), 32, 8 * k)));
    }
    return r;
}
static const struct symexpr *apply(struct eval *e, const struct ptx_inst *i, const struct args *x,
                                   const struct symexpr *d)
{
    bool s = x->sign;
    switch (ptx_rule_of(i)) {
    case ADDR_ADD: return symexpr_add(P(e), x->a, x->b);
    case ADDR_SUB: return symexpr_sub(P(e), x->a, x->b);
    case ADDR_MUL_LO: return symexpr_mul(P(e), x->a, x->b);
    case ADDR_MAD_LO: return symexpr_add(P(e), symexpr_mul(P(e), x->a, x->b), x->c);
    case ADDR_MUL_WIDE: return symexpr_mul(P(e), widened(e, x->a, s), widened(e, x->b, s));
    case ADDR_MAD_WIDE:
        return symexpr_add(P(e), symexpr_mul(P(e), widened(e, x->a, s), widened(e, x->b, s)), x->c);
    case ADDR_SHL: return symexpr_op2(P(e), AXO_SHL, x->a, x->b);
    case ADDR_SHR: return symexpr_op2(P(e), s ? AXO_ASHR : AXO_LSHR, x->a, x->b);
    case ADDR_AND: return symexpr_op2(P(e), AXO_AND, x->a, x->b);
    case ADDR_OR: return symexpr_op2(P(e), AXO_OR, x->a, x->b);
    case ADDR_XOR: return symexpr_op2(P(e), AXO_XOR, x->a, x->b);
    case ADDR_NOT:
        return x->bits == 1 ? symexpr_not(P(e), x->a)
                            : symexpr_op2(P(e), AXO_XOR, x->a, symexpr_const(P(e), x->bits, -1));
    case ADDR_NEG: return symexpr_scale(P(e), x->a, -1);
    case ADDR_MIN: return symexpr_op2(P(e), s ? AXO_SMIN : AXO_UMIN, x->a, x->b);
    case ADDR_MAX: return symexpr_op2(P(e), s ? AXO_SMAX : AXO_UMAX, x->a, x->b);
    case ADDR_DIV: return symexpr_op2(P(e), s ? AXO_SDIV : AXO_UDIV, x->a, x->b);
    case ADDR_REM: return symexpr_op2(P(e), s ? AXO_SREM : AXO_UREM, x->a, x->b);
    case ADDR_BFE: return bfe(e, x);
    case ADDR_BFI: return bfi(e, x, d);
    case ADDR_LOP3: return d && symexpr_is_const(d) ? lop3(e, x, (unsigned)d->c & 255) : NULL;
    case ADDR_SHF_L: return shf(e, i, x, true);
    case ADDR_SHF_R: return shf(e, i, x, false);
    case ADDR_MUL_HI: return symexpr_op2(P(e), s ? AXO_SMULHI : AXO_UMULHI, x->a, x->b);
    case ADDR_PRMT: return prmt(e, x);
    case ADDR_ABS:
        return symexpr_select(P(e), symexpr_op2(P(e), AXO_SLT, x->a, symexpr_const(P(e), x->bits, 0)),
                              symexpr_scale(P(e), x->a, -1), x->a);
    default: return NULL;
    }
}
static const struct symexpr *comparison(struct eval *e, enum ptx_mod how, const struct symexpr *a,
                                        const struct symexpr *b, bool sign)
{
    switch (how) {
    case PTX_MOD_EQ: return symexpr_op2(P(e), AXO_EQ, a, b);
    case PTX_MOD_NE: return symexpr_not(P(e), symexpr_op2(P(e), AXO_EQ, a, b));
    case PTX_MOD_LT: return symexpr_op2(P(e), sign ? AXO_SLT : AXO_ULT, a, b);
    case PTX_MOD_LE: return symexpr_op2(P(e), sign ? AXO_SLE : AXO_ULE, a, b);
    case PTX_MOD_GT: return symexpr_op2(P(e), sign ? AXO_SLT : AXO_ULT, b, a);
    case PTX_MOD_GE: return symexpr_op2(P(e), sign ? AXO_SLE : AXO_ULE, b, a);
    case PTX_MOD_LO: return symexpr_op2(P(e), AXO_ULT, a, b);
    case PTX_MOD_LS: return symexpr_op2(P(e), AXO_ULE, a, b);
    case PTX_MOD_HI: return symexpr_op2(P(e), AXO_ULT, b, a);
    case PTX_MOD_HS: return symexpr_op2(P(e), AXO_ULE, b, a);
    default: return NULL;
    }
}
static bool integer_type(enum ptx_type t)
{
    char k = ptx_type_kind(t);
    return k == 'b' || k == 'u' || k == 's' || k == 'p';
}
static void do_setp(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    struct ptx_test t;
    const struct symexpr *r = NULL, *not_r = NULL;
    if (ptx_test_of(i, &t))
        r = comparison(e, t.how, eval_value(e, f, i, t.a, t.bits, t.sign),
                       eval_value(e, f, i, t.b, t.bits, t.sign), t.sign);
    if (r)
        not_r = symexpr_not(P(e), r);
    if (r && t.other) {
        const struct symexpr *p = eval_value(e, f, i, t.other, 1, false);
        enum symexpr_op op = t.with == PTX_MOD_AND ? AXO_AND : t.with == PTX_MOD_OR ? AXO_OR : AXO_XOR;
        r = symexpr_op2(P(e), op, r, p);
        not_r = symexpr_op2(P(e), op, not_r, p);
    }
    for (unsigned k = 0; k < i->nopnds && (ptx_operand_access(i, k) & PTX_WRITE); k++)
        eval_write(e, f, i, &i->opnds[k], !r ? eval_unknown(e, f, i, 1, NULL) : k ? not_r : r, false);
}
static void do_cvt(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    enum ptx_type to = (enum ptx_type)i->type[0], from = (enum ptx_type)i->type[1];
    const struct symexpr *v =
        eval_value(e, f, i, &i->opnds[1], ptx_type_bits(from), ptx_type_kind(from) == 's');
    v = fit(e, v, ptx_type_bits(to), ptx_type_kind(from) == 's');
    eval_write(e, f, i, &i->opnds[0], v, ptx_type_kind(to) == 's');
}
/* mov of a scalar; {lo,hi} <-> wide register in the two-element form. */
static void do_mov(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    const struct ptx_operand *d = &i->opnds[0], *s = &i->opnds[1];
    unsigned bits = ptx_type_bits((enum ptx_type)i->type[0]);
    if (bits > 64 || !bits)
        bits = 64;
    if (d->kind == OPND_VEC && s->kind != OPND_VEC) {
        const struct symexpr *v = eval_value(e, f, i, s, bits, false);
        unsigned part = d->nelem ? bits / d->nelem : bits;
        for (unsigned k = 0; k < d->nelem; k++)
            eval_write(e, f, i, &d->elem[k],
                       symexpr_trunc(P(e),
                                     symexpr_op2(P(e), AXO_LSHR, v, symexpr_const(P(e), 32, part * k)),
                                     part),
                       false);
    } else if (s->kind == OPND_VEC && d->kind == OPND_REG) {
        const struct symexpr *v = symexpr_const(P(e), bits, 0);
        unsigned part = s->nelem ? bits / s->nelem : bits;
        for (unsigned k = 0; k < s->nelem; k++)
            v = symexpr_op2(
                P(e), AXO_OR, v,
                symexpr_op2(P(e), AXO_SHL,
                            fit(e, eval_value(e, f, i, &s->elem[k], part, false), bits, false),
                            symexpr_const(P(e), 32, part * k)));
        eval_write(e, f, i, d, v, false);
    } else if (d->kind == OPND_REG) {
        eval_write(e, f, i, d, eval_value(e, f, i, s, bits, false), false);
    }
}

/* ---- memory ---- */
static const struct ptx_symbol *address_base(const struct symexpr *a, int64_t *off)
{
    *off = a->kind == SYMEXPR_SUM ? a->c : 0;
    if (a->kind == SYMEXPR_ADDR)
        return a->ref;
    return a->kind == SYMEXPR_SUM && a->n == 1 && a->coef[0] == 1 && a->arg[0]->kind == SYMEXPR_ADDR
               ? a->arg[0]->ref
               : NULL;
}
/* A parameter of the kernel or a call's cell read at a known place; NULL: something else. */
static const struct symexpr *param_value(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                                         const struct symexpr *addr, unsigned at, unsigned bits,
                                         bool sign)
{
    int64_t off;
    const struct ptx_symbol *s = address_base(addr, &off);
    uint32_t first, n;
    if (!s || s->kind != SYM_VAR)
        return NULL;
    off = symexpr_wrap((int64_t)((uint64_t)off + at), 64);
    if (eval_cell_range(f->func, s, off, bits / 8, &first, &n)) {
        const struct symexpr *v = f->cur[first];
        return v && off % 4 == 0 && (v->bits >= bits) ? fit(e, v, bits, sign)
               : v && off % 4 == 0 && bits <= 32
                   ? fit(e, v, bits, sign)
                   : eval_unknown(e, f, i, bits, "an argument passed in pieces");
    }
    if (s->space != PTX_SPACE_PARAM || !s->func || !s->func->entry || off < 0 ||
        (uint64_t)off > s->bytes || s->bytes - (uint64_t)off < bits / 8)
        return NULL;
    return symexpr_leaf(P(e), SYMEXPR_PARAM, bits, s, off, sign);
}
static void load_into(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                      const struct ptx_operand *d, const struct symexpr *addr, struct symexpr_site *site,
                      unsigned elem)
{
    enum ptx_type t = (enum ptx_type)i->type[i->ntypes ? i->ntypes - 1 : 0];
    unsigned bits = elem_bytes(i) * 8;
    bool sign = ptx_type_kind(t) == 's';
    if (d->kind != OPND_REG)
        return;
    unsigned rb = reg_bits(f, d->index);
    const struct symexpr *v =
        ptx_is_plain_load(i) ? param_value(e, f, i, addr, elem * (bits / 8), bits > 64 ? 64 : bits, sign)
                             : NULL;
    if (!v)
        v = symexpr_load(P(e), rb, site, addr, (int)elem, bits < rb ? bits : rb, sign);
    eval_write(e, f, i, d, v, sign);
}
/* How an access is: bits. */
enum { READS = 1, WRITES = 2, AT_ONCE = 4, PREFETCHES = 8 };

static void record(struct eval *e, struct eval_frame *f, const struct ptx_inst *i,
                   const struct ptx_operand *o, unsigned space, unsigned bytes, unsigned flags)
{
    if (!base_grow((void **)&e->access, e->naccess, &e->cap_access, sizeof *e->access)) {
        e->status = ST_NOMEM;
        return;
    }
    struct eval_access *a = &e->access[e->naccess++];
    *a = (struct eval_access){ .frame = f,
                               .inst = i->index,
                               .block = f->cfg->block_of[i->index],
                               .raw = address(e, f, i, o, 64),
                               .guard = eval_guard(e, f, i),
                               .space = (uint8_t)space,
                               .bytes = (uint8_t)(bytes > 255 ? 255 : bytes),
                               .load = flags & READS,
                               .store = flags & WRITES,
                               .atomic = flags & AT_ONCE,
                               .prefetch = flags & PREFETCHES };
}
static bool tracked_space(unsigned s)
{
    return s == PTX_SPACE_GLOBAL || s == PTX_SPACE_GENERIC || s == PTX_SPACE_SHARED ||
           s == PTX_SPACE_SHARED_CLUSTER || s == PTX_SPACE_LOCAL || s == PTX_SPACE_CONST;
}
static void do_load(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    const struct symexpr *addr = address(e, f, i, &i->opnds[1], 64);
    struct symexpr_site *site = site_of(e, f, i, NULL);
    if (!site)
        return;
    int64_t off;
    const struct ptx_symbol *s = address_base(addr, &off);
    unsigned space = ptx_is(i, IS_READ_ONLY) ? PTX_SPACE_GLOBAL : i->space;
    if (tracked_space(space) && !(s && s->space == PTX_SPACE_PARAM))
        record(e, f, i, &i->opnds[1], space, access_bytes(i), READS);
    const struct ptx_operand *d = &i->opnds[0];
    if (d->kind == OPND_VEC)
        for (unsigned k = 0; k < d->nelem; k++)
            load_into(e, f, i, &d->elem[k], addr, site, k);
    else
        load_into(e, f, i, d, addr, site, 0);
}
static void do_store(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    const struct ptx_operand *o = &i->opnds[0];
    if (i->space != PTX_SPACE_PARAM) {
        if (tracked_space(i->space))
            record(e, f, i, o, i->space, access_bytes(i), WRITES);
        return;
    }
    uint32_t first, n;
    unsigned w = elem_bytes(i), nv = i->vec ? i->vec : 1;
    if (o->base != BASE_SYM || !eval_cell_range(f->func, o->sym, o->imm, access_bytes(i), &first, &n))
        return;
    if (first > f->func->nregs && f->cur[first - 1] && f->cur[first - 1]->bits > 32)
        f->cur[first - 1] = NULL;
    for (uint32_t k = 0; k < n; k++)
        f->cur[first + k] = NULL;
    for (unsigned k = 0; k < nv && (o->imm % 4 == 0); k++) {
        const struct ptx_operand *s = i->opnds[1].kind == OPND_VEC ? &i->opnds[1].elem[k] : &i->opnds[1];
        if (w * k % 4 == 0 && w <= 8)
            f->cur[first + w * k / 4] = eval_value(e, f, i, s, w * 8, false);
    }
}
static void do_atomic(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    bool has_dest = i->nopnds && i->opnds[0].kind != OPND_ADDR && i->opnds[0].kind != OPND_MULTI;
    unsigned at = has_dest ? 1 : 0;
    if (i->nopnds > at && tracked_space(i->space))
        record(e, f, i, &i->opnds[at], i->space, access_bytes(i), AT_ONCE | WRITES);
    if (has_dest) {
        struct symexpr_site *site = site_of(e, f, i, NULL);
        if (!site)
            return;
        load_into(e, f, i, &i->opnds[0], address(e, f, i, &i->opnds[1], 64), site, 0);
    }
}
static void record_copy(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    struct bulk b;
    uint32_t before = e->naccess;
    if (!bulk_parts(i, &b))
        return;
    record(e, f, i, b.global, ANA_SPACE_COPY, 0,
           b.kind == BULK_LOAD       ? READS
           : b.kind == BULK_STORE    ? WRITES
           : b.kind == BULK_PREFETCH ? PREFETCHES
                                     : AT_ONCE | WRITES);
    struct eval_access *a = &e->access[before];
    if (e->naccess == before)
        return;
    if (b.global->kind != OPND_ADDR)
        a->raw = eval_value(e, f, i, b.global, 64, false);
    a->copy = true;
    a->tensor = b.tensor;
    a->nvalues = b.nvalues;
    for (unsigned k = 0; k < b.nvalues; k++)
        a->value[k] = eval_value(e, f, i, &b.value[k], 32, true);
}
static void do_async(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    if (ptx_is(i, IS_THREAD_COPY) && i->nopnds >= 3 && i->opnds[2].kind == OPND_IMM) {
        record(e, f, i, &i->opnds[1], PTX_SPACE_GLOBAL, (unsigned)i->opnds[2].imm, READS);
        if (e->naccess)
            e->access[e->naccess - 1].sized = i->nopnds > 3 && i->opnds[3].kind == OPND_REG;
        record(e, f, i, &i->opnds[0], PTX_SPACE_SHARED, (unsigned)i->opnds[2].imm, WRITES);
    } else {
        record_copy(e, f, i);
    }
}

/* ---- calls ---- */
struct eval_call eval_call_parts(const struct ptx_inst *i)
{
    struct eval_call c = { 0 };
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        bool list = o->kind == OPND_MULTI || o->kind == OPND_VEC;
        if (list && !c.callee) {
            c.ret = o->elem;
            c.nret = o->nelem;
        } else if (list && !c.arg) {
            c.arg = o->elem;
            c.narg = o->nelem;
        } else if (!c.callee) {
            c.callee = o;
        }
    }
    return c;
}
const struct ptx_func *eval_callee(const struct eval_call *c)
{
    if (!c->callee || c->callee->kind != OPND_SYM || !c->callee->sym ||
        c->callee->sym->kind == SYM_VAR || !c->callee->sym->func)
        return NULL;
    const struct ptx_func *f = c->callee->sym->func;
    return f->def ? f->def : f;
}
/* ---- everything else: operands by signature position ---- */
/* The result by the rule of its row, for operands by their places; NULL: unknown. */
static const struct symexpr *by_rule(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    enum ptx_type t = i->ntypes ? (enum ptx_type)i->type[0] : PTX_T_B32;
    enum ptx_addr_rule rule = ptx_rule_of(i);
    struct args x = { .bits = ptx_type_bits(t), .sign = ptx_type_kind(t) == 's' };
    if (rule == ADDR_UNKNOWN || rule == ADDR_LOAD || rule == ADDR_PRED || !integer_type(t))
        return NULL;
    unsigned wide = rule == ADDR_MAD_WIDE ? x.bits * 2 : x.bits;
    bool shift = rule == ADDR_SHL || rule == ADDR_SHR || rule == ADDR_BFE,
         small = rule == ADDR_BFE || rule == ADDR_BFI || rule == ADDR_SHF_L || rule == ADDR_SHF_R;
    x.a = eval_value(e, f, i, &i->opnds[1], x.bits, x.sign);
    x.b = i->nopnds > 2 ? eval_value(e, f, i, &i->opnds[2], shift ? 32 : x.bits, x.sign) : NULL;
    if (rule == ADDR_SELP)
        return symexpr_select(P(e), eval_value(e, f, i, &i->opnds[3], 1, false), x.a, x.b);
    if (rule == ADDR_CVTA)
        return x.a;
    x.c = i->nopnds > 3 ? eval_value(e, f, i, &i->opnds[3], small ? 32 : wide, x.sign) : NULL;
    return apply(e, i, &x, i->nopnds > 4 ? eval_value(e, f, i, &i->opnds[4], 32, false) : NULL);
}

/* Unknown, in the range that the instruction keeps to. */
static const struct symexpr *unknown_result(struct eval *e, struct eval_frame *f,
                                            const struct ptx_inst *i, unsigned bits)
{
    uint64_t lo, hi;
    if (!ptx_range_of(i, &lo, &hi) || hi > INT32_MAX || bits < 32)
        return eval_unknown(e, f, i, bits, NULL);
    return symexpr_unknown(P(e), bits, site_of(e, f, i, eval_inst_text(e, f->func, i)), (int64_t)lo,
                           (int64_t)hi);
}

static void do_rule(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    const struct symexpr *r = i->nopnds && i->opnds[0].kind == OPND_REG ? by_rule(e, f, i) : NULL;
    bool sign = i->ntypes && ptx_type_kind((enum ptx_type)i->type[0]) == 's';
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (!(ptx_operand_access(i, k) & PTX_WRITE))
            continue;
        unsigned n = o->kind == OPND_VEC ? o->nelem : 1;
        for (unsigned j = 0; j < n; j++) {
            const struct ptx_operand *w = o->kind == OPND_VEC ? &o->elem[j] : o;
            if (w->kind == OPND_REG)
                eval_write(e, f, i, w,
                           r && k == 0 ? r
                           : k == 0    ? unknown_result(e, f, i, reg_bits(f, w->index))
                                       : eval_unknown(e, f, i, reg_bits(f, w->index), NULL),
                           sign);
        }
    }
}

/* Rows of matrices: 16 bytes at the address of each lane that gives one, eight lanes a matrix. */
static void record_rows(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    bool store = ptx_effect_of(i) == EFFECT_STORE;
    const struct ptx_operand *rows = &i->opnds[store], *values = &i->opnds[!store];
    unsigned givers = 8 * (values->kind == OPND_VEC ? values->nelem : 1);
    uint32_t before = e->naccess;
    record(e, f, i, rows, i->space, 16, store ? WRITES : READS);
    if (givers >= 32 || e->naccess == before)
        return;
    const struct symexpr *gives = symexpr_op2(P(e), AXO_ULT, sreg_value(e, 32, PTX_SREG_LANEID, -1),
                                              symexpr_const(P(e), 32, givers));
    struct eval_access *a = &e->access[before];
    a->guard = a->guard ? symexpr_and(P(e), a->guard, gives) : gives;
}

void eval_inst(struct eval *e, struct eval_frame *f, const struct ptx_inst *i)
{
    if (ptx_is(i, IS_FRAGMENT) && !ptx_is(i, IS_WMMA) && i->nopnds == 2 && tracked_space(i->space))
        record_rows(e, f, i);
    switch (ptx_effect_of(i)) {
    case EFFECT_LOAD:
        if (ptx_is(i, IS_PLAIN | IS_READ_ONLY) && i->nopnds >= 2) {
            do_load(e, f, i);
            return;
        }
        break;
    case EFFECT_STORE:
        if (ptx_is(i, IS_PLAIN) && i->nopnds >= 2) {
            do_store(e, f, i);
            return;
        }
        break;
    case EFFECT_ATOMIC:
        if (!ptx_is(i, IS_BULK | IS_REMOTE | IS_MULTIMEM)) {
            do_atomic(e, f, i);
            return;
        }
        break;
    case EFFECT_PREFETCH:
        if (ptx_is(i, IS_BULK))
            record_copy(e, f, i);
        else if (i->nopnds && i->opnds[0].kind == OPND_ADDR)
            record(e, f, i, &i->opnds[0], i->space, 1, PREFETCHES);
        return;
    case EFFECT_ASYNC_COPY: do_async(e, f, i); return;
    case EFFECT_CALL: /* eval.c follows it */
    case EFFECT_BRANCH:
    case EFFECT_EXIT:
    case EFFECT_FENCE: return;
    default: break;
    }
    switch (ptx_rule_of(i)) {
    case ADDR_PRED: do_setp(e, f, i); return;
    case ADDR_CVT: do_cvt(e, f, i); return;
    case ADDR_COPY: do_mov(e, f, i); return;
    default: do_rule(e, f, i); return;
    }
}
