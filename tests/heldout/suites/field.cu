/* Kernels in the manner of Mars, SHOC, Lonestar, PolyBench-ACC, of sparse formats, string search, ciphers, hash tables,
 * trees, volumes and networks with channels last, written afresh after the device and its timing were. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void
#define ALL 0xffffffffu
#define ME ((int)(blockIdx.x * blockDim.x + threadIdx.x))
__device__ unsigned mixed(unsigned k) { k ^= k >> 16; k *= 0x85ebca6bu; k ^= k >> 13; k *= 0xc2b2ae35u; return k ^ k >> 16; }

/* row offsets of uneven rows: about `mean` entries each, never fewer than one */
K f_offsets(int *start, int n, int mean) { int i = ME; if (i < n) start[i] = i * mean + (i == 0 ? 0 : i == n - 1 ? 0 : (int)(mixed(i) % (unsigned)mean)); }
/* neighbours in ascending order, about `step` apart, around the row's own place */
K f_near(const int *start, int *col, int n, int step)
{
    int r = ME;
    if (r >= n) return;
    int len = start[r + 1] - start[r], first = max(0, min(r - len * step / 2, n - len * step));
    for (int k = 0; k < len; k++) col[start[r] + k] = min(n - 1, first + k * step + (int)(mixed(start[r] + k) % (unsigned)step));
}

/* inverted index: a thread looks through its own stretch of the text for a word of four letters, byte by byte */
K f_invert(const unsigned char *text, int n, int stretch, unsigned word, int *count, int *last)
{
    int t = ME, from = t * stretch, to = min(from + stretch, n), hits = 0, at = -1;
    if (from >= n) return;
    unsigned seen = 0;
    for (int p = from; p < to; p++) {
        seen = seen << 8 | text[p];
        if (seen == word) { hits++; at = p; }
    }
    count[t] = hits; last[t] = at;
}

/* a word count's hash of words: letters between spaces, one word's hash added to its bucket */
K f_words(const unsigned char *text, int n, unsigned *bucket, unsigned mask)
{
    int p = ME;
    if (p >= n || text[p] == 32 || (p > 0 && text[p - 1] != 32)) return;
    unsigned h = 2166136261u;
    for (; p < n && text[p] != 32; p++) h = (h ^ text[p]) * 16777619u;
    atomicAdd(&bucket[h & mask], 1u);
}

/* string matching by an automaton: next state by state and letter, four letters a word, accepting states are the low ones */
K f_automaton(const unsigned *text, const unsigned short *next, int words, int stretch, int accept, int *found)
{
    int t = ME, from = t * stretch, hits = 0;
    if (from >= words) return;
    unsigned state = 0;
    for (int k = 0; k < stretch && from + k < words; k++) {
        unsigned w = text[from + k];
        for (int b = 0; b < 4; b++, w >>= 8) { state = next[state * 32 + (w & 31)]; hits += (int)state < accept; }
    }
    found[t] = hits;
}

/* pairs of documents: the product of their vectors, rows against rows */
K f_similar(const float *doc, float *score, int docs, int dim)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= docs || j >= docs) return;
    float s = 0;
    for (int k = 0; k < dim; k++) s += doc[i * dim + k] * doc[j * dim + k];
    score[i * docs + j] = s;
}

/* rounds of a block cipher by four tables of 256 words in global memory, sixteen bytes a thread */
K f_cipher(const uint4 *in, uint4 *out, const unsigned *te, const unsigned *key, int blocks, int rounds)
{
    int i = ME;
    if (i >= blocks) return;
    uint4 v = in[i];
    unsigned a = v.x ^ key[0], b = v.y ^ key[1], c = v.z ^ key[2], d = v.w ^ key[3];
    for (int r = 1; r <= rounds; r++) {
        unsigned p = te[a >> 24] ^ te[256 + (b >> 16 & 255)] ^ te[512 + (c >> 8 & 255)] ^ te[768 + (d & 255)] ^ key[4 * r];
        unsigned q = te[b >> 24] ^ te[256 + (c >> 16 & 255)] ^ te[512 + (d >> 8 & 255)] ^ te[768 + (a & 255)] ^ key[4 * r + 1];
        unsigned s = te[c >> 24] ^ te[256 + (d >> 16 & 255)] ^ te[512 + (a >> 8 & 255)] ^ te[768 + (b & 255)] ^ key[4 * r + 2];
        unsigned t = te[d >> 24] ^ te[256 + (a >> 16 & 255)] ^ te[512 + (b >> 8 & 255)] ^ te[768 + (c & 255)] ^ key[4 * r + 3];
        a = p; b = q; c = s; d = t;
    }
    v.x = a; v.y = b; v.z = c; v.w = d;
    out[i] = v;
}

/* SHA-256 of one block of sixteen words a thread, the schedule kept in a ring of sixteen */
__constant__ unsigned f_k256[64];
K f_sha256(const unsigned *message, unsigned *digest, int n)
{
    int i = ME;
    if (i >= n) return;
    unsigned w[16], h[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u}, v[8];
    for (int k = 0; k < 16; k++) w[k] = message[i * 16 + k];
    for (int k = 0; k < 8; k++) v[k] = h[k];
#define RIGHT(x, s) ((x) >> (s) | (x) << (32 - (s)))
    for (int k = 0; k < 64; k++) {
        unsigned x = w[k & 15];
        if (k >= 16) {
            unsigned p = w[(k + 1) & 15], q = w[(k + 14) & 15];
            x += w[(k + 9) & 15] + (RIGHT(p, 7) ^ RIGHT(p, 18) ^ p >> 3) + (RIGHT(q, 17) ^ RIGHT(q, 19) ^ q >> 10);
            w[k & 15] = x;
        }
        unsigned t1 = v[7] + (RIGHT(v[4], 6) ^ RIGHT(v[4], 11) ^ RIGHT(v[4], 25)) + ((v[4] & v[5]) ^ (~v[4] & v[6])) + f_k256[k] + x;
        unsigned t2 = (RIGHT(v[0], 2) ^ RIGHT(v[0], 13) ^ RIGHT(v[0], 22)) + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int m = 7; m > 0; m--) v[m] = v[m - 1];
        v[4] += t1; v[0] = t1 + t2;
    }
    for (int k = 0; k < 8; k++) digest[i * 8 + k] = h[k] + v[k];
}

/* symmetric rank-2k update, an element a thread */
K f_syr2k(int n, int m, float alpha, float beta, const float *a, const float *b, float *c)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n) return;
    float s = c[i * n + j] * beta;
    for (int k = 0; k < m; k++) s += alpha * a[i * m + k] * b[j * m + k] + alpha * b[i * m + k] * a[j * m + k];
    c[i * n + j] = s;
}

/* triangular product in place, a column a thread; one step of Cholesky below the diagonal; Gauss-Seidel along a diagonal */
K f_trmm(int m, int n, const float *a, float *b)
{
    int j = ME;
    if (j >= n) return;
    for (int i = 0; i < m; i++) {
        float s = b[i * n + j];
        for (int k = i + 1; k < m; k++) s += a[k * m + i] * b[k * n + j];
        b[i * n + j] = s;
    }
}
K f_cholesky(int n, float *a, int k)
{
    int i = k + 1 + ME;
    if (i >= n) return;
    float s = a[i * n + k];
    for (int p = 0; p < k; p++) s -= a[i * n + p] * a[k * n + p];
    a[i * n + k] = s / sqrtf(a[k * n + k]);
}
K f_seidel(int n, double *a, int d)
{
    int i = 1 + ME, j = d - 2 * i;
    if (i >= n - 1 || j < 1 || j >= n - 1) return;
    const double *u = a + (i - 1) * n + j, *c = a + i * n + j, *l = a + (i + 1) * n + j;
    a[i * n + j] = (u[-1] + u[0] + u[1] + c[-1] + c[0] + c[1] + l[-1] + l[0] + l[1]) / 9;
}

/* running sums along rows, a row a thread */
K f_scanrows(const float *in, float *out, int rows, int cols)
{
    int r = ME;
    if (r >= rows) return;
    float s = 0;
    for (int k = 0; k < cols; k++) { s += in[r * cols + k]; out[r * cols + k] = s; }
}

/* tridiagonal systems, one after another in memory, a system a thread */
K f_thomas(const double *lower, const double *diag, const double *upper, double *rhs, double *gam, int systems, int n)
{
    int t = ME;
    if (t >= systems) return;
    long o = (long)t * n;
    double bet = diag[o];
    rhs[o] = rhs[o] / bet;
    for (int k = 1; k < n; k++) {
        gam[o + k] = upper[o + k - 1] / bet;
        bet = diag[o + k] - lower[o + k] * gam[o + k];
        rhs[o + k] = (rhs[o + k] - lower[o + k] * rhs[o + k - 1]) / bet;
    }
    for (int k = n - 2; k >= 0; k--) rhs[o + k] -= gam[o + k + 1] * rhs[o + k + 1];
}

/* triangles: the common neighbours of an edge's ends, both lists in ascending order, an edge's list walk a thread */
K f_triangles(const int *start, const int *col, int nodes, int *count)
{
    int u = ME;
    if (u >= nodes) return;
    int total = 0;
    for (int e = start[u]; e < start[u + 1]; e++) {
        int v = col[e], a = e + 1, b = start[v], enda = start[u + 1], endb = start[v + 1];
        if (v <= u) continue;
        while (a < enda && b < endb) {
            int x = col[a], y = col[b];
            total += x == y;
            a += x <= y;
            b += y <= x;
        }
    }
    count[u] = total;
}

/* PageRank by pulling: a node a thread, ranks of random neighbours over their degrees */
K f_pagerank(const int *start, const int *col, const float *rank, const float *share, float *out, int nodes, float damp)
{
    int v = ME;
    if (v >= nodes) return;
    float s = 0;
    for (int e = start[v]; e < start[v + 1]; e++) { int u = col[e]; s += rank[u] * share[u]; }
    out[v] = (1 - damp) / nodes + damp * s;
}

/* colouring by independent sets: a node of the highest draw among its uncoloured neighbours takes the colour */
K f_colour(const int *start, const int *col, const int *colour, int *next, int nodes, int round)
{
    int v = ME;
    if (v >= nodes) return;
    if (colour[v] >= 0) { next[v] = colour[v]; return; }
    unsigned mine = mixed(v);
    bool top = true;
    for (int e = start[v]; top && e < start[v + 1]; e++) {
        int u = col[e];
        if (u != v && colour[u] < 0 && mixed(u) >= mine) top = false;
    }
    next[v] = top ? round : -1;
}

/* sparse times vector: slices of 32 rows padded to the slice's longest, columns within a band */
K f_sell_make(int *base, int *col, int slices, int rows, int band)
{
    int s = ME;
    if (s >= slices) return;
    for (int k = base[s]; k < base[s + 1]; k++)
        for (int r = 0; r < 32; r++) {
            int c = s * 32 + r + (int)(mixed(k * 32 + r) % (2u * band)) - band;
            col[k * 32 + r] = c < 0 || c >= rows ? -1 : c;
        }
}
K f_sell(const int *base, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = ME;
    if (r >= rows) return;
    float s = 0;
    for (int k = base[r / 32]; k < base[r / 32 + 1]; k++) {
        int c = col[k * 32 + r % 32];
        if (c >= 0) s += val[k * 32 + r % 32] * x[c];
    }
    y[r] = s;
}
/* the same from a list of entries, whole numbers, sums by atomics; and from dense blocks of four by four, a row a thread */
K f_coo(const int *row, const int *col, const unsigned *val, const unsigned *x, unsigned *y, int nnz)
{
    for (int e = ME; e < nnz; e += gridDim.x * blockDim.x) atomicAdd(&y[row[e]], val[e] * x[col[e]]);
}
K f_bsr(const int *start, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = ME;
    if (r >= rows) return;
    float s = 0;
    for (int b = start[r / 4]; b < start[r / 4 + 1]; b++) {
        float4 v = *(const float4 *)(val + b * 16 + r % 4 * 4), w = *(const float4 *)(x + col[b] * 4);
        s += v.x * w.x + v.y * w.y + v.z * w.z + v.w * w.w;
    }
    y[r] = s;
}

/* a hash table of slabs: 31 keys and a link, a warp reads a slab whole and serves its lanes' keys in turn */
K f_slab_build(const unsigned *key, unsigned *slab, unsigned *next_free, int n, unsigned buckets)
{
    if (ME != 0) return;
    for (int i = 0; i < n; i++) {
        unsigned s = mixed(key[i]) % buckets;
        for (;;) {
            int k = 0;
            while (k < 31 && slab[s * 32 + k] != 0 && slab[s * 32 + k] != key[i]) k++;
            if (k < 31) { slab[s * 32 + k] = key[i]; break; }
            if (slab[s * 32 + 31] == 0) slab[s * 32 + 31] = (*next_free)++;
            s = slab[s * 32 + 31];
        }
    }
}
K f_slab(const unsigned *key, const unsigned *slab, int *place, int n, unsigned buckets)
{
    int i = ME, lane = threadIdx.x % 32, mine = -1;
    unsigned my = i < n ? key[i] : 0;
    for (int turn = 0; turn < 32; turn++) {
        unsigned ask = __shfl_sync(ALL, my, turn), s = mixed(ask) % buckets;
        int got = -1;
        while (ask) {
            unsigned w = slab[s * 32 + lane], hit = __ballot_sync(ALL, lane < 31 && w == ask), link = __shfl_sync(ALL, w, 31);
            if (hit) { got = (int)(s * 32) + __ffs(hit) - 1; break; }
            if (!link) break;
            s = link;
        }
        if (lane == turn) mine = got;
    }
    if (i < n) place[i] = mine;
}

/* a join's probe: chains of rows that share a hash, made by links to earlier rows; payloads of matches summed */
K f_chain_make(unsigned *key, int *head, int *link, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    unsigned h = i & mask;                               /* row i is of bucket i % buckets: the link needs no atomics */
    key[i] = mixed(i) & 63;
    link[i] = i > (int)mask ? i - (int)mask - 1 : -1;
    if (i + (int)mask + 1 >= n) head[h] = i;
}
K f_chain(const unsigned *probe, const unsigned *key, const int *head, const int *link, const unsigned *payload, unsigned *sum, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    unsigned p = probe[i], s = 0;
    for (int at = head[mixed(p) & mask]; at >= 0; at = link[at])
        if (key[at] == (p & 63)) s += payload[at];
    sum[i] = s;
}

/* an embedding bag: a warp adds the rows of its bag's members, popular rows first in the table */
K f_bag(const float *draw, const float2 *table, float2 *out, int bags, int members, int rows)
{
    int b = ME / 32, lane = threadIdx.x % 32;
    if (b >= bags) return;
    float2 s = {0, 0};
    for (int k = 0; k < members; k++) {
        float u = draw[b * members + k];
        float2 v = table[(int)(u * u * u * rows) * 32 + lane];
        s.x += v.x; s.y += v.y;
    }
    out[b * 32 + lane] = s;
}

/* a volume seen from aside: rays in steps, eight corners each, weights by distance */
K f_rays(const float *vol, float *image, int n, int w, int h, int steps, float ux, float uy, float uz, float vx, float vy, float vz, float dx, float dy, float dz)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= w || py >= h) return;
    float x = px * ux + py * vx, y = px * uy + py * vy, z = px * uz + py * vz, sum = 0;
    for (int k = 0; k < steps; k++, x += dx, y += dy, z += dz) {
        int i = (int)x, j = (int)y, l = (int)z;
        if (x < 0 || y < 0 || z < 0 || i >= n - 1 || j >= n - 1 || l >= n - 1) continue;
        const float *p = vol + (l * n + j) * n + i, *q = p + n * n;
        float fx = x - i, fy = y - j, fz = z - l;
        float a = (p[0] * (1 - fx) + p[1] * fx) * (1 - fy) + (p[n] * (1 - fx) + p[n + 1] * fx) * fy;
        float b = (q[0] * (1 - fx) + q[1] * fx) * (1 - fy) + (q[n] * (1 - fx) + q[n + 1] * fx) * fy;
        sum += a * (1 - fz) + b * fz;
    }
    image[py * w + px] = sum;
}

/* convolution of three by three, channels last, an output channel a lane; average of squares of two by two of them */
K f_conv_last(const float *in, const float *weight, float *out, int w, int h, int ci, int co)
{
    int o = threadIdx.x, x = blockIdx.x * blockDim.y + threadIdx.y, y = blockIdx.y;
    if (o >= co || x >= w - 2) return;
    float s = 0;
    for (int ky = 0; ky < 3; ky++)
        for (int kx = 0; kx < 3; kx++)
            for (int c = 0; c < ci; c++) s += in[((y + ky) * w + x + kx) * ci + c] * weight[((o * 3 + ky) * 3 + kx) * ci + c];
    out[(y * (w - 2) + x) * co + o] = s;
}
K f_pool_last(const float *in, float *out, int w, int h, int c)
{
    int i = ME, k = i % c, x = i / c % (w / 2), y = i / c / (w / 2);
    if (y >= h / 2) return;
    const float *p = in + (2 * y * w + 2 * x) * c + k;
    out[i] = (p[0] * p[0] + p[c] * p[c] + p[w * c] * p[w * c] + p[w * c + c] * p[w * c + c]) * 0.25f;
}

/* a search tree laid out by levels, planes by turns of three axes; queries come in no order */
K f_tree(const float *plane, const float *query, int *leaf, int queries, int levels)
{
    int q = ME;
    if (q >= queries) return;
    float p[3] = {query[3 * q], query[3 * q + 1], query[3 * q + 2]};
    int node = 0, axis = 0;
    for (int l = 0; l < levels; l++) {
        float v = axis == 0 ? p[0] : axis == 1 ? p[1] : p[2];
        node = 2 * node + 1 + (v >= plane[node]);
        axis = axis == 2 ? 0 : axis + 1;
    }
    leaf[q] = node;
}

/* particles as structures: every field apart, a step of their motion between walls */
struct particle { float x, y, z, mass, vx, vy, vz, charge; };
K f_particles(struct particle *p, int n, float dt, float ex, float bz)
{
    int i = ME;
    if (i >= n) return;
    struct particle *a = p + i;
    float k = a->charge / a->mass * dt, vx = a->vx + k * (ex + a->vy * bz), vy = a->vy - k * a->vx * bz, vz = a->vz;
    float x = a->x + vx * dt, y = a->y + vy * dt, z = a->z + vz * dt;
    if (x < 0 || x > 1) vx = -vx;
    if (y < 0 || y > 1) vy = -vy;
    if (z < 0 || z > 1) vz = -vz;
    a->x = x; a->y = y; a->z = z; a->vx = vx; a->vy = vy; a->vz = vz;
}

/* clusters by a diameter's bound: a candidate a CTA, points taken while the farthest pair stays within it */
K f_qtc(const float *dist, int n, float bound, int *size)
{
    __shared__ float far_[128];
    __shared__ int best[128];
    __shared__ int last;
    int seed = blockIdx.x, t = threadIdx.x, taken = 1;
    if (t < n) far_[t] = t == seed ? 3e38f : dist[seed * n + t];
    for (;;) {
        best[t] = t < n && far_[t] <= bound ? t : -1;
        __syncthreads();
        for (int d = 64; d; d /= 2) {
            if (t < d) {
                int a = best[t], b = best[t + d];
                if (a < 0 || (b >= 0 && far_[b] < far_[a])) best[t] = b;
            }
            __syncthreads();
        }
        if (t == 0) last = best[0];
        __syncthreads();
        if (last < 0) break;
        taken++;
        if (t < n) far_[t] = t == last ? 3e38f : max(far_[t], dist[last * n + t]);
        __syncthreads();
    }
    if (t == 0) size[seed] = taken;
}

/* local alignment, a pair of sequences a thread, a column of scores between the pairs' own, letters interleaved */
K f_align(const unsigned char *s, const unsigned char *t, int *row, int *score, int pairs, int n, int m)
{
    int p = ME, best = 0;
    if (p >= pairs) return;
    for (int j = 0; j <= m; j++) row[j * pairs + p] = 0;
    for (int i = 0; i < n; i++) {
        int diag = 0, left = 0;
        unsigned c = s[i * pairs + p];
        for (int j = 1; j <= m; j++) {
            int up = row[j * pairs + p], v = diag + (c == t[(j - 1) * pairs + p] ? 3 : -2);
            v = max(max(v, 0), max(up, left) - 2);
            diag = up; left = v;
            row[j * pairs + p] = v;
            best = max(best, v);
        }
    }
    score[p] = best;
}

/* lines in a picture: every set pixel votes at all angles; counters in shared memory, one angle a CTA */
K f_hough(const unsigned char *pixel, const int *cosine, const int *sine, unsigned *votes, int w, int h, int bins)
{
    extern __shared__ float f_bins[];
    unsigned *bin = (unsigned *)f_bins;
    for (int b = threadIdx.x; b < bins; b += blockDim.x) bin[b] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < w * h; i += blockDim.x)
        if (pixel[i] > 240) atomicAdd(&bin[((i % w * cosine[blockIdx.x] + i / w * sine[blockIdx.x]) >> 8) + bins / 2], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < bins; b += blockDim.x) votes[blockIdx.x * bins + b] = bin[b];
}

/* a thread's own counters, bytes, side by side in global memory: read, add one, write */
K f_counters(const unsigned *data, unsigned char *mine, int each, int threads)
{
    int t = ME;
    if (t >= threads) return;
    for (int k = 0; k < each; k++) mine[t * 64 + (data[k * threads + t] & 63)]++;
}

/* lifting steps of a wavelet down the columns: odd rows less their neighbours' mean, then even rows more a quarter of theirs */
K f_lift(int *a, int w, int h)
{
    int x = ME;
    if (x >= w) return;
    for (int y = 1; y < h; y += 2) a[y * w + x] -= (a[(y - 1) * w + x] + a[(y + 1 < h ? y + 1 : y - 1) * w + x]) >> 1;
    for (int y = 0; y < h; y += 2) a[y * w + x] += (a[(y > 0 ? y - 1 : 1) * w + x] + a[(y + 1 < h ? y + 1 : y - 1) * w + x] + 2) >> 2;
}
