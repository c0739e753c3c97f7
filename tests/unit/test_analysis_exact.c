/* Exact counts: the paper's base table, cases worked out by hand, and closed
 * forms against executed slices on kernels made from random shapes. */
#include "tests/unit/analysis_support.h"

#include "engine/analysis/closed_form.h"
#include "engine/analysis/closed_form_cases.h"
#include "engine/analysis/facts.h"
#include "engine/analysis/slice/slice.h"

/* ---- the paper's base table (coalesce paper, table 3; digest section 4) ---- */
struct base_row {
    const char *file;
    double degree;
    unsigned sectors;
    double expected, measured;
};
static const struct base_row base[] = { { "kernels/stride_32.ptx", 0.03125, 1, 32, 32 },
                                        { "kernels/stride_4.ptx", 0.25, 4, 16, 16 },
                                        { "kernels/same_location.ptx", 1, 1, 1, 1 },
                                        { "kernels/coalescing.ptx", 1, 4, 4, 4 } };

static void base_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(base); i++) {
        struct diags ds = { 0 };
        struct ptx_module *m = NULL;
        struct an_launch a;
        assert_status_ok(ptx_parse_file(base[i].file, &m, &ds), &ds);
        an_launch_init(&a, (struct dim3u){ 32, 1, 1 }, (struct dim3u){ 64, 1, 1 });
        an_buffer(&a, "a", ELEM_F32, 65536);
        an_buffer(&a, "out", ELEM_F32, 2048);
        an_data(&a);
        for (int launched = 0; launched < 2; launched++) {
            struct ana_kernel *k = an_run(m, launched ? &a : NULL, false);
            assert_true(k->coalesce.valid);
            assert_true(k->coalesce.degree == base[i].degree);
            assert_int_equal(k->coalesce.num_sectors, base[i].sectors);
            assert_true(k->coalesce.expected == base[i].expected);
            assert_int_equal(k->exact.valid, launched);
            if (launched) {
                assert_true(k->exact.sectors_per_request == base[i].measured);
                assert_int_equal(k->exact.requests, 64);
            }
            ana_free(k);
        }
        launch_data_free(&a.data);
        ptx_free(m);
        diags_free(&ds);
    }
}

/* ---- by hand ---- */
/* One load at A + address(%r1 = tid.x, %r4 = ctaid.x), in %rd12; `before` puts it there. */
static const struct ana_access *one_load(const char *body, struct dim3u grid, struct dim3u block,
                                         struct ana_kernel **k, struct ptx_module **m,
                                         struct an_launch *a)
{
    struct buf b = { 0 };
    buf_puts(&b, HEAD ".visible .entry f(.param .u64 A, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 "
                      "%r<60>;\n.reg .b64 %rd<40>;\n.shared .align 4 .b8 sm[8192];\n"
                      "ld.param.u64 %rd1, [A];\nld.param.u32 %r19, [n];\ncvta.to.global.u64 %rd3, "
                      "%rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r4, %ctaid.x;\n");
    buf_puts(&b, body);
    buf_puts(&b, "END:\nret;\n}\n");
    *m = an_parse(b.s);
    buf_free(&b);
    an_launch_init(a, grid, block);
    an_buffer(a, "A", ELEM_F32, 1 << 20);
    an_int(a, "n", 100);
    an_data(a);
    *k = an_run(*m, a, false);
    return an_access(*k, false, 0);
}
struct hand {
    const char *name, *body;
    struct dim3u grid, block;
    uint64_t requests, sectors, lines;
    double bank;
};
static const struct hand hands[] = {
    /* 32 lanes x 4 bytes from 16 bytes into a sector: 128 bytes touch 5 sectors, 2 lines */
    { "misaligned",
      "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12+16];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      5,
      2,
      0 },
    /* block of 40: a full warp and one of 8 lanes */
    { "partial warp",
      "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12];\n",
      { 3, 1, 1 },
      { 40, 1, 1 },
      6,
      15,
      6,
      0 },
    /* 16-byte vectors: 512 bytes */
    { "v4",
      "mul.wide.u32 %rd4, %r1, 16;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.v4.f32 {%r9,%r10,%r11,%r12}, "
      "[%rd12];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      16,
      4,
      0 },
    /* every lane its own sector, downwards */
    { "negative stride",
      "mul.wide.s32 %rd4, %r1, -32;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12+992];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      32,
      8,
      0 },
    /* only every second lane: half the bytes of the same four sectors */
    { "guarded lanes",
      "and.b32 %r5, %r1, 1;\nsetp.eq.u32 %p1, %r5, 0;\nmul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd12, %rd3, "
      "%rd4;\n@%p1 ld.global.f32 %r9, [%rd12];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      4,
      1,
      0 },
    /* i < n = 100 over 4 CTAs of 32: three full requests and one with 4 lanes */
    { "bound",
      "mov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r4, %r7, %r1;\nsetp.ge.s32 %p1, %r8, %r19;\n@%p1 bra "
      "END;\nmul.wide.s32 %rd4, %r8, 4;\n"
      "add.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12];\n",
      { 4, 1, 1 },
      { 32, 1, 1 },
      4,
      13,
      4,
      0 },
    /* 16x4 block: a warp spans two rows of 16 lanes, 1024 bytes apart */
    { "two rows",
      "shl.b32 %r5, %r2, 8;\nadd.s32 %r6, %r5, %r1;\nmul.wide.s32 %rd4, %r6, 4;\nadd.s64 %rd12, %rd3, "
      "%rd4;\nld.global.f32 %r9, [%rd12];\n",
      { 1, 1, 1 },
      { 16, 4, 1 },
      2,
      8,
      4,
      0 },
    /* unsigned wrap: tid.x - 1 of lane 0 becomes 2^32-1, 16 GiB away; the guard keeps it out */
    { "wrap kept out",
      "setp.eq.u32 %p1, %r1, 0;\n@%p1 bra END;\nadd.s32 %r5, %r1, -1;\nmul.wide.u32 %rd4, %r5, "
      "4;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      4,
      1,
      0 },
    /* a loop of 10 over one line per iteration, 128 bytes apart */
    { "loop",
      "mov.u32 %r10, 0;\nL:\nshl.b32 %r11, %r10, 5;\nadd.s32 %r12, %r11, %r1;\nmul.wide.s32 %rd4, %r12, "
      "4;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12];\n"
      "add.s32 %r10, %r10, 1;\nsetp.lt.s32 %p1, %r10, 10;\n@%p1 bra L;\n",
      { 2, 1, 1 },
      { 32, 1, 1 },
      20,
      80,
      20,
      0 },
    /* while (k < tid.x): lane l takes l turns; turn k has 31-k lanes, all of the same word */
    { "lane-wise loop",
      "mov.u32 %r10, 0;\nL:\nsetp.ge.s32 %p1, %r10, %r1;\n@%p1 bra END;\nmul.wide.s32 %rd4, %r10, "
      "4;\nadd.s64 %rd12, %rd3, %rd4;\nld.global.f32 %r9, [%rd12];\n"
      "add.s32 %r10, %r10, 1;\nbra L;\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      31,
      31,
      31,
      0 },
    /* stride of 32 words: all lanes in one bank, 32 passes instead of one */
    { "bank conflict",
      "shl.b32 %r5, %r1, 7;\nmov.u32 %r6, sm;\nadd.s32 %r7, %r6, %r5;\nld.shared.f32 %r9, [%r7];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      32,
      32,
      31 },
    /* 8-byte words: two groups of 16 lanes, no conflict */
    { "wide shared",
      "shl.b32 %r5, %r1, 3;\nmov.u32 %r6, sm;\nadd.s32 %r7, %r6, %r5;\nld.shared.b64 %rd9, [%r7];\n",
      { 1, 1, 1 },
      { 32, 1, 1 },
      1,
      8,
      2,
      0 },
};
static void by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(hands); i++) {
        struct ana_kernel *k;
        struct ptx_module *m;
        struct an_launch a;
        const struct ana_access *x = one_load(hands[i].body, hands[i].grid, hands[i].block, &k, &m, &a);
        if (!x->exact.valid || x->exact.requests != hands[i].requests ||
            x->exact.sectors != hands[i].sectors || x->exact.lines != hands[i].lines ||
            x->exact.bank_conflicts != hands[i].bank)
            fail_msg("%s: %llu requests, %llu sectors, %llu lines, %g conflicts (%s)", hands[i].name,
                     (unsigned long long)x->exact.requests, (unsigned long long)x->exact.sectors,
                     (unsigned long long)x->exact.lines, x->exact.bank_conflicts,
                     x->counted_by ? x->counted_by : "not counted");
        assert_string_equal(x->counted_by, "closed form");
        ana_free(k);
        launch_data_free(&a.data);
        ptx_free(m);
    }
}

/* ---- closed forms against slices ---- */
static bool sum_event(void *ctx, const struct slice_event *ev)
{
    struct {
        struct facts *f;
        struct tally *t;
    } *c = ctx;
    struct request_count_request r = request_count_measure(
        ev->addr, ev->mask, c->f->fact[ev->site].bytes, ev->space == PTX_SPACE_SHARED);
    request_count_add(&c->t[ev->site], &r, ev->present, 1);
    return true;
}
/* Returns how many of the kernel's accesses had a closed form. */
static unsigned compare_both(const struct ptx_module *m, const struct an_launch *a, const char *what)
{
    struct arena *arena = arena_new(0);
    struct diags ds = { 0 };
    struct facts f;
    struct ana_opts o = { .data = &a->data };
    struct tally t[16] = { 0 };
    uint64_t budget = 1 << 28;
    unsigned closed = 0;
    assert_status_ok(facts_make(&f, m, str_of(""), &o, arena, &ds), &ds);
    struct slice *s = facts_slice(&f);
    assert_non_null(s);
    struct {
        struct facts *f;
        struct tally *t;
    } ctx = { &f, t };
    assert_int_equal(slice_run(s, 0, env_ctas(&f.v), 1, sum_event, &ctx, &budget), ST_OK);
    for (uint32_t i = 0; i < f.n; i++) {
        struct tally c = { 0 };
        const char *why;
        enum closed_form_result r = closed_form_count(&f.v, f.fact[i].ctx[0], &c, &why);
        assert_true(r == CLOSED_FORM_DONE || r == CLOSED_FORM_NOT_AFFINE);
        if (r != CLOSED_FORM_DONE)
            continue;
        closed++;
        if (memcmp(&c, &t[i], sizeof c))
            fail_msg("%s, access %u: closed form %llu requests %llu sectors %llu bytes, executed %llu "
                     "%llu %llu",
                     what, i, (unsigned long long)c.requests, (unsigned long long)c.sectors,
                     (unsigned long long)c.bytes_used, (unsigned long long)t[i].requests,
                     (unsigned long long)t[i].sectors, (unsigned long long)t[i].bytes_used);
    }
    facts_free(&f);
    arena_free(arena);
    diags_free(&ds);
    return closed;
}
static void closed_is_executed(void **state)
{
    (void)state;
    struct an_gen g = { 0 };
    unsigned closed = 0, all = 0;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct an_launch a;
        an_gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        an_gen_launch(&g, &a);
        closed += compare_both(m, &a, g.text.s);
        all += 2;
        launch_data_free(&a.data);
        ptx_free(m);
    }
    buf_free(&g.text);
    /* Most shapes are affine: the comparison must not pass for want of closed forms. */
    assert_true(closed * 10 > all * 6);
}

/* Independent of the launch size: the same kernel on 2^30 threads, by arithmetic. */
static void huge_launch(void **state)
{
    (void)state;
    static const char text[] =
        HEAD ".visible .entry f(.param .u64 A, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 "
             "%r<20>;\n.reg .b64 %rd<20>;\n"
             "ld.param.u64 %rd1, [A];\nld.param.u32 %r9, [n];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, "
             "%ctaid.x;\nmov.u32 %r3, %ntid.x;\nmad.lo.s32 %r4, %r2, %r3, %r1;\n"
             "setp.ge.s32 %p1, %r4, %r9;\n@%p1 bra E;\nmul.wide.s32 %rd2, %r4, 4;\nadd.s64 %rd3, %rd1, "
             "%rd2;\nld.global.f32 %r5, [%rd3];\nE:\nret;\n}\n";
    struct ptx_module *m = an_parse(text);
    struct an_launch a;
    an_launch_init(&a, (struct dim3u){ 1u << 22, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    an_buffer(&a, "A", ELEM_F32, 1024); /* closed forms never read it */
    an_int(&a, "n", 1000000001);
    an_data(&a);
    struct ana_kernel *k = an_run(m, &a, true);
    const struct ana_access *x = an_access(k, false, 0);
    assert_string_equal(x->counted_by, "closed form");
    /* 1000000001 = 31250000*32 + 1: full warps of 4 sectors, then one lane */
    assert_int_equal(x->exact.requests, 31250001);
    assert_int_equal(x->exact.sectors, 4 * 31250000 + 1);
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(base_table), cmocka_unit_test(by_hand),
                                        cmocka_unit_test(closed_is_executed),
                                        cmocka_unit_test(huge_launch) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
