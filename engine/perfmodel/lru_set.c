/* The so many things that were touched last, of things known by their numbers: an LRU cache as a list,
 * newest first.
 *
 * A thing is in it exactly if fewer than `most` others were touched since it was: what a stack distance
 * (reuse.c) says where only one size is asked for, at a list's cost. */
#include "engine/perfmodel/lru_set.h"

struct model_recent {
    uint32_t *newer, *older; /* of each thing, from 1; 0: the end; [0]: the oldest, the newest */
    bool *in;
    uint64_t n, most;
};

struct model_recent *model_recent_new(uint32_t things, uint64_t most)
{
    struct model_recent *r = base_alloc(sizeof *r);
    if (!r)
        return NULL;
    r->most = most;
    r->newer = base_alloc(((size_t)things + 1) * sizeof *r->newer);
    r->older = base_alloc(((size_t)things + 1) * sizeof *r->older);
    r->in = base_alloc((size_t)things + 1);
    if (r->newer && r->older && r->in)
        return r;
    model_recent_free(r);
    return NULL;
}

void model_recent_free(struct model_recent *r)
{
    if (r) {
        BASE_FREE(r->newer, r->older, r->in);
    }
    base_free(r);
}

static void leave(struct model_recent *r, uint32_t v)
{
    /* [0] stands at both ends, so that neither is special */
    r->older[r->newer[v]] = r->older[v];
    r->newer[r->older[v]] = r->newer[v];
    r->in[v] = false;
    r->n--;
}

bool model_recent_touch(struct model_recent *r, uint32_t thing)
{
    uint32_t v = thing + 1;
    bool was = r->in[v];
    if (was)
        leave(r, v);
    else if (r->n && r->n >= r->most)
        leave(r, r->newer[0]);
    if (r->n >= r->most)
        return was; /* there is room for none */
    r->older[v] = r->older[0];
    r->newer[v] = 0;
    r->newer[r->older[0]] = v;
    r->older[0] = v;
    r->in[v] = true;
    r->n++;
    return was;
}
