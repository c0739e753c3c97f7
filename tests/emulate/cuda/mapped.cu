#include "check.h"
__global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}
int main()
{
    const int n = 2000;
    float *in, *d, *out = (float *)malloc(n * sizeof(float)), *dout;
    OK(cudaHostAlloc(&in, n * sizeof(float), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer((void **)&d, in, 0));
    OK(cudaHostRegister(out, n * sizeof(float), cudaHostRegisterMapped));
    OK(cudaHostGetDevicePointer((void **)&dout, out, 0));
    for (int i = 0; i < n; i++)
        in[i] = i;
    scale<<<(n + 127) / 128, 128>>>(d, dout, n);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        NEED(out[i] == 2 * i);
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, in));
    NEED(a.type == cudaMemoryTypeHost);
    OK(cudaHostUnregister(out));
    NEED(out[7] == 14);
    free(out);
    OK(cudaFreeHost(in));
    return PASS;
}
