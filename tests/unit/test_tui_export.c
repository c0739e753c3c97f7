/* Exports of panels: each format is a file of its kind; JSON is a document of the contract. */
#include "tests/support.h"

#include "tests/terminal/stage.h"
#include "engine/base/base.h"
#include "engine/rec/result.h"
#include "tui/control/control.h"
#include "tui/control/export.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

static char *exported(struct stage *t, enum panel_id focus, const char *format)
{
    char path[256], *text;
    size_t n;
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "%s/out.%s", support_scratch(), format);
    t->app.focus = focus;
    stage_frame(t);
    export_panel(&t->app, format, path);
    assert_status_ok(file_read(path, 1u << 24, &text, &n, &ds), &ds);
    return text;
}

static void documents(void **state)
{
    (void)state;
    static const struct {
        enum panel_id focus;
        const char *format, *holds;
    } cases[] = {
        { PANEL_VALLEY, "json", "\"format\": \"gpulocw-sweep\"" },
        { PANEL_COUNTERS, "json", "\"format\": \"gpulocw-sweep\"" },
        { PANEL_SOURCE, "json", "\"format\": \"gpulocw-analysis\"" },
        { PANEL_LOCALITY, "json", "\"sectors_per_request\"" },
        { PANEL_VALLEY, "svg", "<svg " },
        { PANEL_VALLEY, "csv", "time_ns," },
        { PANEL_OPTIONS, "text", "bypass" },
    };
    struct stage t;
    stage_open(&t, SNAP_DONE, 120, 40);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char *text = exported(&t, cases[i].focus, cases[i].format);
        if (!strstr(text, cases[i].holds))
            fail_msg("case %zu: no '%s' in: %.300s", i, cases[i].holds, text);
        base_free(text);
    }
    stage_close(&t);
}

static void unknown_format(void **state)
{
    (void)state;
    struct stage t;
    char path[256], *text;
    size_t n;
    stage_open(&t, SNAP_DONE, 80, 24);
    snprintf(path, sizeof path, "%s/none", support_scratch());
    export_panel(&t.app, "png", path);
    assert_int_equal(file_read(path, 100, &text, &n, NULL), ST_IO); /* nothing was written */
    stage_close(&t);
}

/* Each step of a logarithmic x axis doubles, 0 has its place, and files keep the values. */
static void logarithmic_x(void **state)
{
    (void)state;
    struct stage t;
    struct plot p;
    stage_open(&t, SNAP_DONE, 120, 40);
    t.app.focus = PANEL_VALLEY;
    stage_frame(&t);
    valley_plot(&t.app, &p);
    assert_true(p.series[0].n > 8);
    assert_true(p.series[0].x[8] == 8);
    assert_true(p.nticks == 0);
    app_request(&t.app, REQ_VAL_LOG_X);
    stage_frame(&t);
    valley_plot(&t.app, &p);
    assert_true(p.series[0].x[0] == 0);
    assert_true(p.series[0].x[1] == 1);
    assert_true(p.series[0].x[2] == 2);
    assert_true(p.series[0].x[4] == 3);
    assert_true(p.series[0].x[8] == 4);
    assert_true(p.nticks > 4);
    assert_string_equal(p.tick[0], "0");
    assert_string_equal(p.tick[4], "8");
    char *text = exported(&t, PANEL_VALLEY, "csv");
    assert_non_null(strstr(text, "\n8,"));
    base_free(text);
    app_request(&t.app, REQ_VAL_LOG_X);
    stage_frame(&t);
    valley_plot(&t.app, &p);
    assert_true(p.series[0].x[8] == 8);
    stage_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(documents), cmocka_unit_test(logarithmic_x),
                                        cmocka_unit_test(unknown_format) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
