/* Where the issue slots of a launch go: each to one cause, the same for any number of host threads. */
#include "tests/unit/sim_support.h"

#include "engine/rec/limits.h"
#include "engine/rec/result.h"

static const char text[] = SIM_HEAD
    ".visible .entry k(.param .u64 a)\n{\n.shared .align 4 .b8 s[8192];\n.reg .b32 %r<16>; .reg "
    ".b64 %d<8>; .reg .pred %p<4>; .reg .f32 %f<8>;\nld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; "
    "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1; mul.wide.u32 %d2, %r3, 64; add.u64 %d2, "
    "%d1, %d2;\nshl.b32 %r5, %r1, 6; mov.u32 %r6, s; add.u32 %r6, %r6, %r5; mov.u32 %r7, 0;\nL: "
    "ld.global.f32 %f1, [%d2]; st.shared.f32 [%r6], %f1; bar.sync 0; ld.shared.f32 %f2, [%r6]; "
    "add.f32 %f3, %f2, %f1; st.global.f32 [%d2+4], %f3; add.u64 %d2, %d2, 4; add.u32 %r7, %r7, 1; "
    "red.global.add.u32 [%d1], 1; setp.lt.u32 %p1, %r7, 8; @%p1 bra L;\nret;\n}\n";

enum { CTAS = 300, SMS = 132, SCHEDULERS = 4 };

static struct sim_case run(unsigned threads, bool exact)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 4u << 20);
    assert_status_ok(c.st, &c.ds);
    c.l.functional = false;
    c.l.exact = exact;
    c.l.threads = threads;
    c.l.grid.x = CTAS;
    c.l.block.x = 128;
    sim_case_ok(&c);
    return c;
}

static uint64_t cycles_of(const struct sim_stats *s, unsigned cause)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->nspent; i++)
        n += s->spent[i].cycles[cause];
    return n;
}

/* All schedulers of all SMs, from the first cycle to the end of the last CTA. */
static void test_every_slot_has_one_cause(void **state)
{
    (void)state;
    struct sim_case c = run(1, true);
    uint64_t all = 0;
    for (unsigned k = 0; k < LIMIT_COUNT; k++)
        all += cycles_of(&c.stats, k);
    double whole = c.stats.cycles * (1 - c.stats.slots.end) * SMS * SCHEDULERS;
    assert_true((double)all > 0.999 * whole && (double)all < 1.001 * whole);
    assert_true(cycles_of(&c.stats, LIMIT_ISSUE) >= c.stats.inst_warp / 2);
    assert_true(cycles_of(&c.stats, LIMIT_UNKNOWN) * 20 < all);
    sim_case_close(&c);
}

static void test_threads_do_not_matter(void **state)
{
    (void)state;
    struct sim_case a = run(1, true), b = run(3, true);
    assert_int_equal(a.stats.nspent, b.stats.nspent);
    for (size_t i = 0; i < a.stats.nspent; i++) {
        assert_int_equal(a.stats.spent[i].line, b.stats.spent[i].line);
        assert_memory_equal(a.stats.spent[i].cycles, b.stats.spent[i].cycles,
                            sizeof a.stats.spent[i].cycles);
        assert_int_equal(a.stats.spent[i].read, b.stats.spent[i].read);
    }
    assert_memory_equal(&a.stats.slots, &b.stats.slots, sizeof a.stats.slots);
    sim_case_close(&a);
    sim_case_close(&b);
}

/* ---- from slots to shares ---- */

static struct result attribute(struct limit_launch l, struct limit_row *rows, size_t n)
{
    struct result r = result_empty();
    limits_attribute(&r, &l, rows, n);
    double all = 0;
    assert_true(r.limits.valid);
    for (unsigned c = 0; c < LIMIT_COUNT; c++)
        all += (double)r.limits.share[c];
    assert_true(all > 0.999 && all < 1.001);
    return r;
}

/* Half of an SM's warps have room, half of those are there: of latency a quarter stays. */
static void test_latency_by_what_would_hide_it(void **state)
{
    (void)state;
    struct limit_row row = { .line = 7, .cycles = { [LIMIT_LATENCY] = 1000 } };
    struct limit_launch l = { .facts = { .warps_most = 64, .warps_room = 32, .warps_held = 16 } };
    struct result r = attribute(l, &row, 1);
    assert_float_equal(r.limits.share[LIMIT_LATENCY], 0.25, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_OCCUPANCY], 0.5, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_GRID], 0.25, 1e-6);
    assert_int_equal(limits_first(&r.limits), LIMIT_OCCUPANCY);
    assert_int_equal(limits_place(&r.limits, LIMIT_OCCUPANCY, 0)->line, 7);
    l.waves = true;
    r = attribute(l, &row, 1);
    assert_float_equal(r.limits.share[LIMIT_IMBALANCE], 0.25, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_GRID], 0, 1e-6);
}

/* Who waits does not matter: the lines that bring the bytes do, and bytes that nobody asked for. */
static void test_bandwidth_by_who_fills_it(void **state)
{
    (void)state;
    struct limit_row rows[] = {
        { .line = 1, .cycles = { [LIMIT_DRAM] = 600 }, .read = 100, .used = 100 },
        { .line = 2, .read = 800, .used = 100 },
        { .line = 3, .stored = 100, .kept = 60 }
    };
    struct result r = attribute((struct limit_launch){ .overhead = 0.4 }, rows, ARRAY_LEN(rows));
    assert_float_equal(r.limits.share[LIMIT_LAUNCH], 0.4, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_COALESCING_LOAD], 0.6 * 0.7, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_COALESCING_STORE], 0.6 * 0.04, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_DRAM], 0.6 * 0.26, 1e-6);
    assert_int_equal(limits_place(&r.limits, LIMIT_COALESCING_LOAD, 0)->line, 2);
    assert_null(limits_place(&r.limits, LIMIT_COALESCING_LOAD, 1));
}

static void test_idle_sms_and_the_end(void **state)
{
    (void)state;
    struct limit_row row = { .line = 1, .cycles = { [LIMIT_ISSUE] = 500 } };
    struct limit_launch l = { .idle = 500, .end = 0.5, .end_cause = LIMIT_IMBALANCE };
    struct result r = attribute(l, &row, 1);
    assert_float_equal(r.limits.share[LIMIT_GRID], 0.25, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_IMBALANCE], 0.5, 1e-6);
    assert_float_equal(r.limits.share[LIMIT_ISSUE], 0.25, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_slot_has_one_cause),
        cmocka_unit_test(test_threads_do_not_matter),
        cmocka_unit_test(test_latency_by_what_would_hide_it),
        cmocka_unit_test(test_bandwidth_by_who_fills_it),
        cmocka_unit_test(test_idle_sms_and_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
