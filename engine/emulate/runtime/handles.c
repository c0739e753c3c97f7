/* Handles that there are: a set of addresses, each of one kind. */
#include "engine/emulate/runtime/context.h"

#include <stdlib.h>

struct entry {
    uintptr_t p; /* 0: free */
    enum handle_kind kind;
};
static struct {
    struct entry *v;
    size_t n, cap; /* cap: a power of two, at least twice n */
} H;

static size_t slot_of(uintptr_t p)
{
    return (size_t)((uint64_t)p * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (H.cap - 1);
}

/* Where p is, or the free place where it would be. */
static size_t find(uintptr_t p)
{
    size_t i = slot_of(p);
    while (H.v[i].p && H.v[i].p != p)
        i = (i + 1) & (H.cap - 1);
    return i;
}

static bool grow(void)
{
    struct entry *old = H.v;
    size_t n = H.cap, cap = n ? 2 * n : 256;
    struct entry *v = calloc(cap, sizeof *v);
    if (!v)
        return false;
    H.v = v;
    H.cap = cap;
    for (size_t i = 0; i < n; i++)
        if (old[i].p)
            H.v[find(old[i].p)] = old[i];
    free(old);
    return true;
}

bool handle_add(const void *p, enum handle_kind kind)
{
    if (2 * (H.n + 1) > H.cap && !grow())
        return false;
    size_t i = find((uintptr_t)p);
    H.n += !H.v[i].p;
    H.v[i] = (struct entry){ (uintptr_t)p, kind };
    return true;
}

bool handle_is(const void *p, enum handle_kind kind)
{
    if (!p || !H.cap)
        return false;
    const struct entry *e = &H.v[find((uintptr_t)p)];
    return e->p && e->kind == kind;
}

/* Those behind it that would not be found any more move up. */
void handle_drop(const void *p)
{
    if (!p || !H.cap)
        return;
    size_t i = find((uintptr_t)p), k = i;
    if (!H.v[i].p)
        return;
    for (;;) {
        k = (k + 1) & (H.cap - 1);
        if (!H.v[k].p)
            break;
        size_t home = slot_of(H.v[k].p);
        bool between = i <= k ? i < home && home <= k : i < home || home <= k;
        if (!between) {
            H.v[i] = H.v[k];
            i = k;
        }
    }
    H.v[i].p = 0;
    H.n--;
}
