/* Graphs: operations and what they wait for. Run one after the other, each behind what it waits for. */
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* An instance: a copy whose nodes are found by those of the graph. */
struct exec {
    cudaGraph_t graph;
    cudaGraphNode_t *of; /* owned: of[i] is what graph->v[i] was made from */
    unsigned long long flags;
};

static void exec_free(cudaGraphExec_t x)
{
    if (!x)
        return;
    graph_free(x->graph);
    free(x->of);
    free(x);
}

static cudaError_t instantiate(cudaGraphExec_t *out, cudaGraph_t g, unsigned long long flags)
{
    struct exec *x = g ? calloc(1, sizeof *x) : NULL;
    if (!x)
        return g ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
    x->graph = graph_copy(g);
    x->of = calloc(g->n + 1, sizeof *x->of);
    x->flags = flags;
    if (!x->graph || !x->of) {
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

EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t g)
{
    BEGIN
    graph_free(g);
    END(g ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphClone(cudaGraph_t *out, cudaGraph_t g)
{
    BEGIN
    if (!out)
        END(cudaErrorInvalidValue);
    *out = g ? graph_copy(g) : NULL;
    END(*out ? cudaSuccess : cudaErrorInvalidValue);
}

/* CUDA 11 has a node, a text and its length where 12 has flags. */
EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags)
{
    (void)flags;
    BEGIN
    END(instantiate(x, g, 0));
}

EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *x, cudaGraph_t g,
                                                 unsigned long long flags)
{
    BEGIN
    END(instantiate(x, g, flags));
}

EXPORT cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *x, cudaGraph_t g, void *params)
{
    (void)params;
    BEGIN
    END(instantiate(x, g, 0));
}

EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t x, unsigned long long *flags)
{
    *flags = x->flags;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t x)
{
    BEGIN
    exec_free(x);
    END(x ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t x, cudaStream_t s)
{
    (void)s;
    return x ? cudaSuccess : give(cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s)
{
    BEGIN
    if (!x || !stream_of(s))
        END(x ? cudaErrorInvalidResourceHandle : cudaErrorInvalidValue);
    struct op op = { .kind = OP_CHILD, .child = { x->graph } };
    END(op_do(&op, s));
}

/* The nodes of one graph put into an instance of another, where both are made alike. */
static cudaError_t update(cudaGraphExec_t x, cudaGraph_t g)
{
    if (!x || !g)
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

/* What CUDA 11 and 12 hand back about a failed update begins alike, with a word. */
EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t x, cudaGraph_t g, void *result)
{
    BEGIN
    cudaError_t e = update(x, g);
    if (result)
        *(int *)result = e ? 1 : 0;
    END(e);
}

/* ---- nodes ---- */
static cudaError_t add(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n,
                       struct op op)
{
    BEGIN
    END(graph_add(g, &op, before, n, out));
}

EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *out, cudaGraph_t g,
                                         cudaGraphNode_t const *before, size_t n)
{
    return add(out, g, before, n, (struct op){ .kind = OP_EMPTY });
}

static cudaError_t kernel_op(struct op *op, const struct cudaKernelNodeParams *p)
{
    return launch_op(op, p->func, p->gridDim, p->blockDim, p->kernelParams, p->sharedMemBytes, NULL, 0);
}

EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *out, cudaGraph_t g,
                                          cudaGraphNode_t const *before, size_t n,
                                          const struct cudaKernelNodeParams *p)
{
    struct op op;
    BEGIN
    cudaError_t e = kernel_op(&op, p);
    END(e ? e : graph_add(g, &op, before, n, out));
}

static struct op set_op(const struct cudaMemsetParams *p)
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

EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *out, cudaGraph_t g,
                                          cudaGraphNode_t const *before, size_t n,
                                          const struct cudaMemsetParams *p)
{
    return add(out, g, before, n, set_op(p));
}

static struct op flat_copy(void *to, const void *from, size_t n)
{
    return (struct op){ .kind = OP_COPY,
                        .copy = { .to = to,
                                  .from = from,
                                  .to_pitch = n,
                                  .from_pitch = n,
                                  .width = n,
                                  .height = 1,
                                  .depth = 1 } };
}

EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *out, cudaGraph_t g,
                                            cudaGraphNode_t const *before, size_t n, void *to,
                                            const void *from, size_t bytes, int kind)
{
    (void)kind;
    return add(out, g, before, n, flat_copy(to, from, bytes));
}

EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *out, cudaGraph_t g,
                                          cudaGraphNode_t const *before, size_t n,
                                          const struct cudaMemcpy3DParms *p)
{
    struct op op;
    BEGIN
    cudaError_t e = copy3d_op(&op, p);
    END(e ? e : graph_add(g, &op, before, n, out));
}

static cudaError_t symbol_op(struct op *op, const void *symbol, size_t offset, void *other, size_t n,
                             bool to)
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

EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *out, cudaGraph_t g,
                                                  cudaGraphNode_t const *before, size_t n,
                                                  const void *symbol, const void *from, size_t bytes,
                                                  size_t offset, int kind)
{
    struct op op;
    (void)kind;
    BEGIN
    cudaError_t e = symbol_op(&op, symbol, offset, (void *)(uintptr_t)from, bytes, true);
    END(e ? e : graph_add(g, &op, before, n, out));
}

EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *out, cudaGraph_t g,
                                                    cudaGraphNode_t const *before, size_t n, void *to,
                                                    const void *symbol, size_t bytes, size_t offset,
                                                    int kind)
{
    struct op op;
    (void)kind;
    BEGIN
    cudaError_t e = symbol_op(&op, symbol, offset, to, bytes, false);
    END(e ? e : graph_add(g, &op, before, n, out));
}

EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *out, cudaGraph_t g,
                                        cudaGraphNode_t const *before, size_t n,
                                        const struct cudaHostNodeParams *p)
{
    return add(out, g, before, n,
               (struct op){ .kind = OP_HOST, .host = { .fn = p->fn, .data = p->userData } });
}

EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g,
                                              cudaGraphNode_t const *before, size_t n, cudaGraph_t child)
{
    BEGIN
    struct op op = { .kind = OP_CHILD, .child = { child ? graph_copy(child) : NULL } };
    END(op.child.graph ? graph_add(g, &op, before, n, out) : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *out, cudaGraph_t g,
                                               cudaGraphNode_t const *before, size_t n, cudaEvent_t e)
{
    return add(out, g, before, n, (struct op){ .kind = OP_RECORD, .record = { e } });
}

EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *out, cudaGraph_t g,
                                             cudaGraphNode_t const *before, size_t n, cudaEvent_t e)
{
    (void)e;
    return add(out, g, before, n, (struct op){ .kind = OP_EMPTY });
}

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
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < n && !e; i++)
        e = add_dependency(from[i], to[i]);
    END(e);
}

/* CUDA 13 puts the edges' data before their number. */
EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t g, cudaGraphNode_t const *from,
                                            cudaGraphNode_t const *to, size_t n_or_data, size_t n)
{
    (void)g;
    return add_dependencies(from, to, runtime_version() >= 13000 ? n : n_or_data);
}

EXPORT cudaError_t cudaGraphAddDependencies_v2(cudaGraph_t g, cudaGraphNode_t const *from,
                                               cudaGraphNode_t const *to, const void *data, size_t n)
{
    (void)g, (void)data;
    return add_dependencies(from, to, n);
}

static cudaError_t nodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n, bool roots)
{
    BEGIN
    size_t all = 0;
    for (size_t i = 0; g && i < g->n; i++) {
        if (roots && g->v[i]->nbefore)
            continue;
        if (out && all < *n)
            out[all] = g->v[i];
        all++;
    }
    *n = out && *n < all ? *n : all;
    END(g ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n)
{
    return nodes(g, out, n, false);
}

EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t g, cudaGraphNode_t *out, size_t *n)
{
    return nodes(g, out, n, true);
}

EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t n, int *type)
{
    static const int types[] = {
        [OP_LAUNCH] = 0, [OP_COPY] = 1,   [OP_SET] = 2,   [OP_HOST] = 3, [OP_CHILD] = 4,
        [OP_EMPTY] = 5,  [OP_RECORD] = 7, [OP_TAKE] = 10, [OP_GIVE] = 11
    };
    *type = types[n->op.kind];
    return cudaSuccess;
}

/* ---- changing ---- */
static cudaGraphNode_t in_exec(cudaGraphExec_t x, cudaGraphNode_t n)
{
    for (size_t i = 0; x && i < x->graph->n; i++)
        if (x->of[i] == n)
            return x->graph->v[i];
    return NULL;
}

static cudaError_t put_op(cudaGraphNode_t n, struct op *op)
{
    if (!n || n->op.kind != op->kind) {
        op_free(op);
        return cudaErrorInvalidValue;
    }
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

EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                    const struct cudaKernelNodeParams *p)
{
    return cudaGraphKernelNodeSetParams(in_exec(x, n), p);
}

EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t n, struct cudaKernelNodeParams *p)
{
    BEGIN
    if (!p)
        END(cudaErrorInvalidValue);
    const struct wire_launch *l = &n->op.launch.shape;
    if (n->op.kind != OP_LAUNCH)
        END(cudaErrorInvalidValue);
    *p = (struct cudaKernelNodeParams){ .func = (void *)(uintptr_t)n->op.launch.kernel->stub,
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

EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t n, const struct cudaMemsetParams *p)
{
    return set_params(n, set_op(p));
}

EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                    const struct cudaMemsetParams *p)
{
    return set_params(in_exec(x, n), set_op(p));
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t n, void *to, const void *from,
                                                  size_t bytes, int kind)
{
    (void)kind;
    return set_params(n, flat_copy(to, from, bytes));
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t x, cudaGraphNode_t n, void *to,
                                                      const void *from, size_t bytes, int kind)
{
    (void)kind;
    return set_params(in_exec(x, n), flat_copy(to, from, bytes));
}

EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                  const struct cudaHostNodeParams *p)
{
    return set_params(in_exec(x, n),
                      (struct op){ .kind = OP_HOST, .host = { .fn = p->fn, .data = p->userData } });
}

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
