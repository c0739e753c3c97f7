/* 3x3 convolution: coalesced but misaligned by one element to either side, so
 * neighbouring warps and CTAs share lines (cache-line locality), and each row is
 * read by three rows of threads. Constant weights, as in the PolyBench kernel. */
extern "C" __global__ void conv2d(const float *a, float *b, int ni, int nj)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i > 0 && i < ni - 1 && j > 0 && j < nj - 1) {
        const float *up = a + (i - 1) * nj + j, *mid = up + nj, *down = mid + nj;
        b[i * nj + j] = 0.2f * up[-1] - 0.3f * up[0] + 0.4f * up[1]
                      + 0.5f * mid[-1] + 0.6f * mid[0] + 0.7f * mid[1]
                      - 0.8f * down[-1] - 0.9f * down[0] + 0.1f * down[1];
    }
}
