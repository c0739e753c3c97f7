/* What a search misses of recorded references (tests/search, written by bench_search): within 2 % of the
 * best with at most 15 % of the launches, on kernels, presets and pairs of knobs of several kinds.
 * Nothing is launched. */
#include <glob.h>

#include "tests/unit/search_table.h"

static void search_finds_what_the_reference_has(void **state)
{
    glob_t all = { 0 };
    size_t gains = 0;
    (void)state;
    assert_int_equal(glob("tests/search/*.tsv", 0, NULL, &all), 0);
    for (size_t i = 0; i < all.gl_pathc; i++) {
        struct table t;
        struct tune_found f;
        assert_true(table_read(&t, all.gl_pathv[i]));
        table_search(&t, &f);
        unsigned taken = f.launches + f.resumed + f.missing;
        double best = table_best(&t) ? table_gain(&t, table_best(&t)) : 1,
               gain = (double)f.original->time.median / (double)f.best->time.median;
        if (gain < best / 1.02 || taken > 0.15 * t.reference)
            fail_msg("%s: %.3fx where the reference has %.3fx, by %u launches of its %u",
                     all.gl_pathv[i], gain, best, taken, t.reference);
        gains += gain > 1.1;
        table_free(&t);
        tune_found_clear(&f);
    }
    assert_true(gains >= 8); /* there is something to find in most of them */
    globfree(&all);
}

/* The table's own reading: a gain is one of two times of a kind. */
static void sampled_and_whole_times_make_no_gain(void **state)
{
    struct table t = { 0 };
    struct options none = options_default(), other = options_of("--prefetch l1");
    (void)state;
    *table_at(&t, &none) =
        (struct table_row){ .options = none, .time_ns = 100, .ran = true, .flags = "r" };
    *table_at(&t, &other) =
        (struct table_row){ .options = other, .time_ns = 20, .ran = true, .flags = "rs" };
    assert_true(table_gain(&t, table_at(&t, &other)) == 0);
    table_at(&t, &other)->whole_ns = 80;
    assert_float_equal(table_gain(&t, table_at(&t, &other)), 1.25, 1e-9);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(search_finds_what_the_reference_has),
                                        cmocka_unit_test(sampled_and_whole_times_make_no_gain) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
