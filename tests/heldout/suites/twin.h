/* CUDA on a processor, for references: every thread of a CTA is a context of its own, run in turn until it waits.
 * Barriers and warp operations are meetings of the threads that take part. CTAs run one after the other. Only what
 * the kernels of this folder use; no ordering but that of the program. Compiled without contraction of mul and add. */
#ifndef TWIN_H
#define TWIN_H
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
using std::max; using std::min;
struct dim3_ { unsigned x, y, z; };
struct thread_ { ucontext_t at; dim3_ id; unsigned linear; bool over; };
struct meeting_ { unsigned long came, turn; uint64_t slot[32]; unsigned mask; };
struct machine_ {
    std::vector<thread_> thread; unsigned now, alive, came; unsigned long turn;
    dim3_ grid, block, cta; ucontext_t back; std::vector<char> dynamic; std::map<std::pair<unsigned, unsigned>, meeting_> warp;
};
extern machine_ vm_;
#define threadIdx (vm_.thread[vm_.now].id)
#define blockIdx (vm_.cta)
#define blockDim (vm_.block)
#define gridDim (vm_.grid)
#define __global__
#define __device__
#define __constant__
#define __shared__ static
#define __restrict__
#define __noinline__
struct uint4 { unsigned x, y, z, w; }; struct int4 { int x, y, z, w; };
struct float2 { float x, y; }; struct float4 { float x, y, z, w; };

void wait_();                                          /* lets the other threads run */
static inline void __syncthreads()
{
    unsigned long t = vm_.turn;
    if (++vm_.came >= vm_.alive) { vm_.came = 0; vm_.turn++; }
    while (vm_.turn == t) wait_();
}
/* All threads of the mask bring a value and leave with a copy of everybody's. */
static inline void meet_(unsigned mask, uint64_t mine, uint64_t all[32])
{
    unsigned lin = vm_.thread[vm_.now].linear, lane = lin % 32, present = 0;
    for (unsigned k = 0; k < 32; k++) if (mask >> k & 1 && lin - lane + k < vm_.thread.size()) present++;
    meeting_ &m = vm_.warp[{lin / 32, mask}];
    m.slot[lane] = mine;
    unsigned long t = m.turn;
    if (++m.came == present) { m.came = 0; m.turn++; }
    while (m.turn == t) wait_();
    memcpy(all, m.slot, sizeof m.slot);
    t = m.turn;
    if (++m.came == present) { m.came = 0; m.turn++; }
    while (m.turn == t) wait_();
}
static inline unsigned lane_() { return vm_.thread[vm_.now].linear % 32; }
template <class T> static T from_(unsigned mask, T v, int lane)
{
    uint64_t all[32], b = 0; memcpy(&b, &v, sizeof v);
    meet_(mask, b, all);
    T r; memcpy(&r, &all[lane], sizeof r); return r;
}
template <class T> T __shfl_up_sync(unsigned m, T v, unsigned d, int w = 32) { int l = lane_(), s = l - (int)d; return from_(m, v, s < (l & ~(w - 1)) ? l : s); }
template <class T> T __shfl_down_sync(unsigned m, T v, unsigned d, int w = 32) { int l = lane_(), s = l + (int)d; return from_(m, v, s > (l | (w - 1)) ? l : s); }
template <class T> T __shfl_sync(unsigned m, T v, int lane) { return from_(m, v, lane); }
template <class T> T __shfl_xor_sync(unsigned m, T v, int d) { return from_(m, v, (int)lane_() ^ d); }
static inline unsigned __ballot_sync(unsigned m, bool p)
{
    uint64_t all[32]; meet_(m, p, all);
    unsigned r = 0;
    for (int k = 0; k < 32; k++) if (m >> k & 1 && all[k]) r |= 1u << k;
    return r;
}
static inline unsigned __match_any_sync(unsigned m, unsigned v)
{
    uint64_t all[32]; meet_(m, v, all);
    unsigned r = 0;
    for (int k = 0; k < 32; k++) if (m >> k & 1 && (unsigned)all[k] == v) r |= 1u << k;
    return r;
}
static inline void __syncwarp() { __ballot_sync(0xffffffffu, true); }
static inline bool __all_sync(unsigned m, bool p) { return __ballot_sync(m, p) == m; }

template <class T> T atomicAdd(T *p, T v) { T o = *p; *p = o + v; return o; }
template <class T> T atomicMax(T *p, T v) { T o = *p; *p = o > v ? o : v; return o; }
template <class T> T atomicMin(T *p, T v) { T o = *p; *p = o < v ? o : v; return o; }
template <class T> T atomicXor(T *p, T v) { T o = *p; *p = o ^ v; return o; }
template <class T> T atomicOr(T *p, T v) { T o = *p; *p = o | v; return o; }
template <class T> T atomicSub(T *p, T v) { T o = *p; *p = o - v; return o; }
template <class T> T atomicExch(T *p, T v) { T o = *p; *p = v; return o; }
template <class T> T atomicCAS(T *p, T c, T v) { T o = *p; if (o == c) *p = v; return o; }
static inline unsigned atomicInc(unsigned *p, unsigned v) { unsigned o = *p; *p = o >= v ? 0 : o + 1; return o; }
static inline void __threadfence() {}
template <class T> T __ldg(const T *p) { return *p; }

static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
static inline int __clz(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline int __clzll(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static inline int __ffs(unsigned x) { return __builtin_ffs((int)x); }
static inline unsigned __brev(unsigned x) { unsigned r = 0; for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r; }
static inline unsigned __byte_perm(unsigned a, unsigned b, unsigned s)
{
    uint64_t v = (uint64_t)b << 32 | a; unsigned r = 0;
    for (int i = 0; i < 4; i++) r |= (unsigned)(v >> 8 * (s >> 4 * i & 7) & 255) << 8 * i;
    return r;
}
static inline unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) { s &= 31; return (unsigned)((((uint64_t)hi << 32 | lo) << s) >> 32); }
static inline unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) { s &= 31; return (unsigned)(((uint64_t)hi << 32 | lo) >> s); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) { return (unsigned long long)((unsigned __int128)a * b >> 64); }
static inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static inline unsigned __sad(int a, int b, unsigned c) { return (unsigned)llabs((long long)a - b) + c; }
static inline unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a > b ? a - b : b - a) + c; }
static inline unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b) >> 1); }
static inline int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
static inline int __dp4a(int a, int b, int c) { for (int i = 0; i < 4; i++) c += (int)(signed char)(a >> 8 * i) * (signed char)(b >> 8 * i); return c; }
static inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { for (int i = 0; i < 4; i++) c += (a >> 8 * i & 255) * (b >> 8 * i & 255); return c; }
static inline _Float16 half_of(unsigned bits) { unsigned short s = (unsigned short)bits; _Float16 h; memcpy(&h, &s, 2); return h; }
static inline unsigned short bits_of(_Float16 h) { unsigned short s; memcpy(&s, &h, 2); return s; }
static inline unsigned short bf16_round(float f) { uint32_t u; memcpy(&u, &f, 4); return (unsigned short)((u + 0x7fff + (u >> 16 & 1)) >> 16); }
static inline float bf16_of(unsigned short s) { uint32_t u = (uint32_t)s << 16; float f; memcpy(&f, &u, 4); return f; }

/* kernels by name, called with the addresses of their arguments */
struct kernel_ { const char *name; void (*call)(void **args); };
template <class... A, size_t... I> static void call_(void (*f)(A...), void **v, std::index_sequence<I...>) { f(*(A *)v[I]...); }
template <auto F> struct entry_;
template <class... A, void (*F)(A...)> struct entry_<F> { static void call(void **v) { call_(F, v, std::index_sequence_for<A...>{}); } };
#define ENTRY(k) { #k, entry_<k>::call },
#endif
