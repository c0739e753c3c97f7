/* Linear algebra, convolutions and stencils. Index names follow the .cu files. */
#include "tests/ref_kernels/ref.h"

#include <math.h>

/* out[i] = start[i] + sum over j of M[i*row + j*step] * v[j], one fused step at a time. */
static void dot_rows(const float *M, const float *v, float *out, int count, int length, int row,
                     int step, bool add)
{
    for (int i = 0; i < count; i++) {
        float sum = add ? out[i] : 0;
        for (int j = 0; j < length; j++)
            sum = fmaf(M[(int64_t)i * row + (int64_t)j * step], v[j], sum);
        out[i] = sum;
    }
}

/* The same down the columns, row by row: each column's sum still grows in row order. */
static void dot_columns(const float *M, const float *v, float *out, int rows, int cols, bool add)
{
    for (int j = 0; !add && j < cols; j++)
        out[j] = 0;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            out[j] = fmaf(M[(int64_t)i * cols + j], v[i], out[j]);
}

#define ROWS(kernel, M, v, out, n, m, add)                                                             \
    void ref_##kernel(struct ref_call *c)                                                              \
    {                                                                                                  \
        dot_rows(ref_buffer(c, M), ref_buffer(c, v), ref_buffer(c, out), ref_int(c, n), ref_int(c, m), \
                 ref_int(c, m), 1, add);                                                               \
    }
#define COLUMNS(kernel, M, v, out, n, m, add)                                              \
    void ref_##kernel(struct ref_call *c)                                                  \
    {                                                                                      \
        dot_columns(ref_buffer(c, M), ref_buffer(c, v), ref_buffer(c, out), ref_int(c, n), \
                    ref_int(c, m), add);                                                   \
    }
ROWS(atax1, "A", "x", "tmp", "nx", "ny", false)
COLUMNS(atax2, "A", "tmp", "y", "nx", "ny", false)
COLUMNS(bicg1, "A", "r", "s", "nx", "ny", false)
ROWS(bicg2, "A", "p", "q", "nx", "ny", false)
ROWS(mvt1, "A", "y1", "x1", "n", "m", true)
COLUMNS(mvt2, "A", "y2", "x2", "n", "m", true)

void ref_gesummv(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A"), *B = ref_buffer(c, "B"), *x = ref_buffer(c, "x");
    float *y = ref_buffer(c, "y"), alpha = ref_float(c, "alpha"), beta = ref_float(c, "beta");
    int n = ref_int(c, "n"), m = ref_int(c, "m");
    for (int i = 0; i < n; i++) {
        float ax = 0, bx = 0;
        for (int j = 0; j < m; j++) {
            ax = fmaf(A[i * m + j], x[j], ax);
            bx = fmaf(x[j], B[i * m + j], bx);
        }
        float by = bx * beta;
        y[i] = fmaf(ax, alpha, by);
    }
}

void ref_syrk(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A");
    float *C = ref_buffer(c, "C"), alpha = ref_float(c, "alpha"), beta = ref_float(c, "beta");
    int n = ref_int(c, "n"), m = ref_int(c, "m");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = C[i * n + j] * beta;
            for (int k = 0; k < m; k++) {
                float scaled = A[i * m + k] * alpha;
                sum = fmaf(scaled, A[j * m + k], sum);
            }
            C[i * n + j] = sum;
        }
}

void ref_gemm(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A"), *B = ref_buffer(c, "B");
    float *C = ref_buffer(c, "C");
    int n = ref_int(c, "n");
    for (int row = 0; row < n; row++)
        for (int col = 0; col < n; col++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum = fmaf(A[row * n + k], B[k * n + col], sum);
            C[row * n + col] = sum;
        }
}

void ref_conv2d(struct ref_call *c)
{
    static const float weight[9] = { 0.2f, -0.3f, 0.4f, 0.5f, 0.6f, 0.7f, -0.8f, -0.9f, 0.1f };
    const float *a = ref_buffer(c, "a");
    float *b = ref_buffer(c, "b");
    int ni = ref_int(c, "ni"), nj = ref_int(c, "nj");
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++) {
            const float *at = a + i * nj + j;
            float sum = at[-nj] * weight[1]; /* nvcc starts from the second product */
            sum = fmaf(at[-nj - 1], weight[0], sum);
            for (int k = 2; k < 9; k++)
                sum = fmaf(at[(k / 3 - 1) * nj + k % 3 - 1], weight[k], sum);
            b[i * nj + j] = sum;
        }
}

void ref_conv3d(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a");
    float *b = ref_buffer(c, "b");
    int ni = ref_int(c, "ni"), nj = ref_int(c, "nj"), nk = ref_int(c, "nk"), plane = nj * nk;
    const int off[9] = { -plane - nk - 1, -plane + nk - 1, -plane + 1, plane - nk - 1, -nk, 0, nk,
                         plane + 1,       plane + nk + 1 };
    static const float weight[9] = { 2, 5, -8, 4, -3, 6, -9, 7, 10 };
    for (int i = 1; i < ni - 1; i++)
        for (int j = 1; j < nj - 1; j++)
            for (int k = 1; k < nk - 1; k++) {
                const float *at = a + i * plane + j * nk + k;
                float sum = at[off[1]] * weight[1];
                sum = fmaf(at[off[0]], weight[0], sum);
                for (int t = 2; t < 9; t++)
                    sum = fmaf(at[off[t]], weight[t], sum);
                b[i * plane + j * nk + k] = sum;
            }
}

void ref_stencil3d(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a");
    float *b = ref_buffer(c, "b"), c0 = ref_float(c, "c0"), c1 = ref_float(c, "c1");
    int nx = ref_int(c, "nx"), ny = ref_int(c, "ny"), nz = ref_int(c, "nz"), plane = nx * ny;
    for (int z = 1; z < nz - 1; z++)
        for (int y = 1; y < ny - 1; y++)
            for (int x = 1; x < nx - 1; x++) {
                int i = z * plane + y * nx + x;
                float around = a[i + 1] + a[i - 1] + a[i + nx] + a[i - nx] + a[i + plane] + a[i - plane];
                float centre = a[i] * c0;
                b[i] = fmaf(c1, around, -centre);
            }
}

void ref_redblack(struct ref_call *c)
{
    float *a = ref_buffer(c, "a"), w = ref_float(c, "w");
    int nx = ref_int(c, "nx"), ny = ref_int(c, "ny"), colour = ref_int(c, "colour");
    for (int y = 1; y < ny - 1; y++)
        for (int x = 1 + ((y + colour) & 1); x < nx - 1; x += 2) {
            float *at = a + y * nx + x;
            float around = at[-1] + at[1] + at[-nx] + at[nx];
            *at = fmaf(w, fmaf(0.25f, around, -*at), *at);
        }
}

static void transpose(struct ref_call *c)
{
    const float *in = ref_buffer(c, "in");
    float *out = ref_buffer(c, "out");
    int width = ref_int(c, "width"), height = ref_int(c, "height");
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            out[x * height + y] = in[y * width + x];
}

void ref_transpose_naive(struct ref_call *c)
{
    transpose(c);
}
void ref_transpose_tiled(struct ref_call *c)
{
    transpose(c);
}
