/* Kernels that follow pointers in memory, and one whose size is too much to try whole: nvcc -arch=sm_80 -ptx pointers.cu */
struct node { float v; int k; node *next; };
struct tree { int key; float v; tree *left, *right; };
__global__ void walk(const node *head, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  float s = 0; for (const node *p = head; p; p = p->next) s += p->v * i;
  out[i] = s; }
__global__ void buckets(node **heads, const int *keys, float *out, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  float s = -1; for (const node *p = heads[i % m]; p; p = p->next) if (p->k == keys[i]) { s = p->v; break; }
  out[i] = s; }
__global__ void find(const tree *root, const int *keys, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;
  float s = -1; for (const tree *t = root; t; t = keys[i] < t->key ? t->left : t->right) if (t->key == keys[i]) { s = t->v; break; }
  out[i] = s; }
__global__ void batched(float *const *a, float *const *b, float **c, int n) {
  const float *x = a[blockIdx.x], *y = b[blockIdx.x]; float *z = c[blockIdx.x];
  for (int i = threadIdx.x; i < n; i += blockDim.x) z[i] = x[i] + y[i]; }
/* A loaded index of 64 bits is no pointer. */
__global__ void gather(const char *a, const long *at, char *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = a[at[i]]; }
__global__ void product(const int *a, const int *b, int *c) {
  int r = blockIdx.y * 16 + threadIdx.y, q = blockIdx.x * 16 + threadIdx.x, s = 0;
  for (int k = 0; k < 1024; k++) s += a[r * 1024 + k] * b[k * 1024 + q];
  c[r * 1024 + q] = s; }
