/* Scripts of keys: what reaches the engine, what the screen says then. */
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/workspace/job.h"
#include "tests/terminal/stage.h"
#include "tui/app/prompt.h"
#include "tui/base/request.h"
#include "tui/base/theme.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/view/view.h"

#include <math.h>

static void panels_by_keys(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    for (int p = 0; p < 9; p++) {
        stage_press(&t, (char[]){ (char)('1' + p), 0 });
        assert_int_equal(t.app.focus, p);
    }
    stage_press(&t, "Tab"); /* the tenth has no number */
    assert_int_equal(t.app.focus, PANEL_PAPERS);
    stage_press(&t, "Tab"); /* nor has the eleventh */
    assert_int_equal(t.app.focus, PANEL_PROGRAM);
    for (int p = PANEL_PROGRAM + 1; p < PANEL_COUNT; p++) {
        stage_press(&t, "Tab");
        assert_int_equal(t.app.focus, p);
    }
    stage_press(&t, "Tab");
    assert_int_equal(t.app.focus, PANEL_SOURCE);
    for (int p = PANEL_COUNT; p-- > PANEL_MESSAGES;)
        stage_press(&t, "S-Tab");
    assert_int_equal(t.app.focus, PANEL_MESSAGES);
    stage_press(&t, "S"); /* those that have letters */
    assert_int_equal(t.app.focus, PANEL_SUMMARY);
    stage_press(&t, "U");
    assert_int_equal(t.app.focus, PANEL_CUDA);
    stage_press(&t, "1");
    stage_press(&t, "A");
    assert_int_equal(t.app.focus, PANEL_SASS);
    stage_close(&t);
}

static void sweep_and_cancel(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_keys(&t, "5 a s");
    assert_int_equal(t.rec.last.kind, JOB_SWEEP);
    assert_string_equal(t.rec.text, "agents");
    stage_type(&t, ":sweep pi\r");
    assert_string_equal(t.rec.text, "pi");
    assert_int_equal(opt_bypass(t.rec.last.options)->level, BYPASS_NONE); /* the sweep chooses it */
    stage_press(&t, "x");
    assert_int_equal(t.rec.cancels, 0); /* nothing runs */
    stage_close(&t);
    stage_open(&t, SNAP_SWEEPING, 80, 24);
    stage_press(&t, "x");
    assert_int_equal(t.rec.cancels, 1);
    stage_keys(&t, "Esc C-c"); /* keys that are pressed by habit stop nothing */
    assert_int_equal(t.rec.cancels, 1);
    assert_true(stage_shows(&t, "x stops it"));
    stage_close(&t);
}

static void options_and_undo(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_keys(&t, "4 g Right Right"); /* unfolds the first group; its first knob: bypass */
    assert_int_equal(opt_bypass(t.app.options)->level, BYPASS_L1);
    assert_int_equal(t.rec.last.kind, JOB_OPTIONS);
    assert_int_equal(opt_bypass(t.rec.last.options)->level, BYPASS_L1);
    stage_keys(&t, "Right Left Left Left");
    assert_int_equal(opt_bypass(t.app.options)->level, BYPASS_L1L2);
    stage_keys(&t, "u u u");
    assert_int_equal(opt_bypass(t.app.options)->level, BYPASS_RO);
    stage_press(&t, "C-r");
    assert_int_equal(opt_bypass(t.app.options)->level, BYPASS_L1);
    stage_type(&t, ":set pi 7\r");
    assert_int_equal(opt_bypass(t.app.options)->pi.value, 7);
    stage_type(&t, ":set pi many\r");
    assert_int_equal(t.app.notice_level, DIAG_ERROR);
    assert_int_equal(opt_bypass(t.app.options)->pi.value, 7);
    stage_type(&t, ":unset\r");
    struct options def = options_default();
    assert_true(options_equal(t.app.options, &def));
    stage_press(&t, "u");
    assert_int_equal(opt_bypass(t.app.options)->pi.value, 7);
    stage_close(&t);
}

static void launch_editing(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_keys(&t, "4 / ");
    stage_type(&t, "grid\r");
    stage_press(&t, "Enter");
    assert_int_equal(t.app.prompt.kind, PROMPT_VALUE);
    assert_string_equal(t.app.prompt.text, "64x1x1");
    stage_keys(&t, "C-u");
    stage_type(&t, "128x2\r");
    assert_int_equal(t.rec.last.kind, JOB_LAUNCH);
    unsigned posts = t.rec.posts;
    stage_press(&t, "Enter");
    stage_keys(&t, "C-u");
    stage_type(&t, "0x2\r");
    assert_int_equal(t.rec.posts, posts); /* not a grid */
    assert_int_equal(t.app.notice_level, DIAG_ERROR);
    stage_press(&t, "w");
    assert_int_equal(t.rec.last.kind, JOB_LAUNCH_SAVE);
    stage_press(&t, "W");
    assert_int_equal(t.rec.last.kind, JOB_LAUNCH_SAVE); /* nothing is rewritten: told, not tried */
    assert_true(stage_shows(&t, "Nothing to write: no option is set"));
    stage_type(&t, ":set bypass l1\r");
    stage_press(&t, "W");
    assert_int_equal(t.rec.last.kind, JOB_WRITE);
    stage_close(&t);
}

static void source_moves(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_keys(&t, "1 g ]");
    int first = source_access(&t.app);
    assert_int_equal(first, 0);
    stage_keys(&t, "] ]");
    assert_int_equal(source_access(&t.app), 2);
    /* the address is the second register; the first is the load's own */
    for (unsigned k = 0; k < 2; k++) {
        stage_keys(&t, k ? "d" : "Right d");
        assert_true(stage_shows(&t, "add.s64     %rd12, %rd4, %rd11"));
        assert_int_equal(t.app.source.njumps, 1);
        stage_press(&t, "Backspace");
        assert_int_equal(source_access(&t.app), 2);
    }
    stage_press(&t, "a");
    assert_int_equal(t.app.overlay, OVERLAY_TREE);
    assert_true(stage_shows(&t, "ld.param.u64"));
    stage_press(&t, "q");
    assert_int_equal(t.app.overlay, OVERLAY_NONE);
    size_t lines = t.app.source.nlines;
    stage_press(&t, "Space");
    assert_true(t.app.source.nlines < lines);
    stage_press(&t, "Space");
    assert_int_equal(t.app.source.nlines, lines);
    stage_keys(&t, "g /");
    stage_type(&t, "FMA.rn\r");
    assert_true(stage_shows(&t, "fma.rn.f32"));
    stage_close(&t);
}

static void valley_moves(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_press(&t, "5");
    assert_int_equal(t.app.valley.cursor, 4); /* the best point */
    stage_keys(&t, "l l h");
    assert_int_equal(t.app.valley.cursor, 5);
    stage_press(&t, "Enter");
    assert_int_equal(opt_bypass(t.app.options)->pi.value, 5);
    stage_keys(&t, "+ + m m");
    assert_int_equal(t.app.valley.metric, METRIC_HIT);
    stage_keys(&t, "k"); /* the other sweep */
    assert_true(stage_shows(&t, "sim:fermi-48k"));
    stage_keys(&t, "c");
    assert_true(stage_shows(&t, "B run 3 sim:fermi-16k"));
    stage_keys(&t, "c 0");
    assert_false(stage_shows(&t, "B run 3 sim:fermi-16k"));
    stage_close(&t);
}

static void runs_keys(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_keys(&t, "7 g Space j j Space");
    assert_int_equal(t.app.runs.mark[0], 0);
    assert_int_equal(t.app.runs.mark[1], 2);
    assert_true(stage_shows(&t, "against"));
    stage_press(&t, "d");
    assert_int_equal(t.rec.last.kind, JOB_DELETE);
    assert_int_equal(t.rec.last.number, 2);
    stage_press(&t, "e");
    stage_type(&t, "good one\r");
    assert_int_equal(t.rec.last.kind, JOB_NOTE);
    assert_string_equal(t.rec.text, "good one");
    stage_press(&t, "f");
    stage_type(&t, "as written\r");
    assert_int_equal(t.app.runs.norder, 1);
    stage_press(&t, "Enter");
    assert_int_equal(t.app.focus, PANEL_COUNTERS);
    assert_true(stage_shows(&t, "run 2 "));
    stage_press(&t, "7");
    stage_press(&t, "c");
    assert_int_equal(t.app.focus, PANEL_VALLEY);
    stage_close(&t);
}

static void advice_and_messages(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_keys(&t, "8 j Enter");
    assert_int_equal(t.rec.last.kind, JOB_RUN);
    assert_int_equal(opt_bypass(t.rec.last.options)->pi.value, 4);
    stage_keys(&t, "9 f f");
    assert_false(stage_shows(&t, "launch description"));
    assert_true(stage_shows(&t, "no_allocate"));
    stage_press(&t, "Enter");
    assert_int_equal(t.app.focus, PANEL_SOURCE);
    stage_close(&t);
}

static void quitting(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 120, 40);
    stage_keys(&t, "z ?");
    assert_int_equal(stage_press(&t, "q") & UI_LEAVE, 0); /* help */
    assert_int_equal(stage_press(&t, "q") & UI_LEAVE, 0); /* zoom */
    assert_true(stage_press(&t, "q") & UI_LEAVE);
    assert_true(stage_press(&t, "C-q") & UI_LEAVE);
    stage_close(&t);
    stage_open(&t, SNAP_SWEEPING, 120, 40);
    assert_int_equal(stage_press(&t, "q") & UI_LEAVE, 0); /* it says that a sweep runs */
    assert_true(stage_press(&t, "q") & UI_LEAVE);
    stage_close(&t);
}

static void help_is_searchable(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_keys(&t, "5 ?");
    assert_true(stage_shows(&t, "Valley panel"));
    stage_press(&t, "/");
    stage_type(&t, "clear-nothing\r");
    assert_int_equal(t.app.overlay, OVERLAY_HELP);
    stage_press(&t, "/");
    stage_type(&t, "suspend to\r");
    assert_true(stage_shows(&t, "suspend to the shell"));
    stage_close(&t);
}

static void completion(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_type(&t, ":swe\t");
    assert_string_equal(t.app.prompt.text, "sweep ");
    stage_type(&t, "car\t\r");
    assert_string_equal(t.rec.text, "carveout");
    stage_type(&t, ":set bypass-f\t");
    assert_string_equal(t.app.prompt.text, "set bypass-form ");
    stage_type(&t, "cl\t\r");
    stage_type(&t, ":kernel t\t");
    assert_string_equal(t.app.prompt.text, "kernel tile ");
    stage_keys(&t, "Esc");
    stage_type(&t, ":sweep prefetch-d\t");
    assert_string_equal(t.app.prompt.text, "sweep prefetch-distance=");
    stage_keys(&t, "Esc");
    /* beside coalescing.ptx lie its source and its launch description: neither is what one opens */
    stage_type(&t, ":open kernels/coal\t");
    assert_string_equal(t.app.prompt.text, "open kernels/coalescing.ptx ");
    stage_keys(&t, "Esc");
    stage_type(&t, ":nonsense\r");
    assert_int_equal(t.app.notice_level, DIAG_ERROR);
    stage_close(&t);
}

/* Progress appears with rate and time left once a second has passed. */
static void progress(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_SWEEPING, 100, 24);
    t.app.now_ns = 500000000;
    stage_frame(&t);
    assert_true(stage_shows(&t, "53 %"));
    assert_false(stage_shows(&t, "left"));
    t.app.now_ns = 10000000000;
    stage_frame(&t);
    assert_true(stage_shows(&t, "4.5 points/s"));
    assert_true(stage_shows(&t, "about 10 s left"));
    assert_true(app_timer(&t.app) > 0);
    stage_close(&t);
    stage_open(&t, SNAP_DONE, 100, 24);
    assert_int_equal(app_timer(&t.app), -1); /* nothing moves: no wake-ups */
    app_notice(&t.app, DIAG_NOTE, "hello");
    assert_true(app_timer(&t.app) > 0);
    t.app.now_ns += 7000000000;
    struct event tick = { .kind = EVENT_TICK };
    assert_int_equal(app_event(&t.app, &tick), UI_REDRAW);
    assert_int_equal(app_timer(&t.app), -1);
    stage_close(&t);
}

static void replay(void **state)
{
    struct stage t;
    struct event tick = { .kind = EVENT_TICK };
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_type(&t, ":replay play\r");
    for (int i = 0; i < 5; i++) {
        t.app.now_ns += 400000000;
        app_event(&t.app, &tick);
    }
    stage_frame(&t);
    assert_int_equal(t.app.replay.shown, 5);
    assert_true(stage_shows(&t, "replay 5 of 17"));
    stage_keys(&t, "Space . ,");
    assert_int_equal(t.app.replay.shown, 5);
    stage_keys(&t, "e");
    assert_int_equal(t.app.replay.shown, 17);
    assert_false(t.app.replay.playing);
    stage_close(&t);
}

static void mouse(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_frame(&t);
    for (unsigned i = 0; i < t.map.nhits; i++)
        if (t.map.hit[i].kind == HIT_TAB && t.map.hit[i].id == PANEL_VALLEY) {
            struct event e = {
                .kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .x = t.map.hit[i].r.x, .y = t.map.hit[i].r.y
            };
            screen_mouse(&t.app, &t.map, &e);
            break;
        }
    assert_int_equal(t.app.focus, PANEL_VALLEY);
    stage_frame(&t);
    struct event e = { .kind = EVENT_MOUSE, .mouse = MOUSE_PRESS, .x = 20, .y = 8 };
    screen_mouse(&t.app, &t.map, &e);
    size_t left = t.app.valley.cursor;
    e.x = 60;
    e.mouse = MOUSE_RELEASE;
    screen_mouse(&t.app, &t.map, &e);
    assert_true(t.app.valley.cursor > left);
    assert_true(t.app.valley.zoom > 1); /* dragged over: zoomed */
    stage_press(&t, "1");
    e = (struct event){ .kind = EVENT_MOUSE, .mouse = MOUSE_WHEEL_DOWN, .x = 20, .y = 10 };
    size_t at = t.app.list[PANEL_SOURCE].cursor;
    screen_mouse(&t.app, &t.map, &e);
    assert_int_equal(t.app.list[PANEL_SOURCE].cursor, at + 3);
    stage_close(&t);
}

static void checks(void **state)
{
    static const struct {
        const char *text;
        enum check_result r;
    } t[] = { { "sweeps >= 2", CHECK_YES },
              { "sweeps > 2", CHECK_NO },
              { "runs == 3 and sweeps == 2", CHECK_YES },
              { "runs == 9 or sweeps == 2", CHECK_YES },
              { "category == cache-congested", CHECK_YES },
              { "category != cache-congested", CHECK_NO },
              { "best.pi == 4", CHECK_YES },
              { "best.pi > 4", CHECK_NO },
              { "l1.hit_rate >= 60", CHECK_YES },
              { "speedup > 2", CHECK_YES },
              { "bypass == none", CHECK_YES },
              { "panel == source", CHECK_YES },
              { "degree < 50", CHECK_YES },
              { "class == algorithm", CHECK_YES },
              { "device == sim:fermi-16k", CHECK_YES },
              { "equal == 1", CHECK_YES },
              { "tunes == 0", CHECK_YES },
              { "nonsense > 1", CHECK_BAD },
              { "runs >> 1", CHECK_BAD },
              { "runs >", CHECK_BAD },
              { "", CHECK_BAD },
              { "runs == 3 also sweeps == 2", CHECK_BAD } };
    struct stage s;
    (void)state;
    stage_open(&s, SNAP_DONE, 80, 24);
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        if (check_eval(&s.app, t[i].text, NULL, NULL) != t[i].r)
            fail_msg("'%s' gives %d", t[i].text, (int)check_eval(&s.app, t[i].text, NULL, NULL));
    stage_close(&s);
    stage_open(&s, SNAP_OPENED, 80, 24);
    /* nothing measured: not true */
    assert_int_equal(check_eval(&s.app, "l1.hit_rate < 1000", NULL, NULL), CHECK_NO);
    stage_close(&s);
}

/* A theme file is read again when it changes; a bad one is a located message and the default. */
/* The light theme on a light terminal, unless the user has chosen one. */
static void theme_by_background(void **state)
{
    struct stage t;
    struct event light = { .kind = EVENT_BACKGROUND, .x = 1 }, dark = { .kind = EVENT_BACKGROUND };
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    t.app.data_dir = base_strdup(".");
    app_event(&t.app, &dark);
    assert_string_equal(t.app.theme.name, "dark");
    app_event(&t.app, &light);
    assert_string_equal(t.app.theme.name, "light");
    stage_type(&t, ":theme dark\r");
    app_event(&t.app, &light);
    assert_string_equal(t.app.theme.name, "dark");
    stage_close(&t);
}

static void themes_reload(void **state)
{
    struct stage t;
    struct theme builtin;
    struct diags ds = { 0 };
    char path[400];
    (void)state;
    stage_open(&t, SNAP_DONE, 80, 24);
    theme_default(&builtin);
    snprintf(path, sizeof path, "%s/my.theme", support_scratch());
    assert_status_ok(file_write_atomic(path, "text = red\n", 11, &ds), &ds);
    app_theme(&t.app, path);
    assert_int_equal(t.app.theme.look[ROLE_TEXT].fg.index, 1);
    assert_status_ok(file_write_atomic(path, "text = blue\n", 12, &ds), &ds);
    app_theme(&t.app, t.app.set.theme);
    assert_int_equal(t.app.theme.look[ROLE_TEXT].fg.index, 4);
    assert_status_ok(file_write_atomic(path, "text = blurb\n", 13, &ds), &ds);
    app_theme(&t.app, t.app.set.theme);
    assert_memory_equal(t.app.theme.look, builtin.look, sizeof builtin.look);
    assert_non_null(strstr(t.app.notice, "my.theme:1:8"));
    remove(path);
    stage_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(panels_by_keys),
                                        cmocka_unit_test(sweep_and_cancel),
                                        cmocka_unit_test(options_and_undo),
                                        cmocka_unit_test(launch_editing),
                                        cmocka_unit_test(source_moves),
                                        cmocka_unit_test(valley_moves),
                                        cmocka_unit_test(runs_keys),
                                        cmocka_unit_test(advice_and_messages),
                                        cmocka_unit_test(quitting),
                                        cmocka_unit_test(help_is_searchable),
                                        cmocka_unit_test(completion),
                                        cmocka_unit_test(progress),
                                        cmocka_unit_test(replay),
                                        cmocka_unit_test(theme_by_background),
                                        cmocka_unit_test(themes_reload),
                                        cmocka_unit_test(mouse),
                                        cmocka_unit_test(checks) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
