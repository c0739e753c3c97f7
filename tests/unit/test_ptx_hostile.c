/* Input that means harm: cut anywhere, bytes flipped, NULs, depth, length, numbers. Nothing may
 * crash, hang or cost more than its size explains; what is printed stays what was read. */
#include "tests/support.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static void survive(struct str text)
{
    struct diags ds = { 0 };
    struct ptx_module *m;
    struct buf out = { 0 };
    enum status st = ptx_parse("hostile", text, &m, &ds);
    assert_true(st == ST_OK || st == ST_INPUT);
    assert_int_equal(st == ST_OK, ds.errors == 0);
    assert_non_null(m);
    ptx_print(m, &out);
    assert_int_equal(out.n, text.n);
    if (text.n)
        assert_memory_equal(out.s, text.s, text.n);
    for (uint32_t i = 0; i < m->nfuncs; i++)
        ptx_cfg_free(ptx_cfg_build(m->funcs[i]));
    buf_free(&out);
    ptx_free(m);
    diags_free(&ds);
}

static const char *const MODULES[] = {
    "kernels/bfs.ptx",
    "tests/golden/ptx/globals_init.ptx",
    "tests/golden/ptx/calls.ptx",
    "tests/golden/ptx/style_cutlass.ptx",
    "tests/golden/ptx/debugging.ptx",
};

static struct str load(const char *path)
{
    struct diags ds = { 0 };
    char *data;
    size_t n;
    assert_status_ok(file_read(path, 1u << 24, &data, &n, &ds), &ds);
    return (struct str){ data, n };
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(MODULES); i++) {
        struct str text = load(MODULES[i]);
        for (size_t n = 0; n < text.n; n++)
            survive((struct str){ text.s, n });
        base_free((char *)text.s);
    }
}

static void bytes_flipped(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(MODULES); i++) {
        struct str text = load(MODULES[i]);
        for (uint64_t k = 0; k < 400; k++) {
            char *copy = base_alloc(text.n + 1);
            memcpy(copy, text.s, text.n);
            for (uint64_t f = 0; f <= k % 8; f++) {
                uint64_t r = base_splitmix(i * 1000 + k, f);
                copy[r % text.n] =
                    k % 3 ? (char)(r >> 40) : (char)(copy[r % text.n] ^ (1 << (r >> 50 & 7)));
            }
            survive((struct str){ copy, text.n });
            base_free(copy);
        }
        base_free((char *)text.s);
    }
}

static void nul_bytes(void **state)
{
    (void)state;
    struct str text = load(MODULES[0]);
    char *copy = (char *)text.s;
    for (size_t at = 0; at < text.n; at += 37) {
        char was = copy[at];
        copy[at] = 0;
        survive(text);
        copy[at] = was;
    }
    base_free(copy);
    survive((struct str){ "\0\0\0\0", 4 });
}

/* before, n times middle, after */
static void repeated(const char *before, const char *middle, size_t n, const char *after)
{
    struct buf b = { 0 };
    buf_puts(&b, before);
    for (size_t i = 0; i < n; i++)
        buf_puts(&b, middle);
    buf_puts(&b, after);
    assert_false(b.oom);
    survive((struct str){ b.s, b.n });
    buf_free(&b);
}

static void depth(void **state)
{
    (void)state;
    repeated(HEAD ".entry k() {", "{", 100000, "");
    repeated(HEAD ".entry k() {", "{", 100000, "ret;");
    repeated(HEAD ".entry k() {", "{ .reg .b32 x; L: ", 50000, "bra L;");
    repeated(HEAD, "{", 100000, "");
    repeated(HEAD, "}", 100000, "");
    repeated(HEAD ".global .u32 x = ", "(", 100000, "1;");
    repeated(HEAD ".global .u32 x = ", "-", 100000, "1;");
    repeated(HEAD ".global .u32 x = 1", "?1:1", 100000, ";");
    repeated(HEAD ".global .u32 x[4] = ", "{", 100000, "1;");
    repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r, ", "[", 100000, ";}");
    repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r, ", "{", 100000, ";}");
    repeated(HEAD ".entry k() { call ", "(", 100000, ";}");
    repeated(HEAD ".section .x ", "{", 100000, "");
    repeated(HEAD ".global .attribute", "(", 100000, ".u32 x;");
    repeated(HEAD ".entry k() { .loc 1 1 1", ", inlined_at 1 1 1", 100000, " ret; }");
}

static void length(void **state)
{
    (void)state;
    repeated(HEAD ".global .u32 ", "abcdefghij", 1000000, ";");
    repeated(HEAD ".entry k() { ", "abcdefghij", 1000000, ".u32 a; }");
    repeated(HEAD ".entry k() { mov.", "abcdefghij.", 300000, "u32 a; }");
    repeated(HEAD ".entry k() { mov.u32 ", "%r12345678", 1000000, ", 1; }");
    repeated(HEAD ".global .u32 x = ", "1234567890", 1000000, ";");
    repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r, {r", ",r", 1000000, "}; }");
    repeated(HEAD ".entry k() { .reg .b32 r; mov.b32 r", ",r", 1000000, "; }");
    repeated(HEAD "/*", "*", 3000000, "");
    repeated(HEAD ".file 1 \"", "x", 3000000, "");
    repeated(HEAD ".entry k() { ts: .branchtargets L", ", L", 1000000, "; L: ret; }");
    repeated(HEAD ".entry k() { .reg .pred p; L: ", "@p bra L; ", 300000, " }");
    repeated(HEAD ".entry k(.param .u32 a", ", .param .u32 a", 200000, ") { }");
}

static void numbers(void **state)
{
    (void)state;
    static const char *const text[] = {
        ".global .b8 x[1000000000];",
        ".global .b8 x[18446744073709551615];",
        ".global .f64 x[4294967295][4294967295];",
        ".global .b32 x[1000000000] = {1, 2, 3};",
        ".global .b8 x[3][1000000000] = {{1}, {2}, {3}};",
        ".global .u32 x = 1 << 64;",
        ".global .s64 x = (-9223372036854775807 - 1) / -1;",
        ".global .u32 x = 1 % 0;",
        ".entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4294967294, %r0; mov.u32 %r4294967295, 1; }",
        ".entry k() { .reg .b32 %r<4294967295>; mov.u32 %r99999999999999999999, %r0; }",
        ".file 4294967295 \"x\"",
        ".file 99999999999999999999999 \"x\"",
        ".entry k() .maxntid 4294967296, 0, 1 { ret; }",
        ".entry k() { .loc 99999999999 1 1\n ret; }",
        ".global .align 1073741824 .b8 x; .global .align 2147483648 .b8 y;",
    };
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        repeated(HEAD, text[i], 1, "\n");
}

/* A range of four thousand million registers costs what is used of it. */
static void ranges_are_not_expanded(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct ptx_module *m;
    assert_status_ok(ptx_parse("r",
                               STR(HEAD ".entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4294967294, "
                                        "7; add.u32 %r0, %r4294967294, %r0; ret; }"),
                               &m, &ds),
                     &ds);
    assert_int_equal(m->funcs[0]->nregs, 2);
    assert_string_equal(ptx_type_name((enum ptx_type)m->funcs[0]->regs[0].type), "b32");
    assert_true(arena_bytes(m->arena) < 1u << 20);
    ptx_free(m);
    diags_free(&ds);
}

/* What fuzzing found worth keeping. */
static void corpus(void **state)
{
    (void)state;
    DIR *d = opendir("tests/fuzz/corpus/ptx");
    assert_non_null(d);
    unsigned n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[512];
        if (*e->d_name == '.')
            continue;
        snprintf(path, sizeof path, "tests/fuzz/corpus/ptx/%s", e->d_name);
        struct str text = load(path);
        survive(text);
        base_free((char *)text.s);
        n++;
    }
    closedir(d);
    assert_true(n > 0);
}

/* The n-th allocation fails, for every n: out of memory is said, nothing leaks or breaks. */
static void out_of_memory(void **state)
{
    (void)state;
    struct str text = load("tests/golden/ptx/calls.ptx");
    for (uint64_t n = 1; n < 100000; n++) {
        struct diags ds = { 0 };
        struct ptx_module *m;
        base_fail_after(n);
        enum status st = ptx_parse("oom", text, &m, &ds);
        struct ptx_cfg *c = m && m->nfuncs ? ptx_cfg_build(m->funcs[m->nfuncs - 1]) : NULL;
        base_fail_after(0);
        bool complete = st == ST_OK && c;
        assert_true(st == ST_OK || st == ST_NOMEM);
        ptx_cfg_free(c);
        ptx_free(m);
        diags_free(&ds);
        if (complete) {
            base_free((char *)text.s);
            return;
        }
    }
    fail_msg("never completed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(bytes_flipped),
        cmocka_unit_test(nul_bytes),
        cmocka_unit_test(depth),
        cmocka_unit_test(length),
        cmocka_unit_test(numbers),
        cmocka_unit_test(ranges_are_not_expanded),
        cmocka_unit_test(corpus),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
