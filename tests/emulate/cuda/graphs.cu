#include "check.h"
#if CUDART_VERSION >= 12000
#define INSTANTIATE(x, g) cudaGraphInstantiate(x, g, 0)
#else
static cudaGraphNode_t wrong;
static char why[100] = "?";
#define INSTANTIATE(x, g) (cudaGraphInstantiate(x, g, &wrong, why, sizeof why) || wrong || *why ? cudaErrorUnknown : cudaSuccess)
#endif
__global__ void add(int *p, int by)
{
    p[threadIdx.x] += by;
}
static void CUDART_CB host(void *data)
{
    ++*(int *)data;
}
int main()
{
    const int n = 64;
    int *d, h[n], calls = 0;
    cudaStream_t s, t;
    cudaEvent_t fork, join;
    cudaGraph_t g;
    cudaGraphExec_t x;
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreate(&t));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    add<<<1, n, 0, s>>>(d, 1);
    OK(cudaEventRecord(fork, s));
    OK(cudaStreamWaitEvent(t, fork, 0));
    add<<<1, n, 0, t>>>(d, 10);
    OK(cudaLaunchHostFunc(t, host, &calls));
    OK(cudaEventRecord(join, t));
    OK(cudaStreamWaitEvent(s, join, 0));
    OK(cudaMemcpyAsync(h, d, sizeof h, cudaMemcpyDeviceToHost, s));
    cudaStreamCaptureStatus status;
    OK(cudaStreamIsCapturing(s, &status));
    NEED(status == cudaStreamCaptureStatusActive);
    OK(cudaStreamEndCapture(s, &g));
    size_t nodes = 0;
    OK(cudaGraphGetNodes(g, nullptr, &nodes));
    NEED(nodes == 4);
    OK(INSTANTIATE(&x, g));
    for (int i = 0; i < 5; i++)
        OK(cudaGraphLaunch(x, s));
    OK(cudaStreamSynchronize(s));
    NEED(calls == 5 && h[0] == 55 && h[n - 1] == 55);
    cudaGraph_t own;
    cudaGraphNode_t a, b;
    int by = 100;
    void *args[] = { &d, &by };
    cudaKernelNodeParams p = {};
    p.func = (void *)add;
    p.gridDim = dim3(1);
    p.blockDim = dim3(n);
    p.kernelParams = args;
    OK(cudaGraphCreate(&own, 0));
    OK(cudaGraphAddKernelNode(&a, own, nullptr, 0, &p));
    OK(cudaGraphAddMemcpyNode1D(&b, own, &a, 1, h, d, sizeof h, cudaMemcpyDeviceToHost));
    cudaGraphExec_t y;
    OK(INSTANTIATE(&y, own));
    OK(cudaGraphLaunch(y, s));
    OK(cudaStreamSynchronize(s));
    NEED(h[3] == 155);
    by = 1000;
    OK(cudaGraphExecKernelNodeSetParams(y, a, &p));
    OK(cudaGraphLaunch(y, s));
    OK(cudaStreamSynchronize(s));
    NEED(h[3] == 1155);
    OK(cudaGraphExecDestroy(y));
    OK(cudaGraphDestroy(own));
    return PASS;
}
