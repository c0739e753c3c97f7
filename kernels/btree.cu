/* Searching a B+ tree, one query per CTA, one slot of a node per thread. A node has 256 slots, each with
 * the least key below it; the thread between whose key and the next one the query lies names the child.
 * Inner nodes use 16 slots. Every CTA starts at the root, then paths part: which nodes a CTA shares with
 * others depends on the data. btree_build makes the tree, with the leaves in the order of `place`. */
#define SLOTS 257
#define FAN 16
#define NONE 0x7fffffff

extern "C" __global__ void btree_build(int *keys, int *child, const int *place)
{
    int node = blockIdx.x, slot = threadIdx.x;
    int inner = node - 1, leaf = node - 1 - FAN;
    int key = NONE, next = 0;
    if (node == 0 && slot < FAN) {
        key = slot * FAN * 256;
        next = 1 + slot;
    } else if (node > 0 && node <= FAN && slot < FAN) {
        key = (inner * FAN + slot) * 256;
        next = 1 + FAN + place[inner * FAN + slot];
    }
    if (node > FAN) { /* the leaf of that place holds the keys of the range that points there */
        int range = 0;
        for (int i = 0; i < FAN * FAN; i++)
            if (place[i] == leaf)
                range = i;
        key = range * 256 + slot;
        next = key * 3 + 1;
    }
    keys[node * SLOTS + slot] = key;
    child[node * SLOTS + slot] = next;
    if (slot == 0)
        keys[node * SLOTS + 256] = NONE;
}

extern "C" __global__ void btree_find(const int *keys, const int *child, const int *query, int *answer,
                                      int height)
{
    __shared__ int node;
    int t = threadIdx.x, key = query[blockIdx.x];
    if (t == 0)
        node = 0;
    for (int level = 0; level < height; level++) {
        __syncthreads();
        int at = node * SLOTS + t;
        __syncthreads();
        if (keys[at] <= key && key < keys[at + 1])
            node = child[at];
    }
    __syncthreads();
    int at = node * SLOTS + t;
    if (keys[at] == key)
        answer[blockIdx.x] = child[at];
}

/* The keys of [from, to]: where the first one's record is, and how many there are. Both ends are searched
 * at once. */
extern "C" __global__ void btree_range(const int *keys, const int *child, const int *from, const int *to,
                                       int *first, int *length, int height)
{
    __shared__ int node, last;
    int t = threadIdx.x, low = from[blockIdx.x], high = to[blockIdx.x];
    if (t == 0)
        node = last = 0;
    for (int level = 0; level < height; level++) {
        __syncthreads();
        int at = node * SLOTS + t, end = last * SLOTS + t;
        __syncthreads();
        if (keys[at] <= low && low < keys[at + 1])
            node = child[at];
        if (keys[end] <= high && high < keys[end + 1])
            last = child[end];
    }
    __shared__ int begins;
    __syncthreads();
    int at = node * SLOTS + t, end = last * SLOTS + t;
    if (keys[at] == low) {
        first[blockIdx.x] = child[at];
        begins = child[at];
    }
    __syncthreads();
    if (keys[end] == high)
        length[blockIdx.x] = (child[end] - begins) / 3 + 1;
}
