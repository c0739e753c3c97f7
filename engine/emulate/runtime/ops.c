/* Operations, one at a time or as the nodes of a graph: run one after the other, each behind what it waits
 * for. */
#include "engine/emulate/runtime/context.h"
#include "engine/emulate/runtime/runtime.h"

#include <stdlib.h>
#include <string.h>

/* ---- operations ---- */
static void *forward(const void *p, size_t n)
{
    return (char *)(uintptr_t)p + n;
}

static cudaError_t run_copy(const struct op *op)
{
    cudaError_t e = drain();
    size_t rows = op->copy.height, width = op->copy.width, all;
    if (__builtin_mul_overflow(width, rows, &all))
        return cudaErrorInvalidValue;
    if (!all)
        return e;
    if (op->copy.to_pitch == width && op->copy.from_pitch == width) {
        width *= rows; /* rows behind one another are one */
        rows = 1;
    }
    for (size_t z = 0; z < op->copy.depth && !e; z++)
        for (size_t y = 0; y < rows && !e; y++)
            e = move_bytes(forward(op->copy.to, z * op->copy.to_slice + y * op->copy.to_pitch),
                           forward(op->copy.from, z * op->copy.from_slice + y * op->copy.from_pitch),
                           width);
    return e;
}

static cudaError_t run_set(const struct op *op)
{
    cudaError_t e = drain();
    size_t all;
    if (__builtin_mul_overflow(op->set.width, op->set.height, &all))
        return cudaErrorInvalidValue;
    if (!all)
        return e;
    for (size_t z = 0; z < op->set.depth && !e; z++)
        for (size_t y = 0; y < op->set.height && !e; y++)
            e = set_bytes(forward(op->set.to, z * op->set.slice + y * op->set.pitch), op->set.value,
                          op->set.size, op->set.width);
    return e;
}

/* alone: of no graph, which must not change while it runs. Other threads, for which the function may wait,
 * then come to the device. */
static cudaError_t run_host(const struct op *op, bool alone)
{
    cudaError_t e = drain();
    unsigned held = alone ? runtime_pause() : 0;
    if (op->host.callback)
        op->host.callback(op->host.stream, e, op->host.data);
    else if (!e)
        op->host.fn(op->host.data);
    runtime_resume(held);
    return e;
}

static cudaError_t run_launch(const struct op *op)
{
    struct wire_launch l = op->launch.shape;
    l.kernel = op->launch.kernel->facts.id;
    launched();
    tell(WIRE_LAUNCH, &l, sizeof l, op->launch.params, op->launch.nparams);
    return sticky();
}

/* Memory of a graph or of a stream's order: its address was given out when the operation was made. */
static cudaError_t run_give(const struct op *op)
{
    cudaError_t e = drain();
    return e ? e : memory_give(op->memory.p, false);
}

static cudaError_t run_record(cudaEvent_t e)
{
    if (!event_of(e))
        return cudaErrorInvalidResourceHandle;
    e->recorded = true;
    struct wire_number r = { e->slot };
    tell(WIRE_RECORD, &r, sizeof r, NULL, 0);
    launched();
    return sticky();
}

cudaError_t op_run(const struct op *op)
{
    switch (op->kind) {
    case OP_LAUNCH: return run_launch(op);
    case OP_COPY: return run_copy(op);
    case OP_SET: return run_set(op);
    case OP_HOST: return run_host(op, false);
    case OP_RECORD: return run_record(op->record.event);
    case OP_GIVE: return run_give(op);
    case OP_CHILD: return graph_run(op->child.graph);
    default: return cudaSuccess;
    }
}

cudaError_t op_do(struct op *op, cudaStream_t s)
{
    cudaGraph_t g = capture_of(s);
    if (g && !g->spoilt)
        return graph_capture(stream_of(s), op);
    cudaError_t e = g                     ? cudaErrorStreamCaptureInvalidated
                    : !stream_of(s)       ? cudaErrorInvalidResourceHandle
                    : op->kind == OP_HOST ? run_host(op, true)
                                          : op_run(op);
    op_free(op);
    return e;
}

struct op op_copied(const struct op *op)
{
    struct op c = *op;
    if (op->kind != OP_LAUNCH)
        return c;
    c.launch.params = malloc(op->launch.nparams + 1);
    if (c.launch.params)
        memcpy(c.launch.params, op->launch.params, op->launch.nparams);
    return c;
}

void op_free(struct op *op)
{
    if (op->kind == OP_LAUNCH)
        free(op->launch.params);
    op->kind = OP_EMPTY;
}

/* ---- graphs ---- */
cudaGraph_t graph_new(void)
{
    cudaGraph_t g = calloc(1, sizeof(struct graph));
    if (handle_add(g, HANDLE_GRAPH))
        return g;
    free(g);
    return NULL;
}

void graph_free(cudaGraph_t g)
{
    for (size_t i = 0; g && i < g->n; i++) {
        if (g->v[i]->op.kind == OP_CHILD)
            graph_free(g->v[i]->op.child.graph);
        op_free(&g->v[i]->op);
        handle_drop(g->v[i]);
        free(g->v[i]->before);
        free(g->v[i]);
    }
    if (g)
        free(g->v);
    handle_drop(g);
    free(g);
}

bool graph_has(const struct graph *g, cudaGraphNode_t const *before, size_t n)
{
    bool fine = !n || before;
    for (size_t i = 0; fine && i < n; i++)
        fine = handle_is(before[i], HANDLE_NODE) && before[i]->graph == g;
    return fine;
}

static cudaError_t put_node(cudaGraph_t g, struct op *op, cudaGraphNode_t const *before, size_t nbefore,
                            cudaGraphNode_t *out)
{
    if (g->n == g->cap) {
        size_t cap = g->cap ? 2 * g->cap : 16;
        cudaGraphNode_t *v = realloc(g->v, cap * sizeof *v);
        g->v = v ? v : g->v;
        g->cap = v ? cap : g->cap;
    }
    struct node *n = calloc(1, sizeof *n);
    cudaGraphNode_t *own = calloc(nbefore + 1, sizeof *own);
    if (g->n == g->cap || !n || !own || !handle_add(n, HANDLE_NODE)) {
        free(n);
        free(own);
        op_free(op);
        return cudaErrorMemoryAllocation;
    }
    if (nbefore)
        memcpy(own, before, nbefore * sizeof *own);
    *n = (struct node){ .op = *op, .graph = g, .before = own, .nbefore = nbefore };
    g->v[g->n++] = n;
    if (out)
        *out = n;
    return cudaSuccess;
}

cudaError_t graph_add(cudaGraph_t g, struct op *op, cudaGraphNode_t const *before, size_t nbefore,
                      cudaGraphNode_t *out)
{
    if (handle_is(g, HANDLE_GRAPH) && graph_has(g, before, nbefore))
        return put_node(g, op, before, nbefore, out);
    op_free(op);
    return cudaErrorInvalidValue;
}

cudaError_t graph_capture(struct stream *s, struct op *op)
{
    cudaGraphNode_t node;
    cudaError_t e = graph_add(s->into, op, s->tail.v, s->tail.n, &node);
    return e ? e : tail_set(&s->tail, &node, 1);
}

/* ---- running ---- */
static cudaError_t run_node(cudaGraph_t g, struct node *n)
{
    if (n->turn == g->turn)
        return cudaSuccess;
    n->turn = g->turn;
    cudaError_t e = cudaSuccess;
    for (size_t i = 0; i < n->nbefore && !e; i++)
        e = run_node(g, n->before[i]);
    return e || n->op.off ? e : op_run(&n->op);
}

cudaError_t graph_run(cudaGraph_t g)
{
    cudaError_t e = cudaSuccess;
    g->turn++;
    for (size_t i = 0; i < g->n && !e; i++)
        e = run_node(g, g->v[i]);
    return e;
}

/* ---- copies ---- */
static size_t place_of(const struct graph *g, const struct node *n)
{
    size_t i = 0;
    while (i < g->n && g->v[i] != n)
        i++;
    return i;
}

cudaGraph_t graph_copy(const struct graph *g)
{
    cudaGraph_t c = graph_new();
    bool fine = c != NULL;
    for (size_t i = 0; i < g->n && fine; i++) {
        struct op op = op_copied(&g->v[i]->op);
        if (op.kind == OP_CHILD)
            op.child.graph = graph_copy(op.child.graph);
        fine = (op.kind != OP_LAUNCH || op.launch.params) && (op.kind != OP_CHILD || op.child.graph) &&
               put_node(c, &op, g->v[i]->before, g->v[i]->nbefore, NULL) == cudaSuccess;
    }
    for (size_t i = 0; fine && i < c->n; i++) {
        c->v[i]->of = g->v[i];
        for (size_t k = 0; k < c->v[i]->nbefore; k++)
            c->v[i]->before[k] = c->v[place_of(g, c->v[i]->before[k])];
    }
    if (fine)
        return c;
    graph_free(c);
    return NULL;
}
