/* Grids and images. Launches: suites.py; reference: reference.py. */
#define K extern "C" __global__ void
#define X (blockIdx.x * blockDim.x + threadIdx.x)
#define Y (blockIdx.y * blockDim.y + threadIdx.y)

/* A red half-sweep of Gauss-Seidel, in place. */
K gs_red(float *u, const float *f, int n)
{
    int x = X, y = Y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1 && !((x + y) & 1))
        u[y * n + x] = 0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x] + f[y * n + x]);
}
/* A column sweep in place: every thread goes down its column. */
K sweep_down(float *u, const float *c, int rows, int n)
{
    int x = X;
    float up = u[x];
    for (int y = 1; y < rows; y++) {
        up = u[y * n + x] + 0.5f * up * c[y * n + x];
        u[y * n + x] = up;
    }
}
/* The field E of a two-dimensional finite-difference time-domain step, in place. */
K fdtd_e(float *e, const float *hx, const float *hy, int n)
{
    int x = X, y = Y;
    if (x > 0 && y > 0)
        e[y * n + x] += 0.5f * (hy[y * n + x] - hy[y * n + x - 1] - hx[y * n + x] + hx[(y - 1) * n + x]);
}
/* The heat equation with nine points. */
K heat9(const float *a, float *b, int n)
{
    int x = X, y = Y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    float s = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            s += a[(y + j) * n + x + i];
    b[y * n + x] = s * 0.125f - a[y * n + x] * 0.125f;
}
/* The wave equation of fourth order along x and y, next over previous in place. */
K wave4(const float *now, float *prev, int n)
{
    int x = X, y = Y, i = y * n + x;
    if (x < 2 || y < 2 || x >= n - 2 || y >= n - 2)
        return;
    float l = 16.0f * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n]) - now[i - 2] - now[i + 2] - now[i - 2 * n] - now[i + 2 * n] - 60.0f * now[i];
    prev[i] = 2.0f * now[i] - prev[i] + 0.01f * l;
}
/* Seven points in three dimensions, a column of z per thread. */
K seven3d(const float *a, float *b, int n, int depth)
{
    int x = X, y = Y, p = n * n;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    for (int z = 1; z < depth - 1; z++) {
        int i = z * p + y * n + x;
        b[i] = a[i - 1] + a[i + 1] + a[i - n] + a[i + n] + a[i - p] + a[i + p] - 6.0f * a[i];
    }
}
/* The game of life on bytes, a torus whose side is a power of two. */
K life(const unsigned char *a, unsigned char *b, int n)
{
    int x = X, y = Y, m = n - 1, s = 0;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            s += a[((y + j) & m) * n + ((x + i) & m)];
    int me = a[y * n + x];
    b[y * n + x] = s == 3 || (me && s == 4);
}
/* The game of life on bits: 32 cells a word, by adders. */
K life_bits(const unsigned *a, unsigned *b, int words, int rows)
{
    int x = X, y = Y;
    unsigned one = 0, two = 0, four = 0, me = a[y * words + x];
    for (int j = -1; j <= 1; j++) {
        int r = ((y + j) & (rows - 1)) * words;
        unsigned c = a[r + x], l = (c << 1) | (a[r + ((x - 1) & (words - 1))] >> 31), h = (c >> 1) | (a[r + ((x + 1) & (words - 1))] << 31);
        unsigned v[3] = { l, h, j ? c : 0 };
        for (int k = 0; k < 3; k++) {
            unsigned t = one & v[k], u = two & t;
            one ^= v[k];
            four |= u;
            two ^= t;
        }
    }
    b[y * words + x] = two & ~four & (one | me);
}
/* Five by five convolution, coefficients in a buffer. */
K conv5(const float *a, const float *w, float *b, int n)
{
    int x = X, y = Y;
    float s = 0;
    for (int j = 0; j < 5; j++)
        for (int i = 0; i < 5; i++)
            s += w[j * 5 + i] * a[(y + j) * (n + 4) + x + i];
    b[y * n + x] = s;
}
/* A column filter of 17 taps. */
K column_filter(const float *a, const float *w, float *b, int n)
{
    int x = X, y = Y;
    float s = 0;
    for (int j = 0; j < 17; j++)
        s += w[j] * a[(y + j) * n + x];
    b[y * n + x] = s;
}
/* Median of three by three by a network of exchanges. */
K median3(const unsigned char *a, unsigned char *b, int n)
{
    int x = X, y = Y, v[9];
    for (int k = 0; k < 9; k++)
        v[k] = a[(y + k / 3) * (n + 2) + x + k % 3];
#pragma unroll
    for (int p = 0; p < 5; p++)
#pragma unroll
        for (int q = 0; q < 8; q++)
            if (q < 8 - p) {
                int lo = min(v[q], v[q + 1]);
                v[q + 1] = max(v[q], v[q + 1]);
                v[q] = lo;
            }
    b[y * n + x] = v[4];
}
/* Sobel's gradient as a sum of magnitudes. */
K sobel(const unsigned char *a, unsigned char *b, int n)
{
    int x = X, y = Y, p = n + 2;
    const unsigned char *r = a + y * p + x;
    int gx = r[2] + 2 * r[p + 2] + r[2 * p + 2] - r[0] - 2 * r[p] - r[2 * p];
    int gy = r[2 * p] + 2 * r[2 * p + 1] + r[2 * p + 2] - r[0] - 2 * r[1] - r[2];
    b[y * n + x] = min(255, abs(gx) + abs(gy));
}
/* Bilinear samples at given places. */
K bilinear(const float *img, const float *px, const float *py, float *out, int n)
{
    int i = X;
    float x = px[i], y = py[i];
    int ix = (int)x, iy = (int)y;
    float fx = x - ix, fy = y - iy;
    const float *r = img + iy * n + ix;
    float t = r[0] + fx * (r[1] - r[0]), u = r[n] + fx * (r[n + 1] - r[n]);
    out[i] = t + fy * (u - t);
}
/* A summed-area table's second pass: running sums down the columns, in place. */
K sat_columns(int *a, int rows, int n)
{
    int x = X, s = 0;
    for (int y = 0; y < rows; y++)
        a[y * n + x] = s += a[y * n + x];
}
/* The largest of four neighbours: pooling with a stride of two. */
K maxpool(const float *a, float *b, int n)
{
    int x = X, y = Y;
    const float *r = a + 4 * y * n + 2 * x;
    b[y * n + x] = fmaxf(fmaxf(r[0], r[1]), fmaxf(r[2 * n], r[2 * n + 1]));
}
/* Color to gray from three interleaved bytes. */
K gray(const unsigned char *rgb, unsigned char *out, int n)
{
    int i = X;
    if (i < n)
        out[i] = (77 * rgb[3 * i] + 150 * rgb[3 * i + 1] + 29 * rgb[3 * i + 2]) >> 8;
}
