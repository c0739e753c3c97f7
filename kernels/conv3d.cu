/* 3-D convolution: a thread marches through the planes (i) at one (j, k). With a
 * block narrower than a warp (16x4, as in the coalescing paper) a warp spans two
 * rows and half of its lanes lie outside the first one's line. */
extern "C" __global__ void conv3d(const float *a, float *b, int ni, int nj, int nk)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (j > 0 && j < nj - 1 && k > 0 && k < nk - 1) {
        int plane = nj * nk;
#pragma unroll 1
        for (int i = 1; i < ni - 1; i++) {
            const float *c = a + i * plane + j * nk + k;
            b[i * plane + j * nk + k] =
                  2.0f * c[-plane - nk - 1] + 5.0f * c[-plane + nk - 1] - 8.0f * c[-plane + 1]
                + 4.0f * c[plane - nk - 1] - 3.0f * c[-nk] + 6.0f * c[0] - 9.0f * c[nk]
                + 7.0f * c[plane + 1] + 10.0f * c[plane + nk + 1];
        }
    }
}
