/* Speckle-reducing anisotropic diffusion, first half of a step: derivatives of the image in four
 * directions and the diffusion coefficient. Neighbours are found through tables of rows and columns, as
 * for an image with any border (the launch's tables wrap it around). Columns lie one behind the other. */
extern "C" __global__ void srad(const float *image, const int *north, const int *south, const int *west,
                                const int *east, float *dn, float *ds, float *dw, float *de, float *c,
                                int rows, int n, float q0)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = i % rows, col = i / rows;
    float j = image[i];
    float a = image[north[row] + rows * col] - j, b = image[south[row] + rows * col] - j;
    float w = image[row + rows * west[col]] - j, e = image[row + rows * east[col]] - j;
    float g = fmaf(e, e, fmaf(w, w, fmaf(b, b, a * a))) / (j * j);
    float l = (((a + b) + w) + e) / j;
    float top = fmaf(0.5f, g, (-0.0625f * l) * l), den = fmaf(0.25f, l, 1.0f);
    float q = top / (den * den);
    float v = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
    dn[i] = a;
    ds[i] = b;
    dw[i] = w;
    de[i] = e;
    c[i] = v < 0 ? 0.0f : v > 1 ? 1.0f : v;
}

/* Second half of the step: the image moves by the derivatives, each times the coefficient on its side. */
extern "C" __global__ void srad2(float *image, const int *south, const int *east, const float *dn,
                                 const float *ds, const float *dw, const float *de, const float *c, int rows,
                                 int n, float lambda)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int row = i % rows, col = i / rows;
    float here = c[i], below = c[south[row] + rows * col], beside = c[row + rows * east[col]];
    float d = fmaf(beside, de[i], fmaf(here, dw[i], fmaf(below, ds[i], here * dn[i])));
    image[i] = fmaf(0.25f * lambda, d, image[i]);
}
