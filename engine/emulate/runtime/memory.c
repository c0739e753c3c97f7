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

PLAIN(cudaMalloc, (void **p, size_t n), take(p, n, BLOCK_DEVICE))
PLAIN(cudaMallocManaged, (void **p, size_t n, unsigned flags),
      ((void)flags, n ? take(p, n, BLOCK_MANAGED) : give(cudaErrorInvalidValue)))
PLAIN(cudaMallocHost, (void **p, size_t n), take(p, n, BLOCK_PINNED))
PLAIN(cudaHostAlloc, (void **p, size_t n, unsigned flags), ((void)flags, take(p, n, BLOCK_PINNED)))
PLAIN(cudaFree, (void *p), release(p, false))
PLAIN(cudaFreeHost, (void *p), release(p, true))

EXPORT cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    if (!pitch)
        return give(cudaErrorInvalidValue);
    size_t row, all;
    if (__builtin_add_overflow(width, 511, &row) ||
        __builtin_mul_overflow(row / 512 * 512, height, &all))
        return give(cudaErrorMemoryAllocation);
    *pitch = rounded(width, 512);
    return take(p, all, BLOCK_DEVICE);
}

EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent e)
{
    if (!p)
        return give(cudaErrorInvalidValue);
    size_t pitch = rounded(e.width, 512), slice, all;
    if (pitch < e.width || __builtin_mul_overflow(pitch, e.height, &slice) ||
        __builtin_mul_overflow(slice, e.depth, &all))
        return give(cudaErrorMemoryAllocation);
    *p = (struct cudaPitchedPtr){ NULL, pitch, e.width, e.height };
    return take(&p->ptr, all, BLOCK_DEVICE);
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
    static const int types[] = { [BLOCK_DEVICE] = 2,
                                 [BLOCK_MANAGED] = 3,
                                 [BLOCK_PINNED] = 1,
                                 [BLOCK_REGISTERED] = 1,
                                 [BLOCK_MAPPED] = 2 };
    BEGIN
    const struct block *b = block_at(p);
    bool variable = is_variable(p);
    if (!a)
        END(cudaErrorInvalidValue);
    void *at = (void *)(uintptr_t)p;
    a->type = b ? types[b->kind] : variable ? 2 : 0;
    a->device = b || variable ? 0 : -2;
    a->devicePointer = b || variable ? at : NULL;
    a->hostPointer = (b && !is_of_device(b)) || (!b && !variable) ? at : NULL;
    if (!b && !variable)
        a->hostPointer = NULL;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **to, void *p, unsigned flags)
{
    (void)flags;
    BEGIN
    const struct block *b = block_at(p);
    if (!to || !b || is_of_device(b))
        END(cudaErrorInvalidValue);
    *to = p;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    BEGIN
    const struct block *b = block_at(p);
    if (!flags || !b || is_of_device(b))
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
