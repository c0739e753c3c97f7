/* Moves, conversions, loads and stores, atomics, asynchronous copies. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decode/decode.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/key.h"
#include "engine/sim/windows.h"

/* Offsets are kept in 32 bits. */
static bool offset_fits(struct decode *d, uint64_t base, int64_t by, struct exec_inst *in)
{
    int64_t at;
    if (__builtin_add_overflow((int64_t)base, by, &at) || at != (int32_t)at)
        return decode_why(d, "address offset of more than 32 bits");
    in->imm = (int32_t)at;
    return true;
}

/* ---- mov ---- */
static bool mov_symbol(struct decode *d, const struct ptx_operand *o, unsigned bytes,
                       struct exec_inst *in)
{
    uint64_t addr;
    bool frame;
    if (!decode_symbol(d, o->sym, &addr, &frame))
        return false;
    if (!frame)
        return decode_src(d, o, bytes, &in->a);
    in->fn = exec_mov_frame;
    in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
    return offset_fits(d, addr, o->imm, in);
}

static bool sreg_moves(enum ptx_sreg s)
{
    return s == PTX_SREG_CLOCK || s == PTX_SREG_CLOCK_HI || s == PTX_SREG_CLOCK64 ||
           s == PTX_SREG_GLOBALTIMER || s == PTX_SREG_GLOBALTIMER_LO || s == PTX_SREG_GLOBALTIMER_HI;
}

/* One register against a vector of parts. */
static bool mov_pack(struct decode *d, const struct ptx_inst *i, struct exec_inst *in, bool unpack)
{
    const struct ptx_operand *v = &i->opnds[unpack ? 0 : 1], *r = &i->opnds[unpack ? 1 : 0];
    struct exec_pack x = { .n = (uint8_t)v->nelem, .bytes = (uint8_t)decode_bytes(i->type[0]) };
    if (v->nelem < 2 || v->nelem > 4)
        return decode_why(d, "vector of an unusual length");
    x.part_bits = (uint8_t)(ptx_type_bits(i->type[0]) / v->nelem);
    unsigned part = x.part_bits > 32 ? 8 : 4;
    if (!decode_list(d, v->elem, v->nelem, part, unpack, x.part) ||
        !decode_list(d, r, 1, x.bytes, !unpack, &x.whole))
        return false;
    in->fn = unpack ? exec_unpack : x.whole == EXEC_NO_ID ? exec_nop : exec_pack;
    return decode_more(d, in, &x, sizeof x);
}

static bool mov_pred(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg, na;
    in->fn = exec_pred_mov;
    if (i->opnds[1].kind == OPND_SREG) {
        in->fn = exec_sreg_pred;
        return decode_pred(d, &i->opnds[0], &in->dst, &neg);
    }
    if (!decode_pred(d, &i->opnds[0], &in->dst, &neg) || !decode_pred(d, &i->opnds[1], &in->a, &na))
        return false;
    in->flags |= na ? EXEC_F_NEG_A : 0;
    return true;
}

/* Element k of a vector: of a list, of a vector register, or a component of a special register. */
static struct ptx_operand vector_element(const struct ptx_operand *o, unsigned k)
{
    struct ptx_operand e = o->kind == OPND_VEC ? o->elem[k] : *o;
    if (o->kind != OPND_VEC)
        e.comp = (int8_t)k;
    return e;
}

static bool mov_vector(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_moves x = { .n = ptx_has_mod(i, PTX_MOD_V2) ? 2 : 4,
                            .bytes = (uint8_t)decode_bytes(i->type[0]) };
    for (unsigned k = 0; k < x.n; k++) {
        struct ptx_operand dst = vector_element(&i->opnds[0], k), src = vector_element(&i->opnds[1], k);
        if ((i->opnds[0].kind == OPND_VEC && k >= i->opnds[0].nelem) ||
            (i->opnds[1].kind == OPND_VEC && k >= i->opnds[1].nelem))
            return decode_why(d, "vector too short");
        if (!decode_dst(d, &dst, x.bytes, &x.dst[k]) || !decode_src(d, &src, x.bytes, &x.src[k]))
            return false;
    }
    in->fn = exec_mov_vector;
    return decode_more(d, in, &x, sizeof x);
}

bool decode_mov(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    const struct ptx_operand *dst = &i->opnds[0], *src = &i->opnds[1];
    unsigned bytes = decode_bytes(i->type[0]);
    if (ptx_has_mod(i, PTX_MOD_V2) || ptx_has_mod(i, PTX_MOD_V4))
        return mov_vector(d, i, in);
    if (i->type[0] == PTX_T_PRED)
        return mov_pred(d, i, in);
    if (dst->kind == OPND_VEC || src->kind == OPND_VEC)
        return mov_pack(d, i, in, dst->kind == OPND_VEC);
    if (!decode_dst(d, dst, bytes, &in->dst))
        return false;
    in->fn = bytes == 16 ? exec_mov_wide : d->lanes[bytes == 8 ? LANE_mov_64 : LANE_mov_32];
    if (in->dst == EXEC_NO_ID) {
        in->fn = exec_nop;
        return true;
    }
    if (src->kind == OPND_SREG && sreg_moves(src->index)) {
        in->fn = exec_clock;
        in->reads_time = 1;
        in->imm = (int32_t)src->index;
        in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
        return true;
    }
    if (src->kind == OPND_SYM)
        return mov_symbol(d, src, bytes, in);
    return decode_src(d, src, bytes, &in->a);
}

/* ---- cvt: a row for the common pairs, scalar_cvt for the rest ---- */
struct cvt_row {
    uint8_t to, from, dst_bytes, src_bytes;
    uint16_t lane;
};
#define CVT_INT(T, B, name32, name64)      \
    { 0, PTX_T_##T, 4, B, LANE_##name32 }, \
    {                                      \
        0, PTX_T_##T, 8, B, LANE_##name64  \
    }
#define CVT_FLOAT(T, B, t)                                  \
    { PTX_T_F32, PTX_T_##T, 4, B, LANE_cvt_##t##_f32 },     \
        { PTX_T_F64, PTX_T_##T, 8, B, LANE_cvt_##t##_f64 }, \
        { PTX_T_##T, PTX_T_F32, B, 4, LANE_cvt_f32_##t },   \
    {                                                       \
        PTX_T_##T, PTX_T_F64, B, 8, LANE_cvt_f64_##t        \
    }
static const struct cvt_row cvt_rows[] = {
    CVT_INT(U8, 4, cvt_u8_32, cvt_u8_64),
    CVT_INT(S8, 4, cvt_s8_32, cvt_s8_64),
    CVT_INT(U16, 4, cvt_u16_32, cvt_u16_64),
    CVT_INT(S16, 4, cvt_s16_32, cvt_s16_64),
    CVT_INT(U32, 4, mov_32, cvt_u32_64),
    CVT_INT(S32, 4, mov_32, cvt_s32_64),
    CVT_INT(U64, 8, cvt_64_32, mov_64),
    CVT_INT(S64, 8, cvt_64_32, mov_64),
    CVT_FLOAT(S32, 4, s32),
    CVT_FLOAT(U32, 4, u32),
    CVT_FLOAT(S64, 8, s64),
    CVT_FLOAT(U64, 8, u64),
    { PTX_T_F64, PTX_T_F32, 8, 4, LANE_cvt_f32_f64 },
    { PTX_T_F32, PTX_T_F64, 4, 8, LANE_cvt_f64_f32 },
    { PTX_T_F32, PTX_T_F16, 4, 4, LANE_cvt_f16_f32 },
    { PTX_T_F16, PTX_T_F32, 4, 4, LANE_cvt_f32_f16 },
    { PTX_T_F32, PTX_T_BF16, 4, 4, LANE_cvt_bf16_f32 },
    { PTX_T_BF16, PTX_T_F32, 4, 4, LANE_cvt_f32_bf16 },
};

static bool is_int(enum ptx_type t)
{
    char k = ptx_type_kind(t);
    return k == 'u' || k == 's';
}

/* 32 bits to fewer, in a register of 16 or 32 bits. */
static uint16_t cvt_narrow(enum ptx_type to, unsigned bits, unsigned dst_bits)
{
    bool sign = ptx_type_kind(to) == 's';
    if (sign && dst_bits == 32)
        return bits == 8 ? LANE_cvt_s8_32 : LANE_cvt_s16_32;
    if (bits == 16)
        return LANE_cvt_u16_32;
    return sign ? LANE_NONE : LANE_cvt_u8_32;
}

/* The row for this pair when no rounding but the usual one is asked for. */
static uint16_t cvt_lane(const struct ptx_inst *i, unsigned dst_bits, unsigned src_bits)
{
    enum ptx_type to = i->type[0], from = i->type[1];
    enum ptx_mod r = ptx_mod_of(i, MODCAT_ROUND);
    bool ints = is_int(to) && is_int(from);
    if (i->nopnds != 2 || decode_key(i) & (KEY_FTZ | KEY_SAT | KEY_RELU) ||
        ptx_has_mod(i, PTX_MOD_SATFINITE))
        return LANE_NONE;
    if (ints) { /* narrowing below the register's width needs a second step */
        unsigned tb = ptx_type_bits(to), fb = ptx_type_bits(from);
        if (tb < 32 && fb == 32 && src_bits == 32 && dst_bits <= 32)
            return cvt_narrow(to, tb, dst_bits);
        if (tb < fb ? tb != (dst_bits > 16 ? dst_bits : 16) || tb == 16
                    : dst_bits < 32 && ptx_type_kind(from) == 's')
            return LANE_NONE;
        if (tb != dst_bits || (fb == 64) != (src_bits == 64))
            return LANE_NONE;
        to = PTX_T_NONE;
    } else if (is_int(to) ? r != PTX_MOD_RZI || ptx_type_bits(to) != dst_bits
                          : r != PTX_MOD_NONE && r != PTX_MOD_RN) {
        return LANE_NONE;
    } else if (is_int(from) && ptx_type_bits(from) != src_bits) {
        return LANE_NONE;
    }
    for (size_t k = 0; k < ARRAY_LEN(cvt_rows); k++)
        if (cvt_rows[k].to == to && cvt_rows[k].from == from &&
            cvt_rows[k].dst_bytes == (dst_bits > 32 ? 8 : 4) &&
            cvt_rows[k].src_bytes == (src_bits > 32 ? 8 : 4))
            return cvt_rows[k].lane;
    return LANE_NONE;
}

/* Rounding to an integral value, and two floats packed into one register. */
static uint16_t cvt_float_lane(const struct ptx_inst *i)
{
    static const uint16_t f32[] = { LANE_cvt_rni_f32, LANE_cvt_rzi_f32, LANE_cvt_rmi_f32,
                                    LANE_cvt_rpi_f32 };
    static const uint16_t f64[] = { LANE_cvt_rni_f64, LANE_cvt_rzi_f64, LANE_cvt_rmi_f64,
                                    LANE_cvt_rpi_f64 };
    enum ptx_mod r = ptx_mod_of(i, MODCAT_ROUND);
    if (i->nopnds == 2 && i->type[0] == PTX_T_F32 && i->type[1] == PTX_T_F32 &&
        decode_key(i) == KEY_SAT && r == PTX_MOD_NONE)
        return LANE_cvt_sat_f32;
    if (decode_key(i) & (KEY_FTZ | KEY_SAT | KEY_RELU) || ptx_has_mod(i, PTX_MOD_SATFINITE))
        return LANE_NONE;
    if (i->nopnds == 3 && i->type[1] == PTX_T_F32 && r == PTX_MOD_RN)
        return i->type[0] == PTX_T_F16X2    ? LANE_cvt_f32_f16x2
               : i->type[0] == PTX_T_BF16X2 ? LANE_cvt_f32_bf16x2
                                            : LANE_NONE;
    if (i->nopnds == 2 && i->type[0] == i->type[1] && r >= PTX_MOD_RNI && r <= PTX_MOD_RPI)
        return i->type[0] == PTX_T_F32   ? f32[r - PTX_MOD_RNI]
               : i->type[0] == PTX_T_F64 ? f64[r - PTX_MOD_RNI]
                                         : LANE_NONE;
    return LANE_NONE;
}

static bool cvt_supported(struct decode *d, const struct ptx_inst *i)
{
    if (ptx_has_mod(i, PTX_MOD_RS))
        return decode_why(d, "stochastic rounding");
    if (ptx_has_mod(i, PTX_MOD_SCALED_N2_UE8M0))
        return decode_why(d, "scaled conversion");
    if (i->opnds[1].kind == OPND_VEC || i->nopnds > 3)
        return decode_why(d, "conversion of four values");
    return true;
}

bool decode_cvt(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    unsigned src_bits = decode_reg_bits(d, &i->opnds[1]), dst_bits = decode_reg_bits(d, &i->opnds[0]);
    if (!cvt_supported(d, i))
        return false;
    if (!src_bits)
        src_bits = ptx_type_bits(i->type[1]);
    if (i->opnds[0].kind == OPND_SINK) {
        in->fn = exec_nop;
        return true;
    }
    uint16_t lane = cvt_float_lane(i);
    if (lane == LANE_NONE)
        lane = cvt_lane(i, dst_bits, src_bits);
    struct exec_scalar *x = decode_scalar(d, i);
    if (!x)
        return false;
    x->how.nsrc = (uint8_t)(i->nopnds - 1);
    x->how.dst_bits = (uint8_t)dst_bits;
    x->wd = dst_bits > 32 ? 8 : 4;
    for (unsigned k = 0; k + 1u < i->nopnds; k++) {
        x->ws[k] = src_bits > 32 ? 8 : 4;
        if (!decode_src(d, &i->opnds[k + 1], x->ws[k], &x->src[k]))
            return false;
    }
    in->a = x->src[0];
    in->b = x->src[1];
    in->x = x;
    x->fn = scalar_cvt;
    in->fn = lane != LANE_NONE ? d->lanes[lane] : exec_scalar;
    return decode_dst(d, &i->opnds[0], x->wd, &in->dst);
}

/* ---- address space conversions ---- */
static uint64_t window_of(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nmods; k++)
        switch (i->mods[k]) {
        case PTX_MOD_SHARED:
        case PTX_MOD_SHARED_CTA:
        case PTX_MOD_SHARED_CLUSTER: return SHARED_WINDOW;
        case PTX_MOD_LOCAL: return LOCAL_WINDOW;
        case PTX_MOD_PARAM:
        case PTX_MOD_PARAM_ENTRY: return PARAM_WINDOW;
        default: break;
        }
    return 0;
}

/* cvta adds the window's start, cvta.to takes it away; global and const addresses are generic already.
 */
bool decode_cvta(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    const struct ptx_operand *o = &i->opnds[1];
    uint64_t win = window_of(i), addr;
    bool frame = false;
    unsigned bytes = decode_bytes(i->type[0]);
    if (!decode_dst(d, &i->opnds[0], bytes, &in->dst))
        return false;
    if (o->kind == OPND_SYM && decode_symbol(d, o->sym, &addr, &frame) && frame) {
        in->fn = exec_mov_frame;
        in->flags |= bytes == 8 ? EXEC_F_BASE64 : 0;
        return offset_fits(d, addr, o->imm, in) && decode_more(d, in, &win, sizeof win);
    }
    in->fn = d->lanes[bytes == 8 ? (win ? LANE_add_64 : LANE_mov_64) : LANE_mov_32];
    if (i->op == PTX_OP_CVTA_TO)
        win = 0 - win;
    return decode_src(d, o, bytes, &in->a) && (bytes != 8 || decode_const_slot(d, win, 8, &in->b));
}

bool decode_isspacep(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    bool neg;
    const struct ptx_operand *o = &i->opnds[1];
    unsigned bytes = o->kind == OPND_REG ? decode_reg_bits(d, o) / 8 : 8;
    uint64_t win = window_of(i);
    if (ptx_has_mod(i, PTX_MOD_CONST))
        win = CONST_BASE;
    in->fn = exec_isspacep;
    in->flags |=
        (bytes == 8 ? EXEC_F_BASE64 : 0) | (ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER) ? EXEC_F_CLUSTER : 0);
    return decode_pred(d, &i->opnds[0], &in->dst, &neg) && decode_src(d, o, bytes, &in->a) &&
           decode_more(d, in, &win, sizeof win);
}

/* ---- ld and st ---- */
static uint16_t load_lane(unsigned bytes, char kind, unsigned reg_bits)
{
    bool s = kind == 's', wide = reg_bits > 32;
    switch (bytes) {
    case 1:
        return wide             ? (s ? LANE_ld_s8_64 : LANE_ld_u8_64)
               : !s             ? LANE_ld_u8_32
               : reg_bits <= 16 ? LANE_ld_s8_16
                                : LANE_ld_s8_32;
    case 2:
        return wide                 ? (s ? LANE_ld_s16_64 : LANE_ld_u16_64)
               : s && reg_bits > 16 ? LANE_ld_s16_32
                                    : LANE_ld_u16_32;
    case 4: return wide ? (s ? LANE_ld_s32_64 : LANE_ld_u32_64) : LANE_ld_u32_32;
    default: return LANE_ld_u64_64;
    }
}
static uint16_t store_lane(unsigned bytes, unsigned reg_bits)
{
    bool wide = reg_bits > 32;
    switch (bytes) {
    case 1: return wide ? LANE_st_u8_64 : LANE_st_u8_32;
    case 2: return wide ? LANE_st_u16_64 : LANE_st_u16_32;
    case 4: return wide ? LANE_st_u32_64 : LANE_st_u32_32;
    default: return LANE_st_u64_64;
    }
}

/* Registers of a scalar or vector operand, written as a list or as one register of several: slots, and
 * the width they share. */
static bool value_slots(struct decode *d, const struct ptx_operand *o, unsigned want, bool write,
                        uint32_t *slot, unsigned *n, unsigned *reg_bits)
{
    const bool whole = o->kind == OPND_REG && o->comp < 0 && d->pf->regs[o->index].vec > 1;
    *n = o->kind == OPND_VEC ? o->nelem : whole ? d->pf->regs[o->index].vec : 1;
    *reg_bits = 0;
    struct ptx_operand e[8];
    for (unsigned k = 0; k < *n && k < 8; k++) {
        e[k] = whole || o->kind == OPND_VEC ? vector_element(o, k) : *o;
        unsigned bits = decode_reg_bits(d, &e[k]);
        *reg_bits = bits > *reg_bits ? bits : *reg_bits;
    }
    if (!*reg_bits)
        *reg_bits = want < 32 ? 32 : want;
    unsigned bytes = *reg_bits <= 32 ? 4 : *reg_bits / 8;
    if (!decode_list(d, e, *n < 8 ? *n : 8, bytes, write, slot))
        return false;
    return *n <= 8 || decode_why(d, "vector of an unusual length");
}

static bool cache_hint(struct decode *d, const struct ptx_inst *i, unsigned at, struct exec_inst *in)
{
    in->d = EXEC_NO_ID;
    if (!ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT) || at >= i->nopnds)
        return true;
    in->policy.hint = 1;
    return decode_src(d, &i->opnds[at], 8, &in->d);
}

static bool load_param(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    const struct ptx_operand *o = &i->opnds[1];
    if (!offset_fits(d, o->sym->offset, o->imm, in))
        return false;
    in->fn = exec_ld_param;
    in->kind = EXEC_PLAIN;
    uint64_t n = o->sym->offset + o->sym->bytes;
    if (in->imm < 0 || (uint64_t)in->imm + in->bytes * in->vec > n)
        return decode_why(d, "access past the end of the parameter");
    return true;
}

bool decode_ld(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_ldst x = { .type = i->type[0] };
    const struct ptx_operand *o = &i->opnds[1];
    unsigned n, bits, size = ptx_type_bits(i->type[0]);
    if (!value_slots(d, &i->opnds[0], size, true, x.slot, &n, &bits))
        return false;
    x.reg_bits = (uint8_t)bits;
    in->bytes = (uint8_t)(size / 8);
    in->vec = (uint8_t)n;
    for (unsigned k = 0; k < n; k++)
        /* a parameter that is there already (slot.c) */
        x.slot[k] = (x.slot[k] & 3u) == BANK_SREG ? EXEC_NO_ID : x.slot[k];
    decode_policy(d, i, &in->policy);
    in->x = decode_keep(d, &x, sizeof x);
    enum ptx_space s = i->space;
    if (s == PTX_SPACE_PARAM && d->pf->entry && o->base == BASE_SYM && o->sym->stmt == PTX_NO_INDEX)
        return in->x && load_param(d, i, in);
    if (!decode_address(d, o, s, in) || !cache_hint(d, i, 2, in))
        return false;
    in->fn = size == 128 ? exec_ld_wide : d->lanes[load_lane(size / 8, ptx_type_kind(i->type[0]), bits)];
    in->spin = ptx_has_mod(i, PTX_MOD_VOLATILE) || ptx_has_mod(i, PTX_MOD_RELAXED) ||
               ptx_has_mod(i, PTX_MOD_ACQUIRE) || ptx_has_mod(i, PTX_MOD_MMIO);
    d->atomic_order |= in->spin && in->space != PTX_SPACE_SHARED && in->space != PTX_SPACE_LOCAL;
    if (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC)
        in->load_id = d->p->nloads++;
    return in->x != NULL;
}

bool decode_st(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_ldst x = { .type = i->type[0] };
    unsigned n, bits, size = ptx_type_bits(i->type[0]);
    if (!value_slots(d, &i->opnds[1], size, false, x.slot, &n, &bits))
        return false;
    x.reg_bits = (uint8_t)bits;
    in->bytes = (uint8_t)(size / 8);
    in->vec = (uint8_t)n;
    in->store = 1;
    decode_policy(d, i, &in->policy);
    in->fn = size == 128 ? exec_st_wide : d->lanes[store_lane(size / 8, bits)];
    in->x = decode_keep(d, &x, sizeof x);
    return in->x && decode_address(d, &i->opnds[0], i->space, in) && cache_hint(d, i, 2, in);
}

bool decode_prefetch(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    in->fn = exec_prefetch;
    in->bytes = 1;
    in->imm = 0;
    decode_policy(d, i, &in->policy);
    if (!decode_address(d, &i->opnds[0], i->space, in))
        return false;
    in->dst = ptx_has_mod(i, PTX_MOD_L1) ? 1 : 2;
    return true;
}

/* Commits and waits of copies, proxy fences: of meaning for who watches copies. */
bool decode_async_group(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    if (i->nopnds && i->opnds[0].kind == OPND_IMM)
        in->imm = (int32_t)(i->opnds[0].imm < 0         ? 0
                            : i->opnds[0].imm > 1 << 20 ? 1 << 20
                                                        : i->opnds[0].imm);
    in->fn = ptx_has_mod(i, PTX_MOD_ALIAS) ? exec_nop : exec_async_group;
    (void)d;
    return true;
}

bool decode_nop(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    (void)d, (void)i;
    in->fn = exec_nop;
    return true;
}

/* createpolicy: the value says what exec_hint_* read back; its layout is ours. */
bool decode_policy_make(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_policy_how x = { .range = i->op == PTX_OP_CREATEPOLICY_RANGE };
    unsigned n = 0;
    for (unsigned k = 0; k < i->nmods; k++)
        if (ptx_mod_category(i->mods[k]) == MODCAT_L2 && n < 2) {
            enum ptx_mod m = i->mods[k];
            x.kind[n++] = m == PTX_MOD_L2_EVICT_FIRST       ? EVICT_FIRST
                          : m == PTX_MOD_L2_EVICT_LAST      ? EVICT_LAST
                          : m == PTX_MOD_L2_EVICT_UNCHANGED ? EVICT_UNCHANGED
                                                            : EVICT_NORMAL;
        }
    if (n < 2)
        x.kind[1] = EVICT_UNCHANGED;
    in->fn = exec_policy_make;
    in->a = in->b = EXEC_NO_ID;
    if (i->op == PTX_OP_CREATEPOLICY_CVT) {
        in->fn = d->lanes[LANE_mov_64];
        return decode_dst(d, &i->opnds[0], 8, &in->dst) && decode_src(d, &i->opnds[1], 8, &in->a);
    }
    in->x = decode_keep(d, &x, sizeof x);
    if (!in->x || !decode_dst(d, &i->opnds[0], 8, &in->dst))
        return false;
    if (x.range)
        return decode_address(d, &i->opnds[1], PTX_SPACE_GLOBAL, in) && (in->kind = EXEC_PLAIN, true) &&
               decode_src(d, &i->opnds[2], 4, &in->b) && decode_src(d, &i->opnds[3], 4, &in->c);
    return i->nopnds < 2 || decode_src(d, &i->opnds[1], 4, &in->a);
}

/* ---- atom and red ---- */
bool decode_atom_op(const struct ptx_inst *i, uint8_t *op)
{
    static const struct {
        uint16_t mod;
        uint8_t op;
    } t[] = { { PTX_MOD_ADD, ATOM_ADD }, { PTX_MOD_MIN, ATOM_MIN }, { PTX_MOD_MAX, ATOM_MAX },
              { PTX_MOD_INC, ATOM_INC }, { PTX_MOD_DEC, ATOM_DEC }, { PTX_MOD_AND, ATOM_AND },
              { PTX_MOD_OR, ATOM_OR },   { PTX_MOD_XOR, ATOM_XOR }, { PTX_MOD_EXCH, ATOM_EXCH },
              { PTX_MOD_CAS, ATOM_CAS } };
    for (size_t k = 0; k < ARRAY_LEN(t); k++)
        if (ptx_has_mod(i, t[k].mod)) {
            *op = t[k].op;
            return true;
        }
    return false;
}

/* Whether the outcome depends on the order in which CTAs get there. */
static bool atom_ordered(const struct exec_atom *x)
{
    char k = ptx_type_kind(x->type);
    bool is_float = k == 'f' || k == 'x';
    return x->returns || x->op == ATOM_EXCH || x->op == ATOM_CAS || x->op == ATOM_INC ||
           x->op == ATOM_DEC || (is_float && x->op == ATOM_ADD);
}

/* Some instruction reads what this operand writes. */
static bool is_read(const struct decode *d, const struct ptx_operand *o)
{
    bool read = o->kind == OPND_REG && d->f->read[o->index];
    for (unsigned k = 0; o->kind == OPND_VEC && k < o->nelem; k++)
        read |= o->elem[k].kind == OPND_REG && d->f->read[o->elem[k].index];
    return read;
}

/* Where nobody reads what was there it is a reduction, as ptxas makes it. */
bool decode_atom(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_atom x = { .type = i->type[0], .returns = i->op == PTX_OP_ATOM };
    unsigned n, nd, bits, first = x.returns, size = ptx_type_bits(i->type[0]);
    if (!decode_atom_op(i, &x.op))
        return false;
    if (!value_slots(d, &i->opnds[first + 1], size, false, x.src, &n, &bits))
        return false;
    if (x.returns && (!value_slots(d, &i->opnds[0], size, true, x.dst, &nd, &bits) || nd != n))
        return false;
    x.reg_bytes = size > 64 ? 16 : bits > 32 ? 8 : 4;
    x.vec = in->vec = (uint8_t)n;
    x.bytes = in->bytes = (uint8_t)(size / 8);
    bool unused = true;
    for (unsigned k = 0; k < n; k++)
        unused &= !x.returns || x.dst[k] == EXEC_NO_ID;
    if (unused || (x.op != ATOM_CAS && x.op != ATOM_EXCH && !is_read(d, &i->opnds[0])))
        x.returns = false;
    if (x.op == ATOM_CAS && !decode_src(d, &i->opnds[first + 2], x.reg_bytes, &x.cmp))
        return false;
    in->fn = size > 64 ? exec_atom_wide : exec_atom;
    in->spin = 1;
    in->x = decode_keep(d, &x, sizeof x);
    if (!in->x || !decode_address(d, &i->opnds[first], i->space, in) ||
        !cache_hint(d, i, first + 2u + (x.op == ATOM_CAS), in))
        return false;
    d->atomic_order |= in->space != PTX_SPACE_SHARED && atom_ordered(&x);
    return true;
}

/* ---- asynchronous copies: done when issued, so groups have nothing to wait for ---- */
bool decode_cp_async(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_cp_async x = { .src_size = EXEC_NO_ID, .ignore = EXEC_NO_ID };
    struct exec_inst from = { .flags = 0 };
    int64_t size;
    bool neg = false;
    if (!decode_is_imm(&i->opnds[2], &size))
        return decode_why(d, "copy size is not a constant");
    unsigned at = 3;
    if (at < i->nopnds && decode_reg_bits(d, &i->opnds[at]) == 1) {
        if (!decode_pred(d, &i->opnds[at++], &x.ignore, &neg))
            return false;
    } else if (at < i->nopnds && !(i->nopnds == 4 && ptx_has_mod(i, PTX_MOD_L2_CACHE_HINT))) {
        if (!decode_src(d, &i->opnds[at++], 4, &x.src_size))
            return false;
    }
    if (!decode_address(d, &i->opnds[1], PTX_SPACE_GLOBAL, &from) ||
        !decode_address(d, &i->opnds[0], PTX_SPACE_SHARED, in))
        return false;
    x.neg = neg;
    x.from_slot = from.a;
    x.from_imm = from.imm;
    x.from64 = (from.flags & EXEC_F_BASE64) != 0;
    decode_policy(d, i, &in->policy);
    in->bytes = (uint8_t)size;
    in->fn = exec_cp_async;
    in->x = decode_keep(d, &x, sizeof x);
    return in->x && cache_hint(d, i, at, in);
}

/* mbarrier and its asynchronous users: one 64-bit object in shared memory (async.c). */
bool decode_mbar(struct decode *d, const struct ptx_inst *i, struct exec_inst *in)
{
    struct exec_mbar x = { .op = i->op, .state = EXEC_NO_ID, .count = EXEC_NO_ID, .pred = EXEC_NO_ID };
    unsigned at = 0, n = i->nopnds;
    bool neg;
    in->fn = exec_mbar;
    in->bytes = 8;
    if (i->op == PTX_OP_MBARRIER_PENDING_COUNT) {
        in->kind = EXEC_PLAIN;
        if (!decode_dst(d, &i->opnds[0], 4, &x.state) || !decode_src(d, &i->opnds[1], 8, &x.count))
            return false;
        return decode_more(d, in, &x, sizeof x);
    }
    if (i->opnds[0].kind != OPND_ADDR) {
        bool pred = decode_reg_bits(d, &i->opnds[0]) == 1;
        if (!(pred ? decode_pred(d, &i->opnds[0], &x.pred, &neg)
                   : decode_dst(d, &i->opnds[0], 8, &x.state)))
            return false;
        x.waits = pred;
        at = 1;
    }
    if (!decode_address(d, &i->opnds[at++],
                        i->space == PTX_SPACE_GENERIC || i->space == PTX_SPACE_SHARED_CLUSTER
                            ? i->space
                            : PTX_SPACE_SHARED,
                        in))
        return false;
    x.parity = i->op == PTX_OP_MBARRIER_TEST_WAIT_PARITY || i->op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
    x.noinc = ptx_has_mod(i, PTX_MOD_NOINC);
    if (at < n && !decode_src(d, &i->opnds[at], x.waits && !x.parity ? 8 : 4, &x.count))
        return false;
    in->spin = x.waits ? 128 : 0; /* waiting is what it is for: others get a turn soon */
    return decode_more(d, in, &x, sizeof x);
}
