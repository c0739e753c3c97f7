#include "check.h"
typedef float (*op_t)(float, float);
__device__ float plus(float a, float b)
{
    return a + b;
}
__device__ float times(float a, float b)
{
    return a * b;
}
__device__ op_t d_plus = plus, d_times = times;
__device__ op_t both[2] = { times, plus };
__global__ void apply(op_t f, float *p)
{
    p[threadIdx.x] = f(p[threadIdx.x], 3);
}
__global__ void choose(int k, float *p)
{
    p[threadIdx.x] = both[k](p[threadIdx.x], 3);
}
struct shape {
    __device__ virtual float area() const = 0;
};
struct square : shape {
    float a;
    __device__ square(float x) : a(x) {}
    __device__ float area() const override { return a * a; }
};
struct circle : shape {
    float r;
    __device__ circle(float x) : r(x) {}
    __device__ float area() const override { return 3 * r * r; }
};
__global__ void areas(float *p)
{
    shape *s = threadIdx.x % 2 ? (shape *)new square(threadIdx.x) : (shape *)new circle(threadIdx.x);
    p[threadIdx.x] = s->area();
    delete s;
}
int main()
{
    float h[8], *d;
    op_t f, g;
    OK(cudaMemcpyFromSymbol(&f, d_plus, sizeof f));
    OK(cudaMemcpyFromSymbol(&g, d_times, sizeof g));
    for (int i = 0; i < 8; i++)
        h[i] = i;
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    apply<<<1, 8>>>(f, d);
    apply<<<1, 8>>>(g, d);
    choose<<<1, 8>>>(1, d);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        NEED(h[i] == (i + 3) * 3 + 3);
    areas<<<1, 8>>>(d);
    OK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 8; i++)
        NEED(h[i] == (i % 2 ? i * i : 3 * i * i));
    return PASS;
}
