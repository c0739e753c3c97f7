/* Matrix-vector product and its transpose: the same matrix read by rows
 * (uncoalesced) and by columns (coalesced). A lesson in what order does. */
extern "C" __global__ void mvt1(const float *A, float *x1, const float *y1, int n, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float sum = x1[i];
        for (int j = 0; j < m; j++)
            sum += A[i * m + j] * y1[j];
        x1[i] = sum;
    }
}

extern "C" __global__ void mvt2(const float *A, float *x2, const float *y2, int n, int m)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < m) {
        float sum = x2[j];
        for (int i = 0; i < n; i++)
            sum += A[i * m + j] * y2[i];
        x2[j] = sum;
    }
}
