/* The vector code of dot.h, compiled once for each instruction set: DOT_TILE is its name. Eight columns
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

/* Sums stay below 2^31 and scales are normal numbers for exponents in between. */
#define DOT_LEAST (-90)
#define DOT_MOST  90

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

/* Four sums of integers times a power of two, cut to 24 bits. */
static inline v4f cut4(v4i p, v4i c, v4d scale)
{
    v4d x = (__builtin_convertvector(p, v4d) + __builtin_convertvector(c, v4d)) * scale;
    v4l bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= ~(v4l){ 0x1fffffff, 0x1fffffff, 0x1fffffff, 0x1fffffff };
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

static inline v8f cut8(v8i p, v8i c, v8i e)
{
    v4i ph[2], ch[2], eh[2];
    v4f r[2];
    v8f out;
    memcpy(ph, &p, sizeof p);
    memcpy(ch, &c, sizeof c);
    memcpy(eh, &e, sizeof e);
    for (unsigned i = 0; i < 2; i++)
        r[i] = cut4(ph[i], ch[i], power(eh[i]));
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
static inline bool block8(const struct dot_model *m, unsigned n, const float *a, const int32_t *ea,
                          const float *b, const int32_t *eb, v8f *c)
{
    v8i e = exponents(*c), least = (v8i){ 0 } + DOT_LEAST;
    for (unsigned k = 0; k < n; k++)
        e = bigger(e, load_i(eb + k * DOT_N) + ea[k]);
    if (any((e > DOT_MOST) | ((e < DOT_LEAST) & (e > DOT_NONE / 2))))
        return false;
    e = bigger(e, least);
    v8i field = (m->frac - e + 127) << 23, sum = { 0 };
    v8f scale;
    memcpy(&scale, &field, sizeof scale);
    for (unsigned k = 0; k < n; k++)
        sum += __builtin_convertvector(load_f(b + k * DOT_N) * a[k] * scale, v8i);
    v8i old = __builtin_convertvector(*c * scale, v8i);
    *c = cut8(sum, old, e - m->frac);
    return true;
}

void DOT_TILE(const struct dot_model *m, const struct dot_tile *t)
{
    for (unsigned r = 0; r < t->rows; r++)
        for (unsigned col = 0; col < t->n; col += 8) {
            float *d = t->d + (size_t)r * DOT_N + col;
            v8f c = load_f(d);
            for (unsigned k = 0; k < t->k; k += m->block) {
                const float *a = t->a + (size_t)r * DOT_K + k, *b = t->b + (size_t)k * DOT_N + col;
                const int32_t *ea = t->ea + (size_t)r * DOT_K + k, *eb = t->eb + (size_t)k * DOT_N + col;
                unsigned n = t->k - k < m->block ? t->k - k : m->block;
                if (block8(m, n, a, ea, b, eb, &c))
                    continue;
                for (unsigned i = 0; i < 8; i++)
                    c[i] = dot_block(m, n, a, ea, b + i, eb + i, DOT_N, c[i]);
            }
            memcpy(d, &c, sizeof c);
        }
}
