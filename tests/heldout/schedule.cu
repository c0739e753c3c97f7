/* Kernels for ranking loop schedules that no demo kernel resembles: the model is looked at on them, never made for them.
 * All are written through global indices alone, so that every block shape is legal. */
/* 3x3 blur whose fast thread index walks the slow array index. */
extern "C" __global__ void s_blur(const float *a, float *out, int w, int h)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x, x = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
        float s = 0;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                s += a[(y + j) * w + x + i];
        out[y * w + x] = s / 9;
    }
}
/* Two rows multiplied, as in A times B transposed. */
extern "C" __global__ void s_rows(const float *a, const float *b, float *out, int n, int k)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int i = 0; i < k; i++)
        s += a[r * k + i] * b[c * k + i];
    out[r * n + c] = s;
}
/* A table read through an index. */
extern "C" __global__ void s_gather(const int *index, const float *table, float *out, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0;
    for (int i = 0; i < 8; i++)
        s += table[index[(y * w + x + 64 * i) & 65535]];
    out[y * w + x] = s;
}
/* Halves a picture. */
extern "C" __global__ void s_halve(const float *a, float *out, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float *p = a + 2 * y * (2 * w) + 2 * x;
    out[y * w + x] = 0.25f * (p[0] + p[1] + p[2 * w] + p[2 * w + 1]);
}
/* Rank-one update: one load, one store, two vectors. */
extern "C" __global__ void s_outer(const float *x, const float *y, float *a, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    a[r * n + c] += x[r] * y[c];
}
/* Column sums of a plane per thread row: a walk down z of a cube whose fastest index is z. */
extern "C" __global__ void s_cube(const float *a, float *out, int nx, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    const float *p = a + (size_t)(y * nx + x) * nz;
    float s = 0;
    for (int z = 0; z < nz; z++)
        s += p[z];
    out[y * nx + x] = s;
}
