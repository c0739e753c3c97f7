/* Recorded references: what every configuration of the exhaustive reference took, so that a search is
 * run against them in milliseconds, without a launch or a prediction. Written by bench_search, read by
 * it and by test_tune_regret.
 *
 *   # table 2
 *   # ptx kernels/x  launch default  device sim:hopper-h200  reference 612  ctas 8  inst 123456
 *   TIME_NS|-  WHOLE_NS|-  COST|-  FLAGS  OPTIONS...
 *
 *   WHOLE_NS  the same launch timed whole, where TIME_NS comes from a sample of the CTAs
 *   COST      predicted cycles; `?` where it was not asked for
 *   FLAGS     r of the reference, s from a sample of the CTAs, w equal within a tolerance, u no outputs
 *             to compare, n not equal, x refused or failed; `.`: none; `?`: it did not run */
#ifndef GPULOCW_TESTS_SEARCH_TABLE_H
#define GPULOCW_TESTS_SEARCH_TABLE_H

#include <ctype.h>

#include "engine/rec/counter_ids.h"
#include "tests/unit/tune_support.h"

struct buf;
struct counter;
struct options;
struct result;
struct rig;
struct table;
struct table_row;
struct tune_candidate;
struct tune_found;
struct tune_search_opts;

struct table_row {
    struct options options;
    int64_t time_ns, whole_ns;
    double cost;
    bool asked /* the model */, ran;
    char flags[8];
};
struct table {
    char ptx[128], launch[64], device[128];
    unsigned reference, ctas;
    double inst;
    struct table_row *row;
    size_t n, cap;
};

static inline struct table_row *table_at(struct table *t, const struct options *o)
{
    for (size_t i = 0; i < t->n; i++)
        if (options_equal(&t->row[i].options, o))
            return &t->row[i];
    if (!base_grow((void **)&t->row, t->n, &t->cap, sizeof *t->row))
        fail_msg("out of memory");
    t->row[t->n] = (struct table_row){ .options = *o, .cost = NAN, .flags = "" };
    return &t->row[t->n++];
}

static inline bool table_flag(const struct table_row *r, char flag)
{
    return strchr(r->flags, flag) != NULL;
}

static inline void table_raise(struct table_row *r, char flag)
{
    size_t n = strlen(r->flags);
    if (!table_flag(r, flag) && n + 1 < sizeof r->flags)
        memcpy(&r->flags[n], (char[]){ flag, 0 }, 2);
}

static inline void table_put_result(struct table *t, const struct result *r, bool reference)
{
    static const char equal[] = {
        [EQUAL_UNKNOWN] = 'u', [EQUAL_YES] = 0, [EQUAL_WITHIN] = 'w', [EQUAL_NO] = 'n'
    };
    struct options none = options_default();
    if (r->probe_ctas)
        return;
    struct table_row *at = table_at(t, &r->options);
    bool first = !at->ran;
    at->ran = true;
    if (reference)
        table_raise(at, 'r');
    if (options_equal(&r->options, &none) && first) {
        t->ctas = r->ctas_per_sm;
        t->inst = r->counters[COUNTER_INST_WARP].valid ? r->counters[COUNTER_INST_WARP].value : 0;
    }
    if (!r->sampled && r->time.valid && table_flag(at, 's') && !at->whole_ns)
        at->whole_ns = r->time.median;
    if (!first && (at->time_ns || !r->time.valid))
        return;
    at->time_ns = r->time.valid ? r->time.median : 0;
    if (r->status != ST_OK || !r->time.valid)
        table_raise(at, 'x');
    if (equal[r->equal] && r->status == ST_OK)
        table_raise(at, equal[r->equal]);
    if (r->sampled)
        table_raise(at, 's');
}

static inline bool table_row_read(struct table *t, char *text)
{
    char *time = strtok(text, " \t"), *whole = strtok(NULL, " \t"), *cost = strtok(NULL, " \t"),
         *flags = strtok(NULL, " \t"), *line = strtok(NULL, "\n");
    if (!flags || strlen(flags) >= sizeof t->row->flags)
        return false;
    struct options o = options_of(line ? line : "");
    struct table_row *r = table_at(t, &o);
    r->time_ns = *time == '-' ? 0 : strtoll(time, NULL, 10);
    r->whole_ns = *whole == '-' ? 0 : strtoll(whole, NULL, 10);
    r->asked = *cost != '?';
    r->cost = isdigit((unsigned char)*cost) ? strtod(cost, NULL) : NAN;
    r->ran = *flags != '?';
    snprintf(r->flags, sizeof r->flags, "%s", *flags == '.' || *flags == '?' ? "" : flags);
    return true;
}

static inline bool table_read(struct table *t, const char *path)
{
    char text[2048];
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(text, sizeof text, f) && strcmp(text, "# table 2\n") == 0;
    memset(t, 0, sizeof *t);
    ok = ok && fgets(text, sizeof text, f) &&
         sscanf(text, "# ptx %127s launch %63s device %127s reference %u ctas %u inst %lf", t->ptx,
                t->launch, t->device, &t->reference, &t->ctas, &t->inst) == 6;
    while (ok && fgets(text, sizeof text, f))
        ok = table_row_read(t, text);
    if (f)
        fclose(f);
    return ok;
}

static inline void table_put_time(FILE *f, int64_t ns)
{
    if (ns)
        fprintf(f, "%lld\t", (long long)ns);
    else
        fputs("-\t", f);
}

static inline bool table_write(const struct table *t, const char *path)
{
    FILE *f = fopen(path, "w");
    if (!f)
        return false;
    fprintf(f, "# table 2\n# ptx %s launch %s device %s reference %u ctas %u inst %.17g\n", t->ptx,
            t->launch, t->device, t->reference, t->ctas, t->inst);
    for (size_t i = 0; i < t->n; i++) {
        const struct table_row *r = &t->row[i];
        struct buf line = { 0 };
        options_line(&r->options, &line);
        table_put_time(f, r->time_ns);
        table_put_time(f, r->whole_ns);
        if (r->asked && !isnan(r->cost))
            fprintf(f, "%.6g\t", r->cost);
        else
            fputs(r->asked ? "-\t" : "?\t", f);
        fprintf(f, "%s\t%s\n", !r->ran ? "?" : r->flags[0] ? r->flags : ".", line.s ? line.s : "");
        buf_free(&line);
    }
    return fclose(f) == 0;
}

static inline void table_free(struct table *t)
{
    base_free(t->row);
    memset(t, 0, sizeof *t);
}

static inline struct result table_result(const struct table *t, const struct table_row *r, bool whole)
{
    struct result d = result_empty();
    int64_t ns = whole ? r->whole_ns : r->time_ns;
    d.options = r->options;
    d.status = table_flag(r, 'x') ? ST_REFUSED : ST_OK;
    d.equal = table_flag(r, 'n')   ? EQUAL_NO
              : table_flag(r, 'u') ? EQUAL_UNKNOWN
              : table_flag(r, 'w') ? EQUAL_WITHIN
                                   : EQUAL_YES;
    d.sampled = !whole && table_flag(r, 's');
    d.ctas_per_sm = t->ctas;
    d.counters[COUNTER_INST_WARP] = (struct counter){ t->inst, ORIGIN_SIMULATED, t->inst > 0 };
    if (ns) {
        d.time.sample[d.time.n++] = ns;
        d.time.valid = true;
        d.time.origin = ORIGIN_SIMULATED;
        timing_finish(&d.time);
    }
    return d;
}

/* The rows as results and costs of a cut-off search. Owned: base_free of both. */
static inline void table_known(const struct table *t, struct result **done, size_t *ndone,
                               struct tune_candidate **costs, size_t *ncosts)
{
    *done = base_alloc((2 * t->n + 1) * sizeof **done);
    *costs = base_alloc((t->n + 1) * sizeof **costs);
    *ndone = *ncosts = 0;
    if (!*done || !*costs)
        fail_msg("out of memory");
    for (size_t i = 0; i < t->n; i++) {
        const struct table_row *r = &t->row[i];
        if (r->asked)
            (*costs)[(*ncosts)++] = (struct tune_candidate){ .options = r->options, .cost = r->cost };
        if (r->ran)
            (*done)[(*ndone)++] = table_result(t, r, false);
        if (r->whole_ns)
            (*done)[(*ndone)++] = table_result(t, r, true);
    }
}

static inline const struct table_row *table_original(const struct table *t)
{
    const struct options none = options_default();
    for (size_t i = 0; i < t->n; i++)
        if (options_equal(&t->row[i].options, &none) && t->row[i].time_ns)
            return &t->row[i];
    fail_msg("no original in the table of %s\n", t->ptx);
    return NULL;
}

/* Over the original, both timed whole, where either was; else both from samples. 0: not to be
 * recommended, or not known. */
static inline double table_gain(const struct table *t, const struct table_row *r)
{
    const struct table_row *o = table_original(t);
    int64_t whole = table_flag(o, 's') ? o->whole_ns : o->time_ns,
            own = table_flag(r, 's') ? r->whole_ns : r->time_ns;
    if (!r->time_ns || table_flag(r, 'x') || table_flag(r, 'n') || table_flag(r, 'u'))
        return 0;
    if (whole)
        return own ? (double)whole / (double)own : 0;
    return table_flag(r, 's') ? (double)o->time_ns / (double)r->time_ns : 0;
}

/* Best of the reference's rows. */
static inline const struct table_row *table_best(const struct table *t)
{
    const struct table_row *best = NULL;
    for (size_t i = 0; i < t->n; i++)
        if (table_flag(&t->row[i], 'r') && table_gain(t, &t->row[i]) > (best ? table_gain(t, best) : 0))
            best = &t->row[i];
    return best;
}

/* A search against the table alone, for a device that no GPU was compared with: what a GPU may lose is
 * not left out. */
static inline void table_search(const struct table *t, struct tune_found *f)
{
    struct rig r;
    struct tune_search_opts o = { .method = "search", .replay = true };
    struct result *done;
    struct tune_candidate *costs;
    rig_prepare(&r, t->ptx, t->launch, t->device);
    assert_status_ok(tune_bench_open_model(&r.subject, &r.bench, &r.ds), &r.ds);
    ((struct dev_info *)(uintptr_t)dev_describe(r.subject.dev))->spread = (struct dev_spread){ 0 };
    table_known(t, &done, &o.ndone, &costs, &o.ncosts);
    o.done = done;
    o.costs = costs;
    assert_status_ok(tune_search(r.bench, &o, NULL, f, &r.ds), &r.ds);
    base_free(done);
    base_free(costs);
    rig_close(&r);
}

#endif
