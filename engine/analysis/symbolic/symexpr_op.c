/* Operators on symbolic values: extremes, comparisons, conditions; and any node made anew of other
 * operands. Each rule rewrites only where the proven intervals make the
 * rewrite exact; everything else stays an opaque operator node. */
#include "engine/analysis/symbolic/symexpr_int.h"

#include <string.h>

static const struct symexpr *extreme(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                     const struct symexpr *b)
{
    bool uns = op == AXO_UMIN || op == AXO_UMAX, min = op == AXO_UMIN || op == AXO_SMIN;
    if (a == b)
        return a;
    if (uns && (a->lo < 0 || b->lo < 0))
        return symexpr_opaque2(p, op, a, b);
    if (a->hi <= b->lo)
        return min ? a : b;
    if (b->hi <= a->lo)
        return min ? b : a;
    int64_t lo = min == (a->lo < b->lo) ? a->lo : b->lo, hi = min == (a->hi < b->hi) ? a->hi : b->hi;
    return symexpr_node2(p, min ? AXO_SMIN : AXO_SMAX, a->bits, a, b, lo, hi);
}
static const struct symexpr *high(struct symexpr_pool *p, enum symexpr_op op, const struct symexpr *a,
                                  const struct symexpr *b)
{
    if (a->lo >= 0 && symexpr_is_const(b) && a->bits == 32) {
        uint64_t top = (uint64_t)a->hi * symexpr_unsigned(b->c, 32) >> 32; /* 0 <= a < 2^31 */
        if (op == AXO_UMULHI || b->c >= 0)
            return symexpr_node2(p, AXO_UMULHI, a->bits, a, b, 0, (int64_t)top);
    }
    return symexpr_opaque2(p, op, a, b);
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
    return symexpr_node2(p, AXO_EQ, 1, a, b, 0, 1);
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
    return symexpr_node2(p, op, 1, a, b, 0, 1);
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
    case AXO_SREM: return symexpr_divide(p, op, a, b);
    case AXO_SHL:
    case AXO_LSHR:
    case AXO_ASHR: return symexpr_shift(p, op, a, b);
    case AXO_AND:
    case AXO_OR:
    case AXO_XOR:
        if (a->bits == 1 && op != AXO_XOR)
            return op == AXO_AND ? symexpr_and(p, a, b) : symexpr_or(p, a, b);
        if (a->bits == 1 && symexpr_is_const(b))
            return b->c ? symexpr_not(p, a) : a;
        return a->bits == 1 ? symexpr_opaque2(p, op, a, b) : symexpr_logic(p, op, a, b);
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
    default: return symexpr_opaque2(p, op, a, b);
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
    return c.over ? symexpr_opaque2(p, AXO_BAND, a, b) : conds_done(p, &c, AXO_BAND);
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
    return c.over ? symexpr_opaque2(p, AXO_BOR, a, b) : conds_done(p, &c, AXO_BOR);
}

/* ---- any node ---- */
const struct symexpr *symexpr_rebuild(struct symexpr_pool *p, const struct symexpr *e,
                                      const struct symexpr *const *arg)
{
    switch (e->kind) {
    case SYMEXPR_SUM: return symexpr_sum(p, e, arg);
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
        return symexpr_intern(p, &t);
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
