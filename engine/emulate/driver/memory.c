/* Allocation, pools, and what a pointer is. */
#include "engine/emulate/driver/driver.h"

#include <string.h>

static void *at(CUdeviceptr p)
{
    return (void *)(uintptr_t)p;
}

/* ---- allocation ---- */
static CUresult take(void **p, size_t n, int (*from)(void **p, size_t n))
{
    return p && n ? from(p, n) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuMemAlloc_v2, (void **p, size_t n), take(p, n, cudaMalloc))
ENDS(cuMemFree_v2, (CUdeviceptr p), cudaFree(at(p)))
SAME(cuMemAllocHost_v2, (void **p, size_t n), take(p, n, cudaMallocHost))
SAME(cuMemHostAlloc, (void **p, size_t n, unsigned flags),
     flags > 7 ? CUDA_ERROR_INVALID_VALUE : take(p, n, cudaMallocHost))
ENDS(cuMemFreeHost, (void *p), p ? cudaFreeHost(p) : CUDA_ERROR_INVALID_VALUE)
SAME(cuMemGetInfo_v2, (size_t * free_bytes, size_t *total), cudaMemGetInfo(free_bytes, total))
SAME(cuMemHostGetDevicePointer_v2, (void **to, void *p, unsigned flags),
     flags ? CUDA_ERROR_INVALID_VALUE : cudaHostGetDevicePointer(to, p, flags))
SAME(cuMemHostGetFlags, (unsigned *flags, void *p), cudaHostGetFlags(flags, p))
SAME(cuMemHostRegister_v2, (void *p, size_t n, unsigned flags), cudaHostRegister(p, n, flags))
ENDS(cuMemHostUnregister, (void *p), cudaHostUnregister(p))

/* Attached to all, or to the host at first. */
static CUresult managed(void **p, size_t n, unsigned flags)
{
    bool fine = p && n && (flags == 1 || flags == 2);
    return fine ? cudaMallocManaged(p, n, flags) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuMemAllocManaged, (void **p, size_t n, unsigned flags), managed(p, n, flags))

static CUresult pitched(void **p, size_t *pitch, size_t width, size_t height, unsigned element)
{
    bool fine = p && pitch && width && height && (element == 4 || element == 8 || element == 16);
    return fine ? cudaMallocPitch(p, pitch, width, height) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuMemAllocPitch_v2, (void **p, size_t *pitch, size_t width, size_t height, unsigned element),
     pitched(p, pitch, width, height, element))

static CUresult range(CUdeviceptr *base, size_t *n, CUdeviceptr p)
{
    const struct block *b = block_at(at(p));
    if (!b)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = b->addr;
    if (n)
        *n = b->n;
    return CUDA_SUCCESS;
}

SAME(cuMemGetAddressRange_v2, (CUdeviceptr * base, size_t *n, CUdeviceptr p), range(base, n, p))

/* ---- in the order of a stream ---- */
SAME(cuMemAllocAsync, (void **p, size_t n, cudaStream_t s),
     p &&n ? cudaMallocAsync(p, n, s) : CUDA_ERROR_INVALID_VALUE)
SAME(cuMemAllocFromPoolAsync, (void **p, size_t n, cudaMemPool_t pool, cudaStream_t s),
     p &&n ? cudaMallocFromPoolAsync(p, n, pool, s) : CUDA_ERROR_INVALID_VALUE)
SAME(cuMemFreeAsync, (CUdeviceptr p, cudaStream_t s),
     p ? cudaFreeAsync(at(p), s) : CUDA_ERROR_INVALID_VALUE)
SAME(cuMemPoolCreate, (cudaMemPool_t * pool, const void *properties),
     properties ? cudaMemPoolCreate(pool, properties) : CUDA_ERROR_INVALID_VALUE)
TWIN(MemPoolDestroy, (cudaMemPool_t pool), pool)
TWIN(MemPoolTrimTo, (cudaMemPool_t pool, size_t keep), pool, keep)
TWIN(MemPoolSetAttribute, (cudaMemPool_t pool, int what, void *v), pool, what, v)
TWIN(MemPoolGetAttribute, (cudaMemPool_t pool, int what, void *v), pool, what, v)
TWIN(MemPoolSetAccess, (cudaMemPool_t pool, const void *list, size_t n), pool, list, n)
TWIN(MemPoolGetAccess, (int *flags, cudaMemPool_t pool, const void *location), flags, pool, location)

/* ---- advice about managed memory ---- */
static CUresult advise(CUdeviceptr p, size_t n)
{
    const struct block *b = block_at(at(p));
    bool inside = b && b->kind == BLOCK_MANAGED && n && n <= b->n - (p - b->addr);
    return inside ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuMemPrefetchAsync, (CUdeviceptr p, size_t n, CUdevice id, cudaStream_t s),
     ((void)id, stream_of(s) ? advise(p, n) : CUDA_ERROR_INVALID_HANDLE))
SAME(cuMemPrefetchAsync_v2, (CUdeviceptr p, size_t n, uint64_t location, unsigned flags, cudaStream_t s),
     ((void)location, (void)flags, stream_of(s) ? advise(p, n) : CUDA_ERROR_INVALID_HANDLE))
SAME(cuMemAdvise, (CUdeviceptr p, size_t n, int advice, CUdevice id),
     ((void)advice, (void)id, advise(p, n)))
SAME(cuMemAdvise_v2, (CUdeviceptr p, size_t n, int advice, uint64_t location),
     ((void)advice, (void)location, advise(p, n)))

/* ---- pointers ---- */
enum {
    POINTER_CONTEXT = 1,
    POINTER_MEMORY_TYPE,
    POINTER_DEVICE,
    POINTER_HOST,
    POINTER_SYNC = 6,
    POINTER_BUFFER_ID,
    POINTER_MANAGED,
    POINTER_ORDINAL,
    POINTER_LEGACY_IPC,
    POINTER_START,
    POINTER_SIZE,
    POINTER_MAPPED,
    POINTER_HANDLES,
    POINTER_RDMA,
    POINTER_ACCESS,
    POINTER_POOL,
};

#define PUT(type, v)                     \
    do {                                 \
        type put_ = (type)(v);           \
        memcpy(out, &put_, sizeof put_); \
        return CUDA_SUCCESS;             \
    } while (0)

/* b NULL: a variable of a module. */
static CUresult of_pointer(void *out, int what, CUdeviceptr p, const struct block *b)
{
    bool host = b && !is_of_device(b), pinned = host && b->kind != BLOCK_MANAGED;
    switch (what) {
    case POINTER_CONTEXT: PUT(uintptr_t, b && b->owner ? b->owner : context_now());
    case POINTER_MEMORY_TYPE: PUT(unsigned, pinned ? 1 : 2);
    case POINTER_DEVICE: PUT(uint64_t, p);
    case POINTER_HOST:
        if (!host)
            return CUDA_ERROR_INVALID_VALUE;
        PUT(uint64_t, p);
    case POINTER_SYNC:
    case POINTER_ORDINAL:
    case POINTER_HANDLES: PUT(int, 0);
    case POINTER_BUFFER_ID: PUT(uint64_t, b ? b->addr : p);
    case POINTER_MANAGED: PUT(bool, b && b->kind == BLOCK_MANAGED);
    case POINTER_START: PUT(uint64_t, b ? b->addr : p);
    case POINTER_SIZE: PUT(uint64_t, b ? b->n : 0);
    case POINTER_MAPPED: PUT(bool, true);
    case POINTER_LEGACY_IPC:
    case POINTER_RDMA: PUT(bool, false);
    case POINTER_ACCESS: PUT(int, 3); /* read and write */
    case POINTER_POOL: PUT(uint64_t, 0);
    default: return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult attribute(void *out, int what, CUdeviceptr p)
{
    const struct block *b = block_at(at(p));
    if (!out || (!b && !is_variable(at(p))))
        return CUDA_ERROR_INVALID_VALUE;
    return of_pointer(out, what, p, b);
}

SAME(cuPointerGetAttribute, (void *out, int what, CUdeviceptr p), attribute(out, what, p))

static size_t bytes_of(int what)
{
    switch (what) {
    case POINTER_MANAGED:
    case POINTER_MAPPED:
    case POINTER_LEGACY_IPC:
    case POINTER_RDMA: return 1;
    case POINTER_MEMORY_TYPE:
    case POINTER_SYNC:
    case POINTER_ORDINAL:
    case POINTER_HANDLES:
    case POINTER_ACCESS: return 4;
    default: return 8;
    }
}

/* Of memory that is none of the driver's all is zero, and the ordinal -2. */
static CUresult attributes(unsigned n, const int *what, void **out, CUdeviceptr p)
{
    static const int nowhere = -2;
    for (unsigned i = 0; i < n; i++)
        if (!what || !out || !out[i] || what[i] < POINTER_CONTEXT || what[i] > POINTER_POOL)
            return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < n; i++) {
        if (attribute(out[i], what[i], p) == CUDA_SUCCESS)
            continue;
        memset(out[i], 0, bytes_of(what[i]));
        if (what[i] == POINTER_ORDINAL)
            memcpy(out[i], &nowhere, sizeof nowhere);
    }
    return CUDA_SUCCESS;
}

SAME(cuPointerGetAttributes, (unsigned n, const int *what, void **out, CUdeviceptr p),
     attributes(n, what, out, p))
SAME(cuPointerSetAttribute, (const void *v, int what, CUdeviceptr p),
     v &&what == POINTER_SYNC && block_at(at(p)) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE)
