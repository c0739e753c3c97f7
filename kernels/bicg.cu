/* The two products of BiCG: s = A' r down the columns (coalesced, streaming, the
 * vector broadcast) and q = A p along the rows (uncoalesced, reuse within a lane). */
extern "C" __global__ void bicg1(const float *A, const float *r, float *s, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        float sum = 0;
        for (int i = 0; i < nx; i++)
            sum += A[i * ny + j] * r[i];
        s[j] = sum;
    }
}

extern "C" __global__ void bicg2(const float *A, const float *p, float *q, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        float sum = 0;
        for (int j = 0; j < ny; j++)
            sum += A[i * ny + j] * p[j];
        q[i] = sum;
    }
}
