#include <cuda_runtime.h>

__device__ float weight(const float *w, int i)
{
    return w[i] * 2;
}

extern "C" __global__ void tiles(const float *a, const float *w, float *out, int rows, int passes)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const float *tile = a + (tid / 32) * rows * 32 + tid % 32;
    float s = 0, t = 0;
#pragma unroll 1
    for (int p = 0; p < passes; p++)
#pragma unroll 1
        for (int r = 0; r < rows; r += 2) {
            s += tile[r * 32];
            t += tile[r * 32 + 32];
        }
    out[tid] = s + t + weight(w, tid);
}

extern "C" __global__ void shared(const float *a, float *out)
{
    __shared__ float kept[128];
    kept[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
    __syncthreads();
    out[blockIdx.x * 128 + threadIdx.x] = kept[127 - threadIdx.x];
}

void launch(const float *a, const float *w, float *out)
{
    cudaDeviceSynchronize();
    tiles<<<16, 128>>>(a, w, out, 16, 4);
    shared<<<16, 128>>>(a, out);
}
