/* Which rewrite each kernel that we have takes: one line per launch, one letter per option line (y
 * accepted, - refused). GOLDEN_UPDATE=1 writes tests/golden/pass/accepted.txt anew: look at every letter
 * that changes. */
#include "tests/support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/session/launch_file.h"

#define GOLDEN "tests/golden/pass/accepted.txt"
static const char *const lines[] = {
    "--bypass l1 --pi 1", "--bypass l1 --pi vote", "--readonly promote",  "--block 48x1x1",
    "--swap-xy",          "--coarsen 2",           "--cluster redirect",  "--cluster agent",
    "--prefetch l2",      "--softcache 1",         "--softcache dynamic", "--throttle-shared 1024",
    "--maxnreg 64",       "--minctas 2",
};
static const struct built {
    const char *launches, *ptx;
} built[] = {
    { "kernels/*.launch.json", NULL },
    { "tests/heldout/suites/*.launch.json", NULL },
    { "tests/heldout/unseen.launch.json", "tests/heldout/u_nvcc.ptx" },
    { "tests/heldout/unseen.launch.json", "tests/heldout/u_debug.ptx" },
    { "tests/heldout/unseen.launch.json", "tests/heldout/u_clang.ptx" },
    { "tests/heldout/wild.launch.json", "tests/heldout/w_nvcc.ptx" },
};

static void one_launch(const struct launch_spec *l, const char *launches, const char *ptx,
                       const struct dev_info *dev, struct buf *out)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct buf path = { 0 };
    if (ptx)
        buf_printf(&path, "%s", ptx);
    else
        buf_printf(&path, "%.*s.ptx", (int)(strstr(launches, ".launch.json") - launches), launches);
    assert_status_ok(ptx_parse_file(path.s, &m, &ds), &ds);
    buf_printf(out, "%s %s ", path.s, l->name ? l->name : l->kernel);
    for (size_t k = 0; k < ARRAY_LEN(lines); k++) {
        struct options o = options_default();
        struct diags none = { 0 };
        assert_status_ok(options_parse_line(&o, str_of(lines[k]), &none), &none);
        struct pass_input in = {
            .module = m, .kernel = str_of(l->kernel), .options = &o, .dev = dev, .launch = l
        };
        enum status s = pass_legal(&in, &none);
        assert_true(s == ST_OK || s == ST_REFUSED);
        buf_puts(out, s == ST_OK ? "y" : "-");
        diags_free(&none);
    }
    buf_puts(out, "\n");
    ptx_free(m);
    diags_free(&ds);
    buf_free(&path);
}

static void one_file(const char *path, const char *ptx, const struct dev_info *dev, struct buf *out)
{
    struct launch_file f;
    struct diags ds = { 0 };
    assert_status_ok(launch_file_read(path, &f, &ds), &ds);
    for (size_t i = 0; i < f.n; i++)
        one_launch(&f.launch[i], path, ptx, dev, out);
    launch_file_free(&f);
    diags_free(&ds);
}

static void compare(const struct buf *got)
{
    char *want = NULL;
    size_t n = 0, at = 0, line = 1;
    struct diags ds = { 0 };
    if (getenv("GOLDEN_UPDATE")) {
        assert_status_ok(file_write_atomic(GOLDEN, got->s, got->n, &ds), &ds);
        return;
    }
    assert_status_ok(file_read(GOLDEN, 1 << 24, &want, &n, &ds), &ds);
    while (at < n && at < got->n && want[at] == got->s[at])
        line += want[at++] == '\n';
    if (at != n || at != got->n)
        fail_msg(
            "another rewrite is accepted, or refused: line %zu of %s (GOLDEN_UPDATE=1 writes it anew)",
            line, GOLDEN);
    base_free(want);
}

static void test_accepted(void **state)
{
    (void)state;
    static const struct dev_info dev = { .name = "a test device",
                                         .kind = DEV_SIMULATED,
                                         .cc_major = 9,
                                         .sms = 16,
                                         .warp_size = 32,
                                         .max_warps_per_sm = 64,
                                         .max_ctas_per_sm = 32,
                                         .max_threads_per_block = 1024,
                                         .regs_per_sm = 65536,
                                         .shared_per_sm = 228 << 10,
                                         .shared_per_block_optin = 227 << 10,
                                         .sm = { .reg_unit = 256, .warp_unit = 4, .shared_unit = 128 } };
    struct buf out = { 0 };
    buf_puts(&out, "# file, launch, then a letter for each of:");
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        buf_printf(&out, "%s %s", k ? "," : "", lines[k]);
    buf_puts(&out, "\n");
    for (size_t k = 0; k < ARRAY_LEN(built); k++) {
        glob_t g;
        assert_int_equal(glob(built[k].launches, 0, NULL, &g), 0);
        for (size_t i = 0; i < g.gl_pathc; i++)
            one_file(g.gl_pathv[i], built[k].ptx, &dev, &out);
        globfree(&g);
    }
    assert_false(out.oom);
    compare(&out);
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_accepted) };
    return cmocka_run_group_tests_name("pass_accepted", tests, NULL, NULL);
}
