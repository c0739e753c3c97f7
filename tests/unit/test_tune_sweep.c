/* Sweeps on the simulated device: points, ends, resume, cancel, pool; the judgement of curves. */
#include "engine/dev/dev_pool.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_schedule.h"
#include "engine/tune/tune_int.h"

#include "tests/unit/sweep_one.h"
#include "tests/unit/tune_support.h"

#define FERMI "sim:fermi-16k"

static void sweep(struct rig *r, const char *axis, const char *base, struct tune_sweep *s)
{
    struct options o = options_of(base);
    assert_status_ok(sweep_one(r->bench, axis, &o, NULL, NULL, 0, s, &r->ds), &r->ds);
}

static void has_all_points_and_both_ends(void **state)
{
    struct rig r;
    struct tune_sweep s;
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    sweep(&r, "pi", "", &s);
    assert_true(s.complete);
    assert_int_equal(s.warps, 8);
    assert_int_equal(s.npoints, 9);
    for (size_t i = 0; i < s.npoints; i++) {
        assert_int_equal(opt_bypass(&s.points[i].options)->pi.value, i);
        assert_int_equal(opt_bypass(&s.points[i].options)->level, BYPASS_L1);
        assert_int_equal(s.points[i].status, ST_OK);
        assert_int_equal(s.points[i].equal, EQUAL_YES);
        assert_true(s.points[i].time.valid);
        assert_true(s.points[i].time.median > 0);
    }
    assert_int_equal(opt_bypass(&s.bpa->options)->pi.mode, PI_BPA);
    assert_int_equal(opt_bypass(&s.cha->options)->pi.mode, PI_CHA);
    /* The ends of the curve run the same loads as bpa and cha and the threshold test besides. */
    assert_true(s.overhead_bpa >= 1);
    assert_true(s.overhead_bpa < 1.5);
    assert_true(s.overhead_cha >= 1);
    assert_true(s.overhead_cha < 1.5);
    assert_float_equal(s.overhead_bpa, (double)s.points[0].time.median / (double)s.bpa->time.median,
                       1e-12);
    assert_true(s.has_best);
    const struct result *best = tune_sweep_best(&s);
    for (size_t i = 0; i < s.npoints;
         i++) /* nothing on the curve is faster by more than what counts as equal */
        assert_true((double)best->time.median <=
                    (double)s.points[i].time.median * (1 + s.curve.significance) + 1);
    tune_sweep_free(&s);
    rig_close(&r);
}

static void valley_is_cache_congested(void **state)
{
    struct rig r;
    struct tune_sweep s;
    struct buf verdict = { 0 };
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    sweep(&r, "pi", "", &s);
    assert_int_equal(s.curve.category, CATEGORY_CACHE_CONGESTED);
    assert_true(s.best > 0);
    assert_true(s.best < s.warps);
    assert_true(s.fit.valid);
    tune_verdict(&s, &verdict);
    assert_non_null(strstr(verdict.s, "cache-congested: π="));
    buf_free(&verdict);
    tune_sweep_free(&s);
    rig_close(&r);
}

static void other_axes_name_their_points(void **state)
{
    struct rig r;
    struct tune_sweep s;
    struct options none = options_default();
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    sweep(&r, "block", "", &s);
    assert_int_equal(s.npoints, 9); /* 1x256 ... 256x1 */
    for (size_t i = 0; i < s.npoints; i++)
        assert_int_equal(opt_schedule(&s.points[i].options)->block.x *
                             opt_schedule(&s.points[i].options)->block.y,
                         256);
    tune_sweep_free(&s);
    assert_int_equal(sweep_one(r.bench, "moon", &none, NULL, NULL, 0, &s, &r.ds), ST_USAGE);
    assert_true(support_said(&r.ds, "no axis 'moon'"));
    tune_sweep_free(&s);
    rig_close(&r);
}

static void goes_on_where_it_was_cut_off(void **state)
{
    struct rig r;
    struct tune_sweep cut, rest, whole;
    struct seen *seen = base_alloc(sizeof *seen);
    struct options o = options_default();
    (void)state;
    seen->cancel_after = 5;
    struct tune_observer ob = seen_observer(seen);
    rig_open(&r, "conv2d", "paper", FERMI);
    assert_int_equal(sweep_one(r.bench, "pi", &o, &ob, NULL, 0, &cut, &r.ds), ST_CANCELLED);
    assert_false(cut.complete);
    assert_int_equal(cut.npoints, 3); /* after bpa and cha */
    assert_true(cut.has_best);
    struct result done[5];
    memcpy(done, cut.points, 3 * sizeof *done);
    done[3] = *cut.bpa;
    done[4] = *cut.cha;
    unsigned before = r.bench->launches;
    assert_status_ok(sweep_one(r.bench, "pi", &o, NULL, done, 5, &rest, &r.ds), &r.ds);
    assert_int_equal(r.bench->launches - before, 6); /* nine points less three; both ends were there */
    sweep(&r, "pi", "", &whole);
    assert_true(rest.complete);
    for (size_t i = 0; i < whole.npoints; i++)
        assert_int_equal(rest.points[i].time.median, whole.points[i].time.median);
    tune_sweep_free(&cut);
    tune_sweep_free(&rest);
    tune_sweep_free(&whole);
    base_free(seen);
    rig_close(&r);
}

static void pool_gives_the_same_results(void **state)
{
    static const char *const members[] = { FERMI, FERMI };
    struct rig r;
    struct tune_sweep alone, shared;
    struct dev_pool *pool = NULL;
    struct dev_env env = rig_env();
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    sweep(&r, "pi", "", &alone);
    assert_status_ok(dev_pool_open(members, 2, &env, &pool, &r.ds), &r.ds);
    tune_bench_use_pool(r.bench, pool);
    sweep(&r, "pi", "", &shared);
    assert_int_equal(shared.npoints, alone.npoints);
    assert_int_equal(shared.best, alone.best);
    assert_int_equal(shared.bpa->time.median, alone.bpa->time.median);
    assert_int_equal(shared.cha->time.median, alone.cha->time.median);
    for (size_t i = 0; i < alone.npoints; i++) {
        assert_int_equal(shared.points[i].time.median, alone.points[i].time.median);
        assert_int_equal(shared.points[i].equal, EQUAL_YES);
        assert_true(options_equal(&shared.points[i].options, &alone.points[i].options));
    }
    tune_sweep_free(&alone);
    tune_sweep_free(&shared);
    tune_bench_use_pool(r.bench, NULL);
    dev_pool_close(pool);
    rig_close(&r);
}

/* ---- judging, without a device: curves made by hand ---- */
static struct result at(int64_t ns, enum equality equal)
{
    struct result r = result_empty();
    r.time = (struct timing){ .median = ns, .min = ns, .max = ns, .n = 1, .valid = true };
    r.equal = equal;
    return r;
}

static void judge(struct tune_sweep *s, struct result *points, struct result *ends, const int64_t *ns,
                  size_t n)
{
    static const struct dev_info dev = { .sms = 4,
                                         .warp_size = 32,
                                         .max_warps_per_sm = 32,
                                         .l1_bytes = 16384,
                                         .lat_l1 = 30,
                                         .lat_l2 = 200,
                                         .lat_dram = 500 };
    memset(s, 0, sizeof *s);
    ends[0] = at(ns[0], EQUAL_YES);
    ends[1] = at(ns[n - 1], EQUAL_YES);
    for (size_t i = 0; i < n; i++)
        points[i] = at(ns[i], EQUAL_YES);
    *s = (struct tune_sweep){ .axis = "pi",
                              .points = points,
                              .npoints = n,
                              .complete = true,
                              .warps = (uint32_t)n - 1,
                              .bpa = &ends[0],
                              .cha = &ends[1] };
    tune_sweep_judge(s, &dev, 128);
}

static void categories_of_plain_curves(void **state)
{
    static const struct {
        int64_t ns[5];
        enum model_category c;
        size_t best;
    } rows[] = {
        { { 1000, 1100, 1200, 1300, 1400 }, CATEGORY_BYPASS_FAVOURITE, 0 },
        { { 1400, 1300, 1200, 1100, 1000 }, CATEGORY_CACHE_FAVOURITE, 4 },
        { { 1400, 1200, 1000, 1300, 1500 }, CATEGORY_CACHE_CONGESTED, 2 },
        { { 1000, 1001, 1000, 1001, 1000 }, CATEGORY_CACHE_INSENSITIVE, 0 },
    };
    struct result points[5], ends[2];
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tune_sweep s;
        judge(&s, points, ends, rows[i].ns, 5);
        assert_int_equal(s.curve.category, rows[i].c);
        assert_int_equal(s.best, rows[i].best);
    }
}

/* The fastest point of the curve, but its outputs differ: it is not on the curve at all. */
static void wrong_results_do_not_compete(void **state)
{
    static const int64_t ns[5] = { 1400, 1200, 500, 1300, 1500 };
    struct result points[5], ends[2];
    struct tune_sweep s;
    (void)state;
    judge(&s, points, ends, ns, 5);
    assert_int_equal(s.best, 2);
    points[2].equal = EQUAL_NO;
    tune_sweep_judge(&s, &(struct dev_info){ .sms = 4, .max_warps_per_sm = 32 }, 128);
    assert_int_equal(s.best, 1);
    for (size_t i = 0; i < 5; i++)
        points[i].equal = EQUAL_NO;
    s.bpa->equal = s.cha->equal = EQUAL_NO;
    tune_sweep_judge(&s, &(struct dev_info){ .sms = 4, .max_warps_per_sm = 32 }, 128);
    assert_false(s.has_best);
    assert_null(tune_sweep_best(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_all_points_and_both_ends), cmocka_unit_test(valley_is_cache_congested),
        cmocka_unit_test(other_axes_name_their_points), cmocka_unit_test(goes_on_where_it_was_cut_off),
        cmocka_unit_test(pool_gives_the_same_results),  cmocka_unit_test(categories_of_plain_curves),
        cmocka_unit_test(wrong_results_do_not_compete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
