/* Half a red-black Gauss-Seidel sweep, in place: cells of one colour from their four
 * neighbours of the other. No cell is read and written by different threads, so any
 * order gives the same bits; but the colours alternate, so every line that a CTA reads
 * is one that it or a neighbouring CTA writes: caches that drop written lines lose it. */
extern "C" __global__ void redblack(float *a, int nx, int ny, int colour, float w)
{
    int y = 1 + blockIdx.y * blockDim.y + threadIdx.y;
    int x = 1 + 2 * (blockIdx.x * blockDim.x + threadIdx.x) + ((y + colour) & 1);
    if (x < nx - 1 && y < ny - 1) {
        int i = y * nx + x;
        float around = a[i - 1] + a[i + 1] + a[i - nx] + a[i + nx];
        a[i] = fmaf(w, fmaf(0.25f, around, -a[i]), a[i]);
    }
}
