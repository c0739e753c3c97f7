/* Kernels in the manner of Rodinia, written afresh. Built by build.sh; twin.h runs the same source on a processor. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void

/* hotspot: a square of the chip with a halo, several time steps in shared memory */
#define HB 16
K r_hotspot(int steps, const float *power, const float *src, float *dst, int cols, int rows, int border, float cap, float rx, float ry, float rz, float step)
{
    __shared__ float t[HB][HB], p[HB][HB], u[HB][HB];
    int tx = threadIdx.x, ty = threadIdx.y, small = HB - steps * 2;
    int y0 = small * blockIdx.y - border, x0 = small * blockIdx.x - border, y = y0 + ty, x = x0 + tx;
    bool in = y >= 0 && y < rows && x >= 0 && x < cols;
    if (in) { t[ty][tx] = src[y * cols + x]; p[ty][tx] = power[y * cols + x]; }
    __syncthreads();
    int n = max(ty - 1, max(0, -y0)), s = min(ty + 1, min(HB - 1, rows - 1 - y0)), w = max(tx - 1, max(0, -x0)), e = min(tx + 1, min(HB - 1, cols - 1 - x0));
    bool done = false;
    for (int i = 0; i < steps; i++) {
        done = false;
        if (in && tx > i && tx < HB - 1 - i && ty > i && ty < HB - 1 - i) {
            done = true;
            u[ty][tx] = t[ty][tx] + step / cap * (p[ty][tx] + (t[s][tx] + t[n][tx] - 2.0f * t[ty][tx]) / ry + (t[ty][e] + t[ty][w] - 2.0f * t[ty][tx]) / rx + (80.0f - t[ty][tx]) / rz);
        }
        __syncthreads();
        if (i == steps - 1) break;
        if (done) t[ty][tx] = u[ty][tx];
        __syncthreads();
    }
    if (done) dst[y * cols + x] = u[ty][tx];
}

/* srad: neighbours through index arrays, column-major picture, one thread a pixel in one dimension */
K r_srad(const int *in, const int *is, const int *je, const int *jw, float *dn, float *ds, float *de, float *dw, float q0, float *c, const float *img, int nr, int nc)
{
    int ei = blockIdx.x * blockDim.x + threadIdx.x;
    if (ei >= nr * nc) return;
    int row = (ei + 1) % nr - 1, col = (ei + 1) / nr;
    if ((ei + 1) % nr == 0) { row = nr - 1; col--; }
    float j = img[ei], n = img[in[row] + nr * col] - j, s = img[is[row] + nr * col] - j, w = img[row + nr * jw[col]] - j, e = img[row + nr * je[col]] - j;
    float g2 = (n * n + s * s + w * w + e * e) / (j * j), l = (n + s + w + e) / j;
    float num = 0.5f * g2 - 1.0f / 16.0f * (l * l), den = 1 + 0.25f * l, q = num / (den * den);
    den = (q - q0) / (q0 * (1 + q0));
    float v = 1.0f / (1.0f + den);
    v = v < 0 ? 0 : v > 1 ? 1 : v;
    dn[ei] = n; ds[ei] = s; dw[ei] = w; de[ei] = e; c[ei] = v;
}

/* needleman-wunsch: a tile's anti-diagonals in shared memory */
#define NB 16
K r_nw(const int *ref, int *item, int cols, int penalty, int diag, int width)
{
    __shared__ int t[NB + 1][NB + 1], r[NB][NB];
    int tx = threadIdx.x, bx = blockIdx.x, bi = bx, bj = diag - 1 - bx;
    if (bj < 0 || bj >= width || bi >= width) return;
    int base = cols * NB * bj + NB * bi, index = base + tx + cols + 1, north = base + tx + 1, west = base + cols;
    if (tx == 0) t[0][0] = item[base];
    for (int y = 0; y < NB; y++) r[y][tx] = ref[index + cols * y];
    __syncthreads();
    t[tx + 1][0] = item[west + cols * tx];
    t[0][tx + 1] = item[north];
    __syncthreads();
    for (int m = 0; m < 2 * NB - 1; m++) {
        int x = m < NB ? tx + 1 : tx + m - NB + 2, y = m < NB ? m - tx + 1 : NB - tx;
        if (m < NB ? tx <= m : tx <= 2 * NB - 2 - m)
            t[y][x] = max(t[y - 1][x - 1] + r[y - 1][x - 1], max(t[y][x - 1] - penalty, t[y - 1][x] - penalty));
        __syncthreads();
    }
    for (int y = 0; y < NB; y++) item[index + cols * y] = t[y + 1][tx + 1];
}

/* lud: the diagonal tile, and the inner update from its row and column tiles */
#define LB 16
K r_lud_diag(float *m, int dim, int off)
{
    __shared__ float s[LB][LB];
    int tx = threadIdx.x;
    for (int i = 0; i < LB; i++) s[i][tx] = m[(off + i) * dim + off + tx];
    __syncthreads();
    for (int i = 0; i < LB - 1; i++) {
        if (tx > i) {
            for (int j = 0; j < i; j++) s[tx][i] -= s[tx][j] * s[j][i];
            s[tx][i] /= s[i][i];
        }
        __syncthreads();
        if (tx > i)
            for (int j = 0; j < i + 1; j++) s[i + 1][tx] -= s[i + 1][j] * s[j][tx];
        __syncthreads();
    }
    for (int i = 1; i < LB; i++) m[(off + i) * dim + off + tx] = s[i][tx];
}
K r_lud_inner(float *m, int dim, int off)
{
    __shared__ float row[LB][LB], col[LB][LB];
    int tx = threadIdx.x, ty = threadIdx.y, gr = off + (blockIdx.y + 1) * LB, gc = off + (blockIdx.x + 1) * LB;
    row[ty][tx] = m[(off + ty) * dim + gc + tx];
    col[ty][tx] = m[(gr + ty) * dim + off + tx];
    __syncthreads();
    float s = 0;
    for (int i = 0; i < LB; i++) s += col[ty][i] * row[i][tx];
    m[(gr + ty) * dim + gc + tx] -= s;
}

/* gaussian: the second step of one elimination */
K r_fan2(const float *mult, float *a, float *b, int size, int t)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= size - 1 - t || y >= size - t) return;
    a[size * (x + 1 + t) + y + t] -= mult[size * (x + 1 + t) + t] * a[size * t + y + t];
    if (y == 0) b[x + 1 + t] -= mult[size * (x + 1 + t) + y + t] * b[t];
}

/* streamcluster: what opening a centre at x would gain; coordinates by dimension, centre in shared memory */
K r_pgain(int num, int dim, long x, const float *weight, const float *cost, const int *assign, const float *coord, float *work, const int *table, bool *sw, int k)
{
    extern __shared__ float centre[];
    int tid = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0)
        for (int i = 0; i < dim; i++) centre[i] = coord[i * num + x];
    __syncthreads();
    if (tid >= num) return;
    float d = 0;
    for (int i = 0; i < dim; i++) { float t = coord[i * num + tid] - centre[i]; d += t * t; }
    d = d * weight[tid];
    float *lower = work + tid * (k + 1);
    if (d < cost[tid]) { sw[tid] = 1; lower[k] += d - cost[tid]; }
    else lower[table[assign[tid]]] += cost[tid] - d;
}

/* b+tree: a CTA walks one query down, a thread a key */
struct node { int location, keys[33], slots[33], is_leaf, num; };
K r_btree_make(struct node *nodes, int first, int child, int span, int leaf)
{
    struct node *n = nodes + first + blockIdx.x;
    int t = threadIdx.x;
    n->keys[t] = (blockIdx.x * 32 + t) * span;
    n->slots[t] = child + blockIdx.x * 32 + t;
    if (t == 0) { n->keys[32] = (blockIdx.x + 1) * 32 * span; n->is_leaf = leaf; n->num = 32; n->location = first + blockIdx.x; }
}
K r_btree(long height, const struct node *nodes, long count, long *current, long *offset, const int *query, int *answer)
{
    int q = blockIdx.x, t = threadIdx.x;
    for (int i = 0; i < height; i++) {
        if (nodes[current[q]].keys[t] <= query[q] && nodes[current[q]].keys[t + 1] > query[q])
            if (nodes[offset[q]].slots[t] < count) offset[q] = nodes[offset[q]].slots[t];
        __syncthreads();
        if (t == 0) current[q] = offset[q];
        __syncthreads();
    }
    if (nodes[current[q]].keys[t] == query[q]) answer[q] = nodes[current[q]].slots[t];
}

/* lavaMD: the particles of a box against those of its neighbours */
struct box { int x, y, z, number; long offset; int nn; int near_[26]; };
struct four { float v, x, y, z; };
K r_lava_make(struct box *boxes, int side)
{
    int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z, i = (z * side + y) * side + x, n = 0;
    struct box *b = boxes + i;
    b->x = x; b->y = y; b->z = z; b->number = i; b->offset = (long)i * 100;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++)
                if ((dx || dy || dz) && x + dx >= 0 && y + dy >= 0 && z + dz >= 0 && x + dx < side && y + dy < side && z + dz < side)
                    b->near_[n++] = ((z + dz) * side + y + dy) * side + x + dx;
    b->nn = n;
}
#define LP 100
K r_lava(float a2, const struct box *boxes, const struct four *rv, const float *qv, struct four *fv)
{
    __shared__ struct four ra[LP], rb[LP];
    __shared__ float qb[LP];
    int bx = blockIdx.x, tx = threadIdx.x;
    const struct four *va = rv + boxes[bx].offset;
    struct four *fa = fv + boxes[bx].offset;
    for (int w = tx; w < LP; w += blockDim.x) ra[w] = va[w];
    __syncthreads();
    for (int k = 0; k < 1 + boxes[bx].nn; k++) {
        int other = k == 0 ? bx : boxes[bx].near_[k - 1];
        for (int w = tx; w < LP; w += blockDim.x) { rb[w] = rv[boxes[other].offset + w]; qb[w] = qv[boxes[other].offset + w]; }
        __syncthreads();
        for (int w = tx; w < LP; w += blockDim.x)
            for (int j = 0; j < LP; j++) {
                float r2 = ra[w].v + rb[j].v - (ra[w].x * rb[j].x + ra[w].y * rb[j].y + ra[w].z * rb[j].z), v = expf(-(a2 * r2)), fs = 2 * v;
                fa[w].v += qb[j] * v;
                fa[w].x += qb[j] * (fs * (ra[w].x - rb[j].x));
                fa[w].y += qb[j] * (fs * (ra[w].y - rb[j].y));
                fa[w].z += qb[j] * (fs * (ra[w].z - rb[j].z));
            }
        __syncthreads();
    }
}

/* particle filter: each particle looks for its place in the distribution */
K r_find_index(const double *ax, const double *ay, const double *cdf, const double *u, double *xj, double *yj, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= n) return;
    int index = -1;
    for (int x = 0; x < n; x++)
        if (cdf[x] >= u[i]) { index = x; break; }
    if (index == -1) index = n - 1;
    xj[i] = ax[index]; yj[i] = ay[index];
}

K r_flux_make(int *around, int nelr, int row)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nelr) return;
    unsigned h = i * 2654435761u;
    around[i] = i == 0 ? -1 : i - 1;
    around[i + nelr] = i + 1 < nelr ? i + 1 : -2;
    around[i + 2 * nelr] = i - row + (int)(h >> 27) < 0 ? -1 : i - row + (int)(h >> 27);
    around[i + 3 * nelr] = i + row + (int)(h >> 28) < nelr ? i + row + (int)(h >> 28) : -2;
}
/* cfd: fluxes over the four sides of an element of an unstructured grid */
K r_flux(int nelr, const int *around, const float *normals, const float *var, float *fluxes)
{
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i >= nelr) return;
    float rho = var[i], mx = var[i + nelr], my = var[i + 2 * nelr], mz = var[i + 3 * nelr], en = var[i + 4 * nelr];
    float vx = mx / rho, vy = my / rho, vz = mz / rho, v2 = vx * vx + vy * vy + vz * vz, p = 0.4f * (en - 0.5f * rho * v2), cs = sqrtf(1.4f * p / rho);
    float f0 = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0;
    for (int j = 0; j < 4; j++) {
        int nb = around[i + j * nelr];
        float nx = normals[i + (j + 0 * 4) * nelr], ny = normals[i + (j + 1 * 4) * nelr], nz = normals[i + (j + 2 * 4) * nelr], len = sqrtf(nx * nx + ny * ny + nz * nz);
        if (nb >= 0) {
            float r = var[nb], x = var[nb + nelr], y = var[nb + 2 * nelr], z = var[nb + 3 * nelr], e = var[nb + 4 * nelr];
            float ux = x / r, uy = y / r, uz = z / r, u2 = ux * ux + uy * uy + uz * uz, q = 0.4f * (e - 0.5f * r * u2), c = sqrtf(1.4f * q / r);
            float fac = -len * 0.2f * 0.5f * (sqrtf(v2) + sqrtf(u2) + cs + c);
            f0 += fac * (rho - r); f4 += fac * (en - e); f1 += fac * (mx - x); f2 += fac * (my - y); f3 += fac * (mz - z);
            fac = -0.5f * nx; f0 += fac * (x + mx); f4 += fac * (ux * (e + q) + vx * (en + p)); f1 += fac * (ux * x + q + vx * mx + p);
            fac = -0.5f * ny; f0 += fac * (y + my); f4 += fac * (uy * (e + q) + vy * (en + p)); f2 += fac * (uy * y + q + vy * my + p);
            fac = -0.5f * nz; f0 += fac * (z + mz); f4 += fac * (uz * (e + q) + vz * (en + p)); f3 += fac * (uz * z + q + vz * mz + p);
        } else if (nb == -1) { f1 += nx * p; f2 += ny * p; f3 += nz * p; }
    }
    fluxes[i] = f0; fluxes[i + nelr] = f1; fluxes[i + 2 * nelr] = f2; fluxes[i + 3 * nelr] = f3; fluxes[i + 4 * nelr] = f4;
}

/* pathfinder: a band of the grid, rows in shared memory */
#define PB 256
K r_path(int iterations, const int *wall, const int *src, int *dst, int cols, int start, int border)
{
    __shared__ int prev[PB], res[PB];
    int tx = threadIdx.x, small = PB - iterations * 2, x0 = small * blockIdx.x - border, x = x0 + tx;
    int lo = max(0, -x0), hi = min(PB - 1, cols - 1 - x0), w = max(tx - 1, lo), e = min(tx + 1, hi);
    bool in = tx >= lo && tx <= hi, done = false;
    if (x >= 0 && x < cols) prev[tx] = src[x];
    __syncthreads();
    for (int i = 0; i < iterations; i++) {
        done = false;
        if (tx >= i + 1 && tx <= PB - i - 2 && in) {
            done = true;
            res[tx] = min(prev[w], min(prev[tx], prev[e])) + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == iterations - 1) break;
        if (done) prev[tx] = res[tx];
        __syncthreads();
    }
    if (done) dst[x] = res[tx];
}

/* heartwall: a template matched at every place of a window, then the best place of the CTA */
K r_heartwall(const float *frame, int w, const float *tmpl, int tw, float *score, int *best)
{
    __shared__ float v[256];
    __shared__ int at[256];
    int t = threadIdx.y * blockDim.x + threadIdx.x, x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float s = 0, n = 0;
    for (int j = 0; j < tw; j++)
        for (int i = 0; i < tw; i++) { float f = frame[(y + j) * w + x + i]; s += f * tmpl[(tw - 1 - j) * tw + (tw - 1 - i)]; n += f * f; }
    s = s * s / n;
    score[y * (gridDim.x * blockDim.x) + x] = s;
    v[t] = s; at[t] = y * w + x;
    __syncthreads();
    for (int d = blockDim.x * blockDim.y / 2; d > 0; d /= 2) {
        if (t < d && (v[t + d] > v[t] || (v[t + d] == v[t] && at[t + d] < at[t]))) { v[t] = v[t + d]; at[t] = at[t + d]; }
        __syncthreads();
    }
    if (t == 0) best[blockIdx.y * gridDim.x + blockIdx.x] = at[0];
}

/* myocyte: one cell a thread, a stiff system stepped by Runge-Kutta with arrays in local memory */
__device__ void cell(const float *y, float *dy, const float *par, int n)
{
    for (int i = 0; i < n; i++) {
        float a = y[(i + 1) % n], b = y[(i + n - 1) % n];
        dy[i] = par[i % 4] * (a - y[i]) + par[(i + 1) % 4] * b * (1.0f - y[i] * y[i]) / (1.0f + a * a);
    }
}
K r_myocyte(const float *init, const float *par, float *out, int cells, int steps)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cells) return;
    float y[12], k1[12], k2[12], t[12];
    for (int i = 0; i < 12; i++) y[i] = init[c * 12 + i];
    for (int s = 0; s < steps; s++) {
        cell(y, k1, par + 4 * (c % 7), 12);
        for (int i = 0; i < 12; i++) t[i] = y[i] + 0.01f * k1[i];
        cell(t, k2, par + 4 * (c % 7), 12);
        float err = 0;
        for (int i = 0; i < 12; i++) { y[i] += 0.005f * (k1[i] + k2[i]); err = fmaxf(err, fabsf(k1[i] - k2[i])); }
        if (err < 1e-3f) break;
    }
    for (int i = 0; i < 12; i++) out[c * 12 + i] = y[i];
}
