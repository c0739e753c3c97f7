/* Each thread walks a run of records of its own, four small fields of three
 * structures per step: bytes and words that share 16-byte pieces with the next
 * step of the same thread and with nobody else. Hardware L1 thrashes when many
 * threads do this at once; a thread-private software cache does not. */
extern "C" __global__ void softcache_stream(const unsigned char *text, const int *key, int *hist,
                                            int per_thread)
{
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    int begin = tid * per_thread;
    int acc = 0;
#pragma unroll 1
    for (int i = begin; i < begin + per_thread; i++) {
        int c = text[i];
        int k = key[i];
        acc = acc * 31 + (c ^ k);
        hist[i] = acc;
    }
}
