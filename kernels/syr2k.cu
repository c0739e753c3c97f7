/* Symmetric rank-2k update, C = A B^T + B A^T: rows of both matrices by row and by column of the result.
 * Lanes walk rows apart: uncoalesced, with reuse of lines inside a lane. */
extern "C" __global__ void syr2k(const float *A, const float *B, float *C, int n, int m, float alpha,
                                 float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n || j >= n)
        return;
    float sum = C[i * n + j] * beta;
#pragma unroll 1
    for (int k = 0; k < m; k++) {
        sum = fmaf(alpha * A[i * m + k], B[j * m + k], sum);
        sum = fmaf(alpha * B[i * m + k], A[j * m + k], sum);
    }
    C[i * n + j] = sum;
}
