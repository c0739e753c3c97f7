#include "check.h"
__global__ void transpose(const double *in, double *out, int w, int h)
{
    __shared__ double s[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h)
        s[threadIdx.y][threadIdx.x] = in[y * w + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w)
        out[y * h + x] = s[threadIdx.x][threadIdx.y];
}
int main()
{
    const int w = 75, h = 50;
    std::vector<double> a(w * h), b(w * h);
    for (int i = 0; i < w * h; i++)
        a[i] = i;
    double *da, *db;
    OK(cudaMalloc(&da, w * h * 8));
    OK(cudaMalloc(&db, w * h * 8));
    OK(cudaMemcpy(da, a.data(), w * h * 8, cudaMemcpyHostToDevice));
    transpose<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(da, db, w, h);
    OK(cudaMemcpy(b.data(), db, w * h * 8, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            NEED(b[x * h + y] == a[y * w + x]);
    return PASS;
}
