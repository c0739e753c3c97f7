#include "check.h"
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
__global__ void tiled(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[16][16], t[16][16];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}
__global__ void tensor(const half *a, const half *b, float *c, int n)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fc, 0.f);
    for (int k = 0; k < n; k += 16) {
        wmma::load_matrix_sync(fa, a + blockIdx.y * 16 * n + k, n);
        wmma::load_matrix_sync(fb, b + k * n + blockIdx.x * 16, n);
        wmma::mma_sync(fc, fa, fb, fc);
    }
    wmma::store_matrix_sync(c + blockIdx.y * 16 * n + blockIdx.x * 16, fc, n, wmma::mem_row_major);
}
int main()
{
    const int n = 64;
    std::vector<float> a(n * n), b(n * n), c(n * n), r(n * n);
    std::vector<half> ha(n * n), hb(n * n);
    for (int i = 0; i < n * n; i++)
        ha[i] = __float2half(a[i] = i % 7 - 3), hb[i] = __float2half(b[i] = i % 5 - 2);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    float *da, *db, *dc;
    half *ea, *eb;
    OK(cudaMalloc(&da, n * n * 4));
    OK(cudaMalloc(&db, n * n * 4));
    OK(cudaMalloc(&dc, n * n * 4));
    OK(cudaMalloc(&ea, n * n * 2));
    OK(cudaMalloc(&eb, n * n * 2));
    OK(cudaMemcpy(da, a.data(), n * n * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b.data(), n * n * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(ea, ha.data(), n * n * 2, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(eb, hb.data(), n * n * 2, cudaMemcpyHostToDevice));
    tiled<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(da, db, dc, n);
    OK(cudaMemcpy(r.data(), dc, n * n * 4, cudaMemcpyDeviceToHost));
    NEED(r == c);
    tensor<<<dim3(n / 16, n / 16), 32>>>(ea, eb, dc, n);
    OK(cudaMemcpy(r.data(), dc, n * n * 4, cudaMemcpyDeviceToHost));
    NEED(r == c);
    return PASS;
}
