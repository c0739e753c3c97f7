/* Three objects, each with kernels and a CUDA runtime of its own: this one, one that it needs, one that it brings later. */
#include "../cuda/check.h"
#include <dlfcn.h>
extern "C" int one(int);
static __global__ void count(int *p, int v)
{
    *p = 7 * v;
}
int main(int, char **argv)
{
    int *d, h = 0;
    NEED(one(5) == 58);
    OK(cudaMalloc(&d, 4));
    void *l = dlopen(argv[1], RTLD_NOW);
    NEED(l);
    int (*two)(int) = (int (*)(int))dlsym(l, "two");
    NEED(two && two(9) == 102);
    count<<<1, 1>>>(d, 3);
    OK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    NEED(h == 21 && one(1) == 14 && two(1) == 14);
    puts("PASS");
    return 0;
}
