/* Memory in the order of a stream, and pools: there is one kind of memory, so a pool only keeps what it is
 * told. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>

enum { ATTRIBUTES = 9, USED_NOW = 7, USED_HIGH = 8 };
struct pool {
    uint64_t attribute[ATTRIBUTES];
};
static struct pool usual, *chosen = &usual;

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
    return pool ? cudaMallocAsync(p, n, s) : give(cudaErrorInvalidValue);
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

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int id)
{
    BEGIN
    if (!pool)
        END(cudaErrorInvalidValue);
    *pool = &usual;
    END(id ? cudaErrorInvalidDevice : cudaSuccess);
}

EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int id)
{
    BEGIN
    if (!pool)
        END(cudaErrorInvalidValue);
    *pool = chosen;
    END(id ? cudaErrorInvalidDevice : cudaSuccess);
}

EXPORT cudaError_t cudaDeviceSetMemPool(int id, cudaMemPool_t pool)
{
    BEGIN
    chosen = pool ? pool : &usual;
    END(id ? cudaErrorInvalidDevice : cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const void *properties)
{
    (void)properties;
    BEGIN
    if (!pool)
        END(cudaErrorInvalidValue);
    *pool = calloc(1, sizeof **pool);
    END(*pool ? cudaSuccess : cudaErrorMemoryAllocation);
}

EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    BEGIN
    chosen = chosen == pool ? &usual : chosen;
    if (pool && pool != &usual)
        free(pool);
    END(pool ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    (void)keep;
    return pool ? cudaSuccess : give(cudaErrorInvalidValue);
}

/* The first three are words, the others counts. */
static bool is_count(int attribute)
{
    return attribute > 3;
}

EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    BEGIN
    if (!pool || !value || attribute < 1 || attribute >= ATTRIBUTES)
        END(cudaErrorInvalidValue);
    pool->attribute[attribute] = is_count(attribute) ? *(uint64_t *)value : (uint64_t) * (int *)value;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, int attribute, void *value)
{
    BEGIN
    if (!pool || !value || attribute < 1 || attribute >= ATTRIBUTES)
        END(cudaErrorInvalidValue);
    if (is_count(attribute))
        *(uint64_t *)value = pool->attribute[attribute];
    else
        *(int *)value = (int)pool->attribute[attribute];
    END(cudaSuccess);
}

EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const void *list, size_t n)
{
    (void)list, (void)n;
    return pool ? cudaSuccess : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaMemPoolGetAccess(int *flags, cudaMemPool_t pool, const void *location)
{
    (void)location;
    *flags = 3; /* read and write */
    return pool ? cudaSuccess : give(cudaErrorInvalidValue);
}
