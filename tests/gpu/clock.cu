/* What an H200 does around its loads: how long a CTA lives and how soon its place is filled again, code longer than the
 * instruction caches, calls, the heap, print, rows of loads beside stores, gathers. clock.py builds and runs all of it;
 * clock-h200.txt is what it printed. Lane 0 of every warp notes three clocks and its SM in st. */
#include <cstdio>
typedef unsigned u;
#define K extern "C" __global__ void
#define ARGS const float *a, const float *b, float *o, uint4 *st, int n
#define ID (blockIdx.x * blockDim.x + threadIdx.x)

__device__ __forceinline__ u clk() { u c; asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory"); return c; }
__device__ __forceinline__ u clk_after(float v)      /* v is there */
{
    u c;
    asm volatile("{.reg .pred p; setp.eq.f32 p, %1, 0f4b123457; @p trap; mov.u32 %0, %%clock;}" : "=r"(c) : "f"(v) : "memory");
    return c;
}
__device__ __forceinline__ u smid() { u c; asm volatile("mov.u32 %0, %%smid;" : "=r"(c)); return c; }
__device__ __forceinline__ void put(uint4 *st, u a, u b, u c)
{
    if ((threadIdx.x & 31) == 0) st[ID >> 5] = make_uint4(a, b, c, smid());
}

/* ---- one element a thread ---- */
K elem_r(ARGS) { u t0 = clk(); int i = ID; float v = a[i]; u t1 = clk_after(v); if (v == 123.f) o[i] = v; put(st, t0, t1, clk()); }
K elem_w(ARGS) { u t0 = clk(); int i = ID; u t1 = clk(); o[i] = i; put(st, t0, t1, clk()); }
K elem_rw(ARGS) { u t0 = clk(); int i = ID; float v = a[i]; u t1 = clk_after(v); o[i] = v; put(st, t0, t1, clk()); }
K elem_rrw(ARGS) { u t0 = clk(); int i = ID; float v = a[i] + b[i]; u t1 = clk_after(v); o[i] = v; put(st, t0, t1, clk()); }
K elem_rmw(ARGS) { u t0 = clk(); int i = ID; float v = o[i]; u t1 = clk_after(v); o[i] = v + 1; put(st, t0, t1, clk()); }

/* ---- turns of CTAs: each waits n cycles ---- */
K spin(ARGS) { u t0 = clk(); while (clk() - t0 < (u)n) continue; u t2 = clk(); put(st, t0, t0, t2); }

/* ---- code of 4 to 256 KB in a loop ---- */
#define F1 asm volatile("fma.rn.f32 %0,%0,%4,%5; fma.rn.f32 %1,%1,%4,%5; fma.rn.f32 %2,%2,%4,%5; fma.rn.f32 %3,%3,%4,%5;" \
                        : "+f"(x), "+f"(y), "+f"(z), "+f"(w) : "f"(p), "f"(q));
#define F16 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1 F1
#define KB4 F16 F16 F16 F16
#define KB16 KB4 KB4 KB4 KB4
#define KB64 KB16 KB16 KB16 KB16
#define CODE(name, body)                                                                                       \
    K code_##name(ARGS)                                                                                        \
    {                                                                                                          \
        float x = a[threadIdx.x], y = x + 1, z = x + 2, w = x + 3, p = b[0], q = b[1];                         \
        u t0 = clk_after(x + p + q), t1 = 0;                                                                   \
        _Pragma("unroll 1") for (int k = 0; k < n; k++) { body if (k == 0) t1 = clk(); }                       \
        u t2 = clk_after(x + y + z + w);                                                                       \
        put(st, t0, t1, t2);                                                                                   \
        o[threadIdx.x] = x + y + z + w;                                                                        \
    }
CODE(4, KB4) CODE(16, KB16) CODE(32, KB16 KB16) CODE(64, KB64) CODE(96, KB64 KB16 KB16) CODE(128, KB64 KB64)
CODE(192, KB64 KB64 KB64) CODE(256, KB64 KB64 KB64 KB64)

/* ---- calls, divergent branches ---- */
__device__ __noinline__ u leaf0(u a, u b) { return a * b + 1; }
__device__ __noinline__ u leaf1(u a, u b) { return (a ^ b) + 7; }
__device__ __noinline__ u leaf2(u a, u b) { return a + b * 3; }
__device__ __noinline__ u leaf3(u a, u b) { return a - b * 5; }
typedef u (*fn)(u, u);
__device__ fn tab[4] = {leaf0, leaf1, leaf2, leaf3};
__device__ __noinline__ u rec(u a, u b) { return b == 0 ? a : rec(a * 3 + 1, b - 1) + a; }
__device__ __noinline__ u deep2(u a, u b) { return leaf0(leaf1(a, b), b) + a; }
#define LOOP(name, pre, body)                                                                                  \
    K call_##name(ARGS)                                                                                        \
    {                                                                                                          \
        u x = threadIdx.x + (u)a[0], y = (u)b[0];                                                              \
        pre;                                                                                                   \
        u t0 = clk_after(a[1]), t1 = 0;                                                                        \
        _Pragma("unroll 1") for (int k = 0; k < n; k++) { body; if (k == 0) t1 = clk(); }                      \
        u t2 = clk_after(__uint_as_float(x));                                                                  \
        put(st, t0, t1, t2);                                                                                   \
        ((u *)o)[ID] = x + y;                                                                                  \
    }
LOOP(none, , x = x * y + k) LOOP(leaf, , x = leaf0(x, k)) LOOP(leaf2, , x = deep2(x, k))
LOOP(ptr1, fn f = tab[(int)a[2]], x = f(x, k)) LOOP(ptr2, fn f = tab[threadIdx.x & 1], x = f(x, k))
LOOP(ptr4, fn f = tab[threadIdx.x & 3], x = f(x, k)) LOOP(tab4, , x = tab[(x + k) & 3](x, k))
LOOP(rec8, , x = rec(x, 8)) LOOP(rec32, , x = rec(x, 32))
#define DIV(ways)                                                                                              \
    LOOP(div##ways, int w = threadIdx.x % ways, switch (w) {                                                   \
        case 0: x = x * y + 1; break; case 1: x ^= y + 3; x *= 5; break; case 2: x = __umulhi(x, y) + 7; break; \
        case 3: x = (x << 3) - y * 11; break; case 4: x = x * 17 + (y >> 2); break;                            \
        case 5: x = (x >> 1) ^ (y * 13); break; case 6: x = x - y * 19; break; default: x = x + y * 23; })
DIV(1) DIV(2) DIV(4) DIV(8)

/* ---- the heap and print: a[0] lanes of each warp; t1 - t0 in malloc, t2 - t0 in free ---- */
K heap(ARGS)
{
    u taken = 0, given = 0;
    float s = 0;
    bool on = (threadIdx.x & 31) < (u)a[0];
    for (int k = 0; k < n; k++) {
        u c0 = clk();
        volatile float *p = 0;
        if (on) p = (float *)malloc(16);
        __syncwarp();
        u c1 = clk();
        if (on) *p = k;
        __syncwarp();
        u c2 = clk();
        if (on) { s += *p; free((void *)p); }
        __syncwarp();
        taken += c1 - c0;
        given += clk() - c2;
    }
    put(st, 0, taken, given);
    o[threadIdx.x] = s;
}
K print(ARGS)
{
    bool on = (threadIdx.x & 31) < (u)a[0];
    u c0 = clk();
    if (on) printf("%d %f\n", threadIdx.x, a[1]);
    __syncwarp();
    u c1 = clk();
    if (on) printf("%d\n", threadIdx.x);
    __syncwarp();
    put(st, c0, c1, clk());
}

/* ---- rows of 4 KB, a thread each; words of sectors ---- */
K strows(ARGS) { u t0 = clk(); float *r = o + (long)ID * 1024; for (int k = 0; k < 1024; k++) __stcg(r + k, (float)k); put(st, t0, t0, clk()); }
K rmwrows(ARGS)
{
    u t0 = clk();
    float *r = o + (long)ID * 1024, v = 0;
    for (int k = 0; k < 1024; k++) { v = __ldcg(r + k) + v; r[k] = v; }
    put(st, t0, t0, clk());
}
K ldrows(ARGS) { u t0 = clk(); float *r = o + (long)ID * 1024, v = 0; for (int k = 0; k < 1024; k++) v = __ldcg(r + k) + v; put(st, t0, t0, clk_after(v)); }
K stsect(ARGS) { u t0 = clk(); long i = ID, all = (long)gridDim.x * blockDim.x; for (int k = 0; k < n; k++) o[(i + k * all) * 8] = (float)k; put(st, t0, t0, clk()); }
K rmwsect(ARGS)
{
    u t0 = clk();
    long i = ID, all = (long)gridDim.x * blockDim.x;
    float v = 0;
    for (int k = 0; k < n; k++) { float *p = o + (i + k * all) * 8; v += *p; *p = v; }
    put(st, t0, t0, clk());
}
/* NL reads at once of as many arrays of rows, NS stores into them (SAME) or into others. */
#define ROWS(name, LD, NL, NS, SAME)                                                                           \
    K rows_##name(ARGS)                                                                                        \
    {                                                                                                          \
        u t0 = clk();                                                                                          \
        float *r = o + (long)ID * 1024, v = 0;                                                                 \
        _Pragma("unroll 1") for (int k = 0; k < 1024; k++) {                                                   \
            float t[8];                                                                                        \
            _Pragma("unroll") for (int j = 0; j < NL; j++) t[j] = LD(r + j * 1048576 + k);                     \
            _Pragma("unroll") for (int j = 0; j < NL; j++) v += t[j];                                          \
            _Pragma("unroll") for (int j = 0; j < NS; j++) r[((SAME) ? j : 8 + j) * 1048576 + k] = v;          \
        }                                                                                                      \
        put(st, t0, t0, clk_after(v));                                                                         \
    }
ROWS(l1, __ldcg, 1, 0, 0) ROWS(l4, __ldcg, 4, 0, 0) ROWS(l4s1o, __ldcg, 4, 1, 0) ROWS(l4s1s, __ldcg, 4, 1, 1) ROWS(l4s2o, __ldcg, 4, 2, 0)
ROWS(l4s2s, __ldcg, 4, 2, 1) ROWS(l1s1o, __ldcg, 1, 1, 0) ROWS(l1s1s, __ldcg, 1, 1, 1) ROWS(p4, __ldca, 4, 0, 0) ROWS(p4s1o, __ldca, 4, 1, 0)
ROWS(p4s1s, __ldca, 4, 1, 1) ROWS(p4s2s, __ldca, 4, 2, 1) ROWS(p1s1s, __ldca, 1, 1, 1) ROWS(s1, __ldca, 0, 1, 0) ROWS(s2, __ldca, 0, 2, 0)

/* ---- a chain of gathers: each warp asks for `lanes` lines, `pitch` bytes apart ---- */
#define GATHER(name, LD)                                                                                       \
    K gather_##name(const u *a, const u *b, u *o, uint4 *st, int n, int lanes, int pitch, int step)            \
    {                                                                                                          \
        u l = (threadIdx.x & 31) % lanes, w = threadIdx.x >> 5, v = 0;                                         \
        char *p = (char *)o + (size_t)(w * lanes + l) * pitch;                                                 \
        u t0 = clk();                                                                                          \
        _Pragma("unroll 1") for (int k = 0; k < n; k++) {                                                      \
            v = LD((u *)(p + v));                                                                              \
            p += step;                                                                                         \
            if ((k & 31) == 31) p -= 32 * step;                                                                \
        }                                                                                                      \
        put(st, t0, t0, clk_after(__uint_as_float(v)));                                                        \
    }
GATHER(cg, __ldcg) GATHER(ca, __ldca)
