/* See closed_form_cases.h. The innermost part that is not linear goes first: arguments have
 * smaller ids than what is made of them. */
#include "engine/analysis/closed_form_cases.h"

#include "engine/analysis/symbolic/env.h"

/* Expressions made for one access, at most: a choice by thread doubles the condition that it stands in.
 */
#define MAX_MADE   20000
#define MAX_CASES  512u
#define MAX_UNROLL 64 /* values of one dimension tried one by one */
#define OPAQUE \
    (AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_RECUR | AXF_TRIPS | AXF_OTHER_SREG | AXF_PARAM | AXF_ADDR)

struct casing {
    struct env *v;
    struct symexpr_pool *p;
    closed_form_fn fn;
    void *ctx;
    unsigned left;
    size_t most; /* of the pool's expressions */
};
static enum closed_form_result run(struct casing *c, const struct closed_form_shape *s);

/* ---- dimensions ---- */
static int dim_of(const struct closed_form_shape *s, const struct symexpr *x)
{
    if (x->kind == SYMEXPR_SREG && x->c == PTX_SREG_CTAID && x->op < 3)
        return x->op;
    for (uint32_t i = 0; x->kind == SYMEXPR_ITER && i < s->ndims; i++)
        if (s->ref[i] && s->ref[i] == x->ref)
            return (int)i;
    return -1;
}
struct putting {
    struct symexpr_pool *p;
    const struct closed_form_shape *s;
    int dim;
    const struct symexpr *to;
};
static const struct symexpr *put_leaf(void *ctx, const struct symexpr *x)
{
    const struct putting *q = ctx;
    if (dim_of(q->s, x) != q->dim)
        return x;
    return x->bits > q->to->bits ? symexpr_sext(q->p, q->to, x->bits)
                                 : symexpr_trunc(q->p, q->to, x->bits);
}
static uint32_t alternatives(const struct closed_form_shape *s)
{
    return UINT32_C(1) << s->nchoices;
}
/* The shape with dimension d replaced by `to` (64 bits). */
static struct closed_form_shape put_dim(struct casing *c, const struct closed_form_shape *s, int d,
                                        const struct symexpr *to)
{
    struct closed_form_shape r = *s;
    struct putting q = { c->p, s, d, to };
    for (uint32_t i = 0; i < alternatives(s); i++)
        r.addr[i] = eval_subst(c->v->e, s->addr[i], put_leaf, &q);
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = eval_subst(c->v->e, s->choice[j], put_leaf, &q);
    r.cond = eval_subst(c->v->e, s->cond, put_leaf, &q);
    return r;
}

/* ---- the innermost part that is not linear ---- */
struct crooked {
    const struct symexpr *x;
};
static bool moves(const struct symexpr *x)
{
    return x->flags & (AXF_CTAID | AXF_ITER);
}
static bool linear_here(const struct symexpr *x)
{
    unsigned n = 0;
    switch (x->kind) {
    case SYMEXPR_SUM:
    case SYMEXPR_SREG:
    case SYMEXPR_ITER: return true;
    case SYMEXPR_PROD:
        for (uint32_t i = 0; i < x->n; i++)
            n += moves(x->arg[i]);
        return n <= 1 && x->n == 1;
    case SYMEXPR_OP:
        return x->op == AXO_BAND || x->op == AXO_BOR || x->op == AXO_BNOT || x->op == AXO_SLT ||
               x->op == AXO_SLE || (x->op == AXO_EQ && x->arg[0]->bits > 1);
    default: return false;
    }
}
static enum symexpr_visit visit_crooked(void *ctx, const struct symexpr *x)
{
    struct crooked *q = ctx;
    if (!moves(x) || (q->x && x->id > q->x->id && x->n == 0))
        return SYMEXPR_SKIP;
    if (!linear_here(x) && (!q->x || x->id < q->x->id))
        q->x = x;
    return SYMEXPR_DESCEND;
}
static const struct symexpr *innermost(const struct closed_form_shape *s)
{
    struct crooked q = { NULL };
    for (uint32_t i = 0; i < alternatives(s); i++)
        (void)symexpr_find(s->addr[i], visit_crooked, &q);
    for (uint32_t j = 0; j < s->nchoices; j++)
        (void)symexpr_find(s->choice[j], visit_crooked, &q);
    (void)symexpr_find(s->cond, visit_crooked, &q);
    return q.x;
}

/* ---- two cases ---- */
static struct closed_form_shape with(struct casing *c, const struct closed_form_shape *s,
                                     const struct symexpr *from, const struct symexpr *to)
{
    struct closed_form_shape r = *s;
    for (uint32_t i = 0; i < alternatives(s); i++)
        r.addr[i] = eval_replace(c->v->e, s->addr[i], from, to);
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = eval_replace(c->v->e, s->choice[j], from, to);
    r.cond = eval_replace(c->v->e, s->cond, from, to);
    return r;
}
static enum closed_form_result when(struct casing *c, const struct closed_form_shape *s,
                                    const struct symexpr *x, const struct symexpr *cond, bool holds,
                                    const struct symexpr *is)
{
    struct closed_form_shape r = with(c, s, x, is);
    if (cond) {
        r = with(c, &r, cond, symexpr_const(c->p, 1, holds));
        r.cond = symexpr_and(c->p, r.cond, holds ? cond : symexpr_not(c->p, cond));
    }
    return symexpr_is_value(r.cond, 0) ? CLOSED_FORM_DONE : run(c, &r);
}
/* The lanes of one request stay in one case: a condition that differs between threads becomes a choice
 * of the address, and part of the conditions that x stands in. */
static const struct symexpr *either(struct casing *c, const struct symexpr *in, const struct symexpr *x,
                                    const struct symexpr *cond, const struct symexpr *yes,
                                    const struct symexpr *no)
{
    const struct symexpr *t = eval_replace(c->v->e, in, x, yes), *f = eval_replace(c->v->e, in, x, no);
    return t == f ? t
                  : symexpr_or(c->p, symexpr_and(c->p, cond, t),
                               symexpr_and(c->p, symexpr_not(c->p, cond), f));
}
static enum closed_form_result by_thread(struct casing *c, const struct closed_form_shape *s,
                                         const struct symexpr *x, const struct symexpr *cond,
                                         const struct symexpr *yes, const struct symexpr *no)
{
    struct closed_form_shape r = *s;
    uint32_t n = alternatives(s);
    bool moved = false;
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = either(c, s->choice[j], x, cond, yes, no);
    r.cond = either(c, s->cond, x, cond, yes, no);
    for (uint32_t i = 0; i < n; i++)
        moved = moved || eval_replace(c->v->e, s->addr[i], x, yes) != s->addr[i];
    if (!moved)
        return run(c, &r);
    if (s->nchoices == CLOSED_FORM_MAX_CHOICES)
        return c->fn(c->ctx, s);
    for (uint32_t i = 0; i < n; i++) {
        r.addr[i] = eval_replace(c->v->e, s->addr[i], x, no);
        r.addr[i | n] = eval_replace(c->v->e, s->addr[i], x, yes);
    }
    r.choice[r.nchoices++] = cond;
    return run(c, &r);
}
static enum closed_form_result two(struct casing *c, const struct closed_form_shape *s,
                                   const struct symexpr *x, const struct symexpr *cond,
                                   const struct symexpr *yes, const struct symexpr *no)
{
    if (symexpr_is_const(cond))
        return when(c, s, x, NULL, false, cond->c ? yes : no);
    if (cond->flags & AXF_TID)
        return by_thread(c, s, x, cond, yes, no);
    enum closed_form_result r = when(c, s, x, cond, true, yes);
    return r == CLOSED_FORM_DONE ? when(c, s, x, cond, false, no) : r;
}

/* ---- one dimension value by value, or as quotient and remainder ---- */
static enum closed_form_result unroll(struct casing *c, const struct closed_form_shape *s, int d)
{
    enum closed_form_result r = CLOSED_FORM_DONE;
    for (int64_t k = 0; k <= s->hi[d] && r == CLOSED_FORM_DONE; k++) {
        struct closed_form_shape one = put_dim(c, s, d, symexpr_const(c->p, 64, k));
        one.hi[d] = 0;
        one.ref[d] = NULL;
        if (!symexpr_is_value(one.cond, 0))
            r = run(c, &one);
    }
    return r;
}
static enum closed_form_result digits(struct casing *c, const struct closed_form_shape *s, int d,
                                      int64_t by)
{
    /* two places: the identities of quotient and remainder */
    char *name = arena_alloc(c->v->e->arena, 2);
    if (!name || s->ndims == CLOSED_FORM_MAX_DIMS)
        return name ? c->fn(c->ctx, s) : CLOSED_FORM_NOMEM;
    int64_t hi = s->hi[d];
    const struct symexpr *q = symexpr_iter(c->p, 64, name, hi / by),
                         *r = symexpr_iter(c->p, 64, name + 1, by - 1),
                         *whole = symexpr_add(c->p, symexpr_scale(c->p, q, by), r);
    struct closed_form_shape n = put_dim(c, s, d, whole);
    n.ref[d] = name;
    n.hi[d] = hi / by;
    n.ref[n.ndims] = name + 1;
    n.hi[n.ndims++] = by - 1;
    if ((hi + 1) % by)
        n.cond =
            symexpr_and(c->p, n.cond, symexpr_op2(c->p, AXO_SLE, whole, symexpr_const(c->p, 64, hi)));
    return run(c, &n);
}
static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a < 0 ? -a : a;
}
/* The dimension below x with the fewest values; -1: none. */
struct fewest {
    const struct closed_form_shape *s;
    int dim;
};
static enum symexpr_visit visit_fewest(void *ctx, const struct symexpr *x)
{
    struct fewest *q = ctx;
    if (!moves(x))
        return SYMEXPR_SKIP;
    int d = x->n ? -1 : dim_of(q->s, x);
    if (d >= 0 && (q->dim < 0 || q->s->hi[d] < q->s->hi[q->dim]))
        q->dim = d;
    return SYMEXPR_DESCEND;
}
static enum closed_form_result one_by_one(struct casing *c, const struct closed_form_shape *s,
                                          const struct symexpr *x)
{
    struct fewest q = { s, -1 };
    (void)symexpr_find(x, visit_fewest, &q);
    return q.dim >= 0 && s->hi[q.dim] < MAX_UNROLL ? unroll(c, s, q.dim) : c->fn(c->ctx, s);
}
/* x / d and x % d: a term k*v with v = by*Q + R, by = d / gcd(d, k), leaves k*R. */
static enum closed_form_result divided(struct casing *c, const struct closed_form_shape *s,
                                       const struct symexpr *x)
{
    const struct symexpr *n = x->arg[0];
    int64_t d = x->arg[1]->c;
    for (uint32_t i = 0; i < (n->kind == SYMEXPR_SUM ? n->n : 1); i++) {
        const struct symexpr *a = n->kind == SYMEXPR_SUM ? n->arg[i] : n;
        int64_t k = n->kind == SYMEXPR_SUM ? n->coef[i] : 1;
        int dim = a->n ? -1 : dim_of(s, a);
        int64_t by = dim >= 0 && k % d ? d / gcd(d, k) : 1;
        if (by > 1 && by <= s->hi[dim])
            return digits(c, s, dim, by);
    }
    return one_by_one(c, s, x);
}
static const struct symexpr *contiguous(struct symexpr_pool *p, const struct symexpr *x)
{
    int64_t m = symexpr_is_const(x->arg[1])   ? x->arg[1]->c
                : symexpr_is_const(x->arg[0]) ? x->arg[0]->c
                                              : 0;
    const struct symexpr *a = symexpr_is_const(x->arg[1]) ? x->arg[0] : x->arg[1];
    int64_t low = m & -m;
    if (m <= 0 || m >= INT64_C(1) << 30 || ((m + low) & m))
        return NULL; /* x & 24 is x%32 - x%8 */
    return symexpr_sub(p, symexpr_op2(p, AXO_UREM, a, symexpr_const(p, a->bits, m + low)),
                       symexpr_op2(p, AXO_UREM, a, symexpr_const(p, a->bits, low)));
}
static enum closed_form_result cut_op(struct casing *c, const struct closed_form_shape *s,
                                      const struct symexpr *x)
{
    const struct symexpr *a = x->arg[0], *b = x->n > 1 ? x->arg[1] : NULL, *mask;
    switch (x->op) {
    case AXO_SELECT: return two(c, s, x, a, b, x->arg[2]);
    case AXO_SMIN: return two(c, s, x, symexpr_op2(c->p, AXO_SLE, a, b), a, b);
    case AXO_SMAX: return two(c, s, x, symexpr_op2(c->p, AXO_SLE, a, b), b, a);
    case AXO_XOR:
        if (x->bits == 1)
            return two(c, s, x, a, symexpr_not(c->p, b), b);
        break;
    case AXO_EQ: /* of two conditions */ return two(c, s, x, a, b, symexpr_not(c->p, b));
    case AXO_UDIV:
    case AXO_UREM:
        if (symexpr_is_const(b) && b->c > 1)
            return divided(c, s, x);
        break;
    case AXO_AND:
        if ((mask = contiguous(c->p, x)))
            return when(c, s, x, NULL, false, mask);
        break;
    default: break;
    }
    return one_by_one(c, s, x);
}
static enum closed_form_result run(struct casing *c, const struct closed_form_shape *s)
{
    const struct symexpr *x = c->left && c->p->n < c->most ? innermost(s) : NULL;
    if (cancel_asked(c->v->e->cancel))
        return CLOSED_FORM_CANCELLED;
    if (!x || (x->flags & OPAQUE))
        return c->fn(c->ctx, s);
    c->left--;
    return x->kind == SYMEXPR_OP ? cut_op(c, s, x) : one_by_one(c, s, x);
}
enum closed_form_result closed_form_cases(struct env *v, const struct closed_form_shape *s,
                                          closed_form_fn fn, void *ctx)
{
    struct casing c = { v, &v->e->pool, fn, ctx, MAX_CASES, v->e->pool.n + MAX_MADE };
    return run(&c, s);
}
