/* Every lesson runs to its end on the simulated device: its commands are given, its
 * checks must then hold, and must not have held before. Each number that it says stands in a panel
 * (tests/terminal/narration.def). */
#include "tests/support.h"

#include "engine/session/lesson.h"
#include "tests/terminal/live.h"
#include "tui/base/panel_list.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/draw/panel.h"
#include "tui/draw/surface.h"

#include <ctype.h>
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

/* ---- the numbers that the narration says ---- */
struct said {
    unsigned lesson, step;
    const char *words;
    unsigned seen_at; /* 0: no panel shows it */
    enum panel_id panel;
    const char *there;
};
static const struct said narration[] = {
#define SEEN(LESSON, STEP, WORDS, AT, PANEL, THERE) { LESSON, STEP, WORDS, AT, PANEL_##PANEL, THERE },
#define KNOWN(LESSON, STEP, WORDS, WHY)             { LESSON, STEP, WORDS, 0, PANEL_SOURCE, WHY },
#include "engine/workspace/snapshot.h"
#include "tests/terminal/narration.def"
#undef SEEN
#undef KNOWN
};

/* Is each digit of the step's text in words that a row has? */
static void check_digits(unsigned lesson, unsigned step, const char *text)
{
    for (const char *d = text; *d; d++) {
        const char *first = d;
        while (first > text && isdigit((unsigned char)first[-1]))
            first--;
        bool name = first > text && isalpha((unsigned char)first[-1]); /* L1, F4 */
        bool known = !isdigit((unsigned char)*d) || name;
        for (size_t i = 0; i < ARRAY_LEN(narration) && !known; i++) {
            const struct said *r = &narration[i];
            if (r->lesson != lesson || r->step != step)
                continue;
            for (const char *at = strstr(text, r->words); at && !known; at = strstr(at + 1, r->words))
                known = d >= at && d < at + strlen(r->words);
        }
        if (!known)
            fail_msg("lesson %u, step %u: no row of narration.def has the number in '%.30s'", lesson,
                     step, d);
    }
}

/* The panel alone on a large screen, without the lesson's text. */
static void panel_text(struct app *a, enum panel_id p, struct buf *out)
{
    struct surface s = { 0 };
    struct screen map = { .drag_from = -1 };
    enum panel_id was = a->focus;
    struct lesson_view lesson = a->lesson;
    a->w = 130, a->h = 70;
    a->zoomed = true;
    a->lesson.lesson = NULL;
    app_focus(a, p);
    assert_true(surface_resize(&s, a->w, a->h));
    for (int i = 0; a->snap->unsettled && i < 600;
         i++) /* figures of the first CTAs are none of a lesson */
        live_settle(a, 1);
    for (int i = 0; i < 2; i++) { /* the first frame asks for what is worked out beside it */
        app_begin_frame(a);
        screen_draw(a, &s, &map);
        live_settle(a, i ? 0 : 3);
    }
    surface_plain(&s, (struct rect){ 0, 0, s.w, s.h }, out);
    surface_free(&s);
    app_focus(a, was);
    a->lesson = lesson;
}

static void check_seen(struct app *a, unsigned lesson, unsigned step)
{
    struct buf text[PANEL_COUNT] = { { 0 } };
    for (size_t i = 0; i < ARRAY_LEN(narration); i++) {
        const struct said *r = &narration[i];
        struct buf *t = &text[r->panel];
        if (r->lesson != lesson || r->seen_at != step)
            continue;
        if (!t->n)
            panel_text(a, r->panel, t);
        if (!t->s || !strstr(t->s, r->there))
            fail_msg("lesson %u, step %u: '%s' is said, '%s' is not in %s:\n%s", lesson, r->step,
                     r->words, r->there, panel_info(r->panel)->title, t->s ? t->s : "");
    }
    for (size_t p = 0; p < PANEL_COUNT; p++)
        buf_free(&text[p]);
}

/* Rows whose words no lesson has are of an old text. */
static void check_words(const struct lesson *l)
{
    for (size_t i = 0; i < ARRAY_LEN(narration); i++) {
        const struct said *r = &narration[i];
        if (r->lesson != (unsigned)l->number)
            continue;
        assert_true(r->step >= 1);
        assert_true(r->step <= l->nsteps);
        const struct lesson_step *s = &l->step[r->step - 1];
        if (!strstr(s->text, r->words) && !(s->task && strstr(s->task, r->words)))
            fail_msg("lesson %u, step %u does not say '%s'", r->lesson, r->step, r->words);
    }
}

static void check_narration(struct app *a)
{
    const struct lesson *l = a->lesson.lesson;
    unsigned step = a->lesson.step + 1;
    const struct lesson_step *s = &l->step[step - 1];
    if (step == 1)
        check_words(l);
    check_digits((unsigned)l->number, step, s->text);
    if (s->task)
        check_digits((unsigned)l->number, step, s->task);
    check_seen(a, (unsigned)l->number, step);
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
        check_narration(&a);
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
    } bad[] = { { "{}", "is not a gpulocw session" },
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
