/* Addresses that are reserved, memory that is mapped there. It is shared with no other process. */
#include "engine/emulate/driver/driver.h"

enum { KIND_PINNED = 1, LOCATION_DEVICE = 1, ACCESS_NONE = 0, ACCESS_READ = 1, ACCESS_BOTH = 3 };
typedef struct physical *CUmemGenericAllocationHandle;
/* As cuda.h has them. */
struct location {
    int type, id;
};
struct properties {
    int type, handle_types;
    struct location location;
    void *win32;
    unsigned char flags[8];
};
struct access {
    struct location location;
    int flags;
};

static CUresult here_only(const struct location *l)
{
    if (l->type != LOCATION_DEVICE)
        return l->type > LOCATION_DEVICE
                   ? driver_lacks("memory of the host in cuMemCreate and cuMemSetAccess")
                   : CUDA_ERROR_INVALID_VALUE;
    return l->id ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

static CUresult fine(const struct properties *p)
{
    if (!p || p->type != KIND_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    return p->handle_types ? driver_lacks("cuMemCreate with handles for other processes")
                           : here_only(&p->location);
}

static CUresult granularity(size_t *out, const struct properties *p, int which)
{
    if (!out || which < 0 || which > 1)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = fine(p);
    if (!e)
        *out = VIRTUAL_STEP;
    return e;
}

ENDS(cuMemGetAllocationGranularity, (size_t * out, const struct properties *p, int which),
     granularity(out, p, which))

/* Where the program would like it is not asked. */
ENDS(cuMemAddressReserve,
     (CUdeviceptr * out, size_t n, size_t align, CUdeviceptr like, unsigned long long flags),
     ((void)like, out && !flags ? virtual_reserve(n, align, out) : CUDA_ERROR_INVALID_VALUE))
ENDS(cuMemAddressFree, (CUdeviceptr p, size_t n), virtual_free(p, n))

static CUresult create(CUmemGenericAllocationHandle *out, size_t n, const struct properties *p,
                       unsigned long long flags)
{
    CUresult e = out && !flags ? fine(p) : CUDA_ERROR_INVALID_VALUE;
    return e ? e : virtual_create(n, out);
}

ENDS(cuMemCreate,
     (CUmemGenericAllocationHandle * out, size_t n, const struct properties *p,
      unsigned long long flags),
     create(out, n, p, flags))
ENDS(cuMemRelease, (CUmemGenericAllocationHandle h), virtual_release(h))
ENDS(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * out, void *p),
     out ? virtual_retain((uintptr_t)p, out) : CUDA_ERROR_INVALID_VALUE)

static CUresult properties(struct properties *out, CUmemGenericAllocationHandle h)
{
    if (!out || !handle_is(h, HANDLE_PHYSICAL))
        return CUDA_ERROR_INVALID_VALUE;
    *out = (struct properties){ .type = KIND_PINNED, .location = { LOCATION_DEVICE, 0 } };
    return CUDA_SUCCESS;
}

ENDS(cuMemGetAllocationPropertiesFromHandle, (struct properties * out, CUmemGenericAllocationHandle h),
     properties(out, h))
ENDS(cuMemMap,
     (CUdeviceptr p, size_t n, size_t offset, CUmemGenericAllocationHandle h, unsigned long long flags),
     flags ? CUDA_ERROR_INVALID_VALUE : virtual_map(p, n, offset, h))
ENDS(cuMemUnmap, (CUdeviceptr p, size_t n), virtual_unmap(p, n))

static CUresult allow(CUdeviceptr p, size_t n, const struct access *a, size_t count)
{
    CUresult e = a && count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count && !e; i++) {
        bool known = a[i].flags == ACCESS_NONE || a[i].flags == ACCESS_READ || a[i].flags == ACCESS_BOTH;
        e = known ? here_only(&a[i].location) : CUDA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < count && !e; i++)
        e = virtual_allow(p, n, a[i].flags);
    return e;
}

ENDS(cuMemSetAccess, (CUdeviceptr p, size_t n, const struct access *a, size_t count),
     allow(p, n, a, count))

static CUresult allowed(unsigned long long *flags, const struct location *l, CUdeviceptr p)
{
    CUresult e = flags && l ? here_only(l) : CUDA_ERROR_INVALID_VALUE;
    return e ? e : virtual_allowed(p, flags);
}

ENDS(cuMemGetAccess, (unsigned long long *flags, const struct location *l, CUdeviceptr p),
     allowed(flags, l, p))
