/* Kernels in the manner of the CUDA samples, written afresh. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void
#define ALL 0xffffffffu

/* scan of 1024 by warps, four elements a thread as a vector */
K s_scan(const uint4 *in, uint4 *out, unsigned *sums)
{
    __shared__ unsigned part[8];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t, lane = t & 31, w = t >> 5;
    uint4 v = in[i];
    v.y += v.x; v.z += v.y; v.w += v.z;
    unsigned s = v.w;
    for (int d = 1; d < 32; d *= 2) { unsigned o = __shfl_up_sync(ALL, s, d); if (lane >= d) s += o; }
    if (lane == 31) part[w] = s;
    __syncthreads();
    if (w == 0) {
        unsigned p = lane < blockDim.x / 32 ? part[lane & 7] : 0;
        for (int d = 1; d < 8; d *= 2) { unsigned o = __shfl_up_sync(ALL, p, d); if (lane >= d) p += o; }
        if (lane < 8) part[lane] = p;
    }
    __syncthreads();
    unsigned before = s - v.w + (w ? part[w - 1] : 0);
    v.x += before; v.y += before; v.z += before; v.w += before;
    out[i] = v;
    if (t == (int)blockDim.x - 1) sums[blockIdx.x] = v.w;
}

/* one digit of a radix sort: ballots rank the keys of a warp, shared counters those of the CTA */
K s_radix(const unsigned *key, unsigned *out, unsigned *count, int shift)
{
    __shared__ unsigned n[16][8], base[16];
    __shared__ unsigned sorted[256];
    int t = threadIdx.x, lane = t & 31, w = t >> 5;
    unsigned k = key[blockIdx.x * 256 + t], d = (k >> shift) & 15, same = ALL;
    for (int b = 0; b < 4; b++) { unsigned v = __ballot_sync(ALL, (d >> b) & 1); same &= (d >> b) & 1 ? v : ~v; }
    unsigned rank = __popc(same & ((1u << lane) - 1));
    if (t < 128) n[t / 8][t % 8] = 0;
    __syncthreads();
    if (rank == 0) n[d][w] = __popc(same);
    __syncthreads();
    if (t < 16) {
        unsigned s = 0;
        for (int i = 0; i < 8; i++) { unsigned c = n[t][i]; n[t][i] = s; s += c; }
        count[t * gridDim.x + blockIdx.x] = s;
        unsigned p = s;
        for (int o = 1; o < 16; o *= 2) { unsigned u = __shfl_up_sync(0xffff, p, o, 16); if (t >= o) p += u; }
        base[t] = p - s;
    }
    __syncthreads();
    sorted[base[d] + n[d][w] + rank] = k;
    __syncthreads();
    out[blockIdx.x * 256 + t] = sorted[t];
}

/* Black-Scholes: calls and puts, grid stride */
__device__ float cnd(float d)
{
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float c = 0.39894228f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - c : c;
}
K s_blackscholes(float *__restrict__ call, float *__restrict__ put, const float *__restrict__ s, const float *__restrict__ x, const float *__restrict__ t, float r, float v, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        float q = sqrtf(t[i]), d1 = (logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i]) / (v * q), d2 = d1 - v * q, a = cnd(d1), b = cnd(d2), e = expf(-r * t[i]);
        call[i] = s[i] * a - x[i] * e * b;
        put[i] = x[i] * e * (1.0f - b) - s[i] * (1.0f - a);
    }
}

/* Sobol numbers by Gray code: directions of one dimension in shared memory */
K s_sobol(const unsigned *dirs, float *out, int n)
{
    __shared__ unsigned v[32];
    const unsigned *d = dirs + 32 * blockIdx.y;
    float *o = out + (long)n * blockIdx.y;
    if (threadIdx.x < 32) v[threadIdx.x] = d[threadIdx.x];
    __syncthreads();
    int i0 = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
    unsigned g = i0 ^ (i0 >> 1), x = 0, lg = __ffs(stride) - 1;
    for (unsigned k = 0; k < 32; k++) if ((g >> k) & 1) x ^= v[k];
    if (i0 < n) o[i0] = (float)x * 2.3283064e-10f;
    unsigned lim = lg ? v[lg - 1] : 0;
    for (int i = i0 + stride; i < n; i += stride) {
        x ^= lim ^ v[__ffs(~((i - stride) | (stride - 1))) - 1];
        o[i] = (float)x * 2.3283064e-10f;
    }
}

/* merge sort: every element of two sorted runs finds its rank in the other */
__device__ unsigned rank_of(unsigned v, const unsigned *a, unsigned n, bool incl)
{
    unsigned pos = 0;
    for (unsigned step = n; step > 0; step >>= 1) {
        unsigned p = min(pos + step, n);
        if (a[p - 1] < v || (incl && a[p - 1] == v)) pos = p;
    }
    return pos;
}
K s_merge(const unsigned *key, const unsigned *val, unsigned *okey, unsigned *oval, unsigned run)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, seg = i & ~(2 * run - 1), in = i & (2 * run - 1);
    bool second = in >= run;
    unsigned k = key[i], r = rank_of(k, key + seg + (second ? 0 : run), run, second), at = seg + (in & (run - 1)) + r;
    okey[at] = k; oval[at] = val[i];
}

/* bitonic sort of 512 pairs in shared memory */
K s_bitonic(unsigned *key, unsigned *val, unsigned dir)
{
    __shared__ unsigned k[512], v[512];
    int t = threadIdx.x, b = blockIdx.x * 512;
    k[t] = key[b + t]; v[t] = val[b + t]; k[t + 256] = key[b + t + 256]; v[t + 256] = val[b + t + 256];
    for (unsigned size = 2; size <= 512; size <<= 1) {
        unsigned d = size < 512 ? (t & (size / 2)) != 0 : dir;
        for (unsigned s = size / 2; s > 0; s >>= 1) {
            __syncthreads();
            unsigned p = 2 * t - (t & (s - 1)), q = p + s;
            if ((k[p] > k[q]) == d) { unsigned x = k[p]; k[p] = k[q]; k[q] = x; x = v[p]; v[p] = v[q]; v[q] = x; }
        }
    }
    __syncthreads();
    key[b + t] = k[t]; val[b + t] = v[t]; key[b + t + 256] = k[t + 256]; val[b + t + 256] = v[t + 256];
}

/* separable convolution, columns: kernel in constant memory, tile with halo in shared memory */
#define KR 8
__constant__ float c_kernel[2 * KR + 1];
K s_convcol(float *dst, const float *src, int w, int h, int pitch)
{
    __shared__ float s[16][10 * 8 + 1];
    int x = blockIdx.x * 16 + threadIdx.x, y = (blockIdx.y * 8 - 1) * 8 + threadIdx.y;
    src += y * pitch + x; dst += y * pitch + x;
#pragma unroll
    for (int i = 1; i < 9; i++) s[threadIdx.x][threadIdx.y + i * 8] = src[i * 8 * pitch];
    s[threadIdx.x][threadIdx.y] = y >= 0 ? src[0] : 0;
    s[threadIdx.x][threadIdx.y + 72] = h - y > 72 ? src[72 * pitch] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
        for (int j = -KR; j <= KR; j++) sum += c_kernel[KR - j] * s[threadIdx.x][threadIdx.y + i * 8 + j];
        dst[i * 8 * pitch] = sum;
    }
}
/* the same without shared memory: rows through the read-only path */
K s_convrow(float *dst, const float *src, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    float sum = 0;
    for (int j = -KR; j <= KR; j++) { int q = x + j; if (q >= 0 && q < w) sum += c_kernel[KR - j] * __ldg(src + y * w + q); }
    dst[y * w + x] = sum;
}

/* DCT of 8x8 blocks, one block of the picture per 64 threads, coefficients in constant memory */
__constant__ float c_cos[64];
K s_dct(float *dst, const float *src, int stride)
{
    __shared__ float a[8][8], b[8][8];
    int tx = threadIdx.x, ty = threadIdx.y, at = ((blockIdx.y << 3) + ty) * stride + (blockIdx.x << 3) + tx;
    a[ty][tx] = src[at];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) s += c_cos[ty * 8 + i] * a[i][tx];
    b[ty][tx] = s;
    __syncthreads();
    s = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) s += b[ty][i] * c_cos[tx * 8 + i];
    dst[at] = s;
}

/* eigenvalues of a tridiagonal matrix by bisection: Sturm counts, doubles */
K s_eigen(const double *d, const double *e, int n, double lo0, double hi0, double *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double lo = lo0, hi = hi0;
    for (int it = 0; it < 40; it++) {
        double mid = 0.5 * (lo + hi), q = d[0] - mid;
        int c = q < 0;
        for (int k = 1; k < n; k++) { q = d[k] - mid - e[k] * e[k] / (q == 0 ? 1e-30 : q); c += q < 0; }
        if (c > i) hi = mid; else lo = mid;
    }
    out[i] = 0.5 * (lo + hi);
}

/* fast Walsh transform: radix-4 steps in dynamic shared memory, and the global step */
K s_walsh1(float *out, const float *in, int lg)
{
    extern __shared__ float sw[];
    int n = 1 << lg, base = blockIdx.x << lg;
    for (int p = threadIdx.x; p < n; p += blockDim.x) sw[p] = in[base + p];
    const int pos = threadIdx.x;
    for (int stride = n >> 2; stride > 0; stride >>= 2) {
        int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
        __syncthreads();
        float d0 = sw[i0], d1 = sw[i1], d2 = sw[i2], d3 = sw[i3], t = d0;
        d0 = d0 + d2; d2 = t - d2; t = d1; d1 = d1 + d3; d3 = t - d3;
        t = d0; sw[i0] = d0 + d1; sw[i1] = t - d1; t = d2; sw[i2] = d2 + d3; sw[i3] = t - d3;
    }
    if (lg & 1) {
        __syncthreads();
        for (int p = threadIdx.x; p < n / 2; p += blockDim.x) { int i0 = p << 1; float a = sw[i0], b = sw[i0 + 1]; sw[i0] = a + b; sw[i0 + 1] = a - b; }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < n; p += blockDim.x) out[base + p] = sw[p];
}
K s_walsh2(float *out, const float *in, int stride)
{
    const int pos = blockIdx.x * blockDim.x + threadIdx.x;
    const float *src = in; float *dst = out;
    int lo = pos & (stride - 1), i0 = ((pos - lo) << 2) + lo, i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    float d0 = src[i0], d1 = src[i1], d2 = src[i2], d3 = src[i3], t = d0;
    d0 = d0 + d2; d2 = t - d2; t = d1; d1 = d1 + d3; d3 = t - d3;
    t = d0; dst[i0] = d0 + d1; dst[i1] = t - d1; t = d2; dst[i2] = d2 + d3; dst[i3] = t - d3;
}

/* one radix-4 step of an FFT (Stockham), complex as vectors */
K s_fft(const float2 *in, float2 *out, int n, int ns)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, k = j % ns;
    if (j >= n / 4) return;
    float2 v[4], w[4];
    for (int r = 0; r < 4; r++) {
        float a = -6.2831853f * (k * r) / (ns * 4), c = cosf(a), s = sinf(a);
        float2 x = in[j + r * (n / 4)];
        v[r].x = x.x * c - x.y * s; v[r].y = x.x * s + x.y * c;
    }
    w[0].x = v[0].x + v[2].x; w[0].y = v[0].y + v[2].y; w[1].x = v[0].x - v[2].x; w[1].y = v[0].y - v[2].y;
    w[2].x = v[1].x + v[3].x; w[2].y = v[1].y + v[3].y; w[3].x = v[1].y - v[3].y; w[3].y = v[3].x - v[1].x;
    int o = (j / ns) * ns * 4 + k;
    float2 r0 = {w[0].x + w[2].x, w[0].y + w[2].y}, r1 = {w[1].x + w[3].x, w[1].y + w[3].y}, r2 = {w[0].x - w[2].x, w[0].y - w[2].y}, r3 = {w[1].x - w[3].x, w[1].y - w[3].y};
    out[o] = r0; out[o + ns] = r1; out[o + 2 * ns] = r2; out[o + 3 * ns] = r3;
}

/* reduction: several elements a thread, then warps by shuffles */
K s_reduce(const int *in, int *out, unsigned n)
{
    __shared__ int part[32];
    unsigned i = blockIdx.x * blockDim.x * 2 + threadIdx.x, grid = blockDim.x * 2 * gridDim.x;
    int s = 0;
    while (i < n) { s += in[i]; if (i + blockDim.x < n) s += in[i + blockDim.x]; i += grid; }
    for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(ALL, s, d);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d > 0; d >>= 1) s += __shfl_down_sync(ALL, s, d);
        if (threadIdx.x == 0) out[blockIdx.x] = s;
    }
}

/* transpose without bank conflicts, several rows a thread, diagonal order of CTAs */
K s_diagonal(float *out, const float *in, int w, int h)
{
    __shared__ float t[32][33];
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x;
    int x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) t[threadIdx.y + i][threadIdx.x] = in[(y + i) * w + x];
    __syncthreads();
    x = by * 32 + threadIdx.x; y = bx * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8) out[(y + i) * h + x] = t[threadIdx.x][threadIdx.y + i];
}

/* Monte Carlo: an xorshift a path, Box-Muller, payoff by a tree in shared memory */
K s_montecarlo(float *out, float s0, float x, float mu, float vs, int paths, unsigned seed)
{
    __shared__ float sum[128];
    unsigned st = seed ^ (blockIdx.x * 9781u + threadIdx.x * 6271u + 1u);
    float acc = 0;
    for (int i = 0; i < paths; i++) {
        st ^= st << 13; st ^= st >> 17; st ^= st << 5;
        float u = (st >> 8) * 5.9604645e-8f + 2.9802322e-8f;
        st ^= st << 13; st ^= st >> 17; st ^= st << 5;
        float v = (st >> 8) * 5.9604645e-8f, g = sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v), p = s0 * expf(mu + vs * g) - x;
        acc += p > 0 ? p : 0;
    }
    sum[threadIdx.x] = acc;
    for (int d = 64; d > 0; d >>= 1) { __syncthreads(); if ((int)threadIdx.x < d) sum[threadIdx.x] += sum[threadIdx.x + d]; }
    if (threadIdx.x == 0) out[blockIdx.x] = sum[0] / (128 * paths);
}

/* mandelbrot: work taken from a counter by CTAs */
__device__ unsigned int next_block;
K s_mandel(unsigned char *out, int w, int h, int crunch, float x0, float y0, float scale)
{
    __shared__ unsigned b;
    for (;;) {
        if (threadIdx.x == 0 && threadIdx.y == 0) b = atomicAdd(&next_block, 1u);
        __syncthreads();
        if (b >= (unsigned)(w / 16 * (h / 16))) break;
        int px = b % (w / 16) * 16 + threadIdx.x, py = b / (w / 16) * 16 + threadIdx.y, i = crunch;
        float cx = x0 + px * scale, cy = y0 + py * scale, x = cx, y = cy;
        while (i > 0 && x * x + y * y < 4.0f) { float t = x * x - y * y + cx; y = 2.0f * x * y + cy; x = t; i--; }
        out[py * w + px] = (unsigned char)i;
        __syncthreads();
    }
}

/* N-queens-like back-tracking: bit masks, a stack in local memory */
K s_queens(int n, int *count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, a = t % n, b = t / n;
    if (t >= n * n) return;
    unsigned all = (1u << n) - 1, cols[16], ld[16], rd[16], avail[16];
    unsigned c = 1u << a, l = c << 1, r = c >> 1, p = 1u << b;
    if (p & (c | l | r)) { count[t] = 0; return; }
    int depth = 2, found = 0;
    cols[2] = c | p; ld[2] = (l | p) << 1; rd[2] = (r | p) >> 1; avail[2] = all & ~(cols[2] | ld[2] | rd[2]);
    while (depth >= 2) {
        if (depth == n) { found++; depth--; continue; }
        unsigned m = avail[depth];
        if (!m) { depth--; continue; }
        unsigned q = m & -m;
        avail[depth] = m ^ q;
        unsigned c2 = cols[depth] | q, l2 = (ld[depth] | q) << 1, r2 = (rd[depth] | q) >> 1;
        depth++;
        cols[depth] = c2; ld[depth] = l2; rd[depth] = r2; avail[depth] = depth == n ? 0 : all & ~(c2 | l2 | r2);
    }
    count[t] = found;
}
