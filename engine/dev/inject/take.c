/* Capture: the calls of the driver that it looks at besides launches (take_launch.c): graphs
 * (take_graph.c), streams captured into graphs, memory of other processes. */
#include "engine/dev/inject/take.h"

#include "engine/dev/inject/memory.h"

enum { MOST_IMPORTED = 4096 };

/* Handles of memory of other processes, the latest; take_lock guards them. */
static struct {
    uint64_t v[MOST_IMPORTED];
    unsigned n;
} imported;

static void graph_made(const struct call *c)
{
    take_lock();
    take_graph_made(c);
    take_unlock();
}

static void graph_changed(const struct call *c)
{
    take_lock();
    take_graph_changed(c);
    take_unlock();
}

static void take_graph_launch(const struct call *c)
{
    take_lock();
    if (c->site != AT_EXIT && !take_captures())
        take_graph_enter(c->params, c->context);
    else if (c->site == AT_EXIT)
        take_graph_leave(c->result ? *c->result : 0, c->context);
    take_unlock();
}

static void capture_begins(const struct call *c)
{
    (void)c;
    take_capturing(1);
}

static void capture_ends(const struct call *c)
{
    (void)c;
    take_capturing(-1);
}

static void ipc_opened(const struct call *c)
{
    uint64_t *const *p =
        c->params; /* cuIpcOpenMemHandle_params, cuMemPoolImportPointer_params: the address first */
    memory_foreign(**p, 0);
}

/* Memory that another process exported comes by a handle, which is then mapped to addresses. */
static void ipc_imported(const struct call *c)
{
    uint64_t *const *p = c->params; /* cuMemImportFromShareableHandle_params: the handle first */
    take_lock();
    imported.v[imported.n++ % MOST_IMPORTED] = **p;
    take_unlock();
}

static void ipc_mapped(const struct call *c)
{
    const struct {
        uint64_t at, bytes, offset, handle;
    } *p = c->params; /* cuMemMap_params */
    bool other = false;
    take_lock();
    for (unsigned i = 0; i < MOST_IMPORTED && i < imported.n; i++)
        other |= imported.v[i] == p->handle;
    take_unlock();
    if (other)
        memory_foreign(p->at, p->bytes);
}

static const struct other_call take_calls[] = {
    { 495, AFTER, capture_begins },   /* cuStreamBeginCapture */
    { 496, AFTER, capture_begins },   /* cuStreamBeginCapture_ptsz */
    { 539, AFTER, capture_begins },   /* cuStreamBeginCapture_v2 */
    { 540, AFTER, capture_begins },   /* cuStreamBeginCapture_v2_ptsz */
    { 720, AFTER, capture_begins },   /* cuStreamBeginCaptureToGraph */
    { 721, AFTER, capture_begins },   /* cuStreamBeginCaptureToGraph_ptsz */
    { 497, AFTER_ANY, capture_ends }, /* cuStreamEndCapture */
    { 498, AFTER_ANY, capture_ends }, /* cuStreamEndCapture_ptsz */
    { 329, AFTER, ipc_opened },       /* cuIpcOpenMemHandle */
    { 567, AFTER, ipc_opened },       /* cuIpcOpenMemHandle_v2 */
    { 616, AFTER, ipc_opened },       /* cuMemPoolImportPointer */
    { 555, AFTER, ipc_imported },     /* cuMemImportFromShareableHandle */
    { 551, AFTER, ipc_mapped },       /* cuMemMap */
    { 513, AFTER, graph_made },       /* cuGraphInstantiate */
    { 578, AFTER, graph_made },       /* cuGraphInstantiate_v2 */
    { 643, AFTER, graph_made },       /* cuGraphInstantiateWithFlags */
    { 656, AFTER, graph_made },       /* cuGraphInstantiateWithParams */
    { 657, AFTER, graph_made },       /* cuGraphInstantiateWithParams_ptsz */
    { 538, BEFORE, graph_changed },   /* cuGraphExecKernelNodeSetParams */
    { 692, BEFORE, graph_changed },   /* cuGraphExecKernelNodeSetParams_v2 */
    { 561, BEFORE, graph_changed },   /* cuGraphExecUpdate */
    { 696, BEFORE, graph_changed },   /* cuGraphExecUpdate_v2 */
    { 562, BEFORE, graph_changed },   /* cuGraphExecMemcpyNodeSetParams */
    { 563, BEFORE, graph_changed },   /* cuGraphExecMemsetNodeSetParams */
    { 586, BEFORE, graph_changed },   /* cuGraphExecChildGraphNodeSetParams */
    { 714, BEFORE, graph_changed },   /* cuGraphExecNodeSetParams */
    { 516, BEFORE, graph_changed },   /* cuGraphExecDestroy */
    { 514, BOTH, take_graph_launch }, /* cuGraphLaunch */
    { 515, BOTH, take_graph_launch }, /* cuGraphLaunch_ptsz */
    { 0, BEFORE, NULL },
};

const struct launch_part take_part = { take_wanted, take_enter, take_leave, NULL, take_calls };
