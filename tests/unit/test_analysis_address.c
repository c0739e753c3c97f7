/* Symbolic addresses as they are shown, where they come from, what is read-only,
 * and what is said where something cannot be known. */
#include "tests/unit/analysis_support.h"

#define REGS \
    ".reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<60>;\n"
#define PTRS                                                                                         \
    "ld.param.u64 %rd1, [A];\nld.param.u64 %rd2, [B];\nld.param.u32 %r19, [n];\ncvta.to.global.u64 " \
    "%rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"                                                  \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, "              \
    "%ctaid.y;\nmov.u32 %r7, %ntid.x;\n"
#define ENTRY ".visible .entry f(.param .u64 A, .param .u64 B, .param .u32 n)\n{\n" REGS PTRS

static struct ana_kernel *run_text(const char *before, const char *body, struct ptx_module **m)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%s%sE:\nret;\n}\n", HEAD, before, ENTRY, body);
    *m = an_parse(b.s);
    buf_free(&b);
    return an_run(*m, NULL, false);
}

/* ---- readable forms: the first load's address ---- */
struct form {
    const char *body, *address;
    bool affine;
};
static const struct form forms[] = {
    { "mad.lo.s32 %r8, %r4, %r7, %r1;\nmul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, "
      "%rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*(ctaid.x*ntid.x + tid.x)", true },
    { "mad.lo.s32 %r8, %r4, %r7, %r1;\ncvt.s64.s32 %rd5, %r8;\nshl.b64 %rd6, %rd5, 2;\nadd.s64 %rd7, "
      "%rd6, %rd3;\nld.global.f32 %f1, [%rd7+-4];\n",
      "A + 4*(ctaid.x*ntid.x + tid.x - 1)", true },
    { "mad.lo.s32 %r8, %r5, %r19, %r1;\nmul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, "
      "%rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*(ctaid.y*n + tid.x)", true },
    /* an index that is loaded */
    { "mul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd4, %rd5;\nld.global.u32 %r9, [%rd6];\nmul.wide.s32 "
      "%rd7, %r9, 4;\nadd.s64 %rd8, %rd3, %rd7;\nld.global.f32 %f1, [%rd8];\n",
      "B + 4*tid.x", true },
    /* x & 31, x >> 5 of a thread index are % and / */
    { "and.b32 %r8, %r1, 31;\nshr.u32 %r9, %r1, 5;\nmad.lo.s32 %r10, %r9, 1000, %r8;\nmul.wide.u32 "
      "%rd5, %r10, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*((tid.x % 32) + 1000*(tid.x / 32))", false },
    /* a possible borrow is shown, not hidden */
    { "add.s32 %r8, %r1, -1;\nmul.wide.u32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, "
      "[%rd6];\n",
      "A + 4*u32(tid.x - 1)", false },
    { "bfe.u32 %r8, %r1, 2, 3;\nmul.wide.u32 %rd5, %r8, 8;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 "
      "%f1, [%rd6];\n",
      "A + 8*((tid.x / 4) % 8)", false },
    /* bits put together without overlap are a sum */
    { "shl.b32 %r8, %r4, 10;\nor.b32 %r9, %r8, %r1;\nmul.wide.u32 %rd5, %r9, 4;\nadd.s64 %rd6, %rd3, "
      "%rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*(1024*ctaid.x + tid.x)", true },
    { "lop3.b32 %r8, %r1, 7, 0, 0xC0;\nmul.wide.u32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, "
      "%rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*(tid.x % 8)", false },
    { "min.s32 %r8, %r1, 10;\nmul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, "
      "[%rd6];\n",
      "A + 4*min(tid.x, 10)", false },
    /* predicated move: one of two values */
    { "setp.lt.s32 %p1, %r1, 4;\nmov.u32 %r8, %r1;\n@%p1 mov.u32 %r8, 0;\nmul.wide.s32 %rd5, %r8, "
      "4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*((tid.x < 4) ? 0 : tid.x)", false },
    /* induction variables: a counter and a pointer that moves */
    { "mov.u32 %r8, 0;\nmov.u64 %rd5, %rd3;\nL:\nld.global.f32 %f1, [%rd5];\nadd.s64 %rd5, %rd5, "
      "8;\nadd.s32 %r8, %r8, 1;\nsetp.lt.s32 %p1, %r8, %r19;\n@%p1 bra L;\n",
      "A + 8*k", true },
    /* signed division by 32 and remainder as compilers write them */
    { "mad.lo.s32 %r8, %r4, %r7, %r1;\nshr.s32 %r9, %r8, 31;\nshr.u32 %r10, %r9, 27;\nadd.s32 %r11, "
      "%r8, %r10;\nshr.s32 %r12, %r11, 5;\nmul.wide.s32 %rd5, %r12, 4;\n"
      "add.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n",
      "A + 4*((ctaid.x*ntid.x + tid.x) / 32)", false },
};
static void shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct ptx_module *m;
        struct ana_kernel *k = run_text("", forms[i].body, &m);
        const struct ana_access *a = an_access(k, false, 0);
        assert_string_equal(a->address, forms[i].address);
        assert_int_equal(a->affine, forms[i].affine);
        assert_null(a->unknown);
        ana_free(k);
        ptx_free(m);
    }
}
static void loaded_index(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ana_kernel *k = run_text("", forms[3].body, &m);
    const struct ana_access *a = an_access(k, false, 1);
    assert_string_equal(a->address, "A + 4*[B + 4*tid.x]");
    assert_true(a->depends_on_load);
    assert_int_equal(a->cls, ANA_CLASS_DATA);
    assert_int_equal(a->param, 0);
    assert_false(a->coalesce.valid); /* no launch: what B holds is not known */
    ana_free(k);
    ptx_free(m);
}

/* ---- through calls, structures, pointers to choose from ---- */
static void through_calls(void **state)
{
    (void)state;
    static const char callee[] =
        ".func (.param .b32 r) at(.param .b32 x, .param .b32 w)\n{\n.reg .b32 %r<9>;\nld.param.u32 %r1, "
        "[x];\nld.param.u32 %r2, [w];\nmov.u32 %r3, %ctaid.y;\n"
        "mad.lo.s32 %r4, %r3, %r2, %r1;\nst.param.b32 [r], %r4;\nret;\n}\n";
    static const char body[] =
        "{\n.param .b32 p0;\n.param .b32 p1;\n.param .b32 q;\nst.param.b32 [p0], %r1;\nst.param.b32 "
        "[p1], %r19;\ncall.uni (q), at, (p0, p1);\nld.param.b32 %r8, [q];\n}\n"
        "mul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n";
    struct ptx_module *m;
    struct ana_kernel *k = run_text(callee, body, &m);
    assert_string_equal(an_access(k, false, 0)->address, "A + 4*(ctaid.y*n + tid.x)");
    assert_int_equal(k->ngaps, 0);
    ana_free(k);
    ptx_free(m);
}
static void through_structs(void **state)
{
    (void)state;
    struct ptx_module *m = an_parse(
        HEAD ".visible .entry f(.param .align 8 .b8 s[24])\n{\n" REGS
             "mov.b64 %rd9, s;\nld.param.u64 %rd1, [s+8];\nld.param.u32 %r3, [%rd9+16];\nmov.u32 %r1, "
             "%tid.x;\nmad.lo.s32 %r4, %r1, %r3, 2;\nmul.wide.s32 %rd2, %r4, 4;\n"
             "add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f1, [%rd3];\nret;\n}\n");
    struct ana_kernel *k = an_run(m, NULL, false);
    const struct ana_access *a = an_access(k, false, 0);
    assert_string_equal(a->address, "s{8} + 4*(tid.x*s{16} + 2)");
    assert_int_equal(a->param, 0);
    ana_free(k);
    ptx_free(m);
}
/* Of three loads of one address ptxas makes the first, and the one behind a store. */
static void made_once(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ana_kernel *k = run_text("",
                                    "ld.global.u32 %r20, [%rd3];\nld.global.u32 %r21, [%rd3];\n"
                                    "st.global.u32 [%rd4], %r21;\nld.global.u32 %r22, [%rd3];\n",
                                    &m);
    const struct ana_access *first = an_access(k, false, 0);
    assert_int_equal(first->same_line, 0);
    assert_int_equal(an_access(k, false, 1)->same_line, first->at.line);
    assert_int_equal(an_access(k, false, 2)->same_line, 0);
    ana_free(k);
    ptx_free(m);
}
/* Two words of shared memory beside each other at a multiple of 8 are one load of 8 bytes. */
static void made_together(void **state)
{
    (void)state;
    struct ptx_module *m = an_parse(
        HEAD
        ".visible .entry f(.param .u64 p)\n{\n" REGS ".shared .align 4 .b8 s[1024];\nld.param.u64 %rd1, "
        "[p];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 3;\nmov.u32 %r3, s;\nadd.u32 %r4, %r3, %r2;\n"
        "ld.shared.u32 %r5, [%r4];\nld.shared.u32 %r6, [%r4+4];\nld.shared.u32 %r7, "
        "[%r4+512];\nret;\n}\n");
    struct ana_kernel *k = an_run(m, NULL, false);
    const struct ana_access *first = an_access(k, false, 0);
    assert_int_equal(first->joined_line, 0);
    assert_int_equal(an_access(k, false, 1)->joined_line, first->at.line);
    assert_int_equal(an_access(k, false, 2)->joined_line, 0);
    ana_free(k);
    ptx_free(m);
}
static void either_pointer(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ana_kernel *k = run_text(
        "", "setp.lt.s32 %p1, %r4, 2;\nselp.b64 %rd5, %rd3, %rd4, %p1;\nld.global.f32 %f1, [%rd5];\n",
        &m);
    const struct ana_access *a = an_access(k, false, 0);
    assert_int_equal(a->param, -1);
    assert_null(a->array);
    assert_string_equal(a->address, "(ctaid.x < 2) ? A : B");
    ana_free(k);
    ptx_free(m);
}
static void generic_is_proved(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ana_kernel *k =
        run_text("", "mul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd1, %rd5;\nld.f32 %f1, [%rd6];\n", &m);
    assert_int_equal(an_access(k, false, 0)->space, PTX_SPACE_GLOBAL);
    assert_string_equal(an_access(k, false, 0)->array, "A");
    ana_free(k);
    ptx_free(m);
}

/* ---- unknown, and why ---- */
static void unknown_says_why(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct ana_kernel *k = run_text("",
                                    "popc.b32 %r8, %r1;\nmul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, "
                                    "%rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n",
                                    &m);
    const struct ana_access *a = an_access(k, false, 0);
    assert_string_equal(a->address, "A + 4*?");
    assert_non_null(a->unknown);
    assert_non_null(strstr(a->unknown, "popc.b32 at line "));
    assert_int_equal(a->cls, ANA_CLASS_UNKNOWN);
    assert_int_equal(a->param, 0); /* which array it is in is known all the same */
    ana_free(k);
    ptx_free(m);
}
static bool gap_says(const struct ana_kernel *k, const char *text)
{
    for (uint32_t i = 0; i < k->ngaps; i++)
        if (strstr(k->gaps[i], text))
            return true;
    return false;
}
static void recursion_is_a_gap(void **state)
{
    (void)state;
    static const char callee[] =
        ".func down(.param .b32 x)\n{\n.reg .pred %p<3>;\n.reg .b32 %r<9>;\nld.param.u32 %r1, "
        "[x];\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra D;\nadd.s32 %r2, %r1, -1;\n"
        "{\n.param .b32 p;\nst.param.b32 [p], %r2;\ncall down, (p);\n}\nD:\nret;\n}\n";
    struct ptx_module *m;
    struct ana_kernel *k = run_text(
        callee,
        "{\n.param .b32 p;\nst.param.b32 [p], %r1;\ncall down, (p);\n}\nld.global.f32 %f1, [%rd3];\n",
        &m);
    assert_true(gap_says(k, "recursion"));
    assert_string_equal(an_access(k, false, 0)->address, "A");
    ana_free(k);
    ptx_free(m);
}
static void indirect_call_is_a_gap(void **state)
{
    (void)state;
    static const char callee[] = ".func g()\n{\nret;\n}\n";
    struct ptx_module *m;
    struct ana_kernel *k = run_text(
        callee, "mov.u64 %rd9, g;\nP: .callprototype _ ();\ncall %rd9, P;\nld.global.f32 %f1, [%rd3];\n",
        &m);
    assert_true(gap_says(k, "indirect call"));
    ana_free(k);
    ptx_free(m);
}
/* A thread that never ends: named, and back within seconds. */
static void endless_loop(void **state)
{
    (void)state;
    struct ptx_module *m = an_parse(
        HEAD ENTRY "L:\nld.global.u32 %r8, [%rd3];\nsetp.eq.s32 %p1, %r8, 0;\n@%p1 bra L;\nret;\n}\n");
    struct an_launch a;
    an_launch_init(&a, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    an_buffer(&a, "A", ELEM_S32, 64);
    an_buffer(&a, "B", ELEM_S32, 64);
    an_int(&a, "n", 1);
    an_data(&a);
    struct ana_kernel *k = an_run(m, &a, false);
    assert_true(gap_says(k, "for ever"));
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
}
static void cancelled(void **state)
{
    (void)state;
    struct ptx_module *m = an_parse(HEAD ENTRY "ld.global.u32 %r8, [%rd3];\nret;\n}\n");
    struct cancel c;
    atomic_init(&c.asked, true);
    struct ana_opts o = { .cancel = &c };
    struct ana_kernel *k = NULL;
    struct diags ds = { 0 };
    assert_int_equal(ana_run(m, str_of(""), &o, &k, &ds), ST_CANCELLED);
    assert_null(k);
    diags_free(&ds);
    ptx_free(m);
}
static void missing_kernel(void **state)
{
    (void)state;
    struct ptx_module *m = an_parse(HEAD ENTRY "ret;\n}\n");
    struct ana_opts o = { 0 };
    struct ana_kernel *k = NULL;
    struct diags ds = { 0 };
    assert_int_equal(ana_run(m, str_of("nope"), &o, &k, &ds), ST_INPUT);
    assert_true(support_said(&ds, "nope"));
    diags_free(&ds);
    ptx_free(m);
}

/* Each step uses the last value twice: as a tree it has 2^300 leaves, as a graph 600 nodes. */
static void shared_subexpressions(void **state)
{
    (void)state;
    static const char *const step[] = {
        "shr.u32 %r9, %r8, 1;\nxor.b32 %r8, %r8, %r9;\n",
        "mul.lo.s32 %r8, %r8, %r8;\nadd.s32 %r8, %r8, %r4;\n",
        "cvt.s64.s32 %rd9, %r8;\nadd.s64 %rd10, %rd9, %rd9;\ncvt.u32.u64 %r9, %rd10;\nmin.s32 %r8, %r8, "
        "%r9;\n",
        "setp.lt.s32 %p1, %r8, %r19;\nadd.s32 %r9, %r8, 1;\nselp.b32 %r8, %r8, %r9, %p1;\n"
    };
    for (size_t i = 0; i < ARRAY_LEN(step); i++) {
        struct buf b = { 0 };
        struct ptx_module *m;
        buf_puts(&b, "mad.lo.s32 %r8, %r4, %r7, %r1;\n");
        for (int k = 0; k < 300; k++)
            buf_puts(&b, step[i]);
        buf_puts(&b,
                 "mul.wide.s32 %rd5, %r8, 4;\nadd.s64 %rd6, %rd3, %rd5;\nld.global.f32 %f1, [%rd6];\n");
        struct ana_kernel *k = run_text("", b.s, &m);
        assert_string_equal(an_access(k, false, 0)->array, "A");
        ana_free(k);
        ptx_free(m);
        buf_free(&b);
    }
}

/* ---- read-only ---- */
static void read_only(void **state)
{
    (void)state;
    static const char body[] = "mul.wide.s32 %rd5, %r1, 4;\nadd.s64 %rd6, %rd3, %rd5;\nadd.s64 %rd7, "
                               "%rd4, %rd5;\nld.global.f32 %f1, [%rd6];\nld.global.f32 %f2, [%rd7];\n"
                               "st.global.f32 [%rd7], %f1;\n";
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%sret;\n}\n", HEAD, ENTRY, body);
    struct ptx_module *m = an_parse(b.s);
    /* no launch: B may be A */
    struct ana_kernel *k = an_run(m, NULL, false);
    assert_int_equal(an_access(k, false, 0)->read_only, ANA_UNKNOWN);
    assert_int_equal(an_access(k, false, 1)->read_only, ANA_NO);
    char want[64];
    snprintf(want, sizeof want, "a store at line %u writes B", an_access(k, true, 0)->at.line);
    assert_string_equal(an_access(k, false, 1)->read_only_why, want);
    ana_free(k);
    /* the user's word, and a launch with two buffers, and one where they are the same */
    struct diags ds = { 0 };
    struct ana_opts o = { .assume_restrict = true };
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    assert_int_equal(an_access(k, false, 0)->read_only, ANA_YES);
    ana_free(k);
    o = (struct ana_opts){ .assume_read_only = "X,A" };
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    assert_int_equal(an_access(k, false, 0)->read_only, ANA_YES);
    ana_free(k);
    for (int same = 0; same < 2; same++) {
        struct an_launch a;
        an_launch_init(&a, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
        an_buffer(&a, "A", ELEM_F32, 64);
        if (same)
            a.arg[a.l.nargs++] = (struct arg_spec){ .kind = ARG_SAME_AS, .name = "B", .same_as = "A" };
        else
            an_buffer(&a, "B", ELEM_F32, 64);
        an_int(&a, "n", 1);
        an_data(&a);
        k = an_run(m, &a, false);
        assert_int_equal(an_access(k, false, 0)->read_only, same ? ANA_NO : ANA_YES);
        ana_free(k);
        launch_data_free(&a.data);
    }
    diags_free(&ds);
    buf_free(&b);
    ptx_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shown),
                                        cmocka_unit_test(loaded_index),
                                        cmocka_unit_test(through_calls),
                                        cmocka_unit_test(through_structs),
                                        cmocka_unit_test(made_once),
                                        cmocka_unit_test(made_together),
                                        cmocka_unit_test(either_pointer),
                                        cmocka_unit_test(generic_is_proved),
                                        cmocka_unit_test(unknown_says_why),
                                        cmocka_unit_test(recursion_is_a_gap),
                                        cmocka_unit_test(indirect_call_is_a_gap),
                                        cmocka_unit_test(endless_loop),
                                        cmocka_unit_test(cancelled),
                                        cmocka_unit_test(missing_kernel),
                                        cmocka_unit_test(shared_subexpressions),
                                        cmocka_unit_test(read_only) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
