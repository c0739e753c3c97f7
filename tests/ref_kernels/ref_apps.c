/* Base workloads, applications and microbenchmarks. Index names follow the .cu files. */
#include "tests/ref_kernels/ref.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void strided_copy(struct ref_call *c, int stride)
{
    const float *a = ref_buffer(c, "a");
    float *out = ref_buffer(c, "out");
    for (int t = 0; t < ref_threads_x(c); t++)
        out[t] = a[t * stride];
}

void ref_stride_32(struct ref_call *c)
{
    strided_copy(c, 32);
}
void ref_stride_4(struct ref_call *c)
{
    strided_copy(c, 4);
}
void ref_same_location(struct ref_call *c)
{
    strided_copy(c, 0);
}
void ref_coalescing(struct ref_call *c)
{
    strided_copy(c, 1);
}

void ref_valley(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a");
    float *out = ref_buffer(c, "out");
    int rows = ref_int(c, "rows"), passes = ref_int(c, "passes");
    for (int t = 0; t < ref_threads_x(c); t++) {
        const float *tile = a + (int64_t)(t / 32) * rows * 32 + t % 32;
        float s[8] = { 0 };
        for (int p = 0; p < passes; p++)
            for (int r = 0; r < rows; r++)
                s[r % 8] += tile[r * 32];
        out[t] = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    }
}

void ref_bfs_kernel1(struct ref_call *c)
{
    const int32_t *row = ref_buffer(c, "row"), *edge = ref_buffer(c, "edge");
    const uint8_t *visited = ref_buffer(c, "visited");
    uint8_t *frontier = ref_buffer(c, "frontier"), *next = ref_buffer(c, "next");
    int32_t *cost = ref_buffer(c, "cost"), level = ref_int(c, "level");
    for (int t = 0; t < ref_int(c, "nodes"); t++) {
        if (frontier[t] != 1)
            continue;
        frontier[t] = 0;
        for (int e = row[t]; e < row[t + 1]; e++)
            if (!visited[edge[e]]) {
                cost[edge[e]] = level;
                next[edge[e]] = 1;
            }
    }
}

void ref_bfs_kernel2(struct ref_call *c)
{
    uint8_t *frontier = ref_buffer(c, "frontier"), *next = ref_buffer(c, "next"),
            *visited = ref_buffer(c, "visited");
    int32_t *more = ref_buffer(c, "more");
    for (int t = 0; t < ref_int(c, "nodes"); t++) {
        if (!next[t])
            continue;
        frontier[t] = visited[t] = 1;
        *more = 1;
        next[t] = 0;
    }
}

void ref_kmeans(struct ref_call *c)
{
    const float *points = ref_buffer(c, "points"), *centres = ref_buffer(c, "centres");
    int32_t *member = ref_buffer(c, "member");
    int dims = ref_int(c, "dims"), ncentres = ref_int(c, "ncentres");
    for (int p = 0; p < ref_int(c, "npoints"); p++) {
        float best = FLT_MAX;
        int32_t index = -1;
        for (int k = 0; k < ncentres; k++) {
            float dist = 0;
            for (int d = 0; d < dims; d++) {
                float t = points[p * dims + d] - centres[k * dims + d];
                dist = fmaf(t, t, dist);
            }
            if (dist < best) {
                best = dist;
                index = k;
            }
        }
        member[p] = index;
    }
}

void ref_spmv(struct ref_call *c)
{
    const int32_t *row = ref_buffer(c, "row"), *col = ref_buffer(c, "col");
    const float *val = ref_buffer(c, "val"), *x = ref_buffer(c, "x");
    float *y = ref_buffer(c, "y");
    for (int r = 0; r < ref_int(c, "rows"); r++) {
        float sum = 0;
        for (int e = row[r]; e < row[r + 1]; e++)
            sum = fmaf(val[e], x[col[e]], sum);
        y[r] = sum;
    }
}

#define HEIGHT 16

/* One CTA of backprop_forward: inputs times weights, summed pairwise over ty. */
static void forward_cta(const float *input, float *weight, float *partial, int hid, int by)
{
    float w[HEIGHT][HEIGHT];
    for (int ty = 0; ty < HEIGHT; ty++)
        for (int tx = 0; tx < HEIGHT; tx++)
            w[ty][tx] =
                weight[(hid + 1) * (HEIGHT * by + ty + 1) + tx + 1] * input[HEIGHT * by + ty + 1];
    for (int step = 2; step <= HEIGHT; step *= 2)
        for (int ty = 0; ty < HEIGHT; ty += step)
            for (int tx = 0; tx < HEIGHT; tx++)
                w[ty][tx] = w[ty][tx] + w[ty + step / 2][tx];
    for (int ty = 0; ty < HEIGHT; ty++) {
        memcpy(&weight[(hid + 1) * (HEIGHT * by + ty + 1) + 1], w[ty], sizeof w[ty]);
        partial[by * hid + ty] = w[0][ty];
    }
}

void ref_backprop_forward(struct ref_call *c)
{
    for (int by = 0; by < (int)c->l->grid.y; by++)
        forward_cta(ref_buffer(c, "input"), ref_buffer(c, "weight"), ref_buffer(c, "partial"),
                    ref_int(c, "hid"), by);
}

void ref_backprop_adjust(struct ref_call *c)
{
    const float *delta = ref_buffer(c, "delta"), *layer = ref_buffer(c, "layer");
    float *w = ref_buffer(c, "w"), *oldw = ref_buffer(c, "oldw");
    int hid = ref_int(c, "hid");
    for (int y = 0; y < (int)c->l->grid.y * HEIGHT; y++)
        for (int tx = 0; tx < HEIGHT; tx++) {
            int index = (hid + 1) * (y + 1) + tx + 1;
            float scaled = delta[tx + 1] * 0.3f, old = oldw[index] * 0.3f;
            float step = fmaf(scaled, layer[y + 1], old);
            w[index] = w[index] + step;
            oldw[index] = step;
        }
}

void ref_nbody(struct ref_call *c)
{
    const float *body = ref_buffer(c, "body");
    float *accel = ref_buffer(c, "accel"), soft = ref_float(c, "soft");
    int n = ref_int(c, "n");
    for (int i = 0; i < ref_threads_x(c); i++) {
        const float *me = body + 4 * i;
        float a[3] = { 0 };
        for (int j = 0; j < n; j++) {
            const float *b = body + 4 * j;
            float dx = b[0] - me[0], dy = b[1] - me[1], dz = b[2] - me[2], yy = dy * dy;
            float d2 = fmaf(dz, dz, fmaf(dx, dx, yy)) + soft;
            float inv = 1.0f / sqrtf(d2);
            float s = inv * (inv * (b[3] * inv));
            a[0] = fmaf(dx, s, a[0]);
            a[1] = fmaf(dy, s, a[1]);
            a[2] = fmaf(dz, s, a[2]);
        }
        memcpy(accel + 4 * i, a, sizeof a);
        accel[4 * i + 3] = 0;
    }
}

void ref_cta_locality_temporal(struct ref_call *c)
{
    const int32_t *a = ref_buffer(c, "a");
    int32_t *out = ref_buffer(c, "out"), div = ref_int(c, "div"), mod = ref_int(c, "mod");
    for (int t = 0; t < ref_threads_x(c); t++)
        out[t] = a[t / 32 / div % mod * 32 + t % 32];
}

void ref_cta_locality_spatial(struct ref_call *c)
{
    const int32_t *a = ref_buffer(c, "a");
    int32_t *out = ref_buffer(c, "out");
    for (int t = 0; t < ref_threads_x(c); t++)
        out[t] = a[t / 32 * 8 + t % 8];
}

void ref_tile_share(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a");
    float *out = ref_buffer(c, "out");
    int words = ref_int(c, "words"), width = (int)c->l->block.x, gx = (int)c->l->grid.x;
    for (int y = 0; y < (int)c->l->grid.y; y++)
        for (int x = 0; x < gx; x++)
            for (int t = 0; t < width; t++) {
                float s[4] = { 0 };
                for (int i = t, k = 0; i < words; i += width, k = (k + 1) % 4)
                    s[k] += a[(int64_t)x * words + i];
                float sum = (s[0] + s[1]) + (s[2] + s[3]);
                out[(y * gx + x) * width + t] = sum + (float)y;
            }
}

void ref_softcache_stream(struct ref_call *c)
{
    const uint8_t *text = ref_buffer(c, "text");
    const int32_t *key = ref_buffer(c, "key");
    int32_t *hist = ref_buffer(c, "hist"), per_thread = ref_int(c, "per_thread");
    for (int t = 0; t < ref_threads_x(c); t++) {
        uint32_t acc = 0;
        for (int i = t * per_thread; i < (t + 1) * per_thread; i++) {
            acc = acc * 31 + ((uint32_t)text[i] ^ (uint32_t)key[i]);
            hist[i] = (int32_t)acc;
        }
    }
}

void ref_histogram(struct ref_call *c)
{
    const int32_t *data = ref_buffer(c, "data");
    int32_t *bin = ref_buffer(c, "bin");
    for (int i = 0; i < ref_int(c, "n"); i++)
        bin[data[i] & 255]++;
}

void ref_reduction(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a");
    float *out = ref_buffer(c, "out"), part[1024];
    int n = ref_int(c, "n"), width = (int)c->l->block.x;
    for (int b = 0; b < (int)c->l->grid.x; b++) {
        for (int t = 0; t < width; t++) {
            part[t] = 0;
            for (int i = b * width + t; i < n; i += ref_threads_x(c))
                part[t] += a[i];
        }
        for (int half = width / 2; half > 0;
             half /= 2) /* barriers down to 32, shuffles below: one tree */
            for (int t = 0; t < half; t++)
                part[t] = part[t] + part[t + half];
        out[b] = part[0];
    }
}

/* The order of the kernel's additions is not defined: the reference is the exact sum. */
void ref_dot_atomic(struct ref_call *c)
{
    const float *a = ref_buffer(c, "a"), *b = ref_buffer(c, "b");
    float *out = ref_buffer(c, "sum");
    double sum = *out;
    for (int i = 0; i < ref_int(c, "n"); i++)
        sum += (double)a[i] * (double)b[i];
    *out = (float)sum;
}
