/* Addresses and memory apart: addresses are reserved, memory is made without one, and mapped where the
 * program wants it, at several places if it likes. Memory lies in the file as all other does; what is mapped
 * is a block at its addresses. Reads and writes are not told apart. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>

struct physical {
    uint64_t at, n; /* bytes of the file */
    size_t held;    /* by the program: made, retained */
    size_t mapped;  /* how often */
    bool used;      /* the device had it: it may have bytes */
};
static bool in_steps(uint64_t n)
{
    return n && n % VIRTUAL_STEP == 0;
}

/* The mappings of a range, whole ones without a gap: *from to *to. False: it is not made of such. */
static bool whole(uint64_t addr, size_t n, size_t *from, size_t *to)
{
    size_t i = *from = mapped_above(addr);
    uint64_t at = addr, end;
    if (!n || __builtin_add_overflow(addr, n, &end))
        return false;
    for (; i < mapped_count() && mapped(i)->b.addr == at && at < end; i++)
        at += mapped(i)->b.n;
    *to = i;
    return at == end;
}

/* What is mapped in the range is whole. */
static bool covers(uint64_t addr, size_t n, size_t *from, size_t *to)
{
    size_t i = *from = mapped_above(addr);
    uint64_t end;
    if (__builtin_add_overflow(addr, n, &end))
        return false;
    for (; i < mapped_count() && mapped(i)->b.addr < end; i++)
        if (mapped(i)->b.addr < addr || mapped(i)->b.addr + mapped(i)->b.n > end)
            return false;
    *to = i;
    return true;
}

/* Nothing is mapped in the range. */
static bool is_free(uint64_t addr, size_t n)
{
    size_t i = mapped_above(addr);
    return i == mapped_count() || mapped(i)->b.addr >= addr + n;
}

/* ---- addresses ---- */
cudaError_t virtual_reserve(size_t n, size_t align, uint64_t *addr)
{
    uint64_t at;
    if (!in_steps(n) || (align & (align - 1)))
        return cudaErrorInvalidValue;
    if (!region_place(n, align > VIRTUAL_STEP ? align : VIRTUAL_STEP, BLOCK_RESERVED, &at))
        return cudaErrorMemoryAllocation;
    *addr = region_address(at);
    return cudaSuccess;
}

cudaError_t virtual_free(uint64_t addr, size_t n)
{
    const struct block *b = region_reserved(addr);
    if (!b || b->addr != addr || b->n != n || !is_free(addr, n))
        return cudaErrorInvalidValue;
    region_leave(b->at);
    return cudaSuccess;
}

/* ---- memory ---- */
cudaError_t virtual_create(size_t n, struct physical **out)
{
    if (!in_steps(n))
        return cudaErrorInvalidValue;
    struct physical *h = calloc(1, sizeof *h);
    if (!h || !region_place(n, VIRTUAL_STEP, BLOCK_PHYSICAL, &h->at)) {
        free(h);
        return cudaErrorMemoryAllocation;
    }
    if (!handle_add(h, HANDLE_PHYSICAL)) {
        region_leave(h->at);
        free(h);
        return cudaErrorMemoryAllocation;
    }
    h->n = n;
    h->held = 1;
    *out = h;
    return cudaSuccess;
}

static void physical_drop(struct physical *h)
{
    if (h->held || h->mapped)
        return;
    region_leave(h->at);
    free(h);
}

cudaError_t virtual_release(struct physical *h)
{
    if (!handle_is(h, HANDLE_PHYSICAL))
        return cudaErrorInvalidValue;
    cudaError_t e = drain();
    if (e)
        return e;
    if (--h->held == 0)
        handle_drop(h);
    physical_drop(h);
    return cudaSuccess;
}

cudaError_t virtual_retain(uint64_t addr, struct physical **out)
{
    const struct mapping *m = mapped_at(addr);
    if (!m)
        return cudaErrorInvalidValue;
    if (!m->of->held && !handle_add(m->of, HANDLE_PHYSICAL))
        return cudaErrorMemoryAllocation;
    m->of->held++;
    *out = m->of;
    return cudaSuccess;
}

/* ---- one at the other ---- */
static bool free_there(uint64_t addr, size_t n)
{
    const struct block *r = region_reserved(addr);
    return r && n <= r->n - (addr - r->addr) && is_free(addr, n);
}

cudaError_t virtual_map(uint64_t addr, size_t n, size_t offset, struct physical *h)
{
    if (!handle_is(h, HANDLE_PHYSICAL) || !in_steps(n) || offset || !free_there(addr, n))
        return cudaErrorInvalidValue;
    if (addr % VIRTUAL_STEP || n > h->n)
        return cudaErrorNotSupported;
    struct mapping m = { { .addr = addr, .n = n, .at = h->at, .kind = BLOCK_MAPPED }, h, 0 };
    if (!mapped_add(&m))
        return cudaErrorMemoryAllocation;
    h->mapped++;
    return cudaSuccess;
}

cudaError_t virtual_unmap(uint64_t addr, size_t n)
{
    size_t from, to;
    if (!region_reserved(addr) || !covers(addr, n, &from, &to))
        return cudaErrorInvalidValue;
    cudaError_t e = drain();
    if (e)
        return e;
    for (size_t i = from; i < to; i++) {
        struct mapping *m = mapped(i);
        if (m->access)
            block_release(&m->b);
        m->of->mapped--;
        physical_drop(m->of);
    }
    mapped_drop(from, to);
    return cudaSuccess;
}

cudaError_t virtual_allow(uint64_t addr, size_t n, int access)
{
    size_t from, to;
    if (!whole(addr, n, &from, &to))
        return cudaErrorInvalidValue;
    for (size_t i = from; i < to; i++) {
        struct mapping *m = mapped(i);
        if (access && !m->access) {
            block_lend(&m->b, m->of->used);
            m->of->used = true;
        } else if (!access && m->access) {
            block_release(&m->b);
        }
        m->access = access;
    }
    return sticky();
}

cudaError_t virtual_allowed(uint64_t addr, unsigned long long *access)
{
    const struct mapping *m = mapped_at(addr);
    if (!m)
        return cudaErrorInvalidValue;
    *access = (unsigned long long)m->access;
    return cudaSuccess;
}
