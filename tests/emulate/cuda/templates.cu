#include "check.h"
template <class T, int K> __global__ void axpy(T a, const T *x, T *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = a * x[i] + y[i] + T(K);
}
template <class T, int K> void one(T a)
{
    const int n = 3001;
    std::vector<T> x(n), y(n);
    for (int i = 0; i < n; i++)
        x[i] = T(i % 17), y[i] = T(i % 5);
    T *dx, *dy;
    OK(cudaMalloc(&dx, n * sizeof(T)));
    OK(cudaMalloc(&dy, n * sizeof(T)));
    OK(cudaMemcpy(dx, x.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(dy, y.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    axpy<T, K><<<7, 96>>>(a, dx, dy, n);
    OK(cudaGetLastError());
    std::vector<T> r(n);
    OK(cudaMemcpy(r.data(), dy, n * sizeof(T), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        NEED(r[i] == a * x[i] + y[i] + T(K));
    OK(cudaFree(dx));
    OK(cudaFree(dy));
}
int main()
{
    one<float, 1>(2.f);
    one<double, 2>(3.);
    one<int, 3>(4);
    one<long long, 3>(5);
    return PASS;
}
