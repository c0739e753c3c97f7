/* Which multiplications ptxas fuses with additions: cases whose machine code was read
 * (docs/lab/contraction.md). Each statement of a case has a line of its own; `fused` names, for each add
 * or sub in order, the mul (1, 2 ... in order) that it takes, 0: none, and a sign before it where the
 * product or the other operand is negated. */
#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/facts/contract.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

#define HEAD                                                                                       \
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"         \
    ".reg .f32 %f<30>;\n.reg .f64 %d<10>;\n.reg .b32 %r<10>;\n.reg .b64 %in;\n.reg .pred %p<5>;\n" \
    "ld.param.u64 %in, [p];\nld.global.f32 %f1, [%in];\nld.global.f32 %f2, [%in+4];\n"             \
    "ld.global.f32 %f3, [%in+8];\nld.global.f32 %f4, [%in+12];\nsetp.gt.f32 %p1, %f1, 0f00000000;\n"
#define MUL  "mul.f32 %f10, %f1, %f2;\n"
#define MUL2 "mul.f32 %f11, %f3, %f4;\n"
#define END  "st.global.f32 [%in+64], %f20;\nret;\n}\n"
#define ALSO "st.global.f32 [%in+68], %f21;\n" END

static const struct {
    const char *body, *fused, *dropped;
} cases[] = {
    { MUL "add.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "add.f32 %f20, %f3, %f10;\n" END, "1", "1" },
    { MUL "sub.f32 %f20, %f10, %f3;\n" END, "1c", "1" },
    { MUL "sub.f32 %f20, %f3, %f10;\n" END, "1p", "1" },
    { MUL "neg.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;\n" END, "1p", "1" },
    { MUL "neg.f32 %f12, %f10;\nsub.f32 %f20, %f3, %f12;\n" END, "1", "1" },
    { MUL "mov.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;\n" END, "1", "1" },
    { MUL "mov.b32 %r1, %f10;\nmov.b32 %f12, %r1;\nadd.f32 %f20, %f12, %f3;\n" END, "1", "1" },
    { MUL "abs.f32 %f12, %f10;\nadd.f32 %f20, %f12, %f3;\n" END, "0", "0" },
    { "mul.rn.f32 %f10, %f1, %f2;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "add.rn.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { "mul.rz.f32 %f10, %f1, %f2;\nadd.rz.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { "mul.ftz.f32 %f10, %f1, %f2;\nadd.ftz.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { "mul.ftz.f32 %f10, %f1, %f2;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "add.ftz.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "add.sat.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { "mul.sat.f32 %f10, %f1, %f2;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    /* both operands are products: the first; with fewer uses first */
    { MUL MUL2 "add.f32 %f20, %f10, %f11;\n" END, "1", "10" },
    { MUL2 MUL "add.f32 %f20, %f10, %f11;\n" END, "2", "01" },
    { MUL MUL2 "sub.f32 %f21, %f11, %f1;\nadd.f32 %f20, %f11, %f10;\n" ALSO, "01", "10" },
    { MUL MUL2 "add.f32 %f20, %f10, %f11;\nst.global.f32 [%in+72], %f10;\n" END, "2", "01" },
    /* what stands between cuts the line of code, or does not */
    { MUL "st.global.f32 [%in+72], %f1;\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "@%p1 st.global.f32 [%in+72], %f1;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "@%p1 prefetch.global.L1 [%in];\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "prefetch.global.L1 [%in];\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "@%p1 add.u32 %r1, %r1, 1;\nst.global.u32 [%in+72], %r1;\nadd.f32 %f20, %f10, %f3;\n" END,
      "01", "1" },
    { MUL "bar.sync 0;\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "@%p1 bar.sync 0;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "membar.gl;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "fence.acq_rel.gpu;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "div.u32 %r1, %r2, %r3;\nst.global.u32 [%in+72], %r1;\nadd.f32 %f20, %f10, %f3;\n" END, "1",
      "1" },
    { MUL "div.s32 %r1, %r2, %r3;\nst.global.u32 [%in+72], %r1;\nadd.f32 %f20, %f10, %f3;\n" END, "0",
      "0" },
    { MUL "div.s32 %r1, %r2, %r3;\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "sqrt.rn.f32 %f15, %f3;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "sqrt.approx.f32 %f15, %f3;\nst.global.f32 [%in+72], %f15;\nadd.f32 %f20, %f10, %f3;\n" END,
      "1", "1" },
    { MUL "div.full.f32 %f15, %f3, %f4;\nst.global.f32 [%in+72], %f15;\nadd.f32 %f20, %f10, %f3;\n" END,
      "1", "1" },
    { MUL "@%p1 ld.global.f32 %f15, [%in+76];\nst.global.f32 [%in+72], %f15;\nadd.f32 %f20, %f10, "
          "%f3;\n" END,
      "0", "0" },
    { MUL "@%p1 ld.global.f32 %f15, [%in+76];\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    /* several uses */
    { MUL "add.f32 %f20, %f10, %f3;\nadd.f32 %f21, %f10, %f4;\n" ALSO, "11", "1" },
    { MUL "add.f32 %f20, %f10, %f3;\nst.global.f32 [%in+72], %f10;\n" END, "0", "0" },
    { MUL "max.f32 %f21, %f10, %f4;\nadd.f32 %f20, %f10, %f3;\n" ALSO, "0", "0" },
    { MUL "add.f32 %f20, %f10, %f10;\n" END, "0", "0" },
    { MUL "add.f32 %f20, %f10, %f3;\nadd.f32 %f21, %f10, %f10;\n" END, "10",
      "1" }, /* the second is dead */
    { MUL "mul.f32 %f12, %f10, %f3;\nadd.f32 %f20, %f12, %f4;\n" END, "2", "01" },
    /* a product used three times that gives way to another in one of them */
    { MUL MUL2
      "add.f32 %f21, %f10, %f3;\nadd.f32 %f20, %f10, %f11;\nst.global.f32 [%in+72], %f11;\n" ALSO,
      "11", "10" },
    /* constants are folded */
    { "mul.f32 %f10, 0f40490fdb, 0f3eaaaaab;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { "mov.f32 %f5, 0f40490fdb;\nmul.f32 %f10, %f5, %f1;\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    /* guards */
    { MUL "mov.f32 %f20, %f4;\n@%p1 add.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { "mov.f32 %f10, %f4;\n@%p1 mul.f32 %f10, %f1, %f2;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "@%p1 mov.f32 %f10, %f4;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { MUL "selp.f32 %f12, %f10, %f4, %p1;\nadd.f32 %f20, %f12, %f3;\n" END, "0", "0" },
    { MUL "@%p1 ret;\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    /* lines of code */
    { MUL "bar.sync 0;\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "X:\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "bra X;\nX:\nadd.f32 %f20, %f10, %f3;\n" END, "1", "1" },
    { MUL "@%p1 bra X;\nadd.f32 %f20, %f10, %f3;\n" END "X:\n", "0", "0" },
    { MUL "@%p1 bra X;\nst.global.f32 [%in+72], %f3;\nX:\nadd.f32 %f20, %f10, %f3;\n" END, "0", "0" },
    { "mov.f32 %f20, %f3;\nX:\n" MUL
      "add.f32 %f20, %f20, %f10;\nsetp.lt.f32 %p2, %f20, %f4;\n@%p2 bra X;\n" END,
      "1", "1" },
    { MUL "add.f32 %f20, %f10, %f3;\n@%p1 bra X;\nadd.f32 %f21, %f10, %f4;\nst.global.f32 [%in+68], "
          "%f21;\nX:\n" END,
      "00", "0" },
    /* registers that are written again */
    { MUL "add.f32 %f20, %f10, %f3;\nmul.f32 %f10, %f3, %f4;\nadd.f32 %f21, %f10, %f1;\n" ALSO, "12",
      "11" },
    { MUL "add.f32 %f20, %f10, %f3;\nmov.f32 %f10, %f4;\nst.global.f32 [%in+72], %f10;\n" END, "1",
      "1" },
    { "ld.global.f64 %d1, [%in+32];\nmul.f64 %d2, %d1, %d1;\nsub.f64 %d3, %d1, %d2;\ncvt.rn.f32.f64 "
      "%f20, %d3;\n" END,
      "1p", "1" },
};

static void describe(const struct ptx_func *f, const struct ptx_contracted *x, char *fused,
                     char *dropped)
{
    uint32_t number[64] = { 0 }, n = 0;
    for (uint32_t i = 0; i < f->ninsts; i++)
        if (f->insts[i].op == PTX_OP_MUL) {
            number[i] = ++n;
            *dropped++ = x[i].dropped ? '1' : '0';
        }
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (f->insts[i].op != PTX_OP_ADD && f->insts[i].op != PTX_OP_SUB)
            continue;
        *fused++ = (char)('0' + (x[i].mul == PTX_NO_INDEX ? 0 : number[x[i].mul]));
        if (x[i].mul != PTX_NO_INDEX && x[i].neg_product)
            *fused++ = 'p';
        if (x[i].mul != PTX_NO_INDEX && x[i].neg_addend)
            *fused++ = 'c';
    }
    *fused = *dropped = 0;
}

static void one_case(void **state)
{
    size_t n = *(const size_t *)*state;
    struct buf text = { 0 };
    struct diags ds = { 0 };
    struct ptx_module *m;
    char fused[64], dropped[64];
    bool closed = strstr(cases[n].body, "}\nX:") != NULL;
    buf_puts(&text, HEAD);
    if (closed) { /* the label stands before the end */
        const char *end = strstr(cases[n].body, "ret;\n}\nX:\n");
        buf_printf(&text, "%.*sX:\nret;\n}\n", (int)(end - cases[n].body), cases[n].body);
    } else {
        buf_puts(&text, cases[n].body);
    }
    assert_status_ok(ptx_parse("case", (struct str){ text.s, text.n }, &m, &ds), &ds);
    struct ptx_cfg *c = ptx_cfg_build(m->funcs[0]);
    struct ptx_contracted *x = ptx_contract(c);
    assert_non_null(x);
    describe(m->funcs[0], x, fused, dropped);
    assert_string_equal(fused, cases[n].fused);
    assert_string_equal(dropped, cases[n].dropped);
    base_free(x);
    ptx_cfg_free(c);
    ptx_free(m);
    buf_free(&text);
    diags_free(&ds);
}

/* Any allocation may fail: NULL then, and nothing is lost. */
static void no_memory(void **state)
{
    struct diags ds = { 0 };
    struct ptx_module *m;
    (void)state;
    struct str text = STR(HEAD MUL "add.f32 %f20, %f10, %f3;\n" END);
    assert_status_ok(ptx_parse("case", text, &m, &ds), &ds);
    struct ptx_cfg *c = ptx_cfg_build(m->funcs[0]);
    for (long k = 1;; k++) {
        base_fail_after((uint64_t)k);
        struct ptx_contracted *x = ptx_contract(c);
        base_fail_after(0);
        base_free(x);
        if (x)
            break;
        assert_true(k < 100);
    }
    ptx_cfg_free(c);
    ptx_free(m);
    diags_free(&ds);
}

int main(void)
{
    static struct CMUnitTest tests[ARRAY_LEN(cases) + 1];
    static size_t number[ARRAY_LEN(cases)];
    static char name[ARRAY_LEN(cases)][16];
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        number[i] = i;
        snprintf(name[i], sizeof name[i], "case %zu", i);
        tests[i] = (struct CMUnitTest){ name[i], one_case, NULL, NULL, &number[i] };
    }
    tests[ARRAY_LEN(cases)] = (struct CMUnitTest)cmocka_unit_test(no_memory);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
