/* The schedule paper's figure against vectors worked out by hand (paper: schedule): G, m1, m2 and the
 * sum G·(1−m1)·lat_L1 + G·m1·4·lat_L2 + G·m1·m2·4·lat_DRAM.
 *
 *   coalescing     64 warps, one load of one line each, never again: G 64, all first touches
 *   stride_32      64 warps, 32 lines each, never again: G 2048
 *   same_location  64 warps, one line for all. Each of Fermi's 15 SMs has one first touch of it, L2 has
 *                  one of these: G 64, m1 15 / 64, m2 1 / 15
 *   gemm paper     64x64 matrices, 16 CTAs of 32x8: a warp reads one row of A, and 32 columns of B. 64
 *                  steps of two lines by 128 warps: G 16384. A CTA touches 8 rows of 2 lines of A and 64
 *                  lines of B: 80. 14 SMs with one CTA; the first has CTAs 0 and 15, which share
 *                  nothing: 16 * 80 first touches, all else hits: m1 1280 / 16384. A and B are 256
 *                  lines: m2 256 / 1280
 *   syrk           9,736,704 distinct lines per request, summed over all requests (exact count) */
#include "tests/unit/tune_support.h"
#include "engine/rec/result.h"

static struct tune_prediction predicted(const char *kernel, const char *launch, const char *device,
                                        const char *line)
{
    struct rig r;
    struct tune_prediction p;
    struct options o = options_of(line);
    rig_open(&r, kernel, launch, device);
    assert_status_ok(tune_predict(r.bench, &o, &p), &r.ds);
    if (!p.valid)
        fail_msg("%s: %s", kernel, p.why_not);
    rig_close(&r);
    return p;
}

static void assert_counts(const struct tune_prediction *p, double g, double m1, double m2)
{
    const struct model_cost_in *in = &p->paper;
    assert_true(in->loads == g);
    assert_float_equal(in->m1, m1, 1e-12);
    assert_float_equal(in->m2, m2, 1e-12);
    double sum = g * (1 - m1) * in->lat_l1 + g * m1 * 4 * in->lat_l2 + g * m1 * m2 * 4 * in->lat_dram;
    assert_float_equal(p->cost.paper / sum, 1, 1e-12);
    assert_float_equal(p->cost.paper, p->cost.l1 + p->cost.l2 + p->cost.dram, 1e-6 * sum);
}

static void by_hand(void **state)
{
    struct tune_prediction p;
    (void)state;
    p = predicted("coalescing", NULL, "sim:fermi-16k", "");
    assert_counts(&p, 64, 1, 1);
    p = predicted("stride_32", NULL, "sim:fermi-16k", "");
    assert_counts(&p, 2048, 1, 1);
    p = predicted("same_location", NULL, "sim:fermi-16k", "");
    assert_counts(&p, 64, 15. / 64, 1. / 15);
    p = predicted("gemm", "paper", "sim:fermi-16k", "");
    assert_counts(&p, 16384, 1280. / 16384, 256. / 1280);
}

/* G is the launch's, whatever the number of SMs that share it. */
static void transactions_do_not_depend_on_the_device(void **state)
{
    static const char *const devices[] = { "sim:fermi-16k", "sim:volta-v100", "sim:hopper-h200" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        assert_true(predicted("gemm", "paper", devices[i], "").paper.loads == 16384);
        assert_true(predicted("syrk", "default", devices[i], "").paper.loads == 9736704);
    }
}

/* What passes L1 by misses there: plain loads of Kepler, and all that bypass. */
static void what_passes_l1_misses_it(void **state)
{
    (void)state;
    assert_true(predicted("gemm", "paper", "sim:kepler-k80", "").paper.m1 == 1);
    assert_true(predicted("gemm", "paper", "sim:kepler-k80+l1", "").paper.m1 < 0.1);
    assert_true(predicted("gemm", "paper", "sim:fermi-16k", "--bypass l1 --pi bpa").paper.m1 == 1);
    struct tune_prediction p = predicted("gemm", "paper", "sim:fermi-16k", "--bypass l1 --pi bpa");
    assert_counts(&p, 16384, 1, 256. / 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(transactions_do_not_depend_on_the_device),
        cmocka_unit_test(what_passes_l1_misses_it),
    };
    return cmocka_run_group_tests_name("tune: the schedule paper's cost", tests, NULL, NULL);
}
