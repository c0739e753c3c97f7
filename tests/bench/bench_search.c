/* A search against recorded references: what it finds, with how many launches. Figures, never pass or
 * fail.
 *
 *   bench_search                                  every table of tests/search
 *   bench_search TABLE...                         these; nothing is launched
 *   bench_search record OUT PTX LAUNCH DEVICE     the exhaustive reference, run and written down, then
 *                                                 as `grow`
 *   bench_search settle TABLE...                  times whole what samples of the CTAs put first
 *   bench_search run PTX LAUNCH DEVICE OPTIONS... one device, these configurations in order; OPTIONS:
 *                                                 one line each
 *   bench_search grow TABLE...                    searches, launches what a table does not hold, and
 *                                                 adds it
 *
 * PTX: a path without its ending. */
#include "engine/tune/tune_int.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"

#include "tests/bench/bench_need.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/search_table.h"

struct noting {
    struct table *t;
    bool reference;
};

static void note_point(void *ctx, const struct result *r, const char *why)
{
    struct noting *n = ctx;
    (void)why;
    table_put_result(n->t, r, n->reference);
}

static void note_cost(void *ctx, const struct options *o, double cost)
{
    struct noting *n = ctx;
    struct table_row *r = table_at(n->t, o);
    r->asked = true;
    r->cost = cost;
}

static void print_row(const struct table *t, const struct tune_found *f, double seconds)
{
    const struct table_row *best = table_best(t);
    struct buf line = { 0 };
    options_line(f->options, &line);
    unsigned taken = f->launches + f->resumed + f->missing;
    double most = best ? table_gain(t, best) : NAN,
           gain = (double)f->original->time.median / (double)f->best->time.median, over = most / gain;
    const char *name = strrchr(t->ptx, '/');
    printf("%-16s %-9s %-18s original %.4f ms reference %5.2fx of %4u; search %5.2fx by %3u (%4.1f %%, "
           "%u unknown) %+6.2f %%  %6.3f s  %s\n",
           name ? name + 1 : t->ptx, t->launch, t->device, (double)f->original->time.median / 1e6, most,
           t->reference, gain, taken, 100.0 * taken / t->reference, f->missing, 100 * (over - 1),
           seconds, line.n ? line.s : "leave it alone");
    if (best && over > 1.02) {
        buf_free(&line);
        options_line(&best->options, &line);
        printf("    the reference has %s\n", line.s ? line.s : "");
    }
    fflush(stdout);
    buf_free(&line);
}

/* Searches with launches; what the table holds is not launched again. */
static void grow(struct table *t, const char *path)
{
    struct rig r;
    struct tune_found f;
    struct noting n = { t, false };
    struct result *done;
    struct tune_candidate *costs;
    struct tune_observer ob = { .point = note_point, .ctx = &n };
    struct tune_search_opts o = { .method = "search", .predicted = note_cost, .ctx = &n };
    int64_t from = base_now_ns();
    rig_open(&r, t->ptx, t->launch, t->device);
    table_known(t, &done, &o.ndone, &costs, &o.ncosts);
    o.done = done;
    o.costs = costs;
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    base_free(done);
    base_free(costs);
    if (!table_write(t, path))
        fail_msg("cannot write %s\n", path);
    print_row(t, &f, (double)(base_now_ns() - from) / 1e9);
    rig_close(&r);
    tune_found_clear(&f);
}

/* The next of the reference that was sampled and not timed whole, fastest first; NULL: none may still be
 * the best. */
static struct table_row *next_to_settle(struct table *t)
{
    const struct table_row *best = table_best(t), *o = table_original(t);
    double most = best ? table_gain(t, best) : 1;
    struct table_row *next = NULL;
    for (size_t i = 0; i < t->n; i++) {
        struct table_row *r = &t->row[i];
        bool may = table_flag(r, 'r') && table_flag(r, 's') && !table_flag(r, 'x') &&
                   !table_flag(r, 'n') && r->time_ns && !r->whole_ns;
        if (may && (!next || r->time_ns < next->time_ns))
            next = r;
    }
    return next && 1.05 * (double)o->time_ns > most * (double)next->time_ns ? next : NULL;
}

static void settle(struct table *t, const char *path)
{
    struct rig r;
    struct result one;
    rig_open(&r, t->ptx, t->launch, t->device);
    r.bench->opts.exact = true;
    struct options none = options_default();
    struct table_row *at = table_at(t, &none);
    for (unsigned i = 0; i < 40 && at; i++, at = next_to_settle(t)) {
        struct options o = at->options;
        if (!table_flag(at, 's') || at->whole_ns)
            continue;
        assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
        if (one.time.valid)
            table_put_result(t, &one, true);
        else
            table_raise(at, 'x');
        table_write(t, path);
    }
    rig_close(&r);
}

static void record(const char *path, const char *ptx, const char *launch, const char *device)
{
    struct table t = { 0 };
    struct rig r;
    struct tune_found f;
    struct noting n = { &t, true };
    struct tune_observer ob = { .point = note_point, .ctx = &n };
    struct tune_search_opts o = { .method = "exhaustive" };
    snprintf(t.ptx, sizeof t.ptx, "%s", ptx);
    snprintf(t.launch, sizeof t.launch, "%s", launch);
    snprintf(t.device, sizeof t.device, "%s", device);
    rig_open(&r, ptx, launch, device);
    assert_status_ok(tune_search(r.bench, &o, &ob, &f, &r.ds), &r.ds);
    rig_close(&r);
    t.reference = f.launches;
    if (!table_write(&t, path))
        fail_msg("cannot write %s\n", path);
    grow(&t, path);
    table_free(&t);
    tune_found_clear(&f);
}

static void replay(const char *path)
{
    struct table t;
    struct tune_found f;
    int64_t from = base_now_ns();
    if (!table_read(&t, path))
        fail_msg("%s is no table\n", path);
    table_search(&t, &f);
    print_row(&t, &f, (double)(base_now_ns() - from) / 1e9);
    table_free(&t);
    tune_found_clear(&f);
}

static void run_lines(char **argv)
{
    struct rig r;
    rig_open(&r, argv[0], argv[1], argv[2]);
    for (argv += 3; *argv; argv++) {
        struct options o = options_of(*argv);
        struct result one;
        assert_status_ok(tune_run_one(r.bench, &o, &one, &r.ds), &r.ds);
        printf("%8lld ns %s %s %s\n", (long long)one.time.median, one.sampled ? "sampled" : "whole",
               *argv, one.message);
    }
    rig_close(&r);
}

int main(int argc, char **argv)
{
    if (argc > 5 && strcmp(argv[1], "run") == 0) {
        run_lines(&argv[2]);
        return 0;
    }
    if (argc == 6 && strcmp(argv[1], "record") == 0) {
        record(argv[2], argv[3], argv[4], argv[5]);
        return 0;
    }
    bool settling = argc > 1 && strcmp(argv[1], "settle") == 0,
         growing = argc > 1 && strcmp(argv[1], "grow") == 0;
    glob_t all = { 0 };
    if (argc == 1)
        glob("tests/search/*.tsv", 0, NULL, &all);
    for (int i = 1 + (growing || settling); i < argc; i++) {
        struct table t;
        if (!growing && !settling) {
            replay(argv[i]);
            continue;
        }
        if (!table_read(&t, argv[i]))
            fail_msg("%s is no table\n", argv[i]);
        if (settling)
            settle(&t, argv[i]);
        grow(&t, argv[i]);
        table_free(&t);
    }
    for (size_t i = 0; i < all.gl_pathc; i++)
        replay(all.gl_pathv[i]);
    globfree(&all);
    return 0;
}
