#include "check.h"
__global__ void hello(float f, const char *s)
{
    if (threadIdx.x < 2)
        printf("block %d thread %d: %.2f %s %5d|%-4x|%c %lld %%\n", blockIdx.x, threadIdx.x, f, s, 42, 255, 'x', 1234567890123LL);
}
int main()
{
    char *d, h[] = "text";
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    hello<<<1, 32>>>(1.5f, d);
    OK(cudaDeviceSynchronize());
    return PASS;
}
