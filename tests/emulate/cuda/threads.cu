#include "check.h"
#include <thread>
__global__ void mul(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] *= by;
}
static void work(int k, bool *fine)
{
    const int n = 999;
    std::vector<int> h(n);
    int *d;
    *fine = cudaSetDevice(0) == cudaSuccess && cudaMalloc(&d, n * 4) == cudaSuccess;
    for (int r = 0; r < 10 && *fine; r++) {
        for (int i = 0; i < n; i++)
            h[i] = i;
        cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice);
        mul<<<(n + 63) / 64, 64, 0, cudaStreamPerThread>>>(d, n, k);
        *fine = cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess;
        cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost);
        for (int i = 0; i < n; i++)
            *fine &= h[i] == i * k;
    }
    cudaFree(d);
}
int main()
{
    bool fine[6];
    std::vector<std::thread> t;
    for (int i = 0; i < 6; i++)
        t.emplace_back(work, i + 2, &fine[i]);
    for (auto &k : t)
        k.join();
    for (bool f : fine)
        NEED(f);
    return PASS;
}
