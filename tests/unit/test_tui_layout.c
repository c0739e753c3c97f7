/* Layouts: every panel stands somewhere, borders stay in their limits and come back from the settings;
 * and sparklines. */
#include "tests/support.h"
#include "engine/rec/result.h"
#include "tests/terminal/stage.h"

#include "tui/app/config.h"
#include "tui/app/layout/layout.h"
#include "tui/base/text.h"

/* Whatever panel is in front is on the screen, in each layout, once. */
static void every_panel_stands_somewhere(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 160, 50);
    for (int id = LAYOUT_TWO; id < LAYOUT_COUNT; id++)
        for (int p = 0; p < PANEL_COUNT; p++) {
            char name[64];
            t.app.set.layout.chosen = (enum layout_id)id;
            app_focus(&t.app, (enum panel_id)p);
            stage_frame(&t);
            snprintf(name, sizeof name, "─ %d %s ─", p + 1, panel_info((enum panel_id)p)->title);
            if (!stage_shows(&t, name))
                fail_msg("layout %d does not show panel %s", id, name);
        }
    stage_close(&t);
}

/* The slots of a layout cover the body and do not overlap, with borders moved to both ends, too. */
static void slots_cover_the_body(void **state)
{
    struct stage t;
    (void)state;
    stage_open(&t, SNAP_DONE, 160, 50);
    for (int id = LAYOUT_TWO; id < LAYOUT_COUNT; id++)
        for (int to = 0; to <= 100; to += 50) {
            struct layout_slot v[LAYOUT_SLOTS];
            struct layout_border b;
            int area = 0;
            for (unsigned k = 0; layout_border(&t.app, (enum layout_id)id, k, &b); k++)
                layout_put(&t.app, (enum layout_id)id, k, to);
            size_t n = layout_slots(&t.app, (enum layout_id)id, v);
            for (size_t i = 0; i < n; i++) {
                assert_true(v[i].x1 - v[i].x0 >= 15);
                assert_true(v[i].y1 - v[i].y0 >= 15);
                area += (v[i].x1 - v[i].x0) * (v[i].y1 - v[i].y0);
            }
            assert_int_equal(area, 100 * 100);
        }
    stage_close(&t);
}

static void settings_come_back(void **state)
{
    struct app_settings set = { 0 }, back = { 0 };
    struct buf b = { 0 };
    struct diags ds = { 0 };
    (void)state;
    assert_true(layout_set(&set.layout, str_of("plot")));
    assert_true(layout_set_borders(&set.layout, str_of("two 44 30 70")));
    layout_settings(&set.layout, &b);
    assert_string_equal(b.s, "layout = plot\nborders = two 44 30 70\n");
    config_parse(&back, "config", (struct str){ b.s, b.n }, &ds);
    assert_int_equal(ds.n, 0);
    assert_memory_equal(&back.layout, &set.layout, sizeof set.layout);
    buf_free(&b);
    /* too many, too few, not numbers, outside, in the wrong order, no layout */
    static const char *const bad[] = { "two 44 30 70 50", "two 44",
                                       "two 44 x 70",     "two 44 30 99",
                                       "two 3 30 70",     "three 60 40 50 50 50",
                                       "four 50",         "" };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (layout_set_borders(&back.layout, str_of(bad[i])))
            fail_msg("'%s' was taken", bad[i]);
    assert_memory_equal(&back.layout, &set.layout, sizeof set.layout);
    config_parse(&back, "config", str_of("layout = nosuch\n"), &ds);
    assert_int_equal(ds.n, 1);
    diags_free(&ds);
}

static void a_border_moves(void **state)
{
    struct stage t;
    struct layout_border b;
    (void)state;
    stage_open(&t, SNAP_DONE, 120, 40);
    stage_press(&t, "1");
    stage_press(&t, "S-Right");
    assert_true(layout_border(&t.app, LAYOUT_TWO, 0, &b));
    assert_int_equal(b.at, 60);
    stage_press(&t, "5"); /* the other side of the same border */
    stage_press(&t, "S-Left");
    stage_press(&t, "S-Left");
    assert_true(layout_border(&t.app, LAYOUT_TWO, 0, &b));
    assert_int_equal(b.at, 52);
    for (int i = 0; i < 30; i++)
        stage_press(&t, "S-Left");
    assert_true(layout_border(&t.app, LAYOUT_TWO, 0, &b));
    assert_int_equal(b.at, b.low);
    stage_press(&t, "z");
    stage_press(&t, "S-Left");
    assert_true(stage_shows(&t, "one panel fills the screen"));
    stage_close(&t);
}

static void spark_is(const char *want, unsigned cols, const double *v, size_t n, double low, double high)
{
    struct arena *a = arena_new(0);
    struct row r = { .arena = a };
    row_spark(&r, ROLE_TEXT, cols, v, n, low, high);
    struct str s = row_text(&r);
    assert_int_equal(s.n, strlen(want));
    assert_memory_equal(s.s, want, s.n);
    assert_int_equal(r.width, cols);
    arena_free(a);
}

static void sparks(void **state)
{
    const double up[] = { 0, 1, 2, 3, 4, 5, 6, 7 }, same[] = { 5, 5 }, gap[] = { 1, NAN, 8 },
                 none[] = { NAN, NAN };
    (void)state;
    spark_is("▁▂▃▄▅▆▇█", 8, up, 8, NAN, NAN);
    spark_is("▁▃▆█", 4, up, 8, NAN, NAN); /* means of pairs: 0.5, 2.5, 4.5, 6.5 */
    spark_is("▁▂▃▄", 4, up, 4, 0, 7);
    spark_is("▅▅  ", 4, same, 2, NAN, NAN);
    spark_is("▁ █", 3, gap, 3, NAN, NAN);
    spark_is("   ", 3, none, 2, NAN, NAN);
    spark_is("  ", 2, up, 0, NAN, NAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_panel_stands_somewhere),
        cmocka_unit_test(slots_cover_the_body),
        cmocka_unit_test(settings_come_back),
        cmocka_unit_test(a_border_moves),
        cmocka_unit_test(sparks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
