/* Graphs of the fake driver: kernels and copies with edges between them, run in an order that keeps to
 * the edges. FAKE_GRAPH: the name of a function that fails. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/live/fake_live.h"

enum { MOST = 64 };
struct node {
    int kernel; /* else a copy */
    void *f, **params;
    unsigned grid, block;
    const void *from;
    void *to;
    size_t bytes;
    struct node *after[MOST];
    size_t nafter;
};
struct graph {
    struct node *node[MOST];
    size_t n;
    const struct graph *of; /* a clone: of what */
};
struct params {
    void *f;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
    void *kernel, *context;
};
struct copy3d {
    size_t from0[4];
    int from_type;
    const void *from_host;
    uint64_t from_device;
    size_t from1[4], to0[4];
    int to_type;
    void *to_host;
    uint64_t to_device;
    size_t to1[4], width, height, depth;
};

static struct graph *latest; /* the clone */

/* Functions of kernels in the context, as a graph tells them: names alone, of no module that was seen.
 */
enum { FUNCTION = 1 << 30 };
static void *fake_function_of(void *kernel)
{
    return (void *)((uintptr_t)kernel | FUNCTION);
}
static void *fake_kernel_of(void *f)
{
    return (void *)((uintptr_t)f & ~(uintptr_t)FUNCTION);
}
int cuKernelGetFunction(void **f, void *kernel)
{
    *f = fake_function_of(kernel);
    return !fake_name(kernel);
}
int cuFuncGetName(const char **name, void *f)
{
    *name = fake_name(fake_kernel_of(f));
    return !*name;
}

static int fails(const char *name)
{
    const char *f = getenv("FAKE_GRAPH");
    return f && strcmp(f, name) == 0;
}
static struct node *add(struct graph *g, void *const *after, size_t n)
{
    struct node *d = calloc(1, sizeof *d);
    for (size_t i = 0; i < n; i++)
        d->after[d->nafter++] = after[i];
    g->node[g->n++] = d;
    return d;
}
void *fake_graph_new(void)
{
    return calloc(1, sizeof(struct graph));
}
void *fake_graph_kernel(void *graph, void *f, unsigned grid, unsigned block, void **params, void *after)
{
    struct node *d = add(graph, &after, after != NULL);
    d->kernel = 1;
    d->f = f;
    d->grid = grid;
    d->block = block;
    d->params = params;
    return d;
}
int cuGraphGetNodes(void *graph, void **nodes, size_t *n)
{
    const struct graph *g = graph;
    for (size_t i = 0; nodes && i < g->n; i++)
        nodes[i] = g->node[i];
    *n = g->n;
    return 0;
}
int cuGraphNodeGetType(void *node, int *type)
{
    *type = ((struct node *)node)->kernel ? 0 : 1;
    return 0;
}
int cuGraphKernelNodeGetParams_v2(void *node, void *to)
{
    const struct node *d = node;
    *(struct params *)to = (struct params){ .f = fake_function_of(d->f),
                                            .grid = { d->grid, 1, 1 },
                                            .block = { d->block, 1, 1 },
                                            .params = d->params };
    return 0;
}
int cuGraphClone(void **to, void *graph)
{
    const struct graph *g = graph;
    struct graph *c = fake_graph_new();
    for (size_t i = 0; i < g->n; i++)
        *add(c, NULL, 0) = *g->node[i];
    for (size_t i = 0; i < g->n; i++)
        for (size_t k = 0; k < g->node[i]->nafter; k++)
            for (size_t j = 0; j < g->n; j++)
                if (g->node[j] == g->node[i]->after[k])
                    c->node[i]->after[k] = c->node[j];
    c->of = g;
    *to = latest = c;
    return 0;
}
int cuGraphNodeFindInClone(void **to, void *node, void *clone)
{
    const struct graph *c = clone;
    for (size_t i = 0; i < c->n; i++)
        if (c->of && c->of->node[i] == node) {
            *to = c->node[i];
            return 0;
        }
    return 1;
}
int cuGraphDestroy(void *graph)
{
    (void)graph;
    return 0;
}
int cuGraphAddMemcpyNode(void **node, void *graph, void *const *after, size_t n, const void *copy,
                         void *context)
{
    const struct copy3d *c = copy;
    struct node *d = add(graph, after, n);
    (void)context;
    d->from = (const void *)(uintptr_t)c->from_device;
    d->to = c->to_host;
    d->bytes = c->width;
    *node = d;
    return fails("copy");
}
int cuGraphAddDependencies_v2(void *graph, void *const *from, void *const *to, const void *data,
                              size_t n)
{
    (void)graph, (void)data;
    for (size_t i = 0; i < n; i++) {
        struct node *d = to[i];
        d->after[d->nafter++] = from[i];
    }
    return 0;
}
int cuGraphNodeGetDependencies(void *node, void **from, size_t *n)
{
    const struct node *d = node;
    for (size_t i = 0; from && i < d->nafter; i++)
        from[i] = d->after[i];
    *n = d->nafter;
    return 0;
}
int cuGraphNodeGetDependentNodes(void *node, void **to, size_t *n)
{
    const struct graph *all = latest;
    *n = 0;
    for (size_t i = 0; all && i < all->n; i++)
        for (size_t k = 0; k < all->node[i]->nafter; k++)
            if (all->node[i]->after[k] == node) {
                if (to)
                    to[*n] = all->node[i];
                ++*n;
            }
    return 0;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    (void)flags;
    *exec = graph;
    return fails("instantiate");
}
int cuGraphExecDestroy(void *exec)
{
    (void)exec;
    return 0;
}
int cuMemAllocHost_v2(void **p, size_t n)
{
    *p = calloc(1, n);
    return fails("host");
}
int cuMemFreeHost(void *p)
{
    free(p);
    return 0;
}

static void run(struct node *d, char *done, struct graph *g)
{
    for (size_t i = 0; i < g->n; i++) {
        if (g->node[i] != d || done[i])
            continue;
        done[i] = 1;
        for (size_t k = 0; k < d->nafter; k++)
            run(d->after[k], done, g);
        if (d->kernel)
            fake_run(fake_name(d->f), d->params);
        else
            memcpy(d->to, d->from, d->bytes);
    }
}

static void made(void *graph)
{
    void *exec = graph;
    struct {
        void **exec;
        void *graph;
    } c = { &exec, graph };
    fake_other(643, &c);
}

static void launched(void *graph, int times)
{
    void *exec = graph;
    struct {
        void *exec, *stream;
    } launch = { NULL, NULL };
    for (int i = 0; i < times; i++) {
        char done[MOST] = { 0 };
        launch.exec = exec;
        fake_tell(514, 0, &launch);
        struct graph *g = launch.exec;
        for (size_t k = 0; k < g->n; k++)
            run(g->node[k], done, g);
        fake_tell(514, 1, &launch);
    }
}

void fake_graph_run(void *graph, int times)
{
    made(graph);
    launched(graph, times);
}

void fake_graph_changed(void *graph, void *exec)
{
    made(graph);
    fake_other(696, exec);
    launched(graph, 1);
}
