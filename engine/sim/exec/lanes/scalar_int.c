/* Integer operations lane by lane. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/lanes/math_int.h"
#include "engine/sim/exec/lanes/scalar.h"
#include "engine/sim/key.h"

int64_t scalar_int(uint64_t v, enum ptx_type t)
{
    unsigned up = 64 - ptx_type_bits(t);
    return ptx_type_kind(t) == 's' ? (int64_t)(v << up) >> up : (int64_t)(v << up >> up);
}

uint64_t scalar_sad(const struct scalar_how *h, const uint64_t s[4])
{
    int64_t a = scalar_int(s[0], h->t[0]), b = scalar_int(s[1], h->t[0]);
    bool less = h->t[0] == PTX_T_U64 ? (uint64_t)a < (uint64_t)b : a < b;
    return s[2] + (less ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b);
}

/* mad.hi.sat.s32 */
uint64_t scalar_mad_hi(const struct scalar_how *h, const uint64_t s[4])
{
    (void)h;
    int64_t r = ((int64_t)(int32_t)s[0] * (int32_t)s[1] >> 32) + (int32_t)s[2];
    return (uint32_t)(r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r);
}

uint64_t scalar_mul24(const struct scalar_how *h, const uint64_t s[4])
{
    bool sign = h->t[0] == PTX_T_S32, hi = h->op == PTX_OP_MUL24_HI || h->op == PTX_OP_MAD24_HI;
    bool mad = h->op == PTX_OP_MAD24_LO || h->op == PTX_OP_MAD24_HI;
    int64_t a = sign ? (int64_t)(s[0] << 40) >> 40 : (int64_t)(s[0] & 0xffffff);
    int64_t b = sign ? (int64_t)(s[1] << 40) >> 40 : (int64_t)(s[1] & 0xffffff);
    int64_t p = a * b;
    uint32_t r = hi ? (uint32_t)(p >> 16) : (uint32_t)p;
    if (!mad)
        return r;
    if (h->key & KEY_SAT) {
        int64_t t = (int64_t)(int32_t)r + (int32_t)s[2];
        return (uint32_t)(t > INT32_MAX ? INT32_MAX : t < INT32_MIN ? INT32_MIN : t);
    }
    return r + (uint32_t)s[2];
}

uint64_t scalar_bfind(const struct scalar_how *h, const uint64_t s[4])
{
    unsigned bits = ptx_type_bits(h->t[0]);
    uint64_t v = (uint64_t)scalar_int(s[0], h->t[0]);
    if (ptx_type_kind(h->t[0]) == 's' && (int64_t)v < 0)
        v = ~v;
    if (!v)
        return 0xffffffffu;
    unsigned at = 63u - (unsigned)__builtin_clzll(v);
    return h->shiftamt ? bits - 1 - at : at;
}

/* 9.7.1.17: the offset-th set bit from base, upwards or downwards. */
uint64_t scalar_fns(const struct scalar_how *h, const uint64_t s[4])
{
    (void)h;
    uint32_t mask = (uint32_t)s[0], base = (uint32_t)s[1];
    int32_t offset = (int32_t)s[2];
    if (base > 31)
        return 0xffffffffu;
    if (offset == 0)
        return mask >> base & 1 ? base : 0xffffffffu;
    int step = offset > 0 ? 1 : -1;
    int64_t left = offset > 0 ? offset : -(int64_t)offset;
    for (int at = (int)base; at >= 0 && at < 32; at += step)
        if (mask >> at & 1 && --left == 0)
            return (uint32_t)at;
    return 0xffffffffu;
}

uint64_t scalar_szext(const struct scalar_how *h, const uint64_t s[4])
{
    uint32_t n = (uint32_t)s[1], a = (uint32_t)s[0];
    if (h->key & KEY_WRAP)
        n &= 31;
    if (n > 31)
        return a;
    if (!n)
        return 0;
    return h->t[0] == PTX_T_S32 ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n)) : a & ((1u << n) - 1);
}

/* Modes of prmt other than the general one: 9.7.9.7, table of selections. */
uint64_t scalar_prmt(const struct scalar_how *h, const uint64_t s[4])
{
    static const uint16_t f4e[] = { 0x3210, 0x4321, 0x5432, 0x6543 },
                          b4e[] = { 0x5670, 0x6701, 0x7012, 0x0123 };
    static const uint16_t rc8[] = { 0x0000, 0x1111, 0x2222, 0x3333 },
                          ecl[] = { 0x3210, 0x3211, 0x3222, 0x3333 };
    static const uint16_t ecr[] = { 0x0000, 0x1110, 0x2210, 0x3210 },
                          rc16[] = { 0x1010, 0x3232, 0x1010, 0x3232 };
    const uint16_t *t = h->imm == PTX_MOD_F4E   ? f4e
                        : h->imm == PTX_MOD_B4E ? b4e
                        : h->imm == PTX_MOD_RC8 ? rc8
                        : h->imm == PTX_MOD_ECL ? ecl
                        : h->imm == PTX_MOD_ECR ? ecr
                                                : rc16;
    return prmt_u32((uint32_t)s[0], (uint32_t)s[1], t[s[2] & 3]);
}

uint64_t scalar_dp2a(const struct scalar_how *h, const uint64_t s[4])
{
    uint32_t a = (uint32_t)s[0], b = (uint32_t)s[1] >> (h->op == PTX_OP_DP2A_HI ? 16 : 0),
             r = (uint32_t)s[2];
    for (unsigned k = 0; k < 2; k++) {
        int32_t x = h->t[0] == PTX_T_S32 ? (int16_t)(a >> 16 * k) : (int32_t)(uint16_t)(a >> 16 * k);
        int32_t y = h->t[1] == PTX_T_S32 ? (int8_t)(b >> 8 * k) : (int32_t)(uint8_t)(b >> 8 * k);
        r += (uint32_t)(x * y);
    }
    return r;
}

/* 9.7.9.22: saturated halves in the low bits, c shifted up above them. */
uint64_t scalar_cvt_pack(const struct scalar_how *h, const uint64_t s[4])
{
    unsigned bits = ptx_type_bits(h->t[0]);
    bool sign = ptx_type_kind(h->t[0]) == 's';
    int64_t lo = sign ? -(INT64_C(1) << (bits - 1)) : 0,
            hi = sign ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    uint32_t r = 0, keep = (uint32_t)((1ull << bits) - 1);
    for (unsigned k = 0; k < 2; k++) {
        int64_t v = (int32_t)s[1 - k];
        v = v < lo ? lo : v > hi ? hi : v;
        r |= ((uint32_t)v & keep) << k * bits;
    }
    return h->nsrc == 3 ? r | (uint32_t)(s[2] << 2 * bits) : r;
}

/* ---- SIMD video, 9.7.18.2: two or four elements, picked out of {b, a}; lanes that are not made come
 * from c, .add sums those that are onto c ---- */
struct simd {
    unsigned n, bits;
    bool sd, sa, sb;
};
static struct simd simd_shape(const struct scalar_how *h)
{
    bool two = h->op <= PTX_OP_VSET2 && h->op >= PTX_OP_VADD2;
    bool set = h->op == PTX_OP_VSET2 || h->op == PTX_OP_VSET4;
    return (struct simd){ two ? 2 : 4, two ? 16 : 8, !set && h->t[0] == PTX_T_S32,
                          h->t[set ? 0 : 1] == PTX_T_S32, h->t[set ? 1 : 2] == PTX_T_S32 };
}

static bool simd_compare(const struct scalar_how *h, int32_t a, int32_t b)
{
    switch (h->cmp) {
    case PTX_MOD_EQ: return a == b;
    case PTX_MOD_NE: return a != b;
    case PTX_MOD_LT: return a < b;
    case PTX_MOD_LE: return a <= b;
    case PTX_MOD_GT: return a > b;
    default: return a >= b;
    }
}

static int32_t simd_one(const struct scalar_how *h, int32_t a, int32_t b)
{
    switch (h->op) {
    case PTX_OP_VADD2:
    case PTX_OP_VADD4: return a + b;
    case PTX_OP_VSUB2:
    case PTX_OP_VSUB4: return a - b;
    case PTX_OP_VAVRG2:
    case PTX_OP_VAVRG4: return (a + b + (a + b >= 0)) >> 1;
    case PTX_OP_VABSDIFF2:
    case PTX_OP_VABSDIFF4: return a < b ? b - a : a - b;
    case PTX_OP_VMIN2:
    case PTX_OP_VMIN4: return a < b ? a : b;
    case PTX_OP_VMAX2:
    case PTX_OP_VMAX4: return a > b ? a : b;
    default: return simd_compare(h, a, b);
    }
}

static uint32_t simd_part(const struct scalar_how *h, const uint64_t s[4], unsigned source,
                          unsigned lane, const struct simd *v)
{
    unsigned at = h->lanes ? h->pick[source] >> 4 * lane & 15u : source * v->n + lane;
    uint64_t both = (uint64_t)(uint32_t)s[1] << 32 | (uint32_t)s[0];
    return (uint32_t)(both >> at * v->bits) & ((1u << v->bits) - 1);
}

uint64_t scalar_simd(const struct scalar_how *h, const uint64_t s[4])
{
    struct simd v = simd_shape(h);
    uint32_t r = h->lanes ? (uint32_t)s[2] : 0, sum = (uint32_t)s[2], keep = (1u << v.bits) - 1;
    unsigned up = 32 - v.bits;
    for (unsigned k = 0; k < v.n; k++) {
        if (h->lanes && !(h->lanes >> k & 1))
            continue;
        uint32_t ua = simd_part(h, s, 0, k, &v), ub = simd_part(h, s, 1, k, &v);
        int32_t a = v.sa ? (int32_t)(ua << up) >> up : (int32_t)ua,
                b = v.sb ? (int32_t)(ub << up) >> up : (int32_t)ub;
        int32_t x = simd_one(h, a, b), lo = v.sd ? -(1 << (v.bits - 1)) : 0,
                hi = v.sd ? (1 << (v.bits - 1)) - 1 : (int32_t)keep;
        if (h->key & KEY_SAT)
            x = x < lo ? lo : x > hi ? hi : x;
        r = (r & ~(keep << k * v.bits)) | ((uint32_t)x & keep) << k * v.bits;
        sum += (uint32_t)x;
    }
    return h->imm == PTX_MOD_ADD ? sum : r;
}

/* ---- scalar video, 9.7.18.1: a part of each source, an operation, a second one or a merge with c ----
 */
/* Bits of the part that a selector names, and where it begins. */
static unsigned video_place(uint8_t sel, unsigned *at)
{
    unsigned bits = sel < 4 ? 32 : sel < 8 ? 8 : 16;
    *at = sel < 4 ? 0 : bits * (sel - (sel < 8 ? 4u : 8u));
    return bits;
}

static int64_t video_part(uint64_t v, uint8_t sel, enum ptx_type t)
{
    unsigned at, bits = video_place(sel, &at);
    uint64_t part = v >> at & ((1ull << bits) - 1);
    return t == PTX_T_S32 ? (int64_t)(part << (64 - bits)) >> (64 - bits) : (int64_t)part;
}

static int64_t video_first(const struct scalar_how *h, int64_t a, int64_t b)
{
    uint64_t n = h->key & KEY_WRAP ? (uint64_t)b & 31 : (uint64_t)b > 32 ? 32 : (uint64_t)b;
    struct scalar_how cmp = { .cmp = h->cmp };
    switch (h->op) {
    case PTX_OP_VADD: return a + b;
    case PTX_OP_VSUB: return a - b;
    case PTX_OP_VABSDIFF: return a < b ? b - a : a - b;
    case PTX_OP_VMIN: return a < b ? a : b;
    case PTX_OP_VMAX: return a > b ? a : b;
    case PTX_OP_VSHL: return (int64_t)((uint64_t)a << n);
    case PTX_OP_VSHR: return a >> n;
    default: return simd_compare(&cmp, a < b ? -1 : a > b, 0);
    }
}

static int64_t video_saturate(const struct scalar_how *h, int64_t x)
{
    unsigned at, bits = video_place(h->sel[3], &at);
    bool sign = h->t[0] == PTX_T_S32 && h->op != PTX_OP_VSET;
    int64_t lo = sign ? -(INT64_C(1) << (bits - 1)) : 0,
            hi = sign ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    return !(h->key & KEY_SAT) ? x : x < lo ? lo : x > hi ? hi : x;
}

static uint32_t video_end(const struct scalar_how *h, int64_t x, uint32_t c)
{
    uint32_t v = (uint32_t)x;
    bool sign = h->t[0] == PTX_T_S32;
    if (h->nsrc == 3 && h->sel[3] >= 4) {
        unsigned at, bits = video_place(h->sel[3], &at);
        uint32_t keep = ((1u << bits) - 1) << at;
        return (c & ~keep) | (v << at & keep);
    }
    bool less = sign ? (int32_t)v < (int32_t)c : v < c;
    switch (h->nsrc == 3 ? h->imm : 0) {
    case PTX_MOD_ADD: return v + c;
    case PTX_MOD_MIN: return less ? v : c;
    case PTX_MOD_MAX: return less ? c : v;
    default: return v;
    }
}

uint64_t scalar_video(const struct scalar_how *h, const uint64_t s[4])
{
    bool set = h->op == PTX_OP_VSET;
    int64_t a = video_part(s[0], h->sel[0], h->t[set ? 0 : 1]),
            b = video_part(s[1], h->sel[1], h->t[set ? 1 : 2]);
    return video_end(h, video_saturate(h, video_first(h, a, b)), (uint32_t)s[2]);
}

/* vmad: (a * b + c, or one more with .po) scaled down, 9.7.18.1.3. */
uint64_t scalar_vmad(const struct scalar_how *h, const uint64_t s[4])
{
    int64_t a = video_part(s[0], h->sel[0], h->t[1]), b = video_part(s[1], h->sel[1], h->t[2]);
    bool sign = h->t[1] == PTX_T_S32 || h->t[2] == PTX_T_S32 || h->neg[0] || h->neg[1] || h->neg[2];
    s128 p = (s128)a * b, c = sign ? (s128)(int32_t)s[2] : (s128)(uint32_t)s[2];
    p = (h->neg[0] != h->neg[1] ? -p : p) + (h->neg[2] ? -c : c) + h->plus_one;
    p >>= h->shift;
    s128 lo = sign ? INT32_MIN : 0, hi = sign ? (s128)INT32_MAX : (s128)UINT32_MAX;
    if (h->key & KEY_SAT)
        p = p < lo ? lo : p > hi ? hi : p;
    return (uint32_t)p;
}
