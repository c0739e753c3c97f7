/* Allocation, and what a pointer is. */
#include "engine/emulate/runtime/runtime.h"

static size_t rounded(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- calls ---- */
static cudaError_t take(void **p, size_t n, enum block_kind kind)
{
    BEGIN
    if (!p)
        END(cudaErrorInvalidValue);
    if (!n) {
        *p = NULL;
        END(cudaSuccess);
    }
    END(memory_take(n, kind, p));
}

static cudaError_t release(void *p, bool host)
{
    BEGIN
    cudaError_t e = p ? drain() : cudaSuccess;
    if (p && !e)
        e = memory_give(p, host);
    END(e);
}

EXPORT cudaError_t cudaMalloc(void **p, size_t n)
{
    return take(p, n, BLOCK_DEVICE);
}

EXPORT cudaError_t cudaMallocManaged(void **p, size_t n, unsigned flags)
{
    (void)flags;
    return n ? take(p, n, BLOCK_MANAGED) : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaMallocHost(void **p, size_t n)
{
    return take(p, n, BLOCK_PINNED);
}

EXPORT cudaError_t cudaHostAlloc(void **p, size_t n, unsigned flags)
{
    (void)flags;
    return take(p, n, BLOCK_PINNED);
}

EXPORT cudaError_t cudaFree(void *p)
{
    return release(p, false);
}

EXPORT cudaError_t cudaFreeHost(void *p)
{
    return release(p, true);
}

EXPORT cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return give(cudaErrorInvalidValue);
    *pitch = rounded(width, 512);
    return take(p, *pitch * height, BLOCK_DEVICE);
}

EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    if (!p)
        return give(cudaErrorInvalidValue);
    size_t pitch = rounded(e.width, 512);
    *p = (struct cudaPitchedPtr){ NULL, pitch, e.width, e.height };
    return take(&p->ptr, pitch * e.height * e.depth, BLOCK_DEVICE);
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    BEGIN
    if (free_bytes)
        *free_bytes = device()->mem_bytes - memory_used();
    if (total)
        *total = device()->mem_bytes;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    static const int types[] = {
        [BLOCK_DEVICE] = 2, [BLOCK_MANAGED] = 3, [BLOCK_PINNED] = 1, [BLOCK_REGISTERED] = 1
    };
    BEGIN
    const struct block *b = block_at(p);
    bool variable = is_variable(p);
    if (!a)
        END(cudaErrorInvalidValue);
    void *at = (void *)(uintptr_t)p;
    a->type = b ? types[b->kind] : variable ? 2 : 0;
    a->device = b || variable ? 0 : -2;
    a->devicePointer = b || variable ? at : NULL;
    a->hostPointer = (b && b->kind != BLOCK_DEVICE) || (!b && !variable) ? at : NULL;
    if (!b && !variable)
        a->hostPointer = NULL;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **to, void *p, unsigned flags)
{
    (void)flags;
    BEGIN
    const struct block *b = block_at(p);
    if (!to || !b || b->kind == BLOCK_DEVICE)
        END(cudaErrorInvalidValue);
    *to = p;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    BEGIN
    const struct block *b = block_at(p);
    if (!flags || !b || b->kind == BLOCK_DEVICE)
        END(cudaErrorInvalidValue);
    *flags = 2; /* mapped: all is */
    END(cudaSuccess);
}

EXPORT cudaError_t cudaHostRegister(void *p, size_t n, unsigned flags)
{
    (void)flags;
    BEGIN
    if (!p || !n)
        END(cudaErrorInvalidValue);
    END(block_at(p) ? cudaErrorHostMemoryAlreadyRegistered : memory_register(p, n));
}

EXPORT cudaError_t cudaHostUnregister(void *p)
{
    BEGIN
    cudaError_t e = drain();
    END(e ? e : memory_unregister(p));
}
