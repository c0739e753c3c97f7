/* See box_case.h. The innermost part that is not linear goes first: arguments have
 * smaller ids than what is made of them. */
#include "engine/analysis/box_case.h"


#define MAX_CASES 512u
#define MAX_UNROLL 64                /* values of one dimension tried one by one */
#define OPAQUE (AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_RECUR | AXF_TRIPS | AXF_OTHER_SREG | AXF_PARAM | AXF_ADDR)

struct casing { struct env *v; struct ax_pool *p; box_fn fn; void *ctx; unsigned left; };
static enum box_result run(struct casing *c, const struct box_shape *s);

/* ---- dimensions ---- */
static int dim_of(const struct box_shape *s, const struct ax *x)
{
    if (x->kind == AX_SREG && x->c == PTX_SREG_CTAID && x->op < 3)
        return x->op;
    for (uint32_t i = 0; x->kind == AX_ITER && i < s->ndims; i++)
        if (s->ref[i] && s->ref[i] == x->ref)
            return (int)i;
    return -1;
}
struct putting { struct ax_pool *p; const struct box_shape *s; int dim; const struct ax *to; };
static const struct ax *put_leaf(void *ctx, const struct ax *x)
{
    const struct putting *q = ctx;
    if (dim_of(q->s, x) != q->dim)
        return x;
    return x->bits > q->to->bits ? ax_sext(q->p, q->to, x->bits) : ax_trunc(q->p, q->to, x->bits);
}
static uint32_t alternatives(const struct box_shape *s) { return UINT32_C(1) << s->nchoices; }
/* The shape with dimension d replaced by `to` (64 bits). */
static struct box_shape put_dim(struct casing *c, const struct box_shape *s, int d, const struct ax *to)
{
    struct box_shape r = *s;
    struct putting q = { c->p, s, d, to };
    for (uint32_t i = 0; i < alternatives(s); i++)
        r.addr[i] = eval_subst(c->v->e, s->addr[i], put_leaf, &q);
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = eval_subst(c->v->e, s->choice[j], put_leaf, &q);
    r.cond = eval_subst(c->v->e, s->cond, put_leaf, &q);
    return r;
}

/* ---- the innermost part that is not linear ---- */
struct crooked { const struct ax *x; };
static bool moves(const struct ax *x) { return x->flags & (AXF_CTAID | AXF_ITER); }
static bool linear_here(const struct ax *x)
{
    unsigned n = 0;
    switch (x->kind) {
    case AX_SUM: case AX_SREG: case AX_ITER: return true;
    case AX_PROD:
        for (uint32_t i = 0; i < x->n; i++)
            n += moves(x->arg[i]);
        return n <= 1 && x->n == 1;
    case AX_OP: return x->op == AXO_BAND || x->op == AXO_BOR || x->op == AXO_BNOT || x->op == AXO_SLT || x->op == AXO_SLE || (x->op == AXO_EQ && x->arg[0]->bits > 1);
    default: return false;
    }
}
static enum ax_visit visit_crooked(void *ctx, const struct ax *x)
{
    struct crooked *q = ctx;
    if (!moves(x) || (q->x && x->id > q->x->id && x->n == 0))
        return AX_SKIP;
    if (!linear_here(x) && (!q->x || x->id < q->x->id))
        q->x = x;
    return AX_DESCEND;
}
static const struct ax *innermost(const struct box_shape *s)
{
    struct crooked q = { NULL };
    for (uint32_t i = 0; i < alternatives(s); i++)
        (void)ax_find(s->addr[i], visit_crooked, &q);
    for (uint32_t j = 0; j < s->nchoices; j++)
        (void)ax_find(s->choice[j], visit_crooked, &q);
    (void)ax_find(s->cond, visit_crooked, &q);
    return q.x;
}

/* ---- two cases ---- */
static struct box_shape with(struct casing *c, const struct box_shape *s, const struct ax *from, const struct ax *to)
{
    struct box_shape r = *s;
    for (uint32_t i = 0; i < alternatives(s); i++)
        r.addr[i] = eval_replace(c->v->e, s->addr[i], from, to);
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = eval_replace(c->v->e, s->choice[j], from, to);
    r.cond = eval_replace(c->v->e, s->cond, from, to);
    return r;
}
static enum box_result when(struct casing *c, const struct box_shape *s, const struct ax *x, const struct ax *cond, bool holds, const struct ax *is)
{
    struct box_shape r = with(c, s, x, is);
    if (cond) {
        r = with(c, &r, cond, ax_const(c->p, 1, holds));
        r.cond = ax_and(c->p, r.cond, holds ? cond : ax_not(c->p, cond));
    }
    return ax_is_value(r.cond, 0) ? BOX_DONE : run(c, &r);
}
/* The lanes of one request stay in one case: a condition that differs between threads becomes a choice of the address,
 * and part of the conditions that x stands in. */
static const struct ax *either(struct casing *c, const struct ax *in, const struct ax *x, const struct ax *cond, const struct ax *yes, const struct ax *no)
{
    const struct ax *t = eval_replace(c->v->e, in, x, yes), *f = eval_replace(c->v->e, in, x, no);
    return t == f ? t : ax_or(c->p, ax_and(c->p, cond, t), ax_and(c->p, ax_not(c->p, cond), f));
}
static enum box_result by_thread(struct casing *c, const struct box_shape *s, const struct ax *x, const struct ax *cond, const struct ax *yes, const struct ax *no)
{
    struct box_shape r = *s;
    uint32_t n = alternatives(s);
    bool moved = false;
    for (uint32_t j = 0; j < s->nchoices; j++)
        r.choice[j] = either(c, s->choice[j], x, cond, yes, no);
    r.cond = either(c, s->cond, x, cond, yes, no);
    for (uint32_t i = 0; i < n; i++)
        moved = moved || eval_replace(c->v->e, s->addr[i], x, yes) != s->addr[i];
    if (!moved)
        return run(c, &r);
    if (s->nchoices == BOX_MAX_CHOICES)
        return c->fn(c->ctx, s);
    for (uint32_t i = 0; i < n; i++) {
        r.addr[i] = eval_replace(c->v->e, s->addr[i], x, no);
        r.addr[i | n] = eval_replace(c->v->e, s->addr[i], x, yes);
    }
    r.choice[r.nchoices++] = cond;
    return run(c, &r);
}
static enum box_result two(struct casing *c, const struct box_shape *s, const struct ax *x, const struct ax *cond, const struct ax *yes, const struct ax *no)
{
    if (ax_is_const(cond))
        return when(c, s, x, NULL, false, cond->c ? yes : no);
    if (cond->flags & AXF_TID)
        return by_thread(c, s, x, cond, yes, no);
    enum box_result r = when(c, s, x, cond, true, yes);
    return r == BOX_DONE ? when(c, s, x, cond, false, no) : r;
}

/* ---- one dimension value by value, or as quotient and remainder ---- */
static enum box_result unroll(struct casing *c, const struct box_shape *s, int d)
{
    enum box_result r = BOX_DONE;
    for (int64_t k = 0; k <= s->hi[d] && r == BOX_DONE; k++) {
        struct box_shape one = put_dim(c, s, d, ax_const(c->p, 64, k));
        one.hi[d] = 0;
        one.ref[d] = NULL;
        if (!ax_is_value(one.cond, 0))
            r = run(c, &one);
    }
    return r;
}
static enum box_result digits(struct casing *c, const struct box_shape *s, int d, int64_t by)
{
    char *name = arena_alloc(c->v->e->arena, 2);     /* two places: the identities of quotient and remainder */
    if (!name || s->ndims == BOX_MAX_DIMS)
        return name ? c->fn(c->ctx, s) : BOX_NOMEM;
    int64_t hi = s->hi[d];
    const struct ax *q = ax_iter(c->p, 64, name, hi / by), *r = ax_iter(c->p, 64, name + 1, by - 1), *whole = ax_add(c->p, ax_scale(c->p, q, by), r);
    struct box_shape n = put_dim(c, s, d, whole);
    n.ref[d] = name;
    n.hi[d] = hi / by;
    n.ref[n.ndims] = name + 1;
    n.hi[n.ndims++] = by - 1;
    if ((hi + 1) % by)
        n.cond = ax_and(c->p, n.cond, ax_op2(c->p, AXO_SLE, whole, ax_const(c->p, 64, hi)));
    return run(c, &n);
}
static int64_t gcd(int64_t a, int64_t b) { return b ? gcd(b, a % b) : a < 0 ? -a : a; }
/* The dimension below x with the fewest values; -1: none. */
struct fewest { const struct box_shape *s; int dim; };
static enum ax_visit visit_fewest(void *ctx, const struct ax *x)
{
    struct fewest *q = ctx;
    if (!moves(x))
        return AX_SKIP;
    int d = x->n ? -1 : dim_of(q->s, x);
    if (d >= 0 && (q->dim < 0 || q->s->hi[d] < q->s->hi[q->dim]))
        q->dim = d;
    return AX_DESCEND;
}
static enum box_result one_by_one(struct casing *c, const struct box_shape *s, const struct ax *x)
{
    struct fewest q = { s, -1 };
    (void)ax_find(x, visit_fewest, &q);
    return q.dim >= 0 && s->hi[q.dim] < MAX_UNROLL ? unroll(c, s, q.dim) : c->fn(c->ctx, s);
}
/* x / d and x % d: a term k*v with v = by*Q + R, by = d / gcd(d, k), leaves k*R. */
static enum box_result divided(struct casing *c, const struct box_shape *s, const struct ax *x)
{
    const struct ax *n = x->arg[0];
    int64_t d = x->arg[1]->c;
    for (uint32_t i = 0; i < (n->kind == AX_SUM ? n->n : 1); i++) {
        const struct ax *a = n->kind == AX_SUM ? n->arg[i] : n;
        int64_t k = n->kind == AX_SUM ? n->coef[i] : 1;
        int dim = a->n ? -1 : dim_of(s, a);
        int64_t by = dim >= 0 && k % d ? d / gcd(d, k) : 1;
        if (by > 1 && by <= s->hi[dim])
            return digits(c, s, dim, by);
    }
    return one_by_one(c, s, x);
}
static const struct ax *contiguous(struct ax_pool *p, const struct ax *x)
{
    int64_t m = ax_is_const(x->arg[1]) ? x->arg[1]->c : ax_is_const(x->arg[0]) ? x->arg[0]->c : 0;
    const struct ax *a = ax_is_const(x->arg[1]) ? x->arg[0] : x->arg[1];
    int64_t low = m & -m;
    if (m <= 0 || m >= INT64_C(1) << 30 || ((m + low) & m))
        return NULL;                 /* x & 24 is x%32 - x%8 */
    return ax_sub(p, ax_op2(p, AXO_UREM, a, ax_const(p, a->bits, m + low)), ax_op2(p, AXO_UREM, a, ax_const(p, a->bits, low)));
}
static enum box_result cut_op(struct casing *c, const struct box_shape *s, const struct ax *x)
{
    const struct ax *a = x->arg[0], *b = x->n > 1 ? x->arg[1] : NULL, *mask;
    switch (x->op) {
    case AXO_SELECT: return two(c, s, x, a, b, x->arg[2]);
    case AXO_SMIN: return two(c, s, x, ax_op2(c->p, AXO_SLE, a, b), a, b);
    case AXO_SMAX: return two(c, s, x, ax_op2(c->p, AXO_SLE, a, b), b, a);
    case AXO_XOR:
        if (x->bits == 1)
            return two(c, s, x, a, ax_not(c->p, b), b);
        break;
    case AXO_EQ:                     /* of two conditions */
        return two(c, s, x, a, b, ax_not(c->p, b));
    case AXO_UDIV: case AXO_UREM:
        if (ax_is_const(b) && b->c > 1)
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
static enum box_result run(struct casing *c, const struct box_shape *s)
{
    const struct ax *x = c->left ? innermost(s) : NULL;
    if (cancel_asked(c->v->e->cancel))
        return BOX_CANCELLED;
    if (!x || (x->flags & OPAQUE))
        return c->fn(c->ctx, s);
    c->left--;
    return x->kind == AX_OP ? cut_op(c, s, x) : one_by_one(c, s, x);
}
enum box_result box_cases(struct env *v, const struct box_shape *s, box_fn fn, void *ctx)
{
    struct casing c = { v, &v->e->pool, fn, ctx, MAX_CASES };
    return run(&c, s);
}
