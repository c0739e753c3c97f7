// One kernel for each cause that a launch can be bound by, and for some the same work without it (_not).
// bound.ptx is made of it: nvcc -ptx -arch=sm_90 -O3
#include <mma.h>
using namespace nvcuda;

#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)

extern "C" __global__ void dram_bandwidth(const float4 *a, float4 *b) { b[THREAD] = a[THREAD]; }

extern "C" __global__ void dram_bandwidth_not(const uchar4 *a, uchar4 *b) { b[THREAD] = a[THREAD]; }

// Each CTA reads 64 KiB of 4 MiB again and again, past L1.
extern "C" __global__ void l2_bandwidth(const float4 *a, float *b)
{
    float s = 0;
    const float4 *p = a + threadIdx.x + blockIdx.x % 64 * 4096;
    for (int i = 0; i < 16; i++, p += 64)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float4 v = __ldcg(p + k * 1024);
            s += v.x + v.w;
        }
    b[THREAD] = s;
}

// The same words, all in L1.
extern "C" __global__ void l1_rate(const float4 *a, float *b)
{
    float s = 0;
    const float4 *p = a + threadIdx.x;
    for (int i = 0; i < 32; i++, p += 16)
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float4 v = p[k * 256];
            s += v.x + v.w;
        }
    b[THREAD] = s;
}

// A row for each thread.
extern "C" __global__ void coalescing_load(const float *a, float *b)
{
    float s = 0;
    for (int i = 0; i < 64; i++)
        s += a[THREAD * 64 + i];
    b[THREAD] = s;
}

extern "C" __global__ void coalescing_load_not(const float *a, float *b)
{
    float s = 0;
    for (int i = 0; i < 64; i++)
        s += a[i * gridDim.x * blockDim.x + THREAD];
    b[THREAD] = s;
}

extern "C" __global__ void coalescing_store(float *b)
{
    for (int i = 0; i < 16; i++)
        b[THREAD * 16 + i] = i;
}

extern "C" __global__ void coalescing_store_not(float *b)
{
    for (int i = 0; i < 16; i++)
        b[i * gridDim.x * blockDim.x + THREAD] = i;
}

template <int pitch> __device__ void columns(float *b)
{
    __shared__ float tile[32 * pitch];
    float s = 0;
    for (int i = threadIdx.x; i < 32 * pitch; i += blockDim.x)
        tile[i] = i;
    __syncthreads();
    for (int i = 0; i < 256; i++)
        s += tile[(threadIdx.x & 31) * pitch + (i & 31)];
    b[THREAD] = s;
}

extern "C" __global__ void bank_conflicts(float *b) { columns<32>(b); }

extern "C" __global__ void bank_conflicts_not(float *b) { columns<33>(b); }

extern "C" __global__ void atomics(const unsigned *a, unsigned *bins) { atomicAdd(&bins[a[THREAD] & 1], 1u); }

extern "C" __global__ void atomics_not(const unsigned *a, unsigned *bins)
{
    unsigned odd = __popc(__ballot_sync(~0u, a[THREAD] & 1));
    if ((threadIdx.x & 31) < 2)
        atomicAdd(&bins[threadIdx.x & 1], threadIdx.x & 1 ? odd : 32 - odd);
}

__constant__ float table[1024];

extern "C" __global__ void constant_replays(const unsigned *a, float *b)
{
    float s = 0;
#pragma unroll 4
    for (int i = 0; i < 32; i++)
        s += table[(a[THREAD] + i * 7) & 1023];
    b[THREAD] = s;
}

extern "C" __global__ void constant_replays_not(const unsigned *a, float *b)
{
    float s = 0;
#pragma unroll 4
    for (int i = 0; i < 32; i++)
        s += table[(a[blockIdx.x] + i * 7) & 1023];
    b[THREAD] = s;
}

extern "C" __global__ void local_memory(const unsigned *a, float *b)
{
    float v[128];
    unsigned k = a[THREAD];
    float s = 0;
#pragma unroll 2
    for (int i = 0; i < 128; i++)
        v[(i + k) & 127] = i;
#pragma unroll 2
    for (int i = 0; i < 128; i++)
        s += v[(i * 5 + k) & 127];
    b[THREAD] = s;
}

// One lane of each warp follows a chain.
extern "C" __global__ void latency(const unsigned *next, unsigned *b)
{
    unsigned k = THREAD;
    if ((threadIdx.x & 31) == 0)
#pragma unroll 2
        for (int i = 0; i < 64; i++)
            k = next[k & 1048575];
    b[THREAD] = k;
}

extern "C" __global__ void issue(float *b)
{
    float x = THREAD, y = x + 1, z = x + 2, w = x + 3;
    for (int i = 0; i < 512; i++) {
        x = x * 1.5f + 2;
        y = y * 1.5f + 2;
        z = z * 1.5f + 2;
        w = w * 1.5f + 2;
    }
    b[THREAD] = x + y + z + w;
}

extern "C" __global__ void tensor(float *b)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> s[4];
    wmma::fill_fragment(x, __float2half(1.0f));
    wmma::fill_fragment(y, __float2half(0.5f));
    for (int k = 0; k < 4; k++)
        wmma::fill_fragment(s[k], 0.0f);
#pragma unroll 1
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 4; k++)
            wmma::mma_sync(s[k], x, y, s[k]);
    for (int k = 1; k < 4; k++)
        for (int i = 0; i < s[0].num_elements; i++)
            s[0].x[i] += s[k].x[i];
    wmma::store_matrix_sync(b + THREAD / 32 * 256, s[0], 16, wmma::mem_row_major);
}

// One warp of eight computes while the others wait.
extern "C" __global__ void barriers(float *b)
{
    __shared__ float s;
    for (int k = 0; k < 16; k++) {
        if (threadIdx.x < 32) {
            float x = k;
            for (int i = 0; i < 256; i++)
                x = x * 1.5f + 2;
            s = x;
        }
        __syncthreads();
    }
    b[THREAD] = s;
}

extern "C" __global__ void grid_too_small(const unsigned *next, unsigned *b)
{
    unsigned k = THREAD;
    for (int i = 0; i < 256; i++)
        k = next[k & 65535] * 3 + 1;
    b[THREAD] = k;
}

// One CTA in 512 has 64 times the work.
extern "C" __global__ void imbalance(float *b)
{
    float x = THREAD;
    int n = blockIdx.x % 512 == 511 ? 65536 : 256;
    for (int i = 0; i < n; i++)
        x = x * 1.5f + 2;
    b[THREAD] = x;
}

// So much shared memory that an SM has two CTAs of two warps.
extern "C" __global__ void occupancy(const unsigned *next, unsigned *b)
{
    extern __shared__ unsigned big[];
    unsigned k = THREAD;
    big[threadIdx.x] = k;
    for (int i = 0; i < 64; i++)
        k = next[(k + threadIdx.x) & 65535];
    b[THREAD] = k + big[threadIdx.x];
}

extern "C" __global__ void launch(float *b) { b[THREAD] = 1; }
