/* Kernels in the manner of SHOC, HPCG, GUPS, LULESH, miniFE, XSBench, Lonestar and of sorting and hashing libraries, written afresh. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void
#define ALL 0xffffffffu

/* Lennard-Jones over a neighbour list stored by neighbour, so that a warp's reads of the list are together */
K c_md(float4 *force, const float4 *pos, const int *list, int near, int atoms, float cut, float lj1, float lj2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= atoms) return;
    float4 p = pos[i], f = {0, 0, 0, 0};
    for (int j = 0; j < near; j++) {
        float4 o = pos[list[j * atoms + i]];
        float x = p.x - o.x, y = p.y - o.y, z = p.z - o.z, r2 = x * x + y * y + z * z;
        if (r2 < cut && r2 > 0.01f) {
            float inv = 1.0f / r2, six = inv * inv * inv, k = inv * six * (lj1 * six - lj2);
            f.x += x * k; f.y += y * k; f.z += z * k;
        }
    }
    force[i] = f;
}

/* STREAM's triad over the whole grid, two elements a thread and step */
K c_triad(double *a, const double *b, const double *c, double s, long n)
{
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) a[i] = b[i] + s * c[i];
}

/* the symmetric sweep's product in ELL, columns apart by rows; and the same of 27 neighbours walked by a warp */
K c_spmv_ell(const double *val, const int *col, const double *x, double *y, int rows, int width)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    double s = 0;
    for (int k = 0; k < width; k++) {
        int c = col[(size_t)k * rows + r];
        if (c >= 0) s += val[(size_t)k * rows + r] * x[c];
    }
    y[r] = s;
}

/* random updates: the table's words by the low bits of a shift register */
K c_gups(unsigned long long *table, unsigned long long mask, const unsigned long long *seed, int updates)
{
    unsigned long long ran = seed[blockIdx.x * blockDim.x + threadIdx.x];
    for (int i = 0; i < updates; i++) {
        ran = (ran << 1) ^ ((long long)ran < 0 ? 7ull : 0ull);
        atomicXor(&table[ran & mask], ran);
    }
}

/* hourglass forces of a hexahedron: eight corners gathered, four modes, eight corners scattered by atomics */
__device__ const float mode[4][8] = {{1, 1, -1, -1, -1, -1, 1, 1}, {1, -1, -1, 1, -1, 1, 1, -1}, {1, -1, 1, -1, 1, -1, 1, -1}, {-1, 1, -1, 1, 1, -1, 1, -1}};
K c_hourglass(const int *corner, const float *vx, const float *vol, float *fx, int elems, float coef)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= elems) return;
    float v[8], h[4];
    int at[8];
    for (int i = 0; i < 8; i++) { at[i] = corner[8 * e + i]; v[i] = vx[at[i]]; }
    for (int m = 0; m < 4; m++) { h[m] = 0; for (int i = 0; i < 8; i++) h[m] += mode[m][i] * v[i]; }
    float k = -coef * cbrtf(vol[e]);
    for (int i = 0; i < 8; i++) {
        float f = 0;
        for (int m = 0; m < 4; m++) f += mode[m][i] * h[m];
        atomicAdd(&fx[at[i]], floorf(k * f * 16.0f));
    }
}

/* columns of rows of w, ascending, `step` apart */
K c_columns(int *col, int n, int w, int step)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) col[i] = i % w * step + i / w % step;
}

/* assembly: a binary search of every row's columns for each pair of an element's nodes */
K c_assemble(const int *start, const int *col, int *val, const int *node, const int *local, int elems)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, e = i / 16;
    if (e >= elems) return;
    int row = node[4 * e + i / 4 % 4], want = node[4 * e + i % 4], lo = start[row], hi = start[row + 1];
    while (lo < hi) { int mid = (lo + hi) / 2; if (col[mid] < want) lo = mid + 1; else hi = mid; }
    if (lo < start[row + 1] && col[lo] == want) atomicAdd(&val[lo], local[i % 16] + e);
}

/* macroscopic cross sections: a binary search of one grid, then a few isotopes' tables, five channels each */
K c_lookup(const double *egrid, const double *xs, const int *isotope, const double *energy, double *out, int n, int points, int isotopes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double e = energy[i], sum[5] = {0, 0, 0, 0, 0};
    int lo = 0, hi = points - 1;
    while (hi - lo > 1) { int mid = lo + (hi - lo) / 2; if (egrid[mid] > e) hi = mid; else lo = mid; }
    double f = (egrid[lo + 1] - e) / (egrid[lo + 1] - egrid[lo]);
    for (int k = 0; k < 4; k++) {
        const double *low = xs + ((size_t)(isotope[i * 4 + k] % isotopes) * points + lo) * 5, *high = low + 5;
        for (int c = 0; c < 5; c++) sum[c] += high[c] - f * (high[c] - low[c]);
    }
    for (int c = 0; c < 5; c++) out[(size_t)i * 5 + c] = sum[c];
}

/* one round of breadth-first search with a work list: a warp shares a node's edges, a slot a new node by one atomic */
K c_bfs_list(const int *start, const int *edge, int *dist, const int *in, const int *in_count, int *out, int *out_count, int level)
{
    int w = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31, warps = gridDim.x * blockDim.x / 32;
    for (int i = w; i < *in_count; i += warps) {
        int v = in[i], first = start[v], last = start[v + 1];
        for (int e = first + lane; e < last; e += 32)
            if (atomicCAS(&dist[edge[e]], -1, level) == -1) out[atomicAdd(out_count, 1)] = edge[e];
    }
}

/* relaxation of shortest paths, edges by their ends; and hooking of the least edge of a minimum spanning forest */
K c_sssp(const int *from, const int *to, const int *weight, const unsigned *old, unsigned *dist, int *changed, int edges)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges || old[from[e]] == 0xffffffffu) return;
    unsigned d = old[from[e]] + weight[e];
    if (d < old[to[e]]) { atomicMin(&dist[to[e]], d); *changed = 1; }
}
K c_mst(const int *start, const int *edge, const int *weight, const int *comp, unsigned long long *least, int nodes)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes) return;
    unsigned long long best = ~0ull;
    for (int e = start[v]; e < start[v + 1]; e++)
        if (comp[edge[e]] != comp[v]) { unsigned long long k = (unsigned long long)(unsigned)weight[e] << 32 | (unsigned)e; best = min(best, k); }
    if (best != ~0ull) atomicMin(&least[comp[v]], best);
}

/* scan of any length in one launch: tiles numbered as they start, a tile looks back at those before it */
K c_lookback(const int *in, int *out, volatile unsigned long long *state, unsigned *next, int n)
{
    __shared__ int tile, before, part[8];
    int t = threadIdx.x, lane = t & 31, w = t / 32;
    if (t == 0) tile = (int)atomicAdd(next, 1u);
    __syncthreads();
    int i = tile * 256 + t, v = i < n ? in[i] : 0, s = v;
    for (int d = 1; d < 32; d *= 2) { int o = __shfl_up_sync(ALL, s, d); if (lane >= d) s += o; }
    if (lane == 31) part[w] = s;
    __syncthreads();
    int left = 0, all = 0;
    for (int k = 0; k < 8; k++) { if (k < w) left += part[k]; all += part[k]; }
    if (t == 0) {
        state[tile] = (tile ? 1ull : 2ull) << 32 | (unsigned)all;
        __threadfence();
        int sum = 0;
        for (int k = tile - 1; k >= 0; k--) {
            unsigned long long f;
            while (((f = state[k]) >> 32) == 0) ;
            sum += (int)(unsigned)f;
            if (f >> 32 == 2) break;
        }
        before = sum;
        state[tile] = 2ull << 32 | (unsigned)(sum + all);
        __threadfence();
    }
    __syncthreads();
    if (i < n) out[i] = before + left + s;
}

/* the scatter of a radix sort: each key to its digit's place in the tile's part of the output, ranks by matching */
K c_scatter(const unsigned *key, const unsigned *val, const unsigned *base, unsigned *okey, unsigned *oval, int n, int shift)
{
    __shared__ unsigned seen[8][16];
    int t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t & 31, w = t / 32;
    for (int k = t; k < 128; k += 256) seen[k / 16][k % 16] = 0;
    __syncthreads();
    unsigned k = i < n ? key[i] : 0, d = k >> shift & 15, same = __ballot_sync(ALL, i < n);
    for (int b = 0; b < 4; b++) { unsigned v = __ballot_sync(ALL, d >> b & 1); same &= d >> b & 1 ? v : ~v; }
    unsigned rank = __popc(same & ((1u << lane) - 1));
    if (i < n && rank == 0) seen[w][d] = __popc(same);
    __syncthreads();
    if (i >= n) return;
    for (int u = 0; u < w; u++) rank += seen[u][d];
    unsigned place = base[d * gridDim.x + blockIdx.x] + rank;
    okey[place] = k; oval[place] = val[i];
}

/* open addressing: insertion by compare and swap, then a probe that counts its steps */
__device__ unsigned hash_of(unsigned k) { k ^= k >> 16; k *= 0x85ebca6bu; k ^= k >> 13; k *= 0xc2b2ae35u; return k ^ k >> 16; }
K c_hash_build(const unsigned *key, unsigned *slot, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned h = hash_of(key[i]) & mask;; h = (h + 1) & mask) { unsigned o = atomicCAS(&slot[h], 0u, key[i]); if (o == 0 || o == key[i]) return; }
}
K c_hash_probe(const unsigned *key, const unsigned *slot, int *found, int n, unsigned mask)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned h = hash_of(key[i]) & mask;
    while (slot[h] && slot[h] != key[i]) h = (h + 1) & mask;
    found[i] = slot[h] == key[i];
}

/* seven points marched along z: two planes in registers, the tile's plane and its rim in shared memory */
K c_march(const float *in, float *out, int nx, int ny, int nz, float a, float b)
{
    __shared__ float s[10][34];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    size_t plane = (size_t)nx * ny, at = (size_t)y * nx + x;
    bool in_x = x > 0 && x < nx - 1, in_y = y > 0 && y < ny - 1, here = x < nx && y < ny;
    float below = here ? in[at] : 0, now = here ? in[at + plane] : 0;
    for (int z = 1; z < nz - 1; z++) {
        float above = here ? in[at + (z + 1) * plane] : 0;
        s[ty + 1][tx + 1] = now;
        if (here && tx == 0 && x > 0) s[ty + 1][0] = in[at + z * plane - 1];
        if (here && tx == 31 && x < nx - 1) s[ty + 1][33] = in[at + z * plane + 1];
        if (here && ty == 0 && y > 0) s[0][tx + 1] = in[at + z * plane - nx];
        if (here && ty == 7 && y < ny - 1) s[9][tx + 1] = in[at + z * plane + nx];
        __syncthreads();
        if (in_x && in_y) out[at + z * plane] = a * now + b * (below + above + s[ty][tx + 1] + s[ty + 2][tx + 1] + s[ty + 1][tx] + s[ty + 1][tx + 2]);
        __syncthreads();
        below = now; now = above;
    }
}

/* life on bits: 32 cells a word, counts by adders of whole words */
K c_life(const unsigned *in, unsigned *out, int words, int rows)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x >= words) return;
    unsigned one = 0, two = 0, four = 0;
    for (int dy = -1; dy <= 1; dy++) {
        const unsigned *r = in + (size_t)((y + dy + rows) % rows) * words;
        unsigned l = r[(x + words - 1) % words], c = r[x], n = r[(x + 1) % words];
        unsigned w[3] = {__funnelshift_l(l, c, 1), dy ? c : 0, __funnelshift_r(c, n, 1)};
        for (int k = 0; k < 3; k++) { unsigned a = one & w[k], b = two & a; one ^= w[k]; two ^= a; four |= b; }
    }
    unsigned c = in[(size_t)y * words + x];
    out[(size_t)y * words + x] = ~four & two & (one | c);
}

/* rate equations of a burnt gas: many products of a few inputs per cell, species apart by cells */
K c_rates(const float *temp, const float *mole, float *rate, int cells, float scale)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= cells) return;
    float t = temp[i], inv = 1.0f / t, m[8], f[6];
    for (int s = 0; s < 8; s++) m[s] = max(mole[s * cells + i], 1e-20f);
    for (int r = 0; r < 6; r++) f[r] = (1.0f + r) * scale * (t * (0.5f + r) - 3.0f * inv) * m[r] * m[r + 1] - m[r + 2] * inv;
    for (int s = 0; s < 8; s++) {
        float q = 0;
        for (int r = 0; r < 6; r++) q += r == s ? -f[r] : r + 1 == s ? -f[r] : r + 2 == s ? 2 * f[r] : 0;
        rate[s * cells + i] = q;
    }
}

/* masked loads of a tensor compiler: a block of rows, predicates on every access, no branches */
K c_masked(const float *x, const float *y, float *out, int n, int stride)
{
    int base = blockIdx.x * 1024 + threadIdx.x * 4, row = blockIdx.y;
#ifdef TWIN
    for (int k = 0; k < 4; k++) if (base + k < n) out[(size_t)row * stride + base + k] = x[(size_t)row * stride + base + k] * y[base + k];
#else
    for (int k = 0; k < 4; k++) {
        unsigned a, b;
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0x0; @p ld.global.b32 { %0 }, [ %1 + 0 ]; }"
                     : "=r"(a) : "l"(x + (size_t)row * stride + base + k), "r"((unsigned)(base + k < n)));
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; mov.u32 %0, 0x0; @p ld.global.L1::evict_last.b32 { %0 }, [ %1 + 0 ]; }"
                     : "=r"(b) : "l"(y + base + k), "r"((unsigned)(base + k < n)));
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.b32 [ %0 + 0 ], { %1 }; }"
                     :: "l"(out + (size_t)row * stride + base + k), "r"(__float_as_uint(__uint_as_float(a) * __uint_as_float(b))), "r"((unsigned)(base + k < n)));
    }
#endif
}
