/* base: buffers, arenas, maps, diagnostics, files, threads; allocation failures. */
#include "engine/base/base.h"
#include "tests/support.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void strings(void **state)
{
    (void)state;
    assert_int_equal(str_distance(STR("ld.gloval"), STR("ld.global"), 3), 1);
    assert_int_equal(str_distance(STR("abc"), STR(""), 3), 3);
    assert_int_equal(str_distance(STR("abcdefgh"), STR("x"), 3), 4); /* capped at max + 1 */
}

static void json_strings(void **state)
{
    (void)state;
    struct buf b = { 0 };
    buf_json(&b, STR("a\"\\\n\x01\xff\xc3\xa9"));
    assert_string_equal(b.s, "\"a\\\"\\\\\\n\\u0001\\ufffd\xc3\xa9\"");
    buf_free(&b);
}

static void arena_blocks(void **state)
{
    (void)state;
    struct arena *a = arena_new(64);
    unsigned char *last = NULL;
    for (int i = 1; i < 500; i++) {
        unsigned char *p = arena_alloc(a, (size_t)i);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (int k = 0; k < i; k++)
            assert_int_equal(p[k], 0);
        memset(p, i, (size_t)i);
        if (last)
            assert_int_equal(last[0], (i - 1) & 0xff); /* nobody wrote over the one before */
        last = p;
    }
    assert_false(arena_failed(a));
    arena_free(a);
}

static void map(void **state)
{
    (void)state;
    struct strmap m = { 0 };
    char keys[1000][8];
    uint32_t v;
    for (uint32_t i = 0; i < 1000; i++) {
        snprintf(keys[i], sizeof keys[i], "k%u", i);
        strmap_set(&m, str_of(keys[i]), i);
    }
    strmap_set(&m, STR("k7"), 77);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(strmap_get(&m, str_of(keys[i]), &v));
        assert_int_equal(v, i == 7 ? 77 : i);
    }
    assert_false(strmap_get(&m, STR("absent"), &v));
    assert_int_equal(m.n, 1000);
    strmap_free(&m);
}

static void diagnostics(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct str text = STR("first\n\tld.gloval.f32 x;\n");
    struct diag *d = diag_add(&ds, DIAG_ERROR, "ptx-op", "a.ptx", (struct span){ 7, 9, 2, 2 },
                              "no instruction '%s'", "ld.gloval");
    diag_hint(d, "did you mean 'ld.global'?");
    diag_source(d, text);
    struct buf b = { 0 };
    diags_print(&ds, &b);
    assert_string_equal(b.s, "a.ptx:2:2: error: no instruction 'ld.gloval' [ptx-op]\n"
                             "  \tld.gloval.f32 x;\n  \t^~~~~~~~~\n  hint: did you mean 'ld.global'?\n");
    for (int i = 0; i < 30; i++)
        diag_error(&ds, "more", "error %d", i);
    assert_int_equal(ds.errors, 31);
    assert_int_equal(ds.n, DIAG_MAX_ERRORS);
    assert_int_equal(ds.dropped, 11);
    buf_free(&b);
    diags_free(&ds);
}

/* What is put into a file without a name can be had back, where it was put. */
static void nameless_file(void **state)
{
    (void)state;
    int fd = file_nameless();
    char got[4] = "";
    if (fd < 0)
        skip(); /* no disk here that takes one */
    assert_true(file_put(fd, 0, "abcd", 4));
    assert_true(file_put(fd, (uint64_t)5 << 30, "wxyz", 4));
    assert_true(file_put(fd, 1, "BC", 2));
    assert_true(file_get(fd, 0, got, 4));
    assert_memory_equal(got, "aBCd", 4);
    assert_true(file_get(fd, (uint64_t)5 << 30, got, 4));
    assert_memory_equal(got, "wxyz", 4);
    assert_true(file_get(fd, 4096, got, 4));
    assert_memory_equal(got, "\0\0\0", 4);
    assert_false(file_get(fd, ((uint64_t)5 << 30) + 2, got, 4));
    close(fd);
    setenv("TMPDIR", "/does/not/exist", 1);
    assert_int_equal(file_nameless(), -1);
    unsetenv("TMPDIR");
}

static void atomic_file(void **state)
{
    (void)state;
    char path[] = "/tmp/gpulocw-test-XXXXXX";
    int fd = mkstemp(path);
    close(fd);
    struct diags ds = { 0 };
    char *data;
    size_t n;
    assert_int_equal(file_write_atomic(path, "one", 3, &ds), ST_OK);
    assert_int_equal(file_write_atomic(path, "three", 5, &ds), ST_OK);
    assert_int_equal(file_read(path, 100, &data, &n, &ds), ST_OK);
    assert_int_equal(n, 5);
    assert_memory_equal(data, "three", 5);
    base_free(data);
    assert_int_equal(file_read(path, 4, &data, &n, &ds), ST_IO); /* larger than allowed */
    assert_int_equal(file_write_atomic("/nowhere/at/all", "x", 1, &ds), ST_IO);
    assert_int_equal(ds.errors, 2);
    unlink(path);
    diags_free(&ds);
}

/* A link, a file's mode and a pipe outlive being written to. */
static void atomic_file_keeps(void **state)
{
    (void)state;
    char file[300], link[300], fifo[300], got[8] = { 0 };
    snprintf(file, sizeof file, "%s/kept", support_scratch());
    snprintf(link, sizeof link, "%s/kept.link", support_scratch());
    snprintf(fifo, sizeof fifo, "%s/kept.fifo", support_scratch());
    struct diags ds = { 0 };
    struct stat s;
    assert_int_equal(file_write_atomic(file, "one", 3, &ds), ST_OK);
    assert_int_equal(chmod(file, 0600), 0);
    assert_int_equal(symlink(file, link), 0);
    assert_int_equal(file_write_atomic(link, "three", 5, &ds), ST_OK);
    assert_true(lstat(link, &s) == 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_true(lstat(file, &s) == 0);
    assert_true(s.st_size == 5);
    assert_true((s.st_mode & 0777) == 0600);
    assert_int_equal(chmod(file, 0666), 0);
    mode_t was = umask(077);
    assert_int_equal(file_write_atomic(file, "two", 3, &ds), ST_OK);
    umask(was);
    assert_true(lstat(file, &s) == 0);
    assert_true(s.st_size == 3);
    assert_true((s.st_mode & 0777) == 0666);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int fd = open(fifo, O_RDWR | O_NONBLOCK);
    assert_int_equal(file_write_atomic(fifo, "four", 4, &ds), ST_OK);
    assert_int_equal(read(fd, got, sizeof got), 4);
    assert_string_equal(got, "four");
    assert_true(lstat(fifo, &s) == 0);
    assert_true(S_ISFIFO(s.st_mode));
    close(fd);
    diags_free(&ds);
}

static void splitmix(void **state)
{
    (void)state;
    /* Published first outputs of splitmix64 from state 1234567. */
    assert_true(base_splitmix(1234567, 0) == 6457827717110365317u);
    assert_true(base_splitmix(1234567, 1) == 3203168211198807973u);
}

/* Flipping any one bit, or the top bits of two words, changes the hash; so does the length. */
static void hashes(void **state)
{
    (void)state;
    unsigned char b[96] = { 0 };
    for (size_t n = 0; n <= sizeof b; n++) {
        uint64_t whole = base_hash(b, n);
        assert_true(n == 0 || base_hash(b, n - 1) != whole);
        for (size_t bit = 0; bit < n * 8; bit++) {
            b[bit / 8] ^= (unsigned char)(1u << bit % 8);
            assert_true(base_hash(b, n) != whole);
            b[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    uint64_t whole = base_hash(b, sizeof b);
    for (size_t i = 7; i < sizeof b; i += 8)
        for (size_t j = i + 8; j < sizeof b; j += 8) {
            b[i] ^= 0x80, b[j] ^= 0x80;
            assert_true(base_hash(b, sizeof b) != whole);
            b[i] ^= 0x80, b[j] ^= 0x80;
        }
}

static void text_pieces(void **state)
{
    (void)state;
    struct str rest = STR("a\n\n b c \n"), line;
    uint8_t bytes[3] = { 9, 9, 9 };
    assert_true(str_line(&rest, &line));
    assert_true(str_is(line, "a"));
    assert_true(str_line(&rest, &line));
    assert_true(line.n == 0);
    assert_true(str_line(&rest, &line));
    assert_true(str_is(str_trim(line), "b c"));
    assert_false(str_line(&rest, &line));
    rest = STR("no newline");
    assert_true(str_line(&rest, &line));
    assert_true(str_is(line, "no newline"));
    assert_false(str_line(&rest, &line));
    assert_int_equal(str_trim(STR(" \t\n")).n, 0);
    assert_true(str_unhex(STR("0aFf"), bytes));
    assert_memory_equal(bytes, "\x0a\xff\x09", 3);
    static const char *const bad[] = { "0", "0g", "+1", " 1", "-1", "0x", "00 " };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(str_unhex(str_of(bad[i]), bytes));
    assert_true(str_unhex(STR(""), bytes));
}

static void file_parts(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    char path[256], to[8] = "........";
    uint64_t got;
    snprintf(path, sizeof path, "%s/new/deep/part", support_scratch());
    assert_true(file_make_dirs(path));
    assert_true(file_make_dirs(path)); /* they are there already */
    assert_status_ok(file_write_atomic(path, "0123456789", 10, &ds), &ds);
    assert_status_ok(file_read_part(path, 7, to, 8, &got, &ds), &ds);
    assert_int_equal(got, 3);
    assert_memory_equal(to, "789.....", 8);
    assert_status_ok(file_read_part(path, 99, to, 8, &got, &ds), &ds);
    assert_int_equal(got, 0);
    assert_status_ok(file_read_part(path, 4, NULL, UINT64_MAX, &got, &ds), &ds);
    assert_int_equal(got, 6);
    /* data of a stranger's choice: regular files alone */
    assert_int_equal(file_read_part("/dev/zero", 0, to, 8, &got, &ds), ST_IO);
    assert_int_equal(got, 0);
    assert_int_equal(file_read_part("/proc/self/environ", 0, to, 8, &got, &ds), ST_IO);
    assert_int_equal(got, 0);
    assert_int_equal(file_read_part(support_scratch(), 0, to, 8, &got, &ds), ST_IO);
    assert_false(file_make_dirs("/proc/nowhere/at/all"));
    char *data;
    size_t n;
    base_fail_after(1);
    enum status st = file_read(path, 100, &data, &n, &ds);
    base_fail_after(0);
    assert_int_equal(st, ST_NOMEM);
    diags_free(&ds);
}

static void add_index(void *ctx, size_t i)
{
    atomic_fetch_add((atomic_size_t *)ctx, i + 1);
}

static void parallel(void **state)
{
    (void)state;
    atomic_size_t sum = 0;
    base_parallel(4, 1000, add_index, &sum);
    assert_int_equal(atomic_load(&sum), 500500);
    base_parallel(4, 0, add_index, &sum);
    assert_int_equal(atomic_load(&sum), 500500);
}

/* Every allocation of a small piece of work fails once: nothing crashes, nothing is half done unnoticed.
 */
static void allocation_failures(void **state)
{
    (void)state;
    for (uint64_t n = 1; n < 60; n++) {
        struct buf b = { 0 };
        struct strmap m = { 0 };
        base_fail_after(n);
        struct arena *a = arena_new(32);
        for (int i = 0; a && i < 20; i++)
            arena_printf(a, "%d", i);
        for (int i = 0; i < 40; i++)
            buf_puts(&b, "0123456789");
        for (uint32_t i = 0; i < 100; i++)
            strmap_set(&m, (struct str){ &"abcdefghijklmnopqrstuvwxyz"[i % 20], i / 20 + 1 }, i);
        base_fail_after(0);
        assert_true(b.oom || b.n == 400);
        assert_true(m.oom || m.n > 0);
        buf_free(&b);
        strmap_free(&m);
        arena_free(a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),      cmocka_unit_test(json_strings),
        cmocka_unit_test(arena_blocks), cmocka_unit_test(map),
        cmocka_unit_test(diagnostics),  cmocka_unit_test(nameless_file),
        cmocka_unit_test(atomic_file),  cmocka_unit_test(atomic_file_keeps),
        cmocka_unit_test(text_pieces),  cmocka_unit_test(file_parts),
        cmocka_unit_test(splitmix),     cmocka_unit_test(hashes),
        cmocka_unit_test(parallel),     cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
