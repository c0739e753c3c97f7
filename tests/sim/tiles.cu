// Tiles in shared memory with and without bank conflicts (--swizzle-shared). tiles.ptx: nvcc -arch=compute_90 -ptx
template <int P> __device__ void body(const float *in, float *out, int w, int h) {
    __shared__ float tile[32][32 + P];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void plain(const float *in, float *out, int w, int h) { body<0>(in, out, w, h); }
extern "C" __global__ void padded(const float *in, float *out, int w, int h) { body<1>(in, out, w, h); }
extern "C" __global__ void tile64(const double *in, double *out, int w, int h) { // 8-byte words, two per bank row
    __shared__ double tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * w + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x; y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8) out[(y + j) * h + x] = tile[threadIdx.x][threadIdx.y + j];
}
extern "C" __global__ void rowsum(const float *in, float *out, int w, int h) { // each thread sums a row of the tile
    __shared__ float t[64 * 64];
    for (int i = threadIdx.x; i < 4096; i += 64) t[i] = in[(blockIdx.x * 4096 + i) % (w * h)];
    __syncthreads();
    float s = 0;
    for (int j = 0; j < 64; j++) s += t[threadIdx.x * 64 + j];
    out[(blockIdx.x * 64 + threadIdx.x) % (w * h)] = s;
}
extern "C" __global__ void hist(const float *in, float *out, int w, int h) { // private counters of each thread, side by side
    __shared__ unsigned c[128 * 32];
    for (int i = 0; i < 32; i++) c[threadIdx.x * 32 + i] = 0;
    for (int i = 0; i < 64; i++) c[threadIdx.x * 32 + ((int)(in[(blockIdx.x * 8192 + i * 128 + threadIdx.x) % (w * h)] * 15.9f + 16) & 31)]++;
    __syncthreads();
    if (threadIdx.x < 32) { unsigned s = 0; for (int k = 0; k < 128; k++) s += c[k * 32 + threadIdx.x]; out[blockIdx.x * 32 + threadIdx.x] = s; }
}
