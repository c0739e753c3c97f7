/* Cosine transform of 8 by 8 blocks, as a product with the table of coefficients on both sides; one block
 * of the image per CTA. Every CTA reads the same table. */
extern "C" __global__ void dct(const float *image, const float *coef, float *out, int width)
{
    __shared__ float in[8][8], half[8][8], c[8][8];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
    in[y][x] = image[at];
    c[y][x] = coef[y * 8 + x];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 8; k++)
        s = fmaf(c[y][k], in[k][x], s);
    half[y][x] = s;
    __syncthreads();
    s = 0;
    for (int k = 0; k < 8; k++)
        s = fmaf(half[y][k], c[x][k], s);
    out[at] = s;
}
