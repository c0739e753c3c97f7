/* A library with kernels, a variable and a CUDA runtime of its own; NAME: its function. */
#include <cuda_runtime.h>
static __device__ int kept;
static __global__ void count(int *p, int v)
{
    p[threadIdx.x] = v + threadIdx.x + kept;
}
extern "C" int NAME(int v)
{
    int *d, h[4], k = 10 * v;
    bool fine = cudaMemcpyToSymbol(kept, &k, sizeof k) == cudaSuccess && cudaMalloc(&d, sizeof h) == cudaSuccess;
    if (fine)
        count<<<1, 4>>>(d, v);
    fine = fine && cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost) == cudaSuccess && cudaFree(d) == cudaSuccess;
    return fine ? h[3] : -1;
}
