/* The memory-cost model as predictor: its counts by hand, its ranking against simulated time, what it
 * will not say; searches that use it; other data sets; advice after trying. */
#include "engine/pass/pass.h"
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/search/advice.h"
#include "engine/search/gain_record.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"
#include "tests/unit/tune_support.h"

#define FERMI "sim:fermi-16k"

static struct tune_prediction predict(struct rig *r, const char *line)
{
    struct tune_prediction p;
    struct options o = options_of(line);
    assert_int_equal(tune_predict(r->bench, &o, &p), ST_OK);
    return p;
}

/* 32 CTAs of 2 warps. stride_4: lane l reads word 4*l, so a warp's request spans 4 lines;
 * same_location: 1. */
static void counts_are_those_of_the_addresses(void **state)
{
    static const struct {
        const char *kernel;
        double lines_per_request;
    } rows[] = { { "stride_4", 4 }, { "same_location", 1 }, { "coalescing", 1 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct rig r;
        rig_open(&r, rows[i].kernel, NULL, "sim:hopper-h200");
        struct tune_prediction p = predict(&r, "");
        assert_true(p.valid);
        double requests = 0; /* warp-level executions of all global loads */
        for (uint32_t k = 0; k < r.facts->naccess; k++)
            if (!r.facts->access[k].store && r.facts->access[k].space == PTX_SPACE_GLOBAL)
                requests += r.facts->access[k].executions;
        assert_true(requests >= 64);
        assert_float_equal(p.in.loads, requests * rows[i].lines_per_request, 1e-6);
        assert_true(p.in.m1 >= 0);
        assert_true(p.in.m1 <= 1);
        assert_true(p.in.m2 >= 0);
        assert_true(p.in.m2 <= 1);
        /* the paper's figure is the sum of its parts, ours no less than any of its bounds */
        assert_float_equal(p.cost.paper, p.cost.l1 + p.cost.l2 + p.cost.dram, 1e-6);
        assert_true(p.cost.extended >= p.cost.latency);
        assert_true(p.cost.extended >= p.cost.bound_l1);
        assert_true(p.cost.extended >= p.cost.bound_l2);
        assert_true(p.cost.extended >= p.cost.bound_dram);
        rig_close(&r);
    }
}

/* Loads whose addresses are what a launch before left (a linked chain, neighbours of graph nodes) are
 * followed where they really go, whatever the mapping: the launches before are executed once for all of
 * them. */
static void launches_before_have_left_their_data(void **state)
{
    static const char *const name[] = { "f_chain", "f_triangles" };
    static const char *const mapping[] = { "", "--cluster redirect" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(name); i++) {
        struct rig r;
        struct ana_kernel *whole;
        rig_open(&r, "tests/heldout/suites/field", name[i], "sim:hopper-h200");
        struct ana_opts o = { .data = &r.data, .dev = dev_describe(r.dev) };
        double lines = 0;
        assert_status_ok(ana_run(r.module, str_of(r.launch->kernel), &o, &whole, &r.ds), &r.ds);
        for (uint32_t k = 0; k < whole->naccess; k++)
            if (!whole->access[k].store && whole->access[k].space == PTX_SPACE_GLOBAL)
                lines += (double)whole->access[k].exact.lines;
        for (size_t k = 0; k < ARRAY_LEN(mapping); k++) {
            struct tune_prediction p = predict(&r, mapping[k]);
            assert_true(p.valid);
            assert_true(lines > 1000);
            /* one SM stands for all: its CTAs walk further than most */
            assert_float_equal(p.in.loads / lines, 1, 0.5);
        }
        ana_free(whole);
        rig_close(&r);
    }
}

/* Bypassing everything misses L1 always; thresholds lie between; caching all is the kernel itself. */
static void bypassing_is_played_over_one_trace(void **state)
{
    struct rig r;
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    struct tune_prediction cha = predict(&r, ""), all = predict(&r, "--bypass l1 --pi bpa");
    assert_true(cha.valid);
    assert_true(all.valid);
    assert_float_equal(all.in.m1, 1, 1e-12);
    assert_float_equal(all.in.loads, cha.in.loads, 1e-9);
    double least = INFINITY;
    int best = -1;
    for (int pi = 1; pi < 16; pi++) {
        char line[64];
        snprintf(line, sizeof line, "--bypass l1 --pi %d", pi);
        struct tune_prediction p = predict(&r, line);
        assert_true(p.valid);
        assert_true(p.in.m1 <= 1);
        if (p.cost.extended < least) {
            least = p.cost.extended;
            best = pi;
        }
    }
    assert_true(best > 0);
    assert_true(best < 8);
    assert_true(least < cha.cost.extended);
    assert_true(least < all.cost.extended); /* a valley, seen before any launch */
    rig_close(&r);
}

static void ranks_block_shapes_as_time_does(void **state)
{
    struct rig r;
    double cost[8], time[8];
    size_t n = 0;
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    for (uint32_t x = 1; x <= 128; x *= 2) {
        struct tune_prediction p;
        struct result one;
        struct options o = options_default();
        opt_schedule(&o)->block = (struct dim3u){ x, 256 / x, 1 };
        assert_int_equal(tune_predict(r.bench, &o, &p), ST_OK);
        assert_true(p.valid);
        assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
        cost[n] = p.cost.extended;
        time[n++] = (double)one.time.median;
    }
    assert_true(model_rank_correlation(cost, time, n) >= 0.8);
    rig_close(&r);
}

static void says_what_it_does_not_know(void **state)
{
    struct rig r;
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    struct tune_prediction none = predict(&r, "--bypass l1 --pi 9");
    assert_false(none.valid);
    assert_true(none.why_not[0]);
    /* what the figure leaves out stands beside it */
    struct tune_prediction original = predict(&r, ""),
                           l2 = predict(&r, "--bypass l2 --bypass-op cs --pi bpa"),
                           auto_lines = predict(&r, "--softcache auto");
    assert_true(original.valid);
    assert_true(!original.note[0]);
    assert_true(l2.valid);
    assert_true(l2.cost.extended >= original.cost.extended);
    assert_true(!auto_lines.valid || strstr(auto_lines.note, "profile"));
    rig_close(&r);
}

/* A vote is the least over all thresholds; hybrid bypasses no less than the threshold alone. */
static void votes_and_hybrids_are_predicted(void **state)
{
    struct rig r;
    double least = INFINITY;
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    for (int pi = 0; pi <= 16; pi++) {
        char line[64];
        snprintf(line, sizeof line, pi == 0 ? "--bypass l1 --pi bpa" : "--bypass l1 --pi %d", pi);
        least = fmin(least, predict(&r, pi < 16 ? line : "").cost.extended);
    }
    struct tune_prediction vote = predict(&r, "--bypass l1 --pi vote");
    assert_true(vote.valid);
    assert_true(strstr(vote.note, "elect"));
    assert_float_equal(vote.cost.extended, least, 1e-9 * least);
    rig_close(&r);
    rig_open(&r, "conv2d", "paper", FERMI);
    struct tune_prediction clone = predict(&r, "--bypass l1 --pi 4"),
                           hybrid = predict(&r, "--bypass l1 --bypass-form hybrid --pi 4");
    assert_true(clone.valid);
    assert_true(hybrid.valid);
    assert_true(hybrid.in.m1 >= clone.in.m1);
    rig_close(&r);
}

/* Prefetching asks for lines before they are needed: fewer and shorter waits, as the time shows too. */
static void prefetches_are_played(void **state)
{
    struct rig r;
    struct result was, is;
    struct options none = options_default(), o = options_of("--prefetch l1");
    (void)state;
    rig_open(&r, "gemm", "default", "sim:ampere-a100"); /* a prefetch into L1 fills it there */
    struct tune_prediction plain = predict(&r, ""), ahead = predict(&r, "--prefetch l1");
    assert_true(plain.valid);
    assert_true(ahead.valid);
    assert_float_equal(ahead.in.loads, plain.in.loads, 1e-9); /* nobody's loads */
    assert_true(ahead.in.m1 < plain.in.m1);
    assert_true(ahead.cost.extended < 0.9 * plain.cost.extended);
    assert_status_ok(tune_run_one(r.bench, &none, &was, &r.ds), &r.ds);
    assert_status_ok(tune_run_one(r.bench, &o, &is, &r.ds), &r.ds);
    assert_true(is.time.median < was.time.median);
    rig_close(&r);
}

/* A trace of many waves of CTAs stands for the rest by its first ones: gemm asks for one line with each
 * of its loads. */
static void long_traces_are_their_first_waves(void **state)
{
    struct rig r;
    double requests = 0;
    (void)state;
    rig_open(&r, "gemm", "h200", "sim:hopper-h200");
    struct tune_prediction p = predict(&r, "");
    for (uint32_t k = 0; k < r.facts->naccess; k++)
        if (!r.facts->access[k].store && r.facts->access[k].space == PTX_SPACE_GLOBAL)
            requests += r.facts->access[k].executions;
    assert_true(p.valid);
    assert_true(r.bench->trace->scale > 2);
    /* whole waves of 132 SMs, where the grid has not quite as many CTAs */
    assert_float_equal(p.in.loads / requests, 1, 0.03);
    assert_true(p.time_ns > 3e6);
    assert_true(p.time_ns < 12e6); /* 5.65 ms on an H200 */
    rig_close(&r);
}

/* Atomics wait for their turns, and what comes before a barrier is done before what comes after it. */
struct seen_kinds {
    uint32_t atomics, most_phase, early_stores;
};

static bool see_kinds(void *ctx, const struct ana_request *r)
{
    struct seen_kinds *k = ctx;
    k->atomics += r->atomic && r->passes > 0 && r->lanes > 0;
    k->most_phase = r->phase > k->most_phase ? r->phase : k->most_phase;
    k->early_stores += r->store && !r->shared && !r->atomic && r->phase == 0;
    return true;
}

static struct seen_kinds kinds_of(const char *kernel, const char *launch)
{
    struct rig r;
    struct seen_kinds k = { 0 };
    rig_open(&r, kernel, launch, "sim:hopper-h200");
    struct ana_opts o = { .data = &r.data, .dev = dev_describe(r.dev), .every = true };
    assert_status_ok(
        ana_trace(r.module, str_of(r.launch->kernel), &o, 128, 2, 0, 132, see_kinds, &k, &r.ds), &r.ds);
    rig_close(&r);
    return k;
}

static void traces_know_atomics_and_barriers(void **state)
{
    (void)state;
    struct seen_kinds tiled = kinds_of("transpose", "tiled"), sums = kinds_of("histogram", NULL);
    assert_int_equal(tiled.most_phase, 1);
    /* all of a tile is there before any of it goes out */
    assert_int_equal(tiled.early_stores, 0);
    assert_int_equal(tiled.atomics, 0);
    assert_true(sums.atomics > 0);
    struct rig r;
    rig_open(&r, "histogram", NULL, "sim:hopper-h200");
    struct tune_prediction p = predict(&r, "");
    assert_false(p.valid); /* turns at L2 are what it waits for, and nobody here counts them */
    assert_non_null(strstr(p.why_not, "atomics"));
    rig_close(&r);
}

/* Before Maxwell a plain load does not enter Kepler's L1, a read-only one has a cache of its own. */
static void what_l1_takes_is_the_devices(void **state)
{
    struct rig r;
    (void)state;
    rig_open(&r, "valley", "fermi", "sim:kepler-k80");
    struct tune_prediction plain = predict(&r, ""), all = predict(&r, "--bypass l1 --pi bpa"),
                           nc = predict(&r, "--readonly promote");
    assert_true(plain.valid);
    assert_true(all.valid);
    assert_true(nc.valid);
    assert_float_equal(plain.in.m1, 1, 1e-12);
    assert_float_equal(all.cost.extended, plain.cost.extended, 1e-9 * plain.cost.extended);
    assert_true(nc.in.m1 < 1);
    rig_close(&r);
}

/* The trace's passes over shared memory's banks are those that the analysis counts by itself. */
struct passes {
    uint64_t requests[64], passes[64], loads;
};

static bool add_passes(void *ctx, const struct ana_request *r)
{
    struct passes *p = ctx;
    if (r->shared && r->access < 64) {
        p->requests[r->access]++;
        p->passes[r->access] += r->passes;
    }
    p->loads += !r->shared && !r->store && r->passes > 0;
    return true;
}

static void bank_passes_are_those_of_the_analysis(void **state)
{
    struct rig r;
    struct passes p = { 0 };
    unsigned compared = 0;
    (void)state;
    rig_open(&r, "transpose", "tiled", "sim:hopper-h200");
    struct ana_opts o = { .data = &r.data, .dev = dev_describe(r.dev), .every = true };
    assert_status_ok(
        ana_trace(r.module, str_of(r.launch->kernel), &o, 128, 2, 0, 132, add_passes, &p, &r.ds), &r.ds);
    for (uint32_t i = 0; i < r.facts->naccess; i++) {
        const struct ana_access *x = &r.facts->access[i];
        if (x->space != PTX_SPACE_SHARED || !x->exact.valid)
            continue;
        assert_true(p.requests[i] > 0);
        assert_float_equal((double)p.passes[i] / (double)p.requests[i] - 1, x->exact.bank_conflicts,
                           1e-9);
        compared++;
    }
    assert_true(compared >= 2);
    assert_true(p.loads > 0);
    rig_close(&r);
}

/* The parts are one table: the binding one is the figure. */
static void parts_add_up(void **state)
{
    struct rig r;
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    struct options none = options_default();
    struct result was;
    struct buf b = { 0 };
    assert_true(isnan(predict(&r, "").issue)); /* instructions are counted by running them */
    assert_status_ok(tune_run_one(r.bench, &none, &was, &r.ds), &r.ds);
    struct tune_prediction p = predict(&r, "");
    assert_float_equal(p.cost.extended, fmax(p.walked, tune_part(&p, tune_part_binding(&p))), 1e-9);
    for (size_t i = 0; i < TUNE_PARTS; i++) {
        assert_true(tune_part(&p, i) <= p.cost.extended);
        assert_true(tune_part_name(i)[0]);
    }
    assert_float_equal(p.cost.latency, p.cost.latency_l1 + p.cost.latency_l2 + p.cost.latency_dram,
                       1e-6 * p.cost.latency);
    assert_float_equal(p.time_ns, p.cost.extended * 1e6 / dev_describe(r.dev)->clock_khz, 1e-6);
    tune_prediction_text(&p, "a device", &b);
    assert_non_null(strstr(b.s, "paper"));
    assert_non_null(strstr(b.s, "binds"));
    buf_free(&b);
    rig_close(&r);
}

/* A bench that only predicts says what a whole one says, and launches nothing; the threshold comes from
 * it. */
static void threshold_is_told_before_any_launch(void **state)
{
    struct rig r;
    struct tune_bench *model = NULL;
    struct tune_pi_forecast f;
    struct options o = options_of("--bypass l1 --pi 3");
    struct tune_prediction p;
    (void)state;
    rig_open(&r, "valley", "fermi", FERMI);
    assert_status_ok(tune_bench_open_model(&r.subject, &model, &r.ds), &r.ds);
    assert_int_equal(tune_predict(model, &o, &p), ST_OK);
    assert_true(p.valid);
    assert_float_equal(p.cost.extended, predict(&r, "--bypass l1 --pi 3").cost.extended,
                       1e-6 * p.cost.extended);
    struct options none = options_default();
    assert_int_equal(tune_forecast_pi(model, &none, &f), ST_OK);
    assert_int_equal(model->launches, 0);
    assert_int_equal(f.warps, 16);
    assert_true(f.model > 0);
    assert_true(f.model < 8); /* a 16 KB L1 cannot hold what sixteen warps walk over */
    assert_true(f.least < f.bpa);
    assert_true(f.least < f.cha);
    tune_bench_close(model);
    rig_close(&r);
}

/* The n-th allocation fails, for every n (sparser as n grows): an answer or an end, never a crash or a
 * wrong figure. */
static void survives_want_of_memory(void **state)
{
    struct rig r;
    struct options o = options_of("--block 16x16x1 --bypass l1 --pi 3"), none = options_default();
    (void)state;
    rig_open(&r, "conv2d", "paper", FERMI);
    double whole = predict(&r, "--block 16x16x1 --bypass l1 --pi 3").cost.extended;
    bool through = false;
    for (uint64_t n = 1; !through && n < 1000000; n += 1 + n / 16) {
        struct tune_prediction p;
        /* another trace, so that the next is made anew */
        assert_int_equal(tune_predict(r.bench, &none, &p), ST_OK);
        base_fail_after(n);
        enum status st = tune_predict(r.bench, &o, &p);
        base_fail_after(0);
        assert_true(st == ST_OK || st == ST_NOMEM);
        through = st == ST_OK && p.valid;
        if (through)
            assert_float_equal(p.cost.extended, whole, 1e-9);
        else
            assert_true(st == ST_NOMEM || p.why_not[0]);
    }
    assert_true(through);
    rig_close(&r);
}

/* ---- searches that use it ---- */
static void model_alone_ranks_and_launches_once(void **state)
{
    struct rig r;
    struct tune_found f;
    struct tune_search_opts o = { .method = "model" };
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    assert_status_ok(tune_search(r.bench, &o, NULL, &f, &r.ds), &r.ds);
    assert_int_equal(f.launches, 2); /* the original and the confirmation */
    assert_false(f.leave_alone);
    assert_true(f.nranking > 1);
    assert_true(options_equal(&f.ranked[0], f.options));
    for (unsigned i = 1; i < f.nranking; i++)
        assert_true(f.ranking[i - 1].cost.extended <= f.ranking[i].cost.extended);
    rig_close(&r);
    tune_found_clear(&f);
}

static void hopeless_candidates_are_not_launched(void **state)
{
    struct rig r;
    struct tune_found f;
    struct seen *seen = base_alloc(sizeof *seen);
    struct tune_observer ob = seen_observer(seen);
    struct tune_search_opts o = { .method = "search", .budget_launches = 16 };
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    assert_true(f.skipped > 0);
    assert_true(opt_schedule(&f.best->options)->swap_xy);
    assert_non_null(strstr(seen->why[1], "the model expects"));
    /* the model's first is the best */
    assert_true(options_equal(&seen->result[1].options, f.options));
    base_free(seen);
    rig_close(&r);
    tune_found_clear(&f);
}

/* ---- other data sets ---- */
static void recommendation_is_tried_on_other_data(void **state)
{
    struct rig r;
    struct tune_found f;
    struct launch_spec same, wrong;
    (void)state;
    rig_open(&r, "transpose", "default", FERMI);
    same = wrong = *r.launch;
    same.name = "same";
    wrong.name = "wrong";
    wrong.nargs = 1; /* does not fit the kernel: said, not fatal */
    const struct launch_spec *other[] = { &same, &wrong };
    struct tune_search_opts o = { .method = "model", .other = other, .nother = 2 };
    assert_status_ok(tune_search(r.bench, &o, NULL, &f, &r.ds), &r.ds);
    assert_int_equal(f.nsets, 2);
    assert_string_equal(f.set[0].name, "same");
    assert_true(f.set[0].holds);
    /* other buffers, other addresses, other cache sets: nearly the same gain */
    assert_float_equal(f.set[0].gain, (double)f.original->time.median / (double)f.best->time.median,
                       0.1);
    assert_false(f.set[1].holds);
    assert_float_equal(f.set[1].gain, 0, 0);
    assert_true(f.set[1].message[0]);
    /* both launches that run together: the other is no part of it */
    assert_true(f.all.valid);
    assert_int_equal(f.all.launches, 2);
    assert_true(f.all.tried >= 1);
    assert_float_equal(f.all.original_ns / f.all.best_ns, f.set[0].gain, 0.1);
    assert_true(f.set[0].best_gain >= f.set[0].gain);
    assert_float_equal(f.set[1].best_gain, 1, 0);
    rig_close(&r);
    tune_found_clear(&f);
}

/* Three candidates on two launches: the fastest on the first loses on the second, and the next two do not. */
static void one_configuration_for_all_launches(void **state)
{
    static const double original[] = { 100, 1000 };
    static const double ns[] = { 40, 1100, 80, 900, 90, 700 };
    static const double fails[] = { 40, 0, 80, 0 };
    static const double within[] = { 101, 990 };
    double least;
    (void)state;
    assert_int_equal(search_least_of_all(original, ns, 2, 3, 0.02, &least), 2);
    assert_float_equal(least, 790, 1e-9);
    assert_int_equal(search_least_of_all(original, ns, 2, 2, 0.02, &least), 1);
    assert_int_equal(search_least_of_all(original, ns, 2, 1, 0.02, &least), 1); /* loses */
    assert_int_equal(search_least_of_all(original, fails, 2, 2, 0.02, &least), 2);
    assert_int_equal(search_least_of_all(original, within, 2, 1, 0.02, &least), 0);
    assert_int_equal(search_least_of_all(original, within, 2, 1, 0.005, &least), 1);
}

/* What is recommended for two launches is slower on neither; where that cannot be, it is said. */
static void several_launches_get_one_that_holds_or_none(void **state)
{
    static const char *const main_launch[] = { "default", "paper" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(main_launch); i++) {
        struct rig r, more;
        struct tune_found f;
        rig_open(&r, "gemm", main_launch[i], FERMI);
        rig_open(&more, "gemm", i ? "default" : "paper", FERMI);
        const struct launch_spec *other[] = { more.launch };
        struct tune_search_opts o = { .budget_launches = 16, .other = other, .nother = 1 };
        assert_status_ok(tune_search(r.bench, &o, NULL, &f, &r.ds), &r.ds);
        assert_true(f.leave_alone || f.nsets == 1);
        if (f.nsets && f.all.valid)
            assert_true(f.set[0].gain >= 0.99);
        else if (f.nsets)
            assert_true(f.set[0].gain < 1);
        rig_close(&more);
        rig_close(&r);
        tune_found_clear(&f);
    }
}

/* ---- advice ---- */
static void advice_tells_the_real_gain_after_trying(void **state)
{
    struct tune_advice v[2] = { { .model_gain = 2, .real_gain = NAN },
                                { .model_gain = 1.5, .real_gain = NAN } };
    struct result original = result_empty(), tried = result_empty();
    (void)state;
    snprintf(v[0].why, sizeof v[0].why, "lanes share: by the model 1 cycle");
    v[0].reason = strlen("lanes share");
    v[0].options = options_of("--swap-xy");
    v[1].options = options_of("--bypass l1 --pi 3");
    original.time = (struct timing){
        .median = 3000, .min = 3000, .max = 3000, .valid = true, .origin = ORIGIN_MEASURED
    };
    tried.time = original.time;
    tried.time.median = 2000;
    tried.options = v[0].options;
    struct tune_advice wrong[2] = { v[0], v[1] };
    struct result part_then_all[2] = { tried, tried };
    part_then_all[0].equal = EQUAL_PART; /* what all outputs show to be wrong gained nothing */
    part_then_all[1].equal = EQUAL_NO;
    assert_int_equal(tune_advise_prove(NULL, wrong, 2, &original, part_then_all, 2), 1);
    assert_true(options_equal(&wrong[0].options, &v[1].options));
    tried.equal = EQUAL_YES;
    assert_int_equal(tune_advise_prove(NULL, v, 2, &original, &tried, 1), 2);
    assert_true(v[0].tried);
    assert_true(!v[1].tried);
    assert_float_equal(v[0].real_gain, 1.5, 1e-12);
    assert_string_equal(v[0].why, "lanes share: in the run 2.00 µs instead of 3.00 µs (measured)");
    assert_true(isnan(v[1].real_gain));
    tried.options = v[1].options;
    tried.time.median = 2990; /* a run refutes it: it goes */
    assert_int_equal(tune_advise_prove(NULL, v, 2, &original, &tried, 1), 1);
    assert_true(v[0].tried);
}

/* A range comes from records of such a device, and of the kind of what is changed. */
static void gains_are_recorded_ones(void **state)
{
    struct dev_info gpu = { .cc_major = 9, .kind = DEV_CUDA }, old = { .cc_major = 3, .kind = DEV_CUDA };
    struct options two = options_of("--coarsen 2"), none = options_default();
    struct gain_experience x = gain_recorded(&gpu, &two, 3.33), little = gain_recorded(&gpu, &two, 1.2);
    struct buf b = { 0 };
    (void)state;
    assert_true(0 < x.gain.low && x.gain.low < x.gain.high);
    assert_true(x.gain.low < 1); /* a few kernels that the model expects 3x of lose: no promise */
    assert_true(x.cases >= 20 && x.all_kinds);
    assert_true(little.cases >= 20 && !little.all_kinds && little.gain.high < x.gain.high);
    assert_true(gain_recorded(&old, &two, 3.33).gain.high <= 0);
    assert_true(gain_recorded(&gpu, &none, 1).gain.high <= 0);
    assert_true(gain_recorded(&gpu, &two, NAN).gain.high <= 0);
    gain_recorded_words(": ", &x, false, &b);
    assert_non_null(strstr(b.s, "in 80 of 100 cases ("));
    assert_non_null(strstr(b.s, " recorded, of all kinds)"));
    buf_free(&b);
    assert_int_equal(gain_family_of(&two), GAIN_COARSENING);
}

/* The model's first item gains as much as it expects, near enough, and nothing illegal is advised. */
static void advice_is_what_the_model_sees(void **state)
{
    static const struct {
        const char *kernel;
        bool gains;
    } cases[] = { { "transpose", true }, { "same_location", false }, { "backprop", false } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        struct tune_advice v[16];
        struct options none = options_default();
        struct result was, is;
        rig_open(&r, cases[i].kernel, "default", "sim:hopper-h200");
        size_t n = tune_advise(&r.subject, NULL, v, ARRAY_LEN(v));
        assert_int_equal(tune_advise_predict(r.bench, v, &n, ARRAY_LEN(v)), ST_OK);
        assert_true(n >= 1);
        assert_true(n <= ARRAY_LEN(v));
        assert_int_equal(!options_equal(&v[0].options, &none), cases[i].gains);
        if (cases[i].gains) {
            assert_true(isfinite(v[0].model_gain));
            assert_true(v[0].command[0]);
            assert_true(v[0].model_gain > 1.5);
            assert_status_ok(tune_run_one(r.bench, &none, &was, &r.ds), &r.ds);
            assert_status_ok(tune_run_one(r.bench, &v[0].options, &is, &r.ds), &r.ds);
            assert_float_equal((double)was.time.median / (double)is.time.median / v[0].model_gain, 1,
                               0.3);
        }
        for (size_t k = 0; k < n; k++) {
            struct pass_input in = { r.module,
                                     str_of(r.launch->kernel),
                                     &v[k].options,
                                     dev_describe(r.dev),
                                     r.launch,
                                     r.facts,
                                     0 };
            assert_status_ok(pass_legal(&in, &r.ds), &r.ds);
        }
        rig_close(&r);
    }
}

static bool advised(const struct tune_subject *s, const char *title)
{
    struct tune_advice v[16];
    size_t n = tune_advise(s, NULL, v, ARRAY_LEN(v));
    for (size_t i = 0; i < n; i++)
        if (strstr(v[i].title, title))
            return true;
    return false;
}

/* "It streams" needs a trace: every load of valley streams past other CTAs, and its own touches its
 * lines again. */
static void streams_are_told_from_a_trace_alone(void **state)
{
    static const struct {
        const char *kernel;
        bool quick;
        const char *said, *not ;
    } cases[] = {
        { "valley", true, "find out what each CTA reuses", "it streams" },
        { "valley", false, "bypass L1", "it streams" },
        { "transpose", false, "it streams", "bypass L1" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        struct ana_kernel *facts = NULL;
        rig_open(&r, cases[i].kernel, "default", "sim:hopper-h200");
        struct ana_opts o = { .data = &r.data, .dev = dev_describe(r.dev), .quick = cases[i].quick };
        assert_status_ok(ana_run(r.module, str_of(r.launch->kernel), &o, &facts, &r.ds), &r.ds);
        struct tune_subject s = { r.module, r.launch, &r.data, r.dev, facts };
        assert_true(advised(&s, cases[i].said));
        assert_false(advised(&s, cases[i].not ));
        ana_free(facts);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_addresses),
        cmocka_unit_test(launches_before_have_left_their_data),
        cmocka_unit_test(bypassing_is_played_over_one_trace),
        cmocka_unit_test(ranks_block_shapes_as_time_does),
        cmocka_unit_test(says_what_it_does_not_know),
        cmocka_unit_test(votes_and_hybrids_are_predicted),
        cmocka_unit_test(prefetches_are_played),
        cmocka_unit_test(bank_passes_are_those_of_the_analysis),
        cmocka_unit_test(long_traces_are_their_first_waves),
        cmocka_unit_test(traces_know_atomics_and_barriers),
        cmocka_unit_test(what_l1_takes_is_the_devices),
        cmocka_unit_test(advice_is_what_the_model_sees),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(threshold_is_told_before_any_launch),
        cmocka_unit_test(survives_want_of_memory),
        cmocka_unit_test(model_alone_ranks_and_launches_once),
        cmocka_unit_test(hopeless_candidates_are_not_launched),
        cmocka_unit_test(recommendation_is_tried_on_other_data),
        cmocka_unit_test(one_configuration_for_all_launches),
        cmocka_unit_test(several_launches_get_one_that_holds_or_none),
        cmocka_unit_test(advice_tells_the_real_gain_after_trying),
        cmocka_unit_test(gains_are_recorded_ones),
        cmocka_unit_test(streams_are_told_from_a_trace_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
