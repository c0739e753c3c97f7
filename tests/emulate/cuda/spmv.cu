#include "check.h"
__global__ void spmv(int n, const int *row, const int *col, const float *v, const float *x, float *y)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= n)
        return;
    float s = 0;
    for (int k = row[r] + lane; k < row[r + 1]; k += 32)
        s += v[k] * x[col[k]];
    for (int k = 16; k; k /= 2)
        s += __shfl_xor_sync(~0u, s, k);
    if (!lane)
        y[r] = s;
}
template <class T> T *put(const std::vector<T> &h)
{
    T *d;
    OK(cudaMalloc(&d, h.size() * sizeof(T)));
    OK(cudaMemcpy(d, h.data(), h.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}
int main()
{
    const int n = 300;
    std::vector<int> row(1), col;
    std::vector<float> v, x(n), y(n);
    for (int r = 0; r < n; r++) {
        for (int k = 0; k < r % 41; k++)
            col.push_back((r * 7 + k * 13) % n), v.push_back(float(k % 5 + 1));
        row.push_back((int)col.size());
        x[r] = float(r % 9);
    }
    float *dy = put(y);
    spmv<<<(n * 32 + 127) / 128, 128>>>(n, put(row), put(col), put(v), put(x), dy);
    OK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
    for (int r = 0; r < n; r++) {
        float s = 0;
        for (int k = row[r]; k < row[r + 1]; k++)
            s += v[k] * x[col[k]];
        NEED(fabsf(y[r] - s) < 1e-3f);
    }
    return PASS;
}
