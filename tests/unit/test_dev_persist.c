/* A part of L2 set aside for one buffer: what the driver is told while a kernel runs, that all of it is
 * undone, and who refuses. The fake driver's device can set 16 KiB aside. */
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"

#include "tests/unit/dev_scene.h"

#include <dlfcn.h>

#define N 8192u /* 32 KiB: twice what can be set aside */

/* As the command line would ask: the text of the option, parsed. */
static enum status launch(struct scene_rig *g, const char *text)
{
    struct dev_run run = scene_run(&g->s);
    struct options o = options_default();
    assert_int_equal(knob_set(&o, (size_t)knob_find(STR("l2-persist")), str_of(text), &g->s.ds), ST_OK);
    options_l2_persist(&o, &run.persist, &run.persist_fraction);
    run.counters = false;
    g->r = result_empty();
    return dev_launch(g->dev, g->code, g->bound, &run, &g->r, &g->s.ds);
}

static void windows(long ran[3], long now[3])
{
    void *library = dlopen(fake_path("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL);
    void (*f)(long *, long *);
    void *p = library ? dlsym(library, "fake_cuda_window") : NULL;
    assert_non_null(p);
    memcpy(&f, &p, sizeof f);
    f(ran, now);
    dlclose(library);
}

static void ran_with(struct scene_rig *g, const char *text, long limit, long bytes, long percent)
{
    long ran[3], now[3];
    assert_int_equal(launch(g, text), ST_OK);
    assert_string_equal(g->r.message, "");
    assert_int_equal(g->r.status, ST_OK);
    windows(ran, now);
    assert_int_equal(ran[0], limit);
    assert_int_equal(ran[1], bytes);
    assert_int_equal(ran[2], percent);
    for (int i = 0; i < 3; i++)
        assert_int_equal(now[i], 0); /* nothing stays */
}

static void test_set_and_undone(void **state)
{
    (void)state;
    struct scene_rig g;
    scene_rig_open(&g, "cuda:0", "libcuda.so.1", NULL, N);
    assert_int_equal(dev_describe(g.dev)->l2_persist_bytes, 1 << 14);
    ran_with(&g, "off", 0, 0, 0);
    ran_with(&g, "buf", 1 << 14, 4 * N, 50); /* half of its lines fit */
    ran_with(&g, "buf:0.25", N, 4 * N, 25);
    ran_with(&g, "buf:1", 1 << 14, 4 * N, 100); /* the user insists */
    assert_int_equal(launch(&g, "moon"), ST_INPUT);
    assert_int_equal(launch(&g, "add"), ST_INPUT);
    ran_with(&g, "off", 0, 0, 0);
    scene_rig_close(&g);
}

static void refused(const char *spec, const char *driver)
{
    struct scene_rig g;
    scene_rig_open(&g, spec, driver, NULL, N);
    assert_int_equal(launch(&g, "buf"), ST_OK);
    assert_int_equal(g.r.status, ST_REFUSED);
    assert_non_null(strstr(g.r.message, dev_describe(g.dev)->name));
    assert_non_null(strstr(g.r.message, "set aside"));
    assert_int_equal(launch(&g, "off"), ST_OK);
    assert_int_equal(g.r.status, ST_OK);
    scene_rig_close(&g);
}

static void test_refused(void **state)
{
    (void)state;
    refused("cuda:0", "libcuda-old.so");
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const bad[] = { "a:0", "a:1.5", "a:x", ":0.5", "a:", "a:0.5x" };
    struct options o = options_default();
    struct diags ds = { 0 };
    struct buf line = { 0 };
    size_t knob = (size_t)knob_find(STR("l2-persist"));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(knob_set(&o, knob, str_of(bad[i]), &ds), ST_USAGE);
    assert_true(knob_is_default(&o, knob));
    assert_int_equal(knob_set(&o, knob, STR("x:0.5"), &ds), ST_OK);
    options_line(&o, &line);
    assert_string_equal(line.s, "--l2-persist x:0.5");
    assert_int_equal(knob_set(&o, knob, STR("off"), &ds), ST_OK);
    assert_true(knob_is_default(&o, knob));
    buf_free(&line);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_set_and_undone),
                                        cmocka_unit_test(test_refused), cmocka_unit_test(test_texts) };
    return cmocka_run_group_tests_name("a part of L2 for one buffer", tests, NULL, NULL);
}
