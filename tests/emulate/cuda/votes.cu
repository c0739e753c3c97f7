#include "check.h"
__global__ void votes(const int *in, unsigned *out)
{
    int v = in[threadIdx.x], lane = threadIdx.x % 32;
    unsigned *o = out + threadIdx.x / 32 * 5;
    unsigned b = __ballot_sync(~0u, v > 10);
    unsigned any = __any_sync(~0u, v == 77), all = __all_sync(~0u, v >= 0), same = __match_any_sync(~0u, v % 4);
    unsigned sum = __reduce_add_sync(~0u, (unsigned)v);
    if (!lane)
        o[0] = b, o[1] = any, o[2] = all, o[3] = same, o[4] = sum;
}
int main()
{
    int h[64], *d;
    unsigned r[10], *o;
    for (int i = 0; i < 64; i++)
        h[i] = i * 5 % 32;
    h[40] = 77;
    OK(cudaMalloc(&d, sizeof h));
    OK(cudaMalloc(&o, sizeof r));
    OK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
    votes<<<1, 64>>>(d, o);
    OK(cudaMemcpy(r, o, sizeof r, cudaMemcpyDeviceToHost));
    for (int w = 0; w < 2; w++) {
        unsigned b = 0, any = 0, same = 0, sum = 0;
        for (int i = 0; i < 32; i++) {
            int v = h[w * 32 + i];
            b |= (unsigned)(v > 10) << i, any |= v == 77, same |= (unsigned)(v % 4 == h[w * 32] % 4) << i, sum += v;
        }
        NEED(r[w * 5] == b && r[w * 5 + 1] == any && r[w * 5 + 2] == 1 && r[w * 5 + 3] == same && r[w * 5 + 4] == sum);
    }
    return PASS;
}
