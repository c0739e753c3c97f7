/* Products on each vector unit of this processor, bit for bit against sums made here of whole numbers:
 * random shapes, all formats, infinities, zeros and the smallest values too; and a kernel by each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "engine/sim/exec/lanes/lanes.h"
#include "engine/sim/exec/tensor/dot.h"
#include "engine/sim/exec/tensor/operand.h"

#include "tests/unit/sim_job.h"

#define TRIES 400u

/* ---- the reference: bits to sign, digits and power of two ---- */
struct kind {
    enum ptx_type type;
    unsigned bits, frac;
    int bias;
    bool inf;     /* a field of ones is infinite or no number; else, with `nan`, */
    uint32_t nan; /* that magnitude alone */
    uint32_t cut; /* low bits that are not looked at */
};
static const struct kind kinds[] = {
    { PTX_T_F16, 16, 10, 15, true, 0, 0 },        { PTX_T_BF16, 16, 7, 127, true, 0, 0 },
    { PTX_T_TF32, 32, 23, 127, true, 0, 0x1fff }, { PTX_T_E5M2, 8, 2, 15, true, 0, 0 },
    { PTX_T_E4M3, 8, 3, 7, false, 0x7f, 0 },
};
struct value {
    double v;       /* what is not finite alone matters */
    int64_t digits; /* value: digits * 2^unit */
    int unit, top;  /* top: exponent that the core sees */
};
static struct value read_bits(const struct kind *k, uint32_t bits)
{
    bits &= ~k->cut;
    uint32_t size = bits & ((1u << (k->bits - 1)) - 1), field = size >> k->frac,
             ones = (1u << (k->bits - 1 - k->frac)) - 1;
    struct value x = { .digits = size & ((1u << k->frac) - 1) };
    int e = (int)(field ? field : 1) - k->bias;
    x.digits |= field ? 1u << k->frac : 0;
    x.unit = e - (int)k->frac;
    x.top = x.digits ? e : -1000000;
    x.digits = bits >> (k->bits - 1) ? -x.digits : x.digits;
    x.v = 1;
    if (k->inf && field == ones)
        x.v = size & ((1u << k->frac) - 1) ? NAN : x.digits < 0 ? -INFINITY : INFINITY;
    else if (k->nan && size == k->nan)
        x.v = NAN;
    else
        x.v = ldexp((double)x.digits, x.unit);
    return x;
}

/* Whole units of 2^least that the value has, cut towards zero. */
static int64_t units_of(int64_t digits, int unit, int least)
{
    uint64_t size = digits < 0 ? -(uint64_t)digits : (uint64_t)digits;
    int by = unit - least;
    size = by >= 0 ? size << by : -by > 63 ? 0 : size >> -by;
    return digits < 0 ? -(int64_t)size : (int64_t)size;
}

static float sum_of(const struct dot_model *m, unsigned n, const struct value *a, const struct value *b,
                    float c)
{
    static const struct kind f32 = { PTX_T_F32, 32, 23, 127, true, 0, 0 };
    uint32_t u;
    memcpy(&u, &c, 4);
    struct value old = read_bits(&f32, u);
    int top = old.top;
    double rough = c;
    for (unsigned k = 0; k < n; k++) {
        top = a[k].top + b[k].top > top ? a[k].top + b[k].top : top;
        rough += a[k].v * b[k].v;
    }
    if (isnan(rough))
        return NAN;
    if (isinf(rough))
        return (float)rough;
    if (top < -500000)
        return 0;
    int least = top - m->frac;
    int64_t all = units_of(old.digits, old.unit, least);
    for (unsigned k = 0; k < n; k++)
        all += units_of(a[k].digits * b[k].digits, a[k].unit + b[k].unit, least);
    uint64_t size = all < 0 ? -(uint64_t)all : (uint64_t)all, cut = size;
    while (cut >> (m->keep + 1)) {
        least++;
        cut = cut >> 1 | (m->odd ? cut & 1 : 0);
    }
    if (!cut)
        return 0;
    while (least < -149) { /* a float has no smaller unit */
        least++;
        cut >>= 1;
    }
    double x = ldexp((double)cut, least);
    if (x > 0x1.fffffep127)
        return all < 0 ? -INFINITY : INFINITY;
    return (float)(all < 0 ? -x : x);
}

/* ---- tiles ---- */
struct tile {
    struct mat_factors f;
    uint32_t a[DOT_ROWS][DOT_K], b[DOT_N][DOT_K];
    struct value va[DOT_ROWS][DOT_K], vb[DOT_N][DOT_K];
    float acc[DOT_N / 2][32], want[DOT_ROWS][DOT_N];
    uint64_t seed, at;
};
static uint32_t next(struct tile *t)
{
    return (uint32_t)(base_splitmix(t->seed, t->at++) >> 16);
}

/* Mostly values of about one size; now and then any bits. */
static uint32_t any_bits(struct tile *t, const struct kind *k, bool wild)
{
    uint32_t u = next(t), exponent = (uint32_t)k->bias - 2 + u % 5;
    if (wild && u >> 28 < 3)
        return u >> 28 ? u & (k->bits == 32 ? UINT32_MAX : (1u << k->bits) - 1) : 0;
    u = next(t) & ((1u << k->frac) - 1);
    return u | exponent << k->frac | (next(t) & 1) << (k->bits - 1);
}

/* Puts bits as runs of 16 bytes along k, as a fragment or shared memory has them. */
static void put(struct tile *t, const struct dot_ops *ops, enum ptx_type type, unsigned bits, bool of_b,
                unsigned n, unsigned k)
{
    unsigned per = 128 / bits;
    for (unsigned mn = 0; mn < n; mn += 8)
        for (unsigned at = 0; at < k; at += per) {
            uint8_t run[8][16] = { { 0 } };
            struct dot_block x = { .f = mat_format(type), .across = true, .spread = of_b };
            for (unsigned i = 0; i < 8; i++) {
                for (unsigned j = 0; j < per; j++)
                    memcpy(run[i] + j * bits / 8, of_b ? &t->b[mn + i][at + j] : &t->a[mn + i][at + j],
                           bits / 8);
                x.run[i] = run[i];
            }
            unsigned row = x.f->whole ? at / 2 : at;
            x.v = of_b ? &t->f.b[row][mn] : &t->f.a[row][mn];
            x.e = of_b ? &t->f.eb[row][mn] : &t->f.ea[row][mn];
            x.pitch = of_b ? DOT_N : DOT_ROWS;
            ops->block(&x);
        }
}

static float *sum_at(struct tile *t, unsigned row, unsigned col)
{
    return &t->acc[col / 8 * 4 + row / 8 * 2 + col % 2][row % 8 * 4 + col % 8 / 2];
}

static void same_float(float have, float want)
{
    uint32_t a, b;
    memcpy(&a, &have, 4);
    memcpy(&b, &want, 4);
    if (isnan(want) && isnan(have))
        return;
    if (a != b)
        fail_msg("%a instead of %a", (double)have, (double)want);
}

static void one_of_floats(struct tile *t, const struct dot_ops *ops)
{
    const struct kind *k = &kinds[next(t) % ARRAY_LEN(kinds)];
    unsigned n = 8 + next(t) % 8 * 8, per = 128 / k->bits, depth = per * (1 + next(t) % (32 / per));
    struct dot_model m = { .block = (uint8_t)(k->bits == 32 ? 4 << next(t) % 2 : 8 << next(t) % 2),
                           .frac = k->bits == 8 ? 13 : 24 + next(t) % 2,
                           .keep = k->bits == 8 && next(t) % 2 ? 13 : 23,
                           .odd = next(t) % 4 == 0 };
    bool wild = next(t) % 2;
    void *reg[DOT_N / 2];
    for (unsigned i = 0; i < DOT_ROWS; i++)
        for (unsigned j = 0; j < depth; j++)
            t->va[i][j] = read_bits(k, t->a[i][j] = any_bits(t, k, wild));
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = 0; j < depth; j++)
            t->vb[i][j] = read_bits(k, t->b[i][j] = any_bits(t, k, wild));
    for (unsigned i = 0; i < n / 2; i++)
        reg[i] = t->acc[i];
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned c = 0; c < n; c++) {
            float x = ldexpf((float)(int32_t)next(t), (int)(next(t) % 20) - 38);
            *sum_at(t, r, c) = x = next(t) % 8 ? x : 0;
            for (unsigned at = 0; at < depth; at += m.block) {
                unsigned many = depth - at < m.block ? depth - at : m.block;
                x = sum_of(&m, many, &t->va[r][at], &t->vb[c][at], x);
            }
            t->want[r][c] = x;
        }
    put(t, ops, k->type, k->bits, false, DOT_ROWS, depth);
    put(t, ops, k->type, k->bits, true, n, depth);
    struct dot_tile d = mat_tile(&t->f, n, depth, reg, false);
    ops->floats(&m, &d);
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned c = 0; c < n; c++)
            same_float(*sum_at(t, r, c), t->want[r][c]);
}

static void one_of_ints(struct tile *t, const struct dot_ops *ops)
{
    enum ptx_type ta = next(t) % 2 ? PTX_T_S8 : PTX_T_U8, tb = next(t) % 2 ? PTX_T_S8 : PTX_T_U8;
    unsigned n = 8 + next(t) % 8 * 8, depth = 16 * (1 + next(t) % 4);
    bool finite = next(t) % 2;
    void *reg[DOT_N / 2];
    for (unsigned j = 0; j < depth; j++) {
        for (unsigned i = 0; i < DOT_ROWS; i++)
            t->a[i][j] = next(t) & 255;
        for (unsigned i = 0; i < n; i++)
            t->b[i][j] = next(t) & 255;
    }
    for (unsigned i = 0; i < n / 2; i++)
        reg[i] = t->acc[i];
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned c = 0; c < n; c++) {
            int32_t old = next(t) % 2 ? (int32_t)(next(t) * 2654435761u)
                                      : INT32_MAX - (int32_t)(next(t) & 0xfffff);
            int64_t all = old;
            for (unsigned j = 0; j < depth; j++)
                all += (ta == PTX_T_S8 ? (int8_t)t->a[r][j] : (int)t->a[r][j]) *
                       (tb == PTX_T_S8 ? (int8_t)t->b[c][j] : (int)t->b[c][j]);
            if (finite)
                all = all > INT32_MAX ? INT32_MAX : all < INT32_MIN ? INT32_MIN : all;
            uint32_t low = (uint32_t)all;
            memcpy(&t->want[r][c], &low, 4);
            memcpy(sum_at(t, r, c), &old, 4);
        }
    put(t, ops, ta, 8, false, DOT_ROWS, depth);
    put(t, ops, tb, 8, true, n, depth);
    struct dot_tile d = mat_tile(&t->f, n, depth, reg, finite);
    ops->ints(&(struct dot_model){ 0 }, &d);
    for (unsigned r = 0; r < DOT_ROWS; r++)
        for (unsigned c = 0; c < n; c++)
            assert_memory_equal(sum_at(t, r, c), &t->want[r][c], 4);
}

/* Every f16 there is, widened and rounded back; floats next to them are rounded as soft.h does. */
static void halves(const struct dot_ops *ops)
{
    for (uint32_t first = 0; first < 0x10000; first += 32) {
        uint32_t in[32], out[32], each[32];
        float low[32], high[32];
        for (uint32_t i = 0; i < 32; i++)
            in[i] = (first + i) | ((first + i) ^ 0x8000u) << 16;
        ops->widen(in, low, high);
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t h = first + i, field = h >> 10 & 31, part = h & 1023;
            double size = field == 31 ? (part ? NAN : INFINITY)
                          : field     ? ldexp(1024 + part, (int)field - 25)
                                      : ldexp(part, -24);
            same_float(low[i], (float)(h >> 15 ? -size : size));
            same_float(high[i], (float)(h >> 15 ? size : -size));
        }
        for (unsigned step = 0; step < 3; step++) {
            for (unsigned i = 0; i < 32; i++)
                low[i] = step ? nextafterf(low[i] * (1 + 0x1p-11f), step == 1 ? INFINITY : 0) : low[i];
            for (unsigned finite = 0; finite < 2; finite++) {
                ops->narrow(low, high, finite, out);
                dot_narrow_each(low, high, finite, each);
                assert_memory_equal(out, each, sizeof out);
            }
        }
    }
}

static void units(void **state)
{
    static struct tile t;
    const struct dot_ops *before = NULL;
    (void)state;
    for (unsigned limit = 1; limit <= 3; limit++) {
        const struct dot_ops *ops = dot_pick(limit);
        if (ops == before)
            continue;
        before = ops;
        t.seed = limit;
        for (unsigned i = 0; i < TRIES; i++) {
            one_of_floats(&t, ops);
            one_of_ints(&t, ops);
        }
        halves(ops);
    }
}

/* A kernel's bytes by each unit. */
static void kernel(const char *launch)
{
    uint64_t first = 0;
    for (unsigned limit = 1; limit <= 4; limit++) {
        struct job j;
        struct diags ds = { 0 };
        struct sim_stats s;
        job_open_in(&j, "tests/tensor", "products", launch, "hopper-h200");
        sim_unload(j.prog);
        job_ok(sim_load_lanes(j.m, str_of(j.l->kernel), NULL, &j.preset, j.mem, limit % 4, &j.prog, &ds),
               &ds);
        struct sim_launch l = job_launch(&j);
        l.functional = true;
        s = job_run(&j, &l);
        uint64_t h = job_hash(&j, false);
        first = limit == 1 ? h : first;
        assert_int_equal(h, first);
        sim_stats_free(&s);
        job_close(&j);
    }
}
static void kernels(void **state)
{
    (void)state;
    kernel("gemm256");
    kernel("attention128");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(units), cmocka_unit_test(kernels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
