/* Atomics on words whose spread over lanes, warps, sectors and lines the arguments choose (tests/gpu/atoms.py).
 * nvcc -arch=sm_90 -ptx */
extern "C" __global__ void atoms(unsigned *p, unsigned *out, unsigned op, unsigned rounds, unsigned active,
                                 unsigned lane_words, unsigned rows, unsigned row_words, unsigned span,
                                 unsigned parity_words)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, warp = t >> 5;
    unsigned x = t * 2654435761u + 12345, y = warp * 2246822519u + 777, s = 0;
    if (lane >= active)
        return;
    for (unsigned k = 0; k < rounds; k++) {
        x = x * 1664525u + 1013904223u;
        y = y * 22695477u + 1u;
        unsigned *a = p + lane * lane_words + (y >> 16) % rows * row_words + (x >> 12) % span + ((warp ^ k) & 1) * parity_words, v = 0;
        if (op == 0)
            asm volatile("red.global.add.u32 [%0], %1;" ::"l"(a), "r"(x) : "memory");
        else if (op == 1)
            asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(a), "r"(x) : "memory");
        else if (op == 2)
            asm volatile("red.global.max.s32 [%0], %1;" ::"l"(a), "r"(x) : "memory");
        else if (op == 3)
            asm volatile("red.global.or.b32 [%0], %1;" ::"l"(a), "r"(x) : "memory");
        else if (op == 4)
            asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(a), "r"(s), "r"(x) : "memory");
        else if (op == 5)
            asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(v) : "l"(a), "r"(x) : "memory");
        else
            asm volatile("red.global.add.f32 [%0], %1;" ::"l"(a), "f"((float)x) : "memory");
        s += v;
    }
    if (s == 0x12345678)
        *out = s;
}
