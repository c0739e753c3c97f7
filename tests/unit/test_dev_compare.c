/* Comparing on the device: the comparison kernel against a loop in C (run by the simulated device), and
 * that the CUDA device reads an output back only when no launch left the same bytes before. */
#include "engine/dev/cuda/cuda_int.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* several CTAs of 256 threads with 16 bytes each, and more than one round of 2 CTAs */
#define BYTES 40000u

static char *word(const char *s)
{
    return (char *)(uintptr_t)s;
}

/* ---- the kernel ---- */
struct bench {
    struct dev *dev;
    struct dev_code *code;
    struct diags ds;
};

static struct arg_spec bytes_arg(const char *name, char *hex)
{
    return (struct arg_spec){ .kind = ARG_BUFFER,
                              .name = word(name),
                              .elem = ELEM_U8,
                              .count = BYTES,
                              .init = { .kind = INIT_HEX, .text = hex } };
}

static struct arg_spec u64_arg(const char *name, uint64_t v)
{
    struct arg_spec a = { .kind = ARG_SCALAR, .name = word(name), .elem = ELEM_U64 };
    memcpy(a.scalar, &v, sizeof v);
    return a;
}

static char *hex_of(const uint8_t *p)
{
    static const char digit[] = "0123456789abcdef";
    char *s = calloc(2, BYTES + 1);
    for (size_t i = 0; s && i < BYTES; i++) {
        s[2 * i] = digit[p[i] >> 4];
        s[2 * i + 1] = digit[p[i] & 15];
    }
    return s;
}

static struct cuda_diff by_loop(const uint8_t *a, const uint8_t *b, uint64_t lo, uint64_t hi)
{
    struct cuda_diff d = { 0 };
    for (uint64_t i = 0; i < BYTES; i++) {
        bool in = i >= lo && i < hi;
        if (a[i] == b[i])
            continue;
        d.flags |= in ? CUDA_DIFF_INSIDE : CUDA_DIFF_OUTSIDE;
        if (in && !d.count++)
            d.not_first = ~(i - lo);
    }
    return d;
}

static void compare(struct bench *t, const uint8_t *a, const uint8_t *b, uint64_t lo, uint64_t hi,
                    uint32_t ctas)
{
    char *ha = hex_of(a), *hb = hex_of(b);
    struct arg_spec args[6] = {
        bytes_arg("a", ha),
        bytes_arg("b", hb),
        u64_arg("n", BYTES),
        u64_arg("lo", lo),
        u64_arg("hi", hi),
        { .kind = ARG_BUFFER, .name = word("out"), .elem = ELEM_U64, .count = 3, .output = true }
    };
    struct launch_spec l = { .kernel = word("gpulocw_compare"),
                             .grid = { ctas, 1, 1 },
                             .block = { 256, 1, 1 },
                             .args = args,
                             .nargs = 6 };
    struct launch_data data;
    struct dev_data *bound;
    struct dev_run run = dev_run_default();
    struct result r = result_empty();
    struct cuda_diff got, want = by_loop(a, b, lo, hi);
    assert_int_equal(launch_data_make(&l, 1 << 20, &data, &t->ds), ST_OK);
    assert_int_equal(dev_bind(t->dev, &data, &bound, &t->ds), ST_OK);
    run.launch = &l;
    run.grid = l.grid;
    run.block = l.block;
    run.functional = true;
    assert_int_equal(dev_launch(t->dev, t->code, bound, &run, &r, &t->ds), ST_OK);
    assert_string_equal(r.message, "");
    assert_int_equal(dev_read_arg(t->dev, bound, 5, &got, sizeof got, &t->ds), ST_OK);
    assert_int_equal(got.flags, want.flags);
    assert_int_equal(got.count, want.count);
    assert_int_equal(got.not_first, want.not_first);
    dev_unbind(t->dev, bound);
    launch_data_free(&data);
    free(ha);
    free(hb);
}

static void test_kernel(void **state)
{
    (void)state;
    static uint8_t a[BYTES], b[BYTES];
    struct bench t = { 0 };
    struct dev_env env = fake_env();
    assert_int_equal(dev_open("sim:hopper-h200", &env, &t.dev, &t.ds), ST_OK);
    assert_int_equal(dev_load(t.dev, "compare.ptx", str_of(cuda_compare_ptx()), STR("gpulocw_compare"),
                              0, &t.code, &t.ds),
                     ST_OK);
    for (size_t i = 0; i < BYTES; i++)
        a[i] = b[i] = (uint8_t)(base_splitmix(1, i) & 255);
    compare(&t, a, b, 512, BYTES - 512, 2); /* nothing differs */
    b[511] ^= 1;
    compare(&t, a, b, 512, BYTES - 512, 2); /* only before the range */
    b[BYTES - 512] ^= 128;
    b[512] ^= 1;
    compare(&t, a, b, 512, BYTES - 512, 10); /* both ends of it */
    b[511] ^= 1;
    b[BYTES - 512] ^= 128;
    for (size_t i = 700; i < 20000; i += 1 + base_splitmix(2, i) % 37)
        b[i] ^= (uint8_t)(1 + base_splitmix(3, i) % 255);
    compare(&t, a, b, 512, BYTES - 512, 3); /* many, anywhere in a chunk */
    compare(&t, a, b, 13, 15, 3);           /* a range within one chunk */
    dev_unload(t.dev, t.code);
    dev_close(t.dev);
    diags_free(&t.ds);
}

/* ---- outputs that are not read back ---- */
static long copied_out(void)
{
    return fake_number("libcuda.so.1", "fake_cuda_copied_out");
}

struct rig {
    struct dev *dev;
    struct dev_code *code;
    struct dev_data *bound;
    struct diags ds;
    struct dev_run run;
    struct result r;
};

static long launched(struct rig *g)
{
    long before = copied_out();
    assert_int_equal(dev_launch(g->dev, g->code, g->bound, &g->run, &g->r, &g->ds), ST_OK);
    assert_int_equal(g->r.status, ST_OK);
    assert_int_equal(g->r.noutputs, 1);
    return copied_out() - before;
}

/* conf_symbol writes table[i % 4] + knob: another knob is another output. */
static void test_reference(void **state)
{
    (void)state;
    enum { N = 1 << 16, SMALL = 4096 };
    static uint32_t got[N];
    struct arg_spec arg = {
        .kind = ARG_BUFFER, .name = word("out"), .elem = ELEM_U32, .count = N, .output = true
    };
    struct launch_spec l = { .kernel = word("conf_symbol"),
                             .grid = { N / 256, 1, 1 },
                             .block = { 256, 1, 1 },
                             .args = &arg,
                             .nargs = 1 };
    struct rig g = { .r = result_empty() };
    struct dev_env env = fake_env();
    struct launch_data data;
    char *text;
    size_t n;
    uint32_t knob = 8;
    struct dev_symbol_value set = { "g_knob", 0, &knob, sizeof knob };
    env.in_process = true;
    fake_use("libcuda.so.1", NULL, NULL);
    assert_int_equal(dev_open("cuda:0", &env, &g.dev, &g.ds), ST_OK);
    assert_int_equal(file_read(CONF_PTX, 1 << 20, &text, &n, &g.ds), ST_OK);
    assert_int_equal(launch_data_make(&l, 1 << 20, &data, &g.ds), ST_OK);
    assert_int_equal(
        dev_load(g.dev, CONF_PTX, (struct str){ text, n }, STR("conf_symbol"), 0, &g.code, &g.ds),
        ST_OK);
    assert_int_equal(dev_bind(g.dev, &data, &g.bound, &g.ds), ST_OK);
    g.run = dev_run_default();
    g.run.launch = &l;
    g.run.grid = l.grid;
    g.run.block = l.block;
    g.run.counters = false;
    assert_true(launched(&g) >= 4 * N); /* the first: read and hashed */
    uint64_t first = g.r.outputs[0].hash;
    assert_true(launched(&g) < SMALL); /* the same bytes: known */
    assert_int_equal(g.r.outputs[0].hash, first);
    assert_int_equal(g.r.outputs[0].differ, 0);
    g.run.set = &set;
    g.run.nset = 1;
    assert_true(launched(&g) >= 4 * N); /* others: read and hashed */
    /* 7 and 8 added: the low byte of each word */
    assert_int_equal(g.r.outputs[0].differ, N);
    assert_int_equal(g.r.outputs[0].first, 0);
    assert_int_equal(g.r.outputs[0].other, first);
    assert_int_equal(dev_read_arg(g.dev, g.bound, 0, got, sizeof got, &g.ds), ST_OK);
    assert_int_equal(g.r.outputs[0].hash, base_hash(got, sizeof got));
    g.run.nset = 0;
    assert_true(launched(&g) < SMALL);
    assert_int_equal(g.r.outputs[0].hash, first);
    dev_unbind(g.dev, g.bound);
    dev_unload(g.dev, g.code);
    dev_close(g.dev);
    launch_data_free(&data);
    base_free(text);
    diags_free(&g.ds);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_kernel),
                                        cmocka_unit_test(test_reference) };
    return cmocka_run_group_tests_name("comparison on the device", tests, NULL, NULL);
}
