/* Image denoising: a pixel becomes the mean of its 7 by 7 neighbours, weighted by distance and likeness
 * (a rational weight, 1 / (1 + a*d + b*e), where others take an exponential). Windows of neighbouring
 * CTAs overlap. */
extern "C" __global__ void imd(const float *image, float *out, int width, int height, float a, float b)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float mid = image[(y + 3) * (width + 6) + x + 3], sum = 0, weights = 0;
#pragma unroll 1
    for (int v = -3; v <= 3; v++)
        for (int u = -3; u <= 3; u++) {
            float p = image[(y + v + 3) * (width + 6) + x + u + 3], e = p - mid;
            float w = 1.0f / fmaf(b * e, e, fmaf(a, (float)(u * u + v * v), 1.0f));
            sum = fmaf(w, p, sum);
            weights += w;
        }
    if (y < height)
        out[y * width + x] = sum / weights;
}
