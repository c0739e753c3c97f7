/* Addresses of compiled code as they are shown (tests/golden/analysis/forms.cu), and what is unknown in
 * them and why. */
#include "tests/unit/analysis_support.h"

/* # stands for the kernel's name and "_param_". load: the n-th of the kernel. */
struct form {
    const char *kernel;
    unsigned load;
    const char *address;
};
static const struct form forms[] = {
    { "div3u", 0, "#0 + 4*(4*((ctaid.x*ntid.x + tid.x) / 3) + ((ctaid.x*ntid.x + tid.x) % 3))" },
    { "div7s", 0, "#0 + 4*(8*((ctaid.x*ntid.x + tid.x) / 7) + ((ctaid.x*ntid.x + tid.x) % 7))" },
    { "div100", 0, "#0 + 4*(tid.x + 4096*(ctaid.x / 100) + 32*(ctaid.x % 100))" },
    { "divrt", 0, "#0 + 4*(ctaid.x*ntid.x + tid.x + #2 - 2*((ctaid.x*ntid.x + tid.x) % #2) - 1)" },
    { "geo", 0, "#0 + 4*u32(tid.x*(1 << k1) + ctaid.x)" },
    { "geo", 1, "#0 + 4*(tid.x + ((ntid.x / 2) >>> k))" },
    { "clampk", 0, "#0 + 4*(ctaid.x*ntid.x + tid.x)" },
    { "clampk", 1, "#0 + 4*max(ctaid.x*ntid.x + tid.x - 1, 0)" },
    { "clampk", 2, "#0 + 4*min(ctaid.x*ntid.x + tid.x + 1, #2 - 1)" },
    { "wrapk", 0, "#0 + 4*(ctaid.x*ntid.x + tid.x)" },
    { "wrapk", 1, "#0 + 4*((((ctaid.x*ntid.x + tid.x) == 0) ? #2 : (ctaid.x*ntid.x + tid.x)) - 1)" },
    { "wrapk", 2, "#0 + 4*((#2 == (ctaid.x*ntid.x + tid.x + 1)) ? 0 : (ctaid.x*ntid.x + tid.x + 1))" },
    { "twoarr", 0, "(((ctaid.x % 2) == 1) ? #0 : #1) + 4*(ctaid.x*ntid.x + tid.x + 1)" },
    { "twoarr", 1, "((#4 == 0) ? #1 : #0) + 4*(ctaid.x*ntid.x + tid.x)" },
    { "multiexit", 0, "#0 + 4*(ctaid.x*ntid.x + tid.x + 32*k)" },
    { "pstruct", 0, "#0{0} + 4*(ctaid.x*ntid.x + tid.x)" },
    { "table", 0, "#0 + 8*(ctaid.x % 4)" },
    { "table", 1, "[#0 + 8*(ctaid.x % 4)] + 4*tid.x" },
    { "callk", 0, "#0 + 4*((ctaid.x*ntid.x + tid.x)*(#2 % 4) + 1)" },
    { "halfk", 0, "#0 + 4*(ctaid.x*ntid.x + tid.x)" },
    { "halfk", 1, "#1 + 4*(ctaid.x*ntid.x + tid.x + 1)" },
    { "asynck", 0, "#0 + 16*(128*(ctaid.x*(#2 % 4) + k) + tid.x)" },
    { "tril", 0, "#0 + 4*(ctaid.x*#2 + ntid.x*k + tid.x)" },
    { "swz", 0, "#0 + 4*(32*ctaid.x + (((tid.x / 8) ^ tid.x) % 32))" },
    { "swz", 1, "#0 + 4*(? >>> 27)" },
    { "k_u64_reverse", 0, "#0 + 4*(#2 - ctaid.x*ntid.x - ntid.x*nctaid.x*k1 - tid.x - 1)" },
    { "u32wrap", 0, "#0 + 4*u32((#2 - 1) & (ctaid.x*ntid.x + tid.x - 5))" },
    { "u32wrap", 1, "#0 + 4*((1640531535*(-ctaid.x*ntid.x - tid.x)) >>> 20)" },
};
static struct ptx_module *compiled(void)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    assert_status_ok(ptx_parse_file("tests/golden/analysis/forms.ptx", &m, &ds), &ds);
    diags_free(&ds);
    return m;
}
static struct ana_kernel *kernel_of(const struct ptx_module *m, const char *name)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ana_opts o = { .data = NULL };
    assert_status_ok(ana_run(m, str_of(name), &o, &k, &ds), &ds);
    diags_free(&ds);
    return k;
}
static const struct ana_access *global_load(const struct ana_kernel *k, unsigned n)
{
    for (uint32_t i = 0; i < k->naccess; i++)
        if (!k->access[i].store && k->access[i].space == PTX_SPACE_GLOBAL && n-- == 0)
            return &k->access[i];
    fail_msg("no such load");
    return NULL;
}
static void addresses(void **state)
{
    (void)state;
    struct ptx_module *m = compiled();
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        struct ana_kernel *k = kernel_of(m, forms[i].kernel);
        struct buf want = { 0 };
        for (const char *p = forms[i].address; *p; p++)
            if (*p == '#')
                buf_printf(&want, "%s_param_", forms[i].kernel);
            else
                buf_put(&want, p, 1);
        assert_string_equal(global_load(k, forms[i].load)->address, want.s);
        buf_free(&want);
        ana_free(k);
    }
    ptx_free(m);
}
static void reasons(void **state)
{
    (void)state;
    struct ptx_module *m = compiled();
    struct ana_kernel *k = kernel_of(m, "swz");
    const struct ana_access *a = global_load(k, 1);
    assert_non_null(strstr(a->unknown, "brev.b32 at line "));
    assert_int_equal(a->cls, ANA_CLASS_UNKNOWN);
    ana_free(k);
    k = kernel_of(m, "table");
    a = global_load(k, 1);
    assert_string_equal(a->array, "data");
    assert_non_null(strstr(a->uncounted, "what is loaded at line "));
    assert_int_equal(a->cls, ANA_CLASS_DATA);
    ana_free(k);
    k = kernel_of(m, "twoarr");
    a = global_load(k, 0);
    assert_null(a->array);
    assert_string_equal(a->arrays, "twoarr_param_0 or twoarr_param_1");
    ana_free(k);
    /* two pointers of one struct are two arrays, and the store to one does not refute the other */
    k = kernel_of(m, "pstruct");
    a = global_load(k, 0);
    assert_string_equal(a->array, "pstruct_param_0{0}");
    assert_int_equal(a->param, 0);
    assert_int_equal(a->read_only, ANA_UNKNOWN);
    ana_free(k);
    ptx_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(addresses), cmocka_unit_test(reasons) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
