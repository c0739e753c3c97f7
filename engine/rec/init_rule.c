/* Elements by a rule of an `init` (docs/reference/launch.md): the same bytes whenever and wherever they
 * are made. */
#include "engine/base/base.h"
#include "engine/rec/data_int.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"

#include <math.h>
#include <string.h>

/* IEEE binary16 from a double, round to nearest even, in one rounding. */
static uint16_t half_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    double a = fabs(v);
    if (a != a)
        return (uint16_t)(sign | 0x7E00);
    if (a >= 65520.0)
        return (uint16_t)(sign | 0x7C00);
    int e;
    (void)frexp(a, &e);
    if (e < -13)
        e = -13;                                /* subnormals share the exponent -14 */
    double steps = nearbyint(ldexp(a, 11 - e)); /* units in the last place: 2^(e-11) */
    uint32_t m = (uint32_t)steps;
    return (uint16_t)(sign | (m + (m ? (uint32_t)(e + 13) * 1024u : 0u)));
}

static void store_float(uint8_t *p, enum elem e, double v)
{
    float f = (float)v;
    uint16_t h = e == ELEM_F16 ? half_of(v) : 0; /* not cheap: only where it is wanted */
    if (e == ELEM_F64)
        memcpy(p, &v, 8);
    else if (e == ELEM_F32)
        memcpy(p, &f, 4);
    else
        memcpy(p, &h, 2);
}

bool elem_is_float(enum elem e)
{
    return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64;
}

static void store_int(uint8_t *p, enum elem e, uint64_t v)
{
    memcpy(p, &v, elem_size(e)); /* little-endian host, as PTX is */
}

/* The 64-bit pattern of a number; what 64 bits do not hold becomes the nearest that they do. */
static uint64_t pattern(double d)
{
    if (d < 0)
        return (uint64_t)(d > -0x1p63 ? (int64_t)d : INT64_MIN);
    return d < 0x1p64 ? (uint64_t)d : UINT64_MAX;
}

void elem_store(enum elem e, double v, uint8_t *out)
{
    if (elem_is_float(e))
        store_float(out, e, v);
    else
        store_int(out, e, pattern(v));
}

/* A number of an init as the 64-bit pattern of an integer element. */
static uint64_t whole(const struct init_spec *in, bool second)
{
    return in->integral ? (uint64_t)(second ? in->ib : in->ia) : pattern(second ? in->b : in->a);
}

/* Elements first..end, at most PART of them a part: every one is made from its own number, so that parts
 * can be made side by side. */
#define PART (1u << 20)
struct part_job {
    const struct init_spec *in;
    enum elem e;
    uint8_t *p; /* of the first */
    uint64_t first;
    uint64_t end;
};
static uint64_t part_end(const struct part_job *j, uint64_t first)
{
    return j->end - first < PART ? j->end : first + PART;
}

static void make_fill_part(void *ctx, size_t part)
{
    const struct part_job *j = ctx;
    const struct init_spec *in = j->in;
    size_t w = elem_size(j->e);
    bool iota = in->kind == INIT_IOTA;
    uint64_t start = whole(in, false), step = iota ? whole(in, true) : 0,
             first = j->first + (uint64_t)part * PART;
    for (uint64_t i = first, end = part_end(j, first); i < end; i++) {
        if (elem_is_float(j->e))
            store_float(j->p + (i - j->first) * w, j->e, iota ? in->a + (double)i * in->b : in->a);
        else
            store_int(j->p + (i - j->first) * w, j->e, start + i * step);
    }
}

/* Most buffers are of floats: without a call or a choice per element, so that the compiler makes vectors
 * of it. The same operations in the same order give the same floats on every host. */
static inline __attribute__((always_inline)) void random_floats(const struct init_spec *in, float *f,
                                                                uint64_t first, uint64_t n)
{
    const double a = in->a, by = in->b - in->a;
    const uint64_t seed = in->seed;
    for (uint64_t i = 0; i < n; i++)
        f[i] = (float)(a + by * ((double)(int32_t)(base_splitmix(seed, first + i) >> 40) / 16777216.0));
}

#if defined(__x86_64__)
#if defined(__clang__)
#define VECTORS /* makes them at -O2 */
#else
#define VECTORS __attribute__((optimize("O3")))
#endif
/* Products of 64 bits are one instruction there. */
VECTORS __attribute__((target("avx512f,avx512dq,avx512vl"))) static void random_floats_avx512(
    const struct init_spec *in, float *f, uint64_t first, uint64_t n)
{
    random_floats(in, f, first, n);
}
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
static void random_floats_avx512(const struct init_spec *in, float *f, uint64_t first, uint64_t n)
{
    random_floats(in, f, first, n);
}
static bool has_avx512(void)
{
    return false;
}
#endif

/* Whole numbers of w bytes, a constant where this is put in; a span of a power of two (0: of all) takes
 * no division. */
static inline __attribute__((always_inline)) void random_wholes(const struct init_spec *in, uint8_t *p,
                                                                size_t w, uint64_t lo, uint64_t span,
                                                                uint64_t first, uint64_t n)
{
    const uint64_t seed = in->seed, mask = span - 1;
    for (uint64_t i = 0; (span & mask) == 0 && i < n; i++) {
        uint64_t v = lo + (base_splitmix(seed, first + i) & mask);
        memcpy(p + i * w, &v, w); /* little-endian host, as PTX is */
    }
    for (uint64_t i = 0; (span & mask) != 0 && i < n; i++) {
        uint64_t v = lo + base_splitmix(seed, first + i) % span;
        memcpy(p + i * w, &v, w);
    }
}

static void make_wholes(const struct part_job *j, uint64_t first, uint64_t n)
{
    const struct init_spec *in = j->in;
    const uint64_t lo = whole(in, false), span = whole(in, true) - lo + 1;
    const size_t w = elem_size(j->e);
    uint8_t *p = j->p + (first - j->first) * w;
    switch (w) {
    case 1: random_wholes(in, p, 1, lo, span, first, n); return;
    case 2: random_wholes(in, p, 2, lo, span, first, n); return;
    case 4: random_wholes(in, p, 4, lo, span, first, n); return;
    default: random_wholes(in, p, 8, lo, span, first, n); return;
    }
}

static void make_random_part(void *ctx, size_t part)
{
    const struct part_job *j = ctx;
    const struct init_spec *in = j->in;
    enum elem e = j->e;
    uint8_t *p = j->p;
    size_t w = elem_size(e);
    uint64_t first = j->first + (uint64_t)part * PART, end = part_end(j, first);
    base_pages_ready(p + (first - j->first) * w, (end - first) * w);
    if (e == ELEM_F32) {
        float *f = (float *)(void *)p + (first - j->first);
        if (has_avx512())
            random_floats_avx512(in, f, first, end - first);
        else
            random_floats(in, f, first, end - first);
        return;
    }
    if (!elem_is_float(e)) {
        make_wholes(j, first, end - first);
        return;
    }
    for (uint64_t i = first; i < end; i++)
        store_float(p + (i - j->first) * w, e,
                    in->a + (in->b - in->a) * ((double)(base_splitmix(in->seed, i) >> 40) / 16777216.0));
}

static void make_parts(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t n,
                       unsigned threads)
{
    struct part_job j = { in, e, p, first, first + n };
    base_parallel(threads, (size_t)((n + PART - 1) / PART),
                  in->kind == INIT_RANDOM ? make_random_part : make_fill_part, &j);
}

static void store_count(uint8_t *p, enum elem e, uint64_t v)
{
    if (elem_is_float(e))
        store_float(p, e, (double)v);
    else
        store_int(p, e, v);
}

static void make_permutation(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t n)
{
    size_t w = elem_size(e);
    for (uint64_t i = 0; i < n; i++)
        store_count(p + i * w, e, i);
    for (uint64_t i = n, k = 0; i-- > 1; k++) {
        uint64_t j = base_splitmix(in->seed, k) % (i + 1);
        uint8_t t[8];
        memcpy(t, p + i * w, w);
        memcpy(p + i * w, p + j * w, w);
        memcpy(p + j * w, t, w);
    }
}

/* CSR row offsets: rows+1 entries, nnz spread so that row lengths vary by the seed's random
 * numbers: offset[i] = floor(i*nnz/rows) moved by up to half a mean row, monotonic. */
static void make_rows(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t n)
{
    size_t w = elem_size(e);
    uint64_t mean = in->rows ? in->nnz / in->rows : 0, last = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i >= in->rows ? in->nnz : pattern((double)i * (double)in->nnz / (double)in->rows);
        if (i > 0 && i < in->rows && mean > 1)
            at += base_splitmix(in->seed, i) % (mean + 1) - mean / 2;
        if ((int64_t)at < (int64_t)last)
            at = last;
        if (at > in->nnz)
            at = in->nnz;
        last = at;
        store_count(p + i * w, e, at);
    }
}

bool data_in_parts(enum init_kind k)
{
    return k == INIT_FILL || k == INIT_IOTA || k == INIT_RANDOM;
}

void data_make_part(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t count,
                    unsigned threads)
{
    if (in->kind == INIT_PERMUTATION)
        make_permutation(in, e, p, count);
    else if (in->kind == INIT_ROWS)
        make_rows(in, e, p, count);
    else
        make_parts(in, e, p, first, count, threads);
}
