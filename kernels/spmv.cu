/* Sparse matrix (CSR) times vector, one row per thread: values and column indices
 * are short uncoalesced runs with reuse inside the lane, the vector is gathered
 * through them (data locality). */
extern "C" __global__ void spmv(const int *row, const int *col, const float *val, const float *x,
                                float *y, int rows)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r < rows) {
        float sum = 0;
        int end = row[r + 1];
#pragma unroll 1
        for (int e = row[r]; e < end; e++)
            sum += val[e] * x[col[e]];
        y[r] = sum;
    }
}
