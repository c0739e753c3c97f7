/* Every shipped preset, and the registers that the simulator estimates. */
#include "tests/support.h"

#include <string.h>

#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/memory.h"
#include "engine/sim/timing/sm.h"

static struct sim_preset named(const char *name)
{
    struct sim_preset p;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, name, &p, &ds), &ds);
    diags_free(&ds);
    return p;
}

static void test_presets_are_sound(void **state)
{
    (void)state;
    assert_true(preset_count() >= 17);
    for (size_t i = 0; i < preset_count(); i++) {
        struct sim_preset p = named(preset_name(i));
        struct diags ds = { 0 };
        assert_status_ok(sim_preset_check(&p, &ds), &ds);
        assert_string_equal(p.name, preset_name(i));
        struct dev_info info;
        sim_preset_info(&p, &info);
        assert_true(info.sms > 0);
        assert_true(info.l1_bytes >= 16384);
        assert_true(info.lat_dram > info.lat_l2);
        assert_true(info.lat_l2 > info.lat_l1);
        diags_free(&ds);
    }
}

static void test_bad_presets_are_named(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct sim_preset p = sim_preset_default();
    p.l1_ways = 0;
    p.carve_3 = 9000;
    assert_int_equal(sim_preset_check(&p, &ds), ST_INPUT);
    assert_true(support_said(&ds, "l1_ways"));
    assert_true(support_said(&ds, "carve_"));
    diags_free(&ds);
}

/* Whatever a preset file says of any field: far beyond its range it is refused, by name. */
static void test_every_field_has_a_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < sim_preset_field_count(); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            const struct sim_preset_field *f = sim_preset_field(i);
            struct sim_preset p = sim_preset_default();
            struct diags ds = { 0 };
            void *at = (char *)&p + f->offset;
            if (f->integer)
                *(int64_t *)at = sign < 0 ? INT64_MIN : INT64_MAX;
            else
                *(double *)at = sign * 1e300;
            if (sim_preset_check(&p, &ds) != ST_INPUT || !support_said(&ds, f->name))
                fail_msg("%s has no range", f->name);
            diags_free(&ds);
        }
}

/* What ptxas 13.0 allocates for sm_90, beside the estimate: whatever fits 32 leaves an SM all its warps,
 * beyond that within a step of 8. */
static void test_registers(void **state)
{
    (void)state;
    static const struct {
        const char *file, *kernel;
        uint32_t ptxas;
    } v[] = { { "kernels/kmeans.ptx", "kmeans", 31 },
              { "kernels/conv3d.ptx", "conv3d", 32 },
              { "kernels/gesummv.ptx", "gesummv", 32 },
              { "kernels/syrk.ptx", "syrk", 32 },
              { "kernels/nbody.ptx", "nbody", 26 },
              { "kernels/stencil3d.ptx", "stencil3d", 32 },
              { "tests/heldout/suites/rodinia.ptx", "r_hotspot", 32 },
              { "tests/heldout/suites/rodinia.ptx", "r_pgain", 32 },
              { "tests/heldout/suites/rodinia.ptx", "r_lava", 32 },
              { "tests/heldout/suites/rodinia.ptx", "r_heartwall", 32 },
              { "tests/heldout/suites/rodinia.ptx", "r_flux", 56 },
              { "tests/heldout/suites/rodinia.ptx", "r_myocyte", 61 },
              { "tests/heldout/suites/polybench.ptx", "b_adi_row", 24 },
              { "tests/heldout/suites/samples.ptx", "s_bitonic", 32 } };
    struct diags ds = { 0 };
    struct sim_preset g;
    assert_int_equal(preset_read(NULL, "hopper-h200", &g, &ds), ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        char *text = NULL;
        size_t n = 0;
        struct ptx_module *m = NULL;
        struct sim_program *p = NULL;
        assert_int_equal(file_read(v[i].file, 1 << 20, &text, &n, &ds), ST_OK);
        assert_int_equal(ptx_parse(v[i].file, (struct str){ text, n }, &m, &ds), ST_OK);
        struct sim_mem *mem = sim_mem_new(1 << 20);
        assert_int_equal(sim_load(m, str_of(v[i].kernel), &g, mem, &p, &ds), ST_OK);
        uint32_t regs = sim_program_resources(p).regs, want = (v[i].ptxas + 7) / 8 * 8;
        if (want <= 32 ? regs > 32 : regs > want + 8 || regs + 8 < want)
            fail_msg("%s: %u registers estimated, ptxas takes %u", v[i].kernel, regs, v[i].ptxas);
        sim_unload(p);
        sim_mem_free(mem);
        ptx_free(m);
        base_free(text);
    }
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_presets_are_sound),
                                        cmocka_unit_test(test_bad_presets_are_named),
                                        cmocka_unit_test(test_every_field_has_a_range),
                                        cmocka_unit_test(test_registers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
