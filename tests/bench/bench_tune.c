/* The memory-cost model against time, as Markdown rows. Figures, never pass or fail.
 *
 *   bench_tune [schedule|pi|advice|time] [KERNEL:LAUNCH:DEVICE[ OPTIONS]]...
 *
 *   schedule  rank over the legal schedules (block shapes of as many threads, x and y exchanged, CTA
 *             orders, coarsening)
 *   pi        rank over the thresholds, and what running at the predicted ones costs
 *   advice    the first item, run
 *   KERNEL    a demo kernel, or a path without its ending; without rows: every demo kernel's first
 *             launch on the H200 preset
 *
 *   BENCH_TUNE_LIST=1           lists every configuration with the parts of its cost
 *   BENCH_TUNE_TIMES=FILE       times are taken from there where they are, and added where not
 *   BENCH_TUNE_TIMED_ON=cuda:0  with it: those of another device, and nothing is launched
 *   BENCH_TUNE_TIME_ALONE=1     nothing is predicted, to fill FILE */
#include "engine/predict/prediction.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/result.h"
#include "engine/tune/tune_int.h"

#include "tests/bench/bench_need.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/tune_support.h"

#define MOST       80
#define LEAST_GAIN 1.05 /* less is nothing to miss */
#define NOISE      0.02 /* relative; what differs by less is not told apart */
#define DEVICE     "sim:hopper-h200"
struct row {
    char kernel[80], launch[48], device[64], options[160];
};
struct point {
    struct options o;
    struct tune_prediction p;
    double time;
};
struct points {
    struct point v[MOST];
    size_t n;
    double predict_ms;
    unsigned predicted;
};

/* ---- times, kept from one run to the next ---- */
static const char *timed_on(const struct row *r)
{
    return getenv("BENCH_TUNE_TIMED_ON") ? getenv("BENCH_TUNE_TIMED_ON") : r->device;
}

static double kept_time(const struct row *r, const char *line)
{
    char at[512], key[512];
    double time = 0, v;
    FILE *f = getenv("BENCH_TUNE_TIMES") ? fopen(getenv("BENCH_TUNE_TIMES"), "r") : NULL;
    snprintf(key, sizeof key, "%s:%s:%s:%s", r->kernel, r->launch, timed_on(r), line);
    while (f && fscanf(f, "%511[^=]=%lf\n", at, &v) == 2)
        time = strcmp(at, key) == 0 ? v : time;
    if (f)
        fclose(f);
    return time;
}

static void keep_time(const struct row *r, const char *line, double time)
{
    FILE *f = getenv("BENCH_TUNE_TIMES") ? fopen(getenv("BENCH_TUNE_TIMES"), "a") : NULL;
    if (!f)
        return;
    fprintf(f, "%s:%s:%s:%s=%.0f\n", r->kernel, r->launch, r->device, line, time);
    fclose(f);
}

/* Nanoseconds; negative: it does not run, or its outputs differ. */
static double time_of(struct rig *r, const struct row *row, const struct options *o)
{
    struct buf line = { 0 };
    struct result one;
    options_line(o, &line);
    double t = kept_time(row, line.s ? line.s : "");
    if (t == 0 && getenv("BENCH_TUNE_TIMED_ON")) {
        t = -1;
    } else if (t == 0) {
        enum status st = tune_run_one(r->bench, o, &one, &r->ds);
        t = st == ST_OK && tune_usable(&one) ? (double)one.time.median : -1;
        keep_time(row, line.s ? line.s : "", t);
    }
    buf_free(&line);
    return t;
}

static void list_point(const struct point *q)
{
    const struct tune_prediction *p = &q->p;
    struct buf line = { 0 };
    options_line(&q->o, &line);
    fprintf(stderr,
            "  %-44s %9.4f ms, modelled %9.4f (walk %.4g latency %.3g l1 %.3g l2 %.3g dram %.3g issue "
            "%.3g; paper %.3g) m1 %.3f m2 %.3f %s%s\n",
            line.s ? line.s : "", q->time / 1e6, p->time_ns / 1e6, p->walked, p->cost.latency,
            p->cost.bound_l1, p->cost.bound_l2, p->cost.bound_dram, p->issue, p->cost.paper, p->in.m1,
            p->in.m2, p->why_not, p->note);
    buf_free(&line);
}

/* What is legal, runs, and is predicted. */
static void add(struct rig *r, const struct row *row, const struct options *o, struct points *to)
{
    struct point *q = &to->v[to->n];
    clock_t t0 = clock();
    q->o = *o;
    q->p.valid = getenv("BENCH_TUNE_TIME_ALONE") != NULL;
    if (!q->p.valid)
        assert_status_ok(tune_predict(r->bench, o, &q->p), &r->ds);
    if (q->p.valid) {
        to->predict_ms += (double)(clock() - t0) * 1e3 / CLOCKS_PER_SEC; /* of the processor */
        to->predicted++;
    }
    q->time = q->p.valid ? time_of(r, row, o) : -1;
    if (getenv("BENCH_TUNE_LIST"))
        list_point(q);
    to->n += q->time > 0 && to->n + 1 < MOST;
}

/* ---- what is compared ---- */
static void schedules(struct rig *r, const struct row *row, const struct options *base,
                      struct points *out)
{
    static const char *const family[] = { "block shape", "coarsening", "clustering" };
    struct space s = space_of(r->bench);
    add(r, row, base, out);
    for (size_t k = 0; k < ARRAY_LEN(family); k++) {
        struct options list[SPACE_MOST];
        size_t n = space_find(family[k])->alternatives(&s, base, list);
        for (size_t i = 0; i < n; i++)
            if (opt_cluster(&list[i])->kind != CLUSTER_AGENT)
                add(r, row, &list[i], out);
    }
}

static void thresholds(struct rig *r, const struct row *row, const struct options *base,
                       struct points *out)
{
    struct space s = space_of(r->bench);
    struct options o = *base;
    for (uint32_t pi = 0; pi <= s.warps; pi++) {
        opt_bypass(&o)->level = pi == s.warps ? opt_bypass(base)->level : s.level;
        opt_bypass(&o)->form = pi == s.warps ? opt_bypass(base)->form : s.form;
        opt_bypass(&o)->pi.mode = pi == 0         ? PI_BPA
                                  : pi == s.warps ? opt_bypass(base)->pi.mode
                                                  : PI_VALUE;
        opt_bypass(&o)->pi.value = opt_bypass(&o)->pi.mode == PI_VALUE ? (int)pi : 0;
        add(r, row, &o, out);
    }
}

/* ---- one row ---- */
struct verdict {
    double paper, ours, tied, spread, paper_right, right;
    size_t pairs;
};

/* Of the pairs whose times differ by more than noise, the share that the cost orders rightly. */
static double told_apart(const double *cost, const double *time, size_t n, size_t *pairs)
{
    size_t good = 0;
    *pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            if (fabs(time[i] / time[k] - 1) <= NOISE)
                continue;
            ++*pairs;
            good += (cost[i] < cost[k]) == (time[i] < time[k]) && cost[i] != cost[k];
        }
    return *pairs ? (double)good / (double)*pairs : NAN;
}

static struct verdict judge(const struct points *p)
{
    double time[MOST], paper[MOST], ours[MOST], low = INFINITY, high = 0;
    struct verdict v = { 0 };
    for (size_t i = 0; i < p->n; i++) {
        time[i] = p->v[i].time;
        paper[i] = p->v[i].p.cost.paper;
        ours[i] = p->v[i].p.cost.extended;
        low = fmin(low, time[i]);
        high = fmax(high, time[i]);
    }
    v.paper = model_rank_correlation(paper, time, p->n);
    v.ours = model_rank_correlation(ours, time, p->n);
    v.tied = model_rank_correlation_within(ours, time, p->n, NOISE);
    v.paper_right = told_apart(paper, time, p->n, &v.pairs);
    v.right = told_apart(ours, time, p->n, &v.pairs);
    v.spread = p->n ? high / low - 1 : NAN;
    return v;
}

static void number(const char *form, double v)
{
    if (isnan(v))
        printf(" n/a |");
    else
        printf(form, v);
}

static void put_verdict(const struct points *p)
{
    struct verdict v = judge(p);
    number(" %.1f %% |", 100 * v.spread);
    number(" %.2f |", v.paper);
    number(" %.2f |", v.ours);
    number(" %.2f |", v.tied);
    printf(" %zu |", v.pairs);
    number(" %.0f %% |", 100 * v.paper_right);
    number(" %.0f %% |", 100 * v.right);
    printf(" %.0f |", p->predicted ? p->predict_ms / p->predicted : NAN);
}

static const struct point *least(const struct points *p, bool modelled)
{
    const struct point *best = NULL;
    for (size_t i = 0; i < p->n; i++) {
        double v = modelled ? p->v[i].p.cost.extended : p->v[i].time, b = !best ? INFINITY
                                                                          : modelled
                                                                              ? best->p.cost.extended
                                                                              : best->time;
        best = v <= b ? &p->v[i] : best; /* of equals the one that caches most */
    }
    return best;
}

static int pi_of(const struct options *o, uint32_t warps)
{
    return opt_bypass(o)->level == BYPASS_NONE || opt_bypass(o)->pi.mode == PI_CHA ? (int)warps
           : opt_bypass(o)->pi.mode == PI_BPA                                      ? 0
                                              : opt_bypass(o)->pi.value;
}

static void put_thresholds(struct rig *r, const struct options *base, const struct points *p)
{
    struct tune_pi_forecast f;
    const struct point *best = least(p, false), *by_cost = least(p, true), *cha = &p->v[p->n - 1];
    uint32_t warps = tune_warps(&r->subject);
    assert_status_ok(tune_forecast_pi(r->bench, base, &f), &r->ds);
    const struct point *by_lines = NULL;
    for (size_t i = 0; i < p->n && f.footprint >= 0; i++)
        by_lines = pi_of(&p->v[i].o, warps) == f.footprint ? &p->v[i] : by_lines;
    printf(" %u | ", warps);
    printf(by_lines ? "%d |" : "n/a |", f.footprint);
    printf(" %d | %d |", pi_of(&by_cost->o, warps), pi_of(&best->o, warps));
    number(" %.2f |", cha->time / best->time);
    number(" %.2f |", by_lines ? by_lines->time / best->time : NAN);
    number(" %.2f |", by_cost->time / best->time);
}

static void one_row(const struct row *row, bool pi)
{
    struct rig r;
    struct points *p = base_alloc(sizeof *p);
    struct options base = options_of(row->options);
    char device[256];
    if (!p)
        fail_msg("out of memory\n");
    snprintf(device, sizeof device, "%s%s%s", row->device, row->options[0] ? " " : "", row->options);
    rig_open(&r, row->kernel, row->launch[0] ? row->launch : NULL, row->device);
    (pi ? thresholds : schedules)(&r, row, &base, p);
    printf("| %s | %s | %s |", strrchr(row->kernel, '/') ? strrchr(row->kernel, '/') + 1 : row->kernel,
           r.launch->name, device);
    if (p->n < 2) {
        printf(" nothing to rank: %s |\n",
               p->v[0].p.valid ? "one configuration alone runs" : p->v[0].p.why_not);
    } else {
        printf(" %zu |", p->n);
        put_verdict(p);
        if (pi)
            put_thresholds(&r, &base, p);
        printf("\n");
    }
    fflush(stdout);
    rig_close(&r);
    base_free(p);
}

/* ---- advice: the first item against what it came to, and against the best that is known ---- */
/* Of the times that BENCH_TUNE_TIMES holds (tables schedule and pi); NaN: none is known. */
static double best_known(const struct row *r)
{
    char at[512], key[256];
    double best = 0, v;
    FILE *f = getenv("BENCH_TUNE_TIMES") ? fopen(getenv("BENCH_TUNE_TIMES"), "r") : NULL;
    size_t n = (size_t)snprintf(key, sizeof key, "%s:%s:%s:", r->kernel, r->launch, timed_on(r));
    while (f && fscanf(f, "%511[^=]=%lf\n", at, &v) == 2)
        best = strncmp(at, key, n) == 0 && v > 0 && (best == 0 || v < best) ? v : best;
    if (f)
        fclose(f);
    return best > 0 ? best : NAN;
}

static const char *verdict_on(double expected, double real, double best)
{
    if (isnan(expected))
        return isnan(best) ? "not known" : best >= LEAST_GAIN ? "misses it" : "right";
    return real >= 1 + NOISE ? "right" : real <= 1 - NOISE ? "loses" : "nothing";
}

static void one_advice(const struct row *row)
{
    struct rig r;
    struct tune_advice v[16];
    struct options none = options_default(), base = options_of(row->options);
    struct buf line = { 0 };
    rig_open(&r, row->kernel, row->launch[0] ? row->launch : NULL, row->device);
    struct ana_kernel *facts = NULL;
    struct ana_opts o = { .data = &r.data, .dev = dev_describe(r.dev) };
    assert_status_ok(ana_run(r.module, str_of(r.launch->kernel), &o, &facts, &r.ds), &r.ds);
    struct tune_subject s = r.subject;
    s.facts = facts;
    size_t n = tune_advise(&s, NULL, v, ARRAY_LEN(v));
    clock_t t0 = clock();
    assert_status_ok(tune_advise_predict(r.bench, v, &n, ARRAY_LEN(v)), &r.ds);
    double ms = (double)(clock() - t0) * 1e3 / CLOCKS_PER_SEC, original = time_of(&r, row, &base);
    bool leave = !n || options_equal(&v[0].options, &none);
    double real = leave ? NAN : time_of(&r, row, &v[0].options);
    real = real > 0 ? original / real : NAN;
    double known = original / best_known(row);
    double best = isnan(known) ? known : fmax(known, isnan(real) ? 1 : real);
    options_line(&v[0].options, &line);
    printf("| %s | %s | %s | %s | `%s` |",
           strrchr(row->kernel, '/') ? strrchr(row->kernel, '/') + 1 : row->kernel, r.launch->name,
           row->device, n ? v[0].title : "none", leave || !line.s ? "" : line.s);
    number(" %.2fx |", leave || !n ? NAN : v[0].model_gain);
    number(" %.2fx |", real);
    number(" %.2fx |", best);
    printf(" %s | %.0f |\n", verdict_on(leave ? NAN : v[0].model_gain, real, best), ms);
    for (size_t i = 0; i < n && getenv("BENCH_TUNE_LIST"); i++)
        fprintf(stderr, "  %s: %.2fx by the model, %.2fx to %.2fx recorded\n    %s\n    %s\n",
                v[i].title, v[i].model_gain, v[i].likely.gain.low, v[i].likely.gain.high, v[i].why,
                v[i].command);
    fflush(stdout);
    buf_free(&line);
    ana_free(facts);
    rig_close(&r);
}

/* ---- rows ---- */
static bool parse_row(const char *text, struct row *out)
{
    memset(out, 0, sizeof *out);
    int n = sscanf(text, "%79[^:]:%47[^:]:%63[^ ] %159[^\n]", out->kernel, out->launch, out->device,
                   out->options);
    if (n < 3)
        snprintf(out->device, sizeof out->device, DEVICE);
    return n >= 1;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct row *)a)->kernel, ((const struct row *)b)->kernel);
}

static size_t demo_kernels(struct row *out, size_t most)
{
    DIR *d = opendir("kernels");
    size_t n = 0;
    for (struct dirent *e; d && (e = readdir(d)) && n < most;) {
        char *end = strstr(e->d_name, ".launch.json");
        if (end) {
            *end = 0;
            parse_row(e->d_name, &out[n++]);
        }
    }
    if (d)
        closedir(d);
    qsort(out, n, sizeof *out, by_name);
    return n;
}

/* ---- tables ---- */
static void schedule_row(const struct row *r)
{
    one_row(r, false);
}
static void pi_row(const struct row *r)
{
    one_row(r, true);
}

/* One configuration against the original. */
static void time_row(const struct row *row)
{
    struct rig r;
    struct options none = options_default(), o = options_of(row->options);
    rig_open(&r, row->kernel, row->launch[0] ? row->launch : NULL, row->device);
    double was = time_of(&r, row, &none), is = time_of(&r, row, &o);
    printf("| %s | %s | %s | `%s` | %.4f | %.4f | %.2fx |\n", row->kernel, r.launch->name, row->device,
           row->options, was / 1e6, is / 1e6, was > 0 && is > 0 ? was / is : NAN);
    fflush(stdout);
    rig_close(&r);
}

#define RANKS                                                                                          \
    "| kernel | launch | device | configurations | spread | paper's | ours | ours, ties within 2 % | " \
    "pairs beyond 2 % | paper's orders | ours orders | ms a prediction |"
#define RULE "|---|---|---|---|---|---|---|---|---|---|---|---|"
static const struct {
    const char *name, *head, *rule;
    void (*row)(const struct row *r);
} tables[] = {
    { "schedule", RANKS, RULE, schedule_row },
    { "pi",
      RANKS " W | by footprint | by memory cost | found | caching all over the best | by footprint over "
            "the best | by cost over the best |",
      RULE "---|---|---|---|---|---|---|", pi_row },
    { "advice",
      "| kernel | launch | device | first item | options | expected | real | best known | it is | ms "
      "for all items |",
      "|---|---|---|---|---|---|---|---|---|---|", one_advice },
    { "time", "| kernel | launch | device | options | original ms | ms | gain |",
      "|---|---|---|---|---|---|---|", time_row },
};

int main(int argc, char **argv)
{
    struct row row[64];
    size_t table = 0, n = 0;
    int first = 1;
    for (size_t i = 0; i < ARRAY_LEN(tables) && argc > 1; i++)
        if (strcmp(argv[1], tables[i].name) == 0) {
            table = i;
            first = 2;
        }
    for (int i = first; i < argc && n < ARRAY_LEN(row); i++)
        n += parse_row(argv[i], &row[n]);
    if (first >= argc)
        n = demo_kernels(row, ARRAY_LEN(row));
    if (!getenv("BENCH_TUNE_ROWS")) /* set: rows alone, for who puts tables together */
        printf("%s\n%s\n", tables[table].head, tables[table].rule);
    for (size_t i = 0; i < n; i++)
        tables[table].row(&row[i]);
    return 0;
}
