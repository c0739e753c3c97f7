/* Searches whose nodes are records in memory, as the coalescing paper's figure 10 shows them: loads of node
 * fields stand two words apart, and most loads of the B+ tree ask for one word of a CTA, since the node where a
 * CTA is stands in global memory. nodes_link and nodes_tree make the data. */
#define SLOTS 257
#define FAN   16
#define NONE  0x7fffffff

struct node {
    int first, count;
};

extern "C" __global__ void nodes_link(struct node *node, const int *row, int nodes)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < nodes) {
        node[tid].first = row[tid];
        node[tid].count = row[tid + 1] - row[tid];
    }
}

/* One level of breadth-first search. A node with mark 1 is on the frontier, one above 2 was not seen yet: no
 * thread writes the cost that another reads. */
extern "C" __global__ void nodes_bfs(const struct node *node, const int *edge, unsigned char *frontier,
                                     unsigned char *next, const unsigned char *mark, int *cost, int nodes)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (tid < nodes && frontier[tid] == 1) {
        frontier[tid] = 0;
        for (int e = node[tid].first; e < node[tid].first + node[tid].count; e++) {
            int n = edge[e];
            if (mark[n] > 2) {
                cost[n] = cost[tid] + 1;
                next[n] = 1;
            }
        }
    }
}

/* A tree of three levels over the keys from 0 to 65535; the record of key k is 3k + 1. */
extern "C" __global__ void nodes_tree(int *keys, int *child)
{
    int node = blockIdx.x, slot = threadIdx.x, leaf = node - 1 - FAN, key = NONE, next = 0;
    if (leaf >= 0) {
        key = leaf * 256 + slot;
        next = key * 3 + 1;
    } else if (slot < FAN) {
        int at = node ? (node - 1) * FAN + slot : slot;
        key = node ? at * 256 : at * FAN * 256;
        next = node ? 1 + FAN + at : 1 + at;
    }
    keys[node * SLOTS + slot] = key;
    child[node * SLOTS + slot] = next;
    if (slot == 0)
        keys[node * SLOTS + 256] = NONE;
}

extern "C" __global__ void nodes_find(const int *keys, const int *child, const int *query, long long *here,
                                      long long *next, int *answer, int height)
{
    int t = threadIdx.x, b = blockIdx.x;
    for (int level = 0; level < height; level++) {
        if (keys[here[b] * SLOTS + t] <= query[b] && query[b] < keys[here[b] * SLOTS + t + 1])
            next[b] = child[here[b] * SLOTS + t];
        __syncthreads();
        if (t == 0)
            here[b] = next[b];
        __syncthreads();
    }
    if (keys[here[b] * SLOTS + t] == query[b])
        answer[b] = child[here[b] * SLOTS + t];
}

/* Where the record of the first key is, and how many keys there are up to the last. */
extern "C" __global__ void nodes_range(const int *keys, const int *child, const int *from, const int *to,
                                       long long *here, long long *next, long long *last, long long *after,
                                       int *first, int *length, int height)
{
    int t = threadIdx.x, b = blockIdx.x;
    for (int level = 0; level < height; level++) {
        if (keys[here[b] * SLOTS + t] <= from[b] && from[b] < keys[here[b] * SLOTS + t + 1])
            next[b] = child[here[b] * SLOTS + t];
        if (keys[last[b] * SLOTS + t] <= to[b] && to[b] < keys[last[b] * SLOTS + t + 1])
            after[b] = child[last[b] * SLOTS + t];
        __syncthreads();
        if (t == 0) {
            here[b] = next[b];
            last[b] = after[b];
        }
        __syncthreads();
    }
    if (keys[here[b] * SLOTS + t] == from[b])
        first[b] = child[here[b] * SLOTS + t];
    __syncthreads();
    if (keys[last[b] * SLOTS + t] == to[b])
        length[b] = (child[last[b] * SLOTS + t] - first[b]) / 3 + 1;
}
