#include "check.h"
#include <algorithm>
__global__ void step(unsigned *p, int j, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, o = i ^ j;
    if (o > i && ((i & k) == 0) == (p[i] > p[o])) {
        unsigned t = p[i];
        p[i] = p[o];
        p[o] = t;
    }
}
int main()
{
    const int n = 2048;
    std::vector<unsigned> h(n), r(n);
    for (int i = 0; i < n; i++)
        h[i] = i * 2654435761u;
    unsigned *d;
    OK(cudaMalloc(&d, n * 4));
    OK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    for (int k = 2; k <= n; k *= 2)
        for (int j = k / 2; j; j /= 2)
            step<<<n / 256, 256>>>(d, j, k);
    OK(cudaMemcpy(r.data(), d, n * 4, cudaMemcpyDeviceToHost));
    std::sort(h.begin(), h.end());
    NEED(r == h);
    return PASS;
}
