/* Allocation, arenas and growable arrays. The two process-wide counters below are
 * the fault injector's: they exist for tests and influence nothing else. */
#include "engine/base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static _Atomic uint64_t alloc_count;
static _Atomic uint64_t alloc_fail_at; /* 0: never */

static bool allocation_fails(void)
{
    uint64_t n = atomic_fetch_add_explicit(&alloc_count, 1, memory_order_relaxed) + 1;
    uint64_t at = atomic_load_explicit(&alloc_fail_at, memory_order_relaxed);
    return at && n >= at;
}

void base_fail_after(uint64_t n)
{
    atomic_store(&alloc_fail_at, n ? atomic_load(&alloc_count) + n : 0);
}

uint64_t base_alloc_count(void)
{
    return atomic_load(&alloc_count);
}

#define MUCH ((size_t)32 << 20)
void base_trim(void)
{
#ifdef __GLIBC__
#if __GLIBC_PREREQ(2, 33)
    if (mallinfo2().fordblks < MUCH)
        return;
#endif
    malloc_trim(0);
#endif
}

void *base_alloc(size_t n)
{
    return allocation_fails() ? NULL : calloc(1, n ? n : 1);
}

void *base_realloc(void *p, size_t n)
{
    return allocation_fails() ? NULL : realloc(p, n ? n : 1);
}

void base_free(void *p)
{
    free(p);
}

void base_free_each(void *const *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(p[i]);
}

char *base_strdup(const char *s)
{
    if (!s)
        return NULL;
    size_t n = strlen(s) + 1;
    char *p = base_alloc(n);
    if (p)
        memcpy(p, s, n);
    return p;
}

bool base_grow(void **v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    size_t want = *cap ? *cap * 2 : 16;
    while (want <= n)
        want *= 2;
    if (want > SIZE_MAX / size)
        return false;
    void *p = base_realloc(*v, want * size);
    if (!p)
        return false;
    memset((char *)p + *cap * size, 0, (want - *cap) * size);
    *v = p;
    *cap = want;
    return true;
}

/* ---- arena: a list of chunks, newest first ---- */
struct chunk {
    struct chunk *next;
    size_t size, used;
};
#define CHUNK_HEAD ((sizeof(struct chunk) + 15) & ~(size_t)15)
struct arena {
    struct chunk *top;
    size_t chunk, bytes;
    bool failed;
};

struct arena *arena_new(size_t chunk)
{
    struct arena *a = base_alloc(sizeof *a);
    if (a)
        a->chunk = chunk ? chunk : 65536;
    return a;
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    for (struct chunk *c = a->top; c;) {
        struct chunk *next = c->next;
        base_free(c);
        c = next;
    }
    base_free(a);
}

static struct chunk *arena_add(struct arena *a, size_t n)
{
    size_t size = n > a->chunk / 4 ? n : a->chunk;
    struct chunk *c = base_alloc(CHUNK_HEAD + size);
    if (!c)
        return NULL;
    c->size = size;
    a->bytes += CHUNK_HEAD + size;
    /* a big one goes behind the current chunk, which stays in use */
    if (size == n && a->top) {
        c->next = a->top->next;
        a->top->next = c;
    } else {
        c->next = a->top;
        a->top = c;
    }
    return c;
}

static void *arena_take(struct arena *a, size_t n, size_t align)
{
    if (!n)
        n = 1;
    struct chunk *c = a->top;
    size_t at = c ? (c->used + align - 1) & ~(align - 1) : 0;
    if (!c || at > c->size || n > c->size - at) {
        c = n > SIZE_MAX - CHUNK_HEAD ? NULL : arena_add(a, n);
        at = 0;
    }
    if (!c) {
        a->failed = true;
        return NULL;
    }
    c->used = at + n;
    return (char *)c + CHUNK_HEAD + at;
}

void *arena_alloc(struct arena *a, size_t n)
{
    return arena_take(a, n, 16);
}
void *arena_alloc_unaligned(struct arena *a, size_t n)
{
    return arena_take(a, n, 1);
}

char *arena_dup(struct arena *a, struct str s)
{
    char *p = arena_take(a, s.n + 1, 1);
    if (p && s.n)
        memcpy(p, s.s, s.n);
    return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *p = n < 0 ? NULL : arena_take(a, (size_t)n + 1, 1);
    if (p)
        vsnprintf(p, (size_t)n + 1, fmt, again);
    va_end(again);
    return p;
}

bool arena_failed(const struct arena *a)
{
    return a->failed;
}
size_t arena_bytes(const struct arena *a)
{
    return a->bytes;
}
