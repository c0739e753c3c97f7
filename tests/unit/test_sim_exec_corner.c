/* What programs seldom use: special registers, the stack, 128-bit values, policies by range, partial
 * asynchronous copies, forms of mbarrier, printf with stars, calls that go wrong, limits of launches. */
#include "tests/unit/sim_support.h"

#include "engine/ptx/ptx_table.h"
#include "engine/sim/mem.h"
#include "engine/sim/step.h"

#define ENTRY                                                                                          \
    ".visible .entry k(.param .u64 p)\n{\n"                                                            \
    ".reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<10>; .reg .b16 %h<10>; .reg .f32 %f<10>; .reg " \
    ".f64 %e<10>; .reg .b128 %q<10>;\n"                                                                \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2; "    \
    "mul.wide.u32 %d4, %r1, 16; add.u64 %d5, %d1, %d4;\n"
#define KERNEL(body) SIM_HEAD ENTRY body "ret;\n}\n"
#define INTS(c)      ((const uint32_t *)(const void *)(c).data)
#define LONGS(c)     ((const uint64_t *)(const void *)(c).data)

static void must_fail(const char *text, enum status st, const char *what)
{
    struct sim_case c = sim_text(text, 1, 32);
    if (c.st != st || !support_said(&c.ds, what))
        sim_case_print(&c);
    assert_int_equal(c.st, st);
    assert_true(support_said(&c.ds, what));
    sim_case_close(&c);
}

/* ---- special registers ---- */
static void lane_masks(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(KERNEL("mov.u32 %r2, %lanemask_eq; mov.u32 %r3, %lanemask_lt; "
                                           "mov.u32 %r4, %lanemask_le; mov.u32 %r5, %lanemask_gt;\n"
                                           "st.global.v4.u32 [%d5], {%r2, %r3, %r4, %r5}; mov.u32 %r6, "
                                           "%lanemask_ge; st.global.u32 [%d3+2048], %r6;\n"),
                                    1, 64);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t lane = t % 32, *v = INTS(c) + 4 * t;
        uint32_t eq = 0, lt = 0;
        for (uint32_t k = 0; k < 32; k++) {
            eq |= (uint32_t)(k == lane) << k;
            lt |= (uint32_t)(k < lane) << k;
        }
        assert_true(v[0] == eq);
        assert_true(v[1] == lt);
        assert_true(v[2] == (lt | eq));
        assert_true(v[3] == ~(lt | eq));
        assert_true(INTS(c)[512 + t] == ~lt);
    }
    sim_case_close(&c);
}

static void places(void **state)
{
    (void)state;
    struct sim_preset g = sim_preset_default();
    struct sim_case c;
    sim_case_open(
        &c,
        KERNEL(".shared .b32 s[8];\nmov.u32 %r2, %warpid; mov.u32 %r3, %nwarpid; mov.u32 %r4, %smid; "
               "mov.u32 %r5, %nsmid; mov.u32 %r6, %dynamic_smem_size; mov.u32 %r7, %total_smem_size;\n"
               "mov.u32 %r8, %tid.z; mov.u32 %r9, %envreg3; mov.u64 %d6, %gridid; st.shared.u32 [s], "
               "%r1;\nmov.u32 %r10, %ctaid.x; mul.wide.u32 %d7, %r10, 64; add.u64 %d1, %d1, %d7;\n"
               "setp.ne.u32 %p1, %r1, 40; @%p1 ret;\nst.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5}; "
               "st.global.v4.u32 [%d1+16], {%r6, %r7, %r8, %r9}; st.global.u64 [%d1+32], %d6;\n"),
        "k", 65536);
    c.l.block.x = 64;
    c.l.grid.x = 3;
    c.l.shared = 128;
    sim_case_ok(&c);
    for (uint32_t b = 0; b < 3; b++) {
        const uint32_t *v = INTS(c) + 16 * b;
        assert_true(v[0] % 2 == 1);
        assert_true(v[1] == (uint32_t)g.max_warps);
        assert_true(v[2] == b);
        assert_true(v[3] == (uint32_t)g.sms);
        assert_true(v[4] == 128);
        assert_true(v[5] == 160);
        assert_true(v[6] == 0);
        assert_true(v[7] == 0);
        assert_true(LONGS(c)[8 * b + 4] == 1);
    }
    sim_case_close(&c);
    must_fail(KERNEL("mov.u32 %r2, %reserved_smem_offset_1; st.global.u32 [%d3], %r2;\n"), ST_DEVICE,
              "%reserved_smem_offset_1");
    must_fail(KERNEL("add.u32 %r2, %clock, 1; st.global.u32 [%d3], %r2;\n"), ST_INPUT,
              "read special registers with mov");
}

static void clocks(void **state)
{
    (void)state;
    struct sim_case c =
        sim_text_ok(KERNEL("mov.u32 %r2, %clock; mov.u64 %d6, %globaltimer; mov.u32 %r9, "
                           "0;\nL:\nadd.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3000;\n@%p1 bra "
                           "L;\nmov.u32 %r3, %clock; mov.u64 %d7, %globaltimer; sub.u64 %d7, %d7, %d6;\n"
                           "sub.u32 %r3, %r3, %r2; mov.u32 %r4, %clock_hi; mov.u32 %r5, "
                           "%globaltimer_hi; mov.u32 %r6, %globaltimer_lo; st.global.v4.u32 [%d1], "
                           "{%r3, %r4, %r5, %r6}; st.global.u64 [%d1+16], %d7;\n"),
                    1, 32);
    assert_in_range(INTS(c)[0], 9000, 100000);
    assert_true(INTS(c)[1] == 0);
    assert_true(INTS(c)[2] == 0);
    assert_in_range(INTS(c)[3], 1000, 1000000);
    assert_in_range(LONGS(c)[2], 1000, INTS(c)[3]);
    sim_case_close(&c);
}

/* ---- stack, 9.7.17 ---- */
static void stack(void **state)
{
    (void)state;
    /* Each thread takes as many words as its number, twice; the second taking lies apart from the first
     * and both keep what is stored. */
    struct sim_case c = sim_text_ok(
        KERNEL("add.u32 %r2, %r1, 1; mul.wide.u32 %d6, %r2, 4;\nstacksave.u64 %d20;\nalloca.u64 %d7, "
               "%d6; alloca.u64 %d8, %d6, 32; cvta.local.u64 %d9, %d8;\n"
               "sub.u64 %d10, %d6, 4; add.u64 %d11, %d7, %d10; st.local.u32 [%d7], %r1; st.local.u32 "
               "[%d11], %r1; add.u32 %r3, %r1, 1000; st.u32 [%d9], %r3;\n"
               "ld.local.u32 %r4, [%d11]; ld.local.u32 %r5, [%d8]; and.b64 %d12, %d8, 31; cvt.u32.u64 "
               "%r6, %d12;\nstackrestore.u64 %d20;\nalloca.u64 %d13, %d6;\n"
               "setp.eq.u64 %p1, %d13, %d7; selp.u32 %r7, 1, 0, %p1; st.global.v4.u32 [%d5], {%r4, %r5, "
               "%r6, %r7};\n"),
        1, 64);
    for (uint32_t t = 0; t < 64; t++) {
        const uint32_t *v = INTS(c) + 4 * t;
        assert_true(v[0] == t);
        assert_true(v[1] == t + 1000);
        assert_true(v[2] == 0);
        assert_true(v[3] == 1);
    }
    sim_case_close(&c);
    must_fail(KERNEL("mov.u64 %d6, 1000000000; alloca.u64 %d7, %d6;\n"), ST_DEVICE,
              "alloca of 1000000000 bytes does not fit");
}

/* ---- 128 bits ---- */
static void wide(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(
        &c,
        KERNEL("ld.global.b128 %q1, [%d5]; mov.b128 %q2, %q1; mov.b128 {%d6, %d7}, %q2; add.u64 %d6, "
               "%d6, 1; mov.b128 %q3, {%d7, %d6}; st.global.b128 [%d5+4096], %q3;\n"
               "@%p1 mov.b128 %q4, %q1; mov.b64 %d8, 5; mov.f64 %e1, 0f40000000; add.f64 %e1, %e1, "
               "0f3F800000; st.global.f64 [%d1+8192], %e1;\n"),
        "k", 65536);
    for (uint64_t k = 0; k < 64; k++)
        memcpy(c.data + 8 * k, &(uint64_t){ k << 40 | k }, 8);
    sim_case_ok(&c);
    for (uint64_t t = 0; t < 32; t++) {
        assert_true(LONGS(c)[512 + 2 * t] == ((2 * t + 1) << 40 | (2 * t + 1)));
        assert_true(LONGS(c)[513 + 2 * t] == (2 * t << 40 | 2 * t) + 1);
    }
    double three;
    memcpy(&three, c.data + 8192, 8);
    assert_true(three == 3);
    sim_case_close(&c);
}

/* Every step of a fresh CTA's first warp; fn sees those with an access to global memory. */
static void each_access(struct sim_case *c, void (*fn)(const struct exec_step *s, void *ctx), void *ctx)
{
    struct exec_launch *x;
    struct exec_step s;
    assert_status_ok(c->st, &c->ds);
    c->l.params = c->params;
    assert_status_ok(exec_launch_new(c->p, &c->l, &x, &c->ds), &c->ds);
    struct exec_worker *k = exec_worker_new(x);
    struct exec_cta *cta = exec_cta_new(k);
    exec_cta_start(cta, 0, 0, 0, false);
    struct exec_warp *w = exec_cta_warp(cta, 0);
    uint64_t now = 0;
    do {
        exec_step(w, now++, &s);
        if (s.access.kind && s.access.space == PTX_SPACE_GLOBAL)
            fn(&s, ctx);
    } while (s.event != STEP_EXIT && now < 10000);
    exec_cta_free(cta);
    exec_worker_free(k);
    exec_launch_free(x);
}
static void keep_hint(const struct exec_step *s, void *ctx)
{
    if (s->access.hint)
        *(uint64_t *)ctx = s->access.hint;
}

static void policies(void **state)
{
    (void)state;
    struct sim_case c;
    uint64_t hint = 0;
    enum exec_evict kind = EVICT_NONE;
    sim_case_open(
        &c,
        KERNEL("add.u64 %d6, %d1, 8192;\ncreatepolicy.range.global.L2::evict_last.L2::evict_first.b64 "
               "%d7, [%d6], 16384, 32768;\nld.global.L2::cache_hint.u32 %r2, [%d3], %d7;\nst.global.u32 "
               "[%d3], %r2;\n"),
        "k", 65536);
    each_access(&c, keep_hint, &hint);
    uint64_t base = c.addr + 8192;
    struct {
        uint64_t at;
        enum exec_evict want;
    } t[] = { { base, EVICT_LAST },
              { base + 16383, EVICT_LAST },
              { base - 4096, EVICT_FIRST },
              { base + 16384 + 4096, EVICT_FIRST },
              { base - (1 << 20), EVICT_FIRST } };
    for (size_t k = 0; k < ARRAY_LEN(t); k++) {
        assert_true(exec_hint_range(hint, t[k].at, &kind));
        assert_true(kind == t[k].want);
    }
    assert_true(exec_hint_fraction(hint) == 1);
    sim_case_close(&c);
    hint = 0;
    sim_case_open(
        &c,
        KERNEL("createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d7, "
               "0.5;\nld.global.L2::cache_hint.u32 %r2, [%d3], %d7;\nst.global.u32 [%d3], %r2;\n"),
        "k", 65536);
    each_access(&c, keep_hint, &hint);
    assert_false(exec_hint_range(hint, c.addr, &kind));
    assert_true(exec_hint_primary(hint) == EVICT_FIRST);
    assert_true(exec_hint_secondary(hint) == EVICT_UNCHANGED);
    assert_true(exec_hint_fraction(hint) == 0.5);
    sim_case_close(&c);
}

/* ---- asynchronous copies: 16 bytes stored, fewer read ---- */
#define COPY(more)                                                                              \
    KERNEL(".shared .align 16 .b8 s[512];\nmov.u32 %r2, s; mad.lo.u32 %r3, %r1, 16, %r2; "      \
           "st.shared.u32 [%r3+12], -1; and.b32 %r4, %r1, 15; setp.eq.u32 %p1, %r4, 3;\n" more  \
           "cp.async.wait_all; ld.shared.v4.u32 {%r5, %r6, %r7, %r8}, [%r3]; st.global.v4.u32 " \
           "[%d5+32768], {%r5, %r6, %r7, %r8};\n")
static void count_bytes(const struct exec_step *s, void *ctx)
{
    if (s->access.kind == ACCESS_ASYNC)
        *(uint32_t *)ctx = s->access.mask;
}
static void partial_copies(void **state)
{
    (void)state;
    struct sim_case c;
    uint32_t mask = 0;
    const char *partial = COPY("cp.async.cg.shared.global [%r3], [%d5], 16, %r4;\n");
    for (unsigned again = 0; again < 2; again++) {
        sim_case_open(&c, partial, "k", 65536);
        for (uint32_t k = 0; k < 512; k++)
            c.data[k] = (uint8_t)(k * 7 + 1);
        if (again)
            each_access(&c, count_bytes, &mask);
        else
            sim_case_ok(&c);
        for (uint32_t t = 0; t < 32; t++)
            for (uint32_t b = 0; b < 16; b++)
                assert_int_equal(c.data[32768 + 16 * t + b],
                                 b < t % 16 ? (uint8_t)((16 * t + b) * 7 + 1) : 0);
        sim_case_close(&c);
    }
    assert_int_equal(mask, 0xfffefffeu); /* all that read something */
    /* ignore-src */
    sim_case_open(&c, COPY("cp.async.ca.shared.global [%r3], [%d5], 16, %p1;\n"), "k", 65536);
    memset(c.data, 9, 512);
    sim_case_ok(&c);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(c.data[32768 + 16 * t + 12], t % 16 == 3 ? 0 : 9);
    sim_case_close(&c);
    /* the last 4 bytes of the buffer may be read as the start of 16; a fifth may not; 16 must be aligned
     * to 16 */
    c = sim_text_ok(KERNEL(".shared .align 16 .b8 s[16];\nadd.u64 %d6, %d1, "
                           "65520;\ncp.async.cg.shared.global [s], [%d6], 16, 12;\n"),
                    1, 1);
    sim_case_close(&c);
    sim_case_open(&c,
                  KERNEL(".shared .align 16 .b8 s[16];\nadd.u64 %d6, %d1, "
                         "48;\ncp.async.cg.shared.global [s], [%d6], 16, 4;\n"),
                  "k", 52);
    sim_case_ok(&c);
    sim_case_close(&c);
    sim_case_open(&c,
                  KERNEL(".shared .align 16 .b8 s[16];\nadd.u64 %d6, %d1, "
                         "48;\ncp.async.cg.shared.global [s], [%d6], 16, 5;\n"),
                  "k", 52);
    assert_true(sim_case_run(&c) == ST_DEVICE);
    assert_true(support_said(&c.ds, "out-of-bounds"));
    sim_case_close(&c);
    must_fail(KERNEL(".shared .align 16 .b8 s[16];\nadd.u64 %d6, %d1, 8;\ncp.async.cg.shared.global "
                     "[s], [%d6], 16, 4;\n"),
              ST_DEVICE, "misaligned");
}

/* ---- the same instruction again: all lanes fit the first time, one does not the second ---- */
#define AGAIN(lane, far, mask)                                                                        \
    KERNEL(                                                                                           \
        "mov.u32 %r5, 0; setp.lt.u32 %p3, %r1, " mask ";\nA: setp.eq.u32 %p1, %r1, " lane             \
        "; setp.eq.u32 %p2, %r5, 1; and.pred %p1, %p1, %p2; mov.u64 %d6, 0; @%p1 mov.u64 %d6, " far   \
        "; add.s64 %d6, %d6, %d3;\n@%p3 ld.global.u32 %r4, [%d6];\nadd.u32 %r5, %r5, 1; setp.lt.u32 " \
        "%p1, %r5, 2; @%p1 bra A;\n")
static void lanes_that_go_astray(void **state)
{
    (void)state;
    must_fail(AGAIN("17", "2", "32"), ST_DEVICE, "misaligned read of 4 bytes");
    must_fail(AGAIN("31", "65536", "32"), ST_DEVICE, "out-of-bounds read of 4 bytes");
    must_fail(AGAIN("0", "-4", "32"), ST_DEVICE, "4 bytes before buffer 'data'");
    must_fail(AGAIN("9", "1", "12"), ST_DEVICE, "misaligned read of 4 bytes");
    /* a lane that takes no part may be anywhere */
    struct sim_case c = sim_text_ok(AGAIN("12", "65537", "12"), 1, 32);
    sim_case_close(&c);
}

/* ---- mbarrier: a phase ends when nobody is pending and no bytes are expected ---- */
static void mbarrier_forms(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL(".shared .align 8 .b64 b; .shared .align 16 .b8 s[16];\nmbarrier.init.shared.b64 [b], "
               "2;\nmbarrier.expect_tx.relaxed.cta.shared::cta.b64 [b], 8;\nmbarrier.arrive.shared.b64 "
               "%d6, [b];\n"
               "mbarrier.pending_count.b64 %r2, %d6;\nmbarrier.arrive.shared.b64 %d7, "
               "[b];\nmbarrier.test_wait.shared.b64 %p1, [b], "
               "%d6;\nmbarrier.complete_tx.relaxed.cta.shared::cta.b64 [b], 8;\n"
               "mbarrier.test_wait.shared.b64 %p2, [b], %d6;\nmbarrier.test_wait.parity.shared.b64 %p3, "
               "[b], 0;\nmbarrier.test_wait.parity.shared.b64 %p4, [b], 1;\n"
               "mbarrier.arrive_drop.shared.b64 %d8, [b];\ncp.async.ca.shared.global [s], [%d1], "
               "16;\ncp.async.mbarrier.arrive.noinc.shared.b64 "
               "[b];\nmbarrier.test_wait.parity.shared.b64 %p5, [b], 1;\n"
               "mbarrier.arrive.noComplete.shared.b64 %d9, [b], 0;\nmbarrier.pending_count.b64 %r4, "
               "%d9;\ncp.async.mbarrier.arrive.shared.b64 [b];\nmbarrier.arrive.noComplete.shared.b64 "
               "%d9, [b], 0;\nmbarrier.pending_count.b64 %r5, %d9;\n"
               "selp.u32 %r3, 1, 0, %p1; selp.u32 %r6, 2, 0, %p2; or.b32 %r3, %r3, %r6; selp.u32 %r6, "
               "4, 0, %p3; or.b32 %r3, %r3, %r6; selp.u32 %r6, 8, 0, %p4; or.b32 %r3, %r3, %r6;\n"
               "selp.u32 %r6, 16, 0, %p5; or.b32 %r3, %r3, %r6; st.global.v4.u32 [%d1+64], {%r2, %r3, "
               "%r4, %r5}; mbarrier.inval.shared.b64 [b];\n"),
        1, 1);
    assert_int_equal(INTS(c)[16], 2); /* pending before the first arrival */
    assert_int_equal(INTS(c)[17], 2 | 4 | 16);
    assert_int_equal(INTS(c)[18], 1); /* one of the two has dropped out for good */
    assert_int_equal(INTS(c)[19], 1);
    sim_case_close(&c);
#define ONE(body)                                                                                    \
    KERNEL(".shared .align 8 .b64 b;\nsetp.ne.u32 %p1, %r1, 0; @%p1 ret;\nmbarrier.init.shared.b64 " \
           "[b], 1;\n" body)
    must_fail(ONE("mbarrier.arrive.shared.b64 %d6, [b], 2;\n"), ST_DEVICE,
              "more arrivals at an mbarrier than it expects (1)");
    must_fail(ONE("mbarrier.inval.shared.b64 [b]; mbarrier.arrive.shared.b64 %d6, [b];\n"), ST_DEVICE,
              "not initialised");
    must_fail(ONE("W:\nmbarrier.test_wait.parity.shared.b64 %p2, [b], 0;\n@!%p2 bra W;\n"), ST_DEVICE,
              "what it reads never changes");
}

/* ---- printf ---- */
static void printing(void **state)
{
    (void)state;
#define PRINT(format, store)                                                                        \
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n.global .align 1 .b8 "  \
    "f[64] = {" format "};\n.global .align 1 .b8 word[4] = {97, 98, 99, 0};\n" ENTRY                \
    ".local .align 8 .b8 l[32];\nmov.u32 %r2, %ctaid.x; mov.u64 %d6, f; mov.u64 %d7, l; "           \
    "cvta.local.u64 %d7, %d7; mov.u64 %d8, word;\n" store                                           \
    "{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %d6; st.param.b64 [b], %d7; " \
    "call.uni (r), vprintf, (a, b); }\nret;\n}\n"
    struct sim_case c;
    /* "%*d|%-4s|%.*f%%\n"; then a string that is nowhere */
    sim_case_open(
        &c,
        SIM_HEAD PRINT(
            "37,42,100,124,37,45,52,115,124,37,46,42,102,37,37,10,0",
            "st.local.u32 [l], 5; st.local.u32 [l+4], %r2; st.local.u64 [l+8], %d8; st.local.u32 "
            "[l+16], 2; mov.f64 %e1, 0d3FF8000000000000; st.local.f64 [l+24], %e1;\n"),
        "k", 64);
    c.l.block.x = 1;
    c.l.grid.x = 12;
    c.l.threads = 4;
    sim_case_ok(&c);
    assert_non_null(c.stats.print);
    /* in the order of CTAs, whichever thread ran them */
    for (unsigned b = 0; b < 12; b++) {
        char want[32];
        snprintf(want, sizeof want, "%5u|abc |1.50%%\n", b);
        assert_memory_equal(c.stats.print + b * strlen(want), want, strlen(want));
    }
    sim_case_close(&c);
    must_fail(SIM_HEAD PRINT("37,115,10,0", "mov.u64 %d8, 77; st.local.u64 [l], %d8;\n"), ST_DEVICE,
              "a string is not in memory");
}

/* ---- calls ---- */
static void calls(void **state)
{
    (void)state;
    /* a struct by value, a register argument, a result in a register; and a pointer to what is no
     * function */
    struct sim_case c = sim_text_ok(
        SIM_HEAD ".func (.reg .b32 out) mix(.reg .b32 x, .param .align 8 .b8 pair[16])\n{\n.reg .b32 "
                 "%a<3>; .reg .b64 %b;\nld.param.u32 %a1, [pair]; ld.param.u64 %b, [pair+8]; "
                 "cvt.u32.u64 %a2, %b; mad.lo.u32 %a1, %a1, x, %a2; mov.b32 out, %a1;\nret;\n}\n" ENTRY
                 "{ .param .align 8 .b8 s[16]; cvt.u64.u32 %d6, %r1; st.param.u32 [s], 3; st.param.u64 "
                 "[s+8], %d6; call.uni (%r2), mix, (%r1, s); }\nst.global.u32 [%d3], %r2;\nret;\n}\n",
        1, 32);
    for (uint32_t t = 0; t < 32; t++)
        assert_int_equal(INTS(c)[t], 4 * t);
    sim_case_close(&c);
    must_fail(SIM_HEAD ENTRY "P: .callprototype _ ();\nmov.u64 %d6, 1234;\ncall %d6, (), P;\nret;\n}\n",
              ST_DEVICE, "which is not a function");
    /* nothing but registers, one of them narrower than the argument's */
    c = sim_text_ok(SIM_HEAD
                    ".func (.reg .b64 sum, .reg .u16 low) both(.reg .b64 x, .reg .u16 y)\n{\n.reg .b64 "
                    "%b; cvt.u64.u16 %b, y; add.u64 sum, x, %b; add.u16 low, y, 1;\nret;\n}\n" ENTRY
                    "cvt.u64.u32 %d6, %r1; shl.b64 %d6, %d6, 33; cvt.u16.u32 %h1, %r1; and.b32 %r3, "
                    "%r1, 1; setp.eq.u32 %p1, %r3, 1; mov.u64 %d7, 9; mov.u16 %h2, 8;\n"
                    "@%p1 call.uni (%d7, %h2), both, (%d6, %h1);\ncvt.u64.u16 %d8, %h2; "
                    "st.global.v2.u64 [%d5], {%d7, %d8};\nret;\n}\n",
                    1, 32);
    for (uint64_t t = 0; t < 32; t++) {
        assert_true(LONGS(c)[2 * t] == (t % 2 ? (t << 33) + t : 9));
        assert_true(LONGS(c)[2 * t + 1] == (t % 2 ? t + 1 : 8));
    }
    sim_case_close(&c);
    must_fail(SIM_HEAD ".func odd(.reg .pred q)\n{\nret;\n}\n" ENTRY "call odd, (%p1);\nret;\n}\n",
              ST_DEVICE, "does not model");
    must_fail(SIM_HEAD ".func deep()\n{\n.local .b8 l[64];\ncall deep, ();\nret;\n}\n" ENTRY
                       "call deep, ();\nret;\n}\n",
              ST_DEVICE, "calls nested too deep");
    must_fail(
        SIM_HEAD
        ".extern .func (.param .b32 r) nowhere (.param .b32 a);\n" ENTRY
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 1; call (r), nowhere, (a); }\nret;\n}\n",
        ST_DEVICE, "'nowhere' is defined elsewhere");
}

/* ---- addresses ---- */
/* The lanes of a loop's accesses lie at one place, then in sequence, then apart, then at one place
 * again. */
static void lanes_that_spread(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit < 3; limit++) {
        struct sim_case c;
        sim_case_open_with(
            &c,
            KERNEL("mov.u64 %d6, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\nL:\nand.b64 %d7, %d6, 3; "
                   "mul.lo.u64 %d7, %d7, %d2; add.u64 %d8, %d1, %d7;\n"
                   "ld.global.u32 %r4, [%d8]; ld.global.u32 %r5, [%d8+4]; ld.global.u32 %r6, [%d8+8]; "
                   "mad.lo.u32 %r2, %r2, 3, %r4; mad.lo.u32 %r2, %r2, 5, %r5; add.u32 %r2, %r2, %r6;\n"
                   "add.u64 %d6, %d6, 1; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 9;\n@%p1 bra "
                   "L;\nst.global.u32 [%d3+32768], %r2;\n"),
            "k", 65536, limit);
        for (uint32_t i = 0; i < 4096; i++)
            ((uint32_t *)(void *)c.data)[i] = i * i + 7;
        sim_case_ok(&c);
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t want = 0;
            for (uint32_t i = 0; i < 9; i++) {
                const uint32_t *at = INTS(c) + (i & 3) * t;
                want = (want * 3 + at[0]) * 5 + at[1] + at[2];
            }
            assert_int_equal(INTS(c)[8192 + t], want);
        }
        sim_case_close(&c);
    }
}

/* Words beside what a lane reads are not taken from before a store to them. */
static void stores_between(void **state)
{
    (void)state;
    for (unsigned limit = 0; limit < 3; limit++) {
        struct sim_case c;
        sim_case_open_with(
            &c,
            KERNEL(
                "ld.global.u32 %r2, [%d5]; ld.global.u32 %r6, [%d5+8]; add.u32 %r3, %r2, 1; "
                "st.global.u32 [%d5+4], %r3; ld.global.u32 %r4, [%d5+4]; ld.global.u32 %r5, [%d5+12];\n"
                "add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r6; st.global.u32 [%d3+32768], %r4;\n"),
            "k", 65536, limit);
        for (uint32_t i = 0; i < 4096; i++)
            ((uint32_t *)(void *)c.data)[i] = i * i + 7;
        sim_case_ok(&c);
        for (uint32_t t = 0; t < 32; t++) {
            const uint32_t *at = INTS(c) + 4 * t;
            assert_true(at[1] == at[0] + 1);
            assert_true(INTS(c)[8192 + t] == at[1] + at[2] + at[3]);
        }
        sim_case_close(&c);
    }
}

/* Memory over a file: what a launch stores is its own, what others see is as it was made until something
 * was stored. */
static bool count_and_give(void *ctx)
{
    ++*(unsigned *)ctx;
    return true;
}

/* Over zeros, over a file, and over one that is given away at the first store: then it is what changes.
 */
static void over_a_file(void **state)
{
    (void)state;
    enum { N = 1 << 20, FILE_OF, ZERO, GIVEN };
    for (unsigned how = FILE_OF; how <= GIVEN; how++) {
        struct sim_case c;
        int file = 0;
        unsigned asked = 0;
        struct sim_give give = { count_and_give, &asked };
        uint8_t *bytes = how == ZERO ? NULL : base_pages(N, &file);
        for (uint32_t i = 0; bytes && i < N; i++)
            bytes[i] = (uint8_t)(i * 7 + 1);
        sim_case_open(
            &c, KERNEL("ld.global.u32 %r2, [%d3]; add.u32 %r2, %r2, 5; st.global.u32 [%d3], %r2;\n"),
            "k", 64);
        uint64_t addr = sim_mem_alloc_over(c.mem, N, "over", file, how == GIVEN ? &give : NULL);
        assert_int_not_equal(addr, 0);
        assert_int_equal(sim_mem_alloc_over(c.mem, 4096, "small", file, NULL), 0);
        memcpy(c.params, &addr, 8);
        assert_false(sim_mem_take_written(c.mem, addr));
        sim_case_ok(&c);
        assert_true(sim_mem_take_written(c.mem, addr));
        const uint32_t *now = (const void *)sim_mem_host(c.mem, addr, N);
        const struct sim_mem_entry *e = sim_mem_entry(c.mem, addr);
        const uint32_t *view = (const void *)sim_mem_view(c.mem, e, false),
                       *made = (const void *)sim_mem_view(c.mem, e, true);
        for (uint32_t i = 0; i < N / 4; i++) {
            uint32_t first = 0;
            for (unsigned k = 0; bytes && k < 4; k++)
                first |= (uint32_t)(uint8_t)((4 * i + k) * 7 + 1) << 8 * k;
            assert_true(made[i] == (how == GIVEN ? now[i] : first));
            assert_true(now[i] == first + (i < 32 ? 5 : 0));
            assert_true(view[i] == now[i]);
            assert_true(!bytes || memcmp(bytes + 4 * i, how == GIVEN ? &now[i] : &first, 4) == 0);
        }
        sim_case_ok(&c);
        assert_int_equal(asked, how == GIVEN);
        sim_mem_view_free((uint8_t *)(uintptr_t)view, e->mapped);
        sim_mem_view_free((uint8_t *)(uintptr_t)made, e->mapped);
        sim_case_close(&c);
        if (bytes)
            base_pages_free(bytes, N, how == GIVEN ? -1 : file);
    }
}

/* ---- limits ---- */
static void limits(void **state)
{
    (void)state;
    struct sim_case c =
        sim_text(SIM_HEAD ".visible .entry k(.param .u64 p) .reqntid 64, 2\n{\nret;\n}\n", 1, 64);
    assert_true(c.st == ST_INPUT);
    assert_true(support_said(&c.ds, "requires blocks of 64 x 2 x 1"));
    sim_case_close(&c);
    c = sim_text(SIM_HEAD ".visible .entry k(.param .u64 p) .maxntid 32\n{\nret;\n}\n", 1, 64);
    assert_true(c.st == ST_INPUT);
    assert_true(support_said(&c.ds, "threads per block is 64, more than the kernel's .maxntid 32"));
    sim_case_close(&c);
    sim_case_open(&c, KERNEL(""), "k", 64);
    c.l.block = (struct dim3u){ 1024, 2, 1 };
    assert_true(sim_case_run(&c) == ST_INPUT);
    assert_true(support_said(&c.ds, "threads per block is 2048"));
    c.l.block = (struct dim3u){ 32, 1, 1 };
    c.st = ST_OK;
    c.l.shared = 1 << 20;
    assert_true(sim_case_run(&c) == ST_INPUT);
    assert_true(support_said(&c.ds, "shared memory per block"));
    sim_case_close(&c);
    /* constant memory and parameters are named as such */
    must_fail(SIM_HEAD
              ".const .b32 t[4];\n" ENTRY
              "mov.u64 %d6, t; ld.const.u32 %r2, [%d6+65536]; st.global.u32 [%d3], %r2;\nret;\n}\n",
              ST_DEVICE, "out-of-bounds read of 4 bytes at constant address");
    must_fail(KERNEL("mov.u64 %d6, p; mul.wide.u32 %d7, %r1, 4096; add.u64 %d6, %d6, %d7; ld.param.u32 "
                     "%r2, [%d6]; st.global.u32 [%d3], %r2;\n"),
              ST_DEVICE, "of parameters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lane_masks),     cmocka_unit_test(places),
        cmocka_unit_test(clocks),         cmocka_unit_test(stack),
        cmocka_unit_test(wide),           cmocka_unit_test(policies),
        cmocka_unit_test(partial_copies), cmocka_unit_test(lanes_that_go_astray),
        cmocka_unit_test(mbarrier_forms), cmocka_unit_test(printing),
        cmocka_unit_test(calls),          cmocka_unit_test(lanes_that_spread),
        cmocka_unit_test(stores_between), cmocka_unit_test(over_a_file),
        cmocka_unit_test(limits)
    };
    return cmocka_run_group_tests_name("sim exec: what is seldom used", tests, NULL, NULL);
}
