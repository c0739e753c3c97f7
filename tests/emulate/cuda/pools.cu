#include "check.h"
__global__ void put(int *p, int v, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        p[i] = v + i;
}
int main()
{
    cudaStream_t s;
    cudaMemPool_t pool, own;
    OK(cudaStreamCreate(&s));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = ~0ull, got = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &got));
    NEED(got == keep);
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&own, &props));
    std::vector<int> h(500);
    for (int k = 0; k < 30; k++) {
        int *p;
        OK(k % 2 ? cudaMallocAsync((void **)&p, h.size() * sizeof(int), s)
                 : cudaMallocFromPoolAsync((void **)&p, h.size() * sizeof(int), own, s));
        put<<<1, 128, 0, s>>>(p, k, (int)h.size());
        OK(cudaMemcpyAsync(h.data(), p, h.size() * sizeof(int), cudaMemcpyDeviceToHost, s));
        OK(cudaFreeAsync(p, s));
        OK(cudaStreamSynchronize(s));
        NEED(h[0] == k && h[499] == k + 499);
    }
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaMemPoolDestroy(own));
    size_t f, t;
    OK(cudaMemGetInfo(&f, &t));
    NEED(f <= t && f > t / 2);
    return PASS;
}
