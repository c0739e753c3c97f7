#include "check.h"
#include <curand_kernel.h>
__global__ void darts(unsigned *in, int each)
{
    curandState s;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curand_init(1234, i, 0, &s);
    unsigned n = 0;
    for (int k = 0; k < each; k++) {
        float x = curand_uniform(&s), y = curand_uniform(&s);
        n += x * x + y * y < 1;
    }
    atomicAdd(in, n);
}
int main()
{
    unsigned *d, n;
    OK(cudaMalloc(&d, 4));
    OK(cudaMemset(d, 0, 4));
    darts<<<8, 64>>>(d, 200);
    OK(cudaMemcpy(&n, d, 4, cudaMemcpyDeviceToHost));
    double pi = 4.0 * n / (8 * 64 * 200);
    NEED(fabs(pi - 3.14159) < 0.03);
    return PASS;
}
