#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
__global__ void warps(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i < n ? in[i] : 0;
    for (int k = 16; k; k /= 2)
        v += __shfl_down_sync(~0u, v, k);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, v);
}
__global__ void blocks(const int *in, int *out, int n)
{
    __shared__ int s[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? in[i] : 0;
    for (int k = 128; k; k /= 2) {
        __syncthreads();
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
    }
    if (!threadIdx.x)
        atomicAdd(out, s[0]);
}
__global__ void groups(const int *in, int *out, int n)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = cg::reduce(tile, i < n ? in[i] : 0, cg::plus<int>());
    int ballot = __popc(__ballot_sync(~0u, v & 1)), same = __match_any_sync(~0u, v) != 0;
    if (tile.thread_rank() == 0)
        atomicAdd(out, v + 0 * ballot * same);
}
int main()
{
    const int n = 10007;
    std::vector<int> h(n);
    int want = 0, got[3], *d, *r;
    for (int i = 0; i < n; i++)
        want += h[i] = i * 31 % 97;
    OK(cudaMalloc(&d, n * 4));
    OK(cudaMalloc(&r, 12));
    OK(cudaMemset(r, 0, 12));
    OK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
    warps<<<(n + 255) / 256, 256>>>(d, r, n);
    blocks<<<(n + 255) / 256, 256>>>(d, r + 1, n);
    groups<<<(n + 255) / 256, 256>>>(d, r + 2, n);
    OK(cudaMemcpy(got, r, 12, cudaMemcpyDeviceToHost));
    NEED(got[0] == want && got[1] == want && got[2] == want);
    return PASS;
}
