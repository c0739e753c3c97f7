/* What a launch takes on a GPU does not hold what the host takes to queue it. The fake driver's GPU
 * waits LATE ns for a launch that does not stand behind a shut gate. */
#include "engine/rec/result.h"

#include "tests/unit/dev_scene.h"

#define N    8192u
#define LATE 7000 /* ns, as in the scripts below */

/* The median of a launch, in ns; sets: values written before each launch; *count: gates that were shut.
 */
static int64_t timed(const char *driver, const char *script, size_t sets, bool flush, long *count)
{
    static const uint32_t value = 7;
    static struct dev_symbol_value set[2000];
    struct scene_rig g;
    scene_rig_open(&g, "cuda:0", driver, script, N);
    struct dev_run run = scene_run(&g.s);
    for (size_t i = 0; i < sets; i++)
        set[i] = (struct dev_symbol_value){ "g_knob", 0, &value, sizeof value };
    run.set = set;
    run.nset = sets;
    run.flush_l2 = flush;
    run.counters = false;
    g.r = result_empty();
    assert_int_equal(dev_launch(g.dev, g.code, g.bound, &run, &g.r, &g.s.ds), ST_OK);
    assert_string_equal(g.r.message, "");
    assert_int_equal(g.r.status, ST_OK);
    assert_true(g.r.time.valid);
    int64_t median = g.r.time.median;
    *count = fake_number(driver, "fake_cuda_gates");
    scene_rig_close(&g);
    return median;
}

static void the_host_is_not_timed(void **state)
{
    static const struct {
        const char *driver, *script;
        size_t sets;
        bool flush, gate;
    } table[] = {
        { "libcuda.so.1", "late=7000", 0, false, true },
        { "libcuda.so.1", "late=7000", 0, true, true }, /* what is flushed is allocated before */
        { "libcuda.so.1", "late=7000", 1, false, true },
        { "libcuda.so.1", "late=7000", 60, false, true },    /* few launches fit behind one gate */
        { "libcuda.so.1", "late=7000", 2000, false, false }, /* not one does */
        { "libcuda.so.1", "late=7000,nogate", 0, false, false },
        { "libcuda-old.so", "late=7000", 0, false, false },
        /* so long that each launch is waited for */
        { "libcuda.so.1", "base=50000,late=7000", 0, true, true },
        { "libcuda.so.1", "base=50000,late=7000,nogate", 0, true, false },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const char *base = strstr(table[i].script, "base=50000") ? "base=50000" : NULL;
        long count;
        int64_t alone = timed("libcuda.so.1", base, 0, false, &count);
        int64_t t = timed(table[i].driver, table[i].script, table[i].sets, table[i].flush, &count);
        assert_int_equal(t, alone + (table[i].gate ? 0 : LATE));
        assert_int_equal(count > 0, table[i].gate);
    }
}

/* CUDA_LAUNCH_BLOCKING and the like: nothing hangs, and gates are given up. */
static void launches_that_wait(void **state)
{
    long count;
    (void)state;
    int64_t alone = timed("libcuda.so.1", NULL, 0, false, &count);
    assert_true(count > 3);
    assert_int_equal(timed("libcuda.so.1", "blocking", 0, false, &count), alone);
    assert_int_equal(count, 3);
}

/* A launch that fails leaves no gate shut: the next one runs. */
static void a_failure_opens_it(void **state)
{
    struct scene_rig g;
    (void)state;
    scene_rig_open(&g, "cuda:0", "libcuda.so.1", "late=7000", N);
    struct dev_run run = scene_run(&g.s);
    struct dev_symbol_value bad = { "no_such_variable", 0, "abcd", 4 };
    run.counters = false;
    run.zero = &bad;
    run.nzero = 1;
    for (int i = 0; i < 2; i++) {
        g.r = result_empty();
        enum status st = dev_launch(g.dev, g.code, g.bound, &run, &g.r, &g.s.ds);
        assert_int_equal(i ? ST_OK : ST_INPUT, st);
        run.nzero = 0;
    }
    assert_int_equal(g.r.status, ST_OK);
    scene_rig_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(the_host_is_not_timed),
                                        cmocka_unit_test(launches_that_wait),
                                        cmocka_unit_test(a_failure_opens_it) };
    return cmocka_run_group_tests_name("the gate of timed launches", tests, NULL, NULL);
}
