/* Functions by name, as programs ask the driver and the runtime for those of the driver. */
#include "engine/emulate/driver/driver.h"

enum { FOUND, NOT_FOUND, TOO_OLD };
enum { FLAGS = 3, MINOR_MOST = 990 };

static int look_up(const char *name, int version, void **fn)
{
    bool later;
    *fn = driver_function(name, version, &later);
    return *fn ? FOUND : later ? TOO_OLD : NOT_FOUND;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **fn, int version, uint64_t flags, int *how)
{
    if (!name || !*name || !fn || flags > FLAGS - 1 || version < 0)
        return CUDA_ERROR_INVALID_VALUE;
    int found = look_up(name, version, fn);
    if (how)
        *how = found;
    return found == FOUND || how ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

PLAIN(cuGetProcAddress, (const char *name, void **fn, int version, uint64_t flags),
      cuGetProcAddress_v2(name, fn, version, flags, NULL))

/* ---- for the runtime's programs: the driver begins with them ---- */
CUresult cuInit(unsigned flags);

static cudaError_t entry_point(const char *name, void **fn, int version, int *how)
{
    if (!name || !fn)
        return give(cudaErrorInvalidValue);
    int found = look_up(name, version, fn);
    if (found == FOUND)
        cuInit(0);
    else
        missing(name);
    if (how)
        *how = found;
    return found == FOUND || how ? cudaSuccess : give(cudaErrorSymbolNotFound);
}

EXPORT cudaError_t cudaGetDriverEntryPoint(const char *name, void **fn, unsigned long long flags,
                                           int *how)
{
    (void)flags;
    int version = runtime_version(); /* its minor is not known; CUDA 11 has no `how` */
    return entry_point(name, fn, version + MINOR_MOST, version >= 12000 ? how : NULL);
}

PLAIN(cudaGetDriverEntryPointByVersion,
      (const char *name, void **fn, unsigned version, unsigned long long flags, int *how),
      ((void)flags, entry_point(name, fn, (int)version, how)))
