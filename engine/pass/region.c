#include "engine/pass/region.h"

#include "engine/base/base.h"
#include "engine/ptx/flow/cfg.h"

#include <string.h>

bool pass_region_make(struct pass_region *r, const struct ptx_cfg *g)
{
    *r = (struct pass_region){ .g = g };
    r->list = base_alloc(sizeof *r->list * ((size_t)g->nblocks + 1));
    r->stamp = base_alloc(sizeof *r->stamp * ((size_t)g->nblocks + 1));
    if (r->list && r->stamp)
        return true;
    pass_region_free(r);
    return false;
}

void pass_region_free(struct pass_region *r)
{
    base_free(r->list);
    base_free(r->stamp);
    *r = (struct pass_region){ 0 };
}

bool pass_region_has(const struct pass_region *r, uint32_t block)
{
    return r->now && r->stamp[block] == r->now;
}

static void follow(struct pass_region *r, uint32_t from, uint32_t end)
{
    const struct ptx_block *k = &r->g->blocks[from];
    for (uint32_t s = 0; s < k->nsucc; s++) {
        uint32_t to = k->succ[s];
        if (to == end || to >= r->g->nblocks || r->stamp[to] == r->now)
            continue;
        r->stamp[to] = r->now;
        r->list[r->n++] = to;
    }
}

/* The list is its own queue. */
void pass_region_take(struct pass_region *r, uint32_t b)
{
    if (!++r->now) {
        memset(r->stamp, 0, sizeof *r->stamp * r->g->nblocks);
        r->now = 1;
    }
    r->n = 0;
    follow(r, b, r->g->blocks[b].ipdom);
    for (uint32_t k = 0; k < r->n; k++)
        follow(r, r->list[k], r->g->blocks[b].ipdom);
}
