/* Graphs: operations and what they wait for. Run one after the other, each behind what it waits for. */
#include "engine/emulate/runtime/copy.h"
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

/* An instance: a copy whose nodes are found by those of the graph. */
struct exec {
    cudaGraph_t graph;
    cudaGraphNode_t *of; /* owned: of[i] is what graph->v[i] was made from */
    unsigned long long flags;
};

bool is_graph(const struct graph *g)
{
    return handle_is(g, HANDLE_GRAPH);
}

bool is_node(const struct node *n)
{
    return handle_is(n, HANDLE_NODE);
}

static bool is_exec(const struct exec *x)
{
    return handle_is(x, HANDLE_EXEC);
}

static void exec_free(cudaGraphExec_t x)
{
    handle_drop(x);
    graph_free(x->graph);
    free(x->of);
    free(x);
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
    struct exec *x = out && is_graph(g) ? calloc(1, sizeof *x) : NULL;
    if (!x)
        return out && is_graph(g) ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    x->graph = graph_copy(g);
    x->of = calloc(g->n + 1, sizeof *x->of);
    x->flags = flags;
    if (!x->graph || !x->of || !handle_add(x, HANDLE_EXEC)) {
        exec_free(x);
        return cudaErrorMemoryAllocation;
    }
    if (g->n)
        memcpy(x->of, g->v, g->n * sizeof *x->of);
    *out = x;
    return cudaSuccess;
}

/* ---- graphs ---- */
EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *g, unsigned flags)
{
    (void)flags;
    BEGIN
    if (!g)
        END(cudaErrorInvalidValue);
    *g = graph_new();
    END(*g ? cudaSuccess : cudaErrorMemoryAllocation);
}

LOCKED(cudaGraphDestroy, (cudaGraph_t g), WHERE(is_graph(g), graph_free(g)))

EXPORT cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    *out = is_graph(g) ? graph_copy(g) : NULL;
    END(*out ? cudaSuccess : cudaErrorInvalidValue);
}

/* CUDA 11 has a node and a text of what is wrong behind the graph, CUDA 12 flags. */
EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, uintptr_t flags_or_node,
                                        char *log, size_t n)
{
    bool old = runtime_version() < 12000;
    BEGIN
    if (old && flags_or_node)
        *(cudaGraphNode_t *)flags_or_node = NULL;
    if (old && log && n)
        *log = 0;
    END(instantiate(x, g, 0));
}

LOCKED(cudaGraphInstantiateWithFlags, (cudaGraphExec_t * x, cudaGraph_t g, unsigned long long flags),
       instantiate(x, g, flags))
LOCKED(cudaGraphInstantiateWithParams, (cudaGraphExec_t * x, cudaGraph_t g, void *params),
       ((void)params, instantiate(x, g, 0)))
LOCKED(cudaGraphExecGetFlags, (cudaGraphExec_t x, unsigned long long *flags),
       WHERE(flags &&is_exec(x), *flags = x->flags))
LOCKED(cudaGraphExecDestroy, (cudaGraphExec_t x), WHERE(is_exec(x), exec_free(x)))
LOCKED(cudaGraphUpload, (cudaGraphExec_t x, cudaStream_t s),
       !is_exec(x)    ? cudaErrorInvalidValue
       : stream_of(s) ? cudaSuccess
                      : cudaErrorInvalidResourceHandle)

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    BEGIN
    if (!is_exec(x) || !stream_of(s))
        END(is_exec(x) ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    struct op op = { .kind = OP_CHILD, .child = { capture_of(s) ? graph_copy(x->graph) : x->graph } };
    END(op.child.graph ? op_do(&op, s) : cudaErrorMemoryAllocation);
}

/* The nodes of one graph put into an instance of another, where both are made alike. */
static cudaError_t update(cudaGraphExec_t x, cudaGraph_t g)
{
    if (!is_exec(x) || !is_graph(g))
        return cudaErrorInvalidValue;
    bool alike = x->graph->n == g->n;
    for (size_t i = 0; alike && i < g->n; i++)
        alike =
            x->graph->v[i]->op.kind == g->v[i]->op.kind && x->graph->v[i]->nbefore == g->v[i]->nbefore;
    cudaGraph_t c = alike ? graph_copy(g) : NULL;
    if (!c)
        return alike ? cudaErrorMemoryAllocation : cudaErrorGraphExecUpdateFailure;
    graph_free(x->graph);
    x->graph = c;
    return cudaSuccess;
}

cudaError_t graph_update(cudaGraphExec_t x, cudaGraph_t g, int *result)
{
    BEGIN
    cudaError_t e = update(x, g);
    if (result)
        *result = e ? 1 : 0;
    END(e);
}

/* CUDA 11 takes the place of the node that stands in the way, and that of a word; CUDA 12 a structure that
 * begins with the word. */
EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, void *node_or_result,
                                       int *result)
{
    if (runtime_version() >= 12000)
        return graph_update(x, g, node_or_result);
    if (node_or_result)
        *(cudaGraphNode_t *)node_or_result = NULL;
    return graph_update(x, g, result);
}

/* ---- nodes ---- */
static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n,
                       struct op op)
{
    BEGIN
    END(out ? graph_add(g, &op, before, n, out) : cudaErrorInvalidValue);
}

/* A node whose operation `make` puts into op. */
#define ADDS(name, make, ...)                                                                   \
    EXPORT cudaError_t name(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before, \
                            size_t n, __VA_ARGS__)                                              \
    {                                                                                           \
        struct op op;                                                                           \
        BEGIN                                                                                   \
        cudaError_t e = make;                                                                   \
        END(e ? e : graph_add(g, &op, before, n, out));                                         \
    }

PLAIN(cudaGraphAddEmptyNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n),
      add(out, g, before, n, (struct op){ .kind = OP_EMPTY }))

cudaError_t kernel_op(struct op *op, const struct cudaKernelNodeParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    const struct launch_want w = { .f = p->func,
                                   .grid = p->gridDim,
                                   .block = p->blockDim,
                                   .shared = p->sharedMemBytes,
                                   .args = p->kernelParams,
                                   .extra = p->extra };
    return launch_op(op, &w);
}

ADDS(cudaGraphAddKernelNode, kernel_op(&op, p), const struct cudaKernelNodeParams *p)

struct op set_op(const struct cudaMemsetParams *p)
{
    size_t row = p->width * p->elementSize;
    return (struct op){ .kind = OP_SET,
                        .set = { .to = p->dst,
                                 .pitch = p->height > 1 ? p->pitch : row,
                                 .value = p->value,
                                 .size = p->elementSize,
                                 .width = p->width,
                                 .height = p->height,
                                 .depth = 1 } };
}

PLAIN(cudaGraphAddMemsetNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n,
       const struct cudaMemsetParams *p),
      p ? add(out, g, before, n, set_op(p)) : give(cudaErrorInvalidValue))

static struct op flat_copy(void *to, const void *from, size_t n)
{
    return op_rows(to, n, from, n, n, 1);
}

PLAIN(cudaGraphAddMemcpyNode1D,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n, void *to,
       const void *from, size_t bytes, int kind),
      ((void)kind, add(out, g, before, n, flat_copy(to, from, bytes))))

ADDS(cudaGraphAddMemcpyNode, copy3d_op(&op, p), const struct cudaMemcpy3DParms *p)

cudaError_t symbol_op(struct op *op, const void *symbol, size_t offset, void *other, size_t n, bool to)
{
    void *p;
    size_t size;
    cudaError_t e = variable_address(symbol, &p, &size);
    if (!e && (offset > size || n > size - offset))
        e = cudaErrorInvalidValue;
    if (!e)
        *op = to ? flat_copy((char *)p + offset, other, n) : flat_copy(other, (char *)p + offset, n);
    return e;
}

ADDS(cudaGraphAddMemcpyNodeToSymbol,
     ((void)kind, symbol_op(&op, symbol, offset, (void *)(uintptr_t)from, bytes, true)),
     const void *symbol, const void *from, size_t bytes, size_t offset, int kind)

ADDS(cudaGraphAddMemcpyNodeFromSymbol, ((void)kind, symbol_op(&op, symbol, offset, to, bytes, false)),
     void *to, const void *symbol, size_t bytes, size_t offset, int kind)

struct op host_op_of(const struct cudaHostNodeParams *p)
{
    return (struct op){ .kind = OP_HOST, .host = { .fn = p->fn, .data = p->userData } };
}

PLAIN(cudaGraphAddHostNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n,
       const struct cudaHostNodeParams *p),
      p && p->fn ? add(out, g, before, n, host_op_of(p)) : give(cudaErrorInvalidValue))

EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g,
                                              cudaGraphNode_t const *before, size_t n, cudaGraph_t child)
{
    BEGIN
    struct op op = { .kind = OP_CHILD, .child = { is_graph(child) ? graph_copy(child) : NULL } };
    cudaGraph_t copy = op.child.graph;
    cudaError_t e = copy ? graph_add(g, &op, before, n, out) : cudaErrorInvalidValue;
    if (e)
        graph_free(copy);
    END(e);
}

PLAIN(cudaGraphAddEventRecordNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n, cudaEvent_t e),
      add(out, g, before, n, (struct op){ .kind = OP_RECORD, .record = { e } }))

PLAIN(cudaGraphAddEventWaitNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n, cudaEvent_t e),
      ((void)e, add(out, g, before, n, (struct op){ .kind = OP_EMPTY })))

/* ---- dependencies ---- */
static cudaError_t add_dependency(cudaGraphNode_t from, cudaGraphNode_t to)
{
    cudaGraphNode_t *v = realloc(to->before, (to->nbefore + 1) * sizeof *v);
    if (!v)
        return cudaErrorMemoryAllocation;
    to->before = v;
    v[to->nbefore++] = from;
    return cudaSuccess;
}

static cudaError_t add_dependencies(cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n)
{
    BEGIN
    cudaError_t e = n && (!from || !to) ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t i = 0; i < n && !e; i++)
        e = is_node(from[i]) && is_node(to[i]) && from[i]->graph == to[i]->graph && from[i] != to[i]
                ? add_dependency(from[i], to[i])
                : cudaErrorInvalidValue;
    END(e);
}

/* CUDA 13 puts the edges' data before their number. */
PLAIN(cudaGraphAddDependencies,
      (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n_or_data,
       size_t n),
      ((void)g, add_dependencies(from, to, runtime_version() >= 13000 ? n : n_or_data)))
PLAIN(cudaGraphAddDependencies_v2,
      (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, const void *data,
       size_t n),
      ((void)g, (void)data, add_dependencies(from, to, n)))

static cudaError_t nodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n, bool roots)
{
    BEGIN
    size_t all = 0;
    if (!is_graph(g) || !n)
        END(cudaErrorInvalidValue);
    for (size_t i = 0; i < g->n; i++) {
        if (roots && g->v[i]->nbefore)
            continue;
        if (out && all < *n)
            out[all] = g->v[i];
        all++;
    }
    *n = out && *n < all ? *n : all;
    END(cudaSuccess);
}

PLAIN(cudaGraphGetNodes, (cudaGraph_t g, cudaGraphNode_t *out, size_t *n), nodes(g, out, n, false))
PLAIN(cudaGraphGetRootNodes, (cudaGraph_t g, cudaGraphNode_t *out, size_t *n), nodes(g, out, n, true))

EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, int *type)
{
    static const int types[] = {
        [OP_LAUNCH] = 0, [OP_COPY] = 1,   [OP_SET] = 2,   [OP_HOST] = 3, [OP_CHILD] = 4,
        [OP_EMPTY] = 5,  [OP_RECORD] = 7, [OP_TAKE] = 10, [OP_GIVE] = 11
    };
    BEGIN
    END(WHERE(type && is_node(n), *type = types[n->op.kind]));
}

/* ---- changing ---- */
cudaGraphNode_t in_exec(cudaGraphExec_t x, cudaGraphNode_t n)
{
    for (size_t i = 0; is_exec(x) && i < x->graph->n; i++)
        if (x->of[i] == n)
            return x->graph->v[i];
    return NULL;
}

cudaError_t put_op(cudaGraphNode_t n, struct op *op)
{
    if (!is_node(n) || n->op.kind != op->kind) {
        op_free(op);
        return cudaErrorInvalidValue;
    }
    if (n->op.kind == OP_CHILD)
        graph_free(n->op.child.graph);
    op_free(&n->op);
    n->op = *op;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t n, const struct cudaKernelNodeParams *p)
{
    struct op op;
    BEGIN
    cudaError_t e = kernel_op(&op, p);
    END(e ? e : put_op(n, &op));
}

PLAIN(cudaGraphExecKernelNodeSetParams,
      (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaKernelNodeParams *p),
      cudaGraphKernelNodeSetParams(in_exec(x, n), p))

EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *p)
{
    BEGIN
    if (!p || !is_node(n) || n->op.kind != OP_LAUNCH)
        END(cudaErrorInvalidValue);
    const struct wire_launch *l = &n->op.launch.shape;
    const struct kernel *k = n->op.launch.kernel;
    *p = (struct cudaKernelNodeParams){ .func = (void *)(uintptr_t)(k->stub ? k->stub : k),
                                        .gridDim = { l->grid[0], l->grid[1], l->grid[2] },
                                        .blockDim = { l->block[0], l->block[1], l->block[2] },
                                        .sharedMemBytes = l->shared };
    END(cudaSuccess);
}

static cudaError_t set_params(cudaGraphNode_t n, struct op op)
{
    BEGIN
    END(put_op(n, &op));
}

PLAIN(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t n, const struct cudaMemsetParams *p),
      p ? set_params(n, set_op(p)) : give(cudaErrorInvalidValue))
PLAIN(cudaGraphExecMemsetNodeSetParams,
      (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaMemsetParams *p),
      p ? set_params(in_exec(x, n), set_op(p)) : give(cudaErrorInvalidValue))
PLAIN(cudaGraphMemcpyNodeSetParams1D,
      (cudaGraphNode_t n, void *to, const void *from, size_t bytes, int kind),
      ((void)kind, set_params(n, flat_copy(to, from, bytes))))
PLAIN(cudaGraphExecMemcpyNodeSetParams1D,
      (cudaGraphExec_t x, cudaGraphNode_t n, void *to, const void *from, size_t bytes, int kind),
      ((void)kind, set_params(in_exec(x, n), flat_copy(to, from, bytes))))
PLAIN(cudaGraphExecHostNodeSetParams,
      (cudaGraphExec_t x, cudaGraphNode_t n, const struct cudaHostNodeParams *p),
      p && p->fn ? set_params(in_exec(x, n), host_op_of(p)) : give(cudaErrorInvalidValue))

EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t x, cudaGraphNode_t n, unsigned on)
{
    BEGIN
    cudaGraphNode_t k = in_exec(x, n);
    if (k)
        k->op.off = !on;
    END(k ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t x, cudaGraphNode_t n, unsigned *on)
{
    BEGIN
    if (!on)
        END(cudaErrorInvalidValue);
    cudaGraphNode_t k = in_exec(x, n);
    if (k)
        *on = !k->op.off;
    END(k ? cudaSuccess : cudaErrorInvalidValue);
}
