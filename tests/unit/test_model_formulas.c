/* Closed formulas: memory cost, correlations, threshold prediction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/perfmodel/cost.h"
#include "engine/perfmodel/valley.h"
#include "engine/perfmodel/warp_sim.h"

static void memory_cost(void **state)
{
    (void)state;
    struct model_cost_in in = { .loads = 1000,
                                .m1 = 0.5,
                                .m2 = 0.25,
                                .lat_l1 = 30,
                                .lat_l2 = 200,
                                .lat_dram = 600,
                                .sectors = 4000,
                                .bw_l2 = 64,
                                .bw_dram = 10,
                                .parallelism = 100,
                                .rate_l1 = 2 };
    struct model_cost c = model_memory_cost(&in);
    assert_float_equal(c.l1, 1000 * 0.5 * 30, 1e-6);
    assert_float_equal(c.l2, 1000 * 0.5 * 4 * 200, 1e-6);
    assert_float_equal(c.dram, 1000 * 0.125 * 4 * 600, 1e-6);
    assert_float_equal(c.paper, c.l1 + c.l2 + c.dram, 1e-6);
    assert_float_equal(c.latency, 10 * (0.5 * 30 + 0.375 * 200 + 0.125 * 600), 1e-6);
    assert_float_equal(c.bound_l1, 500, 1e-6);
    assert_float_equal(c.bound_l2, 4000 * 0.5 * 32 / 64, 1e-6);
    assert_float_equal(c.bound_dram, 4000 * 0.125 * 32 / 10, 1e-6);
    assert_float_equal(c.extended, 1650, 1e-6); /* latency asks most here */
    in.bw_dram = 0.5;
    assert_float_equal(model_memory_cost(&in).extended, 32000, 1e-6);
    in.bw_dram = in.bw_l2 = in.rate_l1 = 0; /* unknown: no bound */
    assert_float_equal(model_memory_cost(&in).extended, 1650, 1e-6);
}

static void correlations(void **state)
{
    (void)state;
    double a[] = { 1, 2, 3, 4 }, up[] = { 10, 20, 30, 40 }, cube[] = { 1, 8, 27, 64 },
           down[] = { 4, 3, 2, 1 }, flat[] = { 5, 5, 5, 5 };
    double tied[] = { 1, 2, 2, 3 };
    assert_float_equal(model_correlation(a, up, 4), 1, 1e-12);
    assert_true(model_correlation(a, cube, 4) < 0.96);
    assert_float_equal(model_rank_correlation(a, cube, 4), 1, 1e-12);
    assert_float_equal(model_rank_correlation(a, down, 4), -1, 1e-12);
    assert_float_equal(model_rank_correlation(a, tied, 4), sqrt(0.9), 1e-12); /* ranks 1, 2.5, 2.5, 4 */
    assert_true(isnan(model_correlation(a, flat, 4)));
    assert_true(isnan(model_rank_correlation(a, flat, 4)));
    const double near[4] = { 1, 1.01, 2, 3 }, other[4] = { 1.015, 1, 2, 3 };
    assert_float_equal(model_rank_correlation(near, other, 4), 0.8, 1e-12);
    /* noise has no rank */
    assert_float_equal(model_rank_correlation_within(near, other, 4, 0.02), 1, 1e-12);
    assert_true(isnan(model_correlation(a, up, 1)));
    assert_true(isnan(model_rank_correlation(a, up, 0)));
}

static void threshold_prediction(void **state)
{
    (void)state;
    /* 4 CTAs of 16 warps, 8 KB a warp: 512 KB against 256 KB -> 8 warps fit, fewer with conflicts */
    assert_int_equal(model_threshold_predict(256 * 1024, 0, 8192, 4, 16), 8);
    assert_int_equal(model_threshold_predict(256 * 1024, 8, 8192, 4, 16), 7);
    assert_int_equal(model_threshold_predict(256 * 1024, 8, 4096, 4, 16), 16);
    assert_int_equal(model_threshold_predict(16 * 1024, 4, 65536, 4, 16), 0);
    assert_int_equal(model_threshold_predict(16 * 1024, 4, 0, 4, 16), 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_cost),
        cmocka_unit_test(correlations),
        cmocka_unit_test(threshold_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
