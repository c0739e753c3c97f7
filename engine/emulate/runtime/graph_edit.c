/* Graphs asked about and changed: edges, parameters of nodes, nodes of any kind by one structure. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/copy.h"
#include "engine/emulate/runtime/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- edges ---- */
/* What is asked for as a list: its room, what is in it, and how many there are in all. */
struct listing {
    cudaGraphNode_t *a, *b; /* NULL: only counted */
    size_t room, n;
};
static void list_put(struct listing *l, cudaGraphNode_t a, cudaGraphNode_t b)
{
    if (l->a && l->n < l->room)
        l->a[l->n] = a;
    if (l->b && l->n < l->room)
        l->b[l->n] = b;
    l->n++;
}

/* n: in the room, out how many; the rest of the room is NULL. */
static void list_end(struct listing *l, void *data, size_t *n)
{
    for (size_t i = l->n; i < l->room; i++) {
        if (l->a)
            l->a[i] = NULL;
        if (l->b)
            l->b[i] = NULL;
    }
    *n = (l->a || l->b) && l->room < l->n ? l->room : l->n;
    if (data)
        memset(data, 0, 8 * *n); /* no edge has a port */
}

static cudaError_t edges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data,
                         size_t *n)
{
    BEGIN
    if (!is_graph(g) || !n)
        END(cudaErrorInvalidValue);
    struct listing l = { from, to, from || to ? *n : 0, 0 };
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->v[i]->nbefore; k++)
            list_put(&l, g->v[i]->before[k], g->v[i]);
    list_end(&l, data, n);
    END(cudaSuccess);
}

static bool waits_for(const struct node *n, const struct node *before)
{
    for (size_t i = 0; i < n->nbefore; i++)
        if (n->before[i] == before)
            return true;
    return false;
}

static cudaError_t neighbours(cudaGraphNode_t node, cudaGraphNode_t *out, void *data, size_t *n,
                              bool before)
{
    BEGIN
    if (!is_node(node) || !n)
        END(cudaErrorInvalidValue);
    struct listing l = { out, NULL, out ? *n : 0, 0 };
    for (size_t i = 0; i < node->nbefore && before; i++)
        list_put(&l, node->before[i], NULL);
    for (size_t i = 0; i < node->graph->n && !before; i++)
        if (waits_for(node->graph->v[i], node))
            list_put(&l, node->graph->v[i], NULL);
    list_end(&l, data, n);
    END(cudaSuccess);
}

static void forget(cudaGraphNode_t n, const struct node *before)
{
    size_t k = 0;
    for (size_t i = 0; i < n->nbefore; i++)
        if (n->before[i] != before)
            n->before[k++] = n->before[i];
    n->nbefore = k;
}

static cudaError_t remove_edges(cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n)
{
    BEGIN
    bool there = !n || (from && to);
    for (size_t i = 0; i < n && there; i++)
        there = is_node(from[i]) && is_node(to[i]) && waits_for(to[i], from[i]);
    for (size_t i = 0; i < n && there; i++)
        forget(to[i], from[i]);
    END(there ? cudaSuccess : cudaErrorInvalidValue);
}

/* CUDA 13 puts the edges' data before their number, as the second forms of CUDA 12 do. */
#define LAST(n_or_data, n) (runtime_version() >= 13000 ? (n) : (size_t *)(n_or_data))
#define DATA(n_or_data)    (runtime_version() >= 13000 ? (n_or_data) : NULL)
PLAIN(cudaGraphGetEdges,
      (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *n_or_data, size_t *n),
      edges(g, from, to, DATA(n_or_data), LAST(n_or_data, n)))
PLAIN(cudaGraphGetEdges_v2,
      (cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data, size_t *n),
      edges(g, from, to, data, n))
PLAIN(cudaGraphNodeGetDependencies,
      (cudaGraphNode_t node, cudaGraphNode_t *out, void *n_or_data, size_t *n),
      neighbours(node, out, DATA(n_or_data), LAST(n_or_data, n), true))
PLAIN(cudaGraphNodeGetDependencies_v2,
      (cudaGraphNode_t node, cudaGraphNode_t *out, void *data, size_t *n),
      neighbours(node, out, data, n, true))
PLAIN(cudaGraphNodeGetDependentNodes,
      (cudaGraphNode_t node, cudaGraphNode_t *out, void *n_or_data, size_t *n),
      neighbours(node, out, DATA(n_or_data), LAST(n_or_data, n), false))
PLAIN(cudaGraphNodeGetDependentNodes_v2,
      (cudaGraphNode_t node, cudaGraphNode_t *out, void *data, size_t *n),
      neighbours(node, out, data, n, false))
PLAIN(cudaGraphRemoveDependencies,
      (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, size_t n_or_data,
       size_t n),
      ((void)g, remove_edges(from, to, runtime_version() >= 13000 ? n : n_or_data)))
PLAIN(cudaGraphRemoveDependencies_v2,
      (cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to, const void *data,
       size_t n),
      ((void)g, (void)data, remove_edges(from, to, n)))

/* ---- nodes ---- */
EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t n)
{
    BEGIN
    if (!is_node(n))
        END(cudaErrorInvalidValue);
    struct graph *g = n->graph;
    size_t k = 0;
    for (size_t i = 0; i < g->n; i++)
        if (g->v[i] != n) {
            forget(g->v[i], n);
            g->v[k++] = g->v[i];
        }
    g->n = k;
    if (n->op.kind == OP_CHILD)
        graph_free(n->op.child.graph);
    op_free(&n->op);
    handle_drop(n);
    free(n->before);
    free(n);
    END(cudaSuccess);
}

EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t n, cudaGraph_t clone)
{
    BEGIN
    cudaError_t e = cudaErrorInvalidValue;
    for (size_t i = 0; out && is_graph(clone) && is_node(n) && i < clone->n; i++)
        if (clone->v[i]->of == n) {
            *out = clone->v[i];
            e = cudaSuccess;
        }
    END(e);
}

LOCKED(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t n, cudaGraph_t *out),
       WHERE(out &&is_node(n) && n->op.kind == OP_CHILD, *out = n->op.child.graph))

EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t n, struct cudaHostNodeParams *p)
{
    BEGIN
    bool there = p && is_node(n) && n->op.kind == OP_HOST;
    if (there)
        *p = (struct cudaHostNodeParams){ n->op.host.fn, n->op.host.data };
    END(there ? cudaSuccess : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t n, struct cudaMemsetParams *p)
{
    BEGIN
    if (!p || !is_node(n) || n->op.kind != OP_SET)
        END(cudaErrorInvalidValue);
    *p = (struct cudaMemsetParams){ n->op.set.to,   n->op.set.pitch, n->op.set.value,
                                    n->op.set.size, n->op.set.width, n->op.set.height };
    END(cudaSuccess);
}

LOCKED(cudaGraphEventRecordNodeGetEvent, (cudaGraphNode_t n, cudaEvent_t *e),
       WHERE(e &&is_node(n) && n->op.kind == OP_RECORD, *e = n->op.record.event))

/* ---- an operation put into a node, and into that of an instance ---- */
static cudaError_t put(cudaGraphNode_t n, cudaError_t e, struct op *op)
{
    return e ? e : put_op(n, op);
}

/* The call for a node and that for the node of an instance: MAKE fills `op`. */
#define SETTER(name, exec_name, MAKE, ...)                                          \
    EXPORT cudaError_t name(cudaGraphNode_t n, __VA_ARGS__)                         \
    {                                                                               \
        struct op op;                                                               \
        BEGIN                                                                       \
        cudaError_t e = MAKE;                                                       \
        END(put(n, e, &op));                                                        \
    }                                                                               \
    EXPORT cudaError_t exec_name(cudaGraphExec_t x, cudaGraphNode_t n, __VA_ARGS__) \
    {                                                                               \
        struct op op;                                                               \
        BEGIN                                                                       \
        cudaError_t e = MAKE;                                                       \
        END(put(in_exec(x, n), e, &op));                                            \
    }

static cudaError_t event_op(struct op *op, cudaEvent_t e)
{
    *op = (struct op){ .kind = OP_RECORD, .record = { e } };
    return event_of(e) ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t child_op(struct op *op, cudaGraph_t g)
{
    *op = (struct op){ .kind = OP_CHILD, .child = { is_graph(g) ? graph_copy(g) : NULL } };
    return op->child.graph ? cudaSuccess : cudaErrorInvalidValue;
}

SETTER(cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams,
       p ? copy3d_op(&op, p) : cudaErrorInvalidValue, const struct cudaMemcpy3DParms *p)
SETTER(cudaGraphMemcpyNodeSetParamsToSymbol, cudaGraphExecMemcpyNodeSetParamsToSymbol,
       ((void)kind, symbol_op(&op, symbol, offset, (void *)(uintptr_t)from, bytes, true)),
       const void *symbol, const void *from, size_t bytes, size_t offset, int kind)
SETTER(cudaGraphMemcpyNodeSetParamsFromSymbol, cudaGraphExecMemcpyNodeSetParamsFromSymbol,
       ((void)kind, symbol_op(&op, symbol, offset, to, bytes, false)), void *to, const void *symbol,
       size_t bytes, size_t offset, int kind)
SETTER(cudaGraphEventRecordNodeSetEvent, cudaGraphExecEventRecordNodeSetEvent, event_op(&op, event),
       cudaEvent_t event)

EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t n, const struct cudaHostNodeParams *p)
{
    BEGIN
    struct op op = { .kind = OP_EMPTY };
    if (p && p->fn)
        op = host_op_of(p);
    END(p && p->fn ? put_op(n, &op) : cudaErrorInvalidValue);
}

EXPORT cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t n,
                                                        cudaGraph_t child)
{
    struct op op;
    BEGIN
    cudaError_t e = child_op(&op, child);
    cudaGraph_t copy = e ? NULL : op.child.graph;
    e = put(in_exec(x, n), e, &op);
    if (e)
        graph_free(copy);
    END(e);
}

/* ---- any kind of node, by one structure ---- */
enum { NODE_KERNEL, NODE_COPY, NODE_SET, NODE_HOST, NODE_CHILD, NODE_EMPTY, NODE_WAIT, NODE_RECORD };
struct node_params {
    int type, reserved[3];
    union {
        struct cudaKernelNodeParams kernel;
        struct {
            int flags, reserved[3];
            struct cudaMemcpy3DParms copy;
        } copy;
        struct cudaMemsetParams set;
        struct cudaHostNodeParams host;
        cudaGraph_t child;
        cudaEvent_t event;
    } of;
};

static cudaError_t any_op(struct op *op, const struct node_params *p)
{
    *op = (struct op){ .kind = OP_EMPTY };
    switch (p ? p->type : -1) {
    case NODE_KERNEL: return kernel_op(op, &p->of.kernel);
    case NODE_COPY: return copy3d_op(op, &p->of.copy.copy);
    case NODE_SET: *op = set_op(&p->of.set); return cudaSuccess;
    case NODE_HOST:
        *op = host_op_of(&p->of.host);
        return op->host.fn ? cudaSuccess : cudaErrorInvalidValue;
    case NODE_CHILD: return child_op(op, p->of.child);
    case NODE_EMPTY: return cudaSuccess;
    case NODE_WAIT: return event_of(p->of.event) ? cudaSuccess : cudaErrorInvalidValue;
    case NODE_RECORD: return event_op(op, p->of.event);
    case -1: return cudaErrorInvalidValue;
    default: missing("cudaGraphAddNode"); return cudaErrorNotSupported;
    }
}

static cudaError_t add_node(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before, size_t n,
                            const struct node_params *p)
{
    struct op op;
    BEGIN
    cudaError_t e = out ? any_op(&op, p) : cudaErrorInvalidValue;
    cudaGraph_t copy = !e && op.kind == OP_CHILD ? op.child.graph : NULL;
    e = e ? e : graph_add(g, &op, before, n, out);
    if (e)
        graph_free(copy);
    END(e);
}

PLAIN(cudaGraphAddNode_v2,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, const void *data, size_t n,
       struct node_params *p),
      ((void)data, add_node(out, g, before, n, p)))

/* CUDA 13 puts the edges' data before their number. */
PLAIN(cudaGraphAddNode,
      (cudaGraphNode_t * out, cudaGraph_t g, cudaGraphNode_t const *before, uintptr_t n_or_data,
       void *params_or_n, struct node_params *p),
      runtime_version() >= 13000 ? add_node(out, g, before, (uintptr_t)params_or_n, p)
                                 : add_node(out, g, before, n_or_data, params_or_n))

SETTER(cudaGraphNodeSetParams, cudaGraphExecNodeSetParams, any_op(&op, p), const struct node_params *p)

/* ---- attributes of kernels: what launches ask for by them ---- */
struct attribute_value { /* cudaLaunchAttributeValue */
    union {
        char bytes[64];
        int number;
        uint32_t dim[3];
    } is;
};

EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t n, int id,
                                                   const struct attribute_value *v)
{
    BEGIN
    if (!v || !is_node(n) || n->op.kind != OP_LAUNCH)
        END(cudaErrorInvalidValue);
    struct wire_launch *l = &n->op.launch.shape;
    if (id == AttributeCluster)
        memcpy(l->cluster, v->is.dim, sizeof l->cluster);
    else if (id == AttributeCooperative)
        l->cooperative = v->is.number != 0;
    END(cudaSuccess); /* the others are hints */
}

EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t n, int id, struct attribute_value *v)
{
    BEGIN
    if (!v || !is_node(n) || n->op.kind != OP_LAUNCH)
        END(cudaErrorInvalidValue);
    const struct wire_launch *l = &n->op.launch.shape;
    *v = (struct attribute_value){ 0 };
    if (id == AttributeCluster)
        memcpy(v->is.dim, l->cluster, sizeof l->cluster);
    else if (id == AttributeCooperative)
        v->is.number = (int)l->cooperative;
    END(cudaSuccess);
}

EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t from, cudaGraphNode_t to)
{
    BEGIN
    if (!is_node(from) || !is_node(to) || from->op.kind != OP_LAUNCH || to->op.kind != OP_LAUNCH)
        END(cudaErrorInvalidValue);
    memcpy(to->op.launch.shape.cluster, from->op.launch.shape.cluster,
           sizeof to->op.launch.shape.cluster);
    to->op.launch.shape.cooperative = from->op.launch.shape.cooperative;
    END(cudaSuccess);
}
