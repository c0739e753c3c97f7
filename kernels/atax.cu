/* y = A' (A x). The first kernel walks one matrix row per thread: lanes are a row
 * apart, uncoalesced, but each line is used 32 times by its own lane. It lives
 * from L1. The second goes down the columns: coalesced, each element once. */
extern "C" __global__ void atax1(const float *A, const float *x, float *tmp, int nx, int ny)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nx) {
        float sum = 0;
        for (int j = 0; j < ny; j++)
            sum += A[i * ny + j] * x[j];
        tmp[i] = sum;
    }
}

extern "C" __global__ void atax2(const float *A, const float *tmp, float *y, int nx, int ny)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < ny) {
        float sum = 0;
        for (int i = 0; i < nx; i++)
            sum += A[i * ny + j] * tmp[i];
        y[j] = sum;
    }
}
