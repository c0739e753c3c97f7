/* Naive matrix product: a broadcast along the row of A, a coalesced row of B.
 * Rows of A are shared by CTAs along x, columns of B by CTAs along y (both are
 * algorithm locality), but each element is used so often that L1 and L2 hold it
 * whatever the order. One multiply-add in eight instructions: not unrolled, so
 * that it is also the yardstick of the executor. */
extern "C" __global__ void gemm(const float *A, const float *B, float *C, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && col < n) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k < n; k++)
            sum += A[row * n + k] * B[k * n + col];
        C[row * n + col] = sum;
    }
}
