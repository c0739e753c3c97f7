/* Kernels that store through a pointer made by arithmetic or from halves: every pass refuses them or
 * leaves that buffer alone. */
#include "engine/analysis/analysis.h"
#include "engine/pass/pass.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/options.h"
#include "engine/session/launch_file.h"
#include "tests/support.h"

#include <stdio.h>
#include <string.h>

struct scene {
    struct ptx_module *m;
    struct launch_file lf;
    struct diags ds;
    struct pass_output out;
};

static enum status rewrite(struct scene *s, const char *name, const char *line)
{
    char path[128];
    struct options o = options_default();
    struct dev_info dev = { .kind = DEV_SIMULATED,
                            .cc_major = 8,
                            .sms = 4,
                            .warp_size = 32,
                            .max_warps_per_sm = 64,
                            .max_ctas_per_sm = 16,
                            .max_threads_per_block = 1024,
                            .regs_per_sm = 65536,
                            .shared_per_sm = 100 << 10,
                            .shared_per_block_optin = 99 << 10,
                            .sm = { .reg_unit = 256, .warp_unit = 4, .shared_unit = 128 } };
    *s = (struct scene){ .m = NULL };
    snprintf(path, sizeof path, "tests/golden/alias/%s.ptx", name);
    assert_status_ok(ptx_parse_file(path, &s->m, &s->ds), &s->ds);
    snprintf(path, sizeof path, "tests/golden/alias/%s.launch.json", name);
    assert_status_ok(launch_file_read(path, &s->lf, &s->ds), &s->ds);
    assert_status_ok(options_parse_line(&o, str_of(line), &s->ds), &s->ds);
    struct pass_input in = { .module = s->m, .options = &o, .dev = &dev, .launch = s->lf.launch };
    return pass_apply(&in, &s->out, &s->ds);
}

static void done(struct scene *s)
{
    pass_output_free(&s->out);
    diags_free(&s->ds);
    launch_file_free(&s->lf);
    ptx_free(s->m);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "sel", "hilo" }, *const lines[] = { "--readonly promote",
                                                                             "--bypass ro --pi 1" };
    for (size_t n = 0; n < ARRAY_LEN(names); n++)
        for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
            struct scene s;
            assert_int_equal(rewrite(&s, names[n], lines[k]), ST_REFUSED);
            assert_true(s.ds.n > 0);
            assert_non_null(strstr(s.ds.v[0].msg, "a store may go to the same memory"));
            assert_true(s.ds.v[0].at.line > 0);
            done(&s);
        }
}

static void test_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = { "sel", "hilo" };
    static const char *const lines[] = {
        "--softcache 1",      "--cluster agent", "--cluster agent --prefetch l1",
        "--cluster redirect", "--coarsen 2",     "--block 32x1x1",
        "--bypass l1 --pi 1"
    };
    for (size_t n = 0; n < ARRAY_LEN(names); n++)
        for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
            struct scene s;
            enum status st = rewrite(&s, names[n], lines[k]);
            if (st != ST_OK) {
                assert_int_equal(st, ST_REFUSED);
                assert_true(s.ds.n > 0);
            }
            assert_true(st != ST_OK || !s.out.text || !strstr(s.out.text, ".nc"));
            done(&s);
        }
}

static void test_word_of_the_user(void **state)
{
    (void)state;
    struct scene s;
    assert_status_ok(rewrite(&s, "sel", "--readonly promote --assume-read-only flag"), &s.ds);
    assert_non_null(strstr(s.out.text, "ld.global.nc.s32 \t%rd10"));
    assert_null(strstr(s.out.text, "ld.global.nc.u32"));
    done(&s);
    /* where the store goes stays unknown */
    assert_int_equal(rewrite(&s, "sel", "--readonly promote --assume-restrict"), ST_REFUSED);
    done(&s);
}

static void test_analysis_agrees(void **state)
{
    (void)state;
    static const char *const names[] = { "sel", "hilo" };
    for (size_t n = 0; n < ARRAY_LEN(names); n++) {
        struct scene s;
        struct ana_kernel *k = NULL;
        (void)rewrite(&s, names[n], "--readonly promote");
        struct ana_opts o = { .quick = true };
        assert_status_ok(ana_run(s.m, STR(""), &o, &k, &s.ds), &s.ds);
        for (uint32_t i = 0; i < k->naccess; i++)
            assert_true(k->access[i].store || k->access[i].read_only != ANA_YES);
        ana_free(k);
        done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_left_alone),
                                        cmocka_unit_test(test_word_of_the_user),
                                        cmocka_unit_test(test_analysis_agrees) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
