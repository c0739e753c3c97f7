/* Atomics of many SMs at once: on one word the old value costs nothing, and a sample tells words that
 * all SMs ask for from lines that each warp has for itself. */
#include "tests/unit/sim_support.h"

#include <stdio.h>

#define TURNS "64"
#define CTAS  264u
#define BLOCK 512u

/* Cycles of a loop of `op`, by each warp's lane 0 or by all its lanes. d1: a word of all, d2: the
 * thread's own. */
static double cycles_of(const char *op, bool lanes, bool exact)
{
    char text[2000];
    struct sim_case c;
    snprintf(text, sizeof text,
             SIM_HEAD
             ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %%r<16>; .reg .b64 %%d<8>; .reg .pred "
             "%%p<4>;\nld.param.u64 %%d1, [a]; mov.u32 %%r1, %%tid.x; mov.u32 %%r2, %%ctaid.x; mov.u32 "
             "%%r3, %%ntid.x; mad.lo.u32 %%r4, %%r2, %%r3, %%r1; and.b32 %%r5, %%r1, 31; setp.ne.u32 "
             "%%p0, %%r5, 0;\nmul.wide.u32 %%d2, %%r4, 4; add.u64 %%d2, %%d2, %%d1;\nmov.u32 %%r6, 0; "
             "mov.u32 %%r8, 0;\nL: %s%s; add.u32 %%r6, "
             "%%r6, 1; setp.lt.u32 %%p1, %%r6, " TURNS
             "; @%%p1 bra L;\nsetp.eq.u32 %%p2, %%r8, -1; @%%p2 st.global.u32 [%%d2], %%r8;\nret;\n}\n",
             lanes ? "" : "@!%p0 ", op);
    sim_case_open(&c, text, "k", 1u << 20);
    assert_status_ok(c.st, &c.ds);
    c.p->preset.l2_atomic_cycles = 1.2;
    c.p->preset.l2_atomics_per_cycle = 50;
    c.l.functional = false;
    c.l.exact = exact;
    c.l.grid.x = CTAS;
    c.l.block.x = BLOCK;
    sim_case_ok(&c);
    assert_int_equal(c.stats.sampled, !exact);
    double cycles = c.stats.cycles;
    sim_case_close(&c);
    return cycles;
}

static void test_old_value_is_free_on_one_word(void **state)
{
    (void)state;
    double red = cycles_of("red.global.add.u32 [%d1], 1", false, true),
           atom =
               cycles_of("atom.global.add.u32 %r7, [%d1], 1; @!%p0 add.u32 %r8, %r8, %r7", false, true);
    double turns = CTAS * BLOCK / 32.0 * 64;
    assert_true(red > turns && red < 1.5 * turns);
    assert_true(atom > 0.95 * red && atom < 1.1 * red);
}

static void test_sample_knows_who_shares(void **state)
{
    static const struct {
        const char *op;
        bool lanes;
    } table[] = { { "red.global.add.u32 [%d1], 1", false }, { "red.global.add.u32 [%d2], 1", true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        double whole = cycles_of(table[i].op, table[i].lanes, true),
               sample = cycles_of(table[i].op, table[i].lanes, false);
        assert_true(sample > 0.75 * whole && sample < 1.4 * whole);
    }
}

/* Cycles of 64 adds of floats to shared memory by each lane of a CTA; step: bytes from a thread's word
 * to the next one's. */
static double shared_cycles(uint32_t block, uint32_t step)
{
    char text[1000];
    snprintf(text, sizeof text,
             SIM_HEAD
             ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %%r<9>; .reg .pred %%p<2>; .reg .f32 "
             "%%f<2>; .shared .align 4 .b8 room[4096];\nmov.u32 %%r1, %%tid.x; mov.u32 %%r2, "
             "room; mad.lo.u32 %%r3, %%r1, %u, %%r2; mov.f32 %%f1, 0f3F800000; mov.u32 %%r6, "
             "0;\nL: red.shared.add.f32 [%%r3], %%f1; add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p1, "
             "%%r6, " TURNS "; @%%p1 bra L;\nret;\n}\n",
             step);
    return sim_text_cycles(text, 1, block, NULL);
}

/* An add of floats is a loop of compare-and-swap: of warps at one word one succeeds at a time. An H200
 * takes 1,457 cycles for each instruction of 8 warps, 13 on words of their own. */
static void test_floats_on_one_shared_word(void **state)
{
    (void)state;
    double one = shared_cycles(256, 0) / (8 * 64), own = shared_cycles(256, 4) / (8 * 64);
    assert_true(one > 1300 && one < 1800);
    assert_true(own > 9 && own < 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_old_value_is_free_on_one_word),
                                        cmocka_unit_test(test_sample_knows_who_shares),
                                        cmocka_unit_test(test_floats_on_one_shared_word) };
    return cmocka_run_group_tests_name("atomics of many SMs", tests, NULL, NULL);
}
