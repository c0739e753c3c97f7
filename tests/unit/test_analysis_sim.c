/* The analysis' exact counts against the simulated device's own, load by load:
 * on kernels made from random shapes and on every launch of every demo kernel
 * (cut to a few CTAs). Closed forms share no code with it; slices run on its executor. */
#include "tests/unit/analysis_gen.h"

#include <glob.h>
#include <stdlib.h>

#include "engine/rec/launch.h"
#include "engine/session/launch_file.h"
#include "tests/unit/analysis_compare.h"

#define SEEDS    400
#define MAX_CTAS 12u

static void generated(void **state)
{
    (void)state;
    struct an_gen g = { 0 };
    unsigned n = 0;
    twins = true;
    for (uint64_t seed = 10001; seed <= 10000 + SEEDS; seed++) {
        struct an_launch a;
        an_gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        an_gen_launch(&g, &a);
        n += compare(m, &a.data, g.text.s, NULL);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    twins = false;
    buf_free(&g.text);
    assert_int_equal(n, SEEDS);
}

/* Random programs; both ways of counting must have been at work. */
#define PROGRAMS 600
static void programs(void **state)
{
    (void)state;
    struct gen g = { 0 };
    closed = sliced = 0;
    twins = true;
    uint64_t from = getenv("GEN_SEED") ? strtoull(getenv("GEN_SEED"), NULL, 10) : 1,
             count = getenv("GEN_COUNT") ? strtoull(getenv("GEN_COUNT"), NULL, 10) : PROGRAMS;
    for (uint64_t seed = from; seed < from + count; seed++) {
        struct an_launch a;
        gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        gen_launch(&g, &a);
        compare(m, &a.data, g.text.s, NULL);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    twins = false;
    buf_free(&g.text);
    if (count >= PROGRAMS) {
        assert_true(closed > PROGRAMS / 2);
        assert_true(sliced > PROGRAMS / 2);
    }
    print_message("%u loads counted in closed form, %u by slices\n", closed, sliced);
}

/* ---- demo kernels ---- */
static void cut(struct launch_spec *l)
{
    while (dim3u_count(l->grid) > MAX_CTAS) {
        uint32_t *most = l->grid.x >= l->grid.y && l->grid.x >= l->grid.z ? &l->grid.x
                         : l->grid.y >= l->grid.z                         ? &l->grid.y
                                                                          : &l->grid.z;
        *most = (*most + 1) / 2;
    }
    l->nbefore = 0;
}
static unsigned one_file(const char *path)
{
    struct diags ds = { 0 };
    struct launch_file lf = { 0 };
    unsigned n = 0;
    assert_status_ok(launch_file_read(path, &lf, &ds), &ds);
    for (size_t i = 0; i < lf.n; i++) {
        struct launch_spec *l = &lf.launch[i];
        struct launch_data d;
        struct ptx_module *m = NULL;
        if (l->name && (!strcmp(l->name, "h200") || !strcmp(l->name, "waves")))
            continue; /* the same kernels, sized for a real GPU or for many waves */
        char *ptx = NULL;
        struct buf b = { 0 };
        size_t before = l->nbefore;
        buf_printf(&b, "%s/%s", l->dir ? l->dir : ".", l->ptx);
        ptx = buf_take(&b);
        cut(l);
        assert_status_ok(ptx_parse_file(ptx, &m, &ds), &ds);
        assert_status_ok(launch_data_make(l, (uint64_t)1 << 32, &d, &ds), &ds);
        buf_printf(&b, "%s %s", path, l->kernel);
        unsigned open = 0;
        n += compare(m, &d, b.s, &open);
        bool waits = l->name && !strcmp(l->name, "stagger"); /* a loop until %clock is late enough */
        if (open != waits)
            fail_msg("%s: %u loads are not counted, %d expected", b.s, open, waits);
        launch_data_free(&d);
        l->nbefore = before;
        ptx_free(m);
        base_free(ptx);
        buf_free(&b);
    }
    launch_file_free(&lf);
    diags_free(&ds);
    return n;
}
static void demos(void **state)
{
    (void)state;
    glob_t g;
    unsigned n = 0;
    assert_int_equal(glob("kernels/*.launch.json", 0, NULL, &g), 0);
    for (size_t i = 0; i < g.gl_pathc; i++)
        n += one_file(g.gl_pathv[i]);
    assert_true(g.gl_pathc >= 20);
    assert_true(n > 100);
    globfree(&g);
}

/* ---- compiled control flow: switches, breaks, calls, short circuits, shuffles, queues ---- */
static bool starts(const struct ptx_func *f, const char *name)
{
    return f->name.n >= strlen(name) && !memcmp(f->name.s, name, strlen(name));
}
/* Pointers get buffers of small random integers, 32-bit numbers 100 (24 for the fourth), structures zero
 * bytes. */
static void any_launch(const struct ptx_func *f, struct an_launch *a)
{
    static uint8_t zero[64];
    bool box = starts(f, "k_z"), tile = starts(f, "k_tile");
    an_launch_init(a,
                   box    ? (struct dim3u){ 1, 3, 2 }
                   : tile ? (struct dim3u){ 3, 4, 1 }
                          : (struct dim3u){ 5, 1, 1 },
                   box    ? (struct dim3u){ 11, 5, 3 }
                   : tile ? (struct dim3u){ 16, 16, 1 }
                          : (struct dim3u){ 96, 1, 1 });
    for (uint32_t q = 0; q < f->nparams; q++) {
        uint64_t bytes = f->params[q]->bytes;
        if (bytes > 8) {
            a->arg[a->l.nargs++] = (struct arg_spec){
                .kind = ARG_BYTES, .name = (char *)(uintptr_t) "s", .bytes = zero, .nbytes = bytes
            };
        } else if (bytes == 8 && !(starts(f, "k_u64") && q == 2)) {
            struct arg_spec *b = an_buffer(a, "b", ELEM_S32, 1 << 15);
            b->init = (struct init_spec){
                .kind = INIT_RANDOM, .b = 99, .ib = 99, .integral = true, .seed = q + 3
            };
        } else {
            an_int(a, "n", q == 3 ? 24 : 100);
            a->arg[a->l.nargs - 1].elem = bytes == 8 ? ELEM_S64 : ELEM_S32;
        }
    }
    a->l.kernel = arena_dup(f->module->arena, f->name);
    an_data(a);
}
static unsigned compiled_file(const char *path)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    unsigned n = 0;
    assert_status_ok(ptx_parse_file(path, &m, &ds), &ds);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        struct an_launch a;
        if (!m->funcs[i]->entry ||
            starts(m->funcs[i], "table")) /* no launch description holds a table of pointers */
            continue;
        any_launch(m->funcs[i], &a);
        n += compare(m, &a.data, a.l.kernel, NULL);
        launch_data_free(&a.data);
    }
    ptx_free(m);
    diags_free(&ds);
    return n;
}
static void compiled(void **state)
{
    (void)state;
    assert_true(compiled_file("tests/golden/analysis/control.ptx") > 60);
    assert_true(compiled_file("tests/golden/analysis/forms.ptx") > 25);
}

/* An argument picks tests by name; GEN_SEED and GEN_COUNT pick random programs. */
int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(generated), cmocka_unit_test(programs),
                                        cmocka_unit_test(demos), cmocka_unit_test(compiled) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
