/* Dynamic programming, simulation, hashing, strings, bits. Launches: suites.py; reference: reference.py. */
#define K extern "C" __global__ void
#define G (blockIdx.x * blockDim.x + threadIdx.x)

/* Edit distance of a pair of byte strings of length 32 per thread; a row in registers or local memory. */
K edit_distance(const unsigned char *a, const unsigned char *b, int *out)
{
    int t = G, row[33];
    for (int j = 0; j <= 32; j++)
        row[j] = j;
    for (int i = 1; i <= 32; i++) {
        int diag = row[0];
        unsigned char c = a[t * 32 + i - 1];
        row[0] = i;
        for (int j = 1; j <= 32; j++) {
            int up = row[j];
            row[j] = min(min(up, row[j - 1]) + 1, diag + (b[t * 32 + j - 1] != c));
            diag = up;
        }
    }
    out[t] = row[32];
}
/* A row of the knapsack's table. */
K knapsack_row(const int *old, int *now, int weight, int value)
{
    int i = G;
    now[i] = i < weight ? old[i] : max(old[i], old[i - weight] + value);
}
/* A step of Floyd and Warshall, in place. */
K floyd(int *d, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
    int via = d[i * n + k] + d[k * n + j];
    if (via < d[i * n + j])
        d[i * n + j] = via;
}
/* A Viterbi step: the best of all states before, for many sequences. */
K viterbi(const int *score, const int *move, int *next, int *from, int states)
{
    int s = threadIdx.x, q = blockIdx.x, best = -2147483647, who = 0;
    for (int p = 0; p < states; p++) {
        int v = score[q * states + p] + move[p * states + s];
        if (v > best) {
            best = v;
            who = p;
        }
    }
    next[q * states + s] = best;
    from[q * states + s] = who;
}
/* Accelerations of all bodies, tiles of positions in shared memory. */
K nbody_tile(const float4 *p, float4 *a, int n)
{
    __shared__ float4 s[128];
    float4 me = p[G], f = make_float4(0, 0, 0, 0);
    for (int t = 0; t < n; t += 128) {
        s[threadIdx.x] = p[t + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 128; j++) {
            float dx = s[j].x - me.x, dy = s[j].y - me.y, dz = s[j].z - me.z, r = dx * dx + dy * dy + dz * dz + 0.01f;
            float w = s[j].w / (r * sqrtf(r));
            f.x += dx * w, f.y += dy * w, f.z += dz * w;
        }
        __syncthreads();
    }
    a[G] = f;
}
/* Points in a circle by xorshift: integer counts. */
K monte_pi(const unsigned *seed, int *hits, int turns)
{
    int i = G, h = 0;
    unsigned s = seed[i] | 1;
    for (int k = 0; k < turns; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        unsigned x = s & 65535, y = s >> 16;
        h += (unsigned long long)x * x + (unsigned long long)y * y < 4294967296ull;
    }
    hits[i] = h;
}
/* A generator of four words per thread, a column of output each. */
K xorwow(const unsigned *seed, unsigned *out, int n, int turns)
{
    int i = G;
    unsigned a = seed[i] | 1, b = a * 69069u, c = b ^ 362436069u, d = c + 88675123u;
    for (int k = 0; k < turns; k++) {
        unsigned t = a ^ (a << 11);
        a = b, b = c, c = d;
        d ^= (d >> 19) ^ t ^ (t >> 8);
        out[k * n + i] = d;
    }
}
/* FNV-1a of a record of 32 bytes per thread. */
K fnv(const unsigned char *in, unsigned *out)
{
    int i = G;
    unsigned h = 2166136261u;
    for (int k = 0; k < 32; k++)
        h = (h ^ in[i * 32 + k]) * 16777619u;
    out[i] = h;
}
/* CRC-32 by a table of 256 words, a record of 32 bytes per thread. */
K crc_table(const unsigned char *in, const unsigned *table, unsigned *out)
{
    int i = G;
    unsigned c = ~0u;
    for (int k = 0; k < 32; k++)
        c = table[(c ^ in[i * 32 + k]) & 255] ^ (c >> 8);
    out[i] = ~c;
}
/* Substitution of bytes through a table in shared memory, four a word, ten rounds. */
K sbox_rounds(const unsigned *in, const unsigned char *box, unsigned *out)
{
    __shared__ unsigned char s[256];
    s[threadIdx.x] = box[threadIdx.x];
    __syncthreads();
    unsigned v = in[G];
    for (int r = 0; r < 10; r++) {
        v = s[v & 255] | s[(v >> 8) & 255] << 8 | s[(v >> 16) & 255] << 16 | (unsigned)s[v >> 24] << 24;
        v = (v << 7 | v >> 25) + 2654435769u;
    }
    out[G] = v;
}
/* Where a pattern of 8 bytes stands in a text: flags. */
K match8(const unsigned char *text, const unsigned char *pat, unsigned char *hit)
{
    int i = G, k = 0;
    while (k < 8 && text[i + k] == pat[k])
        k++;
    hit[i] = k;
}
/* A state machine over the columns of a text: 64 steps, table of 32 states by 4 letters. */
K automaton(const unsigned char *text, const int *table, int *last, int n)
{
    int i = G, s = 0;
    for (int k = 0; k < 64; k++)
        s = table[s * 4 + text[k * n + i]];
    last[i] = s;
}
/* Bits counted in distances between words: the nearest of 256 codes. */
K hamming(const unsigned *a, const unsigned *code, int *best, int codes)
{
    int i = G, d = 2147483647;
    unsigned v = a[i];
    for (int k = 0; k < codes; k++)
        d = min(d, __popc(v ^ code[k]) * 256 + k);
    best[i] = d;
}
/* Morton codes of three coordinates. */
K morton(const unsigned *x, const unsigned *y, const unsigned *z, unsigned *out)
{
    int i = G;
    unsigned r = 0, c[3] = { x[i], y[i], z[i] };
    for (int k = 0; k < 3; k++) {
        unsigned v = c[k] & 1023;
        v = (v | v << 16) & 0x030000ff;
        v = (v | v << 8) & 0x0300f00f;
        v = (v | v << 4) & 0x030c30c3;
        r |= ((v | v << 2) & 0x09249249) << k;
    }
    out[i] = r;
}
/* A histogram of 256 bins in global memory. */
K hist_global(const unsigned char *in, int *bin, int per)
{
    for (int k = 0; k < per; k++)
        atomicAdd(&bin[in[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x]], 1);
}
/* The largest value, a CTA's at a time, added atomically to one word. */
K reduce_max(const int *in, int *out, int per)
{
    int m = -2147483647;
    for (int k = 0; k < per; k++)
        m = max(m, in[(k * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x]);
    for (int d = 16; d; d >>= 1)
        m = max(m, __shfl_xor_sync(~0u, m, d));
    if ((threadIdx.x & 31) == 0)
        atomicMax(out, m);
}
/* The set of Mandelbrot in integers of 16.16. */
K mandel(int *out, int width, int turns)
{
    int i = G, cx = (i % width) * 196608 / width - 131072, cy = (i / width) * 131072 / width - 65536, x = 0, y = 0, k = 0;
    while (k < turns) {
        int xx = (int)(((long long)x * x) >> 16), yy = (int)(((long long)y * y) >> 16);
        if (xx + yy > 262144)
            break;
        y = (int)(((long long)x * y) >> 15) + cy;
        x = xx - yy + cx;
        k++;
    }
    out[i] = k;
}
