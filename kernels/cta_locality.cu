/* The clustering paper's feasibility question: does a CTA find in L1 what an
 * earlier CTA on the same SM brought in? One warp per CTA times one load.
 * Temporal: CTA v reads line (v / div) % mod, so `div` chooses sharing between
 * consecutive CTAs and `mod` = number of SMs sharing along round-robin placement.
 * Spatial: CTA v reads sector v, four CTAs to a line; only a cache that fetches
 * whole lines makes later ones hit. Latencies differ from run to run; the values
 * read are the output. */
extern "C" __global__ void cta_locality_temporal(const int *a, int *out, unsigned *latency, int div, int mod)
{
    int line = (blockIdx.x / div) % mod;
    unsigned begin = clock();
    int v = a[line * 32 + threadIdx.x];
    out[blockIdx.x * 32 + threadIdx.x] = v;
    unsigned end = clock();
    if (threadIdx.x == 0)
        latency[blockIdx.x] = end - begin;
}

extern "C" __global__ void cta_locality_spatial(const int *a, int *out, unsigned *latency)
{
    unsigned begin = clock();
    int v = a[blockIdx.x * 8 + threadIdx.x % 8];
    out[blockIdx.x * 32 + threadIdx.x] = v;
    unsigned end = clock();
    if (threadIdx.x == 0)
        latency[blockIdx.x] = end - begin;
}
