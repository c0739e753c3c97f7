/* Kernels whose sizes and blocks the code says elsewhere than in a guard, for the guesses of launch: nvcc -arch=sm_80 -ptx sizes.cu */
#define LANES 0xffffffffu
__constant__ float taps[9];
/* w has an element for each warp, not for each thread */
__global__ void sum_of_warps(const float *a, float *out, int n) {
  __shared__ float w[32];
  float s = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += a[i];
  for (int d = 16; d; d >>= 1) s += __shfl_down_sync(LANES, s, d);
  if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? w[threadIdx.x] : 0;
    for (int d = 16; d; d >>= 1) s += __shfl_down_sync(LANES, s, d);
    if (threadIdx.x == 0) atomicAdd(out, s); } }
/* planes of a vector, moved by step */
__global__ void planes(const float *a, float *b, int n, int step) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  const float *p = a + 3 * i; float *q = b + 3 * i;
  q[0] = p[0]; q[step] = p[step] + 1; q[2 * step] = p[2 * step] + 2; }
/* width ends with the table */
__global__ void filtered(const float *a, float *b, int n, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; float s = 0;
  for (int k = 0; k < width; k++) { int at = i - width / 2 + k; if (at >= 0 && at < n) s += a[at] * taps[k]; }
  if (i < n) b[i] = s; }
/* nothing happens unless which is 3 */
__global__ void only_if(const float *a, float *b, int n, int which) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && which == 3) b[i] = a[i] + 1; }
/* 40,000 bytes of dynamic shared memory */
__global__ void staged(const float *a, float *b) {
  extern __shared__ float s[];
  for (int i = threadIdx.x; i < 10000; i += blockDim.x) s[i] = a[i];
  __syncthreads();
  b[blockIdx.x * blockDim.x + threadIdx.x] = s[9999 - threadIdx.x]; }
/* what is read counts in one of 16 bins */
__global__ void bins(const int *a, int *out, int n) {
  __shared__ int c[16];
  if (threadIdx.x < 16) c[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&c[a[i]], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], c[threadIdx.x]); }
/* a row of the image is pitch bytes, of which width elements are used */
__global__ void columns(float *image, unsigned pitch, int width, int height) {
  int y = blockIdx.x * blockDim.x + threadIdx.x; if (y >= height) return;
  float *row = (float *)((char *)image + (size_t)y * pitch);
  for (int x = 1; x < width; x++) row[x] += row[x - 1]; }
/* lists and trees by number, that end at a negative one */
__global__ void follow(const int *next, const int *head, const float *v, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  float s = 0; for (int k = head[i]; k >= 0; k = next[k]) s += v[k];
  out[i] = s; }
__global__ void search(const int *left, const int *right, const float *key, const float *want, int *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  int at = 0, found = 0; for (int k = 0; k != -1; k = want[i] < key[k] ? left[k] : right[k]) { found = at; at = k; }
  out[i] = found + at + 1; }
