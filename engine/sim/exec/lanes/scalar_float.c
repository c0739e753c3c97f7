/* Float operations lane by lane: directed rounding, saturation, packed and narrow types. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/lanes/sfu.h"
#include "engine/sim/exec/lanes/scalar.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/key.h"

#include <math.h>

enum ptx_type scalar_element(enum ptx_type t, unsigned *n)
{
    *n = 2;
    switch (t) {
    case PTX_T_F16X2: return PTX_T_F16;
    case PTX_T_BF16X2: return PTX_T_BF16;
    case PTX_T_F32X2: return PTX_T_F32;
    case PTX_T_U16X2: return PTX_T_U16;
    case PTX_T_S16X2: return PTX_T_S16;
    case PTX_T_E4M3X2: return PTX_T_E4M3;
    case PTX_T_E5M2X2: return PTX_T_E5M2;
    case PTX_T_E2M3X2: return PTX_T_E2M3;
    case PTX_T_E3M2X2: return PTX_T_E3M2;
    case PTX_T_E2M1X2: return PTX_T_E2M1;
    case PTX_T_UE8M0X2: return PTX_T_UE8M0;
    default: *n = 1; return t;
    }
}

typedef uint64_t element_fn(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4]);
static uint64_t by_element(const struct scalar_how *h, const uint64_t s[4], element_fn *fn)
{
    unsigned n;
    enum ptx_type t = scalar_element(h->t[0], &n);
    if (n == 1)
        return fn(h, t, s);
    unsigned bits = ptx_type_bits(t);
    uint64_t r = 0, keep = (1ull << bits) - 1;
    for (unsigned k = 0; k < n; k++) {
        uint64_t part[4] = { s[0] >> k * bits & keep, s[1] >> k * bits & keep, s[2] >> k * bits & keep,
                             s[3] >> k * bits & keep };
        r |= (fn(h, t, part) & keep) << k * bits;
    }
    return r;
}

static double flush(double x, enum ptx_type t, bool on)
{
    double least = t == PTX_T_F32 ? 0x1p-126 : t == PTX_T_F16 ? 0x1p-14 : 0;
    return on && fabs(x) < least ? copysign(0, x) : x;
}

static double in_double(const struct scalar_how *h, double a, double b, double c)
{
    enum soft_mode m = h->mode;
    switch (h->op) {
    case PTX_OP_ADD: return soft_f64('+', a, b, 0, m);
    case PTX_OP_SUB: return soft_f64('+', a, -b, 0, m);
    case PTX_OP_MUL: return soft_f64('*', a, b, 0, m);
    case PTX_OP_FMA:
    case PTX_OP_MAD: return soft_f64('f', a, b, c, m);
    case PTX_OP_DIV: return soft_f64('/', a, b, 0, m);
    case PTX_OP_RCP: return soft_f64('/', 1, flush(a, PTX_T_F64, false), 0, m);
    case PTX_OP_SQRT: return soft_f64('s', a, 0, 0, m);
    default: return 1.0 / sqrt(a);
    }
}

static double in_odd(const struct scalar_how *h, double a, double b, double c)
{
    switch (h->op) {
    case PTX_OP_ADD: return soft_add(a, b);
    case PTX_OP_SUB: return soft_add(a, -b);
    case PTX_OP_MUL: return a * b;
    case PTX_OP_FMA:
    case PTX_OP_MAD: return soft_add(a * b, c);
    case PTX_OP_DIV: return soft_div(a, b);
    case PTX_OP_RCP: return soft_div(1, a);
    case PTX_OP_SQRT: return soft_sqrt(a);
    default: return 1.0 / sqrt(a);
    }
}

static double saturate(const struct scalar_how *h, double x)
{
    if (h->key & KEY_SAT)
        return x > 1 ? 1 : x > 0 ? x : 0;
    if (h->key & KEY_RELU)
        return x > 0 || x != x ? x : 0;
    return x;
}

/* Exact zeros of opposite sign: the sum is +0, but -0 when rounding down. */
static double zero_sign(const struct scalar_how *h, double x, double a, double b, double c)
{
    double p = h->op == PTX_OP_FMA || h->op == PTX_OP_MAD ? a * b : a,
           q = h->op == PTX_OP_FMA || h->op == PTX_OP_MAD ? c : b;
    bool sum = h->op == PTX_OP_ADD || h->op == PTX_OP_SUB || h->op == PTX_OP_FMA || h->op == PTX_OP_MAD;
    if (h->op == PTX_OP_SUB)
        q = -q;
    return sum && x == 0 && h->mode == SOFT_RM && (signbit(p) || signbit(q)) ? -0.0 : x;
}

static uint64_t add_int(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    if (t == PTX_T_S32) {
        int64_t r = (int64_t)(int32_t)s[0] +
                    (h->op == PTX_OP_SUB ? -(int64_t)(int32_t)s[1] : (int64_t)(int32_t)s[1]);
        r = h->key & KEY_SAT ? (r > INT32_MAX ? INT32_MAX : r < INT32_MIN ? INT32_MIN : r) : r;
        return (uint32_t)r;
    }
    return h->op == PTX_OP_SUB ? s[0] - s[1] : s[0] + s[1];
}

static uint64_t arith_element(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    const struct soft_format *f = soft_format_of(t),
                             *f1 = h->t[1] && soft_format_of(h->t[1]) ? soft_format_of(h->t[1]) : f;
    if (!f)
        return add_int(h, t, s);
    bool z = h->key & KEY_FTZ, mixed = f1 != f, three = h->op == PTX_OP_FMA || h->op == PTX_OP_MAD;
    double a = flush(soft_to_double(s[0], f1), t, z), b = flush(soft_to_double(s[1], mixed && !three ? f
                                                                                     : mixed         ? f1
                                                                                             : f),
                                                                t, z);
    double c = flush(soft_to_double(s[2], f), t, z);
    if (t == PTX_T_F64)
        return bits_f64(in_double(h, a, b, c));
    double x = saturate(h, zero_sign(h, in_odd(h, a, b, c), a, b, c));
    uint64_t r = soft_round(x, f, h->mode, h->finite);
    return z ? soft_round(flush(soft_to_double(r, f), t, true), f, SOFT_RN, false) : r;
}
uint64_t scalar_arith(const struct scalar_how *h, const uint64_t s[4])
{
    return by_element(h, s, arith_element);
}

static uint64_t sign_element(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    unsigned bits = ptx_type_bits(t);
    uint64_t sign = 1ull << (bits - 1);
    uint64_t v = s[0];
    if (h->op == PTX_OP_COPYSIGN)
        return (s[1] & ~sign) | (s[0] & sign);
    const struct soft_format *f = soft_format_of(t);
    if (h->key & KEY_FTZ && f)
        v = flush(soft_to_double(v, f), t, true) == 0 ? v & sign : v;
    if (f && bits < 64 && soft_to_double(v, f) != soft_to_double(v, f))
        return f->nan;
    return h->op == PTX_OP_NEG ? v ^ sign : v & ~sign;
}
uint64_t scalar_sign(const struct scalar_how *h, const uint64_t s[4])
{
    return by_element(h, s, sign_element);
}

static uint64_t minmax_int(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    unsigned up = 64 - ptx_type_bits(t);
    bool less;
    if (ptx_type_kind(t) == 's')
        less = (int64_t)(s[0] << up) < (int64_t)(s[1] << up);
    else
        less = s[0] << up < s[1] << up;
    uint64_t r = (h->op == PTX_OP_MIN) == less ? s[0] : s[1];
    return h->key & KEY_RELU && (int64_t)(r << up) < 0 ? 0 : r;
}

static uint64_t minmax_pair(const struct scalar_how *h, const struct soft_format *f, enum ptx_type t,
                            uint64_t ua, uint64_t ub)
{
    uint64_t sign = 1ull << (f->bits - 1), xs = (ua ^ ub) & sign;
    if (h->key & KEY_ABS) {
        ua &= ~sign;
        ub &= ~sign;
    }
    double a = flush(soft_to_double(ua, f), t, h->key & KEY_FTZ),
           b = flush(soft_to_double(ub, f), t, h->key & KEY_FTZ);
    if ((a != a && b != b) || ((h->key & KEY_NAN) && (a != a || b != b)))
        return f->nan;
    double r = a != a                                             ? b
               : b != b                                           ? a
               : a < b                                            ? (h->op == PTX_OP_MIN ? a : b)
               : b < a                                            ? (h->op == PTX_OP_MIN ? b : a)
               : (h->op == PTX_OP_MIN ? signbit(a) : !signbit(a)) ? a
                                                                  : b;
    uint64_t v = soft_round(r, f, SOFT_RN, false);
    if (h->key & KEY_XORSIGN)
        v = (v & ~sign) | xs;
    return v;
}

static uint64_t minmax_element(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    const struct soft_format *f = soft_format_of(t);
    if (!f)
        return minmax_int(h, t, s);
    uint64_t r = minmax_pair(h, f, t, s[0], s[1]);
    if (h->nsrc == 3)
        r = minmax_pair(h, f, t, r, s[2]);
    return r;
}
uint64_t scalar_minmax(const struct scalar_how *h, const uint64_t s[4])
{
    return by_element(h, s, minmax_element);
}

/* Halves get the upper bits of what a float would have. */
static uint64_t approx_element(const struct scalar_how *h, enum ptx_type t, const uint64_t s[4])
{
    const struct soft_format *f = soft_format_of(t);
    double a = flush(soft_to_double(s[0], f), t, h->key & KEY_FTZ);
    bool flushed = t == PTX_T_BF16 && h->key & KEY_FTZ;
    double r = (double)(h->op == PTX_OP_TANH ? sfu_tanh((float)a)
                        : flushed            ? sfu_ex2((float)a)
                                             : sfu_ex2_all((float)a));
    bool infinite = t == PTX_T_F16 && r >= 0x1p16;
    uint64_t v = soft_round(r, f, infinite ? SOFT_RN : SOFT_RZ, false);
    return h->key & KEY_FTZ && t == PTX_T_F32
               ? soft_round(flush(soft_to_double(v, f), t, true), f, SOFT_RN, false)
               : v;
}
uint64_t scalar_approx(const struct scalar_how *h, const uint64_t s[4])
{
    return by_element(h, s, approx_element);
}

uint64_t scalar_testp(const struct scalar_how *h, const uint64_t s[4])
{
    double x = soft_to_double(s[0], soft_format_of(h->t[0]));
    double least = h->t[0] == PTX_T_F32 ? 0x1p-126 : 0x1p-1022;
    switch (h->imm) {
    case PTX_MOD_FINITE: return isfinite(x) != 0;
    case PTX_MOD_INFINITE: return isinf(x) != 0;
    case PTX_MOD_NUMBER: return x == x;
    case PTX_MOD_NOTANUMBER: return x != x;
    /* zeros count as normal (9.7.3.1) */
    case PTX_MOD_NORMAL: return isfinite(x) && (x == 0 || fabs(x) >= least);
    default: return x != 0 && fabs(x) < least;
    }
}

uint64_t scalar_slct(const struct scalar_how *h, const uint64_t s[4])
{
    bool first;
    if (h->t[1] == PTX_T_F32) {
        float c = f32_bits((uint32_t)s[2]);
        first = (h->key & KEY_FTZ ? ftz(c) : c) >= 0;
    } else {
        first = (int32_t)s[2] >= 0;
    }
    return first ? s[0] : s[1];
}
