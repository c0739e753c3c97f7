/* Kernels of learning and attention. Launches: suites.py; reference: reference.py. */
#define K extern "C" __global__ void
#define G (blockIdx.x * blockDim.x + threadIdx.x)

/* Attention of one query per thread over all keys of its head, with a running maximum; 32 dimensions. */
K attention(const float *q, const float *k, const float *v, float *o, int len)
{
    int t = G, head = t / len;
    float a[32], acc[32], m = -1e30f, l = 0;
    for (int d = 0; d < 32; d++) {
        a[d] = q[(size_t)t * 32 + d];
        acc[d] = 0;
    }
    for (int j = 0; j < len; j++) {
        const float *kk = k + ((size_t)head * len + j) * 32, *vv = v + ((size_t)head * len + j) * 32;
        float s = 0;
        for (int d = 0; d < 32; d++)
            s += a[d] * kk[d];
        s *= 0.1767767f;
        float n = fmaxf(m, s), c = __expf(m - n), p = __expf(s - n);
        l = l * c + p;
        for (int d = 0; d < 32; d++)
            acc[d] = acc[d] * c + p * vv[d];
        m = n;
    }
    for (int d = 0; d < 32; d++)
        o[(size_t)t * 32 + d] = acc[d] / l;
}
/* Scores of a query against all keys: one key per warp, 128 dimensions. */
K scores(const float *q, const float *k, float *s)
{
    int key = G / 32, lane = threadIdx.x & 31;
    float4 a = ((const float4 *)q)[lane], b = ((const float4 *)k)[(size_t)key * 32 + lane];
    float v = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    if (lane == 0)
        s[key] = v;
}
/* The sum of a CTA of 256, in every thread. */
__device__ float sum_cta(float v, float *w)
{
    for (int d = 16; d; d >>= 1)
        v += __shfl_xor_sync(~0u, v, d);
    __syncthreads();
    if ((threadIdx.x & 31) == 0)
        w[threadIdx.x >> 5] = v;
    __syncthreads();
    v = 0;
    for (int k = 0; k < 8; k++)
        v += w[k];
    return v;
}
/* Layer norm of a row per CTA. */
K layer_norm(const float *x, const float *g, const float *b, float *y, int n)
{
    __shared__ float w[8];
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 256) {
        s += r[i];
        q += r[i] * r[i];
    }
    s = sum_cta(s, w) / n;
    q = sum_cta(q, w) / n - s * s;
    float f = 1.0f / sqrtf(q + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 256)
        y[(size_t)blockIdx.x * n + i] = (r[i] - s) * f * g[i] + b[i];
}
/* Root mean square norm, a row per CTA, in place. */
K rms_norm(float *x, const float *g, int n)
{
    __shared__ float w[8];
    float *r = x + (size_t)blockIdx.x * n, q = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        q += r[i] * r[i];
    float f = 1.0f / sqrtf(sum_cta(q, w) / n + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 256)
        r[i] *= f * g[i];
}
/* Softmax of a row per warp, 128 columns. */
K softmax_warp(const float *x, float *y)
{
    int row = G / 32, lane = threadIdx.x & 31;
    float v[4], m = -1e30f, s = 0;
    for (int k = 0; k < 4; k++)
        m = fmaxf(m, v[k] = x[row * 128 + k * 32 + lane]);
    for (int d = 16; d; d >>= 1)
        m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
    for (int k = 0; k < 4; k++)
        s += v[k] = __expf(v[k] - m);
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    for (int k = 0; k < 4; k++)
        y[row * 128 + k * 32 + lane] = v[k] / s;
}
/* Rotary position embedding with tables of cosines and sines, in place. */
K rotary(float *x, const float *c, const float *s, int half)
{
    int i = G, p = blockIdx.y, d = i & (half - 1), h = i / half;
    float *r = x + ((size_t)p * gridDim.x * blockDim.x + h * half) * 2;
    float a = r[d], b = r[d + half], u = c[p * half + d], v = s[p * half + d];
    r[d] = a * u - b * v;
    r[d + half] = a * v + b * u;
}
/* A row of 4-bit weights times a vector per warp, a scale for 32 weights. */
K q4_matvec(const unsigned *w, const float *scale, const float *x, float *y, int n)
{
    int row = G / 32, lane = threadIdx.x & 31, words = n / 8;
    float s = 0;
    for (int j = lane; j < words; j += 32) {
        unsigned v = w[(size_t)row * words + j];
        float t = 0;
        for (int k = 0; k < 8; k++)
            t += ((int)((v >> (4 * k)) & 15) - 8) * x[j * 8 + k];
        s += t * scale[(size_t)row * (words / 4) + j / 4];
    }
    for (int d = 16; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    if (lane == 0)
        y[row] = s;
}
/* A row of signed bytes times a vector of bytes per thread quad, integer sums. */
K q8_matvec(const int *w, const int *x, int *y, int words)
{
    int row = G / 8, q = threadIdx.x & 7, s = 0;
    for (int j = q; j < words; j += 8) {
        int a = w[(size_t)row * words + j], b = x[j];
        for (int k = 0; k < 32; k += 8)
            s += (int)(signed char)(a >> k) * (signed char)(b >> k);
    }
    for (int d = 4; d; d >>= 1)
        s += __shfl_xor_sync(~0u, s, d);
    if (q == 0)
        y[row] = s;
}
/* The nearest of k centres, 8 dimensions stored one after another. */
K nearest_centre(const float *p, const float *c, int *who, int n, int k)
{
    int i = G, best = 0;
    float d0 = 1e30f;
    for (int j = 0; j < k; j++) {
        float d = 0;
        for (int f = 0; f < 8; f++) {
            float u = p[f * n + i] - c[j * 8 + f];
            d += u * u;
        }
        if (d < d0) {
            d0 = d;
            best = j;
        }
    }
    who[i] = best;
}
/* Rows of an embedding table gathered by token. */
K embed(const int *token, const float *table, float *out, int width)
{
    int row = blockIdx.x, i = threadIdx.x;
    out[(size_t)row * width + i] = table[(size_t)token[row] * width + i];
}
/* Momentum step of an optimizer over all weights, in place. */
K momentum(float *w, float *m, const float *g, float rate)
{
    int i = G;
    float v = 0.9f * m[i] + g[i];
    m[i] = v;
    w[i] -= rate * v;
}
/* A gate: x / (1 + exp(-x)) times another. */
K swiglu(const float *a, const float *b, float *o)
{
    int i = G;
    o[i] = a[i] / (1.0f + __expf(-a[i])) * b[i];
}
