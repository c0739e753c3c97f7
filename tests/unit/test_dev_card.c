/* Launches from memory: buffers of the caller's, several launches and kernels on one state. */
#include "engine/base/base.h"
#include "engine/dev/card.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/preset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#define BASE      0x200000000000ull
#define VARIABLES 0x300000000000ull

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 count = 5;\n.visible .const .align 4 .u32 step = 2;\n"
    ".func (.reg .b32 r) one(.reg .b32 a) { add.u32 r, a, 1; ret; }\n"
    ".func (.reg .b32 r) ten(.reg .b32 a) { add.u32 r, a, 10; ret; }\n"
    ".visible .global .align 8 .u64 table[2] = {one, ten};\n"
    ".visible .entry fill(.param .u64 p) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"
    "st.global.u32 [%rd3], %r1; ret; }\n"
    ".visible .entry bump() { .reg .b32 %r<4>; ld.const.u32 %r1, [step]; atom.global.add.u32 %r2, "
    "[count], %r1; ret; }\n"
    ".visible .entry call(.param .u64 f, .param .u64 p) { .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [f]; ld.param.u64 %rd2, [p]; mov.u32 %r1, 7;\n"
    "proto: .callprototype (.reg .b32 _) _ (.reg .b32 _); call (%r2), %rd1, (%r1), proto; st.global.u32 "
    "[%rd2], %r2; ret; }\n"
    ".visible .entry odd(.param .u64 p) { .reg .b64 %rd<4>; ld.param.u64 %rd1, [p]; st.global.u32 "
    "[%rd1+64], 1; ret; }\n";

static struct card *card;
static struct card_code *code;

static int set_up(void **state)
{
    struct diags ds = { 0 };
    struct sim_preset p = sim_preset_default();
    struct ptx_module *m = NULL;
    (void)state;
    assert_int_equal(card_new(&p, VARIABLES, 2, &card, &ds), ST_OK);
    assert_int_equal(ptx_parse("card.ptx", str_of(text), &m, &ds), ST_OK);
    assert_int_equal(card_load(card, m, &code), ST_OK);
    diags_free(&ds);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    card_free(card);
    return 0;
}

static enum status launch(const char *name, unsigned threads, const void *params, size_t n)
{
    struct diags ds = { 0 };
    struct card_kernel *k;
    struct sim_stats stats = { 0 };
    const struct card_launch l = {
        .grid = { 1, 1, 1 }, .block = { threads, 1, 1 }, .carveout = -1, .params = params, .nparams = n
    };
    enum status st = card_kernel(code, str_of(name), &k, &ds);
    if (st == ST_OK)
        st = card_launch(k, &l, &stats, &ds);
    sim_stats_free(&stats);
    diags_free(&ds);
    return st;
}

static uint32_t variable(const char *name, uint64_t *addr)
{
    struct diags ds = { 0 };
    uint64_t n;
    uint32_t v;
    assert_true(card_variable(code, str_of(name), addr, &n, &ds));
    memcpy(&v, sim_mem_host(card_memory(card), *addr, 4), 4);
    diags_free(&ds);
    return v;
}

static void a_launch_writes_the_callers_memory(void **state)
{
    uint32_t mine[64] = { 9 };
    uint64_t p = BASE + 4096;
    (void)state;
    assert_true(sim_mem_lend(card_memory(card), p, sizeof mine, "mine",
                             &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
    assert_int_equal(launch("fill", 64, &p, 8), ST_OK);
    assert_int_equal(mine[0], 0);
    assert_int_equal(mine[63], 63);
    assert_int_equal(sim_mem_release(card_memory(card), p), ST_OK);
    assert_int_equal(launch("fill", 64, &p, 8), ST_DEVICE); /* it is lent no more */
}

static void memory_of_a_file_is_seen_through_other_mappings(void **state)
{
    int f = memfd_create("test", 0);
    uint64_t p = BASE;
    (void)state;
    assert_int_equal(ftruncate(f, 8192), 0);
    uint8_t *a = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
    uint32_t *b = mmap(NULL, 4096, PROT_READ, MAP_SHARED, f, 4096);
    assert_true(
        sim_mem_lend(card_memory(card), p, 4096, "page", &(struct sim_pages){ a + 4096, f, 4096 }));
    assert_int_equal(launch("fill", 32, &p, 8), ST_OK);
    assert_int_equal(b[31], 31);
    munmap(a, 8192);
    munmap(b, 4096);
    close(f);
}

static void variables_stay_for_the_next_kernel(void **state)
{
    uint64_t at, again, p = BASE;
    uint32_t mine[64];
    (void)state;
    assert_int_equal(variable("count", &at), 5);
    assert_true(at >= VARIABLES);
    assert_int_equal(launch("bump", 1, NULL, 0), ST_OK);
    assert_true(sim_mem_lend(card_memory(card), p, sizeof mine, "mine",
                             &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
    assert_int_equal(launch("fill", 64, &p, 8), ST_OK);
    assert_int_equal(launch("bump", 1, NULL, 0), ST_OK);
    assert_int_equal(variable("count", &again), 9);
    assert_int_equal(at, again);
}

static void function_pointers_mean_the_same_in_every_kernel(void **state)
{
    uint64_t table, p[2] = { 0, BASE };
    uint32_t mine[1] = { 0 };
    (void)state;
    variable("table", &table);
    assert_true(sim_mem_lend(card_memory(card), BASE, sizeof mine, "mine",
                             &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
    for (int i = 0; i < 2; i++) {
        memcpy(&p[0], sim_mem_host(card_memory(card), table + 8 * (uint64_t)i, 8), 8);
        assert_int_equal(launch("call", 1, p, sizeof p), ST_OK);
        assert_int_equal(mine[0], i ? 17 : 8);
    }
    p[0] += 16 * 100;
    assert_int_equal(launch("call", 1, p, sizeof p), ST_DEVICE);
}

static void memory_is_put_back(void **state)
{
    uint64_t at, p = BASE;
    uint32_t mine[64] = { 77 };
    (void)state;
    assert_true(sim_mem_lend(card_memory(card), p, sizeof mine, "mine",
                             &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
    assert_int_equal(launch("bump", 1, NULL, 0), ST_OK);
    struct card_state *s = card_save(card);
    assert_non_null(s);
    assert_int_equal(launch("bump", 1, NULL, 0), ST_OK);
    assert_int_equal(launch("fill", 64, &p, 8), ST_OK);
    card_restore(card, s);
    assert_int_equal(mine[0], 77);
    assert_int_equal(variable("count", &at), 7);
}

static void a_faulting_kernel_leaves_the_card_usable(void **state)
{
    uint64_t p = BASE;
    uint32_t mine[4] = { 0 };
    (void)state;
    assert_true(sim_mem_lend(card_memory(card), p, sizeof mine, "mine",
                             &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
    assert_int_equal(launch("odd", 1, &p, 8), ST_DEVICE);
    assert_int_equal(launch("none", 1, &p, 8), ST_INPUT);
    assert_int_equal(launch("fill", 4, &p, 8), ST_OK);
    assert_int_equal(mine[3], 3);
    assert_false(sim_mem_lend(card_memory(card), p + 8, 8, "over",
                              &(struct sim_pages){ (uint8_t *)mine, -1, 0 }));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = { T(a_launch_writes_the_callers_memory),
                                        T(memory_of_a_file_is_seen_through_other_mappings),
                                        T(variables_stay_for_the_next_kernel),
                                        T(function_pointers_mean_the_same_in_every_kernel),
                                        T(memory_is_put_back),
                                        T(a_faulting_kernel_leaves_the_card_usable) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
