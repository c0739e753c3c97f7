/* Private to the driver's interface: the functions of libcuda.so as programs call them, on the device that
 * the runtime's functions use, through the same layer (engine/emulate/runtime).
 *
 *   context.c  beginning, contexts      device.c   what the device is       results.c  names of results
 *   module.c   modules, libraries       link.c     several as one           launch.c   launches, functions
 *   memory.c   allocation, pointers     copy.c     copies and sets          stream.c   streams, events
 *   virtual.c  addresses and memory     array.c    arrays, textures, surfaces  old_launch.c  launches
 *   graph.c    graphs, capture          entry.c    functions by name        jit_link.c nvJitLink
 *   stubs.c    all others
 *
 * A function that does what one of the runtime does calls it: errors have the same numbers but few. */
#pragma once

#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_NOT_SUPPORTED = 801,
};
typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;

/* ---- context.c ---- */
/* Begins a call: the lock is held, the driver initialised, the device fine; a context is current where one
 * is needed. What is not so is given back. driver_end goes with it in every case. */
CUresult driver_begin(bool in_context);
CUresult driver_end(cudaError_t e); /* the driver's result of the runtime's error */

/* A call that is nothing but the expression. */
#define DRIVER(in_context, ...)                             \
    do {                                                    \
        CUresult begun_ = driver_begin(in_context);         \
        return driver_end(begun_ ? begun_ : (__VA_ARGS__)); \
    } while (0)
/* A function that is one of the runtime's, in a context. */
#define SAME(name, params, ...)    \
    EXPORT CUresult name params    \
    {                              \
        DRIVER(true, __VA_ARGS__); \
    }
/* One that has the runtime's name and parameters behind cu, too. */
#define TWIN(name, params, ...) \
    int cuda##name params;      \
    SAME(cu##name, params, cuda##name(__VA_ARGS__))
/* The same, with or without a context: what it ends says whose it is. */
#define ENDS(name, params, ...)     \
    EXPORT CUresult name params     \
    {                               \
        DRIVER(false, __VA_ARGS__); \
    }

CUresult driver_lacks(const char *call); /* not supported, and listed */

/* ---- launch.c ---- */
bool is_function(const void *f);

/* ---- entry.c ---- */
/* What cuGetProcAddress has for the name in that version (12040: 12.4). NULL: nothing; *older: but a later
 * version has. */
void *driver_function(const char *name, int version, bool *later);

/* The runtime's functions that the driver's call. */
int cudaDeviceSynchronize(void), cudaDeviceGetAttribute(int *v, int a, int id);
int cudaDeviceGetPCIBusId(char *text, int n, int id);
int cudaDeviceGetLimit(size_t *value, int what), cudaDeviceSetLimit(int what, size_t value);
int cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int cudaDeviceGetDefaultMemPool(cudaMemPool_t *p, int id),
    cudaDeviceGetMemPool(cudaMemPool_t *p, int id);
int cudaDeviceSetMemPool(int id, cudaMemPool_t p), cudaDriverGetVersion(int *version);
const char *cudaGetErrorString(int e);
int cudaMalloc(void **p, size_t n), cudaFree(void *p), cudaMallocManaged(void **p, size_t n, unsigned f);
int cudaMallocHost(void **p, size_t n), cudaFreeHost(void *p), cudaHostUnregister(void *p);
int cudaHostRegister(void *p, size_t n, unsigned f), cudaHostGetFlags(unsigned *flags, void *p);
int cudaHostGetDevicePointer(void **to, void *p, unsigned flags);
int cudaMallocPitch(void **p, size_t *pitch, size_t w, size_t h), cudaMemGetInfo(size_t *f, size_t *t);
int cudaMallocAsync(void **p, size_t n, cudaStream_t s), cudaFreeAsync(void *p, cudaStream_t s);
int cudaMallocFromPoolAsync(void **p, size_t n, cudaMemPool_t pool, cudaStream_t s);
int cudaMemPoolCreate(cudaMemPool_t *p, const void *properties);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s);
int cudaFuncSetAttribute(const void *f, int a, int v), cudaFuncSetCacheConfig(const void *f, int c);
int cudaFuncGetParamInfo(const void *f, size_t i, size_t *offset, size_t *bytes);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared);
int cudaOccupancyMaxActiveClusters(int *n, const void *f, const struct cudaLaunchConfig *c);
int cudaOccupancyMaxPotentialClusterSize(int *n, const void *f, const struct cudaLaunchConfig *c);
int cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority);
int cudaStreamDestroy(cudaStream_t s);
int cudaStreamSetAttribute(cudaStream_t s, int id, const void *v);
int cudaStreamAddCallback(cudaStream_t s, cudaStreamCallback_t fn, void *data, unsigned flags);
int cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags), cudaEventDestroy(cudaEvent_t e);
int cudaEventRecordWithFlags(cudaEvent_t e, cudaStream_t s, unsigned flags);
int cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
