/* Kernels in the manner of PolyBench on GPUs, written afresh. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void

K b_mm2(int ni, int nj, int nk, int nl, float alpha, float beta, const float *tmp, const float *c, float *d)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= ni || j >= nl) return;
    d[i * nl + j] *= beta;
    for (int k = 0; k < nj; k++) d[i * nl + j] += alpha * tmp[i * nj + k] * c[k * nl + j];
}
K b_std(int m, int n, const float *mean, float *std, const float *data)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= m) return;
    float s = 0;
    for (int i = 0; i < n; i++) s += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
    s = sqrtf(s / n);
    std[j] = s <= 0.005f ? 1.0f : s;
}
K b_corr(int m, int n, float *sym, const float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 >= m - 1) return;
    sym[j1 * m + j1] = 1;
    for (int j2 = j1 + 1; j2 < m; j2++) {
        float s = 0;
        for (int i = 0; i < n; i++) s += data[i * m + j1] * data[i * m + j2];
        sym[j1 * m + j2] = s;
        sym[j2 * m + j1] = s;
    }
}
K b_covar(int m, int n, float *sym, const float *data)
{
    int j1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (j1 >= m) return;
    for (int j2 = j1; j2 < m; j2++) {
        sym[j1 * m + j2] = 0;
        for (int i = 0; i < n; i++) sym[j1 * m + j2] += data[i * m + j1] * data[i * m + j2];
        sym[j2 * m + j1] = sym[j1 * m + j2];
    }
}
K b_fdtd1(int nx, int ny, const float *fict, const float *ex, float *ey, const float *hz, int t)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= nx || j >= ny) return;
    if (i == 0) ey[j] = fict[t];
    else ey[i * ny + j] = ey[i * ny + j] - 0.5f * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
}
K b_fdtd3(int nx, int ny, const float *ex, const float *ey, float *hz)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < nx - 1 && j < ny - 1) hz[i * ny + j] -= 0.7f * (ex[i * (ny + 1) + j + 1] - ex[i * (ny + 1) + j] + ey[(i + 1) * ny + j] - ey[i * ny + j]);
}
K b_gram1(int ni, int nj, const float *a, float *r, int k)
{
    if (blockIdx.x * blockDim.x + threadIdx.x) return;
    float s = 0;
    for (int i = 0; i < ni; i++) s += a[i * nj + k] * a[i * nj + k];
    r[k * nj + k] = sqrtf(s);
}
K b_gram3(int ni, int nj, float *a, float *r, const float *q, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j <= k || j >= nj) return;
    r[k * nj + j] = 0;
    for (int i = 0; i < ni; i++) r[k * nj + j] += q[i * nj + k] * a[i * nj + j];
    for (int i = 0; i < ni; i++) a[i * nj + j] -= q[i * nj + k] * r[k * nj + j];
}
/* adi: a row a thread (uncoalesced), and a column a thread */
K b_adi_row(int n, const float *a, float *b, float *x)
{
    int i1 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i1 >= n) return;
    for (int i2 = 1; i2 < n; i2++) {
        x[i1 * n + i2] = x[i1 * n + i2] - x[i1 * n + i2 - 1] * a[i1 * n + i2] / b[i1 * n + i2 - 1];
        b[i1 * n + i2] = b[i1 * n + i2] - a[i1 * n + i2] * a[i1 * n + i2] / b[i1 * n + i2 - 1];
    }
}
K b_adi_col(int n, const float *a, float *b, float *x)
{
    int i2 = blockIdx.x * blockDim.x + threadIdx.x;
    if (i2 >= n) return;
    for (int i1 = 1; i1 < n; i1++) {
        x[i1 * n + i2] = x[i1 * n + i2] - x[(i1 - 1) * n + i2] * a[i1 * n + i2] / b[(i1 - 1) * n + i2];
        b[i1 * n + i2] = b[i1 * n + i2] - a[i1 * n + i2] * a[i1 * n + i2] / b[(i1 - 1) * n + i2];
    }
}
K b_doitgen(int nr, int nq, int np, float *sum, const float *a, const float *c4, int r)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (p >= np || q >= nq) return;
    sum[r * (nq * np) + q * np + p] = 0;
    for (int s = 0; s < np; s++) sum[r * (nq * np) + q * np + p] += a[r * (nq * np) + q * np + s] * c4[s * np + p];
}
K b_gemver(int n, float alpha, float beta, float *a, const float *v1, const float *v2, const float *u1, const float *u2)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}
K b_jacobi1d(int n, const double *a, double *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
}
/* floyd-warshall: one k, integers, in place (row and column k do not change in it) */
K b_floyd(int n, int *path, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) path[i * n + j] = min(path[i * n + j], path[i * n + k] + path[k * n + j]);
}
/* trisolv by one CTA: columns in turn, the rest of the vector updated together */
K b_trisolv(int n, const float *l, float *x)
{
    for (int j = 0; j < n; j++) {
        if (threadIdx.x == 0) x[j] /= l[j * n + j];
        __syncthreads();
        for (int i = j + 1 + threadIdx.x; i < n; i += blockDim.x) x[i] -= l[i * n + j] * x[j];
        __syncthreads();
    }
}
