/* 7-point stencil, one thread per (x, y) marching through z. Planes above and
 * below are reused a step later, rows by neighbouring warps. Little locality that
 * L1 does not catch anyway: the papers' cache-insensitive example. */
extern "C" __global__ void stencil3d(const float *a, float *b, int nx, int ny, int nz, float c0, float c1)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1) {
        int plane = nx * ny;
#pragma unroll 1
        for (int z = 1; z < nz - 1; z++) {
            int i = z * plane + y * nx + x;
            float around = a[i + 1] + a[i - 1] + a[i + nx] + a[i - nx] + a[i + plane] + a[i - plane];
            b[i] = fmaf(c1, around, -c0 * a[i]);
        }
    }
}
