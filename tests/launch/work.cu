/* Kernels whose launch the code does not say at first sight, for the guesses of launch: nvcc -arch=sm_80 -ptx work.cu
 * Each is wrong with the obvious guess: most CTAs or threads have nothing to do, or most of the output stays as it was. */
__global__ void small_table(const float *in, float *out) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < 1536) out[i] = sqrtf(in[i]); }
__global__ void four_each(const int *in, int *out, int n) {
  int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  for (int k = 0; k < 4; k++, i += blockDim.x) if (i < n) out[i] = in[i] + 1; }
__global__ void tile32(const float *in, float *out, int w) {
  int x = blockIdx.x * 32 + threadIdx.x * 2, y = blockIdx.y * 32 + threadIdx.y * 2;
  if (x >= w || y >= w) return;
  for (int j = 0; j < 2; j++) for (int i = 0; i < 2; i++) out[(y + j) * w + x + i] = in[(y + j) * w + x + i] * 3; }
__global__ void wide_rows(const float *a, float *c) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  c[y * 2048 + x] = a[y * 2048 + x] + 1; }
__global__ void row_of_warp(const float *a, float *y, int rows, int cols) {
  int r = blockIdx.x * blockDim.y + threadIdx.y; if (r >= rows) return;
  float s = 0; for (int k = threadIdx.x % 32; k < cols; k += 32) s += a[r * cols + k];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(~0u, s, d);
  if (threadIdx.x % 32 == 0) y[r] = s; }
__global__ void narrow(float *w, const float *d, int hid) {
  int y = blockIdx.y * 16 + threadIdx.y; w[y * (hid + 1) + threadIdx.x] += d[threadIdx.x]; }
__global__ void centres(const float *p, const float *c, int *best, int points, int k, int dims) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= points) return; float least = 1e30f; int at = 0;
  for (int j = 0; j < k; j++) { float s = 0; for (int d = 0; d < dims; d++) { float x = p[i * dims + d] - c[j * dims + d]; s += x * x; } if (s < least) { least = s; at = j; } }
  best[i] = at; }
