/* A lesson is open, and a command would write: the whole path is on the screen before a yes counts. */
#include "tests/support.h"
#include "engine/rec/result.h"

#include "tests/terminal/stage.h"
#include "engine/workspace/job.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/app/prompt.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LESSON "sessions/lessons/1-coalescing.json"
#define DEEP                                                                                         \
    "/tmp/a-folder-with-a-long-name/and-one-below-it-with-a-longer-name/and-a-third/and-the-fourth/" \
    "last.json"

static void lesson(struct stage *t, int w, int h)
{
    stage_open(t, SNAP_DONE, w, h);
    assert_true(lesson_open(&t->app, LESSON));
    stage_frame(t);
}

/* The screen's characters without blanks and line ends: a wrapped path is whole again. */
static bool shows_wrapped(struct stage *t, const char *text)
{
    struct buf b = { 0 };
    surface_plain(&t->s, (struct rect){ 0, 0, t->s.w, t->s.h }, &b);
    size_t k = 0;
    for (size_t i = 0; i < b.n; i++)
        if (b.s[i] != ' ' && b.s[i] != '\n')
            b.s[k++] = b.s[i];
    b.s[k] = '\0';
    bool found = strstr(b.s, text) != NULL;
    buf_free(&b);
    return found;
}

static void shows_the_whole_path(void **state)
{
    struct stage t;
    (void)state;
    lesson(&t, 80, 24);
    unsigned posts = t.rec.posts;
    stage_type(&t, ":save " DEEP "\r");
    assert_int_equal(t.app.prompt.kind, PROMPT_CONFIRM);
    assert_int_equal(t.rec.posts, posts);
    assert_true(shows_wrapped(&t, "savewrites" DEEP));
    stage_type(&t, "y\r");
    assert_int_equal(t.rec.last.kind, JOB_SAVE);
    assert_string_equal(t.rec.text, DEEP);
    assert_null(t.app.lesson.writes);
    stage_close(&t);
}

static void relative_paths_start_here(void **state)
{
    struct stage t;
    char cwd[1024], want[2200];
    (void)state;
    lesson(&t, 100, 30);
    assert_non_null(getcwd(cwd, sizeof cwd));
    stage_type(&t, ":write here.ptx\r");
    snprintf(want, sizeof want, "writewrites%s/here.ptxand%s/here.launch.json", cwd, cwd);
    assert_true(shows_wrapped(&t, want));
    stage_press(&t, "Esc");
    stage_type(&t, ":export svg\r");
    snprintf(want, sizeof want, "exportwrites%s/sessions/gpulocw-valley.svg", cwd);
    assert_true(shows_wrapped(&t, want));
    stage_close(&t);
}

static void anything_else_is_a_no(void **state)
{
    static const char *const answers[] = { "\r", "n\r", "\033", "\003" };
    struct stage t;
    (void)state;
    lesson(&t, 80, 24);
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        unsigned posts = t.rec.posts;
        stage_type(&t, ":save x.json\r");
        stage_type(&t, answers[i]);
        assert_int_equal(t.rec.posts, posts);
        assert_int_equal(t.app.prompt.kind, PROMPT_NONE);
        assert_null(t.app.lesson.writes);
        assert_string_equal(t.app.notice, "nothing was written");
    }
    stage_close(&t);
}

static void a_path_that_does_not_fit_is_not_agreed_to(void **state)
{
    static const int size[][2] = { { 24, 6 }, { 12, 3 }, { 3, 1 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(size); i++) {
        struct stage t;
        lesson(&t, size[i][0], size[i][1]);
        unsigned posts = t.rec.posts;
        stage_type(&t, ":save " DEEP "\r");
        stage_type(&t, "y\r");
        assert_int_equal(t.rec.posts, posts);
        assert_non_null(strstr(t.app.notice, "too small for the whole path"));
        stage_close(&t);
    }
}

/* Esc and a control key in one piece: two keys, also where a prompt is open. */
static void esc_and_a_control_key(void **state)
{
    struct event both = { .kind = EVENT_KEY, .key = KEY_ALT | KEY_CTRL('q') };
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_type(&t, ":se");
    assert_int_equal(app_event(&t.app, &both) & UI_LEAVE, UI_LEAVE);
    assert_int_equal(t.app.prompt.kind, PROMPT_NONE);
    assert_int_equal(app_event(&t.app, &both) & UI_LEAVE, UI_LEAVE);
    both.key = KEY_ALT | 'q'; /* Alt and a letter is a chord that means nothing */
    assert_int_equal(app_event(&t.app, &both), 0);
    stage_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(shows_the_whole_path),
                                        cmocka_unit_test(relative_paths_start_here),
                                        cmocka_unit_test(anything_else_is_a_no),
                                        cmocka_unit_test(a_path_that_does_not_fit_is_not_agreed_to),
                                        cmocka_unit_test(esc_and_a_control_key) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
