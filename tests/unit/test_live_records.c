/* Records of the injected library: what is read, cut off at every byte, and with every allocation
 * failing.
 */
#include "engine/base/base.h"
#include "engine/live/live.h"
#include "engine/live/live_int.h"
#include "engine/live/take.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const char SURVEY[] = "gpulocw-live 2\nL 3\nI 12 34 1 0 0\nI 9 0 0 1 0\n"
                             "K 0 3 1 900 4 1 1 128 1 1 64 scale\nK 0 2 2 100 8 1 1 128 1 1 64 scale\n"
                             "K 1 1 1 50 4 1 1 128 1 1 0 _Z4gemmPf\nE\n";
static const char TAKE[] = "gpulocw-take 1\nname scale\nimage 00000000000000ff\nlaunch 2\ngrid 4 2 1\n"
                           "block 128 1 1\nshared 64\ncooperative\nfunc 9 50\n"
                           "param 0 8 0000100000000000\nparam 8 4 07000000\nrange 1048576 4096 0 0 1\n"
                           "glob c_table 4096 64 4096\nleft 1048576 64 4160\nend\n";

static char path[64];
static void put(const char *text, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static enum status survey(struct live_survey *s)
{
    struct diags ds = { 0 };
    *s = (struct live_survey){ 0 };
    enum status st = live_record_read(s, path, NULL, &ds);
    diags_free(&ds);
    return st;
}

static enum status take(struct take *t)
{
    struct diags ds = { 0 };
    enum status st = take_read(t, path, &ds);
    diags_free(&ds);
    return st;
}

static void test_survey(void **state)
{
    struct live_survey s;
    (void)state;
    put(SURVEY, sizeof SURVEY - 1);
    assert_int_equal(survey(&s), ST_OK);
    assert_int_equal(s.n, 2);
    assert_int_equal(s.left_out, 3);
    assert_int_equal(s.untimed, 2);
    assert_int_equal(s.cut_off, 0);
    assert_int_equal(s.v[0].launches, 5);
    assert_int_equal(s.v[0].time_ns, 1000);
    assert_int_equal(s.v[0].nshapes, 2);
    assert_int_equal(s.v[0].shape[1].grid[0], 8);
    assert_null(s.v[0].why);
    assert_string_equal(s.v[1].why, "machine code only (SASS)");
    live_survey_free(&s);
}

static void test_take(void **state)
{
    struct take t;
    (void)state;
    put(TAKE, sizeof TAKE - 1);
    assert_int_equal(take(&t), ST_OK);
    assert_true(t.whole);
    assert_true(t.cooperative);
    assert_string_equal(t.name, "scale");
    assert_int_equal(t.image, 255);
    assert_int_equal(t.nth, 2);
    assert_int_equal(t.grid[1], 2);
    assert_int_equal(t.func[9], 50);
    assert_int_equal(t.func[8], -1);
    assert_int_equal(t.nparam, 2);
    assert_int_equal(t.param[1].bytes[0], 7);
    assert_int_equal(t.nrange, 2);
    assert_null(t.range[0].name);
    assert_string_equal(t.range[1].name, "c_table");
    assert_int_equal(t.left[0].at, 4160);
    assert_true(take_points_to(&t, 0x100000));
    assert_false(take_points_to(&t, 0x100008));
    take_free(&t);
}

/* Only the last line makes a record whole. */
static void test_cut_off(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof TAKE - 1; n++) {
        struct take t;
        struct live_survey s;
        put(TAKE, n);
        assert_int_equal(take(&t), ST_OK);
        assert_true(!t.whole || n == sizeof TAKE - 2);
        take_free(&t);
        put(SURVEY, n < sizeof SURVEY - 1 ? n : sizeof SURVEY - 1);
        assert_int_equal(survey(&s), ST_OK);
        assert_true(s.cut_off == s.processes || n >= sizeof SURVEY - 2);
        live_survey_free(&s);
    }
}

static void test_no_memory(void **state)
{
    struct live_survey s;
    struct take t;
    uint64_t failed = 0;
    (void)state;
    put(SURVEY, sizeof SURVEY - 1);
    for (uint64_t n = 1;; n++) {
        base_fail_after(n);
        enum status st = survey(&s);
        base_fail_after(0);
        live_survey_free(&s);
        if (st == ST_OK)
            break;
        assert_int_equal(st, ST_NOMEM);
        failed++;
    }
    put(TAKE, sizeof TAKE - 1);
    for (uint64_t n = 1;; n++) {
        base_fail_after(n);
        enum status st = take(&t);
        base_fail_after(0);
        take_free(&t);
        if (st == ST_OK)
            break;
        assert_int_equal(st, ST_NOMEM);
        failed++;
    }
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_survey), cmocka_unit_test(test_take),
                                        cmocka_unit_test(test_cut_off),
                                        cmocka_unit_test(test_no_memory) };
    snprintf(path, sizeof path, "/tmp/gpulocw-records-%ld.take", (long)getpid());
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
