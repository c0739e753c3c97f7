/* Applications of the papers: options, distances, matrix products. Index names follow the .cu files. */
#include "tests/ref_kernels/ref.h"

#include <math.h>
#include <string.h>

/* ---- exp and log as the kernels have them ---- */
static float from_bits(int32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float exp_poly(float x)
{
    static const float c[] = { 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f, 1.0f, 1.0f };
    float n = rintf(x * 1.44269504f), r = fmaf(n, -0.693147182f, x), p = c[0];
    for (int i = 1; i < 7; i++)
        p = fmaf(p, r, c[i]);
    return p * from_bits(((int32_t)n + 127) << 23);
}

static float log_poly(float x)
{
    static const float c[] = { 2.0f / 9, 2.0f / 7, 2.0f / 5, 2.0f / 3, 2.0f };
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    float m = from_bits((bits & 0x7fffff) | 0x3f800000), f = (m - 1.0f) / (m + 1.0f), p = c[0];
    for (int i = 1; i < 5; i++)
        p = fmaf(p, f * f, c[i]);
    return fmaf((float)((bits >> 23) - 127), 0.693147182f, p * f);
}

static float normal(float d)
{
    static const float c[] = { 1.330274429f, -1.821255978f, 1.781477937f, -0.356563782f, 0.31938153f };
    float k = 1.0f / fmaf(0.2316419f, fabsf(d), 1.0f), p = c[0];
    for (int i = 1; i < 5; i++)
        p = fmaf(p, k, c[i]);
    float tail = (0.39894228f * exp_poly((-0.5f * d) * d)) * (p * k);
    return d > 0 ? 1.0f - tail : tail;
}

void ref_blackscholes(struct ref_call *c)
{
    const float *price = ref_buffer(c, "price"), *strike = ref_buffer(c, "strike"),
                *years = ref_buffer(c, "years");
    float *call = ref_buffer(c, "call"), *put = ref_buffer(c, "put"), rate = ref_float(c, "rate"),
          vol = ref_float(c, "vol");
    for (int i = 0; i < ref_int(c, "n"); i++) {
        float root = sqrtf(years[i]) * vol, drift = fmaf(0.5f * vol, vol, rate);
        float d1 = fmaf(drift, years[i], log_poly(price[i] / strike[i])) / root;
        float n1 = normal(d1), n2 = normal(d1 - root), y = strike[i] * exp_poly(-rate * years[i]);
        call[i] = fmaf(price[i], n1, -(y * n2));
        put[i] = fmaf(y, 1.0f - n2, -(price[i] * (1.0f - n1)));
    }
}

void ref_montecarlo(struct ref_call *c)
{
    const float *sample = ref_buffer(c, "sample"), *price = ref_buffer(c, "price"),
                *strike = ref_buffer(c, "strike");
    float *value = ref_buffer(c, "value"), drift = ref_float(c, "drift"), vol = ref_float(c, "vol");
    int paths = ref_int(c, "paths");
    for (uint32_t o = 0; o < c->l->grid.x; o++) {
        float part[256] = { 0 };
        for (int i = 0; i < paths; i++) {
            float gain = fmaf(price[o], exp_poly(fmaf(vol, sample[i], drift)), -strike[o]);
            part[i % 256] += gain > 0 ? gain : 0.0f;
        }
        for (int n = 128; n > 0; n /= 2)
            for (int t = 0; t < n; t++)
                part[t] += part[t + n];
        value[o] = part[0] / (float)paths;
    }
}

void ref_nn(struct ref_call *c)
{
    const float *place = ref_buffer(c, "place");
    float *distance = ref_buffer(c, "distance"), lat = ref_float(c, "lat"), lng = ref_float(c, "lng");
    for (int i = 0; i < ref_int(c, "n"); i++) {
        float a = lat - place[2 * i], b = lng - place[2 * i + 1];
        distance[i] = sqrtf(fmaf(a, a, b * b));
    }
}

void ref_mm_tiled(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A"), *B = ref_buffer(c, "B");
    float *C = ref_buffer(c, "C");
    int n = ref_int(c, "n");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum = fmaf(A[i * n + k], B[k * n + j], sum);
            C[i * n + j] = sum;
        }
}

void ref_syr2k(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A"), *B = ref_buffer(c, "B");
    float *C = ref_buffer(c, "C"), alpha = ref_float(c, "alpha"), beta = ref_float(c, "beta");
    int n = ref_int(c, "n"), m = ref_int(c, "m");
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float sum = C[i * n + j] * beta;
            for (int k = 0; k < m; k++) {
                sum = fmaf(alpha * A[i * m + k], B[j * m + k], sum);
                sum = fmaf(alpha * B[i * m + k], A[j * m + k], sum);
            }
            C[i * n + j] = sum;
        }
}
