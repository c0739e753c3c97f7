/* Memory in the order of a stream, and pools: there is one kind of memory, so a pool only keeps what it is
 * told. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>

enum { ATTRIBUTES = 9, USED_NOW = 7, USED_HIGH = 8 };
struct pool {
    uint64_t attribute[ATTRIBUTES];
};
static struct pool usual, *chosen = &usual;

static bool is_pool(const struct pool *p)
{
    return p == &usual || handle_is(p, HANDLE_POOL);
}

EXPORT cudaError_t cudaMallocAsync(void **p, size_t n, cudaStream_t s)
{
    BEGIN
    if (!p)
        END(cudaErrorInvalidValue);
    if (!stream_of(s) || !p)
        END(p ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    if (!n) {
        *p = NULL;
        END(cudaSuccess);
    }
    END(memory_take(n, BLOCK_DEVICE, p)); /* of a captured stream too: the address stays the graph's */
}

EXPORT cudaError_t cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s)
{
    BEGIN
    bool there = is_pool(pool);
    runtime_leave();
    return there ? cudaMallocAsync(p, n, s) : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaFreeAsync(void *p, cudaStream_t s)
{
    BEGIN
    if (!stream_of(s) || !p)
        END(p ? cudaErrorInvalidResourceHandle : cudaSuccess);
    if (capture_of(s))
        END(cudaSuccess); /* a graph's memory stays: it may be launched again */
    struct op op = { .kind = OP_GIVE, .memory = { .p = p } };
    END(op_do(&op, s));
}

LOCKED(cudaDeviceGetDefaultMemPool, (cudaMemPool_t * pool, int id),
       pool ? (*pool = &usual, id ? cudaErrorInvalidDevice : cudaSuccess) : cudaErrorInvalidValue)
LOCKED(cudaDeviceGetMemPool, (cudaMemPool_t * pool, int id),
       pool ? (*pool = chosen, id ? cudaErrorInvalidDevice : cudaSuccess) : cudaErrorInvalidValue)

EXPORT cudaError_t cudaDeviceSetMemPool(int id, cudaMemPool_t pool)
{
    BEGIN
    if (!is_pool(pool) || id)
        END(id ? cudaErrorInvalidDevice : cudaErrorInvalidValue);
    chosen = pool;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const void *properties)
{
    (void)properties;
    BEGIN
    if (!pool)
        END(cudaErrorInvalidValue);
    struct pool *made = calloc(1, sizeof *made);
    if (!made || !handle_add(made, HANDLE_POOL)) {
        free(made);
        END(cudaErrorMemoryAllocation);
    }
    *pool = made;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    BEGIN
    if (!handle_is(pool, HANDLE_POOL))
        END(cudaErrorInvalidValue);
    chosen = chosen == pool ? &usual : chosen;
    handle_drop(pool);
    free(pool);
    END(cudaSuccess);
}

LOCKED(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep),
       ((void)keep, is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue))

/* The first three are words, the others counts. */
static bool is_count(int attribute)
{
    return attribute > 3;
}

EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    BEGIN
    if (!is_pool(pool) || !value || attribute < 1 || attribute >= ATTRIBUTES)
        END(cudaErrorInvalidValue);
    pool->attribute[attribute] = is_count(attribute) ? *(uint64_t *)value : (uint64_t) * (int *)value;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    BEGIN
    if (!is_pool(pool) || !value || attribute < 1 || attribute >= ATTRIBUTES)
        END(cudaErrorInvalidValue);
    if (is_count(attribute))
        *(uint64_t *)value = pool->attribute[attribute];
    else
        *(int *)value = (int)pool->attribute[attribute];
    END(cudaSuccess);
}

LOCKED(cudaMemPoolSetAccess, (cudaMemPool_t pool, const void *list, size_t n),
       ((void)list, (void)n, is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue))

EXPORT cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, const void *location)
{
    (void)location;
    if (!flags)
        return give(cudaErrorInvalidValue);
    *flags = 3; /* read and write */
    BEGIN
    END(is_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
