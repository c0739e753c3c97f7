#include "check.h"
__global__ void forces(const float4 *p, float3 *a, int n)
{
    extern __shared__ float4 s[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? p[i] : make_float4(0, 0, 0, 0);
    float3 f = make_float3(0, 0, 0);
    for (int k = 0; k < n; k += blockDim.x) {
        s[threadIdx.x] = k + threadIdx.x < n ? p[k + threadIdx.x] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++) {
            float x = s[j].x - me.x, y = s[j].y - me.y, z = s[j].z - me.z, r = rsqrtf(x * x + y * y + z * z + 0.01f);
            float w = s[j].w * r * r * r;
            f.x += w * x, f.y += w * y, f.z += w * z;
        }
        __syncthreads();
    }
    if (i < n)
        a[i] = f;
}
int main()
{
    const int n = 200;
    std::vector<float4> p(n);
    std::vector<float3> a(n);
    for (int i = 0; i < n; i++)
        p[i] = make_float4(sinf(i), cosf(3 * i), i % 7, 1 + i % 3);
    float4 *dp;
    float3 *da;
    OK(cudaMalloc(&dp, n * sizeof(float4)));
    OK(cudaMalloc(&da, n * sizeof(float3)));
    OK(cudaMemcpy(dp, p.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
    forces<<<(n + 63) / 64, 64, 64 * sizeof(float4)>>>(dp, da, n);
    OK(cudaMemcpy(a.data(), da, n * sizeof(float3), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        double x = 0;
        for (int j = 0; j < n; j++) {
            double dx = p[j].x - p[i].x, dy = p[j].y - p[i].y, dz = p[j].z - p[i].z, r = 1 / sqrt(dx * dx + dy * dy + dz * dz + 0.01);
            x += p[j].w * r * r * r * dx;
        }
        NEED(fabs(a[i].x - x) < 1e-3 * (1 + fabs(x)));
    }
    return PASS;
}
