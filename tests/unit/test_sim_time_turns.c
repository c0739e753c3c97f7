/* Which CTA of an SM gets on when shared memory is what all wait for: on an H200 the oldest. Eight CTAs
 * read one word of shared memory per lane, all in one bank; each notes its SM and when it is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support.h"
#include "tests/unit/sim_job.h"

#define CTAS 8

static const char body[] =
    ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.shared .align "
    "4 .b8 s[4096];\n"
    ".reg .b64 %rd<9>;\n.reg .b32 %r<20>;\n.reg .pred %p<3>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, "
    "%tid.x;\nand.b32 %r2, %r1, 31;\n"
    "shl.b32 %r3, %r2, 7;\nmov.u32 %r4, s;\nadd.u32 %r4, %r4, %r3;\nmov.u32 %r5, 0;\nst.shared.u32 "
    "[%r4], %r5;\nbar.sync 0;\n"
    "L:\nld.volatile.shared.u32 %r6, [%r4];\nld.volatile.shared.u32 %r7, [%r4];\nld.volatile.shared.u32 "
    "%r8, [%r4];\n"
    "ld.volatile.shared.u32 %r9, [%r4];\nadd.u32 %r10, %r6, %r7;\nadd.u32 %r11, %r8, %r9;\nadd.u32 %r5, "
    "%r5, %r10;\nadd.u32 %r5, %r5, %r11;\n"
    "add.u32 %r5, %r5, 1;\nsetp.lt.u32 %p1, %r5, 24;\n@%p1 bra L;\n"
    "mov.u64 %rd2, %clock64;\nmov.u32 %r12, %smid;\nmov.u32 %r13, %ctaid.x;\nmul.wide.u32 %rd3, %r13, "
    "16;\nadd.s64 %rd3, %rd1, %rd3;\n"
    "cvt.u64.u32 %rd4, %r12;\nst.global.u64 [%rd3], %rd2;\nst.global.u64 [%rd3+8], %rd4;\nret;\n}\n";

/* When the CTAs of SM 0 were done, oldest first; the number of them. */
static size_t done_on_sm(int64_t policy, uint64_t *at)
{
    static struct arg_spec a = { .kind = ARG_BUFFER, .elem = ELEM_U64, .output = true };
    static struct launch_spec l;
    struct job j;
    size_t n = 0;
    memset(&j, 0, sizeof j);
    a.name = (char *)(uintptr_t) "a";
    a.count = 2 * CTAS * 132;
    l = (struct launch_spec){ .kernel = (char *)(uintptr_t) "k",
                              .grid = { CTAS * 132, 1, 1 },
                              .block = { 256, 1, 1 },
                              .args = &a,
                              .nargs = 1 };
    j.l = &l;
    job_open_text(&j, "hopper-h200", str_of(body));
    struct diags ds = { 0 };
    sim_unload(j.prog);
    j.preset.scheduler_policy = policy;
    assert_status_ok(sim_load(j.m, str_of("k"), &j.preset, j.mem, &j.prog, &ds), &ds);
    diags_free(&ds);
    struct sim_launch launch = job_launch(&j);
    launch.exact = true;
    struct sim_stats s = job_run(&j, &launch);
    const uint64_t *v = (const uint64_t *)(const void *)sim_mem_host(j.mem, j.addr[0], a.count * 8);
    for (size_t i = 0; i < (size_t)CTAS * 132; i++)
        if (v[2 * i + 1] == 0 && n < CTAS)
            at[n++] = v[2 * i];
    sim_stats_free(&s);
    job_close(&j);
    return n;
}

/* Measured on an H200 with 64 rounds: the first two of eight end at 0.37 of the time, each later one
 * after the one before. */
static void test_oldest_cta_first(void **state)
{
    (void)state;
    uint64_t at[CTAS];
    assert_int_equal(done_on_sm(2, at), CTAS);
    for (size_t i = 1; i < CTAS; i++)
        assert_true(at[i] + at[CTAS - 1] / 50 >= at[i - 1]);
    assert_true(at[0] < at[CTAS - 1] / 2);
    assert_true(at[1] < at[CTAS - 1] / 2);
}

static void test_in_turn_all_wait(void **state)
{
    (void)state;
    uint64_t first[CTAS], turn[CTAS];
    assert_int_equal(done_on_sm(2, first), CTAS);
    assert_int_equal(done_on_sm(1, turn), CTAS);
    assert_true(2 * turn[0] > 3 * first[0]);
    assert_true(turn[CTAS - 1] < first[CTAS - 1] + first[CTAS - 1] / 20);
    assert_true(first[CTAS - 1] < turn[CTAS - 1] + turn[CTAS - 1] / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_oldest_cta_first),
                                        cmocka_unit_test(test_in_turn_all_wait) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
