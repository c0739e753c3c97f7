#include "tests/emulate/program.h"

int cuDeviceGetCount(int *n); /* the driver's */

/* What the device and a kernel are, by the preset; launches that do not fit are refused. A call of the runtime
 * initialises the driver. */
int main(void)
{
    static char stub, none;
    int n = 0, v = 0;
    size_t free_bytes, total;
    struct {
        struct cudaFuncAttributes a;
        struct cudaFuncClusters c;
    } f;
    char p[2048];
    unsigned *d;
    kernel(load(ADD_PTX), &stub, "add");
    OK(cudaGetDeviceCount(&n));
    NEED(n == 1);
    n = 0;
    OK(cuDeviceGetCount(&n));
    NEED(n == 1);
    NEED(cudaSetDevice(1) == cudaErrorInvalidDevice);
    OK(cudaDeviceGetAttribute(&v, 16, 0));
    printf("SMs %d\n", v);
    OK(cudaGetDeviceProperties(p, 0));
    printf("%s\n", p);
    memset(&f, 0xff, sizeof f);
    OK(cudaFuncGetAttributes(&f.a, &stub));
    NEED(f.a.maxThreadsPerBlock == 1024 && f.a.numRegs > 0 && f.a.sharedSizeBytes == 0);
    NEED(!f.c.clusterDimMustBeSet && !f.c.requiredClusterWidth && !f.c.reserved[15]);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &stub, 1024, 0));
    NEED(n == 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, &stub, 128, 40000));
    NEED(n > 0 && n < 6);
    OK(cudaMemGetInfo(&free_bytes, &total));
    OK(cudaMalloc((void **)&d, 1 << 20));
    size_t left;
    OK(cudaMemGetInfo(&left, &total));
    NEED(left == free_bytes - (1 << 20));
    NEED(cudaMalloc((void **)&d, total) == cudaErrorMemoryAllocation);
    OK(cudaGetLastError() == cudaErrorMemoryAllocation ? 0 : 1);
    void *args[] = { &d, &d, &n, &n };
    NEED(launch(&stub, 1, 1025, args, NULL) == cudaErrorInvalidValue);
    NEED(launch(&stub, 0, 32, args, NULL) == cudaErrorInvalidValue);
    NEED(launch(&none, 1, 32, args, NULL) == cudaErrorInvalidDeviceFunction);
    NEED(cudaLaunchKernel(&stub, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, args, 60000, NULL) ==
         cudaErrorInvalidValue);
    OK(cudaFuncSetAttribute(&stub, 8, 60000));
    OK(cudaLaunchKernel(&stub, (dim3){ 1, 1, 1 }, (dim3){ 32, 1, 1 }, args, 60000, NULL));
    NEED(cudaLaunchCooperativeKernel(&stub, (dim3){ 60000, 1, 1 }, (dim3){ 1024, 1, 1 }, args, 0,
                                     NULL) == cudaErrorCooperativeLaunchTooLarge);
    OK(cudaDeviceCanAccessPeer(&n, 0, 0));
    NEED(n == 0 && cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessUnsupported);
    pass();
    return 0;
}
