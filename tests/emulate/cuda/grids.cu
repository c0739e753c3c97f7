#include "check.h"
__global__ void where(uint3 *out)
{
    unsigned b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    unsigned t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    out[b * blockDim.x * blockDim.y * blockDim.z + t] = make_uint3(blockIdx.x * 100 + threadIdx.x, blockIdx.y * 100 + threadIdx.y, blockIdx.z * 100 + threadIdx.z);
}
int main()
{
    dim3 g(3, 4, 2), b(5, 3, 4);
    const int n = 24 * 60;
    std::vector<uint3> h(n);
    uint3 *d;
    OK(cudaMalloc(&d, n * sizeof(uint3)));
    where<<<g, b>>>(d);
    OK(cudaMemcpy(h.data(), d, n * sizeof(uint3), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int k = i / 60, t = i % 60;
        NEED(h[i].x == k % 3 * 100 + t % 5 && h[i].y == k / 3 % 4 * 100 + t / 5 % 3 && h[i].z == k / 12 * 100 + t / 15);
    }
    return PASS;
}
