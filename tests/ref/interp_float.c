/* Floats: f32 and f64 by the host under the rounding mode asked for; 16-bit types in 113-bit
 * arithmetic, rounded by hand. */
#include "tests/ref/interp.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

__extension__ typedef __float128 quad;

static float f32(uint64_t v) { uint32_t u = (uint32_t)v; float x; memcpy(&x, &u, 4); return x; }
static double f64(uint64_t v) { double x; memcpy(&x, &v, 8); return x; }
static uint64_t of32(float x) { uint32_t u; memcpy(&u, &x, 4); return isnan(x) ? 0x7fffffffu : u; }
static uint64_t of64(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }

static int mode_of(const struct ptx_inst *i)
{
    if (ptx_has_mod(i, PTX_MOD_RZ) || ptx_has_mod(i, PTX_MOD_RZI)) return FE_TOWARDZERO;
    if (ptx_has_mod(i, PTX_MOD_RM) || ptx_has_mod(i, PTX_MOD_RMI)) return FE_DOWNWARD;
    if (ptx_has_mod(i, PTX_MOD_RP) || ptx_has_mod(i, PTX_MOD_RPI)) return FE_UPWARD;
    return FE_TONEAREST;
}
static bool ftz_of(const struct ptx_inst *i) { return ptx_has_mod(i, PTX_MOD_FTZ); }
static float flush(float x, bool on) { return on && fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }

/* ---- 16-bit formats: value = sign * mantissa * 2^exponent ---- */
static double narrow_value(uint64_t h, unsigned frac, int bias)
{
    unsigned ebits = 15 - frac, e = (unsigned)(h >> frac) & ((1u << ebits) - 1), m = (unsigned)h & ((1u << frac) - 1);
    double s = h >> 15 & 1 ? -1 : 1;
    if (e == (1u << ebits) - 1)
        return m ? NAN : s * INFINITY;
    return s * (e ? ldexp(1 + ldexp(m, -(int)frac), (int)e - bias) : ldexp(m, 1 - bias - (int)frac));
}

/* The candidates around |x| are tried in order; ties go to the even one. mode as for fesetround. */
static uint64_t narrow_round(quad x, bool neg, unsigned frac, int bias, int mode)
{
    uint64_t sign = neg ? 0x8000 : 0, inf = (uint64_t)((1u << (15 - frac)) - 1) << frac, lo = 0, hi = inf;
    quad a = x < 0 ? -x : x;
    while (hi - lo > 1) {            /* largest pattern whose value is not above a */
        uint64_t mid = lo + (hi - lo) / 2;
        if ((quad)narrow_value(mid, frac, bias) <= a)
            lo = mid;
        else
            hi = mid;
    }
    quad below = narrow_value(lo, frac, bias);
    if (a == below)
        return lo | sign;
    quad above = hi == inf ? below + (below - (quad)narrow_value(lo - 1, frac, bias)) : (quad)narrow_value(hi, frac, bias);
    bool up;
    if (mode == FE_TOWARDZERO)
        up = false;
    else if (mode == FE_DOWNWARD || mode == FE_UPWARD)
        up = (mode == FE_UPWARD) != neg;
    else
        up = a - below > above - a || (a - below == above - a && (lo & 1));
    return (up ? hi : lo) | sign;
}

static bool narrow_format(enum ptx_type t, unsigned *frac, int *bias)
{
    *frac = t == PTX_T_F16 ? 10 : 7;
    *bias = t == PTX_T_F16 ? 15 : 127;
    return t == PTX_T_F16 || t == PTX_T_BF16;
}

static bool narrow_op(const struct ptx_inst *i, enum ptx_type t, const uint64_t s[3], uint64_t *d)
{
    unsigned frac;
    int bias;
    narrow_format(t, &frac, &bias);
    double a = narrow_value(s[0], frac, bias), b = narrow_value(s[1], frac, bias), c = narrow_value(s[2], frac, bias), special;
    quad r;
    switch (i->op) {
    case PTX_OP_ADD: r = (quad)a + b; special = a + b; break;
    case PTX_OP_SUB: r = (quad)a - b; special = a - b; break;
    case PTX_OP_MUL: r = (quad)a * b; special = a * b; break;
    case PTX_OP_FMA: r = (quad)a * b + c; special = fma(a, b, c); break;
    default: return false;
    }
    if (isnan(special)) {
        *d = 0x7fff;
        return true;
    }
    if (i->op == PTX_OP_FMA && c != 0 && isfinite(special) && r != 0 && r == (quad)a * b)  /* too small for 113 bits: it still breaks ties */
        r += ((c > 0) == (r > 0) ? r : -r) * (quad)0x1p-100;
    bool neg = r < 0 || (r == 0 && signbit(special));
    if (isinf(special) && (isinf(a) || isinf(b) || isinf(c)))
        *d = ((uint64_t)((1u << (15 - frac)) - 1) << frac) | (special < 0 ? 0x8000 : 0);
    else
        *d = narrow_round(r, neg, frac, bias, FE_TONEAREST);
    return true;
}

static bool narrow(struct interp_op *o)
{
    enum ptx_type t = o->i->type[0];
    enum ptx_type e = t == PTX_T_F16X2 ? PTX_T_F16 : t == PTX_T_BF16X2 ? PTX_T_BF16 : t;
    unsigned frac;
    int bias;
    uint64_t lo, hi;
    if (!narrow_format(e, &frac, &bias))
        return false;
    if (o->i->op == PTX_OP_NEG || o->i->op == PTX_OP_ABS) {
        uint64_t m = t == e ? 0x8000 : 0x80008000u;
        o->d = o->i->op == PTX_OP_NEG ? o->s[0] ^ m : o->s[0] & ~m;
        for (unsigned k = 0; k < ptx_type_bits(t); k += 16)
            if (isnan(narrow_value(o->d >> k & 0xffff, frac, bias)))
                o->d = (o->d & ~(0xffffull << k)) | 0x7fffull << k;
        return true;
    }
    uint64_t a[3] = { o->s[0] & 0xffff, o->s[1] & 0xffff, o->s[2] & 0xffff }, b[3] = { o->s[0] >> 16 & 0xffff, o->s[1] >> 16 & 0xffff, o->s[2] >> 16 & 0xffff };
    if (!narrow_op(o->i, e, a, &lo))
        return false;
    o->d = lo;
    if (t != e && narrow_op(o->i, e, b, &hi))
        o->d |= hi << 16;
    return true;
}

/* ---- f32, f64 ---- */
static float pick32(enum ptx_op op, float a, float b)
{
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    bool less = a < b || (a == b && signbit(a) && !signbit(b));
    return (op == PTX_OP_MIN) == less ? a : b;
}
static double pick64(enum ptx_op op, double a, double b)
{
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    bool less = a < b || (a == b && signbit(a) && !signbit(b));
    return (op == PTX_OP_MIN) == less ? a : b;
}

static bool single(struct interp_op *o)
{
    const struct ptx_inst *i = o->i;
    bool z = ftz_of(i);
    volatile float a = flush(f32(o->s[0]), z), b = flush(f32(o->s[1]), z), c = flush(f32(o->s[2]), z), r;
    if (i->op == PTX_OP_NEG || i->op == PTX_OP_ABS) {
        uint64_t v = z && fpclassify(f32(o->s[0])) == FP_SUBNORMAL ? o->s[0] & 0x80000000u : o->s[0];
        o->d = isnan(a) ? 0x7fffffffu : i->op == PTX_OP_NEG ? v ^ 0x80000000u : v & 0x7fffffffu;
        return true;
    }
    fesetround(mode_of(i));
    switch (i->op) {
    case PTX_OP_ADD: r = a + b; break;
    case PTX_OP_SUB: r = a - b; break;
    case PTX_OP_MUL: r = a * b; break;
    case PTX_OP_FMA: r = fmaf(a, b, c); break;
    case PTX_OP_DIV: r = a / b; break;
    case PTX_OP_RCP: r = 1.0f / a; break;
    case PTX_OP_SQRT: r = sqrtf(a); break;
    case PTX_OP_MIN: case PTX_OP_MAX: r = pick32(i->op, a, b); break;
    case PTX_OP_COPYSIGN: o->d = (o->s[1] & 0x7fffffffu) | (o->s[0] & 0x80000000u); fesetround(FE_TONEAREST); return true;
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
    fesetround(mode_of(i));
    bool known = true;
    switch (i->op) {
    case PTX_OP_ADD: r = a + b; break;
    case PTX_OP_SUB: r = a - b; break;
    case PTX_OP_MUL: r = a * b; break;
    case PTX_OP_FMA: r = fma(a, b, c); break;
    case PTX_OP_DIV: r = a / b; break;
    case PTX_OP_RCP: r = 1.0 / a; break;
    case PTX_OP_SQRT: r = sqrt(a); break;
    case PTX_OP_MIN: case PTX_OP_MAX: r = pick64(i->op, a, b); break;
    case PTX_OP_NEG: case PTX_OP_ABS: r = 0; break;
    default: known = false;
    }
    fesetround(FE_TONEAREST);
    if (!known)
        return false;
    o->d = i->op == PTX_OP_NEG ? o->s[0] ^ 1ull << 63 : i->op == PTX_OP_ABS ? o->s[0] & ~(1ull << 63) : of64(r);
    return true;
}

bool interp_float(struct interp_op *o)
{
    enum ptx_type t = o->i->type[0];
    return t == PTX_T_F32 ? single(o) : t == PTX_T_F64 ? twice(o) : narrow(o);
}

/* ---- comparison ---- */
static bool compare_ordered(enum ptx_mod c, int order) /* -1, 0, 1 */
{
    switch (c) {
    case PTX_MOD_EQ: case PTX_MOD_EQU: return order == 0;
    case PTX_MOD_NE: case PTX_MOD_NEU: return order != 0;
    case PTX_MOD_LT: case PTX_MOD_LO: case PTX_MOD_LTU: return order < 0;
    case PTX_MOD_LE: case PTX_MOD_LS: case PTX_MOD_LEU: return order <= 0;
    case PTX_MOD_GT: case PTX_MOD_HI: case PTX_MOD_GTU: return order > 0;
    case PTX_MOD_GE: case PTX_MOD_HS: case PTX_MOD_GEU: return order >= 0;
    default: return c == PTX_MOD_NUM;
    }
}
static bool unordered_true(enum ptx_mod c)
{
    return c == PTX_MOD_EQU || c == PTX_MOD_NEU || c == PTX_MOD_LTU || c == PTX_MOD_LEU || c == PTX_MOD_GTU || c == PTX_MOD_GEU || c == PTX_MOD_NAN;
}
static double as_double(uint64_t v, enum ptx_type t, bool z)
{
    switch (t) {
    case PTX_T_F32: return flush(f32(v), z);
    case PTX_T_F64: return f64(v);
    case PTX_T_F16: return narrow_value(v, 10, 15);
    default: return narrow_value(v, 7, 127);
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
    long double r = integral(x, mode), most = s ? ldexpl(1, (int)n - 1) - 1 : ldexpl(1, (int)n) - 1, least = s ? -ldexpl(1, (int)n - 1) : 0;
    r = r > most ? most : r < least ? least : r;
    return r < 0 ? (uint64_t)(int64_t)r : (uint64_t)r;
}
static uint64_t from_value(long double x, const struct ptx_inst *i, enum ptx_type to)
{
    unsigned frac;
    int bias, mode = mode_of(i);
    if (ptx_has_mod(i, PTX_MOD_SAT))
        x = x > 1 ? 1 : x > 0 ? x : 0;
    if (narrow_format(to, &frac, &bias)) {
        if (isnan(x))
            return 0x7fff;
        if (isinf(x))
            return (uint64_t)((1u << (15 - frac)) - 1) << frac | (x < 0 ? 0x8000 : 0);
        return narrow_round((quad)x, signbit(x), frac, bias, mode);
    }
    fesetround(mode);
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
    long double x;
    if (ffrom)
        x = as_double(o->s[0], from, ftz_of(i));
    else if (ptx_type_kind(from) == 's')
        x = (int64_t)(o->s[0] << (64 - nf)) >> (64 - nf);
    else
        x = o->s[0] << (64 - nf) >> (64 - nf);
    if (fto && isnan(x) && from == PTX_T_F64 && to != PTX_T_F64 && !ptx_has_mod(i, PTX_MOD_SAT)) {
        unsigned frac = to == PTX_T_F32 ? 23 : to == PTX_T_F16 ? 10 : 7;     /* sign and upper payload stay, and it is quiet */
        o->d = (o->s[0] >> 63) << (nt - 1) | ((1ull << (nt - 1)) - (1ull << frac)) | 1ull << (frac - 1) | (o->s[0] >> (52 - frac) & ((1ull << frac) - 1));
        return true;
    }
    if (fto) {
        bool whole = ptx_has_mod(i, PTX_MOD_RNI) || ptx_has_mod(i, PTX_MOD_RZI) || ptx_has_mod(i, PTX_MOD_RMI) || ptx_has_mod(i, PTX_MOD_RPI);
        o->d = from_value(whole && !isnan(x) && !isinf(x) ? copysignl(integral(x, mode_of(i)), x) : x, i, to);
        return true;
    }
    uint64_t v;
    if (ffrom || ptx_has_mod(i, PTX_MOD_SAT))
        v = to_int(x, from, to, ffrom ? mode_of(i) : FE_TONEAREST);
    else
        v = x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
    v = v << (64 - nt);
    v = ptx_type_kind(to) == 's' ? (uint64_t)((int64_t)v >> (64 - nt)) : v >> (64 - nt);
    o->d = dst_bits >= 64 ? v : v & ((1ull << dst_bits) - 1);
    return true;
}
