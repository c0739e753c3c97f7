/* Does a CTA find in L1 what another CTA of its SM has brought in? (paper: cluster, section 3.1, figure 2)
 * One thread of each CTA times one load of a word that its SM alone reads: SM s reads line s of `a`.
 * `order` is the CTA's place among those of its SM; the first `slots` of them are resident together, one
 * turn. delay > 0 keeps the CTAs of a turn apart: each waits delay cycles longer than the one before, so
 * that the second finds what the first has loaded. sm, order and latency differ from device to device;
 * the words read are the output. */
extern "C" __global__ void cta_reuse(const int *a, int *out, unsigned *sm, unsigned *order, unsigned *latency, unsigned *arrived, unsigned slots,
                                     unsigned delay)
{
    __shared__ volatile int seen[1];
    if (threadIdx.x == 0) {
        unsigned s, begin, end, start;
        int v;
        asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
        asm volatile("mov.u32 %0, %%clock;" : "=r"(start)::"memory");
        unsigned place = atomicAdd(&arrived[s], 1u);
        unsigned until = place % slots * delay;
        do {
            asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
        } while (begin - start < until);
        asm volatile("mov.u32 %0, %%clock;" : "=r"(begin)::"memory");
        v = a[s * 32];
        seen[0] = v; /* waits for the word */
        asm volatile("mov.u32 %0, %%clock;" : "=r"(end)::"memory");
        out[blockIdx.x] = v;
        sm[blockIdx.x] = s;
        order[blockIdx.x] = place;
        latency[blockIdx.x] = end - begin;
    }
}
