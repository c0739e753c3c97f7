#include "engine/sim/exec/lanes/soft.h"

#include "engine/sim/exec/lanes/math.h"

#include <fenv.h>
#include <math.h>

static const struct soft_format formats[PTX_T_COUNT] = {
    [PTX_T_F16] = { 16, 10, 15, true, true, false, 0x7bff, 0x7fff, 0 },
    [PTX_T_BF16] = { 16, 7, 127, true, true, false, 0x7f7f, 0x7fff, 0 },
    [PTX_T_TF32] = { 19, 10, 127, true, true, false, 0x3fbff, 0x3ffff, 13 },
    [PTX_T_F32] = { 32, 23, 127, true, true, false, 0x7f7fffff, 0x7fffffff, 0 },
    [PTX_T_F64] = { 64, 52, 1023, true, true, false, 0x7fefffffffffffff, 0xfff8000000000000, 0 },
    [PTX_T_E4M3] = { 8, 3, 7, false, true, false, 0x7e, 0x7f, 0 },
    [PTX_T_E5M2] = { 8, 2, 15, true, true, false, 0x7b, 0x7f, 0 },
    [PTX_T_E2M3] = { 6, 3, 1, false, false, false, 0x1f, 0x1f, 0 },
    [PTX_T_E3M2] = { 6, 2, 3, false, false, false, 0x1f, 0x1f, 0 },
    [PTX_T_E2M1] = { 4, 1, 1, false, false, false, 0x7, 0x7, 0 },
    [PTX_T_UE8M0] = { 8, 0, 127, false, true, true, 0xfe, 0xff, 0 },
};

const struct soft_format *soft_format_of(enum ptx_type t)
{
    return formats[t].bits ? &formats[t] : NULL;
}

double soft_to_double(uint64_t v, const struct soft_format *f)
{
    v >>= f->shift;
    if (f->bits == 64)
        return f64_bits(v);
    unsigned ebits = f->bits - f->frac - (f->is_unsigned ? 0u : 1u);
    uint64_t frac = v & ((1ull << f->frac) - 1), e = v >> f->frac & ((1ull << ebits) - 1);
    bool neg = !f->is_unsigned && v >> (f->bits - 1) & 1;
    double x;
    if (f->is_unsigned)
        x = e == 255 ? NAN : ldexp(1.0, (int)e - f->bias);
    else if (f->inf && e == (1ull << ebits) - 1)
        x = frac ? NAN : INFINITY;
    else if (!f->inf && f->has_nan && (v & f->nan) == f->nan)
        x = NAN;
    else if (!e)
        x = ldexp((double)frac, 1 - f->bias - f->frac);
    else
        x = ldexp((double)(frac | 1ull << f->frac), (int)e - f->bias - f->frac);
    return neg ? -x : x;
}

/* Whether k must go up by one, given the part `rest` below it out of `whole`. */
static bool rounds_up(enum soft_mode mode, bool neg, uint64_t k, uint64_t rest, uint64_t whole)
{
    switch (mode) {
    case SOFT_RZ: return false;
    case SOFT_RM: return neg && rest;
    case SOFT_RP: return !neg && rest;
    case SOFT_RNA: return rest * 2 >= whole;
    default: return rest * 2 > whole || (rest * 2 == whole && (k & 1));
    }
}

static uint64_t overflow(const struct soft_format *f, enum soft_mode mode, bool neg, bool finite)
{
    uint64_t inf = f->inf ? f->max + 1 : f->has_nan ? f->nan : f->max;
    bool away =
        mode == SOFT_RN || mode == SOFT_RNA || (mode == SOFT_RP && !neg) || (mode == SOFT_RM && neg);
    return finite || !away ? f->max : inf;
}

uint64_t soft_round(double x, const struct soft_format *f, enum soft_mode mode, bool finite)
{
    uint64_t u = bits_f64(x), r;
    bool neg = u >> 63;
    uint64_t sign = neg && !f->is_unsigned ? 1ull << (f->bits - 1) : 0;
    if (f->bits == 64)
        return u;
    if (x != x)
        return f->has_nan ? f->nan << f->shift : (f->max) << f->shift;
    if (isinf(x))
        return ((finite || !f->inf ? (finite || !f->has_nan ? f->max : f->nan) : f->max + 1) | sign)
               << f->shift;
    if (x == 0)
        return sign << f->shift;
    int e = (int)(u >> 52 & 0x7ff);
    uint64_t m = (u & 0xfffffffffffffull) | (e ? 1ull << 52 : 0);
    e = (e ? e : 1) - 1023;
    int least = 1 - f->bias - (f->is_unsigned ? 1 : 0), unit = (e > least ? e : least) - f->frac,
        drop = unit - (e - 52);
    uint64_t k = drop > 62 ? 0 : m >> drop, rest = drop > 62 ? 1 : m & ((1ull << drop) - 1),
             whole = drop > 62 ? 4 : 1ull << drop;
    k += rounds_up(mode, neg, k, rest, whole);
    if (k < 1ull << f->frac)
        r = k;
    else
        r = ((uint64_t)(unit + f->frac + f->bias) << f->frac) + (k - (1ull << f->frac));
    if (r > f->max)
        r = overflow(f, mode, neg, finite);
    return (r | sign) << f->shift;
}

/* The neighbour with an odd last bit when s is inexact and even; err has the sign of what is missing. */
static double make_odd(double s, double err)
{
    uint64_t u = bits_f64(s);
    if (!(err > 0 || err < 0) || (u & 1) || isinf(s))
        return s;
    return f64_bits((err > 0) == (s > 0) ? u + 1 : u - 1);
}

double soft_add(double a, double b)
{
    double s = a + b, bb = s - a;
    return make_odd(s, (a - (s - bb)) + (b - bb));
}

double soft_div(double a, double b)
{
    double q = a / b, r = fma(-q, b, a);
    return isfinite(q) ? make_odd(q, b < 0 ? -r : r) : q;
}

double soft_sqrt(double a)
{
    double s = sqrt(a);
    return isfinite(s) ? make_odd(s, fma(-s, s, a)) : s;
}

double soft_from_int(uint64_t v, bool is_signed)
{
    bool neg = is_signed && v >> 63;
    uint64_t m = neg ? 0 - v : v;
    double x = soft_add((double)(m >> 32) * 4294967296.0, (double)(m & 0xffffffffu));
    return neg ? -x : x;
}

double soft_f64(char op, double a, double b, double c, enum soft_mode mode)
{
    static const int modes[] = { FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST };
    volatile double va = a, vb = b, vc = c, r = 0;
    int old = fegetround();
    fesetround(modes[mode]);
    switch (op) {
    case '+': r = va + vb; break;
    case '*': r = va * vb; break;
    case '/': r = va / vb; break;
    case 'f': r = fma(va, vb, vc); break;
    case 's': r = sqrt(va); break;
    default: break;
    }
    fesetround(old);
    return r;
}

double soft_integral(double x, enum soft_mode mode)
{
    switch (mode) {
    case SOFT_RZ: return trunc(x);
    case SOFT_RM: return floor(x);
    case SOFT_RP: return ceil(x);
    default: return nearbyint(x);
    }
}
