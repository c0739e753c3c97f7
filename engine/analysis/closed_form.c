/* Closed forms: see closed_form.h. */
#include "engine/analysis/closed_form.h"

#include "engine/analysis/request_count.h"
#include "engine/analysis/symbolic/env.h"

#include <string.h>

#define MAX_NODES 96
#define MAX_BOXES 2000000 /* pieces examined per access before slices are the better way */
#define DIMS      CLOSED_FORM_MAX_DIMS
#define OPAQUE_FLAGS \
    (AXF_LOAD | AXF_UNKNOWN | AXF_PHI | AXF_RECUR | AXF_TRIPS | AXF_OTHER_SREG | AXF_PARAM | AXF_ADDR)

struct affine {
    int64_t c, coef[DIMS];
    uint32_t root;
    bool has_lane;
};
struct cond_node {
    enum { CN_CONST, CN_LANE, CN_POSITIVE, CN_ZERO, CN_AND, CN_OR, CN_NOT } kind;
    bool value;
    struct affine f;   /* POSITIVE: f > 0; ZERO: f == 0; LANE: f.root holds 0 or 1 */
    uint32_t first, n; /* children in kid[] */
};
struct plan {
    struct env *v;
    const struct eval_access *a;
    const struct closed_form_shape *s; /* dimension i runs 0..s->hi[i] */
    struct affine addr[1 << CLOSED_FORM_MAX_CHOICES];
    uint32_t root, choice[CLOSED_FORM_MAX_CHOICES]; /* nodes */
    struct cond_node node[MAX_NODES];
    uint32_t nnodes;
    uint32_t kid[MAX_NODES], nkids;
    const struct symexpr *lane[MAX_NODES];
    uint32_t nlanes; /* tape roots */
    const char *why;
    struct symexpr_tape tape;
    int64_t (*value)[32];
    bool *valid;
    /* per warp */
    uint32_t present, warp /* its number and one */;
    uint64_t *boxes; /* of all cases together */
    struct tally *t;
    struct {
        uint32_t mask, warp /* its number and one; 0: unused */;
        uint8_t residue, alt;
        struct request_count_request r;
    } cache[256];
};

/* ---- taking expressions apart ---- */
static bool fail(const char **why, const char *text)
{
    *why = text;
    return false;
}
static int dim_of(const struct plan *p, const struct symexpr *x)
{
    if (x->kind == SYMEXPR_SREG && x->c == PTX_SREG_CTAID)
        return x->op < 3 ? x->op : -1;
    for (uint32_t i = 0; x->kind == SYMEXPR_ITER && i < p->s->ndims; i++)
        if (p->s->ref[i] == x->ref)
            return (int)i;
    return -1;
}
static uint32_t lane_root(struct plan *p, const struct symexpr *x)
{
    for (uint32_t i = 0; i < p->nlanes; i++)
        if (p->lane[i] == x)
            return i;
    if (p->nlanes == MAX_NODES)
        return 0;
    p->lane[p->nlanes] = x;
    return p->nlanes++;
}
static bool take_affine(struct plan *p, const struct symexpr *x, struct affine *out)
{
    struct symexpr_pool *pool = &p->v->e->pool;
    const struct symexpr *lane = symexpr_const(pool, x->bits, 0);
    memset(out, 0, sizeof *out);
    uint32_t n = x->kind == SYMEXPR_SUM ? x->n : 1;
    out->c = x->kind == SYMEXPR_SUM ? x->c : 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct symexpr *a = x->kind == SYMEXPR_SUM ? x->arg[i] : x;
        int64_t k = x->kind == SYMEXPR_SUM ? x->coef[i] : 1;
        int d = dim_of(p, a);
        if (a->flags & OPAQUE_FLAGS)
            return fail(&p->why, a->flags & AXF_LOAD    ? "loaded values"
                                 : a->flags & AXF_TRIPS ? "a trip count that differs between threads"
                                                        : "an unknown value");
        if (d >= 0)
            out->coef[d] += k;
        else if (a->flags & (AXF_CTAID | AXF_ITER))
            return fail(&p->why, "an operation that is not linear in ctaid or a loop counter");
        else
            lane = symexpr_add(pool, lane, symexpr_scale(pool, a, k));
    }
    out->has_lane = !symexpr_is_value(lane, 0);
    if (out->has_lane) {
        if (p->nlanes == MAX_NODES)
            return fail(&p->why, "too many terms");
        out->root = lane_root(p, lane);
    }
    return true;
}
/* Both sides as integers (their widths do not wrap: the intervals are proven), difference in 64 bits. */
static const struct symexpr *difference(struct plan *p, const struct symexpr *a, const struct symexpr *b)
{
    struct symexpr_pool *pool = &p->v->e->pool;
    return symexpr_sub(pool, symexpr_sext(pool, a, 64), symexpr_sext(pool, b, 64));
}
static int take_cond(struct plan *p, const struct symexpr *c);
static int new_node(struct plan *p, int kind)
{
    if (p->nnodes == MAX_NODES)
        return -1;
    p->node[p->nnodes] = (struct cond_node){ .kind = (uint8_t)kind };
    return (int)p->nnodes++;
}
static int take_children(struct plan *p, const struct symexpr *c, int kind)
{
    uint32_t kids[MAX_NODES];
    for (uint32_t i = 0; i < c->n && i < MAX_NODES; i++) {
        int k = take_cond(p, c->arg[i]);
        if (k < 0)
            return -1;
        kids[i] = (uint32_t)k;
    }
    int self = new_node(p, kind);
    if (self < 0 || p->nkids + c->n > MAX_NODES)
        return -1;
    p->node[self].first = p->nkids;
    p->node[self].n = c->n;
    for (uint32_t i = 0; i < c->n; i++)
        p->kid[p->nkids++] = kids[i];
    return self;
}
static int take_compare(struct plan *p, const struct symexpr *c)
{
    struct symexpr_pool *pool = &p->v->e->pool;
    const struct symexpr *m;
    if (c->op == AXO_EQ)
        m = difference(p, c->arg[0], c->arg[1]);
    else
        m = symexpr_add(pool, difference(p, c->arg[1], c->arg[0]),
                        symexpr_const(pool, 64, c->op == AXO_SLE));
    int self = new_node(p, c->op == AXO_EQ ? CN_ZERO : CN_POSITIVE);
    if (self < 0 || !take_affine(p, m, &p->node[self].f))
        return -1;
    return self;
}
static int take_cond(struct plan *p, const struct symexpr *c)
{
    int self;
    if (symexpr_is_const(c)) {
        if ((self = new_node(p, CN_CONST)) >= 0)
            p->node[self].value = c->c;
        return self;
    }
    if (!(c->flags & (OPAQUE_FLAGS | AXF_CTAID | AXF_ITER))) {
        if ((self = new_node(p, CN_LANE)) >= 0 && p->nlanes < MAX_NODES)
            p->node[self].f.root = lane_root(p, c);
        return self;
    }
    if (c->kind == SYMEXPR_OP && (c->op == AXO_BAND || c->op == AXO_BOR || c->op == AXO_BNOT))
        return take_children(p, c, c->op == AXO_BAND ? CN_AND : c->op == AXO_BOR ? CN_OR : CN_NOT);
    if (c->kind == SYMEXPR_OP &&
        (c->op == AXO_SLT || c->op == AXO_SLE || (c->op == AXO_EQ && c->arg[0]->bits > 1)))
        return take_compare(p, c);
    p->why = c->flags & AXF_LOAD ? "a condition on loaded values" : "a condition that is not linear";
    return -1;
}

/* ---- three-valued conditions over a box ---- */
struct range {
    int64_t lo[DIMS], hi[DIMS];
};
struct tri {
    uint32_t yes, no;
}; /* lanes; in neither: undecided */

static void span_of(const struct plan *p, const struct affine *f, const struct range *b, int64_t *lo,
                    int64_t *hi)
{
    *lo = *hi = f->c;
    for (uint32_t i = 0; i < p->s->ndims; i++) {
        int64_t k = f->coef[i];
        if (!k)
            continue;
        *lo += k * (k > 0 ? b->lo[i] : b->hi[i]);
        *hi += k * (k > 0 ? b->hi[i] : b->lo[i]);
    }
}
static struct tri leaf_tri(const struct plan *p, const struct cond_node *n, const struct range *b)
{
    struct tri t = { 0, 0 };
    int64_t lo, hi;
    span_of(p, &n->f, b, &lo, &hi);
    const int64_t *lane = n->f.has_lane ? p->value[p->tape.root[n->f.root]] : NULL;
    for (int l = 0; l < 32; l++) {
        int64_t add = lane ? lane[l] : 0, x = lo + add, y = hi + add;
        uint32_t bit = UINT32_C(1) << l;
        if (n->kind == CN_POSITIVE) {
            t.yes |= x > 0 ? bit : 0;
            t.no |= y <= 0 ? bit : 0;
        } else {
            t.yes |= x == 0 && y == 0 ? bit : 0;
            t.no |= x > 0 || y < 0 ? bit : 0;
        }
    }
    return t;
}
static struct tri node_tri(const struct plan *p, uint32_t at, const struct range *b)
{
    const struct cond_node *n = &p->node[at];
    struct tri t = { 0, 0 };
    switch (n->kind) {
    case CN_CONST: return n->value ? (struct tri){ ~0u, 0 } : (struct tri){ 0, ~0u };
    case CN_LANE:
        for (int l = 0; l < 32; l++)
            t.yes |= p->value[p->tape.root[n->f.root]][l] & 1 ? UINT32_C(1) << l : 0;
        t.no = ~t.yes;
        return t;
    case CN_POSITIVE:
    case CN_ZERO: return leaf_tri(p, n, b);
    case CN_NOT: {
        struct tri k = node_tri(p, p->kid[n->first], b);
        return (struct tri){ k.no, k.yes };
    }
    default: break;
    }
    bool and = n->kind == CN_AND;
    t = and? (struct tri){ ~0u, 0 } : (struct tri){ 0, ~0u };
    for (uint32_t i = 0; i < n->n; i++) {
        struct tri k = node_tri(p, p->kid[n->first + i], b);
        t.yes = and? t.yes & k.yes : t.yes | k.yes;
        t.no = and? t.no | k.no : t.no & k.no;
    }
    return t;
}
/* The dimension that moves the undecided comparisons most. */
static int split_dim(const struct plan *p, const struct range *b)
{
    int best = -1;
    uint64_t most = 0;
    for (uint32_t k = 0; k < p->nnodes; k++) {
        const struct cond_node *n = &p->node[k];
        if (n->kind != CN_POSITIVE && n->kind != CN_ZERO)
            continue;
        struct tri t = leaf_tri(p, n, b);
        if ((t.yes | t.no) == ~0u)
            continue;
        for (uint32_t i = 0; i < p->s->ndims; i++) {
            uint64_t c = (uint64_t)(n->f.coef[i] < 0 ? -n->f.coef[i] : n->f.coef[i]) *
                         (uint64_t)(b->hi[i] - b->lo[i]);
            if (c > most) {
                most = c;
                best = (int)i;
            }
        }
    }
    return best;
}

/* ---- counting a decided box ---- */
/* points[r]: how many points of the box have (c + sum coef*v) mod 128 == r. */
static void residues(const struct plan *p, const struct affine *f, const struct range *b,
                     uint64_t points[128])
{
    uint64_t before[128], start = (uint64_t)f->c, each = 1;
    memset(points, 0, sizeof before);
    points[0] = 1;
    for (uint32_t i = 0; i < p->s->ndims; i++) {
        uint64_t n = (uint64_t)(b->hi[i] - b->lo[i] + 1), k = (uint64_t)f->coef[i] & 127;
        unsigned period = k ? 128u >> __builtin_ctzll(k) : 1;
        uint64_t full = n / period, part = n % period;
        start += k * (uint64_t)b->lo[i];
        if (period == 1 || n == 1) {
            each *= n;
            continue;
        }
        memcpy(before, points, sizeof before);
        memset(points, 0, sizeof before);
        for (unsigned r = 0; r < 128; r++)
            for (unsigned j = 0; before[r] && j < period; j++)
                points[(r + k * j) & 127] += before[r] * (full + (j < part));
    }
    memcpy(before, points, sizeof before);
    for (unsigned r = 0; r < 128; r++)
        points[(r + start) & 127] = before[r] * each;
}
static uint64_t lane_part(const struct plan *p, const struct affine *f, int lane)
{
    return f->has_lane ? (uint64_t)p->value[p->tape.root[f->root]][lane] : 0;
}
static bool is_shared(const struct plan *p)
{
    return p->a->space == PTX_SPACE_SHARED || p->a->space == PTX_SPACE_SHARED_CLUSTER;
}
static const struct request_count_request *request_of(struct plan *p, uint32_t mask, unsigned residue,
                                                      uint32_t alt)
{
    unsigned h = ((mask ^ alt << 9) * 0x9e3779b1u >> 25 ^ residue) & 255;
    if (p->cache[h].warp == p->warp && p->cache[h].mask == mask && p->cache[h].residue == residue &&
        p->cache[h].alt == alt)
        return &p->cache[h].r;
    uint64_t addr[32];
    for (int l = 0; l < 32; l++)
        addr[l] = (UINT64_C(1) << 61) + lane_part(p, &p->addr[alt], l) + residue;
    p->cache[h].warp = p->warp;
    p->cache[h].mask = mask;
    p->cache[h].residue = (uint8_t)residue;
    p->cache[h].alt = (uint8_t)alt;
    p->cache[h].r = request_count_measure(addr, mask, p->a->bytes, is_shared(p));
    return &p->cache[h].r;
}
/* ---- lanes with different addresses ---- */
static uint64_t at_corner(const struct plan *p, const struct affine *f, const int64_t v[DIMS])
{
    uint64_t a = (uint64_t)f->c;
    for (uint32_t i = 0; i < p->s->ndims; i++)
        a += (uint64_t)f->coef[i] * (uint64_t)v[i];
    return a;
}
static bool move_alike(const struct plan *p, const struct affine *a, const struct affine *b,
                       const struct range *r)
{
    for (uint32_t i = 0; i < p->s->ndims; i++)
        if (r->lo[i] != r->hi[i] && a->coef[i] != b->coef[i])
            return false;
    return true;
}
/* All addresses move alike over the box: as for one of them, the others at fixed distances from it. */
static void count_apart(struct plan *p, const struct range *b, uint32_t mask, const uint8_t alt[32])
{
    const struct affine *first = &p->addr[alt[__builtin_ctz(mask)]];
    uint64_t points[128], addr[32];
    residues(p, first, b, points);
    for (unsigned r = 0; r < 128; r++) {
        if (!points[r])
            continue;
        for (int l = 0; l < 32; l++)
            addr[l] = (UINT64_C(1) << 61) + r + at_corner(p, &p->addr[alt[l]], b->lo) -
                      at_corner(p, first, b->lo) + lane_part(p, &p->addr[alt[l]], l);
        struct request_count_request q = request_count_measure(addr, mask, p->a->bytes, is_shared(p));
        request_count_add(p->t, &q, p->present, points[r]);
    }
}
/* They do not: point by point. */
static bool count_points(struct plan *p, const struct range *b, uint32_t mask, const uint8_t alt[32])
{
    int64_t v[DIMS];
    uint32_t i = 0;
    memcpy(v, b->lo, sizeof v);
    do {
        uint64_t addr[32];
        if (++*p->boxes > MAX_BOXES)
            return false;
        for (int l = 0; l < 32; l++)
            addr[l] = (UINT64_C(1) << 61) + at_corner(p, &p->addr[alt[l]], v) +
                      lane_part(p, &p->addr[alt[l]], l);
        struct request_count_request q = request_count_measure(addr, mask, p->a->bytes, is_shared(p));
        request_count_add(p->t, &q, p->present, 1);
        for (i = 0; i < p->s->ndims && ++v[i] > b->hi[i]; i++)
            v[i] = b->lo[i];
    } while (i < p->s->ndims);
    return true;
}
static bool count_box(struct plan *p, const struct range *b, uint32_t mask)
{
    uint64_t points[128];
    uint8_t alt[32] = { 0 };
    bool one = true, alike = true;
    if (!mask)
        return true;
    for (uint32_t j = 0; j < p->s->nchoices; j++) {
        struct tri t = node_tri(p, p->choice[j], b);
        for (int l = 0; l < 32; l++)
            alt[l] |= (uint8_t)((t.yes >> l & 1) << j);
    }
    uint32_t first = alt[__builtin_ctz(mask)];
    for (int l = 0; l < 32; l++) {
        if (!(mask >> l & 1))
            alt[l] = (uint8_t)first;
        one = one && alt[l] == first;
        alike = alike && move_alike(p, &p->addr[alt[l]], &p->addr[first], b);
    }
    if (!one && alike)
        count_apart(p, b, mask, alt);
    else if (!one)
        return count_points(p, b, mask, alt);
    if (!one)
        return true;
    residues(p, &p->addr[first], b, points);
    for (unsigned r = 0; r < 128; r++)
        if (points[r])
            request_count_add(p->t, request_of(p, mask, r, first), p->present, points[r]);
    return true;
}
/* Lanes that may run and for which a condition or a choice is still open. */
static uint32_t open_lanes(const struct plan *p, const struct range *b, struct tri t, uint32_t existing)
{
    uint32_t open = existing & ~(t.yes | t.no);
    for (uint32_t j = 0; j < p->s->nchoices; j++) {
        struct tri c = node_tri(p, p->choice[j], b);
        open |= existing & ~t.no & ~(c.yes | c.no);
    }
    return open;
}
/* Depth is at most the sum of the dimensions' bits. */
static enum closed_form_result count_range(struct plan *p, struct range *b, uint32_t existing)
{
    if (++*p->boxes > MAX_BOXES)
        return CLOSED_FORM_TOO_LONG;
    if ((*p->boxes & 1023) == 0 && cancel_asked(p->v->e->cancel))
        return CLOSED_FORM_CANCELLED;
    struct tri t = node_tri(p, p->root, b);
    if ((t.no & existing) == existing)
        return CLOSED_FORM_DONE;
    int d = !open_lanes(p, b, t, existing) ? -1 : split_dim(p, b);
    if (d < 0 || b->lo[d] == b->hi[d])
        return count_box(p, b, t.yes & existing) ? CLOSED_FORM_DONE : CLOSED_FORM_TOO_LONG;
    int64_t lo = b->lo[d], hi = b->hi[d], mid = lo + (hi - lo) / 2;
    b->hi[d] = mid;
    enum closed_form_result r = count_range(p, b, existing);
    b->hi[d] = hi;
    b->lo[d] = mid + 1;
    if (r == CLOSED_FORM_DONE)
        r = count_range(p, b, existing);
    b->lo[d] = lo;
    return r;
}
static enum closed_form_result count_warps(struct plan *p)
{
    uint32_t threads = env_threads(p->v), warps = env_warps(p->v);
    for (uint32_t w = 0; w < warps; w++) {
        struct closed_form_lanes lanes = { p->v, w };
        uint32_t left = threads - w * 32;
        p->present = left < 32 ? left : 32;
        symexpr_tape_run(&p->tape, closed_form_lane, &lanes, p->value, p->valid);
        for (uint32_t i = 0; i < p->tape.nroot; i++)
            if (!p->valid[p->tape.root[i]]) {
                p->why = "an unknown value";
                return CLOSED_FORM_NOT_AFFINE;
            }
        p->warp = w + 1;
        struct range b = { .lo = { 0 } };
        memcpy(b.hi, p->s->hi, sizeof b.hi);
        enum closed_form_result r =
            count_range(p, &b, p->present == 32 ? ~0u : (UINT32_C(1) << p->present) - 1);
        if (r != CLOSED_FORM_DONE)
            return r;
    }
    return CLOSED_FORM_DONE;
}
static bool take_root(struct plan *p, const struct symexpr *c, uint32_t *at)
{
    int n = take_cond(p, c);
    *at = (uint32_t)n;
    return n >= 0;
}
static bool plan_make(struct plan *p, struct arena *arena)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < UINT32_C(1) << p->s->nchoices; i++)
        ok = take_affine(p, p->s->addr[i], &p->addr[i]);
    for (uint32_t j = 0; ok && j < p->s->nchoices; j++)
        ok = take_root(p, p->s->choice[j], &p->choice[j]);
    if (!ok || !take_root(p, p->s->cond, &p->root)) {
        p->why = p->why ? p->why : "too many conditions";
        return false;
    }
    if (!symexpr_tape_make(arena, p->lane, p->nlanes, &p->tape))
        return false;
    p->value = arena_alloc(arena, sizeof *p->value * (p->tape.n + 1));
    p->valid = arena_alloc(arena, p->tape.n + 1);
    return p->value && p->valid;
}
struct counting {
    struct env *v;
    const struct eval_access *a;
    struct tally *t;
    const char *why;
    uint64_t boxes;
};
static enum closed_form_result count_shape(void *ctx, const struct closed_form_shape *s)
{
    struct counting *c = ctx;
    struct arena *arena = arena_new(0);
    struct plan *p = arena ? ARENA_NEW(arena, struct plan) : NULL;
    enum closed_form_result r = CLOSED_FORM_NOMEM;
    if (p) {
        p->v = c->v;
        p->a = c->a;
        p->t = c->t;
        p->s = s;
        p->boxes = &c->boxes;
        r = plan_make(p, arena) ? count_warps(p) : p->why ? CLOSED_FORM_NOT_AFFINE : CLOSED_FORM_NOMEM;
        c->why = p->why ? p->why : c->why;
    }
    arena_free(arena);
    return r;
}
static enum closed_form_result count_with(struct env *v, const struct eval_access *a,
                                          const struct symexpr *cond, const struct ana_loop **loops,
                                          uint32_t nloops, struct tally *sum, const char **why)
{
    struct counting c = { v, a, sum, NULL, 0 };
    struct closed_form_shape s = { .addr = { env_concrete(v, a->addr) },
                                   .cond = cond,
                                   .ndims = 3 + nloops };
    s.hi[0] = (int64_t)v->grid.x - 1;
    s.hi[1] = (int64_t)v->grid.y - 1;
    s.hi[2] = (int64_t)v->grid.z - 1;
    for (uint32_t i = 0; i < nloops; i++) {
        s.ref[3 + i] = loops[i];
        s.hi[3 + i] = v->loop[loops[i]->id].trips;
    }
    enum closed_form_result r = closed_form_cases(v, &s, count_shape, &c);
    *why = c.why;
    return r;
}
enum closed_form_result closed_form_count(struct env *v, const struct eval_access *a, struct tally *t,
                                          const char **why)
{
    const struct ana_loop *loops[EVAL_MAX_DIMS];
    uint32_t nloops;
    struct tally sum = { 0 };
    const struct symexpr *cond = closed_form_condition(v, a, loops, &nloops, why);
    if (!cond || symexpr_is_value(cond, 0))
        return cond ? CLOSED_FORM_DONE : CLOSED_FORM_NOT_AFFINE;
    enum closed_form_result r = count_with(v, a, cond, loops, nloops, &sum, why);
    if (r == CLOSED_FORM_DONE)
        request_count_merge(t, &sum);
    return r;
}

enum closed_form_result closed_form_every_lane(struct env *v, const struct eval_access *a,
                                               struct tally *t)
{
    const struct ana_loop *loops[EVAL_MAX_DIMS];
    uint32_t nloops;
    const char *why;
    struct tally sum = { 0 };
    const struct symexpr *cond = closed_form_condition(v, a, loops, &nloops, &why);
    if (cond && symexpr_is_value(cond, 0))
        return CLOSED_FORM_DONE;
    enum closed_form_result r = CLOSED_FORM_NOT_AFFINE;
    if (cond && v->data)
        r = count_with(v, a, symexpr_const(&v->e->pool, 1, 1), loops, nloops, &sum, &why);
    if (r == CLOSED_FORM_NOT_AFFINE || r == CLOSED_FORM_TOO_LONG) {
        sum = (struct tally){ 0 };
        r = closed_form_sample(v, a, true, &sum) ? CLOSED_FORM_DONE : CLOSED_FORM_NOT_AFFINE;
    }
    if (r == CLOSED_FORM_DONE)
        request_count_merge(t, &sum);
    return r;
}
