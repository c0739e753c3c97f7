/* Capture inside graphs: kernels of a graph make no launch of their own. A clone of the graph gets
 * copies of the memory in reach right before and right after the kernel, and is launched once in its
 * place: what the program gets is the same.
 *
 * Pointers in memory are followed as memory is before the graph. */
#include "engine/dev/inject/memory.h"
#include "engine/dev/inject/record.h"
#include "engine/dev/inject/take.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_GRAPHS = 256, MOST_NODES = 1 << 16, NODE_KERNEL = 0, TYPE_HOST = 1, TYPE_DEVICE = 2 };

struct instantiate_call { /* all forms begin so */
    void **exec;
    void *graph;
};
struct graph_launch_call {
    void *exec, *stream;
};

/* What was instantiated while kernels were wanted: a clone, since the program may destroy its graph. */
static struct known {
    void *exec, *clone;
    bool changed; /* the program updated it: the clone is another */
} known[MOST_GRAPHS];
static int nknown;

/* A graph under way in place of the program's. */
static struct {
    struct memory *m;
    void *exec, *clone;
    const char *name;
    char *before, *after; /* pinned */
} G;

/* ---- nodes ---- */
static void **nodes_of(void *graph, size_t *n)
{
    *n = 0;
    if (!S.driver.cuGraphGetNodes || S.driver.cuGraphGetNodes(graph, NULL, n) != 0 || !*n ||
        *n > MOST_NODES)
        return NULL;
    void **v = calloc(*n, sizeof *v);
    if (v && S.driver.cuGraphGetNodes(graph, v, n) != 0) {
        free(v);
        return NULL;
    }
    return v;
}

static bool kernel_of(void *node, struct node_params *p)
{
    int type = -1;
    memset(p, 0, sizeof *p);
    return S.driver.cuGraphNodeGetType && S.driver.cuGraphNodeGetType(node, &type) == 0 &&
           type == NODE_KERNEL && S.driver.cuGraphKernelNodeGetParams_v2 &&
           S.driver.cuGraphKernelNodeGetParams_v2(node, p) == 0;
}

static struct launch launch_of(const struct node_params *p, void *stream)
{
    struct launch l = { .f = p->f ? p->f : p->kernel,
                        .stream = stream,
                        .shared = p->shared,
                        .params = p->params,
                        .extra = p->extra,
                        .image = -1 };
    memcpy(l.grid, p->grid, sizeof l.grid);
    memcpy(l.block, p->block, sizeof l.block);
    launch_look_up(&l);
    return l;
}

/* ---- which graphs ---- */
static bool has_wanted(void *graph)
{
    size_t n;
    void **v = nodes_of(graph, &n);
    bool has = false;
    for (size_t i = 0; v && i < n && !has; i++) {
        struct node_params p;
        if (!kernel_of(v[i], &p))
            continue;
        struct launch l = launch_of(&p, NULL);
        has = take_open(&l);
    }
    free(v);
    return has;
}

void take_graph_made(const struct call *made)
{
    const struct instantiate_call *c = made->params;
    void *clone = NULL;
    if (!c->exec || !*c->exec || !S.driver.cuGraphClone || nknown == MOST_GRAPHS ||
        !has_wanted(c->graph) || S.driver.cuGraphClone(&clone, c->graph) != 0)
        return;
    known[nknown++] = (struct known){ *c->exec, clone, false };
}

/* cuGraphExecUpdate, cuGraphExec...SetParams, cuGraphExecDestroy: the graph's handle comes first. */
void take_graph_changed(const struct call *c)
{
    void *const *exec = c->params;
    for (int i = 0; i < nknown; i++)
        known[i].changed |= known[i].exec == *exec;
}

/* ---- copies before and after ---- */
static void *copy_node(void *graph, void *const *after, size_t nafter, const struct range *r, char *to,
                       void *context)
{
    void *node = NULL;
    struct copy3d c = { .from_type = TYPE_DEVICE,
                        .from_device = r->addr,
                        .to_type = TYPE_HOST,
                        .to_host = to,
                        .width = r->bytes,
                        .height = 1,
                        .depth = 1 };
    return S.driver.cuGraphAddMemcpyNode(&node, graph, after, nafter, &c, context) == 0 ? node : NULL;
}

static bool edge(void *graph, void *from, void *to)
{
    return S.driver.cuGraphAddDependencies_v2 &&
           S.driver.cuGraphAddDependencies_v2(graph, &from, &to, NULL, 1) == 0;
}

typedef int (*neighbours_fn)(void *, void **, size_t *);
static void **neighbours(neighbours_fn fn, void *node, size_t *n, bool *fine)
{
    *n = 0;
    *fine = fn && fn(node, NULL, n) == 0;
    void **v = *fine ? calloc(*n + 1, sizeof *v) : NULL;
    *fine = v && (!*n || fn(node, v, n) == 0);
    return v;
}

/* Each range copied between what the kernel waits for and the kernel, and between it and what waits for
 * it. */
static bool put_copies(const struct memory *m, void *clone, void *node, void *context)
{
    size_t nfrom, nto;
    bool fine, also;
    void **from = neighbours(S.driver.cuGraphNodeGetDependencies, node, &nfrom, &fine);
    void **to = neighbours(S.driver.cuGraphNodeGetDependentNodes, node, &nto, &also);
    uint64_t at = 0;
    fine = fine && also && S.driver.cuGraphAddMemcpyNode;
    for (size_t i = 0; fine && i < m->n; i++) {
        const struct range *r = &m->v[i];
        if (r->kind == LIVE_HOST || !r->bytes)
            continue;
        void *first = copy_node(clone, from, nfrom, r, G.before + at, context);
        void *last = copy_node(clone, &node, 1, r, G.after + at, context);
        fine = first && last && edge(clone, first, node);
        for (size_t k = 0; fine && k < nto; k++)
            fine = edge(clone, last, to[k]);
        at += r->bytes;
    }
    free(from);
    free(to);
    return fine;
}

static bool pinned(const struct memory *m)
{
    uint64_t all = 1;
    void *p = NULL, *q = NULL;
    for (size_t i = 0; i < m->n; i++)
        all += m->v[i].bytes;
    if (!S.driver.cuMemAllocHost_v2 || S.driver.cuMemAllocHost_v2(&p, all) != 0)
        return false;
    if (S.driver.cuMemAllocHost_v2(&q, all) != 0) {
        S.driver.cuMemFreeHost(p);
        return false;
    }
    G.before = p;
    G.after = q;
    return true;
}

static void give_back(void)
{
    if (G.before && S.driver.cuMemFreeHost) {
        S.driver.cuMemFreeHost(G.before);
        S.driver.cuMemFreeHost(G.after);
    }
    if (G.exec && S.driver.cuGraphExecDestroy)
        S.driver.cuGraphExecDestroy(G.exec);
    if (G.clone && S.driver.cuGraphDestroy)
        S.driver.cuGraphDestroy(G.clone);
    memset(&G, 0, sizeof G);
}

/* A clone with copies, ready to be launched. */
static const char *prepare(const struct known *k, void *node, const struct launch *l)
{
    const struct driver *d = &S.driver;
    void *there = NULL;
    if (k->changed)
        return "the program changed the graph after creating it";
    if (!pinned(G.m))
        return "no memory for copies inside the graph";
    if (!d->cuGraphNodeFindInClone || d->cuGraphClone(&G.clone, k->clone) != 0 ||
        d->cuGraphNodeFindInClone(&there, node, G.clone) != 0 ||
        !put_copies(G.m, G.clone, there, l->context))
        return "copies could not be added to the graph";
    if (!d->cuGraphInstantiateWithFlags || d->cuGraphInstantiateWithFlags(&G.exec, G.clone, 0) != 0)
        return "the graph with copies could not be created";
    return NULL;
}

static bool take_node(const struct known *k, void *node, const struct launch *l,
                      struct graph_launch_call *call)
{
    G.m = take_begin(l);
    G.name = l->name;
    if (!G.m)
        return false;
    const char *why = prepare(k, node, l);
    if (why) {
        take_refuse(G.m, why);
        take_finish(G.m, l->name);
        give_back();
        return false;
    }
    call->exec = G.exec;
    return true;
}

void take_graph_enter(const void *params, void *context)
{
    struct graph_launch_call *call;
    struct known *k = NULL;
    size_t n = 0;
    memcpy(&call, &params, sizeof call);
    for (int i = 0; i < nknown; i++)
        if (known[i].exec == call->exec)
            k = &known[i];
    void **v = k && !G.m ? nodes_of(k->clone, &n) : NULL;
    bool taken = false;
    for (size_t i = 0; v && i < n && !taken; i++) {
        struct node_params p;
        if (!kernel_of(v[i], &p))
            continue;
        struct launch l = launch_of(&p, call->stream);
        l.context = context;
        taken = take_due(&l) && take_node(k, v[i], &l, call);
    }
    free(v);
}

void take_graph_leave(int result, void *context)
{
    uint64_t at = 0;
    if (!G.m)
        return;
    const char *why = take_rest(context, result);
    for (size_t i = 0; !why && i < G.m->n; i++) {
        const struct range *r = &G.m->v[i];
        if (r->kind == LIVE_HOST || !r->bytes)
            continue;
        memory_given(G.m, i, G.before + at, G.after + at);
        at += r->bytes;
    }
    if (why || G.m->why[0])
        take_refuse(G.m, why ? why : G.m->why);
    take_finish(G.m, G.name);
    give_back();
}
