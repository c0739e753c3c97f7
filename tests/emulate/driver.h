/* What the programs on the driver's interface call, as cuda.h declares it; with -DWITH_CUDA_H that header
 * itself, to run them on a GPU. */
#ifndef TESTS_EMULATE_DRIVER_H
#define TESTS_EMULATE_DRIVER_H

#include "tests/emulate/program.h"

/* Without a GPU? A driver need not notice every fault that is told here. */
static inline bool emulated(void)
{
    return getenv("GPULOCW_EMULATE") != NULL;
}

#ifdef WITH_CUDA_H
#include <cuda.h>
#define ALIAS(name) name
#else
typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct image *CUmodule, *CUlibrary;
typedef struct kernel *CUfunction, *CUkernel;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct graph *CUgraph;
typedef struct node *CUgraphNode;
typedef struct exec *CUgraphExec;
typedef struct pool *CUmemoryPool;
typedef struct link *CUlinkState;
typedef struct array *CUarray;
typedef unsigned long long CUtexObject, CUsurfObject, CUmemGenericAllocationHandle;
typedef int CUarray_format, CUmemAllocationGranularity_flags;
typedef int CUjit_option, CUjitInputType, CUpointer_attribute, CUdriverProcAddressQueryResult,
    CUstreamCaptureStatus;
typedef struct {
    char bytes[16];
} CUuuid;
typedef struct {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int cooperative;
        struct {
            unsigned x, y, z;
        } clusterDim;
    } value;
} CUlaunchAttribute;
typedef struct {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;
typedef struct {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    void *srcArray;
    size_t srcPitch, dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    void *dstArray;
    size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;
typedef struct {
    CUfunction func;
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    CUkernel kern;
    CUcontext ctx;
} CUDA_KERNEL_NODE_PARAMS;
typedef struct {
    CUdeviceptr dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct {
    size_t Width, Height;
    CUarray_format Format;
    unsigned NumChannels;
} CUDA_ARRAY_DESCRIPTOR;
typedef struct {
    size_t Width, Height, Depth;
    CUarray_format Format;
    unsigned NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;
typedef struct {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight, dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight, WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;
typedef struct {
    int resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
} CUDA_RESOURCE_DESC;
typedef struct {
    int addressMode[3], filterMode;
    unsigned flags, maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp, borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;
typedef struct {
    int type, id;
} CUmemLocation;
typedef struct {
    int type, requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    unsigned char allocFlags[8];
} CUmemAllocationProp;
typedef struct {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

/* The symbols of the present versions, as cuda.h has them. */
#define cuArrayCreate             cuArrayCreate_v2
#define cuArray3DCreate           cuArray3DCreate_v2
#define cuArrayGetDescriptor      cuArrayGetDescriptor_v2
#define cuArray3DGetDescriptor    cuArray3DGetDescriptor_v2
#define cuMemcpy3D                cuMemcpy3D_v2
#define cuMemcpyHtoA              cuMemcpyHtoA_v2
#define cuMemcpyAtoH              cuMemcpyAtoH_v2
#define cuMemcpyDtoA              cuMemcpyDtoA_v2
#define cuMemcpyAtoD              cuMemcpyAtoD_v2
#define cuMemcpyAtoA              cuMemcpyAtoA_v2
#define cuIpcOpenMemHandle        cuIpcOpenMemHandle_v2
#define cuCtxDestroy              cuCtxDestroy_v2
#define cuCtxPushCurrent          cuCtxPushCurrent_v2
#define cuCtxPopCurrent           cuCtxPopCurrent_v2
#define cuDeviceGetUuid           cuDeviceGetUuid_v2
#define cuDeviceTotalMem          cuDeviceTotalMem_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset   cuDevicePrimaryCtxReset_v2
#define cuEventDestroy            cuEventDestroy_v2
#define cuGetProcAddress          cuGetProcAddress_v2
#define cuGraphAddKernelNode      cuGraphAddKernelNode_v2
#define cuGraphInstantiate        cuGraphInstantiateWithFlags
#define cuLinkAddData             cuLinkAddData_v2
#define cuLinkCreate              cuLinkCreate_v2
#define cuMemAlloc                cuMemAlloc_v2
#define cuMemAllocPitch           cuMemAllocPitch_v2
#define cuMemFree                 cuMemFree_v2
#define cuMemGetAddressRange      cuMemGetAddressRange_v2
#define cuMemGetInfo              cuMemGetInfo_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister         cuMemHostRegister_v2
#define cuMemcpy2D                cuMemcpy2D_v2
#define cuMemcpyDtoD              cuMemcpyDtoD_v2
#define cuMemcpyDtoH              cuMemcpyDtoH_v2
#define cuMemcpyDtoHAsync         cuMemcpyDtoHAsync_v2
#define cuMemcpyHtoD              cuMemcpyHtoD_v2
#define cuMemcpyHtoDAsync         cuMemcpyHtoDAsync_v2
#define cuMemsetD16               cuMemsetD16_v2
#define cuMemsetD2D8              cuMemsetD2D8_v2
#define cuMemsetD32               cuMemsetD32_v2
#define cuMemsetD8                cuMemsetD8_v2
#define cuModuleGetGlobal         cuModuleGetGlobal_v2
#define cuStreamBeginCapture      cuStreamBeginCapture_v2
#define cuStreamDestroy           cuStreamDestroy_v2

CUresult cuInit(unsigned flags), cuDriverGetVersion(int *v), cuDeviceGetCount(int *n),
    cuDeviceGet(CUdevice *d, int n);
CUresult cuDeviceGetName(char *s, int n, CUdevice d), cuDeviceGetUuid(CUuuid *u, CUdevice d);
CUresult cuDeviceTotalMem(size_t *n, CUdevice d), cuDeviceGetAttribute(int *v, int a, CUdevice d);
CUresult cuDeviceGetPCIBusId(char *s, int n, CUdevice d),
    cuDeviceGetByPCIBusId(CUdevice *d, const char *s);
CUresult cuDevicePrimaryCtxRetain(CUcontext *c, CUdevice d), cuDevicePrimaryCtxRelease(CUdevice d);
CUresult cuDevicePrimaryCtxReset(CUdevice d),
    cuDevicePrimaryCtxGetState(CUdevice d, unsigned *flags, int *active);
CUresult cuCtxCreate_v2(CUcontext *c, unsigned flags, CUdevice d), cuCtxDestroy(CUcontext c);
CUresult cuCtxPushCurrent(CUcontext c), cuCtxPopCurrent(CUcontext *c), cuCtxSetCurrent(CUcontext c);
CUresult cuCtxGetCurrent(CUcontext *c), cuCtxGetDevice(CUdevice *d), cuCtxSynchronize(void);
CUresult cuGetErrorName(CUresult r, const char **s), cuGetErrorString(CUresult r, const char **s);
CUresult cuGetProcAddress(const char *n, void **fn, int version, unsigned long long flags,
                          CUdriverProcAddressQueryResult *how);
CUresult cuModuleLoadData(CUmodule *m, const void *p), cuModuleLoadFatBinary(CUmodule *m, const void *p),
    cuModuleLoad(CUmodule *m, const char *path);
CUresult cuModuleLoadDataEx(CUmodule *m, const void *p, unsigned n, CUjit_option *o, void **v);
CUresult cuModuleUnload(CUmodule m), cuModuleGetFunction(CUfunction *f, CUmodule m, const char *name);
CUresult cuModuleGetGlobal(CUdeviceptr *p, size_t *n, CUmodule m, const char *name);
CUresult cuModuleGetFunctionCount(unsigned *n, CUmodule m),
    cuModuleEnumerateFunctions(CUfunction *f, unsigned n, CUmodule m);
CUresult cuLibraryLoadData(CUlibrary *l, const void *p, CUjit_option *o, void **v, unsigned n, void *lo,
                           void **lv, unsigned ln);
CUresult cuLibraryGetKernel(CUkernel *k, CUlibrary l, const char *name), cuLibraryUnload(CUlibrary l);
CUresult cuLibraryGetModule(CUmodule *m, CUlibrary l),
    cuLibraryGetGlobal(CUdeviceptr *p, size_t *n, CUlibrary l, const char *name);
CUresult cuLibraryGetKernelCount(unsigned *n, CUlibrary l),
    cuKernelGetFunction(CUfunction *f, CUkernel k), cuFuncGetName(const char **s, CUfunction f);
CUresult cuFuncGetAttribute(int *v, int a, CUfunction f), cuFuncSetAttribute(CUfunction f, int a, int v),
    cuFuncGetModule(CUmodule *m, CUfunction f);
CUresult cuLinkCreate(unsigned n, CUjit_option *o, void **v, CUlinkState *l),
    cuLinkDestroy(CUlinkState l), cuLinkComplete(CUlinkState l, void **p, size_t *n);
CUresult cuLinkAddData(CUlinkState l, CUjitInputType t, void *p, size_t n, const char *name, unsigned k,
                       CUjit_option *o, void **v);
CUresult cuMemAlloc(CUdeviceptr *p, size_t n), cuMemFree(CUdeviceptr p),
    cuMemGetInfo(size_t *f, size_t *t), cuMemFreeHost(void *p);
CUresult cuMemAllocPitch(CUdeviceptr *p, size_t *pitch, size_t w, size_t h, unsigned e),
    cuMemAllocManaged(CUdeviceptr *p, size_t n, unsigned f);
CUresult cuMemHostAlloc(void **p, size_t n, unsigned f),
    cuMemHostRegister(void *p, size_t n, unsigned f), cuMemHostUnregister(void *p);
CUresult cuMemHostGetDevicePointer(CUdeviceptr *d, void *p, unsigned f),
    cuMemGetAddressRange(CUdeviceptr *b, size_t *n, CUdeviceptr p);
CUresult cuMemAllocAsync(CUdeviceptr *p, size_t n, CUstream s),
    cuMemFreeAsync(CUdeviceptr p, CUstream s), cuDeviceGetDefaultMemPool(CUmemoryPool *p, CUdevice d);
CUresult cuMemAllocFromPoolAsync(CUdeviceptr *p, size_t n, CUmemoryPool o, CUstream s);
CUresult cuPointerGetAttribute(void *v, CUpointer_attribute a, CUdeviceptr p),
    cuPointerGetAttributes(unsigned n, CUpointer_attribute *a, void **v, CUdeviceptr p);
CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t n),
    cuMemcpyDtoH(void *to, CUdeviceptr from, size_t n),
    cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t n);
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n), cuMemcpy2D(const CUDA_MEMCPY2D *c);
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t n, CUstream s),
    cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t n, CUstream s);
CUresult cuMemsetD8(CUdeviceptr p, unsigned char v, size_t n),
    cuMemsetD16(CUdeviceptr p, unsigned short v, size_t n),
    cuMemsetD32(CUdeviceptr p, unsigned v, size_t n);
CUresult cuMemsetD2D8(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h),
    cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s);
CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned shared, CUstream s, void **args, void **extra);
CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **args, void **extra);
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, CUstream s, void **args);
CUresult cuLaunchHostFunc(CUstream s, void (*fn)(void *), void *data);
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, CUfunction f, int threads, size_t shared);
CUresult cuOccupancyMaxPotentialBlockSize(int *ctas, int *threads, CUfunction f,
                                          size_t (*shared_of)(int), size_t shared, int limit);
CUresult cuStreamCreate(CUstream *s, unsigned f), cuStreamDestroy(CUstream s),
    cuStreamSynchronize(CUstream s), cuStreamQuery(CUstream s);
CUresult cuStreamGetCtx(CUstream s, CUcontext *c), cuStreamWaitEvent(CUstream s, CUevent e, unsigned f);
CUresult cuEventCreate(CUevent *e, unsigned f), cuEventDestroy(CUevent e),
    cuEventRecord(CUevent e, CUstream s), cuEventQuery(CUevent e), cuEventSynchronize(CUevent e);
CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b);
CUresult cuStreamBeginCapture(CUstream s, int mode), cuStreamEndCapture(CUstream s, CUgraph *g),
    cuStreamIsCapturing(CUstream s, CUstreamCaptureStatus *v);
CUresult cuGraphInstantiate(CUgraphExec *x, CUgraph g, unsigned long long f),
    cuGraphLaunch(CUgraphExec x, CUstream s), cuGraphExecDestroy(CUgraphExec x),
    cuGraphDestroy(CUgraph g);
CUresult cuGraphCreate(CUgraph *g, unsigned f), cuGraphGetNodes(CUgraph g, CUgraphNode *n, size_t *k);
CUresult cuGraphAddKernelNode(CUgraphNode *n, CUgraph g, const CUgraphNode *b, size_t k,
                              const CUDA_KERNEL_NODE_PARAMS *p);
CUresult cuGraphAddMemsetNode(CUgraphNode *n, CUgraph g, const CUgraphNode *b, size_t k,
                              const CUDA_MEMSET_NODE_PARAMS *p, CUcontext c);
CUresult cuIpcGetMemHandle(void *handle, CUdeviceptr p), cuIpcGetEventHandle(void *handle, CUevent e);
CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle h, int type,
                                      unsigned long long flags);
CUresult cuFuncSetBlockShape(CUfunction f, int x, int y, int z),
    cuFuncSetSharedSize(CUfunction f, unsigned n), cuParamSetSize(CUfunction f, unsigned n),
    cuParamSeti(CUfunction f, int at, unsigned v),
    cuParamSetv(CUfunction f, int at, void *p, unsigned n), cuLaunch(CUfunction f),
    cuLaunchGrid(CUfunction f, int w, int h), cuLaunchGridAsync(CUfunction f, int w, int h, CUstream s);
CUresult cuCtxAttach(CUcontext *c, unsigned flags), cuCtxDetach(CUcontext c);
CUresult cuArrayCreate(CUarray *a, const CUDA_ARRAY_DESCRIPTOR *d), cuArrayDestroy(CUarray a),
    cuArray3DCreate(CUarray *a, const CUDA_ARRAY3D_DESCRIPTOR *d),
    cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR *d, CUarray a),
    cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR *d, CUarray a);
CUresult cuMemcpy3D(const CUDA_MEMCPY3D *c);
CUresult cuMemcpyHtoA(CUarray to, size_t x, const void *from, size_t n),
    cuMemcpyAtoH(void *to, CUarray from, size_t x, size_t n);
CUresult cuMemcpyDtoA(CUarray to, size_t x, CUdeviceptr from, size_t n),
    cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t x, size_t n),
    cuMemcpyAtoA(CUarray to, size_t x, CUarray from, size_t y, size_t n);
CUresult cuTexObjectCreate(CUtexObject *t, const CUDA_RESOURCE_DESC *r, const CUDA_TEXTURE_DESC *d,
                           const void *view),
    cuTexObjectDestroy(CUtexObject t), cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *r, CUtexObject t),
    cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *d, CUtexObject t);
CUresult cuSurfObjectCreate(CUsurfObject *s, const CUDA_RESOURCE_DESC *r),
    cuSurfObjectDestroy(CUsurfObject s);
CUresult cuGraphAddMemcpyNode(CUgraphNode *n, CUgraph g, const CUgraphNode *b, size_t k,
                              const CUDA_MEMCPY3D *c, CUcontext x);
CUresult cuMemGetAllocationGranularity(size_t *n, const CUmemAllocationProp *p, int which),
    cuMemAddressReserve(CUdeviceptr *p, size_t n, size_t align, CUdeviceptr like, unsigned long long f),
    cuMemAddressFree(CUdeviceptr p, size_t n);
CUresult cuMemCreate(CUmemGenericAllocationHandle *h, size_t n, const CUmemAllocationProp *p,
                     unsigned long long flags),
    cuMemRelease(CUmemGenericAllocationHandle h),
    cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *h, void *p);
CUresult cuMemMap(CUdeviceptr p, size_t n, size_t offset, CUmemGenericAllocationHandle h,
                  unsigned long long flags),
    cuMemUnmap(CUdeviceptr p, size_t n),
    cuMemSetAccess(CUdeviceptr p, size_t n, const CUmemAccessDesc *a, size_t count),
    cuMemGetAccess(unsigned long long *flags, const CUmemLocation *l, CUdeviceptr p);
#endif

/* p[i] *= factor; table[3] is 40 at first. A kernel with dynamic shared memory turns 64 words round. */
#define DRIVER_PTX                                                                                      \
    PTX_HEAD ".visible .const .align 4 .b32 factor = 3;\n"                                              \
             ".visible .global .align 4 .b32 table[4] = {10, 20, 30, 40};\n"                            \
             ".extern .shared .align 4 .b8 room[];\n"                                                   \
             ".visible .entry scale(.param .u64 p, .param .u32 n) {\n" PTX_REGS PTX_THREAD              \
             "ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret; ld.param.u64 %rd1, [p];\n"    \
             "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd1, %rd3; ld.const.u32 %r6, [factor];\n"       \
             "ld.global.u32 %r7, [%rd4]; mul.lo.u32 %r8, %r7, %r6; st.global.u32 [%rd4], %r8; ret; }\n" \
             ".visible .entry turn(.param .u64 p) {\n" PTX_REGS                                         \
             "mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, room; add.s32 %r4, %r3, %r2;\n"    \
             "ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"           \
             "ld.global.u32 %r5, [%rd3]; st.shared.u32 [%r4], %r5; bar.sync 0;\n"                       \
             "sub.s32 %r6, 252, %r2; add.s32 %r7, %r3, %r6; ld.shared.u32 %r8, [%r7];\n"                \
             "st.global.u32 [%rd3], %r8; ret; }\n"
#endif
