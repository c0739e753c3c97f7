#include "check.h"
__global__ void heat(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1, y = blockIdx.y * blockDim.y + threadIdx.y + 1;
    if (x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
int main()
{
    const int n = 66, steps = 20;
    std::vector<float> a(n * n), b, r(n * n);
    for (int i = 0; i < n; i++)
        a[i] = 100, a[i * n] = 50;
    b = a;
    float *da, *db;
    OK(cudaMalloc(&da, n * n * 4));
    OK(cudaMalloc(&db, n * n * 4));
    OK(cudaMemcpy(da, a.data(), n * n * 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, da, n * n * 4, cudaMemcpyDeviceToDevice));
    for (int k = 0; k < steps; k++) {
        heat<<<dim3(4, 4), dim3(16, 16)>>>(da, db, n);
        std::swap(da, db);
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++)
                b[y * n + x] = 0.25f * (a[y * n + x - 1] + a[y * n + x + 1] + a[(y - 1) * n + x] + a[(y + 1) * n + x]);
        a.swap(b);
    }
    OK(cudaMemcpy(r.data(), da, n * n * 4, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n * n; i++)
        NEED(fabsf(r[i] - a[i]) < 1e-4f);
    return PASS;
}
