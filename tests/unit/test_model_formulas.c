/* Closed formulas: cluster partition, software cache, memory cost, correlations, threshold prediction. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "engine/model/model.h"

static void cluster_vectors(void **state)
{
    (void)state;
    struct model_place p = model_cluster_of(6, 2, 3);
    assert_int_equal(p.w, 0);
    assert_int_equal(p.i, 1);
    assert_int_equal(model_cluster_inverse(6, 2, 2, 1), 5);
    struct model_place rr = model_cluster_round_robin(2, 4);
    assert_int_equal(rr.w, 2);
    assert_int_equal(rr.i, 0);
    assert_int_equal(model_cluster_inverse(6, 2, rr.w, rr.i), 2);
    static const uint64_t size[] = { 3, 2, 2 }, start[] = { 0, 3, 5 };
    for (uint64_t i = 0; i < 3; i++) {
        assert_int_equal(model_cluster_size(7, 3, i), size[i]);
        assert_int_equal(model_cluster_start(7, 3, i), start[i]);
    }
}

/* f is a bijection onto clusters of consecutive CTAs for every V and M. */
static void cluster_bijection(void **state)
{
    (void)state;
    for (uint64_t V = 1; V <= 40; V++)
        for (uint64_t M = 1; M <= 45; M++)
            for (uint64_t v = 0; v < V; v++) {
                struct model_place p = model_cluster_of(V, M, v);
                assert_true(p.i < M && p.w < model_cluster_size(V, M, p.i));
                assert_int_equal(model_cluster_start(V, M, p.i) + p.w, v);
                assert_int_equal(model_cluster_inverse(V, M, p.w, p.i), v);
            }
}

static void softcache_lines(void **state)
{
    (void)state;
    assert_int_equal(model_softcache_lines(48 * 1024, 2048), 1);
    assert_int_equal(model_softcache_lines(48 * 1024, 1024), 3);
    assert_int_equal(model_softcache_lines(16 * 1024, 2048), 0);
    assert_int_equal(model_softcache_lines(0, 2048), 0);
    assert_int_equal(model_softcache_lines(48 * 1024, 0), 0);
}

static void memory_cost(void **state)
{
    (void)state;
    struct model_cost_in in = { .loads = 1000, .m1 = 0.5, .m2 = 0.25, .lat_l1 = 30, .lat_l2 = 200, .lat_dram = 600,
                                .sectors = 4000, .bw_l2 = 64, .bw_dram = 10, .parallelism = 100, .rate_l1 = 2 };
    struct model_cost c = model_memory_cost(&in);
    assert_float_equal(c.l1, 1000 * 0.5 * 30, 1e-6);
    assert_float_equal(c.l2, 1000 * 0.5 * 4 * 200, 1e-6);
    assert_float_equal(c.dram, 1000 * 0.125 * 4 * 600, 1e-6);
    assert_float_equal(c.paper, c.l1 + c.l2 + c.dram, 1e-6);
    assert_float_equal(c.latency, 10 * (0.5 * 30 + 0.375 * 200 + 0.125 * 600), 1e-6);
    assert_float_equal(c.bound_l1, 500, 1e-6);
    assert_float_equal(c.bound_l2, 4000 * 0.5 * 32 / 64, 1e-6);
    assert_float_equal(c.bound_dram, 4000 * 0.125 * 32 / 10, 1e-6);
    assert_float_equal(c.extended, 1650, 1e-6);   /* latency asks most here */
    in.bw_dram = 0.5;
    assert_float_equal(model_memory_cost(&in).extended, 32000, 1e-6);
    in.bw_dram = in.bw_l2 = in.rate_l1 = 0;       /* unknown: no bound */
    assert_float_equal(model_memory_cost(&in).extended, 1650, 1e-6);
}

static void correlations(void **state)
{
    (void)state;
    double a[] = { 1, 2, 3, 4 }, up[] = { 10, 20, 30, 40 }, cube[] = { 1, 8, 27, 64 }, down[] = { 4, 3, 2, 1 }, flat[] = { 5, 5, 5, 5 };
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
    assert_float_equal(model_rank_correlation_within(near, other, 4, 0.02), 1, 1e-12);   /* noise has no rank */
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
        cmocka_unit_test(cluster_vectors), cmocka_unit_test(cluster_bijection), cmocka_unit_test(softcache_lines),
        cmocka_unit_test(memory_cost), cmocka_unit_test(correlations), cmocka_unit_test(threshold_prediction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
