#include "check.h"
#include <cassert>
#include <cstring>
__global__ void wild(int *p, int far)
{
    p[far] = 1;
}
__global__ void claims(int v)
{
    assert(v > 3);
}
__global__ void traps()
{
    __trap();
}
__global__ void __launch_bounds__(64) small() {}
int main(int argc, char **argv)
{
    int *p;
    OK(cudaMalloc(&p, 400));
    small<<<1, 128>>>();
    NEED(cudaGetLastError() != cudaSuccess);
    small<<<1, 64>>>();
    OK(cudaDeviceSynchronize());
    small<<<1, 2000>>>();
    cudaError_t shape = cudaPeekAtLastError(); /* another one in other versions of the runtime */
    NEED(shape != cudaSuccess && cudaGetLastError() == shape && cudaGetLastError() == cudaSuccess);
    NEED(cudaGetDevice(nullptr) == cudaErrorInvalidValue && cudaMalloc((void **)nullptr, 16) == cudaErrorInvalidValue);
    cudaGetLastError();
    NEED(cudaMalloc(&p, size_t(1) << 50) == cudaErrorMemoryAllocation);
    NEED(cudaGetLastError() == cudaErrorMemoryAllocation);
    NEED(cudaSetDevice(99) == cudaErrorInvalidDevice);
    NEED(!strcmp(cudaGetErrorName(cudaErrorInvalidDevice), "cudaErrorInvalidDevice"));
    const char *how = argc > 1 ? argv[1] : "wild";
    cudaError_t want = !strcmp(how, "wild") ? cudaErrorIllegalAddress : !strcmp(how, "trap") ? cudaErrorLaunchFailure : cudaErrorAssert;
    if (!strcmp(how, "wild"))
        wild<<<1, 1>>>(p, 1 << 28);
    else if (!strcmp(how, "trap"))
        traps<<<1, 1>>>();
    else
        claims<<<1, 1>>>(2);
    NEED(cudaDeviceSynchronize() == want);
    NEED(cudaFree(p) == want);
    return PASS;
}
