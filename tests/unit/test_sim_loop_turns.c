/* A loop of equal turns cut short: which loops are found, what a warp then executes, and that what two cuts come to is
 * extended to all turns. */
#include "engine/sim/timing/turns.h"

#include "tests/unit/sim_support.h"

#include <math.h>

#define BEGIN                                                                                     \
    SIM_HEAD                                                                                      \
    ".visible .entry k(.param .u64 data)\n{\n.reg .pred %p<5>;\n.reg .b32 %r<20>;\n"              \
    ".reg .b64 %d<9>;\nld.param.u64 %d1, [data];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %ctaid.x;\n" \
    "mul.wide.u32 %d2, %r1, 4;\nadd.u64 %d3, %d1, %d2;\nmov.u32 %r3, 0;\nmov.u32 %r9, 0;\n"
#define TURN \
    "ld.global.u32 %r4, [%d3];\nadd.u32 %r9, %r9, %r4;\nadd.u64 %d3, %d3, 128;\nadd.u32 %r3, %r3, 1;\n"
#define AGAIN "setp.lt.u32 %p1, %r3, 40;\n@%p1 bra L;\n"
#define END   "st.global.u32 [%d3], %r9;\nret;\n}\n"

#define PLAIN  BEGIN "L:\n" TURN AGAIN END
#define BREAKS BEGIN "L:\n" TURN "setp.eq.u32 %p2, %r4, 77;\n@%p2 bra OUT;\n" AGAIN "OUT:\n" END
#define NESTED                                                                                          \
    BEGIN "L:\nmov.u32 %r5, 0;\nM:\nadd.u32 %r5, %r5, 1;\nsetp.lt.u32 %p2, %r5, 3;\n@%p2 bra M;\n" TURN \
        AGAIN END
#define BY_CTA   BEGIN "add.u32 %r7, %r2, 40;\nL:\n" TURN "setp.lt.u32 %p1, %r3, %r7;\n@%p1 bra L;\n" END
#define BY_LANE  BEGIN "add.u32 %r7, %r1, 40;\nL:\n" TURN "setp.lt.u32 %p1, %r3, %r7;\n@%p1 bra L;\n" END
#define STRAIGHT BEGIN TURN END

static bool found(const char *text, struct sim_cut *cut)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    assert_status_ok(c.st, &c.ds);
    bool is = timing_turns_find(c.p, cut);
    sim_case_close(&c);
    return is;
}

static void loops(void **state)
{
    (void)state;
    struct sim_cut a, b;
    assert_true(found(PLAIN, &a));
    assert_true(found(NESTED, &b)); /* the outer one, behind the inner one */
    assert_true(b.latch > a.latch);
    assert_false(found(BREAKS, &a));
    assert_false(found(STRAIGHT, &a));
}

/* Four CTAs of two warps with the loop cut after so many turns; 0: not. */
static struct sim_case cut_to(const char *text, uint32_t turns)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    assert_status_ok(c.st, &c.ds);
    assert_true(timing_turns_find(c.p, &c.l.cut));
    c.l.cut.turns = turns;
    c.l.chosen.dry = true;
    c.l.grid.x = 4;
    c.l.block.x = 64;
    memset(c.data, 3, c.bytes);
    sim_case_ok(&c);
    for (uint64_t i = 0; i < c.bytes; i++)
        assert_int_equal(c.data[i], 3); /* nobody sees what is stored */
    return c;
}

static uint64_t counted(const char *text, uint32_t turns, uint64_t *least, uint64_t *most)
{
    struct sim_case c = cut_to(text, turns);
    uint64_t n = c.stats.inst_warp;
    *least = c.stats.least_turns;
    *most = c.stats.most_turns;
    sim_case_close(&c);
    return n;
}

static void cut_short(void **state)
{
    (void)state;
    uint64_t least, most, other;
    uint64_t all = counted(PLAIN, 0, &least, &most);
    assert_int_equal(least, 40);
    assert_int_equal(most, 40);
    uint64_t four = counted(PLAIN, 4, &other, &other), eight = counted(PLAIN, 8, &other, &other);
    assert_int_equal(all, eight + (eight - four) / 4 * 32);
    counted(NESTED, 0, &least, &most);
    assert_true(least == 40 && most == 40);
    counted(BY_CTA, 0, &least, &most);
    assert_true(least == 40 && most == 43);
    counted(BY_LANE, 0, &least, &most);
    assert_true(most > 100000); /* lanes leave one by one: no loop of equal turns */
}

static void extended(void **state)
{
    (void)state;
    struct sim_load_stats la = { .requests = 50 }, lb = { .requests = 30 };
    struct limit_row ra = { .line = 3 }, rb = { .line = 3 };
    ra.cycles[LIMIT_ISSUE] = 90;
    rb.cycles[LIMIT_ISSUE] = 50;
    struct sim_stats a = { .cycles = 1000,
                           .time_ns = 1500,
                           .clock_mhz = 1000,
                           .inst_warp = 800,
                           .l2_reads = 40,
                           .dram_read_bytes = 7,
                           .loads = &la,
                           .nloads = 1,
                           .spent = &ra,
                           .nspent = 1 },
                     b = { .cycles = 600,
                           .time_ns = 1100,
                           .clock_mhz = 1000,
                           .inst_warp = 500,
                           .l2_reads = 40,
                           .dram_read_bytes = 9,
                           .loads = &lb,
                           .nloads = 1,
                           .spent = &rb,
                           .nspent = 1 };
    timing_turns_extend(&a, &b, 8, 4, 40);
    assert_true(fabs(a.cycles - 4200) < 1e-9);
    assert_true(fabs(a.time_ns - 4700) < 1e-9); /* the launch's own 500 ns once */
    assert_int_equal(a.inst_warp, 3200);
    assert_int_equal(a.l2_reads, 40);
    assert_int_equal(a.dram_read_bytes, 0); /* fewer with more turns: never below none */
    assert_int_equal(la.requests, 210);
    assert_int_equal(ra.cycles[LIMIT_ISSUE], 410);
    assert_true(a.sampled);
    assert_int_equal(a.timed_turns, 8);
    assert_int_equal(a.turns, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(loops), cmocka_unit_test(cut_short),
                                        cmocka_unit_test(extended) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
