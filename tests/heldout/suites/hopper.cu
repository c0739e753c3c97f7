/* What libraries for the newer parts do: tensor cores by hand, clusters that read each other's shared memory, bulk copies that
 * barriers wait for, narrow floats, packed numbers, dynamic programming's instructions, words of 128 bits. Under TWIN all is plain. */
#ifdef TWIN
#include "twin.h"
#else
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
namespace cg = cooperative_groups;
#endif
#define K extern "C" __global__ void
#define ME (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long u64;

/* attention of one head, 16 queries a warp, keys by tiles of 16, products by mma, tiles by ldmatrix */
#ifndef TWIN
static __device__ void mma16816(float c[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
#define LDM(x4t, r, p) asm volatile("ldmatrix.sync.aligned.m8n8.x4" x4t ".shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3]) : "r"((unsigned)__cvta_generic_to_shared(p)))
#endif
K h_flash(const unsigned short *q, const unsigned short *k, const unsigned short *v, float *o, int keys, float scale)
{
#ifdef TWIN
    int lane = threadIdx.x % 32, w = ME / 32;
    if (lane >= 16) return;
    int row = w * 16 + lane;
    double s[256], best = -1e30, sum = 0;
    for (int j = 0; j < keys; j++) {
        s[j] = 0;
        for (int d = 0; d < 32; d++) s[j] += (double)(float)half_of(q[row * 32 + d]) * (float)half_of(k[j * 32 + d]);
        s[j] *= scale; best = max(best, s[j]);
    }
    for (int j = 0; j < keys; j++) sum += s[j] = exp(s[j] - best);
    for (int d = 0; d < 32; d++) { double t = 0; for (int j = 0; j < keys; j++) t += s[j] * (float)half_of(v[j * 32 + d]); o[row * 32 + d] = (float)(t / sum); }
#else
    __shared__ __align__(16) unsigned short sq[4][16][40], sk[2][16][40], sv[2][16][40];
    int lane = threadIdx.x % 32, wi = threadIdx.x / 32, w = ME / 32;
    for (int i = lane; i < 16 * 4; i += 32) *(uint4 *)&sq[wi][i / 4][i % 4 * 8] = *(const uint4 *)&q[(w * 16 + i / 4) * 32 + i % 4 * 8];
    auto stage = [&](int t) {
        for (int i = threadIdx.x; i < 128; i += blockDim.x) {
            int r = i % 64 / 4, c = i % 4 * 8;
            const unsigned short *from = (i < 64 ? k : v) + (t * 16 + r) * 32 + c;
            unsigned to = (unsigned)__cvta_generic_to_shared(i < 64 ? &sk[t & 1][r][c] : &sv[t & 1][r][c]);
            asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(to), "l"(from));
        }
        asm volatile("cp.async.commit_group;");
    };
    stage(0);
    __syncwarp();
    unsigned a[2][4];
    for (int h = 0; h < 2; h++) LDM("", a[h], &sq[wi][lane % 16][h * 16 + lane / 16 * 8]);
    float acc[4][4] = {}, top[2] = {-1e30f, -1e30f}, sum[2] = {0, 0};
    int tiles = keys / 16;
    for (int t = 0; t < tiles; t++) {
        if (t + 1 < tiles) { stage(t + 1); asm volatile("cp.async.wait_group 1;"); } else asm volatile("cp.async.wait_group 0;");
        __syncthreads();
        float s[2][4] = {};
        for (int n = 0; n < 2; n++) {
            unsigned b[4];
            LDM("", b, &sk[t & 1][n * 8 + lane % 8][lane / 8 * 8]);
            mma16816(s[n], a[0], b[0], b[1]);
            mma16816(s[n], a[1], b[2], b[3]);
        }
        unsigned p[4];
        for (int h = 0; h < 2; h++) {
            float m = fmaxf(fmaxf(s[0][2 * h], s[0][2 * h + 1]), fmaxf(s[1][2 * h], s[1][2 * h + 1])) * scale;
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 1)); m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
            float now = fmaxf(top[h], m), fix = __expf(top[h] - now);
            top[h] = now; sum[h] *= fix;
            for (int d = 0; d < 4; d++) { acc[d][2 * h] *= fix; acc[d][2 * h + 1] *= fix; }
            for (int n = 0; n < 2; n++) {
                __half2 e = __floats2half2_rn(__expf(s[n][2 * h] * scale - now), __expf(s[n][2 * h + 1] * scale - now));
                p[h + 2 * n] = *(unsigned *)&e;
                sum[h] += __low2float(e) + __high2float(e);
            }
        }
        for (int d = 0; d < 2; d++) {
            unsigned b[4];
            LDM(".trans", b, &sv[t & 1][lane % 16][d * 16 + lane / 16 * 8]);
            mma16816(acc[2 * d], p, b[0], b[1]);
            mma16816(acc[2 * d + 1], p, b[2], b[3]);
        }
        __syncthreads();
    }
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1); sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        for (int d = 0; d < 4; d++) {
            float2 r = {acc[d][2 * h] / sum[h], acc[d][2 * h + 1] / sum[h]};
            *(float2 *)&o[(w * 16 + lane / 4 + 8 * h) * 32 + d * 8 + lane % 4 * 2] = r;
        }
    }
#endif
}

/* bytes multiplied by tensor cores: 16 by 8 a warp */
K h_int8(const signed char *a, const signed char *b, int *c, int n, int kk)
{
    int lane = threadIdx.x % 32, w = ME / 32, r0 = w / (n / 8) * 16, c0 = w % (n / 8) * 8;
    int s[4] = {0, 0, 0, 0};
#ifdef TWIN
    for (int e = 0; e < 4; e++) for (int k = 0; k < kk; k++) s[e] += a[(r0 + lane / 4 + e / 2 * 8) * kk + k] * b[(c0 + lane % 4 * 2 + e % 2) * kk + k];
#else
    for (int k = 0; k < kk; k += 32) {
        const signed char *p = a + (r0 + lane / 4) * kk + k + lane % 4 * 4, *q = b + (c0 + lane / 4) * kk + k + lane % 4 * 4;
        asm("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3])
            : "r"(*(const int *)p), "r"(*(const int *)(p + 8 * kk)), "r"(*(const int *)(p + 16)), "r"(*(const int *)(p + 8 * kk + 16)), "r"(*(const int *)q), "r"(*(const int *)(q + 16)));
    }
#endif
    for (int e = 0; e < 4; e++) c[(r0 + lane / 4 + e / 2 * 8) * n + c0 + lane % 4 * 2 + e % 2] = s[e];
}

/* a histogram over a cluster: each CTA keeps some bins in its shared memory, the others add to them there */
#ifdef TWIN
K h_cluster(const unsigned *in, unsigned *hist, int n, int bins)
{
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) atomicAdd(&hist[in[i] % bins], 1u);
}
#else
extern "C" __global__ void __cluster_dims__(4, 1, 1) h_cluster(const unsigned *in, unsigned *hist, int n, int bins)
{
    __shared__ unsigned part[64];
    cg::cluster_group c = cg::this_cluster();
    unsigned each = bins / c.num_blocks();
    for (unsigned i = threadIdx.x; i < each; i += blockDim.x) part[i] = 0;
    c.sync();
    for (int i = ME; i < n; i += gridDim.x * blockDim.x) {
        unsigned b = in[i] % bins;
        atomicAdd(c.map_shared_rank(part, b / each) + b % each, 1u);
    }
    c.sync();
    for (unsigned i = threadIdx.x; i < each; i += blockDim.x) atomicAdd(&hist[c.block_rank() * each + i], part[i]);
}
#endif

/* narrow floats: both kinds of eight bits there and back */
K h_fp8(const float *in, unsigned char *e4, unsigned char *e5, float *back, int n)
{
    int i = ME;
    if (i >= n) return;
#ifdef TWIN
    for (int kind = 0; kind < 2; kind++) {
        int man = kind ? 2 : 3, bias = kind ? 15 : 7;
        double top = kind ? 57344.0 : 448.0, best = 0, bd = 1e300, x = fabs((double)in[i]);
        unsigned code = 0;
        for (unsigned c = 0; c < 127u; c++) {
            int e = c >> man, m = c & ((1 << man) - 1);
            double v = e ? ldexp(1 + m / (double)(1 << man), e - bias) : ldexp(m / (double)(1 << man), 1 - bias);
            if (v > top) continue;
            double d = fabs(v - x);
            if (d < bd || (d == bd && c % 2 == 0)) { bd = d; code = c; best = v; }
        }
        if (in[i] < 0) { code |= 128; best = -best; }
        (kind ? e5 : e4)[i] = (unsigned char)code;
        if (kind) back[i] += (float)best; else back[i] = (float)best;
    }
#else
    e4[i] = (unsigned char)__nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E4M3);
    e5[i] = (unsigned char)__nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E5M2);
    back[i] = __half2float(__half(__nv_cvt_fp8_to_halfraw(e4[i], __NV_E4M3))) + __half2float(__half(__nv_cvt_fp8_to_halfraw(e5[i], __NV_E5M2)));
#endif
}

/* alignment by the instructions for dynamic programming, two scores a word */
K h_dpx(const int *sub, int *best, int len, int rows, int n)
{
    int i = ME;
    if (i >= n) return;
    int h[8];
    for (int k = 0; k < 8; k++) h[k] = 0;
    int top = 0;
#ifdef TWIN
#define LO(x) (short)((x) & 0xffff)
#define HI(x) (short)((x) >> 16)
    auto pack = [](int a, int b) { return (int)((unsigned)(a & 0xffff) | (unsigned)b << 16); };
    auto add = [&](int a, int b) { return pack((short)(LO(a) + LO(b)), (short)(HI(a) + HI(b))); };
    auto mx = [&](int a, int b) { return pack(max(LO(a), LO(b)), max(HI(a), HI(b))); };
#else
    (void)0;
#endif
    for (int r = 0; r < rows; r++) {
        int diag = 0, left = 0;
        for (int k = 0; k < 8; k++) {
            int s = sub[(i * rows + r) * len + k % len], up = h[k];
#ifdef TWIN
            int v = add(diag, s), g = add(mx(up, left), pack(-3, -3));
            v = mx(mx(v, g), 0);
            top = mx(top, v);
#else
            int g = __viaddmax_s16x2(left, 0xfffdfffd, (int)__vadd2(up, 0xfffdfffd));
            int v = __viaddmax_s16x2_relu(diag, s, g);
            top = __vimax3_s16x2(top, v, v);
#endif
            diag = up; left = v; h[k] = v;
        }
    }
    best[i] = top;
}

/* records of 16 bytes in an open table, claimed by compare-and-swap of 128 bits */
K h_cas128(const u64 *key, u64 *table, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    u64 k = key[i];
    for (unsigned at = (unsigned)(k * 0x9E3779B97F4A7C15ull >> 40) & mask;; at = (at + 1) & mask) {
#ifdef TWIN
        if (table[at * 2] == 0) { table[at * 2] = k; table[at * 2 + 1] = 0; }
        if (table[at * 2] == k) { table[at * 2 + 1] += 1 + i; return; }
#else
        u64 lo = 0, hi = 0;
        for (;;) {
            u64 nlo = k, nhi = lo == k ? hi + 1 + i : (u64)(1 + i), olo, ohi;
            if (lo && lo != k) break;
            asm volatile("{ .reg .b128 o, c, s; mov.b128 c, {%3, %4}; mov.b128 s, {%5, %6}; atom.global.relaxed.gpu.cas.b128 o, [%2], c, s; mov.b128 {%0, %1}, o; }"
                         : "=l"(olo), "=l"(ohi) : "l"(table + at * 2), "l"(lo), "l"(hi), "l"(nlo), "l"(nhi) : "memory");
            if (olo == lo && ohi == hi) return;
            lo = olo; hi = ohi;
        }
#endif
    }
}
K h_cas128_read(const u64 *key, const u64 *table, u64 *out, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    u64 k = key[i];
    for (unsigned at = (unsigned)(k * 0x9E3779B97F4A7C15ull >> 40) & mask; table[at * 2]; at = (at + 1) & mask)
        if (table[at * 2] == k) { out[i] = table[at * 2 + 1]; return; }
}

/* rows brought in bulk, a barrier counts their bytes; two stages, one thread asks */
K h_bulk(const float *in, float *out, int rows, int width)
{
#ifdef TWIN
    if (threadIdx.x >= (unsigned)width) return;
    float s = 0;
    for (int r = blockIdx.x; r < rows; r += gridDim.x) s = s * 0.5f + in[r * width + threadIdx.x];
    out[blockIdx.x * width + threadIdx.x] = s;
#else
    __shared__ __align__(128) float row[2][256];
    __shared__ u64 bar[2];
    unsigned b0 = (unsigned)__cvta_generic_to_shared(bar), bytes = width * 4;
    if (threadIdx.x == 0) {
        for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b0 + 8 * k));
        asm volatile("fence.proxy.async.shared::cta;");
    }
    __syncthreads();
    auto ask = [&](int r, int k) {
        unsigned to = (unsigned)__cvta_generic_to_shared(row[k]);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b0 + 8 * k), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(in + r * width), "r"(bytes), "r"(b0 + 8 * k) : "memory");
    };
    if (threadIdx.x == 0 && blockIdx.x < rows) ask(blockIdx.x, 0);
    float s = 0;
    int turn = 0;
    for (int r = blockIdx.x; r < rows; r += gridDim.x, turn++) {
        int k = turn & 1, next = r + gridDim.x;
        if (threadIdx.x == 0 && next < rows) ask(next, 1 - k);
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra D; bra W; D: }" ::"r"(b0 + 8 * k), "r"(turn >> 1 & 1) : "memory");
        if (threadIdx.x < (unsigned)width) s = s * 0.5f + row[k][threadIdx.x];
        __syncthreads();
    }
    if (threadIdx.x < (unsigned)width) out[blockIdx.x * width + threadIdx.x] = s;
#endif
}

/* scans and groups of the library: parts of a warp by label, those that are here, one that goes first */
K h_groups(const int *in, int *scan, int *label, unsigned *taken, int n)
{
    int i = ME;
#ifdef TWIN
    int b = threadIdx.x / 16 * 16 + blockIdx.x * blockDim.x, s = 0, m = 0;
    for (int k = b; k <= i; k++) s += in[k];
    scan[i] = s;
    int w = i / 32 * 32;
    for (int k = w; k < w + 32; k++) if (in[k] % 3 == in[i] % 3) m += in[k];
    label[i] = m;
    if (in[i] > 5) atomicAdd(&taken[in[i] % 4], 1u);
#else
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    scan[i] = cg::inclusive_scan(tile, in[i]);
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    auto part = cg::labeled_partition(warp, in[i] % 3);
    label[i] = cg::reduce(part, in[i], cg::plus<int>());
    if (in[i] > 5) {
        auto here = cg::coalesced_threads();
        auto same = cg::labeled_partition(here, in[i] % 4);
        if (same.thread_rank() == 0) atomicAdd(&taken[in[i] % 4], same.size());
    }
#endif
}

/* a producer warp and consumers, a pipeline of the library between them */
K h_roles(const int *in, int *out, int tiles)
{
#ifdef TWIN
    if (threadIdx.x < 32) return;
    int t = threadIdx.x - 32, s = 0;
    for (int k = 0; k < tiles; k++) s = s * 3 + in[(blockIdx.x * tiles + k) * 96 + t] - in[(blockIdx.x * tiles + k) * 96 + (t + 7) % 96];
    out[blockIdx.x * 96 + t] = s;
#else
    __shared__ int buf[3][96];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 3> state;
    auto block = cg::this_thread_block();
    auto role = threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
    auto pipe = cuda::make_pipeline(block, &state, role);
    if (threadIdx.x < 32) {
        for (int k = 0; k < tiles; k++) {
            pipe.producer_acquire();
            for (int i = threadIdx.x; i < 96; i += 32) cuda::memcpy_async(&buf[k % 3][i], &in[(blockIdx.x * tiles + k) * 96 + i], sizeof(int), pipe);
            pipe.producer_commit();
        }
    } else {
        int t = threadIdx.x - 32, s = 0;
        for (int k = 0; k < tiles; k++) {
            pipe.consumer_wait();
            s = s * 3 + buf[k % 3][t] - buf[k % 3][(t + 7) % 96];
            pipe.consumer_release();
        }
        out[blockIdx.x * 96 + t] = s;
    }
#endif
}

/* rows made of mean nought and size one, two bfloats a word, eight a load */
K h_norm(const unsigned *in, unsigned *out, int width)
{
#ifdef TWIN
    if (threadIdx.x) return;
    const unsigned *p = in + blockIdx.x * width / 2;
    for (int i = 0; i < width / 2; i++) {
        unsigned short h[2];
        for (int k = 0; k < 2; k++) { float x = bf16_of((unsigned short)(p[i] >> 16 * k)); x = bf16_of(bf16_round(x * 0.5f)); h[k] = bf16_round(fmaxf(x, 0.125f)); }
        out[blockIdx.x * width / 2 + i] = h[0] | (unsigned)h[1] << 16;
    }
#else
    const uint4 *p = (const uint4 *)(in + blockIdx.x * width / 2);
    for (int i = threadIdx.x; i < width / 8; i += blockDim.x) {
        uint4 v = p[i];
        __nv_bfloat162 *b = (__nv_bfloat162 *)&v;
        for (int k = 0; k < 4; k++) b[k] = __hmax2(__hmul2(b[k], __float2bfloat162_rn(0.5f)), __float2bfloat162_rn(0.125f));
        ((uint4 *)(out + blockIdx.x * width / 2))[i] = v;
    }
#endif
}

/* a knapsack, an item a step, the grid meets between steps */
K h_grid(const int *weight, const int *value, int *best, int items, int room)
{
#ifdef TWIN
    if (ME == 0)
        for (int k = 0; k < items; k++) { int *from = best + (k & 1) * (room + 1), *to = best + (1 - (k & 1)) * (room + 1); for (int c = 0; c <= room; c++) to[c] = c >= weight[k] ? max(from[c], from[c - weight[k]] + value[k]) : from[c]; }
#else
    cg::grid_group g = cg::this_grid();
    for (int k = 0; k < items; k++) {
        int *from = best + (k & 1) * (room + 1), *to = best + (1 - (k & 1)) * (room + 1);
        for (int c = (int)g.thread_rank(); c <= room; c += (int)g.size()) to[c] = c >= weight[k] ? max(from[c], from[c - weight[k]] + value[k]) : from[c];
        g.sync();
    }
#endif
}

/* halos of a row passed to the neighbours' shared memory by asynchronous stores that count on their barriers */
#ifdef TWIN
K h_halo(const int *in, int *out, int steps)
{
    static int row[2][1024];
    int n = gridDim.x * blockDim.x;
    if (ME) return;
    for (int i = 0; i < n; i++) row[0][i] = in[i];
    for (int s = 0; s < steps; s++)
        for (int i = 0; i < n; i++) { int l = i ? row[s & 1][i - 1] : 0, r = i + 1 < n ? row[s & 1][i + 1] : 0; row[1 - (s & 1)][i] = l + 2 * row[s & 1][i] - r; }
    for (int i = 0; i < n; i++) out[i] = row[steps & 1][i];
}
#else
extern "C" __global__ void __cluster_dims__(4, 1, 1) h_halo(const int *in, int *out, int steps)
{
    __shared__ int row[66], halo[2][2];
    __shared__ u64 bar[2];
    unsigned me, b0 = (unsigned)__cvta_generic_to_shared(bar), h0 = (unsigned)__cvta_generic_to_shared(halo);
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
    int t = threadIdx.x;
    unsigned two = (me > 0) + (me < 3);
    if (t == 0) for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b0 + 8 * k));
    if (t < 4) halo[t / 2][t % 2] = 0;
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    int v = in[ME];
    for (int s = 0; s < steps; s++) {
        int k = s & 1;
        if (t == 0) asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(b0 + 8 * k), "r"(4 * two) : "memory");
        int side = t == 0 && me > 0 ? -1 : t == 63 && me < 3 ? 1 : 0;
        if (side) {
            unsigned to, bb;
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(h0 + 8 * k + (side < 0 ? 4 : 0)), "r"(me + side));
            asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(bb) : "r"(b0 + 8 * k), "r"(me + side));
            asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(to), "r"(v), "r"(bb) : "memory");
        }
        row[t + 1] = v;
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @p bra D; bra W; D: }" ::"r"(b0 + 8 * k), "r"(s >> 1 & 1) : "memory");
        if (t == 0) { row[0] = me > 0 ? halo[k][0] : 0; row[65] = me < 3 ? halo[k][1] : 0; }
        __syncthreads();
        v = row[t] + 2 * row[t + 1] - row[t + 2];
        asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
    out[ME] = v;
}
#endif

/* a kernel that starts before the one it waits for has ended; sums by the warp's own instruction */
K h_early(const unsigned *in, unsigned *out, int n)
{
    int i = ME;
#ifndef TWIN
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
    unsigned v = i < n ? in[i] : 0, s, a, x;
#ifdef TWIN
    int w = i / 32 * 32; s = 0; a = ~0u; x = 0;
    for (int k = w; k < w + 32; k++) { unsigned y = k < n ? in[k] : 0; s += y; a &= y; x = max(x, y); }
#else
    s = __reduce_add_sync(~0u, v); a = __reduce_and_sync(~0u, v); x = __reduce_max_sync(~0u, v);
    asm volatile("griddepcontrol.launch_dependents;");
#endif
    if (i < n) out[i] = s ^ a * 3 ^ x * 5 ^ v;
}
