/* What the executor has to cope with besides arithmetic, in CUDA; features.ptx is built from it:
 *   nvcc -arch=compute_90 -ptx -o features.ptx features.cu
 * Every kernel takes one pointer; test_sim_exec_cuda.c knows what it must leave there. */
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
namespace cg = cooperative_groups;

__constant__ float table4[4] = { 1, 2, 3, 4 };
extern "C" __global__ void k_printf(int *d)
{
    if (threadIdx.x < 2)
        printf("t %d %.1f %s %5.2e|%lld %c %x %%\n", threadIdx.x, threadIdx.x * 1.5, "str", 12345.678, (long long)-5, 'z', 255);
    d[threadIdx.x] = table4[threadIdx.x & 3];
}

__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
extern "C" __global__ void k_recursion(int *d) { d[threadIdx.x] = fib(threadIdx.x % 12); }

typedef int (*step)(int);
__device__ __noinline__ int plus(int x) { return x + 1; }
__device__ __noinline__ int twice(int x) { return x * 2; }
__device__ __noinline__ int minus(int x) { return x - 7; }
__device__ step steps[3] = { plus, twice, minus };
extern "C" __global__ void k_pointers(int *d) { d[threadIdx.x] = steps[threadIdx.x % 3](threadIdx.x); }

struct big { int a[5]; double b; };
__device__ __noinline__ big change(big x, int n)
{
    for (int i = 0; i < 5; i++)
        x.a[i] += n * i;
    x.b *= 2;
    return x;
}
extern "C" __global__ void k_struct(int *d)
{
    big x = { { 1, 2, 3, 4, 5 }, 1.5 }, r = change(x, threadIdx.x);
    d[threadIdx.x] = r.a[threadIdx.x % 5] + (int)r.b;
}

extern "C" __global__ void k_lock(int *d)
{
    int *lock = d, *sum = d + 1;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *(volatile int *)sum += threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
    d[32 + blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

extern "C" __global__ void k_grid_barrier(int *d)
{
    __shared__ int seen;
    if (threadIdx.x == 0) {
        atomicAdd(d, 1);
        while (atomicAdd(d, 0) < (int)gridDim.x)
            ;
        seen = d[0];
    }
    __syncthreads();
    d[32 + blockIdx.x * blockDim.x + threadIdx.x] = seen;
}

extern "C" __global__ void k_groups(int *d)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int v = threadIdx.x;
    for (int o = 4; o; o >>= 1)
        v += tile.shfl_down(v, o);
    d[threadIdx.x] = tile.shfl(v, 0);
    if (threadIdx.x % 3 == 0) {
        auto c = cg::coalesced_threads();
        d[threadIdx.x] += 1000 * c.size() + 100000 * c.thread_rank();
    }
}

extern "C" __global__ void k_half(int *d)
{
    __half a = __float2half(threadIdx.x * 0.5f), b = __int2half_rn(threadIdx.x);
    __half2 c = __hfma2(__halves2half2(a, b), __halves2half2(b, a), __float2half2_rn(0.5f));
    __nv_bfloat16 z = __float2bfloat16(threadIdx.x * 0.25f);
    d[threadIdx.x * 2] = (int)(2 * __half2float(__low2half(c))) + 1000 * __hgt(b, a);
    d[threadIdx.x * 2 + 1] = (int)(16 * __bfloat162float(z * z));
}

extern "C" __global__ void k_assert(int *d)
{
    assert(d[threadIdx.x] == 0 && "must be zero");
    d[threadIdx.x] = 1;
}

extern "C" __global__ void k_reduce(int *d)
{
    int v = threadIdx.x;
    d[v] = __reduce_add_sync(~0u, v) + __syncthreads_count(v & 1) * 1000 + (__syncthreads_or(v == 5) ? 100000 : 0) + (__syncthreads_and(v < 60) ? 1000000 : 0);
    d[v + 64] = __popc(__match_any_sync(~0u, v % 3));
    d[v + 128] = __popc(__ballot_sync(~0u, v > 10));
}

extern "C" __global__ void k_flow(int *d)
{
    int v = threadIdx.x, s = 0;
    for (int i = 0; i < v; i++) {
        if (i % 3 == 0)
            continue;
        if (i > 20)
            break;
        s += i;
        if (s > 100 && (v & 1))
            goto out;
    }
    s += 1000;
out:
    switch (v % 7) {
    case 0: s += 1; /* fall through */
    case 1: s += 2; break;
    case 2: s *= 3; break;
    case 5: s -= 9; break;
    default: s ^= 1;
    }
    d[v] = s;
}

extern "C" __global__ void k_wmma(float *d)
{
    using namespace nvcuda;
    __shared__ half m[2][256];
    for (int i = threadIdx.x; i < 256; i += 32) {
        m[0][i] = __int2half_rn(i % 7 - 3);
        m[1][i] = __int2half_rn(i % 5 - 2);
    }
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 1.0f);
    wmma::load_matrix_sync(a, m[0], 16);
    wmma::load_matrix_sync(b, m[1], 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(d, c, 16, wmma::mem_row_major);
}

extern "C" __global__ void k_wide(unsigned long long *d)
{
    unsigned __int128 x = ((unsigned __int128)threadIdx.x << 70) * 12345678901234567ull + 99;
    d[threadIdx.x * 2] = (unsigned long long)(x / 1000003ull);
    d[threadIdx.x * 2 + 1] = (unsigned long long)(x % 1000003ull);
}

extern "C" __global__ void k_atomics(int *d)
{
    atomicAdd((float *)d, 1.0f + threadIdx.x);
    atomicAdd((double *)(d + 2), 0.5);
    atomicMax(d + 4, threadIdx.x);
    atomicInc((unsigned *)d + 5, 10);
    atomicAdd((__half2 *)(d + 6), __float2half2_rn(1.0f));
    atomicAdd((unsigned long long *)(d + 8), 3ull);
    atomicMin((long long *)(d + 10), -(long long)threadIdx.x);
    atomicDec((unsigned *)d + 12, 5);
    atomicXor(d + 13, 1 << threadIdx.x);
}

extern "C" __global__ void k_local(int *d)
{
    int a[32];
    for (int i = 0; i < 32; i++)
        a[i] = i * 3;
    int s = 0;
    for (int i = 0; i < 32; i++)
        s += a[(i * 7 + threadIdx.x) & 31] * i;
    d[threadIdx.x] = s;
}

extern "C" __global__ void k_shared(int *d)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[32];
    dynamic[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32)
        fixed[threadIdx.x] = 5;
    __syncthreads();
    int *p = (threadIdx.x & 1) ? dynamic : fixed;
    d[threadIdx.x] = p[(threadIdx.x * 5) & 31];
}

extern "C" __global__ void k_async(int *d)
{
    __shared__ int buffer[64];
    unsigned to = (unsigned)__cvta_generic_to_shared(buffer + threadIdx.x);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(d + (63 - threadIdx.x)));
    asm volatile("cp.async.commit_group;\ncp.async.wait_group 0;");
    __syncthreads();
    d[64 + threadIdx.x] = buffer[threadIdx.x ^ 1];
}
