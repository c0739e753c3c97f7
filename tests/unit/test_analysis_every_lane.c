/* The degree of coalescing over all 32 lanes, without guards and branches (paper: coalesce, equation 1),
 * beside the one over the lanes that run, by hand.
 *
 * start = first address / 32 * 32; a lane counts when it lies in the 128 bytes from start.
 *
 * backprop_forward: 16x16 threads, a warp is two rows. Input: a word for each row, all 32 lanes within 8
 * bytes, but only tx == 0 runs the load: 32 of 32, and 2 of 32. Weights: rows of 17 words; from the
 * first lane's sector on 16 lanes of the first row and 12 of the second are in range: 28 of 32.
 * Means: 93.75 % and 46.88 %.
 *
 * conv3d: 16x4 threads, a warp is two rows of 16 words a matrix row apart: 16 of 32, 50 %.
 *
 * stride_32 and stride_4: 1 and 8 of 32 lanes in range, no guard, so that both figures are alike. */
#include "tests/unit/tune_support.h"
#include "engine/rec/result.h"

static void assert_degrees(const char *kernel, double every, unsigned sectors, double expected,
                           double running)
{
    struct rig r;
    rig_prepare(&r, kernel, NULL, "sim:ampere-a30");
    const struct ana_coalesce *c = &r.facts->coalesce;
    assert_true(c->valid);
    assert_float_equal(c->every.degree, every, 1e-9);
    assert_int_equal(c->every.num_sectors, sectors);
    assert_float_equal(c->every.expected, expected, 1e-9);
    assert_int_equal(c->every.of_lanes_that_run, 0);
    if (!isnan(running))
        assert_float_equal(c->degree, running, 1e-9);
    rig_close(&r);
}

static void by_hand(void **state)
{
    (void)state;
    assert_degrees("backprop", 0.9375, 4, 4 / 0.9375, 0.46875);
    assert_degrees("conv3d", 0.5, 3, 6, NAN);
    assert_degrees("stride_32", 1. / 32, 1, 32, 1. / 32);
    assert_degrees("stride_4", 0.25, 4, 16, 0.25);
    assert_degrees("same_location", 1, 1, 1, 1);
    assert_degrees("coalescing", 1, 4, 4, 1);
}

/* A guard keeps lanes from the load, not their addresses from the figure. */
static void guards_do_not_count(void **state)
{
    struct rig r;
    (void)state;
    rig_prepare(&r, "conv2d", NULL, "sim:ampere-a30");
    for (uint32_t i = 0; i < r.facts->naccess; i++) {
        const struct ana_access *a = &r.facts->access[i];
        if (!a->store) /* a column left of, at, or right of the thread's */
            assert_true(a->coalesce.every.degree == 25. / 32 || a->coalesce.every.degree == 1 ||
                        a->coalesce.every.degree == 31. / 32);
    }
    assert_float_equal(r.facts->coalesce.every.degree, (25. + 32 + 31) / 96, 1e-9);
    rig_close(&r);
}

/* Where the address is loaded, the lanes that have one stand for all. */
static void loaded_addresses_count_by_the_lanes_that_run(void **state)
{
    struct rig r;
    (void)state;
    rig_prepare(&r, "bfs", NULL, "sim:ampere-a30");
    assert_int_equal(r.facts->coalesce.every.of_lanes_that_run, 2);
    for (uint32_t i = 0; i < r.facts->naccess; i++) {
        const struct ana_access *a = &r.facts->access[i];
        if (!a->store && a->coalesce.valid)
            assert_true(a->coalesce.every.degree >= a->coalesce.degree);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(guards_do_not_count),
                                        cmocka_unit_test(loaded_addresses_count_by_the_lanes_that_run) };
    return cmocka_run_group_tests_name("analysis: degree over all lanes", tests, NULL, NULL);
}
