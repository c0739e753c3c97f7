/* Several axes at once: what the slices are, that each is the sweep it would be alone, and what is no
 * axis. */
#include "engine/dev/dev_pool.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/result.h"
#include "tests/unit/sweep_one.h"
#include "tests/unit/tune_support.h"

#define FERMI "sim:fermi-16k"

static void run(struct rig *r, const char *axes, struct tune_family *f)
{
    struct options none = options_default();
    assert_status_ok(tune_family_list(r->bench, axes, &none, f, &r->ds), &r->ds);
    assert_status_ok(tune_family_run(r->bench, f, NULL, NULL, 0, &r->ds), &r->ds);
}

static void same_sweep(const struct tune_sweep *a, const struct tune_sweep *b)
{
    assert_int_equal(a->npoints, b->npoints);
    assert_int_equal(a->bpa->time.median, b->bpa->time.median);
    assert_int_equal(a->cha->time.median, b->cha->time.median);
    for (size_t i = 0; i < a->npoints; i++) {
        assert_true(options_equal(&a->points[i].options, &b->points[i].options));
        assert_int_equal(a->points[i].time.median, b->points[i].time.median);
        assert_int_equal(a->points[i].equal, b->points[i].equal);
    }
}

static void slices_are_sweeps_of_their_own(void **state)
{
    static const int carveout[] = { 0, 0, 100, 100 };
    static const int op[] = { BYPASS_OP_CG, BYPASS_OP_CS, BYPASS_OP_CG, BYPASS_OP_CS };
    struct rig r;
    struct tune_family f;
    (void)state;
    rig_open(&r, "conv2d", "paper", "sim:kepler-k80");
    run(&r, "pi,carveout=0/100,bypass-op=cg/cs", &f);
    assert_int_equal(f.naxes, 3);
    assert_string_equal(f.axis[1], "carveout");
    assert_int_equal(f.n, 4);
    assert_true(f.complete);
    assert_int_equal(f.nslots, 4 * (2 + 9));
    for (size_t i = 0; i < f.n; i++) {
        struct tune_sweep alone;
        assert_int_equal(opt_occupancy(&f.base[i])->carveout, carveout[i]);
        assert_int_equal(opt_bypass(&f.base[i])->op, op[i]);
        assert_status_ok(sweep_one(r.bench, "pi", &f.base[i], NULL, NULL, 0, &alone, &r.ds), &r.ds);
        same_sweep(&f.slice[i].sweep, &alone);
        assert_int_equal(tune_family_slice(&f, &alone.points[3].options), i);
        assert_int_equal(tune_family_slice(&f, &alone.bpa->options), i);
        tune_sweep_free(&alone);
        if (f.slice[i].sweep.has_best)
            assert_true(tune_sweep_best(&f.slice[f.best].sweep)->time.median <=
                        tune_sweep_best(&f.slice[i].sweep)->time.median);
    }
    assert_true(f.has_best);
    tune_family_free(&f);
    rig_close(&r);
}

/* The values of a listed axis stand where they belong: overheads and the place of the best by threshold,
 * not by index. */
static void listed_values(void **state)
{
    struct rig r;
    struct tune_family f;
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    run(&r, "pi=2..4/8", &f);
    const struct tune_sweep *s = &f.slice[0].sweep;
    static const int want[] = { 2, 3, 4, 8 };
    assert_int_equal(f.n, 1);
    assert_int_equal(s->npoints, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(opt_bypass(&s->points[i].options)->pi.value, want[i]);
    assert_true(isnan(s->overhead_bpa));
    assert_float_equal(s->overhead_cha, (double)s->points[3].time.median / (double)s->cha->time.median,
                       1e-12);
    tune_family_free(&f);
    run(&r, "throttle-shared=0/1024,swap-xy", &f);
    assert_int_equal(f.n, 2);
    assert_string_equal(f.slice[0].sweep.axis, "throttle-shared");
    assert_int_equal(opt_occupancy(&f.slice[0].sweep.points[1].options)->throttle_shared, 1024);
    assert_true(opt_schedule(&f.base[1])->swap_xy);
    assert_true(!opt_schedule(&f.base[0])->swap_xy);
    tune_family_free(&f);
    rig_close(&r);
}

static void what_is_no_axis(void **state)
{
    static const struct {
        const char *axes, *said;
    } bad[] = {
        { "moon", "no axis 'moon'" },
        { "pi,pi", "'pi' is given twice" },
        { "coarsen", "axis 'coarsen' needs its values" },
        { "pi=99", "'99' is not allowed" },
        { "coarsen=4..1", "is not a range" },
        { "pi,carveout,bypass-op,swap-xy,coarsen=1", "at most 4 axes" },
        { "maxnreg=0..200", "more than 66 values" },
    };
    struct rig r;
    struct options none = options_default();
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct tune_family f;
        struct diags ds = { 0 };
        assert_int_equal(tune_family_list(r.bench, bad[i].axes, &none, &f, &ds), ST_USAGE);
        if (!support_said(&ds, bad[i].said))
            fail_msg("'%s' was not said of %s but %s", bad[i].said, bad[i].axes,
                     ds.n ? ds.v[0].msg : "nothing");
        tune_family_free(&f);
        diags_free(&ds);
    }
    rig_close(&r);
}

/* A cut-off family goes on: nothing that is done is launched again, whatever the pool. */
static void goes_on_over_a_pool(void **state)
{
    static const char *const members[] = { FERMI, FERMI };
    struct rig r;
    struct tune_family f, rest;
    struct dev_pool *pool = NULL;
    struct dev_env env = rig_env();
    struct options none = options_default();
    struct result done[40];
    size_t n = 0;
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    run(&r, "pi,carveout=0/100", &f);
    for (size_t i = 0; i < f.slice[0].sweep.npoints; i++)
        done[n++] = f.slice[0].sweep.points[i];
    assert_status_ok(dev_pool_open(members, 2, &env, &pool, &r.ds), &r.ds);
    tune_bench_use_pool(r.bench, pool);
    struct seen *seen = base_alloc(sizeof *seen);
    struct tune_observer ob = seen_observer(seen);
    assert_status_ok(tune_family_list(r.bench, "pi,carveout=0/100", &none, &rest, &r.ds), &r.ds);
    assert_status_ok(tune_family_run(r.bench, &rest, &ob, done, n, &r.ds), &r.ds);
    assert_int_equal(seen->n, f.nslots - n);
    for (size_t i = 0; i < f.n; i++)
        same_sweep(&f.slice[i].sweep, &rest.slice[i].sweep);
    tune_family_free(&f);
    tune_family_free(&rest);
    tune_bench_use_pool(r.bench, NULL);
    dev_pool_close(pool);
    base_free(seen);
    rig_close(&r);
}

/* A vote decides what is launched next: over a pool it is held on one device, and means the same. */
static void votes_over_a_pool(void **state)
{
    static const char *const members[] = { FERMI, FERMI };
    struct rig r;
    struct tune_sweep alone, shared;
    struct dev_pool *pool = NULL;
    struct dev_env env = rig_env();
    struct options o = options_of("--bypass l1 --pi vote");
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    assert_status_ok(sweep_one(r.bench, "swap-xy", &o, NULL, NULL, 0, &alone, &r.ds), &r.ds);
    assert_true(alone.points[0].voted >= 0);
    assert_status_ok(dev_pool_open(members, 2, &env, &pool, &r.ds), &r.ds);
    tune_bench_use_pool(r.bench, pool);
    assert_status_ok(sweep_one(r.bench, "swap-xy", &o, NULL, NULL, 0, &shared, &r.ds), &r.ds);
    assert_int_equal(shared.points[0].voted, alone.points[0].voted);
    same_sweep(&alone, &shared);
    tune_sweep_free(&alone);
    tune_sweep_free(&shared);
    tune_bench_use_pool(r.bench, NULL);
    dev_pool_close(pool);
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_sweeps_of_their_own),
        cmocka_unit_test(listed_values),
        cmocka_unit_test(what_is_no_axis),
        cmocka_unit_test(goes_on_over_a_pool),
        cmocka_unit_test(votes_over_a_pool),
    };
    return cmocka_run_group_tests_name("families of sweeps", tests, NULL, NULL);
}
