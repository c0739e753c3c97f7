#include "tests/emulate/program.h"

/* Any kind of node by one structure: of cudaGraphNodeParams what is used here. */
struct any {
    int type, reserved[3];
    union {
        struct cudaMemsetParams set;
        cudaGraph_t child;
        char room[240];
    } of;
};

/* clear -> plus, plus -> last: asked, cloned, changed, taken apart. */
static void edit(const struct cudaKernelNodeParams *k, unsigned *d, unsigned *h, size_t bytes)
{
    cudaGraph_t g, twin, outer, inner;
    cudaGraphNode_t clear, plus, last, from[3], to[3], other, child;
    cudaGraphExec_t x;
    struct any set = { .type = 2, .of = { .set = { d, 0, 2, 4, bytes / 4, 1 } } };
    struct cudaMemsetParams got;
    size_t n = 3;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddNode(&clear, g, NULL, NULL, 0, &set));
    OK(cudaGraphAddKernelNode(&plus, g, &clear, 1, k));
    OK(cudaGraphAddKernelNode(&last, g, &plus, 1, k));
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    NEED(n == 2);
    n = 3;
    OK(cudaGraphGetEdges(g, from, to, NULL, &n));
    NEED(n == 2 && from[0] == clear && to[0] == plus && from[1] == plus && to[1] == last && !to[2]);
    n = 3;
    OK(cudaGraphNodeGetDependencies(last, from, NULL, &n));
    NEED(n == 1 && from[0] == plus);
    n = 3;
    OK(cudaGraphNodeGetDependentNodes(clear, from, NULL, &n));
    NEED(n == 1 && from[0] == plus);
    NEED(cudaGraphNodeGetDependencies(NULL, NULL, NULL, &n) == cudaErrorInvalidValue);
    OK(cudaGraphMemsetNodeGetParams(clear, &got));
    NEED(got.dst == d && got.value == 2 && got.elementSize == 4 && got.width == bytes / 4);
    NEED(cudaGraphMemsetNodeGetParams(plus, &got) == cudaErrorInvalidValue);
    OK(cudaGraphClone(&twin, g));
    OK(cudaGraphNodeFindInClone(&other, clear, twin));
    NEED(other != clear && cudaGraphNodeFindInClone(&other, other, g) == cudaErrorInvalidValue);
    OK(cudaGraphInstantiate(&x, g, 0));
    set.of.set.value = 100;
    OK(cudaGraphExecNodeSetParams(x, clear, &set));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaMemcpy(h, d, bytes, 2));
    NEED(h[1] == 110);
    OK(cudaGraphNodeSetParams(clear, &set));
    OK(cudaGraphDestroyNode(last));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaMemcpy(h, d, bytes, 2));
    NEED(h[1] == 105);
    from[0] = clear, to[0] = plus;
    OK(cudaGraphRemoveDependencies(g, from, to, NULL, 1));
    NEED(cudaGraphRemoveDependencies(g, from, to, NULL, 1) == cudaErrorInvalidValue);
    struct any whole = { .type = 4, .of = { .child = g } };
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddNode(&child, outer, NULL, NULL, 0, &whole));
    OK(cudaGraphChildGraphNodeGetGraph(child, &inner));
    NEED(inner != g && whole.of.child == g);
    set.type = 13; /* a condition */
    NEED(cudaGraphAddNode(&other, g, NULL, NULL, 0, &set) != 0);
}

/* How often the most frequent of n comes. */
static size_t most_alike(const cudaGraphNode_t *v, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t same = 0;
        for (size_t k = 0; k < n; k++)
            same += v[k] == v[i];
        most = same > most ? same : most;
    }
    return most;
}

/* Streams that part and meet: who waits for whom, what is not joined, two captures that would become one. */
static void captures(char *stub, unsigned *d, unsigned n)
{
    cudaStream_t s, t, u;
    cudaEvent_t e, f;
    cudaGraph_t g;
    cudaGraphNode_t from[8], to[8], first, second;
    cudaGraphNode_t const *last;
    int capturing;
    unsigned long long id;
    size_t edges = 8, waits;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaStreamCreate(&u));
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
    OK(cudaStreamBeginCapture(s, 0));
    OK(add(stub, d, d, 1, n, s));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(add(stub, d, d, 2, n, t));
    OK(add(stub, d, d, 3, n, s));
    OK(cudaStreamGetCaptureInfo(t, &capturing, &id, &g, &last, NULL, &waits));
    NEED(waits == 1);
    OK(cudaEventRecord(f, t));
    OK(cudaStreamWaitEvent(s, f, 0));
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    NEED(waits == 2);
    OK(add(stub, d, d, 4, n, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphGetEdges(g, from, to, NULL, &edges));
    NEED(edges == 4); /* the first before two, these before the last */
    NEED(most_alike(from, 4) == 2 && most_alike(to, 4) == 2);

    OK(cudaStreamBeginCapture(s, 0)); /* what waits is chosen: the third behind the first alone */
    OK(add(stub, d, d, 1, n, s));
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    first = last[0];
    OK(add(stub, d, d, 2, n, s));
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    second = last[0];
    OK(cudaStreamUpdateCaptureDependencies(s, &first, NULL, 1, 1));
    OK(add(stub, d, d, 3, n, s));
    OK(cudaStreamUpdateCaptureDependencies(s, &second, NULL, 1, 0));
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    NEED(waits == 2);
    OK(cudaStreamUpdateCaptureDependencies(s, (cudaGraphNode_t *)last, NULL, waits, 1)); /* as told */
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    NEED(waits == 2);
    OK(cudaStreamEndCapture(s, &g));
    edges = 8;
    OK(cudaGraphGetEdges(g, from, to, NULL, &edges));
    NEED(edges == 2 && from[0] == first && from[1] == first);

    OK(cudaStreamBeginCapture(s, 0)); /* t is left behind */
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(add(stub, d, d, 1, n, t));
    IS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));
    NEED(!g);
    OK(cudaStreamIsCapturing(t, &capturing));
    NEED(capturing == 0);

    OK(cudaStreamBeginCapture(s, 0)); /* joined, then on alone */
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(add(stub, d, d, 1, n, t));
    OK(cudaEventRecord(f, t));
    OK(cudaStreamWaitEvent(s, f, 0));
    OK(add(stub, d, d, 1, n, t));
    IS(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(s, &g));

    OK(cudaStreamBeginCapture(s, 0));
    OK(cudaStreamBeginCapture(u, 0));
    OK(add(stub, d, d, 1, n, s));
    OK(cudaEventRecord(e, s));
    IS(cudaErrorStreamCaptureMerge, cudaStreamWaitEvent(u, e, 0));
    NEED(cudaStreamEndCapture(s, &g) != 0);
    NEED(cudaStreamEndCapture(u, &g) != 0);
    IS(cudaErrorInvalidValue, cudaStreamWaitEvent(t, e, 0)); /* its capture has ended */
    IS(cudaErrorInvalidValue, cudaEventSynchronize(e));

    OK(cudaEventRecord(e, t)); /* outside */
    OK(cudaStreamBeginCapture(s, 0));
    IS(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(s, e, 0));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));

    OK(cudaStreamBeginCapture(s, 0)); /* what the own stream leaves behind is no fork */
    OK(add(stub, d, d, 1, n, s));
    OK(cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 1));
    OK(add(stub, d, d, 1, n, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
    OK(cudaStreamDestroy(u));
}

/* A graph captured from two streams, and one made of nodes, launched again and again. */
int main(void)
{
    enum { N = 256 };
    static char stub;
    static unsigned h[N];
    unsigned *d, by = 5, n = N;
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaGraph_t g;
    cudaGraphExec_t x;
    cudaGraphNode_t clear, plus;
    kernel(load(ADD_PTX), &stub, "add");
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreate(&e));
    OK(cudaMalloc((void **)&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    OK(cudaStreamBeginCapture(s, 0));
    OK(add(&stub, d, d, 1, N, s));
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    OK(add(&stub, d, d, 10, N, t));
    cudaGraphNode_t const *last;
    unsigned long long id;
    size_t waits = 0;
    int capturing;
    OK(cudaStreamGetCaptureInfo(t, &capturing, &id, &g, &last, NULL, &waits));
    NEED(capturing == 1 && g && waits == 1);
    OK(cudaEventRecord(e, t));
    OK(cudaStreamWaitEvent(s, e, 0));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[3] == 0); /* nothing has run */
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(x, s));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[0] == 33 && h[N - 1] == 33);
    cudaGraph_t none = g;
    OK(cudaStreamBeginCapture(s, 0));
    OK(add(&stub, d, d, 1, N, s));
    NEED(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamGetCaptureInfo(s, &capturing, &id, &g, &last, NULL, &waits));
    NEED(capturing == 2); /* invalid from there on */
    IS(cudaErrorStreamCaptureInvalidated, add(&stub, d, d, 1, N, s));
    IS(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &none));
    NEED(!none);
    captures(&stub, d, n);
    void *args[] = { &d, &d, &by, &n };
    const struct cudaKernelNodeParams k = { &stub, { 2, 1, 1 }, { 128, 1, 1 }, 0, args, NULL };
    const struct cudaMemsetParams m = { d, 0, 2, 4, N, 1 };
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddKernelNode(&plus, g, NULL, 0, &k));
    OK(cudaGraphAddMemsetNode(&clear, g, &plus, 1, &m));
    OK(cudaGraphAddKernelNode(&plus, g, &clear, 1, &k));
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[0] == 7 && h[N - 1] == 7);
    edit(&k, d, h, sizeof h);
    pass();
    return 0;
}
