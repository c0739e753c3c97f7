/* The functions of CUDA's mathematics library, for test_sim_exec_apps.c. Built with
 *   nvcc -arch=compute_75 -ptx -o apps_math.ptx apps_math.cu */
#define KERNEL extern "C" __global__ void

/* The mathematics library, float and double: every function on its own row of the result. */
KERNEL math_float(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float v = x[i], r[] = { sinf(v), cosf(v), tanf(v), expf(v * 0.1f), logf(fabsf(v)), powf(fabsf(v), 1.7f), atan2f(v, 3), asinf(v * 0.01f), sinhf(v * 0.1f), tanhf(v),
                            cbrtf(v), erff(v), lgammaf(fabsf(v) + 0.5f), fmodf(v, 0.7f), hypotf(v, 2), rsqrtf(fabsf(v)), exp2f(v), log1pf(fabsf(v)), roundf(v), tgammaf(fabsf(v) * 0.1f + 1) };
    for (int k = 0; k < 20; k++) y[k * n + i] = r[k];
}
KERNEL math_double(const double *x, double *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    double v = x[i], r[] = { sin(v), cos(v), tan(v), exp(v * 0.1), log(fabs(v)), pow(fabs(v), 1.7), atan2(v, 3.0), asin(v * 0.01), sinh(v * 0.1), tanh(v),
                             cbrt(v), erf(v), lgamma(fabs(v) + 0.5), fmod(v, 0.7), hypot(v, 2.0), rsqrt(fabs(v)), exp2(v), log1p(fabs(v)), round(v), tgamma(fabs(v) * 0.1 + 1) };
    for (int k = 0; k < 20; k++) y[k * n + i] = r[k];
}
