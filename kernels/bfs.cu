/* One level of breadth-first search. Edge lists are short runs of their own
 * (intra-warp reuse of a line over a few iterations) but the neighbours they name
 * are anywhere: data-dependent loads that evict those runs before they are
 * finished. The case study of the bypass paper. Flags are bytes; a node is in the
 * frontier when its flag is 1. Writes race only with equal values, so the result
 * does not depend on the order. */
extern "C" __global__ void bfs_kernel1(const int *row, const int *edge, unsigned char *frontier,
                                       const unsigned char *visited, unsigned char *next, int *cost,
                                       int nodes, int level)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < nodes && frontier[tid] == 1) {
        frontier[tid] = 0;
        int end = row[tid + 1];
#pragma unroll 1
        for (int e = row[tid]; e < end; e++) {
            int n = edge[e];
            if (!visited[n]) {
                cost[n] = level;
                next[n] = 1;
            }
        }
    }
}

/* Moves what the level found into the new frontier: coalesced, streaming. */
extern "C" __global__ void bfs_kernel2(unsigned char *frontier, unsigned char *next, unsigned char *visited,
                                       int *more, int nodes)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < nodes && next[tid]) {
        frontier[tid] = 1;
        visited[tid] = 1;
        *more = 1;
        next[tid] = 0;
    }
}
