#include "check.h"
__global__ void k(float *p)
{
    extern __shared__ float s[];
    s[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
int main()
{
    int grid, block, n, v;
    cudaDeviceProp p;
    cudaFuncAttributes a;
    OK(cudaGetDeviceProperties(&p, 0));
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, k, 0, 0));
    NEED(block > 0 && block <= p.maxThreadsPerBlock && grid >= p.multiProcessorCount);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, k, 256, 32 << 10));
    NEED(n >= 1 && (size_t)n * (32 << 10) <= p.sharedMemPerMultiprocessor);
    OK(cudaFuncGetAttributes(&a, k));
    NEED(a.numRegs > 0 && a.maxThreadsPerBlock == 1024 && a.binaryVersion == 10 * p.major + p.minor);
    OK(cudaDeviceGetAttribute(&v, cudaDevAttrMultiProcessorCount, 0));
    NEED(v == p.multiProcessorCount && p.warpSize == 32 && p.totalGlobalMem > 0 && p.name[0]);
    NEED(p.concurrentKernels == 1 && p.cooperativeLaunch == 1);
    OK(cudaDeviceGetAttribute(&v, cudaDevAttrClusterLaunch, 0));
    NEED(v == (p.major >= 9));
#if CUDART_VERSION >= 12000
    NEED(p.clusterLaunch == v);
#endif
    size_t big = 100 << 10;
    k<<<1, 32, big>>>(nullptr);
    NEED(cudaGetLastError() == cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)big));
    float *d, h[32];
    for (int i = 0; i < 32; i++)
        h[i] = i;
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    k<<<1, 32, big>>>(d);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    NEED(h[0] == 31 && h[31] == 0);
    return PASS;
}
