/* What the language allows and compilers make of it: objects, lambdas, pointers to functions, narrow and wide numbers,
 * tensor cores, asynchronous copies, grids and barriers of the libraries. Under TWIN what the library does is written out. */
#ifdef TWIN
#include "twin.h"
#else
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <cstdio>
#include <cassert>
namespace cg = cooperative_groups;
#endif
#define K extern "C" __global__ void

/* virtual functions of objects made in the kernel */
struct shape { __device__ virtual float area() const = 0; __device__ virtual ~shape() {} };
struct circle : shape { float r; __device__ circle(float r) : r(r) {} __device__ float area() const override { return 3.0f * r * r; } };
struct rect : shape { float a, b; __device__ rect(float a, float b) : a(a), b(b) {} __device__ float area() const override { return a * b; } };
K l_virtual(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    shape *s = i % 3 ? (shape *)new rect(in[i], in[n - 1 - i]) : (shape *)new circle(in[i]);
    out[i] = s->area();
    delete s;
}

/* lambdas and templates */
template <class T, class F> __device__ T fold(const T *a, int n, T start, F f) { T s = start; for (int i = 0; i < n; i++) s = f(s, a[i]); return s; }
template <int N> struct power { static __device__ double of(double x) { return x * power<N - 1>::of(x); } };
template <> struct power<0> { static __device__ double of(double) { return 1; } };
K l_lambda(const double *a, double *out, int n, double scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto sum = [=](double s, double v) { return s + v * scale; };
    auto top = [](double s, double v) { return v > s ? v : s; };
    out[i] = i & 1 ? fold(a + i * n, n, 0.0, sum) : power<5>::of(fold(a + i * n, n, -1e30, top));
}

/* a table of functions, chosen by data; recursion */
typedef int (*step)(int, int);
__device__ int f_add(int a, int b) { return a + b; }
__device__ int f_mul(int a, int b) { return a * b; }
__device__ int f_gcd(int a, int b) { return b == 0 ? a : f_gcd(b, a % b); }
__device__ int f_ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? f_ack(m - 1, 1) : f_ack(m - 1, f_ack(m, n - 1)); }
__device__ const step steps[4] = {f_add, f_mul, f_gcd, f_ack};
K l_pointers(const int *op, const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { int o = op[i] & 3; out[i] = o == 3 ? steps[o](a[i] % 3, b[i] % 4) : steps[o](a[i], b[i]); }
}

/* 64-bit division, remainder, products, shifts; 128-bit products */
K l_wide(const long long *a, const long long *b, long long *out, unsigned long long *u, int n)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i] | 1;
    out[i] = x / y + (x % y) * 3 - (x >> (y & 63));
    unsigned long long p = (unsigned long long)x, q = (unsigned long long)y;
    u[i] = p / q ^ (p % (q >> 20 | 1)) ^ __umul64hi(p, q) ^ (unsigned long long)__mul64hi(x, y);
}

/* bits: counts, reverses, permutes, funnel shifts, fields */
K l_bits(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = a[(i + 1) % n];
    unsigned r = __popc(x) + __clz(y) * 33 + __ffs(x) * 1025 + __brev(y) + __byte_perm(x, y, 0x2714) + __funnelshift_l(x, y, x & 31) + __funnelshift_r(x, y, y) + __umulhi(x, y);
    r ^= (unsigned)__popcll((unsigned long long)x << 32 | y) + (unsigned)__clzll((unsigned long long)y * x) + __sad((int)x, (int)y, 7) + __usad(x, y, 9) + __uhadd(x, y) + __rhadd((int)x, (int)y);
    out[i] = r;
}

/* int8 dot products */
K l_dp4a(const int *a, const unsigned *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, s = 0;
    if (i >= n) return;
    for (int k = 0; k < 8; k++) s = __dp4a(a[i * 8 + k], (int)b[(i * 8 + k) % n], s);
    unsigned u = __dp4a((unsigned)a[i], b[i], 5u);
    out[i] = s + (int)u;
}

/* halves in pairs, and bf16 through conversion */
K l_half(const unsigned *a, const unsigned *b, unsigned *out, float *f, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifdef TWIN
    unsigned r = 0; float t = 0;
    for (int h = 0; h < 2; h++) {
        _Float16 x = half_of(a[i] >> 16 * h), y = half_of(b[i] >> 16 * h), z = (_Float16)((float)x + (float)y);
        z = (_Float16)((double)z * (double)x + (double)y);
        r |= (unsigned)bits_of(z) << 16 * h;
    }
    t = bf16_of((unsigned short)bf16_round((float)half_of(a[i]) * 1.5f)) + (float)half_of(b[i] >> 16);
    out[i] = r; f[i] = t;
#else
    __half2 x = *(const __half2 *)&a[i], y = *(const __half2 *)&b[i], z = __hadd2(x, y);
    z = __hfma2(z, x, y);
    out[i] = *(unsigned *)&z;
    __nv_bfloat16 g = __float2bfloat16(__low2float(x) * 1.5f);
    f[i] = __bfloat162float(g) + __high2float(y);
#endif
}

/* tensor cores: a 16x16 tile a warp, k in steps of 16 */
K l_wmma(const unsigned short *a, const unsigned short *b, float *c, int n)
{
    int w = threadIdx.x / 32, row = blockIdx.y * 16, col = (blockIdx.x * (blockDim.x / 32) + w) * 16;
#ifdef TWIN
    for (int e = threadIdx.x % 32; e < 256; e += 32) {
        float s = 0;
        for (int k = 0; k < n; k++) s += (float)half_of(a[(row + e / 16) * n + k]) * (float)half_of(b[(col + e % 16) * n + k]);
        c[(row + e / 16) * n + col + e % 16] = s;
    }
#else
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.0f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, (const __half *)a + row * n + k, n);
        wmma::load_matrix_sync(fb, (const __half *)b + col * n + k, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + row * n + col, fc, n, wmma::mem_row_major);
#endif
}

/* asynchronous copies, two stages */
K l_pipeline(const int4 *in, int *out, int tiles)
{
    __shared__ int4 s[2][64];
    int t = threadIdx.x, base = blockIdx.x * tiles * 64, sum = 0;
#ifdef TWIN
    for (int k = 0; k < tiles; k++) {
        __syncthreads(); s[k & 1][t] = in[base + k * 64 + t]; __syncthreads();
        int4 v = s[k & 1][63 - t]; sum += v.x * (k + 1) + v.y - v.z + (v.w ^ k);
    }
#else
    __pipeline_memcpy_async(&s[0][t], &in[base + t], 16); __pipeline_commit();
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) __pipeline_memcpy_async(&s[(k + 1) & 1][t], &in[base + (k + 1) * 64 + t], 16);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        int4 v = s[k & 1][63 - t]; sum += v.x * (k + 1) + v.y - v.z + (v.w ^ k);
        __syncthreads();
    }
#endif
    out[blockIdx.x * 64 + t] = sum;
}

/* cooperative groups: tiles, coalesced threads, labelled parts */
K l_groups(const int *a, int *out, int *order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef TWIN
    int lane = threadIdx.x & 31, first = i - lane, s = 0, r = 0, c = 0;
    for (int k = i & ~15; k < (i & ~15) + 16; k++) s += a[k];
    for (int k = first; k < first + 32; k++) { if (a[k] % 3 == a[i] % 3) { if (k < i) r++; c += a[k]; } }
    out[i] = a[i] & 1 ? s + c : s - c; order[i] = r;
#else
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<16> t = cg::tiled_partition<16>(b);
    int s = cg::reduce(t, a[i], cg::plus<int>());
    cg::thread_block_tile<32> w = cg::tiled_partition<32>(b);
    unsigned m = __match_any_sync(0xffffffffu, a[i] % 3);
    int c = __reduce_add_sync(m, a[i]);
    int r = 0;
    for (int k = 0; k < 3; k++)
        if (a[i] % 3 == k) { cg::coalesced_group g = cg::coalesced_threads(); r = g.thread_rank(); }
    w.sync();
    out[i] = a[i] & 1 ? s + c : s - c; order[i] = r;
#endif
}

/* a grid that waits for itself (cooperative launch), two rounds */
K l_grid(int *a, int *out, int *tmp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef TWIN
    if (i == 0) {
        for (int k = 0; k < n; k++) tmp[k] = a[k] + a[(k + 77) % n];
        for (int k = 0; k < n; k++) out[k] = tmp[k] - 2 * tmp[(k * 5 + 1) % n];
    }
#else
    unsigned *bar = (unsigned *)(tmp + n), want = gridDim.x;
    tmp[i] = a[i] + a[(i + 77) % n];
    __syncthreads();
    if (threadIdx.x == 0) {
        cuda::atomic_ref<unsigned, cuda::thread_scope_device> c(*bar);
        c.fetch_add(1, cuda::memory_order_acq_rel);
        while (c.load(cuda::memory_order_acquire) < want) { }
    }
    __syncthreads();
    out[i] = tmp[i] - 2 * tmp[(i * 5 + 1) % n];
#endif
}

/* cuda::barrier: producers and consumers in one CTA */
K l_barrier(const int *in, int *out, int rounds)
{
    __shared__ int buf[2][64];
    int t = threadIdx.x;
#ifdef TWIN
    int s = 0;
    for (int r = 0; r < rounds; r++) if (t < 64) s += in[(blockIdx.x * rounds + r) * 64 + (t ^ 1)] * (r + 1);
    if (t < 64) out[blockIdx.x * 64 + t] = s;
    (void)buf;
#else
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ cuda::barrier<cuda::thread_scope_block> full[2], empty[2];
    if (t < 2) { init(&full[t], 128); init(&empty[t], 128); }
    __syncthreads();
    if (t >= 64) {
        for (int r = 0; r < rounds; r++) {
            if (r >= 2) empty[r & 1].arrive_and_wait();
            buf[r & 1][t - 64] = in[(blockIdx.x * rounds + r) * 64 + t - 64];
            (void)full[r & 1].arrive();
        }
    } else {
        int s = 0;
        for (int r = 0; r < rounds; r++) {
            full[r & 1].arrive_and_wait();
            s += buf[r & 1][t ^ 1] * (r + 1);
            if (r + 2 < rounds) (void)empty[r & 1].arrive();
        }
        out[blockIdx.x * 64 + t] = s;
    }
#endif
}

/* linked lists made with malloc, atomically chained */
struct item { int v; struct item *next; };
K l_malloc(const int *a, int *sum, int n)
{
    __shared__ struct item *head;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) head = 0;
    __syncthreads();
    struct item *p = (struct item *)malloc(sizeof *p), *old = head, *seen;
    p->v = a[i % n];
    do { seen = old; p->next = seen; old = (struct item *)atomicCAS((unsigned long long *)&head, (unsigned long long)seen, (unsigned long long)p); } while (old != seen);
    __syncthreads();
    if (t == 0) {
        int s = 0;
        for (struct item *q = head; q;) { struct item *m = q->next; s += q->v; free(q); q = m; }
        sum[blockIdx.x] = s;
    }
}

/* doubles: the library's functions and fma chains */
K l_double(const double *a, double *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double x = a[i];
    out[i] = exp(-x) * sin(3 * x) + sqrt(x) / (1 + cbrt(x)) + pow(x, 1.7) + erf(x) + fmod(x * 17, 3.0) + hypot(x, 2.0) + atan2(x, 0.5) + tgamma(1 + x);
}
K l_floats(const float *a, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    out[i] = sinf(1000 * x) + tanf(x) + log1pf(x) + expm1f(x) + powf(x + 0.1f, 2.3f) + rsqrtf(x + 1) + erff(x) + lgammaf(x + 1) + asinf(x) + remainderf(x * 9, 0.7f) + ldexpf(x, 3) + roundf(x * 10) + cbrtf(x);
}

/* inline PTX: carries, predicates, a loop with labels, vote and permutation */
K l_inline(const unsigned *a, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = a[(i + 3) % n];
#ifdef TWIN
    unsigned long long s = ((unsigned long long)y << 32 | x) + ((unsigned long long)x << 32 | y);
    unsigned c = 0, z = x | 1;
    while (z != 1 && c < 50) { z = z & 1 ? 3 * z + 1 : z >> 1; c++; }
    out[i] = (unsigned)s ^ (unsigned)(s >> 32) ^ c ^ ((x >> 5 & 0x7ff) | (y << 11));
#else
    unsigned lo, hi, c, f;
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %3, %2;" : "=r"(lo), "=r"(hi) : "r"(x), "r"(y));
    asm("{\n\t.reg .pred p, q;\n\t.reg .u32 z, t;\n\tor.b32 z, %1, 1;\n\tmov.u32 %0, 0;\n"
        "AGAIN:\n\tsetp.eq.u32 p, z, 1;\n\tsetp.ge.or.u32 q, %0, 50, p;\n\t@q bra OUT;\n\tand.b32 t, z, 1;\n\tsetp.ne.u32 p, t, 0;\n\t@p mad.lo.u32 z, z, 3, 1;\n\t@!p shr.u32 z, z, 1;\n\tadd.u32 %0, %0, 1;\n\tbra AGAIN;\nOUT:\n\t}" : "=&r"(c) : "r"(x));
    asm("{\n\t.reg .u32 t;\n\tbfe.u32 t, %1, 5, 11;\n\tbfi.b32 %0, %2, t, 11, 21;\n\t}" : "=r"(f) : "r"(x), "r"(y));
    out[i] = lo ^ hi ^ c ^ f;
#endif
}

/* vectors of 16 bytes and structures with padding, 64-bit indices */
struct rec { char c; short s; double d; int v[3]; };
K l_struct(const struct rec *a, struct rec *b, const int4 *v, int4 *w, unsigned long long n)
{
    for (unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x; i < n; i += (unsigned long long)gridDim.x * blockDim.x) {
        struct rec r = a[n - 1 - i];
        b[i].c = (char)(r.c + 1); b[i].s = (short)(r.s * 3); b[i].d = r.d * 0.5; b[i].v[0] = r.v[2]; b[i].v[1] = r.v[0]; b[i].v[2] = r.v[1];
        int4 q = v[i]; int t = q.x; q.x = q.w; q.w = t; w[i] = q;
    }
}

/* byte and short text: a kernel that counts words by votes */
K l_words(const unsigned char *text, int n, int *starts, unsigned *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    bool letter = i < n && text[i] > 32, before = i > 0 && i <= n && text[i - 1] > 32;
    unsigned m = __ballot_sync(0xffffffffu, letter && !before);
    if (lane == 0) { starts[i / 32] = m ? __ffs(m) - 1 : -1; atomicAdd(total, (unsigned)__popc(m)); }
    if (__all_sync(0xffffffffu, !letter) && lane == 0) starts[i / 32] = -2;
}

/* printf and an assertion that holds */
K l_print(const int *a, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
#ifndef TWIN
    assert(a[i] >= 0);
    if (i == 5) printf("%d of %s: %5.2f %c %llx\n", a[i], "five", a[i] * 0.5, 'x', (unsigned long long)a[i] << 32);
#endif
    out[i] = a[i] * 2;
}

/* threads of one warp that wait for one another: a lock per bucket, and early exits */
K l_locks(const int *key, int *lock, int *sum, int *count, int n, int buckets)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int b = key[i] % buckets;
    bool done = false;
    while (!done)
        if (atomicCAS(&lock[b], 0, 1) == 0) {
            *(volatile int *)&sum[b] += key[i];
            *(volatile int *)&count[b] += 1;
            __threadfence();
            atomicExch(&lock[b], 0);
            done = true;
        }
}

/* atomics of all types on shared and global memory; the order does not show */
K l_atomics(const int *a, int *o, unsigned long long *o64, float *of, int n)
{
    __shared__ int s[4];
    __shared__ unsigned long long w;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t < 4) s[t] = t == 2 ? 0x7fffffff : 0;
    if (t == 0) w = 0;
    __syncthreads();
    int v = a[i % n];
    atomicAdd(&s[0], v); atomicMax(&s[1], v); atomicMin(&s[2], v); atomicXor(&s[3], v * 31); atomicAdd(&w, (unsigned long long)v * v);
    atomicOr((unsigned *)&o[4], 1u << (v & 31)); atomicInc((unsigned *)&o[5], 1000); atomicAdd(of, (float)(v & 7));
    __syncthreads();
    if (t < 4) { if (t == 0) atomicAdd(&o[0], s[0]); else if (t == 1) atomicMax(&o[1], s[1]); else if (t == 2) atomicMin(&o[2], s[2]); else atomicXor(&o[3], s[3]); }
    if (t == 0) { atomicAdd(o64, w); atomicMax(o64 + 1, w); }
}
