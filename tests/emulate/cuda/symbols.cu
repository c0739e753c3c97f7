#include "check.h"
__constant__ float coef[4];
__constant__ int fixed_table[3] = { 5, 6, 7 };
__device__ unsigned counter = 40;
__device__ float table[64];
__global__ void fill()
{
    int i = threadIdx.x;
    table[i] = coef[i % 4] * i + fixed_table[i % 3];
    atomicInc(&counter, 1000);
}
__global__ void twice()
{
    table[threadIdx.x] *= 2;
}
int main()
{
    float h[4] = { 1, 2, 3, 4 }, t[64], *p;
    unsigned n;
    size_t size;
    OK(cudaMemcpyToSymbol(coef, h, sizeof h));
    fill<<<1, 64>>>();
    twice<<<1, 64>>>();
    OK(cudaMemcpyFromSymbol(&n, counter, sizeof n));
    NEED(n == 104);
    OK(cudaMemcpyFromSymbol(t, table, sizeof t));
    for (int i = 0; i < 64; i++)
        NEED(t[i] == 2 * (h[i % 4] * i + 5 + i % 3));
    OK(cudaGetSymbolAddress((void **)&p, table));
    OK(cudaGetSymbolSize(&size, table));
    NEED(size == sizeof t);
    OK(cudaMemset(p, 0, size));
    OK(cudaMemcpyFromSymbol(t, table, sizeof t));
    NEED(t[9] == 0);
    float five = 5;
    OK(cudaMemcpyToSymbol(coef, &five, sizeof five, 2 * sizeof five));
    fill<<<1, 64>>>();
    OK(cudaMemcpyFromSymbol(t, table, sizeof t));
    NEED(t[2] == 5 * 2 + 7);
    return PASS;
}
