#include "check.h"
__global__ void wide(const float4 *__restrict__ in, float4 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = __ldg(in + i);
        out[i] = make_float4(v.w, v.z, v.y, v.x);
    }
}
__global__ void bytes(const uchar3 *in, unsigned *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = __byte_perm(in[i].x | in[i].y << 8, in[i].z, 0x4012) + __popc(in[i].x) + __clz(in[i].y | 1) + __brev(in[i].z);
}
int main()
{
    const int n = 300;
    std::vector<float> h(4 * n), r(4 * n);
    for (int i = 0; i < 4 * n; i++)
        h[i] = i;
    float4 *a, *b;
    OK(cudaMalloc(&a, n * 16));
    OK(cudaMalloc(&b, n * 16));
    OK(cudaMemcpy(a, h.data(), n * 16, cudaMemcpyDefault));
    wide<<<3, 128>>>(a, b, n);
    OK(cudaMemcpy(r.data(), b, n * 16, cudaMemcpyDefault));
    for (int i = 0; i < 4 * n; i++)
        NEED(r[i] == i / 4 * 4 + 3 - i % 4);
    uchar3 c[32], *dc;
    unsigned q[32], *dq;
    for (int i = 0; i < 32; i++)
        c[i] = make_uchar3(i * 7, i * 3 + 1, 255 - i);
    OK(cudaMalloc(&dc, sizeof c));
    OK(cudaMalloc(&dq, sizeof q));
    OK(cudaMemcpy(dc, c, sizeof c, cudaMemcpyHostToDevice));
    bytes<<<1, 32>>>(dc, dq, 32);
    OK(cudaMemcpy(q, dq, sizeof q, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        unsigned x = c[i].x, y = c[i].y, z = c[i].z, rev = 0;
        for (int k = 0; k < 32; k++)
            rev |= (z >> k & 1) << (31 - k);
        unsigned word = (z << 24) | (x << 16) | (y << 8);
        NEED(q[i] == (word & 0xffffff00u) + __builtin_popcount(x) + __builtin_clz(y | 1) + rev);
    }
    return PASS;
}
