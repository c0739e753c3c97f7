/* Equality, votes and searches: what is accepted, what is recommended, and when it stops. */
#include "engine/dev/dev_pool.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/search/search.h"
#include "engine/tune/tune_int.h"

#include "tests/unit/sweep_one.h"
#include "tests/unit/tune_support.h"

#define FERMI "sim:fermi-16k"

static enum status search(struct rig *r, const char *method, unsigned budget, struct seen *seen,
                          struct tune_found *f)
{
    struct tune_search_opts o = { .method = method, .budget_launches = budget };
    struct tune_observer ob = seen ? seen_observer(seen) : (struct tune_observer){ 0 };
    return tune_search(r->bench, &o, &ob, f, &r->ds);
}

/* ---- one configuration ---- */
static void differing_outputs_are_not_equal(void **state)
{
    struct rig r;
    struct result one;
    struct options o = options_of("--bypass l1 --pi 3");
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.equal, EQUAL_YES);
    r.bench->serial = true;                  /* so the reference stays as it is: */
    r.bench->original->outputs[0].hash ^= 1; /* from here on the original "said" something else */
    r.bench->repeats = TUNE_REPEATS;
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.equal, EQUAL_NO);
    assert_non_null(strstr(one.message, "differs from the original's"));
    assert_false(tune_usable(&one));
    /* asked again, the original says otherwise: then the rewrite is not to blame */
    r.bench->repeats = TUNE_REPEATS_UNKNOWN;
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.equal, EQUAL_NO);
    assert_non_null(strstr(one.message, "from one launch of the original to the next"));
    rig_close(&r);
}

static void tolerance_forgives_so_much_and_no_more(void **state)
{
    struct rig r;
    struct result one;
    struct options o = options_default();
    float x;
    (void)state;
    rig_open(&r, "dot_atomic", "default", "sim:hopper-h200");
    assert_non_null(r.bench->expected->arg[2].bytes); /* argument `sum` states 1e-4 */
    r.bench->original->outputs[0].hash ^= 1;          /* the bits differ ... */
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.equal, EQUAL_WITHIN); /* ... the value does not */
    memcpy(&x, r.bench->expected->arg[2].bytes, 4);
    x *= 1.01f;
    memcpy(r.bench->expected->arg[2].bytes, &x, 4);
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.equal, EQUAL_NO);
    rig_close(&r);
}

static void refusal_is_a_result(void **state)
{
    struct rig r;
    struct result one;
    struct options o = options_of("--bypass l1 --pi 9");
    (void)state;
    rig_open(&r, "stride_4", NULL, FERMI);
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.status, ST_REFUSED);
    assert_true(one.message[0]);
    rig_close(&r);
}

static void vote_elects_and_says_so(void **state)
{
    struct rig r;
    struct result one, same;
    struct options o = options_of("--bypass l1 --pi vote");
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
    assert_int_equal(one.status, ST_OK);
    assert_int_equal(one.equal, EQUAL_YES);
    assert_true(one.voted > 0);
    assert_true(one.voted < 16); /* the valley's threshold lies inside */
    assert_int_equal(opt_bypass(&one.options)->pi.mode, PI_VALUE);
    assert_int_equal(opt_bypass(&one.options)->pi.value, one.voted);
    assert_non_null(strstr(one.message, "voted π="));
    /* what was elected, asked for by name, is the same run */
    o = one.options;
    assert_status_ok(tune_run_one(r.bench, &o, &same, &r.ds), &r.ds);
    assert_int_equal(same.time.median, one.time.median);
    rig_close(&r);
}

/* ---- searches ---- */
static void gain_is_reproduced_from_the_options_line(void **state)
{
    struct rig r;
    struct tune_found f;
    struct result again;
    struct options back;
    struct buf line = { 0 };
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    assert_status_ok(search(&r, "search", 12, NULL, &f), &r.ds);
    /* uncoalesced writes: another block shape helps */
    assert_false(f.leave_alone);
    assert_true(f.best->time.median < f.original->time.median);
    options_line(f.options, &line);
    back = options_of(line.s);
    assert_true(options_equal(&back, f.options));
    assert_status_ok(tune_run_one(r.bench, &back, &again, &r.ds), &r.ds);
    assert_int_equal(again.equal, EQUAL_YES);
    assert_int_equal(again.time.median, f.best->time.median);
    buf_free(&line);
    rig_close(&r);
    tune_found_clear(&f);
}

/* Every second configuration's outputs are made to differ while the search looks on. */
static struct rig *corrupted;
static void corrupt_and_note(void *ctx, const struct result *r, const char *why)
{
    corrupted->bench->original->outputs[0].hash ^= 1;
    seen_point(ctx, r, why);
}

static void what_differs_is_never_recommended(void **state)
{
    struct rig r;
    struct tune_found f;
    struct seen *seen = base_alloc(sizeof *seen);
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    corrupted = &r;
    struct tune_observer ob = { corrupt_and_note, NULL, seen, NULL, NULL };
    struct tune_search_opts o = { .method = "search", .budget_launches = 13 };
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    size_t differing = 0;
    for (size_t i = 0; i < seen->n; i++) {
        differing += seen->result[i].equal == EQUAL_NO;
        if (seen->result[i].equal == EQUAL_NO)
            assert_false(options_equal(&seen->result[i].options, f.options));
    }
    assert_true(differing >= 4);
    assert_int_not_equal(f.best->equal, EQUAL_NO);
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&f);
}

static void unstable_original_is_no_ground_to_stand_on(void **state)
{
    struct rig r;
    struct tune_found f;
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    r.bench->original->outputs[0].hash ^= 1;
    assert_int_not_equal(search(&r, "search", 5, NULL, &f), ST_OK);
    struct options none = options_default();
    assert_true(options_equal(f.options, &none));
    assert_true(r.ds.errors > 0);
    rig_close(&r);
    tune_found_clear(&f);
}

static void nothing_to_gain_is_left_alone_with_a_reason(void **state)
{
    struct rig r;
    struct tune_found f;
    struct options none = options_default();
    (void)state;
    rig_open(&r, "same_location", NULL, FERMI);
    assert_status_ok(search(&r, "static", 0, NULL, &f), &r.ds);
    assert_true(f.leave_alone);
    assert_true(options_equal(f.options, &none));
    assert_int_equal(f.best->time.median, f.original->time.median);
    assert_non_null(strstr(f.reason, "nothing tried beats the original"));
    rig_close(&r);
    tune_found_clear(&f);
}

static void budget_and_cancel_are_obeyed(void **state)
{
    struct rig r;
    struct tune_found f;
    struct seen *seen = base_alloc(sizeof *seen);
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    assert_status_ok(search(&r, "search", 6, seen, &f), &r.ds);
    assert_int_equal(f.launches, 6); /* the original's and five others */
    assert_int_equal(seen->n, 6);
    for (size_t i = 0; i < seen->n; i++)
        assert_true(seen->why[i][0]);
    memset(seen, 0, sizeof *seen);
    seen->cancel_after = 3;
    assert_int_equal(search(&r, "search", 0, seen, &f), ST_CANCELLED);
    assert_int_equal(seen->n, 3);
    assert_true(f.original->time.valid);
    assert_true(f.best->time.valid);
    assert_true(f.reason[0]);
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&f);
}

static void search_goes_on_where_it_was_cut_off(void **state)
{
    struct rig r;
    struct tune_found cut, rest, whole;
    struct seen *seen = base_alloc(sizeof *seen);
    (void)state;
    rig_open(&r, "gemm", "paper", FERMI);
    seen->cancel_after = 6;
    assert_int_equal(search(&r, "search", 0, seen, &cut), ST_CANCELLED);
    struct tune_search_opts o = {
        .method = "search", .budget_launches = 4, .done = seen->result, .ndone = seen->n
    };
    assert_status_ok(tune_search(r.bench, &o, NULL, &rest, &r.ds), &r.ds);
    assert_int_equal(rest.resumed, 6);
    assert_int_equal(rest.launches, 4); /* none of them again */
    assert_status_ok(search(&r, "search", 10, NULL, &whole), &r.ds);
    assert_true(options_equal(rest.options, whole.options));
    assert_int_equal(rest.best->time.median, whole.best->time.median);
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&cut);
    tune_found_clear(&rest);
    tune_found_clear(&whole);
}

static void pool_finds_the_same(void **state)
{
    static const char *const members[] = { FERMI, FERMI };
    struct rig r;
    struct tune_found alone, shared;
    struct dev_pool *pool = NULL;
    struct dev_env env = rig_env();
    (void)state;
    rig_open(&r, "gemm", "paper", FERMI);
    assert_status_ok(search(&r, "static", 0, NULL, &alone), &r.ds);
    assert_status_ok(dev_pool_open(members, 2, &env, &pool, &r.ds), &r.ds);
    tune_bench_use_pool(r.bench, pool);
    assert_status_ok(search(&r, "static", 0, NULL, &shared), &r.ds);
    assert_int_equal(shared.launches, alone.launches);
    assert_int_equal(shared.best->time.median, alone.best->time.median);
    assert_true(options_equal(shared.options, alone.options));
    assert_status_ok(search(&r, "static", 5, NULL, &shared), &r.ds);
    assert_int_equal(shared.launches, 5);
    tune_bench_use_pool(r.bench, NULL);
    dev_pool_close(pool);
    rig_close(&r);
    tune_found_clear(&alone);
    tune_found_clear(&shared);
}

/* The same launches over a pool, and nothing of a cut-off search again. */
static void pool_searches_and_resumes_like_one_device(void **state)
{
    static const char *const members[] = { FERMI, FERMI };
    struct rig r;
    struct tune_found alone, shared, rest;
    struct dev_pool *pool = NULL;
    struct dev_env env = rig_env();
    struct seen *seen = base_alloc(sizeof *seen);
    (void)state;
    rig_open(&r, "gemm", "paper", FERMI);
    assert_status_ok(search(&r, "search", 16, NULL, &alone), &r.ds);
    assert_status_ok(dev_pool_open(members, 2, &env, &pool, &r.ds), &r.ds);
    tune_bench_use_pool(r.bench, pool);
    assert_status_ok(search(&r, "search", 16, seen, &shared), &r.ds);
    assert_int_equal(shared.launches, alone.launches);
    assert_true(options_equal(shared.options, alone.options));
    struct tune_search_opts o = {
        .method = "search", .budget_launches = 4, .done = seen->result, .ndone = 12
    };
    assert_status_ok(tune_search(r.bench, &o, NULL, &rest, &r.ds), &r.ds);
    assert_int_equal(rest.resumed, 12);
    assert_int_equal(rest.launches, 4);
    assert_true(options_equal(rest.options, alone.options));
    tune_bench_use_pool(r.bench, NULL);
    dev_pool_close(pool);
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&alone);
    tune_found_clear(&shared);
    tune_found_clear(&rest);
}

/* A measured device: original and best are measured twice more, in turn, before anything is said of
 * them. */
static void arms_are_alternated_on_a_measured_device(void **state)
{
    struct rig r;
    struct tune_found f;
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    ((struct dev_info *)(uintptr_t)dev_describe(r.dev))->kind = DEV_CUDA;
    assert_status_ok(search(&r, "search", 6, NULL, &f), &r.ds);
    /* one launch each: a simulated device needs no more */
    assert_int_equal(f.original->time.n, 3);
    assert_int_equal(f.best->time.n, 3);
    assert_false(f.leave_alone);
    rig_close(&r);
    tune_found_clear(&f);
}

/* A reader sees the whole state: what was tried and why, what is next, the best. */
struct watched {
    size_t calls, explored, frontier;
    bool named, best_shrinks, ordered;
    int64_t best;
};
static void watch(void *ctx, const struct tune_live *l)
{
    struct watched *w = ctx;
    struct tune_live *copy = tune_live_copy(l);
    assert_non_null(copy);
    w->calls++;
    w->ordered = w->ordered && copy->nexplored >= w->explored;
    w->explored = copy->nexplored;
    w->frontier = copy->nfrontier > w->frontier ? copy->nfrontier : w->frontier;
    w->named = w->named && copy->step && copy->step[0];
    for (size_t i = 0; i < copy->nfrontier; i++)
        w->named = w->named && copy->frontier[i].why[0];
    for (size_t i = 0; i < copy->nexplored; i++)
        w->named = w->named && copy->explored[i].why[0];
    if (copy->best->time.valid)
        w->best_shrinks = w->best_shrinks && (!w->best || copy->best->time.median <= w->best);
    w->best = copy->best->time.valid ? copy->best->time.median : 0;
    tune_live_free(copy);
}

static void live_state_is_whole(void **state)
{
    struct rig r;
    struct tune_found f;
    struct watched w = { .named = true, .best_shrinks = true, .ordered = true };
    struct tune_observer ob = { .live = watch, .ctx = &w };
    struct tune_search_opts o = { .method = "search", .budget_launches = 12 };
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    assert_true(w.calls > 12);
    assert_true(w.frontier > 1);
    assert_true(w.named);
    assert_true(w.ordered);
    assert_int_equal(w.explored, f.launches);
    assert_true(f.untried[0]); /* twelve launches are not enough for all of it */
    rig_close(&r);
    tune_found_clear(&f);
}

/* How far a search is said to be: less than nine tenths with tries left, more once it is proven, never less than
 * before. */
struct distance {
    double done;
    unsigned calls, planned;
    bool proven;
};
static void follow(void *ctx, const struct tune_live *l)
{
    struct distance *d = ctx;
    bool proof = strcmp(l->step, "proof") == 0;
    assert_true(l->done >= d->done);
    assert_true(isnan(l->left_s) == (l->done == 0));
    d->done = l->done;
    d->calls += l->done > 0;
    d->proven |= proof;
    if (proof || !d->planned)
        assert_true(proof ? l->done > 0.9 : l->done <= 0.9);
    else /* the original has run, and so many */
        assert_true(fabs(l->done - 0.9 * l->launches / d->planned) < 0.0001 || l->done == 0.9);
}

static void progress_counts_what_is_left(void **state)
{
    static const struct {
        const char *method;
        unsigned budget, planned;
    } row[] = { { "search", 12, 12 }, { "search", 0, 0 }, { "exhaustive", 9, 9 }, { "static", 0, 0 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(row); i++) {
        struct rig r;
        struct tune_found f;
        struct distance d = { .planned = row[i].planned };
        struct tune_observer ob = { .live = follow, .ctx = &d };
        struct tune_search_opts o = { .method = row[i].method, .budget_launches = row[i].budget };
        rig_open(&r, "transpose", "default", FERMI);
        assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
        assert_true(d.calls > d.planned / 2);
        assert_int_equal(d.proven, !f.leave_alone);
        rig_close(&r);
        tune_found_clear(&f);
    }
}

/* cluster paper, 4.4: redirection and L1 off on a reduced grid first; what shares data between CTAs then
 * gets agents. */
static void framework_probes_a_reduced_grid_before_it_chooses(void **state)
{
    struct rig r;
    struct tune_found f;
    unsigned x, y, z, gx, gy, gz;
    struct seen *seen = base_alloc(sizeof *seen);
    (void)state;
    rig_open(&r, "tile_share", "default", "sim:hopper-h200");
    assert_status_ok(search(&r, "cluster-framework", 12, seen, &f), &r.ds);
    assert_int_equal(sscanf(f.probed, "probed on %ux%ux%u of %ux%ux%u CTAs", &x, &y, &z, &gx, &gy, &gz),
                     6);
    assert_int_equal(gx * gy * gz, dim3u_count(r.launch->grid));
    assert_true(x * y * z <= gx * gy * gz);
    assert_true(seen->n >= 2);
    assert_true(f.launches <= 12);
    /* its times come from samples: two launches of the budget were kept for that */
    assert_int_equal(f.whole, 2);
    assert_false(f.best->sampled);
    assert_int_equal(f.launches, seen->n);
    for (size_t i = 0; i < seen->n;
         i++) /* the original, three probes, which are no results, then configurations */
        assert_int_equal(seen->result[i].probe_ctas, i >= 1 && i <= 3 ? x * y * z : 0);
    assert_false(tune_usable(&seen->result[1]));
    assert_int_not_equal(opt_cluster(&seen->result[4].options)->kind, CLUSTER_NONE);
    /* taken up again, nothing is launched twice, the probes neither */
    struct tune_found again;
    struct tune_search_opts o = { .method = "cluster-framework",
                                  .budget_launches = 12,
                                  .done = seen->result,
                                  .ndone = seen->n,
                                  .probes = &seen->result[1],
                                  .nprobes = 3,
                                  .replay = true };
    assert_status_ok(tune_search(r.bench, &o, NULL, &again, &r.ds), &r.ds);
    assert_int_equal(again.launches, 0);
    assert_string_equal(again.probed, f.probed);
    assert_true(options_equal(again.options, f.options));
    rig_close(&r);
    rig_open(&r, "gemm", "paper", FERMI); /* 16 CTAs: less than two waves, the whole grid */
    assert_status_ok(search(&r, "cluster-framework", 5, NULL, &f), &r.ds);
    assert_non_null(strstr(f.probed, "probed on 2x8x1 of 2x8x1 CTAs"));
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&f);
    tune_found_clear(&again);
}

static void unknown_method_is_wrong_usage(void **state)
{
    struct rig r;
    struct tune_found f;
    (void)state;
    rig_open(&r, "stride_4", NULL, FERMI);
    assert_int_equal(search(&r, "magic", 0, NULL, &f), ST_USAGE);
    assert_true(support_said(&r.ds, "no method 'magic'"));
    rig_close(&r);
    tune_found_clear(&f);
}

static void vote_is_cheap_and_static_finds_the_sweeps_best(void **state)
{
    struct rig r;
    struct tune_found all, voted;
    struct tune_sweep s;
    struct options base = options_default();
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    assert_status_ok(search(&r, "voted", 0, NULL, &voted), &r.ds);
    assert_false(voted.leave_alone);
    assert_true(voted.launches <= 3);
    rig_close(&r);
    rig_open(&r, "gemm", "paper", FERMI);
    assert_status_ok(search(&r, "static", 0, NULL, &all), &r.ds);
    assert_status_ok(sweep_one(r.bench, "pi", &base, NULL, NULL, 0, &s, &r.ds), &r.ds);
    /* A later threshold displaces an earlier one only when it is faster by more than the noise. */
    assert_true((double)all.best->time.median <= (double)tune_sweep_best(&s)->time.median * 1.005);
    assert_true(all.launches > s.warps - 2); /* no_allocate is no operator before sm_70 */
    tune_sweep_free(&s);
    rig_close(&r);
    tune_found_clear(&all);
    tune_found_clear(&voted);
}

/* Where the fastest falls before the proof, the next one that gains stands in its place. */
static void next_is_the_fastest_that_did_not_fall(void **state)
{
    static const double gains[] = { 1.0, 1.4, 1.9, 1.6, 0.8, 2.5 };
    struct seen_result *seen = base_alloc(ARRAY_LEN(gains) * sizeof *seen);
    struct tune_found *found = base_alloc(sizeof *found);
    struct searching *s = base_alloc(sizeof *s);
    struct options fell[2];
    struct result result[ARRAY_LEN(gains)];
    (void)state;
    *s = (struct searching){ .seen = seen, .nseen = ARRAY_LEN(gains), .found = found };
    assert_true(tune_found_room(found));
    for (size_t i = 0; i < ARRAY_LEN(gains); i++) {
        seen[i].gain = gains[i];
        result[i] = result_empty();
        seen[i].result = &result[i];
        result[i].time.valid = true;
        result[i].options = options_default();
        opt_cluster(&result[i].options)->clusters = (int)i;
    }
    result[5].equal = EQUAL_NO; /* it is the fastest, and another kernel */
    fell[0] = result[2].options;
    fell[1] = result[3].options;
    assert_ptr_equal(search_next(s, fell, 0), &result[2]);
    assert_ptr_equal(search_next(s, fell, 1), &result[3]);
    assert_ptr_equal(search_next(s, fell, 2), &result[1]);
    result[1].sampled = true; /* not timed as the original was */
    assert_null(search_next(s, fell, 2));
    base_free(seen);
    tune_found_clear(found);
    base_free(found);
    base_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(differing_outputs_are_not_equal),
        cmocka_unit_test(tolerance_forgives_so_much_and_no_more),
        cmocka_unit_test(refusal_is_a_result),
        cmocka_unit_test(vote_elects_and_says_so),
        cmocka_unit_test(gain_is_reproduced_from_the_options_line),
        cmocka_unit_test(what_differs_is_never_recommended),
        cmocka_unit_test(unstable_original_is_no_ground_to_stand_on),
        cmocka_unit_test(nothing_to_gain_is_left_alone_with_a_reason),
        cmocka_unit_test(budget_and_cancel_are_obeyed),
        cmocka_unit_test(search_goes_on_where_it_was_cut_off),
        cmocka_unit_test(pool_finds_the_same),
        cmocka_unit_test(framework_probes_a_reduced_grid_before_it_chooses),
        cmocka_unit_test(unknown_method_is_wrong_usage),
        cmocka_unit_test(pool_searches_and_resumes_like_one_device),
        cmocka_unit_test(arms_are_alternated_on_a_measured_device),
        cmocka_unit_test(live_state_is_whole),
        cmocka_unit_test(progress_counts_what_is_left),
        cmocka_unit_test(next_is_the_fastest_that_did_not_fall),
        cmocka_unit_test(vote_is_cheap_and_static_finds_the_sweeps_best),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
