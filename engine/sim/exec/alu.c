/* Bodies that have no vector form: predicates, packing, carry chains, conversions, stack, policies. */
#include "engine/ptx/op_enum.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/lanes/math_int.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/key.h"
#include "engine/sim/step.h"
#include "engine/sim/windows.h"

#include <math.h>

void exec_nop(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)w, (void)in, (void)mask;
}

void exec_scalar(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_scalar *x = in->x;
    uint32_t bits = 0;
    FOR_LANES(i, mask)
    {
        uint64_t s[4] = { 0 };
        for (unsigned k = 0; k < x->how.nsrc; k++)
            s[k] = lane_read(w, x->src[k], i, x->ws[k]);
        uint64_t r = x->fn(&x->how, s);
        if (x->wd == 1)
            bits |= (uint32_t)(r & 1) << i;
        else
            lane_write(w, in->dst, i, x->wd, r);
    }
    if (x->wd == 1)
        pred_write(w, in->dst, mask, bits);
}

/* ---- predicates ---- */
static uint32_t pred_a(const struct exec_warp *w, const struct exec_inst *in)
{
    return pred_read(w, in->a, in->flags & EXEC_F_NEG_A);
}
static uint32_t pred_b(const struct exec_warp *w, const struct exec_inst *in)
{
    return pred_read(w, in->b, in->flags & EXEC_F_NEG_B);
}
#define PREDICATE(name, result)                                                           \
    void exec_pred_##name(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) \
    {                                                                                     \
        pred_write(w, in->dst, mask, result);                                             \
    }
PREDICATE(and, pred_a(w, in) & pred_b(w, in))
PREDICATE(or, pred_a(w, in) | pred_b(w, in))
PREDICATE(xor, pred_a(w, in) ^ pred_b(w, in))
PREDICATE(not, ~pred_a(w, in))
PREDICATE(mov, pred_a(w, in))

static uint32_t combine(uint8_t op, uint32_t r, uint32_t c)
{
    return op == 1 ? r & c : op == 2 ? r | c : op == 3 ? r ^ c : r;
}

void exec_compare_more(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, uint32_t r)
{
    const struct exec_compare *x = in->x;
    if (x->complement)
        r = ~r;
    uint32_t c = x->op ? pred_read(w, in->c, in->flags & EXEC_F_NEG_C) : 0;
    uint32_t p = combine(x->op, r, c), q = combine(x->op, ~r, c);
    if (x->set) {
        FOR_LANES(i, mask) lane_write(w, in->dst, i, x->set_bytes, p >> i & 1 ? x->set_value : 0);
        return;
    }
    pred_write(w, in->dst, mask, p);
    pred_write(w, in->dst2, mask, q);
}

/* One half of a packed comparison: its operands and result lie in a bank of our own for a moment. */
static uint32_t compare_half(struct exec_warp *w, const struct exec_inst *in, unsigned h)
{
    const struct exec_compare *x = in->x;
    const uint32_t *a = slot_at(w, in->a), *b = slot_at(w, in->b);
    uint32_t own[2 * WARP_LANES + 1] = { 0 };
    struct exec_inst one = *in;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        own[i] = a[i] >> 16 * h & 0xffff;
        own[WARP_LANES + i] = b[i] >> 16 * h & 0xffff;
    }
    const uintptr_t kept = w->bank[BANK_CTA];
    bank_set(w, BANK_CTA, own);
    one.a = 0 | BANK_CTA;
    one.b = WARP_LANES * 4 | BANK_CTA;
    one.dst = 2 * WARP_LANES * 4 | BANK_CTA;
    one.x = NULL;
    x->pair(w, &one, EXEC_FULL);
    w->bank[BANK_CTA] = kept;
    return x->complement ? ~own[2 * WARP_LANES] : own[2 * WARP_LANES];
}

/* f16x2 and bf16x2: each half compared by itself (9.7.7). */
void exec_compare_pair(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_compare *x = in->x;
    uint32_t c = x->op ? pred_read(w, in->c, in->flags & EXEC_F_NEG_C) : 0;
    uint32_t lo = combine(x->op, compare_half(w, in, 0), c),
             hi = combine(x->op, compare_half(w, in, 1), c);
    if (x->set) {
        FOR_LANES(i, mask)
        lane_write(w, in->dst, i, 4,
                   (lo >> i & 1 ? x->set_value & 0xffff : 0) |
                       (hi >> i & 1 ? x->set_value & 0xffff0000u : 0));
        return;
    }
    pred_write(w, in->dst, mask, lo);
    pred_write(w, in->dst2, mask, hi);
}

void exec_lop3_bool(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_lop3 *x = in->x;
    const uint32_t *a = slot_at(w, in->a), *b = slot_at(w, in->b), *c = slot_at(w, in->c);
    uint32_t nonzero = 0, q = pred_read(w, in->d, x->neg), r[WARP_LANES];
    FOR_LANES(i, mask)
    {
        r[i] = lop3_u32(a[i], b[i], c[i], (uint32_t)in->imm);
        nonzero |= (uint32_t)(r[i] != 0) << i;
    }
    FOR_LANES(i, mask) lane_write(w, in->dst, i, 4, r[i]);
    pred_write(w, in->dst2, mask, x->bool_and ? nonzero & q : nonzero | q);
}

/* ---- carry chains: CC.CF is word 0 of the frame ---- */
struct carried {
    uint64_t v;
    bool carry;
};
static struct carried carry_add(uint64_t a, uint64_t b, bool in, unsigned bytes)
{
    if (bytes == 4) {
        uint64_t r = (a & 0xffffffffu) + (b & 0xffffffffu) + in;
        return (struct carried){ (uint32_t)r, r >> 32 };
    }
    uint64_t r = a + b, s = r + in;
    return (struct carried){ s, r < a || s < r };
}
/* a + ~b + carry: after sub.cc a set flag means that nothing was borrowed. The ISA calls the flag a
 * borrow, but code of nvcc's own (128-bit division) reads it with addc and relies on this. */
static struct carried carry_sub(uint64_t a, uint64_t b, bool carry, unsigned bytes)
{
    return carry_add(a, bytes == 4 ? (uint32_t)~b : ~b, carry, bytes);
}
static uint64_t product(const struct exec_carry *x, uint64_t a, uint64_t b, bool hi)
{
    if (x->bytes == 4) {
        uint64_t p = x->is_signed ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b)
                                  : (a & 0xffffffffu) * (b & 0xffffffffu);
        return hi ? p >> 32 : (uint32_t)p;
    }
    return !hi ? a * b : x->is_signed ? mulhi_s64(a, b) : mulhi_u64(a, b);
}
static struct carried carry_one(const struct exec_carry *x, uint64_t a, uint64_t b, uint64_t c, bool cf)
{
    switch (x->op) {
    case PTX_OP_ADD_CC: return carry_add(a, b, false, x->bytes);
    case PTX_OP_ADDC:
    case PTX_OP_ADDC_CC: return carry_add(a, b, cf, x->bytes);
    case PTX_OP_SUB_CC: return carry_sub(a, b, true, x->bytes);
    case PTX_OP_SUBC:
    case PTX_OP_SUBC_CC: return carry_sub(a, b, cf, x->bytes);
    case PTX_OP_MAD_LO_CC: return carry_add(product(x, a, b, false), c, false, x->bytes);
    case PTX_OP_MAD_HI_CC: return carry_add(product(x, a, b, true), c, false, x->bytes);
    case PTX_OP_MADC_LO:
    case PTX_OP_MADC_LO_CC: return carry_add(product(x, a, b, false), c, cf, x->bytes);
    default: return carry_add(product(x, a, b, true), c, cf, x->bytes);
    }
}
static bool sets_carry(uint16_t op)
{
    return op == PTX_OP_ADD_CC || op == PTX_OP_ADDC_CC || op == PTX_OP_SUB_CC || op == PTX_OP_SUBC_CC ||
           op == PTX_OP_MAD_LO_CC || op == PTX_OP_MAD_HI_CC || op == PTX_OP_MADC_LO_CC ||
           op == PTX_OP_MADC_HI_CC;
}
void exec_carry(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_carry *x = in->x;
    uint32_t cf = pred_read(w, in->d, false), out = 0;
    FOR_LANES(i, mask)
    {
        uint64_t c = in->c == EXEC_NO_ID ? 0 : lane_read(w, in->c, i, x->bytes);
        struct carried r = carry_one(x, lane_read(w, in->a, i, x->bytes),
                                     lane_read(w, in->b, i, x->bytes), c, cf >> i & 1);
        lane_write(w, in->dst, i, x->bytes, r.v);
        out |= (uint32_t)r.carry << i;
    }
    if (sets_carry(x->op))
        pred_write(w, in->d, mask, out);
}

/* ---- moves ---- */
/* Address of a variable of the frame, in local memory; x: what to add (generic addresses). */
void exec_mov_frame(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t win = in->x ? *(const uint64_t *)in->x : 0;
    FOR_LANES(i, mask)
    lane_write(w, in->dst, i, in->flags & EXEC_F_BASE64 ? 8 : 4,
               w->frame->base[i] + (uint64_t)(int64_t)in->imm + win);
}
void exec_mov_wide(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t *d = slot_at(w, in->dst);
    const uint64_t *a = slot_at(w, in->a);
    FOR_LANES(i, mask)
    {
        d[i] = a[i];
        d[WARP_LANES + i] = a[WARP_LANES + i];
    }
}
void exec_mov_vector(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_moves *x = in->x;
    FOR_LANES(i, mask)
    {
        uint64_t v[8];
        for (unsigned k = 0; k < x->n; k++)
            v[k] = lane_read(w, x->src[k], i, x->bytes);
        for (unsigned k = 0; k < x->n; k++)
            lane_write(w, x->dst[k], i, x->bytes, v[k]);
    }
}
/* 128-bit values: part k of two. */
static uint64_t *wide_half(struct exec_warp *w, uint32_t slot, unsigned k)
{
    return (uint64_t *)slot_at(w, slot) + k * WARP_LANES;
}

/* The usual case: 64 bits of two words, or 32 of two halves, all lanes, nothing thrown away. */
static bool in_halves(const struct exec_pack *x, uint32_t mask)
{
    return mask == EXEC_FULL && x->n == 2 && x->bytes <= 8 && x->part[0] != EXEC_NO_ID &&
           x->part[1] != EXEC_NO_ID && x->whole != EXEC_NO_ID;
}

static void pack_halves(struct exec_warp *w, const struct exec_pack *x)
{
    const uint32_t *lo = slot_at(w, x->part[0]), *hi = slot_at(w, x->part[1]);
    uint64_t *d64 = slot_at(w, x->whole);
    uint32_t *d32 = slot_at(w, x->whole), keep = (uint32_t)((1ull << x->part_bits) - 1);
    if (x->bytes == 8)
        for (unsigned i = 0; i < WARP_LANES; i++)
            d64[i] = lo[i] | (uint64_t)hi[i] << 32;
    else
        for (unsigned i = 0; i < WARP_LANES; i++)
            d32[i] = (lo[i] & keep) | (hi[i] & keep) << x->part_bits;
}

static void unpack_halves(struct exec_warp *w, const struct exec_pack *x)
{
    uint32_t *lo = slot_at(w, x->part[0]), *hi = slot_at(w, x->part[1]);
    const uint64_t *s64 = slot_at(w, x->whole);
    const uint32_t *s32 = slot_at(w, x->whole);
    uint32_t keep = (uint32_t)((1ull << x->part_bits) - 1);
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t v = x->bytes == 8 ? s64[i] : s32[i];
        lo[i] = (uint32_t)v & keep;
        hi[i] = (uint32_t)(v >> x->part_bits) & keep;
    }
}

void exec_pack(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_pack *x = in->x;
    unsigned bytes = x->part_bits > 32 ? 8 : 4;
    uint64_t keep = x->part_bits == 64 ? UINT64_MAX : (1ull << x->part_bits) - 1;
    if (in_halves(x, mask)) {
        pack_halves(w, x);
        return;
    }
    FOR_LANES(i, mask)
    {
        uint64_t half[2] = { 0, 0 };
        for (unsigned k = 0; k < x->n; k++) {
            unsigned at = k * x->part_bits;
            half[at / 64] |= (lane_read(w, x->part[k], i, bytes) & keep) << at % 64;
        }
        if (x->bytes == 16) {
            wide_half(w, x->whole, 0)[i] = half[0];
            wide_half(w, x->whole, 1)[i] = half[1];
        } else {
            lane_write(w, x->whole, i, x->bytes, half[0]);
        }
    }
}
void exec_unpack(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_pack *x = in->x;
    unsigned bytes = x->part_bits > 32 ? 8 : 4;
    uint64_t keep = x->part_bits == 64 ? UINT64_MAX : (1ull << x->part_bits) - 1;
    if (in_halves(x, mask)) {
        unpack_halves(w, x);
        return;
    }
    FOR_LANES(i, mask)
    {
        uint64_t half[2] = { 0, 0 };
        if (x->bytes == 16) {
            half[0] = wide_half(w, x->whole, 0)[i];
            half[1] = wide_half(w, x->whole, 1)[i];
        } else {
            half[0] = lane_read(w, x->whole, i, x->bytes);
        }
        for (unsigned k = 0; k < x->n; k++)
            lane_write(w, x->part[k], i, bytes,
                       half[k * x->part_bits / 64] >> k * x->part_bits % 64 & keep);
    }
}

void exec_isspacep(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t win = *(const uint64_t *)in->x;
    uint32_t r = 0;
    FOR_LANES(i, mask)
    {
        uint64_t a = lane_read(w, in->a, i, in->flags & EXEC_F_BASE64 ? 8 : 4);
        bool in_it = win == CONST_BASE ? a >= CONST_BASE && a < GLOBAL_BASE
                     : win             ? a - win < WINDOW_BYTES
                                       : a >= CONST_BASE;
        if (win == SHARED_WINDOW)
            in_it = in_it && exec_in_shared(w, a - win, in->flags & EXEC_F_CLUSTER);
        r |= (uint32_t)in_it << i;
    }
    pred_write(w, in->dst, mask, r);
}

/* ---- cvt, 9.7.9.21: one value through double rounded to odd, or through 64-bit integers ---- */
static uint64_t saturated(int64_t v, enum ptx_type from, enum ptx_type to)
{
    unsigned bits = ptx_type_bits(to);
    bool wide = from == PTX_T_U64 && v < 0; /* above any signed value */
    if (ptx_type_kind(to) == 's') {
        int64_t hi = (int64_t)(UINT64_MAX >> (65 - bits)), lo = -hi - 1;
        return (uint64_t)(wide || v > hi ? hi : v < lo ? lo : v);
    }
    uint64_t hi = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    return wide ? (bits == 64 ? (uint64_t)v : hi) : v < 0 ? 0 : (uint64_t)v > hi ? hi : (uint64_t)v;
}
static uint64_t float_to_int(const struct scalar_how *h, double x, enum ptx_type from, enum ptx_type to)
{
    unsigned bits = ptx_type_bits(to);
    bool sign = ptx_type_kind(to) == 's';
    if (x != x)
        return from != PTX_T_F64 && bits != 64 ? 0 : 1ull << (bits - 1);
    x = soft_integral(x, h->mode);
    double hi = ldexp(1, (int)bits - sign), lo = sign ? -hi : 0;
    if (x >= hi)
        return sign ? (1ull << (bits - 1)) - 1 : bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (x <= lo)
        return sign ? 0 - (1ull << (bits - 1)) : 0;
    return sign ? (uint64_t)(int64_t)x : (uint64_t)x;
}
static double flushed(double x, double least)
{
    return fabs(x) < least ? copysign(0, x) : x;
}

/* A NaN of f64 keeps its sign and the upper bits of its payload (as in f32_of_f64). */
static uint64_t nan_kept(double x, const struct soft_format *f)
{
    uint64_t u = bits_f64(x), frac = (1ull << f->frac) - 1;
    return (u >> 63) << (f->bits - 1) | (f->max + 1) | 1ull << (f->frac - 1) |
           (u >> (52 - f->frac) & frac);
}

static uint64_t float_result(const struct scalar_how *h, double x, enum ptx_type from, enum ptx_type to)
{
    const struct soft_format *f = soft_format_of(to);
    if (x != x && from == PTX_T_F64 && (to == PTX_T_F32 || to == PTX_T_F16 || to == PTX_T_BF16) &&
        !(h->key & (KEY_SAT | KEY_RELU)))
        return nan_kept(x, f);
    enum soft_mode mode = h->mode;
    bool same = from == to && h->integral;
    if (h->key & KEY_FTZ && from == PTX_T_F32)
        x = flushed(x, 0x1p-126);
    if (same || (h->integral && !h->rounded))
        x = soft_integral(x, h->mode);
    if (h->integral)
        x = soft_integral(x, h->mode), mode = SOFT_RN;
    if (h->key & KEY_SAT)
        x = x > 1 ? 1 : x > 0 ? x : 0;
    if (h->key & KEY_RELU)
        x = x > 0 || x != x ? x : 0;
    uint64_t r = soft_round(x, f, mode, h->finite);
    if (h->key & KEY_FTZ && to == PTX_T_F32)
        r = (r & 0x7f800000) ? r : r & 0x80000000u;
    return r;
}

static uint64_t cvt_value(const struct scalar_how *h, uint64_t v, enum ptx_type from, enum ptx_type to)
{
    const struct soft_format *ff = soft_format_of(from), *ft = soft_format_of(to);
    if (!ff && !ft) {
        int64_t x = scalar_int(v, from);
        return h->key & KEY_SAT ? saturated(x, from, to) : (uint64_t)x;
    }
    if (ff && !ft) {
        double x = soft_to_double(v, ff);
        return float_to_int(h, h->key & KEY_FTZ && from == PTX_T_F32 ? flushed(x, 0x1p-126) : x, from,
                            to);
    }
    if (!ff) {
        uint64_t i = (uint64_t)scalar_int(v, from);
        double hi = ptx_type_kind(from) == 's' ? (double)((int64_t)i >> 32) : (double)(i >> 32);
        if (to == PTX_T_F64 && h->mode != SOFT_RN)
            return bits_f64(soft_f64('+', hi * 4294967296.0, (double)(i & 0xffffffffu), 0, h->mode));
        return to == PTX_T_F64 ? bits_f64(ptx_type_kind(from) == 's' ? (double)(int64_t)i : (double)i)
                               : float_result(h, soft_from_int(i, ptx_type_kind(from) == 's'), from, to);
    }
    double x = soft_to_double(v, ff);
    if (x != x && to == PTX_T_TF32 && h->mode == SOFT_RNA)
        return v & 0xffffe000u; /* its bits but the low ones, as an H200 has it */
    return float_result(h, x, from, to);
}

/* Bits from one part to the next: six-bit floats are in bytes, four-bit ones two to the byte. */
static unsigned part_step(enum ptx_type t)
{
    return t == PTX_T_E2M1 ? 4 : ptx_type_bits(t);
}

static uint64_t cvt_parts(const struct scalar_how *h, const uint64_t s[4])
{
    unsigned nt, nf;
    enum ptx_type to = scalar_element(h->t[0], &nt), from = scalar_element(h->t[1], &nf);
    uint64_t r = 0;
    if (nt == 1)
        return cvt_value(h, s[0], from, to);
    for (unsigned k = 0; k < nt; k++) { /* of two sources the first is the upper half */
        uint64_t v =
            nf > 1 ? s[0] >> k * part_step(from) & ((1ull << part_step(from)) - 1) : s[nt - 1 - k];
        r |= (cvt_value(h, v, from, to) & ((1ull << ptx_type_bits(to)) - 1)) << k * part_step(to);
    }
    return r;
}

uint64_t scalar_cvt(const struct scalar_how *h, const uint64_t s[4])
{
    enum ptx_type to = h->t[0];
    uint64_t r = cvt_parts(h, s);
    if (ptx_type_kind(to) == 's' || ptx_type_kind(to) == 'u')
        r = (uint64_t)scalar_int(r, to);
    return h->dst_bits < 64 ? r & ((1ull << h->dst_bits) - 1) : r;
}

/* ---- stack, 9.7.17 ---- */
void exec_alloca(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    unsigned bytes = in->flags & EXEC_F_BASE64 ? 8 : 4;
    uint32_t align = in->imm > 0 ? (uint32_t)in->imm : 8;
    FOR_LANES(i, mask)
    {
        uint64_t n = lane_read(w, in->a, i, bytes),
                 at = (w->frame->top[i] + (uint64_t)align - 1) / align * align;
        if (n > w->x->local_bytes || at + n > w->x->local_bytes) {
            exec_fault(w, in, i, FAULT_LOCAL_STACK,
                       "alloca of %llu bytes does not fit in %u bytes of local memory",
                       (unsigned long long)n, w->x->local_bytes);
            return;
        }
        w->frame->top[i] = (uint32_t)(at + n);
        lane_write(w, in->dst, i, bytes, at);
    }
}
void exec_stacksave(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    FOR_LANES(i, mask) lane_write(w, in->dst, i, in->flags & EXEC_F_BASE64 ? 8 : 4, w->frame->top[i]);
}
void exec_stackrestore(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t least = w->frame->func->local_bytes;
    FOR_LANES(i, mask)
    {
        uint64_t v = lane_read(w, in->a, i, in->flags & EXEC_F_BASE64 ? 8 : 4),
                 lo = (uint64_t)w->frame->base[i] + least;
        w->frame->top[i] = (uint32_t)(v < lo ? lo : v < w->frame->top[i] ? v : w->frame->top[i]);
    }
}

/* ---- createpolicy: bits 0-2 primary, 3-5 secondary, 6-15 fraction in 1/1000; a range policy has bit
 * 63, the pages of 4 KiB of its primary window in bits 6-25 and the number of the first one in bits
 * 26-62 ---- */
#define HINT_RANGE (1ull << 63)
#define HINT_PAGES 0xfffffull
#define HINT_FIRST 0x1fffffffffull
void exec_policy_make(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_policy_how *x = in->x;
    uint64_t base = x->kind[0] | (uint64_t)x->kind[1] << 3;
    FOR_LANES(i, mask)
    {
        uint64_t v = base;
        if (x->range) {
            uint64_t a =
                lane_read(w, in->a, i, in->flags & EXEC_F_BASE64 ? 8 : 4) + (uint64_t)(int64_t)in->imm;
            uint64_t end = a + lane_read(w, in->b, i, 4), pages = ((end + 4095) >> 12) - (a >> 12);
            v |= HINT_RANGE | (pages > HINT_PAGES ? HINT_PAGES : pages) << 6 |
                 (a >> 12 & HINT_FIRST) << 26;
        } else {
            float f = in->a == EXEC_NO_ID ? 1.0f : f32_bits((uint32_t)lane_read(w, in->a, i, 4));
            v |= (uint64_t)(f >= 1 ? 1000 : f > 0 ? f * 1000 : 0) << 6;
        }
        lane_write(w, in->dst, i, 8, v);
    }
}
enum exec_evict exec_hint_primary(uint64_t hint)
{
    return hint & 7;
}
enum exec_evict exec_hint_secondary(uint64_t hint)
{
    return hint >> 3 & 7;
}
double exec_hint_fraction(uint64_t hint)
{
    return hint & HINT_RANGE ? 1.0 : (double)(hint >> 6 & 1023) / 1000;
}
bool exec_hint_range(uint64_t hint, uint64_t addr, enum exec_evict *kind)
{
    if (!(hint & HINT_RANGE))
        return false;
    *kind = (addr >> 12) - (hint >> 26 & HINT_FIRST) < (hint >> 6 & HINT_PAGES)
                ? exec_hint_primary(hint)
                : exec_hint_secondary(hint);
    return true;
}
