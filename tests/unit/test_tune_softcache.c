/* The software cache (paper: softcache): how many lines fit, what the choice inside the kernel finds,
 * and line size, sample and choosing again. */
#include "tests/unit/tune_support.h"

/* CLN = free shared memory / resident threads / 16, residency by registers too. 4 CTAs of 256 threads
 * share 48 KB: 3 lines; 5 CTAs: 2; backprop keeps 1092 bytes of each of its 5 CTAs' own: 2. */
static const struct {
    const char *kernel, *launch, *said;
} fits[] = {
    { "kmeans", "default", "3 lines of 16 bytes per thread fit into the shared memory that 4 CTAs" },
    { "gesummv", "default", "3 lines of 16 bytes per thread fit into the shared memory that 4 CTAs" },
    { "syrk", "default", "3 lines of 16 bytes per thread fit into the shared memory that 4 CTAs" },
    { "atax", "default", "2 lines of 16 bytes per thread fit into the shared memory that 5 CTAs" },
    { "backprop", NULL, "2 lines of 16 bytes per thread fit into the shared memory that 5 CTAs" },
};

static struct result tried(const char *kernel, const char *launch, const char *device, const char *line)
{
    struct rig r;
    struct result res;
    struct options o = options_of(line);
    rig_open(&r, kernel, launch, device);
    assert_status_ok(tune_run_one(r.bench, &o, &res, &r.ds), &r.ds);
    rig_close(&r);
    return res;
}

static void assert_said(const struct result *r, const char *text)
{
    if (!strstr(r->message, text))
        fail_msg("'%s' does not say '%s'", r->message, text);
}

static void lines_by_residency(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fits); i++) {
        struct result r = tried(fits[i].kernel, fits[i].launch, "sim:fermi-16k", "--softcache 9");
        assert_int_equal(r.status, ST_REFUSED);
        assert_said(&r, fits[i].said);
    }
}

/* With 48 KB of L1 an SM has 16 KB for 1280 threads. */
static void lines_by_the_split(void **state)
{
    (void)state;
    struct result r = tried("softcache_stream", NULL, "sim:fermi-48k", "--softcache 1");
    assert_int_equal(r.status, ST_REFUSED);
    assert_said(&r, "CLN = 0): 16384 bytes");
    r = tried("softcache_stream", NULL, "sim:fermi-48k", "--softcache 2 --carveout 100");
    assert_int_equal(r.status, ST_OK);
}

static double hits_of(const struct result *r)
{
    const char *at = strstr(r->message, "software cache: ");
    return at ? strtod(at + strlen("software cache: "), NULL) : NAN;
}

/* Inside the kernel the same structures hit as with the choice made before. */
static void dynamic_hits(void **state)
{
    static const char *const kernels[] = { "gesummv", "gemm", "softcache_stream" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
        const char *launch = strcmp(kernels[i], "softcache_stream") ? "default" : NULL;
        struct result r = tried(kernels[i], launch, "sim:fermi-16k", "--softcache dynamic");
        assert_int_equal(r.status, ST_OK);
        assert_int_equal(r.equal, EQUAL_YES);
        if (!(hits_of(&r) > 30))
            fail_msg("%s: %s", kernels[i], r.message);
        assert_said(&r, "monitoring 1");
    }
}

/* 300 accesses, the paper's sample, is more than a thread of this launch makes. */
static void the_sample_can_be_set(void **state)
{
    (void)state;
    struct result r =
        tried("kmeans", "default", "sim:fermi-16k", "--softcache dynamic --softcache-sample 300");
    assert_true(hits_of(&r) == 0);
    assert_said(&r, "monitoring 100.00 %");
    r = tried("kmeans", "default", "sim:fermi-16k", "--softcache dynamic --softcache-sample 8");
    assert_true(hits_of(&r) > 63);
}

/* A longer line hits more often: 4-byte words one after another hit 1 - 4/line of the time. */
static void lines_of_each_size(void **state)
{
    static const struct {
        const char *line;
        double hits;
    } v[] = { { "--softcache 1 --softcache-data A --softcache-line 8", 50 },
              { "--softcache 1 --softcache-data A", 75 },
              { "--softcache 1 --softcache-data A --softcache-line 32", 87.5 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct result r = tried("gemm", "default", "sim:fermi-16k", v[i].line);
        assert_int_equal(r.equal, EQUAL_YES);
        assert_float_equal(hits_of(&r), v[i].hits, 0.01);
    }
    struct result r =
        tried("gemm", "default", "sim:fermi-16k", "--softcache 1 --softcache-data A --softcache-line 4");
    assert_int_equal(r.equal, EQUAL_YES);
    assert_float_equal(hits_of(&r), 0, 0.01);
}

static void choosing_again_monitors_more(void **state)
{
    (void)state;
    struct result once = tried("kmeans", "default", "sim:fermi-16k", "--softcache dynamic"),
                  again = tried("kmeans", "default", "sim:fermi-16k",
                                "--softcache dynamic --softcache-again 8");
    const char *a = strstr(once.message, "monitoring "), *b = strstr(again.message, "monitoring ");
    assert_int_equal(again.equal, EQUAL_YES);
    assert_non_null(a);
    assert_non_null(b);
    assert_true(strtod(b + 11, NULL) > 2 * strtod(a + 11, NULL));
    assert_true(hits_of(&again) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_by_residency), cmocka_unit_test(lines_by_the_split),
        cmocka_unit_test(dynamic_hits),       cmocka_unit_test(the_sample_can_be_set),
        cmocka_unit_test(lines_of_each_size), cmocka_unit_test(choosing_again_monitors_more),
    };
    return cmocka_run_group_tests_name("tune: software cache", tests, NULL, NULL);
}
