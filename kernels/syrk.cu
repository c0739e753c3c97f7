/* C = alpha A A' + beta C. Along x the second factor walks down a column of rows
 * (uncoalesced), the first is a broadcast; swapping the roles of x and y or a
 * taller block changes everything: the loop-schedule example. */
extern "C" __global__ void syrk(const float *A, float *C, int n, int m, float alpha, float beta)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n) {
        float c = C[i * n + j] * beta;
        for (int k = 0; k < m; k++)
            c += alpha * A[i * m + k] * A[j * m + k];
        C[i * n + j] = c;
    }
}
