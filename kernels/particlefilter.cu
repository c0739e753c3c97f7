/* Resampling of a particle filter: each thread walks the cumulative weights from the front until they
 * reach its own draw, then copies that particle. All threads of a CTA read the same words at first and
 * leave at different times. */
extern "C" __global__ void particlefilter(const float *cdf, const float *draw, const float *x,
                                          const float *y, float *newx, float *newy, int n,
                                          int draws)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= draws)
        return;
    float u = draw[i];
    int found = n - 1;
#pragma unroll 1
    for (int k = 0; k < n; k++)
        if (cdf[k] >= u) {
            found = k;
            break;
        }
    newx[i] = x[found];
    newy[i] = y[found];
}
