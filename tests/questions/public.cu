// Kernels in the manner of public threads (public.py), slow as theirs were, and mended (_fixed) as the reply says: tests/cli/questions.sh runs them.
// public.ptx is made of it: nvcc -ptx -arch=sm_90 -O3 -lineinfo public.cu
#include <cstdint>
#include <cuda_fp16.h>
#define T (blockIdx.x * blockDim.x + threadIdx.x)
#define KERNEL extern "C" __global__ void

// An operator on planes of 8 x 8 points: columns of the shared matrix.
template <int P> __device__ void planes(const double *u, const double *d, double *w)
{
    __shared__ double sd[8 * P], su[8 * P];
    int i = threadIdx.x, j = threadIdx.y;
    sd[i + j * P] = d[i + j * 8];
    for (int k = 0; k < 8; k++) {
        int at = blockIdx.x * 512 + k * 64 + j * 8 + i;
        su[i + j * P] = u[at];
        __syncthreads();
        double r = 0;
        for (int l = 0; l < 8; l++)
            r += sd[l + i * P] * su[l + j * P];
        for (int l = 0; l < 8; l++)
            r += sd[l + j * P] * su[i + l * P];
        w[at] = r;
        __syncthreads();
    }
}
KERNEL ax_planes(const double *u, const double *d, double *w) { planes<8>(u, d, w); }
KERNEL ax_planes_fixed(const double *u, const double *d, double *w) { planes<9>(u, d, w); }

// A product of matrices whose x walks down the rows.
KERNEL gemm_axes(const float *a, const float *b, float *c, int m, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < m && y < n) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += a[x * k + i] * b[i * n + y];
        c[x * n + y] = s;
    }
}
KERNEL gemm_axes_fixed(const float *a, const float *b, float *c, int m, int n, int k)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < m && x < n) {
        float s = 0;
        for (int i = 0; i < k; i++)
            s += a[y * k + i] * b[i * n + x];
        c[y * n + x] = s;
    }
}

// A copy that makes a transposed tensor contiguous.
KERNEL copy_permuted(const float *x, float *y, int ne0, int ne1, int s0, int s1)
{
    int i = T;
    if (i >= ne0 * ne1)
        return;
    int i1 = i / ne0, i0 = i - i1 * ne0;
    y[i] = x[i0 * s0 + i1 * s1];
}
KERNEL copy_permuted_fixed(const float *x, float *y, int ne0, int ne1)
{
    __shared__ float t[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        t[threadIdx.y + k][threadIdx.x] = x[(r + k) * ne1 + c];
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    r = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        y[(r + k) * ne0 + c] = t[threadIdx.x][threadIdx.y + k];
}

// Vectors of a team in shared memory, the first index fastest: lanes have the second one.
template <int DI, int DJ> __device__ void team(const float *a, float *b)
{
    __shared__ float v[256];
    int i = threadIdx.y, j = threadIdx.x, at = blockIdx.x * 256 + i * 32 + j;
    v[i * DI + j * DJ] = a[at];
    for (int k = 0; k < 16; k++) {
        __syncthreads();
        float s = v[i * DI + (j ^ 1) * DJ];
        __syncthreads();
        v[i * DI + j * DJ] = s * 0.5f + k;
    }
    __syncthreads();
    b[at] = v[i * DI + j * DJ];
}
KERNEL team_view(const float *a, float *b) { team<1, 8>(a, b); }
KERNEL team_view_fixed(const float *a, float *b) { team<32, 1>(a, b); }

// Nine velocities of a lattice's node.
KERNEL lattice(const float *f, float *g, int n)
{
    int at = T;
    if (at >= n)
        return;
    float v[9], rho = 0;
    for (int i = 0; i < 9; i++)
        rho += v[i] = f[at * 9 + i];
    for (int i = 0; i < 9; i++)
        g[at * 9 + i] = v[i] * 0.5f + rho * (1 / 18.f);
}
KERNEL lattice_fixed(const float *f, float *g, int n)
{
    int at = T;
    if (at >= n)
        return;
    float v[9], rho = 0;
    for (int i = 0; i < 9; i++)
        rho += v[i] = f[i * n + at];
    for (int i = 0; i < 9; i++)
        g[i * n + at] = v[i] * 0.5f + rho * (1 / 18.f);
}

// Four momenta of an event, and the long arithmetic of a matrix element.
struct momentum { double e, x, y, z; };
KERNEL momenta(const momentum *p, double *m, int n)
{
    int i = T;
    if (i >= n)
        return;
    momentum a = p[i * 2], b = p[i * 2 + 1];
    double s = 0;
    for (int h = 0; h < 96; h++) {
        double u = a.e * b.e - a.x * b.x - a.y * b.y - a.z * b.z, v = a.x * b.y - a.y * b.x;
        s += u * u + v * v;
        a.e += v * 1e-3;
        b.x -= u * 1e-3;
        a.z = a.z * 0.999 + v;
        b.y = b.y * 0.999 - u;
    }
    m[i] = s;
}

// Shares of a stream of blocks, divided in 64 bits.
KERNEL stream_k(const float *x, float *y, long each, long z, long nt)
{
    long k = blockIdx.x * (each * z * nt) / gridDim.x, end = (blockIdx.x + 1) * (each * z * nt) / gridDim.x;
    float s = 0;
    for (; k < end; k++) {
        long it = k / (each * z), zt = (k - it * (each * z)) / each, kt = k - it * (each * z) - zt * each;
        s += x[(it * 7 + zt * 3 + kt) % 64 * blockDim.x + threadIdx.x];
    }
    y[T] = s;
}
KERNEL stream_k_fixed(const float *x, float *y, int each, int z, int nt)
{
    unsigned k = blockIdx.x * (unsigned)(each * z * nt) / gridDim.x, end = (blockIdx.x + 1) * (unsigned)(each * z * nt) / gridDim.x;
    float s = 0;
    for (; k < end; k++) {
        unsigned it = k / (each * z), zt = (k - it * (each * z)) / each, kt = k - it * (each * z) - zt * each;
        s += x[(it * 7 + zt * 3 + kt) % 64 * blockDim.x + threadIdx.x];
    }
    y[T] = s;
}

// A scale for each channel and block, found by divisions.
KERNEL dequantize(const int8_t *x, const float *scale, float *y, int n, int kn, int nn, int block)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x) {
        int k = i / kn, c = i % kn / nn / block, r = i % nn;
        y[i] = x[i] * scale[(k + c + r) % nn];
    }
}
__device__ int quotient(int n, unsigned m, int shift) { return (__umulhi(n, m) + n) >> shift; }
KERNEL dequantize_fixed(const int8_t *x, const float *scale, float *y, int n, int kn, int nn, int block)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x) { // the sizes are powers of two here, and their multipliers 0
        int k = quotient(i, 0, 31 - __clz(kn)), c = quotient(quotient(i - k * kn, 0, 31 - __clz(nn)), 0, 31 - __clz(block));
        int r = i - quotient(i, 0, 31 - __clz(nn)) * nn, s = k + c + r;
        y[i] = x[i] * scale[s - quotient(s, 0, 31 - __clz(nn)) * nn];
    }
}

// Elements of a strided array, their places in 64 bits.
KERNEL strided_copy(const float *x, float *y, long n, long n1, long n2, long s0, long s1, long s2)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i / (n1 * n2) * s0 + i / n2 % n1 * s1 + i % n2 * s2];
}
KERNEL strided_copy_fixed(const float *x, float *y, int n, int n1, int n2, int s0, int s1, int s2)
{
    unsigned i = T;
    if (i < n)
        y[i] = x[i / (n1 * n2) * s0 + i / n2 % n1 * s1 + i % n2 * s2];
}

// Every thread takes its places from one counter.
KERNEL push_back(const int *found, unsigned *count, int *list, int n)
{
    int i = T;
    if (i < n && found[i] > 0)
        list[atomicAdd(count, (unsigned)found[i]) & (n - 1)] = i;
}
KERNEL push_back_fixed(const int *found, unsigned *count, int *list, int n)
{
    __shared__ unsigned own, base;
    int i = T, k = i < n ? found[i] : 0;
    if (!threadIdx.x)
        own = 0;
    __syncthreads();
    unsigned at = k > 0 ? atomicAdd(&own, k) : 0;
    __syncthreads();
    if (!threadIdx.x)
        base = atomicAdd(count, own);
    __syncthreads();
    if (k > 0)
        list[(base + at) & (n - 1)] = i;
}

// A copy in blocks of 32 threads.
KERNEL copy_narrow(const float *a, float *b, int n, int ne0, int s1)
{
    int i = T;
    if (i < n)
        b[i] = a[i / ne0 * s1 + i % ne0];
}
KERNEL copy_narrow_fixed(const float *a, float *b, int n, int ne0, int s1)
{
    int i = T;
    if (i < n)
        b[i] = a[i / ne0 * s1 + i % ne0];
}

// Four intervals, one of which the query chooses.
struct interval { long x, y, size; };
__device__ interval step(interval p, const unsigned *occ, int c)
{
    return { p.x + occ[(p.x + c * 64) & 1023], p.y + occ[(p.y + c) & 1023], p.size * 3 / 4 + c };
}
KERNEL intervals(const unsigned char *q, const unsigned *occ, long *out)
{
    interval p = { (long)T, 1, 1 << 20 };
    for (int k = 0; k < 16; k++) {
        interval ok[4];
        for (int c = 0; c < 4; c++)
            ok[c] = step(p, occ, c);
        p = ok[q[T * 16 + k] & 3];
    }
    out[T] = p.x + p.size;
}
KERNEL intervals_fixed(const unsigned char *q, const unsigned *occ, long *out)
{
    interval p = { (long)T, 1, 1 << 20 };
    for (int k = 0; k < 16; k++)
        p = step(p, occ, q[T * 16 + k] & 3);
    out[T] = p.x + p.size;
}

// How often the letters come in a thread's text.
KERNEL letters(const unsigned char *text, unsigned *most, int n, int each)
{
    unsigned char p[52];
    for (int c = 0; c < 52; c++)
        p[c] = 0;
    for (int k = 0; k < each; k++)
        p[text[k * n + T] % 52]++;
    unsigned m = 0;
    for (int c = 0; c < 52; c++)
        m = max(m, (unsigned)p[c]);
    most[T] = m;
}
KERNEL letters_fixed(const unsigned char *text, unsigned *most, int n, int each)
{
    __shared__ unsigned char p[52][128];
    for (int c = 0; c < 52; c++)
        p[c][threadIdx.x] = 0;
    for (int k = 0; k < each; k++)
        p[text[k * n + T] % 52][threadIdx.x]++;
    unsigned m = 0;
    for (int c = 0; c < 52; c++)
        m = max(m, (unsigned)p[c][threadIdx.x]);
    most[T] = m;
}

// Sums by key, with a literal that is double.
KERNEL by_key(const float *x, const unsigned char *key, float4 *out, int n)
{
    float4 s = { 0, 0, 0, 0 };
    for (int i = T; i < n; i += gridDim.x * blockDim.x) {
        int k = key[i];
        float v = x[i];
        s.x += k == 0 ? v : 0.0;
        s.y += k == 1 ? v : 0.0;
        s.z += k == 2 ? v : 0.0;
        s.w += k == 3 ? v : 0.0;
    }
    out[T] = s;
}
KERNEL by_key_fixed(const float *x, const unsigned char *key, float4 *out, int n)
{
    float4 s = { 0, 0, 0, 0 };
    for (int i = T; i < n; i += gridDim.x * blockDim.x) {
        int k = key[i];
        float v = x[i];
        s.x += k == 0 ? v : 0.f;
        s.y += k == 1 ? v : 0.f;
        s.z += k == 2 ? v : 0.f;
        s.w += k == 3 ? v : 0.f;
    }
    out[T] = s;
}

// Rows of halves times a vector, a warp for a row.
__device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}
KERNEL half_rows(const __half *a, const __half *x, float *y, int cols)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int c = lane; c < cols; c += 32)
        s += __half2float(a[row * cols + c]) * __half2float(x[c]);
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}
KERNEL half_rows_fixed(const __half *a, const __half *x, float *y, int cols)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int c = lane * 8; c < cols; c += 256) {
        uint4 av = *(const uint4 *)(a + row * cols + c), xv = *(const uint4 *)(x + c);
        const __half2 *ah = (const __half2 *)&av, *xh = (const __half2 *)&xv;
        for (int k = 0; k < 4; k++) {
            float2 p = __half22float2(ah[k]), q = __half22float2(xh[k]);
            s += p.x * q.x + p.y * q.y;
        }
    }
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}

// A block for a segment; a few are long.
KERNEL segments(const int *start, const float *x, float *y)
{
    float s = 0;
    for (int i = start[blockIdx.x] + threadIdx.x; i < start[blockIdx.x + 1]; i += blockDim.x)
        s += x[i] * x[i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&y[blockIdx.x], s);
}
KERNEL segments_fixed(const int *start, const float *x, float *y, int n)
{
    int at = blockIdx.x * 1024, lo = 0, hi = n; // pieces of 1024, none of which two segments share here
    while (hi - lo > 1) {
        int m = (lo + hi) / 2;
        if (start[m] <= at)
            lo = m;
        else
            hi = m;
    }
    float s = 0;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        s += x[at + i] * x[at + i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(&y[lo], s);
}

// The last rows of a tile, stored by one lane.
template <bool ALL> __device__ void tail(const __half *x, __half *y, int rows)
{
    __shared__ __half tile[16 * 128];
    for (int i = threadIdx.x; i < 16 * 128; i += blockDim.x)
        tile[i] = x[blockIdx.x * 2048 + i];
    __syncthreads();
    if (threadIdx.x < 32) {
        if (ALL) {
            for (int i = threadIdx.x; i < rows * 128; i += 32)
                y[blockIdx.x * 2048 + i] = tile[i];
        } else if (!threadIdx.x) {
            for (int i = 0; i < rows * 128; i++)
                y[blockIdx.x * 2048 + i] = tile[i];
        }
    }
}
KERNEL last_tile(const __half *x, __half *y, int rows) { tail<false>(x, y, rows); }
KERNEL last_tile_fixed(const __half *x, __half *y, int rows) { tail<true>(x, y, rows); }

// The mean of a row, one thread for each.
KERNEL mean_serial(const float *x, float *m, int cols)
{
    float s = 0;
    for (int c = 0; c < cols; c++)
        s += x[blockIdx.x * cols + c];
    m[blockIdx.x] = s / cols;
}
KERNEL mean_serial_fixed(const float *x, float *m, int cols)
{
    __shared__ float part[8];
    float s = 0;
    for (int c = threadIdx.x; c < cols; c += blockDim.x)
        s += x[blockIdx.x * cols + c];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = warp_sum(threadIdx.x < 8 ? part[threadIdx.x] : 0);
        if (!threadIdx.x)
            m[blockIdx.x] = s / cols;
    }
}

// Roots to the last bit.
KERNEL roots(const float *x, float *y)
{
    float v = x[T], s = 0;
    for (int k = 0; k < 32; k++)
        s += sqrtf(v + k);
    y[T] = s;
}
__device__ float near_root(float x)
{
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
KERNEL roots_fixed(const float *x, float *y)
{
    float v = x[T], s = 0;
    for (int k = 0; k < 32; k++)
        s += near_root(v + k);
    y[T] = s;
}

// Sines and cosines of any angle.
KERNEL angles(const float *phi, float2 *out)
{
    float a = phi[T];
    float2 s = { 0, 0 };
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        s.x += sinf(a * k);
        s.y += cosf(a * k);
    }
    out[T] = s;
}
KERNEL angles_fixed(const float *phi, float2 *out)
{
    float a = phi[T];
    float2 s = { 0, 0 };
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        s.x += __sinf(a * k);
        s.y += __cosf(a * k);
    }
    out[T] = s;
}

// Squares and cubes by pow.
KERNEL powers(const float *x, float *y, float two)
{
    float v = x[T], s = 0;
#pragma unroll 1
    for (int k = 0; k < 16; k++)
        s += powf(v + k, two);
    y[T] = s;
}
KERNEL powers_fixed(const float *x, float *y, float)
{
    float v = x[T], s = 0;
    for (int k = 0; k < 16; k++)
        s += (v + k) * (v + k);
    y[T] = s;
}

// Rows of bytes in shared memory, four bytes a lane as a tensor core wants them.
template <int P> __device__ void fp8(const uint32_t *q, uint32_t *out)
{
    __shared__ __align__(16) unsigned char s[64 * P];
    for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x)
        *(uint32_t *)(s + i / 32 * P + i % 32 * 4) = q[blockIdx.x * 2048 + i];
    __syncthreads();
    int row = threadIdx.x % 32 / 4 + threadIdx.x / 32 * 16, col = threadIdx.x % 4 * 4;
    uint32_t v = 0;
    for (int r = 0; r < 8; r++)
        for (int k = 0; k < 128; k += 16)
            v ^= *(uint32_t *)(s + (row ^ r) * P + col + k) + r;
    out[T] = v;
}
KERNEL fp8_rows(const uint32_t *q, uint32_t *out) { fp8<128>(q, out); }
KERNEL fp8_rows_fixed(const uint32_t *q, uint32_t *out) { fp8<144>(q, out); }

// A chunk of the row for each lane, 56 elements and a pad.
template <int PAD> __device__ void scan_row(const uint2 *x, uint32_t *out)
{
    __shared__ uint2 s[128 * (14 + PAD)];
    for (int i = threadIdx.x; i < 128 * 14; i += 128)
        s[i / 14 * (14 + PAD) + i % 14] = x[blockIdx.x * 1792 + i];
    __syncthreads();
    uint32_t sum = 0;
    for (int pass = 0; pass < 4; pass++)
        for (int k = 0; k < 14; k++) {
            uint2 v = s[threadIdx.x * (14 + PAD) + k];
            sum = sum * 3 + v.x + v.y;
        }
    out[T] = sum;
}
KERNEL row_scan(const uint2 *x, uint32_t *out) { scan_row<2>(x, out); }
KERNEL row_scan_fixed(const uint2 *x, uint32_t *out) { scan_row<3>(x, out); }

// A matrix of four-bit numbers times a vector: eight rows for a block.
__device__ float nibbles(uint32_t w, const float *x, float s)
{
    float4 a = *(const float4 *)x, b = *(const float4 *)(x + 4);
    s += (w & 15) * a.x + (w >> 4 & 15) * a.y + (w >> 8 & 15) * a.z + (w >> 12 & 15) * a.w;
    return s + (w >> 16 & 15) * b.x + (w >> 20 & 15) * b.y + (w >> 24 & 15) * b.z + (w >> 28) * b.w;
}
KERNEL gemv_decode(const uint32_t *w, const float *x, float *y, int words)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int k = lane; k < words; k += 32)
        s = nibbles(w[row * words + k], x + k * 8, s);
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}
KERNEL gemv_decode_fixed(const uint32_t *w, const float *x, float *y, int words)
{
    int row = T / 32, lane = threadIdx.x % 32, part = words / gridDim.y;
    float s = 0;
    for (int k = blockIdx.y * part + lane; k < (blockIdx.y + 1) * part; k += 32)
        s = nibbles(w[row * words + k], x + k * 8, s);
    s = warp_sum(s);
    if (!lane)
        atomicAdd(&y[row], s);
}

// A norm of each row: a block of 512 threads.
KERNEL rms_norm(const float4 *x, float4 *y, int vectors)
{
    __shared__ float part[16], all;
    float s = 0;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = x[blockIdx.x * vectors + i];
        s += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
    }
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = warp_sum(threadIdx.x < 16 ? part[threadIdx.x] : 0);
        if (!threadIdx.x)
            all = rsqrtf(s / (vectors * 4) + 1e-6f);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        float4 v = x[blockIdx.x * vectors + i];
        y[blockIdx.x * vectors + i] = { v.x * all, v.y * all, v.z * all, v.w * all };
    }
}
KERNEL rms_norm_fixed(const float4 *x, float4 *y, int)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float4 v[8];
    float s = 0;
    for (int i = 0; i < 8; i++) {
        v[i] = x[row * 256 + i * 32 + lane];
        s += v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z + v[i].w * v[i].w;
    }
    float all = rsqrtf(warp_sum(s) / 1024 + 1e-6f);
    for (int i = 0; i < 8; i++)
        y[row * 256 + i * 32 + lane] = { v[i].x * all, v[i].y * all, v[i].z * all, v[i].w * all };
}

// Super-blocks of 36 words, one for each lane.
KERNEL super_blocks(const uint32_t *w, float *y)
{
    int row = T / 32, lane = threadIdx.x % 32;
    const uint32_t *b = w + (row * 32 + lane) * 36;
    float s = 0;
    for (int k = 0; k < 36; k++)
        s += (b[k] & 255) * 0.5f + (b[k] >> 24);
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}
KERNEL super_blocks_fixed(const uint32_t *w, float *y)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int k = lane; k < 32 * 36; k += 32)
        s += (w[row * 32 * 36 + k] & 255) * 0.5f + (w[row * 32 * 36 + k] >> 24);
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}

// Short rows of a table, in the order of the requests.
KERNEL gather_rows(const float4 *table, const int *idx, float4 *out)
{
    int i = T;
    out[i] = table[idx[i / 4] * 4 + i % 4];
}
KERNEL gather_rows_fixed(const float4 *table, const int *idx, float4 *out)
{
    int i = T;
    out[i] = table[idx[i / 4] * 4 + i % 4];
}

// Small weights are skipped, each lane for itself.
__device__ float weighed(float p, float v, float s)
{
    for (int k = 0; k < 24; k++)
        s = s * 0.99f + p * (v + k);
    return s;
}
KERNEL skip_zeros(const float *p, const float *v, float *out, int n, float least)
{
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        if (p[i] > least)
            s = weighed(p[i], v[i], s);
        else
            s = weighed(1 - p[i], 0.5f, s) * 0.5f;
    out[T] = s;
}
KERNEL skip_zeros_fixed(const float *p, const float *v, float *out, int n, float)
{
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        s = weighed(p[i], v[i], s);
    out[T] = s;
}

// Blocks with unequal work in a grid that fills the device once.
KERNEL uneven_blocks(const int *work, const float *x, float *y, int n)
{
    int part = n / gridDim.x;
    for (int c = blockIdx.x * part; c < (blockIdx.x + 1) * part; c++) {
        float s = 0;
        for (int k = 0; k < work[c]; k++)
            s += x[(k * 256 + threadIdx.x) & 8191];
        y[c * 256 + threadIdx.x] = s;
    }
}
KERNEL uneven_blocks_fixed(const int *work, const float *x, float *y, int n)
{
    int part = n / gridDim.x;
    for (int c = blockIdx.x * part; c < (blockIdx.x + 1) * part; c++) {
        float s = 0;
        for (int k = 0; k < work[c]; k++)
            s += x[(k * 256 + threadIdx.x) & 8191];
        y[c * 256 + threadIdx.x] = s;
    }
}

// A block for each constraint that there could be.
KERNEL mostly_empty(const int *count, const float *j, float *h)
{
    if (blockIdx.x >= *count)
        return;
    h[T] = j[T] * j[T];
}
KERNEL mostly_empty_fixed(const int *count, const float *j, float *h)
{
    for (int c = blockIdx.x; c < *count; c += gridDim.x)
        h[c * blockDim.x + threadIdx.x] = j[c * blockDim.x + threadIdx.x] * j[c * blockDim.x + threadIdx.x];
}

// A block of three warps for a short row.
KERNEL tiny_blocks(const float *w, const float *x, float *y)
{
    __shared__ float part[3];
    float s = warp_sum(w[blockIdx.x * 96 + threadIdx.x] * x[threadIdx.x]);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (!threadIdx.x)
        y[blockIdx.x] = part[0] + part[1] + part[2];
}
KERNEL tiny_blocks_fixed(const float *w, const float *x, float *y)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float s = 0;
    for (int k = lane; k < 96; k += 32)
        s += w[row * 96 + k] * x[k];
    s = warp_sum(s);
    if (!lane)
        y[row] = s;
}

// One operation on a small array.
KERNEL tiny_launch(const double *x, double *y, int n)
{
    int i = T;
    if (i < n)
        y[i] = x[i] * x[i] + 1;
}

// y = a x + y in halves, eight of them for a thread.
KERNEL axpy_half(const uint4 *x, uint4 *y, float a)
{
    uint4 xv = x[T], yv = y[T];
    __half *xh = (__half *)&xv, *yh = (__half *)&yv;
    for (int k = 0; k < 8; k++)
        yh[k] = __float2half(a * __half2float(xh[k]) + __half2float(yh[k]));
    y[T] = yv;
}

// Coarse blocks of 4 x 8 x 4 points: 16 bytes of a line for each of them.
KERNEL narrow_blocks(const float *fine, float *coarse, int nx, int nxy, int across)
{
    int bx = blockIdx.x % across, by = blockIdx.x / across;
    int x = bx * 4 + threadIdx.x, y = by * 8 + threadIdx.y;
    float s = 0;
    for (int z = 0; z < 16; z++)
        s += fine[z * nxy + y * nx + x];
    s = warp_sum(s);
    if (!threadIdx.x && !threadIdx.y)
        coarse[blockIdx.x] = s;
}
KERNEL narrow_blocks_fixed(const float *fine, float *coarse, int nx, int nxy, int across)
{
    unsigned part = gridDim.x / 132, b = blockIdx.x % 132 * part + blockIdx.x / 132;
    int bx = b % across, by = b / across;
    int x = bx * 4 + threadIdx.x, y = by * 8 + threadIdx.y;
    float s = 0;
    for (int z = 0; z < 16; z++)
        s += fine[z * nxy + y * nx + x];
    s = warp_sum(s);
    if (!threadIdx.x && !threadIdx.y)
        coarse[b] = s;
}

// Unrolled, each load and its store behind one check.
KERNEL load_store_pairs(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++)
        if (i + k * blockDim.x < n)
            b[i + k * blockDim.x] = a[i + k * blockDim.x] * 2;
}
KERNEL load_store_pairs_fixed(const float *a, float *b, int n)
{
    int i = blockIdx.x * blockDim.x * 8 + threadIdx.x;
    float v[8];
#pragma unroll
    for (int k = 0; k < 8; k++)
        v[k] = i + k * blockDim.x < n ? a[i + k * blockDim.x] : 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        if (i + k * blockDim.x < n)
            b[i + k * blockDim.x] = v[k] * 2;
}

// Softmax of rows that a warp keeps in registers.
KERNEL softmax_wide(const float *x, float *y)
{
    int row = T / 32, lane = threadIdx.x % 32;
    float v[64], m = -1e30f, s = 0;
#pragma unroll
    for (int k = 0; k < 64; k++)
        m = fmaxf(m, v[k] = x[row * 2048 + k * 32 + lane]);
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
#pragma unroll
    for (int k = 0; k < 64; k++)
        s += v[k] = __expf(v[k] - m);
    s = warp_sum(s);
#pragma unroll
    for (int k = 0; k < 64; k++)
        y[row * 2048 + k * 32 + lane] = v[k] / s;
}

// Copies of a histogram in shared memory: R of them.
template <int R> __device__ void histograms(const unsigned short *v, unsigned *bins, int n)
{
    __shared__ unsigned own[512 * R];
    for (int i = threadIdx.x; i < 512 * R; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&own[threadIdx.x % R * 512 + (v[i] & 511)], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
        unsigned s = 0;
        for (int r = 0; r < R; r++)
            s += own[r * 512 + i];
        atomicAdd(&bins[i], s);
    }
}
KERNEL replicas(const unsigned short *v, unsigned *bins, int n) { histograms<24>(v, bins, n); }
KERNEL replicas_fixed(const unsigned short *v, unsigned *bins, int n) { histograms<4>(v, bins, n); }

// A tree of sums with a barrier at each level.
KERNEL tree_sum(const float *x, float *y)
{
    __shared__ float s[512];
    s[threadIdx.x] = x[T];
    __syncthreads();
    for (int d = 256; d; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}
KERNEL tree_sum_fixed(const float *x, float *y)
{
    __shared__ float s[16];
    float v = warp_sum(x[T]);
    if (threadIdx.x % 32 == 0)
        s[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        v = warp_sum(threadIdx.x < 16 ? s[threadIdx.x] : 0);
        if (!threadIdx.x)
            y[blockIdx.x] = v;
    }
}

// A loop that asks for one word at a time.
KERNEL one_by_one(const unsigned *a, unsigned *b, int each, int mask)
{
    unsigned s = 0;
#pragma unroll 1
    for (int k = 0; k < each; k++)
        s += a[(k * gridDim.x * blockDim.x + T) & mask];
    b[T] = s;
}
KERNEL one_by_one_fixed(const unsigned *a, unsigned *b, int each, int mask)
{
    unsigned s = 0;
#pragma unroll 8
    for (int k = 0; k < each; k++)
        s += a[(k * gridDim.x * blockDim.x + T) & mask];
    b[T] = s;
}

// A row of weights in constant memory, an own one for each lane.
__constant__ float weights[1024];
KERNEL weights_const(const float *x, float *y, int n)
{
    float s = 0;
    for (int k = 0; k < 4; k++)
        s += weights[k * 256 + threadIdx.x] * x[T * 4 + k];
    y[T] = s;
}
KERNEL weights_const_fixed(const float *x, float *y, int n, const float *__restrict__ w)
{
    float s = 0;
    for (int k = 0; k < 4; k++)
        s += w[k * 256 + threadIdx.x] * x[T * 4 + k];
    y[T] = s;
}

// Sixteen bytes of each lane from shared memory.
KERNEL wide_phases(const float4 *x, float4 *y)
{
    __shared__ float4 s[256];
    s[threadIdx.x] = x[T];
    __syncthreads();
    float4 v = { 0, 0, 0, 0 };
    for (int k = 0; k < 32; k++) {
        float4 u = s[(threadIdx.x + k * 32) & 255];
        v.x += u.x * k;
        v.y += u.y;
        v.z += u.z;
        v.w += u.w;
    }
    y[T] = v;
}

// ---- listed later ----

// Species of a cell side by side.
KERNEL species(const double *y, double *out, int n)
{
    int cell = T;
    if (cell >= n)
        return;
    double rho = 0;
    for (int s = 0; s < 21; s++)
        rho += y[cell * 22 + s] * (s + 1);
    out[cell] = y[cell * 22 + 21] / rho;
}
KERNEL species_fixed(const double *y, double *out, int n)
{
    int cell = T;
    if (cell >= n)
        return;
    double rho = 0;
    for (int s = 0; s < 21; s++)
        rho += y[s * n + cell] * (s + 1);
    out[cell] = y[21 * n + cell] / rho;
}

// A dot product, added up by every thread.
KERNEL energy_sum(const float *a, const float *b, float *sum, int n)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(sum, a[i * 3] * b[i * 3] + a[i * 3 + 1] * b[i * 3 + 1] + a[i * 3 + 2] * b[i * 3 + 2]);
}
KERNEL energy_sum_fixed(const float *a, const float *b, float *sum, int n)
{
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        s += a[i * 3] * b[i * 3] + a[i * 3 + 1] * b[i * 3 + 1] + a[i * 3 + 2] * b[i * 3 + 2];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, s);
}

// Weights of relative positions: a diagonal adds to one of them.
KERNEL pair_weights(int *dw, int length)
{
    int n = blockIdx.x * 32 + threadIdx.x;
    for (int m = threadIdx.y; m < length; m += blockDim.y)
        atomicAdd(&dw[n - m + length - 1], 1);
}
KERNEL pair_weights_fixed(int *dw, int length)
{
    __shared__ int w[1024];
    for (int i = threadIdx.y * 32 + threadIdx.x; i < length + 31; i += 32 * blockDim.y)
        w[i] = 0;
    __syncthreads();
    for (int m = threadIdx.y; m < length; m += blockDim.y)
        atomicAdd(&w[threadIdx.x - m + length - 1], 1);
    __syncthreads();
    for (int i = threadIdx.y * 32 + threadIdx.x; i < length + 31; i += 32 * blockDim.y)
        atomicAdd(&dw[blockIdx.x * 32 + i], w[i]);
}

// Coefficients of 24 words, read by their own thread.
KERNEL crt_copy(const uint32_t *src, uint32_t *dst, int words, uint32_t p)
{
    uint32_t r = 0;
    for (int i = words - 1; i >= 0; i--)
        r = (uint32_t)((((uint64_t)r << 32) | src[T * words + i]) >> 3) % p;
    dst[T] = r;
}
KERNEL crt_copy_fixed(const uint32_t *src, uint32_t *dst, int words, uint32_t p)
{
    __shared__ uint32_t in[128 * 25];
    for (int i = 0; i < words; i++) {
        int at = i * 128 + threadIdx.x;
        in[at / words * 25 + at % words] = src[blockIdx.x * 128 * words + at];
    }
    __syncthreads();
    uint32_t r = 0;
    for (int i = words - 1; i >= 0; i--)
        r = (uint32_t)((((uint64_t)r << 32) | in[threadIdx.x * 25 + i]) >> 3) % p;
    dst[T] = r;
}

// A reference added to blocks of 1024, 32 elements for a thread.
KERNEL frame_of(unsigned *v, unsigned reference, unsigned n)
{
    unsigned start = blockIdx.x * 1024 + threadIdx.x * 32, end = min(start + 32, n);
    for (unsigned i = start; i < end; i++)
        v[i] += reference;
}
KERNEL frame_of_fixed(unsigned *v, unsigned reference, unsigned n)
{
    for (int k = 0; k < 32; k++) {
        unsigned i = blockIdx.x * 1024 + k * 32 + threadIdx.x;
        if (i < n)
            v[i] += reference;
    }
}

// A product in tiles, one of which is read along its second index.
template <bool ROWS> __device__ void tiles(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[1024], sb[1024];
    int row = threadIdx.x, col = threadIdx.y, x = blockIdx.x * 32, y = blockIdx.y * 32;
    float s = 0;
    for (int k = 0; k < n; k += 32) {
        sa[row + col * 32] = a[(k + col) * n + x + row];
        sb[row * 32 + col] = b[(k + col) * n + y + row];
        __syncthreads();
        for (int i = 0; i < 32; i++)
            s += ROWS ? sa[row + i * 32] * sb[col * 32 + i] : sa[col + i * 32] * sb[row * 32 + i];
        __syncthreads();
    }
    c[(y + col) * n + x + row] = s;
}
KERNEL sb_columns(const float *a, const float *b, float *c, int n) { tiles<false>(a, b, c, n); }
KERNEL sb_columns_fixed(const float *a, const float *b, float *c, int n) { tiles<true>(a, b, c, n); }

// An array filled, its second index for the lanes.
KERNEL fill_rows(long *a, int n)
{
    for (int row = 0; row < n; row++)
        a[row + T * n] = 42;
}
KERNEL fill_rows_fixed(long *a, int n)
{
    for (int col = 0; col < n; col++)
        a[T + col * n] = 42;
}

// A head for each CTA.
KERNEL attention_heads(const float4 *k, const float4 *q, float *s, int keys)
{
    for (int i = threadIdx.x; i < keys; i += blockDim.x) {
        float v = 0;
        for (int d = 0; d < 8; d++) {
            float4 a = k[(blockIdx.x * 8 + d) * keys + i], b = q[blockIdx.x * 8 + d];
            v += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
        }
        s[blockIdx.x * keys + i] = v;
    }
}
KERNEL attention_heads_fixed(const float4 *k, const float4 *q, float *s, int keys)
{
    int head = blockIdx.x / 16, i = blockIdx.x % 16 * 256 + threadIdx.x;
    float v = 0;
    for (int d = 0; d < 8; d++) {
        float4 a = k[(head * 8 + d) * keys + i], b = q[head * 8 + d];
        v += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    s[head * keys + i] = v;
}

// The first reduction of every course, its bound a variable, and a constant.
KERNEL reduce_steps(const float *x, float *y)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[T];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        if (threadIdx.x % (2 * d) == 0)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}
KERNEL reduce_steps_fixed(const float *x, float *y)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[T];
    __syncthreads();
#pragma unroll
    for (int d = 1; d < 256; d *= 2) {
        if (threadIdx.x % (2 * d) == 0)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}

// The second one: strides of powers of two.
KERNEL reduce_banks(const float *x, float *y)
{
    __shared__ float s[1024];
    for (int k = 0; k < 4; k++)
        s[threadIdx.x + k * 256] = x[blockIdx.x * 1024 + k * 256 + threadIdx.x];
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        for (int k = threadIdx.x; k * 2 * d < 1024; k += 256)
            s[k * 2 * d] += s[k * 2 * d + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}
KERNEL reduce_banks_fixed(const float *x, float *y)
{
    __shared__ float s[1024];
    for (int k = 0; k < 4; k++)
        s[threadIdx.x + k * 256] = x[blockIdx.x * 1024 + k * 256 + threadIdx.x];
    __syncthreads();
    for (int d = 512; d; d /= 2) {
        for (int k = threadIdx.x; k < d; k += 256)
            s[k] += s[k + d];
        __syncthreads();
    }
    if (!threadIdx.x)
        y[blockIdx.x] = s[0];
}

// Many values at once, under a bound that leaves 40 registers.
template <int N> __device__ void many(const float *a, float *b)
{
    float v[N], s = 0;
#pragma unroll
    for (int k = 0; k < N; k++)
        v[k] = a[T + k * 32];
#pragma unroll
    for (int j = 0; j < 6; j++)
#pragma unroll
        for (int k = 0; k < N; k++)
            v[k] = v[k] * v[(k + 5) % N] + v[(k + 11) % N];
#pragma unroll
    for (int k = 0; k < N; k++)
        s += v[k];
    b[T] = s;
}
KERNEL __launch_bounds__(256, 6) seeds(const float *a, float *b) { many<72>(a, b); }
KERNEL __launch_bounds__(256) seeds_fixed(const float *a, float *b) { many<72>(a, b); }

// Rows by index, each element's place divided out of its number.
KERNEL gather_front(const __half *x, const int *idx, __half *out, long n, long d, long s0, long s1)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[idx[i / d] * s0 + i % d * s1];
}
KERNEL gather_front_fixed(const uint4 *x, const int *idx, uint4 *out, int vectors)
{
    int row = blockIdx.x;
    for (int k = threadIdx.x; k < vectors; k += blockDim.x)
        out[row * vectors + k] = x[idx[row] * vectors + k];
}

// A table passed by value, searched at run time.
struct offsets { long at[96]; };
KERNEL large_argument(offsets o, const int *key, long *out)
{
    offsets own = o;
    int lo = 0, hi = 96, k = key[T];
    own.at[k & 63] += 1;
    while (hi - lo > 1) {
        int m = (lo + hi) / 2;
        if (own.at[m] <= k)
            lo = m;
        else
            hi = m;
    }
    out[T] = own.at[lo] + lo;
}
KERNEL large_argument_fixed(const long *o, const int *key, long *out)
{
    __shared__ long own[96];
    if (threadIdx.x < 96)
        own[threadIdx.x] = o[threadIdx.x];
    __syncthreads();
    int lo = 0, hi = 96, k = key[T];
    while (hi - lo > 1) {
        int m = (lo + hi) / 2;
        if (own[m] + (m == (k & 63)) <= k)
            lo = m;
        else
            hi = m;
    }
    out[T] = own[lo] + (lo == (k & 63)) + lo;
}

// Weights in words, products of four bytes.
KERNEL dp4a_rows(const int *w, const int *x, int *y, int words)
{
    int row = T / 32, lane = threadIdx.x % 32, s = 0;
    for (int k = lane; k < words; k += 32)
        s = __dp4a(w[row * words + k], x[k], s);
    s = __reduce_add_sync(~0u, s);
    if (!lane)
        y[row] = s;
}
KERNEL dp4a_rows_fixed(const int4 *w, const int4 *x, int *y, int words)
{
    int row = T / 32, lane = threadIdx.x % 32, s = 0;
    for (int k = lane; k < words / 4; k += 32) {
        int4 a = w[row * (words / 4) + k], b = x[k];
        s = __dp4a(a.x, b.x, s);
        s = __dp4a(a.y, b.y, s);
        s = __dp4a(a.z, b.z, s);
        s = __dp4a(a.w, b.w, s);
    }
    s = __reduce_add_sync(~0u, s);
    if (!lane)
        y[row] = s;
}

// The greatest of a long row, by one CTA, and by many.
KERNEL one_long_row(const float *x, float *m, int n)
{
    float v = -1e30f;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        v = fmaxf(v, x[i]);
    for (int d = 16; d; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    if (threadIdx.x % 32 == 0)
        m[T / 32] = v;
}
KERNEL one_long_row_fixed(const float *x, float *m, int n)
{
    float v = -1e30f;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        v = fmaxf(v, x[i]);
    for (int d = 16; d; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(~0u, v, d));
    if (threadIdx.x % 32 == 0)
        m[T / 32] = v;
}

// ---- listed last ----

// An object for a block of 25 threads.
KERNEL scan_rects(const float *field, const int2 *at, float *out, int nx)
{
    __shared__ float s[25];
    int2 p = at[blockIdx.x];
    s[threadIdx.x] = field[(p.y + threadIdx.x / 5) * nx + p.x + threadIdx.x % 5];
    __syncthreads();
    if (!threadIdx.x) {
        float v = 0;
        for (int i = 0; i < 25; i++)
            v += s[i];
        out[blockIdx.x] = v;
    }
}
KERNEL scan_rects_fixed(const float *field, const int2 *at, float *out, int nx)
{
    int object = T / 32, lane = threadIdx.x % 32;
    int2 p = at[object];
    float v = warp_sum(lane < 25 ? field[(p.y + lane / 5) * nx + p.x + lane % 5] : 0);
    if (!lane)
        out[object] = v;
}

// Headers, of which the first thread of a block makes all.
__device__ unsigned header(const unsigned *page)
{
    unsigned h = 0;
    for (int i = 0; i < 16; i++)
        h = h * 31 + page[i];
    return h;
}
KERNEL page_headers(const unsigned *pages, unsigned *out)
{
    __shared__ unsigned s;
    if (!threadIdx.x)
        s = header(pages + blockIdx.x * 16);
    __syncthreads();
    if (!threadIdx.x)
        out[blockIdx.x] = s;
}
KERNEL page_headers_fixed(const unsigned *pages, unsigned *out) { out[T] = header(pages + T * 16); }

// Velocities of vortices, added up in memory.
KERNEL vortices(const float *x, const float *g, float *u, int n)
{
    int i = T;
    for (int j = 0; j < n; j++)
        u[i] += g[j] / (1 + (x[i] - x[j]) * (x[i] - x[j]));
}
KERNEL vortices_fixed(const float *x, const float *g, float *u, int n)
{
    int i = T;
    float s = u[i], at = x[i];
    for (int j = 0; j < n; j++)
        s += g[j] / (1 + (at - x[j]) * (at - x[j]));
    u[i] = s;
}

// Four derivatives of a point, word by word.
struct derivative { float xix, xiz, gammax, gammaz; };
KERNEL derivatives(const derivative *d, const float *f, float *out)
{
    int i = T;
    float a = d[i].xix, b = d[i].xiz, c = d[i].gammax, e = d[i].gammaz;
    out[i] = (a * e - b * c) * f[i];
}
KERNEL derivatives_fixed(const float4 *d, const float *f, float *out)
{
    int i = T;
    float4 v = d[i];
    out[i] = (v.x * v.w - v.y * v.z) * f[i];
}

// Softmax of 128 elements, a block of as many threads.
KERNEL short_softmax(const float *x, float *y)
{
    __shared__ float part[4];
    float v = x[T], m = v;
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    v = __expf(v - m);
    float s = warp_sum(v);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    y[T] = __fdividef(v, part[0] + part[1] + part[2] + part[3]);
}
KERNEL short_softmax_fixed(const float4 *x, float4 *y)
{
    float4 v = x[T];
    float m = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    v = { __expf(v.x - m), __expf(v.y - m), __expf(v.z - m), __expf(v.w - m) };
    float s = warp_sum(v.x + v.y + v.z + v.w);
    y[T] = { __fdividef(v.x, s), __fdividef(v.y, s), __fdividef(v.z, s), __fdividef(v.w, s) };
}

// A product, one warp or four for a row.
template <int WARPS> __device__ void rows_of(const uint4 *w, const uint4 *x, int *y, int vectors)
{
    int warp = T / 32, row = warp / WARPS, lane = threadIdx.x % 32, s = 0;
    for (int k = warp % WARPS * 32 + lane; k < vectors; k += 32 * WARPS) {
        uint4 a = w[row * vectors + k], b = x[k];
        s = __dp4a((int)a.x, (int)b.x, s);
        s = __dp4a((int)a.y, (int)b.y, s);
        s = __dp4a((int)a.z, (int)b.z, s);
        s = __dp4a((int)a.w, (int)b.w, s);
    }
    s = __reduce_add_sync(~0u, s);
    if (!lane)
        atomicAdd(&y[row], s);
}
KERNEL warp_rows(const uint4 *w, const uint4 *x, int *y, int vectors) { rows_of<1>(w, x, y, vectors); }
KERNEL warp_rows_fixed(const uint4 *w, const uint4 *x, int *y, int vectors) { rows_of<4>(w, x, y, vectors); }

// A sum by eight blocks.
KERNEL eight_blocks(const float *x, float *sum, int n)
{
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        s += x[i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, s);
}
KERNEL eight_blocks_fixed(const float *x, float *sum, int n)
{
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        s += x[i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, s);
}

// A loop for two million threads over a small matrix.
KERNEL more_threads(const float *a, float *b, unsigned n)
{
    for (unsigned i = T; i < n; i += gridDim.x * blockDim.x)
        b[i] = a[i] * 2;
}
KERNEL more_threads_fixed(const float *a, float *b, unsigned n)
{
    for (unsigned i = T; i < n; i += gridDim.x * blockDim.x)
        b[i] = a[i] * 2;
}

// e to the power of i x.
KERNEL cis(const float *x, float2 *y)
{
    float2 s = { 0, 0 };
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        float2 v;
        sincosf(x[T] * k, &v.x, &v.y);
        s.x += v.x;
        s.y += v.y;
    }
    y[T] = s;
}
KERNEL cis_fixed(const float *x, float2 *y)
{
    float2 s = { 0, 0 };
#pragma unroll 1
    for (int k = 0; k < 16; k++) {
        float2 v;
        __sincosf(x[T] * k, &v.x, &v.y);
        s.x += v.x;
        s.y += v.y;
    }
    y[T] = s;
}

// Shape factors of a particle, over bounds of its own.
template <bool CONSTANT> __device__ float shape(float x)
{
    float s[6] = { 0, 0, 0, 0, 0, 0 }, sum = 0;
    int shift = (int)(x * 3) % 3;
    if (CONSTANT) {
        for (int i = 0; i < 6; i++)
            s[i] = i >= shift && i < shift + 4 ? x * (i - shift) : 0;
        for (int i = 0; i < 6; i++)
            sum += s[i] * (i + 1);
    } else {
        for (int i = 0; i < 4; i++)
            s[i + shift] = x * i;
        for (int i = shift; i < shift + 4; i++)
            sum += s[i] * (i + 1);
    }
    return sum;
}
KERNEL shapes(const float *x, float *j, int each)
{
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < each; k++)
        s += shape<false>(x[k * 67584 + T]);
    j[T] = s;
}
KERNEL shapes_fixed(const float *x, float *j, int each)
{
    float s = 0;
#pragma unroll 1
    for (int k = 0; k < each; k++)
        s += shape<true>(x[k * 67584 + T]);
    j[T] = s;
}

// Sums over y in a block of 16 x 32, its partial results side by side along y or along x.
template <int DX, int DY> __device__ void sums(const float *a, float *b)
{
    __shared__ float s[512];
    int x = threadIdx.x, y = threadIdx.y;
    s[x * DX + y * DY] = a[(blockIdx.x * 32 + y) * 16 + x];
    __syncthreads();
    for (int d = 16; d; d /= 2) {
        if (y < d)
            s[x * DX + y * DY] += s[x * DX + (y + d) * DY];
        __syncthreads();
    }
    if (!y)
        b[blockIdx.x * 16 + x] = s[x * DX];
}
KERNEL block_sums(const float *a, float *b) { sums<32, 1>(a, b); }
KERNEL block_sums_fixed(const float *a, float *b) { sums<1, 16>(a, b); }

// ---- the fourth list ----

// Grey of pixels of three bytes, and of four.
KERNEL rgb_grey(const unsigned char *rgb, unsigned char *grey)
{
    int i = T;
    grey[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}
KERNEL rgb_grey_fixed(const uchar4 *rgb, uchar4 *grey)
{
    int i = T;
    uchar4 g;
    for (int k = 0; k < 4; k++) {
        uchar4 p = rgb[4 * i + k];
        (&g.x)[k] = (77 * p.x + 150 * p.y + 29 * p.z) >> 8;
    }
    grey[i] = g;
}

// One is added to vectors of four doubles.
struct column { double t, x, y, z; };
KERNEL add_columns(column *v, int n)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x) {
        v[i].t += 1;
        v[i].x += 1;
        v[i].y += 1;
        v[i].z += 1;
    }
}

// Powers of floats in double precision.
KERNEL cloud_pow(const float *t, float *q, int n)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        q[i] = (float)pow((double)t[i], 1.94);
}
KERNEL cloud_pow_fixed(const float *t, float *q, int n)
{
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        q[i] = powf(t[i], 1.94f);
}

// A site of a lattice in four dimensions, from one index.
struct lattice_size { int x, y, z, t; };
KERNEL site_index(const float *u, float *v, lattice_size l)
{
    int i = T, s = i;
    int x = s % l.x, y = (s /= l.x) % l.y, z = (s /= l.y) % l.z, t = s / l.z;
    int up = (((t + 1) % l.t * l.z + z) * l.y + y) * l.x + x, right = ((t * l.z + z) * l.y + y) * l.x + (x + 1) % l.x;
    v[i] = u[i] + u[up] + u[right];
}
__device__ int by(int n, unsigned magic) { return __umulhi(n, magic); }
KERNEL site_index_fixed(const float *u, float *v, lattice_size l, uint4 magic)
{
    int i = T;
    int s = by(i, magic.x), x = i - s * l.x, r = by(s, magic.y), y = s - r * l.y, t = by(r, magic.z), z = r - t * l.z;
    int up = ((t + 1 == l.t ? 0 : t + 1) * l.z + z) * l.y + y, row = (t * l.z + z) * l.y + y;
    v[i] = u[i] + u[up * l.x + x] + u[row * l.x + (x + 1 == l.x ? 0 : x + 1)];
}

// Means of columns of a sparse matrix, a thread for a row of any length, and a warp.
KERNEL skewed_rows(const int *start, const int *column, const float *value, float *mean, int rows)
{
    int r = T;
    if (r >= rows)
        return;
    for (int k = start[r]; k < start[r + 1]; k++)
        atomicAdd(&mean[column[k]], value[k]);
}
KERNEL skewed_rows_fixed(const int *start, const int *column, const float *value, float *mean, int rows)
{
    int r = T / 32;
    if (r >= rows)
        return;
    for (int k = start[r] + threadIdx.x % 32; k < start[r + 1]; k += 32)
        atomicAdd(&mean[column[k]], value[k]);
}

// A product of a sparse matrix, a thread for a row, and eight.
KERNEL scalar_csr(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    int r = T;
    if (r >= rows)
        return;
    double s = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
        s += value[k] * x[column[k]];
    y[r] = s;
}
template <int LANES> __device__ void vector_csr(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    int r = T / LANES, lane = threadIdx.x % LANES;
    if (r >= rows)
        return;
    double s = 0;
    for (int k = start[r] + lane; k < start[r + 1]; k += LANES)
        s += value[k] * x[column[k]];
    for (int d = LANES / 2; d; d /= 2)
        s += __shfl_xor_sync(~0u, s, d);
    if (!lane)
        y[r] = s;
}
KERNEL scalar_csr_fixed(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    vector_csr<16>(start, column, value, x, y, rows);
}

// The same for rows of seven, by a whole warp, and by eight lanes.
KERNEL seven_nonzeros(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    vector_csr<32>(start, column, value, x, y, rows);
}
KERNEL seven_nonzeros_fixed(const int *start, const int *column, const double *value, const double *x, double *y, int rows)
{
    vector_csr<8>(start, column, value, x, y, rows);
}

// A running sum of a chunk, by one thread, and by all.
KERNEL cumsum_serial(const float *dt, float *out)
{
    float s = 0;
    for (int i = 0; i < 128; i++) {
        s += dt[blockIdx.x * 128 + i];
        out[blockIdx.x * 128 + i] = s;
    }
}
KERNEL cumsum_serial_fixed(const float *dt, float *out)
{
    __shared__ float last[4];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float s = dt[T];
    for (int d = 1; d < 32; d *= 2) {
        float v = __shfl_up_sync(~0u, s, d);
        s += lane >= d ? v : 0;
    }
    if (lane == 31)
        last[warp] = s;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        s += last[k];
    out[T] = s;
}

// A sum in its own memory, whose active threads grow fewer; and after each thread has summed up what it can.
KERNEL sum_in_place(float *in, float *out, int n)
{
    int i = 2 * T;
    for (int stride = 1; stride < 2 * blockDim.x; stride *= 2) {
        if (threadIdx.x % stride == 0 && i + stride < n)
            in[i] += in[i + stride];
        __syncthreads();
    }
    if (!threadIdx.x)
        out[blockIdx.x] = in[i];
}
KERNEL sum_in_place_fixed(const float *in, float *out, int n)
{
    __shared__ float part[32];
    float s = 0;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        s += in[i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (!threadIdx.x)
            out[blockIdx.x] = s;
    }
}

// Coefficients of a series, to each of which all threads add.
KERNEL series_terms(float *m, const float4 *a, int terms, int n)
{
    int i = T;
    if (i >= n)
        return;
    float4 j = a[i];
    float r = j.x;
    for (int k = 0; k < terms; k++) {
        atomicAdd(&m[k], j.w * r);
        r = r * j.y + j.z;
    }
}
KERNEL series_terms_fixed(float *m, const float4 *a, int terms, int n)
{
    __shared__ float part[8];
    float4 j = a[T];
    float r = j.x;
    for (int k = 0; k < terms; k++) {
        float s = warp_sum(j.w * r);
        if (threadIdx.x % 32 == 0)
            part[threadIdx.x / 32] = s;
        __syncthreads();
        if (!threadIdx.x)
            atomicAdd(&m[k], part[0] + part[1] + part[2] + part[3] + part[4] + part[5] + part[6] + part[7]);
        __syncthreads();
        r = r * j.y + j.z;
    }
}

// Ten numbers of a thread, counted by data.
KERNEL ten_numbers(const unsigned *x, int *most, int each)
{
    int a[10];
    for (int k = 0; k < 10; k++)
        a[k] = k;
#pragma unroll 1
    for (int i = 0; i < each; i++)
        a[x[i * gridDim.x * blockDim.x + T] % 10]++;
    int m = 0;
    for (int k = 0; k < 10; k++)
        m = max(m, a[k]);
    most[T] = m;
}
KERNEL ten_numbers_fixed(const unsigned *x, int *most, int each)
{
    __shared__ int a[10][128];
    for (int k = 0; k < 10; k++)
        a[k][threadIdx.x] = k;
#pragma unroll 1
    for (int i = 0; i < each; i++)
        a[x[i * gridDim.x * blockDim.x + T] % 10][threadIdx.x]++;
    int m = 0;
    for (int k = 0; k < 10; k++)
        m = max(m, a[k][threadIdx.x]);
    most[T] = m;
}

// Which numbers of one list are in another: binary searches.
KERNEL intersect(const int *a, const int *b, int *found, int n)
{
    int want = a[T], lo = 0, hi = n;
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (b[m] < want)
            lo = m + 1;
        else
            hi = m;
    }
    found[T] = lo < n && b[lo] == want;
}
KERNEL intersect_fixed(const int *a, const int *b, int *found, int n)
{
    int want = a[T], lo = 0, hi = n;
    while (lo < hi) {
        int m = (lo + hi) / 2;
        if (b[m] < want)
            lo = m + 1;
        else
            hi = m;
    }
    found[T] = lo < n && b[lo] == want;
}

// Gradients of a few views, to which many points add.
KERNEL view_gradient(const float4 *points, float *views, int n)
{
    int i = T, v = blockIdx.y;
    if (i >= n)
        return;
    float4 p = points[v * n + i];
    atomicAdd(&views[v * 4 + 0], p.x * p.w);
    atomicAdd(&views[v * 4 + 1], p.y * p.w);
    atomicAdd(&views[v * 4 + 2], p.z * p.w);
}
KERNEL view_gradient_fixed(const float4 *points, float *views, int n)
{
    __shared__ float part[3][8];
    int v = blockIdx.y, warp = threadIdx.x / 32;
    float4 p = points[v * n + T];
    float x = warp_sum(p.x * p.w), y = warp_sum(p.y * p.w), z = warp_sum(p.z * p.w);
    if (threadIdx.x % 32 == 0) {
        part[0][warp] = x;
        part[1][warp] = y;
        part[2][warp] = z;
    }
    __syncthreads();
    if (threadIdx.x < 3) {
        float s = 0;
        for (int k = 0; k < 8; k++)
            s += part[threadIdx.x][k];
        atomicAdd(&views[v * 4 + threadIdx.x], s);
    }
}

// Rows of a table, to which a loop of compare-and-swap adds, and the addition of the device.
KERNEL embedding_cas(const int *row, const float *update, unsigned *table)
{
    unsigned *at = &table[row[blockIdx.x] * 128 + threadIdx.x], old = *at, seen;
    float add = update[T];
    do {
        seen = old;
        old = atomicCAS(at, seen, __float_as_uint(__uint_as_float(seen) + add));
    } while (old != seen);
}
KERNEL embedding_cas_fixed(const int *row, const float *update, float *table)
{
    atomicAdd(&table[row[blockIdx.x] * 128 + threadIdx.x], update[T]);
}

// The gradient of an enlarged picture: each of its points adds to four, and each of the four collects.
KERNEL upsample_back(const float *grad, float *out, int w)
{
    int x = T, y = blockIdx.y;
    float g = grad[y * 2 * w + x], fx = (x & 1) * 0.5f, fy = (y & 1) * 0.5f;
    int left = x / 2, right = min(left + 1, w - 1), top = y / 2, bottom = min(top + 1, w - 1);
    atomicAdd(&out[top * w + left], (1 - fy) * (1 - fx) * g);
    atomicAdd(&out[top * w + right], (1 - fy) * fx * g);
    atomicAdd(&out[bottom * w + left], fy * (1 - fx) * g);
    atomicAdd(&out[bottom * w + right], fy * fx * g);
}
KERNEL upsample_back_fixed(const float *grad, float *out, int w)
{
    int x = T, y = blockIdx.y;
    float s = 0;
    for (int dy = -1; dy < 2; dy++)
        for (int dx = -1; dx < 2; dx++) {
            int gx = 2 * x + dx, gy = 2 * y + dy;
            float f = (dx ? 0.5f : 1) * (dy ? 0.5f : 1);
            s += gx < 0 || gy < 0 ? 0 : f * grad[gy * 2 * w + gx];
        }
    out[y * w + x] = s;
}

// Sums of runs, a thread for each; and pieces of them.
KERNEL grad_runs(const int *start, const float *value, float *sum, int runs)
{
    int r = T;
    if (r >= runs)
        return;
    float s = 0;
    for (int k = start[r]; k < start[r + 1]; k++)
        s += value[k];
    sum[r] = s;
}
KERNEL grad_runs_fixed(const int *start, const float *value, float *sum, int runs)
{
    int warp = T / 32, lane = threadIdx.x % 32, piece = blockIdx.y;
    if (warp >= runs)
        return;
    float s = 0;
    for (int k = start[warp] + piece * 32 + lane; k < start[warp + 1]; k += 32 * gridDim.y)
        s += value[k];
    s = warp_sum(s);
    if (!lane && s != 0)
        atomicAdd(&sum[warp], s);
}

// Advantages along a row of time, a thread for each row, one word or four at once.
KERNEL advantages(const float *value, const float *reward, float *out, int horizon)
{
    int r = T;
    float last = 0;
#pragma unroll 1
    for (int t = horizon - 2; t >= 0; t--) {
        float delta = reward[r * horizon + t + 1] + 0.99f * value[r * horizon + t + 1] - value[r * horizon + t];
        last = delta + 0.94f * last;
        out[r * horizon + t] = last;
    }
}
KERNEL advantages_fixed(const float4 *value, const float4 *reward, float4 *out, int quads)
{
    int r = T;
    float last = 0, nv = 0, nr = 0;
#pragma unroll 1
    for (int q = quads - 1; q >= 0; q--) {
        float4 v = value[r * quads + q], w = reward[r * quads + q], o;
        o.w = last = q == quads - 1 ? 0 : nr + 0.99f * nv - v.w + 0.94f * last;
        o.z = last = w.w + 0.99f * v.w - v.z + 0.94f * last;
        o.y = last = w.z + 0.99f * v.z - v.y + 0.94f * last;
        o.x = last = w.y + 0.99f * v.y - v.x + 0.94f * last;
        nv = v.x;
        nr = w.x;
        out[r * quads + q] = o;
    }
}

// A point samples all channels of a voxel.
KERNEL sample_channels(const int *voxel, const float *grid, float *out, int channels)
{
    int p = T / 8, part = threadIdx.x % 8;
    const float *g = grid + voxel[p] * channels;
    for (int c = part; c < channels; c += 8)
        out[p * channels + c] = 0.5f * g[c];
}
KERNEL sample_channels_fixed(const int *voxel, const float4 *grid, float4 *out, int quads)
{
    int p = T / 8, part = threadIdx.x % 8;
    const float4 *g = grid + voxel[p] * quads;
    for (int c = part; c < quads; c += 8) {
        float4 v = g[c];
        out[p * quads + c] = { 0.5f * v.x, 0.5f * v.y, 0.5f * v.z, 0.5f * v.w };
    }
}

// Forces, which a particle without mass has none of; every other particle is one.
KERNEL test_particles(const float4 *at, const float *mass, float *force, int n)
{
    int i = T;
    float s = 0;
    if (mass[i] > 0) {
        float4 p = at[i];
        for (int k = 0; k < n; k++) {
            float4 q = at[k];
            float dx = q.x - p.x, dy = q.y - p.y, d = dx * dx + dy * dy + 0.1f;
            s += q.w * rsqrtf(d * d * d);
        }
    }
    force[i] = s;
}
KERNEL test_particles_fixed(const float4 *at, const float *mass, float *force, int n)
{
    int i = T;
    float s = 0;
    if (mass[i] > 0) {
        float4 p = at[i];
        for (int k = 0; k < n; k++) {
            float4 q = at[k];
            float dx = q.x - p.x, dy = q.y - p.y, d = dx * dx + dy * dy + 0.1f;
            s += q.w * rsqrtf(d * d * d);
        }
    }
    force[i] = s;
}

// A histogram in shared memory: an element for each thread, or many.
__device__ void shared_bins(const unsigned char *x, unsigned *bins, int n)
{
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&s[x[i]], 1);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
KERNEL hist_one_each(const unsigned char *x, unsigned *bins, int n) { shared_bins(x, bins, n); }
KERNEL hist_one_each_fixed(const unsigned char *x, unsigned *bins, int n) { shared_bins(x, bins, n); }

// Fields are gathered at the cells of particles, in any order, and sorted.
KERNEL gather_fields(const int *cell, const float *ex, const float *ey, float2 *out)
{
    int c = cell[T];
    out[T] = { ex[c], ey[c] };
}
KERNEL gather_fields_fixed(const int *cell, const float *ex, const float *ey, float2 *out)
{
    int c = cell[T];
    out[T] = { ex[c], ey[c] };
}

// Sixty-four sums of a thread.
KERNEL many_sums(const float *a, const float *b, float *c, int n)
{
    float s[8][8] = {};
    int lane = threadIdx.x % 32;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        float x[8], y[8];
#pragma unroll
        for (int i = 0; i < 8; i++) {
            x[i] = a[(k * 8 + i) * 32 + lane];
            y[i] = b[(k * 8 + i) * gridDim.x * blockDim.x + T];
        }
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int j = 0; j < 8; j++)
                s[i][j] += x[i] * y[j];
    }
    float all = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int j = 0; j < 8; j++)
            all += s[i][j] * (i + j);
    c[T] = all;
}

// Pictures with channels outside become pictures with channels inside.
KERNEL nchw_nhwc(const float *x, float *y, int channels, int size)
{
    int i = T, c = i % channels, p = i / channels;
    y[i] = x[c * size + p];
}
KERNEL nchw_nhwc_fixed(const float *x, float *y, int channels, int size)
{
    __shared__ float s[32][33];
    int p = blockIdx.x * 32, c = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        s[k][threadIdx.x] = x[(c + k) * size + p + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8)
        y[(p + k) * channels + c + threadIdx.x] = s[threadIdx.x][k];
}

// The greatest of a vocabulary, by the threads of one block, and of many.
__device__ void greatest(const float *score, float *best, int n)
{
    float m = -1e30f;
    for (int i = T; i < n; i += gridDim.x * blockDim.x)
        m = fmaxf(m, score[i]);
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    if (threadIdx.x % 32 == 0)
        best[T / 32] = m;
}
KERNEL top_of_vocabulary(const float *score, float *best, int n) { greatest(score, best, n); }
KERNEL top_of_vocabulary_fixed(const float *score, float *best, int n) { greatest(score, best, n); }

// Means of a few rows, a warp for each, a word after the other; a block for each, eight loads under way.
KERNEL few_rows(const float *x, float *mean, int n)
{
    float s = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += x[blockIdx.x * n + i];
    s = warp_sum(s);
    if (!threadIdx.x)
        mean[blockIdx.x] = s / n;
}
KERNEL few_rows_fixed(const float *x, float *mean, int n)
{
    __shared__ float part[16];
    float s = 0;
#pragma unroll 8
    for (int i = threadIdx.x; i < n; i += 512)
        s += x[blockIdx.x * n + i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = s;
    __syncthreads();
    if (!threadIdx.x) {
        for (int k = 1; k < 16; k++)
            s += part[k];
        mean[blockIdx.x] = s / n;
    }
}

// Candidates are kept in shared memory: 128 KB of it, or 32.
template <int WORDS> __device__ void candidates(const float *x, float *y, int rounds)
{
    extern __shared__ float kept[];
    float s = 0;
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        kept[threadIdx.x + r % 8 * 512] = x[(blockIdx.x * rounds + r) * 512 + threadIdx.x];
        __syncthreads();
        s += kept[(threadIdx.x ^ 37) + r % 8 * 512];
        __syncthreads();
    }
    y[T] = s;
}
KERNEL kept_in_shared(const float *x, float *y, int rounds) { candidates<32768>(x, y, rounds); }
KERNEL kept_in_shared_fixed(const float *x, float *y, int rounds) { candidates<8192>(x, y, rounds); }

// Signs of a quantised number from a table in constant memory, and in global memory.
__constant__ unsigned char signs_const[128] = { 0, 129, 130, 3, 132, 5, 6, 135, 136, 9, 10, 139, 12, 141, 142, 15 };
__device__ unsigned char signs_global[128] = { 0, 129, 130, 3, 132, 5, 6, 135, 136, 9, 10, 139, 12, 141, 142, 15 };
__device__ float signed_sum(const unsigned char *table, const unsigned *q, int each)
{
    float s = 0;
    for (int k = 0; k < each; k++) {
        unsigned v = q[k * gridDim.x * blockDim.x + T];
        for (int l = 0; l < 4; l++) {
            unsigned char sign = table[v >> (7 * l) & 127];
            s += sign & 1 ? -1.f * l : 1.f * sign;
        }
    }
    return s;
}
KERNEL sign_table(const unsigned *q, float *y, int each) { y[T] = signed_sum(signs_const, q, each); }
KERNEL sign_table_fixed(const unsigned *q, float *y, int each) { y[T] = signed_sum(signs_global, q, each); }

// Blocks of a scale and 32 bytes become halves; the words of 34 bytes go through shared memory.
struct block_q8 { __half d; signed char q[32]; };
KERNEL q8_halves(const block_q8 *x, __half2 *y)
{
    int i = T, b = i / 16, k = i % 16;
    float d = __half2float(x[b].d);
    y[i] = __floats2half2_rn(d * x[b].q[2 * k], d * x[b].q[2 * k + 1]);
}
KERNEL q8_halves_fixed(const int *x, __half2 *y)
{
    __shared__ int s[544];
    for (int k = threadIdx.x; k < 544; k += 32)
        s[k] = x[blockIdx.x * 544 + k];
    __syncwarp();
    const block_q8 *b = (const block_q8 *)s;
#pragma unroll 4
    for (int k = 0; k < 32; k++) {
        int i = k * 32 + threadIdx.x, at = i / 16, j = i % 16;
        float d = __half2float(b[at].d);
        y[blockIdx.x * 1024 + i] = __floats2half2_rn(d * b[at].q[2 * j], d * b[at].q[2 * j + 1]);
    }
}

// Vectors of two floats that are not aligned.
struct vec2 { float v[2]; };
KERNEL unaligned_pairs(const vec2 *a, vec2 *b)
{
    vec2 p = a[T];
    b[T] = { { p.v[0] + p.v[1], p.v[0] - p.v[1] } };
}
KERNEL unaligned_pairs_fixed(const float2 *a, float2 *b)
{
    float2 p = a[T];
    b[T] = { p.x + p.y, p.x - p.y };
}

// ---- the fifth list ----

// Rows of 32 floats, a warp for each, by accesses of 16 bytes: eight of its lanes have one.
KERNEL small_embedding(const int *index, const float4 *table, float4 *out, int quads)
{
    int row = T / 32, lane = threadIdx.x % 32;
    for (int q = lane; q < quads; q += 32)
        out[row * quads + q] = table[index[row] * quads + q];
}
KERNEL small_embedding_fixed(const int *index, const float4 *table, float4 *out, int quads)
{
    int row = T / 8, lane = threadIdx.x % 8;
    for (int q = lane; q < quads; q += 8)
        out[row * quads + q] = table[index[row] * quads + q];
}

// Softmax of halves, read three times one by one; and four at once, once.
KERNEL half_softmax(const __half *x, __half *y, int n)
{
    const __half *row = x + T / 32 * n;
    int lane = threadIdx.x % 32;
    float m = -1e30f, s = 0;
    for (int i = lane; i < n; i += 32)
        m = fmaxf(m, __half2float(row[i]));
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int i = lane; i < n; i += 32)
        s += __expf(__half2float(row[i]) - m);
    s = 1 / warp_sum(s);
    for (int i = lane; i < n; i += 32)
        y[T / 32 * n + i] = __float2half(__expf(__half2float(row[i]) - m) * s);
}
KERNEL half_softmax_fixed(const __half *x, __half *y, int n)
{
    int lane = threadIdx.x % 32;
    const uint2 *row = (const uint2 *)(x + T / 32 * n);
    uint2 *to = (uint2 *)(y + T / 32 * n);
    float v[16], m = -1e30f, s = 0;
    for (int k = 0; k < 4; k++) {
        uint2 w = row[k * 32 + lane];
        float2 a = __half22float2(*(__half2 *)&w.x), b = __half22float2(*(__half2 *)&w.y);
        v[4 * k] = a.x;
        v[4 * k + 1] = a.y;
        v[4 * k + 2] = b.x;
        v[4 * k + 3] = b.y;
    }
    for (int k = 0; k < 16; k++)
        m = fmaxf(m, v[k]);
    for (int d = 16; d; d /= 2)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int k = 0; k < 16; k++)
        s += v[k] = __expf(v[k] - m);
    s = 1 / warp_sum(s);
    for (int k = 0; k < 4; k++) {
        __half2 a = __floats2half2_rn(v[4 * k] * s, v[4 * k + 1] * s), b = __floats2half2_rn(v[4 * k + 2] * s, v[4 * k + 3] * s);
        to[k * 32 + lane] = { *(unsigned *)&a, *(unsigned *)&b };
    }
}

// The nearest point of a box, which all threads of a block go through.
KERNEL box_points(const float *points, const float *at, float *near, int n)
{
    float x = at[3 * T], y = at[3 * T + 1], z = at[3 * T + 2], best = 1e30f;
    for (int k = 0; k < n; k++) {
        float dx = points[3 * k] - x, dy = points[3 * k + 1] - y, dz = points[3 * k + 2] - z;
        best = fminf(best, dx * dx + dy * dy + dz * dz);
    }
    near[T] = best;
}
KERNEL box_points_fixed(const float *points, const float *at, float *near, int n)
{
    __shared__ float4 s[256];
    float x = at[3 * T], y = at[3 * T + 1], z = at[3 * T + 2], best = 1e30f;
    for (int b = 0; b < n; b += 256) {
        int k = b + threadIdx.x;
        s[threadIdx.x] = { points[3 * k], points[3 * k + 1], points[3 * k + 2], 0 };
        __syncthreads();
#pragma unroll 8
        for (int i = 0; i < 256; i++) {
            float4 p = s[i];
            float dx = p.x - x, dy = p.y - y, dz = p.z - z;
            best = fminf(best, dx * dx + dy * dy + dz * dz);
        }
        __syncthreads();
    }
    near[T] = best;
}

// A convolution of each channel by itself: a block for a channel, or for a part of it.
KERNEL depthwise(const float *x, const float *w, float *y, int side)
{
    int c = blockIdx.x, part = side * side / gridDim.y;
    for (int i = blockIdx.y * part + threadIdx.x; i < (blockIdx.y + 1) * part; i += blockDim.x) {
        float s = 0;
        for (int k = 0; k < 3; k++)
            s += w[c * 3 + k] * x[c * side * side + (i + k < side * side ? i + k : i)];
        y[c * side * side + i] = s;
    }
}
KERNEL depthwise_fixed(const float *x, const float *w, float *y, int side)
{
    int c = blockIdx.x, part = side * side / gridDim.y;
    for (int i = blockIdx.y * part + threadIdx.x; i < (blockIdx.y + 1) * part; i += blockDim.x) {
        float s = 0;
        for (int k = 0; k < 3; k++)
            s += w[c * 3 + k] * x[c * side * side + (i + k < side * side ? i + k : i)];
        y[c * side * side + i] = s;
    }
}

// Sums of 32 groups, a block for each, or many.
__device__ void group_sums(const float4 *x, float *sum, int quads)
{
    const float4 *g = x + blockIdx.x * quads;
    float s = 0;
    for (int i = blockIdx.y * blockDim.x + threadIdx.x; i < quads; i += gridDim.y * blockDim.x) {
        float4 v = g[i];
        s += v.x + v.y + v.z + v.w;
    }
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0)
        sum[(blockIdx.x * gridDim.y + blockIdx.y) * (blockDim.x / 32) + threadIdx.x / 32] = s;
}
KERNEL group_norm(const float4 *x, float *sum, int quads) { group_sums(x, sum, quads); }
KERNEL group_norm_fixed(const float4 *x, float *sum, int quads) { group_sums(x, sum, quads); }

// Random numbers by a state of 24 bytes of each thread in memory, and by a counter.
struct generator { unsigned v[5], d; };
KERNEL random_walk(generator *state, float *out, int steps)
{
    float s = 0;
    for (int k = 0; k < steps; k++) {
        generator g = state[T];
        unsigned t = g.v[0] ^ (g.v[0] >> 2);
        for (int i = 0; i < 4; i++)
            g.v[i] = g.v[i + 1];
        g.v[4] = (g.v[4] ^ (g.v[4] << 4)) ^ (t ^ (t << 1));
        g.d += 362437;
        state[T] = g;
        s += (g.v[4] + g.d) * 2.3283064e-10f;
        out[k * gridDim.x * blockDim.x + T] = s;
    }
}
KERNEL random_walk_fixed(float *out, int steps)
{
    float s = 0;
    for (int k = 0; k < steps; k++) {
        unsigned a = T, b = k;
        for (int r = 0; r < 7; r++) {
            unsigned hi = __umulhi(a, 0xD2511F53), lo = a * 0xD2511F53;
            a = hi ^ b ^ (r * 0x9E3779B9);
            b = lo;
        }
        s += a * 2.3283064e-10f;
        out[k * gridDim.x * blockDim.x + T] = s;
    }
}

// A state of twelve words, permuted in rounds by a table; and by constants.
KERNEL permute_state(const unsigned *in, const int *order, unsigned *out, int rounds)
{
    unsigned s[12];
    for (int i = 0; i < 12; i++)
        s[i] = in[i * gridDim.x * blockDim.x + T];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned carry = s[order[r % 12]];
#pragma unroll 1
        for (int i = 0; i < 12; i++)
            carry = s[i] = s[i] * s[i] + carry;
    }
    unsigned h = 0;
    for (int i = 0; i < 12; i++)
        h ^= s[i];
    out[T] = h;
}
KERNEL permute_state_fixed(const unsigned *in, unsigned *out, int rounds)
{
    unsigned s[12];
#pragma unroll
    for (int i = 0; i < 12; i++)
        s[i] = in[i * gridDim.x * blockDim.x + T];
#pragma unroll 1
    for (int r = 0; r < rounds; r++) {
        unsigned carry = s[7];
#pragma unroll
        for (int i = 0; i < 12; i++)
            carry = s[i] = s[i] * s[i] + carry;
    }
    unsigned h = 0;
#pragma unroll
    for (int i = 0; i < 12; i++)
        h ^= s[i];
    out[T] = h;
}

// Tokens are sent by warps, four for each while there are any: the first warps have all of them.
__device__ void send(const float4 *token, float4 *out, int tokens, int quads, int quota)
{
    int warp = T / 32, lane = threadIdx.x % 32;
    for (int t = warp * quota; t < min(tokens, (warp + 1) * quota); t++)
        for (int q = lane; q < quads; q += 32)
            out[t * quads + q] = token[t * quads + q];
}
KERNEL low_warps(const float4 *token, float4 *out, int tokens, int quads, int quota) { send(token, out, tokens, quads, quota); }
KERNEL low_warps_fixed(const float4 *token, float4 *out, int tokens, int quads, int quota) { send(token, out, tokens, quads, quota); }

// The gradient of an embedding: a block for a part of the columns goes through all rows.
KERNEL take_grad(const int *index, const float *src, float *grad, int rows, int columns)
{
    int c = T;
    if (c >= columns)
        return;
    for (int r = 0; r < rows; r++)
        grad[index[r] * columns + c] += src[r * columns + c];
}
KERNEL take_grad_fixed(const int *index, const float *src, float *grad, int rows, int columns)
{
    int c = threadIdx.x, r = blockIdx.x;
    if (c < columns)
        atomicAdd(&grad[index[r] * columns + c], src[r * columns + c]);
}

// A filter of any size, whose every step asks whether it is inside; and bounds that are known before.
KERNEL edge_checks(const float *x, const float *w, float *y, int width, int height, int k)
{
    int px = T % width, py = T / width;
    float s = 0;
    for (int dy = 0; dy < k; dy++)
        for (int dx = 0; dx < k; dx++) {
            int ix = px + dx - k / 2, iy = py + dy - k / 2;
            if (ix >= 0 && ix < width && iy >= 0 && iy < height)
                s += w[dy * k + dx] * x[iy * width + ix];
        }
    y[T] = s;
}
KERNEL edge_checks_fixed(const float *x, const float *w, float *y, int width, int height, int k)
{
    int px = T % width, py = T / width, h = k / 2;
    int x0 = max(0, h - px), x1 = min(k, width + h - px), y0 = max(0, h - py), y1 = min(k, height + h - py);
    float s = 0;
    for (int dy = y0; dy < y1; dy++) {
        const float *row = x + (py + dy - h) * width + px - h, *f = w + dy * k;
#pragma unroll 4
        for (int dx = x0; dx < x1; dx++)
            s += f[dx] * row[dx];
    }
    y[T] = s;
}

// A pair of haplotypes for each thread, which adds to every variant.
KERNEL haplotype_pairs(const unsigned *bits, float *sum, int variants)
{
    unsigned a = bits[T];
    for (int v = 0; v < variants; v++)
        atomicAdd(&sum[v], (float)(a >> (v & 31) & 1));
}
KERNEL haplotype_pairs_fixed(const unsigned *bits, float *sum, int variants)
{
    unsigned a = bits[T];
    for (int v = 0; v < variants; v++) {
        int n = __popc(__ballot_sync(~0u, a >> (v & 31) & 1));
        if (threadIdx.x % 32 == 0)
            atomicAdd(&sum[v], (float)n);
    }
}

// Pixels of a tile sum up the gradient of each of its points: an atomic of each warp, and of the block.
KERNEL tile_gradient(const float *pixel, const int *points, float *grad, int each)
{
    float p = pixel[T];
    for (int k = 0; k < each; k++) {
        float s = warp_sum(p * (k + 1));
        if (threadIdx.x % 32 == 0)
            atomicAdd(&grad[points[blockIdx.x * each + k]], s);
    }
}
KERNEL tile_gradient_fixed(const float *pixel, const int *points, float *grad, int each)
{
    __shared__ float part[2][8];
    float p = pixel[T];
    for (int k = 0; k < each; k++) {
        float s = warp_sum(p * (k + 1));
        if (threadIdx.x % 32 == 0)
            part[k & 1][threadIdx.x / 32] = s;
        __syncthreads();
        if (threadIdx.x == k % 8 * 32) {
            float all = 0;
            for (int i = 0; i < 8; i++)
                all += part[k & 1][i];
            atomicAdd(&grad[points[blockIdx.x * each + k]], all);
        }
    }
}

// Forces on neighbours' owners: an atomic for each neighbour, or a sum first.
KERNEL force_sums(const float *pair, float *force, int each)
{
    int i = T;
    for (int k = 0; k < each; k++)
        atomicAdd(&force[i], pair[k * gridDim.x * blockDim.x + i]);
}
KERNEL force_sums_fixed(const float *pair, float *force, int each)
{
    int i = T;
    float s = 0;
    for (int k = 0; k < each; k++)
        s += pair[k * gridDim.x * blockDim.x + i];
    atomicAdd(&force[i], s);
}

// The gradient of a vector that was added to each row.
KERNEL broadcast_back(const float *grad, float *bias, int columns)
{
    atomicAdd(&bias[T % columns], grad[T]);
}
KERNEL broadcast_back_fixed(const float *grad, float *bias, int columns)
{
    int c = T % columns, stride = gridDim.x * blockDim.x;
    float s = 0;
    for (int i = T; i < 4194304; i += stride)
        s += grad[i];
    atomicAdd(&bias[c], s);
}

// The greatest of 2 x 2 points of each channel, channels inside: threads along the picture, and along the channels.
__device__ float pooled(const float *x, int channels, int width, int px, int py, int c)
{
    const float *p = x + (2 * py * width + 2 * px) * channels + c;
    return fmaxf(fmaxf(p[0], p[channels]), fmaxf(p[width * channels], p[(width + 1) * channels]));
}
KERNEL pool_nhwc(const float *x, float *y, int channels, int width)
{
    int px = T, py = blockIdx.y, c = blockIdx.z;
    y[(py * (width / 2) + px) * channels + c] = pooled(x, channels, width, px, py, c);
}
KERNEL pool_nhwc_fixed(const float *x, float *y, int channels, int width)
{
    int c = threadIdx.x, px = blockIdx.x, py = blockIdx.y;
    y[(py * (width / 2) + px) * channels + c] = pooled(x, channels, width, px, py, c);
}

// Sine and cosine of one angle.
KERNEL separate_sincos(const double *k, double *re, double *im, int n)
{
    double a = 0, b = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        double p = k[T] * i;
        a += sin(p);
        b += cos(p);
    }
    re[T] = a;
    im[T] = b;
}
KERNEL separate_sincos_fixed(const double *k, double *re, double *im, int n)
{
    double a = 0, b = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        double s, c;
        sincos(k[T] * i, &s, &c);
        a += s;
        b += c;
    }
    re[T] = a;
    im[T] = b;
}

// Elements are divided by the sum of their row, or multiplied by its reciprocal.
KERNEL divide_each(const float *x, const float *sum, float *y, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = x[blockIdx.x * n + i] / sum[blockIdx.x];
}
KERNEL divide_each_fixed(const float *x, const float *sum, float *y, int n)
{
    float r = 1 / sum[blockIdx.x];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[blockIdx.x * n + i] = x[blockIdx.x * n + i] * r;
}
