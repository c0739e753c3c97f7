/* Formats narrower than f32 (f16, bf16, the two of eight bits, tf32): values in 113-bit arithmetic,
 * rounded by hand. */
#include "tests/ref/interp_float.h"

#include <fenv.h>
#include <math.h>

#define ROUND_AWAY (-1) /* .rna: to nearest, ties away from zero */

/* over: the pattern above the greatest finite value, which is infinity's where there is one. low: bits
 * that a register has below the value (tf32 lies in the upper bits of 32). */
struct narrow {
    unsigned frac;
    int bias;
    uint64_t over, nan, sign;
    bool inf;
    unsigned low;
};
static const struct narrow half = { 10, 15, 0x7c00, 0x7fff, 0x8000, true, 0 },
                           brain = { 7, 127, 0x7f80, 0x7fff, 0x8000, true, 0 },
                           e4m3 = { 3, 7, 0x7f, 0x7f, 0x80, false, 0 },
                           e5m2 = { 2, 15, 0x7c, 0x7f, 0x80, true, 0 },
                           tf32 = { 10, 127, 0x3fc00, 0x3ffff, 0x40000, true, 13 };

/* The format of an element and how many of them a value of the type has; NULL: another kind of type. */
static const struct narrow *format_of(enum ptx_type t, unsigned *n)
{
    *n = 1;
    switch (t) {
    case PTX_T_F16X2: *n = 2; return &half;
    case PTX_T_F16: return &half;
    case PTX_T_BF16X2: *n = 2; return &brain;
    case PTX_T_BF16: return &brain;
    case PTX_T_E4M3X2: *n = 2; return &e4m3;
    case PTX_T_E5M2X2: *n = 2; return &e5m2;
    case PTX_T_TF32: return &tf32;
    default: return NULL;
    }
}
static unsigned step_of(const struct narrow *f)
{
    return f->sign == 0x80 ? 8 : 16;
}
static uint64_t element(uint64_t v, const struct narrow *f, unsigned k)
{
    return v >> k * step_of(f) & (2 * f->sign - 1);
}

static double value_of(uint64_t h, const struct narrow *f)
{
    uint64_t m = h & (f->sign - 1), fraction = m & ((1u << f->frac) - 1);
    double s = h & f->sign ? -1 : 1;
    if (f->inf ? m > f->over : m >= f->over)
        return NAN;
    if (f->inf && m == f->over)
        return s * INFINITY;
    int e = (int)(m >> f->frac);
    return s * (e ? ldexp(1 + ldexp((double)fraction, -(int)f->frac), e - f->bias)
                  : ldexp((double)fraction, 1 - f->bias - (int)f->frac));
}
double interp_narrow_value(uint64_t v, enum ptx_type t)
{
    unsigned n;
    return value_of(v, format_of(t, &n));
}

/* The finite pattern at or below |x|, or the one above it; ties go to the even one. finite: never above
 * the greatest. */
static uint64_t round_to(quad x, bool neg, const struct narrow *f, int mode, bool finite)
{
    uint64_t lo = 0, hi = f->over;
    quad a = x < 0 ? -x : x;
    while (hi - lo > 1) {
        uint64_t mid = lo + (hi - lo) / 2;
        if ((quad)value_of(mid, f) <= a)
            lo = mid;
        else
            hi = mid;
    }
    quad below = value_of(lo, f),
         above = hi == f->over ? below + (below - (quad)value_of(lo - 1, f)) : (quad)value_of(hi, f);
    bool up;
    if (a == below || mode == FE_TOWARDZERO)
        up = false;
    else if (mode == FE_DOWNWARD || mode == FE_UPWARD)
        up = (mode == FE_UPWARD) != neg;
    else
        up = a - below > above - a || (a - below == above - a && (mode == ROUND_AWAY || lo & 1));
    if (up && hi == f->over && finite)
        up = false;
    return (up ? hi : lo) | (neg ? f->sign : 0);
}

static quad flushed(quad x, const struct narrow *f, const struct ptx_inst *i)
{
    bool tiny = f == &half && ptx_has_mod(i, PTX_MOD_FTZ) && x > -(quad)0x1p-14 && x < (quad)0x1p-14;
    return tiny ? (quad)copysign(0, (double)x) : x;
}

/* What an instruction stores for x, after its .sat, .relu, .satfinite and .ftz. neg: the sign, also of a
 * zero. */
static uint64_t stored(quad x, bool neg, const struct narrow *f, const struct ptx_inst *i)
{
    bool clip = ptx_has_mod(i, PTX_MOD_SAT), relu = ptx_has_mod(i, PTX_MOD_RELU),
         finite = ptx_has_mod(i, PTX_MOD_SATFINITE);
    double d = (double)x;
    if (isnan(d) && !clip)
        return f->nan;
    if ((clip || relu) && !(d > 0))
        return 0;
    if (clip && d > 1)
        x = d = 1;
    if (isinf(d) && x * 2 == x)
        return (finite ? f->over - 1 : f->over) | (neg ? f->sign : 0);
    int mode = ptx_has_mod(i, PTX_MOD_RNA) ? ROUND_AWAY : interp_rounding(i);
    uint64_t r = round_to(x, neg, f, mode, finite);
    return (quad)value_of(r, f) == flushed(value_of(r, f), f, i) ? r : r & f->sign;
}

/* ---- arithmetic ---- */
static bool arithmetic(const struct ptx_inst *i, const struct narrow *f, const uint64_t s[3],
                       uint64_t *d)
{
    double v[3], special;
    for (unsigned k = 0; k < 3; k++)
        v[k] = (double)flushed(value_of(s[k], f), f, i);
    quad a = v[0], b = v[1], c = v[2], r;
    switch (i->op) {
    case PTX_OP_ADD:
        r = a + b;
        special = v[0] + v[1];
        break;
    case PTX_OP_SUB:
        r = a - b;
        special = v[0] - v[1];
        break;
    case PTX_OP_MUL:
        r = a * b;
        special = v[0] * v[1];
        break;
    case PTX_OP_FMA:
        r = a * b + c;
        special = fma(v[0], v[1], v[2]);
        break;
    default: return false;
    }
    if (i->op == PTX_OP_FMA && c != 0 && isfinite(special) && r != 0 &&
        r == a * b) /* too small for 113 bits: it still breaks ties */
        r += ((c > 0) == (r > 0) ? r : -r) * (quad)0x1p-100;
    *d = stored(isfinite(special) ? r : (quad)special, r < 0 || (!(r > 0) && signbit(special)), f, i);
    return true;
}

static uint64_t sign_changed(const struct ptx_inst *i, const struct narrow *f, uint64_t v)
{
    double x = value_of(v, f);
    if (isnan(x))
        return f->nan;
    if ((quad)x != flushed(x, f, i))
        v &= f->sign;
    return i->op == PTX_OP_NEG ? v ^ f->sign : v & ~f->sign;
}

/* The smaller or the greater; -0 is below +0. */
static uint64_t chosen(const struct ptx_inst *i, const struct narrow *f, uint64_t a, uint64_t b)
{
    uint64_t sign = (a ^ b) & f->sign;
    if (ptx_has_mod(i, PTX_MOD_ABS))
        a &= ~f->sign, b &= ~f->sign;
    double x = (double)flushed(value_of(a, f), f, i), y = (double)flushed(value_of(b, f), f, i);
    if ((isnan(x) && isnan(y)) || ((isnan(x) || isnan(y)) && ptx_has_mod(i, PTX_MOD_NAN_FLAG)))
        return f->nan;
    bool less = x < y || (x == y && signbit(x) && !signbit(y)),
         first = isnan(y) || (!isnan(x) && less == (i->op == PTX_OP_MIN));
    double r = first ? x : y;
    uint64_t bits = r == 0 ? (signbit(r) ? f->sign : 0) : first ? a : b;
    return ptx_has_mod(i, PTX_MOD_XORSIGN) ? (bits & ~f->sign) | sign : bits;
}

bool interp_narrow(struct interp_op *o)
{
    unsigned n;
    const struct narrow *f = format_of(o->i->type[0], &n);
    if (!f || f->low)
        return false;
    o->d = 0;
    for (unsigned k = 0; k < n; k++) {
        uint64_t s[3] = { element(o->s[0], f, k), element(o->s[1], f, k), element(o->s[2], f, k) }, d;
        if (o->i->op == PTX_OP_NEG || o->i->op == PTX_OP_ABS)
            d = sign_changed(o->i, f, s[0]);
        else if (o->i->op == PTX_OP_MIN || o->i->op == PTX_OP_MAX)
            d = chosen(o->i, f, s[0], s[1]);
        else if (!arithmetic(o->i, f, s, &d))
            return false;
        o->d |= d << k * step_of(f);
    }
    return true;
}

/* ---- conversion ---- */
bool interp_to_narrow(struct interp_op *o, long double x)
{
    unsigned n, nf;
    enum ptx_type from = o->i->type[1];
    const struct narrow *f = format_of(o->i->type[0], &n), *source = format_of(from, &nf);
    if (!f)
        return false;
    o->d = 0;
    for (unsigned k = 0; k < n; k++) { /* of two sources the first is the upper element */
        if (n > 1)
            x = nf > 1 && source ? value_of(element(o->s[0], source, k), source)
                                 : (long double)interp_f32(o->s[n - 1 - k]);
        o->d |= stored((quad)x, signbit(x), f, o->i) << f->low << k * step_of(f);
    }
    if (f == &tf32 && isnan(x) && ptx_has_mod(o->i, PTX_MOD_RNA))
        /* as an H200 has it; the other roundings give the one NaN */
        o->d = o->s[0] & 0xffffe000u;
    return true;
}
