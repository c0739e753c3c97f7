/* What the engine thread and its snapshots share, by reference counts. */
#include "engine/cmd/job_int.h"

struct box *box_new(void *p, void (*destroy)(void *p))
{
    struct box *b = base_alloc(sizeof *b);
    if (!b) {
        destroy(p);
        return NULL;
    }
    atomic_init(&b->refs, 1);
    b->p = p;
    b->destroy = destroy;
    return b;
}

struct box *box_ref(struct box *b)
{
    if (b)
        atomic_fetch_add(&b->refs, 1);
    return b;
}

void box_unref(struct box *b)
{
    if (b && atomic_fetch_sub(&b->refs, 1) == 1) {
        b->destroy(b->p);
        base_free(b);
    }
}

void box_put(struct box **slot, struct box *b)
{
    box_unref(*slot);
    *slot = b;
}
