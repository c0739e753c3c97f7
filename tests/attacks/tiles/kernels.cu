// Kernels whose CTAs take several tiles: in any order they leave the same (the first four), or not.
// nvcc -arch=sm_90 -ptx kernels.cu -o kernels.ptx   (13.0)
extern "C" __global__ void shifted(float *y, const float *x, int ny, int nx, int tiles_x, int tiles)
{
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int bx = t % tiles_x, by = t / tiles_x;
        int i = by * 8 + threadIdx.y, j = bx * 32 + threadIdx.x;
        if (i < ny && j < nx) y[i * nx + j] = 2.f * x[j * ny + i] + 1.f;
    }
}
extern "C" __global__ void transpose(float *y, const float *x, int ny, int nx, int tiles_x, int tiles)
{
    __shared__ float s[32][33];
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int bx = t % tiles_x, by = t / tiles_x;
        for (int r = threadIdx.y; r < 32; r += 8) s[r][threadIdx.x] = x[(by * 32 + r) * nx + bx * 32 + threadIdx.x];
        __syncthreads();
        for (int r = threadIdx.y; r < 32; r += 8) y[(bx * 32 + r) * ny + by * 32 + threadIdx.x] = s[threadIdx.x][r];
        __syncthreads();
    }
}
extern "C" __global__ void gemm(float *c, const float *a, const float *b, int n, int k, int tiles)
{
    __shared__ float sa[16][16], sb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, wide = n / 16;
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int row = t / wide * 16 + ty, col = t % wide * 16 + tx;
        float sum = 0;
        for (int kk = 0; kk < k; kk += 16) {
            sa[ty][tx] = a[row * k + kk + tx]; sb[ty][tx] = b[(kk + ty) * n + col];
            __syncthreads();
            for (int i = 0; i < 16; i++) sum += sa[ty][i] * sb[i][tx];
            __syncthreads();
        }
        c[row * n + col] = sum;
    }
}
extern "C" __global__ void sums(float *out, const float *x, int n)
{
    float s = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x) s += x[t * 64 + threadIdx.x];
    out[blockIdx.x * 64 + threadIdx.x] = s;
}
extern "C" __global__ void turn(float *out, const float *x, int n)
{
    int j = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x, j++) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + j;
}
extern "C" __global__ void over(float *out, const float *x, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[t % gridDim.x * 64 + threadIdx.x] = x[t * 64 + threadIdx.x];
}
extern "C" __global__ void chain(float *out, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[t * 64 + threadIdx.x] = (t >= gridDim.x ? out[(t - gridDim.x) * 64 + threadIdx.x] : 0.f) + 1.f;
}
extern "C" __global__ void history(float *out, const float *x, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        float v = s[63 - threadIdx.x];
        __syncthreads();
        s[threadIdx.x] = x[t * 64 + threadIdx.x];
        __syncthreads();
        out[t * 64 + threadIdx.x] = v + s[threadIdx.x ^ 1];
    }
}
extern "C" __global__ void scatter(float *out, const float *x, const int *to, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[to[t] * 64 + threadIdx.x] = x[t * 64 + threadIdx.x];
}
extern "C" __global__ void more(float *out, const float *x, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + (t + gridDim.x < n ? 1.f : 0.f);
}
extern "C" __global__ void stages(float *out, const float *x, int n)
{
    __shared__ float s[2][64];
    int stage = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        s[stage][threadIdx.x] = x[t * 64 + threadIdx.x]; s[stage ^ 1][threadIdx.x] = 1.f;
        __syncthreads();
        out[t * 64 + threadIdx.x] = s[0][threadIdx.x ^ 1];
        __syncthreads();
        stage ^= 1;
    }
}
extern "C" __global__ void ring(float *out, const float *x, int n)
{
    __shared__ float s[3][64];
    int stage = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        s[stage][threadIdx.x] = x[t * 64 + threadIdx.x];
        __syncthreads();
        out[t * 64 + threadIdx.x] = s[stage][threadIdx.x ^ 1];
        stage = stage == 2 ? 0 : stage + 1;
    }
}
extern "C" __global__ void counts(int *out, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) atomicAdd(&out[t / 64], 1);
}
extern "C" __global__ void who(float *out, const float *x, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + blockIdx.x;
}
// a word of the CTA's own place, read before the first tile
extern "C" __global__ void before(float *out, const float *x, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = x[blockIdx.x * 64 + threadIdx.x];
    __syncthreads();
    for (int t = blockIdx.x; t < n; t += gridDim.x) out[t * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void after(float *out, const float *x, int n)
{
    __shared__ float s[64];
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        s[threadIdx.x] = x[t * 64 + threadIdx.x];
        out[t * 64 + threadIdx.x] = s[threadIdx.x];
    }
    __syncthreads();
    out[n * 64 + blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 1];
}
struct table { float v[8]; };
extern "C" __global__ void argument(float *out, const float *x, int n, table w)
{
    int j = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x, j = (j + 1) & 7) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] * w.v[j];
}
__constant__ float table_of[8] = {1, 2, 3, 4, 5, 6, 7, 8};
extern "C" __global__ void constant(float *out, const float *x, int n)
{
    int j = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x, j = (j + 1) & 7) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] * table_of[j];
}
// the phase of an mbarrier tells how many turns there were
extern "C" __global__ void phase(float *out, const float *x, int n)
{
    __shared__ alignas(8) unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), odd;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
    __syncthreads();
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(odd) : "r"(b));
        __syncthreads();
        if (threadIdx.x == 0) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared::cta.b64 s, [%0]; }" ::"r"(b));
        __syncthreads();
        out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + odd;
    }
}
// every fourth turn is left out
extern "C" __global__ void skips(float *out, const float *x, int n)
{
    int j = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x, j++) {
        if ((j & 3) == 3) continue;
        out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x];
    }
}
// a value decides which tile's words are read
extern "C" __global__ void asks(float *out, const float *x, int n)
{
    for (int t = blockIdx.x; t < n; t += gridDim.x) {
        float v = x[t * 64 + threadIdx.x];
        if (v > 2.f) v += out[(n - 1 - t) * 64 + threadIdx.x];
        out[t * 64 + threadIdx.x] = v;
    }
}
// two numbers at once
extern "C" __global__ void twice(float *out, const float *x, int n)
{
    for (int t = blockIdx.x, u = t + gridDim.x; t < n; t = u, u += gridDim.x) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + (float)u;
}
// the carry flag is no register
extern "C" __global__ void carry(float *out, const float *x, int n)
{
    int j = 0;
    for (int t = blockIdx.x; t < n; t += gridDim.x, j++) {
        unsigned c;
        asm volatile("{ .reg .u32 u; add.cc.u32 u, %1, 0xfffffffe; addc.u32 %0, 0, 0; }" : "=r"(c) : "r"(j));
        out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + c;
    }
}
// goes on with the counter, but begins cut to 8 bits: 256 CTAs and more would differ
extern "C" __global__ void cut(float *out, const float *x, int n)
{
    unsigned at;
    asm volatile("{ .reg .u16 h; .reg .u32 c; mov.u32 c, %%ctaid.x; cvt.u8.u32 h, c; cvt.u32.u16 %0, h; }" : "=r"(at));
    for (int t = blockIdx.x; t < n; t += gridDim.x, at += gridDim.x) out[t * 64 + threadIdx.x] = x[t * 64 + threadIdx.x] + at;
}
