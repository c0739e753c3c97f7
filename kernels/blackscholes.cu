/* European options by the formula of Black and Scholes: three numbers in, two out, each once. exp, log and
 * the normal distribution are polynomials of multiplications and additions, so that every machine has the
 * same bits. */
__device__ float exp_of(float x)
{
    float n = rintf(x * 1.44269504f), r = fmaf(n, -0.693147182f, x), p = 1.0f / 720;
    p = fmaf(p, r, 1.0f / 120);
    p = fmaf(p, r, 1.0f / 24);
    p = fmaf(p, r, 1.0f / 6);
    p = fmaf(p, r, 0.5f);
    p = fmaf(p, r, 1.0f);
    p = fmaf(p, r, 1.0f);
    return p * __int_as_float(((int)n + 127) << 23);
}

__device__ float log_of(float x)
{
    int bits = __float_as_int(x);
    float e = (float)((bits >> 23) - 127), m = __int_as_float((bits & 0x7fffff) | 0x3f800000);
    float f = (m - 1.0f) / (m + 1.0f), g = f * f, p = 2.0f / 9;
    p = fmaf(p, g, 2.0f / 7);
    p = fmaf(p, g, 2.0f / 5);
    p = fmaf(p, g, 2.0f / 3);
    p = fmaf(p, g, 2.0f);
    return fmaf(e, 0.693147182f, p * f);
}

/* Abramowitz and Stegun 26.2.17 */
__device__ float normal(float d)
{
    float a = fabsf(d), k = 1.0f / fmaf(0.2316419f, a, 1.0f), p = 1.330274429f;
    p = fmaf(p, k, -1.821255978f);
    p = fmaf(p, k, 1.781477937f);
    p = fmaf(p, k, -0.356563782f);
    p = fmaf(p, k, 0.31938153f);
    float tail = (0.39894228f * exp_of((-0.5f * d) * d)) * (p * k);
    return d > 0 ? 1.0f - tail : tail;
}

extern "C" __global__ void blackscholes(const float *price, const float *strike, const float *years,
                                        float *call, float *put, int n, float rate, float vol)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float s = price[i], x = strike[i], t = years[i], root = sqrtf(t) * vol;
    float d1 = fmaf(fmaf(0.5f * vol, vol, rate), t, log_of(s / x)) / root, d2 = d1 - root;
    float n1 = normal(d1), n2 = normal(d2), y = x * exp_of(-rate * t);
    call[i] = fmaf(s, n1, -(y * n2));
    put[i] = fmaf(y, 1.0f - n2, -(s * (1.0f - n1)));
}
