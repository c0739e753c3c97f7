/* Nodes of symbolic values: hash-consing, leaves, operators as they are, and what an operator computes of
 * two numbers. Every maker, here and in symexpr_sum.c and symexpr_op.c, keeps one invariant: `lo..hi` holds
 * for the value the machine would compute, wrap-around included. */
#include "engine/analysis/symbolic/symexpr.h"

#include "engine/analysis/symbolic/symexpr_int.h"

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
int64_t symexpr_full_lo(unsigned bits)
{
    return bits == 1 ? 0 : bits >= 64 ? INT64_MIN : -(INT64_C(1) << (bits - 1));
}
int64_t symexpr_full_hi(unsigned bits)
{
    return bits == 1 ? 1 : bits >= 64 ? INT64_MAX : (INT64_C(1) << (bits - 1)) - 1;
}
bool symexpr_bounded(const struct symexpr *e)
{
    return e->lo > symexpr_full_lo(e->bits) || e->hi < symexpr_full_hi(e->bits);
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
const struct symexpr *symexpr_intern(struct symexpr_pool *p, struct symexpr *t)
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
    return symexpr_intern(p, &t);
}
const struct symexpr *symexpr_sreg(struct symexpr_pool *p, unsigned bits, enum ptx_sreg s, int comp,
                                   int64_t lo, int64_t hi)
{
    if (lo == hi)
        return symexpr_const(p, bits, lo);
    struct symexpr t = {
        .kind = SYMEXPR_SREG, .bits = (uint8_t)bits, .op = (uint8_t)comp, .c = s, .lo = lo, .hi = hi
    };
    return symexpr_intern(p, &t);
}
const struct symexpr *symexpr_iter(struct symexpr_pool *p, unsigned bits, const void *loop, int64_t hi)
{
    if (hi <= 0)
        return symexpr_const(p, bits, 0);
    struct symexpr t = { .kind = SYMEXPR_ITER, .bits = (uint8_t)bits, .ref = loop, .lo = 0, .hi = hi };
    return symexpr_intern(p, &t);
}
const struct symexpr *symexpr_leaf(struct symexpr_pool *p, enum symexpr_kind k, unsigned bits,
                                   const void *ref, int64_t c, bool sign)
{
    struct symexpr t = { .kind = (uint8_t)k,
                         .bits = (uint8_t)bits,
                         .ref = ref,
                         .c = c,
                         .sign = sign,
                         .lo = symexpr_full_lo(bits),
                         .hi = symexpr_full_hi(bits) };
    return symexpr_intern(p, &t);
}
const struct symexpr *symexpr_unknown(struct symexpr_pool *p, unsigned bits,
                                      const struct symexpr_site *site, int64_t lo, int64_t hi)
{
    struct symexpr t = {
        .kind = SYMEXPR_UNKNOWN, .bits = (uint8_t)bits, .ref = site, .lo = lo, .hi = hi
    };
    return symexpr_intern(p, &t);
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
                         .lo = symexpr_full_lo(bits),
                         .hi = symexpr_full_hi(bits) };
    if (membits < bits) { /* a narrow load fills the register by extension */
        t.lo = sign ? symexpr_full_lo(membits) : 0;
        t.hi = sign ? symexpr_full_hi(membits) : (INT64_C(1) << membits) - 1;
    }
    return symexpr_intern(p, &t);
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
        t.lo = symexpr_full_lo(bits);
        t.hi = symexpr_full_hi(bits);
    }
    return symexpr_intern(p, &t);
}

/* ---- generic nodes ---- */
const struct symexpr *symexpr_node(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                   const struct symexpr *const *arg, uint32_t n, int64_t lo, int64_t hi)
{
    if (lo < symexpr_full_lo(bits) || hi > symexpr_full_hi(bits)) {
        lo = symexpr_full_lo(bits);
        hi = symexpr_full_hi(bits);
    }
    struct symexpr t = { .kind = SYMEXPR_OP,
                         .bits = (uint8_t)bits,
                         .op = (uint8_t)op,
                         .n = n,
                         .arg = arg,
                         .lo = lo,
                         .hi = hi };
    return symexpr_intern(p, &t);
}

const struct symexpr *symexpr_node2(struct symexpr_pool *p, enum symexpr_op op, unsigned bits,
                                    const struct symexpr *a, const struct symexpr *b, int64_t lo,
                                    int64_t hi)
{
    const struct symexpr *arg[2] = { a, b };
    return symexpr_node(p, op, bits, arg, 2, lo, hi);
}
const struct symexpr *symexpr_opaque2(struct symexpr_pool *p, enum symexpr_op op,
                                      const struct symexpr *a, const struct symexpr *b)
{
    return symexpr_node2(p, op, a->bits, a, b, INT64_MIN, INT64_MAX);
}

const char *symexpr_op_text(enum symexpr_op o)
{
    static const char *const text[] = {
#define X(n, t) t,
        SYMEXPR_OPS(X)
#undef X
    };
    return o < AXO_COUNT ? text[o] : "?";
}

/* ---- one evaluation rule per operator, shared by folding and tapes ---- */
uint64_t symexpr_unsigned(int64_t v, unsigned bits)
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
    return op == AXO_ASHR ? a >> by : (int64_t)(symexpr_unsigned(a, bits) >> by);
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
    uint64_t ua = symexpr_unsigned(a, bits), ub = symexpr_unsigned(b, bits);
    int64_t r = 0;
    switch (op) {
    case AXO_UDIV: r = ub ? (int64_t)(ua / ub) : -1; break;
    /* by zero: all ones, as an H200 has it */
    case AXO_UREM: r = ub ? (int64_t)(ua % ub) : -1; break;
    case AXO_SDIV: r = !b ? -1 : b == -1 ? (int64_t) - (uint64_t)a : a / b; break;
    case AXO_SREM: r = !b ? -1 : b == -1 ? 0 : a % b; break;
    case AXO_SHL:
    case AXO_LSHR:
    case AXO_ASHR: r = shift(op, a, symexpr_unsigned(b, 32), bits); break;
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
