/* Every launch description fits its PTX and its buffers; every kernel of every PTX file has a launch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <glob.h>
#include <stdio.h>
#include <string.h>

#include "engine/ptx/ptx.h"
#include "engine/session/launch_file.h"
#include "tests/ref_kernels/ref.h"

static void need(enum status s, struct diags *ds, const char *what)
{
    if (s == ST_OK && !ds->errors)
        return;
    struct buf b = { 0 };
    diags_print(ds, &b);
    fail_msg("%s: %s\n%s", what, status_text(s), b.s ? b.s : "");
}

static struct ptx_module *parse(const char *path, struct diags *ds)
{
    struct ptx_module *m = NULL;
    char *text = NULL;
    size_t n = 0;
    need(file_read(path, 1u << 20, &text, &n, ds), ds, path);
    need(ptx_parse(path, (struct str){ text, n }, &m, ds), ds, path);
    base_free(text);
    return m;
}

static bool launched(const struct launch_file *f, struct str kernel)
{
    for (size_t i = 0; i < f->n; i++)
        if (str_is(kernel, f->launch[i].kernel))
            return true;
    return false;
}

static void check_launch(const struct launch_spec *l, const struct ptx_module *m, struct diags *ds)
{
    bool output = false;
    need(launch_check(l, m, NULL, ds), ds, l->kernel);
    for (size_t i = 0; i < l->nargs; i++)
        output = output || l->args[i].output;
    assert_true(output);
    assert_true(ref_known(l->kernel));
}

static void one_file(void **state)
{
    const char *ptx = *state;
    char path[512];
    struct diags ds = { 0 };
    struct launch_file f;
    struct ptx_module *m = parse(ptx, &ds);
    assert_int_equal(m->nopaque, 0);
    snprintf(path, sizeof path, "%.*s.launch.json", (int)(strlen(ptx) - 4), ptx);
    need(launch_file_read(path, &f, &ds), &ds, path);
    assert_true(f.n > 0);
    /* the first is the simulator's */
    assert_true(!f.launch[0].name || strncmp(f.launch[0].name, "h200", 4));
    for (size_t i = 0; i < f.n; i++) {
        assert_string_equal(f.launch[i].ptx, ptx + strlen("kernels/"));
        check_launch(&f.launch[i], m, &ds);
    }
    for (uint32_t i = 0; i < m->nfuncs; i++)
        if (m->funcs[i]->entry && !launched(&f, m->funcs[i]->name))
            fail_msg("%s: kernel %.*s has no launch", ptx, (int)m->funcs[i]->name.n,
                     m->funcs[i]->name.s);
    launch_file_free(&f);
    ptx_free(m);
    diags_free(&ds);
}

int main(void)
{
    static struct CMUnitTest tests[64];
    size_t n = 0;
    glob_t g;
    if (glob("kernels/*.ptx", 0, NULL, &g) || !g.gl_pathc)
        return 1;
    for (; n < g.gl_pathc && n < ARRAY_LEN(tests); n++)
        tests[n] = (struct CMUnitTest){ g.gl_pathv[n], one_file, NULL, NULL, g.gl_pathv[n] };
    int failed = _cmocka_run_group_tests("launches", tests, n, NULL, NULL);
    globfree(&g);
    return failed;
}
