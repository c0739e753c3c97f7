/* Dominators and post-dominators: Lengauer and Tarjan, "A Fast Algorithm for Finding
 * Dominators in a Flowgraph" (1979), the version with path compression, O(m log n) whatever
 * the graph. Post-dominators are the same on the reversed graph with a virtual exit. */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/flow/cfg_int.h"
#include "engine/ptx/ptx.h"

#include <string.h>

static const uint32_t *next_of(const struct ptx_cfg *c, const struct cfg_exits *x, uint32_t b,
                               uint32_t *n)
{
    if (x && b == c->nblocks) {
        *n = x->n;
        return x->v;
    }
    *n = x ? c->blocks[b].npred : c->blocks[b].nsucc;
    return x ? c->blocks[b].pred : c->blocks[b].succ;
}

uint32_t cfg_post_order(const struct ptx_cfg *c, const struct cfg_exits *x, uint32_t root,
                        uint32_t *order, uint32_t *work)
{
    uint32_t *stack = work, *pos = work + c->nblocks + 1, *seen = pos + c->nblocks + 1, depth = 1, n = 0;
    memset(seen, 0, (c->nblocks + 1) * sizeof *seen);
    stack[0] = root;
    pos[0] = 0;
    seen[root] = 1;
    while (depth) {
        uint32_t count;
        const uint32_t *next = next_of(c, x, stack[depth - 1], &count);
        if (pos[depth - 1] == count) {
            order[n++] = stack[--depth];
            continue;
        }
        uint32_t to = next[pos[depth - 1]++];
        if (!seen[to]) {
            seen[to] = 1;
            stack[depth] = to;
            pos[depth++] = 0;
        }
    }
    return n;
}

/* All arrays but `number` are by depth-first number; 0 is the root. */
struct tree {
    const struct ptx_cfg *c;
    const struct cfg_exits *x; /* NULL: dominators */
    uint32_t n;
    uint32_t *number, *block, *parent, *semi, *label, *ancestor, *idom, *bucket, *chain, *stack, *pos;
};
#define TREE_ARRAYS 11u

static void number_tree(struct tree *t, uint32_t root)
{
    uint32_t depth = 1;
    memset(t->number, 0xff, (t->c->nblocks + 1) * sizeof *t->number);
    t->number[root] = 0;
    t->block[0] = root;
    t->n = 1;
    t->stack[0] = 0;
    t->pos[0] = 0;
    while (depth) {
        uint32_t v = t->stack[depth - 1], count;
        const uint32_t *next = next_of(t->c, t->x, t->block[v], &count);
        if (t->pos[depth - 1] == count) {
            depth--;
            continue;
        }
        uint32_t to = next[t->pos[depth - 1]++];
        if (t->number[to] != PTX_NO_INDEX)
            continue;
        t->number[to] = t->n;
        t->block[t->n] = to;
        t->parent[t->n] = v;
        t->stack[depth] = t->n++;
        t->pos[depth++] = 0;
    }
    for (uint32_t v = 0; v < t->n; v++) {
        t->semi[v] = t->label[v] = v;
        t->ancestor[v] = t->bucket[v] = PTX_NO_INDEX;
    }
}

/* The vertex of least semidominator on the way up the forest; the way is compressed. */
static uint32_t evaluate(struct tree *t, uint32_t v)
{
    uint32_t depth = 0;
    if (t->ancestor[v] == PTX_NO_INDEX)
        return v;
    for (uint32_t u = v; t->ancestor[t->ancestor[u]] != PTX_NO_INDEX; u = t->ancestor[u])
        t->stack[depth++] = u;
    while (depth) {
        uint32_t u = t->stack[--depth], a = t->ancestor[u];
        if (t->semi[t->label[a]] < t->semi[t->label[u]])
            t->label[u] = t->label[a];
        t->ancestor[u] = t->ancestor[a];
    }
    return t->label[v];
}

static void lower_semi(struct tree *t, uint32_t w, uint32_t from_block)
{
    uint32_t v = t->number[from_block];
    if (v == PTX_NO_INDEX)
        return;
    uint32_t u = evaluate(t, v);
    if (t->semi[u] < t->semi[w])
        t->semi[w] = t->semi[u];
}

static void each_incoming(struct tree *t, uint32_t w)
{
    const struct ptx_block *b = &t->c->blocks[t->block[w]];
    const uint32_t *in = t->x ? b->succ : b->pred;
    uint32_t n = t->x ? b->nsucc : b->npred;
    for (uint32_t k = 0; k < n; k++)
        lower_semi(t, w, in[k]);
    if (t->x && t->x->is[t->block[w]])
        lower_semi(t, w, t->c->nblocks);
}

static void lengauer_tarjan(struct tree *t)
{
    for (uint32_t w = t->n; w-- > 1;) {
        each_incoming(t, w);
        t->chain[w] = t->bucket[t->semi[w]];
        t->bucket[t->semi[w]] = w;
        uint32_t p = t->parent[w];
        t->ancestor[w] = p;
        for (uint32_t v = t->bucket[p]; v != PTX_NO_INDEX; v = t->chain[v]) {
            uint32_t u = evaluate(t, v);
            t->idom[v] = t->semi[u] < t->semi[v] ? u : p;
        }
        t->bucket[p] = PTX_NO_INDEX;
    }
    for (uint32_t w = 1; w < t->n; w++)
        if (t->idom[w] != t->semi[w])
            t->idom[w] = t->idom[t->idom[w]];
}

/* Blocks that leave the function. A loop that never ends gets its last block as an exit, so
 * that every block has a post-dominator. */
static void find_exits(const struct ptx_cfg *c, struct cfg_exits *x, uint32_t *order, uint32_t *work)
{
    for (uint32_t b = 0; b < c->nblocks; b++) {
        const struct ptx_block *bl = &c->blocks[b];
        const struct ptx_inst *last = &c->func->insts[bl->first + bl->n - 1];
        x->is[b] = !bl->nsucc || ptx_op_info(last->op)->effect == EFFECT_EXIT ||
                   bl->first + bl->n == c->func->ninsts;
        if (x->is[b])
            x->v[x->n++] = b;
    }
    if (cfg_post_order(c, x, c->nblocks, order, work) == c->nblocks + 1)
        return;
    uint32_t *seen = work + 2 * (c->nblocks + 1), *stack = work;
    for (uint32_t i = c->nblocks; i-- > 0;) {
        if (seen[i])
            continue;
        x->is[i] = true;
        x->v[x->n++] = i;
        seen[i] = 1;
        stack[0] = i;
        for (uint32_t top = 1; top;) {
            const struct ptx_block *bl = &c->blocks[stack[--top]];
            for (uint32_t k = 0; k < bl->npred; k++)
                if (!seen[bl->pred[k]]) {
                    seen[bl->pred[k]] = 1;
                    stack[top++] = bl->pred[k];
                }
        }
    }
}

/* Pre-order intervals of the dominator tree: sizes from the leaves up, places from the root down. */
static bool make_intervals(struct ptx_cfg *c, uint32_t *next)
{
    c->dom_first = ARENA_ARRAY(c->arena, uint32_t, c->nblocks + 1);
    c->dom_size = ARENA_ARRAY(c->arena, uint32_t, c->nblocks + 1);
    if (!c->dom_first || !c->dom_size)
        return false;
    for (uint32_t i = c->nrpo; i-- > 0;) {
        uint32_t b = c->rpo[i];
        c->dom_size[b]++;
        if (c->blocks[b].idom != PTX_NO_INDEX)
            c->dom_size[c->blocks[b].idom] += c->dom_size[b];
    }
    for (uint32_t i = 0; i < c->nrpo; i++) {
        uint32_t b = c->rpo[i], up = c->blocks[b].idom;
        c->dom_first[b] = up == PTX_NO_INDEX ? 0 : next[up];
        if (up != PTX_NO_INDEX)
            next[up] += c->dom_size[b];
        next[b] = c->dom_first[b] + 1;
    }
    return true;
}

static void run(struct tree *t, uint32_t root, struct ptx_cfg *c)
{
    number_tree(t, root);
    lengauer_tarjan(t);
    for (uint32_t w = 1; w < t->n; w++) {
        uint32_t up = t->block[t->idom[w]];
        if (t->x)
            c->blocks[t->block[w]].ipdom = up == c->nblocks ? PTX_NO_INDEX : up;
        else
            c->blocks[t->block[w]].idom = up;
    }
}

bool cfg_make_dominators(struct ptx_cfg *c, uint32_t *work)
{
    size_t n = (size_t)c->nblocks + 1;
    uint32_t *mem = base_alloc((TREE_ARRAYS + 2) * n * sizeof *mem);
    struct cfg_exits x = { .v = mem ? mem + TREE_ARRAYS * n : NULL, .is = base_alloc(n) };
    bool ok = mem && x.is;
    if (ok && c->nblocks) {
        struct tree t = { .c = c,
                          .number = mem,
                          .block = mem + n,
                          .parent = mem + 2 * n,
                          .semi = mem + 3 * n,
                          .label = mem + 4 * n,
                          .ancestor = mem + 5 * n,
                          .idom = mem + 6 * n,
                          .bucket = mem + 7 * n,
                          .chain = mem + 8 * n,
                          .stack = mem + 9 * n,
                          .pos = mem + 10 * n };
        run(&t, 0, c);
        find_exits(c, &x, mem + (TREE_ARRAYS + 1) * n, work);
        t.x = &x;
        run(&t, c->nblocks, c);
        ok = make_intervals(c, work);
    }
    BASE_FREE(mem, x.is);
    return ok;
}

bool ptx_dominates(const struct ptx_cfg *c, uint32_t a, uint32_t b)
{
    if (a >= c->nblocks || b >= c->nblocks || !c->blocks[a].reachable || !c->blocks[b].reachable)
        return false;
    return c->dom_first[b] - c->dom_first[a] < c->dom_size[a];
}
