#include "check.h"
__global__ void scan(const int *in, int *out, int *sums, int n)
{
    extern __shared__ int s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    s[t] = i < n ? in[i] : 0;
    for (int k = 1; k < blockDim.x; k *= 2) {
        __syncthreads();
        int v = t >= k ? s[t - k] : 0;
        __syncthreads();
        s[t] += v;
    }
    if (i < n)
        out[i] = s[t];
    if (t == blockDim.x - 1)
        sums[blockIdx.x] = s[t];
}
__global__ void add(int *out, const int *sums, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x)
        out[i] += sums[blockIdx.x - 1];
}
int main()
{
    const int n = 5000, b = 128, g = (n + b - 1) / b;
    std::vector<int> h(n), r(n);
    for (int i = 0; i < n; i++)
        h[i] = i % 13 - 4;
    int *in, *out, *sums, *total, *none;
    OK(cudaMalloc(&in, n * 4));
    OK(cudaMalloc(&out, n * 4));
    OK(cudaMalloc(&sums, g * 4));
    OK(cudaMalloc(&total, g * 4));
    OK(cudaMalloc(&none, g * 4));
    OK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
    scan<<<g, b, b * 4>>>(in, out, sums, n);
    scan<<<1, 64, 64 * 4>>>(sums, total, none, g);
    add<<<g, b>>>(out, total, n);
    OK(cudaMemcpy(r.data(), out, n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0, s = 0; i < n; i++)
        NEED(r[i] == (s += h[i]));
    return PASS;
}
