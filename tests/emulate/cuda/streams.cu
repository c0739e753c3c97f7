#include "check.h"
__global__ void step(int *p, int n, int by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        p[i] = 3 * p[i] + by;
}
static int called;
static void CUDART_CB back(cudaStream_t, cudaError_t e, void *data)
{
    called += e == cudaSuccess ? *(int *)data : 1000;
}
int main()
{
    const int n = 1 << 14, parts = 4, each = n / parts;
    int *h, *d, five = 5;
    cudaStream_t s[parts];
    cudaEvent_t a, b;
    OK(cudaHostAlloc(&h, n * sizeof(int), cudaHostAllocDefault));
    OK(cudaMalloc(&d, n * sizeof(int)));
    for (int i = 0; i < n; i++)
        h[i] = i;
    OK(cudaEventCreate(&a));
    OK(cudaEventCreateWithFlags(&b, cudaEventDefault));
    OK(cudaEventRecord(a));
    for (int k = 0; k < parts; k++) {
        OK(cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking));
        OK(cudaMemcpyAsync(d + k * each, h + k * each, each * sizeof(int), cudaMemcpyHostToDevice, s[k]));
        step<<<(each + 255) / 256, 256, 0, s[k]>>>(d + k * each, each, k);
        step<<<(each + 255) / 256, 256, 0, s[k]>>>(d + k * each, each, 1);
        OK(cudaMemcpyAsync(h + k * each, d + k * each, each * sizeof(int), cudaMemcpyDeviceToHost, s[k]));
        OK(cudaStreamAddCallback(s[k], back, &five, 0));
    }
    for (int k = 0; k < parts; k++)
        OK(cudaStreamSynchronize(s[k]));
    OK(cudaEventRecord(b));
    OK(cudaEventSynchronize(b));
    float ms;
    OK(cudaEventElapsedTime(&ms, a, b));
    NEED(ms >= 0 && called == 5 * parts && cudaEventQuery(b) == cudaSuccess);
    for (int i = 0; i < n; i++)
        NEED(h[i] == 3 * (3 * i + i / each) + 1);
    return PASS;
}
