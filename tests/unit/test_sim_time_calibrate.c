/* Calibrating a simulated device must find that device's own numbers again: the
 * microbenchmarks measure what they say, and the model charges what its preset says. */
#include "tests/support.h"

#include <math.h>

#include "engine/session/session.h"

static void near_value(const char *what, double have, double want, double share)
{
    if (fabs(have - want) > share * want) fail_msg("%s: calibrated %g, the device has %g", what, have, want);
}

static struct sim_preset calibrate(const char *spec, struct sim_preset *own)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    struct dev *d;
    struct buf log = { 0 };
    struct sim_preset p;
    assert_status_ok(preset_read(NULL, spec, own, &ds), &ds);
    assert_status_ok(dev_open(spec, &env, &d, &ds), &ds);
    assert_status_ok(dev_calibrate(d, NULL, &p, &log, &ds), &ds);
    assert_true(log.n > 200);
    buf_free(&log);
    dev_close(d);
    diags_free(&ds);
    return p;
}

static void test_calibration(void **state)
{
    (void)state;
    static const char *const specs[] = { "hopper-h200", "kepler-k40" };
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct sim_preset own, p = calibrate(specs[i], &own);
        near_value("l1_latency", (double)p.l1_latency, (double)own.l1_latency, 0.03);
        near_value("l2_latency", (double)p.l2_latency, (double)own.l2_latency, 0.03);
        near_value("dram_latency", (double)p.dram_latency, (double)own.dram_latency, 0.05);
        near_value("l1_sector", (double)p.l1_sector, (double)own.l1_sector, 0);
        near_value("lat_alu", (double)p.lat_alu, (double)own.lat_alu, 0.15);
        near_value("lanes_alu", (double)p.lanes_alu, (double)own.lanes_alu, 0.25);
        near_value("lanes_fp64", (double)p.lanes_fp64, (double)own.lanes_fp64, 0.1);
        near_value("lanes_sfu", (double)p.lanes_sfu, (double)own.lanes_sfu, 0.1);
        double data = 128 / (128 + own.l2_request_bytes);        /* of what a slice does for a whole line */
        near_value("l2_bytes_per_cycle", p.l2_bytes_per_cycle, own.l2_bytes_per_cycle * data, 0.15);
        near_value("dram", p.dram_gbps * p.dram_efficiency, own.dram_gbps * own.dram_efficiency, 0.15);
        near_value("launch_ns", p.launch_ns, own.launch_ns, 0.25);
        assert_int_equal(p.l1_plain, own.l1_plain);
        near_value("unified_bytes", (double)p.unified_bytes, (double)own.unified_bytes, 0.03);
        for (size_t k = 0; k < 10; k++)              /* carve-outs that the device has, within what a ring shows */
            if ((&p.carve_0)[k] >= 0 && i) near_value("carve", (double)(&p.carve_0)[k], (double)(&own.carve_0)[k], 0.05);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_calibration) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
