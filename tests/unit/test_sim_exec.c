/* The executor's own ground: faults, barriers, divergence, warp-wide operations apart, order of
 * CTAs, sanitiser, records of single steps. */
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/mem.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"
#include "engine/sim/step.h"

#include "tests/unit/sim_support.h"

#include <stdatomic.h>
#include <time.h>

#define ENTRY                                                                                      \
    ".visible .entry k(.param .u64 p)\n{\n"                                                        \
    ".reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<10>; .reg .b16 %h<10>; .reg .f32 %f<10>;\n" \
    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.u64 %d3, %d1, %d2;\n"
#define KERNEL(body) SIM_HEAD ENTRY body "ret;\n}\n"
#define INTS(c)      ((const uint32_t *)(const void *)(c).data)

/* Must fail with a diagnostic that holds these texts, at this line of the text. */
static void must_fail(const char *text, uint32_t block, const char *what, const char *more,
                      uint32_t line)
{
    struct sim_case c = sim_text(text, 1, block);
    if (c.st != ST_DEVICE || !support_said(&c.ds, what) || !support_said(&c.ds, more))
        sim_case_print(&c);
    assert_int_equal(c.st, ST_DEVICE);
    assert_true(support_said(&c.ds, what));
    assert_true(support_said(&c.ds, more));
    if (line)
        assert_int_equal(c.ds.v[c.ds.n - 1].at.line, line);
    sim_case_close(&c);
}

/* ---- faults ---- */
static void bounds(void **state)
{
    (void)state;
    must_fail(KERNEL("st.global.u32 [%d3+65504], %r1;\n"), 32,
              "out-of-bounds write of 4 bytes at global address", "thread (8,0,0) of CTA (0,0,0)", 8);
    must_fail(KERNEL("st.global.u32 [%d3+65504], %r1;\n"), 32,
              "0 bytes past the end of buffer 'data' of 65536 bytes", "out-of-bounds", 8);
    must_fail(KERNEL("ld.global.u32 %r2, [%d3+-8];\n"), 32, "8 bytes before buffer 'data'",
              "thread (0,0,0)", 8);
    must_fail(KERNEL("cvt.u32.u64 %r2, %d3; cvt.u64.u32 %d3, %r2;\nld.global.u32 %r2, [%d3+4096];\n"),
              32, "the low 32 bits of an address in buffer 'data'", "thread (0,0,0)", 9);
    must_fail(KERNEL("add.u64 %d3, %d3, 0x3fffffffc;\nld.global.u32 %r2, [%d3];\n"), 32,
              "far from every buffer (the nearest, 'data', is at ", "an index that wrapped", 9);
    must_fail(KERNEL("ld.global.u32 %r2, [%d3+2];\n"), 32, "misaligned read of 4 bytes",
              "thread (0,0,0)", 8);
    must_fail(KERNEL("ld.global.v4.u32 {%r2,%r3,%r4,%r5}, [%d3];\n"), 32, "misaligned read of 16 bytes",
              "thread (1,0,0)", 8);
    must_fail(KERNEL(".shared .b32 s[16];\nmov.u32 %r2, s; mad.lo.u32 %r2, %r1, 4, %r2;\nst.shared.u32 "
                     "[%r2], %r1;\n"),
              32, "out-of-bounds write of 4 bytes at shared address 0x40",
              "the CTA has 64 bytes of shared memory", 10);
    must_fail(KERNEL(".local .align 4 .b8 l[16];\nmov.u64 %d4, l; add.u64 %d4, %d4, %d2;\nst.local.u32 "
                     "[%d4], %r1;\n"),
              32, "out-of-bounds write of 4 bytes at local address 0x10", "thread (4,0,0)", 10);
    must_fail(KERNEL("mov.u64 %d4, 0;\natom.global.add.u32 %r2, [%d4], 1;\n"), 32,
              "out-of-bounds atomic access", "a null pointer", 9);
}

static void stops(void **state)
{
    (void)state;
    must_fail(KERNEL("setp.eq.u32 %p1, %r1, 9;\n@%p1 trap;\n"), 32, "executed trap", "thread (9,0,0)",
              9);
    must_fail(KERNEL("setp.eq.u32 %p1, %r1, 9;\n@%p1 brkpt;\n"), 32, "stopped at a breakpoint",
              "thread (9,0,0)", 9);
    must_fail(KERNEL("mov.u64 %d2, 0;\nld.global.u32 %r2, [%d2];\n"), 32, "out-of-bounds read",
              "a null pointer", 9);
    must_fail(KERNEL("mov.u64 %d2, 0;\nst.global.u32 [%d2+16], %r1;\n"), 32, "out-of-bounds write",
              "a null pointer, and an offset", 9);
    must_fail(KERNEL("mov.u32 %r2, 16;\nbar.sync %r2;\n"), 32, "barrier 16 does not exist", "thread", 9);
    must_fail(KERNEL("mov.u32 %r2, 33;\nbar.sync 1, %r2;\n"), 32, "not a multiple of 32", "barrier 1",
              9);
    must_fail(KERNEL("mov.u32 %r2, 7;\nT: .branchtargets A;\nbrx.idx %r2, T;\nA:\n"), 32,
              "past the list of 1 targets", "index 7", 10);
}

static void no_progress(void **state)
{
    (void)state;
    must_fail(
        KERNEL("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra A;\nbar.sync 1;\nbra B;\nA:\nbar.sync 2;\nB:\n"), 64,
        "cannot continue", "warp 1 lanes ffffffff at barrier 1", 0);
    must_fail(KERNEL("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nbar.sync 0, 64;\nA:\nbar.sync 1;\n"), 64,
              "cannot continue", "barrier 0 is never complete", 0);
    must_fail(KERNEL("setp.eq.u32 %p1, %r1, 0;\n@%p1 bra A;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, "
                     "-1;\nA:\nbar.sync 0;\n"),
              32, "cannot continue", "for lanes 00000001", 0);
    /* circles: a flag that nobody sets, one warp of two at a barrier; a lock that is not released; a
     * branch to itself */
    must_fail(KERNEL("L:\nld.volatile.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n"),
              32, "what it reads never changes", "loops at line", 0);
    must_fail(KERNEL("setp.lt.u32 %p1, %r1, 32;\n@%p1 bra B;\nL:\nld.volatile.global.u32 %r2, "
                     "[%d1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\nB:\nbar.sync 0;\n"),
              64, "warp 0 lanes ffffffff at barrier 0", "warp 1 lanes ffffffff loops", 0);
    must_fail(
        KERNEL("L:\natom.global.cas.b32 %r2, [%d1], 0, 1;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 bra L;\n"), 32,
        "what it reads never changes", "loops", 0);
    must_fail(KERNEL("L:\nbra L;\n"), 32, "what it reads never changes", "loops", 9);
    /* no circle: attempts that are counted, in a register or in memory, or a clock that is read, could
     * end */
    must_fail(KERNEL("mov.u32 %r3, 0;\nL:\nadd.u32 %r3, %r3, 1;\nld.volatile.global.u32 %r2, "
                     "[%d1];\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra L;\n"),
              32, "no end in sight", "thread", 0);
    must_fail(KERNEL("L:\natom.global.add.u32 %r2, [%d1], 1;\nsetp.ne.u32 %p1, %r2, -1;\n@%p1 bra L;\n"),
              32, "no end in sight", "thread", 0);
    must_fail(
        KERNEL("mov.u32 %r2, 0;\nL:\nld.global.u32 %r2, [%d3];\nadd.u32 %r2, %r2, 1;\nst.global.u32 "
               "[%d3], %r2;\nsetp.ne.u32 %p1, %r2, -1;\nmov.u32 %r2, 0;\n@%p1 bra L;\n"),
        32,
        /* counted in memory alone: no register holds the count where the loop ends */
        "no end in sight", "thread", 0);
    must_fail(KERNEL("L:\nmov.u32 %r2, %clock;\nsetp.ne.u32 %p1, %r2, -1;\n@%p1 bra L;\n"), 32,
              "no end in sight", "thread", 0);
}

/* More CTAs than threads: all store the same for ever, which is a circle; the last of them counts, which
 * is none. */
#define STORES(step)                                                                                 \
    KERNEL("mov.u32 %r4, %ctaid.x; mul.wide.u32 %d2, %r4, 256; add.u64 %d3, %d3, %d2;\nsetp.eq.u32 " \
           "%p1, %r4, 3; selp.u32 %r5, " step ", 0, %p1;\n"                                          \
           "mov.u32 %r2, 0;\nL:\nld.global.u32 %r2, [%d3];\nadd.u32 %r2, %r2, %r5;\nst.global.u32 "  \
           "[%d3], %r2;\nsetp.ne.u32 %p1, %r2, -1;\nmov.u32 %r2, 0;\n@%p1 bra L;\n")
static void no_progress_of_many(void **state)
{
    static const char *const text[] = { STORES("0"), STORES("1") }, *const said[] = {
        "every CTA that could change it is in a loop too", "no end in sight"
    };
    (void)state;
    for (unsigned i = 0; i < ARRAY_LEN(text); i++) {
        struct sim_case c;
        sim_case_open(&c, text[i], "k", 65536);
        c.l.grid = (struct dim3u){ 4, 1, 1 };
        c.l.threads = 2;
        assert_int_equal(sim_case_run(&c), ST_DEVICE);
        if (!support_said(&c.ds, said[i]))
            sim_case_print(&c);
        assert_true(support_said(&c.ds, said[i]));
        sim_case_close(&c);
    }
}

/* ---- barriers ---- */
static void barriers(void **state)
{
    (void)state;
    /* every thread but the ones that left */
    struct sim_case c =
        sim_text_ok(KERNEL(".shared .b32 s[64];\nsetp.ge.u32 %p1, %r1, 40;\n@%p1 ret;\nmov.u32 %r2, s; "
                           "mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], %r1;\nbar.sync 0;\n"
                           "sub.u32 %r4, 39, %r1; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, "
                           "[%r4]; st.global.u32 [%d3], %r5;\n"),
                    1, 64);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(INTS(c)[i], 39 - i);
    sim_case_close(&c);
    /* producer arrives, consumer waits: 64 threads in all */
    c = sim_text_ok(
        KERNEL(".shared .b32 s[32];\nmov.u32 %r2, s; and.b32 %r6, %r1, 31; mad.lo.u32 %r3, %r6, 4, "
               "%r2;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra C;\n"
               "add.u32 %r4, %r1, 100; st.shared.u32 [%r3], %r4;\nbar.arrive 3, 64;\nret;\nC:\nbar.sync "
               "3, 64;\nld.shared.u32 %r5, [%r3]; st.global.u32 [%d3], %r5;\n"),
        1, 64);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], 132 + i);
    sim_case_close(&c);
    c = sim_text_ok(KERNEL("setp.lt.u32 %p1, %r1, 50;\nbar.red.popc.u32 %r2, 0, %p1;\nbar.red.and.pred "
                           "%p2, 0, %p1;\nbar.red.or.pred %p3, 0, !%p1;\n"
                           "selp.u32 %r3, 1000, 0, %p2; selp.u32 %r4, 2000, 0, %p3; add.u32 %r2, %r2, "
                           "%r3; add.u32 %r2, %r2, %r4; st.global.u32 [%d3], %r2;\n"),
                    1, 96);
    for (uint32_t i = 0; i < 96; i++)
        assert_int_equal(INTS(c)[i], 2050);
    sim_case_close(&c);
    /* lanes of one warp reach the barrier by different ways */
    c = sim_text_ok(KERNEL("and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0;\n@%p1 bra A;\nbarrier.sync "
                           "0;\nadd.u32 %r3, %r1, 1;\nbra B;\nA:\nbarrier.sync 0;\nadd.u32 %r3, %r1, "
                           "2;\nB:\nst.global.u32 [%d3], %r3;\n"),
                    1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(INTS(c)[i], i + (i & 1 ? 1 : 2));
    sim_case_close(&c);
}

/* A shuffle and a vote whose lanes stand at different instructions with the same mask. */
static void apart(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL("setp.lt.u32 %p1, %r1, 16;\n@%p1 bra A;\nadd.u32 %r2, %r1, 100;\nshfl.sync.bfly.b32 %r3, "
               "%r2, 31, 31, -1;\nbar.warp.sync -1;\nbra B;\nA:\nadd.u32 %r4, %r1, 200;\n"
               "shfl.sync.bfly.b32 %r3, %r4, 31, 31, -1;\nbar.warp.sync -1;\nB:\nst.global.u32 [%d3], "
               "%r3;\n"),
        1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], i < 16 ? 131 - i : 231 - i);
    sim_case_close(&c);
    c = sim_text_ok(KERNEL("mov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 1;\nsetp.le.u32 %p1, %r2, %r1;\n@%p1 "
                           "bra L;\nactivemask.b32 %r3;\nst.global.u32 [%d3], %r3;\n"),
                    1, 32);
    /* the loop's exit is where all lanes meet */
    assert_int_equal(INTS(c)[0], 0xffffffffu);
    sim_case_close(&c);
    c = sim_text_ok(KERNEL("elect.sync %r2|%p1, 0xfff0;\nselp.u32 %r3, 100, 0, %p1; add.u32 %r2, %r2, "
                           "%r3; st.global.u32 [%d3], %r2;\n"),
                    1, 32);
    assert_int_equal(INTS(c)[4], 104);
    assert_int_equal(INTS(c)[5], 4);
    sim_case_close(&c);
}

/* A flag in shared memory passed between warps without a barrier. */
static void flags(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL(".shared .b32 f;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra W;\nL:\nld.volatile.shared.u32 "
               "%r2, [f];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra L;\nst.global.u32 [%d3], %r2;\nret;\n"
               "W:\nmov.u32 %r3, 77;\nst.volatile.shared.u32 [f], %r3;\n"),
        1, 64);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], 77);
    sim_case_close(&c);
    /* each CTA waits for the one before it, whatever the number of host threads */
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        sim_case_open(
            &c,
            KERNEL("mov.u32 %r2, %ctaid.x;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra "
                   "E;\nL:\nld.acquire.gpu.global.u32 %r3, [%d1];\nsetp.ne.u32 %p2, %r3, %r2;\n@%p2 bra "
                   "L;\n"
                   "mul.wide.u32 %d4, %r2, 4; add.u64 %d4, %d4, %d1; st.global.u32 [%d4+4096], "
                   "%r3;\nadd.u32 %r3, %r3, 1; st.release.gpu.global.u32 [%d1], %r3;\nE:\n"),
            "k", 65536);
        c.l.grid.x = 100;
        c.l.block.x = 64;
        c.l.threads = threads;
        sim_case_ok(&c);
        for (uint32_t i = 0; i < 100; i++)
            assert_int_equal(INTS(c)[1024 + i], i);
        sim_case_close(&c);
    }
}

/* The same bytes for any number of threads, also where CTAs add to one word. */
static void threads(void **state)
{
    (void)state;
    const char *text =
        KERNEL("mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 64, %r1; and.b32 %r4, %r3, 15; mul.wide.u32 "
               "%d4, %r4, 4; add.u64 %d4, %d4, %d1;\n"
               "red.global.add.u32 [%d4], %r3;\nred.global.max.s32 [%d4+64], %r3;\natom.global.xor.b32 "
               "%r5, [%d4+128], %r3;\nst.global.u32 [%d3+1024], %r1;\n");
    uint64_t hash = 0;
    for (unsigned n = 1; n <= 4; n++) {
        struct sim_case c;
        sim_case_open(&c, text, "k", 65536);
        c.l.grid.x = 500;
        c.l.block.x = 64;
        c.l.threads = n;
        sim_case_ok(&c);
        uint64_t h = base_hash(c.data, 65536);
        assert_true(n == 1 || h == hash);
        hash = h;
        assert_int_equal(c.stats.inst_thread, 500 * 64 * 14);
        sim_case_close(&c);
    }
}

/* Who is told of progress is told by one thread at a time: the workbench makes its pictures there. */
struct telling {
    atomic_int inside;
    int calls, together;
};
static void tell(void *ctx, double done)
{
    struct telling *t = ctx;
    const struct timespec while_it_works = { .tv_nsec = 500000 };
    t->together += atomic_fetch_add(&t->inside, 1) > 0;
    t->calls += done > 0 && done <= 1;
    nanosleep(&while_it_works, NULL);
    atomic_fetch_sub(&t->inside, 1);
}
static void progress(void **state)
{
    (void)state;
    struct telling t = { 0 };
    struct sim_case c;
    sim_case_open(&c, KERNEL("st.global.u32 [%d3], %r1;\n"), "k", 65536);
    c.l.grid.x = 2000;
    c.l.threads = 4;
    c.l.progress = tell;
    c.l.ctx = &t;
    sim_case_ok(&c);
    assert_true(t.calls > 0);
    assert_int_equal(t.together, 0);
    sim_case_close(&c);
}

static void cancelled(void **state)
{
    (void)state;
    struct sim_case c;
    struct cancel asked;
    atomic_init(&asked.asked, true);
    sim_case_open(&c, KERNEL("L:\nadd.u32 %r2, %r2, 1;\nbra L;\n"), "k", 65536);
    c.l.cancel = &asked;
    c.l.max_cycles = 0;
    assert_int_equal(sim_case_run(&c), ST_CANCELLED);
    sim_case_close(&c);
}

/* ---- sanitiser ---- */
static void check(const char *text, bool uninit, bool races, uint32_t grid, const char *said)
{
    struct sim_case c;
    sim_case_open(&c, text, "k", 65536);
    uint64_t extra = sim_mem_alloc(c.mem, 4096, "fresh");
    assert_true(extra != 0);
    memcpy(c.data, &extra, 8);
    c.l.grid.x = grid;
    c.l.block.x = 64;
    c.l.check_uninit = uninit;
    c.l.check_races = races;
    sim_case_run(&c);
    if ((c.st == ST_OK) != !said)
        sim_case_print(&c);
    assert_int_equal(c.st, said ? ST_DEVICE : ST_OK);
    assert_true(!said || support_said(&c.ds, said));
    sim_case_close(&c);
}
static void sanitiser(void **state)
{
    (void)state;
    check(KERNEL("ld.global.u64 %d4, [%d1];\nld.global.u32 %r2, [%d4+16];\n"), true, false, 1,
          "read of 4 bytes nobody has written at global address");
    check(KERNEL("ld.global.u64 %d4, [%d1];\nadd.u64 %d4, %d4, %d2;\nst.global.u32 [%d4], "
                 "%r1;\nld.global.u32 %r2, [%d4];\n"),
          true, false, 1, NULL);
    check(KERNEL(".shared .b32 s[64];\nmov.u32 %r2, s; ld.shared.u32 %r3, [%r2+12];\n"), true, false, 1,
          "shared memory+12");
    const char *exchange = KERNEL(".shared .b32 s[64];\nmov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; "
                                  "st.shared.u32 [%r3], %r1;\nbar.sync 0;\nxor.b32 %r4, %r1, 63; "
                                  "mad.lo.u32 %r4, %r4, 4, %r2;\nld.shared.u32 %r5, [%r4];\n");
    const char *missing =
        KERNEL(".shared .b32 s[64];\nmov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], "
               "%r1;\nxor.b32 %r4, %r1, 63; mad.lo.u32 %r4, %r4, 4, %r2;\nld.shared.u32 %r5, [%r4];\n");
    check(exchange, true, true, 1, NULL);
    check(missing, false, true, 1, "nothing orders the two");
    check(KERNEL("st.global.u32 [%d3+8], %r1;\n"), false, true, 1, NULL);
    check(KERNEL("st.global.u32 [%d3+8], %r1;\n"), false, true, 2, NULL); /* the same from both CTAs */
    check(KERNEL("mov.u32 %r2, %ctaid.x;\nst.global.u32 [%d3+8], %r2;\n"), false, true, 2, "data+8");
    check(KERNEL("red.global.add.u32 [%d1+8], 1;\n"), false, true, 4, NULL);
    /* stores of what is there commute with the store and the reads before; a reader is ordered with none
     */
    check(KERNEL("st.global.u32 [%d3+8], 7;\n"), false, true, 2, NULL);
    check(KERNEL("st.global.u32 [%d3+8], 7;\nst.global.u32 [%d3+8], 7;\n"), false, true, 2, NULL);
    check(KERNEL("st.global.u32 [%d3+8], 7;\nld.global.u32 %r2, [%d1+8];\n"), false, true, 2, "data+8");
    check(KERNEL("st.global.u32 [%d3+8], 7;\nst.global.u32 [%d3+8], %r1;\n"), false, true, 2, "data+8");
    /* strong accesses do not race with each other: a flag that is waited for */
    const char *flag = KERNEL("shr.u32 %r2, %r1, 5;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra "
                              "SET;\nW:\nld.volatile.global.u32 %r3, [%d1+8];\nsetp.eq.u32 %p2, %r3, "
                              "0;\n@%p2 bra W;\nbra E;\nSET:\nst.volatile.global.u32 [%d1+8], 1;\nE:\n");
    check(flag, false, true, 1, NULL);
}

/* ---- asynchronous ---- */
static void mbarriers(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL(".shared .align 8 .b64 b; .shared .align 16 .b32 s[64];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 "
               "bra I;\nmbarrier.init.shared::cta.b64 [b], 64;\nI:\nbar.sync 0;\n"
               "mov.u32 %r2, s; mad.lo.u32 %r3, %r1, 4, %r2; st.shared.u32 [%r3], "
               "%r1;\nmbarrier.arrive.shared::cta.b64 %d4, [b];\nW:\nmbarrier.try_wait.shared::cta.b64 "
               "%p2, [b], %d4;\n@!%p2 bra W;\n"
               "xor.b32 %r4, %r1, 63; mad.lo.u32 %r4, %r4, 4, %r2; ld.shared.u32 %r5, [%r4]; "
               "st.global.u32 [%d3], %r5;\n"),
        1, 64);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(INTS(c)[i], i ^ 63);
    sim_case_close(&c);
    sim_case_open(
        &c,
        KERNEL(
            ".shared .align 8 .b64 b; .shared .align 16 .b32 s[64];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra "
            "I;\nmbarrier.init.shared::cta.b64 [b], 1;\n"
            "mbarrier.arrive.expect_tx.shared::cta.b64 %d5, [b], "
            "256;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], 256, "
            "[b];\nI:\nbar.sync 0;\n"
            "W:\nmbarrier.try_wait.parity.shared::cta.b64 %p2, [b], 0;\n@!%p2 bra W;\nmov.u32 %r2, s; "
            "mad.lo.u32 %r4, %r1, 4, %r2; ld.shared.u32 %r5, [%r4]; st.global.u32 [%d3+1024], %r5;\n"),
        "k", 65536);
    c.l.block.x = 64;
    for (uint32_t i = 0; i < 64; i++)
        memcpy(c.data + 4 * i, &(uint32_t){ i * 3 }, 4);
    sim_case_ok(&c);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(INTS(c)[256 + i], i * 3);
    sim_case_close(&c);
}

/* ---- single steps ---- */
static void records(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(
        &c,
        KERNEL("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %d5, "
               "0.25;\nld.global.nc.L1::no_allocate.L2::128B.u32 %r2, [%d3];\n"
               "ld.global.L2::cache_hint.u32 %r3, [%d3+64], %d5;\nst.global.cg.u32 [%d3+128], "
               "%r2;\nsetp.lt.u32 %p1, %r1, 8;\n@%p1 atom.global.add.u32 %r4, [%d1], "
               "1;\natom.global.add.u32 %r3, [%d1], 0;\nadd.u32 %r2, %r3, 1;\natom.global.exch.b32 %r4, "
               "[%d1], %r2;\nprefetch.global.L2 [%d3];\nbar.sync 0;\n"),
        "k", 65536);
    c.l.block.x = 64;
    assert_status_ok(c.st, &c.ds);
    struct exec_launch *x;
    assert_status_ok(exec_launch_new(c.p, &c.l, &x, &c.ds), &c.ds);
    struct exec_worker *k = exec_worker_new(x);
    struct exec_cta *cta = exec_cta_new(k);
    exec_cta_start(cta, 0, 3, 8, false);
    struct exec_step seen[8];
    struct exec_step s;
    unsigned n = 0, steps = 0;
    struct exec_warp *w = exec_cta_warp(cta, 0);
    do {
        exec_step(w, steps++, &s);
        if (s.access.kind && s.access.space == PTX_SPACE_GLOBAL)
            seen[n++] = s;
    } while (s.event != STEP_BARRIER);
    assert_int_equal(n, 7);
    assert_true(exec_warp_blocked(w));
    assert_true(!exec_warp_peek(w));
    assert_int_equal(seen[0].access.kind, ACCESS_LOAD);
    assert_true(seen[0].inst->policy.nc);
    assert_true(seen[0].inst->policy.l1 == EVICT_NO_ALLOCATE);
    assert_true(seen[0].inst->policy.l2_prefetch == 128);
    /* the first looks the allocation up, lane by lane */
    assert_int_equal(seen[0].access.shape, SHAPE_EACH);
    assert_true(seen[0].access.addr[5] == c.addr + 20);
    assert_true(seen[0].access.mask == EXEC_FULL);
    assert_true(seen[0].access.bytes == 4);
    assert_int_equal(seen[0].inst->load_id, 0);
    assert_int_equal(exec_hint_primary(seen[1].access.hint), EVICT_LAST);
    assert_int_equal(exec_hint_secondary(seen[1].access.hint), EVICT_FIRST);
    assert_true(exec_hint_fraction(seen[1].access.hint) == 0.25);
    assert_true(seen[2].access.kind == ACCESS_STORE);
    assert_true(seen[2].inst->policy.cop == COP_CG);
    /* nobody reads its result; the next one's is read; an exchange is no reduction */
    assert_true(seen[3].access.kind == ACCESS_RED);
    assert_true(seen[4].access.kind == ACCESS_ATOMIC);
    assert_true(seen[5].access.kind == ACCESS_ATOMIC);
    assert_true(seen[3].mask == 0xff);
    assert_true(seen[3].active == EXEC_FULL);
    assert_true(seen[6].access.kind == ACCESS_PREFETCH);
    assert_true(seen[6].access.level == 2);
    do
        exec_step(exec_cta_warp(cta, 1), steps++, &s);
    while (s.event != STEP_EXIT);
    assert_false(exec_warp_blocked(w));
    exec_step(w, steps, &s);
    assert_true(s.event == STEP_EXIT);
    assert_true(exec_cta_done(cta));
    exec_cta_free(cta);
    exec_worker_free(k);
    exec_launch_free(x);
    sim_case_close(&c);
}

/* The same load reads where everybody does first, then what its own worker has written. */
static void private_views(void **state)
{
    (void)state;
    for (uint64_t bytes = 65536; bytes <= 4u << 20; bytes *= 64) {
        struct sim_case c;
        sim_case_open(&c,
                      KERNEL("mov.u32 %r4, 0;\nAGAIN: ld.global.u32 %r2, [%d3];\nadd.u32 %r2, %r2, "
                             "5;\nst.global.u32 [%d3], %r2;\n"
                             "add.u32 %r4, %r4, 1;\nsetp.lt.u32 %p1, %r4, 2;\n@%p1 bra "
                             "AGAIN;\nld.global.u32 %r3, [%d3];\nst.global.u32 [%d3+256], %r3;\n"),
                      "k", bytes);
        memset(c.data, 1, 512);
        struct exec_launch *x;
        assert_status_ok(exec_launch_new(c.p, &c.l, &x, &c.ds), &c.ds);
        struct exec_worker *k = exec_worker_new_private(x);
        struct exec_cta *cta = exec_cta_new(k);
        exec_cta_start(cta, 0, 0, 0, false);
        assert_int_equal(exec_cta_run(cta, 1000), RUN_DONE);
        assert_int_equal(INTS(c)[0], 0x01010101);
        assert_int_equal(INTS(c)[64], 0x01010101);
        assert_int_equal(
            *(const uint32_t *)(const void *)(exec_private_host(k, sim_mem_find(c.mem, c.addr), false) +
                                              256),
            0x0101010b);
        exec_cta_free(cta);
        exec_worker_free(k);
        exec_launch_free(x);
        sim_case_close(&c);
    }
}

/* The n-th allocation fails, for every n until all goes well: an error each time, never a crash. */
/* Lane after lane pushes its pair of words; the last one's stays, and each got its neighbour's. */
static void wide_atomics(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        SIM_HEAD ENTRY
        ".reg .b128 %q<5>; cvt.u64.u32 %d4, %r1; add.u64 %d5, %d4, 100; mov.b128 %q1, {%d4, "
        "%d5};\natom.global.exch.b128 %q2, [%d1+1024], %q1;\n"
        "mov.b128 {%d6, %d7}, %q2; mad.wide.u32 %d3, %r1, 16, %d1; st.global.v2.u64 [%d3], {%d6, %d7};\n"
        "atom.global.cas.b128 %q3, [%d1+1024], %q1, %q2;\nret;\n}\n",
        1, 32);
    const uint64_t *d = (const void *)c.data;
    for (uint64_t i = 1; i < 32; i++) {
        assert_true(d[2 * i] == i - 1);
        assert_true(d[2 * i + 1] == i + 99);
    }
    assert_true(d[128] == 30);
    assert_true(d[129] == 130); /* only lane 31 found its own, and put back what it had got */
    sim_case_close(&c);
}

static void heap_misuse(void **state)
{
    (void)state;
#define HEAP \
    ".extern .func (.param .b64 r) malloc (.param .b64 a);\n.extern .func free (.param .b64 a);\n"
#define FREE "{ .param .b64 x; st.param.b64 [x], %d5; call.uni free, (x); }\n"
    must_fail(SIM_HEAD HEAP ENTRY "{ .param .b64 x; .param .b64 y; st.param.b64 [x], 24; call.uni (y), "
                                  "malloc, (x); ld.param.b64 %d5, [y]; }\n" FREE FREE "ret;\n}\n",
              1, "which was freed before", "thread (0,0,0)", 12);
    must_fail(SIM_HEAD HEAP ENTRY "add.u64 %d5, %d1, 16;\n" FREE "ret;\n}\n", 1,
              "which malloc did not give", "thread (0,0,0)", 11);
}

/* Every kind of access goes through the same checks. */
static void bounds_of_all(void **state)
{
    (void)state;
    must_fail(KERNEL("st.v2.u32 [%d1+4], {%r1, %r1};\n"), 1,
              "misaligned write of 8 bytes at global address", "thread (0,0,0)", 8);
    must_fail(KERNEL("st.v2.u32 [%d1+65536], {%r1, %r1};\n"), 1, "out-of-bounds write of 8 bytes",
              "0 bytes past the end of buffer 'data'", 8);
    must_fail(
        KERNEL(".shared .align 16 .b8 s[32];\ncp.async.ca.shared.global [s+16], [%d1+65528], 16;\n"), 1,
        "out-of-bounds", "buffer 'data'", 9);
    must_fail(KERNEL(".shared .align 16 .b8 s[32];\ncp.async.ca.shared.global [s+32], [%d1], 16;\n"), 1,
              "out-of-bounds copy of 16 bytes at shared address 0x20", "32 bytes of shared", 9);
    must_fail(KERNEL(".shared .align 16 .b8 s[32];\ncp.async.bulk.global.shared::cta.bulk_group "
                     "[%d1+65520], [s], 32;\n"),
              1, "out-of-bounds", "buffer 'data'", 9);
    must_fail(KERNEL("red.add.u32 [%d1+65538], 1;\n"), 1, "atomic access", "buffer 'data'", 8);
    must_fail(
        KERNEL(".shared .b32 s[4];\nmov.u64 %d4, s; cvta.shared.u64 %d4, %d4;\nst.u32 [%d4+16], %r1;\n"),
        1, "out-of-bounds write of 4 bytes at shared address 0x10", "16 bytes of shared", 10);
}

/* Who fills a buffer again only when a launch has stored into it must be told of every kind of store. */
static void written(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool writes;
    } t[] = {
        { "ld.global.u32 %r2, [%d3]; ld.u32 %r3, [%d3]; prefetch.global.L1 [%d3];\n", false },
        { ".shared .align 16 .b8 s[512]; st.shared.u32 [s], %r1; cp.async.ca.shared.global [s], [%d1], "
          "16;\n",
          true /* told too much, never too little */ },
        { "st.global.u32 [%d3], %r1;\n", true },
        { "st.u32 [%d3], %r1;\n", true },
        { "st.global.v2.b64 [%d1], {%d1, %d1};\n", true },
        { "red.global.add.u32 [%d3], 1;\n", true },
        { "atom.global.exch.b32 %r2, [%d3], 1;\n", true },
        { "atom.add.f32 %f1, [%d3], 0f3F800000;\n", true },
        { ".shared .align 16 .b8 s[512]; cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], 32;\n",
          true },
        { "setp.eq.u32 %p1, %r1, 40; @%p1 st.global.u32 [%d3], %r1;\n", false }
    };
    for (size_t k = 0; k < ARRAY_LEN(t); k++) {
        char text[1200];
        snprintf(text, sizeof text, "%s%sret;\n}\n", SIM_HEAD ENTRY, t[k].body);
        struct sim_case c;
        sim_case_open(&c, text, "k", 65536);
        assert_true(sim_mem_take_written(c.mem, c.addr));
        assert_false(sim_mem_take_written(c.mem, c.addr));
        sim_case_ok(&c);
        if (sim_mem_take_written(c.mem, c.addr) != t[k].writes)
            fail_msg("%s", t[k].body);
        assert_false(sim_mem_take_written(c.mem, c.addr));
        sim_case_close(&c);
    }
}

/* Quarters of a warp that name themselves as members of one instruction (tiles of cooperative groups):
 * each has its own result. */
static void parties(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL("shr.u32 %r2, %r1, 3; shl.b32 %r3, %r2, 3; mov.u32 %r4, 255; shl.b32 %r4, %r4, %r3;\n"
               "mad.lo.u32 %r5, %r1, 16, 0; cvt.u64.u32 %d4, %r5; add.u64 %d4, %d4, %d1;\n"
               "setp.gt.u32 %p1, %r1, 11; vote.sync.ballot.b32 %r6, %p1, %r4; vote.sync.all.pred %p2, "
               "%p1, %r4; selp.u32 %r7, 1, 0, %p2;\n"
               "redux.sync.add.u32 %r8, %r1, %r4; and.b32 %r9, %r1, 1; match.any.sync.b32 %r10, %r9, "
               "%r4; match.all.sync.b32 %r11|%p3, %r2, %r4;\n"
               "selp.u32 %r12, 2, 0, %p3; or.b32 %r7, %r7, %r12; elect.sync %r13|%p4, %r4; selp.u32 "
               "%r12, 4, 0, %p4; or.b32 %r7, %r7, %r12;\n"
               "st.global.v4.u32 [%d4], {%r6, %r7, %r8, %r10};\n"),
        1, 32);
    for (uint32_t i = 0; i < 32; i++) {
        const uint32_t *v = INTS(c) + 4 * (size_t)i, tile = 255u << (i & ~7u), from = i & ~7u;
        assert_int_equal(v[0], tile & ~0xfffu);
        assert_int_equal(v[1], (from > 11 ? 1 : 0) | 2 | (i == from ? 4 : 0));
        assert_int_equal(v[2], 8 * from + 28);
        assert_int_equal(v[3], tile & (i & 1 ? 0xaaaaaaaau : 0x55555555u));
    }
    sim_case_close(&c);
}

/* A 32-bit address wraps: the base may lie before the variable, as nvcc for sm_100 counts down from its
 * end. */
static void wrapped_address(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL(".shared .align 16 .b32 s[128];\nshl.b32 %r2, %r1, 2; mov.u32 %r3, s; add.u32 %r4, %r3, "
               "%r2; st.shared.u32 [%r4], %r1; bar.sync 0;\n"
               "sub.u32 %r5, %r3, %r2; ld.shared.u32 %r6, [%r5+124]; sub.u32 %r5, %r5, 512; "
               "ld.shared.v2.u32 {%r7, %r8}, [%r3+8]; ld.volatile.shared.u32 %r9, [%r5+636];\n"
               "sub.u32 %r6, %r6, %r9; add.u32 %r6, %r6, %r9; atom.shared.add.u32 %r9, [%r5+636], 0; "
               "sub.u32 %r9, %r9, %r6; add.u32 %r6, %r6, %r9; st.global.u32 [%d3], %r6;\n"),
        1, 32);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(INTS(c)[i], 31 - i);
    sim_case_close(&c);
}

/* CTA 0 waits for CTA 1, and does a lot between two looks: it must make room all the same. */
static void slow_wait(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        KERNEL(
            "mov.u32 %r2, %ctaid.x; setp.ne.u32 %p1, %r2, 0; @%p1 bra SET;\nLOOK: mov.u32 %r3, 400;\n"
            "WORK: sub.u32 %r3, %r3, 1; setp.ne.u32 %p2, %r3, 0; @%p2 bra "
            "WORK;\nld.acquire.gpu.global.u32 %r4, [%d1+4096]; setp.eq.u32 %p3, %r4, 0; @%p3 bra LOOK;\n"
            "st.global.u32 [%d3], %r4; bra END;\nSET: mov.u32 %r5, 7; st.release.gpu.global.u32 "
            "[%d1+4096], %r5;\nEND:\n"),
        2, 32);
    assert_int_equal(INTS(c)[0], 7);
    sim_case_close(&c);
}

static void out_of_memory(void **state)
{
    (void)state;
    const char *text = KERNEL(
        ".local .align 4 .b8 l[16]; .shared .b32 s[8];\nmov.u64 %d4, l; st.local.u32 [%d4], %r1; "
        "ld.local.u32 %r2, [%d4]; st.shared.u32 [s], %r2; bar.sync 0; st.global.u32 [%d3], %r2;\n");
    for (uint64_t n = 1;; n++) {
        struct sim_case c;
        sim_case_open(&c, text, "none", 65536); /* parses; that kernel does not exist */
        struct sim_preset g = sim_preset_default();
        base_fail_after(n);
        enum status st = sim_load(c.m, STR("k"), &g, c.mem, &c.p, &c.ds);
        if (st == ST_OK)
            st = sim_run(c.p, &c.l, &c.stats, &c.ds);
        base_fail_after(0);
        assert_true(st == ST_OK || st == ST_NOMEM);
        sim_case_close(&c);
        if (st == ST_OK)
            return;
        assert_true(n < 1000);
    }
}

/* f0 calls f1, f1 calls f2 ...: as deep as a module likes; local memory is what the deepest chain needs.
 */
/* Processor time, not time of day. */
static double chain_seconds(int deep)
{
    struct buf b = { 0 };
    buf_puts(&b, SIM_HEAD);
    for (int i = deep; i-- > 0;)
        if (i + 1 < deep)
            buf_printf(&b, ".func f%d()\n{\n.local .align 4 .b8 l[4];\ncall.uni f%d;\nret;\n}\n", i,
                       i + 1);
        else
            buf_printf(&b, ".func f%d()\n{\n.local .align 4 .b8 l[4];\nret;\n}\n", i);
    buf_puts(&b, ".visible .entry k(.param .u64 data)\n{\ncall.uni f0;\nret;\n}\n");
    struct sim_case c;
    clock_t t = clock();
    sim_case_open(&c, b.s, "k", 64);
    t = clock() - t;
    assert_status_ok(c.st, &c.ds);
    assert_true(sim_program_resources(c.p).local_bytes >= 4u * (unsigned)deep);
    sim_case_close(&c);
    buf_free(&b);
    return (double)t / CLOCKS_PER_SEC;
}

static void long_call_chain(void **state)
{
    (void)state;
    double few = chain_seconds(3000), many = chain_seconds(60000);
    /* Twenty times as many: a quadratic walk takes 400 times, a linear one on a busy machine less than 100. */
    assert_true(many < 100 * few + 0.05);
}

static void refusals(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(
        &c, SIM_HEAD ENTRY "tex.2dms.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r5,%r6,%r7,%r7}];\nret;\n}\n",
        "k", 64);
    assert_int_equal(c.st, ST_DEVICE);
    assert_true(support_said(&c.ds, "does not model 'tex.2dms.v4.s32.s32"));
    assert_int_equal(c.ds.v[0].at.line, 8);
    sim_case_close(&c);
    sim_case_open(&c, KERNEL("ld.global.u32 %r2, [%d1+8589934592];\n"), "k", 64);
    assert_true(c.st != ST_OK);
    sim_case_close(&c);
    sim_case_open(&c, KERNEL("vmin2.s32.s32.s32 %r1.h10, %r2.h42, %r3.h10, %r4;\n"), "k", 64);
    assert_true(c.st == ST_DEVICE);
    assert_true(support_said(&c.ds, "selector"));
    sim_case_close(&c);
    /* unreachable, or in a kernel nobody launches: no matter */
    sim_case_open(
        &c, SIM_HEAD ENTRY "ret;\ntex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f5,%f6}];\nret;\n}\n",
        "k", 64);
    sim_case_ok(&c);
    sim_case_close(&c);
}

/* What ran before does not show in the addresses: they decide where hashed caches put lines. */
static void addresses_start_anew(void **state)
{
    (void)state;
    struct sim_mem *m = sim_mem_new(1 << 26);
    uint64_t a = sim_mem_alloc(m, 5000, "a"), b = sim_mem_alloc(m, 3 << 20, "b"),
             c = sim_mem_alloc(m, 1, "c");
    assert_true(a < b);
    assert_true(b < c);
    assert_int_equal(sim_mem_release(m, b), ST_OK);
    uint64_t d = sim_mem_alloc(m, 64, "d");
    assert_true(d > c); /* above all that is there */
    assert_int_equal(sim_mem_release(m, d), ST_OK);
    assert_int_equal(sim_mem_alloc(m, 64, "again"), d);
    assert_int_equal(sim_mem_release(m, d), ST_OK);
    assert_int_equal(sim_mem_release(m, a), ST_OK);
    assert_int_equal(sim_mem_release(m, c), ST_OK);
    assert_int_equal(sim_mem_alloc(m, 5000, "a"), a);
    assert_int_equal(sim_mem_alloc(m, 3 << 20, "b"), b);
    assert_null(sim_mem_host(m, c, 1));
    sim_mem_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(addresses_start_anew),
                                        cmocka_unit_test(bounds),
                                        cmocka_unit_test(stops),
                                        cmocka_unit_test(no_progress),
                                        cmocka_unit_test(no_progress_of_many),
                                        cmocka_unit_test(barriers),
                                        cmocka_unit_test(apart),
                                        cmocka_unit_test(parties),
                                        cmocka_unit_test(wrapped_address),
                                        cmocka_unit_test(slow_wait),
                                        cmocka_unit_test(flags),
                                        cmocka_unit_test(threads),
                                        cmocka_unit_test(progress),
                                        cmocka_unit_test(cancelled),
                                        cmocka_unit_test(sanitiser),
                                        cmocka_unit_test(mbarriers),
                                        cmocka_unit_test(records),
                                        cmocka_unit_test(private_views),
                                        cmocka_unit_test(wide_atomics),
                                        cmocka_unit_test(heap_misuse),
                                        cmocka_unit_test(bounds_of_all),
                                        cmocka_unit_test(written),
                                        cmocka_unit_test(out_of_memory),
                                        cmocka_unit_test(long_call_chain),
                                        cmocka_unit_test(refusals) };
    return cmocka_run_group_tests_name("sim exec", tests, NULL, NULL);
}
