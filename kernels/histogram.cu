/* Integer histogram with global atomics: streaming reads, atomics that always go
 * to L2. Integer additions commute, so the result does not depend on the order. */
extern "C" __global__ void histogram(const int *data, int *bin, int n)
{
    int stride = gridDim.x * blockDim.x;
#pragma unroll 1
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        atomicAdd(&bin[data[i] & 255], 1);
}
