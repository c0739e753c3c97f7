// Programs of tests/gpu/capture.py: kernels with data of every kind, by launches or ("graph") by a CUDA graph; "loop N R": N launches, timed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <chrono>
#include <cuda_runtime.h>
struct Args { const float *in; const int *index; float *out; int n; float scale; };
__constant__ float c_table[16];
__device__ int d_count[4];
__global__ void scale(const float *x, float *y, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
__global__ void gather(Args a) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < a.n) a.out[i] = a.scale * a.in[a.index[i]]; }
__global__ void rows(float *const *row, float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) out[i] = row[i & 3][i]; }
__global__ void table(float *out, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { out[i] = c_table[i & 15] * (float)i; if (i < 4) atomicAdd(&d_count[i], i + 1); } }
__global__ void dyn(const float *x, float *out) { extern __shared__ float s[]; s[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x]; __syncthreads(); out[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x]; }
__global__ void __cluster_dims__(2, 1, 1) clus(float *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = (float)blockIdx.x; }
__global__ void fill(float *p, int n, float v) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i] = v * (float)(i % 1000); }
__global__ void ex(const float *x, float *y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = __expf(x[i] * 0.001f) + rsqrtf(x[i] + 1); }
__global__ void work(float *p, int n, int r) { int i = blockIdx.x * blockDim.x + threadIdx.x; float v = 0; for (int k = 0; k < r; k++) v += p[(i + k * 977) % n]; p[i % n] = v; }
static int loop(int launches, int r) {
    float *p; int n = 1 << 20; cudaMalloc(&p, n * 4); cudaMemset(p, 0, n * 4); work<<<1056, 256>>>(p, n, r); cudaDeviceSynchronize();
    auto a = std::chrono::steady_clock::now();
    for (int i = 0; i < launches; i++) work<<<1056, 256>>>(p, n, r);
    cudaDeviceSynchronize();
    printf("loop_ms %.3f\n", std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - a).count()); return 0; }
int main(int c, char **v) {
    if (c > 3 && !strcmp(v[1], "loop")) return loop(atoi(v[2]), atoi(v[3]));
    int n = 1 << 20, graph = c > 1 && !strcmp(v[1], "graph"); float *big, *y, *r[4], **rp; int *idx; 
    cudaMalloc(&big, 64 << 20); cudaMalloc(&y, n * 4); cudaMalloc(&idx, n * 4); cudaMalloc(&rp, 32);
    float *x = big + (8 << 20) / 4; // inside a larger allocation, as a caching allocator has it
    int *h = (int *)malloc(n * 4); unsigned s = 1; for (int i = 0; i < n; i++) h[i] = (s = s * 1664525 + 1013904223) >> 12; cudaMemcpy(idx, h, n * 4, cudaMemcpyHostToDevice);
    float t[16]; for (int i = 0; i < 16; i++) t[i] = 1.0f / (i + 1); cudaMemcpyToSymbol(c_table, t, sizeof t);
    for (int i = 0; i < 4; i++) { cudaMalloc(&r[i], n * 4); fill<<<n / 256, 256>>>(r[i], n, i + 1.5f); } cudaMemcpy(rp, r, 32, cudaMemcpyHostToDevice);
    cudaStream_t st; cudaStreamCreate(&st); cudaGraph_t g; cudaGraphExec_t e;
    fill<<<n / 256, 256>>>(x, n, 0.25f); cudaMemset(y, 0, n * 4);
    Args a = { x, idx, y, n, 3.0f };
    if (graph) { cudaDeviceSynchronize(); cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal); scale<<<n / 256, 256, 0, st>>>(x, y, 2.0f, n); gather<<<n / 256, 256, 0, st>>>(a); cudaStreamEndCapture(st, &g); cudaGraphInstantiate(&e, g, 0); for (int i = 0; i < 20; i++) cudaGraphLaunch(e, st); }
    else for (int i = 0; i < 5; i++) {
    scale<<<n / 256, 256>>>(x, y, 2.0f, n); gather<<<n / 256, 256>>>(a); rows<<<n / 256, 256>>>(rp, y, n); table<<<n / 256, 256>>>(y, n);
    dyn<<<n / 1024, 1024, 4096>>>(x, y); clus<<<64, 128>>>(y); ex<<<n / 256, 256>>>(x, y, n); }
    cudaDeviceSynchronize(); float q[4]; cudaMemcpy(q, y, 16, cudaMemcpyDeviceToHost);
    printf("%g %g %g %s\n", q[1], q[2], q[3], cudaGetErrorString(cudaGetLastError())); return 3; }
