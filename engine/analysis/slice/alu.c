/* Arithmetic of slices on 32 lanes at a time. Values are zero-extended to 64
 * bits; signed operations extend on the way in. PTX sections: 9.7.1, 9.7.3,
 * 9.7.6, 9.7.8, 9.7.9. */
#include "engine/analysis/slice/slice.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"

#include <math.h>
#include <string.h>

#define LANES for (int l = 0; l < 32; l++)
static inline uint64_t low(unsigned bits)
{
    return bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
}
static inline int64_t sx(uint64_t v, unsigned bits)
{
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}
static inline float f32(uint64_t v)
{
    uint32_t u = (uint32_t)v;
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline double f64(uint64_t v)
{
    double f;
    memcpy(&f, &v, 8);
    return f;
}
static inline uint64_t bits32(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
#define NAN_F32 UINT64_C(0x7fffffff) /* every operation on f32 gives this NaN (9.7.3) */
static inline uint64_t u32(float f)
{
    return isnan(f) ? NAN_F32 : bits32(f);
}
/* .ftz: a subnormal counts as zero of its sign. */
static inline uint64_t flush(uint64_t v)
{
    return v & 0x7f800000u ? v : v & 0x80000000u;
}
static inline uint64_t u64(double f)
{
    uint64_t u;
    memcpy(&u, &f, 8);
    return u;
}

static uint64_t mulhi(uint64_t a, uint64_t b, unsigned bits, bool sign)
{
    __extension__ typedef __int128 i128;
    __extension__ typedef unsigned __int128 u128;
    if (sign)
        return (uint64_t)((i128)sx(a, bits) * sx(b, bits) >> bits) & low(bits);
    return (uint64_t)((u128)a * b >> bits) & low(bits);
}
static uint64_t divide(uint64_t a, uint64_t b, unsigned bits, bool sign, bool rem)
{
    if (!b)
        return low(bits);
    if (!sign)
        return rem ? a % b : a / b;
    int64_t x = sx(a, bits), y = sx(b, bits);
    if (y == -1)
        return rem ? 0 : (uint64_t)-x & low(bits);
    return (uint64_t)(rem ? x % y : x / y) & low(bits);
}
static uint64_t shift_right(uint64_t a, uint64_t n, unsigned bits, bool sign)
{
    if (n >= bits)
        return sign && sx(a, bits) < 0 ? low(bits) : 0;
    return sign ? (uint64_t)(sx(a, bits) >> n) & low(bits) : a >> n;
}
static uint64_t bfe(uint64_t a, unsigned pos, unsigned len, unsigned bits, bool sign)
{
    pos &= 255;
    len &= 255;
    uint64_t fill = sign && len ? sx(a, bits) >> ((pos + len > bits ? bits : pos + len) - 1) & 1 : 0;
    uint64_t r = pos >= bits ? 0 : a >> pos;
    if (len < bits)
        r &= low(len);
    unsigned have = len < bits ? len : bits;
    if (pos + len > bits && have > (bits > pos ? bits - pos : 0))
        have = bits > pos ? bits - pos : 0;
    return fill ? (r | ~low(have)) & low(bits) : r;
}
static uint64_t bfi(uint64_t a, uint64_t b, unsigned pos, unsigned len, unsigned bits)
{
    pos &= 255;
    len &= 255;
    if (!len || pos >= bits)
        return b;
    uint64_t m = low(len) << pos & low(bits);
    return (b & ~m) | (a << pos & m);
}
static uint64_t prmt(uint64_t a, uint64_t b, uint64_t sel)
{
    uint64_t both = a | b << 32, r = 0;
    for (unsigned k = 0; k < 4; k++) {
        unsigned s = (unsigned)(sel >> (4 * k)) & 15;
        uint64_t byte = both >> (8 * (s & 7)) & 255;
        r |= (s & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * k);
    }
    return r;
}
static uint64_t leading(uint64_t a, unsigned bits)
{
    return a ? (uint64_t)__builtin_clzll(a) - (64 - bits) : bits;
}
static uint64_t reverse(uint64_t a, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned k = 0; k < bits; k++)
        r |= (a >> k & 1) << (bits - 1 - k);
    return r;
}
static uint64_t bfind(uint64_t a, unsigned bits, bool sign, bool amount)
{
    if (sign && sx(a, bits) < 0)
        a = ~a & low(bits);
    if (!a)
        return 0xffffffffu;
    uint64_t p = 63 - (uint64_t)__builtin_clzll(a);
    return amount ? bits - 1 - p : p;
}
static uint64_t lop3(uint64_t a, uint64_t b, uint64_t c, unsigned lut)
{
    uint64_t r = 0;
    for (unsigned m = 0; m < 8; m++)
        if (lut >> m & 1)
            r |= (m & 4 ? a : ~a) & (m & 2 ? b : ~b) & (m & 1 ? c : ~c);
    return r & 0xffffffffu;
}
static bool combine(bool r, bool p, unsigned how)
{
    return how == PTX_MOD_AND ? r && p : how == PTX_MOD_OR ? r || p : how == PTX_MOD_XOR ? r != p : r;
}
static bool compare(unsigned cmp, uint64_t a, uint64_t b, unsigned bits, bool sign)
{
    int64_t x = sx(a, bits), y = sx(b, bits);
    switch (cmp) {
    case PTX_MOD_EQ: return a == b;
    case PTX_MOD_NE: return a != b;
    case PTX_MOD_LT: return sign ? x < y : a < b;
    case PTX_MOD_LE: return sign ? x <= y : a <= b;
    case PTX_MOD_GT: return sign ? x > y : a > b;
    case PTX_MOD_GE: return sign ? x >= y : a >= b;
    case PTX_MOD_LO: return a < b;
    case PTX_MOD_LS: return a <= b;
    case PTX_MOD_HI: return a > b;
    default: return a >= b;
    }
}
static bool fcompare(unsigned cmp, double a, double b)
{
    bool un = isnan(a) || isnan(b);
    switch (cmp) {
    case PTX_MOD_EQ: return a == b;
    case PTX_MOD_NE: return !un && a != b;
    case PTX_MOD_LT: return a < b;
    case PTX_MOD_LE: return a <= b;
    case PTX_MOD_GT: return a > b;
    case PTX_MOD_GE: return a >= b;
    case PTX_MOD_EQU: return un || a == b;
    case PTX_MOD_NEU: return un || a != b;
    case PTX_MOD_LTU: return un || a < b;
    case PTX_MOD_LEU: return un || a <= b;
    case PTX_MOD_GTU: return un || a > b;
    case PTX_MOD_GEU: return un || a >= b;
    case PTX_MOD_NUM: return !un;
    default: return un;
    }
}

/* ---- conversions (section 9.7.9.21); sign/sign2: target/source signed, flag/flag2: target/source float
 * ---- */
static double rounded(double v, unsigned mode)
{
    switch (mode) {
    case PTX_MOD_RZI:
    case PTX_MOD_RZ: return trunc(v);
    case PTX_MOD_RMI:
    case PTX_MOD_RM: return floor(v);
    case PTX_MOD_RPI:
    case PTX_MOD_RP: return ceil(v);
    default: return nearbyint(v);
    }
}
static uint64_t to_int(double v, unsigned from, unsigned bits, bool sign)
{
    if (isnan(v))
        return from == 64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    double top = ldexp(1, (int)bits - (sign ? 1 : 0)), bottom = sign ? -top : 0;
    if (v >= top)
        return sign ? low(bits) >> 1 : low(bits);
    if (v <= bottom)
        return sign ? UINT64_C(1) << (bits - 1) : 0;
    return sign ? (uint64_t)(int64_t)v & low(bits) : (uint64_t)v;
}
static uint64_t convert(const struct slice_op *o, uint64_t a)
{
    if (o->flag2) { /* from float */
        double v = o->bits2 == 32 ? (double)f32(o->ftz ? flush(a) : a) : f64(a);
        if (!o->flag)
            return to_int(rounded(v, o->mode), o->bits2, o->bits, o->sign);
        if (o->bits == o->bits2 && o->mode != PTX_MOD_NONE && o->mode != PTX_MOD_RN)
            v = rounded(v, o->mode);
        if (o->bits == 64)
            return u64(v);
        /* a NaN of f64 keeps its upper bits */
        uint64_t r = o->bits2 == 64 ? bits32((float)v) : u32((float)v);
        return o->ftz ? flush(r) : r;
    }
    if (o->flag) {
        if (o->bits == 32)
            return u32(o->sign2 ? (float)sx(a, o->bits2) : (float)(a & low(o->bits2)));
        return u64(o->sign2 ? (double)sx(a, o->bits2) : (double)(a & low(o->bits2)));
    }
    uint64_t v = o->sign2 ? (uint64_t)sx(a, o->bits2) : a & low(o->bits2);
    return v & low(o->bits);
}

/* shf.l and shf.r: 32 bits of hi:lo, shifted by n (o->flag: n modulo 32, else at most 32). */
static uint64_t funnel(const struct slice_op *o, uint64_t lo, uint64_t hi, uint32_t n)
{
    unsigned by = o->flag ? n & 31 : n > 32 ? 32 : n;
    uint64_t both = hi << 32 | lo;
    if (o->code == SL_SHFL_R)
        return (both >> by) & 0xffffffffu;
    return by == 32 ? lo : (both << by >> 32) & 0xffffffffu;
}

static uint64_t distance(uint64_t a, uint64_t b, unsigned bits, bool sign)
{
    bool greater = sign ? sx(a, bits) > sx(b, bits) : a > b;
    return greater ? a - b : b - a;
}

static void integer(const struct slice_op *o, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                    const uint64_t *e, uint64_t *d)
{
    unsigned bits = o->bits;
    uint64_t m = low(bits);
    bool s = o->sign;
    switch (o->code) {
    case SL_ADD: LANES d[l] = (a[l] + b[l]) & m; break;
    case SL_SUB: LANES d[l] = (a[l] - b[l]) & m; break;
    case SL_MUL: LANES d[l] = a[l] * b[l] & m; break;
    case SL_MAD: LANES d[l] = (a[l] * b[l] + c[l]) & m; break;
    case SL_MULHI: LANES d[l] = mulhi(a[l], b[l], bits, s); break;
    case SL_MADHI: LANES d[l] = (mulhi(a[l], b[l], bits, s) + c[l]) & m; break;
    case SL_MULWIDE:
        LANES d[l] = (s ? (uint64_t)(sx(a[l], bits) * sx(b[l], bits)) : a[l] * b[l]) & low(2 * bits);
        break;
    case SL_MADWIDE:
        LANES d[l] =
            ((s ? (uint64_t)(sx(a[l], bits) * sx(b[l], bits)) : a[l] * b[l]) + c[l]) & low(2 * bits);
        break;
    case SL_DIV:
    case SL_REM: LANES d[l] = divide(a[l], b[l], bits, s, o->code == SL_REM); break;
    case SL_SHL: LANES d[l] = (uint32_t)b[l] >= bits ? 0 : a[l] << (b[l] & 63) & m; break;
    case SL_SHR: LANES d[l] = shift_right(a[l], (uint32_t)b[l], bits, s); break;
    case SL_AND: LANES d[l] = a[l] & b[l]; break;
    case SL_OR: LANES d[l] = a[l] | b[l]; break;
    case SL_XOR: LANES d[l] = a[l] ^ b[l]; break;
    case SL_NOT: LANES d[l] = ~a[l] & m; break;
    case SL_CNOT: LANES d[l] = !(a[l] & m); break;
    case SL_NEG: LANES d[l] = -a[l] & m; break;
    case SL_ABS: LANES d[l] = sx(a[l], bits) < 0 ? -a[l] & m : a[l]; break;
    case SL_MIN: LANES d[l] = (s ? sx(a[l], bits) < sx(b[l], bits) : a[l] < b[l]) ? a[l] : b[l]; break;
    case SL_MAX: LANES d[l] = (s ? sx(a[l], bits) > sx(b[l], bits) : a[l] > b[l]) ? a[l] : b[l]; break;
    case SL_SELP: LANES d[l] = (c[l] & 1) != (uint64_t)o->flag ? a[l] : b[l]; break;
    case SL_BFE: LANES d[l] = bfe(a[l], (unsigned)b[l], (unsigned)c[l], bits, s); break;
    case SL_BFI: LANES d[l] = bfi(a[l], b[l], (unsigned)c[l], (unsigned)e[l], bits); break;
    case SL_LOP3: LANES d[l] = lop3(a[l], b[l], c[l], (unsigned)o->imm); break;
    case SL_SHFL_L:
    case SL_SHFL_R: LANES d[l] = funnel(o, a[l], b[l], (uint32_t)c[l]); break;
    case SL_PRMT: LANES d[l] = prmt(a[l], b[l], c[l]); break;
    case SL_POPC: LANES d[l] = (uint64_t)__builtin_popcountll(a[l]); break;
    case SL_CLZ: LANES d[l] = leading(a[l], bits); break;
    case SL_BFIND: LANES d[l] = bfind(a[l], bits, s, o->flag); break;
    case SL_BREV: LANES d[l] = reverse(a[l], bits); break;
    case SL_SAD: LANES d[l] = (distance(a[l], b[l], bits, s) + c[l]) & m; break;
    case SL_SLCT: LANES d[l] = sx(c[l], 32) >= 0 ? a[l] : b[l]; break;
    case SL_FSLCT: LANES d[l] = f32(c[l]) >= 0 ? a[l] : b[l]; break;
    case SL_CVT: LANES d[l] = convert(o, a[l]); break;
    case SL_CVTA: LANES d[l] = a[l] + (uint64_t)o->imm; break;
    case SL_CVTA_TO: LANES d[l] = a[l] - (uint64_t)o->imm; break;
    case SL_PIECE: LANES d[l] = a[l] >> o->imm & m; break;
    case SL_JOIN: LANES d[l] = (b[l] & low((unsigned)o->imm)) | a[l] << o->imm; break;
    default: LANES d[l] = a[l] & m; break;
    }
}
/* The smaller (or the greater); a number before a NaN, and -0 below +0 (9.7.3.11). */
static double least(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static double most(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
static void single(const struct slice_op *o, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                   uint64_t *d)
{
    switch (o->code) {
    case SL_FADD: LANES d[l] = u32(f32(a[l]) + f32(b[l])); break;
    case SL_FSUB: LANES d[l] = u32(f32(a[l]) - f32(b[l])); break;
    case SL_FMUL: LANES d[l] = u32(f32(a[l]) * f32(b[l])); break;
    case SL_FMA: LANES d[l] = u32(fmaf(f32(a[l]), f32(b[l]), f32(c[l]))); break;
    case SL_FDIV: LANES d[l] = u32(f32(a[l]) / f32(b[l])); break;
    case SL_FMIN: LANES d[l] = u32((float)least(f32(a[l]), f32(b[l]))); break;
    case SL_FMAX: LANES d[l] = u32((float)most(f32(a[l]), f32(b[l]))); break;
    case SL_FABS: LANES d[l] = isnan(f32(a[l])) ? NAN_F32 : a[l] & 0x7fffffffu; break;
    case SL_FNEG: LANES d[l] = isnan(f32(a[l])) ? NAN_F32 : a[l] ^ 0x80000000u; break;
    case SL_FSQRT: LANES d[l] = u32(sqrtf(f32(a[l]))); break;
    case SL_FRCP: LANES d[l] = u32(1.0f / f32(a[l])); break;
    case SL_FRSQRT: LANES d[l] = u32(1.0f / sqrtf(f32(a[l]))); break;
    case SL_FSIN: LANES d[l] = u32(sinf(f32(a[l]))); break;
    case SL_FCOS: LANES d[l] = u32(cosf(f32(a[l]))); break;
    case SL_FLG2: LANES d[l] = u32(log2f(f32(a[l]))); break;
    case SL_FCOPYSIGN: LANES d[l] = (b[l] & 0x7fffffffu) | (a[l] & 0x80000000u); break;
    default: LANES d[l] = u32(exp2f(f32(a[l]))); break;
    }
}
static void twice(const struct slice_op *o, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                  uint64_t *d)
{
    const uint64_t top = UINT64_C(1) << 63;
    switch (o->code) {
    case SL_FADD: LANES d[l] = u64(f64(a[l]) + f64(b[l])); break;
    case SL_FSUB: LANES d[l] = u64(f64(a[l]) - f64(b[l])); break;
    case SL_FMUL: LANES d[l] = u64(f64(a[l]) * f64(b[l])); break;
    case SL_FMA: LANES d[l] = u64(fma(f64(a[l]), f64(b[l]), f64(c[l]))); break;
    case SL_FDIV: LANES d[l] = u64(f64(a[l]) / f64(b[l])); break;
    case SL_FMIN: LANES d[l] = u64(least(f64(a[l]), f64(b[l]))); break;
    case SL_FMAX: LANES d[l] = u64(most(f64(a[l]), f64(b[l]))); break;
    case SL_FABS: LANES d[l] = a[l] & ~top; break;
    case SL_FNEG: LANES d[l] = a[l] ^ top; break;
    case SL_FSQRT: LANES d[l] = u64(sqrt(f64(a[l]))); break;
    case SL_FRCP: LANES d[l] = u64(1.0 / f64(a[l])); break;
    case SL_FCOPYSIGN: LANES d[l] = (b[l] & ~top) | (a[l] & top); break;
    default: LANES d[l] = u64(1.0 / sqrt(f64(a[l]))); break;
    }
}
static void set_predicate(const struct slice_op *o, const uint64_t *a, const uint64_t *b,
                          const uint64_t *c, uint64_t *d, uint64_t *d2)
{
    LANES
    {
        bool r = o->code == SL_SETP ? compare(o->mode, a[l], b[l], o->bits, o->sign)
                 : o->bits == 32    ? fcompare(o->mode, (double)f32(a[l]), (double)f32(b[l]))
                                    : fcompare(o->mode, f64(a[l]), f64(b[l]));
        bool p = o->mode2 ? (c[l] & 1) != (uint64_t)o->flag : true;
        d[l] = combine(r, p, o->mode2);
        d2[l] = combine(!r, p, o->mode2);
    }
}
static void flushed(const uint64_t *from, uint64_t *to)
{
    LANES to[l] = flush(from[l]);
}

void slice_alu(const struct slice_op *o, const uint64_t *a, const uint64_t *b, const uint64_t *c,
               const uint64_t *e, uint64_t *d, uint64_t *d2)
{
    bool arithmetic = o->code >= SL_FADD && o->code <= SL_FEX2, select = o->code == SL_FSLCT;
    if (o->ftz && o->code != SL_CVT) {
        struct slice_op plain = *o;
        uint64_t x[3][32];
        plain.ftz = false;
        flushed(a, x[0]);
        flushed(b, x[1]);
        flushed(c, x[2]);
        slice_alu(&plain, select ? a : x[0], select ? b : x[1], arithmetic || select ? x[2] : c, e, d,
                  d2);
        if (arithmetic)
            flushed(d, d);
        return;
    }
    if (o->code == SL_SETP || o->code == SL_FSETP)
        set_predicate(o, a, b, c, d, d2);
    else if (arithmetic && o->bits == 32)
        single(o, a, b, c, d);
    else if (arithmetic)
        twice(o, a, b, c, d);
    else if (o->code == SL_FCOPYSIGN)
        (o->bits == 32 ? single : twice)(o, a, b, c, d);
    else
        integer(o, a, b, c, e, d);
}
