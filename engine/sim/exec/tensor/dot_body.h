/* The vector code of dot.h, compiled once for each instruction set: DOT_OPS is its table. Eight columns
 * at a time; what is too large, too small or no number goes to dot_block. */
#include "engine/base/base.h"
#include "engine/sim/exec/tensor/dot.h"

#include <string.h>

typedef float v8f __attribute__((vector_size(32)));
typedef int32_t v8i __attribute__((vector_size(32)));
typedef int64_t v4l __attribute__((vector_size(32)));
typedef double v4d __attribute__((vector_size(32)));
typedef int32_t v4i __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef uint16_t v8h __attribute__((vector_size(16)));

/* Sums stay below 2^31 and scales are normal numbers for exponents in between. */
#define DOT_LEAST (-90)
#define DOT_MOST  90

#if defined(__clang__)
#define SHUFFLE(type, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(type, a, b, ...) __builtin_shuffle(a, b, (type){ __VA_ARGS__ })
#endif

static inline v8f load_f(const float *p)
{
    v8f v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline v8i load_i(const int32_t *p)
{
    v8i v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline v8i bigger(v8i a, v8i b)
{
    v8i m = a > b;
    return (a & m) | (b & ~m);
}

/* Four sums of integers times a power of two; `mask`: the bits of a double that are kept. */
static inline v4f cut4(v4i p, v4i c, v4d scale, int64_t mask, bool odd)
{
    v4d x = (__builtin_convertvector(p, v4d) + __builtin_convertvector(c, v4d)) * scale;
    v4l bits;
    memcpy(&bits, &x, sizeof bits);
    v4l rest = (bits & ~mask) != 0;
    bits &= mask;
    if (odd)
        bits |= rest & (~mask + 1);
    memcpy(&x, &bits, sizeof x);
    return __builtin_convertvector(x, v4f);
}

static inline v4d power(v4i e)
{
    v4l bits = (__builtin_convertvector(e, v4l) + 1023) << 52;
    v4d x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline v8f cut8(v8i p, v8i c, v8i e, const struct dot_model *m)
{
    v4i ph[2];
    v4i ch[2];
    v4i eh[2];
    v4f r[2];
    v8f out;
    int64_t mask = -(1ll << (52 - m->keep));
    memcpy(ph, &p, sizeof p);
    memcpy(ch, &c, sizeof c);
    memcpy(eh, &e, sizeof e);
    for (unsigned i = 0; i < 2; i++)
        r[i] = cut4(ph[i], ch[i], power(eh[i]), mask, m->odd);
    memcpy(&out, r, sizeof out);
    return out;
}

/* Exponents of eight accumulators; large ones where they are not finite, DOT_NONE of zeros. */
static inline v8i exponents(v8f c)
{
    v8i u;
    memcpy(&u, &c, sizeof u);
    v8i e = u >> 23 & 255, zero = (u & 0x7fffffff) == 0;
    return ((e - 127) & ~zero) | (zero & DOT_NONE);
}

static inline bool any(v8i m)
{
    int64_t w[4];
    memcpy(w, &m, sizeof w);
    return (w[0] | w[1] | w[2] | w[3]) != 0;
}

/* One block: eight columns of one row. False: to be done exactly. */
static inline __attribute__((always_inline)) bool block8(const struct dot_model *m, unsigned n,
                                                         const float *a, const int32_t *ea,
                                                         const float *b, const int32_t *eb, v8f *c)
{
    v8i e = exponents(*c), least = (v8i){ 0 } + DOT_LEAST;
#pragma GCC unroll 16
    for (unsigned k = 0; k < n; k++)
        e = bigger(e, load_i(eb + k * DOT_N) + ea[k]);
    if (any((e > DOT_MOST) | ((e < DOT_LEAST) & (e > DOT_NONE / 2))))
        return false;
    e = bigger(e, least);
    v8i field = (m->frac - e + 127) << 23, sum = { 0 };
    v8f scale;
    memcpy(&scale, &field, sizeof scale);
#pragma GCC unroll 16
    for (unsigned k = 0; k < n; k++)
        sum += __builtin_convertvector(load_f(b + k * DOT_N) * a[k] * scale, v8i);
    v8i old = __builtin_convertvector(*c * scale, v8i);
    *c = cut8(sum, old, e - m->frac, m);
    return true;
}

/* Eight columns of one row: two runs of four lanes. */
static inline v8f get_row(void *const *reg, unsigned r, unsigned col)
{
    unsigned c = col / 2 + 2 * (r / 8), lane = r % 8 * 4;
    v4f half[2];
    v8f v;
    memcpy(&half[0], (const float *)reg[c] + lane, sizeof half[0]);
    memcpy(&half[1], (const float *)reg[c + 1] + lane, sizeof half[1]);
    memcpy(&v, half, sizeof v);
    return v;
}
static inline void put_row(void *const *reg, unsigned r, unsigned col, v8f v)
{
    unsigned c = col / 2 + 2 * (r / 8), lane = r % 8 * 4;
    v4f half[2];
    memcpy(half, &v, sizeof v);
    memcpy((float *)reg[c] + lane, &half[0], sizeof half[0]);
    memcpy((float *)reg[c + 1] + lane, &half[1], sizeof half[1]);
}

static void floats(const struct dot_model *m, const struct dot_tile *t)
{
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned col = 0; col < t->n; col += 8) {
            v8f c = get_row(t->reg, r, col);
            for (unsigned k = 0; k < t->k; k += m->block) {
                const float *a = t->a + (size_t)r * DOT_K + k, *b = t->b + (size_t)k * DOT_N + col;
                const int32_t *ea = t->ea + (size_t)r * DOT_K + k, *eb = t->eb + (size_t)k * DOT_N + col;
                unsigned n = t->k - k < m->block ? t->k - k : m->block;
                /* the usual length is one that the compiler knows */
                if (n == 16 ? block8(m, 16, a, ea, b, eb, &c) : block8(m, n, a, ea, b, eb, &c))
                    continue;
                for (unsigned i = 0; i < 8; i++)
                    c[i] = dot_block(m, n, a, ea, b + i, eb + i, DOT_N, c[i]);
            }
            put_row(t->reg, r, col, c);
        }
}

/* Whole numbers of 8 bits: their products and sums along k are exact as floats. */
static void ints(const struct dot_model *m, const struct dot_tile *t)
{
    (void)m;
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned col = 0; col < t->n; col += 8) {
            v8f c = get_row(t->reg, r, col), sum = { 0 };
            v8i d, s;
            for (unsigned k = 0; k < t->k; k++)
                sum += load_f(t->b + (size_t)k * DOT_N + col) * t->a[(size_t)r * DOT_K + k];
            memcpy(&d, &c, sizeof d);
            s = __builtin_convertvector(sum, v8i);
            for (unsigned i = 0; i < 8; i++) {
                int64_t x = (int64_t)d[i] + s[i];
                x = !t->finite ? x : x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x;
                d[i] = (int32_t)(uint32_t)x;
            }
            memcpy(&c, &d, sizeof c);
            put_row(t->reg, r, col, c);
        }
}

/* ---- 16-bit floats ---- */
static inline void half_row(v8h h, const struct dot_halves *x, unsigned row)
{
    v8i u = __builtin_convertvector(h, v8i), sign = (u & 0x8000) << 16, low = u & 0x7fff, v, e;
    if (x->bf16) {
        v = low << 16;
        e = low >> 7;
        e = bigger(e, (v8i){ 0 } + 1) - 127;
        v8i special = low >= 0x7f80;
        e = (e & ~special) | (special & 128);
    } else {
        v8f f;
        v = low << 13;
        memcpy(&f, &v, sizeof f);
        f *= 0x1p112f;
        memcpy(&v, &f, sizeof v);
        e = bigger(low >> 10, (v8i){ 0 } + 1) - 15;
        v8i special = low >= 0x7c00;
        v |= special & 0x7f800000;
        e = (e & ~special) | (special & 128);
    }
    v8i zero = low == 0;
    e = (e & ~zero) | (zero & DOT_NONE);
    v |= sign;
    if (x->spread) {
        v = SHUFFLE(v8i, v, v, 0, 2, 4, 6, 1, 3, 5, 7);
        e = SHUFFLE(v8i, e, e, 0, 2, 4, 6, 1, 3, 5, 7);
    }
    memcpy(x->v + (size_t)row * x->pitch, &v, sizeof v);
    memcpy(x->e + (size_t)row * x->pitch, &e, sizeof e);
}

static inline void merge(const v8h *h, v8h *to)
{
    for (unsigned i = 0; i < 4; i++) {
        to[2 * i] = SHUFFLE(v8h, h[i], h[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
        to[2 * i + 1] = SHUFFLE(v8h, h[i], h[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
}

static inline void turn(v8h h[8])
{
    v8h a[8], b[8];
    merge(h, a);
    merge(a, b);
    merge(b, h);
}

/* With `across` and `spread` the runs change places before they are turned. */
static void halves(const struct dot_halves *x)
{
    struct dot_halves y = *x;
    v8h h[8];
    for (unsigned i = 0; i < 8; i++)
        memcpy(&h[x->across && x->spread ? dot_column(i) : i], x->run[i], sizeof h[i]);
    if (x->across) {
        turn(h);
        y.spread = false;
    }
    for (unsigned i = 0; i < 8; i++)
        half_row(h[i], &y, i);
}

const struct dot_ops DOT_OPS = { floats, ints, halves };
