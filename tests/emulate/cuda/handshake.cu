#include "check.h"
__global__ void wait_for(volatile int *flag, int *out)
{
    while (*flag == 0)
        ;
    *out = *flag + 1;
}
int main()
{
    int *flag, *out;
    OK(cudaMallocHost(&flag, 4));
    OK(cudaMallocHost(&out, 4));
    *flag = 0, *out = 0;
    wait_for<<<1, 1>>>(flag, out);
    NEED(*out == 0);
    *(volatile int *)flag = 41;
    OK(cudaDeviceSynchronize());
    NEED(*out == 42);
    return PASS;
}
