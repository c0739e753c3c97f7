/* Graphs: captured from streams, and made of nodes. */
#include "engine/emulate/driver/copy.h"
#include "engine/emulate/runtime/graph.h"

/* The runtime's functions of graphs. */
int cudaGraphCreate(cudaGraph_t *g, unsigned flags);
int cudaGraphInstantiateWithFlags(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags);
int cudaGraphAddKernelNode(cudaGraphNode_t *n, cudaGraph_t g, cudaGraphNode_t const *before, size_t k,
                           const struct cudaKernelNodeParams *p);
int cudaGraphAddMemsetNode(cudaGraphNode_t *n, cudaGraph_t g, cudaGraphNode_t const *before, size_t k,
                           const struct cudaMemsetParams *p);
int cudaGraphAddDependencies_v2(cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to,
                                const void *data, size_t n);
int cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p);
int cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *p);
int cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                     const struct cudaKernelNodeParams *p);
int cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                     const struct cudaMemsetParams *p);
int cudaGraphGetEdges_v2(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data,
                         size_t *n);
int cudaGraphNodeGetDependencies_v2(cudaGraphNode_t k, cudaGraphNode_t *out, void *data, size_t *n);
int cudaGraphNodeGetDependentNodes_v2(cudaGraphNode_t k, cudaGraphNode_t *out, void *data, size_t *n);
int cudaGraphRemoveDependencies_v2(cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to,
                                   const void *data, size_t n);
int cudaStreamBeginCapture(cudaStream_t s, int mode);
int cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *out),
    cudaThreadExchangeStreamCaptureMode(int *mode);

/* ---- graphs ---- */
SAME(cuGraphCreate, (cudaGraph_t * out, unsigned flags),
     flags ? CUDA_ERROR_INVALID_VALUE : cudaGraphCreate(out, flags))
TWIN(GraphDestroy, (cudaGraph_t g), g)
TWIN(GraphClone, (cudaGraph_t * out, cudaGraph_t g), out, g)
TWIN(GraphInstantiateWithFlags, (cudaGraphExec_t * x, cudaGraph_t g, unsigned long long flags), x, g,
     flags)
TWIN(GraphExecGetFlags, (cudaGraphExec_t x, unsigned long long *flags), x, flags)
TWIN(GraphExecDestroy, (cudaGraphExec_t x), x)
TWIN(GraphUpload, (cudaGraphExec_t x, cudaStream_t s), x, s)
TWIN(GraphLaunch, (cudaGraphExec_t x, cudaStream_t s), x, s)

/* CUDA_GRAPH_INSTANTIATE_PARAMS. */
struct instantiate {
    uint64_t flags;
    cudaStream_t upload;
    cudaGraphNode_t error;
    int result;
};
static CUresult instantiate(cudaGraphExec_t *x, cudaGraph_t g, struct instantiate *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cudaGraphInstantiateWithFlags(x, g, p->flags);
    p->error = NULL;
    p->result = e != CUDA_SUCCESS;
    return e;
}

SAME(cuGraphInstantiateWithParams, (cudaGraphExec_t * x, cudaGraph_t g, struct instantiate *p),
     instantiate(x, g, p))

static CUresult instantiate_old(cudaGraphExec_t *x, cudaGraph_t g, cudaGraphNode_t *wrong, char *log,
                                size_t room)
{
    if (wrong)
        *wrong = NULL;
    if (log && room)
        *log = 0;
    return cudaGraphInstantiateWithFlags(x, g, 0);
}

SAME(cuGraphInstantiate,
     (cudaGraphExec_t * x, cudaGraph_t g, cudaGraphNode_t *wrong, char *log, size_t room),
     instantiate_old(x, g, wrong, log, room))
SAME(cuGraphInstantiate_v2,
     (cudaGraphExec_t * x, cudaGraph_t g, cudaGraphNode_t *wrong, char *log, size_t room),
     instantiate_old(x, g, wrong, log, room))

static CUresult update(cudaGraphExec_t x, cudaGraph_t g, cudaGraphNode_t *wrong, int *result)
{
    if (wrong)
        *wrong = NULL;
    return graph_update(x, g, result);
}

SAME(cuGraphExecUpdate, (cudaGraphExec_t x, cudaGraph_t g, cudaGraphNode_t *wrong, int *result),
     update(x, g, wrong, result))
SAME(cuGraphExecUpdate_v2, (cudaGraphExec_t x, cudaGraph_t g, void *result), graph_update(x, g, result))

/* ---- asked and changed ---- */
#define LIST cudaGraphNode_t k, cudaGraphNode_t *out
SAME(cuGraphGetEdges, (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, size_t *n),
     cudaGraphGetEdges_v2(g, from, to, NULL, n))
TWIN(GraphGetEdges_v2,
     (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data, size_t *n), g, from, to,
     data, n)
SAME(cuGraphNodeGetDependencies, (LIST, size_t *n), cudaGraphNodeGetDependencies_v2(k, out, NULL, n))
TWIN(GraphNodeGetDependencies_v2, (LIST, void *data, size_t *n), k, out, data, n)
SAME(cuGraphNodeGetDependentNodes, (LIST, size_t *n), cudaGraphNodeGetDependentNodes_v2(k, out, NULL, n))
TWIN(GraphNodeGetDependentNodes_v2, (LIST, void *data, size_t *n), k, out, data, n)
SAME(cuGraphRemoveDependencies,
     (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n),
     cudaGraphRemoveDependencies_v2(g, from, to, NULL, n))
TWIN(GraphRemoveDependencies_v2,
     (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, const void *data, size_t n),
     g, from, to, data, n)
TWIN(GraphDestroyNode, (cudaGraphNode_t k), k)
TWIN(GraphNodeFindInClone, (cudaGraphNode_t * out, cudaGraphNode_t k, cudaGraph_t clone), out, k, clone)
TWIN(GraphChildGraphNodeGetGraph, (cudaGraphNode_t k, cudaGraph_t *out), k, out)
TWIN(GraphExecChildGraphNodeSetParams, (cudaGraphExec_t x, cudaGraphNode_t k, cudaGraph_t child), x, k,
     child)
TWIN(GraphHostNodeGetParams, (cudaGraphNode_t k, struct cudaHostNodeParams *p), k, p)
TWIN(GraphHostNodeSetParams, (cudaGraphNode_t k, const struct cudaHostNodeParams *p), k, p)
TWIN(GraphMemsetNodeGetParams, (cudaGraphNode_t k, struct cudaMemsetParams *p), k, p)
TWIN(GraphEventRecordNodeGetEvent, (cudaGraphNode_t k, cudaEvent_t *e), k, e)
TWIN(GraphEventRecordNodeSetEvent, (cudaGraphNode_t k, cudaEvent_t e), k, e)
TWIN(GraphExecEventRecordNodeSetEvent, (cudaGraphExec_t x, cudaGraphNode_t k, cudaEvent_t e), x, k, e)

/* ---- nodes ---- */
#define NODE cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n
TWIN(GraphAddEmptyNode, (NODE), out, g, before, n)
TWIN(GraphAddHostNode, (NODE, const struct cudaHostNodeParams *p), out, g, before, n, p)
TWIN(GraphAddChildGraphNode, (NODE, cudaGraph_t child), out, g, before, n, child)
TWIN(GraphAddEventRecordNode, (NODE, cudaEvent_t e), out, g, before, n, e)
TWIN(GraphAddEventWaitNode, (NODE, cudaEvent_t e), out, g, before, n, e)
SAME(cuGraphAddMemsetNode, (NODE, const struct cudaMemsetParams *p, CUcontext c),
     ((void)c, cudaGraphAddMemsetNode(out, g, before, n, p)))

/* The runtime's structure, and two words behind it. */
struct kernel_node {
    struct cudaKernelNodeParams first;
    void *kernel;
    CUcontext context;
};
static struct cudaKernelNodeParams plain(const struct kernel_node *p)
{
    struct cudaKernelNodeParams k = p->first;
    k.func = k.func ? k.func : p->kernel;
    return k;
}

static CUresult add_kernel(NODE, const struct kernel_node *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cudaKernelNodeParams k = plain(p);
    return cudaGraphAddKernelNode(out, g, before, n, &k);
}

TWIN(GraphAddKernelNode, (NODE, const struct cudaKernelNodeParams *p), out, g, before, n, p)
SAME(cuGraphAddKernelNode_v2, (NODE, const struct kernel_node *p), add_kernel(out, g, before, n, p))

static CUresult add_copy(NODE, const struct memcpy3d *c)
{
    struct op op;
    struct copy_given given;
    CUresult e = copy3d_given(c, &given);
    e = e ? e : copy_op(&op, &given);
    return e ? e : out ? graph_add(g, &op, before, n, out) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuGraphAddMemcpyNode, (NODE, const struct memcpy3d *c, CUcontext x),
     ((void)x, add_copy(out, g, before, n, c)))

SAME(cuGraphAddDependencies,
     (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n),
     cudaGraphAddDependencies_v2(g, from, to, NULL, n))
TWIN(GraphAddDependencies_v2,
     (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, const void *data, size_t n),
     g, from, to, data, n)
TWIN(GraphGetNodes, (cudaGraph_t g, cudaGraphNode_t *out, size_t *n), g, out, n)
TWIN(GraphGetRootNodes, (cudaGraph_t g, cudaGraphNode_t *out, size_t *n), g, out, n)
TWIN(GraphNodeGetType, (cudaGraphNode_t n, int *type), n, type)

/* ---- changing ---- */
static CUresult set_kernel(cudaGraphExec_t x, cudaGraphNode_t n, const struct kernel_node *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cudaKernelNodeParams k = plain(p);
    return x ? cudaGraphExecKernelNodeSetParams(x, n, &k) : cudaGraphKernelNodeSetParams(n, &k);
}

static CUresult get_kernel(cudaGraphNode_t n, struct kernel_node *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult e = cudaGraphKernelNodeGetParams(n, &p->first);
    if (e)
        return e;
    p->kernel = NULL;
    p->context = context_now();
    return e;
}

TWIN(GraphKernelNodeSetParams, (cudaGraphNode_t n, const struct cudaKernelNodeParams *p), n, p)
SAME(cuGraphKernelNodeSetParams_v2, (cudaGraphNode_t n, const struct kernel_node *p),
     set_kernel(NULL, n, p))
TWIN(GraphKernelNodeGetParams, (cudaGraphNode_t n, struct cudaKernelNodeParams *p), n, p)
SAME(cuGraphKernelNodeGetParams_v2, (cudaGraphNode_t n, struct kernel_node *p), get_kernel(n, p))
TWIN(GraphExecKernelNodeSetParams,
     (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaKernelNodeParams *p), x, n, p)
SAME(cuGraphExecKernelNodeSetParams_v2,
     (cudaGraphExec_t x, cudaGraphNode_t n, const struct kernel_node *p),
     x ? set_kernel(x, n, p) : CUDA_ERROR_INVALID_VALUE)
TWIN(GraphMemsetNodeSetParams, (cudaGraphNode_t n, const struct cudaMemsetParams *p), n, p)
SAME(cuGraphExecMemsetNodeSetParams,
     (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaMemsetParams *p, CUcontext c),
     ((void)c, cudaGraphExecMemsetNodeSetParams(x, n, p)))
TWIN(GraphExecHostNodeSetParams,
     (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaHostNodeParams *p), x, n, p)
TWIN(GraphNodeSetEnabled, (cudaGraphExec_t x, cudaGraphNode_t n, unsigned on), x, n, on)
TWIN(GraphNodeGetEnabled, (cudaGraphExec_t x, cudaGraphNode_t n, unsigned *on), x, n, on)

/* ---- capture ---- */
static CUresult captured(cudaStream_t s, cudaGraph_t *out)
{
    return out ? cudaStreamEndCapture(s, out) : CUDA_ERROR_INVALID_VALUE;
}

SAME(cuStreamBeginCapture, (cudaStream_t s), cudaStreamBeginCapture(s, 0))
SAME(cuStreamBeginCapture_v2, (cudaStream_t s, int mode),
     mode<0 || mode> 2 ? CUDA_ERROR_INVALID_VALUE : cudaStreamBeginCapture(s, mode))
SAME(cuStreamEndCapture, (cudaStream_t s, cudaGraph_t *out), captured(s, out))
TWIN(StreamIsCapturing, (cudaStream_t s, int *status), s, status)
SAME(cuStreamGetCaptureInfo, (cudaStream_t s, int *status, unsigned long long *id),
     capture_info(s, status, id, NULL, NULL, NULL))
SAME(cuStreamGetCaptureInfo_v2,
     (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *g, cudaGraphNode_t const **last,
      size_t *n),
     capture_info(s, status, id, g, last, n))

static CUresult info3(cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *g,
                      cudaGraphNode_t const **last, const void **edges, size_t *n)
{
    if (edges)
        *edges = NULL;
    return capture_info(s, status, id, g, last, n);
}

SAME(cuStreamGetCaptureInfo_v3,
     (cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *g, cudaGraphNode_t const **last,
      const void **edges, size_t *n),
     info3(s, status, id, g, last, edges, n))

SAME(cuStreamUpdateCaptureDependencies, (cudaStream_t s, cudaGraphNode_t *v, size_t n, unsigned alone),
     capture_waits(s, v, n, alone))
SAME(cuStreamUpdateCaptureDependencies_v2,
     (cudaStream_t s, cudaGraphNode_t *v, const void *edges, size_t n, unsigned alone),
     ((void)edges, capture_waits(s, v, n, alone)))

ENDS(cuThreadExchangeStreamCaptureMode, (int *mode), cudaThreadExchangeStreamCaptureMode(mode))
