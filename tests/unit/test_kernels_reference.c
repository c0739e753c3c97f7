/* The simulated device against the plain-C references: every launch of every demo
 * kernel (but those sized for a real GPU) leaves bit-identical outputs (or within the
 * tolerance that its description states). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/dev/dev.h"
#include "engine/session/launch_file.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "tests/ref_kernels/ref.h"

#define MAX_BYTES (96u << 20)

static struct dev *device;

static void need(enum status s, struct diags *ds, const char *what)
{
    if (s == ST_OK)
        return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    fail_msg("%s: %s\n%s", what, status_text(s), b.s ? b.s : "");
}

/* Equal bit for bit, or within the tolerance that the launch description states (f32 only). */
static bool equal(const struct arg_spec *a, const uint8_t *expected, const uint8_t *got)
{
    float e, g;
    if (!memcmp(expected, got, elem_size(a->elem)))
        return true;
    if (!(a->tolerance > 0) || a->elem != ELEM_F32)
        return false;
    memcpy(&e, expected, sizeof e);
    memcpy(&g, got, sizeof g);
    return fabsf(e - g) <= a->tolerance * fabsf(e);
}

static void compare(const struct launch_spec *l, size_t arg, const uint8_t *expected, const uint8_t *got,
                    uint64_t n)
{
    size_t size = elem_size(l->args[arg].elem);
    for (uint64_t i = 0; i < n; i += size)
        if (!equal(&l->args[arg], expected + i, got + i)) {
            uint32_t e = 0, g = 0;
            memcpy(&e, expected + i, size < 4 ? size : 4);
            memcpy(&g, got + i, size < 4 ? size : 4);
            fail_msg("%s (%s): %s[%llu] is %08x, should be %08x", l->kernel, l->name ? l->name : "",
                     l->args[arg].name, (unsigned long long)(i / size), g, e);
        }
}

static void run_device(const struct launch_spec *l, struct launch_data *data, struct str text,
                       const char *path, uint8_t **outputs, struct diags *ds)
{
    struct dev_code *code = NULL;
    struct dev_data *bound = NULL;
    struct result r = result_empty();
    struct dev_run run = dev_run_default();
    run.launch = l;
    run.grid = l->grid;
    run.block = l->block;
    run.shared = l->shared;
    run.functional = true;
    need(dev_load(device, path, text, str_of(l->kernel), 0, &code, ds), ds, path);
    need(dev_bind(device, data, &bound, ds), ds, path);
    need(dev_launch(device, code, bound, &run, &r, ds), ds, path);
    if (r.status != ST_OK)
        fail_msg("%s (%s): %s", l->kernel, l->name ? l->name : "", r.message);
    for (size_t i = 0; i < l->nargs; i++)
        if (l->args[i].output)
            need(dev_read_arg(device, bound, i, outputs[i], data->buffers[i].n, ds), ds, path);
    dev_unbind(device, bound);
    dev_unload(device, code);
}

static void check_launch(const struct launch_spec *l, struct str text, const char *path)
{
    struct diags ds = { 0 };
    struct launch_data data;
    unsigned outputs_seen = 0;
    uint8_t **outputs = base_alloc(l->nargs * sizeof *outputs);
    need(launch_data_make(l, MAX_BYTES, &data, &ds), &ds, path);
    for (size_t i = 0; i < l->nargs; i++)
        outputs[i] = l->args[i].output ? base_alloc(data.buffers[i].n) : NULL;
    run_device(l, &data, text, path, outputs, &ds);
    if (!ref_run(l, &data))
        fail_msg("%s: no reference", l->kernel);
    for (size_t i = 0; i < l->nargs; i++) {
        if (outputs[i])
            compare(l, i, launch_buffer_bytes(&data.buffers[i]), outputs[i], data.buffers[i].n);
        outputs_seen += outputs[i] != NULL;
        base_free(outputs[i]);
    }
    assert_true(outputs_seen > 0);
    base_free(outputs);
    launch_data_free(&data);
    diags_free(&ds);
}

/* Sizes for a real GPU or for many waves, and the second of two that differ in size alone. */
static bool too_large(const struct launch_spec *l)
{
    return l->name &&
           (!strncmp(l->name, "h200", 4) || !strcmp(l->name, "waves") || !strcmp(l->name, "fits") ||
            (!strcmp(l->kernel, "valley") && strcmp(l->name, "fermi")));
}

static void check_file(const char *launch_path)
{
    struct launch_file f;
    struct diags ds = { 0 };
    char *text = NULL, ptx[512];
    size_t n = 0;
    need(launch_file_read(launch_path, &f, &ds), &ds, launch_path);
    snprintf(ptx, sizeof ptx, "kernels/%s", f.launch[0].ptx);
    need(file_read(ptx, 1u << 20, &text, &n, &ds), &ds, ptx);
    for (size_t i = 0; i < f.n; i++) {
        assert_string_equal(f.launch[i].ptx, f.launch[0].ptx);
        if (!too_large(&f.launch[i]))
            check_launch(&f.launch[i], (struct str){ text, n }, ptx);
    }
    base_free(text);
    launch_file_free(&f);
    diags_free(&ds);
}

static void one_file(void **state)
{
    check_file(*state);
}

static int open_device(void **state)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    (void)state;
    need(dev_open("sim:hopper-h200", &env, &device, &ds), &ds, "device");
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    dev_close(device);
    return 0;
}

/* One test a launch file, so that a failure names it. */
int main(void)
{
    static struct CMUnitTest tests[64];
    size_t n = 0;
    glob_t g;
    if (glob("kernels/*.launch.json", 0, NULL, &g) || !g.gl_pathc)
        return 1;
    for (size_t i = 0; i < g.gl_pathc && n < ARRAY_LEN(tests); i++)
        tests[n++] = (struct CMUnitTest){ g.gl_pathv[i], one_file, NULL, NULL, g.gl_pathv[i] };
    int failed = _cmocka_run_group_tests("kernels", tests, n, open_device, close_device);
    globfree(&g);
    return failed;
}
