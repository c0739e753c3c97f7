/* Arithmetic, logic, comparison, selection: a row of lanes.def when one fits (operation, type 0,
 * modifiers), else the operation of scalar.def lane by lane. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/key.h"

#include <string.h>

/* Widths in a slot of the lane types of lanes.def. */
enum {
    W_u16 = 4,
    W_s16 = 4,
    W_u32 = 4,
    W_s32 = 4,
    W_u64 = 8,
    W_s64 = 8,
    W_f32 = 4,
    W_f32z = 4,
    W_f64 = 8,
    W_f16 = 4,
    W_f16r = 4,
    W_f16z = 4,
    W_bf16 = 4,
    W_bf16r = 4
};
struct lane_row {
    uint16_t op;
    uint32_t key;
    uint64_t types;
    uint8_t n, w[5];
    uint16_t lane;
};
#define PTX_OP_NONE PTX_OP_OPAQUE
static const struct lane_row rows[] = {
#define LANE1(name, op, types, key, D, A, expr) \
    { PTX_OP_##op, key, types, 1, { W_##D, W_##A, 0, 0, 0 }, LANE_##name },
#define LANE2(name, op, types, key, D, A, B, expr) \
    { PTX_OP_##op, key, types, 2, { W_##D, W_##A, W_##B, 0, 0 }, LANE_##name },
#define LANE3(name, op, types, key, D, A, B, C, expr) \
    { PTX_OP_##op, key, types, 3, { W_##D, W_##A, W_##B, W_##C, 0 }, LANE_##name },
#define LANE4(name, op, types, key, D, A, B, C, E, expr) \
    { PTX_OP_##op, key, types, 4, { W_##D, W_##A, W_##B, W_##C, W_##E }, LANE_##name },
#define LANEP(name, cmp, types, A, expr)
#define LANEX(name)
#include "engine/sim/exec/lanes/lanes.def"
};
struct compare_row {
    uint16_t cmp;
    uint64_t types;
    uint8_t bytes;
    uint16_t lane;
};
static const struct compare_row compares[] = {
#define LANE1(...)
#define LANE2(...)
#define LANE3(...)
#define LANE4(...)
#define LANEP(name, cmp, types, A, expr) { PTX_MOD_##cmp, types, W_##A, LANE_##name },
#define LANEX(name)
#include "engine/sim/exec/lanes/lanes.def"
};
enum { W_T = 0, W_T1 = 1, W_P = 2, W_4 = 4, W_8 = 8 };
struct scalar_row {
    uint16_t op;
    uint8_t n, w[4];
    scalar_fn *fn;
};
static const struct scalar_row scalars[] = {
#define SCALAR(op, fn, nsrc, wd, wa, wb, wc) \
    { PTX_OP_##op, nsrc, { W_##wd, W_##wa, W_##wb, W_##wc }, scalar_##fn },
#include "engine/sim/exec/lanes/scalar.def"
#undef SCALAR
};

/* ---- rows ---- */
static unsigned lane_key(const struct ptx_inst *i)
{
    unsigned key = decode_key(i);
    switch (i->op) {
    case PTX_OP_SIN:
    case PTX_OP_COS:
    case PTX_OP_LG2:
    case PTX_OP_EX2:
    case PTX_OP_RSQRT:
    case PTX_OP_TANH: return key | KEY_APPROX;
    case PTX_OP_DP4A:
        if (i->type[0] != i->type[1])
            return key | (i->type[1] == PTX_T_S32 ? KEY_S2 : KEY_U2);
        return key;
    default: return key;
    }
}

static const struct lane_row *find_row(const struct ptx_inst *i)
{
    unsigned key = lane_key(i);
    uint64_t type = i->ntypes ? 1ull << i->type[0] : 0;
    if (i->ntypes > 1 && i->type[1] != i->type[0] && i->op != PTX_OP_DP4A)
        return NULL;
    for (size_t k = 0; k < ARRAY_LEN(rows); k++)
        if (rows[k].op == i->op && rows[k].types & type && rows[k].key == key &&
            i->nopnds == rows[k].n + 1u)
            return &rows[k];
    return NULL;
}

static bool apply_row(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                      const struct lane_row *r)
{
    uint32_t *src[4] = { &in->a, &in->b, &in->c, &in->d };
    for (unsigned k = 0; k < r->n; k++)
        if (!decode_src(d, &i->opnds[k + 1], r->w[k + 1], src[k]))
            return false;
    if (!decode_dst(d, &i->opnds[0], r->w[0], &in->dst))
        return false;
    in->fn = in->dst == EXEC_NO_ID ? exec_nop : d->lanes[r->lane];
    return true;
}

/* ---- lane by lane ---- */
static enum soft_mode mode_of(const struct ptx_inst *i, struct scalar_how *h)
{
    for (unsigned k = 0; k < i->nmods; k++) {
        if (ptx_mod_category(i->mods[k]) != MODCAT_ROUND)
            continue;
        h->rounded = true;
        switch (i->mods[k]) {
        case PTX_MOD_RNI: h->integral = true; return SOFT_RN;
        case PTX_MOD_RZI: h->integral = true; return SOFT_RZ;
        case PTX_MOD_RMI: h->integral = true; return SOFT_RM;
        case PTX_MOD_RPI: h->integral = true; return SOFT_RP;
        case PTX_MOD_RZ: return SOFT_RZ;
        case PTX_MOD_RM: return SOFT_RM;
        case PTX_MOD_RP: return SOFT_RP;
        case PTX_MOD_RNA: return SOFT_RNA;
        default: return SOFT_RN;
        }
    }
    return SOFT_RN;
}

struct exec_scalar *decode_scalar(struct decode *d, const struct ptx_inst *i)
{
    struct exec_scalar *x = ARENA_NEW(d->p->arena, struct exec_scalar);
    if (!x) {
        d->oom = true;
        return NULL;
    }
    struct scalar_how *h = &x->how;
    h->op = i->op;
    memcpy(h->t, i->type, sizeof h->t);
    h->mode = (uint8_t)mode_of(i, h);
    h->key = decode_key(i);
    h->finite = ptx_has_mod(i, PTX_MOD_SATFINITE);
    h->shiftamt = ptx_has_mod(i, PTX_MOD_SHIFTAMT);
    h->cmp = (uint16_t)ptx_mod_of(i, MODCAT_CMP);
    for (unsigned k = 0; k < i->nmods; k++) {
        enum ptx_mod_category c = ptx_mod_category(i->mods[k]);
        if (c != MODCAT_TYPE && c != MODCAT_ROUND && c != MODCAT_CMP && i->mods[k] != PTX_MOD_SAT &&
            i->mods[k] != PTX_MOD_FTZ)
            h->imm = i->mods[k];
    }
    return x;
}

/* Words that no key has a bit for, and that the operations of scalar.def know. */
static bool is_scalar_word(enum ptx_mod m)
{
    static const uint16_t words[] = { PTX_MOD_SATFINITE, PTX_MOD_SHIFTAMT,  PTX_MOD_F4E,
                                      PTX_MOD_B4E,       PTX_MOD_RC8,       PTX_MOD_ECL,
                                      PTX_MOD_ECR,       PTX_MOD_RC16,      PTX_MOD_FINITE,
                                      PTX_MOD_INFINITE,  PTX_MOD_NUMBER,    PTX_MOD_NOTANUMBER,
                                      PTX_MOD_NORMAL,    PTX_MOD_SUBNORMAL, PTX_MOD_ADD,
                                      PTX_MOD_MIN,       PTX_MOD_MAX };
    for (size_t k = 0; k < ARRAY_LEN(words); k++)
        if (words[k] == m)
            return true;
    return false;
}

/* A word that nothing here knows may change what is computed: the instruction is not modelled then. */
static bool knows_words(struct decode *d, const struct ptx_inst *i)
{
    struct ptx_inst one = *i;
    for (unsigned k = 0; k < i->nmods; k++) {
        enum ptx_mod_category c = ptx_mod_category(i->mods[k]);
        one.mods = &i->mods[k];
        one.nmods = 1;
        if (c != MODCAT_ROUND && c != MODCAT_CMP && decode_key(&one) & KEY_OTHER &&
            !is_scalar_word(i->mods[k]))
            return decode_why(d, "a word of it");
    }
    return true;
}

static uint8_t width_of(const struct ptx_inst *i, uint8_t code)
{
    switch (code) {
    case W_T: return (uint8_t)decode_bytes(i->type[0]);
    case W_T1: return (uint8_t)decode_bytes(i->type[1]);
    case W_P: return 1;
    default: return code;
    }
}

static bool apply_scalar(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                         const struct scalar_row *r)
{
    struct exec_scalar *x = decode_scalar(d, i);
    bool neg;
    if (!x || ptx_has_mod(i, PTX_MOD_OOB) || !knows_words(d, i))
        return false;
    x->fn = r->fn;
    unsigned n = i->nopnds - 1u;
    if (n > 4)
        return decode_why(d, "too many operands");
    x->how.nsrc = (uint8_t)n;
    x->wd = width_of(i, r->w[0]);
    for (unsigned k = 0; k < n; k++) {
        x->ws[k] = width_of(i, r->w[k < 3 ? k + 1 : 3]);
        if (i->ntypes > 1 && soft_format_of(i->type[1]) && r->fn == scalar_arith)
            x->ws[k] = 4;
        if (!decode_src(d, &i->opnds[k + 1], x->ws[k], &x->src[k]))
            return false;
    }
    in->fn = exec_scalar;
    in->x = x;
    if (x->wd == 1)
        return decode_pred(d, &i->opnds[0], &in->dst, &neg);
    return decode_dst(d, &i->opnds[0], x->wd, &in->dst);
}

/* ---- SIMD video with selectors: .h10, .b7654 of the sources, .h1, .b20 of the destination (9.7.18.2)
 * ---- */
static bool simd_selects(const struct ptx_inst *i)
{
    bool any = false;
    for (unsigned k = 0; k < 3 && i->op >= PTX_OP_VADD2 && i->op <= PTX_OP_VSET4; k++)
        any |= i->opnds[k].kind == OPND_REG && i->opnds[k].comp >= 4;
    return any;
}

static bool simd_mask(struct decode *d, const struct ptx_operand *o, unsigned n, uint8_t *lanes)
{
    *lanes = 0;
    if (o->kind != OPND_REG || o->comp < 4)
        *lanes = (uint8_t)((1u << n) - 1);
    else if (o->comp < 10)
        *lanes = (uint8_t)(1u << (o->comp < 8 ? o->comp - 4 : o->comp - 8));
    for (int64_t v = o->imm, k = 0; o->kind == OPND_REG && o->comp == 10 && k < 4 && (k < 2 || v);
         k++, v >>= 4)
        *lanes |= (uint8_t)(1u << (v & 3));
    return *lanes >> n == 0 || decode_why(d, "this selector");
}

static bool simd_pick(struct decode *d, const struct ptx_operand *o, unsigned n, unsigned source,
                      uint16_t *pick)
{
    static const uint16_t whole[2][2] = { { 0x10, 0x32 }, { 0x3210, 0x7654 } };
    *pick = o->kind == OPND_REG && o->comp == 10 ? (uint16_t)o->imm : whole[n == 4][source];
    for (unsigned k = 0; k < n; k++)
        if ((*pick >> 4 * k & 15u) >= 2 * n)
            return decode_why(d, "this selector");
    return o->kind != OPND_REG || o->comp < 4 || o->comp == 10 || decode_why(d, "this selector");
}

static bool decode_simd(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_scalar *x = decode_scalar(d, i);
    unsigned n = i->op <= PTX_OP_VSET2 ? 2 : 4;
    if (!x || i->nopnds != 4)
        return false;
    x->fn = scalar_simd;
    x->how.nsrc = 3;
    x->how.imm = ptx_has_mod(i, PTX_MOD_ADD) ? PTX_MOD_ADD : 0;
    x->wd = 4;
    for (unsigned k = 0; k < 3; k++) {
        struct ptx_operand o = i->opnds[k + 1];
        o.comp = -1;
        x->ws[k] = 4;
        if (!decode_src(d, &o, 4, &x->src[k]) ||
            (k < 2 && !simd_pick(d, &i->opnds[k + 1], n, k, &x->how.pick[k])))
            return false;
    }
    struct ptx_operand to = i->opnds[0];
    to.comp = -1;
    in->fn = exec_scalar;
    in->x = x;
    return simd_mask(d, &i->opnds[0], n, &x->how.lanes) && decode_dst(d, &to, 4, &in->dst);
}

bool decode_lane(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    if (simd_selects(i))
        return decode_simd(d, i, in);
    const struct lane_row *r = find_row(i);
    if (r)
        return apply_row(d, i, in, r);
    for (size_t k = 0; k < ARRAY_LEN(scalars); k++)
        if (scalars[k].op == i->op)
            return apply_scalar(d, i, in, &scalars[k]);
    return false;
}

/* and, or, xor, not: on predicates these are whole words. */
bool decode_logic(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    if (i->type[0] != PTX_T_PRED)
        return decode_lane(d, i, in);
    bool neg, na, nb = false;
    in->fn = i->op == PTX_OP_AND   ? exec_pred_and
             : i->op == PTX_OP_OR  ? exec_pred_or
             : i->op == PTX_OP_XOR ? exec_pred_xor
                                   : exec_pred_not;
    if (!decode_pred(d, &i->opnds[0], &in->dst, &neg) || !decode_pred(d, &i->opnds[1], &in->a, &na) ||
        (i->op != PTX_OP_NOT && !decode_pred(d, &i->opnds[2], &in->b, &nb)))
        return false;
    in->flags |= (na ? EXEC_F_NEG_A : 0) | (nb ? EXEC_F_NEG_B : 0);
    return true;
}

bool decode_lop3(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool pair = i->op != PTX_OP_LOP3, neg;
    const struct ptx_operand *o = i->opnds + (pair ? 1 : 0);
    int64_t lut;
    if (!decode_is_imm(&o[4], &lut))
        return decode_why(d, "table operand is not a constant");
    in->imm = (int32_t)lut;
    if (!decode_src(d, &o[1], 4, &in->a) || !decode_src(d, &o[2], 4, &in->b) ||
        !decode_src(d, &o[3], 4, &in->c) || !decode_dst(d, &i->opnds[0], 4, &in->dst))
        return false;
    in->fn = d->lanes[LANE_lop3];
    if (!pair)
        return true;
    struct exec_lop3 x = { .bool_and = i->op == PTX_OP_LOP3_AND };
    in->fn = exec_lop3_bool;
    if (!decode_pred(d, &i->opnds[1], &in->dst2, &neg) || !decode_pred(d, &o[5], &in->d, &neg))
        return false;
    x.neg = neg;
    return decode_more(d, in, &x, sizeof x);
}

/* ---- comparison ---- */
/* What gt, ge and the unordered forms become: operands swapped, result complemented. */
static enum ptx_mod compare_base(enum ptx_mod cmp, bool is_float, bool *swap, bool *complement)
{
    *swap = *complement = false;
    switch (cmp) {
    case PTX_MOD_LO: return PTX_MOD_LT;
    case PTX_MOD_LS: return PTX_MOD_LE;
    case PTX_MOD_GT:
    case PTX_MOD_HI: *swap = true; return PTX_MOD_LT;
    case PTX_MOD_GE:
    case PTX_MOD_HS: *swap = true; return PTX_MOD_LE;
    case PTX_MOD_EQU: *complement = true; return PTX_MOD_NE;
    case PTX_MOD_NEU: *complement = true; return PTX_MOD_EQ;
    case PTX_MOD_LTU: *complement = *swap = true; return PTX_MOD_LE;
    case PTX_MOD_LEU: *complement = *swap = true; return PTX_MOD_LT;
    case PTX_MOD_GTU: *complement = true; return PTX_MOD_LE;
    case PTX_MOD_GEU: *complement = true; return PTX_MOD_LT;
    case PTX_MOD_NAN: *complement = true; return PTX_MOD_NUM;
    default: (void)is_float; return cmp;
    }
}

static const struct compare_row *find_compare(enum ptx_mod cmp, enum ptx_type t, bool ftz)
{
    if (ftz) /* where lanes.def has put them */
        t = t == PTX_T_F32 ? PTX_T_BF16X2 : t == PTX_T_F16 ? PTX_T_F16X2 : t;
    for (size_t k = 0; k < ARRAY_LEN(compares); k++)
        if (compares[k].cmp == cmp && compares[k].types >> t & 1)
            return &compares[k];
    return NULL;
}

static bool compare_more(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                         struct exec_compare *x, unsigned last)
{
    bool neg;
    if (last < i->nopnds) {
        enum ptx_mod b = ptx_mod_of(i, MODCAT_BOOL);
        x->op = b == PTX_MOD_AND ? 1 : b == PTX_MOD_OR ? 2 : 3;
        if (!decode_pred(d, &i->opnds[last], &in->c, &neg))
            return false;
        in->flags |= neg ? EXEC_F_NEG_C : 0;
    }
    if (x->op || x->complement || x->set || x->pair || in->dst2 != EXEC_NO_ID)
        return decode_more(d, in, x, sizeof *x);
    return true;
}

static bool compare_sources(struct decode *d, const struct ptx_inst *i, struct exec_inst *in,
                            enum ptx_type t, unsigned first, struct exec_compare *x)
{
    bool swap, packed = t == PTX_T_F16X2 || t == PTX_T_BF16X2;
    enum ptx_type e = t == PTX_T_F16X2 ? PTX_T_F16 : t == PTX_T_BF16X2 ? PTX_T_BF16 : t;
    enum ptx_mod base =
        compare_base(ptx_mod_of(i, MODCAT_CMP), ptx_type_kind(e) == 'f', &swap, &x->complement);
    const struct compare_row *r = find_compare(base, e, ptx_has_mod(i, PTX_MOD_FTZ));
    if (!r)
        return false;
    in->fn = d->lanes[r->lane];
    if (packed) {
        x->pair = in->fn;
        in->fn = exec_compare_pair;
    }
    return decode_src(d, &i->opnds[first + swap], r->bytes, &in->a) &&
           decode_src(d, &i->opnds[first + !swap], r->bytes, &in->b);
}

bool decode_setp(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_compare x = { 0 };
    bool neg, two = i->nopnds > 3 && decode_reg_bits(d, &i->opnds[1]) == 1;
    two = two || (i->nopnds > 3 && i->opnds[1].kind == OPND_SINK);
    unsigned first = two ? 2 : 1;
    if (!decode_pred(d, &i->opnds[0], &in->dst, &neg) ||
        (two && !decode_pred(d, &i->opnds[1], &in->dst2, &neg)))
        return false;
    return compare_sources(d, i, in, i->type[0], first, &x) && compare_more(d, i, in, &x, first + 2);
}

/* set: all ones or 1.0 where the comparison holds. */
bool decode_set(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_compare x = { .set = true, .set_bytes = (uint8_t)decode_bytes(i->type[0]) };
    switch (i->type[0]) {
    case PTX_T_F32: x.set_value = 0x3f800000; break;
    case PTX_T_F16: x.set_value = 0x3c00; break;
    case PTX_T_BF16: x.set_value = 0x3f80; break;
    case PTX_T_F16X2: x.set_value = 0x3c003c00; break;
    case PTX_T_BF16X2: x.set_value = 0x3f803f80; break;
    case PTX_T_U16:
    case PTX_T_S16: x.set_value = 0xffff; break;
    default: x.set_value = 0xffffffff; break;
    }
    return decode_dst(d, &i->opnds[0], x.set_bytes, &in->dst) &&
           compare_sources(d, i, in, i->type[1], 1, &x) && compare_more(d, i, in, &x, 3);
}

bool decode_selp(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    bool neg;
    in->fn = d->lanes[bytes == 8 ? LANE_selp_64 : LANE_selp_32];
    if (!decode_src(d, &i->opnds[1], bytes, &in->a) || !decode_src(d, &i->opnds[2], bytes, &in->b) ||
        !decode_pred(d, &i->opnds[3], &in->c, &neg) || !decode_dst(d, &i->opnds[0], bytes, &in->dst))
        return false;
    in->flags |= neg ? EXEC_F_NEG_C : 0;
    if (in->dst == EXEC_NO_ID)
        in->fn = exec_nop;
    return true;
}

/* ---- carry chains, 9.7.2 ---- */
bool decode_carry(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned bytes = decode_bytes(i->type[0]);
    struct exec_carry x = { .bytes = (uint8_t)bytes,
                            .op = i->op,
                            .is_signed = ptx_type_kind(i->type[0]) == 's' };
    in->d = 0 | BANK_FRAME;
    in->fn = exec_carry;
    in->c = EXEC_NO_ID;
    if (!decode_dst(d, &i->opnds[0], bytes, &in->dst) || !decode_src(d, &i->opnds[1], bytes, &in->a) ||
        !decode_src(d, &i->opnds[2], bytes, &in->b) ||
        (i->nopnds > 3 && !decode_src(d, &i->opnds[3], bytes, &in->c)))
        return false;
    return decode_more(d, in, &x, sizeof x);
}

/* ---- scalar video, 9.7.18.1: operands may name a byte or a half ---- */
static bool video_operand(struct decode *d, const struct ptx_operand *o, bool write, uint32_t *slot,
                          uint8_t *sel)
{
    struct ptx_operand whole = *o;
    *sel = o->kind == OPND_REG && o->comp >= 4 ? (uint8_t)o->comp : 0;
    if (*sel > 9)
        return decode_why(d, "this selector");
    whole.comp = -1;
    whole.neg = false;
    return write ? decode_dst(d, &whole, 4, slot) : decode_src(d, &whole, 4, slot);
}

bool decode_video(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_scalar *x = decode_scalar(d, i);
    if (!x || i->nopnds < 3 || i->nopnds > 4)
        return false;
    struct scalar_how *h = &x->how;
    x->fn = i->op == PTX_OP_VMAD ? scalar_vmad : scalar_video;
    h->nsrc = (uint8_t)(i->nopnds - 1);
    h->imm = ptx_has_mod(i, PTX_MOD_ADD)   ? PTX_MOD_ADD
             : ptx_has_mod(i, PTX_MOD_MIN) ? PTX_MOD_MIN
             : ptx_has_mod(i, PTX_MOD_MAX) ? PTX_MOD_MAX
                                           : 0;
    h->shift = ptx_has_mod(i, PTX_MOD_SHR7) ? 7 : ptx_has_mod(i, PTX_MOD_SHR15) ? 15 : 0;
    h->plus_one = ptx_has_mod(i, PTX_MOD_PO);
    x->wd = 4;
    for (unsigned k = 0; k < h->nsrc; k++) {
        x->ws[k] = 4;
        h->neg[k] = i->opnds[k + 1].neg;
        if (!video_operand(d, &i->opnds[k + 1], false, &x->src[k], &h->sel[k]))
            return false;
    }
    in->fn = exec_scalar;
    in->x = x;
    return video_operand(d, &i->opnds[0], true, &in->dst, &h->sel[3]);
}
