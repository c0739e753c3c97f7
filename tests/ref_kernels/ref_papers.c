/* Applications of the papers: trees, filters, clustering, images, sequences. Index names follow the .cu
 * files. */
#include "tests/ref_kernels/ref.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- B+ tree: 256 slots a node and one word behind them; inner nodes use 16 ---- */
enum { SLOTS = 257, FAN = 16, LEAVES = FAN * FAN };

void ref_btree_build(struct ref_call *c)
{
    int32_t *keys = ref_buffer(c, "keys"), *child = ref_buffer(c, "child");
    const int32_t *place = ref_buffer(c, "place");
    for (int node = 0; node < 1 + FAN + LEAVES; node++) {
        for (int slot = 0; slot < SLOTS; slot++)
            keys[node * SLOTS + slot] = INT32_MAX;
        for (int slot = 0; slot < SLOTS - 1; slot++)
            child[node * SLOTS + slot] = 0;
    }
    for (int i = 0; i < FAN; i++) {
        keys[i] = i * FAN * 256;
        child[i] = 1 + i;
    }
    for (int range = 0; range < LEAVES; range++) {
        int parent = (1 + range / FAN) * SLOTS + range % FAN, leaf = (1 + FAN + place[range]) * SLOTS;
        keys[parent] = range * 256;
        child[parent] = 1 + FAN + place[range];
        for (int slot = 0; slot < 256; slot++) {
            keys[leaf + slot] = range * 256 + slot;
            child[leaf + slot] = (range * 256 + slot) * 3 + 1;
        }
    }
}

/* Keys are the numbers from 0; the record of key k is 3k + 1: no walk is needed. */
void ref_btree_find(struct ref_call *c)
{
    const int32_t *query = ref_buffer(c, "query");
    int32_t *answer = ref_buffer(c, "answer");
    for (uint32_t i = 0; i < c->l->grid.x; i++)
        answer[i] = query[i] * 3 + 1;
}

void ref_btree_range(struct ref_call *c)
{
    const int32_t *from = ref_buffer(c, "from"), *to = ref_buffer(c, "to");
    int32_t *first = ref_buffer(c, "first"), *length = ref_buffer(c, "length");
    for (uint32_t i = 0; i < c->l->grid.x; i++) {
        first[i] = from[i] * 3 + 1;
        length[i] = to[i] - from[i] + 1;
    }
}

/* ---- nodes as records; the tree of nodes_tree has its leaves in order ---- */
void ref_nodes_link(struct ref_call *c)
{
    int32_t *node = ref_buffer(c, "node");
    const int32_t *row = ref_buffer(c, "row");
    for (int i = 0; i < ref_int(c, "nodes"); i++) {
        node[2 * i] = row[i];
        node[2 * i + 1] = row[i + 1] - row[i];
    }
}

void ref_nodes_bfs(struct ref_call *c)
{
    const int32_t *node = ref_buffer(c, "node"), *edge = ref_buffer(c, "edge");
    uint8_t *frontier = ref_buffer(c, "frontier"), *next = ref_buffer(c, "next");
    const uint8_t *mark = ref_buffer(c, "mark");
    int32_t *cost = ref_buffer(c, "cost");
    for (int i = 0; i < ref_int(c, "nodes"); i++) {
        if (frontier[i] != 1)
            continue;
        frontier[i] = 0;
        for (int e = node[2 * i]; e < node[2 * i] + node[2 * i + 1]; e++)
            if (mark[edge[e]] > 2) {
                cost[edge[e]] = cost[i] + 1;
                next[edge[e]] = 1;
            }
    }
}

void ref_nodes_tree(struct ref_call *c)
{
    int32_t *keys = ref_buffer(c, "keys"), *child = ref_buffer(c, "child");
    for (int node = 0; node < 1 + FAN + LEAVES; node++)
        for (int slot = 0; slot < SLOTS; slot++) {
            bool used = node > FAN ? slot < 256 : slot < FAN;
            int range = node > FAN ? node - 1 - FAN : node ? (node - 1) * FAN + slot : slot * FAN;
            int key = node > FAN ? range * 256 + slot : range * 256;
            keys[node * SLOTS + slot] = used ? key : INT32_MAX;
            if (slot < 256)
                child[node * SLOTS + slot] = !used        ? 0
                                             : node > FAN ? key * 3 + 1
                                             : node       ? 1 + FAN + range
                                                          : 1 + slot;
        }
}

void ref_nodes_find(struct ref_call *c)
{
    ref_btree_find(c);
}

void ref_nodes_range(struct ref_call *c)
{
    ref_btree_range(c);
}

/* ---- particles and clusters ---- */
void ref_particlefilter(struct ref_call *c)
{
    const float *cdf = ref_buffer(c, "cdf"), *draw = ref_buffer(c, "draw"), *x = ref_buffer(c, "x"),
                *y = ref_buffer(c, "y");
    float *newx = ref_buffer(c, "newx"), *newy = ref_buffer(c, "newy");
    int n = ref_int(c, "n");
    for (int i = 0; i < ref_int(c, "draws"); i++) {
        int low = 0, high = n - 1; /* the weights rise: halving finds the same */
        while (low < high) {
            int mid = (low + high) / 2;
            if (cdf[mid] >= draw[i])
                high = mid;
            else
                low = mid + 1;
        }
        newx[i] = x[low];
        newy[i] = y[low];
    }
}

void ref_streamcluster(struct ref_call *c)
{
    const float *coord = ref_buffer(c, "coord"), *weight = ref_buffer(c, "weight"),
                *cost = ref_buffer(c, "cost");
    const int32_t *assigned = ref_buffer(c, "assigned"), *table = ref_buffer(c, "table");
    int32_t *moves = ref_buffer(c, "moves");
    float *work = ref_buffer(c, "work");
    int num = ref_int(c, "num"), dims = ref_int(c, "dims"), k = ref_int(c, "centres");
    const float *centre = coord + ref_int(c, "candidate");
    for (int t = 0; t < num; t++) {
        float d = 0;
        for (int i = 0; i < dims; i++) {
            float e = coord[i * num + t] - centre[i * num];
            d = fmaf(e, e, d);
        }
        float asked = d * weight[t];
        int cheaper = asked < cost[t], slot = cheaper ? k : table[assigned[t]];
        if (cheaper)
            moves[t] = 1;
        work[t * (k + 1) + slot] = cheaper ? asked - cost[t] : cost[t] - asked;
    }
}

void ref_similarityscore(struct ref_call *c)
{
    const float *vec = ref_buffer(c, "vec");
    float *score = ref_buffer(c, "score");
    int docs = ref_int(c, "docs"), dims = ref_int(c, "dims");
    for (int i = 0; i < docs; i++)
        for (int j = 0; j < docs; j++) {
            float dot = 0, a = 0, b = 0;
            for (int k = 0; k < dims; k++) {
                dot = fmaf(vec[i * dims + k], vec[j * dims + k], dot);
                a = fmaf(vec[i * dims + k], vec[i * dims + k], a);
                b = fmaf(vec[j * dims + k], vec[j * dims + k], b);
            }
            score[i * docs + j] = dot / sqrtf(a * b);
        }
}

/* ---- images ---- */
void ref_srad(struct ref_call *c)
{
    const float *image = ref_buffer(c, "image");
    const int32_t *north = ref_buffer(c, "north"), *south = ref_buffer(c, "south"),
                  *west = ref_buffer(c, "west"), *east = ref_buffer(c, "east");
    float *dn = ref_buffer(c, "dn"), *ds = ref_buffer(c, "ds"), *dw = ref_buffer(c, "dw"),
          *de = ref_buffer(c, "de"), *out = ref_buffer(c, "c"), q0 = ref_float(c, "q0");
    int rows = ref_int(c, "rows"), cols = ref_int(c, "n") / rows;
    for (int x = 0; x < cols; x++)
        for (int y = 0; y < rows; y++) {
            int i = x * rows + y;
            float j = image[i];
            dn[i] = image[x * rows + north[y]] - j;
            ds[i] = image[x * rows + south[y]] - j;
            dw[i] = image[west[x] * rows + y] - j;
            de[i] = image[east[x] * rows + y] - j;
            float g = fmaf(de[i], de[i], fmaf(dw[i], dw[i], fmaf(ds[i], ds[i], dn[i] * dn[i])));
            float grad = g / (j * j), lap = (((dn[i] + ds[i]) + dw[i]) + de[i]) / j;
            float den = fmaf(0.25f, lap, 1.0f);
            float q = fmaf(0.5f, grad, (-0.0625f * lap) * lap) / (den * den);
            float v = 1.0f / (1.0f + (q - q0) / (q0 * (1.0f + q0)));
            out[i] = v < 0 ? 0.0f : v > 1 ? 1.0f : v;
        }
}

void ref_srad2(struct ref_call *c)
{
    const int32_t *south = ref_buffer(c, "south"), *east = ref_buffer(c, "east");
    const float *dn = ref_buffer(c, "dn"), *ds = ref_buffer(c, "ds"), *dw = ref_buffer(c, "dw"),
                *de = ref_buffer(c, "de"), *coef = ref_buffer(c, "c");
    float *image = ref_buffer(c, "image"), step = 0.25f * ref_float(c, "lambda");
    int rows = ref_int(c, "rows"), cols = ref_int(c, "n") / rows;
    for (int x = 0; x < cols; x++)
        for (int y = 0; y < rows; y++) {
            int i = x * rows + y;
            float d = fmaf(coef[i], dw[i], fmaf(coef[x * rows + south[y]], ds[i], coef[i] * dn[i]));
            image[i] = fmaf(step, fmaf(coef[east[x] * rows + y], de[i], d), image[i]);
        }
}

void ref_dct(struct ref_call *c)
{
    const float *image = ref_buffer(c, "image"), *coef = ref_buffer(c, "coef");
    float *out = ref_buffer(c, "out");
    int width = ref_int(c, "width");
    for (int by = 0; by < (int)c->l->grid.y; by++)
        for (int bx = 0; bx < (int)c->l->grid.x; bx++) {
            const float *in = image + by * 8 * width + bx * 8;
            float half[64] = { 0 };
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++)
                    for (int k = 0; k < 8; k++)
                        half[y * 8 + x] = fmaf(coef[y * 8 + k], in[k * width + x], half[y * 8 + x]);
            for (int y = 0; y < 8; y++)
                for (int x = 0; x < 8; x++) {
                    float s = 0;
                    for (int k = 0; k < 8; k++)
                        s = fmaf(half[y * 8 + k], coef[x * 8 + k], s);
                    out[(by * 8 + y) * width + bx * 8 + x] = s;
                }
        }
}

void ref_imd(struct ref_call *c)
{
    const float *image = ref_buffer(c, "image");
    float *out = ref_buffer(c, "out"), a = ref_float(c, "a"), b = ref_float(c, "b");
    int width = ref_int(c, "width"), height = ref_int(c, "height"), pitch = width + 6;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const float *mid = image + (y + 3) * pitch + x + 3;
            float sum = 0, weights = 0;
            for (int v = -3; v <= 3; v++)
                for (int u = -3; u <= 3; u++) {
                    float p = mid[v * pitch + u], e = p - *mid;
                    float near = fmaf(a, (float)(u * u + v * v), 1.0f);
                    float w = 1.0f / fmaf(b * e, e, near);
                    sum = fmaf(w, p, sum);
                    weights += w;
                }
            out[y * width + x] = sum / weights;
        }
}

void ref_sad(struct ref_call *c)
{
    const uint8_t *now = ref_buffer(c, "now"), *before = ref_buffer(c, "before");
    int32_t *out = ref_buffer(c, "out");
    int width = ref_int(c, "width");
    for (int by = 0; by < (int)c->l->grid.y; by++)
        for (int bx = 0; bx < (int)c->l->grid.x; bx++)
            for (int o = 0; o < 256; o++) {
                int32_t sum = 0;
                for (int k = 0; k < 64; k++) {
                    int y = by * 8 + k / 8, x = bx * 8 + k % 8;
                    sum += abs(now[y * width + x] - before[(y + o / 16) * (width + 16) + x + o % 16]);
                }
                out[(by * (int)c->l->grid.x + bx) * 256 + o] = sum;
            }
}

/* ---- blocks of pixels ---- */
static int channel(int32_t p, int s)
{
    return p >> 8 * s & 255;
}

/* squared distance of a pixel to entry i of the palette between two colours */
static int32_t away(int32_t from, int32_t to, int i, int32_t p)
{
    int32_t e = 0;
    for (int s = 0; s < 3; s++) {
        int d = (channel(from, s) * (3 - i) + channel(to, s) * i) / 3 - channel(p, s);
        e += d * d;
    }
    return e;
}

static int nearest(int32_t from, int32_t to, int32_t p)
{
    int best = 0;
    for (int i = 1; i < 4; i++)
        if (away(from, to, i, p) < away(from, to, best, p))
            best = i;
    return best;
}

void ref_dxt(struct ref_call *c)
{
    const int32_t *image = ref_buffer(c, "image");
    int32_t *ends = ref_buffer(c, "ends"), *index = ref_buffer(c, "index");
    for (int n = 0; n < (int)c->l->grid.x; n++) {
        int32_t p[16], least = INT32_MAX;
        int from = 0, to = 0;
        for (int k = 0; k < 16; k++)
            p[k] = image[n * 16 + k];
        for (int i = 0; i < 16; i++)
            for (int j = i; j < 16; j++) {
                int32_t sum = 0;
                for (int k = 0; k < 16; k++)
                    sum += away(p[i], p[j], nearest(p[i], p[j], p[k]), p[k]);
                if (sum < least) {
                    least = sum;
                    from = i;
                    to = j;
                }
            }
        ends[n * 2] = p[from];
        ends[n * 2 + 1] = p[to];
        for (int k = 0; k < 16; k++)
            index[n * 16 + k] = nearest(p[from], p[to], p[k]);
    }
}

/* ---- sequences: the tiles of one diagonal do not touch each other ---- */
void ref_nw(struct ref_call *c)
{
    const int32_t *likeness = ref_buffer(c, "likeness");
    int32_t *score = ref_buffer(c, "score");
    int cols = ref_int(c, "cols"), penalty = ref_int(c, "penalty");
    for (int bx = 0; bx < (int)c->l->grid.x; bx++)
        for (int y = 1; y <= 16; y++)
            for (int x = 1; x <= 16; x++) {
                int at = ((ref_int(c, "diagonal") - bx) * 16 + y) * cols + bx * 16 + x;
                int32_t best = score[at - cols - 1] + likeness[at];
                if (score[at - cols] - penalty > best)
                    best = score[at - cols] - penalty;
                if (score[at - 1] - penalty > best)
                    best = score[at - 1] - penalty;
                score[at] = best;
            }
}

/* Each SM reads a line of its own; all words of `a` are the same, so that the outputs do not say which.
 */
void ref_cta_reuse(struct ref_call *c)
{
    const int32_t *a = ref_buffer(c, "a");
    int32_t *out = ref_buffer(c, "out");
    for (uint32_t i = 0; i < c->l->grid.x; i++)
        out[i] = a[0];
}

static int inside(int at, int n)
{
    return at < 0 ? 0 : at >= n ? n - 1 : at;
}

void ref_hotspot(struct ref_call *c)
{
    const float *temp = ref_buffer(c, "temp"), *power = ref_buffer(c, "power");
    float *next = ref_buffer(c, "next"), rx = ref_float(c, "rx"), ry = ref_float(c, "ry"),
          rz = ref_float(c, "rz"), step = ref_float(c, "step"), ambient = ref_float(c, "ambient");
    int nx = ref_int(c, "nx"), ny = ref_int(c, "ny");
    for (int y = 0; y < ny; y++)
        for (int x = 0; x < nx; x++) {
            float t = temp[y * nx + x];
            float v = temp[inside(y - 1, ny) * nx + x] + temp[inside(y + 1, ny) * nx + x];
            float h = temp[y * nx + inside(x - 1, nx)] + temp[y * nx + inside(x + 1, nx)];
            float heat = fmaf(ry, fmaf(-2.0f, t, v), power[y * nx + x]);
            heat = fmaf(rx, fmaf(-2.0f, t, h), heat);
            heat = fmaf(rz, ambient - t, heat);
            next[y * nx + x] = fmaf(step, heat, t);
        }
}

void ref_sgemm(struct ref_call *c)
{
    const float *A = ref_buffer(c, "A"), *B = ref_buffer(c, "B");
    float *C = ref_buffer(c, "C"), alpha = ref_float(c, "alpha"), beta = ref_float(c, "beta");
    int m = ref_int(c, "m"), n = ref_int(c, "n"), k = ref_int(c, "k");
    for (int j = 0; j < n; j++)
        for (int i = 0; i < m; i++) {
            float sum = 0;
            for (int h = 0; h < k; h++)
                sum = fmaf(A[h * m + i], B[h * n + j], sum);
            float scaled = alpha * sum;
            C[j * m + i] = fmaf(beta, C[j * m + i], scaled);
        }
}
