#include "check.h"
template <class F> __global__ void each(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        f(i);
}
struct big {
    int v[200];
    double scale;
    int *out;
};
__global__ void by_value(big b, char c, short s, long long l)
{
    b.out[threadIdx.x] = b.v[threadIdx.x] * (int)b.scale + c + s + (int)l;
}
struct adder {
    int *p, by;
    __device__ void operator()(int i) const { p[i] += by * i; }
};
int main()
{
    const int n = 200;
    int *d, h[n];
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemset(d, 0, sizeof h));
    each<<<1, 256>>>(n, adder{ d, 3 });
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    NEED(h[199] == 597);
    big b;
    for (int i = 0; i < 200; i++)
        b.v[i] = i;
    b.scale = 2;
    b.out = d;
    by_value<<<1, 200>>>(b, 1, 2, 3);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        NEED(h[i] == 2 * i + 6);
    return PASS;
}
