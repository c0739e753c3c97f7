/* The tables of the papers' experiments agree with each other; energy is the sum that its table states.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "engine/paper/paper_int.h"
#include "engine/rec/result.h"
#include "engine/rec/energy.h"
#include "engine/rec/counter_ids.h"

static void test_ids_are_unique(void **state)
{
    (void)state;
    assert_true(paper_count() >= 30);
    for (size_t i = 0; i < paper_count(); i++)
        assert_ptr_equal(paper_find(paper_at(i)->id), paper_at(i));
}

static void test_every_id_is_of_a_paper(void **state)
{
    (void)state;
    for (size_t i = 0; i < paper_count(); i++)
        assert_true(*paper_source(paper_at(i)->id) != 0);
}

static void test_every_figure_has_its_experiment_and_its_place(void **state)
{
    (void)state;
    assert_true(paper_figure_count() > 100);
    for (size_t i = 0; i < paper_figure_count(); i++) {
        const struct paper_figure *f = paper_figure_at(i);
        const struct paper_experiment *e = paper_find(f->id);
        if (!e)
            fail_msg("a figure of %s, which is no experiment", f->id);
        if (*f->platform && (!e->platforms || !strstr(e->platforms, f->platform)))
            fail_msg("%s is not run on %s", f->id, f->platform);
        assert_true(*f->where != 0);
    }
}

static void test_a_mistyped_id_has_a_neighbour(void **state)
{
    (void)state;
    assert_string_equal(paper_near("s1-fig55"), "s1-fig5");
    assert_null(paper_near("something else"));
}

/* 10 warp instructions, 320 of lanes, 8 sectors of L1, 4 of L2, 64 bytes: 700 + 1184 + 640 + 1600 + 7168
 * picojoules */
static void test_energy_by_hand(void **state)
{
    (void)state;
    static const struct {
        enum counter_id id;
        double value;
    } c[] = { { COUNTER_INST_WARP, 10 },
              { COUNTER_INST_THREAD, 320 },
              { COUNTER_L1_SECTORS, 8 },
              { COUNTER_L2_READ_SECTORS, 4 },
              { COUNTER_DRAM_READ_BYTES, 64 } };
    struct result r = result_empty();
    for (size_t i = 0; i < ARRAY_LEN(c); i++)
        r.counters[c[i].id] = (struct counter){ c[i].value, ORIGIN_SIMULATED, true };
    double off = energy_modelled(&r) - 11.292;
    assert_true(off < 1e-9);
    assert_true(off > -1e-9);
}

static void test_energy_of_what_was_not_counted_is_none(void **state)
{
    (void)state;
    struct result r = result_empty();
    assert_true(isnan(energy_modelled(&r)));
}

/* Two platforms, of 100 and 10: both panels go to 100, so that their bars compare, and waves stand by the name. */
static void test_a_picture_has_waves_and_one_axis(void **state)
{
    (void)state;
    struct paper_row row[2];
    struct buf out = { 0 };
    memset(row, 0, sizeof row);
    for (size_t i = 0; i < 2; i++) {
        strcpy(row[i].application, "MM");
        row[i].platform = i ? "fermi-16k" : "fermi-48k";
        row[i].waves = i ? 8.1 : (double)NAN;
        row[i].v[0] = (struct paper_value){ i ? 10 : 100, NAN, NULL, NULL, "" };
    }
    struct paper_row mean[1] = { row[0] }; /* with a mean, each platform has a panel */
    struct paper_result r = { .of = paper_find("s1-fig12"), .series = { "BSL" }, .nseries = 1 };
    r.row = row;
    r.nrows = 2;
    r.mean = mean;
    r.nmeans = 1;
    paper_svg(&r, &out);
    assert_non_null(strstr(out.s, ">MM, 8.1 waves</text>"));
    char *first = strstr(out.s, ">100</text>"), *second = first ? strstr(first, "sim:fermi-16k") : NULL;
    assert_non_null(second);
    assert_non_null(strstr(second, ">100</text>"));
    buf_clear(&out);
    r.of = paper_find("s3-fig13"); /* over the original: what is far beyond it is cut */
    paper_svg(&r, &out);
    assert_null(strstr(out.s, ">50</text>"));
    assert_non_null(strstr(out.s, ">100</text>"));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_unique),
        cmocka_unit_test(test_every_id_is_of_a_paper),
        cmocka_unit_test(test_every_figure_has_its_experiment_and_its_place),
        cmocka_unit_test(test_a_mistyped_id_has_a_neighbour),
        cmocka_unit_test(test_energy_by_hand),
        cmocka_unit_test(test_energy_of_what_was_not_counted_is_none),
        cmocka_unit_test(test_a_picture_has_waves_and_one_axis),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
