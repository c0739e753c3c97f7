#include "check.h"
int main()
{
    int n, v, r;
    cudaDeviceProp p;
    size_t limit;
    char bus[32];
    OK(cudaGetDeviceCount(&n));
    NEED(n >= 1);
    OK(cudaDriverGetVersion(&v));
    OK(cudaRuntimeGetVersion(&r));
    NEED(v >= r && r >= 11000);
    OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    OK(cudaDeviceGetByPCIBusId(&v, bus));
    NEED(v == 0);
    OK(cudaGetDeviceProperties(&p, 0));
    for (int a : { (int)cudaDevAttrMaxThreadsPerBlock, (int)cudaDevAttrWarpSize, (int)cudaDevAttrMaxSharedMemoryPerBlockOptin, (int)cudaDevAttrComputeCapabilityMajor })
        OK(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)a, 0));
    NEED(v == p.major);
    OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
    OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    NEED(limit == 1 << 22);
    int least, greatest;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    NEED(greatest <= least);
    cudaStream_t s;
    unsigned flags;
    OK(cudaStreamCreateWithPriority(&s, cudaStreamNonBlocking, greatest));
    OK(cudaStreamGetFlags(s, &flags));
    OK(cudaStreamGetPriority(s, &v));
    NEED(flags == cudaStreamNonBlocking && v == greatest);
    OK(cudaStreamQuery(s));
    cudaEvent_t a, b;
    float ms;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreateWithFlags(&b, cudaEventDisableTiming));
    OK(cudaEventRecord(a, s));
    OK(cudaEventRecord(b, s));
    OK(cudaStreamSynchronize(s));
    NEED(cudaEventElapsedTime(&ms, a, b) == cudaErrorInvalidResourceHandle);
    NEED(cudaGetLastError() == cudaErrorInvalidResourceHandle && cudaGetLastError() == cudaSuccess);
    OK(cudaStreamDestroy(s));
    OK(cudaDeviceReset());
    return PASS;
}
