/* The cache valley in its simplest form. Each warp owns a tile of `rows` lines
 * and reads it `passes` times, coalesced. One tile is small; the tiles of all
 * resident warps together overflow L1, so with every warp caching nobody finds
 * anything again. Letting only the first few warps of a CTA cache keeps their
 * tiles resident: the best threshold lies strictly between none and all.
 * Eight independent sums keep enough loads in flight to feel bandwidth rather
 * than latency. `rows` must be a multiple of 8. */
extern "C" __global__ void valley(const float *a, float *out, int rows, int passes)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    const float *tile = a + (long long)(tid / 32) * rows * 32 + tid % 32;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma unroll 1
    for (int p = 0; p < passes; p++) {
#pragma unroll 1
        for (int r = 0; r < rows; r += 8) {
            const float *t = tile + r * 32;
            s0 += t[0];
            s1 += t[32];
            s2 += t[64];
            s3 += t[96];
            s4 += t[128];
            s5 += t[160];
            s6 += t[192];
            s7 += t[224];
        }
    }
    out[tid] = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7));
}
