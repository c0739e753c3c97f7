/* C[M][N] (f32) = A[M][K] (f16) times B[N][K] transposed (f16): tensor copies into a ring of four stages by
 * one producer warp, products by two consumer warpgroups. Tiles of 128 x 128 x 64, swizzle of 128 bytes. */
typedef unsigned long long u64;
typedef unsigned int u32;
struct alignas(64) tensor_map {
    char bytes[128];
};

enum { BM = 128, BN = 128, BK = 64, STAGES = 4, STAGE_BYTES = (BM + BN) * BK * 2 };

static __device__ u32 shared_address(const void *p)
{
    return (u32)__cvta_generic_to_shared(p);
}
static __device__ void wait(u32 bar, u32 parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra "
                 "again; done: }" ::"r"(bar), "r"(parity) : "memory");
}
static __device__ void arrive(u32 bar)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
static __device__ void load(u32 to, const tensor_map *m, int x, int y, u32 bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, "
                 "{%2, %3}], [%4];" ::"r"(to), "l"(m), "r"(x), "r"(y), "r"(bar) : "memory");
}
/* K-major, swizzle of 128 bytes: groups of 8 rows are 1,024 bytes apart. */
static __device__ u64 descriptor(u32 address)
{
    return (u64)((address & 0x3ffff) >> 4) | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}

#define D4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define D16(i) D4(i), D4(i + 4), D4(i + 8), D4(i + 12)
static __device__ void product(float (&d)[64], u64 a, u64 b)
{
    asm volatile("{ wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                 "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, "
                 "%51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1, 1, 1, 0, 0; }"
                 : D16(0), D16(16), D16(32), D16(48)
                 : "l"(a), "l"(b));
}

extern "C" __global__ __launch_bounds__(384) void gemm_wgmma(const __grid_constant__ tensor_map A,
                                                             const __grid_constant__ tensor_map B, const void *a_data,
                                                             const void *b_data, float *C, int n, int k)
{
    extern __shared__ __align__(1024) char ring[];
    __shared__ __align__(8) u64 bars[2 * STAGES];
    u32 full = shared_address(bars), empty = full + 8 * STAGES, base = shared_address(ring);
    int group = threadIdx.x / 128, steps = k / BK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(full + 8 * s));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(empty + 8 * s));
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (group == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
        if (threadIdx.x == 0)
            for (int i = 0; i < steps; i++) {
                int s = i % STAGES;
                u32 bar = full + 8 * s, to = base + s * STAGE_BYTES;
                wait(empty + 8 * s, (i / STAGES & 1) ^ 1);
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(STAGE_BYTES));
                load(to, &A, i * BK, blockIdx.y * BM, bar);
                load(to + BM * BK * 2, &B, i * BK, blockIdx.x * BN, bar);
            }
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    float d[64];
    for (int i = 0; i < 64; i++)
        d[i] = 0;
    for (int i = 0; i < steps; i++) {
        int s = i % STAGES;
        u32 a = base + s * STAGE_BYTES + (group - 1) * 64 * BK * 2, b = base + s * STAGE_BYTES + BM * BK * 2;
        wait(full + 8 * s, i / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < BK / 16; j++)
            product(d, descriptor(a + 32 * j), descriptor(b + 32 * j));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        for (int j = 0; j < 64; j++)
            asm volatile("" : "+f"(d[j])::"memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (threadIdx.x % 128 == 0)
            arrive(empty + 8 * s);
    }
    int lane = threadIdx.x % 32, row = blockIdx.y * BM + (group - 1) * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4,
        col = blockIdx.x * BN + lane % 4 * 2;
    for (int i = 0; i < 64; i += 2) {
        float2 *to = (float2 *)(C + (size_t)(row + 8 * (i / 2 % 2)) * n + col + 8 * (i / 4));
        *to = make_float2(d[i], d[i + 1]);
    }
}
