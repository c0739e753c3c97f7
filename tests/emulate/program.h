/* Programs that register a PTX container themselves, as a compiler's host code does, and call the CUDA
 * runtime that is put before them. Each checks its results and ends with 0, or with the line that failed. */
#ifndef TESTS_EMULATE_PROGRAM_H
#define TESTS_EMULATE_PROGRAM_H

#include "engine/emulate/runtime/cuda_abi.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *fun, const char *name, int limit,
                            void *tid, void *bid, void *bdim, void *gdim, int *wsize);
void __cudaRegisterVar(void **handle, char *host, char *device_name, const char *name, int ext,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t size, int constant, int global);
char __cudaInitModule(void **handle);
int cudaMalloc(void **p, size_t n), cudaFree(void *p),
    cudaMallocManaged(void **p, size_t n, unsigned flags);
int cudaMallocHost(void **p, size_t n), cudaFreeHost(void *p),
    cudaHostRegister(void *p, size_t n, unsigned f);
int cudaMallocAsync(void **p, size_t n, cudaStream_t s), cudaFreeAsync(void *p, cudaStream_t s);
int cudaMemGetInfo(size_t *f, size_t *t), cudaMallocPitch(void **p, size_t *pitch, size_t w, size_t h);
int cudaMemcpy(void *to, const void *from, size_t n, int kind), cudaMemset(void *p, int v, size_t n);
int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, cudaStream_t s);
int cudaMemcpy2D(void *to, size_t tp, const void *from, size_t fp, size_t w, size_t h, int kind);
int cudaMemcpyToSymbol(const void *s, const void *from, size_t n, size_t offset, int kind);
int cudaMemcpyFromSymbol(void *to, const void *s, size_t n, size_t offset, int kind);
int cudaGetSymbolAddress(void **p, const void *s), cudaGetSymbolSize(size_t *n, const void *s);
int cudaLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t s);
int cudaLaunchCooperativeKernel(const void *f, dim3 g, dim3 b, void **args, size_t shared,
                                cudaStream_t s);
int cudaDeviceSynchronize(void), cudaGetLastError(void), cudaPeekAtLastError(void),
    cudaDeviceReset(void);
const char *cudaGetErrorName(int e), *cudaGetErrorString(int e);
int cudaStreamCreate(cudaStream_t *s), cudaStreamSynchronize(cudaStream_t s),
    cudaStreamDestroy(cudaStream_t s);
int cudaEventCreate(cudaEvent_t *e), cudaEventRecord(cudaEvent_t e, cudaStream_t s);
int cudaEventSynchronize(cudaEvent_t e), cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b);
int cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags);
int cudaStreamIsCapturing(cudaStream_t s, int *status);
int cudaStreamUpdateCaptureDependencies(cudaStream_t s, cudaGraphNode_t *v, const void *edges, size_t n,
                                        unsigned alone);
int cudaLaunchHostFunc(cudaStream_t s, cudaHostFn_t fn, void *data);
int cudaStreamBeginCapture(cudaStream_t s, int mode),
    cudaStreamEndCapture(cudaStream_t s, cudaGraph_t *g);
int cudaGraphInstantiate(cudaGraphExec_t *x, cudaGraph_t g, unsigned long long flags);
int cudaGraphLaunch(cudaGraphExec_t x, cudaStream_t s), cudaGraphCreate(cudaGraph_t *g, unsigned flags);
int cudaGraphAddKernelNode(cudaGraphNode_t *n, cudaGraph_t g, cudaGraphNode_t const *before, size_t k,
                           const struct cudaKernelNodeParams *p);
int cudaGraphAddMemsetNode(cudaGraphNode_t *n, cudaGraph_t g, cudaGraphNode_t const *before, size_t k,
                           const struct cudaMemsetParams *p);
int cudaStreamGetCaptureInfo(cudaStream_t s, int *status, unsigned long long *id, cudaGraph_t *g,
                             cudaGraphNode_t const **last, const void **edges, size_t *n);
int cudaGraphClone(cudaGraph_t *out, cudaGraph_t g);
int cudaGraphGetEdges(cudaGraph_t g, cudaGraphNode_t *from, cudaGraphNode_t *to, void *data, size_t *n);
int cudaGraphNodeGetDependencies(cudaGraphNode_t k, cudaGraphNode_t *out, void *data, size_t *n);
int cudaGraphNodeGetDependentNodes(cudaGraphNode_t k, cudaGraphNode_t *out, void *data, size_t *n);
int cudaGraphRemoveDependencies(cudaGraph_t g, cudaGraphNode_t const *from, cudaGraphNode_t const *to,
                                const void *data, size_t n);
int cudaGraphDestroyNode(cudaGraphNode_t k);
int cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t k, cudaGraph_t clone);
int cudaGraphMemsetNodeGetParams(cudaGraphNode_t k, struct cudaMemsetParams *p);
int cudaGraphAddNode(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before,
                     const void *data, size_t n, void *params);
int cudaGraphNodeSetParams(cudaGraphNode_t k, const void *params);
int cudaGraphExecNodeSetParams(cudaGraphExec_t x, cudaGraphNode_t k, const void *params);
int cudaGraphAddChildGraphNode(cudaGraphNode_t *out, cudaGraph_t g, cudaGraphNode_t const *before,
                               size_t n, cudaGraph_t child);
int cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t k, cudaGraph_t *out);
int cudaGetDeviceCount(int *n), cudaSetDevice(int id), cudaDeviceGetAttribute(int *v, int a, int id);
int cudaGetDeviceProperties(void *p, int id), cudaDeviceCanAccessPeer(int *can, int id, int peer);
int cudaDeviceEnablePeerAccess(int peer, unsigned flags);
int cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *f);
int cudaFuncSetAttribute(const void *f, int attribute, int value);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *n, const void *f, int threads, size_t shared);
int cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p);
int cudaMallocArray(cudaArray_t *a, const struct cudaChannelFormatDesc *d, size_t w, size_t h,
                    unsigned flags);
int cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t w,
                        size_t h, int kind);
int cudaCreateTextureObject(cudaTextureObject_t *o, const struct cudaResourceDesc *r,
                            const struct cudaTextureDesc *t, const void *view);
int cudaIpcGetMemHandle(void *handle, void *p);

/* GO_ON in the environment: what fails is told, and the program goes on, so that one run on a GPU tells
 * all. A fault is told with the check before it. */
static volatile int checked_line;
static int failed_line;

static inline void pass(void)
{
    if (failed_line)
        exit(failed_line % 100 + 1);
    puts("PASS");
}

static void say_fault(int signal)
{
    printf("signal %d behind line %d\n", signal, checked_line);
    fflush(stdout);
    _exit(127);
}

__attribute__((constructor)) static void tell_faults(void)
{
    signal(SIGSEGV, say_fault);
}

static inline void failed(int line, const char *what, long long got)
{
    static int last;
    if (line != last)
        printf("line %d: %s: %lld\n", line, what, got);
    last = line;
    failed_line = failed_line ? failed_line : line;
    if (!getenv("GO_ON"))
        exit(line % 100 + 1);
}

#define IS(wanted, call)                                  \
    do {                                                  \
        checked_line = __LINE__;                          \
        long long got_ = (long long)(call);               \
        if (got_ != (long long)(wanted))                  \
            failed(__LINE__, #call " == " #wanted, got_); \
    } while (0)
#define NEED(condition) IS(true, !!(condition))
#define OK(call)        IS(0, call)

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
/* Thread number, all CTAs counted, in %r4. */
#define PTX_THREAD                                                                                 \
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, " \
    "%r3;\n"
#define PTX_REGS ".reg .pred %p<5>; .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .f32 %f<10>;\n"

/* A fatbin of one entry as nvcc 13 writes it, to be freed: of PTX (kind 1) or of machine code (kind 2). */
static inline unsigned char *fatbin_of(const char *text, unsigned short kind)
{
    size_t n = strlen(text), padded = (n + 8) / 8 * 8;
    unsigned head = 80, magic = 0xba55ed50, names = 64, sm = 80;
    unsigned char *c = calloc(1, 16 + head + padded), *e = c + 16;
    unsigned long long size = head + padded, payload = padded, flags = 0x11, name_bytes = 72;
    unsigned short one = 1, sixteen = 16, major = 8, mark = 0x0101;
    memcpy(c, &magic, 4), memcpy(c + 4, &one, 2), memcpy(c + 6, &sixteen, 2), memcpy(c + 8, &size, 8);
    memcpy(e, &kind, 2), memcpy(e + 2, &mark, 2), memcpy(e + 4, &head, 4), memcpy(e + 8, &payload, 8);
    memcpy(e + 0x14, &names, 4), memcpy(e + 0x1a, &major, 2), memcpy(e + 0x1c, &sm, 4);
    memcpy(e + 0x28, &flags, 8), memcpy(e + 0x40, &name_bytes, 8);
    memcpy(e + head, text, n);
    return c;
}

/* Registers it, as a compiler's host code does. */
static inline void **load_kind(const char *text, unsigned short kind)
{
    struct {
        unsigned magic, version;
        void *data, *more;
    } *wrapper = calloc(1, sizeof *wrapper);
    wrapper->magic = 0x466243b1;
    wrapper->version = 1;
    wrapper->data = fatbin_of(text, kind);
    void **handle = __cudaRegisterFatBinary(wrapper);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

static inline void **load(const char *text)
{
    return load_kind(text, 1);
}

/* `stub` stands for the kernel from here on. */
static inline void kernel(void **handle, const void *stub, const char *name)
{
    __cudaRegisterFunction(handle, stub, (char *)(uintptr_t)name, name, -1, NULL, NULL, NULL, NULL,
                           NULL);
}

static inline int launch(const void *stub, unsigned ctas, unsigned threads, void **args, cudaStream_t s)
{
    return cudaLaunchKernel(stub, (dim3){ ctas, 1, 1 }, (dim3){ threads, 1, 1 }, args, 0, s);
}

/* b[i] = a[i] + by, n words */
#define ADD_PTX                                                                                     \
    PTX_HEAD                                                                                        \
    ".visible .entry add(.param .u64 a, .param .u64 b, .param .u32 by, .param .u32 n) {\n" PTX_REGS \
        PTX_THREAD "ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;\n"                  \
    "ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b]; ld.param.u32 %r6, [by];\n"                     \
    "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;\n"              \
    "ld.global.u32 %r7, [%rd4]; add.s32 %r8, %r7, %r6; st.global.u32 [%rd5], %r8; ret; }\n"

static inline int add(const void *stub, void *a, void *b, unsigned by, unsigned n, cudaStream_t s)
{
    void *args[] = { &a, &b, &by, &n };
    return launch(stub, (n + 127) / 128, 128, args, s);
}
#endif
