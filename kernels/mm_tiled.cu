/* Matrix product over tiles of 32 by 32 in shared memory: reuse inside a CTA is caught there; what is
 * left is that CTAs of a row read the same tiles of A, those of a column the same tiles of B. */
#define T 32
extern "C" __global__ void mm_tiled(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[T][T], b[T][T];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * T + y, col = blockIdx.x * T + x;
    float sum = 0;
#pragma unroll 1
    for (int t = 0; t < n; t += T) {
        a[y][x] = A[row * n + t + x];
        b[y][x] = B[(t + y) * n + col];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum = fmaf(a[y][k], b[k][x], sum);
        __syncthreads();
    }
    C[row * n + col] = sum;
}
