/* Loops that wait for another warp's store: those of a CTA end when that warp has its turn; those that
 * nobody there ends are found in a few rounds and named with their line, instead of running into the
 * limit of a slice. */
#include "tests/unit/analysis_support.h"

/* Warp 0 waits for a flag, which warp 1 sets; both then load from where memory says. */
static const char handed[] = HEAD
    ".shared .align 4 .u32 flag;\n.visible .entry f(.param .u64 A)\n{\n.reg .pred %p<4>;\n.reg .b32 "
    "%r<9>;\n.reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [A];\nmov.u32 %r1, %tid.x;\nsetp.ge.u32 %p1, %r1, 32;\n@%p1 bra SET;\n"
    "WAIT:\nld.volatile.shared.u32 %r2, [flag];\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 bra WAIT;\nbra JOIN;\n"
    "SET:\nmov.u32 %r3, 3;\nst.volatile.shared.u32 [flag], %r3;\n"
    "JOIN:\nld.volatile.shared.u32 %r4, [flag];\nadd.s32 %r5, %r1, %r4;\nmul.wide.u32 %rd2, %r5, "
    "4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\nret;\n}\n";

/* Every CTA waits for all others: a barrier over the grid. */
static const char grid_wide[] =
    HEAD ".visible .entry f(.param .u64 A, .param .u64 count)\n{\n.reg .pred %p<4>;\n.reg .b32 "
         "%r<9>;\n.reg .b64 %rd<5>;\n"
         "ld.param.u64 %rd1, [A];\nld.param.u64 %rd4, [count];\nmov.u32 %r1, %nctaid.x;\nshl.b32 %r1, "
         "%r1, 6;\natom.global.add.u32 %r2, [%rd4], 1;\n"
         "WAIT:\nld.volatile.global.u32 %r3, [%rd4];\nsetp.lt.u32 %p1, %r3, %r1;\n@%p1 bra WAIT;\n"
         "mul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\nret;\n}\n";

/* Two calls of one function whose loops look the same from inside: only the caller's counter tells them
 * apart. */
static const char called[] = HEAD
    ".func (.reg .b32 %out) g(.reg .b32 %in)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<3>;\nmov.u32 %r1, 0;\n"
    "L:\nadd.s32 %r1, %r1, 1;\nand.b32 %r1, %r1, 1;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra L;\nmov.u32 "
    "%out, %in;\nret;\n}\n"
    ".visible .entry f(.param .u64 A)\n{\n.reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 "
    "%rd<5>;\nld.param.u64 %rd1, [A];\nmov.u32 %r1, 0;\n"
    "M:\nmov.u32 %r3, 7;\ncall (%r2), g, (%r3);\nadd.s32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, "
    "5000;\n@%p1 bra M;\n"
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, [%rd3];\nret;\n}\n";

static struct ana_kernel *analysed(const char *text, struct ptx_module **m, struct an_launch *a,
                                   uint32_t ctas)
{
    *m = an_parse(text);
    an_launch_init(a, (struct dim3u){ ctas, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    an_buffer(a, "A", ELEM_U32, 1024);
    if (strstr(text, ".param .u64 count"))
        an_buffer(a, "count", ELEM_U32, 1);
    an_data(a);
    return an_run(*m, a, false);
}

/* Warp 0 hands warp 1 a number through a barrier of its own, by its warp's number; warp 1 loads from there
 * once it has come. `waits`: threads that the barrier waits for. */
#define NAMED(waits)                                                                                    \
    HEAD                                                                                                \
        ".shared .align 4 .u32 at;\n.visible .entry f(.param .u64 A)\n{\n.reg .pred %p<4>;\n.reg .b32 " \
        "%r<9>;\n.reg .b64 %rd<5>;\n"                                                                   \
        "ld.param.u64 %rd1, [A];\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, " waits                            \
        ";\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bra GIVE;\nbar.sync 3, %r2;\nld.shared.u32 %r3, "           \
        "[at];\nmul.wide.u32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd1, %rd2;\nld.global.u32 %r6, "             \
        "[%rd3];\nret;\nGIVE:\nadd.u32 %r4, %r1, 5;\nst.shared.u32 [at], %r4;\nbar.arrive 3, "          \
        "64;\nret;\n}\n"

static const char *gap(const struct ana_kernel *k, const char *part)
{
    for (uint32_t i = 0; i < k->ngaps; i++)
        if (strstr(k->gaps[i], part))
            return k->gaps[i];
    return NULL;
}

static void done_with(struct ana_kernel *k, struct ptx_module *m, struct an_launch *a)
{
    ana_free(k);
    launch_data_free(&a->data);
    ptx_free(m);
}

static void a_later_warp_ends_the_loop(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(handed, &m, &a, 4);
    const struct ana_access *x = &k->access[k->naccess - 1];
    assert_true(x->exact.valid);
    assert_true(!x->store);
    assert_true(x->space == PTX_SPACE_GLOBAL);
    assert_int_equal(x->exact.requests, 4 * 2);
    assert_int_equal(x->exact.sectors, 4 * 2 * 5); /* 32 words from the fourth of a sector on */
    assert_null(gap(k, "for ever"));
    assert_null(gap(k, "too long"));
    done_with(k, m, &a);
}

static void other_ctas_never_come(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(grid_wide, &m, &a, 4);
    const char *told = gap(k, "warps go round the loop at line 15");
    assert_non_null(told);
    assert_non_null(strstr(told, "another CTA"));
    assert_null(gap(k, "too long"));
    assert_false(k->access[k->naccess - 1].exact.valid);
    done_with(k, m, &a);
}

/* The last to arrive finds all there, if the CTAs before it had not to wait: then nothing is stuck. */
static void one_cta_waits_for_nobody(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(grid_wide, &m, &a, 1);
    assert_null(gap(k, "for ever"));
    assert_int_equal(k->access[k->naccess - 1].exact.requests, 2);
    done_with(k, m, &a);
}

static void calls_that_look_alike_end(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(called, &m, &a, 2);
    assert_null(gap(k, "for ever"));
    assert_true(k->access[k->naccess - 1].exact.valid);
    assert_int_equal(k->access[k->naccess - 1].exact.requests, 2 * 2);
    done_with(k, m, &a);
}

static void barriers_of_some_warps(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(NAMED("64"), &m, &a, 2);
    const struct ana_access *x = an_access(k, false, 1);
    assert_true(x->exact.valid);
    assert_true(x->space == PTX_SPACE_GLOBAL);
    assert_int_equal(x->exact.requests, 2);
    assert_int_equal(x->exact.sectors, 2);
    assert_null(gap(k, "not executed"));
    done_with(k, m, &a);
}

static void a_barrier_that_nobody_comes_to(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct ana_kernel *k = analysed(NAMED("96"), &m, &a, 2);
    assert_non_null(gap(k, "barrier 3 is never complete"));
    assert_false(an_access(k, false, 1)->exact.valid);
    done_with(k, m, &a);
}

static bool any(void *ctx, const struct ana_request *r)
{
    (void)r;
    return ++*(uint64_t *)ctx < (uint64_t)1 << 22;
}

/* A trace follows one SM: what its warps wait for may be another's. */
static void traces_say_it_too(void **state)
{
    (void)state;
    struct an_launch a;
    struct ptx_module *m;
    struct diags ds = { 0 };
    uint64_t seen = 0;
    ana_free(analysed(grid_wide, &m, &a, 4));
    struct ana_opts o = { .data = &a.data, .quick = true };
    /* all four are there */
    assert_int_equal(ana_trace(m, str_of("f"), &o, 128, 4, 0, 1, any, &seen, &ds), ST_OK);
    assert_int_equal(ds.n, 0);
    seen = 0;
    assert_int_equal(ana_trace(m, str_of("f"), &o, 128, 2, 0, 2, any, &seen, &ds), ST_REFUSED);
    assert_true(seen < 100000);
    assert_int_equal(ds.n, 1);
    assert_non_null(strstr(ds.v[0].msg, "line 15"));
    diags_free(&ds);
    done_with(NULL, m, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_later_warp_ends_the_loop), cmocka_unit_test(other_ctas_never_come),
        cmocka_unit_test(one_cta_waits_for_nobody),   cmocka_unit_test(calls_that_look_alike_end),
        cmocka_unit_test(barriers_of_some_warps),     cmocka_unit_test(a_barrier_that_nobody_comes_to),
        cmocka_unit_test(traces_say_it_too)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
