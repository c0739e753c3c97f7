/* Base workload of the coalescing paper: neighbouring lanes read neighbouring
 * words, a whole line a warp in four sectors. Streaming: nothing is used twice. */
extern "C" __global__ void coalescing(const float *a, float *out)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    out[tid] = a[tid];
}
