/* CTA (x, y) streams a tile chosen by x alone. CTAs of one column of the grid
 * share it, but the hardware hands out CTAs along x, so at any moment an SM works
 * on tiles that have nothing in common. Column-major clustering brings the
 * sharers together. `words` is the tile's size in floats. */
extern "C" __global__ void tile_share(const float *a, float *out, int words)
{
    const float *tile = a + (long long)blockIdx.x * words;
    float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma unroll 1
    for (int i = threadIdx.x; i < words; i += 4 * blockDim.x) {
        s0 += tile[i];
        s1 += tile[i + blockDim.x];
        s2 += tile[i + 2 * blockDim.x];
        s3 += tile[i + 3 * blockDim.x];
    }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x] = (s0 + s1) + (s2 + s3) + blockIdx.y;
}
