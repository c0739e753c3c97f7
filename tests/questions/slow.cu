// Slow kernels, each with what was wrong with it mended (_fixed): docs/guide/engineer.md shows them, tests/cli/questions.sh runs them.
// slow.ptx is made of it: nvcc -ptx -arch=sm_90 -O3 -lineinfo slow.cu
#include <cstdint>
#define T (blockIdx.x * blockDim.x + threadIdx.x)

struct particle { float x, y, z, m, vx, vy, vz, q; };

// 1 An array of structures: lanes are 32 bytes apart.
extern "C" __global__ void aos(const particle *p, float *e, int n)
{
    int i = T;
    if (i < n)
        e[i] = p[i].m * p[i].vx;
}
extern "C" __global__ void aos_fixed(const float *m, const float *vx, float *e, int n)
{
    int i = T;
    if (i < n)
        e[i] = m[i] * vx[i];
}

// 2 A thread for each row of a matrix.
extern "C" __global__ void row_sum(const float *a, float *s, int rows, int cols)
{
    int r = T;
    if (r >= rows)
        return;
    float v = 0;
    for (int c = 0; c < cols; c++)
        v += a[r * cols + c];
    s[r] = v;
}
extern "C" __global__ void row_sum_fixed(const float *a, float *s, int rows, int cols)
{
    int r = T / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    float v = 0;
    for (int c = lane; c < cols; c += 32)
        v += a[r * cols + c];
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (!lane)
        s[r] = v;
}

// 3 A thread for each row of a sparse matrix.
extern "C" __global__ void csr_row(const int *start, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = T;
    if (r >= rows)
        return;
    float v = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
        v += val[k] * x[col[k]];
    y[r] = v;
}
extern "C" __global__ void csr_row_fixed(const int *start, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = T / 32, lane = threadIdx.x % 32;
    if (r >= rows)
        return;
    float v = 0;
    for (int k = start[r] + lane; k < start[r + 1]; k += 32)
        v += val[k] * x[col[k]];
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(~0u, v, d);
    if (!lane)
        y[r] = v;
}

// 4 A transposition that writes columns; 5 one through a tile whose columns lie in one bank.
extern "C" __global__ void transpose_naive(const float *a, float *b, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        b[x * n + y + k] = a[(y + k) * n + x];
}
template <int PITCH> __device__ void transpose_tile(const float *a, float *b, int n)
{
    __shared__ float t[32 * PITCH];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        t[(threadIdx.y + k) * PITCH + threadIdx.x] = a[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        b[(y + k) * n + x] = t[threadIdx.x * PITCH + threadIdx.y + k];
}
extern "C" __global__ void transpose_naive_fixed(const float *a, float *b, int n) { transpose_tile<33>(a, b, n); }
extern "C" __global__ void transpose_banks(const float *a, float *b, int n) { transpose_tile<32>(a, b, n); }
extern "C" __global__ void transpose_banks_fixed(const float *a, float *b, int n) { transpose_tile<33>(a, b, n); }

// 6 A histogram that adds to global memory; 7 a sum that adds with every thread.
extern "C" __global__ void histogram(const unsigned *v, unsigned *bins, int n)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[v[i] & 15], 1);
}
extern "C" __global__ void histogram_fixed(const unsigned *v, unsigned *bins, int n)
{
    __shared__ unsigned own[16];
    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[v[i] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
extern "C" __global__ void sum_all(const int *v, int *sum, int n)
{
    int i = T;
    if (i < n)
        atomicAdd(sum + (v[i] & 0), v[i]);
}
extern "C" __global__ void sum_all_fixed(const int *v, int *sum, int n)
{
    int i = T, x = i < n ? v[i] : 0;
    __shared__ int part[32];
    x = __reduce_add_sync(~0u, x);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x < 32) {
        x = __reduce_add_sync(~0u, threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (!threadIdx.x)
            atomicAdd(sum, x);
    }
}

// 8 A table in constant memory that lanes read at different places.
__constant__ float table[1024];
extern "C" __global__ void lookup(const unsigned *v, float *o, int n)
{
    int i = T;
    if (i >= n)
        return;
    unsigned k = v[i];
    float s = 0;
    for (int j = 0; j < 8; j++, k = k * 5 + 1)
        s += table[k & 1023];
    o[i] = s;
}
extern "C" __global__ void lookup_fixed(const unsigned *v, float *o, const float *__restrict__ table_of, int n)
{
    __shared__ float t[1024];
    for (int j = threadIdx.x; j < 1024; j += blockDim.x)
        t[j] = table_of[j];
    __syncthreads();
    int i = T;
    if (i >= n)
        return;
    unsigned k = v[i];
    float s = 0;
    for (int j = 0; j < 8; j++, k = k * 5 + 1)
        s += t[k & 1023];
    o[i] = s;
}

// 9 Stores between loads that may alias.
extern "C" __global__ void scale8(const float *a, float *b, int n)
{
    int i = T;
    for (int k = 0; k < 8; k++)
        b[i + k * n] = 2 * a[i + k * n];
}
extern "C" __global__ void scale8_fixed(const float *__restrict__ a, float *__restrict__ b, int n)
{
    int i = T;
    float v[8];
    for (int k = 0; k < 8; k++)
        v[k] = a[i + k * n];
    for (int k = 0; k < 8; k++)
        b[i + k * n] = 2 * v[k];
}

// 10 A 64-bit division for each element.
extern "C" __global__ void wide_index(float *o, long n, long w, long h)
{
    long i = T;
    if (i < n) {
        long x = i % w, y = i / w % h, z = i / (w * h);
        o[i] = x + 2 * y + 3 * z;
    }
}
extern "C" __global__ void wide_index_fixed(float *o, long n, int w, int h)
{
    unsigned i = T;
    if (i < n) {
        unsigned x = i % w, y = i / w % h, z = i / (w * h);
        o[i] = x + 2 * y + 3 * z;
    }
}

// 11 Launch bounds that leave 32 registers for 64 values.
template <int N> __device__ void live(const float *a, float *b)
{
    float v[N];
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = a[T + k];
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = v[k] * v[(k + 7) % N] + v[(k + 13) % N];
    float s = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        s += v[k];
    b[T] = s;
}
extern "C" __global__ void __launch_bounds__(256, 8) bounds(const float *a, float *b) { live<64>(a, b); }
extern "C" __global__ void __launch_bounds__(256) bounds_fixed(const float *a, float *b) { live<64>(a, b); }

// 12 A grid of 33 CTAs.
extern "C" __global__ void few_ctas(const float *a, float *b, int each)
{
    float s = 0;
    for (int k = 0; k < each; k++)
        s += a[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    b[T] = s;
}
extern "C" __global__ void few_ctas_fixed(const float *a, float *b, int each)
{
    float s = 0;
    for (int k = 0; k < each; k++)
        s += a[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x];
    b[T] = s;
}

// 13 Half of the threads have nothing to do.
extern "C" __global__ void half_idle(const float *a, float *b, int n, int stride)
{
    int i = T * stride;
    if (i < n)
        b[i] = a[i] + 1;
}
extern "C" __global__ void half_idle_fixed(const float *a, float *b, int n, int stride)
{
    int i = T;
    if (i < n)
        b[i] = a[i] + 1;
}

// 14 x along the rows' long way: columns for lanes.
extern "C" __global__ void columns(const float *a, float *b, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
    b[row * n + c] = 2 * a[row * n + c];
}
extern "C" __global__ void columns_fixed(const float *a, float *b, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    b[row * n + c] = 2 * a[row * n + c];
}

// 15 A stencil: right as it is, L1 has what the loads share. 16 A copy: as fast as memory is.
extern "C" __global__ void stencil(const float *a, float *b, int n)
{
    int i = T;
    if (i > 0 && i < n - 1)
        b[i] = a[i - 1] + 2 * a[i] + a[i + 1];
}
extern "C" __global__ void copy_all(const float4 *a, float4 *b) { b[T] = a[T]; }

// 17 A local array that is indexed by data.
extern "C" __global__ void local_array(const unsigned *a, float *b)
{
    float v[32];
    unsigned k = a[T];
    for (int i = 0; i < 32; i++)
        v[i] = i * 1.5f;
    for (int i = 0; i < 32; i++, k = k * 5 + 1)
        v[k & 31] += v[(k >> 5) & 31];
    b[T] = v[k & 31];
}
extern "C" __global__ void local_array_fixed(const unsigned *a, float *b)
{
    __shared__ float v[32 * 128];
    unsigned k = a[T];
    for (int i = 0; i < 32; i++)
        v[i * 128 + threadIdx.x] = i * 1.5f;
    for (int i = 0; i < 32; i++, k = k * 5 + 1)
        v[(k & 31) * 128 + threadIdx.x] += v[((k >> 5) & 31) * 128 + threadIdx.x];
    b[T] = v[(k & 31) * 128 + threadIdx.x];
}

// 18 A chain of loads.
extern "C" __global__ void chase(const unsigned *next, unsigned *o)
{
    unsigned k = T;
    for (int i = 0; i < 32; i++)
        k = next[k];
    o[T] = k;
}
extern "C" __global__ void chase_fixed(const unsigned *next, unsigned *o)
{
    unsigned k = T, j = T + gridDim.x * blockDim.x;
    for (int i = 0; i < 32; i++) {
        k = next[k];
        j = next[j];
    }
    o[T] = k;
    o[T + gridDim.x * blockDim.x] = j;
}

// 19 One thread of a CTA works between barriers.
extern "C" __global__ void serial(const float *a, float *b)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[T];
    __syncthreads();
    if (!threadIdx.x)
        for (int i = 1; i < 256; i++)
            s[0] += s[i];
    __syncthreads();
    b[T] = s[0];
}
extern "C" __global__ void serial_fixed(const float *a, float *b)
{
    __shared__ float s[8];
    float v = a[T];
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    v = 0;
    for (int i = 0; i < 8; i++)
        v += s[i];
    b[T] = v;
}

// 20 A gather.
extern "C" __global__ void gather(const int *idx, const float *x, float *y, int n)
{
    int i = T;
    if (i < n)
        y[i] = x[idx[i]];
}
extern "C" __global__ void gather_fixed(const int *idx, const float *x, float *y, int n)
{
    int i = T;
    if (i < n)
        y[i] = x[idx[i]];
}
