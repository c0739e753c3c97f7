/* Block compression of an image (as DXT1): 16 pixels become two of their colours and an index of two bits
 * each, into a palette of four between them. One block of 4 by 4 pixels per CTA; each of 64 threads tries
 * pairs of colours, the least error wins, then the first pair. Pixels lie block by block and are read once. */
__device__ int off(int a, int b, int i, int p)
{
    int e = 0;
    for (int s = 0; s < 24; s += 8) {
        int c = ((a >> s & 255) * (3 - i) + (b >> s & 255) * i) / 3, d = c - (p >> s & 255);
        e += d * d;
    }
    return e;
}

extern "C" __global__ void dxt(const int *image, int *ends, int *index)
{
    __shared__ int pixel[16], best[64];
    int t = threadIdx.x, block = blockIdx.x;
    if (t < 16)
        pixel[t] = image[block * 16 + t];
    __syncthreads();
    int least = 0x7fffffff;
    for (int pair = t; pair < 256; pair += 64) {
        int a = pixel[pair / 16], b = pixel[pair % 16], sum = 0;
        if (pair / 16 > pair % 16)
            continue;
#pragma unroll 1
        for (int k = 0; k < 16; k++) {
            int e = off(a, b, 0, pixel[k]);
            for (int i = 1; i < 4; i++) {
                int f = off(a, b, i, pixel[k]);
                e = e < f ? e : f;
            }
            sum += e;
        }
        /* at most 16 * 3 * 255 * 255 < 2^22: the pair fits below */
        int code = sum * 256 + pair;
        least = code < least ? code : least;
    }
    best[t] = least;
    __syncthreads();
    for (int n = 32; n > 0; n /= 2) {
        if (t < n)
            best[t] = best[t] < best[t + n] ? best[t] : best[t + n];
        __syncthreads();
    }
    int pair = best[0] & 255, a = pixel[pair / 16], b = pixel[pair % 16];
    if (t == 0) {
        ends[block * 2] = a;
        ends[block * 2 + 1] = b;
    }
    if (t < 16) {
        int choice = 0, e = off(a, b, 0, pixel[t]);
        for (int i = 1; i < 4; i++) {
            int f = off(a, b, i, pixel[t]);
            if (f < e) {
                e = f;
                choice = i;
            }
        }
        index[block * 16 + t] = choice;
    }
}
