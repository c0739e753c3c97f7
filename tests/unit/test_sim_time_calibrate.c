/* Calibrating a simulated device must find that device's own numbers again: the
 * microbenchmarks measure what they say, and the model charges what its preset says. */
#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/dev/dev.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"

static void near_value(const char *what, double have, double want, double share)
{
    if (fabs(have - want) > share * want)
        fail_msg("%s: calibrated %g, the device has %g", what, have, want);
}

/* based: with the device's own preset as base, else with none. */
static struct sim_preset calibrate(const char *spec, struct sim_preset *own, bool based,
                                   struct calibrate_note notes[SIM_PRESET_FIELDS])
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    struct dev *d;
    struct buf log = { 0 };
    struct sim_preset p;
    assert_status_ok(preset_read(NULL, spec, own, &ds), &ds);
    assert_status_ok(dev_open(spec, &env, &d, &ds), &ds);
    assert_status_ok(dev_calibrate(d, based ? own : NULL, NULL, &p, notes, &log, &ds), &ds);
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
    struct calibrate_note notes[SIM_PRESET_FIELDS];
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        struct sim_preset own, p = calibrate(specs[i], &own, false, notes);
        near_value("l1_latency", (double)p.l1_latency, (double)own.l1_latency, 0.03);
        near_value("l2_latency", (double)p.l2_latency, (double)own.l2_latency, 0.03);
        near_value("dram_latency", (double)p.dram_latency, (double)own.dram_latency, 0.05);
        near_value("l1_sector", (double)p.l1_sector, (double)own.l1_sector, 0);
        near_value("lat_alu", (double)p.lat_alu, (double)own.lat_alu, 0.15);
        near_value("lanes_alu", (double)p.lanes_alu, (double)own.lanes_alu, 0.25);
        near_value("lanes_fp64", (double)p.lanes_fp64, (double)own.lanes_fp64, 0.1);
        near_value("lanes_sfu", (double)p.lanes_sfu, (double)own.lanes_sfu, 0.1);
        near_value("lat_shared", (double)p.lat_shared, (double)own.lat_shared, 0.05);
        near_value("l1_line", (double)p.l1_line, (double)own.l1_line, 0);
        near_value("l1_bytes_per_cycle", (double)p.l1_bytes_per_cycle, (double)own.l1_bytes_per_cycle,
                   0.05);
        near_value("L2, lines per cycle", p.l2_bytes_per_cycle / (128 + p.l2_request_bytes),
                   own.l2_bytes_per_cycle / (128 + own.l2_request_bytes), 0.15);
        near_value("dram", p.dram_gbps * p.dram_efficiency, own.dram_gbps * own.dram_efficiency, 0.15);
        near_value("launch_ns", p.launch_ns, own.launch_ns, 0.25);
        assert_int_equal(p.l1_plain, own.l1_plain);
        near_value("unified_bytes", (double)p.unified_bytes, (double)own.unified_bytes, 0.03);
        for (size_t k = 0; k < 10; k++) /* carve-outs that the device has, within what a ring shows */
            if ((&p.carve_0)[k] >= 0 && i)
                near_value("carve", (double)(&p.carve_0)[k], (double)(&own.carve_0)[k], 0.05);
    }
}

/* With a base, what no benchmark shows is the base's and says so; what they show is found as without. */
static void test_base(void **state)
{
    (void)state;
    struct calibrate_note notes[SIM_PRESET_FIELDS];
    struct sim_preset own, p = calibrate("hopper-h200", &own, true, notes);
    near_value("l2_request_bytes", p.l2_request_bytes, own.l2_request_bytes, 0.25);
    near_value("icnt_bytes_per_cycle", p.icnt_bytes_per_cycle, own.icnt_bytes_per_cycle, 0.05);
    near_value("l1_latency", (double)p.l1_latency, (double)own.l1_latency, 0.03);
    assert_memory_equal(&p.carve_0, &own.carve_0, 10 * sizeof p.carve_0);
    assert_int_equal(notes[SIM_PRESET_AT_l1_tags].from, CALIBRATE_BASE);
    assert_int_equal(notes[SIM_PRESET_AT_sms].from, CALIBRATE_DRIVER);
    assert_int_equal(notes[SIM_PRESET_AT_l1_latency].from, CALIBRATE_MEASURED);
    assert_int_equal(p.l1_tags, own.l1_tags);
}

/* The shipped preset that calibration begins with, and what the written one says of its numbers. */
static void test_sources(void **state)
{
    (void)state;
    assert_string_equal(preset_nearest(9, 0, 62914560), "hopper-h200");
    assert_string_equal(preset_nearest(9, 0, 52428800), "hopper-h100");
    assert_string_equal(preset_nearest(8, 9, 75497472), "ada-4090");

    assert_string_equal(preset_nearest(8, 6, 6291456), "ampere-3090");
    assert_string_equal(preset_nearest(12, 0, 100663296), "blackwell-rtx5090");
    /* the last before it, and the nearer L2 */
    assert_string_equal(preset_nearest(8, 7, 4194304), "ampere-3090");
    struct diags ds = { 0 };
    struct sim_preset p, q;
    struct calibrate_note notes[SIM_PRESET_FIELDS] = { [SIM_PRESET_AT_l1_latency] = { CALIBRATE_MEASURED,
                                                                                      0.25 },
                                                       [SIM_PRESET_AT_sms] = { CALIBRATE_DRIVER, 0 } };
    struct preset_origin from = { "a GPU", "fermi-16k", notes };
    char path[256];
    snprintf(path, sizeof path, "%s/calibrated.json", support_scratch());
    assert_status_ok(preset_read(NULL, "fermi-16k", &p, &ds), &ds);
    assert_status_ok(preset_write(path, &p, "residuals", &from, &ds), &ds);
    assert_status_ok(preset_read(NULL, path, &q, &ds), &ds);
    assert_memory_equal(&p.sms, &q.sms, sizeof p.sms);
    char *text;
    size_t n;
    assert_status_ok(file_read(path, 1 << 20, &text, &n, &ds), &ds);
    assert_non_null(strstr(text, "measured: gpulocw calibrate on a GPU, residual 0.25"));
    assert_non_null(strstr(text, "device query: a GPU"));
    assert_non_null(
        strstr(text, "not measured, as fermi-16k: Nugteren et al. 2014: Fermi L1 hashes its sets"));
    base_free(text);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_calibration), cmocka_unit_test(test_base),
                                        cmocka_unit_test(test_sources) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
