/* Kernels as people write them, for the guesses of launch: nvcc -arch=sm_80 -ptx strangers.cu */
#include <cooperative_groups.h>
#include <cstdint>
namespace cg = cooperative_groups;
struct V3 { float x, y, z; };
struct Grid { int nx, ny; float *cells; };
__constant__ float coeff[16];
template <typename T> __device__ T warp_sum(T v) { for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o); return v; }
__global__ void saxpy(int n, float a, const float *x, float *y) { for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) y[i] = a * x[i] + y[i]; }
__global__ void softmax(const float *in, float *out, int cols) {
  extern __shared__ float buf[];
  int row = blockIdx.x; float m = -1e30f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, in[row * cols + c]);
  buf[threadIdx.x] = m; __syncthreads();
  for (int s = blockDim.x / 2; s; s >>= 1) { if (threadIdx.x < s) buf[threadIdx.x] = fmaxf(buf[threadIdx.x], buf[threadIdx.x + s]); __syncthreads(); }
  m = buf[0]; __syncthreads(); float t = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) t += expf(in[row * cols + c] - m);
  buf[threadIdx.x] = t; __syncthreads();
  for (int s = blockDim.x / 2; s; s >>= 1) { if (threadIdx.x < s) buf[threadIdx.x] += buf[threadIdx.x + s]; __syncthreads(); }
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[row * cols + c] = expf(in[row * cols + c] - m) / buf[0]; }
__global__ void jacobi(const double *a, double *b, size_t nx, size_t ny) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, j = blockIdx.y * (size_t)blockDim.y + threadIdx.y;
  if (i > 0 && j > 0 && i < nx - 1 && j < ny - 1) b[j * nx + i] = 0.25 * (a[j * nx + i - 1] + a[j * nx + i + 1] + a[(j - 1) * nx + i] + a[(j + 1) * nx + i]); }
__global__ void histo(const unsigned char *d, unsigned *h, long n) { __shared__ unsigned s[256]; s[threadIdx.x] = 0; __syncthreads();
  for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)blockDim.x * gridDim.x) atomicAdd(&s[d[i]], 1); __syncthreads(); atomicAdd(&h[threadIdx.x], s[threadIdx.x]); }
__global__ void spmv_ell(const int *col, const float *val, const float *x, float *y, int rows, int width) {
  int r = blockIdx.x * blockDim.x + threadIdx.x; if (r >= rows) return; float s = 0;
  for (int k = 0; k < width; k++) { int c = col[k * rows + r]; if (c >= 0) s += val[k * rows + r] * x[c]; } y[r] = s; }
__global__ void transpose32(const float *a, float *b, int w, int h) { __shared__ float t[32][33]; int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < w && y + j < h) t[threadIdx.y + j][threadIdx.x] = a[(y + j) * w + x]; __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8) if (x < h && y + j < w) b[(y + j) * h + x] = t[threadIdx.x][threadIdx.y + j]; }
__global__ void move(V3 *p, const V3 *v, float dt, int n) { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) { p[i].x += v[i].x * dt; p[i].y += v[i].y * dt; p[i].z += v[i].z * dt; } }
__global__ void fir(const float *in, float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i + 16 <= n) { float s = 0; for (int k = 0; k < 16; k++) s += coeff[k] * in[i + k]; out[i] = s; } }
__global__ void fill(Grid g, float v) { int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; if (x < g.nx && y < g.ny) g.cells[y * g.nx + x] = v + x; }
__global__ void dotp(const float *a, const float *b, float *r, int n) { float s = 0; for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) s += a[i] * b[i];
  s = warp_sum(s); __shared__ float p[32]; if ((threadIdx.x & 31) == 0) p[threadIdx.x / 32] = s; __syncthreads(); if (threadIdx.x < 32) { s = threadIdx.x < blockDim.x / 32 ? p[threadIdx.x] : 0; s = warp_sum(s); if (!threadIdx.x) atomicAdd(r, s); } }
__global__ void gather(const int *idx, const float4 *src, float4 *dst, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) dst[i] = src[idx[i]]; }
__global__ void bitrev(const float2 *a, float2 *b, int logn) { unsigned i = blockIdx.x * blockDim.x + threadIdx.x; b[__brev(i) >> (32 - logn)] = a[i]; }
__global__ void scanblock(int *d, int *sums, int n) { __shared__ int s[512]; int i = blockIdx.x * 512 + threadIdx.x; s[threadIdx.x] = i < n ? d[i] : 0; __syncthreads();
  for (int o = 1; o < 512; o <<= 1) { int v = threadIdx.x >= o ? s[threadIdx.x - o] : 0; __syncthreads(); s[threadIdx.x] += v; __syncthreads(); } if (i < n) d[i] = s[threadIdx.x]; if (threadIdx.x == 511) sums[blockIdx.x] = s[511]; }
__global__ void layernorm(const float *x, const float *g, const float *b, float *y, int n, float eps) { const float *r = x + blockIdx.x * n; float s = 0, q = 0; for (int i = threadIdx.x; i < n; i += 32) { s += r[i]; q += r[i] * r[i]; }
  s = __shfl_sync(~0u, warp_sum(s), 0) / n; q = __shfl_sync(~0u, warp_sum(q), 0) / n; float k = rsqrtf(q - s * s + eps); for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = (r[i] - s) * k * g[i] + b[i]; }
__global__ void collatz(const uint64_t *in, uint32_t *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; uint64_t v = in[i] + 1; uint32_t k = 0; while (v != 1 && k < 200) { v = v & 1 ? 3 * v + 1 : v / 2; k++; } out[i] = k; }
__global__ void gsync(float *a, int n){ auto g=cg::this_grid(); for(int k=0;k<3;k++){ for(int i=g.thread_rank();i<n;i+=g.size()) a[i]=a[i]*0.5f+k; g.sync(); } }
__global__ void lk(const unsigned char *img, int pitch, int w, int h, unsigned char *o){ int x=blockIdx.x*blockDim.x+threadIdx.x,y=blockIdx.y*blockDim.y+threadIdx.y; if(x<w&&y<h){ int s=0; for(int dy=-1;dy<=1;dy++)for(int dx=-1;dx<=1;dx++){int xx=min(max(x+dx,0),w-1),yy=min(max(y+dy,0),h-1); s+=img[yy*pitch+xx];} o[y*pitch+x]=s/9;} }
__global__ void csr(int n,const int*rp,const int*ci,const double*v,const double*x,double*y){int r=blockIdx.x*blockDim.x+threadIdx.x; if(r<n){double s=0;for(int j=rp[r];j<rp[r+1];j++)s+=v[j]*x[ci[j]];y[r]=s;}}
__global__ void gem(int M,int N,int K,float al,const float*A,int lda,const float*B,int ldb,float be,float*C,int ldc){ __shared__ float a[16][16],b[16][16]; int r=blockIdx.y*16+threadIdx.y,c=blockIdx.x*16+threadIdx.x; float s=0; for(int k=0;k<K;k+=16){ a[threadIdx.y][threadIdx.x]=(r<M&&k+threadIdx.x<K)?A[r*lda+k+threadIdx.x]:0; b[threadIdx.y][threadIdx.x]=(c<N&&k+threadIdx.y<K)?B[(k+threadIdx.y)*ldb+c]:0; __syncthreads(); for(int i=0;i<16;i++) s+=a[threadIdx.y][i]*b[i][threadIdx.x]; __syncthreads(); } if(r<M&&c<N) C[r*ldc+c]=al*s+be*C[r*ldc+c]; }
__global__ void nbody(float4*p,float4*v,int n,float dt){ extern __shared__ float4 sp[]; int i=blockIdx.x*blockDim.x+threadIdx.x; float4 me=p[i]; float ax=0,ay=0,az=0; for(int t=0;t<n;t+=blockDim.x){ sp[threadIdx.x]=p[t+threadIdx.x]; __syncthreads(); for(int j=0;j<blockDim.x;j++){ float dx=sp[j].x-me.x,dy=sp[j].y-me.y,dz=sp[j].z-me.z; float r=rsqrtf(dx*dx+dy*dy+dz*dz+1e-3f); r=r*r*r*sp[j].w; ax+=dx*r;ay+=dy*r;az+=dz*r;} __syncthreads(); } v[i].x+=ax*dt; v[i].y+=ay*dt; v[i].z+=az*dt; }
