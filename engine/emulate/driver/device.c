/* What the device is, by the preset. */
#include "engine/emulate/driver/driver.h"

#include <stdio.h>
#include <string.h>

enum { ATTRIBUTES_END = 148, PCI_DEVICE = 139, TENSOR_MAPS = 127 };

static CUresult the_device(CUdevice id, CUresult e)
{
    return id ? CUDA_ERROR_INVALID_DEVICE : e;
}

ENDS(cuDeviceGetCount, (int *n), ANSWER(n, 1))
ENDS(cuDeviceGet, (CUdevice * out, int n),
     out ? the_device(n, ANSWER(out, 0)) : CUDA_ERROR_INVALID_VALUE)

static CUresult put_name(char *out, int n)
{
    if (!out || n < 1)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(out, (size_t)n, "%s", device()->name);
    return CUDA_SUCCESS;
}

ENDS(cuDeviceGetName, (char *out, int n, CUdevice id), the_device(id, put_name(out, n)))

static CUresult put_uuid(char *out)
{
    static const char uuid[16] = "gpulocw-emulate";
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(out, uuid, sizeof uuid);
    return CUDA_SUCCESS;
}

ENDS(cuDeviceGetUuid_v2, (char *out, CUdevice id), the_device(id, put_uuid(out)))
PLAIN(cuDeviceGetUuid, (char *out, CUdevice id), cuDeviceGetUuid_v2(out, id))

ENDS(cuDeviceTotalMem_v2, (size_t * out, CUdevice id), the_device(id, ANSWER(out, device()->mem_bytes)))

/* The runtime's numbers; what only the driver counts, this device does not have. */
static CUresult attribute(int *out, int what)
{
    if (!out || what < 1 || what >= ATTRIBUTES_END)
        return CUDA_ERROR_INVALID_VALUE;
    if (what == TENSOR_MAPS)
        return ANSWER(out, device()->cc_major >= 9);
    if (what >= PCI_DEVICE || cudaDeviceGetAttribute(out, what, 0))
        *out = 0;
    return CUDA_SUCCESS;
}

ENDS(cuDeviceGetAttribute, (int *out, int what, CUdevice id), the_device(id, attribute(out, what)))

static CUresult capability(int *major, int *minor)
{
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = (int)device()->cc_major;
    *minor = (int)device()->cc_minor;
    return CUDA_SUCCESS;
}

ENDS(cuDeviceComputeCapability, (int *major, int *minor, CUdevice id),
     the_device(id, capability(major, minor)))

/* The structure has the first attributes in the order of their numbers. */
static CUresult properties(int *out)
{
    enum { PROPERTIES = 14 };
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < PROPERTIES; i++)
        attribute(&out[i], i + 1);
    return CUDA_SUCCESS;
}

ENDS(cuDeviceGetProperties, (int *out, CUdevice id), the_device(id, properties(out)))
ENDS(cuDeviceGetPCIBusId, (char *out, int n, CUdevice id),
     the_device(id, cudaDeviceGetPCIBusId(out, n, 0)))

static CUresult by_bus(CUdevice *out, const char *text)
{
    char bus[16];
    if (!out || !text)
        return CUDA_ERROR_INVALID_VALUE;
    cudaDeviceGetPCIBusId(bus, sizeof bus, 0);
    size_t n = strlen(bus), k = strlen(text);
    bool is = k <= n && k >= 5 && strcmp(bus + n - k, text) == 0;
    return is ? ANSWER(out, 0) : CUDA_ERROR_INVALID_DEVICE;
}

ENDS(cuDeviceGetByPCIBusId, (CUdevice * out, const char *text), by_bus(out, text))
ENDS(cuDeviceCanAccessPeer, (int *can, CUdevice id, CUdevice peer),
     id || peer ? CUDA_ERROR_INVALID_DEVICE : ANSWER(can, 0))
ENDS(cuDeviceGetDefaultMemPool, (cudaMemPool_t * pool, CUdevice id),
     cudaDeviceGetDefaultMemPool(pool, id))
ENDS(cuDeviceGetMemPool, (cudaMemPool_t * pool, CUdevice id), cudaDeviceGetMemPool(pool, id))
ENDS(cuDeviceSetMemPool, (CUdevice id, cudaMemPool_t pool), cudaDeviceSetMemPool(id, pool))
