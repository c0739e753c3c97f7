#include "engine/ptx/facts/solve.h"

#include <string.h>

static uint32_t words_of(const struct ptx_solver *s)
{
    return s->nodes / 64 + 1;
}

bool ptx_solver_make(struct ptx_solver *s, uint32_t nodes, enum ptx_way way)
{
    *s = (struct ptx_solver){ .nodes = nodes, .way = way };
    s->todo = base_alloc(words_of(s) * sizeof *s->todo);
    return s->todo != NULL;
}

void ptx_solver_free(struct ptx_solver *s)
{
    base_free(s->todo);
    *s = (struct ptx_solver){ 0 };
}

void ptx_ask(struct ptx_solver *s, uint32_t node)
{
    uint64_t bit = UINT64_C(1) << (node & 63);
    if (s->todo[node >> 6] & bit)
        return;
    s->at = s->left ? s->at : node;
    s->todo[node >> 6] |= bit;
    s->left++;
}

void ptx_ask_each(struct ptx_solver *s, const uint32_t *nodes, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        ptx_ask(s, nodes[k]);
}

void ptx_ask_all(struct ptx_solver *s)
{
    s->all = true;
}

static void begin_all(struct ptx_solver *s)
{
    s->all = false;
    memset(s->todo, 0xff, words_of(s) * sizeof *s->todo);
    s->todo[s->nodes >> 6] = (UINT64_C(1) << (s->nodes & 63)) - 1;
    s->left = s->nodes;
    s->at = s->way == PTX_FORWARD ? 0 : s->nodes - 1;
}

/* The next node that is asked for, from the last one on and round the end. There is one. */
static uint32_t next_node(const struct ptx_solver *s)
{
    uint32_t w = s->at >> 6, n = words_of(s);
    if (s->way == PTX_FORWARD) {
        uint64_t bits = s->todo[w] & (UINT64_MAX << (s->at & 63));
        while (!bits)
            bits = s->todo[w = w + 1 == n ? 0 : w + 1];
        return w * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    uint64_t bits = s->todo[w] & (UINT64_MAX >> (63 - (s->at & 63)));
    while (!bits)
        bits = s->todo[w = w ? w - 1 : n - 1];
    return w * 64 + 63 - (uint32_t)__builtin_clzll(bits);
}

void ptx_solver_run(struct ptx_solver *s, ptx_step *step, void *ctx)
{
    while (s->left || s->all) {
        if (!s->left)
            begin_all(s);
        if (!s->left)
            return;
        s->at = next_node(s);
        s->todo[s->at >> 6] &= ~(UINT64_C(1) << (s->at & 63));
        s->left--;
        step(ctx, s, s->at);
    }
}

bool ptx_solve(uint32_t nodes, enum ptx_way way, ptx_step *step, void *ctx)
{
    struct ptx_solver s;
    if (!ptx_solver_make(&s, nodes, way))
        return false;
    ptx_ask_all(&s);
    ptx_solver_run(&s, step, ctx);
    ptx_solver_free(&s);
    return true;
}
