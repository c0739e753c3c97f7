/* Kernels with products of warpgroups leave the same bytes in every order of warps and CTAs, executed or
 * timed: the four warps of a warpgroup wait for each other, whoever runs first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

#define MAX_BYTES (96u << 20)
#define MAX_CTAS  48

static void need(enum status s, struct diags *ds, const char *what)
{
    if (s == ST_OK)
        return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    fail_msg("%s: %s\n%s", what, status_text(s), b.s ? b.s : "");
}

/* The preset with another policy of schedulers: other warps come first, and drift apart otherwise. */
static enum status other_policy(void *ctx, const char *name, struct sim_preset *out, struct diags *ds)
{
    enum status st = preset_read(NULL, name, out, ds);
    out->scheduler_policy = *(const int *)ctx;
    return st;
}

struct how {
    const char *name;
    struct sim_hostile order;
    int policy;
    bool functional, exact;
};
static const struct how ways[] = {
    { .name = "executed", .functional = true, .policy = 2 },
    { .name = "executed, last warp first",
      .functional = true,
      .policy = 2,
      .order = { .order = ORDER_DOWN } },
    { .name = "executed, shuffled",
      .functional = true,
      .policy = 2,
      .order = { .order = ORDER_SHUFFLED, .seed = 3 } },
    { .name = "executed, shuffled otherwise",
      .functional = true,
      .policy = 2,
      .order = { .order = ORDER_SHUFFLED, .seed = 8 } },
    { .name = "timed", .policy = 2 },
    { .name = "timed whole, oldest CTA first", .policy = 2, .exact = true },
    { .name = "timed whole, greedy", .policy = 0, .exact = true },
    { .name = "timed whole, in turn", .policy = 1, .exact = true },
};

static void launch(const struct how *how, const struct launch_spec *l, struct str text, const char *path,
                   struct result *r)
{
    struct diags ds = { 0 };
    struct launch_data data;
    struct dev *device = NULL;
    struct dev_code *code = NULL;
    struct dev_data *bound = NULL;
    int policy = how->policy;
    struct dev_env env = { .preset = other_policy, .ctx = &policy };
    struct dev_run run = dev_run_default();
    run.launch = l;
    run.grid = l->grid;
    run.block = l->block;
    run.shared = l->shared;
    run.functional = how->functional;
    run.exact = how->exact;
    run.hostile = how->order;
    need(dev_open("sim:hopper-h200", &env, &device, &ds), &ds, "device");
    need(launch_data_make(l, MAX_BYTES, &data, &ds), &ds, path);
    need(dev_load(device, path, text, str_of(l->kernel), 0, &code, &ds), &ds, path);
    need(dev_bind(device, &data, &bound, &ds), &ds, path);
    need(dev_launch(device, code, bound, &run, r, &ds), &ds, path);
    if (r->status != ST_OK)
        fail_msg("%s %s, %s: %s", l->kernel, l->name ? l->name : "", how->name, r->message);
    dev_unbind(device, bound);
    dev_unload(device, code);
    dev_close(device);
    launch_data_free(&data);
    diags_free(&ds);
}

static void check_launch(const struct launch_spec *l, struct str text, const char *path)
{
    static struct result first, r;
    first = result_empty();
    launch(&ways[0], l, text, path, &first);
    assert_true(first.noutputs > 0);
    for (size_t i = 1; i < ARRAY_LEN(ways); i++) {
        r = result_empty();
        launch(&ways[i], l, text, path, &r);
        assert_int_equal(r.noutputs, first.noutputs);
        for (uint32_t k = 0; k < r.noutputs; k++)
            if (r.outputs[k].hash != first.outputs[k].hash)
                fail_msg("%s %s, %s: '%s' is not what it is %s", l->kernel, l->name ? l->name : "",
                         ways[i].name, r.outputs[k].name, ways[0].name);
    }
}

static uint64_t ctas(const struct launch_spec *l)
{
    return (uint64_t)l->grid.x * l->grid.y * l->grid.z;
}

static void one_file(void **state)
{
    const char *path = *state;
    struct launch_file f;
    struct diags ds = { 0 };
    char *text = NULL, ptx[512];
    size_t n = 0;
    need(launch_file_read(path, &f, &ds), &ds, path);
    snprintf(ptx, sizeof ptx, "%.*s/%s", (int)(strrchr(path, '/') - path), path, f.launch[0].ptx);
    need(file_read(ptx, 1u << 20, &text, &n, &ds), &ds, ptx);
    for (size_t i = 0; i < f.n; i++) {
        assert_string_equal(f.launch[i].ptx, f.launch[0].ptx);
        if (ctas(&f.launch[i]) <= MAX_CTAS) /* larger ones: minutes, and the same code */
            check_launch(&f.launch[i], (struct str){ text, n }, ptx);
    }
    base_free(text);
    launch_file_free(&f);
    diags_free(&ds);
}

/* One test a launch file, so that a failure names it. */
int main(void)
{
    static struct CMUnitTest tests[16];
    size_t n = 0;
    glob_t g;
    if (glob("tests/tensor/*.launch.json", 0, NULL, &g) ||
        glob("tests/tensor/*/*.launch.json", GLOB_APPEND, NULL, &g))
        return 1;
    for (size_t i = 0; i < g.gl_pathc && n < ARRAY_LEN(tests); i++)
        tests[n++] = (struct CMUnitTest){ g.gl_pathv[i], one_file, NULL, NULL, g.gl_pathv[i] };
    int failed = _cmocka_run_group_tests("orders", tests, n, NULL, NULL);
    globfree(&g);
    return failed;
}
