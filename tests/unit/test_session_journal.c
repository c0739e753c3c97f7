/* session: the journal of a large session. What is read again is compared with what was kept, whatever
 * call failed and wherever the journal ends. */
#include "engine/base/io.h"
#include "engine/rec/counters.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "tests/support.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FIRST = 40 }; /* points that make the file large enough for a journal */

static struct result point(int pi)
{
    struct result r = result_empty();
    r.status = ST_OK;
    opt_bypass(&r.options)->level = BYPASS_L1;
    opt_bypass(&r.options)->pi.mode = PI_VALUE;
    opt_bypass(&r.options)->pi.value = pi;
    r.time = (struct timing){ .sample = { 100 + pi }, .n = 1, .origin = ORIGIN_SIMULATED };
    timing_finish(&r.time);
    snprintf(r.message, sizeof r.message, "%0200d", pi);
    r.equal = EQUAL_YES;
    return r;
}

struct fixture {
    char path[300], journal[320];
    struct session *s;
    struct session_run *run;
};

static bool there(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

static enum status add(struct fixture *f, int pi)
{
    struct result r = point(pi);
    assert_true(session_run_point(f->run, &r));
    return session_keep_point(f->s, f->run, &r, NULL);
}

static void begin(struct fixture *f, const char *name)
{
    struct diags ds = { 0 };
    snprintf(f->path, sizeof f->path, "%s/%s", support_scratch(), name);
    snprintf(f->journal, sizeof f->journal, "%s.journal", f->path);
    unlink(f->path);
    unlink(f->journal);
    assert_status_ok(session_new(f->path, "x.ptx", &f->s, &ds), &ds);
    f->run = session_begin(f->s, RUN_SWEEP);
    for (int i = 0; i < FIRST; i++) {
        struct result r = point(i);
        assert_true(session_run_point(f->run, &r));
    }
    assert_status_ok(session_save(f->s, &ds), &ds);
    assert_true(session_bytes(f->s) > 32 << 10);
    diags_free(&ds);
}

/* Points of run `run` of the file as it is read now; -1: it is not read, -2: there is no such run. */
static int points_of(const char *path, size_t run, struct diags *ds)
{
    struct session *s = NULL;
    if (session_load(path, &s, ds) != ST_OK)
        return -1;
    const struct session_run *r = session_look(s, run);
    int n = r ? (int)r->sweep.npoints : -2;
    for (int i = 0; i < n; i++)
        if (r->sweep.points[i].time.median != 100 + opt_bypass(&r->sweep.points[i].options)->pi.value)
            n = -3;
    session_free(s);
    return n;
}

static void kept_without_the_file(void **state)
{
    (void)state;
    struct fixture f;
    struct stat before, after;
    struct diags ds = { 0 };
    begin(&f, "kept.json");
    stat(f.path, &before);
    for (int i = 0; i < 5; i++)
        assert_int_equal(add(&f, FIRST + i), ST_OK);
    stat(f.path, &after);
    assert_true(before.st_ino == after.st_ino); /* the file itself was not written */
    assert_true(there(f.journal));
    assert_int_equal(points_of(f.path, 0, &ds), FIRST + 5);
    assert_int_equal(ds.n, 0);
    /* another run, and the first one changed */
    f.run = session_begin(f.s, RUN_SWEEP);
    assert_int_equal(add(&f, 7), ST_OK);
    snprintf(session_at(f.s, 0)->note, 10, "changed");
    assert_int_equal(session_keep_run(f.s, 0, &ds), ST_OK);
    assert_int_equal(points_of(f.path, 1, &ds), 1);
    assert_int_equal(points_of(f.path, 0, &ds), FIRST + 5);
    struct session *s;
    assert_status_ok(session_load(f.path, &s, &ds), &ds);
    assert_string_equal(session_look(s, 0)->note, "changed");
    assert_true(there(f.journal)); /* reading writes nothing */
    /* what was read is written whole, and the journal goes */
    assert_status_ok(session_save(s, &ds), &ds);
    assert_false(there(f.journal));
    assert_int_equal(points_of(f.path, 0, &ds), FIRST + 5);
    assert_int_equal(points_of(f.path, 1, &ds), 1);
    session_free(s);
    session_free(f.s);
}

static void finished(void **state)
{
    (void)state;
    struct fixture f;
    struct diags ds = { 0 };
    begin(&f, "finished.json");
    assert_int_equal(add(&f, FIRST), ST_OK);
    assert_true(there(f.journal));
    assert_status_ok(session_finish(f.s, &ds), &ds);
    assert_false(there(f.journal));
    session_free(f.s);
    assert_int_equal(points_of(f.path, 0, &ds), FIRST + 1);
}

static void put(const char *path, const char *text, size_t n)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fwrite(text, 1, n, f) == n);
    assert_int_equal(fclose(f), 0);
}

/* Cut anywhere: every whole line counts, what is behind the last is told and left out. */
static void torn_at_any_byte(void **state)
{
    (void)state;
    struct fixture f;
    char *text;
    size_t n, lines = 0, begun;
    struct diags ds = { 0 };
    begin(&f, "torn.json");
    for (int i = 0; i < 3; i++)
        assert_int_equal(add(&f, FIRST + i), ST_OK);
    assert_status_ok(file_read(f.journal, 1 << 20, &text, &n, &ds), &ds);
    begun = (size_t)(strchr(text, '\n') + 1 - text); /* the head is written whole or not at all */
    for (size_t k = begun; k <= n; k += k + 40 < n ? 37 : 1) {
        lines = 0;
        for (size_t i = begun; i < k; i++)
            lines += text[i] == '\n';
        put(f.journal, text, k);
        assert_int_equal(points_of(f.path, 0, &ds), FIRST + (int)lines);
        assert_int_equal(ds.warnings, text[k - 1] != '\n');
        diags_free(&ds);
        memset(&ds, 0, sizeof ds);
    }
    assert_int_equal(lines, 3);
    base_free(text);
    session_free(f.s);
}

static void refused(const struct fixture *f, const char *pattern)
{
    struct diags ds = { 0 };
    struct buf b = { 0 };
    assert_int_equal(points_of(f->path, 0, &ds), -1);
    diags_print(&ds, &b);
    assert_non_null(strstr(b.s, pattern));
    assert_non_null(strstr(b.s, f->journal));
    buf_free(&b);
    diags_free(&ds);
}

static void not_of_this_session(void **state)
{
    (void)state;
    struct fixture a, b;
    char *text;
    size_t n;
    struct diags ds = { 0 };
    begin(&a, "one.json");
    begin(&b, "two.json");
    assert_int_equal(add(&b, 1), ST_OK);
    snprintf(session_at(a.s, 0)->note, 10, "another");
    assert_status_ok(session_save(a.s, &ds), &ds);
    assert_status_ok(file_read(b.journal, 1 << 20, &text, &n, &ds), &ds);
    put(a.journal, text, n);
    refused(&a, "belongs to another session");
    /* damaged inside: what follows is whole, so it is no torn end */
    assert_int_equal(add(&b, 2), ST_OK);
    base_free(text);
    assert_status_ok(file_read(b.journal, 1 << 20, &text, &n, &ds), &ds);
    strchr(text, '\n')[30] ^= 1;
    put(b.journal, text, n);
    refused(&b, "line 2: damaged");
    base_free(text);
    /* a file of somebody else's, a link and a folder of that name are no journal, and stay */
    put(a.journal, "notes\n", 6);
    assert_int_equal(points_of(a.path, 0, &ds), FIRST);
    assert_status_ok(session_save(a.s, &ds), &ds);
    a.run = session_at(a.s, 0);
    assert_int_equal(add(&a, 50), ST_OK);
    assert_status_ok(file_read(a.journal, 1 << 20, &text, &n, &ds), &ds);
    assert_string_equal(text, "notes\n");
    base_free(text);
    assert_int_equal(points_of(a.path, 0, &ds), FIRST + 1);
    unlink(a.journal);
    assert_int_equal(symlink(b.journal, a.journal), 0);
    assert_int_equal(points_of(a.path, 0, &ds), FIRST + 1);
    session_free(a.s);
    session_free(b.s);
}

/* A kill between the file's new name and the journal's end: nothing is taken in twice. */
static void spent_journal(void **state)
{
    (void)state;
    struct fixture f;
    char *text;
    size_t n;
    struct diags ds = { 0 };
    begin(&f, "spent.json");
    assert_int_equal(add(&f, 60), ST_OK);
    char link_name[340];
    snprintf(link_name, sizeof link_name, "%s.held", f.journal);
    unlink(link_name);
    assert_int_equal(link(f.journal, link_name), 0); /* the save removes the name, not this one */
    assert_status_ok(session_save(f.s, &ds), &ds);
    assert_int_equal(rename(link_name, f.journal), 0);
    assert_status_ok(file_read(f.journal, 1 << 20, &text, &n, &ds), &ds);
    assert_non_null(strstr(text, "\"saved\""));
    base_free(text);
    assert_int_equal(points_of(f.path, 0, &ds), FIRST + 1);
    assert_int_equal(ds.n, 0);
    session_free(f.s);
}

/* Each call in turn fails, for good or once: what was said to be kept is there, and once there is room
 * again, everything is. */
static void every_call_fails(void **state)
{
    (void)state;
    static const int why[] = { ENOSPC, EIO, 0 };
    for (unsigned k = 0; k < 6; k++)
        for (uint64_t n = 1; n < 60; n++) {
            struct fixture f;
            struct diags ds = { 0 };
            int kept = FIRST;
            begin(&f, "fails.json");
            base_io_fail(n, why[k / 2], k % 2);
            for (int i = 0; i < 6; i++)
                if (add(&f, FIRST + i) == ST_OK)
                    kept = FIRST + i + 1;
            base_io_fail(0, 0, false);
            if (points_of(f.path, 0, &ds) < kept)
                fail_msg("call %d, error %d: fewer than %d points", (int)n, why[k / 2], kept);
            assert_int_equal(add(&f, FIRST + 6), ST_OK);
            assert_int_equal(points_of(f.path, 0, &ds), FIRST + 7);
            session_free(f.s);
            diags_free(&ds);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kept_without_the_file), cmocka_unit_test(finished),
        cmocka_unit_test(torn_at_any_byte),      cmocka_unit_test(not_of_this_session),
        cmocka_unit_test(spent_journal),         cmocka_unit_test(every_call_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
