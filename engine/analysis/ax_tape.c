/* Evaluation of expressions on concrete numbers: the nodes the roots need, in
 * order of creation (arguments come first), 32 lanes per node. */
#include "engine/analysis/ax_int.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b)
{
    const struct ax *x = *(const struct ax *const *)a, *y = *(const struct ax *const *)b;
    return x->id < y->id ? -1 : x->id > y->id;
}
static uint32_t find(const struct ax **v, uint32_t n, const struct ax *x)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t m = (lo + hi) / 2;
        if (v[m]->id < x->id)
            lo = m + 1;
        else
            hi = m;
    }
    return lo;
}
/* Every node below the roots, once; an explicit stack. */
static bool collect(const struct ax *const *root, uint32_t nroot, const struct ax ***out, uint32_t *nout)
{
    const struct ax **v = NULL, **stack = NULL;
    size_t n = 0, cap = 0, sn = 0, scap = 0;
    struct strmap seen = { 0 };
    bool ok = true;
    for (uint32_t i = 0; i < nroot && ok; i++)
        if ((ok = base_grow((void **)&stack, sn, &scap, sizeof *stack)))
            stack[sn++] = root[i];
    while (sn && ok) {
        const struct ax *x = stack[--sn];
        uint32_t dummy;
        struct str key = { (const char *)&x->id, sizeof x->id };
        if (strmap_get(&seen, key, &dummy))
            continue;
        strmap_set(&seen, key, 1);
        ok = !seen.oom && base_grow((void **)&v, n, &cap, sizeof *v);
        if (ok)
            v[n++] = x;
        for (uint32_t k = 0; ok && k < x->n && x->kind != AX_LOAD && x->kind != AX_PHI; k++)
            if ((ok = base_grow((void **)&stack, sn, &scap, sizeof *stack)))
                stack[sn++] = x->arg[k];
    }
    strmap_free(&seen);
    base_free(stack);
    *out = v;
    *nout = (uint32_t)n;
    return ok;
}
bool ax_tape_make(struct arena *a, const struct ax *const *root, uint32_t nroot, struct ax_tape *t)
{
    const struct ax **v = NULL;
    uint32_t n = 0, nargs = 0;
    memset(t, 0, sizeof *t);
    bool ok = collect(root, nroot, &v, &n);
    if (ok && n) {
        qsort(v, n, sizeof *v, by_id);
        for (uint32_t i = 0; i < n; i++)
            nargs += v[i]->n;
        t->node = ARENA_ARRAY(a, const struct ax *, n);
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
            for (uint32_t k = 0; k < v[i]->n && v[i]->kind != AX_LOAD && v[i]->kind != AX_PHI; k++)
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

static void eval_sum(const struct ax *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out)
{
    for (int l = 0; l < 32; l++)
        out[l] = x->c;
    for (uint32_t k = 0; k < x->n; k++)
        for (int l = 0; l < 32; l++)
            out[l] = (int64_t)((uint64_t)out[l] + (uint64_t)x->coef[k] * (uint64_t)value[arg[k]][l]);
    for (int l = 0; l < 32; l++)
        out[l] = ax_wrap(out[l], x->bits);
}
static void eval_op(const struct ax *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out)
{
    const int64_t *a = value[arg[0]], *b = x->n > 1 ? value[arg[1]] : a, *c = x->n > 2 ? value[arg[2]] : a;
    if (x->op == AXO_SELECT) {
        for (int l = 0; l < 32; l++)
            out[l] = a[l] ? b[l] : c[l];
        return;
    }
    if (x->op == AXO_BNOT) {
        for (int l = 0; l < 32; l++)
            out[l] = !a[l];
        return;
    }
    if (x->op == AXO_BAND || x->op == AXO_BOR) {
        for (int l = 0; l < 32; l++) {
            out[l] = x->op == AXO_BAND;
            for (uint32_t k = 0; k < x->n; k++)
                out[l] = x->op == AXO_BAND ? out[l] & value[arg[k]][l] : out[l] | value[arg[k]][l];
        }
        return;
    }
    for (int l = 0; l < 32; l++)
        out[l] = ax_eval2((enum ax_op)x->op, a[l], b[l], x->arg[0]->bits);
}
static void eval_node(const struct ax *x, const uint32_t *arg, int64_t (*value)[32], int64_t *out)
{
    const int64_t *a = x->n ? value[arg[0]] : NULL;
    switch (x->kind) {
    case AX_SUM: eval_sum(x, arg, value, out); break;
    case AX_PROD:
        for (int l = 0; l < 32; l++) {
            uint64_t r = 1;
            for (uint32_t k = 0; k < x->n; k++)
                r *= (uint64_t)value[arg[k]][l];
            out[l] = ax_wrap((int64_t)r, x->bits);
        }
        break;
    case AX_SEXT:
        memcpy(out, a, 32 * sizeof *out);
        break;
    case AX_ZEXT: {
        unsigned b = x->arg[0]->bits;
        for (int l = 0; l < 32; l++)
            out[l] = (int64_t)((uint64_t)a[l] & (b >= 64 ? UINT64_MAX : (UINT64_C(1) << b) - 1));
        break;
    }
    case AX_TRUNC:
        for (int l = 0; l < 32; l++)
            out[l] = x->bits == 1 ? a[l] & 1 : ax_wrap(a[l], x->bits);
        break;
    default: eval_op(x, arg, value, out); break;
    }
}
void ax_tape_run(const struct ax_tape *t, ax_leaf_fn leaf, void *ctx, int64_t (*value)[32], bool *valid)
{
    for (uint32_t i = 0; i < t->n; i++) {
        const struct ax *x = t->node[i];
        bool is_leaf = x->kind == AX_LOAD || x->kind == AX_PHI || (x->n == 0 && x->kind != AX_SUM);
        valid[i] = true;
        if (is_leaf) {
            valid[i] = leaf(ctx, x, value[i]);
            if (!valid[i])
                memset(value[i], 0, sizeof value[i]);
            continue;
        }
        for (uint32_t k = t->first[i]; k < t->first[i + 1]; k++)
            valid[i] = valid[i] && valid[t->arg[k]];
        eval_node(x, t->arg + t->first[i], value, value[i]);
    }
}
