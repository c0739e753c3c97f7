/* Addresses as compilers write them: divisions by multiplication, remainders, loops that double, clamps, choices,
 * several ways out of a loop, structs, pointer tables, calls, 16-bit types, asynchronous copies. Built by
 *     nvcc -ptx -arch=compute_80 -o tests/golden/analysis/forms.ptx tests/golden/analysis/forms.cu */
extern "C" __global__ void div3u(const float *a, float *b, unsigned n)
{
    unsigned i = blockIdx.x*blockDim.x+threadIdx.x; unsigned q=i/3, r=i%3; if (i<n) b[i]=a[q*4+r];
}
extern "C" __global__ void div7s(const float *a, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; int q=i/7, r=i%7; if (i<n) b[i]=a[q*8+r];
}
extern "C" __global__ void div100(const float *a, float *b, int n)
{
    int i = blockIdx.x; int q=i/100, r=i%100; b[i*32+threadIdx.x]=a[(q*128+r)*32+threadIdx.x];
}
extern "C" __global__ void divrt(const float *a, float *b, int w)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[(i/w)*w+ (w-1-i%w)];
}
extern "C" __global__ void geo(const float *a, float *b, int n)
{
    float s=0; for (int d=1; d<n; d*=2) s+=a[threadIdx.x*d+blockIdx.x]; for (int d=blockDim.x/2; d>0; d>>=1) s+=a[threadIdx.x+d]; b[blockIdx.x*blockDim.x+threadIdx.x]=s;
}
extern "C" __global__ void clampk(const float *a, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; int l=max(i-1,0), r=min(i+1,n-1); if (i<n) b[i]=a[l]+a[i]+a[r];
}
extern "C" __global__ void wrapk(const float *a, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; int l = i==0? n-1 : i-1, r = i+1==n ? 0 : i+1; if (i<n) b[i]=a[l]+a[i]+a[r];
}
extern "C" __global__ void twoarr(const float *a, const float *c, float *b, int n, int flag)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; const float *p = flag ? a : c; const float *q = (blockIdx.x & 1) ? a : c; if (i<n) b[i]=p[i] + q[i+1];
}
extern "C" __global__ void multiexit(const float *a, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; float s=0;
    for (int k=0;k<64;k++){ if (i+k>=n) break; s+=a[i+32*k]; if (k > (i&7)) break; } b[i]=s;
}
struct S { const float *p; float *q; int n, pad; };
extern "C" __global__ void pstruct(S s)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; if (i<s.n) s.q[i]=s.p[i];
}
extern "C" __global__ void table(const float *const *t, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; b[i]=t[blockIdx.x&3][threadIdx.x];
}
__device__ __noinline__ int helper(int i, int w){ return i*w+1; }
extern "C" __global__ void callk(const float *a, float *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[helper(i, n & 3)];
}
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void halfk(const __half2 *a, const __nv_bfloat162 *c, __half *b, int n)
{
    int i = blockIdx.x*blockDim.x+threadIdx.x; __half2 x=a[i]; __nv_bfloat162 y=c[i+1]; b[i]=__hadd(x.x,x.y)+__float2half(__bfloat162float(y.x));
}
#include <cuda_pipeline.h>
extern "C" __global__ void asynck(const float4 *a, float4 *b, int nk)
{
    int n = nk & 3; __shared__ float4 s[2][128]; int t=threadIdx.x; for (int k=0;k<n;k++){ __pipeline_memcpy_async(&s[k&1][t], &a[(blockIdx.x*n+k)*128+t], 16); __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads(); b[(blockIdx.x*n+k)*128+t]=s[k&1][127-t]; }
}
__constant__ float ctab[256];
extern "C" __global__ void constk(float *b)
{
    __shared__ float sh[32*33]; int i=threadIdx.x; sh[i*33 % 1056]=ctab[i&255]; __syncthreads(); float loc[8]; for(int k=0;k<8;k++) loc[(k*i)&7]=sh[(i*2+k)%1056]; b[blockIdx.x*blockDim.x+i]=loc[i&7];
}
extern "C" __global__ void tril(const float *a, float *b, int n)
{
    int r = blockIdx.x, s=0; float acc=0; for (int c=threadIdx.x;c<=r;c+=blockDim.x) acc+=a[r*n+c]; b[r*blockDim.x+threadIdx.x]=acc+s;
}
extern "C" __global__ void swz(const float *a, float *b, int n)
{
    int t=threadIdx.x; int sw=(t ^ (t>>3)) & 31; b[blockIdx.x*32+t]=a[blockIdx.x*32 + sw] + a[(__brev(t)>>27)];
}
extern "C" __global__ void k_u64_reverse(const float *a, float *b, long long n)
{
    long long i = (long long)blockIdx.x*blockDim.x+threadIdx.x; for (; i<n; i+=(long long)gridDim.x*blockDim.x) b[i]=a[n-1-i];
}
extern "C" __global__ void u32wrap(const float *a, float *b, unsigned n)
{
    unsigned i = blockIdx.x*blockDim.x+threadIdx.x; b[i]=a[(i-5)&(n-1)] + a[(unsigned)(i*2654435761u)>>20];
}
