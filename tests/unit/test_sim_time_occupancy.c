/* Occupancy and carve-out rules against values of the CUDA occupancy tables, and every shipped preset.
 */
#include "tests/support.h"

#include <string.h>

#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/session/session.h"
#include "engine/rec/device.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/memory.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/timing_int.h"
#include "engine/sim/timing/warp.h"

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

static void test_occupancy(void **state)
{
    (void)state;
    const struct {
        const char *preset;
        uint32_t regs, shared, threads, dyn, ctas;
    } v[] = {
        { "hopper-h200", 32, 0, 512, 0, 4 },     /* 64 warps */
        { "hopper-h200", 40, 0, 512, 0, 3 },     /* 40 * 32 = 1280 per warp; 51 -> 48 warps */
        { "hopper-h200", 255, 0, 1024, 0, 0 },   /* 8 warps of registers do not hold 32 */
        { "hopper-h200", 32, 0, 32, 0, 32 },     /* CTA slots */
        { "hopper-h200", 32, 49152, 256, 0, 4 }, /* (48 + 1) KB of 228 KB */
        { "hopper-h200", 32, 0, 256, 232448, 1 }, { "volta-v100", 32, 49152, 256, 0, 2 }, /* 96 KB */
        { "volta-v100", 64, 0, 1024, 0, 1 },      { "fermi-16k", 20, 0, 256, 0, 6 },      /* 48 warps */
        { "fermi-16k", 32, 0, 256, 0, 4 },     /* 32768 registers */
        { "fermi-48k", 20, 17000, 256, 0, 2 }, /* raises the split to 48 KB */
        { "kepler-k40", 32, 0, 256, 0, 8 },       { "ada-4090", 32, 0, 256, 0, 6 },
    };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct sim_preset g = named(v[i].preset);
        struct sim_resources r = { .regs = v[i].regs, .shared_static = v[i].shared };
        struct timing_occupancy o = timing_occupancy(&r, &g, v[i].threads, v[i].dyn, -1);
        if (o.ctas_per_sm != v[i].ctas)
            fail_msg("case %zu: %u CTAs, not %u", i, o.ctas_per_sm, v[i].ctas);
    }
}

/* What a device record says of the CTAs that fit, against the timing's own rule: the same without the
 * units that a record does not have, never less with them. */
static void test_a_record_tells_what_fits(void **state)
{
    static const uint32_t threads[] = { 32, 64, 192, 256, 512, 1024 };
    unsigned differ = 0, less = 0;
    (void)state;
    for (size_t i = 0; i < preset_count(); i++)
        for (uint32_t k = 0; k < 6 * 9 * 5; k++) {
            struct sim_preset g = named(preset_name(i));
            struct dev_info d;
            struct sim_resources r = { .regs = 16 + k / 6 % 9 * 13, .shared_static = k / 54 * 2300 };
            struct dev_cta cta = { threads[k % 6], r.regs, r.shared_static, 0 };
            sim_preset_info(&g, &d);
            uint32_t fits = dev_resident_ctas(&d, &cta);
            less += fits < timing_occupancy(&r, &g, threads[k % 6], 0, 100).ctas_per_sm;
            g.warp_unit = g.shared_unit = 1;
            differ += fits != timing_occupancy(&r, &g, threads[k % 6], 0, 100).ctas_per_sm;
        }
    assert_int_equal(less, 0);
    assert_int_equal(differ, 0);
}

static uint32_t l1_kb_of(const char *preset, uint32_t threads, uint32_t shared, int carveout)
{
    struct sim_preset g = named(preset);
    struct sim_resources r = { .regs = 32, .shared_static = shared };
    return timing_occupancy(&r, &g, threads, 0, carveout).l1_bytes / 1024;
}

static uint32_t l1_kb(const char *preset, uint32_t shared, int carveout)
{
    return l1_kb_of(preset, 512, shared, carveout);
}

static void test_carveout(void **state)
{
    (void)state;
    /* 256 KB less 228; of these and the following 7 only hold what is on its way (l1_fill_buffers) */
    assert_int_equal(l1_kb("hopper-h200", 0, 100), 28);
    /* CTAs of 512 threads leave 240 KB (of which an H200 finds 235 again: tests/gpu/micro.c), */
    assert_int_equal(l1_kb("hopper-h200", 0, 0), 256 - 16);
    assert_int_equal(l1_kb("hopper-h200", 0, -1), 256 - 16);
    assert_int_equal(l1_kb_of("hopper-h200", 1024, 0, -1), 256 - 8); /* of 1024 248 KB (243), */
    /* of 256 and of 32 224 KB (219) */
    assert_int_equal(l1_kb_of("hopper-h200", 256, 0, -1), 256 - 32);
    assert_int_equal(l1_kb_of("hopper-h200", 32, 0, 0), 256 - 32);
    assert_int_equal(l1_kb("hopper-h200", 0, 50), 256 - 132); /* 114 KB asked: next larger */
    assert_int_equal(l1_kb("fermi-16k", 0, -1), 16);
    assert_int_equal(l1_kb("fermi-48k", 0, -1), 48);
    assert_int_equal(l1_kb("fermi-48k", 20000, -1), 16);
    assert_int_equal(l1_kb("kepler-k80-32k", 0, -1), 32);
    assert_int_equal(l1_kb("pascal-p100", 0, -1), 24);
    assert_int_equal(l1_kb("volta-v100", 0, -1), 128);
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
                                        cmocka_unit_test(test_occupancy),
                                        cmocka_unit_test(test_a_record_tells_what_fits),
                                        cmocka_unit_test(test_registers),
                                        cmocka_unit_test(test_carveout) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
