/* The limit of a functional launch in instructions: whether a launch passes it hangs neither on how many
 * host threads run its CTAs, nor on the order of warps and CTAs, nor on time. */
#include "tests/unit/sim_support.h"

/* Thread i of CTA c goes round 10 (c + 1) times; the last instructions are those of the store. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %d<4>; .reg .b32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %d1, [a]; mov.u32 %r1, %ctaid.x; mad.lo.u32 %r2, %r1, 10, 10; mov.u32 %r3, 0;\n"
    "L: add.u32 %r3, %r3, 1; setp.lt.u32 %p, %r3, %r2; @%p bra L;\n"
    "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3], %r3; ret;\n}\n";
static const struct sim_hostile orders[] = { { 0 },
                                             { .order = ORDER_DOWN },
                                             { .order = ORDER_SHUFFLED, .seed = 3 } };

static enum status launch(unsigned threads, const struct sim_hostile *how, uint64_t most,
                          uint64_t *insts, bool *said)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    c.l.grid.x = 200;
    c.l.block.x = 96;
    c.l.threads = threads;
    c.l.hostile = *how;
    c.l.max_insts = most;
    enum status st = sim_case_run(&c);
    *insts = c.stats.inst_warp;
    *said = support_said(&c.ds, "no end in sight");
    sim_case_close(&c);
    return st;
}

static void same_limit_in_every_order(void **state)
{
    (void)state;
    static const unsigned threads[] = { 1, 3 };
    uint64_t all, again;
    bool said;
    assert_int_equal(launch(1, &orders[0], 0, &all, &said), ST_OK);
    /* 4 + 4 instructions outside the loop, 3 in it */
    assert_int_equal(all, 3 * (200 * 8 + 3 * 10 * (200 * 201 / 2)));
    for (size_t k = 0; k < ARRAY_LEN(threads); k++)
        for (size_t o = 0; o < ARRAY_LEN(orders); o++) {
            assert_int_equal(launch(threads[k], &orders[o], all, &again, &said), ST_OK);
            assert_int_equal(again, all);
            assert_int_equal(launch(threads[k], &orders[o], all - 1, &again, &said), ST_DEVICE);
            assert_true(said);
        }
}

static void a_loop_without_end_is_stopped(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(&c,
                  ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n"
                  "{\n.reg .b32 %r<2>;\nL: add.u32 %r1, %r1, 1;\nbra L;\n}\n",
                  "k", 65536);
    c.l.max_cycles = 0;
    c.l.max_insts = 1000000;
    c.l.grid.x = 3;
    c.l.threads = 2;
    assert_int_equal(sim_case_run(&c), ST_DEVICE);
    assert_true(support_said(&c.ds, "more than 1000000 instructions"));
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_limit_in_every_order),
                                        cmocka_unit_test(a_loop_without_end_is_stopped) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
