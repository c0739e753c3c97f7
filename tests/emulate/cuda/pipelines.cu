#include "check.h"
#include <cuda/barrier>
#include <cuda/atomic>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
__global__ void copies(const int *in, int *out)
{
    __shared__ int s[256];
    auto b = cg::this_thread_block();
    cg::memcpy_async(b, s, in + blockIdx.x * 256, sizeof s);
    cg::wait(b);
    out[blockIdx.x * 256 + threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void barriers(int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    if (!threadIdx.x)
        init(&bar, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        s[threadIdx.x] = k * threadIdx.x;
        bar.arrive_and_wait();
        out[threadIdx.x] += s[(threadIdx.x + 1) % 128];
        bar.arrive_and_wait();
    }
}
__global__ void scoped(cuda::atomic<int, cuda::thread_scope_device> *a)
{
    a->fetch_add(2, cuda::memory_order_relaxed);
}
int main()
{
    int h[512], r[512], *d, *o;
    for (int i = 0; i < 512; i++)
        h[i] = 3 * i;
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMalloc(&o, sizeof h));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    copies<<<2, 256>>>(d, o);
    OK(cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 512; i++)
        NEED(r[i] == h[i / 256 * 256 + 255 - i % 256]);
    OK(cudaMemset(o, 0, sizeof h));
    barriers<<<1, 128>>>(o);
    OK(cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++)
        NEED(r[i] == 10 * ((i + 1) % 128));
    OK(cudaMemset(o, 0, 4));
    scoped<<<4, 64>>>((cuda::atomic<int, cuda::thread_scope_device> *)o);
    OK(cudaMemcpy(r, o, 4, cudaMemcpyDeviceToHost));
    NEED(r[0] == 512);
    return PASS;
}
