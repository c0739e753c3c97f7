/* Base workload of the coalescing paper: all lanes read one word (a broadcast),
 * one sector a warp. Every warp and every CTA share it: inter-CTA reuse at its purest. */
extern "C" __global__ void same_location(const float *a, float *out)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    out[tid] = a[0];
}
