#include "check.h"
__device__ int lock_word, shared_count;
__global__ void guarded(int times)
{
    for (int k = 0; k < times; k++) {
        bool done = false;
        while (!done)
            if (atomicCAS(&lock_word, 0, 1) == 0) {
                int v = *(volatile int *)&shared_count;
                *(volatile int *)&shared_count = v + 1;
                __threadfence();
                atomicExch(&lock_word, 0);
                done = true;
            }
    }
}
__device__ unsigned arrived;
__global__ void last_block(const int *in, int *partial, int *out, int n)
{
    __shared__ int s[64];
    __shared__ bool last;
    int sum = 0;
    for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 64 * gridDim.x)
        sum += in[i];
    s[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 64; k++)
            sum += s[k];
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicInc(&arrived, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int t = 0;
        for (int k = 0; k < gridDim.x; k++)
            t += ((volatile int *)partial)[k];
        *out = t;
    }
}
int main()
{
    guarded<<<4, 32>>>(5);
    int n;
    OK(cudaMemcpyFromSymbol(&n, shared_count, 4));
    NEED(n == 640);
    std::vector<int> h(3000);
    int want = 0, *d, *p, *o;
    for (int i = 0; i < 3000; i++)
        want += h[i] = i % 11;
    OK(cudaMalloc(&d, 12000));
    OK(cudaMalloc(&p, 400));
    OK(cudaMalloc(&o, 4));
    OK(cudaMemcpy(d, h.data(), 12000, cudaMemcpyHostToDevice));
    last_block<<<10, 64>>>(d, p, o, 3000);
    OK(cudaMemcpy(&n, o, 4, cudaMemcpyDeviceToHost));
    NEED(n == want);
    return PASS;
}
