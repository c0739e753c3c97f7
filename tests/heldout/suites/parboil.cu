/* Kernels in the manner of Parboil, written afresh. */
#ifdef TWIN
#include "twin.h"
#endif
#define K extern "C" __global__ void

/* sgemm: 16 columns of b in shared memory, 8 sums a thread in registers; a by columns */
#define TN 16
#define TM 64
K p_sgemm(const float *a, int lda, const float *b, int ldb, float *c, int ldc, int k, float alpha, float beta)
{
    __shared__ float bs[4][TN];
    float s[TN];
    for (int i = 0; i < TN; i++) s[i] = 0;
    int t = threadIdx.y * TN + threadIdx.x, m = blockIdx.x * TM + t, n = blockIdx.y * TN;
    for (int i = 0; i < k; i += 4) {
        bs[threadIdx.y][threadIdx.x] = b[n + threadIdx.x + (i + threadIdx.y) * ldb];
        __syncthreads();
        for (int j = 0; j < 4; j++) {
            float v = a[m + (i + j) * lda];
            for (int q = 0; q < TN; q++) s[q] += v * bs[j][q];
        }
        __syncthreads();
    }
    for (int i = 0; i < TN; i++) c[m + (n + i) * ldc] = c[m + (n + i) * ldc] * beta + alpha * s[i];
}

/* spmv over jagged diagonals: lengths and starts of diagonals in constant memory */
__constant__ int jds_ptr[64];
__constant__ int sh_zcnt[4096];
K p_jds(float *dst, const float *data, const int *index, const int *perm, const float *x, int dim, int npad)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x, warp = ix >> 5;
    if (ix >= dim) return;
    float s = 0;
    int bound = sh_zcnt[warp];
    for (int k = 0; k < bound; k++) {
        int j = jds_ptr[k] + ix;
        s += data[j] * x[index[j]];
    }
    dst[perm[ix]] = s;
}

/* mri-q: all k-space points from constant memory for one voxel */
struct kval { float x, y, z, phi; };
__constant__ struct kval ck[256];
K p_mriq(int num, int first, const float *x, const float *y, const float *z, float *qr, float *qi)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sx = x[i], sy = y[i], sz = z[i], r = qr[i], m = qi[i];
    for (int k = 0; k < 256 && first + k < num; k++) {
        float e = 6.2831853f * (ck[k].x * sx + ck[k].y * sy + ck[k].z * sz);
        r += ck[k].phi * cosf(e);
        m += ck[k].phi * sinf(e);
    }
    qr[i] = r; qi[i] = m;
}

/* cutcp: potential at lattice points from the bins of atoms around, cut off */
K p_cutcp(int bins, const float4 *bin, const int *fill, float *lattice, float h, float cut2)
{
    __shared__ float4 atom[32];
    int t = (threadIdx.z * 8 + threadIdx.y) * 8 + threadIdx.x;
    int gx = blockIdx.x * 8 + threadIdx.x, gy = blockIdx.y * 8 + threadIdx.y, gz = blockIdx.z * 2 + threadIdx.z;
    float x = gx * h, y = gy * h, z = gz * h, e = 0, inv = 1.0f / cut2;
    for (int dz = -1; dz <= 1; dz++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int bx = (int)blockIdx.x + dx, by = (int)blockIdx.y + dy, bz = (int)(blockIdx.z / 4) + dz;
                if (bx < 0 || by < 0 || bz < 0 || bx >= bins || by >= bins || bz >= bins) continue;
                int b = (bz * bins + by) * bins + bx, n = fill[b];
                __syncthreads();
                if (t < n) atom[t] = bin[b * 32 + t];
                __syncthreads();
                for (int i = 0; i < n; i++) {
                    float ax = atom[i].x - x, ay = atom[i].y - y, az = atom[i].z - z, r2 = ax * ax + ay * ay + az * az;
                    if (r2 < cut2) { float s = 1.0f - r2 * inv; e += atom[i].w / sqrtf(r2 + 0.01f) * s * s; }
                }
            }
    lattice[(gz * gridDim.y * 8 + gy) * gridDim.x * 8 + gx] = e;
}

/* tpacf: pairs of points into bins of angles by binary search, a histogram per warp in shared memory */
__constant__ float binb[24];
K p_tpacf(unsigned *hist, const float *px, const float *py, const float *pz, int n, int bins)
{
    __shared__ unsigned h[8][24];
    __shared__ float sx[256], sy[256], sz[256];
    int t = threadIdx.x, w = t >> 5;
    for (int i = t; i < 8 * 24; i += blockDim.x) h[i / 24][i % 24] = 0;
    int mine = blockIdx.x * blockDim.x + t;
    float x = mine < n ? px[mine] : 0, y = mine < n ? py[mine] : 0, z = mine < n ? pz[mine] : 0;
    for (int j = 0; j < n; j += blockDim.x) {
        __syncthreads();
        if (j + t < n) { sx[t] = px[j + t]; sy[t] = py[j + t]; sz[t] = pz[j + t]; }
        __syncthreads();
        int m = min((int)blockDim.x, n - j);
        for (int k = 0; k < m && mine < n; k++) {
            float d = x * sx[k] + y * sy[k] + z * sz[k];
            int lo = 0, hi = bins;
            while (hi > lo + 1) { int mid = (lo + hi) / 2; if (d >= binb[mid]) hi = mid; else lo = mid; }
            if (d >= binb[lo]) atomicAdd(&h[w][lo], 1u); else atomicAdd(&h[w][hi], 1u);
        }
    }
    __syncthreads();
    if (t < 24) { unsigned s = 0; for (int i = 0; i < 8; i++) s += h[i][t]; if (s) atomicAdd(&hist[t], s); }
}

/* sad: 4x4 blocks of a frame against every place of a search window, 16-bit results */
K p_sad(unsigned short *sad, const unsigned char *ref, const unsigned char *cur, int w, int range)
{
    int bx = blockIdx.x * 4, by = blockIdx.y * 4, side = 2 * range + 1;
    for (int p = threadIdx.x; p < side * side; p += blockDim.x) {
        int dx = p % side - range, dy = p / side - range, s = 0;
        for (int y = 0; y < 4; y++)
            for (int x = 0; x < 4; x++) {
                int ry = by + y + dy, rx = bx + x + dx;
                ry = ry < 0 ? 0 : ry >= (int)gridDim.y * 4 ? (int)gridDim.y * 4 - 1 : ry;
                rx = rx < 0 ? 0 : rx >= w ? w - 1 : rx;
                s += abs((int)cur[(by + y) * w + bx + x] - (int)ref[ry * w + rx]);
            }
        sad[(blockIdx.y * gridDim.x + blockIdx.x) * side * side + p] = (unsigned short)s;
    }
}

/* lbm: collide and stream, nineteen distributions, one array each (D3Q19), flags as bits */
#define LX(dx, dy, dz) ((dx) + (dy) * nx + (dz) * nx * ny)
K p_lbm(const float *src, float *dst, const unsigned *flag, int nx, int ny, int nz)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y + 1, i = (z * ny + y) * nx + x, n = nx * ny * (nz + 2);
    const int cx[19] = {0, 0, 0, 1, -1, 0, 0, 1, -1, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1}, cy[19] = {0, 1, -1, 0, 0, 0, 0, 1, 1, -1, -1, 1, 1, -1, -1, 0, 0, 0, 0}, cz[19] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1};
    const int back[19] = {0, 2, 1, 4, 3, 6, 5, 10, 9, 8, 7, 14, 13, 12, 11, 18, 17, 16, 15};
    float f[19], rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int q = 0; q < 19; q++) { f[q] = src[q * n + i]; rho += f[q]; ux += cx[q] * f[q]; uy += cy[q] * f[q]; uz += cz[q] * f[q]; }
    ux /= rho; uy /= rho; uz /= rho;
    bool wall = flag[i] & 1, moving = flag[i] & 2;
    if (moving) { ux = 0.005f; uy = 0.002f; uz = 0; }
    float u2 = 1.5f * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int q = 0; q < 19; q++) {
        float w = q == 0 ? 1.0f / 3 : q < 7 ? 1.0f / 18 : 1.0f / 36, u = cx[q] * ux + cy[q] * uy + cz[q] * uz;
        float v = wall ? f[back[q]] : f[q] * (1 - 1.95f) + 1.95f * w * rho * (1 + u * (4.5f * u + 3) - u2);
        int tx = x + cx[q], ty = y + cy[q];
        tx = tx < 0 ? nx - 1 : tx >= nx ? 0 : tx; ty = ty < 0 ? ny - 1 : ty >= ny ? 0 : ty;
        dst[q * n + ((z + cz[q]) * ny + ty) * nx + tx] = v;
    }
}

/* histo: 8-bit counters that saturate, packed four to a word, compare and swap */
K p_histo(const unsigned *data, unsigned *packed, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned b = data[i] & 1023, sh = 8 * (b & 3), *w = packed + b / 4, old = *(volatile unsigned *)w, seen;
        do {
            seen = old;
            if (((seen >> sh) & 255) == 255) break;
            old = atomicCAS(w, seen, seen + (1u << sh));
        } while (old != seen);
    }
}

/* stencil: seven points, a column of planes in registers, two columns a thread */
K p_stencil(float c0, float c1, const float *a, float *out, int nx, int ny, int nz)
{
    int x = threadIdx.x + blockIdx.x * blockDim.x, y = blockIdx.y * 2 + threadIdx.y + 1;
    if (x < 1 || x >= nx - 1 || y >= ny - 1) return;
#define AT(x, y, z) ((x) + nx * ((y) + ny * (z)))
    float below = a[AT(x, y, 0)], here = a[AT(x, y, 1)];
    for (int z = 1; z < nz - 1; z++) {
        float above = a[AT(x, y, z + 1)];
        out[AT(x, y, z)] = (above + below + a[AT(x, y + 1, z)] + a[AT(x, y - 1, z)] + a[AT(x + 1, y, z)] + a[AT(x - 1, y, z)]) * c1 - here * c0;
        below = here; here = above;
    }
}
