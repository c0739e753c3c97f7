/* needs sm_90 */
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void __cluster_dims__(4, 1, 1) neighbours(int *out)
{
    __shared__ int mine;
    cg::cluster_group c = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = 100 + blockIdx.x;
    c.sync();
    if (threadIdx.x == 0)
        out[blockIdx.x] = *c.map_shared_rank(&mine, (c.block_rank() + 1) % c.num_blocks());
    c.sync();
}
__global__ void sized(int *out)
{
    out[blockIdx.x] = cg::this_cluster().num_blocks();
}
int main()
{
    int *d, h[8];
    OK(cudaMalloc(&d, sizeof h));
    neighbours<<<8, 32>>>(d);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        NEED(h[i] == 100 + i / 4 * 4 + (i + 1) % 4);
    cudaLaunchConfig_t c = {};
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = 2;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    c.gridDim = dim3(8);
    c.blockDim = dim3(32);
    c.attrs = a;
    c.numAttrs = 1;
    OK(cudaLaunchKernelEx(&c, sized, d));
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    NEED(h[0] == 2 && h[7] == 2);
    return PASS;
}
