/* Evaluation of expressions on concrete numbers: the nodes the roots need, in
 * order of creation (arguments come first), 32 lanes per node. */
#include "engine/analysis/symbolic/symexpr_int.h"
#include "engine/base/list.h"

#include <stdlib.h>
#include <string.h>

static uint32_t find(const struct symexpr **v, uint32_t n, const struct symexpr *x)
{
    uint32_t k;
    BISECT(k, n, v[k]->id < x->id);
    return k;
}
/* ---- every node once: an explicit stack and a set of ids ---- */
struct idset {
    uint32_t *slot;
    size_t cap, n;
}; /* id+1; 0: empty */
static bool idset_room(struct idset *s)
{
    if (s->n * 2 < s->cap)
        return true;
    size_t cap = s->cap ? s->cap * 2 : 64;
    uint32_t *slot = base_alloc(cap * sizeof *slot);
    if (!slot)
        return false;
    for (size_t i = 0; i < s->cap; i++)
        if (s->slot[i]) {
            size_t h = s->slot[i] * 2654435761u & (cap - 1);
            while (slot[h])
                h = (h + 1) & (cap - 1);
            slot[h] = s->slot[i];
        }
    base_free(s->slot);
    s->slot = slot;
    s->cap = cap;
    return true;
}
/* False when it was there already; *ok false when memory is gone. */
static bool idset_add(struct idset *s, uint32_t id, bool *ok)
{
    if (!idset_room(s)) {
        *ok = false;
        return false;
    }
    size_t h = (id + 1) * 2654435761u & (s->cap - 1);
    while (s->slot[h] && s->slot[h] != id + 1)
        h = (h + 1) & (s->cap - 1);
    if (s->slot[h])
        return false;
    s->slot[h] = id + 1;
    s->n++;
    return true;
}
bool symexpr_find(const struct symexpr *root,
                  enum symexpr_visit (*fn)(void *ctx, const struct symexpr *x), void *ctx)
{
    const struct symexpr **stack = NULL;
    size_t n = 0, cap = 0;
    struct idset seen = { 0 };
    bool ok = base_grow((void **)&stack, n, &cap, sizeof *stack), found = false;
    if (ok)
        stack[n++] = root;
    while (n && ok && !found) {
        const struct symexpr *x = stack[--n];
        if (!idset_add(&seen, x->id, &ok))
            continue;
        enum symexpr_visit v = fn(ctx, x);
        found = v == SYMEXPR_FOUND;
        for (uint32_t k = x->n; v == SYMEXPR_DESCEND && ok && k-- > 0;)
            if ((ok = base_grow((void **)&stack, n, &cap, sizeof *stack)))
                stack[n++] = x->arg[k];
    }
    BASE_FREE(stack, seen.slot);
    return found || !ok;
}
struct collecting {
    const struct symexpr **v;
    size_t n, cap;
    bool ok;
};
static enum symexpr_visit collect_node(void *ctx, const struct symexpr *x)
{
    struct collecting *c = ctx;
    c->ok = c->ok && base_grow((void **)&c->v, c->n, &c->cap, sizeof *c->v);
    if (!c->ok)
        return SYMEXPR_FOUND;
    c->v[c->n++] = x;
    return x->kind == SYMEXPR_LOAD || x->kind == SYMEXPR_PHI ? SYMEXPR_SKIP : SYMEXPR_DESCEND;
}
static int by_id(const void *a, const void *b)
{
    const struct symexpr *x = *(const struct symexpr *const *)a, *y = *(const struct symexpr *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}
/* The nodes below the roots by id, each once. */
static bool collect(const struct symexpr *const *root, uint32_t nroot, const struct symexpr ***out,
                    uint32_t *nout)
{
    struct collecting c = { .ok = true };
    for (uint32_t i = 0; i < nroot && c.ok; i++)
        if (symexpr_find(root[i], collect_node, &c))
            c.ok = false;
    uint32_t n = 0;
    if (c.n)
        qsort(c.v, c.n, sizeof *c.v, by_id);
    for (size_t i = 0; i < c.n; i++) /* roots may share nodes */
        if (!n || c.v[n - 1] != c.v[i])
            c.v[n++] = c.v[i];
    *out = c.v;
    *nout = n;
    return c.ok;
}
bool symexpr_tape_make(struct arena *a, const struct symexpr *const *root, uint32_t nroot,
                       struct symexpr_tape *t)
{
    const struct symexpr **v = NULL;
    uint32_t n = 0, nargs = 0;
    memset(t, 0, sizeof *t);
    bool ok = collect(root, nroot, &v, &n);
    if (ok && n) {
        for (uint32_t i = 0; i < n; i++)
            nargs += v[i]->n;
        t->node = ARENA_ARRAY(a, const struct symexpr *, n);
        t->first = ARENA_ARRAY(a, uint32_t, n + 1);
        t->arg = ARENA_ARRAY(a, uint32_t, nargs + 1);
        t->root = ARENA_ARRAY(a, uint32_t, nroot + 1);
        ok = !arena_failed(a);
    }
    if (ok && n) {
        uint32_t at = 0;
        memcpy(t->node, v, sizeof *v * n);
        for (uint32_t i = 0; i < n; i++) {
            t->first[i] = at;
            for (uint32_t k = 0; k < v[i]->n && v[i]->kind != SYMEXPR_LOAD && v[i]->kind != SYMEXPR_PHI;
                 k++)
                t->arg[at++] = find(v, n, v[i]->arg[k]);
        }
        t->first[n] = at;
        for (uint32_t i = 0; i < nroot; i++)
            t->root[i] = find(v, n, root[i]);
        t->n = n;
        t->nroot = nroot;
    }
    base_free(v);
    return ok;
}

/* symexpr_wrap without a call. */
static inline int64_t wrapped(int64_t v, unsigned bits)
{
    unsigned shift = 64 - bits;
    return bits >= 64 ? v : (int64_t)((uint64_t)v << shift) >> shift;
}
static void eval_sum(const struct symexpr *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out,
                     int n)
{
    for (int l = 0; l < n; l++)
        out[l] = x->c;
    for (uint32_t k = 0; k < x->n; k++)
        for (int l = 0; l < n; l++)
            out[l] = (int64_t)((uint64_t)out[l] + (uint64_t)x->coef[k] * (uint64_t)value[arg[k]][l]);
    for (int l = 0; l < n; l++)
        out[l] = wrapped(out[l], x->bits);
}
static void eval_op(const struct symexpr *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out,
                    int n)
{
    const int64_t *a = value[arg[0]], *b = x->n > 1 ? value[arg[1]] : a,
                  *c = x->n > 2 ? value[arg[2]] : a;
    if (x->op == AXO_SELECT) {
        for (int l = 0; l < n; l++)
            out[l] = a[l] ? b[l] : c[l];
        return;
    }
    if (x->op == AXO_BNOT) {
        for (int l = 0; l < n; l++)
            out[l] = !a[l];
        return;
    }
    if (x->op == AXO_BAND || x->op == AXO_BOR) {
        for (int l = 0; l < n; l++) {
            out[l] = x->op == AXO_BAND;
            for (uint32_t k = 0; k < x->n; k++)
                out[l] = x->op == AXO_BAND ? out[l] & value[arg[k]][l] : out[l] | value[arg[k]][l];
        }
        return;
    }
    for (int l = 0; l < n; l++)
        out[l] = symexpr_eval2((enum symexpr_op)x->op, a[l], b[l], x->arg[0]->bits);
}
static void eval_node(const struct symexpr *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out,
                      int n)
{
    const int64_t *a = x->n ? value[arg[0]] : NULL;
    switch (x->kind) {
    case SYMEXPR_SUM: eval_sum(x, arg, value, out, n); break;
    case SYMEXPR_PROD:
        for (int l = 0; l < n; l++) {
            uint64_t r = 1;
            for (uint32_t k = 0; k < x->n; k++)
                r *= (uint64_t)value[arg[k]][l];
            out[l] = wrapped((int64_t)r, x->bits);
        }
        break;
    case SYMEXPR_SEXT: memcpy(out, a, (size_t)n * sizeof *out); break;
    case SYMEXPR_ZEXT: {
        unsigned b = x->arg[0]->bits;
        for (int l = 0; l < n; l++)
            out[l] = (int64_t)((uint64_t)a[l] & (b >= 64 ? UINT64_MAX : (UINT64_C(1) << b) - 1));
        break;
    }
    case SYMEXPR_TRUNC:
        for (int l = 0; l < n; l++)
            out[l] = x->bits == 1 ? a[l] & 1 : wrapped(a[l], x->bits);
        break;
    default: eval_op(x, arg, value, out, n); break;
    }
}
/* Node i; a value that lanes do not change is computed once. */
static void run_node(const struct symexpr_tape *t, uint32_t i, bool lanes, symexpr_leaf_fn leaf,
                     void *ctx, int64_t (*value)[32], bool *valid)
{
    const struct symexpr *x = t->node[i];
    bool is_leaf =
        x->kind == SYMEXPR_LOAD || x->kind == SYMEXPR_PHI || (x->n == 0 && x->kind != SYMEXPR_SUM);
    valid[i] = true;
    if (is_leaf) {
        valid[i] = leaf(ctx, x, value[i]);
        if (!valid[i])
            memset(value[i], 0, sizeof value[i]);
        return;
    }
    for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++)
        valid[i] = valid[i] && valid[t->arg[k]];
    eval_node(x, t->arg + t->first[i], value, value[i], lanes ? 32 : 1);
    for (int l = 1; !lanes && l < 32; l++)
        value[i][l] = value[i][0];
}
void symexpr_tape_run(const struct symexpr_tape *t, symexpr_leaf_fn leaf, void *ctx,
                      int64_t (*value)[32], bool *valid)
{
    for (uint32_t i = 0; i < t->n; i++)
        run_node(t, i, true, leaf, ctx, value, valid);
}
void symexpr_tape_again(const struct symexpr_tape *t, const uint8_t *vary, bool first,
                        symexpr_leaf_fn leaf, void *ctx, int64_t (*value)[32], bool *valid)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (first || (vary[i] & SYMEXPR_BY_POINT))
            run_node(t, i, vary[i] & SYMEXPR_BY_LANE, leaf, ctx, value, valid);
}
void symexpr_tape_vary(const struct symexpr_tape *t, uint8_t (*leaf)(const struct symexpr *x),
                       uint8_t *vary)
{
    for (uint32_t i = 0; i < t->n; i++) {
        vary[i] = t->first[i + 1] == t->first[i] ? leaf(t->node[i]) : 0;
        for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++)
            vary[i] |= vary[t->arg[k]];
    }
}
