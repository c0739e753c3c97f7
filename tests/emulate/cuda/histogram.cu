#include "check.h"
__global__ void count(const unsigned char *p, int n, unsigned *bins)
{
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[p[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        atomicAdd(&bins[i], s[i]);
}
__global__ void extremes(const int *p, int n, int *least, int *most, unsigned long long *sum, double *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicMin(least, p[i]);
    atomicMax(most, p[i]);
    atomicAdd(sum, (unsigned long long)p[i]);
    atomicAdd(d, 0.5);
    int old = *(volatile int *)most, seen;
    do {
        seen = old;
        old = atomicCAS(most, seen, seen);
    } while (old != seen);
}
int main()
{
    const int n = 20000;
    std::vector<unsigned char> h(n);
    std::vector<int> v(n);
    std::vector<unsigned> want(256), got(256);
    for (int i = 0; i < n; i++)
        want[h[i] = (unsigned char)(i * i % 251)]++, v[i] = i * 7919 % 10007 + 5;
    unsigned char *d;
    unsigned *bins;
    OK(cudaMalloc(&d, n));
    OK(cudaMalloc(&bins, 1024));
    OK(cudaMemset(bins, 0, 1024));
    OK(cudaMemcpy(d, h.data(), n, cudaMemcpyHostToDevice));
    count<<<8, 128>>>(d, n, bins);
    OK(cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost));
    NEED(got == want);
    struct {
        int least, most;
        unsigned long long sum;
        double d;
    } r = { 1 << 30, 0, 0, 0 }, *dr;
    int *dv, least = 1 << 30, most = 0;
    unsigned long long sum = 0;
    for (int x : v)
        least = x < least ? x : least, most = x > most ? x : most, sum += x;
    OK(cudaMalloc(&dr, sizeof r));
    OK(cudaMalloc(&dv, n * 4));
    OK(cudaMemcpy(dr, &r, sizeof r, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dv, v.data(), n * 4, cudaMemcpyHostToDevice));
    extremes<<<(n + 255) / 256, 256>>>(dv, n, &dr->least, &dr->most, &dr->sum, &dr->d);
    OK(cudaMemcpy(&r, dr, sizeof r, cudaMemcpyDeviceToHost));
    NEED(r.least == least && r.most == most && r.sum == sum && r.d == n * 0.5);
    return PASS;
}
