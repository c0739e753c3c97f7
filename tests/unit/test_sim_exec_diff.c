/* Generated PTX programs run on the simulated device and on the scalar interpreter of tests/ref;
 * every register of every thread must come out the same. The seed of a program that differs is in
 * the message (lane kernels alternate with it): GPULOCW_DIFF_SEED=n runs it alone and prints it,
 * GPULOCW_DIFF_COUNT sets how many. */
#include "tests/unit/sim_support.h"

#include "tests/ref/gen.h"
#include "tests/ref/interp.h"

static void check_seed(struct gen *g, uint64_t seed, const char *row, bool show)
{
    static uint8_t other[GEN_BYTES];
    struct sim_case c;
    char why[200];
    uint64_t where = 0;
    g->wide = g->locks = seed % 4 == 3;
    buf_clear(&g->b);
    buf_puts(&g->b, GEN_HEAD);
    gen_program(g, seed, row, "k");
    if (show)
        fputs(g->b.s, stderr);
    sim_case_open_with(&c, g->b.s, "k", GEN_BYTES, (unsigned)(seed % 3));
    gen_data(g, seed, c.data);
    memcpy(other, c.data, GEN_BYTES);
    c.l.block.x = GEN_BLOCK;
    sim_case_run(&c);
    if (c.st != ST_OK) {
        sim_case_print(&c);
        fail_msg("seed %llu: the device refused", (unsigned long long)seed);
    }
    struct interp_launch l = {
        ptx_find_func(c.m, STR("k")), GEN_BLOCK, c.params, c.addr, other, GEN_BYTES, 1000000
    };
    if (!interp_run(&l, why, sizeof why))
        fail_msg("seed %llu: the interpreter refused: %s", (unsigned long long)seed, why);
    if (!gen_same(c.data, other, &where)) {
        uint32_t a, b;
        memcpy(&a, c.data + where, 4);
        memcpy(&b, other + where, 4);
        fail_msg("seed %llu%s%s: thread %llu, result byte %llu: device %08x, interpreter %08x",
                 (unsigned long long)seed, row ? ", " : "", row ? row : "",
                 (unsigned long long)where / GEN_OUT_BYTES, (unsigned long long)where % GEN_OUT_BYTES, a,
                 b);
    }
    sim_case_close(&c);
}

static void each_operation(void **state)
{
    (void)state;
    struct gen g = { 0 };
    if (getenv("GPULOCW_DIFF_SEED"))
        skip();
    for (size_t k = 0; k < gen_rows(); k++)
        for (uint64_t seed = 0; seed < 4; seed++)
            check_seed(&g, 1000000 + seed, gen_row(k), false);
    buf_free(&g.b);
}

static void random_programs(void **state)
{
    (void)state;
    struct gen g = { 0 };
    const char *one = getenv("GPULOCW_DIFF_SEED"), *count = getenv("GPULOCW_DIFF_COUNT");
    if (one) {
        check_seed(&g, strtoull(one, NULL, 10), NULL, true);
    } else {
        uint64_t n = count ? strtoull(count, NULL, 10) : 2000;
        for (uint64_t seed = 1; seed <= n; seed++)
            check_seed(&g, seed, NULL, false);
    }
    buf_free(&g.b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_operation),
                                        cmocka_unit_test(random_programs) };
    return cmocka_run_group_tests_name("sim exec against the scalar interpreter", tests, NULL, NULL);
}
