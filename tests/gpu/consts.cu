/* Reads of constant memory by an index: one after another, or several at once (tests/gpu/consts.py).
 * nvcc -arch=sm_90 -ptx */
__constant__ unsigned table[16384]; /* zeroes */

/* One read after another, each lane `lane_words` from its neighbour, `step` words on each time. */
extern "C" __global__ void consts_chain(unsigned *out, unsigned rounds, unsigned step, unsigned mask, unsigned lane_words, unsigned lanes)
{
    unsigned i = (threadIdx.x & (lanes - 1)) * lane_words;
    for (unsigned k = 0; k < rounds; k++)
        i = (i + step + table[i]) & mask;
    out[blockIdx.x * blockDim.x + threadIdx.x] = i;
}
/* Four reads at once; each warp begins elsewhere. */
extern "C" __global__ void consts_many(unsigned *out, unsigned rounds, unsigned step, unsigned mask, unsigned lane_words, unsigned lanes)
{
    unsigned lane = (threadIdx.x & (lanes - 1)) * lane_words, warp = threadIdx.x >> 5, i = (lane + warp * 1024) & mask, s = 0;
    for (unsigned k = 0; k < rounds; k++) {
        s += table[i] + table[(i + step) & mask] + table[(i + 2 * step) & mask] + table[(i + 3 * step) & mask];
        i = (i + 4 * step) & mask;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s + i;
}
/* The same of words known when it is compiled. */
extern "C" __global__ void consts_known(unsigned *out, unsigned rounds, unsigned step, unsigned mask, unsigned lane_words, unsigned lanes)
{
    unsigned s = threadIdx.x;
    for (unsigned k = 0; k < rounds; k++)
#pragma unroll
        for (unsigned j = 0; j < 64; j++)
            s = s * 5 + table[j * 16];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
}
