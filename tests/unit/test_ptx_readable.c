/* C++ names: what a person calls a function, and kernels found by that. c++filt -p says what is right,
 * where it is. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/ptx.h"

static void names(void **state)
{
    static const struct {
        const char *mangled, *readable;
    } rows[] = {
        { "valley", "valley" },
        { "", "" },
        { "_", "_" },
        { "_Z", "_Z" },
        { "_Zx", "_Zx" },
        { "_Z99ab", "_Z99ab" },
        { "_Z9vectorAddPKfS0_Pfi", "vectorAdd" },
        { "_Z5scaleIfEvPT_S0_i", "scale<float>" },
        { "_Z5scaleIdLj16ELb1ELin3EEvPT_S0_i", "scale<double, 16, true, -3>" },
        { "_ZN3app9vectorAddEPKfS1_Pfi", "app::vectorAdd" },
        { "_ZN12_GLOBAL__N_15plainEPf", "(anonymous)::plain" },
        { "_ZN3app3boxIiE4workIPKfEEvT_", "app::box<int>::work<float const*>" },
        { "_ZN3app4workINS_3boxIiEEEEvT_", "app::work<app::box<int>>" },
        { "_ZN3app4workINS_3boxIiEES2_EEvT_T0_", "app::work<app::box<int>, app::box<int>>" },
        { "_Z4foldIJfidEEvDpT_", "fold<float, int, double>" },
        { "_Z3useISt4lessIiEEvT_", "use<std::less<int>>" },
        { "_ZL6hiddenPf", "hidden" },
        { "_Z6strangIXadL_Z3addiiEEEvv", "strang<...>" },
        { "_ZN3app4workIXadL_Z3addiiEEEEvv", "app::work<...>" },
        { "_ZN3appplEii", "app" }, /* an operator */
        { "_Z1fI1aI1bI1cI1dI1eI1fI1gI1hI1iI1jI1kI1lI1mI1nI1oI1pI1qI1rI1sI1tEEEEEEEEEEEEEEEEEEEEEvv",
          "f<a<b<c<...>>>>" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct buf b = { 0 };
        ptx_readable(str_of(rows[i].mangled), &b);
        assert_string_equal(b.s ? b.s : "", rows[i].readable);
        buf_free(&b);
    }
}

/* As c++filt, which writes "> >" and names spaces that have none. */
static void as_others(void **state)
{
    static const char *const mangled[] = {
        "_Z9vectorAddPKfS0_Pfi",
        "_Z5scaleIdLi16ELb1ELin3EEvPT_S0_i",
        "_ZN3app3boxIiE4workIPKfEEvT_",
        "_ZN3app4workINS_3boxIiEES2_EEvT_T0_",
        "_Z4foldIJfidEEvDpT_",
        "_Z3useISt4lessIiEEvT_",
        "_ZN1a1b1cIKPvRS1_OxEEvv",
        "_Z1fIN1a1bIcE1dES2_EvT_",
        "_ZN1a1fINS_1bINS_1cES2_EES3_S2_EEvv",
        "_Z1gIPPKiS1_S2_Evv",
        "_ZN7cutlass6KernelINS_4gemm6kernel4GemmILi3EEEEEvNT_6ParamsE"
    };
    (void)state;
    if (system("command -v c++filt > /dev/null 2>&1") != 0)
        skip();
    for (size_t i = 0; i < ARRAY_LEN(mangled); i++) {
        char command[400], line[400] = { 0 };
        struct buf b = { 0 };
        snprintf(command, sizeof command, "c++filt -p '%s'", mangled[i]);
        FILE *f = popen(command, "r");
        assert_true(f);
        assert_true(fgets(line, sizeof line, f));
        pclose(f);
        line[strcspn(line, "\n")] = 0;
        for (char *p; (p = strstr(line, "> >"));)
            memmove(p + 1, p + 2, strlen(p + 1));
        const char *name = !strncmp(line, "void ", 5) ? line + 5 : line;
        ptx_readable(str_of(mangled[i]), &b);
        assert_string_equal(b.s, name);
        buf_free(&b);
    }
}

/* Cut off anywhere and with any byte changed: something is written, nothing is read beyond the end
 * (sanitizers tell). */
static void harmed(void **state)
{
    static const char whole[] =
        "_ZN3cub17CUB_300001_SM_9006detail10radix_sort29DeviceRadixSortOnesweepKernelINS1_"
        "5radix10policy_hubIiNS0_8NullTypeEjE10Policy1000ELNS0_9SortOrderE0EiS6_jiiNS1_21identity_"
        "decomposer_tEEEvPT5_SB_PT3_";
    (void)state;
    for (size_t n = 0; n < sizeof whole; n++)
        for (unsigned change = 0; change < 12; change++) {
            char *copy = malloc(n + 1);
            struct buf b = { 0 };
            memcpy(copy, whole, n);
            if (n && change)
                copy[(n * 7 + change * 13) % n] = "EISNT_09LJZ"[change - 1];
            ptx_readable((struct str){ copy, n }, &b);
            assert_true(b.n <= 4096);
            assert_true((b.n || !n));
            buf_free(&b);
            free(copy);
        }
}

static const char *find(const struct ptx_module *m, const char *text, struct buf *several)
{
    static char out[100];
    buf_clear(several);
    const struct ptx_func *f = ptx_find_entry(m, str_of(text), several);
    snprintf(out, sizeof out, "%.*s", f ? (int)f->name.n : 0, f ? f->name.s : "");
    return out;
}

static void found(void **state)
{
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n"
        ".visible .entry _Z5scaleIfEvPT_S0_i(.param .u64 _Z5scaleIfEvPT_S0_i_param_0)\n{\n\tret;\n}\n"
        ".visible .entry _Z5scaleIdEvPT_S0_i(.param .u64 p)\n{\n\tret;\n}\n"
        ".visible .entry _ZN3app9vectorAddEPf(.param .u64 p)\n{\n\tret;\n}\n"
        ".visible .entry Add()\n{\n\tret;\n}\n"
        ".func _Z6vectori(.param .b32 p)\n{\n\tret;\n}\n";
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    struct buf several = { 0 };
    (void)state;
    assert_status_ok(ptx_parse("t.ptx", str_of(text), &m, &ds), &ds);
    /* a whole name comes first */
    assert_string_equal(find(m, "Add", &several), "Add");
    assert_string_equal(find(m, "vectorAdd", &several), "_ZN3app9vectorAddEPf");
    assert_string_equal(find(m, "app::vectorAdd", &several), "_ZN3app9vectorAddEPf");
    /* by a part of it */
    assert_string_equal(find(m, "pp::vectorAdd", &several), "_ZN3app9vectorAddEPf");
    assert_string_equal(find(m, "scale<float>", &several), "_Z5scaleIfEvPT_S0_i");
    /* functions that are no kernels do not count */
    assert_string_equal(find(m, "vecto", &several), "_ZN3app9vectorAddEPf");
    assert_int_equal(several.n, 0);
    assert_string_equal(find(m, "scale", &several), "");
    assert_string_equal(several.s, "'_Z5scaleIfEvPT_S0_i', '_Z5scaleIdEvPT_S0_i'");
    assert_string_equal(find(m, "nothing", &several), "");
    assert_string_equal(find(m, "", &several), "");
    assert_int_equal(several.n, 0);
    struct str p = ptx_param_label(m->funcs[0], 0), q = ptx_param_label(m->funcs[1], 0);
    assert_true(str_is(p, "param_0"));
    assert_true(str_is(q, "p"));
    buf_free(&several);
    ptx_free(m);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(names), cmocka_unit_test(as_others),
                                        cmocka_unit_test(harmed), cmocka_unit_test(found) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
