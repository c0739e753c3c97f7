/* Dot product whose partial sums meet in one float atomic. Streaming, coalesced; the
 * order of the additions is the hardware's, so results differ in the last bits from
 * run to run: the launch description states the tolerance within which they are equal. */
extern "C" __global__ void dot_atomic(const float *a, const float *b, float *sum, int n)
{
    float part = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        part += a[i] * b[i];
#pragma unroll
    for (int d = 16; d > 0; d /= 2)
        part += __shfl_down_sync(0xffffffffu, part, d);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, part);
}
