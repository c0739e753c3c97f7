/* Dense linear algebra and transforms. Launches: suites.py; reference: reference.py. */
#define K extern "C" __global__ void
#define G (blockIdx.x * blockDim.x + threadIdx.x)

/* One column step of a forward substitution, in place: b[i] -= L[i][k] * b[k] below the diagonal. */
K trsv_step(const float *L, float *b, int n, int k)
{
    int i = G;
    if (i > k && i < n)
        b[i] -= L[(size_t)i * n + k] * b[k];
}
/* A lower triangular system per thread, column after column of a small matrix. */
K trsm_small(const float *L, float *x, int n, int systems)
{
    int s = G;
    if (s < systems)
        for (int i = 0; i < n; i++) {
            float v = x[i * systems + s];
            for (int j = 0; j < i; j++)
                v -= L[i * n + j] * x[j * systems + s];
            x[i * systems + s] = v / L[i * n + i];
        }
}
/* Step k of an LU factorization without pivoting: the trailing matrix, in place. */
K lu_update(float *A, int n, int k)
{
    int j = G + k + 1, i = blockIdx.y + k + 1;
    if (i < n && j < n)
        A[(size_t)i * n + j] -= A[(size_t)i * n + k] * A[(size_t)k * n + j];
}
/* Step k of a Cholesky factorization: the lower triangle of the trailing matrix. */
K chol_update(float *A, int n, int k)
{
    int j = G + k + 1, i = blockIdx.y + k + 1;
    if (i < n && j <= i)
        A[(size_t)i * n + j] -= A[(size_t)i * n + k] * A[(size_t)j * n + k];
}
/* Gauss-Jordan: row k is taken off every other row. */
K gauss_jordan(const float *A, const float *row, float *B, int n, int k)
{
    int j = G, i = blockIdx.y;
    float f = A[(size_t)i * n + k];
    B[(size_t)i * n + j] = i == k ? row[j] : A[(size_t)i * n + j] - f * row[j];
}
/* A row of a matrix times a vector per warp. */
K gemv_warp(const float *A, const float *x, float *y, int n)
{
    int row = G / 32, lane = threadIdx.x & 31;
    float s = 0;
    for (int j = lane; j < n; j += 32)
        s += A[(size_t)row * n + j] * x[j];
    for (int d = 16; d; d >>= 1)
        s += __shfl_down_sync(~0u, s, d);
    if (lane == 0)
        y[row] = s;
}
/* Transposed matrix times a vector: a column per thread. */
K gemv_trans(const float *A, const float *x, float *y, int rows, int n)
{
    int j = G;
    float s = 0;
    for (int i = 0; i < rows; i++)
        s += A[(size_t)i * n + j] * x[i];
    y[j] = s;
}
/* Matrix product with a shared tile of 16 by 16. */
K mm_tile16(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x, y = threadIdx.y, j = blockIdx.x * 16 + x, i = blockIdx.y * 16 + y;
    float s = 0;
    for (int t = 0; t < n; t += 16) {
        a[y][x] = A[i * n + t + x];
        b[y][x] = B[(t + y) * n + j];
        __syncthreads();
        for (int q = 0; q < 16; q++)
            s += a[y][q] * b[q][x];
        __syncthreads();
    }
    C[i * n + j] = s;
}
/* Rank-one update in place. */
K ger(float *A, const float *x, const float *y, int n, float alpha)
{
    int j = G, i = blockIdx.y;
    A[(size_t)i * n + j] += alpha * x[i] * y[j];
}
/* Matrix product in double precision without shared memory. */
K dgemm_naive(const double *A, const double *B, double *C, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    double s = 0;
    for (int q = 0; q < n; q++)
        s += A[i * n + q] * B[q * n + j];
    C[i * n + j] = s;
}
/* Tridiagonal systems, one per thread, interleaved: the Thomas algorithm. */
K tridiag(const float *a, const float *b, const float *c, float *d, float *cp, int n, int systems)
{
    int s = G;
    float w = c[s] / b[s], v = d[s] / b[s];
    cp[s] = w;
    d[s] = v;
    for (int i = 1; i < n; i++) {
        int e = i * systems + s;
        float m = 1.0f / (b[e] - a[e] * w);
        w = c[e] * m;
        v = (d[e] - a[e] * v) * m;
        cp[e] = w;
        d[e] = v;
    }
    for (int i = n - 2; i >= 0; i--) {
        int e = i * systems + s;
        v = d[e] - cp[e] * v;
        d[e] = v;
    }
}
/* Transposition through a padded tile, 32 by 8 threads. */
K transpose_pad(const float *in, float *out, int n)
{
    __shared__ float t[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int q = 0; q < 32; q += 8)
        t[threadIdx.y + q][threadIdx.x] = in[(y + q) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int q = 0; q < 32; q += 8)
        out[(y + q) * n + x] = t[threadIdx.x][threadIdx.y + q];
}
/* Transposition in place of square tiles without shared memory. */
K transpose_inplace(float *A, int n)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (j > i) {
        float a = A[i * n + j], b = A[j * n + i];
        A[i * n + j] = b;
        A[j * n + i] = a;
    }
}
/* One radix-2 stage of a complex FFT in place; twiddles from a table. */
K fft_stage(float2 *x, const float2 *w, int half, int step)
{
    int t = G, j = t & (half - 1), i = ((t - j) << 1) + j;
    float2 a = x[i], b = x[i + half], c = w[j * step];
    float re = b.x * c.x - b.y * c.y, im = b.x * c.y + b.y * c.x;
    x[i] = make_float2(a.x + re, a.y + im);
    x[i + half] = make_float2(a.x - re, a.y - im);
}
/* Walsh-Hadamard transform of 512 values a CTA in shared memory. */
K walsh(const float *in, float *out)
{
    __shared__ float s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = in[base + t];
    s[t + 256] = in[base + t + 256];
    for (int h = 1; h < 512; h <<= 1) {
        __syncthreads();
        int i = ((t & ~(h - 1)) << 1) | (t & (h - 1));
        float a = s[i], b = s[i + h];
        s[i] = a + b;
        s[i + h] = a - b;
    }
    __syncthreads();
    out[base + t] = s[t];
    out[base + t + 256] = s[t + 256];
}
