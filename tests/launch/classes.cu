/* Kernels whose block, or whose work a CTA, only the arithmetic of their indices tells: nvcc -arch=sm_80 -ptx classes.cu */
#include <mma.h>
__global__ void eight_blocks(const int *in, int *out, unsigned n) { /* a CTA takes eight blocks' indices */
  unsigned i = blockIdx.x * blockDim.x * 8 + threadIdx.x; if (i + 7 * blockDim.x >= n) return;
  int s = 0; for (int k = 0; k < 8; k++) s += in[i + k * blockDim.x];
  atomicAdd(out + blockIdx.x, s); }
__global__ void image(const float *in, float *out, int w, int h) { /* one axis counts both of an image */
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= w * h) return;
  int x = i % w, y = i / w; out[i] = in[y * w + (x ? x - 1 : x)]; }
__global__ void one_warp(int *out, const int *in) { out[threadIdx.x] = __shfl_up_sync(~0u, in[threadIdx.x], 1); }
struct arrays { float x[1 << 20], y[1 << 20]; };
__global__ void two_arrays(const arrays *d, arrays *r, int n) { /* the second lies a fixed number of bytes behind the first */
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { r->x[i] = d->x[i] + 1; r->y[i] = d->y[i] + 2; } }
__global__ void folded(int m, int n, const float *a, float *c) { /* a tile of 32 x 32, its threads along one axis */
  int y = blockIdx.x * 32 + threadIdx.x / 32, x = blockIdx.y * 32 + threadIdx.x % 32;
  if (y < m && x < n) c[y * n + x] = 2 * a[y * n + x]; }
__global__ void moved(const float *a, float *c, int n, int by) { /* what is added to an index is small */
  int i = blockIdx.x * blockDim.x + threadIdx.x + by; if (i < n) c[i - by] = a[i]; }
__global__ void turned(float *c, const float *a) { /* rows of shared memory counted by x, of a fixed square */
  __shared__ float t[32][33];
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  t[threadIdx.x][threadIdx.y] = a[y * 1024 + x]; __syncthreads();
  c[x * 1024 + y] = t[threadIdx.x][threadIdx.y]; }
__global__ void scatter(const float *a, const int *to, float *c, int n) { /* every index is there once */
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[to[i]] = a[i]; }
__global__ void fragments(const half *a, const half *b, float *c, int k, int ld) { /* no thread asks which it is: one warp for a tile */
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x; wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> s; wmma::fill_fragment(s, 0);
  #pragma unroll 1
  for (int i = 0; i < k; i += 16) {
    wmma::load_matrix_sync(x, a + blockIdx.x * 16 * ld + i, ld); wmma::load_matrix_sync(y, b + blockIdx.y * 16 * ld + i, ld);
    wmma::mma_sync(s, x, y, s); }
  wmma::store_matrix_sync(c + blockIdx.x * 16 * ld + blockIdx.y * 16, s, ld, wmma::mem_row_major); }

/* A halo in front of where a pointer leads, in one dimension and in two. */
__global__ void halo(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i - 3] + in[i] + in[i + 3];
}

__global__ void halo_rows(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = in[(y - 1) * w + x] + in[(y + 1) * w + x];
}

/* A warp has a row of a matrix, and a block four or eight of them. */
__global__ void warp_rows(const float *a, const float *x, float *y, int rows, int columns)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    float sum = 0;
    if (row >= rows)
        return;
    for (int k = threadIdx.x; k < columns; k += 32)
        sum += a[row * columns + k] * x[k];
    for (int k = 16; k; k /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, k);
    if (threadIdx.x == 0)
        y[row] = sum;
}

/* What every thread prints takes longer than what it does. */
__global__ void prints(const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] != 7)
        printf("%d: %f\n", i, x[i]);
}

/* A parameter says into how many parts a number of the text is divided, one for each CTA. */
__global__ void parts(const int *in, int *out, int ctas)
{
    int each = 4096 / ctas, from = each * blockIdx.x;
    for (int i = from; i < from + each; i += blockDim.x)
        out[i + threadIdx.x] = in[i + threadIdx.x] + 1;
}

/* Letters of a genome are places in a table of as many. */
struct model { float weight[8][4]; };
__constant__ model letters;
__global__ void genome(const char *text, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += letters.weight[k][text[i * 8 + k]];
    out[i] = sum;
}

/* Lanes that touch no memory have a value for the one that does. */
__global__ void vote(int *out)
{
    unsigned even = __ballot_sync(0xffffffff, threadIdx.x % 32 % 2 == 0);
    if (threadIdx.x % 32 == 0)
        out[threadIdx.x / 32] = even;
}

/* Warps race in memory of the device: a block of one warp would only hide it. */
__global__ void mean(const float *in, int *count, float *mean, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = atomicAdd(count, 1);
    float was = *mean;
    atomicExch(mean, was + (in[i] - was) / (k + 1));
}

/* A CTA has a row of a sparse matrix: as long as the difference of its offsets, walked as far as a parameter says. */
__global__ void row_of_cta(const float *in, const float *each, float *out, int wide, const int *from)
{
    int length = from[blockIdx.x + 1] - from[blockIdx.x];
    for (int i = threadIdx.x; i < wide; i += blockDim.x)
        for (int k = i; k < length; k += wide)
            out[from[blockIdx.x] + k] = in[from[blockIdx.x] + k] + each[blockIdx.x * wide + i];
}
