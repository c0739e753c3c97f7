/* Two kernels of a neural network's training step on 16x16 CTAs. A warp covers
 * two rows of a weight matrix whose rows are 17 words long: half coalesced and
 * never aligned. */
#define HEIGHT 16

/* Partial sums of inputs times weights, reduced over the CTA in shared memory. */
extern "C" __global__ void backprop_forward(const float *input, float *weight, float *partial, int hid)
{
    __shared__ float node[HEIGHT];
    __shared__ float w[HEIGHT][HEIGHT];
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    if (tx == 0)
        node[ty] = input[HEIGHT * by + ty + 1];
    __syncthreads();
    w[ty][tx] = weight[index];
    __syncthreads();
    w[ty][tx] = w[ty][tx] * node[ty];
    __syncthreads();
#pragma unroll 1
    for (int step = 2; step <= HEIGHT; step *= 2) {
        if (ty % step == 0)
            w[ty][tx] = w[ty][tx] + w[ty + step / 2][tx];
        __syncthreads();
    }
    weight[index] = w[ty][tx];
    if (tx == 0)
        partial[by * hid + ty] = w[0][ty];
}

/* Momentum update of every weight: streaming reads and writes of the same words. */
extern "C" __global__ void backprop_adjust(const float *delta, const float *layer, float *w, float *oldw, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    float step = 0.3f * delta[tx + 1] * layer[HEIGHT * by + ty + 1] + 0.3f * oldw[index];
    w[index] += step;
    oldw[index] = step;
}
