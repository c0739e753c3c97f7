/* Sum per CTA: a grid-stride streaming loop, a tree in shared memory with
 * barriers, and the last 32 values by shuffles inside one warp. */
extern "C" __global__ void reduction(const float *a, float *out, int n)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    float sum = 0;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += a[i];
    part[t] = sum;
    __syncthreads();
#pragma unroll 1
    for (int half = blockDim.x / 2; half >= 32; half /= 2) {
        if (t < half)
            part[t] += part[t + half];
        __syncthreads();
    }
    if (t < 32) {
        sum = part[t];
#pragma unroll
        for (int d = 16; d > 0; d /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, d);
        if (t == 0)
            out[blockIdx.x] = sum;
    }
}
