/* Memory of slices: initial data read in place, private copies of what is written. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/env.h"

#include <string.h>

static bool make_private(struct slice_copy *c, const struct env_region *r)
{
    if (r->of)
        return (c->view = launch_view_new(r->of)) != NULL;
    if ((c->bytes = base_alloc(r->size)))
        memcpy(c->bytes, r->bytes, r->size);
    return c->bytes != NULL;
}

struct part_bytes slice_bytes_at(void *slice, uint64_t addr, unsigned n, bool writes)
{
    struct slice *s = slice;
    const struct env_region *r = env_find(s->v, addr);
    uint64_t off = r ? addr - r->base : 0;
    if (!r || r->size - off < n)
        return (struct part_bytes){ .n = 0 };
    struct slice_copy *c = &s->copy[r - s->v->region];
    bool moved = writes && !c->view && !c->bytes && !s->v->effects;
    if (moved && !make_private(c, r)) {
        s->status = ST_NOMEM;
        return (struct part_bytes){ .n = 0 };
    }
    const uint8_t *whole = c->view ? launch_view_whole(c->view) : c->bytes ? c->bytes : env_whole(r);
    const uint8_t *p = whole ? whole : c->view ? launch_view_at(c->view, off, n) : env_bytes(r, off, n);
    if (!p)
        s->status = ST_NOMEM;
    return (struct part_bytes){ .addr = whole ? r->base : addr,
                                .n = !p      ? 0
                                     : whole ? r->size
                                             : n,
                                .host = (uint8_t *)(uintptr_t)p,
                                .stays = whole != NULL,
                                .moved = moved };
}
