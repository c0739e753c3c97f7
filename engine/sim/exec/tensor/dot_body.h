/* The vector code of dot.h, compiled once for each instruction set: DOT_OPS is its table, DOT_LANES how
 * many floats its vectors hold; DOT_* below are its own instructions. A register of 32 accumulators at a
 * time; what is too large, too small or no number goes to dot_exact. */
#include "engine/sim/exec/tensor/dot.h"

#include <string.h>

typedef float vf __attribute__((vector_size(4 * DOT_LANES)));
typedef int32_t vi __attribute__((vector_size(4 * DOT_LANES)));
typedef int16_t vh __attribute__((vector_size(4 * DOT_LANES)));
typedef int64_t vl __attribute__((vector_size(4 * DOT_LANES)));
typedef double vd __attribute__((vector_size(4 * DOT_LANES)));
typedef int32_t half_i __attribute__((vector_size(2 * DOT_LANES)));
typedef float half_f __attribute__((vector_size(2 * DOT_LANES)));
typedef int16_t half_h __attribute__((vector_size(2 * DOT_LANES)));
typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef uint16_t v8h __attribute__((vector_size(16)));
typedef int16_t v8s __attribute__((vector_size(16)));

#define REG    32u                   /* lanes of a register */
#define NV     (REG / DOT_LANES)     /* its vectors of floats */
#define NH     (REG / DOT_LANES / 2) /* its vectors of exponents */
#define WIDE   (4 * DOT_ROWS)
#define INLINE static inline __attribute__((always_inline))
#define LEAST  (-90) /* sums stay below 2^31 and scales are normal numbers for exponents in between */
#define MOST   90

#if defined(__clang__)
#define SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){ __VA_ARGS__ })
#endif

/* Every row of A four times, as the lanes of a register want it. */
struct wide {
    _Alignas(64) float v[DOT_K][WIDE];
    _Alignas(64) int16_t e[DOT_K][WIDE];
};

INLINE vf load_f(const float *p)
{
    vf v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE vh load_h(const int16_t *p)
{
    vh v;
    memcpy(&v, p, sizeof v);
    return v;
}
#include DOT_INSTRUCTIONS

/* Half a vector of sums of two integers, cut; mask: the bits of a double that are kept. */
INLINE half_f cut_half(half_i p, half_i c, int64_t mask, bool odd)
{
    vd x = __builtin_convertvector(p, vd) + __builtin_convertvector(c, vd);
    vl bits = (vl)x, rest = (bits & ~mask) != 0;
    bits &= mask;
    if (odd)
        bits |= rest & (~mask + 1);
    return __builtin_convertvector((vd)bits, half_f);
}

/* The same of a whole one, times 2^e: above the least normal float, so the factor cuts nothing. */
INLINE vf cut(vi p, vi c, vi e, const struct dot_model *m)
{
    half_i ph[2], ch[2];
    half_f r[2];
    vf out;
    int64_t mask = -(1ll << (52 - m->keep));
    memcpy(ph, &p, sizeof p);
    memcpy(ch, &c, sizeof c);
    for (unsigned i = 0; i < 2; i++)
        r[i] = cut_half(ph[i], ch[i], mask, m->odd);
    memcpy(&out, r, sizeof out);
    return out * (vf)((e + 127) << 23);
}

/* Exponents of accumulators; large ones where they are not finite, DOT_NONE of zeros. */
INLINE vi exponents(vf c)
{
    vi u = (vi)c, e = u >> 23 & 255, zero = (u & 0x7fffffff) == 0;
    return ((e - 127) & ~zero) | (zero & DOT_NONE);
}

struct factors {
    const float *a; /* [][WIDE] */
    const int16_t *ea;
    const float *b; /* [][DOT_N] */
    const int16_t *eb;
};

/* Exponents to which the sums of a register are aligned. False: to be done exactly. */
INLINE bool aligned(unsigned n, const struct factors *f, const vf *c, vi *e)
{
    vh most[NH];
    vi bad = { 0 };
    for (unsigned i = 0; i < NH; i++)
        most[i] = (vh){ 0 } + DOT_NONE;
#pragma GCC unroll 16
    for (unsigned k = 0; k < n; k++) {
        vh eb = four_h(f->eb + k * DOT_N);
        for (unsigned i = 0; i < NH; i++)
            most[i] = bigger_h(most[i], load_h(f->ea + k * WIDE + i * 2 * DOT_LANES) + eb);
    }
    for (unsigned i = 0; i < NH; i++) {
        half_h h[2];
        memcpy(h, &most[i], sizeof h);
        e[2 * i] = __builtin_convertvector(h[0], vi);
        e[2 * i + 1] = __builtin_convertvector(h[1], vi);
    }
    for (unsigned i = 0; i < NV; i++) {
        e[i] = bigger_i(e[i], exponents(c[i]));
        bad |= (e[i] > MOST) | ((e[i] < LEAST) & (e[i] > DOT_NONE / 2));
        e[i] = bigger_i(e[i], (vi){ 0 } + LEAST);
    }
    return !any(bad);
}

INLINE bool block(const struct dot_model *m, unsigned n, const struct factors *f, float *reg)
{
    vf c[NV], scale[NV];
    vi e[NV], sum[NV];
    for (unsigned i = 0; i < NV; i++)
        c[i] = load_f(reg + i * DOT_LANES);
    if (!aligned(n, f, c, e))
        return false;
    for (unsigned i = 0; i < NV; i++) {
        scale[i] = (vf)((m->frac - e[i] + 127) << 23);
        sum[i] = (vi){ 0 };
    }
#pragma GCC unroll 16
    for (unsigned k = 0; k < n; k++) {
        vf b = four_f(f->b + k * DOT_N);
        for (unsigned i = 0; i < NV; i++)
            sum[i] += whole(load_f(f->a + k * WIDE + i * DOT_LANES) * b * scale[i]);
    }
    for (unsigned i = 0; i < NV; i++) {
        vf r = cut(sum[i], whole(c[i] * scale[i]), e[i] - m->frac, m);
        memcpy(reg + i * DOT_LANES, &r, sizeof r);
    }
    return true;
}

static void exactly(const struct dot_model *m, unsigned n, const struct factors *f, float *reg)
{
    for (unsigned i = 0; i < REG; i++)
        reg[i] = dot_exact(m, n, (struct dot_factors){ f->a + i, f->ea + i, WIDE },
                           (struct dot_factors){ f->b + i % 4, f->eb + i % 4, DOT_N }, reg[i]);
}

/* One register: its rows of A, its four columns of B. The usual lengths are ones that the compiler
 * knows. */
static void sum_up(const struct dot_model *m, unsigned depth, struct factors f, float *reg)
{
    for (unsigned k = 0; k < depth; k += m->block) {
        unsigned n = depth - k < m->block ? depth - k : m->block;
        bool done = n == 16  ? block(m, 16, &f, reg)
                    : n == 8 ? block(m, 8, &f, reg)
                             : block(m, n, &f, reg);
        if (!done)
            exactly(m, n, &f, reg);
        f = (struct factors){ f.a + n * WIDE, f.ea + n * WIDE, f.b + n * DOT_N, f.eb + n * DOT_N };
    }
}

static void floats(const struct dot_model *m, const struct dot_tile *t)
{
    struct wide w;
    for (unsigned k = 0; k < t->k; k++) {
        widen_rows(t->a + (size_t)k * DOT_ROWS, w.v[k]);
        widen_exponents(t->ea + (size_t)k * DOT_ROWS, w.e[k]);
    }
    for (unsigned c = 0; c < t->n / 2; c++) {
        unsigned col = c / 4 * 8 + c % 2 * 4, row = c / 2 % 2 * REG;
        sum_up(m, t->k, (struct factors){ w.v[0] + row, w.e[0] + row, t->b + col, t->eb + col },
               t->reg[c]);
    }
}

/* ---- whole numbers of 8 bits, two of them along k in the place of a float ---- */
INLINE vi limited(vi d, vi sum, bool finite)
{
    vi all = d + sum, over = ((d ^ all) & (sum ^ all)) < 0;
    return finite ? (all & ~over) | (over & ((d >> 31) ^ INT32_MAX)) : all;
}

static void ints(const struct dot_model *m, const struct dot_tile *t)
{
    _Alignas(64) float a[DOT_K / 2][WIDE];
    (void)m;
    for (unsigned k = 0; k < t->k / 2; k++)
        widen_rows(t->a + (size_t)k * DOT_ROWS, a[k]);
    for (unsigned c = 0; c < t->n / 2; c++) {
        unsigned col = c / 4 * 8 + c % 2 * 4, row = c / 2 % 2 * REG;
        vi sum[NV] = { 0 };
        for (unsigned k = 0; k < t->k / 2; k++) {
            vh b = (vh)four_f(t->b + (size_t)k * DOT_N + col);
            for (unsigned i = 0; i < NV; i++)
                sum[i] += pairs((vh)load_f(a[k] + row + i * DOT_LANES), b);
        }
        for (unsigned i = 0; i < NV; i++) {
            float *at = (float *)t->reg[c] + i * DOT_LANES;
            vi r = limited((vi)load_f(at), sum[i], t->finite);
            memcpy(at, &r, sizeof r);
        }
    }
}

#include "engine/sim/exec/tensor/dot_elements.h"

const struct dot_ops DOT_OPS = { floats, ints, blocks, widen, narrow, turned };
