/* Model against simulated time: rank correlation over block shapes per kernel, both figures,
 * and what a prediction costs beside a launch. Figures, never pass or fail. */
#include "engine/base/base.h"

#include <stdio.h>
#include <stdlib.h>

static void need(enum status st, const struct diags *ds)
{
    struct buf b = { 0 };
    if (st == ST_OK)
        return;
    diags_print(ds, &b);
    fprintf(stderr, "%s: %s\n", status_text(st), b.s ? b.s : "");
    exit(status_exit_code(st));
}
#define assert_status_ok(st, ds) need((st), (ds))
#define fail_msg(...) (fprintf(stderr, __VA_ARGS__), exit(1))
#include "tests/unit/tune_support.h"

#define UNSEEN "tests/unseen/schedule"
static const struct { const char *kernel, *launch, *device; } rows[] = {
    { "syrk", "default", "sim:hopper-h200" }, { "conv2d", "default", "sim:hopper-h200" }, { "transpose", "default", "sim:hopper-h200" },
    { "gemm", "default", "sim:hopper-h200" }, { "stencil3d", "default", "sim:hopper-h200" }, { "redblack", "default", "sim:hopper-h200" },
    { "conv2d", "default", "sim:fermi-16k" }, { "transpose", "default", "sim:fermi-16k" }, { "gemm", "default", "sim:fermi-16k" },
    { UNSEEN, "s_blur", "sim:hopper-h200" }, { UNSEEN, "s_rows", "sim:hopper-h200" }, { UNSEEN, "s_gather", "sim:hopper-h200" },
    { UNSEEN, "s_halve", "sim:hopper-h200" }, { UNSEEN, "s_outer", "sim:hopper-h200" }, { UNSEEN, "s_cube", "sim:hopper-h200" },
    { UNSEEN, "s_blur", "sim:fermi-16k" }, { UNSEEN, "s_rows", "sim:fermi-16k" }, { UNSEEN, "s_cube", "sim:fermi-16k" },
};

static size_t shapes(const struct rig *r, struct options *out)
{
    uint32_t threads = (uint32_t)dim3u_count(r->launch->block);
    size_t n = 0;
    for (uint32_t x = 1; x <= threads; x *= 2) {
        out[n] = options_default();
        out[n++].block = (struct dim3u){ x, threads / x, 1 };
    }
    out[n] = options_default();
    out[n++].swap_xy = true;
    return n;
}

/* Slowest over fastest; and of the pairs whose times differ by more than 2 %, the share that the cost orders rightly. */
static void pairs_told_apart(const double *cost, const double *time, size_t n, double *spread, double *right, size_t *pairs)
{
    double low = INFINITY, high = 0;
    size_t good = 0;
    *pairs = 0;
    for (size_t i = 0; i < n; i++) {
        low = time[i] < low ? time[i] : low;
        high = time[i] > high ? time[i] : high;
        for (size_t k = 0; k < i; k++) {
            if (fabs(time[i] / time[k] - 1) <= 0.02)
                continue;
            ++*pairs;
            good += (cost[i] < cost[k]) == (time[i] < time[k]) && cost[i] != cost[k];
        }
    }
    *spread = n ? high / low - 1 : NAN;
    *right = *pairs ? (double)good / (double)*pairs : NAN;
}

static void one_row(const char *kernel, const char *launch, const char *device, bool list)
{
    struct rig r;
    struct options o[16];
    double time[16], paper[16], ours[16], predict_ns = 0, launch_ns = 0;
    size_t n = 0;
    struct options none = options_default();
    struct result original;
    rig_open(&r, kernel, launch, device);
    assert_status_ok(tune_run_one(r.bench, &none, &original, &r.ds), &r.ds);
    for (size_t i = 0, all = shapes(&r, o); i < all; i++) {
        struct tune_prediction p;
        struct result one;
        int64_t t0 = base_now_ns();
        assert_status_ok(tune_predict(r.bench, &o[i], &p), &r.ds);
        int64_t t1 = base_now_ns();
        assert_status_ok(tune_run_one(r.bench, &o[i], &one, &r.ds), &r.ds);
        launch_ns += (double)(base_now_ns() - t1);
        predict_ns += (double)(t1 - t0);
        if (list)
            printf("  %3ux%-3u%s %9.4f ms  paper %.3g  ours %.4g (walk %.4g latency %.3g l1 %.3g l2 %.3g dram %.3g issue %.3g) m1 %.3f m2 %.3f %s\n", o[i].block.x, o[i].block.y, o[i].swap_xy ? " swap" : "",
                   (double)one.time.median / 1e6, p.cost.paper, p.cost.extended, p.walked, p.cost.latency, p.cost.bound_l1, p.cost.bound_l2, p.cost.bound_dram, p.issue, p.in.m1, p.in.m2, p.why_not);
        if (!p.valid || !tune_usable(&one))
            continue;
        time[n] = (double)one.time.median;
        paper[n] = p.cost.paper;
        ours[n++] = p.cost.extended;
    }
    double spread, right, theirs;
    size_t pairs;
    const char *name = strchr(kernel, '/') ? launch : kernel;
    pairs_told_apart(paper, time, n, &spread, &theirs, &pairs);
    pairs_told_apart(ours, time, n, &spread, &right, &pairs);
    printf("%-10s %-16s %2zu shapes, times spread %5.1f %%: rank correlation paper's %5.2f ours %5.2f; of %2zu pairs that differ by 2 %% paper's orders %3.0f %% ours %3.0f %%; predicting %6.1f ms each, launching %6.1f ms\n",
           name, device, n, 100 * spread, model_rank_correlation(paper, time, n), model_rank_correlation(ours, time, n), pairs, 100 * theirs, 100 * right, predict_ns / 1e6 / (double)(n ? n : 1),
           launch_ns / 1e6 / (double)(n ? n : 1));
    rig_close(&r);
}

int main(void)
{
    const char *only = getenv("BENCH_TUNE_ONLY");   /* one kernel, with its shapes listed */
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (!only || strcmp(only, rows[i].kernel) == 0 || strcmp(only, rows[i].launch) == 0)
            one_row(rows[i].kernel, rows[i].launch, rows[i].device, only != NULL);
    return 0;
}
