/* Kernels in the style of the public benchmark suites (Rodinia, SHOC, PolyBench, CUDA samples), written for the
 * simulated device: test_sim_exec_apps.c computes what each must leave, in plain C. Built with
 *   nvcc -arch=compute_75 -ptx -o apps.ptx apps.cu
 *   nvcc -arch=compute_75 -G -ptx -o apps_debug.ptx apps.cu     (less its debug sections and the folders of its files)
 * Parameters: up to four pointers, then up to four integers. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;
#define KERNEL extern "C" __global__ void

/* Rodinia hotspot: one step of a heat grid, a tile with its halo in shared memory. */
KERNEL hotspot(const float *t, const float *power, float *out, int n)
{
    __shared__ float tile[18][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    for (int dy = threadIdx.y; dy < 18; dy += 16)
        for (int dx = threadIdx.x; dx < 18; dx += 16) {
            int gx = min(max((int)blockIdx.x * 16 + dx - 1, 0), n - 1), gy = min(max((int)blockIdx.y * 16 + dy - 1, 0), n - 1);
            tile[dy][dx] = t[gy * n + gx];
        }
    __syncthreads();
    if (x >= n || y >= n)
        return;
    float c = tile[threadIdx.y + 1][threadIdx.x + 1];
    float s = tile[threadIdx.y][threadIdx.x + 1] + tile[threadIdx.y + 2][threadIdx.x + 1] - 2 * c;
    float e = tile[threadIdx.y + 1][threadIdx.x] + tile[threadIdx.y + 1][threadIdx.x + 2] - 2 * c;
    out[y * n + x] = c + 0.1f * (power[y * n + x] + s * 0.5f + e * 0.25f + (80.0f - c) * 0.01f);
}

/* Rodinia lud, the diagonal block: Doolittle in shared memory, one CTA. */
KERNEL lud_diagonal(double *a, int n)
{
    __shared__ double s[32][33];
    int t = threadIdx.x;
    for (int i = 0; i < n; i++)
        s[i][t] = a[i * n + t];
    __syncthreads();
    for (int k = 0; k < n - 1; k++) {
        if (t > k)
            s[t][k] /= s[k][k];
        __syncthreads();
        if (t > k)
            for (int j = k + 1; j < n; j++)
                s[t][j] -= s[t][k] * s[k][j];
        __syncthreads();
    }
    for (int i = 0; i < n; i++)
        a[i * n + t] = s[i][t];
}

/* Rodinia nw: a wavefront over the score matrix of two sequences. */
KERNEL nw(const int *ref, int *score, int n, int penalty)
{
    int t = threadIdx.x;
    for (int d = 2; d <= 2 * n; d++) {
        int i = t + 1, j = d - i;
        if (i <= n && j >= 1 && j <= n) {
            int up = score[(i - 1) * (n + 1) + j] - penalty, left = score[i * (n + 1) + j - 1] - penalty;
            score[i * (n + 1) + j] = max(score[(i - 1) * (n + 1) + j - 1] + ref[(i - 1) * n + j - 1], max(up, left));
        }
        __syncthreads();
    }
}

/* Rodinia pathfinder: cheapest way down a wall, rows in turn, the borders of a CTA recomputed. */
KERNEL pathfinder(const int *wall, const int *src, int *dst, int cols, int rows)
{
    __shared__ int prev[256], result[256];
    int t = threadIdx.x, x = (int)blockIdx.x * (256 - 2 * rows) - rows + t;
    bool in = x >= 0 && x < cols, done = false;
    prev[t] = in ? src[x] : 0x3fffffff;
    __syncthreads();
    for (int r = 0; r < rows; r++) {
        done = false;
        if (t > r && t < 255 - r && in) {
            done = true;
            result[t] = min(prev[t], min(prev[t - 1], prev[t + 1])) + wall[r * cols + x];
        }
        __syncthreads();
        if (done)
            prev[t] = result[t];
        __syncthreads();
    }
    if (done && t >= rows && t < 256 - rows)
        dst[x] = result[t];
}

/* Rodinia srad, first kernel: diffusion coefficients with divisions. */
KERNEL srad(const float *img, float *c, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n * m)
        return;
    int y = i / m, x = i % m;
    float j = img[i], dn = img[(y ? y - 1 : 0) * m + x] - j, ds = img[(y < n - 1 ? y + 1 : n - 1) * m + x] - j;
    float dw = img[y * m + (x ? x - 1 : 0)] - j, de = img[y * m + (x < m - 1 ? x + 1 : m - 1)] - j;
    float g2 = (dn * dn + ds * ds + dw * dw + de * de) / (j * j), l = (dn + ds + dw + de) / j;
    float num = 0.5f * g2 - (1.0f / 16.0f) * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - 0.05f) / (0.05f * (1 + 0.05f));
    q = 1.0f / (1.0f + den);
    c[i] = q < 0 ? 0 : q > 1 ? 1 : q;
}

/* SHOC fft: 256 points, radix 2, in shared memory, with the accurate sine and cosine. */
KERNEL fft(const float2 *in, float2 *out)
{
    __shared__ float2 s[256];
    int t = threadIdx.x;
    s[__brev(t) >> 24] = in[blockIdx.x * 256 + t];
    s[__brev(t + 128) >> 24] = in[blockIdx.x * 256 + t + 128];
    __syncthreads();
    for (int half = 1; half < 256; half *= 2) {
        int k = t & (half - 1), i = (t - k) * 2 + k;
        float sn, cs;
        sincosf(-3.14159265358979f * k / half, &sn, &cs);
        float2 a = s[i], b = s[i + half];
        float2 w = make_float2(b.x * cs - b.y * sn, b.x * sn + b.y * cs);
        s[i] = make_float2(a.x + w.x, a.y + w.y);
        s[i + half] = make_float2(a.x - w.x, a.y - w.y);
        __syncthreads();
    }
    out[blockIdx.x * 256 + t] = s[t];
    out[blockIdx.x * 256 + t + 128] = s[t + 128];
}

/* CUDA samples shfl_scan: inclusive sums of a CTA by shuffles, then of the warps' sums. */
KERNEL scan(const int *in, int *out)
{
    __shared__ int sums[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, v = in[i];
    for (int d = 1; d < 32; d *= 2) {
        int u = __shfl_up_sync(~0u, v, d);
        v += lane >= d ? u : 0;
    }
    if (lane == 31)
        sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x < 32) {
        int s = lane < blockDim.x / 32 ? sums[lane] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int u = __shfl_up_sync(~0u, s, d);
            s += lane >= d ? u : 0;
        }
        sums[lane] = s;
    }
    __syncthreads();
    out[i] = v + (threadIdx.x >= 32 ? sums[threadIdx.x / 32 - 1] : 0);
}

/* CUDA samples bitonic sort of 512 keys with their values. */
KERNEL bitonic(unsigned *key, unsigned *value)
{
    __shared__ unsigned k[512], v[512];
    int t = threadIdx.x;
    for (int i = t; i < 512; i += blockDim.x) k[i] = key[i], v[i] = value[i];
    for (int size = 2; size <= 512; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            int a = 2 * t - (t & (stride - 1)), b = a + stride;
            bool up = !(a & size);
            if ((k[a] > k[b]) == up) {
                unsigned x = k[a], y = v[a];
                k[a] = k[b], v[a] = v[b];
                k[b] = x, v[b] = y;
            }
        }
    __syncthreads();
    for (int i = t; i < 512; i += blockDim.x) key[i] = k[i], value[i] = v[i];
}

/* Radix sort of a CTA's keys, 4 bits a round: ranks by ballots and population counts, stable. */
KERNEL radix(unsigned *keys)
{
    __shared__ unsigned s[256], counts[16 * 8];
    int t = threadIdx.x, lane = t & 31, warp = t / 32;
    s[t] = keys[blockIdx.x * 256 + t];
    __syncthreads();
    for (int shift = 0; shift < 32; shift += 4) {
        unsigned k = s[t], digit = k >> shift & 15, same = ~0u;
        for (int b = 0; b < 4; b++) {
            unsigned vote = __ballot_sync(~0u, digit >> b & 1);
            same &= digit >> b & 1 ? vote : ~vote;
        }
        if (t < 128) counts[t] = 0;
        __syncthreads();
        unsigned before = __popc(same & ((1u << lane) - 1));
        if (!before) counts[digit * 8 + warp] = __popc(same);
        __syncthreads();
        if (t == 0)
            for (unsigned i = 0, sum = 0; i < 128; i++) {
                unsigned c = counts[i];
                counts[i] = sum;
                sum += c;
            }
        __syncthreads();
        s[counts[digit * 8 + warp] + before] = k;
        __syncthreads();
    }
    keys[blockIdx.x * 256 + t] = s[t];
}

/* CUDA samples Black-Scholes: exponential, logarithm, square root, in double. */
__device__ double cnd(double d)
{
    double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
    double c = 0.39894228040143267794 * exp(-0.5 * d * d) * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
    return d > 0 ? 1.0 - c : c;
}
KERNEL black_scholes(const double *price, const double *strike, double *call, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double s = price[i], x = strike[i], t = 0.25 + i % 40 * 0.25, r = 0.02, v = 0.3, root = sqrt(t);
        double d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * root), d2 = d1 - v * root;
        call[i] = s * cnd(d1) - x * exp(-r * t) * cnd(d2);
    }
}

/* CUDA samples Mandelbrot: lanes leave the loop at different times. */
KERNEL mandelbrot(int *out, int w, int h, int most)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    double cr = -2.0 + 3.0 * x / w, ci = -1.0 + 2.0 * y / h, zr = 0, zi = 0;
    int k = 0;
    while (k < most && zr * zr + zi * zi < 4) {
        double u = zr * zr - zi * zi + cr;
        zi = 2 * zr * zi + ci;
        zr = u;
        k++;
    }
    out[y * w + x] = k;
}

/* CUDA samples histogram256: shared atomics on bytes, then global ones. */
KERNEL histogram256(const unsigned *data, unsigned *bins, int words)
{
    __shared__ unsigned s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x)
        for (unsigned v = data[i], k = 0; k < 4; k++, v >>= 8) atomicAdd(&s[v & 255], 1u);
    __syncthreads();
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        if (s[i]) atomicAdd(&bins[i], s[i]);
}

/* CUDA samples reduction with cooperative groups; tiles of 32, then one of 8. */
KERNEL reduce_groups(const int *in, int *out, int n)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    __shared__ int part[8];
    int sum = 0, most = 0;
    for (int i = block.group_index().x * block.size() + block.thread_rank(); i < n; i += gridDim.x * block.size()) sum += in[i], most = max(most, in[i]);
    sum = cg::reduce(tile, sum, cg::plus<int>());
    most = cg::reduce(tile, most, cg::greater<int>());
    if (tile.thread_rank() == 0) {
        part[tile.meta_group_rank()] = sum;
        atomicMax(&out[1], most);
    }
    block.sync();
    if (block.thread_rank() < 8) {
        cg::coalesced_group some = cg::coalesced_threads();
        int v = part[some.thread_rank()];
        for (int d = some.size() / 2; d; d /= 2) v += some.shfl_down(v, d);
        if (some.thread_rank() == 0) atomicAdd(out, v);
    }
}

/* A 32x32 product of half matrices by tensor cores, staged in shared memory; one warp. */
KERNEL wmma_gemm(const half *a, const half *b, float *c, int k)
{
    using namespace nvcuda;
    __shared__ half sa[32 * 16], sb[16 * 32];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 4; i++) wmma::fill_fragment(acc[i / 2][i % 2], 0.0f);
    for (int k0 = 0; k0 < k; k0 += 16) {
        for (int i = threadIdx.x; i < 512; i += 32) {
            sa[i] = a[i / 16 * k + k0 + i % 16];
            sb[i] = b[(k0 + i / 32) * 32 + i % 32];
        }
        __syncwarp();
        for (int i = 0; i < 4; i++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
            wmma::load_matrix_sync(fa, sa + i / 2 * 256, 16);
            wmma::load_matrix_sync(fb, sb + i % 2 * 16, 32);
            wmma::mma_sync(acc[i / 2][i % 2], fa, fb, acc[i / 2][i % 2]);
        }
        __syncwarp();
    }
    for (int i = 0; i < 4; i++) wmma::store_matrix_sync(c + i / 2 * 512 + i % 2 * 16, acc[i / 2][i % 2], 32, wmma::mem_row_major);
}

/* y += a x on pairs of halves, with an odd element at the end. */
KERNEL half_axpy(const half *x, half *y, int n)
{
    half2 a = __floats2half2_rn(1.5f, 1.5f);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2)
        ((half2 *)y)[i] = __hfma2(a, ((const half2 *)x)[i], ((half2 *)y)[i]);
    if (i == 0 && n % 2)
        y[n - 1] = __hfma(__low2half(a), x[n - 1], y[n - 1]);
}

/* Device memory: every thread builds a list on the heap, sums it and gives it back; classes with virtual functions. */
struct node { int value; node *next; };
struct shape { virtual __device__ float area() const = 0; virtual __device__ ~shape() {} };
struct square : shape { float a; __device__ square(float x) : a(x) {} __device__ float area() const override { return a * a; } };
struct disc : shape { float r; __device__ disc(float x) : r(x) {} __device__ float area() const override { return 3 * r * r; } };
KERNEL heap(int *sum, float *areas, int *failed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    node *head = nullptr;
    for (int k = 0; k < n + i % 3; k++) {
        node *x = (node *)malloc(sizeof(node));
        if (!x) {
            atomicAdd(failed, 1);
            break;
        }
        *x = node{ i + k, head };
        head = x;
    }
    int s = 0;
    while (head) {
        node *next = head->next;
        s += head->value;
        free(head);
        head = next;
    }
    sum[i] = s;
    shape *it = i % 2 ? (shape *)new disc(i * 0.5f) : (shape *)new square(i * 0.25f);
    areas[i] = it->area();
    delete it;
    if (i == 0) {
        void *big = malloc(1u << 30);           /* more than the heap has */
        failed[1] = big == nullptr;
        free(big);
    }
}

/* Eight queens by backtracking with arrays in local memory, the first two rows given. */
__device__ __noinline__ int place(int row, int n, int *col)
{
    if (row == n)
        return 1;
    int found = 0;
    for (int c = 0; c < n; c++) {
        bool ok = true;
        for (int r = 0; r < row && ok; r++) ok = col[r] != c && col[r] - c != r - row && col[r] - c != row - r;
        if (ok) {
            col[row] = c;
            found += place(row + 1, n, col);
        }
    }
    return found;
}
KERNEL queens(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, col[12];
    if (i >= n * n)
        return;
    col[0] = i / n, col[1] = i % n;
    int d = col[0] - col[1];
    out[i] = d == 0 || d == 1 || d == -1 ? 0 : place(2, n, col);
}

/* SHA-256 of one block per thread. */
__constant__ unsigned sha_k[64];
KERNEL sha256(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned w[64], h[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }, s[8];
#define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))
    for (int k = 0; k < 16; k++) w[k] = in[i * 16 + k];
    for (int k = 16; k < 64; k++)
        w[k] = w[k - 16] + (ROR(w[k - 15], 7) ^ ROR(w[k - 15], 18) ^ w[k - 15] >> 3) + w[k - 7] + (ROR(w[k - 2], 17) ^ ROR(w[k - 2], 19) ^ w[k - 2] >> 10);
    for (int k = 0; k < 8; k++) s[k] = h[k];
    for (int k = 0; k < 64; k++) {
        unsigned t1 = s[7] + (ROR(s[4], 6) ^ ROR(s[4], 11) ^ ROR(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[k] + w[k];
        unsigned t2 = (ROR(s[0], 2) ^ ROR(s[0], 13) ^ ROR(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        for (int j = 7; j > 0; j--) s[j] = s[j - 1];
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++) out[i * 8 + k] = s[k] + h[k];
}
