/* Operators on symbolic values: division, shifts, bit logic, comparisons,
 * conditions. Each rule rewrites only where the proven intervals make the
 * rewrite exact; everything else stays an opaque operator node. */
#include "engine/analysis/symbolic/symexpr.h"
#include "engine/analysis/symbolic/symexpr_int.h"
#include "engine/base/base.h"

#include <string.h>

const char *symexpr_op_text(enum symexpr_op o)
{
    static const char *const text[] = {
#define X(n, t) t,
        SYMEXPR_OPS(X)
#undef X
    };
    return o < AXO_COUNT ? text[o] : "?";
}

static const struct symexpr *node2(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                   const struct symexpr *a, const struct symexpr *b, int64_t lo,
                                   int64_t hi)
{
    const struct symexpr *arg[2] = { a, b };
    return symexpr_node(p, op, bits, arg, 2, lo, hi);
}
static const struct symexpr *opaque2(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b)
{
    return node2(p, op, a->bits, a, b, INT64_MIN, INT64_MAX);
}

/* ---- one evaluation rule per operator, shared by folding and tapes ---- */
static uint64_t unsign(int64_t v, unsigned bits)
{
    return bits >= 64 ? (uint64_t)v : (uint64_t)v & ((UINT64_C(1) << bits) - 1);
}
static uint64_t mulhi(uint64_t a, uint64_t b, unsigned bits)
{
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)a * b >> bits);
}
static int64_t smulhi(int64_t a, int64_t b, unsigned bits)
{
    __extension__ typedef __int128 i128;
    return (int64_t)((i128)a * b >> bits);
}
static int64_t shift(enum symexpr_op op, int64_t a, uint64_t by, unsigned bits)
{
    if (by >= bits) /* PTX clamps shift amounts (section 9.7.8) */
        return op == AXO_ASHR && a < 0 ? -1 : 0;
    if (op == AXO_SHL)
        return (int64_t)((uint64_t)a << by);
    return op == AXO_ASHR ? a >> by : (int64_t)(unsign(a, bits) >> by);
}
static int64_t power(int64_t a, uint64_t n)
{
    uint64_t r = 1, x = (uint64_t)a;
    for (; n; n >>= 1, x *= x)
        r *= n & 1 ? x : 1;
    return (int64_t)r;
}
int64_t symexpr_eval2(enum symexpr_op op, int64_t a, int64_t b, unsigned bits)
{
    uint64_t ua = unsign(a, bits), ub = unsign(b, bits);
    int64_t r = 0;
    switch (op) {
    case AXO_UDIV: r = ub ? (int64_t)(ua / ub) : -1; break;
    /* by zero: all ones, as an H200 has it */
    case AXO_UREM: r = ub ? (int64_t)(ua % ub) : -1; break;
    case AXO_SDIV: r = !b ? -1 : b == -1 ? (int64_t) - (uint64_t)a : a / b; break;
    case AXO_SREM: r = !b ? -1 : b == -1 ? 0 : a % b; break;
    case AXO_SHL:
    case AXO_LSHR:
    case AXO_ASHR: r = shift(op, a, unsign(b, 32), bits); break;
    case AXO_AND: r = a & b; break;
    case AXO_OR: r = a | b; break;
    case AXO_XOR: r = a ^ b; break;
    case AXO_UMIN: r = ua < ub ? a : b; break;
    case AXO_UMAX: r = ua > ub ? a : b; break;
    case AXO_SMIN: r = a < b ? a : b; break;
    case AXO_SMAX: r = a > b ? a : b; break;
    case AXO_UMULHI: r = (int64_t)mulhi(ua, ub, bits); break;
    case AXO_SMULHI: r = smulhi(a, b, bits); break;
    case AXO_POW: r = power(a, ub); break;
    case AXO_EQ: return a == b;
    case AXO_ULT: return ua < ub;
    case AXO_ULE: return ua <= ub;
    case AXO_SLT: return a < b;
    case AXO_SLE: return a <= b;
    default: break;
    }
    return bits == 1 ? r & 1 : symexpr_wrap(r, bits);
}

/* Bits certainly zero at the bottom of a. */
static unsigned low_zeros(const struct symexpr *a)
{
    if (a->kind != SYMEXPR_SUM)
        return 0;
    unsigned z = a->c ? (unsigned)__builtin_ctzll((uint64_t)a->c) : 64;
    for (uint32_t i = 0; i < a->n; i++) {
        unsigned k = (unsigned)__builtin_ctzll((uint64_t)a->coef[i]);
        z = k < z ? k : z;
    }
    return z;
}
/* A sum whose coefficients all have the factor 2^z, without it. */
static const struct symexpr *divided(struct symexpr_pool *p, const struct symexpr *a, unsigned z)
{
    const struct symexpr *r = symexpr_const(p, a->bits, a->c >> z);
    for (uint32_t i = 0; i < a->n; i++)
        r = symexpr_add(p, r, symexpr_scale(p, a->arg[i], a->coef[i] >> z));
    return r;
}

/* ---- division by multiplication: what compilers make of x / d ----
 * floor(n*M / 2^k) = floor(n/d) for 0 <= n <= N when M*d = 2^k + e, 0 <= e, N*e < 2^k: the product is
 * n/d + n*e/(d*2^k), and a fraction of n/d is at most 1 - 1/d. 0: M and k divide by nothing. */
static int64_t magic(uint64_t M, unsigned k, uint64_t N)
{
    __extension__ typedef unsigned __int128 u128;
    if (M < 2 || k < 2 || k > 95)
        return 0;
    u128 two = (u128)1 << k, d = (two + M - 1) / M, e = d * M - two;
    return d >= 2 && d < (UINT64_C(1) << 31) && (N == 0 || e < (two + N - 1) / N) ? (int64_t)d : 0;
}
/* x / d for an x of which the low `bits` count as unsigned; N: the most it can be. */
static uint64_t most_unsigned(const struct symexpr *x)
{
    return x->lo >= 0 ? (uint64_t)x->hi : unsign(-1, x->bits);
}
static const struct symexpr *udiv_const(struct symexpr_pool *p, const struct symexpr *x, int64_t d);
/* (a*M) >> k, whole (a widened before it was multiplied) or the upper half of it; NULL: no division. */
static const struct symexpr *undo_magic(struct symexpr_pool *p, const struct symexpr *x, unsigned k)
{
    const struct symexpr *a;
    int64_t d;
    if (x->kind == SYMEXPR_OP && x->op == AXO_UMULHI && symexpr_is_const(x->arg[1])) {
        a = x->arg[0];
        d = magic(unsign(x->arg[1]->c, x->bits), x->bits + k, most_unsigned(a));
        return d ? udiv_const(p, a, d) : NULL;
    }
    if (x->kind == SYMEXPR_SUM && x->n == 1 && x->c == 0 && x->bits == 64 && k >= 32 && x->coef[0] > 1 &&
        x->coef[0] <= UINT32_MAX) {
        a = x->arg[0];
        const struct symexpr *narrow =
            a->kind == SYMEXPR_ZEXT && a->arg[0]->bits <= 32 ? a->arg[0] : NULL;
        uint64_t N = narrow ? most_unsigned(narrow) : (uint64_t)a->hi;
        if (!narrow && (a->lo < 0 || a->hi > UINT32_MAX))
            return NULL;
        d = magic((uint64_t)x->coef[0], k, N);
        return !d ? NULL : narrow ? symexpr_zext(p, udiv_const(p, narrow, d), 64) : udiv_const(p, a, d);
    }
    return NULL;
}
/* The signed form: t = hi(x*M) [+ x], then (t >> s) + (t >>> 31) rounds towards zero for every 32-bit x
 * when e > 0 and 2^31*e <= 2^k (as above; below zero the floor is one too low). NULL: not that. */
const struct symexpr *symexpr_signed_magic(struct symexpr_pool *p, const struct symexpr *t, unsigned s)
{
    __extension__ typedef unsigned __int128 u128;
    const struct symexpr *h = t, *x = NULL;
    int64_t add = 0;
    if (t->kind == SYMEXPR_SUM && t->bits == 32)
        for (uint32_t i = 0; i < t->n && !x; i++)
            if (t->arg[i]->kind == SYMEXPR_OP && t->arg[i]->op == AXO_SMULHI && t->coef[i] == 1 &&
                symexpr_is_const(t->arg[i]->arg[1])) {
                h = t->arg[i];
                x = h->arg[0];
                add = INT64_C(1) << 32;
            }
    if (h->kind != SYMEXPR_OP || h->op != AXO_SMULHI || h->bits != 32 || !symexpr_is_const(h->arg[1]) ||
        (x && symexpr_add(p, x, h) != t))
        return NULL;
    x = h->arg[0];
    int64_t M = h->arg[1]->c + add, d = M > 0 ? magic((uint64_t)M, 32 + s, INT32_MAX) : 0;
    u128 e = d ? (u128)M * (u128)d - ((u128)1 << (32 + s)) : 0;
    return d && e > 0 && e <= (u128)1 << (s + 1) ? symexpr_op2(p, AXO_SDIV, x, symexpr_const(p, 32, d))
                                                 : NULL;
}

/* ---- division and remainder by a positive constant ----
 * x = d*Q + R term by term; floor(x/d) = Q + floor(R/d) when x and R stay >= 0. */
static void split_by(struct symexpr_pool *p, const struct symexpr *x, int64_t d,
                     const struct symexpr **q, const struct symexpr **r)
{
    int64_t rem = x->c % d;
    if (rem < 0)
        rem += d;
    *q = symexpr_const(p, x->bits, (x->c - rem) / d);
    *r = symexpr_const(p, x->bits, rem);
    for (uint32_t i = 0; i < x->n; i++)
        if (x->coef[i] % d == 0)
            *q = symexpr_add(p, *q, symexpr_scale(p, x->arg[i], x->coef[i] / d));
        else
            *r = symexpr_add(p, *r, symexpr_scale(p, x->arg[i], x->coef[i]));
}
static const struct symexpr *udiv_const(struct symexpr_pool *p, const struct symexpr *x, int64_t d)
{
    if (d == 1)
        return x;
    if (x->lo >= 0 && x->hi < d)
        return symexpr_const(p, x->bits, 0);
    if (x->kind == SYMEXPR_SUM && x->lo >= 0 && symexpr_bounded(x)) {
        const struct symexpr *q, *r;
        split_by(p, x, d, &q, &r);
        if (r->lo >= 0 && symexpr_bounded(r) && !symexpr_is_value(q, 0)) {
            const struct symexpr *rest = udiv_const(p, r, d);
            return symexpr_add(p, q, rest);
        }
    }
    bool pow2 = (d & (d - 1)) == 0, nn = x->lo >= 0;
    const struct symexpr *whole = pow2 ? undo_magic(p, x, (unsigned)__builtin_ctzll((uint64_t)d)) : NULL;
    if (whole)
        return whole;
    if (x->kind == SYMEXPR_OP && x->op == AXO_UDIV && symexpr_is_const(x->arg[1]) && x->arg[1]->c > 0 &&
        x->arg[1]->c < INT32_MAX && d < INT32_MAX) {
        int64_t both = x->arg[1]->c * d;
        if ((uint64_t)both > most_unsigned(x->arg[0]))
            return symexpr_const(p, x->bits, 0);
        if (both <= INT32_MAX || x->bits == 64)
            return udiv_const(p, x->arg[0], both);
    }
    if (x->kind == SYMEXPR_TRUNC && x->arg[0]->lo >= 0 && (uint64_t)x->arg[0]->hi <= unsign(-1, x->bits))
        return symexpr_trunc(p, udiv_const(p, x->arg[0], d), x->bits);
    if (pow2 && x->kind == SYMEXPR_OP && x->op == AXO_LSHR && symexpr_is_const(x->arg[1]))
        return symexpr_op2(
            p, AXO_LSHR, x->arg[0],
            symexpr_add(p, x->arg[1], symexpr_const(p, x->arg[1]->bits, __builtin_ctzll((uint64_t)d))));
    return node2(p, AXO_UDIV, x->bits, x, symexpr_const(p, x->bits, d), nn ? x->lo / d : 0,
                 nn ? x->hi / d : (int64_t)(unsign(-1, x->bits) / (uint64_t)d));
}
static const struct symexpr *urem_const(struct symexpr_pool *p, const struct symexpr *x, int64_t d)
{
    if (d == 1)
        return symexpr_const(p, x->bits, 0);
    if (x->lo >= 0 && x->hi < d)
        return x;
    bool pow2 = (d & (d - 1)) == 0;
    /* Powers of two: the low bits of a sum do not depend on wrap-around or sign. */
    if (x->kind == SYMEXPR_SUM && (pow2 || (x->lo >= 0 && symexpr_bounded(x)))) {
        const struct symexpr *q, *r;
        split_by(p, x, d, &q, &r);
        if (r != x && (pow2 || (r->lo >= 0 && symexpr_bounded(r))))
            return urem_const(p, r, d);
    }
    if (pow2 && (x->kind == SYMEXPR_SEXT || x->kind == SYMEXPR_ZEXT) && x->arg[0]->bits < 64 &&
        d <= INT64_C(1) << (x->arg[0]->bits - 1) && x->arg[0]->bits > 1)
        /* low bits, which widening keeps */
        return symexpr_zext(p, urem_const(p, x->arg[0], d), x->bits);
    unsigned z = pow2 && x->kind == SYMEXPR_SUM ? low_zeros(x) : 0;
    if (z && (INT64_C(1) << z) < d) /* 2^z*b % 2^j = 2^z*(b % 2^(j-z)) */
        return symexpr_scale(p, urem_const(p, divided(p, x, z), d >> z), INT64_C(1) << z);
    return node2(p, AXO_UREM, x->bits, x, symexpr_const(p, x->bits, d), 0, d - 1);
}
static const struct symexpr *divide(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                    const struct symexpr *b)
{
    bool sgn = op == AXO_SDIV || op == AXO_SREM, rem = op == AXO_UREM || op == AXO_SREM;
    bool nn = a->lo >= 0 && b->lo >= 0;
    if (symexpr_is_const(b) && b->c > 0 && (!sgn || nn))
        return rem ? urem_const(p, a, b->c) : udiv_const(p, a, b->c);
    if (nn && b->lo > 0)
        return rem ? node2(p, AXO_UREM, a->bits, a, b, 0, b->hi - 1)
                   : node2(p, AXO_UDIV, a->bits, a, b, 0, a->hi / b->lo);
    if (sgn && symexpr_is_const(b) && b->c > 0 && symexpr_bounded(a))
        return rem ? node2(p, op, a->bits, a, b, a->lo < 0 ? 1 - b->c : 0, a->hi > 0 ? b->c - 1 : 0)
                   : node2(p, op, a->bits, a, b, a->lo / b->c, a->hi / b->c);
    return opaque2(p, op, a, b);
}

/* ---- shifts and bit logic ---- */
/* The compilers' signed division by 2^k: (x + b) >> k with b = (x >> bits-1) >>> (bits-k), which
 * adds 2^k-1 to negative x. Returns x when e is such an x + b. */
static const struct symexpr *biased(const struct symexpr *e, unsigned k, const struct symexpr **bias)
{
    if (e->kind != SYMEXPR_SUM)
        return NULL;
    for (uint32_t i = 0; i < e->n; i++) {
        const struct symexpr *b = e->arg[i];
        if (e->coef[i] != 1 || b->kind != SYMEXPR_OP || b->op != AXO_LSHR ||
            !symexpr_is_value(b->arg[1], (int64_t)(e->bits - k)))
            continue;
        const struct symexpr *s = b->arg[0];
        if (s->kind == SYMEXPR_OP && s->op == AXO_ASHR && symexpr_is_value(s->arg[1], e->bits - 1)) {
            *bias = b;
            return s->arg[0];
        }
    }
    return NULL;
}
static const struct symexpr *unbias(struct symexpr_pool *p, const struct symexpr *e, unsigned k)
{
    const struct symexpr *b, *x = k && k < e->bits ? biased(e, k, &b) : NULL;
    return x && symexpr_add(p, x, b) == e ? x : NULL;
}
/* By an amount that is not constant. */
static const struct symexpr *shifted_by(struct symexpr_pool *p, enum symexpr_op op,
                                        const struct symexpr *a, const struct symexpr *b)
{
    if (op == AXO_ASHR || a->lo >= 0) {
        if (op != AXO_SHL)
            return node2(p, a->lo >= 0 ? AXO_LSHR : op, a->bits, a, b, a->lo < 0 ? a->lo : 0,
                         a->hi > 0   ? a->hi
                         : a->lo < 0 ? -1
                                     : 0);
        if (b->lo >= 0 && b->hi < 32 && a->hi < INT64_C(1) << 30)
            return node2(p, op, a->bits, a, b, a->lo << b->lo, a->hi << b->hi);
    }
    return opaque2(p, op, a, b);
}
static const struct symexpr *shifted(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b)
{
    if (!symexpr_is_const(b))
        return shifted_by(p, op, a, b);
    uint64_t k = unsign(b->c, 32);
    if (k == 0)
        return a;
    if (k >= a->bits)
        return op == AXO_ASHR && a->lo < 0 ? node2(p, op, a->bits, a, b, -1, 0)
                                           : symexpr_const(p, a->bits, 0);
    if (op == AXO_SHL)
        return symexpr_scale(p, a, symexpr_wrap((int64_t)(UINT64_C(1) << k), a->bits));
    if (a->lo >= 0 && k < a->bits - 1u)
        return udiv_const(p, a, INT64_C(1) << k);
    if (a->lo >= 0)
        return symexpr_const(p, a->bits, 0);
    const struct symexpr *x = op == AXO_ASHR ? unbias(p, a, (unsigned)k) : NULL;
    if (x)
        return divide(p, AXO_SDIV, x, symexpr_const(p, a->bits, INT64_C(1) << k));
    if (op == AXO_ASHR)
        return node2(p, op, a->bits, a, b, a->lo >> k, a->hi >> k);
    const struct symexpr *q = undo_magic(p, a, (unsigned)k);
    if (q)
        return q;
    if (a->kind == SYMEXPR_TRUNC && a->arg[0]->lo >= 0 && (uint64_t)a->arg[0]->hi <= unsign(-1, a->bits))
        return symexpr_trunc(p, shifted(p, op, a->arg[0], b), a->bits);
    if (a->kind == SYMEXPR_OP && a->op == AXO_LSHR && symexpr_is_const(a->arg[1]) &&
        unsign(a->arg[1]->c, 32) < a->bits)
        return shifted(p, op, a->arg[0], symexpr_const(p, 32, (int64_t)(k + unsign(a->arg[1]->c, 32))));
    return node2(p, op, a->bits, a, b, 0, (int64_t)(unsign(-1, a->bits) >> k));
}
static bool disjoint(const struct symexpr *a, const struct symexpr *b)
{
    unsigned z = low_zeros(a);
    return b->lo >= 0 && (z >= 62 || b->hi < (INT64_C(1) << z));
}
static const struct symexpr *masked(struct symexpr_pool *p, const struct symexpr *a, int64_t m)
{
    uint64_t u = unsign(m, a->bits), inv = unsign(~m, a->bits);
    if (u == 0)
        return symexpr_const(p, a->bits, 0);
    if (inv == 0)
        return a;
    if ((a->kind == SYMEXPR_SEXT || a->kind == SYMEXPR_ZEXT) && a->arg[0]->bits > 1 &&
        u <= unsign(-1, a->arg[0]->bits) >> 1)
        return symexpr_zext(p, masked(p, a->arg[0], m), a->bits);
    unsigned z = low_zeros(a);
    if (z && z < a->bits &&
        a->n) /* 2^z*b & m = 2^z*(b & (m >> z)): what is lost above is lost by the factor too */
        return symexpr_scale(p, masked(p, divided(p, a, z), m >> z), INT64_C(1) << z);
    if ((u & (u + 1)) == 0 && u < INT64_MAX)
        return urem_const(p, a, (int64_t)(u + 1));
    const struct symexpr *x = (inv & (inv + 1)) == 0 && inv + 1 < (UINT64_C(1) << 62)
                                  ? unbias(p, a, (unsigned)__builtin_ctzll(inv + 1))
                                  : NULL;
    if (x) /* the same, keeping the multiple: x/2^k*2^k */
        return symexpr_scale(p, divide(p, AXO_SDIV, x, symexpr_const(p, a->bits, (int64_t)(inv + 1))),
                             (int64_t)(inv + 1));
    if ((inv & (inv + 1)) == 0 && a->bits == 64 && inv + 1 < (UINT64_C(1) << 62))
        return symexpr_sub(p, a, urem_const(p, a, (int64_t)(inv + 1))); /* a pointer keeps its base */
    if ((inv & (inv + 1)) == 0 && inv + 1 < (UINT64_C(1) << 62))
        return symexpr_scale(p, udiv_const(p, a, (int64_t)(inv + 1)), (int64_t)(inv + 1));
    bool nn = m >= 0 || a->lo >= 0;
    int64_t hi = m >= 0 && (a->lo < 0 || m < a->hi) ? m : a->hi;
    return node2(p, AXO_AND, a->bits, a, symexpr_const(p, a->bits, m), nn ? 0 : INT64_MIN,
                 nn ? hi : INT64_MAX);
}
static int64_t bits_above(int64_t v) /* smallest 2^k-1 >= v */
{
    uint64_t u = (uint64_t)v;
    for (unsigned s = 1; s < 64; s <<= 1)
        u |= u >> s;
    return (int64_t)u;
}
static const struct symexpr *logic(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                   const struct symexpr *b)
{
    if (symexpr_is_const(a)) {
        const struct symexpr *t = a;
        a = b;
        b = t;
    }
    if (a == b)
        return op == AXO_XOR ? symexpr_const(p, a->bits, 0) : a;
    if (op == AXO_AND && symexpr_is_const(b))
        return masked(p, a, b->c);
    if (op != AXO_AND && symexpr_is_value(b, 0))
        return a;
    if (op == AXO_XOR && symexpr_is_value(b, -1))
        return symexpr_sub(p, symexpr_const(p, a->bits, -1), a);
    if (op != AXO_AND && (disjoint(a, b) || disjoint(b, a)))
        return symexpr_add(p, a, b);
    if (a->lo >= 0 && b->lo >= 0) {
        int64_t m = a->hi > b->hi ? a->hi : b->hi;
        return node2(p, op, a->bits, a, b, 0,
                     op == AXO_AND ? (a->hi < b->hi ? a->hi : b->hi) : bits_above(m));
    }
    return opaque2(p, op, a, b);
}

/* ---- minimum, maximum, high products ---- */
static const struct symexpr *extreme(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b)
{
    bool uns = op == AXO_UMIN || op == AXO_UMAX, min = op == AXO_UMIN || op == AXO_SMIN;
    if (a == b)
        return a;
    if (uns && (a->lo < 0 || b->lo < 0))
        return opaque2(p, op, a, b);
    if (a->hi <= b->lo)
        return min ? a : b;
    if (b->hi <= a->lo)
        return min ? b : a;
    int64_t lo = min == (a->lo < b->lo) ? a->lo : b->lo, hi = min == (a->hi < b->hi) ? a->hi : b->hi;
    return node2(p, min ? AXO_SMIN : AXO_SMAX, a->bits, a, b, lo, hi);
}
static const struct symexpr *high(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                  const struct symexpr *b)
{
    if (a->lo >= 0 && symexpr_is_const(b) && a->bits == 32) {
        uint64_t top = mulhi((uint64_t)a->hi, unsign(b->c, 32), 32);
        if (op == AXO_UMULHI || b->c >= 0)
            return node2(p, AXO_UMULHI, a->bits, a, b, 0, (int64_t)top);
    }
    return opaque2(p, op, a, b);
}

/* ---- comparisons ---- */
static const struct symexpr *truth(struct symexpr_pool *p, bool v)
{
    return symexpr_const(p, 1, v);
}
static const struct symexpr *equal(struct symexpr_pool *p, const struct symexpr *a,
                                   const struct symexpr *b)
{
    if (a == b)
        return truth(p, true);
    if (a->hi < b->lo || b->hi < a->lo)
        return truth(p, false);
    if (a->bits == 1 && symexpr_is_const(b))
        return b->c ? a : symexpr_not(p, a);
    if (a->id > b->id || symexpr_is_const(a)) {
        const struct symexpr *t = a;
        a = b;
        b = t;
    }
    return node2(p, AXO_EQ, 1, a, b, 0, 1);
}
static const struct symexpr *less(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                  const struct symexpr *b)
{
    bool strict = op == AXO_ULT || op == AXO_SLT, uns = op == AXO_ULT || op == AXO_ULE;
    if (a == b)
        return truth(p, !strict);
    if (uns && a->lo >= 0 && b->lo >= 0)
        op = strict ? AXO_SLT : AXO_SLE;
    else if (uns && b->lo >= 0 && a->lo < 0 && symexpr_bounded(a))
        /* the unsigned trick: u32(x) < n is 0 <= x && x < n */
        return symexpr_and(p, less(p, AXO_SLE, symexpr_const(p, a->bits, 0), a),
                           less(p, strict ? AXO_SLT : AXO_SLE, a, b));
    if (op == AXO_SLT || op == AXO_SLE) {
        if (strict ? a->hi < b->lo : a->hi <= b->lo)
            return truth(p, true);
        if (strict ? a->lo >= b->hi : a->lo > b->hi)
            return truth(p, false);
    }
    return node2(p, op, 1, a, b, 0, 1);
}

const struct symexpr *symexpr_op2(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                  const struct symexpr *b)
{
    bool shift_op = op == AXO_SHL || op == AXO_LSHR || op == AXO_ASHR;
    if (a->bits != b->bits && !shift_op)
        b = b->bits > a->bits ? symexpr_trunc(p, b, a->bits) : symexpr_zext(p, b, a->bits);
    if (symexpr_is_const(a) && symexpr_is_const(b)) {
        bool cmp = op >= AXO_EQ && op <= AXO_SLE;
        return symexpr_const(p, cmp ? 1 : a->bits, symexpr_eval2(op, a->c, b->c, a->bits));
    }
    switch (op) {
    case AXO_UDIV:
    case AXO_SDIV:
    case AXO_UREM:
    case AXO_SREM: return divide(p, op, a, b);
    case AXO_SHL:
    case AXO_LSHR:
    case AXO_ASHR: return shifted(p, op, a, b);
    case AXO_AND:
    case AXO_OR:
    case AXO_XOR:
        if (a->bits == 1 && op != AXO_XOR)
            return op == AXO_AND ? symexpr_and(p, a, b) : symexpr_or(p, a, b);
        if (a->bits == 1 && symexpr_is_const(b))
            return b->c ? symexpr_not(p, a) : a;
        return a->bits == 1 ? opaque2(p, op, a, b) : logic(p, op, a, b);
    case AXO_UMIN:
    case AXO_UMAX:
    case AXO_SMIN:
    case AXO_SMAX: return extreme(p, op, a, b);
    case AXO_UMULHI:
    case AXO_SMULHI: return high(p, op, a, b);
    case AXO_EQ: return equal(p, a, b);
    case AXO_ULT:
    case AXO_ULE:
    case AXO_SLT:
    case AXO_SLE: return less(p, op, a, b);
    case AXO_BAND: return symexpr_and(p, a, b);
    case AXO_BOR: return symexpr_or(p, a, b);
    default: return opaque2(p, op, a, b);
    }
}

const struct symexpr *symexpr_select(struct symexpr_pool *p, const struct symexpr *c,
                                     const struct symexpr *a, const struct symexpr *b)
{
    if (symexpr_is_const(c))
        return c->c ? a : b;
    if (a == b)
        return a;
    if (a->bits == 1 && symexpr_is_const(a) && symexpr_is_const(b))
        return a->c ? c : symexpr_not(p, c);
    if (c->kind == SYMEXPR_OP && c->op == AXO_BNOT)
        return symexpr_select(p, c->arg[0], b, a);
    const struct symexpr *arg[3] = { c, a, b };
    return symexpr_node(p, AXO_SELECT, a->bits, arg, 3, a->lo < b->lo ? a->lo : b->lo,
                        a->hi > b->hi ? a->hi : b->hi);
}

/* ---- conditions: conjunctions and disjunctions are flat and sorted by id ---- */
const struct symexpr *symexpr_not(struct symexpr_pool *p, const struct symexpr *a)
{
    if (symexpr_is_const(a))
        return truth(p, !a->c);
    if (a->kind == SYMEXPR_OP && a->op == AXO_BNOT)
        return a->arg[0];
    if (a->kind == SYMEXPR_OP &&
        (a->op == AXO_SLT || a->op == AXO_SLE || a->op == AXO_ULT || a->op == AXO_ULE)) {
        enum symexpr_op inv = a->op == AXO_SLT   ? AXO_SLE
                              : a->op == AXO_SLE ? AXO_SLT
                              : a->op == AXO_ULT ? AXO_ULE
                                                 : AXO_ULT;
        return symexpr_op2(p, inv, a->arg[1], a->arg[0]);
    }
    return symexpr_node(p, AXO_BNOT, 1, &a, 1, 0, 1);
}

#define MAX_CONDS 32
struct conds {
    const struct symexpr *v[MAX_CONDS];
    uint32_t n;
    bool over;
};
static void conds_put(struct conds *c, const struct symexpr *e, enum symexpr_op op)
{
    if (e->kind == SYMEXPR_OP && e->op == op) {
        for (uint32_t i = 0; i < e->n; i++)
            conds_put(c, e->arg[i], op);
        return;
    }
    uint32_t i = 0;
    while (i < c->n && c->v[i]->id < e->id)
        i++;
    if (i < c->n && c->v[i] == e)
        return;
    if (c->n == MAX_CONDS) {
        c->over = true;
        return;
    }
    memmove(&c->v[i + 1], &c->v[i], sizeof c->v[0] * (c->n - i));
    c->v[i] = e;
    c->n++;
}
static bool conds_has(const struct conds *c, const struct symexpr *e)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->v[i] == e)
            return true;
    return false;
}
static const struct symexpr *conds_done(struct symexpr_pool *p, const struct conds *c,
                                        enum symexpr_op op)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (conds_has(c, symexpr_not(p, c->v[i])))
            return truth(p, op == AXO_BOR);
    if (c->n == 0)
        return truth(p, op == AXO_BAND);
    if (c->n == 1)
        return c->v[0];
    return symexpr_node(p, op, 1, (const struct symexpr *const *)c->v, c->n, 0, 1);
}
const struct symexpr *symexpr_and(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b)
{
    if (symexpr_is_const(a))
        return a->c ? b : a;
    if (symexpr_is_const(b))
        return b->c ? a : b;
    struct conds c = { .n = 0 };
    conds_put(&c, a, AXO_BAND);
    conds_put(&c, b, AXO_BAND);
    return c.over ? opaque2(p, AXO_BAND, a, b) : conds_done(p, &c, AXO_BAND);
}
/* (C && x) || (C && y) = C && (x || y): so both arms of an if join to what held before it. */
const struct symexpr *symexpr_or(struct symexpr_pool *p, const struct symexpr *a,
                                 const struct symexpr *b)
{
    if (symexpr_is_const(a))
        return a->c ? a : b;
    if (symexpr_is_const(b))
        return b->c ? b : a;
    struct conds x = { .n = 0 }, y = { .n = 0 }, common = { .n = 0 }, rx = { .n = 0 }, ry = { .n = 0 };
    conds_put(&x, a, AXO_BAND);
    conds_put(&y, b, AXO_BAND);
    for (uint32_t i = 0; i < x.n; i++)
        conds_put(conds_has(&y, x.v[i]) ? &common : &rx, x.v[i], AXO_BAND);
    for (uint32_t i = 0; i < y.n; i++)
        if (!conds_has(&x, y.v[i]))
            conds_put(&ry, y.v[i], AXO_BAND);
    if (common.n && !x.over && !y.over)
        return symexpr_and(p, conds_done(p, &common, AXO_BAND),
                           symexpr_or(p, conds_done(p, &rx, AXO_BAND), conds_done(p, &ry, AXO_BAND)));
    struct conds c = { .n = 0 };
    conds_put(&c, a, AXO_BOR);
    conds_put(&c, b, AXO_BOR);
    return c.over ? opaque2(p, AXO_BOR, a, b) : conds_done(p, &c, AXO_BOR);
}
