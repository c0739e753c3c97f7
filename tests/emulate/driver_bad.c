#include "tests/emulate/driver.h"

#include <sys/mman.h>
#include <unistd.h>

/* What a program can do wrong with the driver: the driver's own error each time. */
enum {
    VALUE = 1,
    NO_MEMORY = 2,
    NOT_READY_YET = 3,
    NO_DEVICE_OF_THAT_NUMBER = 101,
    IMAGE = 200,
    CONTEXT = 201,
    NO_BINARY = 209,
    PTX = 218,
    SPOILT = 901,
    NO_FILE = 301,
    HANDLE = 400,
    NOT_FOUND = 500,
    ADDRESS = 700,
    NOT_SUPPORTED = 801,
    CAPTURING = 900
};
static CUcontext ctx;
static CUmodule mod;
static CUfunction fn;
static CUdeviceptr d;

static void before_anything(void)
{
    int n;
    IS(NOT_READY_YET, cuDeviceGetCount(&n));
    IS(NOT_READY_YET, cuMemAlloc(&d, 4));
    IS(VALUE, cuInit(7));
    OK(cuInit(0));
    IS(CONTEXT, cuMemAlloc(&d, 4));
    IS(CONTEXT, cuModuleLoadData(&mod, ADD_PTX));
    IS(CONTEXT, cuCtxSynchronize());
    IS(CONTEXT, cuCtxSetCurrent((CUcontext)(void *)&n));
    IS(CONTEXT, cuCtxDestroy((CUcontext)(void *)&n));
    IS(CONTEXT, cuCtxPopCurrent(&ctx));
    IS(NO_DEVICE_OF_THAT_NUMBER, cuDevicePrimaryCtxRetain(&ctx, 99));
    IS(NO_DEVICE_OF_THAT_NUMBER, cuDeviceGet(&n, -1));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
}

static void images(void)
{
    CUmodule m = NULL;
    char log[300] = "", *end;
    CUjit_option option[] = { 5, 6 };
    void *value[] = { log, (void *)(uintptr_t)sizeof log };
    unsigned char *fatbin = fatbin_of(ADD_PTX, 1), *cubin = fatbin_of("\177ELF no code", 2);
    unsigned long long far = 1ull << 40, little = 1ull << 20;
    IS(VALUE, cuModuleLoadData(&m, NULL));
    IS(VALUE, cuModuleLoadData(NULL, ADD_PTX));
    NEED(cuModuleLoadData(&m, "no PTX at all") != 0);
    IS(PTX, cuModuleLoadDataEx(&m, PTX_HEAD ".visible .entry k() { add.s32 %r1, 5 }", 2, option, value));
    NEED(*log);
    IS(NO_FILE, cuModuleLoad(&m, "/nowhere/x.ptx"));
    IS(NO_BINARY, cuModuleLoadData(&m, cubin));
    IS(NO_BINARY,
       cuModuleLoadData(&m,
                        ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }"));
    OK(cuModuleLoadFatBinary(&m, fatbin));
    OK(cuModuleUnload(m));
    memcpy(fatbin + 8, &far, 8); /* its head lies about its size */
    NEED(cuModuleLoadFatBinary(&m, fatbin) != 0);
    char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    end = page + 4096;
    mprotect(end, 4096, PROT_NONE);
    memcpy(fatbin + 8, &little, 8);
    memcpy(end - 160, fatbin, 160); /* what it says it has cannot be read */
    IS(IMAGE, cuModuleLoadFatBinary(&m, end - 160));
    memcpy(end - 64, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    memset(end - 48, 0xff, 48);
    IS(IMAGE, cuModuleLoadData(&m, end - 64));
    IS(IMAGE, cuModuleLoadData(&m, end));
    free(fatbin);
    free(cubin);
}

static void functions_and_variables(void)
{
    CUdeviceptr p;
    CUfunction f;
    size_t n;
    int v;
    OK(cuModuleLoadData(&mod, ADD_PTX));
    OK(cuModuleGetFunction(&fn, mod, "add"));
    IS(NOT_FOUND, cuModuleGetFunction(&f, mod, "subtract"));
    IS(NOT_FOUND, cuModuleGetGlobal(&p, &n, mod, "nothing"));
    IS(VALUE, cuModuleGetFunction(NULL, mod, "add"));
    IS(VALUE, cuModuleGetFunction(&f, mod, NULL));
    IS(HANDLE, cuModuleGetFunction(&f, (CUmodule)(void *)&p, "add"));
    IS(HANDLE, cuFuncGetAttribute(&v, 0, (CUfunction)(void *)&p));
    IS(VALUE, cuFuncGetAttribute(&v, 99, fn));
    IS(VALUE, cuFuncSetAttribute(fn, 8, 1 << 30));
    IS(VALUE, cuFuncSetAttribute(fn, 0, 5));
    IS(VALUE, cuDeviceGetAttribute(&v, 100000, 0));
}

static void memory(void)
{
    char host[64] = { 0 };
    size_t pitch;
    CUdeviceptr p;
    CUdeviceptr base;
    OK(cuMemAlloc(&d, 4096));
    IS(VALUE, cuMemAlloc(&p, 0));
    IS(VALUE, cuMemAlloc(NULL, 4));
    IS(NO_MEMORY, cuMemAlloc(&p, SIZE_MAX));
    IS(NO_MEMORY, cuMemAllocPitch(&p, &pitch, SIZE_MAX / 2, SIZE_MAX / 2, 4));
    IS(VALUE, cuMemFree(d + 8));
    IS(VALUE, cuMemFree(12345));
    IS(VALUE, cuMemFree((CUdeviceptr)(uintptr_t)host));
    IS(VALUE, cuMemcpyHtoD(d, host, 1 << 20));
    IS(VALUE, cuMemcpyHtoD(d + 4000, host, SIZE_MAX - 100));
    IS(VALUE, cuMemcpyHtoD(1234, host, 4));
    IS(VALUE, cuMemcpyHtoD(d, NULL, 4));
    IS(VALUE, cuMemcpyDtoH(host, 0, 4));
    IS(VALUE, cuMemsetD32(d, 0, SIZE_MAX));
    IS(VALUE, cuMemsetD32(d + 1, 0, 1));
    IS(VALUE, cuMemsetD8(77, 0, 1));
    IS(NOT_FOUND, cuMemGetAddressRange(&base, &pitch, 12345));
    IS(VALUE, cuPointerGetAttribute(&base, 2, (CUdeviceptr)(uintptr_t)host));
    IS(VALUE, cuMemFreeHost(host));
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    IS(VALUE, cuMemcpy2D(NULL));
    c.srcMemoryType = 2, c.srcDevice = d, c.srcPitch = SIZE_MAX, c.srcY = SIZE_MAX;
    c.dstMemoryType = 1, c.dstHost = host, c.dstPitch = 8, c.WidthInBytes = 8, c.Height = 2;
    IS(VALUE, cuMemcpy2D(&c));
    c.srcY = 0, c.srcPitch = 4;
    IS(VALUE, cuMemcpy2D(&c));
    CUdeviceptr freed = d;
    OK(cuMemFree(d));
    IS(VALUE, cuMemFree(freed));
    IS(VALUE, cuMemcpyHtoD(freed, host, 4));
    OK(cuMemAlloc(&d, 4096));
}

static void launches(void)
{
    unsigned by = 1, n = 16;
    CUdeviceptr a = d;
    void *args[] = { &a, &a, &by, &n }, *none[] = { NULL, NULL, NULL, NULL };
    size_t few = 4;
    void *extra[] = { (void *)1, &a, (void *)2, &few, NULL };
    CUstream s, gone;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&gone, 1));
    OK(cuStreamDestroy(gone));
    IS(HANDLE, cuLaunchKernel((CUfunction)(void *)&n, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
    IS(HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
    IS(HANDLE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, gone, args, NULL));
    IS(HANDLE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, (CUstream)(void *)&n, args, NULL));
    IS(VALUE, cuLaunchKernel(fn, 0, 1, 1, 32, 1, 1, 0, s, args, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 1, 1, 2048, 1, 1, 0, s, args, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 70000, 1, 32, 1, 1, 0, s, args, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 1 << 28, s, args, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, s, none, NULL));
    IS(VALUE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, s, NULL, extra));
    IS(VALUE, cuLaunchKernelEx(NULL, fn, args, NULL));
    IS(HANDLE, cuStreamDestroy(gone));
    IS(HANDLE, cuStreamSynchronize(gone));
    OK(cuStreamDestroy(s));
}

static void orders(void)
{
    CUstream s;
    CUevent e, f;
    CUgraph g;
    CUgraphExec x;
    CUgraphNode node, stray = (CUgraphNode)(void *)&s;
    float ms;
    OK(cuStreamCreate(&s, 1));
    OK(cuEventCreate(&e, 0));
    OK(cuEventCreate(&f, 0));
    OK(cuEventDestroy(f));
    IS(VALUE, cuStreamCreate(NULL, 0));
    IS(VALUE, cuStreamCreate(&s, 99));
    IS(HANDLE, cuEventElapsedTime(&ms, e, e));
    IS(HANDLE, cuEventRecord(f, s));
    IS(HANDLE, cuEventDestroy(f));
    IS(CAPTURING, cuStreamBeginCapture(NULL, 0));
    OK(cuStreamBeginCapture(s, 0));
    IS(CAPTURING, cuStreamSynchronize(s)); /* which spoils it */
    IS(SPOILT, cuStreamEndCapture(s, &g));
    OK(cuStreamBeginCapture(s, 0));
    OK(cuStreamEndCapture(s, &g));
    NEED(cuStreamEndCapture(s, &g) != 0);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphExecDestroy(x));
    IS(VALUE, cuGraphLaunch(x, s));
    IS(VALUE, cuGraphExecDestroy(x));
    CUDA_KERNEL_NODE_PARAMS k;
    memset(&k, 0, sizeof k);
    k.func = fn;
    NEED(cuGraphAddKernelNode(&node, g, &stray, 1, &k) != 0);
    IS(VALUE, cuGraphAddKernelNode(&node, g, NULL, 0, NULL));
    OK(cuGraphDestroy(g));
    IS(VALUE, cuGraphDestroy(g));
    IS(VALUE, cuGraphInstantiate(&x, g, 0));
    OK(cuStreamDestroy(s));
}

/* Handles of another context, and of one that is gone. */
static void strangers(void)
{
    CUcontext c, again;
    CUmodule m;
    CUfunction f;
    CUstream s;
    CUevent e;
    CUdeviceptr p;
    CUarray a;
    CUtexObject t;
    CUDA_RESOURCE_DESC r;
    CUDA_TEXTURE_DESC how;
    const CUDA_ARRAY_DESCRIPTOR sizes = { 8, 8, 0x20, 1 };
    unsigned by = 1, n = 16;
    void *args[] = { &d, &d, &by, &n };
    memset(&r, 0, sizeof r), memset(&how, 0, sizeof how);
    OK(cuCtxCreate_v2(&c, 0, 0));
    OK(cuArrayCreate(&a, &sizes));
    r.res.array.hArray = a;
    OK(cuTexObjectCreate(&t, &r, &how, NULL));
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuStreamCreate(&s, 0));
    OK(cuEventCreate(&e, 0));
    OK(cuMemAlloc(&p, 64));
    OK(cuCtxPopCurrent(&again));
    IS(HANDLE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    IS(HANDLE, cuLaunchKernel(fn, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
    IS(HANDLE, cuEventRecord(e, NULL));
    OK(cuCtxDestroy(c));
    IS(HANDLE, cuStreamSynchronize(s));
    IS(HANDLE, cuModuleUnload(m));
    IS(HANDLE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    IS(VALUE, cuMemFree(p));
    IS(VALUE, cuTexObjectDestroy(t));
    if (emulated()) /* a driver need not notice */
        IS(HANDLE, cuArrayDestroy(a));
    IS(CONTEXT, cuCtxPushCurrent(c));
}

/* A fault stays until its context is gone. */
static void faults(void)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUdeviceptr p, no = 64;
    unsigned by = 1, n = 16;
    void *args[] = { &no, &no, &by, &n };
    OK(cuCtxCreate_v2(&c, 0, 0));
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    IS(ADDRESS, cuCtxSynchronize());
    IS(ADDRESS, cuMemAlloc(&p, 4));
    NEED(cuCtxDestroy(c) == 0 || cuCtxDestroy(c) == ADDRESS);
}

/* With no other process. */
static void not_shared(void)
{
    char handle[64];
    CUmemAllocationProp p = { 1, 1, { 1, 0 }, NULL, { 0 } };
    CUmemGenericAllocationHandle h;
    CUdeviceptr q;
    CUevent e;
    int can = 1;
    OK(cuEventCreate(&e, 0));
    IS(NOT_SUPPORTED, cuIpcGetMemHandle(handle, d));
    IS(NOT_SUPPORTED, cuIpcGetMemHandle(handle, d));
    IS(NOT_SUPPORTED, cuIpcGetEventHandle(handle, e));
    IS(NOT_SUPPORTED, cuMemCreate(&h, 2 << 20, &p, 0)); /* with a handle for others */
    p.requestedHandleTypes = 0;
    OK(cuMemCreate(&h, 2 << 20, &p, 0));
    IS(NOT_SUPPORTED, cuMemExportToShareableHandle(&q, h, 1, 0));
    OK(cuMemRelease(h));
    OK(cuDeviceGetAttribute(&can, 103, 0)); /* handles for others */
    NEED(!can);
}

int main(void)
{
    before_anything();
    images();
    functions_and_variables();
    memory();
    launches();
    orders();
    strangers();
    if (emulated()) /* it can be had on a GPU */
        not_shared();
    faults();
    pass();
    return 0;
}
