/* The threshold π before any launch: by the footprint, and by the memory-cost model over all thresholds. */
#include "engine/tune/space.h"

#include <math.h>

enum status tune_forecast_pi(struct tune_bench *b, struct tune_pi_forecast *out)
{
    struct space s = space_of(b);
    const struct ana_kernel *k = b->subject.facts;
    struct options o = options_default();
    double least = INFINITY;
    *out = (struct tune_pi_forecast){ .warps = s.warps, .footprint = k && k->footprint.valid ? k->footprint.pi_fit : -1, .model = -1, .bpa = NAN, .cha = NAN, .least = NAN };
    o.bypass = s.level;
    o.bypass_form = s.form;
    for (uint32_t pi = 0; pi <= s.warps; pi++) {
        struct tune_prediction p;
        o.pi.mode = pi == 0 ? PI_BPA : pi == s.warps ? PI_CHA : PI_VALUE;
        o.pi.value = o.pi.mode == PI_VALUE ? (int)pi : 0;
        enum status st = tune_predict(b, &o, &p);
        if (st != ST_OK)
            return st;
        if (!p.valid)
            return ST_OK;
        if (pi == 0)
            out->bpa = p.cost.extended;
        out->cha = p.cost.extended;          /* the last one is cha */
        if (p.cost.extended <= least) {      /* of equals the one that caches most: cha runs no inserted code */
            least = p.cost.extended;
            out->model = (int)pi;
        }
    }
    out->least = least;
    return ST_OK;
}
