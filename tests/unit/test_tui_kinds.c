/* One kind of time per comparison: a whole launch is never set against a sample of the CTAs, whole
 * launches go before samples, and what is from a sample says so. */
#include "engine/session/run.h"
#include "engine/tune/sweep.h"
#include "tests/support.h"

#include "engine/base/base.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/live.h"
#include "engine/search/tuner.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tests/terminal/stage.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"
#include "tui/view/view.h"

#include <math.h>

static struct result timed(int pi, int64_t ns, bool sampled)
{
    struct result r = result_empty();
    r.options = options_default();
    if (pi >= 0) {
        opt_bypass(&r.options)->level = BYPASS_L1;
        opt_bypass(&r.options)->pi.mode = PI_VALUE;
        opt_bypass(&r.options)->pi.value = pi;
    }
    r.time = (struct timing){
        .median = ns, .min = ns, .max = ns, .n = 1, .origin = ORIGIN_SIMULATED, .valid = true
    };
    r.sampled = sampled;
    r.equal = EQUAL_YES;
    return r;
}

/* Run 1: a sweep from samples, 1.50x. Run 2: a search whose original took 40 µs from a sample and 30 µs
 * whole; π=3 took 20 µs from a sample and 24 µs whole. Run 3: π=5 alone, 32 µs from a sample. */
struct scene {
    struct stage t;
    struct session_run sweep, search, one;
    struct result points[3], trail[4], ends[2], alone;
    struct tune_found found;
    struct tune_explored tried[4];
    struct tune_live live;
    const struct session_run *runs[3];
};

static void place(struct scene *s, struct session_run *r)
{
    const struct launch_spec *l = s->t.snap->spec;
    snprintf(r->kernel, sizeof r->kernel, "%s", s->t.snap->kernel);
    r->dev = s->t.snap->dev;
    r->grid = l->grid;
    r->block = l->block;
}

static void scene_open(struct scene *s)
{
    memset(s, 0, sizeof *s);
    stage_open(&s->t, SNAP_OPENED, 80, 24);
    s->points[0] = timed(0, 42000, true);
    s->points[1] = timed(1, 27000, true);
    s->points[2] = timed(2, 41000, true);
    s->ends[0] = result_empty();
    s->ends[1] = timed(-1, 40500, true);
    s->alone = timed(5, 32000, true);
    s->sweep = (struct session_run){ .kind = RUN_SWEEP,
                                     .sweep = { .axis = "pi",
                                                .bpa = &s->ends[0],
                                                .cha = &s->ends[1],
                                                .points = s->points,
                                                .npoints = 3,
                                                .best = 1,
                                                .has_best = true } };
    const struct result trail[] = { timed(-1, 40000, true), timed(3, 20000, true),
                                    timed(-1, 30000, false), timed(3, 24000, false) };
    memcpy(s->trail, trail, sizeof trail);
    s->found = (struct tune_found){ .original = &s->trail[2], .best = &s->trail[3] };
    s->search =
        (struct session_run){ .kind = RUN_TUNE, .trail = s->trail, .ntrail = 4, .found = &s->found };
    s->one = (struct session_run){ .kind = RUN_ONE, .one = &s->alone };
    for (size_t i = 0; i < 4; i++)
        s->tried[i] = (struct tune_explored){ .options = trail[i].options,
                                              .equal = EQUAL_YES,
                                              .time_ns = trail[i].time.median,
                                              .cost = NAN,
                                              .sampled = trail[i].sampled };
    s->live = (struct tune_live){ .original = &s->trail[2],
                                  .best = &s->trail[3],
                                  .options = trail[3].options,
                                  .explored = s->tried,
                                  .nexplored = 4 };
    place(s, &s->sweep), place(s, &s->search), place(s, &s->one);
    s->runs[0] = &s->sweep, s->runs[1] = &s->search, s->runs[2] = &s->one;
    s->t.snap->runs = s->runs;
    s->t.snap->nruns = 3;
    s->t.snap->search = &s->live;
    stage_frame(&s->t);
}

static void scene_close(struct scene *s)
{
    s->t.snap->runs = NULL;
    s->t.snap->nruns = 0;
    s->t.snap->search = NULL;
    stage_close(&s->t);
}

static void whole_goes_first(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s);
    stage_press(&s.t, "8");
    assert_true(stage_shows(&s.t, "Best so far: 1.25x faster (run 2, whole, outputs equal)"));
    s.search.deleted = true;
    stage_frame(&s.t);
    assert_true(stage_shows(&s.t, "Best so far: 1.50x faster"));
    assert_true(stage_shows(&s.t, "(run 1, sampled, outputs equal)"));
    scene_close(&s);
}

static void table_of_a_search(void **state)
{
    struct scene s;
    (void)state;
    scene_open(&s);
    stage_press(&s.t, "8");
    assert_true(stage_shows(&s.t, ", some sampled"));
    assert_true(stage_shows(&s.t, "24.0 µs           1.25x"));
    assert_true(stage_shows(&s.t, "20.0 µs sampled"));
    assert_false(stage_shows(&s.t, "20.0 µs sampled   2.00x")); /* the original is known whole */
    s.live.best = &s.trail[1]; /* the original is known whole, the best from a sample alone */
    s.t.snap->busy = true;
    s.t.snap->what = "tune";
    s.t.snap->doing = JOB_TUNE;
    stage_frame(&s.t);
    assert_true(stage_shows(&s.t, "best  20.0 µs simulated, sampled"));
    assert_false(stage_shows(&s.t, "vs the original"));
    scene_close(&s);
}

/* "Fastest so far" never rises, and sets no sample beside a whole launch. */
static void fastest_so_far(void **state)
{
    struct scene s;
    struct plot p;
    bool found = false;
    (void)state;
    scene_open(&s);
    stage_press(&s.t, "5");
    s.t.app.valley.run = 1;
    s.t.app.valley.metric = METRIC_TIME;
    valley_plot(&s.t.app, &p);
    for (unsigned k = 0; k < p.nseries; k++) {
        const struct plot_series *v = &p.series[k];
        if (strcmp(v->name, "fastest so far") != 0)
            continue;
        found = true;
        double before = NAN;
        for (size_t i = 0; i < v->n; i++) {
            assert_false(v->y[i] > before);
            before = isnan(v->y[i]) ? before : v->y[i];
        }
        assert_true(before == 24000);
    }
    assert_true(found);
    scene_close(&s);
}

/* A sign for each kind that has values; what has none stands at the foot and is said. */
static void signs_of_points(void **state)
{
    static const struct {
        enum plot_metric metric;
        const char *name;
    } row[] = { { METRIC_TIME, "sample  ◆ whole" }, { METRIC_SPEEDUP, "points  × sampled" } };
    struct scene s;
    struct plot p;
    (void)state;
    scene_open(&s);
    stage_press(&s.t, "5");
    s.t.app.valley.run = 1;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        s.t.app.valley.metric = row[i].metric;
        valley_plot(&s.t.app, &p);
        assert_string_equal(p.series[0].name, row[i].name);
        for (size_t k = 0; k < p.series[0].n; k++)
            assert_true(row[i].metric == METRIC_TIME || !p.series[0].whole[k]);
    }
    scene_close(&s);
}

static void gains_of_runs(void **state)
{
    struct scene s;
    struct buf b = { 0 };
    (void)state;
    scene_open(&s);
    run_line(&s.t.app, 2, &b); /* the original has run whole: a sample has no gain beside it */
    assert_string_equal(b.s, "run 3: 32.0 µs (sampled), equal ✓");
    assert_true(run_outdone(&s.t.app, 2));
    s.search.deleted = true;
    buf_clear(&b);
    run_line(&s.t.app, 2, &b);
    assert_string_equal(b.s, "run 3: 32.0 µs (sampled), 1.27x vs the original, equal ✓");
    s.search.deleted = false;
    buf_free(&b);
    /* a search that runs has found nothing yet: the fastest of its trail stands for it */
    struct result nothing = result_empty();
    s.found = (struct tune_found){ .original = &nothing, .best = &nothing };
    s.search.ntrail = 2;
    assert_ptr_equal(run_best(&s.search), &s.trail[1]);
    assert_ptr_equal(run_base(&s.t.app, 1), &s.trail[0]);
    scene_close(&s);
}

static void counters_compare(void **state)
{
    struct scene s;
    struct result nothing = result_empty();
    (void)state;
    scene_open(&s);
    stage_press(&s.t, "6");
    /* π=5 from a sample: against the original from a sample, 40 µs */
    assert_true(stage_shows(&s.t, "run 3"));
    assert_true(stage_shows(&s.t, "(sampled)"));
    assert_true(stage_shows(&s.t, "32.0 µs    40.0 µs     -20.0 %"));
    s.t.snap->nruns = 2;
    stage_frame(&s.t);
    /* a finished search shows its best, against the original timed whole */
    assert_true(stage_shows(&s.t, "result 8 of 8: run 2"));
    assert_true(stage_shows(&s.t, "24.0 µs    30.0 µs     -20.0 %"));
    s.search.ntrail = 3; /* its best is the whole launch alone */
    s.found.original = &nothing;
    s.found.best = &s.trail[1];
    stage_frame(&s.t);
    assert_true(stage_shows(&s.t, "20.0 µs    40.0 µs     -50.0 %"));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_goes_first), cmocka_unit_test(table_of_a_search),
        cmocka_unit_test(signs_of_points),  cmocka_unit_test(gains_of_runs),
        cmocka_unit_test(fastest_so_far),   cmocka_unit_test(counters_compare)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
