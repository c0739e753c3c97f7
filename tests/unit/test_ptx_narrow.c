/* A module as one kernel needs it: what is dropped, what stays, and that every line keeps its number. */
#include "tests/support.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/link.h"
#include "engine/ptx/ptx.h"

static const char SOURCE[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                             ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                             ".func used_last();\n"
                             ".func unused();\n"
                             ".func pointed();\n"
                             ".global .align 4 .u32 third[2] = {1, 2};\n"
                             ".global .align 8 .u64 second[1] = {generic(third)};\n"
                             ".global .align 8 .u64 first[1] = {second};\n"
                             ".global .align 4 .u32 alone[4] = {1,\n  2, 3,\n  4};\n"
                             ".global .align 8 .u64 jumps[1] = {pointed};\n"
                             ".const .align 4 .u32 set_by_host;\n"
                             ".global .align 4 .u32 shares_line; .global .align 4 .u32 too;\n"
                             ".func pointed()\n{\n\tret;\n}\n"
                             ".func used_first()\n{\n\tcall used_last;\n\tret;\n}\n"
                             ".func used_last()\n{\n\tret;\n}\n"
                             ".func unused()\n{\n\tcall used_last;\n\tret;\n}   // long gone\n"
                             ".visible .entry wanted(.param .u64 p)\n{\n"
                             "\t.reg .b32 %r<4>;\n\t.reg .b64 %d<4>;\n"
                             "\tmov.u64 %d1, first;\n"
                             "\tld.global.u64 %d2, [jumps];\n"
                             "\tcall used_first;\n"
                             "\tret;\n}\n"
                             ".visible .entry other(.param .u64 p)\n{\n"
                             "\t.reg .b32 %r<4>;\n"
                             "\tld.global.u32 %r1, [alone+4];\n"
                             "\tcall unused;\n"
                             "\tret;\n}\n";

static struct ptx_module *parse(const char *text)
{
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    enum status st = ptx_parse("t.ptx", str_of(text), &m, &ds);
    assert_status_ok(st, &ds);
    diags_free(&ds);
    return m;
}

static bool has(const struct ptx_module *m, const char *name)
{
    return ptx_find_func(m, str_of(name)) || ptx_find_global(m, str_of(name));
}

static void what_stays(void **state)
{
    static const char *const stay[] = { "wanted",      "used_first", "used_last",  "pointed",
                                        "first",       "second",     "third",      "jumps",
                                        "set_by_host", "vprintf",    "shares_line" };
    static const char *const go[] = { "other", "unused", "alone" };
    struct ptx_module *m = parse(SOURCE), *out;
    struct str keep[] = { STR("wanted"), STR("set_by_host"), STR("no such name") };
    (void)state;
    assert_int_equal(ptx_narrow(m, keep, ARRAY_LEN(keep), &out), ST_OK);
    assert_non_null(out);
    for (size_t i = 0; i < ARRAY_LEN(stay); i++)
        if (!has(out, stay[i]))
            fail_msg("%s is gone", stay[i]);
    for (size_t i = 0; i < ARRAY_LEN(go); i++)
        if (has(out, go[i]))
            fail_msg("%s is still there", go[i]);
    assert_int_equal(ptx_line_count(out), ptx_line_count(m));
    assert_true(ptx_find_func(out, STR("wanted"))->def->at.line ==
                ptx_find_func(m, STR("wanted"))->def->at.line);
    struct ptx_module *again;
    assert_int_equal(ptx_narrow(out, keep, ARRAY_LEN(keep), &again), ST_OK);
    assert_null(again); /* nothing left to drop */
    ptx_free(out);
    ptx_free(m);
}

/* Text outside functions that names them, or their labels, cannot be seen through. */
static void whole(void **state)
{
    static const char *const tail[] = { ".alias unused_too, unused;\n",
                                        ".section .debug_info\n{\n.b64 1\n}\n" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(tail); i++) {
        char text[sizeof SOURCE + 100];
        snprintf(text, sizeof text, "%s%s", SOURCE, tail[i]);
        struct ptx_module *m = parse(text), *out;
        struct str keep = STR("wanted");
        assert_int_equal(ptx_narrow(m, &keep, 1, &out), ST_OK);
        assert_null(out);
        ptx_free(m);
    }
}

/* A kernel's functions are there, instruction by instruction and on the same lines, and nothing else
 * with a body is. */
static void compare(const struct ptx_module *m, const struct ptx_module *out,
                    const struct ptx_func *kernel)
{
    const struct ptx_func **list = malloc((m->nfuncs + 1) * sizeof *list);
    uint32_t *place = malloc((m->nfuncs + 1) * sizeof *place), n = ptx_reachable(m, kernel, list, place),
             bodies = 0;
    assert_int_equal(ptx_line_count(out), ptx_line_count(m));
    for (uint32_t i = 0; i < n; i++) {
        const struct ptx_func *f = ptx_find_func(out, list[i]->name);
        assert_true(f);
        assert_true(f->def);
        assert_true(f->def->ninsts == list[i]->ninsts);
        for (uint32_t k = 0; k < f->def->ninsts; k++) {
            struct str a = ptx_text(m, list[i]->insts[k].at), b = ptx_text(out, f->def->insts[k].at);
            assert_true(a.n == b.n);
            assert_true(!memcmp(a.s, b.s, a.n));
            assert_true(f->def->insts[k].at.line == list[i]->insts[k].at.line);
            assert_true(f->def->insts[k].at.col == list[i]->insts[k].at.col);
        }
    }
    for (uint32_t i = 0; i < out->nfuncs; i++)
        bodies += out->funcs[i]->has_body;
    assert_true(bodies >= n);
    assert_true(bodies < m->nfuncs);
    free(list);
    free(place);
}

static bool ptxas_takes(const struct ptx_module *m)
{
    char path[600], command[1400];
    snprintf(path, sizeof path, "%s/narrow.ptx", support_scratch());
    FILE *f = fopen(path, "w");
    assert_true(f);
    assert_true(fwrite(m->text.s, 1, m->text.n, f) == m->text.n);
    assert_true(!fclose(f));
    snprintf(command, sizeof command, "ptxas -O0 -arch=sm_%u%s -o %s.cubin %s > /dev/null 2>&1",
             m->target >= 75 ? m->target : 75, m->target_suffix ? "a" : "", path, path);
    return system(command) == 0;
}

static unsigned file(const char *path, bool ptxas)
{
    struct ptx_module *m = NULL, *out;
    struct diags ds = { 0 };
    unsigned narrowed = 0;
    if (ptx_parse_file(path, &m, &ds) == ST_OK)
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            if (!m->funcs[i]->entry || !m->funcs[i]->has_body)
                continue;
            assert_int_equal(ptx_narrow(m, &m->funcs[i]->name, 1, &out), ST_OK);
            if (!out)
                continue;
            compare(m, out, m->funcs[i]);
            if (ptxas && i % 8 == 0 && !ptxas_takes(out))
                fail_msg("ptxas refuses what is left of %s for %.*s", path, (int)m->funcs[i]->name.n,
                         m->funcs[i]->name.s);
            ptx_free(out);
            narrowed++;
        }
    ptx_free(m);
    diags_free(&ds);
    return narrowed;
}

static void files(void **state)
{
    glob_t g;
    unsigned narrowed = 0;
    bool ptxas = system("command -v ptxas > /dev/null 2>&1") == 0;
    (void)state;
    assert_int_equal(glob("tests/heldout/*.ptx", 0, NULL, &g), 0);
    glob("tests/heldout/suites/*.ptx", GLOB_APPEND, NULL, &g);
    glob("kernels/*.ptx", GLOB_APPEND, NULL, &g);
    for (size_t i = 0; i < g.gl_pathc; i++)
        narrowed += file(g.gl_pathv[i], ptxas);
    globfree(&g);
    assert_true(narrowed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(what_stays), cmocka_unit_test(whole),
                                        cmocka_unit_test(files) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
