/* Requests to the engine thread while memory is short: taken whole, or refused and told; never a part of one. */
#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/options.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/support.h"
#include "tests/terminal/live.h"

#include <string.h>

static unsigned times_told(const struct job_snapshot *s, const char *text)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->nmessages; i++)
        n += strstr(s->messages[i].text, text) != NULL;
    return n;
}

static void post_without_memory(const struct job *j, uint64_t n, bool *taken)
{
    live_posted++;
    base_fail_after(n);
    *taken = job_post(live_engine, j);
    base_fail_after(0);
}

/* From the first allocation on all fail, several times: none is lost. */
static void none_without_a_launch_is_lost(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    bool taken;
    (void)state;
    assert_int_equal(live_open(&a, NULL, &ds), ST_OK);
    for (int i = 0; i < 20; i++) {
        struct options o = options_default();
        struct job j = { .kind = JOB_OPTIONS, .options = &o };
        opt_bypass(&o)->pi.mode = PI_VALUE;
        opt_bypass(&o)->pi.value = i;
        post_without_memory(&j, 1, &taken);
        assert_true(taken);
        struct job open = { .kind = JOB_OPEN, .text = "nowhere/at/all.ptx" };
        post_without_memory(&open, 1, &taken);
        assert_true(taken);
        live_settle(&a, 0);
        assert_int_equal(opt_bypass(a.snap->options)->pi.value, i);
        assert_int_equal(times_told(a.snap, "nowhere/at/all.ptx"),
                         0); /* the file of the message says it */
        assert_int_equal(a.snap->nmessages, (size_t)i + 1);
        assert_string_equal(a.snap->messages[i].file, "nowhere/at/all.ptx");
    }
    live_close(&a);
    diags_free(&ds);
}

/* A launch description is copied whole, or the request is refused, and that is told. */
static void a_launch_is_taken_whole_or_told(void **state)
{
    struct app a;
    struct diags ds = { 0 };
    unsigned refused = 0;
    bool taken;
    (void)state;
    assert_int_equal(live_open(&a, NULL, &ds), ST_OK);
    struct job open = { .kind = JOB_OPEN, .text = "kernels/stride_4.ptx" };
    live_post(NULL, &open);
    live_settle(&a, 3);
    assert_non_null(a.snap->spec);
    uint32_t before = a.snap->spec->grid.x;
    for (uint64_t n = 1; n <= 24; n++) {
        struct launch_spec l;
        assert_int_equal(launch_copy(a.snap->spec, &l), ST_OK);
        l.grid.x = 4 + (uint32_t)n;
        struct job j = { .kind = JOB_LAUNCH, .launch = &l, .number = LAUNCH_GRID };
        post_without_memory(&j, n, &taken);
        launch_spec_free(&l);
        live_settle(&a, 0);
        refused += !taken;
        assert_int_equal(times_told(a.snap, "not taken; ask again"), refused);
        if (!taken)
            assert_int_equal(a.snap->spec->grid.x, before);
        before = a.snap->spec->grid.x;
    }
    assert_true(refused > 0);
    live_close(&a);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(none_without_a_launch_is_lost),
                                        cmocka_unit_test(a_launch_is_taken_whole_or_told) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
