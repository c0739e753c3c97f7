/* Stream clustering: what opening a centre at point `candidate` would gain. Each thread takes a point:
 * its distance to the candidate against its present cost. Coordinates lie dimension by dimension, so
 * lanes are adjacent; the candidate's own are shared by all. The saving goes to a private row of `work`. */
extern "C" __global__ void streamcluster(const float *coord, const float *weight, const float *cost,
                                         const int *assigned, const int *table, int *moves, float *work,
                                         int num, int dims, int candidate, int centres)
{
    __shared__ float c[64];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < dims)
        c[threadIdx.x] = coord[threadIdx.x * num + candidate];
    __syncthreads();
    if (t >= num)
        return;
    float d = 0;
#pragma unroll 1
    for (int i = 0; i < dims; i++) {
        float e = coord[i * num + t] - c[i];
        d = fmaf(e, e, d);
    }
    float asked = d * weight[t], now = cost[t];
    if (asked < now) {
        moves[t] = 1;
        work[t * (centres + 1) + centres] = asked - now;
    } else {
        work[t * (centres + 1) + table[assigned[t]]] = now - asked;
    }
}
