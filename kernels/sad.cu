/* Sums of absolute differences for motion search: one 8 by 8 block of the current frame per CTA, one
 * offset of the 16 by 16 search window per thread. The window is read from the reference frame. */
extern "C" __global__ void sad(const unsigned char *now, const unsigned char *before, int *out, int width)
{
    int dx = threadIdx.x % 16, dy = threadIdx.x / 16, x = blockIdx.x * 8, y = blockIdx.y * 8;
    int sum = 0;
#pragma unroll 1
    for (int v = 0; v < 8; v++)
        for (int u = 0; u < 8; u++) {
            int a = now[(y + v) * width + x + u], b = before[(y + v + dy) * (width + 16) + x + u + dx];
            sum += a > b ? a - b : b - a;
        }
    out[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] = sum;
}
