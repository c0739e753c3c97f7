/* Kernels of language models in the manner of plain CUDA trainers and inference engines, written afresh. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void
#define ALL 0xffffffffu
__device__ float warp_sum(float v) { for (int d = 16; d; d /= 2) v += __shfl_xor_sync(ALL, v, d); return v; }
__device__ float warp_max(float v) { for (int d = 16; d; d /= 2) v = max(v, __shfl_xor_sync(ALL, v, d)); return v; }

/* layer normalisation, a warp a row, mean and rstd kept for the backward pass */
K m_layernorm(const float *__restrict__ x, const float *__restrict__ weight, const float *__restrict__ bias, float *out, float *mean, float *rstd, int rows, int c)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    const float *p = x + (size_t)row * c;
    float s = 0, q = 0;
    for (int i = lane; i < c; i += 32) s += p[i];
    float m = warp_sum(s) / c;
    for (int i = lane; i < c; i += 32) q += (p[i] - m) * (p[i] - m);
    float r = 1.0f / sqrtf(warp_sum(q) / c + 1e-5f);
    for (int i = lane; i < c; i += 32) out[(size_t)row * c + i] = (p[i] - m) * r * weight[i] + bias[i];
    if (lane == 0) { mean[row] = m; rstd[row] = r; }
}

/* gradient of RMS normalisation: a CTA a row, the weight's gradient by atomics of its columns */
K m_rmsnorm_back(float *dx, float *dweight, const float *dy, const float *x, const float *weight, int c, float eps)
{
    __shared__ float part[2][8];
    int row = blockIdx.x, t = threadIdx.x;
    float s = 0, d = 0;
    for (int i = t; i < c; i += blockDim.x) { float v = x[row * c + i]; s += v * v; d += v * weight[i] * dy[row * c + i]; }
    s = warp_sum(s); d = warp_sum(d);
    if (t % 32 == 0) { part[0][t / 32] = s; part[1][t / 32] = d; }
    __syncthreads();
    s = d = 0;
    for (int w = 0; w < (int)blockDim.x / 32; w++) { s += part[0][w]; d += part[1][w]; }
    float r = 1.0f / sqrtf(s / c + eps), k = d * r * r / c;
    for (int i = t; i < c; i += blockDim.x) {
        float v = x[row * c + i];
        dx[row * c + i] += r * (weight[i] * dy[row * c + i] - v * k);
        atomicAdd(&dweight[i], dy[row * c + i] * v * r);
    }
}

/* softmax over a causal row in one pass: running maximum and sum, then the row again; four values a step where aligned */
K m_softmax_online(float *out, const float *in, float scale, int n, int t)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= n * t) return;
    int own = row % t, vec = (own + 1) / 4;
    const float *x = in + (size_t)row * t;
    float most = -3e38f, sum = 0;
    for (int i = lane; i < vec; i += 32) {
        float4 v = ((const float4 *)x)[i];
        float old = most;
        most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
        sum *= expf(scale * (old - most));
        sum += expf(scale * (v.x - most)) + expf(scale * (v.y - most)) + expf(scale * (v.z - most)) + expf(scale * (v.w - most));
    }
    if (4 * vec + lane <= own) {
        float old = most;
        most = max(most, x[4 * vec + lane]);
        sum = sum * expf(scale * (old - most)) + expf(scale * (x[4 * vec + lane] - most));
    }
    float top = warp_max(most);
    sum = warp_sum(sum * expf(scale * (most - top)));
    for (int i = lane; i <= own; i += 32) out[(size_t)row * t + i] = expf(scale * (x[i] - top)) / sum;
}

/* attention as written down: a thread a query, keys and values of its head in a loop, three passes */
K m_attention(float *out, const float *qkv, float *preatt, int heads, int t, int hs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y, c = heads * hs;
    if (i >= t) return;
    const float *q = qkv + (size_t)i * 3 * c + h * hs;
    float *row = preatt + ((size_t)h * t + i) * t, most = -1e30f, sum = 0;
    for (int j = 0; j <= i; j++) {
        const float *k = qkv + (size_t)j * 3 * c + c + h * hs;
        float v = 0;
        for (int d = 0; d < hs; d++) v += q[d] * k[d];
        v /= sqrtf((float)hs);
        row[j] = v;
        most = max(most, v);
    }
    for (int j = 0; j <= i; j++) { row[j] = expf(row[j] - most); sum += row[j]; }
    float *o = out + (size_t)i * c + h * hs;
    for (int d = 0; d < hs; d++) o[d] = 0;
    for (int j = 0; j <= i; j++) {
        const float *v = qkv + (size_t)j * 3 * c + 2 * c + h * hs;
        for (int d = 0; d < hs; d++) o[d] += row[j] / sum * v[d];
    }
}

/* the same in tiles that stay in shared memory, sums rescaled as the maximum grows */
K m_flash(const float *q, const float *k, const float *v, float *out, int n, float scale)
{
    __shared__ float ks[32][33], vs[32][33];
    int t = threadIdx.x, row = blockIdx.x * 32 + t, head = blockIdx.y;
    const float *kk = k + (size_t)head * n * 32, *vv = v + (size_t)head * n * 32;
    float mine[32], acc[32], most = -3e38f, sum = 0;
    for (int d = 0; d < 32; d++) { mine[d] = q[((size_t)head * n + row) * 32 + d]; acc[d] = 0; }
    for (int tile = 0; tile <= (int)blockIdx.x; tile++) {
        for (int r = 0; r < 32; r++) { ks[r][t] = kk[(tile * 32 + r) * 32 + t]; vs[r][t] = vv[(tile * 32 + r) * 32 + t]; }
        __syncthreads();
        int last = tile == (int)blockIdx.x ? t + 1 : 32;
        for (int j = 0; j < last; j++) {
            float s = 0;
            for (int d = 0; d < 32; d++) s += mine[d] * ks[j][d];
            s *= scale;
            float now = max(most, s), keep = expf(most - now), p = expf(s - now);
            sum = sum * keep + p;
            for (int d = 0; d < 32; d++) acc[d] = acc[d] * keep + p * vs[j][d];
            most = now;
        }
        __syncthreads();
    }
    for (int d = 0; d < 32; d++) out[((size_t)head * n + row) * 32 + d] = acc[d] / sum;
}

/* gated unit: both halves of a row, x * sigmoid(x) * gate */
K m_swiglu(float *out, const float *in, int rows, int c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * c) return;
    int row = i / c, col = i % c;
    float x = in[(size_t)row * 2 * c + col], g = in[(size_t)row * 2 * c + c + col];
    out[i] = x / (1.0f + expf(-x)) * g;
}

/* rotary positions, pairs half a head apart; grouped keys share heads */
K m_rope(float *q, float *k, const int *pos, const float *cosine, const float *sine, int tokens, int heads, int kv, int hs)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, half = hs / 2;
    if (i >= tokens * heads * half) return;
    int d = i % half, h = i / half % heads, token = i / half / heads;
    float c = cosine[pos[token] * half + d], s = sine[pos[token] * half + d];
    float *p = q + ((size_t)token * heads + h) * hs;
    float a = p[d], b = p[d + half];
    p[d] = a * c - b * s; p[d + half] = a * s + b * c;
    if (h >= kv) return;
    p = k + ((size_t)token * kv + h) * hs;
    a = p[d]; b = p[d + half];
    p[d] = a * c - b * s; p[d + half] = a * s + b * c;
}

/* matrix of 4-bit weights in groups of 32 with a scale and a zero, times a vector; a warp a row, eight weights a word */
K m_gemv_int4(const unsigned *weight, const float *scale, const unsigned char *zero, const float *x, float *y, int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (row >= rows) return;
    int words = cols / 8;
    float sum = 0;
    for (int w = lane; w < words; w += 32) {
        unsigned b = weight[(size_t)row * words + w];
        int group = (row * words + w) / 4;
        float s = scale[group], part = 0;
        int z = group & 1 ? zero[group / 2] >> 4 : zero[group / 2] & 15;
        const float4 *v = (const float4 *)(x + 8 * w);
        float4 lo = v[0], hi = v[1];
        part += ((int)(b & 15) - z) * lo.x; part += ((int)(b >> 4 & 15) - z) * lo.y;
        part += ((int)(b >> 8 & 15) - z) * lo.z; part += ((int)(b >> 12 & 15) - z) * lo.w;
        part += ((int)(b >> 16 & 15) - z) * hi.x; part += ((int)(b >> 20 & 15) - z) * hi.y;
        part += ((int)(b >> 24 & 15) - z) * hi.z; part += ((int)(b >> 28) - z) * hi.w;
        sum += part * s;
    }
    sum = warp_sum(sum);
    if (lane == 0) y[row] = sum;
}

/* embedding and position, and the gradient of the first by atomics on whatever tokens came */
K m_encoder(float *out, const int *tokens, const float *wte, const float *wpe, int n, int t, int c)
{
    int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n * t * c) return;
    int col = i % c, at = i / c;
    float4 a = *(const float4 *)(wte + (size_t)tokens[at] * c + col), b = *(const float4 *)(wpe + (size_t)(at % t) * c + col), r;
    r.x = a.x + b.x; r.y = a.y + b.y; r.z = a.z + b.z; r.w = a.w + b.w;
    *(float4 *)(out + i) = r;
}
K m_embed_back(float *dwte, const int *tokens, const float *dout, int n, int c)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * c; i += gridDim.x * blockDim.x)
        atomicAdd(dwte + (size_t)tokens[i / c] * c + i % c, dout[i]);
}

/* cross entropy and its gradient in one, a CTA a row, the row walked twice */
K m_crossentropy(float *logits, float *loss, const int *target, int v, int padded)
{
    __shared__ float part[8];
    int row = blockIdx.x, t = threadIdx.x, warps = blockDim.x / 32;
    float *x = logits + (size_t)row * padded, most = -3e38f, sum = 0;
    for (int i = t; i < v; i += blockDim.x) most = max(most, x[i]);
    most = warp_max(most);
    if (t % 32 == 0) part[t / 32] = most;
    __syncthreads();
    for (int w = 0; w < warps; w++) most = max(most, part[w]);
    __syncthreads();
    for (int i = t; i < v; i += blockDim.x) sum += expf(x[i] - most);
    sum = warp_sum(sum);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int w = 0; w < warps; w++) sum += part[w];
    if (t == 0) loss[row] = logf(sum) - (x[target[row]] - most);
    __syncthreads();
    for (int i = t; i < v; i += blockDim.x) x[i] = (expf(x[i] - most) / sum - (i == target[row] ? 1.0f : 0.0f)) / gridDim.x;
}

/* AdamW, all state in one pass */
K m_adamw(float *w, const float *g, float *m, float *v, int n, float lr, float b1, float b2, float c1, float c2, float eps, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float gr = g[i], mm = b1 * m[i] + (1 - b1) * gr, vv = b2 * v[i] + (1 - b2) * gr * gr;
    m[i] = mm; v[i] = vv;
    w[i] -= lr * (mm / c1 / (sqrtf(vv / c2) + eps) + decay * w[i]);
}

/* the likeliest experts of each token: k rounds of a warp's maximum, ties to the lower index */
K m_topk(const float *gate, int *which, float *share, int tokens, int experts, int k)
{
    int token = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (token >= tokens) return;
    unsigned long long taken = 0;
    float total = 0;
    for (int r = 0; r < k; r++) {
        float best = -3e38f;
        int at = experts;
        for (int e = lane; e < experts; e += 32)
            if (!(taken >> e & 1) && gate[token * experts + e] > best) { best = gate[token * experts + e]; at = e; }
        for (int d = 16; d; d /= 2) {
            float ob = __shfl_xor_sync(ALL, best, d);
            int oa = __shfl_xor_sync(ALL, at, d);
            if (ob > best || (ob == best && oa < at)) { best = ob; at = oa; }
        }
        taken |= 1ull << at;
        total += best;
        if (lane == 0) { which[token * k + r] = at; share[token * k + r] = best; }
    }
    __syncwarp();
    if (lane < k) share[token * k + lane] /= total;
}
