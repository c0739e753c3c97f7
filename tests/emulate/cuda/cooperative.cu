#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rounds(int *in, int *out, int n, int times)
{
    cg::grid_group g = cg::this_grid();
    for (int k = 0; k < times; k++) {
        for (int i = g.thread_rank(); i < n; i += g.size())
            out[i] = in[(i + 1) % n] + in[(i + n - 1) % n];
        g.sync();
        int *t = in;
        in = out;
        out = t;
    }
}
int main()
{
    int n = 700, times = 9, *a, *b, can, per = 0;
    OK(cudaDeviceGetAttribute(&can, cudaDevAttrCooperativeLaunch, 0));
    NEED(can == 1);
    std::vector<int> h(n), k(n);
    for (int i = 0; i < n; i++)
        h[i] = i % 7 == 0;
    OK(cudaMalloc(&a, n * sizeof(int)));
    OK(cudaMalloc(&b, n * sizeof(int)));
    OK(cudaMemcpy(a, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per, rounds, 64, 0));
    NEED(per > 0);
    void *args[] = { &a, &b, &n, &times };
    OK(cudaLaunchCooperativeKernel((void *)rounds, dim3(6), dim3(64), args, 0, 0));
    OK(cudaDeviceSynchronize());
    for (int t = 0; t < times; t++, h.swap(k))
        for (int i = 0; i < n; i++)
            k[i] = h[(i + 1) % n] + h[(i + n - 1) % n];
    std::vector<int> r(n);
    OK(cudaMemcpy(r.data(), times % 2 ? b : a, n * sizeof(int), cudaMemcpyDeviceToHost));
    NEED(r == h);
    NEED(cudaLaunchCooperativeKernel((void *)rounds, dim3(1 << 20), dim3(64), args, 0, 0) ==
         cudaErrorCooperativeLaunchTooLarge);
    return PASS;
}
