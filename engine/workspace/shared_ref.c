/* shared_ref: see shared_ref.h. */
#include "engine/workspace/shared_ref.h"

struct shared_ref *shared_ref_new(void *p, void (*destroy)(void *p))
{
    struct shared_ref *b = base_alloc(sizeof *b);
    if (!b) {
        destroy(p);
        return NULL;
    }
    atomic_init(&b->refs, 1);
    b->p = p;
    b->destroy = destroy;
    return b;
}

struct shared_ref *shared_ref_ref(struct shared_ref *b)
{
    if (b)
        atomic_fetch_add(&b->refs, 1);
    return b;
}

void shared_ref_unref(struct shared_ref *b)
{
    if (b && atomic_fetch_sub(&b->refs, 1) == 1) {
        b->destroy(b->p);
        base_free(b);
    }
}

void shared_ref_put(struct shared_ref **slot, struct shared_ref *b)
{
    shared_ref_unref(*slot);
    *slot = b;
}
