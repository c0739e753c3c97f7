/* shared_ref: what the engine thread and its snapshots share, by reference counts. */
#pragma once

#include "engine/base/base.h"

/* A shared, immutable thing: freed when the last holder lets go. */
struct shared_ref {
    atomic_int refs;
    void *p;
    void (*destroy)(void *p);
};
/* takes p over, also on failure */
struct shared_ref *shared_ref_new(void *p, void (*destroy)(void *p));
struct shared_ref *shared_ref_ref(struct shared_ref *b);
void shared_ref_unref(struct shared_ref *b);
/* replaces what the slot holds */
void shared_ref_put(struct shared_ref **slot, struct shared_ref *b);
