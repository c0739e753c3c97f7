/* Base workload of the coalescing paper: neighbours 128 bytes apart. Every lane
 * needs a line of its own, so one warp load takes 32 requests' worth of sectors. */
extern "C" __global__ void stride_32(const float *a, float *out)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    out[tid] = a[tid * 32];
}
