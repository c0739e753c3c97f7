#include "tests/emulate/driver.h"

#include <unistd.h>

/* The driver's interface: device, contexts, modules, memory, launches, streams, graphs, links. */
enum { N = 256 };
static CUdevice dev;
static CUcontext ctx;
static CUmodule mod;
static CUfunction add_fn, scale_fn, turn_fn;
static unsigned h[N];

static void same(unsigned *v, unsigned want)
{
    for (int i = 0; i < N; i++)
        NEED(v[i] == want);
}

static int add_to(CUdeviceptr a, CUdeviceptr b, unsigned by, CUstream s)
{
    unsigned n = N;
    void *args[] = { &a, &b, &by, &n };
    return cuLaunchKernel(add_fn, 2, 1, 1, 128, 1, 1, 0, s, args, NULL);
}

static void device_is_there(void)
{
    int n = 0, v = 0;
    size_t bytes = 0, free_bytes = 0;
    char name[200] = "", bus[20] = "";
    CUuuid id;
    CUdevice again = 5;
    OK(cuDriverGetVersion(&v));
    NEED(v >= 12000);
    OK(cuDeviceGetCount(&n));
    NEED(n >= 1);
    OK(cuDeviceGet(&dev, 0));
    OK(cuDeviceGetName(name, sizeof name, dev));
    OK(cuDeviceGetUuid(&id, dev));
    OK(cuDeviceTotalMem(&bytes, dev));
    OK(cuDeviceGetAttribute(&v, 16, dev));
    printf("%s: %d SMs\n", name, v);
    OK(cuDeviceGetAttribute(&v, 10, dev));
    NEED(v == 32 && *name && bytes > 1u << 30);
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, dev));
    OK(cuDeviceGetByPCIBusId(&again, bus));
    NEED(again == dev);
    OK(cuDevicePrimaryCtxRetain(&ctx, dev));
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemGetInfo(&free_bytes, &bytes));
    NEED(free_bytes > 0 && free_bytes <= bytes);
}

static void modules(void)
{
    CUdeviceptr p;
    size_t n = 0;
    unsigned count = 0, table[4], five = 5;
    const char *name = NULL;
    CUmodule other;
    CUfunction f[2];
    unsigned char *fatbin = fatbin_of(DRIVER_PTX, 1);
    char log[500] = "x";
    CUjit_option option[] = { 5, 6 };
    void *value[] = { log, (void *)(uintptr_t)sizeof log };
    OK(cuModuleLoadData(&other, ADD_PTX));
    OK(cuModuleGetFunction(&add_fn, other, "add"));
    OK(cuModuleLoadDataEx(&mod, fatbin, 2, option, value));
    free(fatbin);
    NEED(!*log);
    OK(cuModuleGetFunction(&scale_fn, mod, "scale"));
    OK(cuModuleGetFunction(&turn_fn, mod, "turn"));
    OK(cuModuleGetFunctionCount(&count, mod));
    OK(cuModuleEnumerateFunctions(f, 2, mod));
    OK(cuFuncGetName(&name, scale_fn));
    OK(cuFuncGetModule(&other, scale_fn));
    NEED(count == 2 && f[0] != f[1] && strcmp(name, "scale") == 0 && other == mod);
    OK(cuModuleGetGlobal(&p, &n, mod, "table"));
    NEED(n == 16);
    OK(cuMemcpyDtoH(table, p, n));
    NEED(table[3] == 40);
    OK(cuModuleGetGlobal(&p, &n, mod, "factor"));
    OK(cuMemcpyHtoD(p, &five, n));
}

static void libraries(void)
{
    CUlibrary l;
    CUkernel k;
    CUfunction f;
    CUmodule m;
    CUdeviceptr p, d;
    size_t bytes = 0;
    unsigned n = N, count = 0;
    void *args[] = { &d, &n };
    OK(cuLibraryLoadData(&l, DRIVER_PTX, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernelCount(&count, l));
    OK(cuLibraryGetKernel(&k, l, "scale"));
    OK(cuKernelGetFunction(&f, k));
    OK(cuLibraryGetModule(&m, l));
    OK(cuLibraryGetGlobal(&p, &bytes, l, "factor"));
    NEED(count == 2 && bytes == 4);
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32(d, 7, N));
    OK(cuLaunchKernel((CUfunction)k, 2, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    OK(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    OK(cuModuleGetFunction(&f, m, "scale"));
    OK(cuLaunchKernel(f, 2, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    same(h, 7 * 27);
    OK(cuLibraryUnload(l));
    OK(cuMemFree(d));
}

static void launches(void)
{
    CUdeviceptr d;
    unsigned n = N;
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32(d, 2, N));
    struct {
        CUdeviceptr p;
        unsigned n;
    } all = { d, n };
    size_t bytes = 12;
    void *extra[] = { (void *)1, &all, (void *)2, &bytes, NULL };
    OK(cuLaunchKernel(scale_fn, 2, 1, 1, 128, 1, 1, 0, NULL, NULL, extra)); /* by 5 */
    void *args[] = { &d, &n };
    CUlaunchAttribute a[2];
    memset(a, 0, sizeof a);
    a[0].id = 4;
    a[0].value.clusterDim.x = 2;
    a[0].value.clusterDim.y = a[0].value.clusterDim.z = 1;
    a[1].id = 2;
    a[1].value.cooperative = 1;
    CUlaunchConfig c = { 2, 1, 1, 128, 1, 1, 0, NULL, a, 2 };
    OK(cuLaunchKernelEx(&c, scale_fn, args, NULL));
    OK(cuLaunchCooperativeKernel(scale_fn, 2, 1, 1, 128, 1, 1, 0, NULL, args));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    same(h, 250);
    for (unsigned i = 0; i < 64; i++)
        h[i] = i;
    OK(cuMemcpyHtoD(d, h, 256));
    OK(cuLaunchKernel(turn_fn, 1, 1, 1, 64, 1, 1, 256, NULL, args, NULL));
    OK(cuMemcpyDtoH(h, d, 256));
    NEED(h[0] == 63 && h[63] == 0 && h[10] == 53);
    OK(cuMemFree(d));
}

static void functions(void)
{
    int v = 0, ctas = 0, threads = 0;
    OK(cuFuncGetAttribute(&v, 0, scale_fn));
    NEED(v == 1024);
    OK(cuFuncGetAttribute(&v, 4, scale_fn));
    NEED(v > 0 && v < 64);
    OK(cuFuncSetAttribute(turn_fn, 8, 65536));
    OK(cuFuncGetAttribute(&v, 8, turn_fn));
    NEED(v == 65536);
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&v, scale_fn, 1024, 0));
    NEED(v == 2);
    OK(cuOccupancyMaxPotentialBlockSize(&ctas, &threads, scale_fn, NULL, 0, 0));
    NEED(ctas > 0 && threads == 1024);
}

static void memory(void)
{
    CUdeviceptr p, q, base;
    size_t n, pitch, before, after, total;
    void *host;
    unsigned *m, type = 0;
    CUmemoryPool pool;
    static unsigned own[4096];
    OK(cuMemGetInfo(&before, &total));
    OK(cuMemAlloc(&p, 1 << 21));
    OK(cuMemGetInfo(&after, &total));
    NEED(before - after >= 1 << 21);
    OK(cuMemGetAddressRange(&base, &n, p + 100));
    NEED(base == p && n == 1 << 21);
    OK(cuMemsetD16(p, 0x1234, 128));
    OK(cuMemcpyDtoH(h, p, 4));
    NEED(h[0] == 0x12341234);
    OK(cuMemAllocPitch(&q, &pitch, 100, 16, 4));
    NEED(pitch >= 100 && pitch % 4 == 0);
    OK(cuMemsetD2D8(q, pitch, 9, 100, 16));
    unsigned char rows[16][128];
    memset(rows, 0, sizeof rows);
    CUDA_MEMCPY2D c;
    memset(&c, 0, sizeof c);
    c.srcMemoryType = 2, c.srcDevice = q, c.srcPitch = pitch;
    c.dstMemoryType = 1, c.dstHost = rows, c.dstPitch = 128, c.dstXInBytes = 4, c.dstY = 1;
    c.WidthInBytes = 100, c.Height = 15;
    OK(cuMemcpy2D(&c));
    NEED(!rows[0][4] && !rows[1][3] && rows[1][4] == 9 && rows[15][103] == 9 && !rows[15][104]);
    OK(cuMemFree(q));
    OK(cuMemAllocManaged(&q, sizeof h, 1));
    m = (unsigned *)(uintptr_t)q;
    for (int i = 0; i < N; i++)
        m[i] = 1;
    OK(add_to(q, q, 1, NULL));
    OK(cuCtxSynchronize());
    same(m, 2);
    OK(cuMemHostAlloc(&host, sizeof h, 2));
    OK(cuMemHostGetDevicePointer(&base, host, 0));
    memset(host, 0, sizeof h);
    OK(add_to(base, base, 3, NULL));
    OK(cuCtxSynchronize());
    same(host, 3);
    OK(cuMemHostRegister(own, sizeof own, 0));
    OK(cuMemHostGetDevicePointer(&base, own, 0));
    OK(add_to(base, base, 4, NULL));
    OK(cuCtxSynchronize());
    same(own, 4);
    OK(cuMemHostUnregister(own));
    OK(cuPointerGetAttribute(&type, 2, p));
    NEED(type == 2);
    OK(cuPointerGetAttribute(&type, 2, (CUdeviceptr)(uintptr_t)host));
    NEED(type == 1);
    CUpointer_attribute which[] = { 1, 2, 9 };
    CUcontext owner = NULL;
    int ordinal = 7;
    void *out[] = { &owner, &type, &ordinal };
    OK(cuPointerGetAttributes(3, which, out, p));
    NEED(owner == ctx && type == 2 && ordinal == 0);
    OK(cuPointerGetAttributes(3, which, out, (CUdeviceptr)(uintptr_t)rows));
    NEED(!owner && !type);
    OK(cuMemFreeHost(host));
    OK(cuMemFree(q));
    OK(cuMemFree(p));
    OK(cuDeviceGetDefaultMemPool(&pool, dev));
    OK(cuMemAllocAsync(&p, sizeof h, NULL));
    OK(cuMemAllocFromPoolAsync(&q, sizeof h, pool, NULL));
    OK(cuMemsetD32Async(p, 5, N, NULL));
    OK(add_to(p, q, 6, NULL));
    OK(cuMemcpyDtoHAsync(h, q, sizeof h, NULL));
    OK(cuMemFreeAsync(p, NULL));
    OK(cuMemFreeAsync(q, NULL));
    OK(cuCtxSynchronize());
    same(h, 11);
}

static void called(void *data)
{
    ++*(int *)data;
}

static void streams(void)
{
    CUstream s, t;
    CUevent a, b;
    CUdeviceptr d;
    CUcontext c = NULL;
    float ms = -1;
    int calls = 0;
    OK(cuStreamCreate(&s, 1));
    OK(cuStreamCreate(&t, 0));
    OK(cuEventCreate(&a, 0));
    OK(cuEventCreate(&b, 0));
    OK(cuEventQuery(a));
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32Async(d, 1, N, s));
    OK(cuEventRecord(a, s));
    OK(add_to(d, d, 2, s));
    OK(cuEventRecord(b, s));
    OK(cuStreamWaitEvent(t, b, 0));
    OK(add_to(d, d, 3, t));
    OK(cuLaunchHostFunc(t, called, &calls));
    OK(cuStreamSynchronize(t));
    NEED(calls == 1);
    OK(cuStreamQuery(t));
    OK(cuEventSynchronize(b));
    OK(cuEventElapsedTime(&ms, a, b));
    NEED(ms >= 0);
    OK(cuStreamGetCtx(s, &c));
    NEED(c == ctx);
    OK(cuMemcpyDtoH(h, d, sizeof h));
    same(h, 6);
    OK(cuEventDestroy(a));
    OK(cuEventDestroy(b));
    OK(cuStreamDestroy(s));
    OK(cuStreamDestroy(t));
    OK(cuMemFree(d));
}

static void graphs(void)
{
    CUstream s;
    CUdeviceptr d;
    CUgraph g;
    CUgraphExec x;
    CUgraphNode plus, clear;
    CUstreamCaptureStatus status = 0;
    unsigned by = 5, n = N;
    size_t nodes = 0;
    OK(cuStreamCreate(&s, 1));
    OK(cuMemAlloc(&d, sizeof h));
    OK(cuMemsetD32(d, 0, N));
    OK(cuCtxSynchronize());
    OK(cuStreamBeginCapture(s, 0));
    OK(add_to(d, d, 1, s));
    OK(add_to(d, d, 10, s));
    OK(cuStreamIsCapturing(s, &status));
    NEED(status == 1);
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphDestroy(g));
    for (int i = 0; i < 3; i++)
        OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    same(h, 33);
    OK(cuGraphExecDestroy(x));
    void *args[] = { &d, &d, &by, &n };
    CUDA_KERNEL_NODE_PARAMS k;
    CUDA_MEMSET_NODE_PARAMS m = { d, 0, 2, 4, N, 1 };
    memset(&k, 0, sizeof k);
    k.func = add_fn;
    k.gridDimX = 2, k.gridDimY = k.gridDimZ = k.blockDimY = k.blockDimZ = 1, k.blockDimX = 128;
    k.kernelParams = args;
    OK(cuGraphCreate(&g, 0));
    OK(cuGraphAddMemsetNode(&clear, g, NULL, 0, &m, ctx));
    OK(cuGraphAddKernelNode(&plus, g, &clear, 1, &k));
    OK(cuGraphGetNodes(g, NULL, &nodes));
    NEED(nodes == 2);
    OK(cuGraphInstantiate(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemcpyDtoH(h, d, sizeof h));
    same(h, 7);
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    OK(cuStreamDestroy(s));
    OK(cuMemFree(d));
}

static void contexts(void)
{
    CUcontext c, now;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    unsigned flags;
    int active = 0;
    OK(cuCtxCreate_v2(&c, 0, dev));
    OK(cuCtxGetCurrent(&now));
    NEED(now == c && c != ctx);
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&d, sizeof h));
    NEED(f != add_fn);
    OK(cuCtxPopCurrent(&now));
    NEED(now == c);
    OK(cuCtxGetCurrent(&now));
    NEED(now == ctx);
    OK(cuMemsetD32(d, 3, N)); /* memory is of one address space */
    OK(cuCtxPushCurrent(c));
    OK(cuCtxDestroy(c));
    OK(cuCtxGetCurrent(&now));
    NEED(now == ctx);
    OK(cuDevicePrimaryCtxGetState(dev, &flags, &active));
    NEED(active == 1);
}

/* A kernel here calls a function there. */
static void links(void)
{
    static char caller[] = PTX_HEAD
        ".extern .func (.param .b32 out) twice(.param .b32 x);\n"
        ".visible .entry call(.param .u64 p) {\n" PTX_REGS
        "ld.param.u64 %rd1, [p]; ld.global.u32 %r1, [%rd1];\n"
        "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 "
        "%r2, [b]; }\nst.global.u32 [%rd1], %r2; ret; }\n";
    static char callee[] = PTX_HEAD ".visible .func (.param .b32 out) twice(.param .b32 x) {\n" PTX_REGS
                                    "ld.param.b32 %r1, [x]; shl.b32 %r2, %r1, 1; st.param.b32 [out], "
                                    "%r2; ret; }\n";
    CUlinkState l;
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    void *image, *args[] = { &d };
    size_t n = 0;
    unsigned v = 21;
    OK(cuLinkCreate(0, NULL, NULL, &l));
    OK(cuLinkAddData(l, 1, caller, sizeof caller, "caller", 0, NULL, NULL));
    OK(cuLinkAddData(l, 1, callee, sizeof callee, "callee", 0, NULL, NULL));
    OK(cuLinkComplete(l, &image, &n));
    void *copy = malloc(n);
    memcpy(copy, image, n);
    OK(cuLinkDestroy(l));
    OK(cuModuleLoadData(&m, copy));
    free(copy);
    OK(cuModuleGetFunction(&f, m, "call"));
    OK(cuMemAlloc(&d, 4));
    OK(cuMemcpyHtoD(d, &v, 4));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(&v, d, 4));
    NEED(v == 42);
    OK(cuModuleUnload(m));
    OK(cuMemFree(d));
}

/* Forty values that live at once. */
static const char *many_live(void)
{
    static char text[8000];
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         PTX_HEAD ".visible .entry live(.param .u64 p) {\n.reg .b32 %%r<41>; .reg .b64 "
                                  "%%rd<2>;\nld.param.u64 %%rd1, [p];\n");
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "ld.volatile.global.u32 %%r%d, [%%rd1+%d];\n",
                              i, 4 * i);
    for (int i = 0; i < 40; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "st.volatile.global.u32 [%%rd1+%d], %%r%d;\n",
                              4 * i, 39 - i);
    snprintf(text + n, sizeof text - n, "ret; }\n");
    return text;
}

/* Registers of a thread, by the linker and by the loader: as many as it needs, and as many as are allowed. */
static void registers(void)
{
    CUjit_option most[] = { 0 };
    void *limit[] = { (void *)(uintptr_t)32 }, *image;
    const char *text = many_live();
    CUmodule m;
    CUfunction f;
    int v = 0;
    for (int limited = 0; limited < 2; limited++) {
        CUlinkState l;
        OK(cuLinkCreate(limited, most, limit, &l));
        OK(cuLinkAddData(l, 1, (void *)(uintptr_t)text, strlen(text) + 1, "live", 0, NULL, NULL));
        OK(cuLinkComplete(l, &image, NULL));
        OK(cuModuleLoadData(&m, image));
        OK(cuModuleGetFunction(&f, m, "live"));
        OK(cuFuncGetAttribute(&v, 4, f));
        NEED(limited ? v <= 32 : v >= 40);
        OK(cuLinkDestroy(l));
        OK(cuModuleUnload(m));
        OK(cuModuleLoadDataEx(&m, text, limited, most, limit));
        OK(cuModuleGetFunction(&f, m, "live"));
        OK(cuFuncGetAttribute(&v, 4, f));
        NEED(limited ? v <= 32 : v >= 40);
        OK(cuModuleUnload(m));
    }
}

static void names(void)
{
    void *fn = NULL, *old = NULL;
    const char *s = NULL;
    CUdriverProcAddressQueryResult how = 9;
    OK(cuGetProcAddress("cuMemAlloc", &fn, 12000, 0, &how));
    OK(cuGetProcAddress("cuMemAlloc", &old, 2000, 0, &how));
    NEED(fn && old && fn != old && how == 0);
    OK(cuGetProcAddress("cuLaunchKernelEx", &fn, 11000, 0, &how));
    NEED(!fn && how == 2);
    OK(cuGetProcAddress("cuNoSuchThing", &fn, 13000, 0, &how));
    NEED(!fn && how == 1);
    OK(cuGetProcAddress("cuLaunchKernel", &fn, 12000, 2, &how));
    NEED(fn);
    OK(cuGetErrorName(209, &s));
    NEED(strcmp(s, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0);
    OK(cuGetErrorString(1, &s));
    NEED(strcmp(s, "invalid argument") == 0);
    NEED(cuGetErrorName(12345, &s) == 1 && !s);
}

/* As programs of CUDA 3 launch: shape and parameters one by one. */
static void oldest_form(void)
{
    CUmodule m;
    CUfunction f;
    CUdeviceptr d;
    unsigned out[64];
    OK(cuModuleLoadData(&m, ADD_PTX));
    OK(cuModuleGetFunction(&f, m, "add"));
    OK(cuMemAlloc(&d, sizeof out));
    OK(cuMemsetD32(d, 1, 64));
    if (emulated()) /* a driver takes some shape */
        NEED(cuLaunch(f) != 0);
    OK(cuFuncSetBlockShape(f, 32, 1, 1));
    OK(cuFuncSetSharedSize(f, 256));
    OK(cuParamSetv(f, 0, &d, 8));
    OK(cuParamSetv(f, 8, &d, 8));
    OK(cuParamSeti(f, 16, 5));
    OK(cuParamSeti(f, 20, 64));
    OK(cuParamSetSize(f, 24));
    OK(cuLaunchGrid(f, 2, 1));
    OK(cuParamSeti(f, 16, 1));
    OK(cuLaunch(f));
    OK(cuLaunchGridAsync(f, 1, 1, NULL));
    OK(cuMemcpyDtoH(out, d, sizeof out));
    NEED(out[0] == 8 && out[31] == 8 && out[32] == 6 && out[63] == 6);
    if (emulated()) /* a driver need not notice */
        NEED(cuParamSetv(f, 4090, out, 8) != 0 && cuParamSeti(f, -4, 1) != 0);
    NEED(cuFuncSetBlockShape(f, 0, 1, 1) != 0);
    if (emulated()) /* a driver need not notice */
        NEED(cuFuncSetBlockShape((CUfunction)(void *)&d, 1, 1, 1) != 0);
    OK(cuMemFree(d));
    OK(cuModuleUnload(m));
}

static void attached(void)
{
    CUcontext c, again;
    OK(cuCtxCreate_v2(&c, 0, 0));
    OK(cuCtxAttach(&again, 0));
    NEED(again == c);
    OK(cuCtxDetach(c));
    OK(cuCtxSynchronize());
    OK(cuCtxDetach(c));
    NEED(cuCtxDetach(c) == 201);
}

int main(void)
{
    CUcontext c;
    NEED(cuCtxGetCurrent(&c) == 3);
    OK(cuInit(0));
    device_is_there();
    modules();
    libraries();
    launches();
    functions();
    memory();
    streams();
    graphs();
    contexts();
    links();
    registers();
    names();
    oldest_form();
    attached();
    OK(cuModuleUnload(mod));
    OK(cuDevicePrimaryCtxRelease(dev));
    pass();
    return 0;
}
