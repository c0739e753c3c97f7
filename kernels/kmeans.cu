/* Nearest centre of each point. Points are stored point by point, so lanes are a
 * record (`dims` words) apart: uncoalesced, and each record is walked once per
 * centre. Its reuse is thread-private and survives only if L1 holds the records
 * of all resident warps. The centres are read-only and shared by everyone. */
extern "C" __global__ void kmeans(const float *__restrict__ points, const float *__restrict__ centres,
                                  int *__restrict__ member, int npoints, int ncentres, int dims)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p < npoints) {
        float best = 3.402823466e38f;
        int index = -1;
#pragma unroll 1
        for (int c = 0; c < ncentres; c++) {
            float dist = 0;
            for (int d = 0; d < dims; d++) {
                float t = points[p * dims + d] - centres[c * dims + d];
                dist += t * t;
            }
            if (dist < best) {
                best = dist;
                index = c;
            }
        }
        member[p] = index;
    }
}
