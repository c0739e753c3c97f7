/* Makers of symbolic values: hash-consing, sums, products, conversions. The
 * operators that need case analysis (division, logic, comparisons) are in
 * symexpr_op.c. Every maker keeps one invariant: `lo..hi` holds for the value the
 * machine would compute, wrap-around included. */
#include "engine/analysis/symbolic/symexpr.h"

#include "engine/analysis/symbolic/symexpr_int.h"
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

bool symexpr_pool_init(struct symexpr_pool *p, struct arena *arena)
{
    memset(p, 0, sizeof *p);
    p->arena = arena;
    p->nslot = 1024;
    p->slot = ARENA_ARRAY(arena, const struct symexpr *, p->nslot);
    p->failed = !p->slot;
    return !p->failed;
}

int64_t symexpr_wrap(int64_t v, unsigned bits)
{
    if (bits >= 64)
        return v;
    uint64_t m = (UINT64_C(1) << bits) - 1, u = (uint64_t)v & m;
    return (int64_t)(u >> (bits - 1) ? u | ~m : u);
}
static int64_t full_lo(unsigned bits)
{
    return bits == 1 ? 0 : bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
}
static int64_t full_hi(unsigned bits)
{
    return bits == 1 ? 1 : bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
}
bool symexpr_bounded(const struct symexpr *e)
{
    return e->lo > full_lo(e->bits) || e->hi < full_hi(e->bits);
}

static uint64_t mix(uint64_t h, uint64_t v)
{
    h ^= v + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdu;
}
static uint64_t hash_of(const struct symexpr *e)
{
    uint64_t h = mix((uint64_t)e->kind << 24 | (uint64_t)e->bits << 16 | (uint64_t)e->op << 8 | e->sign,
                     (uint64_t)e->c);
    h = mix(h, (uint64_t)(uintptr_t)e->ref);
    if (e->kind == SYMEXPR_SREG || e->kind == SYMEXPR_ITER)
        h = mix(mix(h, (uint64_t)e->lo), (uint64_t)e->hi);
    for (uint32_t i = 0; i < e->n; i++)
        h = mix(mix(h, e->arg[i]->id), e->coef ? (uint64_t)e->coef[i] : 0);
    return h;
}
static bool same(const struct symexpr *a, const struct symexpr *b)
{
    if (a->hash != b->hash || a->kind != b->kind || a->bits != b->bits || a->op != b->op ||
        a->sign != b->sign || a->n != b->n || a->c != b->c || a->ref != b->ref)
        return false;
    if ((a->kind == SYMEXPR_SREG || a->kind == SYMEXPR_ITER) && (a->lo != b->lo || a->hi != b->hi))
        return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (a->arg[i] != b->arg[i] || (a->coef && a->coef[i] != b->coef[i]))
            return false;
    return true;
}
static void rehash(struct symexpr_pool *p)
{
    size_t n = p->nslot * 2;
    const struct symexpr **s = ARENA_ARRAY(p->arena, const struct symexpr *, n);
    if (!s) {
        p->failed = true;
        return;
    }
    for (size_t i = 0; i < p->nslot; i++) {
        if (!p->slot[i])
            continue;
        size_t k = p->slot[i]->hash & (n - 1);
        while (s[k])
            k = (k + 1) & (n - 1);
        s[k] = p->slot[i];
    }
    p->slot = s;
    p->nslot = n;
}

/* A node that stands for everything once memory is gone; callers check p->failed. */
static const struct symexpr *broken(struct symexpr_pool *p, unsigned bits)
{
    static const struct symexpr none[2] = {
        { .kind = SYMEXPR_UNKNOWN, .bits = 64, .flags = AXF_UNKNOWN, .lo = INT64_MIN, .hi = INT64_MAX },
        { .kind = SYMEXPR_UNKNOWN, .bits = 1, .flags = AXF_UNKNOWN, .hi = 1 }
    };
    p->failed = true;
    return &none[bits == 1];
}

static void flags_of(struct symexpr *e)
{
    static const uint16_t own[] = {
        [SYMEXPR_PARAM] = AXF_PARAM, [SYMEXPR_ITER] = AXF_ITER, [SYMEXPR_RECUR] = AXF_RECUR,
        [SYMEXPR_LOAD] = AXF_LOAD,   [SYMEXPR_PHI] = AXF_PHI,   [SYMEXPR_UNKNOWN] = AXF_UNKNOWN,
        [SYMEXPR_TRIPS] = AXF_TRIPS, [SYMEXPR_ADDR] = AXF_ADDR, [SYMEXPR_OP] = 0
    };
    uint16_t f = own[e->kind];
    if (e->kind == SYMEXPR_SREG)
        switch ((int)e->c) {
        case PTX_SREG_TID:
        case PTX_SREG_LANEID: f = AXF_TID; break;
        case PTX_SREG_CTAID: f = AXF_CTAID; break;
        case PTX_SREG_NTID:
        case PTX_SREG_NCTAID: break;
        default: f = AXF_OTHER_SREG;
        }
    for (uint32_t i = 0; i < e->n; i++)
        f |= e->arg[i]->flags;
    e->flags = f;
}

/* Looks the node up or adds it. `t` holds everything but hash, id and flags. */
static const struct symexpr *intern(struct symexpr_pool *p, struct symexpr *t)
{
    if (p->failed)
        return broken(p, t->bits);
    t->hash = hash_of(t);
    size_t k = t->hash & (p->nslot - 1);
    for (; p->slot[k]; k = (k + 1) & (p->nslot - 1))
        if (same(p->slot[k], t))
            return p->slot[k];
    struct symexpr *e = ARENA_NEW(p->arena, struct symexpr);
    const struct symexpr **arg = t->n ? ARENA_ARRAY(p->arena, const struct symexpr *, t->n) : NULL;
    int64_t *coef = t->n && t->coef ? ARENA_ARRAY(p->arena, int64_t, t->n) : NULL;
    if (!e || (t->n && !arg) || (t->n && t->coef && !coef))
        return broken(p, t->bits);
    *e = *t;
    if (t->n)
        memcpy(arg, t->arg, sizeof *arg * t->n);
    if (coef)
        memcpy(coef, t->coef, sizeof *coef * t->n);
    e->arg = arg;
    e->coef = coef;
    e->id = (uint32_t)p->n++;
    flags_of(e);
    p->slot[k] = e;
    if (p->n * 2 > p->nslot)
        rehash(p);
    return e;
}

/* ---- leaves ---- */
const struct symexpr *symexpr_const(struct symexpr_pool *p, unsigned bits, int64_t v)
{
    int64_t c = bits == 1 ? v & 1 : symexpr_wrap(v, bits);
    struct symexpr t = { .kind = SYMEXPR_SUM, .bits = (uint8_t)bits, .c = c, .lo = c, .hi = c };
    return intern(p, &t);
}
const struct symexpr *symexpr_sreg(struct symexpr_pool *p, unsigned bits, enum ptx_sreg s, int comp,
                                   int64_t lo, int64_t hi)
{
    if (lo == hi)
        return symexpr_const(p, bits, lo);
    struct symexpr t = {
        .kind = SYMEXPR_SREG, .bits = (uint8_t)bits, .op = (uint8_t)comp, .c = s, .lo = lo, .hi = hi
    };
    return intern(p, &t);
}
const struct symexpr *symexpr_iter(struct symexpr_pool *p, unsigned bits, const void *loop, int64_t hi)
{
    if (hi <= 0)
        return symexpr_const(p, bits, 0);
    struct symexpr t = { .kind = SYMEXPR_ITER, .bits = (uint8_t)bits, .ref = loop, .lo = 0, .hi = hi };
    return intern(p, &t);
}
const struct symexpr *symexpr_leaf(struct symexpr_pool *p, enum symexpr_kind k, unsigned bits,
                                   const void *ref, int64_t c, bool sign)
{
    struct symexpr t = { .kind = (uint8_t)k,
                         .bits = (uint8_t)bits,
                         .ref = ref,
                         .c = c,
                         .sign = sign,
                         .lo = full_lo(bits),
                         .hi = full_hi(bits) };
    return intern(p, &t);
}
const struct symexpr *symexpr_unknown(struct symexpr_pool *p, unsigned bits,
                                      const struct symexpr_site *site, int64_t lo, int64_t hi)
{
    struct symexpr t = {
        .kind = SYMEXPR_UNKNOWN, .bits = (uint8_t)bits, .ref = site, .lo = lo, .hi = hi
    };
    return intern(p, &t);
}
const struct symexpr *symexpr_load(struct symexpr_pool *p, unsigned bits,
                                   const struct symexpr_site *site, const struct symexpr *addr, int elem,
                                   unsigned membits, bool sign)
{
    struct symexpr t = { .kind = SYMEXPR_LOAD,
                         .bits = (uint8_t)bits,
                         .ref = site,
                         .c = elem,
                         .sign = sign,
                         .n = 1,
                         .arg = &addr,
                         .lo = full_lo(bits),
                         .hi = full_hi(bits) };
    if (membits < bits) { /* a narrow load fills the register by extension */
        t.lo = sign ? full_lo(membits) : 0;
        t.hi = sign ? full_hi(membits) : (INT64_C(1) << membits) - 1;
    }
    return intern(p, &t);
}
const struct symexpr *symexpr_phi(struct symexpr_pool *p, unsigned bits, const void *ref,
                                  const struct symexpr *const *v, uint32_t n)
{
    struct symexpr t = { .kind = SYMEXPR_PHI,
                         .bits = (uint8_t)bits,
                         .ref = ref,
                         .n = n,
                         .arg = v,
                         .lo = INT64_MAX,
                         .hi = INT64_MIN };
    for (uint32_t i = 0; i < n; i++) {
        t.lo = v[i]->lo < t.lo ? v[i]->lo : t.lo;
        t.hi = v[i]->hi > t.hi ? v[i]->hi : t.hi;
    }
    if (!n) {
        t.lo = full_lo(bits);
        t.hi = full_hi(bits);
    }
    return intern(p, &t);
}

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
    return a >= full_lo(l->bits) && b <= full_hi(l->bits);
}
static const struct symexpr *lin_done(struct symexpr_pool *p, struct lin *l);
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
        lin_add(&r, symexpr_op2(p, d->op == AXO_SDIV ? AXO_SREM : AXO_UREM, x, d->arg[1]), 1);
        return lin_done(p, &r);
    }
    return NULL;
}
/* k*(t >> s) + k*(t >>> 31) is k*(x / d): see symexpr_signed_magic. */
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
            const struct symexpr *d =
                l->coef[j] == l->coef[i] && (shifted || q == t)
                    ? symexpr_signed_magic(p, t, shifted ? (unsigned)q->arg[1]->c & 31 : 0)
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
        t.lo = full_lo(l->bits);
        t.hi = full_hi(l->bits);
    }
    return intern(p, &t);
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
    return *lo >= full_lo(a->bits) && *hi <= full_hi(a->bits);
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
        t.lo = full_lo(a->bits);
        t.hi = full_hi(a->bits);
    }
    return intern(p, &t);
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
    return intern(p, &t);
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
        return symexpr_rebuild(p, &(struct symexpr){ .kind = a->kind, .bits = (uint8_t)bits, .n = 1 },
                               a->arg);
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
        return convert(p, SYMEXPR_TRUNC, a, bits, full_lo(bits), full_hi(bits));
    if (widenable(a) && a->lo >= full_lo(bits) && a->hi <= full_hi(bits))
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
    bool fits = a->lo >= full_lo(bits) && a->hi <= full_hi(bits);
    return convert(p, SYMEXPR_TRUNC, a, bits, fits ? a->lo : full_lo(bits),
                   fits ? a->hi : full_hi(bits));
}

/* ---- generic nodes ---- */
const struct symexpr *symexpr_node(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                   const struct symexpr *const *arg, uint32_t n, int64_t lo, int64_t hi)
{
    if (lo < full_lo(bits) || hi > full_hi(bits)) {
        lo = full_lo(bits);
        hi = full_hi(bits);
    }
    struct symexpr t = { .kind = SYMEXPR_OP,
                         .bits = (uint8_t)bits,
                         .op = (uint8_t)op,
                         .n = n,
                         .arg = arg,
                         .lo = lo,
                         .hi = hi };
    return intern(p, &t);
}

const struct symexpr *symexpr_rebuild(struct symexpr_pool *p, const struct symexpr *e,
                                      const struct symexpr *const *arg)
{
    switch (e->kind) {
    case SYMEXPR_SUM: {
        struct lin l = { .bits = e->bits, .c = e->c };
        for (uint32_t i = 0; i < e->n; i++)
            lin_add(&l, arg[i], e->coef[i]);
        return lin_done(p, &l);
    }
    case SYMEXPR_PROD: {
        const struct symexpr *r = arg[0];
        for (uint32_t i = 1; i < e->n; i++)
            r = symexpr_mul(p, r, arg[i]);
        return r;
    }
    case SYMEXPR_SEXT: return symexpr_sext(p, arg[0], e->bits);
    case SYMEXPR_ZEXT: return symexpr_zext(p, arg[0], e->bits);
    case SYMEXPR_TRUNC: return symexpr_trunc(p, arg[0], e->bits);
    case SYMEXPR_LOAD: {
        struct symexpr t = *e;
        t.arg = arg;
        return intern(p, &t);
    }
    case SYMEXPR_PHI: return symexpr_phi(p, e->bits, e->ref, arg, e->n);
    case SYMEXPR_OP:
        if (e->op == AXO_SELECT)
            return symexpr_select(p, arg[0], arg[1], arg[2]);
        if (e->op == AXO_BNOT)
            return symexpr_not(p, arg[0]);
        if (e->op == AXO_BAND || e->op == AXO_BOR) {
            const struct symexpr *r = arg[0];
            for (uint32_t i = 1; i < e->n; i++)
                r = e->op == AXO_BAND ? symexpr_and(p, r, arg[i]) : symexpr_or(p, r, arg[i]);
            return r;
        }
        return symexpr_op2(p, (enum symexpr_op)e->op, arg[0], arg[1]);
    default: return e;
    }
}
