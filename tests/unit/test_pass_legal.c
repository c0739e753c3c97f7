/* The model checker checked: litmus tests with outcomes derived by hand, reduction against brute force,
 * rewrites known to be legal or not; and a few generated kernels times every pass. The campaign: make
 * modelcheck. */
#include "engine/ptx/ptx.h"

#include "tests/modelcheck/mc.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"
#define KERNEL(body)                                                                                    \
    HEAD ".visible .entry kern(.param .u64 par_0, .param .u64 par_1)\n{\n.reg .pred %p<4>;\n.reg .b32 " \
         "%r<12>;\n.reg .b64 %rd<8>;\n"                                                                 \
         ".shared .align 8 .b8 s[64];\nld.param.u64 %rd1, [par_0];\nld.param.u64 %rd2, "                \
         "[par_1];\nmov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %tid.x;\n" body "ret;\n}\n"

static struct mc_launch launch_of(uint32_t ctas, uint32_t threads)
{
    struct mc_launch l = {
        .grid = { ctas, 1, 1 }, .block = { threads, 1, 1 }, .warp = 32, .sms = 2, .nparams = 2
    };
    l.param[0].bytes = l.param[1].bytes = 32; /* par_0: where they meet; par_1: what they saw */
    return l;
}

static struct mc_program *loaded(const char *text, const struct mc_launch *l)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct mc_program *p = NULL;
    char why[128] = "";
    assert_status_ok(ptx_parse("litmus", str_of(text), &m, &ds), &ds);
    assert_int_equal(mc_load(m, str_of("kern"), l, NULL, &p, why), ST_OK);
    ptx_free(m);
    diags_free(&ds);
    return p;
}

static struct mc_result explored(const char *text, uint32_t ctas, uint32_t threads, bool brute)
{
    struct mc_launch l = launch_of(ctas, threads);
    struct mc_program *p = loaded(text, &l);
    struct mc_limits lim = { .brute = brute, .states = 200000 };
    struct mc_result r;
    assert_int_equal(mc_explore(p, &lim, &r), ST_OK);
    assert_false(r.limit);
    assert_string_equal(r.unknown, "");
    mc_unload(p);
    return r;
}

/* Litmus tests: how many final memories there are, whether somebody may wait for ever, whether there is
 * a race. */
#define SB                                                                                       \
    "setp.eq.s32 %p1, %r1, 0;\nmov.u32 %r3, 1;\n@%p1 bra L;\nst.relaxed.gpu.global.u32 [%rd1], " \
    "%r3;\nld.relaxed.gpu.global.u32 %r4, [%rd1+4];\n"                                           \
    "st.global.u32 [%rd2], %r4;\nbra E;\nL:\nst.relaxed.gpu.global.u32 [%rd1+4], "               \
    "%r3;\nld.relaxed.gpu.global.u32 %r4, [%rd1];\nst.global.u32 [%rd2+4], %r4;\nE:\n"
#define MP                                                                                       \
    "setp.eq.s32 %p1, %r1, 0;\nmov.u32 %r3, 1;\n@%p1 bra L;\nst.relaxed.gpu.global.u32 [%rd1], " \
    "%r3;\nst.release.gpu.global.u32 [%rd1+4], %r3;\nbra E;\n"                                   \
    "L:\nld.acquire.gpu.global.u32 %r4, [%rd1+4];\nld.relaxed.gpu.global.u32 %r5, "              \
    "[%rd1];\nst.global.u32 [%rd2], %r4;\nst.global.u32 [%rd2+4], %r5;\nE:\n"
#define SPIN(load)                                                                                      \
    "setp.eq.s32 %p1, %r1, 0;\nmov.u32 %r3, 1;\n@%p1 bra L;\nst.volatile.global.u32 [%rd1], %r3;\nbra " \
    "E;\nL:\n" load "\nsetp.eq.s32 %p2, %r4, 0;\n@%p2 bra L;\nst.global.u32 [%rd2], %r4;\nE:\n"
#define TICKET                                                                                      \
    "atom.global.add.u32 %r3, [%rd1], 1;\nmad.wide.u32 %rd3, %r1, 4, %rd2;\nst.global.u32 [%rd3], " \
    "%r3;\n"
#define LOST \
    "ld.volatile.global.u32 %r3, [%rd1];\nadd.s32 %r3, %r3, 1;\nst.volatile.global.u32 [%rd1], %r3;\n"
#define TILE                                                                                     \
    "mov.u32 %r3, s;\nmad.lo.s32 %r4, %r2, 4, %r3;\nadd.s32 %r5, %r2, 7;\nst.shared.u32 [%r4], " \
    "%r5;\nbar.sync 0;\nxor.b32 %r6, %r2, 1;\n"                                                  \
    "mad.lo.s32 %r6, %r6, 4, %r3;\nld.shared.u32 %r7, [%r6];\nmad.wide.u32 %rd3, %r2, 4, "       \
    "%rd2;\nst.global.u32 [%rd3], %r7;\n"
#define NOBAR                                                                                    \
    "mov.u32 %r3, s;\nmad.lo.s32 %r4, %r2, 4, %r3;\nadd.s32 %r5, %r2, 7;\nst.shared.u32 [%r4], " \
    "%r5;\nxor.b32 %r6, %r2, 1;\n"                                                               \
    "mad.lo.s32 %r6, %r6, 4, %r3;\nld.shared.u32 %r7, [%r6];\nmad.wide.u32 %rd3, %r2, 4, "       \
    "%rd2;\nst.global.u32 [%rd3], %r7;\n"
#define LOCKED                                                                                          \
    "L:\natom.global.cas.b32 %r3, [%rd1], 0, 1;\nsetp.ne.s32 %p1, %r3, 0;\n@%p1 bra L;\nld.global.u32 " \
    "%r4, [%rd1+4];\nmad.lo.s32 %r4, %r4, 2, %r1;\nst.global.u32 [%rd1+4], %r4;\n"                      \
    "atom.global.exch.b32 %r3, [%rd1], 0;\n"
#define DEKKER                                                                                        \
    "xor.b32 %r3, %r1, 1;\nmad.wide.u32 %rd3, %r1, 4, %rd1;\nmad.wide.u32 %rd4, %r3, 4, "             \
    "%rd1;\nmov.u32 %r4, 1;\nst.volatile.global.u32 [%rd3], %r4;\n"                                   \
    "ld.volatile.global.u32 %r5, [%rd4];\nsetp.ne.s32 %p1, %r5, 0;\n@%p1 bra E;\nred.global.add.u32 " \
    "[%rd2], 1;\nE:\n"
#define DEADLOCK "setp.eq.s32 %p1, %r2, 0;\n@%p1 bar.sync 0;\n@!%p1 bar.sync 1;\n"
#define OWN_NC                                                                     \
    "setp.ne.s32 %p1, %r1, 0;\n@%p1 ret;\nmov.u32 %r3, 5;\nst.global.u32 [%rd1], " \
    "%r3;\nld.global.nc.u32 %r4, [%rd1];\nst.global.u32 [%rd2], %r4;\n"
#define UNI "setp.eq.s32 %p1, %r2, 0;\n@%p1 bra.uni E;\nst.global.u32 [%rd1], %r1;\nE:\n"
static const struct litmus {
    const char *name, *text;
    uint32_t ctas, threads, finals;
    bool stuck, racy, parted;
} litmus[] = {
    { "store buffering: 01 10 11", KERNEL(SB), 2, 1, 3, false, false, false },
    { "message passing: 00 01 11", KERNEL(MP), 2, 1, 3, false, false, false },
    { "wait on a volatile flag", KERNEL(SPIN("ld.volatile.global.u32 %r4, [%rd1];")), 2, 1, 1, false,
      false, false },
    { "wait by an atomic", KERNEL(SPIN("atom.global.or.b32 %r4, [%rd1], 0;")), 2, 1, 1, false, false,
      false },
    { "wait by a plain load", KERNEL(SPIN("ld.global.u32 %r4, [%rd1];")), 2, 1, 1, false, true, false },
    { "tickets of three: 3!", KERNEL(TICKET), 3, 1, 6, false, false, false },
    { "lost updates of three: 1 2 3", KERNEL(LOST), 3, 1, 3, false, false, false },
    { "a tile behind a barrier", KERNEL(TILE), 1, 2, 1, false, false, false },
    { "a tile without one: at least one sees the other", KERNEL(NOBAR), 1, 2, 3, false, true, false },
    { "three sections under a lock: as many as orders", KERNEL(LOCKED), 3, 1, 6, false, false, false },
    { "at most one of Dekker's comes in", KERNEL(DEKKER), 2, 1, 2, false, false, false },
    { "two barriers that never fill", KERNEL(DEADLOCK), 1, 2, 0, true, false, false },
    { ".nc after an own store: old or new", KERNEL(OWN_NC), 2, 1, 2, false, false, false },
    { ".uni on the thread number", KERNEL(UNI), 1, 2, 1, false, false, true },
};

static void litmus_outcomes(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(litmus); k++) {
        const struct litmus *l = &litmus[k];
        struct mc_result r = explored(l->text, l->ctas, l->threads, false);
        if (r.nfinal != l->finals || r.stuck != l->stuck || r.racy != l->racy || r.parted != l->parted)
            fail_msg("%s: %u finals, stuck %d, racy %d, parted %d", l->name, r.nfinal, r.stuck, r.racy,
                     r.parted);
        mc_result_free(&r);
    }
}

static void same_results(const struct mc_result *a, const struct mc_result *b, const char *what)
{
    if (a->nfinal != b->nfinal || memcmp(a->final, b->final, a->nfinal * sizeof *a->final) != 0 ||
        a->stuck != b->stuck || a->fault != b->fault)
        fail_msg("%s: %u finals, stuck %d; without reduction %u, stuck %d", what, a->nfinal, a->stuck,
                 b->nfinal, b->stuck);
}

static void reduction_loses_nothing_in_litmus(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(litmus); k++) {
        struct mc_result a = explored(litmus[k].text, litmus[k].ctas, litmus[k].threads, false);
        struct mc_result b = explored(litmus[k].text, litmus[k].ctas, litmus[k].threads, true);
        same_results(&a, &b, litmus[k].name);
        assert_int_equal(a.racy, b.racy);
        mc_result_free(&a);
        mc_result_free(&b);
    }
}

/* Generated kernels whose whole state space is small: the same set with and without reduction. */
static void reduction_loses_nothing_in_kernels(void **state)
{
    (void)state;
    const char *want = getenv("MC_BRUTE");
    unsigned compared = 0, most = want ? (unsigned)atoi(want) : 25;
    for (uint64_t seed = 1; seed < 4000 && compared < most; seed++) {
        struct mc_kernel k;
        mc_generate(seed, &k);
        if (dim3u_count(k.launch.grid) * dim3u_count(k.launch.block) <= 4) {
            struct ptx_module *m = NULL;
            struct mc_program *p = NULL;
            struct diags ds = { 0 };
            char why[128];
            struct mc_limits lim = { .states = 1500 }, all = { .states = 4000, .brute = true };
            struct mc_result a, b;
            assert_status_ok(ptx_parse("kern", (struct str){ k.text.s, k.text.n }, &m, &ds), &ds);
            assert_int_equal(mc_load(m, str_of("kern"), &k.launch, NULL, &p, why), ST_OK);
            assert_int_equal(mc_explore(p, &lim, &a), ST_OK);
            assert_int_equal(mc_explore(p, &all, &b), ST_OK);
            if (!a.limit && !b.limit && !a.unknown[0] && !b.unknown[0]) {
                same_results(&a, &b, k.what);
                compared++;
            }
            mc_result_free(&a);
            mc_result_free(&b);
            mc_unload(p);
            ptx_free(m);
            diags_free(&ds);
        }
        mc_kernel_free(&k);
    }
    assert_int_equal(compared, most);
}

/* ---- rewrites written by hand ---- */
#define CHAIN(who)                                                                                  \
    who "setp.eq.s32 %p1, %r3, 0;\n@%p1 bra S;\nadd.s32 %r4, %r3, -1;\nmad.wide.u32 %rd3, %r4, 4, " \
        "%rd1;\nL:\natom.global.add.u32 %r5, [%rd3], 0;\nsetp.eq.s32 %p2, %r5, 0;\n@%p2 bra L;\n"   \
        "S:\nmad.wide.u32 %rd3, %r3, 4, %rd1;\nred.global.add.u32 [%rd3], 1;\n"
#define SEL(load)                                                                              \
    "sub.s64 %rd3, %rd2, %rd1;\nmad.wide.u32 %rd4, %r1, 4, %rd2;\nmad.wide.u32 %rd5, %r1, 4, " \
    "%rd1;\nadd.s64 %rd5, %rd5, %rd3;\nld.global.u32 %r3, [%rd4];\nadd.s32 %r3, %r3, 100;\n"   \
    "st.global.u32 [%rd5], %r3;\n" load                                                        \
    " %r4, [%rd4];\nadd.s32 %r4, %r4, 1;\nst.global.u32 [%rd4+16], %r4;\n"
static const struct {
    const char *name, *before, *after;
    uint32_t ctas, threads;
    enum mc_verdict want;
} pairs[] = {
    { "a chain renamed backwards", KERNEL(CHAIN("mov.u32 %r3, %r1;\n")),
      KERNEL(CHAIN("mov.u32 %r3, 2;\nsub.s32 %r3, %r3, %r1;\n")), 3, 1, MC_ILLEGAL },
    { "a chain with other registers", KERNEL(CHAIN("mov.u32 %r3, %r1;\n")),
      KERNEL(CHAIN("mov.u32 %r9, %r1;\nmov.u32 %r3, %r9;\n")), 3, 1, MC_LEGAL },
    { ".nc of what the thread wrote by another pointer", KERNEL(SEL("ld.global.u32")),
      KERNEL(SEL("ld.global.nc.u32")), 2, 1, MC_ILLEGAL },
    { ".cg instead", KERNEL(SEL("ld.global.u32")), KERNEL(SEL("ld.global.cg.u32")), 2, 1, MC_LEGAL },
    { "an atomic taken apart", KERNEL("red.global.add.u32 [%rd1], 1;\n"), KERNEL(LOST), 2, 1,
      MC_ILLEGAL },
    { "the other way round: fewer results", KERNEL(LOST), KERNEL("red.global.add.u32 [%rd1], 1;\n"), 2,
      1, MC_LEGAL },
    { "a barrier taken out", KERNEL(TILE), KERNEL(NOBAR), 1, 2, MC_ILLEGAL },
    { "a store outside the buffer", KERNEL(TICKET), KERNEL(TICKET "st.global.u32 [%rd1+64], %r1;\n"), 2,
      1, MC_ILLEGAL },
    { "an instruction that is not modelled", KERNEL(TICKET), KERNEL(TICKET "mov.u32 %r5, %clock;\n"), 2,
      1, MC_UNCHECKED },
};

static void hand_written_rewrites(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(pairs); k++) {
        struct mc_launch l = launch_of(pairs[k].ctas, pairs[k].threads);
        struct mc_program *a = loaded(pairs[k].before, &l), *b = loaded(pairs[k].after, &l);
        struct mc_origin o;
        char why[160] = "";
        assert_int_equal(mc_origin_make(a, 4000, &o, why), ST_OK);
        enum mc_verdict v = mc_judge(a, &o, b, 4000, why, NULL);
        if (v != pairs[k].want)
            fail_msg("%s: verdict %d, %s", pairs[k].name, v, why);
        mc_origin_free(&o);
        mc_unload(a);
        mc_unload(b);
    }
}

static void the_interleaving_is_told(void **state)
{
    (void)state;
    struct mc_launch l = launch_of(2, 1);
    struct mc_program *a = loaded(KERNEL("red.global.add.u32 [%rd1], 1;\n"), &l),
                      *b = loaded(KERNEL(LOST), &l);
    struct mc_origin o;
    char why[160];
    struct buf trace = { 0 };
    assert_int_equal(mc_origin_make(a, 4000, &o, why), ST_OK);
    assert_int_equal(mc_judge(a, &o, b, 4000, why, &trace), MC_ILLEGAL);
    assert_non_null(trace.s);
    assert_non_null(strstr(trace.s, "CTA 1 thread 0"));
    buf_free(&trace);
    mc_origin_free(&o);
    mc_unload(a);
    mc_unload(b);
}

static void a_number_is_a_kernel(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct mc_kernel a, b;
        struct ptx_module *m = NULL;
        struct diags ds = { 0 };
        mc_generate(seed, &a);
        mc_generate(seed, &b);
        assert_string_equal(a.text.s, b.text.s);
        assert_status_ok(ptx_parse("kern", (struct str){ a.text.s, a.text.n }, &m, &ds), &ds);
        ptx_free(m);
        diags_free(&ds);
        mc_kernel_free(&a);
        mc_kernel_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(litmus_outcomes),
        cmocka_unit_test(reduction_loses_nothing_in_litmus),
        cmocka_unit_test(reduction_loses_nothing_in_kernels),
        cmocka_unit_test(hand_written_rewrites),
        cmocka_unit_test(the_interleaving_is_told),
        cmocka_unit_test(a_number_is_a_kernel),
    };
    return cmocka_run_group_tests_name("pass_legal", tests, NULL, NULL);
}
