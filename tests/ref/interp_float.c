/* Floats: f32 and f64 by the host under the rounding mode asked for; narrower ones: interp_narrow.c. */
#include "tests/ref/interp_float.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

float interp_f32(uint64_t v)
{
    uint32_t u = (uint32_t)v;
    float x;
    memcpy(&x, &u, 4);
    return x;
}
static double f64(uint64_t v)
{
    double x;
    memcpy(&x, &v, 8);
    return x;
}
static uint64_t of32(float x)
{
    uint32_t u;
    memcpy(&u, &x, 4);
    return isnan(x) ? 0x7fffffffu : u;
}
static uint64_t of64(double x)
{
    uint64_t u;
    memcpy(&u, &x, 8);
    return u;
}

int interp_rounding(const struct ptx_inst *i)
{
    if (ptx_has_mod(i, PTX_MOD_RZ) || ptx_has_mod(i, PTX_MOD_RZI))
        return FE_TOWARDZERO;
    if (ptx_has_mod(i, PTX_MOD_RM) || ptx_has_mod(i, PTX_MOD_RMI))
        return FE_DOWNWARD;
    if (ptx_has_mod(i, PTX_MOD_RP) || ptx_has_mod(i, PTX_MOD_RPI))
        return FE_UPWARD;
    return FE_TONEAREST;
}
static bool ftz_of(const struct ptx_inst *i)
{
    return ptx_has_mod(i, PTX_MOD_FTZ);
}
static float flush(float x, bool on)
{
    return on && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

/* ---- f32, f64 ---- */
/* The smaller or the greater; -0 is below +0. .xorsign.abs: of the magnitudes, signed as a product would
 * be. */
static float pick32(const struct ptx_inst *i, float a, float b)
{
    bool negative = signbit(a) != signbit(b);
    if (ptx_has_mod(i, PTX_MOD_ABS))
        a = fabsf(a), b = fabsf(b);
    if (isnan(a) || isnan(b))
        a = ptx_has_mod(i, PTX_MOD_NAN_FLAG) ? NAN : isnan(a) ? b : a;
    else if ((a < b || (a == b && signbit(a) && !signbit(b))) != (i->op == PTX_OP_MIN))
        a = b;
    return ptx_has_mod(i, PTX_MOD_XORSIGN) ? copysignf(a, negative ? -1 : 1) : a;
}
static double pick64(enum ptx_op op, double a, double b)
{
    if (isnan(a))
        return b;
    if (isnan(b))
        return a;
    bool less = a < b || (a == b && signbit(a) && !signbit(b));
    return (op == PTX_OP_MIN) == less ? a : b;
}

static bool single(struct interp_op *o)
{
    const struct ptx_inst *i = o->i;
    bool z = ftz_of(i);
    volatile float a = flush(interp_f32(o->s[0]), z), b = flush(interp_f32(o->s[1]), z),
                   c = flush(interp_f32(o->s[2]), z), r;
    if (i->op == PTX_OP_NEG || i->op == PTX_OP_ABS) {
        uint64_t v =
            z && fpclassify(interp_f32(o->s[0])) == FP_SUBNORMAL ? o->s[0] & 0x80000000u : o->s[0];
        o->d = isnan(a) ? 0x7fffffffu : i->op == PTX_OP_NEG ? v ^ 0x80000000u : v & 0x7fffffffu;
        return true;
    }
    fesetround(interp_rounding(i));
    switch (i->op) {
    case PTX_OP_ADD: r = a + b; break;
    case PTX_OP_SUB: r = a - b; break;
    case PTX_OP_MUL: r = a * b; break;
    case PTX_OP_FMA:
    case PTX_OP_MAD: r = fmaf(a, b, c); break;
    case PTX_OP_DIV: r = a / b; break;
    case PTX_OP_RCP: r = 1.0f / a; break;
    case PTX_OP_SQRT: r = sqrtf(a); break;
    case PTX_OP_MIN:
    case PTX_OP_MAX: r = pick32(i, a, b); break;
    case PTX_OP_COPYSIGN:
        o->d = (o->s[1] & 0x7fffffffu) | (o->s[0] & 0x80000000u);
        fesetround(FE_TONEAREST);
        return true;
    default: fesetround(FE_TONEAREST); return false;
    }
    fesetround(FE_TONEAREST);
    r = flush(r, z);
    if (ptx_has_mod(i, PTX_MOD_SAT))
        r = r > 1 ? 1 : r > 0 ? r : 0;
    o->d = of32(r);
    return true;
}

static bool twice(struct interp_op *o)
{
    const struct ptx_inst *i = o->i;
    volatile double a = f64(o->s[0]), b = f64(o->s[1]), c = f64(o->s[2]), r;
    fesetround(interp_rounding(i));
    bool known = true;
    switch (i->op) {
    case PTX_OP_ADD: r = a + b; break;
    case PTX_OP_SUB: r = a - b; break;
    case PTX_OP_MUL: r = a * b; break;
    case PTX_OP_FMA:
    case PTX_OP_MAD: r = fma(a, b, c); break;
    case PTX_OP_DIV: r = a / b; break;
    case PTX_OP_RCP: r = 1.0 / a; break;
    case PTX_OP_SQRT: r = sqrt(a); break;
    case PTX_OP_MIN:
    case PTX_OP_MAX: r = pick64(i->op, a, b); break;
    case PTX_OP_NEG:
    case PTX_OP_ABS: r = 0; break;
    default: known = false;
    }
    fesetround(FE_TONEAREST);
    if (!known)
        return false;
    o->d = i->op == PTX_OP_NEG   ? o->s[0] ^ 1ull << 63
           : i->op == PTX_OP_ABS ? o->s[0] & ~(1ull << 63)
                                 : of64(r);
    return true;
}

/* 9.7.3.1 */
static bool tests(struct interp_op *o)
{
    int c = o->i->type[0] == PTX_T_F32 ? fpclassify(interp_f32(o->s[0])) : fpclassify(f64(o->s[0]));
    o->d = ptx_has_mod(o->i, PTX_MOD_FINITE)       ? c != FP_NAN && c != FP_INFINITE
           : ptx_has_mod(o->i, PTX_MOD_INFINITE)   ? c == FP_INFINITE
           : ptx_has_mod(o->i, PTX_MOD_NUMBER)     ? c != FP_NAN
           : ptx_has_mod(o->i, PTX_MOD_NOTANUMBER) ? c == FP_NAN
           : ptx_has_mod(o->i, PTX_MOD_NORMAL)     ? c == FP_NORMAL || c == FP_ZERO
                                                   : c == FP_SUBNORMAL;
    return true;
}

bool interp_float(struct interp_op *o)
{
    enum ptx_type t = o->i->type[0];
    if (o->i->op == PTX_OP_TESTP)
        return tests(o);
    return t == PTX_T_F32 ? single(o) : t == PTX_T_F64 ? twice(o) : interp_narrow(o);
}

/* ---- comparison ---- */
static bool compare_ordered(enum ptx_mod c, int order) /* -1, 0, 1 */
{
    switch (c) {
    case PTX_MOD_EQ:
    case PTX_MOD_EQU: return order == 0;
    case PTX_MOD_NE:
    case PTX_MOD_NEU: return order != 0;
    case PTX_MOD_LT:
    case PTX_MOD_LO:
    case PTX_MOD_LTU: return order < 0;
    case PTX_MOD_LE:
    case PTX_MOD_LS:
    case PTX_MOD_LEU: return order <= 0;
    case PTX_MOD_GT:
    case PTX_MOD_HI:
    case PTX_MOD_GTU: return order > 0;
    case PTX_MOD_GE:
    case PTX_MOD_HS:
    case PTX_MOD_GEU: return order >= 0;
    default: return c == PTX_MOD_NUM;
    }
}
static bool unordered_true(enum ptx_mod c)
{
    return c == PTX_MOD_EQU || c == PTX_MOD_NEU || c == PTX_MOD_LTU || c == PTX_MOD_LEU ||
           c == PTX_MOD_GTU || c == PTX_MOD_GEU || c == PTX_MOD_NAN;
}
static double as_double(uint64_t v, enum ptx_type t, bool z)
{
    switch (t) {
    case PTX_T_F32: return flush(interp_f32(v), z);
    case PTX_T_F64: return f64(v);
    default: {
        double x = interp_narrow_value(v, t);
        return z && t == PTX_T_F16 && fabs(x) < 0x1p-14 ? copysign(0, x) : x;
    }
    }
}
/* setp and set: type of the sources is the last one written. */
bool interp_compare(struct interp_op *o)
{
    const struct ptx_inst *i = o->i;
    enum ptx_type t = i->type[i->ntypes - 1];
    enum ptx_mod c = ptx_mod_of(i, MODCAT_CMP);
    char kind = ptx_type_kind(t);
    unsigned up = 64 - ptx_type_bits(t);
    if (kind == 'f') {
        double a = as_double(o->s[0], t, ftz_of(i)), b = as_double(o->s[1], t, ftz_of(i));
        o->p = isnan(a) || isnan(b) ? unordered_true(c) : compare_ordered(c, a < b ? -1 : a > b);
    } else if (kind == 's') {
        int64_t a = (int64_t)(o->s[0] << up), b = (int64_t)(o->s[1] << up);
        o->p = compare_ordered(c, a < b ? -1 : a > b);
    } else {
        uint64_t a = o->s[0] << up, b = o->s[1] << up;
        o->p = compare_ordered(c, a < b ? -1 : a > b);
    }
    return true;
}

/* ---- conversion ---- */
static long double integral(long double x, int mode)
{
    fesetround(mode);
    long double r = nearbyintl(x);
    fesetround(FE_TONEAREST);
    return r;
}
static uint64_t to_int(long double x, enum ptx_type from, enum ptx_type to, int mode)
{
    unsigned n = ptx_type_bits(to);
    bool s = ptx_type_kind(to) == 's';
    if (isnan(x))
        return from == PTX_T_F64 || n == 64 ? 1ull << (n - 1) : 0;
    long double r = integral(x, mode), most = s ? ldexpl(1, (int)n - 1) - 1 : ldexpl(1, (int)n) - 1,
                least = s ? -ldexpl(1, (int)n - 1) : 0;
    r = r > most ? most : r < least ? least : r;
    return r < 0 ? (uint64_t)(int64_t)r : (uint64_t)r;
}
static uint64_t from_value(long double x, const struct ptx_inst *i, enum ptx_type to)
{
    if (ptx_has_mod(i, PTX_MOD_SAT))
        x = x > 1 ? 1 : x > 0 ? x : 0;
    fesetround(interp_rounding(i));
    volatile float f = to == PTX_T_F32 ? (float)x : 0;
    volatile double d = (double)x;
    fesetround(FE_TONEAREST);
    return to == PTX_T_F32 ? of32(flush(f, ftz_of(i))) : isnan(d) ? 0x7ff8000000000000ull : of64(d);
}

bool interp_convert(struct interp_op *o, unsigned dst_bits)
{
    const struct ptx_inst *i = o->i;
    enum ptx_type to = i->type[0], from = i->type[1];
    unsigned nf = ptx_type_bits(from), nt = ptx_type_bits(to);
    bool ffrom = ptx_type_kind(from) == 'f', fto = ptx_type_kind(to) == 'f';
    long double x = 0;
    if (ptx_type_kind(from) == 'x')
        return interp_to_narrow(o, x);
    /* the same bits, of a NaN too */
    if (from == PTX_T_BF16 && to == PTX_T_F32 && !ptx_has_mod(i, PTX_MOD_SAT)) {
        o->d = o->s[0] << 16;
        return true;
    }
    if (ffrom)
        x = as_double(o->s[0], from, ftz_of(i));
    else if (ptx_type_kind(from) == 's')
        x = (int64_t)(o->s[0] << (64 - nf)) >> (64 - nf);
    else
        x = o->s[0] << (64 - nf) >> (64 - nf);
    if (fto && isnan(x) && from == PTX_T_F64 && to != PTX_T_F64 && !ptx_has_mod(i, PTX_MOD_SAT)) {
        /* sign and upper payload stay, and it is quiet */
        unsigned frac = to == PTX_T_F32 ? 23 : to == PTX_T_F16 ? 10 : 7;
        o->d = (o->s[0] >> 63) << (nt - 1) | ((1ull << (nt - 1)) - (1ull << frac)) | 1ull << (frac - 1) |
               (o->s[0] >> (52 - frac) & ((1ull << frac) - 1));
        return true;
    }
    if (fto || ptx_type_kind(to) == 'x') {
        bool whole = ptx_has_mod(i, PTX_MOD_RNI) || ptx_has_mod(i, PTX_MOD_RZI) ||
                     ptx_has_mod(i, PTX_MOD_RMI) || ptx_has_mod(i, PTX_MOD_RPI);
        x = whole && !isnan(x) && !isinf(x) ? copysignl(integral(x, interp_rounding(i)), x) : x;
        if (!interp_to_narrow(o, x))
            o->d = from_value(x, i, to);
        return true;
    }
    uint64_t v;
    if (ffrom || ptx_has_mod(i, PTX_MOD_SAT))
        v = to_int(x, from, to, ffrom ? interp_rounding(i) : FE_TONEAREST);
    else
        v = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    v = v << (64 - nt);
    v = ptx_type_kind(to) == 's' ? (uint64_t)((int64_t)v >> (64 - nt)) : v >> (64 - nt);
    o->d = dst_bits >= 64 ? v : v & ((1ull << dst_bits) - 1);
    return true;
}
