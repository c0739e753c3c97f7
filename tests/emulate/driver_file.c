#include "tests/emulate/driver.h"

/* A module from a file: driver_file FILE, with the kernel add. Ends with the driver's error. */
int main(int argc, char **argv)
{
    enum { N = 256 };
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    unsigned h[N], by = 6, n = N;
    void *args[] = { &d, &d, &by, &n };
    NEED(argc == 2);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&c, 0));
    OK(cuCtxSetCurrent(c));
    int e = cuModuleLoad(&m, argv[1]);
    if (e)
        return e % 256;
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32(d, 1, N));
    OK(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    NEED(h[0] == 7 && h[N - 1] == 7);
    pass();
    return 0;
}
