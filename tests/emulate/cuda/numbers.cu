#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <complex>
#include <cuda/std/complex>
__global__ void maths(const double *x, double *r, int n)
{
    int i = threadIdx.x;
    if (i < n)
        r[i] = sin(x[i]) * exp(-x[i]) + log1p(x[i]) + pow(x[i], 1.7) + erf(x[i]) + tgamma(x[i] + 1) + fma(x[i], 2.0, 1.0);
}
__global__ void halves(const float *x, float *r)
{
    int i = threadIdx.x;
    half2 h = __floats2half2_rn(x[i], -x[i]);
    h = __hfma2(h, h, h);
    __nv_bfloat16 b = __float2bfloat16(x[i]);
    r[i] = __low2float(h) + __high2float(h) + __bfloat162float(b * b);
}
__global__ void complexes(cuda::std::complex<float> *c)
{
    c[threadIdx.x] = c[threadIdx.x] * cuda::std::complex<float>(0, 1) + cuda::std::complex<float>(1, 0);
}
int main()
{
    double x[32], r[32], *dx, *dr;
    float f[32], g[32], *df, *dg;
    for (int i = 0; i < 32; i++)
        x[i] = 0.1 * i, f[i] = 0.25f * (i % 8);
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dr, sizeof r));
    OK(cudaMalloc(&df, sizeof f));
    OK(cudaMalloc(&dg, sizeof g));
    OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(df, f, sizeof f, cudaMemcpyHostToDevice));
    maths<<<1, 32>>>(dx, dr, 32);
    OK(cudaMemcpy(r, dr, sizeof r, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        double w = sin(x[i]) * exp(-x[i]) + log1p(x[i]) + pow(x[i], 1.7) + erf(x[i]) + tgamma(x[i] + 1) + fma(x[i], 2.0, 1.0);
        NEED(fabs(r[i] - w) < 1e-12 * (1 + fabs(w)));
    }
    halves<<<1, 32>>>(df, dg);
    OK(cudaMemcpy(g, dg, sizeof g, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        NEED(fabsf(g[i] - 3 * f[i] * f[i]) < 0.02f);
    std::complex<float> c[4] = { 1, { 2, 1 }, 3, { 0, 4 } }, *dc;
    OK(cudaMalloc(&dc, sizeof c));
    OK(cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice));
    complexes<<<1, 4>>>((cuda::std::complex<float> *)dc);
    std::complex<float> q[4];
    OK(cudaMemcpy(q, dc, sizeof q, cudaMemcpyDeviceToHost));
    NEED(q[1] == c[1] * std::complex<float>(0, 1) + 1.f && q[3] == std::complex<float>(-3, 0));
    return PASS;
}
