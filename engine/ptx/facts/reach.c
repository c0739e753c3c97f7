#include "engine/ptx/facts/reach.h"

#include "engine/ptx/flow/cfg.h"

#include <string.h>

struct reach {
    const struct ptx_cfg *g;
    bool *in;
};

static void reach_step(void *ctx, struct ptx_solver *s, uint32_t b)
{
    const struct reach *r = ctx;
    const struct ptx_block *k = &r->g->blocks[b];
    const uint32_t *to = s->way == PTX_FORWARD ? k->succ : k->pred;
    uint32_t n = s->way == PTX_FORWARD ? k->nsucc : k->npred;
    for (uint32_t e = 0; e < n; e++)
        if (!r->in[to[e]]) {
            r->in[to[e]] = true;
            ptx_ask(s, to[e]);
        }
}

bool ptx_reach(const struct ptx_cfg *g, enum ptx_way way, bool *in)
{
    struct reach r = { g, in };
    struct ptx_solver s;
    if (!ptx_solver_make(&s, g->nblocks, way))
        return false;
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (in[b])
            ptx_ask(&s, b);
    ptx_solver_run(&s, reach_step, &r);
    ptx_solver_free(&s);
    return true;
}

bool ptx_region_make(struct ptx_region *r, const struct ptx_cfg *g)
{
    *r = (struct ptx_region){ .g = g };
    r->list = base_alloc(sizeof *r->list * ((size_t)g->nblocks + 1));
    r->stamp = base_alloc(sizeof *r->stamp * ((size_t)g->nblocks + 1));
    r->seen = base_alloc((size_t)g->nblocks + 1);
    if (ptx_solver_make(&r->solver, g->nblocks, PTX_FORWARD) && r->list && r->stamp && r->seen)
        return true;
    ptx_region_free(r);
    return false;
}

void ptx_region_free(struct ptx_region *r)
{
    BASE_FREE(r->list, r->stamp, r->seen);
    ptx_solver_free(&r->solver);
    *r = (struct ptx_region){ 0 };
}

bool ptx_region_has(const struct ptx_region *r, uint32_t block)
{
    return r->now && r->stamp[block] == r->now;
}

static void region_step(void *ctx, struct ptx_solver *s, uint32_t b)
{
    struct ptx_region *r = ctx;
    const struct ptx_block *k = &r->g->blocks[b];
    for (uint32_t e = 0; e < k->nsucc; e++) {
        uint32_t to = k->succ[e];
        if (to == r->end || r->stamp[to] == r->now)
            continue;
        r->stamp[to] = r->now;
        r->list[r->n++] = to;
        ptx_ask(s, to);
    }
}

void ptx_region_take(struct ptx_region *r, uint32_t b)
{
    if (!++r->now) {
        memset(r->stamp, 0, sizeof *r->stamp * r->g->nblocks);
        r->now = 1;
    }
    r->n = 0;
    r->end = r->g->blocks[b].ipdom;
    ptx_ask(&r->solver, b);
    ptx_solver_run(&r->solver, region_step, r);
}

static void within_step(void *ctx, struct ptx_solver *s, uint32_t b)
{
    struct ptx_region *r = ctx;
    const struct ptx_block *k = &r->g->blocks[b];
    for (uint32_t e = 0; e < k->nsucc; e++)
        if (ptx_region_has(r, k->succ[e]) && !r->seen[k->succ[e]]) {
            r->seen[k->succ[e]] = true;
            ptx_ask(s, k->succ[e]);
        }
}

bool ptx_region_reaches(struct ptx_region *r, uint32_t from, uint32_t to)
{
    if (!ptx_region_has(r, from) || !ptx_region_has(r, to))
        return false;
    for (uint32_t i = 0; i < r->n; i++)
        r->seen[r->list[i]] = false;
    r->seen[from] = true;
    ptx_ask(&r->solver, from);
    ptx_solver_run(&r->solver, within_step, r);
    return r->seen[to];
}
