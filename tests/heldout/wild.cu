/* Kernels a stranger brings: sparse times dense, a stencil with a shared halo, one step of an elimination, an
 * anti-diagonal of an alignment, a triangular solve that waits for other CTAs, a hash table, cooperative groups,
 * and a walk down the columns. Built by build.sh. */
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void
#define FULL 0xffffffffu

K w_spmm(const int *row, const int *col, const float *val, const float *__restrict__ b, float *c, int rows, int width)
{
    int r = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows || j >= width) return;
    float s = 0;
    for (int e = row[r]; e < row[r + 1]; e++) s += val[e] * b[col[e] * width + j];
    c[r * width + j] = s;
}

#define BX 32
#define BY 4
K w_jacobi(const float *a, float *b, int nx, int ny, int nz)
{
    __shared__ float t[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x + 1, y = blockIdx.y * BY + threadIdx.y + 1, tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    long plane = (long)nx * ny;
    long i = (long)y * nx + x;
    bool in = x < nx - 1 && y < ny - 1;
    float below = in ? a[i] : 0, here = in ? a[i + plane] : 0;
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = in ? a[i + plane] : 0;
        __syncthreads();
        t[ty][tx] = here;
        if (in) {
            if (tx == 1) t[ty][0] = a[i - 1];
            if (tx == BX || x == nx - 2) t[ty][tx + 1] = a[i + 1];
            if (ty == 1) t[0][tx] = a[i - nx];
            if (ty == BY || y == ny - 2) t[ty + 1][tx] = a[i + nx];
        }
        __syncthreads();
        if (in) b[i] = (t[ty][tx - 1] + t[ty][tx + 1] + t[ty - 1][tx] + t[ty + 1][tx] + below + above) * (1.0f / 6);
        below = here; here = above;
    }
}

K w_lu(double *a, int n, int k)
{
    int i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y, j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && j < n) a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
}

K w_sw(const char *s, const char *t, const int *p2, const int *p1, int *cur, int m, int n, int diag)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = diag - i;
    if (i > m || j < 1 || j > n) return;
    int best = p2[i - 1] + (s[i - 1] == t[j - 1] ? 3 : -1);
    best = max(best, p1[i - 1] - 2); best = max(best, p1[i] - 2); best = max(best, 0);
    cur[i] = best;
}

K w_trsv(const int *row, const int *col, const float *val, const float *b, volatile float *x, volatile int *ready, int n)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (r >= n) return;
    float s = 0;
    for (int e = row[r] + lane; e < row[r + 1]; e += 32) {
        int c = col[e];
        if (c < r) { while (!ready[c]) { } __threadfence(); s += val[e] * x[c]; }
    }
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(FULL, s, d);
    if (lane == 0) { x[r] = b[r] - s; __threadfence(); ready[r] = 1; }
}

K w_hash(const unsigned *key, unsigned *table, unsigned *slot, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = key[i] + 1, h = (k * 2654435761u) & mask;
    for (;;) {
        unsigned old = atomicCAS(&table[h], 0u, k);
        if (old == 0 || old == k) break;
        h = (h + 1) & mask;
    }
    slot[i] = 1;
}

K w_tile(const int *a, int *out, int n)
{
    cg::thread_block b = cg::this_thread_block();
    cg::thread_block_tile<8> t = cg::tiled_partition<8>(b);
    int i = b.group_index().x * b.size() + b.thread_rank();
    int v = i < n ? a[i] : 0;
    for (int d = t.size() / 2; d; d /= 2) v += t.shfl_xor(v, d);
    bool any = t.any(v > 100);
    if (t.thread_rank() == 0 && i < n) out[i / 8] = any ? v : -v;
}

K w_column(const float *x, float *y, float a, int rows, int cols)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x, c = blockIdx.y * blockDim.y + threadIdx.y;
    if (r < rows && c < cols) y[r * cols + c] += a * x[r * cols + c];
}
