/* Sparse products, graphs, sorting, search. Launches: suites.py; reference: reference.py. */
#define K extern "C" __global__ void
#define G (blockIdx.x * blockDim.x + threadIdx.x)

/* One step of page rank over incoming edges. */
K pagerank(const int *row, const int *from, const float *rank, const float *share, float *next, int n)
{
    int v = G;
    if (v < n) {
        float s = 0;
        for (int e = row[v]; e < row[v + 1]; e++)
            s += rank[from[e]] * share[from[e]];
        next[v] = 0.15f + 0.85f * s;
    }
}
/* Rows of equal length, column after column (ELL). */
K spmv_ell(const int *col, const float *val, const float *x, float *y, int rows, int width)
{
    int r = G;
    float s = 0;
    for (int k = 0; k < width; k++)
        s += val[k * rows + r] * x[col[k * rows + r]];
    y[r] = s;
}
/* A row of a CSR matrix per warp. */
K spmv_vector(const int *row, const int *col, const float *val, const float *x, float *y, int rows)
{
    int r = G / 32, lane = threadIdx.x & 31;
    if (r >= rows)
        return;
    float s = 0;
    for (int e = row[r] + lane; e < row[r + 1]; e += 32)
        s += val[e] * x[col[e]];
    for (int d = 16; d; d >>= 1)
        s += __shfl_down_sync(~0u, s, d);
    if (lane == 0)
        y[r] = s;
}
/* Coordinates: an integer product per entry, added atomically. */
K spmv_coo(const int *r, const int *c, const int *v, const int *x, int *y)
{
    int e = G;
    atomicAdd(&y[r[e]], v[e] * x[c[e]]);
}
/* Blocks of four by four (BSR): a lane per row of a block. */
K spmv_bsr(const int *row, const int *col, const float *val, const float *x, float *y, int brows)
{
    int t = G, b = t >> 2, q = t & 3;
    if (b < brows) {
        float s = 0;
        for (int e = row[b]; e < row[b + 1]; e++)
            for (int k = 0; k < 4; k++)
                s += val[e * 16 + q * 4 + k] * x[col[e] * 4 + k];
        y[t] = s;
    }
}
/* Diagonals: a banded matrix of nine. */
K spmv_dia(const float *d, const float *x, float *y, int n)
{
    int i = G;
    float s = 0;
    for (int k = 0; k < 9; k++)
        s += d[k * n + i] * x[i + k];
    y[i] = s;
}
/* One level of breadth-first search from the side of unvisited nodes. */
K bfs_bottom_up(const int *row, const int *edge, const int *level, int *next, int n, int now)
{
    int v = G;
    if (v >= n)
        return;
    int found = level[v];
    if (found > now)
        for (int e = row[v]; e < row[v + 1]; e++)
            if (level[edge[e]] == now) {
                found = now + 1;
                break;
            }
    next[v] = found;
}
/* A relaxation of all edges: shortest paths from one node. */
K sssp_relax(const int *from, const int *to, const int *w, const int *dist, int *next)
{
    int e = G;
    atomicMin(&next[to[e]], dist[from[e]] + w[e]);
}
/* Pointer jumping: parents become grandparents four times (union-find). */
K pointer_jump(const int *parent, int *root, int n)
{
    int v = G;
    int p = parent[v];
    for (int k = 0; k < 4; k++)
        p = parent[p];
    root[v] = p;
}
/* Triangles by intersecting sorted lists of fixed length. */
K intersect(const int *a, const int *b, int *count, int len)
{
    int t = G, i = 0, j = 0, c = 0;
    while (i < len && j < len) {
        int u = a[t * len + i] + 64 * i, v = b[t * len + j] + 64 * j;
        c += u == v;
        i += u <= v;
        j += v <= u;
    }
    count[t] = c;
}
/* A step of a bitonic sorting network over global memory, in place. */
K bitonic_step(int *a, int j, int k)
{
    int i = G, p = i ^ j;
    if (p > i) {
        int u = a[i], v = a[p];
        if ((u > v) == ((i & k) == 0)) {
            a[i] = v;
            a[p] = u;
        }
    }
}
/* A bitonic sort of 512 keys a CTA in shared memory. */
K bitonic_shared(const int *in, int *out)
{
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 512 + t];
    for (int k = 2; k <= 512; k <<= 1)
        for (int j = k >> 1; j; j >>= 1) {
            __syncthreads();
            int p = t ^ j;
            if (p > t && (s[t] > s[p]) == ((t & k) == 0)) {
                int u = s[t];
                s[t] = s[p];
                s[p] = u;
            }
        }
    __syncthreads();
    out[blockIdx.x * 512 + t] = s[t];
}
/* Digit counts of a radix sort in shared memory, 16 bins a CTA. */
K radix_count(const unsigned *key, int *count, int shift, int per)
{
    __shared__ int bin[16];
    if (threadIdx.x < 16)
        bin[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < per; k++)
        atomicAdd(&bin[(key[(blockIdx.x * per + k) * blockDim.x + threadIdx.x] >> shift) & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        count[threadIdx.x * gridDim.x + blockIdx.x] = bin[threadIdx.x];
}
/* An inclusive scan of 256 values a CTA by warps. */
K scan_cta(const int *in, int *out)
{
    __shared__ int w[8];
    int i = G, lane = threadIdx.x & 31, warp = threadIdx.x >> 5, v = in[i];
    for (int d = 1; d < 32; d <<= 1) {
        int u = __shfl_up_sync(~0u, v, d);
        if (lane >= d)
            v += u;
    }
    if (lane == 31)
        w[warp] = v;
    __syncthreads();
    for (int k = 0; k < warp; k++)
        v += w[k];
    out[i] = v;
}
/* Binary search of each key in a sorted table: entry i holds 3 i. */
K lower_bound(const int *table, const int *key, int *pos, int n)
{
    int i = G, q = key[i], lo = 0, hi = n;
    while (lo < hi) {
        int m = (lo + hi) >> 1;
        if (table[m] < q)
            lo = m + 1;
        else
            hi = m;
    }
    pos[i] = lo;
}
/* Look-ups by linear probing in a table of the size of a power of two. */
K hash_probe(const unsigned *table, const unsigned *key, int *steps, int mask)
{
    unsigned i = G, q = key[i], h = (q * 2654435761u) & mask;
    int n = 0;
    while (n < 16 && table[h] != q) {
        h = (h + 1) & mask;
        n++;
    }
    steps[i] = n;
}
