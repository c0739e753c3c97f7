/* Tarjan, "Depth-First Search and Linear Graph Algorithms" (1972), without recursion. */
#include "engine/ptx/facts/parts.h"

#include "engine/ptx/ptx.h"

struct tarjan {
    ptx_next *next;
    void *ctx;
    uint32_t *part;
    uint32_t *num, *low, *at; /* by node; num 0: not seen yet */
    uint32_t *walk, depth;    /* the way to the node at hand */
    uint32_t *open, top;      /* nodes seen that belong to no part yet */
    uint32_t count, parts;
};

static void enter(struct tarjan *t, uint32_t node)
{
    t->num[node] = t->low[node] = ++t->count;
    t->walk[t->depth++] = node;
    t->open[t->top++] = node;
}

static void lower(struct tarjan *t, uint32_t node, uint32_t to)
{
    t->low[node] = to < t->low[node] ? to : t->low[node];
}

static void leave(struct tarjan *t)
{
    uint32_t node = t->walk[--t->depth], last = PTX_NO_INDEX;
    if (t->depth)
        lower(t, t->walk[t->depth - 1], t->low[node]);
    if (t->low[node] != t->num[node])
        return;
    while (last != node) {
        last = t->open[--t->top];
        t->part[last] = t->parts;
        t->num[last] = UINT32_MAX; /* of another part from here on */
    }
    t->parts++;
}

static void walk_from(struct tarjan *t, uint32_t root)
{
    enter(t, root);
    while (t->depth) {
        uint32_t node = t->walk[t->depth - 1], to = t->next(t->ctx, node, &t->at[node]);
        if (to == PTX_NO_INDEX)
            leave(t);
        else if (!t->num[to])
            enter(t, to);
        else
            lower(t, node, t->num[to]);
    }
}

bool ptx_parts(uint32_t nodes, ptx_next *next, void *ctx, uint32_t *part, uint32_t *n)
{
    size_t size = (size_t)nodes + 1;
    uint32_t *mem = base_alloc(5 * size * sizeof *mem);
    if (!mem)
        return false;
    struct tarjan t = { .next = next,
                        .ctx = ctx,
                        .part = part,
                        .num = mem,
                        .low = mem + size,
                        .at = mem + 2 * size,
                        .walk = mem + 3 * size,
                        .open = mem + 4 * size };
    for (uint32_t k = 0; k < nodes; k++)
        if (part[k] != PTX_NO_INDEX && !t.num[k])
            walk_from(&t, k);
    *n = t.parts;
    base_free(mem);
    return true;
}
