/* Every lesson runs to its end on the simulated device: its commands are given, its
 * checks must then hold, and must not have held before. */
#include "tests/support.h"

#include "tests/terminal/live.h"
#include "engine/session/lesson.h"
#include "tui/app/app.h"
#include "tui/app/lesson_run.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *last_error(const struct app *a)
{
    for (size_t i = a->snap->nmessages; i-- > 0;)
        if (a->snap->messages[i].level == DIAG_ERROR)
            return a->snap->messages[i].text;
    return "no error";
}

static void take_lesson(const char *path)
{
    struct app a;
    struct diags ds = { 0 };
    char session[600];
    snprintf(session, sizeof session, "%s/lesson.json", support_scratch());
    assert_status_ok(live_open(&a, session, &ds), &ds);
    assert_true(lesson_open(&a, path));
    live_settle(&a, 0);
    struct lesson_view *v = &a.lesson;
    for (unsigned i = 0; v->lesson && i < LESSON_MAX_STEPS; i++) {
        const struct lesson_step *s = &v->lesson->step[v->step];
        if (s->check && s->ncommands && v->passed)
            fail_msg("%s, step %u: the check holds before anything is done", path, v->step + 1);
        for (unsigned k = 0; k < s->ncommands; k++) {
            app_command(&a, s->commands[k]);
            live_settle(&a, 0);
        }
        lesson_update(&a);
        if (!v->passed)
            fail_msg("%s, step %u: '%s' does not hold (%s; %s)", path, v->step + 1, s->check, a.notice,
                     last_error(&a));
        lesson_move(&a, 1);
    }
    assert_null(v->lesson); /* it ended */
    live_close(&a);
    remove(session);
    diags_free(&ds);
}

static int named_json(const struct dirent *e)
{
    return strstr(e->d_name, ".json") != NULL;
}

static void lessons(void **state)
{
    struct dirent **list;
    const char *only = getenv("GPULOCW_LESSON");
    int n = scandir("sessions/lessons", &list, named_json, alphasort);
    (void)state;
    assert_true(n >= 9);
    for (int i = 0; i < n; i++) {
        char path[400];
        snprintf(path, sizeof path, "sessions/lessons/%s", list[i]->d_name);
        if (!only || strstr(path, only)) {
            int64_t t0 = base_now_ns();
            take_lesson(path);
            printf("%s: %.1f s\n", path, (double)(base_now_ns() - t0) / 1e9);
        }
        free(list[i]);
    }
    free(list);
}

/* What `gpulocw demo --check` says: every mistake, with its step. */
static void format(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = { { "{}", "the file is not a gpulocw session" },
                { "{\"format\":\"gpulocw-session\",\"major\":9}", "newer" },
                { "{\"format\":\"gpulocw-session\",\"major\":1}", "no lesson" },
                { "{\"format\":\"gpulocw-session\",\"major\":1,\"lesson\":{\"title\":\"t\",\"file\":"
                  "\"f\",\"steps\":[]}}",
                  "steps" },
                { "{\"format\":\"gpulocw-session\",\"major\":1,\"lesson\":{\"title\":\"t\",\"file\":"
                  "\"f\",\"steps\":[{\"text\":\"a\"},{\"text\":3}]}}",
                  "step 2, \"text\"" },
                { "{\"format\":\"gpulocw-session\",\"major\":1,\"lesson\":{\"title\":\"t\",\"file\":"
                  "\"f\",\"steps\":[{\"text\":\"a\",\"check\":\"runs > 1\"}]}}",
                  "step 1, \"task\"" } };
    char path[600];
    (void)state;
    snprintf(path, sizeof path, "%s/bad.json", support_scratch());
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct diags ds = { 0 };
        struct lesson *l = NULL;
        assert_status_ok(file_write_atomic(path, bad[i].text, strlen(bad[i].text), &ds), &ds);
        assert_int_equal(lesson_read(path, &l, &ds), ST_INPUT);
        assert_null(l);
        if (!support_said(&ds, bad[i].says))
            fail_msg("'%s' is not said; but: %s", bad[i].says, ds.n ? ds.v[0].msg : "nothing");
        diags_free(&ds);
    }
    remove(path);
}

static void understood(void **state)
{
    struct lesson l = { .nsteps = 3, .title = (char *)(uintptr_t) "t" };
    struct diags ds = { 0 };
    (void)state;
    l.step[0] = (struct lesson_step){ .text = (char *)(uintptr_t) "a",
                                      .check = (char *)(uintptr_t) "l1.hit_rate >= 60" };
    assert_status_ok(lesson_check(&l, &ds), &ds);
    l.step[1].check = (char *)(uintptr_t) "luck > 3";
    l.step[2].panel = (char *)(uintptr_t) "nowhere";
    l.step[2].commands[0] = (char *)(uintptr_t) "frobnicate 3";
    l.step[2].ncommands = 1;
    l.begin[0] = (char *)(uintptr_t) "mumble";
    l.nbegin = 1;
    assert_int_equal(lesson_check(&l, &ds), ST_INPUT);
    assert_int_equal(ds.errors, 4);
    assert_true(support_said(&ds, "\"begin\": 'mumble'"));
    assert_true(support_said(&ds, "step 2, \"check\": 'luck'"));
    assert_true(support_said(&ds, "step 3, \"panel\": 'nowhere'"));
    assert_true(support_said(&ds, "step 3, \"do\": 'frobnicate 3'"));
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(format), cmocka_unit_test(understood),
                                        cmocka_unit_test(lessons) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
