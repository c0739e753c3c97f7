/* C = alpha A B' + beta C, columns one after another in memory. A CTA of 16x8 threads makes 128x16 of C:
 * each thread a row of 16 sums in registers, a tile of B in shared memory, A read straight from global
 * memory. CTAs along y read the same part of A, those along x the same part of B. */
#define N 16
#define H 8
#define M (N * H)
extern "C" __global__ void sgemm(const float *A, const float *B, float *C, int m, int n, int k, float alpha, float beta)
{
    __shared__ float b[H][N];
    float sum[N];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.x * M + ty * N + tx, col = blockIdx.y * N;
#pragma unroll
    for (int j = 0; j < N; j++)
        sum[j] = 0;
#pragma unroll 1
    for (int i = 0; i < k; i += H) {
        b[ty][tx] = B[(i + ty) * n + col + tx];
        __syncthreads();
#pragma unroll
        for (int h = 0; h < H; h++) {
            float a = A[(i + h) * m + row];
#pragma unroll
            for (int j = 0; j < N; j++)
                sum[j] = fmaf(a, b[h][j], sum[j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int j = 0; j < N; j++) {
        int at = (col + j) * m + row;
        C[at] = fmaf(beta, C[at], alpha * sum[j]);
    }
}
