/* Kernels whose tiles, extents and data the text fixes, for tests/cli/launch_tiles.sh:
 * nvcc -ptx -O3 -arch=sm_90 tiles.cu */

/* A thread writes eight elements of a row, sixteen apart: 16 x 4 threads. */
__global__ void eight_steps(float *dst, const float *src, const float *taps, int w, int h, int pitch)
{
    __shared__ float t[4][160];
    int bx = (blockIdx.x * 8 - 1) * 16 + threadIdx.x, by = blockIdx.y * 4 + threadIdx.y;
    src += by * pitch + bx;
    dst += by * pitch + bx;
#pragma unroll
    for (int i = 1; i < 9; i++)
        t[threadIdx.y][threadIdx.x + i * 16] = src[i * 16];
    t[threadIdx.y][threadIdx.x] = bx >= 0 ? src[0] : 0;
    t[threadIdx.y][threadIdx.x + 9 * 16] = bx + 9 * 16 < w ? src[9 * 16] : 0;
    __syncthreads();
#pragma unroll
    for (int i = 1; i < 9; i++) {
        float sum = 0;
#pragma unroll
        for (int j = -8; j <= 8; j++)
            sum += taps[8 - j] * t[threadIdx.y][threadIdx.x + i * 16 + j];
        dst[i * 16] = sum;
    }
}

/* Half of each row is exchanged with the neighbour's without __syncwarp: every block races. 32 x 2 threads, each with
 * eight rows. */
__global__ void races_anyhow(float *dst, const float *src, unsigned stride, unsigned h, unsigned w)
{
    __shared__ float t[16 * 33];
    unsigned lx = threadIdx.x, ly = 8 * threadIdx.y, in = lx & 7, gx = blockIdx.x * 32 + lx,
             gy = blockIdx.y * 16 + ly;
    if (gx - in + 7 >= w || gy + 7 >= h)
        return;
    float *v = &t[ly * 33 + lx], *r = &t[(ly + in) * 33 + lx - in];
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
        v[i * 33] = src[gy * stride + gx + i * stride];
    float sum = 0;
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
        sum += r[i];
#pragma unroll
    for (unsigned i = 0; i < 8; i++)
        dst[gy * stride + gx + i * stride] = sum + v[i * 33];
}

/* An element of shared memory for each of a block's threads, which are counted over both dimensions. */
__global__ void rank_sum(const float *a, float *out, int w, int h)
{
    __shared__ float s[128];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y,
        rank = threadIdx.y * blockDim.x + threadIdx.x;
    s[rank] = x < w && y < h ? a[y * w + x] : 0;
    __syncthreads();
    if (rank == 0) {
        float sum = 0;
        for (int i = 0; i < blockDim.x * blockDim.y; i++)
            sum += s[i];
        out[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

/* A tile with a halo that a parameter says, no longer than a block. */
__global__ void says_halo(const float *x, int n, int k, int halo, float *y)
{
    extern __shared__ float t[];
    int first = blockIdx.x * blockDim.x, i = first + threadIdx.x;
    t[threadIdx.x + halo] = i < n ? x[i] : 0;
    if ((int)threadIdx.x < halo) {
        int l = first - halo + (int)threadIdx.x, r = first + (int)(blockDim.x + threadIdx.x);
        t[threadIdx.x] = l >= 0 && l < n ? x[l] : 0;
        t[blockDim.x + halo + threadIdx.x] = r < n ? x[r] : 0;
    }
    __syncthreads();
    if (i < n) {
        float sum = 0;
        for (int j = 0; j < k; j++)
            sum += t[threadIdx.x + j];
        y[i] = sum;
    }
}

/* Bytes that are places in an array of the thread's own. */
__global__ void letters(float *out, const char *in, int h, int w)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    char count[16];
    for (int i = 0; i < 16; i++)
        count[i] = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (y + dy >= 0 && y + dy < h && x + dx >= 0 && x + dx < w)
                count[(int)in[(y + dy) * w + x + dx]]++;
    float sum = 0;
    for (int i = 0; i < 16; i++)
        sum += count[i] * count[i];
    if (y < h && x < w)
        out[y * w + x] = sum;
}

/* Blocks and rows that the text fixes: 128 x 64 columns of 81 numbers, 8 of them. */
__global__ void fixed_extents(const double *a, double *out)
{
    long first = (long)blockIdx.y * 81 * 8192 + blockIdx.x * 64 + threadIdx.x;
    double sum = 0;
    for (int k = 0; k < 81; k++)
        sum += a[first + k * 8192];
    for (int k = 0; k < 81; k++)
        out[first + k * 8192] = a[first + k * 8192] - sum;
}

/* Zeros where a list says, over what an output starts with. */
__global__ void zeros(const int *x, const int *y, const int *z, double *a, double *b, double *c, int n, int m, int l,
                      int all)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= all)
        return;
    if (i < n)
        a[x[i]] = 0;
    if (i < m)
        b[y[i]] = 0;
    if (i < l)
        c[z[i]] = 0;
}

/* The same for a product of a fixed size, of no more than 1024 threads. */
__global__ void square_product(const int *a, const int *b, int *c)
{
    __shared__ int s[1024], t[1024];
    int r = blockIdx.y * blockDim.y + threadIdx.y, q = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int i = 0; i < 256; i += blockDim.x) {
        s[threadIdx.y * blockDim.x + threadIdx.x] = a[r * 256 + i + threadIdx.x];
        t[threadIdx.y * blockDim.x + threadIdx.x] = b[i * 256 + threadIdx.y * 256 + q];
        __syncthreads();
        for (int j = 0; j < blockDim.x; j++)
            sum += s[threadIdx.y * blockDim.x + j] * t[j * blockDim.x + threadIdx.x];
        __syncthreads();
    }
    c[r * 256 + q] = sum;
}
