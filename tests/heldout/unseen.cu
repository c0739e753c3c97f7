// Kernels written to be unlike the demo kernels: what a rewrite must survive or refuse.
// Built three ways (build.sh): nvcc as it comes, nvcc -G, clang.
#ifdef __clang__
#include "clang_cuda.h"
#else
#include <cuda_fp16.h>
#endif

extern "C" {

// Early return, two nested loops with a data-dependent end and a break.
__global__ void u_nested(const int *__restrict__ len, const float *a, float *out, int n, int w)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int r = 0; r < 4; r++) {
        int m = len[(i + r) % n] & 15;
        for (int k = 0; k < m; k++) {
            float v = a[(i * w + r * 5 + k) % (n * w)];
            if (v < -0.9f)
                break;
            sum += v * (r + 1);
        }
        if (sum > 100)
            return;
    }
    out[i] = sum;
}

// A called function that reads global memory and the CTA's place.
__device__ __noinline__ float row_sum(const float *a, int w, int k)
{
    float s = 0;
    for (int j = threadIdx.x & 3; j < w; j += 4)
        s += a[(blockIdx.y * w + j + k) % (w * 8)];
    return s;
}
__device__ __noinline__ int place(int k) { return blockIdx.x + gridDim.x * (blockIdx.y + k); }
__global__ void u_calls(const float *a, float *out, int w)
{
    int i = place(0) * blockDim.x + threadIdx.x;
    float s = row_sum(a, w, threadIdx.x);
    if (threadIdx.x & 1)
        s += row_sum(a, w / 2, 3) * place(1);
    out[i] = s;
}

// Shuffles and votes, a loop that some warps leave earlier.
__global__ void u_shuffle(const float *a, float *out, int n)
{
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float best = -1e30f;
    for (int k = warp; k < n; k += blockDim.x / 32) {
        float v = a[(blockIdx.x * n + k) * 32 + lane];
        for (int d = 16; d; d >>= 1)
            v += __shfl_xor_sync(0xffffffffu, v, d);
        unsigned up = __ballot_sync(0xffffffffu, v > best);
        if (up == 0)
            continue;
        best = v > best ? v : best;
    }
    if (lane == 0)
        out[blockIdx.x * (blockDim.x / 32) + warp] = best;
}

// 3-D grid and block, shared tile with halo, barriers in a loop.
__global__ void u_box(const float *a, float *out, int nx, int ny, int nz)
{
    __shared__ float t[4][6][10];
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 4 + threadIdx.y, z = blockIdx.z * 2 + threadIdx.z;
    float sum = 0;
    for (int step = 0; step < 3; step++) {
        for (int dz = threadIdx.z; dz < 4; dz += 2)
            for (int dy = threadIdx.y; dy < 6; dy += 4)
                for (int dx = threadIdx.x; dx < 10; dx += 8) {
                    int gx = blockIdx.x * 8 + dx - 1, gy = blockIdx.y * 4 + dy - 1, gz = blockIdx.z * 2 + dz - 1;
                    bool in = gx >= 0 && gx < nx && gy >= 0 && gy < ny && gz >= 0 && gz < nz;
                    t[dz][dy][dx] = in ? a[((gz * ny) + gy) * nx + gx] + step : 0;
                }
        __syncthreads();
        sum += t[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x] + t[threadIdx.z + 1][threadIdx.y + 1][threadIdx.x + 2] +
               t[threadIdx.z + 1][threadIdx.y][threadIdx.x + 1] + t[threadIdx.z][threadIdx.y + 1][threadIdx.x + 1];
        __syncthreads();
    }
    if (x < nx && y < ny && z < nz)
        out[(z * ny + y) * nx + x] = sum;
}

// One array read and written in place through two pointers that may be the same, vectors and bytes.
__global__ void u_alias(float *p, float *q, unsigned char *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = 0;
    for (int k = 0; k < 8; k++) {
        p[8 * i + k] = s + k;
        s += q[8 * i + (k ^ 1)];
        b[8 * i + ((k * 3) & 7)] = (unsigned char)(s * 10);
        if (k & 1)
            q[8 * i + (k ^ 2)] += b[8 * i + (k & 3)];
    }
    p[8 * i] = s;
}

// Vector loads and stores in a grid-stride loop; a structure passed by value.
struct shape { int n, step; };
__global__ void u_vector(const float4 *a, float4 *out, struct shape x)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < x.n; i += gridDim.x * blockDim.x) {
        float4 v = a[i], w = a[(i + x.step) % x.n];
        out[i] = make_float4(v.x + w.w, v.y - w.z, v.z * w.y, v.w + w.x);
    }
}

// Atomics on integers, a loop that counts down, a while with two exits.
__global__ void u_atomic(const int *key, int *hist, int *most, int n)
{
    int i = n - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    int top = 0;
    while (i >= 0) {
        int k = key[i] & 63;
        atomicAdd(&hist[k], 1);
        top = top > key[i] ? top : key[i];
        if (top > 1000000)
            break;
        i -= gridDim.x * blockDim.x;
    }
    atomicMax(most, top);
}

// A jump table.
__global__ void u_switch(const int *op, const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = a[i];
    for (int k = 0; k < 3; k++)
        switch (op[(i + k) % n] % 9) {
        case 0: v += a[(i + 1) % n]; break;
        case 1: v *= a[(i + 2) % n]; break;
        case 2: v = -v; break;
        case 3: v -= a[(i * 7) % n]; break;
        case 4: v = v * v; break;
        case 5: v += k; break;
        case 6: v = a[k]; break;
        case 7: v *= 0.5f; break;
        default: break;
        }
    out[i] = v;
}

// A local array with a computed index, doubles, a 64-bit index.
__global__ void u_local(const double *a, double *out, long long n)
{
    double t[8];
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++)
        t[k] = 0;
    for (long long j = i; j < n; j += (long long)gridDim.x * blockDim.x)
        t[j & 7] += a[j] * a[(j * 3) % n];
    double s = 0;
    for (int k = 0; k < 8; k++)
        s += t[(k * 5) & 7] * (k + 1);
    out[i] = s;
}

// The last CTA to finish adds up what all left behind: fence, atomic counter, volatile reads.
__device__ unsigned done_count;
__global__ void u_last(const float *a, volatile float *part, float *out, int n)
{
    __shared__ float s[128];
    __shared__ bool last;
    float v = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        v += a[i];
    s[threadIdx.x] = v;
    if (threadIdx.x == 0)
        last = false;
    __syncthreads();
    for (int d = blockDim.x / 2; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&done_count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (unsigned k = 0; k < gridDim.x; k++)
            sum += part[k];
        out[0] = sum;
        done_count = 0;
    }
}

// Lanes hand values over through global memory, ordered by __syncwarp alone.
__global__ void u_syncwarp(int *x, int *out, int turns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, base = i & ~31, lane = i & 31;
    for (int t = 0; t < turns; t++) {
        int v = x[base + ((lane + 1) & 31)];
        __syncwarp();
        x[i] = v * 3 + t;
        __syncwarp();
    }
    out[i] = x[base + ((lane + 7) & 31)];
}

// The same through shared-by-all global memory and __syncthreads.
__global__ void u_relay(int *x, int *out, int turns)
{
    int n = blockDim.x, base = blockIdx.x * n, t = threadIdx.x;
    for (int k = 0; k < turns; k++) {
        int v = x[base + (t + k) % n] + x[base + (t + 2 * k + 1) % n];
        __syncthreads();
        x[base + t] = v;
        __syncthreads();
    }
    out[base + t] = x[base + n - 1 - t];
}

// Narrow and packed: 16-bit elements, bytes beside each other written by different threads.
__global__ void u_narrow(const short *a, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 5; k++) {
        int j = i * 5 + k;
        if (j < n)
            out[j] = (unsigned char)((a[j] + a[(j + 3) % n]) >> 2);
    }
}

// CTA-wide votes and a loop all threads leave together.
__global__ void u_count(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, left = i < n ? a[i] & 31 : 0, turns = 0;
    while (__syncthreads_or(left > 0)) {
        turns += __syncthreads_count(left > 3);
        left = left > 0 ? left - 1 - (i & 1) : 0;
    }
    if (i < n)
        out[i] = turns + left;
}

// Called through a pointer.
__device__ float twice(float v) { return 2 * v; }
__device__ float half_of(float v) { return v / 2; }
typedef float (*fn)(float);
__device__ fn table[2] = { twice, half_of };
__global__ void u_pointer(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[(i >> 2) & 1](a[i]);
}

// 3-D indexing through all coordinates without shared memory: every schedule is legal.
__global__ void u_cube(const float *a, const float *b, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z * blockDim.z + threadIdx.z;
    if (x >= nx || y >= ny || z >= nz)
        return;
    float s = 0;
    for (int k = 0; k < nx; k++)
        s += a[(z * ny + y) * nx + k] * b[(z * nx + k) * nx + x];
    out[(z * ny + y) * nx + x] = s;
}
}
