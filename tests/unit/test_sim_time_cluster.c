/* Timed launches of clusters: where their CTAs lie, when their places are free again, and what CTAs on
 * several SMs tell each other. */
#include "tests/unit/sim_support.h"

#include <math.h>
#include <stdio.h>

#define ENTRY ".visible .entry k(.param .u64 a, .param .u32 n)\n.explicitcluster\n.reqnctapercluster "

/* A cluster of `size`, each CTA of one warp. */
static void open_cluster(struct sim_case *c, uint32_t size, uint32_t ctas, const char *body)
{
    char text[4000];
    snprintf(text, sizeof text,
             SIM_HEAD ".extern .shared .align 16 .b8 room[];\n" ENTRY
                      "%u, 1, 1\n{\n.reg .b32 %%r<16>; .reg .b64 %%d<8>; .reg .pred %%p<4>;\n"
                      ".shared .align 8 .b64 bar[2]; .shared .b32 word[2];\n"
                      "ld.param.u64 %%d1, [a]; ld.param.u32 %%r9, [n]; mov.u32 %%r1, %%tid.x; mov.u32 "
                      "%%r2, %%ctaid.x; mov.u32 %%r3, %%cluster_ctarank; setp.ne.u32 %%p0, %%r1, 0;\n"
                      "mul.wide.u32 %%d2, %%r2, 8; add.u64 %%d2, %%d2, %%d1;\n%s\nret;\n}\n",
             size, body);
    sim_case_open(c, text, "k", 1u << 20);
    assert_status_ok(c->st, &c->ds);
    c->l.functional = false;
    c->l.exact = true;
    c->l.threads = 2;
    c->l.grid.x = ctas;
}

static uint32_t word(const struct sim_case *c, uint64_t i)
{
    uint32_t v;
    memcpy(&v, c->data + 4 * i, 4);
    return v;
}

#define WHERE                                                                                        \
    "@%p0 bra E; mov.u32 %r4, %smid; st.global.u32 [%d2], %r4; mov.u32 %r5, %warpid; st.global.u32 " \
    "[%d2+4], %r5; E:"

/* Each CTA on an SM of its own, side by side; as many SMs as the preset says, and no more. */
static void test_places(void **state)
{
    (void)state;
    static const struct {
        uint32_t size, sms;
    } v[] = { { 1, 132 }, { 2, 132 }, { 4, 120 }, { 8, 120 }, { 16, 112 }, { 3, 120 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct sim_case c;
        uint32_t ctas = 600 / v[i].size * v[i].size, used = 0;
        bool seen[132] = { false };
        open_cluster(&c, v[i].size, ctas, WHERE);
        c.l.shared = 200 << 10;
        sim_case_ok(&c);
        for (uint32_t k = 0; k < ctas; k++) {
            uint32_t sm = word(&c, 2 * k);
            assert_true(sm < 132);
            assert_int_equal(sm, word(&c, 2 * (k - k % v[i].size)) + k % v[i].size);
            assert_int_equal(word(&c, 2 * k + 1), 0); /* the only CTA there */
            used += !seen[sm];
            seen[sm] = true;
        }
        assert_int_equal(used, v[i].sms);
        assert_int_equal(c.stats.ctas_per_sm, 1);
        sim_case_close(&c);
    }
}

/* A GPU with fewer SMs than a cluster has CTAs: they share one. */
static void test_few_sms(void **state)
{
    (void)state;
    struct sim_case c;
    open_cluster(&c, 8, 32, WHERE);
    c.p->preset.sms = 4;
    sim_case_ok(&c);
    for (uint32_t k = 0; k < 32; k++)
        assert_int_equal(word(&c, 2 * k), word(&c, 2 * (k - k % 8)));
    assert_true(c.stats.time_ns > 0);
    sim_case_close(&c);
}

#define LONG "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r9; @%p1 bra L;\n"

static double cycles_of(uint32_t size, uint32_t ctas, uint32_t n, const char *body)
{
    struct sim_case c;
    open_cluster(&c, size, ctas, body);
    memcpy(c.params + 8, &n, 4);
    c.l.shared = 200 << 10;
    sim_case_ok(&c);
    double cycles = c.stats.cycles;
    sim_case_close(&c);
    return cycles;
}

/* A place is free when the whole cluster has ended: one CTA that goes at once makes no room. */
static void test_place_is_free_at_the_end(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "setp.eq.u32 %p2, %r3, 0; @%p2 bra E; " LONG "E:", /* the first goes at once */
        "setp.ne.u32 %p2, %r3, 0; @%p2 bra E; " LONG "E:"  /* all others do */
    };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        double one = cycles_of(4, 30 * 4, 20000, bodies[i]),
               three = cycles_of(4, 90 * 4, 20000, bodies[i]);
        if (!(three > 2.9 * one && three < 3.1 * one))
            fail_msg("three waves take %.0f cycles, one %.0f", three, one);
    }
}

/* Two CTAs hand a word to and fro through mbarriers of each other: `n` times, one of them slower. */
#define HAND                                                                                            \
    "mov.u32 %r5, bar; mov.u32 %r6, word; xor.b32 %r7, %r3, 1; @%p0 bra M; mbarrier.init.shared.b64 "   \
    "[%r5], 1; st.shared.u32 [%r6], 0; M: barrier.cluster.arrive; barrier.cluster.wait; @%p0 bra E;\n"  \
    "mapa.shared::cluster.u32 %r8, %r5, %r7; mapa.shared::cluster.u32 %r10, %r6, %r7; mov.u32 %r11, "   \
    "0; "                                                                                               \
    "mov.u32 %r12, 0; setp.ne.u32 %p2, %r3, 0; @%p2 bra T;\n"                                           \
    "S: ld.shared.u32 %r13, [%r6]; add.u32 %r13, %r13, 1; st.shared::cluster.u32 [%r10], %r13; "        \
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r8]; setp.ne.u32 %p2, %r3, 0; @%p2 bra "  \
    "N;\n"                                                                                              \
    "T: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r5], %r11; @!%p1 bra T; "       \
    "xor.b32 "                                                                                          \
    "%r11, %r11, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra S;\n"                                             \
    "N: add.u32 %r12, %r12, 1; setp.lt.u32 %p1, %r12, %r9; @!%p1 bra W; setp.ne.u32 %p2, %r3, 0; @%p2 " \
    "bra "                                                                                              \
    "T; bra S; W: ld.shared.u32 %r13, [%r6]; st.global.u32 [%d2], %r13;\n"                              \
    "E: barrier.cluster.arrive; barrier.cluster.wait;"

static void test_hand_over(void **state)
{
    (void)state;
    double each[2];
    for (uint32_t k = 0; k < 2; k++) {
        struct sim_case c;
        uint32_t n = 100 + 100 * k;
        open_cluster(&c, 2, 132, HAND);
        memcpy(c.params + 8, &n, 4);
        sim_case_ok(&c);
        for (uint32_t i = 0; i < 66; i++) {
            assert_int_equal(word(&c, 4 * i), 2 * n);
            assert_int_equal(word(&c, 4 * i + 2), 2 * n - 1);
        }
        each[k] = c.stats.cycles;
        sim_case_close(&c);
    }
    /* Two ways, each with what the arrival holds its warp for and the trip. */
    struct sim_preset g = sim_preset_default();
    double round = (each[1] - each[0]) / 100, least = 2.0 * (double)g.lat_cluster;
    if (!(round > least && round < 4 * least + 2.0 * (double)g.lat_release_cluster))
        fail_msg("a round takes %.0f cycles", round);
}

/* Barriers of the cluster hold CTAs of different length together, on whatever SMs they are. */
static void test_barrier_holds(void **state)
{
    (void)state;
    static const char body[] =
        "mov.u32 %r6, 0; setp.ne.u32 %p2, %r3, 1; R: @%p2 bra B; " LONG
        "B: barrier.cluster.arrive; barrier.cluster.wait; add.u32 %r6, %r6, 1; setp.lt.u32 %p3, %r6, "
        "8; @%p3 bra R; mov.u64 %d3, %clock64; @!%p0 st.global.u32 [%d2], %r6;";
    double quick = cycles_of(4, 4, 1, body), slow = cycles_of(4, 4, 5000, body),
           once = cycles_of(4, 4, 10000, body) - slow;
    assert_true(slow > quick + 4.0 * 5000);
    if (!(fabs(slow - quick - once) < 0.02 * once))
        fail_msg("5,000 turns more take %.0f and %.0f cycles", slow - quick, once);
}

/* A sample of pairs of SMs stands for all of them. */
static void test_sample(void **state)
{
    (void)state;
    double cycles[2];
    for (int exact = 0; exact < 2; exact++) {
        struct sim_case c;
        uint32_t n = 300;
        open_cluster(&c, 2, 6600,
                     "cvta.to.global.u64 %d3, %d2; ld.global.u32 %r7, [%d3];" LONG
                     "add.u32 %r4, %r4, %r7; st.global.u32 [%d3], %r4;");
        memcpy(c.params + 8, &n, 4);
        c.l.exact = exact;
        c.l.shared = 60 << 10;
        sim_case_ok(&c);
        assert_true(c.stats.sampled == !exact);
        cycles[exact] = c.stats.cycles;
        sim_case_close(&c);
    }
    if (!(fabs(cycles[0] / cycles[1] - 1) < 0.1))
        fail_msg("%.0f cycles in the sample, %.0f whole", cycles[0], cycles[1]);
}

/* Products lower the clock, where the preset says so; cycles are the same. */
static void test_tensor_clock(void **state)
{
    (void)state;
    static const char text[] = SIM_HEAD
        ".visible .entry k(.param .u64 a)\n{\n.reg .b32 %r<8>; .reg .f32 %f<5>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [a]; mov.u32 %r1, 0; mov.f32 %f1, 0f00000000;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1,%f1,%f1,%f1}, {%r1,%r1,%r1,%r1}, "
        "{%r1,%r1}, {%f1,%f1,%f1,%f1}; st.global.f32 [%d1], %f1; ret;\n}\n";
    double ns[2], cycles[2];
    for (int i = 0; i < 2; i++) {
        struct sim_case c;
        sim_case_open(&c, text, "k", 65536);
        c.l.functional = false;
        c.p->preset.tensor_clock_mhz = i ? 990 : 0;
        c.p->preset.clock_mhz = 1980;
        sim_case_ok(&c);
        ns[i] = c.stats.time_ns - c.p->preset.launch_ns;
        cycles[i] = c.stats.cycles;
        sim_case_close(&c);
    }
    assert_true(ns[0] > 0 && fabs(cycles[1] / cycles[0] - 1) < 0.05);
    assert_true(fabs(ns[1] / ns[0] / 2 * cycles[0] / cycles[1] - 1) < 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_few_sms),
        cmocka_unit_test(test_place_is_free_at_the_end),
        cmocka_unit_test(test_hand_over),
        cmocka_unit_test(test_barrier_holds),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_tensor_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
