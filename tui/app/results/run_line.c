/* run_line: see run_line.h. */
#include "engine/session/run.h"
#include "tui/app/results/run_line.h"

#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/baseline.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/provenance.h"
#include "tui/base/text.h"

#include <math.h>

/* Of a search that still runs: the fastest of its trail, of whole launches where there are such. */
static const struct result *trail_best(const struct session_run *r)
{
    const struct result *best = NULL;
    for (size_t i = 0; i < r->ntrail; i++) {
        const struct result *x = result_at(r->trail, i);
        if (result_status(x) != ST_OK || !result_time(x)->valid || result_equal(x) == EQUAL_NO)
            continue;
        if (!best || (result_sampled(best) && !result_sampled(x)) ||
            (result_sampled(best) == result_sampled(x) &&
             result_time(x)->median < result_time(best)->median))
            best = x;
    }
    return best;
}

const struct result *run_best(const struct session_run *r)
{
    switch (r->kind) {
    case RUN_ONE: return r->one;
    case RUN_TUNE:
        return r->found && result_time(r->found->best)->valid ? r->found->best : trail_best(r);
    default:
        return r->sweep.has_best && r->sweep.best < r->sweep.npoints
                   ? result_at(r->sweep.points, r->sweep.best)
                   : NULL;
    }
}

const struct result *run_original_now(const struct app *a, size_t *run)
{
    const struct result *best = NULL;
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *x = q && !run_stale(a, q) ? run_original(q, NULL) : NULL;
        if (x && (!best || evidence_of(x) > evidence_of(best))) {
            best = x;
            *run = i;
        }
    }
    return best;
}

const struct result *run_of_options(const struct app *a, const struct options *o, size_t *run)
{
    const struct result *best = NULL;
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *q = app_run(a, i);
        const struct result *x = q && !q->deleted && !run_stale(a, q) ? run_best(q) : NULL;
        if (x && result_time(x)->valid && options_equal(result_options(x), o) &&
            (!best || evidence_of(x) > evidence_of(best))) {
            best = x;
            *run = i;
        }
    }
    return best;
}

const struct result *run_base(const struct app *a, size_t run)
{
    const struct session_run *r = app_run(a, run);
    return r ? run_baseline(a->snap->runs, a->snap->nruns, r) : NULL;
}

double run_gained(const struct app *a, size_t run)
{
    const struct session_run *r = app_run(a, run);
    return r ? run_gain(a->snap->runs, a->snap->nruns, r, run_best(r)) : (double)NAN;
}

bool run_outdone(const struct app *a, size_t run)
{
    const struct session_run *r = app_run(a, run);
    const struct result *x = r ? run_best(r) : NULL, *base = run_base(a, run);
    return x && result_time(x)->valid && base && evidence_of(base) > evidence_of(x) &&
           isnan(run_gained(a, run));
}

#define SLOWER 0.98 /* of the speed: worth the word */
static void put_gain(double gain, const char *base, bool both_whole, struct buf *out)
{
    if (gain < SLOWER)
        buf_printf(out, ", %.0f %% slower than %s", 100 / gain - 100, base);
    else
        buf_printf(out, ", %s vs %s", gain_words(gain).s, base);
    buf_puts(out, both_whole ? ", both timed whole" : "");
}

void run_line(const struct app *a, size_t run, struct buf *out)
{
    const struct session_run *r = app_run(a, run);
    const struct result *x = r ? run_best(r) : NULL, *base = run_base(a, run);
    double gain = run_gained(a, run);
    char t[TEXT_NUM];
    if (!x || !result_time(x)->valid)
        return;
    text_time(t, (double)result_time(x)->median);
    buf_printf(out, "run %zu: %s (%s)", run + 1, t, evidence_name(evidence_of(x)));
    if (base == x && r->kind == RUN_ONE)
        buf_puts(out, ", the original");
    else if (base != x && !isnan(gain))
        put_gain(gain, base == r->sweep.cha ? "all cache" : "the original",
                 evidence_of(base) != evidence_of(x), out);
    if (base != x && equality_known(result_equal(x)))
        buf_puts(out, result_equal(x) == EQUAL_YES      ? ", equal ✓"
                      : result_equal(x) == EQUAL_WITHIN ? ", within tolerance ✓"
                                                        : ", WRONG RESULTS");
    if (r->kind != RUN_ONE) {
        struct buf options = { 0 };
        options_line(result_options(x), &options);
        buf_printf(out, ": %s", options.n ? options.s : "the original is the best");
        buf_free(&options);
    }
}
