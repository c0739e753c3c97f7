/* Charts of runs: see report.h. */
#include "engine/ptx/ptx.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/opt_bypass.h"
#include "engine/report/report.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/session/session.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

#define BPA   "#d55e00" /* Okabe and Ito's colours */
#define CHA   "#0072b2"
#define POINT "#009e73"
#define FAINT "#999999"
static const char *const palette[CHART_SERIES] = { POINT,     CHA,       BPA,       "#cc79a7",
                                                   "#56b4e9", "#e69f00", "#000000", "#8c6d31" };

const char *report_equal(const struct result *r)
{
    return !equality_known(result_equal(r)) ? "n/a" : result_equal(r) == EQUAL_NO ? "no" : "yes";
}

void report_each(const struct session_run *r, void (*fn)(void *ctx, const struct result *x), void *ctx)
{
    if (r->kind == RUN_ONE)
        fn(ctx, r->one);
    if (r->kind == RUN_SWEEP && strcmp(r->sweep.axis, "pi") == 0) {
        fn(ctx, r->sweep.bpa);
        fn(ctx, r->sweep.cha);
    }
    for (size_t i = 0; r->kind == RUN_SWEEP && i < r->sweep.npoints; i++)
        fn(ctx, result_at(r->sweep.points, i));
    for (size_t i = 0; r->kind == RUN_TUNE && i < r->ntrail; i++)
        fn(ctx, result_at(r->trail, i));
}

static double ms(const struct result *r)
{
    return report_has_time(r) ? (double)result_time(r)->median / 1e6 : NAN;
}
const char *report_origin(const struct session_run *r)
{
    return r->dev.kind == DEV_SIMULATED ? "simulated" : "measured";
}

struct rests {
    const struct result *first;
    bool mixed;
};

static void rest_on(void *ctx, const struct result *r)
{
    struct rests *t = ctx;
    if (!report_has_time(r))
        return;
    t->first = t->first ? t->first : r;
    t->mixed |= evidence_of(r) != evidence_of(t->first);
}

const char *report_evidence(const struct session_run *r)
{
    struct rests t = { NULL, false };
    report_each(r, rest_on, &t);
    return t.first && !t.mixed ? evidence_words(evidence_of(t.first)) : report_origin(r);
}

/* Behind it in a title. */
static const char *guess_of(const struct result *r)
{
    return r && result_guessed(r) ? ", launch guessed" : "";
}

static void longest(void *ctx, const struct result *r)
{
    int64_t *most = ctx;
    if (report_has_time(r) && result_time(r)->max > *most)
        *most = result_time(r)->max;
}

struct time_scale report_unit(const struct session_run *r)
{
    int64_t most = 0;
    report_each(r, longest, &most);
    return time_scale_for((double)most);
}

/* Times of n results in a scale: values, spread and mistakes in one allocation; v NULL: out of memory.
 */
struct times {
    double *v, *low, *high;
    bool *wrong;
};
static struct times times_of(const struct result *r, size_t n, struct time_scale s)
{
    struct times t = { .v = base_alloc((n + 1) * (3 * sizeof(double) + sizeof(bool))) };
    if (!t.v)
        return t;
    t.low = t.v + n;
    t.high = t.low + n;
    t.wrong = (bool *)(t.high + n);
    for (size_t i = 0; i < n; i++) {
        bool is = report_has_time(result_at(r, i));
        t.v[i] = is ? (double)result_time(result_at(r, i))->median / s.ns : NAN;
        t.low[i] = is ? (double)result_time(result_at(r, i))->min / s.ns : NAN;
        t.high[i] = is ? (double)result_time(result_at(r, i))->max / s.ns : NAN;
        t.wrong[i] = result_equal(result_at(r, i)) == EQUAL_NO;
    }
    return t;
}

/* ---- a sweep ---- */
static void point_name(const void *ctx, size_t i, char *text, size_t size)
{
    report_point_name(ctx, i, text, size);
}
static const char *axis_label(const struct tune_sweep *s)
{
    return strcmp(s->axis, "pi") == 0 ? "π, warps per CTA that cache" : s->axis;
}

void report_sweep_time(const struct session_run *r, struct buf *out)
{
    const struct tune_sweep *s = &r->sweep;
    struct time_scale unit = report_unit(r);
    struct times t = times_of(s->points, s->npoints, unit);
    struct buf title = { 0 };
    bool pi = strcmp(s->axis, "pi") == 0;
    char label[PTX_LABEL];
    buf_printf(&title, "%s on %s: time in %s, less is better (%s%s)", ptx_label(r->kernel, label),
               r->dev.name, unit.name, report_evidence(r), guess_of(s->npoints ? s->points : NULL));
    struct chart c = {
        .title = title.s ? title.s : "",
        .xlabel = axis_label(s),
        .unit = unit.name,
        .n = s->npoints,
        .name = point_name,
        .ctx = s,
        .series = { { .colour = POINT,
                      .y = t.v,
                      .low = t.low,
                      .high = t.high,
                      .wrong = t.wrong,
                      .n = s->npoints,
                      .dots = true,
                      .line = true } },
        .nseries = 1,
        .has_mark = s->has_best && s->best < s->npoints,
        .mark = s->best,
        .mark_prefix = pi ? "π=" : "",
    };
    if (pi) {
        c.level[0] = (struct chart_level){ "all bypass", BPA, ms(s->bpa) * 1e6 / unit.ns };
        c.level[1] = (struct chart_level){ "all cache", CHA, ms(s->cha) * 1e6 / unit.ns };
    }
    out->oom = out->oom || !t.v;
    if (t.v && s->npoints)
        report_chart(&c, out);
    base_free(t.v);
    buf_free_checked(&title, out);
}

/* Values of one counter along a sweep; false: none of them is known. */
static bool counter_values(const struct tune_sweep *s, enum counter_id id, double *v)
{
    bool any = false;
    for (size_t i = 0; i < s->npoints; i++) {
        const struct counter *c = &result_counters(result_at(s->points, i))[id];
        v[i] = c->valid ? c->value : NAN;
        any |= c->valid;
    }
    return any;
}

void report_sweep_rates(const struct session_run *r, struct buf *out)
{
    const struct tune_sweep *s = &r->sweep;
    double *v = base_alloc((2 * s->npoints + 1) * sizeof *v);
    struct buf title = { 0 };
    buf_printf(&title, "hit rates in percent (%s)", report_evidence(r));
    struct chart c = { .title = title.s ? title.s : "",
                       .xlabel = axis_label(s),
                       .unit = "%",
                       .top = 100,
                       .n = s->npoints,
                       .name = point_name,
                       .ctx = s };
    static const struct {
        enum counter_id id;
        const char *name, *colour;
    } rate[] = { { COUNTER_L1_HIT_RATE, "L1", POINT }, { COUNTER_L2_HIT_RATE, "L2", CHA } };
    for (size_t k = 0; v && k < ARRAY_LEN(rate); k++)
        if (counter_values(s, rate[k].id, v + k * s->npoints))
            c.series[c.nseries++] = (struct chart_series){ .name = rate[k].name,
                                                           .colour = rate[k].colour,
                                                           .y = v + k * s->npoints,
                                                           .n = s->npoints,
                                                           .dots = true,
                                                           .line = true };
    out->oom = out->oom || !v;
    if (c.nseries)
        report_chart(&c, out);
    base_free(v);
    buf_free_checked(&title, out);
}

/* ---- a search ---- */
/* Launches timed whole: then these alone are compared. */
static bool any_whole(const struct result *r, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!result_sampled(result_at(r, i)) && result_equal(result_at(r, i)) != EQUAL_NO &&
            report_has_time(result_at(r, i)))
            return true;
    return false;
}

static void launch_name(const void *ctx, size_t i, char *text, size_t size)
{
    (void)ctx;
    snprintf(text, size, "%zu", i + 1);
}

void report_search(const struct session_run *r, struct buf *out)
{
    size_t n = r->ntrail;
    struct time_scale unit = report_unit(r);
    struct times t = times_of(r->trail, n, unit);
    double *best = base_alloc((n + 1) * sizeof *best), least = NAN;
    struct buf title = { 0 };
    char label[PTX_LABEL];
    buf_printf(&title, "%s on %s: time in %s of what was tried, in order (%s%s)",
               ptx_label(r->kernel, label), r->dev.name, unit.name, report_evidence(r),
               guess_of(r->found->original));
    bool whole = any_whole(r->trail, n);
    for (size_t i = 0; t.v && best && i < n; i++) {
        if (result_equal(result_at(r->trail, i)) != EQUAL_NO &&
            !(whole && result_sampled(result_at(r->trail, i))))
            least = fmin(least, t.v[i]); /* fmin passes over NaN */
        best[i] = least;
    }
    struct chart c = {
        .title = title.s ? title.s : "",
        .xlabel = "launches",
        .unit = unit.name,
        .n = n,
        .name = launch_name,
        .series = { { .name = "tried",
                      .colour = FAINT,
                      .y = t.v,
                      .wrong = t.wrong,
                      .n = n,
                      .dots = true },
                    { .name = "best so far",
                      .colour = POINT,
                      .y = best,
                      .n = n,
                      .line = true,
                      .steps = true } },
        .nseries = 2,
        .level = { { "original", CHA, ms(r->found->original) * 1e6 / unit.ns } },
    };
    out->oom = out->oom || !t.v || !best;
    if (t.v && best && n)
        report_chart(&c, out);
    BASE_FREE(t.v, best);
    buf_free_checked(&title, out);
}

/* ---- sweeps beside each other ---- */
/* Time of every π over that of caching all, put at π's place. */
static void relative(const struct tune_sweep *s, double *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        v[i] = NAN;
    for (size_t i = 0; i < s->npoints; i++) {
        const struct result *x = result_at(s->points, i);
        if (report_has_time(x) && opt_bypass(result_options(x))->pi.value >= 0 &&
            (size_t)opt_bypass(result_options(x))->pi.value < n)
            v[opt_bypass(result_options(x))->pi.value] = gain_of(x, s->cha);
    }
}

static void pi_name(const void *ctx, size_t i, char *text, size_t size)
{
    (void)ctx;
    snprintf(text, size, "%zu", i);
}

void report_compare(struct session *s, struct buf *out)
{
    const struct session_run *run[CHART_SERIES];
    struct buf name[CHART_SERIES] = { 0 };
    size_t n = 0, places = 1;
    for (size_t i = 0; i < session_count(s) && n < CHART_SERIES; i++) {
        const struct session_run *r = session_look(s, i);
        if (!r || r->deleted || r->kind != RUN_SWEEP || strcmp(r->sweep.axis, "pi") != 0 ||
            !r->sweep.npoints || !report_has_time(r->sweep.cha)) {
            session_rest(s, i);
            continue;
        }
        places = r->sweep.warps + 1u > places ? r->sweep.warps + 1u : places;
        buf_printf(&name[n], "run %zu", i + 1);
        run[n++] = r;
    }
    for (size_t k = 0; k < n; k++)
        if (strcmp(run[k]->dev.spec, run[k ? 0 : n - 1]->dev.spec) != 0)
            buf_printf(&name[k], " %s", run[k]->dev.spec);
    double *v = base_alloc(places * CHART_SERIES * sizeof *v);
    struct chart c = { .title = "time over that of caching all, less is better",
                       .xlabel = "π, warps per CTA that cache",
                       .unit = "times all cache",
                       .n = places,
                       .name = pi_name,
                       .level = { { "all cache", CHA, 1 } } };
    for (size_t k = 0; v && n > 1 && k < n; k++) {
        relative(&run[k]->sweep, v + k * places, places);
        c.series[c.nseries++] = (struct chart_series){ .name = name[k].s,
                                                       .colour = palette[k],
                                                       .y = v + k * places,
                                                       .n = places,
                                                       .dots = true,
                                                       .line = true };
    }
    out->oom = out->oom || !v;
    if (c.nseries)
        report_chart(&c, out);
    for (size_t k = 0; k < n; k++)
        buf_free_checked(&name[k], out);
    base_free(v);
}
