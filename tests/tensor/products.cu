/* Products as people tune them (nvcc -ptx -arch=compute_80, .version lowered to 7.4): f16 by ldmatrix and mma.sync,
 * attention in one pass, and quantised weights by dp4a and by mma of bytes. Sizes are multiples of the tiles. */
typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

static __device__ u32 shared_address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}
static __device__ void copy16(u32 to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
static __device__ void commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int n> static __device__ void wait_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory");
}
static __device__ void load4(u32 (&r)[4], u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at) : "memory");
}
static __device__ void load4_turned(u32 (&r)[4], u32 at)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at) : "memory");
}
static __device__ void mma_f16(float (&d)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ void mma_s8(int (&d)[4], const u32 (&a)[4], u32 b0, u32 b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
static __device__ u32 two_halves(float x, float y)
{
    u32 r;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(y), "f"(x));
    return r;
}

/* Row r of a tile of 64-byte rows, its 16 bytes number c: swizzled over four units and pairs of rows. */
static __device__ u32 place64(int r, int c)
{
    return r * 64 + ((c ^ (r >> 1 & 3)) << 4);
}
/* The same of 128-byte rows. */
static __device__ u32 place128(int r, int c)
{
    return r * 128 + ((c ^ (r & 7)) << 4);
}

/* C[M][N] (f32) = A[M][K] B[N][K]^T, tiles of 128 x 128 x 32, three stages, 256 threads: warps of 64 x 32. */
extern "C" __global__ __launch_bounds__(256) void gemm_mma(const u16 *__restrict__ A, const u16 *__restrict__ B,
                                                          float *__restrict__ C, int n, int k)
{
    enum { STAGES = 3, TILE = 128 * 64 };
    __shared__ __align__(128) char ring[STAGES * 2 * TILE];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, wm = warp / 4 * 64, wn = warp % 4 * 32, steps = k / 32;
    u32 base = shared_address(ring);
    const u16 *a = A + (u64)(blockIdx.y * 128 + t / 4) * k + t % 4 * 8, *b = B + (u64)(blockIdx.x * 128 + t / 4) * k + t % 4 * 8;
    u32 to = place64(t / 4, t % 4);
    float d[4][4][4] = {};
#define FILL(i)                                                        \
    do {                                                               \
        u32 s = base + (i) % STAGES * 2 * TILE + to;                   \
        copy16(s, a + (i) * 32);                                       \
        copy16(s + 64 * 64, a + (u64)64 * k + (i) * 32);               \
        copy16(s + TILE, b + (i) * 32);                                \
        copy16(s + TILE + 64 * 64, b + (u64)64 * k + (i) * 32);        \
    } while (0)
    for (int i = 0; i < STAGES - 1; i++) {
        FILL(i);
        commit();
    }
    for (int i = 0; i < steps; i++) {
        wait_copies<STAGES - 2>();
        __syncthreads();
        if (i + STAGES - 1 < steps)
            FILL(i + STAGES - 1);
        commit();
        u32 s = base + i % STAGES * 2 * TILE;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            u32 fa[4][4], fb[2][4];
#pragma unroll
            for (int m = 0; m < 4; m++)
                load4(fa[m], s + place64(wm + m * 16 + lane % 16, kk * 2 + lane / 16));
#pragma unroll
            for (int j = 0; j < 2; j++)
                load4(fb[j], s + TILE + place64(wn + j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
#pragma unroll
            for (int m = 0; m < 4; m++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    mma_f16(d[m][j], fa[m], fb[j / 2][j % 2 * 2], fb[j / 2][j % 2 * 2 + 1]);
        }
    }
    for (int m = 0; m < 4; m++)
        for (int j = 0; j < 4; j++) {
            float *c = C + (u64)(blockIdx.y * 128 + wm + m * 16 + lane / 4) * n + blockIdx.x * 128 + wn + j * 8 + lane % 4 * 2;
            *(float2 *)c = make_float2(d[m][j][0], d[m][j][1]);
            *(float2 *)(c + (u64)8 * n) = make_float2(d[m][j][2], d[m][j][3]);
        }
}

/* O = softmax(Q K^T / 8) V of every head: Q, K, V, O[heads][length][64] f16. 64 rows of Q a CTA of four warps. */
extern "C" __global__ __launch_bounds__(128) void attention_mma(const u16 *__restrict__ Q, const u16 *__restrict__ K,
                                                               const u16 *__restrict__ V, u16 *__restrict__ O,
                                                               int length)
{
    enum { TILE = 64 * 128 };
    __shared__ __align__(128) char room[5 * TILE]; /* Q, two stages of K and V */
    int t = threadIdx.x, lane = t % 32, warp = t / 32, steps = length / 64;
    u32 base = shared_address(room);
    u64 head = (u64)blockIdx.y * length * 64;
    const u16 *q = Q + head + (u64)blockIdx.x * 64 * 64;
    const float scale = 0.125f * 1.44269504f;
#define TAKE(to, from)                                                                    \
    for (int u = t; u < 512; u += 128)                                                    \
    copy16((to) + place128(u / 8, u % 8), (from) + u * 8)
    TAKE(base, q);
    TAKE(base + TILE, K + head);
    TAKE(base + 2 * TILE, V + head);
    commit();
    u32 fq[4][4];
    float o[8][4] = {}, most[2] = { -1e30f, -1e30f }, sum[2] = { 0, 0 };
    for (int i = 0; i < steps; i++) {
        if (i + 1 < steps) {
            u32 s = base + TILE + (i + 1) % 2 * 2 * TILE;
            TAKE(s, K + head + (u64)(i + 1) * 64 * 64);
            TAKE(s + TILE, V + head + (u64)(i + 1) * 64 * 64);
        }
        commit();
        wait_copies<1>();
        __syncthreads();
        u32 s = base + TILE + i % 2 * 2 * TILE;
        if (i == 0)
#pragma unroll
            for (int kk = 0; kk < 4; kk++)
                load4(fq[kk], base + place128(warp * 16 + lane % 16, kk * 2 + lane / 16));
        float c[8][4] = {};
#pragma unroll
        for (int kk = 0; kk < 4; kk++)
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 fk[4];
                load4(fk, s + place128(j * 16 + lane % 8 + lane / 16 * 8, kk * 2 + lane / 8 % 2));
                mma_f16(c[2 * j], fq[kk], fk[0], fk[1]);
                mma_f16(c[2 * j + 1], fq[kk], fk[2], fk[3]);
            }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float m = most[h];
#pragma unroll
            for (int j = 0; j < 8; j++)
                m = fmaxf(m, fmaxf(c[j][2 * h], c[j][2 * h + 1]));
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
            m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
            float by = exp2f((most[h] - m) * scale), all = 0;
#pragma unroll
            for (int j = 0; j < 8; j++)
#pragma unroll
                for (int e = 2 * h; e < 2 * h + 2; e++) {
                    c[j][e] = exp2f((c[j][e] - m) * scale);
                    all += c[j][e];
                    o[j][e] *= by;
                }
            sum[h] = sum[h] * by + all;
            most[h] = m;
        }
#pragma unroll
        for (int kk = 0; kk < 4; kk++) {
            u32 fp[4] = { two_halves(c[2 * kk][0], c[2 * kk][1]), two_halves(c[2 * kk][2], c[2 * kk][3]),
                          two_halves(c[2 * kk + 1][0], c[2 * kk + 1][1]), two_halves(c[2 * kk + 1][2], c[2 * kk + 1][3]) };
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 fv[4];
                load4_turned(fv, s + TILE + place128(kk * 16 + lane % 16, j * 2 + lane / 16));
                mma_f16(o[2 * j], fp, fv[0], fv[1]);
                mma_f16(o[2 * j + 1], fp, fv[2], fv[3]);
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
        sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
        u32 *to = (u32 *)(O + head + (u64)(blockIdx.x * 64 + warp * 16 + lane / 4 + 8 * h) * 64 + lane % 4 * 2);
#pragma unroll
        for (int j = 0; j < 8; j++)
            to[j * 4] = two_halves(o[j][2 * h] / sum[h], o[j][2 * h + 1] / sum[h]);
    }
}

/* Weights of 4 bits in blocks of 32 with a scale (as q4_0), activations of 8 bits with a scale (as q8_1, without its
 * sum: the offset of 8 is taken off the weights). C[N][M] f32. Tiles of 64 rows x 64 columns x 64 of k. */
static __device__ u32 low_nibbles(u32 w)
{
    return __vsubss4(w & 0x0f0f0f0fu, 0x08080808u);
}
extern "C" __global__ __launch_bounds__(256) void quant_dp4a(const u32 *__restrict__ W, const float *__restrict__ SW,
                                                            const u32 *__restrict__ X, const float *__restrict__ SX,
                                                            float *__restrict__ C, int m, int k)
{
    __shared__ u32 w[64][17], x[64][17];
    __shared__ float sw[64][3], sx[64][3];
    int t = threadIdx.x, tx = t % 16, ty = t / 16, row = blockIdx.x * 64, col = blockIdx.y * 64;
    float c[4][4] = {};
    for (int at = 0; at < k; at += 64) {
        for (int u = t; u < 64 * 8; u += 256) {
            int r = u / 8, b = u % 8;
            u32 v = W[(u64)(row + r) * (k / 8) + at / 8 + b];
            w[r][b / 4 * 8 + b % 4] = low_nibbles(v);
            w[r][b / 4 * 8 + b % 4 + 4] = low_nibbles(v >> 4);
        }
        for (int u = t; u < 64 * 16; u += 256)
            x[u / 16][u % 16] = X[(u64)(col + u / 16) * (k / 4) + at / 4 + u % 16];
        if (t < 128)
            sw[t / 2][t % 2] = SW[(u64)(row + t / 2) * (k / 32) + at / 32 + t % 2];
        else
            sx[(t - 128) / 2][t % 2] = SX[(u64)(col + (t - 128) / 2) * (k / 32) + at / 32 + t % 2];
        __syncthreads();
#pragma unroll
        for (int b = 0; b < 2; b++)
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    int s = 0;
#pragma unroll
                    for (int q = 0; q < 8; q++)
                        s = __dp4a((int)w[tx + 16 * i][b * 8 + q], (int)x[ty + 16 * j][b * 8 + q], s);
                    c[i][j] += (float)s * sw[tx + 16 * i][b] * sx[ty + 16 * j][b];
                }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            C[(u64)(col + ty + 16 * j) * m + row + tx + 16 * i] = c[i][j];
}

/* The same from bytes by mma: W[M][K], X[N][K] s8, a scale for every 32 of k. 128 x 64 a CTA of eight warps. */
extern "C" __global__ __launch_bounds__(256) void quant_mma(const signed char *__restrict__ W, const float *__restrict__ SW,
                                                           const signed char *__restrict__ X,
                                                           const float *__restrict__ SX, float *__restrict__ C, int m,
                                                           int k)
{
    __shared__ __align__(128) char room[(128 + 64) * 64];
    __shared__ float sw[128][2], sx[64][2];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row = blockIdx.x * 128, col = blockIdx.y * 64;
    u32 base = shared_address(room);
    float c[8][4] = {};
    for (int at = 0; at < k; at += 64) {
        for (int u = t; u < 192 * 4; u += 256) {
            const signed char *from = u < 512 ? W + (u64)(row + u / 4) * k : X + (u64)(col + u / 4 - 128) * k;
            copy16(base + place64(u / 4, u % 4), from + at + u % 4 * 16);
        }
        commit();
        sw[t / 2][t % 2] = SW[(u64)(row + t / 2) * (k / 32) + at / 32 + t % 2];
        if (t < 128)
            sx[t / 2][t % 2] = SX[(u64)(col + t / 2) * (k / 32) + at / 32 + t % 2];
        wait_copies<0>();
        __syncthreads();
#pragma unroll
        for (int b = 0; b < 2; b++) {
            u32 fa[4];
            load4(fa, base + place64(warp * 16 + lane % 16, b * 2 + lane / 16));
            float s0 = sw[warp * 16 + lane / 4][b], s1 = sw[warp * 16 + lane / 4 + 8][b];
#pragma unroll
            for (int j = 0; j < 4; j++) {
                u32 fb[4];
                load4(fb, base + 128 * 64 + place64(j * 16 + lane % 8 + lane / 16 * 8, b * 2 + lane / 8 % 2));
#pragma unroll
                for (int h = 0; h < 2; h++) {
                    int d[4] = {};
                    mma_s8(d, fa, fb[2 * h], fb[2 * h + 1]);
                    float x0 = sx[j * 16 + h * 8 + lane % 4 * 2][b], x1 = sx[j * 16 + h * 8 + lane % 4 * 2 + 1][b];
                    float *e = c[2 * j + h];
                    e[0] += (float)d[0] * s0 * x0;
                    e[1] += (float)d[1] * s0 * x1;
                    e[2] += (float)d[2] * s1 * x0;
                    e[3] += (float)d[3] * s1 * x1;
                }
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int e = 0; e < 4; e++)
            C[(u64)(col + j * 8 + lane % 4 * 2 + e % 2) * m + row + warp * 16 + lane / 4 + e / 2 * 8] = c[j][e];
}
