/* What nvcc makes of tests/sim/features.cu, on the simulated device: functionally, then step by
 * step under the timing model, which must leave the same bytes. */
#include "tests/unit/sim_support.h"

#include <math.h>

static bool timed;

static struct sim_case feature(const char *kernel, uint32_t grid, uint32_t block, uint32_t shared)
{
    struct diags ds = { 0 };
    char *text;
    size_t n;
    struct sim_case c;
    assert_status_ok(file_read("tests/sim/features.ptx", 1u << 24, &text, &n, &ds), &ds);
    sim_case_open(&c, text, kernel, 65536);
    c.l.grid.x = grid;
    c.l.block.x = block;
    c.l.shared = shared;
    c.l.functional = !timed;
    c.l.exact = true;
    base_free(text);
    return c;
}
static struct sim_case run_feature(const char *kernel, uint32_t grid, uint32_t block, uint32_t shared)
{
    struct sim_case c = feature(kernel, grid, block, shared);
    sim_case_ok(&c);
    return c;
}
#define INTS(c) ((const int32_t *)(const void *)(c).data)

static void printing(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_printf", 1, 32, 0);
    assert_non_null(c.stats.print);
    assert_memory_equal(c.stats.print,
                        "t 0 0.0 str 1.23e+04|-5 z ff %\nt 1 1.5 str 1.23e+04|-5 z ff %\n",
                        c.stats.nprint);
    assert_int_equal(INTS(c)[5], 2);
    sim_case_close(&c);
}

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static void calls(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_recursion", 1, 32, 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], fib(i % 12));
    sim_case_close(&c);
    c = run_feature("k_pointers", 1, 32, 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], i % 3 == 0 ? i + 1 : i % 3 == 1 ? i * 2 : i - 7);
    sim_case_close(&c);
    c = run_feature("k_struct", 1, 32, 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], i % 5 + 1 + i * (i % 5) + 3);
    sim_case_close(&c);
}

/* Lanes of one warp, warps and CTAs contend for one lock; each must get it. */
static void locks(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_lock", 3, 96, 0);
    assert_int_equal(INTS(c)[1], 3 * (95 * 96 / 2));
    for (int i = 0; i < 3 * 96; i++)
        assert_int_equal(INTS(c)[32 + i], 7);
    sim_case_close(&c);
}

static void grid_barrier(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_grid_barrier", 40, 64, 0);
    for (int i = 0; i < 40 * 64; i++)
        assert_int_equal(INTS(c)[32 + i], 40);
    sim_case_close(&c);
}

static void groups(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_groups", 1, 32, 0);
    for (int i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], 28 + 64 * (i / 8) + (i % 3 ? 0 : 11000 + 100000 * (i / 3)));
    sim_case_close(&c);
}

static void halves(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_half", 1, 32, 0);
    for (int i = 0; i < 32; i++) {
        assert_int_equal(INTS(c)[2 * i], i * i + 1 + (i ? 1000 : 0));
        /* at most 8 significant bits below 16, else rounded to 8 */
        float sq = (float)i * 0.25f * ((float)i * 0.25f);
        uint32_t u;
        memcpy(&u, &sq, 4);
        u = (u + 0x7fff + (u >> 16 & 1)) & 0xffff0000u;
        memcpy(&sq, &u, 4);
        assert_int_equal(INTS(c)[2 * i + 1], (int)(16 * sq));
    }
    sim_case_close(&c);
}

static void asserts(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_assert", 1, 32, 0);
    assert_int_equal(INTS(c)[31], 1);
    assert_int_equal(sim_case_run(&c), ST_DEVICE);
    assert_true(support_said(&c.ds, "assertion 'd[threadIdx.x] == 0 && \"must be zero\"' failed"));
    assert_true(support_said(&c.ds, "thread (0,0,0) of CTA (0,0,0)"));
    sim_case_close(&c);
}

static void reductions(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_reduce", 1, 64, 0);
    for (int i = 0; i < 64; i++) {
        int w = i / 32, third = 0;
        for (int k = 32 * w; k < 32 * w + 32; k++)
            third += k % 3 == i % 3;
        assert_int_equal(INTS(c)[i], (w ? 1520 : 496) + 32000 + 100000);
        assert_int_equal(INTS(c)[64 + i], third);
        assert_int_equal(INTS(c)[128 + i], w ? 32 : 21);
    }
    sim_case_close(&c);
}

static int flow_of(int v)
{
    int s = 0;
    for (int i = 0; i < v; i++) {
        if (i % 3 == 0)
            continue;
        if (i > 20)
            break;
        s += i;
        if (s > 100 && (v & 1))
            goto out;
    }
    s += 1000;
out:
    switch (v % 7) {
    case 0: return s + 3;
    case 1: return s + 2;
    case 2: return s * 3;
    case 5: return s - 9;
    default: return s ^ 1;
    }
}
static void flow(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_flow", 1, 64, 0);
    for (int i = 0; i < 64; i++)
        assert_int_equal(INTS(c)[i], flow_of(i));
    sim_case_close(&c);
}

static void matrices(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_wmma", 1, 32, 0);
    const float *d = (const void *)c.data;
    for (int row = 0; row < 16; row++)
        for (int col = 0; col < 16; col++) {
            int sum = 1;
            for (int k = 0; k < 16; k++)
                sum += ((row * 16 + k) % 7 - 3) * ((col * 16 + k) % 5 - 2);
            assert_true(d[row * 16 + col] == (float)sum);
        }
    sim_case_close(&c);
}

__extension__ typedef unsigned __int128 u128;
static void wide_integers(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_wide", 1, 32, 0);
    const uint64_t *d = (const void *)c.data;
    for (uint64_t i = 0; i < 32; i++) {
        u128 x = ((u128)i << 70) * 12345678901234567ull + 99;
        assert_true(d[2 * i] == (uint64_t)(x / 1000003));
        assert_true(d[2 * i + 1] == (uint64_t)(x % 1000003));
    }
    sim_case_close(&c);
}

static void atomics(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_atomics", 2, 32, 0);
    float f;
    double x;
    uint64_t u;
    memcpy(&f, c.data, 4);
    memcpy(&x, c.data + 8, 8);
    memcpy(&u, c.data + 32, 8);
    assert_true(f == 2 * (32 + 496));
    assert_true(x == 32);
    assert_int_equal(INTS(c)[4], 31);
    assert_int_equal(INTS(c)[5], 64 % 11);
    assert_int_equal(INTS(c)[6], 0x54005400); /* 64 twice */
    assert_int_equal(u, 192);
    assert_int_equal(INTS(c)[10], -31);
    assert_int_equal(INTS(c)[12], (6 - 64 % 6) % 6);
    assert_int_equal(INTS(c)[13], 0);
    sim_case_close(&c);
}

static void memories(void **state)
{
    (void)state;
    struct sim_case c = run_feature("k_local", 1, 64, 0);
    for (int t = 0; t < 64; t++) {
        int s = 0;
        for (int i = 0; i < 32; i++)
            s += ((i * 7 + t) & 31) * 3 * i;
        assert_int_equal(INTS(c)[t], s);
    }
    sim_case_close(&c);
    c = run_feature("k_shared", 1, 64, 256);
    for (int t = 0; t < 64; t++)
        assert_int_equal(INTS(c)[t], t & 1 ? t * 5 & 31 : 5);
    sim_case_close(&c);
    c = feature("k_async", 1, 64, 0);
    for (int t = 0; t < 64; t++)
        memcpy(c.data + 4 * t, &(int){ t * t }, 4);
    sim_case_ok(&c);
    for (int t = 0; t < 64; t++)
        assert_int_equal(INTS(c)[64 + t], (63 - (t ^ 1)) * (63 - (t ^ 1)));
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(printing),      cmocka_unit_test(calls),
                                        cmocka_unit_test(locks),         cmocka_unit_test(grid_barrier),
                                        cmocka_unit_test(groups),        cmocka_unit_test(halves),
                                        cmocka_unit_test(asserts),       cmocka_unit_test(reductions),
                                        cmocka_unit_test(flow),          cmocka_unit_test(matrices),
                                        cmocka_unit_test(wide_integers), cmocka_unit_test(atomics),
                                        cmocka_unit_test(memories) };
    int failed = cmocka_run_group_tests_name("sim exec: CUDA features", tests, NULL, NULL);
    timed = true;
    return failed + cmocka_run_group_tests_name("sim exec: CUDA features, timed", tests, NULL, NULL);
}
