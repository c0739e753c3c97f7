/* What the assembler moves or folds: exchanges between lanes, signs, products with A in registers. */
#include "tests/unit/sim_support.h"

#include <math.h>
#include <stdio.h>

#define HEAD                                                                                        \
    ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"         \
    ".reg .b32 %r<9>; .reg .b32 %q<9>; .reg .f32 %f<40>; .reg .b64 %d<8>; .reg .pred %p<3>;\n"      \
    ".shared .align 1024 .b8 room[32768];\n"                                                        \
    "ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d1, %d2; " \
    "mov.u32 %r4, 0; mov.u32 %r5, 7; mov.u32 %q1, %r1; mov.u32 %q2, %r1; cvt.rn.f32.u32 %f1, %r1; " \
    "mov.f32 %f2, %f1; mov.u32 %r7, room; cvt.u64.u32 %d3, %r7; shr.u64 %d3, %d3, 4; or.b64 %d3, "  \
    "%d3, 0x4000004000010000; mov.f32 %f3, 0f3F800000;\n"                                           \
    "L: .pragma \"nounroll\"; "
#define TAIL                                                                                         \
    " add.u32 %%r4, %%r4, 1; setp.lt.u32 %%p1, %%r4, %u; @%%p1 bra L;\nadd.u32 %%q1, %%q1, %%q2; "   \
    "add.f32 %%f1, %%f1, %%f2; cvt.rzi.u32.f32 %%r6, %%f1; add.u32 %%q1, %%q1, %%r6; st.global.u32 " \
    "[%%d2], %%q1; ret;\n}\n"

static double cycles_of(const char *body, unsigned turns, uint32_t threads)
{
    char text[12000], tail[400];
    snprintf(tail, sizeof tail, TAIL, turns);
    snprintf(text, sizeof text, "%s%s%s", HEAD, body, tail);
    return sim_text_cycles(text, 1, threads, NULL);
}

/* Of one turn of a loop with the body. */
static double turn(const char *body, uint32_t threads)
{
    return (cycles_of(body, 300, threads) - cycles_of(body, 100, threads)) / 200;
}

static void near(const char *what, double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s takes %.1f cycles, not %.1f", what, got, want);
}

/* Two chains of exchanges, one written behind the other, run side by side. */
static void test_exchanges_overlap(void **state)
{
    (void)state;
#define STEP(r, to) "shfl.sync.bfly.b32 " to ", " r ", 1, 31, -1; max.u32 " r ", " r ", " to "; "
    double none = turn("", 32), one = turn(STEP("%q1", "%r6") STEP("%q1", "%r6") STEP("%q1", "%r6"), 32),
           both = turn(STEP("%q1", "%r6") STEP("%q1", "%r6") STEP("%q1", "%r6") STEP("%q2", "%q3")
                           STEP("%q2", "%q3") STEP("%q2", "%q3"),
                       32);
    assert_true(one > none && one > 3 * 23);
    if (!(both < 1.3 * one))
        fail_msg("two chains take %.1f cycles, one %.1f", both, one);
}

/* A sign is part of what reads it; one of a whole number is an instruction. */
static void test_signs(void **state)
{
    (void)state;
#define FOUR(x)    x x x x
#define SIXTEEN(x) FOUR(FOUR(x))
    near("fma of a sign", turn(SIXTEEN("neg.f32 %f2, %f1; fma.rn.f32 %f1, %f2, %f3, %f3; "), 32),
         turn(SIXTEEN("fma.rn.f32 %f1, %f1, %f3, %f3; "), 32), 0.1);
    assert_true(turn(SIXTEEN("neg.s32 %q2, %q1; xor.b32 %q1, %q2, 3; "), 32) >
                turn(SIXTEEN("xor.b32 %q1, %q1, 3; "), 32) + 32);
}

/* Eight products of 64 columns, waited for together: 39.5 and 42.6 cycles each on an H100. */
static void test_products_of_registers(void **state)
{
    (void)state;
    char text[2][8000], sums[300] = "";
    for (int i = 0; i < 32; i++)
        snprintf(sums + strlen(sums), sizeof sums - strlen(sums), "%s%%f%d", i ? "," : "", 8 + i);
    for (int k = 0; k < 2; k++) {
        size_t n = (size_t)snprintf(text[k], sizeof text[k], "wgmma.fence.sync.aligned; ");
        for (int i = 0; i < 8; i++)
            n += (size_t)snprintf(
                text[k] + n, sizeof text[k] - n,
                "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%s}, %s, %%d3, 1, 1, "
                "1%s;\n",
                sums, k ? "{%r5,%r5,%r5,%r5}" : "%d3", k ? ", 0" : ", 0, 0");
        snprintf(text[k] + n, sizeof text[k] - n,
                 "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; ");
    }
    double memory = turn(text[0], 128) / 8, registers = turn(text[1], 128) / 8;
    near("a product with A in shared memory", memory, 39.5, 4);
    near("a product with A in registers", registers, 42.6, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exchanges_overlap),
                                        cmocka_unit_test(test_signs),
                                        cmocka_unit_test(test_products_of_registers) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
