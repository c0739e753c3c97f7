/* Launches of every form; what a function may have, and how much of it fits. */
#include "engine/emulate/driver/driver.h"

typedef struct kernel *CUfunction;

bool is_function(const void *f)
{
    return handle_is(f, HANDLE_KERNEL);
}

/* ---- launches ---- */
/* As cuda.h has it. */
struct launch_config {
    unsigned grid[3], block[3];
    unsigned shared;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attr;
    unsigned nattr;
};

static CUresult launch(CUfunction f, const struct launch_config *c, void **args, void **extra)
{
    if (!c || !is_function(f))
        return c ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    const struct launch_want w = { .f = f,
                                   .grid = { c->grid[0], c->grid[1], c->grid[2] },
                                   .block = { c->block[0], c->block[1], c->block[2] },
                                   .shared = c->shared,
                                   .args = args,
                                   .extra = extra,
                                   .attr = c->attr,
                                   .nattr = c->nattr };
    return launch_do(&w, c->stream);
}

EXPORT CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, cudaStream_t s, void **args,
                               void **extra)
{
    const struct launch_config c = { { gx, gy, gz }, { bx, by, bz }, shared, s, NULL, 0 };
    DRIVER(true, launch(f, &c, args, extra));
}

EXPORT CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                          cudaStream_t s, void **args)
{
    struct cudaLaunchAttribute a = { .id = AttributeCooperative, .val.number = 1 };
    const struct launch_config c = { { gx, gy, gz }, { bx, by, bz }, shared, s, &a, 1 };
    DRIVER(true, launch(f, &c, args, NULL));
}

SAME(cuLaunchKernelEx, (const struct launch_config *c, CUfunction f, void **args, void **extra),
     launch(f, c, args, extra))

/* ---- attributes ---- */
enum {
    MAX_THREADS,
    SHARED_BYTES,
    CONST_BYTES,
    LOCAL_BYTES,
    REGISTERS,
    PTX_VERSION,
    BINARY_VERSION,
    CACHE_MODE,
    SHARED_MOST,
    CARVEOUT,
    CLUSTER_NEEDED,
    CLUSTER_WIDTH,
    CLUSTER_DEPTH = CLUSTER_WIDTH + 2,
    CLUSTER_ANY_SIZE,
    CLUSTER_POLICY,
    FUNCTION_ATTRIBUTES
};

static CUresult get_attribute(int *out, int what, CUfunction f)
{
    CUresult e;
    const struct kernel *k = is_function(f) ? kernel_of(f, &e) : NULL;
    if (!out || !k || what < 0 || what >= FUNCTION_ATTRIBUTES)
        return out && !k ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    const struct cudaFuncAttributes a = attributes_of(k);
    const uint32_t *cluster = k->facts.cluster;
    const int v[FUNCTION_ATTRIBUTES] = { [MAX_THREADS] = a.maxThreadsPerBlock,
                                         [SHARED_BYTES] = (int)a.sharedSizeBytes,
                                         [CONST_BYTES] = (int)a.constSizeBytes,
                                         [LOCAL_BYTES] = (int)a.localSizeBytes,
                                         [REGISTERS] = a.numRegs,
                                         [PTX_VERSION] = a.ptxVersion,
                                         [BINARY_VERSION] = a.binaryVersion,
                                         [CACHE_MODE] = a.cacheModeCA,
                                         [SHARED_MOST] = a.maxDynamicSharedSizeBytes,
                                         [CARVEOUT] = a.preferredShmemCarveout,
                                         [CLUSTER_WIDTH] = (int)cluster[0],
                                         [CLUSTER_WIDTH + 1] = (int)cluster[1],
                                         [CLUSTER_DEPTH] = (int)cluster[2] };
    *out = v[what];
    return CUDA_SUCCESS;
}

SAME(cuFuncGetAttribute, (int *out, int what, CUfunction f), get_attribute(out, what, f))

ENDS(cuKernelGetAttribute, (int *out, int what, CUfunction k, CUdevice id),
     id ? CUDA_ERROR_INVALID_DEVICE : get_attribute(out, what, k))

static CUresult set_attribute(CUfunction f, int what, int v)
{
    if (!is_function(f))
        return CUDA_ERROR_INVALID_HANDLE;
    if (what >= CLUSTER_WIDTH && what <= CLUSTER_DEPTH)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (what < SHARED_MOST || what == CLUSTER_NEEDED || what >= FUNCTION_ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    return cudaFuncSetAttribute(f, what, v);
}

SAME(cuFuncSetAttribute, (CUfunction f, int what, int v), set_attribute(f, what, v))

ENDS(cuKernelSetAttribute, (int what, int v, CUfunction k, CUdevice id),
     id ? CUDA_ERROR_INVALID_DEVICE : set_attribute(k, what, v))

/* What only asks for a preference that this device does not have. */
TWIN(FuncSetCacheConfig, (const void *f, int config), f, config)
SAME(cuFuncSetSharedMemConfig, (CUfunction f, int config), cudaFuncSetCacheConfig(f, config))

ENDS(cuKernelSetCacheConfig, (CUfunction k, int config, CUdevice id),
     id ? CUDA_ERROR_INVALID_DEVICE : cudaFuncSetCacheConfig(k, config))

TWIN(FuncGetParamInfo, (const void *f, size_t i, size_t *offset, size_t *bytes), f, i, offset, bytes)

ENDS(cuKernelGetParamInfo, (CUfunction k, size_t i, size_t *offset, size_t *bytes),
     cudaFuncGetParamInfo(k, i, offset, bytes))

/* ---- occupancy ---- */
TWIN(OccupancyMaxActiveBlocksPerMultiprocessor, (int *n, const void *f, int threads, size_t shared), n,
     f, threads, shared)
SAME(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
     (int *n, CUfunction f, int threads, size_t shared, unsigned flags),
     ((void)flags, cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared)))
TWIN(OccupancyAvailableDynamicSMemPerBlock, (size_t * bytes, CUfunction f, int ctas, int threads), bytes,
     f, ctas, threads)

/* The largest block among those with which most threads are resident. */
static CUresult best_block(int *ctas, int *threads, CUfunction f, size_t (*shared_of)(int threads),
                           size_t shared, int limit)
{
    CUresult e = CUDA_SUCCESS;
    int most, best = 0;
    if (!ctas || !threads)
        return CUDA_ERROR_INVALID_VALUE;
    if ((e = get_attribute(&most, MAX_THREADS, f)) != CUDA_SUCCESS)
        return e;
    most = limit > 0 && limit < most ? limit : most;
    *ctas = *threads = 0;
    for (int n = most; n > 0 && !e; n = n % 32 ? n / 32 * 32 : n - 32) {
        int fit = 0;
        e = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, f, n, shared_of ? shared_of(n) : shared);
        if (e || fit * n <= best)
            continue;
        best = fit * n;
        *threads = n;
        *ctas = fit * (int)device()->sms;
    }
    return e;
}

SAME(cuOccupancyMaxPotentialBlockSize,
     (int *ctas, int *threads, CUfunction f, size_t (*shared_of)(int threads), size_t shared, int limit),
     best_block(ctas, threads, f, shared_of, shared, limit))
SAME(cuOccupancyMaxPotentialBlockSizeWithFlags,
     (int *ctas, int *threads, CUfunction f, size_t (*shared_of)(int threads), size_t shared, int limit,
      unsigned flags),
     ((void)flags, best_block(ctas, threads, f, shared_of, shared, limit)))

static CUresult clusters(int *n, CUfunction f, const struct launch_config *c, bool size)
{
    if (!n || !c)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cudaLaunchConfig r = { { c->grid[0], c->grid[1], c->grid[2] },
                                        { c->block[0], c->block[1], c->block[2] },
                                        c->shared,
                                        c->stream,
                                        c->attr,
                                        c->nattr };
    return size ? cudaOccupancyMaxPotentialClusterSize(n, f, &r)
                : cudaOccupancyMaxActiveClusters(n, f, &r);
}

SAME(cuOccupancyMaxActiveClusters, (int *n, CUfunction f, const struct launch_config *c),
     clusters(n, f, c, false))
SAME(cuOccupancyMaxPotentialClusterSize, (int *n, CUfunction f, const struct launch_config *c),
     clusters(n, f, c, true))
