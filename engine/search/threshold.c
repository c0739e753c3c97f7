/* The threshold π before any launch: by the footprint, and by the memory-cost model over all thresholds.
 */
#include "engine/base/base.h"
#include "engine/perfmodel/reuse.h"
#include "engine/perfmodel/valley.h"
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/search/space.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>

/* of L1, where no more is known: what the valley model gives up to set conflicts is a way */
#define WAYS 8

#define LOOKED_AT 8u /* warps, from the trace's first CTAs on */

/* Lines between a warp's touches of the same line that nine tenths of its own reuse need; 0: it touches
 * none twice. */
static bool window_of(const struct tune_trace *t, uint64_t warp, struct model_hist *h)
{
    struct model_reuse *r = model_reuse_new(64);
    bool ok = r != NULL;
    for (uint32_t i = t->head[warp]; i != TRACE_END && ok; i = t->step[i].next)
        for (size_t k = t->step[i].first, end = trace_lines_end(t, i);
             k < end && trace_loads(trace_kind_of(t, i)); k++)
            model_hist_add(h, model_reuse_touch(r, t->request[k].line));
    ok = ok && !model_reuse_failed(r);
    model_reuse_free(r);
    return ok;
}

static double lines_for(const struct model_hist *h, double share)
{
    double reused = (double)(h->total - h->cold) / (double)h->total, lines = 1;
    while (lines < 1e6 && model_hist_hit_rate(h, lines) < share * reused)
        lines += lines < 64 ? 1 : lines / 32;
    return lines;
}

/* Valley model: as many warps cache as have their lines in L1 together (bypass paper, section 1 of the
 * digest). */
static enum status by_footprint(struct tune_bench *b, const struct options *base,
                                struct tune_pi_forecast *out)
{
    struct tune_trace *t = NULL;
    struct model_hist h = { 0 };
    enum status st = tune_trace_of(b, base, false, &t);
    if (st != ST_OK)
        return st;
    if (t->why[0]) {
        snprintf(out->why_not, sizeof out->why_not, "%s", t->why);
        return ST_OK;
    }
    for (uint64_t w = 0; w < LOOKED_AT && w < t->on_sm * t->warps; w++) {
        if (cancel_asked(tune_cancel(b)))
            return ST_CANCELLED;
        if (!window_of(t, w, &h))
            return ST_NOMEM;
    }
    if (h.total == h.cold) {
        snprintf(out->why_not, sizeof out->why_not,
                 "the sampled warps reuse no line: there is nothing to keep in the cache");
        return ST_OK;
    }
    out->bytes_per_warp = LINE_BYTES * lines_for(&h, 0.9);
    out->footprint = (int)model_threshold_predict((double)tune_l1_bytes(b, base, t), WAYS,
                                                  out->bytes_per_warp, t->resident, out->warps);
    return ST_OK;
}

enum status tune_forecast_pi(struct tune_bench *b, const struct options *base,
                             struct tune_pi_forecast *out)
{
    struct space s = space_of(b);
    double least = INFINITY;
    *out = (struct tune_pi_forecast){
        .warps = s.warps, .footprint = -1, .model = -1, .bpa = NAN, .cha = NAN, .least = NAN
    };
    for (size_t i = 0; i <= TUNE_PI_MOST; i++)
        out->cost[i] = NAN;
    struct options *o = options_new();
    enum status st = o ? by_footprint(b, base, out) : ST_NOMEM;
    if (o) {
        options_copy(o, base);
        opt_bypass(o)->level = s.level;
        opt_bypass(o)->form = s.form;
    }
    for (uint32_t pi = 0; pi <= s.warps && st == ST_OK; pi++) {
        struct tune_prediction p;
        opt_bypass(o)->pi.mode = pi == 0 ? PI_BPA : pi == s.warps ? PI_CHA : PI_VALUE;
        opt_bypass(o)->pi.value = opt_bypass(o)->pi.mode == PI_VALUE ? (int)pi : 0;
        st = tune_predict_time(b, o, &p);
        if (st == ST_OK && !p.valid)
            snprintf(out->model_why_not, sizeof out->model_why_not, "%s", p.why_not);
        if (st != ST_OK || !p.valid)
            break;
        if (pi <= TUNE_PI_MOST)
            out->cost[pi] = p.cost.extended;
        if (pi == 0)
            out->bpa = p.cost.extended;
        out->cha = p.cost.extended; /* the last one is cha */
        /* of equals the one that caches most: cha runs no inserted code */
        if (p.cost.extended <= least) {
            out->least = least = p.cost.extended;
            out->model = (int)pi;
        }
    }
    base_free(o);
    return st;
}
