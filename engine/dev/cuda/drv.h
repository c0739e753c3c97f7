/* drv, private to dev: the part of the CUDA driver API in use, declared by us,
 * found at run time. One list (DRV_API) makes the table of functions, the loader
 * and the check against cuda.h (tests/unit/test_dev_abi.c, which defines
 * DRV_NATIVE so that the same list is spelled with NVIDIA's own types).
 *
 * Exported names carry version suffixes where cuda.h hides them behind macros.
 * Everything required here exists since driver 11.0. */
#pragma once

#include "engine/base/base.h"

/* CUaccessPolicyWindow, and the union of stream attributes that it travels in. */
struct drv_window {
    void *base;
    size_t bytes;
    float ratio;
    int hit, miss;
};
union drv_window_value {
    char pad[64];
    struct drv_window window;
};

/* CUlaunchConfig with its list of attributes, of which the cluster's size is the one used. */
struct drv_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        struct {
            unsigned x; /* CTAs */
            unsigned y; /* CTAs */
            unsigned z; /* CTAs */
        } cluster;
    } value;
};
struct drv_launch {
    unsigned gx; /* CTAs */
    unsigned gy; /* CTAs */
    unsigned gz; /* CTAs */
    unsigned bx; /* threads */
    unsigned by; /* threads */
    unsigned bz; /* threads */
    unsigned shared;
    void *stream;
    struct drv_attribute *attributes;
    unsigned nattributes;
};

/* our name, our type, NVIDIA's name */
#define DRV_TYPES(X)                                               \
    X(drv_result, int, CUresult)                                   \
    X(drv_device, int, CUdevice)                                   \
    X(drv_ptr, unsigned long long, CUdeviceptr)                    \
    X(drv_context, void *, CUcontext)                              \
    X(drv_module, void *, CUmodule)                                \
    X(drv_function, void *, CUfunction)                            \
    X(drv_stream, void *, CUstream)                                \
    X(drv_event, void *, CUevent)                                  \
    X(drv_link, void *, CUlinkState)                               \
    X(drv_input, int, CUjitInputType)                              \
    X(drv_device_attr, int, CUdevice_attribute)                    \
    X(drv_func_attr, int, CUfunction_attribute)                    \
    X(drv_jit_option, int, CUjit_option)                           \
    X(drv_limit, int, CUlimit)                                     \
    X(drv_stream_attr, int, CUstreamAttrID)                        \
    X(drv_stream_value, union drv_window_value, CUstreamAttrValue) \
    X(drv_launch_config, struct drv_launch, CUlaunchConfig)
#ifdef DRV_NATIVE
#define X(ours, type, native) typedef native ours;
#else
#define X(ours, type, native) typedef type ours;
#endif
DRV_TYPES(X)
#undef X

/* our name, value, NVIDIA's name */
#define DRV_CONSTANTS(X)                                                                    \
    X(DRV_SUCCESS, 0, CUDA_SUCCESS)                                                         \
    X(DRV_ERROR_INVALID_VALUE, 1, CUDA_ERROR_INVALID_VALUE)                                 \
    X(DRV_ERROR_OUT_OF_MEMORY, 2, CUDA_ERROR_OUT_OF_MEMORY)                                 \
    X(DRV_ERROR_STUB_LIBRARY, 34, CUDA_ERROR_STUB_LIBRARY)                                  \
    X(DRV_ERROR_DEVICE_UNAVAILABLE, 46, CUDA_ERROR_DEVICE_UNAVAILABLE)                      \
    X(DRV_ERROR_NO_DEVICE, 100, CUDA_ERROR_NO_DEVICE)                                       \
    X(DRV_ERROR_ECC, 214, CUDA_ERROR_ECC_UNCORRECTABLE)                                     \
    X(DRV_ERROR_OPERATING_SYSTEM, 304, CUDA_ERROR_OPERATING_SYSTEM)                         \
    X(DRV_ERROR_SYSTEM_NOT_READY, 802, CUDA_ERROR_SYSTEM_NOT_READY)                         \
    X(DRV_ERROR_DRIVER_MISMATCH, 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)                    \
    X(DRV_ERROR_COMPAT, 804, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)                     \
    X(DRV_ERROR_MPS_CONNECTION, 805, CUDA_ERROR_MPS_CONNECTION_FAILED)                      \
    X(DRV_ERROR_UNKNOWN, 999, CUDA_ERROR_UNKNOWN)                                           \
    X(DRV_ERROR_INVALID_CONTEXT, 201, CUDA_ERROR_INVALID_CONTEXT)                           \
    X(DRV_ERROR_NO_BINARY_FOR_GPU, 209, CUDA_ERROR_NO_BINARY_FOR_GPU)                       \
    X(DRV_ERROR_INVALID_PTX, 218, CUDA_ERROR_INVALID_PTX)                                   \
    X(DRV_ERROR_UNSUPPORTED_PTX_VERSION, 222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION)           \
    X(DRV_ERROR_NOT_FOUND, 500, CUDA_ERROR_NOT_FOUND)                                       \
    X(DRV_ERROR_NOT_READY, 600, CUDA_ERROR_NOT_READY)                                       \
    X(DRV_ERROR_ILLEGAL_ADDRESS, 700, CUDA_ERROR_ILLEGAL_ADDRESS)                           \
    X(DRV_ERROR_LAUNCH_OUT_OF_RESOURCES, 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)           \
    X(DRV_ERROR_LAUNCH_FAILED, 719, CUDA_ERROR_LAUNCH_FAILED)                               \
    X(DRV_ATTR_MAX_THREADS_PER_BLOCK, 1, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)         \
    X(DRV_ATTR_WARP_SIZE, 10, CU_DEVICE_ATTRIBUTE_WARP_SIZE)                                \
    X(DRV_ATTR_CLOCK_RATE, 13, CU_DEVICE_ATTRIBUTE_CLOCK_RATE)                              \
    X(DRV_ATTR_MULTIPROCESSOR_COUNT, 16, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)          \
    X(DRV_ATTR_MEMORY_CLOCK_RATE, 36, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)                \
    X(DRV_ATTR_MEMORY_BUS_WIDTH, 37, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)           \
    X(DRV_ATTR_L2_CACHE_SIZE, 38, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)                        \
    X(DRV_ATTR_MAX_THREADS_PER_SM, 39, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)  \
    X(DRV_ATTR_CC_MAJOR, 75, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)                  \
    X(DRV_ATTR_CC_MINOR, 76, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)                  \
    X(DRV_ATTR_SHARED_PER_SM, 81, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) \
    X(DRV_ATTR_REGS_PER_SM, 82, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)       \
    X(DRV_ATTR_COOPERATIVE_LAUNCH, 95, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)              \
    X(DRV_ATTR_SHARED_OPTIN, 97, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)     \
    X(DRV_ATTR_MAX_PERSISTING_L2, 108, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE)    \
    X(DRV_ATTR_MAX_WINDOW, 109, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE)          \
    X(DRV_LIMIT_PERSISTING_L2, 6, CU_LIMIT_PERSISTING_L2_CACHE_SIZE)                        \
    X(DRV_STREAM_WINDOW, 1, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW)                       \
    X(DRV_LAUNCH_CLUSTER, 4, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)                         \
    X(DRV_ACCESS_NORMAL, 0, CU_ACCESS_PROPERTY_NORMAL)                                      \
    X(DRV_ACCESS_PERSISTING, 2, CU_ACCESS_PROPERTY_PERSISTING)                              \
    X(DRV_ATTR_RESERVED_SHARED, 111, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK)  \
    X(DRV_ATTR_MAX_BLOCKS_PER_SM, 106, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR)   \
    X(DRV_FUNC_MAX_THREADS, 0, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)                     \
    X(DRV_FUNC_SHARED_BYTES, 1, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)                        \
    X(DRV_FUNC_LOCAL_BYTES, 3, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)                          \
    X(DRV_FUNC_NUM_REGS, 4, CU_FUNC_ATTRIBUTE_NUM_REGS)                                     \
    X(DRV_FUNC_MAX_DYNAMIC_SHARED, 8, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)      \
    X(DRV_FUNC_CARVEOUT, 9, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)             \
    X(DRV_JIT_MAX_REGISTERS, 0, CU_JIT_MAX_REGISTERS)                                       \
    X(DRV_JIT_INFO_LOG, 3, CU_JIT_INFO_LOG_BUFFER)                                          \
    X(DRV_JIT_INFO_LOG_SIZE, 4, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)                          \
    X(DRV_JIT_ERROR_LOG, 5, CU_JIT_ERROR_LOG_BUFFER)                                        \
    X(DRV_JIT_ERROR_LOG_SIZE, 6, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)                        \
    X(DRV_JIT_OPTIMIZATION_LEVEL, 7, CU_JIT_OPTIMIZATION_LEVEL)                             \
    X(DRV_JIT_LOG_VERBOSE, 12, CU_JIT_LOG_VERBOSE)                                          \
    X(DRV_JIT_CACHE_MODE, 14, CU_JIT_CACHE_MODE)                                            \
    X(DRV_INPUT_CUBIN, 0, CU_JIT_INPUT_CUBIN)                                               \
    X(DRV_INPUT_PTX, 1, CU_JIT_INPUT_PTX)                                                   \
    X(DRV_INPUT_FATBINARY, 2, CU_JIT_INPUT_FATBINARY)                                       \
    X(DRV_INPUT_OBJECT, 3, CU_JIT_INPUT_OBJECT)                                             \
    X(DRV_INPUT_LIBRARY, 4, CU_JIT_INPUT_LIBRARY)                                           \
    X(DRV_JIT_CACHE_CG, 1, CU_JIT_CACHE_OPTION_CG)                                          \
    X(DRV_JIT_CACHE_CA, 2, CU_JIT_CACHE_OPTION_CA)                                          \
    X(DRV_STREAM_NON_BLOCKING, 1, CU_STREAM_NON_BLOCKING)
enum drv_constant {
#define X(ours, value, native) ours = value,
    DRV_CONSTANTS(X)
#undef X
};

/* field, exported name, older name with the same signature or NULL, needed, parameters */
#define DRV_API(X)                                                                                      \
    X(init, cuInit, NULL, true, (unsigned flags))                                                       \
    X(driver_version, cuDriverGetVersion, NULL, true, (int *version))                                   \
    X(error_name, cuGetErrorName, NULL, true, (drv_result e, const char **text))                        \
    X(error_string, cuGetErrorString, NULL, true, (drv_result e, const char **text))                    \
    X(device_count, cuDeviceGetCount, NULL, true, (int *n))                                             \
    X(device_get, cuDeviceGet, NULL, true, (drv_device * d, int ordinal))                               \
    X(device_name, cuDeviceGetName, NULL, true, (char *name, int n, drv_device d))                      \
    X(device_attr, cuDeviceGetAttribute, NULL, true, (int *v, drv_device_attr a, drv_device d))         \
    X(device_memory, cuDeviceTotalMem_v2, NULL, true, (size_t * bytes, drv_device d))                   \
    X(device_pci, cuDeviceGetPCIBusId, NULL, false, (char *id, int n, drv_device d))                    \
    X(primary_retain, cuDevicePrimaryCtxRetain, NULL, true, (drv_context * c, drv_device d))            \
    X(primary_release, cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", true, (drv_device d)) \
    X(context_set, cuCtxSetCurrent, NULL, true, (drv_context c))                                        \
    X(context_sync, cuCtxSynchronize, NULL, true, (void))                                               \
    X(module_load, cuModuleLoadDataEx, NULL, true,                                                      \
      (drv_module * m, const void *image, unsigned n, drv_jit_option *o, void **v))                     \
    X(module_unload, cuModuleUnload, NULL, true, (drv_module m))                                        \
    X(module_function, cuModuleGetFunction, NULL, true,                                                 \
      (drv_function * f, drv_module m, const char *name))                                               \
    X(module_global, cuModuleGetGlobal_v2, NULL, true,                                                  \
      (drv_ptr * p, size_t * n, drv_module m, const char *name))                                        \
    X(func_attr, cuFuncGetAttribute, NULL, true, (int *v, drv_func_attr a, drv_function f))             \
    X(func_set_attr, cuFuncSetAttribute, NULL, true, (drv_function f, drv_func_attr a, int v))          \
    X(mem_info, cuMemGetInfo_v2, NULL, true, (size_t * free, size_t * total))                           \
    X(mem_alloc, cuMemAlloc_v2, NULL, true, (drv_ptr * p, size_t n))                                    \
    X(mem_free, cuMemFree_v2, NULL, true, (drv_ptr p))                                                  \
    X(host_alloc, cuMemAllocHost_v2, NULL, true, (void **p, size_t n))                                  \
    X(host_free, cuMemFreeHost, NULL, true, (void *p))                                                  \
    X(copy_out, cuMemcpyDtoH_v2, NULL, true, (void *to, drv_ptr from, size_t n))                        \
    X(copy_in_async, cuMemcpyHtoDAsync_v2, NULL, true,                                                  \
      (drv_ptr to, const void *from, size_t n, drv_stream s))                                           \
    X(copy_async, cuMemcpyDtoDAsync_v2, NULL, true, (drv_ptr to, drv_ptr from, size_t n, drv_stream s)) \
    X(set_async, cuMemsetD8Async, NULL, true, (drv_ptr to, unsigned char v, size_t n, drv_stream s))    \
    X(stream_create, cuStreamCreate, NULL, true, (drv_stream * s, unsigned flags))                      \
    X(stream_destroy, cuStreamDestroy_v2, NULL, true, (drv_stream s))                                   \
    X(event_create, cuEventCreate, NULL, true, (drv_event * e, unsigned flags))                         \
    X(event_destroy, cuEventDestroy_v2, NULL, true, (drv_event e))                                      \
    X(event_record, cuEventRecord, NULL, true, (drv_event e, drv_stream s))                             \
    X(event_query, cuEventQuery, NULL, true, (drv_event e))                                             \
    X(event_elapsed, cuEventElapsedTime_v2, "cuEventElapsedTime", true,                                 \
      (float *ms, drv_event a, drv_event b))                                                            \
    X(launch, cuLaunchKernel, NULL, true,                                                               \
      (drv_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,    \
       unsigned shared, drv_stream s, void **params, void **extra))                                     \
    X(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor, NULL, true,                               \
      (int *n, drv_function f, int threads, size_t shared))                                             \
    X(link_create, cuLinkCreate_v2, NULL, false,                                                        \
      (unsigned n, drv_jit_option *o, void **v, drv_link *l))                                           \
    X(link_add_data, cuLinkAddData_v2, NULL, false,                                                     \
      (drv_link l, drv_input kind, void *data, size_t n, const char *name, unsigned nopts,              \
       drv_jit_option *o, void **v))                                                                    \
    X(link_add_file, cuLinkAddFile_v2, NULL, false,                                                     \
      (drv_link l, drv_input kind, const char *path, unsigned n, drv_jit_option *o, void **v))          \
    X(link_complete, cuLinkComplete, NULL, false, (drv_link l, void **image, size_t *n))                \
    X(link_destroy, cuLinkDestroy, NULL, false, (drv_link l))                                           \
    X(limit_get, cuCtxGetLimit, NULL, false, (size_t * v, drv_limit l))                                 \
    X(limit_set, cuCtxSetLimit, NULL, false, (drv_limit l, size_t v))                                   \
    X(stream_set_attr, cuStreamSetAttribute, NULL, false,                                               \
      (drv_stream s, drv_stream_attr a, const drv_stream_value *v))                                     \
    X(persisting_reset, cuCtxResetPersistingL2Cache, NULL, false, (void))                               \
    X(stream_wait, cuStreamWaitValue32_v2, "cuStreamWaitValue32", false,                                \
      (drv_stream s, drv_ptr at, unsigned v, unsigned flags))                                           \
    X(launch_ex, cuLaunchKernelEx, NULL, false,                                                         \
      (const drv_launch_config *c, drv_function f, void **params, void **extra))                        \
    X(launch_cooperative, cuLaunchCooperativeKernel, NULL, false,                                       \
      (drv_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,    \
       unsigned shared, drv_stream s, void **params))
struct drv {
    void *library;
    int version; /* 1000*major + 10*minor, of the driver's CUDA */
#define X(field, name, older, needed, params) drv_result(*field) params;
    DRV_API(X)
#undef X
};
#define DRV_OLDEST 11000

/* Opens libcuda.so.1, by name or where WSL, containers and NixOS keep it (or what GPULOCW_LIBCUDA
 * names), finds every function and starts the driver. ST_DEVICE: every missing name is in one
 * diagnostic; *absent says that there is no library at all. */
enum status drv_open(struct drv *d, bool *absent, struct diags *ds);
void drv_close(struct drv *d);
/* ST_OK, or ST_DEVICE with "what: explanation", and as a hint what to do where that is known; ST_NOMEM
 * is never returned: device memory is not the host's. */
enum status drv_check(const struct drv *d, drv_result e, const char *what, struct diags *ds);
/* Errors after which a context is of no more use. */
bool drv_is_sticky(drv_result e);
