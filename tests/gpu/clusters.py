#!/usr/bin/env python3
"""Where the CTAs of thread-block clusters lie, and at which clock kernels run, on GPU 0 (needs CuPy).

    tests/gpu/clusters.py place     for each cluster size and size of shared memory: most clusters at once, SMs used by the first wave,
                                    clusters with two CTAs on one SM
    tests/gpu/clusters.py clock     GHz (%clock against %globaltimer) of kernels with and without tensor cores

docs/lab/clusters.md has the figures of an H100."""
import ctypes as C, sys
import cupy as cp, numpy as np

STAMPS = '''
typedef unsigned long long u64;
__device__ u64 nanoseconds() { u64 t; asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t)); return t; }
#define BEGIN u64 g0 = nanoseconds(); long long c0 = clock64();
#define END   long long c1 = clock64(); u64 g1 = nanoseconds(); if (threadIdx.x == 0) { o[2 * blockIdx.x] = c1 - c0; o[2 * blockIdx.x + 1] = g1 - g0; }
'''
PLACE = STAMPS + '''
extern "C" __global__ void place(unsigned *o, unsigned cycles)
{
    unsigned sm, first = (unsigned)nanoseconds();
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    for (long long c = clock64(); clock64() - c < cycles;) ;
    if (threadIdx.x == 0) { o[2 * blockIdx.x] = sm; o[2 * blockIdx.x + 1] = first; }
}
'''
PRODUCT = 'asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%s}, %%32, %%33, 1, 1, 1, 0, 0;" : %s : "l"(da), "l"(db));' % (
    ', '.join('%%%d' % i for i in range(32)), ', '.join('"+f"(d[%d])' % i for i in range(32)))
CLOCK = STAMPS + '''
extern "C" __global__ void waits(u64 *o, float *x, int n, unsigned v) { BEGIN for (int i = 0; i < n; i++) __nanosleep(20); END }
extern "C" __global__ void sums(u64 *o, float *x, int n, unsigned v)
{
    BEGIN float a[8]; for (int k = 0; k < 8; k++) a[k] = threadIdx.x + k;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 8; k++) a[k] = a[k] * 1.0001f + 0.5f;
    float t = 0; for (int k = 0; k < 8; k++) t += a[k];
    if (t == 12345.f) x[0] = t;
    END
}
extern "C" __global__ void stream(u64 *o, float4 *x, int n, unsigned v)
{
    BEGIN float t = 0; long all = 1l << 22, id = blockIdx.x * (long)blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) { float4 w = __ldcg(&x[(id + i * (long)gridDim.x * blockDim.x) % all]); t += w.x + w.y + w.z + w.w; }
    if (t == 12345.f) x[0].x = t;
    END
}
extern "C" __global__ void mma(u64 *o, float *x, int n, unsigned v)
{
    BEGIN float d[4][4] = {}; unsigned a = v, b = v;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 4; k++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%5,%5},{%0,%1,%2,%3};" : "+f"(d[k][0]), "+f"(d[k][1]), "+f"(d[k][2]), "+f"(d[k][3]) : "r"(a), "r"(b));
    float t = 0; for (int k = 0; k < 4; k++) t += d[k][0];
    if (t == 12345.f) x[0] = t;
    END
}
__device__ u64 descriptor(unsigned a) { return 1ull << 62 | 64ull << 32 | 1ull << 16 | (a >> 4 & 0x3fff); }
extern "C" __global__ void __launch_bounds__(128) wgmma(u64 *o, float *x, int n, unsigned v) // v 1: random halves
{
    extern __shared__ __align__(1024) unsigned char s[];
    for (unsigned i = threadIdx.x; i < 8192; i += 128) ((unsigned *)s)[i] = v == 1 ? i * 2654435761u & 0xbfffbfffu : v;
    __syncthreads(); asm volatile("fence.proxy.async;");
    BEGIN float d[32] = {}; unsigned a = (unsigned)__cvta_generic_to_shared(s); u64 da = descriptor(a), db = descriptor(a + 16384);
    for (int i = 0; i < n; i++) {
        asm volatile("wgmma.fence.sync.aligned;");
        ''' + PRODUCT * 8 + '''
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");
    }
    float t = 0; for (int k = 0; k < 32; k++) t += d[k];
    if (t == 12345.f) x[0] = t;
    END
}
'''

class Attribute(C.Structure): _fields_ = [("id", C.c_int), ("pad", C.c_int), ("v", C.c_uint * 16)]
class Config(C.Structure): _fields_ = [("grid", C.c_uint * 3), ("block", C.c_uint * 3), ("shared", C.c_uint), ("stream", C.c_void_p), ("at", C.POINTER(Attribute)), ("n", C.c_uint)]
CLUSTER, SHARED, NOT_PORTABLE = 4, 8, 14

def module(code): return cp.RawModule(code=code, options=("-arch=sm_90a",), backend="nvrtc")
def place():
    cu, f = C.CDLL("libcuda.so.1"), C.c_void_p(module(PLACE).get_function("place").kernel.ptr)
    def call(name, *args):
        if getattr(cu, name)(*args): raise SystemExit(name + " failed")
    call("cuFuncSetAttribute", f, NOT_PORTABLE, 1)
    for size in (1, 2, 4, 8, 16):
        for kib, threads in ((200, 128), (100, 128), (60, 256), (0, 128), (0, 1024)):
            call("cuFuncSetAttribute", f, SHARED, max(kib << 10, 16))
            at = (Attribute * 1)(); at[0].id = CLUSTER; at[0].v[0], at[0].v[1], at[0].v[2] = size, 1, 1
            n = 528 // size * size
            config = Config((C.c_uint * 3)(n, 1, 1), (C.c_uint * 3)(threads, 1, 1), max(kib << 10, 16), None, at, 1)
            most = C.c_int(); call("cuOccupancyMaxActiveClusters", C.byref(most), f, C.byref(config))
            o = cp.zeros((n, 2), cp.uint32); cp.cuda.Device().synchronize()
            p, cycles = C.c_void_p(o.data.ptr), C.c_uint(30000)
            call("cuLaunchKernelEx", C.byref(config), f, (C.c_void_p * 2)(C.cast(C.byref(p), C.c_void_p), C.cast(C.byref(cycles), C.c_void_p)), None)
            cp.cuda.Device().synchronize(); h = o.get().astype(np.int64)
            first = h[h[:, 1] - h[:, 1].min() < 12000]
            shared = sum(len(set(c)) < size for c in h[:, 0].reshape(-1, size))
            print("clusters of %2d, %3d KiB, %4d threads: %4d at once, %3d SMs in the first wave, %d with two CTAs on one SM" % (size, kib, threads, most.value, len(set(first[:, 0])), shared), flush=True)
def clock():
    m, x = module(CLOCK), cp.zeros(1 << 24, cp.float32)
    for name, what, grid, block, n, v, shared in (("waits", "", 132, 128, 1000, 0, 0), ("sums", "", 528, 256, 400, 0, 0), ("stream", "", 1056, 256, 20, 0, 0), ("mma", "ones", 528, 256, 60, 0x3c003c00, 0), ("mma", "ones", 528, 256, 600, 0x3c003c00, 0),
                                                  *(("wgmma", w, g, 128, n, v, 32768) for w, v in (("zeros", 0), ("ones", 0x3c003c00), ("random", 1)) for g, n in ((16, 40), (132, 40), (264, 4), (264, 400)))):
        f, o, ghz = m.get_function(name), cp.zeros((grid, 2), cp.uint64), []
        for _ in range(20):
            f((grid,), (block,), (o, x, cp.int32(n), cp.uint32(v)), shared_mem=shared); cp.cuda.Device().synchronize()
            h = o.get().astype(float); ghz.append(h[:, 0].sum() / h[:, 1].sum())
        print("%-6s %-6s %4d CTAs, %7.1f us: %.3f GHz" % (name, what, grid, h[:, 1].mean() / 1000, np.median(ghz)), flush=True)

if __name__ == "__main__":
    if sys.argv[1:] not in (["place"], ["clock"]): sys.exit(__doc__)
    {"place": place, "clock": clock}[sys.argv[1]]()
