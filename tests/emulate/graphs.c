#include "tests/emulate/program.h"

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
    NEED(cudaStreamSynchronize(s) == cudaErrorStreamCaptureUnsupported);
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[3] == 0); /* nothing has run */
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(x, s));
    OK(cudaMemcpy(h, d, sizeof h, 2));
    NEED(h[0] == 33 && h[N - 1] == 33);
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
    puts("PASS");
    return 0;
}
