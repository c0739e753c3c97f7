/* What must not be lost on the way to the screen: why nothing ran, the rest of a
 * long warning, a panel behind a lesson's text, what a check still lacks, the
 * operands of a load beside its rewrite. */
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "engine/tune/sweep.h"
#include "tests/support.h"

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/stage.h"
#include "tui/app/app.h"
#include "tui/base/request.h"
#include "tui/base/text.h"
#include "tui/control/lesson_run.h"
#include "tui/view/view.h"

/* A panel that nothing filled says what kept it empty, until something else was said. */
static void failures_are_told(void **state)
{
    static const char *const panels[] = { "5", "6", "7" };
    static const struct job_message said[] = { { .level = DIAG_ERROR,
                                                 .text = "out-of-bounds read of 4 bytes" },
                                               { .level = DIAG_WARNING, .text = "only warned" },
                                               { .level = DIAG_NOTE, .text = "read again" } };
    struct stage t;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(panels); i++) {
        stage_open(&t, SNAP_OPENED, 80, 24);
        t.snap->messages = said;
        t.snap->nmessages = 2;
        stage_press(&t, panels[i]);
        if (!stage_shows(&t, "It failed: out-of-bounds read of 4 bytes"))
            fail_msg("panel %s does not say what failed", panels[i]);
        t.snap->nmessages = 3;
        stage_frame(&t);
        assert_false(stage_shows(&t, "It failed"));
        stage_close(&t);
    }
}

static void percent_stays(void **state)
{
    struct stage t;
    struct page p = { 0 };
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_frame(&t);
    for (unsigned w = 12; w < 40; w++) {
        page_clear(&p);
        page_wrap(&t.app, &p, ROLE_TEXT, 0, w, "line 81: 100 % of its lines, 0 % of a warp's share", -1);
        struct row r = { .arena = t.app.frame };
        row_put(&r, ROLE_TEXT, "some words and 100 %% of the loads, then 12 %% again");
        page_flow(&t.app, &p, &r, 2, w, -1);
        for (size_t i = 0; i < p.n; i++)
            for (unsigned k = 0; k < p.line[i].n; k++)
                if (p.line[i].v[k].s.n && *p.line[i].v[k].s.s == '%')
                    fail_msg("%u columns: a line begins with %%", w);
    }
    stage_close(&t);
}

static void long_warnings(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    stage_frame(&t);
    app_notice(
        &t.app, DIAG_ERROR,
        "a.ptx:13:2: out-of-bounds read of 4 bytes at global address 0x7f0000000400: thread (48,0,0)");
    stage_frame(&t);
    assert_true(stage_shows(&t, "… 9 has the rest"));
    app_notice(&t.app, DIAG_ERROR, "a.ptx:13:2: misaligned");
    stage_frame(&t);
    assert_true(stage_shows(&t, "a.ptx:13:2: misaligned"));
    assert_false(stage_shows(&t, "has the rest"));
    stage_close(&t);
}

/* On a small screen a lesson's whole text covers the panel; what one goes to is seen all the same. */
static void lesson_gives_way(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 40, 12);
    assert_true(lesson_open(&t.app, "sessions/lessons/2-valley.json"));
    stage_frame(&t);
    stage_keys(&t, "1 F4");
    assert_false(stage_shows(&t, "%rd8"));
    stage_press(&t, "?");
    assert_true(stage_shows(&t, "Source panel"));
    stage_press(&t, "q");
    stage_press(&t, "7");
    assert_true(stage_shows(&t, "--bypass"));
    stage_close(&t);
}

static void checks_say_what_lacks(void **state)
{
    static const struct {
        const char *check, *lacks;
    } t[] = { { "sweeps >= 2 and l1.hit_rate < 20", "l1.hit_rate is " },
              { "runs > 7", "runs is 3, it should be above 7" },
              { "category == irregular", "category is cache-congested, it should be irregular" } };
    struct stage s;
    struct buf b = { 0 };
    (void)state;
    stage_open(&s, SNAP_DONE, 80, 24);
    for (size_t i = 0; i < ARRAY_LEN(t); i++) {
        buf_clear(&b);
        assert_int_equal(check_eval(&s.app, t[i].check, NULL, &b), CHECK_NO);
        if (strncmp(b.s, t[i].lacks, strlen(t[i].lacks)))
            fail_msg("'%s' lacks '%s'", t[i].check, b.s);
    }
    buf_clear(&b);
    assert_int_equal(check_eval(&s.app, "sweeps == 2", NULL, &b), CHECK_YES);
    assert_int_equal(b.n, 0);
    stage_close(&s);
    stage_open(&s, SNAP_OPENED, 80, 24);
    assert_int_equal(check_eval(&s.app, "l1.hit_rate < 20", NULL, &b), CHECK_NO);
    assert_string_equal(b.s, "l1.hit_rate is not known yet, it should be below 20");
    stage_close(&s);
    buf_free(&b);
}

/* Beside its rewrite a load shows its address on 80 columns, on both sides. */
static void side_by_side(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 80, 24);
    const struct ptx_module *m = t.snap->module;
    struct ptx_line_origin lines[64];
    struct pass_output out = {
        .changed = true, .text = (char *)(uintptr_t)m->text.s, .n = m->text.n, .lines = lines
    };
    for (size_t i = 0; i < m->text.n; i++)
        if (m->text.s[i] == '\n' && out.nlines < ARRAY_LEN(lines))
            lines[out.nlines] = (struct ptx_line_origin){ out.nlines + 1, NULL, false }, out.nlines++;
    t.snap->preview = &out;
    t.app.source.stale = true;
    stage_keys(&t, "1 v");
    assert_true(
        stage_shows(&t, "│ ld.global.nc.f32 %f3, [%rd12]; … │  ld.global.nc.f32 %f3, [%rd12];…│"));
    t.snap->preview = NULL;
    stage_close(&t);
}

/* Which load brings how much: by the analysis at first, by a run's misses once there is one; h goes to
 * the first, then on. */
static void traffic_by_load(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_OPENED, 100, 30);
    stage_frame(&t);
    /* lines 40, 42 and 45: 4, 16 and 23.4 sectors a request */
    struct ana_access *x = t.snap->facts->access;
    stage_keys(&t, "1 h");
    assert_true(stage_shows(&t, "1 of 3: 53.9 % of the sectors requested by the loads"));
    x[2].exact.valid = false;
    stage_press(&t, "h");
    assert_true(stage_shows(&t, "is unknown: r runs the kernel and counts"));
    stage_close(&t);
    stage_open(&t, SNAP_DONE, 100, 30);
    x = t.snap->facts->access;
    struct session_run *last = (struct session_run *)(uintptr_t)t.snap->runs[t.snap->nruns - 1];
    for (size_t i = 0; i < last->sweep.npoints; i++) {
        result_add_load(&last->sweep.points[i], (struct load_counts){ 40, 10, 40, 40 });
        result_add_load(&last->sweep.points[i], (struct load_counts){ 42, 10, 160, 130 });
        result_add_load(&last->sweep.points[i], (struct load_counts){ 45, 10, 300, 210 });
    }
    snprintf(last->kernel, sizeof last->kernel, "%s", t.snap->kernel);
    stage_keys(&t, "1 h");
    assert_true(stage_shows(&t, "1 of 3: 75.0 % of the sectors past L1 (simulated, run 3 π=4)"));
    assert_true(stage_shows(&t, "L1 hit 70.0 % (simulated, run 3 π=4)"));
    stage_press(&t, "h");
    assert_true(stage_shows(&t, "2 of 3: 25.0 %"));
    stage_keys(&t, "h h");
    assert_true(stage_shows(&t, "1 of 3: 75.0 %"));
    stage_keys(&t, "2 h");
    const struct page *p = &t.app.page[PANEL_COALESCE];
    assert_int_equal(x[2].at.line, 45);
    assert_int_equal(p->line[1].item, 3);
    assert_int_equal(p->line[2].item, 2);
    assert_int_equal(p->line[3].item, 1);
    stage_press(&t, "h");
    assert_int_equal(p->line[1].item, 1);
    stage_close(&t);
}

/* A sweep under way is not called cut off; where all runs are of one kernel, a narrow list tells their
 * devices. */
static void runs_told_apart(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_SWEEPING, 80, 24);
    stage_press(&t, "7");
    assert_true(stage_shows(&t, "(9 so far)"));
    assert_false(stage_shows(&t, "cut off"));
    t.snap->busy = false;
    stage_frame(&t);
    assert_true(stage_shows(&t, "(9 cut off)"));
    stage_close(&t);
    stage_open(&t, SNAP_DONE, 80, 24);
    stage_press(&t, "7");
    assert_true(stage_shows(&t, "fermi-48k"));
    snprintf(((struct session_run *)(uintptr_t)t.snap->runs[1])->kernel, 8, "other");
    stage_frame(&t);
    assert_true(stage_shows(&t, "other "));
    assert_true(stage_shows(&t, "  tile"));
    stage_type(&t, "f855\r");
    assert_true(stage_shows(&t, "with '855'"));
    stage_close(&t);
}

/* A task that was done wrong says what lacks, and the way back; one that was not begun, or is under way,
 * does not. */
static void lesson_says_what_lacks(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 100, 30);
    assert_true(lesson_open(&t.app, "sessions/lessons/4-cache-size.json"));
    t.app.lesson.runs_before = 0;
    /* two sweeps, the last on the larger L1: that is not the device here */
    t.app.lesson.step = 1;
    stage_frame(&t);
    assert_non_null(t.app.lesson.lesson->step[1].check);
    assert_false(stage_shows(&t, "Not yet:"));
    t.app.lesson.runs_at_step = 0; /* as if the runs had come since */
    stage_frame(&t);
    assert_true(stage_shows(&t, "Not yet: device is sim:fermi-16k, it should be sim:fermi-48k."));
    assert_false(stage_shows(&t, "not those of the task"));
    opt_occupancy(t.app.options)->carveout = 0;
    stage_frame(&t);
    assert_true(stage_shows(&t, "u undoes a change"));
    t.snap->busy = true;
    stage_frame(&t);
    assert_false(stage_shows(&t, "Not yet:"));
    stage_close(&t);
}

/* Whatever the width, times and hit rates are told with what they are. */
static void origins_are_told(void **state)
{
    static const struct {
        int w, h;
    } sizes[] = { { 40, 10 }, { 46, 12 },  { 60, 20 },  { 70, 24 },
                  { 80, 24 }, { 120, 40 }, { 160, 50 }, { 200, 60 } };
    struct stage t;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        stage_open(&t, SNAP_DONE, sizes[i].w, sizes[i].h);
        stage_press(&t, "6");
        if (!stage_shows(&t, "simulated"))
            fail_msg("counters on %d columns do not say that they are simulated", sizes[i].w);
        if (!stage_shows(&t, "hit 41.5 %"))
            fail_msg("counters on %d columns lack the hit rate of L2", sizes[i].w);
        stage_press(&t, "7");
        if (!stage_shows(&t, " whole"))
            fail_msg("runs on %d columns do not say what they rest on", sizes[i].w);
        stage_close(&t);
    }
}

static void whole_sentences(void **state)
{
    static const struct {
        const char *text;
        unsigned cols;
        size_t n;
    } t[] = { { "One. Two. Three.", 16, 16 },
              { "One. Two. Three.", 15, 9 },
              { "One. Two. Three.", 5, 4 },
              { "One. Two.", 3, 9 },
              { "no stop", 4, 7 },
              { "v1.2 is one. Two.", 14, 12 },
              { "", 9, 0 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(t); i++)
        assert_int_equal(text_sentences(str_of(t[i].text), t[i].cols).n, t[i].n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_are_told),      cmocka_unit_test(percent_stays),
        cmocka_unit_test(long_warnings),          cmocka_unit_test(lesson_gives_way),
        cmocka_unit_test(checks_say_what_lacks),  cmocka_unit_test(side_by_side),
        cmocka_unit_test(traffic_by_load),        cmocka_unit_test(runs_told_apart),
        cmocka_unit_test(lesson_says_what_lacks), cmocka_unit_test(origins_are_told),
        cmocka_unit_test(whole_sentences)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
