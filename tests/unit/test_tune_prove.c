/* Acceptance runs: texts that are wrong in one respect only, fed to the prover beside the original. */
#include "tests/unit/tune_support.h"
#include "engine/rec/result.h"

#include "engine/sim/sums.h"
#include "engine/tune/prove.h"
#include "engine/tune/tune_int.h"

#include <math.h>

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define ENTRY                                                                                        \
    ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 out)\n{\n"                          \
    "  .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<20>;\n"                                      \
    "  ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [out];\n"                     \
    "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, " \
    "%r3;\n"                                                                                         \
    "  mul.wide.u32 %d4, %r4, 4; add.s64 %d5, %d1, %d4; add.s64 %d6, %d2, %d4; add.s64 %d7, %d3, "   \
    "%d4;\n"

/* Reads a, adds to it in place, reads it again: that load must not be .nc. */
#define IN_PLACE(load)                                                                        \
    HEAD ENTRY "  ld.global.u32 %r5, [%d5]; add.u32 %r6, %r5, 7; st.global.u32 [%d5], %r6;\n" \
               "  " load " %r7, [%d5]; st.global.u32 [%d7], %r7;\n  ret;\n}\n"
#define PLAIN(body) \
    HEAD ENTRY "  ld.global.u32 %r5, [%d5];\n" body "  st.global.u32 [%d7], %r5;\n  ret;\n}\n"
/* A neighbour's value by way of shared memory. */
#define SHARED(sync, store)                                                                          \
    HEAD ".shared .align 4 .b8 s[256];\n" ENTRY                                                      \
         "  ld.global.u32 %r5, [%d5]; mov.u32 %r8, s; shl.b32 %r9, %r3, 2; add.u32 %r10, %r8, %r9; " \
         "xor.b32 %r11, %r9, 252; add.u32 %r11, %r8, %r11;\n" store sync                             \
         "  ld.shared.u32 %r5, [%r11]; st.global.u32 [%d7], %r5;\n  ret;\n}\n"
#define STORE "  st.shared.u32 [%r10], %r5;\n"

struct bench {
    struct dev *dev;
    struct arg_spec args[3];
    struct launch_spec launch;
    struct launch_data data;
    struct diags ds;
};

static void bench_open(struct bench *t)
{
    struct dev_env env = rig_env();
    memset(t, 0, sizeof *t);
    static char *const names[] = { "a", "b", "out" };
    for (size_t i = 0; i < 3; i++) {
        t->args[i] = (struct arg_spec){
            .kind = ARG_BUFFER, .name = names[i], .elem = ELEM_U32, .count = 512, .output = i == 2
        };
        t->args[i].init = (struct init_spec){ .kind = INIT_FILL, .integral = true };
    }
    t->args[0].init = (struct init_spec){
        .kind = INIT_RANDOM, .a = 0, .b = 1000, .ia = 0, .ib = 1000, .integral = true, .seed = 5
    };
    t->launch = (struct launch_spec){
        .kernel = "k", .grid = { 8, 1, 1 }, .block = { 64, 1, 1 }, .args = t->args, .nargs = 3
    };
    assert_status_ok(dev_open("sim:hopper-h200", &env, &t->dev, &t->ds), &t->ds);
    assert_status_ok(launch_data_make(&t->launch, 1 << 30, &t->data, &t->ds), &t->ds);
}

static void bench_shut(struct bench *t)
{
    launch_data_free(&t->data);
    dev_close(t->dev);
    diags_free(&t->ds);
}

static struct tune_proof prove(struct bench *t, const char *original, const char *rewritten,
                               enum tune_level level)
{
    struct dev_run run = dev_run_default();
    struct tune_prover *p = NULL;
    struct tune_proof proof;
    run.grid = t->launch.grid;
    run.block = t->launch.block;
    struct tune_text was = { str_of(original), &run }, is = { str_of(rewritten), &run };
    assert_status_ok(
        tune_prover_open(t->dev, "k.ptx", &t->launch, &t->data, &was, level, NULL, &p, &t->ds), &t->ds);
    assert_status_ok(tune_prover_check(p, &is, &proof, &t->ds), &t->ds);
    tune_prover_close(p);
    return proof;
}

/* One rewrite, both levels. */
static void expect(const char *original, const char *rewritten, enum tune_verdict_of quick,
                   enum tune_verdict_of full, const char *says)
{
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, original, rewritten, TUNE_QUICK);
    if (p.verdict != quick)
        print_message("quick: %s\n", p.message);
    assert_int_equal(p.verdict, quick);
    p = prove(&t, original, rewritten, TUNE_FULL);
    if (p.verdict != full || (says && !strstr(p.message, says)))
        print_message("full: %s\n", p.message);
    assert_int_equal(p.verdict, full);
    if (says)
        assert_non_null(strstr(p.message, says));
    bench_shut(&t);
}

static void test_the_same_text_is_proven(void **state)
{
    (void)state;
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, IN_PLACE("ld.global.u32"), IN_PLACE("ld.global.u32"), TUNE_FULL);
    assert_int_equal(p.verdict, PROOF_HOLDS);
    assert_int_equal(p.orders, 3);
    assert_int_equal(p.data_sets, 2);
    assert_int_equal(p.buffers, 2);
    bench_shut(&t);
}

/* Of 512 numbers from 0 to 1000 none need be 0, and none is 5000. */
#define WHERE(cond, more)                                           \
    PLAIN("  setp.eq.u32 %p1, %r5, " cond ";\n  @%p1 bra L;\n" more \
          "  bra M;\nL: add.u32 %r5, %r5, 9;\nM:\n")
static void test_data_are_varied_until_all_ways_are_gone(void **state)
{
    (void)state;
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, WHERE("0", ""), WHERE("0", ""), TUNE_FULL);
    assert_int_equal(p.unseen, 0);
    assert_true(tune_proof_proven(&p));
    assert_true(p.data_sets > 2);
    /* wrong for 0 alone */
    p = prove(&t, WHERE("0", ""), WHERE("5000", ""), TUNE_FULL);
    assert_int_equal(p.verdict, PROOF_BROKEN);
    bench_shut(&t);
}

static void test_a_way_that_no_data_go_is_named(void **state)
{
    (void)state;
    struct bench t;
    struct buf text = { 0 };
    bench_open(&t);
    struct tune_proof p = prove(&t, WHERE("5000", ""), WHERE("5000", ""), TUNE_FULL);
    assert_int_equal(p.verdict, PROOF_HOLDS);
    assert_int_equal(p.unseen, 1);
    assert_false(tune_proof_proven(&p));
    assert_string_equal(p.not_seen[0], "the jump of line 12");
    tune_proof_text(&p, &text);
    assert_non_null(strstr(
        text.s, "equal on what was tried (full: 3 orders, 2 data sets; not seen: the jump of line 12)"));
    buf_free(&text);
    bench_shut(&t);
}

static void test_a_way_that_the_launch_never_goes_counts_as_seen(void **state)
{
    (void)state;
    const char *fixed = PLAIN("  setp.gt.u32 %p1, %r2, 64; @%p1 add.u32 %r5, %r5, 1;\n");
    const char *free = PLAIN("  setp.gt.u32 %p1, %r3, 64; selp.u32 %r5, 1, %r5, %p1;\n");
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, fixed, fixed, TUNE_FULL);
    assert_true(tune_proof_proven(&p));
    p = prove(&t, free, free, TUNE_FULL);
    assert_string_equal(p.not_seen[0], "the first value of line 11");
    bench_shut(&t);
}

static void test_nc_reads_what_was_there(void **state)
{
    (void)state;
    expect(IN_PLACE("ld.global.u32"), IN_PLACE("ld.global.nc.u32"), PROOF_BROKEN, PROOF_BROKEN,
           "buffer 'out' element 0");
}

static void test_nc_of_a_buffer_that_stays_holds(void **state)
{
    (void)state;
    const char *nc =
        HEAD ENTRY "  ld.global.nc.u32 %r5, [%d5];\n  st.global.u32 [%d7], %r5;\n  ret;\n}\n";
    expect(PLAIN(""), nc, PROOF_HOLDS, PROOF_HOLDS, NULL);
}

static void test_uni_is_asserted(void **state)
{
    (void)state;
    const char *parts = PLAIN("  and.b32 %r6, %r3, 1; setp.eq.u32 %p1, %r6, 0;\n  @%p1 bra.uni L;\n  "
                              "add.u32 %r5, %r5, 0;\nL:\n");
    expect(PLAIN(""), parts, PROOF_BROKEN, PROOF_BROKEN, "0x55555555 of 0xffffffff");
    expect(PLAIN(""),
           PLAIN("  setp.ne.u32 %p1, %r1, 0;\n  @%p1 bra.uni L;\n  add.u32 %r5, %r5, 0;\nL:\n"),
           PROOF_HOLDS, PROOF_HOLDS, NULL);
}

/* 0 wherever CTA i runs on SM i. */
#define SM_PART \
    "  mov.u32 %r6, %smid; sub.u32 %r6, %r6, %r1; setp.ne.u32 %p1, %r6, 0; @%p1 add.u32 %r5, %r5, 1;\n"
static void test_smid_is_poisoned(void **state)
{
    (void)state;
    expect(PLAIN(""), PLAIN(SM_PART), PROOF_HOLDS, PROOF_BROKEN,
           "with another value of %smid (line 11: mov.u32 %r6, %smid)");
    expect(PLAIN(SM_PART), PLAIN(SM_PART), PROOF_HOLDS, PROOF_NONE,
           "the original itself has another result with another value of %smid (line 11: ");
}

/* The value as it is on this device is taken away: 0 there, and not 0 with another one. */
static void test_each_register_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *sreg, *is;
    } row[] = { { "%nsmid", "132" },
                { "%nwarpid", "64" },
                { "%total_smem_size", "0" },
                { "%aggr_smem_size", "0" },
                { "%pm3", "0" },
                { "%warpid", NULL },
                { "%gridid", "1" },
                { "%current_graph_exec", "0" } };
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        char body[300], text[2000], says[100];
        bool wide = !strcmp(row[i].sreg, "%gridid") || strstr(row[i].sreg, "graph");
        if (wide)
            snprintf(body, sizeof body,
                     "  mov.u64 %%d9, %s; cvt.u32.u64 %%r6, %%d9; sub.u32 %%r6, %%r6, %s; add.u32 %%r5, "
                     "%%r5, %%r6;\n",
                     row[i].sreg, row[i].is);
        else if (row[i].is)
            snprintf(body, sizeof body,
                     "  mov.u32 %%r6, %s; sub.u32 %%r6, %%r6, %s; add.u32 %%r5, %%r5, %%r6;\n",
                     row[i].sreg, row[i].is);
        else /* warp 0 of a CTA lies in an even place here */
            snprintf(
                body, sizeof body,
                "  mov.u32 %%r6, %s; shr.u32 %%r7, %%r3, 5; xor.b32 %%r6, %%r6, %%r7; and.b32 %%r6, "
                "%%r6, 1; add.u32 %%r5, %%r5, %%r6;\n",
                row[i].sreg);
        snprintf(text, sizeof text,
                 "%s%s  ld.global.u32 %%r5, [%%d5];\n%s  st.global.u32 [%%d7], %%r5;\n  ret;\n}\n",
                 ".version 8.3\n.target sm_90\n.address_size 64\n", ENTRY, body);
        snprintf(says, sizeof says, "%s", row[i].sreg);
        expect(PLAIN(""), text, PROOF_HOLDS, PROOF_BROKEN, says);
    }
}

/* Two registers: both are told. */
static void test_two_registers_are_both_named(void **state)
{
    (void)state;
    const char *two =
        PLAIN(SM_PART "  mov.u32 %r8, %nsmid; sub.u32 %r8, %r8, 132; add.u32 %r5, %r5, %r8;\n");
    expect(PLAIN(""), two, PROOF_HOLDS, PROOF_BROKEN,
           "%smid (line 11: mov.u32 %r6, %smid), and with another value of %nsmid (line 12");
}

/* What the launch says of dynamic shared memory is so, unless a pass changed it. */
static void test_dynamic_shared_memory_is_poisoned_where_it_changed(void **state)
{
    (void)state;
    const char *reads =
        PLAIN("  mov.u32 %r6, %dynamic_smem_size; and.b32 %r6, %r6, 256; add.u32 %r5, %r5, %r6;\n");
    struct bench t;
    bench_open(&t);
    struct dev_run was = dev_run_default(), is;
    struct tune_prover *p = NULL;
    struct tune_proof proof;
    was.grid = t.launch.grid;
    was.block = t.launch.block;
    is = was;
    is.shared = 1024;
    struct tune_text original = { str_of(reads), &was }, same = { str_of(reads), &was },
                     more = { str_of(reads), &is };
    assert_status_ok(
        tune_prover_open(t.dev, "k.ptx", &t.launch, &t.data, &original, TUNE_FULL, NULL, &p, &t.ds),
        &t.ds);
    assert_status_ok(tune_prover_check(p, &same, &proof, &t.ds), &t.ds);
    assert_int_equal(proof.verdict, PROOF_HOLDS);
    assert_status_ok(tune_prover_check(p, &more, &proof, &t.ds), &t.ds);
    assert_int_equal(proof.verdict, PROOF_BROKEN);
    assert_non_null(strstr(proof.message, "%dynamic_smem_size"));
    tune_prover_close(p);
    bench_shut(&t);
}

/* What is asked to stop stops: at its opening, and between the runs of a rewrite. */
static void test_a_proof_is_stopped(void **state)
{
    (void)state;
    struct bench t;
    bench_open(&t);
    struct dev_run run = dev_run_default();
    struct tune_prover *p = NULL;
    struct tune_proof proof;
    struct cancel stop = { .also = NULL };
    run.grid = t.launch.grid;
    run.block = t.launch.block;
    struct tune_text code = { str_of(PLAIN("")), &run };
    atomic_store(&stop.asked, true);
    assert_int_equal(
        tune_prover_open(t.dev, "k.ptx", &t.launch, &t.data, &code, TUNE_FULL, &stop, &p, &t.ds),
        ST_CANCELLED);
    assert_null(p);
    atomic_store(&stop.asked, false);
    assert_status_ok(
        tune_prover_open(t.dev, "k.ptx", &t.launch, &t.data, &code, TUNE_FULL, &stop, &p, &t.ds), &t.ds);
    atomic_store(&stop.asked, true);
    assert_int_equal(tune_prover_check(p, &code, &proof, &t.ds), ST_CANCELLED);
    tune_prover_close(p);
    bench_shut(&t);
}

/* A variable that the rewrite alone has is no result of the original's: it is named. */
static void test_what_is_not_compared_is_named(void **state)
{
    (void)state;
    const char *own =
        HEAD ".global .align 4 .u32 mine;\n" ENTRY "  ld.global.u32 %r5, [%d5]; st.global.u32 [mine], "
             "%r4;\n  st.global.u32 [%d7], %r5;\n  ret;\n}\n";
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, PLAIN(""), own, TUNE_QUICK);
    struct buf text = { 0 };
    tune_proof_text(&p, &text);
    assert_int_equal(p.verdict, PROOF_HOLDS);
    assert_int_equal(p.nleft_out, 1);
    assert_string_equal(p.left_out[0], "variable 'mine' (a pass added it)");
    assert_string_equal(text.s, "equal (quick); not compared: variable 'mine' (a pass added it)");
    p = prove(&t, PLAIN(""), PLAIN(""), TUNE_QUICK);
    assert_int_equal(p.nleft_out, 0);
    buf_free(&text);
    bench_shut(&t);
}

/* A function of that name that nothing calls prints nothing. */
static void test_printf_is_named_where_it_is_called(void **state)
{
    (void)state;
#define PRINTS(call)                                                                                   \
    HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 v);\n.global .align 1 .b8 " \
         "text[2] = {65, 0};\n" ENTRY "  ld.global.u32 %r5, [%d5];\n" call                             \
         "  st.global.u32 [%d7], %r5;\n  ret;\n}\n"
    const char *quiet = PRINTS(""), *loud = PRINTS("  mov.u64 %d9, text; cvta.global.u64 %d9, %d9; "
                                                   "mov.u64 %d10, 0; setp.ne.u32 %p1, %r4, 0; @%p1 bra "
                                                   "S;\n  { .param .b64 f; .param .b64 v; .param .b32 "
                                                   "r; st.param.b64 [f], %d9; st.param.b64 [v], %d10;\n"
                                                   "  call.uni (r), vprintf, (f, v); }\nS:\n");
    struct bench t;
    bench_open(&t);
    struct tune_proof p = prove(&t, quiet, quiet, TUNE_QUICK);
    assert_int_equal(p.nleft_out, 0);
    p = prove(&t, loud, loud, TUNE_QUICK);
    assert_int_equal(p.nleft_out, 1);
    assert_string_equal(p.left_out[0], "what printf prints");
    bench_shut(&t);
}

static void test_a_register_nobody_wrote_is_poisoned(void **state)
{
    (void)state;
    expect(PLAIN(""), PLAIN("  add.u32 %r5, %r5, %r19;\n"), PROOF_HOLDS, PROOF_BROKEN,
           "through registers that nobody wrote (line 11: add.u32 %r5, %r5, %r19)");
}

static void test_shared_memory_nobody_wrote_is_poisoned(void **state)
{
    (void)state;
    const char *zero = SHARED("  bar.sync 0;\n", "  mov.u32 %r5, 0; st.shared.u32 [%r10], %r5;\n"),
               *none = SHARED("  bar.sync 0;\n", "");
    expect(zero, none, PROOF_HOLDS, PROOF_BROKEN, "through shared or local memory that nobody wrote");
}

static void test_a_lost_barrier_shows_in_another_order(void **state)
{
    (void)state;
    expect(SHARED("  bar.sync 0;\n", STORE), SHARED("", STORE), PROOF_BROKEN, PROOF_BROKEN, NULL);
    expect(SHARED("  bar.sync 0;\n", STORE), SHARED("  bar.sync 1;\n", STORE), PROOF_HOLDS, PROOF_HOLDS,
           NULL);
}

static void test_an_original_that_races_is_said_to(void **state)
{
    (void)state;
    const char *last = HEAD ENTRY "  st.global.u32 [%d3], %r1;\n  ret;\n}\n";
    expect(last, last, PROOF_HOLDS, PROOF_NONE, "another result with CTAs and warps in reverse order");
}

static void test_a_second_data_set_is_drawn(void **state)
{
    (void)state;
    const char *uses = PLAIN("  ld.global.u32 %r6, [%d6]; add.u32 %r5, %r5, %r6;\n");
    expect(uses, PLAIN(""), PROOF_HOLDS, PROOF_BROKEN, "second data set");
}

static void test_buffers_that_are_no_output_are_compared(void **state)
{
    (void)state;
    expect(PLAIN("  st.global.u32 [%d6], %r4;\n"), PLAIN("  st.global.u32 [%d6], %r3;\n"), PROOF_BROKEN,
           PROOF_BROKEN, "buffer 'b' (not marked output) element 64");
    expect(PLAIN(""), PLAIN("  st.global.u32 [%d6], %r3;\n"), PROOF_BROKEN, PROOF_BROKEN,
           "the original leaves it alone");
}

#define VARIABLE(value)                                                                              \
    HEAD ".global .align 4 .u32 seen = 1;\n" ENTRY "  ld.global.u32 %r5, [%d5]; mov.u32 %r6, " value \
         "; st.global.u32 [seen], %r6;\n"                                                            \
         "  st.global.u32 [%d7], %r5;\n  ret;\n}\n"
static void test_module_variables_are_compared(void **state)
{
    (void)state;
    expect(VARIABLE("3"), VARIABLE("4"), PROOF_BROKEN, PROOF_BROKEN, "variable 'seen'");
}

static void test_a_rewrite_that_fails_is_no_proof(void **state)
{
    (void)state;
    expect(PLAIN(""), PLAIN("  mov.u64 %d9, 64; st.global.u32 [%d9], %r5;\n"), PROOF_BROKEN,
           PROOF_BROKEN, "0x40");
}

/* ---- which outputs float atomics reach ---- */
static unsigned tolerated(const char *body, bool out_too, bool *b, bool *out)
{
    struct arg_spec args[3] = { 0 };
    static char *const names[] = { "a", "b", "out" };
    struct launch_spec l = {
        .kernel = "k", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .args = args, .nargs = 3
    };
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct buf text = { 0 };
    for (size_t i = 0; i < 3; i++)
        args[i] = (struct arg_spec){
            .kind = ARG_BUFFER, .name = names[i], .elem = ELEM_F32, .count = 32, .output = i > 0
        };
    buf_printf(&text, "%s%s  .reg .f32 %%f<9>;\n  ld.global.f32 %%f1, [%%d5];\n%s  ret;\n}\n", HEAD,
               ENTRY, body);
    assert_status_ok(ptx_parse("t.ptx", (struct str){ text.s, text.n }, &m, &ds), &ds);
    unsigned n = tune_tolerate_atomics(m, &l);
    *b = args[1].tolerance > 0;
    *out = args[2].tolerance > 0;
    (void)out_too;
    ptx_free(m);
    buf_free(&text);
    diags_free(&ds);
    return n;
}

static void test_tolerance_is_for_what_atomics_reach(void **state)
{
    (void)state;
    bool b, out;
    assert_int_equal(
        tolerated("  red.global.add.f32 [%d6], %f1;\n  st.global.f32 [%d7], %f1;\n", false, &b, &out),
        1);
    assert_true(b);
    assert_true(!out);
    assert_int_equal(tolerated("  atom.global.add.f32 %f2, [%d6], %f1;\n  st.global.f32 [%d7], %f2;\n",
                               true, &b, &out),
                     2);
    assert_int_equal(tolerated("  red.global.add.f32 [%d6], %f1;\n  ld.global.f32 %f3, [%d6];\n  "
                               "mul.f32 %f3, %f3, %f1;\n  st.global.f32 [%d7], %f3;\n",
                               true, &b, &out),
                     2);
    assert_int_equal(tolerated("  red.global.add.f32 [%d6], %f1;\n  "
                               "ldu.global.f32 %f3, [%d6];\n  st.global.f32 [%d7], %f3;\n",
                               true, &b, &out),
                     2);
    assert_int_equal(tolerated("  red.shared.add.f32 [%r3], %f1;\n  ld.shared.f32 %f3, [%r3];\n  "
                               "st.global.f32 [%d7], %f3;\n",
                               true, &b, &out),
                     1);
    assert_true(!b);
    assert_true(out);
    assert_int_equal(
        tolerated("  ld.global.u64 %d9, [%d5];\n  red.global.add.f32 [%d9], %f1;\n", true, &b, &out), 2);
    assert_int_equal(tolerated("  st.global.f32 [%d7], %f1;\n", false, &b, &out), 0);
}

/* A buffer with 1e8 in element 0 forgives element 1 nothing. */
static void test_each_element_has_its_own_tolerance(void **state)
{
    (void)state;
    struct arg_spec ours = { .kind = ARG_BUFFER, .elem = ELEM_F32, .tolerance = 1e-4, .atomic = true },
                    stated = { .kind = ARG_BUFFER, .elem = ELEM_F32, .tolerance = 1e-4 };
    assert_true(tune_within(&ours, NULL, 1e8, 1e8 + 8));
    assert_true(!tune_within(&ours, NULL, 1e8, 1.001e8));
    assert_true(tune_within(&ours, NULL, 1e-6, 1.00001e-6));
    assert_true(!tune_within(&ours, NULL, 1e-6, 1.1e-6));
    assert_true(!tune_within(&ours, NULL, 0, 1e-9));
    assert_true(tune_within(&ours, NULL, NAN, NAN));
    assert_true(!tune_within(&ours, NULL, NAN, 1));
    assert_true(!tune_within(&ours, NULL, INFINITY, 1));
    assert_true(tune_within(&stated, NULL, 1e-6, 1.1e-6));
}

/* ---- what the order of float atomics can change ---- */
static struct tune_proof prove_floats(const char *original, const char *rewritten, bool derived)
{
    struct bench t;
    bench_open(&t);
    t.args[2].elem = ELEM_F32;
    t.args[2].tolerance = 1e-4;
    t.args[2].atomic = true;
    t.args[2].derived = derived;
    struct tune_proof p = prove(&t, original, rewritten, TUNE_FULL);
    bench_shut(&t);
    return p;
}
/* 1e8 summed into element 0, so many millionths into element 1: 512 threads */
#define SUMS(small)                                                                       \
    HEAD ENTRY "  .reg .f32 %f<9>;\n  mov.f32 %f1, 0f4CBEBC20; mov.f32 %f2, " small ";\n" \
               "  ld.param.u64 %d9, [out];\n"                                             \
               "  red.global.add.f32 [%d9], %f1;\n  red.global.add.f32 [%d9+4], %f2;\n  ret;\n}\n"
static void test_a_small_wrong_sum_beside_a_large_one_is_told(void **state)
{
    (void)state;
    assert_int_equal(prove_floats(SUMS("0f358637BD"), SUMS("0f358637BE"), false).verdict, PROOF_HOLDS);
    assert_int_equal(prove_floats(SUMS("0f358637BD"), SUMS("0f35C637BD"), false).verdict, PROOF_BROKEN);
}

/* One thread alone adds, so a sum of one term: an error of 5e-5 hides below 1e-4, and no order makes it.
 */
#define ONE(value)                                                                        \
    HEAD ENTRY "  .reg .f32 %f<9>;\n  mov.f32 %f1, " value "; setp.ne.u32 %p1, %r4, 0;\n" \
               "  ld.param.u64 %d9, [out];\n  @!%p1 red.global.add.f32 [%d9], %f1;\n  ret;\n}\n"
static void test_an_error_below_1e_4_that_no_order_makes_is_told(void **state)
{
    (void)state;
    struct tune_proof p = prove_floats(ONE("0f3F800000"), ONE("0f3F8001A3"), false); /* 1.00005 */
    assert_int_equal(p.verdict, PROOF_BROKEN);
    assert_non_null(strstr(p.message, "element 0"));
    assert_int_equal(prove_floats(ONE("0f3F800000"), ONE("0f3F800001"), false).verdict, PROOF_HOLDS);
}

/* Element 0 gets every thread's number with either sign, so the exact sum is 0: the order decides the
 * bits, far beyond 1e-4 of the sum itself. The rewrite adds in another order. */
#define CANCEL(which)                                                                                   \
    HEAD ENTRY "  .reg .f32 %f<9>;\n  " which                                                           \
               "\n  cvt.rn.f32.u32 %f1, %r4; mul.f32 %f1, %f1, 0f3DCCCCCD;\n"                           \
               "  ex2.approx.f32 %f3, 0f3F800000; fma.rn.f32 %f1, %f1, %f1, %f3;\n"                     \
               "  shr.u32 %r9, %r4, 8; setp.ne.u32 %p1, %r9, 0; and.b32 %r8, %r4, 255; cvt.rn.f32.u32 " \
               "%f2, %r8; mul.f32 %f2, %f2, 0f3DCCCCCD; fma.rn.f32 %f2, %f2, %f2, %f3;\n"               \
               "  @%p1 neg.f32 %f2, %f2;\n  ld.param.u64 %d9, [out];\n"                                 \
               "  red.global.add.f32 [%d9], %f2;\n  ret;\n}\n"
static void test_cancellation_is_forgiven(void **state)
{
    (void)state;
    struct tune_proof p = prove_floats(CANCEL(""), CANCEL("xor.b32 %r4, %r4, 173;"), false);
    if (p.verdict != PROOF_HOLDS)
        print_message("%s\n", p.message);
    assert_int_equal(p.verdict, PROOF_HOLDS);
}

/* What no atomic adds to, in the same buffer, has the original's bits. */
#define BESIDE(value)                                                                     \
    HEAD ENTRY "  .reg .f32 %f<9>;\n  mov.f32 %f1, 0f3F800000; mov.f32 %f2, " value ";\n" \
               "  ld.param.u64 %d9, [out];\n  red.global.add.f32 [%d9], %f1;\n"           \
               "  st.global.f32 [%d9+4], %f2;\n  ret;\n}\n"
static void test_what_no_atomic_adds_to_is_bit_equal(void **state)
{
    (void)state;
    assert_int_equal(prove_floats(BESIDE("0f3F800000"), BESIDE("0f3F800000"), false).verdict,
                     PROOF_HOLDS);
    assert_int_equal(prove_floats(BESIDE("0f3F800000"), BESIDE("0f3F800001"), false).verdict,
                     PROOF_BROKEN);
}

static void test_bounds_of_sums(void **state)
{
    (void)state;
    struct sim_sums *s = sim_sums_new();
    float cell[4] = { 0 }, one = 1, big = -1000;
    uint32_t bits, old = 0;
    double terms;
    assert_false(sim_sums_known(s));
    sim_sums_begin(s);
    assert_true(sim_sums_known(s));
    assert_true(sim_sums_bound(s, &cell[0], &terms) < 0);
    memcpy(&bits, &one, 4);
    for (int i = 0; i < 1000; i++)
        sim_sums_add(s, &cell[0], PTX_T_F32, old, bits, true);
    double b = sim_sums_bound(s, &cell[0], &terms);
    assert_int_equal((int)terms, 1000);
    assert_true(b >= 1000 * 0x1p-23 * 1000);
    assert_true(b < 1.001 * 1000 * 0x1p-23 * 1000);
    memcpy(&bits, &big, 4);
    sim_sums_add(s, &cell[1], PTX_T_F32, old, bits, true);
    b = sim_sums_bound(s, &cell[1], &terms);
    assert_true(b >= 1000 * 0x1p-23);
    assert_true(b < 1.001 * 1000 * 0x1p-23);
    assert_true(sim_sums_bound(s, &cell[2], &terms) < 0);
    assert_true(sim_sums_shared(s) == 0);
    sim_sums_add(s, &cell[3], PTX_T_F32, old, bits, false);
    sim_sums_cta(s);
    assert_true(sim_sums_shared(s) >= 1000 * 0x1p-23);
    assert_true(sim_sums_bound(s, &cell[3], &terms) < 0);
    /* both halves of an x2 */
    sim_sums_add(s, &cell[2], PTX_T_F16X2, 0, 0x3c003c00, true);
    assert_true(sim_sums_bound(s, (uint8_t *)&cell[2] + 2, &terms) > 0);
    sim_sums_begin(s);
    assert_true(sim_sums_bound(s, &cell[0], &terms) < 0);
    sim_sums_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_text_is_proven),
        cmocka_unit_test(test_nc_reads_what_was_there),
        cmocka_unit_test(test_nc_of_a_buffer_that_stays_holds),
        cmocka_unit_test(test_uni_is_asserted),
        cmocka_unit_test(test_smid_is_poisoned),
        cmocka_unit_test(test_each_register_is_named),
        cmocka_unit_test(test_two_registers_are_both_named),
        cmocka_unit_test(test_dynamic_shared_memory_is_poisoned_where_it_changed),
        cmocka_unit_test(test_what_is_not_compared_is_named),
        cmocka_unit_test(test_printf_is_named_where_it_is_called),
        cmocka_unit_test(test_an_error_below_1e_4_that_no_order_makes_is_told),
        cmocka_unit_test(test_a_proof_is_stopped),
        cmocka_unit_test(test_cancellation_is_forgiven),
        cmocka_unit_test(test_what_no_atomic_adds_to_is_bit_equal),
        cmocka_unit_test(test_bounds_of_sums),
        cmocka_unit_test(test_a_register_nobody_wrote_is_poisoned),
        cmocka_unit_test(test_shared_memory_nobody_wrote_is_poisoned),
        cmocka_unit_test(test_a_lost_barrier_shows_in_another_order),
        cmocka_unit_test(test_an_original_that_races_is_said_to),
        cmocka_unit_test(test_a_second_data_set_is_drawn),
        cmocka_unit_test(test_buffers_that_are_no_output_are_compared),
        cmocka_unit_test(test_module_variables_are_compared),
        cmocka_unit_test(test_a_rewrite_that_fails_is_no_proof),
        cmocka_unit_test(test_tolerance_is_for_what_atomics_reach),
        cmocka_unit_test(test_each_element_has_its_own_tolerance),
        cmocka_unit_test(test_data_are_varied_until_all_ways_are_gone),
        cmocka_unit_test(test_a_way_that_no_data_go_is_named),
        cmocka_unit_test(test_a_way_that_the_launch_never_goes_counts_as_seen),
        cmocka_unit_test(test_a_small_wrong_sum_beside_a_large_one_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
