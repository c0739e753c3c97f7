/* One SM writes a buffer, then one SM reads it past L1. Which sectors L2 finds tells whether both belong to one
 * partition of L2 (tests/gpu/sides.py). nvcc -arch=sm_90 -ptx */
extern "C" __global__ void sides(unsigned *p, unsigned *came, unsigned *sum, unsigned writer, unsigned reader, unsigned n)
{
    unsigned sm, v, s = 0;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    if (sm == writer)
        for (unsigned i = threadIdx.x; i < n; i += blockDim.x)
            p[i] = i * 2654435761u;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(came, 1);
        while (atomicAdd(came, 0) < gridDim.x)
            __nanosleep(500);
    }
    __syncthreads();
    if (sm == reader) {
        for (unsigned i = threadIdx.x; i < n; i += blockDim.x) {
            asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p + i));
            s += v;
        }
        atomicAdd(sum, s);
    }
}
