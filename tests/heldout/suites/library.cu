/* Parts of libraries: sorting and scanning in one pass, sparse products by merge paths, dense factors, numbers at random,
 * codes, hashes and big integers, graphs by queues, alignment, options. Under TWIN what a library does is written out. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void
#define ME (blockIdx.x * blockDim.x + threadIdx.x)
typedef unsigned long long u64;

/* one pass of a radix sort: the tiles learn their bins' places from the tiles before them while those still work */
#define ITEMS 4
K k_onesweep(const unsigned *key, unsigned *out, const unsigned *start, volatile unsigned *look, unsigned *ticket, int n, int shift)
{
    __shared__ unsigned bin[4][256], base[256], tile;
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) tile = atomicAdd(ticket, 1u);
    for (int b = t; b < 4 * 256; b += 128) bin[b / 256][b % 256] = 0;
    __syncthreads();
    unsigned my = tile;
    unsigned v[ITEMS], d[ITEMS], rank[ITEMS];
    for (int k = 0; k < ITEMS; k++) {
        int at = (my * 4 + w) * 32 * ITEMS + k * 32 + lane;
        v[k] = at < n ? key[at] : 0xffffffffu;
        d[k] = v[k] >> shift & 255;
        unsigned peers = __match_any_sync(0xffffffffu, d[k]);
        unsigned before = __popc(peers & ((1u << lane) - 1));
        unsigned old = bin[w][d[k]];
        __syncwarp();
        if (before == 0) bin[w][d[k]] = old + __popc(peers);
        __syncwarp();
        rank[k] = old + before;
    }
    __syncthreads();
    for (int b = t; b < 256; b += 128) {
        unsigned sum = 0;
        for (int i = 0; i < 4; i++) { unsigned c = bin[i][b]; bin[i][b] = sum; sum += c; }
        look[my * 256 + b] = (my == 0 ? 2u : 1u) << 30 | sum;
        __threadfence();
        unsigned from = 0;
        for (int p = (int)my - 1; p >= 0;) {
            unsigned s = look[p * 256 + b];
            if (s >> 30 == 0) continue;
            from += s & 0x3fffffff;
            if (s >> 30 == 2) break;
            p--;
        }
        if (my) { __threadfence(); look[my * 256 + b] = 2u << 30 | (from + sum); }
        base[b] = start[b] + from;
    }
    __syncthreads();
    for (int k = 0; k < ITEMS; k++) {
        unsigned to = base[d[k]] + bin[w][d[k]] + rank[k];
        if (to < (unsigned)n) out[to] = v[k];
    }
}
K k_digits(const unsigned *key, unsigned *start, int n, int shift)
{
    __shared__ unsigned c[256];
    c[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256) atomicAdd(&c[key[i] >> shift & 255], 1u);
    __syncthreads();
    unsigned s = 0;
    for (int b = 0; b < (int)threadIdx.x; b++) s += c[b];
    start[threadIdx.x] = s;
}

/* y = A x, the merge path of row ends and non-zeros cut in equal parts */
K k_mergepath(const int *end, const int *col, const int *val, const int *x, int *y, int *carry_row, int *carry, int rows, int nnz, int part)
{
    int i = ME, d0 = min(i * part, rows + nnz), d1 = min(d0 + part, rows + nnz);
    int lo = max(d0 - nnz, 0), hi = min(d0, rows);
    while (lo < hi) { int m = (lo + hi) / 2; if (end[m] <= d0 - m - 1) lo = m + 1; else hi = m; }
    int r = lo, k = d0 - lo, sum = 0;
    for (int d = d0; d < d1; d++)
        if (r < rows && k >= end[r]) { y[r++] = sum; sum = 0; }
        else { sum += val[k] * x[col[k]]; k++; }
    carry_row[i] = r; carry[i] = sum;
}

/* Cholesky of blocks in shared memory, one block a CTA */
K k_potrf(double *a, int n)
{
    __shared__ double s[24][25];
    double *m = a + (long)blockIdx.x * n * n;
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) s[i / n][i % n] = m[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[i][i] += n;
    __syncthreads();
    for (int k = 0; k < n; k++) {
        if (threadIdx.x == 0) s[k][k] = sqrt(s[k][k]);
        __syncthreads();
        for (int i = k + 1 + threadIdx.x; i < n; i += blockDim.x) s[i][k] /= s[k][k];
        __syncthreads();
        for (int i = threadIdx.x; i < n * n; i += blockDim.x) {
            int r = i / n, c = i % n;
            if (c > k && r >= c) s[r][c] -= s[r][k] * s[c][k];
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n * n; i += blockDim.x) if (i % n <= i / n) m[i] = s[i / n][i % n];
}

/* LU with partial pivoting of small matrices, one a warp, a column a lane; the pivot is a vote of the lanes */
K k_getrf(float *a, int *pivot, int n, int count)
{
    int w = ME / 32, lane = threadIdx.x % 32;
    if (w >= count) return;
    float *m = a + w * n * n, r[16];
    for (int c = 0; c < 16; c++) r[c] = lane < n && c < n ? m[lane * n + c] : 0;
    for (int k = 0; k < n; k++) {
        float best = -1;
        for (int c = 0; c < 16; c++) if (c == k) best = lane >= k && lane < n ? fabsf(r[c]) : -1.0f;
        int who = lane;
        for (int s = 16; s; s /= 2) {
            float o = __shfl_xor_sync(0xffffffffu, best, s); int p = __shfl_xor_sync(0xffffffffu, who, s);
            if (o > best || (o == best && p < who)) { best = o; who = p; }
        }
        if (lane == 0) pivot[w * n + k] = who;
        float f = 0;
        for (int c = 0; c < 16; c++) {
            float a0 = __shfl_sync(0xffffffffu, r[c], who), a1 = __shfl_sync(0xffffffffu, r[c], k);
            if (lane == k) r[c] = a0;
            else if (lane == who) r[c] = a1;
            if (c == k && lane > k) r[c] = f = r[c] / a0;
            if (c > k && lane > k) r[c] -= f * a0;
        }
    }
    for (int c = 0; c < 16; c++) if (lane < n && c < n) m[lane * n + c] = r[c];
}

/* a twister with its state in shared memory */
__constant__ unsigned temper[16];
K k_twister(const unsigned *seed, unsigned *out, int rounds)
{
    __shared__ unsigned st[624];
    for (int i = threadIdx.x; i < 624; i += blockDim.x) st[i] = seed[blockIdx.x * 624 + i];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        for (int from = 0; from < 624; from += 224) {
            int i = from + threadIdx.x;
            unsigned v = 0;
            bool mine = threadIdx.x < 224 && i < 624;
            if (mine) { unsigned y = (st[i] & 0x80000000u) | (st[(i + 1) % 624] & 0x7fffffffu); v = st[(i + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0); }
            __syncthreads();
            if (mine) st[i] = v;
            __syncthreads();
        }
        for (int i = threadIdx.x; i < 624; i += blockDim.x) {
            unsigned y = st[i]; y ^= y >> 11; y ^= y << 7 & 0x9d2c5680u; y ^= y << 15 & 0xefc60000u; y ^= y >> 18;
            out[(blockIdx.x * rounds + r) * 624 + i] = y ^ temper[y & 15];
        }
    }
}

/* American option by a binomial tree in shared memory */
K k_binomial(const double *s0, double *price, int steps, double strike, double up, double pu, double disc)
{
    __shared__ double v[2][129];
    int t = threadIdx.x;
    double down = 1 / up, s = s0[blockIdx.x];
    double at = s;
    for (int k = 0; k < steps; k++) at *= k < t ? up : down;
    if (t <= steps) v[0][t] = max(strike - at, 0.0);
    __syncthreads();
    int from = 0;
    for (int k = steps - 1; k >= 0; k--) {
        at *= t < k + 1 ? up : 1.0;
        if (t <= k) {
            double e = disc * (pu * v[from][t + 1] + (1 - pu) * v[from][t]);
            v[1 - from][t] = max(e, strike - at);
        }
        from = 1 - from;
        __syncthreads();
    }
    if (t == 0) price[blockIdx.x] = v[from][0];
}

/* bytes that a sequence of literals and earlier matches unpacks to, a warp for each block of the stream */
K k_unpack(const unsigned char *in, const int *begin, unsigned char *out, int *length, int stride)
{
    int b = ME / 32, lane = threadIdx.x % 32;
    const unsigned char *p = in + begin[b], *end = in + begin[b + 1];
    unsigned char *o = out + b * stride, *limit = o + stride;
    int made = 0;
    while (p + 2 < end) {
        int lit = p[0] & 15, copy = (p[0] >> 4) + 3, back = p[1] % 64 + 1;
        p += 2;
        if (p + lit > end || made + lit + copy > limit - o) break;
        for (int i = lane; i < lit; i += 32) o[made + i] = p[i];
        __syncwarp();
        p += lit; made += lit;
        if (back > made) continue;
        for (int i = 0; i < copy; i += 32) {
            unsigned char c = 0;
            if (i + lane < copy) c = o[made - back + (i + lane) % back];
            __syncwarp();
            if (i + lane < copy) o[made + i + lane] = c;
        }
        __syncwarp();
        made += copy;
    }
    if (lane == 0) length[b] = made;
}

/* Keccak-f[1600], a state a thread */
__constant__ u64 round_word[24];
K k_keccak(const u64 *in, u64 *out, int n)
{
    static const int turn[25] = {0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14};
    int i = ME;
    if (i >= n) return;
    u64 a[25], b[25], c[5];
    for (int k = 0; k < 25; k++) a[k] = in[k * n + i];
    for (int r = 0; r < 24; r++) {
        for (int x = 0; x < 5; x++) c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (int k = 0; k < 25; k++) { u64 d = c[(k + 1) % 5]; a[k] ^= c[(k + 4) % 5] ^ (d << 1 | d >> 63); }
        for (int y = 0; y < 5; y++)
            for (int x = 0; x < 5; x++) {
                u64 v = a[5 * y + x]; int s = turn[5 * y + x];
                b[5 * ((2 * x + 3 * y) % 5) + y] = s ? v << s | v >> (64 - s) : v;
            }
        for (int k = 0; k < 25; k++) a[k] = b[k] ^ (~b[k / 5 * 5 + (k + 1) % 5] & b[k / 5 * 5 + (k + 2) % 5]);
        a[0] ^= round_word[r];
    }
    for (int k = 0; k < 25; k++) out[k * n + i] = a[k];
}

/* products of numbers of 256 bits modulo 2^256 - 38, carries kept by hand */
K k_modmul(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = ME;
    if (i >= n) return;
    unsigned x[8], y[8], t[16];
    for (int k = 0; k < 8; k++) { x[k] = a[i * 8 + k]; y[k] = b[i * 8 + k]; }
    for (int k = 0; k < 16; k++) t[k] = 0;
    for (int p = 0; p < 8; p++) {
#ifdef TWIN
        u64 c = 0;
        for (int q = 0; q < 8; q++) { c += (u64)x[p] * y[q] + t[p + q]; t[p + q] = (unsigned)c; c >>= 32; }
        t[p + 8] = (unsigned)c;
#else
        asm("mad.lo.cc.u32 %0, %9, %10, %0;\n\tmadc.lo.cc.u32 %1, %9, %11, %1;\n\tmadc.lo.cc.u32 %2, %9, %12, %2;\n\tmadc.lo.cc.u32 %3, %9, %13, %3;\n\t"
            "madc.lo.cc.u32 %4, %9, %14, %4;\n\tmadc.lo.cc.u32 %5, %9, %15, %5;\n\tmadc.lo.cc.u32 %6, %9, %16, %6;\n\tmadc.lo.cc.u32 %7, %9, %17, %7;\n\taddc.u32 %8, 0, 0;"
            : "+r"(t[p]), "+r"(t[p + 1]), "+r"(t[p + 2]), "+r"(t[p + 3]), "+r"(t[p + 4]), "+r"(t[p + 5]), "+r"(t[p + 6]), "+r"(t[p + 7]), "=r"(t[p + 8])
            : "r"(x[p]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
        asm("mad.hi.cc.u32 %0, %8, %9, %0;\n\tmadc.hi.cc.u32 %1, %8, %10, %1;\n\tmadc.hi.cc.u32 %2, %8, %11, %2;\n\tmadc.hi.cc.u32 %3, %8, %12, %3;\n\t"
            "madc.hi.cc.u32 %4, %8, %13, %4;\n\tmadc.hi.cc.u32 %5, %8, %14, %5;\n\tmadc.hi.cc.u32 %6, %8, %15, %6;\n\tmadc.hi.u32 %7, %8, %16, %7;"
            : "+r"(t[p + 1]), "+r"(t[p + 2]), "+r"(t[p + 3]), "+r"(t[p + 4]), "+r"(t[p + 5]), "+r"(t[p + 6]), "+r"(t[p + 7]), "+r"(t[p + 8])
            : "r"(x[p]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
#endif
    }
    u64 c = 0;
    for (int k = 0; k < 8; k++) { c += (u64)t[k + 8] * 38 + t[k]; x[k] = (unsigned)c; c >>= 32; }
    for (int turn = 0; turn < 2; turn++) { c *= 38; for (int k = 0; k < 8; k++) { c += x[k]; x[k] = (unsigned)c; c >>= 32; } }
    for (int k = 0; k < 8; k++) out[i * 8 + k] = x[k];
}

/* number-theoretic transform modulo 2^64 - 2^32 + 1, in shared memory */
static __device__ u64 gold(u64 a, u64 b)
{
    u64 hi = __umul64hi(a, b), lo = a * b, e = 0xffffffffu;
    u64 h1 = hi >> 32, h0 = hi & e, r = lo - h1;
    if (lo < h1) r -= e;
    u64 m = h0 * e, s = r + m;
    if (s < m) s += e;
    return s >= 0xffffffff00000001ull ? s - 0xffffffff00000001ull : s;
}
K k_ntt(u64 *a, const u64 *root, int lg)
{
    __shared__ u64 s[512];
    int n = 1 << lg;
    u64 *m = a + (long)blockIdx.x * n;
    const u64 P = 0xffffffff00000001ull;
    for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> (32 - lg)] = m[i] % P;
    __syncthreads();
    for (int half = 1, step = n / 2; half < n; half *= 2, step /= 2) {
        for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
            int p = i / half * half * 2 + i % half;
            u64 u = s[p], v = gold(s[p + half], root[i % half * step]);
            u64 x = u + v; if (x < u || x >= P) x -= P;
            s[p] = x; s[p + half] = u >= v ? u - v : u + (P - v);
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) m[i] = s[i];
}

/* connected components: hooking with compare-and-swap, pointer jumping */
static __device__ int head_of(volatile int *parent, int v)
{
    int p = parent[v];
    while (p != parent[p]) { int g = parent[p]; parent[v] = g; v = p; p = g; }
    return p;
}
K k_components(const int *from, const int *to, int *parent, int edges)
{
    int i = ME;
    if (i >= edges) return;
    int u = head_of(parent, from[i]), v = head_of(parent, to[i]);
    while (u != v) {
        if (u < v) { int s = u; u = v; v = s; }
        int was = atomicCAS(&parent[u], u, v);
        if (was == u || was == v) break;
        u = head_of(parent, was); v = head_of(parent, v);
    }
}
K k_label(int *parent, int *label, int n) { int i = ME; if (i < n) { int p = i; while (p != parent[p]) p = parent[p]; label[i] = p; } }

/* cuckoo hashing: pairs thrown out go to their other place */
K k_cuckoo(const unsigned *key, u64 *table, int *lost, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    u64 e = (u64)key[i] << 32 | (unsigned)i;
    unsigned k = key[i], at = k * 2654435761u >> 7 & mask;
    for (int turn = 0; turn < 200; turn++) {
        e = atomicExch(&table[at], e);
        k = (unsigned)(e >> 32);
        if (k == 0) return;
        unsigned h1 = k * 2654435761u >> 7 & mask, h2 = (k ^ k >> 15) * 2246822519u >> 5 & mask;
        at = at == h1 ? h2 : h1;
    }
    atomicAdd(lost, 1);
}
K k_cuckoo_find(const unsigned *key, const u64 *table, int *found, int n, unsigned mask)
{
    int i = ME;
    if (i >= n) return;
    unsigned k = key[i], h1 = k * 2654435761u >> 7 & mask, h2 = (k ^ k >> 15) * 2246822519u >> 5 & mask;
    found[i] = table[h1] >> 32 == k ? (int)key[(unsigned)table[h1]] : table[h2] >> 32 == k ? (int)key[(unsigned)table[h2]] : -1;
}

/* persistent threads that take tasks from a queue and put their halves back until nothing is pending */
K k_tasks(u64 *queue, unsigned *tail, unsigned *head, int *pending, u64 *total, unsigned cap)
{
    for (;;) {
        if (*(volatile int *)pending == 0) return;
        unsigned h = *(volatile unsigned *)head;
        if (h >= *(volatile unsigned *)tail) continue;
        volatile u64 *q = queue;
        u64 task = q[h % cap];
        if (task == 0 || atomicCAS(head, h, h + 1) != h) continue;
        unsigned lo = (unsigned)(task >> 32), hi = (unsigned)task;
        if (hi - lo <= 8) {
            u64 s = 0;
            for (unsigned v = lo; v < hi; v++) s += (u64)v * v;
            atomicAdd(total, s);
        } else {
            unsigned mid = lo + (hi - lo) / 2;
            atomicAdd(pending, 2);
            unsigned at = atomicAdd(tail, 2u);
            q[at % cap] = (u64)lo << 32 | mid; q[(at + 1) % cap] = (u64)mid << 32 | hi;
            __threadfence();
        }
        atomicSub(pending, 1);
    }
}

K k_first(u64 *queue, u64 task) { if (ME == 0) queue[0] = task; }

/* shortest paths, near pile first, then the far one: one CTA */
K k_delta(const int *start, const int *edge, const int *weight, unsigned *dist, int *near, int *far, int nodes, int delta)
{
    __shared__ int nnear, nfar, nnext; __shared__ unsigned bound;
    int t = threadIdx.x, *next = near + nodes * 8;
    for (int i = t; i < nodes; i += blockDim.x) dist[i] = i ? 0x7fffffffu : 0;
    if (t == 0) { near[0] = 0; nnear = 1; nfar = 0; bound = delta; }
    __syncthreads();
    for (;;) {
        while (nnear) {
            if (t == 0) nnext = 0;
            __syncthreads();
            for (int i = t; i < nnear; i += blockDim.x) {
                int u = near[i];
                for (int e = start[u]; e < start[u + 1]; e++) {
                    unsigned d = dist[u] + weight[e];
                    if (d < atomicMin(&dist[edge[e]], d)) {
                        if (d < bound) next[atomicAdd(&nnext, 1)] = edge[e];
                        else far[atomicAdd(&nfar, 1)] = edge[e];
                    }
                }
            }
            __syncthreads();
            for (int i = t; i < nnext; i += blockDim.x) near[i] = next[i];
            __syncthreads();
            if (t == 0) nnear = nnext;
            __syncthreads();
        }
        int left = nfar;
        __syncthreads();
        if (left == 0) return;
        if (t == 0) { bound += delta; nnear = 0; nfar = 0; }
        __syncthreads();
        for (int i = t; i < left; i += blockDim.x) next[i] = far[i];
        __syncthreads();
        for (int i = t; i < left; i += blockDim.x)
            if (dist[next[i]] < bound) near[atomicAdd(&nnear, 1)] = next[i];
            else far[atomicAdd(&nfar, 1)] = next[i];
        __syncthreads();
    }
}

/* local alignment with affine gaps: a warp's lanes hold the columns, the wave goes through them by shuffles */
K k_align(const signed char *query, const signed char *db, const int *begin, int *score, int qlen, int open, int ext)
{
    __shared__ signed char q[256];
    int lane = threadIdx.x % 32, w = ME / 32, best = 0;
    for (int i = threadIdx.x; i < qlen; i += blockDim.x) q[i] = query[i];
    __syncthreads();
    int len = begin[w + 1] - begin[w];
    const signed char *d = db + begin[w];
    for (int strip = 0; strip < len; strip += 32) {
        int c = strip + lane < len ? d[strip + lane] : -1;
        int h = 0, f = 0, diag = 0, e = 0;
        for (int step = 0; step < qlen + 31; step++) {
            int hl = __shfl_up_sync(0xffffffffu, h, 1), el = __shfl_up_sync(0xffffffffu, e, 1);
            if (lane == 0) { hl = 0; el = 0; }
            int r = step - lane;
            if (r >= 0 && r < qlen && c >= 0) {
                int ne = max(el - ext, hl - open), nf = max(f - ext, h - open);
                int m = diag + (q[r] == c ? 5 : -3);
                int nh = max(max(0, m), max(ne, nf));
                diag = hl; h = nh; f = nf; e = ne;
                best = max(best, nh);
            } else if (r < 0) diag = 0;
        }
    }
    for (int s = 16; s; s /= 2) best = max(best, __shfl_xor_sync(0xffffffffu, best, s));
    if (lane == 0) score[w] = best;
}

/* a tree of boxes over sorted codes, each inner node made by itself; then looked through with a stack */
static __device__ int alike(const unsigned *code, int n, int i, int j) { return j < 0 || j >= n ? -1 : code[i] == code[j] ? 32 + __clz(i ^ j) : __clz(code[i] ^ code[j]); }
K k_lbvh(const unsigned *code, int *left, int *right, int n)
{
    int i = ME;
    if (i >= n - 1) return;
    int d = alike(code, n, i, i + 1) > alike(code, n, i, i - 1) ? 1 : -1;
    int least = alike(code, n, i, i - d), most = 2;
    while (alike(code, n, i, i + most * d) > least) most *= 2;
    int l = 0;
    for (int t = most / 2; t >= 1; t /= 2) if (alike(code, n, i, i + (l + t) * d) > least) l += t;
    int j = i + l * d, node = alike(code, n, i, j), s = 0;
    for (int t = l; t > 1;) { t = (t + 1) / 2; if (alike(code, n, i, i + (s + t) * d) > node) s += t; }
    int split = i + s * d + min(d, 0);
    left[i] = min(i, j) == split ? ~split : split;
    right[i] = max(i, j) == split + 1 ? ~(split + 1) : split + 1;
}
K k_visit(const unsigned *code, const int *left, const int *right, const unsigned *probe, int *hits, int n, int probes)
{
    int i = ME, stack[24], top = 0, count = 0;
    if (i >= probes) return;
    stack[top++] = 0;
    while (top) {
        int v = stack[--top];
        if (v < 0) { count += (code[~v] >> 8 ^ probe[i] >> 8) % 16 == 0; continue; }
        if (top < 22) { stack[top++] = left[v]; if (probe[i] >> (v & 31) & 1) stack[top++] = right[v]; }
    }
    hits[i] = count;
}
