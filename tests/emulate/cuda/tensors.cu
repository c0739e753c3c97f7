/* needs CUDA 12.5, needs sm_90 */
#include "check.h"
#include <cuda.h>
#include <cuda/barrier>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__global__ void box(const __grid_constant__ CUtensorMap map, int *out, int x, int y)
{
    __shared__ alignas(128) int s[8][16];
    __shared__ barrier bar;
    barrier::arrival_token token;
    if (!threadIdx.x) {
        init(&bar, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
    if (!threadIdx.x) {
        cde::cp_async_bulk_tensor_2d_global_to_shared(s, &map, x, y, bar);
        token = cuda::device::barrier_arrive_tx(bar, 1, sizeof s);
    } else {
        token = bar.arrive();
    }
    bar.wait(std::move(token));
    for (int i = threadIdx.x; i < 128; i += blockDim.x)
        out[i] = s[i / 16][i % 16];
}
int main()
{
    const int w = 64, h = 32;
    std::vector<int> in(w * h), r(128);
    for (int i = 0; i < w * h; i++)
        in[i] = i;
    int *d, *o;
    OK(cudaMalloc(&d, w * h * 4));
    OK(cudaMalloc(&o, 512));
    OK(cudaMemcpy(d, in.data(), w * h * 4, cudaMemcpyHostToDevice));
    void *fn = nullptr;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &fn, 12000, cudaEnableDefault, &found));
    NEED(fn && found == cudaDriverEntryPointSuccess);
    CUtensorMap map;
    cuuint64_t dims[2] = { w, h }, strides[1] = { w * 4 };
    cuuint32_t size[2] = { 16, 8 }, steps[2] = { 1, 1 };
    auto encode = (CUresult(*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))fn;
    NEED(encode(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, d, dims, strides, size, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS);
    box<<<1, 32>>>(map, o, 56, 28);
    OK(cudaMemcpy(r.data(), o, 512, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 128; i++) {
        int x = 56 + i % 16, y = 28 + i / 16;
        NEED(r[i] == (x < w && y < h ? y * w + x : 0));
    }
    return PASS;
}
