/* An option's price as the mean pay-off over many paths: one option per CTA. All CTAs read the same
 * normally distributed samples, each thread every 256th; sums meet in shared memory. exp is a polynomial,
 * so that every machine has the same bits. */
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

extern "C" __global__ void montecarlo(const float *sample, const float *price, const float *strike,
                                      float *value, int paths, float drift, float vol)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    float s = price[blockIdx.x], x = strike[blockIdx.x], sum = 0;
#pragma unroll 1
    for (int i = t; i < paths; i += 256) {
        float gain = fmaf(s, exp_of(fmaf(vol, sample[i], drift)), -x);
        sum += gain > 0 ? gain : 0.0f;
    }
    part[t] = sum;
    for (int n = 128; n > 0; n /= 2) {
        __syncthreads();
        if (t < n)
            part[t] += part[t + n];
    }
    if (t == 0)
        value[blockIdx.x] = part[0] / (float)paths;
}
