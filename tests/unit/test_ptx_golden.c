/* Every module of tests/golden/ptx: printed byte for byte, printed again after a second parse,
 * and its diagnostics as NAME.diag has them (no file: none). UPDATE_GOLDEN=1 writes the files. */
#include "tests/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#define DIR_NAME "tests/golden/ptx"

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t list_modules(char ***out)
{
    DIR *d = opendir(DIR_NAME);
    assert_non_null(d);
    size_t n = 0, cap = 0;
    char **v = NULL;
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        if (len > 4 && !strcmp(e->d_name + len - 4, ".ptx") &&
            base_grow((void **)&v, n, &cap, sizeof *v))
            v[n++] = base_strdup(e->d_name);
    }
    closedir(d);
    qsort(v, n, sizeof *v, by_name);
    *out = v;
    return n;
}

static struct str read_text(const char *dir, const char *name, const char *suffix, bool must)
{
    char path[512];
    struct diags ds = { 0 };
    char *data = NULL;
    size_t n = 0;
    snprintf(path, sizeof path, "%s/%s%s", dir, name, suffix);
    enum status st = file_read(path, SIZE_MAX, &data, &n, &ds);
    if (must)
        assert_status_ok(st, &ds);
    diags_free(&ds);
    return (struct str){ data, n };
}

static void check_diagnostics(const char *name, const struct diags *ds)
{
    char base[256], path[512];
    snprintf(base, sizeof base, "%.*s", (int)(strlen(name) - 4), name);
    struct buf got = { 0 };
    diags_print(ds, &got);
    if (getenv("UPDATE_GOLDEN")) {
        struct diags io = { 0 };
        snprintf(path, sizeof path, DIR_NAME "/%s.diag", base);
        if (got.n)
            assert_status_ok(file_write_atomic(path, got.s, got.n, &io), &io);
        else
            remove(path);
        diags_free(&io);
    }
    struct str want = read_text(DIR_NAME, base, ".diag", false);
    if (got.n != want.n || (got.n && memcmp(got.s, want.s, got.n) != 0))
        fail_msg("%s: diagnostics differ; got:\n%s", name, got.s ? got.s : "(none)");
    buf_free(&got);
    base_free((char *)want.s);
}

static void check_round_trip(const char *name, const struct ptx_module *m, struct str text)
{
    struct buf once = { 0 }, twice = { 0 };
    struct diags ds = { 0 };
    struct ptx_module *again;
    ptx_print(m, &once);
    if (once.n != text.n || (text.n && memcmp(once.s, text.s, text.n) != 0))
        fail_msg("%s: printing changed the text", name);
    ptx_parse(name, (struct str){ once.s, once.n }, &again, &ds);
    assert_non_null(again);
    ptx_print(again, &twice);
    assert_int_equal(once.n, twice.n);
    assert_int_equal(again->nfuncs, m->nfuncs);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        assert_int_equal(again->funcs[i]->ninsts, m->funcs[i]->ninsts);
    ptx_free(again);
    diags_free(&ds);
    buf_free(&once);
    buf_free(&twice);
}

/* Operands lie in their instruction's text, in the order that they are written in. */
static void check_spans(const struct ptx_module *m)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t k = 0; k < m->funcs[f]->ninsts; k++) {
            const struct ptx_inst *i = &m->funcs[f]->insts[k];
            struct str text = ptx_text(m, i->at);
            const char *from = text.s;
            for (uint32_t o = 0; o < i->nopnds; o++) {
                const char *at = m->text.s + i->opnds[o].off;
                if (at < from || at + i->opnds[o].len > text.s + text.n)
                    fail_msg("operand %u of '%.*s' lies elsewhere", o, (int)text.n, text.s);
                from = at;
            }
        }
}

static void goldens(void **state)
{
    (void)state;
    char **names;
    size_t n = list_modules(&names);
    assert_true(n >= 60);
    for (size_t i = 0; i < n; i++) {
        struct str text = read_text(DIR_NAME, names[i], "", true);
        struct diags ds = { 0 };
        struct ptx_module *m;
        enum status st = ptx_parse(names[i], text, &m, &ds);
        if ((st != ST_OK) != !strncmp(names[i], "bad_", 4))
            check_diagnostics(names[i], &ds);
        assert_int_equal(st != ST_OK, !strncmp(names[i], "bad_", 4));
        check_diagnostics(names[i], &ds);
        check_round_trip(names[i], m, text);
        check_spans(m);
        for (uint32_t k = 0; k < m->nfuncs; k++) {
            struct ptx_cfg *c = ptx_cfg_build(m->funcs[k]);
            assert_non_null(c);
            ptx_cfg_free(c);
        }
        ptx_free(m);
        diags_free(&ds);
        base_free((char *)text.s);
        base_free(names[i]);
    }
    base_free(names);
}

/* The kernels that come with the program are read without a word. */
static void kernels(void **state)
{
    (void)state;
    DIR *d = opendir("kernels");
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        size_t len = strlen(e->d_name);
        if (len < 4 || strcmp(e->d_name + len - 4, ".ptx") != 0)
            continue;
        struct str text = read_text("kernels", e->d_name, "", true);
        struct diags ds = { 0 };
        struct ptx_module *m;
        assert_status_ok(ptx_parse(e->d_name, text, &m, &ds), &ds);
        assert_int_equal(ds.n, 0);
        check_round_trip(e->d_name, m, text);
        ptx_free(m);
        diags_free(&ds);
        base_free((char *)text.s);
    }
    closedir(d);
}

/* Rows of the op table that no golden module uses. */
static void every_row_is_used(void **state)
{
    (void)state;
    char **names;
    size_t n = list_modules(&names);
    bool used[PTX_OP_COUNT] = { false };
    for (size_t i = 0; i < n; i++) {
        struct str text = read_text(DIR_NAME, names[i], "", true);
        struct diags ds = { 0 };
        struct ptx_module *m;
        if (ptx_parse(names[i], text, &m, &ds) == ST_OK)
            for (uint32_t f = 0; f < m->nfuncs; f++)
                for (uint32_t k = 0; k < m->funcs[f]->ninsts; k++)
                    used[m->funcs[f]->insts[k].op] = true;
        ptx_free(m);
        diags_free(&ds);
        base_free((char *)text.s);
        base_free(names[i]);
    }
    base_free(names);
    unsigned missing = 0;
    for (int op = 1; op < PTX_OP_COUNT; op++)
        if (!used[op])
            print_error("no module of " DIR_NAME " uses %s\n", ptx_op_info((unsigned)op)->name),
                missing++;
    assert_int_equal(missing, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(goldens), cmocka_unit_test(kernels),
                                        cmocka_unit_test(every_row_is_used) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
