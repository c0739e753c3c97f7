/* Base workload of the coalescing paper: neighbours 16 bytes apart. Two lanes
 * share a sector, eight share a line: a warp load touches 16 sectors. */
extern "C" __global__ void stride_4(const float *a, float *out)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    out[tid] = a[tid * 4];
}
