/* Launches; what a kernel may have, and how much of it fits. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

#define SHARED_DEFAULT 49152u /* bytes of shared memory that need no attribute */
#define CONFIGS        64

/* ---- <<<...>>> ---- */
struct config {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
};
static _Thread_local struct config config[CONFIGS];
static _Thread_local unsigned nconfigs;

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t s)
{
    if (nconfigs == CONFIGS)
        return 1;
    config[nconfigs++] = (struct config){ grid, block, shared, s };
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *s)
{
    if (!nconfigs)
        return give(cudaErrorMissingConfiguration);
    const struct config *c = &config[--nconfigs];
    *grid = c->grid;
    *block = c->block;
    *shared = c->shared;
    memcpy(s, &c->stream, sizeof c->stream);
    return cudaSuccess;
}

/* ---- checks that a launch is refused by before it runs ---- */
static size_t shared_most(const struct kernel *k)
{
    size_t own = k->facts.shared_static;
    size_t most = k->shared_most >= 0    ? (size_t)k->shared_most
                  : own < SHARED_DEFAULT ? SHARED_DEFAULT - own
                                         : 0;
    size_t optin = device()->shared_optin > own ? device()->shared_optin - own : 0;
    return most < optin ? most : optin;
}

static bool ask_fits(const struct wire_launch *l, struct wire_fits *f)
{
    return ask(WIRE_FITS, l, sizeof *l, NULL, 0, f, sizeof *f, NULL, NULL);
}

/* One code for every shape that a kernel or the device does not take, as the runtime 13 on an H200 has. */
static cudaError_t check_shape(const struct kernel *k, const struct wire_launch *l)
{
    uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    uint64_t ctas = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    if (!threads || !ctas || threads > device()->threads_per_block || l->block[2] > 64 ||
        l->grid[0] > 0x7fffffff || l->grid[1] > 65535 || l->grid[2] > 65535 ||
        threads > k->facts.max_threads || l->shared > shared_most(k))
        return cudaErrorInvalidValue;
    if ((uint64_t)k->facts.regs * threads > device()->regs_per_sm)
        return cudaErrorLaunchOutOfResources;
    uint64_t cluster = (uint64_t)l->cluster[0] * l->cluster[1] * l->cluster[2];
    if (l->cluster[0] && (device()->cc_major < 9 || cluster > 16 || l->grid[0] % l->cluster[0] ||
                          l->grid[1] % l->cluster[1] || l->grid[2] % l->cluster[2]))
        return device()->cc_major < 9 ? cudaErrorNotSupported : cudaErrorInvalidClusterSize;
    struct wire_fits f = { 0 };
    if (l->cooperative && ask_fits(l, &f) && ctas > f.ctas)
        return cudaErrorCooperativeLaunchTooLarge;
    return cudaSuccess;
}

/* The driver's list: what a word says, and its value behind it. */
enum { EXTRA_END, EXTRA_BUFFER, EXTRA_SIZE };
static cudaError_t put_buffer(struct op *op, void *const *extra)
{
    const void *from = NULL;
    const size_t *n = NULL;
    for (; (uintptr_t)*extra != EXTRA_END; extra += 2) {
        if ((uintptr_t)*extra > EXTRA_SIZE)
            return cudaErrorInvalidValue;
        from = (uintptr_t)*extra == EXTRA_BUFFER ? extra[1] : from;
        n = (uintptr_t)*extra == EXTRA_SIZE ? extra[1] : n;
    }
    if (!n || *n < op->launch.nparams || (!from && *n))
        return cudaErrorInvalidValue;
    if (op->launch.nparams)
        memcpy(op->launch.params, from, op->launch.nparams);
    return cudaSuccess;
}

static cudaError_t put_params(struct op *op, void **args, void **extra)
{
    const struct kernel *k = op->launch.kernel;
    op->launch.nparams = k->facts.param_bytes;
    op->launch.params = calloc(1, op->launch.nparams + 1);
    if (!op->launch.params)
        return cudaErrorMemoryAllocation;
    if (extra)
        return args ? cudaErrorInvalidValue : put_buffer(op, extra);
    for (uint32_t i = 0; i < k->facts.nparams; i++) {
        if (!args || !args[i])
            return cudaErrorInvalidValue;
        memcpy(op->launch.params + k->param[i].offset, args[i], k->param[i].bytes);
    }
    return cudaSuccess;
}

cudaError_t launch_op(struct op *op, const struct launch_want *w)
{
    cudaError_t e;
    struct kernel *k = kernel_of(w->f, &e);
    if (!k || !here(k->owner))
        return k ? cudaErrorInvalidResourceHandle : e;
    *op = (struct op){ .kind = OP_LAUNCH };
    op->launch.kernel = k;
    op->launch.shape = (struct wire_launch){ .kernel = k->facts.id,
                                             .grid = { w->grid.x, w->grid.y, w->grid.z },
                                             .block = { w->block.x, w->block.y, w->block.z },
                                             .shared = (uint32_t)w->shared,
                                             .carveout = k->carveout };
    for (unsigned i = 0; w->attr && i < w->nattr; i++) {
        if (w->attr[i].id == AttributeCooperative)
            op->launch.shape.cooperative = w->attr[i].val.number != 0;
        if (w->attr[i].id == AttributeCluster)
            memcpy(op->launch.shape.cluster, &w->attr[i].val.dim, sizeof op->launch.shape.cluster);
    }
    e = w->shared > UINT32_MAX || (w->nattr && !w->attr) ? cudaErrorInvalidValue
                                                         : check_shape(k, &op->launch.shape);
    if (!e)
        e = put_params(op, w->args, w->extra);
    if (e)
        op_free(op);
    return e;
}

cudaError_t launch_do(const struct launch_want *w, cudaStream_t s)
{
    struct op op;
    const struct stream *k = stream_of(s);
    if (!k || !here(k->owner))
        return cudaErrorInvalidResourceHandle;
    cudaError_t e = launch_op(&op, w);
    return e ? e : op_do(&op, s);
}

static cudaError_t launch(const struct launch_want *w, cudaStream_t s)
{
    BEGIN
    END(launch_do(w, s));
}

EXPORT cudaError_t cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
                                    cudaStream_t s)
{
    const struct launch_want w = { f, grid, block, shared, args, NULL, NULL, 0 };
    return launch(&w, s);
}

PLAIN(__cudaLaunchKernel,
      (const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s),
      cudaLaunchKernel(f, grid, block, args, shared, s))

EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *f, dim3 grid, dim3 block, void **args,
                                               size_t shared, cudaStream_t s)
{
    const struct cudaLaunchAttribute a = { .id = AttributeCooperative, .val.number = 1 };
    const struct launch_want w = { f, grid, block, shared, args, NULL, &a, 1 };
    return launch(&w, s);
}

EXPORT cudaError_t cudaLaunchKernelExC(const struct cudaLaunchConfig *c, const void *f, void **args)
{
    if (!c)
        return give(cudaErrorInvalidValue);
    const struct launch_want w = { f,    c->gridDim, c->blockDim, c->dynamicSmemBytes,
                                   args, NULL,       c->attrs,    c->numAttrs };
    return launch(&w, c->stream);
}

/* ---- attributes ---- */
struct cudaFuncAttributes attributes_of(const struct kernel *k)
{
    int cc = (int)(10 * device()->cc_major + device()->cc_minor);
    return (struct cudaFuncAttributes){ .sharedSizeBytes = k->facts.shared_static,
                                        .constSizeBytes = k->facts.const_bytes,
                                        .localSizeBytes = k->facts.local_bytes,
                                        .maxThreadsPerBlock = (int)k->facts.max_threads,
                                        .numRegs = (int)k->facts.regs,
                                        .ptxVersion = cc,
                                        .binaryVersion = cc,
                                        .maxDynamicSharedSizeBytes = (int)shared_most(k),
                                        .preferredShmemCarveout = k->carveout };
}

static void put_clusters(struct cudaFuncClusters *c, const struct kernel *k)
{
    const uint32_t *want = k->facts.cluster;
    *c = (struct cudaFuncClusters){ .clusterDimMustBeSet = want[0] != 0,
                                    .requiredClusterWidth = (int)want[0],
                                    .requiredClusterHeight = (int)want[1],
                                    .requiredClusterDepth = (int)want[2] };
}

EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f)
{
    cudaError_t e;
    BEGIN
    if (!a)
        END(cudaErrorInvalidValue);
    const struct kernel *k = kernel_of(f, &e);
    if (k)
        *a = attributes_of(k);
    if (k && runtime_version() >= 12000)
        put_clusters((struct cudaFuncClusters *)(a + 1), k);
    END(e);
}

enum { FUNC_SHARED_MOST = 8, FUNC_CARVEOUT = 9 };
EXPORT cudaError_t cudaFuncSetAttribute(const void *f, int attribute, int value)
{
    cudaError_t e;
    BEGIN
    struct kernel *k = kernel_of(f, &e);
    if (!k)
        END(e);
    size_t own = k->facts.shared_static;
    if (attribute == FUNC_SHARED_MOST && (value < 0 || (size_t)value + own > device()->shared_optin))
        END(cudaErrorInvalidValue);
    if (attribute == FUNC_SHARED_MOST)
        k->shared_most = value;
    if (attribute == FUNC_CARVEOUT)
        k->carveout = value > 100 ? 100 : value;
    END(cudaSuccess);
}

/* What only asks for a preference that this device does not have. */
static cudaError_t noted(const void *f)
{
    cudaError_t e;
    BEGIN
    kernel_of(f, &e);
    END(e);
}

PLAIN(cudaFuncSetCacheConfig, (const void *f, int config_wanted), ((void)config_wanted, noted(f)))
PLAIN(cudaFuncSetSharedMemConfig, (const void *f, int config_wanted), ((void)config_wanted, noted(f)))

EXPORT cudaError_t cudaFuncGetParamInfo(const void *f, size_t i, size_t *offset, size_t *bytes)
{
    cudaError_t e;
    BEGIN
    if (!offset)
        END(cudaErrorInvalidValue);
    struct kernel *k = kernel_of(f, &e);
    if (k && i >= k->facts.nparams)
        e = cudaErrorInvalidValue;
    if (k && !e) {
        *offset = k->param[i].offset;
        if (bytes)
            *bytes = k->param[i].bytes;
    }
    END(e);
}

/* ---- occupancy ---- */
static cudaError_t fits(const void *f, unsigned threads, size_t shared, struct wire_fits *out)
{
    cudaError_t e;
    struct kernel *k = kernel_of(f, &e);
    if (!k)
        return e;
    const struct wire_launch l = { .kernel = k->facts.id,
                                   .grid = { 1, 1, 1 },
                                   .block = { threads, 1, 1 },
                                   .shared = (uint32_t)shared,
                                   .carveout = k->carveout };
    if (!threads)
        return cudaErrorInvalidValue;
    if (threads > device()->threads_per_block || threads > k->facts.max_threads) {
        *out = (struct wire_fits){ 0 };
        return cudaSuccess;
    }
    return ask_fits(&l, out) ? cudaSuccess : sticky();
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads,
                                                                 size_t shared)
{
    struct wire_fits r;
    BEGIN
    if (!n)
        END(cudaErrorInvalidValue);
    cudaError_t e = threads > 0 ? fits(f, (unsigned)threads, shared, &r) : cudaErrorInvalidValue;
    if (!e)
        *n = (int)r.ctas_per_sm;
    END(e);
}

PLAIN(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
      (int *n, const void *f, int threads, size_t shared, unsigned flags),
      ((void)flags, cudaOccupancyMaxActiveBlocksPerMultiprocessor(n, f, threads, shared)))

EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *f, int ctas,
                                                             int threads)
{
    cudaError_t e;
    (void)threads;
    BEGIN
    if (!bytes)
        END(cudaErrorInvalidValue);
    struct kernel *k = kernel_of(f, &e);
    if (k && ctas < 1)
        e = cudaErrorInvalidValue;
    if (k && !e) {
        size_t each = device()->shared_per_sm / (size_t)ctas / 256 * 256;
        size_t own = device()->reserved_shared + k->facts.shared_static;
        each = each > own ? each - own : 0;
        *bytes = each < shared_most(k) ? each : shared_most(k);
    }
    END(e);
}

static cudaError_t clusters(int *n, const void *f, const struct cudaLaunchConfig *c)
{
    struct op op;
    if (!n || !c || (c->numAttrs && !c->attrs))
        return cudaErrorInvalidValue;
    struct wire_fits r = { 0 };
    cudaError_t e;
    struct kernel *k = kernel_of(f, &e);
    if (!k)
        return e;
    op.launch.shape = (struct wire_launch){ .kernel = k->facts.id,
                                            .grid = { c->gridDim.x, c->gridDim.y, c->gridDim.z },
                                            .block = { c->blockDim.x, c->blockDim.y, c->blockDim.z },
                                            .shared = (uint32_t)c->dynamicSmemBytes,
                                            .carveout = k->carveout };
    memcpy(op.launch.shape.cluster, k->facts.cluster, sizeof op.launch.shape.cluster);
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == AttributeCluster)
            memcpy(op.launch.shape.cluster, &c->attrs[i].val.dim, sizeof op.launch.shape.cluster);
    if (!ask_fits(&op.launch.shape, &r))
        return sticky();
    *n = (int)r.clusters;
    return cudaSuccess;
}

LOCKED(cudaOccupancyMaxActiveClusters, (int *n, const void *f, const struct cudaLaunchConfig *c),
       clusters(n, f, c))

EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int *n, const void *f,
                                                        const struct cudaLaunchConfig *c)
{
    BEGIN
    if (!n)
        END(cudaErrorInvalidValue);
    cudaError_t e;
    (void)c;
    kernel_of(f, &e);
    if (!e)
        *n = device()->cc_major >= 9 ? 8 : 1; /* what every launch may ask for */
    END(e);
}
