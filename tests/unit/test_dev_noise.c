/* Verdicts under noise: sweeps over a driver whose launches take what a script says. What is flat stays
 * flat under noise and drift, a valley deeper than the noise is found, more launches are spent where the
 * spread asks for them, and a throttled sample is marked. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev_pool.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"
#include "tests/unit/sweep_one.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define N 16384u
#define W 8u

struct rig {
    struct ptx_module *m;
    struct ana_kernel *facts;
    struct dev *dev;
    struct tune_bench *bench;
    struct dev_pool *pool;
    struct diags ds;
    struct arg_spec args[3];
    struct launch_spec l;
    struct launch_data data;
    char *text;
};

static void rig_open(struct rig *g, const char *script, bool pooled)
{
    static char kernel[] = "conf_f32", in[] = "in", out[] = "out", n[] = "n";
    static const char *const members[] = { "cuda:0", "cuda:1" };
    uint32_t count = N;
    size_t bytes;
    memset(g, 0, sizeof *g);
    char devices[96];
    snprintf(devices, sizeof devices, "devices=2,%s", script);
    fake_use("libcuda.so.1", devices, NULL);
    struct dev_env env = fake_env();
    env.in_process = !pooled;
    g->l = (struct launch_spec){ .kernel = kernel,
                                 .grid = { N / (32 * W), 1, 1 },
                                 .block = { 32 * W, 1, 1 },
                                 .args = g->args,
                                 .nargs = 3 };
    g->args[0] = (struct arg_spec){ .kind = ARG_BUFFER, .name = in, .elem = ELEM_F32, .count = N };
    g->args[1] = (struct arg_spec){
        .kind = ARG_BUFFER, .name = out, .elem = ELEM_F32, .count = N, .output = true
    };
    g->args[2] = (struct arg_spec){ .kind = ARG_SCALAR, .name = n, .elem = ELEM_U32 };
    memcpy(g->args[2].scalar, &count, sizeof count);
    assert_int_equal(file_read(CONF_PTX, 1 << 20, &g->text, &bytes, &g->ds), ST_OK);
    assert_int_equal(ptx_parse(CONF_PTX, (struct str){ g->text, bytes }, &g->m, &g->ds), ST_OK);
    assert_int_equal(launch_data_make(&g->l, 1 << 20, &g->data, &g->ds), ST_OK);
    if (pooled)
        assert_int_equal(dev_pool_open(members, 2, &env, &g->pool, &g->ds), ST_OK);
    else
        assert_int_equal(dev_open("cuda:0", &env, &g->dev, &g->ds), ST_OK);
    assert_true(!pooled || dev_pool_count(g->pool) == 2);
    struct dev *d = pooled ? dev_pool_first(g->pool) : g->dev;
    struct ana_opts o = { .data = &g->data, .dev = dev_describe(d), .quick = true };
    assert_int_equal(ana_run(g->m, STR("conf_f32"), &o, &g->facts, &g->ds), ST_OK);
    struct tune_subject s = { g->m, &g->l, &g->data, d, g->facts };
    struct tune_run_opts r = tune_run_opts_default(dev_describe(d));
    r.counters = false;
    assert_int_equal(tune_bench_open(&s, &r, &g->bench, &g->ds), ST_OK);
    tune_bench_use_pool(g->bench, g->pool);
}

static void rig_close(struct rig *g)
{
    tune_bench_close(g->bench);
    dev_close(g->dev);
    dev_pool_close(g->pool);
    ana_free(g->facts);
    launch_data_free(&g->data);
    ptx_free(g->m);
    base_free(g->text);
    diags_free(&g->ds);
}

static void sweep(struct rig *g, struct tune_sweep *s)
{
    struct options none = options_default();
    assert_int_equal(sweep_one(g->bench, "pi", &none, NULL, NULL, 0, s, &g->ds), ST_OK);
    assert_int_equal(s->npoints, W + 1);
    for (size_t i = 0; i <= W; i++) {
        assert_int_equal(s->points[i].status, ST_OK);
        assert_int_equal(s->points[i].equal, EQUAL_YES);
    }
}

static enum model_category category(const char *script, bool pooled, size_t *best)
{
    struct rig g;
    struct tune_sweep s;
    rig_open(&g, script, pooled);
    sweep(&g, &s);
    enum model_category c = s.curve.category;
    *best = s.best;
    tune_sweep_free(&s);
    rig_close(&g);
    return c;
}

static void test_flat_stays_flat(void **state)
{
    (void)state;
    static const char *const scripts[] = { "base=100000",          "base=100000,noise=5",
                                           "base=100000,noise=15", "base=1000000,noise=3",
                                           "base=100000,spike=7",  "base=100000,noise=10,spike=11" };
    size_t best;
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        for (int pooled = 0; pooled < 2; pooled++)
            if (category(scripts[i], pooled, &best) != CATEGORY_CACHE_INSENSITIVE)
                fail_msg("%s, %s: a flat curve has a best at %zu", scripts[i], pooled ? "pool" : "alone",
                         best);
}

/* A whole sweep of a hundred launches gets slower by a third from the first to the last: forwards alone,
 * bpa would win. */
static void test_drift_falls_on_all(void **state)
{
    (void)state;
    size_t best;
    assert_int_equal(category("base=100000,drift=5", false, &best), CATEGORY_CACHE_INSENSITIVE);
}

static void test_valley_is_found(void **state)
{
    (void)state;
    static const char *const scripts[] = { "base=100000,valley=3", "base=100000,valley=3,noise=5",
                                           "base=100000,valley=3,drift=1",
                                           "base=100000,valley=3,spike=9",
                                           "base=100000,valley=3,noise=10,spike=13" };
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++)
        for (int pooled = 0; pooled < 2; pooled++) {
            size_t best = 0;
            enum model_category c = category(scripts[i], pooled, &best);
            if (c != CATEGORY_CACHE_CONGESTED || best != 3)
                fail_msg("%s, %s: %s, best at %zu", scripts[i], pooled ? "pool" : "alone",
                         model_category_name(c), best);
        }
}

/* Launches go on until the spread is small or the budget is spent. */
static void test_budget(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        uint32_t least, most;
    } rows[] = { { "base=100000", 5, 5 },
                 { "base=100000,noise=2", 5, 5 },
                 { "base=100000,noise=20", 30, 30 } };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig g;
        struct result r;
        struct options none = options_default();
        rig_open(&g, rows[i].script, false);
        assert_int_equal(tune_run_one(g.bench, &none, &r, &g.ds), ST_OK);
        assert_in_range(r.time.n, rows[i].least, rows[i].most);
        assert_true(r.time.min <= r.time.median);
        assert_true(r.time.median <= r.time.max);
        rig_close(&g);
    }
}

static void test_throttled_is_marked(void **state)
{
    (void)state;
    struct rig g;
    struct tune_sweep s;
    setenv("FAKE_NVML", "0x40", 1);
    rig_open(&g, "base=100000", false);
    sweep(&g, &s);
    for (size_t i = 0; i <= W; i++)
        assert_true(s.points[i].time.throttled);
    tune_sweep_free(&s);
    rig_close(&g);
    unsetenv("FAKE_NVML");
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat_stays_flat),     cmocka_unit_test(test_drift_falls_on_all),
        cmocka_unit_test(test_valley_is_found),     cmocka_unit_test(test_budget),
        cmocka_unit_test(test_throttled_is_marked),
    };
    return cmocka_run_group_tests_name("verdicts under noise", tests, NULL, NULL);
}
