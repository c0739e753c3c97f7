/* Sums, products, conversions, division, shifts and bit logic of symbolic values: one algebra, since a division is made of
 * sums and a sum folds into a remainder (x - c*(x/c) is x % c). Each rule rewrites only where the proven
 * intervals make the rewrite exact. */
#include "engine/analysis/symbolic/symexpr_int.h"

#include <string.h>

/* ---- sums ---- */
struct lin {
    unsigned bits;
    int64_t c;
    uint32_t n;
    bool over;
    const struct symexpr *arg[SYMEXPR_MAX_TERMS];
    int64_t coef[SYMEXPR_MAX_TERMS];
};

static void lin_term(struct lin *l, const struct symexpr *a, int64_t k)
{
    uint32_t i = 0;
    while (i < l->n && l->arg[i]->id < a->id)
        i++;
    if (i < l->n && l->arg[i] == a) {
        l->coef[i] = symexpr_wrap((int64_t)((uint64_t)l->coef[i] + (uint64_t)k), l->bits);
        return;
    }
    if (l->n == SYMEXPR_MAX_TERMS) {
        l->over = true;
        return;
    }
    memmove(&l->arg[i + 1], &l->arg[i], sizeof l->arg[0] * (l->n - i));
    memmove(&l->coef[i + 1], &l->coef[i], sizeof l->coef[0] * (l->n - i));
    l->arg[i] = a;
    l->coef[i] = k;
    l->n++;
}
/* d, as an unsigned number of so many bits, is a power of two and k*d is 0 there. */
static bool drops(int64_t d, int64_t k, unsigned bits)
{
    uint64_t u = bits >= 64 ? (uint64_t)d : (uint64_t)d & ((UINT64_C(1) << bits) - 1);
    return u && !(u & (u - 1)) && symexpr_wrap((int64_t)((uint64_t)k * u), bits) == 0;
}
static void lin_add(struct lin *l, const struct symexpr *e, int64_t k)
{
    /* k*(x % 2^j) with k*2^j = 0 in this width is k*x: what the remainder drops, the factor drops too.
     */
    while (e->kind == SYMEXPR_OP && e->op == AXO_UREM && symexpr_is_const(e->arg[1]) &&
           drops(e->arg[1]->c, k, l->bits))
        e = e->arg[0];
    if (e->kind != SYMEXPR_SUM) {
        lin_term(l, e, symexpr_wrap(k, l->bits));
        return;
    }
    l->c = symexpr_wrap((int64_t)((uint64_t)l->c + (uint64_t)e->c * (uint64_t)k), l->bits);
    for (uint32_t i = 0; i < e->n; i++)
        lin_term(l, e->arg[i], symexpr_wrap((int64_t)((uint64_t)e->coef[i] * (uint64_t)k), l->bits));
}
/* Interval of c + sum coef*arg as an integer; false: does not fit the width without wrapping. */
static bool lin_range(const struct lin *l, int64_t *lo, int64_t *hi)
{
    int64_t a = l->c, b = l->c;
    for (uint32_t i = 0; i < l->n; i++) {
        int64_t x, y, k = l->coef[i];
        if (__builtin_mul_overflow(k, k < 0 ? l->arg[i]->hi : l->arg[i]->lo, &x) ||
            __builtin_mul_overflow(k, k < 0 ? l->arg[i]->lo : l->arg[i]->hi, &y) ||
            __builtin_add_overflow(a, x, &a) || __builtin_add_overflow(b, y, &b))
            return false;
    }
    *lo = a;
    *hi = b;
    return a >= symexpr_full_lo(l->bits) && b <= symexpr_full_hi(l->bits);
}
static const struct symexpr *lin_done(struct symexpr_pool *p, struct lin *l);
static const struct symexpr *signed_magic(struct symexpr_pool *p, const struct symexpr *t, unsigned s);
/* x - c*(x/c) is x % c: put back together where all of x is in the sum. */
static const struct symexpr *fold_remainder(struct symexpr_pool *p, const struct lin *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct symexpr *d = l->arg[i];
        if (d->kind != SYMEXPR_OP || (d->op != AXO_SDIV && d->op != AXO_UDIV) ||
            !symexpr_is_const(d->arg[1]) || d->arg[1]->c < 2 || l->coef[i] != -d->arg[1]->c)
            continue;
        const struct symexpr *x = d->arg[0];
        struct lin r = *l;
        r.coef[i] = 0;
        lin_add(&r, x, -1);
        uint32_t left = 0;
        for (uint32_t k = 0; k < r.n; k++)
            left += r.coef[k] != 0;
        if (r.over || left + (x->kind == SYMEXPR_SUM ? x->n : 1) + 1 > l->n)
            continue;
        lin_add(&r, symexpr_divide(p, d->op == AXO_SDIV ? AXO_SREM : AXO_UREM, x, d->arg[1]), 1);
        return lin_done(p, &r);
    }
    return NULL;
}
/* k*(t >> s) + k*(t >>> 31) is k*(x / d): see signed_magic. */
static const struct symexpr *fold_division(struct symexpr_pool *p, const struct lin *l)
{
    for (uint32_t i = 0; i < l->n; i++) {
        const struct symexpr *sign = l->arg[i];
        if (l->bits != 32 || sign->kind != SYMEXPR_OP || sign->op != AXO_LSHR ||
            !symexpr_is_value(sign->arg[1], 31))
            continue;
        for (uint32_t j = 0; j < l->n; j++) {
            const struct symexpr *q = l->arg[j], *t = sign->arg[0];
            bool shifted = q->kind == SYMEXPR_OP && q->op == AXO_ASHR && q->arg[0] == t &&
                           symexpr_is_const(q->arg[1]);
            const struct symexpr *d = l->coef[j] == l->coef[i] && (shifted || q == t)
                                          ? signed_magic(p, t, shifted ? (unsigned)q->arg[1]->c & 31 : 0)
                                          : NULL;
            if (!d)
                continue;
            struct lin r = *l;
            r.coef[i] = r.coef[j] = 0;
            lin_add(&r, d, l->coef[i]);
            return lin_done(p, &r);
        }
    }
    return NULL;
}
static const struct symexpr *lin_done(struct symexpr_pool *p, struct lin *l)
{
    if (l->over) {
        p->oversized = true;
        return symexpr_leaf(p, SYMEXPR_UNKNOWN, l->bits, NULL, (int64_t)p->n, false);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < l->n; i++)
        if (l->coef[i]) {
            l->arg[n] = l->arg[i];
            l->coef[n++] = l->coef[i];
        }
    l->n = n;
    const struct symexpr *folded = fold_division(p, l);
    folded = folded ? folded : fold_remainder(p, l);
    if (folded)
        return folded;
    if (n == 1 && l->coef[0] == 1 && l->c == 0)
        return l->arg[0];
    struct symexpr t = {
        .kind = SYMEXPR_SUM, .bits = (uint8_t)l->bits, .c = l->c, .n = n, .arg = l->arg, .coef = l->coef
    };
    if (!lin_range(l, &t.lo, &t.hi)) {
        t.lo = symexpr_full_lo(l->bits);
        t.hi = symexpr_full_hi(l->bits);
    }
    return symexpr_intern(p, &t);
}
static const struct symexpr *lin2(struct symexpr_pool *p, const struct symexpr *a, int64_t ka,
                                  const struct symexpr *b, int64_t kb)
{
    struct lin l = { .bits = a->bits };
    lin_add(&l, a, ka);
    if (b)
        lin_add(&l, b, kb);
    return lin_done(p, &l);
}
const struct symexpr *symexpr_sum(struct symexpr_pool *p, const struct symexpr *like,
                                  const struct symexpr *const *arg)
{
    struct lin l = { .bits = like->bits, .c = like->c };
    for (uint32_t i = 0; i < like->n; i++)
        lin_add(&l, arg[i], like->coef[i]);
    return lin_done(p, &l);
}
const struct symexpr *symexpr_add(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b)
{
    return lin2(p, a, 1, b, 1);
}
const struct symexpr *symexpr_sub(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b)
{
    return lin2(p, a, 1, b, -1);
}
const struct symexpr *symexpr_scale(struct symexpr_pool *p, const struct symexpr *a, int64_t k)
{
    return lin2(p, a, k, NULL, 0);
}

/* ---- products ---- */
static bool mul_range(const struct symexpr *a, const struct symexpr *b, int64_t *lo, int64_t *hi)
{
    int64_t v[4];
    if (__builtin_mul_overflow(a->lo, b->lo, &v[0]) || __builtin_mul_overflow(a->lo, b->hi, &v[1]) ||
        __builtin_mul_overflow(a->hi, b->lo, &v[2]) || __builtin_mul_overflow(a->hi, b->hi, &v[3]))
        return false;
    *lo = *hi = v[0];
    for (int i = 1; i < 4; i++) {
        *lo = v[i] < *lo ? v[i] : *lo;
        *hi = v[i] > *hi ? v[i] : *hi;
    }
    return *lo >= symexpr_full_lo(a->bits) && *hi <= symexpr_full_hi(a->bits);
}
/* Factors of a and b side by side, by id. */
static const struct symexpr *product(struct symexpr_pool *p, const struct symexpr *a,
                                     const struct symexpr *b)
{
    const struct symexpr *f[SYMEXPR_MAX_TERMS];
    uint32_t n = 0;
    const struct symexpr *in[2] = { a, b };
    for (int k = 0; k < 2; k++) {
        uint32_t m = in[k]->kind == SYMEXPR_PROD ? in[k]->n : 1;
        for (uint32_t i = 0; i < m; i++) {
            const struct symexpr *x = in[k]->kind == SYMEXPR_PROD ? in[k]->arg[i] : in[k];
            if (n == SYMEXPR_MAX_TERMS)
                return symexpr_leaf(p, SYMEXPR_UNKNOWN, a->bits, NULL, (int64_t)p->n, false);
            uint32_t j = n++;
            for (; j && f[j - 1]->id > x->id; j--)
                f[j] = f[j - 1];
            f[j] = x;
        }
    }
    struct symexpr t = { .kind = SYMEXPR_PROD, .bits = a->bits, .n = n, .arg = f };
    if (!mul_range(a, b, &t.lo, &t.hi)) {
        t.lo = symexpr_full_lo(a->bits);
        t.hi = symexpr_full_hi(a->bits);
    }
    return symexpr_intern(p, &t);
}
const struct symexpr *symexpr_mul(struct symexpr_pool *p, const struct symexpr *a,
                                  const struct symexpr *b)
{
    if (symexpr_is_const(a))
        return symexpr_scale(p, b, a->c);
    if (symexpr_is_const(b))
        return symexpr_scale(p, a, b->c);
    /* One term with a factor: pull the factor out, so that n*(4*i) and 4*(n*i) are one. */
    if (a->kind == SYMEXPR_SUM && a->n == 1 && a->c == 0)
        return symexpr_scale(p, symexpr_mul(p, a->arg[0], b), a->coef[0]);
    if (b->kind == SYMEXPR_SUM && b->n == 1 && b->c == 0)
        return symexpr_scale(p, symexpr_mul(p, a, b->arg[0]), b->coef[0]);
    return product(p, a, b);
}

/* ---- conversions ---- */
#define MAX_CONVERSIONS 4000000u
static bool widenable(const struct symexpr *e)
{
    return e->kind == SYMEXPR_SREG || e->kind == SYMEXPR_ITER;
}
/* Is the sum's mathematical value inside its width (so widening may go inside)? */
static bool sum_exact(const struct symexpr *e)
{
    struct lin l = { .bits = e->bits, .c = e->c, .n = e->n };
    int64_t lo, hi;
    memcpy(l.arg, e->arg, sizeof e->arg[0] * e->n);
    memcpy(l.coef, e->coef, sizeof e->coef[0] * e->n);
    return lin_range(&l, &lo, &hi);
}
static const struct symexpr *widen_sum(struct symexpr_pool *p, const struct symexpr *e, unsigned bits)
{
    struct lin l = { .bits = bits, .c = e->c };
    for (uint32_t i = 0; i < e->n; i++)
        lin_add(&l, symexpr_sext(p, e->arg[i], bits), e->coef[i]);
    return lin_done(p, &l);
}
static const struct symexpr *convert(struct symexpr_pool *p, enum symexpr_kind k,
                                     const struct symexpr *a, unsigned bits, int64_t lo, int64_t hi)
{
    struct symexpr t = {
        .kind = (uint8_t)k, .bits = (uint8_t)bits, .n = 1, .arg = &a, .lo = lo, .hi = hi
    };
    return symexpr_intern(p, &t);
}
static const struct symexpr *widen_product(struct symexpr_pool *p, const struct symexpr *a,
                                           unsigned bits)
{
    const struct symexpr *r = symexpr_sext(p, a->arg[0], bits);
    for (uint32_t i = 1; i < a->n; i++)
        r = symexpr_mul(p, r, symexpr_sext(p, a->arg[i], bits));
    return r;
}
const struct symexpr *symexpr_sext(struct symexpr_pool *p, const struct symexpr *a, unsigned bits)
{
    if (bits <= a->bits)
        return bits == a->bits ? a : symexpr_trunc(p, a, bits);
    if (symexpr_is_const(a))
        return symexpr_const(p, bits, a->bits == 1 ? -a->c : a->c);
    if (p->conversions++ > MAX_CONVERSIONS)
        return convert(p, SYMEXPR_SEXT, a, bits, a->lo, a->hi);
    if (a->kind == SYMEXPR_SREG)
        return symexpr_sreg(p, bits, (enum ptx_sreg)a->c, a->op, a->lo, a->hi);
    if (a->kind == SYMEXPR_ITER)
        return symexpr_iter(p, bits, a->ref, a->hi);
    if (a->kind == SYMEXPR_SUM && sum_exact(a))
        return widen_sum(p, a, bits);
    if (a->kind == SYMEXPR_PROD && symexpr_bounded(a))
        return widen_product(p, a, bits);
    if (a->kind == SYMEXPR_SEXT || (a->kind == SYMEXPR_ZEXT && a->lo >= 0))
        return a->kind == SYMEXPR_SEXT ? symexpr_sext(p, a->arg[0], bits)
                                       : symexpr_zext(p, a->arg[0], bits);
    return convert(p, SYMEXPR_SEXT, a, bits, a->lo, a->hi);
}
const struct symexpr *symexpr_zext(struct symexpr_pool *p, const struct symexpr *a, unsigned bits)
{
    if (bits <= a->bits)
        return bits == a->bits ? a : symexpr_trunc(p, a, bits);
    if (symexpr_is_const(a)) {
        uint64_t m = a->bits >= 64 ? UINT64_MAX : (UINT64_C(1) << a->bits) - 1;
        return symexpr_const(p, bits, (int64_t)((uint64_t)a->c & m));
    }
    if (a->lo >= 0 && a->bits > 1)
        return symexpr_sext(p, a, bits);
    if (a->kind == SYMEXPR_ZEXT)
        return symexpr_zext(p, a->arg[0], bits);
    return convert(p, SYMEXPR_ZEXT, a, bits, 0, (INT64_C(1) << a->bits) - 1);
}
const struct symexpr *symexpr_trunc(struct symexpr_pool *p, const struct symexpr *a, unsigned bits)
{
    if (bits >= a->bits)
        return a;
    if (symexpr_is_const(a))
        return symexpr_const(p, bits, a->c);
    if (p->conversions++ > MAX_CONVERSIONS)
        return convert(p, SYMEXPR_TRUNC, a, bits, symexpr_full_lo(bits), symexpr_full_hi(bits));
    if (widenable(a) && a->lo >= symexpr_full_lo(bits) && a->hi <= symexpr_full_hi(bits))
        return a->kind == SYMEXPR_SREG ? symexpr_sreg(p, bits, (enum ptx_sreg)a->c, a->op, a->lo, a->hi)
                                       : symexpr_iter(p, bits, a->ref, a->hi);
    if (a->kind == SYMEXPR_SEXT || a->kind == SYMEXPR_ZEXT) {
        const struct symexpr *x = a->arg[0];
        return x->bits >= bits           ? symexpr_trunc(p, x, bits)
               : a->kind == SYMEXPR_SEXT ? symexpr_sext(p, x, bits)
                                         : symexpr_zext(p, x, bits);
    }
    if (a->kind == SYMEXPR_SUM) {
        struct lin l = { .bits = bits, .c = symexpr_wrap(a->c, bits) };
        for (uint32_t i = 0; i < a->n; i++)
            lin_add(&l, symexpr_trunc(p, a->arg[i], bits), a->coef[i]);
        return lin_done(p, &l);
    }
    if (a->kind == SYMEXPR_TRUNC)
        return symexpr_trunc(p, a->arg[0], bits);
    bool fits = a->lo >= symexpr_full_lo(bits) && a->hi <= symexpr_full_hi(bits);
    return convert(p, SYMEXPR_TRUNC, a, bits, fits ? a->lo : symexpr_full_lo(bits),
                   fits ? a->hi : symexpr_full_hi(bits));
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
    return x->lo >= 0 ? (uint64_t)x->hi : symexpr_unsigned(-1, x->bits);
}
static const struct symexpr *udiv_const(struct symexpr_pool *p, const struct symexpr *x, int64_t d);
/* (a*M) >> k, whole (a widened before it was multiplied) or the upper half of it; NULL: no division. */
static const struct symexpr *undo_magic(struct symexpr_pool *p, const struct symexpr *x, unsigned k)
{
    const struct symexpr *a;
    int64_t d;
    if (x->kind == SYMEXPR_OP && x->op == AXO_UMULHI && symexpr_is_const(x->arg[1])) {
        a = x->arg[0];
        d = magic(symexpr_unsigned(x->arg[1]->c, x->bits), x->bits + k, most_unsigned(a));
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
static const struct symexpr *signed_magic(struct symexpr_pool *p, const struct symexpr *t, unsigned s)
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
    return d && e > 0 && e <= (u128)1 << (s + 1)
               ? symexpr_divide(p, AXO_SDIV, x, symexpr_const(p, 32, d))
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
    if (x->kind == SYMEXPR_TRUNC && x->arg[0]->lo >= 0 &&
        (uint64_t)x->arg[0]->hi <= symexpr_unsigned(-1, x->bits))
        return symexpr_trunc(p, udiv_const(p, x->arg[0], d), x->bits);
    if (pow2 && x->kind == SYMEXPR_OP && x->op == AXO_LSHR && symexpr_is_const(x->arg[1]))
        return symexpr_shift(
            p, AXO_LSHR, x->arg[0],
            symexpr_add(p, x->arg[1], symexpr_const(p, x->arg[1]->bits, __builtin_ctzll((uint64_t)d))));
    return symexpr_node2(p, AXO_UDIV, x->bits, x, symexpr_const(p, x->bits, d), nn ? x->lo / d : 0,
                         nn ? x->hi / d : (int64_t)(symexpr_unsigned(-1, x->bits) / (uint64_t)d));
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
    return symexpr_node2(p, AXO_UREM, x->bits, x, symexpr_const(p, x->bits, d), 0, d - 1);
}
const struct symexpr *symexpr_divide(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b)
{
    bool sgn = op == AXO_SDIV || op == AXO_SREM, rem = op == AXO_UREM || op == AXO_SREM;
    bool nn = a->lo >= 0 && b->lo >= 0;
    if (symexpr_is_const(b) && b->c > 0 && (!sgn || nn))
        return rem ? urem_const(p, a, b->c) : udiv_const(p, a, b->c);
    if (nn && b->lo > 0)
        return rem ? symexpr_node2(p, AXO_UREM, a->bits, a, b, 0, b->hi - 1)
                   : symexpr_node2(p, AXO_UDIV, a->bits, a, b, 0, a->hi / b->lo);
    if (sgn && symexpr_is_const(b) && b->c > 0 && symexpr_bounded(a))
        return rem ? symexpr_node2(p, op, a->bits, a, b, a->lo < 0 ? 1 - b->c : 0,
                                   a->hi > 0 ? b->c - 1 : 0)
                   : symexpr_node2(p, op, a->bits, a, b, a->lo / b->c, a->hi / b->c);
    return symexpr_opaque2(p, op, a, b);
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
            return symexpr_node2(p, a->lo >= 0 ? AXO_LSHR : op, a->bits, a, b, a->lo < 0 ? a->lo : 0,
                                 a->hi > 0   ? a->hi
                                 : a->lo < 0 ? -1
                                             : 0);
        if (b->lo >= 0 && b->hi < 32 && a->hi < INT64_C(1) << 30)
            return symexpr_node2(p, op, a->bits, a, b, a->lo << b->lo, a->hi << b->hi);
    }
    return symexpr_opaque2(p, op, a, b);
}
const struct symexpr *symexpr_shift(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                    const struct symexpr *b)
{
    if (!symexpr_is_const(b))
        return shifted_by(p, op, a, b);
    uint64_t k = symexpr_unsigned(b->c, 32);
    if (k == 0)
        return a;
    if (k >= a->bits)
        return op == AXO_ASHR && a->lo < 0 ? symexpr_node2(p, op, a->bits, a, b, -1, 0)
                                           : symexpr_const(p, a->bits, 0);
    if (op == AXO_SHL)
        return symexpr_scale(p, a, symexpr_wrap((int64_t)(UINT64_C(1) << k), a->bits));
    if (a->lo >= 0 && k < a->bits - 1u)
        return udiv_const(p, a, INT64_C(1) << k);
    if (a->lo >= 0)
        return symexpr_const(p, a->bits, 0);
    const struct symexpr *x = op == AXO_ASHR ? unbias(p, a, (unsigned)k) : NULL;
    if (x)
        return symexpr_divide(p, AXO_SDIV, x, symexpr_const(p, a->bits, INT64_C(1) << k));
    if (op == AXO_ASHR)
        return symexpr_node2(p, op, a->bits, a, b, a->lo >> k, a->hi >> k);
    const struct symexpr *q = undo_magic(p, a, (unsigned)k);
    if (q)
        return q;
    if (a->kind == SYMEXPR_TRUNC && a->arg[0]->lo >= 0 &&
        (uint64_t)a->arg[0]->hi <= symexpr_unsigned(-1, a->bits))
        return symexpr_trunc(p, symexpr_shift(p, op, a->arg[0], b), a->bits);
    if (a->kind == SYMEXPR_OP && a->op == AXO_LSHR && symexpr_is_const(a->arg[1]) &&
        symexpr_unsigned(a->arg[1]->c, 32) < a->bits)
        return symexpr_shift(p, op, a->arg[0],
                             symexpr_const(p, 32, (int64_t)(k + symexpr_unsigned(a->arg[1]->c, 32))));
    return symexpr_node2(p, op, a->bits, a, b, 0, (int64_t)(symexpr_unsigned(-1, a->bits) >> k));
}
static bool disjoint(const struct symexpr *a, const struct symexpr *b)
{
    unsigned z = low_zeros(a);
    return b->lo >= 0 && (z >= 62 || b->hi < (INT64_C(1) << z));
}
static const struct symexpr *masked(struct symexpr_pool *p, const struct symexpr *a, int64_t m)
{
    uint64_t u = symexpr_unsigned(m, a->bits), inv = symexpr_unsigned(~m, a->bits);
    if (u == 0)
        return symexpr_const(p, a->bits, 0);
    if (inv == 0)
        return a;
    if ((a->kind == SYMEXPR_SEXT || a->kind == SYMEXPR_ZEXT) && a->arg[0]->bits > 1 &&
        u <= symexpr_unsigned(-1, a->arg[0]->bits) >> 1)
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
        return symexpr_scale(
            p, symexpr_divide(p, AXO_SDIV, x, symexpr_const(p, a->bits, (int64_t)(inv + 1))),
            (int64_t)(inv + 1));
    if ((inv & (inv + 1)) == 0 && a->bits == 64 && inv + 1 < (UINT64_C(1) << 62))
        return symexpr_sub(p, a, urem_const(p, a, (int64_t)(inv + 1))); /* a pointer keeps its base */
    if ((inv & (inv + 1)) == 0 && inv + 1 < (UINT64_C(1) << 62))
        return symexpr_scale(p, udiv_const(p, a, (int64_t)(inv + 1)), (int64_t)(inv + 1));
    bool nn = m >= 0 || a->lo >= 0;
    int64_t hi = m >= 0 && (a->lo < 0 || m < a->hi) ? m : a->hi;
    return symexpr_node2(p, AXO_AND, a->bits, a, symexpr_const(p, a->bits, m), nn ? 0 : INT64_MIN,
                         nn ? hi : INT64_MAX);
}
static int64_t bits_above(int64_t v) /* smallest 2^k-1 >= v */
{
    uint64_t u = (uint64_t)v;
    for (unsigned s = 1; s < 64; s <<= 1)
        u |= u >> s;
    return (int64_t)u;
}
const struct symexpr *symexpr_logic(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
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
        return symexpr_node2(p, op, a->bits, a, b, 0,
                             op == AXO_AND ? (a->hi < b->hi ? a->hi : b->hi) : bits_above(m));
    }
    return symexpr_opaque2(p, op, a, b);
}

/* ---- minimum, maximum, high products ---- */
