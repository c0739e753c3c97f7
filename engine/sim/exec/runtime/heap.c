/* malloc and free of device code: blocks of one allocation of HEAP_BYTES, first fit, 16-byte aligned.
 * What is where is kept beside the heap, not in it, so a kernel that writes past its block spoils other
 * blocks but not the bookkeeping. The heap is empty when a launch starts (a GPU's lives on between
 * launches); launches that use it run their CTAs in order, so the addresses are the same every time. */
#include "engine/sim/exec/cluster.h"
#include "engine/base/list.h"
#include "engine/sim/exec/runtime/builtin.h"

#include <string.h>

#define HEAP_ALIGN 16u

/* blocks in use, by offset */
struct exec_heap {
    struct exec_block {
        uint64_t at, n;
    } * v;
    size_t n, cap;
};

void exec_heap_free(struct exec_launch *x)
{
    if (x->heap)
        base_free(x->heap->v);
    base_free(x->heap);
    x->heap = NULL;
}

/* Index of the first block at or above `at`. */
static size_t block_from(const struct exec_heap *h, uint64_t at)
{
    size_t k;
    BISECT(k, h->n, h->v[k].at < at);
    return k;
}

/* Where n bytes fit: before block *i; UINT64_MAX: nowhere. */
static uint64_t find_gap(const struct exec_heap *h, uint64_t n, size_t *i)
{
    uint64_t at = 0;
    for (*i = 0; *i < h->n; ++*i) {
        if (h->v[*i].at - at >= n)
            return at;
        at = h->v[*i].at + h->v[*i].n;
    }
    return n <= EXEC_HEAP_BYTES - at ? at : UINT64_MAX;
}

uint64_t exec_heap_take(struct exec_warp *w, uint64_t bytes)
{
    struct exec_launch *x = w->x;
    if (!x->heap && !(x->heap = base_alloc(sizeof *x->heap)))
        return 0;
    struct exec_heap *h = x->heap;
    if (!bytes || bytes > EXEC_HEAP_BYTES)
        return 0;
    size_t i;
    uint64_t n = (bytes + HEAP_ALIGN - 1) / HEAP_ALIGN * HEAP_ALIGN, at = find_gap(h, n, &i);
    if (at == UINT64_MAX || !base_grow((void **)&h->v, h->n, &h->cap, sizeof *h->v))
        return 0;
    memmove(&h->v[i + 1], &h->v[i], (h->n - i) * sizeof *h->v);
    h->v[i] = (struct exec_block){ at, n };
    h->n++;
    exec_check_fresh(x, x->p->heap + at, n);
    return x->p->heap + at;
}

bool exec_heap_give(struct exec_warp *w, uint64_t addr)
{
    struct exec_heap *h = w->x->heap;
    if (!addr)
        return true;
    size_t i = h ? block_from(h, addr - w->x->p->heap) : 0;
    if (!h || i == h->n || h->v[i].at != addr - w->x->p->heap)
        return false;
    memmove(&h->v[i], &h->v[i + 1], (h->n - i - 1) * sizeof *h->v);
    h->n--;
    return true;
}
