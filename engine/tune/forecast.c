/* The threshold π before any launch: by the footprint, and by the memory-cost model over all thresholds. */
#include "engine/tune/space.h"
#include "engine/tune/trace.h"

#include <math.h>

#define WAYS 8 /* of L1, where no more is known: what the valley model gives up to set conflicts is a way */

/* Valley model: as many warps cache as have their lines in L1 together (bypass paper, section 1 of the digest). */
static enum status by_footprint(struct tune_bench *b, const struct options *base, struct tune_pi_forecast *out)
{
    const struct ana_kernel *k = b->subject.facts;
    struct tune_trace *t = NULL;
    enum status st = tune_trace_of(b, base, &t);
    if (st == ST_OK && !t->why[0] && k && k->footprint.valid && k->footprint.bytes_per_warp > 0)
        out->footprint = (int)model_threshold_predict((double)tune_l1_bytes(b, base, t), WAYS, k->footprint.bytes_per_warp, t->resident, out->warps);
    return st;
}

enum status tune_forecast_pi(struct tune_bench *b, const struct options *base, struct tune_pi_forecast *out)
{
    struct space s = space_of(b);
    struct options o = *base;
    double least = INFINITY;
    *out = (struct tune_pi_forecast){ .warps = s.warps, .footprint = -1, .model = -1, .bpa = NAN, .cha = NAN, .least = NAN };
    enum status st = by_footprint(b, base, out);
    o.bypass = s.level;
    o.bypass_form = s.form;
    for (uint32_t pi = 0; pi <= s.warps && st == ST_OK; pi++) {
        struct tune_prediction p;
        o.pi.mode = pi == 0 ? PI_BPA : pi == s.warps ? PI_CHA : PI_VALUE;
        o.pi.value = o.pi.mode == PI_VALUE ? (int)pi : 0;
        st = tune_predict(b, &o, &p);
        if (st != ST_OK || !p.valid)
            return st;
        if (pi == 0)
            out->bpa = p.cost.extended;
        out->cha = p.cost.extended;          /* the last one is cha */
        if (p.cost.extended <= least) {      /* of equals the one that caches most: cha runs no inserted code */
            out->least = least = p.cost.extended;
            out->model = (int)pi;
        }
    }
    return st;
}
