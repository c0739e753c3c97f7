/* Each class is recognised in two demo kernels at least, with the evidence that belongs to it; and no
 * load whose address is not known from the code is ever given a class that claims to know, in demo and
 * generated kernels. */
#include "tests/unit/analysis_support.h"

#include <glob.h>

#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"

/* ---- which kernel shows which class; a load's evidence must say `why` ---- */
struct class_demo {
    const char *kernel;
    enum ana_class cls;
    const char *why;
};
static const struct class_demo demos[] = {
    { "gemm", ANA_CLASS_ALGORITHM, "no term with ctaid.y" },
    { "gemm", ANA_CLASS_ALGORITHM, "no term with ctaid.x" },
    { "syrk", ANA_CLASS_ALGORITHM, "no term with ctaid." },
    { "nbody", ANA_CLASS_ALGORITHM, "no term with ctaid.x" },
    { "tile_share", ANA_CLASS_ALGORITHM, "no term with ctaid.y" },
    { "conv2d", ANA_CLASS_CACHE_LINE,
      "share 50 % of the 128-byte lines of this load but 0 % of its bytes" },
    { "conv3d", ANA_CLASS_CACHE_LINE, "of the 128-byte lines of this load but" },
    { "cta_locality_spatial", ANA_CLASS_CACHE_LINE,
      "of the 128-byte lines of this load but 0 % of its bytes" },
    { "bfs_kernel1", ANA_CLASS_DATA, "its address depends on loaded values" },
    { "spmv", ANA_CLASS_DATA, "its address depends on loaded values" },
    { "redblack", ANA_CLASS_WRITE, "(the store at line" },
    { "backprop_adjust", ANA_CLASS_WRITE, "(the store at line" },
    { "nw", ANA_CLASS_WRITE, "(the store at line" },                         /* 1 load of 20 */
    { "histogram", ANA_CLASS_DATA, "its address depends on loaded values" }, /* its atomic */
    { "coalescing", ANA_CLASS_STREAMING, "coalesced and read once by this load" },
    { "reduction", ANA_CLASS_STREAMING, "coalesced and read once by this load" },
    { "valley", ANA_CLASS_STREAMING, "of its lines are touched again inside the CTA" },
};
struct told {
    unsigned kernels[ANA_CLASS_UNKNOWN + 1];
    bool seen[ARRAY_LEN(demos)];
};

/* What must hold of every access of every kernel. */
static void expect_honest(const struct ana_kernel *k)
{
    for (uint32_t i = 0; i < k->naccess; i++) {
        const struct ana_access *a = &k->access[i];
        if ((a->unknown || a->depends_on_load || !a->address) && a->cls != ANA_CLASS_DATA &&
            a->cls != ANA_CLASS_UNKNOWN)
            fail_msg("%.*s line %u: %s, unknown for %s", (int)k->func->name.n, k->func->name.s,
                     a->at.line, ana_class_name(a->cls), a->unknown ? a->unknown : "its data");
        if (a->cls != ANA_CLASS_UNKNOWN)
            assert_non_null(a->evidence);
    }
}
static void note(struct told *t, const struct ana_kernel *k)
{
    t->kernels[k->cls]++;
    for (size_t d = 0; d < ARRAY_LEN(demos); d++)
        for (uint32_t i = 0;
             i < k->naccess && str_is(k->func->name, demos[d].kernel) && k->cls == demos[d].cls; i++)
            t->seen[d] = t->seen[d] || (k->access[i].cls == k->cls && k->access[i].evidence &&
                                        strstr(k->access[i].evidence, demos[d].why));
}
static void one_file(const char *path, struct told *t)
{
    struct diags ds = { 0 };
    struct launch_file lf = { 0 };
    struct buf b = { 0 };
    struct ptx_module *m = NULL;
    assert_status_ok(launch_file_read(path, &lf, &ds), &ds);
    buf_printf(&b, "%s/%s", lf.launch[0].dir, lf.launch[0].ptx);
    assert_status_ok(ptx_parse_file(b.s, &m, &ds), &ds);
    for (size_t i = 0; i < lf.n; i++) {
        struct launch_data d;
        struct ana_kernel *k = NULL;
        const char *name = lf.launch[i].name;
        if (name && (!strcmp(name, "h200") || !strcmp(name, "waves")))
            continue;
        assert_status_ok(launch_data_make(&lf.launch[i], (uint64_t)1 << 32, &d, &ds), &ds);
        struct ana_opts o = { .data = &d };
        assert_status_ok(ana_run(m, str_of(lf.launch[i].kernel), &o, &k, &ds), &ds);
        expect_honest(k);
        note(t, k);
        ana_free(k);
        launch_data_free(&d);
        o.data = NULL;
        assert_status_ok(ana_run(m, str_of(lf.launch[i].kernel), &o, &k, &ds), &ds);
        expect_honest(k);
        ana_free(k);
    }
    ptx_free(m);
    launch_file_free(&lf);
    buf_free(&b);
    diags_free(&ds);
}
static void classes_of_demos(void **state)
{
    (void)state;
    glob_t g;
    struct told t = { { 0 }, { false } };
    assert_int_equal(glob("kernels/*.launch.json", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        one_file(g.gl_pathv[i], &t);
    globfree(&g);
    for (size_t d = 0; d < ARRAY_LEN(demos); d++)
        if (!t.seen[d])
            fail_msg("%s is not recognised as %s because \"%s\"", demos[d].kernel,
                     ana_class_name(demos[d].cls), demos[d].why);
    for (int c = 0; c < ANA_CLASS_UNKNOWN; c++)
        assert_true(t.kernels[c] >= 2);
}
static void generated_are_honest(void **state)
{
    (void)state;
    struct an_gen g = { 0 };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct an_launch a;
        an_gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        an_gen_launch(&g, &a);
        struct ana_kernel *with = an_run(m, &a, false), *without = an_run(m, NULL, false);
        expect_honest(with);
        expect_honest(without);
        ana_free(with);
        ana_free(without);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    buf_free(&g.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(classes_of_demos),
                                        cmocka_unit_test(generated_are_honest) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
